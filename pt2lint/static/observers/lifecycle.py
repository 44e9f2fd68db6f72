"""The later life of objects that rules ask about: what is done with an optimizer or a loader after it is made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.libraries.call import Call
from pt2lint.op import Op
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame, title
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.observers.padding import PADS, Padding
from pt2lint.static.source.nodes import last_word, parameters_in, unit_of, walk
from pt2lint.static.values import (
    UNKNOWN,
    Ext,
    Func,
    Instance,
    Py,
    Tensor,
    Value,
    Wrapped,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


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


class Lifecycle:
    """`made_at` holds the objects by the operation that made them, `uses` what is done with each, by `id`."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.made_at: dict[tuple[str, int, int, str], Instance] = {}
        self.uses: dict[int, set[str]] = {}
        self.padding = Padding(at)

    def external(self, call: Call, result: Value) -> None:
        """Something outside the project was called: an object is made, or something is done with one."""
        if isinstance(call.receiver, Instance):
            method = call.name.rsplit(".", 1)[-1]
            # Of what a package offers beside its models nothing says that it is compiled.
            region = call.frame.region and not self.at.calls.roots.beside
            self.used(call.receiver, f"{method} in region" if region else method)
        elif isinstance(result, Instance) and result.followed and result.external == call.name:
            self._made(call, result)

    def _made(self, call: Call, made: Instance) -> None:
        node, module = call.node, call.frame.module
        if id(made) not in self.uses:
            self.uses[id(made)] = set()
            column = module.column(node.lineno, node.col_offset)
            self.made_at[module.path, node.lineno, column, f"call {call.name}"] = made
            if self.at.models.plays(call.name, "loader") and (place := self.padding.of_loader(call)):
                self.uses[id(made)].add(PADS + place)
        for a in [*call.args, *call.kwargs.values()]:
            if isinstance(a, Instance) and id(a) in self.uses:
                self.uses[id(a)].add(f"given to {call.name}")

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        """Remember the loader that a loop goes over, and the names in its body that are made of what it gives,
        unless the loop says of some tensor which of its sizes change."""
        if not isinstance(node, ast.For) or not isinstance(over, Instance):
            return
        if not self.at.models.plays(over.external, "loader"):
            return
        made = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
        if (
            isinstance(node.iter, ast.Call)
            and isinstance(node.target, ast.Tuple)
            and len(node.target.elts) == 2
        ):
            first = node.target.elts[0]
            if isinstance(node.iter.func, ast.Name) and node.iter.func.id in self.at.models.last_words(
                "counts items"
            ):
                made -= {n.id for n in walk(first) if isinstance(n, ast.Name)}
        # Those that hold all of a batch, which is as often a dictionary as a tensor.
        whole = set(made) if len(made) == 1 else set()
        for part in (p for statement in node.body for p in walk(statement)):
            if self.marks(part):
                return
            if isinstance(part, ast.Assign) and _mentions(part.value, made):
                made |= {n.id for target in part.targets for n in walk(target) if isinstance(n, ast.Name)}
                if _passes_on(part.value, whole):
                    whole |= {target.id for target in part.targets if isinstance(target, ast.Name)}
        frame.loaders = [*frame.loaders, (over, made, whole)]

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        """What the caller's loops go over, with the parameters that take what comes from it."""
        if (
            not frame.loaders
            or not isinstance(node, ast.Call)
            or any(self.marks(part) for part in walk(func.node))
        ):
            return
        for loader, made, whole in frame.loaders:
            taken = self._taking(func, node, made)
            if taken:
                all_of_it = self._taking(func, node, whole) if whole else []
                callee.loaders = [*callee.loaders, (loader, set(taken), set(all_of_it))]

    def _taking(self, func: Func, node: ast.Call, made: set[str]) -> list[str]:
        """The parameters that a call fills with something made of these names."""
        places = zip(parameters_of(func), node.args, strict=False)
        taken = [p for p, a in places if not isinstance(a, ast.Starred) and _mentions(a, made)]
        return taken + [k.arg for k in node.keywords if k.arg and _mentions(k.value, made)]

    def called_compiled(
        self,
        func: Wrapped | Instance | Func,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
    ) -> None:
        """A compiled callable is called in a loop over a loader."""
        if isinstance(node, ast.Call) and frame.loaders and not self.at.notebook.quiet:
            dynamic = self.at.calls.roots.settings_of(func).get("dynamic", "none")
            word = {"none": "feeds", "constant False": "feeds static"}.get(dynamic)
            if word is not None:
                inner = self.at.calls.roots.body_of(func.inner if isinstance(func, Wrapped) else func)
                self.feeds(ast.unparse(node.func), inner, node, frame, word)

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """A module, whose `forward` counts as compiled, is called in a loop over a loader."""
        if frame.loaders and not self.at.notebook.quiet:
            for one in self.at.calls.roots.presumed(func):
                inner = self.at.calls.roots.body_of(one)
                self.feeds(ast.unparse(node.func), inner, node, frame, "feeds presumed")

    def feeds(self, callee: str, inner: Func | None, node: ast.Call, frame: Frame, word: str) -> None:
        """A compiled callable is called: remember it with the loader whose batches it is given.

        The words: `word`, "feeds", "feeds static" where it is compiled with `dynamic=False`, or "feeds presumed" where
        nothing says that it is compiled; where the statement
        begins ("PATH:LINE", column), the names given as they are, how torch is called there, the callee; and where the
        function that it runs is defined ("PATH:LINE"), its name, and its parameters that take what comes from the
        loader.
        """
        for loader, made, whole in frame.loaders:
            given = [*node.args, *(k.value for k in node.keywords)]
            if any(_mentions(a, made) for a in given):
                column = _room_before(frame.module.as_written(frame.line, frame.line)[:-1])
                plain = [a.id for a in given if isinstance(a, ast.Name) and a.id in made]
                spread = any(_mentions(a, made) for a in given if isinstance(a, ast.Starred)) or any(
                    _mentions(k.value, made) for k in node.keywords if k.arg is None
                )
                unsure = self._may_be_others(inner, node, set(plain), whole.intersection(plain))
                names = "" if spread or unsure or not column else ",".join(dict.fromkeys(plain))
                library = self.at.models.named("reads the environment")
                torch = next((local for local, n in frame.module.imports.items() if n == library), "")
                words = [
                    word,
                    told_place(frame.module.path, frame.line),
                    str(column),
                    names,
                    torch,
                    callee,
                ]
                if inner is not None:
                    taken = self._taking(inner, node, made)
                    words += [
                        told_place(inner.module.path, inner.node.lineno),
                        title(inner),
                        ",".join(taken),
                    ]
                self.used(loader, "\t".join(words))

    def _may_be_others(self, inner: Func | None, node: ast.Call, names: set[str], whole: set[str]) -> bool:
        """Whether what a call fills with a batch may be no tensor, for all that annotations and uses show: a whole
        batch has to be one for sure (where a module of torch's own is called, it is), a part may be unknown."""
        if inner is None:
            return False
        there = Frame(inner.module, unit_of(inner.node), title(inner))
        surely = self._taking(inner, node, whole)
        given = self._taking(inner, node, names)
        asked = [each for each in parameters_in(inner.node.args) if each.arg in given]
        kinds = [
            (each.arg in surely, self.at.functions.parameter(inner, each, None, there)) for each in asked
        ]
        return (bool(surely) and not asked) or any(
            not any(isinstance(one, Tensor) or (one is UNKNOWN and not sure) for one in options(kind))
            for sure, kind in kinds
        )

    def used(self, owner: Value | None, what: str) -> None:
        """Remember what is done with an object, if it is one whose life is followed."""
        if isinstance(owner, Instance) and owner.followed:
            owner = owner.attrs.get("owner", owner)
            if id(owner) in self.uses:
                self.uses[id(owner)].add(what)

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`group["lr"] = ...`"""
        if isinstance(owner, Instance) and isinstance(index, Py) and isinstance(index.const, str):
            self.used(owner, f"set {index.const}")

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """torch.compile was given a bound method of an external object."""
        if isinstance(target, Ext):
            self.used(target.receiver, f"{target.name.rsplit('.', 1)[-1]} in region")

    def marks(self, node: ast.AST) -> bool:
        """`mark_dynamic` and the like."""
        return last_word(node).startswith(tuple(self.at.models.last_words("marks sizes")))

    def finished(self, op: Op, path: str) -> Op:
        """The operation, with what became of the object that it made."""
        made = self.made_at.get((path, op.line, op.column, op.name))
        return op if made is None else op._replace(uses=frozenset(self.uses.get(id(made), ())))


def _room_before(line: str) -> int:
    """The column, from 1, where a simple statement begins its line, so that another can be put before it; else 0."""
    code = line.lstrip(" ")
    word = code.split(" ")[0].split("\t")[0].rstrip(":(")
    return 0 if not word or word in COMPOUND else len(line) - len(code) + 1


def _passes_on(value: ast.expr, names: set[str]) -> bool:
    """Whether it may be one of them, moved or changed: `batch.to(device)`, `moved(batch)`."""
    if isinstance(value, ast.Name):
        return value.id in names
    if not isinstance(value, ast.Call):
        return False
    given = [*value.args, *(k.value for k in value.keywords)]
    given += [value.func.value] if isinstance(value.func, ast.Attribute) else []
    return any(_passes_on(one, names) for one in given)


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))
