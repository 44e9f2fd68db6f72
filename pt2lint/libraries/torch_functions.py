"""torch's functions: what they return, which arguments are sizes, which numbers they make constants of the graph."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.libraries.torch_numbers import NUMBERS, UNCAPTURED
from pt2lint.libraries.torch_table import table
from pt2lint.said import told_line, told_place
from pt2lint.static.values import (
    BOOL,
    CONSTANT,
    SHORT,
    UNKNOWN,
    Ext,
    Py,
    Seq,
    Tensor,
    Value,
    element,
    is_none,
    join,
    options,
    tensor_of,
    truth,
)

ALL = tuple(range(8))
F = "torch.nn.functional."
# What draws random numbers, by the last part of its name.
RANDOM = (
    "rand randn randint randperm rand_like randn_like randint_like bernoulli bernoulli_ multinomial normal normal_ "
    "uniform_ exponential_ poisson dropout dropout_ dropout1d dropout2d dropout3d alpha_dropout feature_dropout "
    "feature_alpha_dropout rrelu gumbel_softmax"
).split()
FLOAT_FACTORIES = frozenset("zeros ones empty rand randn linspace eye".split())
# What these make of numbers of Python is no constant to Dynamo, unlike a result of arithmetic (`torch.div(n, 2)`).
FACTORIES = FLOAT_FACTORIES | frozenset("arange full logspace range scalar_tensor".split())
# The number of dimensions: of what reduces, and of what keeps the shape.
REDUCE = frozenset(
    "sum mean prod max min argmax argmin any all std var norm median amax amin logsumexp nansum nanmean "
    "count_nonzero".split()
)
SAME = frozenset(
    "abs neg relu gelu silu sigmoid tanh exp log sqrt rsqrt sin cos clamp clone detach to float double half bfloat16 "
    "long int bool contiguous softmax log_softmax cumsum cumprod sort argsort transpose permute masked_fill type_as "
    "type floor ceil round isnan isinf isfinite logical_not dropout layer_norm normalize flip roll zeros_like "
    "ones_like rand_like randn_like full_like empty_like square cpu cuda t tril triu conj conj_physical resolve_conj "
    "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift".split()
)
BROADCASTING = frozenset("eq ne lt le gt ge add sub mul div pow fmod remainder".split())
WHY_GAPS = "Dynamo takes no `out=` that lies in memory with gaps"
WITHOUT_GAPS = "Assign what it returns instead: `rows[:, 0] = torch.add(x, y)`"
FILLED = "`torch.empty(size).fill_(value)` takes a tensor: give it the dtype and the device of the value"
FOUND = ("values", "indices")  # what functions return that say where they found it
SIZED = frozenset("zeros ones empty rand randn".split())
FUNCTIONAL = (
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum istft "
    "meshgrid norm split stft tensordot unique unique_consecutive"
)
SEEDING = "manual_seed manual_seed_all seed seed_all initial_seed get_rng_state set_rng_state"
MAKING = ("torch.tensor", "torch.as_tensor")  # a tensor, of anything
JOINING = ("stack", "cat", "concat")  # one tensor, of several
AS_NUMPY = {"axis": "dim", "keepdims": "keepdim"}  # what torch takes under NumPy's names, too
# Where torch has these from.
HOMES = {
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.functional.Tensor": "torch.Tensor",
    "torch.cuda.amp.grad_scaler.GradScaler": "torch.cuda.amp.GradScaler",
    "torch.random.initial_seed": "torch.initial_seed",
    "torch.serialization.load": "torch.load",
    "torch.serialization.save": "torch.save",
    **{f"torch.functional.{name}": f"torch.{name}" for name in FUNCTIONAL.split()},
    **{f"torch.cuda.random.{name}": f"torch.cuda.{name}" for name in SEEDING.split()},
}


def called(call: Call) -> Value:
    """A function or method that the table lists; the table's word, made exact by the arguments."""
    name, args, receiver = call.name, call.args, call.receiver
    kwargs = {AS_NUMPY.get(key, key): given for key, given in call.kwargs.items()}
    value = table().call(name, args, kwargs, call.origin(), receiver)
    if value is None:
        return made_or_unknown(call)
    if "out" in kwargs and has_gaps(call):
        call.note("call breaking", details={"why": WHY_GAPS, "instead": WITHOUT_GAPS})
    if isinstance(value, Tensor) and receiver is not None and isinstance(receiver, Tensor):
        if not receiver.sure and value.sure:
            value = Tensor(value.dtype, value.origin, False)
    last = name.rsplit(".", 1)[-1]
    if name in MAKING and isinstance(value, Tensor) and not value.sure:
        value = value.but(sure=True)  # whatever it is made of
    value = literal_dtype(name, args, kwargs, value)
    if isinstance(value, Tensor) and last in JOINING and args:
        parts = [tensor_of(o) for o in options(element(args[0]))]
        origins = [t.origin for t in parts if t is not None and made_of_numbers(t)]
        if origins and len(origins) == len(parts):
            value.origin = origins[0]  # which says where they were numbers of Python
    if isinstance(value, Tensor):
        value.ndim = result_ndim(last, args, kwargs, receiver)
        dtype = kwargs.get("dtype")
        value.short = isinstance(dtype, Py) and dtype.const in SHORT
        if name in MAKING and args and tensor_of(args[0]) is None:
            known = args[0].elts if isinstance(args[0], Seq) else [args[0]]
            # Dynamo knows the values of a constant tensor of one element, and what is computed of it.
            value.leaf = CONSTANT if known is not None and len(known) == 1 else 0
        elif "rand" not in name and last not in FACTORIES and is_made_of_constants(args, kwargs, receiver):
            value.leaf = CONSTANT
    elif isinstance(value, Seq) and value.fields == FOUND and value.elts:
        given = [one for one in (receiver, kwargs.get("input"), *args) if one is not None]
        first, *more = given or [UNKNOWN]
        if isinstance(first, Tensor):
            kept = last in ("topk", "sort", "cummax", "cummin")
            unclear = not kept and ("keepdim" in kwargs or len(more) > (2 if last == "kthvalue" else 1))
            ndim = None if unclear or not first.ndim else first.ndim - (not kept)
            dtypes = (first.dtype, "int")
            value.elts = [
                v.but(ndim=ndim, dtype=dtype) if isinstance(v, Tensor) else v
                for v, dtype in zip(value.elts, dtypes, strict=True)
            ]
    return value


def made_of_numbers(tensor: Tensor) -> bool:
    """Whether it is known to be made of Python's numbers."""
    return tensor.origin is not None and tensor.origin[2] in {f"`{name}` returns a tensor" for name in MAKING}


def has_gaps(call: Call) -> bool:
    """Whether `out=` is given what lies in memory with gaps: `rows.T`, `rows[:, 0]`, `rows[:, 2:4]`. One that begins
    with a number, or that ends where nobody can tell, may have none."""
    given = next((k.value for k in getattr(call.node, "keywords", ()) if k.arg == "out"), None)
    if isinstance(given, ast.Call):
        given = given.func
        return isinstance(given, ast.Attribute) and given.attr in ("t", "transpose")
    if isinstance(given, ast.Attribute):
        return given.attr in ("T", "mT")
    if not isinstance(given, ast.Subscript) or not isinstance(given.slice, ast.Tuple) or not given.slice.elts:
        return False
    first, *rest = given.slice.elts
    whole = isinstance(first, ast.Slice) or (isinstance(first, ast.Constant) and first.value is ...)
    return whole and any(map(is_place, rest))


def is_place(part: ast.expr) -> bool:
    """A number, or a slice with numbers: `0`, `2:4`, `1:`."""
    bounds = [part.lower, part.upper] if isinstance(part, ast.Slice) else [part]
    return any(isinstance(b, ast.Constant) and isinstance(b.value, int) and b.value for b in bounds) or (
        isinstance(part, ast.Constant) and part.value == 0 and part.value is not False
    )


def is_made_of_constants(args: list[Value], kwargs: dict[str, Value], receiver: Value | None) -> bool:
    """Whether a call is given numbers of Python, or constant tensors and nothing but settings beside them."""
    if receiver is None and args and all(isinstance(a, Py) for a in args):
        return True
    given = [*args, *kwargs.values()] if receiver is None else [receiver, *args, *kwargs.values()]
    tensors = [v for v in given if isinstance(v, Tensor)]
    settings = all(isinstance(v, (Py, Ext, Tensor)) for v in given)
    return settings and bool(tensors) and all(t.leaf == CONSTANT for t in tensors)


def literal_dtype(name: str, args: list[Value], kwargs: dict[str, Value], value: Value) -> Value:
    """The dtype class of a factory's result, where its arguments tell."""
    if not isinstance(value, Tensor) or value.dtype is not None:
        return value
    dtype: str | None = None
    if name.startswith("torch.") and name[6:] in FLOAT_FACTORIES:
        dtype = None if "dtype" in kwargs else "float"
    elif name in ("torch.arange", "torch.full", "torch.tensor", "torch.as_tensor") and "dtype" not in kwargs:
        probe = args[1] if name == "torch.full" and len(args) > 1 else (args[0] if args else UNKNOWN)
        while isinstance(probe, Seq):
            probe = probe.elem
        if isinstance(probe, Py) and probe.type in ("bool", "int", "float"):
            dtype = probe.type
        elif isinstance(probe, Tensor):
            dtype = probe.dtype
    elif name == "torch.where" and len(args) == 3:
        kinds = {a.dtype if isinstance(a, Tensor) else None for a in args[1:]}
        dtype = kinds.pop() if len(kinds) == 1 else None
    return Tensor(dtype, value.origin, value.sure, value.array) if dtype else value


def result_ndim(last: str, args: list[Value], kwargs: dict[str, Value], receiver: Value | None) -> int | None:
    """The number of dimensions of what a torch function returns, where the call shows it."""
    if receiver is None and last in SIZED:
        return _count(args, kwargs.get("size"))
    if receiver is None and last in ("arange", "linspace", "randperm", "logspace"):
        return 1
    if last == "combinations" or (last == "cartesian_prod" and len(args) > 1):
        return 2
    if last == "einsum" and args and isinstance(args[0], Py) and isinstance(args[0].const, str):
        named = args[0].const.partition("->")
        return len(named[2].replace(" ", "")) if named[1] and "." not in named[2] else None
    if last in ("view", "reshape", "expand", "repeat", "permute", "new_zeros", "new_ones", "new_empty"):
        size = kwargs.get("shape") or kwargs.get("size") or kwargs.get("dims")
        count = _count(args if receiver is not None else args[1:], size)
        if count is not None or last != "permute":
            return count
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
    if last in JOINING and isinstance(base, Seq) and isinstance(base.elem, Tensor):
        each = base.elem.ndim
        return each if each is None else each + (last == "stack")
    if not isinstance(base, Tensor):
        return None
    if last in REDUCE:
        dim = kwargs.get("dim", rest[0] if rest else None)
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
    if last in ("expand_as", "view_as"):
        return rest[0].ndim if rest and isinstance(rest[0], Tensor) else None
    if last in BROADCASTING:
        counts = [t.ndim for t in (base, *rest) if isinstance(t, Tensor)]
        return None if None in counts else max(n for n in counts if n is not None)
    if base.ndim is None:
        return None
    if last == "unsqueeze":
        return base.ndim + 1
    return base.ndim if last in SAME else None


def _count(sizes: Sequence[Value], size: Value | None) -> int | None:
    """How many sizes are given, as several numbers or as one sequence."""
    if size is not None:
        sizes = [size]
    if len(sizes) == 1 and isinstance(sizes[0], Seq):
        return len(sizes[0].elts) if sizes[0].elts is not None else None
    return len(sizes) if len(sizes) > 1 or (sizes and isinstance(sizes[0], (Py, Tensor))) else None


def traced(call: Call) -> Value:
    """`checkpoint(f, x)`, `map(f, xs)`: `f` is traced as a graph of its own, with what comes after it."""
    return call.trace(call.args[0], call.args[1:]) if call.args else UNKNOWN


def hooked(call: Call) -> Value:
    """`y.register_hook(clip)`: the hook of what compiled code computed is traced, those of its inputs are not."""
    tensor = tensor_of(call.receiver) if call.receiver is not None else None
    if call.args and call.frame.region and tensor is not None and not tensor.leaf:
        call.trace(call.args[0], [Tensor(tensor.dtype, call.origin("a hook is given a gradient"))])
    return UNKNOWN


def cond(call: Call) -> Value:
    """Either branch may run; neither may draw random numbers for the other's sake."""
    args = call.args
    if len(args) < 3:
        return UNKNOWN
    operands = args[3].elts if len(args) > 3 and isinstance(args[3], Seq) and args[3].elts is not None else []
    before = len(call.drawn())
    value = join(call.trace(args[1], operands), call.trace(args[2], operands))
    if len(call.drawn()) > before:
        name, path, line = call.drawn()[before]
        where = f"line {told_line(line)}" if path == call.frame.module.path else told_place(path, line)
        call.note("draw in cond", details={"draws": name, "where": where})
    return value


def repeated(call: Call) -> Value:
    """while_loop(asks, does, values): both are given the values, and what the one returns is given to both again."""
    args = call.args
    values = args[2].elts if len(args) > 2 and isinstance(args[2], Seq) and args[2].elts is not None else None
    if values is None:
        return UNKNOWN
    call.trace(args[0], values)
    return call.trace(args[1], values)


def scanned(call: Call) -> Value:
    """scan(f, start, xs) and associative_scan(f, xs, dim): f is given what there is so far, and the next of them."""
    if len(call.args) < 2:
        return UNKNOWN
    start, each = call.args[1], call.args[1 if call.name.endswith("associative_scan") else 2 :][:1]
    call.trace(call.args[0], [start, *each])
    return UNKNOWN


def from_numpy(call: Call) -> Value:
    t = tensor_of(call.args[0]) if call.args else None
    return Tensor(t.dtype if t else None, call.origin("`torch.from_numpy` returns a tensor"))


def filled(call: Call) -> Value:
    """torch.full(size, t) with a tensor as its value."""
    value = tensor_of(call.args[1] if len(call.args) > 1 else call.kwargs.get("fill_value", UNKNOWN))
    if value is not None and value.sure:
        words = {"why": "before torch 2.10 it reads the tensor that it fills with", "until": "2.10"}
        call.note("call breaking", value, details={**words, "instead": FILLED})
    return called(call)


def is_tensor(call: Call) -> Value:
    kind = (call.models.named("tensor"),)
    answers = {call.is_instance(o, kind) for a in call.args[:1] for o in options(a)}
    known = answers.pop() if len(answers) == 1 else None
    return BOOL if known is None else Py("bool", known)


HIGHER = "torch._higher_order_ops."
# They raise where what they run breaks: the first two on 2.6, 2.9, 2.13 and 2.15, the others from 2.9 on
# (tests/static/test_own_graphs.py).
INSISTING = ("cond", "while_loop", "scan", "associative_scan", "map", "map.map")
MODES = ("torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.inference_mode")
# Context managers that decorate functions too, and that Dynamo does not enter then (measured on 2.13).
DECORATING = (
    "torch.set_grad_enabled",
    "torch.backends.cudnn.flags",
    "torch.backends.cuda.sdp_kernel",
    "torch.random.fork_rng",
    "torch._dynamo.config.patch",
)

UNTRACED = (
    (
        "torch.jit",
        "script trace",
        "TorchScript compiles apart from Dynamo: do it before the compiled code runs",
    ),
    ("torch.fx", "symbolic_trace", "another tracer runs inside: do it before the compiled code runs"),
    ("torch.func", "linearize", "Dynamo does not trace it; `torch.func.jvp` is traced"),
    (
        "torch.nn.utils.stateless",
        "functional_call",
        "Dynamo does not trace it; `torch.func.functional_call` is traced",
    ),
    ("torch.nn.utils.rnn", "unpad_sequence", "how long the sequences are is in a tensor"),
    (
        "torch.quasirandom",
        "SobolEngine",
        "Dynamo does not trace it: make it before, and draw before the compiled call",
    ),
    (
        "torch.nn.utils.prune",
        "identity l1_unstructured random_unstructured ln_structured random_structured custom_from_mask",
        "it adds a hook to a module: prune before the compiled code runs",
    ),
    ("torch.nn.utils.fusion", "fuse_conv_bn_eval", "it copies modules: fuse them where the model is made"),
    ("torch.func", "stack_module_state", "it makes tensors that require gradients: call it before"),
    ("torch.autograd.graph", "register_multi_grad_hook", "it hands Python's function to the autograd engine"),
    ("torch.nn.utils", "skip_init", "it makes a module: make it where the model is made"),
    ("torch.Tensor", "apply_ map_ map2_", "it calls a function of Python for each element"),
    ("torch.Tensor", "_is_view sparse_dim", "Dynamo has no answer of its own for it"),
    ("torch.cpu", "current_device is_available", "Dynamo has no answer of its own for it"),
    ("torch.accelerator", "device_count", "Dynamo has no answer of its own for it"),
    ("torch.backends.mha", "set_fastpath_enabled", "it sets what other code reads"),
)
LIBRARY = Library(
    "torch",
    given="tensors",
    closed=True,
    objects=True,
    returns={
        "torch.jit.is_scripting": "false",
        "torch.jit.is_tracing": "false",
        "torch._C._is_tracing": "false",
        "torch._C._get_tracing_state": "none",
        "torch.onnx.is_in_onnx_export": "false",
        "torch.are_deterministic_algorithms_enabled": "bool",
        "torch.device": "device",
        "torch.Size": "size",
        "torch.Generator.manual_seed": "instance torch.Generator",
        "torch.finfo": "object",
        "torch.iinfo": "object",
        "torch.backends.cudnn.flags": "instance torch.backends.cudnn.flags",
        "torch.backends.cuda.sdp_kernel": "instance torch.backends.cuda.sdp_kernel",
        "torch.random.fork_rng": "instance torch.random.fork_rng",
        "torch.cuda.nvtx.range": "instance torch.cuda.nvtx.range",
        **{name: f"instance {name}" for name in MODES},
    },
    constants={
        **dict.fromkeys(("torch.pi", "torch.inf", "torch.nan"), "float"),
        **dict.fromkeys(("torch.__version__", "torch.version.__version__"), "release"),
    },
    roles={
        "asks for gradients": ("torch.is_grad_enabled",),
        "asks for a GPU": ("torch.cuda.is_available", "torch.Tensor.is_cuda"),
        "wants a gradient": ("torch.Tensor.requires_grad",),
        # Measured on 2.6, 2.9, 2.13 and 2.15, as are `largest` of topk and `keepdim` of sum.
        "refuses symbolic flags": (f"{F}scaled_dot_product_attention",),
        "insists on its graph": (
            "torch.cond",
            "torch.while_loop",
            *(f"{HIGHER}{name}" for name in INSISTING),
        ),
        "group of processes": ("torch.distributed.ProcessGroup",),
        "asks for processes": (
            "torch.distributed.is_initialized",
            "torch.distributed.get_world_size",
        ),
        "repeats": ("torch.repeat_interleave", "torch.Tensor.repeat_interleave"),
        "picks by mask": ("torch.masked_select", "torch.Tensor.masked_select"),
        "writes files": ("torch.save",),
        "makes a leaf": ("torch.Tensor.requires_grad_",),
        "register": ("torch.ops",),
        "saves tensors": ("torch.save",),
        "pickles": ("torch.save",),
        "loads tensors": ("torch.load",),
        "loads code": (
            "torch.ops.load_library",
            "torch.classes.load_library",
            "torch.utils.cpp_extension.load",
            "torch.utils.cpp_extension.load_inline",
        ),
        "takes a tensor first": tuple(
            f"torch.{name}_like" for name in ("zeros", "ones", "empty", "full", "rand", "randn", "randint")
        ),
        "takes uncaptured numbers": UNCAPTURED,
        "draws": tuple(f"torch.*.{n}" for n in RANDOM),
        "random source": tuple(f"torch.{n}*" for n in ("rand", "normal", "bernoulli", "multinomial")),
        "device context": ("torch.device",),
        "decorates methods": ("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autocast"),
        "entered where made": MODES,
        "not entered by decorators": DECORATING,
        "resumable": (
            *(f"{name}*" for name in MODES),
            "torch.profiler.*",
            "torch.nn.attention.sdpa_kernel*",
        ),
        "without gradients": ("torch.no_grad*", "torch.inference_mode*"),
        "asks for a tensor": ("torch.is_tensor", "torch.overrides.is_tensor_like"),
        "reads the environment": ("torch",),
    },
    sizes={
        **{f"torch.{n}": (ALL, ("size",)) for n in ("zeros", "ones", "empty", "rand", "randn")},
        "torch.arange": (ALL, ("start", "end", "step")),
        "torch.eye": (ALL, ("n", "m")),
        "torch.full": ((0,), ("size",)),
        "torch.randint": ((0, 1, 2), ("low", "high", "size")),
        "torch.randperm": ((0,), ("n",)),
        "torch.Size": ((0,), ()),
        "torch.linspace": ((2,), ("steps",)),
        "torch.select": ((2,), ("index",)),
        "torch.topk": ((1,), ("k",)),
        "torch.reshape": ((1,), ("shape",)),
        "torch.permute": ((1,), ("dims",)),
        "torch.broadcast_to": ((1,), ("size",)),
        "torch.tile": ((1,), ("dims",)),
        "torch.narrow": ((2, 3), ("start", "length")),
        "torch.roll": ((1,), ("shifts",)),
        "torch.tensor_split": ((1,), ("indices_or_sections", "tensor_indices_or_sections")),
        "torch.split": ((1,), ("split_size_or_sections",)),
        f"{F}pad": ((1, 3), ("pad", "value")),
        f"{F}one_hot": ((1,), ("num_classes",)),
        f"{F}cross_entropy": ((7,), ("label_smoothing",)),
        f"{F}interpolate": ((1,), ("size",)),
    },
    numbers=NUMBERS,
    # Measured on torch 2.6, 2.9, 2.13 and 2.15 (matrix/recompilations/arguments.py): a number that changes there is
    # compiled again each time, where one that enters the arithmetic, a clamp, a fill or `alpha` costs one
    # recompilation.
    baked={
        **{
            f"{F}{name}": ((1, "p"),)
            for name in (
                "dropout",
                "dropout1d",
                "dropout2d",
                "dropout3d",
                "alpha_dropout",
                "feature_alpha_dropout",
            )
        },
        # Those of torch itself: on 2.13.
        **{
            f"torch.{name}": ((1, "p"),)
            for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
        },
        "torch.layer_norm": ((4, "eps"),),
        "torch.group_norm": ((4, "eps"),),
        f"{F}cross_entropy": ((7, "label_smoothing"),),
        f"{F}layer_norm": ((4, "eps"),),
        f"{F}batch_norm": ((6, "momentum"),),
        f"{F}scaled_dot_product_attention": ((4, "dropout_p"), (6, "scale")),
        f"{F}group_norm": ((1, "num_groups"), (4, "eps")),
        f"{F}huber_loss": ((3, "delta"),),
        f"{F}smooth_l1_loss": ((5, "beta"),),
        f"{F}triplet_margin_loss": ((3, "margin"),),
        f"{F}interpolate": ((2, "scale_factor"),),
        f"{F}one_hot": ((1, "num_classes"),),
        f"{F}avg_pool1d": ((1, "kernel_size"),),
        # The rest of these: on 2.13.
        **{
            f"{F}{name}": ((1, "kernel_size"),)
            for name in (
                "avg_pool2d",
                "avg_pool3d",
                "max_pool1d",
                "max_pool2d",
                "max_pool3d",
                "unfold",
            )
        },
        f"{F}adaptive_avg_pool1d": ((1, "output_size"),),
        f"{F}margin_ranking_loss": ((3, "margin"),),
        f"{F}rms_norm": ((3, "eps"),),
        "torch.diagonal": ((1, "offset"),),
        "torch.quantile": ((1, "q"),),
        "torch.matrix_power": ((1, "n"),),
        "torch.normal": ((0, "mean"), (1, "std")),
        "torch.linspace": ((2, "steps"),),
        "torch.diag": ((1, "diagonal"),),
        "torch.chunk": ((1, "chunks"),),
        "torch.split": ((1, "split_size_or_sections"),),
    },
    # Measured on torch 2.13 (tests/static/test_libraries.py).
    breaks={f"{home}.{name}": why for home, names, why in UNTRACED for name in names.split()},
    handlers={
        "torch.utils.checkpoint.checkpoint": traced,
        "torch.Tensor.register_hook": hooked,
        "torch.cond": cond,
        f"{HIGHER}cond": cond,
        **dict.fromkeys(("torch.while_loop", f"{HIGHER}while_loop"), repeated),
        **dict.fromkeys((f"{HIGHER}scan", f"{HIGHER}associative_scan"), scanned),
        **dict.fromkeys((f"{HIGHER}map", f"{HIGHER}map.map"), traced),
        "torch.from_numpy": from_numpy,
        "torch.full": filled,
        "torch.is_tensor": is_tensor,
    },
    otherwise=called,
    renamed=HOMES.get,
    tensor_first=lambda name: table().takes_tensor_first(name),
    knows=table().lists,
    measured="pt2lint/libraries/torch_table.json, matrix/operators.py, matrix/calls.py",
)
