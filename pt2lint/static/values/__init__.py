"""What a value is, as far as a reader of the code can tell: the interpreter's abstract domain.

Kinds: `Tensor`, plain Python (`Py`), sequences and dictionaries of these, instances, functions and classes of
the project, names from outside it (`Ext`), alternatives (`Union`), and `UNKNOWN`. Values are immutable except
`Seq` and `Dict`, which grow as the code they stand for appends to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pt2lint.op import DREW
from pt2lint.static.values.release import Release

if TYPE_CHECKING:
    from pt2lint.static.interpreter.guards import Path
    from pt2lint.static.source.modules import ClassInfo, Module

NO_CONST: Any = object()
PYTHON = "builtins."  # what the language itself defines goes by this name
LEAF, CONSTANT = 1, 2
OFTEN_OFF, ALWAYS_OFF = 1, 2
OFF_TEXTS = ("", "0", "no", "off", "false", "False")  # what a text says that switches nothing on
MAX_ALTERNATIVES = 6
MAX_FUNCTIONS = 16  # of which one is chosen by its name: `{"euler": euler, ...}[name]`
MAX_NESTING = 8  # containers in containers
MAX_ELEMENTS = 4096  # of a sequence: of a longer one the first are known, and what the others may be


class Value:
    __slots__ = ()
    kind = "unknown"


class Unknown(Value):
    __slots__ = ()


UNKNOWN = Unknown()


class Tensor(Value):
    """A tensor (or, where `array`, a NumPy array, which Dynamo treats as one).

    `dtype` is "bool", "int", "float" or None. `origin` is (path, line, phrase): where it came from. `sure` is
    False where something had to be assumed on the way. `ndim` is its number of dimensions where known. `leaf`
    is LEAF where no traced operation computed it (an argument, a buffer) and CONSTANT where it is made of Python
    numbers alone: Dynamo knows the value of these when a size is asked of a zero-dimensional one. `sparse` is True
    where its layout is known to be a sparse one, and `short` where it surely holds whole numbers of less than 64 bits.
    `under` is what a test came out as where a name holds it, and something else otherwise.
    """

    __slots__ = ("array", "dtype", "leaf", "ndim", "origin", "short", "sparse", "sure", "under")
    kind = "tensor"

    def __init__(
        self,
        dtype: str | None = None,
        origin: tuple[str, int, str] | None = None,
        sure: bool = True,
        array: bool = False,
        ndim: int | None = None,
        leaf: int = 0,
        sparse: bool = False,
        short: bool = False,
    ) -> None:
        self.dtype, self.origin, self.sure, self.array = dtype, origin, sure, array
        self.ndim, self.leaf, self.sparse, self.short = ndim, leaf, sparse, short
        self.under: Path = ()

    @property
    def is_annotated(self) -> bool:
        """Whether an annotation alone says that it is one."""
        return self.origin is not None and self.origin[2].endswith("annotated as a tensor")

    @property
    def is_used_alone(self) -> bool:
        """Whether an attribute that is asked of it alone says that it is one."""
        return self.origin is not None and "is used as a tensor" in self.origin[2]

    @property
    def is_parameter(self) -> bool:
        """Whether it is one of the parameters of a module, themselves."""
        return self.leaf == LEAF and self.origin is not None and self.origin[2] == "a parameter"

    @property
    def is_fraction(self) -> bool:
        """Whether it is a number with a point, of no dimensions, that was there before: Dynamo does not know which."""
        return self.dtype == "float" and self.ndim == 0 and self.leaf == LEAF

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number of no dimensions that was there before, which Dynamo reads while tracing."""
        return self.dtype == "int" and self.ndim == 0 and self.leaf == LEAF and not self.short

    @property
    def is_short(self) -> bool:
        """Whether it holds whole numbers of less than 64 bits, and was there before: Dynamo reads none of these."""
        return self.short and self.leaf == LEAF

    @property
    def is_drawn(self) -> bool:
        """Whether it is a random number, which Python draws as the graph runs."""
        return self.array and self.ndim == 0 and self.origin is not None and self.origin[2].startswith(DREW)

    def but(self, **changes: Any) -> Tensor:
        """The same tensor in all but what is given."""
        new = Tensor(
            self.dtype, self.origin, self.sure, self.array, self.ndim, self.leaf, self.sparse, self.short
        )
        new.under = self.under
        for name, value in changes.items():
            setattr(new, name, value)
        return new


class Py(Value):
    """A plain Python value of type `type` ("int", "float", "bool", "str", "none", "dtype", "object", ...).

    `const` is its value where known. `read` says that it was read out of a tensor. `off` is ALWAYS_OFF for a flag
    that is False wherever the project sets it: code under it may run, but only if someone switches it on from
    outside; OFTEN_OFF for one that is False (or a rate that is 0.0, or an option that is None) by default.
    """

    __slots__ = ("const", "off", "read", "type")
    kind = "py"

    def __init__(self, type: str = "object", const: Any = NO_CONST, read: bool = False, off: int = 0) -> None:
        self.type, self.const, self.read, self.off = type, const, read, off


# The dtypes that are told apart, and the kind of each, which is what is known of tensors and where it may be several.
DTYPES = {
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "float"),
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "int"),
    "bool": "bool",
    "byte": "byte",
}

SHORT = ("int8", "int16", "int32")  # the whole numbers that Dynamo reads out of no tensor


def kind_of(dtype: Any) -> Any:
    """The kind of a dtype of which the name or the kind is known."""
    return DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype


def same_dtype(a: Py, b: Py) -> bool | None:
    """Whether two dtypes are one, None where that is not known."""
    if a.const is NO_CONST or b.const is NO_CONST:
        return None
    if kind_of(a.const) != kind_of(b.const):
        return False
    return a.const == b.const if a.const in DTYPES and b.const in DTYPES else None


NONE = Py("none", None)
LEFT_OUT = Py("none", None, off=OFTEN_OFF)  # an option that nobody asks for by default
BOOL = Py("bool")
INT = Py("int")
FLOAT = Py("float")
STR = Py("str")
# Told apart by identity: names of parameters, of a module as it is and of one that torch.compile wrapped; how long a
# tensor is along a dimension, which is 0 for none that a model is run with.
NAME, WRAPPED_NAME = Py("str"), Py("str")
SIZE = Py("int")
OBJECT = Py("object")
MEMBER = "member"  # the type of a member of an enumeration that is no text: its name is its constant
TRUE = Py("bool", True)


class Seq(Value):
    """A list, tuple or set: `elts` where every element is known, and `elem`, the join of all of them.

    `prefix` holds the first elements where those are known but the length is not. `owner` is the module whose
    parameters it gives. `counted` says that it has as many elements as the code that makes it lists, as nothing since
    has changed. `around` is of `(a, *sizes, b)`, of which nobody knows how many `sizes` are: what stands before them,
    what each of them is, and what stands behind. `fields` are the names of a named tuple's elements.
    """

    __slots__ = ("around", "counted", "elem", "elts", "fields", "owner", "prefix", "type")
    kind = "seq"

    def __init__(
        self,
        elts: list[Value] | None,
        elem: Value | None = None,
        type: str = "list",
        prefix: list[Value] | None = None,
        fields: tuple[str, ...] = (),
    ) -> None:
        self.elem = elem if elem is not None else (join_all(elts) if elts else UNKNOWN)
        if elts is not None and len(elts) > MAX_ELEMENTS:
            prefix, elts = elts[:MAX_ELEMENTS], None
        self.elts, self.prefix = elts, prefix
        self.type, self.fields = type, fields
        self.owner: Value | None = None
        self.counted = False
        self.around: tuple[list[Value], Value, list[Value]] | None = None


OUTSIDE = "iterator from outside"  # the type of an iterator that compiled code is given


def given_from_outside(value: Value) -> Value:
    """An argument that code outside of a compiled function passes to it: Dynamo makes no iterator's items out."""
    if isinstance(value, Union):
        return Union(tuple(given_from_outside(o) for o in value.options), value.declared)
    if not isinstance(value, Seq) or value.type != "generator":
        return value
    given = Seq(None, value.elem, OUTSIDE)
    given.owner = value.owner
    return given


def as_input(value: Value) -> Value:
    """The same argument: a tensor that was computed before is an input of the graph."""
    if isinstance(value, Union):
        return Union(tuple(as_input(o) for o in value.options), value.declared)
    if not isinstance(value, Tensor) or value.leaf == LEAF or (value.leaf == CONSTANT and value.array):
        return value
    return value.but(leaf=LEAF)


def as_kept(value: Value) -> Value:
    """The same, kept by an object that compiled code does not make: what it holds are inputs of the graph, too."""
    if not isinstance(value, Seq):
        return as_input(value)
    if value.type not in ("list", "tuple") or value.prefix or value.around or value.owner is not None:
        return value
    if not any(isinstance(part, Tensor) and not part.leaf for part in value.elts or (value.elem,)):
        return value
    elts = [as_input(part) for part in value.elts] if value.elts is not None else None
    return Seq(elts, as_input(value.elem), value.type, None, value.fields)


def is_from_outside(value: Value) -> bool:
    """Whether it surely is an iterator that compiled code was given, if it is anything at all."""
    kinds = [o for o in options(value) if is_none(o) is not True]
    return bool(kinds) and all(isinstance(o, Seq) and o.type == OUTSIDE for o in kinds)


class Dict(Value):
    """A dictionary: `items` by the keys that are known, `elem` the join of the others.

    `keywords` marks a function's **kwargs: what it holds under a key that is not known may be anything. `key` is
    what the keys are that are not known, None where nobody saw. `listed` says that it holds what the call of the
    function lists, and nothing else as it begins.
    """

    __slots__ = ("elem", "items", "key", "keywords", "listed")
    kind = "dict"

    def __init__(self, items: dict[str, Value], elem: Value = UNKNOWN, keywords: bool = False) -> None:
        self.items, self.elem, self.keywords = items, elem, keywords
        self.key: Value | None = None
        self.listed = False

    def beginning(self, start: str) -> list[Value]:
        """What it holds under the known keys that begin so."""
        return [value for key, value in self.items.items() if key.startswith(start)]

    def copy(self) -> Dict:
        same = Dict(dict(self.items), self.elem, self.keywords)
        same.key = self.key
        return same


class Instance(Value):
    """An object of a class of the project (`cls`) or of an external one (`external`, its qualified name).

    What is `followed` (an optimizer, a loader) is told apart from others of its class. `gives` is what going over it
    gives, where that is known (a progress bar around a list).
    """

    __slots__ = ("attrs", "cls", "external", "followed", "gives")
    kind = "instance"

    def __init__(self, cls: ClassInfo | None, external: str | None = None, followed: bool = False) -> None:
        self.cls, self.external, self.followed = cls, external, followed
        self.attrs: dict[str, Value] = {}
        self.gives: Value = UNKNOWN


class Func(Value):
    """A function of the project, with the environment it closes over and the object it is bound to."""

    __slots__ = ("bound", "defined_in", "env", "module", "node")
    kind = "func"

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        module: Module,
        env: dict[str, Value] | None = None,
        bound: Value | None = None,
        defined_in: ClassInfo | None = None,
    ) -> None:
        self.node, self.module, self.env, self.bound, self.defined_in = node, module, env, bound, defined_in


class Class(Value):
    __slots__ = ("info",)
    kind = "class"

    def __init__(self, info: ClassInfo) -> None:
        self.info = info


class Ext(Value):
    """A name from outside the project: a module, function or class, by its qualified name.

    `receiver` is the object where it is a method of an external type (`torch.Tensor.item` on a tensor).
    """

    __slots__ = ("name", "receiver")
    kind = "ext"

    def __init__(self, name: str, receiver: Value | None = None) -> None:
        self.name, self.receiver = name, receiver


class Partial(Value):
    """functools.partial of a callable."""

    __slots__ = ("args", "func", "kwargs")
    kind = "partial"

    def __init__(self, func: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs


class Wrapped(Value):
    """A callable that something was done to.

    `how` is "compiled" (torch.compile), "disabled" (torch.compiler.disable), "scripted" (torch.jit.script_method),
    "opaque" (what Dynamo does not look into: custom operators) or "context manager" (contextlib.contextmanager).
    `within` is what the names of a compiled module's parts begin with where another wrapper holds it ("module." in
    DDP).
    """

    __slots__ = ("how", "inner", "within")
    kind = "wrapped"

    def __init__(self, how: str, inner: Value, within: str = "") -> None:
        self.how, self.inner, self.within = how, inner, within


class Super(Value):
    """`super()`: attribute look-up starts after `after` in the class of `instance`."""

    __slots__ = ("after", "instance")
    kind = "super"

    def __init__(self, instance: Value, after: ClassInfo) -> None:
        self.instance, self.after = instance, after


class Union(Value):
    """One of several kinds. `declared` says that an annotation lists them: then no path is known to take each."""

    __slots__ = ("declared", "options")
    kind = "union"

    def __init__(self, options: tuple[Value, ...], declared: bool = False) -> None:
        self.options, self.declared = options, declared


def options(value: Value) -> tuple[Value, ...]:
    return value.options if value.kind == "union" else (value,)  # type: ignore[attr-defined]


def same(a: Value, b: Value) -> bool:
    """Whether two values are alike enough to be one alternative."""
    if a is b:
        return True
    if a.__class__ is not b.__class__:
        return False
    if isinstance(a, Py) and isinstance(b, Py):
        return (
            a.type == b.type
            and a.off == b.off
            and (a is SIZE) is (b is SIZE)
            and (a.const is b.const or (a.const == b.const and a.type != "object"))
        )
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return (
            a.dtype == b.dtype
            and a.sure == b.sure
            and a.array == b.array
            and a.ndim == b.ndim
            and a.leaf == b.leaf
            and a.sparse == b.sparse
            and a.short == b.short
            and a.under == b.under
        )
    if isinstance(a, Instance) and isinstance(b, Instance):
        return a.cls is None and b.cls is None and a.external == b.external
    if isinstance(a, Ext) and isinstance(b, Ext):
        # The same method of two objects is not one.
        objects = isinstance(a.receiver, Instance) and isinstance(b.receiver, Instance)
        return a.name == b.name and (a.receiver is b.receiver or not objects)
    if isinstance(a, Func) and isinstance(b, Func):
        alike = a.node is b.node and a.bound is b.bound
        return alike and (a.env is b.env or _wrapped(a, 0) == _wrapped(b, 0))
    if isinstance(a, Class) and isinstance(b, Class):
        return a.info is b.info
    return isinstance(a, Unknown)


def _merge_texts(a: Value, b: Value) -> Value | None:
    """What is left of a name where something else may be there."""
    return STR if isinstance(a, Py) and isinstance(b, Py) and a.type == b.type else None


def _merge(a: Value, b: Value) -> Value | None:
    """One value for both, which are of one class, or None where they stay alternatives."""
    if isinstance(a, Py) and isinstance(b, Py):
        if a is WRAPPED_NAME or b is WRAPPED_NAME:
            return WRAPPED_NAME if a is NAME or b is NAME else _merge_texts(a, b)
        if a.type != b.type:
            return None
        if same(a, b):
            return a
        kind = kind_of(a.const) if a.type == "dtype" else NO_CONST
        return Py(a.type, kind if kind == kind_of(b.const) else NO_CONST, read=a.read or b.read)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.array != b.array:
            return None
        if same(a, b):
            return a
        either = Tensor(
            a.dtype if a.dtype == b.dtype else None,
            a.origin if a.sure or not b.sure else b.origin,
            a.sure or b.sure,
            a.array,
            a.ndim if a.ndim == b.ndim else None,
            min(a.leaf, b.leaf),
            a.sparse and b.sparse,
            a.short and b.short,
        )
        either.under = a.under if a.under == b.under else ()
        return either
    if a is b or not isinstance(a, (Seq, Dict)):
        return a if same(a, b) else None
    _nested.append(None)
    try:
        # A container that was put into itself has no end.
        return _merge_containers(a, b) if len(_nested) <= MAX_NESTING else UNKNOWN
    finally:
        _nested.pop()


_nested: list[None] = []  # one for each container that is being merged


def _merge_containers(a: Value, b: Value) -> Value | None:
    merged = _merge_elements(a, b)
    if isinstance(merged, Seq) and isinstance(a, Seq) and isinstance(b, Seq):
        owners = [owner for owner in (a.owner, b.owner) if owner is not None]
        merged.owner = join_all(owners) if owners else None
        if merged.type == OUTSIDE and a.type != b.type:
            merged.type = a.type if b.type == OUTSIDE else b.type
    return merged


def _merge_elements(a: Value, b: Value) -> Value | None:
    if isinstance(a, Seq) and isinstance(b, Seq):
        if a.elts is not None and b.elts is not None and len(a.elts) == len(b.elts):
            fields = a.fields if a.fields == b.fields else ()
            both = Seq([join(x, y) for x, y in zip(a.elts, b.elts, strict=True)], None, a.type, None, fields)
            both.counted = a.counted and b.counted
            return both
        if a.elts == []:
            return Seq(None, b.elem, b.type)
        if b.elts == []:
            return Seq(None, a.elem, a.type)
        known = list(zip(a.elts or a.prefix or (), b.elts or b.prefix or (), strict=False))
        return Seq(None, join(a.elem, b.elem), a.type, [join(x, y) for x, y in known] or None)
    if isinstance(a, Dict) and isinstance(b, Dict):
        items = {k: join(v, b.items[k]) if k in b.items else v for k, v in a.items.items()}
        merged = Dict({**b.items, **items}, join(a.elem, b.elem))
        if a.key is not None and b.key is not None:
            merged.key = join(a.key, b.key)
        return merged
    return None


def join(a: Value, b: Value) -> Value:
    """What is known where either may be the value."""
    if a is b:
        return a
    if not isinstance(a, Union):
        if not isinstance(b, Union):
            merged = _merge(a, b) if a.__class__ is b.__class__ else None
            return Union((a, b)) if merged is None else merged
        result, more, declared = [a], b.options, b.declared
    elif isinstance(b, Union):
        result, more, declared = [*a.options], b.options, a.declared or b.declared
    else:
        result, more, declared = [*a.options], (b,), a.declared
    for new in more:
        kind = new.__class__
        for i, old in enumerate(result):
            merged = _merge(old, new) if old.__class__ is kind else None
            if merged is not None:
                result[i] = merged
                break
        else:
            result.append(new)
    if len(result) == 1:
        return result[0]
    if len(result) > MAX_ALTERNATIVES:
        if len(result) > MAX_FUNCTIONS or not all(isinstance(o, (Func, Unknown)) for o in result):
            return UNKNOWN
    return Union(tuple(result), declared)


def join_all(values: Iterable[Value]) -> Value:
    result: Value | None = None
    for v in values:
        result = v if result is None else join(result, v)
    return UNKNOWN if result is None else result


def may_be_plain(value: Value) -> bool:
    """Whether something that may be wrapped need not be, on other ways through the code."""
    return any(not isinstance(o, Wrapped) and is_none(o) is not True for o in options(value))


def element(value: Value) -> Value:
    """What iterating over the value gives."""
    if isinstance(value, Seq):
        return value.elem
    if isinstance(value, Tensor):
        return value.but(ndim=value.ndim - 1 if value.ndim else None, leaf=0)
    if isinstance(value, Dict):
        return STR if value.key is STR or (value.items and value.elem is UNKNOWN) else UNKNOWN
    if isinstance(value, Union):
        return join_all(element(o) for o in value.options if is_none(o) is not True)
    if isinstance(value, Py) and value.type == "str":
        return STR
    return value.gives if isinstance(value, Instance) else UNKNOWN


def extend(target: Seq, value: Value) -> None:
    """`target.extend(value)`"""
    target.counted = False
    if (
        isinstance(value, Seq)
        and value.elts is not None
        and target.elts is not None
        and len(value.elts) + len(target.elts) <= MAX_ELEMENTS
    ):
        target.elts = target.elts + value.elts
        target.elem = join_all(target.elts) if target.elts else UNKNOWN
    else:
        append(target, element(value))


def append(target: Seq, value: Value) -> None:
    """`target.append(value)`"""
    target.counted = False
    target.elem = value if target.elts == [] or target.elem is UNKNOWN else join(target.elem, value)
    target.elts = None


def without(value: Value, drop: Any) -> Value:
    """The value less the alternatives for which `drop(option)` is true."""
    if value.kind != "union":
        return value
    kept = tuple(o for o in options(value) if not drop(o))
    if not kept:
        return value
    return kept[0] if len(kept) == 1 else Union(kept, value.declared)  # type: ignore[attr-defined]


def tensor_of(value: Value) -> Tensor | None:
    """The tensor that the value is, or is on some path; unsure where only an annotation lists it among others."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, Union):
        return None
    for found in value.options:
        if isinstance(found, Tensor):
            hazy = value.declared and any(
                isinstance(o, (Seq, Dict)) or (isinstance(o, Py) and o.type != "none") for o in value.options
            )
            return found.but(sure=False) if hazy and found.sure else found
    return None


def mixed(value: Value, loose: bool = False) -> Value:
    """An element of a collection at a place that is not known: where some are tensors and some are not, or where
    the collection holds a function's arguments (`loose`), it may be one, and that is all that can be said."""
    if loose and isinstance(value, Tensor):
        return value.but(sure=False)
    if not loose and isinstance(value, Seq) and value.type == "tuple" and value.elts is not None:
        pair = [mixed(one) for one in value.elts]
        same = all(one is before for one, before in zip(pair, value.elts, strict=True))
        return value if same else Seq(pair, None, "tuple", fields=value.fields)
    if loose and isinstance(value, Seq) and value.elem is not UNKNOWN:
        elts = None if value.elts is None else [mixed(one, True) for one in value.elts]
        made = Seq(elts, mixed(value.elem, True), value.type)
        made.counted = value.counted
        return made
    if isinstance(value, Union) and (
        loose or any(not isinstance(o, Tensor) and is_none(o) is not True for o in value.options)
    ):
        return Union(
            tuple(
                o.but(sure=False) if isinstance(o, Tensor) else mixed(o, True) if loose else o
                for o in value.options
            ),
            value.declared,
        )
    return value


def is_dtype(value: Value | None) -> bool:
    """Whether it is a dtype of torch."""
    return isinstance(value, Py) and value.type == "dtype"


def is_stack(value: Value | None) -> bool:
    """Whether it is an `nn.Sequential` of layers that are known."""
    return isinstance(value, Seq) and value.type == "Sequential"


def is_wrapper(value: Value) -> bool:
    """Whether it is what torch.compile made of a module, and not what holds that: it alone has an `_orig_mod`."""
    return (
        isinstance(value, Wrapped)
        and value.how == "compiled"
        and not value.within
        and not isinstance(value.inner, Func)
    )


def is_none(value: Value) -> bool | None:
    """True if the value is None, False if it cannot be, None if it may be."""
    if isinstance(value, Py):
        return value.type == "none" or (None if value.type == "object" and value.const is NO_CONST else False)
    if isinstance(value, Union):
        first, *others = value.options
        answer = is_none(first)
        for other in others:
            if answer is None or is_none(other) is not answer:
                return None
        return answer
    return None if value is UNKNOWN else False


def truth(value: Value) -> bool | None:
    """The truth value where it is known."""
    if isinstance(value, Py):
        return None if value.const is NO_CONST else bool(value.const)
    if isinstance(value, Union):
        answers = {truth(o) for o in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, (Func, Class, Wrapped, Partial)):
        return True
    if isinstance(value, Seq) and value.elts is not None and value.type in ("tuple", "args"):
        return bool(value.elts)
    return None


def _wrapped(value: Func, depth: int) -> list[Any]:
    """The functions that a function closes over: a decorator's wrapper is another one for each that it wraps."""
    inner = (v for v in (value.env or {}).values() if isinstance(v, Func) and v.env is not value.env)
    return [signature(v, depth + 1) for v in inner] if depth < 4 else []


def signature(value: Value, depth: int = 0) -> Any:
    """A short hashable description: calls with equal descriptions are interpreted once."""
    if isinstance(value, Tensor):
        known = (value.dtype, value.sure, value.array, value.ndim, value.leaf, value.sparse, value.short)
        return ("t", *known, value.under) if value.under else ("t", *known)
    if isinstance(value, Py):
        const = value.const
        if const is None or const is True or const is False or type(const) in (str, Release):
            return ("c", value.type, const)  # apart from the others: False is equal to 0, which `off` may be
        return ("p", "size" if value is SIZE else value.type, value.off)
    if isinstance(value, Seq):
        if depth > 1:
            return "s"
        if value.elts is not None and len(value.elts) <= 4:
            return ("s", value.counted, *(signature(e, depth + 1) for e in value.elts))
        return ("s*", value.type == OUTSIDE, signature(value.elem, depth + 1))
    if isinstance(value, Union):
        return ("u", value.declared, *sorted((signature(o, depth + 1) for o in value.options), key=repr))
    if isinstance(value, Dict):
        if depth > 1:
            return "d"
        return ("d", value.listed, *((k, signature(v, depth + 1)) for k, v in sorted(value.items.items())))
    if isinstance(value, Instance):
        # An optimizer or a loader is followed by itself: what is done with one says nothing of the others.
        return ("i", id(value)) if value.cls is not None or value.followed else ("i", value.external)
    if isinstance(value, Func):
        return ("f", id(value.node), *_wrapped(value, depth)) if value.env else ("f", id(value.node))
    if isinstance(value, Class):
        return ("c", id(value.info))
    if isinstance(value, Ext):
        return ("e", value.name)
    if isinstance(value, Wrapped):
        return ("w", value.how, signature(value.inner))
    if isinstance(value, Partial):
        return ("partial", signature(value.func), *(signature(a, depth + 1) for a in value.args))
    return value.kind
