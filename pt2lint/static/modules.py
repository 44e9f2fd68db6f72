"""The project's modules: where names come from, across files, without importing anything.

A `Project` finds first-party modules on disk from the linted files' package roots, parses each once and keeps a
bounded number of trees; functions and classes are looked up by module and name.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def decode(data: bytes) -> str:
    """A file's text, in the encoding that it declares, with its line ends as they are.

    Raises SyntaxError (an unknown or wrong declared encoding) or UnicodeDecodeError.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


def parse(source: str, path: str) -> ast.Module:
    """Parse without letting the file's own invalid escapes print warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, path)


_children: dict[type[ast.AST], tuple[str, ...]] = dict.fromkeys(
    (ast.Name, ast.Constant, ast.alias, ast.Global, ast.Nonlocal, ast.Pass), ()
)
_LEAVES = {"ctx", "op", "ops", "type_comment", "kind"}


def walk(root: ast.AST) -> list[ast.AST]:
    """What `ast.walk` gives, in its order, less operators and contexts; five times as fast."""
    found = [root]
    for node in found:
        kind = node.__class__
        names = _children.get(kind)
        if names is None:
            names = _children[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
        for name in names:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


class ClassInfo:
    """A class statement: its bases, methods and class-level names."""

    def __init__(self, node: ast.ClassDef, module: Module, env: dict[str, Any] | None = None) -> None:
        self.node, self.module, self.name, self.env = node, module, node.name, env
        self.methods: dict[str, FunctionNode] = {}
        self.attributes: dict[str, ast.expr] = {}
        self.annotations: dict[str, ast.expr] = {}
        for statement in _flat(node.body):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                # A property's setter has the property's name: the getter came first and is what reads use.
                if statement.name not in self.methods or not _is_setter(statement):
                    self.methods[statement.name] = statement
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        self.attributes[target.id] = statement.value
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                self.annotations[statement.target.id] = statement.annotation
                if statement.value is not None:
                    self.attributes[statement.target.id] = statement.value

    @cached_property
    def assigned(self) -> dict[str, list[tuple[FunctionNode, ast.expr | None]]]:
        """`self.x = value` anywhere in the class: name -> (method, value or None where it is not plain)."""
        found: dict[str, list[tuple[FunctionNode, ast.expr | None]]] = {}
        for method in self.methods.values():
            arguments = method.args.posonlyargs + method.args.args
            if not arguments:
                continue
            me = arguments[0].arg
            for node in walk(method):
                targets: list[tuple[ast.expr, ast.expr | None]] = []
                if isinstance(node, ast.Assign):
                    for t in node.targets:
                        if isinstance(t, ast.Tuple):
                            targets += [(e, None) for e in t.elts]
                        else:
                            targets.append((t, node.value))
                elif isinstance(node, ast.AnnAssign) and node.value is not None:
                    targets.append((node.target, node.value))
                elif isinstance(node, ast.AugAssign):
                    targets.append((node.target, None))
                for target, value in targets:
                    if (
                        isinstance(target, ast.Attribute)
                        and isinstance(target.value, ast.Name)
                        and target.value.id == me
                    ):
                        found.setdefault(target.attr, []).append((method, value))
        return found

    def __repr__(self) -> str:
        return f"<class {self.module.name}.{self.name}>"


def _is_setter(function: FunctionNode) -> bool:
    return any(
        isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in function.decorator_list
    )


def _is_overload(function: FunctionNode) -> bool:
    """Whether the function only declares one signature of another (typing.overload)."""
    return any(
        (d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")) == "overload"
        for d in function.decorator_list
    )


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those under its `if`, `try` and `with` included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _flat(statement.body)
            yield from _flat(statement.orelse)
        elif isinstance(statement, ast.Try):
            yield from _flat(statement.body)
            for handler in statement.handlers:
                yield from _flat(handler.body)
            yield from _flat(statement.orelse)
            yield from _flat(statement.finalbody)
        elif isinstance(statement, ast.With):
            yield from _flat(statement.body)


class Module:
    """One parsed file: what its top-level names are bound to."""

    def __init__(self, path: str, name: str, source: str, is_package: bool) -> None:
        self.path, self.name, self.is_package = path, name, is_package
        self.source = source
        self.tree = parse(source, path)
        self.lines = source.count("\n") + 1
        self.ascii = source.isascii()
        self.imports: dict[str, str] = {}
        self.star_imports: list[str] = []
        self.functions: dict[str, FunctionNode] = {}
        self.classes: dict[str, ClassInfo] = {}
        self.assigned: dict[str, list[ast.expr]] = {}
        self.values: dict[str, Any] = {}  # what the interpreter found the top-level names to be
        self.linted = False  # only linted files get findings
        for statement in _flat(self.tree.body):
            self._bind(statement)

    def _bind(self, statement: ast.stmt) -> None:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for local, target in self.import_targets(statement):
                if local == "*":
                    self.star_imports.append(target)
                else:
                    self.imports.setdefault(local, target)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not _is_overload(statement):
                self.functions.setdefault(statement.name, statement)
        elif isinstance(statement, ast.ClassDef):
            self.classes.setdefault(statement.name, ClassInfo(statement, self))
        elif isinstance(statement, ast.Assign):
            for place in statement.targets:
                if isinstance(place, ast.Name):
                    self.assigned.setdefault(place.id, []).append(statement.value)
        elif isinstance(statement, ast.AnnAssign):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                self.assigned.setdefault(statement.target.id, []).append(statement.value)

    def import_targets(self, statement: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
        """(local name, qualified name) of each name that the statement binds."""
        if isinstance(statement, ast.Import):
            return [
                (a.asname, a.name) if a.asname else (a.name.split(".")[0], a.name.split(".")[0])
                for a in statement.names
            ]
        base = statement.module or ""
        if statement.level:
            parts = self.name.split(".")
            keep = len(parts) - statement.level + (1 if self.is_package else 0)
            base = ".".join(parts[: max(keep, 0)] + ([base] if base else []))
        return [(a.asname or a.name, base if a.name == "*" else f"{base}.{a.name}") for a in statement.names]

    def column(self, line: int, offset: int) -> int:
        """The column, counted from 1 in code points, of ast's UTF-8 byte offset."""
        if self.ascii:
            return offset + 1
        return len(self._bytes[line - 1][:offset].decode("utf-8", "replace")) + 1

    @cached_property
    def _bytes(self) -> list[bytes]:
        return [text.encode() for text in self.text_lines]

    @cached_property
    def text_lines(self) -> list[str]:
        """The source's lines as Python's tokenizer counts them (form feeds do not end a line)."""
        return self.source.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def import_line(self) -> int:
        """The line before which a new import goes: after the imports at the top, else after the docstring."""
        last, after_docstring = 0, 1
        for statement in self.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                last = (statement.end_lineno or statement.lineno) + 1
            elif last:
                break
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                after_docstring = (statement.end_lineno or statement.lineno) + 1
        return last or after_docstring


class Project:
    """All modules that can be reached from the linted files. Errors of files that were asked for are the
    caller's to report: `load` raises them; look-ups of other modules answer None."""

    def __init__(self, texts: Mapping[str, str] | None = None, linted: Sequence[str] = ()) -> None:
        self._texts = texts or {}
        self._linted = frozenset(linted)
        self._digests: dict[str, str | None] = {}
        self._by_path: dict[str, Module] = {}
        self.looked_at: set[str] = set()  # every place where a first-party module was sought, found or not
        self._missing: set[str] = set()
        self._path_of: dict[str, str | None] = {}
        folders: dict[str, tuple[list[str], str]] = {}
        self._roots = list(dict.fromkeys(module_name(path, folders)[1] for path in linted))

    def load(self, path: str) -> Module:
        """The module at `path`. Raises OSError, SyntaxError, ValueError, RecursionError or MemoryError."""
        module = self._by_path.get(path)
        if module is None:
            name, root, is_package = module_name(path)
            if root not in self._roots:
                self._roots.append(root)
            source = self._texts[path] if path in self._texts else decode(self._bytes(path))
            module = self._by_path[path] = Module(path, name, source, is_package)
            module.linted = path in self._linted
        return module

    def _bytes(self, path: str) -> bytes:
        self._digests[path] = None
        with open(path, "rb") as file:
            data = file.read()
        self._digests[path] = _digest(data)
        return data

    def digest(self, path: str) -> str | None:
        """What stands for the file's content; None where it cannot be read."""
        if path in self._texts:
            return _digest(self._texts[path].encode("utf-8", "surrogatepass"))
        try:
            if path not in self._digests:
                self._bytes(path)
        except (OSError, ValueError):
            pass
        return self._digests[path]

    def read(self) -> dict[str, str | None]:
        """The digests of all files that were read, or sought and not found."""
        return {path: self.digest(path) for path in [*self._digests, *self.looked_at]}

    def find(self, name: str) -> Module | None:
        """The first-party module of that dotted name, if a file on disk holds it and parses."""
        if name in self._missing:
            return None
        path = self._path_of.get(name)
        if path is None:
            path = self._path_of[name] = self._search(name)
        if path is None:
            self._missing.add(name)
            return None
        try:
            return self.load(path)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            self._missing.add(name)
            return None

    def _search(self, name: str) -> str | None:
        relative = name.replace(".", os.sep)
        for root in self._roots:
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                self.looked_at.add(path)
                if os.path.isfile(path):
                    return os.path.relpath(path) if not os.path.isabs(root) else path
        return None

    def is_first_party(self, qualified: str) -> bool:
        return self.find(qualified.split(".")[0]) is not None


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def module_name(path: str, folders: dict[str, tuple[list[str], str]] | None = None) -> tuple[str, str, bool]:
    """(dotted module name, import root, is it a package's __init__) of a file, by the __init__.py files above.

    `folders` remembers what was found out about folders.
    """
    folder, file = os.path.split(path)
    stem = file[:-3] if file.endswith(".py") else file
    known = None if folders is None else folders.get(folder)
    if known is None:
        known = _package(folder)
        if folders is not None:
            folders[folder] = known
    parts = [*known[0], *([] if stem == "__init__" else [stem])]
    return ".".join(parts) or stem, known[1], stem == "__init__"


def _package(folder: str) -> tuple[list[str], str]:
    """The names of the package that a folder is, and the folder that it is imported from."""
    parts: list[str] = []
    here = folder or "."
    while os.path.isfile(os.path.join(here, "__init__.py")):
        absolute = os.path.abspath(here)
        parts.insert(0, os.path.basename(absolute))
        parent = (
            os.path.dirname(here)
            if os.path.basename(here) not in ("", ".", "..")
            else os.path.join(here, "..")
        )
        here = parent or "."
    return parts, here
