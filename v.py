import torch
import torch.nn as nn


class M(nn.Module):
    def __init__(self, kind, low=False, deep=False):
        super().__init__()
        if isinstance(kind, nn.Linear):
            self.kind = "linear"
        else:
            self.kind = "conv"
        self.low, self.deep = low, deep
        self.w = nn.Parameter(torch.ones(4, 4))

    def forward(self, h: torch.Tensor):
        conv = self.kind == "conv"
        b = self.w
        if self.low and conv:
            b = b.view(4, 4, 1)
        if conv:
            b = h.shape[0]
        if conv:
            h = h.view(b, -1)
        return h
