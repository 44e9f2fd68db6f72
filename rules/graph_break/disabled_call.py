from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class DisabledCall(GraphBreak):
    """A function that `torch.compiler.disable` decorates is called in compiled code.

    ## What happens
    Dynamo ends the graph, calls the function in eager mode and starts a new graph (GB0098; GB0099 with
    `recursive=False`). That may be what is wanted; it still costs a break at each call, and more inside a
    loop.

    ## Example
    ```python
    import torch

    @torch.compiler.disable
    def check(x):
        return x.abs()

    def f(x):
        return check(torch.relu(x)) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Trace the function where it can be traced, make it a custom operator (`torch.library.custom_op`) where it
    cannot, or call it outside the region:
    ```python
    import torch

    def check(x):
        return x.abs()

    def f(x):
        return check(torch.relu(x)) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15; with `fullgraph=True` it fails.
    """

    code = "PTB183"
    name = "disabled-call"
    severity = "note"
    ops = ("call disabled", "define disabled")
    says = "{code} leaves the graph: the function is disabled for the compiler"
    instead = MappingProxyType(
        {
            "": (
                "Have Dynamo trace the function, without the `disable`, where it can by now; or register "
                "it: `torch.library.custom_op`, with `register_fake` for the shapes of what it returns"
            ),
        }
    )
    graph_breaks = ("GB0098", "GB0099")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "define disabled":
            self.breaks(
                node,
                op,
                f"{{code}} keeps `{op.detail('name')}` out of the graph, which ends at each call of it",
            )
        else:
            self.breaks(node, op, self.says)

    INVALID = (
        "@torch._dynamo.disable\ndef g(x):\n    return x + 1\ndef f(x, m, i):\n    return g(x)",
        "has = hasattr(torch, 'compiler')\ndef eager(fn):\n    return torch.compiler.disable(fn) if has else fn\n"
        "@eager\ndef g(x):\n    return x + 1\ndef f(x, m, i):\n    return g(x)",
    )
    VALID = (
        "@torch.library.custom_op('pt2lint_case::g', mutates_args=())\n"
        "def g(x: torch.Tensor) -> torch.Tensor:\n    return x + 1\n"
        "@g.register_fake\ndef _(x):\n    return torch.empty_like(x)\n"
        "def f(x, m, i):\n    return g(x)",
        "@torch.compiler.allow_in_graph\ndef g(x):\n    return x + 1\ndef f(x, m, i):\n    return g(x)",
        "@torch._dynamo.nonstrict_trace\ndef g(x):\n    print('traced')\n    return x + 1\n"
        "def f(x, m, i):\n    return g(x)",
        "@torch._dynamo.decorators.leaf_function\ndef g(x):\n    print(x.mean().item())\n"
        "    return (x.clone() if x.sum() > 0 else -x,)\n"
        "@g.register_fake\ndef _(x):\n    return (torch.empty_like(x),)\n"
        "def f(x, m, i):\n    return g(x)[0]",
    )
