"""What a loader gives carries no gradients, and what a model made does: what is given both is compiled twice."""

import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset


class Judge(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


class Value(nn.Module):
    def evaluate(self, x, action):
        return (x * action).sum()

    def forward(self, x, action):
        return self.evaluate(x, action)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(4, 4)

    def act(self, x):
        mean = self.mean(x)
        return mean, mean.sum()


class Memory:
    def sample(self, size):
        return Batch(size)


class Batch:
    def __init__(self, size):
        self.states, self.actions = torch.randn(size, 4), torch.randn(size, 4)


class World:
    def reset(self, seed=None):
        return torch.ones(1, 4), {}

    def step(self, action):
        return torch.ones(1, 4), 0.0, False, False, {}


class Actor(nn.Module):
    def forward(self, x):
        return torch.tanh(x)


class Named(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, at):
        return {"image": torch.ones(4)}


class Painter(nn.Module):
    def forward(self, image):
        return torch.sigmoid(image)


judge, value, maker = torch.compile(Judge()), torch.compile(Value()), nn.Linear(4, 4)
same = torch.compile(nn.Tanh())


def judged():
    loader = DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, drop_last=True)
    for (images,) in loader:
        real = Variable(images.type(torch.FloatTensor))
        judge(real)
        judge(maker(torch.randn(4, 4)))  # PTR222 once in forward


def learned():
    policy, memory = Policy(), Memory()
    policy.act = torch.compile(policy.act)
    for _ in range(3):
        data = memory.sample(8)
        value(data.states, data.actions)
        action, _ = policy.act(data.states)
        value(data.states, action)  # PTR222 once in forward


def acted():
    actor, memory, world = torch.compile(Actor()), Memory(), World()
    seen, _ = world.reset(seed=1)
    for _ in range(3):
        action = actor(seen)
        seen, *_ = world.step(action)
        data = memory.sample(8)
        actor(data.states)  # PTR222 once in forward


def painted():
    painter = torch.compile(Painter())
    for batch in DataLoader(Named(), batch_size=4, drop_last=True):
        image = batch["image"].float()
        painter(image)
        painter(maker(image))  # PTR222 once in forward


def wanted():
    for (images,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4, drop_last=True):
        images.requires_grad = True
        same(images)
        same(maker(torch.randn(4, 4)))


def run():
    judged()
    learned()
    acted()
    painted()
    wanted()
