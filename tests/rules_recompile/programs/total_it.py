"""An agent that counts its updates, as no module does: compiled once more, then for any number."""

import torch


class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)
        self.total_it = 0
        self.epsilon = 1.0

    @torch.compile
    def train(self, x):
        self.total_it += 1  # PTR215 once
        self.epsilon *= 0.99
        return self.net(x) * self.epsilon / self.total_it


def run():
    agent = Agent()
    for _ in range(12):
        agent.train(torch.ones(4))
