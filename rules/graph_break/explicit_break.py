from __future__ import annotations

from pt2lint.rule import GraphBreak, calls


class ExplicitBreak(GraphBreak):
    """`torch._dynamo.graph_break()` ends the graph.

    ## What happens
    That is what it is for (GB0025). It is meant for looking into the compiler, and easily left behind. Calls
    that steer the compiler belong around what is compiled: `torch._dynamo.reset` and
    `torch.compiler.cudagraph_mark_step_begin` end the graph as well (GB0007), `torch._dynamo.mark_dynamic` and
    `torch.compiler.set_stance` raise.

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
        *calls("torch._dynamo", "graph_break reset mark_dynamic"),
        *calls("torch.compiler", "cudagraph_mark_step_begin set_stance"),
    )
    says = "{code} ends the graph"
    graph_breaks = ("GB0025", "GB0007")
