from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

TIME = "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time sleep strftime localtime ctime"


SPANS = ("call datetime.datetime", "call datetime.timedelta")


class ClockCall(GraphBreak):
    """The clock is read in compiled code.

    ## What happens
    Reading the time is work for Python: Dynamo ends the graph at functions of `time` (GB0007), at
    `datetime.now()` (GB0156) and where a date or a time span is made (GB0147). What is timed there is not
    what runs, either: compiled kernels run later.

    ## Example
    ```python
    import time
    import torch

    def f(x, times):
        start = time.perf_counter()
        y = torch.relu(x)
        times.append(time.perf_counter() - start)
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Use instead
    Take the time around the compiled call, or profile it (`torch.profiler.profile`):
    ```python
    import torch

    def f(x, times):
        with torch.profiler.record_function("relu"):
            y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`.
    """

    code = "PTB140"
    name = "clock-call"
    ops = (
        *calls("time", TIME),
        *calls("datetime.datetime", "now utcnow today fromtimestamp"),
        "call datetime.date.today",
        *SPANS,
    )
    says = "{code} asks the clock inside compiled code"
    repairs = (
        "train_step",
        "disable",
    )
    instead = MappingProxyType(
        {
            "call time.sleep": "Wait around the call of the compiled function",
            **dict.fromkeys(
                SPANS, "Make it around the call of the compiled function, or count in plain numbers"
            ),
            "": (
                "Take the time around the call of the compiled function, or have `torch.profiler.profile` "
                "measure it"
            ),
        }
    )
    graph_breaks = ("GB0007", "GB0156", "GB0147")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        span = "{code} makes a date or a time span, which Dynamo does not trace"
        self.breaks(node, op, span if op.name in SPANS else self.says)

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        return op.name == "call time.sleep"  # which waits for something else

    INVALID = (
        "from time import time\nreturn x + time() * 0",
        "import datetime\nreturn x + datetime.datetime.now().year * 0",
        "import time\ntime.sleep(0)\nreturn x + 1",
    )
    VALID = ("def time():\n    return 1\ndef f(x, m, i):\n    return x * time()",)
