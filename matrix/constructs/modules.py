# ruff: noqa
"""torch.nn modules: recurrent ones, making modules, changing them in `forward`, hooks."""

import functools

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize

_lstm = nn.LSTM(4, 4, batch_first=True).requires_grad_(False)
_linear = nn.Linear(4, 4).requires_grad_(False)


class _Base(nn.Module):
    scale = 2

    def forward(self, x):
        return x * self.scale


class _WithFlag(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


def _count_hook(module, args, output):
    return output + 1


def _print_hook(module, args, output):
    print("hook")


class Lstm(nn.Module):
    """`nn.LSTM`"""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: Tensor):
        y, _ = self.rnn(x[None])
        return y + 1


class Gru(nn.Module):
    """`nn.GRU`"""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 4, batch_first=True)

    def forward(self, x: Tensor):
        return self.rnn(x[None])[0] + 1


class Rnn(nn.Module):
    """`nn.RNN`"""

    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(4, 4, batch_first=True)

    def forward(self, x: Tensor):
        return self.rnn(x[None])[0] + 1


class LstmInSequential(nn.Module):
    """`nn.LSTM` as the last of an `nn.Sequential`"""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4))

    def forward(self, x: Tensor):
        return self.layers(x)[0] + 1


def lstm_global(x: Tensor):
    """`nn.LSTM` of the module level"""
    return _lstm(x[None])[0] + 1


class LstmCell(nn.Module):
    """`nn.LSTMCell` in a loop"""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x: Tensor):
        h = c = torch.zeros(4, 4)
        for _ in range(2):
            h, c = self.cell(x, (h, c))
        return h


class GruCell(nn.Module):
    """`nn.GRUCell`"""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x: Tensor):
        return self.cell(x, x)


class Attention(nn.Module):
    """`nn.MultiheadAttention`"""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor):
        return self.attention(x[None], x[None], x[None])[0]


class AttentionEval(nn.Module):
    """`nn.MultiheadAttention` in eval mode"""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.eval()

    def forward(self, x: Tensor):
        return self.attention(x[None], x[None], x[None], need_weights=False)[0]


class EncoderLayer(nn.Module):
    """`nn.TransformerEncoder` in eval mode with a padding mask"""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1)
        self.eval()

    def forward(self, x: Tensor, m: Tensor):
        return self.encoder(x[None], src_key_padding_mask=m[:1])


class EncoderLayerTraining(nn.Module):
    """`nn.TransformerEncoderLayer` in training mode"""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)

    def forward(self, x: Tensor):
        return self.layer(x[None])


class Convolutions(nn.Module):
    """`Conv2d`, `BatchNorm2d`, `MaxPool2d`, `Dropout`, `Flatten` in training mode"""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Dropout(), nn.Flatten()
        )

    def forward(self, x: Tensor):
        return self.layers(x[None, None])


class Embeddings(nn.Module):
    """`Embedding`, `EmbeddingBag`"""

    def __init__(self):
        super().__init__()
        self.one = nn.Embedding(4, 4, padding_idx=0)
        self.bag = nn.EmbeddingBag(4, 4)

    def forward(self, i: Tensor):
        return self.one(i) + self.bag(i[None])


class EmbeddingMaxNorm(nn.Module):
    """`Embedding(max_norm=1.0)`"""

    def __init__(self):
        super().__init__()
        self.one = nn.Embedding(4, 4, max_norm=1.0).requires_grad_(False)

    def forward(self, i: Tensor):
        return self.one(i)


class SyncBatchNorm(nn.Module):
    """`SyncBatchNorm` in eval mode"""

    def __init__(self):
        super().__init__()
        self.norm = nn.SyncBatchNorm(4)
        self.eval()

    def forward(self, x: Tensor):
        return self.norm(x)


class LazyLinear(nn.Module):
    """`LazyLinear` in its first call"""

    def __init__(self):
        super().__init__()
        self.linear = nn.LazyLinear(4)

    def forward(self, x: Tensor):
        return self.linear(x)


class WeightNorm(nn.Module):
    """`nn.utils.parametrizations.weight_norm`"""

    def __init__(self):
        super().__init__()
        self.linear = parametrizations.weight_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        return self.linear(x)


class WeightNormLegacy(nn.Module):
    """`nn.utils.weight_norm`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.utils.weight_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        return self.linear(x)


class SpectralNorm(nn.Module):
    """`nn.utils.parametrizations.spectral_norm`"""

    def __init__(self):
        super().__init__()
        self.linear = parametrizations.spectral_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        return self.linear(x)


class SpectralNormLegacy(nn.Module):
    """`nn.utils.spectral_norm`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.utils.spectral_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        return self.linear(x)


class ParametrizeCached(nn.Module):
    """`parametrize.cached()` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = parametrizations.orthogonal(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        with parametrize.cached():
            return self.linear(x)


def losses(x: Tensor, i: Tensor):
    """`CrossEntropyLoss`, `MSELoss`, `BCEWithLogitsLoss` called as functions"""
    return F.cross_entropy(x, i) + F.mse_loss(x, x) + F.binary_cross_entropy_with_logits(x, x.sigmoid())


def ctc_loss(x: Tensor):
    """`F.ctc_loss`"""
    return F.ctc_loss(
        x[:, None].log_softmax(-1), torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2])
    )


def module_made(x: Tensor):
    """`nn.Linear(...)` made inside"""
    return nn.Linear(4, 4)(x)


def module_made_without_parameters(x: Tensor):
    """`nn.ReLU()` made inside"""
    return nn.ReLU()(x)


def module_made_loss(x: Tensor, i: Tensor):
    """`nn.CrossEntropyLoss()` made inside"""
    return nn.CrossEntropyLoss()(x, i)


def module_made_pool(x: Tensor):
    """`nn.AvgPool2d(2)` made inside"""
    return nn.AvgPool2d(2)(x[None])


def module_made_sequential(x: Tensor):
    """`nn.Sequential(nn.ReLU())` made inside"""
    return nn.Sequential(nn.ReLU(), nn.Identity())(x)


def module_made_softmax_on_shape(x: Tensor):
    """`nn.Softmax(dim=-1)(x)`"""
    return nn.Softmax(dim=-1)(x)


def parameter_made(x: Tensor):
    """`nn.Parameter(tensor)` made inside"""
    return nn.Parameter(x) + 1


def parameter_made_of_constant(x: Tensor):
    """`nn.Parameter(torch.ones(4))` made inside"""
    return x * nn.Parameter(torch.ones(4))


class SetNumber(nn.Module):
    """`self.seen = 3` in `forward`"""

    def forward(self, x: Tensor):
        self.seen = 3
        return x + self.seen


class SetTensor(nn.Module):
    """`self.last = x` in `forward`"""

    def forward(self, x: Tensor):
        self.last = x * 2
        return x + 1


class SetCounter(nn.Module):
    """`self.step += 1` in `forward`"""

    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x: Tensor):
        self.step += 1
        return x + self.step


class AppendToAttribute(nn.Module):
    """`self.outputs.append(x)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.outputs = []

    def forward(self, x: Tensor):
        self.outputs.append(x * 2)
        return x + len(self.outputs)


class DictAttribute(nn.Module):
    """`self.cache["key"] = x` in `forward`"""

    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x: Tensor):
        if "key" not in self.cache:
            self.cache["key"] = x * 2
        return x + self.cache["key"]


class BufferInPlace(nn.Module):
    """`self.count += 1`, `self.mean.mul_(0.9).add_(x)` of buffers"""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: Tensor):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.mean


class BufferCopy(nn.Module):
    """`self.mean.copy_(x)`, `self.mean.data.copy_(x)`"""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: Tensor):
        self.mean.copy_(x.mean(0))
        self.mean.data.copy_(x.mean(0))
        return x - self.mean


class BufferReplaced(nn.Module):
    """`self.mean = tensor` for a buffer"""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: Tensor):
        self.mean = x.mean(0)
        return x - self.mean


class BufferRegistered(nn.Module):
    """`self.register_buffer` in `forward`"""

    def forward(self, x: Tensor):
        self.register_buffer("mask", torch.ones(4), persistent=False)
        return x * self.mask


class ModuleAdded(nn.Module):
    """`self.add_module` in `forward`"""

    def forward(self, x: Tensor):
        self.add_module("act", nn.ReLU())
        return self.act(x)


class WeightData(nn.Module):
    """`self.linear.weight.data.mul_(...)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.linear.weight.data.mul_(0.5)
        return self.linear(x)


class WeightDataSet(nn.Module):
    """`self.linear.weight.data = ...` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.linear.weight.data = self.linear.weight.data * 0.5
        return self.linear(x)


class WeightNoGradCopy(nn.Module):
    """`with torch.no_grad(): self.weight.copy_(...)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        with torch.no_grad():
            self.linear.weight.copy_(self.linear.weight * 0.5)
        return self.linear(x)


class EvalInside(nn.Module):
    """`self.linear.eval()` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.linear.eval()
        return self.linear(x)


class RequiresGradInside(nn.Module):
    """`self.linear.requires_grad_(False)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.linear.requires_grad_(False)
        return self.linear(x)


class ToInside(nn.Module):
    """`self.linear.to(x.dtype)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return self.linear.to(x.dtype)(x)


class ToDeviceInside(nn.Module):
    """`self.linear.to(x.device)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return self.linear.to(x.device)(x)


class StateDictInside(nn.Module):
    """`self.state_dict()` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return x + len(self.state_dict())


class ApplyInside(nn.Module):
    """`self.apply(function)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.apply(lambda m: None)
        return self.linear(x)


class ZeroGradInside(nn.Module):
    """`self.zero_grad()` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        self.zero_grad()
        return self.linear(x)


class ClipGradInside(nn.Module):
    """`clip_grad_norm_` on parameters with gradients"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.weight.grad = torch.ones(4, 4)

    def forward(self, x: Tensor):
        nn.utils.clip_grad_norm_(self.linear.parameters(), 1.0)
        return self.linear(x)


class OptimizerStep(nn.Module):
    """forward, backward and `optimizer.step()` in one region"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.optimizer = torch.optim.SGD(self.linear.parameters(), lr=0.1)

    def forward(self, x: Tensor):
        loss = self.linear(x).sum()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss


class InitInside(nn.Module):
    """`nn.init.normal_(self.weight)` in `forward`"""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4), requires_grad=False)

    def forward(self, x: Tensor):
        nn.init.normal_(self.weight)
        return x * self.weight


class HookBefore(nn.Module):
    """a forward hook registered in `__init__`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_hook(_count_hook)

    def forward(self, x: Tensor):
        return self.linear(x)


class PreHookBefore(nn.Module):
    """a forward pre-hook registered in `__init__`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_pre_hook(lambda module, args: (args[0] * 2,))

    def forward(self, x: Tensor):
        return self.linear(x)


class HookThatPrints(nn.Module):
    """a forward hook that prints"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_forward_hook(_print_hook)

    def forward(self, x: Tensor):
        return self.linear(x) + 1


class BackwardHookBefore(nn.Module):
    """`register_full_backward_hook` in `__init__`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.register_full_backward_hook(lambda module, gi, go: None)

    def forward(self, x: Tensor):
        return self.linear(x)


class HookInside(nn.Module):
    """`register_forward_hook` in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        handle = self.linear.register_forward_hook(_count_hook)
        y = self.linear(x)
        handle.remove()
        return y


class GetattrByName(nn.Module):
    """`getattr(self, f"layer{k}")`, `hasattr`, `setattr`"""

    def __init__(self):
        super().__init__()
        self.layer0 = nn.Linear(4, 4)
        self.layer1 = nn.ReLU()

    def forward(self, x: Tensor):
        for k in range(2):
            if hasattr(self, f"layer{k}"):
                x = getattr(self, f"layer{k}")(x)
        setattr(self, "count", 3)
        return x + getattr(self, "missing", 0)


class IsinstanceOfLayer(nn.Module):
    """`isinstance(self.act, nn.ReLU)`, `type(self.act) is nn.ReLU`"""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x: Tensor):
        if isinstance(self.act, nn.ReLU) and type(self.act) is nn.ReLU:
            x = self.act(x)
        return x + len(self.act.__class__.__name__)


class SuperForward(_Base):
    """`super().forward(x)`, class attributes, properties, static and class methods"""

    @property
    def width(self):
        return 4

    @staticmethod
    def shift(x):
        return x + 1

    @classmethod
    def double(cls, x):
        return x * cls.scale

    def forward(self, x: Tensor):
        return self.double(self.shift(super().forward(x))) + self.width


class CustomGetattr(nn.Module):
    """a module with its own `__getattr__`"""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, x: Tensor):
        return self.inner(x) + self.in_features


class FunctionAttribute(nn.Module):
    """activation functions, partials and lambdas kept in attributes"""

    def __init__(self):
        super().__init__()
        self.act = F.gelu
        self.norm = functools.partial(F.layer_norm, normalized_shape=(4,))
        self.shift = lambda t: t + 1

    def forward(self, x: Tensor):
        return self.shift(self.norm(self.act(x)))


class CachedProperty(nn.Module):
    """`functools.cached_property` of a module"""

    @functools.cached_property
    def factor(self):
        return 3

    def forward(self, x: Tensor):
        return x * self.factor


class OptionalLayer(nn.Module):
    """`if self.norm is not None`"""

    def __init__(self):
        super().__init__()
        self.norm = None
        self.proj = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        if self.norm is not None:
            x = self.norm(x)
        return self.proj(x) if self.proj else x


class SequentialSlice(nn.Module):
    """`self.layers[1:]`, `self.layers[-1]`, `len`, iteration of an `nn.Sequential`"""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
        return self.layers[1:](x) + self.layers[-1](x) + len(self.layers)


class ParameterLists(nn.Module):
    """`nn.ParameterList`, `nn.ParameterDict`"""

    def __init__(self):
        super().__init__()
        self.list = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(2)])
        self.dict = nn.ParameterDict({"a": nn.Parameter(torch.ones(4))})

    def forward(self, x: Tensor):
        for p in self.list:
            x = x * p
        return x * self.dict["a"] * self.list[0]


class CheckpointedBlock(nn.Module):
    """`torch.utils.checkpoint.checkpoint(..., use_reentrant=False)`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint(self.linear, x, use_reentrant=False)


class CheckpointedReentrant(nn.Module):
    """`torch.utils.checkpoint.checkpoint(..., use_reentrant=True)`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint(self.linear, x, use_reentrant=True)


class CheckpointSequential(nn.Module):
    """`torch.utils.checkpoint.checkpoint_sequential`"""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint_sequential(self.layers, 2, x, use_reentrant=False)


class CheckpointThatPrints(nn.Module):
    """`print` in a checkpointed function"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def block(self, x):
        print("block")
        return self.linear(x)

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)


class FunctionalCall(nn.Module):
    """`torch.func.functional_call`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return torch.func.functional_call(self.linear, dict(self.linear.named_parameters()), (x,))


class NestedCompile(nn.Module):
    """a submodule that is itself compiled"""

    def __init__(self):
        super().__init__()
        self.linear = torch.compile(nn.Linear(4, 4), backend="eager")

    def forward(self, x: Tensor):
        return self.linear(x) + 1


class CompileInside(nn.Module):
    """`torch.compile(...)` called in `forward`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return torch.compile(self.linear, backend="eager")(x) + 1


class DataParallelWrapped(nn.Module):
    """`nn.DataParallel` without devices"""

    def __init__(self):
        super().__init__()
        self.inner = nn.DataParallel(nn.Linear(4, 4))

    def forward(self, x: Tensor):
        return self.inner(x)


class ForwardDirectly(nn.Module):
    """`self.linear.forward(x)`"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        return self.linear.forward(x) + 1


class AttributeDeleted(nn.Module):
    """`del self.cache` in `forward`"""

    def forward(self, x: Tensor):
        self.cache = x * 2
        y = self.cache + 1
        del self.cache
        return y


class KeyValueCache(nn.Module):
    """a preallocated buffer written by slices"""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(8, 4))

    def forward(self, x: Tensor):
        self.keys[: x.shape[0]] = x
        return self.keys[: x.shape[0]] * 2


class KeywordsPopped(nn.Module):
    """`kwargs.pop("scale", 1)`"""

    def run(self, x, **kwargs):
        return x * kwargs.pop("scale", 1) + len(kwargs)

    def forward(self, x: Tensor):
        return self.run(x, scale=2, other=3)


class StatesCollected(nn.Module):
    """`states += (x,)`, a dict of outputs returned"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor):
        states = ()
        for _ in range(2):
            x = self.linear(x)
            states += (x,)
        return {"last": x, "states": states}


class ExpertsLoop(nn.Module):
    """experts called on the rows that chose them: `x[index == k]`"""

    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x: Tensor):
        chosen = x.sum(-1).gt(0).long()
        y = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            y[chosen == k] = expert(x[chosen == k])
        return y


class ExpertsWhere(nn.Module):
    """experts called on `torch.where(index == k)`"""

    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x: Tensor):
        chosen = x.sum(-1).gt(0).long()
        y = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            (rows,) = torch.where(chosen == k)
            y.index_add_(0, rows, expert(x[rows]))
        return y


class BatchNormMomentumNone(nn.Module):
    """`BatchNorm1d(momentum=None)` in training mode"""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, momentum=None)

    def forward(self, x: Tensor):
        return self.norm(x)


class CheckpointKeepsTensor(nn.Module):
    """an attribute set in a checkpointed function"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.loss = None

    def block(self, x):
        y = self.linear(x)
        self.loss = y.mean()
        return y

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)


class CheckpointAppends(nn.Module):
    """a list appended to in a checkpointed function"""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.kept = []

    def block(self, x):
        y = self.linear(x)
        self.kept.append(y)
        return y

    def forward(self, x: Tensor):
        return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)
