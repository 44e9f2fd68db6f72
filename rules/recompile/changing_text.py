from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule.compiled_call import Argument, CompiledCall
from pt2lint.rule.loop_turns import Turns


class ChangingText(CompiledCall):
    """A string that changes from call to call is passed to a compiled function.

    ## What happens
    A string is never an input of a graph. Where the compiled function looks at it (compares it, formats it, uses it
    as a key), Dynamo guards on the whole string, so that every new one is compiled again: eight times, the recompile
    limit, and from then on the function runs without compiling. A string that the function only passes on costs
    nothing. A string that is spelled (`text.encode()`, `for letter in text`) is a sentence and no name: it is
    reported wherever it is passed. Encode it where nothing is compiled, and pass the tensor.

    ## Example
    ```python
    import torch

    scales = {f"layer{i}": i + 1.0 for i in range(11)}

    @torch.compile
    def scaled(x, name):
        return x * scales[name]

    def run():
        for i in range(11):
            scaled(torch.ones(3), f"layer{i}")
    ```

    ## Use instead
    Look it up where nothing is compiled, and pass a tensor:
    ```python
    import torch

    scales = {f"layer{i}": i + 1.0 for i in range(11)}

    @torch.compile
    def scaled(x, scale):
        return x * scale

    def run():
        for i in range(11):
            scaled(torch.ones(3), torch.tensor(scales[f"layer{i}"]))
    ```

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15; none where the
    function does not look at the text.
    """

    code = "PTR209"
    name = "changing-text"
    instead = MappingProxyType(
        {"": "Look up where nothing is compiled what the text names, and pass that, a number as a tensor"}
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return any(k.startswith("use ") for k in op.details)

    def is_text(self, argument: Argument, op: Op) -> bool:
        """Whether it is one of many texts that a loop goes over. A loop in compiled code that Dynamo leaves to Python
        goes over the names of a module's parts (adapters, streams): a few, and the same at each call."""
        may_be = set(argument.word.split(" | "))
        sure = may_be == {"str"} or (may_be <= {"str", "unknown"} and argument.use in ("text", "spelled"))
        return sure and op.name == "call compiled"

    def is_item(self, value: cst.BaseExpression, turns: Turns) -> bool:
        """`name` of a loop over texts, `names[i]`"""
        return turns.item(value) or turns.picks(value)

    def looked_at(self, node: cst.Call, op: Op) -> None:
        turns = self.turns(node, op)
        if turns.are_any or op.detail("texts"):
            self.called(node, op, turns)
            return
        for argument in self.arguments(node, op):
            # What is spelled is a sentence, as who calls wants it, and no name of a few.
            if argument.word == "str" and self.is_spelled(argument) and op.name == "call compiled":
                self.report(
                    argument.value,
                    self.shown(op, argument.key, "the text is spelled here"),
                    f"`{self.text(argument.value)}` is a text of which {self.callee(op)} reads each letter: each other "
                    "text is compiled again, until the limit",
                )

    def is_spelled(self, argument: Argument) -> bool:
        return argument.use in ("spelled", "iterated")

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        for argument in self.arguments(node, op):
            value = argument.value
            if not argument.use or argument.word.startswith("constant "):
                continue
            handed = isinstance(value, cst.Name) and value.value in op.detail("texts").split()
            if turns.text(value) or handed or (self.is_text(argument, op) and self.is_item(value, turns)):
                self.report(
                    value,
                    self.shown(op, argument.key, "the text is looked at here"),
                    f"`{self.text(value)}` is another text at every call, and {self.callee(op)} looks at it: each is "
                    "compiled again, until the limit",
                )
