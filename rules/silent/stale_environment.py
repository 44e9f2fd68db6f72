from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

# Measured: read again in every call on 2.6; once, when it is compiled, on 2.9, 2.13 and 2.15.
STALE = (2, 9)


class StaleEnvironment(Rule):
    """Compiled code reads the environment once: the value becomes part of the graph.

    ## What happens
    Dynamo guards the value of a variable that it reads from `os.environ`, and compiles again when that changes. It does
    not guard what `os.getenv` answers: the compiled code goes on with the value from when it was compiled, whatever the
    variable is set to later. Nor does it notice that a variable that was not there is set: `"NAME" in os.environ` and
    `os.environ.get("NAME")` go on saying that it is not. Most variables are set once, before anything is compiled:
    pt2lint only tells of this with `--pedantic`.

    ## Example
    ```python
    import os
    import torch

    @torch.compile
    def f(x):
        return x * 2 if os.getenv("DOUBLED") == "1" else x

    def run():
        answers = []
        for doubled in ("1", "0"):
            os.environ["DOUBLED"] = doubled
            answers.append(f(torch.ones(2)))
        return answers
    ```

    ## Use instead
    ```python
    import os
    import torch

    @torch.compile
    def f(x):
        return x * 2 if os.environ.get("DOUBLED") == "1" else x

    def run():
        answers = []
        for doubled in ("1", "0"):
            os.environ["DOUBLED"] = doubled
            answers.append(f(torch.ones(2)))
        return answers
    ```
    This does for a variable that is always set. Otherwise read it where the model is made, and keep what it said.

    ## Versions
    Measured: on torch 2.6 the variable is guarded here too; on 2.9, 2.13 and 2.15 `os.getenv` gives the old value
    after a change, `os.environ.get` and `os.environ[...]` the new one. A variable that is set after it was found
    missing stays missing there, however it is asked for.
    """

    code = "PTS311"
    name = "stale-environment"
    ops = ("call os.getenv", "in os.environ")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if self.function.target < STALE:
            return
        # Most variables are set once, before anything is compiled: whether this one is, the file does not say.
        op = op._replace(sure=False)
        if isinstance(node, cst.Comparison):
            self.report(
                node,
                op,
                f"{self.quote(node)} is asked when this is compiled: that the variable is set later goes unseen",
                severity="note",
            )
        if not isinstance(node, cst.Call):
            return
        fixes = []
        owner = self.text(node.func.value) if isinstance(node.func, cst.Attribute) else ""
        if self.function.imports.get(owner) == "os":
            fixes = [
                self.fix(
                    "Ask `os.environ`, which Dynamo guards: a variable that is set and changes compiles again.",
                    self.edit(node.func, f"{owner}.environ.get"),
                    applicability="safe",
                )
            ]
        self.report(
            node,
            op,
            f"{self.quote(node)} is read once, when this is compiled: a later change of the variable goes unseen",
            fixes=fixes,
            severity="note",
        )
