"""Settings of torch._dynamo as fixes: the code stays, the compiler is told to trace it.

They hold for the whole process. They are offered after every repair.
"""

from __future__ import annotations

from pt2lint.finding import WAY_ROUND, Edit, Fix
from pt2lint.fixes.rewrite import fix, torch_name
from pt2lint.rule import FunctionCode


def setting(function: FunctionCode, statement: str, description: str, *imports: Edit) -> Fix:
    """The fix that adds `torch._dynamo.config.` + `statement` after the file's imports."""
    config, added = torch_name(function, "torch._dynamo.config")
    line = function.import_line
    edits = (*imports, *added, Edit(function.path, line, 1, line, 1, f"\n{config}.{statement}\n"))
    return fix(f"{WAY_ROUND}, a setting for the whole process: {description}", edits)


def capture_scalars(function: FunctionCode) -> Fix:
    """Numbers read out of tensors stay in the graph as symbols; they cannot decide a branch."""
    return setting(
        function,
        "capture_scalar_outputs = True",
        "let Dynamo keep numbers that are read out of tensors in the graph.",
    )


def capture_shapes(function: FunctionCode) -> Fix:
    """Results whose shape depends on values stay in the graph, with a symbol for the size."""
    return setting(
        function,
        "capture_dynamic_output_shape_ops = True",
        "let Dynamo keep tensors whose shape depends on values in the graph.",
    )
