"""Whether a condition in the code's own words holds, where some things are known: a dtype, a mode, a setting."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

DTYPES = {
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float": "float32",
}
DTYPES |= {"float64": "float64", "double": "float64"}
BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
ASKS_AUTOCAST = ("is_autocast_enabled", "is_autocast_cpu_enabled")
Held = tuple[str, Any]


def outcome(text: str, held: Sequence[Held]) -> bool | None:
    """Whether a condition holds, None where nothing that is assumed tells."""
    try:
        return _outcome(ast.parse(text, mode="eval").body, dict(held))
    except SyntaxError:
        return None


def _outcome(test: ast.expr, held: dict[str, Any]) -> bool | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _outcome(test.operand, held)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decisive = isinstance(test.op, ast.Or)
        parts = [_outcome(part, held) for part in test.values]
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ast.Call):
        name = getattr(test.func, "attr", getattr(test.func, "id", ""))
        if name in ASKS_AUTOCAST:
            return held.get("autocast")
        text = _of_dtype(test.func.value, held) if isinstance(test.func, ast.Attribute) else None
        if text is None or name not in ("startswith", "endswith"):
            return None
        given = [part.value for part in test.args if isinstance(part, ast.Constant)]
        return getattr(text[0], name)(given[0]) if [type(one) for one in given] == [str] else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0], held)
    known = _value(test, held)
    return None if known is None else bool(known[0])


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, held: dict[str, Any]) -> bool | None:
    if "dtype" in held and (words := _dtypes(right)) is not None and _asks_dtype(left):
        # What is no floating-point tensor has a dtype of its own.
        same = held["dtype"] in words
        return same if isinstance(op, (ast.Eq, ast.Is, ast.In)) else not same
    known = _value(left, held)
    if known is None:
        # `"float16" in str(x.dtype)`
        within = _of_dtype(right, held) if isinstance(op, (ast.In, ast.NotIn)) else None
        if within is None or not isinstance(left, ast.Constant) or not isinstance(left.value, str):
            return None
        return (left.value in within[0]) is isinstance(op, ast.In)
    try:
        wanted = ast.literal_eval(right)
        if isinstance(op, (ast.Eq, ast.Is)):
            return bool(known[0] == wanted)
        if isinstance(op, (ast.NotEq, ast.IsNot)):
            return bool(known[0] != wanted)
        if isinstance(op, (ast.In, ast.NotIn)):
            return (known[0] in wanted) is isinstance(op, ast.In)
        if isinstance(op, ast.Gt):
            return bool(known[0] > wanted)
        if isinstance(op, ast.GtE):
            return bool(known[0] >= wanted)
        if isinstance(op, ast.Lt):
            return bool(known[0] < wanted)
        if isinstance(op, ast.LtE):
            return bool(known[0] <= wanted)
    except (ValueError, TypeError):
        pass
    return None


def _asks_dtype(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "dtype"


def _of_dtype(node: ast.expr, held: dict[str, Any]) -> tuple[Any] | None:
    """What the code makes of the dtype that is assumed: `torch.finfo(x.dtype).bits`, `x.dtype.itemsize`,
    `x.element_size()`, `str(x.dtype)`."""
    if "dtype" not in held:
        return None
    dtype = held["dtype"]
    if isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Attribute):
            return (BITS[dtype] // 8,) if node.func.attr == "element_size" and not node.args else None
        named = isinstance(node.func, ast.Name) and node.func.id == "str"
        return (f"torch.{dtype}",) if named and len(node.args) == 1 and _asks_dtype(node.args[0]) else None
    if not isinstance(node, ast.Attribute):
        return None
    if _asks_dtype(node.value):
        return {"itemsize": (BITS[dtype] // 8,), "is_floating_point": (True,)}.get(node.attr)
    info = node.value
    if not isinstance(info, ast.Call) or len(info.args) != 1 or not _asks_dtype(info.args[0]):
        return None
    name = getattr(info.func, "attr", getattr(info.func, "id", ""))
    return (BITS[dtype],) if (name, node.attr) == ("finfo", "bits") else None


def _dtypes(node: ast.expr) -> set[str] | None:
    """The floating-point dtypes that an expression names, None where it is something else."""
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    names = {DTYPES.get(each.attr, "") if isinstance(each, ast.Attribute) else "" for each in nodes}
    return None if "" in names else names


def _value(node: ast.expr, held: dict[str, Any]) -> tuple[Any] | None:
    """The value that is assumed of a name: of `self.config.use_cache` that of `config.use_cache`."""
    if (made := _of_dtype(node, held)) is not None:
        return made
    parts = ast.unparse(node).split(".") if isinstance(node, (ast.Name, ast.Attribute)) else []
    if parts and parts[-1] == "training" and "training" in held:
        return (held["training"],)
    for i in range(len(parts)):
        name = ".".join(parts[i:])
        if name in held and name not in ("dtype", "autocast"):
            return (held[name],)
    return None
