"""Methods that are compiled in place from outside: `decoder.step = torch.compile(decoder.step)`."""

import torch


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(3, 3)

    def step(self, frame, seen):
        if seen:
            frame = frame + seen[-1]
        return self.out(frame)

    def last(self, frame, before):
        return self.out(frame + before)

    def forward(self, frame):
        seen = []
        for _ in range(12):
            frame = self.step(frame, seen)  # PTR207 in step
            seen.append(frame)
        return frame

    def again(self, frame):
        before = torch.zeros(3)
        for _ in range(12):
            before = self.last(frame, before)
        return before


class Sampler:
    def __init__(self, net):
        self.net = net

    def denoise(self, x, level):
        return self.net(x) * x[:level].sum()

    def sample(self, x, steps):
        for level in range(steps):
            x = self.denoise(x, level)  # PTR207 in denoise
        return x


class Mixer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def mix(self, x, states):
        return x * states[self.index]

    def forward(self, x, states):
        return self.mix(x, states) + states[self.index, "shift"]


class Block(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.mixer = Mixer(index)

    def forward(self, x, states):
        return x + self.mixer(x, states)


def prepare(blocks):
    for block in blocks:
        block.forward = torch.compile(block.forward)  # PTR226 in forward
    return blocks


@torch.no_grad()
def run():
    decoder = Decoder()
    decoder.step = torch.compile(decoder.step)
    decoder.last = torch.compile(decoder.last)
    decoder(torch.ones(3))
    decoder.again(torch.ones(3))
    sampler = Sampler(decoder.out)
    sampler.denoise = torch.compile(sampler.denoise, dynamic=False)
    sampler.sample(torch.ones(3), 12)
    blocks = prepare(torch.nn.ModuleList([Block(i) for i in range(12)]))
    states = {i: torch.ones(3) for i in range(12)} | {(i, "shift"): torch.ones(3) for i in range(12)}
    x = torch.ones(3)
    for block in blocks:
        x = block(x, states)
