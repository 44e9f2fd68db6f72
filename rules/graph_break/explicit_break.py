from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.fixes.by_hand import fake
from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

RAISE = ("mark_dynamic", "set_stance")  # Dynamo refuses to trace these, and ends with an error
MEANT = "meant: it says why"
RAISES = "{code} raises an error in compiled code: call it before"


class ExplicitBreak(GraphBreak):
    """`torch._dynamo.graph_break()` ends the graph.

    ## What happens
    That is what it is for (GB0025). It is meant for looking into the compiler, and easily left behind. Calls
    that steer the compiler belong around what is compiled: `torch._dynamo.reset`,
    `torch.compiler.reset` and `torch.compiler.cudagraph_mark_step_begin` end the graph as well (GB0007),
    `torch._dynamo.mark_dynamic`, `maybe_mark_dynamic` and `torch.compiler.set_stance` raise.
    `torch._dynamo.disallow_in_graph(op)`, wherever it stands, makes every call of `op` end the graph from then on
    (GB0007): an operator that cannot be traced needs a fake instead, `torch.library.register_fake`.

    So does `@torch.compile(fullgraph=True)`, or with any other arguments, above a function that compiled code defines
    (GB0223). The function is then traced into the next graph, not compiled by itself. `@torch.compile` without
    arguments, `torch.compile(f, fullgraph=True)`, and calls of what was compiled outside do nothing there.

    ## Example
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB184"
    name = "explicit-break"
    ops = (
        *calls("torch._dynamo", "graph_break reset mark_dynamic maybe_mark_dynamic disallow_in_graph"),
        *calls("torch.compiler", "cudagraph_mark_step_begin reset set_stance"),
        "decorate compile inside",
    )
    anywhere = True
    says = "{code} ends the graph"
    repairs = ("left_out",)
    instead = MappingProxyType(
        {
            "decorate compile inside": (
                "Define the function outside; or leave the decorator out, as compiled code traces the function anyway"
            )
        }
    )
    graph_breaks = ("GB0025", "GB0007", "GB0223")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.region or op.name.endswith("disallow_in_graph")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not op.name.endswith("disallow_in_graph"):
            if op.name.endswith("graph_break") and isinstance(node, cst.Call) and node.args:
                op = op._replace(rare=op.rare or MEANT)
            self.breaks(node, op, RAISES if op.name.endswith(RAISE) else self.says)
        elif isinstance(node, cst.Call) and node.args:
            given = self.quote(node.args[0].value)
            by_hand = fake(self.text(node.args[0].value))
            self.report(
                node,
                op,
                f"every call of {given} ends the graph from here on; a fake, registered with "
                "`torch.library.register_fake`, keeps it in",
                fixes=[by_hand],
            )

    INVALID = (
        "@torch.compile(fullgraph=True)\ndef g(v):\n    return v * 2\nreturn g(x + 1) - 1",
        "y = x + 1\n@torch.compile()\ndef g(v):\n    return v * 2\nreturn g(y) - 1",
    )
    VALID = (
        "@torch.compile\ndef g(v):\n    return v * 2\nreturn g(x + 1) - 1",
        "def g(v):\n    return v * 2\nreturn torch.compile(g, fullgraph=True, backend='eager')(x + 1) - 1",
        "@torch.compile(fullgraph=True, backend='eager')\ndef g(v):\n    return v * 2\n"
        "def f(x, m, i):\n    return g(x + 1) - 1",
    )
