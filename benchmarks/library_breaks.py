"""Whether the calls of which pt2lint's library models say that they end the graph do so, and others do not.

    python benchmarks/library_breaks.py [LIBRARY...]

For each library that is installed (all of them by default), a line a call: the graph breaks that Dynamo counts, what
pt2lint's model says, and where the first break is. The exit status is 1 where a model is wrong. torch and the library
have to fit each other; nothing is downloaded.
"""

from __future__ import annotations

import importlib
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from pt2lint.libraries import load
from pt2lint.static.engine import lint

Case = tuple[str, Callable[[], Any]]  # what is called, by its qualified name, and the call
IMAGE, WAVE, LATENT = torch.rand(2, 3, 8, 8), torch.randn(2, 16000), torch.randn(1, 4, 8, 8)
BOXES = torch.tensor([[0.0, 0, 10, 10], [1, 1, 9, 9], [20, 20, 30, 30]])
SCORES = torch.tensor([0.9, 0.8, 0.7])
SPECTRUM = torch.rand(2, 64, 100)


def torchvision() -> Iterator[Case]:
    ops = importlib.import_module("torchvision.ops")
    yield "torchvision.ops.nms", lambda: ops.nms(BOXES, SCORES, 0.5)
    classes = torch.zeros(3, dtype=torch.long)
    yield "torchvision.ops.batched_nms", lambda: ops.batched_nms(BOXES, SCORES, classes, 0.5)
    yield "torchvision.ops.remove_small_boxes", lambda: ops.remove_small_boxes(BOXES, 5.0)
    yield "torchvision.ops.roi_align", lambda: ops.roi_align(IMAGE, [BOXES, BOXES], (2, 2))
    yield "torchvision.ops.sigmoid_focal_loss", lambda: ops.sigmoid_focal_loss(SCORES, SCORES)
    for name in ("generalized_box_iou_loss", "distance_box_iou_loss", "complete_box_iou_loss", "box_iou"):
        yield f"torchvision.ops.{name}", lambda name=name: getattr(ops, name)(BOXES, BOXES)
    functional = importlib.import_module("torchvision.transforms.functional")
    half = [0.5] * 3
    yield (
        "torchvision.transforms.functional.normalize",
        lambda: functional.normalize(IMAGE, half, half),
    )
    arguments: dict[str, tuple[Any, ...]] = {
        "Normalize": (half, half),
        "Resize": (4,),
        "CenterCrop": (4,),
        "Grayscale": (),
        "Pad": (1,),
        "RandomCrop": (4,),
        "RandomHorizontalFlip": (),
        "RandomVerticalFlip": (),
        "RandomErasing": (),
        "ColorJitter": (0.1, 0.1, 0.1, 0.1),
        "RandomResizedCrop": (4,),
        "RandomRotation": (10,),
        "RandomAffine": (10,),
        "RandomGrayscale": (),
        "GaussianBlur": (3,),
    }
    for where in ("torchvision.transforms", "torchvision.transforms.v2"):
        for name, given in arguments.items():
            made = getattr(importlib.import_module(where), name)(*given)
            yield f"{where}.{name}.forward", lambda made=made: made(IMAGE)


def torchaudio() -> Iterator[Case]:
    transforms = importlib.import_module("torchaudio.transforms")
    arguments: dict[str, tuple[Any, ...]] = {
        "Spectrogram": (),
        "MelSpectrogram": (),
        "MFCC": (),
        "LFCC": (),
        "SpectralCentroid": (16000,),
        "Resample": (16000, 8000),
        "Speed": (16000, 1.1),
        "SpeedPerturbation": (16000, [0.9, 1.1]),
        "FrequencyMasking": (10,),
        "TimeMasking": (10,),
        "AmplitudeToDB": (),
        "MuLawEncoding": (),
    }
    for name, given in arguments.items():
        made = getattr(transforms, name)(*given)
        x = SPECTRUM if name in ("FrequencyMasking", "TimeMasking", "AmplitudeToDB") else WAVE
        yield f"torchaudio.transforms.{name}.forward", lambda made=made, x=x: made(x)
    functional = importlib.import_module("torchaudio.functional")
    yield "torchaudio.functional.resample", lambda: functional.resample(WAVE, 16000, 8000)
    yield "torchaudio.functional.mask_along_axis", lambda: functional.mask_along_axis(SPECTRUM, 10, 0.0, 1)
    window = torch.hann_window(400)
    yield (
        "torchaudio.functional.spectrogram",
        lambda: functional.spectrogram(WAVE, 0, window, 400, 200, 400, 2.0, False),
    )
    yield (
        "torchaudio.functional.melscale_fbanks",
        lambda: functional.melscale_fbanks(201, 0.0, 8000.0, 64, 16000),
    )
    yield "torchaudio.functional.convolve", lambda: functional.convolve(WAVE, WAVE[:, :10])
    yield "torchaudio.functional.fftconvolve", lambda: functional.fftconvolve(WAVE, WAVE[:, :10])


def diffusers() -> Iterator[Case]:
    """The second step of each: some seek their place among the timesteps at the first."""
    library = importlib.import_module("diffusers")
    for name in (
        "DDPMScheduler DDIMScheduler PNDMScheduler EulerDiscreteScheduler LCMScheduler "
        "EulerAncestralDiscreteScheduler FlowMatchEulerDiscreteScheduler DPMSolverMultistepScheduler"
    ).split():
        made = getattr(library, name)()
        made.set_timesteps(10)
        first, second = made.timesteps[:2]
        if hasattr(made, "scale_model_input"):
            made.scale_model_input(LATENT, first)
        made.step(LATENT, first, LATENT)
        yield f"diffusers.{name}.step", lambda made=made, t=second: made.step(LATENT, t, LATENT)


def torchmetrics() -> Iterator[Case]:
    library = importlib.import_module("torchmetrics")
    for name in (
        "MeanMetric",
        "SumMetric",
        "MaxMetric",
        "MinMetric",
        "CatMetric",
        "RunningMean",
        "MeanSquaredError",
    ):
        given = (SCORES, SCORES) if name == "MeanSquaredError" else (SCORES,)
        made = getattr(library, name)()
        yield f"torchmetrics.{name}.update", lambda made=made, given=given: made.update(*given)
    functional = importlib.import_module("torchmetrics.functional")
    for name in (
        "mean_absolute_error",
        "pearson_corrcoef",
        "spearman_corrcoef",
        "r2_score",
        "mean_squared_error",
    ):
        function = getattr(functional, name)
        yield f"torchmetrics.functional.{name}", lambda function=function: function(SCORES, SCORES**2)
    truth = torch.tensor([1, 0, 1])
    yield "torchmetrics.functional.auroc", lambda: functional.auroc(SCORES, truth, task="binary")


def kornia() -> Iterator[Case]:
    library = importlib.import_module("kornia.augmentation")
    arguments: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(
            ("RandomHorizontalFlip", "RandomVerticalFlip", "RandomErasing", "RandomGrayscale"), ()
        ),
        **dict.fromkeys(("RandomCrop", "RandomResizedCrop"), ((4, 4),)),
        "ColorJitter": (0.1, 0.1, 0.1, 0.1),
        "Normalize": (torch.full((3,), 0.5), torch.full((3,), 0.5)),
        "RandomAffine": (10.0,),
        "RandomRotation": (10.0,),
        "RandomPerspective": (),
        "RandomGaussianBlur": ((3, 3), (0.1, 2.0)),
    }
    for name, given in arguments.items():
        made = getattr(library, name)(*given)
        yield f"kornia.augmentation.{name}.forward", lambda made=made: made(IMAGE)
    filters = importlib.import_module("kornia.filters")
    yield "kornia.filters.gaussian_blur2d", lambda: filters.gaussian_blur2d(IMAGE, (3, 3), (1.0, 1.0))


def timm() -> Iterator[Case]:
    mixup = importlib.import_module("timm.data").Mixup(mixup_alpha=1.0, num_classes=3)
    yield "timm.data.Mixup.forward", lambda: mixup(IMAGE, torch.tensor([0, 1]))


def torchdiffeq() -> Iterator[Case]:
    library, times = importlib.import_module("torchdiffeq"), torch.linspace(0, 1, 3)
    decay = Decay(torch.nn.Linear(3, 3))
    for method in ("euler", "rk4", "midpoint", "dopri5"):
        yield "torchdiffeq.odeint", lambda method=method: library.odeint(decay, SCORES, times, method=method)
    yield "torchdiffeq.odeint_adjoint", lambda: library.odeint_adjoint(decay, SCORES, times, method="euler")


def torchsde() -> Iterator[Case]:
    library, times = importlib.import_module("torchsde"), torch.linspace(0, 1, 3)
    noisy, states = Decay(torch.nn.Linear(2, 2)), torch.ones(3, 2)
    for name in ("sdeint", "sdeint_adjoint"):
        solve = getattr(library, name)
        yield f"torchsde.{name}", lambda solve=solve: solve(noisy, states, times, dt=0.5, method="euler")
    yield "torchsde.BrownianTree", lambda: library.BrownianTree(0.0, states, 1.0)


def julius() -> Iterator[Case]:
    library = importlib.import_module("julius")
    for name, arguments in (
        ("lowpass_filter", (0.1,)), ("highpass_filter", (0.1,)), ("bandpass_filter", (0.1, 0.2)),
        ("split_bands", (16000, 4)), ("resample_frac", (4, 5)),
    ):  # fmt: skip
        filtered = getattr(library, name)
        yield f"julius.{name}", lambda filtered=filtered, arguments=arguments: filtered(WAVE, *arguments)
    for name, arguments in (
        ("LowPassFilter", (0.1,)), ("LowPassFilters", ([0.1, 0.2],)), ("HighPassFilter", (0.1,)),
        ("BandPassFilter", (0.1, 0.2)), ("SplitBands", (16000, 4)), ("ResampleFrac", (4, 5)),
    ):  # fmt: skip
        module = getattr(library, name)(*arguments)
        yield f"julius.{name}.forward", lambda module=module: module(WAVE)
    yield "julius.fft_conv1d", lambda: library.fft_conv1d(WAVE[:, None], torch.randn(1, 1, 32))
    core = importlib.import_module("julius.core")
    yield "julius.core.sinc", lambda: core.sinc(WAVE)
    yield "julius.core.unfold", lambda: core.unfold(WAVE, 16, 4)
    yield "julius.core.mel_frequencies", lambda: core.mel_frequencies(4, 0.0, 100.0)


def ot() -> Iterator[Case]:
    library, weights = importlib.import_module("ot"), torch.ones(3) / 3
    costs, points = torch.rand(3, 3), torch.rand(3, 2)
    for name in ("emd", "emd2"):
        yield f"ot.{name}", lambda name=name: getattr(library, name)(weights, weights, costs)
    for name in ("sinkhorn", "sinkhorn2"):
        yield f"ot.{name}", lambda name=name: getattr(library, name)(weights, weights, costs, 0.1)
    for name in ("emd_1d", "emd2_1d"):
        yield f"ot.{name}", lambda name=name: getattr(library, name)(SCORES, SCORES * 2)
    unbalanced = importlib.import_module("ot.unbalanced").sinkhorn_knopp_unbalanced
    yield "ot.unbalanced.sinkhorn_knopp_unbalanced", lambda: unbalanced(weights, weights, costs, 0.1, 1.0)
    partial = importlib.import_module("ot.partial").entropic_partial_wasserstein
    yield "ot.partial.entropic_partial_wasserstein", lambda: partial(weights, weights, costs, 0.1)
    smooth = importlib.import_module("ot.smooth").smooth_ot_dual
    yield "ot.smooth.smooth_ot_dual", lambda: smooth(weights, weights, costs, 0.1)
    gromov = importlib.import_module("ot.gromov").gromov_wasserstein
    yield "ot.gromov.gromov_wasserstein", lambda: gromov(costs, costs, weights, weights)
    sliced = library.sliced_wasserstein_distance
    yield "ot.sliced_wasserstein_distance", lambda: sliced(points, points, n_projections=5, seed=0)
    yield "ot.dist", lambda: library.dist(points, points)
    yield "ot.unif", lambda: library.unif(3)


def torch_geometric() -> Iterator[Case]:
    """Calls, as they are written: what they are given decides."""
    named: dict[str, Any] = {"utils": importlib.import_module("torch_geometric.utils")}
    named["nn"] = importlib.import_module("torch_geometric.nn")
    named |= {"x": torch.randn(6, 4), "graphs": torch.tensor([0, 0, 0, 1, 1, 1]), "rows": torch.randn(7, 4)}
    named |= {
        "edges": torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 0, 1, 4, 3, 4, 0]]),
        "some": named["x"][:, 0] > -9,
    }
    for text in GRAPHS.strip().splitlines():
        yield text, eval(f"lambda: {text}", named)


GRAPHS = """
utils.scatter(rows, edges[1])
utils.scatter(rows, edges[1], 0, 6, 'mean')
utils.softmax(rows, edges[1])
utils.softmax(rows, edges[1], num_nodes=6)
utils.degree(edges[1])
utils.degree(edges[1], 6)
utils.one_hot(graphs)
utils.one_hot(graphs, 2)
utils.index_to_mask(graphs)
utils.index_to_mask(graphs, size=6)
utils.add_self_loops(edges)
utils.add_self_loops(edges, num_nodes=6)
utils.sort_edge_index(edges)
utils.sort_edge_index(edges, num_nodes=6)
utils.to_dense_batch(x)
utils.to_dense_batch(x, graphs, batch_size=2)
utils.to_dense_batch(x, graphs, max_num_nodes=3, batch_size=2)
nn.global_mean_pool(x, graphs)
nn.global_mean_pool(x, graphs, 2)
nn.global_mean_pool(x, None)
nn.global_add_pool(x, graphs)
nn.global_max_pool(x, graphs, size=2)
utils.to_dense_adj(edges, graphs, max_num_nodes=3, batch_size=2)
utils.remove_self_loops(edges)
utils.add_remaining_self_loops(edges, num_nodes=6)
utils.segregate_self_loops(edges)
utils.contains_self_loops(edges)
utils.coalesce(edges, num_nodes=6)
utils.to_undirected(edges, num_nodes=6)
utils.is_undirected(edges, num_nodes=6)
utils.subgraph(some, edges)
utils.dropout_node(edges, num_nodes=6)
utils.dropout_edge(edges)
utils.dropout_edge(edges, training=False)
utils.get_laplacian(edges, num_nodes=6)
utils.negative_sampling(edges, num_nodes=6)
utils.batched_negative_sampling(edges, graphs)
utils.unbatch(x, graphs)
utils.unbatch_edge_index(edges, graphs)
utils.dense_to_sparse(rows[:4])
utils.mask_to_index(some)
utils.mask_select(x, 0, some)
utils.remove_isolated_nodes(edges, num_nodes=6)
"""
WRITTEN = """
import torch
from torch_geometric import nn, utils

@torch.compile
def f(x, graphs, rows, edges, some):
    return {text}
"""


def is_told(text: str) -> bool:
    """Whether pt2lint says of a call, as it is written, that it ends the graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "written.py")
        path.write_text(WRITTEN.format(text=text))
        return any(one.code == "PTB187" for one in lint([str(path)]).findings)


class Decay(torch.nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self, layer: torch.nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return -self.layer(y) * t

    f = forward

    def g(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(y) * 0.1


def main(names: list[str]) -> int:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    models, wrong = load(), 0
    for library in (
        torchvision, torchaudio, diffusers, torchmetrics, kornia, timm, torchdiffeq, torchsde, julius, ot,
        torch_geometric,
    ):  # fmt: skip
        if names and library.__name__ not in names:
            continue
        try:
            cases = list(library())
        except ImportError as error:
            print(f"{library.__name__}: left out ({error})")
            continue
        for name, call in cases:
            torch._dynamo.reset()
            told = torch._dynamo.explain(lambda x, call=call: (call(), x + 1))(torch.ones(2))
            said = is_told(name) if "(" in name else bool(models.of(name).breaks or models.of(name).untraced)
            verdict = "as said" if said == (told.graph_count > 1) else "WRONG"
            wrong += verdict == "WRONG"
            print(f"{verdict}\t{told.graph_count - 1} breaks\t{name}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
