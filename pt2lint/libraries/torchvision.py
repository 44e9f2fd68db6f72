"""torchvision: its classifiers, what its operators and transforms return, and which of them end the graph."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.made_of_modules import of_module
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.op import ASKS_DEVIATION, DRAWN
from pt2lint.static.values import Value

NETWORK = "torchvision.models.VisionTransformer"  # stands for all that give one tensor
# In training these two give a tuple.
WITH_AUXILIARY = ("googlenet", "inception_v3")
TRANSFORMS = ("torchvision.transforms", "torchvision.transforms.v2")
READS_DRAWN = f"it reads {DRAWN}"
BY_MASK = "it writes through a mask"
# Which end the graph: measured on torch 2.6 with torchvision 0.21, 2.13 with 0.28 and 2.15 with 0.29, on the CPU, for
# transforms of a tensor. The classes of transforms without random numbers stay in the graph.
DRAWING = (
    "RandomCrop RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomResizedCrop RandomRotation RandomAffine "
    "RandomErasing RandomGrayscale GaussianBlur"
)
STAYING = "Normalize Resize CenterCrop Grayscale Pad ConvertImageDtype FiveCrop TenCrop LinearTransformation"
NO_FAKE = "what it returns, Dynamo cannot tell: it is an operator without a fake, and the call fails"
OF_IMAGES = "it asks an image of PIL's for what Dynamo does not trace"
# Measured on torch 2.13 with torchvision 0.29.
FILES = "read_image decode_image read_file encode_jpeg write_png"
BREAKS = {
    **{f"torchvision.io.{name}": NO_FAKE for name in FILES.split()},
    "torchvision.utils.save_image": "it writes a file",
    "torchvision.utils.draw_bounding_boxes": "it looks at the boxes, and has PIL draw them",
    "torchvision.transforms.functional.to_pil_image": OF_IMAGES,
    "torchvision.transforms.functional.pil_to_tensor": OF_IMAGES,
    "torchvision.ops.nms": "how many boxes it keeps depends on their values",
    "torchvision.ops.batched_nms": "how many boxes it keeps depends on their values",
    "torchvision.ops.remove_small_boxes": "how many boxes it keeps depends on their values",
    "torchvision.ops.generalized_box_iou_loss": BY_MASK,
    "torchvision.ops.distance_box_iou_loss": BY_MASK,
    "torchvision.ops.complete_box_iou_loss": BY_MASK,
    "torchvision.transforms.functional.normalize": ASKS_DEVIATION,
    "torchvision.transforms.Normalize.forward": ASKS_DEVIATION,
    **{f"{where}.{name}.forward": READS_DRAWN for where in TRANSFORMS for name in DRAWING.split()},
}
GIVES_TENSOR = (
    "box_area box_convert box_iou clip_boxes_to_image complete_box_iou deform_conv2d distance_box_iou drop_block2d "
    "generalized_box_iou masks_to_boxes nms batched_nms ps_roi_align roi_align roi_pool sigmoid_focal_loss "
    "stochastic_depth remove_small_boxes generalized_box_iou_loss distance_box_iou_loss complete_box_iou_loss"
)


def called(call: Call) -> Value:
    """`models.resnet18()`: a network that gives a tensor. Those for detection, segmentation and video do not."""
    package, _, last = call.name.rpartition(".")
    if package == "torchvision.models" and last.islower() and last not in WITH_AUXILIARY:
        return call.models.instance(NETWORK) if not last.startswith("get_") else made_or_unknown(call)
    return made_or_unknown(call)


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    return of_module(owner, name) if type_name in MODULES else None


LAYERS = "StochasticDepth DropBlock2d RoIAlign MultiScaleRoIAlign FrozenBatchNorm2d Conv2dNormActivation MLP"
MODULES = {
    NETWORK: "tensor",
    **{f"{where}.{name}": "tensor" for where in TRANSFORMS for name in f"{DRAWING} {STAYING}".split()},
    **{f"torchvision.ops.{name}": "tensor" for name in f"{LAYERS} SqueezeExcitation".split()},
}
LIBRARY = Library(
    "torchvision",
    returns={
        "torchvision._is_tracing": "none",
        **{f"torchvision.ops.{name}": "tensor" for name in GIVES_TENSOR.split()},
        "torchvision.transforms.functional.normalize": "tensor",
    },
    modules=MODULES,
    roles={
        "seldom compiled": ("torchvision.transforms.v2.Transform",),
        "class of models": ("torchvision.models.*",),
    },
    breaks=BREAKS,
    otherwise=called,
    attribute=attribute,
    measured="benchmarks/library_breaks.py",
)
