from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

DRAWS = "rand randn randint randperm bernoulli multinomial normal"
METHODS = "uniform_ normal_ bernoulli_ exponential_ random_"
USES = (*calls("torch", DRAWS), *calls("torch.Tensor", METHODS))


class RandomState(GraphBreak):
    """The state of a random number generator is read, set or passed on in compiled code.

    ## What happens
    Dynamo does not trace the state of generators: it ends the graph at `torch.manual_seed`, `get_rng_state` and
    `set_rng_state`, at `get_device_states` and `set_device_states` of `torch.utils.checkpoint` (GB0007), at methods of
    `torch.Generator` (GB7650), and where a generator is made (GB0363) or passed to a function (GB0055).

    ## Example
    ```python
    import torch

    def f(x):
        torch.manual_seed(0)
        return x + torch.rand(4) * 0

    args = (torch.ones(4),)
    ```

    ## Use instead
    Seed before the compiled call:
    ```python
    import torch

    torch.manual_seed(0)

    def f(x):
        return x + torch.rand(4) * 0

    args = (torch.ones(4),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `torch.cuda.manual_seed` and `manual_seed_all` from 2.13 on. `random_` without a generator is fine on 2.6.
    """

    code = "PTB151"
    name = "random-state"
    aside = "always"
    ops = (
        *calls("torch", "manual_seed initial_seed get_rng_state set_rng_state Generator"),
        *calls("torch.random", "manual_seed get_rng_state set_rng_state"),
        *calls("torch.cuda", "manual_seed manual_seed_all initial_seed get_rng_state set_rng_state"),
        *calls("torch.utils.checkpoint", "get_device_states set_device_states"),
        *calls("torch.Generator", "manual_seed get_state set_state"),
        *USES,
    )
    says = "{code} uses the state of a random number generator"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": (
                "Seed around the call of the compiled function; what is to be drawn with a generator of "
                "its own can be drawn before, and passed in"
            ),
        }
    )
    graph_breaks = ("GB0007", "GB7650", "GB0363", "GB0055")

    INVALID = (
        "state = torch.get_rng_state()\nreturn x + state.numel() * 0",
        "draws = torch.Generator()\ndef f(x, m, i):\n    return x + torch.rand(4, generator=draws) * 0",
        "draws = torch.Generator()\ndef f(x, m, i):\n    draws.manual_seed(0)\n    return x + 1",
        "draws = torch.Generator().manual_seed(0)\ndef f(x, m, i):\n    return x + torch.rand(4, generator=draws) * 0",
    )
    VALID = (
        "return x + torch.rand(4, generator=None) * 0",
        "return torch.multinomial(x.abs() + 1, 2) * 0",
        "return x.clone().normal_(generator=None) * 0",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        given = op.arg("generator") == "torch.Generator"
        self.breaks(node, op, self.says, f"{op.name} with a generator" if given else "")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        drawn = op.name in USES and op.name != "call torch.Tensor.random_"
        return not drawn or op.arg("generator") == "torch.Generator"
