"""Assignment: to names, attributes, items, and several at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.subscripts import takers
from pt2lint.static.interpreter.syntax import dotted, imported_above
from pt2lint.static.values import (
    ALWAYS_OFF,
    LEAF,
    UNKNOWN,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    element,
    join,
    join_all,
    mixed,
    options,
    tensor_of,
    truth,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Assignments:
    def __init__(self, at: Context) -> None:
        self.at = at

    def assign(self, target: ast.expr, value: Value, env: Env, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            if value is UNKNOWN and self.at.functions.active:
                value = self.at.functions.usage.of_local(target, frame)
            env[target.id] = value
            frame.forget(target.id)
            if target.id in frame.globals or target.id in frame.nonlocals:
                for hear in self.at.events.assigned:
                    hear(target, UNKNOWN, value, None, env, frame)
            prefix = target.id + "."
            if prefix in "\n".join(env):  # mostly not, and this is the fast way to see it
                for k in [k for k in env if k.startswith(prefix)]:
                    del env[k]
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target.elts, value, env, frame)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Seq(None, element(value)), env, frame)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value, env, frame)
        elif isinstance(target, ast.Subscript):
            self.assign_item(target, value, env, frame)

    def unpack(self, targets: list[ast.expr], value: Value, env: Env, frame: Frame) -> None:
        starred = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
        elts: list[Value] | None = None
        if isinstance(value, Seq) and value.around is not None and starred is None:
            before, each, after = value.around
            between = len(targets) - len(before) - len(after)
            elts = [*before, *[each] * between, *after] if between >= 0 else None
        else:
            spread = [
                _spread(self.at.objects.as_tuple(o, frame), len(targets), starred) for o in options(value)
            ]
            known = [each for each in spread if each is not None]
            if known:
                elts = [join_all(each[i] for each in known) for i in range(len(targets))]
        for i, target in enumerate(targets):
            if isinstance(target, ast.Starred) and elts is not None:
                self.assign(target.value, elts[i], env, frame)
            else:
                self.assign(target, elts[i] if elts is not None else mixed(element(value)), env, frame)

    def assign_attribute(self, target: ast.Attribute, value: Value, env: Env, frame: Frame) -> None:
        owner = self.at.expressions.eval(target.value, env, frame)
        if owner is UNKNOWN and target.attr in self.at.models.last_words("set of tensors alone"):
            owner = Tensor(None, None)
        key = dotted(target)
        if key is not None:
            env[key] = value
            frame.narrowed[key] = False
            frame.forget(key)
        for option in options(owner):
            for hear in self.at.events.assigned:
                hear(target, option, value, None, env, frame)
            if isinstance(option, Instance):
                if target.attr == "forward" and not frame.region:
                    self.at.calls.roots.forward_replaced(option, value, frame)
                if option.cls is not None and (
                    option is frame.me
                    or isinstance(value, Tensor)
                    or self._is_added(option, target.attr, value, frame)
                ):
                    self.at.objects.store(option, target.attr, value, frame)
                elif option.cls is not None and not frame.region and truth(value) is not False:
                    self._turn_on(option, target.attr, value, frame)
                elif option.external and self.at.notebook.listens(
                    f"set {option.external}.{target.attr}", frame
                ):
                    self.at.notebook.note(target, f"set {option.external}.{target.attr}", frame)
            elif isinstance(option, Ext) and option.receiver is None:
                if self.at.notebook.listens(f"set {option.name}.{target.attr}", frame):
                    self.at.notebook.note(
                        target, f"set {option.name}.{target.attr}", frame, args={0: self.at.types.sort(value)}
                    )
            elif isinstance(option, Tensor):
                operation = f"set {self.at.models.tensor}.{target.attr}"
                if self.at.notebook.listens(operation, frame):
                    args: dict[int | str, str] = {0: self.at.types.sort(value)}
                    details: dict[str, str] = {}
                    given = tensor_of(value)
                    dtype = given.dtype if given is not None else None
                    if option.leaf == LEAF and dtype in (None, option.dtype or "float"):
                        details["input"] = "self"
                    before = frame.guards
                    frame.guards += self.at.conditions.branches.of_leaf(target, frame)
                    self.at.notebook.note(target, operation, frame, about=option, args=args, details=details)
                    frame.guards = before

    def _turn_on(self, owner: Instance, name: str, value: Value, frame: Frame) -> None:
        """Code outside of the class sets a flag that its objects leave off: `model.calibrates = True`, also in a loop
        over all of a model, where any object of the class may be meant."""
        assert owner.cls is not None
        for one in (owner, *self.at.objects.variants(owner.cls)):
            kept = self.at.objects.state(one).get(name)
            if isinstance(kept, Py) and kept.off == ALWAYS_OFF:
                self.at.objects.store(one, name, value, frame)

    def _is_added(self, owner: Instance, name: str, value: Value, frame: Frame) -> bool:
        """Whether code outside of the class gives its object something compiled, by a name that the class has not:
        `sampler.step = torch.compile(sampler.denoise)`, where the class calls `self.step(...)`; or compiles its method
        in place: `sampler.denoise = torch.compile(sampler.denoise)`."""
        if not isinstance(value, Wrapped) or value.how != "compiled" or frame.region or owner.cls is None:
            return False
        method = self.at.classes.find_method(owner.cls, name)
        in_place = isinstance(value.inner, Func) and method is not None and value.inner.node is method[1]
        # That `forward` is replaced is known apart.
        return (in_place and name != "forward") or (
            method is None and name not in self.at.objects.state(owner)
        )

    def assign_item(self, target: ast.Subscript, value: Value, env: Env, frame: Frame) -> None:
        owner = self.at.expressions.eval(target.value, env, frame)
        index = self.at.expressions.eval(target.slice, env, frame)
        among = takers(owner, index)
        for option in among:
            for hear in self.at.events.assigned:
                hear(target, option, value, index, env, frame)
            if isinstance(option, Dict):
                if isinstance(index, Py) and isinstance(index.const, str):
                    option.items[index.const] = value
                else:
                    # Of what nobody knows, an annotation of the dictionary says what it is.
                    says = value is UNKNOWN and isinstance(option.elem, Tensor) and option.elem.is_annotated
                    if not says:
                        option.elem = value if option.elem is UNKNOWN else join(option.elem, value)
                    option.key = index if option.key is None else join(option.key, index)
            elif isinstance(option, Seq):
                if len(among) == 1:
                    self.at.expressions.subscripts.check_place(index, target, env, frame)
                option.counted = False
                option.elem = join(option.elem, value) if option.elts != [] else value
                option.elts = None
            elif isinstance(option, Tensor):
                self.at.expressions.subscripts.check_sizes(target.slice, env, frame)
                for part in index.elts or () if isinstance(index, Seq) else (index,):
                    number = tensor_of(part)
                    if self.at.expressions.subscripts.is_number(number) and self.at.notebook.listens(
                        "size tensor", frame
                    ):
                        self.at.notebook.note(target, "size tensor", frame, about=number)
            elif (
                isinstance(option, Ext)
                and len(among) == 1
                and (item := self.at.models.of(f"{option.name}[]")).breaks
            ):
                self.at.calls.breaks(item, target, frame)
            elif isinstance(option, Ext) and self.at.notebook.listens(f"set {option.name}[]", frame):
                words: dict[int | str, str] = {0: self.at.types.sort(index), 1: self.at.types.sort(value)}
                details = {}
                reader = self.at.models.named("reads the environment")
                if imported_above(reader, frame.module.tree, target.lineno):
                    details["after"] = reader
                self.at.notebook.note(target, f"set {option.name}[]", frame, args=words, details=details)


def _spread(value: Value, targets: int, starred: int | None) -> list[Value] | None:
    """What each of so many targets is given of a sequence, the starred one a list; None where that cannot be said."""
    if not isinstance(value, Seq):
        return None
    if value.elts is None:
        if value.prefix and starred is None:
            return [*value.prefix, *[mixed(value.elem)] * targets][:targets]
        return None
    if starred is None:
        return value.elts if len(value.elts) == targets else None
    last = len(value.elts) - (targets - starred - 1)
    if last < starred:
        return None
    return [*value.elts[:starred], Seq(value.elts[starred:last]), *value.elts[last:]]
