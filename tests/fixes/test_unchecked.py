"""Assertions on rows and numbers that no graph holds, under the real Dynamo."""

import libcst as cst
import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs import unchecked
from tests.fixes import lab
from tests.linting import findings

X = torch.tensor([1.0, 1.0, 2.0])


def function(check: str) -> str:
    return f"import torch\n\n\ndef f(x: torch.Tensor):\n    {check}\n    return x + 1\n"


@pytest.mark.parametrize(
    ("check", "after"),
    [
        (
            "assert torch.unique(x).numel() == 2  # no more",
            "assert torch.compiler.is_compiling() or torch.unique(x).numel() == 2  # no more",
        ),
        (
            "assert (\n        x[x > 1].shape[0] < 3\n    ), 'many'",
            "assert torch.compiler.is_compiling() or (\n        x[x > 1].shape[0] < 3\n    ), 'many'",
        ),
        (
            "assert x.dim() and x.unique().numel()",
            "assert torch.compiler.is_compiling() or (x.dim() and x.unique().numel())",
        ),
        (
            "assert x.unique().numel() if x.dim() else True",
            "assert torch.compiler.is_compiling() or (x.unique().numel() if x.dim() else True)",
        ),
    ],
)
def test_the_assertion_is_left_to_eager_mode(check: str, after: str) -> None:
    source = function(check)
    code = lab.function_code(source)
    [asserted] = lab.nodes(code, cst.Assert)
    fixed = lab.prove(source, unchecked.assert_in_eager(code, asserted), [(X,)])
    assert f"    {after}\n" in fixed


def test_it_fails_in_eager_mode_as_before() -> None:
    source = function("assert torch.unique(x).numel() == 3")
    code = lab.function_code(source)
    after = lab.load(lab.applied(source, unchecked.assert_in_eager(code, lab.nodes(code, cst.Assert)[0])))
    with pytest.raises(AssertionError):
        after.f(X)


@pytest.mark.parametrize(
    "check",
    [
        "assert [].append(x.unique()) is None",
        "try:\n        assert x.unique().numel() == 3\n    except AssertionError:\n        x = x * 2",
    ],
)
def test_refused(check: str) -> None:
    code = lab.function_code(function(check))
    [asserted] = lab.nodes(code, cst.Assert)
    assert isinstance(unchecked.assert_in_eager(code, asserted), Refusal)


def test_it_is_what_is_offered_first() -> None:
    for check in (
        "assert torch.unique(x).numel() == 2",
        "assert x[x > 1].shape[0] < 3",
        "assert 2.0 in x.tolist()",
        "assert torch.equal(x, x)",
    ):
        [finding] = findings(function(check) + "\n\ncompiled = torch.compile(f)\n")
        assert "Assert in eager mode alone" in finding.fixes[0].description
