"""Inputs made up for a module: searched on fake tensors first."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.dynamic.conftest import Project, needs_torch

pytestmark = needs_torch


@pytest.fixture
def seen() -> list[tuple[str, tuple[int, ...]]]:
    """(kind of tensor, shape) of each call of the modules below in this process."""
    return []


def modules(seen: list[tuple[str, tuple[int, ...]]]) -> Any:
    import torch

    class Attention(torch.nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.mix = torch.nn.MultiheadAttention(dim, 2, batch_first=True)
            self.used = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append((type(x).__name__, tuple(x.shape)))
            self.used = True
            batch, length, width = x.shape
            out: torch.Tensor = self.mix(x, x, x)[0]
            return out.reshape(batch, length * width)

    class ReadsValues(Attention):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.max().item() * super().forward(x)

    return Attention, ReadsValues


def test_shapes_are_searched_on_fake_tensors(seen: list[tuple[str, tuple[int, ...]]]) -> None:
    from pt2lint.dynamic.child.made_up import made_for_class

    attention, _ = modules(seen)
    target = made_for_class("Attention", attention)
    assert not isinstance(target, str)
    assert seen == [("Tensor", (2, 5, 8))]  # many shapes come before it
    assert not target.function.used  # type: ignore[attr-defined]
    assert target.how == "made-up inputs: x float32[2, 5, 8], dim=8"


def test_what_reads_values_is_searched_on_real_tensors(seen: list[tuple[str, tuple[int, ...]]]) -> None:
    from pt2lint.dynamic.child.made_up import made_for_class

    _, reads_values = modules(seen)
    target = made_for_class("ReadsValues", reads_values)
    assert not isinstance(target, str)
    assert [tuple(each.shape) for each in target.calls[0][0]] == [(2, 5, 8)]
    assert seen == [("Tensor", (2, 5, 8))]  # the others in a copy of the process


def test_a_mask_is_no_number_because_fake_tensors_would_have_that() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import made_for

    def picks(pred, mask):  # type: ignore[no-untyped-def]
        return pred[mask.unsqueeze(2).expand_as(pred)].sum()

    def rows(x, dim):  # type: ignore[no-untyped-def]
        return torch.nn.functional.pad(x, (dim, 1))

    made = made_for("picks", picks)
    assert not isinstance(made, str)
    assert made.how == "made-up inputs: pred float32[2, 5, 8], mask bool[2, 5]"
    made = made_for("rows", rows)
    assert not isinstance(made, str)
    assert made.how == "made-up inputs: x float32[2, 8], dim 2"


def test_the_search_leaves_no_fake_tensor_behind() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import made_for

    cache: list[torch.Tensor] = []

    def masked(x: torch.Tensor) -> torch.Tensor:
        if not cache:
            cache.append(torch.ones(8))
        return x * cache[0]

    assert not isinstance(made_for("masked", masked), str)
    assert [type(each) for each in cache] == [torch.Tensor]


def test_what_leaves_methods_to_others_is_run_as_one_of_those(tmp_path: Any) -> None:
    (tmp_path / "left_to_others.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "class Distance(nn.Module):\n"
        "    def forward(self, x, y):\n"
        "        return self.between(x, y)\n"
        "    def between(self, x, y):\n"
        "        raise NotImplementedError\n"
        "class Dot(Distance):\n"
        "    def between(self, x, y):\n"
        "        return x @ y.mT\n"
        "class Nothing(nn.Module):\n"
        "    def forward(self, x):\n"
        "        raise NotImplementedError\n",
        encoding="utf-8",
    )
    hows, said = made(tmp_path / "left_to_others.py")
    assert hows["Distance"].endswith(", as `Dot`, which derives from it")
    assert said["Nothing"].startswith("it leaves methods to the classes that derive from it, and none")


def test_a_search_that_dies_or_ends_in_nothing_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from pt2lint.dynamic.child import search

    nothing = {"found": [], "values": True, "trouble": []}
    assert search.in_a_fork(lambda: {"found": [[3, 1]]}) == {"found": [[3, 1]]}
    assert search.in_a_fork(lambda: {"found": [[3, 1]][: 1 + 0 * os.fork()]}) == {"found": [[3, 1]]}
    assert search.in_a_fork(lambda: {"found": 1 // 0}) == nothing
    # What ends the process is not called in this one.
    ended = nothing | {"values": False, "trouble": ["ended the process"]}
    assert search.in_a_fork(lambda: os._exit(3)) == ended
    killed = nothing | {"values": False, "trouble": ["was ended by SIGSEGV"]}
    assert search.in_a_fork(lambda: os.kill(os.getpid(), signal.SIGSEGV) or {}) == killed
    monkeypatch.setattr(search, "SECONDS", 0.2)
    endless = nothing | {"values": False, "trouble": ["did not come back"]}
    assert search.in_a_fork(lambda: {"found": [*iter(int, 1)]}) == endless
    monkeypatch.setattr(search, "IDLE", 0.2)
    monkeypatch.setattr(search, "SECONDS", 200)
    assert search.in_a_fork(lambda: time.sleep(900) or {}) == endless


def test_a_search_comes_as_far_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is the time of the processor, not how long others kept it."""
    from pt2lint.dynamic.child import search
    from pt2lint.dynamic.child.made_up import made_for_class

    attention, _ = modules([])
    clock = itertools.count(0, search.SECONDS * 0.8)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert not isinstance(made_for_class("Attention", attention), str)


def made(path: Any) -> tuple[dict[str, str], dict[str, str]]:
    """What is made up for a file, and what is said where it cannot be, by the names of its modules and functions."""
    from pt2lint.dynamic.child.made_up import targets

    said: dict[str, str] = {}
    found = targets(str(path), lambda name, why, example: said.update({name: f"{why}; {example}"}))
    return {each.name: each.how for later in found if (each := later.make()) is not None}, said


def test_no_search_is_begun_once_those_before_it_took_too_long(tmp_path: Any) -> None:
    from pt2lint.dynamic.child.made_up import targets

    path = tmp_path / "three_made_up.py"
    path.write_text(
        "import torch\nclass First(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        "class Second(First):\n    pass\n"
        "class Breaking(First):\n    def forward(self, x, scale=None):\n        return x\n"
    )
    said: dict[str, str] = {}
    given = [((("scale", 2),), (8,))]
    found = targets(
        str(path),
        lambda name, *why: said.update({name: why[0]}),
        given=given,
        names=["Breaking"],
        seconds=1e-9,
    )
    assert [later.name for later in found] == ["Breaking", "Breaking with scale", "First", "Second"]
    assert [later.make() is None for later in found] == [False, True, True, True]
    why = "the search for inputs of the others in its file took all of 1e-09 s: --timeout 2e-09 gives it more"
    assert said == dict.fromkeys(["Breaking with scale", "First", "Second"], why)


def test_a_configuration_has_what_the_code_asks_of_it(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of the project's command line and JSON files, made small; a file's own imports are found beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--hidden-size', type=int, default=512)\np.add_argument('--kind', default='gelu')\n"
    )
    (tmp_path / "sizes.json").write_text('{"model": {"kernel_sizes": [3, 5]}}')
    (tmp_path / "net.yaml").write_text(
        "# a comment: 1\nmodel:\n  norm: layer  # of them\n  pool_sizes: [2, 1]\n  biased: True\n"
        "  eps: 1.0e-5\n  path: ${root}/x\n  none: null\n"
    )
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "beside_made_up.py").write_text("SCALE = 2\n")
    (tmp_path / "core" / "net_made_up.py").write_text(
        "import torch\nfrom torch import nn\nfrom beside_made_up import SCALE\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, configs):\n"
        "        super().__init__()\n"
        "        self.configs = configs\n"
        "        assert configs.kind == 'gelu' and len(configs.kernel_sizes) == 2\n"
        "        assert (configs.norm, configs.pool_sizes, configs.eps) == ('layer', [2, 1], 1e-5)\n"
        "        assert configs.biased is True and configs.none is None\n"
        "        self.layer = nn.Linear(configs.hidden_size, 3)\n"
        "    def forward(self, x):\n"
        "        return self.layer(x) * SCALE * self.configs.factor\n"
        "class Words(nn.Module):\n"
        "    def __init__(self, cfg, depths):\n"
        "        super().__init__()\n"
        "        self.layers = nn.ModuleList(nn.Linear(cfg['dim'], cfg['dim']) for _ in range(depths[1]))\n"
        "    def forward(self, x, x_lengths):\n"
        "        assert x_lengths.tolist() == [5, 5]\n"
        "        for layer in self.layers:\n"
        "            x = layer(x)\n"
        "        return x\n"
    )
    found, _ = made(tmp_path / "core" / "net_made_up.py")
    assert found == {
        "Net": "made-up inputs: x float32[2, 8], "
        "configs={'kind': 'gelu', 'kernel_sizes': [3, 5], 'norm': 'layer', 'pool_sizes': [2, 1], 'eps': 1e-05, "
        "'biased': True, 'none': None, 'hidden_size': 8, 'factor': 8}",
        "Words": "made-up inputs: x float32[2, 8], x_lengths int64[2], depths=(2, 2), cfg={'dim': 8}",
    }


def test_a_package_without_an_init_file_is_imported_as_one(tmp_path: Any) -> None:
    """It is one as far out as the relative imports of a file reach."""
    (tmp_path / "outer_made_up" / "inner").mkdir(parents=True)
    (tmp_path / "outer_made_up" / "scale.py").write_text("SCALE = 2\n")
    (tmp_path / "outer_made_up" / "inner" / "shift.py").write_text("SHIFT = 1\n")
    net = tmp_path / "outer_made_up" / "inner" / "net.py"
    net.write_text(
        "import torch\nfrom .shift import SHIFT\nfrom ..scale import SCALE\n"
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x * SCALE + SHIFT\n"
    )
    assert made(net)[0] == {"Net": "made-up inputs: x float32[2, 8]"}
    whole = tmp_path / "outer_made_up" / "whole_made_up" / "__init__.py"
    whole.parent.mkdir()
    whole.with_name("shift.py").write_text("SHIFT = 1\n")
    whole.write_text(net.read_text().replace("from ..scale import SCALE\n", "SCALE = __name__.count('.')\n"))
    assert made(whole)[0] == {"Net": "made-up inputs: x float32[2, 8]"}
    assert "whole_made_up" in sys.modules
    spaced = net.with_name("net 2-made_up.py")
    spaced.write_text(net.read_text())
    assert made(spaced)[0] == {"Net": "made-up inputs: x float32[2, 8]"}


def test_values_of_the_project_are_looked_for_within_bounds(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder is walked twice, none of an environment, of git's or of data; many files in one folder are data."""
    from pt2lint.dynamic.child import project_values as read

    monkeypatch.chdir(tmp_path)
    package = tmp_path / "package" / "models"
    for folder, name in {
        "package/models": "near", "package/configs/deep": "deep", ".git": "git", "env": "environment",
        "venv/lib": "venv", "package/data": "data", "": "outer",
    }.items():  # fmt: skip
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "sizes.json").write_text(f'{{"{name}": 1}}')
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "many").mkdir()
    for number in range(read.MOST_FILES + 1):
        (tmp_path / "many" / f"{number}.json").write_text('{"many": 1}')
    walked: list[str] = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: walked.append(str(folder)) or scan(folder))
    names = [name for values in read.project_values(str(package / "net.py")) for name in values]
    assert names == ["near", "deep", "outer"]
    assert len(walked) == len(set(walked))
    monkeypatch.setattr(read, "MOST_FOLDERS", 3)
    assert read.project_values(str(package / "other.py")) == [{"near": 1}]
    monkeypatch.setattr(read, "MOST_BYTES_IN_ALL", 5)
    assert read.project_values(str(package / "third.py")) == []


def test_what_stands_in_the_way_is_said(tmp_path: Any) -> None:
    """Each parameter is searched for itself; what takes sizes is given no tensor for them; the rest is told."""
    (tmp_path / "shapes_made_up.py").write_text(
        "import enum\nimport os\nimport torch\nfrom torch import Tensor, nn\nfrom typing import Literal, Tuple\n"
        "def windows(x: Tensor, size: Tuple[int, int]):\n"
        "    a, b, c, d = x.shape\n"
        "    return x.view(a, b // size[0], size[0], c, d)\n"
        "class Four(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a, self.b, self.c = nn.Linear(3, 4), nn.Linear(6, 4), nn.Conv2d(7, 4, 1)\n"
        "    def forward(self, x, y, image):\n"
        "        return self.a(x).sum() + self.b(y).sum() + self.c(image).sum()\n"
        "class Kind(enum.Enum):\n"
        "    HARD = 'hard'\n"
        "class Words(nn.Module):\n"
        "    def __init__(self, norm: Literal['rms', 'layer'], kind: Kind, act: 'Optional[Literal[\"gelu\"]]'):\n"
        "        super().__init__()\n"
        "        assert (norm, kind, act) == ('rms', Kind.HARD, 'gelu')\n"
        "    def forward(self, x, reduce: Literal['mean', 'sum']):\n"
        "        return getattr(x, reduce)()\n"
        "class Never(nn.Module):\n"
        "    def __init__(self, path: str):\n"
        "        super().__init__()\n"
        "    def forward(self, x, y):\n"
        "        return x\n"
        "class Lookup(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.embed = nn.Embedding(10, 4)\n"
        "    def forward(self, input_ids=None, inputs_embeds=None):\n"
        "        if (input_ids is None) == (inputs_embeds is None):\n"
        "            raise ValueError('one of the two')\n"
        "        return self.embed(input_ids) if inputs_embeds is None else inputs_embeds\n"
        "class Nothing(Lookup):\n"
        "    def forward(self, x=None):\n"
        "        return self.embed.weight.sum() if x is None else x.unknown\n"
        "class Exits(Lookup):\n"
        "    def forward(self, x):\n"
        "        os._exit(3)\n"
        "class Leaves(Lookup):\n"
        "    def forward(self, x):\n"
        "        raise SystemExit('bye')\n"
        "class Asserts(Lookup):\n"
        "    def forward(self, x):\n"
        "        assert x is self\n"
        "def untaken(x: torch.Tensor):\n"
        "    raise ValueError('nothing will do')\n"
        "class Neither(Lookup):\n"
        "    def forward(self, x=None, y=None):\n"
        "        raise ValueError('nothing will do')\n"
    )
    found, said = made(tmp_path / "shapes_made_up.py")
    assert found["Words"] == "made-up inputs: x float32[2, 8], reduce 'mean', norm=rms, act=gelu"
    assert found["Lookup"].startswith("made-up inputs: input_ids int64")
    assert found["Nothing"] == "made-up inputs: x None"
    assert said.pop("Exits") == "no call of it ran, the nearest ended the process; Exits(), (x,)"
    nearest = "no call of it ran, the nearest raised"
    assert said.pop("Leaves") == f"{nearest} SystemExit: bye (shapes_made_up.py:44); Leaves(), (x,)"
    asserts = said.pop("Asserts")  # an error without words
    assert asserts.startswith(f"{nearest} AssertionError (shapes_made_up.py:47: `assert x is self`);")
    assert said.pop("untaken").endswith("; untaken, (x,)")
    assert said.pop("Neither").endswith("; Neither(), (x,)")
    assert found["Four"] == "made-up inputs: x float32[2, 3], y float32[2, 6], image float32[2, 7, 32, 32]"
    assert found["windows"] == "made-up inputs: x float32[2, 5, 2, 2], size (1, 1)"
    assert said == {"Never": "to build it raised TypeError: no value for `path: str`; Never(path), (x, y)"}


MADE = {
    # What a module is built around gives back what it is given.
    "Around": """
        def __init__(self, dim, fn, norm: Callable[..., nn.Module], act: Callable, body: nn.Module, attn_layers):
            super().__init__()
            self.layer, self.fn, self.act, self.body = nn.Linear(dim, dim), fn, act, body
            self.norm, self.layers = norm(dim), nn.ModuleList(attn_layers)
        def forward(self, x):
            for layer in self.layers:
                x = layer(x, mask=None)
            return self.fn(self.norm(self.body(self.act(self.layer(x)))), flag=True)
        """,
    "Cell": """
        def __init__(self, dim):
            super().__init__()
            self.cell, self.rnn = nn.LSTMCell(dim, 6), nn.GRU(6, 7, num_layers=2)
        def forward(self, x, hidden, h_rnn):
            out, cell = self.cell(x, hidden)
            return self.rnn(out.expand(5, *out.shape), h_rnn)
        """,
    "Graph": """
        def __init__(self, dim):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(dim, 4))
        def forward(self, x, adj):
            assert adj.shape == (len(x), len(x))
            return adj @ (x @ self.weight)
        """,
    "Masked": """
        def __init__(self, dim):
            super().__init__()
            self.layer = nn.Linear(dim, dim)
        def forward(self, x, attention_mask):
            batch, length, _ = x.shape
            assert attention_mask.shape == (batch, 1, length, length)
            return self.layer(x) * attention_mask[:, 0, :, :1]
        """,
    "Either": """
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)
        def forward(self, input_ids=None, mask=None, decoder_ids=None, decoder_embeds=None):
            x = self.embed(input_ids)
            if decoder_ids is None and decoder_embeds is None:
                raise ValueError("either decoder_ids or decoder_embeds has to be given")
            return x + (self.embed(decoder_ids) if decoder_embeds is None else decoder_embeds)
        """,
    # What an error says of None names the argument that is None.
    "Needy": """
        def forward(self, x, lengths=None, scale=None, bias=None):
            def most(values):
                return values.max()
            assert scale is not None
            kept = torch.arange(x.shape[1]) < most(lengths)
            return x * scale * kept[None, :, None]
        """,
    "Passing": """
        def forward(self, *args, scale=1, **kwargs):
            return self.scaled(*args, scale=scale)
        def scaled(self, x, mask, scale):
            assert mask.shape == x.shape[:2]
            return x * mask.unsqueeze(-1) * scale
        """,
    "Sized": """
        def __init__(self, dim, *, depth):
            super().__init__()
            self.layers = nn.Sequential(*(nn.Linear(dim, dim) for _ in range(depth)))
        def forward(self, x):
            return self.layers(x)
        """,
    "HandsOn": """
        def __init__(self, dim, **kwargs):
            super().__init__()
            self.sized = Sized(dim, **kwargs)
        def forward(self, x):
            return self.sized(x)
        """,
    "Holds": """
        def __init__(self, cell: Cell):
            super().__init__()
            self.layer = nn.Linear(cell.cell.input_size, 4)
        def forward(self, x):
            return self.layer(x)
        """,
    "Video": """
        def forward(self, x):
            batch, channels, frames, height, width = x.shape
            return x.mean()
        """,
    # What the errors ask for.
    "Flat": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(784, 4)
        def forward(self, image):
            batch, channels, height, width = image.shape
            return self.layer(image.view(batch, -1))
        """,
    "Together": """
        def __init__(self, width):
            super().__init__()
            self.first, self.second = nn.Linear(2 * width, 32), nn.Linear(96, 4)
        def forward(self, state, action, code, other):
            x = self.first(torch.cat([state, action], 1))
            return self.second(torch.cat([x, code, other], 1))
        """,
    "Views": """
        def forward(self, x):
            a, b = torch.split(x, [4, 7], dim=-1)
            return a.sum() + b.sum()
        """,
    "Bottleneck": """
        expansion = 4
        def __init__(self, inputs, planes, stride=1):
            super().__init__()
            self.layer = nn.Linear(inputs, planes * 4)
        def forward(self, x):
            return self.layer(x) + x
        """,
    "Wide": """
        def __init__(self, depth, block: type[Video], activation, norm, kind: str, reduction):
            super().__init__()
            assert (depth - 4) % 6 == 0, 'depth should be 6n+4'
            self.block, self.layer = block(), nn.Sequential(nn.Linear(8, depth), activation())
            if norm == 'batch':
                self.layer.append(nn.BatchNorm1d(depth))
            elif norm != 'layer' or kind not in ('a', 'b'):
                raise NotImplementedError(norm)
            self.reduction = reduction
        def forward(self, xs: List[Tensor], y: TypeVar('torch.tensor')):
            assert self.reduction == 'sum'
            return self.layer(torch.cat(xs)).sum() + y.sum()
        """,
    # Classes, tensors and functions that it is given.
    "Lined": """
        def __init__(self, base: "nn.Linear", adj, parts, num_steps, probe_rank, part_kwargs, keep_rate, act=None):
            super().__init__()
            self.register_buffer('adj', torch.eye(adj.shape[0]) + adj)
            self.parts = parts
            self.layer = Sized(num_steps, depth=probe_rank, **part_kwargs)
            self.base, self.drop = base, nn.Sequential(nn.Dropout(keep_rate), act())
        def forward(self, x):
            for part in self.parts:
                x = self.layer(x) * part
            return self.base(self.drop(x)).sum() + self.adj.sum()
        """,
    "Blocks": """
        def __init__(self, block, num_blocks):
            super().__init__()
            self.block = block(8 * block.expansion, 8, stride=num_blocks[1])
        def forward(self, x):
            return self.block(x)
        """,
    "Buffered": """
        def __init__(self, dim, mask, start: torch.Tensor):
            super().__init__()
            self.register_buffer('mask', mask)
            self.start = nn.Parameter(start)
        def forward(self, x, then):
            return then(x @ self.mask + self.start)
        """,
    "Setting": """
        def __init__(self, cfg):
            super().__init__()
            self.layer, self.cfg = nn.Linear(cfg.width, cfg.depth), cfg
        def forward(self, x):
            assert isinstance(self.cfg, Settings)
            return self.layer(x)
        """,
    # Words that are asked of a dictionary, of each in a list, of an object; shapes as the text has them.
    "Matched": """
        def forward(self, outputs, targets, batch):
            # outputs: "pred_logits": Tensor of dim [batch_size, num_queries, 3]
            assert outputs['pred_logits'].shape[2] == 3
            boxes = torch.cat([each['boxes'] for each in targets])
            assert boxes.shape[-1] == 4 and boxes.min() >= 0
            return outputs['pred_logits'].sum() + boxes.sum() + batch.nodes.sum()
        """,
    "Patches": """
        def forward(self, x, y):
            # y: (b, 7)
            x = rearrange(x, 'b c (h p) w -> b (h p) w c')
            assert y.shape[1] == 7 and x.dim() == 4
            return x.sum() + y.sum()
        """,
    "Packed": """
        def __init__(self, dim):
            super().__init__()
            self.head = nn.Linear(4 * dim, 3)
        def forward(self, query, keys, keys_length):
            # query: [B, H], keys: 3D tensor, [b, T, H], keys_length: [B]
            keys_length = keys_length[keys_length > 0]
            if len(keys_length) == 0:
                return query
            query = query[:len(keys_length)].unsqueeze(1).expand(-1, keys.shape[1], -1)
            packed = nn.utils.rnn.pack_padded_sequence(keys, keys_length, batch_first=True)
            return self.head(torch.cat([query, keys, query - keys, query * keys], -1)), packed
        """,
    "Asserting": """
        def __init__(self, net, inner):
            super().__init__()
            assert isinstance(net, nn.Sequential), type(net)
            assert isinstance(inner, HandsOn)
            self.net, self.inner = net, inner
        def forward(self, x):
            return self.net(self.inner(x))
        """,
    "Tables": """
        def __init__(self, config):
            super().__init__()
            self.layer = nn.Linear(config["model"]["encoder"]["width"], 4)
            self.window = config["window"]
        def forward(self, parts, dim):
            return self.layer(torch.cat(parts, dim=dim))
        """,
    "Dates": """
        def __init__(self, dim):
            super().__init__()
            self.month, self.day = nn.Embedding(13, dim), nn.Embedding(32, dim)
        def forward(self, marks):
            marks = marks.long()
            return self.month(marks[:, :, 0]) + self.day(marks[:, :, 1])
        """,
    "Configured": """
        config_class = Config
        def __init__(self, config):
            super().__init__()
            assert isinstance(config, Config)
            self.layer = nn.Linear(config.width, 4)
        def forward(self, x):
            return self.layer(x)
        """,
}


def test_what_modules_take(tmp_path: Any) -> None:
    path = tmp_path / "takes_made_up.py"
    path.write_text(
        "import torch\nfrom torch import Tensor, nn\nfrom typing import Callable, List, TypeVar\n"
        "from base_made_up import decorated\n"
        "import dataclasses\n@dataclasses.dataclass\nclass Settings:\n    width: int\n    depth: int = 3\n"
        "def rearrange(x, pattern):\n    return x.permute(0, 2, 3, 1)\n"
        "class Config:\n    def __init__(self, width=1024):\n        self.width = width\n"
        + "".join(f"class {name}(nn.Module):{body.rstrip()}\n" for name, body in MADE.items())
        + "@decorated\nclass Decorated(nn.Module):\n    def __init__(self, d_model, path_count):\n"
        "        super().__init__()\n        self.layer = nn.Linear(d_model, path_count)\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    (tmp_path / "base_made_up.py").write_text(
        "import torch\nclass Imported(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
        "def decorated(cls):\n    class Made(cls):\n        def __init__(self, *args, **kwargs):\n"
        "            super().__init__(*args, **kwargs)\n    return Made\n"
    )
    found, said = made(path)
    assert said == {}
    assert found == {
        "Around": "made-up inputs: x float32[2, 8], dim=8, norm=Identity",
        "Cell": "made-up inputs: x float32[2, 8], hidden (float32[2, 6], float32[2, 6]), h_rnn float32[2, 2, 7], dim=8",
        "Graph": "made-up inputs: x float32[2, 8], adj float32[2, 2], dim=8",
        "Masked": "made-up inputs: x float32[2, 5, 8], attention_mask bool[2, 1, 5, 5], dim=8",
        "Sized": "made-up inputs: x float32[2, 8], dim=8, depth=2",
        "HandsOn": "made-up inputs: x float32[2, 8], dim=8, depth=2",
        "Holds": "made-up inputs: x float32[2, 8]",
        "Either": "made-up inputs: input_ids int64[2, 5], decoder_ids int64[2, 5]",
        "Passing": "made-up inputs: x float32[2, 5, 8], mask bool[2, 5]",
        "Needy": "made-up inputs: x float32[2, 5, 8], scale float32[2, 5, 8], lengths int64[2, 1]",
        "Video": "made-up inputs: x float32[2, 8, 5, 8, 8]",
        "Flat": "made-up inputs: image float32[2, 1, 28, 28]",
        "Together": "made-up inputs: state float32[2, 8], action float32[2, 8], code float32[2, 48], "
        "other float32[2, 16], width=8",
        "Views": "made-up inputs: x float32[2, 11]",
        "Bottleneck": "made-up inputs: x float32[2, 32], inputs=32, planes=8",
        "Blocks": "made-up inputs: x float32[2, 32], block=Bottleneck, num_blocks=(2, 2)",
        "Wide": "made-up inputs: xs [float32[2, 8], float32[2, 8]], y int64[2, 5], depth=10, block=Video, "
        "activation=Identity, norm=batch, kind=a, reduction=sum",
        "Lined": "made-up inputs: x float32[2, 8], parts=(8, 8), num_steps=8, probe_rank=8, keep_rate=0.1, "
        "act=Identity",
        "Buffered": "made-up inputs: x float32[8], then a function that gives back what it is given, dim=8",
        "Setting": "made-up inputs: x float32[2, 8]",
        "Matched": "made-up inputs: outputs['pred_logits'] float32[2, 5, 3], targets[...]['boxes'] float32[2, 4], "
        "batch.nodes float32[2, 8]",
        "Patches": "made-up inputs: x float32[2, 8, 256, 32], y int64[2, 7]",
        "Packed": "made-up inputs: query float32[2, 8], keys float32[2, 5, 8], keys_length int64[2], dim=8",
        "Asserting": "made-up inputs: x float32[2, 8]",
        "Tables": "made-up inputs: parts [float32[2, 2, 5, 8], float32[2, 2, 5, 8]], dim 2, "
        "config={'model': {'encoder': {'width': 8, 'window': 8}, 'window': 8}, 'window': 8}",
        "Dates": "made-up inputs: marks int64[2, 5, 8], dim=8",
        "Configured": "made-up inputs: x float32[2, 8]",
        "Decorated": "made-up inputs: x float32[2, 8], d_model=8, path_count=8",
    }


def test_a_word_is_given_where_a_configuration_is_asked_for_one(tmp_path: Any) -> None:
    path = tmp_path / "words_made_up.py"
    path.write_text(
        textwrap.dedent(
            """
            import dataclasses
            import torch
            from not_there import Serializable

            ACTS = {"swish": torch.nn.SiLU, "gelu": torch.nn.GELU}
            KINDS = ["rows", "columns"]

            @dataclasses.dataclass
            class Config(Serializable):
                pooling: str = "mean"
                dim: int = 512

            class Asked(torch.nn.Module):
                def __init__(self, cfg: Config):
                    super().__init__()
                    assert cfg.pooling == "me" + "an"
                    self.layer = torch.nn.Linear(cfg.dim, 2)

                def forward(self, x):
                    return self.layer(x)

            class Options(torch.nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.act = ACTS[config.kind]()
                    self.last = getattr(torch.nn.functional, config.hidden_act)
                    if config.order not in KINDS:
                        raise ValueError("no such order")

                def forward(self, x):
                    return self.last(self.act(x))

            class Named(torch.nn.Module):
                def __init__(self, kind, name: str, path: str = ""):
                    super().__init__()
                    self.act = ACTS[kind]()

                def forward(self, x):
                    return self.act(x)

            class Stored(torch.nn.Module):
                def __init__(self, save_name: str):
                    super().__init__()

                def forward(self, x):
                    return x
            """
        )
    )
    found, said = made(path)
    assert {*found} == {"Asked", "Options", "Named"}, said
    assert "dim': 8" in found["Asked"]
    assert found["Named"] == "made-up inputs: x float32[2, 8], kind=swish, name=name"
    assert said["Stored"].startswith("to build it raised TypeError: no value for `save_name: str`")


def test_a_dataclass_or_a_named_tuple_is_made_of_its_fields(tmp_path: Any) -> None:
    path = tmp_path / "batches_made_up.py"
    path.write_text(
        textwrap.dedent(
            """
            from __future__ import annotations
            import dataclasses
            from typing import Any, NamedTuple
            import torch

            @dataclasses.dataclass
            class Batch:
                rows: torch.Tensor
                labels: torch.LongTensor
                paths: list[str]
                mask: torch.BoolTensor | None = None
                weights: torch.Tensor | None = None

            class Pair(NamedTuple):
                left: torch.Tensor
                right: torch.Tensor

            class Net(torch.nn.Module):
                def __init__(self, dim: int):
                    super().__init__()
                    self.layer = torch.nn.Linear(dim, 4)

                def forward(self, batch: Batch | Pair):
                    assert isinstance(batch, Batch) and batch.weights is None
                    return torch.nn.functional.cross_entropy(self.layer(batch.rows), batch.labels) * batch.mask

            class Adds(torch.nn.Module):
                def forward(self, pair: Pair):
                    assert isinstance(pair, Pair)
                    return pair.left + pair.right
            """
        )
    )
    assert made(path) == (
        {
            "Adds": "made-up inputs: pair.left float32[2, 8], pair.right float32[2, 8]",
            "Net": "made-up inputs: batch.rows float32[2, 8], batch.labels int64[2], batch.paths None, "
            "batch.mask bool[2, 5], batch.weights None, dim=8",
        },
        {},
    )


def test_what_has_its_inputs_is_built_small_where_they_run(tmp_path: Any) -> None:
    from pt2lint.dynamic.child.inputs import from_file

    path = tmp_path / "dummies_made_up.py"
    path.write_text(
        "import torch\n"
        "class Config:\n    def __init__(self, width=1024):\n        self.width = width\n"
        "class Any(torch.nn.Module):\n"
        "    config_class = Config\n"
        "    least = 1\n"
        "    dummy_inputs = {'x': torch.ones(2)}\n"
        "    def __init__(self, config):\n        super().__init__()\n        self.width = config.width\n"
        "    def forward(self, x):\n        assert self.width >= self.least\n        return x * self.width\n"
        "class Large(Any):\n    least = 1024\n"
        "class Other(Any):\n    def forward(self, y):\n        return y\n"
    )
    found = {each.name: (each.how, each.function.width) for each in from_file(str(path), print)}  # type: ignore[union-attr]
    assert found == {"Any": ("dummy_inputs, of a small configuration", 8), "Large": ("dummy_inputs", 1024)}


LACKING = """
    import torch
    from not_there import loss, rearrange
    from not_there.registry import MODELS, check
    import not_there, not_there.layers.drop as drop

    try:
        import not_there_either
        there = True
    except ImportError:
        there = False

    log = not_there.get_logger(__name__)
    major = int(not_there.__version__.split(".")[0])

    class Checks:
        @not_there.decorator
        def __call__(self, function):
            return function

    @Checks()
    def guarded(x: torch.Tensor) -> torch.Tensor:
        return x

    @MODELS.register("net")
    class Net(torch.nn.Module):
        def forward(self, x: drop.Batch["n d"]) -> torch.Tensor:
            if x.sum() > 0:  # HERE
                return x + 1
            return x + there

    class Uses(Net):
        def forward(self, x):
            if x.sum() > 0:  # HERE
                x = x + 1
            return rearrange(x, "a b -> b a")

    class Made(drop.Base):
        def forward(self, x):
            return x

    @check
    def checked(x: torch.Tensor) -> torch.Tensor:
        print(1)  # HERE
        return x
"""


def test_a_package_behind_a_module_of_its_name_beside_the_file_is_found(tmp_path: Any) -> None:
    for folder in ("nets", "helpers_made_up"):
        (tmp_path / folder).mkdir()
    (tmp_path / "nets" / "helpers_made_up.py").write_text("")
    (tmp_path / "helpers_made_up" / "masks.py").write_text("ONE = 1\n")
    net = tmp_path / "nets" / "net.py"
    net.write_text(
        "import torch\nfrom helpers_made_up.masks import ONE\n"
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x * ONE\n"
    )
    assert made(net)[0] == {"Net": "made-up inputs: x float32[2, 8]"}


def test_a_folder_of_the_name_of_an_outer_one_is_looked_into(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for folder in ("parts_made_up", "inner/parts_made_up"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "parts_made_up" / "other.py").write_text("ONE = 1\n")
    (tmp_path / "inner" / "parts_made_up" / "near.py").write_text("TWO = 2\n")
    net = tmp_path / "inner" / "parts_made_up" / "net.py"
    net.write_text(
        "import torch\nfrom parts_made_up.near import TWO\n"
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x * TWO\n"
    )
    assert made(net)[0] == {"Net": "made-up inputs: x float32[2, 8]"}


def test_a_part_of_the_own_package_that_its_build_makes_is_a_placeholder(project: Project) -> None:
    project.write(
        "built_made_up/__init__.py",
        "from .version import __version__\nfrom built_made_up import _C\nfrom . import later\nONE = 1\n",
    )
    # What it puts in its own place has its parts nevertheless.
    project.write(
        "built_made_up/later/__init__.py", "import sys, not_there\nsys.modules[__name__] = not_there.Lazy()\n"
    )
    project.write("built_made_up/later/two.py", "TWO = 2\n")
    text = """
        import torch
        from . import ONE
        from built_made_up.later.two import TWO

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                print(1)  # HERE
                return x + ONE + TWO
    """
    result = project.verify(project.write("built_made_up/net.py", text), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert any("not installed: built_made_up.version" in note for note in result.notes), result.notes


def test_an_own_module_that_a_missing_package_keeps_from_being_imported_is_left_out(project: Project) -> None:
    project.write(
        "colours_made_up.py", "import not_there\ndef name():\n    return not_there.name()\nBLUE = name()\n"
    )
    text = """
        import torch
        from colours_made_up import BLUE

        def painted(x: torch.Tensor) -> torch.Tensor:
            return x * BLUE.shade()

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                print(1)  # HERE
                return x
    """
    result = project.verify(project.write("net.py", text), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    why = "what uses colours_made_up is not run: importing that raised NotInstalled: it uses not_there.name,"
    assert any(why in note for note in result.notes), result.notes


def test_a_package_that_cannot_be_imported_does_not_keep_its_files_from_being_run(project: Project) -> None:
    project.write("picky_made_up/__init__.py", "raise RuntimeError('of no use without a licence')\n")
    project.write("picky_made_up/sizes.py", "ONE = 1\n")
    project.write("picky_made_up/heavy.py", "import picky_made_up.sizes\nraise ValueError('too heavy')\n")
    text = """
        import torch
        from .sizes import ONE
        from .heavy import lift

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                print(1)  # HERE
                return x + ONE
    """
    result = project.verify(project.write("picky_made_up/net.py", text), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    for why in (
        "what uses picky_made_up.__init__ is not run: importing that raised RuntimeError: of no use",
        "what uses picky_made_up.heavy is not run: importing that raised ValueError: too heavy",
    ):
        assert any(why in note for note in result.notes), result.notes


def test_a_function_that_breaks_is_run_without_annotations(project: Project) -> None:
    text = """
        import numpy as np
        import torch

        KIND = np.float

        def scaled(x, widths, dims, eps=1e-3):
            if x.dim() != 1 or widths.dim() != 2 or dims > 3:
                raise ValueError("of other shapes")
            if x.sum() > 0:  # HERE
                return x + eps
            return x * widths.sum(dim=dims - 1) * KIND(1)

        def saved(path):
            raise ValueError(path)

        @torch.compiler.disable
        def never_compiled(x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x
    """
    result = project.verify(project.write("functions.py", text), further=False)
    assert [each.code for each in result.findings] == ["PTB100"]
    assert [each.verdict for each in result.findings if each.code == "PTB100"] == ["confirmed"]
    assert not any("saved" in note for note in result.notes)
    assert [note for note in result.notes if "numpy" in note] == [] or any(
        "`numpy.float`, which NumPy" in note for note in result.notes
    )


def test_what_needs_no_package_that_is_missing_is_run(project: Project) -> None:
    result = project.verify(project.write("net.py", LACKING), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed", "unreached", "unreached"]
    assert result.problems == []
    for said in (
        "not installed: not_there (--python PATH names another interpreter); what uses that is not run",
        "Uses (no call of it ran, the nearest raised NotInstalled: it uses not_there.rearrange, which is not",
        "Made (not_there.layers.drop.Base, which it is made of, is not installed)",
        "guarded (no call of it ran, the nearest raised NotInstalled: it uses not_there.decorator,",
        "checked (no call of it ran, the nearest raised NotInstalled: it uses not_there.registry.check,",
    ):
        assert any(said in note for note in result.notes), result.notes


def test_what_is_made_of_a_protocol_and_of_a_missing_package_stops_nothing(project: Project) -> None:
    text = """
        from typing import Protocol

        import not_there
        import torch

        class Sized(Protocol):
            def size(self) -> int: ...

        class Kept(torch.nn.Module, Sized, not_there.Mixin):
            def forward(self, x):
                return x * 2

        class Net(torch.nn.Module, Sized):
            def forward(self, x):
                print(x.shape)
                return x + 1
    """
    result = project.verify(project.write("parts.py", text), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert not result.problems


def test_without_a_gpu_what_asks_for_one_runs_on_the_cpu(project: Project) -> None:
    """What asks whether there is one, and what compares a device, is left as it is."""
    text = """
        import torch

        class Net(torch.nn.Module):
            def __init__(self, width, device="cuda"):
                super().__init__()
                self.layer = torch.nn.Linear(width, 4).to(device)
                self.there = "cuda" if torch.cuda.is_available() else "none"

            def forward(self, x):
                noise = torch.randn(4, device=f"cuda:{x.get_device() + 1}") + torch.cuda.FloatTensor(4).zero_()
                if x.device.type == "cuda" or self.there == "cuda":
                    raise ValueError("it is not so")
                y = self.layer(x.cuda(non_blocking=True))
                print(1)  # HERE
                return y + noise
    """
    path = project.write("on_gpu.py", text)
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings if each.code == "PTB100"] == ["confirmed"]
    assert result.problems == []
    there = torch_sees_a_gpu()
    note = "torch sees no GPU here: `cuda` (line 5, 11, 14) is taken for the CPU"
    assert there or any(each.endswith(note) for each in result.notes), result.notes


def test_what_asks_for_a_process_group_has_one_of_its_own(project: Project) -> None:
    text = """
        import torch
        import torch.distributed as dist

        class Sharded(torch.nn.Module):
            def __init__(self, width):
                super().__init__()
                self.layer = torch.nn.Linear(width, width // dist.get_world_size())

            def forward(self, x):
                y = self.layer(x)
                dist.all_reduce(y)
                print(1)  # HERE
                return y

        class Scaled(torch.nn.Module):
            def forward(self, x):
                print(dist.get_rank())  # HERE
                return x / dist.get_world_size()
    """
    path = project.write("in_a_group.py", text)
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings if each.code == "PTB100"] == ["confirmed"] * 2
    assert result.problems == []


def test_a_script_that_asks_for_a_gpu_runs_on_the_cpu(project: Project) -> None:
    text = """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 4)

            def forward(self, x):
                print(1)  # HERE
                return self.layer(x)

        if __name__ == "__main__":
            net = torch.compile(Net().cuda())
            net(torch.ones(2, 4, device="cuda"))
    """
    path = project.write("trains.py", text)
    for how in ({}, {"run": str(path)}):
        result = project.verify(path, further=False, **how)
        assert [each.verdict for each in result.findings if each.code == "PTB100"] == ["confirmed"]
        assert result.problems == []
        note = "torch sees no GPU here: `cuda` (line 14, 15) is taken for the CPU"
        assert torch_sees_a_gpu() or any(each.endswith(note) for each in result.notes), result.notes


def torch_sees_a_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def test_a_condition_on_an_optional_parameter_is_met(project: Project) -> None:
    path = project.write(
        "masked.py",
        """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, mask=None, kind="sum", causal=False):
                if mask is not None:
                    print(1)  # HERE
                    x = x * mask
                if kind == "mean" and causal:
                    print(2)  # HERE
                return x
        """,
    )
    conditions = [("mask is not None",), ("kind == 'mean'", "causal")]
    project.findings = [
        replace(each, when=when) for each, when in zip(project.findings, conditions, strict=True)
    ]
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed", "confirmed"]
    assert [sorted(each.evidence["targets"]) for each in result.findings] == [
        ["Net with mask (eval)", "Net with mask (train)"],
        ["Net with kind, causal (eval)", "Net with kind, causal (train)"],
    ]


def test_a_parameter_that_is_compared_with_words_is_given_each_that_matters(project: Project) -> None:
    path = project.write(
        "modes.py",
        """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, mode):
                if mode == "norm":
                    print(1)  # HERE
                    return x - 1
                elif mode in ("denorm", "back"):
                    print(2)  # HERE
                    return x + 1
                raise NotImplementedError
        """,
    )
    conditions = [("mode == 'norm'",), ("mode == 'denorm'",)]
    project.findings = [
        replace(each, when=when) for each, when in zip(project.findings, conditions, strict=True)
    ]
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed", "confirmed"]
    assert [sorted(each.evidence["targets"]) for each in result.findings] == [
        ["Net (eval)", "Net (train)"],
        ["Net with mode (eval)", "Net with mode (train)"],
    ]


def test_the_step_of_an_optimizer_is_run_from_its_first_one_on(project: Project) -> None:
    path = project.write(
        "optimizers.py",
        """
        import torch

        class First(torch.optim.Optimizer):
            def __init__(self, params, lr, betas=(0.9, 0.99), nesterov=False):
                super().__init__(params, {"lr": lr, "nesterov": nesterov})

            @torch.no_grad()
            def step(self):
                for group in self.param_groups:
                    for p in group["params"]:
                        self.train(p, group)

            def train(self, p, group):
                state = self.state[p]
                if not state:
                    print("first")  # HERE
                    state["mean"] = torch.zeros_like(p)
                state["mean"].lerp_(p.grad, 0.1)  # HERE
                if group["nesterov"]:
                    print("nesterov")  # HERE
                p.sub_(state["mean"], alpha=group["lr"])

        class Matrices(torch.optim.Optimizer):
            def __init__(self, params, momentum):
                super().__init__(params, {"momentum": momentum})

            def step(self, closure):
                loss = closure()
                for p in self.param_groups[0]["params"]:
                    p.data.add_(p.grad @ p.T @ p)
                print(loss)  # HERE
                return loss

        class Inherits(torch.optim.SGD):
            pass

        class Around(torch.optim.Optimizer):
            def __init__(self, optimizer):
                self.param_groups = optimizer.param_groups
                self.optimizer = optimizer
                self.state = {}

            def step(self):
                print("around")  # HERE
                return self.optimizer.step()
        """,
    )
    result = project.verify(path)
    judged = [each for each in result.findings if each.code == "PTB100"]
    assert [each.verdict for each in judged] == [
        "confirmed", "refuted", "confirmed", "confirmed", "confirmed",
    ]  # fmt: skip
    assert [each.evidence["targets"] for each in judged if each.verdict == "confirmed"][:2] == [
        ["First.step", "First.step otherwise"],
        ["First.step otherwise"],
    ]
    assert any(
        "Matrices.step (parameters that have gradients, a closure), Around.step (parameters that have gradients)"
        in note
        for note in result.notes
    ), result.notes


def test_what_a_class_is_built_with_is_found() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import made_for_class

    class Around(torch.nn.Module):
        def __init__(self, reader, sizes: list[int], names: dict[str, int] | None, fast=True):  # type: ignore[no-untyped-def]
            super().__init__()
            if fast:
                raise ImportError("no fast kernels")
            self.reader = reader
            self.layers = torch.nn.Sequential(*(torch.nn.Linear(reader.width, size) for size in sizes))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layers(self.reader.infer(self.reader(x)))

    class Chain(torch.nn.Sequential):  # of nothing
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return super().forward(x) + y

    made = made_for_class("Around", Around)
    assert not isinstance(made, str), made
    assert made.how.endswith("sizes=(8, 8), fast=False, reader={'width': 8}"), made.how
    assert not isinstance(made_for_class("Chain", Chain), str)


def test_options_that_are_handed_on_are_a_dictionary(tmp_path: Any) -> None:
    net = tmp_path / "handed_made_up.py"
    net.write_text(
        "import torch\n"
        "class Part(torch.nn.Module):\n"
        "    def __init__(self, width, layers, kernel):\n        super().__init__()\n"
        "class Net(torch.nn.Module):\n"
        "    usual = {'scale': 2}\n"
        "    def __init__(self, config, part_config, cutoffs, n_token):\n"
        "        super().__init__()\n"
        "        self.config = {**self.usual, **config}\n"
        "        self.part = Part(4, **part_config)\n"
        "        self.ends = [0] + cutoffs + [n_token]\n"
        "    def forward(self, x):\n        return x * self.config['scale']\n"
    )
    assert made(net)[0] == {"Net": "made-up inputs: x float32[2, 8], n_token=8"}


def test_what_is_taken_apart_is_a_tuple_and_what_is_counted_has_something(tmp_path: Any) -> None:
    net = tmp_path / "apart_made_up.py"
    net.write_text(
        "import torch\n"
        "class Heads(torch.nn.Module):\n"
        "    def __init__(self, kinds: dict, width):\n"
        "        super().__init__()\n"
        "        self.out = torch.nn.Linear(width, len(kinds))\n"
        "    def forward(self, inputs):\n"
        "        hidden, mask, *more = inputs\n"
        "        return self.out(hidden).masked_fill(mask.reshape(len(hidden), 1), 0)\n"
    )
    found, said = made(net)
    assert (found, said) == (
        {"Heads": "made-up inputs: inputs: hidden float32[2, 8], inputs: mask bool[2], width=8"},
        {},
    )


def test_a_word_that_the_error_names_is_tried() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import made_for_class

    class Pooled(torch.nn.Module):
        def __init__(self, pool) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            pools = ("sum", "mean")
            if pool not in pools:
                raise ValueError(f"pool should be 'mean' or 'sum', not {pool}")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    made = made_for_class("Pooled", Pooled)
    assert not isinstance(made, str)
    assert made.how.endswith("pool=mean")


def test_what_the_errors_in_building_ask_for_is_tried() -> None:
    """None where that is asked for, more elements, attributes of numbers and of None, a number for no configuration;
    several of these together."""
    import torch

    from pt2lint.dynamic.child.made_up import made_for_class

    class Optional(torch.nn.Module):
        def __init__(self, width, table, layer, dims, config=None) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            if table is not None:
                torch.from_numpy(table)
            self.layer = layer
            self.fast = config.fast
            self.first = torch.nn.Linear(width, dims % 100)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out, _ = self.layer(self.first(x))
            return out.relu()  # type: ignore[no-any-return]

    class Shaped(torch.nn.Module):
        def __init__(self, image, sizes, space) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            channels, height, width = image
            rows = sizes[1:][1] + len(space.shape) + channels + height
            self.first = torch.nn.Linear(width, rows)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.first(x)  # type: ignore[no-any-return]

    class Named(torch.nn.Module):
        def __init__(self, at: torch.Tensor | str, image_size=None, image_width=None, **options):  # type: ignore[no-untyped-def]
            super().__init__()
            assert isinstance(at, torch.Tensor)
            assert image_size is not None or image_width is not None, "either image_size or image_width"
            self.first = torch.nn.Linear(options.pop("in_width"), image_size)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.first(x)  # type: ignore[no-any-return]

    class Levels(torch.nn.Module):
        def __init__(self, hidden, net, channels=()) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            widths = [channels[0], *channels[1:]] + hidden  # noqa: RUF005 -- as people write it
            self.layers = torch.nn.ModuleList(torch.nn.Conv2d(each, 4, 1) for each in widths[:2])
            self.net, self.number = net.eval(), hidden[0]

        def forward(self, x):  # type: ignore[no-untyped-def]
            for i, layer in enumerate(self.layers):
                x[i] = torch.cat((layer(x[i]), x[i]), 1)
            return x

    class Graded(torch.nn.Module):
        def __init__(self, depth, sizes, heads, net) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            assert depth == len(heads) == len(sizes) - 1, "not as many"
            self.first, self.net = torch.nn.Linear(sizes[0], sizes[-1]), net

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(self.first(x))  # type: ignore[no-any-return]

    class Normed(torch.nn.Module):
        def __init__(self, normalized) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            normalized = (normalized,) if isinstance(normalized, int) else torch.Size(normalized)
            assert len(normalized) == 1
            self.weight = torch.nn.Parameter(torch.ones(normalized))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.weight * x

    for cls in (Optional, Shaped, Named, Levels, Graded, Normed):
        made = made_for_class(cls.__name__, cls)
        assert not isinstance(made, str), made


def test_functions_masks_and_numbers_that_the_errors_in_building_ask_for_are_tried() -> None:
    """A function that makes a layer, a module in place of a number, a mask of one dimension, one of bools, a tensor
    with methods, a number that a call asks for by name."""
    import torch

    from pt2lint.dynamic.child.made_up import made_for_class

    class Coupled(torch.nn.Module):
        def __init__(self, mask, net_create_fn, param_map) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            places = torch.arange(len(mask))
            self.register_buffer("first", places.masked_select(mask <= 0))
            self.register_buffer("rest", places.masked_select(mask > 0))
            self.net = net_create_fn(len(self.first), 2 * len(self.rest))  # type: ignore[arg-type]
            self.add_module("map", param_map)

        def forward(self, x: torch.Tensor, context=None) -> torch.Tensor:  # type: ignore[no-untyped-def]
            return self.map(self.net(x[:, self.first], context))  # type: ignore[no-any-return]

    class Scaled(torch.nn.Module):
        def __init__(self, b, adjacency: torch.Tensor, n_turns=None, tolerance=None) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            self.b, self.n_turns, self.tolerance = b.view(1, -1), n_turns, tolerance
            self.mask = ~adjacency

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.n_turns is None and self.tolerance is None:
                raise ValueError("Need one of n_turn or tolerance")
            return self.b * x * ~self.mask

    for cls in (Coupled, Scaled):
        made = made_for_class(cls.__name__, cls)
        assert not isinstance(made, str), made


def test_sizes_that_defaults_errors_and_what_stands_beside_say() -> None:
    """What comes in by default; a size that strides divide; pixels and one token more, and their mask; the shape that
    is said of another parameter, also with `x` between the sizes; a class of the project with attributes."""
    import torch

    from pt2lint.dynamic.child.made_up import Target, made_for_class

    class Heard(torch.nn.Module):
        def __init__(self, classes: int, input_dim: int = 80, num_layers: int = 40) -> None:
            super().__init__()
            self.conv, self.last = torch.nn.Conv2d(1, 16, 3, 2), torch.nn.Linear(16 * 39, 512)
            self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(num_layers))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            """inputs: of shape (batch, length, dimension)"""
            y = self.conv(inputs.unsqueeze(1)).transpose(1, 2).flatten(2)
            y = self.last(y)
            for layer in self.layers:
                y = layer(y)
            return y  # type: ignore[no-any-return]

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = torch.nn.Parameter(torch.zeros(50, 8))
            self.last = torch.nn.Linear(8, 4)

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            y = x.flatten(2).permute(2, 0, 1)
            y = torch.cat([y.mean(0, keepdim=True), y])
            rows = mask.flatten(1)
            assert rows.shape[1] == 49, f"expected mask.shape[1] to be 49, but got {rows.shape[1]}"
            return self.last(y + self.places[:, None]).sum(0)  # type: ignore[no-any-return]

    class Beside(torch.nn.Module):
        def __init__(self, n_vars: int) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(n_vars))

        def forward(self, z: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
            # z: [bs x nvars x seq_len x 2]
            b, n, length, _ = z.shape
            return (
                self.scale[:, None, None] * z
                + torch.cat([keys, keys.new_zeros(b, n, length, 2)], -1)[..., :2]
            )

    class Pixels(torch.nn.Module):
        def forward(self, nested: NestedOnes) -> torch.Tensor:  # type: ignore[name-defined] # noqa: F821
            return (nested.tensors * ~nested.mask).sum(-1)  # type: ignore[no-any-return]

    given = {}
    for cls in (Heard, Pooled, Beside, Pixels):
        made = made_for_class(cls.__name__, cls)
        assert isinstance(made, Target), made
        given[cls.__name__] = made.how
    assert "num_layers=2" in given["Heard"]
    assert "x float32[2, 8, 7, 7]" in given["Pooled"], given
    assert "z float32[2, 8, 5, 2], keys float32[2, 8, 5, 2]" in given["Beside"], given


def test_a_backward_that_is_written_is_asked_for(project: Project) -> None:
    path = project.write(
        "net.py",
        """
        import torch

        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @classmethod
            def backward(cls, ctx, grad):
                return grad * 2

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return Double.apply(x) + 1
        """,
    )
    result = project.verify(path, further=False)
    assert any(one.is_graph_break and one.verdict == "confirmed" for one in result.findings), result


def test_what_the_errors_of_a_call_ask_for_is_tried() -> None:
    """Another dtype; another height and width than those of what it is put together with; rows of a size; one row;
    another length of what is added; sizes that are asserted; a part of the width that several have."""
    import torch

    from pt2lint.dynamic.child.made_up import Target, made_for_class

    class Embeds(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.scale, self.table = torch.nn.Linear(width, width), torch.nn.Embedding(16, width)

        def forward(self, x: torch.Tensor, kind: torch.Tensor) -> torch.Tensor:
            return self.scale(x) + self.table(kind).sum(-2)  # type: ignore[no-any-return]

    class Up(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.mix, self.up = torch.nn.Conv2d(2 * width, 4, 3), torch.nn.Upsample(scale_factor=2)

        def forward(self, x: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
            return self.mix(torch.cat([x, self.up(below)], 1))  # type: ignore[no-any-return]

    class Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor, kind: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.cross_entropy(x.reshape(-1, 2, 7)[:, 0], kind)

    class One(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches, self.token = torch.nn.Conv2d(3, 8, 8, 8), torch.nn.Parameter(torch.zeros(1, 1, 8))

        def forward(self, image: torch.Tensor) -> torch.Tensor:
            return torch.cat([self.token, self.patches(image).flatten(2).mT], 1)

    class Series(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.values, self.times = torch.nn.Linear(3, 4), torch.nn.Linear(2, 4)

        def forward(self, x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
            y = self.values(x) + self.times(marks)
            return y.transpose(1, 2) @ torch.ones(24, 4)

    class Merged(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(4 * width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert x.shape[1] == 5
            return self.norm(torch.cat([x, x, x, x], -1))  # type: ignore[no-any-return]

    class Heads(torch.nn.Module):
        def forward(self, qkv: torch.Tensor) -> torch.Tensor:
            batch, width, length = qkv.shape
            assert width % (3 * 7) == 0, "no such width"
            return qkv.reshape(batch * 7, -1, length)

    class Sized(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.size, self.layer = (24, 48), torch.nn.Conv2d(3, 4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            _, _, height, width = x.shape
            assert height == self.size[0] and width == self.size[1]  # noqa: PT018 -- as people write it
            return self.layer(x)  # type: ignore[no-any-return]

    class Slope(torch.nn.Module):
        def forward(self, positions: torch.Tensor) -> torch.Tensor:
            energy = positions.requires_grad_().square().sum()
            return torch.autograd.grad(energy, positions)[0]

    class Joined(torch.nn.Module):
        def forward(self, *parts: torch.Tensor) -> torch.Tensor:
            return torch.cat(parts, 1)

    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.LSTM(8, 6), torch.nn.LSTM(6, 4)])

        def forward(self, x: torch.Tensor, hidden) -> torch.Tensor:  # type: ignore[no-untyped-def]
            for number, layer in enumerate(self.layers):
                x, _ = layer(x, hidden[number])
            return x

    class Turned(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 12)

        def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
            heads = self.layer(x).unflatten(-1, (2, 6)).transpose(1, 2)
            return heads * cos[: x.shape[1]][None, None] + heads.flip(-1) * sin[: x.shape[1]][None, None]

    class Padded(torch.nn.Module):
        def __init__(self, width: int, padding) -> None:  # type: ignore[no-untyped-def]
            super().__init__()
            self.padding, self.layer = padding, torch.nn.Conv1d(width, width, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(torch.nn.functional.pad(x, self.padding))  # type: ignore[no-any-return]

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            first, second = torch.nn.Conv3d(1, 4, (1, 6, 6)), torch.nn.Conv3d(4, 4, (1, 9, 9))
            self.layers = torch.nn.Sequential(first, torch.nn.MaxPool3d((1, 4, 4)), second)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layers(x)  # type: ignore[no-any-return]

    class Attends(torch.nn.Module):
        def forward(self, queries, keys, values, mask):  # type: ignore[no-untyped-def]
            _, _, _, _ = queries.shape
            _, _rows, _, _ = values.shape
            scores = torch.einsum("blhe,bshe->bhls", queries, keys)
            if mask is not None:
                scores.masked_fill_(mask.mask, -1)
            return torch.einsum("bhls,bshd->blhd", scores, values)

    class Windows(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(width)

        def forward(self, x, H, W):  # type: ignore[no-untyped-def]
            batch, length, width = x.shape
            assert length == H * W, "input feature has wrong size"
            return self.norm(x).view(batch, H // 2, 2, W // 2, 2, width).sum((2, 4))

    class Connects(torch.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(width, width)

        def forward(self, x, matrix):  # type: ignore[no-untyped-def]
            wanted = (len(x), len(x))
            if matrix.shape != wanted:
                raise ValueError(f"Expected a matrix with shape={wanted}, got shape={matrix.shape}.")
            return matrix @ self.layer(x)

    more = (Padded, Pooled, Attends, Windows, Connects)
    for cls in (*more, Slope, Joined, Layers, Turned, Embeds, Up, Rows, Series, Merged, Heads, Sized, One):
        made = made_for_class(cls.__name__, cls)
        assert not isinstance(made, str), made
    assert isinstance(made, Target)
    assert made.calls[0][0][0].shape[0] == 1


def test_values_between_zero_and_one_are_tried_where_an_error_is_about_values() -> None:
    import torch

    from pt2lint.dynamic.child.made_up import Target, made_for

    class OutsideDomain(Exception):
        pass

    def spline(x: torch.Tensor, widths: torch.Tensor) -> torch.Tensor:
        if torch.min(x) < 0 or torch.max(x) > 1:
            raise OutsideDomain
        return x[..., None] * widths.softmax(-1)

    def quality(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for t in (x, y):
            assert t.min() >= 0, f"Expected values to be greater or equal to 0, got {t.min()}"
            assert t.max() <= 1, f"Expected values to be lower or equal to 1, got {t.max()}"
        return (x - y).square().mean()

    for function in (spline, quality):
        made = made_for(function.__name__, function)
        assert isinstance(made, Target), made
        x = made.calls[0][0][0]
        assert x.is_floating_point()
        assert 0 <= x.min() < x.max() <= 1


def test_the_tensors_of_a_list_are_made_as_errors_ask() -> None:
    """Each has a shape of its own, and there are as many as are wanted."""
    import torch
    from torch import nn

    from pt2lint.dynamic.child.made_up import made_for_class

    class Neck(nn.Module):
        def __init__(self, in_channels: Any = (8, 16, 32)) -> None:
            super().__init__()
            self.laterals = nn.ModuleList([nn.Conv2d(each, 8, 1) for each in in_channels])

        def forward(self, feats):  # type: ignore[no-untyped-def]
            return [lateral(each) for lateral, each in zip(self.laterals, feats, strict=True)]

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.low, self.high = nn.Linear(6, 4), nn.Linear(10, 4)

        def forward(self, features: list[torch.Tensor]) -> torch.Tensor:
            low, middle, high = features
            return torch.as_tensor(self.low(low) + self.high(high) + middle.mean())

    found = {cls.__name__: made_for_class(cls.__name__, cls) for cls in (Neck, Head)}
    assert {name: each if isinstance(each, str) else each.how for name, each in found.items()} == {
        "Neck": "made-up inputs: feats [float32[2, 8, 32, 32], float32[2, 16, 32, 32], float32[2, 32, 32, 32]]",
        "Head": "made-up inputs: features [float32[2, 6], float32[2, 6], float32[2, 10]]",
    }


def test_the_sizes_that_an_assertion_compares() -> None:
    from pt2lint.dynamic.child.asserted import sizes_asserted

    called: list[int] = []

    def calls() -> int:
        called.append(1)
        return 3

    def fails(rows: list[int], shape: tuple[int, ...], heads: int) -> Iterator[list[tuple[int, int]]]:
        for number in range(6):
            try:
                if number == 0:
                    assert len(rows) == 3
                elif number == 1:
                    assert shape == (2, 0)
                elif number == 2:
                    assert (  # noqa: PT018 -- as people write it
                        shape[0] == 4  # in several lines
                        and shape[-1] % heads == 0
                    )
                elif number == 3:
                    assert len(called) + calls() == 7  # computing it again would do more
                elif number == 4:
                    assert rows == [1, 2]
                else:
                    assert heads == len(rows) == len(shape) - 1
            except AssertionError as error:
                yield sizes_asserted(error)

    assert [*fails([1], (2, 5), 4)] == [[(1, 3)], [(5, 0)], [(2, 4), (5, 8)], [], [], [(4, 1)]]
    assert called == [1]
    assert sizes_asserted(ValueError("no assertion")) == []


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (
            "Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [2, 1, 5, 8]",
            (2, 5, 8),
        ),
        ("expected 4D input (got 5D input)", (2, 5, 8)),
        ("not enough values to unpack (expected 6, got 4)", (2, 2, 5, 8, 2, 2)),
        (
            "einsum(): the number of subscripts in the equation (4) does not match the number of dimensions (3) for "
            "operand 0",
            (2, 5, 2, 5, 8),
        ),
    ],
)
def test_an_error_about_the_number_of_dimensions_asks_for_another(
    error: str, wanted: tuple[int, ...]
) -> None:
    from pt2lint.dynamic.child.lessons import mended
    from pt2lint.dynamic.child.trouble import Trouble

    assert wanted in mended((2, 2, 5, 8), Trouble(error))


def test_an_error_that_is_cut_off_asks_for_nothing() -> None:
    from pt2lint.dynamic.child.lessons import sizes_in
    from pt2lint.dynamic.child.trouble import Trouble

    text = (
        "Attempting to broadcast a dimension of length 28 at -1! Mismatching argument at index 1 had "
        "torch.Size([2, 16, 28]); but expected shape should be broadcastable to [2, 16, 8]"
    )
    assert sizes_in(Trouble(text)) == (28, 8)
    assert sizes_in(Trouble(text[:-5])) is None  # "[2, "


def test_what_torch_keeps_of_the_eager_run_refutes_nothing(project: Project) -> None:
    path = project.write(
        "divergence.py",
        """
        import torch
        from torch.distributions import Normal, kl_divergence

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x + kl_divergence(Normal(x, x.exp()), Normal(x * 2, x.exp())).sum()  # HERE
        """,
    )
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]


def test_what_the_project_calls_itself_with_is_not_made_up(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = """
        import torch

        class Pairs(torch.nn.Module):
            def __init__(self, kind: str, levels, width: int):
                super().__init__()
                if kind != "so" or len(levels) < 3:
                    raise ValueError("no such thing")
                self.layer = torch.nn.Linear(width, levels[-1])

            def forward(self, x, axes):
                if x.dim() != 5 or x.shape[1] != 3 or axes.shape != x.shape[:1]:
                    raise ValueError("x must have five dimensions")
                return self.layer(x).sum() + axes.sum()

        class Scaled(torch.nn.Module):
            def __init__(self, kind: str, width: int):
                super().__init__()
                self.layer = torch.nn.Linear(width, width)

            def forward(self, x):
                return self.layer(x)

        def joined(x: torch.Tensor, n: int):
            if x.shape != (7, n):
                raise ValueError("no rows")
            return x * 2

        def show():
            print(joined(torch.zeros(7, 3), 3))
    """
    test = """
        import pytest
        import torch
        from nets.net import Pairs, Scaled
        from other import Pairs as Other

        LEVELS = (4, 8, 16)

        def test_it_asks_for_five():
            pairs = Pairs("so", LEVELS, 6)
            with pytest.raises(ValueError):
                pairs(torch.randn(2, 3), torch.zeros(2))

        @pytest.mark.parametrize("width, mean", [(6, True), (8, False)])
        def test_pairs(width, mean):
            pairs = Pairs("so", LEVELS, width=width).to("cpu").eval()
            x, axes = torch.randn(2, 3, 2, 4, width, device="cpu"), torch.tensor([0, 1]) > 0
            assert pairs(x, axes).shape == ()

        def test_other():
            assert Other("so", 1, 2)
            assert Scaled("word", read("width"))
    """
    (tmp_path / "nets").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "nets" / "net.py").write_text(textwrap.dedent(net))
    (tmp_path / "tests" / "test_pairs.py").write_text(textwrap.dedent(test))
    monkeypatch.chdir(tmp_path)
    how, said = made("nets/net.py")
    assert said == {}
    assert how["Pairs"] == "made-up inputs: as tests/test_pairs.py:16 calls it"
    assert how["Scaled"] == "made-up inputs: x float32[2, 8], kind=word, width=8"
    assert how["joined"] == "made-up inputs: as nets/net.py:30 calls it"


def test_models_that_people_write_are_built_and_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in one of the ways that keep such a model from being run where its sizes and words are not found."""
    net = """
        import enum
        from dataclasses import dataclass
        from typing import Optional

        import torch
        from torch import nn

        @dataclass
        class Sizes:
            vocabulary: int = 32000
            n_embd: int = 4096
            n_layer: int = 32
            padded: Optional[int] = None

            def __post_init__(self):
                if self.padded is None:
                    self.padded = self.vocabulary * 2

        class Large(nn.Module):  # given its sizes by the project's own program, they are taken small
            def __init__(self, config: Sizes):
                super().__init__()
                self.embed = nn.Embedding(config.padded, config.n_embd)
                self.layers = nn.ModuleList(nn.Linear(config.n_embd, config.n_embd) for _ in range(config.n_layer))

            def forward(self, idx):
                x = self.embed(idx)
                for layer in self.layers:
                    x = layer(x)
                return x

        @dataclass
        class Game:
            width: int
            num_actions: Optional[int] = None

        @dataclass
        class Agent:
            game: Game

        class Acts(nn.Module):  # a field that is None until something else sets it
            def __init__(self, agent: Agent):
                super().__init__()
                self.layer = nn.Linear(agent.game.width, agent.game.num_actions)

            def forward(self, x):
                return self.layer(x)

        class Dropped(nn.Module):  # a number that is None by default
            def __init__(self, drop_prob: float = None):
                super().__init__()
                self.drop_prob = drop_prob

            def forward(self, x):
                return dropped(x, self.drop_prob)

        def dropped(x, drop_prob):
            return x * (1 - drop_prob)

        class Kind(enum.Enum):
            FIRST = "first"
            LAST = "last"

        class Configured(nn.Module):  # parts of a configuration, its words, an enumeration, a dtype
            def __init__(self, config):
                super().__init__()
                self.order = config.model.moe_order
                self.kind = Kind(config.model.kind)
                width = {"small": 8, "large": 1024}[config.size]
                self.layer = nn.Linear(width, width + config.model.get("more", 0), dtype=config.dtype)

            def forward(self, x):
                if self.order == "forwards":
                    return self.layer(x)
                raise ValueError("no such order")

        class Grid(nn.Module):  # two numbers, which another method takes apart
            def __init__(self, resolution, dim):
                super().__init__()
                self.resolution = resolution
                self.layer = nn.Linear(dim, dim)

            def forward(self, x):
                height, width = self.resolution
                assert x.shape[1] == height * width
                return self.layer(x)

        class Windows(nn.Module):  # an image that its windows divide
            def __init__(self, image_size, window=7):
                super().__init__()
                self.size, self.window, self.layer = image_size, window, nn.Conv2d(3, 4, 1)

            def forward(self, x):
                assert x.shape[-1] == self.size
                x, n = self.layer(x), self.size // self.window
                return x.reshape(x.shape[0], 4, n, self.window, n, self.window).mean((3, 5))

        class Block(nn.Module):
            def __init__(self, channels, dilation):
                super().__init__()
                self.layers = nn.ModuleList(
                    nn.Conv1d(channels, channels, 3, padding=dilation[i], dilation=dilation[i]) for i in range(3)
                )

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        class Stages(nn.Module):  # the numbers of each of several stages
            def __init__(self, dilation_sizes, upsample_rates):
                super().__init__()
                self.ups = nn.ModuleList(nn.ConvTranspose1d(4, 4, 2 * u, u, u // 2) for u in upsample_rates)
                self.blocks = nn.ModuleList(Block(4, each) for each in dilation_sizes)

            def forward(self, x):
                for up, block in zip(self.ups, self.blocks):
                    x = block(up(x))
                return x

        class Around(nn.Module):  # what it hands on to another constructor, which goes over it
            def __init__(self, dilation_sizes, upsample_rates, name):
                super().__init__()
                self.decoder = Stages(dilation_sizes, upsample_rates)

            def forward(self, x):
                return self.decoder(x)

        class Rotary(nn.Module):  # numbers of which it asserts that they are one, or divide one another
            def __init__(self, head_size, rotary_dim, channels, head_channels):
                super().__init__()
                assert head_size == rotary_dim
                assert channels % head_channels == 0
                self.layer = nn.Linear(channels, rotary_dim)

            def forward(self, x):
                return self.layer(x)

        class Conditional(nn.Module):  # a dictionary that may be empty
            def __init__(self, dim):
                super().__init__()
                self.layer, self.embed = nn.Linear(dim, dim), None

            def forward(self, x, extra):
                if "label" in extra:
                    x = x + self.embed(extra["label"])
                return self.layer(x) * extra.get("scale", 1)

        class Looked(nn.Module):  # indices, whatever they are called, and lengths that may be left out
            def __init__(self, dim):
                super().__init__()
                self.first, self.embed = nn.Conv1d(dim, dim, 1), nn.Embedding(10, dim)

            def forward(self, x, lengths=None):
                x, longest = self.embed(x), lengths.max()
                return self.first(x.mT) * (torch.arange(x.shape[1]) < longest)

        class Wanted(nn.Module):  # what it does not say has to be given
            def __init__(self, width=None, flat: bool = None):
                super().__init__()
                assert width is not None
                assert flat is not None
                self.first = nn.Linear(width, width)

            def forward(self, x):
                return self.first(x)

        class Written(nn.Module):  # what a file of the project says of its parameters
            def __init__(self, depths, kernel_sizes, path):
                super().__init__()
                if len(depths) != 3 or [*map(len, kernel_sizes)] != [1, 2, 3] or path != "here":
                    raise ValueError("no such network")
                self.layer = nn.Linear(4, sum(depths))

            def forward(self, x):
                return self.layer(x)

        def constant(max_scale: float, min_scale: float, x: torch.Tensor):
            return x * (1 / (max_scale - min_scale))
    """
    program = """
        from net import Large, Sizes

        config = Sizes(n_embd=8192)
        model = Large(config)
    """
    (tmp_path / "net.py").write_text(textwrap.dedent(net))
    (tmp_path / "train.py").write_text(textwrap.dedent(program))
    (tmp_path / "small.json").write_text(
        '{"depths": [1, 2, 4], "kernel_sizes": [[1], [1, 3], [1, 3, 5]], "path": "here"}'
    )
    monkeypatch.chdir(tmp_path)
    how, said = made("net.py")
    assert said == {}
    assert len(how) == 15
    assert how["Grid"].startswith("made-up inputs: x float32[2, 1024, 8]")
    assert how["Looked"].startswith("made-up inputs: x int64[2, 5], lengths ")
    assert how["Conditional"] == "made-up inputs: x float32[2, 8], extra {}, dim=8"


def test_a_search_is_not_done_again_for_what_is_built_in_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    from pt2lint.dynamic.child import made_up

    class Never(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("no")

    searched: list[str] = []
    monkeypatch.setattr(made_up, "made_for", lambda name, *_: searched.append(name) or "no call of it ran")
    assert made_up.made_for_class("Never", Never) == "no call of it ran"
    assert searched == ["Never"]


def test_tables_that_a_file_makes_of_a_missing_package_stop_nothing(project: Project) -> None:
    text = """
        import torch
        from not_there import address

        def address_of(name):
            return address("weights", name)

        WEIGHTS = {"net": address_of("net.pt")}

        class Net(torch.nn.Module):
            def forward(self, x):
                print(x.shape)  # HERE
                return x + 1

        def fetched(x: torch.Tensor):
            return x, address_of("x")
    """
    result = project.verify(project.write("net.py", text), further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert any("fetched (no call of it ran, the nearest raised NotInstalled" in n for n in result.notes)


def test_what_the_project_writes_down_elsewhere_is_found(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Class attributes, defaults of the command line, a configuration made there, a dictionary written in part."""
    net = """
        import dataclasses
        import torch

        @dataclasses.dataclass
        class Settings:
            width: int
            kinds: tuple = ("a", "b", "c")

        class OfSettings(torch.nn.Module):
            def __init__(self, said):
                super().__init__()
                self.layer = torch.nn.Linear({"a": 1, "c": 7}[said.kinds[2]], said.width)

            def forward(self, x):
                if x.dim() != 4:
                    raise ValueError("images")
                return self.layer(x)

        class OfClass(torch.nn.Module):
            def __init__(self, sizes, kind):
                super().__init__()
                if kind != "wide" or sum(sizes) != 12:
                    raise ValueError("no such thing")
                self.layer = torch.nn.Linear(sizes[0], 2)

            def forward(self, x):
                return self.layer(x)

        class OfWords(torch.nn.Module):
            def __init__(self, config):
                super().__init__()
                first, second = config["sides"]
                self.layers = [torch.nn.Linear(first * second, size) for size in config["sizes"]]
                self.last = torch.nn.Linear(3, config["width"])

            def forward(self, x):
                return self.layers[0](x)
    """
    train = """
        import argparse
        import torch
        from nets_written.net import OfClass, OfSettings, OfWords, Settings
        from elsewhere import where, unknown

        class Config:
            sizes = (3, 4, 5)

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--net-kind", default="wide")
            args = parser.parse_args()
            config = Config()
            net = OfClass(config.sizes, args.net_kind)
            net(torch.zeros(2, 3))

        def other(size=8):
            OfSettings(Settings(width=size))(torch.zeros(1, 1, 2, 7))

        config = {
            "sides": (2, 3), "sizes": [4, 5], "width": where(),
            "device": unknown if torch.cuda.is_available() else "cpu",
        }
        net = OfWords(config)
    """
    folder = tmp_path / "nets_written"
    folder.mkdir()
    (folder / "net.py").write_text(textwrap.dedent(net))
    (tmp_path / "train.py").write_text(textwrap.dedent(train))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found, said = made(folder / "net.py")
    assert said == {}
    assert found["OfClass"] == "made-up inputs: as train.py:15 calls it"
    assert found["OfSettings"] == "made-up inputs: as train.py:19 calls it"
    assert "'sides': (2, 3), 'sizes': [4, 5], 'device': 'cpu', 'width': 8" in found["OfWords"]


def test_what_may_be_none_a_list_and_sizes_of_one_name(tmp_path: Any) -> None:
    (tmp_path / "nones_made_up.py").write_text(
        "import torch\nfrom torch import nn\n"
        "class Losses(nn.Module):\n"
        "    def __init__(self, loss):\n"
        "        super().__init__()\n"
        "        self.loss = loss\n"
        "    def forward(self, x, y):\n"
        "        assert isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)), 'not several'\n"
        "        return self.loss(x[1], y[1])\n"
        "class Weighed(nn.Module):\n"
        "    def forward(self, x: torch.Tensor, *, masks: 'dict[float, torch.Tensor] | None'):\n"
        "        return x if masks is None else masks[0.5] * x\n"
        "class Attends(nn.Module):\n"
        "    def __init__(self, d_model: int):\n"
        "        super().__init__()\n"
        "        self.attention = nn.MultiheadAttention(d_model, 2)\n"
        "    def forward(self, src, src_mask):\n"
        '        """src (Tensor): of shape [seq_len, batch_size, d_model].\n'
        '        src_mask (Tensor): of shape [seq_len, seq_len]."""\n'
        "        return self.attention(src, src, src, attn_mask=src_mask)[0]\n"
    )
    found, said = made(tmp_path / "nones_made_up.py")
    assert said == {}
    assert found["Losses"].startswith("made-up inputs: x [float32[2, 8], float32[2, 8]], y [int64[2, 5], ")
    assert found["Weighed"].endswith(", masks None")
    assert found["Attends"].startswith("made-up inputs: src float32[2, 5, 8], src_mask bool[2, 2], ")
