# ruff: noqa
"""torch functions that are not plain operators: disabling, checks of the environment, types and storage."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_linear = nn.Linear(4, 4).requires_grad_(False)


class _Tagged(torch.Tensor):
    pass


class _CountCalls(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


@torch.compiler.disable
def _disabled(x):
    return x + 1


@torch.compiler.disable(recursive=False)
def _disabled_shallow(x):
    return x + 1


@torch._dynamo.disable
def _disabled_old(x):
    return x + 1


@torch.compiler.allow_in_graph
def _allowed(x):
    return x + 1


@torch.compiler.assume_constant_result
def _constant():
    return 3


@torch.jit.script
def _scripted(x: Tensor) -> Tensor:
    return x + 1


@torch.jit.ignore
def _ignored(x):
    return x + 1


@torch.jit.script_if_tracing
def _script_if_tracing(x):
    return x + 1


@torch.library.custom_op("matrix_case::plus_one", mutates_args=())
def _plus_one(x: Tensor) -> Tensor:
    return x + 1


@_plus_one.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("matrix_case::largest", mutates_args=())
def _largest_op(x: Tensor) -> float:
    return x.max().item()


@_largest_op.register_fake
def _(x):
    return 1.0


@torch.compile(backend="eager")
def _compiled(x):
    return x + 1


class DisabledMethod(nn.Module):
    """a method decorated by `torch.compiler.disable`"""

    @torch.compiler.disable
    def report(self, x):
        return x * 2

    def forward(self, x: Tensor):
        return self.report(x) + 1


class DisabledForward(nn.Module):
    """a submodule whose `forward` is disabled"""

    class Inner(nn.Module):
        @torch.compiler.disable
        def forward(self, x):
            return x * 2

    def __init__(self):
        super().__init__()
        self.inner = self.Inner()

    def forward(self, x: Tensor):
        return self.inner(x) + 1


def disabled_call(x: Tensor):
    """a function under `@torch.compiler.disable`"""
    return _disabled(x) + 1


def disabled_call_shallow(x: Tensor):
    """a function under `@torch.compiler.disable(recursive=False)`"""
    return _disabled_shallow(x) + 1


def disabled_call_old(x: Tensor):
    """a function under `@torch._dynamo.disable`"""
    return _disabled_old(x) + 1


def disabled_in_loop(x: Tensor):
    """a disabled function called in a loop"""
    for _ in range(2):
        x = _disabled(x) * 2
    return x


def disabled_inline(x: Tensor):
    """`torch.compiler.disable(function)(x)`"""
    return torch.compiler.disable(torch.sin)(x) + 1


def explicit_break(x: Tensor):
    """`torch._dynamo.graph_break()`"""
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


def allowed_call(x: Tensor):
    """`torch.compiler.allow_in_graph`"""
    return _allowed(x) + 1


def constant_call(x: Tensor):
    """`torch.compiler.assume_constant_result`"""
    return x + _constant()


def scripted_call(x: Tensor):
    """a `torch.jit.script`ed function"""
    return _scripted(x) + 1


def script_ignored_call(x: Tensor):
    """a `torch.jit.ignore`d function"""
    return _ignored(x) + 1


def script_if_tracing_call(x: Tensor):
    """a `torch.jit.script_if_tracing` function"""
    return _script_if_tracing(x) + 1


def script_annotate(x: Tensor):
    """`torch.jit.annotate`, `torch.jit.isinstance`"""
    y = torch.jit.annotate(Tensor, x)
    return y + 1


def custom_op_call(x: Tensor):
    """a `torch.library.custom_op`"""
    return _plus_one(x) + 1


def custom_op_number(x: Tensor):
    """a `torch.library.custom_op` that returns a number"""
    return x + _largest_op(x)


def aten_op_call(x: Tensor):
    """`torch.ops.aten.add.Tensor`"""
    return torch.ops.aten.add.Tensor(x, x)


def compiled_call(x: Tensor):
    """a function that is itself compiled"""
    return _compiled(x) + 1


def mark_dynamic_inside(x: Tensor):
    """`torch._dynamo.mark_dynamic` inside"""
    torch._dynamo.mark_dynamic(x, 0)
    return x + 1


def set_stance_inside(x: Tensor):
    """`torch.compiler.set_stance` inside"""
    with torch.compiler.set_stance("default"):
        y = x + 1
    return y


def is_compiling(x: Tensor):
    """`torch.compiler.is_compiling()`, `is_dynamo_compiling()`"""
    if torch.compiler.is_compiling() and torch.compiler.is_dynamo_compiling():
        return x + 1
    return x + 1


def is_exporting(x: Tensor):
    """`torch.compiler.is_exporting()`"""
    if torch.compiler.is_exporting():
        return x
    return x + 1


def cudagraph_mark_step(x: Tensor):
    """`torch.compiler.cudagraph_mark_step_begin()` inside"""
    torch.compiler.cudagraph_mark_step_begin()
    return x + 1


def cuda_is_available(x: Tensor):
    """`torch.cuda.is_available()`"""
    return x + int(torch.cuda.is_available())


def cuda_guarded(x: Tensor):
    """`torch.cuda.synchronize()` and others under `if torch.cuda.is_available()`"""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        x = x + torch.cuda.current_device()
    return x + 1


def cuda_device_count(x: Tensor):
    """`torch.cuda.device_count()`"""
    return x + torch.cuda.device_count() * 0


def cuda_is_initialized(x: Tensor):
    """`torch.cuda.is_initialized()`"""
    return x + int(torch.cuda.is_initialized()) * 0


def cuda_memory(x: Tensor):
    """`torch.cuda.memory_allocated()`"""
    return x + torch.cuda.memory_allocated() * 0


def cuda_empty_cache(x: Tensor):
    """`torch.cuda.empty_cache()`"""
    torch.cuda.empty_cache()
    return x + 1


def cpu_synchronize(x: Tensor):
    """`torch.cpu.synchronize()`"""
    torch.cpu.synchronize()
    return x + 1


def accelerator_available(x: Tensor):
    """`torch.accelerator.is_available()`"""
    return x + int(torch.accelerator.is_available()) * 0


def mps_is_available(x: Tensor):
    """`torch.backends.mps.is_available()`"""
    return x + int(torch.backends.mps.is_available())


def cudnn_flags_read(x: Tensor):
    """`torch.backends.cudnn.enabled`, `torch.backends.cuda.matmul.allow_tf32` read"""
    return x + int(torch.backends.cudnn.enabled) * 0


def cudnn_benchmark_set(x: Tensor):
    """`torch.backends.cudnn.benchmark = True`"""
    torch.backends.cudnn.benchmark = False
    return x + 1


def tf32_set(x: Tensor):
    """`torch.backends.cuda.matmul.allow_tf32 = True`"""
    torch.backends.cuda.matmul.allow_tf32 = False
    return x + 1


def matmul_precision_set(x: Tensor):
    """`torch.set_float32_matmul_precision`"""
    torch.set_float32_matmul_precision("highest")
    return x + 1


def threads_get(x: Tensor):
    """`torch.get_num_threads()`"""
    return x + torch.get_num_threads() * 0


def threads_set(x: Tensor):
    """`torch.set_num_threads`"""
    torch.set_num_threads(2)
    return x + 1


def default_dtype_get(x: Tensor):
    """`torch.get_default_dtype()`"""
    return x.to(torch.get_default_dtype()) + 1


def default_dtype_set(x: Tensor):
    """`torch.set_default_dtype`"""
    torch.set_default_dtype(torch.float32)
    return x + 1


def default_device_get(x: Tensor):
    """`torch.get_default_device()`"""
    return x.to(torch.get_default_device()) + 1


def print_options_set(x: Tensor):
    """`torch.set_printoptions`"""
    torch.set_printoptions(precision=4)
    return x + 1


def dist_available(x: Tensor):
    """`dist.is_available() and dist.is_initialized()`"""
    if dist.is_available() and dist.is_initialized():
        dist.all_reduce(x)
    return x + 1


def dist_rank_guarded(x: Tensor):
    """`dist.get_rank() if dist.is_initialized() else 0`"""
    rank = dist.get_rank() if dist.is_initialized() else 0
    return x + rank


def dist_world_size_helper(x: Tensor):
    """`dist.get_world_size` under a `try`"""
    try:
        n = dist.get_world_size()
    except (RuntimeError, ValueError):
        n = 1
    return x + n


def make_like(x: Tensor):
    """`zeros_like`, `new_tensor`, `new_zeros`, `empty`, `full_like`"""
    return torch.zeros_like(x) + x.new_zeros(4) + torch.full_like(x, 2) + torch.empty(4, 4).fill_(1.0)


def new_tensor_of_list(x: Tensor):
    """`x.new_tensor([1.0, 2.0, 3.0, 4.0])`"""
    return x + x.new_tensor([1.0, 2.0, 3.0, 4.0])


def legacy_constructor(x: Tensor):
    """`torch.FloatTensor([1.0])`, `torch.Tensor(2, 2)`"""
    return x + torch.FloatTensor([1.0])


def legacy_constructor_sized(x: Tensor):
    """`torch.Tensor(4, 4)`"""
    return torch.Tensor(4, 4).fill_(1.0) + x


def type_string(x: Tensor):
    """`x.type()`"""
    return x + len(x.type())


def type_conversion(x: Tensor):
    """`x.type(torch.half)`, `x.to(torch.int64)`, `x.half()`, `x.type_as(y)`"""
    return x.type(torch.float64) + x.to(torch.int64) + x.half() + x.type_as(x)


def type_conversion_legacy(x: Tensor):
    """`x.type(torch.FloatTensor)`"""
    return x.type(torch.FloatTensor) + 1


def to_device(x: Tensor):
    """`x.to("cpu")`, `x.to(torch.device("cpu"))`, `x.cpu()`, `x.to(y)`"""
    return x.to("cpu") + x.to(torch.device("cpu")) + x.cpu() + x.to(x)


def to_device_non_blocking(x: Tensor):
    """`x.to("cpu", non_blocking=True)`"""
    return x.to("cpu", non_blocking=True) + 1


def storage(x: Tensor):
    """`x.storage()`"""
    return x + len(x.storage())


def untyped_storage(x: Tensor):
    """`x.untyped_storage().nbytes()`"""
    return x + x.untyped_storage().nbytes() * 0


def storage_pointer(x: Tensor):
    """`x.untyped_storage().data_ptr()`"""
    return x + int(x.untyped_storage().data_ptr() == 0)


def share_memory(x: Tensor):
    """`x.share_memory_()`"""
    y = x.clone().share_memory_()
    return y + 1


def inplace_on_input(x: Tensor):
    """`x.add_(1)` on an input"""
    x.add_(1)
    return x


def setitem_on_input(x: Tensor):
    """`x[0] = 0` on an input"""
    x[0] = 0
    return x + 1


def out_argument(x: Tensor):
    """`torch.add(..., out=y)`"""
    y = torch.empty(4, 4)
    torch.add(x, 1, out=y)
    return y


def set_storage(x: Tensor):
    """`y.set_(x)`"""
    y = x.clone()
    y.set_(x)
    return y


def resize(x: Tensor):
    """`y.resize_(2, 8)`"""
    y = x.clone()
    y.resize_(2, 8)
    return y


def as_strided(x: Tensor):
    """`x.as_strided`"""
    return x.as_strided((2, 2), (1, 1))


def names(x: Tensor):
    """`x.T`, `x.mT`, `x.H`, `x.real`"""
    return x.T + x.mT + x.H + x.real


def setattr_on_tensor(x: Tensor):
    """an attribute set on a tensor"""
    y = x + 1
    y.tag = 3
    return y + y.tag


def setattr_on_input(x: Tensor):
    """an attribute set on an input"""
    x.tag = 3
    return x + x.tag


def getattr_default_on_tensor(x: Tensor):
    """`getattr(x, "tag", 0)`, `hasattr(x, "tag")`"""
    return x + getattr(x, "other_tag", 0) + hasattr(x, "other_tag")


def subclass(x: Tensor):
    """`x.as_subclass(...)`"""
    return x.as_subclass(_Tagged) + 1


def function_mode(x: Tensor):
    """a `TorchFunctionMode` entered inside"""
    with _CountCalls():
        y = x + 1
    return y


def sdpa(x: Tensor):
    """`F.scaled_dot_product_attention`"""
    return F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)


def while_loop(x: Tensor):
    """`torch._higher_order_ops.while_loop`"""
    return torch._higher_order_ops.while_loop(lambda v: v.sum() < 50, lambda v: (v * 2,), (x,))[0]


def cond_module(x: Tensor):
    """`torch.cond` with closures"""
    scale = x.mean()
    return torch.cond(x.sum() > 0, lambda: x * scale, lambda: x - scale, ())


def quantize(x: Tensor):
    """`torch.quantize_per_tensor`"""
    return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize()


def tensor_size_class(x: Tensor):
    """`torch.Size([1, 2])`, `x.shape + (1,)`, `x.shape.numel()`"""
    return x.reshape(torch.Size([2, 8])).reshape(x.shape + (1,)) + x.shape.numel()


def broadcast(x: Tensor):
    """`torch.broadcast_shapes`, `torch.broadcast_tensors`, `torch.meshgrid`"""
    a, b = torch.meshgrid(x[0], x[1], indexing="ij")
    return a + b + len(torch.broadcast_shapes((4,), (4, 4)))


def promote(x: Tensor):
    """`torch.promote_types`"""
    return x.to(torch.promote_types(torch.float32, torch.float64)) + 1


def can_cast(x: Tensor):
    """`torch.can_cast`"""
    return x + int(torch.can_cast(torch.float32, torch.float64))


def result_type(x: Tensor):
    """`torch.result_type(x, y)`"""
    return x.to(torch.result_type(x, 1)) + 1


def numel_function(x: Tensor):
    """`torch.numel(x)`, `torch.is_floating_point(x)`, `torch.is_nonzero` unused"""
    return x + torch.numel(x) + int(torch.is_floating_point(x))


def parameters_to_vector(x: Tensor):
    """`nn.utils.parameters_to_vector`"""
    return x + nn.utils.parameters_to_vector(_linear.parameters()).sum()


def tree_map(x: Tensor):
    """`torch.utils._pytree.tree_map`"""
    return torch.utils._pytree.tree_map(lambda t: t * 2, {"a": [x]})["a"][0]


def dlpack(x: Tensor):
    """`torch.utils.dlpack`"""
    return torch.from_dlpack(x) + 1


def hub_directory(x: Tensor):
    """`torch.hub.get_dir()`"""
    return x + len(torch.hub.get_dir()) * 0


def distributions(x: Tensor):
    """`torch.distributions.Normal(...).rsample()`"""
    return torch.distributions.Normal(x, 1.0).rsample() + 1


def distributions_no_check(x: Tensor):
    """`torch.distributions.Normal(..., validate_args=False).log_prob`"""
    return torch.distributions.Normal(x, 1.0, validate_args=False).log_prob(x)


def distributions_categorical(x: Tensor):
    """`torch.distributions.Categorical(logits=x).sample()`"""
    return torch.distributions.Categorical(logits=x).sample() + 1


def getattr_of_namespace(x: Tensor):
    """`getattr(F, "relu")(x)`, `hasattr(torch, "compile")`"""
    return getattr(F, "relu")(x) + hasattr(torch, "compile")


def unbound_method(x: Tensor):
    """`torch.Tensor.add(x, 1)`"""
    return torch.Tensor.add(x, 1)


def complex_rotation(x: Tensor):
    """`torch.view_as_complex`, `torch.polar`, `torch.view_as_real`"""
    turned = torch.view_as_complex(x.reshape(4, 2, 2)) * torch.polar(torch.ones(2), torch.ones(2))
    return torch.view_as_real(turned).flatten(1)


def interpolate(x: Tensor):
    """`F.interpolate(scale_factor=2)`, `F.grid_sample`, `F.unfold`, `F.pad`"""
    y = F.interpolate(x[None, None], scale_factor=2, mode="bilinear")
    return F.pad(y, (1, 1, 1, 1), mode="reflect").sum() + F.unfold(x[None, None], 2)


def gumbel_softmax(x: Tensor):
    """`F.gumbel_softmax(hard=True)`"""
    return F.gumbel_softmax(x, hard=True)


def dynamo_reset_inside(x: Tensor):
    """`torch._dynamo.reset()` inside"""
    torch._dynamo.reset()
    return x + 1


def dynamo_config_set(x: Tensor):
    """`torch._dynamo.config.verbose = False` inside"""
    torch._dynamo.config.verbose = False
    return x + 1


def inplace_shape_on_input(x: Tensor):
    """`x.unsqueeze_(0)`, `x.t_()` on an input"""
    x.unsqueeze_(0)
    return x + 1


def inplace_shape_on_made(x: Tensor):
    """`y.unsqueeze_(0)`, `y.t_()` on a tensor made in the region"""
    y = x * 2
    y.unsqueeze_(0)
    return y.squeeze_(0).t_() + 1


def quantile(x: Tensor):
    """`torch.quantile(x, 0.5)`"""
    return torch.quantile(x, 0.5)


def covariance(x: Tensor):
    """`torch.cov`, `torch.corrcoef`"""
    return torch.cov(x) + 1


def init_truncated_normal(x: Tensor):
    """`nn.init.trunc_normal_` of a tensor"""
    return nn.init.trunc_normal_(torch.empty(4, 4)) + x


def gaussian_nll_loss(x: Tensor):
    """`F.gaussian_nll_loss`"""
    return F.gaussian_nll_loss(x, x, torch.ones(4, 4))
