from __future__ import annotations

from pt2lint.rule import GraphBreak


class PrintCall(GraphBreak):
    """Printing in compiled code ends the graph.

    ## What happens
    Dynamo records tensor operations; writing to a file is not one. It ends the graph, prints, and starts
    a new graph (GB0059). Methods of `sys.stdout` and `pprint` break alike (GB0156).

    ## Example
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        print("negative:", (x < 0).sum())
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Return what you want to see and print it in the caller, or take the print out:
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```
    Where it has to stay, `if not torch.compiler.is_compiling():` keeps it for eager runs.

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB101"
    name = "print-call"
    ops = (
        "call builtins.print",
        "call pprint.pprint",
        "call pprint.pp",
        "call sys.stdout.write",
        "call sys.stdout.flush",
        "call sys.stderr.write",
        "call sys.stderr.flush",
    )
    says = "{code} prints inside compiled code"
    repairs = ("train_step", "printing")
    graph_breaks = ("GB0059", "GB0156")

    INVALID = (
        "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        print('a')\n"
        "        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
        "def f(x, m, i):\n    return Twice.apply(x)",
        "import sys\nprint('a', file=sys.stderr)\nreturn x + 1",
        "from pprint import pprint as show\nshow(x.shape)\nreturn x + 1",
        "import sys\nsys.stdout.write('a')\nreturn x + 1",
        "for _ in range(2):\n    print('a')\n    x = x + 1\nreturn x",
    )
    VALID = (
        "if not torch.compiler.is_compiling():\n    print(x)\nreturn x + 1",
        "if torch.jit.is_scripting():\n    print(x)\nreturn x + 1",
        "def print(*a):\n    return None\ndef f(x, m, i):\n    print(x)\n    return x + 1",
        "def f(x, m, i):\n    return x + 1\ndef main(x):\n    print(f(x, x, x))",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        print('made')\n    def forward(self, x, m, i):\n        return x + 1\nf = M()",
    )
