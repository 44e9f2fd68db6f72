"""Modules of one class that are compiled one by one, each with a number of its own, or with a parametrized layer, which
has a class of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import (
    LOOPS,
    FunctionNode,
    below,
    binds,
    goes_over,
    is_name,
    own_name,
    parameters_in,
    parts,
    placed,
    unit_of,
    walk,
)
from pt2lint.static.values import UNKNOWN, Class, Func, Instance, Py, Tensor, Unknown, Value, Wrapped

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

MAX_NESTING = 3  # modules in modules
COUNTS = ("range", "enumerate")


class Reading(NamedTuple):
    """Where which number of which class is read."""

    cls: ClassInfo
    attribute: str
    node: ast.Attribute
    function: FunctionNode
    when: str = ""  # the condition under which it is; "" where it is in any case
    parametrized: bool = False  # a layer, no number


class NumberedBlocks:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._loops: dict[Module, list[ast.AST]] = {}
        self._calls_in_turns: dict[Module, list[tuple[ast.Call, set[str]]]] = {}
        self._parametrized: dict[ClassInfo, set[str]] = {}
        self._of_turns: dict[tuple[ClassInfo, Module], Reading | None] = {}

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """torch.compile is given a module of the project, or its `forward`."""
        if (
            isinstance(target, Func)
            and getattr(target.node, "name", "") == "forward"
            and target.bound is not None
        ):
            target = target.bound
        if node is None or frame is None or not isinstance(target, Instance) or target.cls is None:
            return
        if not self.listens(frame):
            return
        cls = target.cls
        read = self.read_of_turn(cls, frame)
        varied: set[str] = set()
        if read is None:
            varied = {name for module in {cls.module, frame.module} for name in self.varied(cls, module)}
            read = self.reading(cls, varied, 0) if varied else None
            if read is not None and not self.is_number(read, target):
                return
        if read is not None:
            details = _told(cls, read) | ({"varied": "yes"} if varied else {})
            self.at.notebook.note(node, _operation(read), frame, details=details)

    def listens(self, frame: Frame) -> bool:
        return self.at.notebook.listens("compile block", frame)

    def given(
        self, func: Func, args: list[Value], kwargs: dict[str, Value], env: Env, node: Any, frame: Frame
    ) -> None:
        """Traced code calls a block in a loop: where a break has Dynamo leave the loop to Python, each is compiled by
        itself."""
        cls = func.bound.cls if isinstance(func.bound, Instance) else None
        if frame.inside != "loop" or cls is None or not isinstance(node, ast.Call):
            return
        if not self.listens(frame) or not self.at.classes.is_module(cls):
            return
        read = self.read_of_turn(cls, frame)
        if read is None or (read.parametrized and isinstance(node.func, ast.Attribute)):
            return  # `self.block(x)` is the same block in each turn
        details = _told(cls, read) | {"left": "yes"}
        self.at.notebook.note(node, _operation(read), frame, details=details)

    def is_number(self, read: Reading, target: Instance) -> bool:
        """Whether the attribute is computed with or compared, and not known to be anything but a number."""
        value = self.at.objects.state(target).get(read.attribute, UNKNOWN)
        if not isinstance(value, (Py, Unknown)) or (
            isinstance(value, Py) and value.type not in ("int", "float")
        ):
            return False
        found = self.at.classes.find_method(read.cls, "forward")
        used: list[ast.expr | None] = []
        for part in walk(found[1]) if found is not None else ():
            if isinstance(part, ast.BinOp):
                used += [part.left, part.right]
            elif isinstance(part, ast.Compare):
                used += [part.left, *part.comparators]
            elif isinstance(part, ast.UnaryOp):
                used.append(part.operand)
            elif isinstance(part, ast.Slice):
                used += [part.lower, part.upper]
        return any(isinstance(one, ast.Attribute) and one.attr == read.attribute for one in used)

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        """Methods of a linted file under `@torch.compile`: what is compiled for one module is tried for the others. And
        numbers that decide in each, whoever compiles it."""
        for cls in classes:
            if self.at.classes.is_module(cls):
                self.numbered_apart(cls, module)
        self.numbered_outside(module)
        named = bool(self.at.calls.roots.named)
        for cls in classes if named or module.says("compile") else ():
            for definition in cls.methods.values():
                if (named or definition.decorator_list) and self.at.classes.is_module(cls):
                    self.compiled_alone(cls, definition)

    def numbered_apart(self, cls: ClassInfo, module: Module) -> None:
        """A loop makes objects of the class with a number each, by which `forward` looks something up."""
        definition = cls.methods.get("forward")
        if definition is None:
            return
        frame = Frame(module, unit_of(definition), f"`{cls.name}.forward`", cls=cls)
        if not self.listens(frame):
            return
        numbered = set(self.numbered(cls, module))
        own = {name for name, value in cls.layers() if _is_made_of(value, numbered)} if numbered else set()
        me = own_name(definition)
        for part in _in_any_case(definition) if own else ():
            for place in _picking(part):
                if isinstance(place, ast.Attribute) and place.attr in own:
                    if is_name(place.value, me):
                        details = {"class": cls.name, "method": "forward", "apart": "yes"}
                        self.at.notebook.note(place, "compile block", frame, details=details)
                        return

    def numbered_outside(self, module: Module) -> None:
        """`for i, block in enumerate(blocks): block.attention.index = i`, and traced code that reads it of one."""
        named = {
            target.attr
            for loop in self.loops(module)
            if isinstance(loop, ast.For) and (turn := _number_of_turn(loop.iter, loop.target))
            for part in walk(loop)
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id == turn
            for target in part.targets
            if isinstance(target, ast.Attribute) and _first(target) in binds(loop.target) - {turn}
        }
        for definition in walk(module.tree) if named else ():
            if not isinstance(definition, FunctionNode):
                continue
            # An object that a module calls, such as a processor of attention, is given from outside.
            if definition not in self.at.functions.reached and definition.name not in ("forward", "__call__"):
                continue
            frame = Frame(module, unit_of(definition), f"`{definition.name}`")
            if not self.listens(frame):
                return
            for part in walk(definition):
                if (name := _asked_for(part)) in named:
                    details = {"method": definition.name, "apart": "yes", "number": name}
                    self.at.notebook.note(part, "compile block", frame, details=details)
                    break

    def compiled_alone(self, cls: ClassInfo, definition: FunctionNode) -> None:
        """A method that a decorator compiles, or of which the settings say that something does."""
        frame = Frame(cls.module, unit_of(definition), f"`{cls.name}.{definition.name}`", cls=cls)
        if not self.listens(frame):
            return
        roots = self.at.calls.roots
        value = self.at.classes.method_value(cls, definition, self.at.objects.instance(cls))
        decorated = (
            isinstance(value, Wrapped) and value.how == "compiled"
        ) or definition in roots.by_decorator
        if not decorated and not (isinstance(value, Func) and roots.is_named(value)):
            return
        numbered = set(self.numbered(cls, cls.module))
        read = self.reading(cls, numbered, MAX_NESTING, definition.name)
        if read is not None and read.parametrized and not self.is_made_in_turns(cls):
            return
        details = {"class": cls.name, "method": definition.name}
        if read is not None:
            title = f"`{read.cls.name}.{read.function.name}`"
            where = Frame(read.cls.module, unit_of(read.function), title, cls=read.cls)
            details |= {"when": read.when} if read.when else {}
            self.at.notebook.note(read.node, _operation(read), where, details=details)
        elif decorated and (size := self.sized(cls, definition)):
            decorator = next(d for d in definition.decorator_list if "compile" in ast.dump(d))
            self.at.notebook.note(decorator, "compile block", frame, details=details | size)

    def sized(self, cls: ClassInfo, method: FunctionNode) -> dict[str, str]:
        """A tensor or a layer that the method reads, and of which the constructor is told the size; nothing where the
        file makes all objects of the class with one size."""
        init = cls.methods.get("__init__")
        if init is None:
            return {}
        given = {a.arg for a in parameters_in(init.args)[1:]}
        me = own_name(method)
        read = {
            part.attr
            for part in _in_any_case(method)
            if isinstance(part, ast.Attribute) and is_name(part.value, me)
        }
        state = self.at.objects.state(self.at.objects.instance(cls))
        kept = {attribute: value.id for attribute, value in cls.layers() if isinstance(value, ast.Name)}
        for attribute, value in cls.layers():
            held = state.get(attribute)
            layer = isinstance(held, Instance) and held.cls is None and held.external is not None
            if (
                attribute not in read
                or not isinstance(value, ast.Call)
                or not (layer or isinstance(held, Tensor))
            ):
                continue
            for name in _places(value, kept):
                if name not in given or self.made_alike(cls, name):
                    continue
                place = told_place(cls.module.path, value.lineno)
                return {"holds": attribute, "sized by": name, "at": place}
        return {}

    def made_alike(self, cls: ClassInfo, name: str) -> bool:
        """Whether the file makes objects of the class, and all with the same."""
        given: dict[str, ast.expr] = {}
        turning: set[str] = set()
        for part in walk(cls.module.tree):
            if isinstance(part, LOOPS):
                turning |= {n.id for _, to in goes_over(part) for n in walk(to) if isinstance(n, ast.Name)}
            elif isinstance(part, ast.arg):
                turning.add(part.arg)  # whoever calls the function may give it any
            elif isinstance(part, ast.Call) and self.is_of(part.func, cls, cls.module):
                given |= {ast.unparse(v): v for parameter, v in _parameters(cls, part) if parameter == name}
        named = {n.id for value in given.values() for n in walk(value) if isinstance(n, ast.Name)}
        return len(given) == 1 and not named & turning

    def read_of_turn(self, cls: ClassInfo, frame: Frame) -> Reading | None:
        """The number that `forward` reads and that a loop, of the class's file or of this one, gives each block; or a
        parametrized layer that it reads."""
        key = cls, frame.module
        if key not in self._of_turns:
            numbered = {name for module in {cls.module, frame.module} for name in self.numbered(cls, module)}
            self._of_turns[key] = self.reading(cls, numbered, MAX_NESTING)
        return self._of_turns[key]

    def parametrized(self, cls: ClassInfo) -> set[str]:
        """The attributes under which the constructor keeps parametrized layers: it makes them so (`self.layer =
        weight_norm(nn.Linear(n, n))`) or changes them (`weight_norm(self.layer)`)."""
        if cls in self._parametrized:
            return self._parametrized[cls]
        init, found = cls.methods.get("__init__"), set[str]()
        if init is not None and cls.module.says("parametri"):
            frame, me = Frame(cls.module, unit_of(init), f"`{cls.name}.__init__`", cls=cls), own_name(init)
            calls = {call for call in parts(init, ast.Call) if self.parametrizes(call, frame)}
            found |= {name for name, value in cls.layers() if any(part in calls for part in walk(value))}
            for call in calls:
                given = call.args[0] if call.args else None
                if isinstance(given, ast.Attribute) and is_name(given.value, me):
                    found.add(given.attr)
        self._parametrized[cls] = found
        return found

    def parametrizes(self, call: ast.Call, frame: Frame) -> bool:
        func = self.at.names.external_name(self.at.expressions.quietly(call.func, {}, frame))
        return self.at.models.plays(func, "gives a class of its own")

    def is_made_in_turns(self, cls: ClassInfo) -> bool:
        """Whether a loop of its file makes objects of the class."""
        return any(
            isinstance(part, ast.Call) and self.is_of(part.func, cls, cls.module)
            for loop in self.loops(cls.module)
            for part in walk(loop)
        )

    def numbered(self, cls: ClassInfo, module: Module) -> Iterator[str]:
        """The parameters of the constructor that a loop of a file gives the number of its turn."""
        for call, turns in self.calls_in_turns(module):
            if self.is_of(call.func, cls, module):
                yield from _given(cls, call, turns)

    def varied(self, cls: ClassInfo, module: Module) -> Iterator[str]:
        """The parameters of the constructor that a loop of a file gives an item of what it goes over, or of a list by
        the number of its turn: `Block(rates[i])`, `Block(width) for width in widths`."""
        for loop in self.loops(module):
            turns, items = set[str](), set[str]()
            for over, to in goes_over(loop):
                turn = _number_of_turn(over, to)
                turns |= {turn} - {""}
                items |= {n.id for n in walk(to) if isinstance(n, ast.Name) and n.id != turn}
            for call in (part for part in walk(loop) if isinstance(part, ast.Call)):
                if self.is_of(call.func, cls, module):
                    for parameter, value in _parameters(cls, call):
                        index = value.slice if isinstance(value, ast.Subscript) else None
                        by_turn = isinstance(index, ast.Name) and index.id in turns
                        if by_turn or (isinstance(value, ast.Name) and value.id in items):
                            yield parameter

    def loops(self, module: Module) -> list[ast.AST]:
        """The loops of a file, of which each of its classes is asked for."""
        if module not in self._loops:
            self._loops[module] = [part for part in walk(module.tree) if isinstance(part, LOOPS)]
        return self._loops[module]

    def calls_in_turns(self, module: Module) -> list[tuple[ast.Call, set[str]]]:
        """The calls in loops that have a number for each turn, each with the names of these numbers."""
        if module not in self._calls_in_turns:
            found = self._calls_in_turns[module] = []
            for loop in self.loops(module):
                turns = {name for over, to in goes_over(loop) if (name := _number_of_turn(over, to))}
                found += [(part, turns) for part in walk(loop) if isinstance(part, ast.Call)] if turns else []
        return self._calls_in_turns[module]

    def is_of(self, func: ast.expr, cls: ClassInfo, module: Module) -> bool:
        if not isinstance(func, ast.Name):
            return False
        made = self.at.names.global_name(module, func.id)
        return isinstance(made, Class) and made.info is cls

    def reading(
        self, cls: ClassInfo, numbered: set[str], depth: int, method: str = "forward"
    ) -> Reading | None:
        """The first number, of those that the constructor is given under these names, or parametrized layer, which a
        method reads: itself, or in a module that it holds; one that is read in any case before one that is where an
        argument is given."""
        held = dict(cls.layers())
        own = {attribute for attribute, value in held.items() if _is_made_of(value, numbered)}
        parametrized = self.parametrized(cls)
        found = self.at.classes.find_method(cls, method)
        if found is None:
            return None
        me = own_name(found[1])
        unread = _names_of_regions(found[1])
        seldom: Reading | None = None
        for part, when in _in_any_call(found[1]):
            if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name) or part in unread:
                continue
            if part.value.id != me or not isinstance(part.ctx, ast.Load):
                continue
            read = None
            made = held.get(part.attr)
            if part.attr in own or part.attr in parametrized:
                layer = part.attr not in own
                read = Reading(found[0], part.attr, part, found[1], parametrized=layer)
            elif isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and depth:
                inner = self.at.names.global_name(cls.module, made.func.id)
                if isinstance(inner, Class) and self.at.classes.is_module(inner.info):
                    read = self.reading(inner.info, set(_given(inner.info, made, numbered)), depth - 1)
            if read is not None and not (when := read.when or when):
                return read
            if read is not None:
                seldom = seldom or read._replace(when=when)
        return seldom


def _operation(read: Reading) -> str:
    return "compile parametrized block" if read.parametrized else "compile block"


def _told(cls: ClassInfo, read: Reading) -> dict[str, str]:
    details = {
        "class": cls.name,
        "number": f"{read.cls.name}.{read.attribute}",
        "at": told_place(read.cls.module.path, read.node.lineno),
    }
    return details | ({"when": read.when} if read.when else {})


def _number_of_turn(over: ast.expr, target: ast.expr) -> str:
    """`i` of `for i in range(n)` and of `for i, x in enumerate(xs)`, else ""."""
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.func.id not in COUNTS:
        return ""
    if over.func.id == "enumerate":
        target = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
    return target.id if isinstance(target, ast.Name) else ""


def _parameters(cls: ClassInfo, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of the class's constructor, each with what the call gives it."""
    init = cls.methods.get("__init__")
    if init is None:
        return
    parameters = [a.arg for a in placed(init.args)][1:]
    yield from zip(parameters, call.args, strict=False)
    yield from ((k.arg, k.value) for k in call.keywords if k.arg is not None)


def _given(cls: ClassInfo, call: ast.Call, names: set[str]) -> Iterator[str]:
    """The parameters of the class's constructor that the call gives one of these names."""
    for parameter, value in _parameters(cls, call):
        if _is_made_of(value, names):
            yield parameter


def _places(value: ast.expr, kept: Mapping[str, str]) -> Iterator[str]:
    """The names that a call, and calls in it, are given by place, as they are or multiplied: sizes are. Attributes are
    kept under the names of parameters (`self.width = width`)."""
    if isinstance(value, ast.Name):
        yield value.id
    elif isinstance(value, ast.Attribute) and is_name(value.value, "self") and value.attr in kept:
        yield kept[value.attr]
    elif isinstance(value, (ast.Call, ast.BinOp)):
        for part in value.args if isinstance(value, ast.Call) else (value.left, value.right):
            yield from _places(part, kept)


def _is_made_of(value: ast.expr, names: set[str]) -> bool:
    """One of the names, or such a number with another one added, or a text that it is put into."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        return _is_made_of(value.left, names) or _is_made_of(value.right, names)
    if isinstance(value, ast.JoinedStr):
        return any(isinstance(v, ast.FormattedValue) and _is_made_of(v.value, names) for v in value.values)
    if isinstance(value, ast.Call) and is_name(value.func, "str"):
        return any(_is_made_of(argument, names) for argument in value.args)
    return isinstance(value, ast.Name) and value.id in names


def _picking(part: ast.AST) -> Iterator[ast.expr]:
    """What a text is made of, or an item picked by: `f"block {self.index}"`, `self.kinds[self.index]`."""
    if isinstance(part, ast.FormattedValue):
        yield part.value
    elif isinstance(part, ast.Subscript):
        yield from part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]


def _names_of_regions(function: FunctionNode) -> set[ast.expr]:
    """What names a region of a profile, which is not traced: `with record_function(self.name):`"""
    return {
        argument
        for part in parts(function, ast.With)
        for item in part.items
        if isinstance(item.context_expr, ast.Call)
        for argument in item.context_expr.args
    }


def _first(node: ast.Attribute) -> str:
    """`block` of `block.attention.index`"""
    while isinstance(node.value, ast.Attribute):
        node = node.value
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _asked_for(part: ast.AST) -> str:
    """The attribute that is read: `attention.index`, `getattr(attention, "index", -1)`."""
    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
        return part.attr
    if isinstance(part, ast.Call) and is_name(part.func, "getattr"):
        name = part.args[1] if len(part.args) > 1 else None
        return str(name.value) if isinstance(name, ast.Constant) else ""
    return ""


def _in_any_case(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function that are not under a condition, nor in a function within it."""
    return (node for node, when in _in_any_call(function) if not when)


def _in_any_call(function: FunctionNode) -> Iterator[tuple[ast.AST, str]]:
    """The nodes of a function, without functions in it, that are not under a condition, and those for which an argument
    has to be given: each with that condition, `cache is not None`."""
    optional = {parameter.arg for parameter in parameters_in(function.args)}
    nodes: list[tuple[ast.AST, str]] = [(node, "") for node in reversed(function.body)]
    while nodes:
        node, when = nodes.pop()
        yield node, when
        if isinstance(node, (ast.If, ast.IfExp)):
            name, there = _asked_to_be_there(node.test)
            if name in optional:
                given: Any = node.body if there else node.orelse
                both = " and ".join([*filter(None, [when]), f"{name} is not None"])
                nodes += [(one, both) for one in (reversed(given) if isinstance(given, list) else [given])]
            nodes.append((node.test, when))
        elif not isinstance(node, (FunctionNode, ast.Lambda, ast.ClassDef, ast.Raise)):
            nodes += [(one, when) for one in reversed(below(node))]


def _asked_to_be_there(test: ast.expr) -> tuple[str, bool]:
    """The name that a test asks whether it is None, and whether the test holds where it is not."""
    match test:
        case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as asked], [ast.Constant(None)]):
            return name, isinstance(asked, ast.IsNot)
    return "", False
