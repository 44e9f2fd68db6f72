# ruff: noqa
"""Results, exceptions and side effects that differ under torch.compile."""

import logging
import warnings

import torch
from torch import nn

_x = torch.ones(4)


def _raised(f, *args):
    try:
        f(*args)
    except Exception as error:
        return type(error).__name__
    return "nothing"


def _first(t):
    return str(t.flatten()[0].item())


def assert_tensor_type(compile):
    """the exception of `assert tensor > 0`"""

    def run(x):
        assert x.sum() > 100
        return x + 1

    return _raised(run, _x), _raised(compile(run), _x)


def assert_tensor_caught(compile):
    """`except AssertionError` around `assert tensor > 0` in the region"""

    def run(x):
        try:
            assert x.sum() > 100
        except AssertionError:
            return x * 2
        return x

    f = compile(run)
    eager = _first(run(_x))
    try:
        return eager, _first(f(_x))
    except Exception as error:
        return eager, type(error).__name__


def assert_shape_type(compile):
    """the exception of `assert x.dim() == 3`"""

    def run(x):
        assert x.dim() == 3
        return x + 1

    return _raised(run, _x), _raised(compile(run), _x)


def raise_on_shape_type(compile):
    """the exception of `raise ValueError` on a shape"""

    def run(x):
        if x.dim() != 3:
            raise ValueError("shape")
        return x + 1

    return _raised(run, _x), _raised(compile(run), _x)


def raise_custom_type(compile):
    """an exception class of one's own"""

    class Problem(Exception):
        pass

    def run(x):
        if x.dim() != 3:
            raise Problem("shape")
        return x + 1

    return _raised(run, _x), _raised(compile(run), _x)


def shape_error_type(compile):
    """the exception of a matmul of unequal sizes"""

    def run(x):
        return x @ torch.ones(3, 3)

    return _raised(run, _x), _raised(compile(run), _x)


def index_error_type(compile):
    """the exception of an index out of range"""

    def run(x):
        return x[7]

    return _raised(run, _x), _raised(compile(run), _x)


def list_index_error_type(compile):
    """the exception of a list index out of range"""

    def run(x):
        return x * [1, 2][5]

    return _raised(run, _x), _raised(compile(run), _x)


def attribute_error_type(compile):
    """the exception of a missing attribute"""

    def run(x):
        return x.missing_attribute

    return _raised(run, _x), _raised(compile(run), _x)


def type_error_type(compile):
    """the exception of a wrong argument"""

    def run(x):
        return torch.sin(x, "a", 3)

    return _raised(run, _x), _raised(compile(run), _x)


def zero_division_type(compile):
    """the exception of `1 // 0`"""

    def run(x):
        return x * (1 // 0)

    return _raised(run, _x), _raised(compile(run), _x)


def reordered_print(compile):
    """`reorderable_logging_functions.add(print)`: what is printed before a change in place"""
    out = []

    def report(t):
        out.append(_first(t))

    def run(x):
        y = x * 2
        report(y)
        y.add_(1)
        return y

    run(_x)
    with torch._dynamo.config.patch(reorderable_logging_functions={report}):
        compile(run)(_x)
    return out[0], out[1] if len(out) > 1 else "nothing"


def ignored_logger(compile):
    """`ignore_logger_methods`: records over one call"""
    log = logging.getLogger("matrix.silent")
    log.propagate = False
    log.setLevel(logging.INFO)
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record)
    log.addHandler(handler)

    def run(x):
        log.info("step")
        return x + 1

    with torch._dynamo.config.patch(ignore_logger_methods={logging.Logger.info, log.info}):
        compile(run)(_x)
    log.removeHandler(handler)
    return "1 records", f"{len(heard)} records"


def attribute_on_intermediate(compile):
    """a Python attribute set on a tensor that is returned"""

    def run(x):
        y = x + 1
        y.tag = 3
        return y

    return str(getattr(run(_x), "tag", "none")), str(getattr(compile(run)(_x), "tag", "none"))


def attribute_on_input(compile):
    """a Python attribute set on an input"""

    def run(x):
        x.note = 3
        return x + 1

    a, b = torch.ones(2), torch.ones(2)
    run(a)
    compile(run)(b)
    return str(getattr(a, "note", "none")), str(getattr(b, "note", "none"))


def identity_of_output(compile):
    """`f(x) is x` where the function returns its input"""

    def run(x):
        return x

    return str(run(_x) is _x), str(compile(run)(_x) is _x)


def view_of_input(compile):
    """a view that is returned shares memory with the input"""

    def run(x):
        return x[:2]

    x = torch.ones(4)
    return str(run(x).data_ptr() == x.data_ptr()), str(compile(run)(x).data_ptr() == x.data_ptr())


def warnings_in_region(compile):
    """warnings over three calls of a region that warns"""

    def run(x):
        warnings.warn("careful")
        return x + 1

    def count(f):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for _ in range(3):
                f(_x)
        return str(sum("careful" in str(w.message) for w in heard))

    return count(run), count(compile(run))


def side_effect_before_error(compile):
    """a list appended to before an exception on a shape"""
    seen = []

    def run(x):
        seen.append(1)
        if x.dim() != 3:
            raise ValueError("shape")
        return x

    _raised(run, _x)
    eager = len(seen)
    seen.clear()
    _raised(compile(run), _x)
    return str(eager), str(len(seen))


def mutation_before_error(compile):
    """an input changed in place before an exception on a shape"""

    def run(x):
        x.add_(1)
        if x.dim() != 3:
            raise ValueError("shape")
        return x

    a, b = torch.ones(2), torch.ones(2)
    _raised(run, a)
    _raised(compile(run), b)
    return _first(a), _first(b)


def generator_closed_early(compile):
    """code after the last `yield` of a generator that is not exhausted"""
    seen = []

    def rows(x):
        yield x
        seen.append(1)
        yield x * 2

    def run(x):
        return next(iter(rows(x))) + 1

    run(_x)
    eager = len(seen)
    seen.clear()
    compile(run)(_x)
    return str(eager), str(len(seen))


def float64_item(compile):
    """`.item()` of a float32 tensor times a large float, captured as a scalar"""

    def run(x):
        return x.double() * (x.sum().item() * 1e-3 + 1e16)

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return _first(run(_x)), _first(compile(run)(_x))


def integer_overflow(compile):
    """a Python int above 64 bits"""

    def run(x, n):
        return x * float(n * n % 1000)

    f = compile(run, dynamic=True)
    n = 10**10 + 7
    try:
        return _first(run(_x, n)), _first(f(_x, n))
    except Exception as error:
        return _first(run(_x, n)), type(error).__name__


def numpy_dtype(compile):
    """the dtype of `np.sqrt` of a Python float times an array"""
    import numpy as np

    def run(x):
        return torch.from_numpy(x.numpy() * np.float64(2.0))

    return str(run(_x).dtype), str(compile(run)(_x).dtype)


def numpy_random_seeded(compile):
    """`np.random.rand(1)` after the same `np.random.seed`"""
    import numpy as np

    def run(x):
        return x * torch.from_numpy(np.random.rand(4))

    np.random.seed(0)
    eager = _first(run(_x))
    np.random.seed(0)
    return eager, _first(compile(run)(_x))


def is_compiling_branch(compile):
    """a branch on `torch.compiler.is_compiling()`"""

    def run(x):
        return x * 2 if torch.compiler.is_compiling() else x * 3

    return _first(run(_x)), _first(compile(run)(_x))


def module_call_count(compile):
    """Python statements in `forward` over three calls"""

    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x

    def count(wrap):
        model = Counts()
        f = wrap(model)
        for _ in range(3):
            f(_x)
        return str(model.calls)

    return count(lambda m: m), count(compile)


def dict_order_of_output(compile):
    """the order of a dict that is returned"""

    def run(x):
        d = {"b": x, "a": x + 1}
        d["b"] = d.pop("b")
        return d

    return str(list(run(_x))), str(list(compile(run)(_x)))


def tensor_in_set(compile):
    """`len({x, y, x})` of tensors"""

    def run(x):
        y = x + 1
        return x * len({x, y, x})

    return _first(run(_x)), _first(compile(run)(_x))


def profiler_names(compile):
    """`record_function` names seen by a profiler"""

    def run(x):
        with torch.profiler.record_function("matrix_block"):
            return x * 2

    def names(f):
        f(_x)
        with torch.profiler.profile() as profile:
            f(_x)
        return str(any("matrix_block" in e.key for e in profile.key_averages()))

    return names(run), names(compile(run))
