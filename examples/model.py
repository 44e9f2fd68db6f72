"""A small sequence classifier, written the way such models are written, with what costs it its graph.

`get_inputs()` and `get_init_inputs()` tell `pt2lint --verify` how to build and call it.
"""

import copy

import torch
from torch import nn


class Router(nn.Module):
    """Centres what it is given and passes it on through a bottleneck."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        template = nn.Linear(dim, dim)
        self.up = copy.deepcopy(template)  # fine: copied once, when the model is built
        self.down = copy.deepcopy(template)
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        if mask is not None:  # fine: whether there is a mask is known while tracing
            x = x.masked_fill(mask.unsqueeze(-1), 0.0)
        if x.shape[0] > 1:  # fine: shapes are known while tracing
            x = x - x.mean(dim=0, keepdim=True)
        return self.down(torch.relu(self.up(x))) * self.scale


class Classifier(nn.Module):
    def __init__(self, dim: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Router(dim) for _ in range(2))
        self.head = nn.Linear(dim, classes)
        self.names = {"head": "linear", "layers": "router"}

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        if x.abs().max() > 10.0:  # a branch on the values in x
            x = x / 10.0
        residual = copy.deepcopy(x)  # a copy of a tensor, made by Python
        for layer in self.layers:
            x = layer(x, mask)
        for name, kind in self.names.items():  # fine: a dictionary's items
            if kind == "router" and not hasattr(self, name):
                raise AttributeError(name)
        peak = x.abs().amax().item()  # a number, read out of a tensor
        print("batch of", x.shape[0])  # a call that Dynamo cannot put into the graph
        if self.training:  # fine: a plain flag
            x = nn.functional.dropout(x, 0.1)
        return self.head((x / (peak + 1e-6) + residual).mean(dim=1))


def get_init_inputs() -> list[int]:
    return [16, 4]


def get_inputs() -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(2, 8, 16), torch.zeros(2, 8, dtype=torch.bool)]
