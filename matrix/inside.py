"""Which parts of torch's own Python break the graph from inside: each tried with the arguments that decide.

    PYTHON matrix/inside.py [PART...]            write results/inside-VERSION.json (these parts of it, the others stay)
    PYTHON matrix/inside.py --stdout [PART...]   print instead

`parts` gives for each part of torch a setup and, for each operation (named as in pt2lint/op.py, with a word on its
arguments where they decide), statements that run in a compiled function between two operations on tensors. The setup
runs anew for each attempt, so that none sees the optimizer, the gradients or the hooks of another. `x`, `m`, `i` and
`s` are as in table.py. A result is [registry id or null, reason, whether fullgraph=True compiles it, whether the frame
is left to Python, the place in torch where Dynamo stopped]; what cannot run in eager mode is left out.
"""

import argparse
import json
import os
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
sys.path += [str(ROOT / "pt2lint" / "dynamic"), str(ROOT / "tools")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
from child import log_listener  # noqa: E402

from matrix.construct_probe import given  # noqa: E402
from matrix.harness import contained, prepared, said, shortened  # noqa: E402
from matrix.operators import text  # noqa: E402
from matrix.table import RESULTS  # noqa: E402

OPTIMIZERS = (
    "SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor Muon LBFGS".split()
)
SCHEDULERS = {
    "StepLR": "2",
    "MultiStepLR": "[2]",
    "ExponentialLR": "0.9",
    "CosineAnnealingLR": "10",
    "LinearLR": "",
    "ConstantLR": "",
    "PolynomialLR": "",
    "LambdaLR": "lambda n: 0.9**n",
    "MultiplicativeLR": "lambda n: 0.9",
    "CosineAnnealingWarmRestarts": "10",
    "CyclicLR": "0.01, 0.1",
    "OneCycleLR": "0.1, total_steps=10",
    "ReduceLROnPlateau": "",
    "SequentialLR": "[torch.optim.lr_scheduler.ConstantLR(optimizer) for _ in range(2)], [5]",
    "ChainedScheduler": "",
}
SETTINGS_OF = ("SGD", "Adam")  # the optimizers that are tried with each of their settings
MODEL = """
import copy
import torch
from torch import nn
import torch.nn.functional as F
model = nn.Linear(4, 4)
more = torch.ones(4, 4, requires_grad=True)
def with_gradients(module=model):
    for p in module.parameters():
        p.grad = torch.ones_like(p)
"""


def made(name, rate="0.1", more=""):
    """How an optimizer is made; Muon takes matrices alone."""
    parameters = "[model.weight]" if name == "Muon" else "model.parameters()"
    return f"torch.optim.{name}({parameters}, lr={rate}{more})"


def optimizers():
    """One part for each optimizer: what is done with it, with gradients in place."""
    for name in OPTIMIZERS:
        setup = (
            f"{MODEL}optimizer = {made(name)}\nwith_gradients()\ndef closure():\n    optimizer.zero_grad()\n"
        )
        setup += "    loss = model(torch.ones(1, 4)).sum()\n    loss.backward()\n    return loss\n"
        of = f"torch.optim.{name}"
        step = "optimizer.step(closure)" if name == "LBFGS" else "optimizer.step()"
        bodies = {
            f"call {of}": f"made = {made(name)}",
            f"call {of}.step": step,
            f"call {of}.zero_grad": "optimizer.zero_grad()",
            f"call {of}.state_dict": "len(optimizer.state_dict())",
            f"call {of}.load_state_dict": "optimizer.load_state_dict(optimizer.state_dict())",
        }
        if name == "SGD":  # what code says that is given any optimizer
            base = {
                key.replace(of, "torch.optim.Optimizer"): body
                for key, body in bodies.items()
                if key != f"call {of}"
            }
            setup += "class Own(torch.optim.Optimizer):\n    def __init__(self, params):\n"
            setup += "        super().__init__(params, {})\n"
            bodies |= base | {"call torch.optim.Optimizer": "made = Own(model.parameters())"}
        if name in SETTINGS_OF:
            bodies |= {
                f"call {of}.zero_grad to zeros": "optimizer.zero_grad(set_to_none=False)",
                f"call {of}.zero_grad under no_grad": "with torch.no_grad(): optimizer.zero_grad()",
                f"call {of}.step with a closure": "optimizer.step(closure)",
                f"call {of}.step under no_grad": "with torch.no_grad(): optimizer.step()",
                f"call {of}.add_param_group": "optimizer.add_param_group({'params': [more]})",
                f"get {of}.param_groups": "y = y + len(optimizer.param_groups)",
                f"set {of}.param_groups[]": "for group in optimizer.param_groups: group['lr'] = 0.01",
            }
        yield f"optim.{name}", setup, bodies
        if name not in SETTINGS_OF:
            continue
        settings = {
            "after a first step": made(name) + "\nwith_gradients()\noptimizer.step()",
            "with a tensor rate": made(name, "torch.tensor(0.1)"),
            "with capturable": made(name, "torch.tensor(0.1)", ", capturable=True"),
            "with foreach": made(name, more=", foreach=True"),
            "without foreach": made(name, more=", foreach=False"),
            "with fused": made(name, more=", fused=True"),
            "with differentiable": made(name, more=", differentiable=True"),
            "with weight decay": made(name, more=", weight_decay=0.1"),
            "with amsgrad": made(name, more=", amsgrad=True"),
            "with momentum": made(name, more=", momentum=0.9"),
            "with a hook": made(name) + "\noptimizer.register_step_post_hook(lambda *a: None)",
        }
        for words, how in settings.items():
            setup = f"{MODEL}optimizer = {how}\nwith_gradients()\n"
            yield f"optim.{name} {words}", setup, {f"call {of}.step {words}": "optimizer.step()"}


def schedulers():
    for name, given_ in SCHEDULERS.items():
        arguments = f"optimizer, {given_}" if given_ else "optimizer"
        if name == "ChainedScheduler":
            arguments = "[torch.optim.lr_scheduler.ConstantLR(optimizer)], optimizer"
        of = f"torch.optim.lr_scheduler.{name}"
        setup = f"{MODEL}optimizer = {made('SGD', more=', momentum=0.9')}\nscheduler = {of}({arguments})\n"
        step = "scheduler.step(1.0)" if name == "ReduceLROnPlateau" else "scheduler.step()"
        bodies = {
            f"call {of}.step": step,
            f"call {of}.get_last_lr": "y = y + scheduler.get_last_lr()[0]",
            f"call {of}.get_lr": "y = y + scheduler.get_lr()[0]",
            f"call {of}.state_dict": "len(scheduler.state_dict())",
        }
        if name == "StepLR":
            bodies |= {key.replace(name, "LRScheduler"): body for key, body in bodies.items()}
        yield f"lr_scheduler.{name}", setup, bodies | {f"call {of}": f"made = {of}({arguments})"}


OPTIMIZER = MODEL + "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nwith_gradients()\n"
SCALER = OPTIMIZER + "scaler = torch.amp.GradScaler('cpu', enabled={})\n"
SCALER_BODIES = {
    "call torch.amp.GradScaler.scale{}": "scaler.scale(y.sum())",
    "call torch.amp.GradScaler.scale of a list{}": "scaler.scale([y.sum()])",
    "call torch.amp.GradScaler.unscale_{}": "scaler.scale(y.sum()); scaler.unscale_(optimizer)",
    "call torch.amp.GradScaler.step{}": "scaler.scale(y.sum()); scaler.step(optimizer)",
    "call torch.amp.GradScaler.update{}": "scaler.scale(y.sum()); scaler.step(optimizer); scaler.update()",
    "call torch.amp.GradScaler.get_scale{}": "scaler.get_scale()",
    "call torch.amp.GradScaler.is_enabled{}": "scaler.is_enabled()",
    "call torch.amp.GradScaler.state_dict{}": "scaler.state_dict()",
    "call torch.amp.GradScaler{}": "made = torch.amp.GradScaler('cpu')",
}
DATA = """
import itertools
import torch
from torch.utils.data import (
    BatchSampler, ConcatDataset, DataLoader, IterableDataset, RandomSampler, SequentialSampler, Subset, TensorDataset,
    WeightedRandomSampler, default_collate, random_split,
)
dataset = TensorDataset(torch.arange(8.0).view(4, 2), torch.arange(4))
class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(4.0))
class Items(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return torch.ones(2) * index
loader = DataLoader(dataset, batch_size=2)
shuffled = DataLoader(dataset, batch_size=2, shuffle=True)
streaming = DataLoader(Stream(), batch_size=2)
unbatched = DataLoader(dataset, batch_size=None)
batches = iter(loader)
try:
    from tqdm import tqdm, trange
    from tqdm.auto import tqdm as auto
except ImportError:
    pass
"""
DATA_BODIES = {
    "iterate torch.utils.data.DataLoader": "for a, b in loader: y = y + a.sum()",
    "iterate torch.utils.data.DataLoader shuffled": "for a, b in shuffled: y = y + a.sum()",
    "iterate torch.utils.data.DataLoader of a stream": "for a in streaming: y = y + a.sum()",
    "iterate torch.utils.data.DataLoader without batches": "for a, b in unbatched: y = y + a.sum()",
    "call builtins.enumerate of torch.utils.data.DataLoader": "for n, (a, b) in enumerate(loader): y = y + n",
    "call builtins.zip of torch.utils.data.DataLoader": "for n, (a, b) in zip(range(2), loader): y = y + n",
    "call builtins.list of torch.utils.data.DataLoader": "list(loader)",
    "call builtins.iter of torch.utils.data.DataLoader": "it = iter(loader)",
    "call builtins.next of torch.utils.data.DataLoader": "a, b = next(iter(loader)); y = y + a.sum()",
    "iterate torch.utils.data.DataLoader begun outside": "a, b = next(batches); y = y + a.sum()",
    "iterate torch.utils.data.DataLoader begun outside in a loop": "for a, b in batches: y = y + a.sum()",
    "call itertools.islice of torch.utils.data.DataLoader": "for a, b in itertools.islice(loader, 1): y = y + a.sum()",
    "call builtins.len of torch.utils.data.DataLoader": "y = y + len(loader)",
    "call builtins.len of torch.utils.data.TensorDataset": "y = y + len(dataset)",
    "get torch.utils.data.DataLoader.dataset": "y = y + len(loader.dataset)",
    "get torch.utils.data.DataLoader.batch_size": "y = y + loader.batch_size",
    "index torch.utils.data.TensorDataset": "y = y + dataset[0][0].sum()",
    "index torch.utils.data.Dataset": "y = y + Items()[1].sum()",
    "iterate torch.utils.data.TensorDataset": "for n in range(len(dataset)): y = y + dataset[n][0].sum()",
    "iterate torch.utils.data.RandomSampler": "for n in RandomSampler(dataset): y = y + 1",
    "iterate torch.utils.data.SequentialSampler": "for n in SequentialSampler(dataset): y = y + n",
    "iterate torch.utils.data.BatchSampler": (
        "for n in BatchSampler(SequentialSampler(dataset), 2, False): y = y + n[0]"
    ),
    "iterate torch.utils.data.WeightedRandomSampler": (
        "for n in WeightedRandomSampler([0.5, 0.5], 2): y = y + n * 0"
    ),
    "call torch.utils.data.DataLoader": "made = DataLoader(dataset)",
    "call torch.utils.data.TensorDataset": "made = TensorDataset(x)",
    "call torch.utils.data.Subset": "made = Subset(dataset, [0])",
    "call torch.utils.data.ConcatDataset": "made = ConcatDataset([dataset, dataset])",
    "call torch.utils.data.random_split": "made = random_split(dataset, [2, 2])",
    "call torch.utils.data.default_collate": "y = y + default_collate([x, x]).sum()",
    "iterate tqdm.tqdm": "for n in tqdm(range(2)): y = y + n",
    "iterate tqdm.tqdm of torch.utils.data.DataLoader": "for a, b in tqdm(loader): y = y + a.sum()",
    "iterate tqdm.tqdm of tensors": "for a in tqdm([x, x]): y = y + a.sum()",
    "iterate tqdm.auto.tqdm": "for n in auto(range(2)): y = y + n",
    "call tqdm.trange": "for n in trange(2): y = y + n",
    "call tqdm.tqdm": "bar = tqdm(total=2)",
    "call tqdm.tqdm.update": "bar = tqdm(total=2); bar.update(1); bar.close()",
    "call tqdm.tqdm.set_postfix": "bar = tqdm(total=2); bar.set_postfix(loss=1.0)",
    "call tqdm.tqdm.write": "tqdm.write('a')",
}
UTILS = """
import copy
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, rnn
model = nn.Linear(4, 4)
gru = nn.GRU(4, 4)
lstm = nn.LSTM(4, 4, batch_first=True)
def with_gradients(module):
    for p in module.parameters():
        p.grad = torch.ones_like(p)
with_gradients(model)
with_gradients(gru)
spectral = parametrizations.spectral_norm(nn.Linear(4, 4))
weight = parametrizations.weight_norm(nn.Linear(4, 4))
orthogonal = parametrizations.orthogonal(nn.Linear(4, 4))
old_spectral = nn.utils.spectral_norm(nn.Linear(4, 4))
old_weight = nn.utils.weight_norm(nn.Linear(4, 4))
pruned = prune.l1_unstructured(nn.Linear(4, 4), "weight", 0.5)
class Twice(nn.Module):
    def forward(self, w):
        return w * 2
custom = nn.Linear(4, 4)
parametrize.register_parametrization(custom, "weight", Twice())
batch = torch.ones(2, 3, 4)
packed = rnn.pack_padded_sequence(batch, torch.tensor([3, 2]), batch_first=True)
averaged = torch.optim.swa_utils.AveragedModel(model)
"""
UTILS_BODIES = {
    "call torch.nn.utils.clip_grad_norm_": "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "call torch.nn.utils.clip_grad_norm_ of a list": "nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)",
    "call torch.nn.utils.clip_grad_norm_ that raises": (
        "nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)"
    ),
    "call torch.nn.utils.clip_grad_norm_ of an RNN": "nn.utils.clip_grad_norm_(gru.parameters(), 1.0)",
    "call torch.nn.Module.zero_grad of an RNN": "gru.zero_grad()",
    "call torch.sparse.FloatTensor": "torch.sparse.FloatTensor(i[None], x[0], torch.Size([4]))",
    "call torch.nn.utils.clip_grad_norm_ beside an RNN": (
        "z = gru(x.view(1, 4, 4))[0]; nn.utils.clip_grad_norm_(gru.parameters(), 1.0)"
    ),
    "call torch.nn.utils.clip_grad_norm_ by infinity": (
        "nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float('inf'))"
    ),
    "call torch.nn.utils.clip_grad_norm_ without gradients": (
        "nn.utils.clip_grad_norm_(spectral.parameters(), 1.0)"
    ),
    "call torch.nn.utils.clip_grad_value_": "nn.utils.clip_grad_value_(model.parameters(), 1.0)",
    "call torch.nn.utils.get_total_norm": "nn.utils.get_total_norm([p.grad for p in model.parameters()])",
    "call torch.nn.utils.parameters_to_vector": "y = y + nn.utils.parameters_to_vector(model.parameters()).sum()",
    "call torch.nn.utils.vector_to_parameters": (
        "nn.utils.vector_to_parameters(torch.ones(20), model.parameters())"
    ),
    "forward with spectral_norm": "y = spectral(y)",
    "forward with spectral_norm in eval mode": "spectral.eval(); y = spectral(y)",
    "forward with weight_norm": "y = weight(y)",
    "forward with orthogonal": "y = orthogonal(y)",
    "forward with the older spectral_norm": "y = old_spectral(y)",
    "forward with the older weight_norm": "y = old_weight(y)",
    "forward with prune": "y = pruned(y)",
    "forward with a parametrization": "y = custom(y)",
    "with torch.nn.utils.parametrize.cached": "with parametrize.cached(): y = custom(y)",
    "call torch.nn.utils.parametrize.register_parametrization": (
        "parametrize.register_parametrization(nn.ReLU(), 'weight', Twice()) if False else "
        "parametrize.register_parametrization(model, 'weight', Twice())"
    ),
    "call torch.nn.utils.parametrize.remove_parametrizations": (
        "parametrize.remove_parametrizations(custom, 'weight')"
    ),
    "call torch.nn.utils.prune.l1_unstructured": "prune.l1_unstructured(model, 'weight', 0.5)",
    "call torch.nn.utils.prune.remove": "prune.remove(pruned, 'weight')",
    "call torch.nn.utils.spectral_norm": "nn.utils.spectral_norm(model)",
    "call torch.nn.utils.weight_norm": "nn.utils.weight_norm(model)",
    "call torch.nn.utils.rnn.pad_sequence": "y = y + rnn.pad_sequence([x, x]).sum()",
    "call torch.nn.utils.rnn.pack_padded_sequence": (
        "p = rnn.pack_padded_sequence(batch, torch.tensor([3, 2]), batch_first=True)"
    ),
    "call torch.nn.utils.rnn.pack_padded_sequence of a list": (
        "p = rnn.pack_padded_sequence(batch, [3, 2], batch_first=True)"
    ),
    "call torch.nn.utils.rnn.pack_padded_sequence unsorted": (
        "p = rnn.pack_padded_sequence(batch, torch.tensor([2, 3]), batch_first=True, enforce_sorted=False)"
    ),
    "call torch.nn.utils.rnn.pack_sequence": "p = rnn.pack_sequence([x, x[:2]])",
    "call torch.nn.utils.rnn.pad_packed_sequence": "p = rnn.pad_packed_sequence(packed)",
    "call torch.nn.utils.rnn.unpad_sequence": "p = rnn.unpad_sequence(batch, torch.tensor([3, 2]), batch_first=True)",
    "forward torch.nn.LSTM of a packed sequence": "p = lstm(packed)",
    "call torch.nn.utils.stateless.functional_call": (
        "y = y + nn.utils.stateless.functional_call(model, dict(model.named_parameters()), (x,))"
    ),
    "call torch.nn.utils.fusion.fuse_linear_bn_eval": (
        "nn.utils.fusion.fuse_linear_bn_eval(nn.Linear(4, 4).eval(), nn.BatchNorm1d(4).eval())"
    ),
    "call torch.nn.utils.skip_init": "nn.utils.skip_init(nn.Linear, 4, 4)",
    "call torch.optim.swa_utils.AveragedModel": "a = torch.optim.swa_utils.AveragedModel(model)",
    "call torch.optim.swa_utils.AveragedModel.update_parameters": "averaged.update_parameters(model)",
    "forward torch.optim.swa_utils.AveragedModel": "y = averaged(y)",
    **{
        f"call torch.nn.init.{name}": f"nn.init.{name}(model.weight{more})"
        for name, more in {
            "zeros_": "",
            "ones_": "",
            "constant_": ", 1.0",
            "uniform_": "",
            "normal_": "",
            "trunc_normal_": "",
            "xavier_uniform_": "",
            "xavier_normal_": "",
            "kaiming_uniform_": "",
            "kaiming_normal_": "",
            "orthogonal_": "",
            "eye_": "",
            "sparse_": ", 0.5",
        }.items()
    },
}
MODULES = """
import copy
import torch
from torch import nn
import torch.nn.functional as F
mask = nn.Transformer.generate_square_subsequent_mask(4)
pad = torch.tensor([[False, False, False, True], [False, False, True, True]])
batch = torch.randn(2, 4, 8)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
late = nn.TransformerEncoderLayer(8, 2, 16)
encoder = nn.TransformerEncoder(layer, 2)
unnested = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2)
both = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
biased = nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True)
other = nn.MultiheadAttention(8, 2, kdim=4, vdim=4, batch_first=True)
lstm = nn.LSTM(8, 8, batch_first=True)
model = nn.Linear(4, 4)
scripted = torch.jit.script(nn.Linear(4, 4))
"""
MODULES_BODIES = {
    "forward torch.nn.TransformerEncoder": "encoder(batch)",
    "forward torch.nn.TransformerEncoder with a mask": "encoder(batch, mask=mask)",
    "forward torch.nn.TransformerEncoder with a causal mask": "encoder(batch, mask=mask, is_causal=True)",
    "forward torch.nn.TransformerEncoder with padding": "encoder(batch, src_key_padding_mask=pad)",
    "forward torch.nn.TransformerEncoder with mask and padding": (
        "encoder(batch, mask=mask.isinf(), src_key_padding_mask=pad)"
    ),
    "forward torch.nn.TransformerEncoder in eval mode": "encoder.eval(); encoder(batch)",
    "forward torch.nn.TransformerEncoder in eval mode with a mask": "encoder.eval(); encoder(batch, mask=mask)",
    "forward torch.nn.TransformerEncoder in eval mode with padding": (
        "encoder.eval(); encoder(batch, src_key_padding_mask=pad)"
    ),
    "forward torch.nn.TransformerEncoder in eval mode under no_grad": (
        "encoder.eval(); with torch.no_grad(): encoder(batch)"
    ),
    "forward torch.nn.TransformerEncoder in eval mode under no_grad with padding": (
        "encoder.eval(); with torch.no_grad(): encoder(batch, src_key_padding_mask=pad)"
    ),
    "forward torch.nn.TransformerEncoder without nested tensors": (
        "unnested.eval(); with torch.no_grad(): unnested(batch, src_key_padding_mask=pad)"
    ),
    "forward torch.nn.TransformerEncoderLayer": "layer(batch)",
    "forward torch.nn.TransformerEncoderLayer not batch_first": "late(batch)",
    "forward torch.nn.TransformerEncoderLayer in eval mode": "layer.eval(); layer(batch)",
    "forward torch.nn.TransformerEncoderLayer with padding": "layer(batch, src_key_padding_mask=pad)",
    "forward torch.nn.TransformerDecoder": "decoder(batch, batch)",
    "forward torch.nn.TransformerDecoder with a mask": "decoder(batch, batch, tgt_mask=mask)",
    "forward torch.nn.TransformerDecoder causal": "decoder(batch, batch, tgt_mask=mask, tgt_is_causal=True)",
    "forward torch.nn.TransformerDecoder with padding": "decoder(batch, batch, memory_key_padding_mask=pad)",
    "forward torch.nn.Transformer": "both(batch, batch)",
    "forward torch.nn.Transformer with masks": "both(batch, batch, src_mask=mask, tgt_mask=mask)",
    "call torch.nn.Transformer.generate_square_subsequent_mask": "nn.Transformer.generate_square_subsequent_mask(4)",
    "forward torch.nn.MultiheadAttention": "attention(batch, batch, batch)",
    "forward torch.nn.MultiheadAttention without weights": "attention(batch, batch, batch, need_weights=False)",
    "forward torch.nn.MultiheadAttention with a mask": "attention(batch, batch, batch, attn_mask=mask)",
    "forward torch.nn.MultiheadAttention causal": (
        "attention(batch, batch, batch, attn_mask=mask, is_causal=True, need_weights=False)"
    ),
    "forward torch.nn.MultiheadAttention with padding": "attention(batch, batch, batch, key_padding_mask=pad)",
    "forward torch.nn.MultiheadAttention in eval mode": "attention.eval(); attention(batch, batch, batch)",
    "forward torch.nn.MultiheadAttention in eval mode under no_grad": (
        "attention.eval(); with torch.no_grad(): attention(batch, batch, batch, need_weights=False)"
    ),
    "forward torch.nn.MultiheadAttention with biases": "biased(batch, batch, batch)",
    "forward torch.nn.MultiheadAttention of other sizes": "other(batch, batch[..., :4], batch[..., :4])",
    "forward torch.nn.LSTM": "lstm(batch)",
    "forward torch.nn.LSTM with a state": "lstm(batch, (torch.zeros(1, 2, 8), torch.zeros(1, 2, 8)))",
    "forward torch.nn.LSTM in eval mode": "lstm.eval(); with torch.no_grad(): lstm(batch)",
    "forward torch.jit.ScriptModule": "y = scripted(y)",
    **{
        f"forward torch.nn.{name}": f"nn.{name}({made_}).forward({given_})"
        for name, (made_, given_) in {
            "RNNCell": ("4, 4", "x"),
            "BCELoss": ("", "x.sigmoid(), m.float()"),
            "BCEWithLogitsLoss": ("", "x, m.float()"),
            "CTCLoss": ("", "x.log_softmax(-1).view(4, 1, 4), i[1:3].view(1, 2), [4], [2]"),
            "CrossEntropyLoss": ("", "x, i"),
            "NLLLoss": ("", "x, i"),
            "TripletMarginLoss": ("", "x, x, x"),
            "KLDivLoss": ("", "x, x"),
            "HuberLoss": ("", "x, x"),
            "CosineEmbeddingLoss": ("", "x, x, i"),
            "AdaptiveAvgPool2d": ("2", "x.view(1, 1, 4, 4)"),
            "FractionalMaxPool2d": ("2, output_size=2", "x.view(1, 1, 4, 4)"),
            "MaxUnpool2d": ("2", "x.view(1, 1, 4, 4), torch.zeros(1, 1, 4, 4, dtype=torch.long)"),
            "Upsample": ("scale_factor=2", "x.view(1, 1, 4, 4)"),
            "PixelShuffle": ("2", "x.view(1, 4, 2, 2)"),
            "Unfold": ("2", "x.view(1, 1, 4, 4)"),
            "Dropout": ("0.5", "x"),
            "AlphaDropout": ("0.5", "x"),
            "RReLU": ("", "x"),
            "Softmax2d": ("", "x.view(1, 4, 4, 1)"),
            "CosineSimilarity": ("", "x, x"),
            "PairwiseDistance": ("", "x, x"),
            "Flatten": ("", "x"),
            "Unflatten": ("1, (2, 2)", "x"),
            "ChannelShuffle": ("2", "x.view(1, 4, 4, 1)"),
            "CircularPad1d": ("1", "x"),
            "MultiLabelMarginLoss": ("", "x, i.expand(4, 4)"),
            "PoissonNLLLoss": ("", "x, x"),
        }.items()
    },
    "forward torch.nn.BatchNorm1d": "y = bn(y)",
    "forward torch.nn.LazyLinear": "y = lazy(y)",
    "forward torch.nn.AdaptiveLogSoftmaxWithLoss": "adaptive(x, i)",
    "forward torch.nn.AdaptiveLogSoftmaxWithLoss.log_prob": "adaptive.log_prob(x)",
    "forward torch.nn.EmbeddingBag": "bag(i, torch.tensor([0, 2]))",
    "forward torch.nn.Embedding with max_norm": "limited(i)",
    "forward torch.nn.Embedding sparse": "thin(i)",
    "forward torch.nn.SyncBatchNorm": "y = synced(y)",
    "forward torch.nn.GRUCell": "y = cell(y)",
    "forward torch.nn.Bilinear": "y = bilinear(y, y)",
    "call torch.nn.functional.gumbel_softmax": "F.gumbel_softmax(x)",
    "call torch.nn.functional.gumbel_softmax hard": "F.gumbel_softmax(x, hard=True)",
    "call torch.nn.functional.interpolate": "F.interpolate(x.view(1, 1, 4, 4), scale_factor=2.0, mode='bilinear')",
    "call torch.nn.functional.grid_sample": (
        "F.grid_sample(x.view(1, 1, 4, 4), torch.zeros(1, 2, 2, 2), align_corners=False)"
    ),
    "call torch.nn.functional.embedding_bag": "F.embedding_bag(i.view(2, 2), x)",
    "call torch.nn.functional.scaled_dot_product_attention": (
        "F.scaled_dot_product_attention(batch, batch, batch, is_causal=True)"
    ),
    "with torch.nn.attention.sdpa_kernel": (
        "with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH): "
        "F.scaled_dot_product_attention(batch, batch, batch)"
    ),
    "call torch.nn.functional.ctc_loss of tensors": (
        "F.ctc_loss(x.log_softmax(-1).view(4, 1, 4), i[1:3].view(1, 2), torch.tensor([4]), torch.tensor([2]))"
    ),
    **{
        f"call torch.nn.Module.{name}": f"model.{name}({given_})"
        for name, given_ in {
            "train": "",
            "eval": "",
            "zero_grad": "",
            "requires_grad_": "False",
            "parameters": "",
            "named_parameters": "",
            "state_dict": "",
            "load_state_dict": "model.state_dict()",
            "to": "torch.float32",
            "half": "",
            "double": "",
            "float": "",
            "cpu": "",
            "apply": "lambda module: None",
            "children": "",
            "get_parameter": "'weight'",
            "get_submodule": "''",
            "register_buffer": "'extra', torch.ones(4)",
            "register_parameter": "'extra', None",
            "register_forward_hook": "lambda *a: None",
            "register_full_backward_hook": "lambda *a: None",
            "add_module": "'extra', nn.ReLU()",
            "share_memory": "",
            "compile": "",
            "extra_repr": "",
        }.items()
    },
    "call torch.nn.Module.state_dict kept": "state = {k: v.clone() for k, v in model.state_dict().items()}",
    "call copy.deepcopy of a module": "copy.deepcopy(model)",
    "call torch.nn.Module.requires_grad_ of each parameter": (
        "for p in model.parameters(): p.requires_grad_(False)"
    ),
    "set torch.nn.Parameter.requires_grad": "for p in model.parameters(): p.requires_grad = False",
    "set torch.nn.Parameter.grad to None": "for p in model.parameters(): p.grad = None",
    "set torch.nn.Parameter.grad": "model.weight.grad = torch.ones(4, 4)",
    "set torch.nn.Parameter.data": "model.weight.data = torch.ones(4, 4)",
    "call torch.nn.Parameter.copy_": "with torch.no_grad(): model.weight.copy_(x)",
    "call torch.nn.Parameter.data.copy_": "model.weight.data.copy_(x)",
    "call torch.nn.Parameter.mul_ for EMA": (
        "with torch.no_grad(): for a, b in zip(model.parameters(), model.parameters()): a.mul_(0.9).add_(b, alpha=0.1)"
    ),
    "call torch.nn.Parameter.lerp_ of data": (
        "for a, b in zip(model.parameters(), model.parameters()): a.data.lerp_(b.data, 0.1)"
    ),
}
MODULES += """
bn = nn.BatchNorm1d(4)
lazy = nn.LazyLinear(4)
adaptive = nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4])
bag = nn.EmbeddingBag(4, 4)
limited = nn.Embedding(4, 4, max_norm=1.0)
thin = nn.Embedding(4, 4, sparse=True)
synced = nn.SyncBatchNorm(4).eval()
cell = nn.GRUCell(4, 4)
bilinear = nn.Bilinear(4, 4, 4)
"""
GRADIENTS = """
import torch
from torch import nn
weight = torch.ones(4, 4, requires_grad=True)
model = nn.Linear(4, 4)
criterion = nn.MSELoss()
"""
GRADIENTS_BODIES = {
    "call torch.Tensor.backward": "(x * weight).sum().backward()",
    "call torch.Tensor.backward keeping the graph": "(x * weight).sum().backward(retain_graph=True)",
    "call torch.Tensor.backward with a gradient": "(x * weight).backward(torch.ones_like(x))",
    "call torch.Tensor.backward with inputs": "(x * weight).sum().backward(inputs=[weight])",
    "call torch.Tensor.backward of a criterion": "criterion(model(x), x).backward()",
    "call torch.autograd.backward": "torch.autograd.backward((x * weight).sum())",
    "call torch.autograd.grad": "torch.autograd.grad((x * weight).sum(), weight)",
    "call torch.autograd.grad of an input": (
        "z = x.detach().requires_grad_(); torch.autograd.grad((z * weight).sum(), z)"
    ),
    "call torch.autograd.grad with a graph": "torch.autograd.grad((x * weight).sum(), weight, create_graph=True)",
    "call torch.autograd.grad with outputs": "torch.autograd.grad(x * weight, weight, torch.ones_like(x))",
    **{
        f"call torch.autograd.functional.{name}": f"torch.autograd.functional.{name}({given_})"
        for name, given_ in {
            "jacobian": "torch.sin, x[0]",
            "hessian": "lambda v: v.sin().sum(), x[0]",
            "vjp": "torch.sin, x, x",
            "jvp": "torch.sin, x, x",
            "hvp": "lambda v: v.sin().sum(), x, x",
            "vhp": "lambda v: v.sin().sum(), x, x",
        }.items()
    },
    **{
        f"call torch.func.{name}": body
        for name, body in {
            "grad": "torch.func.grad(lambda v: v.sin().sum())(x)",
            "grad_and_value": "torch.func.grad_and_value(lambda v: v.sin().sum())(x)",
            "vmap": "torch.func.vmap(lambda v: v * 2)(x)",
            "vmap with randomness": "torch.func.vmap(lambda v: v * torch.rand(()), randomness='different')(x)",
            "vmap in chunks": "torch.func.vmap(lambda v: v * 2, chunk_size=2)(x)",
            "vjp": "torch.func.vjp(torch.sin, x)[1](x)",
            "jvp": "torch.func.jvp(torch.sin, (x,), (x,))",
            "jacrev": "torch.func.jacrev(torch.sin)(x[0])",
            "jacfwd": "torch.func.jacfwd(torch.sin)(x[0])",
            "hessian": "torch.func.hessian(lambda v: v.sin().sum())(x[0])",
            "linearize": "torch.func.linearize(torch.sin, x)[1](x)",
            "functional_call": "torch.func.functional_call(model, dict(model.named_parameters()), (x,))",
            "functionalize": "torch.func.functionalize(lambda v: v.clone().add_(1))(x)",
            "stack_module_state": "torch.func.stack_module_state([model, model])",
        }.items()
    },
    "with torch.no_grad": "with torch.no_grad(): y = y * 2",
    "with torch.enable_grad": "with torch.enable_grad(): y = y * 2",
    "with torch.inference_mode": "with torch.inference_mode(): z = x * 2",
    "with torch.set_grad_enabled": "with torch.set_grad_enabled(False): y = y * 2",
    "call torch.set_grad_enabled": "torch.set_grad_enabled(False); torch.set_grad_enabled(True)",
    "call torch.no_grad as a decorator": "(torch.no_grad()(lambda v: v * 2))(x)",
    "call torch.inference_mode as a decorator": "(torch.inference_mode()(lambda v: v * 2))(x)",
    "with torch.autograd.grad_mode.set_multithreading_enabled": (
        "with torch.autograd.grad_mode.set_multithreading_enabled(False): y = y * 2"
    ),
    "with torch.autograd.set_detect_anomaly": "with torch.autograd.set_detect_anomaly(True): y = y * 2",
    "with torch.autograd.detect_anomaly": "with torch.autograd.detect_anomaly(): y = y * 2",
    "with torch.autograd.profiler.profile": "with torch.autograd.profiler.profile(): y = y * 2",
    "with torch.profiler.profile": "with torch.profiler.profile(): y = y * 2",
    "with torch.profiler.record_function": "with torch.profiler.record_function('a'): y = y * 2",
    "with torch.autograd.graph.saved_tensors_hooks": (
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y = y * weight"
    ),
    "with torch.autograd.graph.save_on_cpu": "with torch.autograd.graph.save_on_cpu(): y = y * weight",
    "with torch.autograd.forward_ad.dual_level": "with torch.autograd.forward_ad.dual_level(): y = y * 2",
    "with torch.autocast": "with torch.autocast('cpu', dtype=torch.bfloat16): y = model(y)",
    "with torch.amp.autocast": "with torch.amp.autocast('cpu', dtype=torch.bfloat16): y = model(y)",
    "with torch.cpu.amp.autocast": "with torch.cpu.amp.autocast(): y = model(y)",
    "with torch.cuda.amp.autocast": "with torch.cuda.amp.autocast(): y = model(y)",
    "with torch.autocast disabled": "with torch.autocast('cpu', enabled=False): y = model(y)",
    "with torch.autocast by a dtype read": (
        "with torch.autocast('cpu', dtype=torch.get_autocast_dtype('cpu')): y = model(y)"
    ),
    "call torch.is_autocast_enabled": "y = y + torch.is_autocast_enabled()",
    "call torch.get_autocast_dtype": "y = y.to(torch.get_autocast_dtype('cpu'))",
    "call torch.set_autocast_enabled": "torch.set_autocast_enabled('cpu', False)",
    "call torch.Tensor.requires_grad_": "y.requires_grad_()",
    "call torch.Tensor.requires_grad_ of a detached tensor": (
        "z = x.detach().requires_grad_(); y = y + (z * 2).detach()"
    ),
    "call torch.Tensor.requires_grad_ of an input": "x.requires_grad_()",
    "call torch.Tensor.requires_grad_ off": "z = x.clone().requires_grad_(False)",
    "call torch.Tensor.detach_ of a computed tensor": "z = (x * 2).detach_()",
    "call torch.Tensor.retain_grad": "z = x * weight; z.retain_grad()",
    "call torch.Tensor.register_hook": "z = x * weight; z.register_hook(lambda g: g)",
    "call torch.Tensor.register_post_accumulate_grad_hook": (
        "weight.register_post_accumulate_grad_hook(lambda p: None)"
    ),
    "call torch.utils.checkpoint.checkpoint": (
        "y = y + torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)"
    ),
    "call torch.utils.checkpoint.checkpoint reentrant": (
        "y = y + torch.utils.checkpoint.checkpoint(model, x, use_reentrant=True)"
    ),
    "call torch.utils.checkpoint.checkpoint_sequential": (
        "y = y + torch.utils.checkpoint.checkpoint_sequential(nn.Sequential(model, model), 2, x, use_reentrant=False)"
    ),
}
POSITIVE = "x.abs() + 1"
DISTRIBUTIONS = {
    "Bernoulli": (("logits=x",), "m.float()"),
    "Beta": ((POSITIVE, POSITIVE), "x.sigmoid()"),
    "Binomial": (("4", "logits=x"), "m.float()"),
    "Categorical": (("logits=x",), "i"),
    "Cauchy": (("x", POSITIVE), "x"),
    "Chi2": ((POSITIVE,), POSITIVE),
    "ContinuousBernoulli": (("logits=x",), "x.sigmoid()"),
    "Dirichlet": ((POSITIVE,), "x.softmax(-1)"),
    "Exponential": ((POSITIVE,), POSITIVE),
    "FisherSnedecor": ((POSITIVE, POSITIVE), POSITIVE),
    "Gamma": ((POSITIVE, POSITIVE), POSITIVE),
    "GeneralizedPareto": (("x", POSITIVE, "x.sigmoid()"), POSITIVE + " + x"),
    "Geometric": (("logits=x",), "m.float()"),
    "Gumbel": (("x", POSITIVE), "x"),
    "HalfCauchy": ((POSITIVE,), POSITIVE),
    "HalfNormal": ((POSITIVE,), POSITIVE),
    "InverseGamma": ((POSITIVE, POSITIVE), POSITIVE),
    "Kumaraswamy": ((POSITIVE, POSITIVE), "x.sigmoid()"),
    "LKJCholesky": (("4",), "torch.eye(4)"),
    "Laplace": (("x", POSITIVE), "x"),
    "LogNormal": (("x", POSITIVE), POSITIVE),
    "LogisticNormal": (("x", POSITIVE), "torch.softmax(torch.cat([x, x[:, :1]], -1), -1)"),
    "LowRankMultivariateNormal": (("x[0]", "x[:, :1]", "x[0].abs() + 1"), "x[0]"),
    "MixtureSameFamily": (
        ("torch.distributions.Categorical(logits=x[0])", "torch.distributions.Normal(x[0], x[0].abs() + 1)"),
        "s",
    ),
    "Multinomial": (("4", "logits=x"), "torch.ones(4, 4)"),
    "MultivariateNormal": (("x[0]", "torch.eye(4)"), "x[0]"),
    "NegativeBinomial": (("4.0", "logits=x"), "m.float()"),
    "Normal": (("x", POSITIVE), "x"),
    "OneHotCategorical": (("logits=x",), "torch.eye(4)"),
    "OneHotCategoricalStraightThrough": (("logits=x",), "torch.eye(4)"),
    "Pareto": (("torch.ones(4, 4)", POSITIVE), POSITIVE),
    "Poisson": ((POSITIVE,), "m.float()"),
    "RelaxedBernoulli": (("s", "logits=x"), "x.sigmoid()"),
    "RelaxedOneHotCategorical": (("s", "logits=x"), "x.softmax(-1)"),
    "StudentT": ((POSITIVE,), "x"),
    "Uniform": (("x", "x + 3"), "x + 1"),
    "VonMises": (("x", POSITIVE), "x"),
    "Weibull": ((POSITIVE, POSITIVE), POSITIVE),
    "Wishart": (("torch.tensor(5.0)", "torch.eye(4)"), "torch.eye(4)"),
    "Independent": (("torch.distributions.Normal(x, x.abs() + 1)", "1"), "x"),
    "TransformedDistribution": (
        ("torch.distributions.Normal(x, x.abs() + 1)", "[torch.distributions.transforms.ExpTransform()]"),
        POSITIVE,
    ),
}


def distributions():
    """One part for each distribution: made outside and inside, with the check of its arguments and without."""
    for name, (arguments, value) in DISTRIBUTIONS.items():
        of = f"torch.distributions.{name}"
        given_ = ", ".join(arguments)
        outside = (
            "import torch\ny = 0\nx = torch.linspace(-1, 2, 16).view(4, 4)\nm = x > 0\ni = torch.arange(4)\n"
        )
        outside += f"s = torch.tensor(0.5)\nmade = {of}({given_})\n"
        make = f"d = {of}({given_})"
        unchecked = f"d = {of}({given_}, validate_args=False)"
        yield (
            f"distributions.{name}",
            outside,
            {
                f"call {of}": make,
                f"call {of} unchecked": unchecked,
                f"call {of}.sample": f"{unchecked}; d.sample()",
                f"call {of}.log_prob": f"{make}; d.log_prob({value})",
                f"call {of}.log_prob of one made outside": f"made.log_prob({value})",
                f"call {of}.entropy": f"{unchecked}; d.entropy()",
                f"call torch.distributions.kl_divergence of {name}": (
                    f"{unchecked}; torch.distributions.kl_divergence(d, d)"
                ),
            },
        )


def parts():
    """Name of a part -> its setup and its operations."""
    found = {
        name: (setup, bodies) for name, setup, bodies in (*optimizers(), *schedulers(), *distributions())
    }
    for words, enabled in (("", "True"), (" disabled", "False")):
        bodies = {name.format(words): body for name, body in SCALER_BODIES.items()}
        found["amp.GradScaler" + words] = (SCALER.format(enabled), bodies)
    found["utils.data"] = (DATA, DATA_BODIES)
    found["nn.utils"] = (UTILS, UTILS_BODIES)
    found["nn"] = (MODULES, MODULES_BODIES)
    found["autograd"] = (GRADIENTS, GRADIENTS_BODIES)
    return found


def program(setup, body):
    """A module that defines `call`, which runs the body between two operations on tensors."""
    lines = []
    for line in body.replace("; ", "\n").split("\n"):
        # `with a: b` and `for a: with b: c`, which stand on one line in the tables
        depth = 0
        while line.startswith(("with ", "for ")) and ": " in line:
            head, line = line.split(": ", 1)
            lines.append("    " * depth + head + ":")
            depth += 1
        lines.append("    " * depth + line)
    inner = textwrap.indent("\n".join(lines), "    ")
    return f"{setup}\ndef call(x, m, i, s):\n    y = x + 1\n{inner}\n    return y * 2\n"


class Attempt:
    """Compiles one body after the other, each time in a module made anew."""

    def __init__(self, records, folder):
        self.records, self.path = records, os.path.join(folder, "body.py")

    def fresh(self, code):
        names = {"__name__": "body"}
        exec(compile(code, self.path, "exec"), names)
        return names["call"]

    def measure(self, setup, body):
        """None if it cannot run here; else the result, [] if it does not break."""
        code = program(setup, body)
        Path(self.path).write_text(code, encoding="utf-8")
        with contained():
            try:
                self.fresh(code)(*given("xmis"))
            except Exception:
                return None
        error = self.compiled(code)
        breaks = [record for kind, record in self.records.events if kind == "break"]
        if not breaks and error is None:
            return []
        fullgraph = self.compiled(code, fullgraph=True) is None
        first = breaks[0] if breaks else {"graph_break": None, "reason": error, "path": "", "stack": []}
        skipped = any(record["skipped"] for record in breaks)
        return [first["graph_break"], shortened(first["reason"]), fullgraph, skipped, place(first)]

    def compiled(self, code, **options):
        with contained():
            call = self.fresh(code)
            torch._dynamo.reset()
            self.records.events.clear()
            try:
                torch.compile(call, backend="eager", **options)(*given("xmis"))
            except Exception as error:
                return said(error)
        return None


def place(record):
    """The file of torch in which Dynamo stopped, "" where that is the user's."""
    root = os.path.dirname(os.path.realpath(torch.__file__))
    frames = [
        (record["path"] or "", ""),
        *((path, function) for path, _, function, *_ in reversed(record["stack"])),
    ]
    path, function = next(((p, f) for p, f in frames if p), ("", ""))
    path = os.path.realpath(path) if path else ""
    if not path.startswith(root + os.sep):
        return ""
    function = function or next((f for p, f in frames if f and os.path.realpath(p) == path), "")
    return f"torch/{os.path.relpath(path, root)}" + (f" {function}" if function else "")


def run(names=()):
    prepared()
    fine, broken = [], {}
    with tempfile.TemporaryDirectory() as here, log_listener.listening([here]) as records:
        attempt = Attempt(records, here)
        for name, (setup, bodies) in parts().items():
            if names and name not in names:
                continue
            for operation, body in bodies.items():
                result = attempt.measure(setup, body)
                if result == []:
                    fine.append(operation)
                elif result is not None:
                    broken[operation] = result
    return {
        "torch": torch.__version__.split("+")[0],
        "python": ".".join(map(str, sys.version_info[:2])),
        "breaks": dict(sorted(broken.items())),
        "fine": sorted(fine),
    }


def merged(known, data, names):
    """The known results with those of some parts taken from new ones."""
    every = parts()
    again = {operation for name in names for operation in every[name][1]}
    kept = {operation for _, bodies in every.values() for operation in bodies} - again
    broken = {n: r for n, r in known["breaks"].items() if n in kept} | data["breaks"]
    fine = (set(known["fine"]) & kept) | set(data["fine"])
    return {**data, "breaks": dict(sorted(broken.items())), "fine": sorted(fine)}


def main():
    parser = argparse.ArgumentParser(description="Try parts of torch in a compiled function.")
    parser.add_argument("--stdout", action="store_true", help="print the results, write nothing")
    parser.add_argument("names", nargs="*", help="only these parts, as optim.SGD", metavar="PART")
    options = parser.parse_intermixed_args()
    unknown = sorted(set(options.names) - set(parts()))
    if unknown:
        parser.error(f"no part {', '.join(unknown)}: there are {', '.join(parts())}")
    data = run(options.names)
    if options.stdout:
        sys.stdout.write(text(data))
    else:
        path = RESULTS / f"inside-{data['torch']}.json"
        if options.names and path.exists():
            data = merged(json.loads(path.read_text(encoding="utf-8")), data, options.names)
        path.write_text(text(data), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
