"""One index, or the bounds of one row, read out of a tensor: the row is selected by the tensor itself."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import is_scalar, read_of
from pt2lint.fixes.kinds import Kind, guess, told
from pt2lint.fixes.names import reads
from pt2lint.fixes.nodes import ancestors, assigned, enclosing_function
from pt2lint.fixes.purity import effect, number
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import callee, says_none, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the subscript that the node is, or is the index of."""
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.Subscript):
            return accepted(select_row(function, outer), one_long(function, outer))
        if isinstance(outer, cst.BaseStatement | cst.Call):
            return ()
    return ()


def select_row(function: FunctionCode, node: cst.Subscript) -> Repaired:
    """`x[:, k]` as `x[:, k[None]].squeeze(1)`, where `k` is a whole number in a tensor.

    Indexing by a tensor without dimensions reads the number out of it, indexing by one of one dimension does not.
    Refused where `x` is not known to be a tensor (a list must be told which), where an ellipsis or None stands before
    the index, where the subscript is assigned to, where a number is read out of it, and in a `while` that ends the
    graph whatever is done here. Unsafe: `k` must have no dimensions. Of `x[:, ks[i]]` nothing says so but that the
    graph breaks there: it waits for its proof.
    """
    if _turns_in_python(function, node):
        return Refusal("the loop around it is left to Python all the same")
    return _selected(function, node)


def _turns_in_python(function: FunctionCode, node: cst.Subscript) -> bool:
    """Whether it stands in a `while` that breaks the graph elsewhere, where no row is selected by a tensor."""
    loops = [one for one in ancestors(function, node) if isinstance(one, cst.While)]
    breaks = [
        part
        for loop in loops
        for part in walk(loop)
        if isinstance(part, cst.BaseExpression) and function.range(part) in function.breaks
    ]
    rows = [one for one in breaks if isinstance(one, cst.Subscript)]
    return len(rows) < len(breaks) or any(isinstance(_selected(function, one), Refusal) for one in rows)


def _selected(function: FunctionCode, node: cst.Subscript) -> Repaired:
    kind = guess(function)
    if not kind(node.value).startswith("tensor"):
        return Refusal("what is indexed is not known to be a tensor")
    if is_of_a_library(function, node.value):
        return Refusal("what is indexed may be an array")
    if isinstance(function.parent(node), cst.AssignTarget | cst.AugAssign | cst.Del):
        return Refusal("the element is assigned to")
    if read_at_once(function, node):
        return Refusal("the number is read out of it: that ends the graph there")
    chosen: list[int] = []
    for at, element in enumerate(node.slice):
        if isinstance(element.slice, cst.Index):
            chosen.append(at)
        elif effect(element.slice):
            return Refusal("a bound has an effect")
    if len(chosen) != 1:
        return Refusal("not one index among slices")
    index = node.slice[chosen[0]].slice
    assert isinstance(index, cst.Index)
    word = kind(index.value)
    if not word.startswith("tensor") or word == "tensor:bool" or index.star:
        return Refusal("the index is not known to be a number in a tensor")
    sure = is_scalar(function, index.value)
    if not sure and (len(node.slice) == 1 or not isinstance(index.value, cst.Subscript)):
        return Refusal("the index may have dimensions")
    one = cst.parse_expression(f"{in_parentheses(source(function, index.value))}[None]")
    row = node.with_deep_changes(index, value=one)
    outer = function.parent(node)
    if isinstance(outer, cst.Subscript) and outer.value is node and chosen == [0] and _adds_first(outer):
        edits = rewrite(function, {outer: row})  # `x[k][None]`: the dimension that would go is wanted
    else:
        whole = cst.parse_expression(f"{source(function, row)}.squeeze({chosen[0]})")
        edits = rewrite(function, {node: whole})
    return fix(
        f"Select by the tensor itself instead of the number in it. It assumes that "
        f"`{source(function, index.value)}` has no dimensions.",
        edits,
        *(() if sure else ("once proven",)),
        "whole numbers",
    )


def one_long(function: FunctionCode, node: cst.Subscript) -> Repaired:
    """`cache[:, k : k + 1]` as `cache[:, k[None]]`, also where it is assigned to: a row at a place in a tensor.

    Refused where anything else than whole slices and ellipses is beside it, and in an augmented assignment. Unsafe:
    `k` must have no dimensions and lie within the tensor, and what is read is a copy, not a view.
    """
    kind = guess(function)
    if not kind(node.value).startswith("tensor") or isinstance(
        function.parent(node), cst.AugAssign | cst.Del
    ):
        return Refusal("what is indexed is not known to be a tensor, or is changed in place")
    rows = [element.slice for element in node.slice if not _is_whole(element.slice)]
    if len(rows) != 1 or not isinstance(rows[0], cst.Slice):
        return Refusal("more than one row is taken, or none")
    low, high = rows[0].lower, rows[0].upper
    if (
        low is None
        or rows[0].step is not None
        or not isinstance(high, cst.BinaryOperation)
        or not isinstance(high.operator, cst.Add)
        or not high.left.deep_equals(low)
        or not (isinstance(high.right, cst.Integer) and high.right.evaluated_value == 1)
    ):
        return Refusal("the slice is not known to be one long")
    if kind(low) not in ("tensor", "tensor:int") or effect(low):
        return Refusal("the place is not known to be a number in a tensor")
    taken = cst.Index(cst.parse_expression(f"{in_parentheses(source(function, low))}[None]"))
    edits = rewrite(function, {rows[0]: taken})
    into = isinstance(function.parent(node), cst.AssignTarget)  # a slice converts what has another dtype
    sure = is_scalar(function, low) and not into
    dtype = ", and that what is written has the dtype" if into else ""
    return fix(
        f"Take the row by the tensor itself instead of the number in it. It assumes that `{source(function, low)}` has "
        f"no dimensions and lies within{dtype}.",
        edits,
        *(() if sure else ("once proven",)),
        "whole numbers",
    )


def by_tensor(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`x[None, t.item(), None, :]` as `x[None, t.reshape(1), None, :].squeeze(1)`.

    Refused where `x` is not known to be a tensor (`None`, an ellipsis or several parts in the index say that it is
    one, or an array), where another part of the index is no slice, None, ellipsis or literal number, and where the
    element is assigned to. Unsafe: what is selected is a copy, not a view.
    """
    kind = kind or guess(function)
    tensor = read_of(node)
    index = function.parent(node)
    element = function.parent(index) if isinstance(index, cst.Index) else None
    subscript = function.parent(element) if isinstance(element, cst.SubscriptElement) else None
    if tensor is None or not isinstance(index, cst.Index) or not isinstance(subscript, cst.Subscript):
        return Refusal("no number that is read out of a tensor is an index")
    of = kind(subscript.value)
    if not of.startswith("tensor") and (of != "unknown" or len(subscript.slice) == 1):
        return Refusal("what is indexed is not known to be a tensor")
    if isinstance(function.parent(subscript), cst.AssignTarget | cst.AugAssign | cst.Del):
        return Refusal("the element is assigned to")
    if kind(tensor) == "tensor:bool" or callee(node) in ("float", "bool"):
        return Refusal("the index is no whole number")
    made = [0, 0]  # dimensions that the parts before and after it make
    wide = [False, False]  # whether an ellipsis is among them
    after = 0
    for part in subscript.slice:
        inner = part.slice.value if isinstance(part.slice, cst.Index) else None
        if part is element:
            after = 1
        elif isinstance(inner, cst.Ellipsis):
            wide[after] = True
        elif isinstance(part.slice, cst.Slice) or says_none(inner):
            made[after] += 1
        elif inner is None or number(inner) is None:
            return Refusal("another part of the index may be a tensor")
    one = cst.parse_expression(f"{in_parentheses(source(function, tensor))}.reshape(1)")
    text = source(function, subscript.with_deep_changes(index, value=one))
    place = -made[1] - 1 if wide[0] else made[0]
    edits = rewrite(function, {subscript: cst.parse_expression(f"{text}.squeeze({place})")})
    return fix(
        "Select by the tensor itself instead of the number in it. It assumes that nothing is written into what is "
        "selected, which is a copy.",
        edits,
    )


def is_of_a_library(function: FunctionCode, value: cst.BaseExpression) -> bool:
    """Whether the function makes it of what another library gives, of which the interpreter knows nothing: an array
    mostly, as `cv2.distanceTransform(mask, ...)` is, though what is done with it later may be done with tensors."""
    owner = enclosing_function(function, value)
    if owner is None:
        return False
    known: dict[cst.FunctionDef, set[str]] = function.memo.setdefault("made of what libraries give", {})
    if owner not in known:
        known[owner] = _of_libraries(function, owner)
    return bool(known[owner] & reads(value))


def _of_libraries(function: FunctionCode, owner: cst.FunctionDef) -> set[str]:
    """The names that the function gives to what such a library gives, and to what is made of that."""
    parts = [*walk(owner.body)]
    bound = {
        alias.evaluated_alias or alias.evaluated_name.partition(".")[0]
        for one in parts
        if isinstance(one, cst.Import)
        for alias in one.names
    }
    libraries = {**function.imports, **{name: name for name in bound}}
    if all(root.partition(".")[0] in ("torch", "math") for root in libraries.values()):
        return set()

    def gives(call: cst.CSTNode) -> bool:
        if not isinstance(call, cst.Call):
            return False
        head, dot, _ = dotted(call.func).partition(".")
        library = libraries.get(head, "torch").partition(".")[0]
        imported = dot if head in bound else head in libraries
        return (
            bool(imported)
            and library not in ("torch", "math")
            and not told(function, call).startswith("tensor")
        )

    made = [one for line in parts if (one := assigned(line)) is not None]
    found = {name for name, value in made if any(map(gives, walk(value)))}
    uses = [(name, reads(value)) for name, value in made]
    while more := {name for name, read in uses if name not in found and read & found}:
        found |= more
    return found


def _adds_first(node: cst.Subscript) -> bool:
    """`x[None]`"""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return isinstance(index, cst.Index) and says_none(index.value)


def _is_whole(part: cst.BaseSlice) -> bool:
    """`:` or `...`"""
    if isinstance(part, cst.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, cst.Index) and isinstance(part.value, cst.Ellipsis)


def read_at_once(function: FunctionCode, node: cst.CSTNode) -> bool:
    """`node.item()` or `node.tolist()`"""
    method = function.parent(node)
    return (
        isinstance(method, cst.Attribute)
        and method.value is node
        and method.attr.value in ("item", "tolist")
        and isinstance(function.parent(method), cst.Call)
    )
