"""Each row's own values, as many as there are, padded: of one width, where it is compiled."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    Refusal,
    Repaired,
    accepted,
    ancestors,
    assigned,
    block_of,
    enclosing_function,
    fix,
    fresh,
    in_parentheses,
    qualified,
    rewrite,
    source,
    statement_of,
    statements,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the comprehension that the node is in."""
    return accepted(of_one_width(function, node))


def of_one_width(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`rows = [torch.unique(t) for t in x.unbind()]`, then `y = pad_sequence(rows, batch_first=True)`: where it is
    compiled, the rows sorted, with what repeats another value as padding at their end.

    Eager mode does what it did. Unsafe: the result is as wide as `x`, however few values there are.
    """
    made = next((one for one in (node, *ancestors(function, node)) if isinstance(one, cst.ListComp)), None)
    statement = statement_of(function, made) if made is not None else None
    place = block_of(function, statement) if statement is not None else None
    given = _rows_of(function, made) if made is not None else None
    if made is None or statement is None or place is None or given is None:
        return Refusal("not each row's own values")
    padded = next(iter(place[0][place[1] + 1 :]), None)
    first, second = assigned(statement), assigned(padded)
    if (
        first is None
        or first[1] is not made
        or second is None
        or not isinstance(padded, cst.SimpleStatementLine)
    ):
        return Refusal("the rows are not padded by the next statement")
    (name, _), (result, call) = first, second
    value = _padding(function, call, name) if isinstance(call, cst.Call) else None
    if value is None:
        return Refusal("the rows are not padded by the next statement")
    owner = enclosing_function(function, made)
    if owner is None or sum(use.name == name for use in uses(owner.body)) != 2:
        return Refusal("the rows are used in another way")
    ordered, repeated = (fresh(function, one, made) for one in ("ordered", "repeated"))
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    pad, more = torch_name(function, "torch.nn.functional.pad")
    (branch,) = statements(
        function,
        [
            f"if {compiling}():",
            "    # A graph has to know how wide: what repeats another value of its row is padding, at its end",
            f"    {ordered} = {in_parentheses(given)}.sort(1).values",
            f"    {repeated} = {pad}({ordered}[:, 1:] == {ordered}[:, :-1], (1, 0))",
            f"    {result} = {ordered}.masked_fill({repeated}, {value})",
            f"    {result} = {result}.gather(1, {repeated}.int().argsort(dim=1, stable=True))",
        ],
    )
    eager = cst.Else(cst.IndentedBlock([statement.with_changes(leading_lines=()), padded]))
    new = branch.with_changes(leading_lines=statement.leading_lines, orelse=eager)
    return fix(
        f"Keep the rows of `{given}` as wide as they are where it is compiled, what repeats another value as padding: "
        "the size follows from a shape. It assumes two dimensions, and that what takes the result passes over "
        "padding.",
        (*imports, *more, *rewrite(function, {statement: new, padded: None})),
        "once proven",
        "whole numbers",
    )


def _rows_of(function: FunctionCode, made: cst.ListComp) -> str | None:
    """`x` of `[torch.unique(t) for t in x.unbind()]`, in source."""
    loop, each = made.for_in, made.elt
    if not isinstance(each, cst.Call) or qualified(function, each.func) != "torch.unique" or not each.args:
        return None
    alone, *options = each.args
    said = [(one.keyword and one.keyword.value, source(function, one.value)) for one in options]
    if (
        loop.ifs
        or loop.inner_for_in
        or not alone.value.deep_equals(loop.target)
        or said not in ([], [("sorted", "True")])
    ):
        return None
    over = loop.iter
    if isinstance(over, cst.Call) and callee(over) == "unbind":
        of_torch = qualified(function, over.func) == "torch.unbind"
        if of_torch and len(over.args) == 1:
            over = over.args[0].value
        elif not of_torch and not over.args and isinstance(over.func, cst.Attribute):
            over = over.func.value
    return source(function, over) if not isinstance(over, cst.Call) and effect(over) is None else None


def _padding(function: FunctionCode, call: cst.Call, rows: str) -> str | None:
    """The value that `pad_sequence(rows, batch_first=True)` pads with."""
    if qualified(function, call.func) != "torch.nn.utils.rnn.pad_sequence" or not call.args:
        return None
    first, *options = call.args
    said = {one.keyword.value: source(function, one.value) for one in options if one.keyword is not None}
    if (
        source(function, first.value) != rows
        or len(said) != len(options)
        or said.pop("batch_first", "") != "True"
    ):
        return None
    value = said.pop("padding_value", "0")
    return None if said else value
