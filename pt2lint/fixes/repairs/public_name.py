"""A private function of torch by the name of the public one that asks the same, and that Dynamo traces."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.rewrite import Refusal, Repaired, accepted, fix, qualified, rewrite, torch_name
from pt2lint.rule import FunctionCode

PUBLIC = {"torch._C._is_tracing": "torch.jit.is_tracing"}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    return accepted(by_public_name(function, node))


def by_public_name(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch._C._is_tracing()` as `torch.jit.is_tracing()`."""
    name = qualified(function, node.func) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or name not in PUBLIC:
        return Refusal("not a function that has a public one beside it")
    spelled, imports = torch_name(function, PUBLIC[name])
    return fix(
        f"Ask `{PUBLIC[name]}`, which answers the same and is traced.",
        (*imports, *rewrite(function, {node.func: cst.parse_expression(spelled)})),
    )
