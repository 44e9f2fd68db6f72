"""print, logging and warnings: a form that stays in the graph, or a setting that lets Dynamo go on."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.comments import of_next_line
from pt2lint.fixes.condition import and_not, is_scalar, unread
from pt2lint.fixes.file import class_around, file_of
from pt2lint.fixes.imports import import_edit, qualified, torch_name
from pt2lint.fixes.kinds import SAME, TO_BOOL, TO_FLOAT, TO_INT, Kind, guess, words
from pt2lint.fixes.names import binds, live_after, reads
from pt2lint.fixes.nodes import (
    Statement,
    ancestors,
    assigned,
    block_of,
    breaking,
    enclosing_function,
    parameters,
    small_of,
    statement_of,
)
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.repairs.log_operator import log_in_graph
from pt2lint.fixes.repairs.settings import setting
from pt2lint.fixes.rewrite import New, aligned, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import callee, is_name, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """All that fits of: printing in the graph, logging while tracing, a setting, and last a guard that leaves the
    call to eager mode."""
    if not isinstance(node, cst.Call):
        return ()
    if elsewhere := _decided_elsewhere(function, node):
        return elsewhere
    kind = guess(function)
    if _is_for_debugging(function, node):
        return (
            told(
                "Take it out, if it is left from debugging: it prints at each call of the model. Under `if not "
                "torch.compiler.is_compiling():` it would stay in eager runs"
            ),
            *accepted(print_in_graph(function, node, kind)),
        )
    return accepted(
        print_in_graph(function, node, kind)
        if _beside_go_too(function, node, kind)
        else Refusal("what is printed beside it cannot stay in the graph"),
        log_while_tracing(function, node, kind),
        log_in_graph(function, node, kind) if _logs(function, node) else Refusal("not a call that logs"),
        keep_logging(function, node),
        only_in_eager(function, node),
    )


def _decided_elsewhere(function: FunctionCode, node: cst.Call) -> tuple[Fix, ...]:
    """What is told of a message that no graph gets to, or goes on from."""
    if _before_an_error(function, node):
        return (told("Leave it: what runs there ends in an error, and no graph goes on from it"),)
    if _values_decide(function, node):
        return (told("Mend the branch around it first: that ends the graph before this is reached"),)
    if _number_decides(function, node):
        return (told("Mend what reads the number first, of which the branch around it asks"),)
    if (heard := function.ops_at(node)) and all(one.rare == "once" for one in heard):
        return (told("Leave it: it is written once, and the calls that follow do not get to it"),)
    return ()


def in_eager_alone(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """What fits of a message that another library's logger writes: no setting of Dynamo's leaves that out."""
    if not isinstance(node, cst.Call):
        return ()
    return _decided_elsewhere(function, node) or accepted(only_in_eager(function, node))


def _before_an_error(function: FunctionCode, node: cst.Call) -> bool:
    """Whether what is printed or logged is the last word before a `raise`, or the end of the program, in its block; or
    before an assertion, where the block does no more."""
    statement = statement_of(function, node)
    block = function.parent(statement) if statement is not None else None
    if not isinstance(block, cst.IndentedBlock) or isinstance(function.parent(block), cst.FunctionDef):
        return False
    last = block.body[-1]
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
    if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
        return source(function, small.value.func) in ("exit", "sys.exit", "os._exit")
    if isinstance(small, cst.Assert):
        return all(says(function, one) for one in block.body[:-1])
    return isinstance(small, cst.Raise)


# What a test asks of the values in a tensor: its truth, or a number.
_VALUES = ("test tensor", "call torch.Tensor.item", "call numpy.ndarray.item")


def _values_decide(function: FunctionCode, node: cst.Call) -> bool:
    """Whether it stands in a branch that values in a tensor decide: no form of it keeps that in the graph."""
    tests = [
        function.range(one.test)
        for one in ancestors(function, node)
        if isinstance(one, cst.If) and all(inner is not node for inner in walk(one.test))
    ]
    asked = [(op.line, op.column) for op in function.ops if op.name in _VALUES]
    return any(test[:2] <= at < test[2:] for test in tests for at in asked)


def _number_decides(function: FunctionCode, node: cst.Call) -> bool:
    """Whether it stands in a branch on a number that the function reads out of a tensor, and reads not for this alone:
    the graph ends there however the message is written."""
    statement, owner = statement_of(function, node), enclosing_function(function, node)
    if statement is None or owner is None:
        return False
    tests = [one.test for one in ancestors(function, node) if isinstance(one, cst.If)]
    asked = {name for test in tests for name in reads(test)}
    left_out = _left_out_together(function, _alone(function, statement)) if asked else []
    for one in walk(owner.body) if asked else ():
        kept = assigned(one) if isinstance(one, cst.SimpleStatementLine) else None
        if kept is not None and kept[0] in asked and one not in left_out and breaking(function, kept[1]):
            return True
    return False


SENTENCE = 4  # words that say more than what is shown


def _is_for_debugging(function: FunctionCode, node: cst.Call) -> bool:
    """Whether a `print` of a module stands under no test, or shows values with a word or two among other code, or one
    shows nothing but shapes and the like: nobody wants that at each call, and no maintainer code around it that keeps
    it."""
    if not _heard(function, node) & {"builtins.print", "pprint.pprint", "pprint.pp"}:
        return False
    statement = statement_of(function, node)
    block = function.parent(statement) if statement is not None else None
    among = isinstance(block, cst.IndentedBlock) and not all(says(function, one) for one in block.body)
    if among and node.args and all(_is_of_shape(arg.value) for arg in node.args):
        return True
    cls = class_around(function, function.range(node)[0])
    methods = cls.body if cls is not None else []
    if not any(isinstance(one, ast.FunctionDef) and one.name == "forward" for one in methods):
        return False
    texts = [part for part in walk(node) if isinstance(part, cst.SimpleString | cst.FormattedStringText)]
    said = " ".join(source(function, one) for one in texts)
    shows = any(reads(arg.value) for arg in node.args) and len(re.findall(r"\w+", said)) < SENTENCE
    for outer in ancestors(function, node):
        if isinstance(outer, cst.FunctionDef):
            return True
        if isinstance(outer, cst.If | cst.Else) and among and shows:
            continue
        if isinstance(outer, cst.If | cst.IfExp | cst.BooleanOperation | cst.ExceptHandler | cst.MatchCase):
            return False
    return False


def _is_of_shape(node: cst.BaseExpression) -> bool:
    """`x.shape`, `x.size()`, `x.dtype`"""
    if isinstance(node, cst.Call):
        return callee(node) == "size"
    return isinstance(node, cst.Attribute) and node.attr.value in ("shape", "dtype", "device")


@refusing
def print_in_graph(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`print("x", t)` as `torch._higher_order_ops.print("x {!s}", t)`, which is part of the graph.

    From torch 2.13 on. Numbers are operands as tensors are: in an f-string a size would become a constant of the
    graph, compiled again for each. Refused with `sep`, `end`, `file`, starred arguments, and values that are neither
    tensors nor numbers (a whole `x.shape` among them). It prints the same text, but the operator's name is private to
    torch, which few would merge: it waits for its proof.
    """
    kind = kind or guess(function)
    if not isinstance(node.func, cst.Name) or node.func.value != "print" or "print" in function.imports:
        return Refusal("not the built-in print")
    if function.target < (2, 13):
        return Refusal("torch has no print that stays in the graph before 2.13")
    if any(arg.keyword is not None or arg.star for arg in node.args):
        return Refusal("print is given a keyword or a starred argument")
    fields: list[_Field] = []
    for arg in node.args:
        if fields:
            fields.append(_Field("text", " "))
        fields += _fields(function, arg.value, kind)
    if not any(field.text for field in fields):
        return Refusal("nothing is printed but the end of the line")
    if any("\n" in field.text for field in fields):
        return Refusal("the text goes over several lines")
    quote = next((mark for mark in ('"', "'") if not any(mark in field.text for field in fields)), None)
    if quote is None:
        return Refusal("the text holds both kinds of quotes")
    shaped = any(field.what == "static" for field in fields)
    text = "".join(
        field.text if field.what == "text" or not shaped else f"{{{field.text}}}" for field in fields
    )
    name, imports = torch_name(function, "torch._higher_order_ops.print")
    given = [field.value for field in fields if field.what == "operand"]
    call = f"{name}({', '.join([('f' if shaped else '') + quote + text + quote, *given])})"
    edits = (*imports, *rewrite(function, {node: cst.parse_expression(call)}))
    return fix(
        "Print with the operator that is part of the graph, from torch 2.13 on: it prints the same, compiled or not. "
        "Its name is private to torch.",
        edits,
        "once proven",
    )


def _beside_go_too(function: FunctionCode, node: cst.Call, kind: Kind) -> bool:
    """Whether all that is printed right before and behind can be printed in the graph too: else one guard is put around
    all of it."""
    statement = statement_of(function, node)
    block = function.parent(statement) if statement is not None else None
    if statement is None or not isinstance(block, cst.IndentedBlock) or not says(function, statement):
        return True
    at = next(i for i, one in enumerate(block.body) if one is statement)
    behind = itertools.takewhile(lambda one: says(function, one), block.body[at + 1 :])
    before = itertools.takewhile(lambda one: says(function, one), reversed(block.body[:at]))
    beside = [small_of(one) for one in (*before, *behind)]
    return all(
        not isinstance(one, cst.Expr)
        or not isinstance(one.value, cst.Call)
        or _logs(function, one.value)
        or not isinstance(print_in_graph(function, one.value, kind), Refusal)
        for one in beside
    )


class _Field(NamedTuple):
    """A part of the text printed: as it is, an operand of the graph (a tensor, or a number, which may be a size; `text`
    is its field in braces), or an expression that is the same for all inputs, and goes into an f-string."""

    what: Literal["text", "operand", "static"]
    text: str
    value: str = ""


def _fields(function: FunctionCode, node: cst.BaseExpression, kind: Kind) -> list[_Field]:
    if isinstance(node, cst.SimpleString):
        value = node.evaluated_value
        if not isinstance(value, str) or "\\" in source(function, node) or "{" in value or "}" in value:
            raise Refused("the text holds braces or escapes")
        return [_Field("text", value)]
    if isinstance(node, cst.Integer | cst.Float):
        return [_Field("text", str(node.evaluated_value))]
    if isinstance(node, cst.FormattedString):
        return _formatted(function, node, kind)
    return _value(function, node, kind, "!s")


def _value(function: FunctionCode, node: cst.BaseExpression, kind: Kind, how: str) -> list[_Field]:
    text = source(function, node)
    tensor = unread(function, node, kind)
    if tensor is not node:
        if ":" not in how or not is_scalar(function, tensor):
            raise Refused(f"`{text}` is read out of a tensor, which does not look like it")
        return [_Field("operand", f"{{{how}}}", source(function, tensor))]
    if kind(node).startswith("tensor"):
        return [_Field("operand", f"{{{how}}}", text)]
    if isinstance(node, cst.Attribute) and node.attr.value in ("dtype", "device", "ndim"):
        return [_Field("static", text + how.removeprefix("!s"))]
    if isinstance(node, cst.Attribute) and node.attr.value == "shape":
        # In an f-string each size would be a constant of the graph, and the operator takes no tuple.
        raise Refused(f"`{text}` holds sizes of an input")
    if kind(node) in ("int", "float", "bool") and "\n" not in text:  # a str may hold braces
        return [_Field("operand", f"{{{how}}}", text)]
    raise Refused(f"`{text}` is not known to be a tensor or a constant")


def _formatted(function: FunctionCode, node: cst.FormattedString, kind: Kind) -> list[_Field]:
    fields: list[_Field] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            if any(mark in part.value for mark in "{}\\"):
                raise Refused("the text holds braces or escapes")
            fields.append(_Field("text", part.value))
            continue
        if not isinstance(part, cst.FormattedStringExpression) or part.equal is not None:
            raise Refused("the text uses `=` in a field")
        spec = "".join(source(function, one) for one in part.format_spec or ())
        conversion = f"!{part.conversion}" if part.conversion else ""
        fields += _value(function, part.expression, kind, conversion + (f":{spec}" if spec else ""))
    return fields


_LEVELS = words("debug info warning warn error critical exception log warning_once info_once")


def log_while_tracing(function: FunctionCode, node: cst.Call, kind: Kind | None = None) -> Repaired:
    """`logger.warning("text")` through a function that Dynamo calls while it traces, `assume_constant_result`.

    The message then comes once for each compilation, and at each call in eager mode as before (measured on torch
    2.6 to 2.15). Refused where the message holds what may change from call to call: each value would compile
    anew; and where the logger is not one of the file's own names.
    """
    kind = kind or guess(function)
    if not _logs(function, node):
        return Refusal("not a call that logs")
    if not isinstance(function.parent(node), cst.Expr):
        return Refusal("the call's result is used")
    owner = enclosing_function(function, node)
    if owner is None:
        return Refusal("not in a function")
    local = set(binds(owner.body)) | {param.name.value for param in parameters(owner)}
    if reads(node.func) & local or not dotted(node.func):
        return Refusal("the logger is not a name of the file")
    if any(arg.star for arg in node.args):
        return Refusal("starred arguments")
    changing = next((arg.value for arg in node.args if not _steady(arg.value, local, kind)), None)
    if changing is not None:
        return Refusal(f"`{source(function, changing)}` may change from call to call")
    spelled = source(function, node.func)
    helper = f"_{'_'.join(spelled.split('.')).strip('_')}_while_tracing"
    if helper in local:
        return Refusal(f"the name `{helper}` is taken")
    file = file_of(function)
    at = file.after_what_binds(reads(node.func))
    decorator, imports = torch_name(function, "torch.compiler.assume_constant_result", at)
    # The helper is one frame more between the caller and what says where the call was made.
    counts = "warnings.warn" in _heard(function, node) or node_method(node) in _STACK_LEVELS
    given = "*args, stacklevel=1, **kwargs" if counts else "*args, **kwargs"
    passed = "*args, stacklevel=stacklevel + 1, **kwargs" if counts else "*args, **kwargs"
    if counts and _positional_stacklevel(function, node):
        return Refusal("stacklevel is given by its place")
    indent = function.module.default_indent
    after = "\n" * max(0, 2 - file.blank_from(at))
    text = (
        f"\n\n# Dynamo calls it while it traces, once for each graph.\n@{decorator}\n"
        f"def {helper}({given}):\n{indent}{spelled}({passed})\n{after}"
    )
    defined = () if helper in function.functions else (Edit(function.path, at, 1, at, 1, text),)
    edits = (
        *imports,
        *defined,
        *rewrite(function, {node.func: cst.Name(helper)}),
        *aligned(function, node, helper),
    )
    return fix(
        "Log while Dynamo traces: the message comes once for each compilation. In eager mode nothing changes.",
        edits,
        "tells less",
        "once proven",  # a guard is what maintainers write
    )


# Methods of the standard library's loggers, which count frames; what others are called, nobody knows to.
_STACK_LEVELS = words("debug info warning warn error critical exception log")


def _positional_stacklevel(function: FunctionCode, node: cst.Call) -> bool:
    """Whether `warnings.warn` is given the frames to go up as its third argument."""
    return "warnings.warn" in _heard(function, node) and sum(arg.keyword is None for arg in node.args) > 2


def node_method(node: cst.Call) -> str:
    """The name of the method that is called, "" where it is none."""
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else ""


def _heard(function: FunctionCode, node: cst.Call) -> set[str | None]:
    """What the interpreter, and the file's imports, say is called."""
    return {op.name.removeprefix("call ") for op in function.ops_at(node)} | {qualified(function, node.func)}


def _logs(function: FunctionCode, node: cst.Call) -> bool:
    """Whether the call logs or warns."""
    heard = _heard(function, node)
    of_another_library = any("says" in op.details for op in function.ops_at(node))
    return (
        of_another_library
        or "warnings.warn" in heard
        or any(
            name is not None and name.startswith("logging.") and name.rpartition(".")[2] in _LEVELS
            for name in heard
        )
    )


def _steady(node: cst.BaseExpression, local: set[str], kind: Kind) -> bool:
    """Whether a value that is logged stays the same, or is guarded by Dynamo in any case: text, what the file names,
    attributes of `self`."""
    if isinstance(node, cst.SimpleString | cst.Integer | cst.Float):
        return True
    if isinstance(node, cst.ConcatenatedString):
        return _steady(node.left, local, kind) and _steady(node.right, local, kind)
    if isinstance(node, cst.FormattedString):
        return all(
            isinstance(part, cst.FormattedStringText)
            or (isinstance(part, cst.FormattedStringExpression) and _steady(part.expression, local, kind))
            for part in node.parts
        )
    if kind(node).startswith("tensor"):
        return False
    if isinstance(node, cst.Name):
        return node.value not in local or kind(node) == "str"
    head = dotted(node).partition(".")[0]
    return head != "" and (head == "self" or head not in local)


def keep_logging(function: FunctionCode, node: cst.Call) -> Repaired:
    """A setting of torch._dynamo for the called function.

    `warnings.warn` is moved behind the graph and still warns; methods of loggers, and the functions of
    logging, are left out of compiled code. Neither is a repair.
    """
    known = qualified(function, node.func)
    heard = {op.name.removeprefix("call ") for op in function.ops_at(node) if op.name.startswith("call ")}
    name = known or next(iter(heard), "")
    spelled = source(function, node.func)
    if name == "warnings.warn":
        return setting(
            function,
            f"reorderable_logging_functions.add({spelled})",
            "let Dynamo move the warning behind the graph: it is given later, and once for each call.",
        )
    if name.startswith("logging.") and isinstance(node.func, cst.Attribute) and name.count(".") == 1:
        return setting(
            function,
            f"ignore_logging_functions.add({spelled})",
            f"let Dynamo leave `{spelled}` out: compiled code does not log.",
            "tells less",
        )
    method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    if method in _LEVELS and any(one.startswith("logging.Logger.") for one in heard):
        imports: tuple[Edit, ...] = ()
        local = next((key for key, value in function.imports.items() if value == "logging"), None)
        if local is None and "logging" in function.imports:
            return Refusal("`logging` is another module here")
        if local is None:
            local, imports = "logging", (import_edit(function, "import logging"),)
        return setting(
            function,
            f"ignore_logger_methods.add({local}.Logger.{method})",
            f"let Dynamo leave calls of loggers' `{method}` out: compiled code does not log.",
            "tells less",
            imports=imports,
        )
    return Refusal("not a function of logging or warnings")


def says(function: FunctionCode, statement: cst.CSTNode) -> bool:
    """Whether a statement does nothing but write a message, which would be left to eager mode as well."""
    said = small_of(statement)
    call = said.value if isinstance(said, cst.Expr) else None
    if not isinstance(call, cst.Call) or any(
        arg.keyword and arg.keyword.value == "file" for arg in call.args
    ):
        return False
    prints = is_name(call.func, "print") and "print" not in function.imports
    return (prints or _logs(function, call)) and not any(effect(arg.value) for arg in call.args)


# Methods and functions that make a number of a tensor without any other effect.
_READS = words("item tolist float int round len str detach cpu numpy") | SAME | TO_BOOL | TO_FLOAT | TO_INT


def _alone(function: FunctionCode, statement: Statement) -> Statement:
    """The `if` around a message that does nothing else; else the message."""
    block = function.parent(statement)
    outer = function.parent(block) if block is not None else None
    if (
        isinstance(outer, cst.If)
        and outer.orelse is None
        and outer.body is block
        and all(one is statement or says(function, one) for one in outer.body.body)
    ):
        return outer
    return statement


def _left_out_together(function: FunctionCode, statement: Statement) -> list[Statement]:
    """The statement with the messages right before and behind it, and what reads a number right before for them alone:
    one guard is for all."""
    place = block_of(function, statement)
    if place is None:
        return [statement]
    beside, at = place
    begin, end = _span(function, beside, at)
    while True:  # what is read for the next message stands between
        ahead = end
        while ahead < len(beside) and assigned(beside[ahead]) is not None:
            ahead += 1
        if ahead in (end, len(beside)) or not _writes_only(function, beside[ahead]):
            return [*beside[begin:end]]  # type: ignore[list-item]
        further = _span(function, beside, ahead)
        if further[0] > begin:
            return [*beside[begin:end]]  # type: ignore[list-item]
        begin, end = further


def _span(function: FunctionCode, beside: Sequence[cst.CSTNode], at: int) -> tuple[int, int]:
    """Where the messages around one in its block begin and end, with the numbers that are read for them alone."""
    begin, end = at, at + 1
    while end < len(beside) and _writes_only(function, beside[end]):
        end += 1
    for here in range(at - 1, -1, -1):
        if not _writes_only(function, beside[here]):
            kept = assigned(beside[here])
            if kept is None or not _is_number_for(function, *kept, beside[here:end]):
                break
            if breaking(function, kept[1]) is None:
                continue  # which goes along where something before it does
        begin = here
    return begin, end


def _writes_only(function: FunctionCode, statement: cst.CSTNode) -> bool:
    """Whether a statement does nothing but write messages, under a test or not, and breaks the graph by it."""
    if breaking(function, statement) is None:
        return False
    if not isinstance(statement, cst.If):
        return says(function, statement)
    return (
        statement.orelse is None
        and isinstance(statement.body, cst.IndentedBlock)
        and not effect(statement.test)
        and all(says(function, one) for one in statement.body.body)
    )


def _is_number_for(
    function: FunctionCode, name: str, value: cst.BaseExpression, statements: Sequence[cst.CSTNode]
) -> bool:
    """Whether a line computes `name` for these statements alone, of which it is the first."""
    calls = [part for part in walk(value) if isinstance(part, cst.Call)]
    return (
        effect(value) is None
        and all(callee(one) in _READS for one in calls)
        and not live_after(function, name, statements)
    )


def only_in_eager(function: FunctionCode, node: cst.Call) -> Repaired:
    """`if not torch.compiler.is_compiling():` around the call: compiled code then does without it.

    Refused for what sets how warnings are shown or records are handled: that is for what comes after it, and for what
    is printed into a file or a stream of the code's own: that is data.
    """
    if any(effect(arg.value) for arg in node.args):
        return Refusal("what it says has an effect")
    streams = [
        source(function, arg.value) for arg in node.args if arg.keyword and arg.keyword.value == "file"
    ]
    if any(
        one.rpartition(".")[2] not in ("stdout", "stderr", "__stdout__", "__stderr__", "None")
        for one in streams
    ):
        return Refusal("what it prints goes into a stream of the code's own")
    if any(
        name is not None and name.startswith("warnings.") and name != "warnings.warn"
        for name in _heard(function, node)
    ):
        return Refusal("it sets how later warnings are shown")
    if any(
        name is not None and name.startswith("logging.") and name.rpartition(".")[2] not in _LEVELS
        for name in _heard(function, node)
    ):
        return Refusal("it sets how later records are handled")
    statement = statement_of(function, node)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1:
        return Refusal("the call shares its line")
    only = statement.body[0]
    if not isinstance(only, cst.Expr) or only.value is not node:
        return Refusal("the call's result is used")
    name, imports = torch_name(function, "torch.compiler.is_compiling")
    first, *more = _left_out_together(function, _alone(function, statement))
    new: dict[cst.CSTNode, New] = dict.fromkeys(more)
    edits: list[Edit] = []
    around = function.parent(first)
    otherwise = function.parent(around) if isinstance(around, cst.IndentedBlock) else None
    whole = isinstance(around, cst.IndentedBlock) and [first, *more] == [*around.body]
    if isinstance(first, cst.If) and not more:
        new[first.test] = and_not(
            function, first.test, f"{name}()", breaking(function, first.test) is not None
        )
    elif whole and isinstance(otherwise, cst.If) and otherwise.orelse is None:
        test = otherwise.test
        new = {test: and_not(function, test, f"{name}()", breaking(function, test) is not None)}
    elif whole and isinstance(otherwise, cst.Else) and isinstance(function.parent(otherwise), cst.If):
        line, column, _, _ = function.range(otherwise)
        edits = [
            *imports,
            Edit(function.path, line, column, line, column + len("else"), f"elif not {name}()"),
        ]
    else:
        above, said = of_next_line(first.leading_lines)
        body = cst.IndentedBlock([first.with_changes(leading_lines=said), *more])
        test = cst.parse_expression(f"not {name}()")
        new[first] = cst.If(test=test, body=body, leading_lines=above)
    return fix(
        "leave the call to eager mode. Compiled code goes without it, and the compiler no longer "
        "sees the code that runs in eager mode.",
        edits or (*imports, *rewrite(function, new)),
        "workaround",
        "tells less",
    )
