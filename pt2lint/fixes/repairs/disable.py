"""torch.compiler.disable on the function: a workaround, where nothing else serves."""

from __future__ import annotations

from collections.abc import Container

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.elsewhere import function_at
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import import_edit, qualified, torch_name
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

MODES = (
    "torch.no_grad",
    "torch.enable_grad",
    "torch.inference_mode",
    "torch.autocast",
    "torch.amp.",
    "torch.cuda.amp.",
)
# What says something of a function to the old compiler alone.
_NOTHING = ("torch.jit.ignore", "torch.jit.unused", "torch.jit.export")
# What a whole training does, which nothing that is compiled calls.
_TRAINS = ("call torch.Tensor.backward", "iterate torch.utils.data.DataLoader")
_ROOTS = ("forward", "__call__", "main", "training_step", "__init__")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The decorator, where the function may have it."""
    return accepted(decorate(function, node))


def decorate(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`@torch.compiler.disable` on the function that holds the node.

    Refused for roots (`forward` and what is compiled itself), for nested functions, and where it stands
    already. It does not remove the graph break: it makes one of all those in the function, at its call, and
    keeps what the function does out of the graph.
    """
    owner = enclosing_function(function, node)
    if owner is None or enclosing_function(function, owner) is not None:
        return Refusal("there is no function of its own to disable")
    # What seldom runs compiled, as nobody in sight compiles it, is meant for eager mode.
    compiled = any(len(op.flow) == 1 and not op.rare for op in function.ops_at(node))
    if compiled or owner.name.value in _ROOTS or owner.name.value in file_of(function).compiled_names:
        return Refusal(f"`{owner.name.value}` is where compiling starts: all of it would be left out")
    if any(op.name in _TRAINS and len(op.flow) == 1 for op in function.ops):
        return Refusal(f"`{owner.name.value}` trains, and nothing here that is compiled calls it")
    for name in _decorators(function, owner):
        # Below these, nearest to the function, it says of the function alone what it says without them.
        if name not in ("", "staticmethod", "classmethod", *_NOTHING) and not name.startswith(MODES):
            return Refusal(f"`{name}` decorates the function")
    return _decorated(function, owner)


def last_resort(path: str, text: str, line: int, entries: Container[int] = ()) -> Fix | None:
    """The decorator on the function of the file's top level, or the method, that holds the line, `forward` too, and
    below whatever decorates it: for a module that is called by another one. None for those that begin in a line of
    `entries`, which are compiled themselves. Only a run tells whether anything is compiled then.
    """
    function = function_at(path, text, line)
    if function is None or function.first_line in entries:
        return None
    owner = next((one for one in walk(function.module) if isinstance(one, cst.FunctionDef)), None)
    if owner is None:
        return None
    made = _decorated(function, owner) or _decorated(function, owner, importing=True)
    return made if isinstance(made, Fix) else None


def _decorators(function: FunctionCode, owner: cst.FunctionDef) -> list[str]:
    """The names of what decorates a function, "" for what no import says."""
    targets = [one.decorator for one in owner.decorators]
    return [qualified(function, one.func if isinstance(one, cst.Call) else one) or "" for one in targets]


def _decorated(function: FunctionCode, owner: cst.FunctionDef, importing: bool = False) -> Repaired:
    """`importing`: though the file imports torch under a condition only, or for type checkers."""
    if any(
        ("compile" in name or "jit" in name or "disable" in name) and name not in _NOTHING
        for name in _decorators(function, owner)
    ):
        return Refusal("the function is compiled, or disabled, by a decorator")
    if owner.asynchronous is not None:
        return Refusal("the function is asynchronous")
    line = function.range(owner)[0]
    name, imports = torch_name(function, "torch.compiler.disable", line)
    needs = ""
    if importing:
        name, imports = "torch.compiler.disable", (import_edit(function, "import torch"),)
        needs = "; the file then has to import torch, which it does not always do"
    first = function.text.split("\n")[line - function.first_line]
    while not first.lstrip().startswith("def "):
        line += 1
        first = function.text.split("\n")[line - function.first_line]
    indent = first[: len(first) - len(first.lstrip())]
    edit = Edit(function.path, line, 1, line, 1, f"{indent}@{name}\n")
    return fix(
        f"run `{owner.name.value}` outside the graph. One graph break remains, at its call, "
        f"where pt2lint then reports it{needs}.",
        (*imports, edit),
        "workaround",
        by_hand=True,
    )
