"""A number that is read out of a tensor under a name, and tested later."""

import pytest
import torch

from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.named import kept_for_tests
from tests.fixes.lab import applied, calls, function_code, prove

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, m: torch.Tensor, on: bool = True):\n"
NAMED = """\
    # how many
    n = m.sum().item()
    if on and n > 3:
        x = x.clamp(max=0.5)  # not more
    y = x - 1 if n == 0 else x
    if not n:
        return y
    return y * 2
"""
SAMPLES = [[torch.randn(2, 3, requires_grad=True), torch.tensor(m)] for m in ([0, 0], [1, 1], [3, 2])]


def repaired(text, call="m.sum().item", **given):
    code = function_code(HEAD + text)
    return kept_for_tests(code, calls(code, call), None, **given)


def test_the_tensor_keeps_the_name():
    after = prove(HEAD + NAMED, repaired(NAMED), SAMPLES)
    assert "    # how many\n    n = m.sum()\n" in after
    assert "# not more\n    if on:\n        x = torch.where(n > 3, x.clamp(max=0.5), x)\n" in after
    assert "    y = torch.where(n == 0, x - 1, x)\n" in after


@pytest.mark.parametrize(
    ("text", "call", "made"),
    [
        (
            "    big = m.max().item() > 3\n    return x * 2 if big else x\n",
            "m.max().item",
            "big = m.max() > 3\n",
        ),
        (
            "    n = int(m.bool().sum())\n    if n:\n        x = x + 1\n    return x\n",
            "int",
            "n = m.bool().sum()\n",
        ),
        ("    n = float(-m)\n    if n < 1:\n        x = -x\n    return x\n", "float", "n = -m\n"),
    ],
)
def test_other_tests(text, call, made):
    assert f"    {made}" in applied(HEAD + text, repaired(text, call))


def test_where_a_tensor_will_do_it_is_read_too():
    text = "    n = m.sum().item()\n    y = x\n    if n > 0:\n        y = x / n\n    return y\n"
    assert isinstance(repaired(text), Refusal)
    after = applied(HEAD + text, repaired(text, takes_tensor=lambda use: True))
    assert "    n = m.sum().detach()\n" in after
    assert "y = torch.where(n > 0, x / torch.where(n > 0, n, 1), y)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return y * 2", "return y * n"),
        ("return y * 2", "return y[:n]"),
        ("    if not n", "    n = 2\n    if not n"),
        ("    if not n", "    while n > 5:\n        break\n    if not n"),
        ("n = m.sum().item()", "n = self.n = m.sum().item()"),
        ("n = m.sum().item()", "n = not m.sum().item()"),
        ("n = m.sum().item()", "n = int(m.sum().item() / 2)"),
        ("x = x.clamp(max=0.5)", "print(x)"),
        ("m.sum()", "m.rest()"),
    ],
)
def test_other_numbers_are_left(old, new):
    assert old in NAMED
    text = NAMED.replace(old, new)
    assert isinstance(repaired(text, f"{'m.rest' if 'rest' in new else 'm.sum'}().item"), Refusal)


def test_a_parameter_is_bound_before():
    text = "    if on == -1:\n        on = m.sum().item()\n    return x * 2 if on > 3 else x\n"
    assert isinstance(repaired(text), Refusal)
