"""A table of positions, made as long as a tensor says, and looked up: only what is looked up is made."""

from __future__ import annotations

import ast
import re

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.condition import definition
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.file import file_of, layers
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    New,
    Refusal,
    Refused,
    Repaired,
    accepted,
    ancestors,
    enclosing_function,
    fix,
    fresh,
    line,
    name_in,
    qualified,
    refusing,
    replaced,
    rewrite,
    source,
    statement_of,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import placed, walk

_OUTER = re.compile(r"['\"]\s*(\w)\s*,\s*(\w)\s*->\s*\1\s*\2\s*['\"]")  # of einsum


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the table that the node makes."""
    return accepted(looked_up(function, node))


@refusing
def looked_up(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`t = torch.outer(torch.arange(n), f)`, then `t[ids]`: `ids.unsqueeze(-1).to(f) * f`.

    So too where `t` is what a module of the same file makes, `self.layer(n)`, and its `forward` does nothing else.

    Refused where anything else is done with the table, or `n` is used for anything else.
    """
    positions = next(
        (
            one
            for one in (node, *ancestors(function, node))
            if isinstance(one, cst.Call) and qualified(function, one.func) == "torch.arange"
        ),
        None,
    )
    table = _table(function, positions) if positions is not None else None
    if positions is None or table is None:
        return Refusal("no table of positions is made")
    rows, factor = table
    layer = _returned(function, rows)
    if layer is None:
        made = _rows_alone(function, rows, source(function, factor), positions.args[0].value)
        if isinstance(function.parent(positions), cst.Assign):
            made[0][cst.ensure_type(statement_of(function, positions), cst.SimpleStatementLine)] = None
        return fix(_said(made[1]), rewrite(function, made[0]), "once proven", "whole numbers")
    if {use.name for use in uses(factor)} != {layer} or any(
        isinstance(one, cst.Call) for one in walk(factor)
    ):
        return Refusal("the table is not made of the module's own values")
    edits, looked = list[Edit](), set[str]()
    for there, call in _calls(function):
        spelled = replaced(
            factor, {use.node: cst.ensure_type(call.func, cst.Attribute) for use in uses(factor)}
        )
        made = _rows_alone(there, call, source(there, spelled), call.args[0].value)
        edits += rewrite(there, made[0])
        looked |= made[1]
    if not edits:
        return Refusal("nothing in the file asks for the table")
    return fix(_said(looked), edits, "once proven", "whole numbers")


def _said(looked: set[str]) -> str:
    names = " and ".join(f"`{one}`" for one in sorted(looked))
    return (
        f"Compute the rows of the table that {names} looks up, and no others: nobody has to know how long it would be. "
        "It assumes that these are positions from its start."
    )


def _table(
    function: FunctionCode, positions: cst.Call
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The product of each position with each of some factors, and the factors."""
    count, *named = positions.args
    if count.keyword is not None or count.star or any(one.keyword is None for one in named):
        return None
    given = {one.keyword.value: source(function, one.value) for one in named if one.keyword is not None}
    for place in _places(function, positions):
        arg = function.parent(place)
        call = function.parent(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call):
            continue
        name = qualified(function, call.func)
        args = [one.value for one in call.args]
        if name == "torch.einsum" and len(args) == 3 and _OUTER.fullmatch(source(function, args[0])):
            args = args[1:]
        elif name != "torch.outer":
            continue
        if len(args) != 2 or args[0] is not place or effect(args[1]):
            continue
        spelled = source(function, args[1])
        if given.get("dtype", f"{spelled}.dtype") == f"{spelled}.dtype" and given.keys() <= {
            "dtype",
            "device",
        }:
            return call, args[1]
    return None


def _places(function: FunctionCode, node: cst.BaseExpression) -> list[cst.CSTNode]:
    """Where the value is read: the node itself, or the one place where the name that it is given is."""
    assign, owner = function.parent(node), enclosing_function(function, node)
    if not isinstance(assign, cst.Assign):
        return [node]
    target = name_in(assign)
    if owner is None or target is None:
        return []
    found = [use for use in uses(owner.body) if use.name == target.value]
    read = [use.node for use in found if not use.binds]
    return read if len(found) == 2 else []


def _returned(function: FunctionCode, rows: cst.BaseExpression) -> str | None:
    """The name of the module whose `forward` only returns the table."""
    owner = enclosing_function(function, rows)
    if owner is None or owner.name.value != "forward" or function.range(owner)[1] == 1:
        return None
    returned = [one for one in walk(owner.body) if isinstance(one, cst.Return)]
    places = _places(function, rows)
    plain = all(isinstance(one, cst.SimpleStatementLine) for one in owner.body.body)
    params = placed(owner.params)
    if not plain or len(params) != 2 or len(returned) != 1 or places != [returned[0].value]:
        return None
    return params[0].name.value


def _calls(function: FunctionCode) -> list[tuple[FunctionCode, cst.Call]]:
    """The calls, in the file, of modules of the class that the function is `forward` of: `self.layer(n)` in a class
    that makes it, `self.layer = Layer(...)`."""
    tree = file_of(function).tree
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    own = next(
        (one.name for one in classes if one.lineno <= function.first_line <= (one.end_lineno or 0)), None
    )
    found = []
    for holder in classes:
        made = {name for name, of in layers(holder) if of == own}
        for one in ast.walk(holder) if made else ():
            if not (
                isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in made
            ):
                continue
            there = neighbour(function, one.lineno)
            if there is None or len(one.args) != 1 or one.keywords:
                continue
            found += [
                (there, call)
                for call in walk(there.module)
                if isinstance(call, cst.Call)
                and callee(call) == one.func.attr
                and there.range(call)[:2] == (one.lineno, one.col_offset + 1)
            ]
    return found


def _rows_alone(
    function: FunctionCode, table: cst.BaseExpression, factor: str, count: cst.BaseExpression
) -> tuple[dict[cst.CSTNode, New], set[str]]:
    """What takes the place of a table that is only looked up, and the names of what it is looked up at."""
    statement, owner = statement_of(function, table), enclosing_function(function, table)
    assign = function.parent(table)
    if (
        owner is None
        or not isinstance(statement, cst.SimpleStatementLine)
        or not isinstance(assign, cst.Assign)
    ):
        raise Refused("the table has no name")
    target = assign.targets[0].target
    name = target.value if isinstance(target, cst.Name) else ""
    found = [use for use in uses(owner.body) if use.name == name]
    if len(assign.targets) != 1 or len(statement.body) != 1 or sum(use.binds for use in found) != 1:
        raise Refused("the table is kept elsewhere")
    made: dict[cst.CSTNode, New] = {}
    looked = set()
    short = re.fullmatch(r"\w+", factor) is not None
    last = factor.rpartition(".")[2] if re.fullmatch(r"[\w.]+", factor) else "factors"
    spelled = factor if short else fresh(function, last, table)
    for use in found:
        if use.binds:
            continue
        read = function.parent(use.node)
        if not isinstance(read, cst.Subscript) or read.value is not use.node or len(read.slice) != 1:
            raise Refused("more is done with the table than to look it up")
        index = read.slice[0].slice
        if not isinstance(index, cst.Index) or not isinstance(index.value, cst.Name):
            raise Refused("the table is not looked up at a name")
        ids = index.value.value
        looked.add(ids)
        text = f"{ids}.unsqueeze(-1).to({spelled}) * {spelled}"
        alone = isinstance(function.parent(read), cst.Assign | cst.Return | cst.Arg)
        made[read] = cst.parse_expression(text if alone else f"({text})")
    if not looked:
        raise Refused("the table is not looked up")
    made[statement] = None if short else line(f"{spelled} = {factor}", statement)
    value = definition(function, count) if isinstance(count, cst.Name) else None
    asked = [use for use in uses(owner.body) if use.name == source(function, count) and not use.binds]
    if value is not None and len(asked) == 1 and effect(value) is None:
        made[cst.ensure_type(statement_of(function, value), cst.SimpleStatementLine)] = None
    elif effect(count) is not None:
        raise Refused("to compute how long the table is has an effect")
    return made, looked
