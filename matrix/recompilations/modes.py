# ruff: noqa
"""Global state around one compiled callable."""

import torch
from torch import nn

CALLS = 11


def _f(x):
    return x * 2


def grad_mode(compile):
    """`torch.no_grad()` around every second call"""
    f = compile(_f)
    for n in range(CALLS):
        with torch.set_grad_enabled(n % 2 == 0):
            yield f(torch.ones(4))


def inference_mode(compile):
    """`torch.inference_mode()` around every second call"""
    f = compile(_f)
    for n in range(CALLS):
        with torch.inference_mode(n % 2 == 0):
            yield f(torch.ones(4))


def no_grad_then_inference_mode(compile):
    """`no_grad` and `inference_mode` in turn"""
    f = compile(_f)
    for n in range(CALLS):
        with torch.no_grad() if n % 2 else torch.inference_mode():
            yield f(torch.ones(4))


def autocast(compile):
    """`torch.autocast` around every second call"""
    f = compile(_f)
    for n in range(CALLS):
        with torch.autocast("cpu", enabled=n % 2 == 0):
            yield f(torch.ones(4))


def autocast_dtype(compile):
    """`torch.autocast` with two dtypes in turn"""
    f = compile(_f)
    for n in range(CALLS):
        with torch.autocast("cpu", dtype=torch.bfloat16 if n % 2 else torch.float16):
            yield f(torch.ones(4))


def train_eval(compile):
    """`model.train()` and `model.eval()` in turn"""
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    f = compile(model)
    for n in range(CALLS):
        model.train(n % 2 == 0)
        yield f(torch.ones(2, 4))


def train_eval_without_effect(compile):
    """`train()` and `eval()` in turn of a model that does not look"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.train(n % 2 == 0)
        yield f(torch.ones(2, 4))


def train_eval_and_grad_mode(compile):
    """training with gradients, evaluation without, in turn"""
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout())
    f = compile(model)
    for n in range(CALLS):
        model.train(n % 2 == 0)
        with torch.set_grad_enabled(n % 2 == 0):
            yield f(torch.ones(2, 4))


def default_dtype(compile):
    """`torch.set_default_dtype` in turn"""
    f = compile(lambda x: x + torch.zeros(4))
    for n in range(CALLS):
        torch.set_default_dtype(torch.float64 if n % 2 else torch.float32)
        yield f(torch.ones(4, dtype=torch.float32))
    torch.set_default_dtype(torch.float32)


def deterministic(compile):
    """`torch.use_deterministic_algorithms` in turn"""
    f = compile(_f)
    for n in range(CALLS):
        torch.use_deterministic_algorithms(n % 2 == 0)
        yield f(torch.ones(4))
    torch.use_deterministic_algorithms(False)


def threads(compile):
    """`torch.set_num_threads` in turn"""
    f = compile(_f)
    for n in range(CALLS):
        torch.set_num_threads(1 + n % 2)
        yield f(torch.ones(4))
    torch.set_num_threads(1)


def manual_seed(compile):
    """`torch.manual_seed` before each call"""
    f = compile(lambda x: x + torch.rand(4))
    for n in range(CALLS):
        torch.manual_seed(n)
        yield f(torch.ones(4))


def matmul_precision(compile):
    """`torch.set_float32_matmul_precision` in turn"""
    f = compile(_f)
    for n in range(CALLS):
        torch.set_float32_matmul_precision("high" if n % 2 else "highest")
        yield f(torch.ones(4))
    torch.set_float32_matmul_precision("highest")


def backward_between(compile):
    """forward and backward at each call, gradients kept and set to None"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        loss = f(torch.ones(2, 4)).sum()
        loss.backward()
        if n % 2:
            model.zero_grad(set_to_none=True)
        yield loss


def frozen_later(compile):
    """`requires_grad_(False)` on a parameter in between"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.weight.requires_grad_(n % 2 == 0)
        yield f(torch.ones(2, 4))
