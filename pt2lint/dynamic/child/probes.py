"""Run one target under Dynamo in several ways, and send what each run saw.

No single way tells the truth: explain misses breaks in frames that are skipped whole, fullgraph=True captures
scalars that default mode does not and stops at the first break. So a target is run eagerly (which lines
run?), through explain, in default mode with every record heard, under fullgraph=True, and on further
inputs.
"""

import contextlib
import copy
import os
import random
import sys
import time
import traceback

import torch
import torch._dynamo

from .lines import Lines
from .taps import listening, under

REPEATS = 10  # calls in all when repeating one: two more than the default recompile limit of 8


class Target:
    """A callable and one or more calls of it: [(args, kwargs), ...].

    `how` says where the inputs came from; `path` and `line` where the callable is defined.
    """

    def __init__(self, name, function, calls, how):
        self.name, self.function, self.calls, self.how = name, function, calls, how
        self.path, self.line = defined_at(function)
        self._pristine = self._copy(function)

    @staticmethod
    def _copy(function):
        owner = module_of(function)
        if owner is None:
            return None
        try:
            return copy.deepcopy(function)
        except Exception:
            return None  # holds something that cannot be copied: its state goes on from run to run

    @property
    def modes(self):
        return ("train", "eval") if module_of(self.function) is not None else ("call",)

    def fresh(self, mode, device):
        """The callable as it was at first, in train or eval mode, on the device."""
        function = self.function if self._pristine is None else self._copy(self._pristine)
        module = module_of(function)
        if module is not None:
            module.train(mode != "eval")
            if device:
                module.to(device)
        return function

    def arguments(self, number, device):
        return cloned(self.calls[number], device)


def module_of(function):
    """The nn.Module that is called, or whose bound method is; None for other callables."""
    if isinstance(function, torch.nn.Module):
        return function
    owner = getattr(function, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None


def defined_at(function):
    """(real path, line) of the code of a callable, (None, None) where it has none in Python."""
    if isinstance(function, torch.nn.Module):
        function = type(function).forward
    elif not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = getattr(type(function), "__call__", function)
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return (os.path.realpath(code.co_filename), code.co_firstlineno) if code else (None, None)


def cloned(value, device=None):
    """A copy of an argument tree in which each tensor is a new leaf; modules stay the same."""
    if isinstance(value, torch.Tensor):
        with torch.no_grad():
            new = value.detach().clone()
        if device:
            new = new.to(device)
        return new.requires_grad_(value.requires_grad) if value.requires_grad else new
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(cloned(item, device) for item in value))
    if type(value) in (list, tuple, set):
        return type(value)(cloned(item, device) for item in value)
    if type(value) is dict:
        return {key: cloned(item, device) for key, item in value.items()}
    if isinstance(value, (torch.nn.Module, torch.optim.Optimizer)):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


@contextlib.contextmanager
def as_before():
    """Put back what the verified code may change in the process: folder, streams, signals, modes, seeds."""
    import signal

    folder, streams = os.getcwd(), (sys.stdin, sys.stdout, sys.stderr)
    path, argv = list(sys.path), list(sys.argv)
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    handlers = {
        number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)
    }
    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        sys.path[:], sys.argv[:] = path, argv
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        signal.alarm(0)
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        os.chdir(folder)


def failure(error, roots):
    """An exception as plain data: kind, type, message in one line, place under the roots."""
    exc = torch._dynamo.exc
    kinds = [
        ("recompile limit", ("FailOnRecompileLimitHit", "RecompileError", "RecompileLimitExceeded")),
        ("backend failure", ("BackendCompilerFailed",)),
        ("graph break", ("Unsupported", "UserError")),
        ("internal error", ("InternalTorchDynamoError", "TorchRuntimeError", "TorchDynamoException")),
    ]
    text = str(error)
    kind = "exception"
    if (
        isinstance(error, MemoryError)
        or "OutOfMemory" in type(error).__name__
        or "can't allocate memory" in text
    ):
        kind = "out of memory"
    elif isinstance(error, SystemExit):
        kind = "exit"
        text = f"it called sys.exit({error.code!r})"
    elif isinstance(error, KeyboardInterrupt):
        kind = "exit"
    else:
        for name, types in kinds:
            if isinstance(error, tuple(getattr(exc, t) for t in types if hasattr(exc, t))):
                kind = name
                break
    place = None
    for frame in traceback.extract_tb(error.__traceback__):
        if under(os.path.realpath(frame.filename), roots):
            place = [os.path.realpath(frame.filename), frame.lineno]
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return {"kind": kind, "type": type(error).__name__, "message": first[:300], "place": place}


class Prober:
    """Runs the probes of one target after the other and sends what they saw."""

    def __init__(self, spec, wire):
        self.spec, self.wire = spec, wire
        self.roots = spec["roots"]
        self.device = spec["device"]
        self.backend = spec["backend"]

    def probe(self, target):
        self.wire.send("target", name=target.name, how=target.how, path=target.path, line=target.line)
        modes = [mode for mode in target.modes if mode == "call" or mode in self.spec["modes"]] or ["call"]
        worked = [mode for mode in modes if self.eager(target, mode)]
        if worked:
            self.explain(target, worked[0])
        for mode in worked:
            broke = self.default(target, mode)
            self.fullgraph(target, mode)
            if broke and fullgraph_captures():
                self.capture(target, mode)
        torch._dynamo.reset()
        self.wire.send("target_done", name=target.name)

    @contextlib.contextmanager
    def run(self, target, probe, mode, extra=None):
        """One run: all as before it, gradients by the mode; sends it, and the exception that ended it."""
        report = {} if extra is None else extra
        error = None
        start = time.perf_counter()
        try:
            with as_before(), torch.set_grad_enabled(mode != "eval"):
                yield report
        except BaseException as raised:
            error = failure(raised, self.roots)
            fields = logs_of(raised)
            if fields:
                report.setdefault("events", []).append(("break", fields))
        seconds = time.perf_counter() - start
        self.wire.send(
            "run", target=target.name, probe=probe, mode=mode, error=error, seconds=seconds, **report
        )

    def eager(self, target, mode):
        """Whether the target runs at all; and which lines do."""
        worked = []
        with self.run(target, "eager", mode) as report:
            function = target.fresh(mode, self.device)
            args, kwargs = target.arguments(0, self.device)
            with Lines(self.roots) as lines:
                function(*args, **kwargs)
            report["ran"] = lines.result()
            worked.append(True)
        return bool(worked)

    def explain(self, target, mode):
        torch._dynamo.reset()
        with self.run(target, "explain", mode) as report:
            args, kwargs = target.arguments(0, self.device)
            said = torch._dynamo.explain(target.fresh(mode, self.device))(*args, **kwargs)
            report["explain"] = {
                "graphs": said.graph_count,
                "breaks": said.graph_break_count,
                "operators": said.op_count,
            }

    def counting_backend(self, records):
        """The chosen backend, with a note of each graph and its operators."""
        compile_graph = torch._dynamo.backends.registry.lookup_backend(self.backend)

        def backend(graph, inputs, **options):
            operators = sum(
                node.op in ("call_function", "call_method", "call_module") for node in graph.graph.nodes
            )
            records.on_graph(operators)
            return compile_graph(graph, inputs, **options)

        return backend

    def default(self, target, mode):
        """Default mode, every record heard; then the same and further inputs. Returns whether it broke."""
        torch._dynamo.reset()
        function = target.fresh(mode, self.device)
        broke = compiled = None
        with self.run(target, "default", mode) as report, listening(self.roots) as records:
            args, kwargs = target.arguments(0, self.device)
            compiled = torch.compile(function, backend=self.counting_backend(records))
            report_records(report, records)
            try:
                compiled(*args, **kwargs)
            finally:
                report_records(report, records)
                broke = any(kind == "break" for kind, _ in records.events)
        if compiled is not None and "error" not in report and self.spec["further"]:
            self.further(target, mode, compiled)
        return broke

    def further(self, target, mode, compiled):
        """Call the compiled target again: with the same inputs, then with the further ones."""
        for number in range(len(target.calls)):
            probe = "again" if number == 0 else "given"
            with self.run(target, probe, mode) as report, listening(self.roots) as records:
                report["call"] = number
                try:
                    for repeat in range(REPEATS if number == 0 else 1):
                        args, kwargs = target.arguments(number, self.device)
                        compiled(*args, **kwargs)
                        if repeat == 1 and not any(kind == "recompile" for kind, _ in records.events):
                            break
                finally:
                    report_records(report, records)

    def fullgraph(self, target, mode):
        torch._dynamo.reset()
        with self.run(target, "fullgraph", mode):
            args, kwargs = target.arguments(0, self.device)
            compiled = torch.compile(target.fresh(mode, self.device), backend=self.backend, fullgraph=True)
            compiled(*args, **kwargs)

    def capture(self, target, mode):
        """Which breaks remain with what fullgraph=True captures: those that it would stop at."""
        torch._dynamo.reset()
        with self.run(target, "capture", mode) as report, listening(self.roots) as records:
            with torch._dynamo.config.patch(
                capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
            ):
                args, kwargs = target.arguments(0, self.device)
                try:
                    torch.compile(target.fresh(mode, self.device), backend=self.backend)(*args, **kwargs)
                finally:
                    report_records(report, records)


def report_records(report, records):
    report["events"] = records.events
    report["traced"] = records.lines(skipped=False)
    report["gave_up"] = records.lines(skipped=True)


def logs_of(error):
    """The break that an exception of fullgraph=True tells of, None where it tells of none."""
    from . import logs
    from .taps import real_places

    if not isinstance(error, (torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError)):
        return None
    record = logs.read_error(str(error))
    if record is None and getattr(error, "real_stack", None):
        stack = [[f.filename, f.lineno, logs.function_name(f.name), None, None] for f in error.real_stack]
        reason, explanation, hints, context = logs.read_reason(str(error))
        record = dict(
            path=stack[-1][0],
            line=stack[-1][1],
            reason=reason,
            explanation=explanation,
            hints=hints,
            context=context,
            graph_break=logs.registry_id(str(error)),
            stack=stack,
            skipped=False,
            why_skipped="",
        )
    return real_places(record) if record else None


def fullgraph_captures(found=[]):  # noqa: B006 -- measured once a process
    """Whether this torch's fullgraph=True turns on the capture of scalars (so `.item()` passes): measured."""
    if not found:
        torch._dynamo.reset()

        def item(x):
            return x + x.sum().item()

        try:
            torch.compile(item, backend="eager", fullgraph=True)(torch.ones(2))
            found.append(True)
        except Exception:
            found.append(False)
        torch._dynamo.reset()
    return found[0]
