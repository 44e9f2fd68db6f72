"""One finding a cause: what another one covers is told under it, and a generated file's copy is a note."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pt2lint.cli import main
from pt2lint.finding import LEFT, Finding, Step
from pt2lint.project.across import with_causes_told_once
from pt2lint.project.statements import place_in
from pt2lint.static.change import around

HEAD = "import torch\nfrom torch import nn\n\n"
CODE = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, flag: bool, mask: torch.Tensor):
        m = mask > 0
        a = x[m] + x[m] * 2
        b = x.clone()[m]
        if flag:
            print(x)
        for _ in range(2):
            x = x * x.max().item()
            x.min().tolist()
        if x.shape[0] > 2:
            x = x + x.sum().tolist()
        return a, b, x

    def other(self, x):
        for _ in range(2):
            if x.shape[0] > 3:
                x = x * x.max().item()
            else:
                x = x + x.min().tolist()
        return x


class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([M() for _ in range(3)])

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer.other(x.relu()).relu()
        return x
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    main(["--no-cache", "--format", "json", *arguments])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def told_in(capsys: pytest.CaptureFixture[str], code: str) -> list[tuple[object, object]]:
    """The lines of what fails a run in a file of this code, each with the lines that it tells."""
    Path("m.py").write_text(code)
    return [(f["line"], f["also"]) for f in rows(capsys, "m.py") if f["severity"] != "note"]


def test_what_an_earlier_break_covers_is_told_under_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + CODE)
    told = [(r["line"], r["code"], r["also"]) for r in rows(capsys, "m.py") if r["severity"] != "note"]
    assert told == [
        (8, "PTB120", [9]),  # one mask
        (11, "PTB101", []),  # under a test of its own
        (13, "PTB103", [14, 16]),  # what comes after the function was left to Python
        (22, "PTB103", []),
        (24, "PTB105", []),  # the other branch
    ]
    main(["--no-cache", "m.py"])
    out = capsys.readouterr().out
    assert "= then also: lines 14, 16" in out
    assert "Found 5 findings in 1 file." in out
    assert "true but seldom worth acting on" not in out
    # Where the first is silenced, the next one is told.
    code = (HEAD + CODE).replace("print(x)", "x.tolist()", 1)
    Path("m.py").write_text(code.replace("x.max().item()\n", "x.max().item()  # noqa: PTB103\n", 1))
    told = [
        (r["line"], r["also"])
        for r in rows(capsys, "m.py")
        if r["severity"] != "note" and not r.get("suppressed")
    ]
    assert told[:2] == [(8, [9, 11]), (14, [16])]  # by now values steer the function at three places


def test_an_algorithm_is_a_note_and_covers_what_comes_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
class M(nn.Module):
    def forward(self, x: torch.Tensor):
        x = x * x.max().item()
        while x.sum() > 1:
            x = x / 2
        return x * x.min().tolist()
"""
    Path("m.py").write_text(HEAD + code)
    told = [(r["line"], r["severity"], r["also"]) for r in rows(capsys, "m.py")]
    assert told == [(7, "warning", []), (8, "note", [10]), (10, "note", [])]


def test_the_arms_of_one_choice_are_told_together(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
class M(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.gru = kind, nn.GRU(2, 2)

    def forward(self, x: torch.Tensor):
        if self.kind == "gru":
            x = self.gru(x)[0]
        elif self.kind == "back":
            x = self.gru(x.flip(0))[0]
        if self.kind == "gates":
            x = self.gru(x)[1]
        return x
"""
    Path("m.py").write_text(HEAD + code)
    found = rows(capsys, "m.py", "--target-torch", "2.15")
    assert [(r["line"], r["also"]) for r in found if r["severity"] != "note"] == [(12, [14])]
    assert [r["note"] for r in found if r["line"] == 16] == ["one cause, told at m.py:12"]  # one setting


def test_one_statement_that_runs_one_part_or_another_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
class M(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.gates == 4:
            self.rnn = nn.LSTM(2, 2)
        else:
            self.rnn = nn.GRU(2, 2)

    def forward(self, x: torch.Tensor):
        return self.rnn(x)[0]
"""
    Path("m.py").write_text(HEAD + code)
    found = rows(capsys, "m.py")
    assert [(r["line"], r["when"]) for r in found if r["severity"] != "note"] == [(14, [])]


CHOSEN = """
class M(nn.Module):
    def __init__(self, gru=False):
        super().__init__()
        part = nn.GRU if gru else nn.LSTM
        self.rnn = part(2, 2)

    def forward(self, x: torch.Tensor):
        return self.rnn(x)[0]
"""


def test_a_part_that_an_option_chooses_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + CHOSEN)
    assert [(f["severity"], f["when"]) for f in rows(capsys, "m.py")] == [("warning", [])]
    Path("m.py").write_text(HEAD + CHOSEN.replace("else nn.LSTM", "else nn.Linear"))
    assert [(f["severity"], f["when"]) for f in rows(capsys, "m.py")] == [("note", ["gru"])]


LAYERS = """
class R(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 2)

    def forward(self, x: torch.Tensor, flag: bool, other: bool = True):
        if flag:
            x, _ = self.rnn(x)
        elif other:
            x = x + x.sum().item()
        x, _ = self.rnn(x)
        if other:
            x = x + x.sum().item()
        return x

class Part(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * x.sum().item()

class Calls(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part() for _ in range(3)])

    def forward(self, x: torch.Tensor):
        return sum([part(x) for part in self.parts])
"""


def test_recurrent_layers_cost_the_rest_and_a_loop_over_layers_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("m.py").write_text(HEAD + LAYERS)
    found = rows(capsys, "m.py", "--target-torch", "2.13")
    told = {r["line"]: (r["severity"], r["also"]) for r in found if r["severity"] != "note"}
    assert told == {14: ("warning", []), 15: ("warning", [12, 17]), 22: ("error", [])}
    [first] = [r for r in found if r["line"] == 15]
    assert first["price"]["gives_up"] == "rest"
    # From 2.14 on what follows is compiled again, and breaks by itself.
    found = rows(capsys, "m.py", "--target-torch", "2.15")
    assert [r["line"] for r in found if r["severity"] != "note"] == [15, 17, 22]
    assert [r["note"] for r in found if r["line"] == 14] == ["told with line 17"]  # which happens oftener


def test_what_comes_behind_a_manager_that_is_not_entered_is_told_with_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Dynamo compiles what stands before it, and nothing after it."""
    code = """import threading
import torch

lock = threading.Lock()

@torch.compile
def f(x: torch.Tensor):
    first = x.max().item()
    with lock:
        x = x + first
    return x * x.min().tolist()
"""
    assert told_in(capsys, code) == [(8, []), (9, [11])]


def test_the_summary_names_what_would_gain_most(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(
        HEAD
        + CODE.replace(
            "return a, b, x",
            "return a, b, x\n\n    def more(self, x):\n"
            "        return x.max().item() if self.training else x.sum().tolist()",
        ).replace("layer.other(x.relu())", "layer.other(layer.more(x) * x)")
    )
    main(["--no-cache", "m.py"])
    out = capsys.readouterr().out
    [first] = [line for line in out.splitlines() if "Where most would be gained" in line]
    following = out.splitlines()[out.splitlines().index(first) + 1 :]
    assert len(following) == 6  # five and the sum
    assert "in a loop over layers, `" in following[0]
    assert "Python waits for the device" in following[0]


def test_the_summary_names_what_is_left_to_python_once(capsys: pytest.CaptureFixture[str]) -> None:
    part = "    def f{0}(self, x):\n        return x * x.{0}().item()\n"
    names = ("sum", "max", "min", "mean", "prod", "std", "var")
    calls = "".join(f"            x = self.f{name}(x)\n" for name in names[:3])
    rest = "".join(f"        x = self.f{name}(x)\n" for name in names[3:])
    Path("m.py").write_text(
        f"{HEAD}class M(nn.Linear):\n{''.join(map(part.format, names))}"
        f"    def forward(self, x: torch.Tensor):\n        for _ in range(3):\n{calls}{rest}        return x\n"
    )
    main(["--no-cache", "m.py"])
    lines = capsys.readouterr().out.partition("Where most would be gained")[2].splitlines()[1:-1]
    assert len(lines) == 5
    assert [line for line in lines if "`M.forward` is left to Python" in line] == lines[:1]
    assert lines[0].endswith("; more there that cost the same: 2")


def test_the_summary_counts_how_many_places_there_are_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    read = "    def f{0}(self, x):\n        return x * x.{0}().item()\n"
    forward = "    def forward(self, x: torch.Tensor):\n        for _ in range(3):\n{0}        return x\n"
    more = "            x = x{}\n"
    names = ("sum", "max", "min", "mean")
    many = more.format(".relu().exp().sin()") + "".join(f"            x = self.f{n}(x)\n" for n in names)
    many += more.format(".relu().exp().sin()")
    one = more.format(".relu().exp()") + "            x = self.fsum(x)\n" + more.format(".relu().exp()")
    Path("m.py").write_text(
        f"{HEAD}class Many(nn.Linear):\n{''.join(map(read.format, names))}{forward.format(many)}"
        f"class One(nn.Linear):\n{read.format('sum')}{forward.format(one)}"
        "class Few(nn.Linear):\n    def forward(self, x):\n        return (x.relu() * x.mean().item()).relu()\n"
    )
    main(["--no-cache", "m.py"])
    lines = capsys.readouterr().out.partition("Where most would be gained")[2].splitlines()[1:-1]
    assert ["`One.forward`" in line for line in lines] == [True, False, False]
    assert lines[1].endswith("; more there that cost the same: 3")


def test_a_copy_in_a_generated_file_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    body = "class {name}(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x * x.sum().item()\n"
    header = "#   This file was automatically generated from src/models/modular_a.py.\n"
    Path("modular_a.py").write_text(HEAD + body.format(name="A"))
    Path("modeling_a.py").write_text(
        header + HEAD + body.format(name="A") + body.format(name="B").replace("sum", "max")
    )
    found = [(r["path"], r["line"], r["severity"], r["note"]) for r in rows(capsys, ".")]
    assert found == [
        ("modeling_a.py", 7, "note", "generated: the same is told at modular_a.py:6"),
        ("modeling_a.py", 10, "warning", ""),
        ("modular_a.py", 6, "warning", ""),
    ]


LAYERED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(2, 2) for _ in range(12)])

    def at(self, x, i):
        return self.parts[i](x)

    def forward(self, x: torch.Tensor):
        for i, part in enumerate(self.parts):
            x = self.at(x, i) * x.max().item()
        return x
"""


def test_what_a_left_loop_makes_of_its_numbers_goes_with_the_break(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("m.py").write_text(HEAD + LAYERED)
    found = [(row["code"], row["severity"], row["note"], row["also"]) for row in rows(capsys, "m.py")]
    follows = "goes with the break that leaves the caller to Python"
    assert found == [("PTR207", "note", follows, []), ("PTB103", "error", "", [])]


def test_a_loop_that_a_call_leaves_to_python_has_its_numbers_under_the_break(
    capsys: pytest.CaptureFixture[str],
) -> None:
    read = "    def read(self, x):\n        return x * x.max().item()\n\n"
    code = LAYERED.replace("    def at(", read + "    def at(").replace(
        "x.max().item()\n        return x\n", "self.read(x)\n        return x\n"
    )
    assert "* self.read(x)" in code
    Path("m.py").write_text(HEAD + code)
    found = [(row["code"], row["severity"]) for row in rows(capsys, "m.py")]
    assert found == [("PTB103", "error"), ("PTR207", "note")]


KEPT = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.size = nn.Parameter(torch.ones(2)), 0

    def forward(self, x: torch.Tensor, flag: bool):
        if x.shape[0] != self.size:
            if flag:
                self.size = x.shape[0]
            else:
                self.size = x.shape[0]
        return x * self.weight
"""


def test_what_is_said_twice_of_one_function_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + KEPT)
    found = [(row["code"], row["severity"], row["also"]) for row in rows(capsys, "m.py")]
    assert found == [("PTR214", "warning", [15]), ("PTR214", "note", [])]


def test_a_gradient_and_what_it_is_asked_of_are_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        x = x.clone().requires_grad_(True)
        return torch.autograd.grad(self.layer(x).sum(), x, create_graph=True)[0], x
"""
    Path("m.py").write_text(HEAD + code)
    found = [(row["code"], row["severity"], row["also"]) for row in rows(capsys, "m.py")]
    assert found == [("PTB161", "note", []), ("PTB160", "warning", [11])]


RUNS_AGAIN = """
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x):
        ctx.run, ctx.kept = run, x
        with torch.no_grad():
            return run(x)

    @staticmethod
    def backward(ctx, *gradient):
        x = ctx.kept.detach().requires_grad_(True)
        with torch.enable_grad():
            y = ctx.run(x)
        found = torch.autograd.grad(y, x, gradient)
        del ctx.kept
        return None, *found

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        return Again.apply(self.layer, x).relu()
"""


def test_a_checkpoint_written_by_hand_is_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + RUNS_AGAIN)
    [found] = [row for row in rows(capsys, "m.py") if row["severity"] != "note"]
    assert (found["code"], found["also"]) == ("PTB160", [14, 18])
    assert "torch.utils.checkpoint.checkpoint" in found["fixes"][0]["description"]


TWICE = """
class M(nn.Linear):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        if SECOND.sum() != 0:
            x = x * 2
        try:
            x = super().forward(x)
            if mask.sum() != 0:
                x = x * 3
        except RuntimeError:
            x = x * 4
        return x
"""


@pytest.mark.parametrize(
    ("second", "told"), [("mask", [(7, "error", [11])]), ("x", [(7, "warning", []), (11, "error", [])])]
)
def test_the_same_test_again_is_of_one_cause(
    capsys: pytest.CaptureFixture[str], second: str, told: list[object]
) -> None:
    Path("m.py").write_text(HEAD + TWICE.replace("SECOND", second))
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["line"], f["severity"], f["also"]) for f in found] == told


def test_two_breaks_of_one_statement_are_one_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, sizes: torch.Tensor):
        a = x[x > 0].split(sizes.tolist())
        b = x.split(sizes.tolist())
        return a, b
"""
    Path("m.py").write_text(HEAD + code)
    told = [(r["line"], r["code"], r["severity"], r["also"]) for r in rows(capsys, "m.py")]
    assert told == [
        (7, "PTB120", "warning", [8]),
        (7, "PTB105", "note", []),
        (8, "PTB105", "note", []),  # of a cause that line 7 has too
    ]


@pytest.mark.parametrize(
    ("rows_of", "told"),
    [("x[mask] = 0", [(8, "PTB110", [])]), ("x = x[mask]", [(8, "PTB110", [9])]), ("x = x[other]", [])],
)
def test_rows_that_a_branch_picks_where_it_tests_their_mask(
    capsys: pytest.CaptureFixture[str], rows_of: str, told: list[object]
) -> None:
    code = f"""
class M(nn.Linear):
    def forward(self, x: torch.Tensor, other: torch.BoolTensor):
        mask = x > 0
        if torch.any(mask):
            {rows_of}
        return super().forward(x)
"""
    Path("m.py").write_text(HEAD + code)
    found = [(r["line"], r["code"], r["also"]) for r in rows(capsys, "m.py") if r["severity"] != "note"]
    assert found == (told or [(8, "PTB110", []), (9, "PTB120", [])])


DECIDED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.gru = nn.Linear(2, 2), nn.GRU(2, 2)

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        BODY
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        # what a branch by values reads or prints is told with it, what it computes is not
        ("if x.min() < 0:\n            print(x.min())\n            y = x.max().item()", [(12, [13, 14])]),
        ("if x.min() < 0:\n            x = self.gru(x)[0]", [(12, []), (13, [])]),
        ("if x.min() < 0:\n            x = x * 2\n        y = x.max().item()", [(12, []), (14, [])]),
        ("if x.min() < 0:\n            x = x[x > 1].sum()", [(12, []), (13, [])]),
        # whose test may read its number
        ("if x.min().item() < 0:\n            print('negative')\n            x = x * 2", [(12, [13])]),
        # checks of a function
        ("assert x.min() > 0 and x.any()\n        assert x.max() < 9 and x.any()", [(12, [13])]),
        ("assert x.min() > 0 and x.any()\n        assert (x < 9).all().item()", [(12, [13])]),
        ("assert (x > 0).all().item()\n        assert (x < 9).all().item()", [(12, [13])]),
        ("assert (x > 0).all().item()\n        assert x[x > 1].shape[0]", [(12, [13])]),
        ("assert (x > 0).all().item()\n        x = x * x.max().item()", [(12, []), (13, [])]),
        (
            "assert x.min() > 0 and x.any()\n        if x.max() < 9:\n            x = x * 2",
            [(12, []), (13, [])],
        ),
        # what is called again is told once, whatever it is given
        ("print(x.shape)\n        print('x', x)", [(12, [13])]),
        ("print(x.shape)\n        x = x * torch.empty(2, requires_grad=True)", [(12, []), (13, [])]),
        (
            "print(x.shape)\n        for _ in range(3):\n            print(x)\n            x = x * x.sum().item()",
            [(14, [12, 15])],  # where it costs most
        ),
        ("x = x * x.max().item()\n        x = x * x.min().item()", [(12, []), (13, [])]),
        # checks that a function makes which is given what has to be true
        (
            "require(bool(x.min() > 0), 'x')\n        x = x + 1\n        require(bool(x.sum() > 9), 'y')",
            [(12, [14])],
        ),
        (
            "require(bool(x.min() > 0), 3)\n        x = x + 1\n        require(bool(x.sum() > 9), 'y')",
            [(12, []), (14, [])],
        ),
    ],
)
def test_one_cause_is_one_finding(
    capsys: pytest.CaptureFixture[str], body: str, told: list[tuple[int, list[int]]]
) -> None:
    assert told_in(capsys, HEAD + DECIDED.replace("BODY", body)) == told


MASKS = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def label(self, x, mask):
        return x[mask]

    def loss(self, x, mask):
        return x[mask] - self.label(x * 2, OTHER)

    def forward(self, x: torch.Tensor):
        mask = (self.layer(x) > 0).view(-1, 2)
        return self.loss(self.layer(x), mask)
"""


@pytest.mark.parametrize(
    ("other", "told"), [("mask", [(11, [14])]), ("(x > 0).view(-1, 2)", [(11, []), (14, [])])]
)
def test_what_two_functions_do_with_one_mask_is_told_once(
    capsys: pytest.CaptureFixture[str], other: str, told: list[tuple[int, list[int]]]
) -> None:
    assert told_in(capsys, HEAD + MASKS.replace("OTHER", other)) == told


NUMBER = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def mixed(self, x, level):
        if level > 2:
            x = x * 2
        return self.layer(x)

    def picked(self, x, level):
        return self.mixed(x, level) * READ

    def forward(self, x: torch.Tensor):
        level = torch.randint(0, 4, (1,), device=x.device)
        return self.picked(self.layer(x), level).relu()
"""


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ("level.item()", [(11, [16])]),
        ("x.sum().item()", [(11, []), (16, [])]),
    ],
)
def test_what_one_function_reads_and_another_decides_by_is_told_once(
    capsys: pytest.CaptureFixture[str], read: str, told: list[tuple[int, list[int]]]
) -> None:
    assert told_in(capsys, HEAD + NUMBER.replace("READ", read)) == told


ENDS_BY_NUMBER = """
def size(x):
    return x.square().mean()

def settled(x):
    for _ in range(9):
        if size(x) < 0.1:
            break
        x = x / 2
    return x

@torch.compile
def f(x: torch.Tensor):
    return x * size(settled(x)).item()
"""


def test_what_a_loop_ends_by_tells_nothing_of_another_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert told_in(capsys, HEAD + ENDS_BY_NUMBER) == [(17, [])]


STEERED_BY_NUMBER = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def mixed(self, x, level):
        if level > 2:
            x = x * 2
        return self.layer(x)

    def picked(self, x, level, some: bool, more: bool):
        if some:
            x = self.layer(x * max(level.tolist()))
            if more:
                y = x[torch.nonzero(x.sum(1)).view(-1)]
                x = x + int(max(self.layer.bias))
        return self.mixed(x, level)

    def forward(self, x: torch.Tensor, some: bool, more: bool):
        level = torch.randint(0, 4, (1,), device=x.device)
        return self.picked(self.mixed(self.layer(x), level), level, some, more).relu()
"""


def test_what_is_told_with_another_function_leads_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert told_in(capsys, HEAD + STEERED_BY_NUMBER) == [(11, [17, 19, 20])]


BUFFER = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("frozen", torch.tensor(False))
        self.register_buffer("OTHER", torch.tensor(3))
"""
READS = """import torch

from base import Base


class NAME(Base):
    def forward(self, x):
        x = self.layer(x)
        if self.BUFFER > 0:
            x = x * 2
        return self.layer(x)
"""


@pytest.mark.parametrize(("second", "told"), [("frozen", ["a.py"]), ("size", ["a.py", "b.py"])])
def test_what_reads_one_buffer_is_told_once(
    capsys: pytest.CaptureFixture[str], second: str, told: list[str]
) -> None:
    Path("base.py").write_text(HEAD + BUFFER.replace("OTHER", "size"))
    Path("a.py").write_text(READS.replace("NAME", "A").replace("BUFFER", "frozen"))
    code = READS.replace("return self.layer(x)", "return self.layer(x.relu())")  # another model
    Path("b.py").write_text(code.replace("NAME", "B").replace("BUFFER", second))
    found = rows(capsys, ".")
    assert [f["path"] for f in found if f["code"] == "PTB110" and f["severity"] != "note"] == told
    notes = [f["note"] for f in found if f["code"] == "PTB110" and f["severity"] == "note"]
    assert notes == (["one cause, told at a.py:9"] if len(told) == 1 else [])


BACK = """
from torch.utils.cpp_extension import load

kernels = load(name="kernels", sources=["kernels.cu"])


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        kernels.double(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        CALL
        return out


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(Double.apply(self.layer(x)))
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("kernels.undouble(grad, out)", [(14, [20])]),
        ("out = out * grad.max().item()", [(14, []), (20, [])]),
        ("out.fill_(sum(grad.flatten().tolist()))", [(14, [20])]),  # for which no edit is ready
    ],
)
def test_what_a_backward_calls_is_told_with_its_forward(
    capsys: pytest.CaptureFixture[str], call: str, told: list[tuple[int, list[int]]]
) -> None:
    code = BACK.replace("CALL", call)
    if "tolist" in call:
        code = code.replace("kernels.double(x, y)", "y.fill_(sum(x.flatten().tolist()))")
    assert told_in(capsys, HEAD + code) == told


def test_a_random_number_is_a_plain_one_after_its_first_break(capsys: pytest.CaptureFixture[str]) -> None:
    code = (
        "import random\n\n@torch.compile\ndef f(x):\n    k = random.randint(1, 3)\n    y = x.repeat(1, k)\n"
        "    z = x.repeat(1, 4 - k)\n    return torch.cat([y, z], 1)\n\n"
        "@torch.compile\ndef g(x, late: bool):\n    k = random.randint(1, 3)\n    y = x\n    if late:\n"
        "        y = x.repeat(1, k)\n    return y.sum() + x.repeat(1, 4 - k)\n"
    )
    Path("m.py").write_text(HEAD + code)
    found = rows(capsys, "--select", "PTB106,PTB141", "m.py")
    assert [(row["line"], row["code"]) for row in found] == [(9, "PTB106"), (18, "PTB106"), (19, "PTB141")]


def test_a_function_is_parsed_by_itself_to_tell_where_its_lines_stand():
    text = '''import torch

@decorated
def f(x):
    """Of two
lines."""
    if x:
        return (
1)

class A:
    rate = 1

    @property
    def g(self):
        assert self, 1
        for i in [
            1]:
            print(i)
    if rate:
        def h(self):
            return 2

if True:
    def k(): return 3
'''
    body = ast.parse(text).body
    for line in range(1, text.count("\n") + 2):
        assert place_in(around(text, line), line) == place_in(body, line), line
    assert [getattr(one, "name", "") for one in around(text, 16)] == ["g"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        # alike but for names, a few lines away
        ("a = x.max().item()\n        b = x.T.max().item()\n        x = x * a * b", [(12, [13])]),
        (
            "a = x.max().item()\n        y = x + 1\n        b = (x * 2).max().item()\n        x = x * a * b",
            [(12, []), (14, [])],
        ),
        (
            "a = x[0, 0].item()\n        y = x + 1\n        b = x[1, 1].item()\n        x = x * a * b",
            [(12, [14])],
        ),
        # numbers that one statement after the other keeps
        ("a = x.max().item()\n        b = (x * 2).max().item()\n        x = x * a * b", [(12, [13])]),
        (
            "k = {}\n        k['a'] = x.max().item()\n        k['b'] = x.std().item()\n"
            "        k['c'] = x.abs().std().item()",
            [(13, [14, 15])],
        ),
        ("a = x.max().item()\n        x = x * (x * 2).max().item()", [(12, []), (13, [])]),
        # the head of a block, which is no statement by itself
        (
            "with torch.autograd.set_grad_enabled(x.max().item() > 0):\n            x = x + 1\n"
            "        b = x.std().item()\n        x = x * b",
            [(12, []), (14, [])],
        ),
        (
            "for i in x.nonzero():\n            x = x + i\n        for j in range(x.max()):\n            x = x + j",
            [(12, []), (14, [])],
        ),
        (
            "if x.max() > 0:\n            x = x + 1\n        if self.w.std(0)[0] > 1:\n            x = x + 2",
            [(12, []), (14, [])],
        ),
        (
            "if (x > 0).any():\n            x = x + 1\n        if (self.w > 0).any():\n            x = x + 2",
            [(12, [14])],
        ),
        (
            "if x.isnan().any() or self.w.isnan().any():\n            x = x + 1\n"
            "        if x.T.isnan().any():\n            x = x + 2",
            [(12, [14])],
        ),
        (
            "x[x > 0] = x[x > 0] + 1\n        y = x.log()\n        y[y < 0] = y[y < 0] + 1",
            [(12, []), (14, [])],
        ),
        # values of what a break makes
        ("n = torch.unique(x)\n        x = x * n.tolist()[0]", [(12, [13])]),
        (
            "n = torch.unique(x)\n        for i in n:\n            x = self.layer(x) * i.item()",
            [(12, [14])],
        ),
        ("n = torch.unique(x)\n        x = x * n.max().item()", [(12, []), (13, [])]),
        (
            "n = (\n            torch.unique(x)\n        )\n        x = x * n.tolist()[0]",
            [(13, [15])],
        ),
        # and of what a library gives that Dynamo does not trace
        (
            "import numpy as np, scipy.stats\n        n = scipy.stats.norm.rvs(1)\n"
            "        m = int(np.ceil(2 * n))\n        x = x * m",
            [(13, [14])],
        ),
        # what is made of the mask that is tested
        (
            "m = torch.all(x > 0, dim=1)\n        if m.any():\n            k = m[[1, 0]]\n            x = x[k]",
            [(13, [15])],
        ),
        # how many rows a mask picks, and the rows
        ("m = x > 0\n        n = m.nonzero()\n        x = self.layer(x)\n        x = x[m]", [(13, [15])]),
        # functions of one module that come in pairs
        (
            "torch.cuda.nvtx.range_push('x')\n        x = self.layer(x)\n        torch.cuda.nvtx.range_pop()",
            [(12, [14])],
        ),
        # a context manager that is entered again, and sparse tensors
        (
            "with torch.backends.cuda.sdp_kernel():\n            x = self.layer(x)\n        x = x.exp()\n"
            "        with torch.backends.cuda.sdp_kernel():\n            x = self.layer(x)",
            [(12, [15])],
        ),
        # a function that values steer at three places or more
        (
            "n = int(max(self.w))\n        y = x[torch.nonzero(x.sum(1)).view(-1)]\n        x = self.layer(x) + n\n"
            "        z = torch.cat([torch.arange(k) for k in self.w])",
            [(12, [13, 15])],
        ),
        (
            "n = int(max(self.w))\n        y = x[torch.nonzero(x.sum(1)).view(-1)]\n        x = self.layer(x) + n",
            [(12, []), (13, [])],
        ),
        (  # the last two are of one cause
            "n = int(max(self.w))\n        y = x[torch.nonzero(x.sum(1)).view(-1)]\n        x = self.layer(x) + n\n"
            "        z = x.tolist(), torch.nonzero(x.cos())\n        w = torch.nonzero(x.sin())",
            [(12, [13, 15, 16])],
        ),
        (  # the one that happens oftenest tells them, wherever it stands
            "if self.gru.bias:\n            y = x[torch.nonzero(x.sum(1)).view(-1)]\n"
            "        n = int(max(self.w))\n        x = self.layer(x) + n\n"
            "        z = torch.cat([torch.arange(k) for k in self.w])",
            [(14, [13, 16])],
        ),
        (  # as two that say the same, or one of which a repair mends, do not
            "n = int(max(self.w))\n        m = x.sum(1) > 0\n        y = x[m], x.exp()[m]\n"
            "        x = self.layer(x) + n\n        x = x / x.max().item()",
            [(12, []), (14, []), (16, [])],
        ),
    ],
)
def test_what_follows_from_one_cause_or_is_alike_is_told_with_it(
    capsys: pytest.CaptureFixture[str], body: str, told: list[tuple[int, list[int]]]
) -> None:
    code = DECIDED.replace("BODY", body).replace(
        "self.layer, self.gru =", "self.w = nn.Parameter(torch.ones(2)); self.layer, self.gru ="
    )
    assert told_in(capsys, HEAD + code) == told


PASTED_IN = """
class NAME(nn.Module):
    def replace(self, x: torch.Tensor, mask: torch.Tensor):
        BEFORE
        n = mask.sum().item()
        AFTER

    def forward(self, x: torch.Tensor):
        return self.replace(x.relu(), x > 0).relu()

"""


def _pasted(name: str, before: str = "x = x.sin()", after: str = "return x * n") -> str:
    return PASTED_IN.replace("NAME", name).replace("BEFORE", before).replace("AFTER", after)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (_pasted("B"), [(8, [18])]),
        (_pasted("B", "y = x.cos()"), [(8, [18])]),  # what comes after it is alike
        (_pasted("B", "y = x.cos()", "return x + n"), [(8, []), (18, [])]),
    ],
)
def test_a_statement_that_is_pasted_is_told_once(
    capsys: pytest.CaptureFixture[str], second: str, told: list[tuple[int, list[int]]]
) -> None:
    assert told_in(capsys, HEAD + _pasted("A") + second) == told


@pytest.mark.parametrize(("method", "told"), [("replace", [(8, [18])]), ("count", [(8, []), (18, [])])])
def test_a_long_statement_in_methods_of_one_name_is_told_once(
    capsys: pytest.CaptureFixture[str], method: str, told: list[tuple[int, list[int]]]
) -> None:
    both = _pasted("A") + _pasted("B", "y = x.cos()", "return x + n").replace("replace", method)
    long = both.replace("n = mask.sum()", "n = mask.float().mul(2.0).clamp(min=1.0).sum()")
    assert told_in(capsys, HEAD + long) == told


CHOICE = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        x = self.layer(x)
        n = mask.sum().item()
        return x * n

"""


@pytest.mark.parametrize(
    ("tests", "told"),
    [(("kind == 0", "kind == 1"), [(12, [23])]), (("kind == 0", "other == 1"), [(12, []), (23, [])])],
)
def test_the_parts_of_one_choice_that_were_pasted_are_told_once(
    capsys: pytest.CaptureFixture[str], tests: tuple[str, str], told: list[tuple[int, list[int]]]
) -> None:
    one, other = (f"if config.{test}:\n            self.KEPT = NAME()" for test in tests)
    model = f"""
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        {one.replace("KEPT", "part").replace("NAME", "A")}
        el{other.replace("KEPT", "part").replace("NAME", "B")}

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return self.part(x.relu(), mask).relu()
"""
    Path("m.py").write_text(HEAD + CHOICE.replace("NAME", "A") + CHOICE.replace("NAME", "B") + model)
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["line"], f["also"]) for f in found] == told, [f["when"] for f in found]


def test_a_function_that_is_pasted_into_another_file_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.py").write_text(HEAD + _pasted("A"))
    Path("b.py").write_text(HEAD + _pasted("B", "x = x.cos()").replace("relu", "exp"))
    Path("c.py").write_text(HEAD + _pasted("B").replace("relu", "exp"))
    found = [(f["path"], f["severity"], f["note"]) for f in rows(capsys, ".") if f["code"] == "PTB103"]
    notes = [f"the same {what}, told at a.py:8" for what in ("lines", "function")]
    assert found == [("a.py", "warning", ""), ("b.py", "note", notes[0]), ("c.py", "note", notes[1])]
    main(["--no-cache", "."])
    assert "= then also: b.py:8, c.py:8" in capsys.readouterr().out
    main(["--no-cache", "--format", "sarif", "."])
    told = json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["relatedLocations"]
    assert [each["physicalLocation"]["artifactLocation"]["uri"] for each in told] == ["a.py", "b.py", "c.py"]


ALIKE_IN = """
class NAME(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        mask = ~torch.isnan(y)
        OURS = PICKED[mask]
        theirs = y[mask]
        ours = AFTER
        return ours
"""


def _alike(name: str, ours: str, picked: str, after: str) -> str:
    code = ALIKE_IN.replace("NAME", name).replace("OURS", ours).replace("PICKED", picked)
    return HEAD + code.replace("AFTER", after)


@pytest.mark.parametrize(
    ("before", "note"),
    [
        ("mask = ~torch.isnan(y)", "the same lines, told at a.py:8"),
        ("mask = y > 0", ""),
    ],
)
def test_lines_that_are_pasted_into_another_file_and_given_other_names_are_told_once(
    capsys: pytest.CaptureFixture[str], before: str, note: str
) -> None:
    Path("a.py").write_text(_alike("A", "ours", "x", "(ours - theirs).abs().mean()"))
    second = _alike("B", "picked", "x.log()", "(picked - theirs).square().mean()").replace("x.log()", "x")
    Path("b.py").write_text(second.replace("mask = ~torch.isnan(y)", before))
    found = [(f["path"], f["line"], f["note"]) for f in rows(capsys, ".") if f["code"] == "PTB120"]
    assert [each for each in found if not each[2].startswith("told with")] == [
        ("a.py", 8, ""),
        ("b.py", 8, note),
    ]
    if note:
        # A function that stands word for word in a third file goes with the lines.
        Path("c.py").write_text(Path("b.py").read_text().replace("class B", "class C"))
        main(["--no-cache", "."])
        assert "= then also: line 9, b.py:8, c.py:8" in capsys.readouterr().out


CHOSEN_IN = """
class NAMEPlain:
    def __call__(self, x, mask):
        return x * mask

class NAMEPicks:
    def __call__(self, x, mask):
        y = x.relu()
        if (y * mask).sum() > 0:
            y = y * 2
        return y.log()

class NAME(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.way = KEPT
        for each in table:
            self.way = NAMEPicks()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return self.lin(self.way(self.lin(x), mask))
"""


@pytest.mark.parametrize("more", ["", "        y = y.exp()\n"])
@pytest.mark.parametrize("second", ["BPlain()", "BPicks()"])
def test_pasted_lines_under_a_condition_that_names_a_class(
    second: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was pasted with its classes has other names for these in the conditions, too. Where it happens in every
    model of one file, and in few of the other, it is told of the first."""
    for name, kept in (("A", "APlain()"), ("B", second)):
        text = HEAD + CHOSEN_IN.replace("NAME", name).replace("KEPT", kept)
        text = (
            text.replace("        return y.log()", f"{more}        return y.log()") if name == "B" else text
        )
        Path(f"{name.lower()}.py").write_text(text)
    found = {f["path"]: f for f in rows(capsys, ".") if f["code"] == "PTB110"}
    assert found["a.py"]["when"] == ["isinstance(self.way, APicks)"]
    told, other = ("b.py", "a.py") if second == "BPicks()" else ("a.py", "b.py")
    note = f"the same {'lines' if more else 'function'}, told at {told}:12"
    assert (found[told]["note"], found[other]["note"]) == ("", note)


COUNTS = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = self.other = 0

    def forward(self, x: torch.Tensor):
        self.count += 1
        SECOND
        return x * self.count * self.other
"""


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("for row in x:\n        print(row)", [("PTB101", [9])]),  # Python runs the whole function
        ("print(x)", [("PTB101", []), ("PTS327", [])]),
        ("if flag:\n        for row in x: print(row)", [("PTB101", []), ("PTS327", [])]),
    ],
)
def test_what_python_runs_does_what_it_does_in_python(
    capsys: pytest.CaptureFixture[str], before: str, told: list[tuple[str, list[int]]]
) -> None:
    code = f"""import numpy as np
import torch

@torch.compile
def f(x: torch.Tensor, flag: bool):
    x = x.relu()
    {before}
    return x + torch.FloatTensor(np.zeros(3))
"""
    Path("m.py").write_text(code)
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["code"], f["also"]) for f in found] == told


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("self.other += 1", [(11, [12, 21, 22])]),
        ("self.other -= 1", [(11, [12, 21, 22])]),  # each compiles `forward` anew at every call
    ],
)
def test_what_is_no_break_is_told_once_too(
    capsys: pytest.CaptureFixture[str], second: str, told: list[tuple[int, list[int]]]
) -> None:
    code = COUNTS.replace("SECOND", second)
    assert told_in(capsys, HEAD + code.replace("NAME", "A") + code.replace("NAME", "B")) == told


CACHE = """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", None, persistent=False)
        self.position = 0

    def forward(self, x: torch.Tensor, cached: bool):
        if cached:
            if self.keys is None:
                self.keys = x
            else:
                self.keys = torch.cat([self.keys, x], dim=1)
            self.position += x.shape[1]
            x = self.keys * self.position
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.attention, self.length = nn.Linear(2, 2), Attention(), 0

    def forward(self, x: torch.Tensor, cached: bool):
        x = self.attention(self.layer(x), cached)
        if cached:
            self.length += x.shape[1]
        return x * self.length
"""


def test_what_compiles_one_function_anew_at_every_call_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.py").write_text(HEAD + CACHE)
    Path("b.py").write_text(HEAD + "WIDTH = 2\n" + CACHE)
    found = [f for f in rows(capsys, ".") if f["code"] in ("PTR202", "PTR204")]
    assert [(f["path"], f["line"], f["also"]) for f in found if f["severity"] != "note"] == [
        ("a.py", 17, [16, 30])
    ]
    note = "the same function, told at a.py:17"
    assert [f["note"] for f in found if f["path"] == "b.py"] == [
        "told with line 18",
        note,
        "told with line 18",
    ]


def test_a_setting_of_the_process_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text("import torch._dynamo\n\ntorch._dynamo.config.suppress_errors = True\n")
    found = [(f["path"], f["note"]) for f in rows(capsys, ".") if f["code"] == "PTS305"]
    assert found == [("a.py", ""), ("b.py", "one cause, told at a.py:3")]


CALLS = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 2)

    def forward(self, x: torch.Tensor):
        x = x.relu()
        BODY
        return x.relu()
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("y = torch.autograd.Variable(x); x = x.NAME(y)", [(12, [22])]),
        ("y = VARIABLE(x); x = x.NAME(y)", [(12, [22])]),  # as two imports write it
        ("y = self.gru(x)[0]; x = x.NAME(y)", [(12, [])]),  # which one setting mends in all files
    ],
)
def test_what_ends_the_graph_wherever_it_is_called_is_told_once_a_file(
    capsys: pytest.CaptureFixture[str], body: str, told: list[tuple[int, list[int]]]
) -> None:
    code = CALLS.replace("BODY", body)
    one, other = code.replace("NAME", "mul"), code.replace("NAME", "add")
    one, other = (
        one.replace("VARIABLE", "autograd.Variable"),
        other.replace("VARIABLE", "torch.autograd.Variable"),
    )
    head = HEAD.replace("import nn\n\n", "import autograd, nn\n")
    Path("m.py").write_text(head + "\n" + one + other)
    found = [f for f in rows(capsys, "m.py", "--target-torch", "2.13") if f["severity"] != "note"]
    assert [(f["line"], f["also"]) for f in found] == told


TOLD = """
from loguru import logger

class Inner(nn.Linear):
    def forward(self, x: torch.Tensor, deep, verbose):
        x = super().forward(x)
        if deep and verbose:
            logger.info("inner")
        return x * 2

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.inner = nn.Linear(2, 2), Inner(2, 2)

    def forward(self, x: torch.Tensor, deep, verbose):
        x = self.inner(self.layer(x), deep, verbose)
        if verbose:
            logger.info("outer")
        for i in range(3):
            x = self.layer(x)
            if verbose:
                logger.info(f"turn {i}")
        return self.layer(x)
"""


def test_a_message_is_told_once_where_it_comes_oftenest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + TOLD)
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["line"], f["also"], f["when"]) for f in found] == [(26, [11, 22], ["verbose"])]
    assert [fix["edits"][-1]["text"] for fix in found[0]["fixes"]] == [
        " and not torch.compiler.is_compiling()"
    ]


DIVIDED = """
def mean(x, n=None):
    n = n or x.shape[0]
    return x.sum(0) / n

def middle(x, n=None):
    x = x.sort(0)[0]
    n = n or x.shape[0]
    return x * 2 / n

class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        n = (x > 0).sum()
        x = mean(x, n) + middle(x, OTHER)
        return super().forward(x)
"""


@pytest.mark.parametrize(("other", "told"), [("n", [6]), ("x.sum()", [6, 11])])
def test_a_statement_about_one_value_in_two_functions(
    capsys: pytest.CaptureFixture[str], other: str, told: list[int]
) -> None:
    Path("m.py").write_text(HEAD + DIVIDED.replace("OTHER", other))
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [f["line"] for f in found] == told
    assert found[0]["fixes"][0]["edits"][0]["text"] == "if n is not None else"


SCRIPTED = """
class Part(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x * 2


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = PARTS

    def forward(self, x: torch.Tensor):
        x = self.one(x * 2) * 3
        return self.other(x) * 4
"""


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ("Part(); self.other = Part()", [(17, [18])]),
        # an edit for each
        ("torch.jit.script(nn.ReLU()); self.other = torch.jit.script(nn.Tanh())", [(17, []), (18, [])]),
    ],
)
def test_modules_that_torchscript_runs_are_told_once_a_file(
    capsys: pytest.CaptureFixture[str], parts: str, told: list[tuple[int, list[int]]]
) -> None:
    Path("m.py").write_text(HEAD + SCRIPTED.replace("PARTS", parts))
    found = [f for f in rows(capsys, "m.py", "--target-torch", "2.13") if f["severity"] != "note"]
    assert [(f["line"], f["also"]) for f in found] == told


def test_what_is_told_elsewhere_still_leads_what_follows_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Two classes hold the same read, and the second one more like it."""
    first = """
class A(nn.Module):
    def forward(self, p: torch.Tensor, q: torch.Tensor):
        p = p.relu()
        a = p.item()
        return q.relu() * a
"""
    second = first.replace("class A", "class B").replace("return q", "c = q.item()\n        return c * q")
    Path("m.py").write_text(HEAD + first + second)
    found = [(f["line"], f["also"]) for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert found == [(8, [14, 15])]


@pytest.mark.parametrize(
    "step",
    "gathered without_copies with_causes_told_once with_pasted_told_once with_alike_told_once settings weighed".split(),
)
def test_a_defect_costs_what_failed_and_one_line(
    step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is found stands, in the file and in the others."""
    for name in ("a.py", "bad.py", "c.py"):
        Path(name).write_text(HEAD + CODE + "\n\nmodel = torch.compile(M())\n")
    told = sorted((row["path"], row["line"], row["code"]) for row in rows(capsys, "."))
    owner, name = {
        "settings": ("pt2lint.fixes.once", "settings_once"),
        "weighed": ("pt2lint.project.elsewhere", "weighed"),
    }.get(step, ("pt2lint.check", step))
    done = getattr(importlib.import_module(owner), name)

    def fails(findings: Sequence[Finding], *rest: object, **named: object) -> object:
        if any(finding.path == "bad.py" for finding in findings):
            raise KeyError("seven")
        return done(findings, *rest, **named)

    monkeypatch.setattr(f"{owner}.{name}", fails)
    assert main(["--no-cache", "--format", "json", "."]) == 2
    out, err = capsys.readouterr()
    assert sorted((row["path"], row["line"], row["code"]) for row in json.loads(out)) == told
    assert (
        err
        == "bad.py: pt2lint failed on this file (KeyError: 'seven'): a defect of pt2lint, please report it\n"
    )


STEERS = """
def f{i}(x: torch.Tensor):
    return x * (x > {i}).nonzero().sum()
"""


# One mask is one place, however often it picks rows.
AGAIN = """
def f{i}(x: torch.Tensor):
    return x * (x > {i}).nonzero().sum() * (x > {i}).nonzero().max()
"""


@pytest.mark.parametrize(
    ("steers", "places", "told"),
    [
        (STEERS, 9, 9),
        (STEERS, 10, 1),
        (AGAIN, 6, 6),
        (AGAIN, 10, 1),
    ],
)
def test_what_steers_one_root_all_over_is_told_once(
    capsys: pytest.CaptureFixture[str], steers: str, places: int, told: int
) -> None:
    calls = "".join(f"        x = f{i}(x)\n" for i in range(places))
    functions = "".join(steers.format(i=i) for i in range(places))
    model = f"\nclass M(nn.Module):\n    def forward(self, x: torch.Tensor):\n{calls}        return x\n"
    Path("m.py").write_text(HEAD + functions + model)
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert len(found) == told


@pytest.mark.parametrize(
    ("places", "steers_by", "noted", "told"),
    [
        (4, "x, k = x * 2, k + 1", 0, 4),
        (5, "x, k = x * 2, k + 1", 0, 1),
        (3, "x, k = x * 2, k + 1", 2, 1),  # notes of what no repair keeps in the graph count as well
        (5, "x = x * 2", 0, 5),  # an edit is ready for each
    ],
)
def test_what_leaves_functions_to_python_all_over_is_told_once(
    capsys: pytest.CaptureFixture[str], places: int, steers_by: str, noted: int, told: int
) -> None:
    steers = "\ndef f{i}(x: torch.Tensor):\n    for k in range(3):\n        {does}\n    return x\n"
    does = [f"if x.sum() > k + {i}:\n            {steers_by}" for i in range(places)]
    does += ["x = x + random.random() * 2", "time.sleep(k)"][:noted]
    functions = "".join(steers.format(i=i, does=done) for i, done in enumerate(does))
    calls = "".join(f"        x = f{i}(x)\n" for i in range(len(does)))
    model = (
        "\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.l = nn.Linear(3, 3)\n\n    def forward(self, x: torch.Tensor):\n        x = self.l(x)\n"
        f"{calls}        return self.l(x)\n"
    )
    Path("p").mkdir()
    Path("p/__init__.py").write_text("")
    Path("p/m.py").write_text("import random\nimport time\n" + HEAD + functions + model)
    kept = ("PTB110", "PTB141")  # the second up to torch 2.13
    found = [f for f in rows(capsys, "p", "--target-torch", "2.13") if f["code"] in kept]
    assert len([f for f in found if f["severity"] != "note"]) == told
    assert sum(f["note"].startswith(LEFT) for f in found) == (places - 1 if told == 1 else 0)


EITHER = """
class M(nn.Module):
    def __init__(self, gated: bool):
        super().__init__()
        self.one, self.other, self.gated = nn.GRU(2, 2), nn.LSTM(2, 2), gated

    def forward(self, x: torch.Tensor):
        if self.gated:
            y, _ = self.one(x.relu())
        else:
            y, _ = self.other(x.relu())
        return y.relu()
"""


def test_what_happens_either_way_has_no_condition(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(HEAD + EITHER)
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["when"], f["also"]) for f in found] == [([], [14])]
    Path("m.py").write_text(HEAD + EITHER.replace("self.other(x.relu())", "x, 1"))
    assert [f["when"] for f in rows(capsys, "m.py") if f["severity"] != "note"] == [["self.gated"]]
    # that there are some of a size is told, that there are others is not
    Path("m.py").write_text(HEAD + EITHER.replace("self.gated:", "x.shape[0] == 1:"))
    found = [f for f in rows(capsys, "m.py") if f["severity"] != "note"]
    assert [(f["when"], f["also"]) for f in found] == [([], [14])]


@pytest.mark.parametrize(("mask", "told"), [("mask", [[10]]), ("(x < 0)", [[], []])])
def test_rows_that_a_view_of_the_mask_picks(
    capsys: pytest.CaptureFixture[str], mask: str, told: list[list[int]]
) -> None:
    code = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        mask = x > 0
        kept = x[mask]
        y = y.relu()
        rows = torch.masked_select(y, MASK.view(-1, 1))
        return kept, rows
"""
    Path("m.py").write_text(HEAD + code.replace("MASK", mask))
    assert [f["also"] for f in rows(capsys, "m.py") if f["severity"] != "note"] == told


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("~mask", [[11]]),
        ("mask.logical_not().to(x.device)", [[11]]),
        ("torch.logical_not(mask)", [[11]]),
        ("y < 0", [[], []]),
        ("~mask2", [[], []]),
    ],
)
def test_rows_that_the_opposite_of_the_mask_picks(
    capsys: pytest.CaptureFixture[str], made: str, told: list[list[int]]
) -> None:
    code = f"""
class M(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, mask2: torch.Tensor):
        mask = x > 0
        kept = x[mask]
        y = y.relu()
        other = {made}
        rows = y[other].relu().sum(0)
        return kept, rows
"""
    Path("m.py").write_text(HEAD + code)
    assert [f["also"] for f in rows(capsys, "m.py") if f["severity"] != "note"] == told


@pytest.mark.parametrize(
    ("second", "told"), [("x[mask]", [[7]]), ("x[~mask]", [[7]]), ("x[~other]", [[], []])]
)
def test_rows_of_an_argument_and_of_its_opposite(
    capsys: pytest.CaptureFixture[str], second: str, told: list[list[int]]
) -> None:
    code = f"""
def forward(self, x, mask, other):
    seen = self.layer(x)[~mask]
    hidden = {second}
    return self.layer(torch.cat([seen, hidden]).relu())
"""
    head = HEAD + "class M(nn.Module):"
    body = code.replace("\n", "\n    ").rstrip()
    Path("m.py").write_text(
        head
        + body
        + "\n\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(2, 2)\n"
    )
    assert [f["also"] for f in rows(capsys, "m.py") if f["severity"] != "note"] == told


SIZES = """
class NAME(nn.Module):
    def forward(self, x: torch.Tensor, masks: torch.Tensor):
        count = masks.sum()
        if count > 0:
            total = RESULT
        else:
            total = x.sum()
        return AFTER
"""


@pytest.mark.parametrize(("method", "told"), [("forward", ["a.py"]), ("other", ["a.py", "b.py"])])
def test_a_statement_of_functions_of_one_name_with_the_one_before_it(
    capsys: pytest.CaptureFixture[str], method: str, told: list[str]
) -> None:
    one = (
        SIZES.replace("RESULT", "x[masks].log().sum()").replace("AFTER", "total, count").replace("NAME", "A")
    )
    other = SIZES.replace("RESULT", "x.exp()").replace("AFTER", "total.relu()").replace("NAME", "B")
    if method == "other":
        other = other.replace("def forward", "def other") + (
            "\n    def forward(self, x: torch.Tensor, masks: torch.Tensor):\n"
            "        return self.other(x.relu(), masks).relu()\n"
        )
    Path("a.py").write_text(HEAD + one)
    Path("b.py").write_text(HEAD + other)
    found = [f for f in rows(capsys, ".") if f["severity"] != "note" and f["code"] == "PTB110"]
    assert [f["path"] for f in found] == told


COPIED = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ready", torch.zeros(1))
        self.layer = nn.Linear(2, 2)

    def begin(self, x):
        WORDS
        if self.ready:
            return x
        AFTER

    def forward(self, x: torch.Tensor):
        return self.layer(self.begin(self.layer(x)))
"""


@pytest.mark.parametrize(("name", "told"), [("Book", ["a.py"]), ("Shelf", ["a.py", "b.py"])])
def test_a_statement_of_methods_of_one_name_of_classes_of_one_name(
    capsys: pytest.CaptureFixture[str], name: str, told: list[str]
) -> None:
    one = COPIED.replace("NAME", "Book").replace("WORDS", "x = x.float()").replace("AFTER", "return x * 2")
    other = (
        COPIED.replace("NAME", name)
        .replace("WORDS", '"""Begin."""')
        .replace("AFTER", "y = x + 1\n        return y")
    )
    Path("a.py").write_text(HEAD + one)
    Path("b.py").write_text(HEAD + other)
    found = [f for f in rows(capsys, ".") if f["severity"] != "note" and f["code"] == "PTB110"]
    assert [f["path"] for f in found] == told


DRAWS = """
def noise(x, generator):
    return torch.randn(x.shape, generator=generator)


class Runner:
    def __init__(self):
        self.net = nn.Linear(2, 2)
        self.rng = torch.Generator()
        self.step = torch.compile(self.step)
        self.check = torch.compile(self.check)

    def step(self, x: torch.Tensor):
        x = self.net(x) + noise(x, self.rng)
        keep = torch.rand(x.shape, generator=self.rng) > 0.1
        return self.net(x * keep)

    def check(self, x: torch.Tensor):
        return self.net(torch.bernoulli(self.net(x), generator=self.rng)).relu()
"""


def test_what_is_drawn_with_generators_below_one_root_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("m.py").write_text(HEAD + DRAWS)
    found = [f for f in rows(capsys, "m.py") if f["code"] == "PTB151"]
    assert [(f["line"], f["note"]) for f in found] == [(6, ""), (18, "one cause, told at m.py:6"), (22, "")]


RECURRENT = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.gru = nn.Linear(2, 2), nn.KIND(2, 2)

    def forward(self, x: torch.Tensor):
        return self.layer(self.gru(self.layer(x))[0])
"""


def test_recurrent_modules_are_told_once_as_one_setting_mends_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.py").write_text(HEAD + RECURRENT.replace("NAME", "A").replace("KIND", "GRU"))
    Path("b.py").write_text(HEAD + RECURRENT.replace("NAME", "B").replace("KIND", "LSTM"))
    packs = "nn.utils.rnn.pack_sequence([self.layer(x)])[0]"  # which it does not mend
    third = RECURRENT.replace("NAME", "C").replace("KIND", "GRU").replace("self.gru(self.layer(x))[0]", packs)
    Path("c.py").write_text(HEAD + third)
    found = [(f["path"], f["note"]) for f in rows(capsys, ".") if f["code"] == "PTB150"]
    assert found == [("a.py", ""), ("b.py", "one cause, told at a.py:11"), ("c.py", "")]


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("", ["one cause, told at b.py:12", ""]),
        ("if not self.training:\n            return x\n        ", ["", ""]),
    ],
)
def test_the_recurrent_module_that_costs_most_tells_the_others(
    capsys: pytest.CaptureFixture[str], before: str, told: list[str]
) -> None:
    Path("a.py").write_text(HEAD + RECURRENT.replace("NAME", "A").replace("KIND", "GRU"))
    loop = "for i in range(2):\n            x = self.layer(self.gru(x)[0])\n        return x\n"
    again = RECURRENT.replace("NAME", "B").replace("KIND", "GRU").split("return")[0]
    Path("b.py").write_text(HEAD + again + before + loop)
    found = [f["note"] for f in rows(capsys, ".") if f["code"] == "PTB150"]
    assert found == told


MADE = """
class M(nn.Module):
    def forward(self, x: torch.Tensor, sizes: list[int]):
        shapes = torch.as_tensor(sizes)
        y = split(x.relu(), shapes)
        for n in shapes:
            y = y + torch.zeros(n).sum()
        return y
"""


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("torch.as_tensor(sizes)", 1),
        ("torch.stack([torch.tensor(part.shape[0]) for part in x])", 1),
        ("torch.cat([torch.tensor([n]) for n in sizes])", 1),
        ("torch.stack([part.long().sum() for part in x])", 2),
    ],
)
def test_what_reads_numbers_that_one_tensor_is_made_of_is_told_once(
    capsys: pytest.CaptureFixture[str], made: str, told: int
) -> None:
    used = "\n\ndef split(x, shapes):\n    return x.split(shapes.tolist())[0]\n"
    Path("b.py").write_text("import torch\n" + used)
    code = MADE.replace("torch.as_tensor(sizes)", made)
    Path("m.py").write_text(HEAD + "from b import split\n" + code)
    assert len([f for f in rows(capsys, ".") if f["severity"] != "note"]) == told


def test_a_call_with_a_sparse_tensor_is_told_with_what_it_calls() -> None:
    there = Step("m.py", 9, "calls `P.forward`")
    flow = (Step("m.py", 5, "`M.forward` is compiled"),)
    call = _sparse("m.py", 9, flow)
    inner = _sparse("p.py", 20, (*flow, there))
    told = with_causes_told_once([call, inner, _sparse("m.py", 11, flow)])
    assert [f.severity for f in told] == ["note", "warning", "warning"]
    assert told[0].note == "one cause, told at p.py:20"


@pytest.mark.parametrize(("of", "told"), [("x._values()", ["PTB170"]), ("self.kept", ["PTB120", "PTB170"])])
def test_rows_of_a_sparse_tensor_are_told_with_it(
    capsys: pytest.CaptureFixture[str], of: str, told: list[str]
) -> None:
    code = f"""
class M(nn.Linear):
    def forward(self, x: torch.Tensor):
        kept = torch.rand(x._values().size()) > 0.1
        self.kept = x.sum(0).to_dense()
        return super().forward({of}[kept])
"""
    Path("m.py").write_text(HEAD + code)
    assert sorted(f["code"] for f in rows(capsys, "m.py") if f["severity"] != "note") == told


def _sparse(path: str, line: int, flow: tuple[Step, ...]) -> Finding:
    return Finding("PTB170", "sparse", "uses a sparse tensor", path, line, 1, line, 9, "warning", flow=flow)


def test_a_loop_over_an_iterator_that_is_given_is_told_at_the_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("given.py").write_text(
        "import torch\n\n@torch.compile\ndef scaled(x, scales):\n    for scale in scales:\n        x = x * scale\n"
        "    return x\n\nscaled(torch.ones(3), iter([1.0, 2.0]))\n"
    )
    found = {row["code"]: row for row in rows(capsys, "given.py", "--notes")}
    assert (found["PTB187"]["line"], found["PTB187"]["severity"]) == (5, "note")
    assert (found["PTS326"]["line"], found["PTS326"]["severity"]) == (9, "warning")
