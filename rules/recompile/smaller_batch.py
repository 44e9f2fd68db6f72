from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix, Step
from pt2lint.fixes.rewrite import with_argument
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.fed import FEEDS, Feed, feeds, taken
from pt2lint.said import told_line, told_place


class SmallerBatch(Rule):
    """The last batch of a `DataLoader` may be smaller, and a compiled model is given it.

    ## What happens
    Without `drop_last=True` the last batch of an epoch holds what is left, unless the batch size divides the number
    of samples. Dynamo then compiles the model once more, now for any size. From then on that graph comes first: the
    full batches of all later epochs run it too, and the one that was compiled for exactly their size is never used
    again. Drop the rest where samples are shuffled anyway; where each counts, as in an evaluation, say with
    `torch._dynamo.mark_dynamic` that the size of a batch changes, which saves the first compilation. With
    `torch.compile(dynamic=False)` each of the two sizes keeps a graph of its own.

    ## Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.compile(torch.nn.Linear(4, 4))
    loader = DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4, shuffle=True)

    def run():
        for epoch in range(2):
            for (x,) in loader:
                model(x)
    ```

    ## Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    model = torch.compile(torch.nn.Linear(4, 4))
    loader = DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=4, shuffle=True, drop_last=True)

    def run():
        for epoch in range(2):
            for (x,) in loader:
                model(x)
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation, and the graph for any size at every later call; with
    `drop_last=True` or `mark_dynamic` none; with `dynamic=False` 1, and each size its own graph. A last batch of a
    single sample costs 1 in any case.
    """

    code = "PTR212"
    name = "smaller-batch"
    ops = ("call torch.utils.data.DataLoader",)
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if not feeds(op) or "**" in op.args:
            return False
        size = op.arg("batch_size", 1)
        if size in ("", "none", "constant 1") or op.arg("batch_sampler", 4) not in ("", "none"):
            return False
        return op.arg("drop_last", 8) in ("", "constant False")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or any(a.star == "*" for a in node.args):
            return
        calls = feeds(op)
        compiled = any(use.startswith(FEEDS) for use in op.uses)
        path, line, _, _, _, callee, *_ = calls[0]
        steps: dict[Step, None] = {}
        for feed in calls:
            steps |= dict.fromkeys(taken(*feed[6:]) if feed[6:] else ())
        op = op._replace(flow=(*op.flow, *steps))
        where = f"line {told_line(line)}" if path == self.function.path else told_place(path, line)
        shuffled = op.arg("shuffle", 2) == "constant True"  # an evaluation goes through all in order
        fixes = [*self.dropped(node, shuffled, compiled), *(self.marked(calls) if compiled else ())]
        self.report(
            node,
            op,
            f"the last batch may be smaller: `{callee}` ({where}) is then compiled once more, for any size, and all "
            "later batches run that graph",
            fixes=fixes if shuffled else fixes[::-1],
        )

    def dropped(self, node: cst.Call, shuffled: bool, compiled: bool) -> Iterator[Fix]:
        if shuffled and not compiled:  # samples are not left out for what somebody may compile one day
            yield self.fix("Drop what does not fill a batch, by `drop_last=True`.", by_hand=True)
            return
        given = next((a.value for a in node.args if a.keyword and a.keyword.value == "drop_last"), None)
        if not shuffled:
            yield self.fix(
                "Drop what does not fill a batch, by `drop_last=True`, if no sample has to be seen; in an evaluation "
                "all have.",
                by_hand=True,
            )
            return
        if given is not None:
            edits = [self.edit(given, "True")]
        elif node.args[-1].keyword is not None:
            edits = [*with_argument(self.function, node, "drop_last=True")]
        else:
            return
        yield self.fix(
            "Drop what does not fill a batch: `drop_last=True`. Assumes that no sample has to be seen in every epoch, "
            "as in an evaluation, and that there are enough for one batch.",
            *edits,
        )

    def marked(self, calls: list[Feed]) -> Iterator[Fix]:
        edits: list[Edit] = []
        for path, line, column, names, torch, *_ in calls:
            if not names or not torch:
                return
            marks = [f"{torch}._dynamo.mark_dynamic({name}, 0)" for name in names.split(",")]
            text = "".join(mark + "\n" + " " * (int(column) - 1) for mark in marks)
            edits.append(Edit(path, line, int(column), line, int(column), text))
        yield self.fix(
            "Say before the call that the size of a batch changes: `mark_dynamic`. Assumes tensors whose first "
            "dimension is the batch, and that the compiled code does not make its size constant.",
            *edits,
        )
