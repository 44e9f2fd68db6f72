"""What rules tell to write instead, by hand: it stays in the graph, and is told where no repair is."""

from __future__ import annotations

import logging

import pytest
import torch
from torch.nn import functional

from pt2lint.finding import Finding
from pt2lint.rule import Rule
from pt2lint.rule.loader import load_rules
from tests.rules.cases import Case, blocks

X = torch.tensor([[1.0, -2.0, 0.5], [0.5, 3.0, 4.0], [2.0, 2.5, -1.0]])
LAYER = torch.nn.Linear(3, 3)
IS_LOUD = logging.getLogger(__name__).isEnabledFor(logging.CRITICAL)


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 2


def covariance(x):
    centered = x - x.mean(-1, keepdim=True)
    return centered @ centered.mT / (x.shape[-1] - 1)


def kernel(x):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return functional.scaled_dot_product_attention(x[None], x[None], x[None])


def either(x, on=False):
    with torch.no_grad() if on else torch.autocast("cpu", enabled=False):
        return x + 1


def choose(x):
    values = torch.stack([x.sum(), x.mean(), x.max()])
    return values.index_select(0, values.argmax().reshape(1))


def groups(x):
    v = x.flatten().sort().values
    return (v[1:] != v[:-1]).cumsum(0)


def row_of_each(x):
    return torch.searchsorted(torch.tensor([1, 3]), torch.arange(3), right=True)


def all_but_the_diagonal(x):
    return x.flatten()[1:].view(2, 4)[:, :-1].reshape(3, 2)


def above_the_diagonal(x):
    i, j = torch.triu_indices(3, 3, 1)
    return x[i, j]


def pairs(x):
    return torch.stack([x, x + 1], -1)


def last_of_each(x):
    last = (x >= x.median(1, keepdim=True).values).cumsum(1).argmax(1)
    return pairs(x)[torch.arange(len(pairs(x))), last]


def as_many_of_each(x):
    index = torch.argsort(~(x >= x.median(1, keepdim=True).values), dim=1, stable=True)[:, :2]
    return torch.take_along_dim(pairs(x), index.unsqueeze(-1), 1)


def selected_of_each(x):
    return pairs(x)[x >= x.median(1, keepdim=True).values].view(3, -1, 2)


def with_more(x):
    x = x.clone()
    x[x[:, 1] > 0] += torch.ones(2, 3)
    return x


def grid(x):
    return x.new_empty((2, 2)).fill_(x.element_size() * x.numel())


# What to write, and what it stands for; None where no function says it.
SAID = {
    "the bytes of a tensor": (grid, None),
    "one and the same": (lambda x: x + 1 if x is LAYER.weight else x - 1, None),
    "all equal": (lambda x: torch.where((x == x).all(), x, -x), None),
    "all close": (lambda x: torch.where(torch.isclose(x, x).all(), x, -x), None),
    "the largest": (choose, None),
    "sorted": (lambda x: torch.stack([x.sum(), x.mean()]).sort().values, None),
    "a list that is repeated": (
        lambda x: torch.where(torch.arange(9) < x.argmax(), 0, 1),
        lambda x: torch.tensor([0] * x.argmax() + [1] * (9 - x.argmax())),
    ),
    "two bounds": (
        lambda x: x.clamp(min=0).clamp(max=x.mean()),
        lambda x: torch.clamp(x, min=torch.zeros(()), max=x.mean()),
    ),
    "a covariance": (covariance, torch.cov),
    "a negative log likelihood": (
        lambda x: 0.5 * (torch.log(x.exp()) + (x - 1) ** 2 / x.exp()).mean(),
        lambda x: functional.gaussian_nll_loss(x, torch.ones_like(x), x.exp()),
    ),
    "a flag": (lambda x: x + 1 if IS_LOUD else x, None),
    "the parameters": (lambda x: x @ dict(LAYER.named_parameters())["weight"], None),
    "a checkpoint": (lambda x: torch.utils.checkpoint.checkpoint(LAYER, x, use_reentrant=False), LAYER),
    "a Jacobian": (
        lambda x: torch.func.jacrev(torch.sin)(x[0]),
        lambda x: torch.autograd.functional.jacobian(torch.sin, x[0]),
    ),
    "a Hessian": (
        lambda x: torch.func.hessian(lambda v: v.sin().sum())(x[0]),
        lambda x: torch.autograd.functional.hessian(lambda v: v.sin().sum(), x[0]),
    ),
    "a product from the left": (lambda x: torch.func.vjp(torch.sin, x)[1](x)[0], None),
    "a product from the right": (lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1], None),
    "another gradient": (lambda x: Halved.apply(x) * 2, None),
    "no underscore": (lambda x: x.unsqueeze(0) + 1, None),
    "a kernel": (kernel, None),
    "a block that may be none": (either, None),
    "the other dtype": (
        lambda x: functional.linear(x.double(), LAYER.weight.to(torch.float64), LAYER.bias.double()),
        None,
    ),
    "least squares": (lambda x: torch.linalg.pinv(x) @ x, lambda x: torch.linalg.lstsq(x, x).solution),
    "groups": (groups, None),
    "gathered": (lambda x: torch.zeros(3, 3).index_add_(0, torch.tensor([0, 0, 2]), x), None),
    "sums of lengths": (
        lambda x: torch.zeros(2, 3).index_add_(0, row_of_each(x), x),
        lambda x: torch.stack([part.sum(0) for part in x.split([1, 2])]),
    ),
    "positions within lengths": (
        lambda x: torch.arange(3) - torch.tensor([0, 1])[row_of_each(x)],
        lambda x: torch.cat([torch.arange(n) for n in (1, 2)]),
    ),
    "all but the diagonal": (all_but_the_diagonal, lambda x: x[~torch.eye(3, dtype=torch.bool)].view(3, 2)),
    "above the diagonal": (above_the_diagonal, lambda x: x[torch.ones(3, 3).triu(1).bool()]),
    "all but a column": (
        lambda x: x[:, [k for k in range(3) if k != 1]],
        lambda x: x[:, torch.tensor([True, False, True])],
    ),
    "rows first": (
        lambda x: x.new_zeros(3, 3).masked_scatter(
            (x > 0).T, x.flatten(0, 1)[torch.argsort(~(x > 0).flatten(), stable=True)]
        ),
        lambda x: x.new_zeros(3, 3).masked_scatter((x > 0).T, x[x > 0]),
    ),
    "added under the mask": (
        lambda x: x + torch.zeros_like(x).masked_scatter((x[:, 1] > 0).unsqueeze(-1), torch.ones(2, 3)),
        with_more,
    ),
    "the last of each row": (last_of_each, lambda x: selected_of_each(x)[:, -1, :]),
    "as many of each row": (as_many_of_each, selected_of_each),
    "how many": (lambda x: (x > 0).sum(), lambda x: torch.tensor(x[x > 0].numel())),
    "turns": (lambda x: torch.where(x.sum() > 100, x, x + 1), None),
}


@pytest.mark.parametrize("name", SAID)
def test_it_stays_in_the_graph(name: str) -> None:
    written, stands_for = SAID[name]
    torch._dynamo.reset()
    with torch.no_grad() if "checkpoint" not in name else torch.enable_grad():
        made = torch.compile(written, backend="eager", fullgraph=True)(X)
        torch.testing.assert_close(made, written(X))
        if stands_for is not None:
            torch.testing.assert_close(made, stands_for(X))


RULES = [rule for rule in load_rules() if rule.instead]
# Of a rule that repairs what its page shows, what it does not repair.
UNREPAIRED = {
    "PTR232": """
import torch

@torch.compiler.disable
def looked_up(x):
    return x * 3

@torch.compile
def joined(x):
    parts = [x]
    parts.insert(len(parts), looked_up(x))
    return torch.cat(parts) * 2
"""
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_it_is_told_where_nothing_repairs(rule: type[Rule]) -> None:
    """Each is told of an example, before workarounds, and never beside a repair."""
    told = 0
    for case in _cases(rule):
        for found in _told(case, rule):
            repairs = [fix for fix in found.fixes if not fix.is_workaround]
            by_hand = [
                fix
                for fix in repairs
                if fix.by_hand and _beginning(fix.description[:-1]) in _beginnings(rule)
            ]
            told += bool(by_hand)
            assert not by_hand or repairs == by_hand == list(found.fixes[:1])
    assert told


def _told(case: Case, rule: type[Rule]) -> list[Finding]:
    """What the rule says of the installed torch, or else of an older one: some speak of these alone."""
    by_target = ([each for each in case.findings(of) if each.code == rule.code] for of in (None, (2, 9)))
    return next(filter(None, by_target), [])


def _cases(rule: type[Rule]) -> list[Case]:
    example, *texts = [*blocks(rule, "Example"), *getattr(rule, "INVALID", ())]
    found = [Case(rule, "invalid", n, text) for n, text in enumerate(texts, 1)]
    found += [Case(rule, "instead", 0, UNREPAIRED[rule.code])] if rule.code in UNREPAIRED else []
    return [Case(rule, "example", 0, example), *found]


def _beginnings(rule: type[Rule]) -> set[str]:
    return {_beginning(words) for words in rule.instead.values()}


def _beginning(words: str) -> str:
    return words.split(";")[0]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_each_is_about_an_operation(rule: type[Rule]) -> None:
    for beginning in rule.instead:
        assert any(op.startswith(beginning) for op in rule.ops), beginning
