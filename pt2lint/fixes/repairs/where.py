"""A branch on a tensor's value as `torch.where`."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Edit, Fix, Trait
from pt2lint.fixes.arms import (
    Arms,
    check_same_test,
    elements,
    keeps_nan_off,
    ordered,
    passes_on,
    read_branch,
    refuse_compared,
    refuse_itself,
    refuse_shared,
    replacement,
    under_static,
)
from pt2lint.fixes.condition import Condition, read_condition
from pt2lint.fixes.counts import is_some
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.instead import bad_use
from pt2lint.fixes.kinds import (
    LIKE,
    MAKERS,
    Kind,
    guess,
    is_without_gradients,
    may_be_none,
    names_no_device,
    words,
)
from pt2lint.fixes.names import bound_before, fresh, live_after, reads, uses
from pt2lint.fixes.nodes import ancestors, enclosing_function, parameters
from pt2lint.fixes.purity import RANDOM, alike, costly, effect, is_view, number, of_number, singular
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, children, is_name, says_none, walk

Pair = tuple[str, cst.BaseExpression]  # `name = value`, of a side
NAN_WARNING = (
    " Both sides are computed: the gradient of the side not taken is multiplied by zero, and is NaN where "
    "that side's own gradient is infinite."
)

# Of a product only: torch.where is the better way all the same.
PRODUCT_WARNING = (
    " Both sides are computed: the gradient of the side not taken is NaN where a factor in it is infinite."
)


# What has an infinite gradient somewhere, of those that a test keeps from there.
_STEEP = words("exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal pow sinh cosh")


@refusing
def to_where(function: FunctionCode, node: cst.If | cst.IfExp, kind: Kind | None = None) -> Repaired:
    """The branch as `torch.where`: both sides are computed, and selected between.

    Refused where a side has an effect, assigns to anything but names, calls what is not known to be cheap and
    free of effects, may raise, or binds a name that the other side leaves unbound.

    Safe where the test surely is a 0-dim bool tensor, each side surely has the shape and dtype of the float
    tensor it replaces and a gradient that is finite wherever it is not taken, and that tensor is made in the
    function and never changed in place; otherwise unsafe.
    """
    kind = kind or guess(function)
    check_same_test(function, node)
    try:
        if isinstance(node, cst.IfExp):
            return _where_expression(function, node, kind)
        return _where_statement(function, node, kind)
    except cst.ParserSyntaxError:
        return Refusal("a comment stands inside an expression that has to move")


def safest_first(*attempts: Repaired) -> tuple[Fix, ...]:
    """The fixes among them, those last whose gradient may be NaN."""
    return tuple(sorted(accepted(*attempts), key=lambda one: NAN_WARNING in one.description))


def _where_expression(function: FunctionCode, node: cst.IfExp, kind: Kind) -> Repaired:
    condition = read_condition(function, node.test, kind)
    if condition.static and costly(function, node.orelse, kind):
        return Refusal("the test is part tensor, part plain Python, and the other side is not cheap")
    _check_values(function, (node.body, node.orelse), kind)
    _check_shapes(function, node.body, node.orelse)
    _check_masks((node.body, node.orelse), kind)
    if all(_is_number(side, kind) for side in (node.body, node.orelse)):
        reason = bad_use(function, node, kind, 6)
        if reason:
            return Refusal(reason)
    torch, imports = torch_name(function, "torch.where")
    sides = [node.body, node.orelse]
    values: list[cst.CSTNode] = [*sides]
    if len(condition.text) <= SHORT:  # it is said for each of them
        shields = [
            _Shield(function, side, kind, node.test, then)
            for side, then in zip(sides, (True, False), strict=True)
        ]
        sides = [
            one.text_for(torch, condition, then) for one, then in zip(shields, (True, False), strict=True)
        ]
        values = [part for one in shields for part in one.left]
    first, second = ordered(condition, *(source(function, side) for side in sides))
    text = _selection(function, torch, condition.text, first, second)
    if not text.startswith(torch) and not isinstance(
        function.parent(node), cst.Assign | cst.Return | cst.Arg
    ):
        text = f"({text})"
    new = under_static(function, node, condition, text)
    safe = False
    assumes = " It assumes that both values are tensors (or numbers) of one shape and dtype."
    return _fixed(
        function,
        "Select with `torch.where` instead of branching." + assumes,
        {node: new},
        (*condition.imports, *imports),
        values,
        safe,
        _severed(function, node, [node.body], [node.orelse], ()),
        _doubtful(function, (node.body, node.orelse), kind)
        or _keeps_off(node.test, values)
        or keeps_nan_off(node.test, [node.body], [node.orelse]),
    )


def _doubtful(function: FunctionCode, values: Sequence[cst.BaseExpression], kind: Kind) -> bool:
    """Whether these may be no tensors as far as reading tells (lists that an object keeps), or lie on several devices,
    as what one side makes of a list and names no device for: torch.where then fails."""
    held = cst.Name | cst.Attribute | cst.Subscript
    if all(isinstance(one, held) and kind(one) == "unknown" for one in values):
        return True
    return len({_may_lie_elsewhere(function, one) for one in values}) > 1


def _may_lie_elsewhere(function: FunctionCode, value: cst.BaseExpression) -> bool:
    """As `torch.zeros(n)`, `torch.tensor([0.0])`; a tensor without dimensions goes with any device."""
    if not isinstance(value, cst.Call) or not names_no_device(function, value):
        return False
    given = value.args[0].value if value.args else None
    flat = callee(value) in ("tensor", "as_tensor", "scalar_tensor")
    return not flat or isinstance(given, cst.List | cst.Tuple)


def _is_number(side: cst.BaseExpression, kind: Kind) -> bool:
    """Whether a side surely is a number of Python, also one that is read out of a tensor."""
    if number(side) is not None or kind(side) in ("int", "float", "bool"):
        return True
    return isinstance(side, cst.Call) and callee(side) in ("float", "int", "bool", "item")


# Characters of a test that may stand twice, where it cannot and where it could have a name.
SHORT, SHORTER = 40, 20


def _divisors(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What the expression divides by, but for numbers that are written out; not what that divides by itself."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
        if number(node.right) is None:
            return [node.right, *_divisors(node.left)]
    return [one for child in children(node) for one in _divisors(child)]


def _is_kept_off_zero(node: cst.BaseExpression) -> bool:
    """`n.clamp(min=1)`, `n.clamp_min(1e-6)`: no gradient of a division by it is infinite."""
    if not isinstance(node, cst.Call) or callee(node) not in ("clamp", "clamp_min", "clip"):
        return False
    named = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "min"]
    least = [*named, *(arg.value for arg in node.args if arg.keyword is None and not arg.star)][:1]
    return (
        isinstance(node.func, cst.Attribute) and all((number(one) or 0) > 0 for one in least) and bool(least)
    )


def _selection(function: FunctionCode, where: str, test: str, first: str, second: str) -> str:
    """`torch.where(test, first, second)`; what a side makes a tensor of, beside a tensor, is the number alone. Of
    `x / torch.where(test, n, 1)` and `x` the first is both."""
    refuse_itself(test, first, second)
    nodes = [cst.parse_expression(one) for one in (first, second)]
    for side, other, at in ((nodes[0], nodes[1], 2), (nodes[1], nodes[0], 1)):
        if isinstance(side, cst.BinaryOperation) and isinstance(side.operator, cst.Divide):
            by = side.right
            if not isinstance(by, cst.Call) or not side.left.deep_equals(other):
                continue
            if source(function, by).startswith(f"{where}({test}, ") and number(by.args[at].value) == 1:
                return source(function, side)
    numbers = [of_number(function, one) for one in nodes]
    if None in numbers and not any(number(one) is not None for one in nodes):
        first, second = (
            one if made is None else source(function, made)
            for one, made in zip((first, second), numbers, strict=True)
        )
    return f"{where}({test}, {first}, {second})"


class _Shield:
    """A value that may be computed where it is not taken: what it divides by is one there, and the gradient finite.

    `divisors` are the tensors that it divides by, `counts` those which are one or more where it is taken, and none or
    more elsewhere; `left` what else of it may have an infinite gradient: nothing, where there are no gradients.
    """

    def __init__(
        self,
        function: FunctionCode,
        value: cst.BaseExpression,
        kind: Kind,
        test: cst.BaseExpression,
        then: bool,
    ) -> None:
        self.function, self.value = function, value
        self.divisors: list[cst.BaseExpression] = []
        self.counts: list[cst.BaseExpression] = []
        self.left: list[cst.CSTNode] = []
        if is_without_gradients(function, value):
            return
        found = [one for one in _divisors(value) if kind(one).startswith("tensor")]
        for one in found:
            if not _is_kept_off_zero(one):
                counts = is_some(function, test, then, one, kind)
                (self.counts if counts else self.divisors).append(one)
        self.left = [replaced(value, dict.fromkeys(found, cst.Integer("1"))), *found]

    def text_for(self, where: str, condition: Condition, then: bool, test: str = "") -> cst.BaseExpression:
        """The value as it is to be written where the test, which may have a name, selects it."""
        new: dict[cst.CSTNode, New] = {}
        for divisor in self.divisors:
            text = source(self.function, divisor.with_changes(lpar=(), rpar=()))
            first, second = (text, "1") if then != condition.negated else ("1", text)
            new[divisor] = cst.parse_expression(f"{where}({test or condition.text}, {first}, {second})")
        for count in self.counts:
            text = in_parentheses(source(self.function, count))
            new[count] = cst.parse_expression(f"{text}.clamp(min=1)")
        made = replaced(self.value, new)
        assert isinstance(made, cst.BaseExpression)
        return made


def _check_values(function: FunctionCode, values: Sequence[cst.BaseExpression], kind: Kind) -> None:
    if len(values) > 1 and all(kind(value) == "int" for value in values):
        raise Refused("it gives a whole number, which may be a size or an index")
    if len({_made_in(function, value) for value in values}) > 1:
        raise Refused("a side makes a tensor of a dtype that the other one need not have")
    for value in values:
        reason = effect(value) or costly(function, value, kind)
        if reason:
            raise Refused(reason)
        if isinstance(value, cst.Tuple | cst.List | cst.Dict):
            raise Refused("a side is a container, not a tensor")
        if any(isinstance(one, cst.IfExp) and _gives_none(one) for one in walk(value)):
            raise Refused("a side may be None")
        word = kind(value)
        if word == "bool":
            raise Refused("a side sets a flag of Python, not a tensor")
        if word in ("none", "str", "module") or word.startswith(("list", "dict")):
            raise Refused(f"a side is {word if word != 'none' else 'None'}, not a tensor")
        if callee(value) in RANDOM if isinstance(value, cst.Call) else False:
            raise Refused("a side draws random numbers")


def _check_masks(values: Sequence[cst.BaseExpression], kind: Kind) -> None:
    masks = [kind(one) == "tensor:bool" for one in values]
    if any(masks) and any(_is_of_numbers(one, kind) for one in values):
        raise Refused("a side is a mask, and the other one of numbers: as an index they say something else")


def _is_of_numbers(value: cst.BaseExpression, kind: Kind) -> bool:
    """Whether it is no mask, but may be where the interpreter knows no dtype: `1`, `torch.ones(n)`, `x * 2`."""
    word = kind(value)
    if word != "tensor":
        return word in ("int", "float", "tensor:int", "tensor:float")
    if isinstance(value, cst.BinaryOperation):
        return isinstance(value.operator, cst.Multiply | cst.Add | cst.Subtract | cst.Divide)
    return isinstance(value, cst.Call) and callee(value) in MAKERS | LIKE


def _gives_none(node: cst.IfExp) -> bool:
    return says_none(node.body) or says_none(node.orelse)


def _made_in(function: FunctionCode, value: cst.BaseExpression) -> str | None:
    """`torch.float64` of `torch.tensor(0.0, dtype=torch.float64)`, None where no dtype of torch is named."""
    given = value.args if isinstance(value, cst.Call) else ()
    dtypes = [qualified(function, one.value) for one in given if one.keyword and one.keyword.value == "dtype"]
    return next((one for one in dtypes if one is not None and one.startswith("torch.")), None)


_RESHAPED = words("unsqueeze squeeze sum mean amax amin norm std var prod max min all any T mT")


def _check_shapes(function: FunctionCode, *values: cst.BaseExpression | str) -> None:
    """A part of what the other side gives (`x[:n]`, `x[:, None]`, `x.sum(1)` beside `x`) has another shape than that,
    and torch.where may spread the one over the other without a word."""
    texts = [one if isinstance(one, str) else source(function, one) for one in values]
    refuse_compared(function, *texts)
    for value in (one for one in values if not isinstance(one, str)):
        inner: cst.CSTNode | None = value
        reshaped = False
        while isinstance(inner, cst.Call | cst.Subscript | cst.Attribute):
            reshaped |= _reshapes(inner)
            inner = _made_from(function, inner)
            if reshaped and inner is not None and source(function, inner) in texts:
                raise Refused(f"`{source(function, value)}` is a part of what the other side gives")


def _made_from(function: FunctionCode, node: cst.Call | cst.Subscript | cst.Attribute) -> cst.CSTNode | None:
    """`x` of `x.sum(1)`, `torch.sum(x, 1)`, `x[0]` and `x.T`."""
    if not isinstance(node, cst.Call):
        return node.value
    if isinstance(node.func, cst.Attribute) and not (qualified(function, node.func) or "").startswith(
        "torch."
    ):
        return node.func.value
    return node.args[0].value if node.args else None


def _reshapes(node: cst.Call | cst.Subscript | cst.Attribute) -> bool:
    """Whether it surely gives another shape, or another number of dimensions."""
    if isinstance(node, cst.Call):
        return callee(node) in _RESHAPED
    if isinstance(node, cst.Attribute):
        return node.attr.value in _RESHAPED
    indices = [one.slice for one in node.slice]
    return any(
        says_none(one.value) or number(one.value) is not None
        if isinstance(one, cst.Index)
        else isinstance(one, cst.Slice) and (one.lower is not None or one.upper is not None)
        for one in indices
    )


def _where_statement(function: FunctionCode, node: cst.If, kind: Kind) -> Repaired:
    condition, arms = read_branch(function, node, kind)
    writer = _WhereWriter(function, kind, node.test, arms.taken)
    if arms.values is not None:
        lines, values = writer.returned(condition, arms)
        return _fixed(
            function,
            "Compute both results and return the one that `torch.where` selects, instead of branching. It "
            "assumes that they are tensors of one shape and dtype.",
            replacement(function, node, arms.taken, lines, ()),
            (*condition.imports, *writer.imports),
            values,
            False,
            _severed(function, node, [*arms.then, arms.values[0]], [*arms.orelse, arms.values[1]], ()),
            writer.doubtful
            or _keeps_off(node.test, values)
            or keeps_nan_off(node.test, [*arms.then, arms.values[0]], [*arms.orelse, arms.values[1]]),
        )
    lines = writer.selected(condition, arms)
    names = ", ".join(f"`{name}`" for name in writer.names)
    safe = condition.exact and not writer.assumed
    assumes = "" if safe else f" It assumes that {names} keeps its shape and dtype."
    return _fixed(
        function,
        f"Select {names} with `torch.where` instead of branching.{assumes}",
        replacement(function, node, arms.taken, lines, condition.static),
        (*condition.imports, *writer.imports),
        writer.values,
        safe,
        _severed(function, node, arms.then, arms.orelse, writer.names),
        writer.doubtful
        or _keeps_off(node.test, writer.values)
        or keeps_nan_off(node.test, arms.then, arms.orelse, writer.names),
    )


def _fixed(
    function: FunctionCode,
    description: str,
    new: dict[cst.CSTNode, New],
    imports: Sequence[Edit],
    values: Sequence[cst.CSTNode],
    safe: bool,
    severed: bool,
    doubtful: bool,
) -> Repaired:
    traits: list[Trait] = ["branch"]
    infinite = any(singular(value, products=False) for value in values)
    if severed or infinite:
        description, safe = description + NAN_WARNING, False
        traits.append("nan")
    elif any(singular(value) for value in values):
        description, safe = description + PRODUCT_WARNING, False
        traits.append("nan")
    if doubtful or (infinite and any(_divides(value) for value in values)):
        traits.append("once proven")
    edits = (*dict.fromkeys(imports), *rewrite(function, new))
    return fix(description, edits, *traits, safe=safe)


def _keeps_off(test: cst.CSTNode, values: Sequence[cst.CSTNode]) -> bool:
    """Whether a side asks for a logarithm, a root or the like of what is tested, mostly to keep off where its gradient
    is infinite: `x if x >= 10 else torch.log(1 + torch.exp(x))`."""
    asked = reads(test) - {"self"}
    calls = (one for value in values for one in walk(value) if isinstance(one, cst.Call))
    return any(callee(one) in _STEEP and reads(one) & asked for one in calls)


def _divides(value: cst.CSTNode) -> bool:
    """Whether something below is divided by what may be zero: mostly that is what the test kept out."""
    return any(
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Divide)
        and number(node.right) in (None, 0)
        for node in walk(value)
    )


def _severed(
    function: FunctionCode,
    node: cst.CSTNode,
    then: Sequence[cst.CSTNode],
    orelse: Sequence[cst.CSTNode],
    names: Sequence[str],
) -> bool:
    """Whether a tensor that one side alone passes a gradient to was made with a gradient that may be infinite.

    Where the other side is taken the tensor gets a gradient of zero instead of none: zero times infinity is NaN.
    `names` are what the branch selects: what a side does not assign, it passes on.
    """
    sides = [passes_on(one, names) for one in (then, orelse)]
    owner = enclosing_function(function, node)
    if is_without_gradients(function, node):
        return False
    inside = {id(use.node) for use in uses(node)}  # what the sides make is judged by itself
    pending, known = list(sides[0] ^ sides[1]), set[str]()
    while pending and owner is not None:
        name = pending.pop()
        if name in known:
            continue
        known.add(name)
        for use in uses(owner.body):
            made = use.binds and use.name == name and id(use.node) not in inside
            target = function.parent(use.node) if made else None
            assign = function.parent(target) if isinstance(target, cst.AssignTarget) else target
            value = getattr(assign, "value", None)
            if isinstance(value, cst.BaseExpression):
                if singular(value, products=False):
                    return True
                pending += reads(value)
    return False


class _WhereWriter:
    """Writes the statements that compute both sides and select."""

    def __init__(
        self, function: FunctionCode, kind: Kind, test: cst.BaseExpression, taken: Sequence[cst.CSTNode]
    ) -> None:
        self.function, self.kind, self.test, self.taken = function, kind, test, taken
        self.imports: list[Edit] = []
        self.values: list[cst.CSTNode] = []
        self.names: list[str] = []
        self.assumed = False
        self.doubtful = False

    def torch(self, name: str) -> str:
        text, imports = torch_name(self.function, name)
        self.imports += imports
        return text

    def shield(self, value: cst.BaseExpression, then: bool) -> _Shield:
        return _Shield(self.function, value, self.kind, self.test, then)

    def assignments(self, statements: Sequence[cst.BaseStatement]) -> list[Pair]:
        """The side as `name = value` pairs."""
        pairs = []
        for statement in statements:
            if isinstance(statement, cst.If):
                raise Refused("a side branches again")
            if not isinstance(statement, cst.SimpleStatementLine):
                raise Refused("a side holds a loop or a block")
            for small in statement.body:
                if isinstance(small, cst.Pass) or _is_text(small):
                    continue
                if isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
                    reason = "an augmented assignment changes its target in place"
                    raise Refused(reason)
                if not isinstance(small, cst.Assign) or len(small.targets) != 1:
                    raise Refused(effect(small) or "a side does something else than assign")
                target = small.targets[0].target
                if not isinstance(target, cst.Name):
                    raise Refused(effect(small) or "a side assigns to something else than a name")
                _check_values(self.function, [small.value], self.kind)
                pairs.append((target.value, small.value))
        return pairs

    def selected(self, condition: Condition, arms: Arms) -> list[str]:
        then, orelse = self.assignments(arms.then), self.assignments(arms.orelse)
        if not then and not orelse:
            raise Refused("no side assigns anything")
        assigned = list(dict.fromkeys(name for name, _ in [*then, *orelse]))
        outs = [name for name in assigned if live_after(self.function, name, self.taken)]
        if not outs:
            raise Refused("nothing that the sides assign is used afterwards")
        for name in outs:
            in_both = all(any(name == one for one, _ in side) for side in (then, orelse))
            if not in_both and not bound_before(self.function, name, self.taken[0]):
                raise Refused(f"`{name}` may be unbound on one side")
            if not in_both and may_be_none(self.function, name, self.taken[0]):
                raise Refused(f"`{name}` may be None on one side")
            values = [value for one, value in (*then, *orelse) if one == name]
            refuse_shared(self.function, name, self.taken, kept=not in_both)
            _check_shapes(self.function, *([] if in_both else [name]), *values)
            _check_masks(values, self.kind)
            if in_both:
                self.doubtful |= _doubtful(self.function, values, self.kind)
            else:
                self.doubtful |= any(_may_lie_elsewhere(self.function, one) for one in values)
            if all(self.kind(value) == "int" for value in values):
                raise Refused(f"`{name}` is a whole number, which may be a size or an index")
            if _counts(self.function, name, self.taken[0]):
                raise Refused(f"Python needs the number `{name}`, which would be read out of the tensor then")
        self.names = outs
        alike = self.alike(condition, then, orelse) if len(assigned) > 1 else []
        shields = [
            [self.shield(value, at) for _, value in side] for side, at in ((then, True), (orelse, False))
        ]
        self.values = [part for side in shields for one in side for part in one.left]
        divides = any(one.divisors for side in shields for one in side)
        self.assumed = not all(self.safe(name, then, orelse) for name in outs)
        where = self.torch("torch.where")
        if len(assigned) == 1 and max(len(then), len(orelse)) == 1:
            name = assigned[0]
            test = condition.text
            if divides and len(test) > SHORTER:
                test = fresh(self.function, "take")
            texts = [
                source(self.function, side[0].text_for(where, condition, at == 0, test)) if side else name
                for at, side in enumerate(shields)
            ]
            first, second = ordered(condition, *texts)
            named = [f"{test} = {self.one_line(condition.text)}"] if test != condition.text else []
            return [*named, f"{name} = {_selection(self.function, where, test, first, second)}"]
        take, lines = self.test_named(condition, then, orelse)
        lines[:0] = alike
        for at, side in enumerate((then, orelse)):
            side[:] = [
                (name, one.text_for(where, condition, at == 0, take))
                for (name, _), one in zip(side, shields[at], strict=True)
            ]
        then_names = self.renamed(lines, then, "then", outs, orelse)
        else_names = self.renamed(lines, orelse, "otherwise", outs, then)
        for name in outs:
            first, second = then_names.get(name, name), else_names.get(name, name)
            if first != second:
                first, second = ordered(condition, first, second)
                lines.append(f"{name} = {_selection(self.function, where, take, first, second)}")
        return lines

    def alike(self, condition: Condition, *sides: list[Pair]) -> list[str]:
        """What both sides make alike, of nothing that a side makes: made once, under its own name. It leaves them."""
        found: list[str] = []
        asked = reads(cst.parse_expression(condition.text))
        for name, value in [*sides[0]]:
            text = source(self.function, value)
            at = [[one for one, _ in side].index(name) if name in dict(side) else -1 for side in sides]
            if min(at) < 0 or any([one for one, _ in side].count(name) > 1 for side in sides):
                continue
            if text != source(self.function, dict(sides[1])[name]) or _divisors(value):
                continue
            made = {one for side in sides for one, _ in side}
            before = [one for side, n in zip(sides, at, strict=True) for _, one in side[:n]]
            if reads(value) & made or name in reads(*before) | asked:
                continue
            found.append(f"{name} = {self.one_line(text)}")
            for side, n in zip(sides, at, strict=True):
                del side[n]
        return found

    def test_named(self, condition: Condition, *sides: Sequence[Pair]) -> tuple[str, list[str]]:
        """A name for the test, and the line that gives it: none where it has one that no side binds anew."""
        if condition.text.isidentifier() and not any(condition.text in dict(side) for side in sides):
            return condition.text, []
        take = fresh(self.function, "take")
        return take, [f"{take} = {self.one_line(condition.text)}"]

    def one_line(self, text: str) -> str:
        return f"({text})" if "\n" in text else text

    def renamed(
        self,
        lines: list[str],
        pairs: Sequence[Pair],
        suffix: str,
        outs: Sequence[str],
        other: Sequence[Pair] = (),
    ) -> dict[str, str]:
        """Add the side's assignments, and return what stands for each name: one of its own, the name itself where only
        this side knows it, or the value where that can stand in the selection."""
        own: dict[str, str] = {}
        assigned = [name for name, _ in pairs]
        elsewhere = {name for name, _ in other} | reads(*(value for _, value in other))
        for at, (name, value) in enumerate(pairs):
            text = self.with_names(value, own)
            stays = (
                isinstance(value, cst.Name) and text not in (*outs, *assigned) and assigned.count(name) == 1
            )
            if stays or (name in outs and "\n" not in text and _only_selected(at, pairs, outs)):
                own[name] = text
            else:
                inner = bool(outs) and name not in outs and name not in elsewhere
                own[name] = own.get(name) or (name if inner else fresh(self.function, f"{name}_{suffix}"))
                lines.append(f"{own[name]} = {self.one_line(text)}")
        return own

    def with_names(self, value: cst.BaseExpression, own: dict[str, str]) -> str:
        new: dict[cst.CSTNode, New] = {
            use.node: use.node.with_changes(value=own[use.name])
            for use in uses(value)
            if use.name in own and isinstance(use.node, cst.Name)
        }
        return source(self.function, replaced(value, new))

    def returned(self, condition: Condition, arms: Arms) -> tuple[list[str], list[cst.CSTNode]]:
        assert arms.values is not None
        then, orelse = self.assignments(arms.then), self.assignments(arms.orelse)
        where = self.torch("torch.where")
        alike = self.alike(condition, then, orelse)
        sides = [elements(value) for value in arms.values]
        made = [[self.shield(value, at) for _, value in side] for side, at in ((then, True), (orelse, False))]
        results_ = [
            [self.shield(value, at) for value in side] for side, at in zip(sides, (True, False), strict=True)
        ]
        shields = [one for side in (*made, *results_) for one in side]
        named = then or orelse or (len(condition.text) > SHORTER and any(one.divisors for one in shields))
        take, lines = self.test_named(condition, then, orelse) if named else ("", [])
        lines[:0] = alike
        test = take or condition.text
        for at, side in enumerate((then, orelse)):
            side[:] = [
                (name, one.text_for(where, condition, at == 0, test))
                for (name, _), one in zip(side, made[at], strict=True)
            ]
        then_names = self.renamed(lines, then, "then", ())
        else_names = self.renamed(lines, orelse, "otherwise", ())
        if len(sides[0]) != len(sides[1]) or isinstance(arms.values[0], cst.Tuple) != isinstance(
            arms.values[1], cst.Tuple
        ):
            raise Refused("the sides return different structures")
        results = []
        for at, (one, other) in enumerate(zip(*sides, strict=True)):
            _check_values(self.function, (one, other), self.kind)
            _check_shapes(self.function, one, other)
            _check_masks((one, other), self.kind)
            self.doubtful |= _doubtful(self.function, (one, other), self.kind)
            one, other = (results_[n][at].text_for(where, condition, n == 0, test) for n in (0, 1))
            first, second = self.with_names(one, then_names), self.with_names(other, else_names)
            if first == second:
                results.append(first)
                continue
            first, second = ordered(condition, first, second)
            results.append(_selection(self.function, where, test, first, second))
        lines.append("return " + ", ".join(results))
        return lines, [part for one in shields for part in one.left]

    def safe(self, name: str, then: Sequence[Pair], orelse: Sequence[Pair]) -> bool:
        """Whether the selection of this name surely gives the same tensor, for every input."""
        if (
            len(then) > 1
            or len(orelse) > 1
            or not is_fresh_float(self.function, name, self.taken[0], self.kind)
        ):
            return False
        return all(
            one == name and alike(self.function, value, name, self.kind) for one, value in [*then, *orelse]
        )


def _counts(function: FunctionCode, name: str, near: cst.CSTNode) -> bool:
    """Whether the function takes the name for a bound of a slice, or counts to it."""
    for one in _reads_of(function, name, near):
        around = function.parent(one)
        if isinstance(around, cst.Slice):
            return True
        call = function.parent(around) if isinstance(around, cst.Arg) else None
        if isinstance(call, cst.Call) and is_name(call.func, "range"):
            return True
    return False


def _only_selected(at: int, pairs: Sequence[Pair], outs: Sequence[str]) -> bool:
    """Whether the value of a side's assignment is asked for nowhere but where it is selected, after the names of `outs`
    before its own got theirs."""
    name, value = pairs[at]
    once = sum(name == one for one, _ in pairs) == 1
    later = reads(*(one for _, one in pairs[at + 1 :]))
    return once and name not in later and not reads(value) & set(outs[: outs.index(name)])


def _is_text(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString | cst.Ellipsis)


def is_fresh_float(function: FunctionCode, name: str, before: cst.CSTNode, kind: Kind) -> bool:
    """Whether the name holds a float tensor that the function made by arithmetic or by a function of torch
    that returns a new tensor, and that nothing in the function changes in place or gives another name."""
    made = _made_by(function, name, before)
    if not made or any(kind(value) != "tensor:float" for value in made):
        return False
    return not any(_may_alias(function, node) for node in _reads_of(function, name, before))


def is_own(function: FunctionCode, name: str, before: cst.CSTNode, kind: Kind) -> bool:
    """Whether the name holds a tensor that the function made, and that has no other name yet: nobody can see whether it
    is changed or replaced. Its elements may be read and assigned to through masks, and be an index."""
    turns = any(isinstance(one, cst.For | cst.While) for one in ancestors(function, before))
    end = function.range(before)[2]
    return bool(_made_by(function, name, before)) and not any(
        _may_alias(function, node)
        and not (isinstance(function.parent(node), cst.Index) or _is_masked(function, node, kind))
        for node in _reads_of(function, name, before)
        if turns or function.range(node)[0] <= end
    )


def _is_masked(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> bool:
    """`name` in `name[mask]`, which is a copy, or what is assigned to."""
    element = function.parent(node)
    if not isinstance(element, cst.Subscript) or element.value is not node or len(element.slice) != 1:
        return False
    index = element.slice[0].slice
    return isinstance(index, cst.Index) and kind(index.value) == "tensor:bool"


def _reads_of(function: FunctionCode, name: str, before: cst.CSTNode) -> list[cst.CSTNode]:
    owner = enclosing_function(function, before)
    return [use.node for use in uses(owner.body) if use.name == name and not use.binds] if owner else []


def _made_by(function: FunctionCode, name: str, before: cst.CSTNode) -> list[cst.BaseExpression]:
    """What is assigned to the name outside of `before`, where each time that is a new tensor; else nothing."""
    owner = enclosing_function(function, before)
    if owner is None or any(param.name.value == name for param in parameters(owner)):
        return []
    inside = {id(use.node) for use in uses(before)}
    made = []
    for use in uses(owner.body):
        if use.name == name and use.binds and id(use.node) not in inside:
            parent = function.parent(use.node)
            assign = function.parent(parent) if isinstance(parent, cst.AssignTarget) else None
            if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
                return []
            if not _is_new(function, assign.value):
                return []
            made.append(assign.value)
    return made


_NEW = (
    words(
        "sigmoid tanh exp log log1p sqrt rsqrt sin cos softmax log_softmax softplus gelu silu rand randn linear "
        "layer_norm mul add sub div clone abs square pow randint randperm zeros ones full empty arange linspace "
        "cat stack"
    )
    | LIKE
)


def _is_new(function: FunctionCode, value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.BinaryOperation | cst.ListComp):
        return True
    if not isinstance(value, cst.Call):
        return False
    known = qualified(function, value.func)
    if known is None and isinstance(value.func, cst.Attribute) and is_view(value.func.attr.value):
        return _is_new(function, value.func.value)  # under its new shape alone
    return callee(value) in _NEW and (known is None or known.startswith("torch."))


def _may_alias(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a read of the name hands the tensor itself on: to a container, another name, a call that is not
    torch's, or an operation in place."""
    parent = function.parent(node)
    if isinstance(parent, cst.BinaryOperation | cst.UnaryOperation | cst.Comparison | cst.ComparisonTarget):
        return False
    held = function.parent(parent) if isinstance(parent, cst.Element) else None
    if isinstance(held, cst.Tuple) and isinstance(function.parent(held), cst.Return):
        return False
    if isinstance(parent, cst.Return):
        return False
    if isinstance(parent, cst.Arg):
        call = function.parent(parent)
        known = qualified(function, call.func) if isinstance(call, cst.Call) else None
        return known is None or not known.startswith("torch.") or known.endswith("_") or is_view(known)
    if isinstance(parent, cst.Attribute):
        name = parent.attr.value
        return name.endswith("_") or name == "data" or is_view(name)
    return True
