"""What rules about calls of compiled callables share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.loop_turns import Turns, turns_around
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, walk

# What a break in a loop leads to goes with that break, which is told.
FOLLOWS = "goes with the break that leaves the caller to Python"
GRAPHS = ("'reduce-overhead'", "'max-autotune'")  # the modes that record CUDA graphs


class Argument(NamedTuple):
    """An argument of the call: its place among the positional ones or its keyword, `word` what it is and `use` what
    the compiled function does with it (pt2lint.static.observers.uses), "" where that is not known."""

    key: int | str
    value: cst.BaseExpression
    word: str
    use: str


def are_numbers(word: str) -> bool:
    """Whether what an argument may be are numbers of Python: "float", "constant 1.0 | float"."""
    return all(
        part in ("int", "float")
        or part.removeprefix("constant ").removeprefix("-").replace(".", "", 1).isdigit()
        for part in word.split(" | ")
    )


def graphs_mode(op: Op) -> str:
    """The mode, in quotes, in which what is called runs as CUDA graphs; "" for another one."""
    mode = op.detail("compile mode").removeprefix("constant ")
    return mode if mode in GRAPHS else ""


def is_isolated(call: cst.Call) -> bool:
    """Whether what `torch.compile` is given so counts its compilations by itself, not with all of its code: since 2.13
    `isolate_recompiles=True` does that (measured there and on 2.15)."""
    return any(
        a.keyword is not None and a.keyword.value == "isolate_recompiles" and is_name(a.value, "True")
        for a in call.args
    )


class CompiledCall(Rule):
    """Base of rules about a compiled callable that code which is not compiled calls, or code that Dynamo traces and,
    for a break in a loop, leaves to Python: what that calls is compiled by itself."""

    ops: ClassVar[tuple[str, ...]] = ("call compiled", "call apart")
    anywhere = True
    asks_what_is_left = True
    asks_kinds = False
    without_tensors = (
        False  # whether calls of a function that is given none are looked at, where it makes its own
    )

    def concerns(self, op: Op) -> bool:
        if op.detail("compiles") == "nothing" or (op.detail("no tensors") and not self.without_tensors):
            return False
        return op.name == "call compiled" or self.function.is_left

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "call apart":
            op = op._replace(rare=op.rare or FOLLOWS)
        if isinstance(node, cst.Call):
            self.looked_at(node, op)

    def looked_at(self, node: cst.Call, op: Op) -> None:
        """Look at a call."""
        turns = self.turns(node, op)
        if turns.are_any:
            self.called(node, op, turns)

    def turns(self, node: cst.Call, op: Op) -> Turns:
        """What differs from call to call."""
        return turns_around(self.function, node, op.detail("counts").split())

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        """Look at a call that stands in a loop, or in a method that is called again and again."""

    def arguments(self, node: cst.Call, op: Op) -> Iterator[Argument]:
        """The plain arguments, without `*` and `**`, and what stands behind a `*` at no place that is known."""
        starred, more = False, op.detail("behind")
        for at, a in enumerate(node.args):
            starred |= a.star == "*"
            if a.star or (starred and a.keyword is None and not more.lstrip("-").isdigit()):
                continue
            key: int | str
            if a.keyword is not None:
                key = a.keyword.value
            else:
                key = at + int(more) if starred else at
            yield Argument(key, a.value, op.arg(key), op.detail(f"use {key}"))

    def spread(self, node: cst.Call, op: Op) -> Iterator[Argument]:
        """What `**options` holds, as far as the function sets it by name: `options["longest"] = max(lengths)`."""
        spread = {a.value.value for a in node.args if a.star == "**" and isinstance(a.value, cst.Name)}
        for part in walk(self.function.module) if spread else ():
            target = part.targets[0].target if isinstance(part, cst.Assign) else None
            if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name):
                continue
            index = target.slice[0].slice
            if target.value.value in spread and isinstance(index, cst.Index) and isinstance(part, cst.Assign):
                if isinstance(index.value, cst.SimpleString):
                    key = str(index.value.evaluated_value)
                    yield Argument(key, part.value, op.arg(key), op.detail(f"use {key}"))

    def is_fed_back(self, node: cst.Call, value: cst.BaseExpression) -> bool:
        """Whether what is given is what the call before returned: `y, past = model(x, past)`."""
        statement = self.function.parent(node)
        return (
            isinstance(value, cst.Name)
            and isinstance(statement, cst.Assign)
            and any(n.value == value.value for target in statement.targets for n in names(target.target))
        )

    def sized(self, op: Op, key: int | str, turns: Turns) -> str:
        """What changes from turn to turn and says how long an argument is, which a function of the project makes."""
        if by := op.detail(f"yields {key}"):
            return by
        for text in op.detail(f"sized {key}").split("\t"):
            if text:
                number = cst.parse_expression(text)
                if turns.number(number) or turns.fraction(number):
                    return text
        return ""

    def callee(self, op: Op) -> str:
        """What was compiled, for a message."""
        title = op.detail("to").partition(" | ")[0]  # of several that the call may run
        return f"`{title}`" if title else "the compiled function"

    def shown(self, op: Op, key: int | str, what: str = "") -> Op:
        """The operation, with the way of an argument as its flow: into the compiled function, and to the place that
        makes it matter (`what` it does there). A report shows it; a run is held against it."""
        op = self.led_to(op, op.detail("to at"), f"`{op.detail(f'name {key}')}` of {self.callee(op)}")
        return self.led_to(op, op.detail(f"at {key}"), what) if what else op
