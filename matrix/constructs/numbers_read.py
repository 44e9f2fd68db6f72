# ruff: noqa
"""Numbers read out of tensors, and tensors where Python needs a number."""

import math
import operator
import statistics

import torch
import torch.nn.functional as F
from torch import Tensor

_scales = [1.0, 2.0, 3.0, 4.0]
_table = {0: 1.0, 1: 2.0, 2: 3.0}


def _largest(t):
    return t.max().item()


def item_float(x: Tensor):
    """`.item()` of a float tensor"""
    return x + x.sum().item()


def item_int(x: Tensor, i: Tensor):
    """`.item()` of an int tensor"""
    return x + i.sum().item()


def item_bool(x: Tensor, m: Tensor):
    """`.item()` of a bool tensor"""
    return x + m.any().item()


def item_unused(x: Tensor):
    """`.item()` whose value is not used"""
    x.sum().item()
    return x + 1


def item_in_helper(x: Tensor):
    """`.item()` in a function that is called"""
    return x / _largest(x)


def item_under_no_grad(x: Tensor):
    """`.item()` under `torch.no_grad()`"""
    with torch.no_grad():
        peak = x.max().item()
    return x / peak


def item_in_try(x: Tensor):
    """`.item()` in a `try` block"""
    try:
        peak = x.max().item()
    except RuntimeError:
        peak = 1.0
    return x / peak


def item_in_loop(x: Tensor):
    """`.item()` in a loop"""
    for _ in range(2):
        x = x / x.abs().max().item()
    return x


def item_in_condition(x: Tensor):
    """`if t.item() > 0`"""
    if x.max().item() > 0:
        return x + 1
    return x


def item_of_randint(x: Tensor):
    """`torch.randint(...).item()`"""
    return x + torch.randint(0, 4, (1,)).item()


def item_as_size(i: Tensor):
    """`.item()` as a size"""
    n = i.max().item()
    return torch.zeros(n + 1)


def item_of_python_tensor(x: Tensor):
    """`.item()` of `torch.tensor(constant)`"""
    return x + torch.tensor(3.0).item()


def item_of_shape_tensor(x: Tensor):
    """`torch.tensor(x.shape).prod().item()`"""
    return x + torch.tensor(x.shape).prod().item()


def items_of_dict(x: Tensor):
    """`dict.items()`, no tensor's `item`"""
    for _, value in {"a": 1, "b": 2}.items():
        x = x + value
    return x


def float_of_tensor(x: Tensor):
    """`float(tensor)`"""
    return x + float(x.sum())


def int_of_tensor(x: Tensor):
    """`int(tensor)`"""
    return x + int(x.sum())


def bool_of_tensor(x: Tensor):
    """`bool(tensor)`"""
    return x + bool(x.sum() > 0)


def complex_of_tensor(x: Tensor):
    """`complex(tensor)`"""
    return x + abs(complex(x.sum()))


def float_of_shape(x: Tensor):
    """`float(x.shape[0])`"""
    return x / float(x.shape[0])


def int_of_float(x: Tensor):
    """`int()` of a Python float computed from shapes"""
    return x[: int(x.shape[0] * 0.5)]


def tolist_float(x: Tensor):
    """`.tolist()` of floats"""
    return x + x[0].tolist()[0]


def tolist_int(x: Tensor, i: Tensor):
    """`.tolist()` of ints"""
    return x + i.tolist()[0]


def tolist_bool(x: Tensor, m: Tensor):
    """`.tolist()` of bools"""
    return x + m[0].tolist()[0]


def tolist_2d_int(x: Tensor, sizes: Tensor):
    """`.tolist()` of a matrix of ints"""
    for h, w in sizes.tolist():
        x = x + h * w
    return x


def tolist_scalar(x: Tensor, i: Tensor):
    """`.tolist()` of a 0-d int tensor"""
    return x + i.sum().tolist()


def shape_as_list(x: Tensor):
    """`list(x.shape)`"""
    a, b = list(x.shape)
    return x.reshape(b, a)


def operator_index(x: Tensor, i: Tensor):
    """`operator.index(tensor)`"""
    return x[operator.index(i[1])]


def abs_of_tensor(x: Tensor):
    """builtin `abs(tensor)`"""
    return abs(x) + 1


def pow_of_tensor(x: Tensor):
    """builtin `pow(tensor, 2)`"""
    return pow(x, 2) + 1


def sum_of_tensors(x: Tensor):
    """builtin `sum` over tensors"""
    return sum([x, x, x])


def sum_of_items(x: Tensor):
    """builtin `sum` over `.item()`s"""
    return x + sum(row.sum().item() for row in x)


def math_sqrt_tensor(x: Tensor):
    """`math.sqrt(tensor)`"""
    return x / math.sqrt(x.abs().sum())


def math_ceil_tensor(x: Tensor):
    """`math.ceil(tensor)`"""
    return x + math.ceil(x.sum())


def math_floor_tensor(x: Tensor):
    """`math.floor(tensor)`"""
    return x + math.floor(x.sum())


def math_isnan_tensor(x: Tensor):
    """`math.isnan(tensor)`"""
    return x + math.isnan(x.sum())


def math_log_tensor(x: Tensor):
    """`math.log(tensor)`"""
    return x + math.log(x.abs().sum())


def math_of_shape(x: Tensor):
    """`math.sqrt`, `math.ceil`, `math.log2` of shapes"""
    return x / math.sqrt(x.shape[-1]) + math.ceil(x.shape[0] / 3) + math.log2(x.shape[0])


def math_prod_shape(x: Tensor):
    """`math.prod(x.shape)`"""
    return x.reshape(math.prod(x.shape))


def math_isclose_floats(x: Tensor):
    """`math.isclose` of Python floats"""
    return x + math.isclose(0.1, 0.2)


def statistics_mean_shape(x: Tensor):
    """`statistics.mean` of a list of ints"""
    return x + statistics.mean([1, 2, 3])


def data_ptr(x: Tensor):
    """`.data_ptr()`"""
    return x + x.data_ptr() * 0


def data_ptr_compare(x: Tensor):
    """`x.data_ptr() == y.data_ptr()`"""
    y = x + 1
    if x.data_ptr() == y.data_ptr():
        return x
    return y


def len_of_tensor(x: Tensor):
    """`len(tensor)`"""
    return x + len(x)


def numel_size_dim(x: Tensor):
    """`.numel()`, `.size(0)`, `.dim()`, `.ndim`, `.stride()`, `.element_size()`"""
    return x + x.numel() + x.size(0) + x.dim() + x.ndim + x.stride(0) + x.element_size()


def storage_offset(x: Tensor):
    """`.storage_offset()`"""
    return x + x.storage_offset()


def get_device(x: Tensor):
    """`.get_device()`"""
    return x + x.get_device()


def list_index_by_tensor(x: Tensor, i: Tensor):
    """a Python list indexed by a tensor"""
    return x + _scales[i[1]]


def list_index_by_int_of_tensor(x: Tensor, i: Tensor):
    """a Python list indexed by `int(tensor)`"""
    return x + _scales[int(i[1])]


def list_of_tensors_index_by_tensor(x: Tensor, i: Tensor):
    """a list of tensors indexed by a tensor"""
    rows = [x[0], x[1]]
    return rows[i[1]]


def dict_index_by_item(x: Tensor, i: Tensor):
    """a dict looked up by `.item()`"""
    return x + _table[i[1].item()]


def slice_by_tensor(x: Tensor, i: Tensor):
    """a slice bound that is a tensor"""
    return x[: i[2]] * 2


def slice_by_int_of_tensor(x: Tensor, i: Tensor):
    """a slice bound that is `int(tensor)`"""
    return x[: int(i[2])] * 2


def slice_by_shape(x: Tensor):
    """a slice bound computed from the shape"""
    return x[: x.shape[0] // 2]


def slice_assign_by_tensor(x: Tensor, i: Tensor):
    """`y[: t] = 0` with a tensor bound"""
    y = x.clone()
    y[: i[2]] = 0
    return y


def tensor_index_by_tensor(x: Tensor, i: Tensor):
    """a tensor indexed by a 0-d tensor"""
    return x[i[1]]


def tensor_index_by_int_of_tensor(x: Tensor, i: Tensor):
    """a tensor indexed by `int(tensor)`"""
    return x[int(i[1])]


def zeros_of_tensor(i: Tensor):
    """`torch.zeros(int tensor)`"""
    return torch.zeros(i[2]) + 1


def zeros_of_max(x: Tensor, i: Tensor):
    """`torch.zeros((n, 4))` with `n = t.max()`"""
    n = i.max()
    return torch.zeros((n, 4)).sum() + x


def arange_of_tensor(i: Tensor):
    """`torch.arange(tensor)`"""
    return torch.arange(i.max()) + 1


def arange_of_element(x: Tensor, sizes: Tensor):
    """`torch.arange(h)` in `for h, w in tensor`"""
    for h, w in sizes:
        x = x + torch.arange(h).sum()
    return x


def linspace_of_tensors(x: Tensor):
    """`torch.linspace(tensor, tensor, 4)`"""
    return torch.linspace(x.min(), x.max(), 4)


def full_of_tensor(x: Tensor):
    """`torch.full((4,), tensor)`"""
    return x + torch.full((4,), x.mean())


def eye_of_tensor(i: Tensor):
    """`torch.eye(tensor)`"""
    return torch.eye(i[2])


def new_zeros_of_tensor(x: Tensor, i: Tensor):
    """`x.new_zeros(tensor)`"""
    return x.new_zeros(i[2])


def view_by_tensor(x: Tensor, i: Tensor):
    """`.view` by a tensor"""
    return x.view(i[1] * 4, -1)


def reshape_by_tensor(x: Tensor, i: Tensor):
    """`.reshape` by a tensor"""
    return x.reshape(i[2], -1)


def view_by_shape(x: Tensor):
    """`.view` by shapes"""
    b, n = x.shape
    return x.view(b // 2, 2, n).view(b, -1)


def expand_by_tensor(x: Tensor, i: Tensor):
    """`.expand` by a tensor"""
    return x[None].expand(i[2], -1, -1)


def repeat_by_tensor(x: Tensor, i: Tensor):
    """`.repeat` by a tensor"""
    return x.repeat(i[2], 1)


def split_by_tolist(x: Tensor, i: Tensor):
    """`.split(tensor.tolist())`"""
    return x.split([1, *i[1:3].tolist()])[0]


def split_by_tensor(x: Tensor, i: Tensor):
    """`.split(tensor)`"""
    return x.split(i[2])[0]


def split_by_list(x: Tensor):
    """`.split([1, 3])`"""
    a, b = x.split([1, 3])
    return a + b


def tensor_split_by_tensor(x: Tensor, i: Tensor):
    """`.tensor_split(tensor)`"""
    return x.tensor_split(i[1:3])[0]


def narrow_by_tensor(x: Tensor, i: Tensor):
    """`.narrow` from a tensor"""
    return x.narrow(0, i[1], 2)


def select_by_tensor(x: Tensor, i: Tensor):
    """`.select` by a tensor"""
    return x.select(0, i[1])


def topk_by_tensor(x: Tensor, i: Tensor):
    """`.topk(k=tensor)`"""
    return x.topk(i[2])[0]


def roll_by_tensor(x: Tensor, i: Tensor):
    """`torch.roll` by a tensor"""
    return torch.roll(x, i[1], 0)


def size_by_int_of_tensor(x: Tensor, i: Tensor):
    """`x.size(int(tensor))`"""
    return x + x.size(int(i[1]))


def sum_over_dim_of_tensor(x: Tensor, i: Tensor):
    """`x.sum(int(tensor))`"""
    return x.sum(int(i[1]))


def pad_by_tensor(x: Tensor, i: Tensor):
    """`F.pad` by tensors"""
    return F.pad(x, (0, i[2]))


def interpolate_by_tensors(x: Tensor, sizes: Tensor):
    """`F.interpolate(size=(h, w))` with tensors"""
    h, w = sizes[0]
    return F.interpolate(x[None, None], size=(h, w))


def range_of_tensor(x: Tensor, i: Tensor):
    """`range(tensor)`"""
    for _ in range(i[2]):
        x = x + 1
    return x


def range_of_shape(x: Tensor):
    """`range(x.shape[0])`"""
    for k in range(x.shape[0]):
        x = x + k
    return x


def multiply_string_by_int(x: Tensor):
    """a list repeated by a shape"""
    return x + len([0] * x.shape[0])


def list_times_tensor(x: Tensor, i: Tensor):
    """a list repeated by a tensor"""
    return x + len([0] * i[2])


def tensor_of_float(x: Tensor):
    """`torch.tensor(float)`"""
    return x + torch.tensor(1.0)


def tensor_of_ints(x: Tensor):
    """`torch.tensor([1, 2, 3, 4])`"""
    return x + torch.tensor([1, 2, 3, 4])


def tensor_of_tensors(x: Tensor):
    """`torch.tensor([t, u])`"""
    return x + torch.tensor([x.sum(), x.mean()]).sum()


def tensor_of_items(x: Tensor):
    """`torch.tensor([t.item(), u.item()])`"""
    return x + torch.tensor([x.sum().item(), x.mean().item()]).sum()


def tensor_of_tolist(x: Tensor, i: Tensor):
    """`torch.tensor(t.tolist())`"""
    return x + torch.tensor(i.tolist())


def tensor_of_tensor(x: Tensor):
    """`torch.tensor(tensor)`"""
    return torch.tensor(x) + 1


def as_tensor_of_tensor(x: Tensor):
    """`torch.as_tensor(tensor)`"""
    return torch.as_tensor(x) + 1


def tensor_of_shape(x: Tensor):
    """`torch.tensor(x.shape)`"""
    return x + torch.tensor(x.shape).sum()


def clamp_by_tensor(x: Tensor):
    """`.clamp(max=tensor)`"""
    return x.clamp(max=x.mean())


def arithmetic_with_numbers(x: Tensor):
    """arithmetic of tensors and Python numbers"""
    return 2 * x - float("inf") * 0.0 + (x**2) / 3 // 1


def finfo(x: Tensor):
    """`torch.finfo(x.dtype).min`"""
    return x.masked_fill(x > 0, torch.finfo(x.dtype).min)


def min_with_item(x: Tensor):
    """builtin `min(t.item(), 1)`"""
    return x * min(x.max().item(), 1)


def min_of_int_and_tensor(x: Tensor, i: Tensor):
    """builtin `min(3, tensor)`"""
    return x + min(3, i[1])


def max_of_tensors(x: Tensor):
    """builtin `max(tensor, tensor)`"""
    return x + max(x.sum(), x.mean())


def max_of_list_of_tensors(x: Tensor):
    """builtin `max([tensor, tensor])`"""
    return x + max([x.sum(), x.mean()])


def max_of_tensor(x: Tensor):
    """builtin `max(1-d tensor)`"""
    return x + max(x[0])


def max_of_shape(x: Tensor):
    """builtin `max(x.shape)`"""
    return x + max(x.shape)


def lengths_slice_in_loop(x: Tensor, i: Tensor):
    """`x[k, :n]` with `for k, n in enumerate(lengths)`"""
    total = x.sum()
    for k, n in enumerate(i):
        total = total + x[k, :n].sum()
    return total


def lengths_int_in_loop(x: Tensor, i: Tensor):
    """`x[k, : int(lengths[k])]` in a loop"""
    total = x.sum()
    for k in range(x.shape[0]):
        total = total + x[k, : int(i[k])].sum()
    return total


def lengths_last_in_comprehension(x: Tensor, i: Tensor):
    """`[x[k, n - 1] for k, n in enumerate(lengths)]`"""
    return torch.stack([x[k, n - 1] for k, n in enumerate(i)])


def lengths_last_gathered(x: Tensor, i: Tensor):
    """`x[torch.arange(b), lengths - 1]`"""
    return x[torch.arange(x.shape[0]), i - 1]


def lengths_to_list(x: Tensor, i: Tensor):
    """`[int(n) for n in lengths]`"""
    return x + sum([int(n) for n in i])


def lengths_map_int(x: Tensor, i: Tensor):
    """`list(map(int, lengths))`"""
    return x + sum(list(map(int, i)))


def lengths_max_as_python(x: Tensor, i: Tensor):
    """`max(lengths.tolist())`"""
    return x[: max(i.tolist())] * 2


def unique_count(x: Tensor, i: Tensor):
    """`len(torch.unique(t))`"""
    return x + len(torch.unique(i))


def item_in_text(x: Tensor):
    """`f"{x.mean().item():.3f}"`"""
    text = f"{x.mean().item():.3f}"
    return x + len(text)


def item_stored_on_dict(x: Tensor):
    """`stats["loss"] = x.mean().item()`"""
    stats = {}
    stats["loss"] = x.mean().item()
    return x + 1


def item_appended(x: Tensor):
    """`losses.append(x.mean().item())`"""
    losses = []
    losses.append(x.mean().item())
    return x * 2


def float_in_call(x: Tensor):
    """`x.clamp(max=float(t))`"""
    return x.clamp(max=float(x.mean()))


def int_of_division(x: Tensor, i: Tensor):
    """`int(t / 2)`, `int(t // 2)`"""
    return x[: int(i[3] // 2)] * 2
