"""Models of real size that break, written out with torch and NumPy alone: what device_worth.py measures.

Each class has `dtype` and `call(size)`: the arguments of a call. The constructs are those that libraries use: overflow
clamps in float16, layers left out in training, experts in a loop, checks that raise, masked losses, masks of NumPy.
SIZE=small in the environment makes them small enough for a processor.
"""

import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SIZE") == "small"
WIDTH, HEADS, LAYERS = (64, 4, 2) if SMALL else (768, 12, 12)
ROWS, LENGTH = (2, 16) if SMALL else (8, 512)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask=None):
        rows, length, _ = x.shape
        q, k, v = self.qkv(x).view(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(h.transpose(1, 2).reshape(rows, length, -1))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.first, self.second = Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask=None):
        x = self.first(x + self.attention(x, mask))
        return self.second(x + self.down(F.gelu(self.up(x))))


class ClampedLayer(Layer):
    """An encoder layer with the overflow clamp of half precision."""

    def forward(self, x, mask=None):
        x = self.first(x + self.attention(x, mask))
        h = self.down(F.gelu(self.up(x)))
        x = self.second(x + h)
        if x.dtype == torch.float16 and (torch.isinf(x).any() or torch.isnan(x).any()):
            limit = torch.finfo(x.dtype).max - 1000
            x = torch.clamp(x, min=-limit, max=limit)
        return x


class Base(nn.Module):
    dtype = torch.float32

    @classmethod
    def call(cls):
        return (torch.randn(ROWS, LENGTH, WIDTH, dtype=cls.dtype),)


class Clamped(Base):
    dtype = torch.float16

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(ClampedLayer() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class LayerDrop(Base):
    """Layers left out at random in training."""

    def __init__(self):
        super().__init__()
        self.layerdrop = 0.1
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            if self.training:
                drawn = torch.rand([])
                if drawn < self.layerdrop:
                    continue
            x = layer(x)
        return x


class Detector(Base):
    """A hybrid encoder of a detector: convolutions, an encoder layer with a clamp, heads that are checked."""

    dtype = torch.float16

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, WIDTH // 4, 7, 4, 3), nn.BatchNorm2d(WIDTH // 4), nn.ReLU(),
            nn.Conv2d(WIDTH // 4, WIDTH, 3, 4, 1), nn.BatchNorm2d(WIDTH),
        )  # fmt: skip
        self.layers = nn.ModuleList(Layer() for _ in range(max(2, LAYERS // 2)))
        self.boxes, self.scores = nn.Linear(WIDTH, 4), nn.Linear(WIDTH, 80)

    @classmethod
    def call(cls):
        side = 64 if SMALL else 512
        return (torch.randn(2 if SMALL else 8, 3, side, side, dtype=cls.dtype),)

    def forward(self, image):
        h = self.stem(image).flatten(2).transpose(1, 2)
        for layer in self.layers:
            h = layer(h)
            if not torch.isfinite(h).all():
                limit = torch.finfo(h.dtype).max - 1000
                h = torch.clamp(h, min=-limit, max=limit)
        return self.boxes(h).sigmoid(), self.scores(h)


class Blocks(Base):
    """Twelve residual blocks, each with one branch on a tensor."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(12))

    def forward(self, x):
        for block in self.blocks:
            h = x + block(torch.relu(x))
            if torch.isinf(h).any():
                h = torch.clamp(h, min=-1e4, max=1e4)
            x = h
        return x


class Experts(Base):
    """A mixture of experts that goes over those which were chosen."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, 8)
        self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(8))

    def forward(self, x):
        flat = x.reshape(-1, WIDTH)
        weights, chosen = self.router(flat).softmax(-1).topk(2, dim=-1)
        mask = F.one_hot(chosen, num_classes=8).permute(2, 1, 0)
        out = torch.zeros_like(flat)
        hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()
        for index in hit:
            expert = index[0]
            place, row = torch.where(mask[expert])
            now = self.experts[expert](flat[row]) * weights[row, place, None]
            out.index_add_(0, row, now.to(flat.dtype))
        return out.view_as(x)


class Checked(Base):
    """Layers whose results are checked for NaN."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if torch.isnan(x).any():
                raise ValueError("NaN in the encoder")
        return x


class MaskShortcut(Base):
    """A mask that masks nothing is left out."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    @classmethod
    def call(cls):
        return (torch.randn(ROWS, LENGTH, WIDTH), torch.ones(ROWS, 1, 1, LENGTH, dtype=torch.bool))

    def forward(self, x, mask):
        if mask.all():
            mask = None
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Scaled(Base):
    """A scale read out of each block's tensor."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(12))

    def forward(self, x):
        for block in self.blocks:
            h = block(x)
            x = x + h / h.abs().max().item()
        return x


class MaskedLoss(Base):
    """A loss of what a mask selects."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 100)

    @classmethod
    def call(cls):
        labels = torch.randint(0, 100, (ROWS, LENGTH))
        return (torch.randn(ROWS, LENGTH, WIDTH), labels, torch.rand(ROWS, LENGTH) > 0.5)

    def forward(self, x: torch.Tensor, labels: torch.Tensor, mask: torch.BoolTensor):
        for layer in self.layers:
            x = layer(x)
        logits = self.head(x)
        return F.cross_entropy(logits[mask], labels[mask])


def masked_spans(shape: tuple[int, int], rate: float, span: int) -> np.ndarray:
    """Random spans to mask, as SpecAugment has them."""
    rows, length = shape
    epsilon = np.random.rand(1).item()
    count = max(1, int(rate * length / span + epsilon))
    found = np.zeros((rows, length), dtype=bool)
    for row in range(rows):
        starts = np.random.choice(np.arange(length - span + 1), count, replace=False)
        for start in starts:
            found[row, start : start + span] = True
    return found


class SpecAugment(Base):
    """An encoder of speech that masks spans, which NumPy draws, in training."""

    def __init__(self):
        super().__init__()
        self.masked = nn.Parameter(torch.zeros(WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x):
        if self.training:
            spans = masked_spans((x.shape[0], x.shape[1]), 0.2, 4)
            mask = torch.tensor(spans, device=x.device, dtype=torch.bool)
            x = torch.where(mask[:, :, None], self.masked, x)
        for layer in self.layers:
            x = layer(x)
        return x


class Noisy(Base):
    """Sums by index, whose order differs from run to run on a GPU: the judge of fixes has to know that noise."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(2))

    @classmethod
    def call(cls):
        return (torch.randn(ROWS, LENGTH, WIDTH), torch.randint(0, 50, (ROWS, LENGTH)))

    def forward(self, x, ids):
        h = x + self.table(ids)
        pooled = torch.zeros(50, WIDTH, device=x.device, dtype=h.dtype)
        pooled = pooled.index_add(0, ids.flatten(), h.reshape(-1, WIDTH))
        h = h + pooled[ids]
        for layer in self.layers:
            h = layer(h)
        if h.abs().max() > 100:
            h = h * 0.5
        return h


MODELS = (
    Blocks,
    Clamped,
    LayerDrop,
    Detector,
    Experts,
    Checked,
    MaskShortcut,
    Scaled,
    MaskedLoss,
    SpecAugment,
    Noisy,
)


def inputs(model):
    torch.manual_seed(0)
    return model().to(model.dtype), model.call()


def __getattr__(name):
    """`device_models.py:inputs_Clamped` is the function that --inputs asks for."""
    for model in MODELS:
        if name == f"inputs_{model.__name__}":
            return lambda: inputs(model)
    raise AttributeError(name)
