from __future__ import annotations

from types import MappingProxyType
from typing import Any

import libcst as cst

from pt2lint.finding import Severity
from pt2lint.op import Op
from pt2lint.rule import Rule, breaks_on, calls, is_tensor
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import walk

OF_TENSORS = ("call torch.Tensor.item", "call builtins.float", "call builtins.int")
CLOCKS = calls("time", "time perf_counter monotonic process_time")
# From and up to which torch the graph ends at a number that the text shows as it is.
BREAKS = ((2, 13), (2, 15))


class FormattedNumber(Rule):
    """An f-string's format of a number that is another one at every call.

    ## What happens
    After a graph break, what `loss.item()` or the clock returned is a number that the code after the break is given.
    From the second number on, Dynamo computes with a symbol for it, and formats the symbol, which is no number:
    `f"{loss.item():.4f}"` fails with an internal error (`InternalTorchDynamoError`: Unknown format code 'f'). The first
    call goes well. `f"{loss}"`, `"%.4f" % loss` and `"{:.4f}".format(loss)` do not fail.

    ## Example
    ```python
    import torch

    log = []

    @torch.compile
    def step(x):
        loss = (x * 2).mean()
        value = loss.item()
        log.append(f"{100 * value:.1f} %")
        return loss + 1

    def run():
        for i in range(3):
            step(torch.ones(3) * i)
        return log[-3:]
    ```

    ## Use instead
    Format it after the compiled code:
    ```python
    import torch

    log = []

    @torch.compile
    def step(x):
        loss = (x * 2).mean()
        return loss, loss + 1

    def run():
        for i in range(3):
            loss, _ = step(torch.ones(3) * i)
            log.append(f"{100 * loss.item():.1f} %")
        return log[-3:]
    ```

    ## Versions
    Measured: fails on torch 2.6, 2.9, 2.13 and 2.15. On 2.13 only what is computed with the number in the text fails,
    as in the example: at a number as it is (`f"loss {loss:.4f}"`) the graph ends; where the text has nothing else
    (`f"{loss:.4f}"`), it loses its format, and all its digits are shown.
    """

    code = "PTS356"
    name = "formatted-number"
    instead = MappingProxyType(
        {"": 'Format it by `%`, as in `"%.4f" % loss`; or return it, and format it after the compiled code'}
    )
    severity = "error"
    ops = (*OF_TENSORS, *CLOCKS)
    asks_what_is_left = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.inside or op.caller:
            return False  # the function is left to Python
        return op.name not in OF_TENSORS[1:] or is_tensor(op.arg(0))

    def concerns(self, op: Op) -> bool:
        return not self.function.is_left and breaks_on(op.name, self.function.target, op.whole)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        body = function_around(self.function, node)
        if body is None or not (formatted := self.formatted_in(body)):
            return
        numbers = self.made_of(node, body)
        for part in formatted:
            if self.is_number(part.expression, node, numbers) and self.is_compiled_after(part, body):
                self.told(part, node, op, numbers)

    def formatted_in(self, body: cst.FunctionDef) -> list[cst.FormattedStringExpression]:
        """What f-strings of the function format as numbers alone are."""
        known: dict[cst.CSTNode, Any] = self.function.memo.setdefault("formatted", {})
        if body not in known:
            parts = (part for part in walk(body) if isinstance(part, cst.FormattedStringExpression))
            known[body] = [part for part in parts if _has_type(part)]
        found: list[cst.FormattedStringExpression] = known[body]
        return found

    def told(self, part: cst.FormattedStringExpression, node: cst.CSTNode, op: Op, numbers: set[str]) -> None:
        text: cst.CSTNode = part
        around = self.function.parent(part)
        while isinstance(around, cst.FormattedString | cst.ConcatenatedString):
            text, around = around, self.function.parent(around)
        if not isinstance(around, cst.Arg):
            return  # a text that is only kept is made when somebody asks for it
        what = "fails with an internal error of Dynamo"
        severity: Severity | None = None
        if BREAKS[0] <= self.function.target < BREAKS[1]:
            shown = [
                p
                for p in walk(text)
                if isinstance(p, cst.FormattedStringExpression | cst.FormattedStringText)
            ]
            plain = [
                p
                for p in shown
                if isinstance(p, cst.FormattedStringExpression)
                and not isinstance(p.expression, cst.BinaryOperation)
                and self.is_number(p.expression, node, numbers)
            ]
            if plain and (part not in plain or len(shown) > 2):  # the format's text is one of these
                return
            if plain:
                what, severity = "shows all its digits", "note"
        self.report(
            part.expression,
            op,
            f"{self.quote(part.expression)} is another number at every call: from the second one on, an f-string that "
            f"formats it {what}",
            severity=severity,
        )

    def made_of(self, node: cst.CSTNode, body: cst.FunctionDef) -> set[str]:
        """The names that are the number, or computed of it."""
        found: set[str] = set()
        for part in walk(body):
            if isinstance(part, cst.Assign) and self.is_number(part.value, node, found):
                found |= {t.target.value for t in part.targets if isinstance(t.target, cst.Name)}
        return found

    def is_number(self, value: cst.BaseExpression, node: cst.CSTNode, numbers: set[str]) -> bool:
        """Whether it is what the operation returns, a name for that, or arithmetic with it."""
        if isinstance(value, cst.BinaryOperation):
            return self.is_number(value.left, node, numbers) or self.is_number(value.right, node, numbers)
        return value is node or (isinstance(value, cst.Name) and value.value in numbers)

    def is_compiled_after(self, part: cst.CSTNode, body: cst.FunctionDef) -> bool:
        """Whether a tensor or a module is used further down: code that has neither, Dynamo leaves to Python."""
        end = self.function.range(self.statement(part))[2]
        words = (self.function.kinds or dict)()
        for name in names(body):
            place = self.function.range(name)
            if place[0] > end and any(k in words.get(place, "") for k in ("tensor", "module")):
                return True
        return False


def _has_type(part: cst.FormattedStringExpression) -> bool:
    """Whether the format is one of numbers alone: `.4f`, `3d`."""
    last = part.format_spec[-1] if part.format_spec else None
    return isinstance(last, cst.FormattedStringText) and last.value[-1] in "dfFeEgG%"
