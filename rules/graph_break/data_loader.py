from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

LOADER = "torch.utils.data.DataLoader"
OF_LOADER = tuple(f"call builtins.{name}" for name in ("enumerate", "zip", "iter", "next", "len", "list"))
SAYS = {  # else batches are drawn
    "call builtins.len": "{code} asks a data loader or a dataset for its length in compiled code",
    f"call {LOADER}": "{code} makes a data loader in compiled code",
    "call torch.utils.data.random_split": "{code} splits a dataset in compiled code",
    "call torch.utils.data.default_collate": "{code} makes a batch in compiled code",
}
DATASETS = frozenset(
    f"torch.utils.data.{name}" for name in ("DataLoader", "TensorDataset", "Subset", "ConcatDataset")
)
SAMPLERS = tuple(
    f"torch.utils.data.{name}Sampler"
    for name in ("Batch", "Random", "Sequential", "SubsetRandom", "WeightedRandom", "Distributed")
)
MADE = (
    "torch.utils.data.BatchSampler(range(4), 2, False)",
    "torch.utils.data.RandomSampler(range(4))",
    "torch.utils.data.SequentialSampler(range(4))",
    "torch.utils.data.SubsetRandomSampler([0, 1])",
    "torch.utils.data.WeightedRandomSampler([0.5, 0.5], 2)",
    "torch.utils.data.distributed.DistributedSampler(range(4), 1, 0)",
)  # for the cases below
SAMPLED = "iterate torch.utils.data.BatchSampler"  # made and gone over, as it was measured


class DataLoaderUse(GraphBreak):
    """Batches are drawn from a `DataLoader` in compiled code, or indices from a sampler.

    ## What happens
    Dynamo does not trace torch.utils.data: it ends the graph (GB0008, GB0007) where a loader or a sampler is made,
    iterated over or asked for its length. A loop over one cannot be resumed: the whole function is left to Python.

    ## Example
    ```python
    import torch

    data = torch.utils.data.TensorDataset(torch.ones(4, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=2)

    def f(x):
        for (batch,) in loader:
            x = x + batch.sum()
        return x

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Compile what is done with one batch (here all rows at once), and call it in the loop:
    ```python
    import torch

    def f(x, batch):
        return x + batch.sum()

    args = (torch.tensor([1.0, -2.0]), torch.ones(4, 2))
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `enumerate` of a loader is fine
    on 2.9. Of the samplers, `SubsetRandomSampler` and `DistributedSampler` are measured on 2.13, the others on all of
    these.
    """

    code = "PTB188"
    name = "data-loader"
    aside = "always"
    ops = (
        f"iterate {LOADER}",
        f"call {LOADER}",
        "call torch.utils.data.random_split",
        "call torch.utils.data.default_collate",
        *(f"{does} {sampler}" for sampler in SAMPLERS for does in ("call", "iterate")),
        *OF_LOADER,
    )
    says = "{code} draws from a data loader in compiled code"
    repairs = ("train_step", "disable")
    graph_breaks = ("GB0008", "GB0007")

    INVALID = (
        "loader = torch.utils.data.DataLoader(torch.ones(4, 2))\n"
        "def f(x, m, i):\n    y = x + 1\n    n = len(loader)\n    return y * n",
        "loader = torch.utils.data.DataLoader(torch.ones(4, 2))\n"
        "def f(x, m, i):\n    for n, batch in enumerate(loader):\n        x = x + n\n    return x",
        "loader = torch.utils.data.DataLoader(torch.ones(4, 2))\n"
        "def f(x, m, i):\n    for row, batch in zip(x, loader):\n        x = x + row\n    return x",
        *(f"def f(x, m, i):\n    s = {made}\n    return x + 1" for made in MADE),
        *(f"s = {made}\ndef f(x, m, i):\n    for n in s:\n        x = x + 1\n    return x" for made in MADE),
    )
    VALID = (
        "for n, row in enumerate(zip(x, x)):\n    x = x + n\nreturn x + len(list(iter([1])))",
        "loader = torch.utils.data.DataLoader(torch.ones(4, 2))\n"
        "def f(x, m, i):\n    return x * loader.batch_size",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name.endswith("Sampler"):
            does = "makes" if op.name.startswith("call ") else "draws indices from"
            says = f"{{code}} {does} a sampler in compiled code"
            self.breaks(node, op, says, SAMPLED)
            return
        says = SAYS.get(op.name, self.says)
        self.breaks(node, op, says, f"{op.name} of {LOADER}" if op.name in OF_LOADER else "")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = {part for word in op.args.values() for part in word.split(" | ")}
        return op.name not in OF_LOADER or bool(DATASETS & given)
