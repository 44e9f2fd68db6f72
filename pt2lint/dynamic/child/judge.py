"""What counts as the same: two outcomes of one call compared, number by number.

Numbers may differ by rounding (`TOLERANCE`, by dtype). Where two runs of the unchanged code differ among themselves,
they may differ by that much: `spread` measures it. In half precision a tolerance wide enough for a deep model hides
mistakes and is still too narrow for some sums, so a run of the unchanged code in a wider dtype is the judge: the
fixed code may be no further away from it than the code as it was, times a small factor. In float32 the same decides
where the tolerance is exceeded and rounding may be why (`may_be_rounding`): what is divided by a number of Python is
multiplied by its reciprocal on a GPU, and small sums of large terms keep few digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

# (relative, absolute) by dtype: results that are computed in another order may differ in the last digits.
TOLERANCE = {
    torch.float64: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (3e-2, 3e-2),
}
HALF = (torch.float16, torch.bfloat16)
WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
PARTS = ("value", "inputs", "buffers", "gradients")
NOISE_FACTOR = 3.0  # of the largest difference that a few runs showed
NOISE_SHARE = 0.01  # of the largest number: noise above that hides everything
NEAR = 0.01  # of the largest number: a difference up to that may be rounding
BELIEVED = 0.05  # relative error of the old code above which the reference computes something else
RMS_FACTOR, MAX_FACTOR = 2.0, 3.0  # how much further away than the old code
RMS_ULPS, MAX_ULPS = 2.0, 4.0  # and by how many rounding steps, where the old code happens to be exact

Place = tuple[str, str]  # part and path


@dataclass
class Allowance:
    """What is known of one call of the unchanged code, beside its outcome: the largest difference between runs of it by
    place, infinite where they cannot be compared; its numbers in a wider dtype; and the dtypes of whole numbers that it
    gives with one seed or another. `in_tensors`: a tensor of no dimensions may take the place of a number of Python
    that it is equal to."""

    noise: Mapping[Place, float] = field(default_factory=dict)
    reference: Mapping[Place, torch.Tensor] = field(default_factory=dict)
    drawn_dtypes: Mapping[Place, set[torch.dtype]] = field(default_factory=dict)
    in_tensors: bool = False


@dataclass
class Held:
    """How far apart numbers were that were accepted for another reason than plain rounding."""

    noise: float = 0.0
    half: float = 0.0
    single: float = 0.0
    drawn_dtype: bool = False


def differ(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    allowed: bool,
    allowance: Allowance | None = None,
    held: Held | None = None,
) -> str | None:
    """The first difference in words, None where there is none. `allowed`: a RuntimeError may take the place
    of another error, as the fix says. `held` takes up what was accepted and why."""
    allowance, held = allowance or Allowance(), held or Held()
    if old["error"] or new["error"]:
        before, after = old["error"] or ("nothing", ""), new["error"] or ("nothing", "")
        if before[0] == after[0] or (allowed and old["error"] and after[0] == "RuntimeError"):
            return None
        detail = f" ({after[1][:120]})" if after[1] else ""
        return f"it raised {before[0]} before, {after[0]} after{detail}"
    for what in PARTS:
        ones, others = old[what], new[what]
        if what == "gradients" and (not ones or not others) and not any(map(nonzero, [*ones, *others])):
            continue  # nothing asked for a gradient, or something that is zero
        if [path for path, _ in ones] != [path for path, _ in others]:
            return f"the {what} have another structure"
        for (path, one), (_, other) in zip(ones, others):  # noqa: B905 -- Python 3.9
            if what == "gradients" and (one is None) != (other is None):
                given = one if one is not None else other
                if isinstance(given, torch.Tensor) and not given.any():
                    continue
            difference = judged(one, other, (what, path), allowance, held)
            if difference:
                return f"{what}{' ' + path if path else ''}: {difference}"
    if not same_text(old["printed"], new["printed"]):
        return f"it printed {old['printed'][-80:]!r} before, {new['printed'][-80:]!r} after"
    return None


def judged(one: Any, other: Any, place: Place, allowance: Allowance, held: Held) -> str | None:
    """The difference of two leaves in words, None where it is rounding, noise, or as near to the reference."""
    if allowance.in_tensors and isinstance(one, str) and isinstance(other, torch.Tensor) and other.dim() == 0:
        number = other.item()
        if one in (f"int {number:.12g}", f"float {number!r}"):
            return None
    if of_drawn_dtype(one, other, allowance.drawn_dtypes.get(place, set())):
        held.drawn_dtype = True
        one, other = one.long(), other.long()
    noise = allowance.noise.get(place, 0.0)
    reference = allowance.reference.get(place)
    if not alike(one, other) or not is_real(one):
        difference = differ_leaf(one, other)
        if difference and noise:
            return f"{difference}, as two runs of the code as it was do: nothing can be told"
        return difference
    measured = reference is not None and reference.shape == one.shape and one.dtype != reference.dtype
    difference = None if measured and one.dtype in HALF else differ_leaf(one, other)
    if measured and reference is not None and (difference or one.dtype in HALF):
        difference = further(one, other, reference, held)
    if difference is None or not noise:
        return difference
    scale = largest(one)
    if noise > NOISE_SHARE * scale:
        # The gradient of a bias before a normalization, say, is zero but for rounding, which the wider dtype shows.
        if (
            reference is not None
            and largest(reference) <= noise
            and furthest(one, other) <= NOISE_FACTOR * noise
        ):
            held.noise = max(held.noise, furthest(one, other))
            return None
        return (
            f"{difference}; two runs of the code as it was differ by up to {noise:.3g}: nothing can be told"
        )
    relative, absolute = TOLERANCE.get(one.dtype, (1e-4, 1e-5))
    if not torch.allclose(wide(one), wide(other), relative, absolute + NOISE_FACTOR * noise, equal_nan=True):
        return f"{difference}; two runs of the code as it was differ by up to {noise:.3g} only"
    held.noise = max(held.noise, furthest(one, other))
    return None


def of_drawn_dtype(one: Any, other: Any, drawn: set[torch.dtype]) -> bool:
    """Whether two tensors of whole numbers differ in their dtype, and it is a draw that decides between the two."""
    both = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return both and one.dtype != other.dtype and {one.dtype, other.dtype} <= drawn


def dtypes_drawn(outcomes: Sequence[Mapping[str, Any]]) -> dict[Place, set[torch.dtype]]:
    """The dtypes of whole numbers by place, in outcomes of one call with several seeds."""
    found: dict[Place, set[torch.dtype]] = {}
    for said in outcomes:
        for what in PARTS:
            for path, one in said[what]:
                if isinstance(one, torch.Tensor) and one.dtype in WHOLE:
                    found.setdefault((what, path), set()).add(one.dtype)
    return found


def may_be_rounding(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two outcomes differ in real numbers alone, and in these by little."""
    if old["error"] or new["error"] or not same_text(old["printed"], new["printed"]):
        return False
    for what in PARTS:
        if [path for path, _ in old[what]] != [path for path, _ in new[what]]:
            return False
        for (_, one), (_, other) in zip(old[what], new[what]):  # noqa: B905 -- Python 3.9
            if differ_leaf(one, other) is None:
                continue
            if not alike(one, other) or not is_real(one) or not torch.equal(one.isfinite(), other.isfinite()):
                return False
            if furthest(one, other) > NEAR * largest(one):
                return False
    return True


def further(one: torch.Tensor, other: torch.Tensor, reference: torch.Tensor, held: Held) -> str | None:
    """The difference in words where the new numbers are further from the reference than the old ones were; where the
    old ones are far from it themselves, it computes something else, and the tolerance decides."""
    old, new, exact = wide(one), wide(other), wide(reference)
    if torch.equal(one.isnan(), other.isnan()) and torch.equal(old.nan_to_num(), new.nan_to_num()):
        return None
    finite = old.isfinite()
    if not torch.equal(finite, exact.isfinite()):
        return differ_leaf(one, other)
    if (
        not torch.equal(old[~finite].nan_to_num(), new[~finite].nan_to_num())
        or not new[finite].isfinite().all()
    ):
        return differ_leaf(one, other) or "values differ by up to infinity"
    before, after, exact = (old - exact)[finite], (new - exact)[finite], exact[finite]
    size = rms(exact)
    if rms(before) > BELIEVED * size:
        return differ_leaf(one, other)
    step = torch.finfo(one.dtype).eps
    least = torch.finfo(one.dtype).tiny * step
    near = rms(after) <= RMS_FACTOR * rms(before) + RMS_ULPS * step * size + least
    most = MAX_FACTOR * largest(before) + MAX_ULPS * step * largest(exact) + least
    if near and largest(after) <= most:
        kind = "half" if one.dtype in HALF else "single"
        setattr(held, kind, max(getattr(held, kind), furthest(one, other)))
        return None
    return (
        f"values differ by up to {furthest(one, other):.3g}, and are further from those in "
        f"{str(reference.dtype).replace('torch.', '')} ({largest(after):.3g}) than before ({largest(before):.3g})"
    )


def differ_leaf(one: Any, other: Any) -> str | None:
    """The difference of two leaves in words, None where rounding explains it."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        numbers = as_number(one), as_number(other)
        if None not in numbers:  # a loss that was read out of its tensor is rounded as that is
            one, other = numbers
            near = torch.allclose(one, other, *TOLERANCE[torch.float32], equal_nan=True)
            return None if near else f"float {one.item()!r} before, float {other.item()!r} after"
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
    if one.dtype in HALF:
        one, other = one.float(), other.float()
    if torch.allclose(one, other, relative, absolute, equal_nan=True):
        return None
    apart = (one - other).abs()
    return f"values differ by up to {apart[~apart.isnan()].max().item() if (~apart.isnan()).any() else 'NaN'}"


def as_number(leaf: Any) -> torch.Tensor | None:
    """The Python float that `plain` wrote down, None for anything else."""
    if not isinstance(leaf, str) or not leaf.startswith("float "):
        return None
    return torch.tensor(float(leaf[len("float ") :]), dtype=torch.float64)


_DECIMAL = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?)")


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for the rounding of the decimal numbers in them."""
    ones, others = _DECIMAL.split(one), _DECIMAL.split(other)
    if one == other or len(ones) != len(others) or ones[::2] != others[::2]:
        return one == other
    relative, absolute = TOLERANCE[torch.float32]
    for a, b in zip(ones[1::2], others[1::2]):  # noqa: B905 -- Python 3.9
        digits = len(a.partition("e")[0].partition(".")[2])
        last = (
            0.0 if digits < 3 or "e" in a else 1.01 * 10.0**-digits
        )  # printed with fewer digits than it has
        if abs(float(a) - float(b)) > max(last, absolute + relative * abs(float(b))):
            return False
    return True


def spread(outcomes: Sequence[Mapping[str, Any]]) -> dict[Place, float]:
    """How far apart runs of one call are, by place; only places where they are. Infinite where the numbers of two runs
    cannot be compared: whole numbers, other shapes, a NaN in one alone. Outcomes of another structure count at no
    place: that the code does other things each time `differ` tells."""
    first, *rest = outcomes
    found: dict[Place, float] = {}
    for other in rest:
        for what in PARTS:
            if [path for path, _ in first[what]] != [path for path, _ in other[what]]:
                continue
            for (path, one), (_, again) in zip(first[what], other[what]):  # noqa: B905 -- Python 3.9
                apart = between(one, again)
                if apart:
                    found[what, path] = max(apart, found.get((what, path), 0.0))
    return found


def between(one: Any, other: Any) -> float:
    if not alike(one, other):
        same = type(one) is type(other) and not isinstance(one, torch.Tensor) and bool(one == other)
        return 0.0 if same else float("inf")
    if not is_real(one):
        odd = one.layout != torch.strided or one.is_quantized or one.is_nested or one.is_complex()
        return 0.0 if odd or torch.equal(one, other) else float("inf")
    if not torch.equal(one.isfinite(), other.isfinite()):
        return float("inf")
    return furthest(one, other)


def alike(one: Any, other: Any) -> bool:
    """Two tensors of one shape and dtype."""
    return (
        isinstance(one, torch.Tensor)
        and isinstance(other, torch.Tensor)
        and (one.dtype, one.shape, one.layout) == (other.dtype, other.shape, other.layout)
    )


def is_real(one: torch.Tensor) -> bool:
    """Whether it holds real numbers whose distance means something."""
    plain = one.layout == torch.strided and not one.is_quantized and not one.is_nested
    return plain and one.is_floating_point()


def wide(one: torch.Tensor) -> torch.Tensor:
    return one.double()


def furthest(one: torch.Tensor, other: torch.Tensor) -> float:
    return largest(wide(one) - wide(other))


def largest(one: torch.Tensor) -> float:
    """The largest finite number, without its sign."""
    finite = one[one.isfinite()].abs()
    return float(finite.max()) if finite.numel() else 0.0


def rms(one: torch.Tensor) -> float:
    return float(one.square().mean().sqrt()) if one.numel() else 0.0


def nonzero(gradient: tuple[str, Any]) -> bool:
    value = gradient[1]
    return value is not None and not (isinstance(value, torch.Tensor) and not value.any())


def short(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a {str(value.dtype).replace('torch.', '')} tensor of shape {tuple(value.shape)}"
    return str(value)[:80]
