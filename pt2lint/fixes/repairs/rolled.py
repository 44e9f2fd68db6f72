"""A tensor that is rolled by a number in another one: its elements selected by positions that are computed."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, names_no_device
from pt2lint.fixes.names import fresh
from pt2lint.fixes.nodes import ancestors, arguments, assigned, small_of, statement_of
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.rewrite import replaced, rewrite
from pt2lint.fixes.text import in_parentheses, line, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, walk


def by_index(function: FunctionCode, node: cst.Call, tensor: cst.BaseExpression, kind: Kind) -> Repaired:
    """`x.roll(int(k), dims=1)` as `x.index_select(1, (torch.arange(x.shape[1], device=x.device) - k) % x.shape[1])`.

    `node` reads the number out of `tensor`. Refused where more than one dimension is rolled, or the number goes through
    more than a sign, a sum, a difference or a product before it is rolled by.
    """
    argument = next((one for one in ancestors(function, node) if isinstance(one, cst.Arg)), None)
    call = function.parent(argument) if argument is not None else None
    if argument is None or not isinstance(call, cst.Call) or callee(call) != "roll":
        return Refusal("nothing is rolled by the number")
    x, shifts, dims = _read(function, call)
    if x is None or shifts is not argument.value or not isinstance(dims, cst.Integer | cst.UnaryOperation):
        return Refusal("not one dimension is rolled")
    if effect(x) is not None or not isinstance(x, cst.Name | cst.Attribute):
        return Refusal("what is rolled is computed there")
    for outer in ancestors(function, node):
        if outer is argument:
            break
        if not isinstance(outer, cst.UnaryOperation | cst.BinaryOperation):
            return Refusal("the number goes through other code first")
        operator = getattr(outer, "operator", None)
        if not isinstance(operator, cst.Minus | cst.Add | cst.Subtract | cst.Multiply):
            return Refusal("the number goes through other code first")
    if kind(tensor) not in ("tensor", "tensor:int"):
        return Refusal("the number may be none that a whole number is read out of")
    read = in_parentheses(source(function, tensor))
    name = source(function, x)
    if isinstance(tensor, cst.Name) and _may_lie_elsewhere(function, tensor):
        read = f"{read}.to({name}.device)"
    if (
        isinstance(shifts, cst.UnaryOperation)
        and isinstance(shifts.operator, cst.Minus)
        and shifts.expression is node
    ):
        moved = f"+ {read}"
    elif shifts is node:
        moved = f"- {read}"
    else:
        inner = shifts.deep_replace(node, cst.parse_expression(read))
        moved = f"- {in_parentheses(source(function, inner))}"
    dim, size = source(function, dims), f"{name}.shape[{source(function, dims)}]"
    arange, imports = torch_name(function, "torch.arange")

    def positions(size: str) -> str:
        return f"({arange}({size}, device={name}.device) {moved}) % {size}"

    new = _written(function, call, f"{name}.index_select({dim}, {{}})", positions, size)
    return fix(
        "Select the elements by positions that are computed, instead of rolling by a number. It assumes that "
        f"`{source(function, tensor)}` is one whole number, without dimensions.",
        (*imports, *rewrite(function, new)),
    )


def _written(
    function: FunctionCode, call: cst.Call, text: str, positions: Callable[[str], str], size: str
) -> dict[cst.CSTNode, cst.CSTNode | list[cst.CSTNode]]:
    """The call as `text` of the positions, which are a text of the size; these in a line of their own, under a name,
    where one line is too short for both and the call is all that the statement assigns or returns, and the size in
    another one where that is too short, too."""
    whole = cst.parse_expression(text.format(positions(size)))
    small, statement = function.parent(call), statement_of(function, call)
    if not isinstance(small, cst.Return | cst.Assign) or not isinstance(statement, cst.SimpleStatementLine):
        return {call: whole}
    if small_of(statement) is not small:
        return {call: whole}
    made = replaced(small, {call: whole})
    room = file_of(function).line_length - function.range(small)[1] + 1
    if len(cst.Module([]).code_for_node(made)) <= room:
        return {call: whole}
    name = fresh(function, "positions")
    lines = [f"{name} = {positions(size)}"]
    if len(lines[0]) > room:
        length = fresh(function, "length")
        lines = [f"{length} = {size}", f"{name} = {positions(length)}"]
    last = replaced(statement, {call: cst.parse_expression(text.format(name))})
    assert isinstance(last, cst.SimpleStatementLine)
    first, *more = [line(one, statement if not at else None) for at, one in enumerate(lines)]
    return {statement: [first, *more, last.with_changes(leading_lines=())]}


def _may_lie_elsewhere(function: FunctionCode, tensor: cst.Name) -> bool:
    """Whether it is made where nothing names a device: `k = torch.randint(n, (1,))` stays on the CPU. (An item of it
    has no dimensions, and goes with any device.)"""
    made = (assigned(one) for one in walk(function.module) if isinstance(one, cst.SimpleStatementLine))
    return any(
        one is not None and one[0] == tensor.value and names_no_device(function, one[1]) for one in made
    )


def _read(
    function: FunctionCode, call: cst.Call
) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None, cst.BaseExpression | None]:
    """What is rolled, by how much, along which dimension."""
    told = arguments(call)
    if told is None:
        return None, None, None
    given, named = told
    if qualified(function, call.func) != "torch.roll":
        if not isinstance(call.func, cst.Attribute) or qualified(function, call.func) is not None:
            return None, None, None
        given.insert(0, call.func.value)
    named |= dict(zip(("input", "shifts", "dims"), given, strict=False))
    return named.get("input"), named.get("shifts"), named.get("dims")
