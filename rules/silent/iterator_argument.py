from __future__ import annotations

import libcst as cst

from pt2lint.op import ITERATORS, Op
from pt2lint.rule.compiled_call import Argument, CompiledCall

NO_ITERATORS = ("list", "tuple", "dict", "set", "none")  # what the words for these (Op.args) begin with


class IteratorArgument(CompiledCall):
    """A compiled function that is given an iterator runs as plain Python.

    ## What happens
    Dynamo iterates over the items of a list or tuple that comes from outside, but not over those of an iterator: a
    generator, what `zip`, `map` and `enumerate` return, `module.parameters()`, a dictionary's `values()`. At `for
    item in argument` it gives the function up, and nothing of it is compiled, which nothing says; other uses end
    the graph (`items = list(argument)`; GB0811). Iterators that the compiled code makes itself are traced.

    ## Example
    ```python
    import torch

    model = torch.nn.Linear(3, 3)

    @torch.compile
    def norm(tensors):
        total = torch.zeros(())
        for tensor in tensors:
            total = total + tensor.square().sum()
        return total

    def run():
        return norm(p.detach() * 0 for p in model.parameters())
    ```

    ## Use instead
    ```python
    import torch

    model = torch.nn.Linear(3, 3)

    @torch.compile
    def norm(tensors):
        total = torch.zeros(())
        for tensor in tensors:
            total = total + tensor.square().sum()
        return total

    def run():
        return norm([p.detach() * 0 for p in model.parameters()])
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15, for generators, `zip`, `map`, `enumerate`,
    `itertools.chain`, `named_parameters()` and `dict.values()`. An iterator that is passed and not used costs nothing.
    """

    code = "PTS326"
    name = "iterator-argument"

    ops = ("call compiled",)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = any(str(w).startswith(ITERATORS) for w in op.args.values())
        return given and "named" not in op.details  # in what the settings name, PTB187 tells the loop

    def looked_at(self, node: cst.Call, op: Op) -> None:
        for argument in self.arguments(node, op):
            first, *others = argument.word.split(" | ")
            may_be_list = any(word.startswith(NO_ITERATORS) for word in others)
            if first.startswith(ITERATORS) and argument.use and not may_be_list:
                self.given(argument, op)

    def given(self, argument: Argument, op: Op) -> None:
        value = argument.value
        if isinstance(value, cst.GeneratorExp):
            text = f"[{self.text(value.with_changes(lpar=(), rpar=()))}]"
        else:
            text = f"list({self.text(value)})"
        looped = argument.use == "iterated"
        outcome = (
            f"{self.callee(op)} runs as plain Python" if looped else f"ends the graph of {self.callee(op)}"
        )
        self.report(
            value,
            self.shown(op, argument.key, "goes over it"),
            f"{self.quote(value)} is no list: Dynamo does not go over its items, and {outcome}",
            fixes=[self.fix("A list in its place: Dynamo goes over its items.", self.edit(value, text))],
        )
