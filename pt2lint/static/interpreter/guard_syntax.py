"""Tests and the statements around them as they are written, without their values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import (
    FunctionNode,
    asks_by_name,
    below,
    is_name,
    parts,
    says_none,
    walk,
    with_defaults,
)

COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.In: lambda value, asked: value in asked,
    ast.NotIn: lambda value, asked: value not in asked,
}
_BRANCHES = (ast.If, ast.With, ast.Try, ast.ExceptHandler, ast.Match, ast.match_case)
MAX_PASSED = 3  # functions that pass an answer on
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
BEYOND: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
}


def exits(loop: ast.For | ast.While, says: Callable[[ast.Call], bool]) -> list[ast.expr]:
    """The tests that end a loop of which it does not matter how often it ran: `while t:`, and of a loop that does not
    use its index but to say how far it came, `if t: break`. `says` tells calls that write a message."""
    targets = _names([loop.target]) if isinstance(loop, ast.For) else set[str]()
    if targets & _names(_computes(loop.body, says)):
        return []
    tests = [loop.test] if isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant) else []
    todo = [*loop.body]
    while todo:
        each = todo.pop()
        if isinstance(each, ast.If):
            if isinstance(each.body[-1], (ast.Break, ast.Return)) and not targets & _names([each.test]):
                tests.append(each.test)
            todo += [*each.body, *each.orelse]
        elif isinstance(each, (ast.With, ast.Try)):
            todo += each.body
    return tests


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {part.id for node in nodes for part in walk(node) if isinstance(part, ast.Name)}


def _computes(body: list[ast.stmt], says: Callable[[ast.Call], bool]) -> Iterator[ast.AST]:
    """What of a loop's body may use its index for more than to say how far it came, or to end after that many turns:
    `if i >= most: break`."""
    for each in body:
        if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], ast.Break):
            tests = each.test.values if isinstance(each.test, ast.BoolOp) else [each.test]
            plain = (ast.Name, ast.Attribute, ast.Constant)
            for test in tests:
                sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
                if not all(isinstance(side, plain) for side in sides):
                    yield test
            yield from _computes(each.body[:-1], says)
        elif not _only_says(each, says):
            yield each


def _only_says(statement: ast.stmt, says: Callable[[ast.Call], bool]) -> bool:
    """`if i == last: print("it has not converged")`"""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and all(
            isinstance(each, ast.Pass)
            or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and says(each.value))
            for each in statement.body
        )
    )


def one_by_one(test: ast.expr) -> ast.expr:
    """`a == b and b == "auto"`, of `a == b == "auto"`; any other test as it is."""
    if not isinstance(test, ast.Compare) or len(test.ops) < 2:
        return test
    sides = [test.left, *test.comparators]
    pairs = [
        ast.copy_location(ast.Compare(left, [op], [right]), test)
        for left, op, right in zip(sides, test.ops, test.comparators, strict=False)
    ]
    return ast.copy_location(ast.BoolOp(ast.And(), [*pairs]), test)


def fails(body: list[ast.stmt]) -> bool:
    """Whether statements that run one after another end with an error, `raise` or `assert False`, on all ways: after
    `if kind == "a": return x` it may be the last one of many."""
    last = body[-1] if body else None
    if isinstance(last, ast.Assert):
        ends = isinstance(last.test, ast.Constant) and not last.test.value
    else:
        ends = isinstance(last, ast.Raise)
    return ends and not any(map(_leaves, body))


def _leaves(statement: ast.AST) -> bool:
    """Whether a statement may return, or leave the loop around it or this turn of it."""
    if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
        return True
    if isinstance(statement, (ast.For, ast.While)):
        return any(isinstance(part, ast.Return) for part in walk(statement))
    return isinstance(statement, _BRANCHES) and any(map(_leaves, below(statement)))


def set_in(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What the statements assign themselves, and what with; methods that fill in place (`copy_`) too."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            yield from ((target, statement.value) for target in statement.targets)
        elif isinstance(statement, ast.AnnAssign):
            yield statement.target, statement.value
        elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("copy_", "fill_") and call.args:
                owner = call.func.value
                if isinstance(owner, ast.Attribute) and owner.attr == "data":
                    owner = owner.value
                yield owner, call.args[0]
            elif len(call.args) > 1 and (place := kept_by_name(call)) is not None:
                yield place, call.args[2 if is_name(call.func, "setattr") else 1]


FARTHEST = 4  # names from one to another that `held_by` follows

Under = tuple[ast.expr, bool] | None  # the innermost test around a statement, and how it came out


def set_by(function: FunctionNode, place: str | None) -> list[tuple[ast.expr | None, Under]]:
    """What a function assigns to a place, each with the innermost test around it, and how that came out. Asked of many
    places of one function: the node keeps all."""
    known: dict[str | None, list[tuple[ast.expr | None, Under]]] | None
    known = function.__dict__.get("pt2lint_sets")
    body = function.body  # which notes that it is read
    if known is None:
        known = function.__dict__["pt2lint_sets"] = {}
        for target, value, test in _under(body, None, set_in):
            known.setdefault(dotted(target), []).append((value, test))
    return known.get(place, [])


def returned_by(body: list[ast.stmt], under: Under = None) -> Iterator[tuple[ast.expr | None, Under]]:
    """What a function returns, each with the innermost test around it, or before it, and how that came out."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement.value, under
        elif isinstance(statement, ast.If):
            yield from returned_by(statement.body, (statement.test, True))
            yield from returned_by(statement.orelse, (statement.test, False))
            if isinstance(statement.body[-1], (ast.Return, ast.Raise)):
                under = statement.test, False
        elif isinstance(statement, (ast.With, ast.Try, ast.For)):
            yield from returned_by(statement.body, under)


def added_under(body: Iterable[ast.stmt], place: str | None) -> list[tuple[ast.expr | None, Under]]:
    """What the statements add to a list, as `set_by` tells what a function assigns."""
    return [(value, test) for target, value, test in _under(body, None, added_in) if dotted(target) == place]


def held_by(
    function: FunctionNode, value: ast.expr | None, under: Under = None, names: tuple[str, ...] = ()
) -> Iterator[tuple[ast.expr | None, Under]]:
    """The parts that an expression of a function may hold, each with the innermost test under which it does: those of a
    list or table and of what is called with it (`nn.Sequential(*layers)`), of either side of a conditional expression,
    and of names that the function sets."""
    inner: list[tuple[ast.expr | None, Under]] = []
    if isinstance(value, ast.IfExp):
        inner = [(value.body, (value.test, True)), (value.orelse, (value.test, False))]
    elif isinstance(value, (ast.List, ast.Tuple)):
        inner = [(each, under) for each in value.elts]
    elif isinstance(value, ast.Dict):
        inner = [(each, under) for each in value.values]
    elif isinstance(value, ast.Starred):
        inner = [(value.value, under)]
    elif isinstance(value, ast.ListComp):
        inner = [(value.elt, under)]
    elif isinstance(value, ast.Name) and value.id not in names and len(names) < FARTHEST:
        inner = [*set_by(function, value.id), *added_under(function.body, value.id)]
        names = (*names, value.id)
    elif isinstance(value, ast.Call):
        for made, test in held_by(function, value.func, under, names):  # `kind(n)`
            yield (ast.Call(made, value.args, value.keywords) if made is not None else value), test
        inner = [(each, under) for each in value.args]
    if not inner and not isinstance(value, ast.Call):
        yield value, under
    for each, test in inner:
        yield from held_by(function, each, test or under, names)


def _under(
    body: Iterable[ast.stmt],
    test: Under,
    told: Callable[[list[ast.stmt]], Iterator[tuple[ast.expr, ast.expr | None]]],
) -> Iterator[tuple[ast.expr, ast.expr | None, Under]]:
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _under(statement.body, (statement.test, True), told)
            yield from _under(statement.orelse, (statement.test, False), told)
        elif isinstance(statement, (ast.With, ast.Try, ast.For)):
            yield from _under(statement.body, test, told)
        else:
            yield from ((target, value, test) for target, value in told([statement]))


def around(body: list[ast.stmt], test: ast.expr) -> list[ast.expr] | None:
    """The tests that have to come out true for a test to be asked, the outermost first; None where it is not there."""
    for statement in body:
        if isinstance(statement, ast.If) and statement.test is not test:
            inner = around(statement.body, test)
            if inner is not None:
                return [statement.test, *inner]
            inner = around(statement.orelse, test)
        elif isinstance(statement, (ast.With, ast.Try, ast.For)):
            inner = around(statement.body, test)
        else:
            inner = [] if any(part is test for part in walk(statement)) else None
        if inner is not None:
            return inner
    return None


def added_in(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What the statements add to lists and tables: `layers.append(Layer())`, `layers += [Layer(), Layer()]`,
    `layers[name] = Layer()`."""
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(place := statement.targets[0], ast.Subscript):
            yield place.value, statement.value
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.value, ast.List):
            yield from ((statement.target, each) for each in statement.value.elts)
        elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
            if not isinstance(call.func, ast.Attribute) or not call.args:
                continue
            if call.func.attr == "extend" and isinstance(call.args[0], ast.List):
                yield from ((call.func.value, each) for each in call.args[0].elts)
            elif call.func.attr in ("append", "add_module", "insert"):
                yield call.func.value, call.args[-1]


def keeps(body: list[ast.stmt], new: ast.expr, best: ast.expr) -> bool:
    """Whether the statements put the one in the place of the other: `best = cost`, `best = {"cost": cost}`."""
    wanted = dotted(new)
    while isinstance(best, ast.Subscript):
        best = best.value
    place = dotted(best)
    return (wanted and place) is not None and any(
        dotted(target) == place
        and any(isinstance(part, ast.expr) and dotted(part) == wanted for part in walk(value))
        for target, value in set_in(body)
        if value is not None
        if isinstance(value, (ast.Name, ast.Attribute, ast.Dict, ast.Tuple, ast.Call))
    )


def last_operand(test: ast.expr) -> ast.expr | None:
    """The operand of `and` and `or` that is tested last, or the test itself; None where that is a jump of its own."""
    while isinstance(test, ast.BoolOp):
        test = test.values[-1]
    jumps = isinstance(test, ast.IfExp) or (isinstance(test, ast.Compare) and len(test.ops) > 1)
    return None if jumps or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)) else test


def is_by_default(test: ast.Compare, frame: Frame) -> bool | None:
    """How a test of a text that a root is given comes out with what it is given by default: `mode == "predict"`."""
    default = frame.defaults.get(test.left.id) if isinstance(test.left, ast.Name) else None
    if default is None:
        return None
    right, op = test.comparators[0], test.ops[0]
    asked = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
    texts = [part.value for part in asked if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    several = isinstance(op, (ast.In, ast.NotIn))
    if not texts or len(texts) != len(asked) or several is (asked[0] is right):
        return None
    return (default in texts) is isinstance(op, (ast.In, ast.Eq)) if type(op) in OPPOSITE else None


def is_of_other_number(test: ast.Compare, outcome: bool, function: FunctionNode | None) -> bool:
    """Whether a test comes out so with another number than an argument is by default, which the function does not set:
    `scale != 1.0`, of `scale=1.0`."""
    asked = test.left
    if function is None or not isinstance(asked, ast.Name):
        return False
    default = default_of(function, asked.id)
    if not isinstance(default, ast.Constant) or type(default.value) not in (int, float):
        return False
    if came_out(test, default.value) is not (not outcome):
        return False
    return not any(is_name(n, asked.id) and isinstance(n.ctx, ast.Store) for n in parts(function, ast.Name))


def is_of_length(test: ast.Compare, outcome: bool) -> str:
    """The name of what has to have a certain number of elements, or more than one: `len(parts) == 2`, or `if len(parts)
    < 2:` the other way; "" of anything else."""
    asked, number = test.left, test.comparators[0]
    if not isinstance(asked, ast.Call) or not is_name(asked.func, "len") or len(asked.args) != 1:
        return ""
    if not isinstance(number, ast.Constant) or type(number.value) is not int:
        return ""
    is_equal = isinstance(test.ops[0], ast.Eq if outcome else ast.NotEq)
    least = number.value + isinstance(test.ops[0], ast.Gt if outcome else ast.LtE)
    is_more = isinstance(test.ops[0], (ast.Gt, ast.GtE) if outcome else (ast.Lt, ast.LtE)) and least > 1
    name = asked.args[0]
    return name.id if isinstance(name, ast.Name) and (is_equal or is_more) else ""


def defaults_of(init: FunctionNode) -> dict[str, ast.Constant]:
    """What the options of an `__init__` are by default, where that is written out."""
    return {name: known for name, d in _defaults(init).items() if (known := constant(d)) is not None}


def default_of(init: FunctionNode, name: str) -> ast.expr | None:
    """What one of them is by default, however that is written."""
    default = _defaults(init).get(name)
    return None if default is None else constant(default) or default


def _defaults(init: FunctionNode) -> dict[str, ast.expr]:
    return {p.arg: default for p, default in with_defaults(init.args) if default is not None}


def constant(node: ast.expr) -> ast.Constant | None:
    """`0.1`, `"mean"`, `-100`"""
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return ast.copy_location(ast.Constant(-value), node) if isinstance(value, (int, float)) else None
    return node if isinstance(node, ast.Constant) else None


def options_of(init: FunctionNode) -> set[str | None]:
    """The options of an `__init__` that are off by default: False, 0, None or nothing."""
    return {name for name, default in defaults_of(init).items() if not default.value}


def asked_of(test: ast.Compare) -> ast.expr:
    """What a comparison asks: its left side, but the right one of `"deep" in self.kind`."""
    text = isinstance(test.left, ast.Constant) and isinstance(test.left.value, str)
    within = text and len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn))
    return test.comparators[0] if within else test.left


def is_one_of(place: ast.expr, names: list[ast.expr]) -> ast.Compare:
    """`place == "a"`, or `place in ("a", "b")`, where the place stands."""
    several: ast.expr = names[0] if len(names) == 1 else ast.Tuple(names, ast.Load())
    test = ast.Compare(place, [ast.Eq() if len(names) == 1 else ast.In()], [several])
    return ast.fix_missing_locations(ast.copy_location(test, place))


def came_out(test: ast.expr, value: object) -> bool | None:
    """How a test comes out where what it asks is that value: `self.flag`, `self.kind == "mean"`, `self.n > 1`, `"deep"
    in self.kind`; None where that cannot be told."""
    if not isinstance(test, ast.Compare):
        return bool(value)
    if isinstance(test.left, ast.Constant) and asked_of(test) is not test.left:
        return COMPARED[type(test.ops[0])](test.left.value, value) if isinstance(value, str) else None
    right = test.comparators[0]
    asked = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
    against = [known.value for known in map(constant, asked) if known is not None]
    if len(test.ops) != 1 or len(against) != len(asked):
        return None
    compare = COMPARED.get(type(test.ops[0]))
    several = isinstance(test.ops[0], (ast.In, ast.NotIn))
    if compare is None or several is (asked[0] is right):
        return None
    try:
        return bool(compare(value, against if several else against[0]))
    except TypeError:
        return None


def asks_whether_none(test: ast.expr) -> tuple[ast.expr, bool] | None:
    """What a test asks for being None, and whether it comes out true where it is."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and says_none(test.comparators[0]):
        if isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return test.left, isinstance(test.ops[0], (ast.Is, ast.Eq))
    return None


def measures(node: ast.expr) -> ast.expr | None:
    """Of what it is the number of dimensions or elements: `x.ndim`, `x.dim()`, `len(x.shape)`, `x.numel()`."""
    names: tuple[tuple[str, ...], tuple[str, ...]] = (("ndim",), ("dim", "numel", "nelement"))
    if isinstance(node, ast.Call) and is_name(node.func, "len") and len(node.args) == 1:
        node, names = node.args[0], (("shape",), ("size",))
    called = isinstance(node, ast.Call)
    place = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else node
    return place.value if isinstance(place, ast.Attribute) and place.attr in names[called] else None


def counts(node: ast.expr) -> bool:
    """Whether it is how many elements a tensor has: `x.numel()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("numel", "nelement")
    )


def is_of_size(
    test: ast.Compare, outcome: bool, block: list[ast.stmt], function: FunctionNode | None
) -> bool:
    """Whether a test comes out so where a tensor has a certain number of elements along a dimension, or one at most:
    `x.shape[-1] == 3`, or `if n > 1:` the other way, of `n = x.shape[0]` or `batch, n = x.shape`; or more or fewer than
    two or another number, along another one than the first, of which batches have what there is: `x.shape[1] > 2`."""
    wanted, asked = test.ops[0], test.comparators[0]
    number = asked.value if isinstance(asked, ast.Constant) else None
    if type(number) is not int:
        return False
    equal = isinstance(wanted, ast.Eq if outcome else ast.NotEq)
    if number == 1:
        equal = equal or isinstance(wanted, ast.LtE if outcome else ast.Gt)
    elif number == 2:
        equal = equal or isinstance(wanted, ast.Lt if outcome else ast.GtE)
    sizes = looked_up(test.left, block, looks=False)
    if not equal:
        least = 2 + isinstance(wanted, (ast.GtE, ast.Lt))
        return type(wanted) in BEYOND and number >= least and _is_along_another(sizes)
    if isinstance(sizes, ast.Name):
        return function is not None and _is_taken_apart(sizes.id, function)
    if isinstance(sizes, ast.Subscript):
        return getattr(sizes.value, "attr", "") == "shape"
    return isinstance(sizes, ast.Call) and getattr(sizes.func, "attr", "") == "size" and bool(sizes.args)


def _is_along_another(sizes: ast.expr) -> bool:
    """`x.shape[1]`, `x.size(-1)`"""
    if isinstance(sizes, ast.Subscript) and getattr(sizes.value, "attr", "") == "shape":
        place: ast.expr | None = sizes.slice
    elif isinstance(sizes, ast.Call) and getattr(sizes.func, "attr", "") == "size":
        place = sizes.args[0] if sizes.args else None
    else:
        return False
    known = constant(place) if place is not None else None
    return known is not None and known.value != 0


def _is_taken_apart(name: str, function: FunctionNode) -> bool:
    """Whether a function sets the name once, to one of the sizes of a tensor: `batch, n = x.shape`."""
    if sum(part.id == name and isinstance(part.ctx, ast.Store) for part in parts(function, ast.Name)) != 1:
        return False
    for made in parts(function, ast.Assign):
        target, sizes = made.targets[0], made.value
        if isinstance(target, ast.Tuple) and any(is_name(each, name) for each in target.elts):
            called = isinstance(sizes, ast.Call) and not sizes.args
            place = sizes.func if isinstance(sizes, ast.Call) else sizes
            return isinstance(place, ast.Attribute) and place.attr == ("size" if called else "shape")
    return False


def asks_for_one(test: ast.expr, places: set[str | None]) -> bool:
    """Whether a test asks that one of the places is on: `flag`, `self.rate > 0`, and more, or `kind == "batch"`."""
    if isinstance(test, ast.BoolOp):
        parts = [asks_for_one(part, places) for part in test.values]
        return any(parts) if isinstance(test.op, ast.And) else all(parts)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        wanted, asked = test.ops[0], test.comparators[0]
        on = isinstance(asked, ast.Constant) and bool(asked.value)
        if (
            isinstance(wanted, (ast.Is, ast.Eq))
            if on
            else isinstance(wanted, (ast.Gt, ast.NotEq)) and is_zero(asked)
        ):
            test = test.left
    return isinstance(test, (ast.Name, ast.Attribute)) and dotted(test) in places


def looked_up(test: ast.expr, block: list[ast.stmt], looks: bool = True) -> ast.expr:
    """A test of names, with what the statements before it assign to them in their place: `kept = self.kept.get(key)`,
    and with `looks` that alone which looks something up."""
    names = {part.id for part in walk(test) if isinstance(part, ast.Name)}
    made = {
        each.targets[0].id: each.value
        for each in (block if names else ())
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if each.targets[0].id in names and each.lineno < test.lineno and (not looks or looks_up(each.value))
    }
    return _Put(made).visit(deepcopy(test)) if made else test


def returns_at_once(function: FunctionNode) -> ast.expr | None:
    """The test under which a function does nothing but return: `if rate == 1: return layers`, before all else."""
    body = function.body
    first = body[1] if len(body) > 1 and ast.get_docstring(function, clean=False) is not None else body[0]
    alone = isinstance(first, ast.If) and len(first.body) == 1 and not first.orelse
    return (
        first.test if isinstance(first, ast.If) and alone and isinstance(first.body[0], ast.Return) else None
    )


def handed(test: ast.expr, name: str, given: ast.expr) -> ast.expr:
    """A test of a parameter in the words of the caller."""
    return _Put({name: given}).visit(deepcopy(test))


def looks_up(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return asks_by_name(value) or (isinstance(value.func, ast.Attribute) and value.func.attr == "get")
    if isinstance(value, (ast.BoolOp, ast.Compare, ast.UnaryOp)):
        return bool(missing(value))  # `absent = self.step == 0 or self.table is None`
    return isinstance(value, ast.Attribute)


def asked_for(node: ast.expr) -> ast.expr:
    """The attribute that `getattr(owner, "name", None)` or `hasattr(owner, "name")` asks for; what else it is as it
    stands."""
    if not isinstance(node, ast.Call) or not asks_by_name(node) or len(node.args) < 2:
        return node
    named, usual = node.args[1], node.args[2:]
    if (
        not isinstance(named, ast.Constant)
        or not isinstance(named.value, str)
        or not all(map(says_none, usual))
    ):
        return node
    return ast.copy_location(ast.Attribute(node.args[0], named.value, ast.Load()), node)


class _Put(ast.NodeTransformer):
    def __init__(self, made: dict[str, ast.expr]) -> None:
        self.made = made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.made.get(node.id, node)


def asks_whether_empty(test: ast.expr) -> tuple[str, bool] | None:
    """The name that a test asks for having no items, and whether it comes out true then: `len(outs) == 0`, `outs`."""
    if isinstance(test, ast.Name):
        return test.id, False
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not is_zero(test.comparators[0]):
        return None
    asked, op = test.left, test.ops[0]
    if (
        isinstance(asked, ast.Call)
        and is_name(asked.func, "len")
        and isinstance(op, (ast.Eq, ast.Gt, ast.NotEq))
    ):
        name = asked.args[0] if asked.args else None
        return (name.id, isinstance(op, ast.Eq)) if isinstance(name, ast.Name) else None
    return None


def is_filled(body: Iterable[ast.stmt], name: str, before: int) -> bool:
    """Whether the statements start a list as empty, and then a loop puts something in it each turn."""
    starts = False
    for statement in body:
        if statement.lineno >= before:
            break
        if isinstance(statement, ast.Assign) and any(is_name(target, name) for target in statement.targets):
            starts = is_empty(statement.value)
        elif starts and isinstance(statement, ast.For):
            calls = [each.value for each in statement.body if isinstance(each, ast.Expr)]
            callees = [call.func for call in calls if isinstance(call, ast.Call)]
            if any(
                isinstance(c, ast.Attribute) and c.attr == "append" and is_name(c.value, name)
                for c in callees
            ):
                return True
    return False


def always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, those that stand in a `with` or a `try` among them, and those that set what both branches of an
    `if` set."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.Try)):
            yield from always(statement.body)
        elif isinstance(statement, ast.For):  # which fills what it was found to lack
            yield from (each for each in always(statement.body) if _fills_table(each))
        elif isinstance(statement, ast.If) and statement.orelse:
            either = {dotted(target) for target, _ in set_in(always(statement.orelse))}
            for each in always(statement.body):
                if any(dotted(target) in either for target, _ in set_in([each])):
                    yield each


def _fills_table(statement: ast.stmt) -> bool:
    """`self.ranks[p] = i`"""
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)


def nested(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that stand under tests among the statements."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.If):
            found += [*statement.body, *statement.orelse]
            found += nested(statement.body) + nested(statement.orelse)
    return found


def missing(test: ast.expr) -> set[str | None]:
    """The places that a test finds not to be there yet: `not self.ready`, `self.table is None`."""
    found = set[str | None]()
    for part in walk(test):
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            found.add(dotted(part.operand))
        elif (
            isinstance(part, ast.Compare)
            and isinstance(part.ops[0], ast.Is)
            and says_none(part.comparators[0])
        ):
            found.add(dotted(part.left))
    return found - {None}


def kept_by_name(call: ast.Call) -> ast.expr | None:
    """What `self.register_buffer("table", ...)`, `self.__setattr__("table", ...)` or `setattr(self, "table", ...)`
    sets."""
    if is_name(call.func, "setattr") and len(call.args) == 3:
        owner, name, _ = call.args
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("register_buffer", "__setattr__"):
        owner, name = call.func.value, call.args[0]
    else:
        return None
    named = name_given(name)
    return ast.Attribute(owner, named, ast.Load()) if named else None


def name_given(name: ast.expr) -> str:
    """The attribute that `setattr(owner, name, value)` sets: its name, or a mark for the one that a variable names."""
    if isinstance(name, ast.Name):
        return f"<{name.id}>"
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def is_something(value: ast.expr | None) -> bool:
    return value is not None and not says_none(value)


def gives_nothing(value: ast.expr | None) -> bool:
    """`return`, `return None`, `return {}`"""
    if isinstance(value, ast.Dict):
        return not value.keys
    return not is_something(value) or (value is not None and is_empty(value))


def name_of(node: ast.AST) -> str | None:
    return dotted(node) if isinstance(node, ast.Attribute) else None


def is_empty(node: ast.expr) -> bool:
    """`[]`, `set()`"""
    if isinstance(node, ast.Call):
        return is_name(node.func, "set") and not node.args
    return isinstance(node, ast.List) and not node.elts


def is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def opposite(test: ast.expr) -> ast.expr:
    """The test that comes out the other way."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        other = OPPOSITE.get(type(test.ops[0])) or BEYOND.get(type(test.ops[0]))
        if other is not None:
            return ast.Compare(test.left, [other()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)
