"""A function of torch by the name of the one that asks the same, and that Dynamo traces: the public one, or a newer."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.rule import FunctionCode

PUBLIC = {
    "torch._C._is_tracing": ("torch.jit.is_tracing", ""),
    "torch.get_autocast_cpu_dtype": ("torch.get_autocast_dtype", '"cpu"'),
}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    return accepted(by_public_name(function, node))


def by_public_name(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch._C._is_tracing()` as `torch.jit.is_tracing()`, `torch.get_autocast_cpu_dtype()` as
    `torch.get_autocast_dtype("cpu")`."""
    name = qualified(function, node.func) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or name not in PUBLIC or node.args:
        return Refusal("not a function that has another one beside it")
    other, given = PUBLIC[name]
    spelled, imports = torch_name(function, other)
    return fix(
        f"Ask `{other}({given})`, which answers the same and is traced.",
        (*imports, *rewrite(function, {node: cst.parse_expression(f"{spelled}({given})")})),
    )
