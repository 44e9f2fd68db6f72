"""What is done with objects of the code's own that Dynamo does not trace: what their class takes over from a builtin
type, how they are ordered, decorated methods of those that compiled code makes, hooks of the backward pass, what
functions with a backward of their own say of themselves, and members of enumerations."""

from __future__ import annotations

import ast
from itertools import chain
from typing import TYPE_CHECKING

from pt2lint.libraries.call import Call
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.special import OPERATORS
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import FunctionNode, is_name, is_own, own_name, parts, unit_of, walk
from pt2lint.static.values import Class, Ext, Instance, Seq, Tensor, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

OPERATION = "untraced object"
EQUATED = "equate member"
TEXT_METHODS = frozenset(name for name in dir(str) if not name.startswith("_"))
LOOKED_UP = "__getattribute__"
MAKERS = ("__init__", "__post_init__", "__new__")
LISTS = frozenset(("list", "tuple", "ModuleList", "Sequential", "ParameterList"))
ORDER = ("builtins.sorted", "builtins.min", "builtins.max", "builtins.list.sort")


class UntracedObjects:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._taken: dict[ClassInfo, str] = {}
        self._asking: dict[ClassInfo, bool] = {}
        self._hooked: dict[ClassInfo, set[str]] = {}
        self._kept: dict[FunctionNode, bool] = {}

    def looked_for(self, owner: Instance, name: str, node: ast.expr, frame: Frame) -> None:
        """`config.rate`, of a class with `__getattr__ = dict.get`; `self.mask`, a `cached_property`."""
        cls = owner.cls
        assert cls is not None
        method = self.at.classes.find_method(cls, name)
        if method is not None and self._is_kept(*method):
            if not self._is_read_before(cls, name, method[0].module, frame):
                self._note(node, frame, "kept", name)
            return
        if self._looks_up(cls):
            self._note(node, frame, "looked up")
            return
        taken = self._taken.get(cls)
        if taken is None:
            value = self.at.classes.class_attribute(cls, "__getattr__")
            known = isinstance(value, Ext) and value.name.startswith("builtins.dict.")
            taken = self._taken[cls] = value.name.removeprefix("builtins.") if known else ""  # type: ignore[attr-defined]
        if not taken or hasattr(dict, name):
            return
        if not any(
            name in c.methods or name in c.attributes or c.assigned(name)
            for c in self.at.classes.bases(cls)[0]
        ):
            self._note(node, frame, "attribute", taken)

    def _is_kept(self, owner: ClassInfo, method: FunctionNode) -> bool:
        """Whether it is a `cached_property`."""
        known = self._kept.get(method)
        if known is None:
            home = Frame(owner.module, unit_of(method), "")
            given = [self.at.expressions.quietly(d, owner.env or {}, home) for d in method.decorator_list]
            known = self._kept[method] = any(
                isinstance(one, Ext) and self.at.models.plays(one.name, "property kept") for one in given
            )
        return known

    def _is_read_before(self, cls: ClassInfo, name: str, home: Module, frame: Frame) -> bool:
        """Whether the object may have the value by then, as an attribute like others: it is set, or read as objects are
        made, at the top of a file or in a function; or this is what another one computes, once."""
        running = self.at.functions.running()
        if running is None or any(each.assigned(name) for each in self.at.classes.bases(cls)[0]):
            return True
        if frame.cls is not None and self._is_kept(frame.cls, running):
            return True
        own = set(walk(running))
        files = {home: home.tree.body, frame.module: frame.module.tree.body}
        for statement in chain.from_iterable(files.values()):
            made = [statement]
            if isinstance(statement, ast.ClassDef):
                made = [part for part in statement.body if getattr(part, "name", "") in MAKERS]
            for part in chain.from_iterable(map(walk, made)):
                if isinstance(part, ast.Attribute) and part.attr == name and part not in own:
                    return True
        return False

    def deleted(self, target: ast.Attribute, owner: Value, frame: Frame) -> None:
        """`del ctx.kept`, in the `backward` of a function with a gradient of its own."""
        if isinstance(owner, Instance) and self.at.models.plays(owner.external, "context of a function"):
            self._note(target, frame, "deleted")

    def _looks_up(self, cls: ClassInfo) -> bool:
        """Whether its `__getattribute__` asks another class's, and not `super()`, which is traced."""
        known = self._asking.get(cls)
        if known is None:
            own = cls.methods.get("__getattribute__")
            asked = walk(own) if own is not None else ()
            known = self._asking[cls] = any(
                isinstance(part, ast.Attribute)
                and part.attr == LOOKED_UP
                and not isinstance(part.value, ast.Call)
                for part in asked
            )
        return known

    def external(self, call: Call, result: Value) -> None:
        """`sorted(entries)`, of objects that have `__lt__`; with a key it is that which is compared. `len(table)`, and
        `np.array(image)`, of an object of a library that Dynamo does not trace: of a call, that call is told."""
        asks = call.name == "builtins.len" or self.at.models.plays(call.name, "makes an array")
        if asks and isinstance(call.node, ast.Call) and call.args and call.node.args:
            if not isinstance(call.node.args[0], ast.Call):
                self.at.calls.asked_of_untraced(call.node, call.args[0], call.frame)
            return
        if call.name not in ORDER or not call.frame.region or "key" in call.kwargs:
            return
        things = [call.receiver] if call.receiver is not None else call.args
        single = call.name != ORDER[0] and len(things) > 1  # `min(a, b)`
        for thing in things[: None if single else 1]:
            if thing is not None and any(
                map(self._is_ordered, options(thing if single else call.element(thing)))
            ):
                self._note(call.node, call.frame, "order")
                return

    def _is_ordered(self, value: Value) -> bool:
        if not isinstance(value, Instance) or value.cls is None:
            return False
        if any(self.at.models.plays(base, "enumeration") for base in self.at.classes.bases(value.cls)[1]):
            return False
        return self.at.classes.find_method(value.cls, "__lt__") is not None

    def _of_member(self, node: ast.expr, env: Env, frame: Frame) -> ClassInfo | None:
        """The class of which `Kind.IMAGE` is an attribute."""
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.at.expressions.again(node.value, env, frame)
        if not isinstance(owner, Class):
            return None
        among = self.at.classes.bases(owner.info)[0]
        return owner.info if any(node.attr in each.attributes for each in among) else None

    def _is_enumeration_of(self, cls: ClassInfo, what: str) -> bool:
        """Whether the members of a class are "texts", or "numbers"."""
        bases, models = self.at.classes.bases(cls)[1], self.at.models
        return any(models.plays(base, "enumeration") for base in bases) and any(
            models.plays(base, f"base of {what}") for base in bases
        )

    def equated(self, node: ast.Compare, place: ast.expr, value: Value, env: Env, frame: Frame) -> None:
        """`ids == Kind.IMAGE`, of an enumeration of numbers."""
        if not self.at.notebook.listens(EQUATED, frame):
            return
        named = self._of_member(place, env, frame)
        cls = value.cls if isinstance(value, Instance) else named
        if cls is not None and self._is_enumeration_of(cls, "numbers"):
            details = {"named": "yes"} if named is not None else {}
            self.at.notebook.note(place, EQUATED, frame, details=details)

    def indexed(self, node: ast.Subscript, owner: Seq, index: Value, env: Env, frame: Frame) -> None:
        """`self.layers[Kind.IMAGE]`, of an enumeration of numbers."""
        if owner.type not in LISTS or not self.at.notebook.listens(OPERATION, frame):
            return
        cls = index.cls if isinstance(index, Instance) else self._of_member(node.slice, env, frame)
        if cls is not None and self._is_enumeration_of(cls, "numbers"):
            self._note(node, frame, "index", owner.type)

    def operated(self, node: ast.expr, left: Value, right: Value, op: ast.operator, frame: Frame) -> None:
        """`self.matrix @ x`, of an object whose class says what that is, and a tensor."""
        name = OPERATORS[op.__class__]
        for owner, method, other in ((left, f"__{name}__", right), (right, f"__r{name}__", left)):
            if not isinstance(owner, Instance) or owner.cls is None or not isinstance(other, Tensor):
                continue
            if self.at.classes.find_method(owner.cls, method) is None or not other.sure or other.array:
                continue
            # What is derived from torch's tensors, or from Python's tuples and numbers, is traced in other ways.
            wraps = self.at.classes.find_method(owner.cls, "__torch_function__") is not None
            if not wraps and not self.at.classes.bases(owner.cls)[1]:
                self._note(node, frame, "operator", owner.cls.name)
                return

    def compared(self, node: ast.Compare, left: Value, right: Value, frame: Frame) -> None:
        """`"a" in self.mode`, of a member of an enumeration of texts; `"rate" in table.columns`."""
        of_library = right.receiver if isinstance(right, Ext) else right
        if of_library is not None:
            self.at.calls.asked_of_untraced(node, of_library, frame)
        if isinstance(right, Instance) and right.cls is not None and frame.region:
            if self._is_enumeration_of(right.cls, "texts"):
                if self.at.classes.find_method(right.cls, "__contains__") is None:
                    self._note(node, frame, "text in")

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        if not isinstance(node.func, ast.Attribute) or not frame.module.linted:
            return
        if not self.at.notebook.listens(OPERATION, frame):
            return
        owner, name = node.func.value, node.func.attr
        if name in TEXT_METHODS:
            self._text_asked(node, owner, name, env, frame)
        elif name == LOOKED_UP and not isinstance(owner, ast.Call):  # `super().__getattribute__` is traced
            self._note(node, frame, "looked up")
        if name == "apply" and isinstance(owner, (ast.Name, ast.Attribute)):
            self._applied(node, env, frame)
        elif node.func.attr == "mark_dirty" and isinstance(owner, ast.Name):
            self._marked(node, owner.id, frame)
        elif node.func.attr == "mark_non_differentiable" and isinstance(owner, ast.Name):
            self._without_gradient(node, frame)
        elif is_name(owner, "self"):
            self._part_called(node, func, frame)
        elif isinstance(owner, (ast.Call, ast.Name)):
            self._method_of_made(node, env, frame)

    def _text_asked(self, node: ast.Call, owner: ast.expr, name: str, env: Env, frame: Frame) -> None:
        """`self.mode.startswith("a")`, of a member of an enumeration of texts."""
        if isinstance(owner, ast.Constant):
            return
        value = self.at.expressions.again(owner, env, frame)
        cls = value.cls if isinstance(value, Instance) else self._of_member(owner, env, frame)
        if cls is None or self.at.classes.find_method(cls, name) is not None:
            return
        if self._is_enumeration_of(cls, "texts"):
            self._note(node, frame, "text")

    def _applied(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`Scaled.apply(x)`, of a class with a `jvp` of its own."""
        assert isinstance(node.func, ast.Attribute)
        value = self.at.expressions.again(node.func.value, env, frame)
        cls = getattr(value, "info", None)
        if isinstance(cls, ClassInfo) and self.at.classes.is_function(cls):
            if self.at.classes.find_method(cls, "jvp") is not None:
                self._note(node, frame, "jvp", cls.name)

    def _marked(self, node: ast.Call, context: str, frame: Frame) -> None:
        """`ctx.mark_dirty(x)` in a `forward(ctx, x)`, or in a function that this gives the context to; `setup_context`
        runs only where a gradient is wanted."""
        running = self.at.functions.running()
        helper = (
            running.name if frame.cls is None and running is not None and frame.parent is not None else ""
        )
        cls = frame.parent.cls if helper and frame.parent is not None else frame.cls
        if cls is None or not self.at.classes.is_function(cls):
            return
        forward = self.at.classes.find_method(cls, "forward")
        if forward is None:
            return
        first = own_name(forward[1])
        if not helper:
            marks = context == first and node in walk(forward[1])
        else:
            marks = context in frame.parameters and any(
                (dotted(call.func) or "").rpartition(".")[2] == helper
                and any(is_name(one, first) for one in call.args)
                for call in parts(forward[1], ast.Call)
            )
        if marks:
            self._note(node, frame, "dirty")

    def _without_gradient(self, node: ast.Call, frame: Frame) -> None:
        """`ctx.mark_non_differentiable(y)` of all that a `forward` returns, where that is one tensor."""
        cls = frame.cls
        if cls is None or not self.at.classes.is_function(cls) or len(node.args) != 1:
            return
        forward, marked = cls.methods.get("forward"), node.args[0]
        if forward is None or node not in walk(forward) or not isinstance(marked, ast.Name):
            return
        returned = [part.value for part in walk(forward) if isinstance(part, ast.Return)]
        if returned and all(is_name(one, marked.id) for one in returned):
            self._note(node, frame, "without gradient")

    def _part_called(self, node: ast.Call, func: Value, frame: Frame) -> None:
        """`self.layer(x)`, where a backward hook was added to the layer as the object was made."""
        if not isinstance(func, Instance):
            return
        cls, part = frame.cls, node.func
        assert isinstance(part, ast.Attribute)
        own = func.cls is not None and "" in self._with_hooks(func.cls)
        if own or (cls is not None and part.attr in self._with_hooks(cls)):
            self._note(node, frame, "hook")

    def _with_hooks(self, cls: ClassInfo) -> set[str]:
        """The parts to which `__init__` adds a hook of the backward pass; "" for the object itself."""
        known = self._hooked.get(cls)
        if known is None:
            known = self._hooked[cls] = set()
            init = cls.methods.get("__init__")
            adders = self.at.models.last_words("backward hook")
            for call in walk(init) if init is not None else ():
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr in adders
                ):
                    to = call.func.value
                    if is_name(to, "self"):
                        known.add("")
                    elif is_own(to):
                        known.add(to.attr)
        return known

    def _method_of_made(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`Sampler().step(x)`, of a method under `@torch.no_grad()` and an object that this function makes."""
        part, made = node.func, self.at.objects.making(node)
        if not isinstance(part, ast.Attribute) or made is None or self.at.objects.is_parted(made, frame):
            return
        value = self.at.expressions.again(part.value, env, frame)
        if not isinstance(value, Instance) or value.cls is None or self.at.classes.is_module(value.cls):
            return
        found = self.at.classes.find_method(value.cls, part.attr)
        if found is None or not found[1].decorator_list or not self._made_of(made, value, env, frame):
            return
        home = Frame(found[0].module, (1, 1), "")
        for decorator in found[1].decorator_list:
            one = decorator.func if isinstance(decorator, ast.Call) else decorator
            given = self.at.expressions.quietly(one, found[0].env or {}, home)
            if isinstance(given, Ext) and self.at.models.plays(given.name, "decorates methods"):
                self._note(node, frame, "decorated", given.name)
                return

    def _made_of(self, made: ast.Call, value: Instance, env: Env, frame: Frame) -> bool:
        """Whether the call constructs the object, and does not look it up."""
        cls = self.at.expressions.again(made.func, env, frame)
        return getattr(cls, "info", None) is value.cls

    def _note(self, node: ast.expr, frame: Frame, how: str, what: str = "") -> None:
        if frame.region and self.at.notebook.listens(OPERATION, frame):
            self.at.notebook.note(node, OPERATION, frame, details={"how": how, "what": what})
