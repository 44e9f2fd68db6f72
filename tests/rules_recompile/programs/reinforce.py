"""An episode of many steps keeps its log probabilities in the policy, and empties them at its end."""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.log_probs = []

    def forward(self, x):
        return self.layer(x).softmax(-1)


policy = Policy()


@torch.compile
def act(state):
    probs = policy(state)
    policy.log_probs.append(probs[0])  # PTR204
    return probs


def finish():
    del policy.log_probs[:]


def main():
    for _episode in range(2):
        for _t in range(12):
            act(torch.ones(4))
        finish()


def run():
    main()
