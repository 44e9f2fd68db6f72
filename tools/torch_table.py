"""Write pt2lint/libraries/torch_table.json: what each public torch function, Tensor method and module returns.

    python tools/torch_table.py            write the table of the torch that runs this
    python tools/torch_table.py --check    exit status 1 if the committed table differs

Return types come from torch's own stubs and annotations; the class of a returned tensor's dtype, what a flag
changes, in-place identity and whether Dynamo has to read data are measured by calling the function on small
CPU tensors. Never edit the table by hand.

"returns" maps a qualified name to one of

    tensor                      of a dtype that depends on the arguments
    tensor:bool :int :float     of that class for any real input, unless `dtype` is passed
    tensors, tensors:N          a tuple or list of tensors (of N)
    tuple(A,B,...)              a mixed tuple;  A|B either, as in tensor|none
    self                        the tensor it is called on (or was given first), changed in place
    bool int float number str list dtype device none
    array                       of numpy;  packed: a PackedSequence
    size                        torch.Size or a tuple of ints
    data:bool, data:list ...    a Python value that is read out of a tensor's data
    any                         something else

or, where a parameter decides, to {"": VALUE, "PARAMETER": [POSITION, VALUE], ...}: the VALUE under a
parameter's name is returned if that argument is given (and not False or None; nor, for "dim", a tensor).
POSITION counts from 0, without self for methods; null if keyword-only. Flags that are both set add up:
torch.unique then returns three tensors.

"fields" names the parts of what functions return that give a named tuple.
"attributes" says the same of what is read rather than called, as torch.Tensor.shape.
"modules" maps a public torch.nn class to what calling an instance returns, in the same words, or "container".
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import json
import logging
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.distributed
import torch.utils.checkpoint
from torch import nn

TABLE = Path(__file__).parent.parent / "pt2lint" / "libraries" / "torch_table.json"
TORCH = Path(torch.__file__).parent

# Namespaces whose functions are pure: these are called to see what they return.
CALLED = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
    "torch.nn.init": torch.nn.init,
    "torch.nn.utils.rnn": torch.nn.utils.rnn,
}
# Namespaces that are only read.
READ = {
    "torch.autograd": torch.autograd,
    "torch.backends.cuda": torch.backends.cuda,
    "torch.compiler": torch.compiler,
    "torch.cuda": torch.cuda,
    "torch.distributed": torch.distributed,
    "torch.func": torch.func,
    "torch.jit": torch.jit,
    "torch.nn.utils": torch.nn.utils,
    "torch.utils.checkpoint": torch.utils.checkpoint,
}
# Called for what they change, not for what they return; or they need files, threads or the like; or they are
# raw kernels that trust their arguments.
NOT_CALLED = re.compile(
    r"set_|sym_|.*manual_seed|seed$|initial_seed|save$|load$|from_file|backward|register_|init_num|share_memory|.*_cuda_"
    r"|embedding_bag|embedding_renorm|fbgemm|mkldnn|miopen|cudnn|quantized|rnn_|lstm|gru|sparse_|max_pool\d+d_with"
    r"|compile|use_deterministic|cuda$|xpu$|ipu$|hpu$|mtia$|pin_memory|requires_grad|thread|vmap|cond|while_loop"
)
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
CLASSES = {
    "Tensor": ("TensorBase", "Tensor"),
    "Size": ("Size",),
    "device": ("device",),
    "dtype": ("dtype",),
    "finfo": ("finfo",),
    "iinfo": ("iinfo",),
}
SIMPLE = {
    "Tensor": "tensor",
    "Parameter": "tensor",
    "Buffer": "tensor",
    "_TensorBase": "tensor",
    "TensorBase": "tensor",
    "LongTensor": "tensor:int",
    "bool": "bool",
    "_bool": "bool",
    "TypeIs": "bool",
    "TypeGuard": "bool",
    "int": "int",
    "_int": "int",
    "SymInt": "int",
    "float": "float",
    "_float": "float",
    "Number": "number",
    "_complex": "number",
    "complex": "number",
    "str": "str",
    "Size": "size",
    "_size": "size",
    "dtype": "dtype",
    "_dtype": "dtype",
    "device": "device",
    "_device": "device",
    "None": "none",
    "PackedSequence": "packed",
    "ndarray": "array",
}
PYTHON = ("bool", "int", "float", "number", "str", "size", "list")
# Breaks whose reason is that the value stands in the tensor's data.
DATA_BREAKS = ("gb0033", "gb0036", "gb0109", "gb0124", "gb0170")


Each = Callable[[str, Any, "list[Overload]", bool, bool], Any]


@dataclass(frozen=True)
class Parameter:
    name: str
    annotation: str
    default: str | None  # source text, None if the parameter is required
    position: int | None


@dataclass(frozen=True)
class Overload:
    parameters: tuple[Parameter, ...]
    returns: str

    @property
    def required(self) -> list[Parameter]:
        return [p for p in self.parameters if p.default is None]


# ---------------------------------------------------------------- reading stubs and sources


@cache
def definitions(path: Path) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file, "name" or "Class.name", overloads together."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for name, node in walk(ast.parse(path.read_text()).body, ""):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(name, []).append(node)
    # An implementation after its overloads says nothing that they do not say.
    for nodes in found.values():
        overloads = [n for n in nodes if any("overload" in ast.unparse(d) for d in n.decorator_list)]
        if overloads:
            nodes[:] = overloads
    return found


@cache
def attributes(path: Path) -> dict[str, str]:
    """The annotated attributes of the classes of a file, as "Class.name"."""
    return {
        name: says(node.annotation)
        for name, node in walk(ast.parse(path.read_text()).body, "")
        if isinstance(node, ast.AnnAssign) and "." in name
    }


def walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id, node
        elif isinstance(node, ast.ClassDef) and not prefix:
            yield from walk(node.body, node.name + ".")
        elif isinstance(node, ast.If):
            yield from walk(node.body, prefix)
            yield from walk(node.orelse, prefix)


def overload(node: ast.FunctionDef, method: bool) -> Overload:
    a = node.args
    positional = a.posonlyargs + a.args
    defaults = [None] * (len(positional) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    parameters = [
        Parameter(p.arg, ast.unparse(p.annotation) if p.annotation else "", default, n - method)
        for n, (p, default) in enumerate(zip(positional, defaults, strict=True))
    ][method:]
    if a.vararg:
        annotation = ast.unparse(a.vararg.annotation) if a.vararg.annotation else ""
        parameters.append(Parameter("*" + a.vararg.arg, annotation, None, None))
    for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        text = ast.unparse(p.annotation) if p.annotation else ""
        parameters.append(Parameter(p.arg, text, ast.unparse(d) if d else None, None))
    return Overload(tuple(parameters), says(node.returns) if node.returns else "any")


def says(node: ast.expr) -> str:
    """An annotation in the table's words."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return "none"
        return says(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else "any"
    if isinstance(node, ast.BinOp):
        return either([says(node.left), says(node.right)])
    if isinstance(node, ast.Attribute):
        if ast.unparse(node.value).endswith("return_types"):
            return f"tensors:{getattr(torch.return_types, node.attr).n_fields}"
        return SIMPLE.get(node.attr, "any")
    if isinstance(node, ast.Name):
        return SIMPLE.get(node.id, "any")
    if isinstance(node, ast.Subscript):
        head = ast.unparse(node.value).rsplit(".", 1)[-1].lower().lstrip("_")
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head in ("typeis", "typeguard"):
            return "bool"
        if head == "optional":
            return either([says(items[0]), "none"])
        if head == "union":
            return either([says(i) for i in items])
        if head in ("list", "sequence", "iterable", "iterator") or (
            head == "tuple" and len(items) == 2 and ast.unparse(items[1]) == "..."
        ):
            inner = says(items[0])
            return {"tensor": "tensors", "int": "size"}.get(inner, "any")
        if head == "tuple":
            return tuple_of([says(i) for i in items])
    return "any"


def either(values: Iterable[str]) -> str:
    parts = list(dict.fromkeys(itertools.chain.from_iterable(top_level(v) for v in values)))
    if "number" in parts:
        parts = [p for p in parts if p not in ("int", "float", "bool")]
    return "any" if "any" in parts else "|".join(parts)


def top_level(value: str) -> list[str]:
    """Split A|B, but not inside tuple(...)."""
    return re.findall(r"(?:[^|(]|\([^)]*\))+", value)


def tuple_of(values: list[str]) -> str:
    return f"tensors:{len(values)}" if set(values) == {"tensor"} else f"tuple({','.join(values)})"


def overloads_of(name: str, function: Any) -> list[Overload]:
    """What stubs or the source say of a function in a torch namespace."""
    own = name.rsplit(".", 1)[1]
    if name.startswith("torch.nn.functional.") and own in definitions(TORCH / "nn" / "functional.pyi"):
        return [overload(n, False) for n in definitions(TORCH / "nn" / "functional.pyi")[own]]
    function = inspect.unwrap(function)
    if isinstance(function, types.FunctionType):
        path = Path(function.__code__.co_filename)
        nodes = definitions(path).get(function.__name__, []) if path.exists() else []
        if nodes:
            return [overload(n, False) for n in nodes]
    elif name.count(".") == 1:
        for stub in ("_VariableFunctions.pyi", "__init__.pyi"):
            nodes = definitions(TORCH / "_C" / stub).get(own, [])
            if nodes:
                return [overload(n, False) for n in nodes]
    # Builtins of torch.linalg, torch.fft and torch.special are described by their docstring alone.
    head = re.match(r"\s*(?:[\w.]*\.)?\w+\((.*?)\) *-> *(.+)", inspect.getdoc(function) or "", re.S)
    if head:
        return [described(head[1], head[2].split("\n")[0])]
    nodes = definitions(TORCH / "_C" / "_VariableFunctions.pyi").get(own, [])
    if nodes:
        return [overload(n, False) for n in nodes]
    # Made by a factory, as torch.unique_consecutive is: the method tells.
    this = Parameter("input", "Tensor", None, 0)
    return [
        Overload(
            (
                this,
                *(replace(p, position=None if p.position is None else p.position + 1) for p in o.parameters),
            ),
            o.returns,
        )
        for o in (overload(n, True) for n in definitions(TORCH / "_tensor.py").get(f"Tensor.{own}", []))
    ]


def described(parameters: str, returns: str) -> Overload:
    """The signature line of a docstring, as `A, *, atol=None, out=None` and `(Tensor, Tensor)`."""
    found = []
    keyword_only = False
    for n, text in enumerate(re.split(r",\s*(?![^()\[]*[)\]])", parameters.strip())):
        name, _, default = text.strip().partition("=")
        keyword_only |= name.startswith("*")
        if name.isidentifier():
            found.append(Parameter(name, "", default or None, None if keyword_only else n))
    text = returns.strip().rstrip(".").replace("Tensors", "Tensor")
    if re.fullmatch(r"\((\w+ *)?Tensor[\w ]*(, *(\w+ *)?Tensor[\w ]*)+\)", text):
        says = f"tensors:{text.count(',') + 1}"
    else:
        says = SIMPLE.get(text, "any")
    return Overload(tuple(found), says)


# ---------------------------------------------------------------- calling

SHAPES = ((2, 2), (2,), (3, 2, 2), (), (1, 2, 4, 4), (1, 1, 2, 4, 4))
MODES = (
    (torch.float32, torch.float32),
    (torch.int64, torch.int64),
    (torch.bool, torch.bool),
    (torch.float32, torch.int64),
    (torch.int64, torch.float32),
)
INDEX = re.compile(r"ind|repeats|target$|lengths|offsets|boundar|min_length")
MASK = re.compile(r"mask|cond")
UNMADE = object()


def argument(p: Parameter, shape: tuple[int, ...], number: int, dtype: torch.dtype) -> Any:
    note = p.annotation
    tensor = torch.ones(shape).to(dtype)
    if INDEX.search(p.name) and ("Tensor" in note or not note):
        tensor = torch.zeros(shape, dtype=torch.int64)
    elif MASK.search(p.name):
        tensor = torch.ones(shape, dtype=torch.bool)
    if re.search(r"(Sequence|[Tt]uple|[Ll]ist)\[Tensor", note) or p.name in ("tensors", "*tensors"):
        return [tensor, tensor.clone()]
    if "Tensor" in note or (not note and p.name not in ("dim", "dims", "n", "size", "kernel_size")):
        return tensor
    if "dtype" in note:
        return torch.float32
    if re.search("size|Sequence|[Tt]uple|[Ll]ist|kernel_size|size$", note + p.name) and "int" in note + "int":
        return [number] * max(1, len(shape) - 2)
    if "int" in note or p.name in ("dim", "n", "k"):
        return number
    if "bool" in note:
        return True
    if "Number" in note:
        return 0.5 if dtype.is_floating_point else 1 if dtype == torch.int64 else True
    if "float" in note:
        return 0.5
    return UNMADE


def calls(o: Overload, method: bool, modes: tuple[torch.dtype, torch.dtype]) -> Iterator[tuple[list, dict]]:
    """Arguments to try: every shape and a few numbers for what the overload requires."""
    counts = any("int" in p.annotation or "size" in p.annotation or not p.annotation for p in o.required)
    for shape, number in itertools.product(SHAPES, (1, 0, 2) if counts else (1,)):
        first, rest = modes
        args: list[Any] = [torch.ones(shape).to(first)] if method else []
        kwargs: dict[str, Any] = {}
        for p in o.required:
            value = argument(p, shape, number, rest if args else first)
            if p.name.startswith("*"):
                args += value if isinstance(value, list) else [value]
            elif p.position is None:
                kwargs[p.name] = value
            else:
                args.append(value)
        if UNMADE not in map(id_or_value, [*args, *kwargs.values()]):
            yield args, kwargs


def id_or_value(value: Any) -> Any:
    return value if value is UNMADE else None


def attempt(function: Any, o: Overload, method: bool, modes: Any = MODES[0], **more: Any) -> tuple | None:
    """The first call that works: (result, args, kwargs)."""
    for args, kwargs in calls(o, method, modes):
        try:
            result = function(*args, **kwargs, **more)
        except Exception:
            continue
        if result is not NotImplemented:
            return result, args, kwargs
    return None


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except Exception:
        return None


def dtype_class(result: torch.Tensor) -> str:
    if result.dtype in (torch.bool, torch.uint8):
        return "bool" if result.dtype == torch.bool else "byte"
    return "float" if result.is_floating_point() or result.is_complex() else "int"


def observed(result: Any) -> str:
    """A result in the table's words, without what one call cannot show."""
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, tuple | list) and result:
        if all(isinstance(r, torch.Tensor) for r in result):
            return f"tensors:{len(result)}" if hasattr(result, "n_fields") else "tensors"
        return tuple_of([observed(r) for r in result]) if isinstance(result, tuple) else "list"
    if isinstance(result, Iterator):
        return observed(tuple(result))
    for kind, word in ((torch.Size, "size"), (torch.dtype, "dtype"), (torch.device, "device")):
        if isinstance(result, kind):
            return word
    return SIMPLE.get(type(result).__name__, "none" if result is None else "any")


def measured_class(function: Any, overloads: list[Overload], method: bool) -> str:
    """ ":bool", ":int" or ":float" if every call that works returns that class, else ""."""
    classes = set()
    for o in overloads:
        if any("dtype" in p.annotation for p in o.required):
            return ""
        for modes in MODES:
            done = attempt(function, o, method, modes)
            if done and isinstance(done[0], torch.Tensor):
                classes.add(dtype_class(done[0]))
            if len(classes) > 1:
                return ""
    return ":" + classes.pop() if classes else ""


def flags(function: Any, o: Overload, method: bool, base: str) -> dict[str, list]:
    """Boolean parameters that change what is returned, as `return_inverse` does."""
    found = {}
    for p in o.parameters:
        if p.default == "False":
            done = attempt(function, o, method, **{p.name: True})
            if done:
                kind = counted(done[0])
                if kind.partition(":")[0] != base.partition(":")[0]:
                    found[p.name] = [p.position, kind]
    return found


def counted(result: Any) -> str:
    kind = observed(result)
    if kind != "tensors":
        return kind
    # As many as the flags ask for, not as the data has: a tuple of several; nonzero's is one a dimension.
    return f"tensors:{len(result)}" if len(result) > 1 else "tensors"


def reads_data(function: Any, args: list, kwargs: dict) -> bool:
    """Whether Dynamo has to break because the value stands in a tensor's data."""
    torch._dynamo.reset()

    def caller(args: list, kwargs: dict) -> Any:
        return torch.zeros(1), function(*args, **kwargs)

    try:
        with torch._dynamo.error_on_graph_break(True):
            torch.compile(caller, backend="eager")(args, kwargs)
    except Exception as e:
        return any(gb in str(e) for gb in DATA_BREAKS)
    return False


# ---------------------------------------------------------------- the table


def callable_as(own: str, overloads: list[Overload], call: bool) -> tuple[list[Overload], bool]:
    """Ways to call a function, and whether to call it at all."""
    if not overloads and call:
        overloads = [Overload((Parameter(p, "", None, 0),), "any") for p in ("input", "tensors")]
    query = own.startswith("is_") and not any(o.required for o in overloads)
    return overloads, (call or query) and not NOT_CALLED.match(own)


def first_call(function: Any, overloads: list[Overload], method: bool) -> tuple | None:
    """The first call that works, on floats or else on ints: (result, args, kwargs)."""
    tries = (attempt(function, o, method, modes) for modes in MODES[:2] for o in overloads)
    return next(filter(None, tries), None)


def entry(name: str, function: Any, overloads: list[Overload], method: bool, call: bool) -> Any:
    own = name.rsplit(".", 1)[-1]
    kinds = list(dict.fromkeys(o.returns for o in overloads if o.returns != "any"))
    overloads, call = callable_as(own, overloads, call)
    done = first_call(function, overloads, method) if call else None
    inplace = own.endswith("_") and (not own.endswith("__") or re.match(r"__i(?!n[tv]|s|ter|ndex)\w+__", own))
    # `clip_grad_norm_` works in place on the gradients of what it is given, and returns their norm.
    of_one = not any(o.parameters and "or_tensors" in o.parameters[0].annotation for o in overloads)
    gives = "tensor" in kinds or (done and isinstance(done[0], torch.Tensor))
    if inplace and own != "__init__" and of_one and gives:
        if done and done[1] and isinstance(done[1][0], torch.Tensor) and done[0] is not done[1][0]:
            raise SystemExit(f"{name} is named as an in-place operation and returns another tensor")
        return "self"
    if not kinds:
        same = definitions(TORCH / "functional.py").get(own, []) if method else []
        kinds = [observed(done[0])] if done else [overload(n, False).returns for n in same[:1]] or ["any"]
    least = min(overloads, key=lambda o: len(o.required), default=None)
    base = least.returns if least and least.returns != "any" else kinds[0]
    optional = (
        {p.name for p in least.parameters if p.annotation not in ("None", "Literal[False]")} if least else ()
    )
    when: dict[str, list] = {}
    for o in overloads:
        if o.returns not in (base, "any"):
            for p in o.required:
                if p.name not in optional:
                    position = when.get(p.name, [p.position])[0]
                    when[p.name.lstrip("*")] = [p.position if position is None else position, o.returns]
    if least and done:
        when.update({k: v for k, v in flags(function, least, method, base).items() if k not in when})
    if done and least and any(p.name.startswith("*") for p in least.required) and base == "tensors":
        alone = outcome(function, torch.ones(2, 2))
        if isinstance(alone, torch.Tensor):
            base, when = "tensor", {"tensors": [1, "tensors"]}
    if base == "tensor" and call and not when.get("tensors"):
        base += measured_class(function, [o for o in overloads if o.returns in ("tensor", "any")], method)
    if done and base in PYTHON and any(isinstance(a, torch.Tensor) for a in done[1]):
        base = ("data:" if reads_data(function, done[1], done[2]) else "") + base
    return {"": base, **dict(sorted(when.items()))} if when else base


def functions(prefix: str, module: Any, call: bool, each: Each = entry) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a namespace holds; `each` says the value of a function."""
    for own in dir(module):
        value = getattr(module, own, None)
        if own.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        name = f"{prefix}.{own}"
        if inspect.isclass(value):
            if prefix != "torch":
                continue
            if issubclass(value, torch.Tensor) or own.endswith("Tensor"):
                yield name, "tensor"
            elif own in ("device", "dtype", "Size"):
                yield name, own.lower()
            continue
        home = getattr(value, "__module__", None) or prefix
        if home.split(".")[0] != "torch" or own.endswith("Type"):
            continue
        yield name, each(name, value, overloads_of(name, value), False, call)


def members(prefix: str, stub_classes: tuple[str, ...], each: Each = entry) -> Iterator[tuple[str, str, Any]]:
    """("returns" or "attributes", name, value) of a class, from its stub and for Tensor torch/_tensor.py."""
    stub, source = TORCH / "_C" / "__init__.pyi", TORCH / "_tensor.py"
    cls = getattr(torch, prefix.split(".")[1])
    for own in sorted(dir(cls)):
        private = own.startswith("_") and not own.startswith("__")
        if private or (hasattr(object, own) and own not in COMPARISONS):
            continue
        if own.startswith("__") and (not callable(getattr(cls, own)) or own.endswith("state__")):
            continue  # Python's own, which differ between its versions
        name = f"{prefix}.{own}"
        nodes: list[ast.FunctionDef] = []
        for path, c in itertools.product((stub, source), stub_classes):
            if f"{c}.{own}" in attributes(path):
                yield "attributes", name, attributes(path)[f"{c}.{own}"]
                break
            nodes = nodes or definitions(path).get(f"{c}.{own}", [])
        else:
            value = getattr(cls, own)
            overloads = [overload(n, True) for n in nodes]
            if not callable(value):
                yield "attributes", name, attribute(own) if prefix == "torch.Tensor" else overloads[0].returns
            elif prefix == "torch.Tensor":
                other = Parameter("other", "Tensor", None, 0)
                overloads = [o for o in overloads if not is_object(o)]
                overloads = overloads or [Overload((), "any"), Overload((other,), "any")]
                yield "returns", name, each(name, value, overloads, True, True)
            elif overloads and not own.startswith("__"):
                yield "returns", name, each(name, value, overloads, True, False)


def is_object(o: Overload) -> bool:
    """`__eq__(self, other: object) -> bool` is there for type checkers only."""
    return any(p.annotation == "object" for p in o.parameters)


def attribute(own: str) -> str:
    return observed(outcome(getattr, torch.ones(2, 2), own))


def is_module(value: Any, base: Any = nn.Module) -> bool:
    return isinstance(value, type) and issubclass(value, base)


def modules() -> Iterator[tuple[str, str]]:
    rnn, x = torch.ones(1, 2, 2), torch.ones(1, 2, 4, 4)
    # Modules whose forward has no return annotation, with arguments that show it.
    recipes = {
        "AdaptiveMaxPool1d": ((1,), (rnn,)),
        "AdaptiveMaxPool2d": ((1,), (x,)),
        "AdaptiveMaxPool3d": ((1,), (x,)),
        "AdaptiveLogSoftmaxWithLoss": ((2, 4, [2]), (torch.ones(1, 2), torch.zeros(1, dtype=torch.int64))),
        "FractionalMaxPool2d": ((2, 2), (x,)),
        "FractionalMaxPool3d": ((2, 2), (torch.ones(1, 1, 4, 4, 4),)),
        "GRU": ((2, 2), (rnn,)),
        "LSTM": ((2, 2), (rnn,)),
        "MaxPool1d": ((2,), (rnn,)),
        "MaxPool2d": ((2,), (x,)),
        "MaxPool3d": ((2,), (x,)),
        "RNN": ((2, 2), (rnn,)),
    }
    for own in dir(nn):
        cls = getattr(nn, own)
        if not is_module(cls) or cls is nn.Module:
            continue
        name = f"torch.nn.{own}"
        lists = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict, nn.Sequential)
        if cls is nn.Container or is_module(cls, lists):
            yield name, "container"
            continue
        source = inspect.getsourcefile(cls.forward) or ""
        nodes = definitions(Path(source)).get(cls.forward.__qualname__, [])
        found = either([overload(n, True).returns for n in nodes]) if nodes else "any"
        if own in recipes:
            made, given = recipes[own]
            found = counted_forward(cls(*made)(*given))
        yield name, "any" if found == "none" else found


def counted_forward(result: Any) -> str:
    if isinstance(result, tuple):
        return tuple_of([counted_forward(r) for r in result])
    return observed(result)


def table() -> dict[str, Any]:
    returns: dict[str, Any] = {}
    read: dict[str, str] = {}
    torch._logging.set_logs(dynamo=logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for prefix, module in CALLED.items():
            returns.update(functions(prefix, module, True))
        for prefix, module in READ.items():
            returns.update(functions(prefix, module, False))
        for prefix, stub_classes in CLASSES.items():
            for section, name, value in members(f"torch.{prefix}", stub_classes):
                (returns if section == "returns" else read)[name] = value
        found = dict(modules())
    return {
        "torch": torch.__version__.split("+")[0],
        "returns": dict(sorted(returns.items())),
        "attributes": dict(sorted(read.items())),
        "modules": dict(sorted(found.items())),
        "fields": fields(),
    }


def fields() -> dict[str, list[str]]:
    """The names of what functions return in a named tuple, as `torch.linalg.svd` in `torch.return_types.linalg_svd`."""
    made = vars(torch.return_types).items()
    return {
        "torch." + name.replace("linalg_", "linalg."): list(kind.__match_args__)
        for name, kind in sorted(made)
        if hasattr(kind, "n_fields") and not name.startswith("_") and not name.endswith("_out")
    }


def text(data: dict[str, Any]) -> str:
    """JSON with one entry a line."""

    def lines(entries: dict[str, Any]) -> str:
        return ",\n".join(
            f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in entries.items()
        )

    sections = (f"{json.dumps(k)}:{{\n{lines(v)}\n}}" for k, v in data.items() if k != "torch")
    return f'{{"torch":{json.dumps(data["torch"])},\n' + ",\n".join(sections) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the table of what torch's functions return.")
    parser.add_argument(
        "--check", action="store_true", help="compare with the committed table, write nothing"
    )
    new = text(table())
    if parser.parse_args().check:
        same = TABLE.read_text() == new
        print("the table is up to date" if same else "the table differs: run tools/torch_table.py")
        return 0 if same else 1
    TABLE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
