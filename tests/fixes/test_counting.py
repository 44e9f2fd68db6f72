"""Numbers that pass through a tensor for nothing, and sums that start as a leaf, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.counting import list_of_parts, list_of_range
from pt2lint.fixes.repairs.grad import without_gradient
from tests.fixes.lab import calls, function_code, nodes, prove

X = torch.ones(2, 3, requires_grad=True)


def code_of(*lines, name="f"):
    head = "import torch\n\n\ndef f(x, n=3):\n"
    source = head + "".join(f"    {line}\n" for line in lines)
    code = function_code(source, name)
    code.kinds = lambda: {
        code.range(one): {"n": "int", "x": "tensor"}[one.value]
        for one in nodes(code, cst.Name)
        if one.value in ("n", "x")
    }
    return source, code


@pytest.mark.parametrize(
    "call",
    [
        "torch.arange(1, x.dim())",
        "torch.arange(0, n, 2)",
        "torch.arange(2)",
        "torch.arange(2, dtype=torch.long)",
    ],
)
def test_counted_in_python(call):
    source, code = code_of(f"dims = {call}.tolist()", "return x * sum(dims)")
    after = prove(source, list_of_range(code, calls(code, f"{call}.tolist")), [[X]], exact=True)
    assert "list(range(" in after


@pytest.mark.parametrize(
    "call",
    [
        "torch.arange(2.5)",
        "torch.arange(x.sum())",
        "torch.arange(2, dtype=torch.float)",
        "x",
        "torch.ones(2)",
    ],
)
def test_other_lists_are_left(call):
    _, code = code_of(f"dims = {call}.tolist()", "return x * sum(dims)")
    assert isinstance(list_of_range(code, calls(code, f"{call}.tolist")), Refusal)


@pytest.mark.parametrize(
    ("start", "after"),
    [
        ("torch.tensor(0.0, requires_grad=True)", "total = torch.tensor(0.0)\n"),
        ("torch.zeros(1, requires_grad=True, dtype=x.dtype)", "total = torch.zeros(1, dtype=x.dtype)\n"),
        ("torch.zeros(1, requires_grad=x.requires_grad)", "total = torch.zeros(1)\n"),
    ],
)
def test_a_sum_starts_without_a_gradient(start, after):
    source, code = code_of(
        f"total = {start}", "for _ in range(n):", "    total = total + x.sum()", "return total"
    )
    assert after in prove(
        source, without_gradient(code, calls(code, start.partition("(")[0])), [[X]], exact=True
    )


@pytest.mark.parametrize(
    "rest",
    [
        ["return total"],
        ["total = total + x.sum()", "return total, total.grad"],
        ["total = total * x.sum()", "return total"],
        ["y = total + 1", "return y"],
    ],
)
def test_a_leaf_that_is_more_than_a_start_is_left(rest):
    _, code = code_of("total = torch.zeros(1, requires_grad=True)", *rest)
    assert isinstance(without_gradient(code, calls(code, "torch.zeros")), Refusal)


@pytest.mark.parametrize(
    "lines",
    [
        ("t = torch.cat([torch.as_tensor([-1], dtype=torch.long), torch.as_tensor(s)], dim=0)", "t.tolist()"),
        ("", "torch.cat((torch.tensor([-1]), torch.tensor(s, dtype=torch.long))).tolist()"),
    ],
)
def test_lists_put_together_in_python(lines):
    source, code = code_of("s = x.size()[1:]", *filter(None, lines[:1]), f"return x.reshape({lines[1]})")
    fix = list_of_parts(code, calls(code, lines[1][:-2]))
    assert fix.waits_for_proof
    assert "x.reshape([-1, *s])" in prove(source, fix, [[X]], exact=True)


@pytest.mark.parametrize(
    "lines",
    [
        ("t = torch.cat([torch.as_tensor([-1]), x])",),
        ("t = torch.cat([torch.as_tensor([-1.0], dtype=torch.float), torch.as_tensor(s)])",),
        ("t = torch.cat([torch.as_tensor([-1]), torch.as_tensor(s)], dim=1)",),
        ("t = torch.cat([torch.as_tensor([-1]), torch.as_tensor(s)])", "s = []"),
        ("t = torch.cat([torch.as_tensor([-1]), torch.as_tensor(s.pop())])",),
        ("t = torch.stack([torch.as_tensor([-1]), torch.as_tensor(s)])",),
    ],
)
def test_other_lists_stay(lines):
    _, code = code_of("s = x.size()[1:]", *lines, "return x.reshape(t.tolist())")
    assert isinstance(list_of_parts(code, calls(code, "t.tolist")), Refusal)
