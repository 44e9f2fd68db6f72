from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix, Price
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

SAYS = MappingProxyType(
    {
        "attribute": "{code} is set inside of what `{operator}` runs, on an object that was there before",
        "item": "{code} is set inside of what `{operator}` runs, in a collection that was there before",
        "name": "{code} is set inside of what `{operator}` runs, a name of the code around it",
        "collection": "{code}, inside of what `{operator}` runs, changes a collection that was there before",
    }
)
RAISES = ("torch.cond", "torch._higher_order_ops.cond")
HOOK = "torch.Tensor.register_hook"
TRACED = (2, 13)  # from here on Dynamo traces such a hook; before, adding it ends the graph


class OuterChange(GraphBreak):
    """What `checkpoint`, `torch.cond` or a tensor's hook runs changes something that was there before.

    ## What happens
    Dynamo traces the function that `torch.utils.checkpoint.checkpoint` is given as a graph of its own, and so it does
    the branches of `torch.cond` and, from torch 2.13 on, the hook of a tensor that compiled code computes
    (`y.register_hook(keep)`). Such a graph gives back what the function returns, and nothing else: an attribute
    that it sets, a list or a dictionary that it adds to, a global or `nonlocal` name that it assigns (GB0067, GB4413)
    end the graph at the call. Python then runs all that `checkpoint` was given, without compiling any of it: where
    the layers of a model are checkpointed in a loop, that is the whole model. `torch.cond` raises instead.

    The loss of a mixture of experts or the attention's weights, kept as an attribute in a block that is checkpointed,
    are such. A checkpoint runs its function once more in the backward pass, so that what it appends is there twice as
    well.

    What the function itself makes it may change, and a tensor may be written into in place (`self.count.add_(1)`).

    ## Example
    ```python
    import torch
    from torch.utils.checkpoint import checkpoint

    class Experts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.loss = None

        def forward(self, x):
            y = self.layer(x)
            self.loss = y.square().mean()
            return y

    experts = Experts()

    def f(x):
        y = checkpoint(experts, x, use_reentrant=False)
        return y + experts.loss

    args = (torch.ones(2, 3),)
    ```

    ## Use instead
    Return it:
    ```python
    import torch
    from torch.utils.checkpoint import checkpoint

    class Experts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            y = self.layer(x)
            return y, y.square().mean()

    experts = Experts()

    def f(x):
        y, loss = checkpoint(experts, x, use_reentrant=False)
        return y + loss

    args = (torch.ones(2, 3),)
    ```

    From torch 2.13 on, `torch._dynamo.config.skip_fwd_side_effects_in_bwd_under_checkpoint = True` has Dynamo trace it
    all the same: the change is then made once, and not again in the backward pass.

    ## Versions
    Measured: breaks on torch 2.6, 2.9, 2.13 and 2.15, with `use_reentrant` True and False. On 2.13 and 2.15 an
    attribute that is set to what it was before is none. Hooks of tensors: on 2.13 and 2.15; before, adding one ends
    the graph (PTB162). Those of the graph's inputs Python runs.
    """

    code = "PTB198"
    name = "outer-change"
    ops = ("change outside",)
    graph_breaks = ("GB0067", "GB4413")

    INVALID = (
        "weight = torch.ones(4, requires_grad=True)\nkept = []\n"
        "def f(x, m, i):\n    y = x * weight\n    y.register_hook(lambda grad: kept.append(grad))\n    return y + 1",
        "from torch.utils.checkpoint import checkpoint\nweight = torch.ones(4, requires_grad=True)\n"
        "def f(x, m, i):\n    kept = []\n    def part(y):\n        kept.append(y)\n        return y * 2\n"
        "    return checkpoint(part, x * weight, use_reentrant=False) + kept[0]",
        "from torch.utils.checkpoint import checkpoint\n"
        "def f(x, m, i):\n    total = None\n    def part(y):\n        nonlocal total\n        total = y.sum()\n"
        "        return y * 2\n    return checkpoint(part, x, use_reentrant=False) + 1",
        "from torch.utils.checkpoint import checkpoint\nkept = {}\ndef part(y):\n    kept['y'] = y\n"
        "    return y * 2\n"
        "def f(x, m, i):\n    return checkpoint(part, x + 1, use_reentrant=False) + 1",
        "from torch.utils.checkpoint import checkpoint\nclass M(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.kept = []\n"
        "    def part(self, y):\n        kept = self.kept\n        kept.extend([y, y])\n        return y * 2\n"
        "    def forward(self, x, m, i):\n        return checkpoint(self.part, x + 1, use_reentrant=False) + 1\n"
        "f = M()",
        "from torch.utils.checkpoint import checkpoint\n"
        "def part(y, kept):\n    kept['y'] = y\n    return y * 2\n"
        "def f(x, m, i):\n    kept = {}\n    y = checkpoint(part, x + 1, kept, use_reentrant=False)\n"
        "    return y + kept['y']",
    )
    VALID = (
        "weight = torch.ones(4, requires_grad=True)\nkept = []\n"
        "def f(x, m, i):\n    y = x * weight\n    y.register_hook(lambda grad: grad.clamp(-1, 1))\n    return y + 1",
        "from torch.utils.checkpoint import checkpoint\ndef part(y):\n    kept = []\n    kept.append(y)\n"
        "    more = {}\n    more['y'] = y\n    return y * 2 + kept[0] + more['y']\n"
        "def f(x, m, i):\n    return checkpoint(part, x + 1, use_reentrant=False) + 1",
        "from torch.utils.checkpoint import checkpoint\nclass M(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.register_buffer('count', torch.zeros(()))\n"
        "    def part(self, y):\n        self.count.add_(1)\n        return y * 2\n"
        "    def forward(self, x, m, i):\n        return checkpoint(self.part, x + 1, use_reentrant=False) + 1\n"
        "f = M()",
        "from torch.utils.checkpoint import checkpoint\nclass Pair:\n    def __init__(self, y):\n"
        "        self.y = y\n        self.more = None\ndef part(y):\n    pair = Pair(y)\n    pair.more = y + 1\n"
        "    return pair.y * pair.more\n"
        "def f(x, m, i):\n    return checkpoint(part, x + 1, use_reentrant=False) + 1",
        "from torch.utils.checkpoint import checkpoint\nclass M(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.loss = None\n"
        "    def part(self, y):\n        return y * 2, y.mean()\n"
        "    def forward(self, x, m, i):\n        y, self.loss = checkpoint(self.part, x + 1, use_reentrant=False)\n"
        "        return y + 1\nf = M()",
        "from torch.utils.checkpoint import checkpoint\ndef part(y, **more):\n    more['y'] = y\n"
        "    return y * 2 + more['y']\n"
        "def f(x, m, i):\n    return checkpoint(part, x + 1, use_reentrant=False) + 1",
    )

    operator = ""  # what runs the function

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.operator = op.detail("operator")
        if self.operator == HOOK and self.function.target < TRACED:
            return
        short = self.operator.replace("torch._higher_order_ops.", "torch.")
        short = short.removeprefix("torch.utils.checkpoint.").removeprefix("torch.Tensor.")
        says = SAYS[op.detail("how")].replace("{operator}", short)
        if self.operator in RAISES:
            says += ": it raises"
        else:
            says += f": Dynamo leaves all of {op.detail('runs').replace(' | ', ' or ')} to Python"
        self.breaks(node, op._replace(within="", insists=False), says)  # it has said that

    def price(self, op: Op) -> Price | None:
        """All that the function changes there has one cause."""
        return super().price(op._replace(why=f"what {op.detail('operator')} runs: {op.detail('runs')}"))

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """What to write instead."""
        from pt2lint.fixes import by_hand

        yield by_hand.told("Return it, and set or add it where the function is given away")
