"""What `--fix` writes works, and reads as the file does: each class of fix that once did not, from the file to the
fixed file."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch

from pt2lint.check import check
from pt2lint.finding import Edit, Finding
from pt2lint.fixes.edit import apply_edits, choose
from pt2lint.fixes.file import File
from pt2lint.fixes.layout import broken
from pt2lint.fixes.rounds import fix_findings
from pt2lint.project.config import Configs, Settings
from pt2lint.static.engine import lint
from tests.fixes.lab import load

HERE = Settings(target_torch=(2, 13))
START = '\n\nif __name__ == "__main__":\n    print(1)\n'


def findings(path: Path, text: str) -> list[Finding]:
    return list(lint([str(path)], HERE, {str(path): text}).findings)


def fixed(folder: Path, text: str, name: str = "m.py") -> str:
    """The text with all fixes that `--fix --unsafe-fixes --notes` writes."""
    path = folder / name
    path.write_text(text)

    def again(texts: Mapping[str, str], only: str | None) -> list[Finding]:
        return [one for at, new in texts.items() for one in findings(Path(at), new)]

    done = fix_findings(findings(path, text), "unsafe", relint=again, notes=True)
    assert not done.refused
    new = done.texts[str(path)][1] if done.texts else text
    twice = fix_findings(findings(path, new), "unsafe", relint=again, notes=True)
    assert not twice.texts
    return new


def tried(folder: Path, text: str) -> str:
    """The text with what `--verify` tries first."""
    path = folder / "m.py"
    path.write_text(text)
    return apply_edits(text, choose(findings(path, text), "unsafe", to_prove=True).edits.get(str(path), ()))


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "m"}
    exec(compile(text, "m.py", "exec"), names)
    return names


READS = """

class M({module}):
    def forward(self, x):
        return self.take(x, x.sum().item())

    def take(self, x, count):
        if x.sum() > 0:
            print("a tensor", x, sep="")
        return x * count
"""


@pytest.mark.parametrize(
    "head",
    [
        "from torch import nn",
        "import torch.nn as nn",
        "from typing import TYPE_CHECKING\n\nfrom torch import nn\n\nif TYPE_CHECKING:\n    import torch",
        "try:\n    import torch\n    from torch import nn\nexcept ImportError:\n    torch = None",
        "import sys\n\nfrom torch import nn\n\nif sys.version_info > (3,):\n    import torch",
        "from torch import nn\n\nVERSION = 1\n\nimport torch",
    ],
)
@pytest.mark.parametrize("start", ["", START])
def test_what_runs_at_import_finds_torch(tmp_path: Path, head: str, start: str) -> None:
    text = head + "\n" + READS.format(module="nn.Module") + start
    new = fixed(tmp_path, text)
    run(new)["M"]()(torch.ones(2))


WARNS = """import logging
import time
import warnings
{torch}
logger = logging.getLogger(__name__)


class M({module}):
    def forward(self, x):
        warnings.warn("old", FutureWarning{level})
        logger.warning("old", stacklevel=1)
        return x + 1
"""


@pytest.mark.parametrize(
    ("imports", "module"), [("import torch", "torch.nn.Module"), ("from torch import nn", "nn.Module")]
)
@pytest.mark.parametrize("level", ["", ", stacklevel=1", ", stacklevel=2", ", None, 2"])
def test_a_message_names_the_line_it_named(
    tmp_path: Path, imports: str, module: str, level: str, log_records: list[logging.LogRecord]
) -> None:
    text = WARNS.format(torch=f"\n{imports}\n", module=module, level=level)
    if level == ", None, 2":
        text = text.replace("FutureWarning, None", "FutureWarning")
    seen = []
    for code in (text, tried(tmp_path, text)):
        log_records.clear()
        source = code + "\n\ndef call():\n    return M()(1)\n"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(source)["call"]()
        places = [source.split("\n")[one.lineno - 1].strip() for one in caught if one.filename == "m.py"]
        lines = [source.split("\n")[record.lineno - 1].strip() for record in log_records]
        seen.append([one.replace("_warnings_warn_while_tracing", "warnings.warn") for one in places])
        seen[-1] += [one.replace("_logger_warning_while_tracing", "logger.warning") for one in lines]
    assert seen[0] == seen[1]
    assert "_while_tracing" in code or level == ", None, 2"


def test_super_stays_in_its_method(tmp_path: Path) -> None:
    text = """import torch


class A(torch.nn.Module):
    def step(self, x):
        return x + 1


class M(A):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            x = super().step(x)
        else:
            x = x @ x
        y = super().step(x) if x.max() > 0 else x @ x
        return x + y
"""
    x = torch.ones(2, 2)
    new = run(fixed(tmp_path, text))
    assert torch.equal(new["M"]()(x), run(text)["M"]()(x))


def test_what_is_a_bool_on_the_usual_path_is_left(tmp_path: Path) -> None:
    text = """import torch


def check(ok, message):
    if not ok:
        raise ValueError(message)


def demand(ok):
    if not ok:
        raise ValueError("no")


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        check(x.dim() == 2, "no matrix")
        demand(x.dim() == 2)
        demand((x > 0).all())
        assert_this = x.dim() == 2 or (x > 0).all()
        if not assert_this:
            raise ValueError("no")
        return x + 1
"""
    run(fixed(tmp_path, text))["M"]()(torch.ones(2, 2))


def test_numbers_of_a_configuration_are_no_tensors(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x: torch.Tensor):
        scale = self.config["scale"]
        if x.sum() > 0:
            scale = x.max() @ x if x.dim() > 5 else self.config["other"]
        return x * scale
"""
    x = torch.ones(2)
    config = {"scale": 2.0, "other": 3.0}
    new = run(fixed(tmp_path, text))
    for one in (x, -x):
        assert torch.equal(new["M"](config)(one), run(text)["M"](config)(one))


def test_an_index_of_several_elements_stays(tmp_path: Path) -> None:
    text = """import torch


def f(x: torch.Tensor, k: torch.Tensor):
    first = torch.argmax(x)
    return x[k], x[:, x.argmax(0)], x.flatten()[first], x[k.sum()]


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, k: torch.Tensor):
        return f(x, k)
"""
    x, k = torch.randn(3, 3), torch.tensor([0, 1])
    old, new = run(text)["M"]()(x, k), run(fixed(tmp_path, text))["M"]()(x, k)
    assert all(torch.equal(a, b) for a, b in zip(old, new, strict=True))


def test_what_is_flat_is_not_flattened(tmp_path: Path) -> None:
    text = """import torch
import torch.nn.functional as F


class M(torch.nn.Module):
    def forward(self, logits: torch.Tensor, labels: torch.Tensor):
        logits = logits.view(-1, 4)
        labels = labels.view(-1)
        keep = labels != 7
        return F.cross_entropy(logits[keep], labels[keep])
"""
    new = fixed(tmp_path, text)
    assert "    return F.cross_entropy(logits, torch.where(keep, labels, -100))\n" in new
    given = torch.randn(2, 3, 4), torch.tensor([[1, 7, 3], [0, 2, 7]])
    torch.testing.assert_close(run(new)["M"]()(*given), run(text)["M"]()(*given))


@pytest.mark.parametrize(
    "body",
    [
        "m = x != 7\n        if not m[-1]:\n            m[-1] = 1\n        return m * x",
        "m = x.sum() > 1\n        m = m if m else torch.tensor(False)\n        return m * x",
        "while x.numel() > 1:\n            k = torch.argmin(x)\n            y = y + x[k]\n            "
        "x = x[x > x.min()]\n        return y",
        "while x.sum() > 1:\n            y = y + x[torch.argmax(x)]\n            x = x - 1\n        return y",
        "return x + min({1: x, 2: x + 1}.items(), key=lambda pair: pair[0])[1]",
        "import cv2\n        far = cv2.distanceTransform(x.numpy(), 1, 0)\n        far = far[1:-1, 1:-1].reshape(-1)\n"
        "        y[0] = int(far[x.argmax()] > 3)\n        return y",
    ],
)
def test_what_would_read_badly_or_gain_nothing_stays(tmp_path: Path, body: str) -> None:
    head = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
    text = f"{head}        {body}\n"
    assert findings(tmp_path / "m.py", text)
    assert fixed(tmp_path, text) == text


@pytest.mark.parametrize("last", ["y.sum() > i", "i > 1"])
def test_what_is_left_to_python_logs_as_it_did(tmp_path: Path, last: str) -> None:
    text = f"""import logging

import torch


class M(torch.nn.Module):
    def forward(self, y: torch.Tensor):
        for i in range(3):
            logging.info("turn %d", i)
            if {last}:
                break
            y = y + self.part(y)
        return y

    def part(self, y: torch.Tensor):
        logging.info("a part")
        return y * 2
"""
    new = fixed(tmp_path, text)
    guarded = [line for line in new.splitlines() if "is_compiling" in line]
    assert len(guarded) == (1 if last == "y.sum() > i" else 2)


BRANCHES = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x + 1
        if x.sum() > 0:
            y = y @ x
        if x.max() > 3:
            y = y @ y
        return y
"""


def test_every_function_that_is_added_has_its_own_name(tmp_path: Path) -> None:
    new = fixed(tmp_path, BRANCHES)
    names = [node.name for node in ast.walk(ast.parse(new)) if isinstance(node, ast.FunctionDef)]
    assert len(names) == len(set(names)) == 5
    for x in (torch.ones(2, 2), -torch.ones(2, 2), torch.full((2, 2), 4.0)):
        assert torch.equal(run(new)["M"]()(x), run(BRANCHES)["M"]()(x))


def test_what_is_written_is_formatted(tmp_path: Path) -> None:
    text = BRANCHES.replace("x.max() > 3", "torch.logical_and(x.max() > 3, x.abs().max() < 1000 + x.min())")
    new = fixed(tmp_path, text)
    assert new != text
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "-"],
        input=new,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == new


DEAD = """import copy
import random

import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = copy.deepcopy(x) + random.random() * x
        lowest = x.shape
        if (x > 5).any():
            raise ValueError(f"too much: {x}, {lowest}")
        bound = x.max()
        if (x < -5).any():
            raise ValueError(f"too little: {bound}")
        return y + copy.copy(x)
"""


def test_no_name_is_left_without_a_reader(tmp_path: Path) -> None:
    new = fixed(tmp_path, DEAD)
    assert "import copy" not in new
    assert "import random" not in new
    assert new.startswith("import torch\n")
    path = tmp_path / "new.py"
    path.write_text(new)
    done = subprocess.run(
        [sys.executable, "-m", "pyflakes", path], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    run(new)["M"]()(torch.ones(2))


TAKES = """

class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return copy.deepcopy(x) + 1
"""


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("import copy\n\nimport torch\n", "import torch\n"),
        ("import os\n\nimport copy\n\nimport torch\n", "import os\n\nimport torch\n"),
        ('"""Doc."""\n\nimport copy\n\nimport torch\n', '"""Doc."""\n\nimport torch\n'),
        ("import torch\nimport copy\n", "import torch\n"),
        ("# for copies\nimport copy\n\nimport torch\n", "# for copies\nimport copy\n\nimport torch\n"),
        ("import copy; import os\nimport torch\n", "import copy; import os\nimport torch\n"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_dead_import_goes_with_the_blank_lines_that_it_parted(
    tmp_path: Path, head: str, expected: str, end: str
) -> None:
    path = tmp_path / "m.py"
    path.write_bytes((head + TAKES).replace("\n", end).encode())
    done = fix_findings(findings(path, head + TAKES), "unsafe")
    assert not done.refused
    assert done.texts[str(path)][1].startswith((expected + "\n\nclass M").replace("\n", end))


@pytest.mark.parametrize(
    ("other", "goes"),
    [
        ("from m import *\n", False),
        ("from .m import (\n    M,\n    copy,\n)\n", False),
        ("from own.m import M, \\\n    copy\n", False),
        ("import m\n\nm.copy.copy([])\n", False),
        ("import copy\nfrom m import M\n", True),
        ("from am import *\nfrom m.other import *\n", True),
    ],
)
@pytest.mark.parametrize("place", ["n.py", "own/n.py"])
def test_an_import_that_another_file_takes_from_here_stays(
    tmp_path: Path, other: str, goes: bool, place: str
) -> None:
    path = tmp_path / "m.py"
    text = "import copy\n\nimport torch\n" + TAKES
    path.write_text(text)
    (tmp_path / "own").mkdir()
    (tmp_path / place).write_text(other)
    done = fix_findings(findings(path, text), "unsafe")
    assert ("import copy" in done.texts[str(path)][1]) != goes


def test_what_takes_dead_imports_out_is_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit that takes more than it says is not made; the fix is."""
    greedy = Edit("m.py", 1, 1, 3, 1, "", replaces=((1, 1, 1, 12),))
    monkeypatch.setattr("pt2lint.fixes.dead.dead_imports", lambda path, before, after: [greedy])
    path = tmp_path / "m.py"
    path.write_text("import copy\nimport os\nimport torch\n" + TAKES)
    done = fix_findings(findings(path, path.read_text()), "unsafe")
    new = done.texts[str(path)][1]
    assert new.startswith("import copy\nimport os\nimport torch\n")
    assert "deepcopy" not in new
    assert len(done.refused) == 1
    assert "what fixes left there is not tidied up" in done.refused[0]


def test_disable_and_settings_of_the_process_are_told(tmp_path: Path) -> None:
    text = "import torch\n" + READS.format(module="torch.nn.Module")
    path = tmp_path / "m.py"
    told = [fix for one in findings(path, text) for fix in one.fixes if fix.by_hand]
    assert {"setting" in fix.description for fix in told} == {True, False}
    new = fixed(tmp_path, text)
    assert "_dynamo" not in new
    assert "disable" not in new
    assert len(findings(path, new)) <= len(findings(path, text))


@pytest.mark.parametrize(
    ("start", "made"),
    [
        ("\n\nmodel = torch.compile(M())\n", 1),
        ("\n\n@torch.compile\ndef f(x):\n    return x\n", 1),
        (START, 0),  # a program that compiles nothing: mostly one that shows what the file holds
    ],
)
def test_a_setting_is_made_where_something_is_compiled(tmp_path: Path, start: str, made: int) -> None:
    text = "import torch\n" + READS.format(module="torch.nn.Module") + start
    new = fixed(tmp_path, text)
    assert new.count("import torch\n\ntorch._dynamo.config.capture_scalar_outputs = True\n") == made
    assert new.count("_dynamo") == made
    assert fixed(tmp_path, new) == new


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("not (not (x > 0).any())", "torch._assert_async(~(x > 0).any(), 'no')"),
        ("not x.sum() == 0", "torch._assert_async(x.sum() == 0, 'no')"),
        ("x.sum() == 0", "torch._assert_async(x.sum() != 0, 'no')"),
        ("(x[:, 1] - x[:, 0] <= 0).any()", "torch._assert_async(~(x[:, 1] - x[:, 0] <= 0).any(), 'no')"),
        ("x.sum() < 0", "torch._assert_async(~(x.sum() < 0), 'no')"),
        ("x.sum()", "torch._assert_async(x.sum() == 0, 'no')"),
        ("not x.sum() > 0 and self.training", "torch._assert_async(x.sum() > 0, 'no')"),
        ("self.training and not (x > 0).all()", "torch._assert_async((x > 0).all(), 'no')"),
        ("not x.sum()", "torch._assert_async(x.sum() != 0, 'no')"),
        ("x.sum() < 0 or x.isnan().any()", "torch._assert_async(~((x.sum() < 0) | x.isnan().any()), 'no')"),
        ("-1 < x.sum() < 0", "torch._assert_async(~((-1 < x.sum()) & (x.sum() < 0)), 'no')"),
    ],
)
def test_conditions_are_simple(tmp_path: Path, test: str, expected: str) -> None:
    text = f"""import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if {test}:
            raise ValueError('no')
        return x
"""
    assert expected in fixed(tmp_path, text)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("import os\nfrom a import b\nfrom torch import nn\n", "import os\nimport torch\nfrom a import b\n"),
        (
            "import os\n\nfrom torch import nn\n\nfrom a import b\n",
            "import os\n\nimport torch\nfrom torch import nn\n",
        ),
        ('"""Doc."""\n\nimport torch.nn as nn\n', '"""Doc."""\n\nimport torch\nimport torch.nn as nn\n'),
        ("import numpy\nimport zlib\nimport torch.nn as nn\n", "import zlib\nimport torch\n"),
        (
            "import einops\nimport torchvision\nfrom torch import nn\n",
            "import einops\nimport torch\nimport torchvision\n",
        ),
    ],
)
def test_an_import_goes_among_its_like(tmp_path: Path, head: str, expected: str) -> None:
    text = (
        head
        + "\n\nclass M(nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n            x = x + 1\n"
    )
    assert expected in fixed(tmp_path, text + "        return x\n")


def test_an_import_stands_apart_from_those_of_the_own_package(tmp_path: Path) -> None:
    head = "import os\n\nfrom own.told import logger\n"
    assert File(str(tmp_path / "m.py"), head).place_of("torch") == (3, "", "")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text("")
    assert File(str(tmp_path / "own" / "m.py"), head).place_of("torch") == (2, "\n", "")


def test_an_assertion_keeps_its_lines(tmp_path: Path) -> None:
    text = """import torch


@torch.compile
def f(x, y):
    assert not torch.any(
        (x != 0) & (y != 0)
    ), "one of them is zero"
    assert not x.sum() > 3, "no"
    return x
"""
    new = text.replace("not torch.any", "~torch.any").replace("not x.sum() > 3", "~(x.sum() > 3)")
    assert fixed(tmp_path, text) == new


def test_checks_in_a_row_are_made_in_one_place(tmp_path: Path) -> None:
    text = """import torch


class Wrong(Exception):
    pass


@torch.compile
def f(x, y, n=3):
    # what comes in
    if x.isnan().any():
        raise ValueError(f"NaN in {x}")
    if n > 2 and (y < 0).any():  # but zero
        raise Wrong("negative")

    # the largest
    if y.max() > 3:
        raise KeyError("large")
    if y.shape != x.shape:
        raise ValueError("shape")
    if y.min() < -3:
        raise Wrong(y)
    # again
    if x.min() < -3:
        raise Wrong(x, y)
    return x + y
"""
    new = fixed(tmp_path, text)
    assert (
        new.partition("    # what comes in\n")[2]
        == """    if torch.compiler.is_compiling():
        torch._assert_async(~x.isnan().any(), "NaN in ...")
        if n > 2:
            torch._assert_async(~(y < 0).any(), "negative")
        torch._assert_async(~(y.max() > 3), "large")
    elif x.isnan().any():
        raise ValueError(f"NaN in {x}")
    elif n > 2 and (y < 0).any():  # but zero
        raise Wrong("negative")
    # the largest
    elif y.max() > 3:
        raise KeyError("large")
    if y.shape != x.shape:
        raise ValueError("shape")
    if not torch.compiler.is_compiling():
        if y.min() < -3:
            raise Wrong(y)
        # again
        if x.min() < -3:
            raise Wrong(x, y)
    return x + y
"""
    )
    assert fixed(tmp_path, new) == new


def test_guards_side_by_side_are_one(tmp_path: Path) -> None:
    text = """import logging

import torch

logger = logging.getLogger()


@torch.compile
def f(x, n):
    logger.info(f"first {n}")
    logger.info(
        f"then {n}"
    )
    x = x + 1
    if not torch.compiler.is_compiling():
        print("stays")
    if not torch.compiler.is_compiling():
        print("so")
    # why
    logger.info(f"really {n}")
    return x
"""
    guard = "    if not torch.compiler.is_compiling():\n"
    first, stays, so, why = fixed(tmp_path, text).split(guard)[1:]
    assert (
        first
        == """        logger.info(f"first {n}")
        logger.info(
            f"then {n}"
        )
    x = x + 1
"""
    )
    assert (stays, so) == ('        print("stays")\n', '        print("so")\n    # why\n')
    assert why == '        logger.info(f"really {n}")\n    return x\n'


def test_what_logs_while_tracing_stands_below_its_logger(tmp_path: Path) -> None:
    text = """import logging

import torch

# of this file
logger = logging.getLogger()
LIMIT = 3


@torch.compile
def f(x):
    logger.warning("slow")
    return x
"""
    new = tried(tmp_path, text)
    assert "logger = logging.getLogger()\n\n\n# Dynamo calls it" in new
    assert "stacklevel=stacklevel + 1, **kwargs)\n\n\nLIMIT = 3\n" in new


def test_an_import_of_the_standard_library_stands_apart(tmp_path: Path) -> None:
    text = """\"\"\"Doc.\"\"\"
import numpy as np
import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x.reshape(int(np.prod(x.shape))), np.pi
"""
    new = fixed(tmp_path, text)
    assert new.startswith('"""Doc."""\nimport math\n\nimport numpy as np\nimport torch\n')


@pytest.mark.parametrize("error", ["ValueError('no')", "KeyError('no')", "RuntimeError('no')"])
@pytest.mark.parametrize("caught", ["ValueError", "(OSError, ValueError)", "Exception", "module.Error", ""])
def test_a_check_whose_error_the_function_catches_stays(tmp_path: Path, error: str, caught: str) -> None:
    text = f"""import module
import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        try:
            if x.isnan().any():
                raise {error}
            return x / x.mean()
        except {caught}:
            return x
"""
    passes = "ValueError" in caught and not error.startswith("ValueError")
    assert ("torch._assert_async" in fixed(tmp_path, text)) is passes
    asserts = text.replace("if x.isnan().any():", "assert x.sum().item() > 0, f'{x}'").replace(
        f"                raise {error}\n", ""
    )
    assert ("torch._assert_async" in fixed(tmp_path, asserts)) is ("ValueError" in caught)


def test_an_array_is_no_tensor_in_eager_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a group of its own nothing is known of what a function is given but what was noted.
    monkeypatch.setattr("pt2lint.static.engine.GROUP", 1)
    scan, model = tmp_path / "scan.py", tmp_path / "model.py"
    scan.write_text(
        """import torch


def check(x):
    if (x > 1).any():
        raise RuntimeError("no")
    return x
"""
    )
    model.write_text(
        """import scan
import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.from_numpy(scan.check(x.detach().numpy()))
"""
    )
    (found,) = [one for one in lint([str(model), str(scan)], HERE).findings if one.path == str(scan)]
    assert found.code == "PTB110"
    assert not any("_assert_async" in fix.description for fix in found.fixes)
    model.write_text(model.read_text().replace("x.detach().numpy()", "x").replace("torch.from_numpy", ""))
    (found,) = [one for one in lint([str(model), str(scan)], HERE).findings if one.path == str(scan)]
    assert "_assert_async" in found.fixes[0].description


def test_sides_of_several_values_stay(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        low, high = (None, x / 2) if x.sum() > 0 else (x / 2, None)
        return low, high
"""
    assert fixed(tmp_path, text) == text


@pytest.mark.parametrize(
    "body",
    [
        # What is a list in some calls has no `detach`.
        """
        if not isinstance(y, (torch.Tensor, list)):
            raise ValueError("no")
        if isinstance(y, torch.Tensor):
            y = y.contiguous()
        self.kept = copy.deepcopy(y)
        return x
        """,
        # Where the shapes are asked for they may differ.
        """
        if x.shape == y.shape and len(x) == len(y):
            return torch.where(x > 0, x, y)
        return x if bool((x > 0).any()) else y
        """,
        """
        if x.shape[0] == y.shape[0] == 3:
            return x
        elif (x > 0).any():
            y = x
        return y
        """,
    ],
)
def test_what_would_not_hold_for_all_that_comes_stays(tmp_path: Path, body: str) -> None:
    given = "list | torch.Tensor" if "list" in body else "torch.Tensor"
    text = f"""import copy

import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: {given}):{body.rstrip()}
"""
    assert fixed(tmp_path, text) == text


@pytest.mark.parametrize(
    "ends", ["assert x.shape == y.shape", "if x.shape != y.shape:\n            raise ValueError"]
)
def test_shapes_that_are_demanded_are_alike(tmp_path: Path, ends: str) -> None:
    text = f"""import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        {ends}
        return x if bool((x > 0).any()) else y
"""
    assert "torch.where" in fixed(tmp_path, text)


def test_a_message_whose_test_breaks_the_graph_is_left_to_eager_mode_with_it(tmp_path: Path) -> None:
    text = """import warnings

import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        if torch.equal(x, y):
            warnings.warn("the same")
        return x + y
"""
    assert "if not torch.compiler.is_compiling() and torch.equal(x, y):" in fixed(tmp_path, text)


def test_a_conditional_expression_is_not_its_own_test(tmp_path: Path) -> None:
    text = """import math
import numbers

import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return warn(x.sum()) + warn(x.sum().item())


def warn(x):
    if x == math.inf if isinstance(x, numbers.Number) else (x == math.inf).any():
        x = x + 1
    return x
"""
    assert "torch.where" not in fixed(tmp_path, text)


def test_the_projects_line_length_holds(tmp_path: Path) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    call = "        y = torch.cond(x.sum() > 0, lambda: x @ x, lambda: x @ x @ x, ())"
    text = dedent(
        """\
        import torch


        class M(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                y = x @ x if x.sum() > 0 else x @ x @ x
                return y
        """
    )
    assert call in fixed(folder, text)
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 60\n")
    assert max(map(len, fixed(folder, text, "n.py").split("\n"))) <= 60


def test_a_line_that_was_too_long_before_moves_as_it_is(tmp_path: Path) -> None:
    """Who wrote it runs no formatter."""
    line = 'print(f"x has more rows than was thought of when this was written: {x.shape}")'
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 80\n")
    text = f"""import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if x.shape[0] > 3:
            {line}
            x = x[:3]
        return x + 1
"""
    guard = f"            if not torch.compiler.is_compiling():\n                {line}\n"
    assert guard in fixed(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["numpy", "torch>=2.4,<3"]\n', False),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"\n', False),
        ("setup.py", "setup(install_requires=['torchvision>=0.15', 'torch >= 2.13'])\n", True),
        ("requirements.txt", "torch\npytorch-lightning>=2.0\n", True),
        ("requirements.txt", "torch~=2.6\n", False),
    ],
)
def test_nothing_is_written_that_the_projects_oldest_torch_does_not_have(
    name: str, text: str, new: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (tmp_path / name).write_text(text)
    code = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print(x.sum())\n    return x + 1\n"
    assert ("_higher_order_ops.print" in tried(folder, code)) == new


def test_the_text_of_an_assertion_is_what_is_broken_off() -> None:
    said = 'f"more than {sizes[0]} or so"'
    assert broken(f"    assert sizes[0] <= x.min(), {said}", 40, "    ") == [
        "    assert sizes[0] <= x.min(), (", f"        {said}", "    )"
    ]  # fmt: skip
    assert broken("assert ready(x), describe(x, first)", 30, "    ")[0] == "assert ready(x), describe("
    assert broken("if not compiling and (x < 0 or x > most):  # quickly", 40, "    ") == [
        "if not compiling and (",
        "    x < 0 or x > most",
        "):  # quickly",
    ]
    kept = "if not compiling and (x < 0 or x > most):  # noqa: X1"
    assert broken(kept, 40, "    ") == [kept]


def test_a_line_between_brackets_is_broken_at_its_operators() -> None:
    line = "        offload and classes is not None and inner(module).name in classes"
    assert broken(line, 60, "    ") == [
        "        offload",
        "        and classes is not None",
        "        and inner(module).name in classes",
    ]


def test_a_comprehension_is_broken_at_its_clauses() -> None:
    line = "found = any(one == name or same(one, name) for one in names if one)"
    assert broken(line, 30, "    ") == [
        "found = any(", "    one == name", "    or same(one, name)", "    for one in names", "    if one", ")"
    ]  # fmt: skip


LONG = """
if not torch.compiler.is_compiling() and places.numel() and int(places.amax()) >= self.config.size:
    pass
if name.replace("_orig_mod.", "") in target_names and isinstance(module_of_it, nn.Linear):
    pass
if ready:
    pass
elif not torch.compiler.is_compiling() and rows.numel() > 0 and (int(rows.min()) < 0 or int(rows.max()) > 3):
    pass
alpha = per_layer[name] if per_layer and name.replace("_orig_mod.", "") in per_layer else self.alpha
return_value = first.repeat_of_it(1, sizes[0], 1) + torch.repeat_interleave(positions, sizes[1] * sizes[2], dim=1)
x = layer(x).transpose(1, 2).reshape(batch, length, heads * dim).contiguous().to(dtype_of_the_rest)
model.load_state_dict({key.removeprefix("_orig_mod."): value for key, value in state.items()}, strict=False)
kept = sorted(found, key=lambda one, other=(1, 2): (one.start_of_it, other), reverse=one_of_them or another)
return_codes = [self.first_branch_of_it(features), self.second_branch_of_it(features)] + [self.third]
table[rows, rows % size_of_table, self.kernel_size_of_it // 2, self.kernel_size_of_it // 2, column] = 1
assert isinstance(getattr(quantizer, "_orig_mod", quantizer), StaticQuantizer | FrozenQuantizer)
state["model"] = getattr(self.unwrapped_model_of_it, "_orig_mod", self.unwrapped_model_of_it).state_dict()
return getattr(self.unwrapped_model_of_it, "_orig_mod", self.unwrapped_model_of_it).sizes.copy()
found = {"some": (first_of_them, second_of_them, third_of_them), "other": (fourth_of_them, fifth_of_them)}
found = {
    f"the {first}": safely_divided(rates_of_groups[first_of_them[None]].squeeze(0), rates_of_groups[1]),
    "some": [first_of_them, second_of_them, third_of_them, fourth_of_them, fifth_of_them],
    **{key: value.to(device_of_the_rest, dtype=dtype_of_the_rest) for key, value in state.items()},
}
made = level_of_it.repeat_interleave(
    torch.tensor(sizes_of_them, device=device_of_the_rest), dim=2, output_size=sum(sizes_of_them)
)
"""


def test_lines_are_broken_as_a_formatter_breaks_them() -> None:
    lines = [part for line in LONG.split("\n") for part in broken(line, 80, "    ")]
    options = ["--isolated", "--line-length", "80", "-"]
    told = subprocess.run(
        [sys.executable, "-m", "ruff", "format", *options],
        input=LONG,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\n".join(lines).strip() == told.stdout.strip()


@pytest.mark.parametrize("limit", [20, 40, 60, 88])
def test_broken_lines_say_the_same(limit: int) -> None:
    for path in sorted(Path("pt2lint/fixes").glob("*.py")):
        for line in path.read_text().split("\n"):
            try:
                tree = ast.dump(ast.parse(line.strip()))
            except SyntaxError:
                continue
            lines = broken(line, limit, "    ")
            new = dedent("\n".join(lines)) if line.strip() else line
            if "Expr(value=" in tree and len(lines) > 1:
                new = f"({new}\n)"  # as those are that it stands between
            assert ast.dump(ast.parse(new)) == tree


MODEL = """import torch


class {name}(torch.nn.Module):
    def forward(self, x):
        return self.take(x, x.sum().item())

    def take(self, x, count):
        return x * count


model = torch.compile({name}())
"""


@pytest.mark.parametrize("place", ["a.py", "main.py", "z.py"])
def test_a_setting_is_made_once_in_a_project(tmp_path: Path, place: str) -> None:
    """In the file that starts and compiles, else in the first that compiles; elsewhere it is told, now and later."""
    (tmp_path / "pyproject.toml").write_text("")
    names = ["a.py", "b.py", "main.py", "z.py"]
    for number, name in enumerate(names):
        started = START if name == place and place != "a.py" else ""
        (tmp_path / name).write_text(MODEL.format(name=f"M{number}") + started)
    configs = Configs()
    before = check([str(tmp_path)], configs).findings
    written = [one.path for one in before for fix in one.fixes if fix.is_setting and fix.is_usable]
    told = [fix.description for one in before for fix in one.fixes if fix.is_setting and fix.by_hand]
    assert written == [str(tmp_path / place)]
    assert len(told) == 3
    assert all(place in one for one in told)
    command = [sys.executable, "-m", "pt2lint", "--no-cache", "--exit-zero", "--fix", "--unsafe-fixes", "."]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        made = [name for name in names if "_dynamo.config" in (tmp_path / name).read_text()]
        assert made == [place]
    after = check([str(tmp_path)], configs).findings
    assert len(after) == 3
    assert all(place in fix.description for one in after for fix in one.fixes if fix.is_setting)


def test_a_setting_of_one_project_is_not_another_ones(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pyproject.toml").write_text("[tool.pt2lint]\n")
        (tmp_path / folder / "m.py").write_text(MODEL.format(name="M"))
    found = check([str(tmp_path)], Configs()).findings
    assert [fix.is_usable for one in found for fix in one.fixes if fix.is_setting] == [True, True]


PRINTS = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, loud=True):
        if loud:
            {call}
        return x + 1
"""


@pytest.mark.parametrize(
    "call",
    [
        'print("batch", x.shape[0], "of", x.dtype)',
        'print(len(x), x.shape[0] * 2, f"{x.size(0):5d} {x}")',
    ],
)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_size_that_is_printed_stays_a_symbol(
    tmp_path: Path, call: str, backend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Printed in the graph it must not make a graph of its own for each size."""
    text = PRINTS.format(call=call)
    new = tried(tmp_path, text)
    assert "_higher_order_ops.print" in new
    before, after = run(text)["M"](), load(new).M()
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(after, backend=backend, fullgraph=True)
    for size in (3, 5, 6, 9):
        capfd.readouterr()
        before(torch.ones(size, 2))
        expected = capfd.readouterr().out
        compiled(torch.ones(size, 2))
        assert capfd.readouterr().out == expected
    # One graph for the first size, one for all the others.
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2


def test_sizes_that_the_operator_does_not_take_are_not_printed_with_it(tmp_path: Path) -> None:
    assert "_higher_order_ops" not in tried(tmp_path, PRINTS.format(call="print(x.shape)"))
    assert "_higher_order_ops" not in tried(tmp_path, PRINTS.format(call='print("""\nso\n""")'))


def test_one_guard_is_for_all_that_is_written_in_a_row(tmp_path: Path) -> None:
    """With what is read out of a tensor for it alone; the number read before is for the result as well."""
    text = """import torch


@torch.compile
def f(x, k: int = 0, loud: bool = True):
    scale = x.mean().item()
    if loud:
        top = 100 * x.max().item()

        print("top", top)
        low = x.min().item()
        # the least
        print("low", low)
    if k > 1:
        print("large", k)
    if k > 2:
        print("very large")
    return x * scale
"""
    new = fixed(tmp_path, text)
    assert new.partition("    if loud")[2] == (
        """ and not torch.compiler.is_compiling():
        top = 100 * x.max().item()

        print("top", top)
        low = x.min().item()
        # the least
        print("low", low)
    if not torch.compiler.is_compiling():
        if k > 1:
            print("large", k)
        if k > 2:
            print("very large")
    return x * scale
"""
    )
    assert fixed(tmp_path, new) == new


FLAG = """import torch


class Loss(torch.nn.Module):
    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind

    def label(self, x, real):
        if self.kind == "wgan":
            return real
        return x.new_ones(x.size())

    def term(self, x, flag):
        return -x.mean() if flag else x.mean()

    def forward(self, x, real):
        return self.term(x, self.label(x, real))
"""


def test_a_flag_of_which_some_callers_tell_nothing_may_be_no_tensor(tmp_path: Path) -> None:
    assert fixed(tmp_path, FLAG) == FLAG


def test_a_last_line_without_an_end_gets_none(tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, m):\n    if x.sum() > 0:\n        x = x * 2\n"
    for last in (
        "    return x if x.max() > 0 else -x",
        "    if x.max() > 0:\n        x = x + 1\n    return x",
    ):
        new = fixed(tmp_path, text + last)
        assert new != text + last
        assert not new.endswith("\n")
    assert fixed(tmp_path, text + last + "\n").endswith("return x\n")


def test_lines_below_a_bracket_stay_there(tmp_path: Path) -> None:
    text = FLAG.replace("self.term(x, self", "self.term(x,\n                         self") + (
        "\n    def check(self, x):\n        a = self.forward(x,\n                         # real\n\n"
        "                         True)\n        return a + self.forward(x,\n            False)\n"
    )
    new = fixed(tmp_path, text)
    assert "        a = self(x,\n                 # real\n\n                 True)\n" in new
    assert "        return a + self(x,\n            False)\n" in new


def test_a_print_under_an_option_is_left_to_eager_mode(tmp_path: Path) -> None:
    new = fixed(tmp_path, PRINTS.format(call="print(x.sum())"))
    assert "        if loud and not torch.compiler.is_compiling():\n            print(x.sum())\n" in new


def test_a_print_that_is_left_from_debugging_is_not_kept_with_more_code(tmp_path: Path) -> None:
    text = PRINTS.format(call="print(x.sum())").replace("        if loud:\n    ", "")
    assert fixed(tmp_path, text) == text


@pytest.mark.parametrize("call", ["print(x.shape)", 'print("batch", x.shape)', 'print(f"at {x.dtype}")'])
def test_values_that_are_printed_among_other_code_are_left_from_debugging(call: str, tmp_path: Path) -> None:
    text = PRINTS.format(call=call).replace("\n        return", "\n            x = x * 2\n        return")
    assert fixed(tmp_path, text) == text
    fallback = text.replace(call, 'print("no kernel, the slow way is taken")')
    assert "if not torch.compiler.is_compiling():" in fixed(tmp_path, fallback)


def test_shapes_that_a_function_prints_are_left_from_debugging(tmp_path: Path) -> None:
    text = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print({})\n    return x + 1\n"
    assert fixed(tmp_path, text.format("x.shape, x.size()")) == text.format("x.shape, x.size()")
    assert fixed(tmp_path, text.format("'batch', x.shape")) != text.format("'batch', x.shape")


def test_what_is_logged_once_is_left(tmp_path: Path) -> None:
    text = """import logging

import torch

logger = logging.getLogger(__name__)


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x: torch.Tensor):
        if self.table is None:
            logger.info("made")
            self.table = torch.ones(x.shape)
        return x + self.table


compiled = torch.compile(M())
"""
    assert fixed(tmp_path, text) == text
    again = text.replace("if self.table is None", "if x.is_cuda")
    assert "if not torch.compiler.is_compiling():" in fixed(tmp_path, again)


def test_a_new_function_is_indented_as_the_file_is(tmp_path: Path) -> None:
    """Also where the method stands two levels deep."""
    text = """import warnings

import torch

if torch.__version__ > "1":

    class M(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            warnings.warn("old")
            if self.training:
                if x.sum() > 0:
                    y = x @ x
                else:
                    y = x @ x.T
                return y
            return x
"""
    for step in ("    ", "  ", "\t"):
        new = tried(tmp_path, text.replace("    ", step))
        assert f"(*args, stacklevel=1, **kwargs):\n{step}warnings.warn(" in new
        assert f"{step * 4}def when_true():\n{step * 5}return x @ x\n" in new


def test_what_may_be_none_is_not_selected(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask=None, other=None):
        if mask is None:
            off = x == -1
            if off.any():
                mask = ~off
        if x.sum() > 0:
            other = x > 1
        if mask is not None:
            x = x * mask
        return x if other is None else x * other
"""
    new = run(fixed(tmp_path, text))["M"]()
    old = run(text)["M"]()
    for x in (torch.ones(3), -torch.ones(3), torch.tensor([-1.0, 2, 3])):
        assert torch.equal(new(x), old(x))


@pytest.mark.parametrize(
    ("made", "selected"), [("loss = (x - y).abs().mean()", True), ("self.made(x)", False)]
)
def test_what_is_computed_right_before_is_selected(made: str, selected: bool, tmp_path: Path) -> None:
    text = f"""import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y=None):
        loss = None
        if y is not None:
            {made}
            if x.sum() > 10:
                loss = x.mean() * 0.5
        return x, loss


compiled = torch.compile(M())
"""
    new = fixed(tmp_path, text)
    assert ("loss = torch.where(" in new) is selected
    for y in (None, torch.zeros(3), torch.full((3,), 90.0)) if selected else ():
        for x in (torch.ones(3), torch.full((3,), 9.0)):
            assert str(run(new)["M"]()(x, y)) == str(run(text)["M"]()(x, y))


CHECKS = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, low: torch.Tensor, high=3.0):
        assert low <= x.min() <= high
        assert low <= x.min(), (
            f"Expected values of at least {low}, got {x.min()}"
        )
        return x
"""


def test_a_check_keeps_its_message_and_form(tmp_path: Path) -> None:
    new = fixed(tmp_path, CHECKS)
    assert (
        """        if torch.compiler.is_compiling():
            torch._assert_async(
                low <= x.min(), "Expected values of at least ..., got ..."
            )
        else:
            assert low <= x.min(), (
                f"Expected values of at least {low}, got {x.min()}"
            )
"""
        in new
    )
    new = fixed(tmp_path, CHECKS.replace("x.min() <= high", "high <= x.max()"))
    assert "        assert low <= high\n        assert high <= x.max()\n" in new


def test_one_drawn_number_selects_between_tensors_of_any_shape(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if torch.rand(1).item() < 0.5:
            return -x
        return x
"""
    new = fixed(tmp_path, text)
    assert "torch.where(torch.rand(()) < 0.5, -x, x)" in new
    x = torch.tensor(1.0)
    for seed in range(4):
        torch.manual_seed(seed)
        expected = run(text)["M"]()(x)
        torch.manual_seed(seed)
        assert torch.equal(run(new)["M"]()(x), expected)
    assert run(new)["M"]()(x).shape == x.shape


SIDES = """import torch
import torch.nn.functional as F


def grow(x, n):
    return F.pad(x, (0, n))


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor, mask: torch.Tensor):
        if mask.all():
            y = x @ x
        elif mask.any():
            y = x[mask] @ x[mask].T
        else:
            y = x @ x.T
        if n > 0:
            y = grow(y, n)
        return y
"""


def test_a_side_that_may_not_be_captured_is_not_written_untried(tmp_path: Path) -> None:
    new = fixed(tmp_path, SIDES)
    for mask in (torch.tensor([True, True]), torch.tensor([False, False]), torch.tensor([True, False])):
        given = torch.ones(2, 2), torch.tensor(1), mask
        assert torch.equal(load(new).M()(*given), load(SIDES).M()(*given))


def test_a_mask_is_spread_over_a_tensor_only_if_it_has_its_shape(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, rows: torch.Tensor):
        x[rows] = y[rows]
        x[x < 0] = y[x < 0]
        low = x < 1
        x[low] -= 1
        count = (x[rows] - 1).sum() + x[rows].sum()
        return x, x[~low & (y > 0)].sum(), count
"""
    given = torch.randn(2, 2), torch.randn(2, 2), torch.tensor([True, False])
    again = [one.clone() for one in given]
    new = fixed(tmp_path, text)
    assert new.count("torch.where") == 3
    for one, other in zip(run(new)["M"]()(*given), run(text)["M"]()(*again), strict=True):
        assert torch.allclose(one, other)


def test_texts_and_brackets_stand_as_a_formatter_has_them(tmp_path: Path) -> None:
    text = """import warnings

import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if self.training:
            warnings.warn("something that is long enough to go on "
                          "below", stacklevel=2)
        if not (x > 0).all() and self.training:
            raise RuntimeError("a message that is so long that it takes two lines of the file, "
                               "the first of which is full")
        x = x * 2
        if (x > 1).any():
            raise RuntimeError("one of those that fit on a line of their own, "
                               f"up to {x.max()}.")
        return x
"""
    new = fixed(tmp_path, text)
    assert (
        "        if self.training and not torch.compiler.is_compiling():\n            warnings.warn(" in new
    )
    assert """            _warnings_warn_while_tracing("something that is long enough to go on "
                                         "below", stacklevel=2)
""" in tried(tmp_path, text)
    assert (
        """        if torch.compiler.is_compiling():
            if self.training:
                torch._assert_async(
                    (x > 0).all(),
                    "a message that is so long that it takes two lines of the file, "
                    "the first of which is full",
                )
        elif not (x > 0).all() and self.training:
"""
        in new
    )
    assert (
        """        if torch.compiler.is_compiling():
            torch._assert_async(
                ~(x > 1).any(),
                "one of those that fit on a line of their own, up to ...",
            )
        elif (x > 1).any():
"""
        in new
    )


def test_what_a_side_calls_elsewhere_or_holds_as_none_is_not_written_untried(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "def warn(text):\n    print(text)\n\n\ndef sort(x):\n    return x, x\n"
    )
    text = """from typing import Optional

import torch
from tools import sort, warn


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        perm: Optional[torch.Tensor] = None
        if (x[1:] < x[:-1]).any():
            x, perm = sort(x)
        if x.sum() > 0:
            warn("high")
            y = torch.zeros_like(x)
        else:
            y = x / x.max()
        count = 6 if x.max() < 0.3 else 20
        other = 1
        if x.max() > 4:
            other = 2
        return y.expand(count, other, -1), perm
"""
    assert fixed(tmp_path, text) == text


def test_a_shortcut_around_a_mask_is_seen_through(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        x = x + 1
        mask = x > 0
        if not mask.all():
            x[~mask] = 0
        if x.sum() > 3:
            x[x > 2] = 1
        return x
"""
    new = fixed(tmp_path, text)
    assert "\n        x[~mask] = 0\n        x[(x > 2) & (x.sum() > 3)] = 1\n" in new


def test_demonstrations_in_a_library_set_nothing(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    text = "import torch\n" + READS.format(module="torch.nn.Module")
    for start, made in (
        (START, 0),
        ("\n\nf = torch.compile(M())\n", 0),
        (START + "    torch.compile(M())\n", 1),
    ):
        assert fixed(tmp_path, text + start).count("torch._dynamo.config") == made


def test_what_only_another_file_shows_is_fixed_in_one_run(tmp_path: Path) -> None:
    """The outer branch waits for the inner one, and is then seen only from the file that calls the function."""
    (tmp_path / "lib.py").write_text("""import torch


def take(x):
    if x.sum() > 0:
        x = x.relu()
    elif x.max() > 1:
        x = x.neg()
    return x
""")
    (tmp_path / "main.py").write_text("""import torch
from lib import take


@torch.compile
def f(x: torch.Tensor):
    return take(x)
""")
    command = [sys.executable, "-m", "pt2lint", "--no-cache", "--exit-zero", "--fix", "--unsafe-fixes", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    once = (tmp_path / "lib.py").read_text()
    assert "if" not in once
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert (tmp_path / "lib.py").read_text() == once, done.stdout


KEEPS = """import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(2)

    def forward(self, x: torch.Tensor):
        self.mean = self.mean.to(x.dtype)
        {last}
"""


@pytest.mark.parametrize(
    "last",
    [
        "x, self.mean = x + self.mean, self.mean + 1\n        return x",
        "[self.mean] = [self.mean + x]\n        return x",
        "return x + self.mean\n\n    def read(self):\n        return self.mean",
    ],
)
def test_what_is_kept_for_others_stays_kept(tmp_path: Path, last: str) -> None:
    text = KEEPS.format(last=last)
    assert "self.mean = self.mean.to(x.dtype)" in fixed(tmp_path, text)
    assert "\n        mean = self.mean.to" in fixed(tmp_path, KEEPS.format(last="return x + self.mean"))


def test_an_error_of_the_projects_own_stays_what_callers_wait_for(tmp_path: Path) -> None:
    text = """import torch


class Outside(Exception):
    pass


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        if x.min() < 0 or x.max() > 1:
            raise Outside
        return x + 1
"""
    new = fixed(tmp_path, text)
    assert "elif x.min() < 0 or x.max() > 1:\n            raise Outside" in new
    module = load(new)
    model = module.M()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
    with pytest.raises(module.Outside):
        model(-torch.ones(2))
    with pytest.raises(RuntimeError, match="Outside"):
        compiled(-torch.ones(2))
    told = fixed(tmp_path, text.replace("raise Outside", "raise Outside(self)"))
    assert "if not torch.compiler.is_compiling() and (x.min() < 0 or x.max() > 1):\n" in told


def test_an_error_stays_with_its_message_and_comments(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        # above
        if self.training and x.min() < 0:  # behind
            raise ValueError(f"{x.min()}")  # end
        return x
"""
    assert """        # above
        if torch.compiler.is_compiling():
            if self.training:
                torch._assert_async(~(x.min() < 0), "ValueError")
        elif self.training and x.min() < 0:  # behind
            raise ValueError(f"{x.min()}")  # end
""" in fixed(tmp_path, text)


def test_where_a_message_is_values_alone_the_graph_says_what_did_not_hold(tmp_path: Path) -> None:
    head = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
    text = head + '    assert (x > 0).all(), f"{x.max()}"\n    return x\n'
    assert '        torch._assert_async((x > 0).all(), "(x > 0).all()")\n' in fixed(tmp_path, text)


def test_a_python_bool_is_asked_by_python(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        xs, ys = [x.unsqueeze(0)], [y.unsqueeze(0)]
        if self.training:
            if not all(torch.equal(one, other) for one, other in zip(xs, ys)):
                raise RuntimeError("no")
        if not torch.equal(x, y):
            raise RuntimeError("no")
        return x
"""
    model = load(fixed(tmp_path, text)).M()
    model(torch.ones(2), torch.ones(2))
    for mode in (model.train(), model.eval()):
        with pytest.raises(RuntimeError, match="no"):
            mode(torch.ones(2), torch.zeros(2))


def test_a_division_that_the_test_guards_keeps_its_gradient(tmp_path: Path) -> None:
    text = """import torch


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        count = mask.sum()
        if count.item() == 0:
            return torch.zeros((), dtype=x.dtype)
        return (x * mask).sum() / count
"""
    new = load(fixed(tmp_path, text))
    x = torch.ones(3, requires_grad=True)
    result = new.M()(x, torch.zeros(3))
    if result.requires_grad:
        result.backward()
        assert not x.grad.isnan().any()


def test_a_test_of_many_parts_takes_no_time(tmp_path: Path) -> None:
    test = "(x > 0).any()"
    for number in range(30):
        test = f"not ((x > {number}).any() and {test})"
    text = f"import torch\n\n\n@torch.compile\ndef f(x):\n    if {test}:\n        return x\n    return -x\n"
    began = time.process_time()
    assert fixed(tmp_path, text) == text
    assert time.process_time() - began < 20


def test_a_number_of_an_array_is_kept_as_it_is(tmp_path: Path) -> None:
    """To Dynamo the array is a tensor; eager mode knows no `detach` of it."""
    text = """import numpy as np
import torch


class Sampler:
    def __init__(self):
        self.alphas = np.cumprod(1 - np.linspace(0.1, 0.2, 4))

    def step(self, x, i):
        return x * float(self.alphas[i]) + self.alphas[i].item() * float(self.alphas.sum())


step = torch.compile(Sampler().step)
"""
    assert "float(self.alphas[i]) + self.alphas[i].item() * float(self.alphas.sum())" in fixed(tmp_path, text)


def test_what_libcst_does_not_read_of_another_function_is_left(tmp_path: Path) -> None:
    """A form feed before a block: the finding is told without what would have to be changed there."""
    code = (
        "import torch\n\n\nclass M(torch.nn.Module):\n    def __init__(self):\n\f        super().__init__()\n"
        "        self.register_buffer('fill', torch.tensor(2.0))\n\n    def forward(self, x):\n"
        "        return torch.full_like(x, self.fill)\n\n\ncompiled = torch.compile(M())\n"
    )
    path = tmp_path / "m.py"
    path.write_text(code)
    result = lint([str(path)])
    assert (result.problems, [f.code for f in result.findings]) == ([], ["PTB106"])


@pytest.mark.parametrize(
    ("last", "fixed_"),
    [("raise ValueError(n)", False), ("sys.exit(1)", False), ("n = 0", True)],
)
def test_what_is_said_before_an_error_is_left(last: str, fixed_: bool, tmp_path: Path) -> None:
    code = (
        "import sys\n\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, n=3):\n"
        f"    if n != x.shape[0]:\n        print('no', n)\n        {last}\n    return x + n\n"
    )
    assert [f.code for f in findings(tmp_path / "m.py", code)][:1] == ["PTB101"]
    assert (fixed(tmp_path, code) != code) == fixed_


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("", "torch.full((2, 3), x.min(), dtype=x.dtype, device=x.device)"),
        (", device=y.device", "torch.full((2, 3), x.min(), dtype=x.dtype, device=y.device)"),
        (", dtype=torch.float64", "torch.full((2, 3), x.min(), dtype=torch.float64, device=x.device)"),
        (", device=place", None),  # None is where the tensor is; for torch.full it is the default device
    ],
)
def test_what_is_filled_lies_where_it_did(given: str, written: str | None, tmp_path: Path) -> None:
    code = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, y: torch.Tensor, place=None):\n"
        f"    return x.new_full((2, 3), x.min(){given}) + y\n"
    )
    after = fixed(tmp_path, code)
    assert written in after if written else after == code


def test_a_class_method_that_needs_its_class_is_left_as_it_is(tmp_path: Path) -> None:
    """`super()` fails in a static method, and another class's own method would no longer be called."""
    text = """import torch


class Twice(torch.autograd.Function):
    @classmethod
    def times(cls, x):
        return x * 2

    @classmethod
    def forward(cls, ctx, x):
        return cls.times(x)

    @classmethod
    def backward(cls, ctx, g):
        return g * 2


class Thrice(Twice):
    @classmethod
    def times(cls, x):
        return x * 3

    @classmethod
    def forward(cls, ctx, x):
        return super().forward(ctx, x)


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return Thrice.apply(x) + Twice.apply(x)
"""
    new = fixed(tmp_path, text)
    assert new.count("def forward(cls, ctx, x)") == 2
    x = torch.ones(2)
    assert torch.equal(run(new)["M"]()(x), run(text)["M"]()(x))
    alone = fixed(
        tmp_path,
        text.partition("class Thrice")[0]
        + "\ndef f(x: torch.Tensor):\n    return Twice.apply(x)\n\n\ng = torch.compile(f)\n",
    )
    assert "def forward(ctx, x):\n        return Twice.times(x)\n" in alone


NUMBER_PRINTED = """import torch


@torch.compile
def f(x):
    loss = x.mean()
    print("loss", loss.item())
    return loss


if __name__ == "__main__":
    f(torch.ones(2))
"""


def test_a_setting_waits_for_what_another_fix_does_to_its_line(tmp_path: Path) -> None:
    """Once the print is left to eager mode, no number is read out of a tensor in the graph."""
    new = fixed(tmp_path, NUMBER_PRINTED)
    assert "if not torch.compiler.is_compiling():" in new
    assert "capture_scalar_outputs" not in new


LOGGED = """import lightning as L
import torch
from torch import nn


class Net({base}):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def {method}(self, batch):
        loss = self.layer(batch).mean()
        {log}
        return loss


net = torch.compile(Net())
"""


@pytest.mark.parametrize(
    ("base", "method", "before", "after"),
    [
        (
            "L.LightningModule",
            "training_step",
            'self.log("loss", loss.item())',
            'self.log("loss", loss.detach())',
        ),
        (
            "L.LightningModule",
            "training_step",
            'self.log("l", value=loss.item())',
            'self.log("l", value=loss.detach())',
        ),
        (
            "L.LightningModule",
            "training_step",
            'self.log_dict({"a": loss.item()})',
            'self.log_dict({"a": loss.detach()})',
        ),
        ("nn.Module", "forward", 'self.log("loss", loss.item())', 'self.log("loss", loss.item())'),
    ],
)
def test_lightning_logs_tensors(base: str, method: str, before: str, after: str, tmp_path: Path) -> None:
    new = fixed(tmp_path, LOGGED.format(base=base, method=method, log=before))
    assert after in new
    assert ("capture_scalar_outputs" in new) == (base == "nn.Module")


SPOKEN = """import warnings

import torch


@torch.compile
def f(x: torch.Tensor):
    # Sorted.
    # pyrefly: ignore [bad-argument-type]
    if not (x == 1).all():
        raise ValueError("no")
    y = x + 1
    # pyre-ignore[6]: it is one
    # really
    assert (y == 2).all(), f"no {x}"
    y = y * 2
    # pylint: disable-next=E1
    warnings.warn("this")
    return y
"""
SPOKEN_AFTER = """    # Sorted.
    if torch.compiler.is_compiling():
        torch._assert_async((x == 1).all(), "no")
    # pyrefly: ignore [bad-argument-type]
    elif not (x == 1).all():
        raise ValueError("no")
    y = x + 1
    if torch.compiler.is_compiling():
        torch._assert_async((y == 2).all(), "(y == 2).all()")
    else:
        # pyre-ignore[6]: it is one
        # really
        assert (y == 2).all(), f"no {x}"
    y = y * 2
    if not torch.compiler.is_compiling():
        # pylint: disable-next=E1
        warnings.warn("this")
    return y
"""


def test_a_comment_that_speaks_to_a_tool_of_the_next_line_stays_above_that(tmp_path: Path) -> None:
    assert fixed(tmp_path, SPOKEN).partition("Tensor):\n")[2] == SPOKEN_AFTER


CONTINUED = """import torch


@torch.compile
def f(x: torch.Tensor):
    assert x.min() > 0, \\
        "no %s" % \\
        x
    return x
"""


def test_lines_after_a_backslash_move_with_their_statement(tmp_path: Path) -> None:
    after = fixed(tmp_path, CONTINUED)
    assert '        assert x.min() > 0, \\\n            "no %s" % \\\n            x\n' in after
    text = CONTINUED.replace(' \\\n        "no %s" % \\\n        x', ' f"no \\\n  {x}"')
    assert '  {x}"\n' in fixed(tmp_path, text)


ARRAYS = """from typing import Union

import numpy as np
import torch

Values = Union[np.ndarray, torch.Tensor]


def flipped(rows: Values) -> Values:
    if (rows < 0).any():
        rows = -rows
    return rows


def picked(rows: Values, other: Values):
    return -rows if rows.sum() > 0 else other


def filled(rows: Values, mask: Values):
    rows = rows * 2
    rows[mask] += 1
    return rows[rows > 0].sum()


def numbers(rows: Values):
    n = rows.max().item()
    return rows / n


def bounded(rows: Values):
    if rows.max() > 1:
        rows = rows / rows.max()
    rows[rows < 0] = rows[rows < 0] * 2
    return rows


class M(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        return flipped(x) + picked(x, y) + filled(x, x > 0) + numbers(x) + bounded(x)
"""


def test_what_an_annotation_says_may_be_an_array_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "values").mkdir()
    assert fixed(tmp_path / "values", ARRAYS) == ARRAYS
    (tmp_path / "tensors").mkdir()
    after = fixed(tmp_path / "tensors", ARRAYS.replace("np.ndarray, ", ""))
    assert after.count("torch.where") > 2
    assert ".item()" not in after


ONCE = """import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = None

    def forward(self, x: torch.Tensor):
        if self.mode is None:
            self.mode = "plain"
        return x * 2 if self.mode == "plain" else x


layer = torch.compile(Layer())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        (
            "        if self",
            "        if not self.training and self.mode is None:\n            pass\n        elif self",
        ),
        (
            "        return",
            '        if self.mode == "packed":\n            self.mode = "plain"\n        return',
        ),
        ("\n\nlayer", "\n    def packed(self):\n        return self.mode is None\n\n\nlayer"),
        ("\n\nlayer", "\n    def packed(self):\n        self.mode = 'packed'\n\n\nlayer"),
        ("\n\nlayer", "\n\ndef again(layer):\n    layer.mode = None\n\n\nlayer"),
    ],
)
def test_what_others_set_or_find_missing_is_not_made_with_the_module(
    old: str, new: str, tmp_path: Path
) -> None:
    after = fixed(tmp_path, ONCE.replace(old, new, 1))
    assert ('        self.mode = "plain"\n\n' in after) == (not new)


@pytest.mark.parametrize(("use", "branches"), [("y[:n]", True), ("y[n:].sum()", True), ("y * n", False)])
def test_a_bound_of_a_slice_is_not_selected(use: str, branches: bool, tmp_path: Path) -> None:
    """Python would read the number out of the tensor at once."""
    text = f"""import torch


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    m = x.long().sum()
    if m > 2:
        n = -1
    else:
        n = m + 2
    return {use}
"""
    after = fixed(tmp_path, text)
    assert ("if m > 2" in after) == branches


def test_an_assertion_that_is_left_to_eager_mode_asks_as_before(tmp_path: Path) -> None:
    text = """import torch


@torch.compile
def f(x: torch.Tensor, most: int):
    assert not (torch.unique(x) > most).any(), "more"
    return x + 1
"""
    assert fixed(tmp_path, text) == text.replace("assert not", "assert torch.compiler.is_compiling() or not")


def test_a_message_keeps_a_dictionarys_key(tmp_path: Path) -> None:
    text = """import torch


def f(x: torch.Tensor, parts: dict[str, torch.Tensor]):
    for key, part in parts.items():
        if torch.isnan(part):
            raise RuntimeError(f"NaN in {key} of {part}")
        x = x + part
    return x


compiled = torch.compile(f, backend="eager", fullgraph=True)
"""
    new = fixed(tmp_path, text)
    assert '_assert_async(~torch.isnan(part), f"NaN in {key} of ...")' in new
    compiled = run(new)["compiled"]
    one = torch.ones(())
    assert compiled(torch.ones(2), {"low": one, "high": one}).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match=r"NaN in high of \.\.\."):
        compiled(torch.ones(2), {"low": one, "high": one / 0 * 0})


def test_a_length_that_is_rounded_up_is_not_branched_with_cond(tmp_path: Path) -> None:
    text = """import torch


@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor, r: int):
    longest = lengths.max()
    longest = longest + (r - longest % r) if longest % r > 0 else longest
    return x / longest
"""
    expected = "    longest = torch.where(longest % r > 0, longest + (r - longest % r), longest)\n"
    assert expected in fixed(tmp_path, text)


def test_a_tensor_as_long_as_the_batch_is_filled(tmp_path: Path) -> None:
    text = """import torch


@torch.compile(backend="eager")
def f(x: torch.Tensor):
    n = x.shape[0]
    return x * torch.tensor([3] * n, device=x.device)
"""
    new = fixed(tmp_path, text)
    assert "    return x * torch.full((n,), 3, device=x.device)\n" in new
    for source, most in ((text, 4), (new, 2)):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        compiled = load(source).f
        assert [compiled(torch.ones(n)).sum().item() for n in (2, 3, 4, 5)] == [6.0, 9.0, 12.0, 15.0]
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == most
