from __future__ import annotations

import libcst as cst

from pt2lint.fixes.repairs.kept import in_tensor
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.tree import is_name, walk


class KeptNumber(Rule):
    """A Python number in an optimizer's state, or in another dictionary, is counted up in compiled code.

    ## What happens
    Dynamo takes the number for a constant and guards on its value: the next call finds another one and is compiled
    again. Where the number only enters the arithmetic it is an input of the graph from then on, and a branch costs
    one more for each way that it takes. Where it is a constant of the graph (`range`, a key, a place in a list)
    each new value is compiled again, until the recompile limit: that is a warning. A 0-dim tensor is never guarded
    on by value, which is why torch's own optimizers keep their `step` in one.

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
    severity = "note"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(
            node,
            op,
            f"`{self.text(node)}` is a Python number that every compiled call changes: Dynamo guards on it and "
            "compiles again; in a tensor (`torch.tensor(0.0)`) it costs nothing",
            fixes=in_tensor(self.function, node, op.detail("made")),
            severity="warning" if self.is_constant(node) else None,
        )

    def is_constant(self, node: cst.CSTNode) -> bool:
        """Whether the function makes the number a constant of the graph: `range(state["step"])`, a place in a list."""
        same = [node, *(n for part in walk(self.function.module) for n in self.named(part, node))]
        for part in walk(self.function.module):
            if isinstance(part, cst.Call) and is_name(part.func, "range"):
                places: list[cst.CSTNode] = list(part.args)
            elif isinstance(part, cst.Subscript) and not part.deep_equals(node):
                places = list(part.slice)
            elif isinstance(part, cst.FormattedStringExpression):
                places = [part]
            else:
                continue
            if any(each.deep_equals(one) for place in places for each in walk(place) for one in same):
                return True
        return False

    def named(self, part: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
        """`step` of `step = state["step"]`"""
        if not isinstance(part, cst.Assign) or not part.value.deep_equals(node):
            return []
        return [t.target for t in part.targets if isinstance(t.target, cst.Name)]
