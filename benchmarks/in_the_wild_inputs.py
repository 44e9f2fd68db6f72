"""Calls of libraries in the wild, for `--inputs`: each function returns (callable, args, kwargs)."""

from __future__ import annotations

from typing import Any

import torch

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def monai_focal_loss() -> Call:
    from monai.losses import FocalLoss  # type: ignore[import-not-found]

    loss = FocalLoss(weight=torch.tensor([1.0, 2.0]))
    return loss, (torch.randn(2, 2, 4, 4), torch.randint(0, 2, (2, 2, 4, 4)).float()), {}
