"""Checks of a tensor's values that raise: as assertions that stay in the graph."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import libcst as cst

from pt2lint.finding import Edit, Fix, Trait
from pt2lint.fixes.comments import of_next_line
from pt2lint.fixes.condition import and_not, definition, opposite, read_condition
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, guess, told, words
from pt2lint.fixes.names import binds, reads, uses
from pt2lint.fixes.nodes import (
    ancestors,
    arguments,
    block_of,
    breaking,
    enclosing_function,
    only_of,
    parameters,
    small_of,
    statement_of,
)
from pt2lint.fixes.purity import effect, number
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import flat, in_parentheses, source, statements
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, conjuncts, placed, walk

_S = TypeVar("_S", bound=cst.CSTNode)
_M = TypeVar("_M")


def fixes(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> tuple[Fix, ...]:
    """All repairs that fit of the check that the node is in."""
    kind = kind or guess(function)
    for outer in (node, *ancestors(function, node)):
        if isinstance(outer, cst.Assert):
            return accepted(split_assert(function, outer, kind), assert_in_graph(function, outer, kind))
        if isinstance(outer, cst.If):
            return accepted(raise_to_assert(function, outer, kind)) or accepted(
                raise_in_eager(function, outer)
            )
        if isinstance(outer, cst.Call) and callee(outer) in _CHECKS:
            return accepted(check_in_graph(function, outer))
        if isinstance(outer, cst.Call) and callee(outer) in _RAISES:
            return accepted(raise_by_hand(function, outer, kind))
        if isinstance(outer, cst.BaseStatement):
            return ()
    return ()


def named_check(function: FunctionCode, node: cst.CSTNode, kind: Kind | None = None) -> Repaired:
    """`bad = n.item() != 3`, then `if bad: raise X("text")`, as the check of what the name stands for.

    Refused where anything stands between the two, or the name is read for more.
    """
    assign = next((one for one in ancestors(function, node) if isinstance(one, cst.Assign)), None)
    statement = statement_of(function, assign) if assign is not None else None
    block = block_of(function, statement) if statement is not None else None
    owner = enclosing_function(function, node)
    if assign is None or block is None or owner is None or len(assign.targets) != 1:
        return Refusal("it has no name")
    target, (body, at) = assign.targets[0].target, block
    check = body[at + 1] if at + 1 < len(body) else None
    if (
        not isinstance(target, cst.Name)
        or not isinstance(statement, cst.SimpleStatementLine)
        or len(statement.body) != 1
        or not isinstance(check, cst.If)
        or not check.test.deep_equals(target)
        or sum(use.name == target.value for use in uses(owner.body)) != 2
    ):
        return Refusal("its name is not what the next line checks, and that alone")
    return raise_to_assert(function, check, kind, assign.value)


@refusing
def raise_to_assert(
    function: FunctionCode,
    node: cst.If,
    kind: Kind | None = None,
    stands_for: cst.BaseExpression | None = None,
) -> Repaired:
    """`if bad: raise X("text")` as an `assert` where X is AssertionError. Any other `raise` stays for eager mode, under
    `elif`, and `torch._assert_async(not bad, "text")` is for compiled code: in eager mode it would leave a GPU
    unusable. `stands_for` is what the test is a name for.

    Refused where the body does more than raise, there is an `else`, the error is raised from another, or is caught in
    the function.
    Unsafe: compiled, what is raised is a RuntimeError, on a GPU it arrives when the device gets there, and values of
    tensors in the message are left out.
    """
    kind = kind or guess(function)
    made = _check_of(function, node, kind, stands_for)
    if isinstance(made, Refusal):
        return made
    if made.alone:
        (new,) = statements(function, made.lines)
        new = new.with_changes(leading_lines=node.leading_lines)
        return fix(
            "Check as an `assert`, which Dynamo keeps in the graph and `python -O` leaves out; compiled, a failure "
            "raises RuntimeError.",
            (*made.imports, *rewrite(function, {node: new, **made.named})),
            "other error",
        )
    run, checks = [node], [made]
    if stands_for is None:
        run, checks = _in_a_row(function, node, made, lambda one: _beside(function, one, kind))
    kept: cst.If | None = None
    for one in reversed(run):
        said = [above for above in one.leading_lines if above.comment is not None]
        kept = one.with_changes(
            orelse=kept, leading_lines=said if one is not run[0] else of_next_line(said)[1]
        )
    assert kept is not None
    lines = [text for check in checks for text in check.lines]
    both, compiling = _where_compiled(function, lines, run[0], kept)
    imports = dict.fromkeys((*(edit for check in checks for edit in check.imports), *compiling))
    doubt, waits = max(_doubt(function, one.test, kind) for one in run)
    return fix(
        "Check where it is compiled with `torch._assert_async`, which stays in the graph; in eager mode as before. "
        "In the graph a failure raises RuntimeError with this message; on a GPU it does so later, and the device "
        f"cannot be used after it.{doubt}",
        (*imports, *rewrite(function, {run[0]: both, **dict.fromkeys(run[1:]), **made.named})),
        "other error",
        *waits,
    )


class _Check(NamedTuple):
    """What an `if` that raises is in compiled code, or `alone` everywhere; `named` is in place of what a name in the
    test stands for."""

    lines: Sequence[str]
    alone: bool
    imports: Sequence[Edit]
    named: dict[cst.CSTNode, New]


@refusing
def _check_of(
    function: FunctionCode, node: cst.If, kind: Kind, stands_for: cst.BaseExpression | None
) -> _Check:
    raised = _only_raises(function, node)
    if raised.exc is None or raised.cause is not None:
        raise Refused("the error is raised again, or from another")
    condition = read_condition(function, stands_for if stands_for is not None else node.test, kind, True)
    error = source(function, raised.exc.func if isinstance(raised.exc, cst.Call) else raised.exc)
    if not error.rpartition(".")[2][:1].isupper():
        raise Refused("what is raised is no class that has a name here")
    arguments = raised.exc.args if isinstance(raised.exc, cst.Call) else ()
    imports = condition.imports
    holds = condition.text
    named: dict[cst.CSTNode, New] = {}
    if stands_for is not None:
        if condition.static:
            raise Refused("part of what the name stands for is plain Python")
        named[stands_for] = cst.parse_expression(opposite(holds) if condition.negated else holds)
        holds = opposite(source(function, node.test))
    elif not condition.negated:
        holds = opposite(holds)
    value = arguments[0].value if arguments else None
    if not (value is None or _is_text(value)):
        raise Refused("the message is not written out")
    mark = file_of(function).quote
    message = _message(function, value, kind) if value is not None else ""
    message = message if _says_something(message) else mark + error + mark
    check = f"assert {holds}, {message}"
    # In eager mode a message says what it did: one whose values an assertion has to leave out stays as it is there.
    asserts = error == "AssertionError" and (value is None or _constant(value))
    if not asserts:
        name, added = torch_name(function, "torch._assert_async")
        imports = (*imports, *added)
        check = f"{name}({holds}, {message})"
    static = " and ".join(condition.static)
    lines = [f"if {static}:", function.module.default_indent + check] if static else [check]
    return _Check(lines, asserts, tuple(dict.fromkeys(imports)), named)


@refusing
def _beside(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> _Check:
    """The check of a tensor that stands beside another one."""
    if not isinstance(node, cst.If) or not _asks_tensor(function, node.test):
        raise Refused("no check of a tensor")
    made = _check_of(function, node, kind, None)
    if isinstance(made, Refusal) or made.alone:
        raise Refused("no check that differs where it is compiled")
    return made


def _in_a_row(
    function: FunctionCode, statement: _S, made: _M, make: Callable[[cst.CSTNode], _M | Refusal]
) -> tuple[list[_S], list[_M]]:
    """The statement with those right before and behind it of which something can be made, and what is."""
    run, all_made = [statement], [made]
    beside, at = block_of(function, statement) or ([statement], 0)
    for step in (-1, 1):
        here = at + step
        while 0 <= here < len(beside):
            more = make(beside[here])
            if isinstance(more, Refusal):
                break
            place = 0 if step < 0 else len(run)
            run.insert(place, beside[here])  # type: ignore[arg-type]
            all_made.insert(place, more)
            here += step
    return run, all_made


def _doubt(function: FunctionCode, test: cst.BaseExpression, kind: Kind) -> tuple[str, tuple[Trait, ...]]:
    """What is said of a test of an argument that is annotated as a number, as other callers may give one: an assertion
    takes no number."""
    owner = enclosing_function(function, test)
    for given in parameters(owner) if owner is not None else ():
        word = source(function, given.annotation.annotation) if given.annotation is not None else ""
        if word in ("int", "float", "bool") and given.name.value in reads(test):
            others = (
                part for part in walk(test) if isinstance(part, cst.Name) and part.value != given.name.value
            )
            if any(kind(part).startswith("tensor") for part in others):
                continue
            return f" It assumes that `{given.name.value}` is a tensor whoever calls it.", ("once proven",)
    return "", ()


def _where_compiled(
    function: FunctionCode,
    lines: Sequence[str],
    like: cst.If | cst.SimpleStatementLine,
    orelse: cst.If | cst.Else,
) -> tuple[cst.If, tuple[Edit, ...]]:
    """`if torch.compiler.is_compiling():` with these lines, in place of `like`, and what it imports. What they are made
    of stays in `orelse`, with its comments."""
    compiling, imports = torch_name(function, "torch.compiler.is_compiling")
    indent = function.module.default_indent
    (made,) = statements(function, [f"if {compiling}():", *(indent + flat(one) for one in lines)])
    above = of_next_line(like.leading_lines)[0]
    return made.with_changes(leading_lines=above, orelse=orelse), imports


@refusing
def raise_in_eager(function: FunctionCode, node: cst.If) -> Repaired:
    """`if bad: raise Own()` as `if not torch.compiler.is_compiling() and bad: raise Own()`, where an assertion will
    not do: compiled code goes without the check.

    Refused where the body does more than raise, there is an `else`, or the test has an effect.
    """
    _is_left_to_eager(function, node)
    kind = guess(function)

    @refusing
    def left(one: cst.CSTNode) -> bool:
        checks = isinstance(one, cst.If) and _asks_tensor(function, one.test)
        if not checks or not isinstance(
            _check_of(function, cst.ensure_type(one, cst.If), kind, None), Refusal
        ):
            raise Refused("no check that an assertion will not do for")
        return _is_left_to_eager(function, cst.ensure_type(one, cst.If))

    run, _ = _in_a_row(function, node, True, left)
    name, imports = torch_name(function, "torch.compiler.is_compiling")
    new: dict[cst.CSTNode, New] = {node.test: and_not(function, node.test, f"{name}()", first=True)}
    if len(run) > 1:
        above, said = of_next_line(run[0].leading_lines)
        body = cst.IndentedBlock([run[0].with_changes(leading_lines=said), *run[1:]])
        guard = cst.If(cst.parse_expression(f"not {name}()"), body, leading_lines=above)
        new = {run[0]: guard, **dict.fromkeys(run[1:])}
    return fix(
        "check in eager mode alone, which raises the same error. Compiled code goes without the check.",
        (*imports, *rewrite(function, new)),
        "workaround",
    )


def _is_left_to_eager(function: FunctionCode, node: cst.If) -> bool:
    """That the check can be left to eager mode; raises Refused where it cannot."""
    raised = _only_raises(function, node)
    if effect(node.test):
        raise Refused("the test has an effect")
    if _carries_values(raised) and _in_a_loop(function, node):
        raise Refused("what is raised ends a loop and carries values, for somebody who catches it")
    return True


def _asks_tensor(function: FunctionCode, test: cst.BaseExpression) -> bool:
    parts = (one for one in walk(test) if isinstance(one, cst.BaseExpression))
    return any(op.name == "test tensor" for one in parts for op in function.ops_at(one))


def _carries_values(raised: cst.Raise) -> bool:
    """Whether an exception that is not Python's own is made of no text at all: `raise Found(result, layer)`."""
    made = raised.exc
    if not isinstance(made, cst.Call) or not made.args:
        return False
    if isinstance(made.func, cst.Name) and hasattr(builtins, made.func.value):
        return False
    given = (part for arg in made.args for part in walk(arg) if isinstance(part, cst.BaseExpression))
    return not any(map(_is_text, given))


def _in_a_loop(function: FunctionCode, node: cst.CSTNode) -> bool:
    outside = (
        one for one in ancestors(function, node) if isinstance(one, cst.FunctionDef | cst.For | cst.While)
    )
    return not isinstance(next(outside, None), cst.FunctionDef | None)


def _only_raises(function: FunctionCode, node: cst.If) -> cst.Raise:
    """What the `if` raises, where it does nothing else and has no other side."""
    raised = only_of(node.body)
    if not isinstance(raised, cst.Raise):
        raise Refused("the body does more than raise")
    if node.orelse is not None or isinstance(function.parent(node), cst.If):
        raise Refused("the check is one side of a longer branch")
    error = raised.exc.func if isinstance(raised.exc, cst.Call) else raised.exc
    if _caught(function, node, source(function, error) if error is not None else ""):
        raise Refused("the error is caught in the function, which then goes another way")
    return raised


def _caught(function: FunctionCode, node: cst.CSTNode, error: str) -> bool:
    """Whether a `try` of the function around the node may catch an error of this name."""
    inner = node
    for outer in ancestors(function, node):
        if isinstance(outer, cst.FunctionDef | cst.Lambda):
            return False
        if isinstance(outer, cst.Try | cst.TryStar) and outer.body is inner:
            if any(_catches(function, handler, error) for handler in outer.handlers):
                return True
        inner = outer
    return False


def _catches(function: FunctionCode, handler: cst.ExceptHandler | cst.ExceptStarHandler, error: str) -> bool:
    if handler.type is None:
        return True
    types = (
        [one.value for one in handler.type.elements]
        if isinstance(handler.type, cst.Tuple)
        else [handler.type]
    )
    raised = getattr(builtins, error, None)
    for one in types:
        caught = getattr(builtins, source(function, one), None)
        if not (isinstance(raised, type) and isinstance(caught, type)) or issubclass(raised, caught):
            return True  # a name that is not Python's own may stand for anything
    return False


# Functions of torch that read a tensor for a check: which argument is the tensor.
_CHECKS = {"_check_tensor_all": 0, "_check_tensor_all_with": 1}


def check_in_graph(function: FunctionCode, node: cst.Call) -> Repaired:
    """`torch._check_tensor_all(t, message)`, which reads the tensor, as `torch._assert_async(torch.all(t),
    message())`.

    Refused where the call is not a statement of its own. Unsafe: a failure raises RuntimeError; the message is made
    whether it is needed or not.
    """
    heard = next(
        (op.name.removeprefix("call ") for op in function.ops_at(node) if op.name[:5] == "call "), ""
    )
    known = qualified(function, node.func) or heard
    at = _CHECKS.get(known.removeprefix("torch."))
    given, named = arguments(node) or ([], {})
    if at is None or named or not at < len(given) <= at + 2:
        return Refusal("not a check of a tensor")
    if not isinstance(function.parent(node), cst.Expr):
        return Refusal("the check is part of something else")
    mark = file_of(function).quote
    message = f"{mark}the check failed{mark}"
    if len(given) == at + 2:
        said = given[at + 1]
        if isinstance(said, cst.Lambda):
            if placed(said.params) or not _is_text(said.body):
                return Refusal("the message is not written out")
            message = _message(function, said.body, guess(function))
        elif isinstance(said, cst.Name):
            message = f"{said.value}()"
        else:
            return Refusal("the message is not written out")
    imports: tuple[Edit, ...] = ()
    more: tuple[Edit, ...] = ()
    if isinstance(node.func, cst.Attribute):  # torch may be imported in the function
        name, every = (f"{source(function, node.func.value)}.{one}" for one in ("_assert_async", "all"))
    else:
        name, imports = torch_name(function, "torch._assert_async")
        every, more = torch_name(function, "torch.all")
    call = cst.parse_expression(f"{name}({every}({source(function, given[at])}), {message})")
    return fix(
        "Check with `torch._assert_async`, which stays in the graph. A failure raises RuntimeError with this message; "
        "on a GPU it does so later, and the device cannot be used after it.",
        (*dict.fromkeys((*imports, *more)), *rewrite(function, {node: call})),
        "other error",
    )


# Functions of torch that check what is no tensor, and what they raise; `_check_with` is told.
_RAISES = {
    "_check": "RuntimeError",
    "_check_with": "",
    "_check_value": "ValueError",
    "_check_index": "IndexError",
    "_check_type": "TypeError",
    "_check_not_implemented": "NotImplementedError",
}


def raise_by_hand(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`torch._check(n > 1, lambda: f"{x.shape}")` as `if n <= 1: raise RuntimeError(f"{x.shape}")`.

    Dynamo decides such an `if` while it traces, and the message is not made where it holds. Refused where the call is
    not a statement of its own. Unsafe: of a number that only the device knows, the check was a hint; the `if` ends the
    graph.
    """
    heard = next(
        (op.name.removeprefix("call ") for op in function.ops_at(node) if op.name[:5] == "call "), ""
    )
    known = (qualified(function, node.func) or heard).removeprefix("torch.")
    statement = function.parent(function.parent(node) or node)
    if known not in _RAISES or not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("not a check that is a statement of its own")
    if not isinstance(statement.body[0], cst.Expr):
        return Refusal("the check is part of something else")
    given, named = arguments(node) or ([], {})
    if named or len(given) != (2 if _RAISES[known] else 3):
        return Refusal("it is given no message")
    *error, condition, said = given
    if isinstance(said, cst.Lambda) and not placed(said.params):
        message = source(function, said.body.with_changes(lpar=(), rpar=()))
    elif isinstance(said, cst.Name):
        message = f"{said.value}()"
    else:
        return Refusal("the message is not a function that is known")
    raised = source(function, error[0]) if error else _RAISES[known]
    block = f"if {_fails(function, condition, kind)}:\n    raise {raised}({message})\n"
    made = cst.ensure_type(statements(function, block.rstrip().split("\n"))[0], cst.If)
    return fix(
        f"Raise {raised} in an `if`, which Dynamo decides while it traces: the message is made only where it is "
        "needed. It assumes that what is checked is no number of which only the device knows.",
        rewrite(function, {statement: made.with_changes(leading_lines=statement.leading_lines)}),
    )


_TURNED: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.LessThan: cst.GreaterThanEqual,
    cst.LessThanEqual: cst.GreaterThan,
    cst.GreaterThan: cst.LessThanEqual,
    cst.GreaterThanEqual: cst.LessThan,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
}


def _fails(function: FunctionCode, condition: cst.BaseExpression, kind: Kind) -> str:
    """When the condition does not hold: a comparison of whole numbers turned round, which is the same for these."""
    if isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not):
        return source(function, condition.expression)
    if isinstance(condition, cst.Comparison) and len(condition.comparisons) == 1:
        (one,) = condition.comparisons
        turned = _TURNED[type(one.operator)]
        ordered = isinstance(
            one.operator, cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual
        )
        if not ordered or kind(condition.left) == kind(one.comparator) == "int":
            new = one.with_changes(operator=turned())
            return source(function, condition.with_changes(comparisons=[new], lpar=(), rpar=()))
    return f"not {in_parentheses(source(function, condition))}"


ROOM = 12  # characters of a line that are left for what stands around a message on a line of its own


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString)


def _as_text(function: FunctionCode, node: cst.BaseExpression) -> str | None:
    """The source of the node as a constant, where that fits on a line and needs no backslash."""
    text, mark = source(function, node), file_of(function).quote
    if len(node.lpar) == 1:
        text = text[1:-1].strip()
    if mark in text:
        mark = "'" if mark == '"' else '"'
    return None if any(sign in text for sign in (mark, "\n", "\\")) else mark + text + mark


def _message(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> str:
    """The message as a constant, or as an f-string of what is known without a tensor's values; values of
    tensors and of what is not known become an ellipsis, or end it."""
    marked = [_marked(function, part, kind) for part in _parts(node)]
    texts = [
        one.replace(f"{_LEFT_OUT}.", _LEFT_OUT).replace(_LEFT_OUT, "...") for one in _until_values(marked)
    ]
    mark = texts[0][0]
    joined = mark + "".join(text[1:-1] for text in texts) + mark
    alike = all(text[0] == mark == text[-1] and text[:3] != mark * 3 for text in texts)
    short = len(joined) < file_of(function).line_length - ROOM
    return joined if alike and mark in "'\"" and short else " ".join(texts)


_LEFT_OUT = "\ue000"  # where a value was, until it is an ellipsis


def _marked(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> str:
    """One text of a message, with a mark for each value that is left out."""
    if isinstance(node, cst.SimpleString | cst.FormattedString):
        node = node.with_changes(lpar=(), rpar=())  # the call has parentheses of its own
    if not isinstance(node, cst.FormattedString):
        return source(function, node)
    pieces: list[cst.BaseFormattedStringContent] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringExpression) and not _is_static(
            function, part.expression, kind
        ):
            part = cst.FormattedStringText(_LEFT_OUT)
        pieces.append(part)
    text = function.module.code_for_node(node.with_changes(parts=pieces))
    if all(isinstance(piece, cst.FormattedStringText) for piece in pieces):
        text = text.lstrip("fF").replace("{{", "{").replace("}}", "}")
    return text


def _until_values(texts: list[str]) -> list[str]:
    """The texts up to where values are told, behind a colon, a comma or a bracket, with little said after these."""
    at = next((n for n, text in enumerate(texts) if _LEFT_OUT in text), None)
    if at is None:
        return texts
    before, _, after = texts[at].partition(_LEFT_OUT)
    kept = _clause(before)
    said = [*texts[:at], kept] if _words(kept) else texts[:at]
    if kept == before or len(said) == at == 0:
        return texts
    if len(said) == at:  # the text before ends with what led to the values
        last = _clause(said[-1][:-1])
        if not _words(last):
            return texts
        said[-1] = last
    if 2 * sum(map(_words, (after, *texts[at + 1 :]))) > sum(map(_words, said)):
        return texts
    said[-1] += texts[len(said) - 1][-1]
    return said


def _clause(text: str) -> str:
    """A text without the colon or bracket that it ends in, and what that names: `bad loss, got loss=`."""
    short = re.sub(r"[\s,:;=(\[]*$", "", text)
    if short == text.rstrip():
        return text
    if "=" in text[len(short) :] or re.search(r"[,:;]\s*\w+_\w+$", short):
        short = re.sub(r"\s*[,:;]?\s*\w+$", "", short)
    short = re.sub(r"(?:[\s,:;]*\b(?:but|got|found|received|and))+$", "", short)
    while short.count("(") > short.count(")"):
        short = short[: short.rindex("(")].rstrip()
    return short


def _words(text: str) -> int:
    """How many words a text has, but for names of variables."""
    return len(re.findall(r"[^\W\d_]{2,}", re.sub(r"\w+_\w+", "", text.lstrip("fFrRuU"))))


def _says_something(message: str) -> bool:
    """Whether more is left of a message than what stands around values: `"... > 3 or ... < 0"` has no word."""
    return re.search(r"\w{3}" if "..." in message else r"\w", message.lstrip("fFrRuU")) is not None


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The texts that stand one after the other."""
    return [*_parts(node.left), *_parts(node.right)] if isinstance(node, cst.ConcatenatedString) else [node]


_PLAIN = frozenset(("int", "float", "bool", "str", "none"))
_PLAIN_NAMES = words(
    "int float bool str None Optional Union Literal tuple list Tuple List Sequence Iterable typing"
)


def _is_static(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> bool:
    """Whether a value in a message is known while Dynamo traces, and the same from call to call: what sizes go into
    would be compiled again for each.

    The interpreter does not look at what is raised: what it says of the same words elsewhere in the function counts,
    and of a parameter its annotation or its default.
    """
    if isinstance(node, cst.Attribute) and node.attr.value in ("dtype", "device", "ndim"):
        return True
    if isinstance(node, cst.Call):
        return callee(node) in ("type", "dim")
    if isinstance(node, cst.Subscript):
        return _is_static(function, node.value, kind)
    if isinstance(node, cst.List | cst.Tuple):
        return all(_is_static(function, one.value, kind) for one in node.elements)
    if isinstance(node, cst.IfExp):
        return all(_is_static(function, one, kind) for one in (node.test, node.body, node.orelse))
    if isinstance(node, cst.Comparison):
        sides = (node.left, *(one.comparator for one in node.comparisons))
        return all(_is_static(function, one, kind) for one in sides)
    if not isinstance(node, cst.Name | cst.Attribute):
        return kind(node) in _PLAIN
    owner = enclosing_function(function, node)
    if owner is not None and isinstance(node, cst.Name) and node.value in binds(owner.body):
        return kind(node) in _PLAIN - {"int", "float"} or _is_key(function, owner, node.value)
    text = source(function, node)
    alike = (
        one for one in walk(function.module) if type(one) is type(node) and source(function, one) == text
    )
    found = {word for one in alike for word in told(function, one).split(" | ") if word}
    if found:
        return all(word in _PLAIN or word.startswith("constant ") for word in found)
    return kind(node) in _PLAIN or (isinstance(node, cst.Name) and _is_plain_parameter(function, node))


def _is_key(function: FunctionCode, owner: cst.FunctionDef, name: str) -> bool:
    """Whether the name is bound by `for key, value in parts.items()` alone: Dynamo knows the keys of a dictionary."""
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == name]
    for one in bound:
        element = function.parent(one)
        target = function.parent(element) if isinstance(element, cst.Element) else None
        if not isinstance(target, cst.Tuple) or target.elements[0] is not element:
            return False
        loop = function.parent(target)
        if not isinstance(loop, cst.For) or target is not loop.target:
            return False
        if not (isinstance(loop.iter, cst.Call) and callee(loop.iter) == "items" and not loop.iter.args):
            return False
    return bool(bound)


def _is_plain_parameter(function: FunctionCode, name: cst.Name) -> bool:
    """Whether the name is a parameter that its annotation, or its default, calls plain."""
    owner = enclosing_function(function, name)
    for given in parameters(owner) if owner is not None else ():
        if given.name.value == name.value:
            if given.annotation is not None:
                return set(re.findall(r"\w+", source(function, given.annotation.annotation))) <= _PLAIN_NAMES
            return given.default is not None and not any(
                isinstance(one, cst.Name | cst.Call) and source(function, one) not in ("True", "False")
                for one in walk(given.default)
            )
    return False


def split_assert(function: FunctionCode, node: cst.Assert, kind: Kind | None = None) -> Repaired:
    """`assert a and b` as `assert a`, `assert b`, and so `assert a < b < c`: the `and` asks for a tensor's truth, an
    assert does not. With a message, which would have to be said twice, as `assert (a) & (b), message` where the parts
    are so plain that none fails on its own.

    Safe: in eager mode each part is asked in the same order, and fails with the same error.
    """
    kind = kind or guess(function)
    parts = [one for part in conjuncts(node.test) for one in _links(part)]
    statement = function.parent(node)
    if len(parts) < 2 or not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the assertion has one part, or shares its line")
    if not _constant(node.msg):
        return Refusal("Dynamo takes assertions on tensors with a constant message only")
    if node.msg is not None and _are_plain_bounds(function, parts, kind):
        return fix(
            "Assert one tensor, of all parts: Dynamo keeps assertions on single tensors in the graph.",
            rewrite(function, {node.test: _both(function, node.test)}),
            safe=True,
        )
    made = []
    for part in parts:
        bare = part.with_changes(lpar=(), rpar=()) if "\n" not in source(function, part) else part
        made.append(statement.with_changes(body=[node.with_changes(test=bare, comma=node.comma)]))
    made[1:] = [one.with_changes(leading_lines=()) for one in made[1:]]
    plain = statement.trailing_whitespace.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    made[:-1] = [one.with_changes(trailing_whitespace=plain) for one in made[:-1]]
    edits = rewrite(function, {statement: made})
    return fix(
        "Assert each part on its own: Dynamo keeps assertions on single tensors in the graph.",
        edits,
        safe=True,
    )


def _are_plain_bounds(function: FunctionCode, parts: Sequence[cst.BaseExpression], kind: Kind) -> bool:
    """Whether all are comparisons of one tensor's smallest or largest number with names or numbers: where one raises,
    the first does."""
    asked: set[str] = set()
    for part in parts:
        if not isinstance(part, cst.Comparison) or len(part.comparisons) != 1:
            return False
        if isinstance(part.comparisons[0].operator, cst.Is | cst.IsNot | cst.In | cst.NotIn):
            return False
        for side in (part.left, part.comparisons[0].comparator):
            if isinstance(side, cst.Call) and isinstance(side.func, cst.Attribute) and not side.args:
                if side.func.attr.value not in ("min", "max") or not kind(side.func.value).startswith(
                    "tensor"
                ):
                    return False
                asked.add(source(function, side.func.value))
            elif not isinstance(side, cst.Name | cst.Attribute) and number(side) is None:
                return False
        if len(asked) != 1:
            return False
    return True


def _both(function: FunctionCode, test: cst.BaseExpression) -> cst.BaseExpression:
    """`a and b` as `(a) & (b)`, on the lines on which it stands."""
    if isinstance(test, cst.BooleanOperation):
        space = test.operator
        sign = cst.BitAnd(whitespace_before=space.whitespace_before, whitespace_after=space.whitespace_after)
        sides = _both(function, test.left), _both(function, test.right)
        return cst.BinaryOperation(sides[0], sign, sides[1], lpar=test.lpar, rpar=test.rpar)
    links = _links(test)
    if len(links) == 1:
        return test if test.lpar else test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.parse_expression(" & ".join(f"({source(function, one)})" for one in links))


def _links(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The comparisons of `a < b < c`, where what stands between two of them may be asked twice."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) < 2:
        return [node]
    between = [one.comparator for one in node.comparisons[:-1]]
    if not all(isinstance(one, cst.Name | cst.Integer | cst.Float) for one in between):
        return [node]
    lefts = [node.left, *between]
    return [cst.Comparison(left, [one]) for left, one in zip(lefts, node.comparisons, strict=True)]


def _constant(message: cst.BaseExpression | None) -> bool:
    if message is None or isinstance(message, cst.SimpleString):
        return True
    return (
        isinstance(message, cst.ConcatenatedString) and _constant(message.left) and _constant(message.right)
    )


@refusing
def assert_in_graph(function: FunctionCode, node: cst.Assert, kind: Kind | None = None) -> Repaired:
    """An `assert` on a number read out of a tensor, or on several tensors, as an assertion on one tensor. Where its
    message is not constant it stays for eager mode, and `torch._assert_async` is for compiled code.

    Unsafe: a number that is compared in Python has double precision, a tensor has its own; compiled, a
    failure raises RuntimeError.
    """
    kind = kind or guess(function)
    if _caught(function, node, "AssertionError"):
        return Refusal("the error is caught in the function, which then goes another way")
    if not _constant(node.msg):
        return _asserts_in_eager(function, node, kind)
    condition = read_condition(function, node.test, kind, False)
    if condition.static:
        return Refusal("the assertion is part tensor, part plain Python")
    imports = list(condition.imports)
    holds = condition.text
    if condition.negated:
        holds = opposite(holds)
    new: dict[cst.CSTNode, New] = {}
    test = node.test
    if isinstance(test, cst.UnaryOperation) and holds == f"~{source(function, test.expression)}":
        if breaking(function, *test.expression.children) is not None:
            return Refusal("the graph ends before, at what is asserted")
        new[test] = test.with_changes(operator=cst.BitInvert())  # which may go over several lines
    else:
        new[test] = cst.parse_expression(holds)
    edits = rewrite(function, new)
    if not edits:
        return Refusal("the assertion is on one tensor already")
    return fix(
        "Assert on the tensor itself, which Dynamo keeps in the graph; compiled, a failure raises "
        "RuntimeError.",
        (*dict.fromkeys(imports), *edits),
        "other error",
    )


def _asserts_in_eager(function: FunctionCode, node: cst.Assert, kind: Kind) -> Repaired:
    """The assertion for compiled code, and as it is for eager mode: in one `if` with those right before and behind."""
    statement = function.parent(node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the assertion shares its line")
    if block_of(function, statement) is None:
        return Refusal("the assertion shares its line")
    made = _in_compiled(function, statement, kind)
    if isinstance(made, Refusal):
        return made
    run, calls = _in_a_row(function, statement, made, lambda one: _in_compiled(function, one, kind))
    said = of_next_line(run[0].leading_lines)[1]
    kept = cst.Else(cst.IndentedBlock([run[0].with_changes(leading_lines=said), *run[1:]]))
    both, compiling = _where_compiled(function, [text for text, _ in calls], run[0], kept)
    imports = dict.fromkeys(edit for _, edits in calls for edit in edits) | dict.fromkeys(compiling)
    doubt, waits = max(_doubt(function, cst.ensure_type(one.body[0], cst.Assert).test, kind) for one in run)
    new: dict[cst.CSTNode, New] = {run[0]: both, **dict.fromkeys(run[1:])}
    return fix(
        "Assert where it is compiled with `torch._assert_async`, which stays in the graph, and as before in eager "
        f"mode. There a failure raises RuntimeError.{doubt}",
        (*imports, *rewrite(function, new)),
        "other error",
        *waits,
    )


def _tells_what_is_read(function: FunctionCode, message: cst.BaseExpression) -> bool:
    """Whether a name in the message is a number that a statement above reads out of a tensor."""
    told = (definition(function, one) for one in walk(message) if isinstance(one, cst.Name))
    return any(
        callee(one) == "item" for value in told if value for one in walk(value) if isinstance(one, cst.Call)
    )


@refusing
def _in_compiled(
    function: FunctionCode, statement: cst.CSTNode | None, kind: Kind
) -> tuple[str, Sequence[Edit]]:
    """The assertion that stays in the graph, where the message of one in a line of its own holds values."""
    node = small_of(statement)
    if not isinstance(node, cst.Assert) or node.msg is None or _constant(node.msg):
        raise Refused("no assertion whose message holds values")
    condition = read_condition(function, node.test, kind, False)
    if condition.static:
        raise Refused("the assertion is part tensor, part plain Python")
    if _tells_what_is_read(function, node.msg):
        raise Refused("the graph ends before, at a number that the message tells")
    # Eager mode goes on to show what it did; where that is no text, or values alone, the graph says what did not hold.
    said = _message(function, node.msg, kind) if _is_text(node.msg) else ""
    message = said if _says_something(said) else _as_text(function, node.test) or said
    if not message:
        raise Refused("neither the message nor the test is a text on one line")
    name, added = torch_name(function, "torch._assert_async")
    holds = opposite(condition.text) if condition.negated else condition.text
    return f"{name}({holds}, {message})", (*condition.imports, *added)
