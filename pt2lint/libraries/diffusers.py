"""diffusers: what its models, autoencoders and schedulers give, and which steps of a sampler end the graph."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.made_of_modules import of_module
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import NONE, UNKNOWN, Ext, Instance, Py, Tensor, Value

MODEL, OUTPUT, DISTRIBUTION = "diffusers.ModelMixin", "diffusers.utils.BaseOutput", "diffusers.Distribution"
REPEATED = "diffusers.ModelMixin.compile_repeated_blocks"
SCHEDULER = "diffusers.SchedulerMixin"
MAKES = ("from_pretrained", "from_config", "from_single_file")
# Of an output: where the tensors are, of a model, of a scheduler, of an autoencoder.
TENSORS = frozenset("sample prev_sample pred_original_sample latents".split())
SAMPLES = frozenset(("sample", "mode", "mean", "kl"))
KEEP_SHAPE = frozenset(("add_noise", "scale_model_input", "get_velocity", "scale_noise"))
# Measured with benchmarks/library_breaks.py on torch 2.13 with diffusers 0.42, on the CPU, at each step; the others
# (FlowMatchEuler, DPMSolverMultistep, EulerAncestral ...) seek their place at the first step alone.
STEP = "it chooses by the values of the timesteps, or of the noise levels"
STEPPING = "DDPMScheduler DDIMScheduler PNDMScheduler EulerDiscreteScheduler LCMScheduler".split()


def kind(name: str) -> str | None:
    """What an object of that class is."""
    last = name.rpartition(".")[2]
    if last.endswith("Scheduler"):
        return SCHEDULER
    return MODEL if last.endswith("Model") or last.startswith(("AutoencoderKL", "AutoencoderTiny")) else None


def called(call: Call) -> Value:
    owner, _, last = call.name.rpartition(".")
    if call.receiver is not None:
        return of_object(call, last)
    name = owner if last in MAKES else call.name
    if kind(name) == SCHEDULER:
        return Instance(None, f"diffusers.{name.rpartition('.')[2]}")
    return call.models.instance(MODEL) if kind(name) == MODEL else made_or_unknown(call)


def blocks_compiled(call: Call) -> Value:
    """`model.compile_repeated_blocks()`: the modules in it whose classes it names are compiled in place."""
    model = call.receiver
    if isinstance(model, Instance) and model.cls is not None:
        listed = call.attribute(model, "_repeated_blocks")
        names = {one.const for one in getattr(listed, "elts", None) or () if isinstance(one, Py)}
        left, seen = call.parts(model), set()
        while left:
            part = left.pop()
            if part.cls is None or id(part) in seen:
                continue
            seen.add(id(part))
            if part.cls.name in names:
                call.compile_in_place(part)
            else:
                left += call.parts(part)
    return NONE


def of_object(call: Call, last: str) -> Value:
    """A method of a model, of a scheduler, or of what an autoencoder gives."""
    owner = call.receiver.external or "" if isinstance(call.receiver, Instance) else ""
    if owner == DISTRIBUTION or (kind(owner) == SCHEDULER and last in KEEP_SHAPE):
        return Tensor(None, call.origin(f"`{last}` returns a tensor"))
    gives = kind(owner) == SCHEDULER and last == "step"
    return Instance(None, OUTPUT) if gives or last in ("encode", "decode") else UNKNOWN


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    if type_name == OUTPUT:
        name = name.removeprefix("[").removesuffix("]")
        if name == "latent_dist":
            return Instance(None, DISTRIBUTION)
        return Tensor(None, ("", 0, "diffusers gives a tensor here")) if name in {*TENSORS, "0"} else UNKNOWN
    if type_name == DISTRIBUTION:
        return Ext(f"{DISTRIBUTION}.{name}", owner) if name in SAMPLES else UNKNOWN
    if kind(type_name) == SCHEDULER and isinstance(owner, Instance) and owner.cls is None:
        if name in ("timesteps", "sigmas", "alphas_cumprod"):
            return Tensor(None, ("", 0, f"`{name}` of a scheduler is a tensor"))
        return Ext(f"{type_name}.{name}", owner)
    if name == "compile_repeated_blocks":
        return Ext(REPEATED, owner)
    if type_name == MODEL and name in ("encode", "decode"):
        return Ext(f"{MODEL}.{name}", owner)
    return of_module(owner, name) if type_name == MODEL else None


LIBRARY = Library(
    "diffusers",
    modules={MODEL: f"instance {OUTPUT}"},
    roles={
        "base of hooks": ("diffusers.hooks.ModelHook", "diffusers.hooks.hooks.ModelHook"),
        "class of models": ("*ModelMixin", "diffusers.*Model", "diffusers.*AutoencoderKL"),
        "makes one of its class": ("*ModelMixin.from_config", "*ConfigMixin.from_config"),
    },
    breaks={f"diffusers.{name}.step": STEP for name in STEPPING},
    mentions=("compile_repeated_blocks",),
    handlers={REPEATED: blocks_compiled},
    otherwise=called,
    attribute=attribute,
)
