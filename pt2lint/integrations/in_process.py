"""Hear what Dynamo does in this very process, and say it as findings: what the pytest plugin asserts on.

The one place where pt2lint imports torch in the user's own process: tests run the user's code anyway.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch._dynamo
from torch._dynamo.output_graph import OutputGraph

from pt2lint.dynamic.child.log_listener import Records, listening
from pt2lint.dynamic.child.probes import break_of
from pt2lint.dynamic.child.targets import defined_at
from pt2lint.dynamic.events import Break, Events, Run, run_from
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding

OFF = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")


@dataclass(frozen=True)
class Outcome:
    """What compiling led to: graphs handed to the backend, places that broke one, recompilations.

    `places` are (path, line) in the user's code, each once; `switched_off` names the environment variable that
    keeps Dynamo from compiling anything.
    """

    run: Run
    places: tuple[tuple[str, int], ...]
    names: tuple[str, ...]
    switched_off: str | None = None

    @property
    def graphs(self) -> int:
        return len(self.run.graphs)

    @property
    def recompilations(self) -> int:
        return sum(recompile.limit is None for recompile in self.run.recompiles)

    def findings(self) -> list[Finding]:
        """The rules' findings where Dynamo broke or recompiled, and PTB900 and PTR900 where no rule foresaw it."""
        from pt2lint.fixes.edit import EditError, read_source
        from pt2lint.project.config import Configs
        from pt2lint.static.engine import lint

        shown, sources = dict[str, str](), dict[str, str]()
        for path in dict.fromkeys([path for path, _ in self.places] + [r.path for r in self.run.recompiles]):
            with contextlib.suppress(OSError, EditError):
                sources[path] = read_source(path)[0].removeprefix("\ufeff")
                shown[path] = _shown(path)
        files = Files(shown, sources)
        found: list[Finding] = []
        configs = Configs()
        for path, name in shown.items():
            settings = configs.of(os.path.dirname(path))
            wanted = (*settings.root_names, *self.names)
            found += lint([name], replace(settings, root_names=wanted, pedantic=True)).findings
        judged = judge(found, Events((self.run,)), files)
        return [finding for finding in judged if finding.verdict == "confirmed"]

    def text(self) -> str:
        """The findings as the command line prints them, with the source."""
        from pt2lint.fixes.edit import read_source
        from pt2lint.report import Report
        from pt2lint.report.text import blocks

        findings = self.findings()
        sources = {finding.path: read_source(finding.path)[0].removeprefix("\ufeff") for finding in findings}
        return "\n\n".join(blocks(Report(findings, sources=sources)))


class Ear:
    """Hears all that Dynamo compiles while it is held to it."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def now(self) -> int:
        """A mark in what was heard."""
        return len(self._records.events)

    def heard(self, since: int = 0, names: Sequence[str] = (), error: BaseException | None = None) -> Outcome:
        """What was heard since a mark; `error` is what ended it, perhaps fullgraph=True at a break.

        `names` are the callables that were compiled, as `roots` in the settings takes them.
        """
        events = self._records.events[since:]
        known = {(fields["path"], fields["line"]) for kind, fields in events if kind == "break"}
        record = break_of(error) if error is not None else None
        if record and (record["path"], record["line"]) not in known:
            events.append(("break", record))
        lines = {"traced": self._records.lines(skipped=False), "gave_up": self._records.lines(skipped=True)}
        run = run_from({"target": "", "probe": "program", "mode": "call", "events": events, **lines})
        off = next((name for name in OFF if os.environ.get(name, "0") not in ("", "0")), None)
        places = dict.fromkeys(self._place(break_, run.breaks) for break_ in run.breaks)
        return Outcome(run, tuple(places), tuple(names), off)

    def _place(self, break_: Break, breaks: Sequence[Break]) -> tuple[str, int]:
        """The innermost line of the tested project that Dynamo was at, else of what it uses, else of torch."""
        if not break_.stack:  # a repeated record: the first one of the place has the stack
            same = [b for b in breaks if b.stack and (b.path, b.line) == (break_.path, break_.line)]
            break_ = same[0] if same else break_
        traced = self._records.traced.values()
        frames = [(os.path.realpath(path), line) for path, line, *_ in reversed(break_.stack)]
        for path, line in frames:
            if "site-packages" not in path and any(line in files.get(path, ()) for files in traced):
                return path, line
        torch_itself = os.path.dirname(os.path.realpath(torch.__file__)) + os.sep
        library = os.path.realpath(sysconfig.get_path("stdlib")) + os.sep
        for path, line in frames:
            standard = path.startswith(library) and "site-packages" not in path
            if not standard and not path.startswith(torch_itself):
                return path, line
        return break_.path, break_.line


@contextlib.contextmanager
def hearing(root: str) -> Iterator[Ear]:
    """Hear Dynamo, from a clean start: what was compiled before is compiled again. `root` is the project's
    folder, whose lines findings are placed at."""
    torch._dynamo.reset()
    # pytest listens to Dynamo's structured trace too, which is hundreds of empty lines in its report of the test.
    trace = logging.getLogger("torch.__trace")
    deaf = [handler for handler in trace.handlers if type(handler).__module__.startswith("_pytest")]
    for handler in deaf:
        trace.removeHandler(handler)
    with listening([os.path.realpath(root)]) as records:
        compile_graph: Any = OutputGraph.call_user_compiler

        def counted(self: Any, gm: torch.fx.GraphModule, *args: Any) -> Any:
            calls = ("call_function", "call_method", "call_module")
            records.on_graph(sum(node.op in calls for node in gm.graph.nodes))
            return compile_graph(self, gm, *args)

        OutputGraph.call_user_compiler = counted
        try:
            yield Ear(records)
        finally:
            OutputGraph.call_user_compiler = compile_graph
            for handler in deaf:
                trace.addHandler(handler)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The callable compiled, by Dynamo alone; as it is where the caller has compiled it."""
    optimized = isinstance(function, torch._dynamo.eval_frame.OptimizedModule)
    in_place = getattr(function, "_compiled_call_impl", None) is not None
    if optimized or in_place or hasattr(function, "_torchdynamo_orig_callable"):
        return function
    return torch.compile(function, backend="eager")


def name_of(function: Callable[..., Any]) -> str:
    """What the callable is called in its definition."""
    function = getattr(function, "_orig_mod", None) or function
    if isinstance(function, torch.nn.Module):
        return type(function).__qualname__
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def root_of(function: Callable[..., Any]) -> list[str]:
    """The callable as `roots` in the settings names it, [] where reading cannot find it by a name."""
    from pt2lint.static.source.project import module_name

    original: Any = getattr(function, "_orig_mod", None)
    if original is None:
        original = getattr(function, "_torchdynamo_orig_callable", function)
    path, _ = defined_at(original)
    name = name_of(function)
    if path is None or "<" in name or name.count(".") > 1:
        return []
    return [f"{module_name(path)[0]}:{name}"]


def _shown(path: str) -> str:
    inside = os.path.relpath(path)
    return path if inside.startswith("..") else inside
