"""An agent acts on one observation and learns from batches of its memory, and a model reads a prompt and then a token
at a time."""

import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, state):
        return self.layer(state)


class Critic(nn.Module):
    def value(self, state, action):
        return state.sum(1) + action.sum(1)

    def forward(self, state, action):
        return self.value(state, action)


class Memory:
    def sample(self, size):
        return torch.rand(size, 3), torch.rand(size, 2)


class Agent:
    def __init__(self):
        self.actor, self.critic = Actor(), Critic()
        self.actor.compile()
        self.critic.compile()

    def act(self, state):
        state = torch.FloatTensor(state).reshape(1, -1).to("cpu")
        return self.actor(state).detach()

    def learn(self, memory, size=8):
        state, action = memory.sample(size)
        self.critic(state, action).sum()
        made = self.actor(state)  # PTR222 once in forward
        (-self.critic(state, made)).mean().backward()  # PTR222 once in forward


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(nn.functional.one_hot(x, 4).float())


def generate(model, tokens, most):
    logits = model(tokens[:, -most:])  # PTR222 once in forward
    for _ in range(3):
        one = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, one], dim=1)
        logits = model(one)


def run():
    agent, memory, model = Agent(), Memory(), torch.compile(Language())
    for _ in range(3):
        agent.act([1.0, 2.0, 3.0])
        agent.learn(memory)
    generate(model, torch.ones(1, 4, dtype=torch.long), 4)
