"""Runs a code block under this interpreter's torch and tells what Dynamo made of it.

A block is a script that defines `run()`. Running it is what a user's program does: the script once, then
`run()`. What torch did meanwhile is in `Outcome`. Blocks say `torch.compile(f)` as a user would; only the default
of its `backend` parameter is "eager" here, so that nothing but Dynamo is waited for. Needs torch and the standard
library only, so that `measure` can run it under other versions of torch: as a script it reads a JSON object of
sources from stdin and writes one of outcomes.
"""

from __future__ import annotations

import json
import linecache
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

LOGGERS = ("torch._dynamo.guards.__recompiles", "torch._dynamo.convert_frame.__recompiles")


@dataclass
class Outcome:
    """`recompiled` are Dynamo's own messages, `frames` how many frames it compiled, `value` what run() returned
    or the exception it raised, `seconds` what a second run takes."""

    value: Any = None
    frames: int = 0
    graphs: int = 0
    breaks: int = 0
    seconds: float = 0.0
    recompiled: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)


@contextmanager
def _defaults(**values: Any) -> Iterator[None]:
    import torch

    settings = torch.compile.__kwdefaults__
    old = dict(settings)
    settings.update(values)
    try:
        yield
    finally:
        settings.update(old)


def _branch(test: Any, then: Any, orelse: Any, operands: Any = ()) -> Any:
    return then(*operands) if test else orelse(*operands)


def outcome(source: str, *, compiling: bool = True, again: bool = False, limit: int = 8) -> Outcome:
    """Run the block; `compiling` False makes every torch.compile in it do nothing, and torch.cond, which compiles
    too, an `if` of Python; `again` runs it a second time and takes the time; `limit` is Dynamo's of recompilations."""
    import torch
    import torch._dynamo
    import torch._functorch.config
    from torch._dynamo.utils import counters

    result = Outcome()

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "Recompiling function" in record.getMessage():
                result.recompiled.append(record.getMessage())

    ear = Ear()
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    torch._logging.set_logs(recompiles=True)
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addHandler(ear)
        logger.propagate = False
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = str(Path(folder, "block.py"))
        Path(path).write_text(source, encoding="utf-8")
        linecache.checkcache(path)
        names: dict[str, Any] = {"__name__": "block", "__file__": path}
        environment = dict(os.environ)
        # What a block sets is put back.
        with (
            torch._dynamo.config.patch(
                suppress_errors=False, cache_size_limit=limit, capture_scalar_outputs=False
            ),
            torch._functorch.config.patch(activation_memory_budget=1.0),
            _defaults(backend="eager", disable=not compiling),
            nullcontext() if compiling else mock.patch("torch.cond", _branch),
        ):
            try:
                exec(compile(source, path, "exec"), names)
                result.value = names["run"]()
                graphs = counters["stats"]["unique_graphs"]
                result.frames, result.graphs = counters["frames"]["ok"], graphs
                result.breaks = sum(counters["graph_break"].values())
                if again:
                    start = time.perf_counter()
                    names["run"]()
                    result.seconds = time.perf_counter() - start
            except Exception as e:
                result.value = e
            finally:
                os.environ.clear()
                os.environ.update(environment)
        result.warned = [str(w.message) for w in caught]
    for logger in loggers:
        logger.removeHandler(ear)
    torch._logging.set_logs()
    torch._dynamo.reset()
    return result


def same(a: Any, b: Any) -> bool:
    """Whether two results of run() are equal: tensors by value, exceptions by type."""
    import torch

    if isinstance(a, BaseException) or isinstance(b, BaseException):
        return type(a) is type(b)
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.shape == b.shape and torch.equal(a, b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def said(error: BaseException) -> str:
    """The error without what follows its first line: a stack trace names a folder of the moment."""
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}({first!r})" if first else f"{type(error).__name__}()"


def main() -> None:
    results = {}
    for name, source in json.load(sys.stdin).items():
        os.environ["TORCHDYNAMO_DISABLE"] = "0"  # a block may set it
        compiled = outcome(source)
        os.environ["TORCHDYNAMO_DISABLE"] = "0"
        eager = outcome(source, compiling=False)
        results[name] = {
            "recompilations": len(compiled.recompiled),
            "frames": compiled.frames,
            "breaks": compiled.breaks,
            "same": same(compiled.value, eager.value),
            "error": said(compiled.value) if isinstance(compiled.value, BaseException) else "",
        }
    print("\n" + json.dumps(results))


if __name__ == "__main__":
    main()
