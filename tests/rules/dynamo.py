"""What Dynamo makes of small files: run as a script, a path a line on stdin, a JSON object a line on stdout.

Each file defines `f`, a function or a module, and `args`. Recorded of each: the lines of the file at which
default mode broke the graph, with Dynamo's words, and where it did not, how often `fullgraph=True` compiled and
whether it gave what eager gave. Needs torch and the standard library only.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import logging
import os
import random
import re
import sys
from typing import Any

BACKEND = "eager"


class Tap(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def load(path: str) -> Any:
    import torch

    random.seed(0)
    torch.manual_seed(0)
    name = os.path.basename(path)[:-3]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def call(module: Any, f: Any) -> Any:
    import torch

    random.seed(0)
    torch.manual_seed(0)
    result = f(*copy.deepcopy(module.args))
    return result() if callable(result) and not isinstance(result, torch.nn.Module) else result


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in flat(item)]
    return [leaf for item in value.values() for leaf in flat(item)] if isinstance(value, dict) else [value]


def equal(a: Any, b: Any) -> bool:
    import torch

    one, other = flat(a), flat(b)
    if len(one) != len(other):
        return False
    for x, y in zip(one, other, strict=True):
        if isinstance(x, torch.Tensor) or isinstance(y, torch.Tensor):
            x, y = torch.as_tensor(x), torch.as_tensor(y)
            x, y = (t.to_dense() if t.is_sparse else t for t in (x, y))
            if x.shape != y.shape or not torch.allclose(x.double(), y.double(), equal_nan=True):
                return False
        elif type(x) in (int, float, str, bool) and x != y:
            return False
    return True


def error(e: BaseException) -> str:
    return f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}"[:200]


def breaks_in(messages: list[str], path: str) -> list[dict[str, Any]]:
    """The lines of the file that each break's stack goes through, and the reason."""
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    real = os.path.realpath(path)
    for message in messages:
        places = re.findall(r'File "([^"]+)", line (\d+)', message)
        places += re.findall(r"in user code at ([^\s:]+):(\d+)", message)
        lines = tuple(sorted({int(n) for p, n in places if os.path.realpath(p) == real}))
        text = [s.strip() for s in message.split("Graph Break Reason:", 1)[-1].splitlines() if s.strip()]
        registry = re.search(r"gb(\d{4})\.html", message)
        skips = any(w in message for w in ("Skipping the function", "results in a skip", "Graph break: skip"))
        new = {"lines": lines, "reason": text[0] if text else "", "skips": skips}
        new["gb"] = "GB" + registry[1] if registry else None
        if text and text[0].startswith(("Encountered", "Failed to handle")) and len(text) > 1:
            new["reason"] = text[1]
        if lines not in found or skips:
            found[lines] = new
    return list(found.values())


def measure(path: str, tap: Tap) -> dict[str, Any]:
    import torch

    try:
        module = load(path)
        f = module.f
        f = getattr(f, "_torchdynamo_orig_callable", f)
        expected = call(module, f)
    except Exception as e:
        return {"eager": error(e)}
    row: dict[str, Any] = {"eager": None}
    torch._dynamo.reset()
    tap.messages.clear()
    try:
        row["default"] = (
            "equal" if equal(call(module, torch.compile(f, backend=BACKEND)), expected) else "differs"
        )
    except Exception as e:
        row["default"] = error(e)
    row["breaks"] = breaks_in(tap.messages, path)
    if not row["breaks"]:
        row |= in_one_graph(module, f, expected)
    row["output"] = [
        x.double().flatten().tolist()
        for x in flat(expected)
        if isinstance(x, torch.Tensor) and not x.is_sparse
    ]
    return row


def in_one_graph(module: Any, f: Any, expected: Any) -> dict[str, Any]:
    import torch

    torch._dynamo.reset()
    graphs: list[Any] = []

    def count(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    try:
        result = call(module, torch.compile(f, backend=count, fullgraph=True))
        said = "equal" if equal(result, expected) else "differs"
    except Exception as e:
        said = error(e)
    return {"fullgraph": said, "graphs": len(graphs)}


def main() -> None:
    # The files may print: their output must not get between the JSON.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import torch
    import torch._dynamo
    import torch._dynamo.guards
    import torch._logging

    torch.set_num_threads(1)
    guards: Any = torch._dynamo.guards
    guards.profile_guard_manager = lambda *arguments: 0.0  # half of what a case takes, see matrix/harness.py
    utils: Any = torch._dynamo.utils
    utils.record_compilation_metrics = lambda *arguments: None  # a twentieth, for a copy of all settings
    torch._logging.set_logs(graph_breaks=True)
    tap = Tap()
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch") and "__graph_breaks" in name:
            logger = logging.getLogger(name)
            logger.handlers[:], logger.propagate = [tap], False
    for line in sys.stdin:
        print(json.dumps(measure(line.removesuffix("\n"), tap)), file=out, flush=True)


if __name__ == "__main__":
    main()
