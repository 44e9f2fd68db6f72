from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import counted_in_buffer, counted_in_tensor, counted_outside, told
from pt2lint.fixes.repairs.buffer import in_buffer
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import function_around, observes
from pt2lint.rule.tree import walk

PICKS = ("index", "place", "slice")  # what a tensor does not do comes last
PASSED = "Let the caller count, and pass the number to `forward`: it is an input of the graph then"
PICKED = (
    "Keep it in a buffer of one dimension, `torch.zeros(1, dtype=torch.long)`, and pick with `index_select` and "
    "`index_copy_`, which take it as it is"
)


class ModuleCounter(Rule):
    """An int kept in a module changes at every call of its compiled `forward`.

    ## What happens
    Dynamo takes an int attribute of an `nn.Module` for a constant and guards on its value. Code that counts in it,
    goes round in a ring (`self.at = (self.at + 1) % self.size`) or fills up (`min(self.at + n, self.size)`), changes
    it, so the next call fails the guard and is compiled again: eight times, the recompile limit, and from then on the
    function runs without compiling. A buffer is a tensor, and a tensor's value is not guarded on. Where the attribute
    has to stay a number, `torch._dynamo.config.allow_unspec_int_on_nn_module = True` makes Dynamo treat it as an
    input. What Lightning counts (`self.current_epoch`, `self.global_step`) is such a number: read it in a hook that
    nothing compiles, as `on_train_batch_start` is, and keep it in a buffer.

    The place of the next token in a cache is asked for as a number, which a buffer without dimensions does not help: it
    ends the graph where a slice ends with it, and picks for one value alone (`self.keys[:, self.at]`). Pass the
    number: as an argument that ends a slice (`keys[:, at : at + n]`) it costs one recompilation. Or keep it in a buffer
    of one dimension (`torch.zeros(1, dtype=torch.long)`), and write with `keys.index_copy_(1, self.at, key)`.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * 2

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.tensor(0), persistent=False)

        def forward(self, x):
            self.calls += 1
            return x * 2

    net = torch.compile(Net())

    def run():
        for _ in range(11):
            net(torch.ones(3))
    ```

    ## Versions
    Measured over 11 calls: 1 recompilation on torch 2.6; 8, and then eager, on 2.9, 2.13 and 2.15. With a
    buffer none. On 2.13 as many for `self.current_epoch` and `self.global_step` of a compiled LightningModule. A
    float attribute, or an int of an object that is no module and that none holds, costs 1 on all of them (PTR215).
    Of an object that is a hook of a module, or whose method is: 8 on all of them, none with a tensor.
    On 2.9, 2.13 and 2.15 one for an argument that ends a slice, as many as for the attribute for one that picks
    (`keys[:, at]`), none for a buffer of one dimension with `index_copy_`.
    """

    code = "PTR202"
    name = "module-counter"
    about_guards = True
    asks_what_is_left = True
    ops = ("change attribute", "read counted")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if observes(self.function, node):
            return
        if any(other.name == "miss attribute" for other in self.function.ops_at(node)):
            return  # it stays at what it is first (PTS347)
        if op.name == "read counted":
            self.report(
                node,
                op,
                f"{self.quote(node)} is a number that the trainer counts, which compiled code reads as a constant: a "
                "recompilation at every new value, and eager from the limit on; a buffer that a hook fills costs none",
            )
            return
        few = self.function.target <= (2, 6) and not op.detail("hook")
        cost = (
            "one recompilation" if few else "a recompilation at every new value, and eager from the limit on"
        )
        self.report(
            node,
            op,
            f"`{self.text(node)}` is an int that compiled code changes: {cost}; {self.costless(node, op)}",
            fixes=self.counted(node, op) if isinstance(node, cst.Attribute) else (),
            severity="note" if few else None,
        )

    def costless(self, node: cst.CSTNode, op: Op) -> str:
        """What costs less. A tensor without dimensions ends no slice, and picks for one value alone."""
        match self.picks(node):
            case "slice":
                return "as an argument that ends the slice it costs one"
            case "index":
                return "as an argument that picks from a tensor it costs one"
            case "place":
                return "a buffer of one dimension costs none, with `index_copy_`"
        return "a tensor costs none" if op.detail("hook") else "a buffer costs none"

    def picks(self, node: cst.CSTNode) -> str:
        """How the function picks with the number: as the end of a "slice", by "index", or as one "place" of several."""
        here = function_around(self.function, node)
        found: set[str] = set()
        for part in walk(here.body) if here is not None else ():
            if isinstance(part, cst.Subscript):
                for element in part.slice:
                    one = element.slice
                    if any(n.deep_equals(node) for n in walk(one)):
                        alone = "index" if len(part.slice) == 1 else "place"
                        found.add("slice" if isinstance(one, cst.Slice) else alone)
        return max(found, key=PICKS.index, default="")

    def counted(self, node: cst.Attribute, op: Op) -> Iterable[Fix]:
        if picks := self.picks(node):
            return [told(PICKED if picks == "place" else PASSED)]
        if op.detail("hook"):
            return [counted_in_tensor(node.attr.value)]
        if ready := [*in_buffer(self.function, node, op.detail("made"))]:
            return ready
        if self.decides(node):
            return [counted_outside(self.text(node))]
        return [counted_in_buffer(node.attr.value)]

    def decides(self, node: cst.Attribute) -> bool:
        """Whether a test in the function asks for the number: `if self.steps % 10 == 0:`."""
        here = function_around(self.function, node)
        return here is not None and any(
            asked.deep_equals(node)
            for part in walk(here.body)
            if isinstance(part, cst.If | cst.IfExp)
            for asked in walk(part.test)
        )
