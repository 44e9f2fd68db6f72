"""`contract` of opt_einsum as `torch.einsum`, which Dynamo traces."""

from __future__ import annotations

import re

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee

_EQUATION = re.compile(r"[a-zA-Z,. ]+(->[a-zA-Z. ]*)?")  # what torch reads, too


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where opt_einsum is called."""
    return accepted(to_einsum(function, node))


def to_einsum(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`contract("bhl,chl->bchl", u, k)` as `torch.einsum("bhl,chl->bchl", u, k)`.

    Of several operands torch takes the order that opt_einsum finds as well, where that is installed.
    """
    if not isinstance(node, cst.Call) or callee(node) != "contract":
        return Refusal("not `contract`")
    if not any(op.detail("name") == "opt_einsum" for op in function.ops_at(node)):
        return Refusal("not opt_einsum's")
    if len(node.args) < 2 or any(given.star or given.keyword is not None for given in node.args):
        return Refusal("not all is given by place")
    equation = node.args[0].value
    said = equation.evaluated_value if isinstance(equation, cst.SimpleString) else None
    if not isinstance(said, str) or not _EQUATION.fullmatch(said):
        return Refusal("the equation is not written out in letters that torch reads")
    name, imports = torch_name(function, "torch.einsum")
    return fix(
        "Use `torch.einsum`, which is traced; of several operands it takes the order that opt_einsum finds. It assumes "
        "that the operands are tensors; the last digits may differ.",
        (*imports, *rewrite(function, {node.func: cst.parse_expression(name)})),
    )
