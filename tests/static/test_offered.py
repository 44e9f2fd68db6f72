"""What a package offers beside its models: functions that are kept out of graphs, those that functions make, and
what says that a file lies in a package."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.finding import UNCALLED, Finding
from pt2lint.static.engine import lint
from tests import forked

HEAD = "import functools\nimport torch\nfrom torch import nn\n\n"


def linted(tmp_path: Path, code: str, place: str = "package/m.py", **others: str) -> list[Finding]:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package").mkdir(exist_ok=True)
    (tmp_path / "package" / "__init__.py").touch()
    for name, text in others.items():
        (tmp_path / "package" / f"{name}.py").write_text(HEAD + text)
    path.write_text(HEAD + code)
    return lint([str(path)]).findings


def told(findings: list[Finding]) -> list[tuple[str, int, str]]:
    """Of each finding, the code, the line below the head, and why it is a note."""
    return [(f.code, f.line - HEAD.count("\n"), f.note) for f in findings]


DISABLED = {
    "a function": "@torch.compiler.disable\ndef gather(x: torch.Tensor):\n    return x + 1\n",
    "called": "@torch._dynamo.disable()\ndef gather(x: torch.Tensor):\n    return x + 1\n",
    "not what it calls": "@torch.compiler.disable(recursive=False)\ndef gather(x):\n    return x.unsqueeze(0)\n",
    "a class method": "class Q:\n    @classmethod\n    @torch.compiler.disable\n"
    "    def make(cls, x: torch.Tensor):\n        return x + 1\ngather = Q.make\n",
    "a static method": "class Q:\n    @staticmethod\n    @torch.compiler.disable\n"
    "    def make(x: torch.Tensor):\n        return x + 1\ngather = Q.make\n",
    "under another": "class Q(nn.Module):\n    @torch.inference_mode(mode=False)\n    @torch.compiler.disable\n"
    "    def forward(self, rows):\n        return rows + 1\ngather = Q()\n",
    "by a helper": "def eager(fn):\n    return torch.compiler.disable(fn)\n"
    "@eager\ndef gather(x: torch.Tensor):\n    return x + 1\n",
}


@pytest.mark.parametrize("form", DISABLED)
def test_what_is_kept_out_of_graphs_is_a_note_where_it_is(tmp_path: Path, form: str) -> None:
    (finding,) = linted(tmp_path, DISABLED[form])
    assert (finding.code, finding.severity, finding.note) == ("PTB183", "note", UNCALLED)
    line = (HEAD + DISABLED[form]).splitlines()[finding.line - 1]
    assert line.strip().startswith(("@torch.compiler.disable", "@torch._dynamo.disable", "@eager"))


def test_dynamo_ends_the_graph_at_each_call_of_it(tmp_path: Path) -> None:
    run = (
        "import sys, torch\nfor code in sys.argv[1:]:\n    space = {}\n    exec(code, space)\n"
        "    gather = space['gather']\n    f = lambda x: gather(torch.relu(x)) * 2\n"
        "    torch._dynamo.reset()\n    print(torch._dynamo.explain(f)(torch.ones(2)).graph_break_count)\n"
    )
    path = tmp_path / "run.py"
    path.write_text(run)
    codes = [HEAD + code for code in DISABLED.values()]
    out = forked.run(path, *codes)
    assert out.stdout.split() == ["1"] * len(DISABLED)


def test_it_is_told_once_at_its_call_where_that_is_in_sight(tmp_path: Path) -> None:
    code = DISABLED["a function"] + "def use(x: torch.Tensor):\n    return gather(x) * 2\n"
    assert told(linted(tmp_path, code)) == [("PTB183", 5, UNCALLED)]


@pytest.mark.parametrize(
    "code",
    [
        "@torch.compiler.disable\ndef load(path: str):\n    return open(path).read()\n",
        "def gather(x: torch.Tensor):\n    return x + 1\n",
        "@torch.no_grad()\ndef gather(x: torch.Tensor):\n    return x + 1\n",
    ],
)
def test_of_what_is_given_no_tensors_or_stays_in_graphs_nothing_is_said(tmp_path: Path, code: str) -> None:
    assert linted(tmp_path, code) == []


def test_in_a_script_only_its_calls_count(tmp_path: Path) -> None:
    assert linted(tmp_path, DISABLED["a function"], "script.py") == []


FACTORY = """
def attention_for(config, *, soft=None):
    {before}
    def attend(q: torch.Tensor, k: torch.Tensor):
        if (q @ k).sum() > 0:
            return q
        return k
    {after}
"""


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", "return attend", True),
        ("scale = config.scale", "return attend if config else None", False),
        ("if soft is not None:\n        return soft", "return attend", True),
        ("", "return 3", False),
    ],
)
def test_what_a_function_makes_and_returns(tmp_path: Path, before: str, after: str, found: bool) -> None:
    rows = told(linted(tmp_path, FACTORY.format(before=before, after=after)))
    assert [(code, note) for code, _, note in rows] == [("PTB110", UNCALLED)] * found


def test_what_a_model_calls_counts_in_full(tmp_path: Path) -> None:
    code = FACTORY.format(before="", after="return attend") + (
        "class M(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.layer = nn.Linear(2, 2)\n        self.attend = attention_for(config)\n\n"
        "    def forward(self, x: torch.Tensor):\n        return self.layer(self.attend(x, x)) * 2\n"
    )
    assert UNCALLED not in [note for _, _, note in told(linted(tmp_path, code))]


READS = "def grid(x, sizes):\n    a, b = x.split([1, 2], dim={dim})\n    return a * sizes[0].tolist()[0]\n"


@pytest.mark.parametrize(("dim", "found"), [("1", True), ("-1", True), ("'rows'", False), ("rows", False)])
def test_a_number_for_dim_tells_a_tensor(tmp_path: Path, dim: str, found: bool) -> None:
    rows = told(linted(tmp_path, READS.format(dim=dim)))
    assert [code for code, _, _ in rows] == ["PTB105"] * found


ABOVE = "{line}\n" + READS.format(dim=1)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from package.settings import *", True),
        ("import package.settings as settings", True),
        ("from other.settings import *", False),
        ("import torch", False),
    ],
)
def test_a_package_may_have_folders_without_an_init(tmp_path: Path, line: str, found: bool) -> None:
    rows = told(linted(tmp_path, ABOVE.format(line=line), "package/models/wan/m.py"))
    assert [code for code, _, _ in rows] == ["PTB105"] * found


def test_a_package_may_be_its_init_alone(tmp_path: Path) -> None:
    rows = told(linted(tmp_path, ABOVE.format(line=""), "alone/__init__.py"))
    assert [code for code, _, _ in rows] == ["PTB105"]


BOXES = """
import cv2

class Boxes:
    def __call__(self, maps):
        return [self.of_one(one) for one in maps]

    def of_one(self, one):
        return cv2.findContours(one, 0, 0)[0]

def plain(x):
    return x + 1
"""
CALLS = """
from package.boxes import Boxes, plain

class Model(nn.Module):
    def __init__(self, exportable=False):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.boxes = Boxes()

    def forward(self, x: torch.Tensor, target=None):
        x = plain(self.layer(x))
        if target is None:
            return self.boxes(x.detach().cpu().numpy())
        return x
"""


def test_what_a_file_that_is_not_linted_gives_to_a_library_is_told_at_the_call(tmp_path: Path) -> None:
    (finding,) = linted(tmp_path, CALLS, boxes=BOXES)
    assert (finding.code, finding.when) == ("PTB185", ("target is None",))
    assert "`cv2.findContours` is called" in finding.message
    assert not finding.fixes
    both = lint([str(tmp_path / "package" / f"{name}.py") for name in ("m", "boxes")]).findings
    assert [Path(f.path).name for f in both if f.code == "PTB185"] == ["boxes.py"]
