"""Compiled extensions (C, C++, CUDA): modules that no Python file holds, as the project's setup.py names them, or as
they are usually called."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pt2lint.static.source.nodes import parse, walk

SETUP = "setup.py"
ABOVE = 2  # how far above the folder that is imported from: `src/`, `python/`
FILES = 20  # of the project's own that its setup.py imports
MAKERS = ("torch.utils.cpp_extension.", "setuptools.", "distutils.", "pybind11.setup_helpers.")
# What compiled modules are called: `package._C`, `package._ext`, and of modules on their own `scan_cuda`, `amp_C`.
WITHIN = re.compile(r"_C(_\w+)?|_ext")
LOADED = "torch.utils.cpp_extension.loaded"  # what torch builds and loads while the program runs
ALONE = re.compile(r"\w+_(cuda|cpp|ext|C)")


@lru_cache(maxsize=10_000)
def called_compiled(name: str) -> str | None:
    """The module within a dotted name that is called like a compiled one."""
    if name.startswith(f"{LOADED}."):
        return LOADED
    parts = name.split(".")
    if parts[0] in ("torch", "numpy"):
        return None  # what their own compiled parts do is known one by one
    if len(parts) > 1 and ALONE.fullmatch(parts[0]):
        return parts[0]
    for at, part in enumerate(parts[1:], 1):
        if WITHIN.fullmatch(part):
            return ".".join(parts[: at + 1])
    return None


def extensions(root: str, text: Callable[[str], str | None]) -> frozenset[str]:
    """The dotted names of the extensions that the project around a folder builds.

    `text` gives what a file holds, None where there is none that can be read.
    """
    folder = root
    for _ in range(ABOVE + 1):
        source = text(os.path.join(folder, SETUP))
        if source is not None:
            return frozenset(_named(source, folder, text))
        folder = os.path.join(folder, "..")
    return frozenset()


def _named(source: str, folder: str, text: Callable[[str], str | None]) -> Iterator[str]:
    """The names that setup.py, and the files beside it that it imports, give to extensions."""
    waiting, seen = [source], {SETUP}
    while waiting and len(seen) < FILES:
        source = waiting.pop()
        if "xtension" not in source and "import" not in source:
            continue
        try:
            tree = parse(source, SETUP)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        imported: dict[str, str] = {}
        nodes = walk(tree)
        for node in nodes:
            if isinstance(node, ast.Import):
                imported.update({a.asname or a.name: a.name for a in node.names})
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
        yield from (name for node in nodes if (name := _extension(node, imported)))
        for module in dict.fromkeys(_modules(imported.values())):
            path = module.replace(".", os.sep) + ".py"
            if path not in seen and (more := text(os.path.join(folder, path))) is not None:
                seen.add(path)
                waiting.append(more)


def _modules(names: Iterable[str]) -> Iterator[str]:
    """The modules that these names may be, or be in."""
    for name in names:
        if not name.startswith(MAKERS):
            yield name
            if "." in name:
                yield name.rpartition(".")[0]


def _extension(node: ast.AST, imported: dict[str, str]) -> str | None:
    """The name in `CUDAExtension("package._C", sources)`."""
    if not isinstance(node, ast.Call):
        return None
    head, _, rest = ast.unparse(node.func).partition(".")
    made = ".".join(filter(None, (imported.get(head, ""), rest)))
    if not made.startswith(MAKERS) or not made.endswith("Extension"):
        return None
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "name")]
    return next((a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)), None)
