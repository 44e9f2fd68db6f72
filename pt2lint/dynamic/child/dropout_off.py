"""Dropout turned off: for fixes after which one seed draws other random numbers, so that the rest can be compared.

The functions of torch.nn.functional stay the objects that Dynamo knows; their code alone is exchanged.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch.nn.functional as F

DROPOUTS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")


def as_given(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return input


def install() -> None:
    """Let no dropout of this process draw anything. To be called before the user's code is imported."""
    for name in DROPOUTS:
        function = getattr(F, name)
        if list(inspect.signature(function).parameters) == list(inspect.signature(as_given).parameters):
            function.__code__ = as_given.__code__
    attention = F.scaled_dot_product_attention  # built in: it cannot be given other code

    @functools.wraps(attention)
    def scaled_dot_product_attention(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        *rest: Any,
        **named: Any,
    ) -> Any:
        return attention(query, key, value, attn_mask, 0.0, *rest, **named)

    F.scaled_dot_product_attention = scaled_dot_product_attention
