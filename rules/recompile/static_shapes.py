from __future__ import annotations

import libcst as cst

from pt2lint.fixes.repairs.mark_dynamic import marked_before
from pt2lint.op import Op
from pt2lint.rule.compiled_call import CompiledCall, is_isolated
from pt2lint.rule.loop_lengths import differs
from pt2lint.rule.loop_syntax import mentions_marks
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import made
from pt2lint.rule.tree import walk

WRAPS = "call torch.compile"
BY_DEFAULT = "Leave `dynamic` out, or say `dynamic=True`, unless all that it is given has one of few sizes"


class StaticShapes(CompiledCall):
    """`dynamic=False`, and an argument whose shape changes from call to call.

    ## What happens
    With `dynamic=False` every new shape is compiled on its own, until the recompile limit; from then on the
    function runs without compiling. By default Dynamo compiles once for a size that changed, and not at all if
    `torch._dynamo.mark_dynamic` says beforehand which dimension varies. What changes the shape may be a count,
    values (`x[mask]` of a mask that each iteration makes), a draw (`x[:, :random.randint(8, 64)]`), a size that a
    picture is brought to (`interpolate(x, size=(n, n))`), a number that another function makes it by (`batch(data,
    n)`), or a list of lengths (`torch.split(x, lengths.tolist())`); a note where the lengths need not differ.

    A table with a compilation of one model for each size (`self.compiled[x.shape] = torch.compile(self.model,
    dynamic=False)`) does not help: they share their code, by which Dynamo counts, unless each is compiled with
    `isolate_recompiles=True` (torch 2.13 and later).

    ## Example
    ```python
    import torch

    @torch.compile(dynamic=False)
    def f(x):
        return x * 2

    def run():
        x = torch.ones(20, 3)
        for n in range(2, 13):
            f(x[:n])
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def f(x):
        return x * 2

    def run():
        x = torch.ones(20, 3)
        for n in range(2, 13):
            part = x[:n]
            torch._dynamo.mark_dynamic(part, 0)
            f(part)
    ```

    ## Versions
    Measured over 11 shapes on torch 2.6, 2.9, 2.13 and 2.15: 8 recompilations, and then eager, with
    `dynamic=False`; 1 by default; none with `mark_dynamic` (which wins over `dynamic=False`) or
    `dynamic=True`.
    """

    code = "PTR206"
    name = "static-shapes"

    ops = (*CompiledCall.ops, WRAPS)

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == WRAPS:
            return op.arg("dynamic") == "constant False"
        return op.detail("compile dynamic") == "constant False"

    def concerns(self, op: Op) -> bool:
        return op.name == WRAPS or super().concerns(op)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name != WRAPS:
            super().check(node, op)
        elif not isinstance(node, cst.Call) or not node.args:
            return
        elif not is_isolated(node) and (place := self.kept_by_size(node)) is not None:
            self.report(
                node,
                op,
                f"{self.quote(place)} keeps a compilation for each size, of one code: Dynamo counts them together, "
                "and past its limit of 8 none is compiled; by default two do for all sizes",
            )
        elif op.arg(0).startswith("external ") and "mark_dynamic" not in self.function.source:
            from pt2lint.fixes import by_hand

            self.report(
                node,
                op,
                f"with `dynamic=False` {self.quote(node.args[0].value)} is compiled again for each other size of what "
                "it is given, up to the limit of 8; by default twice, the second time for any",
                severity="note",
                fixes=[by_hand.told(BY_DEFAULT)],
            )

    def kept_by_size(self, node: cst.Call) -> cst.Subscript | None:
        """`self.compiled[tuple(x.shape)]`, to which `torch.compile(self.model, dynamic=False)` is assigned."""
        assign = self.function.parent(node)
        place = assign.targets[0].target if isinstance(assign, cst.Assign) else None
        if not isinstance(place, cst.Subscript) or len(place.slice) != 1 or "_limit" in self.function.source:
            return None
        index = place.slice[0].slice
        if not isinstance(node.args[0].value, cst.Name | cst.Attribute) or not isinstance(index, cst.Index):
            return None
        key = made(self.function, index.value)
        sized = any(isinstance(n, cst.Attribute) and n.attr.value in ("shape", "size") for n in walk(key))
        return place if sized else None

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        if mentions_marks(turns.loops):
            return
        for key, value, word, _ in self.arguments(node, op):
            size = turns.size(value)
            says, often = (
                differs(turns, value) if size is None and word.startswith(("tensor", "unknown")) else ("", "")
            )
            if (
                size is None
                and not says
                and not word.startswith("list")
                and (by := self.sized(op, key, turns))
            ):
                size = None, by
            if says and often != "twice":
                self.report(
                    value,
                    self.shown(op, key),
                    f"{says}, and with `dynamic=False` each shape is compiled again until the limit",
                    severity=None if often == "often" else "note",
                )
                return
            if size is not None:
                self.report(
                    value,
                    self.shown(op, key),
                    f"the shape of `{self.text(value)}` changes with `{size[1]}`, and with `dynamic=False` each "
                    "shape is compiled again until the limit",
                    fixes=marked_before(self.function, node, value, size[0]),
                )
                return
