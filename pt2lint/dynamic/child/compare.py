"""Compare a target with itself before a fix: results, gradients, what was changed in place, errors, prints.

The first child observes the target as it is and saves what it saw; another one, with the fix laid over the
files, observes the same calls and compares.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .overlay import sides
from .probes import Prober, as_before, seed
from .targets import Call, Target, cloned, mapped, module_of
from .wire import Wire

# (relative, absolute) by dtype: results that are computed in another order may differ in the last digits.
TOLERANCE = {
    torch.float64: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (3e-2, 3e-2),
}
GRADIENTS = "inputs with gradients"


class Observer:
    """Observes targets; `spec["observe"]` names the file and says whether to save or to compare."""

    def __init__(self, prober: Prober, spec: dict[str, Any], wire: Wire) -> None:
        self.prober, self.spec, self.wire = prober, spec, wire
        self.file: str = spec["observe"]["file"]
        self.before: dict[str, Any] | None = None
        if not spec["observe"]["save"]:
            self.before = torch.load(self.file, weights_only=False)
        self.seen: dict[str, Any] = {}

    def observe(self, target: Target) -> None:
        only = self.spec["observe"].get("only")
        if only and target.name not in only:
            return
        self.wire.send("target", name=target.name, how=target.how, path=target.path, line=target.line)
        modes = [mode for mode in target.modes if mode == "call" or mode in self.spec["modes"]]
        for mode in modes:
            if not self.prober.eager(target, mode):
                continue
            self.prober.default(target, mode)
            torch._dynamo.reset()
            self.random = True
            with without_recompile_limit():
                for label, number, change, gradients in variants(target):
                    self.one(target, mode, label, number, change, gradients and mode != "eval")
        torch._dynamo.reset()
        if self.before is None:
            torch.save(self.seen, self.file)
        self.wire.send("target_done", name=target.name)

    def one(
        self,
        target: Target,
        mode: str,
        label: str,
        number: int,
        change: Callable[[Any], Any],
        gradients: bool,
    ) -> None:
        key = repr((target.name, mode, label))
        old = self.before.get(key) if self.before is not None else None
        if self.before is not None:
            if old is None:
                return
            gradients = old["gradients"]
        call = change(target.arguments(number, self.prober.device))
        at = int(label.partition("seed ")[2] or 0)
        if label in CHANGES or label == GRADIENTS:
            first = target.arguments(0, self.prober.device)
            # What changes nothing is the first call again: ids have no infinity, few inputs hold masks.
            if not (gradients and has_floats(call)) and identical(plain(first), plain(call)):
                return
        sides.on, sides.seen = True, {}
        eager = outcome(target, mode, self.prober.device, call, gradients, at, None)
        if gradients and old is None and eager["error"]:
            gradients = False  # perhaps it only minds the gradients: `numpy()`, a change of a leaf in place
            eager = outcome(target, mode, self.prober.device, call, gradients, at, None)
        sides.on = False
        if self.before is None:
            if label == "seed 1":
                self.random = not same_outcome(self.seen[repr((target.name, mode, "call 1"))]["eager"], eager)
            # What is compiled before the fix is asked for only where random numbers may explain a difference.
            compiled = self.compiled(target, mode, call, gradients, at) if self.random else None
            again = self.random or not label.startswith("seed")
            self.seen[key] = {"eager": eager, "compiled": compiled, "gradients": gradients, "again": again}
            shown = {number: sorted(values) for number, values in sides.seen.items()}
            self.wire.send("observed", target=target.name, mode=mode, label=label, sides=shown)
            return
        assert old is not None
        notes: list[str] = []
        allowed = bool(self.spec["observe"].get("runtime_error"))
        difference = differ(old["eager"], eager, notes, allowed)
        if difference is None and old["again"]:
            compiled = self.compiled(target, mode, call, gradients, at)
            # Dynamo drops random numbers that nobody uses: what is compiled may draw others than eager does.
            difference = differ(old["eager"], compiled, notes, allowed)
            if difference and old["compiled"]:
                difference = differ(old["compiled"], compiled, notes, allowed)
            difference = difference and "compiled, " + difference
        self.wire.send(
            "compared", target=target.name, mode=mode, label=label, difference=difference, notes=notes
        )

    def compiled(self, target: Target, mode: str, call: Call, gradients: bool, at: int) -> dict[str, Any]:
        def how(function: Any) -> Any:
            return torch.compile(function, backend=self.prober.backend)

        return outcome(target, mode, self.prober.device, call, gradients, at, how)


def variants(target: Target) -> list[tuple[str, int, Callable[[Any], Any], bool]]:
    """(label, which call, change of its arguments, whether inputs get a gradient): the user's calls, then
    what is made of the first one to reach the other sides of branches. Seeds come right after the first call,
    to know early whether it draws random numbers."""
    found: list[tuple[str, int, Callable[[Any], Any], bool]] = [
        (f"call {number + 1}", number, lambda call: call, False) for number in range(len(target.calls))
    ]
    found[1:1] = [(f"seed {number}", 0, lambda call: call, False) for number in (1, 2, 3)]
    for name, change in CHANGES.items():
        found.append((name, 0, lambda call, change=change: mapped(keep_leaf(change), call), True))  # type: ignore[misc]
    found.append((GRADIENTS, 0, lambda call: call, True))
    return found


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


# Whole numbers stay as they are: they may be indices.
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
}


@contextlib.contextmanager
def silenced() -> Iterator[io.StringIO]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


def outcome(
    target: Target,
    mode: str,
    device: str | None,
    call: Call,
    gradients: bool,
    at: int,
    how: Callable[[Any], Any] | None,
) -> dict[str, Any]:
    """What one call did, as plain data: lists of (path, value)."""
    function = target.fresh(mode, device)
    module = module_of(function)
    args, kwargs = cloned(call, device)
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
    with as_before(), torch.set_grad_enabled(mode != "eval"), silenced() as out:
        seed(at)
        try:
            value = (how(function) if how else function)(*args, **kwargs)
        except Exception as error:
            said["error"] = (type(error).__name__, str(error)[:300])
        named = list(module.named_parameters()) if module is not None else []
        said["gradients"] = [] if said["error"] else backward(value, leaves, named)
    # torch's own warnings name the file and line that they came from, which a fix may move.
    said["printed"] = "\n".join(line for line in out.getvalue().splitlines() if "Warning" not in line)
    said["value"] = plain(value) if not said["error"] else []
    said["inputs"] = plain((args, kwargs))
    said["buffers"] = plain(dict(module.named_buffers())) if module is not None else []
    return said


def backward(value: Any, leaves: list[torch.Tensor], named: list[Any]) -> list[Any]:
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
        part = (tensor * weights.to(tensor.dtype)).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    try:
        found = torch.autograd.grad(total, wanted, allow_unused=True)
    except RuntimeError as error:
        return [("backward", f"{type(error).__name__}: {str(error)[:100]}")]
    names = [f"input {number}" for number in range(len(leaves))]
    names += [name for name, parameter in named if parameter.requires_grad]
    return [(name, None if grad is None else grad.detach().cpu()) for name, grad in zip(names, found)]  # noqa: B905


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


def differ(old: dict[str, Any], new: dict[str, Any], notes: list[str], allowed: bool) -> str | None:
    """The first difference in words, None where there is none. `allowed`: a RuntimeError may take the place
    of another error, as the fix says."""
    if old["error"] or new["error"]:
        before, after = old["error"] or ("nothing", ""), new["error"] or ("nothing", "")
        if before[0] == after[0] or (allowed and old["error"] and after[0] == "RuntimeError"):
            return None
        detail = f" ({after[1][:120]})" if after[1] else ""
        return f"it raised {before[0]} before, {after[0]} after{detail}"
    for what in ("value", "inputs", "buffers", "gradients"):
        ones, others = old[what], new[what]
        if [path for path, _ in ones] != [path for path, _ in others]:
            return f"the {what} have another structure"
        for (path, one), (_, other) in zip(ones, others):  # noqa: B905
            if what == "gradients" and (one is None) != (other is None):
                given = one if one is not None else other
                if isinstance(given, torch.Tensor) and not given.any():
                    notes.append("a gradient that was None is zero")
                    continue
            difference = differ_leaf(one, other)
            if difference:
                return f"{what}{' ' + path if path else ''}: {difference}"
    if old["printed"] != new["printed"]:
        return f"it printed {old['printed'][-80:]!r} before, {new['printed'][-80:]!r} after"
    return None


def differ_leaf(one: Any, other: Any) -> str | None:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor) or one != other:
            return f"{short(one)} before, {short(other)} after"
        return None
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{short(one)} before, {short(other)} after"
    if one.layout != torch.strided or one.is_quantized or one.is_nested:
        return None
    if not (one.is_floating_point() or one.is_complex()):
        return None if torch.equal(one, other) else "other values"
    relative, absolute = TOLERANCE.get(one.dtype, (1e-4, 1e-5))
    if one.dtype in (torch.float16, torch.bfloat16):
        one, other = one.float(), other.float()
    if torch.allclose(one, other, relative, absolute, equal_nan=True):
        return None
    apart = (one - other).abs()
    return f"values differ by up to {apart[~apart.isnan()].max().item() if (~apart.isnan()).any() else 'NaN'}"


def short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a {str(value.dtype).replace('torch.', '')} tensor of shape {tuple(value.shape)}"
    return str(value)[:80]
