"""Texts of sizes: which of them end the graph once a size has changed."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
import torch

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

CODE = """import torch

@torch.compile(dynamic=True, fullgraph=True, backend="eager")
def f(x: torch.Tensor):
    n, width = x.shape
    return x + len({text})
"""
ENDS = [
    "str(n)",
    "repr(x.shape[0])",
    "'%d' % n",
    "'%s' % (n // 2)",
    "'%d of %d' % (n, width)",
    "'%s' % (x.shape,)",
    "str(x.size())",
]
STAYS = [
    *(
        ["'%s of %s' % (n, width)"] if sys.version_info < (3, 13) else []
    ),  # Python makes `f"{n!s} of ..."` of it
    "str(x.dim())",
    "'%d' % x.dim()",
    "'%s' % x.dtype",
    "f'{x.dtype}'",
    "str(3)",
]


@pytest.mark.parametrize("text", [*ENDS, *STAYS])
def test_a_text_of_a_size_ends_the_graph(text: str, tmp_path: Path) -> None:
    source = CODE.format(text=text)
    (tmp_path / "f.py").write_text(source, encoding="utf-8")
    found = lint([str(tmp_path / "f.py")], Settings(target_torch=(2, 13))).findings
    told = [f.message for f in found if f.code == "PTR230" and "text" in f.message]
    torch._dynamo.reset()
    names: dict[str, object] = {}
    exec(compile(ast.parse(source), "f.py", "exec"), names)
    try:
        names["f"](torch.ones(4, 3))  # type: ignore[operator]
        ended = False
    except torch._dynamo.exc.Unsupported:
        ended = True
    assert ended is (text in ENDS)
    assert len(told) == ended, told


FORMATTED = [  # what is returned, whether it fails once the size is a symbol
    ("x, f'{n:03d}'", True),
    ("{f'n={n // 2:d}': x}", True),
    ("x * TABLE[f'{n:02d}']", True),
    ("x * (2 if f'{x.shape[0]:02d}' == '04' else 3)", True),
    ("x, '{:03d}'.format(n)", False),
    ("x, f'{n:>5}'", False),
    ("x, f'{x.dim():03d}'", False),
    ("helped(x, f'{n:03d}')", False),
]


@pytest.mark.parametrize(("returned", "fails"), FORMATTED)
def test_a_size_that_is_formatted_as_a_number_fails(returned: str, fails: bool) -> None:
    source = CODE.replace("fullgraph=True, ", "").replace("x + len({text})", returned)
    source = source.replace(
        "\n\n", "\n\nTABLE = {'04': 2.0}\n\ndef helped(x, text):\n    return x * 2\n\n", 1
    )
    found = lint(["f.py"], Settings(target_torch=(2, 13)), {"f.py": source}).findings
    assert any(f.code == "PTR230" and "formats the size" in f.message for f in found) is fails
    torch._dynamo.reset()
    names: dict[str, object] = {}
    exec(compile(ast.parse(source), "f.py", "exec"), names)
    if fails:
        with pytest.raises(torch._dynamo.exc.InternalTorchDynamoError):
            names["f"](torch.ones(4, 3))  # type: ignore[operator]
    else:
        names["f"](torch.ones(4, 3))  # type: ignore[operator]
