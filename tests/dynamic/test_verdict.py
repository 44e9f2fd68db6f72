"""Verdicts are a pure function of findings and events: no torch here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pt2lint.dynamic.asked import Ask, ask
from pt2lint.dynamic.dynamic_shapes import mark_dynamic
from pt2lint.dynamic.events import Break, Events, Failure, Recompile, Run, run_from
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.recompilations import guard_subject
from pt2lint.dynamic.statements import Statements
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding, Price, Step

PATH = "/p/m.py"
SOURCE = """\
import copy
import torch

def f(x, mask):
    if mask is not None and mask.any():
        x = g(
            x.item(),
            2,
        )
    print(x)
    y = copy.deepcopy(x)
    return y

@torch.compile
def step(x, n):
    return x * n

def main():
    for n in range(9):
        x = torch.ones(n, 2)
        total = step(x, n)
"""
FILES = Files({PATH: "m.py"}, {PATH: SOURCE})


def found(
    line: int, column: int = 5, end_line: int | None = None, end_column: int = 10, code: str = "PTB100"
) -> Finding:
    return Finding(code, "name", "message", "m.py", line, column, end_line or line, end_column)


def run(probe: str = "default", **fields: Any) -> Run:
    return Run(**{"target": "f", "probe": probe, "mode": "call", **fields})


def broke(line: int, path: str = PATH, **fields: Any) -> Break:
    stack = fields.pop("stack", ((path, line, "f", None, None),))
    return Break(
        **{"path": path, "line": line, "reason": "why", "graph_break": "GB0001", "stack": stack, **fields}
    )


def traced(*lines: int) -> dict[str, frozenset[int]]:
    return {PATH: frozenset(lines)}


def verdict_of(finding: Finding, *runs: Run, failures: tuple[Any, ...] = ()) -> str | None:
    judged = judge([finding], Events(runs, failures), FILES)
    return next(each for each in judged if each.code == finding.code).verdict


def test_a_line_that_is_reached_another_way_than_the_finding_says_is_not_refuted() -> None:
    one = replace(found(10), when=("mask.any()",))

    def verdict(*lines: int) -> tuple[str | None, str]:
        [judged] = judge([one], Events((run(traced=traced(*lines)),)), FILES)
        return judged.verdict, (judged.evidence or {})["reason"]

    assert verdict(5, 10) == ("unreached", "the line was traced, but no run met `mask.any()`")
    assert verdict(5, 6, 10)[0] == "refuted"
    assert verdict(5) == ("unreached", "no run came here; it happens only where `mask.any()`")
    one = replace(one, when=("self.gradient_checkpointing",))  # asked in a file that is not there
    assert verdict(5, 10) == (
        "unreached", "the line was traced, but nothing tells whether `self.gradient_checkpointing` held",
    )  # fmt: skip
    one = replace(one, when=("mask is None",))  # the other side of a test that is there
    assert verdict(5, 10)[0] == "refuted"
    one = replace(one, when=("mask is None", "mask.any()", "self.training"))  # no more are ever told
    assert verdict(5, 6, 10)[1].endswith("may need more than the conditions that are told")


@pytest.mark.parametrize(
    ("when", "modes", "wanted"),
    [
        ((), ("train", "eval"), None),
        (("x.dtype == torch.float32",), ("train", "eval"), None),
        (
            ("x.dtype in (torch.float16, torch.bfloat16)",),
            ("train", "eval"),
            Ask("float16", ("train", "eval")),
        ),
        (("x.dtype == torch.bfloat16", "not self.training"), ("train", "eval"), Ask("bfloat16", ("eval",))),
        (("torch.is_autocast_enabled('cpu')",), ("eval",), Ask("autocast", ("eval",))),
        (("torch.finfo(x.dtype).bits < 32",), ("eval",), Ask("float16", ("eval",))),
        (("x.element_size() == 8",), ("eval",), Ask("float64", ("eval",))),
        (("self.training", "self.flag"), ("eval",), Ask("", ("train",))),
        (("self.training",), ("train", "eval"), None),
        (("self.training", "not self.training"), ("train", "eval"), None),
        # Of several dtypes at once: autocast mixes them.
        (("x.dtype == torch.float16", "y.dtype != torch.float16"), ("eval",), Ask("autocast", ("eval",))),
    ],
)
def test_which_run_the_conditions_ask_for(
    when: tuple[str, ...], modes: tuple[str, ...], wanted: Ask | None
) -> None:
    assert ask(replace(found(10), when=when), modes) == wanted


def test_a_break_in_the_statement_confirms() -> None:
    judged = judge([found(10)], Events((run(breaks=(broke(10),), traced=traced(10)),)), FILES)
    assert [(each.code, each.verdict) for each in judged] == [("PTB100", "confirmed")]
    assert judged[0].evidence is not None
    assert judged[0].evidence["graph_break"] == "GB0001"
    assert judged[0].evidence["modes"] == ["default"]


def test_a_rule_of_the_users_own_is_judged_by_what_it_is() -> None:
    """A graph break has a price, whatever its code; of what is none Dynamo shows nothing."""
    own = replace(found(10, code="ACME101"), price=Price())
    judged = judge([own], Events((run(breaks=(broke(10),), traced=traced(10)),)), FILES)
    assert [(each.code, each.verdict) for each in judged] == [("ACME101", "confirmed")]
    assert verdict_of(own, run(traced=traced(10, 11))) == "refuted"
    [other] = judge([found(10, code="ACME201")], Events((run(traced=traced(10)),)), FILES)
    assert (other.verdict, other.evidence) == ("unreached", {"reason": "nothing that Dynamo does shows it"})


def test_the_unit_is_the_statement() -> None:
    assert verdict_of(found(7, 13, end_column=21), run(breaks=(broke(6),))) == "confirmed"
    assert verdict_of(found(6), run(breaks=(broke(8),))) == "confirmed"
    # The body of an `if` is not its header.
    assert verdict_of(found(5, 8, end_column=20), run(breaks=(broke(6),))) == "unreached"


def test_traced_without_a_break_refutes() -> None:
    assert verdict_of(found(10), run(traced=traced(10, 11))) == "refuted"


def test_only_default_mode_refutes() -> None:
    for probe in ("eager", "explain", "fullgraph", "capture"):
        assert verdict_of(found(10), run(probe, traced=traced(10))) == "unreached"


def test_a_break_in_any_run_forbids_refutation() -> None:
    assert verdict_of(found(10), run(traced=traced(10)), run("given", breaks=(broke(10),))) == "confirmed"
    assert verdict_of(found(10), run(traced=traced(10)), run("fullgraph", breaks=(broke(10),))) == "confirmed"


def test_a_frame_given_up_refutes_nothing() -> None:
    judged = judge([found(10)], Events((run(gave_up=traced(10), breaks=(broke(11, skipped=True),)),)), FILES)
    assert (judged[0].verdict, judged[0].code) == ("unreached", "PTB100")
    assert judged[0].evidence is not None
    assert "gave up this part of the function" in judged[0].evidence["reason"]


def test_what_ran_uncompiled_is_unreached() -> None:
    judged = judge([found(10)], Events((run("eager", ran={PATH: {10: 3}}),)), FILES)
    assert judged[0].verdict == "unreached"
    assert judged[0].evidence is not None
    assert "not in code that Dynamo compiled" in judged[0].evidence["reason"]


def test_what_may_not_have_been_evaluated_is_not_refuted() -> None:
    # `mask.any()` after `and`: mask was perhaps None.
    column = SOURCE.splitlines()[4].index("mask.any") + 1
    assert verdict_of(found(5, column, end_column=column + 10), run(traced=traced(5))) == "unreached"
    assert verdict_of(found(5, 8, end_column=20), run(traced=traced(5))) == "refuted"


def test_an_expression_on_a_line_of_its_own_needs_that_line_traced() -> None:
    assert verdict_of(found(7, 13, end_column=21), run(traced=traced(6))) == "unreached"
    assert verdict_of(found(7, 13, end_column=21), run(traced=traced(6, 7))) == "refuted"


def test_a_tensor_that_may_have_been_of_one_number_refutes_nothing() -> None:
    source = "import torch\n\ndef f(xs):\n    return torch.tensor([len(x) for x in xs]).unique()\n"
    files = Files({PATH: "m.py"}, {PATH: source})
    traced = run(traced={PATH: frozenset({4})})
    judged = judge([found(4, 12, end_column=60)], Events((traced,)), files)
    assert judged[0].verdict == "unreached"
    assert judged[0].evidence is not None
    assert "a constant" in judged[0].evidence["reason"]


def test_what_was_given_up_says_why_nothing_was_compiled_again() -> None:
    given_up = run(gave_up={PATH: frozenset({6, 7, 8})})
    judged = judge([found(6, code="PTR215")], Events((given_up,)), FILES)
    assert judged[0].verdict == "unreached"
    assert judged[0].evidence == {
        "reason": "Dynamo gave up this part of the function, for a graph break in it"
    }


def test_what_happens_in_one_mode_is_not_refuted_by_the_other() -> None:
    training, eval_ = run(mode="train", traced=traced(10)), run(mode="eval", traced=traced(10))
    one = replace(found(10), when=("self.training",))
    assert verdict_of(one, training, eval_) == verdict_of(one, run(traced=traced(10))) == "refuted"
    gave_up = run(mode="train", gave_up=traced(10))
    assert verdict_of(one, eval_) == verdict_of(one, gave_up, eval_) == "unreached"
    assert verdict_of(replace(one, when=("not self.training",)), eval_) == "refuted"


def test_a_failed_compilation_refutes_nothing() -> None:
    for kind in ("internal error", "backend failure"):
        assert verdict_of(found(10), run(traced=traced(10), error=Failure(kind, "x"))) == "unreached"


def test_failures_concern_their_files() -> None:
    hang = Failure("timeout", "it did not end within 3 s")
    assert verdict_of(found(10), failures=(((PATH,), hang),)) == "failed"
    assert verdict_of(found(10), failures=(((), hang),)) == "failed"
    assert verdict_of(found(10), failures=((("/p/other.py",), hang),)) == "unreached"
    assert verdict_of(found(10), run(breaks=(broke(10),)), failures=(((), hang),)) == "confirmed"


def test_the_failure_of_what_holds_the_finding_is_its_own() -> None:
    first = Failure("exit", "it called sys.exit(0)", target=(PATH, 4))
    second = Failure("exception", "two", target=(PATH, 15))
    failures = (((PATH,), first), ((PATH,), second))
    for line, words in ((10, "sys.exit"), (16, "two")):
        [judged] = judge([found(line, code="PTB100")], Events((), failures), FILES)
        assert judged.evidence is not None
        assert words in judged.evidence["reason"]
    [beside] = judge([found(20, code="PTB100")], Events((), failures), FILES)  # neither leads there
    assert beside.verdict == "unreached"
    led = replace(found(20, code="PTB100"), flow=(Step(FILES.shown[PATH], 15, "`g` calls it"),))
    [led] = judge([led], Events((), failures), FILES)
    assert led.verdict == "failed"
    assert led.evidence is not None
    assert "two" in led.evidence["reason"]


def test_what_is_missing_is_said_how_to_install() -> None:
    command = "pip install scikit-image"
    lacking = Failure("exception", "No module named 'skimage'", type="ModuleNotFoundError")
    [failed] = judge([found(6)], Events(failures=(((PATH,), lacking),)), FILES)
    assert failed.verdict == "failed"
    left = {(PATH, "step"): "it uses skimage.color.rgb2lab, which is not installed"}
    [unreached] = judge([found(16)], Events(left=left), FILES)
    for each in (failed, unreached):
        assert each.evidence is not None
        assert each.evidence["install"] == command
        assert f"({command})" in each.evidence["reason"]
    [other] = judge([found(16)], Events(left={(PATH, "step"): "no value for `x`"}), FILES)
    assert other.evidence == {"reason": "no value for `x`"}


def test_what_had_no_inputs_is_said_where_nothing_came_to_a_finding() -> None:
    left = {(PATH, "step"): "no inputs for step"}
    one, led = found(16), replace(found(10), flow=(Step(FILES.shown[PATH], 16, "calls it"),), when=("mask",))
    here, there, elsewhere = judge([one, led, found(20)], Events(left=left), FILES)
    judged = {each.line: each.evidence for each in (here, there, elsewhere)}
    assert judged == {16: {"reason": "no inputs for step"}, 10: {"reason": "no inputs for step"}, 20: None}
    [seen] = judge([replace(led, when=())], Events((run("eager", ran={PATH: {10: 3}}),), left=left), FILES)
    assert (seen.evidence or {})["reason"] == "the line ran, but not in code that Dynamo compiled"


def test_a_break_elsewhere_is_placed_at_the_users_innermost_line() -> None:
    stack = ((PATH, 11, "f", 4, 20), ("/stdlib/copy.py", 153, "deepcopy", None, None))
    judged = judge([], Events((run(breaks=(broke(153, "/stdlib/copy.py", stack=stack),)),)), FILES)
    [unforeseen] = judged
    assert (unforeseen.code, unforeseen.line, unforeseen.verdict) == ("PTB900", 11, "confirmed")
    assert (unforeseen.column, unforeseen.end_column) == (9, 25)
    assert "inside copy.py:153, called from here" in unforeseen.message
    assert unforeseen.evidence is not None
    assert unforeseen.evidence["stack"] == ["m.py:11 in f", "/stdlib/copy.py:153 in deepcopy"]


def test_a_break_that_fullgraph_alone_meets_says_so() -> None:
    [alone] = judge([], Events((run("fullgraph", breaks=(broke(11),)),)), FILES)
    assert alone.message.startswith("fullgraph=True stops here, where default mode was not seen to break")
    both = (run("fullgraph", breaks=(broke(11),)), run(breaks=(broke(11),)))
    [both_ways] = judge([], Events(both), FILES)
    assert both_ways.message.startswith("Dynamo breaks the graph here")


@pytest.mark.parametrize(("lines", "told"), [((), []), ((11,), ["PTB900"])])
def test_a_break_that_torch_asks_for_around_a_compiled_step_is_no_news(
    lines: tuple[int, ...], told: list[str]
) -> None:
    file = "/site/torch/optim/optimizer.py"
    stack = ((PATH, 11, "f", None, None), (file, 79, "_use_grad", None, None))
    meant = broke(79, file, stack=stack, reason="Call to `torch._dynamo.graph_break()`")
    seen = run(breaks=(meant,), traced=traced(*lines))
    assert [each.code for each in judge([], Events((seen,)), FILES)] == told


def test_a_repeated_record_without_a_stack_belongs_to_the_first() -> None:
    stack = ((PATH, 11, "f", None, None), ("/stdlib/copy.py", 153, "deepcopy", None, None))
    first = broke(153, "/stdlib/copy.py", stack=stack)
    again = broke(153, "/stdlib/copy.py", stack=())
    judged = judge([], Events((run(breaks=(first, again)),)), FILES)
    assert [(each.code, each.line) for each in judged] == [("PTB900", 11)]


def test_a_break_in_nobodys_file_is_not_reported() -> None:
    assert judge([], Events((run(breaks=(broke(3, "/site/lib.py"),)),)), FILES) == []


STOPPED = Failure("graph break", "x")


@pytest.mark.parametrize(
    ("others", "modes"),
    [
        ((), ["default"]),
        ((run("fullgraph"),), ["default"]),
        ((run("fullgraph", error=STOPPED, breaks=(broke(10),)),), ["default", "fullgraph"]),
        # It stopped at another place; without capture runs this torch's fullgraph captures nothing more.
        ((run("fullgraph", error=STOPPED, breaks=(broke(5),)),), ["default", "fullgraph"]),
        # With them they tell: this break is gone with what fullgraph captures.
        (
            (run("fullgraph", error=STOPPED, breaks=(broke(5),)), run("capture", breaks=(broke(5),))),
            ["default"],
        ),
        ((run("capture", breaks=(broke(10),)),), ["default", "fullgraph"]),
    ],
)
def test_modes(others: tuple[Run, ...], modes: list[str]) -> None:
    judged = judge([found(10)], Events((run(breaks=(broke(10),)), *others)), FILES)
    evidence = next(each.evidence for each in judged if each.code == "PTB100")
    assert evidence is not None
    assert evidence["modes"] == modes


def test_hits_are_how_often_the_line_ran() -> None:
    events = Events((run("eager", ran={PATH: {10: 24}}), run(breaks=(broke(10),), graphs=(1, 2))))
    evidence = judge([found(10)], events, FILES)[0].evidence
    assert evidence is not None
    assert (evidence["hits"], evidence["graphs"]) == (24, 2)


def test_the_cost_of_a_break_is_read_from_the_order_of_events() -> None:
    def record(line: int, compile_id: str) -> tuple[str, dict[str, Any]]:
        fields = {
            "path": PATH,
            "line": line,
            "reason": "",
            "graph_break": None,
            "explanation": "",
            "hints": [],
        }
        return "break", {**fields, "stack": [], "skipped": False, "why_skipped": "", "compile_id": compile_id}

    def graph(operators: int, compile_id: str) -> tuple[str, dict[str, Any]]:
        return "graph", {"operators": operators, "compile_id": compile_id}

    events = [record(5, "0/0"), graph(3, "0/0"), graph(1, "1/0"), record(10, "2/0"), graph(7, "3/0")]
    read = run_from({"target": "f", "probe": "default", "mode": "call", "events": events})
    assert [(each.before, each.after) for each in read.breaks] == [(3, 1), (None, 7)]
    assert read.graphs == (3, 1, 7)

    # Between 5 and 8 nothing is computed, between 8 and 10 is a graph of 18 operators, which Dynamo compiles last.
    events = [record(5, "0/0"), graph(3, "0/0"), record(8, "1/0"), record(10, "2/0"), graph(18, "2/0")]
    read = run_from({"target": "f", "probe": "default", "mode": "call", "events": events})
    assert [(each.before, each.after) for each in read.breaks] == [(3, None), (None, 18), (18, None)]


def test_ranks_are_listed() -> None:
    runs = tuple(run("trace", target=f"rank {rank}", rank=rank, breaks=(broke(10),)) for rank in (1, 0))
    evidence = judge([found(10)], Events(runs), FILES)[0].evidence
    assert evidence is not None
    assert evidence["ranks"] == [0, 1]


# Recompilations


def recompiled(guard: str, times: int = 1, probe: str = "given", limit: bool = False, line: int = 14) -> Run:
    events = [Recompile(PATH, line, "step", (guard,)) for _ in range(times)]
    if limit:
        events.append(Recompile(PATH, line, "step", limit="recompile_limit", limit_value=8))
    return run(probe, target="step", recompiles=tuple(events))


def test_a_recompilation_confirms_the_finding_that_names_its_cause() -> None:
    events = Events((recompiled("n == 3", 8, limit=True),))
    judged = judge([found(16, code="PTR202")], events, FILES)
    assert [(each.code, each.verdict) for each in judged] == [("PTR202", "confirmed")]
    assert judged[0].evidence is not None
    assert (judged[0].evidence["hits"], judged[0].evidence["limit"]) == (8, "recompile_limit")


def test_a_cause_is_known_behind_a_guard_in_which_layers_differ() -> None:
    """As Dynamo 2.13 logs a counter in a block that runs twice, of which only the first is given no gradient."""
    grad, other = (f"tensor 'y' requires_grad mismatch. expected requires_grad={n}" for n in (0, 1))
    said = [(grad,), (other, "n == 0"), (grad, "n == 0", grad), (other, "n == 1", other, "n == 0")]
    seen = run("program", target="step", recompiles=tuple(Recompile(PATH, 14, "step", one) for one in said))
    judged = judge([found(16, code="PTR202")], Events((seen,)), FILES)
    [counted, unforeseen] = sorted(judged, key=lambda each: each.code)
    assert (unforeseen.code, unforeseen.severity) == ("PTR900", "note")
    assert counted.verdict == "confirmed"
    assert counted.evidence is not None
    assert counted.evidence["guards"] == ["n == 0", "n == 1"]
    assert counted.evidence["hits"] == 3


@pytest.mark.parametrize(
    ("guard", "probe", "verdict"),
    [
        ("n == 3", "program", "confirmed"),
        ("n == 3", "varied", "unreached"),
        ("x == 3", "program", "unreached"),
    ],
)
def test_a_finding_at_a_call_is_confirmed_by_the_parameter_that_it_names(
    guard: str, probe: str, verdict: str
) -> None:
    at_call = replace(found(20, code="PTR207"), flow=(Step("m.py", 15, "`n` of `step`"),))
    assert verdict_of(at_call, recompiled(guard, 3, probe)) == verdict
    elsewhere = replace(recompiled("", 1, probe), recompiles=(Recompile(PATH, 4, "f", ("x == 3",)),))
    assert verdict_of(at_call, elsewhere) == ("confirmed" if probe == "program" else "unreached")


@pytest.mark.parametrize(("times", "verdict"), [(3, "confirmed"), (1, "unreached")])
def test_a_size_that_stays_a_constant_confirms_that_it_is_kept(times: int, verdict: str) -> None:
    size = "tensor 'x' size mismatch at index 0. expected 3, actual 4"
    keeps = replace(found(12, code="PTR214"), flow=(Step("m.py", 14, "`step` is compiled"),))
    assert verdict_of(keeps, recompiled(size, times, "varied")) == verdict
    elsewhere = replace(keeps, flow=(Step("other.py", 14, "`step` is compiled"),))
    assert verdict_of(elsewhere, recompiled(size, times, "varied")) == "unreached"


SIZE = "tensor 'x' size mismatch at index {}. expected 3, actual 4"
OTHER_OPTIMIZER = "___check_obj_id(args[0], 1), type=<class 'torch.optim.adam.Adam'>"


@pytest.mark.parametrize(
    ("code", "guard", "verdict"),
    [
        ("PTR212", SIZE.format(0), "confirmed"),
        ("PTR212", SIZE.format(1), "unreached"),  # the length of what was padded
        ("PTR227", SIZE.format(1), "confirmed"),
        ("PTR222", SIZE.format(1), "unreached"),
        ("PTR222", "tensor 'other' requires_grad mismatch. expected requires_grad=1", "confirmed"),
        ("PTR222", "GLOBAL_STATE changed: grad_mode autocast(cpu)_enabled", "confirmed"),
        ("PTR207", "GLOBAL_STATE changed: grad_mode", "unreached"),
        ("PTR212", SIZE.format(0).replace("'x'", "'args[0]'"), "confirmed"),  # of a module of torch
        ("PTR212", SIZE.format(1).replace("'x'", "'args[0]'"), "unreached"),
        ("PTR227", SIZE.format(1).replace("'x'", "'args[0]'"), "confirmed"),
        ("PTR223", OTHER_OPTIMIZER, "confirmed"),
        ("PTR201", OTHER_OPTIMIZER, "unreached"),
        (
            "PTR228",
            "tensor 'fn._parameters['bias']' requires_grad mismatch. expected requires_grad=0",
            "confirmed",
        ),
        ("PTR221", SIZE.format(0), "unreached"),  # the number that the break read out is `x == 3`
        ("PTR221", "x.size()[0] == 3", "unreached"),
        ("PTR221", "x == 3", "confirmed"),
    ],
)
def test_what_failed_is_what_the_finding_is_about(code: str, guard: str, verdict: str) -> None:
    message = "`step` is called without gradients, and with them" if code == "PTR222" else "message"
    said = "`step` is compiled again" if code == "PTR222" else "`x` of `step`"
    at_call = replace(found(20, code=code), message=message, flow=(Step("m.py", 15, said),))
    assert verdict_of(at_call, recompiled(guard, 1, "program")) == verdict
    # What goes on after a break, at the line where it does, is the same function.
    assert verdict_of(at_call, recompiled(guard, 1, "program", line=16)) == verdict
    elsewhere = replace(at_call, flow=(Step("other.py", 15, said),))
    assert code != "PTR222" or verdict_of(elsewhere, recompiled(guard, 1, "program")) == "unreached"


def test_what_another_program_does_says_nothing_of_a_file() -> None:
    """Of a folder each script is run; names as short as `x` or `step` are in all of them."""
    counter, off = found(10, code="PTR202"), found(10, code="PTS306")
    again = (Recompile("/p/other.py", 3, "g", ("self.x == 0",)),)
    sites = {
        "sites": [{"path": "/p/other.py", "line": 3, "made": 1, "calls": 2, "graphs": 2, "in_place": False}]
    }

    def verdicts(**came: Any) -> list[tuple[str | None, str]]:
        details = {**sites, "covers": ("/p/other.py",)}
        runs = [run(probe, recompiles=again, details=details, **came) for probe in ("recorded", "program")]
        judged = judge([counter, off], Events(tuple(runs)), FILES)
        return [
            (each.verdict, (each.evidence or {}).get("reason", "")[:21]) for each in judged if each.line == 10
        ]

    assert verdicts() == [("unreached", ""), ("unreached", "only a run of the pro")]
    came = verdicts(ran={PATH: {10: 1}})
    assert came == [("confirmed", "recompiled because se"), ("unreached", "what the program comp")]


@pytest.mark.parametrize(("line", "verdict"), [(10, "confirmed"), (11, "unreached")])
def test_a_number_that_a_break_read_out_is_one_for_the_code_behind_it(line: int, verdict: str) -> None:
    again = run("program", recompiles=(Recompile(PATH, line, "f", ("___stack0 == 1.0",)),))
    assert verdict_of(found(10, code="PTR221"), again) == verdict
    gone = ("Cache line invalidated because L['___stack0'] got deallocated",)
    bound_anew = run("program", recompiles=(Recompile(PATH, line, "f", gone),))
    assert verdict_of(found(10, code="PTR232"), bound_anew) == verdict


def test_an_unforeseen_recompilation_is_reported_with_its_guard() -> None:
    judged = judge([found(10)], Events((recompiled("n == 3", 8, limit=True),)), FILES)
    unforeseen = next(each for each in judged if each.code == "PTR900")
    assert unforeseen.line == 15
    assert "`n == 3`" in unforeseen.message
    assert "8 times" in unforeseen.message
    assert "the limit of 8" in unforeseen.message


@pytest.mark.parametrize(
    ("times", "said"), [(7, "it hit the limit of 8 and then"), (3, "8 with what else it was")]
)
def test_a_limit_that_several_causes_reach_together_is_none_of_one_alone(times: int, said: str) -> None:
    [unforeseen] = judge([], Events((recompiled("n == 3", times, limit=True),)), FILES)
    assert f"recompiled {times} times" in unforeseen.message
    assert said in unforeseen.message


def test_making_a_shape_dynamic_on_our_own_inputs_is_no_news() -> None:
    size = "tensor 'x' size mismatch at index 0. expected 3, actual 4"
    assert judge([], Events((recompiled(size, 1, "varied"),)), FILES) == []
    assert [each.code for each in judge([], Events((recompiled(size, 3, "varied"),)), FILES)] == ["PTR900"]
    assert [each.severity for each in judge([], Events((recompiled(size, 1, "given"),)), FILES)] == ["note"]


def test_of_several_guards_the_one_that_repeats_is_cited() -> None:
    said = [
        ("tensor 'x' size mismatch at index 0. expected 2, actual 3",),
        ("n == 0",),
        ("n == 1",),
        ("n == 2",),
    ]
    seen = run("again", target="step", recompiles=tuple(Recompile(PATH, 14, "step", one) for one in said))
    [unforeseen] = judge([], Events((seen,)), FILES)
    assert "`n == 0` no longer held" in unforeseen.message


def test_a_recompilation_within_the_first_call_is_no_news() -> None:
    other = "tensor 'x' dtype mismatch. expected Float, actual Long"
    assert judge([], Events((recompiled(other, 3, "default"),)), FILES) == []
    assert judge([], Events((recompiled(other, 9, "capture", limit=True),)), FILES) == []
    assert [each.code for each in judge([], Events((recompiled(other, 1, "again"),)), FILES)] == ["PTR900"]
    [limit] = judge([], Events((recompiled(other, 8, "default", limit=True),)), FILES)
    assert limit.evidence is not None
    assert limit.evidence["limit"] == "recompile_limit"


def test_further_calls_without_recompilation_refute() -> None:
    again = (run("again", target="step"), run("given", target="step"))
    reached = run(target="step", traced=traced(16))
    assert verdict_of(found(16, code="PTR202"), reached, *again) == "refuted"
    assert verdict_of(found(16, code="PTR202"), reached, run("again", target="step")) == "unreached"


# Places that call torch.compile


def programs(made: int, calls: int, graphs: int, in_place: bool = False, failed: bool = False) -> Events:
    site = {"path": PATH, "line": 14, "made": made, "in_place": in_place}
    error = Failure("exception", "x") if failed else None
    reads = [{"path": PATH, "line": 14, "name": "state_dict", "count": 2}]
    recorded = run("recorded", details={"sites": [{**site, "calls": calls}], "reads": reads})
    return Events((recorded, run("program", details={"sites": [{**site, "graphs": graphs}]}, error=error)))


@pytest.mark.parametrize(
    ("code", "events", "verdict", "words"),
    [
        ("PTS301", programs(1, 0, 0), "confirmed", "ended without calling what it returned"),
        ("PTS301", programs(1, 0, 0, failed=True), "unreached", "failed before its end"),
        ("PTS301", Events((run(),)), "unreached", "give --run"),
        ("PTS301", Events((run("recorded"), run("program"))), "unreached", "not this line"),
        ("PTS301", programs(1, 2, 3), "refuted", "gave 3 graphs"),
        # The same code is compiled at another place too, and called from there.
        ("PTS301", programs(1, 0, 3), "confirmed", "ended without calling what it returned"),
        ("PTS308", programs(1, 0, 0, in_place=True), "unreached", "was never called"),
        ("PTS308", programs(1, 2, 0, in_place=True), "confirmed", "called 2 times, and not one graph"),
        ("PTS311", programs(1, 2, 3), "unreached", "read the rule's page"),
        ("PTS303", programs(1, 2, 3), "confirmed", "of what torch.compile had returned, 2 times"),
        (
            "PTS304",
            programs(1, 2, 3),
            "unreached",
            "asked nothing of a compiled module here that a run shows",
        ),
        ("PTS317", programs(1, 2, 3), "confirmed", "of what torch.compile had returned, 2 times"),
        ("PTS306", programs(1, 2, 0), "confirmed", "not one graph came of it"),
        ("PTS306", programs(1, 2, 3), "unreached", "it was not off all the time"),
        ("PTS306", programs(1, 0, 0), "unreached", "called nothing that it had compiled"),
        ("PTS312", programs(2, 0, 0, in_place=True), "confirmed", "ran here 2 times, and gave None"),
        ("PTS313", programs(1, 0, 0), "refuted", "raised nothing"),
        ("PTR205", programs(3, 3, 1), "confirmed", "called torch.compile here 3 times"),
        ("PTR205", programs(1, 3, 1), "refuted", "called torch.compile here 1 time"),
    ],
)
def test_a_run_shows_what_became_of_a_compilation(
    code: str, events: Events, verdict: str, words: str
) -> None:
    [judged] = judge([found(14, code=code)], events, FILES)
    assert judged.verdict == verdict
    assert judged.evidence is not None
    assert words in judged.evidence["reason"]


@pytest.mark.parametrize(
    ("guard", "subject"),
    [
        ("self.step == 0", "step"),
        ("L['self'].step == 0", "step"),
        ("self.param_groups[0]['lr'] == 0.1", "lr"),
        ("n == 'a'", "n"),
        ("L['n'] == ''", "n"),
        ("G['COUNT'] == 3", "COUNT"),
        ("tensor 'x' size mismatch at index 0. expected 3, actual 4", "x"),
        ("tensor 'L['x']' size mismatch at index 0. expected 3, actual 4", "x"),
        ("len(L['items']) == 2", "items"),
        ("tensor 'self.scale' dtype mismatch. expected Float, actual BFloat16", "scale"),
        ("___check_obj_id(args[0], 1), type=<class 'torch.optim.adam.Adam'>", "args"),
    ],
)
def test_guard_subject(guard: str, subject: str) -> None:
    assert guard_subject(guard) == subject


@pytest.mark.parametrize("name", ["'x'", "'L['x']'"])
def test_mark_dynamic_is_put_before_the_call(name: str) -> None:
    guard = f"tensor {name} size mismatch at index 0. expected 3, actual 4"
    [fix] = mark_dynamic(Recompile(PATH, 14, "step", (guard,)), [guard], {PATH: SOURCE}, {PATH: "m.py"})
    assert fix.applicability == "unsafe"
    [edit] = fix.edits
    assert (edit.path, edit.line, edit.column) == ("m.py", 21, 9)
    assert edit.text == "torch._dynamo.mark_dynamic(x, 0)\n        "


def test_mark_dynamic_needs_a_named_argument() -> None:
    source = SOURCE.replace("step(x, n)\n", "step(x + 1, n)\n").replace("def step(x + 1", "def step(x")
    guard = "tensor 'x' size mismatch at index 0. expected 3, actual 4"
    assert mark_dynamic(Recompile(PATH, 14, "step", (guard,)), [guard], {PATH: source}, {PATH: "m.py"}) == ()


def test_statements() -> None:
    statements = Statements(SOURCE)
    assert [statements.span(line) for line in (5, 6, 7, 9, 10)] == [(5, 5), (6, 9), (6, 9), (6, 9), (10, 10)]
    assert statements.expression_end(10, 5, 14) == 13
    assert statements.expression_end(10, 5, 12) == 10
    assert statements.expression_end(10, 6, 12) is None


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("if kind:\n            self.net = A()\n        else:\n            self.net = B()", "unreached"),
        (
            "if kind:\n            self.net.append(A())\n        else:\n            self.net.append(B())",
            "unreached",
        ),
        ("self.net = A() if kind else B()", "unreached"),
        ("self.net = A()\n        if kind:\n            self.other = B()", "refuted"),
        ("if kind:\n            self.net = A()", "refuted"),
    ],
)
def test_what_the_constructor_chooses_among_is_not_refuted_by_one_choice(made: str, verdict: str) -> None:
    source = f"class M:\n    def __init__(self, kind):\n        {made}\n\n    def forward(self, x):\n"
    source += "        return self.net(x)\n"
    last = source.count("\n")
    files = Files({PATH: "m.py"}, {PATH: source})
    [judged] = judge([found(last)], Events((run(traced=traced(last)),)), files)
    assert judged.verdict == verdict
