"""The interpreter's floor: the notebook of operations, and what its layers need of each other."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.libraries.model import Models
from pt2lint.op import Op
from pt2lint.static.facts import either
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module, Project
from pt2lint.static.source.nodes import FunctionNode, Unit
from pt2lint.static.values import (
    CONSTANT,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    options,
)

Key = tuple[str, int, int, int, int]

DEEPEST = 4  # lists in lists that `Core.sort` looks into


class Core:
    """Holds the notebook: path -> lines of the function or statement -> (operation, place) -> Op.

    `traced` are the operations that some rule listens to in code that Dynamo traces, `anywhere` those that are
    heard of in all code; nothing else is written down.
    """

    def __init__(
        self, project: Project, traced: frozenset[str], anywhere: frozenset[str], models: Models
    ) -> None:
        self.project, self.traced, self.anywhere, self.models = project, traced, anywhere, models
        self.notes: dict[str, dict[Unit, dict[Key, Op]]] = {}
        self.uses: dict[int, set[str]] = {}
        self.made_at: dict[tuple[str, int, int, str], Value] = {}
        self.quiet = 0
        self.doubt = 0
        self.last_external = ""
        self.last_call: ast.AST | None = None
        # What was found out, once for each name, class or function.
        self._qualified: dict[str, Value] = {}
        self._bases: dict[ClassInfo, tuple[list[ClassInfo], list[str], bool]] = {}
        self._is_module: dict[ClassInfo, bool] = {}
        self._methods: dict[FunctionNode, tuple[Value, str]] = {}
        self._instances: dict[Any, Instance] = {}
        self._objects: dict[Any, Instance] = {}
        self._variants: dict[ClassInfo, int] = {}
        self._ctor: dict[Instance, tuple[list[Value], dict[str, Value]]] = {}
        self._initialized: set[Instance] = set()
        self._late: set[tuple[Instance, str]] = set()
        self._results: dict[Any, Value] = {}
        self._contexts: dict[Any, int] = {}
        self._returned: dict[Any, Value] = {}
        self._entered: set[Any] = set()
        self._active: list[Any] = []
        self._kept: list[Env] = []
        self._used: dict[Any, dict[str, tuple[int, str]]] = {}
        self._draws: dict[Any, str | None] = {}
        self.drawn: list[
            tuple[str, int]
        ] = []  # what drew random numbers with a gradient so far, and in which line
        self.compiled_from: dict[int, tuple[Value, str]] = {}
        self.catching: list[int] = []  # the lines of each `try` around that waits for an AssertionError
        self._decisive: dict[Any, Any] = {}
        # What functions were called with, a few calls each, by path and lines.
        self.calls: dict[tuple[str, Unit], list[tuple[Func, Env]]] = {}
        self.reached: set[Any] = set()  # functions that Dynamo traces on some way from a root
        self.settings: dict[int, tuple[Value, dict[str, str]]] = {}
        self.made: dict[tuple[str, int, int, str], Instance] = {}
        self.telling = models.last_words("tells a tensor")

    # The notebook

    def listens(self, name: str, frame: Frame) -> bool:
        return not self.quiet and ((frame.region and name in self.traced) or name in self.anywhere)

    def note(
        self,
        node: Any,
        name: str,
        frame: Frame,
        about: Tensor | None = None,
        args: dict[int | str, str] | None = None,
        place: tuple[int, int, int, int] | None = None,
    ) -> None:
        """Write an operation down, once a place. A sure one takes the place of an unsure one."""
        module = frame.module
        if not module.linted:
            return
        line, start, end_line, end = place or (
            node.lineno,
            node.col_offset,
            node.end_lineno,
            node.end_col_offset,
        )
        key = (name, line, start, end_line, end)
        unit = self.notes.setdefault(module.path, {}).setdefault(frame.unit, {})
        sure = (about is None or about.sure) and not self.doubt
        if sure and frame.region and name in ("test tensor", "size tensor", "index mask"):
            if frame.inside == "loop":
                frame.skipped = True
                if name == "size tensor" and about is not None and about.origin is not None:
                    # Dynamo has given up the function by the second, and what mends the first mends it.
                    if frame.sized.setdefault(about.origin, key) != key:
                        return
            elif frame.inside is None:
                frame.broke = True
        old = unit.get(key)
        if old is not None and (old.sure or not sure) and (old.region or not frame.region) and not args:
            return
        if old is not None and args and old.args:
            # Called from several places: what an argument is in any of them.
            args = {k: either(old.args.get(k, ""), v) for k, v in {**old.args, **args}.items()}
        why = ""
        if about is not None and about.origin is not None:
            path, at, phrase = about.origin
            why = f"{phrase} (line {at})" if path == module.path else f"{phrase} ({path}:{at})"
        unit[key] = Op(
            name,
            line,
            module.column(line, start),
            end_line,
            module.column(end_line, end),
            args if args is not None else (old.args if old else {}),
            why if why or old is None else old.why,
            sure or (old is not None and old.sure),
            frame.inside,  # type: ignore[arg-type]
            frame.region or (old is not None and old.region),
            frame.flow() if old is None or not old.flow else old.flow,
            caller=(old.caller if old else "") or frame.around(),
        )

    def finished_notes(self) -> dict[str, dict[Unit, list[Op]]]:
        """All operations, each with what became of the object that it made."""
        return {
            path: {unit: [self._finished(op, path) for op in noted.values()] for unit, noted in units.items()}
            for path, units in self.notes.items()
        }

    def _finished(self, op: Op, path: str) -> Op:
        made = self.made_at.get((path, op.line, op.column, op.name))
        return op if made is None else op._replace(uses=frozenset(self.uses.get(id(made), ())))

    def quietly(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        """The value of an expression, noting nothing."""
        self.quiet += 1
        try:
            return self.eval(node, env, frame)
        finally:
            self.quiet -= 1

    def sort(self, value: Value, depth: int = 0) -> str:
        """What a value is, in the short words of Op.args. A list may hold itself: what lies deep is not looked at."""
        if depth > DEEPEST:
            return "unknown"
        kinds = []
        for o in options(value):
            if isinstance(o, Tensor):
                word = ("array" if o.array else "tensor") + (f":{o.dtype}" if o.dtype else "")
                if o.array and o.leaf == CONSTANT:
                    word = "number"
                kinds.append(word if o.sure else word + "?")
            elif isinstance(o, Py):
                kinds.append(
                    "constant " + repr(o.const) if isinstance(o.const, (int, str, float)) else o.type
                )
            elif isinstance(o, (Seq, Dict)):
                elem = o.elem
                if isinstance(o, Dict) and o.items:
                    elem = next((v for v in o.items.values() if "tensor" in self.sort(v, depth + 1)), elem)
                kinds.append(f"{o.type if isinstance(o, Seq) else 'dict'} of {self.sort(elem, depth + 1)}")
            elif isinstance(o, Instance):
                kinds.append(o.external or ("module" if self.is_module(o.cls) else "object"))
            elif isinstance(o, Ext):
                kinds.append("external " + o.name)
            elif isinstance(o, Func):
                kinds.append("function over a tensor" if _closes_over_tensor(o) else "function")
            elif isinstance(o, Wrapped):
                kinds.append(o.how)
            else:
                kinds.append(o.kind)
        return " | ".join(dict.fromkeys(kinds))

    # What the layers above define, and those below need

    def eval(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        raise NotImplementedError

    def block(self, body: list[ast.stmt], env: Env, frame: Frame) -> bool:
        raise NotImplementedError

    def test(self, node: ast.expr, env: Env, frame: Frame) -> bool | None:
        raise NotImplementedError

    def narrow(self, test: ast.expr, env: Env, outcome: bool, frame: Frame) -> None:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, env: Env, frame: Frame) -> None:
        raise NotImplementedError

    def attribute_of(self, owner: Value, name: str, node: ast.expr, frame: Frame) -> Value:
        raise NotImplementedError

    def binary(self, left: Value, right: Value, op: ast.operator, node: Any, frame: Frame) -> Value:
        raise NotImplementedError

    def apply(
        self,
        func: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        spread: bool = False,
    ) -> Value:
        raise NotImplementedError

    def is_module(self, cls: ClassInfo | None) -> bool:
        raise NotImplementedError

    def module_value(self, module: Module, name: str) -> Value | None:
        raise NotImplementedError

    def decorated(self, value: Value, node: Any, env: Env, frame: Frame) -> Value:
        raise NotImplementedError

    def seeds(self, func: Func, frame: Frame) -> list[Value]:
        raise NotImplementedError

    def store(self, instance: Instance, name: str, value: Value, frame: Frame) -> None:
        raise NotImplementedError

    def instance(
        self, cls: ClassInfo, args: list[Value] | None = None, kwargs: dict[str, Value] | None = None
    ) -> Instance:
        raise NotImplementedError

    def state(self, instance: Instance) -> dict[str, Value]:
        raise NotImplementedError

    def instance_attribute(self, instance: Instance, name: str, frame: Frame) -> Value:
        raise NotImplementedError

    def is_instance(self, value: Value, names: tuple[str, ...]) -> bool | None:
        raise NotImplementedError

    def annotation(self, node: ast.expr | None, frame: Frame, line: int = 0, text: str = "") -> Value:
        raise NotImplementedError

    def compiled(self, target: Value, node: Any, frame: Frame) -> None:
        raise NotImplementedError


def _closes_over_tensor(function: Func) -> bool:
    """Whether a lambda reads a tensor of the function that it stands in."""
    env = function.env or {}
    return isinstance(function.node, ast.Lambda) and any(
        isinstance(n, ast.Name) and isinstance(env.get(n.id), Tensor) for n in ast.walk(function.node.body)
    )
