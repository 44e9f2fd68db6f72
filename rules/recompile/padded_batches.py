from __future__ import annotations

import libcst as cst

from pt2lint.finding import Step
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.fed import STATIC, feeds, taken
from pt2lint.said import plain, told_line, told_place

PADS = "pads\t"
COLLATES = "collate_fn", 6


class PaddedBatches(Rule):
    """A `DataLoader` pads each batch to its longest sample, and a compiled model is given these.

    ## What happens
    A `collate_fn` that pads to the longest of a batch (`pad_sequence`, `max(len(row) for row in rows)`,
    `tokenizer(..., padding=True)`, `DataCollatorWithPadding`) gives tensors of another length each time. Dynamo
    compiles the model for the first length, and then once more for any: the first compilation was in vain. With
    `torch.compile(dynamic=False)` each length is compiled again, until the limit of 8; from then on the model runs
    without being compiled. Say before the call which dimension changes (`torch._dynamo.mark_dynamic`), or pad to a
    length that is always the same, or to one of a few.

    ## Example
    ```python
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader

    def collate(rows):
        return pad_sequence(rows, batch_first=True)

    model = torch.compile(torch.nn.Embedding(8, 4))
    rows = [torch.arange(2 + i % 5) for i in range(20)]
    loader = DataLoader(rows, batch_size=2, collate_fn=collate)

    def run():
        for ids in loader:
            model(ids)
    ```

    ## Use instead
    ```python
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader

    def collate(rows):
        return pad_sequence(rows, batch_first=True)

    model = torch.compile(torch.nn.Embedding(8, 4))
    rows = [torch.arange(2 + i % 5) for i in range(20)]
    loader = DataLoader(rows, batch_size=2, collate_fn=collate)

    def run():
        for ids in loader:
            torch._dynamo.mark_dynamic(ids, 1)
            model(ids)
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation, none with `mark_dynamic`; with `dynamic=False`, on 2.13,
    8, and then eager.
    """

    code = "PTR227"
    name = "padded-batches"
    ops = ("call torch.utils.data.DataLoader",)
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return any(use.startswith(PADS) for use in op.uses) and bool(feeds(op, STATIC) or feeds(op))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or any(a.star for a in node.args):
            return
        name, at = COLLATES
        given = next((a.value for a in node.args if a.keyword is not None and a.keyword.value == name), None)
        positional = [a.value for a in node.args if a.keyword is None]
        given = given or (positional[at] if len(positional) > at else None)
        if given is None:
            return
        static = feeds(op, STATIC)
        path, line, _, _, _, callee, *into = (static or feeds(op))[0]
        where = f"line {told_line(line)}" if path == self.function.path else told_place(path, line)
        file, _, pads = plain(
            next(use for use in sorted(op.uses) if use.startswith(PADS))[len(PADS) :]
        ).rpartition(":")
        pads_here = Step(file, int(pads), "pads to the longest of a batch")
        op = op._replace(flow=(*op.flow, pads_here, *(taken(*into) if into else ())))
        cost = "once more, for any length, unless `mark_dynamic` says so beforehand"
        if static:
            cost = "for each length anew, with `dynamic=False`, until the limit"
        self.report(
            given,
            op,
            f"{self.quote(given)} pads each batch to its longest sample: `{callee}` ({where}) is compiled {cost}",
            severity="warning" if static else None,
        )
