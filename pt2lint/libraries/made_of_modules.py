"""Libraries whose modules give a tensor, and what every module of a library has."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, keep_first, made_or_unknown
from pt2lint.libraries.torch_nn import MODULE
from pt2lint.static.values import BOOL, UNKNOWN, Ext, Instance, Value, truth

# What an nn.Module has that is of use to those who read a program.
METHODS = frozenset(
    "apply bfloat16 buffers children compile cpu cuda double eval float half load_state_dict modules named_buffers "
    "named_children named_modules named_parameters parameters register_backward_hook register_forward_hook "
    "register_forward_pre_hook register_full_backward_hook requires_grad_ state_dict to train type zero_grad".split()
)
NETWORK = "timm.models.Network"  # what timm.create_model makes
MIXUP = "timm.data.Mixup"
WHOLE = ("forward_features", "forward_head")


def of_module(owner: Value, name: str) -> Value:
    """An attribute of a module of which nothing but that it is one is known, or of a class derived from such a one."""
    if name == "training":
        return BOOL
    derived = isinstance(owner, Instance) and owner.cls is not None
    return Ext(f"{MODULE}.{name}", owner) if derived or name in METHODS else UNKNOWN


def of_network(type_name: str, owner: Value, name: str) -> Value:
    whole = type_name == NETWORK and name in WHOLE
    return Ext(f"{NETWORK}.{name}", owner) if whole else of_module(owner, name)


def plain(type_name: str, owner: Value, name: str) -> Value:
    return of_module(owner, name)


def classes(name: str) -> str | None:
    """A class: calling an object of it gives a tensor."""
    last = name.rpartition(".")[2]
    return "tensor" if last[:1].isupper() and not last.startswith(SEVERAL) else None


def first_or_made(call: Call) -> Value:
    """A class, or a function that gives a tensor like the first that it is given."""
    return made_or_unknown(call) if call.name.rpartition(".")[2][:1].isupper() else keep_first(call)


def created(call: Call) -> Value:
    """timm.create_model("resnet50"): a network; with `features_only` it gives a list."""
    if call.name.rpartition(".")[2] == "create_model" and call.receiver is None:
        only = call.kwargs.get("features_only")
        if only is None or truth(only) is False:
            return call.models.instance(NETWORK)
    return made_or_unknown(call)


# Read in their sources.
SEVERAL = ("RotaryEmbedding", "PatchDropout")  # of timm.layers: these give a tuple, or may
GIVING = (
    "apex.normalization",
    "einops.layers.torch",
    "segmentation_models_pytorch",
    "timm.layers",
)
FLASH = ("flash_attn_func", "flash_attn_qkvpacked_func", "flash_attn_varlen_func")
# These were measured with benchmarks/library_breaks.py; all augmentations of kornia derive from the class that does it.
AUGMENTATIONS = (
    "ColorJitter Normalize RandomAffine RandomCrop RandomErasing RandomGaussianBlur RandomGrayscale "
    "RandomHorizontalFlip RandomResizedCrop RandomVerticalFlip RandomRotation RandomPerspective"
)
TESTS_PROBABILITY = "it branches on which images it draws"
LIBRARIES = (
    Library(
        "timm",
        returns={f"{NETWORK}.{name}": "tensor" for name in WHOLE},
        modules={NETWORK: "tensor", MIXUP: "tensors:2"},
        breaks={f"{MIXUP}.forward": "it draws random numbers with NumPy"},
        otherwise=created,
        attribute=of_network,
    ),
    Library(
        "kornia",
        instances=classes,
        breaks={f"kornia.augmentation.{name}.forward": TESTS_PROBABILITY for name in AUGMENTATIONS.split()},
        otherwise=first_or_made,
        attribute=plain,
    ),
    *(Library(name, instances=classes, attribute=plain) for name in GIVING),
    Library("flash_attn", returns={f"flash_attn.{name}": "tensor" for name in FLASH}),
    Library("xformers", returns={"xformers.ops.memory_efficient_attention": "tensor"}),
)
