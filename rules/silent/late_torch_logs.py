from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule

# What set_logs takes as True or False; what it takes as a level needs one.
ARTIFACTS = frozenset(
    "graph_breaks recompiles recompiles_verbose guards graph graph_code graph_sizes bytecode aot_graphs "
    "aot_joint_graph output_code schedule perf_hints fusion".split()
)
# Read at the same time, as measured on torch 2.13: where the trace goes, whether caches are used, profiles of sizes.
ALSO_READ = frozenset(
    "TORCH_TRACE TORCHINDUCTOR_FORCE_DISABLE_CACHES TORCH_COMPILE_JOB_ID TORCH_COMPILE_DYNAMIC_SOURCES".split()
)
MEASURED = (2, 13)


class LateTorchLogs(Rule):
    """`TORCH_LOGS` set after torch was imported has no effect.

    ## What happens
    torch reads `TORCH_LOGS` when it is imported. Set later, nothing is logged, and the silence looks like "no graph
    breaks, no recompilations". `torch._logging.set_logs` can be called at any time, but not while the variable is set:
    then it is ignored. `TORCH_TRACE`, `TORCHINDUCTOR_FORCE_DISABLE_CACHES`, `TORCH_COMPILE_JOB_ID` and
    `TORCH_COMPILE_DYNAMIC_SOURCES` are read then, too.

    ## Example
    ```python
    import os
    import torch

    os.environ["TORCH_LOGS"] = "graph_breaks"

    @torch.compile
    def f(x):
        return x * 2

    def run():
        f(torch.ones(3))
        assert torch._logging._internal.log_state.is_artifact_enabled("graph_breaks")
    ```

    ## Use instead
    ```python
    import torch

    torch._logging.set_logs(graph_breaks=True)

    @torch.compile
    def f(x):
        return x * 2

    def run():
        f(torch.ones(3))
        assert torch._logging._internal.log_state.is_artifact_enabled("graph_breaks")
    ```

    ## Versions
    Measured: nothing is logged on torch 2.6, 2.9, 2.13 and 2.15. The other variables: on 2.13, and told from there on.
    """

    code = "PTS321"
    name = "late-torch-logs"
    ops = ("set os.environ[]",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return bool(op.detail("after")) and _variable(op) in {"TORCH_LOGS", *ALSO_READ}

    def check(self, node: cst.CSTNode, op: Op) -> None:
        name = _variable(op)
        if name != "TORCH_LOGS":
            if self.function.target >= MEASURED:
                self.report(
                    node,
                    op,
                    f"torch reads `{name}` when it is imported, which is above: this has no effect; set it before",
                )
            return
        self.report(
            node,
            op,
            "torch reads `TORCH_LOGS` when it is imported, which is above: nothing is logged; set it before, or call "
            "`torch._logging.set_logs(...)`",
            fixes=self.fixes(node),
        )

    def fixes(self, node: cst.CSTNode) -> list[Fix]:
        """`os.environ["TORCH_LOGS"] = "recompiles"` -> `torch._logging.set_logs(recompiles=True)`"""
        target = self.function.parent(node)
        statement = self.function.parent(target) if target is not None else None
        torch = self.local_name("torch")
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or torch is None:
            return []
        value = statement.value
        wanted = value.raw_value.split(",") if isinstance(value, cst.SimpleString) else []
        if not wanted or not {w.strip() for w in wanted} <= ARTIFACTS:
            return []
        keywords = ", ".join(f"{w.strip()}=True" for w in wanted)
        edit = self.edit(statement, f"{torch}._logging.set_logs({keywords})")
        return [self.fix("Ask torch for these logs.", edit)]


def _variable(op: Op) -> str:
    """The name of the variable that is set; "" where it is not written there."""
    word = op.arg(0)
    return word.removeprefix("constant ").strip("'") if word.startswith("constant ") else ""
