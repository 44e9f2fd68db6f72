"""NumPy on plain numbers of Python: the same with `math`, which Dynamo evaluates while it traces."""

from __future__ import annotations

import re
from itertools import islice

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.condition import definition
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.imports import math_function, qualified
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, enclosing_function
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import callee, is_name, parameters_in, walk
from pt2lint.said import plain

# Functions of numpy that math has under this name: what they return, of plain numbers.
_FLOATS = {
    name: name
    for name in "sqrt log log1p log2 log10 exp expm1 sin cos tan tanh sinh cosh hypot degrees radians".split()
}
_FLOATS |= {"arctan": "atan", "arcsin": "asin", "arccos": "acos", "arctan2": "atan2", "fabs": "fabs"}
_WHOLE = {"lcm": "lcm", "gcd": "gcd"}
_ROUNDS = ("ceil", "floor", "trunc")
# How an operation says that its value comes from NumPy, and from which line of the file.
_OF_NUMPY = re.compile(r"`numpy\.(\w+)` returns .* \(line (\d+)\)$")
_TAKE_NUMBERS = ("torch.tensor", "torch.as_tensor")
_INTEGERS = ("int", "int32", "int64", "intp", "long", "int_")


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """The repair of the number that the node reads out of an array, where numbers are all it is made of; and of one
    that NumPy makes, here or elsewhere in the file, where the node depends on it."""
    there = accepted(where_it_is_made(function, node))
    if isinstance(node, cst.Comparison):
        return (*accepted(test_with_math(function, node)), *there)
    if not isinstance(node, cst.Call):
        return there
    here = accepted(with_math(function, node, kind or guess(function)))
    if here and any(
        isinstance(part, cst.Call) and (qualified(function, part.func) or "").startswith("numpy.")
        for part in walk(node)
    ):
        return here  # which is made there
    return (*here, *there)


@refusing
def with_math(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`np.ceil(np.log1p(n)).astype("int").item()` as `math.ceil(math.log1p(n))`, `int(np.sqrt(d))` as
    `int(math.sqrt(d))`.

    Refused where anything that is not known to be a plain number goes in, or the function of NumPy has no
    equal in `math`. Unsafe: outside its domain `math` raises where NumPy gives NaN or an infinity.
    """
    writer = _Writer(function, kind or guess(function))
    text = writer.read(node)
    if not writer.functions:
        return Refusal("neither NumPy nor torch computes it here")
    if set(writer.functions) == {"prod"}:
        whole = node if text.startswith("float(") else _made_int(function, node)
        return fix(
            "Compute the number with `math`: Dynamo evaluates that while it traces.",
            (*writer.imports, *rewrite(function, {whole: cst.parse_expression(text)})),
        )
    return fix(
        "Compute the number with `math`: Dynamo evaluates that while it traces, and takes what NumPy makes for a "
        "tensor. Outside its domain `math` raises where NumPy warns.",
        (*writer.imports, *rewrite(function, {node: cst.parse_expression(text)})),
    )


def _made_int(function: FunctionCode, node: cst.Call) -> cst.Call:
    """The `int(...)` that is given nothing but the node, or else that."""
    outer = function.parent(function.parent(node) or node)
    alone = isinstance(outer, cst.Call) and len(outer.args) == 1 and outer.args[0].value is node
    return outer if alone and isinstance(outer, cst.Call) and is_name(outer.func, "int") else node


@refusing
def test_with_math(function: FunctionCode, node: cst.Comparison) -> Repaired:
    """`torch.prod(torch.tensor(x.shape)) == 0`, asked by an `if`, as `math.prod(x.shape) == 0`."""
    around = function.parent(node)
    if not isinstance(around, cst.If | cst.IfExp) or around.test is not node:
        return Refusal("the outcome may be wanted as a tensor")
    writer = _Writer(function, guess(function))
    sides = [node.left, *(part.comparator for part in node.comparisons)]
    texts = [writer.expression(side)[0] for side in sides]
    if set(writer.functions) != {"prod"}:
        return Refusal("it is no product of sizes")
    new: dict[cst.CSTNode, New] = {
        side: cst.parse_expression(text) for side, text in zip(sides, texts, strict=True)
    }
    return fix(
        "Compute the number with `math`: Dynamo evaluates that while it traces.",
        (*writer.imports, *rewrite(function, {node: replaced(node, new)})),
    )


@refusing
def where_it_is_made(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`np.lcm(a, b)` as `math.lcm(a, b)`, in the function of the file that the number of the node comes from.

    What NumPy makes of plain numbers is a number in eager mode, and a tensor to Dynamo: what is asked of it, wherever
    it goes, breaks the graph. Unsafe: nothing but its name may say that `a` is a plain number.
    """
    origin = next((found for op in function.ops_at(node) if (found := _OF_NUMPY.match(plain(op.why)))), None)
    if origin is None:
        return Refusal("the value is not what NumPy makes of numbers")
    name, line = origin[1], int(origin[2])
    there = function
    if not any(function.range(one)[0] == line for one in _called(function, name)):
        other = neighbour(function, line)
        if other is None:
            return Refusal("NumPy is called in no function of the file")
        there = other
    made = [one for one in _called(there, name) if there.range(one)[0] == line]
    if len(made) != 1:
        return Refusal("the call of NumPy is not the only one in its line")
    writer = _Writer(there, guess(there), assumed=True)
    text, _, _ = writer.expression(made[0])
    assumes = (
        " It assumes that these are plain numbers: " + ", ".join(writer.assumed) if writer.assumed else ""
    )
    return fix(
        f"Compute the number with `math`, where it is made (line {line}): what NumPy makes is a tensor to Dynamo. "
        f"Outside its domain `math` raises where NumPy warns.{assumes}{'.' if assumes else ''}",
        (*writer.imports, *rewrite(there, {made[0]: cst.parse_expression(text)})),
    )


def _called(function: FunctionCode, name: str) -> list[cst.Call]:
    """The calls of a function of NumPy."""
    return [
        one
        for one in walk(function.module)
        if isinstance(one, cst.Call) and qualified(function, one.func) == f"numpy.{name}"
    ]


class _Writer:
    """Writes an expression of NumPy with math; `functions` are those of NumPy that it met.

    Where it may assume, names and attributes of which nothing is known are whole numbers: those in `assumed`.
    """

    def __init__(self, function: FunctionCode, kind: Kind, assumed: bool = False) -> None:
        self.function, self.kind = function, kind
        self.may_assume, self.assumed = assumed, list[str]()
        self.functions: list[str] = []
        self.imports: tuple[Edit, ...] = ()

    def math(self, name: str) -> str:
        text, imports = math_function(self.function, name)
        self.imports = imports or self.imports
        return text

    def read(self, node: cst.Call) -> str:
        """`.item()`, `int()`, `float()`: where a number leaves NumPy."""
        name = callee(node)
        if name == "item" and isinstance(node.func, cst.Attribute) and not node.args:
            text, whole, wanted = self.converted(node.func.value)
        elif isinstance(node.func, cst.Name) and name in ("int", "float") and len(node.args) == 1:
            text, whole, _ = self.converted(node.args[0].value)
            wanted = name
        else:
            raise Refused("no number leaves NumPy here")
        if wanted == "int":
            return text if whole else f"int({text})"
        return f"float({text})" if whole and wanted != "same" else text

    def converted(self, node: cst.BaseExpression) -> tuple[str, bool, str]:
        """The text of an array of no dimension, whether it is whole in Python, and the type it has in NumPy."""
        if isinstance(node, cst.Call) and callee(node) == "astype" and len(node.args) == 1:
            assert isinstance(node.func, cst.Attribute)
            text, whole, _ = self.converted(node.func.value)
            given = source(self.function, node.args[0].value).strip("\"'")
            if given.rpartition(".")[2] in _INTEGERS:
                return text, whole, "int"
            if given.rpartition(".")[2] in ("float", "float64", "double"):
                return text, whole, "float"
            raise Refused(f"`astype({given})` has no equal in Python")
        return self.expression(node)

    def expression(self, node: cst.BaseExpression) -> tuple[str, bool, str]:
        if isinstance(node, cst.Call):
            known = qualified(self.function, node.func) or ""
            owner, _, name = known.rpartition(".")
            if owner == "numpy":
                return self.call(node, name)
            if known == "torch.prod" and len(node.args) == 1:
                return self.product(node.args[0].value)
            if isinstance(node.func, cst.Attribute) and callee(node) == "prod" and not node.args:
                return self.product(node.func.value)
        if isinstance(node, cst.BinaryOperation):
            left, right = self.expression(node.left), self.expression(node.right)
            whole = left[1] and right[1] and not isinstance(node.operator, cst.Divide)
            same = "same" if "float" not in (left[2], right[2]) and whole else "float"
            marked = node.with_changes(
                left=cst.parse_expression(left[0]), right=cst.parse_expression(right[0])
            )
            return source(self.function, marked), whole, same
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            text, whole, wanted = self.expression(node.expression)
            return f"-{text}", whole, wanted
        word = self.number(node)
        return source(self.function, node), word == "int", "same" if word == "int" else "float"

    def call(self, node: cst.Call, name: str) -> tuple[str, bool, str]:
        if any(arg.keyword is not None or arg.star for arg in node.args):
            raise Refused(f"`numpy.{name}` is given a keyword")
        if name == "prod" and len(node.args) == 1 and self.sizes(node.args[0].value):
            self.functions.append(name)
            return f"{self.math(name)}({source(self.function, node.args[0].value)})", True, "same"
        given = [self.expression(arg.value) for arg in node.args]
        self.functions.append(name)
        texts = ", ".join(text for text, _, _ in given)
        if name in _FLOATS and given:
            return f"{self.math(_FLOATS[name])}({texts})", False, "float"
        if name in _ROUNDS and len(given) == 1:
            return f"{self.math(name)}({texts})", True, "float"
        if name in _WHOLE and len(given) == 2 and all(whole for _, whole, _ in given):
            return f"{self.math(_WHOLE[name])}({texts})", True, "same"
        if name in ("maximum", "minimum") and len(given) == 2 and given[0][1] == given[1][1]:
            return f"{name[:3]}({texts})", given[0][1], "same" if given[0][1] else "float"
        raise Refused(f"`numpy.{name}` has no equal in `math`")

    def product(self, node: cst.BaseExpression) -> tuple[str, bool, str]:
        """What `torch.prod` is given: `torch.tensor(x.shape)`, `torch.tensor(x.shape).float()`."""
        if isinstance(node, cst.Call) and callee(node) in ("float", "double") and not node.args:
            if isinstance(node.func, cst.Attribute):
                text, whole, _ = self.product(node.func.value)
                return text, whole, "float"
        if isinstance(node, cst.Call) and qualified(self.function, node.func) in _TAKE_NUMBERS:
            if len(node.args) == 1 and self.sizes(node.args[0].value):
                self.functions.append("prod")
                return f"{self.math('prod')}({source(self.function, node.args[0].value)})", True, "same"
        raise Refused("it is no product of sizes")

    def sizes(self, node: cst.BaseExpression) -> bool:
        """Whether it surely is a tuple or a list of whole numbers: sizes of a tensor, part of them, or written out."""
        if isinstance(node, cst.Tuple | cst.List):
            return all(self.expression(one.value)[1] for one in node.elements)
        if isinstance(node, cst.Subscript):
            return isinstance(node.slice[0].slice, cst.Slice) and self.sizes(node.value)
        if isinstance(node, cst.Call):
            return callee(node) == "size" and not node.args
        if isinstance(node, cst.Name):
            made = definition(self.function, node)
            if made is None:
                return self.unpacks_shape(node, cst.StarredElement) or self.assumes_listed(node)
            return not isinstance(made, cst.Name) and self.sizes(made)
        return isinstance(node, cst.Attribute) and node.attr.value == "shape"

    def assumes_listed(self, name: cst.Name) -> bool:
        """Whether it is a parameter that is a list of whole numbers by default, and may be assumed to be one always."""
        owner = enclosing_function(self.function, name)
        given = (
            [p for p in parameters_in(owner.params) if p.name.value == name.value]
            if owner is not None
            else []
        )
        usual = given[0].default if given and self.may_assume else None
        if not isinstance(usual, cst.List | cst.Tuple):
            return False
        if not usual.elements or not all(isinstance(one.value, cst.Integer) for one in usual.elements):
            return False
        self.assumed += [f"`{name.value}`"] if f"`{name.value}`" not in self.assumed else []
        return True

    def number(self, node: cst.BaseExpression, depth: int = 4) -> str:
        """ "int" or "float" for what surely is a plain number."""
        word = self.kind(node)
        if word in ("int", "float"):
            return word
        if isinstance(node, cst.Call):
            name = callee(node)
            if name in ("size", "dim", "numel", "len") and qualified(self.function, node.func) is None:
                return "int"
            if (qualified(self.function, node.func) or "").startswith("math."):
                return "float"
        if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute):
            if node.value.attr.value == "shape":
                return "int"
        if isinstance(node, cst.Name) and depth:
            value = definition(self.function, node)
            if value is not None:
                return self.number(value, depth - 1)
            if self.unpacks_shape(node, cst.Element):
                return "int"
        assumed = self.may_assume and word == "unknown" and effect(node) is None and dotted(node)
        if assumed and not self.sizes(node):
            text = f"`{source(self.function, node)}`"
            self.assumed += [text] if text not in self.assumed else []
            return "int"
        raise Refused(f"`{source(self.function, node)}` is not known to be a plain number")

    def unpacks_shape(self, name: cst.Name, element: type[cst.BaseElement]) -> bool:
        """Whether the name's only binding is as such an element of `a, *b = x.shape` (or x.size())."""
        owner = enclosing_function(self.function, name)
        if owner is None or any(is_name(one.name, name.value) for one in parameters_in(owner.params)):
            return False
        bound = [use.node for use in uses(owner.body) if use.name == name.value and use.binds]
        around = [one for node in bound for one in islice(ancestors(self.function, node), 4)]
        if len(bound) != 1 or len(around) < 4 or not isinstance(around[0], element):
            return False
        assign = around[3]
        return (
            isinstance(around[1], cst.Tuple)
            and isinstance(around[2], cst.AssignTarget)
            and isinstance(assign, cst.Assign)
            and source(self.function, assign.value).endswith((".shape", ".size()"))
        )
