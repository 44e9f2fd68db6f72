from __future__ import annotations

import ast
from types import MappingProxyType

import libcst as cst

from pt2lint.fixes.nodes import enclosing_function
from pt2lint.op import Op
from pt2lint.rule.compiled_call import CompiledCall
from pt2lint.rule.loop_syntax import unconditional
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, says_none, walk


class NoneAtFirst(CompiledCall):
    """Each compiled call in a loop is given what the last one left, and the first is given None.

    ## What happens
    Dynamo guards on what an argument is. The first call of the loop finds None, the second one what the first one
    returned, or what else the turn left, and is compiled again; where that grows, as a cache of keys and values
    does, the third one once more, for any length. A cache of a fixed size that is made before the loop, and written
    to by position, is compiled for once. The same goes for an attribute that begins as None (`self.hidden = None`),
    where what the call returns is kept for the next one.

    ## Example
    ```python
    import torch

    @torch.compile
    def step(x, past=None):
        past = x if past is None else torch.cat([past, x], 1)
        return past.mean(1), past

    def run():
        past = None
        for _ in range(11):
            y, past = step(torch.ones(2, 1), past)
        return y
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def step(x, past, at):
        past = past.index_copy(1, at, x)
        return past.sum(1) / (at + 1), past

    def run():
        past = torch.zeros(2, 11)
        for n in range(11):
            y, past = step(torch.ones(2, 1), past, torch.tensor([n]))
        return y
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 2 recompilations for a cache that grows, 1 for a state that
    does not, none for one that is a tensor of a fixed size from the start.
    """

    code = "PTR225"
    name = "none-at-first"
    instead = MappingProxyType({"": "Begin with a tensor of the final shape, and write into it by position"})
    severity = "note"

    def looked_at(self, node: cst.Call, op: Op) -> None:
        super().looked_at(node, op)
        for argument in self.arguments(node, op):
            value = argument.value
            if argument.use or "none" in argument.word.split(" | "):
                if isinstance(value, cst.Attribute) and self.is_kept(node, value):
                    self.report(
                        value,
                        self.shown(op, argument.key, "is used here"),
                        f"{self.quote(value)} is None at first, and then what the call before returned: "
                        f"{self.callee(op)} is compiled for each of these once",
                    )

    def is_kept(self, node: cst.Call, place: cst.Attribute) -> bool:
        """`h, self.state = model(x, self.state)`, where a method of the file says `self.state = None`, and the method
        at hand makes nothing else of it before."""
        text = self.text(place)
        targets = [
            (part, target)
            for part in walk(self.function.module)
            if isinstance(part, cst.Assign)
            and enclosing_function(self.function, part) is enclosing_function(self.function, node)
            for whole in part.targets
            for target in (
                [e.value for e in whole.target.elements]
                if isinstance(whole.target, cst.Tuple)
                else [whole.target]
            )
            if isinstance(target, cst.Attribute) and self.text(target) == text
        ]
        if len(targets) != 1 or targets[0][0].value is not node:
            return False
        tree = self.function.file_tree or ast.parse(self.function.source)
        return any(
            isinstance(part, ast.Assign | ast.AnnAssign)
            and isinstance(part.value, ast.Constant)
            and part.value.value is None
            and any(
                ast.unparse(target) == text
                for target in (part.targets if isinstance(part, ast.Assign) else [part.target])
            )
            for part in ast.walk(tree)
        )

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        for argument in self.arguments(node, op):
            value = argument.value
            if not isinstance(value, cst.Name) or not self.may_be_none(value.value):
                continue
            if op.detail(f"longer {argument.key}") and self.is_fed_back(node, value):
                continue  # PTR210 tells it: each length is compiled again
            carried = [self.carried(value.value, node, loop) for loop in turns.loops]
            if "returned" in carried:
                then = "what the call before returned"
            elif "bound" in carried and argument.use:
                then = "what the turn before bound it to"
            else:
                continue
            grows = ", and where that grows once again" if "returned" in carried else ""
            self.report(
                value,
                self.shown(op, argument.key, "is used here"),
                f"{self.quote(value)} is None at first, and then {then}: {self.callee(op)} is compiled once "
                f"more{grows}",
            )

    def may_be_none(self, name: str) -> bool:
        """Whether the function sets the name to None somewhere."""
        memo = self.function.memo
        if "set to None" not in memo:
            memo["set to None"] = {
                n.value
                for part in walk(self.function.module)
                if isinstance(part, cst.Assign)
                for target in part.targets
                for n in names(target.target)
                if says_none(_given(part, n.value))
            }
        return name in memo["set to None"]

    def carried(self, name: str, node: cst.Call, loop: cst.For | cst.While) -> str:
        """Whether each turn binds the name to what the call returned, or to a part of that ("returned"), or after the
        call to anything else ("bound"), and nothing but None is bound to it before; else ""."""
        returned: set[str] = set()
        inside: list[cst.Assign] = []
        outside: list[cst.BaseExpression] = []
        within = {id(part) for part in walk(loop)}
        own = enclosing_function(self.function, node)
        for part in walk(self.function.module):
            if not isinstance(part, cst.Assign) or enclosing_function(self.function, part) is not own:
                continue
            bound = {n.value for target in part.targets for n in names(target.target)}
            if id(part) in within and (part.value is node or returned & {n.value for n in names(part.value)}):
                returned |= bound
            if name in bound:
                if id(part) in within:
                    inside.append(part)
                else:
                    outside.append(_given(part, name))
        if len(inside) != 1 or not outside or not all(says_none(value) for value in outside):
            return ""
        if name in returned:
            return "returned"
        after = self.function.range(inside[0])[0] > self.function.range(node)[0]
        other = isinstance(inside[0].value, cst.Call | cst.Subscript | cst.BinaryOperation)
        return "bound" if after and other and unconditional(self.function, inside[0], loop) else ""


def _given(assignment: cst.Assign, name: str) -> cst.BaseExpression:
    """What the name is given: of `x, past = y, None` its own part."""
    target, value = assignment.targets[0].target, assignment.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
        for one, given in zip(target.elements, value.elements, strict=False):
            if is_name(one.value, name):
                return given.value
    return value
