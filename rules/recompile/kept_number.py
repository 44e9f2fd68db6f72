from __future__ import annotations

import libcst as cst

from pt2lint.fixes.repairs.kept import in_tensor
from pt2lint.op import Op
from pt2lint.rule import Rule


class KeptNumber(Rule):
    """A number of Python in an optimizer's state, or another dictionary, counts in compiled code.

    ## What happens
    Dynamo takes the number for a constant and guards on its value: the next call finds another one and is compiled
    again. Where the number only enters the arithmetic it is an input of the graph from then on; where it decides what
    the graph is (a branch, `range`, a key) each new value is compiled anew, until the recompile limit. A tensor of no
    dimensions is never guarded on by value, which is why torch's own optimizers keep their `step` in one.

    ## Example
    ```python
    import torch

    @torch.compile
    def update(p, grad, state):
        state["step"] += 1
        return p - grad * 0.9 ** state["step"]

    def run():
        p, state = torch.ones(3), {"step": 0}
        for _ in range(11):
            p = update(p, torch.ones(3), state)
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def update(p, grad, state):
        state["step"] += 1
        return p - grad * 0.9 ** state["step"]

    def run():
        p, state = torch.ones(3), {"step": torch.tensor(0.0)}
        for _ in range(11):
            p = update(p, torch.ones(3), state)
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation where the number enters the arithmetic,
    2 with `torch.compile(optimizer.step)`, where the state is empty at first, and more where it is compared; none for
    a tensor.
    """

    code = "PTR218"
    name = "kept-number"
    about_guards = True
    asks_what_is_left = True
    ops = ("change item",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"`{self.text(node)}` is a number of Python that every compiled call changes: Dynamo guards on it and "
            "compiles again; in a tensor (`torch.tensor(0.0)`) it costs nothing",
            fixes=in_tensor(self.function, node, op.detail("made")),
        )
