from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

# Measured: nothing on 2.6, 2.9 and 2.13; compiled on 2.15.
COMPILES = (2, 15)


class CompiledInPlace(Rule):
    """`compile()` of a module that `torch.nn` itself defines compiles nothing.

    ## What happens
    `module.compile()` compiles `module._call_impl`. Dynamo does not trace functions of `torch.nn` as the
    start of what it compiles, so that it skips this one and `forward`, where `forward` is torch's own
    (`nn.Linear`, `nn.Sequential`, `nn.TransformerEncoder`). Modules of your own inside a `Sequential` are
    each compiled by themselves, which may be what was wanted: nothing is told of these. `torch.compile(module)`
    compiles all of it.

    ## Example
    ```python
    import torch

    def run():
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        model.compile()
        model(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    def run():
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        model = torch.compile(model)
        model(torch.ones(3))
    ```

    ## Versions
    Measured with `Linear`, `Sequential`, `TransformerEncoderLayer`, `MultiheadAttention` and a subclass of
    `Linear` without a `forward` of its own: nothing is compiled on torch 2.6, 2.9 and 2.13; all of them are
    on 2.15. Of a `Sequential` of two modules of one's own both are, by themselves, on the first three.
    """

    code = "PTS308"
    name = "compiled-in-place"
    ops = ("call torch.nn.Module.compile", "call builtins.Sequential.compile", "compile torch forward")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        kind = op.arg("self")
        if op.region:
            return False
        if kind.startswith("Sequential of"):
            held = kind.replace("Sequential of ", "").split(" | ")
            return all(one.startswith("torch.nn.") and one != "torch.nn.Module" for one in held)
        # What is only known to be some Module may be one of the project's.
        some = kind.rsplit(".", 1)[-1] == "Module" or " | " in kind
        return kind.startswith("torch.nn.") and not some

    def check(self, node: cst.CSTNode, op: Op) -> None:
        kind = op.arg("self").split(" ")[0].rsplit(".", 1)[-1]
        if self.function.target < COMPILES and isinstance(node, cst.Call) and "Parallel" not in kind:
            self.report(
                node,
                op,
                f"{self.quote(node)} compiles nothing: `{kind}.forward` is torch's own, where Dynamo does not start; "
                "`torch.compile(module)` does compile it",
            )
