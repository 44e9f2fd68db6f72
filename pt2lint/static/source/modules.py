"""Modules and classes: where names come from, across files, without importing anything.

A `Module` is one file: its functions and classes are looked up by name, its text is asked without reading all of it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property, lru_cache
from typing import Any

from pt2lint.static.source.bodies import (
    Counting,
    Does,
    attributes,
    callees,
    counting,
    does,
    gives,
    hands,
    puts,
    says,
    stores,
)
from pt2lint.static.source.nodes import FunctionNode, last_word, parse, unit_of
from pt2lint.static.source.outline import DEFINITIONS, IMPORTS, Definitions, Late, Outline, Part, statements
from pt2lint.static.source.reads import DEFINED, Reads, flat, in_code


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
        self.methods: MutableMapping[str, FunctionNode] = {} if methods is None else methods
        self._assigned: dict[str, list[tuple[FunctionNode, ast.expr | None]]] = {}
        self._counting: list[Counting] | None = None
        self._given: list[tuple[str, ast.Call]] | None = None
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
            methods = _saying(self.methods, f".{name}")
            found = [(m, value) for m in methods for attr, value in stores(m) if attr == name]
            self._assigned[name] = found
        return found

    def mentioning(self, name: str) -> list[FunctionNode]:
        """The methods in which the attribute is named, of this object or any: all that may read or set it."""
        self.module.asked("attributes", f"{self.name} {name}")
        return [method for method in _saying(self.methods, name) if name in attributes(method)]

    def says(self, name: str) -> bool:
        """Whether a method says the name as a text, but to ask whether it is there."""
        self.module.asked("says", f"{self.name} {name}")
        return any(says(method, name) for method in _saying(self.methods, name))

    def gives(self) -> list[tuple[str, ast.Call]]:
        """(name, call) where a method gives an attribute of its object to a call, as the first argument."""
        self.module.asked("gives", f"{self.name} self")
        if self._given is None:  # a base class is asked about for each class below it
            self._given = [each for method in self.methods.values() for each in gives(method)]
        return self._given

    def does(self, method: str) -> Does:
        """What one of the methods does with its object."""
        self.module.asked("does", f"{self.name} {method}")
        return does(self.methods[method])

    def counting(self) -> list[Counting]:
        """What the methods count in."""
        self.module.asked("counting", f"{self.name} self")
        if self._counting is None:
            methods = _saying(self.methods, "+=", "range", "property")  # what tells any of it
            found = [counting(method) for method in methods]
            named = {f".{name}" for one in found for name in one.counted}
            more = (
                [method for method in _saying(self.methods, *named) if method not in methods] if named else ()
            )
            self._counting = [*found, *(counting(method) for method in more)]
        return self._counting

    def layers(self) -> list[tuple[str, ast.expr]]:
        """(name, value) of each plain `self.name = value` in `__init__`."""
        init = self.methods.get("__init__")
        if init is None or not init.body:  # which notes that it is read
            return []
        return [(name, v) for name, v in stores(init) if v is not None]

    def __repr__(self) -> str:
        return f"<class {self.module.name}.{self.name}>"


@lru_cache(maxsize=512)
def _handed(source: str) -> frozenset[str]:
    """The names of the attributes that a text sets of other objects than `self`. Many classes ask it of one file."""
    return frozenset(re.findall(r"(?<!\bself)\.(\w+)\s*=(?!=)", source))


def _saying(functions: Mapping[str, FunctionNode], *words: str) -> list[FunctionNode]:
    """Those that may have one of the words in their text."""
    names = functions.saying(words) if isinstance(functions, Late) else functions
    return [functions[name] for name in names]


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
    return any(last_word(d) == "overload" for d in function.decorator_list)


def top_level(name: str) -> str:
    """What a file means by a top-level name where no other file is known; "" for a package above it."""
    return name.strip(".")


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
        home: Callable[[str], str] = top_level,
        reads: Reads | None = None,
        parse: Callable[[str, str], ast.Module] = parse,
    ) -> None:
        """`home` gives the name by which the project knows what the file imports under a top-level name, and of ".."
        what lies two folders above the one that is imported from; `reads` is told what of the file is read; `parse`
        makes the tree of a text and its path."""
        self.path, self.name, self.is_package = path, name, is_package
        self.home, self._parse = home, parse
        self.above: tuple[str, ...] = ()  # packages that have the file below folders without an `__init__.py`
        self._source = source
        self._says: dict[str, bool] = {}
        self.reads = Reads() if reads is None else reads
        self.lines = source.count("\n") + 1
        self.ascii = source.isascii()
        self.star_imports: list[str] = []
        self.imports: MutableMapping[str, str] = Definitions(str, self._defines, IMPORTS)
        self.functions: MutableMapping[str, FunctionNode] = Definitions(self._function, self._defines)
        self.classes: MutableMapping[str, ClassInfo] = Definitions(self._class, self._defines)
        self.assigned: MutableMapping[str, list[ast.expr]] = Late(self._assigned_value)
        self.forks: list[ast.If] = []  # what binds names in two ways
        self.values: dict[str, Any] = {}  # what the interpreter found the top-level names to be
        self.lacks: set[str] = set()  # names that were sought in vain
        self.linted = linted  # only linted files get findings
        self._parts: list[Part] = []
        self._ends: dict[ast.AST, list[int]] = {}  # the last lines of what stands in it
        self.whole = whole or not self._bind_parts()
        if self.whole:
            self._bind_all(self._tree.body)

    def begin(self) -> None:
        """Forget what an interpreter found: another one takes the module."""
        self.values, self.lacks = {}, set()

    @property
    def tree(self) -> ast.Module:
        """The whole file, parsed: whoever walks it depends on all that it defines."""
        self._defines(DEFINITIONS)
        self._defines(IMPORTS)
        return self._tree

    def _defines(self, name: str) -> None:
        """Note that somebody asks what the file binds to a name, or what it defines or imports in all."""
        self.reads.facts.add((self.path, DEFINED, name))

    @cached_property
    def _tree(self) -> ast.Module:
        try:
            tree = self._parse(self._source, self.path)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            if self.whole:  # to be told of
                raise
            tree = ast.Module([], [])  # of what only is imported, the parts that parse are all there is
        self.reads.watch(tree.body, self.path)
        return tree

    @property
    def source(self) -> str:
        """All of the text: whoever reads it depends on all of it. `says` and `asked` are for those who ask less."""
        self.reads.whole.add(self.path)
        return self._source

    @property
    def in_package(self) -> bool:
        """Whether it is imported as part of a package: it lies in one, or imports from beside it as only such may, or
        from a package by its name that has it somewhere below."""
        if self.is_package or "." in self.name or self.says("\nfrom ."):
            return True
        return any(self.says(f"from {name}.") or self.says(f"import {name}.") for name in self.above)

    def says(self, word: str) -> bool:
        """Whether the text holds it."""
        text = self.asked("word", word)
        known = self._says.get(word)
        if known is None:
            known = self._says[word] = word in text
        return known

    def has(self, word: str) -> bool:
        """Whether it holds the word in more than comments."""
        return in_code(self.asked("code", word), word)

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
        lines = self._source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        found: Counter[str] = Counter()
        for top in self._tree.body:
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
            bound = [(part, [] if _is_late(part) else statements(part)) for part in self._parts]
        except (SyntaxError, ValueError):
            self._parts = []
            return False
        for part, found in bound:
            if part.kind == "function" and _is_late(part):
                self.functions[part.name] = part  # type: ignore[assignment]
            elif part.kind == "class":
                self.classes[part.name] = part  # type: ignore[assignment]
            elif part.kind == "name":
                self.assigned.setdefault(part.name, []).append(part)  # type: ignore[arg-type]
            self._bind_all(found)
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
            for one in flat(self._tree.body):
                # An assignment has no name of its own.
                if one.lineno >= part.first and getattr(one, "name", part.kind == "name") in (
                    True,
                    part.name,
                ):
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
            (node,) = statements(part, "\n".join(lines))
        except (SyntaxError, ValueError):
            return ClassInfo(self._statement(part), self)
        assert isinstance(node, ast.ClassDef)
        return ClassInfo(node, self, None, late)

    def parse_ahead(self, lines: set[int], asked: set[tuple[str, str]]) -> None:
        """Parse the functions and methods in which these lines are, of a file that is bound in parts, and those that
        answer what will be asked of classes (`OF_CLASSES`)."""
        if self.whole or not isinstance(self.functions, Late) or not isinstance(self.classes, Late):
            return
        self.functions.parse_at(lines)
        for cls in self.classes.parse_at(lines):
            if isinstance(cls.methods, Late):
                cls.methods.parse_at(lines)
        for kind, name in asked:
            if name in self.classes:
                getattr(self.classes[name], kind)()

    def put_later(self, name: str) -> list[ast.expr]:
        """What functions of the file put into a global of that name."""
        self.asked("puts", f" {name}")
        functions = _saying(self.functions, f"global {name}")
        return [value for function in functions for value in puts(function, name)]

    def handed(self, name: str) -> list[tuple[FunctionNode, ast.expr]]:
        """(function, value) where a function or method of the file sets the attribute of another object."""
        if name not in _handed(self.asked("matches", rf"\.{name}(?<!\bself\.{name})\s*=(?!=)")):
            return []
        found: list[tuple[FunctionNode, ast.expr]] = []
        for where, functions in (("", self.functions), *((c, self.classes[c].methods) for c in self.classes)):
            self.asked("hands", f"{where} {name}")
            found += [(f, value) for f in _saying(functions, f".{name}") for value in hands(f, name)]
        return found

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
        within: ast.Module | ast.ClassDef = self._tree
        while True:
            if within not in self._ends:
                self._ends[within] = [unit_of(statement)[1] for statement in within.body]
            at = bisect_left(self._ends[within], line)
            if at == len(within.body) or unit_of(within.body[at])[0] > line:
                return found
            holder = within.body[at]
            found.append(holder)
            if not isinstance(holder, ast.ClassDef):
                return found
            within = holder

    def place_of(self, line: int) -> str:
        """The line counted from the beginning of the top-level function, method or statement that holds it."""
        around: list[tuple[str, int]] = (
            [(getattr(statement, "name", ""), unit_of(statement)[0]) for statement in self._around(line)]
            if self.whole
            else [(part.name, part.first) for part in self._parts_around(line)]
        )
        name = ".".join(name for name, _ in around)
        return f"{self.path} {name}+{line - around[-1][1] if around else line}"

    def _bind_all(self, body: list[ast.stmt]) -> None:
        """Of what is defined twice, the last counts; of what stands in the arms of an `if` or a `try`, the first."""
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_overload(statement):
                self.functions.pop(statement.name, None)
            elif isinstance(statement, ast.ClassDef):
                self.classes.pop(statement.name, None)
            for each in flat([statement]):
                self._bind(each)

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
        elif isinstance(statement, ast.If) and statement.orelse:
            self.forks.append(statement)

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
            over = (
                [self.home("." * -keep)] if keep < 0 else []
            )  # a package around folders without an `__init__.py`
            base = ".".join(filter(None, [*over, *parts[: max(keep, 0)], base]))
        base = self._absolute(base)
        return [(a.asname or a.name, base if a.name == "*" else f"{base}.{a.name}") for a in statement.names]

    def _absolute(self, name: str) -> str:
        top, dot, rest = name.partition(".")
        return self.home(top) + dot + rest

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
        for statement in self._tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                last = (statement.end_lineno or statement.lineno) + 1
            elif last:
                break
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                after_docstring = (statement.end_lineno or statement.lineno) + 1
        return last or after_docstring
