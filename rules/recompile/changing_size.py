from __future__ import annotations

from functools import partial

import libcst as cst

from pt2lint.fixes.repairs.mark_dynamic import marked_before
from pt2lint.op import Op
from pt2lint.rule.compiled_call import CompiledCall
from pt2lint.rule.loop_lengths import differs
from pt2lint.rule.loop_syntax import mentions_marks
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import function_around, is_mask, made


class ChangingSize(CompiledCall):
    """A tensor's size changes from call to call of a compiled function, and nothing marks it as dynamic.

    ## What happens
    Dynamo first compiles for exactly the size that it sees. When the next call has another, it compiles once more,
    now for any size, and keeps that: the first compilation was in vain, and on a large model it takes minutes.
    `torch._dynamo.mark_dynamic(x, dim)` says beforehand which dimension changes; `torch.compile(dynamic=True)` says
    so of all. A size of 0 or 1 is compiled on its own in any case, since Dynamo never treats these as variable.
    Where a loop of the compiled code iterates over that dimension, its length is part of the graph: each is
    compiled again, until the limit of 8; so is it where a function keeps the length as a constant (`math.log(n)`,
    any of NumPy's, as `np.sqrt(n)`). A size changes, too, where values decide it (`x[mask]` of a mask that each
    iteration makes, `x.nonzero()`), where it is drawn (`x[:, :random.randint(8, 64)]`), or where pieces need not be
    alike (what a loop iterates over of `torch.split(x, lengths)` and `torch.chunk`), and in the last iteration of
    a loop over parts (`x[i : i + size]` of `range(0, len(x), size)`).

    ## Example
    ```python
    import torch

    @torch.compile
    def last(ids):
        return ids[:, -1:] + 1

    def run():
        ids = torch.zeros(2, 5, dtype=torch.int64)
        for _ in range(20):
            new = last(ids)
            ids = torch.cat([ids, new], dim=1)
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def last(ids):
        return ids[:, -1:] + 1

    def run():
        ids = torch.zeros(2, 5, dtype=torch.int64)
        for _ in range(20):
            torch._dynamo.mark_dynamic(ids, 1)
            new = last(ids)
            ids = torch.cat([ids, new], dim=1)
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation, 8 over 11 calls where a loop iterates over the
    dimension; none with `mark_dynamic` or `dynamic=True`. A dimension that the code makes constant (it is compared
    with a number, or iterated over) raises ConstraintViolationError where it is marked;
    `torch._dynamo.maybe_mark_dynamic` does not.
    """

    code = "PTR213"
    name = "changing-size"
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.detail("compile dynamic") in ("", "none")

    def looked_at(self, node: cst.Call, op: Op) -> None:
        turns = self.turns(node, op)
        if turns.are_any:
            self.called(node, op, turns)
            return
        for key, value, word, use in self.arguments(node, op):
            if use and word.endswith(("tensor", "tensor:float", "tensor:int")) and (by := self.picked(value)):
                self.report(
                    value,
                    self.shown(op, key),
                    f"`{self.text(value)}` is as long as the values in `{by}` have it: {self.callee(op)} is compiled "
                    "for the first size and then again for any, unless `mark_dynamic` says so beforehand",
                    fixes=marked_before(self.function, node, value, 0),
                )
                return

    def picked(self, value: cst.BaseExpression) -> str:
        """`mask` of `x[mask]`, where the function that is called again and again makes it by a comparison."""
        here = function_around(self.function, value)
        if here is None or here.name.value == "__init__":
            return ""
        value = made(self.function, value)
        index = value.slice[0].slice if isinstance(value, cst.Subscript) and len(value.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return ""
        meaning = partial(made, self.function)
        return self.text(index.value) if is_mask(meaning(index.value), meaning, _compares_elements) else ""

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        if mentions_marks(turns.loops):
            return
        for key, value, word, use in self.arguments(node, op):
            size = None if word.startswith(("list", "tuple")) else turns.size(value)
            if size is None and not word.startswith("list") and (by := self.sized(op, key, turns)):
                size = None, by
            if size is None and word.startswith(("tensor", "unknown")) and (says := differs(turns, value)[0]):
                self.report(
                    value,
                    self.shown(op, key),
                    f"{says}: {self.callee(op)} is compiled for the first size and then again for any, unless "
                    "`mark_dynamic` says so beforehand",
                    fixes=marked_before(self.function, node, value, None),
                )
                return
            if size is not None:
                dim, by = size
                what = (
                    "is longer at every call" if by == self.text(value) else f"changes its size with `{by}`"
                )
                if use == f"size {dim}" or (use == "iterated" and dim == 0):
                    self.report(
                        value,
                        self.shown(op, key, "is gone over here"),
                        f"`{self.text(value)}` {what}, and a loop in {self.callee(op)} runs that often: each size is "
                        "compiled again, until the limit",
                        severity="warning",
                    )
                    return
                if use.startswith(f"kept {dim} "):
                    self.report(
                        value,
                        self.shown(op, key, "is made a constant here"),
                        f"`{self.text(value)}` {what}, which `{use.split()[2]}` in {self.callee(op)} keeps as a "
                        "constant: each size is compiled again, until the limit",
                        severity="warning",
                    )
                    return
                self.report(
                    value,
                    self.shown(op, key),
                    f"`{self.text(value)}` {what}: {self.callee(op)} is compiled for the first size and then again "
                    "for any, unless `mark_dynamic` says so beforehand",
                    fixes=marked_before(self.function, node, value, dim),
                )
                return


def _compares_elements(value: cst.Comparison) -> bool:
    """`labels != -100`"""
    return not isinstance(value.comparisons[0].operator, cst.In | cst.NotIn | cst.Is | cst.IsNot)
