"""What is run: a callable with its calls, and copies of both."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import torch

Call = tuple  # (args, kwargs)


class Target:
    """A callable and one or more calls of it: [(args, kwargs), ...].

    `how` says where the inputs came from; `path` and `line` where the callable is defined.
    """

    def __init__(self, name: str, function: Callable[..., Any], calls: list[Call], how: str) -> None:
        self.name, self.function, self.calls, self.how = name, function, calls, how
        self.path, self.line = defined_at(function)
        self._pristine = self._copy(function)

    @staticmethod
    def _copy(function: Callable[..., Any]) -> Any:
        if module_of(function) is None:
            return None
        try:
            return copy.deepcopy(function)
        except Exception:
            return None  # holds something that cannot be copied: its state goes on from run to run

    @property
    def modes(self) -> tuple[str, ...]:
        return ("train", "eval") if module_of(self.function) is not None else ("call",)

    def fresh(self, mode: str, device: str | None) -> Callable[..., Any]:
        """The callable as it was at first, in train or eval mode, on the device."""
        function = self.function if self._pristine is None else self._copy(self._pristine)
        module = module_of(function)
        if module is not None:
            module.train(mode != "eval")
            if device:
                module.to(device)
        return function

    def arguments(self, number: int, device: str | None) -> Call:
        """A fresh copy of the arguments of one call."""
        return cloned(self.calls[number], device)


def module_of(function: Any) -> torch.nn.Module | None:
    """The nn.Module that is called, or whose bound method is; None for other callables."""
    if isinstance(function, torch.nn.Module):
        return function
    owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None


def defined_at(function: Any) -> tuple[str | None, int | None]:
    """(real path, line) of the code of a callable, (None, None) where it has none in Python."""
    if isinstance(function, torch.nn.Module):
        function = type(function).forward
    elif not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = type(function).__call__
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return (os.path.realpath(code.co_filename), code.co_firstlineno) if code else (None, None)


def cloned(value: Any, device: str | None = None) -> Any:
    """A copy of an argument tree in which each tensor is a new leaf; modules stay the same."""
    if isinstance(value, torch.Tensor):
        with torch.no_grad():
            new = value.detach().clone()
        if device:
            new = new.to(device)
        return new.requires_grad_(True) if value.requires_grad else new
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(cloned(item, device) for item in value))
    if type(value) in (list, tuple, set):
        return type(value)(cloned(item, device) for item in value)
    if type(value) is dict:
        return {key: cloned(item, device) for key, item in value.items()}
    if isinstance(value, (torch.nn.Module, torch.optim.Optimizer)):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def mapped(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """An argument tree with each tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(mapped(change, item) for item in value)
    return value


def tensors_of(value: Any) -> list[torch.Tensor]:
    """All tensors in a result or an argument tree, in order."""
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in tensors_of(item)]


def resized(call: Call, dim: int, size: int, new: int) -> Call:
    """The call with each dimension `dim` that is `size` long made `new` long by repeating its rows."""

    def resize(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() <= dim or tensor.shape[dim] != size:
            return tensor
        rows = torch.arange(new, device=tensor.device) % size
        return tensor.detach().index_select(dim, rows).requires_grad_(tensor.requires_grad)

    return mapped(resize, call)


def same(ones: list[torch.Tensor], others: list[torch.Tensor], tolerance: float) -> bool:
    """Whether two results agree; complex, sparse and nested tensors are not compared."""
    if len(ones) != len(others):
        return False
    for a, b in zip(ones, others):  # noqa: B905 -- Python 3.9
        if a.is_complex() or a.layout != torch.strided or a.is_nested or a.is_quantized:
            continue
        if a.shape != b.shape or not torch.allclose(
            a.double(), b.double(), tolerance, tolerance, equal_nan=True
        ):
            return False
    return True


def distance(ones: list[torch.Tensor], others: list[torch.Tensor]) -> float:
    """The largest difference of two results, infinite where their shapes differ."""
    if [a.shape for a in ones] != [b.shape for b in others]:
        return float("inf")
    apart = [float((a.double() - b.double()).abs().max()) for a, b in zip(ones, others) if a.numel()]  # noqa: B905
    return max(apart, default=0.0)
