"""What holds where the user's models run (`assume`): conditions that it decides, and findings that it excludes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pt2lint.finding import Finding

WORDS = {"training": ("training", True), "eval": ("training", False)}
WORDS |= {"autocast": ("autocast", True), "no-autocast": ("autocast", False)}
DTYPES = {
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float": "float32",
}
DTYPES |= {"float64": "float64", "double": "float64"}
ASKS_AUTOCAST = ("is_autocast_enabled", "is_autocast_cpu_enabled")
Held = tuple[str, Any]


def parse(text: str) -> Held:
    """("training", True), ("dtype", "float16") or ("config.output_attentions", False): what one assumption says.

    Raises ValueError, with what is near it, for what says nothing.
    """
    from difflib import get_close_matches

    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        if name in WORDS:
            return WORDS[name]
        near = get_close_matches(name.lower(), WORDS, n=1, cutoff=0.6)
        more = (
            f'did you mean "{near[0]}"?'
            if near
            else f"it takes {', '.join(WORDS)}, dtype=float16, NAME=VALUE"
        )
        raise ValueError(f'holds "{text}", which says nothing; {more}')
    if name in ("dtype", "torch_dtype"):
        short = value.removeprefix("torch.")
        if short in DTYPES:
            return "dtype", DTYPES[short]
        near = get_close_matches(short, DTYPES, n=1, cutoff=0)
        raise ValueError(
            f'holds "{text}", but that is no floating-point dtype; did you mean "dtype={near[0]}"?'
        )
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(
            f'holds "{text}", but {name or "nothing"} is no name; write it as in "config.use_cache=False"'
        )
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        near = get_close_matches(value.capitalize(), ["True", "False", "None"], n=1, cutoff=0.75)
        if near:
            raise ValueError(f'holds "{text}"; did you mean "{name}={near[0]}"?') from None
        if not value.isidentifier():
            raise ValueError(f'holds "{text}", but {value or "nothing"} is no value of Python') from None
        return name, value  # a word stands for a text, as on a command line


def assumed(finding: Finding, held: Sequence[Held]) -> Finding | None:
    """The finding without the conditions that are known to hold; None where one does not."""
    if not finding.when or not held:
        return finding
    outcomes = {text: outcome(text, held) for text in finding.when}
    if False in outcomes.values():
        return None
    left = tuple(text for text in finding.when if outcomes[text] is None)
    if left == finding.when:
        return finding
    on = any(f"`{text}` is off by default" == finding.note for text in finding.when if text not in left)
    return replace(finding, when=left, note="" if on else finding.note)


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
        return held.get("autocast") if name in ASKS_AUTOCAST else None
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
        return None
    try:
        wanted = ast.literal_eval(right)
        if isinstance(op, (ast.Eq, ast.Is)):
            return bool(known[0] == wanted)
        if isinstance(op, (ast.NotEq, ast.IsNot)):
            return bool(known[0] != wanted)
        if isinstance(op, (ast.In, ast.NotIn)):
            return (known[0] in wanted) is isinstance(op, ast.In)
    except (ValueError, TypeError):
        pass
    return None


def _asks_dtype(node: ast.expr) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "dtype"


def _dtypes(node: ast.expr) -> set[str] | None:
    """The floating-point dtypes that an expression names, None where it is something else."""
    nodes = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    names = {DTYPES.get(each.attr, "") if isinstance(each, ast.Attribute) else "" for each in nodes}
    return None if "" in names else names


def _value(node: ast.expr, held: dict[str, Any]) -> tuple[Any] | None:
    """The value that is assumed of a name: of `self.config.use_cache` that of `config.use_cache`."""
    parts = ast.unparse(node).split(".") if isinstance(node, (ast.Name, ast.Attribute)) else []
    if parts and parts[-1] == "training" and "training" in held:
        return (held["training"],)
    for i in range(len(parts)):
        name = ".".join(parts[i:])
        if name in held and name not in ("dtype", "autocast"):
            return (held[name],)
    return None
