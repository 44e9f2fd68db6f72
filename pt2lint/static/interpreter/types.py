"""What values are: of which type, what an annotation promises, and in the words of Op.args."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.source.nodes import own_name, unit_of, walk
from pt2lint.static.values import (
    CONSTANT,
    LEAF,
    NONE,
    OBJECT,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    Wrapped,
    join_all,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo


@lru_cache(maxsize=4096)
def _quoted(text: str) -> ast.expr | None:
    """The expression that an annotation in quotes is."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


DEEPEST = 4  # lists in lists that `Types.sort` looks into


class Types:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._named: dict[tuple[ast.expr, str], Value] = {}

    def is_instance(self, value: Value, names: tuple[str, ...]) -> bool | None:
        """isinstance(value, any of the named types), where it can be told."""
        if isinstance(value, Wrapped) and value.within:  # what spreads a module holds what was compiled
            return True if any(self.at.models.plays(name, "spreads a module") for name in names) else None
        own = isinstance(value, Instance) and value.cls is not None
        return self.at.models.is_instance(value, names, own and bool(self.at.classes.bases(value.cls)[1]))  # type: ignore

    def named(self, node: ast.expr, frame: Frame) -> Value:
        """What an annotation names. The same annotation is asked about for each call of its function."""
        key = (node, frame.module.path)  # the tree of one in quotes serves all files
        value = self._named.get(key)
        if value is None:
            value = self.at.expressions.quietly(node, {}, frame)
            if frame.closure is None and isinstance(value, (Ext, Class)):
                self._named[key] = value
        return value

    def is_of_untraced(self, node: ast.expr | None, frame: Frame) -> bool:
        """Whether an annotation names a class of a library that Dynamo does not trace: a `pd.Series` is used much as a
        tensor is."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = _quoted(node.value)
        parts = (
            [part for part in walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
            if node is not None
            else []
        )
        named = (self.named(part, frame) for part in parts)
        return any(isinstance(one, Ext) and self.at.models.of(one.name).untraced for one in named)

    def annotation(self, node: ast.expr | None, frame: Frame, line: int = 0, text: str = "") -> Value:
        """The value that an annotation promises."""
        if node is None:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            if node.value is None:
                return NONE
            if isinstance(node.value, str):
                quoted = _quoted(node.value)
                if quoted is None:
                    return UNKNOWN
                return self.annotation(quoted, frame, line or node.lineno, text)
            return UNKNOWN
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return declare([self.annotation(side, frame, line, text) for side in (node.left, node.right)])
        if isinstance(node, ast.Subscript):
            return self._subscripted(node, frame, line, text)
        value = self.named(node, frame)
        origin = (frame.module.path, line or node.lineno, text or "annotated as a tensor")
        if isinstance(value, Ext):
            promised = self.at.models.value_of_type(value.name, origin)
            if isinstance(promised, Tensor) and not promised.array:
                return promised.but(leaf=LEAF)
            return self.at.models.value_of_type(value.name) or UNKNOWN
        if isinstance(value, Class):
            return self._of_class(value.info, frame, origin)
        alias = self.at.names.alias(node.id, frame.module) if isinstance(node, ast.Name) else None
        if alias is not None and frame.depth < 4:
            module, targets = alias
            inner = Frame(module, (1, 1), "the module")
            inner.depth = frame.depth + 1
            return declare([self.annotation(t, inner, line or node.lineno, text) for t in targets])
        return UNKNOWN

    def _subscripted(self, node: ast.Subscript, frame: Frame, line: int, text: str) -> Value:
        """The value that `list[Tensor]`, `Optional[Tensor]` and the like promise."""
        base, node = self.subscripted_type(self.named(node.value, frame), node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        said, dtype = self.at.models.form(base.name if isinstance(base, Ext) else "")
        if not parts and said != "tuple":  # `list[()]`
            return UNKNOWN
        if said == "optional":
            return declare([NONE, self.annotation(parts[0], frame, line, text)])
        if said == "either":
            return declare([self.annotation(p, frame, line, text) for p in parts])
        if said == "first":
            return self.annotation(parts[0], frame, line, text)
        if said == "tensor":
            value = self.annotation(parts[0], frame, line, text)
            return value.but(dtype=dtype) if isinstance(value, Tensor) else value
        if said in ("list", "set"):
            return Seq(None, self.annotation(parts[0], frame, line, text), said)
        if said == "tuple":
            values = [self.annotation(p, frame, line, text) for p in parts if not _is_ellipsis(p)]
            if len(values) < len(parts):
                return Seq(None, values[0] if values else UNKNOWN, "tuple")
            if len(values) == 1:
                # `tuple[Tensor]` is often written for a tuple of any length.
                return Seq(None, values[0], "tuple")
            return Seq(values, None, "tuple")
        if said == "dict" and len(parts) == 2:
            return Dict({}, self.annotation(parts[1], frame, line, text))
        return UNKNOWN

    def _of_class(self, info: ClassInfo, frame: Frame, origin: tuple[str, int, str]) -> Value:
        externals = self.at.classes.bases(info)[1]
        if any(self.at.models.plays(e, "tensor type") for e in externals):
            return Tensor(None, origin, leaf=LEAF)
        if any(self.at.models.plays(e, "typed dictionary") for e in externals):
            return self.typed_dictionary(info, frame)
        typing = any(self.at.models.plays(e, "typing") for e in externals)
        if typing and not any(self.at.models.plays(e, "named tuple") for e in externals):
            return UNKNOWN
        return join_all([self.at.objects.instance(one) for one in self.at.classes.made_as(info)])

    def fill(self, value: Value, node: ast.expr, frame: Frame) -> None:
        """`flags: list[Tensor] = list(given)`: what the code does not show of the elements, the annotation tells."""
        if not isinstance(value, (Seq, Dict)) or value.elem is not UNKNOWN:
            return
        if isinstance(value, Dict):
            known = bool(value.items)
        else:
            known = bool(value.elts or value.prefix or value.around or value.owner)
        if known or not isinstance(node, (ast.Subscript, ast.Constant)):
            return
        promised = self.annotation(node, frame)
        if isinstance(promised, (Seq, Dict)) and promised.kind == value.kind:
            value.elem = promised.elem

    def typed_dictionary(self, info: ClassInfo, frame: Frame) -> Value:
        """A value of a class under TypedDict. Where a key may be missing, which keys there are is not known."""
        items: dict[str, Value] = {}
        total = True
        for cls in reversed(self.at.classes.bases(info)[0]):
            within = Frame(cls.module, unit_of(cls.node), cls.name)
            within.depth = frame.depth + 1
            total = total and not cls.node.keywords and not cls.module.says("NotRequired")
            for name, annotation in cls.annotations.items() if within.depth < 4 else ():
                text = f"`{name}` of {cls.name} is annotated as a tensor"
                items[name] = self.annotation(annotation, within, annotation.lineno, text)
        return Dict(items, UNKNOWN if total else OBJECT)

    def subscripted_type(self, base: Value, node: ast.Subscript) -> tuple[Value, ast.Subscript]:
        """`Float["b n"]`, where Float's `__getitem__` returns `self.dtype[Tensor, shape]`, is that type."""
        if isinstance(base, Instance) and base.cls is not None:
            found = self.at.classes.find_method(base.cls, "__getitem__")
            last = found[1].body[-1] if found is not None else None
            if found is not None and isinstance(last, ast.Return) and isinstance(last.value, ast.Subscript):
                owner, method = found
                me: Env = {own_name(method): base}
                within = Frame(owner.module, unit_of(method), "", cls=owner, me=base)
                return self.at.expressions.quietly(last.value.value, me, within), last.value
        return base, node

    def sort(self, value: Value, depth: int = 0) -> str:
        """What a value is, in the short words of Op.args. A list may hold itself: what lies deep is not looked at."""
        if depth > DEEPEST:
            return "unknown"
        kinds = []
        for o in options(value):
            if isinstance(o, Tensor):
                word = ("array" if o.array else "tensor") + (f":{o.dtype}" if o.dtype else "")
                if o.array and o.leaf == CONSTANT:
                    word = "whole number" if o.dtype == "int" else "number"
                kinds.append(word if o.sure else word + "?")
            elif isinstance(o, Py):
                kinds.append(
                    "constant " + repr(o.const) if isinstance(o.const, (int, str, float)) else o.type
                )
            elif isinstance(o, (Seq, Dict)):
                elem = o.elem
                if isinstance(o, Dict) and o.items:
                    elem = next((v for v in o.items.values() if "tensor" in self.sort(v, depth + 1)), elem)
                kinds.append(f"{o.type if isinstance(o, Seq) else 'dict'} of {self.sort(elem, depth + 1)}")
            elif isinstance(o, Instance):
                module = "module" if self.at.classes.is_module(o.cls) else ""
                kinds.append(o.external or module or self.at.classes.loader(o.cls) or "object")
            elif isinstance(o, Ext):
                kinds.append("external " + o.name)
            elif isinstance(o, Func):
                kinds.append("function over a tensor" if _closes_over_tensor(o) else "function")
            elif isinstance(o, Wrapped):
                kinds.append(o.how)
            else:
                kinds.append(o.kind)
        return " | ".join(dict.fromkeys(kinds))

    def sorts(
        self, args: list[Value], kwargs: dict[str, Value], receiver: Value | None = None
    ) -> dict[int | str, str]:
        found: dict[int | str, str] = {i: self.sort(a) for i, a in enumerate(args)}
        found.update({k: self.sort(v) for k, v in kwargs.items()})
        if receiver is not None:
            found["self"] = self.sort(receiver)
        return found


def leaves_in(args: list[Value], kwargs: dict[str, Value], receiver: Value | None) -> dict[str, str]:
    """Which arguments are tensors of Python's numbers, or of a whole number that was there before, and whether the
    receiver is an input of the graph, as details of an operation."""
    leaves = {}
    made = [
        str(key)
        for key, given in (*enumerate(args), *kwargs.items())
        if isinstance(given, Tensor) and (given.leaf == CONSTANT or given.is_whole)
    ]
    if made:
        leaves["constant"] = " ".join(made)
    if isinstance(receiver, Tensor) and receiver.leaf == LEAF:
        leaves["input"] = "self"
    return leaves


def _closes_over_tensor(function: Func) -> bool:
    """Whether a lambda reads a tensor of the function that it stands in."""
    env = function.env or {}
    return isinstance(function.node, ast.Lambda) and any(
        isinstance(n, ast.Name) and isinstance(env.get(n.id), Tensor) for n in ast.walk(function.node.body)
    )


def declare(values: list[Value]) -> Value:
    """One of several kinds, as an annotation says."""
    joined = join_all(values)
    return Union(joined.options, True) if isinstance(joined, Union) else joined


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
