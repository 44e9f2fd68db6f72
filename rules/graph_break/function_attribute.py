from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak


class FunctionAttribute(GraphBreak):
    """An attribute of a function is set in compiled code.

    ## What happens
    Dynamo does not trace that a function changes, and ends the graph (GB0467): a counter or a cache that a decorator
    keeps on what it returns (`wrapper.calls += 1`), a flag on a function of the file. To read one is fine.

    ## Example
    ```python
    import torch

    def scaled(x):
        scaled.ran = True
        return torch.relu(x) * 2

    def f(x):
        return scaled(x) + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Keep it in a dictionary, or on an object:
    ```python
    import torch

    ran = {"scaled": False}

    def scaled(x):
        ran["scaled"] = True
        return torch.relu(x) * 2

    def f(x):
        return scaled(x) + 1

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.13, in default mode and with `fullgraph=True`. Fine on 2.15: setting an
    attribute.
    """

    code = "PTB194"
    name = "function-attribute"
    ops = ("set attribute of function",)
    says = "{code} sets an attribute of a function, which Dynamo does not trace"
    repairs = ("skip", "disable")
    instead = MappingProxyType(
        {
            "": (
                "Keep it in a dictionary or on an object, which Dynamo traces; a count that nothing compiled "
                "reads, around the call of the compiled function"
            )
        }
    )
    graph_breaks = ("GB0467",)

    INVALID = (
        "def counting(run):\n    def counted(x):\n        counted.calls += 1\n        return run(x)\n"
        "    counted.calls = 0\n    return counted\n"
        "@counting\ndef double(x):\n    return x * 2\ndef f(x, m, i):\n    return double(x + 1) - 1",
    )
    VALID = (
        "def part(y):\n    return y + 1\npart.scale = 2\nreturn part(x) * part.scale",
        "def part(y):\n    return y + 1\npart.scale = 2\ndef f(x, m, i):\n    return part(x) * part.scale",
    )
