# ruff: noqa
"""Decisions on tensor values, and decisions that Dynamo can take while tracing."""

import random

import torch
from torch import Tensor, nn

_flag = True
_off = False


class _Config:
    use_bias = True
    layerdrop = 0.1


def _is_large(t):
    return t.abs().max() > 100


def if_tensor(x: Tensor):
    """`if tensor > 0`"""
    if x.sum() > 0:
        return x + 1
    return x - 1


def if_tensor_itself(s: Tensor):
    """`if tensor` of a 0-d float"""
    if s:
        return s + 1
    return s


def if_mask_element(x: Tensor, m: Tensor):
    """`if mask[0, 0]`"""
    if m[0, 0]:
        return x + 1
    return x


def if_any_assign(x: Tensor, m: Tensor):
    """`if mask.any(): x = f(x)`"""
    if m.any():
        x = x + 1
    return x * 2


def if_not_finite_raise(x: Tensor):
    """`if not torch.isfinite(x).all(): raise`"""
    if not torch.isfinite(x).all():
        raise ValueError("not finite")
    return x + 1


def if_isinf_clamp(x: Tensor):
    """`if torch.isinf(x).any(): x = x.clamp(...)`"""
    if torch.isinf(x).any():
        x = x.clamp(-1, 1)
    return x * 2


def if_elif(x: Tensor):
    """`elif tensor > 0`"""
    if x.dim() == 3:
        return x
    elif x.sum() > 0:
        return x + 1
    return x


def if_in_helper(x: Tensor):
    """`if` on what a called function returns"""
    if _is_large(x):
        x = x / 100
    return x + 1


def if_compare_two(x: Tensor):
    """`if t > u` with 0-d tensors"""
    if x.sum() > x.mean():
        return x + 1
    return x


def if_chained(s: Tensor):
    """`if 0 < tensor < 1`"""
    if 0 < s < 1:
        return s + 1
    return s


def if_rand(x: Tensor):
    """`if torch.rand(()) < p`"""
    if torch.rand(()) < 0.5:
        return x + 1
    return x


def if_rand_layerdrop(x: Tensor):
    """`torch.rand([]) < config.layerdrop` under a flag"""
    drop = torch.rand([])
    if _flag and drop < _Config.layerdrop:
        return x
    return x + 1


def if_random_randint(x: Tensor):
    """`if random.randint(0, 1)`"""
    if random.randint(0, 1):
        return x + 1
    return x


def if_equal(x: Tensor):
    """`if torch.equal(x, y)`"""
    if torch.equal(x, x + 1):
        return x + 1
    return x


def if_allclose(x: Tensor):
    """`if torch.allclose(x, y)`"""
    if torch.allclose(x, x + 1):
        return x + 1
    return x


def if_method_equal(x: Tensor):
    """`if x.equal(y)`"""
    if x.equal(x + 1):
        return x + 1
    return x


def if_is_nonzero(x: Tensor):
    """`if torch.is_nonzero(t)`"""
    if torch.is_nonzero(x.sum()):
        return x + 1
    return x


def ternary(x: Tensor):
    """`a if tensor > 0 else b`"""
    scale = 1.0 if x.sum() > 0 else 2.0
    return x * scale


def ternary_static(x: Tensor):
    """`a if x.dim() == 2 else b`"""
    return x * (1.0 if x.dim() == 2 else 2.0)


def while_tensor(x: Tensor):
    """`while tensor < 100`"""
    n = 0
    while x.abs().sum() < 100 and n < 50:
        x = x * 2
        n += 1
    return x


def while_number(x: Tensor):
    """`while n < 3`"""
    n = 0
    while n < 3:
        x = x * 2
        n += 1
    return x


def break_on_tensor(x: Tensor):
    """`for ...: if tensor: break`"""
    for _ in range(3):
        x = x * 2
        if x.sum() > 20:
            break
    return x


def and_of_tensors(x: Tensor):
    """`t and u`"""
    both = (x.sum() > 0) and (x.sum() < 5)
    return x + both


def or_of_tensors(x: Tensor):
    """`t or u`"""
    either = (x.sum() > 0) or (x.sum() < 5)
    return x + either


def not_tensor(x: Tensor):
    """`not t`"""
    return x + (not (x.sum() > 0))


def or_shortened(x: Tensor, m: Tensor):
    """`flag or mask.any()` with the flag on"""
    if _flag or m.any():
        return x + 1
    return x


def and_shortened(x: Tensor, m: Tensor):
    """`flag and mask.any()` with the flag off"""
    if _off and m.any():
        return x + 1
    return x


def and_flag_tensor(x: Tensor, m: Tensor):
    """`flag and mask.any()` with the flag on"""
    if _flag and m.any():
        return x + 1
    return x


def mask_not_none_and_any(x: Tensor, m: Tensor):
    """`mask is not None and mask.any()`"""
    if m is not None and torch.all(m):
        return x + 1
    return x


def and_of_masks(x: Tensor, m: Tensor):
    """`m & (x > 0)`, no decision"""
    return torch.where(m & (x > 0) | ~m, x, -x)


def any_of_generator(x: Tensor):
    """builtin `any(t > 0 for t in ...)`"""
    return x + any(row.sum() > 0 for row in x)


def all_of_list(x: Tensor):
    """builtin `all([t > 0, u > 0])`"""
    return x + all([x.sum() > 0, x.mean() > 0])


def any_of_tensor(x: Tensor, m: Tensor):
    """builtin `any(1-d mask)`"""
    return x + any(m[0])


def any_of_numbers(x: Tensor):
    """builtin `any` over shapes"""
    return x + any(d > 3 for d in x.shape)


def any_of_nones(x: Tensor):
    """builtin `any(t is None for t in ...)`"""
    if any(t is None for t in (x, x)):
        return x
    return x + 1


def filter_tensors(x: Tensor):
    """`filter(lambda t: t.sum() > 0, tensors)`"""
    return x + len(list(filter(lambda t: t.sum() > 0, [x, -x])))


def comprehension_condition(x: Tensor, i: Tensor):
    """`[v for v in t if v > 1]`"""
    return x + len([v for v in i if v > 1])


def comprehension_static_condition(x: Tensor):
    """`[k for k in range(4) if k > 1]`"""
    return x + len([k for k in range(4) if k > 1])


def sorted_tensors(x: Tensor):
    """`sorted` of tensors"""
    return sorted([x.sum(), x.mean()])[0] + x


def sorted_key_tensor(x: Tensor):
    """`sorted(ts, key=lambda t: t.sum())`"""
    return sorted([x, -x], key=lambda t: t.sum())[0] + 1


def sorted_key_shape(x: Tensor):
    """`sorted(ts, key=lambda t: t.shape[0])`"""
    return sorted([x, x[:2]], key=lambda t: t.shape[0])[0] + 1


def tensor_in_list(x: Tensor):
    """`t in [t, u]`"""
    y = x.sum()
    return x + (y in [y])


def number_in_tensor(x: Tensor, i: Tensor):
    """`2 in tensor`"""
    return x + (2 in i)


def tensor_in_numbers(x: Tensor, i: Tensor):
    """`tensor in (1, 2)`"""
    if i[1] in (1, 2):
        return x + 1
    return x


def list_index_of_tensor(x: Tensor):
    """`[t, u].index(u)`"""
    y = x.sum()
    return x + [x.mean(), y].index(y)


def match_tensor(x: Tensor, i: Tensor):
    """`match tensor: case 1`"""
    match i[1]:
        case 1:
            return x + 1
        case _:
            return x


def match_shape(x: Tensor):
    """`match x.dim(): case 2`"""
    match x.dim():
        case 2:
            return x + 1
        case _:
            return x


def walrus_test(x: Tensor):
    """`if (peak := x.max()) > 1`"""
    if (peak := x.max()) > 1:
        return x / peak
    return x


def assert_tensor(x: Tensor):
    """`assert tensor > 0`"""
    assert x.sum() > -100
    return x + 1


def assert_tensor_message(x: Tensor):
    """`assert tensor > 0, "message"`"""
    assert x.sum() > -100, "too small"
    return x + 1


def assert_tensor_formatted_message(x: Tensor):
    """`assert tensor > 0, f"{tensor}"`"""
    assert x.sum() > -100, f"got {x.sum()}"
    return x + 1


def assert_tensor_shape_message(x: Tensor):
    """`assert tensor > 0, f"{x.shape}"`"""
    assert x.sum() > -100, f"got {x.shape}"
    return x + 1


def assert_and_of_tensors(x: Tensor):
    """`assert t and u`"""
    assert x.sum() > -100 and x.sum() < 100
    return x + 1


def assert_not_tensor(x: Tensor):
    """`assert not tensor`"""
    assert not torch.isnan(x).any()
    return x + 1


def assert_item(x: Tensor):
    """`assert tensor.item() > 0`"""
    assert x.sum().item() > -100
    return x + 1


def assert_list_of_tensors(x: Tensor):
    """`assert tensors`, a list"""
    parts = [x, x * 2]
    assert parts
    return parts[0] + parts[1]


def assert_list_message(x: Tensor):
    """`assert tensors, "message"`"""
    parts = [x, x * 2]
    assert parts, "none"
    return parts[0] + parts[1]


def assert_list_formatted_message(x: Tensor):
    """`assert tensors, f"{x.shape}"`"""
    parts = [x, x * 2]
    assert parts, f"none of {x.shape}"
    return parts[0] + parts[1]


def assert_length(x: Tensor):
    """`assert len(tensors) > 0`"""
    parts = [x, x * 2]
    assert len(parts) > 0
    return parts[0] + parts[1]


def assert_list_last(x: Tensor):
    """`assert x.dim() == 2 and tensors`"""
    parts = [x, x * 2]
    assert x.dim() > 0 and parts
    return parts[0] + parts[1]


def assert_list_first(x: Tensor):
    """`assert tensors and x.dim() == 2`"""
    parts = [x, x * 2]
    assert parts and x.dim() > 0
    return parts[0] + parts[1]


def assert_list_of_numbers(x: Tensor):
    """`assert numbers`"""
    parts = [1, 2]
    assert parts
    return x + parts[0]


def assert_dictionary_of_tensors(x: Tensor):
    """`assert tensors`, a dictionary"""
    parts = {"a": x, "b": x * 2}
    assert parts
    return parts["a"] + parts["b"]


class AssertModule(nn.Module):
    """`assert self.layer`"""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        assert self.layer
        return self.layer(x)


class AssertModuleList(nn.Module):
    """`assert self.layers`"""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])

    def forward(self, x: Tensor):
        assert self.layers
        return self.layers[0](x)


class AssertObject(nn.Module):
    """`assert self.config`, an object"""

    def __init__(self):
        super().__init__()
        self.config = _Config()

    def forward(self, x: Tensor):
        assert self.config
        return x + 1


class AssertObjectIsThere(nn.Module):
    """`assert self.config is not None`"""

    def __init__(self):
        super().__init__()
        self.config = _Config()

    def forward(self, x: Tensor):
        assert self.config is not None
        return x + 1


def assert_all_message(x: Tensor, m: Tensor):
    """`assert (x == y).all(), "message"`"""
    assert (x == x).all(), "differ"
    return x + 1


def assert_allclose(x: Tensor):
    """`assert torch.allclose(x, y)`"""
    assert torch.allclose(x, x)
    return x + 1


def assert_shape(x: Tensor):
    """`assert x.shape[0] == 4`"""
    assert x.shape[0] == 4 and x.dim() == 2
    return x + 1


def testing_assert_close(x: Tensor):
    """`torch.testing.assert_close`"""
    torch.testing.assert_close(x, x)
    return x + 1


def if_shape(x: Tensor):
    """`if x.shape[0] > 2`"""
    if x.shape[0] > 2 and x.dim() == 2 and x.size(-1) == 4:
        return x + 1
    return x


def if_shapes_equal(x: Tensor, m: Tensor):
    """`if x.shape == mask.shape`"""
    if x.shape == m.shape and x.size() != (3, 3):
        return x + 1
    return x


def if_numel(x: Tensor):
    """`if x.numel() == 0`"""
    if x.numel() == 0 or len(x) == 0:
        return x
    return x + 1


def if_masked_numel(x: Tensor, m: Tensor):
    """`if x[mask].numel() > 0`"""
    if x[m].numel() > 0:
        return x + 1
    return x


def if_none(x: Tensor):
    """`if x is not None`"""
    if x is not None:
        return x + 1
    return x


def if_none_equal(x: Tensor):
    """`if x == None`"""
    if x == None:
        return x
    return x + 1


def if_dtype(x: Tensor):
    """`if x.dtype in (...)`"""
    if x.dtype in (torch.float16, torch.bfloat16) or x.dtype == torch.bool:
        return x
    return x + 1


def if_dtype_flags(x: Tensor):
    """`x.is_floating_point()`, `x.dtype.is_floating_point`, `torch.is_complex(x)`"""
    if x.is_floating_point() and x.dtype.is_floating_point and not torch.is_complex(x):
        return x + 1
    return x


def if_device(x: Tensor):
    """`if x.device.type == "cpu"`, `x.is_cuda`"""
    if x.device.type == "cpu" and not x.is_cuda and x.device == torch.device("cpu"):
        return x + 1
    return x


def if_requires_grad(x: Tensor):
    """`if x.requires_grad`"""
    if x.requires_grad:
        return x
    return x + 1


def if_is_leaf(x: Tensor):
    """`if x.is_leaf`"""
    if x.is_leaf:
        return x + 1
    return x


def if_grad_fn(x: Tensor):
    """`if x.grad_fn is None`"""
    if x.grad_fn is None:
        return x + 1
    return x


def if_contiguous(x: Tensor):
    """`if x.is_contiguous()`"""
    if not x.is_contiguous():
        x = x.contiguous()
    return x + 1


def if_sparse(x: Tensor):
    """`if x.is_sparse`, `x.layout`"""
    if x.is_sparse or x.layout != torch.strided or x.is_quantized:
        return x
    return x + 1


def if_same_size(x: Tensor):
    """`if x.is_same_size(y)`"""
    if x.is_same_size(x + 1):
        return x + 1
    return x


def if_is_shared_pinned(x: Tensor):
    """`if x.is_pinned()`"""
    if x.is_pinned():
        return x
    return x + 1


def if_is_conj(x: Tensor):
    """`if x.is_conj()`"""
    if x.is_conj():
        return x
    return x + 1


def if_is_inference(x: Tensor):
    """`if x.is_inference()`"""
    if x.is_inference():
        return x
    return x + 1


def if_same_object(x: Tensor):
    """`if x is y`"""
    y = x + 1
    if x is y:
        return x
    return y


def if_isinstance(x: Tensor):
    """`isinstance(x, Tensor)`, `torch.is_tensor(x)`, `type(x) is Tensor`"""
    if isinstance(x, Tensor) and torch.is_tensor(x) and type(x) is Tensor:
        return x + 1
    return x


def if_isinstance_parameter(x: Tensor):
    """`isinstance(x, nn.Parameter)`"""
    if isinstance(x, nn.Parameter):
        return x
    return x + 1


def if_isinstance_legacy(x: Tensor):
    """`isinstance(x, torch.FloatTensor)`"""
    if isinstance(x, torch.FloatTensor):
        return x + 1
    return x


def if_type_string(x: Tensor):
    """`if x.type() == "torch.FloatTensor"`"""
    if x.type() == "torch.FloatTensor":
        return x + 1
    return x


def if_grad_enabled(x: Tensor):
    """`if torch.is_grad_enabled()`"""
    if torch.is_grad_enabled():
        return x + 1
    return x


def if_inference_mode_enabled(x: Tensor):
    """`if torch.is_inference_mode_enabled()`"""
    if torch.is_inference_mode_enabled():
        return x
    return x + 1


def if_autocast_enabled(x: Tensor):
    """`if torch.is_autocast_enabled()`"""
    if torch.is_autocast_enabled() or torch.is_autocast_enabled("cpu"):
        return x
    return x + 1


def if_autocast_dtype(x: Tensor):
    """`torch.get_autocast_dtype("cpu")`"""
    if torch.get_autocast_dtype("cpu") == torch.bfloat16:
        return x + 1
    return x


def if_scripting(x: Tensor):
    """`torch.jit.is_scripting()`, `torch.jit.is_tracing()`"""
    if torch.jit.is_scripting() or torch.jit.is_tracing():
        return x
    return x + 1


def if_onnx_export(x: Tensor):
    """`torch.onnx.is_in_onnx_export()`"""
    if torch.onnx.is_in_onnx_export():
        return x
    return x + 1


def if_config(x: Tensor):
    """`if config.use_bias`"""
    if _Config.use_bias:
        return x + 1
    return x


class IfTraining(nn.Module):
    """`if self.training`"""

    def forward(self, x: Tensor):
        if self.training and self.dump_patches is False:
            return x + 1
        return x


class IfBuffer(nn.Module):
    """`if self.initted` with a buffer"""

    def __init__(self):
        super().__init__()
        self.register_buffer("initted", torch.tensor(True))

    def forward(self, x: Tensor):
        if self.initted:
            return x + 1
        return x


class IfNotBuffer(nn.Module):
    """`if not self.initted` with a buffer"""

    def __init__(self):
        super().__init__()
        self.register_buffer("initted", torch.tensor([False]))

    def forward(self, x: Tensor):
        if not self.initted:
            x = x * 2
        return x + 1


class IfBufferIsNone(nn.Module):
    """`if self.cache is None` with a buffer that is None"""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", None)

    def forward(self, x: Tensor):
        if self.cache is None:
            return x + 1
        return x + self.cache


class IfParameterSum(nn.Module):
    """`if self.weight.sum() != 0` with a parameter"""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor):
        if self.training and self.weight.sum() != 0:
            return x * self.weight
        return x


class IfWeightInTrainingOnly(nn.Module):
    """`if self.training and tensor` in eval mode"""

    def __init__(self):
        super().__init__()
        self.eval()

    def forward(self, x: Tensor):
        if self.training and x.sum() > 0:
            return x + 1
        return x


def where_instead(x: Tensor):
    """`torch.where(c, a, b)`"""
    return torch.where(x.sum() > 0, x + 1, x - 1)


def cond_instead(x: Tensor):
    """`torch.cond`"""
    return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))


def assert_async_instead(x: Tensor):
    """`torch._assert_async`"""
    torch._assert_async(torch.isfinite(x).all())
    return x + 1


def assert_async_message(x: Tensor):
    """`torch._assert_async` with a message"""
    torch._assert_async(torch.isfinite(x).all(), "not finite")
    return x + 1


def torch_assert(x: Tensor):
    """`torch._assert(tensor, message)`"""
    torch._assert(x.sum() > -100, "too small")
    return x + 1


def torch_assert_shape(x: Tensor):
    """`torch._assert(x.dim() == 2, message)`"""
    torch._assert(x.dim() == 2, "not a matrix")
    return x + 1


def check_shape(x: Tensor):
    """`torch._check(x.shape[0] > 1)`"""
    torch._check(x.shape[0] > 1)
    return x + 1


def check_shape_message(x: Tensor):
    """`torch._check(..., lambda: "message")`"""
    torch._check(x.shape[0] > 1, lambda: "too small")
    return x + 1


def check_shape_closure(x: Tensor):
    """`torch._check(..., lambda: f"{x.shape}")`"""
    torch._check(x.shape[0] > 1, lambda: f"got {x.shape}")
    return x + 1


def check_with(x: Tensor):
    """`torch._check_with(ValueError, ...)`"""
    torch._check_with(ValueError, x.shape[0] > 1, lambda: "too small")
    return x + 1


def check_with_closure(x: Tensor):
    """`torch._check_with(ValueError, ..., lambda: f"{x.shape}")`"""
    torch._check_with(ValueError, x.shape[0] > 1, lambda: f"got {x.shape}")
    return x + 1


def check_tensor(x: Tensor):
    """`torch._check(tensor > 0)`"""
    torch._check(x.sum() > -100)
    return x + 1


def check_tensor_all(x: Tensor):
    """`torch._check_tensor_all`"""
    torch._check_tensor_all(x > -100)
    return x + 1


def check_tensor_all_with(x: Tensor):
    """`torch._check_tensor_all_with`"""
    torch._check_tensor_all_with(ValueError, x > -100, lambda: "too small")
    return x + 1


def guarded_by_not_compiling(x: Tensor):
    """a decision on a tensor under `if not torch.compiler.is_compiling()`"""
    if not torch.compiler.is_compiling() and not torch.isfinite(x).all():
        raise ValueError("not finite")
    return x + 1


def after_return(x: Tensor):
    """a decision on a tensor after `return`"""
    return x + 1
    if x.sum() > 0:
        return x


def check_value(x: Tensor):
    """`torch._check_value(x.shape[0] > 1)`"""
    torch._check_value(x.shape[0] > 1)
    return x + 1


def generation_loop(x: Tensor):
    """`while True: ... if (tokens == end).all(): break`"""
    n = 0
    while True:
        x = x * 2
        n += 1
        if (x > 100).any() or n > 20:
            break
    return x


def return_in_loop(x: Tensor):
    """`return` in a loop when a tensor says so"""
    for _ in range(3):
        y = x * 2
        if (y - x).abs().max() < 1e-3:
            return y
        x = y
    return x


def if_in_no_grad(x: Tensor):
    """`if tensor` under `torch.no_grad()`"""
    with torch.no_grad():
        y = x * 2
        if y.sum() > 0:
            y = y + 1
    return y


def if_in_try(x: Tensor):
    """`if tensor` in a `try` block"""
    try:
        y = x * 2
        if y.sum() > 0:
            y = y + 1
    except ValueError:
        y = x
    return y


def if_in_loop(x: Tensor):
    """`if tensor` in a loop, without `break`"""
    for k in range(3):
        x = x * 2
        if x.sum() > 10:
            x = x / 2
    return x


def if_item_equal(x: Tensor, m: Tensor):
    """`if mask.sum() == mask.numel()`"""
    if m.sum() == m.numel():
        return x + 1
    return x


def if_labels(x: Tensor, i: Tensor):
    """`if labels is not None and (labels != -100).sum() > 0`"""
    if i is not None and (i != -100).sum() > 0:
        return x + 1
    return x


def if_comparison_stored(x: Tensor):
    """a comparison stored first: `large = x.max() > 1; if large`"""
    large = x.max() > 1
    if large:
        return x + 1
    return x


def if_tensor_in_tuple(x: Tensor):
    """`ok, n = x.max() > 1, 3; if ok`"""
    ok, n = x.max() > 1, 3
    if ok:
        return x + n
    return x


def if_not_any_item(x: Tensor):
    """`if not x.isnan().any().item()`"""
    if not x.isnan().any().item():
        return x + 1
    return x


def if_detached(x: Tensor):
    """`if x.detach().abs().max() > 1`"""
    if x.detach().abs().max() > 1:
        return x + 1
    return x


def lambda_default_condition(x: Tensor):
    """a lambda that decides on a tensor"""
    relu = lambda v: v if v.sum() > 0 else -v
    return relu(x)
