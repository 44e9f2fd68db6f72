"""Runs over many targets: what is kept, what is reused, in parts, and together."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pt2lint.dynamic.options import VerifyOptions
from pt2lint.dynamic.plan import Job
from pt2lint.zoo.crew import Crew
from pt2lint.zoo.results import read
from pt2lint.zoo.task import Task, perform
from tests.zoo.conftest import Zoo, commands, pt2lint, write_zoo


def keys(folder: Path, name: str = "results.jsonl") -> list[tuple[str, str]]:
    return [*read(str(folder / name), str(folder)).records]


def test_each_target_is_a_line_of_what_is_kept(zoo: Zoo) -> None:
    assert (zoo.ran.status, zoo.ran.err) == (1, "")
    results = read(str(zoo.folder / "results.jsonl"), str(zoo.folder))
    assert results.header.planned == [f"zoo.py:cases[{name}]" for name in ("net", "odd")]
    assert sorted(event for event, _ in results.records) == ["proof", "proof", "target", "target"]
    assert set(results.header.files) == {"models.py", "zoo.py"}
    net, odd = results.models(results.header.planned)
    assert [model.name for model in (net, odd)] == ["net", "odd"]
    assert (len(net.graphs), [place.text for place in net.breaks]) == (2, ["if x.sum() > 0:"])
    assert net.fixed is not None
    assert (len(net.fixed), net.fixed_breaks) == (1, 0)
    assert [place.text for place in odd.breaks] == ["torch._dynamo.graph_break()"]
    assert odd.fixed is not None
    assert (len(odd.fixed), odd.fixed_breaks) == (1, 0)
    assert {"compile"} == {*net.seconds}
    assert "PTB110" in zoo.ran.out
    assert "proven" in zoo.ran.out


def test_a_run_that_was_stopped_goes_on(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    last = max(number for number, line in enumerate(zoo.lines) if '"event": "target"' in line)
    kept = [line for number, line in enumerate(zoo.lines) if number != last]
    (folder / "results.jsonl").write_text("".join(kept) + zoo.lines[last][:100])  # killed while it wrote
    again = pt2lint(folder, *commands()[0][1:], "--format", "json")
    whole = pt2lint(zoo.folder, *commands()[0][1:], "--format", "json")
    assert json.loads(again.out) == json.loads(whole.out)
    assert sorted(keys(folder)) == sorted(keys(zoo.folder))
    said = pt2lint(folder, *commands()[0][1:]).out
    assert "reused from results.jsonl, where they were kept before: 2 of 2 targets" in said


def test_nothing_is_reused_for_other_code(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    (folder / "models.py").write_text((folder / "models.py").read_text() + "\n# changed\n")
    (folder / "zoo.py").write_text("def cases():\n    raise SystemExit('nothing to run')\n")
    said = pt2lint(folder, *commands()[0][1:])
    assert (
        "nothing of results.jsonl is used, for it is of another run: other code: models.py, zoo.py"
        in said.out
    )
    assert (folder / "results.jsonl.old").read_text() == "".join(zoo.lines)


def parts(zoo: Zoo, folder: Path) -> None:
    """What two parts would have kept, as the whole run did."""
    head, *rest = zoo.lines
    for number in (1, 2):
        mine = [line for line in rest if ("odd" in json.loads(line)["key"]) == (number == 2)]
        (folder / f"part{number}.jsonl").write_text("".join([head, *mine]))


def test_parts_make_the_whole(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    parts(zoo, folder)
    done = pt2lint(
        folder, "merge", "part2.jsonl", "part1.jsonl", "-o", "m.json", "-o", "m.sarif", "-o", "all.jsonl"
    )
    assert (done.status, done.out, done.err) == (1, "", "")
    whole = pt2lint(zoo.folder, *commands()[0][1:], "--format", "json")
    merged = json.loads((folder / "m.json").read_text())
    # The command to run next names the options of --verify, which merging has none of.
    assert [{**one, "next": None} for one in merged] == [
        {**one, "next": None} for one in json.loads(whole.out)
    ]
    assert json.loads((folder / "m.sarif").read_text())["runs"][0]["results"]
    assert sorted(keys(folder, "all.jsonl")) == sorted(keys(zoo.folder))
    twice = pt2lint(folder, "merge", "part1.jsonl", "part2.jsonl", "part1.jsonl")
    assert "2 results were there twice; the first of each counts" in twice.out
    missing = pt2lint(folder, "merge", "part1.jsonl")
    assert (missing.status, missing.err) == (
        2,
        "pt2lint: merge: no result for 1 of 2 targets: zoo.py:cases[odd]\n",
    )


def test_what_does_not_belong_together_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    parts(zoo, folder)
    head, *rest = (folder / "part2.jsonl").read_text().splitlines(keepends=True)
    (folder / "other.jsonl").write_text(
        "".join([json.dumps({**json.loads(head), "torch": "2.6.0"}) + "\n", *rest])
    )
    refused = pt2lint(folder, "merge", "part1.jsonl", "other.jsonl")
    torch = json.loads(head)["torch"]
    said = f"part1.jsonl and other.jsonl do not belong together: torch {torch} and torch 2.6.0"
    assert (refused.status, refused.out, refused.err) == (2, "", f"pt2lint merge: {said}\n")
    (folder / "models.py").write_text("")
    changed = pt2lint(folder, "merge", "part1.jsonl", "part2.jsonl")
    assert (changed.status, changed.err) == (
        2,
        "pt2lint merge: the code here is not what was verified: models.py\n",
    )
    assert pt2lint(folder, "merge", "models.py").err.startswith(
        "pt2lint merge: models.py holds no results of pt2lint"
    )


def test_the_commands_of_the_page(zoo: Zoo, tmp_path: Path) -> None:
    folder = zoo.copy(tmp_path)
    parts(zoo, folder)  # what they keep is there already: nothing has to be run
    said = [(words, pt2lint(folder, *words[1:])) for words in commands()]
    assert [(words[1], ran.err) for words, ran in said if ran.status == 2 or ran.err] == []
    assert {words[1] for words, _ in said} == {"--verify", "merge", "compare"}
    for words, ran in said:
        if words[1] == "compare":
            assert (ran.status, ran.out.splitlines()[-1]) == (0, "2 models: 0 worse, 0 better, 2 the same")
        elif "--shard" in words:
            assert "1 of 1 targets" in ran.out or "reused" in ran.out
    for name in ("all.jsonl", "pt2lint.json", "pt2lint.sarif", "report.html", "compare.html"):
        assert (folder / name).stat().st_size
    page = (folder / "report.html").read_text()
    assert page.count("<tr data-t=") == 2
    assert 'href="#f0v0"' in page
    assert pt2lint(folder, "merge", "all.jsonl", "-o", "pages/").err == ""
    index = (folder / "pages" / "index.html").read_text()
    assert 'href="models/net.html"' in index
    assert "torch.where" in (folder / "pages" / "models" / "net.html").read_text()


# Instead of the child that the worker starts first: it ends the worker.
DEADLY = """\
#!/bin/sh
case "$1" in -*) exec {python} "$@";; esac
echo "$COLOUR $CUDA_VISIBLE_DEVICES" >> seen
[ -e killed ] || {{ touch killed; kill -9 $PPID; }}
exit 3
"""


def processes() -> Any:
    return ProcessPoolExecutor(max_workers=1)


def dask() -> Any:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    return distributed.Client(cluster).get_executor()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize(("make", "lost"), [(processes, 1), (dask, 0)])  # dask runs it again by itself
def test_what_a_lost_worker_had_is_run_again(make: Any, lost: int, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    python = tmp_path / "python"
    python.write_text(DEADLY.format(python=sys.executable))
    python.chmod(0o755)
    options = VerifyOptions(python=str(python), environment=(("COLOUR", "blue"),), gpus=("5", "7"))
    tasks = [Task(key, Job("inputs", "m:f"), (), (), str(tmp_path), options) for key in ("one", "other")]
    done: dict[str, dict[str, Any]] = {}
    crew = Crew(make, 1, threading.Event(), print)
    crew.do(tasks, lambda task, result: done.update({task.key: result}) or ())
    assert crew.lost == lost
    assert {*done} == {"one", "other"}
    for result in done.values():
        assert "lost" not in result
        assert "exit status 3" in str(result["problems"])
    lines = (tmp_path / "seen").read_text().splitlines()
    assert len(lines) > 2  # the one that was lost, and the two that were run to their end
    assert {*lines} <= {"blue 5", "blue 7"}


def test_a_worker_with_other_files_runs_nothing(tmp_path: Path) -> None:
    write_zoo(tmp_path)
    code = (str(tmp_path / "models.py"),)
    task = Task(
        "k", Job("inputs", "zoo.py:cases"), (), code, str(tmp_path), VerifyOptions(), code="another digest"
    )
    done = perform(task)
    assert "runs" not in done
    assert set(done["differs"]) == {"models.py"}
