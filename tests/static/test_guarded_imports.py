"""An import that compiled code tries: a note where the library may not be there."""

from __future__ import annotations

from pathlib import Path

from pt2lint.static.engine import lint

CODE = """
import torch

try:
    import fast_kernels
except ImportError:
    fast_kernels = None

@torch.compile
def f(x: torch.Tensor):
    try:
        from fast_kernels.scan import scan  # note
    except (ImportError, RuntimeError):
        scan = None
    try:
        import json, own_kernels, torch.nn
    except ModuleNotFoundError:
        pass
    try:
        import fast_kernels
    except ValueError:
        pass
    import fast_kernels
    return x

def g(x):
    try:
        import fast_kernels
    except ImportError:
        return x
"""


def test_an_import_in_a_try_of_compiled_code_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "own_kernels.py").write_text("")
    (tmp_path / "m.py").write_text(CODE)
    wanted = [n for n, line in enumerate(CODE.splitlines(), 1) if "# note" in line]
    result = lint([str(tmp_path / "m.py")])
    assert [(f.code, f.line, f.note) for f in result.findings] == [
        ("PTB143", n, "where that library is not installed") for n in wanted
    ]
