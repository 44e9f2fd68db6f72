"""A call of something outside the project, as library files see it: what was given, and what they may ask and do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.op import ARRAY
from pt2lint.static.values import Class, Ext, Instance, Seq, Tensor, Value, Wrapped, element, options

if TYPE_CHECKING:
    from pt2lint.libraries.model import Models
    from pt2lint.static.interpreter.frame import Frame


MAX_PARTS = 4  # modules in modules


def start_of(node: ast.expr | None) -> str:
    """What the text begins with that an expression is, as far as an f-string tells: "output_" of `f"output_{name}"`."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


class Call:
    """`args` and `kwargs` are values ("**" holds what unpacked keywords may be), `receiver` the object of a method.

    `node` is the syntax of the call, `frame` where it stands. `at` is the interpreter.
    """

    __slots__ = ("args", "at", "frame", "kwargs", "name", "node", "receiver")

    def __init__(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        receiver: Value | None,
        at: Any,
    ) -> None:
        self.name, self.args, self.kwargs, self.node, self.frame = name, args, kwargs, node, frame
        self.receiver, self.at = receiver, at

    @property
    def models(self) -> Models:
        models: Models = self.at.models
        return models

    def origin(self, phrase: str = "") -> tuple[str, int, str]:
        """Where a tensor that the call returns comes from, in a reader's words."""
        if not phrase:
            name = self.name
            made = ARRAY if name.startswith("numpy.") else "a tensor"
            phrase = f"`{name.removeprefix(self.models.of(name).library.short)}` returns {made}"
        return (self.frame.module.path, getattr(self.node, "lineno", 0), phrase)

    @property
    def without_gradients(self) -> bool:
        """Whether no gradients are wanted where it stands: under `torch.no_grad()`, or in what an autograd.Function
        runs."""
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.gradless or (frame.cls is not None and self.at.classes.is_function(frame.cls)):
                return True
            frame = frame.parent
        return False

    # Operations

    def note(
        self,
        operation: str,
        about: Tensor | None = None,
        args: dict[int | str, str] | None = None,
        details: dict[str, str] | None = None,
    ) -> None:
        """Write an operation down at the call, if a rule listens to it."""
        if self.at.notebook.listens(operation, self.frame):
            self.at.notebook.note(self.node, operation, self.frame, about=about, args=args, details=details)

    def draws(self, iterator: Value) -> None:
        """Write down that the call runs a part of a generator, if that was made outside of compiled code."""
        self.at.calls.goes_over(self.node, iterator, self.frame)

    def listens(self, operation: str) -> bool:
        answer: bool = self.at.notebook.listens(operation, self.frame)
        return answer

    def sorts(self) -> dict[int | str, str]:
        """What the arguments are, in the words of Op.args."""
        words: dict[int | str, str] = self.at.types.sorts(self.args, self.kwargs)
        return words

    # Values

    def apply(self, function: Value, args: list[Value]) -> Value:
        """What a call of one of the arguments returns."""
        value: Value = self.at.calls.apply(function, args, {}, self.node, self.frame)
        return value

    def trace(self, function: Value, args: list[Value]) -> Value:
        """The same, where Dynamo traces that argument as a graph of its own."""
        # `grad(f)(x)` by the name of `grad`, without what is said of the function that it made.
        before, self.frame.hands_to = self.frame.hands_to, self.name.partition(" ")[0]
        try:
            return self.apply(function, args)
        finally:
            self.frame.hands_to = before

    def element(self, value: Value) -> Value:
        """What iterating over the value gives."""
        return element(value)

    def attribute(self, owner: Value, name: str, node: Any = None) -> Value:
        found: Value = self.at.expressions.attribute_of(owner, name, node or self.node, self.frame)
        return found

    def named(self, node: Any) -> str:
        """The name of what the expression names outside the project, "" for anything else."""
        return named(self.at.types.named(node, self.frame))

    def is_instance(self, value: Value, names: tuple[str, ...]) -> bool | None:
        """isinstance(value, any of the named types), where it can be told."""
        answer: bool | None = self.at.types.is_instance(value, names)
        return answer

    def is_module_class(self, kind: Class) -> bool:
        """Whether a class of the project is one of modules."""
        return self.at.classes.is_module(kind.info)

    def metaclass_has(self, kind: Class, method: str) -> bool:
        """Whether the class, or one that it is derived from, has a metaclass of the project that defines the method."""
        return bool(self.at.classes.find_in_metaclass(kind.info, method))

    def is_of(self, owner: Instance, kind: Class) -> bool:
        """Whether an object of a class of the project is one of that other class of it."""
        return kind.info in self.at.classes.bases(owner.cls)[0]

    def says(self, word: str) -> bool:
        """Whether the text of the file holds it."""
        return self.frame.module.says(word)

    def methods_of(self, owner: Instance) -> set[str]:
        """The names of the methods of an object of a class of the project."""
        return {m for c in self.at.classes.bases(owner.cls)[0] for m in c.methods}

    def names_of(self, owner: Instance) -> set[str]:
        """The names of what an object of a class of the project holds."""
        return {*self.at.objects.state(owner)}

    def is_gone_over(self) -> bool:
        """Whether a loop or comprehension of the function goes over what it gives: `for n, x in enumerate(f())`."""
        answer: bool = self.at.functions.goes_over(self.node)
        return answer

    def is_parameter(self, position: int, keyword: str) -> bool:
        """Whether the argument is written as the name of a parameter of the function that calls."""
        named = [k.value for k in getattr(self.node, "keywords", ()) if k.arg == keyword]
        given = [*named, *getattr(self.node, "args", ())[position : position + 1]]
        return any(isinstance(value, ast.Name) and value.id in self.frame.parameters for value in given)

    def holds(self, owner: Instance, types: tuple[str, ...], depth: int = 0) -> bool:
        """Whether an object is of one of the external types, or a module that holds one, at any depth."""
        if owner.cls is None:
            return owner.external in types
        return depth < MAX_PARTS and any(self.holds(part, types, depth + 1) for part in self.parts(owner))

    def fields(self, owner: Instance) -> dict[str, Value]:
        """What an object of a class of the project holds, by the names that the class annotates."""
        names = (name for cls in self.at.classes.bases(owner.cls)[0] for name in cls.annotations)
        return {name: self.attribute(owner, name) for name in names}

    def attributes(self, owner: Instance) -> list[Value]:
        """What the attributes of an object of a class of the project are."""
        return list(self.at.objects.state(owner).values())

    def parts(self, owner: Instance) -> list[Instance]:
        """The objects that an object of a class of the project holds, and those in its lists."""
        return [
            part
            for value in self.attributes(owner)
            for held in options(value)
            for part in ((held.elts or [held.elem]) if isinstance(held, Seq) else [held])
            if isinstance(part, Instance)
        ]

    # What the call does

    def store(self, owner: Instance, name: str, value: Value) -> None:
        """Set an attribute of an object of a class of the project."""
        self.at.objects.store(owner, name, value, self.frame)

    def compile(self, target: Value) -> Value:
        """The target is a compile root; what torch.compile returns for it."""
        wrapped = Wrapped("compiled", target)
        self.at.calls.roots.compiled(target, self.node, self.frame, self.kwargs)
        self.at.calls.roots.compiled_as(wrapped, self.kwargs)
        return wrapped

    def held(self, compiled: Wrapped, within: str) -> Wrapped:
        """What was compiled, held by another module under the name `within`."""
        held = Wrapped(compiled.how, compiled.inner, within)
        self.at.calls.roots.same_settings(compiled, held)
        return held

    def compile_in_place(self, target: Instance) -> None:
        self.at.calls.roots.compiled_in_place(target, self.kwargs, self.node, self.frame)

    def followed(self) -> Instance:
        """The object that this place in the code makes, one for all calls: its later life is followed."""
        made: Instance = self.at.objects.followed(self.name, self.node, self.frame)
        return made

    def drawn(self) -> list[tuple[str, str, int]]:
        """What drew random numbers so far, and in which line of which file."""
        drawn: list[tuple[str, str, int]] = self.at.notebook.drawn
        return drawn


def named(value: Value) -> str:
    """The qualified name that a value from outside the project is, else ""."""
    return value.name if isinstance(value, Ext) else ""
