"""An agent, no module, that keeps what its compiled methods saw."""

import collections

import torch


class Rollout:
    def __init__(self):
        self.states = []

    def drop(self):
        del self.states[:]


class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)
        self.rollout = Rollout()
        self.losses = []
        self.recent = collections.deque()
        self.last = []

    @torch.compile
    def act(self, x):
        self.rollout.states.append(x)  # PTR204
        return self.net(x)

    @torch.compile
    def update(self, x):
        loss = self.net(x).sum()
        self.losses.append(loss)  # PTR204
        return loss

    @torch.compile
    def smooth(self, x):
        self.recent.append(x * 2)  # PTR204
        return x * 2

    @torch.compile
    def step(self, x):
        self.last.append(x * 2)
        parts = Rollout()
        parts.states.append(x)
        return x + parts.states[0]


def run():
    agent = Agent()
    for _episode in range(2):
        for _ in range(12):
            x = torch.ones(4)
            agent.act(x)
            agent.update(x)
            agent.smooth(x)
            agent.step(x)
            agent.last[:] = []
        agent.rollout.drop()
