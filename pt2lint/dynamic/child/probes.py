"""Run one target under Dynamo in several ways, and send what each run saw.

No single way tells the truth: explain misses breaks in frames that are skipped whole, fullgraph=True
captures scalars that default mode does not, and stops at the first break. So a target is run eagerly (which
lines run?), through explain, in default mode with every record heard, under fullgraph=True, and on further
inputs.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch._dynamo

from . import logs
from .allowance import Allowance
from .entropy import entropy
from .lines import Lines
from .log_listener import Records, listening, real_places, under
from .result_pipe import Wire
from .targets import Call, Target, cloned, distance, mapped, module_of, resized, same, tensors_of

# Each adds a layer to the one before: Dynamo, then AOTAutograd, then its decompositions, then code
# generation.
LAYERS = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
REPEATS = 10  # calls in all when one call recompiles: two more than the default recompile limit of 8
LONG_CALL = 1.5  # seconds of the processor
FEW_ROWS = 2
SEEDS = 4  # calls in all when it does not: each with a seed of its own, as random numbers choose paths
ONWARD = 10.0  # seconds of the processor in which Dynamo goes on in loops: each turn may be compiled anew
KINDS = {
    "recompile limit": ("FailOnRecompileLimitHit", "RecompileError", "RecompileLimitExceeded"),
    "backend failure": ("BackendCompilerFailed",),
    "graph break": ("Unsupported", "UserError"),
    "internal error": ("InternalTorchDynamoError", "TorchRuntimeError", "TorchDynamoException"),
}
NO_FAKE_KERNEL = re.compile(r"no fake impl registered for <CustomOpDef\(([\w.:]+)\)>")


@contextlib.contextmanager
def as_before() -> Iterator[None]:
    """Put back what the verified code may change in the process: folder, streams, signals, modes, seeds."""
    folder, streams = os.getcwd(), (sys.stdin, sys.stdout, sys.stderr)
    path, argv = list(sys.path), list(sys.argv)
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    handlers = {
        number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)
    }
    seed(0)
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


@contextlib.contextmanager
def dynamo_as_before() -> Iterator[None]:
    """Put back what decides whether and how torch.compile compiles: what is called next is compiled as any other."""
    config, frames = torch._dynamo.config, torch._dynamo.eval_frame
    settings, stance = config.get_config_copy(), frames._stance
    compile, device = torch.compile, torch.get_default_device()
    try:
        yield
    finally:
        torch.compile = compile
        for name, value in config.get_config_copy().items():
            if name in settings and value != settings[name]:
                setattr(config, name, settings[name])
        if frames._stance != stance:
            frames._set_stance(stance)
        if torch.get_default_device() != device:
            torch.set_default_device(None if device == torch.device("cpu") else device)


def as_in_a_new_process() -> None:
    """Have nothing compiled, and nothing kept by torch of eager runs that decides whether Dynamo breaks the graph: the
    formula for two distributions, once looked up, is found again without a break."""
    torch._dynamo.reset()
    if "torch.distributions.kl" in sys.modules:
        getattr(sys.modules["torch.distributions.kl"], "_KL_MEMOIZE", {}).clear()


def seed(number: int) -> None:
    """Seed every generator of random numbers that is loaded."""
    entropy.restart(number)
    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def failure(error: BaseException, roots: list[str]) -> dict[str, Any]:
    """An exception as plain data: kind, type, message in one line, place under the roots."""
    text, kind = str(error), "exception"
    if (
        isinstance(error, MemoryError)
        or "OutOfMemory" in type(error).__name__
        or "can't allocate memory" in text
    ):
        kind = "out of memory"
    elif isinstance(error, (SystemExit, KeyboardInterrupt)):
        kind = "exit"
        code = getattr(error, "code", None)
        text = (
            f"it called sys.exit({code!r})"
            if isinstance(error, SystemExit)
            else "it raised KeyboardInterrupt"
        )
        text += wanted_arguments(error)
    elif isinstance(error, IndexError):
        text += wanted_arguments(error)
    else:
        for name, types in KINDS.items():
            known = [getattr(torch._dynamo.exc, each) for each in types if hasattr(torch._dynamo.exc, each)]
            if isinstance(error, tuple(known)):
                kind = name
                break
    kernel = NO_FAKE_KERNEL.search(text)
    if kernel:
        kind = "no fake kernel"
        text = (
            f"the custom operator `{kernel[1]}` has no fake kernel, which tells the shapes of what it returns"
        )
        text += f" without computing it: write one, under `@torch.library.register_fake({kernel[1]!r})`"
    place = None
    for frame in [*traceback.extract_tb(error.__traceback__), *(getattr(error, "real_stack", None) or ())]:
        if under(os.path.realpath(frame.filename), roots):
            place = [os.path.realpath(frame.filename), frame.lineno]
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    first = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return {"kind": kind, "type": type(error).__name__, "message": first[:300], "place": place}


def wanted_arguments(error: BaseException) -> str:
    """What argparse or click said as it ended the program: that went to a stream which nobody reads; or that it took
    an argument by hand. "" for anything else."""
    if isinstance(error, IndexError):
        return (
            ", in sys.argv"
            if "sys.argv[" in (traceback.extract_tb(error.__traceback__)[-1].line or "")
            else ""
        )
    said = getattr(error.__context__, "format_message", None)
    if isinstance(error, SystemExit) and callable(said):
        return f": {said()}"
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name == "error" and os.path.basename(frame.f_code.co_filename) == "argparse.py":
            return f": {frame.f_locals.get('message', '')}"
    return ""


class CountingBackend:
    """A backend by name, with a note of each graph and its operators; `heard` is called for each.

    Two of them are equal, as two torch.compile(f, backend="inductor") are: Dynamo asks for that before it uses
    what it compiled for the other one.
    """

    def __init__(self, name: str, records: Records, heard: Callable[[], None]) -> None:
        self.compile_graph = torch._dynamo.backends.registry.lookup_backend(name)
        self.records, self.heard = records, heard
        functools.update_wrapper(self, self.compile_graph)

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Any], **options: Any) -> Any:
        calls = ("call_function", "call_method", "call_module")
        self.records.on_graph(sum(node.op in calls for node in graph.graph.nodes))
        self.heard()
        return self.compile_graph(graph, inputs, **options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountingBackend)

    def __hash__(self) -> int:
        return hash(CountingBackend)


class Prober:
    """Runs the probes of one target after the other and sends what they saw.

    `answers` are the outputs of the eager runs by mode.
    """

    def __init__(self, spec: dict[str, Any], wire: Wire) -> None:
        self.spec, self.wire = spec, wire
        self.roots: list[str] = spec["roots"]
        self.device: str | None = spec["device"]
        self.backend: str = spec["backend"]
        self.cast: str = spec.get("cast") or ""
        self.answers: dict[str, list[torch.Tensor]] = {}

    def probe(self, target: Target) -> None:
        """All probes of one target, each in the modes that it has."""
        said = {"how": target.how, "path": target.path, "line": target.line, "named": target.named}
        self.wire.send("target", name=target.name, **said)
        self.answers = {}
        modes = [mode for mode in target.modes if mode == "call" or mode in self.spec["modes"]]
        worked = []
        for mode in modes:
            begun = time.process_time()
            if self.eager(target, mode):
                worked.append(mode)
                if self.spec["kind"] == "run" and time.process_time() - begun > LONG_CALL:
                    self.fewer_rows(target, mode)
        if worked:
            self.explain(target, worked[0])
        told: set[tuple[str, int]] = set()
        for mode in worked:
            with as_compiled(target):
                breaks = self.default(target, mode)
            self.fullgraph(target, mode)
            places = {(each["path"], each["line"]) for each in breaks}
            if not places <= told:
                told |= places
                if fullgraph_captures():
                    self.capture(target, mode)
                if any(each["skipped"] and "loop" in each["why_skipped"] for each in breaks):
                    with as_compiled(target):
                        self.onward(target, mode)
        torch._dynamo.reset()
        self.wire.send("target_done", name=target.name)

    def recount(self, target: Target) -> None:
        """What is compiled in default mode, and again for further inputs; nothing else."""
        self.wire.send("target", name=target.name, how=target.how, path=target.path, line=target.line)
        self.answers = {}
        for mode in target.modes:
            if (mode == "call" or mode in self.spec["modes"]) and self.eager(target, mode):
                with as_compiled(target):
                    self.default(target, mode)
        torch._dynamo.reset()
        self.wire.send("target_done", name=target.name)

    def in_cast(self, target: Target) -> None:
        """What Dynamo does in default mode with the module and its inputs in another dtype, or under autocast."""
        dtype = getattr(torch, self.cast, None)
        target.dtype = dtype if isinstance(dtype, torch.dtype) else None
        self.recount(target)

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """What the calls run in. `torch.is_autocast_enabled()` asks for that of a GPU, which leaves a CPU as it is."""
        if self.cast != "autocast":
            yield
            return
        before = torch.is_autocast_enabled("cuda")
        with torch.autocast(torch.device(self.device or "cpu").type):
            torch.set_autocast_enabled("cuda", True)
            try:
                yield
            finally:
                torch.set_autocast_enabled("cuda", before)

    @contextlib.contextmanager
    def run(self, target: Target, probe: str, mode: str) -> Iterator[dict[str, Any]]:
        """One run: seeds and process as before it, gradients by the mode; sends it, and what ended it."""
        report: dict[str, Any] = {"error": None}
        start = time.perf_counter()
        try:
            with as_before(), dynamo_as_before(), torch.set_grad_enabled(mode != "eval"), self.around():
                yield report
        except BaseException as error:
            report["error"] = failure(error, self.roots)
            record = break_of(error)
            if record:
                report.setdefault("events", []).append(("break", record))
        seconds = time.perf_counter() - start
        self.wire.send("run", target=target.name, probe=probe, mode=mode, seconds=seconds, **report)

    def call(self, target: Target, function: Callable[..., Any], number: int = 0) -> Any:
        args, kwargs = target.arguments(number, self.device)
        return function(*args, **kwargs)

    def eager(self, target: Target, mode: str) -> bool:
        """Whether the target runs at all; and which lines do."""
        with self.run(target, "eager", mode) as report:
            function = target.fresh(mode, self.device)
            args, kwargs = target.arguments(0, self.device)
            with Lines(self.roots) as lines:
                answer = function(*args, **kwargs)
            self.answers[mode] = tensors_of(answer)
            report["ran"] = lines.result()
        return mode in self.answers

    def fewer_rows(self, target: Target, mode: str) -> None:
        """Have a program's call that takes long made with a few of its rows from now on, where it runs with these: it
        is made some twenty times, and a graph is broken for any number of rows."""
        firsts = [next(iter(tensors_of(call)), torch.empty(())) for call in target.calls]
        rows = [first.shape[0] if first.dim() else 0 for first in firsts]
        if min(rows) <= FEW_ROWS:
            return
        before = target.calls
        target.calls = [resized(call, 0, size, FEW_ROWS) for call, size in zip(before, rows)]  # noqa: B905
        try:
            with as_before(), dynamo_as_before(), torch.set_grad_enabled(mode != "eval"), self.around():
                self.answers[mode] = tensors_of(self.call(target, target.fresh(mode, self.device)))
        except BaseException:
            target.calls = before
            return
        text = f"`{target.name}` is run with {FEW_ROWS} of its {rows[0]} rows, as a call takes long"
        self.wire.send("note", text=text)

    def explain(self, target: Target, mode: str) -> None:
        as_in_a_new_process()
        with self.run(target, "explain", mode) as report:
            args, kwargs = target.arguments(0, self.device)
            said = torch._dynamo.explain(target.fresh(mode, self.device))(*args, **kwargs)
            report["explain"] = {
                "graphs": said.graph_count,
                "breaks": said.graph_break_count,
                "operators": said.op_count,
            }

    def counting_backend(self, records: Records, heard: Callable[[], None] = lambda: None) -> CountingBackend:
        return CountingBackend(self.backend, records, heard)

    def default(self, target: Target, mode: str) -> list[dict[str, Any]]:
        """Default mode, every record heard; then the same and further inputs. Returns the breaks."""
        as_in_a_new_process()
        function = target.fresh(mode, self.device)
        with self.run(target, "default", mode) as report, listening(self.roots) as records:
            compiled = torch.compile(function, backend=self.counting_backend(records))
            answer = None
            try:
                answer = self.call(target, compiled)
            finally:
                report_records(report, records)
        if self.cast:
            pass  # asked for by findings: only whether they are right is to be told
        elif report["error"]:
            self.name_the_layer(target, mode, report["error"])
        else:
            if mode != "train" and not same(tensors_of(answer), self.answers[mode], 1e-3):
                self.accuracy(target, mode, tensors_of(answer))
            if self.spec["further"]:
                self.further(target, mode, compiled)
        return [fields for kind, fields in records.all_events() if kind == "break"]

    def further(self, target: Target, mode: str, compiled: Callable[..., Any]) -> None:
        """Call the compiled target again: with the same inputs, then with the further ones."""
        for number in target.further(mode):
            probe = "again" if number == 0 else "given"
            with self.run(target, probe, mode) as report, listening(self.roots) as records:
                report["call"] = number
                try:
                    for repeat in range(REPEATS if number == 0 else 1):
                        recompiled = any(kind == "recompile" for kind, _ in records.events)
                        if repeat == SEEDS and (mode == "eval" or not recompiled):
                            break
                        seed(repeat + 1)
                        self.call(target, compiled, number)
                finally:
                    report_records(report, records)
        if len(target.calls) == 1 and mode != "train":
            self.varied(target, mode, compiled)

    def varied(self, target: Target, mode: str, compiled: Callable[..., Any]) -> None:
        """Call the compiled target with inputs of other sizes, made of the given ones where eager takes them.

        Rows and lengths change together, so that one recompilation can make both dynamic; else either alone.
        """
        for dims in ((0, 1), (0,), (1,)):
            try:
                calls = [self.grown(target, dims, more) for more in (1, 2, 3)]
                for call in calls:
                    with as_before(), torch.set_grad_enabled(mode != "eval"):
                        args, kwargs = cloned(call, self.device)
                        target.fresh(mode, self.device)(*args, **kwargs)
            except Exception:
                continue
            with self.run(target, "varied", mode) as report, listening(self.roots) as records:
                report["dims"] = dims
                for call in calls:
                    args, kwargs = cloned(call, self.device)
                    compiled(*args, **kwargs)
                # Of a run that fails nothing is kept: the inputs are ours, not the user's.
                report_records(report, records)
            return

    @staticmethod
    def grown(target: Target, dims: Sequence[int], more: int) -> Call:
        """The first call with these dimensions longer, wherever they are as long as in its first tensor."""
        call = target.calls[0]
        for dim in dims:
            sizes = [t.shape[dim] for t in tensors_of(call) if t.dim() > dim and t.shape[dim] > 1]
            if not sizes:
                raise ValueError(f"nothing to vary in dimension {dim}")
            call = resized(call, dim, sizes[0], sizes[0] + more)
        return call

    def fullgraph(self, target: Target, mode: str) -> None:
        as_in_a_new_process()
        with self.run(target, "fullgraph", mode):
            function = target.fresh(mode, self.device)
            self.call(target, torch.compile(function, backend=self.backend, fullgraph=True))

    def capture(self, target: Target, mode: str) -> None:
        """Which breaks remain with what fullgraph=True captures: those that it would stop at."""
        as_in_a_new_process()
        with self.run(target, "capture", mode) as report, listening(self.roots) as records, capturing():
            try:
                self.call(target, torch.compile(target.fresh(mode, self.device), backend=self.backend))
            finally:
                report_records(report, records)

    def onward(self, target: Target, mode: str) -> None:
        """What comes after the breaks in loops, for which default mode gives up the function."""
        as_in_a_new_process()
        with (
            self.run(target, "onward", mode) as report,
            listening(self.roots) as records,
            going_on_in_loops(),
        ):
            try:
                self.call(target, torch.compile(target.fresh(mode, self.device), backend=self.backend))
            finally:
                report_records(report, records)

    def name_the_layer(self, target: Target, mode: str, error: dict[str, Any]) -> None:
        """Which layer fails, by compiling with one more of them at a time."""
        if error["kind"] in ("exit", "out of memory"):
            return
        failing = self.backend
        for layer in LAYERS[: LAYERS.index(self.backend)] if self.backend in LAYERS else LAYERS[:3]:
            torch._dynamo.reset()
            try:
                with as_before(), torch.set_grad_enabled(mode != "eval"):
                    self.call(target, torch.compile(target.fresh(mode, self.device), backend=layer))
            except BaseException:
                failing = layer
                break
        self.wire.send("layer", target=target.name, mode=mode, error=error, layer=failing)

    def accuracy(self, target: Target, mode: str, answer: list[torch.Tensor]) -> None:
        """Say so if compiling made the result worse, float64 being the judge; random results are left, and so is what
        torch's encoders give in places that a mask leaves out."""
        function = target.fresh(mode, self.device)
        module = module_of(function)
        if module is None:
            return
        try:
            with torch.set_grad_enabled(mode != "eval"):
                eager = []
                for number in (0, 1):
                    with as_before(), without_fast_path():
                        seed(number)
                        eager.append(tensors_of(self.call(target, target.fresh(mode, self.device))))
                if not same(eager[0], eager[1], 0.0):
                    return
                with as_before(), without_fast_path():
                    module.double()
                    args, kwargs = mapped(
                        lambda tensor: tensor.double() if tensor.is_floating_point() else tensor,
                        target.arguments(0, self.device),
                    )
                    exact = tensors_of(function(*args, **kwargs))
        except Exception:
            return
        if distance(answer, exact) > 2 * distance(eager[0], exact) + 1e-4:
            message = "the compiled result is further from float64's than the eager one"
            error = {"kind": "accuracy mismatch", "type": "", "place": None, "message": message}

            def is_off(found: list[torch.Tensor]) -> bool:
                return distance(found, exact) > 2 * distance(eager[0], exact) + 1e-4

            layer, cause = self.backend, None
            with torch.set_grad_enabled(mode != "eval"), contextlib.suppress(Exception):
                for one in LAYERS[: LAYERS.index(layer)] if layer in LAYERS else LAYERS[:3]:
                    torch._dynamo.reset()
                    with as_before():
                        compiled = torch.compile(target.fresh(mode, self.device), backend=one)
                        if is_off(tensors_of(self.call(target, compiled))):
                            layer = one
                            break
                if layer == "eager":
                    with as_before(), said_to_compile():
                        told = tensors_of(self.call(target, target.fresh(mode, self.device)))
                    cause = "is_compiling" if same(told, answer, 1e-3) else "python"
                    torch._dynamo.reset()
                    with as_before(), without_fast_path():
                        compiled = torch.compile(target.fresh(mode, self.device), backend=layer)
                        if not is_off(tensors_of(self.call(target, compiled))):
                            cause = "fast_path"
            self.wire.send("layer", target=target.name, mode=mode, error=error, layer=layer, cause=cause)


@contextlib.contextmanager
def without_fast_path() -> Iterator[None]:
    """Without the kernels that torch's encoders choose for inference, and others of them where they are compiled: in
    the places that a mask leaves out these give zero or NaN."""
    chosen = getattr(torch.backends, "mha", None)
    was = chosen.get_fastpath_enabled() if chosen else False
    try:
        if chosen:
            chosen.set_fastpath_enabled(False)
        yield
    finally:
        if chosen:
            chosen.set_fastpath_enabled(was)


@contextlib.contextmanager
def said_to_compile() -> Iterator[None]:
    """Eager mode in which the code is told that it is being compiled, by whatever name it asks."""

    def yes() -> bool:
        return True

    asked = (torch.compiler.is_compiling, torch.compiler.is_dynamo_compiling)
    codes = [function.__code__ for function in asked]
    try:
        for function in asked:
            function.__code__ = yes.__code__
        yield
    finally:
        for function, code in zip(asked, codes):  # noqa: B905 -- Python 3.9
            function.__code__ = code


def report_records(report: dict[str, Any], records: Records) -> None:
    report["events"] = records.all_events()
    report["graph_lines"] = records.graph_lines()
    report["traced"] = records.lines(skipped=False)
    report["gave_up"] = records.lines(skipped=True)


def break_of(error: BaseException) -> dict[str, Any] | None:
    """The break that an exception of fullgraph=True tells of, None where it tells of none."""
    if not isinstance(error, (torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError)):
        return None
    stack = [[frame.filename, frame.lineno, frame.name] for frame in getattr(error, "real_stack", None) or ()]
    record = logs.read_error(str(error), stack)
    return real_places(record) if record else None


def capturing() -> contextlib.AbstractContextManager[Any]:
    """What fullgraph=True captures on a torch where it does."""
    patched: contextlib.AbstractContextManager[Any] = torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    )
    return patched


@contextlib.contextmanager
def going_on_in_loops() -> Iterator[None]:
    """Have Dynamo go on after a break in a loop as after any other, for as long as ONWARD says."""
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase as Translator

    asked, allowance = Translator.maybe_has_backedge, Allowance(ONWARD)
    Translator.maybe_has_backedge = lambda self: allowance.over() and asked(self)
    try:
        yield
    finally:
        Translator.maybe_has_backedge = asked


def as_compiled(target: Target) -> contextlib.AbstractContextManager[Any]:
    """What default mode captures of a target that the program compiles with fullgraph=True: as much as that does."""
    return capturing() if target.whole and fullgraph_captures() else contextlib.nullcontext()


@functools.cache
def fullgraph_captures() -> bool:
    """Whether this torch's fullgraph=True turns on the capture of scalars (so `.item()` passes): measured."""
    torch._dynamo.reset()

    def item(x: torch.Tensor) -> torch.Tensor:
        return x + x.sum().item()

    try:
        torch.compile(item, backend="eager", fullgraph=True)(torch.ones(2))
        captures = True
    except Exception:
        captures = False
    torch._dynamo.reset()
    return captures
