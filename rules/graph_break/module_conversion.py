from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls, is_tensor

CONVERTS = "call torch.nn.Module.half"  # measured where it converts; `to` may leave a module as it is

WITHOUT_PARAMETERS = (2, 13)  # from there on nothing breaks for a module that has none


class ModuleConversion(GraphBreak):
    """A module is converted to another dtype, or moved to another device, in compiled code.

    ## What happens
    `module.to(...)`, `half()` and the like give each parameter other data, which Dynamo does not trace: it ends the
    graph (GB0264, GB0056). A module that has the dtype and lies on the device already stays as it is, and the graph
    goes on. So it is a note: a hook that moves a layer in before each call and out after it ends the graph each
    time, code that makes sure of what is right anyway does not. Nothing is reported of a module without parameters, as
    most losses are, and of `module.to(x)`, `module.to(x.device)` and `module.to(x.dtype)`.

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(2, 2)

    def f(x):
        return layer.to(torch.float64)(x.double()), layer.to(torch.float32)(x)

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Convert a copy once, before the compiled code runs:
    ```python
    import copy
    import torch

    layer = torch.nn.Linear(2, 2)
    exact = copy.deepcopy(layer).to(torch.float64)

    def f(x):
        return exact(x.double()), layer(x)

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. Fine from 2.13 on: `to` with what
    the module has already, and all of it of a module without parameters.
    """

    code = "PTB193"
    name = "module-conversion"
    ops = calls("torch.nn.Module", "to half float double bfloat16 type to_empty")
    severity = "note"
    says = "{code} exchanges the data of the module's parameters, where it converts any"
    instead = MappingProxyType(
        {
            "": (
                "Convert a copy once, before the compiled code runs; or convert the tensors: "
                "`torch.nn.functional.linear(x, weight.to(x.dtype))`"
            ),
        }
    )
    graph_breaks = ("GB0264", "GB0056")

    INVALID = (
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    return lin.double()(x.double()), lin.float()(x)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.lin = torch.nn.Linear(4, 4)\n    def forward(self, x):\n        return x + 1, self.lin.half(), "
        "self.lin.float()\nnet = M()\ndef f(x, m, i):\n    return net(x)",
    )
    VALID = (
        "return x.to(torch.float64).half()",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    return lin.to(torch.relu(x))(x)",
        "loss = torch.nn.MSELoss()\ndef f(x, m, i):\n    return loss.double().to('cpu')(x, x * 2)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('b', torch.ones(4))\n    def forward(self, x):\n        return x * self.b\n"
        "net = M()\ndef f(x, m, i):\n    return net.half()(x)",
        "lin = torch.nn.Linear(4, 4)\nlin.to(torch.float64)\ndef f(x, m, i):\n    return lin(x.double())",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or any(map(_follows, node.args)) or is_tensor(op.arg(0)):
            return
        if op.detail("weights") or self.function.target < WITHOUT_PARAMETERS or _makes_call(node, op):
            self.breaks(node, op, self.says, CONVERTS)


def _makes_call(node: cst.Call, op: Op) -> bool:
    """Whether it is this loss, made in compiled code: for Dynamo that is a function, which has no methods."""
    made = isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Call)
    return made and op.arg("self") == "torch.nn.CrossEntropyLoss"


def _follows(given: cst.Arg) -> bool:
    """`x.dtype`, `x.device`: what the module has already, nearly always."""
    return isinstance(given.value, cst.Attribute) and given.value.attr.value in ("dtype", "device")
