"""What a function is there for beside the model: NumPy's arrays, other threads, other processes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import always
from pt2lint.static.interpreter.guards import (
    DRAWS,
    FOR_ARRAYS,
    RECORDS,
    SHOWS,
    SPREAD,
    TEXTS,
    THREADED,
    TREE,
    WRITES,
    Guard,
    Path,
)
from pt2lint.static.source.nodes import (
    SIMPLE,
    FunctionNode,
    called,
    is_name,
    is_own,
    last_word,
    parameters_in,
    parts,
    placed,
    unit_of,
    walk,
    with_defaults,
)
from pt2lint.static.values import UNKNOWN, Dict, Func, Instance, Py, Seq, Tensor, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo, Module

MARKING = "marks sizes before"  # a role
# What a function is there for that calls what plays the role.
BY_ROLE = {"writes files": WRITES, "shows progress": SHOWS, "draws figures": DRAWS}


class Duties:
    """Asks each class once."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._classes: dict[ClassInfo, Path] = {}
        self._does: dict[tuple[FunctionNode, str], bool] = {}
        self._said: dict[tuple[Module, str], bool] = {}

    def of(self, func: Func, definition: FunctionNode, env: Env, frame: Frame) -> Path:
        """What is said of what the function does, called in compiled code."""
        found: Path = ()
        me = func.bound
        if isinstance(me, Instance) and me.cls is not None and not self.at.classes.is_module(me.cls):
            found = self._known(me.cls)
        if self._says("array type", frame) and self._takes_arrays(definition, env, frame):
            found += (Guard("", FOR_ARRAYS),)
        if (
            self._needs_processes(definition, frame)
            or self._meets_processes(definition, func.env or {}, frame)
            or self._gathers(func, definition, frame)
        ):
            found += (Guard("", SPREAD),)
        if self._gives_records(definition, frame):
            found += (Guard("", RECORDS),)
        if self._walks_tree(definition):
            found += (Guard("", TREE),)
        for role, sort in BY_ROLE.items():
            if self.calls(definition, role, func.env or {}, frame):
                found += (Guard("", sort),)
        return found

    def marks(self, definition: FunctionNode, env: Env, frame: Frame) -> bool:
        """Whether a `forward` marks sizes as dynamic, itself or by a function of the project: where Dynamo traces that,
        it raises."""
        if definition.name != "forward" or not frame.module.says("mark_dynamic"):
            return False
        known = self._does.get((definition, "marks"))
        if known is None:
            known = self.calls(definition, MARKING, env, frame) or any(
                self._passes(MARKING, part.func, frame, env)
                for part in parts(definition, ast.Call)
                if isinstance(part.func, ast.Name)
            )
            self._does[definition, "marks"] = known
        return known

    def _passes(self, role: str, called: ast.expr, frame: Frame, env: Env) -> bool:
        """Whether it is a function of the project that calls what plays the role."""
        value = self.at.expressions.quietly(called, env, frame)
        if not isinstance(value, Func) or not isinstance(value.node, FunctionNode):
            return False
        return self.calls(value.node, role, value.env or {}, Frame(value.module, unit_of(value.node), ""))

    def calls(self, definition: FunctionNode, role: str, env: Env, frame: Frame) -> bool:
        """Whether it calls what plays the role, wherever that stands in it."""
        known = self._does.get((definition, role))  # the same in every run of the function
        if known is None:
            named = not self.at.models.last_words(role).isdisjoint(called(definition))
            known = named and self.are_calls(parts(definition, ast.Call), role, env, frame)
            self._does[definition, role] = known
        return known

    def are_calls(self, nodes: Iterable[ast.AST], role: str, env: Env, frame: Frame) -> bool:
        """Whether one of them is a call of what plays the role."""
        words = self.at.models.last_words(role)
        return any(
            isinstance(part, ast.Call)
            and last_word(part.func) in words
            and self._plays(role, part.func, frame, env)
            for part in nodes
        )

    def of_module(self, cls: ClassInfo) -> Path:
        """What is said of a module by what it is given: by `__init__` an object that works with other threads or
        processes, and so hands on what it is given to others; by each call a list of texts, which nothing compiles."""
        found = self.at.classes.find_method(cls, "forward")
        if found is not None:
            home = Frame(found[0].module, (1, 1), "", cls=found[0])
            given = placed(found[1].args)
            last = len(given) - len(found[1].args.defaults)
            kinds = (self.at.types.annotation(each.annotation, home, 0, "") for each in given[1:last])
            if any(_are_texts(kind) or _may_be_texts(kind) for kind in kinds):
                return (Guard("", TEXTS),)
        for own in self.at.classes.bases(cls)[0]:
            init = own.methods.get("__init__")
            home = Frame(own.module, (1, 1), "", cls=own)
            for parameter in parameters_in(init.args)[1:] if init is not None else ():
                value = self.at.types.annotation(parameter.annotation, home, 0, "")
                if any(self._is_threaded(one) for one in options(value)):
                    return (Guard("", THREADED),)
        return ()

    def reads_module(self, method: FunctionNode, module: Module) -> bool:
        """Whether a method asks one of its arguments for what only modules have: `model.named_parameters()`."""
        words = self.at.models.last_words("bare only of modules")
        given = {p.arg for p in parameters_in(method.args)} - {p.arg for p in placed(method.args)[:1]}
        return any(map(module.says, words)) and any(
            isinstance(part.func, ast.Attribute)
            and part.func.attr in words
            and isinstance(part.func.value, ast.Name)
            and part.func.value.id in given
            and not part.args
            for part in parts(method, ast.Call)
        )

    def _is_threaded(self, value: Value) -> bool:
        cls = value.cls if isinstance(value, Instance) else None
        return (
            cls is not None
            and not self.at.classes.is_module(cls)
            and any(guard.sort == THREADED for guard in self._known(cls))
        )

    def _known(self, cls: ClassInfo) -> Path:
        if cls not in self._classes:
            self._classes[cls] = ()  # while it is asked
            self._classes[cls] = self._of_class(cls)
        return self._classes[cls]

    def _of_class(self, cls: ClassInfo) -> Path:
        """What `__init__` says of its objects: it makes a lock, a thread or a queue, or is given processes; or they
        are threads themselves."""
        found: Path = ()
        own, foreign, _ = self.at.classes.bases(cls)
        if any(self.at.models.plays(base, "threads") for base in foreign):
            found += (Guard("", THREADED),)
        for one in own:
            home = Frame(one.module, (1, 1), "", cls=one)
            made = (value.func for _, value in one.layers() if isinstance(value, ast.Call))
            if any(self._plays("threads", callee, home) for callee in made):
                found += (Guard("", THREADED),)
            init = one.methods.get("__init__")
            if init is not None and self._needs_processes(init, home):
                found += (Guard("", SPREAD),)
        return found

    def _takes_arrays(self, definition: FunctionNode, env: Env, frame: Frame) -> bool:
        """Whether what it returns is annotated as a NumPy array, or parameters are, none as a tensor, and nothing else
        is known of them."""
        if definition.returns is not None:
            returned = self.at.types.annotation(definition.returns, frame, 0, "")
            if isinstance(returned, Tensor) and returned.array:
                return True
        arrays = False
        for parameter in parameters_in(definition.args):
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

    def _gives_records(self, definition: FunctionNode, frame: Frame) -> bool:
        """Whether it is annotated to return texts, or a list of texts or of objects that are no modules: what a model
        found, in Python's own words. What follows computes no more."""
        if definition.returns is None:
            return False
        key = (definition, "records")
        if key not in self._does:
            promised = options(self.at.types.annotation(definition.returns, frame, 0, ""))
            if len(promised) == 1 and isinstance(both := promised[0], Seq) and both.type == "tuple":
                promised = tuple(both.elts or promised)  # `tuple[list[Record], list[Record]]`
            self._does[key] = all(
                self._is_record(o, True)
                if isinstance(o, Seq) and o.type == "list"
                else self._is_record(o, False)
                for o in promised
            )
        return self._does[key]

    def _walks_tree(self, definition: FunctionNode) -> bool:
        """Whether it calls itself in a loop, and nothing that it is given: `for each in node.children: walk(each)`."""
        key = (definition, "tree")
        if key not in self._does:
            given = {each.arg for each in parameters_in(definition.args)} - {"self", "cls"}
            calls = parts(definition, ast.Call)
            own = [call for call in calls if _is_own_name(call.func, definition.name)]
            loops = parts(definition, ast.For) if own else []
            self._does[key] = any(part in own for loop in loops for part in walk(loop)) and not any(
                isinstance(call.func, ast.Name) and call.func.id in given for call in calls
            )
        return self._does[key]

    def _is_record(self, value: Value, listed: bool) -> bool:
        for o in options(value.elem) if listed and isinstance(value, Seq) else (value,):
            if isinstance(o, Py) and o.type == "str":
                continue
            if listed and isinstance(o, Dict) and o.elem is UNKNOWN and not o.items:
                continue  # `list[dict[str, Any]]`
            if not listed or not isinstance(o, Instance) or (o.external or "").startswith("torch."):
                return False
            if o.cls is not None and self.at.classes.is_module(o.cls):
                return False
        return True

    def _needs_processes(self, definition: FunctionNode, frame: Frame) -> bool:
        """Whether it has to be given a group of processes: `def __init__(self, pg: dist.ProcessGroup)`."""
        if not self._says("group of processes", frame):
            return False
        needed = [p for p, default in with_defaults(definition.args) if default is None]
        return any(
            isinstance(p.annotation, (ast.Name, ast.Attribute))
            and self._plays("group of processes", p.annotation, frame)
            for p in needed
        )

    def _meets_processes(self, definition: FunctionNode, env: Env, frame: Frame) -> bool:
        """Whether it works together with other processes whenever it is called: `rank = dist.get_rank()`."""
        if not frame.module.says("distributed"):
            return False
        key = (definition, "meets processes")
        if key not in self._does:
            words = self.at.models.last_words("works with processes")
            named = any(last_word(call.func) in words for call in parts(definition, ast.Call))
            simple = (one for one in always(definition.body) if one.__class__ in SIMPLE)
            inside = (part for one in simple for part in walk(one))
            self._does[key] = named and self.are_calls(inside, "works with processes", env, frame)
        return self._does[key]

    def _gathers(self, func: Func, definition: FunctionNode, frame: Frame) -> bool:
        """Whether it is of a function with a gradient of its own, and always calls one that works with processes."""
        if func.defined_in is None or not self.at.classes.is_function(func.defined_in):
            return False
        key = (definition, "gathers")
        if key not in self._does:
            simple = (one for one in always(definition.body) if one.__class__ in SIMPLE)
            calls = (part for one in simple for part in walk(one) if isinstance(part, ast.Call))
            called = (
                self.at.expressions.quietly(call.func, {}, frame)
                for call in calls
                if isinstance(call.func, ast.Name)
            )
            self._does[key] = any(
                isinstance(one, Func)
                and not isinstance(one.node, ast.Lambda)
                and self._meets_processes(one.node, one.env or {}, Frame(one.module, unit_of(one.node), ""))
                for one in called
            )
        return self._does[key]

    def _says(self, role: str, frame: Frame) -> bool:
        key = (frame.module, role)
        if key not in self._said:
            self._said[key] = any(frame.module.says(word) for word in self.at.models.last_words(role))
        return self._said[key]

    def _plays(self, role: str, named: ast.expr, frame: Frame, env: Env | None = None) -> bool:
        value = self.at.expressions.quietly(named, env or {}, frame)
        return self.at.models.plays(self.at.names.external_name(value), role)


def _is_own_name(callee: ast.expr, name: str) -> bool:
    """`walk(...)` or `self.walk(...)` in `walk`"""
    if is_own(callee):
        return callee.attr == name
    return is_name(callee, name)


def _may_be_texts(value: Value) -> bool:
    """Whether it is a text, or some of them: `str | list[str]`."""
    given = [*options(value)]
    one = [each for each in given if isinstance(each, Py) and each.type == "str"]
    return 0 < len(one) < len(given) and all(each in one or _are_texts(each) for each in given)


def _are_texts(value: Value) -> bool:
    """Whether it holds texts and nothing else: `list[str]`, `tuple[list[str], list[list[str]]]`."""
    inside = (value.elts or [value.elem]) if isinstance(value, Seq) else []
    return bool(inside) and all(
        (isinstance(o, Py) and o.type == "str") or _are_texts(o) for each in inside for o in options(each)
    )
