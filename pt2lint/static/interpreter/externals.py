"""What lies outside the project: torch, NumPy, the standard library, einops; what it returns and what it notes."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.torch_types import DTYPES, TYPED_TENSORS
from pt2lint.static.observers.misuse import Misuse
from pt2lint.static.values import (
    BOOL,
    CONSTANT,
    FLOAT,
    INT,
    LEAF,
    MAX_ALTERNATIVES,
    NO_CONST,
    NONE,
    OBJECT,
    STR,
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
    Union,
    Value,
    Wrapped,
    is_none,
    join,
    join_all,
    mixed,
    options,
    tensor_of,
    truth,
)

# What draws random numbers, by the last part of its name in torch.
RANDOM = frozenset(
    "rand randn randint randperm rand_like randn_like randint_like bernoulli bernoulli_ multinomial normal normal_ "
    "uniform_ exponential_ poisson dropout dropout_ dropout1d dropout2d dropout3d alpha_dropout feature_dropout "
    "feature_alpha_dropout rrelu gumbel_softmax".split()
)
RANDOM_MODULES = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RReLU".split()
)
# Which arguments are Python numbers, or sequences of them: sizes, and values that no tensor can give. Positions
# are without the receiver.
ALL = tuple(range(8))
SIZES: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    **{f"torch.{n}": (ALL, ("size",)) for n in ("zeros", "ones", "empty", "rand", "randn")},
    **{
        f"torch.{n}": (ALL, ("start", "end", "step", "steps", "n", "m"))
        for n in ("arange", "linspace", "eye")
    },
    "torch.full": ((0,), ("size",)),
    "torch.full_like": ((1,), ("fill_value",)),
    **{f"torch.{n}": ((), ("alpha",)) for n in ("add", "sub", "Tensor.add", "Tensor.sub")},
    "torch.randint": ((0, 1, 2), ("low", "high", "size")),
    "torch.randperm": ((0,), ("n",)),
    **{
        f"torch.Tensor.{n}": (ALL, ("size", "shape", "sizes", "repeats"))
        for n in (
            "view",
            "reshape",
            "expand",
            "repeat",
            "new_zeros",
            "new_ones",
            "new_empty",
            "resize_",
            "tile",
        )
    },
    "torch.Tensor.new_full": ((0, 1), ("size", "fill_value")),
    "torch.reshape": ((1,), ("shape",)),
    "torch.broadcast_to": ((1,), ("size",)),
    "torch.tile": ((1,), ("dims",)),
    "torch.linspace": ((2,), ("steps",)),
    "torch.Tensor.narrow": ((1, 2), ("start", "length")),
    "torch.narrow": ((2, 3), ("start", "length")),
    "torch.Tensor.select": ((1,), ("index",)),
    "torch.select": ((2,), ("index",)),
    "torch.Tensor.roll": ((0,), ("shifts",)),
    "torch.roll": ((1,), ("shifts",)),
    "torch.Tensor.tensor_split": ((0,), ("indices_or_sections", "tensor_indices_or_sections")),
    "torch.tensor_split": ((1,), ("indices_or_sections", "tensor_indices_or_sections")),
    "torch.Tensor.split": ((0,), ("split_size",)),
    "torch.split": ((1,), ("split_size_or_sections",)),
    "torch.Tensor.unfold": ((1, 2), ("size", "step")),
    "torch.Tensor.topk": ((0,), ("k",)),
    "torch.topk": ((1,), ("k",)),
    "torch.nn.functional.pad": ((1, 3), ("pad", "value")),
    "torch.nn.functional.dropout": ((1,), ("p",)),
    "torch.nn.functional.leaky_relu": ((1,), ("negative_slope",)),
    "torch.nn.functional.one_hot": ((1,), ("num_classes",)),
    "torch.nn.functional.interpolate": ((1,), ("size",)),
    "builtins.range": (ALL, ()),
}
# Methods and functions of the standard library and friends whose result matters.
RESULTS: dict[str, Value] = {
    "torch.compiler.is_compiling": Py("bool", True),
    "torch.compiler.is_dynamo_compiling": Py("bool", True),
    "torch._dynamo.is_compiling": Py("bool", True),
    "torch._utils.is_compiling": Py("bool", True),
    "torch.compiler.is_exporting": Py("bool", False),
    "torch.jit.is_scripting": Py("bool", False),
    "torch.jit.is_tracing": Py("bool", False),
    "torch._C._get_tracing_state": NONE,
    "torch.Tensor.untyped_storage": Instance(None, "torch.UntypedStorage"),
    "torch.onnx.is_in_onnx_export": Py("bool", False),
    "torch.are_deterministic_algorithms_enabled": BOOL,
    "builtins.len": INT,
    "builtins.id": INT,
    "builtins.hash": INT,
    "builtins.ord": INT,
    "builtins.hasattr": BOOL,
    "builtins.callable": BOOL,
    "builtins.issubclass": BOOL,
    "builtins.format": STR,
    "builtins.chr": STR,
    "builtins.input": STR,
    "builtins.print": NONE,
    "builtins.range": Seq(None, INT, "range"),
    "builtins.type": UNKNOWN,
    "time.time": FLOAT,
    "time.perf_counter": FLOAT,
    "random.random": FLOAT,
    "random.gauss": FLOAT,
    "os.getenv": STR,
    "torch.device": Py("device"),
    "torch.Size": Seq(None, INT, "tuple"),
    "torch.finfo": OBJECT,
    "torch.iinfo": OBJECT,
    "numpy.finfo": OBJECT,
    # Context managers that rules know by name.
    **{
        name: Instance(None, name)
        for name in (
            "torch.backends.cudnn.flags",
            "torch.backends.cuda.sdp_kernel",
            "torch.random.fork_rng",
            "torch.autograd.detect_anomaly",
            "torch.autograd.set_detect_anomaly",
            "torch.autograd.graph.saved_tensors_hooks",
            "torch.autograd.graph.save_on_cpu",
            "contextlib.redirect_stdout",
            "contextlib.redirect_stderr",
            "contextlib.closing",
            "contextlib.suppress",
            "decimal.localcontext",
            "torch._dynamo.config.patch",
            "contextlib.ExitStack",
        )
    },
}
# Constructors of external objects that rules know by the name of their type.
MAKES = {
    "logging.getLogger": "logging.Logger",
    "contextvars.ContextVar": "contextvars.ContextVar",
    "threading.Lock": "threading.Lock",
    "threading.RLock": "threading.RLock",
    "builtins.open": "io.TextIOWrapper",
    "re.compile": "re.Pattern",
    "torch.Generator": "torch.Generator",
}
# NumPy functions that give plain Python objects or that this pass does not follow.
NUMPY_PLAIN = ("numpy.dtype", "numpy.issubdtype", "numpy.ndim", "numpy.shape", "numpy.size")
# What numpy.ndarray has that torch.Tensor has too.
NDARRAY = frozenset(
    "T all any argmax argmin argsort copy cumprod cumsum data device diagonal dot dtype fill flatten imag item "
    "itemsize mT max mean min nbytes ndim nonzero prod put ravel real repeat reshape round size sort squeeze std sum "
    "swapaxes take tolist trace transpose var view".split()
)
KEEP_FIRST = (
    "einops.rearrange",
    "einops.repeat",
    "einops.reduce",
    "einops.einsum",
    "einx.",
    "torch.jit.annotate",
    "torch.utils.checkpoint.checkpoint",
)


class Externals(Misuse):
    def sorts(
        self, args: list[Value], kwargs: dict[str, Value], receiver: Value | None = None
    ) -> dict[int | str, str]:
        found: dict[int | str, str] = {i: self.sort(a) for i, a in enumerate(args)}
        found.update({k: self.sort(v) for k, v in kwargs.items()})
        if receiver is not None:
            found["self"] = self.sort(receiver)
            if isinstance(receiver, Tensor) and receiver.leaf == LEAF:
                found["input"] = "self"
        return found

    def first_is_tensor(self, name: str) -> bool:
        """Whether the function's first argument must be a tensor."""
        if name.startswith(("einops.rearrange", "einops.repeat", "einops.reduce")):
            return True
        if name.startswith("torch.nn.functional."):
            return name in self.types.returns
        if not name.startswith("torch.") or name not in self.types.returns:
            return False
        last = name.rsplit(".", 1)[-1]
        words = self.types.returns[name]
        if isinstance(words, dict):
            words = words.get("", "")
        # A torch function that is also a method takes its tensor first.
        return f"torch.Tensor.{last}" in self.types.returns and words.startswith("tensor")

    def call_external(
        self, func: Ext, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame
    ) -> Value:
        name, receiver = func.name, func.receiver
        self.last_external, self.last_call = name, node
        if name == "torch.nn.Parameter" and args and isinstance(args[0], Tensor) and args[0].leaf != LEAF:
            if self.listens("make torch.nn.Parameter", frame):
                self.note(node, "make torch.nn.Parameter", frame, about=args[0])
        # `frame.inside` and the rest of the place are the caller's.
        if self.listens(f"call {name}", frame):
            about = tensor_of(receiver) if receiver is not None else None
            if about is None:
                about = next((t for t in map(tensor_of, args) if t is not None), None)
            if about is not None and about is not receiver:
                # torch takes tensors; what `float` or `math.sqrt` is given may be anything; others do not care.
                if name.startswith(("torch.", "numpy.")):
                    about = about.but(sure=True)
                elif not name.startswith(("math.", "builtins.", "copy.")) or name == "builtins.print":
                    about = None
            self.note(node, f"call {name}", frame, about=about, args=self.sorts(args, kwargs, receiver))
        method = name.rsplit(".", 1)[-1]
        if (
            method in RANDOM
            and name.startswith("torch.")
            and truth(kwargs.get("training", UNKNOWN)) is not False
        ):
            self.drawn.append((name, getattr(node, "lineno", 0)))
        self.used(receiver, f"{method} in region" if frame.region else method)
        self.sizes(name, args, kwargs, node, frame)
        handler = self._handlers.get(name)
        if handler is not None:
            return handler(self, args, kwargs, node, frame, receiver)
        known = RESULTS.get(name)
        if known is not None:
            return known
        origin = (frame.module.path, getattr(node, "lineno", 0), f"`{short(name)}` returns a tensor")
        if name.startswith("torch."):
            return self.call_torch(name, args, kwargs, node, frame, receiver, origin)
        if name.startswith("numpy."):
            return self.call_numpy(name, args, origin, receiver)
        if name.startswith("builtins."):
            return self.call_builtin(name, args, kwargs, node, frame, receiver)
        if name.startswith("math."):
            return (
                FLOAT
                if name not in ("math.floor", "math.ceil", "math.gcd", "math.prod", "math.isqrt")
                else INT
            )
        if name.startswith(KEEP_FIRST) or name.split(".")[0] in ("einops", "einx"):
            return self.keep_first(args, origin)
        made = MAKES.get(name)
        if made is not None:
            return Instance(None, made)
        if name.startswith(("logging.Logger.", "warnings.")):
            return NONE
        if name.rsplit(".", 1)[-1][:1].isupper() and receiver is None:
            return Instance(None, name)
        return UNKNOWN

    def keep_first(self, args: list[Value], origin: Any) -> Value:
        value = args[0] if args else UNKNOWN
        tensor = tensor_of(value.elem if isinstance(value, Seq) else value)
        return Tensor(tensor.dtype, origin, tensor.sure) if tensor is not None else UNKNOWN

    # torch

    def tensor_attribute(self, owner: Tensor, name: str, node: ast.expr, frame: Frame) -> Value:
        if owner.array and name not in NDARRAY and f"torch.Tensor.{name}" in self.types.returns:
            owner = owner.but(array=False)  # what no array has: it must be a tensor
        if owner.array:
            if name in ("shape",):
                return Seq(None, INT, "tuple")
            if name in ("ndim", "size", "itemsize"):
                return INT
            return (
                Tensor(owner.dtype, owner.origin, owner.sure, True)
                if name in ("T", "real", "imag", "flat")
                else Ext(f"numpy.ndarray.{name}", owner)
            )
        full = f"torch.Tensor.{name}"
        words = self.types.attributes.get(full)
        if words is not None:
            if name in ("grad", "grad_fn"):
                return (
                    UNKNOWN
                    if name == "grad_fn"
                    else join(NONE, Tensor(owner.dtype, owner.origin, owner.sure))
                )
            value = self.types.value(words, owner.origin, owner.sure, owner)
            return Tensor(owner.dtype, owner.origin, owner.sure) if isinstance(value, Tensor) else value
        return Ext(full, owner)

    def call_torch(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        receiver: Value | None,
        origin: Any,
    ) -> Value:
        if name in self.types.modules:
            if self.listens("make torch.nn.Module", frame) and name not in TYPED_TENSORS:
                self.note(
                    node, "make torch.nn.Module", frame, args={**self.sorts(args, kwargs), "made": name}
                )
            return self.make_torch_module(name, args, kwargs)
        if name in TYPED_TENSORS:
            return Tensor(TYPED_TENSORS[name], origin)
        if name == "torch.nn." and {"bidirectional", "num_layers", "batch_first"} & set(kwargs):
            return Instance(None, "torch.nn.LSTM")  # `getattr(nn, kind)(...)`: one of the recurrent modules
        if name.startswith("torch.nn.Module."):
            return self.call_module_method(name[16:], args, kwargs, node, frame, receiver)
        if name.startswith("torch.autograd.Function."):
            return NONE
        value = self.types.call(name, args, kwargs, origin, receiver)
        if value is None:
            if name.startswith(("torch.optim.", "torch.utils.data.")) and receiver is None:
                return self.external_object(name, args, kwargs, node, frame)
            last = name.rsplit(".", 1)[-1]
            if last[:1].isupper() and receiver is None:
                return Instance(None, name)
            if name.startswith(("torch.ops.",)):
                return UNKNOWN
            return UNKNOWN
        if isinstance(value, Tensor) and receiver is not None and isinstance(receiver, Tensor):
            if not receiver.sure and value.sure:
                value = Tensor(value.dtype, value.origin, False)
        value = self.literal_dtype(name, args, kwargs, value)
        if isinstance(value, Tensor):
            value.ndim = result_ndim(name, args, kwargs, receiver)
            if name in ("torch.tensor", "torch.as_tensor") and args and tensor_of(args[0]) is None:
                known = args[0].elts if isinstance(args[0], Seq) else [args[0]]
                # Dynamo knows the values of a constant tensor of one element, and what is computed of it.
                value.leaf = CONSTANT if known is not None and len(known) == 1 else 0
            elif receiver is None and args and "rand" not in name and all(isinstance(a, Py) for a in args):
                value.leaf = CONSTANT
        elif isinstance(value, Seq) and name.rsplit(".", 1)[-1] in ("topk", "sort", "max", "min"):
            first = receiver if isinstance(receiver, Tensor) else (args[0] if args else None)
            if isinstance(first, Tensor) and value.elts:
                less = 0 if name.endswith(("topk", "sort")) else 1
                ndim = first.ndim - less if first.ndim else None
                value.elts = [v.but(ndim=ndim) if isinstance(v, Tensor) else v for v in value.elts]
        return value

    def literal_dtype(self, name: str, args: list[Value], kwargs: dict[str, Value], value: Value) -> Value:
        """The dtype class of a factory's result, where its arguments tell."""
        if not isinstance(value, Tensor) or value.dtype is not None:
            return value
        dtype: str | None = None
        if name in (
            "torch.zeros",
            "torch.ones",
            "torch.empty",
            "torch.rand",
            "torch.randn",
            "torch.linspace",
            "torch.eye",
        ):
            dtype = None if "dtype" in kwargs else "float"
        elif (
            name in ("torch.arange", "torch.full", "torch.tensor", "torch.as_tensor")
            and "dtype" not in kwargs
        ):
            probe = args[1] if name == "torch.full" and len(args) > 1 else (args[0] if args else UNKNOWN)
            while isinstance(probe, Seq):
                probe = probe.elem
            if isinstance(probe, Py) and probe.type in ("bool", "int", "float"):
                dtype = probe.type
            elif isinstance(probe, Tensor):
                dtype = probe.dtype
        elif name in ("torch.where",) and len(args) == 3:
            kinds = {a.dtype if isinstance(a, Tensor) else None for a in args[1:]}
            dtype = kinds.pop() if len(kinds) == 1 else None
        return Tensor(dtype, value.origin, value.sure, value.array) if dtype else value

    def make_torch_module(self, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        last = name.rsplit(".", 1)[-1]
        if last in ("Sequential", "ModuleList", "ParameterList"):
            if last == "ParameterList":
                return Seq(None, Tensor("float", None), last)
            if last == "ModuleList":
                first = args[0] if args else kwargs.get("modules")
                if isinstance(first, Seq):
                    return Seq(list(first.elts) if first.elts is not None else None, first.elem, last)
                return Seq([] if first is None else None, UNKNOWN, last)
            if len(args) == 1 and isinstance(args[0], (Seq, Dict)):
                inner = args[0]
                if isinstance(inner, Dict):
                    return Seq(list(inner.items.values()) or None, inner.elem, last)
                return Seq(list(inner.elts) if inner.elts is not None else None, inner.elem, last)
            return Seq(list(args), None, last)
        if last in ("ModuleDict", "ParameterDict"):
            first = args[0] if args else UNKNOWN
            if isinstance(first, Dict):
                return Dict(dict(first.items), first.elem)
            return Dict({}, UNKNOWN if last == "ModuleDict" else Tensor("float", None))
        return Instance(None, name)

    def call_module_method(
        self,
        method: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        me: Value | None,
    ) -> Value:
        if (
            isinstance(me, Instance)
            and me.cls is not None
            and method in ("register_buffer", "register_parameter")
        ):
            name = args[0] if args else kwargs.get("name")
            value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", UNKNOWN))
            if isinstance(name, Py) and isinstance(name.const, str):
                tensor = tensor_of(value)
                phrase = f"`{name.const}` is a {'buffer' if method == 'register_buffer' else 'parameter'}"
                origin = (frame.module.path, getattr(node, "lineno", 0), phrase)
                if is_none(value) is not True:
                    dtype, ndim = (tensor.dtype, tensor.ndim) if tensor is not None else (None, None)
                    self.store(me, name.const, Tensor(dtype, origin, ndim=ndim, leaf=LEAF), frame)
                else:
                    self.store(me, name.const, NONE, frame)
            return NONE
        if method in ("parameters", "buffers"):
            return Seq(
                None,
                Tensor(None, (frame.module.path, getattr(node, "lineno", 0), "a parameter")),
                "generator",
            )
        if method in ("named_parameters", "named_buffers"):
            return Seq(None, Seq([STR, Tensor(None, None)], None, "tuple"), "generator")
        if method in ("get_parameter", "get_buffer"):
            return Tensor(None, None)
        if method in (
            "eval",
            "train",
            "to",
            "float",
            "half",
            "double",
            "bfloat16",
            "cuda",
            "cpu",
            "requires_grad_",
            "apply",
            "type",
        ):
            return me if me is not None else UNKNOWN
        if method == "compile" and isinstance(me, Instance):
            self.compiled_in_place(me, kwargs, node, frame)
            return NONE
        if method == "add_module" and isinstance(me, Instance) and len(args) == 2:
            if isinstance(args[0], Py) and isinstance(args[0].const, str) and me.cls is not None:
                self.store(me, args[0].const, args[1], frame)
            return NONE
        return UNKNOWN

    # NumPy: Dynamo traces it as torch

    def call_numpy(self, name: str, args: list[Value], origin: Any, receiver: Value | None) -> Value:
        if name.startswith(NUMPY_PLAIN):
            return OBJECT
        if name.startswith("numpy.ndarray."):
            last = name[14:]
            if last in ("item", "tolist"):
                return Py("float", read=True) if last == "item" else Seq(None, Py("float", read=True))
            dtype = receiver.dtype if isinstance(receiver, Tensor) else None
            leaf = receiver.leaf if isinstance(receiver, Tensor) else 0
            if last == "astype" and leaf:
                leaf = LEAF  # still known as a size, but `.item()` on it breaks
            return Tensor(
                dtype if last not in ("astype", "any", "all") else None, origin, True, True, None, leaf
            )
        last = name.rsplit(".", 1)[-1]
        if (
            last in ("float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool_", "int16")
            and not args
        ):
            return OBJECT
        if last[:1].isupper() or name.startswith(
            ("numpy.testing", "numpy.random.default_rng", "numpy.random.seed")
        ):
            return UNKNOWN
        # NumPy on Python numbers gives a constant that Dynamo nevertheless treats as a tensor.
        constant = not any(tensor_of(a) is not None and tensor_of(a).leaf != CONSTANT for a in args)  # type: ignore[union-attr]
        random = name.startswith("numpy.random.")
        return Tensor(
            None, origin, True, True, None, CONSTANT if constant and not random and last != "prod" else 0
        )

    # Sizes

    def sizes(self, name: str, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame) -> None:
        """Note a tensor that stands where a size is needed: Dynamo has to read it."""
        wanted = SIZES.get(name)
        if wanted is None or not self.listens("size tensor", frame):
            return
        positions, keywords = wanted
        given = [args[i] for i in positions if i < len(args)] + [kwargs[k] for k in keywords if k in kwargs]
        for value in given:
            parts = [value]
            if isinstance(value, Seq):
                parts = value.elts if value.elts is not None else [value.elem]
            for part in parts:
                tensor = part if isinstance(part, Tensor) else None
                # Of an input, Dynamo knows the number if it has no dimensions.
                if tensor is not None and (not tensor.leaf or tensor.ndim or name == "builtins.range"):
                    self.note(node, "size tensor", frame, about=tensor)
                    return

    # Builtins

    def element(self, value: Value) -> Value:
        """What iterating over the value gives."""
        if isinstance(value, Seq):
            return value.elem
        if isinstance(value, Tensor):
            return value.but(ndim=value.ndim - 1 if value.ndim else None, leaf=0)
        if isinstance(value, Dict):
            return STR if value.items and value.elem is UNKNOWN else UNKNOWN
        if isinstance(value, Union):
            return join_all(self.element(o) for o in value.options if is_none(o) is not True)
        if isinstance(value, Py) and value.type == "str":
            return STR
        return UNKNOWN

    def iterated(self, node: ast.expr, value: Value, frame: Frame) -> None:
        for o in options(value):
            if isinstance(o, Instance) and o.external and self.listens(f"iterate {o.external}", frame):
                self.note(node, f"iterate {o.external}", frame)

    def extend(self, target: Seq, value: Value) -> None:
        if isinstance(value, Seq) and value.elts is not None and target.elts is not None:
            target.elts = target.elts + value.elts
            target.elem = join_all(target.elts) if target.elts else UNKNOWN
        else:
            self.append(target, self.element(value))

    def append(self, target: Seq, value: Value) -> None:
        target.elem = value if target.elts == [] or target.elem is UNKNOWN else join(target.elem, value)
        target.elts = None

    def call_builtin(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: Any,
        frame: Frame,
        receiver: Value | None,
    ) -> Value:
        parts = name.split(".")
        if name in ("builtins.sorted", "builtins.list.sort") and "key" in kwargs:
            things = self.element(args[0] if receiver is None and args else receiver or UNKNOWN)
            by = tensor_of(self.apply(kwargs["key"], [things], {}, node, frame))
            if by is not None and self.listens("sort by tensor", frame):
                self.note(node, "sort by tensor", frame, about=by)
        if receiver is not None and len(parts) == 3:
            return self.container_method(parts[2], receiver, args, kwargs)
        first = args[0] if args else UNKNOWN
        tensor = tensor_of(first)
        last = parts[1]
        if last in ("list", "tuple", "set", "frozenset", "reversed", "iter"):
            kind = last if last not in ("reversed", "iter") else "list"
            if not args:
                return Seq([], None, kind)
            if isinstance(first, Seq):
                elts = list(first.elts) if first.elts is not None else None
                if elts is not None and last == "reversed":
                    elts.reverse()
                return Seq(elts, first.elem, kind)
            return Seq(None, self.element(first), kind)
        if last == "sorted":
            return Seq(None, self.element(first), "list")
        if last == "dict":
            if isinstance(first, Dict):
                return Dict({**first.items, **kwargs}, first.elem)
            return Dict({k: v for k, v in kwargs.items() if k != "**"}, UNKNOWN)
        if last == "enumerate":
            return Seq(None, Seq([INT, self.element(first)], None, "tuple"), "generator")
        if last == "zip":
            return Seq(None, Seq([self.element(a) for a in args], None, "tuple"), "generator")
        if last == "map":
            result = self.apply(first, [self.element(a) for a in args[1:]], {}, node, frame)
            return Seq(None, result, "generator")
        if last == "filter":
            kept = tensor_of(self.apply(first, [self.element(a) for a in args[1:]], {}, node, frame))
            if kept is not None and self.listens("test tensor", frame):
                self.note(node, "test tensor", frame, about=kept)
            return Seq(None, self.element(args[1]) if len(args) > 1 else UNKNOWN, "generator")
        if last in ("any", "all"):
            inner = tensor_of(self.element(first)) if not isinstance(first, Tensor) else first
            if inner is not None and self.listens("test tensor", frame):
                self.note(node, "test tensor", frame, about=inner)
            return BOOL
        if last == "bool":
            if tensor is not None and self.listens("test tensor", frame):
                self.note(node, "test tensor", frame, about=tensor)
            known = truth(first) if args else False
            return BOOL if known is None else Py("bool", known)
        if last in ("int", "float", "complex"):
            return Py(last, read=tensor is not None)
        if last in ("str", "repr", "ascii"):
            if tensor is not None and self.listens("format tensor", frame):
                self.note(node, "format tensor", frame, about=tensor)
            return STR
        if last in ("max", "min"):
            values = args if len(args) > 1 else [self.element(first)]
            found = next((t for t in map(tensor_of, values) if t is not None), None)
            if found is not None:
                return found.but(leaf=0)
            return join_all(Py(v.type) if isinstance(v, Py) else v for v in values)
        if last == "sum":
            inner_value = self.element(first)
            found = tensor_of(inner_value)
            if found is not None:
                return Tensor(
                    found.dtype if found.dtype != "bool" else "int", found.origin, found.sure, found.array
                )
            return Py(inner_value.type) if isinstance(inner_value, Py) else UNKNOWN
        if last in ("abs", "round", "pow", "divmod"):
            return tensor if tensor is not None else (Py(first.type) if isinstance(first, Py) else UNKNOWN)
        if last == "next":
            return self.element(first)
        if last == "isinstance" and len(args) == 2:
            if isinstance(first, Wrapped) and first.how == "compiled" and isinstance(args[1], (Class, Seq)):
                if self.listens("isinstance of compiled", frame):
                    self.note(
                        node, "isinstance of compiled", frame, args=self.sorts([first.inner, args[1]], {})
                    )
            kinds = args[1].elts if isinstance(args[1], Seq) and args[1].elts is not None else [args[1]]
            names = [k.name if isinstance(k, Ext) else "" for k in kinds]
            if all(names):
                answers = {self.is_instance(o, tuple(names)) for o in options(first)}
                if len(answers) == 1:
                    known = answers.pop()
                    return BOOL if known is None else Py("bool", known)
            return BOOL
        if last == "getattr" and len(args) >= 2:
            if isinstance(args[1], Py) and isinstance(args[1].const, str):
                value = self.attribute_of(first, args[1].const, node, frame)
                if len(args) > 2 and truth(self.h_hasattr(args[:2], {}, node, frame, None)) is True:
                    return value
                if len(args) > 2:
                    if isinstance(value, Ext) and value.receiver is not None:
                        return UNKNOWN
                    return join(value, args[2]) if value is not UNKNOWN else UNKNOWN
                return value
            if isinstance(first, Instance) and first.cls is not None and isinstance(node, ast.Call):
                return self.chosen_method(first, node.args[1], frame)
            return Ext("torch.nn.") if isinstance(first, Ext) and first.name == "torch.nn" else UNKNOWN
        if last == "setattr" and len(args) == 3:
            if isinstance(args[1], Py) and isinstance(args[1].const, str) and isinstance(first, Instance):
                if first.cls is not None and first is frame.me:
                    self.store(first, args[1].const, args[2], frame)
            return NONE
        if last == "slice":
            return Py("slice")
        if last in ("vars", "locals", "globals"):
            return UNKNOWN
        return UNKNOWN

    def chosen_method(self, owner: Instance, name: ast.expr, frame: Frame) -> Value:
        """`getattr(self, f"reduce_{kind}")`: any of the methods whose names fit, where they are few."""
        pattern = name_pattern(name)
        if pattern is None or owner.cls is None:
            return UNKNOWN
        fits = {m for c in self.bases(owner.cls)[0] for m in c.methods if pattern.fullmatch(m)}
        if not 0 < len(fits) <= MAX_ALTERNATIVES:
            return UNKNOWN
        return join_all(self.attribute_of(owner, m, name, frame) for m in sorted(fits))

    def container_method(
        self, method: str, owner: Value, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        first = args[0] if args else UNKNOWN
        if isinstance(owner, Seq):
            if method in ("append", "add", "appendleft"):
                self.append(owner, first)
                return NONE
            if method == "insert" and len(args) == 2:
                self.append(owner, args[1])
                return NONE
            if method in ("extend", "update"):
                self.extend(owner, first)
                return NONE
            if method in ("pop", "popleft"):
                return owner.elem
            if method in ("copy", "union", "intersection", "difference"):
                return Seq(None, owner.elem, owner.type)
            if method in ("index", "count", "numel"):
                return INT
            return UNKNOWN
        if isinstance(owner, Dict):
            known = [*owner.items.values(), *([] if owner.elem is UNKNOWN and owner.items else [owner.elem])]
            everything = mixed(join_all(known), owner.keywords)
            if method in ("get", "pop", "setdefault"):
                if isinstance(first, Py) and isinstance(first.const, str):
                    if first.const in owner.items:
                        return owner.items[first.const]
                    if not owner.items and owner.elem is UNKNOWN:
                        return UNKNOWN
                    default = args[1] if len(args) > 1 else NONE
                    return default if owner.elem is UNKNOWN else mixed(join(default, owner.elem))
                return everything
            if method == "values":
                return Seq(None, everything, "generator")
            if method == "keys":
                return Seq(None, STR, "generator")
            if method == "items":
                return Seq(None, Seq([STR, everything], None, "tuple"), "generator")
            if method == "update" and isinstance(first, Dict):
                owner.items.update(first.items)
                if first.elem is not UNKNOWN:
                    owner.elem = join(owner.elem, first.elem)
                owner.items.update({k: v for k, v in kwargs.items() if k != "**"})
                return NONE
            if method == "copy":
                return Dict(dict(owner.items), owner.elem)
            return UNKNOWN
        if isinstance(owner, Py) and owner.type == "str":
            if method in ("split", "rsplit", "splitlines"):
                return Seq(None, STR, "list")
            if method.startswith(("is", "starts", "ends")):
                return BOOL
            if method == "encode":
                return Py("bytes")
            return INT if method in ("find", "index", "count") else STR
        return UNKNOWN

    # Functions with a life of their own

    def h_partial(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        if args and isinstance(args[0], Ext) and args[0].name in ("functools.wraps", "functools.lru_cache"):
            return UNKNOWN
        return Partial(args[0], args[1:], kwargs) if args else UNKNOWN

    def h_wraps(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return Ext("pt2lint.identity")

    def h_identity(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return args[0] if args else UNKNOWN

    def h_cache(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return args[0] if args and isinstance(args[0], (Func, Wrapped)) else Ext("pt2lint.identity")

    def h_compile(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        target = args[0] if args else kwargs.get("model")
        if target is None or is_none(target) is True:
            return Partial(Ext("torch.compile"), [], kwargs) if kwargs else Ext("torch.compile")
        self.compiled(target, node, frame)
        return self.compiled_as(Wrapped("compiled", target), kwargs)

    def h_parallel(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        """A compiled module in DistributedDataParallel: a call of that is a call of what was compiled."""
        inner = args[0] if args else kwargs.get("module", UNKNOWN)
        if isinstance(inner, Wrapped) and inner.how == "compiled":
            return inner
        return Instance(None, "torch.nn.parallel.DistributedDataParallel")

    def h_disable(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return Wrapped("disabled", args[0]) if args else Ext("torch.compiler.disable")

    def h_opaque(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return Wrapped("opaque", args[0]) if args and isinstance(args[0], Func) else Ext("torch.library.")

    def h_script(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        """Dynamo traces the function that was scripted (so on torch 2.6 to 2.15), but no scripted module."""
        scripted = args[0] if args else UNKNOWN
        return scripted if isinstance(scripted, Func) else self.h_opaque(args, kwargs, node, frame, receiver)

    def h_checkpoint(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return self.apply(args[0], args[1:], {}, node, frame) if args else UNKNOWN

    def h_cond(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        if len(args) < 3:
            return UNKNOWN
        operands = (
            args[3].elts if len(args) > 3 and isinstance(args[3], Seq) and args[3].elts is not None else []
        )
        before = len(self.drawn)
        value = join(
            self.apply(args[1], operands, {}, node, frame), self.apply(args[2], operands, {}, node, frame)
        )
        if len(self.drawn) > before and self.listens("draw in cond", frame):
            name, line = self.drawn[before]
            self.note(node, "draw in cond", frame, args={"draws": name, "line": str(line)})
        return value

    def h_tolist(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        dtype = receiver.dtype if isinstance(receiver, Tensor) else None
        return Seq(None, Py(dtype or "float", read=True), "list")

    def h_item(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        dtype = receiver.dtype if isinstance(receiver, Tensor) else None
        return Py(dtype or "float", read=True)

    def h_numpy(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        if isinstance(receiver, Tensor):
            return Tensor(receiver.dtype, receiver.origin, receiver.sure, True)
        return UNKNOWN

    def h_from_numpy(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        t = tensor_of(args[0]) if args else None
        return Tensor(
            t.dtype if t else None,
            (frame.module.path, getattr(node, "lineno", 0), "`torch.from_numpy` returns a tensor"),
        )

    def h_deepcopy(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        return args[0] if args else UNKNOWN

    def h_random(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        # Dynamo draws the number at run time and traces it as a tensor of no dimensions.
        return Tensor(
            None,
            (frame.module.path, getattr(node, "lineno", 0), "a random number is traced as a tensor"),
            True,
            True,
            0,
        )

    def h_is_tensor(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        answers = {self.is_instance(o, ("torch.Tensor",)) for a in args[:1] for o in options(a)}
        known = answers.pop() if len(answers) == 1 else None
        return BOOL if known is None else Py("bool", known)

    def h_hasattr(
        self, args: list[Value], kwargs: dict[str, Value], node: Any, frame: Frame, receiver: Any
    ) -> Value:
        if (
            len(args) == 2
            and isinstance(args[0], Ext)
            and isinstance(args[1], Py)
            and args[0].name.startswith("torch")
        ):
            prefix = f"{args[0].name}.{args[1].const}"
            if prefix in RESULTS or any(
                n == prefix or n.startswith(prefix + ".") for n in self.types.returns
            ):
                return Py("bool", True)
        return BOOL

    _handlers: dict[str, Any] = {
        "functools.partial": h_partial,
        "functools.wraps": h_wraps,
        "pt2lint.identity": h_identity,
        "functools.lru_cache": h_cache,
        "functools.cache": h_cache,
        "torch.compile": h_compile,
        "torch.compiler.compile": h_compile,
        "torch.nn.parallel.DistributedDataParallel": h_parallel,
        "torch.compiler.disable": h_disable,
        "torch._dynamo.disable": h_disable,
        "torch.jit.script": h_script,
        "torch.library.custom_op": h_opaque,
        "torch.compiler.allow_in_graph": h_opaque,
        "torch.utils.checkpoint.checkpoint": h_checkpoint,
        "torch.cond": h_cond,
        "torch._higher_order_ops.cond": h_cond,
        "torch.Tensor.tolist": h_tolist,
        "torch.Tensor.item": h_item,
        "torch.Tensor.numpy": h_numpy,
        "torch.from_numpy": h_from_numpy,
        "builtins.hasattr": h_hasattr,
        "torch.is_tensor": h_is_tensor,
        "random.randint": h_random,
        "random.randrange": h_random,
        "random.uniform": h_random,
        "random.Random.randint": h_random,
        "random.Random.randrange": h_random,
        "random.Random.random": h_random,
        "random.Random.uniform": h_random,
        "copy.deepcopy": h_deepcopy,
        "copy.copy": h_deepcopy,
        "typing.cast": lambda self, args, kwargs, node, frame, receiver: (
            args[1] if len(args) > 1 else UNKNOWN
        ),
    }


_REDUCE = frozenset(
    "sum mean prod max min argmax argmin any all std var norm median amax amin logsumexp nansum nanmean "
    "count_nonzero".split()
)
_SAME = frozenset(
    "abs neg relu gelu silu sigmoid tanh exp log sqrt rsqrt sin cos clamp clone detach to float double half bfloat16 "
    "long int bool contiguous softmax log_softmax cumsum cumprod sort argsort transpose permute masked_fill type_as "
    "type floor ceil round isnan isinf isfinite logical_not dropout layer_norm normalize flip roll zeros_like "
    "ones_like rand_like randn_like full_like empty_like eq ne lt le gt ge add sub mul div pow fmod remainder square "
    "repeat expand_as view_as cpu cuda t tril triu".split()
)
_SIZED = frozenset("zeros ones empty rand randn".split())


def result_ndim(name: str, args: list[Value], kwargs: dict[str, Value], receiver: Value | None) -> int | None:
    """The number of dimensions of what a torch function returns, where the call shows it."""
    last = name.rsplit(".", 1)[-1]
    if receiver is None and last in _SIZED:
        return _count(args, kwargs.get("size"))
    if receiver is None and last in ("arange", "linspace", "randperm", "logspace"):
        return 1
    if last in ("view", "reshape", "expand", "new_zeros", "new_ones", "new_empty"):
        return _count(args if receiver is not None else args[1:], kwargs.get("shape") or kwargs.get("size"))
    if last in ("tensor", "as_tensor") and args:
        depth, value = 0, args[0]
        while isinstance(value, Seq):
            depth, value = depth + 1, value.elem
        return depth if isinstance(value, Py) else None
    if last in ("randint", "full") and (args or "size" in kwargs):
        sizes = [a for a in args if isinstance(a, Seq)]
        return _count(sizes[:1], kwargs.get("size"))
    base = receiver if receiver is not None else (args[0] if args else None)
    rest = args if receiver is not None else args[1:]
    if not isinstance(base, Tensor):
        return None
    if last in _REDUCE:
        dim = kwargs.get("dim", kwargs.get("axis", rest[0] if rest else None))
        if dim is None or is_none(dim) is True:
            return 0 if not rest else None
        keep = kwargs.get("keepdim", rest[1] if len(rest) > 1 else None)
        if base.ndim is None or isinstance(dim, Tensor):
            return None
        if keep is not None:
            return base.ndim if truth(keep) is True else None
        if isinstance(dim, Seq):
            return base.ndim - len(dim.elts) if dim.elts is not None else None
        return base.ndim - 1
    if last == "flatten" and not rest and not kwargs:
        return 1
    if base.ndim is None:
        return None
    if last == "unsqueeze":
        return base.ndim + 1
    return base.ndim if last in _SAME else None


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


def _count(sizes: Sequence[Value], size: Value | None) -> int | None:
    """How many sizes are given, as several numbers or as one sequence."""
    if size is not None:
        sizes = [size]
    if len(sizes) == 1 and isinstance(sizes[0], Seq):
        return len(sizes[0].elts) if sizes[0].elts is not None else None
    return len(sizes) if len(sizes) > 1 or (sizes and isinstance(sizes[0], (Py, Tensor))) else None


def short(name: str) -> str:
    """torch.Tensor.sum -> Tensor.sum; torch.nn.functional.relu -> F.relu's full name stays."""
    return name[6:] if name.startswith("torch.Tensor.") else name


__all__ = ["DTYPES", "NO_CONST", "Class", "Externals"]
