"""What may be asked of the body of a function or method without reading it.

The nodes of a parsed file note when a body is read (reads.py): whoever read it depends on all of it. These look past
that, and note nothing: who asks depends on the answer alone, which is a fact of its own (reads.OF_BODIES).
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import NamedTuple

from pt2lint.static.source.nodes import (
    BLOCKS,
    SIMPLE,
    FunctionNode,
    asks_by_name,
    is_name,
    is_range,
    last_word,
    own_name,
    parameters_in,
    unread_parts,
    walk,
    with_inner,
)

_ADD_WEIGHTS = ("register_parameter", "add_module", "register_module", "ParameterList", "ParameterDict")


def _nodes(function: FunctionNode) -> list[ast.AST]:
    """All nodes of the body, which several questions are about."""
    known: list[ast.AST] | None = function.__dict__.get("pt2lint_nodes")
    if known is None:
        known = function.__dict__["pt2lint_nodes"] = with_inner([*function.__dict__["body"]])
    return known


def _statements(function: FunctionNode) -> list[ast.AST]:
    """All statements of the body, in the order of `_nodes`, and what holds some in them."""
    nodes: list[ast.AST] = [*function.__dict__["body"]]
    for node in nodes:
        if node.__class__ not in SIMPLE:
            own = node.__dict__
            for name in BLOCKS:
                nodes += own.get(name, ())
    return nodes


def attributes(method: FunctionNode) -> frozenset[str]:
    """The names of the attributes in it, of whatever object. As `stores` and `does`, the node keeps them."""
    known: frozenset[str] | None = method.__dict__.get("pt2lint_attributes")
    if known is None:
        known = method.__dict__["pt2lint_attributes"] = _attributes(method)
    return known


def _attributes(method: FunctionNode) -> frozenset[str]:
    return frozenset(node.attr for node in _nodes(method) if isinstance(node, ast.Attribute))


def names_one(function: FunctionNode | ast.Lambda, words: Container[str]) -> bool:
    """Whether one of the words is the name of an attribute in it, its decorators and defaults included."""
    return any(node.attr in words for node in unread_parts(function, ast.Attribute))


def says(method: FunctionNode, name: str) -> bool:
    """Whether it says a name as a text, `register_buffer("table", table)`, but to ask whether it is there."""
    texts = [node for node in unread_parts(method, ast.Constant) if node.value == name]
    if not texts:
        return False
    calls = [node for node in unread_parts(method, ast.Call) if len(node.args) > 1 and asks_by_name(node)]
    return any(all(text is not call.args[1] for call in calls) for text in texts)


def stores(method: FunctionNode) -> list[tuple[str, ast.expr | None]]:
    """(name, value) of each `self.name = value`; None where the value is not plain."""
    known: list[tuple[str, ast.expr | None]] | None = method.__dict__.get("pt2lint_stores")
    if known is None:
        known = method.__dict__["pt2lint_stores"] = _stores(method)
    return known


def _stores(method: FunctionNode) -> list[tuple[str, ast.expr | None]]:
    me = own_name(method)
    if not me:
        return []
    found: list[tuple[str, ast.expr | None]] = []
    for node in _statements(method):
        targets: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            for t in node.targets:
                targets += _paired(t, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets.append((node.target, node.value))
        elif isinstance(node, ast.AugAssign):
            targets.append((node.target, None))
        for target, value in targets:
            if isinstance(target, ast.Attribute) and is_name(target.value, me):
                found.append((target.attr, value))
    return found


def _paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment, each with its value; None where it is a part of one: `self.a, self.b = f()`."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, value)]
    values: list[ast.expr] = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    if len(values) != len(target.elts) or any(isinstance(e, ast.Starred) for e in (*target.elts, *values)):
        return [(element, None) for element in target.elts]
    return [pair for element, own in zip(target.elts, values, strict=True) for pair in _paired(element, own)]


def hands(function: FunctionNode, name: str) -> list[ast.expr]:
    """What it sets the attribute of that name to, of another object than its own: `block.cache = Cache()`."""
    me = own_name(function)
    return [
        node.value
        for node in _statements(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr == name
        if not (is_name(target.value, me))
    ]


def gives(method: FunctionNode) -> list[tuple[str, ast.Call]]:
    """(name, call) where an attribute of the method's object is given to a call, as the first argument, or what it
    holds, `self.blocks[i].attend`; or is told to compile itself, `self.blocks[i].compile()`."""
    me = own_name(method)
    calls = [node for node in _nodes(method) if isinstance(node, ast.Call)]
    given = [(call.args[0] if call.args else compiled_in_place(call), call) for call in calls]
    return [(name, call) for place, call in given if place and (name := _held_by(place, me)) is not None]


def compiled_in_place(call: ast.Call) -> ast.expr | None:
    """The module of `module.compile()`, whose arguments all have names."""
    if call.args or not isinstance(call.func, ast.Attribute) or call.func.attr != "compile":
        return None
    return call.func.value


def _held_by(given: ast.expr, me: str) -> str | None:
    """The attribute of the object that it is, or is held by."""
    while isinstance(given, (ast.Attribute, ast.Subscript)):
        if isinstance(given, ast.Attribute) and is_name(given.value, me):
            return given.attr
        given = given.value
    return None


class Does(NamedTuple):
    """The attributes of its object that a method calls, the methods that it calls by `super()`, and whether it may add
    weights."""

    called: frozenset[str]
    above: frozenset[str]
    adds: bool


def does(method: FunctionNode) -> Does:
    known: Does | None = method.__dict__.get("pt2lint_does")
    if known is None:
        known = method.__dict__["pt2lint_does"] = _does(method)
    return known


def _does(method: FunctionNode) -> Does:
    callees = [node.func for node in _nodes(method) if isinstance(node, ast.Call)]
    above = (
        callee.attr
        for callee in callees
        if isinstance(callee, ast.Attribute)
        and isinstance(callee.value, ast.Call)
        and is_name(callee.value.func, "super")
    )
    always = _always(method.__dict__["body"])
    adds = any(_adds(part) for statement in always for part in walk(statement))
    return Does(frozenset(map(_own, callees)), frozenset(above), adds)


class Counting(NamedTuple):
    """`counted` are the attributes that a method adds a whole number to, or sets to the number of a loop's turn;
    `shown` those in what it returns at its end, where it is a property (`return self._step`), or that a method without
    parameters computes a number of (`return min(1.0, self._step / 100)`)."""

    method: str
    counted: frozenset[str]
    shown: frozenset[str]


def counting(method: FunctionNode) -> Counting:
    nodes = _nodes(method)
    turns = {
        node.target.id
        for node in nodes
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and is_range(node.iter)
    }
    counted = set()
    target: ast.expr
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            target, fits = node.target, isinstance(node.value, ast.Constant) and type(node.value.value) is int
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, fits = node.targets[0], isinstance(node.value, ast.Name) and node.value.id in turns
        else:
            continue
        if fits and isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
            counted.add(target.attr)
    last = method.__dict__["body"][-1]
    is_property = any(is_name(d, "property") for d in method.decorator_list)
    returned = last.value if isinstance(last, ast.Return) else None
    schedules = (
        isinstance(returned, ast.expr) and len(parameters_in(method.args)) == 1 and _computes(returned)
    )
    shown = ast.walk(returned) if returned is not None and (is_property or schedules) else ()
    return Counting(
        method.name,
        frozenset(counted),
        frozenset(part.attr for part in shown if isinstance(part, ast.Attribute)),
    )


def _computes(value: ast.expr) -> bool:
    """Whether it is arithmetic with attributes, names and numbers, clipped or of `math`."""
    if isinstance(value, ast.BinOp):
        return _computes(value.left) and _computes(value.right)
    if isinstance(value, ast.Call):
        home = value.func.value if isinstance(value.func, ast.Attribute) else value.func
        known = isinstance(home, ast.Name) and home.id in ("min", "max", "float", "round", "math")
        return known and not value.keywords and all(map(_computes, value.args))
    return isinstance(value, (ast.Name, ast.Attribute, ast.Constant))


def puts(function: FunctionNode, name: str) -> list[ast.expr]:
    """What it puts into the global of that name: `global backend; backend = Backend()`."""
    nodes = _statements(function)
    if not any(isinstance(node, ast.Global) and name in node.names for node in nodes):
        return []
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(is_name(target, name) for target in node.targets)
    ]


def callees(function: FunctionNode) -> list[ast.expr]:
    """The names, dotted ones too, that it calls, each once."""
    found = [node.func for node in _nodes(function) if isinstance(node, ast.Call)]
    named = {ast.dump(callee): callee for callee in found if isinstance(callee, (ast.Name, ast.Attribute))}
    return [*named.values()]


def _own(callee: ast.expr) -> str:
    """`self.NAME(...)`, `self.NAME.method(...)`"""
    while isinstance(callee, ast.Attribute):
        if is_name(callee.value, "self"):
            return callee.attr
        callee = callee.value
    return ""


def _always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that stand under no test."""
    for statement in body:
        if isinstance(statement, (ast.For, ast.While, ast.With, ast.Try)):
            yield from _always(statement.body)
        elif not isinstance(statement, ast.If):
            yield statement


def _adds(part: ast.AST) -> bool:
    """`self.register_parameter(...)`, `setattr(self, ...)` and the like."""
    if isinstance(part, (ast.Attribute, ast.Name)):
        return last_word(part) in _ADD_WEIGHTS
    if not isinstance(part, ast.Call):
        return False
    return [each.id for each in (part.func, *part.args[:1]) if isinstance(each, ast.Name)] == [
        "setattr",
        "self",
    ]
