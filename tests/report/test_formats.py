"""The text, JSON and GitHub reports."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import pt2lint.report
from pt2lint.finding import UNCALLED, Fix, Problem, Step
from pt2lint.report import page, render
from pt2lint.report.place import Place
from pt2lint.report.text import statistics
from tests.report.sample import BRANCH, CONFIRMED, FINDINGS, ITEM, NOTE, PAGE, REFUTED, report

SCHEMA = Path(pt2lint.report.__file__).with_name("findings.schema.json")


def test_text_shows_place_code_source_flow_and_fix() -> None:
    assert render("text", report(ITEM)) == (
        "src/a b.py:5:12: PTB103 `x.max().item()` moves a value from the tensor to Python\n"
        "  |\n"
        "5 |     return x.max().item()\n"
        "  |            ^^^^^^^^^^^^^^\n"
        "  = reached: `run` is compiled (line 9) -> calls `scale` (line 14)\n"
        "  = fix (safe): Keep the tensor: `x.max()`\n"
        "  = fix (unsafe): Change nothing\n"
        "\n"
        "Found 1 finding in 2 files. 1 can be fixed with --fix.\n"
    )


def test_what_fixing_leaves_as_it_is_does_not_count_as_fixable() -> None:
    """Code that no model calls: `--fix` does not touch it, with `--notes` either."""
    uncalled = replace(ITEM, severity="note", note=UNCALLED)
    shown = render("text", replace(report(ITEM, uncalled), show_notes=True))
    assert shown.endswith("Found 2 findings in 2 files. 1 can be fixed with --fix.\n")


def test_what_is_told_by_hand_says_so_once() -> None:
    """Where the fix is marked as one by hand, its last words would say it again."""
    told = replace(ITEM.fixes[0], description="Draw it outside.", edits=(), by_hand=True)
    for format in ("text", "concise"):
        assert "fix (by hand): Draw it outside." in render(format, report(replace(ITEM, fixes=(told,))))


def test_text_marks_stand_beneath_wide_characters_and_tabs() -> None:
    _, _, code, marks, *_ = render("text", report(CONFIRMED)).split("\n")
    assert code == '10 |     print("größe 数", x); y = x.item()'
    # One wide character stands before it, so the mark is a column further right.
    assert marks.index("^") == code.index("x.item()") + 1
    tabbed = report(replace(ITEM, column=2, end_column=8), sources={ITEM.path: "\n\n\n\n\treturn x\n"})
    assert "\n5 | \treturn x\n  | \t^^^^^^\n" in render("text", tabbed)


def test_text_gives_dynamos_reason_in_one_line() -> None:
    text = render("text", report(CONFIRMED))
    assert "= confirmed: GB0124 Unsupported Tensor.item() call with x\n" in text
    assert "= cost: hit 24 times a call, 3 graphs in all\n" in text
    assert "Found 1 finding in 2 files (1 confirmed)." in text


def test_text_shows_first_what_costs_most() -> None:
    said = {**(CONFIRMED.evidence or {}), "hits": 1, "operators_before": 7, "operators_after": None}
    small = replace(CONFIRMED, message="small", line=1, evidence=said)
    skipping = replace(small, message="skipping", line=11, evidence={**said, "skipped_frame": True})
    again = {"graph_break": None, "reason": "r", "guards": ["n == 3"], "hits": 8, "limit": "recompile_limit"}
    recompiled = replace(small, message="recompiled", line=12, evidence=again)
    text = render("text", report(REFUTED, BRANCH, small, CONFIRMED, skipping, recompiled))
    heads = [line.split("PTB103 ")[1] for line in text.splitlines() if "PTB103 " in line]
    assert heads[:2] == ["recompiled", "skipping"]
    assert heads[2:4] == [CONFIRMED.message, "small"]
    assert "= cost: compiled again 8 times, then run uncompiled: the limit was hit\n" in text
    assert (
        "= cost: the whole function runs uncompiled, hit once a call, 3 graphs in all, "
        "7 operators in the graph before it, none after it\n" in text
    )
    assert "(4 confirmed, 1 refuted, 1 unreached, the costliest first)" in text


def test_text_of_a_break_in_the_logs_of_a_job_names_the_ranks() -> None:
    logged = replace(CONFIRMED, evidence={**(CONFIRMED.evidence or {}), "hits": 4, "ranks": [0, 1]})
    assert "= cost: logged 4 times by ranks 0, 1, 3 graphs in all\n" in render("text", report(logged))


def test_text_of_a_refuted_finding_does_not_count() -> None:
    assert "Found 0 findings in 2 files (1 refuted)." in render("text", report(REFUTED))


def test_text_of_an_expression_over_several_lines_marks_the_first() -> None:
    assert "\n11 |     if (\n   |     ^^^^ ...\n" in render("text", report(BRANCH))


def test_text_explains_a_fix_of_several_findings_once() -> None:
    fixes = (Fix("Count in a buffer. It costs memory", "unsafe", ()), Fix("Say nothing", "unsafe", ()))
    text = render("text", report(replace(ITEM, fixes=fixes), replace(CONFIRMED, verdict=None, fixes=fixes)))
    assert [line.strip(" =") for line in text.splitlines() if "fix (" in line] == [
        "fix (unsafe): Count in a buffer. It costs memory",
        "fix (unsafe): Say nothing",
        "fix (unsafe): Count in a buffer: see line 5",
        "fix (unsafe): Say nothing",
    ]


def test_text_shortens_a_long_flow() -> None:
    flow = tuple(Step("b.py", line, f"calls {line}") for line in range(1, 10))
    text = render("text", report(replace(ITEM, flow=flow)))
    assert "reached: calls 1 (b.py:1) -> ... -> calls 8 (b.py:8) -> calls 9 (b.py:9)\n" in text


def test_text_survives_a_source_that_is_not_there_or_changed() -> None:
    assert render("text", report(ITEM, sources={})).startswith("src/a b.py:5:12: PTB103")
    assert render("text", report(ITEM, sources={ITEM.path: "x\n"})).startswith("src/a b.py:5:12: PTB103")


def test_text_places_a_notebook_by_cell() -> None:
    places = [Place(3, line, 100 + line, 6) for line in range(1, 17)]
    text = render("text", report(ITEM, cells={ITEM.path: places}))
    assert text.startswith("src/a b.py:cell 3:5:12: PTB103")
    assert "(cell 3:9)" in text


def test_colour_is_only_where_asked() -> None:
    assert "\x1b[" not in render("text", report())
    assert "\x1b[1m" in render("text", report(colour=True))


def test_statistics() -> None:
    assert statistics(report()).splitlines() == [
        "3  PTB103  tensor-item  (1 confirmed, 1 refuted)",
        "1  PTB110  data-dependent-branch  (1 unreached)",
        "1  PTX001  unused-suppression",
    ]


def test_json_keeps_to_its_schema() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    cells = {ITEM.path: [Place(1, line, line, 1) for line in range(1, 17)]}
    for one in (report(), report(findings=()), report(cells=cells), report(suppressed=FINDINGS)):
        validator.validate(json.loads(render("json", one)))
    [row] = json.loads(render("json", report(ITEM)))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate([{**row, "line": 0}])


def test_json_of_a_finding() -> None:
    [row] = json.loads(render("json", report(replace(ITEM, flow=()))))
    edit = {"path": "src/a b.py", "line": 5, "column": 19, "end_line": 5, "end_column": 26, "text": ""}
    assert row["fixes"][0] == {
        "description": "Keep the tensor: `x.max()`", "applicability": "safe", "edits": [edit], "proven": None,
        "by_hand": False,
    }  # fmt: skip
    assert (row["code"], row["line"], row["end_column"], row["verdict"]) == ("PTB103", 5, 26, None)


def test_concise_is_one_whole_line_a_finding() -> None:
    item = "`x.max().item()` moves a value from the tensor to Python"
    fix = "fix (safe): Keep the tensor: `x.max()`"
    seen = report(ITEM, CONFIRMED, REFUTED, BRANCH, NOTE, notes=["two\nlines"])
    assert render("concise", seen).splitlines() == [
        f"src/a b.py:10:30: PTB103 confirmed: {item} | GB0124 Unsupported Tensor.item() call with x | "
        "next: pt2lint rule PTB103",
        f"src/a b.py:5:12: PTB103: {item} | {fix} | next: pt2lint --verify 'src/a b.py'",
        f"src/a b.py:15:5: PTB103 refuted: {item} | Dynamo ran this and saw nothing; does not count | {fix}",
        "src/a b.py:11:5: PTB110 unreached: `x[0](1) > 0` is tested, 100% of the time: and is a tensor, isn't it? | "
        "the sample inputs did not get here, or none were found | "
        "next: pt2lint --verify --inputs MODULE:FUNCTION 'src/a b.py'",
        f"{NOTE.path}:1:1: PTX001: {NOTE.message}",
        "note: two lines",
        "Found 4 findings in 2 files (1 confirmed, 1 refuted, 1 unreached). 1 can be fixed with --fix.",
    ]


@pytest.mark.parametrize(
    ("change", "command"),
    [
        ({"verdict": "confirmed"}, "pt2lint --diff --unsafe-fixes 'src/a b.py'"),
        (
            {"verdict": "confirmed", "fixes": (replace(ITEM.fixes[0], proven=True),)},
            "pt2lint --verify --fix --inputs m:f 'src/a b.py'",
        ),
        ({"verdict": "confirmed", "fixes": (replace(ITEM.fixes[0], proven=False),)}, "pt2lint rule PTB103"),
        ({"verdict": "failed"}, "pt2lint --verify --inputs m:f 'src/a b.py'"),
        (
            {"verdict": "unreached", "code": "PTS301"},
            "pt2lint --verify --run \"SCRIPT.py ARGUMENTS\" 'src/a b.py'",
        ),
        ({"verdict": "refuted"}, None),
    ],
)
def test_the_next_command_fits_what_is_known(change: dict, command: str | None) -> None:
    [row] = json.loads(render("json", report(replace(ITEM, **change), asked="--inputs m:f")))
    assert row["next"] == command


def test_json_places_a_notebook_by_cell() -> None:
    places = [Place(7, line - 2, line, 6) for line in range(1, 17)]
    [row] = json.loads(render("json", report(ITEM, cells={ITEM.path: places})))
    assert (row["cell"], row["line"], row["flow"][0]["cell"], row["flow"][0]["line"]) == (7, 3, 7, 7)
    assert row["fixes"][0]["edits"][0]["line"] == 3


def test_github_commands_are_escaped_and_on_one_line() -> None:
    lines = render("github", report(replace(BRANCH, path="a,b:c%.py"))).splitlines()
    assert lines == [
        "::error title=pt2lint PTB110 (data-dependent-branch),file=a%2Cb%3Ac%25.py,line=11,endLine=13"
        "::`x[0](1) > 0` is tested, 100%25 of the time:%0Aand is a tensor, isn't it?"
    ]


def test_github_leaves_out_what_was_refuted() -> None:
    text = render("github", report())
    assert [line.split(" ")[0] for line in text.splitlines()] == [
        "::notice",
        "::warning",
        "::warning",
        "::error",
    ]
    assert ",line=5,endLine=5,col=12,endColumn=26::" in text


def test_a_rules_page() -> None:
    text = page.render("text", PAGE)
    assert text.startswith("# tensor-item (PTB103)\n\n`.item()` moves")
    assert "gb/gb0124.html" in text
    assert json.loads(page.render("json", PAGE))["graph_breaks"] == ["GB0124"]
    assert "\x1b[" in page.render("text", PAGE, colour=True)


def test_problems_are_pointed_to() -> None:
    text = render("text", report(findings=(), problems=(Problem("x.py", "does not parse"),)))
    assert text == "Nothing found in 2 files. 1 problem: see above on stderr.\n"
