"""What is scaled down to a limit only where it exceeds it: scaled always, by a factor that is one below the limit."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix, Trait
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.purity import effect, number
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode

TINY = 1e-5


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The repair, where the node is such an `if`."""
    return accepted(to_clamp(function, node, kind))


def to_clamp(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`if norm > limit: x = x * (limit / norm)` as `x = x * (limit / norm.clamp(min=limit))`, and
    `if factor < 1: x.mul_(factor)` as `x.mul_(factor.clamp(max=1))`, as `torch.nn.utils.clip_grad_norm_` does it.

    Refused where a statement of the body does anything but scale one thing by what is one at the limit, the test asks
    for more, or there is an `else`.
    """
    kind = kind or guess(function)
    if not isinstance(node, cst.If) or node.orelse is not None or isinstance(function.parent(node), cst.If):
        return Refusal("no `if` by itself")
    if not isinstance(node.test, cst.Comparison) or len(node.test.comparisons) != 1:
        return Refusal("the test is no comparison of two")
    left, right = node.test.left, node.test.comparisons[0].comparator
    operator = node.test.comparisons[0].operator
    if isinstance(operator, cst.LessThan | cst.LessThanEqual):
        left, right = right, left
    elif not isinstance(operator, cst.GreaterThan | cst.GreaterThanEqual):
        return Refusal("the test is of no limit")
    high = kind(left).startswith("tensor") and not kind(right).startswith("tensor")
    if high == kind(right).startswith("tensor"):
        return Refusal("not one side of the comparison is a tensor")
    if effect(left) or effect(right):
        return Refusal("the test has an effect")
    clipped, limit = (left, right) if high else (right, left)
    reader = _Scalings(function, kind, clipped, limit, high)
    if not reader.all(node.body):
        return Refusal("the body does more than scale, or by what is not one at the limit")
    body = [replaced(one, reader.new) for one in node.body.body]
    first = body[0]
    assert isinstance(first, cst.SimpleStatementLine | cst.For | cst.If)
    body[0] = first.with_changes(leading_lines=(*node.leading_lines, *first.leading_lines))
    # What the gradient of the norm needs may be what is changed: in eager mode that is an error.
    waits: tuple[Trait, ...] = ("once proven",) if reader.in_place else ()
    return fix(
        "Scale always, by a factor that is kept at one up to the limit. Where "
        f"`{source(function, clipped)}` is NaN the result is NaN, which so far was left as it was.",
        rewrite(function, {node: body}),
        "nan",
        *waits,
    )


class _Scalings:
    """Reads the statements that scale, and notes in `new` what of them is clamped, and whether a tensor that may have
    a gradient is changed in place."""

    def __init__(
        self,
        function: FunctionCode,
        kind: Kind,
        clipped: cst.BaseExpression,
        limit: cst.BaseExpression,
        high: bool,
    ) -> None:
        self.function, self.kind, self.high = function, kind, high
        self.clipped, self.limit = source(function, clipped), source(function, limit)
        self.one = number(limit) == 1
        word = "min" if high else "max"
        self.clamped = f"{in_parentheses(self.clipped)}.clamp({word}={self.limit})"
        self.new: dict[cst.CSTNode, New] = {}
        self.in_place = False

    def all(self, body: cst.BaseSuite) -> bool:
        """Whether all statements of the body scale; a loop or a test of plain Python may stand around them."""
        if not isinstance(body, cst.IndentedBlock):
            return False
        return all(self.statement(one) for one in body.body)

    def statement(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.For):
            return (
                node.orelse is None
                and node.asynchronous is None
                and not effect(node.iter)
                and self.all(node.body)
            )
        if isinstance(node, cst.If):
            test = node.test
            none = isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, cst.IsNot)
            return none and node.orelse is None and not effect(test) and self.all(node.body)
        if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
            return False
        return self.scales(node.body[0])

    def scales(self, small: cst.BaseSmallStatement) -> bool:
        if isinstance(small, cst.AugAssign):
            if not self.changes(small.target):
                return False
            if isinstance(small.operator, cst.MultiplyAssign):
                return self.factor(small.value)
            return isinstance(small.operator, cst.DivideAssign) and self.divisor(small.value)
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            value, target = small.value, source(self.function, small.targets[0].target)
            if not isinstance(value, cst.BinaryOperation):
                return False
            for scaled, other in ((value.left, value.right), (value.right, value.left)):
                if source(self.function, scaled) == target and self.fits(scaled):
                    if isinstance(value.operator, cst.Multiply):
                        return self.factor(other)
                    return (
                        isinstance(value.operator, cst.Divide)
                        and scaled is value.left
                        and self.divisor(other)
                    )
            return self.scaled_apart(value, target)
        call = small.value if isinstance(small, cst.Expr) else None
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or len(call.args) != 1:
            return False
        if call.args[0].keyword is not None or call.args[0].star or not self.changes(call.func.value):
            return False
        name, given = call.func.attr.value, call.args[0].value
        return self.factor(given) if name == "mul_" else name == "div_" and self.divisor(given)

    def changes(self, scaled: cst.BaseExpression) -> bool:
        """Whether it may be scaled in place: a gradient, and what lies under a parameter, have no gradient."""
        last = scaled.attr.value if isinstance(scaled, cst.Attribute) else ""
        self.in_place = self.in_place or last not in ("grad", "data")
        return self.fits(scaled)

    def scaled_apart(self, value: cst.BinaryOperation, target: str) -> bool:
        """`x * limit / norm` and `limit * (x / norm)`, which are rounded: what it is scaled by is computed first."""
        over, under = _factors(value)
        texts = [source(self.function, one) for one in over]
        if not self.high or sorted(texts) != sorted((target, self.limit)):
            return False
        if not self.fits(over[texts.index(target)]) or len(under) != 1 or not self.is_clipped(under[0]):
            return False
        self.new[value] = cst.parse_expression(f"{target} * ({self.limit} / {self.clamped})")
        return True

    def fits(self, scaled: cst.BaseExpression) -> bool:
        """Whether it may be scaled by one: no number of Python, no tensor of whole numbers, not the limit's own."""
        plain = isinstance(scaled, cst.Name | cst.Attribute | cst.Subscript) and not effect(scaled)
        word = self.kind(scaled)
        whole = word in ("int", "float", "bool", "tensor:int", "tensor:bool")
        return plain and not whole and source(self.function, scaled) not in (self.clipped, self.limit)

    def factor(self, node: cst.BaseExpression) -> bool:
        """`limit / norm`, or the factor itself that is compared with one."""
        if not self.high:
            return self.one and self.is_clipped(node)
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Divide):
            return False
        above = source(self.function, node.left) == self.limit or (self.one and number(node.left) == 1)
        if above and self.is_a_little_more(node.right):
            # Less than one at the limit already, by less than the numbers are exact to.
            self.new[node] = cst.parse_expression(
                f"{in_parentheses(source(self.function, node))}.clamp(max=1.0)"
            )
            return True
        return above and self.is_clipped(node.right)

    def divisor(self, node: cst.BaseExpression) -> bool:
        """`norm / limit`, or the norm itself where the limit is one."""
        if not self.high:
            return False
        if self.one and self.is_clipped(node):
            return True
        return (
            isinstance(node, cst.BinaryOperation)
            and isinstance(node.operator, cst.Divide)
            and source(self.function, node.right) == self.limit
            and self.is_clipped(node.left)
        )

    def is_a_little_more(self, node: cst.BaseExpression) -> bool:
        """`norm + 1e-6`, which keeps it from zero."""
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
            return False
        more = number(node.right)
        return source(self.function, node.left) == self.clipped and more is not None and 0 <= more <= TINY

    def is_clipped(self, node: cst.BaseExpression) -> bool:
        if source(self.function, node) != self.clipped:
            return False
        self.new[node] = cst.parse_expression(self.clamped)
        return True


def _factors(node: cst.BaseExpression) -> tuple[list[cst.BaseExpression], list[cst.BaseExpression]]:
    """What is multiplied, and by what that is divided."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply | cst.Divide):
        (over, under), (more, less) = _factors(node.left), _factors(node.right)
        if isinstance(node.operator, cst.Divide):
            more, less = less, more
        return [*over, *more], [*under, *less]
    return [node], []
