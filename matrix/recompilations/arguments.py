# ruff: noqa
"""Python values that are passed to a compiled function and change."""

import dataclasses
import enum
import functools

import torch

_x = torch.ones(4)
CALLS = 11


class _Mode(enum.Enum):
    A = 0
    B = 1
    C = 2


@dataclasses.dataclass
class _Options:
    scale: float


def float_argument(compile):
    """a float argument that changes"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, n + 0.5)


def float_argument_whole(compile):
    """a float argument that starts at 0.0 or 1.0"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, float(n))


def float_argument_branch(compile):
    """a float argument that a branch compares"""
    f = compile(lambda x, a: x * a if a > 0 else x + 1)
    for n in range(CALLS):
        yield f(_x, n + 0.5)


def float_argument_formatted(compile):
    """a float argument that is a dict key"""
    f = compile(lambda x, a: x * {a: 2}[a])
    for n in range(CALLS):
        yield f(_x, n + 0.5)


def float_argument_dynamic(compile):
    """a float argument, `dynamic=True`"""
    f = compile(lambda x, a: x * a, dynamic=True)
    for n in range(CALLS):
        yield f(_x, n + 0.5)


def float_argument_static(compile):
    """a float argument, `dynamic=False`"""
    f = compile(lambda x, a: x * a, dynamic=False)
    for n in range(CALLS):
        yield f(_x, n + 0.5)


def float_as_tensor(compile):
    """the float passed as a 0-d tensor"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, torch.tensor(n + 0.5))


def int_argument(compile):
    """an int argument that changes"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_from_zero(compile):
    """an int argument that starts at 0"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, n)


def int_argument_range(compile):
    """an int argument that `range` counts to"""

    def add(x, a):
        for _ in range(a):
            x = x + 1
        return x

    f = compile(add)
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_index(compile):
    """an int argument that indexes a list"""
    scales = list(range(20))
    f = compile(lambda x, a: x * scales[a])
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_tensor_index(compile):
    """an int argument that indexes a tensor"""
    rows = torch.ones(20, 4)
    f = compile(lambda x, a: x * rows[a])
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_modulo(compile):
    """an int argument in `if step % 2 == 0`"""
    f = compile(lambda x, a: x * 2 if a % 2 == 0 else x + 1)
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_static(compile):
    """an int argument, `dynamic=False`"""
    f = compile(lambda x, a: x * a, dynamic=False)
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_dynamic(compile):
    """an int argument, `dynamic=True`"""
    f = compile(lambda x, a: x * a, dynamic=True)
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_as_tensor(compile):
    """the int passed as a 0-d tensor"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, torch.tensor(n + 2))


def item_argument(compile):
    """`t.item()` of another tensor as argument"""
    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, torch.tensor(n + 0.5).item())


def bool_argument(compile):
    """a bool argument that alternates"""
    f = compile(lambda x, flag: x * 2 if flag else x + 1)
    for n in range(CALLS):
        yield f(_x, n % 2 == 0)


def none_argument(compile):
    """an argument that is a tensor or None in turn"""
    f = compile(lambda x, bias: x * 2 if bias is None else x + bias)
    for n in range(CALLS):
        yield f(_x, None if n % 2 == 0 else _x)


def string_argument(compile):
    """a string argument that changes"""
    f = compile(lambda x, name: x * len(name))
    for n in range(CALLS):
        yield f(_x, "layer" + str(n))


def string_argument_unused(compile):
    """a string argument that changes and is not used"""
    f = compile(lambda x, name: x * 2)
    for n in range(CALLS):
        yield f(_x, "layer" + str(n))


def enum_argument(compile):
    """an Enum argument of three values"""
    f = compile(lambda x, mode: x * 2 if mode is _Mode.A else x + 1)
    for n in range(CALLS):
        yield f(_x, _Mode(n % 3))


def dtype_argument(compile):
    """a dtype argument of two values"""
    f = compile(lambda x, dtype: x.to(dtype))
    for n in range(CALLS):
        yield f(_x, torch.float64 if n % 2 else torch.float16)


def tuple_argument(compile):
    """a tuple of ints that changes"""
    f = compile(lambda x, size: x.new_zeros(size))
    for n in range(CALLS):
        yield f(_x, (n + 2, n + 3))


def list_length(compile):
    """a list of tensors whose length changes"""
    f = compile(lambda xs: sum(xs))
    for n in range(CALLS):
        yield f([_x] * (n + 1))


def list_contents(compile):
    """a list of ints whose contents change"""
    f = compile(lambda x, xs: x * xs[0] + xs[1])
    for n in range(CALLS):
        yield f(_x, [n + 2, n + 3])


def star_length(compile):
    """`*args` of changing length"""
    f = compile(lambda *xs: sum(xs))
    for n in range(CALLS):
        yield f(*[_x] * (n + 1))


def dict_values(compile):
    """a dict whose numbers change"""
    f = compile(lambda x, d: x * d["a"])
    for n in range(CALLS):
        yield f(_x, {"a": n + 0.5})


def dict_keys(compile):
    """a dict whose keys change"""
    f = compile(lambda d: sum(d.values()))
    for n in range(CALLS):
        yield f({f"k{k}": _x for k in range(n + 1)})


def dict_of_tensors(compile):
    """a dict of new tensors under the same keys"""
    f = compile(lambda d: d["a"] + d["b"])
    for n in range(CALLS):
        yield f({"a": torch.ones(4), "b": torch.ones(4)})


def keyword_presence(compile):
    """a keyword that is passed or left to its default"""
    f = compile(lambda x, scale=2.5: x * scale)
    for n in range(CALLS):
        yield f(_x) if n % 2 else f(_x, scale=2.5)


def dataclass_argument(compile):
    """a dataclass whose float changes"""
    f = compile(lambda x, options: x * options.scale)
    for n in range(CALLS):
        yield f(_x, _Options(n + 0.5))


def numpy_scalar_argument(compile):
    """a NumPy scalar argument that changes"""
    import numpy as np

    f = compile(lambda x, a: x * a)
    for n in range(CALLS):
        yield f(_x, np.float32(n + 0.5))


def function_argument(compile):
    """a function argument of two values"""
    f = compile(lambda x, act: act(x))
    for n in range(CALLS):
        yield f(_x, torch.sin if n % 2 else torch.cos)


def lambda_argument(compile):
    """a lambda made anew as argument"""
    f = compile(lambda x, act: act(x))
    for n in range(CALLS):
        yield f(_x, lambda v: v * 2)


def lambda_argument_closure(compile):
    """a lambda made anew that closes over a changing number"""
    f = compile(lambda x, act: act(x))
    for n in range(CALLS):
        yield f(_x, lambda v, k=n + 0.5: v * k)


def partial_argument(compile):
    """a `functools.partial` made anew as argument"""
    f = compile(lambda x, act: act(x))
    for n in range(CALLS):
        yield f(_x, functools.partial(torch.mul, other=2))


def parameter_or_tensor(compile):
    """a Parameter and a Tensor in turn"""
    f = compile(lambda x: x * 2)
    p = torch.nn.Parameter(torch.ones(4))
    for n in range(CALLS):
        yield f(p if n % 2 else _x)


def one_dict_key(compile):
    """a dict whose only key changes"""
    f = compile(lambda d: sum(d.values()))
    for n in range(CALLS):
        yield f({f"k{n}": _x})


def int_argument_dict_key(compile):
    """an int argument that is a dict key"""
    scales = {n: n * 2.0 for n in range(20)}
    f = compile(lambda x, a: x * scales[a])
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_slice(compile):
    """an int argument that slices a list"""
    parts = [_x] * 20
    f = compile(lambda x, a: x + sum(parts[:a]))
    for n in range(CALLS):
        yield f(_x, n + 2)


def int_argument_module_list(compile):
    """an int argument that picks from a ModuleList"""
    layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(CALLS)])
    f = compile(lambda x, a: layers[a](x))
    for n in range(CALLS):
        yield f(torch.ones(2, 4), n)


def int_argument_chunk(compile):
    """an int argument that `chunk` is given"""
    f = compile(lambda x, a: sum(c.sum() for c in x.chunk(a)))
    for n in range(CALLS):
        yield f(torch.ones(40), n + 2)


def int_argument_one_hot(compile):
    """an int argument that `one_hot` is given"""
    f = compile(lambda x, a: torch.nn.functional.one_hot(x, a))
    for n in range(CALLS):
        yield f(torch.arange(4), n + 5)


def int_argument_formatted(compile):
    """an int argument in an f-string"""
    f = compile(lambda x, a: x * len(f"a{a}"))
    for n in range(CALLS):
        yield f(_x, n + 2)


def float_argument_dropout(compile):
    """a float argument that `dropout` is given"""
    f = compile(lambda x, a: torch.nn.functional.dropout(x, a))
    for n in range(CALLS):
        yield f(_x, (n + 0.5) / 20)


def float_argument_label_smoothing(compile):
    """a float argument that `cross_entropy` is given as label_smoothing"""
    f = compile(lambda x, y, a: torch.nn.functional.cross_entropy(x, y, label_smoothing=a))
    for n in range(CALLS):
        yield f(torch.ones(2, 4), torch.tensor([0, 1]), (n + 0.5) / 20)


def float_argument_eps(compile):
    """a float argument that `layer_norm` is given as eps"""
    f = compile(lambda x, a: torch.nn.functional.layer_norm(x, (4,), eps=a))
    for n in range(CALLS):
        yield f(_x, (n + 0.5) / 20)


def float_argument_momentum(compile):
    """a float argument that `batch_norm` is given as momentum"""
    mean, var = torch.zeros(4), torch.ones(4)
    f = compile(lambda x, a: torch.nn.functional.batch_norm(x, mean, var, training=True, momentum=a))
    for n in range(CALLS):
        yield f(torch.ones(2, 4), (n + 0.5) / 20)


def float_argument_attention(compile):
    """a float argument that `scaled_dot_product_attention` is given as scale"""
    f = compile(lambda x, a: torch.nn.functional.scaled_dot_product_attention(x, x, x, scale=a))
    for n in range(CALLS):
        yield f(torch.ones(1, 1, 4, 4), (n + 0.5) / 20)


def float_argument_uniform(compile):
    """a float argument that `uniform_` is given"""
    f = compile(lambda x, a: torch.empty_like(x).uniform_(0, a))
    for n in range(CALLS):
        yield f(_x, (n + 0.5) / 20)


def float_argument_clamp(compile):
    """a float argument that `clamp` is given"""
    f = compile(lambda x, a: x.clamp(max=a))
    for n in range(CALLS):
        yield f(_x, (n + 0.5) / 20)
