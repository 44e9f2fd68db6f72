"""Boolean masks: selection of equal shape instead of a result whose size depends on values."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Fix, Trait
from pt2lint.fixes.condition import definition, is_scalar
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import LIKE, Kind, guess, holds_array, words
from pt2lint.fixes.nodes import ancestors, enclosing_function, parameters
from pt2lint.fixes.purity import alike, effect, number, singular
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.repairs.settings import capture_shapes
from pt2lint.fixes.repairs.where import is_own
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import in_parentheses, line, sign_of, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, walk

_NAN = " The gradient is NaN where the mask is off and the expression's own gradient is infinite."
# Work on each element alone, so that it does not matter when the others are left out.
ELEMENTWISE = words(
    "abs exp log log1p sqrt rsqrt sigmoid tanh sin cos square reciprocal clamp clip relu neg float "
    "half double bfloat16 long int bool detach clone floor ceil round sign isnan isinf isfinite "
    "nan_to_num softplus gelu silu"
)


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """All that fits of: a reduction or an assignment through a mask as torch.where, capture of shapes."""
    kind = guess(function)
    found: list[Repaired] = []
    if isinstance(node, cst.Subscript | cst.Call):
        found += [reduce_where(function, node, kind), count_mask(function, node)]
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.Assign | cst.AugAssign):
            found.append(assign_where(function, outer, kind))
        if isinstance(outer, cst.BaseStatement):
            break
    return accepted(*found, capture_shapes(function))


def masked_of(
    function: FunctionCode, node: cst.CSTNode
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The tensor and the mask in `x[mask]`, `x.masked_select(mask)` or `torch.masked_select(x, mask)`."""
    if (
        isinstance(node, cst.Subscript)
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Index)
    ):
        if holds_array(function, node.value):
            return None
        return node.value, node.slice[0].slice.value
    if isinstance(node, cst.Call) and callee(node) == "masked_select":
        given = [arg.value for arg in node.args]
        if qualified(function, node.func) == "torch.masked_select" and len(given) == 2:
            return given[0], given[1]
        if isinstance(node.func, cst.Attribute) and len(given) == 1:
            return node.func.value, given[0]
    return None


def _assumed(
    function: FunctionCode, tensor: cst.BaseExpression, mask: cst.BaseExpression
) -> tuple[str, tuple[Trait, ...]]:
    """What to say of the mask's shape: nothing where it is made, element by element, of the tensor."""
    text = source(function, tensor)
    if made_of(function, mask, text):
        return "", ()
    return f" It assumes that the mask has the shape of `{text}`.", ("once proven",)


def made_of(function: FunctionCode, mask: cst.BaseExpression, tensor: str, depth: int = 4) -> bool:
    """Whether the mask has the dimensions of the tensor, from which those that an index has are no more."""
    if source(function, mask) == tensor:
        return True
    parts: list[cst.BaseExpression] = []
    if isinstance(mask, cst.Comparison):
        parts = [mask.left, *(one.comparator for one in mask.comparisons)]
    elif isinstance(mask, cst.UnaryOperation):
        parts = [mask.expression]
    elif isinstance(mask, cst.BinaryOperation):
        parts = [mask.left, mask.right]
    elif isinstance(mask, cst.Name) and depth:
        value = definition(function, mask)
        return value is not None and made_of(function, value, tensor, depth - 1)
    elif isinstance(mask, cst.Call) and callee(mask) in ELEMENTWISE | _LIKE:
        known = qualified(function, mask.func)
        if known is not None and not known.startswith("torch."):
            return False
        parts = [arg.value for arg in mask.args if arg.keyword is None]
        if known is None and isinstance(mask.func, cst.Attribute):
            parts.append(mask.func.value)
    return any(made_of(function, part, tensor, depth) for part in parts)


_LIKE = LIKE | words("expand_as isclose eq ne lt le gt ge logical_not logical_and logical_or logical_xor")


def _simple(node: cst.BaseExpression) -> bool:
    return not any(isinstance(one, cst.Tuple | cst.Slice) for one in (node, *node.children))


def reduce_where(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`x[mask].sum()` (also mean, prod, any, all, and torch.sum(x[mask])) without the selection.

    Refused where anything else than such a reduction of all elements follows. Unsafe: the sum is taken in
    another order, and the mask must have the shape of the tensor.
    """
    kind = kind or guess(function)
    masked = masked_of(function, node)
    if masked is None:
        return Refusal("nothing is selected by a mask here")
    tensor, mask = masked
    call = _reduction(function, node)
    if call is None:
        return Refusal("what follows the selection is not a reduction of all elements")
    if effect(tensor) or effect(mask) or not _simple(mask):
        return Refusal("the tensor or the mask has an effect")
    if kind(mask) in ("int", "float", "str", "none", "tensor:int", "tensor:float"):
        return Refusal("the index is no mask")
    x, m = source(function, tensor), source(function, mask)
    where, imports = torch_name(function, "torch.where")
    name = callee(call)
    if name == "sum":
        text = f"{where}({m}, {x}, 0).sum()"
    elif name == "prod":
        text = f"{where}({m}, {x}, 1).prod()"
    elif name == "mean":
        text = f"{where}({m}, {x}, 0).sum() / {in_parentheses(m)}.sum()"
        if not isinstance(function.parent(call), cst.Assign | cst.Return | cst.Arg):
            text = f"({text})"
    else:
        join, imports = torch_name(function, "torch.logical_and" if name == "any" else "torch.logical_or")
        off, more = torch_name(function, "torch.logical_not")
        text = f"{join}({m if name == 'any' else f'{off}({m})'}, {x}).{name}()"
        imports = imports or more
    edits = (*imports, *rewrite(function, {call: cst.parse_expression(text)}))
    order = (
        ""
        if name in ("any", "all")
        else " Elements are added in another order, so the last digits may differ."
    )
    if name == "mean":
        order += " In float16 it overflows where the sum is above 65,504, which the mean is not."
    assumed, waits = _assumed(function, tensor, mask)
    return fix(
        f"Reduce over all elements, with those outside the mask made neutral.{order}{assumed}",
        edits,
        *waits,
    )


def count_mask(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`x[mask].numel()` as `mask.sum()`, a tensor, where that is given to a function (a check, mostly).

    Refused where the number is used in other ways. Unsafe: the mask must have the shape of the tensor, and what is
    given the number, or a comparison of it, must take a tensor.
    """
    masked = masked_of(function, node)
    if masked is None:
        return Refusal("nothing is selected by a mask here")
    tensor, mask = masked
    method = function.parent(node)
    call = function.parent(method) if isinstance(method, cst.Attribute) else None
    if not isinstance(call, cst.Call) or call.args or call.func is not method or callee(call) != "numel":
        return Refusal("the elements are not counted")
    if effect(tensor) or effect(mask) or not _simple(mask):
        return Refusal("the tensor or the mask has an effect")
    outer = function.parent(call)
    while isinstance(outer, cst.Comparison | cst.ComparisonTarget | cst.BinaryOperation):
        outer = function.parent(outer)
    owner = function.parent(outer) if isinstance(outer, cst.Arg) else None
    if not isinstance(owner, cst.Call):
        return Refusal("the number is not given to a function")
    text = f"{in_parentheses(source(function, mask))}.sum()"
    edits = rewrite(function, {call: cst.parse_expression(text)})
    assumed, waits = _assumed(function, tensor, mask)
    return fix(
        f"Count what the mask sets instead of selecting it.{assumed} "
        f"`{source(function, owner.func)}` is then given a tensor.",
        edits,
        *waits,
    )


def _reduction(function: FunctionCode, node: cst.CSTNode) -> cst.Call | None:
    names = ("sum", "mean", "prod", "any", "all")
    parent = function.parent(node)
    if isinstance(parent, cst.Attribute) and parent.attr.value in names:
        call = function.parent(parent)
        return call if isinstance(call, cst.Call) and not call.args and call.func is parent else None
    if isinstance(parent, cst.Arg):
        call = function.parent(parent)
        if isinstance(call, cst.Call) and len(call.args) == 1 and callee(call) in names:
            known = qualified(function, call.func)
            return call if known == f"torch.{callee(call)}" else None
    return None


def assign_where(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`y[mask] = z[mask] + 1` or `y[mask] -= 1` as `y.copy_(torch.where(mask, z + 1, y))`: still in place.

    The value must be made, element by element, of tensors under the same mask and of numbers. Unsafe: the
    mask must have the shape of the tensors.
    """
    kind = kind or guess(function)
    statement = function.parent(node)
    if isinstance(node, cst.Assign) and len(node.targets) == 1:
        target, operator = node.targets[0].target, None
    elif isinstance(node, cst.AugAssign):
        target, operator = node.target, node.operator
    else:
        return Refusal("nothing is assigned through a mask here")
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the assignment shares its line")
    masked = masked_of(function, target)
    if masked is None or not isinstance(target, cst.Subscript):
        return Refusal("nothing is assigned through a mask here")
    tensor, mask = masked
    if not _simple(mask) or effect(mask) or effect(tensor):
        return Refusal("the mask is not one plain expression")
    if not kind(mask).startswith("tensor") and not any(
        op.name == "index mask" for part in (target, mask, node) for op in function.ops_at(part)
    ):
        return Refusal("the index is not known to be a mask")
    if kind(mask) == "tensor:int":
        return Refusal("the index holds positions, not a mask")
    y, m = source(function, tensor), source(function, mask)
    if operator is None and number(node.value) is not None:
        return Refusal("a number is assigned: that compiles as it is")
    unmasked: dict[cst.CSTNode, New] = {}
    reason = _elementwise(function, node.value, m, unmasked, kind)
    if reason:
        return Refusal(reason)
    if any(
        isinstance(new, cst.CSTNode) and source(function, new) == y for new in unmasked.values()
    ) and effect(node.value):
        return Refusal("the value has an effect")
    # The backward pass of a product with a tensor needs what `y` was, and `copy_` writes over it.
    scaled = isinstance(operator, cst.MultiplyAssign | cst.DivideAssign) and number(node.value) is not None
    linear = scaled or (
        (operator is None or isinstance(operator, cst.AddAssign | cst.SubtractAssign))
        and not singular(node.value)
    )
    before = y if linear else f"{in_parentheses(y)}.clone()"
    for selection, new in unmasked.items():
        if isinstance(new, cst.CSTNode) and source(function, new) == y:
            unmasked[selection] = cst.parse_expression(before)
    value = source(function, replaced(node.value, unmasked))
    if operator is not None:
        sign = sign_of(function, operator).removesuffix("=")
        value = f"{before} {sign} {value if scaled else in_parentheses(value)}"
    elif not unmasked:
        return Refusal("nothing in the value is taken under the mask: one number compiles as it is")
    where, imports = torch_name(function, "torch.where")
    # Nobody sees whether a tensor that has this name alone is changed or replaced.
    own = (
        isinstance(tensor, cst.Name)
        and is_own(function, y, node, kind)
        and _keeps_dtype(function, cst.parse_expression(value), tensor, kind)
    )
    selected = f"{where}({m}, {value}, {y})"
    if not own and isinstance(tensor, cst.Name) and _may_get_array(function, tensor):
        return Refusal(f"`{y}` may be an array of NumPy's in another call")
    text = f"{y} = {selected}" if own else f"{in_parentheses(y)}.copy_({selected})"
    made = line(text).body[0]
    edits = (*imports, *rewrite(function, {node: made}))
    assumed, traits = _assumed(function, tensor, mask)
    if singular(node.value):
        assumed, traits = assumed + _NAN, (*traits, "nan")
    return fix(
        f"Write all of `{y}` in place, with its own values outside the mask.{assumed}",
        edits,
        *traits,
    )


def _may_get_array(function: FunctionCode, name: cst.Name) -> bool:
    """Whether it is an argument without annotation, and code of the file that uses NumPy or OpenCV calls the function:
    a mask works on arrays too, `copy_` on tensors alone."""
    owner = enclosing_function(function, name)
    if owner is None or not any(
        one.name.value == name.value and one.annotation is None for one in parameters(owner)
    ):
        return False
    file = file_of(function)
    arrays = {
        alias.asname or alias.name
        for node in file.nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name in ("numpy", "cv2")
    }
    for caller in file.nodes:
        if isinstance(caller, ast.FunctionDef | ast.AsyncFunctionDef) and caller.name != owner.name.value:
            inside = list(ast.walk(caller))
            calls = {ast.unparse(one.func).rpartition(".")[2] for one in inside if isinstance(one, ast.Call)}
            if owner.name.value in calls and any(
                isinstance(one, ast.Name) and one.id in arrays for one in inside
            ):
                return True
    return False


def _elementwise(
    function: FunctionCode, node: cst.BaseExpression, mask: str, unmasked: dict[cst.CSTNode, New], kind: Kind
) -> str | None:
    """Note the selections to take out of an expression; the reason why it does not work on each element
    alone."""
    if number(node) is not None or is_scalar(function, node):
        return None
    masked = masked_of(function, node)
    if masked is not None:
        if source(function, masked[1]) != mask:
            return "the value is taken under another mask"
        unmasked[node] = masked[0]
        return None
    if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.MatrixMultiply):
        return _elementwise(function, node.left, mask, unmasked, kind) or _elementwise(
            function, node.right, mask, unmasked, kind
        )
    if isinstance(node, cst.UnaryOperation):
        return _elementwise(function, node.expression, mask, unmasked, kind)
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and _works_alone(function, node.func.value)
    ):
        for arg in node.args:
            reason = (
                "arguments are unpacked"
                if arg.star
                else _elementwise(function, arg.value, mask, unmasked, kind)
            )
            if reason:
                return reason
        return None
    if isinstance(node, cst.Call) and callee(node) in ELEMENTWISE:
        known = qualified(function, node.func)
        given = [arg.value for arg in node.args]
        if known is None and isinstance(node.func, cst.Attribute):
            given = [node.func.value, *given]
        elif known is None or not known.startswith("torch."):
            return f"`{callee(node)}` is not known to work on each element alone"
        for one in given:
            reason = _elementwise(function, one, mask, unmasked, kind)
            if reason:
                return reason
        return None
    if kind(node) in ("int", "float", "bool"):
        return None
    return f"`{source(function, node)}` is not known to work on each element alone"


def _keeps_dtype(function: FunctionCode, value: cst.BaseExpression, tensor: cst.Name, kind: Kind) -> bool:
    """Whether the value is made of the tensor and of numbers, and has its shape and dtype: whole numbers keep any
    dtype of numbers."""
    if not alike(function, value, tensor.value, kind):
        return False
    return kind(tensor) == "tensor:float" or not any(
        isinstance(part, cst.Float | cst.Divide) for part in walk(value)
    )


def _works_alone(function: FunctionCode, name: str) -> bool:
    """Whether a function of the file works on each element alone: assignments and a return of arithmetic and such
    functions of torch, and errors raised of what is wrong with its numbers."""
    if name not in function.functions:
        return False
    found = [n for n in file_of(function).tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(found) != 1 or found[0].decorator_list:
        return False
    [node] = found
    for statement in node.body:
        if isinstance(statement, ast.If):
            if any(not isinstance(s, ast.Raise) for s in statement.body) or statement.orelse:
                return False
        elif isinstance(statement, (ast.Assign, ast.Return)):
            if not all(isinstance(t, ast.Name) for t in getattr(statement, "targets", ())):
                return False
            if statement.value is None or not all(map(_is_alone, ast.walk(statement.value))):
                return False
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            return False
    return True


def _is_alone(part: ast.AST) -> bool:
    if isinstance(part, ast.Call):
        callee = part.func.attr if isinstance(part.func, ast.Attribute) else ""
        return callee in ELEMENTWISE and not part.keywords
    plain = (
        ast.BinOp,
        ast.UnaryOp,
        ast.Name,
        ast.Constant,
        ast.Attribute,
        ast.operator,
        ast.unaryop,
        ast.expr_context,
    )
    return isinstance(part, plain) and not isinstance(part, ast.MatMult)
