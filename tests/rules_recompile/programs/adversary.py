"""What a generator made carries gradients, and detached it does not: the critic is compiled for each once."""

import torch

generator = torch.nn.Linear(4, 4)
critic = torch.compile(torch.nn.Linear(4, 4))
judge = torch.compile(torch.nn.Linear(4, 4), backend="eager")


def run():
    for _ in range(4):
        fake = generator(torch.ones(2, 4)).view(2, 4)
        critic(fake).mean().backward()
        critic(fake.detach()).mean().backward()  # PTR222 once in inner
        critic(torch.ones(2, 4)).mean().backward()
        kept = fake.detach()
        judge(kept)
        judge(fake.data)
