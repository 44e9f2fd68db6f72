from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls, is_tensor

MATH = (
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc exp expm1 fabs floor "
    "fmod gamma hypot isclose isfinite isinf isnan lgamma log log10 log1p log2 modf pow sin sinh sqrt tan "
    "tanh"
)

# What these return is no number with a point, of which a graph would make a tensor.
DECIDING = frozenset(calls("math", "ceil floor isclose isfinite isinf isnan"))


class TensorToNumber(GraphBreak):
    """`float(t)`, `int(t)` and functions of `math` read the number out of a tensor.

    ## What happens
    They call `.item()` behind the scenes: Dynamo ends the graph and reads the value (GB0124; GB0033 for
    `math`, GB0059 for `complex`). A number that NumPy computes (`np.log2(n)`) is a tensor to Dynamo, too: `int` and
    `math.sqrt` of one stay in the graph, `math.floor` and others that return no fraction end it (GB0208).

    ## Example
    ```python
    import math
    import torch

    def f(x):
        norm = math.sqrt(x.square().sum())
        return x / norm

    args = (torch.tensor([3.0, 4.0]),)
    ```

    ## Use instead
    The function of the same name in torch, or a conversion of the dtype (`t.float()`, `t.long()`):
    ```python
    import torch

    def f(x):
        norm = torch.sqrt(x.square().sum())
        return x / norm

    args = (torch.tensor([3.0, 4.0]),)
    ```

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15. With `fullgraph=True`, 2.13 and 2.15 compile
    `float` and `int` of a tensor; functions of `math` fail everywhere. The builtin `pow` is fine on 2.15.
    """

    code = "PTB104"
    name = "tensor-to-number"
    step = True
    waits = True
    ops = (
        "call builtins.int",
        "call builtins.float",
        "call builtins.complex",
        "call builtins.pow",
        "call operator.index",
        *calls("math", MATH),
    )
    says = "{code} reads a number out of a tensor"
    repairs = ("train_step", "scalar", "disable")
    advice = "numbers.passed_in"
    graph_breaks = ("GB0124", "GB0033", "GB0059", "GB0208")

    INVALID = (
        "return x + float(x.sum())",
        "return x + int(i.sum())",
        "from math import floor\nreturn x + floor(x.sum())",
        "return x * float(x.numpy().sum())",
        "import math\nimport numpy as np\ny = x + 1\nreturn y * math.floor(np.log2(len(x)))",
        "import math\nimport numpy as np\ny = x + 1\nn = np.sqrt(len(x))\nreturn y * pow(2, math.ceil(n / 3))",
        "return x + [float(v) for v in i][0]",
        "import numpy as np\nreturn x * int(np.max([1.0, 3.0]))",
        "import numpy as np\nreturn x * int(np.clip(x.shape[0], 1, 3))",
    )
    VALID = (
        "return x * float(x.shape[0])",
        "import math\nreturn x * math.sqrt(x.size(-1))",
        "return x * int(x.shape[0] / 2)",
        "import numpy as np\nreturn x * int(np.ceil(2.5)) * int(np.floor(np.sqrt(16.0)))",
        "import math\nimport numpy as np\nreturn x * math.sqrt(np.minimum(3, 4))",
        "import math\nimport numpy as np\nreturn x * math.floor(int(np.log2(len(x))) / 2) * math.exp(np.log2(len(x)))",
        "return x.float() + x.long()",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if _is_number(op):
            return op.name in DECIDING or (
                # A whole one of NumPy's a graph has, but Python cannot read it.
                op.arg(0) == "whole number" and op.name in ("call builtins.int", "call builtins.float")
            )
        return is_tensor(op.arg(0)) or is_tensor(op.arg(1))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        of_numpy = _is_number(op) and op.name in DECIDING
        says = "{code} takes a number of NumPy's, which is a tensor to Dynamo, for one of Python"
        self.breaks(node, op, says if of_numpy else self.says, f"{op.name} of NumPy" if of_numpy else "")


def _is_number(op: Op) -> bool:
    return op.arg(0) in ("number", "whole number")
