"""A module that is called and put back is as it was; what was compiled for it is compiled once."""

from __future__ import annotations

import copy
import itertools

import pytest
import torch

from pt2lint.dynamic.child.entropy import Entropy
from pt2lint.dynamic.child.state import Kept, Unsure, state_of


class Config:
    def __init__(self):
        self.seen = []


class Model(torch.nn.Module):
    def __init__(self, change):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.register_buffer("count", torch.zeros(()))
        self.config, self.change = Config(), change

    def forward(self, x):
        self.change(self)
        return self.fc(x) + self.count


def in_place(model):
    model.count += 1
    model.fc.weight.data.add_(1)
    model.fc.weight.sum().backward()


def rebound(model):
    model.count = model.count + 1
    model.again = True


def within(model):
    model.config.seen.append(1)
    model.config.more = {"a": 1}
    model.fc.register_forward_hook(lambda module, args, out: out + 1)


@pytest.mark.parametrize("change", [in_place, rebound, within])
def test_put_back(change):
    model = Model(change)
    like = copy.deepcopy(model)
    kept = Kept(model, like)
    x = torch.ones(1, 2)
    first = model(x)
    assert kept.put_back()
    assert torch.equal(model(x), first)
    assert kept.put_back()
    assert vars(model).keys() == vars(like).keys()
    assert not model.config.seen
    assert not model.fc._forward_hooks
    assert model.fc.weight.grad is None


def test_what_a_step_is_given_is_put_back():
    model = Model(in_place)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    model(torch.ones(1, 2)).sum().backward()  # the gradients are those of an earlier step

    def step(given, x):
        optimizer.zero_grad()
        loss = given["model"](x).sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    call = ({"model": model}, torch.ones(1, 2))
    state = state_of(step, [call])
    assert {id(one) for one in state} == {id(one) for one in (model, optimizer, schedule)}
    kept = Kept(state)
    first = step(*call)
    assert {name for name, _ in kept.changed()} == {"fc.weight", "fc.bias", "count"}
    assert kept.put_back()
    assert not kept.changed()
    assert (optimizer.param_groups[0]["lr"], len(optimizer.state)) == (1e-3, 0)
    assert torch.equal(step(*call), first)


def test_what_cannot_be_put_back_is_said():
    def grow(model):
        model.fc.weight.data = torch.ones(2, 3)

    model = Model(grow)
    kept = Kept(model, copy.deepcopy(model))
    model.change(model)
    assert not kept.put_back()


def test_what_cannot_be_looked_into():
    model = Model(in_place)
    model.numbers = itertools.count()
    with pytest.raises(Unsure):
        Kept(model, model)


def test_the_module_is_compiled_once():
    """A configuration that the guards know by identity would have a deep copy compiled anew."""

    class Asks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.config = Config()

        def forward(self, x):
            return x + len({id(self.config)})

    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    torch._dynamo.reset()
    model = Asks()
    kept = Kept(model, copy.deepcopy(model))
    for number in range(3):
        torch.compile(model, backend=backend)(torch.full((2,), float(number)))
        assert kept.put_back()
    assert len(graphs) == 1


def test_entropy_starts_anew_with_each_seed():
    entropy = Entropy()
    entropy.restart(1)
    ones = [entropy(40), entropy(40)]
    entropy.restart(1)
    assert [entropy(40), entropy(40)] == ones
    entropy.restart(2)
    assert entropy(40) not in ones
    assert len(ones[0]) == 40
    assert ones[0] != ones[1]


def test_the_step_of_an_optimizer_is_put_back_and_shows_what_it_trains():
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    optimizer = torch.optim.Adam([weight])
    kept = Kept(state_of(optimizer.step, []))
    optimizer.step()
    assert [name for name, _ in kept.changed()] == ["parameter 0"]
    assert kept.put_back()
    assert torch.equal(weight, torch.ones(2))
    assert not optimizer.state
    assert not kept.changed()
