"""Calls into compiled extensions, which the project's setup.py names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from pt2lint.static.engine import lint
from tests import forked
from tests.files import written

SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
import torch.utils.cpp_extension as cpp

def more():
    from build_tools.pytorch import built
    return built()

class CMakeExtension:
    pass

setup(
    ext_modules=[
        CUDAExtension(name="fast_cuda", sources=[]),
        cpp.CppExtension("pack._C", []),
        CMakeExtension("pack.cmake"),
        *more(),
    ],
    cmdclass={"build_ext": BuildExtension},
)
"""
TOOLS = """
def built():
    from pybind11.setup_helpers import Pybind11Extension
    return [Pybind11Extension(name="fast_more", sources=[])]
"""
LAYER = """
import importlib

import fast_cuda as kernels
import fast_more
import fast_other
import torch
from pack import _C, cmake

late = importlib.import_module("fast_cuda")

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return fast_more.scale(x)  # break

class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        x = kernels.fwd(x, kernels.MODE)  # break
        x = _C.scale(x)  # break
        x = late.fwd(x, 1)  # break
        x = fast_other.scale(x)
        x = cmake.scale(x)
        x = registered(x)
        return Scale.apply(x)

@torch.library.custom_op("pack::registered", mutates_args=())
def registered(x: torch.Tensor) -> torch.Tensor:
    return kernels.fwd(x)

@registered.register_fake
def _(x):
    return torch.empty_like(x)
"""


def test_what_setup_builds_is_told(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "setup.py": SETUP,
            "build_tools/__init__.py": "",
            "build_tools/pytorch.py": TOOLS,
            "python/pack/__init__.py": "",
            "python/pack/layer.py": LAYER,
        },
    )
    result = lint([str(tmp_path / "python/pack/layer.py")])
    assert not result.problems
    wanted = [n for n, line in enumerate(LAYER.splitlines(), 1) if "# break" in line]
    assert [(f.code, f.line) for f in result.findings] == [("PTB185", n) for n in wanted]


CALLED = """
import mem_cuda
import other._C as kernels
import scan_cuda
import torch
from torch.utils.cpp_extension import load, load_inline
from . import _C, file_cuda
from .parts import _ext
from .defines import _C_words
from lib.memory import collect_cuda

built = load(name="built", sources=["built.cpp"])

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scan_cuda.fwd(x)  # break

class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        x = _C.scale(x)  # break
        x = _ext.scale(x)  # break
        x = kernels.ops.scale(x)  # break
        x = built.scale(x)  # break
        x = file_cuda.scale(x)
        x = mem_cuda.scale(x)
        x = _C_words.scale(x)
        x = collect_cuda(x)
        x = torch._C._nn.gelu(x)
        x = torch.ops.other._C.scale(x)
        return Scale.apply(x)
"""


def test_what_is_called_like_an_extension_is_one_where_no_file_holds_it(tmp_path: Path) -> None:
    scale = "def scale(x):\n    return x * 2\n"
    written(
        tmp_path,
        {
            "mem_cuda.py": scale,
            "pack/__init__.py": "",
            "pack/file_cuda.py": scale,
            "pack/parts/__init__.py": "",
            "pack/defines.py": f"class _C_words:\n    @staticmethod\n    {scale.replace('    ', '        ')}",
            "pack/layer.py": CALLED,
        },
    )
    result = lint([str(tmp_path / "pack/layer.py")])
    assert not result.problems
    wanted = [n for n, line in enumerate(CALLED.splitlines(), 1) if "# break" in line]
    assert [(f.code, f.line) for f in result.findings] == [("PTB185", n) for n in wanted]


def test_a_setup_that_cannot_be_read_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("setup(ext_modules=[")
    text = LAYER.replace("fast_cuda", "fast_own").replace("_C", "own")
    (tmp_path / "m.py").write_text(text)
    assert not lint([str(tmp_path / "m.py")]).findings


EXTENSION = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject* same(PyObject* self, PyObject* x) { Py_INCREF(x); return x; }
static PyMethodDef methods[] = {{"same", same, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast_c", "", -1, methods};
PyMODINIT_FUNC PyInit_fast_c(void) { return PyModule_Create(&module); }
"""
RUN = """
import json
import torch
import fast_c

def f(x):
    return fast_c.same(x * 2) + 1

found = torch._dynamo.explain(f)(torch.ones(3))
print(json.dumps([str(r.user_stack[0].lineno) + " " + r.reason for r in found.break_reasons]))
"""


def test_dynamo_breaks_at_a_call_into_an_extension(tmp_path: Path) -> None:
    headers, gcc = Path(sysconfig.get_paths()["include"]), shutil.which("gcc")
    if gcc is None or not (headers / "Python.h").exists():
        pytest.skip("needs gcc and Python's headers")
    (tmp_path / "fast_c.c").write_text(EXTENSION)
    built = tmp_path / ("fast_c" + sysconfig.get_config_var("EXT_SUFFIX"))
    command = [gcc, "-shared", "-fPIC", f"-I{headers}", str(tmp_path / "fast_c.c"), "-o", str(built)]
    subprocess.run(command, check=True)
    (tmp_path / "run.py").write_text(RUN)
    ran = forked.run(tmp_path / "run.py")
    assert ran.returncode == 0, ran.stderr
    reasons = json.loads(ran.stdout)
    assert any("same" in r or "skipped" in r or "builtin" in r for r in reasons), reasons


DISALLOWED = """
import torch

torch._dynamo.disallow_in_graph(torch.sub)
torch._dynamo.graph_break()

def f(x):
    return torch.sub(x, 1) * 2

compiled = torch.compile(f, backend="eager")
"""


def test_what_is_disallowed_breaks_from_there_on(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(DISALLOWED)
    assert [(f.code, f.line) for f in lint([str(path)]).findings] == [("PTB184", 4)]
    run = DISALLOWED.replace("torch._dynamo.graph_break()", "") + (
        "from torch._dynamo.utils import counters\n"
        "compiled(torch.ones(3))\n"
        "print(sum(counters['graph_break'].values()))\n"
    )
    path.write_text(run)
    ran = forked.run(path)
    assert ran.stdout.strip() == "1"
    path.write_text(run.replace("torch._dynamo.disallow_in_graph(torch.sub)\n", ""))
    ran = forked.run(path)
    assert ran.stdout.strip() == "0"
