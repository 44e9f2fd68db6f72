# ruff: noqa
"""State that a compiled function reads: attributes, globals, closures, containers."""

import collections

import torch
from torch import nn

CALLS = 11
_counter = 0
_scale = 0.5
_settings = {"scale": 0.5}
_names = []
_table = torch.ones(4)


class _IntAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 2

    def forward(self, x):
        return x * self.step


class _FloatAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5

    def forward(self, x):
        return x * self.scale


class _Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 2

    def forward(self, x):
        self.step += 1
        return x * self.step


class _CountsUnused(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 2

    def forward(self, x):
        self.step += 1
        return x * 2


class _CountsBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.step += 1
        return x * self.step


class _CountsFloat(nn.Module):
    def __init__(self):
        super().__init__()
        self.decay = 0.5

    def forward(self, x):
        self.decay *= 0.9
        return x * self.decay


class _Appends(nn.Module):
    def __init__(self):
        super().__init__()
        self.outputs = []

    def forward(self, x):
        self.outputs.append(x.detach())
        return x * 2


class _Caches(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x, key):
        self.cache[key] = x
        return x * 2


class _StringAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        return x * len(self.mode)


class _Plain:
    def __init__(self):
        self.step = 2

    def run(self, x):
        self.step += 1
        return x * self.step


class _EveryTenth(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        self.step += 1
        if self.step % 10 == 0:
            x = x * 2
        return x + 1


def int_attribute_set_outside(compile):
    """`model.step = n` before each call"""
    model = _IntAttribute()
    f = compile(model)
    for n in range(CALLS):
        model.step = n + 2
        yield f(torch.ones(4))


def float_attribute_set_outside(compile):
    """`model.scale = number` before each call"""
    model = _FloatAttribute()
    f = compile(model)
    for n in range(CALLS):
        model.scale = n + 0.5
        yield f(torch.ones(4))


def string_attribute_set_outside(compile):
    """`model.mode = text` before each call"""
    model = _StringAttribute()
    f = compile(model)
    for n in range(CALLS):
        model.mode = "a" * (n + 1)
        yield f(torch.ones(4))


def counter_in_forward(compile):
    """`self.step += 1` in `forward`, used"""
    f = compile(_Counts())
    for n in range(CALLS):
        yield f(torch.ones(4))


def counter_in_forward_unused(compile):
    """`self.step += 1` in `forward`, not used there"""
    f = compile(_CountsUnused())
    for n in range(CALLS):
        yield f(torch.ones(4))


def counter_in_forward_allowed(compile):
    """`self.step += 1` with `allow_unspec_int_on_nn_module = True`"""
    with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
        f = compile(_Counts())
        for n in range(CALLS):
            yield f(torch.ones(4))


def counter_in_buffer(compile):
    """`self.step += 1` of a buffer"""
    f = compile(_CountsBuffer())
    for n in range(CALLS):
        yield f(torch.ones(4))


def counter_every_tenth(compile):
    """`if self.step % 10 == 0` with `self.step += 1`"""
    f = compile(_EveryTenth())
    for n in range(CALLS):
        yield f(torch.ones(4))


def float_changed_in_forward(compile):
    """`self.decay *= 0.9` in `forward`"""
    f = compile(_CountsFloat())
    for n in range(CALLS):
        yield f(torch.ones(4))


def counter_of_plain_object(compile):
    """`self.step += 1` of an object that is no module"""
    f = compile(_Plain().run)
    for n in range(CALLS):
        yield f(torch.ones(4))


def list_appended_in_forward(compile):
    """`self.outputs.append(...)` in `forward`"""
    f = compile(_Appends())
    for n in range(CALLS):
        yield f(torch.ones(4))


def dict_filled_in_forward(compile):
    """`self.cache[key] = ...` in `forward`, the same key"""
    f = compile(_Caches())
    for n in range(CALLS):
        yield f(torch.ones(4), "a")


def global_counter(compile):
    """`global n; n += 1`, used"""

    def run(x):
        global _counter
        _counter += 1
        return x * _counter

    f = compile(run)
    for n in range(CALLS):
        yield f(torch.ones(4))


def global_float(compile):
    """a global float changed before each call"""
    global _scale

    def run(x):
        return x * _scale

    f = compile(run)
    for n in range(CALLS):
        _scale = n + 0.5
        yield f(torch.ones(4))


def global_tensor_replaced(compile):
    """a global tensor replaced before each call"""
    global _table

    def run(x):
        return x * _table

    f = compile(run)
    for n in range(CALLS):
        _table = torch.full((4,), n + 0.5)
        yield f(torch.ones(4))


def global_dict(compile):
    """a number in a global dict changed before each call"""

    def run(x):
        return x * _settings["scale"]

    f = compile(run)
    for n in range(CALLS):
        _settings["scale"] = n + 0.5
        yield f(torch.ones(4))


def global_dict_grows(compile):
    """a global dict that grows, read by one key"""
    settings = {"scale": 2}

    def run(x):
        return x * settings["scale"]

    f = compile(run)
    for n in range(CALLS):
        settings[f"key{n}"] = n
        yield f(torch.ones(4))


def global_list_grows(compile):
    """a global list that grows, iterated over"""
    names = []

    def run(x):
        for name in names:
            x = x + len(name)
        return x

    f = compile(run)
    for n in range(CALLS):
        names.append("a")
        yield f(torch.ones(4))


def deque_of_tensors(compile):
    """a deque with `maxlen` that is appended to"""
    window = collections.deque(maxlen=3)

    def run(x):
        window.append(x)
        return sum(window)

    f = compile(run)
    for n in range(CALLS):
        yield f(torch.ones(4))


def closure_number(compile):
    """a number of the enclosing function changed between calls"""
    k = 0.5

    def run(x):
        return x * k

    f = compile(run)
    for n in range(CALLS):
        k = n + 0.5
        yield f(torch.ones(4))


def parameter_replaced(compile):
    """`model.weight = nn.Parameter(...)` before each call"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.weight = nn.Parameter(torch.ones(4, 4))
        yield f(torch.ones(2, 4))


def parameter_data_replaced(compile):
    """`model.weight.data = ...` before each call"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.weight.data = torch.ones(4, 4)
        yield f(torch.ones(2, 4))


def state_dict_loaded(compile):
    """`model.load_state_dict(...)` before each call"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.load_state_dict(model.state_dict())
        yield f(torch.ones(2, 4))


def submodule_replaced(compile):
    """`model[1] = nn.ReLU()` before each call"""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    f = compile(model)
    for n in range(CALLS):
        model[1] = nn.ReLU()
        yield f(torch.ones(2, 4))


def dropout_rate_changed(compile):
    """`dropout.p = number` before each call"""
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
    f = compile(model)
    for n in range(CALLS):
        model[1].p = 0.1 + n / 100
        yield f(torch.ones(2, 4))


class _Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = _IntAttribute()

    def forward(self, x):
        return self.inner(x)


class _CountsAssigned(_CountsBuffer):
    def forward(self, x):
        self.step = self.step + 1
        return x * self.step


class _DropoutAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = 0.1

    def forward(self, x):
        return nn.functional.dropout(x, self.p)


def int_attribute_unread(compile):
    """`model.step = n` before each call, not read there"""
    model = nn.Linear(4, 4)
    f = compile(model)
    for n in range(CALLS):
        model.step = n + 2
        yield f(torch.ones(2, 4))


def int_attribute_of_inner(compile):
    """`model.inner.step = n` before each call"""
    model = _Inner()
    f = compile(model)
    for n in range(CALLS):
        model.inner.step = n + 2
        yield f(torch.ones(4))


def buffer_filled(compile):
    """`model.step.fill_(n)` of a buffer before each call"""
    model = _IntAttribute()
    del model.step
    model.register_buffer("step", torch.tensor(2))
    f = compile(model)
    for n in range(CALLS):
        model.step.fill_(n + 2)
        yield f(torch.ones(4))


def counter_in_buffer_assigned(compile):
    """`self.step = self.step + 1` of a buffer"""
    f = compile(_CountsAssigned())
    for n in range(CALLS):
        yield f(torch.ones(4))


def float_attribute_dropout(compile):
    """`model.p = number` before each call, which `dropout` is given"""
    model = _DropoutAttribute()
    f = compile(model)
    for n in range(CALLS):
        model.p = 0.1 + n / 100
        yield f(torch.ones(4))
