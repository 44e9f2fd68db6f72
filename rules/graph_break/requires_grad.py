from __future__ import annotations

import ast
from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.file import class_around
from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls
from pt2lint.rule.loop_syntax import loops_around
from pt2lint.rule.syntax import function_around
from pt2lint.rule.tree import is_name, parameters_in

FACTORIES = (
    "tensor zeros ones full empty rand randn arange linspace eye zeros_like ones_like full_like empty_like "
    "rand_like randn_like"
)
OF_MODULE = "call torch.nn.Module.requires_grad_"
FREEZE = (
    "Freeze weights, and set them free, around the call of the compiled function: `module.requires_grad_(False)` holds "
    "until it is set again"
)
GRADIENTS = ("call torch.autograd.grad", "call torch.Tensor.backward")


class RequiresGrad(GraphBreak):
    """`requires_grad` is set on a tensor in compiled code.

    ## What happens
    What requires a gradient has to be known where the graph starts. Dynamo ends the graph at
    `t.requires_grad =` (GB0206), at `requires_grad_()` of an input, of a module whose parameters it changes
    (GB0125), or of what is returned (GB8985), and where a tensor is made with `requires_grad=True` (GB0225).

    ## Example
    ```python
    import torch

    def f(x):
        bias = torch.zeros(2, requires_grad=True)
        return (x + bias) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Make it a parameter or an input of the compiled function:
    ```python
    import torch

    def f(x, bias=torch.zeros(2, requires_grad=True)):
        return (x + bias) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. `requires_grad_()` of a
    tensor that is neither an input nor returned is fine from 2.13 on, where the graph does not end while it is still
    wanted, as at `torch.autograd.grad`; so it is in a `backward` that is written by hand and computes none
    itself, and in a loop that computes one, which Dynamo leaves to Python before a graph returns the tensor (measured
    on 2.13).
    """

    code = "PTB161"
    name = "requires-grad"
    step = True
    ops = (
        "set torch.Tensor.requires_grad",
        "call torch.Tensor.requires_grad_",
        OF_MODULE,
        *calls("torch", FACTORIES),
    )
    says = "{code} decides inside the graph what requires a gradient"
    repairs = ("grad", "disable")
    advice = "given.set_before"
    instead = MappingProxyType(
        {
            "": (
                "Decide it before the compiled code runs: make it a parameter of the module, or an input "
                "that requires a gradient"
            ),
            OF_MODULE: FREEZE,
        }
    )
    graph_breaks = ("GB0206", "GB0125", "GB8985", "GB0225")

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        from pt2lint.fixes.by_hand import told

        if any("a parameter" in op.why for op in self.function.ops_at(node)):
            yield told(FREEZE)
        yield from super().fixes(node)

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        return "torch.Tensor." in op.name  # a constant that is made so needs no gradient

    INVALID = (
        "y = x + 1\ny.requires_grad = True\nreturn y * 2",
        "y = x.detach().requires_grad_()\nreturn y * 2, y",
        "y = x.detach().requires_grad_()\ng = torch.autograd.grad((y * 2).sum(), y)[0]\nreturn g.detach()",
        "return x + torch.tensor(0.0, requires_grad=True)",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n"
        "    lin.requires_grad_(not lin.weight.requires_grad)\n    return lin(x)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.lin = torch.nn.Linear(4, 4)\n"
        "    def trained(self, on: bool):\n        for p in self.lin.parameters():\n            p.requires_grad_(on)\n"
        "    def forward(self, x, m, i):\n        self.trained(False)\n        y = self.lin(x)\n"
        "        self.trained(True)\n        return y\nf = M()",
    )
    VALID = (
        "return x + torch.zeros(4, requires_grad=False)",
        "y = x + 1\ny.requires_grad_(False)\nreturn y * 2",
        "y = x.detach().requires_grad_()\nreturn (y * 2).detach()",
        "return x * 2 if x.requires_grad else x",
        "lin = torch.nn.Linear(4, 4)\ndef f(x, m, i):\n    lin.requires_grad_(False)\n    return lin(x)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('zero', torch.tensor(0.0))\n"
        "    def forward(self, x, m, i):\n        self.zero.requires_grad_()\n"
        "        return x + self.zero\nf = M()",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        variant = ""
        if op.name == OF_MODULE and not self._switches(op):
            return
        if op.name.startswith("call torch.Tensor."):
            kept = not op.detail("input") and not _is_kept(op) and self._stays(node)
            variant = f"{op.name} kept inside" if kept else ""
        elif op.name.startswith("call "):
            if op.arg("requires_grad") == "bool":
                asked = self._mode(node)
                if asked is None:
                    return
                op = op._replace(when=tuple(dict.fromkeys((*op.when, asked))))
            variant = f"{op.name} that requires a gradient"
        self.breaks(node, op, self.says, variant)

    def _switches(self, op: Op) -> bool:
        """Whether the parameters of the module may be otherwise before: the function turns them on and off, or is told
        which, or is half of a context manager of which the other half turns them off, or on."""
        asked = {_asked(other) for other in self.function.ops if other.name == OF_MODULE}
        return len(asked) > 1 or not _asked(op).startswith("constant") or self._is_undone(op)

    def _is_undone(self, op: Op) -> bool:
        """Whether it stands in a context manager whose exit turns off what its entry turns on, or the other way."""
        around = class_around(self.function, op.line)
        methods = (
            {m.name: m for m in around.body if isinstance(m, ast.FunctionDef)} if around is not None else {}
        )
        entry, leave = methods.get("__enter__"), methods.get("__exit__")
        return entry is not None and leave is not None and _turned(entry) | _turned(leave) == {True, False}

    def _mode(self, node: cst.CSTNode) -> str | None:
        """`self.training`, `x.requires_grad` or a flag that is on by default, where that decides whether a gradient is
        required."""
        from pt2lint.fixes.repairs.grad import is_mode

        for arg in node.args if isinstance(node, cst.Call) else ():
            if arg.keyword is not None and arg.keyword.value == "requires_grad":
                asks = is_mode(arg.value) or self._is_on(node, arg.value)
                return self.text(arg.value) if asks else None
        return None

    def _is_on(self, node: cst.CSTNode, flag: cst.BaseExpression) -> bool:
        """Whether it is a parameter of the function around, with True as its default."""
        owner = function_around(self.function, node)
        given = parameters_in(owner.params) if owner is not None else []
        return isinstance(flag, cst.Name) and any(
            p.name.value == flag.value and p.default is not None and is_name(p.default, "True") for p in given
        )

    def _stays(self, node: cst.CSTNode) -> bool:
        """Whether the function returns nothing but detached tensors, or gradients, and computes no gradient after it:
        that ends the graph, which then returns the tensor. In a loop it leaves the function to Python instead."""
        from pt2lint.fixes.nodes import enclosing_function

        owner = enclosing_function(self.function, node)
        first = self.function.range(node)[0]
        last = self.function.range(owner)[2] if owner is not None else first
        wanted = [o.line for o in self.function.ops if o.name in GRADIENTS and first <= o.line <= last]
        if wanted:
            loops = [self.function.range(loop) for loop in loops_around(self.function, node)]
            return any(begin <= line <= end for begin, _, end, _ in loops for line in wanted)
        if owner is not None and owner.name.value == "backward" and owner.decorators:  # a static method
            return True
        returned = [line for line in self.text(owner).splitlines() if "return " in line] if owner else []
        return bool(returned) and all(".detach()" in line for line in returned)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == "call torch.Tensor.requires_grad_":
            # Made outside of the graph, it has been turned on by the second call, unless something turns it off.
            kept = _is_kept(op) and _asked(op).startswith("constant")
            return op.arg(0, "requires_grad") != "constant False" and not kept
        return op.name.startswith(("set ", "call torch.nn.")) or op.arg("requires_grad") in (
            "constant True",
            "bool",
        )


def _turned(method: ast.FunctionDef) -> set[object]:
    """The constants that a method gives `requires_grad_`."""
    found: set[object] = set()
    for call in ast.walk(method):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr == "requires_grad_":
                given = [*call.args, *(k.value for k in call.keywords)]
                found |= {part.value for part in given if isinstance(part, ast.Constant)} if given else {True}
    return found


def _is_kept(op: Op) -> bool:
    return "is a buffer" in op.why or "is a parameter" in op.why


def _asked(op: Op) -> str:
    """What `requires_grad_` is given."""
    return op.arg(0, "requires_grad") or "constant True"
