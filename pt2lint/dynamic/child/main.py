"""Start of the child: read the specification, set the limits, do the job, say how it ended."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import importlib.util
import json
import os
import signal
import sys
from typing import Any


def load_siblings() -> None:
    """Import this folder as a package of a name that no user's module has, and take it off sys.path."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != folder]
    spec = importlib.util.spec_from_file_location(
        "_pt2lint_child", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_pt2lint_child"] = package
    spec.loader.exec_module(package)


def limit_memory(limit: int) -> None:
    """Cap what the process may allocate, in bytes; the parent watches the whole family besides."""
    import resource

    try:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):
        pass  # not on this system: the parent's watch remains


def end_with_parent() -> None:
    """Have the system kill this process when pt2lint is killed itself and cannot (Linux only)."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # 1 is PR_SET_PDEATHSIG


def main(specification: str, results: int) -> None:
    end_with_parent()
    with open(specification, encoding="utf-8") as file:
        spec = json.load(file)
    wire_module: Any = importlib.import_module("_pt2lint_child.result_pipe")

    wire = wire_module.Wire(results)
    faulthandler.enable()
    if spec["memory"] and spec["device"] in (None, "cpu"):
        limit_memory(spec["memory"])
    sys.path.insert(0, os.getcwd())
    sys.argv = ["-c"]  # as where a module is imported by hand: ours would be arguments to it
    try:
        import torch
    except BaseException as error:
        wire.send("no_torch", message=f"{type(error).__name__}: {error}")
        wire.finish()
    wire.send("hello", torch=torch.__version__, python=sys.version.split()[0])
    importlib.import_module("_pt2lint_child.jobs").do(spec, wire)
    wire.send("done")
    # The verified code may have left threads and exit handlers that never end.
    wire.finish()


if __name__ == "__main__":
    load_siblings()
    if sys.argv[1] == "nursery":
        importlib.import_module("_pt2lint_child.nursery").serve(int(sys.argv[2]), main)
    else:
        main(sys.argv[1], int(sys.argv[2]))
