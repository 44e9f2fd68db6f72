"""A file cut into parts means what the whole file means."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.outline import Outline

ODD = '''\
"""Text.
def not_this(): pass
class NorThis: pass
"""
from __future__ import annotations
import os.path, torch as t
from . import *
if t:
    import a
    def under_if(): pass
else:
    FLAG = 1
try:
    import b
except ImportError:
    b = None
finally:
    pass
X = Y = 1
A: int
B: int = 2
C, D = 3, 4
E = """
def not_this_either(): pass
""" ; F = 5
@decorated(
    1,
)
@twice
def decorated_function(
    x, y="""
class Neither: pass
""",
):
    z = """
@not_a_decorator
"""
    return (x,
  y)
async def asynchronous(): pass
def redefined(): return 1
def redefined(): return 2
# It's a comment with """ in it
class Empty: pass
class One(
    Base,
    metaclass=Meta,
):
    """It doesn't "matter".
    def not_a_method(self): pass
    """
    attribute: int = 1
    # def commented(self): pass
    @property
    def value(self):
        return self._value
    @value.setter
    def value(self, new):
        self._value = new
    if FLAG:
        def conditional(self): self.a = 1
    async def method(self, x=(1,
     2)):
        def nested(): pass
        self.a, self.b = 1, 2
        return nested
    other = method
class Holder:
    class Held:
        def of_held(self): pass
        @property
        def last_of_held(self): pass
    other: int = 1
class Two(One):
\tdef tabbed(self):
\t\tself.c: int = 3
'''


def described(module: Module) -> dict[str, object]:
    def dump(node: ast.AST) -> str:
        return ast.dump(node, include_attributes=True)

    def of_class(cls: ClassInfo) -> dict[str, object]:
        named = {node.attr for node in ast.walk(ast.parse(module.source)) if isinstance(node, ast.Attribute)}
        return {
            "bases": [dump(b) for b in cls.node.bases],
            "line": cls.node.lineno,
            "methods": {name: dump(cls.methods[name]) for name in sorted(cls.methods)},
            "attributes": {name: dump(value) for name, value in cls.attributes.items()},
            "annotations": {name: dump(value) for name, value in cls.annotations.items()},
            "assigned": {
                name: sorted((m.lineno, v and dump(v)) for m, v in cls.assigned(name))
                for name in sorted(named)
            },
        }

    return {
        "imports": module.imports,
        "stars": module.star_imports,
        "functions": {name: dump(node) for name, node in module.functions.items()},
        "classes": {name: of_class(cls) for name, cls in module.classes.items()},
        "assigned": {name: [dump(v) for v in values] for name, values in module.assigned.items()},
        "order": [list(module.functions), list(module.classes), list(module.assigned)],
    }


def both(source: str) -> tuple[Module, Module]:
    return Module("m.py", "m", source, False), Module("m.py", "m", source, False, whole=False)


def test_odd_code() -> None:
    whole, parts = both(ODD)
    assert parts._parts
    assert described(parts) == described(whole)


@pytest.mark.parametrize(
    "name",
    "dataclasses.py enum.py functools.py asyncio/events.py logging/__init__.py pickletools.py".split(),
)
def test_the_standard_library(name: str) -> None:
    source = (Path(sysconfig.get_paths()["stdlib"]) / name).read_text(encoding="utf-8")
    whole, parts = both(source)
    assert parts._parts
    assert described(parts) == described(whole)


@pytest.mark.parametrize(
    "source",
    [
        "x = (\n1,\n2)\ndef f(): return (\n1)\n",  # content of a bracket at the margin
        "x = 1 + \\\ny\n",
        "class C:\n    def f(self):\n        return [\n    1]\n    def g(self): pass\n",
        "def f(): pass\r\nclass C:\r\n    def g(self): pass\r\n",
        "def f(): pass\n\fclass C: pass\n",
        "",
    ],
)
def test_code_that_cuts_badly_is_parsed_whole(source: str) -> None:
    whole, parts = both(source)
    assert described(parts) == described(whole)


def test_only_what_is_asked_for_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    _, parts = both(
        "def f():\n    return 1\n\n\nclass C:\n    a = 1\n\n    def g(self):\n        self.b = 1\n"
    )
    assert parts.functions.later().keys() == {"f"}  # type: ignore[attr-defined]
    cls = parts.classes["C"]
    assert cls.methods.later().keys() == {"g"}  # type: ignore[attr-defined]
    assert cls.assigned("elsewhere") == []
    assert cls.methods.later().keys() == {"g"}  # type: ignore[attr-defined]
    assert len(cls.assigned("b")) == 1
    assert not cls.methods.later()  # type: ignore[attr-defined]


def test_the_lines_around_a_line() -> None:
    whole, parts = both(ODD)
    for line in range(1, ODD.count("\n") + 1):
        expected, found = whole.unit_at(line), parts.unit_at(line)
        if expected is not None:
            assert found is not None
            assert found[0] <= expected[0] <= line <= found[1]


def test_a_file_that_does_not_parse_is_known_by_its_names() -> None:
    module = Module(
        "m.py",
        "m",
        "def f():\n    return (\n\n\nclass C:\n    def g(self) -> :\n        pass\n",
        False,
        whole=False,
    )
    assert module.functions["f"].name == "f"
    assert module.classes["C"].name == "C"


def test_outline_of_text_only() -> None:
    assert [p.kind for p in Outline('"""Text."""\n# and a comment\n').parts()] == ["text"]
