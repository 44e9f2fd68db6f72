"""Under which conditions an operation runs: in the code's own words, on all ways from the root."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from pt2lint.finding import UNCALLED, Finding
from pt2lint.static.engine import lint
from pt2lint.static.interpreter import contexts, guards
from pt2lint.static.interpreter.guards import Guard
from tests.linting import findings

HEAD = """
import torch
from torch import nn
from typing import *

def is_half(x):
    return x.dtype in (torch.float16, torch.bfloat16)

def is_mixed():
    mixed = torch.get_autocast_dtype("cuda") == torch.float16
    mixed = mixed and torch.is_autocast_enabled()
    return mixed

def is_long(x):
    return x.shape[0] > 9

class Part(nn.Module):
    def forward(self, x):
        return x.item()

class M(nn.Module):
    def __init__(self, config, flag: bool):
        super().__init__()
        self.config, self.flag, self.table = config, flag, None
        self.part = Part()

    def helper(self, x, deep=None):
{helper}

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None, verbose=False, *, rate=1.0,
                size: Union[int, torch.LongTensor] = 1):
{body}
"""


def when(tmp_path: Path, body: str, helper: str = "return x") -> list[tuple[tuple[str, ...], str]]:
    """The conditions of each finding in the helper and the forward, and why it is a note."""

    def indented(text: str) -> str:
        return "\n".join("        " + line for line in text.split("\n"))

    path = tmp_path / "m.py"
    path.write_text(HEAD.format(body=indented(body), helper=indented(helper)))
    return [(f.when, f.note) for f in lint([str(path)]).findings if f.line > 20]


ITEM = "x.sum().item()"
CASES = {
    # a test around it, either way
    f"if self.training:\n    {ITEM}": ["self.training"],
    f"if not self.training:\n    {ITEM}": ["not self.training"],
    f"if self.training:\n    pass\nelse:\n    {ITEM}": ["not self.training"],
    f"if x.dtype == torch.float16:\n    {ITEM}": ["x.dtype == torch.float16"],
    f"if x.dtype not in (torch.float16, torch.bfloat16):\n    return x\n{ITEM}": [
        "x.dtype in (torch.float16, torch.bfloat16)"
    ],
    f"if torch.is_autocast_enabled():\n    {ITEM}": ["torch.is_autocast_enabled()"],
    f"if self.config.use_cache:\n    {ITEM}": ["self.config.use_cache"],
    # one of the things that a loop goes over, of which nothing says what it is
    "for size in self.config.sizes:\n    if isinstance(size, torch.Tensor):\n        size.item()": [
        "isinstance(size, torch.Tensor)"
    ],
    "for size in x.unbind():\n    if isinstance(size, torch.Tensor):\n        size.item()": [],
    f"if self.config.kind != 'flat':\n    if self.config.kind == 'deep':\n        {ITEM}": [
        "self.config.kind == 'deep'"
    ],
    f"if self.config.kind != 'flat':\n    if self.config.kind != 'deep':\n        {ITEM}": [
        "self.config.kind != 'flat'",
        "self.config.kind != 'deep'",
    ],
    f"if self.config.kind == 'deep' and mask is not None:\n    {ITEM}": [
        "self.config.kind == 'deep'",
        "mask is not None",
    ],
    f"if self.flag or mask is not None:\n    {ITEM}": ["self.flag or mask is not None"],
    # what one arm alone makes a tensor
    "skip = (mask == 0).all() if mask is not None else False\nif skip:\n    return x": ["mask is not None"],
    "skip = False if mask is None else (mask == 0).all()\nif skip:\n    return x": ["mask is not None"],
    "skip = (x == 0).all() if self.flag else (x == 1).all()\nif skip:\n    return x": [],
    # a text in another one
    f"if 'deep' in self.config.kind:\n    {ITEM}": ["'deep' in self.config.kind"],
    f"if 'deep' not in self.config.kind:\n    return x\n{ITEM}": ["'deep' in self.config.kind"],
    f"if self.config.kind in ('deep', 'wide'):\n    {ITEM}": ["self.config.kind in ('deep', 'wide')"],
    # in what an attribute holds, for a key or not
    f"kind = self.config.kind if verbose else self.table['kind']\nif 'deep' in kind:\n    {ITEM}": [
        "'deep' in kind"
    ],
    f"kind = self.table[verbose].kind\nif kind == 'deep':\n    {ITEM}": ["kind == 'deep'"],
    f"kind = self.config.kind if verbose else len(x)\nif 'deep' in kind:\n    {ITEM}": [],
    # what is computed of an argument that may be a number
    "n = size * 2\nif isinstance(n, torch.Tensor):\n    n = n.round().long()\nelse:\n    n = round(n)\n"
    "return torch.zeros(n)": ["isinstance(n, torch.Tensor)"],
    "n, m = size * 2, size / 3\nif isinstance(n, torch.Tensor):\n    n, m = n.long(), m.round().long()\n"
    "else:\n    n, m = round(n), round(m)\nreturn torch.zeros(m)": ["isinstance(n, torch.Tensor)"],
    # what an argument may have under a key
    f"deep = rate.get('deep', None)\nif deep is not None:\n    {ITEM}": ["deep is not None"],
    f"deep = rate.get('deep', 1)\nif deep is not None:\n    {ITEM}": [],
    # an early return, and what goes on after a test
    f"if mask is None:\n    return x\n{ITEM}": ["mask is not None"],
    f"if self.training:\n    if mask is None:\n        return x\n    x = x + 1\n{ITEM}": [],
    f"if mask is None:\n    raise ValueError\n{ITEM}": [],
    f"for _ in range(2):\n    if self.flag:\n        continue\n    {ITEM}": ["not self.flag"],
    f"for _ in range(2):\n    if self.flag:\n        continue\n{ITEM}": [],
    # within an expression
    "if x.dtype == torch.float16 and x.sum() > 0:\n    x = x + 1": ["x.dtype == torch.float16"],
    f"y = {ITEM} if self.training else 0": ["self.training"],
    f"y = self.training or {ITEM}": ["not self.training"],
    # a dtype, however it is asked for
    f"if x.type() == 'torch.HalfTensor':\n    {ITEM}": ["x.type() == 'torch.HalfTensor'"],
    f"if x.type().endswith('HalfTensor'):\n    {ITEM}": ["x.type().endswith('HalfTensor')"],
    f"if 'float16' in str(x.dtype):\n    {ITEM}": ["'float16' in str(x.dtype)"],
    f"if str(x.dtype).split('.')[-1] in ('float16', 'half'):\n    {ITEM}": [
        "str(x.dtype).split('.')[-1] in ('float16', 'half')"
    ],
    f"if str(x.shape).split('.')[-1] == 'float16':\n    {ITEM}": [],
    f"if torch.finfo(x.dtype).bits < 32:\n    {ITEM}": ["torch.finfo(x.dtype).bits < 32"],
    f"if x.element_size() == 2:\n    {ITEM}": ["x.element_size() == 2"],
    "if x.max() > torch.finfo(x.dtype).max:\n    x = x + 1": [],
    f"half = x.dtype == torch.half\nx = x * 2\nif half:\n    {ITEM}": ["half"],
    f"match x.dtype:\n    case torch.half:\n        {ITEM}": ["x.dtype == torch.half"],
    # by a function that only says yes or no
    f"if is_half(x):\n    {ITEM}": ["is_half(x)"],
    f"if is_mixed():\n    {ITEM}": ["is_mixed()"],
    f"if is_long(x):\n    {ITEM}": [],
    # what nobody sets, or reading decides
    f"if x.shape[0] > 1:\n    {ITEM}": [],
    f"if x.shape[0] != 2 and self.flag:\n    {ITEM}": ["self.flag"],
    # sizes that are taken apart, and numbers
    f"n, width = x.shape\nx = x + 1\nif self.flag:\n    if n == 1:\n        {ITEM}": ["self.flag", "n == 1"],
    f"n, width = self.config.shape\nif self.flag:\n    if n == 1:\n        {ITEM}": ["self.flag", "n == 1"],
    f"n, width = self.config.sizes\nif self.flag:\n    if n == 1:\n        {ITEM}": ["self.flag"],
    f"n, width = x.size()\nif n != 1:\n    return x\n{ITEM}": ["n == 1"],
    f"n, width = x.shape\nif n == 1:\n    return x\n{ITEM}": [],
    f"n, width = x.shape\nn = n + 1\nif n == 1:\n    {ITEM}": [],
    f"if verbose == 2:\n    {ITEM}": ["verbose == 2"],
    f"if verbose == 2:\n    return x\n{ITEM}": [],
    f"if verbose > 2:\n    return x\n{ITEM}": [],
    f"if self.config.order == 2:\n    {ITEM}": ["self.config.order == 2"],
    # another number than an argument is by default, and how many a list has
    f"if rate != 1.0:\n    {ITEM}": ["rate != 1.0"],
    f"if rate > 1.0 and self.flag:\n    {ITEM}": ["rate > 1.0", "self.flag"],
    f"if rate <= 1.0:\n    return x\n{ITEM}": ["rate > 1.0"],
    f"if rate == 1.0:\n    {ITEM}": [],
    f"rate = rate or 2.0\nif rate != 1.0:\n    {ITEM}": [],
    f"if len(rate) < 2:\n    return x\n{ITEM}": ["len(rate) >= 2"],
    f"if len(rate) == 2:\n    {ITEM}": ["len(rate) == 2"],
    f"if len(rate) > 0:\n    {ITEM}": [],
    f"if len(x) > 2:\n    {ITEM}": [],
    f"local = len(x)\nif local:\n    {ITEM}": [],
    f"if True:\n    {ITEM}": [],
}


@pytest.mark.parametrize("body", CASES)
def test_tests_around_an_operation_are_its_conditions(tmp_path: Path, body: str) -> None:
    assert [found for found, _ in when(tmp_path, body)] == [tuple(CASES[body])]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if self.training:\n    return self.helper(x, mask)", ["self.training", "deep is not None"]),
        (
            "if self.training:\n    self.helper(x, mask)\nif self.flag:\n    self.helper(x, mask)",
            ["deep is not None"],
        ),
        ("self.helper(x, mask)\nif self.flag:\n    self.helper(x, mask)", ["deep is not None"]),
        ("if self.flag:\n    self.helper(x, mask)\nself.helper(x, mask)", ["deep is not None"]),
        # for arguments of other kinds, which is another run of the function
        ("if self.flag:\n    self.helper(x, mask)\nself.helper(x, x)", []),
    ],
)
def test_guards_of_callers_count_and_several_ways_are_joined(
    tmp_path: Path, body: str, expected: list[str]
) -> None:
    found = when(tmp_path, body, f"if deep is not None:\n    {ITEM}\nreturn x")
    assert [each for each, _ in found] == [tuple(expected)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("early = step < 9\n        return early and self.training", ["self.learns(3)"]),
        ("return self.training", ["self.learns(3)"]),
        ("return step < 9 and self.deep", []),
        ("return self.deep.training", []),
    ],
)
def test_a_method_may_ask_for_the_mode(answer: str, expected: list[str]) -> None:
    source = f"""
import torch

class M(torch.nn.Module):
    def learns(self, step):
        {answer}

    def forward(self, x: torch.Tensor):
        if self.learns(3):
            return x * x.max().item()
        return x * 2
"""
    assert [f.when for f in findings(source) if f.code == "PTB103"] == [tuple(expected)]


@pytest.mark.parametrize(
    ("kept", "asks", "expected"),
    [
        (
            "torch.float16 if half else torch.float32",
            "self.dtype == torch.float16",
            ["self.dtype == torch.float16"],
        ),
        (
            "torch.half if half else torch.long",
            "self.dtype == torch.float16",
            ["self.dtype == torch.float16"],
        ),
        ("torch.bfloat16", "self.dtype == torch.float16", None),
        ("torch.bfloat16", "self.dtype is torch.half", None),
        ("torch.bfloat16", "self.dtype in (torch.half, torch.double)", None),
        ("torch.half", "self.dtype == torch.float16", []),
        ("torch.half", "torch.float16 == self.dtype", []),
        ("torch.half", "self.dtype in (torch.float16, torch.bfloat16)", []),
        ("torch.half", "self.dtype not in (torch.float16, torch.bfloat16)", None),
        ("torch.half", "self.dtype != torch.bfloat16", []),
        ("torch.half", "self.dtype != torch.float16", None),
        ("torch.long", "self.dtype == torch.float16", None),
        ("torch.half", "self.dtype is not None", []),
    ],
)
def test_dtypes_are_told_apart_by_name(kept: str, asks: str, expected: list[str] | None) -> None:
    source = f"""
import torch

class M(torch.nn.Module):
    def __init__(self, half):
        super().__init__()
        self.dtype = {kept}

    def forward(self, x: torch.Tensor):
        if {asks}:
            return x * x.max().item()
        return x * 2
"""
    told = [] if expected is None else [tuple(expected)]
    assert [f.when for f in findings(source) if f.code == "PTB103"] == told


def test_at_most_three_are_told_dtypes_first(tmp_path: Path) -> None:
    tests = "self.flag and mask is not None and self.config.a and self.config.b and x.dtype == torch.half"
    body = f"if {tests}:\n    {ITEM}"
    [(found, _)] = when(tmp_path, body)
    assert found == ("self.flag", "self.config.a", "x.dtype == torch.half")


def test_what_is_off_runs_once_or_ends_in_an_error_says_so(tmp_path: Path) -> None:
    assert when(tmp_path, f"if verbose:\n    {ITEM}") == [(("verbose",), "`verbose` is off by default")]
    usual = when(tmp_path, f"if not (verbose and self.training):\n    {ITEM}")
    assert usual == [((), "")]  # what is so by default is no condition
    once = f"if self.table is None:\n    self.table = {ITEM}"
    assert {note for _, note in when(tmp_path, once)} == {"once"}
    seen = f"if self.key not in self.seen:\n    self.seen.add(self.key)\n    {ITEM}"
    assert [note for _, note in when(tmp_path, seen)] == ["once"]
    # What is there already, and set to something else, stays there.
    again = f"if self.table is None:\n    self.table = x\nelse:\n    self.table = x + self.table\n    {ITEM}"
    assert [note for _, note in when(tmp_path, again)][-1:] == [""]
    assert [note for _, note in when(tmp_path, seen.replace("self.seen.add", "self.other.add"))] == [""]
    fails = f"if mask is not None:\n    y = {ITEM}\n    raise ValueError(y)"
    assert [note for _, note in when(tmp_path, fails)] == ["on an error path"]
    asserted = fails.replace("raise ValueError(y)", "assert False, y")
    assert [note for _, note in when(tmp_path, asserted)] == ["on an error path"]
    assert [note for _, note in when(tmp_path, asserted.replace("False", "self.ready"))] == [""]
    assert [note for _, note in when(tmp_path, f"if mask is not None:\n    {ITEM}")] == [""]
    fail = f"y = {ITEM}\nraise ValueError(y)"
    assert [note for _, note in when(tmp_path, "if self.flag:\n    self.helper(x)", fail)] == [
        "on an error path"
    ]


def test_two_objects_may_be_asked_the_same_and_each_way_may_seldom_run(tmp_path: Path) -> None:
    code = """
import torch
from torch import nn

def scaled(x):
    return x * x.sum().item()

class A(nn.Module):
    def __init__(self, sparse=False):
        super().__init__()
        self.sparse = sparse

    def forward(self, x: torch.Tensor):
        if self.sparse:
            x = scaled(x)
        return x

class B(nn.Module):
    def __init__(self, NAME=False):
        super().__init__()
        self.NAME = NAME

    def forward(self, x: torch.Tensor):
        if self.NAME:
            x = scaled(x)
        return x
"""
    path = tmp_path / "m.py"
    for name, when, note in (
        ("sparse", ("self.sparse",), "`self.sparse` is off by default"),
        ("other", (), "off by default"),
    ):
        path.write_text(code.replace("NAME", name))
        assert [(f.when, f.note) for f in lint([str(path)]).findings] == [(when, note)]


def test_an_option_that_is_none_by_default_is_off() -> None:
    code = """
import torch
from torch import nn

def picked(x, ignored=None):
    if ignored is None:
        return x
    return x[x != ignored]

class M(nn.Module):
    def __init__(self, ignored=None, width: int | None = None, norm=None, part: nn.Module | None = None):
        super().__init__()
        self.ignored = ignored
        self.width = width
        self.norm = norm
        self.part = part
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, mask=None):
        if self.width is not None:
            x = x * x.sum().item()
        if self.norm is not None:
            x = self.norm(x) * x.mean().item()
        if self.part is not None:
            x = self.part(x) * x.max().item()
        if mask is not None:
            x = x * x.min().item()
        return picked(self.layer(x), self.ignored)
"""
    found = {(f.when, f.note) for f in findings(code)}
    assert found == {
        (("self.width is not None",), "`self.width is not None` is off by default"),
        (("self.norm is not None",), ""),
        (("self.part is not None",), ""),
        (("mask is not None",), ""),
        (("ignored is not None",), "`ignored is not None` is off by default"),
    }


@pytest.mark.parametrize("again", ["not self.training", "torch.is_autocast_enabled()"])
def test_what_a_caller_has_excluded_is_dead(tmp_path: Path, again: str) -> None:
    helper = f"if {again}:\n    return {ITEM}\nreturn x"
    found = [each for each, _ in when(tmp_path, "if self.training:\n    return self.helper(x)", helper)]
    assert found == ([] if "training" in again else [("self.training", again)])
    body = f"if self.training:\n    if {again}:\n        {ITEM}"
    assert len(when(tmp_path, body)) == len(found)


def test_what_a_text_is_sought_in_is_no_tensor_whatever_the_annotation_says(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _ = "a" in torch.ones(2)  # type: ignore[operator]
    assert when(tmp_path, "if 'a' in x:\n    x = x + 1") == []
    assert len(when(tmp_path, "if 2 in x:\n    x = x + 1")) == 1


def test_conditions_stand_as_on_the_first_way_in_every_run() -> None:
    """Ways are taken in the order in which they were met: that of a set is another one in each process."""
    pairs = [(f"self.config.one_{i}", f"self.config.two_{i}") for i in range(8)]
    calls = [
        f"        if {a}:\n            if {b}:\n                self.helper_{i}(x)\n"
        for i, (a, b) in enumerate(pairs)
    ]
    calls += [
        f"        if {b}:\n            if {a}:\n                self.helper_{i}(x)\n"
        for i, (a, b) in enumerate(pairs)
    ]
    helpers = [f"    def helper_{i}(self, x):\n        {ITEM}\n\n" for i in range(8)]
    code = HEAD.format(body="        return x", helper="        return x")
    source = (
        f"{code}\nclass N(M):\n{''.join(helpers)}    def forward(self, x: torch.Tensor):\n{''.join(calls)}"
    )
    assert [f.when for f in findings(source) if f.line > 20] == pairs


def test_an_item_that_only_an_annotation_tells_of_may_be_a_list(tmp_path: Path) -> None:
    code = """
import torch
@torch.compile
def f(batch: dict[str, torch.Tensor]):
    if batch["names"]:
        return batch["x"]
    if {test}:
        return batch["x"] + 1
    made = {{"x": batch["x"].sum()}}
    if made["x"]:
        return batch["x"] + 2
"""
    path = tmp_path / "m.py"
    for test, lines in (('batch["x"].any()', [7, 10]), ('batch["x"] > 0', [7, 10]), ('not batch["y"]', [10])):
        path.write_text(code.format(test=test))
        assert [f.line for f in lint([str(path)]).findings if f.confidence == "high"] == lines


def test_a_number_that_eager_code_drew_is_a_number() -> None:
    code = """
import random
import torch

def halved(length):
    if length > 3:
        length = length / 2
    return length

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, words: list):
        begin = [0] * random.randint(0, 2) if self.training else []
        begin.extend([int(word) for word in words])
        return x * len([word for word in begin if word == 1]) * halved(x.shape[0])

def run(model, x):
    return halved(random.randint(1, 9)) * model(x, [])
"""
    assert [(f.code, f.line) for f in findings(code) if f.confidence == "high"] == [("PTB106", 12)]


RATED = """
import numpy as np
import torch
from torch import nn

class Base(nn.Module):
    def __init__(self, dim, rate=0):
        super().__init__()
        self.layer = nn.Linear(dim, dim)
        self.rate = rate

class M(Base):
    def __init__(self, dim, limit=0, rate=0, width=1):
        super().__init__(dim, rate)
        self.limit = limit * dim
        self.width = width * 2
        self.start = 0

    def forward(self, x: torch.Tensor, offset=0, other=None):
        if {test}:
            x = x * x.sum().item()
        return self.layer(x)
"""


@pytest.mark.parametrize(
    ("test", "note"),
    [
        ("self.rate", "`self.rate` is off by default"),
        ("self.limit > 0", "`self.limit > 0` is off by default"),
        ("isinstance(other, np.ndarray)", "where it is given a NumPy array"),
        ("not isinstance(other, np.ndarray)", ""),
        ("self.width", ""),
        ("self.start", ""),  # what counts begins with 0
        ("offset", ""),  # as what says how far a cache goes
    ],
)
def test_what_is_given_by_a_number_is_off_where_it_is_zero(test: str, note: str) -> None:
    assert [f.note for f in findings(RATED.format(test=test)) if f.code == "PTB103"] == [note]


def test_what_a_base_class_sets_each_of_many_classes_below_it_has() -> None:
    classes = "".join(
        f"""
class M{i}(Base):
    def __init__(self, dim, rate=0.0):
        super().__init__(dim, rate)

    def forward(self, x: torch.Tensor):
        if self.rate:
            x = x * x.sum().item()
        return self.layer(x)
"""
        for i in range(14)
    )
    assert [f.note for f in findings(RATED.split("class M(")[0] + classes)] == [
        "`self.rate` is off by default"
    ] * 14


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, n, rate, other):
        super().__init__()
        self.rate = rate
        self.other = other
        self.layer = nn.Linear(n, n)

    def forward(self, x: torch.Tensor):
        if self.rate > 0:
            x = x * x.sum().item()
        if self.other:
            x = x * x.max().item()
        return self.layer(x)
"""
MADE = """
from package.net import Net

class Maker:
    def __init__(self, n=3, rate=0.0, other=True):
        self.n, self.rate, self.other = n, rate, other

    def build(self):
        self.net = Net(self.n, rate=self.rate, other=self.other)
"""


@pytest.mark.parametrize(
    ("more", "note"), [("", "`self.rate > 0` is off by default"), ("Net(2, 0.5, 1)\n", "")]
)
def test_what_makes_a_module_says_what_is_off_by_default(tmp_path: Path, more: str, note: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    files = {"__init__": "", "net": NET, "maker": f"{MADE}\n{more}"}
    for name, code in files.items():
        (package / f"{name}.py").write_text(code)
    found = lint([str(package / f"{name}.py") for name in files]).findings
    assert [f.note for f in found] == [note, ""]


def linted(tmp_path: Path, code: str) -> list[Finding]:
    """The findings of a package of one file."""
    (tmp_path / "__init__.py").touch()
    (tmp_path / "m.py").write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(code))
    return [
        f
        for f in lint([str(tmp_path / "m.py")]).findings
        if f.code in ("PTB103", "PTB110") and f.note != UNCALLED
    ]


KEPT = """
class M(nn.Module):
    def __init__(self, drops=False, every=1, many=2):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.drops = {drops}
        self.every = every

    def forward(self, x: torch.Tensor, fps: torch.Tensor | None = None):
        every, device = self.every, x.device
        alike = fps is None or isinstance(fps, float) or fps.min() == fps.max()
        drops = self.training and self.drops and torch.is_grad_enabled()
        x = self.inner(x)
        {body}
        return self.inner(x)
"""


@pytest.mark.parametrize(
    ("drops", "body", "when", "note"),
    [
        (
            "drops",
            "if drops: x = x * x.max().item()",
            ("self.training", "self.drops", "torch.is_grad_enabled()"),
            "`self.drops` is off by",
        ),
        (
            "drops and many > 1",
            "if self.drops: x = x * x.max().item()",
            ("self.drops",),
            "`self.drops` is off by",
        ),
        (
            "drops",
            "if every != 1: x = x * x.max().item()",
            ("self.every != 1",),
            "`self.every != 1` is off by",
        ),
        ("drops", "assert alike or x.shape[0] == 1", ("fps is not None",), ""),
        ("many", "if self.drops: x = x * x.max().item()", (), ""),
    ],
    ids=["a test", "an option and more", "an attribute", "what may be a tensor", "on by default"],
)
def test_what_is_kept_under_a_name_is_asked_where_it_is_asked(
    tmp_path: Path, drops: str, body: str, when: tuple[str, ...], note: str
) -> None:
    [finding] = linted(tmp_path, KEPT.format(drops=drops, body=body))
    assert finding.when == when
    assert finding.note.startswith(note)
    assert bool(finding.note) is bool(note)


def test_a_name_that_is_assigned_twice_says_nothing_of_a_test(tmp_path: Path) -> None:
    body = "drops = drops or x.shape[0] > 4\n        if drops: x = x * x.max().item()"
    [finding] = linted(tmp_path, KEPT.format(drops="drops", body=body))
    assert (finding.when, finding.note) == ((), "")


OF_TWO = """
class Part(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor, sizes: list[int] | None = None):
        total: int | torch.Tensor
        if sizes is not None:
            total = {known}
        else:
            total = lengths.sum()
        {more}
        if total == x.shape[0]:
            x = x + 1
        return x * 2

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x: torch.Tensor, lengths: torch.Tensor, sizes: list[int] | None = None):
        return self.part(x, lengths, sizes)
"""


@pytest.mark.parametrize(
    ("known", "more", "conditions"),
    [
        ("sum(sizes)", "", ("sizes is None",)),
        ("lengths.max()", "", ()),
        ("sum(sizes)", "total = total + x.sum()", ()),
    ],
)
def test_a_name_that_one_branch_alone_sets_to_a_tensor(
    tmp_path: Path, known: str, more: str, conditions: tuple[str, ...]
) -> None:
    [finding] = linted(tmp_path, OF_TWO.format(known=known, more=more))
    assert finding.when == conditions


OF_A_CHOICE = """
def loud(x):
    return x.sum().item()

def silent(x):
    return 0.0

class Silent:
    def update(self, x):
        return 0.0

    __call__ = update

class Loud(Silent):
    def update(self, x):
        return loud(x)

    def __call__(self, x):
        return loud(x)

def found():
    return Loud()

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, sink=None, deep=True, verbose=False):
        {made}
        y = self.inner(x)
        return y * {call}
"""
IF_ELSE = "if verbose:\n            p = Loud()\n        else:\n            p = Silent()"
IF_ALONE = "p = Silent()\n        if verbose:\n            p = Loud()"


@pytest.mark.parametrize(
    ("made", "call", "conditions", "is_off"),
    [
        ("p = Loud() if verbose else Silent()", "p.update(x)", ("verbose",), True),
        ("p = Silent() if not verbose else Loud()", "p(x)", ("verbose",), True),
        ("p = loud if verbose else silent", "p(x)", ("verbose",), True),
        ("p = Loud() if deep else Silent()", "p.update(x)", ("deep",), False),
        (IF_ELSE, "p.update(x)", ("verbose",), True),
        (IF_ALONE, "p.update(x)", ("verbose",), True),
        ("p = Loud() if x.shape[0] > 4 else Silent()", "p.update(x)", (), False),
        ("p = Loud() if verbose else Silent()\n        p = found() if deep else p", "p.update(x)", (), False),
        ("p = found() if deep else Silent()", "p.update(x)", (), False),
        (IF_ELSE.replace("Silent", "Loud"), "p.update(x)", (), False),
        (IF_ELSE.replace("Silent", "found"), "p.update(x)", (), False),
        (
            f"sink = sink or Silent()\n        {IF_ALONE}".replace("p =", "sink ="),
            "sink.update(x)",
            (),
            False,
        ),
        ("p = found()\n        if p is None:\n            p = Loud()", "p.update(x)", (), False),
    ],
)
def test_what_one_of_two_does_that_a_test_chooses(
    tmp_path: Path, made: str, call: str, conditions: tuple[str, ...], is_off: bool
) -> None:
    [finding] = linted(tmp_path, OF_A_CHOICE.format(made=made, call=call))
    assert finding.when == conditions
    assert finding.note == ("`verbose` is off by default" if is_off else "")


OF_A_PART = """
class Plain(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Linear(n, n)

    def forward(self, x):
        return self.inner(x)

class Loud(Plain):
    def forward(self, x):
        return self.inner(x) * x.mean().item()

class M(nn.Module):
    def __init__(self, verbose):
        super().__init__()
        self.verbose = verbose
        {made}

    def shallow(self, x):
        return self.part(x + 1)

    def deep(self, x):
        return self.part(x + 2)

    def forward(self, x: torch.Tensor):
        if self.verbose:
            return self.deep(x)
        return self.shallow(x)
"""


@pytest.mark.parametrize(
    ("made", "conditions"),
    [
        ("self.part = Loud(2) if verbose else Plain(2)", ("self.verbose", "verbose")),
        ("self.part = (Plain if not self.verbose else Loud)(2)", ("self.verbose",)),
        ("kind = Plain if not verbose else Loud\n        self.part = kind(2)", ("self.verbose", "verbose")),
        # what is asked is no option: which class it is of
        (
            "kind = Loud\n        kind = Plain if not verbose else Loud\n        self.part = kind(2)",
            ("isinstance(self.part, Loud)",),
        ),
        (
            "self.part = (Loud if len(str(verbose)) > 4 else Plain)(2)",
            ("isinstance(self.part, Loud)",),
        ),
        ("self.part = Loud(2) if len(str(verbose)) > 4 else Loud(3)", ()),
    ],
)
def test_a_part_that_a_conditional_expression_chooses(
    tmp_path: Path, made: str, conditions: tuple[str, ...]
) -> None:
    [finding] = linted(tmp_path, OF_A_PART.format(made=made))
    assert finding.when == conditions


OF_A_MAKER = """
import torch
from torch import nn

def norm(n, kind="group"):
    assert kind in ("group", "batch")
    {made}

class Block(nn.Module):
    def __init__(self, n, kind="group"):
        super().__init__()
        self.norm = {norm}

    def forward(self, x):
        return self.norm(x + 1) * 2

class Encoder(nn.Module):
    def __init__(self, n=8, kind="group"):
        super().__init__()
        self.block = Block(n, kind=kind)

    def forward(self, x):
        return self.block(x)

class M(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = Encoder({given})

    def forward(self, x: torch.Tensor):
        return self.encoder(x)
"""
BY_KIND = """if kind == "group":
        return nn.GroupNorm(2, n)
    elif kind == "batch":
        return nn.SyncBatchNorm(n)"""
BY_RETURN = """if kind == "group":
        return nn.GroupNorm(2, n)
    return nn.SyncBatchNorm(n)"""


@pytest.mark.parametrize(
    ("made", "norm", "given", "told", "is_off"),
    [
        (BY_KIND, "norm(n, kind)", "config.n", "kind == 'batch'", True),
        (BY_RETURN, "norm(n, kind=kind)", "config.n", "kind != 'group'", True),
        (BY_KIND, "norm(n, kind)", "config.n, config.kind", "kind == 'batch'", False),
        (BY_KIND, "norm(n, 'batch')", "config.n", "", False),
        ("return nn.SyncBatchNorm(n)", "norm(n, kind)", "config.n", "", False),
    ],
)
def test_a_part_that_a_function_makes_of_an_option(
    tmp_path: Path, made: str, norm: str, given: str, told: str, is_off: bool
) -> None:
    (tmp_path / "m.py").write_text(OF_A_MAKER.format(made=made, norm=norm, given=given))
    [found] = [f for f in lint([str(tmp_path / "m.py")]).findings if f.code == "PTB187"]
    assert found.when == ((told, "self.training") if told else ("self.training",))
    assert found.note == (f"`{told}` is off by default" if is_off else "")


OF_A_GLOBAL = """
STATISTICS = {switch}

class Records(nn.Module):
    def __init__(self, statistics=None):
        super().__init__()
        self.statistics = STATISTICS if statistics is None else statistics

class M(Records):
    def __init__(self, **kwargs):
        super().__init__({given}**kwargs)
        self.inner = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        x = self.inner(x)
        if self.statistics:
            self.mean = x.mean().item()
        return self.inner(x)
"""


@pytest.mark.parametrize(
    ("switch", "given", "note"),
    [
        ("False", "", "`self.statistics` is off by default"),
        ("True", "", ""),
        ("False", "statistics=True, ", ""),
    ],
    ids=["off", "on", "a class below gives it"],
)
def test_an_option_that_follows_a_global(tmp_path: Path, switch: str, given: str, note: str) -> None:
    [finding] = linted(tmp_path, OF_A_GLOBAL.format(switch=switch, given=given))
    assert (finding.when, finding.note) == (("self.statistics",), note)


GIVEN_FLAG = """
class Block(nn.Module):
    def __init__(self, fancy: bool = False):
        super().__init__()
        self.fancy = fancy

    def forward(self, x: torch.Tensor):
        if self.fancy:
            x = x * x.sum().item()
        return x

class M(nn.Module):
    def __init__(self, fancy: bool = {default}, n: int = 2):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.blocks = nn.ModuleList([Block({given}) for i in range(n)])

    def forward(self, x: torch.Tensor):
        for block in self.blocks:
            x = block(self.inner(x))
        return x
"""


@pytest.mark.parametrize(
    ("default", "given", "note"),
    [
        (True, "fancy=True", ""),
        (True, "fancy=fancy", ""),
        (True, "fancy=fancy and i > 0", ""),
        (False, "fancy=fancy", "`self.fancy` is off by default"),
        (False, "fancy=fancy and i > 0", "`self.fancy` is off by default"),
        (True, "", "`self.fancy` is off by default"),
        (True, "fancy=True) for _ in x] + [Block(", "`self.fancy` is off by default"),
    ],
)
def test_a_flag_that_whatever_makes_the_part_switches_on(
    tmp_path: Path, default: bool, given: str, note: str
) -> None:
    [finding] = linted(tmp_path, GIVEN_FLAG.format(default=default, given=given))
    assert (finding.when, finding.note) == (("self.fancy",), note)


def test_what_one_way_leaves_off_another_may_give(tmp_path: Path) -> None:
    code = """
    def scaled(x, scale):
        if scale is not None:
            return x * x.max().item()
        return x

    class M(nn.Module):
        def __init__(self, scale=None):
            super().__init__()
            self.inner, self.scale = nn.Linear(2, 2), scale

        def forward(self, x: torch.Tensor, other):
            return self.inner(scaled(self.inner(x), self.scale) + scaled(self.inner(x), other.scale))
    """
    [finding] = linted(tmp_path, code)
    assert (finding.when, finding.note) == (("scale is not None",), "")


def test_a_tensor_has_some_length(tmp_path: Path) -> None:
    code = """
    def mask_of(lengths: torch.Tensor, longest: int | None = None):
        longest = lengths.max().item() if not longest else longest
        return torch.arange(longest)[None, :] < lengths[:, None]

    class M(nn.Module):
        def forward(self, x: torch.Tensor, lengths: torch.Tensor):
            return x * mask_of(lengths, {given})
    """
    assert not linted(tmp_path, code.format(given="x.shape[1]"))
    assert linted(tmp_path, code.format(given="len(other)"))


def test_a_class_that_stands_after_the_one_that_makes_it_is_called_by_it(tmp_path: Path) -> None:
    code = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part() for _ in range(2)])

    def forward(self, x: torch.Tensor):
        for part in self.parts:
            x = part(x, size=x.shape[0])
        return x

class Part(nn.Module):
    def forward(self, x: torch.Tensor, size: int | None = None):
        longest = x.sum() if size is None else size
        if longest > 4:
            x = x + 1
        return x
"""
    path = tmp_path / "m.py"
    path.write_text(code)
    assert not lint([str(path)]).findings
    path.write_text(code.replace("size=x.shape[0]", ""))
    assert [f.code for f in lint([str(path)]).findings] == ["PTB110"]


ONCE_A_PROCESS = """
FOUND = None

def is_there():
    global FOUND
    if FOUND is not None:
        return FOUND
    FOUND = {asked}
    return FOUND

class M(nn.Module):
    def __init__(self, ignored=-100):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.ignored = ignored

    def forward(self, x: torch.Tensor):
        x = self.inner(x)
        if is_there():
            x = x + 1
        if self.ignored >= 0:
            x = x * x.max().item()
        return self.inner(x)
"""


def test_what_a_global_keeps_is_found_once_and_a_negative_number_is_a_default(tmp_path: Path) -> None:
    code = ONCE_A_PROCESS.format(asked="torch.ones(2).sum().item()")
    assert [f.note for f in linted(tmp_path, code)] == ["once", "`self.ignored >= 0` is off by default"]


@pytest.mark.parametrize(
    ("default", "note"),
    [
        ("IGNORED", "`self.ignored >= 0` is off by default"),
        ("constants.IGNORED", "`self.ignored >= 0` is off by default"),
        ("constants.KEPT", ""),
        ("constants.SOME", ""),
    ],
)
def test_a_default_that_is_a_globals_number(tmp_path: Path, default: str, note: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "constants.py").write_text("import os\nIGNORED = -100\nKEPT = 1\nSOME = os.getpid()\n")
    imports = "from package import constants\nfrom package.constants import IGNORED\n"
    code = ONCE_A_PROCESS.format(asked="1").replace("ignored=-100", f"ignored={default}")
    (package / "m.py").write_text(f"import torch\nfrom torch import nn\n{imports}{code}")
    found = lint([str(package / "m.py")]).findings
    assert [f.note for f in found if f.code == "PTB103"] == [note]


def test_a_class_method_is_given_the_class_before_the_context(tmp_path: Path) -> None:
    code = """
    class Sparse(torch.autograd.Function):
        @classmethod
        def forward(cls, ctx, x, dim=-1):
            ctx.length = x.shape[dim]
            return x * ctx.length

    def sparse(x, dim=-1):
        if x.shape[dim] > 3:
            return Sparse.apply(x, dim)
        return x

    class M(nn.Module):
        def __init__(self, dim=-1):
            super().__init__()
            self.dim = dim

        def forward(self, x: torch.Tensor):
            return sparse(x * 2, dim=self.dim) + 1
    """
    (tmp_path / "__init__.py").touch()
    path = tmp_path / "m.py"
    path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(code))
    assert "PTB106" not in {f.code for f in lint([str(path)]).findings}


DROPS = "if self.training and self.config.rate > 0:\n    drops = torch.rand(3)\nelse:\n    drops = None\n"
DROPPED = ("self.training", "self.config.rate > 0")


@pytest.mark.parametrize(
    ("body", "conditions"),
    [
        (f"{DROPS}if drops is not None:\n    {ITEM}", DROPPED),
        (f"{DROPS}if drops is None:\n    return x\n{ITEM}", DROPPED),
        (f"{DROPS}y = drops is not None and float(drops[0]) > 0.5", DROPPED),
        (
            "drops = None\nif self.flag:\n    drops = torch.rand(3)\nif drops is not None:\n    drops.sum().item()",
            ("self.flag",),
        ),
        # what is None may still be so for another reason, and what was given is something
        (
            f"if self.flag:\n    mask = x\nelse:\n    y = mask = None\nif mask is not None:\n    {ITEM}",
            ("mask is not None",),
        ),
        (f"{DROPS}if drops is None:\n    {ITEM}", ()),
        # in several branches, in an unpacked pair, and in a loop
        (f"{DROPS}if mask is not None:\n    drops = mask\nif drops is not None:\n    {ITEM}", ()),
        (f"{DROPS}y, drops = x, mask\nif drops is not None:\n    {ITEM}", ()),
        (f"for drops in (None, x):\n    if drops is not None:\n        {ITEM}", ()),
    ],
)
def test_a_name_that_is_something_in_one_branch_alone(
    tmp_path: Path, body: str, conditions: tuple[str, ...]
) -> None:
    assert [found for found, _ in when(tmp_path, body)] == [conditions]


@pytest.mark.parametrize(
    ("body", "conditions"),
    [
        (f"if self.config.rate > 0:\n    {ITEM}", ("self.config.rate > 0",)),
        (f"if self.config.rate != 0 and self.flag:\n    {ITEM}", ("self.config.rate != 0", "self.flag")),
        ("self.on = self.flag and x.sum() > 0\nif self.on:\n    return x + 1\nreturn x", ("self.flag",)),
        (
            "self.on = self.config.queue > 0 and x.sum() > 0\nx = x + 1\nif self.on:\n    return x + 1\nreturn x",
            ("self.config.queue > 0",),
        ),
        # a size, and what is kept twice
        (f"if x.shape[0] > 0:\n    {ITEM}", ()),
        (
            "self.on = self.flag and x.sum() > 0\nif self.flag:\n    self.on = x.max() > 0\n"
            "if self.on:\n    return x + 1\nreturn x",
            (),
        ),
    ],
)
def test_numbers_that_are_switched_on_and_what_an_attribute_keeps(
    tmp_path: Path, body: str, conditions: tuple[str, ...]
) -> None:
    assert [found for found, _ in when(tmp_path, body)] == [conditions]


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        ("x.ndim == 2", ("x.ndim == 2",)),
        ("x.dim() == 2", ("x.dim() == 2",)),
        ("x.numel() == 1", ("x.numel() == 1",)),
        ("x.numel() != 1", ()),
        ("len(x.shape) == 3", ("len(x.shape) == 3",)),
        ("mask is not None and len(mask.size()) == 3", ("mask is not None", "len(mask.size()) == 3")),
        # how many elements something has that the function made, of which it knows the dimensions
        ("(x + 1).numel() == 1", ("(x + 1).numel() == 1",)),
        ("(x + 1).ndim == 2", ()),
        # one along a dimension
        ("x.shape[0] == 1", ("x.shape[0] == 1",)),
        ("x.size(0) == 1", ("x.size(0) == 1",)),
        # another number, and more than one
        ("x.shape[-1] == 3", ("x.shape[-1] == 3",)),
        ("x.size(0) == 2", ("x.size(0) == 2",)),
        ("x.shape[0] != 2", ()),
        ("x.shape[0] > 2", ()),  # of most batches
        ("x.shape[1] > 2", ("x.shape[1] > 2",)),
        ("x.size(-1) >= 4", ("x.size(-1) >= 4",)),
        ("x.shape[1] > 1", ()),
        ("x.shape[1] > len(self.parts)", ()),
        ("x.shape[0] == len(self.parts)", ()),
        ("x.ndim > 2", ()),
        ("x.ndim != 2", ()),
    ],
)
def test_how_many_dimensions_or_elements_an_argument_has(
    tmp_path: Path, test: str, conditions: tuple[str, ...]
) -> None:
    assert when(tmp_path, f"if {test}:\n    {ITEM}") == [(conditions, "")]
    if len(conditions) == 1:
        beyond = test.replace(">=", "<").replace(">", "<=")
        other = f"if {test.replace('==', '!=') if '=' in test and '>' not in test else beyond}:\n    return x\n{ITEM}"
        assert when(tmp_path, other) == [(conditions, "")]
        few = (beyond,) if ">" in test else ()
        assert when(tmp_path, f"if {test}:\n    return x\n{ITEM}") == [(few, "")]


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        ("type(self.config.part) == Part", ("type(self.config.part) == Part",)),
        ("type(mask) is Part", ("type(mask) is Part",)),
        ("type(mask) in (Part, list)", ("type(mask) in (Part, list)",)),
        ("drawn.device.type == 'mps'", ("drawn.device.type == 'mps'",)),
        ("isinstance(self.config.part, Part)", ("isinstance(self.config.part, Part)",)),
        ("rate == verbose == 'auto'", ("verbose == 'auto'",)),
        ("kind == other == 'auto'", ("other == 'auto'",)),
        ("kind == 'auto' and x.shape[0] > 1", ("kind == 'auto'",)),
        ("drawn == 'auto'", ()),
    ],
)
def test_classes_and_texts_that_are_looked_up(tmp_path: Path, test: str, conditions: tuple[str, ...]) -> None:
    body = (
        "kind = self.config.get('kind', 1)\nother = self.config.get('other', 1)\ndrawn = x + 1\n"
        f"if {test}:\n    {ITEM}\n    kind, other = 1, 2"
    )
    assert [found for found, _ in when(tmp_path, body)] == [conditions]


def test_what_an_operand_finds_holds_for_what_follows_it_alone(tmp_path: Path) -> None:
    code = f"""
import torch
from torch import nn

class Config:
    def __init__(self, k: int | None = None):
        self.k = k

class M(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    def forward(self, x: torch.Tensor):
        if self.training and self.config.k is not None:
            return {ITEM}
        return x
"""
    (tmp_path / "m.py").write_text(code)
    [found] = lint([str(tmp_path / "m.py")]).findings
    assert found.when == ("self.training", "self.config.k is not None")
    assert found.note == "`self.config.k is not None` is off by default"


@pytest.mark.parametrize(
    ("first", "second", "conditions"),
    [
        ("cache", "cache is not None", ("cache is not None",)),
        ("cache is not None", "cache", ("cache is not None",)),
        ("self.config.cache", "self.config.cache is not None", ("self.config.cache is not None",)),
        ("not cache", "cache is not None", ()),
        ("verbose", "cache is not None", ()),
        # one argument or another
        ("cache is not None", "deep is not None", ("cache is not None or deep is not None",)),
        (
            "isinstance(cache, list)",
            "isinstance(deep, list)",
            ("isinstance(cache, list) or isinstance(deep, list)",),
        ),
        ("cache is not None", "self.config.cache", ()),  # an option is no argument
        ("cache is not None", "True", ()),
    ],
)
def test_what_is_asked_in_two_ways(first: str, second: str, conditions: tuple[str, ...]) -> None:
    """What is true is not None."""
    body = (
        f"if {first}:\n            x = self.helper(x)\n        if {second}:\n            x = self.helper(x)"
    )
    code = HEAD.format(body=f"        {body}\n        return x", helper=f"        return {ITEM}")
    source = code.replace("mask: torch.Tensor | None", "deep=None, cache")
    assert [f.when for f in findings(source) if f.line > 19] == [conditions]


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        ("self.part.length > 0", ("self.part.length > 0",)),
        ("self.part.rate != 0", ("self.part.rate != 0",)),
        ("x.ndim > 0", ()),
    ],
)
def test_numbers_of_which_the_type_is_known(tmp_path: Path, test: str, conditions: tuple[str, ...]) -> None:
    code = f"""
import torch
from torch import nn

class Part(nn.Linear):
    def __init__(self, length: int, rate: float):
        super().__init__(length, length)
        self.length, self.rate = length, rate

class M(nn.Module):
    def __init__(self, length: int, rate: float):
        super().__init__()
        self.part = Part(length, rate)

    def forward(self, x: torch.Tensor):
        if {test}:
            return self.part(x) * {ITEM}
        return self.part(x)
"""
    (tmp_path / "m.py").write_text(code)
    assert [f.when for f in lint([str(tmp_path / "m.py")]).findings] == [conditions]


OF_ENVIRONMENT = """
import os
import torch

LEVEL = int(os.getenv("LEVEL", "0"))

def is_debugged():
    if os.getenv("DEBUG", "0").strip().lower() not in {"1", "true"}:
        return False
    return "0" in os.getenv("RANKS", "").split(",")

def is_fast():
    return os.environ.get("FAST", "1") != "0"

def is_loud(x):
    return is_debugged() and x.ndim > 1 or LEVEL > 2

def shown(x):
    if not is_debugged():
        return
    x.sum().item()

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        x = self.scale(x)
        BODY
        return x + 1
"""


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("shown(x)", "`is_debugged()` is off by default"),
        (
            "loud = LEVEL * 2 == 4\n        if loud and x.ndim > 1: x.sum().item()",
            "`LEVEL * 2 == 4` is off by default",
        ),
        ("if is_fast(): x.sum().item()", ""),
        ("if is_loud(x): x.sum().item()", "`is_loud(x)` is off by default"),
    ],
)
def test_what_the_environment_says_where_nobody_set_it(tmp_path: Path, body: str, note: str) -> None:
    assert [f.note for f in linted(tmp_path, OF_ENVIRONMENT.replace("BODY", body))] == [note]


TABLE = """
import torch

class Eager(torch.nn.Module):
    def forward(self, x, mask):
        return x

class Flash(torch.nn.Module):
    def forward(self, x, mask):
        return x * mask.sum(-1).max().item()

KINDS = {"eager": Eager, "flash": Flash}

class M(torch.nn.Module):
    def __init__(self, config, kind="eager"):
        super().__init__()
        if config.deep:
            name = "deep_" + kind
        else:
            name = kind
        self.part = KINDS[KEY]()

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return self.part(x * 2, mask) + 1
"""


@pytest.mark.parametrize(
    ("key", "condition", "note"),
    [
        ("config.kind", "config.kind == 'flash'", ""),
        ("kind", "kind == 'flash'", "`kind == 'flash'` is off by default"),
        ("name", "name in ('flash', 'deep_flash')", ""),
    ],
)
def test_a_part_out_of_a_table(tmp_path: Path, key: str, condition: str, note: str) -> None:
    code = TABLE.replace("KEY", key)
    if key == "name":
        code = code.replace("Flash}", 'Flash, "deep_eager": Eager, "deep_flash": Flash}')
    found = [f for f in linted(tmp_path, code) if f.code == "PTB103"]
    assert [(f.when, f.note) for f in found] == [((condition,), note)]


FIELDS = """
import dataclasses
import torch
from pydantic import BaseModel, Field

class Settings(BaseModel):
    rate: float = 0.0
    timed: bool = Field(False, description="says how long it takes")
    wide: bool = True

@dataclasses.dataclass
class Options:
    rate: float = 1.0
    timed: bool = False
    shown: bool = dataclasses.field(default=False)

class M(torch.nn.Module):
    def __init__(self, options: Options, settings: Settings):
        super().__init__()
        self.options = options
        self.timed = settings.timed
        self.rate = settings.rate
        self.wide = settings.wide
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        if TEST:
            x = x / x.max().item()
        return x * 2

def main():
    return M(Options(MADE), Settings())
"""


@pytest.mark.parametrize(
    ("test", "made", "off"),
    [
        ("self.options.timed", "", True),
        ("self.options.timed", "timed=True", False),
        ("self.options.shown", "", True),
        ("self.options.rate > 0", "", False),
        ("self.timed", "", True),
        ("self.rate", "", True),
        ("self.wide", "", False),
    ],
)
def test_a_field_that_is_off_by_default(tmp_path: Path, test: str, made: str, off: bool) -> None:
    found = linted(tmp_path, FIELDS.replace("TEST", test).replace("MADE", made))
    assert [f.note for f in found] == [f"`{test}` is off by default" * off]


LOOKED_UP = """
import torch

def plain(x, mask):
    return x

def checked(x, mask):
    return x + 1 if mask.all() else x

KINDS = {"plain": plain, "checked": checked}
MORE = {**KINDS, "also": plain, "checked": checked, "another": checked}
LONG = {"plain": plain, "checked_with_many_words": checked, "checked_with_many_more_words": checked}

class Kinds:
    known = {"plain": plain, "checked": checked}

    def __init__(self):
        self.own = {}

    def __getitem__(self, name):
        return self.own[name] if name in self.own else self.known[name]

ALL = Kinds()

class M(torch.nn.Module):
    def __init__(self, config, kind="plain"):
        super().__init__()
        self.config = config
        self.kind = kind
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        x = self.layer(x)
BODY
"""


@pytest.mark.parametrize(
    ("body", "condition", "note"),
    [
        ("return KINDS[self.config.kind](x, mask)", "self.config.kind == 'checked'", ""),
        (
            "return KINDS[self.kind](x, mask)",
            "self.kind == 'checked'",
            "`self.kind == 'checked'` is off by default",
        ),
        ("run = ALL[self.config.kind]\nreturn run(x, mask)", "self.config.kind == 'checked'", ""),
        ("return MORE[self.config.kind](x, mask)", "self.config.kind in ('checked', 'another')", ""),
        (
            "return LONG[self.config.kind_of_what_is_checked](x, mask)",
            "self.config.kind_of_what_is_checked in ('checked_with_many_words', ...)",
            "",
        ),
        ("return {'a': checked, 'b': checked}[self.config.kind](x, mask)", "", ""),
        (
            "if self.config.kind in ('checked', 'also'):\n    return checked(x, mask)\nreturn x",
            "self.config.kind in ('checked', 'also')",
            "",
        ),
    ],
)
def test_a_function_out_of_a_table(tmp_path: Path, body: str, condition: str, note: str) -> None:
    found = linted(tmp_path, LOOKED_UP.replace("BODY", textwrap.indent(body, " " * 8)))
    assert [(f.when, f.note) for f in found if f.code == "PTB110"] == [((condition,) * bool(condition), note)]


AROUND = """
import torch
from elsewhere import asked_of

class Layer(torch.nn.Module):
    def __init__(self, slow):
        super().__init__()
        self.slow = slow
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, mask=None):
        kind = asked_of(x)
        own = self.slow

        def step(y):
            kept = self.slow
            if not (TEST):
                return y
            return y * y.max().item()

        return self.inner(step(x))
"""


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("mask is not None", ("mask is not None",)),
        ("own", ("self.slow",)),
        ("kept", ("self.slow",)),
        ("self.slow", ("self.slow",)),
        ("kind", ("kind",)),
        ("kind == 'a'", ("kind == 'a'",)),
        ("kind in ('a', 'b')", ("kind in ('a', 'b')",)),
        ("kind in (1, 2)", ()),
        ("elsewhere", ()),
    ],
)
def test_what_a_function_within_asks_of_the_one_around_it(
    tmp_path: Path, test: str, condition: tuple[str, ...]
) -> None:
    [found] = linted(tmp_path, AROUND.replace("TEST", test))
    assert (found.code, found.when, found.note) == ("PTB103", condition, "")


OF_METHODS = """
import torch
from elsewhere import machine

class Layer(torch.nn.Module):
    def __init__(self, fast):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        INIT

    def choose(self, fast):
        if machine.is_old():
            return self.slow
        return self.quick

    def pick(self, fast):
        return self.quick if fast else self.slow

    def forward(self, x: torch.Tensor):
        return self.run(x)

    def quick(self, x):
        return self.inner(x)

    def slow(self, x):
        return x * x.max().item()
"""


@pytest.mark.parametrize(
    ("init", "condition"),
    [
        ("self.run = self.quick if fast else self.slow", ("not fast",)),
        ("self.run = self.quick\n        if not fast: self.run = self.slow", ("not fast",)),
        # what is asked is no option: which method it is
        ("self.run = self.choose(fast)", ("self.run == self.slow",)),
        ("self.run = self.pick(fast)", ("self.run == self.slow",)),
        # no other one
        ("self.run = self.slow", ()),
        ("self.run = self.slow if fast else self.slow", ()),
    ],
)
def test_an_attribute_that_is_one_of_several_methods(
    tmp_path: Path, init: str, condition: tuple[str, ...]
) -> None:
    [found] = linted(tmp_path, OF_METHODS.replace("INIT", init))
    assert (found.code, found.when, found.note) == ("PTB103", condition, "")


MANY = "".join(f"A{i} = ({', '.join([f'A{i + 1}'] * 60)},)\n" for i in range(5)) + "A5 = 1\n"


@pytest.mark.parametrize(
    "test",
    ["int(float('inf')) > x", "[0] * 3_000_000_000 == x", "'a' * 99999999999999999999 == x", "A0 == x"],
)
def test_what_would_take_too_much_is_not_computed(tmp_path: Path, test: str) -> None:
    """Of the project's constants: the lists would take 23 GB, the tuples a billion steps."""
    (tmp_path / "m.py").write_text(
        f"import torch\n{MANY}\n@torch.compile\ndef f(x):\n    if {test}:\n        print(1)\n    return x\n"
    )
    found = lint([str(tmp_path / "m.py")])
    assert found.problems == []
    assert "PTB101" in {one.code for one in found.findings}


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        ("self.training or n > 1", ("not self.training", "n <= 1")),
        ("n >= 2", ("n < 2",)),
        ("n != 1", ("n == 1",)),
        ("n > 2", ()),
        ("n == 1", ()),
    ],
)
def test_a_batch_of_one(tmp_path: Path, test: str, conditions: tuple[str, ...]) -> None:
    body = f"n = x.shape[0]\nif {test}:\n    x = x + 1\nelse:\n    x = x * x.sum().item()\nreturn x"
    [(found, _)] = when(tmp_path, body)
    assert found == conditions


def test_what_getattr_found_is_asked_as_the_attribute() -> None:
    code = """
import torch
from torch import nn

class M(nn.Linear):
    def forward(self, graph, batch: torch.Tensor):
        x = super().forward(graph.x)
        n = getattr(graph, "n", None)
        if n is None:
            n = batch.max().item() + 1
        return x * n
"""
    assert [f.when for f in findings(code) if f.code == "PTB103"] == [("graph.n is None",)]


def test_what_an_object_is_made_of_and_moved_may_be_a_module() -> None:
    code = """
import torch
from torch import nn

class M(nn.Linear):
    def __init__(self, device, scaler=None, scale=None):
        super().__init__(3, 3)
        self.scaler = scaler.to(device)
        self.scale = scale.unsqueeze(0)

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        if self.scaler:
            x = x * 2
        if self.scale:
            x = x * 3
        return x
"""
    assert [f.line for f in findings(code) if f.code == "PTB110"] == [15]


def test_what_may_be_scripted_or_not_is_no_script() -> None:
    code = """
import torch
from torch import nn

SCRIPTS = []

def perhaps(module):
    if SCRIPTS:
        return torch.jit.script(module)
    return module

class Part(nn.Module):
    def forward(self, x: torch.Tensor):
        return x * x.max().item()

class M(nn.Linear):
    def __init__(self, given: nn.Module):
        super().__init__(3, 3)
        self.one = perhaps(Part())
        self.other = torch.jit.script(Part())
        self.given = perhaps(given)

    def forward(self, x: torch.Tensor):
        x = super().forward(x)
        x = self.one(x)
        return self.given(self.other(x))
"""
    found = [(f.code, f.line) for f in findings(code) if f.code.startswith("PTB")]
    assert found == [("PTB103", 14), ("PTB185", 26)]


def test_what_holds_on_one_of_several_ways_is_said_once_each() -> None:
    ways = [(guards.Guard(f"isinstance(x, {name})", guards.ARGUMENT),) for name in "ABCDEFGH"]
    held = guards.common(ways[0], ways[1])
    assert [g.text for g in held] == ["isinstance(x, A) or isinstance(x, B)"]
    assert guards.common(held, ways[1]) == guards.common(ways[1], held) == held
    for way in ways:  # so long a list says nothing
        held = guards.common(held, way)
    assert held == ()


def test_what_still_holds_only_gets_less() -> None:
    a = (Guard("x", guards.ARGUMENT), Guard("off", guards.OFF), Guard("y", guards.GIVEN))
    b = (Guard("x", guards.ARGUMENT), Guard("", guards.ONCE))
    held = guards.still_held(a, b)
    # Each seldom runs, for a reason of its own.
    assert held == (Guard("x", guards.ARGUMENT), Guard("", guards.OFF))
    assert guards.still_held(held, b) == guards.still_held(held, a) == held
    assert guards.still_held(held, ()) == ()


def test_conditions_that_grow_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is made of two ways: going round functions that call each other ends, and keeps what surely holds."""
    code = """
import torch

def f(x, n):
    if n is not None:
        return g(x, n)
    return x

def g(x, n):
    if isinstance(n, int):
        return f(x, n)
    return x.sum().item()

@torch.compile
def root(x, n):
    return f(x, n) + g(x, n)
"""

    def growing(a: guards.Path, b: guards.Path) -> guards.Path:
        return (*guards.common(a, b), Guard(f"{len(a)} more", guards.ARGUMENT))

    before = [(f.code, f.line) for f in findings(code)]
    monkeypatch.setattr(contexts, "common", growing)
    assert [(f.code, f.line) for f in findings(code)] == before != []


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("if 0 < self.bits < 16:", ("self.bits < 16",)),
        ("if self.bits >= 16:\n            return x\n        else:", ("self.bits < 16",)),
        ("if self.bits >= 16:", ()),
        ("if self.bits > limit:", ()),
    ],
)
def test_a_number_is_another_one_than_by_default(test: str, condition: tuple[str, ...]) -> None:
    code = f"""
import torch
from torch import nn

class M(nn.Module):
    def __init__(self, bits=16):
        super().__init__()
        self.bits = bits
        self.layer = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, limit: int):
        x = self.layer(x)
        {test}
            x = x * x.sum().item()
        return self.layer(x)

def build(options):
    return M(options.bits)
"""
    assert [f.when for f in findings(code) if f.code == "PTB103"] == [condition]


KEPT_UNDER = """
import torch
from torch import nn

class M(nn.Module):
    def __init__(self, config, bounded, rate=0.0, low=None):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.bounded = bounded
        self.free = config.free
        {init}

    def forward(self, x: torch.Tensor, low=None):
        if low is None and hasattr(self, "low"):
            low = self.low
        return self.above(self.layer(x), low)

    def above(self, x, low):
        return x + 1 if low is not None and low > 0.5 else self.layer(x)
"""
BUFFER = 'self.register_buffer("low", torch.tensor(0.5))'


@pytest.mark.parametrize(
    ("init", "condition"),
    [
        (f"if config.low:\n            {BUFFER}", ["config.low"]),
        (f"if self.free:\n            {BUFFER}", ["self.free"]),
        (f"if bounded:\n            {BUFFER}", ["self.bounded"]),
        (f"if not bounded:\n            pass\n        else:\n            {BUFFER}", ["self.bounded"]),
        (f"if rate > 0:\n            {BUFFER}", ["rate > 0"]),
        (f"if bounded:\n            {BUFFER}\n        else:\n            self.low = None", ["self.bounded"]),
        (
            "self.low = 0\n        if bounded:\n            self.low = torch.tensor(0.5)",
            ["self.bounded"],
        ),
        # a tensor either way, or whatever the options are
        (f"{BUFFER}", []),
        (f"if bounded:\n            {BUFFER}\n        else:\n            self.low = torch.ones(())", []),
        ("self.low = config.low\n        if bounded:\n            self.low = torch.tensor(0.5)", []),
        (
            "if low is None:\n            self.low = torch.ones(())\n        else:\n            self.low = low",
            [],
        ),
        ("if torch.cuda.is_available():\n            self.low = torch.ones(())", []),
        ("if bounded:\n            self.low = torch.ones(())\n        self.low = torch.zeros(())", []),
    ],
)
def test_a_tensor_that_init_keeps_under_an_option_needs_that(init: str, condition: list[str]) -> None:
    """Wherever it is handed to."""
    found = [f for f in findings(KEPT_UNDER.format(init=init)) if f.code == "PTB110"]
    assert [f.when for f in found] == [("low is not None", *condition)]


def test_the_way_that_is_shown_needs_what_is_told_alone() -> None:
    code = """
import torch
from torch import nn

def pick(x, mask, other=None):
    return x[mask > 0]

class Inner(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(n)])

    def forward(self, x: torch.Tensor, mask: torch.Tensor, picks: bool):
        if picks:
            for layer in self.layers:
                x = pick(x + 1, mask, x)
        return x

class Outer(nn.Linear):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return pick(super().forward(x), mask) + 1
"""
    [found] = [f for f in findings(code) if f.code == "PTB120"]
    assert found.when == ()
    assert "Outer" in found.flow[0].message


def test_one_of_several_functions_that_take_other_arguments() -> None:
    code = """
import torch
from torch import nn
import torch.nn.functional as F

class M(nn.Module):
    def __init__(self, layer):
        super().__init__()
        if isinstance(layer, nn.Linear):
            self.op = F.linear
            self.options = {}
        elif isinstance(layer, nn.GroupNorm):
            self.op = F.group_norm
            self.options = {"num_groups": layer.num_groups}
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: torch.Tensor):
        return self.op(x + 1, self.weight * 2, None, **self.options)
"""
    assert [f for f in findings(code) if f.confidence == "high"] == []
    # one function, or what stands in for it where its library is missing
    code = """
import torch

def missing(*args):
    raise ImportError("scipy")

try:
    from scipy.ndimage import label
except ImportError:
    label = missing

@torch.compile
def f(x):
    return x + label(x)[0]
"""
    assert [(f.code, f.confidence) for f in findings(code) if f.code == "PTB185"] == [("PTB185", "high")]


CHOSEN_BY_A_FLAG = """
import torch
from torch import nn
from fast import Fused

class Slow(nn.Module):
    def forward(self, x: torch.Tensor, most=None):
        if most is not None and most > 2:
            x = x / 2
        return x + 3

class M(nn.Module):
    def __init__(self, n, config, kind):
        super().__init__()
        self.inner = nn.Linear(n, n)
        self.kind = kind
        self.fast = config.fast
        if {test}:
            self.act = Fused()
        else:
            self.act = Slow()

    def forward(self, x: torch.Tensor):
        x = self.inner(x + 1)
        if {asked}:
            x = self.act(x, {given})
        return self.inner(x)
"""


@pytest.mark.parametrize(
    ("test", "asked", "given", "told"),
    [
        ("config.fast", "not self.fast", "x.max()", True),
        ("config.fast", "self.fast", "x.max()", False),  # it is the other one then
        ('kind == "fast"', 'self.kind != "fast"', "x.max()", True),
        ('kind == "fast"', 'self.kind == "fast"', "x.max()", False),
        ("config.fast", "x.shape[0] > 1", "most=x.max()", True),
        ("config.fast", "x.shape[0] > 1", "most=x.max(), width=2", False),  # which this one does not take
    ],
)
def test_a_part_that_is_not_there_where_it_is_called(test: str, asked: str, given: str, told: bool) -> None:
    twice = CHOSEN_BY_A_FLAG.format(test=test, asked=asked, given=given)
    other = twice[twice.index("class M") :].replace("class M", "class Other")
    found = [f for f in findings(f"{twice}\n\n{other}") if f.code == "PTB110" and f.confidence == "high"]
    assert bool(found) is told


OF_OTHERS = """
import torch
from torch import nn
from engine import Batch, Session

class Pool:
    def __init__(self, path):
        self.path = path

class M(nn.Module):
    def __init__(self, path, kind, fast=False):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.part = Session(path)
        if kind == "batch":
            self.norm = nn.BatchNorm1d(2)
        else:
            self.norm = kind
        if fast:
            self.load(path)

    def load(self, path):
        self.part = Pool(path)

    def choose(self, name):
        if name is None:
            return []
        chosen = []
        for each in name:
            chosen.append(each)
        return chosen

    def every(self):
        return [self.inner, self.inner]

    def forward(self, x: torch.Tensor, meta, kind=None, name=None, flag=False):
        if kind == "a":
            on = self.training
            either = True
        else:
            on = False
            either = self.training
        parts, asked = Batch.made(meta)
        other = Batch.more(meta)
        twice = Batch.more(meta)
        twice = twice or other
        chosen = self.choose(name)
        all = self.every()
        flag = self.training
        x = self.inner(x)
        if {test}:
            x = x * x.sum().item()
        return self.inner(x)
"""


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        # what another library answers
        ("asked", ("asked",)),
        ("not asked", ("not asked",)),
        ("other", ("other",)),
        ("twice", ()),
        # a part that a method may exchange
        ("isinstance(self.part, Session)", ("isinstance(self.part, Session)",)),
        ("not isinstance(self.part, Session)", ("not isinstance(self.part, Session)",)),
        # where the tensors are
        ("x.is_cuda", ("x.is_cuda",)),
        ("torch.cuda.is_available()", ()),
        ("not x.is_cuda", ("not x.is_cuda",)),
        ("not torch.cuda.is_available()", ("not torch.cuda.is_available()",)),
        (
            "not (torch.cuda.is_available() and x.is_cuda)",
            ("not (torch.cuda.is_available() and x.is_cuda)",),
        ),
        ("not meta.is_cuda", ("not meta.is_cuda",)),
        # whether gradients are wanted of what others hold
        ("meta.data['d'].requires_grad", ("meta.data['d'].requires_grad",)),
        ("not x.requires_grad", ("not x.requires_grad",)),
        # how many a method of the object finds, and of which kind a part is
        ("len(chosen) == 0", ("len(chosen) == 0",)),
        ("not chosen", ("not chosen",)),
        ("len(chosen) > 0", ()),
        ("not all", ()),
        ("type(self.norm) == str", ("type(self.norm) == str",)),
        ("not (type(self.norm) != str)", ("type(self.norm) == str",)),
        ("type(self.norm) != str", ()),
        # what is on in one of two branches, and what an argument was
        ("on", ("kind == 'a'", "self.training")),
        ("not on", ()),
        ("either", ()),
        ("flag", ("self.training",)),
    ],
)
def test_what_others_answer(test: str, conditions: tuple[str, ...]) -> None:
    [found] = [f for f in findings(OF_OTHERS.format(test=test)) if f.code == "PTB103"]
    assert found.when == conditions


def test_a_size_is_no_number_below_zero() -> None:
    code = """
import torch
from torch import nn

def count(t: torch.Tensor, n: int = -1):
    if n == -1:
        n = int(t.max() + 1)
    return t * n

class M(nn.Module):
    def forward(self, x: torch.Tensor, t: torch.Tensor):
        return x * count(t + 1, {n})
"""
    assert [f.code for f in findings(code.format(n="x.shape[1]"))] == []
    assert "PTB104" in [f.code for f in findings(code.format(n="-1"))]


def test_that_gradients_are_not_kept_track_of_is_told() -> None:
    code = """
import torch
from torch import nn

class M(nn.Module):
    def forward(self, x: torch.Tensor):
        x = x + 1
        if {test}:
            x = x / 2
        return x * 3
"""
    for test, when in (
        ("not torch.is_grad_enabled() and x.max() > 2", ("not torch.is_grad_enabled()",)),
        ("torch.is_grad_enabled() and x.max() > 2", ("torch.is_grad_enabled()",)),
        ("torch._C._is_tracing() and x.max() > 2", None),
    ):
        found = [f.when for f in findings(code.format(test=test)) if f.code == "PTB110"]
        assert found == ([] if when is None else [when])


@pytest.mark.parametrize(
    ("body", "conditions"),
    [
        ("if opt is not None:\n    n = opt[0]\nx = torch.arange(n)", ("opt is not None",)),
        ("if opt is not None:\n    n = opt[0]\nx = torch.arange(n + x.shape[0])", ("opt is not None",)),
        ("if opt is None:\n    n = 3\nelse:\n    n = opt[0]\nx = torch.arange(n)", ("opt is not None",)),
        ("if self.flag:\n    n = x[0]\nx = torch.arange(n)", ("self.flag",)),
        (
            "if self.flag:\n    n = x[0]\nif opt is not None:\n    x = torch.arange(n)",
            ("opt is not None", "self.flag"),
        ),
        ("n = x[0] if self.flag else 0\nx = torch.arange(n)", ("self.flag",)),
        ("x = torch.arange(n if opt is None else opt[0] + 1)", ("opt is not None",)),
        ("n = x[0] if self.flag else x[1]\nx = torch.arange(n)", ()),
        (
            "if self.flag:\n    n = x.int()\nelse:\n    n = [1] * 3\nk = 0\n"
            "for i in n:\n    x = x[k : k + i] + 1\n    k += i",
            ("self.flag",),
        ),
        # where it is a tensor in either case, or is one by then
        ("if self.flag:\n    n = x[0]\nelse:\n    n = x[1]\nx = torch.arange(n)", ()),
        ("if self.flag:\n    n = x[0]\nx = torch.arange(n + x[1])", ()),
        ("if self.flag:\n    n = x[0]\nn = x[1]\nx = torch.arange(n)", ()),
    ],
)
def test_what_is_a_tensor_under_a_condition(body: str, conditions: tuple[str, ...]) -> None:
    code = f"""
import torch
from torch import nn

class M(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.flag = flag

    def forward(self, x: torch.Tensor, opt: torch.Tensor | None):
        n = 0
{textwrap.indent(body, " " * 8)}
        return x
"""
    assert [f.when for f in findings(code) if f.code == "PTB106"] == [conditions]


HELD = """
import torch

def told(x):
    print("told")
    return x

class Part(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.run = self.slow
        for name in table:
            self.run = self.fast

    def forward(self, x):
        return self.run(x)

    def fast(self, x):
        return told(x)

    def slow(self, x):
        return told(x) * 3
"""
HOLDING = """
import torch
from other import Part

class M(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.part = Part(table)

    def forward(self, x: torch.Tensor):
        return self.part(x) + 1
"""


def test_what_either_of_two_methods_of_another_file_leads_to(tmp_path: Path) -> None:
    """Of code that is not linted it is told once, at the call, and so under neither's condition."""
    (tmp_path / "other.py").write_text(HELD)
    (tmp_path / "m.py").write_text(HOLDING)
    found = lint([str(tmp_path / "m.py")]).findings
    assert [(f.code, f.line, f.when) for f in found] == [("PTB101", 11, ())]


WAYS = """
import torch

def told(x):
    print("told")
    return x

class Part(torch.nn.Module):
    def __init__(self, fast: bool):
        super().__init__()
        self.fast = fast

    def forward(self, x):
{body}
"""


@pytest.mark.parametrize(
    ("body", "when"),
    [
        ("if self.fast: return told(x)\n        return told(x * 3)", ()),
        ("if self.fast: x = told(x)\n        return told(x.long())", ()),
        ("if self.fast: x = told(x)\n        return x * 3", ("self.fast",)),
        ("x = told(x)\n        return told(x) if self.fast else x", ()),
        ('if self.fast: print("fast")\n        return told(x)', ()),
        ('if self.fast: print("fast")\n        return x', ("self.fast",)),
    ],
)
def test_several_ways_to_what_another_file_says(tmp_path: Path, body: str, when: tuple[str, ...]) -> None:
    """What one way needs is no condition where another one does without: Dynamo breaks on each that runs."""
    (tmp_path / "other.py").write_text(WAYS.format(body=f"        {body}"))
    (tmp_path / "m.py").write_text(
        HOLDING.replace("table", "fast: bool").replace("Part(fast: bool)", "Part(fast)")
    )
    found = lint([str(tmp_path / "m.py")]).findings
    assert [(f.code, f.line, f.when) for f in found] == [("PTB101", 11, when)]
