"""A flag that a module keeps in a tensor, and Python tests at each call: the number itself, instead or beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import class_around, file_of, has_derived
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode

_WRITES = ("copy_", "fill_")
_ZEROS = {"zeros": "0", "ones": "1"}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The attribute, where the node is such a buffer, or such an attribute, in a test."""
    return accepted(beside_buffer(function, node), number_itself(function, node))


def number_itself(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`self.ready = torch.tensor(False)` as `self.ready = False`, wherever the class sets the attribute, which it only
    tests otherwise. Refused where anything else in the file touches it. Unsafe: other files may take it for a tensor.
    """
    _, asked = _read(function, node)
    around = (
        class_around(function, function.range(asked)[0]) if asked is not None and function.source else None
    )
    if asked is None or around is None:
        return Refusal("no attribute is tested here")
    name = asked.attr.value
    if any(isinstance(one, ast.Constant) and one.value == name for one in ast.walk(file_of(function).tree)):
        return Refusal("its name stands in a text: it may be a buffer, which takes no number")
    if not any(_is_own(one, name) for one in _init(around)):
        return Refusal("`__init__` does not set it: it may be a buffer of a base class")
    edits: list[Edit] = []
    for one in ast.walk(around):
        if isinstance(one, ast.Assign) and any(_is_own(target, name) for target in one.targets):
            value = _number(one.value)
            if value is None or len(one.targets) > 1 or one.value.end_lineno != one.value.lineno:
                return Refusal("what the attribute is set to is no number")
            edits.append(file_of(function).edit(value, one.value))
        elif isinstance(one, ast.Attribute) and _is_own(one.value, name):
            return Refusal("an attribute of the tensor is read")
        elif isinstance(one, ast.Call) and any(_is_own(part, name) for a in one.args for part in ast.walk(a)):
            return Refusal("the tensor is given to a function")
    own = sum(_is_own(one, name) for one in ast.walk(around))
    if not edits or own != len(edits) + len({*_tested(around, name)}):
        return Refusal("the attribute is used for more than to be tested and set")
    if _touched_elsewhere(file_of(function).tree, around, name):
        return Refusal("the attribute is used elsewhere in the file")
    return fix(
        f"Keep in `{name}` the number itself: the graph then depends on an attribute that is set now and then, and not "
        "on a tensor. It assumes that no other file takes it for a tensor.",
        tuple(edits),
    )


def beside_buffer(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`if self.ready:` as `if self._ready:`, where `__init__` registers the buffer `ready` with a number and the
    class writes nothing but numbers to it: what writes the buffer sets the attribute too, and so does
    `_load_from_state_dict`.

    Refused where anything else in the file touches the buffer. Unsafe: what copies buffers from one module to another
    by itself leaves the attribute as it is.
    """
    read, asked = _read(function, node)
    if asked is None or not function.source:
        return Refusal("no buffer is tested here")
    name = asked.attr.value
    tree = file_of(function).tree
    around = class_around(function, function.range(asked)[0])
    if around is None or any(getattr(one, "name", "") == "_load_from_state_dict" for one in around.body):
        return Refusal("the class cannot be read, or loads its state by itself")
    kept = f"_{name.lstrip('_')}" if not name.startswith("_") else f"{name}_now"
    if re.search(rf"\b{kept}\b", function.source):
        return Refusal("a name that the repair needs is taken")
    lines = file_of(function).lines
    edits: list[Edit] = []
    made: ast.Call | None = None
    seen = 0
    for statement in _statements(around):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call):
            continue
        given = _registered(call, name)
        if given is None:
            given = _written(call, name)
            seen += given is not None
        elif made is not None:
            return Refusal("the buffer is registered twice")
        else:
            made = call
        if given is not None:
            value = _number(given)
            end = statement.end_lineno or statement.lineno
            line = lines[end - 1]
            if value is None or line.rstrip()[-1:] != ")" or statement.lineno in _ends(around):
                return Refusal("what is written to the buffer is no number")
            indent = lines[statement.lineno - 1][: statement.col_offset]
            edits.append(Edit(function.path, end + 1, 1, end + 1, 1, f"{indent}self.{kept} = {value}\n"))
    if made is None:
        return Refusal("the class registers no such buffer with a number")
    own = sum(_is_own(one, name) for one in ast.walk(around))
    # Another test of the class may ask the buffer as before; whatever else is done to it is not known.
    if own != seen + sum(1 for _ in _tested(around, name)) or _touched_elsewhere(tree, around, name):
        return Refusal("the buffer is used for more than to be tested and set")
    indent = lines[around.body[-1].lineno - 1][: around.body[-1].col_offset]
    more = function.module.default_indent
    end = around.end_lineno or 0
    load = (
        f"\n{indent}def _load_from_state_dict(self, *args, **kwargs):\n"
        f"{indent}{more}super()._load_from_state_dict(*args, **kwargs)\n"
        f"{indent}{more}self.{kept} = self.{name}.item()\n"
    )
    edits.append(Edit(function.path, end + 1, 1, end + 1, 1, load))
    return fix(
        f"Keep beside the buffer `{name}` what it holds, for Python to test: the graph depends on an attribute that is "
        "set once, and not on a tensor. It assumes that nothing else writes the buffer: what copies buffers by itself, "
        "as an average of weights does, has to set the attribute too.",
        (*rewrite(function, {read: cst.parse_expression(f"self.{kept}")}), *edits),
        "once proven",
    )


def _read(function: FunctionCode, node: cst.CSTNode) -> tuple[cst.BaseExpression, cst.Attribute | None]:
    """What is tested, `self.ready` or `self.ready.item()`, and the attribute in it."""
    read = node
    if isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].comparator, cst.Integer):
        read = node.left
    if isinstance(read, cst.UnaryOperation):
        read = read.expression
    inner: cst.CSTNode = read
    if isinstance(read, cst.Call) and not read.args and isinstance(read.func, cst.Attribute):
        inner = read.func.value if read.func.attr.value == "item" else read
    of_self = isinstance(inner, cst.Attribute) and source(function, inner.value) == "self"
    tested = False
    below: cst.CSTNode = node
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.If | cst.IfExp):
            tested = outer.test is below
            break
        if isinstance(outer, cst.BaseStatement | cst.Call) and outer is not read:
            break
        below = outer
    return read, inner if of_self and tested else None  # type: ignore[return-value]


def _init(around: ast.ClassDef) -> Iterator[ast.AST]:
    return (
        part
        for one in around.body
        if isinstance(one, ast.FunctionDef) and one.name == "__init__"
        for part in ast.walk(one)
    )


def _statements(around: ast.ClassDef) -> Iterator[ast.stmt]:
    return (one for one in ast.walk(around) if isinstance(one, ast.stmt))


def _ends(around: ast.ClassDef) -> set[int]:
    """Lines in which a compound statement begins: what stands there has no line of its own."""
    return {one.lineno for one in _statements(around) if hasattr(one, "body")}


def _registered(call: ast.Call, name: str) -> ast.expr | None:
    """The tensor in `self.register_buffer("ready", tensor)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "register_buffer" or len(call.args) < 2:
        return None
    first = call.args[0]
    return call.args[1] if isinstance(first, ast.Constant) and first.value == name else None


def _written(call: ast.Call, name: str) -> ast.expr | None:
    """What is written in `self.ready.data.copy_(value)`, `self.ready.fill_(value)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _WRITES or len(call.args) != 1:
        return None
    target = call.func.value
    if isinstance(target, ast.Attribute) and target.attr == "data":
        target = target.value
    return call.args[0] if _is_own(target, name) else None


def _is_own(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _touched_elsewhere(tree: ast.Module, around: ast.ClassDef, name: str) -> bool:
    """Whether what is no method of the class, or what is derived from it, may do something with the buffer."""
    return has_derived(tree, around.name) or any(
        isinstance(one, ast.Attribute) and one.attr == name and not _is_own(one, name)
        for one in ast.walk(tree)
    )


def _number(node: ast.expr) -> str | None:
    """The one number that a tensor is made of, as it is written."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        return repr(node.value)
    if not isinstance(node, ast.Call):
        return None
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in _ZEROS:
        sizes = [one.value for one in node.args if isinstance(one, ast.Constant)]
        return _ZEROS[called] if sizes == [1] * len(node.args) else None
    if called not in ("tensor", "Tensor", "BoolTensor") or len(node.args) != 1:
        return None
    inner = node.args[0]
    if isinstance(inner, ast.List) and len(inner.elts) == 1:
        inner = inner.elts[0]
    plain = ast.Name | ast.Constant | ast.UnaryOp | ast.Not | ast.Load | ast.Attribute
    if not all(isinstance(one, plain) for one in ast.walk(inner)):
        return None
    return ast.unparse(inner)


def _tested(around: ast.ClassDef, name: str) -> Iterator[ast.AST]:
    """The places where the class asks for the buffer in a test."""
    for one in ast.walk(around):
        if isinstance(one, ast.If | ast.IfExp):
            yield from (part for part in ast.walk(one.test) if _is_own(part, name))
