"""The learning rate of an optimizer as a tensor, so that a scheduler changes a value and not the program."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.rewrite import Refusal, Repaired, accepted, fix, qualified, rewrite, source, torch_name
from pt2lint.rule import FunctionCode

# The default of `lr` in torch.optim: the signatures of torch 2.13.
DEFAULTS = {
    "Adadelta": "1.0",
    "Adagrad": "0.01",
    "Adam": "0.001",
    "AdamW": "0.001",
    "Adamax": "0.002",
    "ASGD": "0.01",
    "NAdam": "0.002",
    "RAdam": "0.001",
    "RMSprop": "0.01",
    "Rprop": "0.01",
    "SGD": "0.001",
}


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The learning rate of the optimizer that the call makes, as a tensor."""
    return accepted(to_tensor(function, node, kind)) if isinstance(node, cst.Call) else ()


def to_tensor(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`Adam(params, lr=1e-3)` as `Adam(params, lr=torch.tensor(1e-3))`.

    Refused where the rate is a tensor already, for optimizers that torch.optim does not have, with starred
    arguments, and with `foreach=True` but not `capturable=True`, which torch forbids. Unsafe: the rate has
    single precision; groups of parameters with a rate of their own keep it.
    """
    kind = kind or guess(function)
    name = (qualified(function, node.func) or "").rpartition(".")
    if not name[0].startswith("torch.optim") or name[2] not in DEFAULTS:
        return Refusal("not an optimizer of torch.optim that takes a tensor")
    if any(arg.star for arg in node.args):
        return Refusal("starred arguments may hold the rate")
    given = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
    if _is(given.get("foreach"), "True") and not _is(given.get("capturable"), "True"):
        return Refusal("torch takes no tensor with foreach=True unless capturable=True")
    positional = [arg for arg in node.args if arg.keyword is None]
    rate = given.get("lr") or (positional[1].value if len(positional) > 1 else None)
    tensor, imports = torch_name(function, "torch.tensor")
    if rate is not None:
        if kind(rate).startswith("tensor"):
            return Refusal("the rate is a tensor")
        text = f"{tensor}({source(function, rate)})"
        edits = rewrite(function, {rate: cst.parse_expression(text)})
    else:
        added = cst.Arg(
            keyword=cst.Name("lr"),
            value=cst.parse_expression(f"{tensor}({DEFAULTS[name[2]]})"),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        args = [*node.args]
        if args and not isinstance(args[-1].comma, cst.Comma):
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            args[-1] = args[-1].with_changes(comma=comma)
        edits = rewrite(function, {node: node.with_changes(args=[*args, added])})
    return fix(
        "Give the learning rate as a tensor, so that a new value needs no new code. It then has single "
        "precision.",
        (*imports, *edits),
    )


def _is(node: cst.BaseExpression | None, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
