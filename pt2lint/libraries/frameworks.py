"""What frameworks around torch do to modules and functions: Lightning, accelerate, tensordict, Triton, Numba."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    is_none,
    join_all,
    options,
    truth,
)

COMPILES = "compiles what it is given"
# What a LightningModule has of itself, or once a Trainer has it.
SET = "trainer logger loggers hparams automatic_optimization example_input_array".split()
COUNTED = ("current_epoch", "global_step")
STEPS = ("training", "validation", "test", "predict")


PLUGIN = {"accelerate.utils.TorchDynamoPlugin": ("backend",)}


def settings(call: Call) -> Value:
    """An object that says whether its owner compiles: TrainingArguments(torch_compile=True), or with a backend;
    Accelerator(dynamo_plugin=TorchDynamoPlugin(backend=...))."""
    made = Instance(None, call.name, True)
    plugin = call.kwargs.get("dynamo_plugin", NONE)
    if any(isinstance(one, Instance) and COMPILES in one.attrs for one in options(plugin)):
        made.attrs[COMPILES] = TRUE
    asked = [
        call.kwargs.get(name, NONE)
        for name in ("torch_compile", "torch_compile_backend", "dynamo_backend", *PLUGIN.get(call.name, ()))
    ]
    if any(
        truth(value) or (isinstance(value, Py) and value.type == "str")
        for value in asked
        if not _is_no(value)
    ):
        made.attrs[COMPILES] = TRUE
    return made


def _is_no(value: Value) -> bool:
    return is_none(value) is True or (isinstance(value, Py) and str(value.const).lower() == "no")


def trainer(call: Call) -> Value:
    """Trainer(model, args): compiles the model where its arguments say so."""
    model = call.args[0] if call.args else call.kwargs.get("model", NONE)
    given = call.args[1] if len(call.args) > 1 else call.kwargs.get("args", NONE)
    if isinstance(given, Instance) and COMPILES in given.attrs and isinstance(model, Instance):
        call.compile(model)
    return Instance(None, call.name, True)


def prepared(call: Call) -> Value:
    """Accelerator(dynamo_backend=...).prepare(model, ...): the modules among what it is given are compiled."""
    owner = call.receiver
    if isinstance(owner, Instance) and COMPILES in owner.attrs:
        results = [call.compile(a) if isinstance(a, Instance) and a.cls is not None else a for a in call.args]
    else:
        results = list(call.args)
    return results[0] if len(results) == 1 else Seq(results, None, "tuple")


def unwrapped(call: Call) -> Value:
    """Accelerator.unwrap_model(model): takes off what spreads the model, and keeps the wrapper of torch.compile, unless
    told not to."""
    model = call.args[0] if call.args else call.kwargs.get("model", UNKNOWN)
    kept = truth(call.kwargs.get("keep_torch_compile", TRUE))
    found = [
        (Wrapped(one.how, one.inner) if kept else one.inner)
        for one in options(model)
        if isinstance(one, Wrapped) and one.how == "compiled" and kept is not None
    ]
    return join_all([*found, *(() if len(found) == len(list(options(model))) else (UNKNOWN,))])


def named_arguments(call: Call) -> Value:
    """TensorDictModule(f, in_keys=...): a call of it is a call of `f`, whose arguments it takes from a dictionary."""
    return call.args[0] if call.args else call.kwargs.get("module", UNKNOWN)


def divided(call: Call) -> Value:
    """`triton.cdiv(lengths, size)`: a number of what is divided."""
    return call.args[0].but(leaf=0) if call.args and isinstance(call.args[0], Tensor) else UNKNOWN


LIBRARIES = (
    Library(
        "lightning",
        roles={
            "module base": ("*LightningModule",),
            "makes one of its class": ("*LightningModule.load_from_checkpoint",),
            "compiled with a module": tuple(f"*LightningModule.{step}_step" for step in STEPS),
            "set by a framework": tuple(f"*LightningModule.{name}" for name in SET),
            "counted by a framework": tuple(f"*LightningModule.{name}" for name in COUNTED),
        },
    ),
    Library(
        "accelerate",
        roles={
            "base of hooks": ("accelerate.hooks.ModelHook",),
            "trains": ("accelerate.Accelerator.backward",),
            "takes wrappers off but one": ("accelerate.Accelerator.unwrap_model",),
        },
        mentions=("dynamo_backend", "dynamo_plugin"),
        handlers={
            "accelerate.Accelerator": settings,
            **dict.fromkeys(PLUGIN, settings),
            "accelerate.Accelerator.prepare": prepared,
            "accelerate.Accelerator.unwrap_model": unwrapped,
        },
    ),
    Library(
        "tensordict",
        handlers=dict.fromkeys(
            (f"tensordict.nn.{name}" for name in ("TensorDictModule", "CudaGraphModule")), named_arguments
        ),
    ),
    Library("huggingface_hub", roles={"makes one of its class": ("*.from_pretrained",)}),
    Library(
        "peft",
        roles={
            "class of models": ("*PeftModel",),
            "adapts modules": ("peft.get_peft_model", "peft.PeftModel", "peft.PeftModel.from_pretrained"),
        },
    ),
    Library(
        "triton",
        roles={"opaque": ("triton.jit*", "triton.autotune*", "triton.heuristics*")},
        handlers={"triton.cdiv": divided},
    ),
    Library("numba", roles={"opaque": ("numba.*",)}),
    # Languages for kernels: what they decorate is read as text, and is no code of Python's.
    Library("tilelang", roles={"opaque": ("tilelang.jit*", "tilelang.lazy_jit*", "tilelang.language.*")}),
    Library("cutlass", roles={"opaque": ("cutlass.cute.jit*", "cutlass.cute.kernel*")}),
    Library("helion", roles={"opaque": ("helion.kernel*", "helion.jit*")}),
    Library("warp", roles={"opaque": ("warp.kernel*", "warp.func*")}),
)
