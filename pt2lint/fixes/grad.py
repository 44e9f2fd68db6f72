"""`requires_grad` of a tensor made in the graph: left to eager mode."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import WAY_ROUND, Fix
from pt2lint.fixes.kinds import Kind
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    enclosing_function,
    fix,
    parameters,
    rewrite,
    source,
    statement_of,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The guard around the statement."""
    del kind
    return accepted(only_in_eager(function, node))


def only_in_eager(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t.requires_grad = True` under `if not torch.compiler.is_compiling()`.

    For checkpointing in eager mode: reentrant checkpoints want an input that requires a gradient, those that Dynamo
    traces do not. Refused where the tensor is an argument of the function, whose caller may want its gradient.
    """
    statement = statement_of(function, node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the statement shares its line")
    only = statement.body[0]
    target: cst.BaseExpression
    if isinstance(only, cst.Assign):
        target = only.targets[0].target
    elif isinstance(only, cst.Expr) and isinstance(only.value, cst.Call):
        target = only.value.func
    else:
        return Refusal("the result is used")
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        return Refusal("the tensor has no name")
    name, owner = target.value.value, enclosing_function(function, statement)
    if owner is None or sum(use.binds and use.name == name for use in uses(owner.body)) == 0:
        return Refusal("the tensor is not made in the function")
    given = {param.name.value for param in parameters(owner)}
    bound = min(
        (function.range(use.node)[:2] for use in uses(owner.body) if use.binds and use.name == name),
        default=(0, 0),
    )
    if name in given and bound > function.range(statement)[:2]:
        return Refusal("the tensor is an argument")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    test = f"not {compiling}()"
    block = function.parent(statement)
    around = function.parent(block) if isinstance(block, cst.IndentedBlock) else None
    if (
        isinstance(around, cst.If)
        and around.orelse is None
        and len(block.body) == 1  # type: ignore[union-attr]
        and not isinstance(around.test, cst.IfExp | cst.Lambda)
        and not (isinstance(around.test, cst.BooleanOperation) and isinstance(around.test.operator, cst.Or))
    ):
        joined = cst.parse_expression(f"{source(function, around.test)} and {test}")
        edits = rewrite(function, {around.test: joined})
    else:
        inner = cst.IndentedBlock([statement.with_changes(leading_lines=())])
        guarded = cst.If(cst.parse_expression(test), inner, leading_lines=statement.leading_lines)
        edits = rewrite(function, {statement: guarded})
    return fix(
        f"{WAY_ROUND}: leave it to eager mode. In the graph nothing needs it, unless something asks for the "
        f"gradient of `{name}` itself; results then require a gradient only where parameters or inputs do.",
        (*imports, *edits),
    )
