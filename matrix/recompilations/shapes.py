# ruff: noqa
"""Tensors whose shape, strides, dtype or flags change from call to call."""

import torch

CALLS = 11


def _f(x):
    return x * 2


def _sum(x, y):
    return x.sum(0) + y.sum(0)


def batch_changes(compile):
    """the first dimension changes"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def batch_changes_static(compile):
    """the first dimension changes, `dynamic=False`"""
    f = compile(_f, dynamic=False)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def batch_changes_dynamic(compile):
    """the first dimension changes, `dynamic=True`"""
    f = compile(_f, dynamic=True)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def batch_changes_marked(compile):
    """the first dimension changes, `mark_dynamic`"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(n + 2, 4)
        torch._dynamo.mark_dynamic(x, 0)
        yield f(x)


def batch_changes_marked_bounds(compile):
    """the first dimension changes, `mark_dynamic(x, 0, min=2, max=64)`"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(n + 2, 4)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        yield f(x)


def batch_changes_maybe_marked(compile):
    """the first dimension changes, `maybe_mark_dynamic`"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(n + 2, 4)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        yield f(x)


def batch_changes_marked_once(compile):
    """`mark_dynamic` on the first call's tensor alone"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(n + 2, 4)
        if n == 0:
            torch._dynamo.mark_dynamic(x, 0)
        yield f(x)


def batch_from_one(compile):
    """the first dimension counts from 1"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(n + 1, 4))


def batch_from_one_dynamic(compile):
    """the first dimension counts from 1, `dynamic=True`"""
    f = compile(_f, dynamic=True)
    for n in range(CALLS):
        yield f(torch.ones(n + 1, 4))


def batch_from_zero(compile):
    """the first dimension counts from 0"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(n, 4))


def last_batch_smaller(compile):
    """ten full batches and a smaller one"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(8 if n < 10 else 3, 4))


def last_batch_of_one(compile):
    """ten full batches and one of a single row"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(8 if n < 10 else 1, 4))


def alternating_one(compile):
    """batches of 8 and of 1 in turn"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(8 if n % 2 else 1, 4))


def two_dimensions(compile):
    """two dimensions change"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, n + 3))


def two_dimensions_in_turn(compile):
    """first one dimension changes, then the other"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4) if n < 5 else torch.ones(8, n + 2))


def two_inputs(compile):
    """two inputs whose lengths change apart"""
    f = compile(_sum)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4), torch.ones(2 * n + 3, 4))


def equal_lengths_then_not(compile):
    """two lengths that are equal at first"""
    f = compile(_sum)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4), torch.ones(n + 2 if n < 5 else n + 3, 4))


def length_multiple_of_eight(compile):
    """a branch on the length: `if n % 8 == 0`"""
    f = compile(lambda x: x * 2 if x.shape[0] % 8 == 0 else x + 1)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_compared(compile):
    """a branch on the length: `if n > limit`"""
    f = compile(lambda x: x * 2 if x.shape[0] > 6 else x + 1)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_as_range(compile):
    """`for k in range(x.shape[0])`"""

    def rows(x):
        total = 0
        for k in range(x.shape[0]):
            total = total + x[k]
        return total

    f = compile(rows)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_iterated(compile):
    """`for row in x`"""

    def rows(x):
        total = 0
        for row in x:
            total = total + row
        return total

    f = compile(rows)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_unpacked(compile):
    """`torch.stack(list(x.unbind()))`"""
    f = compile(lambda x: torch.stack(x.unbind()))
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_formatted(compile):
    """the length in an f-string"""
    f = compile(lambda x: x * len(f"{x.shape[0]}"))
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_as_dict_key(compile):
    """the length as key of a cache: `if n not in self.cache`"""
    cache = {}

    def positions(x):
        n = x.shape[0]
        if n not in cache:
            cache[n] = torch.arange(n)
        return x + cache[n][:, None]

    f = compile(positions)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_as_float(compile):
    """`1.0 / x.shape[0]`"""
    f = compile(lambda x: x * (1.0 / x.shape[0]))
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def length_int(compile):
    """`int(x.shape[0] * 0.5)` as a bound"""
    f = compile(lambda x: x[: int(x.shape[0] * 0.5)])
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def growing_cache(compile):
    """a cache that grows by `torch.cat` at each call"""
    f = compile(lambda cache, x: torch.cat([cache, x]))
    cache = torch.ones(2, 4)
    for n in range(CALLS):
        cache = f(cache, torch.ones(1, 4))
        yield cache


def rank_changes(compile):
    """the number of dimensions changes"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones((2,) * (n % 3 + 1)))


def strides_change(compile):
    """contiguous and transposed in turn"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(4, 8)
        yield f(x if n % 2 else x.t().contiguous().t())


def memory_format_changes(compile):
    """channels_last and contiguous in turn"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(2, 3, 4, 4)
        yield f(x if n % 2 else x.to(memory_format=torch.channels_last))


def dtype_changes(compile):
    """float32 and float16 in turn"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(4, dtype=torch.float32 if n % 2 else torch.float16))


def requires_grad_changes(compile):
    """an input that needs gradients and one that does not in turn"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(4, requires_grad=n % 2 == 0))


def view_or_whole(compile):
    """a tensor and a view of another in turn"""
    f = compile(_f)
    whole = torch.ones(8, 4)
    for n in range(CALLS):
        yield f(torch.ones(4, 4) if n % 2 else whole[:4])


def same_tensor_twice(compile):
    """the same tensor for two arguments, and two tensors, in turn"""
    f = compile(_sum)
    x = torch.ones(4, 4)
    for n in range(CALLS):
        yield f(x, x if n % 2 else torch.ones(4, 4))


def attribute_of_tensor(compile):
    """a Python attribute of the tensor that changes"""
    f = compile(lambda x: x * x.scale)
    for n in range(CALLS):
        x = torch.ones(4)
        x.scale = n + 0.5
        yield f(x)


def mask_result(compile):
    """`x[mask]` before the compiled call"""
    f = compile(_f)
    values = torch.arange(20.0)
    for n in range(CALLS):
        yield f(values[values > n])


def padded_to_buckets(compile):
    """lengths padded to multiples of 8"""
    f = compile(_f, dynamic=False)
    for n in range(CALLS):
        length = -(-(n + 2) // 8) * 8
        yield f(torch.ones(length, 4))


def warm_up_of_one(compile):
    """a warm-up with a batch of one, then batches of 8"""
    f = compile(_f)
    for n in range(CALLS):
        yield f(torch.ones(8 if n else 1, 4))


def unbacked_from_one(compile):
    """the first dimension counts from 1, `mark_unbacked`"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(n + 1, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        yield f(x)


def last_batch_smaller_static(compile):
    """ten full batches and a smaller one, `dynamic=False`"""
    f = compile(_f, dynamic=False)
    for n in range(CALLS):
        yield f(torch.ones(8 if n < 10 else 3, 4))


def last_batch_smaller_marked(compile):
    """ten full batches and a smaller one, `mark_dynamic`"""
    f = compile(_f)
    for n in range(CALLS):
        x = torch.ones(8 if n < 10 else 3, 4)
        torch._dynamo.mark_dynamic(x, 0)
        yield f(x)


class _KeepsLongest(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 0
        self.register_buffer("positions", torch.zeros(0), persistent=False)

    def forward(self, x):
        n = x.shape[0]
        if n > self.longest:
            self.longest = n
            self.positions = torch.arange(n)
        return x + self.positions[:n, None]


class _CachesLengths(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.cache:
            self.cache[n] = torch.arange(n)
        return x + self.cache[n][:, None]


def length_as_dict_key_dynamic(compile):
    """the length as key of a cache, `dynamic=True`"""
    f = compile(_CachesLengths(), dynamic=True)
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def same_length_as_dict_key(compile):
    """the length as key of a cache, always the same"""
    f = compile(_CachesLengths())
    for n in range(CALLS):
        yield f(torch.ones(5, 4))


def longest_length_kept(compile):
    """`if n > self.longest: self.longest = n`, growing lengths"""
    f = compile(_KeepsLongest())
    for n in range(CALLS):
        yield f(torch.ones(n + 2, 4))


def longest_length_first(compile):
    """`if n > self.longest: self.longest = n`, the longest first"""
    f = compile(_KeepsLongest())
    for n in range(CALLS):
        yield f(torch.ones(20 - n, 4))
