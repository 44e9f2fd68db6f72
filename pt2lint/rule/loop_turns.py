"""What is another thing at each turn of a loop, as far as the code of one function tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted, names
from pt2lint.rule.tree import children, is_name, says_none, walk

if TYPE_CHECKING:
    from typing import TypeGuard

    Loop = cst.For | cst.While
# From so many turns on Dynamo gives up what is compiled again at each: its recompile limit, less the first call.
LIMIT = 8
# What goes over the same things as its first argument.
_THROUGH = ("tqdm", "trange", "track", "reversed", "list", "iter")
_GROW = ("append", "extend", "insert", "appendleft")
_SHRINK = ("clear", "pop", "popleft", "remove")
_JOIN = ("cat", "concat", "hstack")
_STACK = (*_JOIN, "stack", "vstack")
_SIZED = ("zeros", "ones", "empty", "rand", "randn")
_DRAWS = ("randint", "randrange")
_DRAWS_FRACTIONS = ("random.random", "random.uniform", "random.gauss", "random.betavariate")
_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic")
_WHOLE = ("int", "round", "math.floor", "math.ceil")
_PICKED = ("nonzero", "unique", "masked_select", "argwhere", "flatnonzero")  # as many as the values decide
_PIECES = ("split", "tensor_split", "chunk")
_DECIDES = (ast.If, ast.IfExp, ast.Compare, ast.Subscript, ast.FloorDiv, ast.For, ast.While, ast.Match)
_RESIZED = ("interpolate", "resize")


def turns_around(function: FunctionCode, node: cst.CSTNode, attributes: Iterable[str] = ()) -> Turns:
    """The turns of the loops around a node, read once for all rules that ask."""
    known: dict[object, Turns] = function.memo.setdefault("turns", {})
    key = node, tuple(attributes)
    if key not in known:
        known[key] = Turns(function, node, key[1])
    return known[key]


def loops_around(function: FunctionCode, node: cst.CSTNode) -> list[Loop]:
    """The loops whose body holds the node, in its own function, the innermost first."""
    found: list[Loop] = []
    child, here = node, function.parent(node)
    while here is not None and not isinstance(here, cst.FunctionDef | cst.Lambda | cst.ClassDef):
        if isinstance(here, cst.For | cst.While) and child is here.body:
            found.append(here)
        child, here = here, function.parent(here)
    return found


class Turns:
    """The loops around a node and what differs between two of their turns.

    `counts` are names of whole numbers that are another at each turn, `items` names of what a loop goes over. A
    loop that is known to have no more than LIMIT turns counts for nothing: so many variants may be meant. `attributes`
    ("self.step") are numbers that the object whose method it is counts in, and `parameters` of those are what a loop of
    a caller counts: each call of the function is a turn.
    """

    def __init__(self, function: FunctionCode, node: cst.CSTNode, attributes: Iterable[str] = ()) -> None:
        self.function = function
        self.loops = [loop for loop in loops_around(function, node) if not _is_short(loop)]
        self.attributes = frozenset(attributes)
        self.parameters = {name for name in self.attributes if "." not in name}
        self.counts: set[str] = set(attributes)
        self.are_any = bool(self.loops or self.counts)
        self.items: set[str] = set()
        self.decaying: set[str] = set()  # numbers that a turn multiplies or divides: `rate *= 0.9`
        self._made: dict[str, cst.BaseExpression] = {}
        for loop in self.loops:
            self._read(loop)
        if attributes and (self.parameters or not self.loops):
            self._read_once(function.module)
        # What is made of itself means nothing that could be read in its place.
        self._last = self._made_last(node)
        self._renewed = {name: self._made[name] for name in self._made if name in self._behind(name)}
        for name in self._renewed:
            del self._made[name]

    def _made_last(self, node: cst.CSTNode) -> dict[str, cst.BaseExpression]:
        """What the innermost loop gives names that it binds several times, last above the node, in each turn."""
        found: dict[str, cst.BaseExpression] = {}
        for loop in loops_around(self.function, node)[:1] if self.loops else ():
            line = self.function.range(node)[0]
            for name, values in self._bindings(loop.body).items():
                above = [v for v in values if self.function.range(v)[0] < line]
                last = above[-1] if above else None
                if isinstance(last, cst.Assign) and unconditional(self.function, last, loop):
                    found[name] = last.value
        return found

    def _bindings(self, node: cst.CSTNode) -> Mapping[str, list[cst.CSTNode]]:
        """What is bound in a loop, or in all of the function: asked for every call in it, by several rules."""
        known = self.function.memo.setdefault("bindings", {})
        if node not in known:
            known[node] = bindings(node)
        found: Mapping[str, list[cst.CSTNode]] = known[node]
        return found

    def _behind(self, name: str) -> set[str]:
        """The names that what the name is assigned is made of, through other assignments of the loop."""
        found: set[str] = set()
        rest = [name]
        while rest:
            for other in _free(self._made[rest.pop()]):
                if other.value not in found:
                    found.add(other.value)
                    rest += [other.value] if other.value in self._made else []
        return found

    def _read(self, loop: Loop) -> None:
        bound = self._bindings(loop.body)
        if isinstance(loop, cst.For):
            number, items = _targets(loop)
            self.counts |= {number} - {""} - set(bound)
            self.items |= items - set(bound)
        for name, values in bound.items():
            if len(values) != 1:
                continue
            (statement,) = values
            if isinstance(statement, cst.AugAssign):
                steps = isinstance(statement.operator, cst.AddAssign | cst.SubtractAssign)
                if (
                    steps
                    and isinstance(statement.value, cst.Integer)
                    and unconditional(self.function, statement, loop)
                ):
                    self.counts.add(name)
                elif _scales(statement) and unconditional(self.function, statement, loop):
                    self.decaying.add(name)
            elif isinstance(statement, cst.Assign):
                self._made.setdefault(name, statement.value)
            elif (paired := _paired(self.function, statement, name)) is not None:
                self._made.setdefault(name, paired)

    def _read_once(self, whole: cst.Module) -> None:
        """What a method binds once, where each call of it is a turn."""
        for name, values in self._bindings(whole).items():
            if len(values) == 1 and isinstance(values[0], cst.Assign):
                self._made.setdefault(name, values[0].value)

    def meaning(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """What a name is assigned in the loop, if it is so only once; else the expression itself."""
        for _ in range(3):
            if not isinstance(value, cst.Name) or value.value not in self._made:
                break
            value = self._made[value.value]
        return value

    def number(self, value: cst.BaseExpression) -> bool:
        """Whether it is another whole number at each turn: `n`, `n + 1`, `2 * n`, `len(seen)` of a list that grows."""
        value = self.meaning(value)
        if isinstance(value, cst.Name):
            return value.value in self.counts
        if isinstance(value, cst.Attribute | cst.Subscript) and self.counted(value):
            return True
        if isinstance(value, cst.BinaryOperation):
            plain = isinstance(value.operator, cst.Add | cst.Subtract | cst.Multiply)
            return plain and self._one(value, self.number)
        if (clipped := self._clipped(value)) is not None:
            return self.number(clipped)
        if self.drawn(value):
            return True
        if isinstance(value, cst.Call) and _called(value) == "len" and len(value.args) == 1:
            inner = value.args[0].value
            return isinstance(inner, cst.Name) and (self.grows(inner.value) or self.size(inner) is not None)
        return False

    def counted(self, value: cst.BaseExpression) -> bool:
        """Whether it is an attribute that counts, or an item that each turn adds to: `state["step"] += 1`."""
        if isinstance(value, cst.Attribute):
            return dotted(value) in self.counts
        return isinstance(value, cst.Subscript) and any(
            isinstance(part, cst.AugAssign)
            and isinstance(part.operator, cst.AddAssign)
            and isinstance(part.value, cst.Integer)
            and part.target.deep_equals(value)
            for loop in self.loops
            for part in walk(loop.body)
        )

    def scaled(self, value: cst.BaseExpression) -> bool:
        """Whether a turn multiplies or divides it: `rate *= 0.9`, `rate = rate * 0.9`, `options["rate"] *= 0.9`."""
        if isinstance(value, cst.Name):
            again = self._renewed.get(value.value)
            return value.value in self.decaying or (
                isinstance(again, cst.BinaryOperation)
                and isinstance(again.operator, cst.Multiply | cst.Divide)
                and is_name(again.left, value.value)
                and isinstance(again.right, cst.Float | cst.Integer)
            )
        return isinstance(value, cst.Subscript) and any(
            isinstance(part, cst.AugAssign) and _scales(part) and part.target.deep_equals(value)
            for loop in self.loops
            for part in walk(loop.body)
        )

    def _clock(self, value: cst.BaseExpression) -> bool:
        value = self.meaning(value)
        return isinstance(value, cst.Call) and _called(value) in _CLOCKS

    def stepped(self, value: cst.BaseExpression) -> bool:
        """Whether it is a whole number that is another one after some turns: `n // 100`, `int(64 * n / total)`."""
        value = self.meaning(value)
        if isinstance(value, cst.BinaryOperation):
            if isinstance(value.operator, cst.FloorDivide):
                return _is_number(value.right) and (self.number(value.left) or self.stepped(value.left))
            plain = isinstance(value.operator, cst.Add | cst.Subtract | cst.Multiply)
            return plain and self._one(value, self.stepped)
        if isinstance(value, cst.Call) and _called(value) in _WHOLE and len(value.args) == 1:
            inner = value.args[0].value
            return self.fraction(inner) or self.stepped(inner)
        clipped = self._clipped(value)
        return clipped is not None and self.stepped(clipped)

    def flag(self, value: cst.BaseExpression) -> bool:
        """Whether it is True at some turns and False at others: `n < 100`, `n % 10 == 0`, `n > 5 and last`."""
        value = self.meaning(value)
        if isinstance(value, cst.BooleanOperation):
            return self.flag(value.left) or self.flag(value.right)
        if isinstance(value, cst.UnaryOperation):
            return isinstance(value.operator, cst.Not) and self.flag(value.expression)
        if not isinstance(value, cst.Comparison) or len(value.comparisons) != 1:
            return False
        other = value.comparisons[0]
        orders = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual
        if not isinstance(other.operator, orders | cst.Equal | cst.NotEqual):
            return False
        side, limit = self.meaning(value.left), other.comparator
        if isinstance(side, cst.BinaryOperation) and isinstance(side.operator, cst.Modulo):
            side = side.left
        return (self.number(side) or self.fraction(side)) and _is_number(limit) and not self.number(limit)

    def drawn(self, value: cst.BaseExpression) -> bool:
        """Whether a turn draws it: `random.randint(8, 64)`, `int(torch.randint(8, 64, (1,)))`, or with `.item()`."""
        if not self.loops or not isinstance(value, cst.Call):
            return False
        if _called(value) == "int" and len(value.args) == 1:
            inner = self.meaning(value.args[0].value)
            return isinstance(inner, cst.Call) and _draws(inner)
        if isinstance(value.func, cst.Attribute) and value.func.attr.value == "item":
            inner = self.meaning(value.func.value)
            return isinstance(inner, cst.Call) and _draws(inner)
        # Of torch it is a tensor.
        return _draws(value) and not _called(value).startswith("torch.")

    def picked(self, value: cst.BaseExpression) -> str:
        """What decides, by its values, how long a tensor is: `mask` of `x[mask]`, where a turn makes that by a
        comparison, `x.nonzero()`; "" for others."""
        value = self.meaning(value)
        if isinstance(value, cst.Subscript):
            index = value.slice[0].slice
            mask = self.meaning(index.value) if isinstance(index, cst.Index) else None
            if mask is not None and isinstance(index, cst.Index) and self._is_mask(mask):
                return self.function.module.code_for_node(index.value)
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
            if value.func.attr.value in _PICKED and self.changes(value):
                return self.function.module.code_for_node(value)
        return ""

    def _is_mask(self, value: cst.BaseExpression) -> bool:
        """`a > 0`, `~(a > 0)`, `(a > 0) & b`, of what turns make."""
        if isinstance(value, cst.UnaryOperation):
            return isinstance(value.operator, cst.BitInvert) and self._is_mask(self.meaning(value.expression))
        if isinstance(value, cst.BinaryOperation):
            joins = isinstance(value.operator, cst.BitAnd | cst.BitOr)
            return joins and any(self._is_mask(self.meaning(side)) for side in (value.left, value.right))
        if not isinstance(value, cst.Comparison) or len(value.comparisons) != 1:
            return False
        orders = isinstance(
            value.comparisons[0].operator,
            cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual | cst.NotEqual,
        )
        return orders and (self.changes(value) or any(isinstance(part, cst.Call) for part in walk(value)))

    def pieces(self, value: cst.BaseExpression) -> cst.Call | None:
        """`torch.split(x, lengths)` of which the value is a piece, another one at each turn."""
        value = self.meaning(value)
        if isinstance(value, cst.Call) and _called(value).rsplit(".", 1)[-1] in _STACK and value.args:
            listed = value.args[0].value
            parts = [e.value for e in listed.elements] if isinstance(listed, cst.List | cst.Tuple) else []
            return next(filter(None, map(self.pieces, parts)), None)
        if not isinstance(value, cst.Name):
            return None
        for loop in self.loops:
            if not isinstance(loop, cst.For) or value.value not in {n.value for n in names(loop.target)}:
                continue
            for source in _sources(loop):
                made = [source]
                if isinstance(source, cst.Name):
                    made = [
                        b.value
                        for b in self._bindings(self.function.module).get(source.value, ())
                        if isinstance(b, cst.Assign)
                    ]
                for call in made if len(made) == 1 else ():
                    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
                        if call.func.attr.value in _PIECES:
                            return call
        return None

    def left_over(self, value: cst.BaseExpression) -> bool:
        """Whether it is `x[i : i + size]`, of a loop over `range(0, n, size)`: what is left at the last turn. Of tiles
        (`x[:, :, i : min(i + size, n)]`) too."""
        value = self.meaning(value)
        places = value.slice if isinstance(value, cst.Subscript) else ()
        return any(
            isinstance(place.slice, cst.Slice) and place.slice.step is None and self._is_left(place.slice)
            for place in places
        )

    def _is_left(self, part: cst.Slice) -> bool:
        if not isinstance(part.lower, cst.Name):
            return False
        upper = self.meaning(part.upper) if part.upper is not None else None
        if isinstance(upper, cst.Call) and _called(upper) == "min" and len(upper.args) == 2:
            upper = next((a.value for a in upper.args if isinstance(a.value, cst.BinaryOperation)), None)
        if not isinstance(upper, cst.BinaryOperation) or not isinstance(upper.operator, cst.Add):
            return False
        for loop in self.loops:
            over = loop.iter if isinstance(loop, cst.For) and part.lower.deep_equals(loop.target) else None
            while isinstance(over, cst.Call) and _called(over).rsplit(".", 1)[-1] in _THROUGH and over.args:
                over = over.args[0].value
            if not isinstance(over, cst.Call) or not _called(over).endswith("range") or len(over.args) != 3:
                continue
            first, last, step = (a.value for a in over.args)
            whole = isinstance(last, cst.Integer) and isinstance(step, cst.Integer)
            if whole and isinstance(first, cst.Integer) and first.value == "0":
                if int(last.value, 0) % int(step.value, 0) == 0:  # type: ignore[attr-defined]
                    continue
            sides = (upper.left, upper.right)
            if any(s.deep_equals(part.lower) for s in sides) and any(s.deep_equals(step) for s in sides):
                return True
        return False

    def length(self, value: cst.BaseExpression) -> str:
        """What says how long a list is, and is another number at each turn: `[new() for _ in range(n)]`, `frames[:n]`;
        "" for others."""
        value = self.meaning(value)
        code = self.function.module.code_for_node
        if isinstance(value, cst.ListComp) and not value.for_in.ifs and value.for_in.inner_for_in is None:
            over = value.for_in.iter
            if isinstance(over, cst.Call) and _called(over) == "range" and len(over.args) == 1:
                return code(over.args[0].value) if self.number(over.args[0].value) else ""
            return self.length(over)
        if isinstance(value, cst.Subscript) and len(value.slice) == 1:
            part = value.slice[0].slice
            bounds = (
                [b for b in (part.lower, part.upper) if b is not None] if isinstance(part, cst.Slice) else []
            )
            one = len(bounds) == 1 and not isinstance(bounds[0], cst.UnaryOperation)
            return code(bounds[0]) if one and self.number(bounds[0]) else ""
        return ""

    def differs(self, value: cst.BaseExpression) -> tuple[str, str]:
        """Why a tensor is of another size at some turns, where its values or a list of lengths decide that, and how
        many sizes there are: "often", "twice", or "" where that is not told; nothing for others."""
        code = self.function.module.code_for_node
        if by := self.picked(value):
            return f"`{code(value)}` is as long as the values in `{by}` have it", "often"
        if self.left_over(value):
            return f"`{code(value)}` is smaller at the last turn, where less is left", "twice"
        made = self.pieces(value)
        if made is None:
            return "", ""
        called, often = code(made), _lengths(made)
        if often == "twice":
            return f"`{code(value)}` is a piece of `{called}`, of which the last may be smaller", often
        return f"`{code(value)}` is a piece of `{called}`, and those need not be of one size", often

    def fraction(self, value: cst.BaseExpression) -> bool:
        """Whether it is a number of Python that the changing ones make: `n / 100`, `0.9 ** n`, `1 - n / total`,
        `float(sigma)` of what a loop goes over; or that turns scale (`rate *= 0.9`) or a clock tells."""
        if self.scaled(value):
            return True
        value = self.meaning(value)
        if isinstance(value, cst.BinaryOperation):
            divides = isinstance(value.operator, cst.Divide | cst.Power)
            keeps = isinstance(value.operator, cst.Add | cst.Subtract | cst.Multiply | cst.Divide | cst.Power)
            if isinstance(value.operator, cst.Subtract) and self._clock(value.left):
                return bool(self.loops)  # `time.time() - start`
            if (
                isinstance(value.operator, cst.Divide)
                and self.number(value.left)
                and self.number(value.right)
            ):
                return not value.left.deep_equals(value.right)  # `(n + 1) / (n + 10)`
            return keeps and self._one(value, lambda s: self.fraction(s) or (divides and self.number(s)))
        if isinstance(value, cst.Call) and _called(value) in ("float", "round") and len(value.args) == 1:
            inner = value.args[0].value
            return self.number(inner) or self.fraction(inner) or self.item(inner)
        if isinstance(value, cst.Call) and _called(value).startswith("math."):
            whole = _called(value) in _WHOLE
            return not whole and any(self.number(a.value) or self.fraction(a.value) for a in value.args)
        if isinstance(value, cst.Call) and _called(value) in _DRAWS_FRACTIONS:
            return bool(self.loops)
        clipped = self._clipped(value)
        return clipped is not None and self.fraction(clipped)

    def _clipped(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """`n / 100` of `min(1.0, n / 100)`"""
        if not isinstance(value, cst.Call) or _called(value) not in ("min", "max") or len(value.args) != 2:
            return None
        rest = [a.value for a in value.args if not isinstance(a.value, cst.Integer | cst.Float)]
        # `min(self.most, n / 100)`: what stays the same clips as a constant does.
        moving = [each for each in rest if not self._stays(each)] if len(rest) == 2 else rest
        return moving[0] if len(moving) == 1 else None

    def _stays(self, value: cst.BaseExpression) -> bool:
        if isinstance(value, cst.Attribute):
            return not self.counted(value) and not self.changes(value.value)
        return isinstance(value, cst.Name) and not self.number(value) and not self.changes(value)

    def _one(self, value: cst.BinaryOperation, fits: Callable[[cst.BaseExpression], bool]) -> bool:
        """Whether one side is such a number, and the other one a number that stays."""
        for side, other in ((value.left, value.right), (value.right, value.left)):
            if _is_number(other) and not self.changes(other) and fits(side):
                return True
        return False

    def of_counts_alone(self, value: cst.BaseExpression) -> bool:
        """Whether the code shows that it is a number: no name is in it but those that count."""
        value = self.meaning(value)
        if isinstance(value, cst.Subscript) and (self.counted(value) or self.scaled(value)):
            return True
        if isinstance(value, cst.Call) and (
            _called(value) in ("min", "max", "abs", "int", "float", "round")
            or _called(value).startswith("math.")
        ):
            return all(self.of_counts_alone(a.value) for a in value.args)
        return all(
            n.value in self.counts or self.of_counts_alone(n) for n in names(value) if n is not value
        ) and (not isinstance(value, cst.Name) or value.value in self.counts)

    def text(self, value: cst.BaseExpression) -> bool:
        """Whether it is another text at each turn: `f"step{n}"`, `str(n)`, `"block." + name`."""
        value = self.meaning(value)
        if isinstance(value, cst.ListComp):  # a list of texts
            return self.text(value.elt)
        if isinstance(value, cst.List):
            return any(self.text(each.value) for each in value.elements)
        if isinstance(value, cst.FormattedString):
            inner = [p.expression for p in value.parts if isinstance(p, cst.FormattedStringExpression)]
            return any(self.told(e) for e in inner)
        if isinstance(value, cst.Call):
            if _called(value) == "str" and len(value.args) == 1:
                return self.told(value.args[0].value)
            callee = value.func
            if isinstance(callee, cst.Attribute) and callee.attr.value == "format":
                is_text = isinstance(callee.value, cst.SimpleString)
                return is_text and any(self.told(a.value) for a in value.args)
            return False
        if isinstance(value, cst.BinaryOperation):
            if isinstance(value.operator, cst.Modulo):
                right = value.right
                parts = [e.value for e in right.elements] if isinstance(right, cst.Tuple) else [right]
                return isinstance(value.left, cst.SimpleString) and any(self.told(p) for p in parts)
            if isinstance(value.operator, cst.Add):
                return any(self.text(side) or self._is_item(side) for side in (value.left, value.right))
        return False

    def told(self, value: cst.BaseExpression) -> bool:
        """Whether a text that names it is another at each turn."""
        return self.number(value) or self.fraction(value) or self.text(value) or self._is_item(value)

    def _is_item(self, value: cst.BaseExpression) -> bool:
        return isinstance(value, cst.Name) and value.value in self.items

    def item(self, value: cst.BaseExpression) -> bool:
        """Whether it is what a loop goes over: another one at each turn."""
        return self._is_item(self.meaning(value))

    def bound_in(self, value: cst.BaseExpression) -> bool:
        """Whether it is a function made anew at each turn with another number: `partial(f, rate=n / 10)`."""
        value = self.meaning(value)
        if not isinstance(value, cst.Call) or _called(value).rpartition(".")[2] != "partial":
            return False
        return any(self.number(a.value) or self.fraction(a.value) for a in value.args[1:])

    def helped(self, value: cst.BaseExpression) -> bool:
        """Whether a function makes it of what changes: `schedule(step)`, `self.rate(step)`."""
        value = self.meaning(value)
        return isinstance(value, cst.Call) and any(
            self.number(a.value) or self.fraction(a.value) for a in value.args
        )

    def helped_by_steps(self, value: cst.BaseExpression) -> bool:
        """Whether what makes it may give the same at many turns: it looks something up, decides, or is not here."""
        made = self.meaning(value)
        name = dotted(made.func).rpartition(".")[2] if isinstance(made, cst.Call) else ""
        tree = self.function.file_tree or ast.parse(self.function.source)
        found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
        return len(found) != 1 or any(isinstance(n, _DECIDES) for n in ast.walk(found[0]))

    def picks(self, value: cst.BaseExpression) -> bool:
        """Whether it is the item of a list or table that a number picks, another at each turn: `sigmas[i]`."""
        value = self.meaning(value)
        at = value.slice[0].slice if isinstance(value, cst.Subscript) and len(value.slice) == 1 else None
        return isinstance(at, cst.Index) and self.number(at.value)

    def changes(self, value: cst.CSTNode) -> bool:
        """Whether any name in it is bound anew by a turn."""
        changing = self.counts | self.items | set(self._made) | set(self._renewed)
        free = _free(value)
        return any(n.value in changing for n in free) or any(
            n.value in self._bindings(loop.body) for loop in self.loops for n in free
        )

    def renewed(self, name: str) -> cst.BaseExpression | None:
        """What a turn makes of what the name was before: `config = replace(config, steps=n)`."""
        return self._renewed.get(name)

    def grows(self, name: str) -> bool:
        """Whether a turn makes the list of that name longer, and none makes it anew or shorter."""
        for loop in self.loops:
            bound = self._bindings(loop.body).get(name, ())
            joined = [b for b in bound if isinstance(b, cst.Assign) and _is_longer(b.value, name)]
            if any(not isinstance(b, cst.AugAssign) and b not in joined for b in bound):
                return False
            longer = any(unconditional(self.function, each, loop) for each in joined)
            for node in walk(loop.body):
                if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                    owner = node.func.value
                    if is_name(owner, name):
                        if node.func.attr.value in _SHRINK:
                            return False
                        longer = longer or (
                            node.func.attr.value in _GROW and unconditional(self.function, node, loop)
                        )
                elif isinstance(node, cst.Del) and name in {n.value for n in names(node)}:
                    return False
                elif isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                    if node.target.value == name and isinstance(node.operator, cst.AddAssign):
                        longer = longer or isinstance(node.value, cst.List)
            if longer:
                return True
        return False

    def filled_under(self, name: str) -> cst.BaseExpression | None:
        """The key, another one at each turn, under which a turn puts something into the dictionary of that name."""
        for loop in self.loops:
            if name in self._bindings(loop.body):
                return None
            for node in walk(loop.body):
                target = node.target if isinstance(node, cst.AssignTarget) else None
                if isinstance(target, cst.Subscript) and dotted(target.value) == name:
                    index = target.slice[0].slice
                    if isinstance(index, cst.Index) and (self.number(index.value) or self.text(index.value)):
                        return index.value if len(target.slice) == 1 else None
        return None

    def _resizes(self, size: cst.BaseExpression) -> bool:
        """Whether a size is another one at some turns: `n`, `8 * (n // 10)`, `resolution_at(n)`, or that plus one."""
        made = self.meaning(size)
        if isinstance(made, cst.BinaryOperation) and isinstance(made.operator, cst.Add | cst.Subtract):
            return self.number(size) or self.stepped(size) or self._one(made, self._resizes)
        of_helper = isinstance(made, cst.Call) and isinstance(made.func, cst.Name)
        return (
            self.number(size)
            or self.stepped(size)
            or (isinstance(made, cst.Call) and of_helper and any(self.number(a.value) for a in made.args))
        )

    def size(self, value: cst.BaseExpression, names: int = 3) -> tuple[int | None, str] | None:
        """For a tensor that has another size at each turn: which dimension (None: not told), and the name that says
        how long. `x[:, :n]`, `torch.ones(n, 3)`, `torch.stack(seen)` of a list that grows, and `ids` where a turn does
        `ids = torch.cat([ids, new], dim=1)`. No more than so many names are looked up."""
        again = self._renewed.get(value.value) if isinstance(value, cst.Name) else None
        if isinstance(value, cst.Name) and again is not None and names:
            if isinstance(again, cst.Call) and _is_joined(value.value, again):
                return _joining_dimension(again), value.value
            other = isinstance(again, cst.IfExp | cst.Subscript) or _is_resized(again)
            return self.size(again, names - 1) if other else None
        value = self.meaning(value)
        if isinstance(value, cst.Name) and names and _is_resized(last := self._last.get(value.value)):
            return self.size(last, 0)  # `images = F.interpolate(images, size=n)`
        if isinstance(value, cst.IfExp):  # `ids if ids.size(1) <= most else ids[:, -most:]`
            return self.size(value.body, names) or self.size(value.orelse, names)
        if (window := _window(value)) is not None and (grows := self.size(window, names)) is not None:
            return grows  # until it is full
        if isinstance(value, cst.Subscript):
            counted = True  # from the front, as far as that tells which dimension it is
            for place, element in enumerate(value.slice):
                inner = element.slice
                counted = counted and not (
                    isinstance(inner, cst.Index) and isinstance(inner.value, cst.Ellipsis)
                )
                if isinstance(inner, cst.Slice) and inner.step is None:
                    bounds = [b for b in (inner.lower, inner.upper) if b is not None]
                    if any(self.drawn(self.meaning(b)) for b in bounds):
                        dim = _dimension([e.slice for e in value.slice[:place]]) if counted else None
                        return dim, "what is drawn"
                    if (
                        len(bounds) == 1
                        and not isinstance(bounds[0], cst.UnaryOperation)
                        and self._resizes(bounds[0])
                    ):
                        name = self.function.module.code_for_node(bounds[0])
                        return _dimension([e.slice for e in value.slice[:place]]) if counted else None, name
            if names and isinstance(value.value, cst.Name) and all(map(_keeps_most, value.slice)):
                return self.size(value.value, names - 1)  # `ids[:, :-1]`
        if isinstance(value, cst.Call) and "." in _called(value):
            if _called(value).rsplit(".", 1)[-1] in _STACK and value.args:
                parts = value.args[0].value
                if isinstance(parts, cst.Name) and self.grows(parts.value):
                    return _joining_dimension(value), parts.value
            if _called(value).rsplit(".", 1)[-1] in _RESIZED:
                for size in _target_sizes(value):
                    if not isinstance(self.meaning(size), cst.Attribute) and self._resizes(size):
                        return None, self.function.module.code_for_node(size)
            for place, size in enumerate(_sizes(value)):
                if self._resizes(size):
                    return place, self.function.module.code_for_node(size)
        return None


def _is_resized(value: cst.BaseExpression | None) -> TypeGuard[cst.Call]:
    """`F.interpolate(x, size=n)`"""
    return isinstance(value, cst.Call) and _called(value).rsplit(".", 1)[-1] in _RESIZED


def _is_longer(value: cst.BaseExpression, name: str) -> bool:
    """`[*tokens, token]`, `tokens + [token]` of the list `tokens`."""
    if isinstance(value, cst.BinaryOperation):
        return (
            isinstance(value.operator, cst.Add)
            and is_name(value.left, name)
            and isinstance(value.right, cst.List)
            and bool(value.right.elements)
        )
    return (
        isinstance(value, cst.List)
        and len(value.elements) > 1
        and isinstance(value.elements[0], cst.StarredElement)
        and is_name(value.elements[0].value, name)
    )


def _free(node: cst.CSTNode) -> list[cst.Name]:
    """The names in a node, without those of attributes and keywords."""
    if isinstance(node, cst.Attribute):
        return _free(node.value)
    if isinstance(node, cst.Arg):
        return _free(node.value)
    found = [node] if isinstance(node, cst.Name) else []
    for child in children(node):
        found += _free(child)
    return found


def _window(value: cst.BaseExpression) -> cst.Name | None:
    """`ids` of `ids[:, -most:]`: no more than what a name says of what grows."""
    if not isinstance(value, cst.Subscript) or not isinstance(value.value, cst.Name):
        return None
    for element in value.slice:
        part = element.slice
        if isinstance(part, cst.Slice) and part.upper is None and part.step is None:
            lower = part.lower
            if isinstance(lower, cst.UnaryOperation) and isinstance(lower.operator, cst.Minus):
                return None if isinstance(lower.expression, cst.Integer) else value.value
    return None


def _keeps_most(element: cst.SubscriptElement) -> bool:
    """`:`, `:-1`, `1:`"""
    part = element.slice
    if not isinstance(part, cst.Slice) or part.step is not None:
        return False
    lower, upper = part.lower, part.upper
    cut = isinstance(upper, cst.UnaryOperation) and isinstance(upper.expression, cst.Integer)
    return (lower is None or isinstance(lower, cst.Integer)) and (upper is None or cut)


def _dimension(before: list[cst.BaseSlice]) -> int | None:
    """Which dimension of the result comes after these subscripts."""
    found = 0
    for one in before:
        if isinstance(one, cst.Index) and isinstance(one.value, cst.Integer):
            continue
        if isinstance(one, cst.Index) and not says_none(one.value):
            return None
        found += 1
    return found


def mentions_marks(loops: list[Loop]) -> bool:
    """Whether a turn says of some tensor which of its sizes change, or that none does."""
    return any(
        "mark_" in n.value
        for loop in loops
        for n in names(loop.body)
        if n.value.startswith(("mark_", "maybe_mark_"))
    )


def _is_joined(name: str, value: cst.BaseExpression) -> bool:
    """Whether the tensor is joined with more: `torch.cat([ids, new], dim=1)`."""
    if not isinstance(value, cst.Call) or _called(value).rsplit(".", 1)[-1] not in _JOIN:
        return False
    if not value.args or not isinstance(value.args[0].value, cst.List | cst.Tuple):
        return False
    parts = [e.value for e in value.args[0].value.elements]
    return len(parts) > 1 and any(is_name(p, name) for p in parts)


def _joining_dimension(call: cst.Call) -> int | None:
    """The dimension at which tensors are joined; None where it is counted from the end, or not told."""
    if _called(call).endswith("hstack"):
        return None
    dims = [a.value for a in call.args[1:] if a.keyword is None or a.keyword.value in ("dim", "axis")]
    text = dims[0].value if dims and isinstance(dims[0], cst.Integer) else "" if dims else "0"
    return int(text) if text.isdigit() else None


def _called(call: cst.Call) -> str:
    """The name of what is called, dotted: "torch.ones"."""
    return dotted(call.func)


def _sizes(call: cst.Call) -> list[cst.BaseExpression]:
    """The sizes that a function of torch is given to make a tensor of."""
    last = _called(call).rsplit(".", 1)[-1]
    given = [a.value for a in call.args if a.keyword is None and not a.star]
    if last == "arange" and len(given) == 1:
        return given
    if last == "randint":
        named = [a.value for a in call.args if a.keyword is not None and a.keyword.value == "size"]
        size = next((v for v in (*named, *given[1:]) if isinstance(v, cst.Tuple | cst.List)), None)
        return [e.value for e in size.elements] if size is not None else []
    if last not in (*_SIZED, "full") or not given:
        return []
    if isinstance(given[0], cst.Tuple | cst.List):
        return [e.value for e in given[0].elements]
    return given if last != "full" else []


def _lengths(made: cst.Call) -> str:
    """How many lengths the pieces of `x.split(...)` have: see Turns.differs."""
    if _called(made).endswith("chunk"):
        return "twice"
    at = 1 if _called(made).startswith("torch.") else 0
    given = made.args[at].value if len(made.args) > at else None
    if isinstance(given, cst.Integer):
        return "twice"
    listed = isinstance(given, cst.List | cst.Tuple | cst.ListComp)
    reads = (
        isinstance(given, cst.Call)
        and isinstance(given.func, cst.Attribute)
        and given.func.attr.value == "tolist"
    )
    return "often" if listed or reads else ""


def _scales(statement: cst.AugAssign) -> bool:
    scales = isinstance(statement.operator, cst.MultiplyAssign | cst.DivideAssign)
    return scales and isinstance(statement.value, cst.Float | cst.Integer)


def _draws(call: cst.Call) -> bool:
    """`random.randint(1, 9)`, of whatever library, or `random.choice([64, 128])`."""
    if _called(call) == "random.choice" and len(call.args) == 1:
        listed = call.args[0].value
        return isinstance(listed, cst.List | cst.Tuple) and all(
            isinstance(each.value, cst.Integer) for each in listed.elements
        )
    return _called(call).rsplit(".", 1)[-1] in _DRAWS and "." in _called(call)


def _target_sizes(call: cst.Call) -> list[cst.BaseExpression]:
    """The sizes that a picture is brought to: `interpolate(x, size=(n, n))`."""
    given = [a.value for a in call.args if a.keyword is not None and a.keyword.value == "size"]
    given += [a.value for a in call.args[1:2] if a.keyword is None]
    return [
        size
        for one in given
        for size in ([e.value for e in one.elements] if isinstance(one, cst.Tuple | cst.List) else [one])
    ]


def _sources(loop: cst.For) -> list[cst.BaseExpression]:
    """What the loop goes over: of `zip(a, b)` each."""
    source = loop.iter
    while (
        isinstance(source, cst.Call)
        and source.args
        and _called(source).rsplit(".", 1)[-1] in (*_THROUGH, "enumerate")
    ):
        source = source.args[0].value
    if isinstance(source, cst.Call) and _called(source) == "zip":
        return [a.value for a in source.args]
    return [source]


def _targets(loop: cst.For) -> tuple[str, set[str]]:
    """The name that counts ("" if none does) and those of what the loop goes over."""
    source, target = loop.iter, loop.target
    while isinstance(source, cst.Call) and _called(source).rsplit(".", 1)[-1] in _THROUGH:
        if _called(source).endswith("trange"):
            break
        if not source.args:
            return "", set()
        source = source.args[0].value
    called = _called(source) if isinstance(source, cst.Call) else ""
    last = called.rsplit(".", 1)[-1]
    if last in ("range", "trange", "count"):
        return (target.value if isinstance(target, cst.Name) else ""), set()
    if last == "enumerate" and isinstance(target, cst.Tuple) and len(target.elements) == 2:
        first, second = (e.value for e in target.elements)
        return (first.value if isinstance(first, cst.Name) else ""), {n.value for n in names(second)}
    if isinstance(source, cst.Call) and last in ("product", "cycle", "repeat", "chain"):
        return "", set()
    if isinstance(source, cst.List | cst.Tuple) and isinstance(target, cst.Name):
        listed = [e.value for e in source.elements]
        if all(isinstance(e, cst.Integer) for e in listed) and len({e.value for e in listed}) > LIMIT:  # type: ignore[attr-defined]
            return target.value, set()
    return "", {n.value for n in names(target)}


def _is_number(value: cst.BaseExpression) -> bool:
    """Whether it may be a number of Python, for all that its form tells."""
    if isinstance(value, cst.Integer | cst.Float | cst.Name | cst.Attribute):
        return True
    if isinstance(value, cst.UnaryOperation):
        return _is_number(value.expression)
    if isinstance(value, cst.BinaryOperation):
        return _is_number(value.left) and _is_number(value.right)
    return isinstance(value, cst.Call) and _called(value) in ("len", "int", "float", "max", "min")


def _is_short(loop: Loop) -> bool:
    """Whether the loop is known to have no more than LIMIT turns."""
    if not isinstance(loop, cst.For):
        return False
    source = loop.iter
    while isinstance(source, cst.Call) and _called(source) in _THROUGH and source.args:
        source = source.args[0].value
    if isinstance(source, cst.Tuple | cst.List | cst.Set):
        return len(source.elements) <= LIMIT
    if isinstance(source, cst.Call) and _called(source) == "enumerate" and source.args:
        inner = source.args[0].value
        return isinstance(inner, cst.Tuple | cst.List) and len(inner.elements) <= LIMIT
    if isinstance(source, cst.Call) and _called(source) == "range":
        numbers = [
            int(a.value.value.replace("_", ""), 0) for a in source.args if isinstance(a.value, cst.Integer)
        ]
        if numbers and len(numbers) == len(source.args) and numbers[-1]:
            return len(range(*numbers)) <= LIMIT
    return False


def bindings(node: cst.CSTNode) -> dict[str, list[cst.CSTNode]]:
    """The statements that bind each name, in the node and what it holds."""
    found: dict[str, list[cst.CSTNode]] = {}
    for part in walk(node):
        targets: list[cst.BaseExpression] = []
        if isinstance(part, cst.Assign):
            targets = [t.target for t in part.targets]
        elif isinstance(part, cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For | cst.CompFor):
            targets = [part.target]
        elif isinstance(part, cst.AsName):
            targets = [part.name]
        for target in targets:
            whole = isinstance(target, cst.Name)
            for name in [target] if whole else _bound_names(target):
                # One of several names, or one in a comprehension, is not what the whole value is.
                found.setdefault(name.value, []).append(part if whole else target)  # type: ignore[attr-defined]
    return found


def _paired(function: FunctionCode, target: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """What `a, b = x, y` gives a name."""
    assign = function.parent(target)
    assign = function.parent(assign) if isinstance(assign, cst.AssignTarget) else assign
    if not isinstance(assign, cst.Assign) or not isinstance(target, cst.Tuple):
        return None
    value = assign.value
    if not isinstance(value, cst.Tuple) or len(value.elements) != len(target.elements):
        return None
    for one, given in zip(target.elements, value.elements, strict=True):
        if is_name(one.value, name):
            return given.value
    return None


def _bound_names(target: cst.BaseExpression) -> list[cst.Name]:
    if isinstance(target, cst.Name):
        return [target]
    if isinstance(target, cst.Tuple | cst.List):
        return [n for e in target.elements for n in _bound_names(e.value)]
    return []


def unconditional(function: FunctionCode, node: cst.CSTNode, loop: Loop) -> bool:
    """Whether every turn that reaches its end runs the statement that holds the node."""
    here = function.parent(node)
    while here is not None and here is not loop:
        if isinstance(here, cst.If | cst.For | cst.While | cst.Try | cst.FunctionDef | cst.Lambda):
            return False
        here = function.parent(here)
    return True
