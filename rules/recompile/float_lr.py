from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.rewrite import with_argument
from pt2lint.op import Op
from pt2lint.rule import Rule

# The learning rate that each optimizer takes when none is given (the signatures of torch 2.13).
DEFAULTS = {
    "ASGD": "1e-2",
    "Adadelta": "1.0",
    "Adafactor": "1e-2",
    "Adagrad": "1e-2",
    "Adam": "1e-3",
    "AdamW": "1e-3",
    "Adamax": "2e-3",
    "Muon": "1e-3",
    "NAdam": "2e-3",
    "RAdam": "1e-3",
    "RMSprop": "1e-2",
    "Rprop": "1e-2",
    "SGD": "1e-3",
}
SCHEDULER = "given to torch.optim.lr_scheduler."
# The first torch whose SequentialLR and ReduceLROnPlateau keep a tensor as it is: 2.9 does not, 2.13 does.
KEEPS_TENSORS = (2, 13)


class FloatLearningRate(Rule):
    """The step of an optimizer is compiled and its learning rate is a Python number.

    ## What happens
    Dynamo takes the number for a constant and guards on it. When a scheduler, or an assignment to
    `group["lr"]`, changes it, the guard fails and the step is compiled again. From torch 2.6 on that happens
    once, since a float that changed once becomes an input of the graph; before, it happened at every change
    until the recompile limit, and from then on the step ran without compiling. A tensor is an input from the
    start.

    A tensor has its own conditions, which is why the fix has to be asked for. `Adam` and `AdamW` refuse it
    with `foreach=True` and `capturable=False`. Parameter groups without a rate of their own share the one
    tensor, and a scheduler that writes to it for each group then gets wrong rates (`ReduceLROnPlateau`
    reduces twice, `LambdaLR` with several functions keeps the last). `SequentialLR` computes other rates
    from a tensor than from a float on torch 2.6 and 2.9, and `ReduceLROnPlateau` puts a float in its place
    there. Where the rate is assigned by hand, write `group["lr"].fill_(rate)`, or the tensor is replaced.

    ## Example
    ```python
    import torch

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    step = torch.compile(optimizer.step)

    def run():
        for _ in range(4):
            model(torch.ones(2, 4)).sum().backward()
            step()
            scheduler.step()
    ```

    ## Use instead
    ```python
    import torch

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-3))
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    step = torch.compile(optimizer.step)

    def run():
        for _ in range(4):
            model(torch.ones(2, 4)).sum().backward()
            step()
            scheduler.step()
    ```

    ## Versions
    Measured over 11 steps with a scheduler: 1 recompilation on torch 2.6, 2.9, 2.13 and 2.15, none with a
    tensor. Up to 2.5, one at every step until the limit (as PyTorch's documentation of that time says).
    """

    code = "PTR201"
    name = "float-lr"
    ops = tuple(f"call torch.optim.{optimizer}" for optimizer in DEFAULTS)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        rate = op.arg("lr", 1)
        if "tensor" in rate or ("lr" not in op.args and "**" in op.args):
            return False
        # A rate that nothing is known of is a number, where the program sets it or has a schedule.
        return "step in region" in op.uses and ("unknown" not in rate or _changes(op))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        optimizer = op.name.rsplit(".", 1)[-1]
        scheduler = next((u[len(SCHEDULER) :] for u in sorted(op.uses) if u.startswith(SCHEDULER)), None)
        rate = self.rate(node)
        if rate is None and any(a.star for a in node.args):
            return
        what = f"`{self.text(rate)}`" if rate is not None else f"the default {DEFAULTS[optimizer]}"
        cost = (
            "the compiled step is compiled once more at the first change"
            if self.function.target >= (2, 6)
            else "the compiled step is compiled again at every change, until the recompile limit"
        )
        if scheduler is not None:
            because = f", and `{scheduler}` changes it: {cost}"
        elif "set lr" in op.uses:
            because = f', and `group["lr"]` is assigned: {cost}'
        else:
            because = f": if it changes, {cost}"
        if not _changes(op):
            op = op._replace(sure=False)  # most rates without a scheduler in sight stay what they are
        self.report(
            node,
            op,
            f"the learning rate of `{optimizer}`, {what}, is a Python number{because}",
            fixes=self.fixes(node, rate, op, optimizer, scheduler),
            severity="warning" if _changes(op) and "unknown" not in op.arg("lr", 1) else "note",
        )

    def rate(self, node: cst.Call) -> cst.BaseExpression | None:
        for i, a in enumerate(node.args):
            if a.keyword.value == "lr" if a.keyword is not None else i == 1 and not a.star:
                return a.value
        return None

    def fixes(
        self, node: cst.Call, rate: cst.BaseExpression | None, op: Op, optimizer: str, scheduler: str | None
    ) -> tuple[Fix, ...]:
        """None where a tensor would change the rates, or be replaced by a float again."""
        groups = "dict" in op.arg("params", 0)
        loses = scheduler in ("SequentialLR", "ReduceLROnPlateau") and self.function.target < KEEPS_TENSORS
        if "set lr" in op.uses or groups or loses:
            return ()
        if any(a.star for a in node.args) or not node.args:
            return ()
        foreach = op.arg("foreach") not in ("", "none", "constant False")
        if optimizer in ("Adam", "AdamW") and foreach and op.arg("capturable") != "constant True":
            return ()
        tensor = self.local_name("torch.tensor")
        imports = [] if tensor else [self.import_edit("import torch")]
        tensor = tensor or "torch.tensor"
        if rate is not None:
            edits = [self.edit(rate, f"{tensor}({self.text(rate)})")]
        else:
            edits = [*with_argument(self.function, node, f"lr={tensor}({DEFAULTS[optimizer]})")]
        return (
            self.fix(
                "Make the learning rate a tensor, which is an input of the compiled step. It then has single "
                "precision, the saved state holds a tensor, and parameter groups without a rate of their own share it.",
                *imports,
                *edits,
            ),
        )


def _changes(op: Op) -> bool:
    """Whether the program changes the rate of the optimizer that is made."""
    return "set lr" in op.uses or any(use.startswith(SCHEDULER) for use in op.uses)
