"""What a function is there for beside the model: NumPy's arrays, other threads, other processes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guards import FOR_ARRAYS, SPREAD, THREADED, Guard, Path
from pt2lint.static.source.nodes import FunctionNode
from pt2lint.static.values import Func, Instance, Tensor, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo


class Duties:
    """Asks each class once."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._classes: dict[ClassInfo, Path] = {}

    def of(self, func: Func, definition: FunctionNode, env: Env, frame: Frame) -> Path:
        """What is said of what the function does, called in compiled code."""
        found: Path = ()
        me = func.bound
        if isinstance(me, Instance) and me.cls is not None and not self.at.classes.is_module(me.cls):
            if me.cls not in self._classes:
                self._classes[me.cls] = ()  # while it is asked
                self._classes[me.cls] = self._of_class(me.cls)
            found = self._classes[me.cls]
        if self._says("array type", frame) and self._takes_arrays(definition, env, frame):
            found += (Guard("", FOR_ARRAYS),)
        if self._needs_processes(definition, frame):
            found += (Guard("", SPREAD),)
        return found

    def _of_class(self, cls: ClassInfo) -> Path:
        """What `__init__` says of its objects: it makes a lock, a thread or a queue, or is given processes."""
        found: Path = ()
        for one in self.at.classes.bases(cls)[0]:
            home = Frame(one.module, (1, 1), "", cls=one)
            made = (value.func for _, value in one.layers() if isinstance(value, ast.Call))
            if any(self._plays("threads", callee, home) for callee in made):
                found += (Guard("", THREADED),)
            init = one.methods.get("__init__")
            if init is not None and self._needs_processes(init, home):
                found += (Guard("", SPREAD),)
        return found

    def _takes_arrays(self, definition: FunctionNode, env: Env, frame: Frame) -> bool:
        """Whether parameters are annotated as NumPy arrays, or what it returns, none as a tensor, and nothing else is
        known of them."""
        arrays = False
        if definition.returns is not None:
            returned = self.at.types.annotation(definition.returns, frame, 0, "")
            arrays = isinstance(returned, Tensor) and returned.array
        for parameter in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs):
            said = parameter.annotation
            if said is None or isinstance(said, ast.Constant):
                continue
            promised = options(self.at.types.annotation(said, frame, 0, ""))
            given = options(env[parameter.arg])
            tensors = [o for o in (*promised, *given) if isinstance(o, Tensor)]
            if any(not o.array for o in tensors):
                return False
            arrays = arrays or any(isinstance(o, Tensor) for o in promised)
        return arrays

    def _needs_processes(self, definition: FunctionNode, frame: Frame) -> bool:
        """Whether it has to be given a group of processes: `def __init__(self, pg: dist.ProcessGroup)`."""
        if not self._says("group of processes", frame):
            return False
        a = definition.args
        needed = [*a.posonlyargs, *a.args]
        needed = needed[: len(needed) - len(a.defaults)]
        needed += [p for p, default in zip(a.kwonlyargs, a.kw_defaults, strict=True) if default is None]
        return any(
            isinstance(p.annotation, (ast.Name, ast.Attribute))
            and self._plays("group of processes", p.annotation, frame)
            for p in needed
        )

    def _says(self, role: str, frame: Frame) -> bool:
        return any(frame.module.says(word) for word in self.at.models.last_words(role))

    def _plays(self, role: str, named: ast.expr, frame: Frame) -> bool:
        value = self.at.expressions.quietly(named, {}, frame)
        return self.at.models.plays(self.at.names.external_name(value), role)
