"""Single random numbers that are compared with a rate, and how torch draws them in the graph."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.condition import definition
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.rewrite import New
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, walk

# What draws one number evenly between 0 and 1 outside of the graph, and the arguments with which it does.
_NOTHING, _BOUNDS = (), ("0.0", "1.0")
_HOST = {
    "random.random": (_NOTHING,),
    "random.uniform": (_BOUNDS,),
    "numpy.random.rand": (_NOTHING,),
    "numpy.random.random": (_NOTHING,),
    "numpy.random.random_sample": (_NOTHING,),
    "numpy.random.uniform": (_NOTHING, _BOUNDS),
}
_VECTOR = ("1", "(1,)", "[1]")  # sizes of one number in one dimension
_TURNED: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.GreaterThan: cst.LessThanEqual,
    cst.GreaterThanEqual: cst.LessThan,
}


def on_host(function: FunctionCode, number: cst.BaseExpression) -> cst.Call | None:
    """The call that draws the number with Python or NumPy, or reads it out of `torch.rand(1)`: itself, or what a name
    is that nothing else reads."""
    if isinstance(number, cst.Name):
        value = definition(function, number)
        alone = isinstance(value, cst.Call) and _reads(function, number) == 1
        return on_host(function, value) if value is not None and alone else None
    if not isinstance(number, cst.Call):
        return None
    if callee(number) == "item" and isinstance(number.func, cst.Attribute) and not number.args:
        return number if _is_rand(function, number.func.value, (*_VECTOR, "()", "[]")) else None
    ways = _HOST.get(qualified(function, number.func) or "", ())
    given = tuple(_as_float(source(function, one.value)) for one in number.args if one.keyword is None)
    return number if given in ways and len(given) == len(number.args) else None


def _reads(function: FunctionCode, name: cst.Name) -> int:
    """How often the function reads the name."""
    owner = enclosing_function(function, name)
    found = uses(owner.body) if owner is not None else ()
    return sum(use.name == name.value and not use.binds for use in found)


def _as_float(text: str) -> str:
    try:
        return str(float(text))
    except ValueError:
        return text


def below_rate(function: FunctionCode, test: cst.Comparison) -> cst.Comparison | None:
    """The comparison, where a number that is drawn on the host lies below a rate in it."""
    if len(test.comparisons) != 1 or not isinstance(
        test.comparisons[0].operator, cst.LessThan | cst.LessThanEqual
    ):
        return None
    return test if on_host(function, test.left) is not None else None


def not_above_rate(function: FunctionCode, test: cst.BaseExpression) -> cst.Comparison | None:
    """`p <= rate` of `p > rate`, where `p` is drawn."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    only = test.comparisons[0]
    turned = _TURNED.get(type(only.operator))
    number = definition(function, test.left) if isinstance(test.left, cst.Name) else test.left
    drawn = isinstance(number, cst.Call) and qualified(function, number.func) == "torch.rand"
    if turned is None or not (drawn or on_host(function, test.left)):
        return None
    return test.with_changes(comparisons=[only.with_changes(operator=turned())])


def asks_number(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether anything below the node compares a number that is drawn on the host."""
    return any(
        isinstance(one, cst.Comparison) and on_host(function, one.left) is not None for one in walk(node)
    )


def by_torch(
    function: FunctionCode, drawn: cst.Comparison
) -> tuple[cst.Comparison, dict[cst.CSTNode, New], tuple[Edit, ...]]:
    """The comparison with a number without dimensions that torch draws, what else is replaced, and the imports.

    `torch.rand(1)` has one dimension: `torch.where` takes that on the tensors' device alone.
    """
    left = drawn.left
    call = on_host(function, left) or _in_a_vector(function, left)
    if call is None:
        return drawn, {}, ()
    rand, imports = torch_name(function, "torch.rand")
    made = cst.parse_expression(f"{rand}(())")
    if call is left:
        return drawn.with_changes(left=made), {}, imports
    if isinstance(left, cst.Name) and _reads(function, left) > 1:
        return drawn.with_changes(left=cst.parse_expression(f"{left.value}.squeeze()")), {}, ()
    return drawn, {call: made}, imports


def _in_a_vector(function: FunctionCode, number: cst.BaseExpression) -> cst.Call | None:
    """`torch.rand(1)`, or what a name is by that."""
    value = definition(function, number) if isinstance(number, cst.Name) else number
    return value if isinstance(value, cst.Call) and _is_rand(function, value, _VECTOR) else None


def _is_rand(function: FunctionCode, node: cst.BaseExpression, sizes: Sequence[str]) -> bool:
    """Whether the node is `torch.rand` of one of these sizes, and nothing else is asked of it."""
    if not isinstance(node, cst.Call) or qualified(function, node.func) != "torch.rand":
        return False
    return len(node.args) == 1 and source(function, node.args[0]) in sizes
