"""`min` and `max` by a key, as the first of what `sorted` gives: that is traced."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the call that the node is."""
    return accepted(first_of_sorted(function, node)) if isinstance(node, cst.Call) else ()


def first_of_sorted(function: FunctionCode, node: cst.Call) -> Repaired:
    """`min(xs, key=k)` as `sorted(xs, key=k)[0]`, `max(...)` with `reverse=True`: of several that are alike both keep
    the first.

    Refused with `default` and where the things stand one by one. Told only: who sorts to take one says less than who
    asks for the least, and linters turn it back.
    """
    which = node.func.value if isinstance(node.func, cst.Name) else ""
    given = [a for a in node.args if a.keyword is None]
    if which not in ("min", "max") or "sorted" in function.functions:
        return Refusal("neither `min` nor `max` is called by its name")
    if len(given) != 1 or given[0].star or len(node.args) != 2:
        return Refusal("it is given more than one sequence and a key")
    reverse = ", reverse=True" if which == "max" else ""
    arguments = ", ".join(
        source(
            function,
            a.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace("")),
        )
        for a in node.args
    )
    new = cst.parse_expression(f"sorted({arguments}{reverse})[0]")
    return fix(
        f"Take the first of what `sorted` gives, which is traced and finds the same. It assumes that there is one "
        f"(`{which}` of nothing raises ValueError, this IndexError).",
        rewrite(function, {node: new}),
        by_hand=True,
    )
