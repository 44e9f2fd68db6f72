# ruff: noqa
"""`with` blocks."""

import contextlib
import decimal
import threading

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_lock = threading.Lock()
_rlock = threading.RLock()
_linear = nn.Linear(4, 4).requires_grad_(False)
_level = 0


@contextlib.contextmanager
def _block():
    yield


@contextlib.contextmanager
def _block_with_value(value):
    try:
        yield value
    finally:
        value = None


class _CustomForward(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        return g * 2


class _Block:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class _Closes:
    def close(self):
        pass


class _Swallow:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return True


class _Decorator(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class _SetsGlobal:
    def __enter__(self):
        global _level
        _level += 1

    def __exit__(self, *exception):
        global _level
        _level -= 1


@torch.no_grad()
def _no_grad_function(x):
    return x * 2


@_Decorator()
def _decorated(x):
    return x * 2


def no_grad(x: Tensor):
    """`torch.no_grad()`"""
    with torch.no_grad():
        y = x * 2
    return y + 1


def no_grad_decorator(x: Tensor):
    """a function decorated by `@torch.no_grad()`"""
    return _no_grad_function(x) + 1


def enable_grad(x: Tensor):
    """`torch.enable_grad()`"""
    with torch.enable_grad():
        y = x * 2
    return y + 1


def set_grad_enabled(x: Tensor):
    """`with torch.set_grad_enabled(flag)`"""
    with torch.set_grad_enabled(False):
        y = x * 2
    return y + 1


def set_grad_enabled_call(x: Tensor):
    """`torch.set_grad_enabled(flag)` as a call"""
    was = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(was)
    return y


def inference_mode(x: Tensor):
    """`torch.inference_mode()`"""
    with torch.inference_mode():
        y = x * 2
    return y + 1


def autocast_cpu(x: Tensor):
    """`torch.autocast("cpu", dtype=torch.bfloat16)`"""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = _linear(x)
    return y + 1


def autocast_off(x: Tensor):
    """`torch.autocast(device_type=x.device.type, enabled=False)`"""
    with torch.autocast(device_type=x.device.type, enabled=False):
        y = _linear(x.float())
    return y + 1


def autocast_cuda_legacy(x: Tensor):
    """`torch.cuda.amp.autocast(enabled=False)`"""
    with torch.cuda.amp.autocast(enabled=False):
        y = _linear(x)
    return y + 1


def autocast_decorator(x: Tensor):
    """a function decorated by `torch.autocast`"""

    @torch.autocast("cpu", enabled=False)
    def work(t):
        return t * 2

    return work(x)


def cudnn_flags(x: Tensor):
    """`torch.backends.cudnn.flags(enabled=False)`"""
    with torch.backends.cudnn.flags(enabled=False):
        y = x * 2
    return y + 1


def sdpa_kernel(x: Tensor):
    """`torch.nn.attention.sdpa_kernel`"""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        y = F.scaled_dot_product_attention(x[None], x[None], x[None])
    return y + 1


def sdp_kernel_legacy(x: Tensor):
    """`torch.backends.cuda.sdp_kernel(...)`"""
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        y = F.scaled_dot_product_attention(x[None], x[None], x[None])
    return y + 1


def record_function(x: Tensor):
    """`torch.profiler.record_function`"""
    with torch.profiler.record_function("block"):
        y = x * 2
    return y + 1


def autograd_record_function(x: Tensor):
    """`torch.autograd.profiler.record_function`"""
    with torch.autograd.profiler.record_function("block"):
        y = x * 2
    return y + 1


def profile(x: Tensor):
    """`torch.profiler.profile()`"""
    with torch.profiler.profile():
        y = x * 2
    return y + 1


def detect_anomaly(x: Tensor):
    """`torch.autograd.detect_anomaly()`"""
    with torch.autograd.detect_anomaly():
        y = x * 2
    return y + 1


def default_device(x: Tensor):
    """`with torch.device("cpu")`"""
    with torch.device("cpu"):
        y = torch.zeros(4)
    return x + y


def deterministic_flag(x: Tensor):
    """`torch.use_deterministic_algorithms(False)`"""
    torch.use_deterministic_algorithms(False)
    return x + 1


def saved_tensors_hooks(x: Tensor):
    """`torch.autograd.graph.saved_tensors_hooks`"""
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * 2
    return y + 1


def dynamo_config_patch(x: Tensor):
    """`torch._dynamo.config.patch(...)` inside"""
    with torch._dynamo.config.patch(suppress_errors=False):
        y = x * 2
    return y + 1


def user_generator(x: Tensor):
    """a `@contextmanager` of this file"""
    with _block():
        y = x * 2
    return y + 1


def user_generator_value(x: Tensor):
    """`with manager(...) as value`"""
    with _block_with_value(3) as value:
        y = x * value
    return y + 1


def user_class(x: Tensor):
    """a class with `__enter__` and `__exit__`"""
    with _Block():
        y = x * 2
    return y + 1


def user_class_global(x: Tensor):
    """a context manager that sets a global"""
    with _SetsGlobal():
        y = x * _level
    return y + 1


def user_decorator(x: Tensor):
    """a function decorated by a `ContextDecorator`"""
    return _decorated(x) + 1


def user_swallows(x: Tensor):
    """a context manager that swallows an exception"""
    with _Swallow():
        raise ValueError
    return x + 1


def print_in_user_block(x: Tensor):
    """`print` in a `with` of this file"""
    with _block():
        y = x * 2
        print("step")
        z = y + 1
    return z


def print_in_user_class(x: Tensor):
    """`print` in a `with` of a class of this file"""
    with _Block():
        y = x * 2
        print("step")
        z = y + 1
    return z


def item_in_autocast(x: Tensor):
    """`.item()` under `torch.autocast`"""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = _linear(x)
        scale = y.max().item()
        z = y * scale
    return z


def item_in_inference_mode(x: Tensor):
    """`.item()` under `torch.inference_mode()`"""
    with torch.inference_mode():
        scale = x.max().item()
        y = x * scale
    return y


def nullcontext(x: Tensor):
    """`contextlib.nullcontext()`"""
    with contextlib.nullcontext():
        y = x * 2
    return y + 1


def nullcontext_or_no_grad(x: Tensor):
    """`with (torch.no_grad() if flag else nullcontext())`"""
    with torch.no_grad() if x.dim() == 2 else contextlib.nullcontext():
        y = x * 2
    return y + 1


def suppress(x: Tensor):
    """`contextlib.suppress(ValueError)`"""
    with contextlib.suppress(ValueError):
        x = x + 1
    return x


def suppress_raised(x: Tensor):
    """`contextlib.suppress` of an exception that is raised"""
    with contextlib.suppress(ValueError):
        raise ValueError
    return x + 1


def exit_stack(x: Tensor):
    """`contextlib.ExitStack`"""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        y = x * 2
    return y + 1


def exit_stack_empty(x: Tensor):
    """`contextlib.ExitStack` with nothing in it"""
    with contextlib.ExitStack():
        y = x * 2
    return y + 1


def closing(x: Tensor):
    """`contextlib.closing`"""
    with contextlib.closing(_Closes()):
        y = x * 2
    return y + 1


def lock(x: Tensor):
    """`with threading.Lock()` of the module"""
    with _lock:
        y = x * 2
    return y + 1


def rlock(x: Tensor):
    """`with threading.RLock()` of the module"""
    with _rlock:
        y = x * 2
    return y + 1


def lock_acquire(x: Tensor):
    """`lock.acquire()`, `lock.release()`"""
    _lock.acquire()
    y = x * 2
    _lock.release()
    return y + 1


def decimal_context(x: Tensor):
    """`decimal.localcontext()`"""
    with decimal.localcontext():
        y = x * 2
    return y + 1


def two_managers(x: Tensor):
    """two managers in one `with`"""
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        y = x * 2
    return y + 1


def cuda_stream_guarded(x: Tensor):
    """`torch.cuda.stream` under `if x.is_cuda`"""
    if x.is_cuda:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = x * 2
    return x + 1


def nvtx_range(x: Tensor):
    """`torch.cuda.nvtx.range`"""
    with torch.cuda.nvtx.range("block") if x.is_cuda else contextlib.nullcontext():
        y = x * 2
    return y + 1


def forward_ad(x: Tensor):
    """`torch.autograd.forward_ad.dual_level`"""
    with torch.autograd.forward_ad.dual_level():
        y = x * 2
    return y + 1


def lock_around_comprehension(x: Tensor):
    """a comprehension under a lock: its own frame is traced"""
    with _lock:
        ys = [x * k for k in (1, 2)]
    return ys[0] + ys[1]


def custom_forward_decorator(x: Tensor):
    """an autograd function under `torch.amp.custom_fwd`"""
    return _CustomForward.apply(x) + 1
