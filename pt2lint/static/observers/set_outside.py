"""What code outside sets between calls of compiled code: attributes of modules, globals, lists that grow."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import TEXT, Env, Frame, title
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.observers.compiled_parts import CompiledParts
from pt2lint.static.observers.counters import Counters
from pt2lint.static.observers.counts import advanced, counts
from pt2lint.static.observers.uses import Decisive, is_after_data
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import (
    FunctionNode,
    binds,
    is_name,
    own_name,
    parameters_in,
    parts,
    walk,
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
    Value,
    Wrapped,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class SetOutside:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.decisive = Decisive(at)
        self.parts = CompiledParts(at)
        self.counters = Counters(at)

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
        words = {"head": ast.unparse(head), **self.counters.words(frame)}
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
                words = {
                    "head": ast.unparse(callee.value),
                    **read,
                    **self.counters.words(frame),
                    "sets": attribute,
                }
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
                words = {**words, "to": definition.name, "at": at, **self.counters.words(frame)}
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
                words |= {"sets": attribute, "through": title(func), **self.counters.words(frame)}
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
                words |= {"head": head, **read, **self.counters.words(frame)}
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
            if (read := self.read_in(owner, name)) and not self.reads_itself(owner, name):
                words |= {"name": name, "head": ast.unparse(head), **read, **self.counters.words(frame)}
                sorts: dict[int | str, str] = {0: self.at.types.sort(args[0])} if args else {}
                self.at.notebook.note(
                    node, "lengthen attribute of compiled", frame, args=sorts, details=words
                )
                return

    def reads_itself(self, owner: Instance, name: str) -> bool:
        """Whether it runs in the method that reads it, where a loop is one of a single run."""
        found = self.decisive.of_attribute(owner, name)
        return found is not None and found[1].node in self.at.functions.stack()

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


def _follows_data(function: FunctionNode | ast.Lambda, name: str) -> bool:
    """The same of a global that the function reads."""
    return any(part.id == name and is_after_data(function, part.lineno) for part in parts(function, ast.Name))


def _sets(method: FunctionNode) -> Iterator[tuple[bool, str, str]]:
    """`self.epoch = epoch`, `for layer in self.layers: layer.epoch = epoch`: whether it is the object's own attribute,
    which, and the parameter."""
    for part in walk(method):
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.value, ast.Name):
            target = part.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                yield target.value.id == "self", target.attr, part.value.id
