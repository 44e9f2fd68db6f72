"""A function that NumPy computes, as a custom operator."""

from __future__ import annotations

import libcst as cst
import numpy as np
import pytest
import torch

from pt2lint.finding import Fix
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.operator import as_operator, schema_type
from tests.fixes.lab import applied, function_code, load, nodes

MASKS = '''import numpy as np
import torch


def masks(
    shape: tuple[int, int], rate: float, attention_mask: torch.LongTensor | None = None, least: int = 1
) -> np.ndarray:
    """Rows in which spans are chosen."""
    rows, length = shape  # as given
    epsilon = np.random.rand(1).item()

    def spans(n):
        return max(int(rate * n + epsilon), least)

    lengths = attention_mask.sum(-1).tolist() if attention_mask is not None else [length] * rows
    found = np.zeros((rows, length), dtype=bool)
    if spans(length) == 0:
        return found
    for row, n in enumerate(lengths):
        found[row, np.random.choice(np.arange(n), spans(n), replace=False)] = True
    return found


def f(x, attention_mask=None):
    h = x * 2
    chosen = torch.tensor(masks((h.shape[0], h.shape[1]), 0.4, attention_mask=attention_mask), dtype=torch.bool)
    h[chosen] = 0
    return h + torch.tensor(masks((h.shape[0], h.shape[1]), 0.4, attention_mask=attention_mask))[:, :, None]
'''


def repaired(source, name="masks"):
    code = function_code(source, name)
    call = next(node for node in nodes(code, cst.Call))
    return as_operator(code, call)


def test_the_same_numbers_in_one_graph():
    after = applied(MASKS, repaired(MASKS))
    old, new = load(MASKS), load(after)
    x = torch.randn(3, 8, 2)
    for more in ((), (torch.tensor([[1] * 8, [1] * 6 + [0] * 2, [1] * 4 + [0] * 4]),)):
        np.random.seed(1)
        before = old.f(x.clone(), *more)
        for how in (lambda f: f, lambda f: torch.compile(f, backend="aot_eager", fullgraph=True)):
            torch._dynamo.reset()
            np.random.seed(1)
            assert torch.equal(how(new.f)(x.clone(), *more), before)
    # Other numbers each time, compiled too.
    compiled = torch.compile(new.f, backend="aot_eager")
    assert not all(torch.equal(compiled(x.clone()), compiled(x.clone())) for _ in range(4))


def test_comments_and_docstring_stay():
    after = applied(MASKS, repaired(MASKS))
    assert "rows, length = shape  # as given" in after
    assert after.count("Rows in which") == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("rate: float", "rate", "annotation"),
        ("    return found\n\n\ndef f", "    return found + 1\n\n\ndef f", "one array"),
        ("found = np.zeros((rows, length), dtype=bool)", "found = other(rows)", "is not made once"),
        ("np.zeros((rows, length)", "np.zeros((rows, spans(length))", "does not follow"),
        ("dtype=bool", "dtype=kind", "dtype"),
        ("least: int = 1\n", "*, least: int = 1\n", "plain arguments"),
        ("def masks", "@cached\ndef masks", "plain function"),
        ("epsilon = np", "masks((1, 1), rate)\n    epsilon = np", "calls itself"),
    ],
)
def test_refused(old, new, reason):
    assert old in MASKS
    found = repaired(MASKS.replace(old, new))
    assert isinstance(found, Refusal)
    assert reason in found.reason


def test_torch_before_tags():
    from dataclasses import replace

    code = replace(function_code(MASKS, "masks"), target=(2, 6))
    found = as_operator(code, nodes(code, cst.Call)[0])
    assert isinstance(found, Fix)
    assert "tags" not in found.edits[-1].text


@pytest.mark.parametrize(
    ("annotation", "type_"),
    [
        ("int", "SymInt"), ("Optional[float]", "float?"), ("torch.Tensor | None", "Tensor?"), ("None | str", "str?"),
        ("Tuple[int, int]", "SymInt[]"), ("list[int]", "SymInt[]"), ("tuple[int, ...]", "SymInt[]"),
        ("torch.LongTensor", "Tensor"), ("dict[str, int]", None), ("int | str", None), ("", None), ("Config", None),
    ],
)  # fmt: skip
def test_types_of_an_operator(annotation, type_):
    assert schema_type(annotation) == type_
