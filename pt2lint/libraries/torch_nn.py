"""torch.nn: what modules are made of, what they return when called, and what every nn.Module has."""

from __future__ import annotations

from pt2lint.libraries.builtins import put
from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.libraries.torch_table import table
from pt2lint.libraries.words import value_of
from pt2lint.op import SPREAD_OUT, SYNCED
from pt2lint.static.values import (
    BOOL,
    INT,
    LEAF,
    NAME,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    WRAPPED_NAME,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    is_none,
    join,
    join_all,
    options,
    tensor_of,
    truth,
    without,
)

MODULE = "torch.nn.Module"
RANDOM = "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout RReLU".split()
# Measured on 2.13 over calls in training and in evaluation: these are compiled for each, LayerNorm, GroupNorm, Linear,
# LSTM and activations are not.
MIND_TRAINING = ("BatchNorm*", "SyncBatchNorm", "InstanceNorm*", "Transformer*", "MultiheadAttention")
PARAMETERS = ("weight", "bias", "running_mean", "running_var", "in_proj_weight", "in_proj_bias")
WITH_WEIGHTS = (
    "Linear* Lazy* Bilinear Conv* Embedding* GRU* LSTM* RNN* MultiheadAttention Transformer* BatchNorm* SyncBatchNorm "
    "GroupNorm LayerNorm RMSNorm PReLU AdaptiveLogSoftmaxWithLoss ParameterList ParameterDict DataParallel "
    "DistributedDataParallel parallel.*"
)
# Modules whose classes have them under these names in each object, so that a class of the project derived from one has.
OF_THEIR_OWN = ("Linear", "Conv", "Embedding", "BatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "PReLU")
NUMBERS = ("in_features", "out_features", "num_embeddings", "embedding_dim", "num_heads", "padding_idx")
# Which masks a module compares with a causal one where it is not told: position and keyword of the mask, and of what
# tells.
MASKS = {
    "torch.nn.TransformerEncoder": (((1, "mask"), (3, "is_causal")),),
    "torch.nn.TransformerDecoder": (((2, "tgt_mask"), (6, "tgt_is_causal")),),
    "torch.nn.Transformer": (
        ((2, "src_mask"), (8, "src_is_causal")),
        ((3, "tgt_mask"), (9, "tgt_is_causal")),
    ),
}
PARTS = {
    "torch.nn.Transformer": {
        "encoder": "torch.nn.TransformerEncoder",
        "decoder": "torch.nn.TransformerDecoder",
    }
}
REDUCTION = "Write `reduction='none'`, `'sum'` or `'mean'`, which is traced"
LOSSES = tuple(
    f"torch.nn.{name}Loss"
    for name in (
        "L1 MSE NLL PoissonNLL KLDiv BCE BCEWithLogits CrossEntropy SmoothL1 SoftMargin MultiMargin TripletMargin "
        "HingeEmbedding CosineEmbedding MarginRanking MultiLabelMargin MultiLabelSoftMargin"
    ).split()
)
RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
# What a loop over goes through the parts of a module, as `zero_grad` does (measured on 2.13).
GOES_THROUGH = frozenset(
    f"{how}{what}" for how in ("", "named_") for what in "parameters buffers modules children".split()
)
RETURNS = {"torch.nn.Transformer.generate_square_subsequent_mask": "tensor:float"}
# Methods that return the module itself.
RETURNS_ITSELF = frozenset(
    "eval train to float half double bfloat16 cuda cpu requires_grad_ apply type".split()
)
KEEPS_WRAPPER = (
    *RETURNS_ITSELF,
    "share_memory",
    "named_parameters",
    "named_buffers",
    "named_modules",
    "state_dict",
)


# Measured on torch 2.13 (tests/static/test_libraries.py).
AVERAGES = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
MOMENTUM = "Give it a number: `momentum=0.1` is what torch takes by default"
TEST_NORM = "Leave it out, and test the norm that the function returns outside the compiled code"
ONE_EACH = (
    "Take a norm that needs no other process: `nn.GroupNorm`, or `nn.BatchNorm2d` where batches are large"
)
AVERAGED = "with `momentum=None` it reads how many batches it has seen"


def made(call: Call) -> Value:
    """A module of torch.nn, a method of every module, or a function."""
    name = call.name
    if name in table().modules:
        if call.listens(f"make {MODULE}"):
            call.note(f"make {MODULE}", args=call.sorts(), details={"made": name})
        return construct(name.rsplit(".", 1)[-1], call)
    if name == "torch.nn." and {"bidirectional", "num_layers", "batch_first"} & set(call.kwargs):
        return call.models.instance("torch.nn.LSTM")  # `getattr(nn, kind)(...)`: one of the recurrent modules
    if name.startswith(MODULE + "."):
        return method(name[len(MODULE) + 1 :], call)
    return called(call)


def is_function(value: Value) -> bool:
    """Which no list of modules takes: of what may be a module, or a function that makes one, it is the first."""
    return isinstance(value, Func)


def construct(last: str, call: Call) -> Value:
    args, kwargs = call.args, call.kwargs
    if last == "ParameterList":
        return Seq(None, Tensor("float", None), last)
    if last == "ModuleList":
        first = args[0] if args else kwargs.get("modules")
        if isinstance(first, Seq):
            held = [without(each, is_function) for each in first.elts] if first.elts is not None else None
            return Seq(held, without(first.elem, is_function), last)
        return Seq([] if first is None else None, UNKNOWN, last)
    if last == "Sequential":
        if len(args) == 1 and isinstance(args[0], (Seq, Dict)):
            inner = args[0]
            if isinstance(inner, Dict):
                return Seq(list(inner.items.values()) or None, inner.elem, last)
            return Seq(list(inner.elts) if inner.elts is not None else None, inner.elem, last)
        return Seq(list(args), None, last)
    if last in ("ModuleDict", "ParameterDict"):
        first = args[0] if args else UNKNOWN
        named = Dict({}, UNKNOWN if last == "ModuleDict" else Tensor("float", None))
        if isinstance(first, Dict):
            named = Dict(dict(first.items), first.elem)
        named.key = STR
        return named
    if last == "DataParallel":
        return parallel(call)
    made = call.models.instance(call.name)
    if last in AVERAGES and "momentum" in kwargs and truth(kwargs.get("track_running_stats", TRUE)) is True:
        made.attrs["momentum"] = kwargs["momentum"]
    return made


def forward(call: Call) -> Value:
    """Calling a module: `call.name` is its class."""
    for mask, causal in MASKS.get(call.name, ()):
        compared(call, mask, causal)
    momentum = call.receiver.attrs.get("momentum", TRUE) if isinstance(call.receiver, Instance) else TRUE
    if is_none(momentum) is True:
        call.note("call breaking", details={"why": AVERAGED, "when": "self.training", "instead": MOMENTUM})
    if call.name == "torch.nn.SyncBatchNorm":
        call.note("call breaking", details={"why": SYNCED, "when": "self.training", "instead": ONE_EACH})
    words = table().modules[call.name]
    last, first = call.name.rsplit(".", 1)[-1], call.args[0] if call.args else UNKNOWN
    if words in ("container", "any"):
        return UNKNOWN
    value = value_of(words, call.origin(f"`{last}` returns a tensor"))
    if not isinstance(value, Tensor) or not isinstance(first, Tensor):
        return value
    if value.dtype is None and last in ("Identity", "Flatten", "Unflatten", "Dropout"):
        return first
    if "Pool" not in last and not last.endswith("Loss"):
        if last not in ("Embedding", "EmbeddingBag", "Flatten", "Unflatten"):
            value.ndim = first.ndim
    return value


def compared(call: Call, mask: tuple[int, str], causal: tuple[int, str]) -> None:
    """Note a mask that the module compares with a causal one: of two dimensions, and nobody says what it is."""
    told = argument(call, *causal)
    given = argument(call, *mask)
    tensor = tensor_of(given) if given is not None else None
    if given is UNKNOWN:
        tensor = Tensor(None, None, False)
    if given is None or tensor is None or tensor.ndim not in (None, 2):
        return
    if told is not None and is_none(told) is not True:
        return
    if is_none(given) is None and call.is_parameter(*mask):
        tensor = tensor.but(sure=False)  # whoever calls may leave it out
    call.note(f"mask {call.name}", tensor)


def argument(call: Call, position: int, keyword: str) -> Value | None:
    return call.args[position] if position < len(call.args) else call.kwargs.get(keyword)


def method(name: str, call: Call) -> Value:
    """A method that every module has."""
    me, args = call.receiver, call.args
    if call.frame.region and name in GOES_THROUGH and call.is_gone_over():
        gone_through(call)
    if name in ("register_buffer", "register_parameter") and isinstance(me, Instance) and me.cls is not None:
        return registered("buffer" if name == "register_buffer" else "parameter", me, call)
    if name in ("parameters", "buffers"):
        held = Seq(None, Tensor(None, call.origin(f"a {name.removesuffix('s')}"), leaf=LEAF), "generator")
        held.owner = me
        return held
    if name in ("named_parameters", "named_buffers"):
        word = WRAPPED_NAME if isinstance(me, Wrapped) else NAME
        return Seq(None, Seq([word, Tensor(leaf=LEAF)], None, "tuple"), "generator")
    if name == "named_modules" and isinstance(me, Wrapped):
        return Seq(None, Seq([WRAPPED_NAME, UNKNOWN], None, "tuple"), "generator")
    if name == "state_dict" and not args and not call.frame.region:
        state = Dict({}, Tensor(None, None))
        state.key = WRAPPED_NAME if isinstance(me, Wrapped) else NAME
        return state
    if name in ("get_parameter", "get_buffer"):
        return Tensor(leaf=LEAF)
    if name == "apply" and (len(args) > 1 or call.kwargs):
        return UNKNOWN  # of a module that is none of torch's: a function that is given its variables
    if name in RETURNS_ITSELF:
        return me if me is not None else UNKNOWN
    if name == "compile" and isinstance(me, Instance):
        if truth(call.kwargs.get("disable", UNKNOWN)) is not True:
            call.compile_in_place(me)
        return NONE
    if name in ("add_module", "register_module") and isinstance(me, Instance) and len(args) == 2:
        if me.cls is not None:
            put(call, me)
        return NONE
    return UNKNOWN


def registered(kind: str, me: Instance, call: Call) -> Value:
    args, kwargs = call.args, call.kwargs
    name = args[0] if args else kwargs.get("name")
    value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", UNKNOWN))
    if isinstance(name, Py) and isinstance(name.const, str):
        tensor = tensor_of(value)
        if is_none(value) is not True:
            dtype, ndim = (tensor.dtype, tensor.ndim) if tensor is not None else (None, None)
            origin = call.origin(f"`{name.const}` is a {kind}")
            sparse, short = (tensor.sparse, tensor.short) if tensor is not None else (False, False)
            kept = Tensor(dtype, origin, ndim=ndim, leaf=LEAF, sparse=sparse, short=short)
            call.store(me, name.const, kept)
        else:
            call.store(me, name.const, NONE)
    return NONE


def parameter(call: Call) -> Value:
    """A parameter, which a graph cannot make of what it computes: the next graph takes it as an input."""
    if call.args and isinstance(call.args[0], Tensor) and call.args[0].leaf != LEAF:
        call.note("make torch.nn.Parameter", call.args[0])
    return Tensor(None, call.origin(), leaf=LEAF)


def clipped(call: Call) -> Value:
    """`clip_grad_norm_(model.parameters())`: going over the parameters goes through the module, an RNN in it too."""
    given = call.args[0] if call.args else call.kwargs.get("parameters", UNKNOWN)
    of = [o.owner for o in options(given) if isinstance(o, Seq) and o.owner is not None]
    if any(isinstance(o, Instance) and call.holds(o, RECURRENT) for owner in of for o in options(owner)):
        call.note(f"call {call.name} of an RNN")
    if truth(call.kwargs.get("error_if_nonfinite", NONE)) is True:
        words = {"why": "with `error_if_nonfinite` it looks at the norm", "instead": TEST_NORM}
        call.note("call breaking", details=words)
    return called(call)


def walked(call: Call) -> Value:
    """`model.zero_grad()` in compiled code goes through the module, an RNN in it too. So do `eval()` and `train()`:
    they begin a function, have next to nothing before them and would only say again that it holds an RNN."""
    gone_through(call)
    return made(call)


def gone_through(call: Call) -> None:
    """Note that what is called goes through a module that holds an RNN, if it does."""
    if isinstance(call.receiver, Instance) and call.holds(call.receiver, RECURRENT):
        call.note(f"call {MODULE}.zero_grad of an RNN")


def loss(call: Call) -> Value:
    """`nn.MSELoss(size_average=False)`: Dynamo does not trace how these flags become `reduction`, but that it makes
    CrossEntropyLoss itself."""
    if {"size_average", "reduce"} & set(call.kwargs) and not call.name.endswith(".CrossEntropyLoss"):
        words = {"why": "Dynamo does not trace what `size_average` and `reduce` become", "instead": REDUCTION}
        call.note("call breaking", details=words)
    return made(call)


def parallel(call: Call) -> Value:
    """A compiled module in one that spreads it: a call of that is a call of what was compiled."""
    inner = call.args[0] if call.args else call.kwargs.get("module", call.kwargs.get("model", UNKNOWN))
    compiled = [o for o in options(inner) if isinstance(o, Wrapped) and o.how == "compiled"]
    held: list[Value] = [call.held(o, "module.") for o in compiled]
    sure = len(held) == len(options(inner))
    return join_all(held if sure else [call.models.instance(call.name), *held])


def averaged(call: Call) -> Value:
    """A copy of a compiled module in one that averages its weights; of others it need not be known."""
    inner = call.args[0] if call.args else call.kwargs.get("model", UNKNOWN)
    return parallel(call) if any(isinstance(o, Wrapped) for o in options(inner)) else UNKNOWN


def changed(call: Call) -> Value:
    """What changes the module that it is given, and gives it back."""
    return call.args[0] if call.args else call.kwargs.get("module", UNKNOWN)


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """An attribute of a module of torch.nn, or one that every module has."""
    part = PARTS.get(type_name, {}).get(name)
    if part is not None:
        return Instance(None, part)
    if f"{type_name}.{name}" in RETURNS:
        return Ext(f"{type_name}.{name}", owner)
    if isinstance(owner, Instance) and (owner.cls is None or _has_weights(type_name)):
        if type_name not in table().modules:
            return None
        if name in PARAMETERS and type_name not in RECURRENT:  # of which `bias` is a flag
            said = f"`{type_name.rsplit('.', 1)[-1]}.{name}` is a parameter"
            parameter = Tensor("float", ("", 0, said), leaf=LEAF)
            return parameter if owner.cls is None or name == "weight" else join(NONE, parameter)
        if name in NUMBERS:
            return INT
    return BOOL if name == "training" else Ext(f"{MODULE}.{name}", owner)


def _has_weights(type_name: str) -> bool:
    return type_name.rsplit(".", 1)[-1].startswith(OF_THEIR_OWN)


def first_is_tensor(name: str) -> bool:
    if name.startswith("torch.nn.functional."):
        return name in table().returns
    return table().takes_tensor_first(name)


def renamed(name: str) -> str | None:
    """`torch.nn.modules.linear.Linear` is where torch.nn has Linear from."""
    last = name.rsplit(".", 1)[-1]
    if name.startswith("torch.nn.utils.clip_grad."):
        return "torch.nn.utils." + last
    if name == "torch.nn.attention.SDPAParams":
        return "torch.backends.cuda.SDPAParams"
    return "torch.nn." + last if name.startswith("torch.nn.modules.") and last[:1].isupper() else None


PARAMETRIZATIONS = tuple(
    f"torch.nn.utils.parametrizations.{n}" for n in ("weight_norm", "spectral_norm", "orthogonal")
)
EXCHANGES = "to half float double bfloat16 type to_empty"
CHANGES = (
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    *(
        f"torch.nn.utils.{n}"
        for n in "weight_norm spectral_norm remove_weight_norm remove_spectral_norm".split()
    ),
    *PARAMETRIZATIONS,
)
SPREADS = (
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
)
LIBRARY = Library(
    "torch.nn",
    given="tensors",
    closed=True,
    objects=True,
    returns=RETURNS,
    modules=table().modules,
    roles={
        "recurrent": RECURRENT,
        "module base": (MODULE, "torch.nn.modules.module.Module", "torch.jit.ScriptModule"),
        "module namespace": ("torch.nn.*",),
        "holds modules": ("torch.nn.ModuleList", "torch.nn.ModuleDict"),
        "random module": tuple(f"*.{n}" for n in RANDOM),
        "bare only of modules": tuple(
            f"{MODULE}.{n}" for n in ("parameters", "named_parameters", "named_buffers")
        ),
        "passes on": ("torch.nn.Identity", MODULE, "torch.nn.Dropout"),
        "constant number": (
            *("torch.nn.Dropout*.p", "torch.nn.*Dropout.p", "torch.nn.CrossEntropyLoss.label_smoothing"),
            *(
                f"torch.nn.{n}.eps"
                for n in ("BatchNorm*", "InstanceNorm*", "LayerNorm", "GroupNorm", "RMSNorm")
            ),
            *(f"torch.nn.{n}.momentum" for n in ("BatchNorm*", "InstanceNorm*")),
        ),
        "minds training": tuple(f"torch.nn.{n}" for n in (*RANDOM, *MIND_TRAINING)),
        "compiles in place": (f"{MODULE}.compile",),
        "keeps the wrapper": tuple(f"{MODULE}.{n}" for n in KEEPS_WRAPPER),
        "forward hook": (f"{MODULE}.register_forward_hook", f"{MODULE}.register_forward_pre_hook"),
        "backward hook": tuple(
            f"{MODULE}.register_{n}"
            for n in ("full_backward_hook", "full_backward_pre_hook", "backward_hook")
        ),
        "adds a part": (f"{MODULE}.add_module", f"{MODULE}.register_module"),
        "late hook": tuple(
            f"{MODULE}.register_{n}"
            for n in ("forward_hook", "forward_pre_hook", "full_backward_hook", "full_backward_pre_hook")
        ),
        "given each part": (f"{MODULE}.apply",),
        "gives parts": (f"{MODULE}.modules", f"{MODULE}.named_modules"),
        "gives children": (f"{MODULE}.children", f"{MODULE}.named_children"),
        "goes over items": ("torch.nn.utils.clip_grad_norm_",),
        "pads to the longest": ("torch.nn.utils.rnn.pad_sequence",),
        "mode": (f"{MODULE}.training",),
        "seldom compiled": ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"),
        "spreads a module": SPREADS,
        "loss": tuple(name for name in table().modules if name.endswith("Loss")),
        "holds weights": tuple(f"torch.nn.{n}" for n in WITH_WEIGHTS.split()),
        "exchanges data": tuple(f"{MODULE}.{n}" for n in EXCHANGES.split()),
        "gives a class of its own": (
            *PARAMETRIZATIONS,
            "torch.nn.utils.parametrize.register_parametrization",
        ),
        "state of a module": (f"{MODULE}.state_dict",),
        "loads state": (f"{MODULE}.load_state_dict",),
    },
    told_by={MODULE: ("parameters train", "parameters eval", "parameters state_dict", "parameters compile")},
    # Measured on 2.6, 2.9, 2.13 and 2.15, for torch's modules and for a project's own.
    breaks={
        f"{MODULE}.load_state_dict": "Dynamo does not trace how weights are loaded",
        "torch.nn.AdaptiveLogSoftmaxWithLoss.forward": "it picks the targets of each cluster by their values",
        "torch.nn.parallel.DistributedDataParallel.forward": SPREAD_OUT,
    },
    handlers={
        **dict.fromkeys(LOSSES, loss),
        **dict.fromkeys(CHANGES, changed),
        f"{MODULE}.zero_grad": walked,
        "torch.nn.utils.clip_grad_norm_": clipped,
        "torch.nn.Parameter": parameter,
        "torch.nn.parallel.DistributedDataParallel": parallel,
        "torch.optim.swa_utils.AveragedModel": averaged,
    },
    tensor_first=first_is_tensor,
    otherwise=made,
    forward=forward,
    attribute=attribute,
    renamed=renamed,
    measured="pt2lint/libraries/torch_table.json, matrix/constructs/modules.py",
)
