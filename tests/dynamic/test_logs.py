"""Reading what Dynamo logs: lines recorded of several versions (logs/record.py), and the installed one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pt2lint.dynamic.child import logs
from tests import forked
from tests.dynamic.conftest import needs_torch

FOLDER = Path(__file__).parent / "logs"
CASE = (FOLDER / "case.py").read_text(encoding="utf-8").splitlines()
VERSIONS = ["2.6", "2.9", "2.13", "2.15"]


def line_of(text: str, after: str = "") -> int:
    """The number of the line of case.py that holds `text`, after the one that holds `after`."""
    start = next((number for number, line in enumerate(CASE) if after in line), 0)
    return next(number for number, line in enumerate(CASE, 1) if number > start and text in line)


class Recorded:
    def __init__(self, said: dict[str, Any], folder: str = "/project") -> None:
        self.torch, self.case = said["torch"], f"{folder}/case.py"
        self.said = said["records"]

    def of(self, log: str) -> list[tuple[str, str]]:
        return [(each["message"], each["exception"]) for each in self.said if each["log"] == log]

    @property
    def breaks(self) -> list[dict[str, Any]]:
        return [logs.read_break(message, error) or {} for message, error in self.of("__graph_breaks")]


@pytest.fixture(scope="module", params=VERSIONS)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8")))


def user_lines(recorded: Recorded) -> set[int]:
    """The innermost line of case.py of each break."""
    found = set()
    for each in recorded.breaks:
        places = [(frame[0], frame[1]) for frame in each["stack"]] or [(each["path"], each["line"])]
        found |= {line for path, line in places[::-1][:2] if path == recorded.case}
    return found


def test_every_record_of_a_break_is_read(recorded: Recorded) -> None:
    assert all(each["path"] and each["line"] and each["reason"] for each in recorded.breaks)


def test_all_breaks_are_placed(recorded: Recorded) -> None:
    expected = {line_of("if x.sum()"), line_of('print("hi")'), line_of("copy.deepcopy"), line_of("print(i)")}
    assert expected <= user_lines(recorded)


def test_reasons_are_dynamos_words(recorded: Recorded) -> None:
    reasons = {each["line"]: each["reason"] for each in recorded.breaks if each["stack"]}
    assert any(words in reasons[line_of('print("hi")')].lower() for words in ("print", "builtin"))
    for reason in reasons.values():
        assert "\n" not in reason
        assert not reason.startswith(("Encountered", "Failed to handle", "Graph break in", "Unsupported: "))


def test_registry_ids_where_the_version_has_them(recorded: Recorded) -> None:
    ids = {each["graph_break"] for each in recorded.breaks if each["stack"]}
    if recorded.torch.startswith("2.6"):
        assert ids == {None}
    else:
        assert {"GB0170", "GB0059"} <= ids


def test_a_skipped_frame_is_seen(recorded: Recorded) -> None:
    in_loop = [each for each in recorded.breaks if each["line"] == line_of("print(i)")]
    said_apart = [message for message, _ in recorded.of("symbolic_convert") if logs.read_skip(message)]
    assert in_loop
    assert in_loop[0]["skipped"] or said_apart
    elsewhere = [each for each in recorded.breaks if each["line"] == line_of('print("hi")')]
    assert not any(each["skipped"] for each in elsewhere)


def test_the_stack_names_the_users_functions(recorded: Recorded) -> None:
    branch = next(each for each in recorded.breaks if each["line"] == line_of("if x.sum()") and each["stack"])
    assert [frame[2] for frame in branch["stack"] if frame[0] == recorded.case][-2:] == ["forward", "helper"]
    assert not any(
        frame[2].startswith("torch_dynamo_resume") for each in recorded.breaks for frame in each["stack"]
    )


def test_traced_lines(recorded: Recorded) -> None:
    places = {logs.read_traced(message) for message, _ in recorded.of("__trace_source")}
    assert (recorded.case, line_of("self.helper(x)"), "forward") in places


def test_recompilations(recorded: Recorded) -> None:
    said = [logs.read_recompile(message) for message, _ in recorded.of("__recompiles")]
    assert all(said)
    forward = next(each for each in said if each and each["function"] == "forward")
    assert forward["path"] == recorded.case
    assert forward["line"] == line_of("def forward")
    assert "size mismatch at index 0. expected 3, actual 5" in forward["guards"][0]
    assert "#" not in forward["guards"][0]
    word = next(each for each in said if each and each["function"] == "length")
    assert word["guards"][0].endswith("== ''")


def test_the_recompile_limit(recorded: Recorded) -> None:
    said = [logs.read_limit(message) for message, _ in recorded.of("convert_frame")]
    assert len(said) == 1
    assert said[0] is not None
    assert (said[0]["function"], said[0]["line"], said[0]["value"]) == ("length", line_of("def length"), 8)
    assert said[0]["limit"] in ("cache_size_limit", "recompile_limit")


def test_the_error_of_fullgraph(recorded: Recorded) -> None:
    [(message, _)] = recorded.of("fullgraph")
    said = logs.read_error(message)
    assert said is not None
    assert (said["path"], said["line"]) == (recorded.case, line_of("if x.sum()"))
    assert said["reason"]


@needs_torch
def test_the_installed_torch_still_logs_so() -> None:
    done = forked.run(FOLDER / "record.py")
    assert done.returncode == 0, done.stderr
    recorded = Recorded(json.loads(done.stdout))
    test_every_record_of_a_break_is_read(recorded)
    test_all_breaks_are_placed(recorded)
    test_reasons_are_dynamos_words(recorded)
    test_a_skipped_frame_is_seen(recorded)
    test_the_stack_names_the_users_functions(recorded)
    test_traced_lines(recorded)
    test_recompilations(recorded)
    test_the_recompile_limit(recorded)
    test_the_error_of_fullgraph(recorded)


def test_other_messages_are_no_breaks() -> None:
    assert logs.read_break("Step 1: torchdynamo start tracing f") is None
    assert logs.read_traced("TRACE LOAD_FAST x []") is None
    assert logs.read_recompile("") is None
    assert logs.read_limit("torch._dynamo hit something else") is None
    assert logs.read_error("no place here") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html", "GB0170"),
        ("https://pytorch.github.io/compile-graph-break-site/gb4347.html", "GB4347"),
        ("gbx", None),
    ],
)
def test_registry_id(text: str, expected: str | None) -> None:
    assert logs.registry_id(text) == expected
