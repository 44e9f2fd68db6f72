from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, is_tensor

PAIRS = "tuple of "  # what the word for them (Op.args) begins with
SURE = ("sort by tensor", "choose by tensor", "choose among pairs")
COMPARES_PAIRS = (2, 15)  # the first that compares pairs by what comes first in them


class SortedTensors(GraphBreak):
    """Python's `sorted`, `min` or `max` has to compare tensors.

    ## What happens
    Sorting asks each comparison for its truth, which depends on values: Dynamo ends the graph (GB0207). Of pairs
    that hold a tensor (`sorted(tensors.items())`) it does so although the first of each pair, by which Python sorts
    them, is a string or a number: a `key` that names it stays in the graph. `min` and `max` of such pairs end it,
    too (GB0059), and with a `key` by PTB115. A `key` that gives tensors ends it with all three
    (`max(names, key=losses.get)`; GB0193, on 2.15 GB5687).

    ## Example
    ```python
    import torch

    def f(x):
        low = sorted([x.sum(), x.mean()])[0]
        return x - low

    args = (torch.tensor([1.0, 2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        low = torch.stack([x.sum(), x.mean()]).sort().values[0]
        return x - low

    args = (torch.tensor([1.0, 2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; sorted pairs on 2.6 to 2.13.
    """

    code = "PTB112"
    name = "sorted-tensors"
    waits = True
    ops = (
        "call builtins.sorted",
        "call builtins.list.sort",
        "sort by tensor",
        "choose by tensor",
        "choose among pairs",
    )
    says = "{code} compares tensors in Python"
    instead = MappingProxyType(
        {
            **dict.fromkeys(
                ("choose among pairs", "choose by tensor"),
                "Choose in torch: `torch.stack(values).argmax()` or `.argmin()` stays a tensor, and "
                "`index_select` takes what stands there",
            ),
            "": (
                "Sort in torch: `torch.stack(values).sort()` gives the values in order and where each "
                "stood, for `index_select`"
            ),
        }
    )
    graph_breaks = ("GB0207", "GB0059", "GB0193", "GB5687")

    INVALID = (
        "both = [x.sum(), x.mean()]\nboth.sort()\nreturn both[0] + x",
        "return sorted([x, x + 1], key=lambda t: t.sum())[0]",
        "pairs = {'b': x, 'a': x + 1}\nreturn sorted(pairs.items())[0][1] * 2",
        "return max((1, x), (2, x + 1))[1] * 2",
        "sums = {'b': x.sum(), 'a': x.mean()}\nreturn sums[max(sums, key=sums.get)] * x",
    )
    VALID = (
        "return x + sorted([2, 1])[0]",
        "pairs = {'b': x, 'a': x + 1}\nreturn pairs[sorted(pairs)[0]] * 2",
        "pairs = {'b': x, 'a': x + 1}\nreturn sorted(pairs.items(), key=lambda pair: pair[0])[0][1] * 2",
        "return x + sorted({'b': 1, 'a': 2}.values())[0]",
        "return max([x.sum(), x.mean()]) + x",
        "return sorted([x, x[:2]], key=lambda t: t.shape[0])[0]",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name in SURE:
            return True
        return is_tensor(_items(op).removeprefix(PAIRS)) and not op.arg("key")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        chosen = op.name.startswith("choose ")
        if chosen or self.function.target < COMPARES_PAIRS or not _items(op).startswith(PAIRS):
            super().check(node, op)


def _items(op: Op) -> str:
    """The word for what is sorted; of a dictionary that are its keys."""
    word = op.arg("self", 0)
    return "" if word.startswith("dict of ") else word.partition(" of ")[2] or word
