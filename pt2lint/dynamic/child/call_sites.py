"""What the project's own code builds a class with and calls it with, as far as that is written out.

A test or a `main()` that is not run says `net = Net(dim=32, heads=4)` and `net(torch.randn(2, 16, 32))`: numbers, words
and tensors of sizes that are written down, which nobody has to make up. What stands there as `args.dim` or `Config.dim`
is written down elsewhere: where the command line or the class is.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import operator
import os
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from .allowance import Allowance
from .built import CONFIGURATION
from .class_code import required
from .project_values import (
    MOST_BYTES_IN_ALL,
    MOST_FOLDERS,
    SECONDS,
    SKIPPED,
    read,
    values_of_program,
)

MOST_SITES = 6
MAKES = set("arange device full linspace ones rand randint randn randperm tensor zeros".split())
CHANGES = set(
    "bool clone float long permute repeat requires_grad_ reshape squeeze transpose unsqueeze view".split()
)
MOVES = {"cpu", "cuda", "to", "eval", "train"}  # where a module or a tensor is, or its mode
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Gt: operator.gt, ast.Lt: operator.lt, ast.GtE: operator.ge, ast.LtE: operator.le,
}  # fmt: skip


class NotWritten(Exception):
    """A value is not written out."""


class InPart(dict[Any, Any]):
    """What is written out of a dictionary, some of whose values are not."""


class Site(NamedTuple):
    """A place that builds a class: `given` are the arguments that are written out, by name, `whole` whether it can be
    built with these;
    `call` what the instance is called with there (of a function: itself), None where that is not written out."""

    place: str
    given: dict[str, Any]
    whole: bool
    call: tuple[tuple[Any, ...], dict[str, Any]] | None


def sites_of(value: Any) -> list[Site]:
    """The places where the project calls a class or a function of its own, those that say most first."""
    try:
        path, name = os.path.realpath(inspect.getsourcefile(value) or ""), value.__name__
    except TypeError:
        return []  # made by no code of a file
    found: list[Site] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for file, text in [(path, read(path)), *_programs(path)]:
            if not re.search(rf"\b{name}\(", text):
                continue
            with contextlib.suppress(SyntaxError, ValueError, RecursionError):
                tree = ast.parse(text)
                names = {name} if file == path else _imported_as(tree, name, path)
                found += _sites(value, tree, names, os.path.relpath(file))
    return sorted(found, key=lambda s: (s.call is None or not s.whole, not s.whole, -len(s.given)))


@functools.cache
def _programs(path: str) -> list[tuple[str, str]]:
    """The other Python files of the project that a file lies in (the working folder, else its own), with their text."""
    here = os.getcwd()
    top = here if path.startswith(here + os.sep) else os.path.dirname(path)
    found: list[tuple[str, str]] = []
    left, allowance = MOST_BYTES_IN_ALL, Allowance(SECONDS)
    for number, (folder, folders, files) in enumerate(os.walk(top)):
        folders[:] = sorted(each for each in folders if each not in SKIPPED and not each.startswith("."))
        for file in sorted(each for each in files if each.endswith(".py")):
            place = os.path.join(folder, file)
            text = "" if place == path else read(place)
            left -= len(text)
            if left < 0 or number > MOST_FOLDERS or allowance.over():
                return found
            found += [(place, text)] if text else []
    return found


def _imported_as(tree: ast.AST, name: str, path: str) -> set[str]:
    """How a file calls what another one defines: the names under which it imports it, or its module."""
    parts = {*os.path.splitext(path)[0].split(os.sep)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            inside = node.module is None or node.module.rpartition(".")[2] in parts
            for each in node.names:
                if each.name == name and inside:
                    found.add(each.asname or name)
                elif each.name in parts and inside:
                    found.add(f"{each.asname or each.name}.{name}")
        elif isinstance(node, ast.Import):
            found |= {
                f"{each.asname or each.name}.{name}"
                for each in node.names
                if each.name.rpartition(".")[2] in parts
            }
    return found


def _sites(value: Any, tree: ast.Module, names: set[str], path: str) -> Iterator[Site]:
    scopes = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module))]
    for scope in scopes:
        inside = [*_own(scope)]
        for node in inside:
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in names:
                continue
            at = functools.partial(_written, assigned=_assigned(tree, scope, node.lineno), of=value)
            try:
                bound = inspect.signature(value).bind_partial(
                    *node.args, **{each.arg: each.value for each in node.keywords if each.arg}
                )
            except TypeError:
                continue  # another one of this name
            given = {}
            for name, argument in bound.arguments.items():
                with contextlib.suppress(Exception):
                    given[name] = at(argument)
            whole = all(each.name in given for each in required(inspect.signature(value)))
            whole = whole and not any(isinstance(each, InPart) for each in given.values())
            calls = [node] if not isinstance(value, type) else _calls_of(node, inside)
            call = None
            for each in calls:
                at = functools.partial(_written, assigned=_assigned(tree, scope, each.lineno), of=value)
                with contextlib.suppress(Exception):
                    args, named = [*map(at, each.args)], {k.arg or "": at(k.value) for k in each.keywords}
                    if not any(isinstance(one, InPart) for one in (*args, *named.values())):
                        call = tuple(args), named
                        break
            yield Site(f"{path}:{node.lineno}", given, whole, call)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a module that lie in no function or class within it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield node
            yield from _own(node)


def _calls_of(made: ast.Call, inside: list[ast.AST]) -> list[ast.Call]:
    """The calls of what a call makes, in the scope where it is given a name, or there and then."""
    names = {
        ast.unparse(node.targets[0])
        for node in inside
        if isinstance(node, ast.Assign) and _unmoved(node.value) is made
    }
    return [
        node
        for node in inside
        if isinstance(node, ast.Call)
        and node.lineno >= made.lineno
        and (_unmoved(node.func) is made or ast.unparse(node.func) in names)
    ]


def _unmoved(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MOVES:
        node = node.func.value
    return node


def _assigned(tree: ast.AST, scope: ast.AST, line: int) -> dict[str, ast.expr]:
    """What names stand for in a line: the last that they were given before it, in its function or at the top level."""
    found: dict[str, ast.expr] = {}
    if isinstance(scope, ast.FunctionDef):
        arguments = scope.args
        positional = [*arguments.posonlyargs, *arguments.args]
        ends = len(positional) - len(arguments.defaults)
        found.update({each.arg: default for each, default in zip(positional[ends:], arguments.defaults)})  # noqa: B905
        named = zip(arguments.kwonlyargs, arguments.kw_defaults)  # noqa: B905
        found.update({each.arg: default for each, default in named if default})
        for each in scope.decorator_list:  # @pytest.mark.parametrize("size", [2, 3])
            if isinstance(each, ast.Call) and ast.unparse(each.func) == "pytest.mark.parametrize":
                found.update(_first_of(*each.args[:2]) if len(each.args) > 1 else ())
    for around in dict.fromkeys((tree, scope)):
        for node in sorted(_own(around), key=lambda each: getattr(each, "lineno", 0)):
            if isinstance(node, ast.Assign) and (around is not scope or node.lineno < line):
                for target in node.targets:
                    names, values = [target], [node.value]
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                        names, values = target.elts, node.value.elts
                    both = zip(names, values)  # noqa: B905
                    found.update({each.id: value for each, value in both if isinstance(each, ast.Name)})
    return found


def _first_of(names: ast.expr, values: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The first values that a test is run with."""
    several = getattr(values, "elts", [])
    if isinstance(names, ast.Constant) and isinstance(names.value, str) and several:
        words = [each.strip() for each in names.value.split(",")]
        yield from zip(words, getattr(several[0], "elts", ()) if len(words) > 1 else several)  # noqa: B905


def _setting(node: ast.Attribute, made: ast.expr | None, of: Any) -> Any:
    """What the project has for `Config.width`, for `config.width` of what was made by `Config(...)`, and for
    `args.width`: the class's value, or the default of the command line. Raises NotWritten where it has none."""
    name, word = ast.unparse(node.value), node.attr
    if isinstance(made, ast.Call):
        for given in made.keywords:
            if given.arg == word:
                return _written(given.value, {}, of)
        name = ast.unparse(made.func).rpartition(".")[2]
    path = os.path.realpath(inspect.getsourcefile(of) or "")
    for text in (read(path), *(text for _, text in _programs(path))):
        if re.search(rf"(?m)^class {re.escape(name)}\b", text):
            for each in _body_of(text, name):
                if isinstance(each, (ast.Assign, ast.AnnAssign)) and (kept := each.value):
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    if word in map(ast.unparse, targets):
                        return _written(kept, {}, of)
        elif "add_argument" in text and (CONFIGURATION.match(name) or name == "parse_args"):
            options = _options_of(text)
            if word in options:
                return options[word]
    raise NotWritten


@functools.cache
def _body_of(text: str, name: str) -> list[ast.stmt]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node.body
    return []


@functools.cache
def _options_of(text: str) -> dict[str, Any]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        return {name: value for name, value in values_of_program(text)[0].items() if value is not None}
    return {}


def _written(node: ast.expr, assigned: dict[str, ast.expr], of: Any) -> Any:
    """The value of an expression that is written out, for a call of the class or function `of`. Raises NotWritten for
    any other."""
    value = functools.partial(_written, assigned=assigned, of=of)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in assigned:
        others = {name: each for name, each in assigned.items() if name != node.id}
        return _written(assigned[node.id], others, of)
    if isinstance(node, (ast.Tuple, ast.List)):
        return (tuple if isinstance(node, ast.Tuple) else list)(map(value, node.elts))
    if isinstance(node, ast.Dict) and None not in node.keys:
        known = InPart()
        for key, each in zip(filter(None, node.keys), node.values):  # noqa: B905
            with contextlib.suppress(Exception):
                known[value(key)] = value(each)
        if known or not node.keys:
            return {**known} if len(known) == len(node.keys) else known
    if isinstance(node, ast.IfExp):
        return value(node.body if value(node.test) else node.orelse)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value(node.left), value(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return OPERATORS[type(node.ops[0])](value(node.left), value(node.comparators[0]))
    if isinstance(node, ast.Attribute) and isinstance(getattr(torch, node.attr, None), torch.dtype):
        return getattr(torch, node.attr)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _setting(node, assigned.get(node.value.id), of)
    if isinstance(node, ast.Call) and ast.unparse(node) == "torch.cuda.is_available()":
        return torch.cuda.is_available()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):  # `Net(Config(width=8))`
        made = getattr(sys.modules.get(of.__module__), node.func.id, None)
        made = types.SimpleNamespace if node.func.id in ("Namespace", "SimpleNamespace") else made
        if isinstance(made, type) and None not in [each.arg for each in node.keywords]:
            return made(
                *map(value, node.args), **{each.arg or "": value(each.value) for each in node.keywords}
            )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        called, made_by = node.func.attr, ast.unparse(node.func.value) == "torch"
        if not made_by and called in MOVES:
            return value(node.func.value)
        if called in (MAKES if made_by else CHANGES):
            makes = getattr(torch if made_by else value(node.func.value), called)
            named = {each.arg or "": each.value for each in node.keywords}
            named = {k: value(each) for k, each in named.items() if k not in ("device", "generator")}
            return makes(*map(value, node.args), **named)
    raise NotWritten
