# ruff: noqa
"""Results whose shape depends on data, and how to avoid them; sparse and nested tensors."""

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


def mask_read(x: Tensor, m: Tensor):
    """`x[mask]`"""
    return x[m] * 2


def mask_read_compare(x: Tensor):
    """`x[x > 0]`"""
    return x[x > 0].sum()


def mask_read_rows(x: Tensor, m: Tensor):
    """`x[mask_1d]`"""
    return x[m[0]]


def mask_read_in_tuple(x: Tensor, m: Tensor):
    """`x[:, mask]`"""
    return x[:, m[0]]


def mask_set_scalar(x: Tensor, m: Tensor):
    """`x[mask] = 0`"""
    y = x.clone()
    y[m] = 0
    return y


def mask_set_tensor(x: Tensor, m: Tensor):
    """`x[mask] = y[mask]`"""
    y = x.clone()
    y[m] = x[m] * 2
    return y


def mask_set_values(x: Tensor, m: Tensor):
    """`x[mask] = 0-d tensor`"""
    y = x.clone()
    y[m] = x.mean()
    return y


def mask_augmented(x: Tensor, m: Tensor):
    """`x[mask] -= 1`"""
    y = x.clone()
    y[m] -= 1
    return y


def index_by_ints(x: Tensor, i: Tensor):
    """`x[ints]`, `x[ints, ints]`, `x[:, ints]`"""
    return x[i] + x[i, i] + x[:, i]


def index_set_by_ints(x: Tensor, i: Tensor):
    """`x[ints] = y`"""
    y = x.clone()
    y[i] = x * 2
    return y


def index_newaxis(x: Tensor):
    """`x[..., None]`, `x[None]`, `x[:, ::2]`"""
    return x[..., None].squeeze(-1)[:, ::2] + x[None][0][:, 1::2]


def index_by_list(x: Tensor):
    """`x[[0, 2]]`"""
    return x[[0, 2]]


def index_by_bool_list(x: Tensor):
    """`x[[True, False, True, False]]`"""
    return x[[True, False, True, False]]


def index_by_bool(x: Tensor):
    """`x[True]`"""
    return x[True]


def nonzero(x: Tensor):
    """`x.nonzero()`"""
    return x.nonzero() + 1


def nonzero_tuple(x: Tensor):
    """`x.nonzero(as_tuple=True)`"""
    a, b = x.nonzero(as_tuple=True)
    return a + b


def nonzero_size(x: Tensor):
    """`x.nonzero().size(0)`"""
    return x + x.nonzero().size(0)


def nonzero_static(x: Tensor):
    """`torch.nonzero_static(x, size=4)`"""
    return torch.nonzero_static(x, size=4)


def argwhere(x: Tensor):
    """`torch.argwhere(x)`"""
    return torch.argwhere(x) + 1


def where_one(m: Tensor):
    """`torch.where(mask)`"""
    a, b = torch.where(m)
    return a + b


def where_three(x: Tensor, m: Tensor):
    """`torch.where(mask, x, y)`"""
    return torch.where(m, x, -x)


def masked_select(x: Tensor, m: Tensor):
    """`x.masked_select(mask)`"""
    return x.masked_select(m) * 2


def masked_fill(x: Tensor, m: Tensor):
    """`x.masked_fill(mask, 0)`"""
    return x.masked_fill(m, 0.0)


def masked_scatter(x: Tensor, m: Tensor):
    """`x.masked_scatter(mask, y)`"""
    return x.masked_scatter(m, x * 2)


def masked_scatter_inplace(x: Tensor, m: Tensor):
    """`x.masked_scatter_(mask, y)`"""
    y = x.clone()
    y.masked_scatter_(m, x * 2)
    return y


def index_put(x: Tensor, i: Tensor):
    """`x.index_put_((ints,), y)`"""
    y = x.clone()
    return y.index_put_((i,), x)


def unique(i: Tensor):
    """`torch.unique(t)`"""
    return torch.unique(i) + 1


def unique_inverse(i: Tensor):
    """`t.unique(return_inverse=True)`"""
    values, inverse = i.unique(return_inverse=True)
    return values[inverse]


def unique_consecutive(i: Tensor):
    """`torch.unique_consecutive(t)`"""
    return torch.unique_consecutive(i) + 1


def bincount(i: Tensor):
    """`torch.bincount(t)`"""
    return torch.bincount(i) + 1


def bincount_minlength(i: Tensor):
    """`torch.bincount(t, minlength=8)`"""
    return torch.bincount(i, minlength=8) + 1


def histc(x: Tensor):
    """`torch.histc(x, 4)`"""
    return torch.histc(x, 4)


def histogram(x: Tensor):
    """`torch.histogram(x, 4)`"""
    return torch.histogram(x, 4).hist


def repeat_interleave_tensor(x: Tensor, i: Tensor):
    """`x.repeat_interleave(tensor)`"""
    return x.repeat_interleave(i, dim=0) + 1


def repeat_interleave_size(x: Tensor, i: Tensor):
    """`x.repeat_interleave(tensor, output_size=6)`"""
    return x.repeat_interleave(i, dim=0, output_size=6) + 1


def repeat_interleave_number(x: Tensor):
    """`x.repeat_interleave(2)`"""
    return x.repeat_interleave(2, dim=0) + 1


def one_hot(i: Tensor):
    """`F.one_hot(t)`"""
    return F.one_hot(i) + 1


def one_hot_classes(i: Tensor):
    """`F.one_hot(t, 4)`"""
    return F.one_hot(i, 4) + 1


def one_hot_classes_keyword(i: Tensor):
    """`F.one_hot(t, num_classes=4)`"""
    return F.one_hot(i, num_classes=4) + 1


def one_hot_classes_unset(i: Tensor):
    """`F.one_hot(t, num_classes=-1)`"""
    return F.one_hot(i, num_classes=-1) + 1


def multinomial(x: Tensor):
    """`torch.multinomial(p, 2)`"""
    return torch.multinomial(x.abs() + 1, 2)


def topk_sort(x: Tensor):
    """`topk`, `sort`, `argsort`, `kthvalue`"""
    return x.topk(2)[0].sum() + x.sort()[0] + x.argsort() + x.kthvalue(2)[0]


def count_nonzero(x: Tensor):
    """`torch.count_nonzero(x)`"""
    return x + torch.count_nonzero(x)


def bucketize_searchsorted(x: Tensor, i: Tensor):
    """`torch.bucketize`, `torch.searchsorted`"""
    return torch.bucketize(x, i.float()) + torch.searchsorted(i.float(), x)


def scatter_gather(x: Tensor, i: Tensor):
    """`scatter_add`, `gather`, `index_select`, `take`"""
    index = i.expand(4, 4)
    y = torch.zeros_like(x).scatter_add(1, index, x)
    return y.gather(1, index) + x.index_select(0, i) + x.take(i)


def isin(x: Tensor, i: Tensor):
    """`torch.isin`"""
    return torch.isin(i, torch.tensor([1, 2]))


def combinations(i: Tensor):
    """`torch.combinations`"""
    return torch.combinations(i) + 1


def cartesian_prod(i: Tensor):
    """`torch.cartesian_prod`"""
    return torch.cartesian_prod(i, i) + 1


def tril_indices(x: Tensor):
    """`x[torch.tril_indices(...).unbind()]`"""
    rows, columns = torch.tril_indices(4, 4)
    return x[rows, columns]


def lengths_mask(x: Tensor, i: Tensor):
    """`torch.arange(n)[None] < lengths[:, None]`"""
    keep = torch.arange(4)[None] < i[:, None]
    return x * keep


def pad_sequences(x: Tensor):
    """`pad_sequence` of tensors"""
    return pad_sequence([x[0], x[1, :2]], batch_first=True)


def pack_sequences(x: Tensor):
    """`pack_padded_sequence` and back"""
    packed = pack_padded_sequence(x[..., None], torch.tensor([4, 3, 2, 1]), batch_first=True)
    return pad_packed_sequence(packed, batch_first=True)[0]


def to_sparse(x: Tensor):
    """`x.to_sparse()`"""
    return x.to_sparse().to_dense()


def sparse_made(x: Tensor, i: Tensor):
    """`torch.sparse_coo_tensor`"""
    s = torch.sparse_coo_tensor(torch.stack([i, i]), x[0], (4, 4))
    return s.to_dense() + x


def sparse_mm(x: Tensor, i: Tensor):
    """`torch.sparse.mm`"""
    s = torch.sparse_coo_tensor(torch.stack([i, i]), x[0], (4, 4))
    return torch.sparse.mm(s, x)


def sparse_csr(x: Tensor):
    """`x.to_sparse_csr()`"""
    return x.to_sparse_csr().to_dense()


def nested_made(x: Tensor):
    """`torch.nested.nested_tensor`"""
    n = torch.nested.nested_tensor([x[0], x[1, :2]])
    return n.to_padded_tensor(0.0)


def nested_as(x: Tensor):
    """`torch.nested.as_nested_tensor(..., layout=torch.jagged)`"""
    n = torch.nested.as_nested_tensor([x, x[:2]], layout=torch.jagged)
    return n.to_padded_tensor(0.0)


def nested_narrow(x: Tensor):
    """`torch.nested.nested_tensor_from_jagged`"""
    n = torch.nested.nested_tensor_from_jagged(x, torch.tensor([0, 1, 4]))
    return (n * 2).values()


def linalg(x: Tensor):
    """`torch.linalg.eigvals`, `svd`, `qr`, `solve`, `inv`"""
    a = x @ x.T + 10 * torch.eye(4)
    return (
        torch.linalg.eigvals(a).real.sum()
        + torch.linalg.svd(a)[1]
        + torch.linalg.qr(a)[1]
        + torch.linalg.solve(a, x)
        + torch.linalg.inv(a)
    )


def linalg_lstsq(x: Tensor):
    """`torch.linalg.lstsq`"""
    return torch.linalg.lstsq(x, x).solution


def linalg_matrix_rank(x: Tensor):
    """`torch.linalg.matrix_rank`"""
    return torch.linalg.matrix_rank(x)


def fft(x: Tensor):
    """`torch.fft.rfft`, `irfft`, `fft2`"""
    return torch.fft.irfft(torch.fft.rfft(x)) + torch.fft.fft2(x).real


def einsum(x: Tensor):
    """`torch.einsum`"""
    return torch.einsum("ij,jk->ik", x, x)


def cdist(x: Tensor):
    """`torch.cdist`"""
    return torch.cdist(x, x)


def stft(x: Tensor):
    """`torch.stft`"""
    return torch.stft(x.flatten(), 8, return_complex=True, window=torch.hann_window(8)).abs()
