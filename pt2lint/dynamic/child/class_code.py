"""What the code of a class says of the parameters of its constructor."""

from __future__ import annotations

import argparse
import ast
import contextlib
import enum
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import torch

from .placeholders import name_behind
from .stand_ins import Passed


def takes_arguments(cls: Any) -> Any:
    """The class itself, or where it hands on what it is given (`*args, **kwargs`), the base that takes it."""
    for base in cls.__mro__:
        kinds = {each.kind for each in inspect.signature(base).parameters.values()}
        if (
            kinds - {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
            or base is torch.nn.Module
        ):
            return base
    return cls


def required(signature: inspect.Signature) -> list[inspect.Parameter]:
    return [
        parameter
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def annotation_text(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty or name_behind(annotation):
        return ""
    dims = getattr(annotation, "dim_str", None)  # jaxtyping: Float[Tensor, "batch width"]
    if dims is not None:
        return f'{annotation.__name__.partition("[")[0]}[Tensor, "{dims}"]'
    if isinstance(annotation, str):
        return annotation
    return (
        annotation.__name__
        if isinstance(annotation, type) and not hasattr(annotation, "__args__")
        else str(annotation)
    )


def listed(text: str) -> list[Any]:
    """The values that an annotation lists: `Literal["a", "b"]`."""
    found = re.search(r"\bLiteral(\[[^\]]*\])", text)
    values: list[Any] = []
    with contextlib.suppress(ValueError, SyntaxError):
        values = ast.literal_eval(found[1]) if found else []
    return values


def uses_of(cls: Any, depth: int = 1) -> dict[str, Any]:
    """What the constructor does with its parameters: `argparse.Namespace` where it reads attributes of one, `dict`
    where it takes words from it, `ModuleList` where it makes one of it, the number of elements where it takes these or
    loops over it; a tensor where its shape is read; VAR_KEYWORD where it is handed on as such (`**options`); the class
    `Identity` where it makes a module of it (`act()`), a word that it is compared with. The last two, the loops, and
    `Passed` where a method calls it, also of what is kept of it (`self.name = name`). What it hands on to other
    constructors these say, `depth` calls deep."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls.__init__)))
    except (OSError, TypeError, SyntaxError):
        return {}
    called = called_in(cls)
    seen: dict[str, Any] = {name: 2 for node in ast.walk(tree_of(cls)) for name in _gone_through(node)}
    seen.update(taken for node in ast.walk(tree_of(cls)) for taken in _taken_apart(node))
    words: dict[str, str] = {}
    for node in ast.walk(tree_of(cls)):
        for name, word in (*compared(node), *tabled(node, cls)):
            words.setdefault(name, word)
    seen.update(words)
    seen.update(dict.fromkeys(called, Passed))
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for kept in map(ast.unparse, node.targets):
                if kept in seen:
                    found[node.value.id] = seen[kept]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.setdefault(node.func.id, torch.nn.Identity)
    found.update(words)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if not any(hasattr(kind, node.attr) for kind in (str, list, dict, torch.Tensor, torch.nn.Module)):
                found.setdefault(node.value.id, argparse.Namespace)
            elif node.attr == "shape":
                found[node.value.id] = torch.Tensor
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            known = found.get(node.value.id)
            if isinstance(index, str):
                found[node.value.id] = dict
            elif isinstance(known, int) or known is None:
                found[node.value.id] = max(known or 2, index + 1 if isinstance(index, int) else 2)
        elif isinstance(node, ast.Call) and re.search(
            r"\b(register_buffer|Parameter)$", ast.unparse(node.func)
        ):
            found.update({each.id: torch.Tensor for each in node.args if isinstance(each, ast.Name)})
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ModuleList"):
            found.update({each.id: torch.nn.ModuleList for each in node.args if isinstance(each, ast.Name)})
        elif isinstance(node, ast.keyword) and node.arg is None and isinstance(node.value, ast.Name):
            found[node.value.id] = inspect.Parameter.VAR_KEYWORD
        elif isinstance(node, ast.Dict):  # {**defaults, **options}
            spread = [each for key, each in zip(node.keys, node.values) if key is None]  # noqa: B905
            handed = [each.id for each in spread if isinstance(each, ast.Name)]
            found.update(dict.fromkeys(handed, inspect.Parameter.VAR_KEYWORD))
        else:
            for name, several in _taken_apart(node):
                found.setdefault(name, several)
            for name in _gone_through(node):
                found.setdefault(name, 2)
    for name, use in _handed_on(cls, tree) if depth else ():
        found.setdefault(name, use)
    return found


def _handed_on(cls: Any, tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """The parameters that a constructor hands on to that of a class beside it, and what that does with them."""
    known = vars(inspect.getmodule(cls) or cls)
    for node in ast.walk(tree):
        made = (
            known.get(node.func.id)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            else None
        )
        if not isinstance(node, ast.Call) or not isinstance(made, type) or made in cls.__mro__:
            continue
        with contextlib.suppress(TypeError, ValueError):
            uses, names = uses_of(made, 0), list(inspect.signature(made).parameters)
            given = [*zip(names, node.args), *((each.arg, each.value) for each in node.keywords)]  # noqa: B905
            yield from ((v.id, uses[name]) for name, v in given if isinstance(v, ast.Name) and name in uses)


def class_for(cls: Any, name: str) -> Any:
    """The class beside a module that it makes a part of: `block(planes, stride)`, which has what is read of it
    (`block.expansion`)."""
    calls: list[ast.Call] = []
    read: set[str] = set()
    for node in ast.walk(tree_of(cls)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            calls.append(node)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == name:
            read.add(node.attr)

    def fits(made: Any) -> bool:
        for call in calls:
            named = {each.arg: None for each in call.keywords if each.arg}
            given = [each for each in call.args if not isinstance(each, ast.Starred)]
            bind = inspect.signature(made).bind
            with contextlib.suppress(TypeError, ValueError):
                (bind if len(given) == len(call.args) else inspect.signature(made).bind_partial)(
                    *given, **named
                )
                continue
            return False
        return all(hasattr(made, each) for each in read)

    beside = vars(inspect.getmodule(cls) or cls).values()
    classes = [each for each in beside if isinstance(each, type) and each not in cls.__mro__]
    classes = [each for each in classes if issubclass(each, torch.nn.Module)]
    return next((each for each in classes if fits(each)), None) if calls else None


def asserted_class(cls: Any, name: str) -> Any:
    """The class of which a module asserts that what it is given is one: `assert isinstance(net, Encoder)`."""
    for node in ast.walk(tree_of(cls)):
        asked = node.test if isinstance(node, ast.Assert) else None
        if isinstance(asked, ast.Call) and ast.unparse(asked.func) == "isinstance" and len(asked.args) == 2:
            if ast.unparse(asked.args[0]) == name:
                found: Any = inspect.getmodule(cls)
                for part in ast.unparse(asked.args[1]).split("."):
                    found = getattr(found, part, None)
                return found if isinstance(found, type) and not name_behind(found) else None
    return None


def configuration_for(cls: Any, name: str) -> Any:
    """The class beside a module of whose instances all is read that the module reads of its configuration."""
    of = (name, f"self.{name}")
    tree = tree_of(cls)
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in of
    }
    for each in vars(inspect.getmodule(cls) or cls).values():
        if isinstance(each, type) and not issubclass(each, torch.nn.Module) and len(read) > 1:
            has = {*dir(each), *getattr(each, "__annotations__", ())}
            with contextlib.suppress(TypeError, ValueError):
                has |= set(inspect.signature(each).parameters)
            if read <= has:
                return each
    return None


@functools.cache
def tree_of(cls: Any) -> ast.AST:
    """The code of a class, empty where there is none to be read."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


@functools.cache
def called_in(cls: Any) -> set[str]:
    """What the methods of a class call: `self.net`, and `.encode` of anything."""
    called = [node.func for node in ast.walk(tree_of(cls)) if isinstance(node, ast.Call)]
    return {ast.unparse(each) for each in called} | {
        f".{e.attr}" for e in called if isinstance(e, ast.Attribute)
    }


def results_of(cls: Any, name: str) -> int:
    """Into how many names a class takes apart what it gets of a module that it is given, 0 where it does not."""
    kept = [name, f"self.{name}"]
    taken: dict[str, int] = {}
    for node in ast.walk(tree_of(cls)):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(node.value, ast.Name) and node.value.id == name:
                kept += map(ast.unparse, node.targets)
            elif isinstance(node.value, ast.Call) and isinstance(target, ast.Tuple):
                taken[ast.unparse(node.value.func)] = len(target.elts)
    return next((taken[each] for each in kept if each in taken), 0)


@functools.cache
def maybe_none(cls: Any) -> set[str]:
    """The names that a class compares with None."""
    return {
        node.left.id
        for node in ast.walk(tree_of(cls))
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and isinstance(node.ops[0], (ast.Is, ast.IsNot))
        and ast.unparse(node.comparators[0]) == "None"
    }


def compared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """A name with each word that it is compared with: `mode == "mean"`, `mode in ("mean", "sum")`."""
    if isinstance(node, ast.Compare) and isinstance(node.left, (ast.Name, ast.Attribute)):
        for each in getattr(node.comparators[0], "elts", node.comparators[:1]):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield ast.unparse(node.left), each.value


def tabled(node: ast.AST, cls: Any) -> Iterator[tuple[str, str]]:
    """A name with the first word of a table of the module that it is looked up in, or of one that is written out:
    `ACTS[kind]`, `in ACTS`, `{"small": 512}[size]`."""
    table, key = None, None
    if isinstance(node, ast.Subscript):
        table, key = node.value, node.slice
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        table, key = node.comparators[0], node.left
    if isinstance(table, (ast.Name, ast.Dict)) and isinstance(key, (ast.Name, ast.Attribute)):
        written = [getattr(each, "value", None) for each in table.keys] if isinstance(table, ast.Dict) else []
        words = written or vars(inspect.getmodule(cls) or cls).get(getattr(table, "id", ""))
        first = next(iter(words), None) if isinstance(words, (dict, list, tuple)) else None
        if isinstance(first, str):
            yield ast.unparse(key), first


@functools.cache
def words_of(cls: Any) -> dict[str, str]:
    """Words for what a class's module asks of configurations: `config.kind == "rows"`, `ACTS[config.act]`; also where
    it is kept under another name, `self.order = config.moe_order`."""
    found: dict[str, str] = {}
    kept: dict[str, str] = {}
    for node in (node for module in _own_modules(cls) for node in ast.walk(tree_of(module))):
        for name, word in (*compared(node), *tabled(node, cls)):
            found.setdefault(name.rpartition(".")[2], word)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            target = node.targets[0]
            if isinstance(target, (ast.Name, ast.Attribute)):
                kept[node.value.attr] = ast.unparse(target).rpartition(".")[2]
    for asked, name in kept.items():
        if name in found:
            found.setdefault(asked, found[name])
    return found


@functools.cache
def tables_of(cls: Any) -> set[str]:
    """Words under which a class's module finds further tables: `config["data"]["width"]`."""
    nodes = (node for module in _own_modules(cls) for node in ast.walk(tree_of(module)))
    found = (each.value for each in nodes if isinstance(each, ast.Subscript) and _key(each))
    return {key for each in found if isinstance(each, ast.Subscript) and (key := _key(each))}


def _key(node: ast.Subscript) -> str:
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, str) else ""


@functools.cache
def members_of(cls: Any) -> dict[str, Any]:
    """Values of enumerations that a class makes of what it asks of configurations: `Kind(config.kind)`."""
    found: dict[str, Any] = {}
    for module in _own_modules(cls):
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
                made, of = vars(module).get(node.func.id), node.args[0]
                if isinstance(made, type) and issubclass(made, enum.Enum) and isinstance(of, ast.Attribute):
                    found.setdefault(of.attr, next(iter(made)).value)
    return found


def _own_modules(cls: Any) -> list[Any]:
    """The modules of a class and of its bases, but for those of torch and of Python."""
    own = (each for each in cls.__mro__ if each.__module__.partition(".")[0] not in ("torch", "builtins"))
    return [each for each in dict.fromkeys(map(inspect.getmodule, own)) if each is not None]


def _gone_through(node: ast.AST) -> Iterator[str]:
    """Names that a node loops over, or asks for their length."""
    over: list[ast.expr] = []
    if isinstance(node, (ast.For, ast.comprehension)):
        over = [node.iter]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        over = node.args if node.func.id in ("len", "enumerate", "zip", "sum") else []
    yield from (ast.unparse(each) for each in over if isinstance(each, (ast.Name, ast.Attribute)))


def _taken_apart(node: ast.AST) -> Iterator[tuple[str, int]]:
    """A name that a node takes apart, and into how many: `height, width = self.resolution`."""
    if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in target.elts):
            yield ast.unparse(node.value), len(target.elts)
