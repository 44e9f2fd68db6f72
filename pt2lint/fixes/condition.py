"""The test of a data-dependent branch, as one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, may_be_array, words
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, parameters
from pt2lint.fixes.purity import costly, effect, number
from pt2lint.fixes.repaired import Refused
from pt2lint.fixes.text import in_parentheses, sign_of, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, conjuncts, is_name, parameters_in, walk

REDUCES = words("any all sum mean max min prod norm count_nonzero")
_PLACES = words("argmax argmin")
_OF_TABLES = words("isnull isna notnull notna")  # methods of pandas and the like, and of no tensor


MOST_PARTS = 8  # `and` and `or` in one test


@dataclass(frozen=True)
class Condition:
    """`static` must hold in Python for the tensor `text` to be asked; `exact`: the text surely is a 0-dim
    bool tensor that is true just when the test was."""

    text: str
    static: tuple[str, ...] = ()
    negated: bool = False
    exact: bool = True
    imports: tuple[Edit, ...] = ()


def read_condition(
    function: FunctionCode, test: cst.BaseExpression, kind: Kind, fails: bool | None = None
) -> Condition:
    """The test of an `if` (or the like) as a tensor, with what stays in Python in front of it. `fails`: the text is for
    an assertion, which fails where the test comes out so.

    `.item()`, `bool()`, `float()` and `int()` around a tensor that is compared are dropped; `and`, `or` and
    `not` of tensors become torch.logical_*; a tensor of numbers is compared with zero, as its truth is.
    """
    if sum(isinstance(node, cst.BooleanOperation) for node in walk(test)) > MOST_PARTS:
        raise Refused("the test has too many parts to be one tensor that can be read")
    found = effect(test)
    if found:
        raise Refused(f"the test has an effect: {found}")
    if any(isinstance(one, cst.Call) and callee(one) in _OF_TABLES for one in walk(test)):
        raise Refused("a table is asked, no tensor")
    negated = False
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, negated = test.expression, not negated
    parts = conjuncts(test)
    static = [part for part in parts if len(parts) > 1 and not _is_tensor(function, part, kind)]
    if static and negated:
        raise Refused("a negated `and` of a tensor and of plain Python")
    dynamic = [part for part in parts if part not in static]
    if not dynamic:
        raise Refused("no part of the test is known to be a tensor")
    # Where the interpreter was asked, what it does not know may be no tensor: the text that is made would not work.
    asked = function.kinds is not None or may_be_array(function, test)
    if len(parts) == 1 and not _is_tensor(function, test, kind) and (asked or kind(test) != "unknown"):
        raise Refused("the test is plain Python, or not known to be a tensor")
    reader = _Reader(function, kind)
    turned = fails is not None and fails != negated
    texts = [reader.truth(part, turned) for part in dynamic]
    text = joined(texts, "&")
    if len(texts) > 1 and any(costly(function, part, kind) for part in dynamic[1:]):
        raise Refused("a later part of an `and` of tensors may not be computed where the first is false")
    return Condition(
        bare(text),
        tuple(source(function, part) for part in static),
        negated,
        reader.exact and len(texts) == 1 and not static,
        tuple(reader.imports),
    )


def _is_tensor(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> bool:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return _is_tensor(function, node.expression, kind)
    if isinstance(node, cst.BooleanOperation):
        return _is_tensor(function, node.left, kind) or _is_tensor(function, node.right, kind)
    word = kind(node)
    if word.startswith("tensor") or word == "mixed":
        return word != "mixed"
    if isinstance(node, cst.Comparison):
        sides = [node.left, *(one.comparator for one in node.comparisons)]
        operators = [one.operator for one in node.comparisons]
        if any(isinstance(one, cst.Is | cst.IsNot | cst.In | cst.NotIn) for one in operators):
            return False
        return any(_is_tensor(function, unread(function, side, kind), kind) for side in sides)
    if _close(function, node) is not None:
        return True
    inner = unread(function, node, kind)
    return inner is not node


def unread(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> cst.BaseExpression:
    """The tensor in `t.item()`, `bool(t)`, `float(t)` or `int(t)`; the node itself where there is none."""
    if not isinstance(node, cst.Call):
        return node
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "item" and not node.args:
        hears = any(op.name == "call torch.Tensor.item" for op in function.ops_at(node))
        if hears or kind(node.func.value).startswith("tensor"):
            return node.func.value
    if isinstance(node.func, cst.Name) and node.func.value in ("bool", "float") and len(node.args) == 1:
        inner = node.args[0].value
        deeper = unread(function, inner, kind)
        if deeper is not inner or kind(inner).startswith("tensor"):
            return deeper
    return node


def _close(function: FunctionCode, node: cst.BaseExpression) -> str | None:
    """What `torch.allclose(a, b)`, a bool of Python, is given: the tensor beside it is `torch.isclose(a, b).all()`."""
    if not isinstance(node, cst.Call) or qualified(function, node.func) != "torch.allclose":
        return None
    plain = (each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in node.args)
    return ", ".join(source(function, each) for each in plain)


def read_of(node: cst.Call) -> cst.BaseExpression | None:
    """The tensor in `t.item()`, `float(t)`, `int(t)` or `bool(t)`."""
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "item" and not node.args:
        return node.func.value
    if (
        isinstance(node.func, cst.Name)
        and node.func.value in ("float", "int", "bool")
        and len(node.args) == 1
    ):
        inner = node.args[0].value
        if isinstance(inner, cst.Call) and callee(inner) == "item":
            return read_of(inner)
        return inner
    return None


def listed(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The tensor in `t.tolist()`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        return node.func.value if node.func.attr.value == "tolist" else None
    return None


def and_not(
    function: FunctionCode, test: cst.BaseExpression, asked: str, first: bool = False
) -> cst.BaseExpression:
    """The test, and that `asked` does not hold: asked first where the test asks a tensor, which then need not be."""
    tensor = first or any(
        op.name == "test tensor"
        for part in walk(test)
        if isinstance(part, cst.BaseExpression)
        for op in function.ops_at(part)
    )
    loose = isinstance(test, cst.IfExp | cst.Lambda | cst.NamedExpr) or (
        isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or)
    )
    text = source(function, test)
    text = f"({text})" if loose and not test.lpar else text
    return cst.parse_expression(
        f"not {asked} and {text}" if tensor and not effect(test) else f"{text} and not {asked}"
    )


class _Reader:
    """Builds the tensor's text, noting the imports it needs and whether anything had to be assumed."""

    def __init__(self, function: FunctionCode, kind: Kind) -> None:
        self.function, self.kind = function, kind
        self.imports: list[Edit] = []
        self.exact = True

    def torch(self, name: str) -> str:
        text, imports = torch_name(self.function, name)
        self.imports += [edit for edit in imports if edit not in self.imports]
        return text

    def truth(self, node: cst.BaseExpression, turned: bool = False) -> str:
        """A bool tensor for the truth of a tensor; `turned`: of which the opposite is wanted."""
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            inside = node.expression
            if isinstance(inside, cst.UnaryOperation) and isinstance(inside.operator, cst.Not):
                return self.truth(inside.expression, turned)
            return opposite(self.truth(inside, not turned))
        if isinstance(node, cst.BooleanOperation):
            for side in (node.left, node.right):
                if not _is_tensor(self.function, side, self.kind):
                    text = source(self.function, side)
                    raise Refused(
                        f"`{text}` is not known to be a tensor, and is joined to one by `or` or `not`"
                    )
            if costly(self.function, node.right, self.kind):
                raise Refused("the second part may not be computed where the first decides")
            self.exact = False
            sign = "&" if isinstance(node.operator, cst.And) else "|"
            return joined([self.truth(node.left, turned), self.truth(node.right, turned)], sign)
        if isinstance(node, cst.Comparison):
            return self.comparison(node)
        if (given := _close(self.function, node)) is not None:
            return f"{self.torch('torch.isclose')}({given}).all()"
        inner = unread(self.function, node, self.kind)
        if isinstance(inner, cst.Comparison):
            return self.comparison(inner)
        if isinstance(inner, cst.BooleanOperation | cst.UnaryOperation) and inner is not node:
            return self.truth(inner, turned)  # `bool(a or b)`
        self.exact = self.exact and is_scalar(self.function, inner)
        text = source(self.function, inner)
        if isinstance(inner, cst.Name) and _is_optional_argument(self.function, inner):
            raise Refused(f"`{text}` may be None")
        plain = _is_bool(inner, self.kind) and not (turned and _may_be_bytes(inner, self.kind))
        return text if plain else f"({in_parentheses(text)} != 0)"

    def comparison(self, node: cst.Comparison) -> str:
        sides = [node.left, *(one.comparator for one in node.comparisons)]
        asked = [unread(self.function, side, self.kind) for side in sides]
        tensors = [self.kind(side).startswith("tensor") for side in asked]
        if not any(tensors) and all(one is side for one, side in zip(asked, sides, strict=True)):
            self.exact = False
        for one, side in zip(asked, sides, strict=True):
            if not is_scalar(self.function, one):
                self.exact = False
            value = number(one)
            if one is not side or (value is not None and (value != int(value) or abs(value) > 256)):
                # A number read out is compared in double precision, the tensor in its own.
                self.exact = self.exact and not any(a is not b for a, b in zip(asked, sides, strict=True))
        texts = [source(self.function, one) for one in asked]
        for at, (one, side) in enumerate(zip(asked, sides, strict=True)):
            if one is not side and (drawn := _one_draw(self.function, one)):
                # No one asks in which precision a random number is compared.
                texts[at], self.exact = drawn, False
                continue
            if _one_element(self.function, one):
                # Without dimensions it selects between tensors of any shape, and of any device.
                texts[at] = f"{texts[at]}.squeeze()"
            others = [other for n, other in enumerate(asked) if n != at]
            whole = self.kind(one) in ("tensor:int", "tensor:bool")
            if one is not side and not whole and not all(self.alike(other) for other in others):
                texts[at] = f"{in_parentheses(texts[at])}.double()"  # as the number that was read out
        pairs = [f"{texts[n]} {self.operator(one)} {texts[n + 1]}" for n, one in enumerate(node.comparisons)]
        self.exact = self.exact and len(pairs) == 1
        return joined(pairs, "&")

    def alike(self, other: cst.BaseExpression) -> bool:
        """Whether a comparison with it comes out the same in any precision: a tensor, a whole number, as sizes are, or
        a number of few digits."""
        value = number(other)
        if value is not None:
            return value * 64 == int(value * 64) and abs(value) <= 256
        return self.kind(other).startswith("tensor") or self.kind(other) == "int"

    def operator(self, target: cst.ComparisonTarget) -> str:
        text = sign_of(self.function, target.operator)
        if text in ("is", "is not", "in", "not in"):
            raise Refused(f"`{text}` asks for an object, not for a value")
        return text


def _one_draw(function: FunctionCode, node: cst.BaseExpression) -> str:
    """`torch.rand(())` of `torch.rand(1)`, whose number is read out; "" of anything else."""
    if (
        not isinstance(node, cst.Call)
        or qualified(function, node.func) != "torch.rand"
        or len(node.args) != 1
    ):
        return ""
    sizes = ("1", "[1]", "(1,)", "(1)", "[]", "()")
    return f"{source(function, node.func)}(())" if source(function, node.args[0]) in sizes else ""


def _is_optional_argument(function: FunctionCode, name: cst.Name) -> bool:
    """Whether the name is an argument that is None where it is not given, and the function never asks whether it is."""
    owner = enclosing_function(function, name)
    given = next((one for one in parameters(owner) if one.name.value == name.value), None) if owner else None
    if (
        owner is None
        or given is None
        or any(use.binds and use.name == name.value for use in uses(owner.body))
    ):
        return False
    note = source(function, given.annotation.annotation) if given.annotation is not None else ""
    optional = "Optional" in note or "None" in note
    if not optional and (given.default is None or source(function, given.default) != "None"):
        return False
    return not any(
        isinstance(one, cst.Comparison)
        and is_name(one.left, name.value)
        and isinstance(one.comparisons[0].operator, cst.Is | cst.IsNot)
        for one in walk(owner.body)
    )


def joined(texts: Sequence[str], sign: str) -> str:
    """Bool tensors joined by `&` or `|`."""
    if len(texts) == 1:
        return texts[0]
    return f" {sign} ".join(_operand(text, sign) for text in texts)


def _operand(text: str, sign: str) -> str:
    """The text as an operand of `~`, `&` or `|`."""
    node = cst.parse_expression(text)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        return text
    alike = cst.BitAnd if sign == "&" else cst.BitOr
    if sign != "~" and isinstance(node, cst.BinaryOperation) and isinstance(node.operator, alike):
        return text
    return in_parentheses(text)


_SIZED = words("rand randn zeros ones empty full tensor")


def _one_element(function: FunctionCode, node: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether a tensor surely has one element and one dimension: `torch.rand(1)`, `torch.tensor([x])`."""
    if isinstance(node, cst.Name) and depth:
        value = definition(function, node)
        return value is not None and _one_element(function, value, depth - 1)
    if not isinstance(node, cst.Call) or not node.args or callee(node) not in _SIZED:
        return False
    if qualified(function, node.func) != f"torch.{callee(node)}" or node.args[0].keyword is not None:
        return False
    first, more = node.args[0].value, [arg for arg in node.args[1:] if arg.keyword is None]
    if callee(node) == "tensor":
        return isinstance(first, cst.List) and len(first.elements) == 1
    sizes = source(function, first).replace(" ", "")
    return sizes in ("(1,)", "[1]") or (sizes == "1" and not more)


def any_set(function: FunctionCode, test: cst.BaseExpression) -> cst.BaseExpression | None:
    """The `m` of `m.any()` and `torch.any(m)`."""
    return reduced(function, test, "any")


def reduced(function: FunctionCode, node: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    """The `m` of `m.any()` and `torch.any(m)`, where that is the function's name."""
    if not isinstance(node, cst.Call) or callee(node) != name:
        return None
    if qualified(function, node.func) == f"torch.{name}" and len(node.args) == 1:
        return node.args[0].value
    return node.func.value if isinstance(node.func, cst.Attribute) and not node.args else None


def _is_bool(node: cst.BaseExpression, kind: Kind) -> bool:
    """Whether a tensor is surely one of bools; `any` and `all` of bytes give bytes."""
    if kind(node) == "tensor:bool" or isinstance(node, cst.Comparison):
        return True
    if not isinstance(node, cst.Call) or callee(node) not in ("any", "all"):
        return False
    asked = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    return any(_is_bool(one, kind) for one in (*asked, *(arg.value for arg in node.args[:1])))


def _may_be_bytes(node: cst.BaseExpression, kind: Kind) -> bool:
    """Whether a tensor may be `any` or `all` of bytes, which is a byte: `~` of 1 is 254 then, and true."""
    if not isinstance(node, cst.Call) or callee(node) not in ("any", "all"):
        return False
    asked = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    known = ("tensor:bool", "tensor:float")
    return not any(kind(one) in known for one in (*asked, *(arg.value for arg in node.args[:1])))


def opposite(text: str) -> str:
    """The bool tensor that is true where the one that `text` gives is not.

    Of comparisons only `==` and `!=` are turned round: of NaN, `not a < b` and `a >= b` say different things.
    """
    node = cst.parse_expression(text)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        return bare(cst.Module([]).code_for_node(node.expression))
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        (one,) = node.comparisons
        space = cst.SimpleWhitespace(" ")
        turned: cst.BaseCompOp | None = None
        if isinstance(one.operator, cst.Equal):
            turned = cst.NotEqual("!=", space, space)
        elif isinstance(one.operator, cst.NotEqual):
            turned = cst.Equal(space, space)
        if turned is not None:
            made = node.with_changes(comparisons=[one.with_changes(operator=turned)])
            return cst.Module([]).code_for_node(made)
    return f"~{_operand(text, '~')}"


def bare(text: str) -> str:
    """The expression without parentheses around all of it."""
    node = cst.parse_expression(text)
    if not node.lpar:
        return text
    inner = cst.Module([]).code_for_node(node.with_changes(lpar=(), rpar=()))
    try:
        cst.parse_expression(inner)
    except cst.ParserSyntaxError:  # they hold lines together
        return text
    return inner


def is_scalar(function: FunctionCode, node: cst.BaseExpression, depth: int = 4) -> bool:
    """Whether a tensor surely has no dimension (a plain number counts, and an attribute that may be one)."""
    if number(node) is not None:
        return True
    if isinstance(node, cst.Comparison):
        sides = [node.left, *(one.comparator for one in node.comparisons)]
        return all(is_scalar(function, side, depth) for side in sides)
    if isinstance(node, cst.BinaryOperation):
        return is_scalar(function, node.left, depth) and is_scalar(function, node.right, depth)
    if isinstance(node, cst.UnaryOperation):
        return is_scalar(function, node.expression, depth)
    if isinstance(node, cst.Call):
        known = qualified(function, node.func)
        if known is not None and known.startswith("torch."):
            if callee(node) in ("rand", "randn", "zeros", "ones") and len(node.args) == 1:
                return source(function, node.args[0].value) in ("[]", "()")
            return callee(node) in REDUCES | _PLACES and len(node.args) == 1
        return known is None and callee(node) in REDUCES | _PLACES | {"item"} and not node.args
    if isinstance(node, cst.Name) and depth:
        value = definition(function, node)
        return value is not None and is_scalar(function, value, depth - 1)
    return False


def definition(function: FunctionCode, name: cst.Name) -> cst.BaseExpression | None:
    """What is assigned to the name, where the function assigns it once and by that alone."""
    owner = enclosing_function(function, name)
    if owner is None:
        return None
    bound = [use.node for use in uses(owner.body) if use.name == name.value and use.binds]
    if len(bound) != 1 or any(param.name.value == name.value for param in parameters_in(owner.params)):
        return None
    target = function.parent(bound[0])
    assign = function.parent(target) if isinstance(target, cst.AssignTarget) else None
    return assign.value if isinstance(assign, cst.Assign) else None
