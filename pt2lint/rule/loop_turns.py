"""What is another thing at each turn of a loop, as far as the code of one function tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

import libcst as cst

from pt2lint.op import SHRINKS
from pt2lint.rule import FunctionCode
from pt2lint.rule.loop_syntax import (
    JOIN,
    RESIZED,
    Loop,
    bindings,
    called_name,
    comprehensions_around,
    dimension_after,
    ends_of,
    free_names,
    given_in_pair,
    is_drawing,
    is_joined,
    is_longer,
    is_resized,
    is_scaling,
    is_short,
    joining_dimension,
    keeps_most,
    last_word,
    loops_around,
    may_be_number,
    sizes_given,
    target_sizes,
    targets_of,
    unconditional,
    window_of,
)
from pt2lint.rule.syntax import dotted, names
from pt2lint.rule.tree import is_name, parameters_in, walk

_GROW = ("append", "extend", "insert", "appendleft")
STACK = (*JOIN, "stack", "vstack")
_DRAWS_FRACTIONS = ("random.random", "random.uniform", "random.gauss", "random.betavariate")
_CLOCKS = ("time.time", "time.perf_counter", "time.monotonic")
_WHOLE = ("int", "round", "math.floor", "math.ceil")
_DECIDES = (ast.If, ast.IfExp, ast.Compare, ast.Subscript, ast.FloorDiv, ast.For, ast.While, ast.Match)


def turns_around(function: FunctionCode, node: cst.CSTNode, attributes: Iterable[str] = ()) -> Turns:
    """The turns of the loops around a node, read once for all rules that ask."""
    known: dict[object, Turns] = function.memo.setdefault("turns", {})
    key = node, tuple(attributes)
    if key not in known:
        known[key] = Turns(function, node, key[1])
    return known[key]


class Turns:
    """The loops around a node and what differs between two of their turns.

    `counts` are names of whole numbers that are another at each turn, `items` names of what a loop goes over. A
    loop that is known to have RECOMPILE_LIMIT turns at most counts for nothing: they may be meant. `attributes`
    ("self.step") are numbers that the object whose method it is counts in, and `parameters` of those are what a loop of
    a caller counts: each call of the function is a turn.
    """

    def __init__(self, function: FunctionCode, node: cst.CSTNode, attributes: Iterable[str] = ()) -> None:
        self.function = function
        around = [*comprehensions_around(function, node), *loops_around(function, node)]
        self.loops = [loop for loop in around if not is_short(loop)]
        self.attributes = frozenset(attributes)
        self.parameters = {name for name in self.attributes if "." not in name}
        self.counts: set[str] = set(attributes)
        self.are_any = bool(self.loops or self.counts)
        self.items: set[str] = set()
        self.decaying: set[str] = set()  # numbers that a turn multiplies or adds a fraction to: `rate *= 0.9`
        self._at_times: set[str] = set()  # whole numbers that some turns count on: `if done: k += 1`
        self._made: dict[str, cst.BaseExpression] = {}
        self._ends = [end for loop in self.loops for end in ends_of(loop)]
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
            for name, values in self.bound(loop.body).items():
                above = [v for v in values if self.function.range(v)[0] < line]
                last = above[-1] if above else None
                if isinstance(last, cst.Assign) and unconditional(self.function, last, loop):
                    found[name] = last.value
        return found

    def bound(self, node: cst.CSTNode) -> Mapping[str, list[cst.CSTNode]]:
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
            for other in free_names(self._made[rest.pop()]):
                if other.value not in found:
                    found.add(other.value)
                    rest += [other.value] if other.value in self._made else []
        return found

    def _read(self, loop: Loop) -> None:
        bound = self.bound(loop.body)
        if isinstance(loop, cst.For):
            number, items = targets_of(loop)
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
                elif (
                    steps and isinstance(statement.value, cst.Integer) and self._is_repeated(statement, loop)
                ):
                    self._at_times.add(name)
                elif is_scaling(statement) or (steps and self._is_step(statement.value, name)):
                    if unconditional(self.function, statement, loop):
                        self.decaying.add(name)
            elif isinstance(statement, cst.Assign):
                self._made.setdefault(name, statement.value)
            elif (paired := given_in_pair(self.function, statement, name)) is not None:
                self._made.setdefault(name, paired)

    def _is_repeated(self, statement: cst.CSTNode, loop: Loop) -> bool:
        """Whether the tests around a statement of a loop may come out so at many turns: not `if n == 10:`."""
        here = self.function.parent(statement)
        while here is not None and here is not loop:
            test = here.test if isinstance(here, cst.If) else None
            if isinstance(here, cst.For | cst.While | cst.Match | cst.Try):
                return False
            for each in walk(test) if test is not None else ():
                if isinstance(each, cst.Comparison) and isinstance(each.comparisons[0].operator, cst.Equal):
                    if not any(isinstance(p, cst.Modulo) for p in walk(each)):
                        return False
            here = self.function.parent(here)
        return True

    def _read_once(self, whole: cst.Module) -> None:
        """What a method binds once, where each call of it is a turn."""
        for name, values in self.bound(whole).items():
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
        """Whether it is another whole number at each turn: `n`, `n + 1`, `2 * n`, `int(n)` of what a loop goes over,
        `len(seen)` of a list that grows."""
        value = self.meaning(value)
        if isinstance(value, cst.Name):
            return value.value in self.counts
        if isinstance(value, cst.Attribute | cst.Subscript | cst.Call) and self.counted(value):
            return True
        if isinstance(value, cst.BinaryOperation):
            plain = isinstance(value.operator, cst.Add | cst.Subtract | cst.Multiply)
            return plain and self._one(value, self.number)
        if (clipped := self._clipped(value)) is not None:
            return self.number(clipped)
        if self.drawn(value):
            return True
        if isinstance(value, cst.Call) and called_name(value) in ("int", "len") and len(value.args) == 1:
            inner = value.args[0].value
            if called_name(value) == "int":
                return self.number(inner) or self.item(inner)
            return isinstance(inner, cst.Name) and (self.grows(inner.value) or self.size(inner) is not None)
        return False

    def counted(self, value: cst.BaseExpression) -> bool:
        """Whether it is an attribute that counts, a method that makes a number of one (`self.rate()`), or an item that
        each turn adds to: `state["step"] += 1`."""
        if isinstance(value, cst.Call) and not value.args:
            value = value.func
        if isinstance(value, cst.Attribute):
            return dotted(value) in self.counts
        return self._is_item_changed(
            value,
            lambda part: isinstance(part.operator, cst.AddAssign) and isinstance(part.value, cst.Integer),
        )

    def _is_item_changed(self, value: cst.BaseExpression, so: Callable[[cst.AugAssign], bool]) -> bool:
        """Whether it is an item that each turn changes so, and nothing in the function shows that it is no number:
        `state["step"] = torch.tensor(0.0)`."""
        return (
            isinstance(value, cst.Subscript)
            and any(
                isinstance(part, cst.AugAssign) and so(part) and part.target.deep_equals(value)
                for loop in self.loops
                for part in walk(loop.body)
            )
            and not any(
                isinstance(part, cst.Assign)
                and not may_be_number(part.value)
                and any(target.target.deep_equals(value) for target in part.targets)
                for part in walk(self.function.module)
            )
        )

    def scaled(self, value: cst.BaseExpression) -> bool:
        """Whether a turn multiplies or divides it, or adds a fraction: `rate *= 0.9`, `rate = rate * 0.9`, `t += 0.05`,
        `t = t + dt` of a number that stays, `options["rate"] *= 0.9`."""
        if isinstance(value, cst.Name):
            again = self._renewed.get(value.value)
            if not isinstance(again, cst.BinaryOperation) or not is_name(again.left, value.value):
                return value.value in self.decaying
            if isinstance(again.operator, cst.Add | cst.Subtract):
                return isinstance(again.right, cst.Float) or self._is_step(again.right, value.value)
            scales = isinstance(again.operator, cst.Multiply | cst.Divide)
            return scales and isinstance(again.right, cst.Float | cst.Integer)
        return self._is_item_changed(value, is_scaling)

    def _is_step(self, value: cst.BaseExpression, name: str) -> bool:
        """Whether it is a name that no turn binds, and the code begins with a number under the other one: `t = 0.0`,
        and at each turn `t += dt`."""
        if not isinstance(value, cst.Name) or any(value.value in self.bound(p.body) for p in self.loops):
            return False
        first = [
            b.value if isinstance(b, cst.Assign) else given_in_pair(self.function, b, name)
            for b in self.bound(self.function.module).get(name, ())[:1]
        ]
        return bool(first) and isinstance(first[0], cst.Float | cst.Integer)

    def _clock(self, value: cst.BaseExpression) -> bool:
        value = self.meaning(value)
        return isinstance(value, cst.Call) and called_name(value) in _CLOCKS

    def stepped(self, value: cst.BaseExpression) -> bool:
        """Whether it is a whole number that is another one after some turns: `n // 100`, `int(64 * n / total)`."""
        value = self.meaning(value)
        if isinstance(value, cst.Name):
            again = self._renewed.get(value.value)
            chosen = [again.body, again.orelse] if isinstance(again, cst.IfExp) else []
            return value.value in self._at_times or any(
                isinstance(each, cst.BinaryOperation)
                and isinstance(each.operator, cst.Add | cst.Subtract)
                and is_name(each.left, value.value)
                and isinstance(each.right, cst.Integer)
                for each in chosen
            )
        if isinstance(value, cst.BinaryOperation):
            if isinstance(value.operator, cst.FloorDivide):
                return may_be_number(value.right) and (self.number(value.left) or self.stepped(value.left))
            plain = isinstance(value.operator, cst.Add | cst.Subtract | cst.Multiply)
            return plain and self._one(value, self.stepped)
        if isinstance(value, cst.Call) and called_name(value) in _WHOLE and len(value.args) == 1:
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
        return (self.number(side) or self.fraction(side)) and may_be_number(limit) and not self.number(limit)

    def drawn(self, value: cst.BaseExpression) -> bool:
        """Whether a turn draws it: `random.randint(8, 64)`, `int(torch.randint(8, 64, (1,)))`, or with `.item()`."""
        if not self.loops or not isinstance(value, cst.Call):
            return False
        if called_name(value) == "int" and len(value.args) == 1:
            inner = self.meaning(value.args[0].value)
            return isinstance(inner, cst.Call) and is_drawing(inner)
        if isinstance(value.func, cst.Attribute) and value.func.attr.value == "item":
            inner = self.meaning(value.func.value)
            return isinstance(inner, cst.Call) and is_drawing(inner)
        # Of torch it is a tensor.
        return is_drawing(value) and not called_name(value).startswith("torch.")

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
        rounds = isinstance(value, cst.Call) and called_name(value) == "round" and len(value.args) == 2
        if isinstance(value, cst.Call) and (
            rounds or (called_name(value) in ("float", "round") and len(value.args) == 1)
        ):
            inner = value.args[0].value
            return self.number(inner) or self.fraction(inner) or self.item(inner)
        if isinstance(value, cst.Call) and called_name(value).startswith("math."):
            whole = called_name(value) in _WHOLE
            return not whole and any(self.number(a.value) or self.fraction(a.value) for a in value.args)
        if isinstance(value, cst.Call) and called_name(value) in (*_DRAWS_FRACTIONS, *_CLOCKS):
            return bool(self.loops)
        clipped = self._clipped(value)
        return clipped is not None and self.fraction(clipped)

    def _clipped(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """`n / 100` of `min(1.0, n / 100)`"""
        if (
            not isinstance(value, cst.Call)
            or called_name(value) not in ("min", "max")
            or len(value.args) != 2
        ):
            return None
        rest = [a.value for a in value.args if not isinstance(a.value, cst.Integer | cst.Float)]
        # `min(self.most, n / 100)`: what stays the same clips as a constant does.
        moving = [each for each in rest if not self._stays(each)] if len(rest) == 2 else rest
        if called_name(value) == "min" and len(moving) == 1 and self._is_left_of(moving[0]):
            return None
        return moving[0] if len(moving) == 1 else None

    def _is_left_of(self, value: cst.BaseExpression) -> bool:
        """`total - start`: of what is taken in parts of one size, it bounds the last part alone."""
        return (
            isinstance(value, cst.BinaryOperation)
            and isinstance(value.operator, cst.Subtract)
            and self.number(value.right)
        )

    def _stays(self, value: cst.BaseExpression) -> bool:
        if isinstance(value, cst.Attribute):
            return not self.counted(value) and not self.changes(value.value)
        return isinstance(value, cst.Name) and not self.number(value) and not self.changes(value)

    def _one(self, value: cst.BinaryOperation, fits: Callable[[cst.BaseExpression], bool]) -> bool:
        """Whether one side is such a number, and the other one a number that stays."""
        for side, other in ((value.left, value.right), (value.right, value.left)):
            if may_be_number(other) and not self.changes(other) and fits(side):
                return True
        return False

    def of_counts_alone(self, value: cst.BaseExpression) -> bool:
        """Whether the code shows that it is a number: nothing is in it but what counts, and what a loop counts to."""
        value = self.meaning(value)
        if any(value.deep_equals(end) for end in self._ends):
            return True
        if isinstance(value, cst.BinaryOperation):
            return self.of_counts_alone(value.left) and self.of_counts_alone(value.right)
        if isinstance(value, cst.Subscript) and (self.counted(value) or self.scaled(value)):
            return True
        if isinstance(value, cst.Call) and (
            called_name(value) in ("min", "max", "abs", "int", "float", "round")
            or called_name(value).startswith("math.")
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
            if called_name(value) == "str" and len(value.args) == 1:
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
        """Whether it is a function made anew at each turn with another number: `partial(f, rate=n / 10)`,
        `lambda x: x * n`, or what a turn defines."""
        value = self.meaning(value)
        if (inner := self._defined(value)) is not None:
            own = {p.name.value for p in parameters_in(inner.params)} | set(bindings(inner.body))
            given = [p.default for p in parameters_in(inner.params) if p.default is not None]
            held = [n for n in free_names(inner.body) if n.value not in own]
            return any(self.number(each) or self.fraction(each) for each in (*given, *held))
        if not isinstance(value, cst.Call) or called_name(value).rpartition(".")[2] != "partial":
            return False
        return any(self.number(a.value) or self.fraction(a.value) for a in value.args[1:])

    def _defined(self, value: cst.BaseExpression) -> cst.FunctionDef | cst.Lambda | None:
        """The function that a turn makes, by `lambda` or, under the name, by `def`."""
        if isinstance(value, cst.Lambda) or not isinstance(value, cst.Name):
            return value if isinstance(value, cst.Lambda) else None
        found = [
            part
            for loop in self.loops
            for part in walk(loop.body)
            if isinstance(part, cst.FunctionDef) and part.name.value == value.value
        ]
        return found[0] if len(found) == 1 and value.value not in self.bound(self.function.module) else None

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
        free = free_names(value)
        return any(n.value in changing for n in free) or any(
            n.value in self.bound(loop.body) for loop in self.loops for n in free
        )

    def renewed(self, name: str) -> cst.BaseExpression | None:
        """What a turn makes of what the name was before: `config = replace(config, steps=n)`."""
        return self._renewed.get(name)

    def grows(self, name: str) -> bool:
        """Whether a turn makes the list of that name longer, and none makes it anew or shorter."""
        for loop in self.loops:
            bound = self.bound(loop.body).get(name, ())
            joined = [b for b in bound if isinstance(b, cst.Assign) and is_longer(b.value, name)]
            if any(not isinstance(b, cst.AugAssign) and b not in joined for b in bound):
                return False
            longer = any(unconditional(self.function, each, loop) for each in joined)
            for node in walk(loop.body):
                if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                    owner = node.func.value
                    if is_name(owner, name):
                        if node.func.attr.value in SHRINKS:
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
            if isinstance(again, cst.Call) and is_joined(value.value, again):
                return joining_dimension(again), value.value
            other = isinstance(again, cst.IfExp | cst.Subscript) or is_resized(again)
            return self.size(again, names - 1) if other else None
        value = self.meaning(value)
        if isinstance(value, cst.Name) and names and is_resized(last := self._last.get(value.value)):
            return self.size(last, 0)  # `images = F.interpolate(images, size=n)`
        if isinstance(value, cst.IfExp):  # `ids if ids.size(1) <= most else ids[:, -most:]`
            return self.size(value.body, names) or self.size(value.orelse, names)
        if (window := window_of(value)) is not None and (grows := self.size(window, names)) is not None:
            return grows  # until it is full
        if isinstance(value, cst.Subscript):
            return self._cut(value, names)
        return self._called(value) if isinstance(value, cst.Call) and "." in called_name(value) else None

    def _cut(self, value: cst.Subscript, names: int) -> tuple[int | None, str] | None:
        """The same for `x[:, :n]`, and `ids[:, :-1]` of what has another size."""
        counted = True  # from the front, as far as that tells which dimension it is
        for place, element in enumerate(value.slice):
            inner = element.slice
            counted = counted and not (isinstance(inner, cst.Index) and isinstance(inner.value, cst.Ellipsis))
            if isinstance(inner, cst.Slice) and inner.step is None:
                dim = dimension_after([e.slice for e in value.slice[:place]]) if counted else None
                bounds = [b for b in (inner.lower, inner.upper) if b is not None]
                if any(self.drawn(self.meaning(b)) for b in bounds):
                    return dim, "what is drawn"
                if (
                    len(bounds) == 1
                    and not isinstance(bounds[0], cst.UnaryOperation)
                    and self._resizes(bounds[0])
                ):
                    return dim, self.function.module.code_for_node(bounds[0])
        if names and isinstance(value.value, cst.Name) and all(map(keeps_most, value.slice)):
            return self.size(value.value, names - 1)
        return None

    def _called(self, value: cst.Call) -> tuple[int | None, str] | None:
        """The same for `torch.stack(seen)`, `F.interpolate(x, size=n)` and `torch.ones(n, 3)`."""
        if last_word(value) in STACK and value.args:
            parts = value.args[0].value
            if isinstance(parts, cst.Name) and self.grows(parts.value):
                return joining_dimension(value), parts.value
        if last_word(value) in RESIZED:
            for size in target_sizes(value):
                if not isinstance(self.meaning(size), cst.Attribute) and self._resizes(size):
                    return None, self.function.module.code_for_node(size)
        for place, size in enumerate(sizes_given(value)):
            if self._resizes(size):
                return place, self.function.module.code_for_node(size)
        return None
