# ruff: noqa
"""What a compiled function reads once and keeps, or does not notice."""

import functools
import os
import random
import time

import torch
from torch import nn

_x = torch.ones(4)
_factor = 2


def _helper(x):
    return x * 2


class _Layer(nn.Module):
    def forward(self, x):
        return x * 2


class _Owner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = _Layer()

    def forward(self, x):
        return self.layer(x)


def _first(t):
    return str(t.flatten()[0].item())


def hook_added_after(compile):
    """a forward hook added after the first compiled call"""
    model = _Owner()
    compiled = compile(model)
    compiled(_x)
    fired = []
    model.layer.register_forward_hook(lambda m, a, o: fired.append(1))
    compiled(_x)
    return "1", str(len(fired))


def hook_added_after_on_root(compile):
    """a forward hook added to the compiled module itself"""
    model = _Owner()
    compiled = compile(model)
    compiled(_x)
    fired = []
    model.register_forward_hook(lambda m, a, o: fired.append(1))
    compiled(_x)
    return "1", str(len(fired))


def hook_added_before_first_call(compile):
    """a forward hook added after `torch.compile`, before the first call"""
    model = _Owner()
    compiled = compile(model)
    fired = []
    model.layer.register_forward_hook(lambda m, a, o: fired.append(1))
    compiled(_x)
    return "1", str(len(fired))


def hook_changes_output_after(compile):
    """a hook that changes the output, added after the first compiled call"""
    model = _Owner()
    compiled = compile(model)
    compiled(_x)
    model.layer.register_forward_hook(lambda m, a, o: o + 1)
    return _first(model(_x)), _first(compiled(_x))


def hook_added_after_guarded(compile):
    """the same with `skip_nnmodule_hook_guards = False`"""
    with torch._dynamo.config.patch(skip_nnmodule_hook_guards=False):
        model = _Owner()
        compiled = compile(model)
        compiled(_x)
        model.layer.register_forward_hook(lambda m, a, o: o + 1)
        return _first(model(_x)), _first(compiled(_x))


def hook_removed_after(compile):
    """a hook removed after the first compiled call"""
    model = _Owner()
    handle = model.layer.register_forward_hook(lambda m, a, o: o + 1)
    compiled = compile(model)
    compiled(_x)
    handle.remove()
    return _first(model(_x)), _first(compiled(_x))


def method_rebound_on_class(compile):
    """`Layer.forward = other` after the first compiled call"""

    class Layer(nn.Module):
        def forward(self, x):
            return x * 2

    class Owner(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x):
            return self.layer(x)

    model = Owner()
    compiled = compile(model)
    compiled(_x)
    Layer.forward = lambda self, x: x * 3
    return _first(model(_x)), _first(compiled(_x))


def method_rebound_on_instance(compile):
    """`model.layer.forward = other` after the first compiled call"""
    model = _Owner()
    compiled = compile(model)
    compiled(_x)
    model.layer.forward = lambda x: x * 3
    return _first(model(_x)), _first(compiled(_x))


def global_function_rebound(compile):
    """a global function rebound after the first compiled call"""
    global _helper
    was = _helper
    f = compile(lambda x: _helper(x))
    f(_x)
    _helper = lambda x: x * 3
    try:
        return _first(_helper(_x)), _first(f(_x))
    finally:
        _helper = was


def function_code_replaced(compile):
    """`function.__code__` replaced after the first compiled call"""

    def helper(x):
        return x * 2

    f = compile(lambda x: helper(x))
    f(_x)
    helper.__code__ = (lambda x: x * 3).__code__
    return _first(helper(_x)), _first(f(_x))


def torch_function_patched(compile):
    """`torch.sin` replaced after the first compiled call"""
    was = torch.sin
    f = compile(lambda x: torch.sin(x))
    f(_x)
    torch.sin = lambda x: x * 3
    try:
        return _first(torch.sin(_x)), _first(f(_x))
    finally:
        torch.sin = was


def module_constant_changed(compile):
    """a global number changed after the first compiled call"""
    global _factor
    f = compile(lambda x: x * _factor)
    f(_x)
    _factor = 3
    try:
        return _first(_x * _factor), _first(f(_x))
    finally:
        _factor = 2


def class_attribute_changed(compile):
    """`Class.attribute` changed after the first compiled call"""

    class Settings:
        scale = 2

    f = compile(lambda x: x * Settings.scale)
    f(_x)
    Settings.scale = 3
    return _first(_x * Settings.scale), _first(f(_x))


def getenv_stale(compile):
    """`os.getenv` after the variable changed"""

    def run(x):
        return x * int(os.getenv("MATRIX_SCALE", "1"))

    os.environ["MATRIX_SCALE"] = "2"
    f = compile(run)
    f(_x)
    os.environ["MATRIX_SCALE"] = "3"
    return _first(run(_x)), _first(f(_x))


def environ_get_stale(compile):
    """`os.environ.get` after the variable changed"""

    def run(x):
        return x * int(os.environ.get("MATRIX_SCALE", "1"))

    os.environ["MATRIX_SCALE"] = "2"
    f = compile(run)
    f(_x)
    os.environ["MATRIX_SCALE"] = "3"
    return _first(run(_x)), _first(f(_x))


def environ_index_stale(compile):
    """`os.environ[...]` after the variable changed"""

    def run(x):
        return x * int(os.environ["MATRIX_SCALE"])

    os.environ["MATRIX_SCALE"] = "2"
    f = compile(run)
    f(_x)
    os.environ["MATRIX_SCALE"] = "3"
    return _first(run(_x)), _first(f(_x))


def lru_cache_bypassed(compile):
    """an `lru_cache`d function: how often its body runs over two calls"""
    runs = []

    @functools.lru_cache(maxsize=None)
    def scale(n):
        runs.append(n)
        return n + 1

    f = compile(lambda x: x * scale(3))
    f(_x)
    f(_x + 1)
    return "1 runs, 1 cached", f"{len(runs)} runs, {scale.cache_info().currsize} cached"


def lru_cache_stale(compile):
    """an `lru_cache`d function after `cache_clear()` and a change of what it reads"""
    box = {"scale": 2}

    @functools.lru_cache(maxsize=None)
    def scale():
        return box["scale"]

    f = compile(lambda x: x * scale())
    f(_x)
    box["scale"] = 3
    scale.cache_clear()
    return "3.0", _first(f(_x))


def random_randint_repeats(compile):
    """`random.randint`: different numbers at different calls"""
    f = compile(lambda x: x * random.randint(0, 10**9))
    return "True", str(_first(f(_x)) != _first(f(_x)))


def random_same_as_eager(compile):
    """`random.random()` after the same `random.seed`"""

    def run(x):
        return x * random.random()

    random.seed(0)
    eager = _first(run(_x))
    f = compile(run)
    random.seed(0)
    return eager, _first(f(_x))


def random_branch_kept(compile):
    """`if random.randint(0, 1)`: both branches taken over 30 calls"""

    def run(x):
        return x * 2 if random.randint(0, 1) else x * 3

    f = compile(run)
    return "2 results", f"{len({_first(f(_x)) for _ in range(30)})} results"


def torch_rand_same_as_eager(compile):
    """`torch.rand` after the same `torch.manual_seed` (eager backend)"""

    def run(x):
        return x * torch.rand(4)

    torch.manual_seed(0)
    eager = _first(run(_x))
    f = compile(run)
    torch.manual_seed(0)
    return eager, _first(f(_x))


def time_constant(compile):
    """`time.time()` at two calls"""
    f = compile(lambda x: x.double() * time.time())
    a = _first(f(_x))
    time.sleep(0.01)
    return "differ", "differ" if a != _first(f(_x)) else "equal"


def assume_constant_stale(compile):
    """`assume_constant_result` after the value changed"""
    box = {"scale": 2}

    @torch.compiler.assume_constant_result
    def scale():
        return box["scale"]

    f = compile(lambda x: x * scale())
    f(_x)
    box["scale"] = 3
    return "3.0", _first(f(_x))


def list_mutated_outside(compile):
    """an element of a global list changed after the first compiled call"""
    values = [2, 5]
    f = compile(lambda x: x * values[0])
    f(_x)
    values[0] = 3
    return "3.0", _first(f(_x))


def default_argument_mutated(compile):
    """a mutable default argument over two calls"""

    def run(x, seen=[]):
        seen.append(1)
        return x * len(seen)

    f = compile(run)
    f(_x)
    return "2.0", _first(f(_x))


def property_of_type_changed(compile):
    """a property replaced on the class after the first compiled call"""

    class Settings:
        @property
        def scale(self):
            return 2

    settings = Settings()
    f = compile(lambda x: x * settings.scale)
    f(_x)
    Settings.scale = property(lambda self: 3)
    return "3.0", _first(f(_x))


def buffer_rebound(compile):
    """`model.scale = tensor` after the first compiled call"""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor(2.0))

        def forward(self, x):
            return x * self.scale

    model = Scaled()
    compiled = compile(model)
    compiled(_x)
    model.scale = torch.tensor(3.0)
    return "3.0", _first(compiled(_x))


def matmul_precision_changed(compile):
    """`torch.set_float32_matmul_precision` after the first compiled call: compiled again"""
    f = compile(lambda x: x @ x)
    f(_x)
    was = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    f(_x)
    torch.set_float32_matmul_precision(was)
    return "2 graphs", f"{compile.graphs()} graphs"


def lambda_default_changed(compile):
    """a lambda argument made anew with another default"""
    f = compile(lambda x, act: act(x))
    f(_x, lambda v, k=2.5: v * k)
    return "3.5", _first(f(_x, lambda v, k=3.5: v * k))


def lambda_closure_changed(compile):
    """a lambda argument made anew over another number"""

    def scaled(k):
        return lambda v: v * k

    f = compile(lambda x, act: act(x))
    f(_x, scaled(2.5))
    return "3.5", _first(f(_x, scaled(3.5)))


def partial_argument_changed(compile):
    """a `functools.partial` argument made anew with another number"""
    f = compile(lambda x, act: act(x))
    f(_x, functools.partial(torch.mul, other=2.5))
    return "3.5", _first(f(_x, functools.partial(torch.mul, other=3.5)))


def frozen_parameter(compile):
    """`requires_grad_(False)` on a parameter after the first compiled call"""
    model = nn.Linear(4, 4)
    compiled = compile(model)
    compiled(_x)
    model.weight.requires_grad_(False)
    model.bias.requires_grad_(False)
    return str(model(_x).requires_grad), str(compiled(_x).requires_grad)


def autocast_dtype_changed(compile):
    """another autocast dtype after the first compiled call"""
    a = torch.ones(4, 4)

    def run(x):
        return x @ x

    f = compile(run)
    with torch.autocast("cpu", dtype=torch.float16):
        f(a)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return str(run(a).dtype), str(f(a).dtype)


def backward_hook_added_after(compile):
    """a full backward hook of a submodule added after the first compiled call"""
    model = _Owner()
    compiled = compile(model)
    x = _x.clone().requires_grad_()
    compiled(x).sum().backward()
    fired = []
    model.layer.register_full_backward_hook(lambda m, i, o: fired.append(1))
    compiled(x).sum().backward()
    return "1", str(len(fired))


def _set_later(compile, asked):
    os.environ.pop("PT2LINT_SET_LATER", None)
    f = compile(lambda x: x * 3 if asked() else x * 2)
    try:
        f(_x)
        os.environ["PT2LINT_SET_LATER"] = "1"
        return "3.0", _first(f(_x))
    finally:
        os.environ.pop("PT2LINT_SET_LATER", None)


def environ_get_set_later(compile):
    """`os.environ.get` of a variable that is set after the first compiled call"""
    return _set_later(compile, lambda: os.environ.get("PT2LINT_SET_LATER") is not None)


def environ_contains_set_later(compile):
    """`"NAME" in os.environ` of a variable that is set after the first compiled call"""
    return _set_later(compile, lambda: "PT2LINT_SET_LATER" in os.environ)


def plain_method_rebound_on_class(compile):
    """a method replaced on the class of an object that is no module"""

    class Helper:
        def scale(self, x):
            return x * 2

    helper = Helper()
    f = compile(lambda x: helper.scale(x))
    f(_x)
    Helper.scale = lambda self, x: x * 3
    return "3.0", _first(f(_x))


def cached_draw(compile):
    """an `lru_cache`d function that draws: the same numbers at two calls"""

    @functools.lru_cache
    def drawn(size):
        return torch.randn(size)

    f = compile(lambda x: x * drawn(4))
    return "True", str(torch.equal(f(_x), f(_x)))
