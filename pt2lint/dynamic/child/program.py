"""Run a program as its user would start it, in this process, whose `__main__` it stays."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import runpy
import shlex
import sys
import types
from typing import Any


def run_program(what: str) -> None:
    """Run what --run names (a command line without the interpreter) or a file, as __main__."""
    words = shlex.split(what)
    if words[:1] and os.path.basename(words[0]).startswith("python"):
        words = words[1:]
    sys.argv = words
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            _run_module(words[1])
        elif package := package_of(words[0]):
            folder, name = package
            sys.path.insert(0, folder)
            sys.path.append(
                os.path.dirname(os.path.abspath(words[0]))
            )  # for what else it imports as a script
            _run_module(name)
        elif os.path.isdir(words[0]):
            runpy.run_path(words[0], run_name="__main__")
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            loader = importlib.machinery.SourceFileLoader("__main__", words[0])
            _run(loader, "__main__", words[0], {"__package__": None, "__spec__": None})
    except SystemExit as end:
        # A test runner or a main() that ends with sys.exit(0) has done its work.
        if end.code not in (None, 0):
            raise


def _run_module(name: str) -> None:
    """As `python -m name` does."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(name + ".__main__")
    if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        runpy.run_module(name, run_name="__main__", alter_sys=True)  # it has the words for what is wrong
        return
    sys.argv[0] = spec.loader.path
    _run(spec.loader, spec.name, spec.loader.path, {"__package__": spec.parent, "__spec__": spec})


def _run(loader: importlib.machinery.SourceFileLoader, name: str, path: str, known: dict[str, Any]) -> None:
    """runpy would put the `__main__` of before back in the end, and Dynamo looks there for the globals of functions
    that are called again."""
    code: Any = loader.get_code(name)
    main = types.ModuleType("__main__")
    vars(main).update({"__file__": path, "__loader__": loader, "__cached__": None, **known})
    sys.modules["__main__"] = main
    exec(code, vars(main))


def package_of(path: str) -> tuple[str, str] | None:
    """(folder to import from, dotted name) of a file that imports from its own package, by which `python -m` runs it;
    None for all others. As a path Python would not run it, or only where the package is installed."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    # Where such an import may fail, the file says itself what to do as a script.
    tried = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Try) for one in ast.walk(node)}
    level, roots = 0, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in tried:
            level = max(level, node.level)
            roots |= {(node.module or "").partition(".")[0]} if not node.level else set()
        elif isinstance(node, ast.Import) and id(node) not in tried:
            roots |= {alias.name.partition(".")[0] for alias in node.names}
    names = [] if name == "__main__.py" else [os.path.splitext(name)[0]]
    depth = 0
    while depth < level or os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
        depth += 1
    own = depth and (level or names[0] in roots) and all(each.isidentifier() for each in names)
    return (folder, ".".join(names)) if own else None
