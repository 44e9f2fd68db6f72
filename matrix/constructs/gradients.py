# ruff: noqa
"""Autograd and function transforms in the region."""

import torch
from torch import Tensor, nn


class _Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class _PrintsForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward")
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class _ItemForward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.scale = x.abs().max().item()
        return x * ctx.scale

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale


class _Deletes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = x
        return x * 2

    @staticmethod
    def backward(ctx, g):
        g = g * ctx.kept
        del ctx.kept
        return g


class _Separate(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def requires_grad_set(x: Tensor):
    """`y.requires_grad = True`"""
    y = x + 1
    y.requires_grad = True
    return y * 2


def requires_grad_call(x: Tensor):
    """`x.detach().requires_grad_()` returned"""
    y = x.detach().requires_grad_()
    return y * 2


def requires_grad_call_inner(x: Tensor):
    """`x.detach().requires_grad_()` whose gradient stays inside"""
    y = x.detach().requires_grad_()
    return (y * 2).detach()


def requires_grad_off(x: Tensor):
    """`y.requires_grad_(False)`"""
    y = (x + 1).requires_grad_(False)
    return y * 2


def requires_grad_made(x: Tensor):
    """`torch.tensor(..., requires_grad=True)`"""
    return x + torch.tensor(0.0, requires_grad=True)


def requires_grad_zeros(x: Tensor):
    """`torch.zeros(..., requires_grad=True)`"""
    return x + torch.zeros(4, requires_grad=True)


def requires_grad_false_made(x: Tensor):
    """`torch.tensor(..., requires_grad=False)`"""
    return x + torch.tensor(0.0, requires_grad=False)


def backward_inside(x: Tensor):
    """`loss.backward()`"""
    y = x.detach().requires_grad_()
    (y * 2).sum().backward()
    return y.grad


def grad_inside(x: Tensor):
    """`torch.autograd.grad`"""
    y = x.detach().requires_grad_()
    return torch.autograd.grad((y * 2).sum(), y)[0]


class GradOfParameter(nn.Module):
    """`torch.autograd.grad` with respect to the input, in a module"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            energy = self.linear(x).sum()
            (force,) = torch.autograd.grad(energy, x)
        return force


def hook_on_tensor(x: Tensor):
    """`y.register_hook` on a tensor that needs gradients"""
    y = x.detach().requires_grad_()
    z = y * 2
    z.register_hook(lambda g: g)
    return z.detach()


class HookOnActivation(nn.Module):
    """`y.register_hook` on an activation"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        y = self.linear(x)
        y.register_hook(lambda g: g * 2)
        return y * 2


class RetainGrad(nn.Module):
    """`y.retain_grad()`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        y = self.linear(x)
        y.retain_grad()
        return y * 2


class ReadsGrad(nn.Module):
    """`self.linear.weight.grad is None`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        if self.linear.weight.grad is None:
            return self.linear(x)
        return x


class SetsGradNone(nn.Module):
    """`self.linear.weight.grad = None`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.linear.weight.grad = None
        return self.linear(x)


def reads_grad(x: Tensor):
    """`x.grad`"""
    return x + (0 if x.grad is None else x.grad)


def detach(x: Tensor):
    """`x.detach()`, `x.data` read"""
    return x.detach() + x.data


def detach_inplace(x: Tensor):
    """`y.detach_()`"""
    y = x + 1
    y.detach_()
    return y * 2


def data_set(x: Tensor):
    """`y.data = ...`"""
    y = x.clone()
    y.data = x * 2
    return y


def data_inplace(x: Tensor):
    """`y.data.mul_(2)`, `y.data[0] = 0`"""
    y = x.clone()
    y.data.mul_(2)
    y.data[0] = 0
    return y


def straight_through(x: Tensor):
    """`x + (y - x).detach()`"""
    y = x.round()
    return x + (y - x).detach()


def function_apply(x: Tensor):
    """`autograd.Function.apply`"""
    return _Double.apply(x) + 1


def function_apply_separate(x: Tensor):
    """`autograd.Function` with `setup_context`"""
    return _Separate.apply(x) + 1


_trained = torch.ones(4, requires_grad=True)


def function_deletes(x: Tensor):
    """`.apply` of an autograd.Function whose `backward` deletes what `forward` kept in its context"""
    return _Deletes.apply(x * _trained) + 1


def function_apply_prints(x: Tensor):
    """`autograd.Function` whose `forward` prints"""
    return _PrintsForward.apply(x) + 1


def function_apply_item(x: Tensor):
    """`autograd.Function` whose `forward` calls `.item()`"""
    return _ItemForward.apply(x) + 1


class FunctionApplyTraining(nn.Module):
    """`autograd.Function.apply` on what needs gradients"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return _Double.apply(self.linear(x)) + 1


class FunctionPrintsTraining(nn.Module):
    """`autograd.Function` whose `forward` prints, on what needs gradients"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return _PrintsForward.apply(self.linear(x)) + 1


class FunctionItemTraining(nn.Module):
    """`autograd.Function` whose `forward` calls `.item()`, on what needs gradients"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return _ItemForward.apply(self.linear(x)) + 1


def func_vmap(x: Tensor):
    """`torch.func.vmap`"""
    return torch.func.vmap(lambda row: row.sum() * 2)(x)


def func_vmap_legacy(x: Tensor):
    """`torch.vmap(..., in_dims=...)`"""
    return torch.vmap(torch.mul, in_dims=(0, None))(x, x[0])


def func_vmap_item(x: Tensor):
    """`.item()` under `torch.func.vmap`"""
    return torch.func.vmap(lambda row: row * 2)(x) * x.max().item()


def func_grad(x: Tensor):
    """`torch.func.grad`"""
    return torch.func.grad(lambda v: (v * v).sum())(x)


def func_grad_and_value(x: Tensor):
    """`torch.func.grad_and_value`"""
    g, v = torch.func.grad_and_value(lambda v: (v * v).sum())(x)
    return g + v


def func_vjp(x: Tensor):
    """`torch.func.vjp`"""
    y, vjp = torch.func.vjp(torch.sin, x)
    return vjp(y)[0]


def func_jvp(x: Tensor):
    """`torch.func.jvp`"""
    return torch.func.jvp(torch.sin, (x,), (x,))[1]


def func_jacrev(x: Tensor):
    """`torch.func.jacrev`, `jacfwd`"""
    return torch.func.jacrev(torch.sin)(x[0]) + torch.func.jacfwd(torch.sin)(x[0])


def func_hessian(x: Tensor):
    """`torch.func.hessian`"""
    return torch.func.hessian(lambda v: (v**3).sum())(x[0])


def functional_jacobian(x: Tensor):
    """`torch.autograd.functional.jacobian`"""
    return torch.autograd.functional.jacobian(torch.sin, x[0])


def is_leaf_and_grad_fn(x: Tensor):
    """`y.is_leaf`, `y.grad_fn` of an intermediate"""
    y = x * 2
    return y + int(y.is_leaf) + int(y.grad_fn is None)


class GradFnName(nn.Module):
    """`y.grad_fn.name()`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        y = self.linear(x)
        return y + len(y.grad_fn.name())


class IfGradFn(nn.Module):
    """`if y.grad_fn is not None` of an activation"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        y = self.linear(x)
        if y.requires_grad:
            y = y * 2
        return y
