from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule


class Tmp(Rule):
    """Everything else, for now."""

    code = "PTB199"
    name = "tmp"
    ops = ("size tensor", "index mask", "call numpy.random.rand", "call numpy.random.choice", "call torch.nonzero", "call torch.Tensor.nonzero", "call torch.Tensor.masked_select", "call torch.masked_select", "call torch.unique", "call torch.Tensor.unique", "call torch.Tensor.tolist", "call torch.manual_seed", "set torch.Tensor.requires_grad", "forward torch.nn.LSTM", "call random.random", "call torch.repeat_interleave", "call builtins.print", "call logging.Logger.warning", "call logging.Logger.warning_once", "call logging.Logger.debug", "call logging.Logger.info",  "call copy.deepcopy", "iterate x")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.report(node, op, f"{op.name} {op.why}")
