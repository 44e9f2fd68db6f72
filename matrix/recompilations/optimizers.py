# ruff: noqa
"""Compiled optimizer steps and schedulers."""

import torch
from torch import nn

CALLS = 11


def _train(compile, make, schedule=None):
    model = nn.Linear(4, 4)
    optimizer = make(model.parameters())
    scheduler = schedule(optimizer) if schedule else None

    def step():
        optimizer.step()

    compiled = compile(step)
    for _ in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        compiled()
        optimizer.zero_grad()
        if scheduler:
            scheduler.step()
        yield None


def _exponential(optimizer):
    return torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


def _cosine(optimizer):
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)


def sgd_constant(compile):
    """SGD, constant `lr`"""
    yield from _train(compile, lambda p: torch.optim.SGD(p, lr=0.1))


def sgd_scheduled(compile):
    """SGD, float `lr` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.SGD(p, lr=0.1), _exponential)


def sgd_scheduled_tensor(compile):
    """SGD, `lr=torch.tensor(0.1)` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.SGD(p, lr=torch.tensor(0.1)), _exponential)


def adam_constant(compile):
    """Adam, constant `lr`"""
    yield from _train(compile, lambda p: torch.optim.Adam(p, lr=0.1))


def adam_scheduled(compile):
    """Adam, float `lr` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.Adam(p, lr=0.1), _exponential)


def adam_scheduled_tensor(compile):
    """Adam, `lr=torch.tensor(0.1)` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.Adam(p, lr=torch.tensor(0.1)), _exponential)


def adam_cosine(compile):
    """Adam, float `lr` and a cosine schedule"""
    yield from _train(compile, lambda p: torch.optim.Adam(p, lr=0.1), _cosine)


def adamw_scheduled(compile):
    """AdamW, float `lr` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.AdamW(p, lr=0.1), _exponential)


def adamw_foreach_scheduled(compile):
    """AdamW, `foreach=True`, float `lr` and a scheduler"""
    yield from _train(compile, lambda p: torch.optim.AdamW(p, lr=0.1, foreach=True), _exponential)


def adamw_foreach_scheduled_tensor(compile):
    """AdamW, `foreach=True, capturable=True`, tensor `lr` and a scheduler"""
    yield from _train(
        compile,
        lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.1), foreach=True, capturable=True),
        _exponential,
    )


def lr_set_by_hand(compile):
    """`group["lr"] = number` before each step"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = compile(lambda: optimizer.step())
    for n in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / (n + 1)
        yield compiled()


def lr_filled_by_hand(compile):
    """`group["lr"].fill_(number)` before each step"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
    compiled = compile(lambda: optimizer.step())
    for n in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        for group in optimizer.param_groups:
            group["lr"].fill_(0.1 / (n + 1))
        yield compiled()


def scheduler_in_region(compile):
    """`scheduler.step()` in the compiled function"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = _exponential(optimizer)

    def step():
        optimizer.step()
        scheduler.step()

    compiled = compile(step)
    for n in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        yield compiled()


def scheduler_tensor_in_region(compile):
    """`scheduler.step()` in the compiled function, tensor `lr`"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
    scheduler = _exponential(optimizer)

    def step():
        optimizer.step()
        scheduler.step()

    compiled = compile(step)
    for n in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        yield compiled()


def optimizer_step_compiled(compile):
    """`optimizer.step = torch.compile(optimizer.step)` with a scheduler"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = _exponential(optimizer)
    optimizer.step = compile(optimizer.step)
    for n in range(CALLS):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        scheduler.step()
        yield None


def train_step(compile):
    """forward, backward and step in one compiled function, with a scheduler"""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = _exponential(optimizer)

    def step(x):
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    compiled = compile(step)
    for n in range(CALLS):
        yield compiled(torch.ones(2, 4))
        scheduler.step()


def loss_scale_number(compile):
    """a loss weight that a schedule changes"""
    model = nn.Linear(4, 4)

    def loss(x, weight):
        return model(x).sum() * weight

    compiled = compile(loss)
    for n in range(CALLS):
        yield compiled(torch.ones(2, 4), 1.5 / (n + 1))


def momentum_scheduled(compile):
    """SGD with OneCycleLR, which changes `lr` and `momentum`"""
    yield from _train(
        compile,
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.2, total_steps=40),
    )
