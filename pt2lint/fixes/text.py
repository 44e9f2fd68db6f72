"""Code as text: of a node, in one line, in a sentence; and statements from their text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import libcst as cst

from pt2lint.fixes.comments import comments
from pt2lint.rule import FunctionCode, one_line
from pt2lint.rule.tree import spend

LONGEST = 60  # characters of code in a sentence


def statements(function: FunctionCode, lines: Sequence[str]) -> list[Any]:
    """Statements from their source, blocks indented by the module's own indent."""
    config = cst.PartialParserConfig(default_indent=function.module.default_indent)
    made = cst.parse_module("\n".join(lines) + "\n", config).body
    # A blank line stays one where the statements stand deeper.
    return [
        one.with_changes(
            leading_lines=[
                empty if empty.comment else empty.with_changes(indent=False) for empty in one.leading_lines
            ]
        )
        for one in made
    ]


def line(text: str, like: cst.CSTNode | None = None) -> cst.SimpleStatementLine:
    """A simple statement from its source, with the comments that stood above `like`."""
    made = cst.parse_statement(text)
    assert isinstance(made, cst.SimpleStatementLine)
    above = like.leading_lines if isinstance(like, cst.SimpleStatementLine | cst.If | cst.For) else ()
    return made.with_changes(leading_lines=above) if above else made


def source(function: FunctionCode, node: cst.CSTNode) -> str:
    """The node's source, on one line where it is an expression that parentheses hold together."""
    text = function.module.code_for_node(node)
    spend(len(text))
    return _one_line(text) if "\n" in text and isinstance(node, cst.BaseExpression) else text


def sign_of(function: FunctionCode, operator: cst.CSTNode) -> str:
    """An operator without what stands around it, a line end among others."""
    return " ".join(re.sub(r"#.*|\\", "", function.module.code_for_node(operator)).split())


def flat(text: str) -> str:
    """A line of code that goes over several as one, without the comments in it: for a copy beside the original."""
    lines = text.split("\n")
    for comment in comments(text) if "#" in text else ():
        lines[comment.line - 1] = lines[comment.line - 1][: comment.column].rstrip()
    indent = text[: len(text) - len(text.lstrip())]
    return indent + _one_line("\n".join(lines).strip())


def _one_line(text: str) -> str:
    """An expression that stood on several lines, for the line that it comes to to be broken anew; as it is where it
    holds a comment in brackets of its own, or a text over several lines."""
    if "#" in text:
        if _holds_together(text):
            return text
        lines = f"({text}\n)".split("\n")
        for comment in comments("\n".join(lines)):
            lines[comment.line - 1] = lines[comment.line - 1][: comment.column]
        text = "\n".join(lines)[1:-2]
    flat = re.sub(r"(?<=[(\[{]) | (?=[)\]}]|\.[^\W\d])", "", re.sub(r"\s*\\?\n\s*", " ", text))
    for one in (re.sub(r",(?=[)\]}])", "", flat), flat):
        try:
            if ast.dump(ast.parse(one)) == ast.dump(ast.parse(f"({text})")):
                return one
        except SyntaxError:
            continue
    return text


def _holds_together(text: str) -> bool:
    """Whether the lines of an expression are one without what stands around it."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def cut(text: str) -> str:
    """The text in one line, as long as code in a sentence may be."""
    text = one_line(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def in_parentheses(text: str) -> str:
    """The expression in parentheses unless it binds tighter than any operator."""
    node = cst.parse_expression(text)
    plain = cst.Name | cst.Call | cst.Attribute | cst.Subscript | cst.Integer | cst.Float | cst.SimpleString
    return text if isinstance(node, plain) or getattr(node, "lpar", None) else f"({text})"
