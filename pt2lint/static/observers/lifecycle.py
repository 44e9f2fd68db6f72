"""The later life of objects that rules ask about: what is done with an optimizer or a loader after it is made."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.static.interpreter.core import Core
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import walk
from pt2lint.static.values import Func, Instance, Py, Value

COMPOUND = (
    "for",
    "while",
    "with",
    "if",
    "elif",
    "else",
    "try",
    "except",
    "finally",
    "match",
    "case",
    "async",
)


class Lifecycle(Core):
    """`made` holds one object for each place that makes one; `uses` what is done with it, by `id`."""

    made: dict[tuple[str, int, int, str], Instance]
    settings: dict[int, tuple[Value, dict[str, str]]]

    def external_object(
        self, name: str, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Instance:
        """An object whose later life a rule may ask about (an optimizer): one for each place that makes it."""
        key = (frame.module.path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), name)
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = Instance(None, name, True)
            self.uses[id(made)] = set()
            column = frame.module.column(node.lineno, node.col_offset)
            self.made_at[frame.module.path, node.lineno, column, f"call {name}"] = made
        for a in [*args, *kwargs.values()]:
            if isinstance(a, Instance) and id(a) in self.uses:
                self.uses[id(a)].add(f"given to {name}")
        return made

    def loader(self, node: ast.For, over: Value, env: Env, frame: Frame) -> tuple[Instance, set[str]] | None:
        """The DataLoader that a loop goes over, and the names in its body that are made of what it gives.

        None where the loop says of some tensor which of its sizes change.
        """
        source: ast.expr = node.iter
        while isinstance(source, ast.Call) and source.args:
            callee = source.func
            name = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
            if name not in self.models.last_words("passes items"):
                break
            source = source.args[0]
        if source is not node.iter:
            over = self.quietly(source, env, frame)
        if not isinstance(over, Instance) or not self.models.plays(over.external, "loader"):
            return None
        made = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
        if (
            isinstance(node.iter, ast.Call)
            and isinstance(node.target, ast.Tuple)
            and len(node.target.elts) == 2
        ):
            first = node.target.elts[0]
            if isinstance(node.iter.func, ast.Name) and node.iter.func.id in self.models.last_words(
                "counts items"
            ):
                made -= {n.id for n in walk(first) if isinstance(n, ast.Name)}
        for part in (p for statement in node.body for p in walk(statement)):
            if self.marks(part):
                return None
            if isinstance(part, ast.Assign) and _mentions(part.value, made):
                made |= {n.id for target in part.targets for n in walk(target) if isinstance(n, ast.Name)}
        return over, made

    def passed_batches(self, func: Func, node: ast.Call, frame: Frame) -> list[tuple[Value, set[str]]]:
        """What the caller's loops go over, with the parameters that take what comes from it."""
        found: list[tuple[Value, set[str]]] = []
        if any(self.marks(part) for part in walk(func.node)):
            return found
        for loader, made in frame.loaders:
            taken = self._taking(func, node, made)
            if taken:
                found.append((loader, set(taken)))
        return found

    def _taking(self, func: Func, node: ast.Call, made: set[str]) -> list[str]:
        """The parameters that a call fills with something made of these names."""
        places = zip(parameters_of(func), node.args, strict=False)
        taken = [p for p, a in places if not isinstance(a, ast.Starred) and _mentions(a, made)]
        return taken + [k.arg for k in node.keywords if k.arg and _mentions(k.value, made)]

    def feeds(self, callee: str, inner: Func | None, node: ast.Call, frame: Frame) -> None:
        """A compiled callable is called: remember it with the loader whose batches it is given.

        The words: path, line and column where the statement begins, the names given as they are, how torch is
        called there, the callee; and where the function that it runs is defined ("PATH:LINE"), its name, and its
        parameters that take what comes from the loader.
        """
        for loader, made in frame.loaders:
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(_mentions(a, made) for a in given):
                column = _room_before(frame.module.text_lines[frame.line - 1])
                plain = [a.id for a in given if isinstance(a, ast.Name) and a.id in made]
                spread = any(_mentions(a, made) for a in given if isinstance(a, ast.Starred)) or any(
                    _mentions(k.value, made) for k in node.keywords if k.arg is None
                )
                names = "" if spread or not column else ",".join(dict.fromkeys(plain))
                library = self.models.named("reads the environment")
                torch = next((local for local, n in frame.module.imports.items() if n == library), "")
                words = ["feeds", frame.module.path, str(frame.line), str(column), names, torch, callee]
                if inner is not None:
                    taken = self._taking(inner, node, made)
                    words += [f"{inner.module.path}:{inner.node.lineno}", self.title(inner), ",".join(taken)]
                self.used(loader, "\t".join(words))

    def used(self, owner: Value | None, what: str) -> None:
        """Remember what is done with an object, if it is one whose life is followed."""
        if isinstance(owner, Instance) and owner.followed:
            owner = owner.attrs.get("owner", owner)
            if id(owner) in self.uses:
                self.uses[id(owner)].add(what)

    def assigned_item(self, owner: Instance, index: Value) -> None:
        """`owner[index] = ...`"""
        if isinstance(index, Py) and isinstance(index.const, str):
            self.used(owner, f"set {index.const}")

    def marks(self, node: ast.AST) -> bool:
        """`mark_dynamic` and the like."""
        word = (
            getattr(node, "attr", getattr(node, "id", ""))
            if isinstance(node, (ast.Attribute, ast.Name))
            else ""
        )
        return word.startswith(tuple(self.models.last_words("marks sizes")))

    def title(self, func: Func) -> str:
        raise NotImplementedError

    def compiled_method(self, owner: Value | None, name: str) -> None:
        """torch.compile was given a bound method of an external object."""
        self.used(owner, f"{name.rsplit('.', 1)[-1]} in region")


def parameters_of(func: Func) -> list[str]:
    """The names that positional arguments of a call fill."""
    a = func.node.args
    return [p.arg for p in [*a.posonlyargs, *a.args]][1 if func.bound is not None else 0 :]


def _room_before(line: str) -> int:
    """The column, from 1, where a simple statement begins its line, so that another can be put before it; else 0."""
    code = line.lstrip(" ")
    word = code.split(" ")[0].split("\t")[0].rstrip(":(")
    return 0 if not word or word in COMPOUND else len(line) - len(code) + 1


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))


__all__ = ["Lifecycle"]
