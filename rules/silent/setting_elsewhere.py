from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.settings import COMPILES, PATCHES
from pt2lint.rule.tree import walk

OWN = (2, 12)  # from here on each thread has settings of its own


class SettingElsewhere(Rule):
    """A setting of torch.compile is made where it does not hold: in another thread, or before the code is compiled.

    ## What happens
    `torch._dynamo.config`, `torch._inductor.config` and `torch._functorch.config` are read when a function is compiled,
    which is at its first call, and each time that it is compiled again. From torch 2.12 on each thread has settings of
    its own: what the main thread sets, where a file is imported say, is at its default in every thread that is started
    by `threading.Thread`, a `ThreadPoolExecutor` or `run_in_executor`. (`asyncio.to_thread` takes the settings along.)
    So a raised `recompile_limit` is 8 where it counts, and nothing says so. Make the settings in the function that the
    thread runs, in the executor's `initializer`, or, where there is one, by an argument of torch.compile:
    `torch.compile(f, options={...})` for those of Inductor.

    `config.patch(...)` sets nothing by itself: it is a context manager, to be entered, or a decorator. One that is
    entered around `torch.compile(f)` alone is left again before anything is compiled.

    ## Example
    ```python
    import threading

    import torch

    torch._dynamo.config.capture_scalar_outputs = True

    @torch.compile
    def f(x):
        return x * x.sum().item()

    def run():
        results = []

        def work():
            results.append(f(torch.ones(3)))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return results
    ```

    ## Use instead
    ```python
    import threading

    import torch

    @torch.compile
    def f(x):
        return x * x.sum().item()

    def run():
        results = []

        def work():
            torch._dynamo.config.capture_scalar_outputs = True
            results.append(f(torch.ones(3)))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return results
    ```

    ## Versions
    Measured: on torch 2.13 and 2.15 a thread has the defaults (as reported of 2.12 too); on 2.6 and 2.9
    settings are one for all threads. `config.patch` that is not entered around the call sets nothing on any of
    them.
    """

    code = "PTS340"
    name = "setting-elsewhere"
    ops = ("set setting", *PATCHES)
    anywhere = True

    def concerns(self, op: Op) -> bool:
        return op.name != "set setting" or bool(op.detail("thread") and self.function.target >= OWN)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "set setting":
            self.told_of_thread(node, op)
        elif isinstance(node, cst.Call):
            holder = self.function.parent(node)
            if isinstance(holder, cst.Expr):
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} sets nothing: it is a context manager, and nothing enters it; assign the "
                    "setting, or enter it by `with` around the calls",
                )
            elif isinstance(holder, cst.WithItem) and self.only_wraps(self.function.parent(holder)):
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} is left again before anything is compiled: that happens at the first call, "
                    "which is outside the `with`",
                )

    def told_of_thread(self, node: cst.CSTNode, op: Op) -> None:
        run = op.detail("thread")
        self.report(
            node,
            self.led_to(op, op.detail("thread at"), f"a thread runs `{run}`"),
            f"{self.quote(node)} is set for this thread alone: `{run}`, which calls compiled code, runs in another, "
            "where settings have their defaults; make it there, too",
            severity="note" if op.detail("also here") else None,
        )

    def only_wraps(self, block: cst.CSTNode | None) -> bool:
        """Whether the block does nothing but give things to torch.compile."""
        if not isinstance(block, cst.With) or not isinstance(block.body, cst.IndentedBlock):
            return False
        calls = [part for part in walk(block.body) if isinstance(part, cst.Call)]
        compiles = [c for c in calls if any(o.name in COMPILES for o in self.function.ops_at(c))]
        inside = {id(part) for c in compiles for part in walk(c)}
        plain = all(isinstance(s, cst.SimpleStatementLine) for s in block.body.body)
        return plain and bool(compiles) and all(id(c) in inside for c in calls)
