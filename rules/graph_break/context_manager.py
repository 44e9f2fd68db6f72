from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Price
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

KEPT = (
    "Dynamo enters {code} only where the compiled code makes it: it was made before, and the rest of the function is "
    "left to Python"
)

MADE_BEFORE = ("with kept manager", "with kept manager of torch")
PUT = "call contextlib.ExitStack.enter_context"

OWN = "class C:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        return False\n"
MODULE = (
    "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.c = MADE\n"
    "    def forward(self, x, m, i):\n        with self.c:\n            y = x + 1\n        return y\nf = M()"
)


class ContextManager(GraphBreak):
    """A context manager that Dynamo does not know is entered in compiled code.

    ## What happens
    Dynamo cannot leave a graph in the middle of a `with` block and come back: it compiles what comes before it, and
    leaves the rest of the function to Python (GB0142; GB0208 for `cudnn.flags`; GB0092 for
    `warnings.catch_warnings`; GB8977 for loguru's `catch`). It traces `torch.no_grad`, `torch.autocast`,
    `torch.inference_mode`, `contextlib.nullcontext`, the profiler's and your own classes where the compiled code makes
    the manager. Of managers that were made before, in an attribute or a global
    (`with self.manager:`), it traces `torch.autocast`, `contextlib.nullcontext` and the profiler's, but neither your
    own (GB0142) nor `torch.no_grad()` and its like. Through `contextlib.ExitStack` (`stack.enter_context(...)`) it
    traces only your own that are made there, and `contextlib.suppress`.

    ## Example
    ```python
    import threading
    import torch

    lock = threading.Lock()

    def f(x):
        with lock:
            y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Enter it around the compiled call:
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `contextlib.suppress` and an empty `ExitStack` on 2.6 and 2.9 only; `contextlib.closing`, a kept
    manager of one's own and `enter_context` of a kept manager are fine on 2.15. What else `enter_context` is given:
    measured on 2.13; `device_of`, `nvtx.range` and `emit_nvtx`: on 2.11 with an H100.
    loguru's `catch` and `contextualize`: on 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTB180"
    name = "context-manager"
    ops = (
        "with threading.Lock",
        "with threading.RLock",
        "with multiprocessing.Lock",
        "with multiprocessing.RLock",
        "with torch.backends.cudnn.flags",
        "with torch.backends.cuda.sdp_kernel",
        "with torch.random.fork_rng",
        "with torch.device",
        "with torch.autograd.detect_anomaly",
        "with torch.autograd.set_detect_anomaly",
        "with torch.autograd.graph.saved_tensors_hooks",
        "with torch.autograd.graph.save_on_cpu",
        "with torch.autograd.profiler.emit_nvtx",
        "with torch.autograd.profiler.emit_itt",
        "with torch.autograd.set_multithreading_enabled",
        "with torch.jit.optimized_execution",
        "with torch.cuda.device_of",
        "with torch.cuda.nvtx.range",
        "with contextlib.redirect_stdout",
        "with contextlib.redirect_stderr",
        "with contextlib.closing",
        "with decimal.localcontext",
        "with torch._dynamo.config.patch",
        "with contextlib.suppress",
        "with contextlib.ExitStack",
        "with loguru.logger.catch",
        "with loguru.logger.contextualize",
        PUT,
        *MADE_BEFORE,
    )
    severity = "error"
    says = "Dynamo cannot enter {code}, and leaves the rest of the function to Python"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "with torch.device": "Say `device=` where each tensor is made; or make them once, in `__init__`",
            "with torch.random.fork_rng": "Draw before the compiled code runs, and pass the numbers in",
            "with torch.backends.cuda.sdp_kernel": (
                "Enter `torch.nn.attention.sdpa_kernel(...)`, which is traced, or enter it around the "
                "call of the compiled function"
            ),
            "with torch.cuda.device_of": "Enter `torch.cuda.device(x.device)`, which is traced",
            "with torch.cuda.nvtx.range": "Enter `torch.profiler.record_function(...)`, which is traced",
            **dict.fromkeys(
                MADE_BEFORE,
                "Keep what it is made with, and make it where it is entered: `with Manager(...):`; or enter it "
                "around the call of the compiled function",
            ),
            "with contextlib.suppress": "Test for what may fail, or catch it in a `try`",
            "with contextlib.ExitStack": (
                "Write a `with` for each that may be entered, `contextlib.nullcontext()` where it is not"
            ),
            "": "Enter it around the call of the compiled function",
        }
    )
    graph_breaks = ("GB0142", "GB0208", "GB0092", "GB8977")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        own = op.name == PUT and all(map(_is_traced, op.arg(0).split(" | ")))
        if own and not _is_kept(node):
            return
        self.breaks(
            node, op, KEPT if op.name in MADE_BEFORE else self.says, f"{PUT} of a kept manager" if own else ""
        )

    def price(self, op: Op) -> Price | None:
        price = super().price(op)
        return None if price is None else replace(price, gives_up=price.gives_up or "rest")

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        if op.name in MADE_BEFORE:
            return False
        return not op.name.startswith("with torch.")  # for which torch has others that Dynamo enters

    INVALID = (
        "with torch.backends.cudnn.flags(enabled=False):\n    y = x + 1\nreturn y",
        "with torch.device('cpu'):\n    y = torch.ones(4) + x\nreturn y",
        "with torch.random.fork_rng():\n    y = torch.rand(4)\nreturn x + y * 0",
        OWN + "c = C()\ndef f(x, m, i):\n    with c:\n        y = x + 1\n    return y",
        OWN + MODULE.replace("MADE", "C()"),
        MODULE.replace("MADE", "torch.no_grad()"),
        MODULE.replace("MADE", "torch.inference_mode() if len('ab') == 2 else torch.enable_grad()"),
        "import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(contextlib.nullcontext())\n"
        "    y = x + 1\nreturn y",
        "import contextlib\n"
        + OWN
        + MODULE.replace("MADE", "C()").replace(
            "with self.c:", "with contextlib.ExitStack() as stack:\n            stack.enter_context(self.c)"
        ),
        "c = torch.set_grad_enabled(False)\ndef f(x, m, i):\n    with c:\n        y = x + 1\n    return y",
        "import contextlib\nplain = False\ndef flags():\n    if plain:\n        return contextlib.nullcontext()\n"
        "    return torch.backends.cudnn.flags(enabled=False)\ndef use_plain():\n    global plain\n    plain = True\n"
        "def f(x, m, i):\n    with flags():\n        y = x + 1\n    return y",
    )
    VALID = (
        OWN + "def f(x, m, i):\n    with C():\n        y = x + 1\n    return y",
        OWN + "def f(x, m, i):\n    c = C()\n    with c:\n        y = x + 1\n    return y",
        OWN
        + "def run(x, c):\n    with c:\n        return x + 1\ndef f(x, m, i):\n    return run(x, torch.no_grad())",
        MODULE.replace("MADE", "torch.autocast('cpu', dtype=torch.bfloat16)"),
        MODULE.replace("MADE", "torch.no_grad").replace("self.c:", "self.c():"),
        MODULE.replace("MADE", "1")
        .replace("self.c:", "self.made:")
        .replace(
            "    def forward",
            "    @property\n    def made(self):\n        return torch.set_grad_enabled(self.c == 1)\n    def forward",
        ),
        "with torch.no_grad():\n    y = x + 1\nreturn y",
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    y = x + 1\nreturn y",
        "import contextlib\nwith contextlib.nullcontext():\n    y = x + 1\nreturn y",
        "import contextlib\n@contextlib.contextmanager\ndef mine():\n    yield\n"
        "def f(x, m, i):\n    with mine():\n        y = x + 1\n    return y",
        "with torch.profiler.record_function('a'):\n    y = x + 1\nreturn y",
        "import contextlib\n@contextlib.contextmanager\ndef mine(n):\n    yield n\ndef f(x, m, i):\n"
        "    with contextlib.ExitStack() as stack:\n        n = stack.enter_context(mine(2))\n        y = x + n\n"
        "    return y",
        "import contextlib\n" + OWN + "def f(x, m, i):\n    with contextlib.ExitStack() as stack:\n"
        "        stack.enter_context(C())\n        stack.enter_context(contextlib.suppress(ValueError))\n"
        "        y = x + 1\n    return y",
    )


def _is_traced(kind: str) -> bool:
    """Whether a manager that is put on a stack is one's own, or `contextlib.suppress`: those are traced there."""
    return kind.startswith("generator of ") or kind in ("object", "contextlib.suppress")


def _is_kept(node: cst.CSTNode) -> bool:
    """Whether what is put on a stack was made before: `stack.enter_context(self.manager)`."""
    return isinstance(node, cst.Call) and bool(node.args) and isinstance(node.args[0].value, cst.Attribute)
