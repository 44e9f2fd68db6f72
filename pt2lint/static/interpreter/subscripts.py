"""What `a[b]` is, and which numbers and masks Dynamo has to read for it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pt2lint.libraries.call import start_of
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.masks import Masks
from pt2lint.static.values import (
    CONSTANT,
    LEAF,
    NAME,
    STR,
    UNKNOWN,
    WRAPPED_NAME,
    Class,
    Dict,
    Ext,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    is_none,
    join_all,
    mixed,
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class Subscripts:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.masks = Masks(at)

    def check_sizes(self, node: ast.expr, env: Env, frame: Frame) -> None:
        """Note slice bounds that are tensors."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        value = self.at.expressions.again(bound, env, frame)
                        tensor = tensor_of(value)
                        if tensor is None or _is_read_off(tensor, bound):
                            continue
                        if self.at.notebook.listens("size tensor", frame):
                            if any(isinstance(o, Py) and o.type in ("int", "float") for o in options(value)):
                                tensor = tensor.but(sure=False)  # a plain number on another path
                            self.at.notebook.note(bound, "size tensor", frame, about=tensor)

    def subscript(self, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        owner = self.at.expressions.eval(node.value, env, frame)
        index = self.at.expressions.eval(node.slice, env, frame)
        self.at.calls.refused(node.value, owner, "indexes", frame)
        results = [self.item(o, index, node, env, frame) for o in takers(owner, index)]
        result = join_all(results)
        if isinstance(owner, Union) and owner.declared and isinstance(result, Union):
            return Union(result.options, True)  # an element of one of several kinds, as the annotation says
        return result

    def item(self, owner: Value, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        if isinstance(owner, Tensor):
            return self.index_tensor(owner, index, node, env, frame)
        owner = self.at.objects.as_tuple(owner, frame)
        if isinstance(owner, Seq):
            return self._item_of_sequence(owner, index, node, env, frame)
        if isinstance(owner, Dict):
            return self._item_of_dictionary(owner, index, node, frame)
        if isinstance(owner, Instance):
            if (
                not isinstance(index, Py) or index.type != "int"
            ):  # `image[0]` is one of a list, where it may be one
                self.at.calls.asked_of_untraced(node, owner, frame)
            return self.at.objects.instance_item(owner, index, frame)
        if isinstance(owner, Class) and self.at.classes.is_generic(owner.info):
            return owner  # `Table[int](x)`
        if isinstance(owner, Py) and owner.type == "str":
            return STR
        if isinstance(owner, Ext) and frame.region:
            self.at.calls.breaks(self.at.models.of(f"{owner.name}[]"), node, frame)
        return self._item_of_unknown(index, node, env, frame) if owner is UNKNOWN else UNKNOWN

    def _item_of_sequence(
        self, owner: Seq, index: Value, node: ast.Subscript, env: Env, frame: Frame
    ) -> Value:
        if frame.region and isinstance(node.slice, (ast.Attribute, ast.Name)):
            for hear in self.at.events.indexed:
                hear(node, owner, index, env, frame)
        self.check_place(index, node, env, frame)
        if isinstance(index, Py):
            if index.type == "slice":
                return self._slice(owner, node.slice)
            if isinstance(index.const, int) and owner.elts is not None:
                try:
                    return owner.elts[index.const]
                except IndexError:
                    return UNKNOWN
            if isinstance(index.const, int) and owner.prefix and 0 <= index.const < len(owner.prefix):
                return owner.prefix[index.const]
        return mixed(owner.elem, owner.type == "args")

    def check_place(self, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> None:
        """Note a tensor that says which place of a list is read, set or deleted."""
        self.check_sizes(node.slice, env, frame)
        tensor = tensor_of(index)
        if tensor is None or _is_read_off(tensor, node.slice):
            return
        if self.at.notebook.listens("size tensor", frame):
            self.at.notebook.note(node.slice, "size tensor", frame, about=tensor)

    def _item_of_dictionary(self, owner: Dict, index: Value, node: ast.Subscript, frame: Frame) -> Value:
        parts = index.elts or () if isinstance(index, Seq) else (index,)
        of_array = any(isinstance(part, Tensor) and part.array for part in parts)
        if index is NAME or index is WRAPPED_NAME or owner.key is WRAPPED_NAME or of_array:
            for hear in self.at.events.looked_up:
                hear(node, owner, index, frame)
        if isinstance(index, Py) and isinstance(index.const, str):
            if index.const in owner.items:
                return owner.items[index.const]
            return mixed(owner.elem, owner.keywords)  # UNKNOWN where nothing in sight has put it there
        known = owner.beginning(start_of(node.slice))
        everything = join_all([*known, owner.elem]) if known else owner.elem
        return mixed(everything, owner.keywords)

    def _item_of_unknown(self, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        """Only a tensor, or what holds tensors, can be read in some ways."""
        if frame.region and is_of_tensor(node.slice):
            text = f"`{ast.unparse(node)}` indexes as only a tensor is indexed"
            tensor = Tensor(None, (frame.module.path, node.lineno, text))
            return self.index_tensor(tensor, index, node, env, frame)
        if self.at.notebook.listens("index mask", frame):
            parts = index.elts or [] if isinstance(index, Seq) and index.type == "tuple" else [index]
            for at, part in enumerate(parts):
                if isinstance(part, Tensor) and part.ndim != 0:
                    mask = self.masks.of(part, _place(node, at, parts), frame)
                    if mask is not None:
                        self.at.notebook.note(node, "index mask", frame, about=mask)
        return UNKNOWN

    def _slice(self, owner: Seq, node: ast.expr) -> Value:
        bounds = _bounds(node)
        if bounds is None:
            return Seq(None, owner.elem, owner.type)
        if owner.elts is not None:
            return Seq(owner.elts[slice(*bounds)], None, owner.type)
        start, end = bounds
        if not owner.prefix or (start or 0) < 0:  # the first ones are all that may be known
            return Seq(None, owner.elem, owner.type)
        if end is not None and 0 <= end <= len(owner.prefix):
            return Seq(owner.prefix[start:end], None, owner.type)
        return Seq(None, owner.elem, owner.type, (owner.prefix[start:] or None) if end is None else None)

    def index_tensor(self, owner: Tensor, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        if isinstance(index, Py) and index.type == "str":
            return UNKNOWN
        parts = (
            index.elts
            if isinstance(index, Seq) and index.elts is not None and index.type == "tuple"
            else [index]
        )
        self.check_sizes(node.slice, env, frame)
        ndim, picking = owner.ndim, 0
        for at, part in enumerate(parts):
            mask = tensor_of(part)
            if (
                isinstance(part, Seq)
                and part.type == "list"
                and (kinds := part.elts or [part.elem])
                and all(isinstance(e, Py) and e.type == "bool" for e in kinds)
                and self.at.notebook.listens("index mask", frame)
            ):
                self.at.notebook.note(node, "index mask", frame)
            if ndim is not None:
                if isinstance(part, Py):
                    ndim += {"int": -1, "none": 1, "slice": 0, "ellipsis": 0, "bool": 1}.get(part.type, -99)
                else:
                    picking += mask is None or mask.ndim != 0
                    ndim += _dimensions_added(mask) if picking < 2 else -99
            if mask is not None and mask.dtype == "byte" and mask.ndim != 0 and not mask.array:
                if isinstance(node.ctx, ast.Load) and self.at.notebook.listens("index bytes", frame):
                    self.at.notebook.note(node, "index bytes", frame, about=mask)
            if self.is_number(mask) and self.at.notebook.listens("size tensor", frame):
                self.at.notebook.note(node, "size tensor", frame, about=mask)
            if isinstance(node.ctx, (ast.Load, ast.Store)) and self.at.notebook.listens("index mask", frame):
                mask = self.masks.of(part, _place(node, at, parts), frame)
                if mask is not None:
                    told = (
                        {"dimensions": str(owner.ndim)}
                        if len(parts) == 1 and owner.ndim is not None
                        else None
                    )
                    self.at.notebook.note(node, "index mask", frame, about=mask, details=told)
        return Tensor(
            owner.dtype,
            owner.origin,
            owner.sure,
            owner.array,
            ndim if ndim is not None and ndim >= 0 else None,
        )

    def is_number(self, index: Tensor | None) -> bool:
        """Whether an index is a computed tensor of no dimensions, which Dynamo has to read."""
        return (
            index is not None
            and index.ndim == 0
            and index.dtype != "bool"
            and (not index.leaf or index.is_short)
        )


def _dimensions_added(index: Tensor | None) -> int:
    """How many dimensions more the result has by one index, the only one with dimensions: a mask has one in the place
    of all its own. -99 where that is not known."""
    if index is None or index.ndim is None:
        return -99
    if index.dtype in ("bool", "byte"):
        return 1 - index.ndim
    return index.ndim - 1 if index.ndim == 0 or index.dtype == "int" else -99


def _place(node: ast.Subscript, at: int, parts: Sequence[Value]) -> ast.expr:
    """Where one of several indices stands."""
    several = isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == len(parts)
    return node.slice.elts[at] if isinstance(node.slice, ast.Tuple) and several else node.slice


def takers(owner: Value, index: Value) -> list[Value]:
    """Of what may be read or set by an index, what takes it: no list takes a tensor with dimensions."""
    among = [o for o in options(owner) if is_none(o) is not True]
    if isinstance(index, Tensor) and index.ndim != 0 and any(isinstance(o, Tensor) for o in among):
        among = [o for o in among if not isinstance(o, Seq)]
    return among


def is_of_tensor(index: ast.expr) -> bool:
    """Whether only what has dimensions is indexed so: `x[..., 0]`, `x[:, None]`."""
    return isinstance(index, ast.Tuple) and any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is ...)
        for part in index.elts
    )


def _bounds(node: ast.expr) -> tuple[int | None, int | None] | None:
    """The numbers of `[a:b]`, None for one that is not there; None where they are not written out."""
    if not isinstance(node, ast.Slice) or node.step is not None:
        return None
    bounds: list[int | None] = []
    for part in (node.lower, node.upper):
        sign = 1
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
            sign, part = -1, part.operand
        if part is None:
            bounds.append(None)
        elif isinstance(part, ast.Constant) and isinstance(part.value, int):
            bounds.append(sign * part.value)
        else:
            return None
    return bounds[0], bounds[1]


def _is_read_off(tensor: Tensor, node: ast.expr) -> bool:
    """Whether it is a whole number of NumPy's that compiled code is given: from torch 2.13 on Dynamo knows its value
    where a bound or a place asks for it (2.6 and 2.9 break)."""
    given = tensor.leaf == LEAF or (tensor.leaf == CONSTANT and isinstance(node, ast.Attribute))
    return tensor.array and given and not tensor.short and tensor.dtype != "float"
