"""Modules and optimizers put back as they were before a call, so that what was compiled for them serves the next call
too.

A deep copy is another object to the guards of what was compiled (some ask for the identity of a configuration), and
Dynamo would compile it anew.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import inspect
import logging
import os
import threading
import types
import weakref
from collections.abc import Iterable
from typing import Any

import torch

NODES = 200_000  # objects that are looked at, at most
_PLAIN = {str, bytes, bool, int, type(None), torch.dtype}  # compared as they are
_VALUES = (
    str, bytes, int, float, complex, type(Ellipsis), type(NotImplemented), range, slice, torch.device, torch.layout,
    torch.memory_format, os.PathLike, enum.Enum,
)  # fmt: skip
_BY_IDENTITY = (
    type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, weakref.ref, property,
    staticmethod, classmethod, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.GenericAlias, logging.Logger, type(threading.Lock()), type(threading.RLock()),
)  # fmt: skip
_TRAINED = (
    torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler,
)  # fmt: skip
_OPEN = (
    dict, list, tuple, set, frozenset, collections.deque, functools.partial, types.MappingProxyType,
)  # fmt: skip


class Unsure(Exception):
    """Holds something of which nobody can tell whether it has changed."""


class Picture:
    """What can be reached from an object: a description that equals itself as long as nothing but the numbers in
    tensors has changed; the tensors; and the containers, with what they held."""

    def __init__(self, root: Any) -> None:
        self.said: list[Any] = []
        self.tensors: list[torch.Tensor] = []
        self.grads: list[torch.Tensor | None] = []
        self.held: list[tuple[Any, Any]] = []
        self._known: dict[int, int] = {}
        left = [root]
        while left:
            left += self._look(left.pop())
            if len(self.said) > NODES:
                raise Unsure("too much to look at")

    def _look(self, value: Any) -> list[Any]:
        """Describe one object; returns what to look at next."""
        kind: Any = type(value)
        if kind in _PLAIN:  # nearly all
            self.said.append((kind, value))
            return []
        if id(value) in self._known:
            self.said.append(self._known[id(value)])
            return []
        self._known[id(value)] = len(self._known)
        self.said.append((kind, id(value)))
        if kind is dict:
            return self._content(value)
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, _BY_IDENTITY):
            return []
        if isinstance(value, _VALUES):
            self.said.append(repr(value))
            return []
        if isinstance(value, torch.Generator):
            self.said.append(bytes(value.get_state().numpy()))
            return []
        if isinstance(value, types.MethodType):
            self.said.append(id(value.__func__))
            return [value.__self__]
        if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
            self.said.append((str(value.dtype), value.shape, value.tobytes()))
            return []
        inner = self._content(value)
        attributes = getattr(value, "__dict__", None)
        if type(attributes) is dict:
            self.held.append((attributes, dict(attributes)))
            inner += [part for pair in attributes.items() for part in pair]
        slots = _slots(kind)
        inner += [getattr(value, name) for name in slots if hasattr(value, name)]
        if not isinstance(value, _OPEN) and type(attributes) is not dict and not slots and kind is not object:
            raise Unsure(f"a {kind.__name__}")
        return inner

    def _content(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            self.held.append((value, dict(value)))
            return [part for pair in value.items() for part in pair]
        if isinstance(value, types.MappingProxyType):
            return [part for pair in value.items() for part in pair]
        if isinstance(value, (list, set, collections.deque)):
            self.held.append((value, list(value)))
            return list(value)
        if isinstance(value, (tuple, frozenset)):
            return list(value)
        if isinstance(value, functools.partial):
            return [value.func, value.args, value.keywords]
        return []

    def _tensor(self, tensor: torch.Tensor) -> list[Any]:
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
            raise Unsure("a tensor of another layout")
        about = (
            tensor.dtype,
            tensor.shape,
            tensor.stride(),
            tensor.device,
            tensor.requires_grad,
            tensor.is_leaf,
        )
        self.said.append(about)
        self.tensors.append(tensor)
        grad = tensor.grad if tensor.is_leaf else None
        self.grads.append(grad)
        return [grad, vars(tensor)]


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    """The names by which `__slots__` of a class and its bases are read."""
    found: list[str] = []
    for base in kind.__mro__:
        given = vars(base).get("__slots__", ())
        private = f"_{base.__name__.lstrip('_')}"
        found += [
            private + name if name.startswith("__") and not name.endswith("__") else name
            for name in ([given] if isinstance(given, str) else given)
            if name not in ("__dict__", "__weakref__")
        ]
    return tuple(found)


class Kept:
    """An object with the means to put it back, a module or several things; `like` is a copy of it that nobody changes,
    which has the numbers (without one they are copied).

    Raises Unsure where that cannot be done.
    """

    def __init__(self, root: Any, like: Any = None) -> None:
        self.root = root
        self.first = Picture(root)
        tensors = self.first.tensors
        self.numbers = [one.detach().clone() for one in tensors] if like is None else Picture(like).tensors
        if any(isinstance(one, torch.jit.ScriptModule) for top in _modules(root) for one in top.modules()):
            raise Unsure("a ScriptModule")
        if [one.shape for one in self.numbers] != [one.shape for one in tensors]:
            raise Unsure("its copy is another")

    def put_back(self) -> bool:
        """Whether it is as it was at first, after an attempt to make it so."""
        try:
            for container, held in self.first.held:
                refill(container, held)
            with torch.no_grad():
                for tensor, grad, number in zip(self.first.tensors, self.first.grads, self.numbers):  # noqa: B905
                    tensor.copy_(number)
                    if tensor.is_leaf and tensor.grad is not grad:
                        tensor.grad = grad
            return Picture(self.root).said == self.first.said
        except Exception:
            return False

    def changed(self) -> list[tuple[str, torch.Tensor]]:
        """The parameters and buffers of its modules, and what its optimizers train, that have other numbers by now."""
        first = {id(tensor): number for tensor, number in zip(self.first.tensors, self.numbers)}  # noqa: B905
        named = {
            id(tensor): (name, tensor)
            for module in _modules(self.root)
            for name, tensor in (*module.named_parameters(), *module.named_buffers())
        }
        for optimizer in self.root if isinstance(self.root, tuple) else ():
            for number, tensor in enumerate(_trained_by(optimizer)):
                named.setdefault(id(tensor), (f"parameter {number}", tensor))
        return [
            (name, tensor.detach().cpu().clone())
            for name, tensor in named.values()
            if id(tensor) not in first or not torch.equal(tensor, first[id(tensor)])
        ]


def _modules(root: Any) -> list[torch.nn.Module]:
    return [one for one in (root if isinstance(root, tuple) else (root,)) if isinstance(one, torch.nn.Module)]


def _trained_by(optimizer: Any) -> list[torch.Tensor]:
    groups = optimizer.param_groups if isinstance(optimizer, torch.optim.Optimizer) else ()
    return [tensor for group in groups for tensor in group["params"]]


def state_of(function: Any, calls: Iterable[Any]) -> tuple[Any, ...]:
    """What training changes of all that a function reaches: the modules, optimizers, schedulers and scalers among its
    arguments, its object's attributes, and the variables around it that it names."""
    owner = getattr(function, "__self__", None)
    function = inspect.unwrap(getattr(function, "__func__", function))
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    around = [names[name] for name in code.co_names if name in names] if code is not None else []
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty one
            around.append(cell.cell_contents)
    found: dict[int, Any] = {}
    left: list[Any] = [*calls, owner, getattr(owner, "__dict__", {}), *around]
    while left:
        value = left.pop()
        if isinstance(value, _TRAINED):
            found[id(value)] = value
        elif isinstance(value, dict):
            left += value.values()
        elif type(value) in (list, tuple):
            left += value
    return tuple(found.values())


def refill(container: Any, held: Any) -> None:
    """Give a container what it held, if it holds something else now."""
    if isinstance(container, dict):
        now = [*container.items()]
        if len(now) != len(held) or any(
            a is not c or b is not d
            for (a, b), (c, d) in zip(now, held.items())  # noqa: B905
        ):
            container.clear()
            container.update(held)
        return
    if len(container) != len(held) or any(a is not b for a, b in zip(container, held)):  # noqa: B905
        container.clear()
        container.update(held) if isinstance(container, set) else container.extend(held)
