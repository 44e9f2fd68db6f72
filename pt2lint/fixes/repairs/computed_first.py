"""Arguments that are computed before the statement in which they stand, each under a name."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.names import fresh, uses
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.repairs.mark_dynamic import indentation
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

WANTED = "value"


def computed_first(function: FunctionCode, call: cst.Call, given: Sequence[cst.Arg]) -> tuple[Fix, ...]:
    """`kept.append(x.item())` as `value = x.item()` and `kept.append(value)`."""
    return accepted(_computed_first(function, call, given))


def _computed_first(function: FunctionCode, call: cst.Call, given: Sequence[cst.Arg]) -> Repaired:
    """Refused where anything but names and constants is evaluated before, or on the way: what then comes first may
    not. An attribute, or a name of the file, may be another by then: unsafe."""
    statement, before = _evaluated_before(function, call)
    if statement is None or len(statement.body) != 1 or not isinstance(call.func, cst.Attribute):
        return Refusal("the call is not evaluated first in a statement of its own")
    small = statement.body[0]
    indent = indentation(function, small)
    if indent is None:
        return Refusal("something stands before it in its line")
    last = call.args.index(given[-1])
    others = [arg.value for arg in call.args[:last] if arg not in given]
    if any(not _is_simple(value) for value in others) or any(arg.star for arg in call.args):
        return Refusal("another argument is computed before it")
    if any(not _is_place(value) for value in (call.func.value, *before)):
        return Refusal("what is called is computed before it")
    if any(isinstance(part, cst.NamedExpr | cst.Await | cst.Yield) for arg in given for part in walk(arg)):
        return Refusal("it does more than to compute a value")
    edits: list[Edit] = []
    made = ""
    used = {use.name for use in uses(function.module)}
    for arg in given:
        first, _, end, _ = function.range(arg.value)
        if first != end or arg.value.lpar:
            return Refusal("it goes over several lines")
        name = arg.keyword.value if arg.keyword is not None else ""
        if not name or name in used or name in function.imports or name in function.functions:
            name = fresh(function, name or WANTED, arg)
        made += f"{name} = {source(function, arg.value)}\n{indent}"
        edits.append(Edit(function.path, *function.range(arg.value), name))
    line, column, _, _ = function.range(small)
    edits.insert(0, Edit(function.path, line, column, line, column, made))
    plain = all(_is_simple(value) for value in (call.func.value, *before))
    return fix("Compute it first, under a name: then nothing waits for it.", edits, safe=plain)


def _evaluated_before(
    function: FunctionCode, call: cst.Call
) -> tuple[cst.SimpleStatementLine | None, list[cst.BaseExpression]]:
    """The statement that begins with the call, and what it evaluates before; None where another part comes first, or
    decides whether the call is made."""
    before: list[cst.BaseExpression] = []
    inner: cst.CSTNode = call
    for outer in ancestors(function, call):
        if isinstance(outer, cst.SimpleStatementLine):
            return outer, before
        if isinstance(outer, cst.Call):
            if inner is not outer.func:
                at = next(i for i, arg in enumerate(outer.args) if arg is inner)
                before += [outer.func, *(arg.value for arg in outer.args[:at])]
        elif isinstance(outer, cst.BinaryOperation):
            before += [outer.left] if inner is outer.right else []
        elif not isinstance(outer, cst.Arg | cst.Attribute | cst.Expr | cst.Assign | cst.Return):
            break
        inner = outer
    return None, before


def _is_simple(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Name | cst.SimpleString | cst.Integer | cst.Float)


def _is_place(value: cst.BaseExpression) -> bool:
    """Whether it is read, and not computed: a name, a constant, an attribute of one."""
    return _is_simple(value) or (isinstance(value, cst.Attribute) and _is_place(value.value))
