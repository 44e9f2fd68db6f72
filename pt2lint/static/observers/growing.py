"""Lists and buffers that outlive a call and become longer at each: who makes them shorter again, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pt2lint.static.source.nodes import FunctionNode, is_name, last_word, says_none, walk, with_defaults

LONG = 8  # items of a list: as many lengths reach Dynamo's recompile limit
JOINS = ("cat", "concat", "concatenate", "hstack", "vstack")


def stays_long(
    trees: Iterable[ast.AST],
    place: ast.Name | ast.Attribute,
    by: set[str],
    shrinks: frozenset[str],
    anew: bool = False,
) -> bool:
    """Whether the list at that place is still longer at the next call of the functions `by` that append to it.

    So it is where nothing empties it, and where a loop calls them and what empties it stands behind the loop, as after
    the steps of an episode. `anew`: a method may empty it by `self.seen = []`, too.
    """
    trees = list(trees)
    made = {p for tree in trees for f in walk(tree) if is_init(f) for p in walk(f)} if anew else set()
    places = [
        found
        for tree in trees
        for emptied in [_where_long(tree, place)]
        for found in _emptied(tree, place, shrinks, anew)
        if found not in emptied and found not in made
    ]
    if not places:
        return True
    if any(isinstance(place, ast.Name) and isinstance(p, ast.Global) for p in places):
        return False
    # Whatever calls what empties it empties it as well.
    functions = [f for tree in trees for f in walk(tree) if isinstance(f, FunctionNode)]
    emptying = {f.name for f in functions if any(p in walk(f) for p in places)}
    if emptying & by:
        return False
    loops = [part for tree in trees for part in walk(tree) if isinstance(part, (ast.For, ast.While))]
    around = [loop for loop in loops if _calls(loop.body) & by]
    innermost = [loop for loop in around if not any(o is not loop and o in walk(loop) for o in around)]
    return bool(innermost) and not any(
        _calls(loop.body) & (emptying | _callers(functions, emptying)) or any(p in walk(loop) for p in places)
        for loop in innermost
    )


def joined_to_itself(target: ast.expr, function: FunctionNode) -> bool:
    """Whether a function makes an attribute longer, `self.keys = torch.cat([self.keys, k])`, and sets it otherwise in
    the other arm of a test alone: `if self.keys is None: self.keys = k`."""
    text = ast.unparse(target)
    joined: ast.stmt | None = None
    others = []
    for one, statement, value in _set_to(text, function):
        if isinstance(value, ast.Name):
            made = [v for _, _, v in _set_to(value.id, function)]
            value = made[0] if len(made) == 1 else value
        if not _joins(value, text, function):
            others.append(statement)
        elif one is target:
            joined = statement
    return joined is not None and all(_in_other_arm(joined, other, function) for other in others)


def emptied_each_turn(trees: Iterable[ast.AST], name: str, function: FunctionNode) -> bool:
    """Whether some loop calls, at each turn, what sets the attribute elsewhere, and something else besides."""
    trees = list(trees)
    functions = [f for tree in trees for f in walk(tree) if isinstance(f, FunctionNode)]
    resets = {
        f.name
        for f in functions
        if f is not function
        and f.name != "__init__"
        and any(
            isinstance(p, ast.Attribute) and isinstance(p.ctx, ast.Store) and p.attr == name for p in walk(f)
        )
    }
    resets |= _callers(functions, resets)
    loops = [_calls(p.body) for tree in trees for p in walk(tree) if isinstance(p, (ast.For, ast.While))]
    return any(calls & resets and calls - resets for calls in loops)


def is_bounded(value: ast.expr) -> bool:
    """`deque(maxlen=3)`: what is put into it when it is full takes the place of something."""
    if not isinstance(value, ast.Call):
        return False
    bounds = [*value.args[1:2], *(given.value for given in value.keywords if given.arg == "maxlen")]
    none = any(says_none(bound) for bound in bounds)
    return last_word(value.func) == "deque" and bool(bounds) and not none


def goes_over(function: ast.AST, place: ast.expr, over: frozenset[str]) -> Iterator[ast.expr]:
    """Where a function goes over the items of what is at a place: a loop, `[*place]`, `list(place)` of these words."""
    text = ast.unparse(place)
    for part in walk(function):
        given: list[ast.expr] = []
        if isinstance(part, (ast.For, ast.comprehension)):
            given = [part.iter]
        elif isinstance(part, ast.Starred):
            given = [part.value]
        elif isinstance(part, ast.Call):
            given = part.args if last_word(part.func) in over else []
        yield from (one for one in given if ast.unparse(one) == text)


def is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _set_to(text: str, function: FunctionNode) -> Iterator[tuple[ast.expr, ast.stmt, ast.expr]]:
    """The assignments to a place, each with what it is given: `self.a, self.b = x, y`."""
    for part in walk(function):
        if not isinstance(part, ast.Assign):
            continue
        for target in part.targets:
            if ast.unparse(target) == text:
                yield target, part, part.value
            elif isinstance(target, ast.Tuple):
                each = part.value.elts if isinstance(part.value, ast.Tuple) else []
                for i, one in enumerate(target.elts):
                    if ast.unparse(one) == text:
                        yield one, part, each[i] if len(each) == len(target.elts) else part.value


def _joins(value: ast.expr, text: str, function: FunctionNode) -> bool:
    """`torch.cat([self.keys, k], dim=1)`, where the attribute may have a name: `keys = self.keys`."""
    if (
        not isinstance(value, ast.Call)
        or not value.args
        or not isinstance(value.args[0], (ast.List, ast.Tuple))
    ):
        return False
    texts = [ast.unparse(one) for one in value.args[0].elts]
    names = [name for name in texts if [ast.unparse(v) for *_, v in _set_to(name, function)] == [text]]
    return last_word(value.func) in JOINS and len(texts) > 1 and (text in texts or bool(names))


def _in_other_arm(one: ast.stmt, other: ast.stmt, function: FunctionNode) -> bool:
    arms = (
        [{id(p) for s in arm for p in walk(s)} for arm in (part.body, part.orelse)]
        for part in walk(function)
        if isinstance(part, ast.If)
    )
    return any(
        id(one) in a and id(other) in b for then, rest in arms for a, b in ((then, rest), (rest, then))
    )


def _callers(functions: list[ast.FunctionDef | ast.AsyncFunctionDef], names: set[str]) -> set[str]:
    found: set[str] = set()
    while more := {f.name for f in functions if _calls(f.body) & (names | found)} - found:
        found |= more
    return found


def _calls(body: list[ast.stmt]) -> set[str]:
    """The last words of what a body calls."""
    return {
        last_word(part.func)
        for statement in body
        for part in walk(statement)
        if isinstance(part, ast.Call) and isinstance(part.func, (ast.Attribute, ast.Name))
    }


def _where_long(tree: ast.AST, place: ast.Name | ast.Attribute) -> set[ast.AST]:
    """What stands under `if len(self.seen) > self.most:`, of a number that is LONG by default: by then the limit is
    reached."""
    text = ast.unparse(place)
    return {
        part
        for test in walk(tree)
        if isinstance(test, (ast.If, ast.While))
        and isinstance(test.test, ast.Compare)
        and isinstance(test.test.ops[0], (ast.Gt, ast.GtE))
        and ast.unparse(test.test.left) == f"len({text})"
        and is_long(test.test.comparators[0], tree)
        for statement in test.body
        for part in walk(statement)
    }


def is_long(bound: ast.expr, tree: ast.AST) -> bool:
    """Whether it is a whole number of at least LONG: written out, what a name is given, an option's default."""
    if isinstance(bound, ast.Constant):
        return type(bound.value) is int and bound.value >= LONG
    name = last_word(bound)
    given = [
        part.value
        for part in walk(tree)
        if isinstance(part, ast.Assign) and any(last_word(target) == name for target in part.targets)
    ]
    if len(given) == 1 and isinstance(bound, ast.Attribute) and isinstance(given[0], ast.Name):
        name, given = given[0].id, []
    if not given:
        given = [
            default
            for part in walk(tree)
            if isinstance(part, FunctionNode) and part.name == "__init__"
            for parameter, default in with_defaults(part.args)
            if parameter.arg == name and default is not None
        ]
    return len(given) == 1 and isinstance(given[0], ast.Constant) and is_long(given[0], tree)


def _emptied(
    tree: ast.AST, place: ast.Name | ast.Attribute, shrinks: frozenset[str], anew: bool
) -> Iterator[ast.AST]:
    """Where the list of that name is emptied, or assigned through another object (`anew`: or by its own), anywhere in
    the file."""
    name = place.id if isinstance(place, ast.Name) else place.attr
    local = {name} if isinstance(place, ast.Name) else _names_of(tree, name)

    def is_it(node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript):
            node = node.value
        return (isinstance(node, ast.Attribute) and node.attr == name) or (
            isinstance(node, ast.Name) and node.id in local
        )

    for node in walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in shrinks and is_it(node.func.value):
                yield node
        elif isinstance(node, (ast.Delete, ast.Assign)):
            for target in node.targets:
                inner = target.value if isinstance(target, ast.Subscript) else target
                if is_it(inner):
                    if isinstance(target, ast.Subscript) or (
                        isinstance(inner, ast.Attribute) and (anew or not is_name(inner.value, "self"))
                    ):
                        yield node
        elif isinstance(node, ast.Global) and name in node.names:
            yield node


def _names_of(tree: ast.AST, attribute: str) -> set[str]:
    """The local names that are given an attribute of that name, or one of a name that stands nowhere."""
    return {
        target.id
        for part in walk(tree)
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name)
        and (
            (isinstance(part.value, ast.Attribute) and part.value.attr == attribute)
            or (isinstance(part.value, ast.Call) and getattr(part.value.func, "id", "") == "getattr")
        )
    }
