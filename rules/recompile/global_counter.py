from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.loop_turns import Turns, turns_around
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import walk

# From here on a number that is only counted up is not guarded on (2.13 guards, 2.15 does not).
UNUSED_IS_FREE = (2, 15)
ITERATORS = (2, 13)  # before, the graph ends where `next` is called of a global `itertools.count()`
OF_CLASSES = (2, 13)  # before, the graph ends where an attribute of a class is set


class GlobalCounter(Rule):
    """A global int changes at every call of a compiled function.

    ## What happens
    Dynamo guards on the value of a global number. A function that counts in one fails its own guard at the next
    call and is compiled again, until the recompile limit; from then on it runs without compiling. So does one that
    code outside sets in every iteration (`STEP = n`), the variable of a loop at the top of a script (`for step in
    range(n)`), and an attribute of an object that is a global (`config.step = n`, `clock.tick()`), or a place in a list
    or a dictionary that is one, of this file, another file or a class (`STATE["step"] = n`), whether outside or in what
    is compiled (`STATE["step"] += 1`, `OPTIMIZER.step()` that counts in a group), and a number that compiled code
    counts in a class (`Net.calls += 1`, `type(self).calls += 1`), or that it takes of an `itertools.count()` which
    outlives the call (`next(STEPS)`). A tensor's value is not guarded on, and an attribute, an entry or a place of what
    is no module and no global costs one recompilation only.

    ## Example
    ```python
    import torch

    calls = 0

    @torch.compile
    def f(x):
        global calls
        calls += 1
        return x / calls

    def run():
        for _ in range(11):
            f(torch.ones(3))
    ```

    ## Use instead
    Count where nothing is compiled, and pass a tensor:
    ```python
    import torch

    calls = 0

    @torch.compile
    def f(x, calls):
        return x / calls

    def run():
        global calls
        for _ in range(11):
            calls += 1
            f(torch.ones(3), torch.tensor(calls))
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15, whether the function
    counts or code outside sets the number; none on 2.15 where the function only counts and does not use it. A float
    costs 1. Places in lists and dictionaries: measured on 2.13. A number in a class: on 2.13 and 2.15 (on 2.6 and 2.9
    setting it ends the graph); `next` of an `itertools.count()` the same.
    """

    code = "PTR203"
    name = "global-counter"
    instead = MappingProxyType({"": "Count where nothing is compiled, and pass the number as a tensor"})
    about_guards = True
    asks_what_is_left = True
    ops = ("change global", "set global of compiled")
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "set global of compiled":
            self.set_outside(node, op)
            return
        if self.function.target >= UNUSED_IS_FREE and not self.used(node):
            return
        if isinstance(node, cst.Call):
            if self.function.target >= ITERATORS:
                self.report(
                    node,
                    op,
                    f"`{self.text(node)}` gives another number at every call, and Dynamo guards on where the iterator "
                    "is: a recompilation at every call, and eager from the limit on",
                )
            return
        of_class = bool(op.detail("of"))
        if of_class and self.function.target < OF_CLASSES:
            return  # the graph ends there
        what = "a number of a class" if of_class else "a global number"
        if op.detail("in"):
            what = f"a number in a global {op.detail('in')}"
        self.report(
            node,
            op,
            f"`{self.text(node)}` is {what} that compiled code changes: a recompilation at every call, and "
            "eager from the limit on",
        )

    def set_outside(self, node: cst.CSTNode, op: Op) -> None:
        """Each turn of a loop, here or of a caller, sets it to another number."""
        turns = turns_around(self.function, node, op.detail("counts").split())
        statement = self.function.parent(node)
        if isinstance(statement, cst.AssignTarget):
            statement = self.function.parent(statement)
        if isinstance(statement, cst.AugAssign):
            changes = isinstance(statement.value, cst.Integer)
        elif op.detail("by"):  # `clock.tick()`
            changes = isinstance(statement, cst.Expr) and op.arg(0) == "int"
        elif self.is_target(node):
            turns, changes = Turns(self.function, node, (self.text(node),)), True
        else:
            changes = isinstance(statement, cst.Assign) and turns.number(statement.value)
        if not changes or not (turns.loops or turns.parameters):
            return
        self.report(
            node,
            self.led_to(op, op.detail("at"), f"`{op.detail('to')}` reads it"),
            f"{self.quote(node)} is another number in every iteration, which `{op.detail('to')}` reads as a constant: "
            "a recompilation at each, and eager from the limit on; passed as an argument it costs one",
        )

    def is_target(self, node: cst.CSTNode) -> bool:
        """Whether a loop binds the name: `for step in range(n)`, `for step, batch in enumerate(loader)`."""
        here, outer = node, self.function.parent(node)
        while isinstance(outer, cst.Tuple | cst.Element):
            here, outer = outer, self.function.parent(outer)
        return isinstance(outer, cst.For) and outer.target is here

    def used(self, node: cst.CSTNode) -> bool:
        """Whether the function reads the number other than to count."""
        here = function_around(self.function, node)
        if here is not None and isinstance(node, cst.Attribute):
            name = node.attr.value
            parts = [p for p in walk(here.body) if isinstance(p, cst.Attribute) and p.attr.value == name]
            return len(parts) > 1
        if here is None or not isinstance(node, cst.Name):
            return True
        name = node.value
        reads = [n for n in names(here.body) if n.value == name and not self.counting(n)]
        return bool(reads)

    def counting(self, name: cst.Name) -> bool:
        here = self.function.parent(name)
        return isinstance(here, cst.AugAssign | cst.NameItem | cst.AssignTarget)
