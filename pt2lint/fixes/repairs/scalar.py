"""Numbers read out of tensors: the tensor itself where a tensor will do."""

from __future__ import annotations

import builtins

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import REDUCES, is_scalar, read_of
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.instead import RETURNED, bad_use
from pt2lint.fixes.kinds import (
    Kind,
    guess,
    has_no_gradient,
    holds_array,
    is_without_gradients,
    may_be_array,
    words,
)
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, assigned, enclosing_function, name_in
from pt2lint.fixes.purity import is_view
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix, refusing
from pt2lint.fixes.repairs import branch, guard, in_math, index, longest, named, rolled, window
from pt2lint.fixes.repairs.settings import capture_scalars
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """All that fits of: the number computed without NumPy, the branch or the check around it rewritten, the
    tensor kept, scalar capture."""
    kind = guess(function)
    plain = in_math.fixes(function, node, kind)
    around: tuple[Fix, ...] = ()
    tested = False
    inner = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.If | cst.IfExp | cst.While) and outer.test is inner:
            around, tested = (*guard.fixes(function, inner, kind), *branch.fixes(function, inner, kind)), True
            break
        if isinstance(outer, cst.Assert):
            around = guard.fixes(function, outer, kind)
            break
        if isinstance(outer, cst.Assign):
            around = accepted(guard.named_check(function, node, kind))
        if isinstance(outer, cst.BaseStatement):
            break
        inner = outer
    bounded = longest.bound(function, node, kind)  # told by hand: who is given a length wants a number
    kept = accepted(keep_tensor(function, node, kind)) if isinstance(node, cst.Call) else ()
    kept = tuple(one for one in kept if not (bounded and one.by_hand))
    if isinstance(node, cst.Call) and not kept and not bounded:
        kept = accepted(keep_for_others(function, node, kind))
    tensor = read_of(node) if isinstance(node, cst.Call) else None
    if isinstance(node, cst.Call) and tensor is not None and not _of_numpy(function, node, tensor):
        kept += accepted(
            index.by_tensor(function, node, kind),
            rolled.by_index(function, node, tensor, kind),
            window.kept_as_start(function, node, kind),
            named.kept_for_tests(function, node, kind, lambda use: bad_use(function, use, kind, 6) is None),
        )
    return (*plain, *around, *kept, *(() if tested else accepted(capture_scalars(function))))


def keep_tensor(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`t.item()` (or `float(t)`) as `t.detach()`, where all that is done with the number can be done with a
    tensor of no dimension: arithmetic with tensors, and arguments of torch functions that take either.

    Refused where the number is compared, stored, given to other code, cut to an integer, or used where a tensor
    cannot stand; told only where it is returned, as callers then get a tensor. Unsafe: a number of Python has double
    precision and takes the dtype of the tensor it meets; a one-element tensor of one dimension broadcasts.
    """
    kind = kind or guess(function)
    tensor = read_of(node)
    if tensor is None:
        return Refusal("no number is read out of a tensor here")
    if callee(node) in ("int", "bool") and kind(tensor) not in ("tensor:int", "tensor:bool"):
        return Refusal(f"`{callee(node)}` changes the value")
    if _of_numpy(function, node, tensor):
        return Refusal("the number is read out of an array, not a tensor")
    reason = bad_use(function, node, kind, 6)
    if reason and not reason.endswith(RETURNED):
        return Refusal(reason)
    text = in_parentheses(source(function, tensor))
    whole = kind(tensor) in ("tensor:int", "tensor:bool")
    if not whole and not _is_compared(function, node) and not _passes_none(function, tensor, kind):
        text += ".detach()"  # a number has no gradient
    if _changes_under(function, node, tensor):
        text += ".clone()"
    edits = rewrite(function, {node: cst.parse_expression(text)})
    if reason:
        return fix(
            "Return the value as a tensor: callers read the number out of it, outside the compiled code, or do "
            "without.",
            edits,
            by_hand=True,
        )
    return fix(
        "Keep the value as a tensor: what the code does with it works on a tensor too. Arithmetic then has the "
        "tensor's precision, not Python's.",
        edits,
    )


@refusing
def keep_for_others(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`n = t.item()` as `n = t`, where all that is done with `n` from there on is arithmetic, and calls of the
    project's own functions: by hand, as nobody here looks whether these compute with it alone."""
    tensor, assign = read_of(node), function.parent(node)
    name = name_in(assign)
    if tensor is None or name is None or callee(node) in ("int", "bool"):
        return Refusal("it is no `name = tensor.item()`")
    if kind(tensor) in ("tensor:int", "tensor:bool") or _of_numpy(function, node, tensor):
        return Refusal("a whole number may be wanted as a size or an index")
    if not _is_computed_with(function, name, 3):
        return Refusal(f"`{name.value}` is not computed with alone")
    text = in_parentheses(source(function, tensor))
    if not is_scalar(function, tensor):
        text += ".squeeze()"  # of one element, as the number is read out of it
    if not _passes_none(function, tensor, kind):
        text += ".detach()"
    if _changes_under(function, node, tensor):
        text += ".clone()"
    return fix(
        f"Keep the value as a tensor, if what `{name.value}` is given to only computes with it: "
        f"`x.sum() / {name.value}` takes a tensor too.",
        rewrite(function, {node: cst.parse_expression(text)}),
        by_hand=True,
    )


def _is_compared(function: FunctionCode, node: cst.Call) -> bool:
    """Whether it is given to `x.gt(...)` or the like, through which no gradient goes."""
    given = function.parent(node)
    call = function.parent(given) if isinstance(given, cst.Arg) else None
    return isinstance(call, cst.Call) and callee(call) in _COMPARES


_COMPARES = words("eq ne lt le gt ge not_equal less less_equal greater greater_equal isclose")


def _passes_none(function: FunctionCode, tensor: cst.BaseExpression, kind: Kind) -> bool:
    """Whether it surely has no gradient: also what is computed, or taken out of a tensor, under `torch.no_grad()`."""
    if has_no_gradient(function, tensor, kind):
        return True
    anew = (
        kind(tensor.value).startswith("tensor")
        if isinstance(tensor, cst.Subscript)
        else isinstance(tensor, cst.Call) and callee(tensor) in REDUCES
    )
    return anew and is_without_gradients(function, tensor)


def _changes_under(function: FunctionCode, node: cst.Call, tensor: cst.BaseExpression) -> bool:
    """Whether what is kept may be a view of what the function changes in place later on: the number that was read out
    of it stayed what it was."""
    owner, root = enclosing_function(function, node), _root(tensor)
    if owner is None or root is None or isinstance(function.parent(node), cst.BinaryOperation):
        return False
    turns = any(isinstance(one, cst.For | cst.While) for one in ancestors(function, node))
    end = (0, 0) if turns else function.range(node)[2:]
    changed = {
        source(function, base)
        for one in walk(owner.body)
        if (place := _changed(one)) is not None
        and (base := _root(place)) is not None
        and function.range(one)[:2] >= end
    }
    one_storage = {source(function, root)}
    for _ in range(2):  # names of the same storage, at two removes
        for line in walk(owner.body):
            name, value = assigned(line) or ("", None)
            base = _root(value) if value is not None else None
            pair = {name, source(function, base)} if base is not None else set()
            one_storage |= pair if pair & one_storage else set()
    return bool(changed & one_storage)


def _changed(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What a statement or a call changes in place: the `x` of `x[0] = 1`, `x += 1` and `x.add_(1)`."""
    if isinstance(node, cst.AugAssign):
        return node.target
    if isinstance(node, cst.AssignTarget):
        return node.target.value if isinstance(node.target, cst.Subscript) else None
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    name = node.func.attr.value
    return node.func.value if name.endswith("_") and not name.endswith("__") else None


def _root(node: cst.CSTNode) -> cst.Name | cst.Attribute | None:
    """The tensor that the expression is, or may be a view of: `x` of `x[0].view(-1)`; None of what is a new one."""
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call):
            if not isinstance(node.func, cst.Attribute) or not is_view(callee(node)):
                return None
            node = node.func.value
        elif isinstance(node, cst.Attribute):
            if node.attr.value not in ("data", "T", "mT", "real", "imag"):
                return node
            node = node.value
        else:
            return None
    return node


def _is_computed_with(function: FunctionCode, name: cst.Name, depth: int) -> bool:
    """Whether the name, wherever it is read from there on, is an operand, an argument of the project's functions, or
    becomes another name of which the same is true; and something is done with it."""
    owner = enclosing_function(function, name)
    if owner is None or depth == 0:
        return False
    turns = any(isinstance(one, cst.For | cst.While) for one in ancestors(function, name))
    start = 0 if turns else function.range(name)[0]
    later = [
        one.node
        for one in uses(owner.body)
        if one.name == name.value and not one.binds and function.range(one.node)[0] > start
    ]
    return bool(later) and all(_computes(function, one, depth) for one in later)


def _computes(function: FunctionCode, node: cst.CSTNode, depth: int) -> bool:
    parent = function.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        other = parent.right if parent.left is node else parent.left
        return not isinstance(other, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString)
    if isinstance(parent, cst.IfExp) and parent.test is not node:
        return _computes(function, parent, depth)
    if isinstance(parent, cst.Arg) and isinstance(call := function.parent(parent), cst.Call):
        if isinstance(call.func, cst.Name):
            return not hasattr(builtins, call.func.value)
        return isinstance(call.func, cst.Attribute) and is_name(call.func.value, "self")
    bound = name_in(parent)
    return bound is not None and _is_computed_with(function, bound, depth - 1)


def _of_numpy(function: FunctionCode, node: cst.Call, value: cst.BaseExpression) -> bool:
    """Whether the number that is read out of the value there is one of an array: a tensor to Dynamo alone."""
    return (
        may_be_array(function, node)
        or any(holds_array(function, part) for part in walk(value))
        or _begins_with_numpy(function, value)
        or index.is_of_a_library(function, value)
    )


def _begins_with_numpy(function: FunctionCode, node: cst.BaseExpression) -> bool:
    """Whether a function of NumPy is what the expression begins with."""
    here: cst.CSTNode = node
    while True:
        if isinstance(here, cst.Call):
            if (qualified(function, here.func) or "").startswith("numpy."):
                return True
            here = here.func
        elif isinstance(here, cst.Attribute | cst.Subscript):
            here = here.value
        elif isinstance(here, cst.BinaryOperation):
            return _begins_with_numpy(function, here.left) or _begins_with_numpy(function, here.right)
        else:
            return False
