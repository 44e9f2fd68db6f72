"""Settings of torch._dynamo as fixes: the code stays, the compiler is told to trace it.

They hold for the whole process, and are made once: where something is compiled. In any other file they are
told, and not written. They are offered after every repair.
"""

from __future__ import annotations

from collections.abc import Sequence

from pt2lint.finding import Edit, Trait
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.repaired import Repaired, fix
from pt2lint.rule import FunctionCode


def setting(
    function: FunctionCode, statement: str, description: str, *traits: Trait, imports: Sequence[Edit] = ()
) -> Repaired:
    """The fix that adds `torch._dynamo.config.` + `statement` after the file's imports; told where that is not the
    place for it."""
    file = file_of(function)
    line = file.after_imports
    config, added = torch_name(function, "torch._dynamo.config", line)
    blank = file.blank_from(line)
    made = file.lines[line + blank - 1 : line + blank]
    if made and made[0].startswith(f"{config}."):  # beside the settings that are there
        edit = Edit(function.path, line + blank, 1, line + blank, 1, f"{config}.{statement}\n")
    else:
        after = "" if blank else "\n"
        edit = Edit(function.path, line, 1, line, 1, f"\n{config}.{statement}\n{after}")
    edits = (*imports, *added, edit)
    where = ""
    if not file.may_set:
        where = f" Write `torch._dynamo.config.{statement}` once, where the program starts."
    return fix(f"{description}{where}", edits, "setting", *traits, by_hand=bool(where))


def capture_scalars(function: FunctionCode) -> Repaired:
    """Numbers read out of tensors stay in the graph as symbols; they cannot decide a branch."""
    return setting(
        function, "capture_scalar_outputs = True", "let Dynamo keep numbers read out of tensors in the graph."
    )


def capture_shapes(function: FunctionCode) -> Repaired:
    """Results whose shape depends on values stay in the graph, with a symbol for the size."""
    return setting(
        function,
        "capture_dynamic_output_shape_ops = True",
        "let Dynamo keep tensors whose shape depends on values in the graph.",
    )
