"""Python's own functions and containers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from pt2lint.libraries.call import Call, named, start_of
from pt2lint.libraries.model import Library
from pt2lint.op import SHRINKS
from pt2lint.static.values import (
    BOOL,
    INT,
    MAX_ALTERNATIVES,
    NAME,
    NONE,
    OFTEN_OFF,
    STR,
    UNKNOWN,
    WRAPPED_NAME,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    append,
    extend,
    given_from_outside,
    is_wrapper,
    join,
    join_all,
    may_be_plain,
    mixed,
    options,
    tensor_of,
    truth,
)
from pt2lint.static.values.release import OLDEST, Release, numbers

ALL = tuple(range(8))


def called(call: Call) -> Value:
    """A function, by its name, or a method of a container."""
    name = call.name
    if "key" in call.kwargs and name in ("builtins.sorted", "builtins.list.sort"):
        things = call.element(
            call.args[0] if call.receiver is None and call.args else call.receiver or UNKNOWN
        )
        by = tensor_of(call.apply(call.kwargs["key"], [things]))
        if by is not None:
            call.note("sort by tensor", by)
    parts = name.split(".")
    if call.receiver is not None and len(parts) == 3:
        return container_method(parts[2], call)
    function = FUNCTIONS.get(parts[1])
    return function(call, call.args[0] if call.args else UNKNOWN) if function is not None else UNKNOWN


# Functions: (the call, its first argument) -> what it returns


def sequence(call: Call, first: Value) -> Value:
    last = call.name.split(".")[1]
    kind = last if last not in ("reversed", "iter") else "list"
    if last == "iter" and isinstance(first, Instance) and first.external:
        return first  # what draws from it is known by what it draws from
    if not call.args:
        return Seq([], None, kind)
    # Dynamo knows the items of iterators over tuples and ranges, whoever made them.
    known = isinstance(first, Seq) and first.type in ("tuple", "range")
    if last == "iter" and not call.frame.region and not known:
        return given_from_outside(Seq(None, call.element(first), "generator"))
    if isinstance(first, Seq):
        elts = list(first.elts) if first.elts is not None else None
        if elts is not None and last == "reversed":
            elts.reverse()
        return Seq(elts, first.elem, kind)
    return Seq(None, call.element(first), kind)


def ordered(call: Call, first: Value) -> Value:
    return Seq(None, call.element(first), "list")


def dictionary_by_name(pairs: Value) -> Dict | None:
    """`dict(model.named_parameters())`"""
    pair = pairs.elem if isinstance(pairs, Seq) else UNKNOWN
    if (
        not isinstance(pair, Seq)
        or not pair.elts
        or (pair.elts[0] is not NAME and pair.elts[0] is not WRAPPED_NAME)
    ):
        return None
    by_name = Dict({}, pair.elts[1])
    by_name.key = pair.elts[0]
    return by_name


def dictionary(call: Call, first: Value) -> Value:
    if isinstance(first, Dict):
        same = Dict({**first.items, **call.kwargs}, first.elem)
        same.key = first.key
        return same
    by_name = dictionary_by_name(first)
    if by_name is not None:
        return by_name
    return Dict({k: v for k, v in call.kwargs.items() if k != "**"}, UNKNOWN)


def numbered(call: Call, first: Value) -> Value:
    if isinstance(first, Instance) and first.external and not call.models.plays(first.external, "loader"):
        call.note(
            f"iterate {first.external}"
        )  # a bar; drawing from a loader is told as what `enumerate` is given
    return Seq(None, Seq([INT, call.element(first)], None, "tuple"), "generator")


def zipped(call: Call, first: Value) -> Value:
    return Seq(None, Seq([call.element(a) for a in call.args], None, "tuple"), "generator")


def mapped(call: Call, first: Value) -> Value:
    return Seq(None, call.apply(first, [call.element(a) for a in call.args[1:]]), "generator")


def filtered(call: Call, first: Value) -> Value:
    kept = tensor_of(call.apply(first, [call.element(a) for a in call.args[1:]]))
    if kept is not None:
        call.note("test tensor", kept)
    return Seq(None, call.element(call.args[1]) if len(call.args) > 1 else UNKNOWN, "generator")


def quantified(call: Call, first: Value) -> Value:
    """`any` and `all` test each element."""
    inner = tensor_of(call.element(first)) if not isinstance(first, Tensor) else first
    if inner is not None:
        call.note("test tensor", inner)
    return BOOL


def truth_value(call: Call, first: Value) -> Value:
    tensor = tensor_of(first)
    if tensor is not None:
        call.note("test tensor", tensor)
    known = truth(first) if call.args else False
    if known is None and isinstance(first, Seq) and first.elts == [] and first.type == "list":
        return Py("bool", off=OFTEN_OFF)  # nothing in sight has put anything into it
    if known is None:
        return Py("bool", off=first.off) if isinstance(first, Py) else BOOL
    return Py("bool", known)


def number(call: Call, first: Value) -> Value:
    off = first.off if isinstance(first, Py) else 0
    kind = call.name.split(".")[1]
    digits = first.const if kind == "int" and isinstance(first, Py) else None
    if isinstance(digits, str) and digits.isdecimal():
        return Py(kind, int(digits))
    return Py(kind, read=tensor_of(first) is not None, off=off)


def text(call: Call, first: Value) -> Value:
    parts: list[Value] = [first]
    if isinstance(first, Seq) and first.type in ("list", "tuple"):
        parts += first.elts or ()
    elif isinstance(first, Dict):
        parts += first.items.values()
    tensor = next((t for t in map(tensor_of, parts) if t is not None), None)
    if tensor is not None:
        call.note("format tensor", tensor)
    shown(call, first)
    return STR


def shown(call: Call, value: Value) -> None:
    """What an object of the project is as text, its own methods say."""
    for o in options(value):
        if isinstance(o, Instance) and o.cls is not None:
            method = next((m for m in ("__str__", "__repr__") if m in call.methods_of(o)), None)
            if method is not None:
                call.apply(call.attribute(o, method), [])


def extreme(call: Call, first: Value) -> Value:
    values = call.args if len(call.args) > 1 else [call.element(first)]
    by = call.kwargs.get("key")
    held = next((t for t in map(_held_tensor, values) if t is not None), None)
    compared = (
        None if by is None or isinstance(first, Class) else tensor_of(call.apply(by, [join_all(values)]))
    )
    if compared is not None:
        call.note("choose by tensor", compared)
    elif by is not None and call.listens("choose by key") and not isinstance(first, Class):
        iterated = isinstance(first, Seq) and first.type == "generator"
        if iterated or held is not None or any(_is_object(v, by) for v in values):
            call.note("choose by key")  # the members of an enumeration are compared while tracing
        elif isinstance(by, Func):
            call.note("choose plain by key")
    elif held is not None:
        call.note("choose among pairs", held)
    found = next((t for t in map(tensor_of, values) if t is not None), None)
    if found is not None:
        return found.but(leaf=0)
    return join_all(Py(v.type) if isinstance(v, Py) else v for v in values)


def _held_tensor(value: Value) -> Tensor | None:
    """A tensor in a pair, `(score, x)`."""
    parts = value.elts if isinstance(value, Seq) and value.type == "tuple" else None
    return next((t for t in map(tensor_of, parts or ()) if t is not None), None)


def _is_object(value: Value, by: Value) -> bool:
    """Whether what `min` compares is a tensor or an object; where nothing is known of it, whether the key reads an
    attribute of it."""
    if value is UNKNOWN and isinstance(by, Func) and isinstance(by.node, ast.Lambda):
        given = by.node.args
        parameter = next((a.arg for a in (*given.posonlyargs, *given.args)), "")
        return any(
            isinstance(part, ast.Attribute)
            and isinstance(part.value, ast.Name)
            and part.value.id == parameter
            for part in ast.walk(by.node.body)
        )
    return any(isinstance(o, (Tensor, Instance)) for o in options(value))


def class_of(call: Call) -> Value:
    """`type(self)`, of an object of the project."""
    owner = call.args[0] if len(call.args) == 1 else UNKNOWN
    known = isinstance(owner, Instance) and owner.cls is not None
    return call.attribute(owner, "__class__") if known else UNKNOWN


def length(call: Call) -> Value:
    """`len` of an object of the project runs its `__len__`."""
    for owner in options(call.args[0]) if call.args else ():
        if isinstance(owner, Instance) and owner.cls is not None and "__len__" in call.methods_of(owner):
            call.apply(call.attribute(owner, "__len__"), [])
    return INT


def total(call: Call, first: Value) -> Value:
    inner = call.element(first)
    found = tensor_of(inner)
    if found is not None:
        dtype = found.dtype if found.dtype != "bool" else "int"
        return Tensor(dtype, found.origin, found.sure, found.array)
    return Py(inner.type) if isinstance(inner, Py) else UNKNOWN


def arithmetic(call: Call, first: Value) -> Value:
    tensor = tensor_of(first)
    return tensor if tensor is not None else (Py(first.type) if isinstance(first, Py) else UNKNOWN)


def following(call: Call, first: Value) -> Value:
    return mixed(call.element(first))


# Whose classes are no modules: what is tested may well be of them.
_NO_MODULES = (
    "",
    "abc",
    "builtins",
    "collections",
    "functools",
    "inspect",
    "types",
    "typing",
    "typing_extensions",
)


def instance_check(call: Call, first: Value) -> Value:
    if len(call.args) != 2:
        return UNKNOWN
    kind = call.args[1]
    kinds = kind.elts if isinstance(kind, Seq) and kind.elts is not None else [kind]
    if any(
        isinstance(option, Wrapped)
        and option.how == "compiled"
        and all(_hides(call, option, one) for one in kinds)
        for option in options(first)
    ):
        call.note("isinstance of compiled", details={"maybe": "yes"} if may_be_plain(first) else None)
    if any(isinstance(o, Instance) and call.models.plays(o.external, "recurrent") for o in options(first)):
        call.note("call builtins.isinstance of an RNN")
    by_metaclass = [k for k in kinds if _is_by_metaclass(call, k)]
    others = tuple(named(k) for k in kinds if k not in by_metaclass)
    tensors = [o for o in options(first) if isinstance(o, Tensor) and o.sure and not o.array]
    if by_metaclass and not others and first is UNKNOWN and isinstance(by_metaclass[0], Ext):
        tensors = [Tensor(None)]  # what is asked whether it is a `Variable` may be one
    if by_metaclass and any(not call.is_instance(o, others) for o in tensors):
        call.note("tensor by metaclass")
        return BOOL
    names = [named(k) for k in kinds]
    answers = {call.is_instance(o, tuple(filter(None, names))) for o in options(first)}
    if answers == {True} or (all(names) and answers == {False}):
        return Py("bool", answers.pop())
    return BOOL


def _is_by_metaclass(call: Call, kind: Value) -> bool:
    """Whether the metaclass of the type says what is of it."""
    if isinstance(kind, Class):
        return call.metaclass_has(kind, "__instancecheck__")
    if kind is UNKNOWN and isinstance(call.node, ast.Call) and isinstance(call.node.args[1], ast.Subscript):
        return (
            call.models.form(call.named(call.node.args[1].value))[0] == "tensor"
        )  # jaxtyping's `Float[Tensor, "n"]`
    return call.models.plays(named(kind), "says what is of it")


def _hides(call: Call, compiled: Wrapped, kind: Value) -> bool:
    """Whether the module inside the wrapper of torch.compile may be of the type, and the wrapper is not."""
    inner = compiled.inner
    if isinstance(kind, Class):
        if isinstance(inner, Instance) and inner.cls is not None:
            return call.is_of(inner, kind)
        return call.is_module_class(kind) and not call.says("_orig_mod")
    name = named(kind)
    if compiled.within or call.says("_orig_mod"):
        return False
    if name.startswith("torch."):
        # Of those that hold a model to spread it, there may be one around the wrapper.
        base = call.models.plays(name, "module base")
        return any(isinstance(o, Instance) and o.external == name for o in options(inner)) and not base
    own = name.partition(".")[0] in _NO_MODULES
    return inner is UNKNOWN and not own and name.rpartition(".")[2][:1].isupper()


def attribute(call: Call, first: Value) -> Value:
    args = call.args
    if len(args) < 2:
        return UNKNOWN
    if isinstance(args[1], Py) and isinstance(args[1].const, str):
        if len(args) > 2 and args[1].const == "_orig_mod" and any(map(is_wrapper, options(first))):
            return _taken_off(first, args[2])
        value = call.attribute(first, args[1].const)
        if value is UNKNOWN and len(args) > 2 and isinstance(args[2], Py) and args[2].const is False:
            return Py("bool", off=OFTEN_OFF)  # a flag that need not be there
        if len(args) > 2 and truth(has_attribute(call)) is True:
            return value
        if len(args) > 2:
            if isinstance(value, Ext) and value.receiver is not None:
                return UNKNOWN
            return join(value, args[2]) if value is not UNKNOWN else UNKNOWN
        return value
    if isinstance(first, Instance) and first.cls is not None and isinstance(call.node, ast.Call):
        return chosen(call, first, call.node.args[1])
    return Ext("torch.nn.") if named(first) == "torch.nn" else UNKNOWN


def _taken_off(asked: Value, other: Value) -> Value:
    """`getattr(model, "_orig_mod", model)`: what torch.compile wrapped, and `other` where it did not."""
    inside = [o.inner for o in options(asked) if isinstance(o, Wrapped) and is_wrapper(o)]
    if len(inside) == len(options(asked)):
        return join_all(inside)
    return join_all([*inside, *(o for o in options(other) if not is_wrapper(o))])


def chosen(call: Call, owner: Instance, name: ast.expr) -> Value:
    """`getattr(self, f"reduce_{kind}")`: any of the methods whose names fit, where they are few, or else of the parts
    whose names have a number there (`layer1`), and what was set under a name that is put together in the same way."""
    pattern = name_pattern(name)
    if pattern is None:
        return UNKNOWN
    fits = {m for m in call.methods_of(owner) if pattern.fullmatch(m)}
    if not fits:
        numbered = re.compile(pattern.pattern.replace(r"\w+", r"\d+"))
        fits = {n for n in call.names_of(owner) if n == _shown(pattern) or numbered.fullmatch(n)}
    if not 0 < len(fits) <= MAX_ALTERNATIVES:
        return UNKNOWN
    return join_all(call.attribute(owner, m, name) for m in sorted(fits))


def put(call: Call, owner: Instance) -> None:
    """`setattr(self, name, part)`, `self.add_module(name, part)`; what a loop puts under names with its number is kept
    under what these look like."""
    *_, name, value = call.args
    if isinstance(name, Py) and isinstance(name.const, str):
        call.store(owner, name.const, value)
    elif isinstance(call.node, ast.Call) and len(call.node.args) == len(call.args):
        if (pattern := name_pattern(call.node.args[-2])) is not None:
            call.store(owner, _shown(pattern), value)


def _shown(pattern: re.Pattern[str]) -> str:
    return pattern.pattern.replace(r"\w+", "*")


def name_pattern(name: ast.expr) -> re.Pattern[str] | None:
    """What a name that is put together from a fixed part and a variable one looks like."""
    parts: list[str] = []
    if isinstance(name, ast.JoinedStr):
        parts = [
            re.escape(str(v.value)) if isinstance(v, ast.Constant) else r"\w+"  # the variable part
            for v in name.values
        ]
    elif isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "format":
        if isinstance(name.func.value, ast.Constant) and isinstance(name.func.value.value, str):
            parts = [re.sub(r"\\\{\w*\\\}", r"\\w+", re.escape(name.func.value.value))]
    elif isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        for side in (name.left, name.right):
            fixed = isinstance(side, ast.Constant) and isinstance(side.value, str)
            parts.append(re.escape(side.value) if fixed else r"\w+")  # type: ignore[attr-defined]
    text = "".join(parts)
    return re.compile(text) if text.replace(r"\w+", "").strip("_") else None


def set_attribute(call: Call, first: Value) -> Value:
    args = call.args
    if len(args) != 3:
        return UNKNOWN
    if isinstance(first, Instance) and first.cls is not None and first is call.frame.me:
        put(call, first)
    return NONE


def slice_object(call: Call, first: Value) -> Value:
    return Py("slice")


def has_attribute(call: Call) -> Value:
    """`hasattr(torch, "compile")` holds for what torch has, `hasattr(parallel, "module")` where that is compiled."""
    args = call.args[:2]
    if len(args) == 2 and isinstance(args[0], Ext) and isinstance(args[1], Py):
        if args[0].name.startswith("torch") and call.models.knows(f"{args[0].name}.{args[1].const}"):
            return Py("bool", True)
    if len(args) == 2 and isinstance(args[0], Wrapped) and isinstance(args[1], Py):
        if args[1].const == "_orig_mod" and is_wrapper(args[0]):
            return Py("bool", True)
        inner = args[0].inner  # the wrapper of torch.compile has what the module inside of it has
        if isinstance(inner, Instance) and call.models.plays(inner.external, "spreads a module"):
            return Py("bool", True) if args[1].const == "module" else BOOL
    return BOOL


def is_callable(call: Call) -> Value:
    """`callable(f)`"""
    given = call.args[0] if call.args else UNKNOWN
    known = isinstance(given, Func) or (isinstance(given, Ext) and call.models.returns_something(given.name))
    return Py("bool", True) if known else BOOL


def subclass_check(call: Call) -> Value:
    """`issubclass(kind, torch.Tensor)`, where the kind is that, an array's, or asked of a class of the project."""
    kinds = {call.models.tensor, "numpy.ndarray"}
    if len(call.args) != 2 or not isinstance(first := call.args[0], Ext) or first.name not in kinds:
        return BOOL
    other = call.args[1]
    if isinstance(other, Ext) and other.name in kinds:
        return Py("bool", other.name == first.name)
    return Py("bool", False) if isinstance(other, Class) else BOOL


FUNCTIONS: dict[str, Callable[[Call, Value], Value]] = {
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "reversed", "iter"), sequence),
    "sorted": ordered,
    "dict": dictionary,
    "enumerate": numbered,
    "zip": zipped,
    "map": mapped,
    "filter": filtered,
    **dict.fromkeys(("any", "all"), quantified),
    "bool": truth_value,
    **dict.fromkeys(("int", "float", "complex"), number),
    **dict.fromkeys(("str", "repr", "ascii"), text),
    **dict.fromkeys(("max", "min"), extreme),
    "sum": total,
    **dict.fromkeys(("abs", "round", "pow", "divmod"), arithmetic),
    "next": following,
    "isinstance": instance_check,
    "getattr": attribute,
    "setattr": set_attribute,
    "slice": slice_object,
}


# Containers

MODULES = ("Sequential", "ModuleList")  # torch's lists of modules, which are modules themselves
NAMING = ("named_parameters", "named_buffers", "named_modules")
KEEPS_LENGTH = frozenset(("index", "count", "copy", "sort", "reverse"))


def container_method(method: str, call: Call) -> Value:
    owner = call.receiver
    first = call.args[0] if call.args else UNKNOWN
    if isinstance(owner, Seq):
        return sequence_method(method, owner, first, call)
    if isinstance(owner, Dict):
        return dictionary_method(method, owner, first, call)
    if isinstance(owner, Py) and owner.type == "str":
        if isinstance(owner.const, Release):
            return release_method(method, owner, first)
        if method in ("split", "rsplit", "splitlines"):
            return Seq(None, STR, "list")
        if method in ("startswith", "endswith") and isinstance(owner.const, str):
            asked = first.const if isinstance(first, Py) and len(call.args) == 1 else None
            return Py("bool", getattr(owner.const, method)(asked)) if isinstance(asked, str) else BOOL
        if method.startswith(("is", "starts", "ends")):
            return BOOL
        if method == "encode":
            return Py("bytes")
        if method == "format":
            for given in (*call.args, *call.kwargs.values()):
                shown(call, given)
        return INT if method in ("find", "index", "count") else STR
    return UNKNOWN


def release_method(method: str, owner: Py, first: Value) -> Value:
    """What is asked of torch's version as a text: `.split("+")[0]`, `.split(".")[0]`, `.startswith("1.")`."""
    if method == "split":
        whole = isinstance(first, Py) and first.const == "."
        return Seq(None, STR, "list", [Py("str", str(OLDEST[0])) if whole else owner])
    if method == "startswith":
        asked = first.elts or [] if isinstance(first, Seq) else [first]
        texts = [each.const for each in asked if isinstance(each, Py) and isinstance(each.const, str)]
        older = [numbers(text)[:1] < OLDEST[:1] for text in texts if numbers(text)]
        return Py("bool", False) if older and len(older) == len(asked) and all(older) else BOOL
    return owner if method == "strip" else STR


def sequence_method(method: str, owner: Seq, first: Value, call: Call) -> Value:
    owner.counted = owner.counted and method in KEEPS_LENGTH
    if method in ("append", "add", "appendleft"):
        append(owner, first)
        return NONE
    if method == "insert" and len(call.args) == 2:
        append(owner, call.args[1])
        return NONE
    if method in ("extend", "update"):
        extend(owner, first)
        return NONE
    if method in ("pop", "popleft"):
        return owner.elem
    if method == "send":
        call.draws(owner)
        return owner.elem
    if method in ("copy", "union", "intersection", "difference"):
        return Seq(None, owner.elem, owner.type)
    if method in ("index", "remove"):
        held, asked = tensor_of(owner.elem), tensor_of(first)
        if held is not None and asked is not None and not (owner.elts and owner.elts[0] is first):
            call.note("test tensor", asked)  # each is compared with it
    if method in ("index", "count", "numel"):
        return INT
    if owner.type in MODULES and method == "children":
        return Seq(None, owner.elem, "generator")
    if owner.type in MODULES and method == "named_children":
        return Seq(None, Seq([STR, owner.elem], None, "tuple"), "generator")
    if owner.type in MODULES and method in NAMING:
        return Seq(
            None,
            Seq([NAME, Tensor(None, None) if "modules" not in method else UNKNOWN], None, "tuple"),
            "generator",
        )
    return UNKNOWN


def dictionary_method(method: str, owner: Dict, first: Value, call: Call) -> Value:
    asked = call.node.args[0] if isinstance(call.node, ast.Call) and call.node.args else None
    items = owner.beginning(start_of(asked))
    known = [*items, *([] if owner.elem is UNKNOWN and owner.items else [owner.elem])]
    over_all = method in ("items", "values")
    everything = join_all(known)
    if owner.keywords or not over_all or not any(isinstance(one, Tensor) for one in known):
        everything = mixed(everything, owner.keywords and not (owner.listed and over_all))
    if method in ("get", "pop", "setdefault"):
        if isinstance(first, Py) and (isinstance(first.const, str) or (owner.items and not items)):
            if first.const in owner.items:
                return owner.items[first.const]
            if not owner.items and owner.elem is UNKNOWN:
                return UNKNOWN
            default = call.args[1] if len(call.args) > 1 else NONE
            return default if owner.elem is UNKNOWN else mixed(join(default, owner.elem))
        if method == "get" and everything is not UNKNOWN:
            return join(call.args[1] if len(call.args) > 1 else NONE, everything)
        return everything
    if method == "values":
        return Seq(None, everything, "generator")
    key = owner.key if owner.key is NAME or owner.key is WRAPPED_NAME else STR
    if method == "keys":
        return Seq(None, key, "generator")
    if method == "items":
        return Seq(None, Seq([key, everything], None, "tuple"), "generator")
    if method == "update" and isinstance(first, Dict):
        owner.items.update(first.items)
        if first.elem is not UNKNOWN:
            owner.elem = join(owner.elem, first.elem)
        owner.items.update({k: v for k, v in call.kwargs.items() if k != "**"})
        return NONE
    if method == "copy":
        return owner.copy()
    return UNKNOWN


LIBRARY = Library(
    "builtins",
    given="anything",
    closed=True,
    returns={
        **dict.fromkeys(("builtins.id", "builtins.hash", "builtins.ord"), "int"),
        "builtins.callable": "bool",
        **dict.fromkeys(("builtins.format", "builtins.chr", "builtins.input"), "str"),
        "builtins.print": "none",
        "builtins.range": "range",
        "builtins.type": "any",
    },
    types={
        f"builtins.{n}": n
        for n in ("int", "float", "bool", "str", "bytes", "list", "tuple", "set", "frozenset", "dict")
    },
    roles={
        "indifferent": ("builtins.print",),
        "base of numbers": ("builtins.int", "builtins.float"),
        "base of texts": ("builtins.str",),
        "prints": ("builtins.print",),
        "says": ("builtins.print",),
        "passes items": ("builtins.enumerate", "builtins.iter"),
        "counts items": ("builtins.enumerate",),
        "goes over items": tuple(
            f"builtins.{n}" for n in "list tuple set sorted zip map filter any all sum max min next".split()
        ),
        "asks for the next": ("builtins.next",),
        "puts where there is none": ("builtins.dict.setdefault",),
        "property": ("builtins.property",),
        "static method": ("builtins.staticmethod",),
        "class method": ("builtins.classmethod",),
        "asks for a type": ("builtins.isinstance",),
        "tells the type": ("builtins.type",),
        "decides by type": ("builtins.isinstance", "builtins.callable", "builtins.hasattr"),
        "text": ("builtins.str",),
        "assertion error": ("builtins.AssertionError",),
        "missing key": ("builtins.KeyError",),
        "import error": ("builtins.ImportError", "builtins.ModuleNotFoundError"),
        "runtime error": ("builtins.RuntimeError", "builtins.Exception", "builtins.BaseException"),
        "looks": tuple(
            f"builtins.{n}"
            for n in "len str int float bool getattr hasattr repr format ord sorted list".split()
        ),
        "grows": ("builtins.list.append", "builtins.list.extend", "builtins.list.insert"),
        "fills": (
            *(f"builtins.list.{n}" for n in ("append", "extend", "insert")),
            *("builtins.set.add", "builtins.dict.setdefault", "builtins.dict.update"),
        ),
        "shrinks": tuple(f"builtins.list.{n}" for n in SHRINKS),
    },
    sizes=dict.fromkeys(("builtins.range", "builtins.slice"), (ALL, ())),
    handlers={
        "builtins.callable": is_callable,
        "builtins.hasattr": has_attribute,
        "builtins.issubclass": subclass_check,
        "builtins.len": length,
        "builtins.type": class_of,
    },
    otherwise=called,
    measured="matrix/constructs/containers.py, matrix/constructs/python_code.py",
)
