from __future__ import annotations

import libcst as cst

from pt2lint.fixes.imports import meant
from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import function_around, made, names
from pt2lint.rule.tree import walk

HALVES = ("half", "bfloat16")
OF_HALF = ("torch.float16", "torch.half", "torch.bfloat16")
UNCOMPILED = "Inductor alone drops it, and nothing here compiles the module"
SINGLE = ("torch.float32", "torch.float")
ROUND = ("'eager'", '"eager"', "'aot_eager'", '"aot_eager"')


class LostRounding(Rule):
    """A tensor is rounded to half precision and widened again: compiled, it is not rounded.

    ## What happens
    `x.to(torch.bfloat16).float()` gives the nearest numbers that half precision has. Inductor, which
    `torch.compile` generates code with, takes two conversions in a row for one that mixed precision left over, and
    drops them: what comes is `x` itself. What is left of the rounding, `x - x.to(torch.bfloat16).float()`, is zero
    everywhere, so that a sum that carries its error, or a number split into a high and a low part, has no low part.
    A scale that is rounded as it will be stored, and divided by, is another one than what is stored.

    It is the same where the half is given a name first, and with torch.float16. Nothing is said, and
    `emulate_precision_casts` does not bring it back. The backends "eager" and "aot_eager" round, and so does a
    conversion to a float8 and back. An operator of one's own is left as it is written.

    ## Example
    ```python
    import torch

    @torch.compile(backend="inductor")
    def split(x):
        high = x.to(torch.bfloat16)
        low = x - high.float()
        return high, low

    def run():
        high, low = split(torch.linspace(0.1, 3.3, 16))
        return bool(low.any())
    ```

    ## Use instead
    ```python
    import torch

    @torch.library.custom_op("mine::rounded", mutates_args=())
    def rounded(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.bfloat16).float()

    @rounded.register_fake
    def _(x):
        return torch.empty_like(x)

    @torch.compile(backend="inductor")
    def split(x):
        high = rounded(x)
        low = x - high
        return high.to(torch.bfloat16), low

    def run():
        high, low = split(torch.linspace(0.1, 3.3, 16))
        return bool(low.any())
    ```

    ## Versions
    Measured: not rounded on torch 2.6, 2.9, 2.13 and 2.15 on a CPU, and on 2.11 on a GPU (H100).
    """

    code = "PTS351"
    name = "lost-rounding"
    uncompiled = UNCOMPILED
    ops = calls("torch.Tensor", "to half bfloat16")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        given = node.func.value
        if not self.halves(node) or not self.may_be_single(given) or self.rounds():
            return
        wide = self.widened(node)
        if wide is not None:
            less = self.subtracted(given, wide)
        else:
            less = self.subtracted(given, node) or self.named_less(given, node)
        if less is not None:
            self.report(
                less,
                op,
                f"{self.quote(less)} is zero where it is compiled: Inductor drops the conversion to half precision",
            )
        elif wide is not None:
            self.report(
                wide,
                op,
                f"{self.quote(wide)} is not rounded where it is compiled: Inductor drops the conversion to half "
                "precision",
            )

    def rounds(self) -> bool:
        """Whether the file compiles with backends alone that leave roundings as they are."""
        backends: list[str] | None = self.function.memo.get("backends")
        if backends is None:
            backends = self.function.memo["backends"] = [
                next(
                    (self.text(a.value) for a in part.args if a.keyword and a.keyword.value == "backend"), ""
                )
                for part in walk(self.function.module)
                if isinstance(part, cst.Call) and meant(self.function, part.func) == "torch.compile"
            ]
        return bool(backends) and all(backend in ROUND for backend in backends)

    def halves(self, call: cst.Call) -> bool:
        """`x.half()`, `x.bfloat16()`, `x.to(torch.bfloat16)`."""
        assert isinstance(call.func, cst.Attribute)
        if call.func.attr.value in HALVES:
            return not call.args
        return len(call.args) == 1 and self.dtype(call.args[0]) in OF_HALF

    def may_be_single(self, given: cst.BaseExpression) -> bool:
        """Whether nothing says that it is of another dtype than torch.float32, which a half may hold as it is."""
        source = made(self.function, given)
        if isinstance(source, cst.Call) and isinstance(source.func, cst.Attribute) and self.halves(source):
            return False
        word = (self.function.kinds or dict)().get(self.function.range(given), "")
        return word.partition(":")[2] in ("", "float", "float32")

    def widens(self, call: cst.Call) -> bool:
        """`.float()`, `.to(torch.float32)`."""
        if not isinstance(call.func, cst.Attribute):
            return False
        if call.func.attr.value == "float":
            return not call.args
        return call.func.attr.value == "to" and len(call.args) == 1 and self.dtype(call.args[0]) in SINGLE

    def dtype(self, arg: cst.Arg) -> str:
        if arg.star or (arg.keyword is not None and arg.keyword.value != "dtype"):
            return ""
        return meant(self.function, arg.value)

    def widened(self, half: cst.CSTNode) -> cst.Call | None:
        """The conversion back that is called on it."""
        function = self.function.parent(half)
        call = self.function.parent(function) if isinstance(function, cst.Attribute) else None
        return call if isinstance(call, cst.Call) and call.func is function and self.widens(call) else None

    def subtracted(self, given: cst.BaseExpression, rounded: cst.CSTNode) -> cst.BinaryOperation | None:
        """What takes it from the tensor that it was."""
        less = self.function.parent(rounded)
        if isinstance(less, cst.BinaryOperation) and isinstance(less.operator, cst.Subtract):
            if less.right is rounded and less.left.deep_equals(given):
                return less
        return None

    def named_less(self, given: cst.BaseExpression, half: cst.Call) -> cst.BinaryOperation | None:
        """The same by way of a name, where neither the tensor nor the half is set anew in the function."""
        assignment = self.function.parent(half)
        around = function_around(self.function, half)
        if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1 or around is None:
            return None
        name = assignment.targets[0].target
        if not isinstance(name, cst.Name) or not isinstance(given, cst.Name):
            return None
        written = [n.value for part in walk(around.body) for n in _written(part)]
        if written.count(name.value) != 1 or written.count(given.value) > 1:
            return None
        if given.value in written and self.line_set(around, given.value) > self.function.range(half)[0]:
            return None
        for part in walk(around.body):
            if isinstance(part, cst.Name) and part.value == name.value and part is not name:
                less = self.subtracted(given, self.widened(part) or part)
                if less is not None:
                    return less
        return None

    def line_set(self, around: cst.FunctionDef, name: str) -> int:
        return max(
            self.function.range(n)[0] for part in walk(around.body) for n in _written(part) if n.value == name
        )


def _written(part: cst.CSTNode) -> list[cst.Name]:
    """The names that a statement sets, by itself or in place."""
    if isinstance(part, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For):
        return names(part.target)
    if isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute):
        if part.func.attr.value.endswith("_") and isinstance(part.func.value, cst.Name):
            return [part.func.value]
    return []
