"""`requires_grad` of a tensor made in the graph: only where checkpoints need it, or left to eager mode."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import class_around, method_in
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.kinds import guess, has_no_gradient
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, block_of, enclosing_function, name_in, parameters, statement_of
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import line, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """What starts a sum without asking for its gradient; a tensor detached; the statement where checkpoints need it
    alone; the guard around it."""
    return accepted(
        without_gradient(function, node),
        detached(function, node),
        where_checkpointed(function, node),
        only_in_eager(function, node),
    )


def without_gradient(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`total = torch.zeros(1, requires_grad=True)`, or `=self.training`, without `requires_grad`, where the name only
    starts a sum.

    A sum requires a gradient because of what is added. Refused where the name is not bound again, or its gradient
    is asked for.
    """
    if not isinstance(node, cst.Call):
        return Refusal("no tensor is made here")
    asks = next(
        (
            arg
            for arg in node.args
            if arg.keyword is not None
            and arg.keyword.value == "requires_grad"
            and (is_name(arg.value, "True") or is_mode(arg.value))
        ),
        None,
    )
    target, owner = name_in(function.parent(node)), enclosing_function(function, node)
    if asks is None or owner is None or target is None:
        return Refusal("no name is bound to a tensor that is made to require a gradient")
    again = False
    for use in uses(owner.body):
        if use.name != target.value or use.node is target:
            continue
        if use.binds:
            made = function.parent(function.parent(use.node) or use.node)
            value = made.value if isinstance(made, cst.Assign) else None
            if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Add):
                return Refusal(f"`{use.name}` is more than a sum")
            again = True
        elif isinstance(function.parent(use.node), cst.Attribute):
            return Refusal(f"something is asked of `{use.name}` itself")
    if not again:
        return Refusal("nothing is added to it")
    kept = [arg for arg in node.args if arg is not asks]
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return fix(
        f"Start `{target.value}` without `requires_grad`: the sum requires a gradient where something that is added "
        "does. It assumes that something is.",
        rewrite(function, {node: node.with_changes(args=kept)}),
    )


def is_mode(node: cst.BaseExpression) -> bool:
    """`self.training`, `x.requires_grad`: what may decide whether a gradient is required."""
    return isinstance(node, cst.Attribute) and node.attr.value in ("training", "requires_grad")


@refusing
def detached(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t.requires_grad = False` as `t = t.detach()`: what is computed with it from here on passes no gradient to it."""
    statement, name = _statement(function, node)
    only = statement.body[0]
    if not isinstance(only, cst.Assign) or len(only.targets) > 1 or source(function, only.value) != "False":
        return Refusal("it does not take the gradient away")
    owner = enclosing_function(function, node)
    anew = True
    for use in uses(owner.body) if owner is not None else ():
        if use.name != name:
            continue
        around = function.parent(use.node)
        if not use.binds:
            asked = around.attr.value if isinstance(around, cst.Attribute) else ""
            anew = anew and (around is only.targets[0].target or "requires_grad" not in asked)
            continue
        made = function.parent(around or use.node)
        value = made.value if isinstance(made, cst.Assign) else None
        anew = anew and value is not None and has_no_gradient(function, value, guess(function))
        found_there = isinstance(value, cst.Call) and callee(value) in ("get", "getattr", "pop")
        if found_there or isinstance(value, cst.Name | cst.Attribute | cst.Subscript):
            return Refusal("the tensor may be kept elsewhere, too")
    if anew:
        block = block_of(function, statement)
        alone = block is None or len(block[0]) == 1
        gone: New = statement.with_changes(body=[cst.Pass()]) if alone else None
        return fix(
            f"Leave it out: `{name}` is made here, and requires no gradient. It assumes that nothing written into it "
            "does.",
            rewrite(function, {statement: gone}),
        )
    return fix(
        f"Go on with `{name}` detached. It assumes that nothing goes on with the tensor under another name.",
        rewrite(function, {statement: line(f"{name} = {name}.detach()", statement)}),
    )


@refusing
def where_checkpointed(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t.requires_grad = True` only where the module's own flag says that checkpoints are used.

    Reentrant checkpoints alone want an input that requires a gradient; parameters get theirs without. Refused where the
    class sets no such flag in `__init__`, the test asks for it already, or the tensor is an argument.
    """
    statement, name = _statement(function, node)
    only = statement.body[0]
    if isinstance(only, cst.Assign) and source(function, only.value) != "True":
        return Refusal("it does not ask for a gradient")
    owner = enclosing_function(function, statement)
    params = parameters(owner) if owner is not None else []
    flag = _checkpoint_flag(function)
    if flag is None or not params:
        return Refusal("no flag of the module says whether checkpoints are used")
    test = f"{params[0].name.value}.{flag}"
    around = _plain_if(function, statement)
    if any(
        test in source(function, outer.test)
        for outer in ancestors(function, statement)
        if isinstance(outer, cst.If)
    ):
        return Refusal("the test asks for it already")
    return fix(
        f"Ask for the gradient of `{name}` only where `{test}` says that checkpoints need it; parameters get theirs "
        "without. With checkpoints the graph break stays. It assumes that nothing else asks for that gradient.",
        _under(function, statement, around, test),
    )


def _checkpoint_flag(function: FunctionCode) -> str | None:
    """The attribute of the class that holds the function which its `__init__` sets to False, and by whose name
    checkpoints are meant."""
    init = method_in(class_around(function, function.first_line), "__init__")
    for one in ast.walk(init) if init is not None else ():
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) and one.value.value is False:
            target = one.targets[0]
            if isinstance(target, ast.Attribute) and "checkpoint" in target.attr:
                if isinstance(target.value, ast.Name):
                    return target.attr
    return None


@refusing
def only_in_eager(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t.requires_grad = True` under `if not torch.compiler.is_compiling()`.

    For checkpointing in eager mode: reentrant checkpoints want an input that requires a gradient, those that Dynamo
    traces do not. Refused where the tensor is an argument of the function, whose caller may want its gradient.
    """
    statement, name = _statement(function, node)
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    edits = _under(function, statement, _plain_if(function, statement), f"not {compiling}()")
    return fix(
        "leave it to eager mode. In the graph nothing needs it, unless something asks for the "
        f"gradient of `{name}` itself; results then require a gradient only where parameters or inputs do.",
        (*imports, *edits),
        "workaround",
        "once proven",
    )


def _statement(function: FunctionCode, node: cst.CSTNode) -> tuple[cst.SimpleStatementLine, str]:
    """The statement that asks for the gradient of a tensor made in the function, and the tensor's name."""
    statement = statement_of(function, node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        raise Refused("the statement shares its line")
    only = statement.body[0]
    target: cst.BaseExpression
    if isinstance(only, cst.Assign):
        target = only.targets[0].target
    elif isinstance(only, cst.Expr) and isinstance(only.value, cst.Call):
        target = only.value.func
    else:
        raise Refused("the result is used")
    if not isinstance(target, cst.Attribute) or not isinstance(target.value, cst.Name):
        raise Refused("the tensor has no name")
    name, owner = target.value.value, enclosing_function(function, statement)
    if owner is None or sum(use.binds and use.name == name for use in uses(owner.body)) == 0:
        raise Refused("the tensor is not made in the function")
    if any(use.binds and use.name == name and _goes_through(function, use.node) for use in uses(owner.body)):
        raise Refused("the tensor is one of many, which a module may hold")
    given = {param.name.value for param in parameters(owner)}
    bound = min(
        (function.range(use.node)[:2] for use in uses(owner.body) if use.binds and use.name == name),
        default=(0, 0),
    )
    if name in given and bound > function.range(statement)[:2]:
        raise Refused("the tensor is an argument")
    return statement, name


def _goes_through(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether the name is bound by a `for`, by itself or as one of several."""
    here = function.parent(node)
    while isinstance(here, cst.Element | cst.StarredElement | cst.Tuple | cst.List):
        here = function.parent(here)
    return isinstance(here, cst.For)


def _plain_if(function: FunctionCode, statement: cst.SimpleStatementLine) -> cst.If | None:
    """The `if` without an `else` that holds nothing but the statement, where `and` can be added to its test."""
    block = function.parent(statement)
    around = function.parent(block) if isinstance(block, cst.IndentedBlock) else None
    if (
        isinstance(around, cst.If)
        and around.orelse is None
        and len(block.body) == 1  # type: ignore[union-attr]
        and not isinstance(around.test, cst.IfExp | cst.Lambda)
        and not (isinstance(around.test, cst.BooleanOperation) and isinstance(around.test.operator, cst.Or))
    ):
        return around
    return None


def _under(
    function: FunctionCode, statement: cst.SimpleStatementLine, around: cst.If | None, test: str
) -> tuple[Edit, ...]:
    """The edits that let the statement run only where the test holds as well."""
    if around is not None:
        joined = cst.parse_expression(f"{source(function, around.test)} and {test}")
        return rewrite(function, {around.test: joined})
    inner = cst.IndentedBlock([statement.with_changes(leading_lines=())])
    guarded = cst.If(cst.parse_expression(test), inner, leading_lines=statement.leading_lines)
    return rewrite(function, {statement: guarded})
