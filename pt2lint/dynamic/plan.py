"""Which child runs are needed: reads the user's files, never runs them."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pt2lint.dynamic.options import VerifyOptions
from pt2lint.finding import Finding
from pt2lint.project.elsewhere import FOR_A_WHILE, done_in, where

_INPUT_FUNCTIONS = {"example_inputs", "get_inputs"}
_INPUT_ATTRIBUTES = {"example_input_array", "dummy_inputs"}


# Values of optional parameters by name, None for any that is not None; and the lines of the functions that have them.
Given = tuple[tuple[tuple[str, Any], ...], tuple[int, ...]]
MOST_GIVEN = 4  # for a file


@dataclass(frozen=True)
class Job:
    """One child run: a way of finding inputs, and what to find them in.

    kind: "inputs" (MODULE:FUNCTION), "file" (what the file has), "run" (harvest a program), "program" (the
    program as it stands), "made_up". `covers` are the real paths of the files it speaks for, none for all.
    `otherwise` are the further ways, in order, to try where this one leads to no call; `captures` the settings of
    Dynamo that its program turns on, where that is not run; `given` what made-up inputs have besides (asked_for), and
    `names` the functions and classes in which there are graph breaks to be seen.
    """

    kind: str
    what: str
    covers: tuple[str, ...] = ()
    otherwise: tuple[Job, ...] = ()
    captures: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return {
            "inputs": f"inputs {self.what}",
            "run": f"recording {self.what}",
            "program": f"running {self.what} compiled",
            "made_up": "made-up inputs",
        }.get(self.kind, "its own inputs")

    @property
    def way(self) -> str:
        """Where it takes the inputs from, in words."""
        return {"file": "what the file offers as inputs", "run": f"a run of {self.what}"}.get(
            self.kind, "made-up inputs"
        )


def worth_inputs(findings: Iterable[Finding], paths: Iterable[str]) -> frozenset[str]:
    """The real paths of the files for which inputs are made up: those with findings, and those that the user named
    one by one. Of a folder, a file in which nothing was found is not worth the time."""
    named = {os.path.realpath(path) for path in paths if os.path.isfile(path)}
    return frozenset({os.path.realpath(finding.path) for finding in findings} | named)


def asked_for(findings: Iterable[Finding]) -> dict[str, tuple[Given, ...]]:
    """What the conditions of graph breaks ask of optional parameters, by real paths: `mask is not None`, `causal`."""
    found: dict[str, dict[Given, None]] = {}
    for finding in findings:
        values = dict(filter(None, map(_asked_for, finding.when)))
        if finding.is_graph_break and values:
            lines = (finding.line, *(step.line for step in finding.flow if step.path == finding.path))
            found.setdefault(os.path.realpath(finding.path), {})[tuple(values.items()), lines] = None
    return {path: tuple(given)[:MOST_GIVEN] for path, given in found.items()}


def breaking(findings: Iterable[Finding]) -> dict[str, tuple[int, ...]]:
    """The lines of graph breaks, by real paths."""
    found: dict[str, set[int]] = {}
    for finding in findings:
        if finding.is_graph_break:
            found.setdefault(os.path.realpath(finding.path), set()).add(finding.line)
    return {path: tuple(sorted(lines)) for path, lines in found.items()}


def _defined_at(tree: ast.Module, lines: Collection[int]) -> Iterator[str]:
    """The functions and classes of a file that have one of these lines."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and any(
            node.lineno <= n <= (node.end_lineno or 0) for n in lines
        ):
            yield node.name


def _asked_for(condition: str) -> tuple[str, Any] | None:
    """The name of a parameter, and the value that a condition asks for: None for any but None."""
    try:
        test = ast.parse(condition, mode="eval").body
    except SyntaxError:
        return None
    wants = True
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wants = test.operand, False
    if isinstance(test, ast.Name):
        return test.id, wants
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
        operator, value = test.ops[0], test.comparators[0]
        if isinstance(value, ast.Constant) and wants:
            if value.value is None and isinstance(operator, ast.IsNot):
                return test.left.id, None
            if isinstance(value.value, (str, int)) and isinstance(operator, ast.Eq):
                return test.left.id, value.value
    return None


def plan(
    sources: Mapping[str, str],
    wanted: Collection[str],
    options: VerifyOptions,
    given: Mapping[str, tuple[Given, ...]] | None = None,
    lines: Mapping[str, tuple[int, ...]] | None = None,
) -> list[Job]:
    """The jobs for the files (real path -> text).

    The first way that applies: --inputs, --run, the project's targets; else for each file what it has
    itself, its own __main__, and for files in `wanted` (worth_inputs) made-up inputs, with what is `given` besides
    (asked_for), where the graph breaks at `lines` (breaking).
    """
    if options.inputs:
        return [Job("inputs", name) for name in options.inputs]
    if options.run:
        return [Job("run", options.run), Job("program", options.run)]
    if options.targets:
        return [Job("inputs", name) for name in options.targets]
    jobs: list[Job] = []
    makers = [
        (where(path, name), name.removesuffix(FOR_A_WHILE))
        for path, text in sources.items()
        for name in done_in(text.encode())
    ]
    for path, source in sources.items():
        if "torch" not in source:
            continue
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue  # the static pass has said so
        turned_on = {name for start, name in makers if path.startswith(start)}
        captures = tuple(sorted(name for name in turned_on if name.startswith("capture_")))
        ways = []
        if _has_inputs(tree):
            ways.append(Job("file", path, (path,), captures=captures))
        if _is_script(tree):
            ways.append(Job("run", _quoted(path), (path,)))
        if options.made_up and path in wanted:
            besides = (given or {}).get(path, ())
            names = tuple(_defined_at(tree, (lines or {}).get(path, ())))
            ways.append(Job("made_up", path, (path,), captures=captures, given=besides, names=names))
        if ways:
            jobs.append(replace(ways[0], otherwise=tuple(ways[1:])))
        if (
            ways
            and ways[0].kind == "run"
            and ("compile(" in source or ".compile" in source or "@compile" in source)
        ):
            jobs.append(Job("program", ways[0].what, (path,)))
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
    """Whether running the file does something: a __main__ guard, or at its top level loops, calls that stand alone,
    or calls of what the file made before (`y = model(x)`). What is asked of libraries alone is a setting, or of what
    Python's own gave (`logger.setLevel(...)`)."""
    own: set[str] = set()
    libraries = {*dir(builtins), "__file__", "__name__"}
    plain = {*libraries}  # names of Python alone
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for each in node.names:
                module = each.name if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
                name = each.asname or each.name.partition(".")[0]
                libraries |= {name} if _is_library(module) else set()
                plain |= {name} if _is_python(module) else set()
        if (
            isinstance(node, ast.If)
            and "__name__" in ast.unparse(node.test)
            and "__main__" in ast.unparse(node.test)
        ):
            return True
        if isinstance(node, (ast.For, ast.While, ast.With)):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            named = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            if not named <= libraries or "compile(" in ast.unparse(node):
                return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args]
            if any(isinstance(each.func, ast.Name) and each.func.id in own for each in calls):
                return True
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            made = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            used = {each.id for each in ast.walk(node.value or node) if isinstance(each, ast.Name)}
            own |= made
            if used <= plain:
                plain |= made
                libraries |= made
    return False


def _is_library(module: str) -> bool:
    return _is_python(module) or module.partition(".")[0] in ("torch", "numpy")


def _is_python(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


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
