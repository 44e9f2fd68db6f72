"""What `make compiled` compiles stays what mypyc takes and compiles to the same: it refuses some of these, and
compiles others to a crash or to an answer of its own."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import get_type_hints

import pytest

ROOT = Path(__file__).parents[1]


def compiled() -> list[Path]:
    """The modules that setup.py names."""
    for statement in ast.parse((ROOT / "setup.py").read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "COMPILED":
            patterns = ast.literal_eval(statement.value)
            found = [sorted(ROOT.glob(pattern)) for pattern in patterns]
            assert all(found), patterns
            return [path for paths in found for path in paths]
    raise AssertionError("setup.py names no modules")


def refused(tree: ast.Module) -> list[str]:
    """Why mypyc would not take it, or not to mean the same."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
                plain = isinstance(each, (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Pass))
                if not (text or plain):
                    found.append(f"{each.lineno}: a statement in the body of a class")
                value = getattr(each, "value", None)
                if isinstance(value, ast.Dict):
                    found.append(
                        f"{each.lineno}: a table as an attribute of a class, which an object finds unset"
                    )
                for decorator in getattr(each, "decorator_list", ()):
                    if "cached_property" in ast.unparse(decorator):
                        found.append(f"{each.lineno}: a compiled object has no __dict__ to cache in")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found += [
                f"{inner.lineno}: a class in a function"
                for inner in ast.walk(node)
                if isinstance(inner, ast.ClassDef)
            ]
        elif isinstance(node, ast.IfExp):
            if isinstance(node.body, ast.Name) and ast.unparse(node.test) == f"{node.body.id} is None":
                found.append(f"{node.lineno}: what is None is given by its name, whose type is then None")
        elif isinstance(node, ast.Compare):
            asked = [part for part in node.comparators if isinstance(part, (ast.Tuple, ast.List))]
            if any(isinstance(one, ast.Starred) for part in asked for one in part.elts):
                found.append(f"{node.lineno}: compared with a display that holds `*`")
    return found


@pytest.mark.parametrize("path", compiled(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_mypyc_takes_it(path: Path) -> None:
    assert refused(ast.parse(path.read_text())) == []
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    for value in list(vars(module).values()):
        if getattr(value, "__module__", "") == name and hasattr(value, "_fields"):
            # What only the type checker imports is not there when a compiled module makes a named tuple.
            assert get_type_hints(value)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("class A:\n    if 1:\n        x = 1\n", "statement in the body"),
        ("class A:\n    table: dict[str, int] = {}\n", "unset"),
        ("class A:\n    @functools.cached_property\n    def x(self): ...\n", "no __dict__"),
        ("def f():\n    class A: ...\n", "class in a function"),
        ("1 in (*a, 2)\n", "holds `*`"),
    ],
)
def test_what_it_refuses_is_seen(source: str, why: str) -> None:
    assert why in refused(ast.parse(source))[0]
