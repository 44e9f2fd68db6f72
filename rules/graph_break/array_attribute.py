from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak, calls

# What a NumPy array says of itself that Dynamo, to which it is a tensor, does not know.
UNKNOWN = "dtype strides nbytes flags base"


class ArrayAttribute(GraphBreak):
    """A NumPy array is asked for its `dtype`, its memory or its bytes.

    ## What happens
    Dynamo traces an array as a tensor. It knows `shape`, `ndim`, `size`, `T`, `real` and `imag` of it and most methods,
    but ends the graph at `dtype` (GB0157), `strides` and `nbytes` (GB4841) and `tobytes()` (GB0158). Code that keeps
    constants in a table under `(value.shape, value.dtype, value.tobytes())` breaks at each constant.

    ## Example
    ```python
    import numpy as np
    import torch

    kept = {}

    def constant(value):
        value = np.asarray(value)
        key = value.tobytes()
        if key not in kept:
            kept[key] = torch.as_tensor(value)
        return kept[key]

    def f(x):
        return x * constant([1.0, 2.0])

    args = (torch.ones(2),)
    ```

    ## Use instead
    A tensor that is made outside, in a module a buffer:
    ```python
    import torch

    scale = torch.tensor([1.0, 2.0])

    def f(x):
        return x * scale

    args = (torch.ones(2),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15.
    """

    code = "PTB109"
    name = "array-attribute"
    aside = "always"
    ops = (*(f"get numpy.ndarray.{name}" for name in UNKNOWN.split()), *calls("numpy.ndarray", "tobytes"))
    says = "{code} asks a NumPy array for what Dynamo does not know of it"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": "Make a tensor of the array before the compiled code runs, a buffer in a module, and ask that",
        }
    )
    graph_breaks = ("GB0157", "GB4841", "GB0158")

    INVALID = (
        "import numpy as np\nkind = np.asarray([1, 2]).dtype\nreturn x + kind.itemsize",
        "import numpy as np\nreturn x + len(x.numpy().strides)",
    )
    VALID = (
        "import numpy as np\na = np.asarray([1, 2])\nreturn x + a.shape[0] + a.ndim + a.size",
        "return x.to(x.dtype)",
    )
