"""Mean losses of what a mask selects, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.mask import masked_of
from pt2lint.fixes.repairs.masked_loss import mask_in_loss
from tests.fixes.lab import applied, function_code, load, nodes, prove

HEAD = """import torch
import torch.nn.functional as F


def f(x, y, m: torch.Tensor, flag=True):
"""
X = torch.tensor([[1.0, float("nan"), 3.0], [4.0, -5.0, 6.0]], requires_grad=True)
Y = torch.tensor([[2.0, 2.0, 2.0], [1.0, 1.0, float("inf")]])
MASK = torch.tensor([[True, False, True], [True, True, False]])
SAMPLES = [[X, Y, MASK], [X, Y, MASK, False], [X, Y, torch.zeros(2, 3, dtype=torch.bool)]]


def code_of(*lines, target="tensor:float"):
    code = function_code(HEAD + "".join(f"    {line}\n" for line in lines))
    code.kinds = lambda: {
        code.range(one): {"x": "tensor:float", "y": target, "m": "tensor:bool"}[one.value]
        for one in nodes(code, cst.Name)
        if one.value in ("x", "y", "m")
    }
    return code


def selection(code, last=False):
    found = [one for one in (*nodes(code, cst.Subscript), *nodes(code, cst.Call)) if masked_of(code, one)]
    return found[-1 if last else 0]


LONG = "F.smooth_l1_loss(x.float().double()[m], y.float().double()[m])"
WHERE = [
    "torch.where(m, x.float().double(), 0)",
    "torch.where(m, y.float().double(), 0)",
]


@pytest.mark.parametrize(
    ("lines", "laid_out"),
    [
        (
            [f"return {LONG}"],
            ["return F.smooth_l1_loss(", *(f"    {one}," for one in WHERE), ") * (m.numel() / m.sum())"],
        ),
        (
            ["loss = 0.5 * (", f"    {LONG}", "    + 1", ")", "return loss"],
            ["loss = 0.5 * (", "    F.smooth_l1_loss(", *(f"        {one}," for one in WHERE),
             "    ) * (m.numel() / m.sum())", "    + 1", ")", "return loss"],
        ),
        (
            ["loss = F.smooth_l1_loss(", "    x.float().double()[m], y.float().double()[m], reduction='sum'", ")",
             "return loss"],
            ["loss = F.smooth_l1_loss(", *(f"    {one}," for one in WHERE), "    reduction='sum',", ")",
             "return loss"],
        ),
    ],
)  # fmt: skip
def test_lines_are_indented_as_where_they_stand(lines, laid_out):
    code = code_of(*lines)
    after = prove(
        HEAD + "".join(f"    {line}\n" for line in lines), mask_in_loss(code, selection(code)), SAMPLES
    )
    assert after == HEAD + "".join(f"    {line}\n" for line in laid_out)


def test_a_line_is_broken_as_a_whole():
    lines = [f"return 0.5 * {LONG}"]
    code = code_of(*lines)
    after = prove(HEAD + f"    {lines[0]}\n", mask_in_loss(code, selection(code)), SAMPLES)
    assert after == HEAD + "".join(
        f"    {line}\n"
        for line in (
            "return 0.5 * (",
            f"    F.smooth_l1_loss({', '.join(WHERE)})",
            "    * (m.numel() / m.sum())",
            ")",
        )
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["return F.mse_loss(x[m], y[m])"],
        ["return 2 * F.l1_loss(x[m], y[m])"],
        ["return F.mse_loss(x[m], y[m], reduction='sum')"],
        ["return F.l1_loss(x[m], y[m], reduction='mean')"],
        ["return F.smooth_l1_loss(x.masked_select(m), torch.masked_select(y, m), beta=0.5).sqrt()"],
        ["x = x.masked_select(m)", "y = y.masked_select(m)", "return F.mse_loss(x, y) + F.l1_loss(x, y)"],
        ["x = x[m]", "y = y[m]", "y = torch.log(y.float() + 2)", "return F.huber_loss(x, y)"],
        ["x = x[m]", "if y is not None:", "    y = y[m]", "return F.mse_loss(x, y)"],
    ],
)
def test_losses(lines):
    code = code_of(*lines)
    fix = mask_in_loss(code, selection(code))
    after = prove(HEAD + "".join(f"    {line}\n" for line in lines), fix, SAMPLES)
    assert "masked_select" not in after
    assert "[m]" not in after


@pytest.mark.parametrize(
    ("lines", "sure"),
    [
        (["return F.mse_loss(x[m], y[m])"], False),  # m may have one dimension, and select rows
        (["k = ~torch.isnan(y)", "return F.mse_loss(x[k], y[k])"], True),
        (["return F.mse_loss(x.flatten()[m], y.view(-1)[m])"], True),
        (["return F.mse_loss(x.masked_select(m), y.masked_select(m))"], True),
        (["x = x[m]", "y = y[m]", "return F.l1_loss(x, y)"], False),
        (["x = x.view(-1)[m]", "y = y[m]", "return F.l1_loss(x, y)"], True),
    ],
)
def test_an_index_that_may_have_fewer_dimensions_waits_for_its_proof(lines, sure):
    code = code_of(*lines)
    fix = mask_in_loss(code, selection(code))
    assert ("once proven" in fix.traits) is not sure


@pytest.mark.parametrize(
    "lines",
    [
        ["a = x.view(-1, 3)[m]", "b = y[m]", "return F.cross_entropy(a, b)"],
        ["return F.cross_entropy(x[m], y[m], label_smoothing=0.1)"],
        ["return 2 * F.cross_entropy(x[m], y[m])"],
        ["return F.cross_entropy(x[m], y[m], ignore_index=0)"],
        ["return F.cross_entropy(x[m], y[m], reduction='sum', weight=torch.tensor([1.0, 2.0, 3.0]))"],
        ["return F.cross_entropy(x[m], y[m], weight=torch.tensor([1.0, 2.0, 3.0]))"],
        ["return F.nll_loss(x[m], y[m])"],
        [
            "if m is not None:",
            "    a = x[m]",
            "    b = y[m]",
            "    r = F.cross_entropy(a, b)",
            "else:",
            "    r = x",
            "return r",
        ],
        ["loss_fct = torch.nn.CrossEntropyLoss()", "a = x[m]", "b = y.view(-1)[m]", "return loss_fct(a, b)"],
    ],
)
def test_classes_of_active_tokens(lines):
    code = code_of(*lines, target="tensor:int")
    plain = code.kinds
    code.kinds = lambda: (
        plain()
        | {
            code.range(one): "torch.nn.CrossEntropyLoss"
            for one in nodes(code, cst.Name)
            if one.value == "loss_fct"
        }
    )
    x = torch.randn(4, 3, requires_grad=True)
    y, mask = torch.tensor([0, 2, 1, 99]), torch.tensor([True, True, True, False])
    fix = mask_in_loss(code, selection(code))
    prove(HEAD + "".join(f"    {line}\n" for line in lines), fix, [[x, y, mask], [x, y, ~mask & False]])


@pytest.mark.parametrize(
    "lines",
    [
        ["return F.cross_entropy(x[m], y[m])"],
        ["a = x[m]", "b = y[m]", "return F.cross_entropy(a, b)"],
        ["return F.cross_entropy(x.view(2, 4, 3)[m], y[m])"],
    ],
)
def test_classes_of_batches_of_tokens(lines):
    """The mask leaves rows of classes; without it they would be taken for channels."""
    code = code_of(*lines, target="tensor:int")
    x = torch.randn(2, 4, 3, requires_grad=True)
    y, mask = torch.randint(0, 3, (2, 4)), torch.rand(2, 4) > 0.3
    fix = mask_in_loss(code, selection(code))
    prove(HEAD + "".join(f"    {line}\n" for line in lines), fix, [[x, y, mask]])


def test_what_is_there_already_is_not_written_again():
    code = code_of("return F.cross_entropy(x[y != -100], y[y != -100])", target="tensor:int")
    kinds = code.kinds
    code.kinds = lambda: kinds() | {code.range(one): "tensor:bool" for one in nodes(code, cst.Comparison)}
    x, y = torch.randn(2, 4, 3, requires_grad=True), torch.tensor([[0, -100, 2, 1], [-100, 1, 1, -100]])
    source = HEAD + "    return F.cross_entropy(x[y != -100], y[y != -100])\n"
    after = prove(source, mask_in_loss(code, selection(code)), [[x, y, None]])
    assert after.endswith("    return F.cross_entropy(x.flatten(0, -2), y.flatten())\n")
    lines = ["a = x.view(-1, 3)[m]", "b = y.view(-1)[m]", "return F.cross_entropy(a, b)"]
    code = code_of(*lines, target="tensor:int")
    after = prove(
        HEAD + "".join(f"    {line}\n" for line in lines),
        mask_in_loss(code, selection(code)),
        [[x, y.clamp(min=0), (y >= 0).view(-1)]],
    )
    assert after.endswith("    return F.cross_entropy(a, torch.where(m, b, -100))\n")


@pytest.mark.parametrize("rest", ["", ", pos_weight=torch.tensor(5.0)"])
def test_logits_of_active_tokens(rest):
    lines = [
        "a = x.view(-1)[m]",
        "b = y[m]",
        f"return F.binary_cross_entropy_with_logits(a, b.float(){rest})",
    ]
    code = code_of(*lines)
    x, y = torch.tensor([[0.5], [float("inf")], [-2.0]], requires_grad=True), torch.tensor([1, 0, 0])
    mask = torch.tensor([True, False, True])
    fix = mask_in_loss(code, selection(code))
    after = prove(
        HEAD + "".join(f"    {line}\n" for line in lines), fix, [[x, y, mask], [x, y, ~mask & False]]
    )
    assert "a = x.view(-1)\n    b = y\n" in after


def test_probabilities():
    source = HEAD + "    return F.binary_cross_entropy(x[m], y[m])\n"
    x, y = torch.tensor([0.5, 0.0, 7.0], requires_grad=True), torch.tensor([0.1, 1.0, 3.0])
    mask = torch.tensor([True, True, False])
    code = code_of("return F.binary_cross_entropy(x[m], y[m])")
    prove(source, mask_in_loss(code, selection(code)), [[x, y, mask], [x, y, ~mask & False]])


def test_under_a_flag():
    lines = [
        "# padding",
        "if flag:",
        "    x = x.masked_select(m)",
        "    if y is not None:",
        "        y = y.masked_select(m)",
        "m = m.float()",
        "loss = F.mse_loss(x, y)",
        "if not flag:",
        "    loss = loss * x.size(1)",
        "return loss + m.sum()",
    ]
    code = code_of(*lines)
    for last in (False, True):  # the same fix, whichever of them is asked about
        fix = mask_in_loss(code, selection(code, last))
        after = prove(HEAD + "".join(f"    {line}\n" for line in lines), fix, SAMPLES[:1])
        assert "    m_kept = m if flag else torch.ones_like(x, dtype=torch.bool)\n" in after


def test_under_a_flag_that_says_what_the_mask_is_for() -> None:
    """Where nothing is selected, what is given may have another shape than the mask."""
    lines = [
        "if not flag:",
        "    x, y = x[x > 0], y[x > 0]",
        "if flag:",
        "    x = x.masked_select(m)",
        "    y = y.masked_select(m)",
        "return F.mse_loss(x, y)",
    ]
    x = torch.tensor([[1.0, 2.0, -3.0], [-4.0, -5.0, 6.0]], requires_grad=True)
    code = code_of(*lines)
    fix = mask_in_loss(code, selection(code, last=True))
    source = HEAD + "".join(f"    {line}\n" for line in lines)
    prove(source, fix, [[x, Y, MASK]])
    before, after = load(source).f, load(applied(source, fix)).f
    torch.testing.assert_close(after(x, Y, MASK, False), before(x, Y, MASK, False))


def test_a_mask_that_is_broadcast():
    lines = ["m = m[:, :1]", "x = x.masked_select(m)", "y = y.masked_select(m)", "return F.mse_loss(x, y)"]
    code = code_of(*lines)
    x, mask = torch.randn(3, 4), torch.tensor([[True, False], [False, False], [True, True]])
    prove(
        HEAD + "".join(f"    {line}\n" for line in lines),
        mask_in_loss(code, selection(code)),
        [[x, -x, mask]],
    )


def test_another_loss_keeps_its_selection():
    lines = ["n = m & (x > 0)", "x = x.masked_select(m)", "y = y.masked_select(m)", "z = z.masked_select(n)"]
    lines = [
        "z = x + 1",
        *lines[:3],
        "a = F.mse_loss(x, y)",
        lines[3],
        "return a + F.poisson_nll_loss(z, z)",
    ]
    code = code_of(*lines)
    fix = mask_in_loss(code, selection(code))
    assert sum("masked_select" in edit.text for edit in fix.edits) == 0
    assert isinstance(mask_in_loss(code, selection(code, last=True)), Refusal)


@pytest.mark.parametrize(
    "lines",
    [
        ["return F.mse_loss(x[m], y[~m])"],
        ["return F.mse_loss(x[m], y)"],
        ["return F.mse_loss(x[m], y[m], reduction='none').mean()"],
        ["return F.mse_loss(x[m], y[m], reduction=how)"],
        ["return F.binary_cross_entropy(x[m], y[m], weight=w)"],
        ["return F.cross_entropy(x[m], y[m])"],  # of probabilities
        ["return F.cross_entropy(x[m], y[m], weight=w, label_smoothing=0.1)"],
        ["if flag:", "    a = x[m]", "    b = y[m]", "return F.mse_loss(a, b)"],
        ["if flag:", "    x = x[m]", "    y = y[m]", "    z = F.mse_loss(x, y)", "return F.mse_loss(x, y)"],
        ["return F.mse_loss(x[0], y[0])"],  # no mask
        ["x = x[m]", "y = y[m]", "return F.mse_loss(x, y) + x.max()"],
        ["x = x[m]", "y = y[m]", "x = x.cumsum(0)", "return F.mse_loss(x, y)"],
        ["x = x[m]", "y = y[m]", "x = x + y", "return F.mse_loss(x, y)"],
        ["x = x[m]", "return F.mse_loss(x, y)"],
        ["if flag:", "    x = x[m]", "    y = y[m]", "    y = y * 2", "return F.mse_loss(x, y)"],
        ["for _ in range(2):", "    x = x[m]", "    y = y[m]", "return F.mse_loss(x, y)"],
        # Part of a product, over several lines.
        ["return 0.5 * F.smooth_l1_loss(", "    x.float().double()[m], y.float().double()[m]", ")"],
    ],
)
def test_refused(lines):
    code = code_of(*lines)
    found = [one for one in (*nodes(code, cst.Subscript), *nodes(code, cst.Call)) if masked_of(code, one)]
    assert all(isinstance(mask_in_loss(code, one), Refusal) for one in found)
    assert found
