"""Which tensors are masks where nothing but what the function does with them says so."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.syntax import compares_elements
from pt2lint.static.source.nodes import FunctionNode, last_word, parameters_in, walk, with_defaults
from pt2lint.static.values import Py, Seq, Tensor, Value, tensor_of

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

Use = tuple[int, str]  # the line, and what is done there


class Masks:
    """`_used`: function -> the names that it uses as masks, and in which line; `_counted`: those that it counts with,
    or takes for places."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._used: dict[FunctionNode, dict[str, Use]] = {}
        self._counted: dict[FunctionNode, set[str]] = {}

    def of(self, value: Value, index: ast.expr, frame: Frame) -> Tensor | None:
        """The mask through which a tensor is read, if the index is one, or what the function does with it says so."""
        tensor = tensor_of(value)
        if tensor is not None and tensor.dtype is not None:
            return tensor if tensor.dtype == "bool" else None
        use = None if isinstance(value, (Py, Seq)) else self._use(index)
        sure = tensor is None or tensor.sure
        return Tensor("bool", (frame.module.path, *use), sure) if use is not None else None

    def _use(self, index: ast.expr) -> Use | None:
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
            if self.is_number(index.operand):
                return None
            return index.lineno, f"`{ast.unparse(index)}` inverts a mask"
        if compares_elements(index):
            return index.lineno, f"`{ast.unparse(index)}` compares each element"
        running = self._read()
        if not isinstance(index, ast.Name) or running is None:
            return None
        return self._used[running].get(index.id) or self._named(index, running)

    def _named(self, index: ast.Name, running: FunctionNode) -> Use | None:
        """An argument called a mask that may be left out, and that nothing in the function takes for places; what has
        to be given may be places all the same."""
        if index.id.rpartition("_")[2] != "mask" or index.id in self._counted[running]:
            return None
        default = next((d for p, d in with_defaults(running.args) if p.arg == index.id), None)
        optional = isinstance(default, ast.Constant) and default.value is None
        return (index.lineno, f"`{index.id}` is called a mask") if optional else None

    def is_number(self, inverted: ast.expr) -> bool:
        """Whether what is inverted holds numbers, by what the function does with it: `~i` counts from the end."""
        running = self._read() if isinstance(inverted, ast.Name) else None
        return (
            running is not None and isinstance(inverted, ast.Name) and inverted.id in self._counted[running]
        )

    def _read(self) -> FunctionNode | None:
        """The function that runs, after its uses of names were looked for."""
        running = self.at.functions.running()
        if running is not None and running not in self._used:
            self._used[running] = self._uses(running)
        return running

    def _uses(self, function: FunctionNode) -> dict[str, Use]:
        """Of names that the function binds once, or is given and never binds."""
        found: dict[str, Use] = {}
        numbers: dict[str, Use] = {}
        bound = dict.fromkeys((p.arg for p in parameters_in(function.args)), 1)
        for part in walk(function):
            if isinstance(part, ast.Assign) and (name := self._spread(part)) is not None:
                # It stays what it was, under the same name: `mask = mask.unsqueeze(2).expand_as(x)`.
                self._put(name, f"`{ast.unparse(part)}` spreads it over a tensor", found)
                bound[name.id] = bound.get(name.id, 0) - 1
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                bound[part.id] = bound.get(part.id, 0) + 1
            elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Invert):
                self._put(part.operand, f"`{ast.unparse(part)}` inverts it", found)
            elif isinstance(part, ast.Assign) and compares_elements(part.value):
                for target in part.targets:
                    self._put(target, f"`{ast.unparse(part)}` compares each element", found)
            elif isinstance(part, ast.Call):
                mask = self._mask_of(part)
                if mask is not None:
                    self._put(mask, f"`{ast.unparse(part.func)}` takes it for a mask", found)
            for number in self._numbers_of(part):
                self._put(number, "", numbers)
        self._counted[function] = {name for name in numbers if bound.get(name) == 1}
        known = self._counted[function]
        return {name: use for name, use in found.items() if bound.get(name) == 1 and name not in known}

    def _spread(self, made: ast.Assign) -> ast.Name | None:
        """The name that is given the shape of a tensor, under which that is read: places would give it more
        dimensions."""
        value, names = made.value, self.at.models.last_words("spreads over")
        if not isinstance(value, ast.Call) or last_word(value.func) not in names or len(made.targets) != 1:
            return None
        before: dict[str, Use] = {}
        self._put(value, "", before)
        target = made.targets[0]
        return target if isinstance(target, ast.Name) and target.id in before else None

    def _numbers_of(self, part: ast.AST) -> list[ast.expr]:
        """What cannot be a mask there: torch subtracts no masks, and no mask says places."""
        if isinstance(part, ast.UnaryOp):
            return [part.operand] if isinstance(part.op, ast.USub) else []
        if isinstance(part, ast.BinOp):
            return [part.left, part.right] if isinstance(part.op, ast.Sub) else []
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
            return []
        if part.func.attr not in self.at.models.last_words("takes places"):
            return []
        return [*part.args[-1:], *(k.value for k in part.keywords if k.arg == "index")]

    def _mask_of(self, call: ast.Call) -> ast.expr | None:
        """The argument of a call that is a mask for certain."""
        if not isinstance(call.func, ast.Attribute):
            return None
        models, method = self.at.models, call.func.attr
        if len(call.args) > 1 and method in models.last_words("takes a mask"):
            return call.args[-2]
        return call.args[0] if call.args and method in models.last_words("chooses by a mask") else None

    def _put(self, node: ast.expr, how: str, found: dict[str, Use]) -> None:
        """Note the name of which a mask is made, in another shape or inverted."""
        reshapes = self.at.models.last_words("keeps values")
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr not in reshapes:
                    return
                node = node.func.value
            elif isinstance(node, ast.Subscript):
                node = node.value
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
                node = node.operand
            else:
                return
        found.setdefault(node.id, (node.lineno, how))
