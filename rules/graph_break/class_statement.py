from __future__ import annotations

from pt2lint.rule import GraphBreak


class ClassStatement(GraphBreak):
    """A class is defined in compiled code.

    ## What happens
    Dynamo does not trace the building of a class and ends the graph (GB8977).

    ## Example
    ```python
    import torch

    def f(x):
        class Settings:
            scale = 2

        return torch.relu(x) * Settings.scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Define it at the top of the file:
    ```python
    import torch

    class Settings:
        scale = 2

    def f(x):
        return torch.relu(x) * Settings.scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; on 2.6 and 2.9
    Dynamo gives up the whole function.
    """

    code = "PTB182"
    name = "class-statement"
    ops = ("define class",)
    says = "the class {code} is built inside compiled code"
    advice = "given.defined_outside"
    graph_breaks = ("GB8977",)

    VALID = ("import collections\nPair = collections.namedtuple('Pair', 'a b')\nreturn x + Pair(1, 2).a",)
