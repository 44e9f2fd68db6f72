"""A logged message that holds values: logged by an operator of the graph, at each call and with the values of that
call."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.condition import read_of
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, words
from pt2lint.fixes.names import binds, reads
from pt2lint.fixes.nodes import enclosing_function, parameters
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, fix
from pt2lint.fixes.rewrite import replaced, rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode

SINCE = (2, 6)  # measured from here on, in eager mode and with the backends eager, aot_eager and inductor
ORDER = "_LOG_ORDER"
_METHODS = words("debug info warning warn error critical warning_once info_once")
_TYPES = {"int": "SymInt", "float": "float", "bool": "bool", "str": "str"}


def log_in_graph(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`logger.info(f"{n} of {t.item()}")` as a call of a custom operator that logs the same, with `n` and `t` as its
    arguments.

    Sizes stay symbols, and numbers are read out of tensors on the host. Of what is known only to be no tensor the text
    is passed. Refused where a tensor itself is formatted, whose text says how its gradient is computed; where the
    logger is no name of the file; with keywords; and for `warnings.warn`. Unsafe: the record says that it comes from
    the operator.
    """
    method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    owner = enclosing_function(function, node)
    if method not in _METHODS or owner is None or not isinstance(function.parent(node), cst.Expr):
        return Refusal("no logger is told something")
    if function.target < SINCE:
        return Refusal("what this torch makes of such an operator was not measured")
    if (qualified(function, node.func) or "").startswith("warnings."):
        return Refusal("a warning counts the frames that it comes from")
    local = set(binds(owner.body)) | {param.name.value for param in parameters(owner)}
    if reads(node.func) & local:
        return Refusal("the logger is not a name of the file")
    if any(arg.keyword is not None or arg.star for arg in node.args):
        return Refusal("the logger is given a keyword or a starred argument")
    passed = _Passed(function, kind, local)
    for arg in node.args:
        passed.read(arg.value)
    if passed.refused:
        return Refusal(passed.refused)
    if not passed.given:
        return Refusal("the message holds no value")
    name = _name(function, node, owner)
    if re.search(rf"\b{name}\b", function.source or function.text) or name in passed.given:
        return Refusal(f"the name `{name}` is taken")
    file = file_of(function)
    at = file.after_what_binds(reads(node.func))
    operator, imports = torch_name(function, "torch.library.custom_op", at)
    indent, names = function.module.default_indent, ", ".join(passed.given)
    schema = ", ".join(f"{type_} {one}" for one, (type_, _) in passed.given.items())
    space = re.sub(r"\W", "_", Path(function.path).stem)
    said = source(function, replaced(node, passed.new)).replace("\n", f"\n{indent}")
    zeros, more = torch_name(function, "torch.zeros", at)
    tensor = f"{ORDER} = {zeros}(())"
    whole = function.source or function.text
    if ORDER in passed.given or (re.search(rf"\b{ORDER}\b", whole) and f"\n{tensor}\n" not in whole):
        return Refusal(f"the name `{ORDER}` is taken")
    order = () if f"\n{tensor}\n" in whole else (Edit(function.path, at, 1, at, 1, _ORDERED.format(tensor)),)
    text = f"""

# An operator, so that the graph goes on: it logs at each call, with the values of that call.
@{operator}(
{indent}"{space}::{name.strip("_")}",
{indent}mutates_args=("order",),
{indent}schema="(Tensor(a!) order, {schema}) -> ()",
)
def {name}(order, {names}):
{indent}{said}


@{name}.register_fake
def _(order, {names}):
{indent}return None
"""
    text += "\n" * max(0, 2 - file.blank_from(at))
    call = cst.parse_expression(f"{name}({ORDER}, {', '.join(value for _, value in passed.given.values())})")
    return fix(
        "Log by a custom operator, which the graph calls: at each call, in order, and with the values of that call. "
        "The record says that it comes from the operator.",
        (
            *dict.fromkeys((*imports, *more)),
            *order,
            Edit(function.path, at, 1, at, 1, text),
            *rewrite(function, {node: call}),
        ),
        "once proven",
    )


_ORDERED = """

# No number in it matters: operators that change it stay in the graph, and in their order.
{}
"""


class _Passed:
    """What of a message is passed to the operator: `given` is {parameter: (its type, the expression)}, `new` what
    stands in the message in its place."""

    def __init__(self, function: FunctionCode, kind: Kind, local: set[str]) -> None:
        self.function, self.kind, self.local = function, kind, local
        self.given: dict[str, tuple[str, str]] = {}  # `order` is the operator's own
        self.new: dict[cst.CSTNode, cst.BaseExpression] = {}
        self.refused = ""

    def read(self, node: cst.BaseExpression) -> None:
        if isinstance(node, cst.SimpleString | cst.Integer | cst.Float):
            return
        if isinstance(node, cst.ConcatenatedString):
            self.read(node.left)
            self.read(node.right)
        elif isinstance(node, cst.FormattedString):
            for part in node.parts:
                if isinstance(part, cst.FormattedStringExpression):
                    self.field(part)
        elif not self.value(node, plain=True):
            self.refuse(node)

    def field(self, part: cst.FormattedStringExpression) -> None:
        """`{value}`, as text where nothing is known of it; with a format it has to be a number."""
        plain = not part.format_spec and part.conversion is None
        fields = any(not isinstance(one, cst.FormattedStringText) for one in part.format_spec or ())
        if part.equal is not None or fields or not self.value(part.expression, plain):
            self.refuse(part.expression)

    def value(self, node: cst.BaseExpression, plain: bool) -> bool:
        word = self.kind(node)
        if word in _TYPES:
            # Sums of names: the names are passed, and summed there.
            if isinstance(node, cst.BinaryOperation) and all(
                self.value(one, False) for one in (node.left, node.right)
            ):
                return True
            if isinstance(node, cst.Integer | cst.Float):
                return True
            self.take(node, _TYPES[word], source(self.function, node))
            return True
        read = read_of(node) if isinstance(node, cst.Call) else None
        if read is not None and self.kind(read).startswith("tensor"):
            name = self.take(read, "Tensor", source(self.function, read))
            self.new[read] = cst.Name(name)
            return True
        if word.startswith("tensor") or "tensor" in word or not plain or effect(node) is not None:
            return False
        self.take(node, "str", f"str({source(self.function, node)})")
        return True

    def take(self, node: cst.BaseExpression, type_: str, value: str) -> str:
        base = node.value if isinstance(node, cst.Name) else "value"
        if isinstance(node, cst.Attribute):
            base = node.attr.value
        name, number = base, 1
        while name == "order" or (name in self.given and self.given[name] != (type_, value)):
            number += 1
            name = f"{base}_{number}"
        self.given[name] = (type_, value)
        self.new[node] = cst.Name(name)
        return name

    def refuse(self, node: cst.BaseExpression) -> None:
        self.refused = f"`{source(self.function, node)}` is not known to be a number, or formatted as one"


def _name(function: FunctionCode, node: cst.Call, owner: cst.FunctionDef) -> str:
    """The operator's name: of the function that logs, and counted where functions of that name log more than once."""
    line = function.range(node)[0]
    found = owner.name.value
    before = sum(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _METHODS
        and call.lineno < line
        for one in file_of(function).nodes
        if isinstance(one, ast.FunctionDef) and one.name == found
        for call in ast.walk(one)
    )
    return f"_log_in_{found.strip('_')}" + (f"_{before + 1}" if before else "")
