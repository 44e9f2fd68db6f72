from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import ask_original

# What a wrapper has of `torch.nn.Module` itself, and asks its part, the original, nothing about by that name. `train`,
# `state_dict` and `apply` are called on each part, so that the original's own run.
OWN = frozenset(
    "eval to half float double bfloat16 cpu cuda type share_memory requires_grad_ zero_grad load_state_dict parameters "
    "named_parameters buffers named_buffers modules named_modules children named_children".split()
)


class OverriddenMethod(Rule):
    """A class has an `eval`, `to` or `parameters` of its own, which the wrapper of torch.compile does not call.

    ## What happens
    `torch.compile(model)` returns a module with all the methods of `torch.nn.Module`. Another name is looked up on the
    original; one that the wrapper has itself is not. `compiled.eval()` then sets the mode of all parts, and what the
    class adds in its own `eval` is not done; `compiled.to(device)` leaves behind the tensors that its own `to` takes
    along; an optimizer that is given `compiled.parameters()` gets them all, and not those that the class picks.
    `train`, `state_dict` and `apply` are called on every part, and so is the original's own. Call the others on the
    original, or compile in place with `model.compile()`, which wraps nothing.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 2)

        def parameters(self, recurse=True):
            return self.head.parameters(recurse)

        def forward(self, x):
            return self.head(self.base(x))

    def run():
        model = torch.compile(Net())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(3)).sum().backward()
        return len(optimizer.param_groups[0]["params"])
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 2)

        def parameters(self, recurse=True):
            return self.head.parameters(recurse)

        def forward(self, x):
            return self.head(self.base(x))

    def run():
        model = Net()
        model.compile()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(3)).sum().backward()
        return len(optimizer.param_groups[0]["params"])
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: not called are the class's own `eval`, `to`, `half`, `float`, `double`,
    `bfloat16`, `cpu`, `type`, `share_memory`, `requires_grad_`, `zero_grad`, `load_state_dict`, `parameters`,
    `buffers`, `modules`, `children` and the four that give names as well; called are `train`, `state_dict`, `apply`,
    `extra_repr`, `__call__`, `__setattr__` and `_apply`.
    """

    code = "PTS346"
    name = "overridden-method"
    ops = ("attribute of compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.detail("name").removeprefix("constant ").strip("'") in OWN and "method" in op.details

    def check(self, node: cst.CSTNode, op: Op) -> None:
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        kept = self.function.parent(call)
        thrown = isinstance(kept, cst.Expr)
        gives = node.attr.value.endswith(("parameters", "buffers", "modules", "children"))
        self.report(
            node,
            op,
            f"{self.quote(node)} is the wrapper's own: the `{node.attr.value}` that the class defines is not called; "
            "`compile()` in place wraps nothing",
            fixes=ask_original(self, node, op, "Call the original's.") if thrown or gives else (),
        )
