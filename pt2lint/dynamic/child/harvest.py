"""Way 4: run the user's own program once, and record how it calls what is compiled or could be.

`targets` runs it eagerly and clones the arguments of the first calls of each root; `live` runs it as it
stands, with torch.compile at work, and hears what Dynamo says of the program's own sequence of calls:
further steps of a scheduler, the last short batch, train after eval. Both note each place where the program
asks for a compilation: how often what it got was called (`targets`), how many graphs came of it (`live`).
Both end a program that shows nothing new for long (`patience`).
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.optim.optimizer import register_optimizer_step_post_hook

from .log_listener import listening, under
from .patience import Patience
from .probes import Prober, as_before, capturing, failure, fullgraph_captures, report_records
from .program import run_program
from .result_pipe import Wire
from .targets import Target, autocast_now, cloned, defined_at, module_of

MOST_PRINTED = 1_000_000  # characters of what a program prints that are compared
CALLS = 4  # recorded per root, calls that differ in shape or in a plain value
WITHOUT_CALLS = 2  # times the usual patience, where what the program calls is not seen


class Sites:
    """The lines at which a program calls torch.compile or Module.compile, each with a count.

    An entry: path, line, made (how often it was called), in_place (Module.compile), and the count, named `what`.
    """

    def __init__(self, roots: list[str], what: str) -> None:
        self.roots, self.what = roots, what
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.of: dict[int, list[dict[str, Any]]] = {}  # by the id of what is counted for them
        self.alive: list[Any] = []  # so that no other object gets such an id

    def here(self, in_place: bool) -> dict[str, Any]:
        """The entry of the user's line that is running now; of a library's line a new one that nobody asks for."""
        frame: Any = sys._getframe(1)
        while frame is not None and not under(os.path.realpath(frame.f_code.co_filename), self.roots):
            frame = frame.f_back
        entry: dict[str, Any] = {"path": None, "line": 0, "made": 0, "in_place": in_place, self.what: 0}
        if frame is not None:
            path = os.path.realpath(frame.f_code.co_filename)
            entry.update(path=path, line=_as_written(path, frame.f_lineno))
            entry = self.seen.setdefault((entry["path"], entry["line"]), entry)
        entry["made"] += 1
        return entry

    def count_for(self, thing: Any, entry: dict[str, Any]) -> None:
        """From now on what happens to the thing counts for the entry, and for others that it counts for."""
        self.alive.append(thing)
        entries = self.of.setdefault(id(thing), [])
        if entry not in entries:
            entries.append(entry)

    def happened(self, thing: Any) -> None:
        for entry in self.of.get(id(thing), ()):
            entry[self.what] += 1

    def result(self) -> list[dict[str, Any]]:
        return list(self.seen.values())


def _as_written(path: str, line: int) -> int:
    """The line of what runs at a line: before Python 3.11 a decorator is called at the line of the `def` below it."""
    if sys.version_info >= (3, 11):
        return line
    return _decorators(path).get(line, line)


@functools.cache
def _decorators(path: str) -> dict[int, int]:
    """The lines of a file's decorators by the lines of their `def` or `class`: of several the one that says `compile`,
    else the last, which is called first."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {
        node.lineno: max(node.decorator_list, key=lambda d: ("compile" in ast.unparse(d), d.lineno)).lineno
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.decorator_list
    }


class Reads:
    """The names that the program's own lines read from modules that torch.compile returned.

    `isinstance` asks an object of another class for its `__class__`, which is how that is seen.
    """

    def __init__(self, roots: list[str]) -> None:
        self.roots = roots
        self.seen: dict[tuple[str, int, str], int] = {}
        self.own: dict[str, str | None] = {}  # real paths of the program's files by their names

    def __enter__(self) -> Reads:
        from torch._dynamo.eval_frame import OptimizedModule

        self.wrapper, self.before = OptimizedModule, vars(OptimizedModule).get("__getattribute__")
        get = OptimizedModule.__getattribute__

        def read(module: Any, name: str) -> Any:
            frame = sys._getframe(1)
            path = self.path(frame.f_code.co_filename)
            if path is not None:
                key = (path, frame.f_lineno, name)
                self.seen[key] = self.seen.get(key, 0) + 1
            return get(module, name)

        OptimizedModule.__getattribute__ = read
        return self

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            del self.wrapper.__getattribute__
        else:
            self.wrapper.__getattribute__ = self.before

    def path(self, name: str) -> str | None:
        if name not in self.own:
            real = os.path.realpath(name)
            self.own[name] = real if under(real, self.roots) else None
        return self.own[name]

    def result(self) -> list[dict[str, Any]]:
        return [{"path": p, "line": n, "name": name, "count": c} for (p, n, name), c in self.seen.items()]


class Recorder:
    """The first calls of each root: what torch.compile is given, and the outermost of the user's modules."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = roots
        self.sites = Sites(roots, "calls")
        # By the id of what is called, and the autocast that it is called under.
        self.targets: dict[tuple[int, Any], Target] = {}
        self.signatures: dict[tuple[int, Any], set[Any]] = {}
        self.explicit: set[int] = set()
        self.whole: dict[int, bool] = {}  # whether all that compiles it says fullgraph=True
        self.depth = threading.local()
        self.calls = 0
        self.new = 0  # what was seen that is worth knowing: it has a bound, however long the program runs
        self.places: dict[Any, set[Any]] = {}  # signatures by where what is called is defined

    def site(self, in_place: bool) -> dict[str, Any]:
        """The entry of the user's line that asks for a compilation now."""
        entry = self.sites.here(in_place)
        self.new += entry["path"] is not None and entry["made"] <= CALLS
        return entry

    def compiled(self, thing: Any, fullgraph: bool = False, **options: Any) -> None:
        """It is compiled so."""
        self.whole[id(thing)] = fullgraph and self.whole.get(id(thing), True)

    def inside(self) -> bool:
        return getattr(self.depth, "count", 0) > 0

    def call(self, function: Any, args: tuple, kwargs: dict[str, Any], original: Callable[..., Any]) -> Any:
        """Record one call, then make it; calls inside it are its own business."""
        self.calls += 1
        self.record(function, args, kwargs)
        self.depth.count = getattr(self.depth, "count", 0) + 1
        try:
            return original(*args, **kwargs)
        finally:
            self.depth.count -= 1

    def record(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        autocast = autocast_now()
        key = (id(function), autocast)
        signature = describe((args, kwargs))
        seen = self.signatures.setdefault(key, set())
        if signature in seen or len(seen) >= CALLS:
            return
        seen.add(signature)
        # Modules that the program makes in a loop are each a root, but nothing new.
        known = self.places.setdefault(defined_at(function), set())
        if len(known) < CALLS and signature not in known:
            known.add(signature)
            self.new += 1
        call = (cloned(args), cloned(kwargs))
        if key not in self.targets:
            from .inputs import label, unique

            name = unique(label(function), self.targets.values())
            self.targets[key] = Target(name, function, [], "recorded")
            self.targets[key].whole = self.whole.get(id(function), False)
            self.targets[key].autocast = autocast
        module = module_of(function)
        self.targets[key].add(call, None if module is None else "train" if module.training else "eval")

    def wants(self, module: torch.nn.Module) -> bool:
        if isinstance(module, DistributedDataParallel):  # no copy of it runs: what it wraps is looked at
            self.explicit |= {id(module.module)} if id(module) in self.explicit else set()
            return False
        if id(module) in self.explicit:
            return True
        path, _ = defined_at(module)
        return path is not None and under(path, self.roots)


def describe(value: Any) -> Any:
    """What tells calls apart: shapes, dtypes and plain values."""
    if isinstance(value, torch.Tensor):
        return ("tensor", tuple(value.shape), str(value.dtype), value.requires_grad)
    if isinstance(value, (list, tuple)):
        return tuple(describe(item) for item in value)
    if isinstance(value, dict):
        return tuple((str(key), describe(item)) for key, item in value.items())
    return value if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__


def targets(what: str, spec: dict[str, Any], wire: Wire) -> list[Target]:
    """Run the program eagerly and return the roots that it called."""
    recorder, patience = Recorder(spec["roots"]), Patience(spec["timeout"])
    real_compile, real_call, real_module_compile = (
        torch.compile,
        torch.nn.Module.__call__,
        torch.nn.Module.compile,
    )

    # What was compiled meanwhile is called again by the targets, and is to be traced as if nobody had listened.
    wrapped: list[torch._dynamo.OptimizedModule] = []
    done: list[bool] = []

    def compile(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda function: compile(function, **options)
        site = recorder.site(in_place=False)
        recorder.compiled(model, **options)
        if isinstance(model, torch.nn.Module):
            recorder.explicit.add(id(model))
            result = real_compile(model, **options)
            recorder.sites.count_for(result, site)
            if isinstance(result, torch._dynamo.OptimizedModule):
                wrapped.append(result)
            return result

        @functools.wraps(model)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if done:
                return model(*args, **kwargs)
            patience.look(recorder.new, recorder.calls)
            site["calls"] += 1
            if recorder.inside():
                return model(*args, **kwargs)
            return recorder.call(model, args, kwargs, model)

        return recorded

    def module_compile(module: torch.nn.Module, *args: Any, **options: Any) -> None:
        recorder.explicit.add(id(module))
        recorder.compiled(module, **options)
        recorder.sites.count_for(module, recorder.site(in_place=True))

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        patience.look(recorder.new, recorder.calls)
        recorder.sites.happened(module)
        original = functools.partial(real_call, module)
        if recorder.inside() or torch.jit.is_tracing() or not recorder.wants(module):
            return original(*args, **kwargs)
        return recorder.call(module, args, kwargs, original)

    torch.compile, torch.nn.Module.__call__, torch.nn.Module.compile = compile, call, module_compile
    error = None
    reads = Reads(spec["roots"])
    try:
        with as_before(), reads, groups_kept():
            torch.compiler.set_stance("force_eager")
            run_program(what)
    except BaseException as raised:
        error = None if patience.stopped else failure(raised, spec["roots"])
    finally:
        torch.compiler.set_stance("default")
        torch.compile, torch.nn.Module.__call__, torch.nn.Module.compile = (
            real_compile,
            real_call,
            real_module_compile,
        )
        done.append(True)
        for module in wrapped:
            module._initialize()  # its forward is bound to the __call__ of when it was made
    if error:
        wire.send("program_failed", error=error)
    found = list(recorder.targets.values())
    if patience.stopped:
        functions = f"{len(found)} function" + ("" if len(found) == 1 else "s")
        tell_stopped(
            patience, f"`{what}` was stopped after {recorder.calls} calls of {functions}", spec, wire
        )
    for target in found:
        target.how = "recorded from " + what + (", under autocast" if target.autocast else "")
    sites = recorder.sites.result()
    if sites:
        seen = {"sites": sites, "reads": reads.result(), "stopped": patience.stopped}
        wire.send("run", target=what, probe="recorded", mode="call", error=error, seconds=None, **seen)
    return found


@contextlib.contextmanager
def groups_kept() -> Iterator[None]:
    """Keep the process group that a program destroys in the end: the calls that it made are made again."""
    if not torch.distributed.is_available():
        yield
        return
    make, destroy = torch.distributed.init_process_group, torch.distributed.destroy_process_group
    late: list[Callable[[], None]] = []

    def init_process_group(*args: Any, **kwargs: Any) -> None:
        while late:
            late.pop()()
        make(*args, **kwargs)

    def destroy_process_group(group: Any = None) -> None:
        late.append(functools.partial(destroy, group))

    torch.distributed.init_process_group = init_process_group
    torch.distributed.destroy_process_group = destroy_process_group
    try:
        yield
    finally:
        torch.distributed.init_process_group, torch.distributed.destroy_process_group = make, destroy


def tell_stopped(patience: Patience, what: str, spec: dict[str, Any], wire: Wire) -> None:
    """Say once, not in each child that goes on after a crash, that the program was ended."""
    if not spec["skip"]:
        limit = f"--timeout, now {spec['timeout']:g} s, says how long it may run"
        wire.send("note", text=f"{what}, as nothing new came of it for {patience.seconds:g} s: {limit}")


@contextlib.contextmanager
def heard(spec: dict[str, Any], wire: Wire) -> Iterator[None]:
    """Send what the program prints, where a fix is to be tried on it."""
    if not spec.get("recount"):
        yield
        return
    out = io.StringIO()
    steps: list[str] = []
    told = spec["recount"].get("steps")
    hook = register_optimizer_step_post_hook(watched(steps)) if told else None
    try:
        with contextlib.redirect_stdout(out):
            yield
    finally:
        if hook is not None:
            hook.remove()
        wire.send("printed", text="\n".join([out.getvalue()[-MOST_PRINTED:], *steps]))


def watched(steps: list[str]) -> Any:
    """A hook that writes down of each step of an optimizer what it was given and what it left: for a program that
    prints nothing by which to tell whether it trains as it did."""

    @torch._dynamo.disable
    def hook(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        given = [p.grad for p in held if p.grad is not None]
        sums = [sum(float(t.detach().abs().double().sum()) for t in one) for one in (given, held)]
        steps.append(f"gradients {sums[0]:.6e} parameters {sums[1]:.6e}")

    return hook


def captured(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """What was compiled, called with what fullgraph=True captures."""

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        with capturing():
            return compiled(*args, **kwargs)

    return call


def live(what: str, spec: dict[str, Any], wire: Wire, prober: Prober) -> None:
    """Run the program as it stands, compiled with the chosen backend, and send what Dynamo said."""
    real_compile, real_module_compile = torch.compile, torch.nn.Module.compile
    captures = fullgraph_captures()
    name = "the program " + what
    report: dict[str, Any] = {}
    error = None
    wire.send("target", name=name, how="run as it stands", path=None, line=None)
    sites = Sites(spec["roots"], "graphs")
    patience = Patience(spec["timeout"], factor=WITHOUT_CALLS)
    with listening(spec["roots"]) as records:

        def options_for(function: Any, options: dict[str, Any], in_place: bool = False) -> dict[str, Any]:
            kept = {key: value for key, value in options.items() if key in ("dynamic", "disable")}
            # Code that is compiled at two places has its graphs from either: Dynamo compiles it once.
            if isinstance(function, torch.nn.Module):
                code: Any = type(function)
            else:
                code = getattr(getattr(function, "__func__", function), "__code__", function)
            sites.count_for(code, sites.here(in_place))
            return dict(kept, backend=prober.counting_backend(records, lambda: sites.happened(code)))

        def compile(model: Any = None, **options: Any) -> Any:
            if model is None:
                return lambda function: compile(function, **options)
            compiled = real_compile(model, **options_for(model, options))
            if not captures or options.get("fullgraph") is not True:
                return compiled
            if isinstance(compiled, torch.nn.Module):
                compiled.forward = captured(compiled.forward)
                return compiled
            return captured(compiled)

        def module_compile(module: torch.nn.Module, *args: Any, **options: Any) -> None:
            torch.compile = real_compile  # which Module.compile calls
            try:
                real_module_compile(module, **options_for(module, options, in_place=True))
            finally:
                torch.compile = compile

        torch.compile, torch.nn.Module.compile = compile, module_compile

        def new() -> int:
            places = {(kind, each.get("path"), each.get("line")) for kind, each in list(records.events)}
            return len(places) + sum(min(site["made"], CALLS) for site in list(sites.seen.values()))

        try:
            with as_before(), heard(spec, wire), patience.ticking(new):
                run_program(what)
        except BaseException as raised:
            error = None if patience.stopped else failure(raised, spec["roots"])
        finally:
            torch.compile, torch.nn.Module.compile = real_compile, real_module_compile
        report_records(report, records)
    report.update(sites=sites.result(), stopped=patience.stopped)
    if patience.stopped:
        tell_stopped(patience, f"`{what}`, run compiled, was stopped", spec, wire)
        if spec.get("recount"):
            wire.send("bad_inputs", message=f"`{what}` does not end by itself: it was stopped")
    wire.send("run", target=name, probe="program", mode="call", error=error, seconds=None, **report)
    wire.send("target_done", name=name)
