"""What the files of pt2lint/libraries say, held against the libraries themselves and against Dynamo."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pt2lint.libraries import load, numpy_linalg
from pt2lint.libraries.torch_table import table
from pt2lint.libraries.words import value_of
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.values import Ext, Seq, Tensor
from tests.files import loaded
from tests.linting import findings

A = np.array([[2.0, 1.0], [1.0, 3.0]])
MORE = {"lstsq": (A, None)}


@pytest.mark.parametrize("name", [n.rpartition(".")[2] for n in numpy_linalg.LIBRARY.returns])
def test_numpy_linalg_returns_what_the_file_says(name: str) -> None:
    result = getattr(np.linalg, name)(A, *MORE.get(name, ()))
    value = value_of(numpy_linalg.LIBRARY.returns[f"numpy.linalg.{name}"], None)
    assert isinstance(value, Seq)
    assert value.elts is not None
    assert len(value.elts) == len(result)
    for said, part in zip(value.elts, result, strict=True):
        assert isinstance(said, Tensor) == (isinstance(part, (np.ndarray, np.floating)))


def test_functions_may_be_given_anything(tmp_path: Path) -> None:
    """A call that is wrong, or whose arguments all have names, costs no file its findings."""
    ways = ("input=x", "input=x, dim=1", "", "*args", "**named", "x, *args", "[x]", "3", "'a'", "None")
    names = sorted({name for name in table().returns if name.count(".") == 1})
    calls = "".join(f"    y = {name}({way})\n" for n, name in enumerate(names) for way in ways[n % 3 :: 3])
    path = tmp_path / "m.py"
    path.write_text(f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor, args, named):\n{calls}")
    assert len(names) > 100
    assert not lint([str(path)]).problems


SPREAD = """\
import torch
from torch.nn.parallel import DistributedDataParallel

net = DistributedDataParallel(torch.nn.Linear(3, 3))
torch.compile(net)(torch.ones(3))  # told where it is compiled


@torch.compile
def step(x):
    return net(x * 2) + net.module(x)


def train(loader, spread):
    model = torch.nn.Linear(3, 3)
    if spread:
        model = DistributedDataParallel(model)
    for x in loader:
        one(model, x)


@torch.compile
def one(model, x):
    return model(x * 2) + 1
"""


def test_a_call_of_a_module_that_is_spread_over_processes_ends_the_graph() -> None:
    """Measured with one process, on the CPU. What is inside the wrapper is fine, and where only some ways wrap it
    nothing is sure."""
    found = findings(SPREAD)
    assert [(f.line, f.code) for f in found] == [(5, "PTS307"), (10, "PTB187")]
    assert [f.line for f in findings(SPREAD, pedantic=True) if f.code == "PTB187"] == [10, 23]
    assert "before it is wrapped" in found[1].fixes[0].description


@pytest.mark.parametrize("call", ["torch.where(x > 0, x, x * 2)", "torch.where(x > 0, input=x, other=x)"])
def test_where_of_tensors_is_a_tensor(call: str) -> None:
    body = f"    x = {call}\n    if x.sum() > 1:\n        x = x + 1\n    return x, torch.where(x)[0]\n"
    source = f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n{body}"
    found = {(finding.line, finding.code) for finding in findings(source)}
    assert found == {(6, "PTB110"), (8, "PTB121")}


def test_what_has_a_name_is_as_good_as_what_has_a_place() -> None:
    body = "    _, at = torch.max(input=x, dim=1)\n    if at.sum() > 1:\n        x = x + 1\n    return x\n"
    source = f"import torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n{body}"
    assert [finding.line for finding in findings(source)] == [6]


def test_a_part_of_a_decomposition_is_an_array() -> None:
    code = """
import numpy as np
import torch

@torch.compile
def f(x):
    values, vectors = np.linalg.eigh(x.numpy())
    if values.max() > 1:
        return x
    return x * len(vectors)
"""
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [(f.line, f.code) for f in found] == [(8, "PTB110")]


def test_lstsq_breaks() -> None:
    torch = pytest.importorskip("torch")
    code = """
import numpy as np
import torch

def f(x):
    return torch.relu(x) + torch.as_tensor(np.linalg.lstsq(x.numpy(), x.numpy(), None)[0])

compiled = torch.compile(f)
"""
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [(f.line, f.code) for f in found] == [(6, "PTB187")]
    made: dict = {}
    exec(code, made)
    assert torch._dynamo.explain(made["f"])(torch.eye(2)).graph_break_count >= 1


def test_the_longest_name_counts() -> None:
    models = load()
    assert models.library_of("numpy.linalg.eigh").name == "numpy.linalg"
    assert models.library_of("numpy.linalg").name == "numpy.linalg"
    assert models.library_of("numpy.linalgebra.eigh").name == "numpy"
    assert models.library_of("numpyro.sample").name == ""


def test_what_a_part_of_a_library_does_not_say_the_whole_says() -> None:
    models = load()
    assert models.of("numpy.linalg.norm").answer is models.of("numpy.sum").answer


DATACLASS = """import torch
from dataclasses import asdict, dataclass, fields
Count = dataclass(type("Count", (), {"n": 1}))
@dataclass
class Batch:
    x: torch.Tensor"""


NAMED_TUPLES = """import torch
from collections import namedtuple
from typing import NamedTuple
Pair = namedtuple("Pair", "left, right")
Sized = namedtuple("Sized", ["x", "size"])
class Out(NamedTuple):
    x: torch.Tensor
    size: int = 2"""


@pytest.mark.parametrize(
    ("imported", "body", "lines"),
    [
        ("", "if x.max(dim=0).values.sum() > 0: x = x[torch.topk(x, 2).indices]", [6]),
        ("", "x = x * torch.linalg.svd(x).S.sum().item()", [6]),
        ("", "found = x.min(-1)\n    if found[0].sum() > 0 and found.values.sum() < 1: x = -x", [7, 7]),
        # as many dimensions as there are names
        ("", "n, d = x.shape\n    i = torch.topk(x.mean(0), 2)[1]\n    x = x + x[:, i[0]]", [8]),
        ("", "n, d = x.size()\n    i = x.mean(0).argsort()\n    x = x[i] + x[i[0]]", [8]),
        ("", "n, *d = x.shape\n    i = x.mean(0).argsort()\n    x = x[i] + x[i[0]]", []),
        ("", "n, d = x.shape\n    i = x.max(1).indices\n    x = x + x[i[0]]", [8]),
        ("", "n, d = x.shape\n    i = x.max(1, keepdim=True).indices\n    x = x + x[i[0]]", []),
        (NAMED_TUPLES, "pair = Pair(x, right=2)\n    if pair.left.sum() > pair.right: x = -x", [14]),
        (NAMED_TUPLES, "x, size = Sized(size=2, x=x)\n    if size == 2 and x.sum() > size: x = -x", [14]),
        (NAMED_TUPLES, "pair = Pair(x, 2)\n    if isinstance(pair, Pair) and pair[0].any(): x = -x", [14]),
        (NAMED_TUPLES, "x, size = Out(x)\n    if size > 2: return x\n    if x.sum() > 0: x = -x", [15]),
        (NAMED_TUPLES, "out = Out(x)\n    if out[1] > 2 or out[0].sum() > 2: x = -x", [14]),
        ("from tqdm import tqdm", "for y in tqdm([x, x]):\n        if y.sum() > 0: x = x + y", [6, 7]),
        ("from tqdm.auto import trange", "for n in trange(3, disable=True):\n        x = x + n", [6]),
        ("import tqdm", "with tqdm.tqdm(total=3) as bar:\n        bar.update(1)", [6, 7]),
        ("from scipy import special, linalg", "x = x * linalg.sqrtm(x.numpy())", [6]),
        ("from scipy import special, linalg", "x = x * special.softmax(x.numpy())", []),
        ("import pandas as pd", "isinstance(x, pd.DataFrame)", []),
        ("import numpy as np", "a = x.numpy()\n    x = x + np.allclose(a, a) + np.isclose(a, a)", [7]),
        (
            "import numpy as np",
            "n = np.array(x.shape)\n    np.arange(0, n[1])\n    np.zeros((n[0], 2))",
            [7, 8],
        ),
        ("import numpy as np", "n = np.array([3])\n    a = np.ones(n)\n    np.tile(a, n[0])", [7, 8]),
        ("import numpy as np", "n = x.numpy().sum()\n    np.random.uniform(0, n, 2)", [7]),
        ("import numpy as np", "n = x.numpy().sum()\n    np.full(3, n)", [7]),
        ("import numpy as np", "np.random.normal(0, np.sqrt(x.shape[0]), 2)\n    np.full(3, np.pi)", []),
        ("", "n = x.numpy().argmax()\n    x = x[n]", [7]),
        ("", "n = x.numpy().argmax(0)\n    x = x[n]", []),
        ("import numpy as np", "np.arange(x.shape[0]).reshape(1, -1).repeat(x.shape[1])", []),
        ("import numpy as np", "np.zeros(np.ceil(x.shape[0] / 3).astype(int))", []),
        ("import pywt", "x = x * pywt.dwt_coeff_len(x.shape[0], 4, mode='zero')", [6]),
        ("from PIL import Image", "x = x + len(Image.open('a.png').size)", [6]),
        ("from PIL import Image", "if isinstance(x, Image.Image): return Image.fromarray(x.numpy())", []),
        ("import PIL.ImageFilter", "PIL.ImageFilter.GaussianBlur(2)", []),
        (
            "from PIL import Image\ndef g(one: Image.Image):\n    n = len(one.getbands()) + one.size[0]\n"
            "    return n, one.resize((3, 3))",
            "g(image)",
            [4],
        ),
        (
            "from PIL import Image\nimport numpy as np\nimage = Image.open('a.png')",
            "n = image.size[0]\n    b = image.convert('L')\n    return np.asarray(b)",
            [9, 10],
        ),
        (
            "import numpy as np\nnames = np.array(['a', 'b'])\nkept = np.empty(3, dtype=object)\n"
            "ROW = np.dtype([('n', np.int32), ('r', np.float32)])\nrows = np.array([(0, 1.0)] * 3, dtype=ROW)",
            "rows[0] = (1, 2.0)\n    kept[1] = x\n    n = names[0]\n    x = x + rows['r'].sum() + len(rows)",
            [10, 11, 12, 13],
        ),
        ("import numpy as np\nrows = np.zeros(3, dtype=np.float32)", "rows[0] = 1\n    x = x + rows[1]", []),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return x + table.size", "x = g(x, 0)", []),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return x + table.mean()", "g(x, rows)", [2]),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return x * len(table)", "g(x, rows)", [2]),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return table['a'] is x", "g(x, rows)", [2]),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return 'a' in table", "g(x, rows)", [2]),
        (
            "import pandas as pd\ndef g(x, table: pd.DataFrame): return 'a' in table.columns",
            "g(x, rows)",
            [2],
        ),
        ("import pandas as pd\ndef g(x, table: pd.DataFrame): return table.columns is x", "g(x, rows)", []),
        ("import xxhash", "h = xxhash.xxh64()\n    h.update(b'a')\n    x = x + h.intdigest()", [6, 7, 8]),
        (
            "from transformers import LlamaForCausalLM\ndef g(net: LlamaForCausalLM, x):\n"
            "    return net.generate(x), net.config, net.device",
            "g(net, x)",
            [3],
        ),
        ("import soundfile as sf", "x = x + sf.read('a.wav')[1]", [6]),
        ("import imageio.v2 as iio", "iio.imwrite('a.png', x.numpy())", [6]),
        ("from skimage import measure", "x = x + measure.label(x.numpy()).max()", [6]),
        ("import h5py", "x = x + len(h5py.File('a.h5'))", [6]),
        ("from safetensors.torch import load_file", "x = x + load_file('a.safetensors')['x']", [6]),
        ("from torchvision.io import read_image", "x = x + read_image('a.png')", [6]),
        ("from torchvision.utils import save_image", "save_image(x, 'a.png')", [6]),
        ("import cv2", "x = x * cv2.getGaussianKernel(3, 1.0)[0]", [6]),
        (
            "from torch.utils.tensorboard import SummaryWriter",
            'SummaryWriter().add_scalar("loss", x.sum(), 1)',
            [6, 6],
        ),
        ("from loguru import logger", "logger.info(f'{x.shape}')\n    logger.bind(a=1).error('a')", [6, 7]),
        ("from loguru import logger", "log = logger.bind(step=1)\n    logger.trace('a')", []),
        (
            "from loguru import logger",
            "with logger.catch(): x = x + 1\n    with logger.contextualize(a=1): x = -x",
            [6, 7],
        ),
        ("from loguru import logger\n@logger.catch\ndef g(x): return x + 1", "x = g(x)", [2, 8]),
        ("from absl import logging", "logging.info('%s', x.shape)\n    logging.level_debug()", [6]),
        ("from matplotlib import pyplot as plt", "figure, axes = plt.subplots()\n    plt.title('x')", [6]),
        (DATACLASS, "x = x + len(fields(Batch))\n    x = x + len(fields(Batch(x)))", [11]),
        (DATACLASS, "x = x + asdict(Batch(x))['x'] + asdict(Count())['n']", [11]),
        ("from torch.autograd import Variable", "if Variable(x).sum() > 0: x = -x", [6, 6]),
    ],
)
def test_what_dynamo_does_not_trace(imported: str, body: str, lines: list[int]) -> None:
    code = f"{imported}\nimport torch\n\n@torch.compile\ndef f(x: torch.Tensor):\n    {body}\n    return x\n"
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [f.line for f in found if f.is_graph_break] == lines


@pytest.mark.parametrize(("target", "lines"), [((2, 9), []), ((2, 13), [6])])
def test_a_method_of_optimizers_that_has_another_name_now(target: tuple[int, int], lines: list[int]) -> None:
    code = """
import torch

class Own(torch.optim.Optimizer):
    def step(self):
        self._cuda_graph_capture_health_check()

step = torch.compile(Own([torch.ones(2)]).step)
"""
    found = lint(["m.py"], Settings(target_torch=target), {"m.py": code}).findings
    assert [f.line for f in found if f.is_graph_break] == lines


def test_only_tensors_are_told_whether_they_require_a_gradient() -> None:
    code = """
import torch

class Loss(torch.nn.Module):
    def forward(self, out, targets):
        mel, gate = targets[0], targets[1]
        mel.requires_grad = False
        gate.name = "gate"
        return out
"""
    assert [(f.line, f.code) for f in lint(["m.py"], None, {"m.py": code}).findings] == [(7, "PTB161")]


PROGRAMS = {
    # A tensor made of tensors of no known kind, and one that is made of itself.
    "given = table()['x'].clone().detach().requires_grad_(True)\nreturn given": [("PTB161", 1)],
    "y = table()['x']\nfor _ in range(2):\n    y = y.detach().cpu().numpy()\nreturn x": [],
    # Sparse tensors: made outside, given to layers, kept sparse or not.
    "return graph @ x": [("PTB170", 1)],
    "return x * graph.shape[0]": [("PTB170", 1)],
    "return layer(graph.float().coalesce(), x)": [("PTB170", 1), ("PTB170", 0)],
    "return torch.mm(dense, x)": [],
    # Nobody but who multiplies says what they are: as sparse ones, twice the same, asked first.
    "return torch.sparse.mm(table(), x)": [("PTB170", 1)],
    "return torch.spmm(other, x)": [("PTB170", 1)],
    "return x[other.coalesce().indices()[0]]": [("PTB170", 1)],
    "return torch.spmm(x, x) + (other.coalesce() if other.is_sparse else other)": [],
    "return torch.spmm(dense, x)": [],
    "return torch.mm(graph.to_dense(), x)": [("PTB170", 1)],
}


@pytest.mark.parametrize("body", PROGRAMS)
def test_what_programs_do(body: str) -> None:
    indented = "\n".join(f"    {line}" for line in body.split("\n"))
    code = f"""
import torch

def load(n):
    return torch.eye(n).to_sparse().float(), (torch.eye(n), n)

graph, (dense, n) = load(4)
layer = lambda adj, y: torch.sparse.mm(adj, y)

@torch.compile
def f(x: torch.Tensor, table, other: torch.Tensor):
{indented}
"""
    first = code.split("\n").index("def f(x: torch.Tensor, table, other: torch.Tensor):") + 1
    found = {(f.code, max(f.line - first, 0)) for f in lint(["m.py"], None, {"m.py": code}).findings}
    assert sorted(found) == sorted(PROGRAMS[body])


def test_what_is_used_as_a_sparse_tensor_is_one() -> None:
    code = """
import torch

class Layer(torch.nn.Module):
    def forward(self, x, adjacency):
        return torch.spmm(adjacency, x)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x, adjacency):
        return self.layer(x, adjacency)
"""
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [(f.line, f.code) for f in found] == [(6, "PTB170"), (14, "PTB170")]
    # Where the tensor is dense, and what comes after the first use, which has left the function to Python.
    for line in ("        return torch.spmm(adjacency, x)", "        return self.layer(x, adjacency)"):
        code = code.replace(line, f"        if self.training:\n    {line}\n{line.replace('spmm', 'bmm')}")
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [(f.line, f.code) for f in found] == [(7, "PTB170"), (17, "PTB170")]


METERS = """
from types import SimpleNamespace
import torch

class Meter:
    def __init__(self):
        self.values = []
        self.loader = None

    def fill(self, data):
        self.loader = torch.utils.data.DataLoader(data)

    def show(self):
        return len(self.loader)

    @property
    def median(self):
        return torch.tensor(self.values).median().item()

    def __str__(self):
        return "{median:.4f}".format(median=self.median)

def total(x):
    return x.sum().item()

def a(x): return -x
def b(x): return x.exp()
def c(x): return x.log()
def d(x): return x.sin()
def e(x): return x.cos()
def g(x): return x.tan()
def h(x): return x.sum().item()

KINDS = {"a": a, "b": b, "c": c, "d": d, "e": e, "g": g, "h": h}
tools = SimpleNamespace(total=total)
meter = Meter()

@torch.compile
def f(x: torch.Tensor, kind: str):
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return x, str(meter)", 18),  # what the object's own `__str__` reads
        ("return x, '{}'.format(meter)", 18),
        ("return x * tools.total(x)", 24),
        ("return KINDS[kind](x)", 32),  # any of seven functions
        ("return x * meter.show()", 14),  # None in `__init__`, a loader by another method
    ],
)
def test_what_a_name_leads_to(body: str, line: int) -> None:
    code = f"{METERS}    {body}\n"
    assert line in [f.line for f in lint(["m.py"], None, {"m.py": code}).findings]


ELSEWHERE = """
import einops.layers.torch
import functools
import julius
import kornia
import numpy as np
import opt_einsum
import ot
import timm
import torch
import torch_geometric.nn as gnn
import torchaudio
import torchdiffeq
import torchmetrics
import torchvision
from diffusers import AutoencoderKL, DDIMScheduler, UNet2DConditionModel
from scipy import integrate, stats
from torch_geometric.utils import add_self_loops, dropout_edge, remove_self_loops, scatter, softmax, to_dense_batch
from torchvision import transforms
from torchvision.models import resnet50
from transformers import AutoModelForCausalLM, BertModel, BertPreTrainedModel, DataCollatorForLanguageModeling

contract = functools.partial(opt_einsum.contract, backend="torch")

class Net(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.language = AutoModelForCausalLM.from_pretrained("gpt2").eval()
        self.collate = DataCollatorForLanguageModeling(config)
        self.vision = timm.create_model("vit")
        self.stages = timm.create_model("vit", features_only=True)
        self.backbone = resnet50(weights=None).to("cpu")
        self.normalize = transforms.Normalize((0.5,), (0.5,))
        self.normalize_2 = transforms.v2.Normalize((0.5,), (0.5,))
        self.flip = torch.nn.Sequential(transforms.RandomHorizontalFlip())
        self.mel = torchaudio.transforms.MelSpectrogram()
        self.low = julius.LowPassFilter(0.1)
        self.decibels = torchaudio.transforms.AmplitudeToDB()
        self.flat = einops.layers.torch.Rearrange("b c h w -> b (c h w)")
        self.scheduler = DDIMScheduler.from_pretrained("sd")
        self.unet = UNet2DConditionModel.from_pretrained("sd")
        self.mean = torchmetrics.MeanMetric().to("cpu")
        self.mean_2 = torchmetrics.MeanMetric(nan_strategy="disable")
        self.jitter = kornia.augmentation.ColorJitter(0.1)
        self.blur = kornia.filters.GaussianBlur2d((3, 3), (1.0, 1.0))
        self.mixup = timm.data.Mixup()
        self.rates = stats.truncnorm(-1.0, 1.0)
        self.rng = np.random.default_rng(0)
        self.vae = AutoencoderKL.from_pretrained("sd")

    def forward(self, ids, x, t):
"""


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("if self.bert(ids).last_hidden_state.sum() > 0: x = -x", ["PTB110"]),
        ("if self.bert(ids)[0].sum() > 0: x = -x", ["PTB110"]),
        ("given = t(ids)\n        if given.last_hidden_state.sum() > 0: x = -x", ["PTB110"]),
        ("if self.bert(ids).hidden_states[-1].sum() > 0: x = -x", ["PTB110"]),
        ("if self.bert(ids).past_key_values: x = -x", []),
        ("x = x * self.language(ids, labels=ids).loss.item()", ["PTB103"]),
        ("if self.collate(ids).loss: x = -x", []),
        ("if self.vision(x).sum() > 0: x = -x", ["PTB110"]),
        ("if self.stages(x): x = -x", []),
        ("if self.backbone(x).sum() > 0: x = -x", ["PTB110"]),
        ("if self.flat(self.decibels(x)).sum() > 0: x = -x", ["PTB110"]),
        ("x = self.normalize(x)", ["PTB187"]),
        ("x = self.normalize_2(x)", []),
        ("x = self.flip(x)", ["PTB187"]),
        ("x = self.mel(x)", ["PTB187"]),
        ("x = torchaudio.load(t)[0]", ["PTB187"]),
        ("x = torchvision.ops.nms(ids, x, 0.5)", ["PTB187"]),
        ("if torchvision._is_tracing(): print(x)", []),
        ("x = self.scheduler.step(x, t, ids).prev_sample", ["PTB187"]),
        ("if self.scheduler.add_noise(x, x, t).sum() > 0: x = -x", ["PTB110"]),
        ("if self.unet(x, t).sample.sum() > 0: x = -x", ["PTB110"]),
        ("if self.vae.encode(x).latent_dist.sample().sum() > 0: x = -x", ["PTB110"]),
        ("self.mean.update(x)", ["PTB187"]),
        ("self.mean(x)", ["PTB187"]),
        ("self.mean_2.update(x)", []),
        ("if self.mean.compute() > 0: x = -x", []),
        ("if torchmetrics.functional.accuracy(x, ids) > 0: x = -x", ["PTB110"]),
        ("x = self.jitter(x)", ["PTB187"]),
        ("if self.blur(x).sum() > 0: x = -x", ["PTB110"]),
        ("x, ids = self.mixup(x, ids)", ["PTB187"]),
        ("if self.vae.config.scaling_factor: x = -x", []),
        ("rate = self.rates.rvs(1)[0]\n        x = x * int(np.ceil(8 * rate))", ["PTB185", "PTB104"]),
        (
            "x = torchdiffeq.odeint(lambda t, y: -y, x, t)[-1]\n        x = x * x.sum().item()",
            ["PTB187", "PTB103"],
        ),
        (
            "y, z = torchdiffeq.odeint(lambda t, y: y, (x, x), t)\n        if z.sum() > 0: x = y",
            ["PTB187", "PTB110"],
        ),
        ("x = gnn.global_mean_pool(x, ids)", ["PTB187"]),
        ("x = gnn.global_mean_pool(x, ids, 8) + gnn.global_max_pool(x, None)", []),
        ("x = scatter(x, ids, reduce='mean')", ["PTB187"]),
        ("x = scatter(x, ids, 0, 8) + softmax(x, ids, num_nodes=8) + softmax(x, ids, t)", []),
        ("x, mask = to_dense_batch(x, ids, batch_size=2)\n        x = x[mask]", ["PTB187", "PTB120"]),
        ("x = to_dense_batch(x, ids, max_num_nodes=3, batch_size=2)[0] * to_dense_batch(x)[0]", []),
        ("ids = remove_self_loops(add_self_loops(ids, num_nodes=8)[0])[0]", ["PTB187"]),
        ("ids = dropout_edge(ids, training=False)[0]", []),
        # What these call is compiled by itself.
        ("x = torchdiffeq.odeint(lambda t, y: y * y.sum().item(), x, t)", ["PTB187", "PTB103"]),
        ("integrate.solve_ivp(lambda t, y: y * int(y.max()), (0, 1), x.numpy())", ["PTB185", "PTB104"]),
        ("integrate.quad(lambda t: t * t, 0, 1)", ["PTB185"]),
        ("x = contract('ij,kj->ik', x, x)", ["PTB185"]),
        ("if self.low(x).sum() > 0: x = -x", ["PTB110"]),
        ("if julius.lowpass_filter(x, 0.1).sum() > 0: x = -x", ["PTB110"]),
        ("x = julius.resample_frac(x, 1, 2)", ["PTB187"]),
        ("x = x * self.rng.choice(range(3), 2).tolist()[0]", ["PTB141"]),
        ("x = x + ot.emd2(ot.unif(2), ot.unif(2), ot.dist(x, x))", ["PTB187"]),
    ],
)
def test_what_libraries_give_that_are_not_in_the_tree(body: str, codes: list[str]) -> None:
    """That Dynamo does so is measured by benchmarks/library_breaks.py, where these libraries are installed."""
    code = f"{ELSEWHERE}        {body}\n        return x\n"
    assert [f.code for f in lint(["m.py"], None, {"m.py": code}).findings] == codes


def test_where_a_tensor_is_from_needs_no_line() -> None:
    code = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return -x if self.linear.bias[0] > 0 else x
"""
    (found,) = lint(["m.py"], None, {"m.py": code}).findings
    assert found.message.endswith("`Linear.bias` is a parameter")


FIRST = """
import torch
from torch.distributions import Beta, Categorical, Independent, Laplace, Normal, kl, kl_divergence

def both(mean, spread):
    return Independent(Normal(mean, spread), 1)

def one_of(mean, spread):
    return Independent(Categorical(logits=mean), 0)

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor):
        h = self.layer(x)
        q = {kind}(h.exp(), h.exp()) if self.training else {kind}(x.exp(), h.exp())
        return {call}(q, {kind}(x, x.exp())).sum() * 2
"""


@pytest.mark.parametrize(
    ("call", "kind", "breaks"),
    [
        ("kl_divergence", "Normal", True),
        ("kl.kl_divergence", "Beta", True),
        ("torch.distributions.kl_divergence", "Normal", True),
        ("kl_divergence", "Laplace", False),  # of which there is one formula
        ("kl_divergence", "both", True),  # which looks the one for two `Normal` up
        ("kl_divergence", "one_of", False),
    ],
)
def test_a_divergence_breaks_the_first_time_that_its_formula_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, kind: str, breaks: bool
) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "m.py"
    code = FIRST.format(call=call, kind=kind)
    path.write_text(code)
    assert [(f.code, f.line) for f in lint([str(path)]).findings] == [("PTB187", 19)] * breaks
    module: dict[str, Any] = {"__name__": "m"}
    exec(compile(code, path, "exec"), module)
    counters = torch._dynamo.utils.counters
    for before, number in ((False, int(breaks)), (True, 0)):
        monkeypatch.setattr(torch.distributions.kl, "_KL_MEMOIZE", {})  # what a process has looked up
        if before:
            module["M"]()(torch.ones(2))
        torch._dynamo.reset()
        counters.clear()
        torch.compile(module["M"](), backend="eager")(torch.ones(2))
        assert sum(counters["graph_break"].values()) == number


SIZED = """
import torch

@torch.compile(backend="eager")
def f(x: torch.Tensor, sizes: torch.Tensor):
    return torch.zeros(torch.Size({sizes})) + x.sum()
"""


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ("sizes * 2", True),
        ("[x.shape[0], sizes.max()]", True),
        ("x.shape", False),
        ("[x.shape[0], 2]", False),
    ],
)
def test_a_size_made_of_a_tensor_fails_in_dynamo(tmp_path: Path, sizes: str, told: bool) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "m.py"
    path.write_text(SIZED.format(sizes=sizes))
    assert [f.code for f in lint([str(path)]).findings] == ["PTB106"] * told
    torch._dynamo.reset()
    with pytest.raises(RuntimeError, match="takes an iterable") if told else contextlib.nullcontext():
        loaded(path, "sized").f(torch.ones(2), torch.tensor([1, 2]))


def test_iterators_of_itertools() -> None:
    """What compiled code makes is followed; of what was there before Dynamo knows where `count` stands alone."""
    torch = pytest.importorskip("torch")
    code = """
import itertools
import torch

SCALES = itertools.cycle([1.0, 2.0])
COUNT = itertools.count()

class Part(torch.nn.Module):
    def forward(self, x):
        return x * x.sum().item()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.ModuleList([Part()])
        self.last = torch.nn.ModuleList([Part()])
        self.shifts = itertools.cycle([0.5])

    def forward(self, x):
        for part in itertools.chain(self.first, self.last):
            x = part(x)
        for shift in itertools.islice(itertools.cycle([1.0]), 2):
            x = x + shift
        for a, b in itertools.product([1, 2], [3]):
            x = x * a + b
        for part, known in itertools.zip_longest(self.first, ()):
            x = part(x) if known is None else x.item()
        return (x + next(self.shifts)) * next(SCALES) + next(COUNT)
"""
    found = lint(["m.py"], None, {"m.py": code}).findings
    told = [(10, "PTB103"), (28, "PTB187"), (28, "PTB187"), (28, "PTR203")]  # COUNT recompiles at every call
    assert sorted((f.line, f.code) for f in found) == told
    pytest.importorskip("torch", minversion="2.13")  # which says less of it
    spaces: dict = {}
    exec(compile(code, "m.py", "exec"), spaces)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = spaces["Net"]()
    model.first = model.last = torch.nn.ModuleList()
    torch.compile(model, backend="eager")(torch.ones(2))
    breaks = torch._dynamo.utils.counters["graph_break"]
    assert len(breaks) == 1
    assert next(iter(breaks)).startswith("Missing tp_iternext")


ENDING = """
ast.literal_eval("1")
calendar.monthrange(2020, 1)
cmath.sqrt(-1)
fnmatch.fnmatch("a", "a*")
linecache.getline("no such file", 1)
marshal.dumps(1)
multiprocessing.cpu_count()
random.getstate()
shlex.split("a b")
sys.audit("case")
sys.gettrace()
threading.Condition()
threading.Event()
threading.Lock()
threading.Semaphore(2)
threading.active_count()
torch.accelerator.device_count()
torch.backends.mha.set_fastpath_enabled(True)
torch.autograd.graph.register_multi_grad_hook([torch.ones(3, requires_grad=True) * 2], lambda grads: None)
torch.cpu.is_available()
torch.func.linearize(torch.sin, x)
torch.fx.symbolic_trace(layer)
torch.jit.script(layer)
torch.jit.trace(torch.sin, x)
torch.multiprocessing.cpu_count()
torch.nn.utils.fusion.fuse_conv_bn_eval(torch.nn.Conv1d(3, 3, 1).eval(), torch.nn.BatchNorm1d(3).eval())
torch.nn.utils.prune.l1_unstructured(pruned, "weight", amount=0.3)
torch.nn.utils.skip_init(torch.nn.Linear, 3, 3)
torch.nn.utils.stateless.functional_call(layer, {}, (x,))
tracemalloc.get_traced_memory()
types.MethodType(part, x)
types.new_class("Made")
unicodedata.category("a")
urllib.parse.quote("a b")
x = x * torch.func.stack_module_state([layer, layer])[0]["weight"].sum()
x._is_view()
x.clone().apply_(part)
x.clone().map_(x, max)
x.sparse_dim()
""".strip().splitlines()
HOMES = """
import ast, calendar, cmath, fnmatch, linecache, marshal, multiprocessing, random, shlex, sys, threading
import tracemalloc, types, unicodedata, urllib.parse
import torch, torch.fx, torch.multiprocessing, torch.nn.utils.fusion, torch.nn.utils.prune, torch.nn.utils.stateless

layer, pruned = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

def part(x):
    return x
"""


SAME = {
    "torch.distributed.distributed_c10d.all_gather_object": "torch.distributed.all_gather_object",
    "torch.functional.unique": "torch.unique",
    "torch.nn.attention.SDPAParams": "torch.backends.cuda.SDPAParams",
    "torch.optim.adam.Adam": "torch.optim.Adam",
    "torch.random.initial_seed": "torch.initial_seed",
    "torch.serialization.save": "torch.save",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
}


@pytest.mark.parametrize("name", SAME)
def test_what_torch_has_under_two_names_is_the_same(name: str) -> None:
    pytest.importorskip("torch")

    def found(name: str) -> object:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)

    assert found(name) is found(SAME[name])
    told = [
        [each.code for each in lint(["m.py"], None, {"m.py": TWO_NAMES % name.rpartition(".")[::2]}).findings]
        for name in (name, SAME[name])
    ]
    assert told[0] == told[1] != []


TWO_NAMES = """
import torch
from %s import %s as named

@torch.compile
def f(x: torch.Tensor):
    y = torch.sin(x)
    named(y)
    return y + 1
"""


@pytest.mark.filterwarnings("ignore")
def test_calls_that_end_the_graph_are_measured() -> None:
    """What the models of Python's library and of torch say ends the graph, it ends on this torch."""
    torch = pytest.importorskip("torch")
    code = HOMES + "".join(
        f"\ndef f{n}(x: torch.Tensor):\n    x = x + 1\n    {call}\n    return x * 2\ntorch.compile(f{n})\n"
        for n, call in enumerate(ENDING)
    )
    lines = {each.line for each in lint(["m.py"], None, {"m.py": code}).findings if each.code == "PTB187"}
    assert [code.splitlines()[n - 1].strip() for n in sorted(lines)] == ENDING
    names: dict[str, Any] = {}
    exec(code, names)
    kept = []
    for n, call in enumerate(ENDING):
        graphs: list[Any] = []

        def backend(graph: Any, inputs: Any, into: list[Any] = graphs) -> Any:
            into.append(graph)
            return graph.forward

        torch._dynamo.reset()
        with contextlib.suppress(Exception):
            torch.compile(names[f"f{n}"], backend=backend)(torch.ones(3))
        if len(graphs) < 2:
            kept.append(call)
    assert kept == []


def test_a_norm_that_several_processes_share() -> None:
    """It runs on GPUs alone: that the question breaks the graph there is in matrix/results/gpu-2.11.0.json."""
    torch = pytest.importorskip("torch")
    code = (
        "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.SyncBatchNorm(4)\n"
        "    def forward(self, x):\n        return self.layer(x * 2) + 1\n"
    )
    found = lint(["m.py"], None, {"m.py": code}).findings
    assert [(f.code, f.line, f.when) for f in found] == [("PTB187", 7, ("self.training",))]
    asked = inspect.getsource(torch.nn.modules._functions.SyncBatchNorm.forward)
    assert "torch.cuda.is_current_stream_capturing()" in asked


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("made", "given", "told"),
    [
        ("BatchNorm1d(4, momentum=None)", "x", ["self.training"]),
        ("BatchNorm1d(4, momentum=0.2)", "x", None),
        ("BatchNorm1d(4, momentum=None, track_running_stats=False)", "x", None),
        ("AdaptiveLogSoftmaxWithLoss(4, 10, [4])", "x, torch.tensor([1, 5])", []),
    ],
)
def test_layers_that_look_at_values(made: str, given: str, told: list[str] | None) -> None:
    torch = pytest.importorskip("torch")
    code = (
        "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.layer = torch.nn.{made}\n"
        f"    def forward(self, x):\n        return self.layer(x * 2, {given[3:]})[0] + 1\n"
    )
    found = [f for f in lint(["m.py"], None, {"m.py": code}).findings if f.code == "PTB187"]
    assert [list(f.when) for f in found] == ([] if told is None else [told])
    names: dict[str, Any] = {}
    exec(code, names)
    graphs: list[Any] = []
    torch._dynamo.reset()
    torch.compile(names["M"](), backend=lambda graph, _: graphs.append(graph) or graph.forward)(
        torch.ones(2, 4)
    )
    assert (len(graphs) > 1) is (told is not None)


@pytest.mark.parametrize(
    ("home", "public"),
    [
        ("torch.optim.optimizer.Optimizer", "torch.optim.Optimizer"),
        ("torch.optim.adamw.AdamW", "torch.optim.AdamW"),
        ("torch.amp.grad_scaler.GradScaler", "torch.amp.GradScaler"),
        ("torch.cuda.amp.grad_scaler.GradScaler", "torch.cuda.amp.GradScaler"),
        ("torch._tensor.Tensor", "torch.Tensor"),
        ("torch.functional.Tensor", "torch.Tensor"),
        ("torch.nn.utils.clip_grad.clip_grad_norm_", "torch.nn.utils.clip_grad_norm_"),
        ("torch.optim.lr_scheduler.LambdaLR", "torch.optim.lr_scheduler.LambdaLR"),
        ("torch.optim.swa_utils.AveragedModel", "torch.optim.swa_utils.AveragedModel"),
    ],
)
def test_what_is_imported_from_where_it_is_defined_is_the_same(home: str, public: str) -> None:
    pytest.importorskip("torch")
    value = load().value(home)
    assert isinstance(value, Ext)
    assert value.name == public
    (module, name), (also, as_well) = home.rsplit(".", 1), public.rsplit(".", 1)
    assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module(also), as_well)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("return x + n.item()", "PTB103"),
        ("return x + float(n)", "PTB104"),
        ("if n > 2:\n        x = x + 1\n    return x", "PTB110"),
    ],
)
def test_the_norm_that_clip_grad_norm_returns_is_a_tensor(use: str, code: str) -> None:
    torch = pytest.importorskip("torch")
    text = (
        "import torch\nnet = torch.nn.Linear(4, 4)\nnet(torch.ones(2, 4)).sum().backward()\n"
        f"def f(x):\n    n = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    {use}\n"
        "compiled = torch.compile(f)\n"
    )
    assert [f.code for f in lint(["m.py"], None, {"m.py": text}).findings] == [code]
    names: dict[str, Any] = {}
    exec(text, names)
    assert torch._dynamo.explain(names["f"])(torch.ones(2)).graph_break_count == 1


def test_objects_of_pydantic_are_not_made_in_compiled_code() -> None:
    source = """
import pydantic
import torch
from pydantic import BaseModel
from pydantic.dataclasses import dataclass

class Options(BaseModel):
    scale: float = 2.0

@dataclass
class Sizes:
    n: int = 2

options = Options()
held = Sizes()

@torch.compile
def f(x: torch.Tensor):
    made = Options(scale=3.0)
    sizes = Sizes(n=3)
    return x * options.scale * held.n
"""
    found = [(f.code, f.line) for f in lint(["m.py"], None, {"m.py": source}).findings]
    assert found == [("PTB187", 19), ("PTB187", 20)]


# Lines that end the graph in a method that is compiled; `told` stands behind them.
METHODS = {
    "a loader of a class of the project": """
class Batches(torch.utils.data.DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.collate_fn = list

class Rows(torch.utils.data.DataLoader):
    def __iter__(self):
        return iter([torch.ones(2)])

class Step:
    def __init__(self, rows):
        self.batches, self.rows = Batches(rows), Rows(rows)

    def run(self, x: torch.Tensor):
        for row in self.rows:
            x = x + row
        x = x * len(self.batches)  # told
        for row in self.batches:  # told
            x = x + row
        return x
""",
    "a tensor of what NumPy computes of a number": """
class Step:
    def __init__(self, alpha):
        self.log_alpha = torch.tensor(np.log(alpha), dtype=float, requires_grad=True)

    def run(self, x: torch.Tensor):
        self.alpha = self.log_alpha.exp().item()  # told
        return x
""",
    "flags of losses": """
class Step:
    def __init__(self, average=True):
        self.average = average

    def run(self, x: torch.Tensor, y: torch.Tensor):
        loss = nn.CrossEntropyLoss(weight=None, size_average=self.average)
        return loss(x, y) + nn.MSELoss(size_average=self.average)(x, x + 1)  # told
""",
    "a numbered bar": """
class Step:
    def __init__(self, rows):
        self.rows = rows

    def run(self, x: torch.Tensor):
        bar = tqdm(self.rows)  # told
        for i, row in enumerate(bar):  # told
            x = x + i
        return x
""",
    "a flag that is on by default": """
class Step:
    def run(self, x: torch.Tensor, train=True, learn=False):
        x = x + torch.zeros(2, requires_grad=learn)
        return x + torch.zeros(2, requires_grad=train)  # told
""",
}


@pytest.mark.parametrize("name", METHODS)
def test_what_methods_do(name: str) -> None:
    code = "import numpy as np\nimport torch\nfrom torch import nn\nfrom tqdm import tqdm\n" + METHODS[name]
    settings = Settings(root_names=("m.Step.run",))
    found = {f.line for f in lint(["m.py"], settings, {"m.py": code}).findings if f.code.startswith("PTB")}
    told = {number for number, line in enumerate(code.split("\n"), 1) if line.endswith("# told")}
    assert found == told


@pytest.mark.parametrize(
    "name",
    ["SyncBatchNorm.convert_sync_batchnorm", "utils.weight_norm", "utils.parametrizations.spectral_norm"],
)
def test_what_changes_a_module_gives_it_back(name: str) -> None:
    code = (
        "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.layer = torch.nn.{name}(torch.nn.Linear(4, 4))\n"
        "    def forward(self, x):\n        y = self.layer(x)\n        return 1 if y > 0 else x\n"
    )
    assert [f.line for f in lint(["m.py"], None, {"m.py": code}).findings] == [8]
