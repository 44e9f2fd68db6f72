from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

SET_BEFORE = "Set it where the program starts"


class HostCall(GraphBreak):
    """Compiled code calls into the operating system or the interpreter.

    ## What happens
    Dynamo does not trace processes, threads, the garbage collector, `ctypes`, stack inspection and
    hashes: it ends the graph, runs the call in Python and goes on (GB0007; GB0156 for locks and context
    variables; GB0059 for builtins such as `exec`).

    It imports what a function imports while it traces. Where there is no such library, the graph ends there too
    (GB0069), and the `try` around it leaves the whole function to Python: `try: import fast_kernels`, with
    `except ImportError:` after it. That depends on what is installed, so it is a note. Ask once, at the top of the
    file, and let the function read the answer.

    ## Example
    ```python
    import gc
    import torch

    def f(x):
        y = torch.relu(x)
        gc.collect()
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Do it outside the compiled call:
    ```python
    import torch

    def f(x):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. Fine from 2.13 on:
    `importlib.util.find_spec`, `importlib.metadata.version`, `traceback.format_exc`, `locals()` and `to` of a
    module. Fine from 2.9 on: `inspect.isclass` and `isfunction`, `multiprocessing.current_process`,
    `sys.exc_info`. Fine on 2.15: `ContextVar.get`. A module's `state_dict()` is fine on 2.13.
    Setting the `value` of a `multiprocessing.Value` is fine on 2.6 and 2.9.
    """

    code = "PTB143"
    name = "host-call"
    ops = (
        *calls("subprocess", "run Popen call check_call check_output"),
        *calls("gc", "collect disable enable freeze"),
        *calls("ctypes", "sizeof CDLL cast byref pointer"),
        *calls("os", "getpid getppid cpu_count urandom kill times uname"),
        *calls("os", "popen posix_spawn spawnl spawnlp spawnv spawnvp"),
        *calls("inspect", "stack currentframe"),
        *calls("traceback", "print_exc print_stack format_exc format_stack extract_stack"),
        *calls("hashlib", "md5 sha1 sha256 sha512 blake2b"),
        *calls("threading", "current_thread Thread get_ident"),
        *calls("threading.Lock", "acquire release"),
        *calls("threading.RLock", "acquire release"),
        *calls("contextvars.ContextVar", "get set reset"),
        *calls("builtins", "exec dir globals locals __import__"),
        "call importlib.util.find_spec",
        "call importlib.import_module",
        *calls("sys", "getrefcount getsizeof _getframe"),
        "call socket.gethostname",
        "call getpass.getuser",
        "call signal.getsignal",
        "call atexit.register",
        "call asyncio.run",
        *calls("queue.Queue", "put get"),
        *calls("concurrent.futures.ThreadPoolExecutor", "map submit"),
        "call threading.local",
        "set os.environ[]",
        "call torch.set_num_threads",
        "call torch.utils.data.get_worker_info",
        "call importlib.metadata.version",
        "call multiprocessing.current_process",
        *calls("inspect", "isfunction isclass"),
        "call sys.exc_info",
        *calls("torch.nn.Module", "state_dict to"),
        "call torch.utils.checkpoint.checkpoint_sequential",
        "get multiprocessing.Value.value",
        "set multiprocessing.Value.value",
        "call multiprocessing.Event.is_set",
        *calls("multiprocessing.Queue", "put get empty"),
        "import guarded",
    )
    says = "{code} is what Dynamo does not trace"
    repairs = ("operator", "disable")
    instead = MappingProxyType(
        {
            "import ": "Import it at the top of the file, in a `try` that says by a flag whether it is there",
            "call builtins.__import__": "Import it at the top of the file",
            "call importlib": (
                "Ask once, at the top of the file, and test the answer: a flag of Python is known while "
                "tracing"
            ),
            "call os.cpu_count": (
                "Ask once, at the top of the file: compiled code takes the answer for a constant"
            ),
            "call torch.nn.Module.state_dict": (
                "Take it around the call of the compiled function; `dict(module.named_parameters())` is "
                "traced"
            ),
            "call torch.nn.Module.to": (
                "Move the module before the compiled code runs, or the tensors to where it is"
            ),
            "call torch.utils.checkpoint.checkpoint_sequential": (
                "Call `torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False)` for each part, "
                "which is traced"
            ),
            "set os.environ[]": SET_BEFORE,
            "call torch.set_num_threads": SET_BEFORE,
            "": (
                "Do it around the call of the compiled function; what is the same each time, once where "
                "the module is made"
            ),
        }
    )
    graph_breaks = ("GB0007", "GB0156", "GB0059", "GB0069")

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        return not op.name.startswith("call torch.")  # which other places of the code could do

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name != "import guarded":
            return self.breaks(node, op, self.says)
        says = "{code} ends the graph where there is no such library: do it at the top of the file"
        return self.breaks(node, op, says)

    INVALID = (
        "import os\nos.environ['PT2LINT_CASE'] = '1'\nreturn x + 1",
        "import subprocess\nsubprocess.run(['true'])\nreturn x + 1",
        "import os\nwith os.popen('true') as out:\n    n = len(out.read())\nreturn x + n",
        "import ctypes\nreturn x + ctypes.sizeof(ctypes.c_int)",
        "import os\nreturn x + os.getpid() * 0",
        "import contextvars\nlevel = contextvars.ContextVar('level')\n"
        "def f(x, m, i):\n    level.set(2)\n    return x + 1",
        "exec('y = 1')\nreturn x + 1",
        "try:\n    import not_installed\nexcept ImportError:\n    return x + 1\nreturn x",
    )
    VALID = (
        "import weakref\nreturn x + (weakref.ref(torch.nn.Module) is not None)",
        "return x + (torch.cuda.is_available() and 0) + id(x) * 0",
        "try:\n    import colorsys\nexcept ImportError:\n    return x + 1\nreturn x",
    )
