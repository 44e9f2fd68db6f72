"""What `**options` brings, positions in an object, learning rates and the weights of modules."""

import torch


@torch.compile
def attend(x, longest=0):
    return x * longest


@torch.compile
def place(x, cache):
    return x + cache.position


@torch.compile
def decay(weight, rate):
    return weight * (1 - rate)


@torch.compile
def scaled(weight):
    return weight / weight.abs().max()


class Cache:
    def __init__(self):
        self.position = 0


class Descent(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                decay(weight.detach(), group["lr"])  # PTR220 once in decay, PTR224


@torch.compile
def repeated(x, y, times):
    for _ in range(times):
        x = x + y
    return x


@torch.compile
def weighed(x, y, by=0):
    return x * by + y


@torch.compile
def shifted(x, y, by):
    return x * by + y


def learn(x, lengths):
    options = {}
    options["longest"] = max(lengths)  # PTR220 once in attend
    return attend(x, **options)


def generate(x):
    cache = Cache()
    for _ in range(11):
        x = place(x, cache)  # PTR220 once in place
        cache.position += 1


def quantize(model):
    for part in model.modules():
        if isinstance(part, torch.nn.Linear):
            scaled(part.weight.detach())  # PTR224 once in scaled


def run():
    for n in range(1, 12):
        learn(torch.ones(3), [n, n + 1])
    pair = [torch.ones(3), torch.ones(3)]
    named = {"x": pair[0], "y": pair[1]}
    for n in range(1, 12):
        repeated(*pair, times=n)  # PTR207 in repeated
        weighed(**named, by=n)  # PTR220 once in weighed
        shifted(*pair, n)  # PTR220 once in shifted
    generate(torch.ones(3))
    descent = Descent([torch.nn.Parameter(torch.ones(3))], 0.1)
    for _ in range(11):
        descent.param_groups[0]["lr"] *= 0.9
        descent.step()
    quantize(torch.nn.Sequential(*[torch.nn.Linear(4 * i, 4 * i + 4) for i in range(1, 11)]))
