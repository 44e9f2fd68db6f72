"""Dropout turned off: for fixes after which one seed draws other random numbers, so that the rest can be compared.

The functions of torch.nn.functional stay the objects that Dynamo knows; their code alone is exchanged. Tensors of
random numbers are the same at each draw then, whatever was drawn before: a layer that samples gives what it gave. One
number is still drawn: what is left out depends on it. Python and NumPy draw theirs from torch's generator, so that a
fix may let torch draw it.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
from typing import Any

import torch
import torch.nn.functional as F

DROPOUTS = ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")


# How many arguments it has where it draws one number, evenly between these two, or between 0 and 1.
ON_HOST: dict[str, dict[str, tuple[int, ...]]] = {
    "random": {"random": (0,), "uniform": (2,)},
    "numpy.random": {"rand": (0,), "random": (0,), "random_sample": (0,), "uniform": (0, 2)},
}
GOLDEN = (math.sqrt(5) - 1) / 2  # the parts after the point of its multiples lie evenly between 0 and 1
HELD = [False]  # models and inputs are made of numbers that are drawn


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
    for name, held in (("rand", rand), ("randn", randn), ("randint", randint), ("randperm", randperm)):
        setattr(torch, name, held_still(getattr(torch, name), held))
    draw_from_torch()
    # What Dynamo traces of NumPy's random numbers it draws from a generator of torch's own, unless it is told not to.
    torch._dynamo.config.use_numpy_random_stream = True


def draw_from_torch() -> None:
    """Let Python and NumPy draw single numbers from torch's generator."""
    for where, names in ON_HOST.items():
        if where.partition(".")[0] in sys.modules:
            module = importlib.import_module(where)
            for name, counts in names.items():
                setattr(module, name, from_torch(getattr(module, name), counts))


def from_torch(drawn: Any, counts: tuple[int, ...]) -> Any:
    @functools.wraps(drawn)
    def draw(*given: Any, **named: Any) -> Any:
        if not HELD[0] or named or len(given) not in counts:
            return drawn(*given, **named)
        low, high = given or (0.0, 1.0)
        return low + (high - low) * torch.rand(()).item()

    return draw


def holding(look: Any) -> Any:
    """The function, during whose calls tensors of random numbers are the same at each draw."""

    def held(target: Any) -> None:
        HELD[0] = True
        try:
            look(target)
        finally:
            HELD[0] = False

    return held


def held_still(drawn: Any, held: Any) -> Any:
    @functools.wraps(drawn)
    def draw(*given: Any, **named: Any) -> Any:
        plain = not any(name in named for name in ("generator", "out", "names"))
        made = held(*given, **named) if HELD[0] and plain else None
        return drawn(*given, **named) if made is None else made

    return draw


def spread(size: Any, named: Any) -> Any:
    """Numbers between 0 and 1 in a tensor of that size; None of a single number."""
    count = math.prod(size)
    if count == 1:
        return None
    places = torch.arange(1, count + 1, device=named.get("device"), dtype=torch.float64)
    return (places * GOLDEN).frac().reshape(size)


def finish(numbers: Any, named: Any, dtype: Any = None) -> Any:
    if numbers is None:
        return None
    made = numbers.to(named.get("dtype") or dtype or torch.get_default_dtype())
    return made.requires_grad_() if named.get("requires_grad") else made


def rand(*given: Any, **named: Any) -> Any:
    return finish(spread(sizes(given, named), named), named)


def randn(*given: Any, **named: Any) -> Any:
    numbers = spread(sizes(given, named), named)
    return finish(None if numbers is None else torch.special.ndtri(numbers), named)


def randint(*given: Any, **named: Any) -> Any:
    *bounds, size = given if "size" not in named else (*given, named["size"])
    low = named.get("low", bounds[0] if len(bounds) == 2 else 0)
    high = named["high"] if "high" in named else bounds[-1]
    numbers = spread(size, named)
    return finish(None if numbers is None else (numbers * (high - low) + low).floor(), named, torch.int64)


def randperm(*given: Any, **named: Any) -> Any:
    numbers = spread((given or (named["n"],))[:1], named)
    return finish(None if numbers is None else numbers.argsort(), named, torch.int64)


def sizes(given: Any, named: Any) -> Any:
    if "size" in named:
        return named["size"]
    return given[0] if given and isinstance(given[0], (tuple, list)) else given
