from __future__ import annotations

import ast

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.loop_syntax import loops_around
from pt2lint.rule.syntax import names

PARAMETERS = ("parameters", "named_parameters")

SINCE = (2, 13)  # on 2.6 and 2.9 nothing is guarded on there


class UnfrozenParameters(Rule):
    """Parameters of a compiled module are frozen, or no longer are, between two of its calls.

    ## What happens
    Dynamo guards on `requires_grad` of each parameter. Once one of them is set to something else, the next call is
    compiled again: a model whose head is unfrozen after some epochs is compiled twice, one whose layers are
    unfrozen one by one as often as that, and past the limit of 8 it runs without being compiled. What is set before
    the first call costs nothing. A learning rate of 0 for a group of parameters keeps them as they are, with the
    same graph.

    ## Example
    ```python
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    net[0].requires_grad_(False)
    model = torch.compile(net)

    def run():
        for epoch in range(4):
            if epoch == 2:
                for parameter in net[0].parameters():
                    parameter.requires_grad = True
            model(torch.ones(3)).sum().backward()
    ```

    ## Use instead
    ```python
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    model = torch.compile(net)
    groups = [{"params": net[0].parameters(), "lr": 0.0}, {"params": net[1].parameters()}]
    optimizer = torch.optim.SGD(groups, lr=0.1)

    def run():
        for epoch in range(4):
            if epoch == 2:
                optimizer.param_groups[0]["lr"] = 0.1
            model(torch.ones(3)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    ```

    ## Versions
    Measured on torch 2.13 and 2.15: 1 recompilation for each time that some are unfrozen, and eager from the limit on.
    None on 2.6 and 2.9.
    """

    code = "PTR228"
    name = "unfrozen-parameters"
    ops = ("unfreeze", "call compiled")
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name != "unfreeze" or self.function.target < SINCE:
            return  # looked for where something is set
        loops = loops_around(self.function, node)
        turns = [loop for loop in loops if not self.goes_over_parameters(loop)]
        called = {self.text(call.func) for loop in turns for call in self.run_in(loop)}
        if not called or not self.is_decided(node, turns[-1], op):
            return
        head = op.detail("head")
        if not any(name == head or name.startswith(f"{head}.") for name in called) and not self.compiles(
            head
        ):
            return  # of the same class, and maybe another one
        self.report(
            node,
            op,
            f"{self.quote(node)} sets what Dynamo guards on for each parameter of `{op.detail('of')}`: the next call "
            "of the compiled module is compiled again; a learning rate of 0 keeps them as they are",
        )

    def goes_over_parameters(self, loop: cst.For | cst.While) -> bool:
        called = loop.iter.func if isinstance(loop, cst.For) and isinstance(loop.iter, cst.Call) else None
        return isinstance(called, cst.Attribute) and called.attr.value in PARAMETERS

    def run_in(self, loop: cst.For | cst.While) -> list[cst.Call]:
        """The calls of what is compiled, in a turn."""
        return [
            call
            for o in self.function.ops
            if o.name == "call compiled"
            and isinstance(call := self.function.node_at(o.range), cst.Call)
            and loop in loops_around(self.function, call)
        ]

    def compiles(self, name: str) -> bool:
        """Whether the file gives it to `compile`."""
        tree = self.function.file_tree or ast.parse(self.function.source)
        return any(
            isinstance(part, ast.Call)
            and ast.unparse(part.func).endswith("compile")
            and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(part))
            for part in ast.walk(tree)
        )

    def is_decided(self, node: cst.CSTNode, loop: cst.For | cst.While, op: Op) -> bool:
        """Whether only some turns do it, or each does it to another part: what all of them do alike changes nothing."""
        here = self.function.parent(node)
        while here is not None and here is not loop:
            if isinstance(here, cst.If):
                return True
            here = self.function.parent(here)
        bound = {n.value for n in names(loop.target)} if isinstance(loop, cst.For) else set()
        return any(n.value in bound for n in names(cst.parse_expression(op.detail("of"))))
