# ruff: noqa
"""What training and sampling programs do besides: masks of transformers, arrays, sparse inputs, wrapped closures."""

import numpy as np
import torch
from torch import Tensor, nn

_encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 1).eval()
_decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 4), 1).eval()
_both = nn.Transformer(4, 2, 1, 1, 4).eval()
_sparse = torch.eye(4).to_sparse()
_csr = torch.eye(4).to_sparse_csr()
_gru = nn.GRU(4, 4)
_linear = nn.Linear(4, 4)
_clipped = nn.Linear(4, 4)
_clipped.weight.grad = torch.ones(4, 4)
_table = np.arange(4, dtype=np.float64)
_rows = [1.0, 2.0, 3.0, 4.0]


def encoder_mask(x: Tensor, m: Tensor):
    """`nn.TransformerEncoder(x, mask=mask)`"""
    return _encoder(x, mask=m.logical_not())


def encoder_mask_said(x: Tensor, m: Tensor):
    """`nn.TransformerEncoder(x, mask=mask, is_causal=False)`"""
    return _encoder(x, mask=m.logical_not(), is_causal=False)


def decoder_mask(x: Tensor, m: Tensor):
    """`nn.TransformerDecoder(x, memory, tgt_mask)`"""
    return _decoder(x, x, m.logical_not())


def transformer_mask(x: Tensor, m: Tensor):
    """`nn.Transformer(src, tgt, tgt_mask=mask)`"""
    return _both(x, x, tgt_mask=m.logical_not())


def array_shape_dtype(x: Tensor):
    """`array.dtype` of a computed array, kept"""
    v = np.asarray(_rows)
    key = (v.shape, v.dtype)
    return x + len(key)


def array_of_list_dtype(x: Tensor):
    """`np.asarray(list of numbers).dtype`"""
    return x + np.asarray([1, 2]).dtype.itemsize


def array_tobytes(x: Tensor):
    """`array.tobytes()`"""
    return x + len(np.asarray(_rows).tobytes())


def array_strides(x: Tensor):
    """`array.strides`"""
    return x + len(np.asarray(_rows).strides)


def array_flags(x: Tensor):
    """`array.flags`"""
    return x + bool(np.asarray(_rows).flags)


def array_base(x: Tensor):
    """`array.base`"""
    return x + (np.asarray(_rows).base is None)


def array_dtype_of_tensor(x: Tensor):
    """`x.numpy().dtype`"""
    return x + x.numpy().dtype.itemsize


def array_size_ndim(x: Tensor):
    """`array.size`, `array.ndim`"""
    v = np.asarray(_rows)
    return x + v.size + v.ndim


def array_nbytes(x: Tensor):
    """`array.nbytes`"""
    return x + np.asarray(_rows).nbytes


def array_len(x: Tensor):
    """`len(array)` as a slice bound"""
    return x[: len(np.asarray(_rows)) // 2].sum() + x


def array_fill(x: Tensor):
    """`torch.full(size, array[0])`"""
    return x + torch.full((4,), np.asarray(_rows)[0])


def array_element_scales(x: Tensor):
    """`x * array[0]`"""
    return x * np.asarray(_rows)[0]


def array_element_of_global(x: Tensor):
    """`x * TABLE[1]` with an array of the module"""
    return x * _table[1]


def array_element_float(x: Tensor):
    """`float(array[0])`"""
    return x * float(np.asarray(_rows)[0])


def array_indexes_tensor(x: Tensor):
    """`x[array]`"""
    return x[np.asarray([0, 1])].sum() + x


def array_element_indexes(x: Tensor):
    """`x[array[0]]`"""
    return x[np.asarray([0, 1])[1]] + x


def array_element_indexes_list(x: Tensor):
    """`a_list[array[0]]`"""
    return x * _rows[np.asarray([0, 1])[1]]


def array_interp(x: Tensor):
    """`np.interp`"""
    return x * np.interp(0.5, [0.0, 1.0], [1.0, 2.0])


def array_polyfit(x: Tensor):
    """`np.polyfit`"""
    return x * np.polyfit([0.0, 1.0], [0.0, 1.0], 1)[0]


def array_nanmean(x: Tensor):
    """`np.nanmean(array)`"""
    return x * np.nanmean(x.numpy())


def array_permutation(x: Tensor):
    """`np.random.permutation`"""
    return x[torch.from_numpy(np.random.permutation(4))]


def float_tensor_of_array(x: Tensor):
    """`torch.FloatTensor(array)`"""
    return x + torch.FloatTensor(np.asarray(_rows, dtype=np.float32))


def tensor_of_array(x: Tensor):
    """`torch.tensor(array)`"""
    return x + torch.tensor(np.asarray(_rows))


def pad_by_tensors(x: Tensor):
    """`F.pad(x, [tensor, tensor])`"""
    a, b = x.sum(0).ceil().to(torch.int32)[:2].abs()
    return torch.nn.functional.pad(x, [a, b])


def iterate_small_tensor(x: Tensor):
    """`a, b = tensor`"""
    a, b, c, d = x.sum(0)
    return x + a * b


def sparse_input_mm(x: Tensor):
    """`torch.sparse.mm` of a sparse tensor made outside"""
    y = x + 1
    return torch.sparse.mm(_sparse, y) * 2


def sparse_input_spmm(x: Tensor):
    """`torch.spmm` of a sparse tensor made outside"""
    y = x + 1
    return torch.spmm(_sparse, y) * 2


def sparse_input_matmul(x: Tensor):
    """`sparse @ x`"""
    y = x + 1
    return (_sparse @ y) * 2


def sparse_input_csr(x: Tensor):
    """`csr @ x`"""
    y = x + 1
    return (_csr @ y) * 2


def sparse_input_shape(x: Tensor):
    """`sparse.shape`"""
    y = x + 1
    return y * _sparse.shape[0]


def sparse_input_to_function(x: Tensor):
    """A sparse tensor given to a function that multiplies by it"""

    def layer(adjacency, h):
        return torch.spmm(adjacency, h)

    return layer(_sparse, x + 1) * 2


def closure_with_gradients(x: Tensor):
    """`torch.enable_grad()(closure)`"""

    def closure():
        return x * 2

    closure = torch.enable_grad()(closure)
    return closure() + 1


def clip_after_gru(x: Tensor):
    """`clip_grad_norm_` behind a GRU"""
    y = _gru(x[None])[0][0]
    torch.nn.utils.clip_grad_norm_(_gru.parameters(), 1.0)
    return y + 1


def clip_alone(x: Tensor):
    """`clip_grad_norm_`"""
    y = _clipped(x)
    torch.nn.utils.clip_grad_norm_(_clipped.parameters(), 1.0)
    return y + 1
