"""What a repair has to know of the file around its function: which names are bound when, where a line may go, and how
the file is laid out."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pt2lint.finding import Edit
from pt2lint.packages import package_of
from pt2lint.project.habits import Habits, habits

if TYPE_CHECKING:
    from pt2lint.rule import FunctionCode


# When an import binds a name: each time the file is loaded, only then if a condition holds, only for type checkers,
# only inside a function, not at all.
Bound = Literal["always", "sometimes", "typing", "inside", "no"]
# What may be an import that is no line of the top level.
_INDENTED_IMPORT = re.compile(r"(?:^[ \t]+|[:;][ \t]*)(?:from|import)\b", re.MULTILINE)
_SAYS_COMPILE = re.compile(r"\bcompile\b")
LINE_LENGTH = 88  # black's and ruff's own, where neither the project nor the file says otherwise


@dataclass(frozen=True)
class _Import:
    """One name that the file imports at its top level."""

    local: str
    target: str
    bound: Bound
    line: int
    end: int  # the line after the statement


class File:
    """The text of one file; `path` leads to the settings of its project."""

    def __init__(self, path: str, source: str, tree: ast.Module | None = None) -> None:
        self.path = path
        self.source = source.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.source.split("\n")
        if tree is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.source)
        self.tree = tree

    @cached_property
    def imports(self) -> list[_Import]:
        return list(_imports(self.tree.body, "always"))

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All nodes of the tree, as `ast.walk` gives them: repairs of many functions look through them."""
        return [*ast.walk(self.tree)]

    @cached_property
    def classes(self) -> Sequence[ast.ClassDef]:
        """All classes of the file, outer ones before those in them."""
        return [node for node in self.nodes if isinstance(node, ast.ClassDef)]

    @cached_property
    def _inside(self) -> set[str]:
        """The names that imports inside functions bind."""
        if not _INDENTED_IMPORT.search(self.source):
            return set()
        return {
            (alias.asname or alias.name).split(".")[0]
            for node in self.nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        } - {one.local for one in self.imports}

    def bound(self, name: str, before: int | None = None) -> Bound:
        """When imports bind the name, for code that runs when the file is loaded up to the line `before`, or later."""
        found = {
            one.bound for one in self.imports if one.local == name and (before is None or one.line < before)
        }
        for bound in ("always", "sometimes", "typing"):
            if bound in found:
                return bound
        return "inside" if name in self._inside else "no"

    @cached_property
    def rebound(self) -> set[str]:
        """The names that the file gives anything but a constant at its top, whatever it imports by them:
        `torch = stand_in()`."""
        parts: list[ast.AST] = [*self.tree.body]
        found: set[str] = set()
        while parts:
            part = parts.pop()
            if isinstance(part, ast.Assign) and not isinstance(part.value, ast.Constant):
                found |= {target.id for target in part.targets if isinstance(target, ast.Name)}
            if isinstance(part, ast.If | ast.Try | ast.With | ast.ExceptHandler):
                parts += ast.iter_child_nodes(part)
        return found

    @property
    def loads_torch(self) -> bool:
        """Whether to import torch when the file is loaded changes nothing for those who load it: it does, or may do so
        through what it imports of its own package. What imports neither is also for those who have no torch."""
        heads = {one.target.split(".")[0] for one in self.imports if one.bound == "always"}
        if any("torch" in head or head == "lightning" for head in heads):
            return True
        asked = "torch" in self._inside or any(one.target.split(".")[0] == "torch" for one in self.imports)
        return not asked and ("" in heads or self._package in heads)

    @cached_property
    def loaded(self) -> set[str]:
        """The packages that are surely there once the file is loaded: what it imports, but for its own package."""
        heads = {one.target.split(".")[0] for one in self.imports if one.bound == "always"}
        return heads - {"", *Path(self.path).absolute().parts}

    @cached_property
    def _compile_calls(self) -> list[ast.AST]:
        """What the file calls, or gives as a decorator, that is torch.compile: the call, or the name alone."""
        if not _SAYS_COMPILE.search(self.source):
            return []
        names = {one.local: one.target for one in self.imports}
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.Name | ast.Attribute | ast.Call)
            and qualified(node.func if isinstance(node, ast.Call) else node, names) == "torch.compile"
        ]

    @property
    def compiles(self) -> bool:
        """Whether the file calls torch.compile."""
        return bool(self._compile_calls)

    @cached_property
    def compiled_names(self) -> set[str]:
        """The names, of functions or methods, that the file gives to torch.compile."""
        given = [call.args[0] for call in self._compile_calls if isinstance(call, ast.Call) and call.args]
        ends = [one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in given]
        return {*ends} - {""}

    @cached_property
    def is_script(self) -> bool:
        """Whether a program starts here."""
        return any(_is_main(statement) for statement in self.tree.body)

    @cached_property
    def may_set(self) -> bool:
        """Whether what holds for the whole process can be set here: where something is compiled, but not in a module of
        a package unless a program starts there. A program that compiles nothing itself shows, mostly, what its file
        holds."""
        packed = (Path(self.path).absolute().parent / "__init__.py").exists()
        return self.compiles and (self.is_script or not packed)

    @cached_property
    def after_imports(self) -> int:
        """The line before which what is done once goes: after the last import that comes before all definitions."""
        last = 0
        for statement in self.tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if any(True for _ in _imports([statement], "always")):
                last = (statement.end_lineno or statement.lineno) + 1
        return last or self._after_docstring

    def after_what_binds(self, names: Container[str]) -> int:
        """The line before which a function goes that reads these names: after the imports, and after `logger = ...`
        where that comes before all definitions."""
        last = self.after_imports
        for statement in self.tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                break
            if isinstance(statement, ast.Assign) and any(
                isinstance(one, ast.Name) and one.id in names for one in statement.targets
            ):
                last = max(last, (statement.end_lineno or statement.lineno) + 1)
        return last

    @cached_property
    def _after_docstring(self) -> int:
        first = self.tree.body[0] if self.tree.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            return (first.end_lineno or first.lineno) + 1
        return 1

    def place_of(self, module: str) -> tuple[int, str, str]:
        """The line before which `import module` goes, as isort has it (among its like, plain imports first), and what
        parts it from the imports of another section above and below it."""
        group = self._group(module)
        tops = [s for s in self.tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
        if not tops:
            return self._after_docstring, "", ""
        run: list[ast.stmt] = []  # the imports at the top, up to the first statement that is none
        for statement in self.tree.body:
            if statement in tops:
                run.append(statement)
            elif run:
                break
        related = [s for s in run if _module(s).split(".")[0] == module.split(".")[0]]
        alike = related or [s for s in run if self._group(_module(s)) == group and not _relative(s)]
        if alike:
            section = self._section(run, alike[0])
            plain = [s for s in section if isinstance(s, ast.Import) and _module(s) < module]
            below = [s for s in related if isinstance(s, ast.Import) and _module(s) >= module]
            if below:
                return below[0].lineno, "", ""  # beside torch.nn, also where the imports are in no order
            if plain:
                return (plain[-1].end_lineno or plain[-1].lineno) + 1, "", ""
            return section[0].lineno, "", ""
        earlier = [s for s in run if self._group(_module(s)) < group and not _relative(s)]
        if not earlier:
            return run[0].lineno, "", "\n"
        line = (earlier[-1].end_lineno or earlier[-1].lineno) + 1
        parted = not any(one.lineno == line for one in run)
        return line, "\n" if parted else "", ""

    def _group(self, module: str) -> int:
        """The order of isort's sections: __future__, the standard library, what is installed, the own package."""
        head = module.split(".")[0]
        if head == "__future__":
            return 0
        if head in sys.stdlib_module_names:
            return 1
        return 3 if head == self._package else 2

    @cached_property
    def _package(self) -> str:
        """The package that the file belongs to, "" where it is a module of its own."""
        names, _ = package_of(os.path.dirname(os.path.abspath(self.path)))
        return names[0] if names else ""

    def _section(self, run: Sequence[ast.stmt], one: ast.stmt) -> list[ast.stmt]:
        """The imports that stand in one block with this one."""
        at = run.index(one)
        first = last = at
        while first and run[first].lineno == (run[first - 1].end_lineno or 0) + 1:
            first -= 1
        while last + 1 < len(run) and run[last + 1].lineno == (run[last].end_lineno or 0) + 1:
            last += 1
        return list(run[first : last + 1])

    def blank_from(self, line: int) -> int:
        """How many blank lines stand from the line on; many at the end of the file."""
        for count, text in enumerate(self.lines[line - 1 :]):
            if text.strip():
                return count
        return 99

    def edit(self, text: str, first: ast.AST, last: ast.AST | None = None) -> Edit:
        """The text in place of a node of the file's tree, or of the nodes from the first to the last."""
        begin: Any = first
        end: Any = last or first
        places = (begin.lineno, begin.col_offset), (end.end_lineno, end.end_col_offset)
        (line, column), (end_line, end_column) = (
            (at, len(self.lines[at - 1].encode()[:offset].decode()) + 1) for at, offset in places
        )
        return Edit(self.path, line, column, end_line, end_column, text)

    @cached_property
    def quote(self) -> str:
        """The mark that the file puts its texts in."""
        return quote_of(self.source)

    @cached_property
    def line_length(self) -> int:
        """How long a line may be: what the project's formatter is told; else as the file's own lines, and 88."""
        told = self._habits.line_length
        return own_line_length(self.lines) if told is None else told

    @property
    def oldest_torch(self) -> tuple[int, int] | None:
        """The oldest torch on which the project says it runs."""
        return self._habits.oldest_torch

    @cached_property
    def _habits(self) -> Habits:
        return habits(self.path)

    @cached_property
    def reads(self) -> dict[str, int]:
        """How often each name is read, in all of the file."""
        count: dict[str, int] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                count[node.id] = count.get(node.id, 0) + 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                count[node.value] = count.get(node.value, 0) + 1  # in `__all__`, or a quoted annotation
        return count


def quote_of(text: str) -> str:
    """The mark that a file puts its texts in."""
    return "'" if text.count("'") > text.count('"') else '"'


# A text that no formatter breaks: longer than a word or two.
_LONG_TEXT = re.compile(r"""("[^"]{30,}"|'[^']{30,}')""")


def own_line_length(lines: Sequence[str]) -> int:
    """How long a file's lines are, as far as they are code of its own: no comments, no longer texts."""
    long: list[int] = []
    within = False
    for text in lines:
        marks = text.count('"""') + text.count("'''")
        code = text.partition(" #")[0].rstrip()
        if not within and not marks and not code.lstrip().startswith("#") and not _LONG_TEXT.search(code):
            long.append(len(code))
        within ^= marks % 2 == 1
    long.sort()
    # One line in fifty may be an oversight.
    return max(LINE_LENGTH, long[len(long) * 49 // 50] if long else 0)


def file_of(function: FunctionCode) -> File:
    """The file that the function stands in; of one whose text is not known, what the function's tells."""
    return _file(function.path, function.source, function.file_tree)


def file_at(path: str, source: str) -> File:
    """The file of that text, empty where it cannot be parsed; repairs of one function ask for it again and again."""
    return _file(path, source, None)


def class_around(function: FunctionCode, line: int) -> ast.ClassDef | None:
    """The outermost class of the function's file that holds the line."""

    classes = file_of(function).classes
    return next((one for one in classes if one.lineno <= line <= (one.end_lineno or 0)), None)


def kept_in(function: FunctionCode, line: int, name: str) -> list[ast.expr]:
    """What the methods of the class around a line assign to `self.NAME`."""
    cls = class_around(function, line)
    return [
        part.value
        for part in (ast.walk(cls) if cls is not None else ())
        if isinstance(part, ast.Assign)
        if any(isinstance(t, ast.Attribute) and ast.unparse(t) == f"self.{name}" for t in part.targets)
    ]


def method_in(cls: ast.ClassDef | None, name: str) -> ast.FunctionDef | None:
    """The method of that name that a class defines itself."""
    body = cls.body if cls is not None else ()
    return next((one for one in body if isinstance(one, ast.FunctionDef) and one.name == name), None)


def placed_in(function: ast.FunctionDef) -> list[ast.arg]:
    """The parameters that a call can fill by their place."""
    return [*function.args.posonlyargs, *function.args.args]


def has_derived(tree: ast.Module, name: str) -> bool:
    """Whether a class of the file is derived from one of that name."""
    return any(
        isinstance(one, ast.ClassDef)
        and any(name in (getattr(base, "id", ""), getattr(base, "attr", "")) for base in one.bases)
        for one in ast.walk(tree)
    )


def first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def layers(tree: ast.AST) -> list[tuple[str, str]]:
    """The attributes below the node that are made by the call of one name, with the name: `self.layer = Layer()`. The
    node keeps them."""
    known: list[tuple[str, str]] | None = tree.__dict__.get("pt2lint_layers")
    if known is None:
        known = tree.__dict__["pt2lint_layers"] = [
            (target.attr, one.value.func.id)
            for one in ast.walk(tree)
            if isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Call)
            and isinstance(one.value.func, ast.Name)
            for target in one.targets
            if isinstance(target, ast.Attribute)
        ]
    return known


@lru_cache(maxsize=8)
def _file(path: str, source: str, tree: ast.Module | None) -> File:
    try:
        return File(path, source, tree)
    except (SyntaxError, ValueError, RecursionError):
        return File(path, "")


def _imports(body: Sequence[ast.stmt], bound: Bound) -> Iterator[_Import]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            end = (statement.end_lineno or statement.lineno) + 1
            base = statement.module or "" if isinstance(statement, ast.ImportFrom) else None
            for alias in statement.names:
                if base is not None:
                    dots = "." * getattr(statement, "level", 0)
                    local, target = alias.asname or alias.name, f"{dots}{base}.{alias.name}"
                elif alias.asname:
                    local, target = alias.asname, alias.name
                else:
                    local = target = alias.name.split(".")[0]
                yield _Import(local, target, bound, statement.lineno, end)
        elif isinstance(statement, ast.If):
            test = ast.unparse(statement.test)
            inner: Bound = (
                "typing" if test.rpartition(".")[2] == "TYPE_CHECKING" or bound == "typing" else "sometimes"
            )
            yield from _imports(statement.body, inner)
            yield from _imports(statement.orelse, "typing" if bound == "typing" else "sometimes")
        elif isinstance(statement, ast.Try):
            # What is not caught ends the load: only then does the import surely happen.
            inner = "sometimes" if statement.handlers and bound == "always" else bound
            yield from _imports(statement.body, inner)
            for handler in statement.handlers:
                yield from _imports(handler.body, inner)
            yield from _imports(statement.orelse, inner)
            yield from _imports(statement.finalbody, bound)
        elif isinstance(statement, ast.With):
            yield from _imports(statement.body, bound)


def qualified(node: ast.expr, names: Mapping[str, str]) -> str:
    """What a dotted name means by the imports (the local name: what it stands for); "" where it is none."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(parts)])


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in (
        "__name__ == '__main__'",
        "'__main__' == __name__",
    )


def _module(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Import):
        return statement.names[0].name
    return getattr(statement, "module", None) or ""


def _relative(statement: ast.stmt) -> bool:
    return bool(getattr(statement, "level", 0))
