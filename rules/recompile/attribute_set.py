from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.fixes.by_hand import told
from pt2lint.op import SHRINKS, Op
from pt2lint.rule import Rule
from pt2lint.rule.loop_turns import Turns, turns_around
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import walk

OF_TEXT = "Decide by the text where nothing is compiled: keep a part for each, and call that"
# On 2.6 a whole number that a module holds becomes an input of the graph once it has changed.
INT_IS_CONSTANT = (2, 7)


class AttributeSet(Rule):
    """A loop sets an attribute of a compiled module to another number or string in every iteration.

    ## What happens
    Dynamo takes the int and string attributes of an `nn.Module` for constants and guards on those that the compiled
    code reads. A loop that sets one (`model.step = step`, `model.set_epoch(epoch)`, a dropout's `p`, a batch norm's
    `momentum`, also by `net.apply(...)`), or a method that is called again and again and counts (`self.model.step =
    self.step`), or a method of an object that the module holds (`self.clock.tick()`), makes the next call fail the
    guard and compile again: eight times, the recompile limit, and from then on the function runs without compiling. A
    number of an object whose own method is compiled costs one, unless it decides what the graph is. The value of a
    tensor is not guarded on: fill a buffer. Where the attribute has to stay a number,
    `torch._dynamo.config.allow_unspec_int_on_nn_module = True` makes Dynamo treat it as an input.
    So is what compiled code goes over, or asks for what it holds, and what the loop makes longer
    (`net.blocks.append(block)`, `net.active.add(name)`, `net.grow()`).

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.step = 0

        def forward(self, x):
            return x / (1 + self.step)

    net = Net()
    compiled = torch.compile(net)

    def run():
        for step in range(11):
            net.step = step
            compiled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("step", torch.tensor(0), persistent=False)

        def forward(self, x):
            return x / (1 + self.step)

    net = Net()
    compiled = torch.compile(net)

    def run():
        for step in range(11):
            net.step.fill_(step)
            compiled(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls: an int costs 8 recompilations, and then eager, on torch 2.9, 2.13 and 2.15, and 1 on 2.6;
    a string, the `p` of a dropout, the `momentum` and `eps` of a norm, a number that decides what the graph is (PTR207)
    and a list or set that grows 8 on all four. An attribute that the compiled code does not read costs none, a float
    that enters the arithmetic 1 (a note), and with `dynamic=False` 8 on 2.9, 2.13 and 2.15.
    """

    code = "PTR211"
    name = "attribute-set"
    instead = MappingProxyType(
        {
            "": "Keep it in a tensor: a buffer that `fill_` sets from outside, which compiled code reads "
            "as an input",
            "lengthen": "Make it with all that it will ever hold, and pick what counts by a tensor; or compile the "
            "parts one by one",
        }
    )
    ops = ("set attribute of compiled", "lengthen attribute of compiled")
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        texts = op.detail("texts").split()
        turns = turns_around(self.function, node, [*op.detail("counts").split(), *texts])
        if op.name.startswith("lengthen"):
            self.lengthened(node, op, turns)
            return
        what = self.changing(node, op, turns)
        strong = op.detail("use").startswith(("range", "index", "place", "constant"))
        if what is None or not turns.are_any or not self.called(node, op, turns):
            return
        becomes_input = op.detail("becomes") or op.arg(0) == "float" or self.function.target < INT_IS_CONSTANT
        steps = what != "text" and self.is_stepped(node, op, turns)
        fixed = op.detail("compile dynamic") == "constant False" and self.function.target >= INT_IS_CONSTANT
        once = not strong and not fixed and (what == "fraction" or (what == "number" and becomes_input))
        op = self.led_to(op, op.detail("at"), f"`{op.detail('to')}` reads it")
        often = "after some iterations" if steps else "in every iteration"
        kind = "text" if what == "text" else "number"
        which = f", and `{op.detail('through')}` makes it `{op.detail('sets')}`" if op.detail("sets") else ""
        says = f"`{self.text(node)}` is another {kind} {often}{which}"
        if op.detail("gives"):
            says = f"`{op.detail('through')}` sets `{op.detail('sets')}` to another {kind} {often}"
        elif op.detail("by"):
            says = f"`{self.text(node)}` makes `{op.detail('sets')}` another number {often}"
        costs = (
            "reads: it is compiled for the first, and then once more, for any"
            if once
            else "reads as a constant: a recompilation at each, and eager from the limit on"
        )
        holder = "tensor" if op.detail("becomes") else "buffer"
        none = f"; a {holder} that is filled costs none" if what != "text" else ""
        self.report(
            node,
            op,
            f"{says}, which `{op.detail('to')}` {costs}{none}",
            fixes=[told(OF_TEXT)] if what == "text" else (),
            severity="note" if once or steps else None,
        )

    def lengthened(self, node: cst.CSTNode, op: Op, turns: Turns) -> None:
        """`net.blocks.append(block)`, `net.active.add(name)`, `net.grow()`"""
        if not isinstance(node, cst.Call) or not turns.are_any or not self.called(node, op, turns):
            return
        name = op.detail("name")
        place = self.text(node.func.value) if isinstance(node.func, cst.Attribute) else ""
        shorter = any(
            isinstance(part, cst.Call)
            and isinstance(part.func, cst.Attribute)
            and part.func.attr.value in SHRINKS
            and self.text(part.func.value) in (place, f"{op.detail('head')}.{name}")
            for loop in turns.loops
            for part in walk(loop.body)
        )
        adds = (
            isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "add"
            and not op.detail("through")
        )
        if shorter or (adds and not any(turns.told(a.value) for a in node.args)):
            return
        tested = self.is_tested(node, turns)
        often = "after some iterations" if tested else "in every iteration"
        self.report(
            node,
            self.led_to(op, op.detail("at"), f"`{op.detail('to')}` reads it"),
            f"{self.quote(node)} makes `{name}` longer {often}, which `{op.detail('to')}` goes over or asks: a "
            "recompilation at each, and eager from the limit on",
            severity="note" if tested else None,
        )

    def is_tested(self, node: cst.CSTNode, turns: Turns) -> bool:
        """Whether an `if` of the loop decides at which turns it runs."""
        here = self.function.parent(node)
        while here is not None and here not in turns.loops and not isinstance(here, cst.If | cst.IfExp):
            here = self.function.parent(here)
        return isinstance(here, cst.If | cst.IfExp)

    def is_stepped(self, node: cst.CSTNode, op: Op, turns: Turns) -> bool:
        """Whether a function of which nobody knows at how many turns it gives another number makes it, or an `if`
        decides at which turns a method counts."""
        if op.detail("by"):
            return self.is_tested(node, turns)
        value = self.value(node, op)
        return value is not None and turns.helped(value) and turns.helped_by_steps(value)

    def value(self, node: cst.CSTNode, op: Op) -> cst.BaseExpression | None:
        """What the attribute is given."""
        if op.detail("gives"):
            return cst.parse_expression(op.detail("gives"))
        if op.detail("sets"):
            return node if isinstance(node, cst.BaseExpression) else None
        statement = self.function.parent(node)
        if isinstance(statement, cst.AssignTarget):
            statement = self.function.parent(statement)
        return statement.value if isinstance(statement, cst.Assign) else None

    def changing(self, node: cst.CSTNode, op: Op, turns: Turns) -> str | None:
        """Whether it is set to a "number", a "fraction" or a "text" that is another one in every iteration."""
        word = op.arg(0)
        if op.detail("by"):
            return "number" if word == "int" else "fraction"
        if op.detail("sets") and isinstance(node, cst.BaseExpression):
            return self.kind(self.value(node, op) or node, word, turns)
        statement = self.function.parent(node)
        if isinstance(statement, cst.AssignTarget):
            statement = self.function.parent(statement)
        if isinstance(statement, cst.AugAssign):
            return "number" if isinstance(statement.value, cst.Integer) else None
        if not isinstance(statement, cst.Assign):
            return None
        return self.kind(statement.value, word, turns)

    def kind(self, value: cst.BaseExpression, word: str, turns: Turns) -> str | None:
        if word == "str":
            many = turns.item(value) or turns.picks(value) or turns.number(value) or turns.text(value)
            return "text" if many else None
        if turns.picks(value) or turns.helped(value) or turns.item(value):
            return {"int": "number", "float": "fraction"}.get(word)
        if turns.number(value):
            return "number"
        return "fraction" if turns.fraction(value) else "text" if turns.text(value) else None

    def called(self, node: cst.CSTNode, op: Op, turns: Turns) -> bool:
        """Whether a turn calls something compiled, the module, or something with the module."""
        calls = [op.line for op in self.function.ops if op.name == "call compiled"]
        if op.detail("own") and not calls:
            return False
        if turns.attributes and (calls or turns.parameters or op.detail("hook")):
            return True
        if not turns.loops:
            return False
        first = op.detail("head").split(".")[0]
        outer = turns.loops[-1]
        begin, _, end, _ = self.function.range(outer)
        if any(begin <= line <= end for line in calls) or op.detail("own"):
            return any(begin <= line <= end for line in calls)
        bound = {n.value for loop in turns.loops if isinstance(loop, cst.For) for n in names(loop.target)}
        longer = {one.range for one in self.function.ops if one.name.startswith("lengthen")}
        return first not in bound and any(
            isinstance(part, cst.Call)
            and any(n.value == first for n in names(part))
            and self.function.range(part) not in longer
            for part in walk(outer.body)
        )
