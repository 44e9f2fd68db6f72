"""A branch on a random number and a rate."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.fixes.arms import leaves
from pt2lint.fixes.condition import definition
from pt2lint.fixes.file import class_around, method_in, placed_in
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, block_of, enclosing_function
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import conjuncts, disjuncts, is_name


def ask_rate_first(function: FunctionCode, test: cst.BaseExpression, kind: Kind | None = None) -> Repaired:
    """`p < rate`, where `p` comes from `torch.rand`: ask first whether the rate is above zero.

    `torch.rand` draws from [0, 1), so the answer is the same for every rate, and so are the random numbers where the
    draw stands before the test; where it stands in it, nothing is drawn for a rate of zero. With such a rate Dynamo no
    longer sees a tensor. Where the rate is above zero the break stays.
    """
    comparison = drawn_comparison(function, test)
    if comparison is None:
        return Refusal("the test does not compare a number of torch.rand with a rate")
    rate = comparison.comparisons[0].comparator
    kind = kind or guess(function)
    if not isinstance(rate, cst.Name | cst.Attribute) or kind(rate).startswith("tensor"):
        return Refusal("the rate is not a plain number of Python")
    if not _may_be_zero(function, rate):
        return Refusal("nothing says that the rate may be zero, and above it the break stays")
    named = source(function, rate)
    text = f"{named} > 0"
    if _is_asked(function, comparison, named):
        return Refusal("the rate is asked for already")
    joined = cst.parse_expression(f"{text} and {source(function, comparison)}")
    assert isinstance(joined, cst.BooleanOperation)
    alone = comparison is test or isinstance(function.parent(comparison), cst.BooleanOperation)
    parent = function.parent(comparison)
    if isinstance(parent, cst.BooleanOperation) and not isinstance(parent.operator, cst.And):
        alone = False
    if comparison.lpar and alone:
        joined = joined.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        inner = source(function, comparison.with_changes(lpar=(), rpar=()))
        joined = cst.ensure_type(cst.parse_expression(f"({text} and {inner})"), cst.BooleanOperation)
    elif not alone:
        joined = joined.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    edits = rewrite(function, {comparison: joined})
    before = isinstance(comparison.left, cst.Name)
    draws = (
        "" if before else " With a rate of zero one seed then draws other random numbers for what follows."
    )
    return fix(
        f"Ask `{text}` first: with a rate of zero there is nothing to draw for, and Dynamo sees no tensor. "
        f"With a rate above zero the graph break stays.{draws}",
        edits,
        *(() if before else ("other draws",)),
        safe=before,
    )


def _is_asked(function: FunctionCode, comparison: cst.Comparison, rate: str) -> bool:
    """Whether a rate of zero does not get here: `if rate:` and `if rate > 0:` around it, also in a longer test, or
    `if not rate: return` above."""
    inner: cst.CSTNode = comparison
    for outer in ancestors(function, comparison):
        tested = outer.test if isinstance(outer, cst.If | cst.IfExp) else None
        asked = tested or outer
        if isinstance(asked, cst.BooleanOperation | cst.Comparison) and f"{rate} > 0" in source(
            function, asked
        ):
            return True
        if tested is not None and any(source(function, one) == rate for one in conjuncts(tested)):
            return True
        place = block_of(function, inner)
        above = place[0][: place[1]] if place is not None else ()
        if any(_leaves_at_zero(function, one, rate) for one in above):
            return True
        if isinstance(outer, cst.FunctionDef):
            return False
        inner = outer
    return False


def _leaves_at_zero(function: FunctionCode, statement: cst.CSTNode, rate: str) -> bool:
    """`if not rate or not self.training: return x`."""
    if not isinstance(statement, cst.If) or not leaves(statement.body):
        return False
    zero = (
        f"not {rate}",
        f"{rate} == 0",
        f"{rate} == 0.0",
        f"{rate} <= 0",
        f"{rate} <= 0.0",
        f"{rate} == 0.",
    )
    return any(source(function, one) in zero for one in disjuncts(statement.test))


def _may_be_zero(function: FunctionCode, rate: cst.Name | cst.Attribute) -> bool:
    """Whether an attribute may be a rate of zero as far as its class tells: not where that gives it another number by
    default, as a random flip has, or leaves it to another class."""
    cls = class_around(function, function.range(rate)[0])
    if cls is None or not isinstance(rate, cst.Attribute) or not is_name(rate.value, "self"):
        return True
    made = method_in(cls, "__init__")
    given: dict[str, ast.expr | None] = {}
    if made is not None:
        defaults = zip(reversed(placed_in(made)), reversed(made.args.defaults), strict=False)
        named = zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
        given = {arg.arg: value for arg, value in (*defaults, *named)}
    name = rate.attr.value
    values = (
        given.get(one.value.id, one.value) if isinstance(one.value, ast.Name) else one.value
        for one in (*cls.body, *(ast.walk(made) if made is not None else ()))
        if isinstance(one, ast.Assign)
        and any(name in (getattr(target, "attr", ""), getattr(target, "id", "")) for target in one.targets)
    )
    return any(not isinstance(value, ast.Constant) or not value.value for value in values)


def drawn_comparison(function: FunctionCode, test: cst.BaseExpression) -> cst.Comparison | None:
    """The comparison in a test of a number that torch.rand draws, with a rate that is above it."""
    if isinstance(test, cst.BooleanOperation):
        return drawn_comparison(function, test.left) or drawn_comparison(function, test.right)
    if isinstance(test, cst.UnaryOperation):
        return drawn_comparison(function, test.expression)
    if isinstance(test, cst.Name):
        value = definition(function, test)
        return (
            drawn_comparison(function, value) if value is not None and _only_tested(function, test) else None
        )
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    if not isinstance(test.comparisons[0].operator, cst.LessThan):
        return None
    drawn: cst.BaseExpression | None = test.left
    if isinstance(drawn, cst.Name):
        drawn = definition(function, drawn)
    if isinstance(drawn, cst.Call) and qualified(function, drawn.func) == "torch.rand":
        return test
    return None


def _only_tested(function: FunctionCode, name: cst.Name) -> bool:
    """Whether all that is done with the name is to ask for its truth, so that it may be False instead of a tensor."""
    owner = enclosing_function(function, name)
    if owner is None:
        return False
    for use in uses(owner.body):
        if use.name != name.value or use.binds:
            continue
        inner, outer = use.node, function.parent(use.node)
        while isinstance(outer, cst.BooleanOperation | cst.UnaryOperation):
            if isinstance(outer, cst.UnaryOperation) and not isinstance(outer.operator, cst.Not):
                return False
            inner, outer = outer, function.parent(outer)
        if not isinstance(outer, cst.If | cst.IfExp | cst.While) or outer.test is not inner:
            return False
    return True
