"""Compare a target with itself before a fix: results, gradients, what was changed in place, errors, prints.

The first child observes the target as it is and saves what it saw; another one, with the fix laid over the
files, observes the same calls and compares.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from .judge import HALF, Allowance, Held, Place, differ, dtypes_drawn, may_be_rounding, spread
from .log_listener import Records, listening
from .overlay import sides
from .probes import CountingBackend, Prober, as_before, report_records, seed, without_fast_path
from .result_pipe import Wire
from .state import Kept, Unsure, state_of
from .targets import Call, Target, cloned, mapped, module_of

GRADIENTS = "inputs with gradients"
AGAIN = 2  # further runs of the code as it was that look for noise
NOISY = 4  # and where there is some, to measure it


class Observer:
    """Observes targets; `spec["observe"]` names the file and says whether to save or to compare.

    In each mode first the user's first call, then whether and where Dynamo breaks, then all calls in eager mode, and
    compiled last, so that what is wrong shows as early as it can. What was compiled serves all calls. `seconds` is the
    time for one target: what is left over by then is said (`left`), and neither observed nor compared.
    """

    def __init__(self, prober: Prober, spec: dict[str, Any], wire: Wire) -> None:
        self.prober, self.wire = prober, wire
        self.wanted: dict[str, Any] = spec["observe"]
        self.modes: list[str] = spec["modes"]
        self.before: dict[str, Any] | None = None
        if not self.wanted["save"]:
            self.before = torch.load(self.wanted["file"], weights_only=False)
        self.seen: dict[str, Any] = {}

    def observe(self, target: Target) -> None:
        only = self.wanted.get("only")
        if only and target.name not in only:
            return
        self.wire.send("target", name=target.name, how=target.how, path=target.path, line=target.line)
        modes = [mode for mode in target.modes if mode == "call" or mode in self.modes]
        start = time.monotonic()
        for number, mode in enumerate(modes):
            one = InMode(self, target, mode, start + self.wanted["seconds"] * (number + 1) / len(modes))
            with put_back_determinism():
                if self.before is None:
                    one.observe()
                    torch.save(self.seen, self.wanted["file"])
                else:
                    one.compare(self.before)
        torch._dynamo.reset()
        self.wire.send("target_done", name=target.name)


class Variant(NamedTuple):
    """One call to observe: a label, the number of the user's call, what is changed of its arguments, whether its
    inputs get gradients, the seed, and how often it is made, one after the other on one object."""

    label: str
    number: int
    change: Callable[[Any], Any]
    gradients: bool
    seed: int
    times: int = 1


class InMode:
    """One target in one mode, observed or compared; `deadline` is a time of time.monotonic()."""

    def __init__(self, observer: Observer, target: Target, mode: str, deadline: float) -> None:
        self.prober, self.wire, self.wanted = observer.prober, observer.wire, observer.wanted
        self.seen, self.target, self.mode, self.deadline = observer.seen, target, mode, deadline
        self.device = self.prober.device
        self.kept: Kept | None = None
        self.function: Callable[..., Any] | None = None
        self.backend: CountingBackend | None = None
        self.noisy = False
        self.drawn_dtypes: dict[Place, set[torch.dtype]] = {}
        self.held = Held()

    @property
    def setting(self) -> str:
        return repr((self.target.name, self.mode))

    def key(self, variant: Variant) -> str:
        return repr((self.target.name, self.mode, variant.label))

    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def observe(self) -> None:
        """See what the target does as it is."""
        first, *others = variants(self.target, self.wanted["in_a_row"])
        plainly = self.eager(first, False)
        if plainly["error"]:
            return
        plainly = self.settle(first, plainly)
        self.start(first)
        done: dict[Variant, dict[str, Any]] = {first: self.note(first, plainly, False)}
        known, left = [self.shown(first)], 0
        for variant in others:
            shown = self.shown(variant)
            # What changes nothing is a call made already: ids have no infinity, few inputs hold masks.
            again = variant.label in MADE and any(identical(shown, one) for one in known)
            if again or variant.label in self.wanted["leave"].get(self.mode, ()):
                continue
            if self.late():
                left += 1
                continue
            known.append(shown)
            gradients = self.with_gradients(variant)
            eager = self.eager(variant, gradients)
            if gradients and eager["error"]:
                gradients = (
                    False  # perhaps it only minds the gradients: `numpy()`, a change of a leaf in place
                )
                eager = self.eager(variant, gradients)
            done[variant] = self.note(variant, eager, gradients)
        # What is compiled before the fix is asked for only where random numbers may explain a difference.
        if any(not same_outcome(plainly, one["eager"]) for variant, one in done.items() if variant.seed):
            self.compiled(first, False)  # what is compared with it runs there for the second time as well
            for variant, one in done.items():
                if self.late() and variant is not first:
                    del self.seen[self.key(variant)]
                    left += 1
                else:
                    one["again"] = True
                    one["compiled"] = self.compiled(variant, one["gradients"])
        shown_sides = {number: sorted(values) for number, values in sides.seen.items()}
        noise = max((max(one["noise"].values(), default=0.0) for one in done.values()), default=0.0)
        self.wire.send(
            "observed", target=self.target.name, mode=self.mode, left=left, sides=shown_sides,
            deterministic=self.seen[self.setting], noise=noise,
        )  # fmt: skip

    def settle(self, first: Variant, plainly: dict[str, Any]) -> dict[str, Any]:
        """See whether the target does the same each time it is asked the same; where it does not, turn to deterministic
        algorithms, and leave them on if they help. Returns the outcome of the first call under what was chosen."""
        self.seen[self.setting] = False
        with_gradients = Variant(GRADIENTS, 0, as_it_is, True, 0)
        asked = [(first, False)]
        if self.mode != "eval" and GRADIENTS not in self.wanted["leave"].get(self.mode, ()):
            asked.append((with_gradients, True))

        def noise() -> float:
            found = 0.0
            for variant, gradients in asked:
                runs = [self.eager(variant, gradients) for _ in range(AGAIN)]
                runs += [plainly] if variant is first else []
                found = max(found, max(spread(runs).values(), default=0.0))
            return found

        before = noise()
        if not before:
            return plainly
        use_deterministic(True)
        plainly = self.eager(first, False)
        after = noise()
        self.noisy = bool(after)
        self.seen[self.setting] = after < before / 2
        if not self.seen[self.setting]:
            use_deterministic(False)
            plainly = self.eager(first, False)
        return plainly

    def note(self, variant: Variant, eager: dict[str, Any], gradients: bool) -> dict[str, Any]:
        runs = [eager, *(self.eager(variant, gradients) for _ in range(NOISY if self.noisy else 0))]
        one = {
            "eager": eager, "compiled": None, "gradients": gradients, "again": not variant.seed,
            "noise": spread(runs), "reference": self.reference(variant, eager, gradients),
        }  # fmt: skip
        self.seen[self.key(variant)] = one
        return one

    def reference(
        self, variant: Variant, eager: dict[str, Any], gradients: bool
    ) -> dict[tuple[str, str], torch.Tensor]:
        """The numbers of a call in half precision, or in any where it is asked for, as the same code gives them in a
        wider dtype, by place; empty where there are none, or the code does not run in another dtype."""
        leaves = [one for what in ("value", "gradients", "inputs") for _, one in eager[what]]
        given = [one for one in leaves if isinstance(one, torch.Tensor) and one.is_floating_point()]
        halves = [one.dtype for one in given if one.dtype in HALF]
        if eager["error"] or not given or not (halves or self.wanted["exact"]):
            return {}
        wider = torch.float32 if len(halves) == len(given) else torch.float64
        self.step(variant, "eager")
        try:
            function = self.target.fresh(self.mode, self.device)
            module = module_of(function)
            if module is not None:
                module.to(wider)
            call = mapped(
                lambda tensor: widened(tensor, wider) if tensor.is_floating_point() else tensor,
                self.arguments(variant),
            )
            with self.target.around(enabled=False):
                said = outcome(
                    function,
                    self.mode,
                    call,
                    gradients,
                    variant.seed,
                    lambda function: function,
                    rounded=halves[0] if halves else None,
                )
        except Exception:
            return {}
        return {
            (what, path): one
            for what in ("value", "inputs", "buffers", "gradients")
            for path, one in said[what]
            if isinstance(one, torch.Tensor) and one.is_floating_point()
        }

    def shown(self, variant: Variant) -> list[Any]:
        """The arguments, and whether they get gradients, to be compared with those of other calls."""
        call = self.arguments(variant)
        return plain((call, self.with_gradients(variant) and has_floats(call)))

    def with_gradients(self, variant: Variant) -> bool:
        return variant.gradients and self.mode != "eval"

    def compare(self, before: Mapping[str, Any]) -> None:
        """See what it does now, and whether that is the same."""
        found = [(one, before[self.key(one)]) for one in variants(self.target, self.wanted["in_a_row"])
                 if self.key(one) in before]  # fmt: skip
        if self.wanted["in_tensors"]:  # a number has no gradient to be compared with that of its tensor
            found = [one for one in found if not one[0].gradients]
        if not found:
            return
        # What is changed of the inputs of the user's first call draws as that call does.
        self.drawn_dtypes = dtypes_drawn(
            [old["eager"] for one, old in found if one.number == 0 and one.change is as_it_is]
        )
        if before.get(self.setting):
            use_deterministic(True)
        if self.compare_one(*found[0], self.eager, ""):
            return
        self.start(found[0][0])
        done = []
        for number, (variant, old) in enumerate(found):
            if number and self.late():
                break
            if number and self.compare_one(variant, old, self.eager, ""):
                return
            done.append((variant, old))
        left = len(found) - len(done)
        for number, (variant, old) in enumerate(done):
            if number and self.late():
                left += len(done) - number
                break
            if old["again"] and self.compare_one(variant, old, self.compiled, "compiled, "):
                return
            self.tell(variant, None)
        self.wire.send("left", target=self.target.name, mode=self.mode, number=left)

    def compare_one(
        self, variant: Variant, old: Mapping[str, Any], run: Callable[..., Any], how: str
    ) -> bool:
        """Whether there is a difference; if so, it has been told."""
        now = run(variant, old["gradients"])
        allowed = bool(self.wanted.get("runtime_error"))
        if how and not self.wanted["prints"]:
            now["printed"] = old["eager"]["printed"]
        dtypes = self.drawn_dtypes if variant.number == 0 else {}
        allowance = Allowance(old["noise"], old["reference"], dtypes, self.wanted["in_tensors"])
        if self.wanted["more_buffers"]:
            kept = {path for path, _ in old["eager"]["buffers"]}
            now["buffers"] = [one for one in now["buffers"] if one[0] in kept]
        difference = differ(old["eager"], now, allowed, allowance, self.held)
        # Dynamo drops random numbers that nobody uses: what is compiled may draw others than eager does.
        if difference and how and old["compiled"]:
            difference = differ(old["compiled"], now, allowed, allowance, self.held)
        if difference:
            # Dropped random numbers move those after them, not the errors or what is printed.
            random = bool(how and old["compiled"]) and not now["error"] and not old["eager"]["error"]
            rounding = not old["reference"] and may_be_rounding(old["eager"], now)
            self.tell(variant, how + difference, random, rounding)
        return difference is not None

    def tell(
        self, variant: Variant, difference: str | None, random: bool = False, rounding: bool = False
    ) -> None:
        self.wire.send(
            "compared",
            target=self.target.name,
            mode=self.mode,
            label=variant.label,
            difference=difference,
            random=random,
            rounding=rounding,
            noise=self.held.noise,
            half=self.held.half,
            single=self.held.single,
            drawn_dtype=self.held.drawn_dtype,
        )

    def arguments(self, variant: Variant) -> Call:
        changed: Call = variant.change(self.target.arguments(variant.number, self.device))
        return changed

    def fresh(self) -> Callable[..., Any]:
        """The callable as it was at first: the same object as before where that can be had."""
        if self.function is not None and self.kept is not None and self.kept.put_back():
            return self.function
        self.kept, self.function = None, self.target.fresh(self.mode, self.device)
        module, like = module_of(self.function), module_of(self.target.pristine)
        with contextlib.suppress(Unsure):
            if module is None:
                self.kept = Kept(state_of(self.function, self.target.calls))
            elif like is not None:
                self.kept = Kept(module, like)
        return self.function

    def start(self, variant: Variant) -> None:
        """Begin with an empty cache, in default mode; every record is heard, where it is not known already."""
        torch._dynamo.reset()
        prober = self.prober
        if self.wanted["save"] and [self.target.name, self.mode] in self.wanted["known"]:
            self.backend = prober.counting_backend(Records(prober.roots))
            return
        self.step(variant, "traced")
        function = self.fresh()
        with prober.run(self.target, "default", self.mode) as report, listening(prober.roots) as records:
            self.backend = prober.counting_backend(records)
            args, kwargs = self.arguments(variant)
            try:
                torch.compile(function, backend=self.backend)(*args, **kwargs)
            finally:
                report_records(report, records)

    def eager(self, variant: Variant, gradients: bool) -> dict[str, Any]:
        self.step(variant, "eager")
        sides.on = True
        try:
            return self.outcome(variant, gradients, lambda function: function)
        finally:
            sides.on = False

    def compiled(self, variant: Variant, gradients: bool) -> dict[str, Any]:
        self.step(variant, "compiled")
        with without_recompile_limit():
            return self.outcome(
                variant, gradients, lambda function: torch.compile(function, backend=self.backend)
            )

    def step(self, variant: Variant, what: str) -> None:
        """Say what comes next: it has the time limit for itself, and is to blame if it ends the process."""
        self.wire.send("step", mode=self.mode, label=variant.label, what=what)

    def outcome(self, variant: Variant, gradients: bool, how: Callable[[Any], Any]) -> dict[str, Any]:
        call = self.arguments(variant)
        function = self.fresh()
        said = outcome(function, self.mode, call, gradients, variant.seed, how, times=variant.times)
        if self.kept is not None and module_of(function) is None:
            said["buffers"] += self.kept.changed()
        return said


def variants(target: Target, in_a_row: bool = False) -> list[Variant]:
    """The user's calls and other seeds, then what is made of the first call to reach the other sides of branches;
    `in_a_row` adds several calls of one object, which show what it keeps of them."""
    given = [Variant(f"call {number + 1}", number, as_it_is, False, 0) for number in range(len(target.calls))]
    seeds = [Variant(f"seed {number}", 0, as_it_is, False, number) for number in (1, 2, 3)]
    made = [
        Variant(name, 0, functools.partial(mapped, keep_leaf(change)), True, 0)
        for name, change in CHANGES.items()
    ]
    row = [Variant("three calls in a row", 0, as_it_is, False, 0, times=3)] if in_a_row else []
    return [given[0], *row, *seeds, *given[1:], Variant(GRADIENTS, 0, as_it_is, True, 0), *made]


def as_it_is(call: Call) -> Call:
    return call


def use_deterministic(on: bool) -> None:
    """Deterministic algorithms where there are any; what has none goes on as it is, and memory is filled by nobody."""
    torch.use_deterministic_algorithms(on, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    if on:
        torch.backends.cudnn.benchmark = False


@contextlib.contextmanager
def put_back_determinism() -> Iterator[None]:
    was, only = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    filled, measured = torch.utils.deterministic.fill_uninitialized_memory, torch.backends.cudnn.benchmark
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was, warn_only=only)
        torch.utils.deterministic.fill_uninitialized_memory = filled
        torch.backends.cudnn.benchmark = measured


def widened(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)


@contextlib.contextmanager
def without_recompile_limit() -> Iterator[None]:
    """Past its limit Dynamo runs a function eagerly without a word, and eager would be compared with eager."""
    config = torch._dynamo.config
    names = ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit",
             "accumulated_cache_size_limit")  # fmt: skip
    with config.patch({name: 1000 for name in names if hasattr(config, name)}):
        yield


def has_floats(call: Call) -> bool:
    return any(isinstance(one, torch.Tensor) and one.is_floating_point() for _, one in plain(call))


def identical(ones: list[Any], others: list[Any]) -> bool:
    """Whether two lists of `plain` are equal bit for bit, NaN to NaN."""
    return len(ones) == len(others) and all(
        path == there and same_leaf(one, other)
        for (path, one), (there, other) in zip(ones, others)  # noqa: B905 -- Python 3.9
    )


def same_leaf(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and bool(one == other)
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return False
    if one.layout != torch.strided or one.is_quantized or one.is_nested:
        return False
    if one.is_floating_point() or one.is_complex():
        return bool(torch.allclose(one, other, 0, 0, equal_nan=True))
    return torch.equal(one, other)


def same_outcome(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one["error"], one["printed"]) == (other["error"], other["printed"]) and all(
        identical(one[what], other[what]) for what in ("value", "inputs", "buffers", "gradients")
    )


def keep_leaf(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout != torch.strided or tensor.is_quantized:
            return tensor
        return change(tensor.detach().clone()).requires_grad_(tensor.requires_grad)

    return changed


def floats(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda tensor: change(tensor) if tensor.is_floating_point() else tensor


def one_element(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and tensor.numel():
            tensor.view(-1)[0] = value
        return tensor

    return change


def switched(tensor: torch.Tensor) -> torch.Tensor:
    return ~tensor if tensor.dtype == torch.bool else tensor


def whole(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        plain = tensor.dtype in (torch.int8, torch.int16, torch.int32, torch.int64) and tensor.numel()
        return change(tensor) if plain else tensor

    return changed


# Whole numbers stay as they are, but for the last two: they may be indices.
CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "negated": floats(lambda tensor: -tensor),
    "zeros": floats(torch.zeros_like),
    "times 100": floats(lambda tensor: tensor * 100),
    "a hundredth": floats(lambda tensor: tensor / 100),
    "absolute": floats(torch.abs),
    "negative": floats(lambda tensor: -tensor.abs() - 0.5),
    "one zero": one_element(0.0),
    "one NaN": one_element(float("nan")),
    "one infinity": one_element(float("inf")),
    "all NaN": floats(lambda tensor: torch.full_like(tensor, float("nan"))),
    "all infinite": floats(lambda tensor: torch.full_like(tensor, float("inf"))),
    "masks switched": switched,
    "masks off": lambda tensor: torch.zeros_like(tensor) if tensor.dtype == torch.bool else tensor,
    "masks on": lambda tensor: torch.ones_like(tensor) if tensor.dtype == torch.bool else tensor,
    "whole numbers reversed": whole(lambda tensor: tensor.flip(0) if tensor.dim() else tensor),
    "whole numbers alike": whole(lambda tensor: torch.full_like(tensor, int(tensor.min()))),
}
MADE = {*CHANGES, GRADIENTS}


@contextlib.contextmanager
def silenced() -> Iterator[io.StringIO]:
    """What is printed, Python's warnings left out: each comes once a process, wherever its turn is."""
    out, shown = io.StringIO(), warnings.showwarning
    warnings.showwarning = lambda *about, **more: None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            yield out
    finally:
        warnings.showwarning = shown


def outcome(
    function: Any,
    mode: str,
    call: Call,
    gradients: bool,
    at: int,
    how: Callable[[Any], Any],
    rounded: torch.dtype | None = None,
    times: int = 1,
) -> dict[str, Any]:
    """What one call did, as plain data: lists of (path, value). `rounded` is the dtype that the weights of the results
    fit in, where the numbers are to be compared with those of a narrower dtype."""
    module = module_of(function)
    args, kwargs = cloned(call)
    leaves: list[torch.Tensor] = []
    if gradients:
        # What the target gets is no leaf, so that it may change it in place as it may without gradients.
        def tracked(tensor: torch.Tensor) -> torch.Tensor:
            if not tensor.is_floating_point():
                return tensor
            leaf = tensor.detach().clone().requires_grad_()
            leaves.append(leaf)
            return leaf * 1

        args, kwargs = mapped(tracked, (args, kwargs))
    else:
        leaves = [one for _, one in plain((args, kwargs), keep=True) if getattr(one, "requires_grad", False)]
    said: dict[str, Any] = {"error": None}
    value = None
    with as_before(), without_fast_path(), torch.set_grad_enabled(mode != "eval"), silenced() as out:
        seed(at)
        try:
            called = how(function)
            value = called(*args, **kwargs)
            for _ in range(times - 1):
                args, kwargs = cloned(call)
                value = (value, called(*args, **kwargs))
        except Exception as error:
            said["error"] = (raised(error), str(error)[:300])
        named = list(module.named_parameters()) if module is not None else []
        said["gradients"] = [] if said["error"] else backward(value, leaves, named, rounded)
        # What went backwards by itself left its gradients there.
        said["gradients"] += [
            (f"{name}.grad", one.grad.clone()) for name, one in named if one.grad is not None
        ]
    # torch's own warnings name the file and line that they came from, which a fix may move.
    said["printed"] = "\n".join(line for line in out.getvalue().splitlines() if "Warning" not in line)
    said["value"] = plain(value) if not said["error"] else []
    said["inputs"] = plain((args, kwargs))
    said["buffers"] = plain(dict(module.named_buffers())) if module is not None else []
    return said


def raised(error: Exception) -> str:
    """The class of an error. What an operator raises while Dynamo traces it with fake tensors is what it would raise
    in eager mode, in a class of Dynamo's own."""
    name = type(error).__name__
    if name != "TorchRuntimeError":
        return name
    inner = re.search(r"\bgot (\w+)\(", str(error))
    return inner[1] if inner else "RuntimeError"


def backward(
    value: Any, leaves: list[torch.Tensor], named: list[Any], rounded: torch.dtype | None = None
) -> list[Any]:
    """Gradients of a weighted sum of all results; the weights tell the elements apart."""
    results = [
        tensor
        for _, tensor in plain(value, keep=True)
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.layout == torch.strided
    ]
    wanted = leaves + [parameter for _, parameter in named if parameter.requires_grad]
    if not results or not wanted:
        return []
    total = None
    for tensor in results:
        weights = torch.linspace(1, 2, tensor.numel(), device=tensor.device).reshape(tensor.shape)
        weights = weights if rounded is None else weights.to(rounded)
        part = (tensor * weights.to(tensor.dtype)).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    try:
        found = torch.autograd.grad(total, wanted, allow_unused=True)
    except RuntimeError as error:
        return [("backward", f"{type(error).__name__}: {str(error)[:100]}")]
    names = [f"input {number}" for number in range(len(leaves))]
    names += [name for name, parameter in named if parameter.requires_grad]
    return [(name, None if grad is None else grad.detach().cpu().clone()) for name, grad in zip(names, found)]  # noqa: B905


def plain(value: Any, path: str = "", keep: bool = False, depth: int = 12) -> list[Any]:
    """[(path, tensor or text)] of a result: what can be compared of it."""
    if isinstance(value, torch.Tensor):
        return [(path, value if keep else value.detach().cpu().clone())]
    if depth == 0:
        return []
    if isinstance(value, dict):
        items = [(f"{path}[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        items = [(f"{path}.{name}", getattr(value, name, None)) for name in names]
    elif isinstance(value, (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)):
        return [(path, f"{type(value).__name__} {value!r}")]
    elif type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return [(path, f"{type(value).__name__} {value.tolist()!r}")]
    else:
        return [(path, type(value).__name__)]
    head = [(path, type(value).__name__)]
    return head + [leaf for where, item in items for leaf in plain(item, where, keep, depth - 1)]
