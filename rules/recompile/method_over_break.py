from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import UNDER, Finding
from pt2lint.fixes.repairs.computed_first import computed_first
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import dotted, function_around
from pt2lint.rule.tree import walk

ALL = "builtin"  # on every torch: a method of a list, a dictionary, a set or a text
GUARDED = (2, 13)  # before, a method of a tensor or of a module was another one at each call, too


class MethodOverBreak(Rule):
    """A graph break in the arguments of a method: what comes after it is compiled anew at every call.

    ## What happens
    Python looks up a method before it computes what the method is given: `kept.append` is bound first, then
    `x.max().item()` breaks the graph. Dynamo hands the bound method of a list, a dictionary, a set or a text to the
    code after the break. Python binds a new one at each call, so the guard on it fails each time: that code is compiled
    again until the recompile limit, and from then on it runs without being compiled. With the value under a name
    first, nothing waits.

    ## Example
    ```python
    import torch

    @torch.compiler.disable
    def looked_up(x):
        return x * 3

    @torch.compile
    def joined(x):
        parts = [x]
        parts.append(looked_up(x))
        return torch.cat(parts) * 2

    def run():
        for _ in range(11):
            joined(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compiler.disable
    def looked_up(x):
        return x * 3

    @torch.compile
    def joined(x):
        parts = [x]
        found = looked_up(x)
        parts.append(found)
        return torch.cat(parts) * 2

    def run():
        for _ in range(11):
            joined(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 8 recompilations, and then eager, for methods of lists,
    tuples, dictionaries, sets, deques and texts, made by the function or from elsewhere, whatever breaks; none where
    nothing is computed with tensors after the break, and for `kept[0] = x.item()` and `kept += [x.item()]`. On 2.6 and
    2.9 also for methods of tensors (`x.masked_fill(mask, y.item())`) and of modules (`self.part(x, y.item())`).
    """

    code = "PTR232"
    name = "method-over-break"
    instead = MappingProxyType(
        {"": "Compute what breaks the graph in a statement of its own, and give the method its name"}
    )
    ops = ("wait for argument",)
    about_guards = True
    asks_what_is_left = True

    def concerns(self, op: Op) -> bool:
        if op.inside or not op.after:
            return False  # the function is left to Python; nothing is compiled after the break
        if op.detail("of") != ALL and self.function.target >= GUARDED:
            return False
        return any(
            (self.function.path, line) in self.function.ends for line in range(op.line, op.end_line + 1)
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        if len(op.flow) > 1 and not self.computes_after(node):
            return  # it is compiled by itself: what its caller computes is no part of that
        # What a generator computes comes once the method runs.
        given = [argument for argument in node.args if not isinstance(argument.value, cst.GeneratorExp)]
        broken = {argument: ends for argument in given for ends in self.ends(argument)}
        if not broken:
            return
        ends = next(iter(broken.values()))
        when = tuple(dict.fromkeys((*op.when, *ends.when)))
        # Who takes the break out has nothing wait for it.
        mended = any(fix.edits and not fix.is_workaround for fix in ends.fixes)
        op = op._replace(when=when, rare=op.rare or ends.note or (f"{UNDER}{ends.line}" if mended else ""))
        if (ends.path, ends.line) != (self.function.path, op.line):
            op = self.led_to(op, f"{ends.path}:{ends.line}", "the graph ends here")
        self.report(
            node,
            op,
            f"{self.quote(node.func)} waits while the graph breaks in what it is given, and is another method at every "
            "call: what comes after is compiled again each time, up to the limit of 8",
            fixes=computed_first(self.function, node, [*broken]),
        )

    def computes_after(self, node: cst.Call) -> bool:
        """Whether the function itself computes with tensors behind the call, as far as that shows: by an operator, by
        torch, by a part of its object."""
        end = self.function.range(node)[2:]
        around = function_around(self.function, node)
        return around is not None and any(
            self.function.range(part)[:2] >= end
            for part in walk(around.body)
            if isinstance(part, cst.BinaryOperation)
            or (isinstance(part, cst.Call) and self.is_of_tensors(dotted(part.func)))
        )

    def is_of_tensors(self, called: str) -> bool:
        first, _, rest = called.partition(".")
        return bool(rest) and (first == "self" or self.function.imports.get(first, "").startswith("torch"))

    def ends(self, argument: cst.Arg) -> Iterator[Finding]:
        """The breaks in an argument, and those to which a call there leads."""
        first, column, last, end = self.function.range(argument.value)
        for line in range(first, last + 1):
            for ends in self.function.ends.get((self.function.path, line), ()):
                if (ends.path, ends.line) == (self.function.path, line):
                    inside = (first, column) <= (line, ends.column) <= (last, end)
                else:
                    inside = any(self.leads(part, ends, line) for part in walk(argument.value))
                if inside:
                    yield ends

    def leads(self, part: cst.CSTNode, ends: Finding, line: int) -> bool:
        """Whether that is the call in the line which leads to the break."""
        if not isinstance(part, cst.Call) or self.function.range(part)[0] != line:
            return False
        called = part.func.attr.value if isinstance(part.func, cst.Attribute) else dotted(part.func)
        steps = (step for step in ends.flow[1:] if (step.path, step.line) == (self.function.path, line))
        return any(re.search(rf"\b{called}`", step.message) for step in steps)
