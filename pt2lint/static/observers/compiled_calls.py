"""Calls of what was compiled, and of what Dynamo compiles by itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pt2lint.op import ITERATORS, Op
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame, title
from pt2lint.static.interpreter.syntax import parameters_of
from pt2lint.static.observers.computing import Computing
from pt2lint.static.observers.counters import Counters
from pt2lint.static.observers.counts import advanced
from pt2lint.static.observers.growing import stays_long
from pt2lint.static.observers.lengths import added_to, lengthened
from pt2lint.static.observers.sized import Sized
from pt2lint.static.observers.uses import Decisive, Use, is_after_data, wants_number
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    own_name,
    parameters_in,
    parts,
    unit_of,
    walk,
    yields,
)
from pt2lint.static.values import (
    UNKNOWN,
    Dict,
    Func,
    Instance,
    Py,
    Tensor,
    Unknown,
    Value,
    Wrapped,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

HOLDING = ("dict", "object", "unknown")  # words for what may hold numbers
FILLED = ("list", "dict")  # words for what a function may add to
LISTED = ("list", "tuple", "none", "unknown")  # words for what may be a list


class CompiledCalls:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.decisive = Decisive(at)
        self.sized = Sized(at)
        self.counters = Counters(at)
        self.computing = Computing(at.notebook)
        # The functions that a call gives no tensor, as far as they do anything with what they are given.
        self._plain: dict[tuple[str, int, int], Any] = {}

    def compiled(self, func: Value, node: Any, frame: Frame | None) -> None:
        """A generator function is compiled, at a call of torch.compile (`node`) or by a decorator."""
        if not isinstance(func, Func):
            return
        definition = func.node
        if isinstance(definition, ast.Lambda) or not yields(definition):
            return
        if node is None:
            node = next((d for d in definition.decorator_list if "compile" in ast.dump(d)), None)
            frame = Frame(func.module, unit_of(definition), definition.name)
        if node is not None and frame is not None and self.at.notebook.listens("compile generator", frame):
            self.at.notebook.note(
                node, "compile generator", frame, details={"name": "constant " + repr(definition.name)}
            )

    def called_compiled(
        self,
        func: Wrapped | Instance | Func,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
    ) -> None:
        """A compiled callable, or a function that the settings name, is called from code that is not compiled."""
        if not isinstance(node, ast.Call) or not self.at.notebook.listens("call compiled", frame):
            return
        inner = self.at.calls.roots.body_of(func.inner if isinstance(func, Wrapped) else func)
        words: dict[str, str] = {}
        if isinstance(func, Func):
            words["named"] = "yes"
        for name, value in self.at.calls.roots.settings_of(func).items():
            words["compile " + name] = value
        sorts, uses = self.words_of_call(inner, args, kwargs, isinstance(func, Func))
        words |= uses | self.counters.words(frame) | self.sized.words(node, frame) | self.grown(node, frame)
        words |= _behind(node, args)
        self.at.notebook.note(node, "call compiled", frame, args=sorts, details=words)
        if inner is not None and _is_plain(inner, args, kwargs):
            column = frame.module.column(node.lineno, node.col_offset)
            self._plain[frame.module.path, node.lineno, column] = inner.node

    def grown(self, node: ast.Call, frame: Frame) -> dict[str, str]:
        """{"grown 0": "yes"}: the lists of an object that the method which passes them makes longer at every call, and
        that stay so: `self.seen.append(x)` and `compiled(self.seen)`."""
        method, me = self.at.functions.running(), frame.me
        places = [a for a in node.args if isinstance(a, ast.Attribute) and isinstance(a.value, ast.Name)]
        if not places or method is None or not isinstance(me, Instance) or me.cls is None:
            return {}
        appended = {
            ast.unparse(each.value.func.value)
            for each in method.body
            if isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Call)
            and isinstance(each.value.func, ast.Attribute)
            and each.value.func.attr in self.at.models.last_words("grows")
        }
        order = self.at.classes.bases(me.cls)[0]
        trees, shrinks = {id(c.module): c.module.tree for c in order}, self.at.models.last_words("shrinks")
        return {
            f"grown {node.args.index(place)}": "yes"
            for place in places
            if is_name(place.value, own_name(method))
            and ast.unparse(place) in appended
            and all(isinstance(value, ast.List) for c in order for _, value in c.assigned(place.attr))
            and stays_long(trees.values(), place, {method.name}, shrinks, anew=True)
        }

    def finished(self, op: Op, path: str) -> Op:
        """The call, with whether anything is compiled: a schedule computes with numbers of Python alone."""
        if op.name in ("call compiled", "call apart"):
            definition = self._plain.get((path, op.line, op.column))
            if definition is not None and definition not in self.computing:
                return op._replace(details={**op.details, "compiles": "nothing"})
        return op

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: Any, frame: Frame
    ) -> None:
        """Traced code calls a function from where a break has Dynamo leave all to Python: then it compiles what is
        called by itself."""
        if frame.inside is None or not isinstance(node, ast.Call) or isinstance(func.node, ast.Lambda):
            return
        if not self.at.notebook.listens("call apart", frame):
            return
        sorts, uses = self.words_of_call(func, args, kwargs, True)
        words = uses | self.counters.words(frame) | _behind(node, args)
        if not any(isinstance(o, Tensor) for v in env.values() for o in options(v)):
            words["no tensors"] = "yes"
            column = frame.module.column(node.lineno, node.col_offset)
            self._plain[frame.module.path, node.lineno, column] = func.node
        self.at.notebook.note(node, "call apart", frame, args=sorts, details=words)

    def words_of_call(
        self, inner: Func | None, args: list[Value], kwargs: dict[str, Value], plain: bool
    ) -> tuple[dict[int | str, str], dict[str, str]]:
        """What each argument is, and what the function does with it; `plain`: it may be left to Python."""
        sorts: dict[int | str, str] = {i: self.at.types.sort(a) for i, a in enumerate(args)}
        sorts.update({k: self.at.types.sort(v) for k, v in kwargs.items()})
        words: dict[str, str] = {}
        if inner is not None:
            names, used = parameters_of(inner), self.decisive.of(inner)
            a = inner.node.args
            given: list[tuple[int | str, str]] = [*enumerate(names[: len(args)]), *((k, k) for k in kwargs)]
            given += [(stars, p.arg) for stars, p in (("*", a.vararg), ("**", a.kwarg)) if p is not None]
            texts = {p.arg for p in parameters_in(a) if is_name(p.annotation, "str")}
            for at, name in given:
                words[f"name {at}"] = name
                if name in texts and sorts.get(at) == "unknown":
                    sorts[at] = "str"
                if name in used and not (plain and _is_left_to_python(inner, used[name])):
                    how, path, line = used[name]
                    words[f"use {at}"], words[f"at {at}"] = how, told_place(path, line)
                    if not isinstance(inner.node, ast.Lambda) and (line := wants_number(inner.node, name)):
                        words[f"number {at}"] = told_place(inner.module.path, line)
                elif str(sorts.get(at)).startswith(ITERATORS) and _reads(inner, name):
                    # `items = list(items)`: what binds the name anew uses it, too.
                    words.setdefault(f"use {at}", "read")
            for at, name in given:
                if str(sorts.get(at)).startswith(HOLDING) and (parts := _parts_read(inner, name)):
                    words[f"parts {at}"] = " ".join(parts)
            listed = {name: at for at, name in given if str(sorts.get(at)).startswith(LISTED)}
            if listed and not isinstance(inner.node, ast.Lambda):
                words |= {f"longer {listed[name]}": "yes" for name in lengthened(inner.node, {*listed})}
            kept = {name: at for at, name in given if str(sorts.get(at)).startswith(FILLED)}
            if kept and not isinstance(inner.node, ast.Lambda):
                for name, line in added_to(inner.node, {*kept}).items():
                    words[f"added {kept[name]}"] = told_place(inner.module.path, line)
            for at, name in given[: len(args) + len(kwargs)]:
                value = args[at] if isinstance(at, int) else kwargs.get(str(at), UNKNOWN)
                if read := _read_in(value, words.get(f"parts {at}", "").split()):
                    words[f"read {at}"] = read
                if isinstance(value, Instance) and (numbers := self.numbers_of(value, inner, name)):
                    words[f"numbers {at}"] = numbers
                if isinstance(value, Instance) and value.cls is not None and f"parts {at}" in words:
                    words |= self.advancing(at, name, value, value.cls, used)
                if isinstance(value, Tensor) and value.ndim == 0 and value.dtype == "int" and not value.short:
                    words[f"whole {at}"] = "yes"
                if isinstance(value, Tensor) and value.is_parameter:
                    words[f"parameter {at}"] = "yes"
            words |= {"to": title(inner), "to at": told_place(inner.module.path, inner.node.lineno)}
        return sorts, words

    def advancing(
        self, at: int | str, name: str, given: Instance, cls: ClassInfo, used: Mapping[str, Use]
    ) -> dict[str, str]:
        """{"advance 0": "tick:t add:size"}: the methods of an object that make a number of it another, which the
        compiled function reads, and "use 0.t", what that does with the number."""
        held, found = self.at.objects.state(given), []
        for c in self.at.classes.bases(cls)[0]:
            for method in c.methods.values() if not self.at.classes.is_module(cls) else ():
                if method.name != "__init__" and method not in self.at.functions.reached:
                    found += [
                        f"{method.name}:{a}" for a, _ in advanced(method, held) if f"{name}.{a}" in used
                    ]
        words = {f"use {at}.{a}": used[f"{name}.{a}"].how for a in {one.partition(":")[2] for one in found}}
        return words | ({f"advance {at}": " ".join(found)} if found else {})

    def numbers_of(self, module: Instance, inner: Func, name: str) -> str:
        """The number that a compiled function reads of a module that it is given, and that each may have another of:
        `__init__` sets it to what it is given. "" if there is none."""
        if module.cls is None or not self.at.classes.is_module(module.cls):
            return ""
        order, state = self.at.classes.bases(module.cls)[0], self.at.objects.state(module)
        own = {
            attribute
            for c in order
            if (init := c.methods.get("__init__")) is not None
            for attribute, value in _set_to_arguments(init)
            if value is not None
            and isinstance(known := state.get(attribute, UNKNOWN), (Py, Unknown))
            and (known is UNKNOWN or (isinstance(known, Py) and known.type in ("int", "float")))
        }
        if not own:
            return ""
        readers = [(inner.node, name)]
        found = self.at.classes.find_method(module.cls, "forward")
        if found is not None and any(
            isinstance(p.func, ast.Name) and p.func.id == name for p in parts(inner.node, ast.Call)
        ):
            readers.append((found[1], own_name(found[1])))
        for node, me in readers:
            for part in walk(node):
                if isinstance(part, (ast.BinOp, ast.Compare)):
                    sides = (
                        [part.left, part.right]
                        if isinstance(part, ast.BinOp)
                        else [part.left, *part.comparators]
                    )
                    for side in sides:
                        if isinstance(side, ast.Attribute) and side.attr in own:
                            if is_name(side.value, me):
                                return side.attr
        return ""


def _behind(node: ast.Call, args: list[Value]) -> dict[str, str]:
    """{"behind": "1"}: how many places further than it is written an argument behind `*pair` is, which holds two."""
    stars = [at for at, given in enumerate(node.args) if isinstance(given, ast.Starred)]
    more = len(args) - len(node.args)
    if len(stars) != 1 or not any(value is not UNKNOWN for value in args[stars[0] + 1 + more :]):
        return {}  # of a sequence of any length, what comes behind is unknown
    return {"behind": str(more)}


def _is_plain(func: Func, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a call gives the function no tensor: only numbers, texts and objects of which it reads attributes."""
    if func.node.args.vararg is not None or func.node.args.kwarg is not None:
        return False
    given = [*zip(parameters_of(func), args, strict=False), *kwargs.items()]
    if not all(isinstance(o, (Py, Instance, Unknown)) for _, value in given for o in options(value)):
        return False
    open_ = {name for name, value in given if any(isinstance(o, Unknown) for o in options(value))}
    used = [part for part in parts(func.node, ast.Name) if part.id in open_]
    called = {id(part.func) for part in parts(func.node, ast.Call)}
    owners = {
        id(part.value)
        for part in parts(func.node, ast.Attribute)
        if isinstance(part.ctx, ast.Load) and id(part) not in called
    }
    return all(id(name) in owners for name in used)


def _read_in(value: Value, parts: list[str]) -> str:
    """The key under which a dictionary holds a number read out of a tensor, of those used; "number" for itself."""
    if isinstance(value, Py):
        return "number" if value.read else ""
    items = value.items if isinstance(value, Dict) else {}
    return next((p for p in parts if isinstance(held := items.get(p), Py) and held.read), "")


def _parts_read(func: Func, name: str) -> list[str]:
    """The keys and the attributes of a parameter that the function reads."""
    found: dict[str, None] = {}
    for part in walk(func.node):
        if not isinstance(part, ast.Attribute | ast.Subscript) or not isinstance(part.ctx, ast.Load):
            continue
        if isinstance(part.value, ast.Name) and part.value.id == name:
            key = part.attr if isinstance(part, ast.Attribute) else getattr(part.slice, "value", None)
            if isinstance(key, str) and key.isidentifier():
                found.setdefault(key)
    return list(found)


def _reads(func: Func, name: str) -> bool:
    return any(part.id == name and isinstance(part.ctx, ast.Load) for part in parts(func.node, ast.Name))


def _is_left_to_python(func: Func, use: Use) -> bool:
    """Whether a parameter is used in a loop over data or after it, as the number of the epoch is where it is printed:
    what breaks in the loop leaves the whole function to Python, which guards on nothing."""
    return use.path == func.module.path and is_after_data(func.node, use.line)


def _set_to_arguments(init: FunctionNode) -> list[tuple[str, ast.expr | None]]:
    """The attributes that `__init__` sets to something that it makes of its arguments."""
    known: list[tuple[str, ast.expr | None]] | None = init.__dict__.get("pt2lint_set_to_arguments")
    assigned = parts(init, ast.Assign)  # which notes that it is read
    if known is None:
        given = {a.arg for a in parameters_in(init.args)[1:]}
        known = init.__dict__["pt2lint_set_to_arguments"] = [
            (target.attr, part.value)
            for part in assigned
            if any(isinstance(n, ast.Name) and n.id in given for n in walk(part.value))
            for target in part.targets
            if isinstance(target, ast.Attribute)
        ]
    return known
