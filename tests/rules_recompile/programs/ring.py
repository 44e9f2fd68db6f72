"""A window of fixed length, kept by the caller and by a compiled method that drops the oldest."""

import torch


class Window:
    def __init__(self):
        self.rows = []

    @torch.compile
    def push(self, x):
        self.rows.append(x)
        self.rows.pop(0)
        return sum(self.rows)

    def start(self, x):
        self.rows.append(x)


def run():
    window = Window()
    window.start(torch.ones(3))
    for _ in range(12):
        window.push(torch.ones(3))
