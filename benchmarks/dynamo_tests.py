"""Record where Dynamo breaks in the functions of tests, such as its own: a plugin of pytest.

    PYTHONPATH=benchmarks python -m pytest -p dynamo_tests --truth OUT.json FILES

FILES are files of PyTorch's test/dynamo that fit the installed torch. What they compile is compiled without
`fullgraph=True`, with the backend "eager" in place of a named one, and tests may fail of that; tests that set Dynamo's
configuration are left out. OUT.json has the form of record_truth.py's, with all tests of a file together.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo
from record_truth import CHILD, innermost

sys.path.insert(0, str(CHILD))
from child import log_listener

LONGEST = 90  # seconds of one test
# In a test: Dynamo does otherwise there.
SETS = ("config.", "patch(", "patch.", "set_stance", "error_on_graph_break")

_compile, _optimize = torch.compile, torch._dynamo.optimize
_truth: dict[str, dict[str, Any]] = defaultdict(lambda: {"traced": set(), "breaks": {}})
_count = 0


def _in_parts(backend: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """What is left of the settings of torch.compile."""
    taken = {name: settings[name] for name in ("dynamic", "disable") if name in settings}
    return {"backend": "eager" if isinstance(backend, str) else backend, **taken}


def compile_in_parts(model: Any = None, *, backend: Any = "eager", **settings: Any) -> Any:
    if model is None:
        return lambda given: compile_in_parts(given, backend=backend, **settings)
    return _compile(model, **_in_parts(backend, settings))


def optimize_in_parts(backend: Any = "eager", **settings: Any) -> Any:
    return _optimize(**_in_parts(backend, settings))


def _sets(function: Any) -> bool:
    return any(word in inspect.getsource(function) for word in SETS)


@cache
def _is_decorated_so(cls: Any) -> bool:
    decorators = inspect.getsource(cls).partition("class ")[0] if cls is not None else ""
    return any(word in decorators for word in SETS)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--truth", type=Path, required=True, help="where to write what was recorded")


def pytest_configure(config: pytest.Config) -> None:
    torch.set_num_threads(1)
    torch.compile, torch._dynamo.optimize = compile_in_parts, optimize_in_parts


def pytest_collection_modifyitems(items: list[Any]) -> None:
    items[:] = [item for item in items if not (_sets(item.function) or _is_decorated_so(item.cls))]


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"longer than {LONGEST} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    global _count
    _count += 1
    root = str(item.path.parent)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    with log_listener.listening([root]) as records:
        yield
    signal.alarm(0)
    traced: dict[str, set[int]] = defaultdict(set)
    for skipped in (False, True):
        for path, lines in records.lines(skipped).items():
            traced[os.path.relpath(path, root)].update(lines)
    for path, lines in traced.items():
        _truth[path]["traced"].update(lines)
    for kind, fields in records.all_events():
        place = innermost(fields, traced, root) if kind == "break" else None
        if place is not None:
            path, line = place
            _truth[path]["breaks"][line] = {
                "line": line,
                "gb": fields.get("graph_break"),
                "what": fields.get("reason", "")[:160],
                "by": [item.name],
            }


def pytest_sessionfinish(session: pytest.Session) -> None:
    files = {
        path: {
            "traced": sorted(found["traced"]),
            "breaks": [each for _, each in sorted(found["breaks"].items())],
        }
        for path, found in sorted(_truth.items())
        if Path(path).suffix == ".py"  # a test may compile a text
    }
    told = {"package": "tests", "torch": torch.__version__, "tests": _count, "files": files}
    session.config.getoption("--truth").write_text(json.dumps(told, indent=1))
