from __future__ import annotations

from types import MappingProxyType
from typing import Any

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, breaks_on, calls, is_tensor
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import walk

OF_TENSORS = ("call torch.Tensor.item", "call builtins.float", "call builtins.int")
CLOCKS = calls("time", "time perf_counter monotonic process_time")


class NumberAfterBreak(Rule):
    """A number that a graph break reads out is a constant of the code after the break, until it changes.

    ## What happens
    What `t.item()`, `float(t)` or the clock returns reaches the code after the break as a plain Python number.
    Where that code computes with it, or keeps it until after the next break, Dynamo compiles it for exactly that
    number, and at the next call, which has another, once more, now for any. It costs one compilation beyond the
    break. Where the number decides how often a loop turns or which element is taken, it costs one each time.

    ## Example
    ```python
    import torch

    @torch.compile
    def scaled(x):
        largest = x.abs().max().item()
        return x * 2 / largest

    def run():
        for i in range(1, 12):
            scaled(torch.ones(3) * i)
    ```

    ## Use instead
    A 0-dim tensor is as good for arithmetic, and there is no break:
    ```python
    import torch

    @torch.compile
    def scaled(x):
        largest = x.abs().max()
        return x * 2 / largest

    def run():
        for i in range(1, 12):
            scaled(torch.ones(3) * i)
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation, 2 for a time that is compared with a
    later one (1 on 2.15), 1 for each of `return a.item(), b.item(), c.item()` but the last; none for a single number
    that is returned as it is.
    """

    code = "PTR221"
    name = "number-after-break"
    instead = MappingProxyType(
        {
            "": "Keep it in its tensor, which computes as the number does: then there is no break either",
            "call time.": "Take the time around the call of the compiled function: then there is no break either",
        }
    )
    severity = "note"
    ops = (*OF_TENSORS, *CLOCKS)
    asks_what_is_left = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.inside:
            return False  # the whole function is left to Python, and guards on nothing
        return op.name not in OF_TENSORS[1:] or is_tensor(op.arg(0))

    def concerns(self, op: Op) -> bool:
        """What breaks in a loop leaves the function to Python, which guards on nothing. What calls it in a loop is left
        to Python, and the function is compiled by itself."""
        return not self.function.is_left

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not breaks_on(op.name, self.function.target, op.whole):
            return
        body = function_around(self.function, node)
        if body is None or self.is_waited_for(op):
            return  # of what is waited for PTR232 tells what that costs, which is more
        arithmetic = self.arithmetic_in(body)
        if self.is_computed_with(node, arithmetic) or self.waits_for_another(node, op):
            self.report(
                node,
                op,
                f"{self.quote(node)} is another number at every call: what comes after the break is compiled for the "
                "first one, and then again for any",
            )

    def is_waited_for(self, op: Op) -> bool:
        """Whether it stands in the arguments of a method of a list, a dictionary or a text."""
        at, end = (op.line, op.column), (op.end_line, op.end_column)
        return any(
            (o.line, o.column) <= at and end <= (o.end_line, o.end_column)
            for o in self.function.ops
            if o.name == "wait for argument" and o.detail("of") == "builtin"
        )

    def arithmetic_in(self, body: cst.CSTNode) -> list[tuple[int, set[str]]]:
        """The line and the names of each operation of two sides in a function."""
        known: dict[cst.CSTNode, Any] = self.function.memo.setdefault("arithmetic", {})
        if body not in known:
            known[body] = [
                (self.function.range(part)[0], {n.value for s in (part.left, part.right) for n in names(s)})
                for part in walk(body)
                if isinstance(part, cst.BinaryOperation)
            ]
        found: list[tuple[int, set[str]]] = known[body]
        return found

    def is_computed_with(self, node: cst.CSTNode, arithmetic: list[tuple[int, set[str]]]) -> bool:
        """Whether arithmetic further down takes the number. What takes it on the spot shows it as it is."""
        parent = self.function.parent(node)
        if not isinstance(parent, cst.Assign):
            return False
        line = self.function.range(node)[0]
        bound = {t.target.value for t in parent.targets if isinstance(t.target, cst.Name)}
        return any(at > line and not bound.isdisjoint(taken) for at, taken in arithmetic)

    def waits_for_another(self, node: cst.CSTNode, op: Op) -> bool:
        """`return a.item(), b.item()`: the first is kept while the second breaks. Told once a statement."""
        *first, end_line, end_column = self.function.range(self.statement(node))
        own = [
            (other.line, other.column)
            for other in self.function.ops
            if other.name in self.ops and self.accepts(other) and other.region
            if tuple(first) <= (other.line, other.column) < (end_line, end_column)
        ]
        return min(own) == (op.line, op.column) and max(own) > (op.end_line, op.end_column)
