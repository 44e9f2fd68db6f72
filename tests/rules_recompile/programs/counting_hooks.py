"""Objects that are hooks of a compiled module, and count."""

import torch


class Average:
    def __init__(self):
        self.seen = 0
        self.mean = torch.zeros(4)

    def __call__(self, module, args, output):
        self.seen += 1  # PTR202 in inner
        self.mean += (output.detach().mean(0) - self.mean) / self.seen


class InTensor(Average):
    def __init__(self):
        super().__init__()
        self.seen = torch.tensor(0)

    def __call__(self, module, args, output):
        self.seen.add_(1)
        self.mean += (output.detach().mean(0) - self.mean) / self.seen


def averaged():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())
    average = Average()
    model[0].register_forward_hook(average)
    return torch.compile(model)


def averaged_in_tensor():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())
    model[0].register_forward_hook(InTensor())
    return torch.compile(model)


def run():
    model, other = averaged(), averaged_in_tensor()
    for _ in range(11):
        model(torch.ones(2, 4))
        other(torch.ones(2, 4))
