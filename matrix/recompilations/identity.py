# ruff: noqa
"""New functions, modules and compilations where one would do."""

import functools

import torch
from torch import nn

CALLS = 11


def _f(x):
    return x * 2


class _Block(nn.Module):
    def __init__(self, scale=2.0):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = scale

    def forward(self, x):
        return self.linear(x) * self.scale


def _model_class(compile):
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @compile
        def run(self, x):
            return x * self.scale

    return Model


class _CompilesInForward(nn.Module):
    def __init__(self, compile):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.compile_it = compile

    def forward(self, x):
        return self.compile_it(self.linear)(x)


def compiled_once(compile):
    """one compilation, the same input"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(4))


def compile_in_loop(compile):
    """`torch.compile(f)` of the same function in a loop"""
    for n in range(CALLS):
        yield compile(_f)(torch.ones(4))


def compile_lambda_in_loop(compile):
    """`torch.compile(lambda ...)` in a loop"""
    for n in range(CALLS):
        yield compile(lambda x: x * 2)(torch.ones(4))


def compile_closure_in_loop(compile):
    """`torch.compile` of a closure over another number in a loop"""
    for n in range(CALLS):

        def run(x, k=n + 0.5):
            return x * k

        yield compile(run)(torch.ones(4))


def compile_in_forward(compile):
    """`torch.compile(self.linear)` in `forward`"""
    model = _CompilesInForward(compile)
    for n in range(CALLS):
        yield model(torch.ones(2, 4))


def compile_module_in_loop(compile):
    """`torch.compile(model)` of the same model in a loop"""
    model = nn.Linear(4, 4)
    for n in range(CALLS):
        yield compile(model)(torch.ones(2, 4))


def compile_new_module_in_loop(compile):
    """`torch.compile(nn.Linear(4, 4))` in a loop"""
    for n in range(CALLS):
        yield compile(nn.Linear(4, 4))(torch.ones(2, 4))


def compile_blocks(compile):
    """each of eleven equal blocks compiled"""
    blocks = [compile(_Block()) for _ in range(CALLS)]
    for block in blocks:
        yield block(torch.ones(2, 4))


def compile_blocks_that_differ(compile):
    """each of eleven blocks compiled, another float in each"""
    blocks = [compile(_Block(n + 0.5)) for n in range(CALLS)]
    for block in blocks:
        yield block(torch.ones(2, 4))


def compile_blocks_in_place(compile):
    """`block.compile()` of eleven equal blocks"""
    blocks = [_Block() for _ in range(CALLS)]
    for block in blocks:
        block.compile(backend=compile.backend)
    for block in blocks:
        yield block(torch.ones(2, 4))


def module_as_argument(compile):
    """eleven modules passed to one compiled function"""
    f = compile(lambda module, x: module(x))
    for n in range(CALLS):
        yield f(nn.Linear(4, 4), torch.ones(2, 4))


def compiled_method_of_many(compile):
    """a `@torch.compile`d method called on eleven objects"""
    model_class = _model_class(compile)
    for n in range(CALLS):
        yield model_class(n + 0.5).run(torch.ones(4))


def compiled_method_of_one(compile):
    """a `@torch.compile`d method called on one object"""
    model = _model_class(compile)(0.5)
    for n in range(CALLS):
        yield model.run(torch.ones(4))


def partial_compiled(compile):
    """`torch.compile(functools.partial(f, k))` in a loop"""
    for n in range(CALLS):
        yield compile(functools.partial(torch.mul, other=n + 0.5))(torch.ones(4))


def factory_called_again(compile):
    """a factory that defines and compiles a function at each call"""

    def make():
        def run(x):
            return x * 2

        return compile(run)

    for n in range(CALLS):
        yield make()(torch.ones(4))


def reset_between(compile):
    """`torch._dynamo.reset()` between calls"""
    f = compile(_f)
    for n in range(CALLS):
        torch._dynamo.reset()
        yield f(torch.ones(4))


def limit_raised(compile):
    """changing strings with `recompile_limit` raised to 64"""
    name = "recompile_limit" if hasattr(torch._dynamo.config, "recompile_limit") else "cache_size_limit"
    with torch._dynamo.config.patch({name: 64}):
        f = compile(lambda x, text: x * len(text))
        for n in range(CALLS):
            yield f(torch.ones(4), "a" * (n + 1))


def limit_fails(compile):
    """changing strings with `fail_on_recompile_limit_hit = True`"""
    name = "fail_on_recompile_limit_hit"
    name = name if hasattr(torch._dynamo.config, name) else "fail_on_cache_limit_hit"
    with torch._dynamo.config.patch({name: True}):
        f = compile(lambda x, text: x * len(text))
        for n in range(CALLS):
            yield f(torch.ones(4), "a" * (n + 1))


def stance_eager_on_recompile(compile):
    """changing strings under `set_stance("eager_on_recompile")`"""
    f = compile(lambda x, text: x * len(text))
    yield f(torch.ones(4), "a")
    with torch.compiler.set_stance("eager_on_recompile"):
        for n in range(1, CALLS):
            yield f(torch.ones(4), "a" * (n + 1))


def break_then_changing_number(compile):
    """a changing `.item()` used after the break it causes"""
    f = compile(lambda x: x * 2 + x.sum().item())
    for n in range(CALLS):
        yield f(torch.full((4,), n + 0.5))


def break_then_string(compile):
    """a string made after a graph break from a changing number"""

    def run(x):
        n = int(x.sum())
        return x * len("a" * n)

    f = compile(run)
    for n in range(CALLS):
        yield f(torch.full((1,), n + 2.0))


def backend_lambda_in_loop(compile):
    """`torch.compile(f, backend=lambda ...)` in a loop"""
    for n in range(CALLS):
        yield torch.compile(_f, backend=lambda gm, inputs: compile.backend(gm, inputs))(torch.ones(4))


def backend_partial_in_loop(compile):
    """`torch.compile(f, backend=functools.partial(...))` in a loop"""
    for n in range(CALLS):
        yield torch.compile(_f, backend=functools.partial(compile.backend))(torch.ones(4))
