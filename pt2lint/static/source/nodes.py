"""Trees of the `ast` module: parsing, walking, and where a function stands."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from typing import Any, TypeGuard, TypeVar

from pt2lint.static.source.data import without_data

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Unit = tuple[int, int]
Node = TypeVar("Node", bound=ast.AST)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MAKERS = ("__init__", "__post_init__")  # what they set was not there before
# Statements in which no other stands.
SIMPLE = frozenset(
    (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert, ast.Pass)
)
BLOCKS = (
    "body",
    "handlers",
    "orelse",
    "finalbody",
    "cases",
)  # where others stand, in the order of the source


def parse(source: str, path: str) -> ast.Module:
    """Parse without letting the file's own invalid escapes print warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(without_data(source), path)
        except SyntaxError:  # its lines are to be told of as they are
            return ast.parse(source, path)


def unit_of(node: ast.AST) -> Unit:
    """The first and last line of a function or statement, its decorators included."""
    first: int = node.lineno  # type: ignore[attr-defined]
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, decorator.lineno)
    return (first, node.end_lineno)  # type: ignore[attr-defined]


_children: dict[type[ast.AST], tuple[str, ...]] = dict.fromkeys(
    (ast.Name, ast.Constant, ast.alias, ast.Global, ast.Nonlocal, ast.Pass), ()
)
# Fields whose lists hold nodes and nothing else; a dictionary's keys may be None.
_WHOLE = frozenset(
    "args bases body cases comparators decorator_list defaults elts finalbody generators handlers ifs items keywords "
    "kwonlyargs orelse patterns posonlyargs targets values".split()
)
# Fields that hold no node, or none that anybody looks for.
_LEAVES = {"ctx", "op", "ops", "type_comment", "kind", "attr", "id", "arg", "module", "level", "asname"}


def walk(root: ast.AST) -> Sequence[ast.AST]:
    """What `ast.walk` gives, in its order, less operators and contexts; five times as fast. What a function, a class or
    a file holds is asked by many, and kept."""
    if isinstance(root, _FUNCTIONS):
        _ = root.body  # which notes that it is read
        return _unread(root)
    if not isinstance(root, (ast.Module, ast.ClassDef)):
        return with_inner([root])
    known: tuple[list[ast.AST], list[FunctionNode]] | None = root.__dict__.get("pt2lint_walk")
    if known is None:
        found = with_inner([root])
        root.__dict__["pt2lint_walk"] = (found, [node for node in found if isinstance(node, _FUNCTIONS)])
        return found
    for function in known[1]:
        _ = function.body  # which notes that it is read
    return known[0]


def _unread(function: FunctionNode) -> Sequence[ast.AST]:
    """The same, without noting that the body is read."""
    own = function.__dict__
    known: Sequence[ast.AST] | None = own.get("pt2lint_walk")
    if known is None:
        below: list[ast.AST] = []
        for name in _names(function.__class__):
            value = own.get(name)
            below += [v for v in (value if isinstance(value, list) else (value,)) if isinstance(v, ast.AST)]
        known = own["pt2lint_walk"] = [function, *with_inner(below)]
    return known


def with_inner(found: list[ast.AST]) -> list[ast.AST]:
    """These nodes, and after them all that are in them, as `walk` gives them."""
    for node in found:
        names = _children.get(node.__class__)
        for name in _names(node.__class__) if names is None else names:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += value if name in _WHOLE else [v for v in value if isinstance(v, ast.AST)]
            elif value is not None and isinstance(value, ast.AST):
                found.append(value)
    return found


def parts(function: FunctionNode | ast.Lambda, kind: type[Node]) -> list[Node]:
    """The nodes of exactly this class in a function, in the order of `walk`. Most who ask want one class, of many."""
    _ = function.body  # which notes that it is read
    return unread_parts(function, kind)


def unread_parts(function: FunctionNode | ast.Lambda, kind: type[Node]) -> list[Node]:
    """The same, without noting that the body is read: for who depends on an answer alone (bodies.py)."""
    index: dict[type[ast.AST], list[Any]] | None = function.__dict__.get("pt2lint_parts")
    if index is None:
        index = function.__dict__["pt2lint_parts"] = {}
        for node in walk(function) if isinstance(function, ast.Lambda) else _unread(function):
            index.setdefault(node.__class__, []).append(node)
    return index.get(kind, [])


def called(function: FunctionNode) -> frozenset[str]:
    """The last words of what the function calls: `step` of `self.optimizer.step()`."""
    known: frozenset[str] | None = function.__dict__.get("pt2lint_called")
    if known is None:
        known = frozenset(last_word(call.func) for call in parts(function, ast.Call))
        function.__dict__["pt2lint_called"] = known
    _ = function.body  # which notes that it is read
    return known


def binds(root: ast.AST) -> set[str]:
    """The names that something in it is assigned to."""
    return {n.id for n in walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def assigned(name: str, root: ast.AST, unpacked: bool = False) -> Sequence[ast.expr]:
    """What the name is assigned in a function, a class or a file; `unpacked`: also what it is a part of, as in
    `x, y = batch(data)`."""
    nodes = walk(root)  # which notes that it is read
    kept = "pt2lint_unpacked" if unpacked else "pt2lint_assigned"
    known: dict[str, list[ast.expr]] | None = root.__dict__.get(kept)
    if known is None:
        known = root.__dict__[kept] = {}
        for part in nodes:
            for target in part.targets if isinstance(part, ast.Assign) else ():
                for one in target.elts if unpacked and isinstance(target, ast.Tuple) else [target]:
                    if isinstance(one, ast.Name):
                        known.setdefault(one.id, []).append(part.value)  # type: ignore[attr-defined]
    return known.get(name, ())


def assigned_once(name: ast.Name, root: ast.AST, unpacked: bool = False) -> ast.expr:
    """What the name is assigned in the tree, if once, else the name itself."""
    found = assigned(name.id, root, unpacked)
    return found[0] if len(found) == 1 else name


def made_once(function: FunctionNode) -> dict[str, ast.expr]:
    """What a function assigns to its names, of those that it assigns to once, and of what is itself so or was given."""
    known: dict[str, ast.expr] | None = function.__dict__.get("pt2lint_made_once")
    if known is None:
        known = function.__dict__["pt2lint_made_once"] = _made_once(function)
    _ = function.body  # which notes that it is read
    return known


def _made_once(function: FunctionNode) -> dict[str, ast.expr]:
    made: dict[str, ast.expr] = {}
    times = dict.fromkeys((each.arg for each in parameters_in(function.args)), 1)
    for part in walk(function):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            times[part.id] = times.get(part.id, 0) + 1
        elif isinstance(part, ast.Assign) and len(part.targets) == 1:
            made.update(_pairs(part.targets[0], part.value))
    often = {name for name, count in times.items() if count > 1}
    return {
        name: value
        for name, value in made.items()
        if times[name] == 1
        and not any(isinstance(part, ast.Name) and part.id in often for part in walk(value))
    }


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """`a = x`, and each of `a, b = x, y`"""
    targets, values = [target], [value]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        if len(target.elts) == len(value.elts):
            targets, values = target.elts, value.elts
    pairs = zip(targets, values, strict=True)
    return [(one.id, made) for one, made in pairs if isinstance(one, ast.Name)]


def placed(a: ast.arguments) -> list[ast.arg]:
    """The parameters that what a call gives by place fills."""
    return [*a.posonlyargs, *a.args]


def parameters_in(a: ast.arguments) -> list[ast.arg]:
    """The parameters that have a place or a name of their own: all but `*args` and `**kwargs`."""
    return [*placed(a), *a.kwonlyargs]


def own_name(method: FunctionNode | ast.Lambda) -> str:
    """What a method calls its object, `self`: its first parameter, "" where it has none."""
    return next((p.arg for p in placed(method.args)), "")


def with_defaults(a: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """These parameters, those that go by name alone last, each with its default."""
    known: list[tuple[ast.arg, ast.expr | None]] | None = a.__dict__.get("pt2lint")
    if known is None:
        required = len(a.posonlyargs) + len(a.args) - len(a.defaults)
        defaults = [*[None] * required, *a.defaults, *a.kw_defaults]
        known = a.__dict__["pt2lint"] = list(zip(parameters_in(a), defaults, strict=True))
    return known


def last_word(node: ast.AST) -> str:
    """`c` of `a.b.c` and of `c`; "" of anything else."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def goes_over(loop: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a loop or a comprehension goes over, and what it binds."""
    if isinstance(loop, ast.For):
        return [(loop.iter, loop.target)]
    return [(generator.iter, generator.target) for generator in getattr(loop, "generators", ())]


def below(node: ast.AST) -> list[ast.AST]:
    """What `ast.iter_child_nodes` gives, less operators and contexts."""
    found: list[ast.AST] = []
    names = _children.get(node.__class__)
    for name in _names(node.__class__) if names is None else names:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += value if name in _WHOLE else [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _names(kind: type[ast.AST]) -> tuple[str, ...]:
    names = _children[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
    return names


def is_name(node: ast.AST | None, name: str) -> TypeGuard[ast.Name]:
    """The name itself, as it stands in code: `self`."""
    return isinstance(node, ast.Name) and node.id == name


def is_own(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    """`self.name`: an attribute of the object whose method it stands in, as nearly all call that."""
    return isinstance(node, ast.Attribute) and is_name(node.value, "self")


def says_none(node: ast.AST | None) -> TypeGuard[ast.Constant]:
    """`None`, as it stands in code."""
    return isinstance(node, ast.Constant) and node.value is None


def says_text(node: ast.AST | None) -> TypeGuard[ast.Constant]:
    """A text, as it stands in code, that nothing is put into."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def asks_by_name(call: ast.Call) -> bool:
    """`hasattr(owner, "name")`, `getattr(owner, "name")`"""
    return is_name(call.func, "hasattr") or is_name(call.func, "getattr")


def reads(node: ast.AST, name: str) -> bool:
    """`owner.name`, `getattr(owner, "name")`, `getattr(owner, "name", other)`"""
    if isinstance(node, ast.Call):
        named = node.args[1] if is_name(node.func, "getattr") and len(node.args) > 1 else None
        return isinstance(named, ast.Constant) and named.value == name
    return isinstance(node, ast.Attribute) and node.attr == name


def is_range(node: ast.AST) -> bool:
    """`range(...)`"""
    return isinstance(node, ast.Call) and is_name(node.func, "range")


def yields(node: FunctionNode) -> bool:
    """Whether the function itself, not one inside it, yields."""
    known: bool | None = node.__dict__.get("pt2lint_yields")
    if known is None:
        known = node.__dict__["pt2lint_yields"] = _yields(node)
    _ = node.body  # which notes that it is read
    return known


def _yields(node: FunctionNode) -> bool:
    if not parts(node, ast.Yield) and not parts(node, ast.YieldFrom):
        return False
    rest: list[ast.AST] = [*node.body]
    while rest:
        part = rest.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            rest += below(part)
    return False
