"""Which child runs are needed: reads the user's files, never runs them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pt2lint.dynamic.options import VerifyOptions

_INPUT_FUNCTIONS = {"example_inputs", "get_inputs"}
_INPUT_ATTRIBUTES = {"example_input_array", "dummy_inputs"}


@dataclass(frozen=True)
class Job:
    """One child run: a way of finding inputs, and what to find them in.

    kind: "inputs" (MODULE:FUNCTION), "file" (what the file has), "run" (harvest a program), "program" (the
    program as it stands), "made_up". `covers` are the real paths of the files it speaks for, none for all.
    """

    kind: str
    what: str
    covers: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return {
            "inputs": f"inputs {self.what}",
            "run": f"recording {self.what}",
            "program": f"running {self.what} compiled",
            "made_up": f"made-up inputs for {self.what}",
        }.get(self.kind, self.what)


def plan(sources: Mapping[str, str], flagged: Iterable[str], options: VerifyOptions) -> list[Job]:
    """The jobs for the files (real path -> text), of which `flagged` have findings.

    The first way that applies: --inputs, --run, the project's targets; else for each file what it has
    itself, its own __main__, and for files with findings made-up inputs.
    """
    if options.inputs:
        return [Job("inputs", name) for name in options.inputs]
    if options.run:
        return [Job("run", options.run), Job("program", options.run)]
    if options.targets:
        return [Job("inputs", name) for name in options.targets]
    jobs: list[Job] = []
    wanted = set(flagged)
    for path, source in sources.items():
        if "torch" not in source:
            continue
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue  # the static pass has said so
        if _has_inputs(tree):
            jobs.append(Job("file", path, (path,)))
        elif _is_script(tree):
            quoted = _quoted(path)
            jobs.append(Job("run", quoted, (path,)))
            if ".compile" in source or "compile(" in source or "@compile" in source:
                jobs.append(Job("program", quoted, (path,)))
        elif options.made_up and path in wanted:
            jobs.append(Job("made_up", path, (path,)))
    return jobs


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path)


def _has_inputs(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        found = False
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = node.name in _INPUT_ATTRIBUTES or (node.name in _INPUT_FUNCTIONS and node in tree.body)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            found = name in _INPUT_ATTRIBUTES
        if found:
            return True
    return False


def _is_script(tree: ast.Module) -> bool:
    """Whether running the file does something: a __main__ guard, or loops and calls at its top level."""
    for node in tree.body:
        if (
            isinstance(node, ast.If)
            and "__name__" in ast.unparse(node.test)
            and "__main__" in ast.unparse(node.test)
        ):
            return True
        if isinstance(node, (ast.For, ast.While, ast.With)):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return True
    return False


def find_files(paths: Sequence[str], extra: Iterable[str] = ()) -> dict[str, str]:
    """{real path: path as the user writes it} of the Python files under the paths, and of `extra` ones."""
    found: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(
                    f for f in folders if not f.startswith(".") and f not in ("__pycache__", "node_modules")
                )
                for name in sorted(names):
                    if name.endswith(".py"):
                        shown = os.path.normpath(os.path.join(folder, name))
                        found.setdefault(os.path.realpath(shown), shown)
        elif os.path.exists(path):
            found.setdefault(os.path.realpath(path), path)
    for path in extra:
        found[os.path.realpath(path)] = path
    return found
