"""Positions inside of images whose sizes are in a tensor, made image by image: computed for all rows at once."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.file import class_around, file_of, layers
from pt2lint.fixes.purity import callee
from pt2lint.fixes.repairs import rows
from pt2lint.fixes.rewrite import (
    ENDS,
    New,
    Refusal,
    Refused,
    Repaired,
    accepted,
    ancestors,
    block_of,
    enclosing_function,
    fix,
    fresh,
    in_parentheses,
    live_after,
    qualified,
    refusing,
    replaced,
    rewrite,
    small_of,
    source,
    statements,
    torch_name,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import placed, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair, where the node stands in such a loop, or is the list that it goes over."""
    alone = all_rows(function, node)
    return accepted(alone, *_with_tables(function, node, alone))


def _with_tables(function: FunctionCode, node: cst.CSTNode, alone: Repaired) -> Iterator[Repaired]:
    """The repair, and that of a table which the positions are looked up in: how long it is, a tensor says as well."""
    loop = next((one for one in ancestors(function, node) if isinstance(one, cst.For)), None)
    owner = enclosing_function(function, node)
    if not isinstance(alone, Fix) or loop is None or owner is None:
        return
    end = function.range(loop)[2:]
    tree = file_of(function).tree
    classes_of: dict[str, set[str]] = {}
    for name, of in layers(tree):
        classes_of.setdefault(name, set()).add(of)
    for call in walk(owner.body):
        if not isinstance(call, cst.Call) or function.range(call)[:2] < end:
            continue
        places = [(function, call)] if qualified(function, call.func) == "torch.arange" else []
        layer = source(function, call.func).removeprefix("self.")
        classes = classes_of.get(layer, ())
        for made in (one for one in tree.body if isinstance(one, ast.ClassDef) and one.name in classes):
            forward = next((one for one in made.body if getattr(one, "name", "") == "forward"), None)
            there = neighbour(function, forward.lineno) if forward else None
            for one in walk(there.module) if there is not None else ():
                if there is not None and isinstance(one, cst.Call) and callee(one) == "arange":
                    places.append((there, one))
        for code, table in places:
            shorter = rows.looked_up(code, table)
            if isinstance(shorter, Fix):
                said = alone.description.partition(f" {ENDS['once proven']}")[0]
                yield fix(
                    f"{said} {shorter.description}",
                    dict.fromkeys((*alone.edits, *shorter.edits)),
                    *alone.traits,
                )


@refusing
def all_rows(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`for t, h, w in grid:`, which appends positions that are made of `torch.arange(h)` by views alone, and the
    `torch.cat` of them: the same computed from the place of each row in its image.

    How many rows there are is an argument, which callers in the file take from the tensor that they are given. Unsafe:
    this tensor may have another number of rows.
    """
    loop = next((one for one in ancestors(function, node) if isinstance(one, cst.For)), None)
    owner = enclosing_function(function, node)
    if loop is None or owner is None or owner.params.star_kwarg or not function.source:
        return Refusal("no loop over the rows of a tensor")
    read = _Loop(function, loop)
    images, end = read.images(), read.end()
    if any(live_after(function, name, [loop]) for name in (*read.names, *read.env) if name != read.collected):
        return Refusal("what the loop makes is read after it")
    given = fresh(function, "num_rows")
    lines = images.written(function, read, given)
    calls = _callers(function, owner)
    short = [f"{name} = {text}" for text, name in read.short.items()]
    made = statements(function, [*short, *lines, *read.columns(end)])
    made[0] = made[0].with_changes(leading_lines=loop.leading_lines)
    begin, *_ = read.begin()
    new: dict[cst.CSTNode, New] = {begin: None, loop: made, end: read.returned(end)}
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    argument = cst.Param(cst.Name(given), default=cst.Name("None"), equal=equal)
    new[owner.params] = owner.params.with_changes(params=[*owner.params.params, argument])
    _, imports = torch_name(function, "torch.repeat_interleave")
    edits = [*imports, *rewrite(function, new)]
    for there, call, text in calls:
        more = cst.Arg(cst.parse_expression(text))
        edits += rewrite(there, {call: call.with_changes(args=[*_spaced(call.args), more])})
    return fix(
        f"Compute the positions of all rows at once, from the place of each in its image: no size is read out of a "
        f"tensor. How many rows there are is an argument, `{given}`; without it eager mode finds out as before. It "
        f"assumes that {' and '.join(f'`{text}`' for text in dict.fromkeys(text for _, _, text in calls))} is that "
        "number.",
        edits,
        "once proven",
        "whole numbers",
    )


def _spaced(args: Sequence[cst.Arg]) -> list[cst.Arg]:
    """The arguments as they stand when another one comes after them."""
    after = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [*args[:-1], args[-1].with_changes(comma=after)]


@dataclass
class _View:
    """A tensor of positions: its sizes, and the element at some indices, in source. A size is counted by its factors:
    `h // m` is {"h": 1, "m": -1}."""

    sizes: list[Counter[str]]
    element: Callable[[list[str]], str]


def _product(sizes: Sequence[Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in sizes:
        for factor, power in one.items():
            found[factor] += power
    return Counter({factor: power for factor, power in found.items() if power})


def _text(size: Counter[str]) -> str:
    above = [factor for factor, power in size.items() for _ in range(power)]
    below = [factor for factor, power in size.items() for _ in range(-power)]
    text = " * ".join(above) or "1"
    return " // ".join([text, *below])


def _joined(indices: Sequence[str], sizes: Sequence[Counter[str]]) -> str:
    """The index of one dimension that was split into several."""
    found = ""
    for index, size in zip(indices, sizes, strict=True):
        before = (
            f"{in_parentheses(found) if '+' in found else found} * {in_parentheses(_text(size))}"
            if found
            else ""
        )
        found = " + ".join(one for one in (before, index) if one and one != "0")
    return found or "0"


def _apart(place: str, sizes: Sequence[Counter[str]]) -> list[str]:
    """The indices of several dimensions that were made one."""
    found = []
    for at, size in enumerate(sizes):
        behind = _product(sizes[at + 1 :])
        text = place if not behind else f"{place} // {in_parentheses(_text(behind))}"
        found.append("0" if not size else text if not at else f"{text} % {in_parentheses(_text(size))}")
    return found


class _Loop:
    """The loop, its turns computed by what is known of them: `env` holds what its names are."""

    def __init__(self, function: FunctionCode, loop: cst.For) -> None:
        self.function, self.loop = function, loop
        self.env: dict[str, _View | list[_View]] = {}
        self.collected = ""
        self.place = fresh(function, "place")  # of a row in its image
        self.short: dict[str, str] = {}  # the names that attributes are given
        self.repeated: Counter[str] = Counter()
        self.result: list[tuple[str, _View]] = []
        self.tensors, self.names = self.header()

    def header(self) -> tuple[list[tuple[str, list[str]]], list[str]]:
        """What is gone over, each with the names of its numbers, and all these names."""
        over, target = self.loop.iter, self.loop.target
        pairs: list[tuple[cst.BaseExpression, cst.CSTNode]] = [(over, target)]
        if isinstance(over, cst.Call) and source(self.function, over.func) == "zip":
            if not isinstance(target, cst.Tuple) or len(target.elements) != len(over.args):
                raise Refused("the loop goes over something else")
            pairs = [(arg.value, one.value) for arg, one in zip(over.args, target.elements, strict=True)]
        found: list[tuple[str, list[str]]] = []
        for value, names in pairs:
            if isinstance(value, cst.Call) and callee(value) == "tolist" and not value.args:
                value = getattr(value.func, "value", value)
            parts = [names]
            if isinstance(names, cst.Tuple):
                parts = [one.value if isinstance(one, cst.Element) else one for one in names.elements]
            if not isinstance(value, cst.Name) or not all(isinstance(one, cst.Name) for one in parts):
                raise Refused("the loop goes over something else")
            found.append((value.value, [source(self.function, one) for one in parts]))
        if len(found[0][1]) < 2:
            raise Refused("the rows are not unpacked")
        return found, [name for _, names in found for name in names]

    def begin(self) -> tuple[cst.CSTNode, Sequence[cst.CSTNode], int]:
        place = block_of(self.function, self.loop)
        if place is None or not place[1] or len(place[0]) == place[1] + 1:
            raise Refused("nothing is collected")
        block, at = place
        only = small_of(block[at - 1])
        if not isinstance(only, cst.Assign) or not isinstance(only.value, cst.List) or only.value.elements:
            raise Refused("nothing is collected")
        self.collected = source(self.function, only.targets[0].target)
        return block[at - 1], block, at

    def end(self) -> cst.CSTNode:
        """The statement after the loop, which puts together what was collected."""
        _, block, at = self.begin()
        only = small_of(block[at + 1])
        call = only.value if isinstance(only, cst.Assign | cst.Return) else None
        if not isinstance(call, cst.Call) or qualified(self.function, call.func) not in (
            "torch.cat",
            "torch.concat",
        ):
            raise Refused("what is collected is not put together")
        given = [source(self.function, one.value) for one in call.args]
        if given not in ([self.collected], [self.collected, "0"]):
            raise Refused("what is collected is not put together")
        return block[at + 1]

    def images(self) -> _Images:
        self.begin()
        for statement in self.loop.body.body:
            only = small_of(statement)
            if isinstance(only, cst.Assign) and len(only.targets) == 1:
                target = only.targets[0].target
                if not isinstance(target, cst.Name) or target.value in (*self.names, self.collected):
                    raise Refused("the loop does more than to make positions")
                self.env[target.value] = self.value(only.value)
            elif isinstance(only, cst.Expr) and isinstance(only.value, cst.Call) and not self.result:
                self.append(only.value)
            else:
                raise Refused("the loop does more than to make positions")
        if not self.result:
            raise Refused("nothing is collected")
        each = _product(self.result[0][1].sizes)
        if any(_product(one.sizes) != each for _, one in self.result):
            raise Refused("positions of other lengths are collected")
        return _Images(self.tensors, each, _product([self.repeated, each]))

    def append(self, call: cst.Call) -> None:
        if source(self.function, call.func) != f"{self.collected}.append" or len(call.args) != 1:
            raise Refused("the loop does more than to make positions")
        value = call.args[0].value
        if (
            isinstance(value, cst.Call)
            and isinstance(value.func, cst.Attribute)
            and callee(value) == "repeat"
            and len(value.args) == 2
        ):
            times, once = (one.value for one in value.args)
            if source(self.function, once) != "1":
                raise Refused("positions are repeated in another way")
            self.repeated = self.size(times)
            value = value.func.value
        if not isinstance(value, cst.Call) or qualified(self.function, value.func) != "torch.stack":
            raise Refused("positions are not stacked")
        first, *more = value.args
        if not isinstance(first.value, cst.List | cst.Tuple) or [
            source(self.function, one.value) for one in more
        ] not in (["-1"], ["1"]):
            raise Refused("positions are not stacked")
        for one in first.value.elements:
            view = self.value(one.value)
            if len(view.sizes) != 1:
                raise Refused("positions have more dimensions")
            base = one.value
            while isinstance(base, cst.Call) and isinstance(base.func, cst.Attribute):
                base = base.func.value
            name = base.value if isinstance(base, cst.Name) and base.value in self.env else "position"
            self.result.append((name, view))

    def size(self, node: cst.BaseExpression) -> Counter[str]:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
            below = Counter({factor: -power for factor, power in self.size(node.right).items()})
            return _product([self.size(node.left), below])
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            return _product([self.size(node.left), self.size(node.right)])
        if isinstance(node, cst.Integer):
            return Counter() if node.value == "1" else Counter({node.value: 1})
        head = dotted(node).partition(".")[0]
        if not head or head in self.env:
            raise Refused("a size is computed")
        text = source(self.function, node)
        if isinstance(node, cst.Attribute):
            if text not in self.short:
                self.short[text] = fresh(self.function, node.attr.value)
            text = self.short[text]
        return Counter({text: 1})

    def value(self, node: cst.BaseExpression) -> _View:
        if isinstance(node, cst.Name):
            found = self.env.get(node.value)
            if isinstance(found, _View):
                return found
        if not isinstance(node, cst.Call):
            raise Refused("the loop does more than to make positions")
        if qualified(self.function, node.func) == "torch.arange":
            sizes = [one.value for one in node.args if one.keyword is None]
            named = [one.keyword.value for one in node.args if one.keyword is not None]
            if len(sizes) != 1 or not set(named) <= {"device"}:
                raise Refused("positions do not start at zero")
            return _View([self.size(sizes[0])], lambda at: at[0])
        if not isinstance(node.func, cst.Attribute) or any(one.keyword or one.star for one in node.args):
            raise Refused("the loop does more than to make positions")
        name, given = node.func.attr.value, [one.value for one in node.args]
        method = getattr(self, f"_{name}", None) if name in _VIEWS else None
        if method is None:
            raise Refused(f"`{name}` is no view that is known")
        made: _View = method(self.value(node.func.value), given)
        return made

    def number(self, node: cst.BaseExpression) -> int:
        try:
            return int(source(self.function, node))
        except ValueError:
            raise Refused("a dimension is computed") from None

    def _unsqueeze(self, view: _View, given: Sequence[cst.BaseExpression]) -> _View:
        if len(given) != 1:
            raise Refused("no dimension is told")
        at = self.number(given[0]) % (len(view.sizes) + 1)
        sizes = [*view.sizes[:at], Counter[str](), *view.sizes[at:]]
        return _View(sizes, lambda index: view.element([*index[:at], *index[at + 1 :]]))

    def _expand(self, view: _View, given: Sequence[cst.BaseExpression]) -> _View:
        if len(given) != len(view.sizes):
            raise Refused("it is expanded to more dimensions")
        kept = [
            source(self.function, one) == "-1" or self.size(one) == size
            for one, size in zip(given, view.sizes, strict=True)
        ]
        if any(size and not stays for size, stays in zip(view.sizes, kept, strict=True)):
            raise Refused("it is expanded in another way")
        sizes = [
            size if stays else self.size(one)
            for one, size, stays in zip(given, view.sizes, kept, strict=True)
        ]
        return _View(
            sizes,
            lambda at: view.element([one if stays else "0" for one, stays in zip(at, kept, strict=True)]),
        )

    def _permute(self, view: _View, given: Sequence[cst.BaseExpression]) -> _View:
        order = [self.number(one) for one in given]
        if sorted(order) != [*range(len(view.sizes))]:
            raise Refused("dimensions are counted from the end")
        return _View(
            [view.sizes[one] for one in order],
            lambda at: view.element([at[order.index(n)] for n in range(len(at))]),
        )

    def _reshape(self, view: _View, given: Sequence[cst.BaseExpression]) -> _View:
        sizes = [self.size(one) for one in given]
        groups: list[list[Counter[str]]] = []
        left = [*sizes]
        for size in view.sizes:
            group: list[Counter[str]] = []
            while left and _product(group) != size:
                group.append(left.pop(0))
            if _product(group) != size:
                raise Refused("it is reshaped in another way")
            groups.append(group)
        if any(left):
            raise Refused("it is reshaped in another way")

        def element(at: list[str]) -> str:
            found, first = [], 0
            for group in groups:
                found.append(_joined(at[first : first + len(group)], group))
                first += len(group)
            return view.element(found)

        return _View(sizes, element)

    _view = _reshape

    def _flatten(self, view: _View, given: Sequence[cst.BaseExpression]) -> _View:
        if given:
            raise Refused("a part is flattened")
        sizes = view.sizes
        return _View([_product(sizes)], lambda at: view.element(_apart(at[0], sizes)))

    def columns(self, end: cst.CSTNode) -> list[str]:
        """The statements that compute the positions, and stack them."""
        function = self.function
        names = [name if name in self.env else fresh(function, name) for name, _ in self.result]
        lines = [
            f"{name} = {view.element([self.place])}"
            for name, (_, view) in zip(names, self.result, strict=True)
        ]
        only = small_of(end)
        result = source(function, only.targets[0].target) if isinstance(only, cst.Assign) else self.collected
        stack, _ = torch_name(function, "torch.stack")
        return [*lines, f"{result} = {stack}([{', '.join(names)}], dim=-1)"]

    def returned(self, end: cst.CSTNode) -> cst.CSTNode | None:
        """What is left of the statement that put together what was collected."""
        only = small_of(end)
        if not isinstance(only, cst.Return) or only.value is None:
            return None
        return replaced(end, {only.value: cst.Name(self.collected)})


_VIEWS = ("unsqueeze", "expand", "permute", "reshape", "view", "flatten")


@dataclass
class _Images:
    """What is gone over, how many rows a turn makes before they are repeated, and how many in all."""

    tensors: list[tuple[str, list[str]]]
    each: Counter[str]
    count: Counter[str]

    def written(self, function: FunctionCode, loop: _Loop, given: str) -> list[str]:
        """The statements that say, of each row, which image it is of, what that one's sizes are, and where in it."""
        counts, image = fresh(function, "counts"), fresh(function, "image")
        repeat, _ = torch_name(function, "torch.repeat_interleave")
        arange, _ = torch_name(function, "torch.arange")
        first = self.tensors[0][0]
        unpacked = [
            f"{', '.join(names)} = {name}.unbind(1)" if len(names) > 1 else f"{names[0]} = {name}"
            for name, names in self.tensors
            if set(names) & {*self.count}
        ]
        again = [
            f"{', '.join(names)} = {name}[{image}].unbind(1)"
            if len(names) > 1
            else f"{names[0]} = {name}[{image}]"
            for name, names in self.tensors
        ]
        lines = [
            *unpacked,
            f"{counts} = {_text(self.count)}",
            f"{image} = {repeat}({counts}, output_size={given})",
            f"{loop.place} = {arange}({image}.shape[0], device={first}.device)"
            f" - ({counts}.cumsum(0) - {counts})[{image}]",
            *again,
        ]
        if self.count != self.each:
            lines.append(f"{loop.place} = {loop.place} % {in_parentheses(_text(self.each))}")
        return lines


def _callers(function: FunctionCode, owner: cst.FunctionDef) -> list[tuple[FunctionCode, cst.Call, str]]:
    """The calls of the function in its file, each with what tells its number of rows there."""
    tree, name = file_of(function).tree, owner.name.value
    called = {name}
    around = class_around(function, function.first_line)
    if name == "forward" and around is not None:
        # `self.table = Table()` in an `__init__`, then `self.table(...)`
        called = {name for name, made in layers(tree) if made == around.name}
    found: list[tuple[FunctionCode, cst.Call, str]] = []
    lines = sorted(
        {
            one.lineno
            for one in file_of(function).nodes
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in called
        }
    )
    for line in lines:
        there = neighbour(function, line)
        for one in walk(there.module) if there is not None else ():
            if there is None or not isinstance(one, cst.Call) or there.range(one)[0] != line:
                continue
            if callee(one) not in called or not source(there, one.func).startswith("self."):
                continue
            text = _rows_there(there, one)
            if text is None or any(arg.keyword or arg.star for arg in one.args):
                raise Refused("nothing tells the caller how many rows there are")
            if len(one.args) == len(placed(owner.params)) - 1:
                found.append((there, one, text))
    if not found:
        raise Refused("nobody in the file calls it")
    return found


def _rows_there(there: FunctionCode, call: cst.Call) -> str | None:
    """The number of rows of the first argument of the caller that is no argument of the call."""
    owner = enclosing_function(there, call)
    given = {source(there, one.value) for one in call.args}
    names = [one.name.value for one in placed(owner.params)[1:]] if owner is not None else []
    first = next((name for name in names if name not in given), None)
    return f"{first}.shape[0]" if first else None
