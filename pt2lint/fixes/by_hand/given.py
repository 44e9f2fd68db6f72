"""Told where what is computed of arguments alone can be computed before the call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.file import class_around, file_of
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, parameters
from pt2lint.fixes.text import cut, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

STEPS = 4  # assignments between an argument and what is computed of it


def registered(function: FunctionCode, read: cst.CSTNode | None) -> str:
    """The attribute, where the class around it registers that as a buffer."""
    cls = class_around(function, function.range(read)[0]) if read is not None else None
    if not isinstance(read, cst.Attribute) or not isinstance(read.value, cst.Name) or cls is None:
        return ""
    made = (part for part in ast.walk(cls) if isinstance(part, ast.Call) and part.args)
    named = (call.args[0] for call in made if getattr(call.func, "attr", "") == "register_buffer")
    kept = any(isinstance(name, ast.Constant) and name.value == read.attr.value for name in named)
    return source(function, read) if kept else ""


def set_once(function: FunctionCode, read: cst.CSTNode | None) -> str:
    """The attribute, where `__init__` sets it to what torch makes and nothing else in the class around it does:
    `self.off = ~torch.eye(n).bool()`."""
    cls = class_around(function, function.range(read)[0]) if read is not None else None
    if not isinstance(read, cst.Attribute) or not isinstance(read.value, cst.Name) or cls is None:
        return ""
    sets = [
        (method, part)
        for method in cls.body
        if isinstance(method, ast.FunctionDef)
        for part in ast.walk(method)
        if isinstance(part, ast.Attribute)
        and part.attr == read.attr.value
        and not isinstance(part.ctx, ast.Load)
    ]
    return source(function, read) if len(sets) == 1 and sets[0][0].name == "__init__" else ""


def set_before(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """What an argument is told in the graph, it can be told before: `x.requires_grad_()`."""
    owner = node.func if isinstance(node, cst.Call) else node
    given = arguments_of(function, owner.value, STEPS) if isinstance(owner, cst.Attribute) else ()
    if given:
        told_of = " and ".join(f"`{name}`" for name in sorted(given))
        yield told(f"Say it before the compiled code runs, where {told_of} is made")


def defined_outside(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A class that is made once."""
    yield told(
        "Define it once, at the top of the file, and give it what it takes from the function around it"
    )


def in_short(function: FunctionCode, node: cst.CSTNode) -> str:
    return cut(source(function, node))


def where_given(function: FunctionCode, node: cst.CSTNode) -> str:
    """How a value is given instead of computed; "" where more than arguments has a part in it."""
    given = sorted(arguments_of(function, node, STEPS))
    if not given or _is_made_on_the_way(function, node, given):
        return ""
    of, come = " and ".join(f"`{name}`" for name in given), "comes" if len(given) == 1 else "come"
    return (
        f"compute `{in_short(function, node)}` before the compiled code runs, where {of} {come} from, and give it as "
        "an argument"
    )


def _is_made_on_the_way(function: FunctionCode, node: cst.CSTNode, names: list[str]) -> bool:
    """Whether one of the arguments is what a method of the object gave in compiled code, at the call that leads here
    from another function of the file: `scores = self.score(x)`, then `self.checked(scores)`."""
    owner = enclosing_function(function, node)
    lines = {
        step.line for op in function.ops_at(node) for step in op.flow[1:][-1:] if step.path == function.path
    }
    if owner is None or not lines:
        return False
    for caller in file_of(function).nodes:
        if not isinstance(caller, ast.FunctionDef) or not lines & {
            *range(caller.lineno, (caller.end_lineno or 0) + 1)
        }:
            continue
        calls = [part for part in ast.walk(caller) if isinstance(part, ast.Call) and part.lineno in lines]
        here = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == owner.name.value]
        given = [value for call in here for value in _given_as(call, owner, names)]
        called = {ast.unparse(value) for value in given if isinstance(value, ast.Name)}
        given += [
            part.value
            for part in ast.walk(caller)
            if isinstance(part, ast.Assign) and any(ast.unparse(target) in called for target in part.targets)
        ]
        parts = (part.func for value in given for part in ast.walk(value) if isinstance(part, ast.Call))
        if any(ast.unparse(func).startswith("self.") for func in parts):
            return True
    return False


def _given_as(call: ast.Call, owner: cst.FunctionDef, names: list[str]) -> list[ast.expr]:
    """What a call gives as the parameters of those names."""
    placed = [each.name.value for each in parameters(owner)]
    if isinstance(call.func, ast.Attribute) and placed[:1] == ["self"]:
        placed = placed[1:]
    values = dict(zip(placed, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    return [values[name] for name in names if name in values]


def arguments_of(function: FunctionCode, node: cst.CSTNode, steps: int) -> set[str]:
    """The arguments of the function that an expression is computed of; none where anything else has a part in it, as
    what a loop binds or a layer returns."""
    owner = enclosing_function(function, node)
    if owner is None or _asks_layers(function, owner, node):
        return set()
    own = {each.name.value for each in parameters(owner)}
    found: set[str] = set()
    turns = _bound_around(function, node)
    for use in uses(node):
        if use.name in turns:
            return set()
        bound = any(each.binds and each.name == use.name for each in uses(owner.body))
        if use.name in own and (not bound or _has_default(function, owner, use.name)):
            found.add(use.name)
        elif bound:
            made = only_value(function, use.node) if steps else None
            inner = arguments_of(function, made, steps - 1) if made is not None else set()
            if not inner:
                return set()
            found |= inner
    return found - {"self", "cls"}


def _has_default(function: FunctionCode, owner: cst.FunctionDef, name: str) -> bool:
    """Whether an argument is bound again only where it is not given: `if lengths is None: lengths = ...`."""
    for use in uses(owner.body):
        if use.binds and use.name == name:
            here: cst.CSTNode | None = use.node
            while here is not None and here is not owner and not isinstance(here, cst.If):
                here = function.parent(here)
            if not isinstance(here, cst.If) or source(function, here.test) != f"{name} is None":
                return False
    return True


def _bound_around(function: FunctionCode, node: cst.CSTNode) -> set[str]:
    """The names that the comprehensions bind in which the node stands."""
    found: set[str] = set()
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.BaseStatement):
        if isinstance(here, cst.BaseComp):
            loop: cst.CompFor | None = here.for_in
            while loop is not None:
                found |= {use.name for use in uses(loop.target)}
                loop = loop.inner_for_in
        here = function.parent(here)
    return found


def only_value(function: FunctionCode, name: cst.CSTNode) -> cst.BaseExpression | None:
    """What the one statement that binds a name in its function assigns to it as a whole."""
    owner = enclosing_function(function, name)
    text = cst.ensure_type(name, cst.Name).value
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == text] if owner else []
    target = function.parent(bound[0]) if len(bound) == 1 else None
    statement = function.parent(target) if isinstance(target, cst.AssignTarget) else None
    return statement.value if isinstance(statement, cst.Assign) else None


def _asks_layers(function: FunctionCode, owner: cst.FunctionDef, node: cst.CSTNode) -> bool:
    """Whether a layer may compute any of it, a method of the object or an argument (`self.encode(x)`, `model(x)`), or a
    call that changes what it is given: `clip_grad_norm_(...)`."""
    given = parameters(owner)
    me = given[0].name.value if given and given[0].name.value in ("self", "cls") else None
    called = [part.func for part in walk(node) if isinstance(part, cst.Call)]
    return any(
        not (
            func.value in function.imports
            or func.value in function.functions
            or hasattr(builtins, func.value)
        )
        if isinstance(func, cst.Name)
        else any(use.name == me for use in uses(func)) or source(function, func).endswith("_")
        for func in called
    )
