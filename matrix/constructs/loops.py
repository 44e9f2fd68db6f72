# ruff: noqa
"""Iteration: over tensors, their pieces, modules and plain Python."""

import functools
import itertools
import operator

import torch
from torch import Tensor, nn


def _produce(x):
    for k in range(3):
        yield x + k


def _delegate(x):
    total = yield from _produce(x)
    yield x


def for_over_tensor(x: Tensor):
    """`for row in tensor`"""
    y = 0
    for row in x:
        y = y + row
    return y


def for_over_zip(x: Tensor):
    """`for k, (a, b) in enumerate(zip(t, u))`"""
    y = 0
    for k, (a, b) in enumerate(zip(x, x)):
        y = y + a * b * k
    return y


def for_over_tolist(x: Tensor, i: Tensor):
    """`for v in ints.tolist()`"""
    for v in i.tolist():
        x = x + v
    return x


def for_over_unpacked_rows(x: Tensor, sizes: Tensor):
    """`for h, w in sizes` of an int tensor, used as tensors"""
    for h, w in sizes:
        x = x + h * w
    return x


def for_over_unbind(x: Tensor):
    """`for row in x.unbind()`"""
    y = 0
    for row in x.unbind():
        y = y + row
    return y


def for_over_split(x: Tensor):
    """`for part in x.split(2)`"""
    return torch.cat([part * 2 for part in x.split(2)])


def for_over_chunk(x: Tensor):
    """`a, b = x.chunk(2)`"""
    a, b = x.chunk(2)
    return a * b


def for_over_nonzero(x: Tensor):
    """`for k in (x > 0).nonzero()`"""
    y = x.clone()
    for k in (x[0] > 0).nonzero():
        y = y + k
    return y


def for_over_unique(x: Tensor, i: Tensor):
    """`for u in t.unique()`"""
    for u in i.unique():
        x = x + u
    return x


def for_over_shape(x: Tensor):
    """`for d in x.shape`"""
    for d in x.shape:
        x = x + d
    return x


def unpack_tensor(x: Tensor):
    """`a, b, c, d = tensor`"""
    a, b, c, d = x
    return a + b + c + d


def unpack_star(x: Tensor):
    """`first, *rest = tensor`"""
    first, *rest = x
    return first + len(rest)


def unpack_shape(x: Tensor):
    """`b, *rest = x.shape`"""
    b, *rest = x.shape
    return x.reshape(b, *rest)


def list_of_tensor(x: Tensor):
    """`list(tensor)`"""
    return torch.stack(list(x))


def iter_next(x: Tensor):
    """`next(iter(tensor))`"""
    return next(iter(x)) + 1


def reversed_tensor(x: Tensor):
    """`reversed(tensor)`"""
    return torch.stack(list(reversed(list(x))))


def sum_of_tensor(x: Tensor):
    """builtin `sum(tensor)`"""
    return sum(x)


def set_of_tensor(x: Tensor, i: Tensor):
    """`set(tensor.tolist())`"""
    return x + len(set(i.tolist()))


def map_over_tensors(x: Tensor):
    """`map(torch.sum, tensors)`"""
    return sum(map(torch.sum, [x, x])) + x


def reduce_tensors(x: Tensor):
    """`functools.reduce(operator.add, tensors)`"""
    return functools.reduce(operator.add, [x, x, x])


def zip_strict(x: Tensor):
    """`zip(..., strict=True)`"""
    return sum(a + b for a, b in zip([x], [x], strict=True))


def enumerate_start(x: Tensor):
    """`enumerate(..., start=1)`"""
    for k, v in enumerate([1, 2], start=1):
        x = x + k * v
    return x


def range_step_reversed(x: Tensor):
    """`reversed(range(0, 6, 2))`"""
    for k in reversed(range(0, 6, 2)):
        x = x + k
    return x


def nested_loops(x: Tensor):
    """nested loops over ranges"""
    for a in range(2):
        for b in range(a, 3):
            x = x + a * b
    return x


def for_else(x: Tensor):
    """`for ... else`"""
    for k in range(3):
        if k == 5:
            break
    else:
        x = x + 1
    return x


def continue_and_break(x: Tensor):
    """`continue` and `break` on numbers"""
    for k in range(5):
        if k == 1:
            continue
        if k == 3:
            break
        x = x + k
    return x


def comprehension_of_tensors(x: Tensor):
    """list, dict and set comprehensions"""
    rows = [r * 2 for r in x]
    by_index = {k: r for k, r in enumerate(rows)}
    return by_index[0] + len({k % 2 for k in by_index})


def generator_expression(x: Tensor):
    """a generator expression over rows"""
    return sum(r * 2 for r in x)


def generator_function(x: Tensor):
    """a generator function of this file"""
    return sum(_produce(x))


def generator_inside(x: Tensor):
    """a generator defined inside"""

    def rows():
        yield x[0]
        yield x[1]

    a, b = rows()
    return a + b


def generator_delegate(x: Tensor):
    """`yield from`"""
    return sum(_delegate(x))


def generator_send(x: Tensor):
    """`generator.send`"""

    def echo():
        got = yield x
        yield x * got

    g = echo()
    next(g)
    return g.send(3)


def generator_return(x: Tensor):
    """the value of `StopIteration`"""

    def once():
        yield x
        return 3

    g = once()
    y = next(g)
    try:
        next(g)
    except StopIteration as stop:
        y = y + stop.value
    return y


def generator_throw(x: Tensor):
    """`generator.throw`, `generator.close`"""

    def guarded():
        try:
            yield x
        except ValueError:
            yield x * 2

    g = guarded()
    next(g)
    y = g.throw(ValueError())
    g.close()
    return y


def itertools_product(x: Tensor):
    """`itertools.product`, `permutations`, `combinations`"""
    n = sum(a * b for a, b in itertools.product([1, 2], [3, 4]))
    return (
        x + n + len(list(itertools.permutations([1, 2, 3]))) + len(list(itertools.combinations([1, 2, 3], 2)))
    )


def itertools_chain(x: Tensor):
    """`itertools.chain`, `islice`, `repeat`, `count`, `cycle`"""
    for k in itertools.chain([1], [2], itertools.islice(itertools.count(3), 2), itertools.repeat(1, 2)):
        x = x + k
    c = itertools.cycle([1, 2])
    return x + next(c)


def itertools_accumulate(x: Tensor):
    """`itertools.accumulate`"""
    return x + list(itertools.accumulate([1, 2, 3]))[-1]


def itertools_accumulate_tensors(x: Tensor):
    """`itertools.accumulate` of tensors"""
    return list(itertools.accumulate([x, x, x]))[-1]


def itertools_zip_longest(x: Tensor):
    """`itertools.zip_longest`"""
    for a, b in itertools.zip_longest([1, 2], [3], fillvalue=0):
        x = x + a * b
    return x


def itertools_groupby(x: Tensor):
    """`itertools.groupby`"""
    for key, group in itertools.groupby([1, 1, 2]):
        x = x + key
    return x


def itertools_pairwise(x: Tensor):
    """`itertools.pairwise`"""
    for a, b in itertools.pairwise([1, 2, 3]):
        x = x + a * b
    return x


def itertools_starmap(x: Tensor):
    """`itertools.starmap`"""
    return sum(itertools.starmap(torch.add, [(x, 1), (x, 2)]))


def itertools_takewhile(x: Tensor):
    """`itertools.takewhile`, `dropwhile`, `filterfalse`"""
    return (
        x
        + sum(itertools.takewhile(lambda k: k < 3, [1, 2, 3]))
        + sum(itertools.dropwhile(lambda k: k < 3, [1, 2, 3]))
    )


class ForOverModules(nn.Module):
    """`for layer in self.layers`, `self.layers[0]`, `self.layers[:1]`"""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])

    def forward(self, x: Tensor):
        for k, layer in enumerate(self.layers):
            x = layer(x) + k
        for layer in self.layers[:1]:
            x = layer(x)
        return self.layers[0](x) + len(self.layers)


class ForOverModuleDict(nn.Module):
    """`for name, layer in self.layers.items()` of a ModuleDict"""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ReLU()})

    def forward(self, x: Tensor):
        for name, layer in self.layers.items():
            x = layer(x) + len(name)
        return x if "c" not in self.layers else self.layers["a"](x)


class ForOverParameters(nn.Module):
    """`for p in self.parameters()`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        for p in self.parameters():
            x = x + p.sum()
        return x


class ForOverNamedParameters(nn.Module):
    """`for name, p in self.named_parameters()`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        for name, p in self.named_parameters():
            x = x + p.sum() * len(name)
        return x


class ForOverNamedModules(nn.Module):
    """`for name, module in self.named_modules()`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                x = module(x)
        return x


class ForOverChildren(nn.Module):
    """`for child in self.children()`"""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.two = nn.ReLU()

    def forward(self, x: Tensor):
        for child in self.children():
            x = child(x)
        return x


class ForOverBuffers(nn.Module):
    """`for b in self.buffers()`"""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x: Tensor):
        for b in self.buffers():
            x = x * b
        return x


class NextParameter(nn.Module):
    """`next(self.parameters()).dtype`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return x.to(next(self.parameters()).dtype)


class LayerSkip(nn.Module):
    """`[l for l, drop in zip(layers, to_drop) if not drop]` with a random mask"""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Tensor):
        to_drop = torch.zeros(len(self.layers)).uniform_(0.0, 1.0) < 0.5
        for layer in [layer for layer, drop in zip(self.layers, to_drop) if not drop]:
            x = layer(x)
        return x
