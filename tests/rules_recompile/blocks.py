"""Runs the code blocks of the pages of recompilation and silent-misuse rules under the installed torch.

A block is a script that defines `run()`. Running it is what a user's program does: the script once, then
`run()`. What the torch of the test did meanwhile is in `Outcome`. Blocks say `torch.compile(f)` as a user
would; only the default of its `backend` parameter is "eager" here, so that nothing but Dynamo is waited
for.
"""

from __future__ import annotations

import linecache
import logging
import re
import tempfile
import textwrap
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pt2lint.config import Settings
from pt2lint.rule import Rule
from pt2lint.static.engine import lint

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


def block(rule: type[Rule], section: str) -> str:
    """The python block of a section of the rule's page."""
    text = rule.page().help
    match = re.search(rf"^## {re.escape(section)}\n(?:(?!^## ).)*?^```python\n(.*?)^```", text, re.M | re.S)
    assert match, f"{rule.code} has no block under {section!r}"
    return textwrap.dedent(match[1])


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


def outcome(source: str, *, compiling: bool = True, again: bool = False) -> Outcome:
    """Run the block; `compiling` False makes every torch.compile in it do nothing; `again`
    runs it a second time and takes the time."""
    import torch
    import torch._dynamo
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
        # What a block sets is put back.
        with (
            torch._dynamo.config.patch(suppress_errors=False, cache_size_limit=8),
            _defaults(backend="eager", disable=not compiling),
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
        result.warned = [str(w.message) for w in caught]
    for logger in loggers:
        logger.removeHandler(ear)
    torch._logging.set_logs()
    torch._dynamo.reset()
    return result


def codes(source: str, tmp_path: Path, prefix: str = "PT") -> list[str]:
    """The codes that linting this text reports, by line: "PTR201:5"."""
    path = tmp_path / "m.py"
    path.write_text(source, encoding="utf-8")
    found = lint([str(path)], Settings(pedantic=True))
    assert not found.problems, found.problems
    return [f"{f.code}:{f.line}" for f in found.findings if f.code.startswith(prefix)]


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


def marked(source: str) -> list[str]:
    """The findings that comments in the source announce: `x = f()  # PTR201, PTR205`."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        found += [f"{code}:{number}" for code in re.findall(r"PT[RS]\d{3}", line.partition("#")[2])]
    return sorted(found)
