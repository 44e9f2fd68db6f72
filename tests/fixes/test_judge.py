"""What proof takes for the same: noise of the unchanged code, half precision, and mistakes planted on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.dynamic.child import compare
from pt2lint.dynamic.child.judge import (
    Allowance,
    Held,
    differ,
    dtypes_drawn,
    judged,
    may_be_rounding,
    same_text,
    spread,
)
from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.proof import prove

OPTIONS = VerifyOptions(modes=("train",), further=False, timeout=120)
BODY = "        h = torch.where(h.sum() > 0, {value}, h)\n"
MODEL = '''import time

import torch

own = torch.Generator().manual_seed(time.time_ns())


@torch.library.custom_op("judge_{dtype}_{noise}::shaken", mutates_args=())
def shaken(x: torch.Tensor) -> torch.Tensor:
    """Draws from a generator that no seed reaches, as sums on a GPU come in an order of their own."""
    return x + torch.randn(x.shape, generator=own).to(x.dtype) * 1e-{noise}


@shaken.register_fake
def fake(x):
    return torch.empty_like(x)


shaken.register_autograd(lambda context, gradient: shaken(gradient))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 16)

    def forward(self, x):
        h = self.fc(x)
        {shake}
        if h.sum() > 0:
            h = h * 3
        return h


def example_inputs():
    model = Model().to(torch.{dtype})
    return model, (torch.rand(4, 16).to(torch.{dtype}),)
'''


def proved(folder, values, dtype="float32", noise=None, does="h * 3"):
    """Whether each of these values for `h * 3` is proven to be the same, and the notes."""
    path = str(folder / "m.py")
    shake = "h = shaken(h)" if noise else "h = h * 1"
    text = MODEL.format(dtype=dtype, noise=noise or 9, shake=shake).replace("h = h * 3", f"h = {does}")
    with open(path, "w") as file:
        file.write(text)
    line = text.split("\n").index("        if h.sum() > 0:") + 1
    found = []
    notes = []
    for value in values:
        fix = Fix("a fix", "unsafe", (Edit(path, line, 1, line + 2, 1, BODY.format(value=value)),))
        branch = Finding("PTB110", "branch", "m", path, line, 12, line, 23, fixes=(fix,), verdict="confirmed")
        if not found:
            judged = verify([branch], [path], OPTIONS)
        proof = prove([branch], judged.events, [path], OPTIONS)
        found.append(proof.findings[0].fixes[0].proven)
        notes += proof.notes
    return found, "\n".join(notes)


def test_noise_of_the_unchanged_code_is_no_difference_and_a_mistake_is(tmp_path):
    found, notes = proved(tmp_path, ["h * 3", "h * 3.0003"], "float64", noise=6)
    assert found == [True, False], notes
    assert "two runs of the code as it was differ by up to" in notes
    assert "with the fix by up to" in notes
    assert "only" in notes


def test_what_is_noise_throughout_is_not_proven(tmp_path):
    found, notes = proved(tmp_path, ["h * 3"], noise=1)
    assert found == [False]
    assert "nothing can be told" in notes


@pytest.mark.parametrize(("dtype", "wrong"), [("float16", "h * 3 + 0.02 * (h > 1)")])
def test_planted_mistakes_fail(tmp_path, dtype, wrong):
    found, notes = proved(tmp_path, ["h + h + h", wrong], dtype)
    assert found == [True, False], notes


def test_in_float32_a_run_in_float64_decides_where_rounding_exceeds_the_tolerance(tmp_path):
    """Both lose what a sum of this size cannot hold; neither is nearer to the truth."""
    values = ["(h * 3 + 3000.0 - 3000.0) / 3", "(h * 3 + 3000.0 - 3000.0) / 2.99"]
    found, notes = proved(tmp_path, values, does="(h * 2 + 3000.0 - 3000.0) / 2")
    assert found == [True, False], notes
    assert "no further from a run in float64 than before" in notes
    assert "are further from those in float64" in notes


# --- the judge alone


def said(*values, gradients=()):
    return {
        "error": None, "printed": "", "inputs": [], "buffers": [],
        "value": [(f"[{number}]", one) for number, one in enumerate(values)],
        "gradients": [(f"w{number}", one) for number, one in enumerate(gradients)],
    }  # fmt: skip


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), dtype=st.sampled_from([torch.float16, torch.bfloat16]))
def test_sums_in_another_order_are_the_same_in_half_precision_and_lost_terms_are_not(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    exact = torch.rand(200, 64, generator=generator) * 20
    terms = exact.to(dtype)
    exact = terms.float().sum(0)

    def added(order):
        total = torch.zeros(64, dtype=dtype)
        for at in order:
            total = total + terms[at]
        return total

    old, new = added(range(200)), added(torch.randperm(200, generator=generator).tolist())
    allowance, held = Allowance(reference={("value", "[0]"): exact}), Held()
    assert differ(said(old), said(new), False, allowance, held) is None
    assert torch.equal(old, new) or held.half > 0
    wrong = new.clone()
    wrong[7] = wrong[7] * 0.6
    assert "further from" in (differ(said(old), said(wrong), False, allowance) or "")


def test_float32_is_measured_only_where_it_exceeds_the_tolerance():
    exact = torch.linspace(-1, 1, 64, dtype=torch.float64)
    shaken = torch.tensor([1e-4, -1e-4]).repeat(32)
    old, new = exact.float() + shaken, exact.float() - shaken
    allowance, held = Allowance(reference={("value", "[0]"): exact}), Held()
    assert differ(said(old), said(new), False)
    assert may_be_rounding(said(old), said(new))
    assert differ(said(old), said(new), False, allowance, held) is None
    assert held.single > 1e-4
    assert differ(said(old), said(exact.float() + 5 * shaken), False, allowance)
    assert differ(said(exact.float()), said(new), False, allowance)  # the code as it was does better
    # What is the same up to rounding needs no such measure, however near the old code was.
    assert differ(said(exact.float()), said(exact.float() * (1 + 5e-5)), False, allowance) is None
    for other in (
        exact.float() + 0.1,
        exact.float()[:9],
        exact.float().half(),
        torch.full((64,), float("nan")),
    ):
        assert not may_be_rounding(said(old), said(other))
    assert not may_be_rounding(said(old), said(new) | {"printed": "x"})


def test_small_gradients_in_half_precision_are_compared_too():
    """The tolerance for half precision alone would take a gradient of zero for one of 0.005."""
    exact = torch.linspace(0.001, 0.005, 50)
    old = exact.half()
    allowance = Allowance(reference={("gradients", "w0"): exact})
    assert differ(said(gradients=[old]), said(gradients=[old * 1.001]), False, allowance) is None
    assert differ(said(gradients=[old]), said(gradients=[old * 0.5]), False, allowance)
    assert differ(said(gradients=[old]), said(gradients=[old * 0.5]), False) is None


def test_a_reference_that_computes_something_else_is_not_believed():
    """Where half precision overflows and is clamped, a wider dtype does not."""
    old = torch.full((8,), 60000.0).half()
    allowance = Allowance(reference={("value", "[0]"): torch.full((8,), 1e9)})
    assert differ(said(old), said(old), False, allowance) is None
    assert differ(said(old), said(old * 0.9), False, allowance)
    assert differ(said(old), said(torch.full((8,), float("inf")).half()), False, allowance)


def test_spread_tells_where_runs_differ():
    ones, others = said(torch.ones(3), torch.tensor([1, 2])), said(torch.ones(3) + 1e-3, torch.tensor([1, 3]))
    found = spread([ones, others])
    assert found["value", "[0]"] == pytest.approx(1e-3, rel=1e-3)
    assert found["value", "[1]"] == float("inf")
    assert spread([ones, ones]) == {}


def test_what_is_zero_but_for_rounding_tells_nothing_and_hinders_nothing():
    """The gradient of a bias before a normalization: two runs differ by as much as it is large."""
    place, zero = ("gradients", "bias"), torch.zeros(4)
    old, new = torch.tensor([[0.1, -0.1, 0.05, 0.0], [-0.05, 0.1, 0.0, 0.1]]).half()
    held = Held()
    assert judged(old, new, place, Allowance({place: 0.15}, {place: zero + 1e-4}), held) is None
    assert held.noise == pytest.approx(0.2, abs=1e-3)
    assert "nothing can be told" in judged(old, new + 1, place, Allowance({place: 0.15}, {place: zero}), held)
    assert "nothing can be told" in judged(old, new, place, Allowance({place: 0.15}, {place: zero + 1}), held)
    assert "nothing can be told" in judged(old, new, place, Allowance({place: 0.15}), held)


def test_a_dtype_that_hangs_on_what_is_drawn():
    """Indices of layers in one dtype, with placeholders in another where some are left out."""
    ids, place = torch.tensor([1, 2]), ("value", "[0]")
    drawn = dtypes_drawn([said(ids.int()), said(ids), said(ids.float())])
    assert drawn == {place: {torch.int32, torch.int64}}

    def told(one, other, drawn=drawn):
        return judged(one, other, place, Allowance(drawn_dtypes=drawn), held)

    held = Held()
    assert told(ids, ids) is None
    assert not held.drawn_dtype
    assert told(ids.int(), ids) is None
    assert held.drawn_dtype
    assert told(ids.int(), ids + 1) == "other values"
    assert told(ids.int(), ids[:1])
    assert told(ids.int(), ids, dtypes_drawn([said(ids.int())]))
    assert told(ids.int(), ids.short())
    assert told(ids.int(), ids.float())


LISTED = """import torch


def scaled(x, sizes):
    return x * (len(sizes) if isinstance(sizes, list) else sizes.sum())


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor):
        return scaled(x, n.tolist())


def example_inputs():
    return Model(), (torch.rand(3), torch.tensor([1, 2, 0]))
"""


def test_other_whole_numbers_are_tried_where_a_fix_asks_for_it(tmp_path):
    """Of the sample, the list has as many numbers as their sum says."""
    path = str(tmp_path / "m.py")
    with open(path, "w") as file:
        file.write(LISTED)
    edit = Edit(path, 10, 26, 10, 36, "n")
    fixes = [Fix("passed on", "unsafe", (edit,), traits=traits) for traits in (("whole numbers",), ())]
    listed = Finding("PTB105", "list", "m", path, 10, 26, 10, 36, verdict="confirmed")
    judged = verify([listed], [path], OPTIONS)
    found = [prove([replace(listed, fixes=(fix,))], judged.events, [path], OPTIONS) for fix in fixes]
    assert [proof.findings[0].fixes[0].proven for proof in found] == [False, True]
    assert "whole numbers alike" in "".join(found[0].notes)


def test_what_an_operator_raises_while_dynamo_traces_it_is_its_own_error():
    def f(x):
        return torch.cat([x, x[:, :1]]) * 2

    with pytest.raises(RuntimeError) as found:
        torch.compile(f, backend="eager")(torch.ones(2, 3))
    assert type(found.value).__name__ == "TorchRuntimeError"
    assert compare.raised(found.value) == "RuntimeError"
    assert compare.raised(ValueError("got KeyError(1)")) == "ValueError"


def test_a_number_that_is_kept_may_be_in_a_tensor_where_the_fix_says_so():
    place = ("inputs", "[0]['step']")
    for text, tensor, same in (
        ("int 3", torch.tensor(3.0), True),
        ("float 0.5", torch.tensor(0.5), True),
        ("int 3", torch.tensor(3.5), False),
        ("int 3", torch.tensor([3.0]), False),
        ("str '3'", torch.tensor(3.0), False),
    ):
        assert (judged(text, tensor, place, Allowance(in_tensors=True), Held()) is None) == same
        assert judged(text, tensor, place, Allowance(), Held()) is not None


STEP = """import torch


def step(model, optimizer, x):
    optimizer.zero_grad()
    h = model(x)
    if h.sum() > 0:
        h = h * 3
    loss = h.pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def example_inputs():
    model = torch.nn.Linear(4, 4)
    return step, (model, torch.optim.SGD(model.parameters(), lr=0.1), torch.rand(2, 4))
"""


def test_what_a_step_does_to_the_model_that_it_is_given_is_compared(tmp_path):
    """Each run begins with the same weights; the second fix gives the same loss, and other gradients."""
    path = tmp_path / "step.py"
    path.write_text(STEP)
    right = "    h = torch.where(h.sum() > 0, h * 3, h)\n"
    wrong = "    h = h + (torch.where(h.sum() > 0, h * 3, h) - h).detach()\n"
    fixes = tuple(Fix(new, "unsafe", (Edit(str(path), 7, 1, 9, 1, new),)) for new in (right, wrong))
    branch = Finding("PTB110", "branch", "m", str(path), 7, 8, 7, 19, verdict="confirmed")
    judged = verify([branch], [str(path)], OPTIONS)
    for fix, proven in zip(fixes, (True, False), strict=True):
        proof = prove([replace(branch, fixes=(fix,))], judged.events, [str(path)], OPTIONS)
        assert proof.findings[0].fixes[0].proven is proven, proof.notes
    assert "buffers weight" in proof.notes[-1]


def test_the_numbers_in_what_is_printed_may_be_rounded_otherwise():
    for one, other, same in (
        ("step 1 loss 2.3274066448", "step 1 loss 2.3274068832", True),
        ("loss 2.3274", "loss 2.3275", True),
        ("loss 2.327", "loss 2.329", False),
        ("lr 0.1", "lr 0.2", False),
        ("step 1", "step 2", False),
        ("loss 1.5 a", "loss 1.5 b", False),
    ):
        assert same_text(one, other) is same, one
    assert judged("float 2.3274066448", "float 2.3274068832", ("value", ""), Allowance(), Held()) is None
    assert judged("float 2.32740", "float 2.32890", ("value", ""), Allowance(), Held()) is not None
