"""Tests of a tensor that only save work: the work is done, and the test left out."""

from __future__ import annotations

from typing import Any

import libcst as cst

from pt2lint.finding import Fix, Trait
from pt2lint.fixes.arms import refuse_shared
from pt2lint.fixes.condition import (
    Condition,
    and_not,
    any_set,
    bare,
    is_scalar,
    joined,
    opposite,
    read_condition,
    read_of,
    reduced,
)
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, guess, words
from pt2lint.fixes.names import bound_before, live_after, reads, uses
from pt2lint.fixes.nodes import ancestors, block_of, enclosing_function, name_in, only_of, small_of
from pt2lint.fixes.purity import costly, effect, number, of_number, singular
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import replaced, rewrite
from pt2lint.fixes.text import sign_of, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, says_none, walk


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """All repairs that fit of the `if` whose test the node is, or is part of."""
    kind = kind or guess(function)
    inner = node
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.If):
            if outer is not node and outer.test is not inner:
                return ()
            test = node if isinstance(node, cst.BaseExpression) else outer.test
            return accepted(
                mask_assignment(function, outer, kind),
                without_shortcut(function, outer, test),
                mask_always(function, outer, test),
                early_in_eager(function, outer, test),
            )
        if isinstance(outer, cst.IfExp) and isinstance(node, cst.BaseExpression):
            return accepted(chosen_mask(function, outer, node))
        if isinstance(outer, cst.BaseStatement):
            return ()
        inner = outer
    return ()


def without_shortcut(function: FunctionCode, node: cst.If, tested: cst.BaseExpression) -> Repaired:
    """`if mask.all(): mask = None` as `if not torch.compiler.is_compiling() and mask.all(): mask = None`: compiled, the
    mask is used as it is. So too of `if not padding.any()`.

    For a test that all of a mask is set, or none of it, in an `if` that does nothing but set names to None. Refused in
    an `elif`, with an `else`, and for other tests. Unsafe: the code after it must treat a mask that masks
    nothing as it treats None; --verify only believes that where such a mask came up.
    """
    if node.orelse is not None or block_of(function, node) is None:
        return Refusal("the test has another side")
    if not _sets_none(node.body):
        return Refusal("the `if` does more than set names to None")
    says = "Leave out the shortcut for a mask that masks nothing where it is compiled: the mask is then used as it is"
    trait: Trait = "taken"
    outside = tested if _is_not(tested) else function.parent(tested)
    if isinstance(outside, cst.UnaryOperation) and _is_not(outside):
        if any_set(function, _unread(outside.expression)) is None:
            return Refusal("the test does not ask whether nothing of a mask is set")
        tested, says, trait = outside, _UNMASKED, "not taken"
    elif not _all_set(function, tested):
        return Refusal("the test does not ask whether all of a mask is set")
    if not _stands_plainly(node.test, tested):
        return Refusal("the test stands in something else than `and` and `or`")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    asked = and_not(function, tested, f"{compiling}()", first=True)
    return fix(f"{says}. {_ALIKE}", (*imports, *rewrite(function, {tested: asked})), trait)


_UNMASKED = "Use the mask also where it masks nothing, where it is compiled"
_ALIKE = "It assumes that the code after it treats such a mask and None alike, but for the time it takes."


def _is_not(node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)


def _unread(test: cst.BaseExpression) -> cst.BaseExpression:
    """The test of a tensor whose answer is read out of it: `mask.any()` of `mask.any().item()`."""
    return (read_of(test) if isinstance(test, cst.Call) else None) or test


def chosen_mask(function: FunctionCode, node: cst.IfExp, tested: cst.BaseExpression) -> Repaired:
    """`m if 0 in m else None` as `m if torch.compiler.is_compiling() or 0 in m else None`, and `None if m.all() else m`
    as `None if not torch.compiler.is_compiling() and m.all() else m`.

    Refused where another mask is asked, or anything else is chosen. Unsafe as `without_shortcut`.
    """
    none_first = says_none(node.body)
    mask = node.orelse if none_first else node.body
    if not isinstance(mask, cst.Name) or none_first == says_none(node.orelse):
        return Refusal("it does not choose between a mask and None")
    whole = tested if _is_not(tested) else function.parent(tested)
    inner = tested
    if isinstance(whole, cst.UnaryOperation) and _is_not(whole) and not none_first:
        tested, inner = whole, whole.expression
    negated = inner is not tested
    asked = _asked_whole(function, inner, "not in" if none_first or negated else "in")
    if asked is None or not asked.deep_equals(mask) or not _stands_plainly(node.test, tested):
        return Refusal("the test does not ask whether the mask masks anything, or more than that")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    text = source(function, tested)
    made = f"not {compiling}() and {text}" if none_first else f"{compiling}() or {text}"
    new = cst.parse_expression(made if tested is node.test else f"({made})")
    return fix(f"{_UNMASKED}. {_ALIKE}", (*imports, *rewrite(function, {tested: new})), "not taken")


def _asked_whole(function: FunctionCode, test: cst.BaseExpression, sign: str) -> cst.BaseExpression | None:
    """The `m` of `0 in m` or `0 not in m`, and of `m.all()` or `(m == 1).all()`, where that is the sign for it."""
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        only = test.comparisons[0]
        said = sign_of(function, only.operator) == sign and number(test.left) == 0
        return only.comparator if said else None
    test = _unread(test)
    if sign == "in" or not _all_set(function, test) or not isinstance(test, cst.Call):
        return None
    asked = test.func.value if isinstance(test.func, cst.Attribute) and not test.args else test.args[0].value
    return asked.left if isinstance(asked, cst.Comparison) else asked


def mask_always(function: FunctionCode, node: cst.If, tested: cst.BaseExpression) -> Repaired:
    """`if padding.any(): mask = padding` as `if torch.compiler.is_compiling() or padding.any(): mask = padding`, where
    the mask is None before.

    Refused with an `else`, where more is done, or another mask is set. Unsafe as `without_shortcut`.
    """
    if node.orelse is not None or block_of(function, node) is None or not _stands_plainly(node.test, tested):
        return Refusal("the test has another side, or stands in something else than `and` and `or`")
    padding, small, owner = any_set(function, tested), only_of(node.body), enclosing_function(function, node)
    name = name_in(small)
    if padding is None or owner is None or name is None or not isinstance(small, cst.Assign):
        return Refusal("the test does not ask whether something of a mask is set, which alone is bound then")
    if bare(source(function, small.value)) != bare(source(function, padding)):
        return Refusal("another mask is bound")
    before = [function.parent(use.node) for use in uses(owner.body) if use.name == name.value and use.binds]
    before = [function.parent(one) if isinstance(one, cst.AssignTarget) else one for one in before]
    if len(before) != 2 or not any(says_none(getattr(one, "value", None)) for one in before):
        return Refusal("the mask is not None before")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    asked = f"{compiling}() or {source(function, tested)}"
    new = cst.parse_expression(asked if tested is node.test else f"({asked})")
    return fix(f"{_UNMASKED}. {_ALIKE}", (*imports, *rewrite(function, {tested: new})), "not taken")


def _sets_none(body: cst.BaseSuite) -> bool:
    for statement in body.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else (statement,):
            if not isinstance(small, cst.Assign) or not all(
                isinstance(target.target, cst.Name) for target in small.targets
            ):
                return False
            if not isinstance(small.value, cst.Name) or small.value.value != "None":
                return False
    return True


def _all_set(function: FunctionCode, test: cst.BaseExpression) -> bool:
    """`m.all()`, `torch.all(m == 1)`, `(m == 1).all()`."""
    asked = reduced(function, test, "all")
    if isinstance(asked, cst.Comparison):
        only = asked.comparisons[0]
        return (
            len(asked.comparisons) == 1
            and isinstance(only.operator, cst.Equal)
            and (number(only.comparator) == 1 or source(function, only.comparator) == "True")
        )
    return isinstance(asked, cst.Name | cst.Attribute | cst.Call | cst.Subscript)


def _stands_plainly(test: cst.BaseExpression, part: cst.BaseExpression) -> bool:
    """Whether the test is the part, or has it in nothing but `and` and `or`."""
    if isinstance(test, cst.BooleanOperation):
        return _stands_plainly(test.left, part) or _stands_plainly(test.right, part)
    return test is part


def early_in_eager(function: FunctionCode, node: cst.If, tested: cst.BaseExpression) -> Repaired:
    """`if not mask.any(): return x` as `if not torch.compiler.is_compiling() and not mask.any(): return x`.

    For a way out, of the function or of a loop's turn, where a mask sets nothing and what follows writes and selects
    through that mask: compiled code then does all of it. Refused where what is returned is not a name, where nothing
    below goes through the mask, and for other tests. Unsafe: where nothing is set, what follows must change nothing.
    """
    place = block_of(function, node)
    if node.orelse is not None or place is None:
        return Refusal("the test has another side")
    rest, out = place[0][place[1] + 1 :], _way_out(node.body)
    if out is None:
        return Refusal("the `if` does more than leave")
    if isinstance(out, cst.Return) and (not isinstance(out.value, cst.Name) or says_none(out.value)):
        return Refusal("what is returned is not a name")
    mask = _none_set(function, node.test, tested)
    if mask is None:
        return Refusal("the test does not ask whether a mask sets nothing")
    if not any(_goes_through(one, mask) for one in rest):
        return Refusal("what follows does not go through the mask")
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    test = and_not(function, node.test, f"{compiling}()", first=True)
    return fix(
        f"Leave early in eager mode alone: compiled code does what follows, also where `{mask}` sets nothing. It "
        "assumes that this changes nothing then, but for the time it takes.",
        (*imports, *rewrite(function, {node.test: test})),
        "not taken",
        "once proven",
    )


def _way_out(body: cst.BaseSuite) -> cst.BaseSmallStatement | None:
    small = only_of(body)
    return small if isinstance(small, cst.Return | cst.Break | cst.Continue) else None


def _none_set(function: FunctionCode, test: cst.BaseExpression, tested: cst.BaseExpression) -> str | None:
    """The name of the mask, where the test is `not mask.any()`, or that and other parts."""
    while isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        test = test.right
    if not isinstance(test, cst.UnaryOperation) or not isinstance(test.operator, cst.Not):
        return None
    asked = test.expression
    mask = any_set(function, asked) if asked is tested else None
    return mask.value if isinstance(mask, cst.Name) else None


def _goes_through(statement: cst.CSTNode, mask: str) -> bool:
    """Whether a statement selects by the mask (`torch.where`, `masked_fill`) or writes through it (`x[mask] = y`)."""
    for part in walk(statement):
        through: cst.CSTNode | None = None
        if isinstance(part, cst.AssignTarget | cst.AugAssign) and isinstance(part.target, cst.Subscript):
            through = part.target.slice[0]
        elif isinstance(part, cst.Call) and part.args and callee(part) in _FILLS:
            through = part.args[0]
        elif isinstance(part, cst.Call) and part.args and callee(part) == "where":
            if mask in reads(part.args[0]):
                return True
        # What is written where the mask is not set is written where nothing is.
        if through is not None and mask in reads(through):
            return not any(isinstance(one, cst.UnaryOperation) for one in walk(through))
    return False


_VIEWS = words(
    "view reshape unsqueeze squeeze expand expand_as flatten transpose permute contiguous t repeat"
)
_FILLS = ("masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_")


@refusing
def mask_assignment(function: FunctionCode, node: cst.If, kind: Kind | None = None) -> Repaired:
    """`if bad.any(): x[bad] = 0` as `x[bad] = 0`, and `if test: x[mask] = 0` as `x[mask & test] = 0`; so too of
    `x = x.masked_fill(bad, 0)`, and, where the test asks whether the mask sets anything, of
    `x = torch.where(bad, y, x)` and of several of these.

    Refused where there is an `else`, the body does more, what is assigned through a mask is not a number, or the test
    may have more than one element. Unsafe: the mask must be a tensor of bools; the tensor is written to also where
    nothing is, which autograd may not like of a leaf.
    """
    kind = kind or guess(function)
    if node.orelse is not None or block_of(function, node) is None:
        return Refusal("the test has another side")
    body = list(node.body.body)
    condition = read_condition(function, node.test, kind)
    if not _all_through(function, node, condition, kind):
        if len(body) > 1:
            return Refusal("the test does not ask whether the mask sets anything")
        mask = _mask_of(function, kind, small_of(body[0]))
        asked = [one for one in _tests(node.test) if source(function, one) not in condition.static]
        if not all(is_scalar(function, one) for one in asked):
            return Refusal("the test may have more than one element")
        holds = opposite(condition.text) if condition.negated else condition.text
        text = joined([source(function, mask), holds], "&")
        body = [replaced(body[0], {mask: cst.parse_expression(text)})]
    new: cst.CSTNode | list[cst.CSTNode]
    if condition.static:
        test = cst.parse_expression(" and ".join(condition.static))
        new = node.with_changes(test=test, body=node.body.with_changes(body=body))
    else:
        first: Any = body[0]
        above = (*node.leading_lines, *first.leading_lines)
        new = [first.with_changes(leading_lines=above), *body[1:]]
    edits = (*dict.fromkeys(condition.imports), *rewrite(function, {node: new}))
    return fix(
        "Assign through the mask without asking first: where nothing is set, nothing is written. It assumes that the "
        "mask is a tensor of bools.",
        edits,
    )


def _all_through(function: FunctionCode, node: cst.If, condition: Condition, kind: Kind) -> bool:
    """Whether each statement of the body changes nothing where the mask that the test asks sets nothing: it assigns
    through that mask, or selects by it, or gives another name to what was selected. What is selected elsewhere is
    cheap, and its gradient finite: it is computed then, too."""
    same: dict[str, str] = {}  # the name that holds the same, where nothing is set
    for statement in node.body.body:
        small = small_of(statement)
        target, value = name_in(small), getattr(small, "value", None)
        if target is not None and isinstance(value, cst.Name) and not says_none(value):
            same[target.value] = same.get(value.value, value.value)
            continue
        given = _selected(function, value) if target is not None else None
        if target is None or given is None:
            if not _asks_the_mask(function, condition, _mask_of(function, kind, small)):
                return False
            continue
        mask, one, other = given
        if _asks_the_mask(function, condition, mask):
            made, base = one, other
        elif _asks_the_mask(function, condition, mask, kept=True):
            made, base = other, one
        else:
            return False
        if not isinstance(base, cst.Name) or effect(mask) or effect(made) or costly(function, made, kind):
            raise Refused("what is selected is not cheap, or has an effect")
        if singular(made, products=False):
            raise Refused("the gradient of what is selected may be infinite")
        same[target.value] = same.get(base.value, base.value)
    for name, held in same.items():
        seen = live_after(function, name, [node]) or bound_before(function, name, node)
        if seen and held != name:
            raise Refused(f"`{name}` is another tensor, also where the mask sets nothing")
        refuse_shared(function, name, [node], kept=True)
    return True


def _selected(function: FunctionCode, value: cst.CSTNode | None) -> list[cst.BaseExpression] | None:
    """What `torch.where(mask, a, b)` is given."""
    if not isinstance(value, cst.Call) or qualified(function, value.func) != "torch.where":
        return None
    plain = len(value.args) == 3 and not any(arg.keyword or arg.star for arg in value.args)
    return [arg.value for arg in value.args] if plain else None


def _mask_of(function: FunctionCode, kind: Kind, small: cst.BaseSmallStatement | None) -> cst.BaseExpression:
    """The mask of `x[mask] = 0` and `x = x.masked_fill(mask, 0)`; else Refused."""
    written = _written_through(small)
    if written is None:
        raise Refused("the body does something else than assign through a mask")
    place, mask, value = written
    plain = number(value) is not None or kind(value) in ("int", "float", "bool")
    if isinstance(place, cst.Name):  # filled, not written to
        plain = plain or of_number(function, value) is not None
    known = qualified(function, value) in ("torch.nan", "torch.inf", "math.nan", "math.inf")
    if not (plain or known or source(function, value) in ('float("-inf")', "-torch.inf", "-math.inf")):
        raise Refused("the body is no assignment of a number through a mask")
    if effect(mask) or effect(place):
        raise Refused("the mask has an effect")
    made = isinstance(mask, cst.Call) and _to_bools(function, mask)
    if kind(mask) != "tensor:bool" and not gives_bools(mask) and not made:
        raise Refused("the index is not known to be a mask")
    return mask


def _written_through(
    small: cst.BaseSmallStatement | None,
) -> tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression] | None:
    """Of `x[mask] = 0` and `x = x.masked_fill(mask, 0)` what is written, the mask, and what with."""
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None
    target, value = small.targets[0].target, small.value
    if isinstance(target, cst.Subscript) and len(target.slice) == 1:
        index = target.slice[0].slice
        return (target.value, index.value, value) if isinstance(index, cst.Index) else None
    if not isinstance(value, cst.Call) or callee(value) != "masked_fill" or len(value.args) != 2:
        return None
    plain = not any(arg.keyword or arg.star for arg in value.args)
    if not plain or not isinstance(value.func, cst.Attribute) or not value.func.value.deep_equals(target):
        return None
    return target, value.args[0].value, value.args[1].value


def _asks_the_mask(
    function: FunctionCode, condition: Condition, mask: cst.BaseExpression, kept: bool = False
) -> bool:
    """Whether the test is whether the mask, or a part of what it is made of by `&`, sets anything: `m.any()` for `m`,
    `not m.all()` for `~m`; or leaves anything unset, where it says what is `kept`."""
    test = cst.parse_expression(condition.text)
    if condition.negated:
        asked, turned = reduced(function, test, "all"), True
    else:
        asked, turned = any_set(function, test) or _counted(function, test), False
    if asked is None:
        return False
    text, opposed = _positive(function, asked)
    sought = (text, opposed != turned)
    if any((mine, turned != kept) == sought for mine, turned in _readings(function, mask)):
        return True
    return not kept and any(sought in _readings(function, one) for one in _joined(mask))


def _counted(function: FunctionCode, test: cst.BaseExpression) -> cst.BaseExpression | None:
    """The `m` of `m.sum() > 0` and `m.sum() != 0`."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    (only,) = test.comparisons
    if not isinstance(only.operator, cst.GreaterThan | cst.NotEqual) or number(only.comparator) != 0:
        return None
    return reduced(function, test.left, "sum") or reduced(function, test.left, "count_nonzero")


def _positive(function: FunctionCode, mask: cst.BaseExpression) -> tuple[str, bool]:
    """The mask without what turns it round (`~m`, `m.logical_not()`), and whether that does."""
    if isinstance(mask, cst.UnaryOperation) and isinstance(mask.operator, cst.BitInvert):
        inner: cst.BaseExpression | None = mask.expression
    else:
        inner = reduced(function, mask, "logical_not")
    if inner is None:
        return bare(source(function, mask)), False
    text, turned = _positive(function, inner)
    return text, not turned


def _readings(function: FunctionCode, mask: cst.BaseExpression) -> list[tuple[str, bool]]:
    """The masks without which this one has nothing set (nor unset): itself, and what it is a view or a part of
    (`m.unsqueeze(1)`, `m[:, None]`), or that as bools; each with whether it is turned round."""
    found = [_positive(function, mask)]
    inner: cst.BaseExpression | None = None
    turned = False
    if isinstance(mask, cst.UnaryOperation) and isinstance(mask.operator, cst.BitInvert):
        inner, turned = mask.expression, True
    elif isinstance(mask, cst.Subscript):
        inner = mask.value
    elif isinstance(mask, cst.Call) and isinstance(mask.func, cst.Attribute):
        inner, turned = reduced(function, mask, "logical_not"), True
        view = callee(mask) in _VIEWS and qualified(function, mask.func) is None
        if inner is None and (view or _to_bools(function, mask)):
            inner, turned = mask.func.value, False
    if inner is not None:
        found += [(text, own != turned) for text, own in _readings(function, inner)]
    return found


def _to_bools(function: FunctionCode, call: cst.Call) -> bool:
    """`m.bool()`, `m.to(torch.bool)`"""
    given = [qualified(function, arg.value) for arg in call.args]
    return (callee(call), given) in (("bool", []), ("to", ["torch.bool"]))


def _joined(mask: cst.BaseExpression) -> list[cst.BaseExpression]:
    """`a`, `b` and `c` of `a & b & c`."""
    if isinstance(mask, cst.BinaryOperation) and isinstance(mask.operator, cst.BitAnd):
        return [*_joined(mask.left), *_joined(mask.right)]
    return [mask]


def _tests(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The parts of a test that may be tensors."""
    if isinstance(test, cst.BooleanOperation):
        return [*_tests(test.left), *_tests(test.right)]
    if isinstance(test, cst.UnaryOperation):
        return _tests(test.expression)
    return [test]


def gives_bools(mask: cst.BaseExpression) -> bool:
    """Whether the expression is a comparison or a test of each element, whatever is compared."""
    if isinstance(mask, cst.UnaryOperation):
        return isinstance(mask.operator, cst.BitInvert) and gives_bools(mask.expression)
    if isinstance(mask, cst.BinaryOperation):
        both = isinstance(mask.operator, cst.BitAnd | cst.BitOr)
        return both and gives_bools(mask.left) and gives_bools(mask.right)
    if isinstance(mask, cst.Comparison):
        operator = mask.comparisons[0].operator
        return len(mask.comparisons) == 1 and not isinstance(
            operator, cst.In | cst.NotIn | cst.Is | cst.IsNot
        )
    return isinstance(mask, cst.Call) and callee(mask) in (
        *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "logical_and", "logical_or"),
        *("logical_not", "logical_xor", "isclose"),
    )
