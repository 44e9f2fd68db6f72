from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import dotted, function_around
from pt2lint.rule.tree import walk

KEPT = (2, 13)  # from here on what a class holds is changed as eager mode does


class ClassState(Rule):
    """Compiled code counts in an attribute of a class, or appends to its list: on torch 2.6 and 2.9 that is lost.

    ## What happens
    What Dynamo reads of a class by its name (`Net.calls`, `type(self).seen`) it takes for a constant, and does not
    guard on it. Changing it ends the graph, and the code behind the break changes what was read when it was
    compiled: a count starts from the same number at every call, and what is appended goes to a list that nobody
    else has. Nothing is said. A dictionary is changed as it should be, and so is a list that is read of the object
    (`self.seen.append(x)`), also where its class has it.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        calls = 0

        def forward(self, x):
            Net.calls += 1
            return x * Net.calls

    def run():
        net = torch.compile(Net())
        return [net(torch.ones(3)) for _ in range(3)]
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=torch.long))

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    def run():
        net = torch.compile(Net())
        return [net(torch.ones(3)) for _ in range(3)]
    ```

    ## Versions
    Measured: wrong on torch 2.6 and 2.9, for numbers and lists, by the class's name, `type(self)` and
    `self.__class__`, of modules and of other classes; right on 2.13 and 2.15, where both are compiled anew at every
    call (PTR203, PTR204). A method that changes it and does nothing else runs as plain Python, and is right.
    """

    code = "PTS358"
    name = "class-state"
    instead = MappingProxyType(
        {
            "change global": "Count in a buffer of the module, or where nothing is compiled",
            "grow attribute": "Return it, and let the caller keep it",
        }
    )
    ops = ("change global", "grow attribute")
    about_guards = True
    asks_what_is_left = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return bool(op.detail("of"))

    def concerns(self, op: Op) -> bool:
        return self.function.target < KEPT

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not self.computes(node, op):
            return  # what has no tensors Dynamo leaves to Python
        lost = (
            "starts from the same number at every call"
            if op.name == "change global"
            else "is lost: the list that it makes longer is not the class's"
        )
        self.report(
            node,
            op,
            f"{self.quote(node)} {lost}: before torch 2.13 compiled code takes what it reads of a class for a constant",
        )

    def computes(self, node: cst.CSTNode, op: Op) -> bool:
        """Whether the function is what is compiled, or computes in another line than this one, as far as that shows."""
        body = function_around(self.function, node)
        if len(op.flow) == 1 or body is None:
            return True
        return any(
            isinstance(part, cst.BinaryOperation) or (isinstance(part, cst.Call) and _is_of_tensors(part))
            for part in walk(body.body)
            if isinstance(part, cst.BinaryOperation | cst.Call) and self.function.range(part)[0] != op.line
        )


def _is_of_tensors(call: cst.Call) -> bool:
    return dotted(call.func).split(".")[0] in ("self", "torch", "F", "nn")
