from __future__ import annotations

import ast
from collections.abc import Iterator
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Severity
from pt2lint.fixes import by_hand
from pt2lint.op import RECOMPILE_LIMIT, Op
from pt2lint.rule.compiled_call import Argument, CompiledCall, are_numbers, graphs_mode
from pt2lint.rule.loop_syntax import bindings, loops_around, unconditional
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import dotted, function_around, made, names
from pt2lint.rule.tree import is_name, parameters_in, walk

READS = ("item", "tolist")
PICKS = ("max", "min", "sum")
AS_INPUT = ("row", "read")  # uses for which a number is an input of the graph
DTYPES = (
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "half",
    "float",
    "double",
    "int32",
    "int64",
    "long",
    "bool",
)
IN_TURN = (
    "Call it once with each at the start, if that many graphs are meant; or give it tensors of one dtype and number of "
    "dimensions, made `contiguous()`, and decide by texts, flags and members where nothing is compiled"
)
SHAPED = ("randn", "rand", "zeros", "ones", "empty")
DECIDING = ("range", "index", "place", "constant")  # uses for which each number is a constant of the graph


def is_dtype(item: cst.BaseExpression) -> bool:
    """`torch.float16`"""
    return isinstance(item, cst.Attribute) and item.attr.value in DTYPES


def is_keyword(argument: cst.Arg, name: str) -> bool:
    return argument.keyword is not None and argument.keyword.value == name


def is_turned(item: cst.BaseExpression) -> bool:
    """`x.t()`, `x.T`, `x[::2]`: what is no row after row of the memory."""
    if isinstance(item, cst.Subscript):
        return any(isinstance(e.slice, cst.Slice) and e.slice.step is not None for e in item.slice)
    if isinstance(item, cst.Call):
        return isinstance(item.func, cst.Attribute) and item.func.attr.value in ("t", "transpose", "permute")
    return isinstance(item, cst.Attribute) and item.attr.value in ("T", "mT")


class ChangingArgument(CompiledCall):
    """Compiled code is given a number or a list that the data decide, or that differs in every iteration.

    ## What happens
    Dynamo compiles for exactly the number that it is given first. When the next call has another, it compiles once
    more, now with the number as an input of the graph; where the number decides what the graph is, each new one is
    compiled again (PTR207). So is each string of a loop that Dynamo left to Python (`for split in ("train", "val"):
    batch(split)`), where what is called looks at it. The length of a list is always part of the graph: each length
    is compiled again. A 0-dim tensor is never guarded on by value, and a list that is padded to one length, or
    given one by one, has the same each time. A module that is given brings its numbers with it: for each that has
    another number (`layer.index`), the function is compiled again. So does a dictionary or an object of which the
    function reads a number that is read out of a tensor, or set in every iteration, a tuple of such (`(h, w)`), and
    a function that is made with another number in every iteration: a `functools.partial`, a `lambda` or a nested
    function that looks the number up, what a factory returns. A learning rate that is read of an optimizer
    (`group["lr"]`) is another number wherever a schedule sets it: with `dynamic=False`, which people write for the
    step of an optimizer of their own, each is compiled again, until the limit. In the modes "reduce-overhead" and
    "max-autotune" a CUDA graph is recorded for each number, also where it is an input: for as many as there are
    positions in a text. The same goes for an option that a
    function hands on (`def sample(x, temperature: float)`, which gives it to compiled code): whoever calls it with
    another number has it compiled once more. A flag that some iterations set (`step < warmup`, `step % 10 == 0`) makes
    two graphs. So do the dtypes, shapes, texts and members of an enumeration that a loop goes over make one each.

    ## Example
    ```python
    import torch

    @torch.compile
    def step(x, sigma):
        return x - 0.1 * sigma

    def run():
        x = torch.ones(3)
        for sigma in torch.linspace(0.1, 0.9, 11):
            x = step(x, sigma.item())
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def step(x, sigma):
        return x - 0.1 * sigma

    def run():
        x = torch.ones(3)
        for sigma in torch.linspace(0.1, 0.9, 11):
            x = step(x, sigma)
    ```

    ## Versions
    Measured over 11 calls on torch 2.6, 2.9, 2.13 and 2.15: 1 recompilation for a number that enters the arithmetic
    or is a size, 8, and then eager, for a list whose length changes, and for one to which a loop counts; none for a
    tensor. In mode "reduce-overhead" 12 numbers are 12 CUDA graphs, and 12 values of a tensor one (2.11, on an H100).
    """

    code = "PTR220"
    name = "changing-argument"
    instead = MappingProxyType(
        {
            "": "Pass a tensor, which compiled code computes with as with a number; what asks for its value, as a test "
            "does, is better outside"
        }
    )
    severity = "note"
    without_tensors = True

    def looked_at(self, node: cst.Call, op: Op) -> None:
        turns = self.turns(node, op)
        told = len(self.findings)
        self.changing(node, op, turns)
        if len(self.findings) == told:
            self.handed_on(node, op)

    def handed_on(self, node: cst.Call, op: Op) -> None:
        """Numbers that the function at hand is given itself, and gives to compiled code as they are."""
        if op.name != "call compiled" or op.region or op.detail("named"):
            return
        options = [a for a in self.arguments(node, op) if a.use or not op.detail(f"name {a.key}")]
        options = [
            a
            for a in options
            if are_numbers(a.word) and self.is_option(a.value) and not self.is_input(a.use, op)
        ]
        if options:
            names = " and ".join(f"`{self.text(a.value)}`" for a in options)
            are = "is a Python number" if len(options) == 1 else "are Python numbers"
            decides = any(a.use.startswith(DECIDING) for a in options)
            often = "for each, until the limit" if decides or self.is_fixed(op) else "once, and then for any"
            self.report(
                options[0].value,
                self.shown(op, options[0].key, "is used here") if options[0].use else op,
                f"{names} {are} that a caller chooses: given another, {self.callee(op)} is compiled again, {often}; "
                f"{self.costless(options[0], op)}",
                severity="note",
            )

    def costless(self, argument: Argument, op: Op) -> str:
        """What would cost nothing. A tensor is no number where that is tested, counted to or picked by."""
        if argument.use.startswith(("range", "index", "constant")):
            return "always alike, it costs nothing"
        if argument.use == "place":
            return "given as a tensor of one dimension, or always alike, it costs nothing"
        if op.detail(f"number {argument.key}"):
            return "always alike, it costs nothing; as a tensor it would end the graph where its value is asked for"
        return "given as a tensor, or always alike, it costs nothing"

    def is_option(self, value: cst.BaseExpression) -> bool:
        """Whether it is a parameter of the function at hand, as it came."""
        here = function_around(self.function, value)
        if here is None or not isinstance(value, cst.Name):
            return False
        names = {p.name.value for p in parameters_in(here.params)}
        return value.value in names and value.value not in bindings(here.body)

    def changing(self, node: cst.Call, op: Op, turns: Turns) -> None:
        """Arguments that the code at hand shows to be others at another call."""
        for argument in (*self.arguments(node, op), *self.spread(node, op)):
            number = op.detail(f"numbers {argument.key}")
            if number and self.is_one_of_many(argument, op, turns):
                self.report(
                    argument.value,
                    op,
                    f"{self.quote(argument.value)} is a module whose number `{number}` {self.callee(op)} reads: "
                    "it is compiled again for each module that has another; given as a tensor, it is not",
                )
            if part := self.changing_part(argument, op, turns):
                decides = op.detail(f"use {argument.key}.{part}").startswith(DECIDING)
                self.report(
                    argument.value,
                    self.shown(op, argument.key),
                    f"{self.quote(argument.value)} holds `{part}`, another number at every call, for "
                    f"{self.callee(op)}: {'each is compiled again, until the limit' if decides else self.cost(op)}; "
                    "given as a tensor it costs nothing",
                    severity="warning" if decides else self.severity_of(op),
                )
                continue
            if in_turn := self.in_turn(argument, node, op):
                self.report(
                    argument.value,
                    self.shown(op, argument.key, "is used here") if argument.use else op,
                    f"{self.quote(argument.value)} {in_turn}: {self.callee(op)} is compiled for each of these once",
                    fixes=[by_hand.told(IN_TURN)],
                    severity="note",
                )
                continue
            if not argument.use and op.detail(f"name {argument.key}") and not self.is_bound(argument, turns):
                continue  # nothing is done with it
            if argument.use and turns.flag(argument.value):
                self.report(
                    argument.value,
                    self.shown(op, argument.key, "is used here"),
                    f"{self.quote(argument.value)} is True at some turns and False at others: {self.callee(op)} is "
                    "compiled for each of these once",
                    severity="note",
                )
                continue
            free = are_numbers(argument.word) and self.is_input(argument.use, op)
            what = "" if free or op.detail("no tensors") else self.what(argument, op, turns)
            if not what and op.name == "call apart" and argument.use and self.is_listed(argument.value, node):
                what = "is another string in every iteration"
            if what:
                each = "length" if "length" in what else "one" if "string" in what else ""
                if not each and argument.use.startswith(DECIDING) and "number" in what:
                    each = "one"  # a constant of the graph, where another number could be an input of it
                told = f"each {each} is compiled again" if each else self.cost(op)
                self.report(
                    argument.value,
                    self.shown(op, argument.key, "is used here"),
                    f"{self.quote(argument.value)} {what} for {self.callee(op)}: {told}; "
                    + ("always alike, it costs nothing" if each == "one" else self.costless(argument, op)),
                    severity="warning"
                    if each == "one"
                    and argument.use == "range"
                    and turns.are_any
                    and "some turns" not in what
                    else self.severity_of(op)
                    if "read out" in what or "in every iteration" in what
                    else None,
                )

    def cost(self, op: Op) -> str:
        if op.detail("compile dynamic") == "constant False":
            return "with `dynamic=False` each is compiled again, until the limit"
        again = "it is compiled for the first, and then again"
        mode = graphs_mode(op)
        return f"{again}, and mode {mode} records a CUDA graph for each of them" if mode else again

    def is_input(self, use: str, op: Op) -> bool:
        """Whether a number that is only computed with is an input of the graph from the first."""
        symbolic = op.detail("compile dynamic") == "constant True" and self.function.target > (2, 6)
        return symbolic and not use.startswith(DECIDING)

    def is_fixed(self, op: Op) -> bool:
        """Whether no number becomes an input of the graph."""
        return op.detail("compile dynamic") == "constant False" and self.function.target > (2, 6)

    def severity_of(self, op: Op) -> Severity | None:
        costly = op.detail("compile dynamic") == "constant False" or graphs_mode(op)
        return "warning" if costly else None

    def changing_part(self, argument: Argument, op: Op, turns: Turns) -> str:
        """What the compiled function reads of a dictionary or an object, and is another number at every call: read out
        of a tensor where it is made, or set in every iteration."""
        read = op.detail(f"parts {argument.key}").split()
        if not read:
            return ""
        made_of = made(self.function, argument.value)
        if made_of is argument.value and isinstance(made_of, cst.Name):
            made_of = turns.renewed(made_of.value) or made_of
        parts: list[tuple[str, cst.BaseExpression]] = []
        if isinstance(made_of, cst.Dict):
            for one in made_of.elements:
                key = one.key if isinstance(one, cst.DictElement) else None
                if isinstance(key, cst.SimpleString):
                    parts.append((str(key.evaluated_value), one.value))
        elif isinstance(made_of, cst.Call):
            names_given = [*self.fields(made_of)]
            for at, a in enumerate(made_of.args):
                if a.keyword is not None:
                    parts.append((a.keyword.value, a.value))
                elif not a.star and at < len(names_given):
                    parts.append((names_given[at], a.value))
        for name, value in parts:
            if name in read and self.changes(value, turns):
                return name
        if argument.word.startswith("dict") and self.is_held(argument, op, turns):
            return op.detail(f"read {argument.key}")
        parts_set = [*self.set_in(argument.value, turns), *self.advanced(argument, op, turns)]
        return next((n for n, changes in parts_set if n in read and changes), "")

    def advanced(self, argument: Argument, op: Op, turns: Turns) -> Iterator[tuple[str, bool]]:
        """What a method makes another number that each turn calls: `clock.tick()`."""
        by_method = [each.partition(":") for each in op.detail(f"advance {argument.key}").split()]
        for loop in turns.loops if by_method else ():
            for part in walk(loop.body):
                callee = part.func if isinstance(part, cst.Call) else None
                if isinstance(callee, cst.Attribute) and callee.value.deep_equals(argument.value):
                    for method, _, attribute in by_method:
                        if method == callee.attr.value:
                            yield attribute, unconditional(self.function, part, loop)

    def fields(self, call: cst.Call) -> Iterator[str]:
        """The names of what a class of the file is made of, in their order: under these `__init__`, or a dataclass,
        mostly keeps it."""
        tree = self.function.file_tree or ast.parse(self.function.source)
        found = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == dotted(call.func)]
        for each in found[0].body if len(found) == 1 else ():
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                yield from (a.arg for a in [*each.args.posonlyargs, *each.args.args][1:])
            elif (
                isinstance(each, ast.AnnAssign)
                and isinstance(each.target, ast.Name)
                and (found[0].decorator_list or any("NamedTuple" in ast.unparse(b) for b in found[0].bases))
            ):
                yield each.target.id

    def changes(self, value: cst.BaseExpression, turns: Turns) -> bool:
        return turns.number(value) or turns.fraction(value) or self.is_read(made(self.function, value))

    def set_in(self, place: cst.BaseExpression, turns: Turns) -> Iterator[tuple[str, bool]]:
        """What the loops around set, and whether to another number in every iteration: `options.rate = n / 10`,
        `options["rate"] = n / 10`, `cache.position += 1`."""
        name = place.value if isinstance(place, cst.Name) else ""
        for loop in turns.loops if name else ():
            for part in walk(loop.body):
                if not isinstance(part, cst.Assign | cst.AugAssign):
                    continue
                target = part.targets[0].target if isinstance(part, cst.Assign) else part.target
                if not isinstance(target, cst.Attribute | cst.Subscript) or not isinstance(
                    target.value, cst.Name
                ):
                    continue
                if target.value.value != name:
                    continue
                if isinstance(part, cst.Assign):
                    changes = self.changes(part.value, turns)
                else:
                    changes = isinstance(part.value, cst.Integer)
                if isinstance(target, cst.Attribute):
                    yield target.attr.value, changes
                elif len(target.slice) == 1 and isinstance(index := target.slice[0].slice, cst.Index):
                    if isinstance(index.value, cst.SimpleString):
                        yield str(index.value.evaluated_value), changes

    def what(self, argument: Argument, op: Op, turns: Turns) -> str:
        value, word = argument.value, argument.word
        if "tensor" in word and not word.startswith(("list", "tuple")):
            return ""
        meaning = made(self.function, value)
        if self.is_read(meaning) or self.is_held(argument, op, turns):
            return "is read out of a tensor, another time another number,"
        if self.is_picked(meaning) and not word.startswith(("list", "tuple")):
            return "is a number that the data decide"
        if argument.use and self.is_rate(value, turns):
            return "is a learning rate, which a schedule sets to other numbers,"
        if self.is_bound(argument, turns):
            return "is made with another number in every iteration"
        listed = turns.meaning(value) if argument.use in AS_INPUT and turns.are_any else None
        if isinstance(listed, cst.Tuple | cst.List) and any(
            turns.number(e.value) or turns.fraction(e.value) for e in listed.elements
        ):
            return "holds another number in every iteration"
        if self.is_fixed(op) and (turns.number(value) or turns.fraction(value)):
            return ""  # PTR207 tells it
        read = argument.use in AS_INPUT or (argument.use == "array" and not turns.number(value))
        # What nothing is known of was given to be compiled: who gives it a number means it to be computed with.
        read = read or (not op.detail("to") and are_numbers(word))
        if read and turns.are_any and self.is_another(argument, op, meaning, turns):
            return "is another number in every iteration"
        if read and word.startswith(("int", "unknown")) and turns.stepped(value):
            return "is another number after some turns"
        if argument.use.startswith(DECIDING) and turns.are_any and turns.stepped(value):
            if are_numbers(word) or word == "unknown":
                return "is another number after some turns"
        if word.startswith(("list", "tuple", "unknown")) and self.is_filtered(value):
            return "is a list whose length changes"
        return ""

    def is_bound(self, argument: Argument, turns: Turns) -> bool:
        """Whether it is a function that is made with another number in every iteration: `partial(f, k=n)`, what a turn
        defines, or what a function returns that is given the number."""
        return turns.bound_in(argument.value) or (
            argument.word == "function" and turns.helped(argument.value)
        )

    def is_rate(self, value: cst.BaseExpression, turns: Turns) -> bool:
        """`group["lr"]` of a loop over `self.param_groups`, `optimizer.param_groups[0]["lr"]`,
        `scheduler.get_last_lr()[0]`."""
        value = turns.meaning(made(self.function, value))
        index = value.slice[0].slice if isinstance(value, cst.Subscript) else None
        if not isinstance(value, cst.Subscript) or not isinstance(index, cst.Index):
            return False
        whose = value.value
        if isinstance(index.value, cst.Integer):
            return isinstance(whose, cst.Call) and dotted(whose.func).endswith(".get_last_lr")
        if not isinstance(index.value, cst.SimpleString) or index.value.evaluated_value != "lr":
            return False
        if isinstance(whose, cst.Subscript):
            return dotted(whose.value).endswith("param_groups")
        return isinstance(whose, cst.Name) and any(
            isinstance(loop, cst.For)
            and any(n.value == whose.value for n in names(loop.target))
            and any(n.value == "param_groups" for n in names(loop.iter))
            for loop in turns.loops
        )

    def in_turn(self, argument: Argument, node: cst.Call, op: Op) -> str:
        """How what is given differs between the turns of a loop over a few things that are written out: texts, flags,
        members of an enumeration, functions, dtypes, shapes, tensors of other strides."""
        if op.name != "call compiled":
            return ""
        value = argument.value
        for loop in loops_around(self.function, node):
            if not isinstance(loop, cst.For) or not isinstance(loop.target, cst.Name):
                continue
            name = loop.target.value
            if is_name(value, name) and self.is_enumeration(loop.iter):
                return "is another member at each turn"
            if not argument.use and op.detail(f"name {argument.key}"):
                continue  # nothing is done with it
            listed = self.at_top(made(self.function, loop.iter))
            items = [e.value for e in listed.elements] if isinstance(listed, cst.List | cst.Tuple) else []
            if not 1 < len({self.text(i) for i in items}) <= RECOMPILE_LIMIT:
                continue
            if is_name(value, name):
                return self.differ(items, argument)
            given = made(self.function, value)
            if not isinstance(given, cst.Call) or name in {n.value for n in names(given.func)}:
                continue
            by = [a for a in given.args if is_name(a.value, name)]
            if (
                by
                and all(map(is_dtype, items))
                and (dotted(given.func).endswith(".to") or is_keyword(by[0], "dtype"))
            ):
                return "is of another dtype at each turn"
            lengths = {len(i.elements) for i in items if isinstance(i, cst.Tuple | cst.List)}
            if (
                by
                and by[0] is given.args[0]
                and len(lengths) > 1
                and dotted(given.func).rpartition(".")[2] in SHAPED
            ):
                return "has another number of dimensions at each turn"
        return ""

    def at_top(self, value: cst.BaseExpression) -> cst.BaseExpression:
        """What the script's own code gives a name, if once."""
        tree = self.function.file_tree
        found = [
            n.value
            for n in (tree.body if tree and isinstance(value, cst.Name) else ())
            if isinstance(n, ast.Assign) and any(dotted(value) == ast.unparse(t) for t in n.targets)
        ]
        return cst.parse_expression(ast.unparse(found[0])) if len(found) == 1 else value

    def differ(self, items: list[cst.BaseExpression], argument: Argument) -> str:
        texts = argument.use and all(isinstance(i, cst.SimpleString) for i in items)
        if texts or (argument.use and all(is_name(i, "True") or is_name(i, "False") for i in items)):
            return "is another text at each turn" if texts else "is True at some turns and False at others"
        if all(map(is_dtype, items)):
            return "is another dtype at each turn"
        return "has other strides at some turns" if len(set(map(is_turned, items))) > 1 else ""

    def is_enumeration(self, over: cst.BaseExpression) -> bool:
        """`for mode in Mode` of a class of the file."""
        tree = self.function.file_tree
        return isinstance(over, cst.Name) and any(
            isinstance(n, ast.ClassDef)
            and n.name == over.value
            and any(ast.unparse(b).endswith("Enum") for b in n.bases)
            for n in (tree.body if tree else ())
        )

    def is_listed(self, value: cst.BaseExpression, node: cst.Call) -> bool:
        """Whether a loop around goes over texts that are written out, and it is the one of this turn."""
        return isinstance(value, cst.Name) and any(
            isinstance(loop, cst.For)
            and is_name(loop.target, value.value)
            and isinstance(loop.iter, cst.List | cst.Tuple)
            and len(loop.iter.elements) > 1
            and all(isinstance(each.value, cst.SimpleString) for each in loop.iter.elements)
            for loop in loops_around(self.function, node)
        )

    def is_another(self, argument: Argument, op: Op, meaning: cst.BaseExpression, turns: Turns) -> bool:
        """Whether it is a number, and another one in every iteration."""
        value, word = argument.value, argument.word
        if not are_numbers(word):
            # What the code itself compiles computes, and so does what is given a tensor.
            compiled = op.name == "call compiled" and not op.detail("named")
            computes = compiled or any("tensor" in str(given) for given in op.args.values())
            changes = turns.number(value) or turns.fraction(value)
            return computes and changes and turns.of_counts_alone(value)
        return (
            turns.picks(value)
            or turns.number(value)
            or turns.fraction(value)
            or turns.item(value)
            or turns.helped(meaning)
        )

    def is_one_of_many(self, argument: Argument, op: Op, turns: Turns) -> bool:
        """Whether the function is called with other modules too: in a loop over them, elsewhere in the function, or
        from a method of each."""
        if turns.item(argument.value) or self.text(argument.value) == "self":
            return True
        others = [
            self.text(given.value)
            for other in self.function.ops
            if other.name == op.name and other.detail("to") == op.detail("to")
            if isinstance(call := self.function.node_at(other.range), cst.Call)
            for given in self.arguments(call, other)
            if given.key == argument.key
        ]
        return len(set(others)) > 1

    def is_read(self, value: cst.BaseExpression, depth: int = 2) -> bool:
        """`t.item()`, `t.tolist()`, `int(mask.sum())`, `int(mask.sum()) + 1`"""
        if isinstance(value, cst.BinaryOperation):
            sides = (value.left, value.right) if depth else ()
            return any(self.is_read(made(self.function, side), depth - 1) for side in sides)
        if not isinstance(value, cst.Call):
            return False
        if isinstance(value.func, cst.Attribute):
            return value.func.attr.value in READS and not value.args
        inside = (
            isinstance(value.func, cst.Name) and value.func.value in ("int", "float") and len(value.args) == 1
        )
        inner = value.args[0].value if inside else None
        return (
            isinstance(inner, cst.Call)
            and isinstance(inner.func, cst.Attribute)
            and inner.func.attr.value in (*PICKS, *READS, "mean")
        )

    def is_held(self, argument: Argument, op: Op, turns: Turns) -> bool:
        """Whether it is a dictionary that a turn makes, and holds a number read out of a tensor, or that number:
        `batch["longest"]` of `batch = collate(samples)`."""
        held, read = argument.value, op.detail(f"read {argument.key}")
        is_item = isinstance(held, cst.Subscript) and read == "number"
        whose = held.value if isinstance(held, cst.Subscript) else held
        if not read or not (is_item or argument.word.startswith("dict")):
            return False
        return isinstance(held, cst.Call) or (
            isinstance(whose, cst.Name) and any(whose.value in bindings(loop.body) for loop in turns.loops)
        )

    def is_picked(self, value: cst.BaseExpression) -> bool:
        """`max(lengths)`"""
        return (
            isinstance(value, cst.Call)
            and isinstance(value.func, cst.Name)
            and value.func.value in PICKS
            and len(value.args) == 1
            and isinstance(value.args[0].value, cst.Name | cst.Attribute | cst.Subscript | cst.GeneratorExp)
        )

    def is_filtered(self, value: cst.BaseExpression) -> bool:
        """What a test leaves of a list, or what is unzipped or made of such."""
        meaning = made(self.function, value)
        if isinstance(meaning, cst.ListComp):
            return bool(meaning.for_in.ifs) or (
                meaning.for_in.inner_for_in is None and self.is_left_over(meaning.for_in.iter)
            )
        if isinstance(meaning, cst.Call) and isinstance(meaning.func, cst.Name) and len(meaning.args) == 1:
            return meaning.func.value in ("list", "tuple") and self.is_left_over(meaning.args[0].value)
        return self.is_left_over(value)

    def is_left_over(self, value: cst.BaseExpression) -> bool:
        """Whether it is the name of what a loop keeps of a list."""
        return isinstance(value, cst.Name) and (
            self.is_appended(value.value) or self.is_unzipped(value.value)
        )

    def is_unzipped(self, name: str) -> bool:
        """`xs, ys = zip(*pairs)`"""
        for part in walk(self.function.module):
            if isinstance(part, cst.Assign) and isinstance(part.targets[0].target, cst.Tuple):
                call = part.value
                bound = {n.value for n in names(part.targets[0].target)}
                if (
                    name in bound
                    and isinstance(call, cst.Call)
                    and len(call.args) == 1
                    and call.args[0].star == "*"
                ):
                    inner = call.args[0].value
                    return isinstance(inner, cst.Name) and self.is_appended(inner.value)
        return False

    def is_appended(self, name: str) -> bool:
        """Whether a loop appends to it in some of its turns."""
        for part in walk(self.function.module):
            if (
                isinstance(part, cst.Call)
                and isinstance(part.func, cst.Attribute)
                and part.func.attr.value == "append"
                and is_name(part.func.value, name)
            ):
                tested = False
                here = self.function.parent(part)
                while here is not None and not isinstance(here, cst.FunctionDef):
                    tested = tested or isinstance(here, cst.If)
                    if isinstance(here, cst.For | cst.While):
                        skips = any(isinstance(p, cst.Continue) for p in walk(here.body))
                        return tested or skips
                    here = self.function.parent(here)
        return False
