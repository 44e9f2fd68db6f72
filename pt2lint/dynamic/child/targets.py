"""What is run: a callable with its calls, and copies of both."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch

Call = tuple  # (args, kwargs)


class Target:
    """A callable and one or more calls of it: [(args, kwargs), ...].

    `how` says where the inputs came from; `path` and `line` where the callable is defined; `seen_in` the mode
    in which a program made each call, None where no program did; `pristine` a copy of a callable with state, that
    nobody calls; `again` makes the callable anew, given the device and the dtype; `named` that the user gave it its
    name; `whole` that its program compiles it with fullgraph=True;
    `dtype` what floating-point parameters, buffers and arguments are cast to, None for none; `autocast` the kinds of
    devices, and the dtype of each, for which its program has autocast on when it calls it.
    """

    named = False
    whole = False
    again: Callable[[str | None, torch.dtype | None], Callable[..., Any]] | None = None
    dtype: torch.dtype | None = None
    autocast: tuple[tuple[str, torch.dtype], ...] = ()

    def __init__(self, name: str, function: Callable[..., Any], calls: list[Call], how: str) -> None:
        self.name, self.function, self.calls, self.how = name, function, calls, how
        self.seen_in: list[str | None] = [None] * len(calls)
        self.path, self.line = defined_at(function)
        self.pristine = self._copy(function)

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
        if self.again is not None:
            return self.again(device, self.dtype)
        function = self.function if self.pristine is None else self._copy(self.pristine)
        module = module_of(function)
        if module is not None:
            module.train(mode != "eval")
            if device:
                module.to(device)
            if self.dtype is not None:
                module._apply(self._cast)
        return function

    def arguments(self, number: int, device: str | None) -> Call:
        """A fresh copy of the arguments of one call."""
        call = cloned(self.calls[number], device)
        return call if self.dtype is None else mapped(self._cast, call)

    def _cast(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in `dtype`, a leaf that needs a gradient where it did; what is no floating-point one as it is."""
        if not tensor.is_floating_point() or tensor.dtype == self.dtype:
            return tensor
        return tensor.detach().to(self.dtype).requires_grad_(tensor.requires_grad)

    @contextlib.contextmanager
    def around(self, enabled: bool = True) -> Iterator[None]:
        """What its calls run in, or that turned off; weights are cast anew for each, as they are put back from call to
        call."""
        with contextlib.ExitStack() as stack:
            for device, dtype in self.autocast:
                stack.enter_context(torch.autocast(device, dtype, enabled, cache_enabled=False))
            yield

    def add(self, call: Call, mode: str | None = None) -> None:
        self.calls.append(call)
        self.seen_in.append(mode)

    def further(self, mode: str) -> list[int]:
        """The numbers of the calls to make in a mode: the first, and the further ones that belong to it.

        What a program calls in train mode it may call with inputs of another kind (some need gradients) than
        in eval mode; to mix them would recompile for a difference that no one run of it has.
        """
        return [
            number for number, seen in enumerate(self.seen_in)
            if number == 0 or seen is None or seen == mode or mode == "call"
        ]  # fmt: skip


class Later:
    """A target that is made when its turn comes: of hundreds, one is in memory at a time. `make` gives None where it
    has told why there is none."""

    def __init__(self, name: str, make: Callable[[], Target | None]) -> None:
        self.name, self.make = name, make


def compiled_of(value: Any) -> Callable[..., Any] | None:
    """What `torch.compile` made a function of; None for any other, also for what `torch.compiler.disable` gives, which
    keeps it in the same way."""
    if getattr(value, "_torchdynamo_disable", False):
        return None
    return getattr(value, "_torchdynamo_orig_callable", None)


def autocast_now() -> tuple[tuple[str, torch.dtype], ...]:
    """The kinds of devices for which autocast is on, and the dtype of each."""
    found = []
    for device in ("cpu", "cuda", "xpu", "mps"):
        with contextlib.suppress(RuntimeError):  # a torch that has no autocast for it
            if torch.is_autocast_enabled(device):
                found.append((device, torch.get_autocast_dtype(device)))
    return tuple(found)


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
            if value.layout == torch.strided and new.stride() != value.stride():
                new = with_strides(value.detach())
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


def with_strides(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that lies in memory as the tensor does, where clone() would close gaps or undo an expand()."""
    try:
        span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))  # noqa: B905
        whole = tensor.as_strided((span,), (1,), tensor.storage_offset()).clone()
        return whole.as_strided(tensor.shape, tensor.stride())
    except RuntimeError:
        return tensor.clone()  # a kind of tensor that has no such view


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
        if tensor.dim() <= dim or tensor.shape[dim] != size or tensor.layout != torch.strided:
            return tensor
        rows = torch.arange(new, device=tensor.device) % size
        # Dimensions in the order in which they lie in memory, so that only the size changes: channels stay last.
        order = sorted(range(tensor.dim()), key=lambda each: -tensor.stride(each))
        lying = tensor.detach().permute(order).index_select(order.index(dim), rows)
        back = sorted(range(tensor.dim()), key=order.__getitem__)
        return lying.permute(back).requires_grad_(tensor.requires_grad)

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
    """The largest difference of two results, infinite where their shapes differ, or where one alone is no number."""
    if [a.shape for a in ones] != [b.shape for b in others]:
        return float("inf")

    def apart(a: torch.Tensor, b: torch.Tensor) -> float:
        a, b = a.double(), b.double()
        alike = (a == b) | (a.isnan() & b.isnan())
        return float((a - b).abs().masked_fill(alike, 0.0).nan_to_num(float("inf")).max())

    return max((apart(a, b) for a, b in zip(ones, others) if a.numel()), default=0.0)  # noqa: B905
