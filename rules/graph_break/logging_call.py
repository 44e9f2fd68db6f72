from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

METHODS = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")
STATE = ("isEnabledFor", "setLevel", "getEffectiveLevel", "hasHandlers", "addHandler")
ONCE = ("info_once", "warning_once", "warning_advice")  # put on the class by Transformers
ASK_ONCE = (
    "Ask once, in `__init__` or at the top of the file, and test the answer: a flag of Python is known "
    "while tracing"
)
SET_FIRST = "Set it where the program starts"
SET_AROUND = "Set it around the call of the compiled function"


class LoggingCall(GraphBreak):
    """A log message or a warning in compiled code ends the graph.

    ## What happens
    A logger takes locks and writes files; Dynamo does not trace that. It ends the graph at every method of a
    logger, `isEnabledFor` included (GB0291), at `logging.info` and its like (GB4841), and at
    `warnings.warn` (GB0007).

    ## Example
    ```python
    import logging
    import torch

    logger = logging.getLogger(__name__)

    def f(x):
        if x.shape[0] > 1:
            logger.info("a batch of %d", x.shape[0])
        return x * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Log before the compiled call, or only outside compilation:
    ```python
    import logging
    import torch

    logger = logging.getLogger(__name__)

    def f(x):
        if x.shape[0] > 1 and not torch.compiler.is_compiling():
            logger.info("a batch of %d", x.shape[0])
        return x * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```
    `torch._dynamo.config.ignore_logger_methods` and `ignore_logging_functions` make Dynamo leave the named
    ones out.

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `logging.getLogger()` without a
    name on 2.6 alone.
    """

    code = "PTB102"
    name = "logging-call"
    ops = (
        *(f"call logging.Logger.{m}" for m in (*METHODS, *STATE, *ONCE)),
        *(f"call logging.{m}" for m in (*METHODS, "getLogger", "disable", "basicConfig")),
        "get logging.Logger.level",
        "call warnings.warn",
        "call warnings.warn_explicit",
        "call warnings.simplefilter",
        "call warnings.filterwarnings",
    )
    says = "{code} logs inside compiled code"
    repairs = ("train_step", "printing")
    instead = MappingProxyType(
        {
            "call logging.Logger.isEnabledFor": ASK_ONCE,
            "call logging.Logger.getEffectiveLevel": ASK_ONCE,
            "call logging.Logger.hasHandlers": ASK_ONCE,
            "get logging.Logger.level": ASK_ONCE,
            "call logging.getLogger": "Get the logger once, at the top of the file",
            "call logging.basicConfig": SET_FIRST,
            "call logging.disable": SET_FIRST,
            "call warnings.simplefilter": SET_AROUND,
            "call warnings.filterwarnings": SET_AROUND,
        }
    )
    graph_breaks = ("GB0291", "GB0007", "GB4841")

    INVALID = (
        "import logging\nlog = logging.getLogger('a')\ndef f(x, m, i):\n    return x + 1 if log.level > 10 else x",
        "import warnings\nwarnings.warn('old')\nreturn x + 1",
        "import warnings\nwarnings.simplefilter('ignore')\nreturn x + 1",
        "from logging import getLogger\nlog = getLogger('a')\ndef f(x, m, i):\n"
        "    return x + 1 if log.isEnabledFor(10) else x",
        "import logging\nlogging.debug('a')\nreturn x + 1",
    )
    VALID = (
        "import logging\nlog = logging.getLogger()\nreturn x + 1",
        "class Log:\n    def info(self, m):\n        return None\nlogger = Log()\ndef f(x, m, i):\n"
        "    logger.info('a')\n    return x + 1",
        "import warnings\ndef f(x, m, i):\n    return x + 1\ndef old():\n    warnings.warn('old')",
        "import warnings\nif x.dim() > 3:\n    raise ValueError('a')\nreturn x + 1",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        nameless = op.name == "call logging.getLogger" and not op.args
        if nameless and self.function.target >= (2, 9):
            return  # the root's logger is a constant there
        self.breaks(node, op, self.says)
