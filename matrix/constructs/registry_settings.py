# ruff: noqa
"""What breaks under a setting of `torch._dynamo.config` alone."""

import contextlib
import itertools
import random

import torch
from torch import Tensor, nn

try:
    import numpy as np
except ImportError:
    np = None

CONFIG = {
    "numpy_not_traced": {"trace_numpy": False},
    "numpy_function_not_traced": {"trace_numpy": False},
    "from_numpy_not_traced": {"trace_numpy": False},
    "numpy_random_stream": {"use_numpy_random_stream": True},
    "contextlib_not_traced": {"enable_trace_contextlib": False},
    "compliant_operators_only": {"only_allow_pt2_compliant_ops": True},
    "print_reordered_with_object": {"reorderable_logging_functions": {print}},
    "record_function_captured": {"capture_profiler_record_function": True},
    "grad_traced": {"trace_autograd_ops": True},
    "grad_traced_edge": {"trace_autograd_ops": True},
    "grad_traced_text": {"trace_autograd_ops": True},
    "backward_traced": {"trace_autograd_ops": True},
    "backward_traced_not_leaf": {"trace_autograd_ops": True},
    "backward_traced_made_inside": {"trace_autograd_ops": True},
    "backward_traced_no_inputs": {"trace_autograd_ops": True},
    "parameter_made": {"graph_break_on_nn_param_ctor": False},
    "scalars_captured_branch": {"capture_scalar_outputs": True},
    "shapes_captured_branch": {"capture_dynamic_output_shape_ops": True},
}

_weight = torch.ones(4, 4, requires_grad=True)
_vector = torch.ones(4, requires_grad=True)
_computed = torch.ones(4, requires_grad=True) * 2
_edge = torch.autograd.graph.get_gradient_edge(torch.ones(4, requires_grad=True) * 2)
_linear = nn.Linear(4, 4).requires_grad_(False)
_layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
_array = np and np.ones(4)


class _Tagged(Tensor):
    pass


_subclass = torch.ones(4, 4).as_subclass(_Tagged)
_library = torch.library.Library("pt2lint_settings", "DEF")
_library.define("plain(Tensor x) -> Tensor")
_library.impl("plain", lambda x: x + 1, "CPU")
_library.define("rows(Tensor x) -> Tensor")
_library.impl("rows", lambda x: x[x > 0], "CPU")


class _OddModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.names = {"a": 1}

    @property
    def first(self):
        return self.linear

    def forward(self, x):
        return self.linear(x)


_odd = _OddModule().requires_grad_(False)


@contextlib.contextmanager
def _manager():
    yield


def numpy_not_traced(x: Tensor):
    """`x.numpy()` under `trace_numpy = False`"""
    return x + len(x.numpy())


def numpy_function_not_traced(x: Tensor):
    """`np.ones(4)` under `trace_numpy = False`"""
    return x + len(np.ones(4))


def from_numpy_not_traced(x: Tensor):
    """`torch.from_numpy(array)` under `trace_numpy = False`"""
    return x + torch.from_numpy(_array)


def numpy_random_stream(x: Tensor):
    """`np.random.uniform` under `use_numpy_random_stream`"""
    return x + np.random.uniform(size=4).sum() * 0


def contextlib_not_traced(x: Tensor):
    """A context manager of one's own under `enable_trace_contextlib = False`"""
    with _manager():
        x = x + 1
    return x


def compliant_operators_only(x: Tensor):
    """A custom operator under `only_allow_pt2_compliant_ops`"""
    return torch.ops.pt2lint_settings.plain(x)


def print_reordered_with_object(x: Tensor):
    """`print(list)` among `reorderable_logging_functions`"""
    print("a", [x.shape], object)
    return x + 1


def record_function_captured(x: Tensor):
    """A break in `record_function` under `capture_profiler_record_function`"""
    with torch.profiler.record_function("a"):
        x = x + 1
        print("a")
    return x


def grad_traced(x: Tensor):
    """`torch.autograd.grad` under `trace_autograd_ops`"""
    return torch.autograd.grad((x * _weight).sum(), _weight)[0]


def grad_traced_edge(x: Tensor):
    """`torch.autograd.grad` with a gradient edge from outside, under `trace_autograd_ops`"""
    y = (x * _vector).sum()
    return x + sum(
        g.sum() for g in torch.autograd.grad([y], (_vector, _edge), allow_unused=True) if g is not None
    )


def grad_traced_text(x: Tensor):
    """`torch.autograd.grad` of a `NamedTuple` of inputs, under `trace_autograd_ops`"""
    y = (x * _vector).sum()
    return x + torch.autograd.grad(y, iter([_vector]), allow_unused=True)[0]


def backward_traced(x: Tensor):
    """`loss.backward()` under `trace_autograd_ops`"""
    (x * _weight).sum().backward()
    return x + 1


def backward_traced_not_leaf(x: Tensor):
    """`loss.backward(inputs=[computed])` under `trace_autograd_ops`"""
    y = x * _weight
    y.sum().backward(inputs=[y])
    return x + 1


def backward_traced_made_inside(x: Tensor):
    """`loss.backward(inputs=[made inside])` under `trace_autograd_ops`"""
    y = torch.ones(4).requires_grad_()
    (x * y).sum().backward(inputs=[y])
    return x + y.grad


def backward_traced_no_inputs(x: Tensor):
    """`loss.backward(inputs=[])` under `trace_autograd_ops`"""
    if not torch.compiler.is_compiling():
        return x
    (x * _weight).sum().backward(inputs=[])
    return x + 1


def parameter_made(x: Tensor):
    """`nn.Parameter(input)` under `graph_break_on_nn_param_ctor = False`"""
    return nn.Parameter(x) * 2


def scalars_captured_branch(x: Tensor):
    """`if x.item()` under `capture_scalar_outputs`"""
    if x.sum().item() > 0:
        return x + 1
    return x


def shapes_captured_branch(x: Tensor, m: Tensor):
    """`if x[mask].numel()` under `capture_dynamic_output_shape_ops`"""
    if x[m].numel() == 3:
        return x
    return x[m]


def _limited(x):
    print("a")
    return x + x.shape[0]


CONFIG |= {
    "grad_traced_consumed": {"trace_autograd_ops": True},
    "grad_traced_compiled": {"trace_autograd_ops": True, "compiled_autograd": True},
    "unittest_warns_traced": {"enable_trace_unittest": True},
}

import unittest


class _TestCase(unittest.TestCase):
    def runTest(self):
        pass


class _Override(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


_case = _TestCase()
_override = torch.ones(4, 4).as_subclass(_Override)
_leaf = torch.ones(4, requires_grad=True)
_of_leaf = _leaf * 2


def grad_traced_consumed(x: Tensor):
    """`torch.autograd.grad` twice of one graph, under `trace_autograd_ops`"""
    if not torch.compiler.is_compiling():
        return x
    y = (x * _weight).sin().sum()
    return torch.autograd.grad(y, _weight)[0] + torch.autograd.grad(y, _weight)[0]


def grad_traced_compiled(x: Tensor):
    """`torch.autograd.grad` under `trace_autograd_ops` and `compiled_autograd`"""
    return torch.autograd.grad((x * _weight).sum(), _weight)[0]


def unittest_warns_traced(x: Tensor):
    """`self.assertWarns` of a TestCase under `enable_trace_unittest`"""
    import warnings

    with _case.assertWarns(UserWarning):
        warnings.warn("a")
    return x + 1
