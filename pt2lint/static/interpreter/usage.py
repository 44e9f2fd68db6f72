"""What a parameter is where nobody says: a tensor, if the function uses it as only a tensor can be used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.static.interpreter.frame import Frame, title
from pt2lint.static.source.nodes import unit_of, walk
from pt2lint.static.values import (
    LEAF,
    UNKNOWN,
    Ext,
    Func,
    Instance,
    Partial,
    Seq,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Use(NamedTuple):
    """That a name is used as only a tensor can be, in which line, and whether as only a sparse one can be."""

    name: str
    line: int
    phrase: str
    sparse: bool = False


class Usage:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.telling = at.models.last_words("tells a tensor")
        self._used: dict[Any, dict[str, Use]] = {}

    def by_use(self, func: Func, parameter: ast.arg, frame: Frame) -> Value:
        """A tensor, if the function uses the parameter, before binding it anew, as only a tensor can be."""
        use = self._uses_of(func).get(parameter.arg)
        if use is None:
            return Seq(None, None, "generator") if self._is_asked_for_next(func, parameter.arg) else UNKNOWN
        origin = (func.module.path, use.line, f"`{parameter.arg}` {use.phrase}")
        return Tensor(None, origin, leaf=LEAF, sparse=use.sparse)

    def _is_asked_for_next(self, func: Func, name: str) -> bool:
        """`next(batches)`, of what the function does not bind anew: an iterator."""
        asks = self.at.models.last_words("asks for the next")
        asked = False
        for part in walk(func.node):
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
                return False
            asked = asked or (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and part.func.id in asks
                and bool(part.args)
                and isinstance(part.args[0], ast.Name)
                and part.args[0].id == name
            )
        return asked

    def _uses_of(self, func: Func) -> dict[str, Use]:
        node = func.node
        known = self._used.get(node)
        if known is not None:
            return known
        found: dict[str, Use] = {}
        self._used[node] = found
        assert not isinstance(node, ast.Lambda)
        names = {p.arg for p in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        rebound: dict[str, int] = {}
        several: set[str] = set()
        candidates: list[Use] = []
        frame = Frame(func.module, unit_of(node), "", cls=func.defined_in, me=func.bound, closure=func.env)
        me = node.args.args[0].arg if func.defined_in is not None and node.args.args else ""
        for n in walk(node):
            if isinstance(n, ast.Name):
                if n.id in names and isinstance(n.ctx, ast.Store):
                    end = n.lineno
                    rebound[n.id] = min(rebound.get(n.id, end), end)
            elif isinstance(n, ast.Attribute):
                if isinstance(n.value, ast.Name) and n.value.id in names and n.attr in self.telling:
                    candidates.append(Use(n.value.id, n.lineno, f"is used as a tensor: `.{n.attr}`"))
            elif isinstance(n, ast.Call):
                if isinstance(n.func, ast.Name) and n.func.id in names:
                    several.add(n.func.id)  # no tensor is called: `engine.backward(engine(x))`
                passed = [
                    (i, a.id) for i, a in enumerate(n.args) if isinstance(a, ast.Name) and a.id in names
                ]
                if (
                    passed
                    and isinstance(n.func, ast.Name)
                    and n.func.id in self.at.models.last_words("decides by type")
                ):
                    several.add(passed[0][1])  # it takes values of several kinds, and tells them apart
                    continue
                if passed and passed[0][0] == 0:
                    phrase, sparse = self._takes_tensor(n.func, me, func, frame)
                    if phrase:
                        candidates.append(Use(passed[0][1], n.lineno, phrase, sparse))
                        continue
                named = [
                    (k.arg, k.value.id)
                    for k in n.keywords
                    if k.arg and isinstance(k.value, ast.Name) and k.value.id in names
                ]
                if passed or named:
                    inner, taken = self._function_behind(n.func, me, func, frame)
                    if inner is not None:
                        later = [(i + taken, passed_name) for i, passed_name in passed]
                        candidates += self._passed_on(inner, [*later, *named], n.lineno)
        for use in sorted(candidates, key=lambda c: c.line):
            if use.name not in several and use.line <= rebound.get(use.name, use.line):
                before = found.setdefault(use.name, use)
                found[use.name] = before._replace(sparse=before.sparse or use.sparse)
        return found

    def callee(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> Func | None:
        """The function of the project that a call in a function's body runs, if that is plain to see."""
        value: Value = UNKNOWN
        if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name) and callee.value.id == me:
            if isinstance(func.bound, Instance) and func.bound.cls is not None:
                value = self.at.objects.instance_attribute(func.bound, callee.attr, frame)
        elif isinstance(callee, ast.Name) and func.env is None:
            value = self.at.expressions.quietly(callee, {}, frame)
        if isinstance(value, Instance) and value.cls is not None and self.at.classes.is_module(value.cls):
            found = self.at.classes.find_method(value.cls, "forward")
            value = self.at.classes.method_value(*found, value) if found is not None else UNKNOWN
        return value if isinstance(value, Func) and not isinstance(value.node, ast.Lambda) else None

    def _function_behind(
        self, callee: ast.expr, me: str, func: Func, frame: Frame
    ) -> tuple[Func | None, int]:
        """The function of the project that a call runs, and how many of its parameters others fill: the context that
        `apply` hands to the `forward` of a differentiable function."""
        if (
            isinstance(callee, ast.Attribute)
            and callee.attr == "apply"
            and isinstance(callee.value, ast.Name)
        ):
            value = self.at.expressions.quietly(callee, {}, frame)
            if isinstance(value, Partial) and isinstance(value.func, Func):
                return value.func, len(value.args)
        return self.callee(callee, me, func, frame), 0

    def _passed_on(
        self, inner: Func, passed: list[tuple[int, str] | tuple[str, str]], line: int
    ) -> list[Use]:
        """Which of the passed names the callee uses as tensors."""
        uses = self._uses_of(inner)
        a = inner.node.args
        positional = [p.arg for p in [*a.posonlyargs, *a.args]][1 if inner.bound is not None else 0 :]
        found = []
        for where, name in passed:
            parameter = (
                where if isinstance(where, str) else (positional[where] if where < len(positional) else "")
            )
            if parameter in uses:
                phrase = f"is given to `{title(inner)}`, where it {uses[parameter].phrase}"
                found.append(Use(name, line, phrase, uses[parameter].sparse))
        return found

    def _takes_tensor(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> tuple[str, bool]:
        """Why the first argument of this call is a tensor, or "", and whether it is a sparse one."""
        name = self._callee_of_tensors(callee, me, func, frame)
        return f"is given to `{name}`" * bool(name), self.at.models.plays(name, "takes a sparse tensor")

    def _callee_of_tensors(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> str:
        """What is called, if its first argument is a tensor, or ""."""
        if isinstance(callee, ast.Attribute):
            head: ast.expr = callee.value
            while isinstance(head, ast.Attribute):
                head = head.value
            if not isinstance(head, ast.Name):
                return ""
            if head.id == me and isinstance(callee.value, ast.Name) and isinstance(func.bound, Instance):
                if func.bound.cls is None or not self.at.classes.is_module(func.bound.cls):
                    return ""
                value = self.at.objects.instance_attribute(func.bound, callee.attr, frame)
                if isinstance(value, Instance) and value.cls is None and value.external:
                    entry = self.at.models.of(value.external)
                    if entry.forward is not None and "passes on" not in entry.roles:
                        return value.external.rsplit(".", 1)[-1]
                if isinstance(value, Seq) and value.type == "Sequential" and value.elts:
                    return "Sequential"
                return ""
            if head.id not in func.module.imports:
                return ""
        elif not isinstance(callee, ast.Name) or callee.id not in func.module.imports:
            return ""
        value = self.at.expressions.quietly(callee, {}, frame)
        if isinstance(value, Ext) and self.at.models.takes_tensor_first(value.name):
            return value.name
        return ""
