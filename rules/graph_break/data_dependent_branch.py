from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class DataDependentBranch(Rule):
    """A condition depends on the values in a tensor."""

    code = "PTB110"
    name = "data-dependent-branch"
    ops = ("test tensor",)
    graph_breaks = ("GB0170",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(node, op, f"`{self.text(node)}` is tested, and is a tensor: {op.why}")
