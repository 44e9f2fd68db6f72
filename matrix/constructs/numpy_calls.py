# ruff: noqa
"""NumPy in the region."""

import numpy as np
import torch
from torch import Tensor

_table = np.arange(4, dtype=np.float32)


def numpy_round_trip(x: Tensor):
    """`torch.from_numpy(x.numpy() * 2)`"""
    return x + torch.from_numpy(x.numpy() * 2)


def numpy_of_detached(x: Tensor):
    """`x.detach().cpu().numpy()`"""
    a = x.detach().cpu().numpy()
    return x + torch.from_numpy(np.maximum(a, 0))


def numpy_function_of_tensor(x: Tensor):
    """`np.sqrt(x.numpy())`"""
    return x + torch.from_numpy(np.sqrt(np.abs(x.numpy())))


def numpy_asarray(x: Tensor):
    """`np.asarray(tensor)`"""
    return x + torch.from_numpy(np.asarray(x))


def numpy_function_of_tensor_directly(x: Tensor):
    """`np.sum(tensor)`"""
    return x + np.sum(x.numpy())


def numpy_item(x: Tensor):
    """`x.numpy().max().item()`"""
    return x + x.numpy().max().item()


def numpy_float(x: Tensor):
    """`float(x.numpy().max())`"""
    return x + float(x.numpy().max())


def numpy_if(x: Tensor):
    """`if x.numpy().max() > 0`"""
    if x.numpy().max() > 0:
        return x + 1
    return x


def numpy_tolist(x: Tensor, i: Tensor):
    """`i.numpy().tolist()`"""
    return x + i.numpy().tolist()[1]


def numpy_array_of_list(x: Tensor):
    """`np.array([1.0, 2.0])`"""
    return x + torch.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]))


def numpy_global_array(x: Tensor):
    """an array of the module level"""
    return x + torch.from_numpy(_table)


def numpy_shape_math(x: Tensor):
    """`np.prod(x.shape)`, `np.sqrt(x.shape[-1])`"""
    return x / np.sqrt(x.shape[-1]) + np.prod(x.shape)


def numpy_shape_int(x: Tensor):
    """`int(np.ceil(x.shape[0] / 3))` as a size"""
    return torch.zeros(int(np.ceil(x.shape[0] / 3)))


def numpy_shape_item(x: Tensor):
    """`np.ceil(np.log1p(x.shape[0])).astype("int").item()`"""
    return x + np.ceil(np.log1p(x.shape[0])).astype("int").item()


def numpy_scalar(x: Tensor):
    """`np.float32(0.5)`, `np.int64(3)`"""
    return x * np.float32(0.5) + np.int64(3)


def numpy_constants(x: Tensor):
    """`np.pi`, `np.inf`, `np.newaxis`"""
    return x[np.newaxis] * np.pi + (np.inf > 0)


def numpy_linspace(x: Tensor):
    """`torch.tensor(np.linspace(0, 1, 4))`"""
    return x + torch.tensor(np.linspace(0, 1, 4))


def numpy_linspace_list(x: Tensor):
    """`[float(v) for v in np.linspace(0, 1, 4)]`"""
    return x + [float(v) for v in np.linspace(0, 1, 4)][1]


def numpy_isnan_float(x: Tensor):
    """`np.isnan(0.0)` in a condition"""
    if np.isnan(0.0):
        return x
    return x + 1


def numpy_where_nonzero(x: Tensor):
    """`np.where(mask)`"""
    return x + len(np.where(x.numpy() > 0)[0])


def numpy_mask(x: Tensor):
    """`a[a > 0]`"""
    a = x.numpy()
    return torch.from_numpy(a[a > 0])


def numpy_random_rand(x: Tensor):
    """`np.random.rand()`"""
    return x + np.random.rand()


def numpy_random_if(x: Tensor):
    """`if np.random.rand() > p`"""
    if np.random.rand() > 0.5:
        return x + 1
    return x


def numpy_random_item(x: Tensor):
    """`np.random.rand(1).item()`"""
    return x + np.random.rand(1).item()


def numpy_random_int(x: Tensor):
    """`np.random.randint(0, 3)`"""
    return x + np.random.randint(0, 3)


def numpy_random_uniform(x: Tensor):
    """`np.random.uniform(0, 1)`"""
    return x + np.random.uniform(0, 1)


def numpy_random_choice(x: Tensor):
    """`np.random.choice(3)`"""
    return x + int(np.random.choice(3))


def numpy_random_array(x: Tensor):
    """`torch.from_numpy(np.random.rand(4))`"""
    return x + torch.from_numpy(np.random.rand(4))


def numpy_random_permutation(x: Tensor):
    """`x[np.random.permutation(4)]`"""
    return x[np.random.permutation(4)]


def numpy_random_generator(x: Tensor):
    """`np.random.default_rng(0).random()`"""
    return x + np.random.default_rng(0).random()


def numpy_random_seed(x: Tensor):
    """`np.random.seed(0)`"""
    np.random.seed(0)
    return x + 1


def numpy_type_check(x: Tensor):
    """`isinstance(x, np.ndarray)`"""
    if isinstance(x, np.ndarray):
        return x
    return x + 1


def numpy_index(x: Tensor):
    """a tensor indexed by a NumPy array"""
    return x[np.array([0, 2])]


def numpy_broadcast_list(x: Tensor):
    """`np.zeros((2, 2)).tolist()`"""
    return x + np.zeros((2, 2)).tolist()[0][0]
