import copy

import torch


class Model(torch.nn.Module):
    def helper(self, x):
        if x.sum() > 0:
            x = x + 1
        return x

    def forward(self, x):
        y = self.helper(x)
        print("hi")
        return y + copy.deepcopy(x) + x.sum().item()


def loop(x):
    for i in range(2):
        x = x + 1
        print(i)
    return x


def length(x, word):
    return x + len(word)
