"""The house as docs/architecture.md shows it: which way imports go, and what stands alone."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from pt2lint.libraries import NO_LIBRARY, known, load
from pt2lint.op import Op
from pt2lint.static.interpret import Interpreter
from pt2lint.static.interpreter.events import EVENTS
from pt2lint.static.observers import EVERY
from pt2lint.static.source.project import Project
from tests.files import loaded

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "pt2lint" / "static"
architecture = loaded(ROOT / "tools" / "architecture.py")

MOST = 12


def imports_of(box: str) -> set[str]:
    return {b for a, b in architecture.arrows() if a == box} - {"data"}


def test_the_picture_is_what_the_imports_say() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert architecture.picture() in page, "run python tools/architecture.py"


@pytest.mark.parametrize(
    ("box", "may"),
    [
        ("static.source", set()),
        ("static.values", set()),
        ("libraries", {"static.values"}),
        ("static.interpreter", {"libraries", "static.source", "static.values"}),
        ("static.observers", {"libraries", "static.interpreter", "static.source", "static.values"}),
        ("rules", {"rule", "fixes"}),
    ],
)
def test_the_inner_rooms_know_nothing_of_the_outer_ones(box: str, may: set[str]) -> None:
    assert imports_of(box) <= may


def test_static_dynamic_and_report_are_apart() -> None:
    inside = {
        "static",
        "static.interpreter",
        "static.observers",
        "static.source",
        "static.values",
        "libraries",
    }
    assert not {(a, b) for a, b in architecture.arrows() if a in inside and b in ("dynamic", "report", "cli")}
    assert not {(a, b) for a, b in architecture.arrows() if a in ("dynamic", "report") and b in inside}
    assert "dynamic" not in imports_of("report")
    assert not {a for a, b in architecture.arrows() if b == "cli"} - {"check"}


def test_the_interpreter_and_observers_import_no_library_directly() -> None:
    for name, path in architecture.modules():
        if name.startswith(("pt2lint.static.interpreter", "pt2lint.static.observers")):
            taken = {
                m.split(".")[2] for m in architecture.imported(path) if m.startswith("pt2lint.libraries.")
            }
            assert taken <= {"call", "model"}, name


def test_no_observer_knows_another() -> None:
    for make in EVERY:
        path = Path(sys.modules[make.__module__].__file__ or "")
        others = {other.__module__ for other in EVERY if other is not make}
        assert not [m for m in architecture.imported(path) if m.rpartition(".")[0] in others]


TOPS = {library.name.split(".")[0] for library in known()} - {"builtins"} | {"torch", "numpy", "lightning"}
NAMED = re.compile(rf"\b({'|'.join(sorted(TOPS))})\.\w")


@pytest.mark.parametrize("folder", ["interpreter", "values", "observers"])
def test_no_library_is_named(folder: str) -> None:
    """In code, that is: comments and docstrings say what Dynamo does with torch."""
    for path in (STATIC / folder).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {
            id(n.value)
            for n in ast.walk(tree)
            if isinstance(n, ast.Expr)
            and isinstance(n.value, ast.Constant)
            and isinstance(n.value.value, str)
        }
        if path.name == "events.py":
            docs |= {id(n) for n in ast.walk(tree) if isinstance(n, ast.Constant) and "(" in str(n.value)}
        texts = [
            n.value
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
        ]
        assert [t for t in texts if NAMED.search(t)] == [], path


def attributes(cls: ast.ClassDef) -> set[str]:
    return {
        node.attr
        for node in ast.walk(cls)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def test_no_class_has_more_than_a_dozen_attributes_or_calls_what_a_subclass_brings() -> None:
    for folder in ("interpreter", "observers"):
        for path in (STATIC / folder).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "NotImplementedError" not in text
            for node in ast.walk(ast.parse(text)):
                # A frame is the record of one call, as plain as a dictionary; Events has one attribute an event.
                if isinstance(node, ast.ClassDef) and node.name not in ("Frame", "Events"):
                    assert len(attributes(node)) <= MOST, f"{path.name}: {node.name}"


def test_every_module_says_first_what_it_is_for() -> None:
    for name, path in architecture.modules():
        if not name.startswith("pt2lint.rules"):
            assert path.read_text(encoding="utf-8").startswith('"""'), name


def test_parameters_that_go_by_place_alone_are_never_forgotten() -> None:
    """`def forward(self, x, /)`: who lists the others lists them as well."""
    others = {"args": "posonlyargs", "params": "posonly_params"}
    for path in [*(ROOT / "pt2lint").rglob("*.py"), *(ROOT / "rules").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        if not any(f".{word}.{word}" in text for word in others):
            continue
        tree = ast.parse(text)
        together: dict[ast.AST, str] = {}  # what stands in a list with it, or replaces these alone
        for whole in ast.walk(tree):
            if isinstance(whole, (ast.List, ast.Tuple)):
                together |= dict.fromkeys(ast.walk(whole), ast.unparse(whole))
        changed = {part for n in ast.walk(tree) if isinstance(n, ast.keyword) for part in ast.walk(n)}
        for node in {n for n in ast.walk(tree) if isinstance(n, ast.Attribute)} - changed:
            inner = node.value
            if node.attr in others and isinstance(inner, ast.Attribute) and inner.attr == node.attr:
                assert others[node.attr] in together.get(node, ""), f"{path.name}:{node.lineno}"


def test_every_file_of_libraries_is_one() -> None:
    files = {p.stem for p in (ROOT / "pt2lint" / "libraries").glob("*.py")} - {"__init__", *NO_LIBRARY}
    assert len(files) <= len(known())


CODE = """
import functools, random
import numpy as np
import torch
from torch import nn

@functools.lru_cache
def noise(n):
    return random.random()

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.step = 0
        self.kept = None
    @torch.no_grad()
    @staticmethod
    def scaled(x):
        return x * 2
    def forward(self, x):
        self.step += 1
        checked.ran = True
        x = M.scaled(x)
        if self.kept is None:
            self.kept = torch.ones(4)
        noise(2)
        return self.lin(x) if x.sum() > 0 else x
    def encode(self, x):
        return self.forward(x)

def checked(given):
    return type(given) is M

model = M()
other = torch.compile(model)
other(torch.ones(2, 4))
other.forward(torch.ones(2, 4))
model.lin.register_forward_hook(print)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.step()
model.step = 3

class Numbered(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x, at: int = 1):
        try:
            seen = self.seen
        except AttributeError:
            seen = self.seen = x
        none = [0] * x.shape[0]
        return x[:, at] + self.index

blocks = [torch.compile(Numbered(i)) for i in range(3)]
model.lin.requires_grad_(False)

def evaluate(module, x):
    return module(x)

evaluate(model, torch.ones(2, 4))

class Config(dict):
    __getattr__ = dict.get

config = Config(rate=2)

KEPT = []

def keep(x):
    KEPT[0] = x
    return x

@torch.compile
def kept(x):
    return torch.utils.checkpoint.checkpoint(keep, x)

@torch.compile
def scaled(x):
    return x * config.rate

@torch.library.custom_op("architecture::fill", mutates_args=("out",))
def fill(out: torch.Tensor) -> None:
    out.zero_()

@torch.compile
def given(x):
    parts = [torch.ones(3)]
    assert parts
    parts.append(x.sum())
    return x
def by_row(x: torch.Tensor, rows: np.ndarray):
    return x * {1: 2.0}[rows[0]]

@torch.compile
class Uncalled:
    early = torch.compiler.is_compiling()
    late = torch.compile.is_compiling
"""
# What each observer alone writes down of that.
ALONE = {
    "Lifecycle": set(),  # it adds to what is noted of the optimizer
    "ArrayKeys": {"key array"},
    "CallersLoops": set(),  # it adds to what is noted of calls
    "CompiledReads": {"attribute of compiled"},
    "CompiledCalls": {"call compiled"},
    "SetOutside": {"set attribute of compiled"},
    "GivenOptions": set(),  # it notes more of what another one does, too
    "ChangingState": {"change attribute"},
    "Misuse": {"late hook"},
    "CachedFunctions": {"call cached"},
    "OwnForward": {"forward of compiled"},
    "MethodKinds": {"call decorated static method"},
    "OfFunctions": {"set attribute of function"},
    "KeptState": {"fill cache"},
    "FixedSizes": {"fix size"},
    "DecidingNumbers": {"decide by number"},
    "Ways": {"call another way"},
    "Steps": set(),  # it adds to what is noted of the steps
    "GivenModules": {"type of given"},
    "CutNames": set(),  # it hears of files that know of the prefix, which others leave alone
    "NumberedBlocks": {"compile block"},
    "SaidElsewhere": set(),  # it hears of files that are not linted
    "Unfrozen": {"unfreeze"},
    "UntracedObjects": {"untraced object"},
    "Operators": {"define operator"},
    "CompiledClasses": {"compile class"},
    "EarlyQuestions": {"ask early"},
    "MissingNames": {"missing name"},
    "OuterChanges": {"change outside"},
    "MissedAttributes": {"miss attribute"},
    "Bypassed": {"call uncompiled"},
    "AssertedObjects": {"assert object"},
    "WaitingMethods": {"wait for argument"},
    "Threads": set(),  # it adds to what is noted of settings
    "Redrawn": set(),  # so does it
}
WANTED = frozenset({"test tensor", "call torch.optim.SGD"}.union(*ALONE.values()))


def operations(observers: list) -> list[Op]:
    project = Project({"m.py": CODE}, ["m.py"])
    interpreter = Interpreter(project, WANTED, WANTED, load(), observers)
    interpreter.run(project.load("m.py"))
    return [op for unit in interpreter.finished_notes()["m.py"].values() for op in unit]


def test_all_together() -> None:
    assert {op.name for op in operations(list(EVERY))} == WANTED


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_each_observer_can_be_left_out_alone(make) -> None:
    rest = operations([other for other in EVERY if other is not make])
    assert {op.name for op in rest} == WANTED - ALONE[make.__name__]
    assert any(op.uses for op in rest) is (make.__name__ != "Lifecycle")


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_each_observer_works_alone(make) -> None:
    assert any(hasattr(make, event) for event in EVENTS)
    found = operations([make])
    assert {op.name for op in found} == {"test tensor", "call torch.optim.SGD"} | ALONE[make.__name__]
    assert any(op.uses for op in found) is (make.__name__ == "Lifecycle")
