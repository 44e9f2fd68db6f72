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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

from pt2lint.static.source.bodies import Does, attributes, callees, does, gives, puts, stores
from pt2lint.static.source.extensions import called_compiled, extensions
from pt2lint.static.source.nodes import FunctionNode, parse, unit_of
from pt2lint.static.source.outline import Late, Outline, Part, statements
from pt2lint.static.source.reads import FILES, Reads, calls, flat

NEVER_OURS = ("torch", "numpy")  # what everybody imports, but for those who lint these themselves
MAX_SEARCHED = 400  # files that are looked through for calls
MAX_CALLERS = 8  # files that are read because they call something


def decode(data: bytes) -> str:
    """A file's text, in the encoding that it declares, with its line ends as they are.

    Raises SyntaxError (an unknown or wrong declared encoding) or ValueError (one that is none
    of text, or not the bytes').
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        return data.decode(encoding)
    except LookupError as error:  # `hex` and others are encodings, but none of text
        raise ValueError(error) from None


class ClassInfo:
    """A class statement: its bases, methods and class-level names."""

    def __init__(
        self,
        node: ast.ClassDef,
        module: Module,
        env: dict[str, Any] | None = None,
        methods: Late | None = None,
    ) -> None:
        self.node, self.module, self.name, self.env = node, module, node.name, env
        self.methods: dict[str, FunctionNode] = {} if methods is None else methods
        self._assigned: dict[str, list[tuple[FunctionNode, ast.expr | None]]] = {}
        self._stored: dict[FunctionNode, list[tuple[str, ast.expr | None]]] = {}
        self._named: dict[FunctionNode, frozenset[str]] = {}
        self._done: dict[FunctionNode, Does] = {}
        self.attributes: dict[str, ast.expr] = {}
        self.annotations: dict[str, ast.expr] = {}
        for statement in flat(node.body):
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

    def assigned(self, name: str) -> list[tuple[FunctionNode, ast.expr | None]]:
        """`self.name = value` anywhere in the class: (method, value or None where it is not plain)."""
        self.module.asked("stores", f"{self.name} {name}")
        found = self._assigned.get(name)
        if found is None:
            mention = f".{name}"
            later = self.methods.later() if isinstance(self.methods, Late) else {}
            # What does not mention the name need not be parsed to know that it does not assign it.
            methods = [self.methods[m] for m in self.methods if m not in later or mention in later[m].text]
            found = [(m, value) for m in methods for attr, value in self._stores(m) if attr == name]
            self._assigned[name] = found
        return found

    def mentioning(self, name: str) -> list[FunctionNode]:
        """The methods in which the attribute is named, of this object or any: all that may read or set it."""
        self.module.asked("attributes", f"{self.name} {name}")
        later = self.methods.later() if isinstance(self.methods, Late) else {}
        methods = [self.methods[m] for m in self.methods if m not in later or name in later[m].text]
        return [method for method in methods if name in self._attributes(method)]

    def _attributes(self, method: FunctionNode) -> frozenset[str]:
        known = self._named.get(method)
        if known is None:
            known = self._named[method] = attributes(method)
        return known

    def gives(self) -> list[tuple[str, ast.Call]]:
        """(name, call) where a method gives an attribute of its object to a call, as the first argument."""
        self.module.asked("gives", f"{self.name} self")
        return [each for method in self.methods.values() for each in gives(method)]

    def does(self, method: str) -> Does:
        """What one of the methods does with its object."""
        self.module.asked("does", f"{self.name} {method}")
        node = self.methods[method]
        known = self._done.get(node)
        if known is None:  # a base class is asked about for each class below it
            known = self._done[node] = does(node)
        return known

    def layers(self) -> list[tuple[str, ast.expr]]:
        """(name, value) of each plain `self.name = value` in `__init__`."""
        init = self.methods.get("__init__")
        if init is None or not init.body:  # which notes that it is read
            return []
        return [(name, v) for name, v in self._stores(init) if v is not None]

    def _stores(self, method: FunctionNode) -> list[tuple[str, ast.expr | None]]:
        known = self._stored.get(method)
        if known is None:
            known = self._stored[method] = stores(method)
        return known

    def __repr__(self) -> str:
        return f"<class {self.module.name}.{self.name}>"


def _is_setter(function: FunctionNode) -> bool:
    return any(
        isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in function.decorator_list
    )


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with what it is: of `a, b = f()`, b is `f()[1]`."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        for place, part in enumerate(target.elts):
            if any(isinstance(e, ast.Starred) for e in (part, *parts[: place + 1])):
                return
            yield from _bound(part, parts[place] if place < len(parts) else _item(value, place))


def _item(value: ast.expr, place: int) -> ast.expr:
    index = ast.copy_location(ast.Constant(place), value)
    return ast.copy_location(ast.Subscript(value, index, ast.Load()), value)


def _is_late(part: Part) -> bool:
    """Whether a part need not be parsed to know what it binds."""
    return part.kind != "" and not (part.kind == "function" and "overload" in part.text[:200])


def _is_overload(function: FunctionNode) -> bool:
    """Whether the function only declares one signature of another (typing.overload)."""
    return any(
        (d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")) == "overload"
        for d in function.decorator_list
    )


class Module:
    """One parsed file: what its top-level names are bound to."""

    def __init__(
        self,
        path: str,
        name: str,
        source: str,
        is_package: bool,
        linted: bool = False,
        whole: bool = True,
        home: Callable[[str], str] = str,
        reads: Reads | None = None,
    ) -> None:
        """`home` gives the name by which the project knows what the file imports under a top-level name; `reads` is
        told what of the file is read."""
        self.path, self.name, self.is_package = path, name, is_package
        self._home = home
        self._source = source
        self._says: dict[str, bool] = {}
        self.reads = Reads() if reads is None else reads
        self.lines = source.count("\n") + 1
        self.ascii = source.isascii()
        self.imports: dict[str, str] = {}
        self.star_imports: list[str] = []
        self.functions: dict[str, FunctionNode] = Late(self._function)
        self.classes: dict[str, ClassInfo] = Late(self._class)
        self.assigned: dict[str, list[ast.expr]] = Late(self._assigned_value)
        self.values: dict[str, Any] = {}  # what the interpreter found the top-level names to be
        self.lacks: set[str] = set()  # names that were sought in vain
        self.linted = linted  # only linted files get findings
        self._parts: list[Part] = []
        self.whole = whole or not self._bind_parts()
        if self.whole:
            for statement in flat(self.tree.body):
                self._bind(statement)

    def begin(self) -> None:
        """Forget what an interpreter found: another one takes the module."""
        self.values, self.lacks = {}, set()

    @cached_property
    def tree(self) -> ast.Module:
        """The whole file, parsed. Raises what `ast.parse` raises."""
        tree = parse(self._source, self.path)
        self.reads.watch(tree.body, self.path)
        return tree

    @property
    def source(self) -> str:
        """All of the text: whoever reads it depends on all of it. `says` and `asked` are for those who ask less."""
        self.reads.whole.add(self.path)
        return self._source

    @property
    def in_package(self) -> bool:
        """Whether it is imported as part of a package: it lies in one, or imports from beside it as only such may."""
        return "." in self.name or self.says("\nfrom .")

    def says(self, word: str) -> bool:
        """Whether the text holds it."""
        text = self.asked("word", word)
        known = self._says.get(word)
        if known is None:
            known = self._says[word] = word in text
        return known

    def holds(self, line: str) -> bool:
        """Whether it is one of the file's lines."""
        self.asked("line", line)
        return line in self._text_lines

    def asked(self, kind: str, about: str) -> str:
        """The text, for one who only asks of it what the fact of that kind says (reads.FACTS)."""
        self.reads.facts.add((self.path, kind, about))
        return self._source

    @cached_property
    def indent(self) -> str:
        """What a block of the file is indented by: as most blocks of its top level and right below it are."""
        lines = self._source.split("\n")
        found: Counter[str] = Counter()
        for top in self.tree.body:
            for block in (top, *getattr(top, "body", ())):
                inner = getattr(block, "body", None)
                if isinstance(block, ast.stmt) and isinstance(inner, list) and inner[0].lineno > block.lineno:
                    line = lines[inner[0].lineno - 1]
                    white = line[: len(line) - len(line.lstrip(" \t"))]
                    found[white[block.col_offset :]] += 1
        del found[""]
        return found.most_common(1)[0][0] if found else ""

    # Parts, for files that are only imported

    def _bind_parts(self) -> bool:
        """Bind the top-level names without parsing what only its name is needed of; False where that fails."""
        if "\r" in self._source or "\f" in self._source:
            return False
        self._outline = Outline(self._source)
        self._parts = self._outline.parts()
        try:
            bound: list[tuple[Part, list[ast.stmt]]] = [
                (part, [] if _is_late(part) else list(flat(statements(part)))) for part in self._parts
            ]
        except (SyntaxError, ValueError):
            self._parts = []
            return False
        for part, found in bound:
            if part.kind == "function" and _is_late(part):
                self.functions.setdefault(part.name, part)  # type: ignore[arg-type]
            elif part.kind == "class":
                self.classes.setdefault(part.name, part)  # type: ignore[arg-type]
            elif part.kind == "name":
                self.assigned.setdefault(part.name, []).append(part)  # type: ignore[arg-type]
            for statement in found:
                self._bind(statement)
        return True

    def _statement(self, part: Part) -> Any:
        """The statement that a part is. One that was cut badly is found in the whole file; a file that does not
        parse holds no more than the names."""
        try:
            found = statements(part)
            (statement,) = found
            self.reads.watch(found, self.path)
            return statement
        except (SyntaxError, ValueError):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                for one in flat(self.tree.body):
                    if one.lineno >= part.first and getattr(one, "name", part.name) == part.name:
                        return one
        stub = {"class": f"class {part.name}: pass", "function": f"def {part.name}(*args, **more): raise"}
        return ast.parse(stub.get(part.kind, f"{part.name} = unknown")).body[0]

    def _function(self, part: Part) -> FunctionNode:
        return self._statement(part)

    def _assigned_value(self, part: Part) -> ast.expr:
        return self._statement(part).value

    def _class(self, part: Part) -> ClassInfo:
        methods = [
            m for m in self._outline.methods(part) if ".setter" not in m.text and ".deleter" not in m.text
        ]
        lines = part.text.split("\n")
        for method in methods:
            first, last = method.first - part.first, method.last - part.first
            lines[first : last + 1] = [""] * (last + 1 - first)
            # An empty body would not parse.
            lines[first] = method.text[: len(method.text) - len(method.text.lstrip())] + "pass"
        late = Late(self._function)
        late.update({m.name: m for m in methods})
        try:
            (node,) = statements(part._replace(text="\n".join(lines)))
        except (SyntaxError, ValueError):
            return ClassInfo(self._statement(part), self)
        assert isinstance(node, ast.ClassDef)
        return ClassInfo(node, self, None, late)

    def put_later(self, name: str) -> list[ast.Call]:
        """The calls whose results functions of the file put into a global of that name."""
        self.asked("puts", f" {name}")
        later, said = self.functions.later() if isinstance(self.functions, Late) else {}, f"global {name}"
        return [
            call
            for function in self.functions
            if function not in later or said in later[function].text
            for call in puts(self.functions[function], name)
        ]

    def callees(self, function: str) -> list[ast.expr]:
        """The names, dotted ones too, that a function of the file calls."""
        self.asked("callees", f" {function}")
        return callees(self.functions[function])

    def unit_at(self, line: int) -> tuple[int, int] | None:
        """The lines of the top-level function, method or statement that holds the line."""
        if self._parts and not self.linted:  # of a linted file, where its own group says that it ends
            parts = self._parts_around(line)
            return (parts[-1].first, parts[-1].last) if parts else None
        around = self._around(line)
        return unit_of(around[-1]) if around and not isinstance(around[-1], ast.ClassDef) else None

    def _parts_around(self, line: int) -> list[Part]:
        """The part that holds the line, and where that is a class, the method."""
        part = next((p for p in self._parts if p.first <= line <= p.last), None)
        methods = self._outline.methods(part) if part is not None and part.kind == "class" else []
        return [p for p in (part, *methods) if p is not None and p.first <= line <= p.last]

    def _around(self, line: int) -> list[ast.stmt]:
        """The statements that hold the line: classes, and what stands in the innermost one."""
        found: list[ast.stmt] = []
        body: Sequence[ast.stmt] = self.tree.body
        while True:
            holder = next((s for s in body if unit_of(s)[0] <= line <= unit_of(s)[1]), None)
            if holder is None:
                return found
            found.append(holder)
            if not isinstance(holder, ast.ClassDef):
                return found
            body = holder.body

    def place_of(self, line: int) -> str:
        """The line counted from the beginning of the top-level function, method or statement that holds it."""
        around: list[tuple[str, int]] = (
            [(getattr(statement, "name", ""), unit_of(statement)[0]) for statement in self._around(line)]
            if self.whole
            else [(part.name, part.first) for part in self._parts_around(line)]
        )
        name = ".".join(name for name, _ in around)
        return f"{self.path} {name}+{line - around[-1][1] if around else line}"

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
                for name, value in _bound(place, statement.value):
                    self.assigned.setdefault(name, []).append(value)
        elif isinstance(statement, ast.AnnAssign):
            if isinstance(statement.target, ast.Name) and statement.value is not None:
                self.assigned.setdefault(statement.target.id, []).append(statement.value)

    def import_targets(self, statement: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
        """(local name, qualified name) of each name that the statement binds."""
        if isinstance(statement, ast.Import):
            return [
                (a.asname, self._absolute(a.name))
                if a.asname
                else (a.name.split(".")[0], self._absolute(a.name.split(".")[0]))
                for a in statement.names
            ]
        base = statement.module or ""
        if statement.level:
            parts = self.name.split(".")
            keep = len(parts) - statement.level + (1 if self.is_package else 0)
            base = ".".join(parts[: max(keep, 0)] + ([base] if base else []))
        base = self._absolute(base)
        return [(a.asname or a.name, base if a.name == "*" else f"{base}.{a.name}") for a in statement.names]

    def _absolute(self, name: str) -> str:
        top, dot, rest = name.partition(".")
        return self._home(top) + dot + rest

    def column(self, line: int, offset: int) -> int:
        """The column, counted from 1 in code points, of ast's UTF-8 byte offset."""
        if self.ascii:
            return offset + 1
        return len(self._bytes[line - 1][:offset].decode("utf-8", "replace")) + 1

    @cached_property
    def _bytes(self) -> list[bytes]:
        return [text.encode() for text in self._text_lines]

    def as_written(self, first: int, last: int) -> str:
        """The text between two lines, for rules: what they say depends on its comments and layout too, and on the
        little of the rest of the file that fixes.file tells of `text`."""
        self.reads.rules.add((self.path, first, last))
        return "\n".join(self._text_lines[first - 1 : last]) + "\n"

    @property
    def text(self) -> str:
        """The whole text, for what notes by itself what it reads of it."""
        return self._source

    @cached_property
    def _text_lines(self) -> list[str]:
        """The lines, as Python's tokenizer counts them (form feeds do not end a line)."""
        return self._source.replace("\r\n", "\n").replace("\r", "\n").split("\n")

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

    def __init__(
        self,
        texts: Mapping[str, str] | None = None,
        linted: Sequence[str] = (),
        parsed: Project | None = None,
    ) -> None:
        """`parsed` is a project of the same files in which nothing is interpreted: what it parses is taken from it, by
        one project at a time."""
        self._texts = texts or {}
        self._linted = frozenset(linted)
        self._parsed = parsed
        self._digests: dict[str, str | None] = {}
        self._given: set[str] = set()  # what was read of `texts`
        self._by_path: dict[str, Module] = {}
        self.reads = Reads()
        if parsed is not None:
            self.reads = parsed.reads  # what is taken from it notes there what is read
            self.reads.begin()
        self.looked_at: set[str] = set()  # every place where a first-party module was sought, found or not
        self._missing: set[str] = set()
        self._extensions: set[str] | None = None
        self._path_of: dict[str, str | None] = {}
        self._homes: dict[tuple[str, str], str] = {}
        self._folders: dict[str, bool] = {}
        self._nearest: dict[str, list[str]] = {}
        self._first_roots: list[str]
        self._own: set[str]
        if parsed is not None:
            self._first_roots, self._own = parsed._first_roots, parsed._own
        else:
            folders: dict[str, tuple[list[str], str]] = {}
            places = [module_name(path, folders) for path in linted]
            self._first_roots = list(dict.fromkeys(root for _, root, _ in places))
            self._own = {
                top
                for top, root in dict.fromkeys((name.split(".", 1)[0], root) for name, root, _ in places)
                if top not in NEVER_OURS or not _lies_in_package(root)
            }
        self._roots = [*self._first_roots]

    def load(self, path: str, whole: bool = True) -> Module:
        """The module at `path`. Raises OSError, SyntaxError, ValueError, RecursionError or MemoryError.

        With `whole` it is parsed at once, else as far as it is asked about.
        """
        module = self._by_path.get(path)
        if module is None or (whole and not module.whole and self._parsed is None):
            self.reads.parsed.add(path)
            name, root, is_package = module_name(path)
            if root not in self._roots:
                self._roots.append(root)
            if self._parsed is not None:
                try:
                    module = self._parsed.load(path, whole)
                finally:
                    if path in self._texts:
                        self._given.add(path)
                    else:
                        self._digests.setdefault(path, self._parsed._digests.get(path))
                module.begin()
                self._by_path[path] = module
                return module
            source = self.text(path)
            linted = path in self._linted
            module = self._by_path[path] = Module(
                path, name, source, is_package, linted, whole, partial(self.home, root), self.reads
            )
        return module

    def forget(self) -> None:
        """Let go of what is parsed."""
        self._by_path.clear()

    def text(self, path: str) -> str:
        """What the file holds, or what is there in its place; raises as `load`."""
        if path in self._texts:
            self._given.add(path)
            return self._texts[path]
        return decode(self._bytes(path))

    def _bytes(self, path: str) -> bytes:
        self._digests.setdefault(path, None)
        if self._parsed is not None:
            data = self._parsed._bytes(path)
            self._digests[path] = self._parsed._digests[path]
            return data
        with open(path, "rb") as file:
            data = file.read()
        if self._digests[path] is None:  # what is looked through again and again is hashed once
            self._digests[path] = digest_of(data)
        return data

    def digest(self, path: str) -> str | None:
        """What stands for the file's content; None where it cannot be read."""
        if path in self._texts:
            return digest_of(self._texts[path].encode("utf-8", "surrogatepass"))
        try:
            if path not in self._digests:
                self._bytes(path)
        except (OSError, ValueError):
            pass
        return self._digests[path]

    def parsed(self) -> set[str]:
        """The files that were parsed, or bound at least."""
        return set(self._by_path)

    def place_of(self, path: str, line: int) -> str:
        """A line of a file, by the function in which it stands where the file was bound."""
        module = self._by_path.get(path)
        return f"{path}+{line}" if module is None else module.place_of(line)

    def read(self) -> dict[str, str | None]:
        """The digests of all files that were read, or sought and not found."""
        return {path: self.digest(path) for path in [*self._digests, *self._given, *self.looked_at]}

    def home(self, root: str, top: str) -> str:
        """What a file below `root` means by a top-level module: its own neighbour, where several programs in one
        tree have a `model.py` each. "3@model" is the one below the fourth of the folders that are imported from."""
        if len(self._roots) < 2 or root not in self._roots:
            return top
        key = (root, top)
        if key not in self._homes:
            holding = [each for each in self._roots if _holds(each, top)] if _holds(root, top) else []
            other = holding and holding[0] != root
            self._homes[key] = f"{self._roots.index(root)}@{top}" if other else top
        return self._homes[key]

    def find(self, name: str) -> Module | None:
        """The first-party module of that dotted name, if a file on disk holds it and parses."""
        path = self._path(name)
        if path is None:
            return None
        try:
            return self.load(path, whole=False)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            self._missing.add(name)
            return None

    def asked(self, name: str, kind: str, about: str) -> str | None:
        """`Module.asked` of the first-party module of that dotted name, without binding what is in it; None where
        there is none, or it cannot be read."""
        path = self._path(name)
        if path is None:
            return None
        module = self._by_path.get(path)
        if module is not None:
            return module.asked(kind, about)
        self.reads.facts.add((path, kind, about))
        try:
            return self.text(path)
        except (OSError, SyntaxError, ValueError):
            return None

    def find_mentioning(self, name: str, word: str) -> Module | None:
        """The module of that name, unless its text plainly does not hold `word`: then it is not parsed for it.

        A package may take its names by `import *` from hundreds of modules; they are looked through for each.
        """
        path = self._path(name)
        if path is None:
            return None
        module = self._by_path.get(path)
        if module is not None:
            return module if module.says(word) or module.star_imports else None
        self.reads.facts.update(((path, "word", word), (path, "word", "import *")))
        try:
            data = None if path in self._texts else self._bytes(path)
        except OSError:
            return None
        if data is None or word.encode() in data or b"import *" in data:
            return self.find(name)
        return None

    def calling(self, words: Set[str], near: str) -> list[str]:
        """The linted files whose text calls something by one of the words, those that lie nearest to `near` first:
        "name" on its own, "owner.name", or ".name" of any owner."""
        folder, asked = os.path.dirname(near), " ".join(sorted(words))
        self.reads.facts.add((FILES, "calls near", f"{folder}\n{asked}"))
        if folder not in self._nearest:
            self._nearest[folder] = nearest(self._linted, folder)
        found: list[str] = []
        for path in self._nearest[folder]:
            if len(found) < MAX_CALLERS and self._calls_in(path, asked):
                found.append(path)
        return found

    def _calls_in(self, path: str, words: str) -> bool:
        """Whether the file's text calls something by one of the words, as far as it can be read."""
        try:
            text = self.text(path)
        except (OSError, SyntaxError, ValueError):
            return False
        self.reads.facts.add((path, "calls", words))
        return calls(text, words)

    def _path(self, name: str) -> str | None:
        if name in self._missing:
            return None
        path = self._path_of.get(name)
        if path is None:
            path = self._path_of[name] = self._search(name)
            if path is None:
                self._missing.add(name)
        return path

    def _search(self, name: str) -> str | None:
        number, at, name = name.rpartition("@")
        relative = name.replace(".", os.sep)
        top = name.split(".", 1)[0]
        for root in [self._roots[int(number)]] if at else self._roots:
            if top not in self._own and (top in NEVER_OURS or _holds_installed(root)):
                continue  # what is installed beside the project is not the project's, torch least of all
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                self.looked_at.add(path)
                if os.path.isfile(path):
                    return os.path.relpath(path) if not os.path.isabs(root) else path
        return None

    def is_extension(self, qualified: str) -> bool:
        """Whether a name is, or is in, a compiled extension: one that the project's setup.py builds, or a module that
        is called like one and lies in a package, where no file holds it."""
        if self._extensions is None:
            found = {name for root in self._roots for name in extensions(root, self._beside)}
            self._extensions = {name for name in found if self.find(name) is None}
        module = called_compiled(qualified)
        if module is not None and self.find(module) is None:
            owner = module.rpartition(".")[0]
            if not owner or not self.is_first_party(owner):
                return True
            package = self.find(owner)
            if package is not None and package.is_package:
                return True
        return any(
            qualified.startswith(name) and qualified[len(name) : len(name) + 1] in ("", ".")
            for name in self._extensions
        )

    def _beside(self, path: str) -> str | None:
        """What a file holds that may be there."""
        if path not in self._texts and not os.path.isfile(path):
            self.looked_at.add(path)
            return None
        self.reads.whole.add(path)
        try:
            return self.text(path)
        except (OSError, ValueError):
            return None

    def is_first_party(self, qualified: str) -> bool:
        top = qualified.split(".")[0]
        return self.find(top) is not None or self._is_folder(top)

    def _is_folder(self, top: str) -> bool:
        """Whether it is a folder of modules without an __init__.py, beside a file that is linted."""
        if top not in self._folders:
            number, at, name = top.rpartition("@")
            roots = [self._roots[int(number)]] if at else self._roots
            self._folders[top] = (name not in NEVER_OURS or name in self._own) and any(
                _holds_modules(os.path.join(root, name)) for root in roots if not _holds_installed(root)
            )
        return self._folders[top]


def _holds(root: str, top: str) -> bool:
    place = os.path.join(root, top)
    return os.path.isfile(f"{place}.py") or _holds_modules(place)


def _holds_modules(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".py") for entry in entries)
    except OSError:
        return False


def _lies_in_package(root: str) -> bool:
    """Whether the folder lies in a package, without being one itself: nothing is imported from there."""
    here = os.path.abspath(root)
    while (above := os.path.dirname(here)) != here:
        here = above
        if os.path.isfile(os.path.join(here, "__init__.py")):
            return True
    return False


def _holds_installed(root: str) -> bool:
    """Whether the folder is where packages of others are installed."""
    return os.path.basename(os.path.abspath(root)) in ("site-packages", "dist-packages")


def nearest(files: Iterable[str], folder: str) -> list[str]:
    """As many of the files as are looked through for calls, those that lie nearest to the folder."""
    here = os.path.abspath(folder)

    def distance(other: str) -> int:
        there = os.path.abspath(other)
        try:
            common = len(os.path.commonpath([here, there]))
        except ValueError:  # on another drive
            return 1_000
        return here[common:].count(os.sep) + there[common:].count(os.sep)

    homes = {path: os.path.dirname(path) for path in files}
    far = {each: distance(each) for each in set(homes.values())}
    return sorted(homes, key=lambda path: (far[homes[path]], path))[:MAX_SEARCHED]


def digest_of(data: bytes) -> str:
    """The name of a file's content."""
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
