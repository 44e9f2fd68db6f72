"""What a mask picks out of a tensor: as many elements as it has, so that what is computed otherwise is of another
length."""

from __future__ import annotations

import ast
from collections.abc import Collection

from pt2lint.fixes.file import file_of, first_line
from pt2lint.fixes.kinds import TO_BOOL, words
from pt2lint.fixes.repaired import Refused
from pt2lint.rule import FunctionCode

_PICKS = words("masked_select nonzero unique")
# What gives as many elements as it is given.
_KEEPS = words(
    "abs clamp clamp_min clamp_max clip exp expm1 log log1p sqrt rsqrt pow square neg relu sigmoid tanh float double "
    "half bfloat16 to type_as detach clone contiguous nan_to_num add sub mul div"
)


def refuse_picked(function: FunctionCode, *values: str) -> None:
    """Raise Refused where a mask picks what some of the values are made of, and not the others: `y = x[x > 0]`, which
    becomes `x * 0` where none of its elements is true. torch.where then gives none, torch.cond nothing at all."""
    picked: _Picked | None = function.memo.get("picked")
    if picked is None:
        picked = function.memo["picked"] = _Picked(function)
    if len({picked.is_so(ast.parse(f"({one}\n)", mode="eval").body) for one in values if one}) > 1:
        raise Refused("a mask picks what one side gives, and the other side is of another length")


class _Picked:
    """What a function assigns to its names, each by that alone."""

    def __init__(self, function: FunctionCode) -> None:
        self.given: dict[str, list[ast.expr]] = {}
        defined = (one for one in file_of(function).nodes if isinstance(one, ast.FunctionDef))
        owner = next((one for one in defined if first_line(one) == function.first_line), None)
        for one in ast.walk(owner) if owner is not None else ():
            if isinstance(one, ast.Assign):
                for target in one.targets:
                    if isinstance(target, ast.Name):
                        self.given.setdefault(target.id, []).append(one.value)

    def is_so(self, value: ast.expr, busy: Collection[str] = ()) -> bool:
        if isinstance(value, ast.Name):
            given = [] if value.id in busy else self.given.get(value.id, [])
            return any(self.is_so(one, (*busy, value.id)) for one in given)
        if isinstance(value, ast.BinOp):
            return self.is_so(value.left, busy) or self.is_so(value.right, busy)
        if isinstance(value, ast.UnaryOp):
            return self.is_so(value.operand, busy)
        if isinstance(value, ast.Subscript):
            return self.is_mask(value.slice, busy)
        if isinstance(value, ast.Call) and (name := _called(value)):
            parts = [value.func.value, *value.args] if isinstance(value.func, ast.Attribute) else value.args
            return name in _PICKS or (name in _KEEPS and any(self.is_so(one, busy) for one in parts))
        return False

    def is_mask(self, index: ast.expr, busy: Collection[str]) -> bool:
        if isinstance(index, ast.Name):
            given = [] if index.id in busy else self.given.get(index.id, [])
            return any(self.is_mask(one, (*busy, index.id)) for one in given)
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.BitAnd | ast.BitOr):
            return True
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
            return True
        return isinstance(index, ast.Compare) or (isinstance(index, ast.Call) and _called(index) in TO_BOOL)


def _called(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
