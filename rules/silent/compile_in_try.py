from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.settings import COMPILES


class CompileInTry(Rule):
    """`torch.compile` compiles at the first call: an `except` around it does not see what fails then.

    ## What happens
    `torch.compile` only wraps what it is given. Dynamo and the backend run at the first call, and raise there. What
    stands in the `except` to fall back on (the plain model, another backend) is only reached where torch.compile is
    not supported at all, or refuses its arguments. Make the first call inside the `try`, with inputs like those to
    come.

    ## Example
    ```python
    import torch

    def backend(graph, inputs):
        raise RuntimeError("no compiler is installed")

    def f(x):
        return x * 2

    def prepare():
        try:
            compiled = torch.compile(f, backend=backend)
        except Exception:
            compiled = torch.compile(f, backend="eager")
        return compiled

    def run():
        return prepare()(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    def backend(graph, inputs):
        raise RuntimeError("no compiler is installed")

    def f(x):
        return x * 2

    def prepare():
        try:
            compiled = torch.compile(f, backend=backend)
            compiled(torch.ones(3))
        except Exception:
            compiled = torch.compile(f, backend="eager")
        return compiled

    def run():
        return prepare()(torch.ones(3))
    ```

    ## Versions
    Measured: the backend's error leaves the `try` unseen on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS325"
    name = "compile-in-try"
    ops = COMPILES
    anywhere = True
    instead = MappingProxyType(
        {"": "Call what it returns within the `try`, once, with inputs like those to come"}
    )
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.inside == "try" and not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        here: cst.CSTNode = node
        statement: cst.CSTNode | None = None
        while not isinstance(here, cst.Try):
            outer = self.function.parent(here)
            if outer is None or isinstance(
                outer, cst.FunctionDef | cst.Lambda | cst.ExceptHandler | cst.Finally
            ):
                return
            if isinstance(outer, cst.With | cst.For | cst.While):
                return
            statement = here if isinstance(here, cst.SimpleStatementLine) else statement
            here = outer
        if not isinstance(node, cst.Call) or statement is None or not here.handlers:
            return
        if any(_raises(handler) for handler in here.handlers) or self.used(node, statement, here):
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} compiles at the first call: what fails then is raised there, not in this `try`",
        )

    def used(self, node: cst.Call, statement: cst.CSTNode, holder: cst.Try) -> bool:
        """Whether the `try` goes on with what was compiled, or gives it away as it stands: it may be called."""
        assignment = self.function.parent(node)
        if isinstance(assignment, cst.Assign) and len(assignment.targets) == 1:
            target = self.text(assignment.targets[0].target)
        elif isinstance(assignment, cst.Return):
            return False
        elif isinstance(assignment, cst.Expr) and isinstance(node.func, cst.Attribute):
            target = self.text(node.func.value)  # `model.compile()`
        else:
            return True
        first = self.function.range(statement)[2]
        later = [*_calls(holder.body), *(_calls(holder.orelse) if holder.orelse is not None else [])]
        return any(
            self.function.range(call)[0] > first
            and any(target == self.text(part) for part in (call.func, *(a.value for a in call.args)))
            for call in later
        )


def _raises(handler: cst.ExceptHandler) -> bool:
    """Whether the handler lets the exception through, or looks for what cannot be imported."""
    kinds = handler.type
    imports = isinstance(kinds, cst.Name) and kinds.value in (
        "ImportError",
        "ModuleNotFoundError",
        "AttributeError",
    )
    lines = handler.body.body
    last = lines[-1] if lines else None
    raised = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)
    return imports or raised


def _calls(node: cst.CSTNode) -> list[cst.Call]:
    found = [node] if isinstance(node, cst.Call) else []
    for child in node.children:
        found += _calls(child)
    return found
