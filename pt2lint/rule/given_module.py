"""What rules about modules that a function is given share: a caller may have compiled them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Fix, Severity
from pt2lint.fixes.names import binds
from pt2lint.fixes.nodes import enclosing_function, parameters
from pt2lint.op import Op
from pt2lint.rule import Rule


def severity(op: Op) -> Severity | None:
    """The rule's own where the file compiles modules itself; elsewhere it is a note."""
    return None if op.detail("compiles") == "yes" else "note"


def told_alone(op: Op) -> bool:
    """Whether a fix is told and not written: as far as one can see nothing is compiled, and few would want the code."""
    return severity(op) is not None


def inside(name: str) -> str:
    """The module inside of the wrapper of torch.compile, where there is one."""
    return f'getattr({name}, "_orig_mod", {name})'


def original(rule: Rule, module: cst.BaseExpression, op: Op) -> str:
    """The module inside of the wrapper of torch.compile, which is there, or may be, as where a caller gives it: others
    may give what is not compiled. "" where what holds the wrapper (DistributedDataParallel) need not be there either.
    """
    text, within = rule.text(module), op.detail("within").rstrip(".")
    if op.detail("maybe") or _is_given(rule, module):
        return "" if within else inside(text)
    return f"{text}.{within}._orig_mod" if within else f"{text}._orig_mod"


def ask_original(rule: Rule, node: cst.Attribute, op: Op, says: str) -> list[Fix]:
    """`compiled.children()` -> `compiled._orig_mod.children()`"""
    inner = original(rule, node.value, op)
    return [rule.fix(says, rule.edit(node.value, inner))] if inner else []


def _is_given(rule: Rule, module: cst.BaseExpression) -> bool:
    """Whether it is an argument of its function, which binds that name to nothing else."""
    owner = enclosing_function(rule.function, module)
    return (
        owner is not None
        and isinstance(module, cst.Name)
        and module.value in {one.name.value for one in parameters(owner)} - {*binds(owner.body)}
    )


def loaded_back(source: str, place: str) -> int:
    """The line where a file loads a state into the module that it calls `place` (`self.model`), compiled by then as
    far as one can tell; 0 if none. What is saved has to have the names that are loaded there."""
    if "load_state_dict" not in source:
        return 0
    for scope in _scopes(ast.parse(source)):
        nodes = list(_own(scope))
        loads = [
            node.lineno
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "load_state_dict"
            and ast.unparse(node.func.value) == place
        ]
        bound = [node for node in nodes if isinstance(node, ast.Assign) and _binds(node, place)]
        compiled = [node.lineno for node in bound if _compiles(node.value)]
        own = bool(bound) and "." not in place  # a name of this function alone
        for line in loads:
            if min(compiled) < line if compiled else not own:
                return line
    return 0


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, or in the file, and in no function within."""
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            pending += ast.iter_child_nodes(node)


def _binds(assignment: ast.Assign, place: str) -> bool:
    return any(ast.unparse(target) == place for target in assignment.targets)


def _compiles(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
        == "compile"
        for node in ast.walk(value)
    )
