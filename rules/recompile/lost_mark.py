from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name
from pt2lint.said import told_line

MARKS = ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked", "mark_static")


class LostMark(Rule):
    """A tensor's size is marked as dynamic, and another tensor is given to the compiled function.

    ## What happens
    `torch._dynamo.mark_dynamic(x, dim)` says of the tensor object `x` that its size changes. A tensor that is made of
    it, by `x.double()`, `x.to(device)`, `x.detach()` or arithmetic, carries no mark: the compiled function is compiled
    for the first size and then again, as if nothing had been said. (`x.to(device)` is `x` itself where there is nothing
    to convert, and then has the mark.) Mark last, right before the call.

    ## Example
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        for n in range(3, 14):
            x = torch.ones(n, 3)
            torch._dynamo.mark_dynamic(x, 0)
            x = x.double()
            f(x)
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        for n in range(3, 14):
            x = torch.ones(n, 3)
            x = x.double()
            torch._dynamo.mark_dynamic(x, 0)
            f(x)
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation; none where the tensor itself is marked.
    """

    code = "PTR229"
    name = "lost-mark"
    ops = tuple(
        f"call {home}.{mark}" for home in ("torch._dynamo", "torch._dynamo.decorators") for mark in MARKS
    )
    anywhere = True
    severity = "note"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not node.args:
            return
        marked = node.args[0].value
        if isinstance(marked, cst.Call):
            if isinstance(marked.func, cst.Attribute) and op.arg(0).startswith("tensor"):
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} marks what {self.quote(marked)} returns, which nothing holds: give it a name, "
                    "mark that, and pass it",
                )
        elif isinstance(marked, cst.Name) and (made := self.given_instead(node, marked.value)) is not None:
            line = self.function.range(made)[0]
            self.report(
                node,
                op,
                f"{self.quote(node)} is lost: compiled code is given what {self.quote(made)} in line "
                f"{told_line(line)} makes of `{marked.value}`, which carries no mark; mark that",
            )

    def given_instead(self, mark: cst.Call, name: str) -> cst.BaseExpression | None:
        """What is made of the marked tensor, in a later line of the same block, and given to compiled code instead."""
        made: cst.BaseExpression | None = None
        for statement in self.after(mark):
            begin, _, end, _ = self.function.range(statement)
            for call in self.compiled_calls(begin, end):
                for given in (a.value for a in call.args):
                    if is_name(given, name):
                        return made
                    if made is None and isinstance(given, cst.Call) and _makes_of(given) == name:
                        return given
            for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
                if isinstance(part, cst.Assign) and any(is_name(t.target, name) for t in part.targets):
                    made = part.value if any(n.value == name for n in names(part.value)) else None
                    if made is None or is_name(made, name) or (isinstance(made, cst.Call) and _is_same(made)):
                        return None
                elif isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
                    if any(o.name in self.ops for o in self.function.ops_at(part.value)):
                        if part.value.args and is_name(part.value.args[0].value, name):
                            return None  # marked once more
        return None

    def after(self, mark: cst.Call) -> Iterator[cst.CSTNode]:
        """The statements of the mark's block that come after it."""
        line = self.function.parent(self.function.parent(mark) or mark)
        block = self.function.parent(line) if line is not None else None
        if not isinstance(block, cst.IndentedBlock | cst.Module):
            return
        seen = False
        for statement in block.body:
            if seen:
                yield statement
            seen = seen or statement is line

    def compiled_calls(self, begin: int, end: int) -> Iterator[cst.Call]:
        """The calls of compiled code in these lines, in order."""
        for op in self.function.ops:
            if op.name == "call compiled" and begin <= op.line <= end:
                call = self.function.node_at(op.range)
                if isinstance(call, cst.Call):
                    yield call


def _makes_of(call: cst.Call) -> str:
    """`x` of `x.double()`, and of `x.detach().double()`."""
    node: cst.BaseExpression = call
    if _is_same(call):
        return ""
    while isinstance(node, cst.Call | cst.Attribute):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def _is_same(call: cst.Call) -> bool:
    """Whether it returns the tensor itself: `x.requires_grad_()`, and mostly `x.contiguous()`."""
    word = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    return word.endswith("_") or word == "contiguous"
