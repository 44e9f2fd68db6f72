"""A number of an object that a module holds goes to the limit; one of an object that holds the module costs once."""

import torch


class Schedule:
    def __init__(self):
        self.turn = 0


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.schedule = Schedule()

    def forward(self, x):
        self.schedule.turn += 1  # PTR202
        return x * 2


class Agent:
    def __init__(self):
        self.steps = 0

    def act(self, x):
        self.steps += 1  # PTR215 once
        return x + 1


net, agent = torch.compile(Net()), Agent()
act = torch.compile(agent.act)


def run():
    for _ in range(11):
        net(torch.ones(3))
        act(torch.ones(3))
