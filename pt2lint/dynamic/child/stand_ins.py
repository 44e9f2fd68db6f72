"""What stands for a module that another one is built around, or for a configuration."""

from __future__ import annotations

import argparse
from typing import Any

import torch


class Passed(torch.nn.Module):
    """Stands for a module that another one is built around: gives back what it is called with first, in a tuple where
    several results are wanted of it."""

    def __init__(self, wanted: int = 0) -> None:
        super().__init__()
        self._wanted = wanted

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        result = given_back(*args, **kwargs)
        return (result,) * self._wanted if self._wanted else result


class Identity(torch.nn.Identity):
    """Stands for a class that is called for a module: the module takes more than one argument, too."""

    def forward(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        return input


class Layer(torch.nn.Linear):
    """Stands for what a function makes that is given how much goes in and comes out: `make_net(4, 8)`."""

    def __init__(self, *sizes: Any, **named: Any) -> None:
        numbers = [each for each in (*sizes, *named.values()) if type(each) is int]
        super().__init__(numbers[0], numbers[min(1, len(numbers) - 1)])

    def forward(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return super().forward(x)


def given_back(*args: Any, **kwargs: Any) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


class Namespace(argparse.Namespace):
    """Stands for a configuration, of attributes or as a mapping."""

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)
