from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

SINCE = (2, 9)  # on 2.6 compiling raises


class FullDeque(Rule):
    """Compiled code puts something into a deque with a `maxlen`, and then iterates over it: it finds one item too many.

    ## What happens
    A full `deque(maxlen=3)` drops its oldest item for each new one. While Dynamo traces, a deque that was there
    before the compiled code ran drops nothing: a loop, `list(...)`, `sum(...)` or `torch.stack(tuple(...))` behind
    the `append` iterates over four items, and the result is computed of them. Nothing is said. After the call the
    deque is right again, and so are its length and its elements by position. The same goes for `appendleft`,
    `extend` and `extendleft`, and where the code takes the oldest out itself (`popleft()`) before it appends.

    A list that is cut to its last items, and a deque that the compiled code makes itself, are right.

    ## Example
    ```python
    from collections import deque

    import torch

    class Smooth(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = deque(maxlen=2)

        def forward(self, x):
            self.last.append(x)
            return torch.stack(list(self.last)).mean(0)

    def run():
        smooth = torch.compile(Smooth())
        return [smooth(torch.ones(3) * n) for n in range(4)]
    ```

    ## Use instead
    ```python
    import torch

    class Smooth(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = []

        def forward(self, x):
            self.last = [*self.last, x][-2:]
            return torch.stack(self.last).mean(0)

    def run():
        smooth = torch.compile(Smooth())
        return [smooth(torch.ones(3) * n) for n in range(4)]
    ```

    ## Versions
    Measured: wrong on torch 2.9, 2.13 and 2.15; on 2.6 it raises an AssertionError.
    """

    code = "PTS343"
    name = "full-deque"
    ops = ("go over full deque",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if self.function.target < SINCE:
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} has one item too many here once it is full: compiled code drops none when it appends "
            f"(line {op.detail('line')}), unlike in eager mode; keep a list, cut to its last items: `[*kept, x][-n:]`",
        )
