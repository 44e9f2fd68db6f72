"""LibCST as pt2lint loads it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import pickle
from concurrent.futures import ThreadPoolExecutor
from pt2lint.late import load_libcst_late

load_libcst_late()
import libcst as cst
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, ScopeProvider

cst.Module
with ThreadPoolExecutor(8) as threads:
    names = [*threads.map(lambda number: cst.Name(f"x{number}"), range(64))]
assert [name.value for name in names] == [f"x{number}" for number in range(64)]
assert names[0] != cst.Name("x0") and len({*names}) == 64
one, same, other = (CodeRange(CodePosition(1, 2), CodePosition(3, end)) for end in (4, 4, 5))
assert one == same != other and len({one, same, other}) == 2
assert repr(one.end) == "CodePosition(line=3, column=4)"
code = "import a\\nb = a.c(d=[1, *e])\\n"
tree = cst.parse_module(code)
assert pickle.loads(pickle.dumps(tree)).code == tree.deep_clone().code == code
assert repr(tree.body[0].body[0].names[0].name).startswith("Name(")
assert len(MetadataWrapper(tree).resolve(ScopeProvider)) > 10
for wrong, error in ((lambda: cst.Name(""), cst.CSTValidationError), (lambda: cst.Name(), TypeError)):
    try:
        wrong()
    except error:
        continue
    raise AssertionError(error)
"""


def test_its_classes_do_what_they_do_otherwise() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
