from __future__ import annotations

from pt2lint.rule import GraphBreak


class ExplicitBreak(GraphBreak):
    """`torch._dynamo.graph_break()` ends the graph.

    ## What happens
    That is what it is for (GB0025). It is meant for looking into the compiler, and easily left behind.

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
    ops = ("call torch._dynamo.graph_break", "call torch._dynamo.reset")
    says = "{code} ends the graph"
    graph_breaks = ("GB0025",)
