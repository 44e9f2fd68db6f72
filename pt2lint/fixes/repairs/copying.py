"""copy.deepcopy and copy.copy in code that is compiled: a clone, or the container built anew."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from pt2lint.finding import Fix, Trait
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.names import fresh, uses
from pt2lint.fixes.nodes import assigned, block_of, enclosing_function, parameters, statement_of
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk

_OF_TENSORS = ("data", "grad", "requires_grad", "names")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The copy as a clone, or as a container of clones."""
    return accepted(to_clone(function, node)) if isinstance(node, cst.Call) else ()


def to_clone(function: FunctionCode, node: cst.Call) -> Repaired:
    """`copy.deepcopy(t)` as `t.detach().clone()`, of a list or dictionary of tensors as one that is built
    anew; `copy.copy(t)` as `t.detach()`, which shares the storage, of a list or dictionary as `list(...)`,
    `dict(...)`. The statements right before and after it that copy other tensors in the same way are mended with it.

    Refused with a memo, and where what is copied is not known. Unsafe: a copy no longer requires a gradient
    where the original is a leaf that does (a copy of any other tensor that does is an error in eager mode);
    two entries that are one tensor become two.
    """
    made = _copied(function, node)
    if isinstance(made, Refusal):
        return made
    new: dict[cst.CSTNode, New] = {node: cst.parse_expression(made.text)}
    for other in _twins(function, node) if made.of == "tensor" else ():
        alike = _copied(function, other)
        if isinstance(alike, _Copy) and alike.says == made.says:
            new[other] = cst.parse_expression(alike.text)
    return fix(made.says, rewrite(function, new), *made.waits)


class _Copy(NamedTuple):
    """How the copy is written, of a "tensor", a "list" or a "dict"."""

    text: str
    says: str
    of: str
    waits: tuple[Trait, ...] = ()


def _copied(function: FunctionCode, node: cst.Call) -> _Copy | Refusal:
    kind = guess(function)
    name = qualified(function, node.func)
    if name not in ("copy.deepcopy", "copy.copy"):
        return Refusal("not a function of copy")
    if len(node.args) != 1 or node.args[0].star or node.args[0].keyword is not None:
        return Refusal("the copy is given a memo")
    value = node.args[0].value
    if _is_given_more(function, node):
        return Refusal("the copy is given attributes: it is no tensor")
    heard = next((op.arg(0) for op in function.ops_at(node) if op.name == f"call {name}"), "")
    word = kind(value)
    if word == "unknown":
        word = heard or word
    text = source(function, value)
    bare = in_parentheses(text)
    deep = name == "copy.deepcopy"
    if word.startswith("tensor"):
        if _may_be_other(function, value):
            return Refusal(f"`{text}` is annotated as what may be no tensor")
        says = "Clone the tensor" if deep else "Make another tensor on the same storage"
        new = f"{bare}.detach().clone()" if deep else f"{bare}.detach()"
        return _Copy(new, f"{says}; the copy does not require a gradient.", "tensor")
    says = "Build the container anew" + (", of clones, which do not require a gradient." if deep else ".")
    one = fresh(function, "tensor")
    if word.startswith("list of tensor"):
        new = f"[{one}.detach().clone() for {one} in {text}]" if deep else f"list({text})"
        return _Copy(new, says, "list")
    if word.startswith("dict of tensor"):
        key = fresh(function, "key")
        each = f"{{{key}: {one}.detach().clone() for {key}, {one} in {bare}.items()}}"
        # Other keys of a dictionary may hold other things, which have no `detach`.
        return _Copy(each if deep else f"dict({text})", says, "dict", ("once proven",) if deep else ())
    return Refusal(f"`{text}` is not known to be a tensor, or a list or dictionary of tensors")


def _twins(function: FunctionCode, node: cst.Call) -> list[cst.Call]:
    """The copies in the statements right before and after `y = copy.deepcopy(x)` that are written like it."""
    statement = statement_of(function, node)
    place = block_of(function, statement) if statement is not None else None
    found: list[cst.Call] = []
    if place is None or (assigned(statement) or ("", None))[1] is not node:
        return found
    block, at = place
    for run in (block[at + 1 :], block[:at][::-1]):
        for other in run:
            value = (assigned(other) or ("", None))[1]
            if not isinstance(value, cst.Call) or not value.func.deep_equals(node.func):
                break
            found.append(value)
    return found


def _may_be_other(function: FunctionCode, value: cst.BaseExpression) -> bool:
    """Whether it is an argument that the function has not bound anew, and whose annotation does not say that it is a
    tensor and nothing else: an array or None has no `detach`."""
    owner = enclosing_function(function, value)
    if not isinstance(value, cst.Name) or owner is None:
        return False
    given = next((one for one in parameters(owner) if one.name.value == value.value), None)
    if given is None or given.annotation is None:
        return False
    at = function.range(value)[:2]
    if any(
        one.binds and one.name == value.value and function.range(one.node)[:2] < at
        for one in uses(owner.body)
    ):
        return False
    note = given.annotation.annotation
    if isinstance(note, cst.SimpleString):
        note = cst.parse_expression(str(note.evaluated_value))
    if isinstance(note, cst.Subscript):  # `Float[Tensor, "rows columns"]`
        shaped = (qualified(function, note.value) or "").startswith(("jaxtyping.", "typing.Annotated"))
        index = note.slice[0].slice
        note = index.value if shaped and isinstance(index, cst.Index) else note
    named = qualified(function, note) or ""
    return not (named.startswith("torch.") and named.endswith("Tensor"))


def _is_given_more(function: FunctionCode, node: cst.Call) -> bool:
    """Whether attributes are set of what the copy is bound to: `other = copy.deepcopy(args)`, `other.dropout = 0`."""
    kept = assigned(statement_of(function, node))
    owner = enclosing_function(function, node)
    if kept is None or kept[1] is not node or owner is None:
        return False
    targets = (one.target for one in walk(owner.body) if isinstance(one, cst.AssignTarget | cst.AugAssign))
    return any(
        isinstance(one, cst.Attribute) and is_name(one.value, kept[0]) and one.attr.value not in _OF_TENSORS
        for one in targets
    )
