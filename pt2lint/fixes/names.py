"""Where names are read and bound, and which are free."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from pt2lint.fixes.nodes import ancestors, assigned, enclosing_function, parameters
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import children


@dataclass(frozen=True)
class Use:
    """One place where a name is read or bound."""

    name: str
    binds: bool
    node: cst.CSTNode


def _note_uses(node: cst.CSTNode, found: list[Use]) -> None:
    """Add the uses of names below the node, in order of evaluation."""
    parts: Iterable[cst.CSTNode | None] = ()
    targets: Iterable[cst.CSTNode] = ()
    if node.__class__.__name__ not in _OF_NAMES:
        parts = children(node)
    elif isinstance(node, cst.Name):
        found.append(Use(node.value, False, node))
    elif isinstance(node, cst.ImportAlias):
        found.append(Use(node.evaluated_alias or node.evaluated_name.split(".")[0], True, node))
    elif isinstance(node, cst.FunctionDef):
        found.append(Use(node.name.value, True, node))
        found += [use for use in uses(node.params, node.body) if not use.binds]
    elif isinstance(node, cst.AsName):
        targets = [node.name]
    elif isinstance(node, cst.Attribute | cst.Arg):
        parts = [node.value]
    elif isinstance(node, cst.Param):
        parts = [node.default]
    elif isinstance(node, cst.CompFor):  # its target lives in the comprehension alone
        parts = [node.iter, *node.ifs, node.inner_for_in]
    elif isinstance(node, cst.Assign):
        parts, targets = [node.value], [one.target for one in node.targets]
    elif isinstance(node, cst.AugAssign):
        parts, targets = [node.target, node.value], [node.target]
    elif isinstance(node, cst.AnnAssign | cst.NamedExpr) and node.value is not None:
        parts, targets = [node.value], [node.target]
    elif isinstance(node, cst.For):
        _note_uses(node.iter, found)
        _note_bound(node.target, found)
        parts = [node.body, node.orelse]
    for part in parts:
        if part is not None:
            _note_uses(part, found)
    for target in targets:
        _note_bound(target, found)


# By name: LibCST is imported once something is to be fixed.
_OF_NAMES = frozenset(
    "Name Attribute Arg Assign AugAssign AnnAssign NamedExpr For CompFor AsName ImportAlias Param FunctionDef".split()
)


def _note_bound(target: cst.CSTNode, found: list[Use]) -> None:
    """Add the names that an assignment to the target binds; those that it reads, as `x[0] =` and `x.a =` read x."""
    if isinstance(target, cst.Name):
        found.append(Use(target.value, True, target))
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _note_bound(element.value, found)
    elif isinstance(target, cst.StarredElement):
        _note_bound(target.value, found)
    else:
        _note_uses(target, found)


def uses(*nodes: cst.CSTNode) -> list[Use]:
    """Every use of a name below the nodes, in order of evaluation; attributes and keywords are not names."""
    return [use for node in nodes for use in _uses(node)]


@lru_cache(maxsize=256)  # repairs ask again and again about the function's body and the branch
def _uses(node: cst.CSTNode) -> tuple[Use, ...]:
    found: list[Use] = []
    _note_uses(node, found)
    return tuple(found)


def reads(*nodes: cst.CSTNode) -> set[str]:
    """The names that are read below the nodes."""
    return {use.name for use in uses(*nodes) if not use.binds}


def binds(*nodes: cst.CSTNode) -> list[str]:
    """The names bound below the nodes, each once, in order."""
    return list(dict.fromkeys(use.name for use in uses(*nodes) if use.binds))


def fresh(function: FunctionCode, wanted: str, owner: cst.CSTNode | None = None) -> str:
    """A name that the function does not use, from `wanted`; and that no repair of another node than `owner` was given,
    since both may be made."""
    given: dict[str, cst.CSTNode | None] = function.memo.setdefault("fresh names", {})
    taken = set(re.findall(r"(?<![\w.])\w+", function.text)) | set(function.imports)
    taken |= {name for name, other in given.items() if owner is not None and other is not owner}
    found = next(name for name in _numbered(wanted) if name not in taken)
    given.setdefault(found, owner)
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def bound_before(function: FunctionCode, name: str, statement: cst.CSTNode) -> bool:
    """Whether the name surely has a value when the statement is reached: a parameter, or bound earlier in a
    block that the statement is in."""
    here: cst.CSTNode = statement
    for parent in ancestors(function, statement):
        if isinstance(parent, cst.IndentedBlock):
            for sibling in parent.body:
                if sibling is here:
                    break
                if name in surely_binds(sibling):
                    return True
        if isinstance(parent, cst.For):
            bound: list[Use] = []
            _note_bound(parent.target, bound)
            if any(use.name == name and use.binds for use in bound):
                return True
        if isinstance(parent, cst.FunctionDef):
            return name in {param.name.value for param in parameters(parent)}
        here = parent
    return False


def surely_binds(statement: cst.CSTNode) -> set[str]:
    """The names that are bound once the statement is done, whatever way it went."""
    if isinstance(statement, cst.SimpleStatementLine | cst.FunctionDef | cst.ClassDef):
        return set(binds(statement)) if not isinstance(statement, cst.FunctionDef) else {statement.name.value}
    if isinstance(statement, cst.With):
        return set().union(*(surely_binds(inner) for inner in statement.body.body))
    if isinstance(statement, cst.If) and statement.orelse is not None:
        first = set().union(*(surely_binds(inner) for inner in statement.body.body), set())
        other = statement.orelse
        if isinstance(other, cst.If):
            return first & surely_binds(other)
        return first & set().union(*(surely_binds(inner) for inner in other.body.body), set())
    return set()


def live_after(function: FunctionCode, name: str, statements: Sequence[cst.CSTNode]) -> bool:
    """Whether the name may be read once the statements (neighbours in one block) are done."""
    owner = enclosing_function(function, statements[0])
    if owner is None:
        return True
    inside = {id(use.node) for use in uses(*statements)}
    loop = next(
        (
            node
            for node in ancestors(function, statements[0])
            if isinstance(node, cst.For | cst.While | cst.FunctionDef)
        ),
        None,
    )
    in_loop = {id(use.node) for use in uses(loop)} if isinstance(loop, cst.For | cst.While) else set()
    end = max(function.range(statement)[2:] for statement in statements)
    for use in uses(owner.body):
        if use.name != name or use.binds:
            continue
        if id(use.node) not in inside and (function.range(use.node)[:2] >= end or id(use.node) in in_loop):
            if not _bound_anew(function, use, statements[0]):
                return True
    # Within a loop, the next turn may read it first among the statements themselves.
    return bool(in_loop) and _read_first(name, statements) and isinstance(loop, cst.For | cst.While)


def _bound_anew(function: FunctionCode, use: Use, after: cst.CSTNode) -> bool:
    """Whether the name is assigned after `after` and before it is read, in the read's block or one around it."""
    above = {id(one) for one in (after, *ancestors(function, after))}
    here: cst.CSTNode = use.node
    for outer in ancestors(function, use.node):
        if isinstance(outer, cst.IndentedBlock):
            passed = [at for at, one in enumerate(outer.body) if id(one) in above]
            first, last = (
                max(passed, default=-1) + 1,
                next(at for at, one in enumerate(outer.body) if one is here),
            )
            if any((assigned(one) or ("",))[0] == use.name for one in outer.body[first:last]):
                return True
            if passed:
                return False
        here = outer
    return False


def _read_first(name: str, statements: Sequence[cst.CSTNode]) -> bool:
    first = next((use for use in uses(*statements) if use.name == name), None)
    return first is not None and not first.binds
