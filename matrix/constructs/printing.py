# ruff: noqa
"""Printing, logging, warnings, and tensors turned into text."""

import contextlib
import functools
import logging
import pprint
import sys
import warnings

import torch
from torch import Tensor

_log = logging.getLogger("case")
_log.propagate = False
_log.addHandler(logging.NullHandler())
_quiet = logging.getLogger("case.quiet")
_quiet.setLevel(logging.CRITICAL)


@functools.lru_cache(None)
def _warn_once(message):
    _log.warning(message)


def _report(value):
    print("value", value)


def print_constant(x: Tensor):
    """`print` of a constant"""
    print("step")
    return x + 1


def print_tensor(x: Tensor):
    """`print` of a tensor"""
    y = x * 2
    print(y)
    return y + 1


def print_shape(x: Tensor):
    """`print` of a shape"""
    print("shape", x.shape)
    return x + 1


def print_to_stderr(x: Tensor):
    """`print(..., file=sys.stderr)`"""
    print("step", file=sys.stderr)
    return x + 1


def print_in_loop(x: Tensor):
    """`print` in a `for` loop"""
    for _ in range(3):
        x = x + 1
        print("step")
    return x


def print_in_while(x: Tensor):
    """`print` in a `while` loop"""
    n = 0
    while n < 3:
        x = x + 1
        print(n)
        n += 1
    return x


def print_in_try(x: Tensor):
    """`print` in a `try` block"""
    try:
        print("step")
        x = x + 1
    except ValueError:
        x = x - 1
    return x


def print_in_except(x: Tensor):
    """`print` in an `except` block that is never reached"""
    try:
        x = x + 1
    except ValueError:
        print("bad")
        x = x - 1
    return x


def print_in_finally(x: Tensor):
    """`print` in a `finally` block"""
    try:
        x = x + 1
    finally:
        print("done")
    return x


def print_in_no_grad(x: Tensor):
    """`print` under `torch.no_grad()`"""
    with torch.no_grad():
        y = x * 2
        print("step")
        z = y + 1
    return z


def print_in_helper(x: Tensor):
    """`print` in a function that is called"""
    y = x * 2
    _report(3)
    return y + 1


def print_helper_in_loop(x: Tensor):
    """a function that prints, called in a loop"""
    for k in range(2):
        x = x * 2
        _report(k)
    return x + 1


def print_in_comprehension(x: Tensor):
    """`print` in a comprehension"""
    ys = [print(k) or x + k for k in range(2)]
    return ys[0] + ys[1]


def print_if_not_compiling(x: Tensor):
    """`print` under `if not torch.compiler.is_compiling()`"""
    if not torch.compiler.is_compiling():
        print("eager")
    return x + 1


def print_if_not_dynamo_compiling(x: Tensor):
    """`print` under `if not torch._dynamo.is_compiling()`"""
    if not torch._dynamo.is_compiling():
        print("eager")
    return x + 1


def print_if_not_scripting(x: Tensor):
    """`print` under `if not torch.jit.is_scripting()`"""
    if not torch.jit.is_scripting():
        print("python")
    return x + 1


def print_in_dead_branch(x: Tensor):
    """`print` under a flag that is off"""
    verbose = False
    if verbose:
        print("step")
    return x + 1


def pprint_shape(x: Tensor):
    """`pprint.pprint`"""
    pprint.pprint(x.shape)
    return x + 1


def stdout_write(x: Tensor):
    """`sys.stdout.write`"""
    sys.stdout.write("step\n")
    return x + 1


def stdout_flush(x: Tensor):
    """`sys.stdout.flush`"""
    sys.stdout.flush()
    return x + 1


def higher_order_print(x: Tensor):
    """`torch._higher_order_ops.print`"""
    torch._higher_order_ops.print("x {}", x.sum())
    return x + 1


def logger_info(x: Tensor):
    """`logger.info`"""
    _log.info("step")
    return x + 1


def logger_debug_off(x: Tensor):
    """`logger.debug` of a logger whose level is higher"""
    _quiet.debug("step")
    return x + 1


def logger_warning_tensor(x: Tensor):
    """`logger.warning` with a tensor as argument"""
    _log.warning("mean %s", x.mean())
    return x + 1


def logger_is_enabled(x: Tensor):
    """`logger.isEnabledFor`"""
    enabled = _log.isEnabledFor(logging.DEBUG)
    return x + int(enabled)


def logger_effective_level(x: Tensor):
    """`logger.getEffectiveLevel`"""
    return x + int(_log.getEffectiveLevel() > 50)


def logger_level(x: Tensor):
    """`logger.level`"""
    return x + int(_log.level > 50)


def logger_made(x: Tensor):
    """`logging.getLogger(...)` in the region"""
    log = logging.getLogger("case.inside")
    return x + (log is not None)


def logging_info(x: Tensor):
    """`logging.info`"""
    logging.info("step")
    return x + 1


def logging_once_cached(x: Tensor):
    """a warning through an `lru_cache`d helper"""
    _warn_once("once")
    return x + 1


def logger_in_dead_branch(x: Tensor):
    """`logger.warning` in a branch on the shape that is not taken"""
    if x.shape[0] > 100:
        _log.warning("large")
    return x + 1


def logger_in_loop(x: Tensor):
    """`logger.info` in a loop"""
    for k in range(2):
        x = x + k
        _log.info("step %d", k)
    return x


def warnings_warn(x: Tensor):
    """`warnings.warn`"""
    warnings.warn("careful")
    return x + 1


def warnings_warn_deprecation(x: Tensor):
    """`warnings.warn(..., DeprecationWarning, stacklevel=2)`"""
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    return x + 1


def warnings_in_dead_branch(x: Tensor):
    """`warnings.warn` in a branch that is not taken"""
    if x.dim() > 5:
        warnings.warn("odd")
    return x + 1


def catch_warnings(x: Tensor):
    """`with warnings.catch_warnings()`"""
    with warnings.catch_warnings():
        y = x + 1
    return y


def simplefilter(x: Tensor):
    """`warnings.simplefilter` under `catch_warnings`"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = x + 1
    return y


def redirect_stdout(x: Tensor):
    """`with contextlib.redirect_stdout(...)`"""
    with contextlib.redirect_stdout(sys.stderr):
        y = x + 1
    return y


def format_tensor(x: Tensor):
    """f-string of a tensor"""
    text = f"{x.sum()}"
    return x + len(text)


def format_number_of_tensor(s: Tensor):
    """f-string of a 0-d tensor with a format, `{s:.2f}`"""
    text = f"{s:.2f}"
    return s + len(text)


def format_shape(x: Tensor):
    """f-string of a shape"""
    text = f"{x.shape} {tuple(x.shape)} {x.dtype} {x.device}"
    return x + len(text)


def format_int(x: Tensor):
    """f-string of Python numbers"""
    text = f"{x.shape[0]}_{3:04d}_{0.5:.2f}"
    return x + len(text)


def percent_format_tensor(x: Tensor):
    """`"%s" % tensor`"""
    text = "mean %s" % x.mean()
    return x + len(text)


def str_format_tensor(x: Tensor):
    """`"{}".format(tensor)`"""
    text = "{}".format(x.mean())
    return x + len(text)


def str_of_tensor(x: Tensor):
    """`str(tensor)`"""
    text = str(x)
    return x + len(text)


def repr_of_tensor(x: Tensor):
    """`repr(tensor)`"""
    text = repr(x)
    return x + len(text)


def str_of_shape(x: Tensor):
    """`str(x.shape)`"""
    return x + len(str(x.shape))


def str_of_dtype_device(x: Tensor):
    """`str(x.dtype)`, `str(x.device)`"""
    return x + len(str(x.dtype)) + len(str(x.device))


def error_message_unreached(x: Tensor):
    """`raise` with a message that formats a tensor, not reached"""
    if x.dim() != 2:
        raise ValueError(f"expected a matrix, got {x}")
    return x + 1


def assert_message_formats_shape(x: Tensor):
    """`assert` on the shape with an f-string message"""
    assert x.shape[0] == 4, f"got {x.shape}"
    return x + 1
