"""Modules that TorchScript runs, left to the compiler."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import File, class_around, file_of
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.rule import FunctionCode

SCRIPTS = ("torch.jit.script", "torch.jit.trace", "torch.jit.freeze")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the call that the node is."""
    return accepted(unscripted(function, node)) if isinstance(node, cst.Call) else ()


def unscripted(function: FunctionCode, node: cst.Call) -> Repaired:
    """`self.inner = torch.jit.script(Inner())` as `self.inner = Inner()`, where `self.inner(x)` is called.

    Unsafe: without `torch.compile` the module then runs as Python.
    """
    called = node.func
    if not isinstance(called, cst.Attribute) or not isinstance(called.value, cst.Name):
        return Refusal("it is no attribute of the object that is called")
    file, line = file_of(function), function.range(node)[0]
    made = [
        one.value
        for cls in _classes(file, class_around(function, line))
        for one in ast.walk(cls)
        if isinstance(one, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == called.attr.value for t in one.targets)
    ]
    edits = [edit for value in made if (edit := _bare(function, file, value)) is not None]
    if not edits or len(edits) != len(made):
        return Refusal("the class does not script it")
    return fix(
        "Leave the module to the compiler, without torch.jit. Where nobody compiles it, it then runs as Python.",
        edits,
    )


def _classes(file: File, cls: ast.ClassDef | None) -> list[ast.ClassDef]:
    """The class, and those of the file from which it is derived."""
    known = {one.name: one for one in file.classes}
    found: list[ast.ClassDef] = []
    pending = [cls] if cls is not None else []
    while pending:
        one = pending.pop()
        if one not in found:
            found.append(one)
            pending += [
                known[base.id] for base in one.bases if isinstance(base, ast.Name) and base.id in known
            ]
    return found


def _bare(function: FunctionCode, file: File, value: ast.expr) -> Edit | None:
    """What `torch.jit.script(module)` is given, in its place, whatever the calls around that."""
    if not isinstance(value, ast.Call) or not value.args or isinstance(value.args[0], ast.Starred):
        return None
    head, dot, rest = ast.unparse(value.func).partition(".")
    if function.imports.get(head, head) + dot + rest not in SCRIPTS:
        return None
    inner = value.args[0]
    while _bare(function, file, inner) is not None and isinstance(inner, ast.Call):
        inner = inner.args[0]
    text = ast.get_source_segment(file.source, inner)
    return file.edit(_moved(file, inner, value, text), value) if text else None


def _moved(file: File, inner: ast.expr, outer: ast.expr, text: str) -> str:
    """The text of `inner` for where `outer` begins: its own lines go as far left as its first one does."""
    first, start = file.lines[inner.lineno - 1], file.lines[outer.lineno - 1]
    indent = len(first) - len(first.lstrip())
    by = indent - (len(start) - len(start.lstrip()))
    below = text.split("\n")[1:]
    over_lines = any(
        isinstance(one, ast.Constant | ast.JoinedStr) and one.lineno != one.end_lineno
        for one in ast.walk(inner)
    )
    if inner.lineno == outer.lineno or inner.col_offset != indent or by <= 0 or over_lines:
        return text
    if any(line[:by].strip() for line in below):
        return text
    return "\n".join([text.split("\n")[0], *(line[by:] for line in below)])
