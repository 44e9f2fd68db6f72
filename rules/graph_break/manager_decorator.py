from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

ENDS = "the graph ends here"
CATCH = "decorate with loguru.logger.catch"
CATCH_IS_TRACED = (2, 15)
DECORATED = (
    "import contextlib\nclass C(contextlib.ContextDecorator):\n    def __enter__(self):\n        return self\n"
    "    def __exit__(self, *a):\n        return False\n"
    "@MADE\ndef part(x):\n    return x * 2\ndef f(x, m, i):\n    return part(x + 1) - 1"
)


class ManagerDecorator(GraphBreak):
    """A context manager decorates a function that compiled code calls.

    ## What happens
    A manager that decorates was made before the compiled code runs, and Dynamo does not enter it: the graph ends
    where the function is called (GB0142; GB0007 for `torch.set_grad_enabled` and `cudnn.flags`, GB0208 for
    `fork_rng`). The same goes for objects of classes derived from `contextlib.ContextDecorator`, and for loguru's
    `@logger.catch`.
    `@torch.no_grad()`, `@torch.autocast(...)`, `@sdpa_kernel(...)` and what `contextlib.contextmanager` makes are
    traced. Of what is itself compiled it is not reported: there the decorator alone stays in Python.

    ## Example
    ```python
    import contextlib
    import torch

    class Traced(contextlib.ContextDecorator):
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            return False

    @Traced()
    def part(x):
        return torch.relu(x)

    def f(x):
        return part(x) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Enter it in the function:
    ```python
    import contextlib
    import torch

    class Traced(contextlib.ContextDecorator):
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            return False

    def part(x):
        with Traced():
            return torch.relu(x)

    def f(x):
        return part(x) * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: the example breaks on torch 2.6 to 2.13, in default mode and with `fullgraph=True`, and is fine on 2.15;
    torch's own managers on 2.13 alone; `@logger.catch` breaks on 2.6, 2.9 and 2.13, and is fine on 2.15.
    """

    code = "PTB195"
    name = "manager-decorator"
    ops = (
        "decorate with own manager",
        "decorate with torch.set_grad_enabled",
        "decorate with torch.backends.cudnn.flags",
        "decorate with torch.backends.cuda.sdp_kernel",
        "decorate with torch.random.fork_rng",
        "decorate with torch._dynamo.config.patch",
        CATCH,
    )
    says = "Dynamo does not enter {code} where it decorates: the graph ends where the function is called"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "decorate with own": (
                "Enter it in the function: `with Manager(...):`, which is traced where the compiled code makes it"
            ),
            "decorate with torch.set_grad_enabled": (
                "Decorate it with `torch.no_grad()` or `torch.enable_grad()`, or enter it in the function: "
                "`with torch.set_grad_enabled(...):`"
            ),
            "decorate with torch.backends.cuda.sdp_kernel": (
                "Decorate it with `torch.nn.attention.sdpa_kernel(...)`, which is traced"
            ),
            "": "Enter it around the call of the compiled function",
        }
    )
    graph_breaks = ("GB0142", "GB0007", "GB0208")

    def concerns(self, op: Op) -> bool:
        return op.name != CATCH or self.function.target < CATCH_IS_TRACED

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if called := op.detail("called").partition(" | ")[0]:
            return self.breaks(node, self.led_to(op, called, ENDS), self.says)
        if op.detail("told"):
            op = op._replace(rare=op.rare or "told where the decorator stands")
        decorated = op.detail("decorates")
        says = f"the graph ends at {{code}}: Dynamo does not enter what decorates `{decorated}`"
        return self.breaks(node, op, says)

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        return op.name.endswith((".flags", ".fork_rng", ".patch", ".catch"))  # of which no form is traced

    INVALID = (
        DECORATED.replace("MADE", "torch.set_grad_enabled(False)"),
        DECORATED.replace("MADE", "torch.backends.cudnn.flags(enabled=False)"),
        DECORATED.replace("MADE", "torch.random.fork_rng()"),
    )
    VALID = (
        DECORATED.replace("MADE", "torch.no_grad()"),
        DECORATED.replace("MADE", "torch.autocast('cpu', dtype=torch.bfloat16)"),
        DECORATED.replace("@MADE", "@contextlib.contextmanager\ndef mine():\n    yield\n@mine()"),
        DECORATED.replace("@MADE\n", "").replace("return x * 2", "with C():\n        return x * 2"),
    )
