"""What operators and comparisons give, by the kinds of what stands on both sides."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.special import OPERATORS, operated
from pt2lint.static.values import (
    BOOL,
    CONSTANT,
    FLOAT,
    INT,
    MEMBER,
    NO_CONST,
    OBJECT,
    OFF_TEXTS,
    OFTEN_OFF,
    SIZE,
    STR,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    is_dtype,
    is_none,
    join,
    same_dtype,
    tensor_of,
    truth,
)
from pt2lint.static.values.release import Release

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


COMPUTED = "compute with random"
PROMOTED = "compute with array"
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def binary(at: Context, left: Value, right: Value, op: ast.operator, node: Any, frame: Frame) -> Value:
    """What an operator makes of two values."""
    at.expressions.used(node, frame, left, right)
    if isinstance(left, Instance) or isinstance(right, Instance):
        if frame.region:
            for hear in at.events.operated:
                hear(node, left, right, op, frame)
        own = operated(at, left, right, op, node, frame)
        if own is not None:
            return own
    a, b = tensor_of(left), tensor_of(right)
    if frame.region and (is_drawn(left) or is_drawn(right)):
        if (is_drawn(left) or _is_number(left)) and (is_drawn(right) or _is_number(right)):
            return of_random(at, node, left if is_drawn(left) else right, frame)
    if isinstance(left, Py) and isinstance(right, Py):
        return _of_plain(left, right, op)
    if isinstance(left, Py) and left.type == "str" and isinstance(op, ast.Mod):
        return _formatted(at, right, node, frame)
    if a is not None or b is not None:
        return _of_tensors(at, left, right, op, node, frame)
    if (sequence := _of_sequences(left, right, op)) is not None:
        return sequence
    if isinstance(op, ast.Mult) and not frame.region:
        if any(isinstance(side, Py) and side.off for side in (left, right)):
            return Py("float", off=OFTEN_OFF)  # as an object is made: a rate for each of so many
    return UNKNOWN


def _formatted(at: Context, given: Value, node: Any, frame: Frame) -> Value:
    """`"%s" % given`"""
    for part in given.elts if isinstance(given, Seq) and given.elts is not None else [given]:
        tensor = tensor_of(part)
        if tensor is not None and at.notebook.listens("format tensor", frame):
            at.notebook.note(node, "format tensor", frame, about=tensor)
    return STR


def _of_sequences(left: Value, right: Value, op: ast.operator) -> Value | None:
    """One after the other, one several times, or the classes that `int | Node` names."""
    if isinstance(left, Seq) and isinstance(right, Seq) and isinstance(op, ast.Add):
        if left.elts is not None and right.elts is not None:
            return Seq(left.elts + right.elts, None, left.type)
        return Seq(None, join(left.elem, right.elem), left.type, left.elts or left.prefix)
    if isinstance(op, ast.BitOr) and (one := _kinds(left)) and (other := _kinds(right)):
        return Seq([*one, *other], None, "tuple")  # as isinstance takes it
    if isinstance(op, ast.Mult):
        for side in (left, right):
            if isinstance(side, Seq):
                return Seq(None, side.elem, side.type)
    return None


def _of_tensors(at: Context, left: Value, right: Value, op: ast.operator, node: Any, frame: Frame) -> Value:
    """The same where one of them, or both, may be tensors."""
    a, b = tensor_of(left), tensor_of(right)
    first = a if a is not None else b
    assert first is not None
    if a is not None and b is not None and a.array != b.array:
        first = b if a.array else a
        if frame.region and isinstance(node, ast.BinOp):
            _with_number(at, node, first, a if a.array else b, frame)
    # A tensor and what may be one make a tensor, as a tensor and what nobody knows do.
    sure = (a is not None and a.sure) or (b is not None and b.sure)
    if sure and (_may_answer(at, left, op) or _may_answer(at, right, op)):
        sure = False
    at.notebook.count(frame)
    if a is None or b is None:
        # `[0] * t` and the like are no tensors; what a foreign class does with one is not known.
        other, value = (right, left) if b is None else (left, right)
        if isinstance(other, Seq) and (not first.array or first.ndim == 0):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
            if isinstance(op, ast.Mult) and any(isinstance(side, (ast.List, ast.Tuple)) for side in sides):
                if at.notebook.listens("size tensor", frame):
                    at.notebook.note(node, "size tensor", frame, about=first)
            return UNKNOWN
        # A tensor that only may be one, with a number that may not: the result keeps the doubt.
        if _may_be_plain(value):
            return join(_result(op, first, a, b, sure), UNKNOWN if other is UNKNOWN else FLOAT)
    return _result(op, first, a, b, sure)


def _may_answer(at: Context, side: Value, op: ast.operator) -> bool:
    """Whether it may be an object of the project whose class says what the operator makes of it and a tensor."""
    objects = [o.cls for o in side.options if isinstance(o, Instance)] if isinstance(side, Union) else []
    name = OPERATORS[op.__class__]
    return any(
        cls is not None and any(at.classes.find_method(cls, f"__{each}__") for each in (name, f"r{name}"))
        for cls in objects
    )


def _result(op: ast.operator, first: Tensor, a: Tensor | None, b: Tensor | None, sure: bool) -> Tensor:
    """The tensor that an operator makes of two, or of one and a number."""
    dtype = first.dtype
    if isinstance(op, ast.Div):
        dtype = "float"
    elif isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        if a is not None and b is not None and a.dtype != b.dtype:
            kinds = {a.dtype, b.dtype}  # what is put together with a mask is one, too
            dtype = "bool" if kinds == {"bool", None} else None if None in kinds else "int"
    elif a is not None and b is not None:
        dtype = "float" if "float" in (a.dtype, b.dtype) else (a.dtype if a.dtype == b.dtype else None)
    elif dtype == "bool":
        dtype = None
    constant = all(t is None or t.leaf == CONSTANT for t in (a, b))
    leaf = CONSTANT if constant else 0
    result = Tensor(dtype, first.origin, sure, first.array, broadcast(a, b), leaf)
    if a is None or b is None or a.under == b.under:
        result.under = first.under
    return result


def _of_plain(left: Py, right: Py, op: ast.operator) -> Value:
    """What an operator makes of two plain values."""
    kinds = (left.type, right.type)
    if left.type == right.type == "bool" and isinstance(op, (ast.BitOr, ast.BitAnd)):
        decisive = isinstance(op, ast.BitOr)
        if truth(left) is decisive or truth(right) is decisive:
            return Py("bool", decisive)
        return left if truth(left) is truth(right) is not None else BOOL
    if "str" in kinds:
        return STR
    if isinstance(op, ast.Div):
        return FLOAT
    if isinstance(op, ast.Mult) and (left.off or right.off):  # nothing, times what it may be
        return Py("float" if "float" in kinds else "int", off=OFTEN_OFF)
    if left.type == right.type == "int":
        return INT
    if "float" in kinds:
        return FLOAT
    return OBJECT if left.type not in ("int", "bool") else INT


def _with_number(at: Context, node: ast.BinOp, tensor: Tensor, array: Tensor, frame: Frame) -> None:
    """`torch.arange(n) * np.log(2.0)`: a number with a point that NumPy makes is an array to Dynamo, of double
    precision, which decides the dtype of what comes of whole numbers, and of a tensor of no dimensions."""
    if array.leaf != CONSTANT or array.dtype != "float" or array.ndim or not (array.sure and tensor.sure):
        return
    whole = tensor.dtype in ("int", "bool")
    if (whole or tensor.ndim == 0) and at.notebook.listens(PROMOTED, frame):
        words = {"other": "whole" if whole else "no dimensions"}
        at.notebook.note(node, PROMOTED, frame, about=tensor, details=words)


def of_random(at: Context, node: Any, drawn: Value, frame: Frame) -> Value:
    """`2 * random.uniform(0, 1)`, `-random.uniform(0, 1)`: what comes of it is a number of Python."""
    if at.notebook.listens(COMPUTED, frame):
        at.notebook.note(node, COMPUTED, frame, about=tensor_of(drawn))
    return FLOAT


def compare(left: Value, op: ast.cmpop, right: Value) -> Value:
    """What a comparison gives."""
    if isinstance(left, Py) and left.type == "dtype" and (is_dtype(right) or isinstance(right, Seq)):
        return _compare_dtypes(left, op, right)
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _is_same(left, op, right)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _is_in(left, op, right)
    if tensor_of(left) is not None or tensor_of(right) is not None:
        return _compare_tensors(left, right)
    if isinstance(left, Py) and isinstance(left.const, Release) and isinstance(right, Seq):
        right = Py("tuple", tuple(each.const if isinstance(each, Py) else None for each in right.elts or ()))
    if isinstance(left, Py) and isinstance(right, Py):
        if left.const is not NO_CONST and right.const is not NO_CONST and type(op) in _COMPARE:
            try:
                return Py("bool", bool(_COMPARE[type(op)](left.const, right.const)))
            except TypeError:
                return BOOL
        if left is SIZE and type(right.const) is int and right.const < 0 and type(op) in _COMPARE:
            return Py("bool", bool(_COMPARE[type(op)](0, right.const)))  # a size is none of these
        if isinstance(op, ast.Eq) and left.type in ("str", "object") and right.const not in OFF_TEXTS:
            return Py("bool", off=left.off)
        return BOOL
    if left is UNKNOWN or right is UNKNOWN:
        if isinstance(op, (ast.Eq, ast.NotEq)) and any(
            isinstance(v, Py) and v.type == "str" for v in (left, right)
        ):
            return BOOL
        return UNKNOWN
    return BOOL


def _is_same(left: Value, op: ast.cmpop, right: Value) -> Value:
    """`left is right`, `left is not right`"""
    for one, other in ((left, right), (right, left)):
        if is_none(other) is True:
            known = is_none(one)
            return BOOL if known is None else Py("bool", known is isinstance(op, ast.Is))
    if isinstance(left, Py) and isinstance(right, Py):
        # Of texts, only members of enumerations are asked so.
        if left.type == right.type and left.type in ("bool", "str", MEMBER):
            if left.const is not NO_CONST and right.const is not NO_CONST:
                return Py("bool", (left.const == right.const) is isinstance(op, ast.Is))
        if {left.type, right.type} == {"str", "bool"}:
            return Py("bool", isinstance(op, ast.IsNot))  # `keep_dims is False`, of a text
    return BOOL


def _is_in(left: Value, op: ast.cmpop, right: Value) -> Value:
    """`left in right`, `left not in right`"""
    item = tensor_of(left)
    if item is not None and isinstance(right, Seq) and right.type in ("list", "tuple"):
        # Each is asked whether it is equal.
        other = right.elem
        if isinstance(other, Tensor) or _is_number(other):
            sure = item.sure and (not isinstance(other, Tensor) or other.sure)
            return Tensor("bool", item.origin, sure, item.array, 0)
    if isinstance(left, Py) and left.const is not NO_CONST and isinstance(right, Seq) and right.elts:
        consts = [e.const if isinstance(e, Py) else NO_CONST for e in right.elts]
        if not any(c is NO_CONST for c in consts):
            return Py("bool", (left.const in consts) is isinstance(op, ast.In))
    if isinstance(left, Py) and isinstance(left.const, str) and isinstance(right, Dict):
        if left.const in right.items and right.elem is UNKNOWN:
            return Py("bool", isinstance(op, ast.In))
    return BOOL


def _compare_tensors(left: Value, right: Value) -> Value:
    """The mask that a comparison makes, where one side, or both, may be tensors."""
    a, b = tensor_of(left), tensor_of(right)
    first = a or b
    assert first is not None
    value, other = (left, right) if a is not None else (right, left)
    if is_none(other) is True or (isinstance(other, Py) and other.type in ("str", "dtype")):
        return BOOL
    if isinstance(other, (Seq, Dict)) and not first.array:
        return BOOL
    sure = (a is None or a.sure) and (b is None or b.sure)
    result = Tensor("bool", first.origin, sure, first.array, broadcast(a, b))
    return join(result, BOOL) if (a is None or b is None) and _may_be_plain(value) else result


def _compare_dtypes(left: Py, op: ast.cmpop, right: Value) -> Value:
    """`dtype == torch.float16`, `dtype in (torch.float16, torch.bfloat16)`"""
    others = (right.elts or [UNKNOWN]) if isinstance(right, Seq) else [right]
    same = {same_dtype(left, o) if isinstance(o, Py) and is_dtype(o) else None for o in others}
    outcome = True if True in same else None if None in same else False
    return BOOL if outcome is None else Py("bool", outcome is isinstance(op, (ast.Eq, ast.Is, ast.In)))


def _may_be_plain(value: Value) -> bool:
    """Whether it is a tensor, or else a plain value."""
    return isinstance(value, Union) and any(isinstance(o, Py) and o.type != "none" for o in value.options)


def _kinds(value: Value) -> list[Value]:
    """The classes that a side of `int | Node` names; nothing where it names none."""
    if isinstance(value, Seq):
        return value.elts if value.type == "tuple" and value.elts is not None else []
    return [value] if isinstance(value, Class) or (isinstance(value, Ext) and value.receiver is None) else []


def is_drawn(value: Value) -> bool:
    """Whether it is a random number that Python or NumPy drew."""
    return isinstance(value, Tensor) and value.is_drawn


def _is_number(value: Value) -> bool:
    return isinstance(value, Py) and value.type in ("int", "float", "bool")


def broadcast(a: Tensor | None, b: Tensor | None) -> int | None:
    """The number of dimensions of an elementwise result; a Python number (None) has none."""
    if a is None or b is None:
        one = a if a is not None else b
        return one.ndim if one is not None else None
    return None if a.ndim is None or b.ndim is None else max(a.ndim, b.ndim)
