from __future__ import annotations

import re

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import placed, says_none, walk

FLOWS = (2, 13)  # the first torch that was measured to differentiate collectives in a graph
UNCOMPILED = "compiled code alone does so, and nothing here compiles the module"
UNTRAINED = "where a gradient is wanted, and nothing here computes one"
# What gives a tensor without a gradient, whatever it is given: it detaches, makes whole numbers, compares, or makes a
# tensor anew.
ENDS = re.compile(
    r"detach|item|argmax|argmin|argsort|long|int|bool|byte|eq|ne|gt|lt|ge|le|sign|floor|ceil|round|one_hot|nonzero|numel|"
    r"\w*bincount|histc|isnan|isfinite|size|zeros|ones|empty|full|rand|randn|randint|arange|tensor|as_tensor|all|any|"
    r"new_\w+|\w+_like"
)
OF_TENSORS = ("T", "mT", "H", "mH", "real", "imag")  # attributes that pass a gradient on
# What is done with a value that no gradient comes back from.
WITHOUT = ("data", "detach", "item", "tolist", "numpy", "shape", "size")


class CollectiveGradient(Rule):
    """A collective is given a tensor with a gradient: compiled code passes another gradient through it.

    ## What happens
    In eager mode the collectives of `torch.distributed` know of no gradients: `all_gather` gives tensors without one,
    and what `all_reduce` has changed in place keeps the gradient of what it was. Dynamo puts functional collectives in
    their place, and since torch 2.13 these have gradients of their own. So where it is compiled

    - `all_gather` passes gradients back, of all processes: a contrastive loss that puts its own features among the
      gathered ones (`gathered[rank] = features`) has gradients through the others too;
    - the gradient of `all_reduce` is summed over all processes: with eight of them, of one loss, eight times as much;
    - of any other reduction than a sum (`MAX`, `AVG`) the backward pass raises.

    Up to torch 2.9 `all_reduce` has a gradient of zero where it is compiled. Nothing is said; the loss is the same.

    ## Example
    ```python
    import torch
    import torch.distributed as dist

    @torch.compile(backend="aot_eager")
    def gathered(x):
        y = x * 2
        parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, y)
        return torch.cat(parts).sum()

    def run():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        try:
            x = torch.ones(2, 3, requires_grad=True)
            return gathered(x).requires_grad
        finally:
            dist.destroy_process_group()
    ```

    ## Use instead
    Say what is meant. Without a gradient:
    ```python
    import torch
    import torch.distributed as dist

    @torch.compile(backend="aot_eager")
    def gathered(x):
        y = x * 2
        parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, y.detach())
        return torch.cat(parts).sum()

    def run():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        try:
            x = torch.ones(2, 3, requires_grad=True)
            return gathered(x).requires_grad
        finally:
            dist.destroy_process_group()
    ```
    With one: the functions of `torch.distributed._functional_collectives`, which have the same gradients in both, or a
    `torch.autograd.Function` whose `backward` says what it is.

    ## Versions
    Measured with two processes: `all_gather` on torch 2.13 and 2.15 (the same as in eager mode on 2.6 and 2.9);
    `all_reduce` on 2.6, 2.9, 2.13 and 2.15; `reduce_scatter_tensor` on all four, `all_to_all_single` from 2.13 on.
    """

    code = "PTS355"
    name = "collective-gradient"
    uncompiled = UNCOMPILED
    ops = ("collect with gradient",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        around = function_around(self.function, node)
        if not isinstance(node, cst.Call) or around is None:
            return
        collective = op.detail("name")
        in_place = collective == "all_reduce"
        given = _argument(node, 0, "tensor") if in_place else _argument(node, 1, "tensor", "input")
        filled = given if in_place else _argument(node, 0, "tensor_list", "output")
        if not isinstance(given, cst.BaseExpression) or not isinstance(filled, cst.Name):
            return
        flows = self.function.target >= FLOWS
        if not flows and collective not in ("all_reduce", "reduce_scatter_tensor"):
            return
        if not self.carries(given, around, set()) or not self.is_used(filled, node, around):
            return
        trains = "backward(" in self.function.source or self.puts_own(filled, given, around)
        self.report(
            node,
            op if trains else op._replace(rare=op.rare or UNTRAINED),
            self.says(node, collective, flows),
            fixes=self.fixes(given, in_place),
        )

    def puts_own(self, filled: cst.Name, given: cst.BaseExpression, around: cst.FunctionDef) -> bool:
        """`gathered[rank] = given`: the one part that has a gradient in eager mode is put among the others."""
        return any(
            isinstance(part, cst.Assign)
            and part.value.deep_equals(given)
            and any(
                isinstance(t.target, cst.Subscript) and _is(t.target.value, filled.value)
                for t in part.targets
            )
            for part in walk(around.body)
        )

    def says(self, node: cst.Call, collective: str, flows: bool) -> str:
        """The message: what differs on the targeted torch."""
        code = self.quote(node)
        if collective == "all_reduce" and not _sums(node):
            return f"the backward pass through {code} raises where it is compiled: it is known of sums alone"
        if collective == "all_reduce" and not flows:
            return (
                f"{code} has a gradient of zero where it is compiled; in eager mode it is passed on as it is"
            )
        if collective == "all_reduce":
            return (
                f"the gradient of {code} is summed over all processes where it is compiled; in eager mode it is "
                "passed on as it is"
            )
        if flows:
            return f"gradients flow back through {code} where it is compiled; in eager mode none do"
        return f"{code} has another gradient where it is compiled than in eager mode"

    def fixes(self, given: cst.BaseExpression, in_place: bool) -> list[Fix]:
        from pt2lint.fixes import by_hand

        if in_place:
            return [
                by_hand.told(
                    "Reduce a copy that is detached, where no gradient is meant; else call "
                    "`torch.distributed._functional_collectives.all_reduce`, or write a `torch.autograd.Function` that "
                    "says what its gradient is"
                )
            ]
        text = self.text(given)
        if not isinstance(given, cst.Name | cst.Attribute | cst.Call | cst.Subscript):
            text = f"({text})"
        return [
            self.fix(
                "Detach what is gathered: compiled code then has the gradients of eager mode.",
                self.edit(given, f"{text}.detach()"),
            )
        ]

    def carries(self, value: cst.CSTNode, around: cst.FunctionDef, seen: set[str]) -> bool:
        """Whether a value is computed of what the function is given, by what passes gradients on."""
        if isinstance(value, cst.BaseExpression):
            word = (self.function.kinds or dict)().get(self.function.range(value), "")
            if word.startswith(("tensor:int", "tensor:bool")):
                return False
        if isinstance(value, cst.Name):
            made = [
                part.value
                for part in walk(around.body)
                if isinstance(part, cst.Assign)
                and any(_is(t.target, value.value) for t in part.targets)
                and not says_none(part.value)
            ]
            if made and value.value not in seen:
                return all(self.carries(one, around, seen | {value.value}) for one in made)
            return value.value in {p.name.value for p in placed(around.params)} - {"self", "cls"}
        if isinstance(value, cst.Attribute):
            return value.attr.value in OF_TENSORS and self.carries(value.value, around, seen)
        if isinstance(value, cst.Call):
            last = value.func.attr if isinstance(value.func, cst.Attribute) else value.func
            if isinstance(last, cst.Name) and ENDS.fullmatch(last.value):
                return False
            of = value.func.value if isinstance(value.func, cst.Attribute) else None
            parts = [arg.value for arg in value.args] + ([of] if of is not None else [])
        elif isinstance(value, cst.BinaryOperation):
            parts = [value.left, value.right]
        elif isinstance(value, cst.UnaryOperation):
            parts = [value.expression]
        elif isinstance(value, cst.IfExp):
            parts = [value.body, value.orelse]
        elif isinstance(value, cst.Subscript):
            parts = [] if _is_of_data(value) else [value.value]
        elif isinstance(value, cst.Tuple | cst.List):
            parts = [element.value for element in value.elements]
        else:
            parts = []
        return any(self.carries(part, around, seen) for part in parts)

    def is_used(self, filled: cst.Name, call: cst.Call, around: cst.FunctionDef) -> bool:
        """Whether something is computed of what the collective filled, or it is returned: what only goes into a buffer
        or a log has no gradient."""
        end = self.function.range(call)[2:]
        return any(
            isinstance(part, cst.Name)
            and part.value == filled.value
            and self.function.range(part)[:2] > end
            and self.counts(part)
            for part in walk(around.body)
        )

    def counts(self, name: cst.Name) -> bool:
        """Whether a gradient may come back from this use of a name."""
        here: cst.CSTNode | None = name
        while here is not None and not isinstance(here, cst.FunctionDef):
            if isinstance(here, cst.AssignTarget | cst.Expr | cst.AugAssign):
                return False
            if isinstance(here, cst.Attribute) and here.attr.value in WITHOUT:
                return False
            if isinstance(here, cst.Call) and len(here.args) == 1 and _is(here.func, "len"):
                return False
            if isinstance(here, cst.With) and "no_grad" in self.text(here.items[0].item):
                return False
            here = self.function.parent(here)
        return here is not None


def _argument(call: cst.Call, place: int, *keywords: str) -> cst.BaseExpression | None:
    for index, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.keyword is not None and arg.keyword.value in keywords:
            return arg.value
        if arg.keyword is None and index == place:
            return arg.value
    return None


def _is(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is that name, or a tuple with it."""
    if isinstance(node, cst.Tuple):
        return any(_is(one, name) for one in names(node))
    return isinstance(node, cst.Name) and node.value == name


def _is_of_data(value: cst.Subscript) -> bool:
    """`batch["mask"]`"""
    index = value.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString)


def _sums(call: cst.Call) -> bool:
    """Whether a reduction is a sum, as it is by default, or one that the code at hand does not name."""
    said = _argument(call, 1, "op")
    return not isinstance(said, cst.Attribute) or said.attr.value == "SUM"
