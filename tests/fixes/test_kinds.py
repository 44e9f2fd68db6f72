"""What repairs know of kinds: from the interpreter where it is sure, from the function's text otherwise."""

from __future__ import annotations

import libcst as cst
import pytest

from pt2lint.fixes.kinds import guess
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests.fixes.lab import function_code, nodes

MODEL = """import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.limit = 3

    def forward(self, x):
        h = self.fc(x)
        return shown(h, h.shape[0], self.limit)


def shown(t, n, limit):
    print("rows", n, t, limit)
    return t + n


class Other(nn.Module):
    def forward(self, x: torch.Tensor):
        return loud(x, "a")


def loud(t, text):
    print("rows", text, t)
    return t + 1
"""


def test_the_interpreter_tells_what_a_function_is_called_with(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(MODEL)
    settings = Settings(target_torch=(2, 13))
    prints = {f.line: f for f in lint([str(path)], settings).findings if f.code == "PTB101"}
    assert 'print("rows {!s} {!s} {!s}' in "".join(edit.text for edit in prints[17].fixes[0].edits)
    assert not any("operator" in fix.description for fix in prints[27].fixes)  # a text may hold braces


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("tensor:bool", "tensor:bool"),
        ("tensor", "tensor:float"),  # the text tells more
        ("tensor:int?", "tensor:float"),
        ("tensor:int | tensor:float", "tensor:float"),
        ("constant 3", "int"),
        ("constant True", "bool"),
        ("constant 'a'", "str"),
        ("none | tensor", "tensor:float"),
        ("external torch.sigmoid", "tensor:float"),
        ("list of tensor", "list of tensor"),
    ],
)
def test_words(told, kind):
    code = function_code("import torch\n\n\ndef f(x):\n    return torch.sigmoid(x)\n")
    call = nodes(code, cst.Call)[0]
    code.kinds = lambda: {code.range(call): told}
    assert guess(code)(call) == kind
