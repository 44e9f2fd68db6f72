from __future__ import annotations

from pt2lint.op import Op
from pt2lint.rule import GraphBreak


class TensorItem(GraphBreak):
    """`.item()` moves a value from the tensor to Python.

    ## What happens
    Dynamo traces tensors as shapes and dtypes; the value is not there yet. It ends the graph, runs it,
    reads the number and starts a new graph (GB0124). The same goes for a one-element NumPy array
    (GB0033). On a GPU the read also waits for all work in the queue.

    ## Example
    ```python
    import torch

    def f(x):
        scale = x.abs().max().item()
        return x / scale

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Keep the number in its tensor:
    ```python
    import torch

    def f(x):
        scale = x.abs().max()
        return x / scale

    args = (torch.tensor([1.0, -2.0]),)
    ```
    Where Python needs the number, `torch._dynamo.config.capture_scalar_outputs = True` lets Dynamo carry
    it as an unknown.

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15. With `fullgraph=True` it fails on 2.6 and 2.9, and
    compiles on 2.13 and 2.15, which turn scalar capture on there.
    """

    code = "PTB103"
    name = "tensor-item"
    step = True
    waits = True
    ops = ("call torch.Tensor.item", "call numpy.ndarray.item")
    says = "{code} moves a value from the tensor to Python"
    repairs = ("train_step", "skip", "scalar", "flag", "seeded", "operator", "disable")
    advice = "numbers.passed_in"
    graph_breaks = ("GB0124", "GB0033")

    INVALID = (
        "return x + x.sum().item()",
        "def g(t):\n    return t.max().item()\ndef f(x, m, i):\n    return x / g(x)",
        "try:\n    y = x.sum().item()\nexcept RuntimeError:\n    y = 0\nreturn x + y",
        "return x * x.numpy().sum().item()",
        "import numpy as np\nreturn x * np.ceil(2.5).astype(int).item()",
    )
    VALID = (
        "import numpy as np\nreturn x * np.ceil(2.5).item()",
        "class Box:\n    def item(self):\n        return 2\nbox = Box()\ndef f(x, m, i):\n"
        "    return x * box.item()",
        "for _, v in {'a': 1}.items():\n    x = x + v\nreturn x",
        "def f(x, m, i):\n    return x\ndef train(loss):\n    return loss.item()",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.arg("self") != "number"
