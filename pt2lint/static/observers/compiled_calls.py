"""Calls of what was compiled, attributes of it that are read, and what code outside sets in it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pt2lint.op import ITERATORS, Op
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import TEXT, Env, Frame, title
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.observers.compiled_parts import CompiledParts
from pt2lint.static.observers.computing import Computing
from pt2lint.static.observers.counts import advanced, counts
from pt2lint.static.observers.growing import stays_long
from pt2lint.static.observers.lengths import added_to, lengthened
from pt2lint.static.observers.sized import Sized
from pt2lint.static.observers.uses import Decisive, Use, wants_number
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import (
    FunctionNode,
    binds,
    is_name,
    is_own,
    is_range,
    own_name,
    parameters_in,
    parts,
    unit_of,
    walk,
    yields,
)
from pt2lint.static.values import (
    INT,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Partial,
    Py,
    Seq,
    Tensor,
    Unknown,
    Value,
    Wrapped,
    is_stack,
    may_be_plain,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


HOLDING = ("dict", "object", "unknown")  # words for what may hold numbers
FILLED = ("list", "dict")  # words for what a function may add to
LISTED = ("list", "tuple", "none", "unknown")  # words for what may be a list
MANY = (
    2  # calls of torch functions on tensors that make a method worth compiling; or one product with its own
)

# How a text that is looked for, or taken off, in names ends.
PREFIXES = ('_orig_mod."', "_orig_mod.'", "_orig_mod.{", "_orig_mod\\.")


class CompiledCalls:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.decisive = Decisive(at)
        self.sized = Sized(at)
        self._counted: dict[ClassInfo, set[str]] = {}
        self.parts = CompiledParts(at)
        self.computing = Computing(at.notebook)
        # The functions that a call gives no tensor, as far as they do anything with what they are given.
        self._plain: dict[tuple[str, int, int], Any] = {}

    def read(self, owner: Wrapped, name: str, node: ast.expr, frame: Frame, among: Value) -> None:
        """An attribute of what torch.compile returned is read."""
        inner = owner.inner
        module = all(  # as it may be for the other ways that the code may have gone
            one is UNKNOWN
            or is_stack(one)
            or (isinstance(one, Instance) and (one.cls is None or self.at.classes.is_module(one.cls)))
            for one in options(inner)
        )
        if module and self.at.notebook.listens("attribute of compiled", frame):
            words = self.words_of_compiled(inner, name, frame)
            if owner.within:
                words["within"] = owner.within
            if may_be_plain(among) or self._is_made_plain(node, frame):
                words["maybe"] = "yes"
            self.at.notebook.note(node, "attribute of compiled", frame, details=words)

    def _is_made_plain(self, place: ast.expr, frame: Frame) -> bool:
        """Whether it is asked of what the object keeps of an argument of its `__init__`, and some code of the project
        makes such an object with what is not compiled, as far as reading tells."""
        while isinstance(place, ast.Attribute) and not is_own(place):
            place = place.value
        cls = frame.own_class
        found = self.at.classes.find_method(cls, "__init__") if cls is not None else None
        if cls is None or found is None or not is_own(place):
            return False
        kept = {value.id for method, value in cls.assigned(place.attr) if isinstance(value, ast.Name)}
        maker = Func(found[1], found[0].module, found[0].env, Instance(cls), found[0])
        passed = self.at.functions.passed
        passed.read(maker.module)
        passed.read_callers(maker)
        given = passed.seen.get(maker.node, {})
        return any(
            not isinstance(one, Wrapped) or one.how != "compiled"
            for name in kept
            for one in options(given.get(name, UNKNOWN))
        )

    def words_of_compiled(self, inner: Value, name: str, frame: Frame) -> dict[str, str]:
        """What rules are told of `compiled.name`."""
        words = {"name": "constant " + repr(name), "self": self.at.types.sort(inner)}
        found = (
            self.at.classes.find_method(inner.cls, name)
            if isinstance(inner, Instance) and inner.cls
            else None
        )
        if found is not None:
            words["method"] = self.compute(*found) or self.computes(*found)
        elif isinstance(inner, Instance) and inner.cls is not None:
            value = self.at.objects.state(inner).get(name, UNKNOWN)
            layer = isinstance(value, Instance) and (
                value.cls is None or self.at.classes.is_module(value.cls)
            )
            if (layer or is_stack(value)) and id(value) not in self.at.calls.roots.settings:
                words["part"] = "module"
        if frame.module.says("_orig_mod"):
            prefix = any(map(frame.module.says, PREFIXES))
            words["aware"] = "of the prefix" if prefix else "of the module"
        return words

    def compute(self, cls: ClassInfo, node: FunctionNode) -> str:
        """What a method does that compiling could speed up: "calls self", "calls forward", "calls NAME", or ""."""
        me = own_name(node)
        if not me:
            return ""
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.at.expressions.quietly(named, cls.env or {}, Frame(cls.module, (1, 1), ""))
            if not isinstance(value, Ext) or not self.at.models.plays(value.name, "without gradients"):
                return ""
        layers = {name for name, value in cls.layers() if self._makes_module(value, cls)}
        for part in walk(node):
            if isinstance(part, ast.Call):
                callee = part.func
                if is_name(callee, me):
                    return "calls self"
                if isinstance(callee, ast.Attribute) and is_name(callee.value, me):
                    if callee.attr == "forward":
                        return "calls forward"
                    if callee.attr in layers:
                        return f"calls {callee.attr}"
        return ""

    def computes(self, cls: ClassInfo, node: FunctionNode) -> str:
        """ "computes" where a method that is given something does several things to tensors, else ""."""
        parameters = {p.arg for p in parameters_in(node.args)[1:]}
        if not parameters or node.decorator_list:
            return ""
        me = self.at.objects.instance(cls)
        frame = Frame(cls.module, unit_of(node), "", cls=cls)
        env = {**(cls.env or {}), own_name(node): me}
        done = 0
        for part in walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
                callee = self.at.expressions.quietly(part.func, env, frame)
                if isinstance(callee, Ext) and self.at.models.takes_tensor_first(callee.name):
                    done += 1
            elif isinstance(part, ast.BinOp):
                # `(y - self.shift) * self.scale`: arithmetic with what the module holds as tensors.
                held = [s for s in (part.left, part.right) if isinstance(s, ast.Attribute)]
                if isinstance(part.op, ast.MatMult) or any(
                    isinstance(self.at.expressions.quietly(s, env, frame), Tensor) for s in held
                ):
                    done += MANY
        return "computes" if done >= MANY else ""

    def _makes_module(self, value: ast.expr, cls: ClassInfo) -> bool:
        if not isinstance(value, ast.Call):
            return False
        callee = self.at.expressions.quietly(value.func, cls.env or {}, Frame(cls.module, (1, 1), ""))
        if isinstance(callee, Ext):
            return self.at.models.of(callee.name).forward is not None
        info = getattr(callee, "info", None)
        return info is not None and self.at.classes.is_module(info)

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
        words |= uses | self.counts(frame) | self.sized.words(node, frame) | self.grown(node, frame)
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

    def counts(self, frame: Frame) -> dict[str, str]:
        """{"counts": "self.step epoch"}: numbers that the object whose method runs counts in, and that the method
        reads, and parameters that a loop of a caller counts; {"texts": "name"}: those that are given a text of many;
        {} if there are none."""
        definition = self.at.functions.running()
        if definition is None:
            return {}
        given = {p.arg for p in parameters_in(definition.args)} if frame.counted else set()
        hook = self.framework_counts(frame.me, definition)
        found = [*sorted(given & frame.counted), *sorted(self.own_counts(frame.me, definition) | hook)]
        words = {"counts": " ".join(found)} if found else {}
        if texts := sorted(name for name in given if name + TEXT in frame.counted):
            words["texts"] = " ".join(texts)
        return {**words, "hook": "yes"} if hook else words

    def own_counts(self, me: Value | None, definition: FunctionNode) -> set[str]:
        """Attributes ("self.step") that the object counts in, and that its method reads."""
        if not isinstance(me, Instance) or me.cls is None:
            return set()
        own = self._counted.get(me.cls)
        if own is None:
            all_counting = [each for cls in self.at.classes.bases(me.cls)[0] for each in cls.counting()]
            own = self._counted[me.cls] = {name for one in all_counting for name in one.counted}
            own |= {one.method for one in all_counting if one.shown & own}
        return {f"self.{part.attr}" for part in parts(definition, ast.Attribute) if part.attr in own}

    def framework_counts(self, me: Value | None, definition: FunctionNode) -> set[str]:
        """Attributes ("self.current_epoch", "self.trainer.global_step") in which the framework counts that calls the
        method."""
        named = self.at.models.last_words("counted by a framework")
        return {
            dotted(part) or ""
            for part in parts(definition, ast.Attribute)
            if part.attr in named and self.at.objects.counted_by_framework(me, part.attr)
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
        words = uses | self.counts(frame)
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

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """Code that is not compiled assigns an attribute of a compiled module, or of one inside of it; or a global, or
        an attribute of an object that is one."""
        if frame.region:
            return
        if frame.counted and isinstance(value, Py) and value.type == "int":
            self.assigned_global(target, owner, value, frame)
        place = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(place, ast.Attribute) or not self.at.calls.roots.modules:
            return
        if place is not target:  # `model.options["step"] = n`
            if not frame.counted or not isinstance(index, Py) or not isinstance(index.const, str):
                return
            owner = self.at.expressions.quietly(place.value, env, frame)
        if isinstance(owner, Wrapped):
            owner = owner.inner
        if not self.at.notebook.listens("set attribute of compiled", frame):
            return
        args: dict[int | str, str] = {0: self.at.types.sort(value)}
        head = place.value
        if isinstance(owner, Instance) and self.parts.has(owner):
            if owner is frame.me and self.is_given(target, frame):
                return  # told where the method is called
            owners = [owner]
        else:
            among = self.gone_over(head, env, frame) if place is target else None
            if among is None:
                return
            head, owners = among, [*self.parts.all().values()]
        while isinstance(head, ast.Attribute) and not self.at.calls.roots.is_compiled(
            self.at.expressions.quietly(head, env, frame)
        ):
            head = head.value
        words = {"head": ast.unparse(head), **self.counts(frame)}
        if read := self.read_by(owners, place.attr, index):
            self.at.notebook.note(target, "set attribute of compiled", frame, args=args, details=words | read)

    def read_by(self, owners: list[Instance], attribute: str, index: Value | None = None) -> dict[str, str]:
        """What the first of these modules that reads the attribute does with it."""
        for one in owners:
            if one.cls is None and self.at.models.plays(f"{one.external}.{attribute}", "constant number"):
                return {"use": f"constant {one.external}", "to": one.external or ""}
            if one.cls is not None and (read := self.read_in(one, attribute, index)):
                return read
        return {}

    def is_given(self, target: ast.expr, frame: Frame) -> bool:
        """Whether the method that runs sets the attribute to what a loop of its caller gives it."""
        running = self.at.functions.running()
        if running is None or not isinstance(target, ast.Attribute):
            return False
        given = {p.arg for p in parameters_in(running.args)}
        return any(
            own and attribute == target.attr and {parameter, parameter + TEXT} & frame.counted
            for own, attribute, parameter in _sets(running)
            if parameter in given
        )

    def gone_over(self, part: ast.expr, env: Env, frame: Frame) -> ast.expr | None:
        """`net`, where a loop gives the part that name (`for part in net.modules(): part.rate = rate`), and nothing
        says that it is a module which is not compiled."""
        if not isinstance(part, ast.Name):
            return None
        giving = self.at.models.last_words("gives parts")
        running = self.at.functions.running()
        for loop in _loops(frame.module.tree) if running is None else parts(running, ast.For):
            callee = loop.iter.func if isinstance(loop.iter, ast.Call) else None
            if not isinstance(callee, ast.Attribute) or callee.attr not in giving:
                continue
            named = any(is_name(n, part.id) for n in walk(loop.target))
            if named and loop.lineno <= part.lineno <= (loop.end_lineno or 0):
                return None if self.is_other(callee.value, env, frame) else callee.value
        return None

    def is_other(self, whole: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is a module that is not compiled."""
        value = self.at.expressions.quietly(whole, env, frame)
        if isinstance(value, Seq):
            return not any(value is one for one in self.at.calls.roots.modules)
        return isinstance(value, Instance) and not self.parts.has(value)

    def applied(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`net.apply(lambda m: set_rate(m, rate))`: a function sets an attribute of each part of a module."""
        callee = node.func
        if not isinstance(callee, ast.Attribute) or callee.attr not in self.at.models.last_words(
            "given each part"
        ):
            return
        if len(node.args) != 1 or not self.at.calls.roots.modules or self.is_other(callee.value, env, frame):
            return
        if not self.at.notebook.listens("set attribute of compiled", frame):
            return
        for attribute, value in self.set_by(node.args[0], {}, env, frame):
            if read := self.read_by([*self.parts.all().values()], attribute):
                sort = (
                    self.at.types.sort(self.at.expressions.quietly(value, env, frame)) if value else "float"
                )
                words = {"head": ast.unparse(callee.value), **read, **self.counts(frame), "sets": attribute}
                words |= {"through": ast.unparse(callee)}
                words |= {"gives": ast.unparse(value)} if value is not None else {"by": sort}
                self.at.notebook.note(node, "set attribute of compiled", frame, args={0: sort}, details=words)
                return

    def set_by(
        self, function: ast.expr, given: Mapping[str, ast.expr], env: Env, frame: Frame
    ) -> list[tuple[str, ast.expr | None]]:
        """The attributes that a function sets of what it is given first, and to what, in the words of who calls it:
        `given` says what its other parameters are. None: to another number each time (`m.p = m.p * 0.9`)."""
        if isinstance(function, ast.Call):  # `partial(set_rate, rate=rate)`
            value = self.at.expressions.quietly(function, env, frame)
            if not isinstance(value, Partial) or len(function.args) != 1:
                return []
            bound = {k.arg: k.value for k in function.keywords if k.arg}
            return self.set_by(function.args[0], bound, env, frame)
        body: ast.AST = function
        if not isinstance(function, ast.Lambda):
            value = self.at.expressions.quietly(function, env, frame)
            if not isinstance(value, Func) or value.bound is not None:
                return []
            body = value.node
        assert isinstance(body, (ast.Lambda, FunctionNode))
        names = [p.arg for p in parameters_in(body.args)]
        first = names[0] if names else ""
        found: list[tuple[str, ast.expr | None]] = []
        for part in walk(body):
            target = part.targets[0] if isinstance(part, ast.Assign) else None
            if isinstance(part, ast.Assign) and counts(
                part.value, {f"{first}.{getattr(target, 'attr', '')}"}
            ):
                found.append((getattr(target, "attr", ""), None))
                continue
            if (
                isinstance(part, ast.Assign)
                and isinstance(target, ast.Attribute)
                and is_name(target.value, first)
            ):
                found.append((target.attr, part.value))
            elif isinstance(part, ast.Call) and part.args and is_name(part.args[0], first):
                name = getattr(part.args[1], "value", None) if len(part.args) == 3 else None
                if is_name(part.func, "setattr") and isinstance(name, str):
                    found.append((name, part.args[2]))
                elif isinstance(function, ast.Lambda) and isinstance(part.func, ast.Name):
                    inner = self.at.expressions.quietly(part.func, env, frame)
                    if isinstance(inner, Func) and not isinstance(inner.node, ast.Lambda):
                        bound = dict(zip(parameters_of(inner)[1:], part.args[1:], strict=False))
                        bound |= {k.arg: k.value for k in part.keywords if k.arg}
                        found += self.set_by(part.func, bound, env, frame)
        mine = ({*names} | binds(body)) - {first, *given}
        return [
            (attribute, given.get(value.id, value) if isinstance(value, ast.Name) else value)
            for attribute, value in found
            if value is None or not any(isinstance(n, ast.Name) and n.id in mine for n in walk(value))
        ]

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        """`for step in range(n):` at the top of a file, whose compiled code reads `step`."""
        if frame.region or not isinstance(node, ast.For) or self.at.functions.running() is not None:
            return
        if not frame.counted or not self.at.notebook.listens("set global of compiled", frame):
            return
        items = [over.elem, *(over.elts or ())] if isinstance(over, Seq) else []
        if any(isinstance(item, Py) and item.type == "float" for item in items):
            return  # compiled once more, and then for any
        counted = [n for n in walk(node.target) if isinstance(n, ast.Name) and n.id in frame.counted]
        run = self.run_by(node, env, frame) if counted else set()
        for name in counted:
            among = {f for f in run if not _follows_data(f, name.id)}
            self.read_by_traced(name, name.id, INT, frame, among)

    def run_by(self, loop: ast.For, env: Env, frame: Frame) -> set[Any]:
        """The functions and methods of the project that calls in the loop run, and those whose names these mention."""
        calls = (part for statement in loop.body for part in walk(statement) if isinstance(part, ast.Call))
        callees = [self.at.expressions.quietly(call.func, env, frame) for call in calls]
        found: set[Any] = set()
        for option in (o for callee in callees for o in options(callee)):
            inner = option.inner if isinstance(option, Wrapped) else option
            if isinstance(inner, Func):
                found.add(inner.node)
                named = {n.id for n in parts(inner.node, ast.Name)}
                found |= {f for name, f in frame.module.functions.items() if name in named}
            elif isinstance(inner, Instance) and inner.cls is not None:
                found |= {*inner.cls.methods.values()}
        return found

    def assigned_global(self, target: ast.expr, owner: Value, value: Py, frame: Frame) -> None:
        """`STEP = n`, `config.step = n`, `STATE["step"] = n` in the turns of a loop, where compiled code of the file
        reads it."""
        if isinstance(target, ast.Attribute):
            module = isinstance(owner, Instance) and self.at.classes.is_module(owner.cls)
            if module or not isinstance(owner, (Instance, Class, Ext)):
                return
        elif isinstance(target, ast.Subscript):
            if not isinstance(owner, (Dict, Seq)):
                return
        elif not isinstance(target, ast.Name):
            return
        place = _place(target)
        if place is None or not self.is_global(place, frame):
            return
        cls = owner.info if isinstance(owner, Class) else None
        self.read_by_traced(target, place, value, frame, self.traced_in(frame.module), cls)

    def read_by_traced(
        self,
        target: ast.expr,
        place: str,
        value: Py,
        frame: Frame,
        among: Collection[Any],
        cls: ClassInfo | None = None,
        words: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """What sets a global, or a name of a class, to another number is noted with the first traced function among
        these that reads it; whether there is one."""
        if not self.at.notebook.listens("set global of compiled", frame):
            return False
        for definition in self.traced_in(frame.module):
            own = cls is not None and _reads_of_class(place.rpartition(".")[2], cls, definition)
            if definition in among and (own or _reads_global(place, definition)):
                at = told_place(frame.module.path, definition.lineno)
                args: dict[int | str, str] = {0: self.at.types.sort(value)}
                words = {**words, "to": definition.name, "at": at, **self.counts(frame)}
                self.at.notebook.note(target, "set global of compiled", frame, args=args, details=words)
                return True
        return False

    def is_global(self, place: str, frame: Frame) -> bool:
        """Whether the first name stands at the top of the file, and is no local one where it is assigned."""
        name = _first_name(place)
        if name in frame.globals:
            return True
        definition = self.at.functions.running()
        known = name in frame.module.classes or any(
            self.at.names.assignments(each, frame.module) for each in (name, place)
        )
        if place == name or not known:
            return False
        return definition is None or name not in _bound_in(definition)

    def traced_in(self, module: Module) -> list[FunctionNode]:
        """The functions and methods at the top of a file that Dynamo traces."""
        found = [*module.functions.values()]
        found += [method for cls in module.classes.values() for method in cls.methods.values()]
        return [definition for definition in found if definition in self.at.functions.reached]

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """Code that is not compiled calls a method that sets an attribute of a compiled module, or of one inside of
        it, to what it is given: `model.set_epoch(epoch)`; or one that counts in it: `model.grow()`. Or it makes
        a list of such a module longer."""
        self.lengthened(node, func, args, env, frame)
        self.applied(node, env, frame)
        if (
            not isinstance(func, Func)
            or not isinstance(func.bound, Instance)
            or not isinstance(node.func, ast.Attribute)
        ):
            return
        if isinstance(func.node, ast.Lambda) or func.node.name in ("__init__", "forward"):
            return
        if not self.at.notebook.listens("set attribute of compiled", frame):
            return
        self.advanced(node, func, func.bound, frame)
        if not self.at.calls.roots.modules or not self.parts.has(func.bound):
            return
        names = parameters_of(func)
        given = dict(zip(names, zip(node.args, args, strict=False), strict=False))
        given |= {
            k.arg: (k.value, self.at.expressions.quietly(k.value, env, frame)) for k in node.keywords if k.arg
        }
        for own, attribute, parameter in _sets(func.node):
            if parameter not in given or isinstance(given[parameter][0], (ast.Constant, ast.Starred)):
                continue
            argument, value = given[parameter]
            owners = [func.bound] if own else list(self.parts.all().values())
            read = next((words for one in owners if (words := self.read_in(one, attribute))), None)
            if read is not None:
                sorts: dict[int | str, str] = {0: self.at.types.sort(value)}
                words = {"head": ast.unparse(node.func.value), **read}
                words |= {"sets": attribute, "through": title(func), **self.counts(frame)}
                self.at.notebook.note(argument, "set attribute of compiled", frame, args=sorts, details=words)

    def advanced(self, node: ast.Call, func: Func, me: Instance, frame: Frame) -> None:
        """`model.grow()`: the method counts in the compiled module that it is of, or in a global that compiled code
        reads."""
        assert isinstance(node.func, ast.Attribute)
        assert not isinstance(func.node, ast.Lambda)
        head = ast.unparse(node.func.value)
        for attribute, amount in advanced(func.node, self.at.objects.state(me)):
            words = {"sets": attribute, "through": title(func), "by": amount}
            if not self.at.classes.is_module(me.cls):
                place = f"{head}.{attribute}"
                if self.is_global(place, frame):
                    among = self.traced_in(frame.module)
                    self.read_by_traced(node, place, Py(amount), frame, among, words=words)
            elif self.parts.has(me) and (read := self.read_in(me, attribute)):
                words |= {"head": head, **read, **self.counts(frame)}
                self.at.notebook.note(
                    node, "set attribute of compiled", frame, args={0: amount}, details=words
                )

    def lengthened(self, node: ast.Call, func: Value, args: list[Value], env: Env, frame: Frame) -> None:
        """`model.blocks.append(block)`, `model.active.add(name)`, or `model.grow()`, which does so of its own."""
        callee = node.func
        if not isinstance(callee, ast.Attribute) or not self.at.calls.roots.modules:
            return
        if isinstance(func, Func):
            owner, head, words = func.bound or UNKNOWN, callee.value, {"through": title(func)}
            names = [] if isinstance(func.node, ast.Lambda) else self.lengthened_by(func.node)
        elif callee.attr in self.lengthening() and isinstance(callee.value, ast.Attribute):
            head, names, words = callee.value.value, [callee.value.attr], {}
            owner = self.at.expressions.quietly(head, env, frame)
        else:
            return
        owner = owner.inner if isinstance(owner, Wrapped) else owner
        if not isinstance(owner, Instance) or not self.parts.has(owner):
            return
        if not names or not self.at.notebook.listens("lengthen attribute of compiled", frame):
            return
        for name in names:
            if read := self.read_in(owner, name):
                words |= {"name": name, "head": ast.unparse(head), **read, **self.counts(frame)}
                sorts: dict[int | str, str] = {0: self.at.types.sort(args[0])} if args else {}
                self.at.notebook.note(
                    node, "lengthen attribute of compiled", frame, args=sorts, details=words
                )
                return

    def lengthening(self) -> set[str]:
        return {*self.at.models.last_words("grows"), "add"}

    def lengthened_by(self, method: FunctionNode) -> list[str]:
        """The lists and sets of the object that each run of its method makes longer, and does not make shorter."""
        changed: dict[str, set[str]] = {}
        shrinks = self.at.models.last_words("shrinks")
        for part in walk(method):
            callee = part.func if isinstance(part, ast.Call) else None
            held = callee.value if isinstance(callee, ast.Attribute) else None
            if isinstance(callee, ast.Attribute) and isinstance(held, ast.Attribute):
                if is_name(held.value, own_name(method)):
                    plain = any(isinstance(s, ast.Expr) and s.value is part for s in method.body)
                    if callee.attr in shrinks or plain:
                        changed.setdefault(held.attr, set()).add(callee.attr)
        return [name for name, by in changed.items() if by <= self.lengthening()]

    def read_in(self, owner: Instance, attribute: str, key: Value | None = None) -> dict[str, str]:
        """What compiled methods of the module do with its attribute, which is no property, or with the item under a key
        of it; {} if none reads it."""
        cls = owner.cls
        if cls is None or not self.at.classes.is_module(cls) or self.at.classes.find_method(cls, attribute):
            return {}
        found = self.decisive.of_attribute(owner, attribute)
        if found is None:
            return {}
        use, reader = found
        if isinstance(key, Py) and not _reads_item(attribute, key.const, reader):
            return {}
        words = {"use": use.how, "at": told_place(use.path, use.line), "to": title(reader)}
        given = [
            settings.get("dynamic")
            for made, settings in self.at.calls.roots.settings.values()
            if owner is (made.inner if isinstance(made, Wrapped) else made)
        ]
        return words | ({"compile dynamic": "constant False"} if set(given) == {"constant False"} else {})


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


def _reads_item(attribute: str, key: object, reader: Func) -> bool:
    """Whether the method reads `self.options["step"]`."""
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.value, ast.Attribute)
        and part.value.attr == attribute
        and isinstance(part.slice, ast.Constant)
        and part.slice.value == key
        for part in walk(reader.node)
    )


def _reads_global(place: str, function: FunctionNode) -> bool:
    """Whether the function reads `STEP`, `config.step` or `STATE["step"]`, of a global."""
    return _first_name(place) not in _bound_in(function) and any(
        isinstance(part, (ast.Name, ast.Attribute, ast.Subscript))
        and isinstance(part.ctx, ast.Load)
        and _place(part) == place
        for part in walk(function)
    )


@lru_cache(maxsize=1)  # asked for each statement of a script
def _loops(tree: ast.Module) -> list[ast.For]:
    return [node for node in walk(tree) if isinstance(node, ast.For)]


def _reads_of_class(name: str, cls: ClassInfo, method: FunctionNode) -> bool:
    """Whether it is a method of the class that says `self.NAME`, which no object of it has for itself."""
    return (
        method in cls.methods.values()
        and not cls.assigned(name)
        and any(p.attr == name and is_name(p.value, own_name(method)) for p in parts(method, ast.Attribute))
    )


def _place(node: ast.expr) -> str | None:
    """`STEP`, `config.step`, `STATE['step']`: what stands in one place of a global."""
    if not isinstance(node, ast.Subscript):
        return dotted(node)
    head = dotted(node.value)
    known = head is not None and isinstance(node.slice, ast.Constant)
    return f"{head}[{ast.unparse(node.slice)}]" if known else None


def _first_name(place: str) -> str:
    """`STATE` of `STATE['step']`, `config` of `config.step`."""
    return place.partition("[")[0].partition(".")[0]


def _bound_in(function: FunctionNode) -> set[str]:
    """The names of its parameters, and the local ones that it binds."""
    parts = walk(function)
    shared = {name for p in parts if isinstance(p, ast.Global) for name in p.names}
    return (binds(function) - shared) | {p.arg for p in parts if isinstance(p, ast.arg)}


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
    return use.path == func.module.path and _is_after_data(func.node, use.line)


def _follows_data(function: FunctionNode | ast.Lambda, name: str) -> bool:
    """The same of a global that the function reads."""
    return any(
        part.id == name and _is_after_data(function, part.lineno) for part in parts(function, ast.Name)
    )


def _is_after_data(function: FunctionNode | ast.Lambda, line: int) -> bool:
    return any(
        not is_range(part.iter) and part.lineno < line <= (function.end_lineno or 0)
        for part in parts(function, ast.For)
    )


def _sets(method: FunctionNode) -> Iterator[tuple[bool, str, str]]:
    """`self.epoch = epoch`, `for layer in self.layers: layer.epoch = epoch`: whether it is the object's own attribute,
    which, and the parameter."""
    for part in walk(method):
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.value, ast.Name):
            target = part.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                yield target.value.id == "self", target.attr, part.value.id


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
