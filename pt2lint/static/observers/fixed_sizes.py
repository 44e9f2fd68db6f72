"""Sizes of what a compiled function is given that its code makes constants: another one is compiled again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import FunctionNode, is_name, is_range, last_word, parameters_in, parts, walk
from pt2lint.static.values import Ext, Func, Instance, Tensor, Value, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
THROUGH = ("enumerate", "zip", "reversed", "list", "tuple")  # what goes over the same things
PRINTS = ("print", "warn", "log", "debug", "info", "warning", "error", "exception", "critical")
MAX_DEPTH = 4  # names for names


class FixedSizes:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._looked_at: dict[FunctionNode, list[tuple[ast.stmt, ast.AST]]] = {}

    def entered(self, func: Func, node: Any, frame: Frame, callee: Frame) -> None:
        """A function that compiling starts with: what it does in any case."""
        definition = func.node
        if not callee.region or not callee.module.linted:
            return
        if isinstance(definition, ast.Lambda) or not self.is_step(definition, callee):
            return
        if not self.at.notebook.listens("fix size", callee):
            return
        given = {p.arg for p in parameters_in(definition.args)}
        if definition not in self._looked_at:  # of a function that is entered again and again
            self._looked_at[definition] = [*_parts_in_any_case(definition)]
        for statement, part in self._looked_at[definition]:
            spelled = [] if _is_printed(statement) else _spelled(part)
            if size := next((size for one in spelled if (size := _size_or_all(one, definition, given))), ""):
                assert isinstance(part, ast.expr)
                self.note(part, callee, "symbol", size)
            elif isinstance(part, ast.If):
                size = self.tested(part.test, definition, given)
                if size and not isinstance(part.body[-1], ast.Raise):
                    self.note(part.test, callee, "decides", size)
            elif isinstance(part, COMPREHENSIONS):
                over = part.generators[0].iter
                if is_range(over) and (size := _bounding(over, definition, given)):
                    self.note(over, callee, "range", size)
            elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    if isinstance(one, ast.List) and (size := _size(other, definition, given)):
                        self.note(part, callee, "length", size)
            elif isinstance(part, ast.JoinedStr) and not _is_printed(statement):
                self.written(part, definition, given, callee, statement)
            elif isinstance(part, ast.Call):
                self.kept(part, func, given, callee)

    def written(
        self,
        text: ast.JoinedStr,
        definition: FunctionNode,
        given: set[str],
        frame: Frame,
        statement: ast.stmt | None = None,
    ) -> None:
        """`statement` holds the text, unless a call does that it is given to."""
        shown = [part for part in text.values if isinstance(part, ast.FormattedValue)]
        sizes = [(part, size) for part in shown if (size := _size(part.value, definition, given))]
        formatted = [size for part, size in sizes if _is_format_of_numbers(part)]
        if formatted and statement is not None and _is_wanted(text, statement):
            self.note(text, frame, "formatted", formatted[0])
        elif sizes:
            self.note(text, frame, "text", sizes[0][1])

    def kept(self, call: ast.Call, func: Func, given: set[str], frame: Frame) -> None:
        """`avg_pool2d(x, x.shape[-1])`: a function of torch keeps the number as a constant."""
        callee, models = call.func, self.at.models
        if dotted(callee) is None:
            return  # `x.relu().relu()`: each call of a chain holds those before it
        value = self.at.expressions.quietly(callee, {}, frame)
        if not isinstance(value, Ext) or value.receiver is not None:
            return
        arguments: dict[int | str | None, ast.expr] = {**dict(enumerate(call.args))}
        arguments |= {k.arg: k.value for k in call.keywords}
        for places in models.of(value.name).baked:
            for argument in (arguments[place] for place in places if place in arguments):
                assert not isinstance(func.node, ast.Lambda)
                parts_of = argument.elts if isinstance(argument, ast.Tuple) else [argument]
                size = next(filter(None, (_size(one, func.node, given) for one in parts_of)), "")
                if size := size or _shape(argument, func.node, given):
                    self.note(argument, frame, "kept", size)

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        """`for i in range(x.shape[1])`, `for row in x`"""
        definition = self.at.functions.running()
        if definition is None or isinstance(node, ast.While) or not frame.region:
            return
        if not self.is_step(definition, frame) or not self.at.notebook.listens("fix size", frame):
            return
        given = {p.arg for p in parameters_in(definition.args)}
        source = node.iter
        if isinstance(source, ast.Call) and last_word(source.func) == "reversed" and source.args:
            source = source.args[0] if is_range(source.args[0]) else source  # the last turn first
        if is_range(source):
            if size := _bounding(source, definition, given):
                self.note(source, frame, "range", size)
            return
        rows = [*_gone_over(source)]
        for part in rows:
            if not isinstance(part, ast.Name) or part.id not in given or not _as_given(part, definition):
                return
            found = options(env[part.id]) if part.id in env else ()
            if not found or not all(isinstance(one, Tensor) and one.sure and not one.array for one in found):
                return
        if rows and isinstance(rows[0], ast.Name):
            self.note(source, frame, "items", rows[0].id)

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """`self.log(f"start of {n}")`: a text of a size, given to a function of the project; `is_causal=n > 1`."""
        refuses = isinstance(func, Ext) and "refuses symbolic flags" in self.at.models.of(func.name).roles
        if not (refuses or isinstance(func, Func)) or not frame.module.linted:
            return
        definition = self.at.functions.running()
        if definition is None:
            return
        if not self.is_step(definition, frame) or not self.at.notebook.listens("fix size", frame):
            return
        given = {p.arg for p in parameters_in(definition.args)}
        for argument in (*node.args, *(k.value for k in node.keywords if refuses)):
            if refuses and (size := _tested(argument, definition, given)):
                self.note(argument, frame, "flag", size)
            elif isinstance(argument, ast.JoinedStr) and not refuses:
                self.written(argument, definition, given, frame)

    def is_step(self, definition: FunctionNode, frame: Frame) -> bool:
        """Whether what the function is given changes from call to call: compiling starts with it, or it is a module's
        `forward`; another function may be given weights."""
        if frame.is_first:
            return True
        me = frame.me
        return (
            definition.name == "forward"
            and isinstance(me, Instance)
            and me.cls is not None
            and self.at.classes.is_module(me.cls)
        )

    def tested(self, test: ast.expr, definition: FunctionNode, given: set[str]) -> str:
        """The tensor whose size says which of two graphs is made: `n % 4 != 0`, `n % 4`, `x.numel() == 0`."""
        asked = test
        if isinstance(test, ast.Compare):
            one = len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq))
            if not one or not _is_nothing(test.comparators[0]):
                return ""
            asked = test.left
        elif not _is_rest(test):
            return ""
        return _size(asked.left if _is_rest(asked) else asked, definition, given)

    def note(self, node: ast.expr, frame: Frame, how: str, size: str) -> None:
        self.at.notebook.note(node, "fix size", frame, details={"how": how, "size": size})


def _parts_in_any_case(definition: FunctionNode) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """What may fix a size in the statements that nothing is a condition of, each with its statement."""
    kinds = (*COMPREHENSIONS, ast.BinOp, ast.JoinedStr, ast.Call)
    for statement in _in_any_case(definition.body):
        looked_at = [statement] if isinstance(statement, ast.If) else walk(statement)
        yield from ((statement, part) for part in looked_at if isinstance(part, (ast.If, *kinds)))


def _in_any_case(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that nothing is a condition of; of a compound one, a test alone."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from _in_any_case(statement.body)
        elif isinstance(statement, (ast.If, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
            yield statement


def _is_wanted(text: ast.expr, statement: ast.stmt) -> bool:
    """Whether the text has to be made there: it is returned, names something or is compared. What only a function gets,
    or a name stands for, may be left."""
    for part in walk(statement):
        asked: list[ast.expr | None] = []
        if isinstance(part, ast.Subscript):
            asked = [part.slice]
        elif isinstance(part, ast.Dict):
            asked = [*part.keys]
        elif isinstance(part, ast.Compare):
            asked = [part.left, *part.comparators]
        elif isinstance(part, ast.Call) and is_name(part.func, "getattr"):
            asked = [*part.args[1:2]]
        if text in asked:
            return True
    returned = statement.value if isinstance(statement, ast.Return) else None
    held = returned.elts if isinstance(returned, (ast.Tuple, ast.List)) else [returned]
    return text in (returned.values if isinstance(returned, ast.Dict) else held)


def _is_format_of_numbers(part: ast.FormattedValue) -> bool:
    """`{n:03d}`: a format that a number alone has."""
    last = part.format_spec.values[-1] if isinstance(part.format_spec, ast.JoinedStr) else None
    return isinstance(last, ast.Constant) and str(last.value)[-1] in "dfFeEgG%"


def _is_printed(statement: ast.stmt) -> bool:
    """`print(...)`, `log.info(...)`: no part of the graph in any case."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and last_word(call.func) in PRINTS


def _spelled(part: ast.AST) -> list[ast.expr]:
    """What is made a text at once, for which a symbol will not do: `str(n)`, `"%d" % n`. `"%s of %s" % (n, m)` is put
    together later, as `"{}".format(n)` is, and of a number in braces Dynamo makes a constant."""
    if isinstance(part, ast.BinOp):
        text, right = part.left, part.right
        if (
            not isinstance(part.op, ast.Mod)
            or not isinstance(text, ast.Constant)
            or not isinstance(text.value, str)
        ):
            return []
        if isinstance(right, ast.Tuple):
            return right.elts if "%d" in text.value else [each for each in right.elts if _is_whole(each)]
        return [] if _is_whole(right) else [right]
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in ("str", "repr"):
        return part.args[:1]
    return []


def _is_whole(node: ast.expr) -> bool:
    """`x.shape`, `x.size()`"""
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Call) and not node.args)


def _size_or_all(node: ast.expr, definition: FunctionNode, given: set[str]) -> str:
    return _shape(node, definition, given) if _is_whole(node) else _size(node, definition, given)


def _gone_over(source: ast.expr) -> Iterator[ast.expr]:
    if isinstance(source, ast.Call):
        if isinstance(source.func, ast.Name) and source.func.id in THROUGH:
            for argument in source.args:
                yield from _gone_over(argument)
        elif isinstance(source.func, ast.Attribute) and source.func.attr == "unbind":
            yield source.func.value
    else:
        yield source


def _is_rest(node: ast.expr) -> TypeGuard[ast.BinOp]:
    """`n % 4`"""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _bounding(call: ast.expr, definition: FunctionNode, given: set[str]) -> str:
    """The size that says how often `range(...)` turns, "" if none does."""
    assert isinstance(call, ast.Call)
    return next((size for each in call.args if (size := _size(each, definition, given))), "")


def _size(node: ast.expr, definition: FunctionNode, given: set[str], depth: int = 0) -> str:
    """The tensor, one that the function is given, whose size the number is, or is computed of; "" if it is none."""
    if depth > MAX_DEPTH:
        return ""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return next((size for side in sides if (size := _size(side, definition, given, depth + 1))), "")
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice) or _is_last(node.slice):
            return ""  # how many features there are, which stays
        return _shape(node.value, definition, given)
    if isinstance(node, ast.Call):
        callee = node.func
        if isinstance(callee, ast.Attribute) and callee.attr in ("size", "numel"):
            one = node.args and not _is_last(node.args[0])
            return _shape(node, definition, given) if one or callee.attr == "numel" else ""
        if last_word(callee) in ("len", "int", "max", "min") and node.args:
            if last_word(callee) == "len":
                return ""  # of a list or of a tensor, of which nothing is known here
            return _size(node.args[0], definition, given, depth + 1)
        return ""
    if isinstance(node, ast.Name):
        made = [
            (target, part.value)
            for part in parts(definition, ast.Assign)
            for target in part.targets
            if part.lineno < node.lineno
            and any(isinstance(n, ast.Name) and n.id == node.id for n in walk(target))
        ]
        if len(made) != 1 or node.id in given:
            return ""
        target, value = made[0]
        if isinstance(target, ast.Tuple):
            return _shape(value, definition, given)
        return _size(value, definition, given, depth + 1)
    return ""


def _tested(node: ast.expr, definition: FunctionNode, given: set[str], depth: int = 0) -> str:
    """The tensor whose size decides a truth value that is handed on: `n > 1`, `mask is None and n > 1` (of `n > 1 and
    mask is None` only what Python knows is handed on), or a name for one; "" where none does."""
    if isinstance(node, ast.BoolOp):
        return _tested(node.values[-1], definition, given, depth)
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        return next((size for side in sides if (size := _size(side, definition, given))), "")
    if not isinstance(node, ast.Name) or depth > MAX_DEPTH:
        return ""
    made = [part.value for part in parts(definition, ast.Assign) if _is_named(part, node.id)]
    return _tested(made[0], definition, given, depth + 1) if len(made) == 1 else ""


def _is_named(statement: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _shape(node: ast.expr, definition: FunctionNode, given: set[str]) -> str:
    """`x` of `x.shape`, `x.shape[1:]` and `x.size()`, where the function is given it and has not bound it anew."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value if node.func.attr in ("size", "numel") else None
    else:
        owner = node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None
    if isinstance(owner, ast.Name) and owner.id in given and _as_given(owner, definition):
        return owner.id
    return ""


def _as_given(name: ast.Name, definition: FunctionNode) -> bool:
    """Whether the parameter is still what it was, so far."""
    return not any(
        isinstance(other.ctx, ast.Store) and other.id == name.id and other.lineno <= name.lineno
        for other in parts(definition, ast.Name)
    )


def _is_last(index: ast.expr) -> bool:
    """`-1`"""
    return (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
        and index.operand.value == 1
    )


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and type(node.value) is int
