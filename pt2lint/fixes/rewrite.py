"""Rewriting of a function's tree: how a repair turns new nodes into edits."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import libcst as cst

from pt2lint.finding import Edit
from pt2lint.fixes.comments import carry, speak_of_gone
from pt2lint.fixes.edit import apply_edits
from pt2lint.fixes.file import file_of
from pt2lint.fixes.layout import broken
from pt2lint.fixes.names import reads
from pt2lint.fixes.nodes import assigned
from pt2lint.fixes.repaired import DEAD_NAME, NO_LINE, SAID
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import spend, walk

New: TypeAlias = "cst.CSTNode | Sequence[cst.CSTNode] | None"


def replaced(node: cst.CSTNode, new: Mapping[cst.CSTNode, New]) -> cst.CSTNode:
    """The tree with nodes (found by identity) replaced, by several for a sequence, removed for None."""
    from pt2lint.fixes.replace import Replace

    return node.visit(Replace(node, new))  # type: ignore[return-value]


def rewrite(function: FunctionCode, new: Mapping[cst.CSTNode, New]) -> tuple[Edit, ...]:
    """The edits that replace nodes of the function: only what changed, so that the rest keeps its format.

    Comments of what is replaced go with what takes its place (`pt2lint.fixes.comments`), but for those of a statement
    that goes which say how it is compiled.
    New lines that are too long are broken. An assignment whose name nothing reads any more goes too; where its value
    may have an effect, or a comment speaks to a tool about a line that goes, `fix` refuses what the edits are part of.
    """
    module, code = function.module, function.code
    spend(4 * len(code))
    header = code.count("\n") - function.text.count("\n")
    from pt2lint.fixes.replace import Replace

    replacing = Replace(module, new)
    made: cst.Module = module.visit(replacing)
    # A carriage return alone cannot be told from a line's content here; such files are of another age.
    dead = _dead(function, made)
    if dead is None:
        return (DEAD_NAME,)
    if dead:
        return rewrite(function, {**new, **dict.fromkeys(dead)})
    old = code.removesuffix("\n").split("\n")[header:]
    # LibCST leaves out a form feed before indentation; the lines that hold one stay as they are.
    plain_code = module.code if "\f" in code else code
    plain = plain_code.removesuffix("\n").split("\n")[header:]
    stale = [comment for node, instead in new.items() if instead is None for comment in _of_compiling(node)]
    carried = carry(
        function.written, made, replacing.became, plain_code, [comment.value for comment in stale]
    )
    if carried is None:
        return (NO_LINE,)
    after = _with_continued(carried.removesuffix("\n").split("\n"), plain)[header:]
    replaced_ = [function.range(node) for node in (*new, *stale)]
    file = file_of(function)
    edits = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, plain, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        before, text = old[i:j], after[k:m]
        if speak_of_gone(after, k, before, text):
            return (SAID,)
        longest = max([file.line_length, *map(len, before)])
        long = {
            line.strip() for line in before if len(line) > file.line_length
        }  # nobody has broken them either
        pieces = (
            [one] if one.strip() in long else broken(one, longest, module.default_indent) for one in text
        )
        lines_ = [part for each in pieces for part in each]
        first = function.first_line + i
        if lines_ != text and before:  # parentheses around what stays
            indent = len(before[0]) - len(before[0].lstrip())
            replaced_.append((first, indent + 1, first + len(before) - 1, len(before[-1].rstrip()) + 1))
        text = lines_
        if len(before) == len(text) == 1 and before == plain[i:j]:
            edit = _within_line(function.path, first, before[0], text[0])
        else:
            lines = "".join(line.rstrip("\r") + "\n" for line in text)
            if first + len(before) > len(file.lines):
                lines = lines.removesuffix("\n")  # the file's last line has no end
            edit = Edit(function.path, first, 1, first + len(before), 1, lines)
        edits.append(edit)
    replaces = tuple(sorted(replaced_))
    return tuple(dataclasses.replace(edit, replaces=replaces) for edit in edits)


def _with_continued(after: list[str], before: Sequence[str]) -> list[str]:
    """The lines; those after a backslash go with theirs where that is indented further, unless they are in a text."""
    known = {line.lstrip(): len(line) - len(line.lstrip()) for line in before if line.endswith("\\")}
    made, shift = [*after], 0
    for at, line in enumerate(after[:-1]):
        if not line.endswith("\\"):
            shift = 0
            continue
        if not shift and line.lstrip() in known:
            shift = len(line) - len(line.lstrip()) - known[line.lstrip()]
        if shift > 0:
            made[at + 1] = " " * shift + after[at + 1]
    if made == after:
        return after
    try:
        same = ast.dump(ast.parse("\n".join(made))) == ast.dump(ast.parse("\n".join(after)))
    except SyntaxError:
        same = False
    return made if same else after


def laid_out(function: FunctionCode, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, those of a line as one where it gets too long by them, is a whole statement, and can be broken; so
    with what one of them puts in the place of several lines."""
    file = file_of(function)
    found: list[Edit] = []
    for at in dict.fromkeys(edit.line for edit in edits):
        here = [edit for edit in edits if edit.line == at]
        line = file.lines[at - 1] if 0 < at <= len(file.lines) else ""
        end = at if len(here) > 1 else min(here[0].end_line, len(file.lines))
        last, most = file.lines[end - 1] if end > 0 else "", file.line_length
        alone = all(edit.end_line == end and "\n" not in edit.text for edit in here)
        if alone and not any(edit.line < at <= edit.end_line for edit in edits):
            if end == at:
                after = apply_edits(line, [dataclasses.replace(edit, line=1, end_line=1) for edit in here])
                most = max(most, len(line))
            else:
                after = line[: here[0].column - 1] + here[0].text + last[here[0].end_column - 1 :]
            lines = broken(after, most, function.module.default_indent)
            if len(lines) > 1:
                indent = len(line) - len(line.lstrip())
                whole = (at, indent + 1, end, len(last) + 1)
                here = [Edit(function.path, *whole, "\n".join(lines)[indent:], (whole,))]
        found += here
    return tuple(found)


def aligned(function: FunctionCode, node: cst.Call, name: str) -> list[Edit]:
    """The edits that keep lines below the opening bracket there, where what is called gets another name."""
    first, _, last, _ = function.range(node)
    column = function.range(node.func)[3] + 1  # after the bracket
    shift = len(name) - len(source(function, node.func))
    lines = function.text.split("\n")
    below = [
        (at, text) for at in range(first + 1, last + 1) if (text := lines[at - function.first_line]).strip()
    ]
    starts = [len(text) - len(text.lstrip(" ")) + 1 for _, text in below]
    fits = all(len(text) + shift <= file_of(function).line_length or shift < 0 for _, text in below)
    if shift == 0 or not fits or any(start < column for start in starts):
        return []
    return [Edit(function.path, at, column + min(shift, 0), at, column, " " * shift) for at, _ in below]


_COMPILING = re.compile(r"torch\.compile|dynamo|graph[ -]?break|recompil", re.IGNORECASE)


def _of_compiling(node: cst.CSTNode) -> list[cst.Comment]:
    """The comments right above a statement, where they say how it is compiled."""
    found: list[cst.Comment] = []
    for empty in getattr(node, "leading_lines", ()):
        found = [*found, empty.comment] if empty.comment is not None else []
    return found if any(_COMPILING.search(comment.value) for comment in found) else []


def _dead(function: FunctionCode, after: cst.Module) -> list[cst.CSTNode] | None:
    """The assignments of names that were read before and are no longer; None where one of them must stay."""
    gone = reads(function.module) - reads(after)
    dead: list[cst.CSTNode] = []
    for line_ in walk(after) if gone else ():
        made = assigned(line_) if isinstance(line_, cst.SimpleStatementLine) else None
        if isinstance(line_, cst.SimpleStatementLine) and made is not None and made[0] in gone:
            if not _is_plain(made[1]) or line_.leading_lines or line_.trailing_whitespace.comment:
                return None
            if function.parent(line_) is None:  # not of the code as it was
                return None
            dead.append(line_)
    return dead


def _is_plain(value: cst.BaseExpression) -> bool:
    """Whether the value surely has no effect and raises nothing: names, attributes, literals."""
    if isinstance(value, cst.Attribute):
        return _is_plain(value.value)
    return isinstance(value, cst.Name | cst.SimpleString | cst.Integer | cst.Float)


def _within_line(path: str, line: int, old: str, new: str) -> Edit:
    """The edit of one line, cut down to whole words."""
    words = [re.findall(r"\w+|\s+|.", text) for text in (old, new)]
    shortest = min(map(len, words))
    start = next((n for n in range(shortest) if words[0][n] != words[1][n]), shortest)
    end = next((n for n in range(shortest - start) if words[0][-1 - n] != words[1][-1 - n]), shortest - start)
    column = len("".join(words[0][:start])) + 1
    cut = "".join(words[0][start : len(words[0]) - end])
    text = "".join(words[1][start : len(words[1]) - end])
    return Edit(path, line, column, line, column + len(cut), text.rstrip("\r"))


def with_argument(function: FunctionCode, call: cst.Call, text: str) -> tuple[Edit, ...]:
    """An argument behind the others of a call, on a line of its own where the last one has one."""
    path, last = function.path, call.args[-1]
    line, column, _, _ = function.range(last)
    _, _, end_line, end = function.range(last.value)
    before = call.args[-2].value if len(call.args) > 1 else call.func
    margin = function.source.split("\n")[line - 1][: column - 1] or " " * (column - 1)
    if function.range(before)[2] == line or margin.strip():
        return laid_out(function, [Edit(path, end_line, end, end_line, end, f", {text}")])
    if function.range(call)[2] == end_line:
        return (Edit(path, end_line, end, end_line, end, f",\n{margin}{text}"),)
    # A comment behind the last one stays there.
    if isinstance(last.comma, cst.Comma):
        return (Edit(path, end_line + 1, 1, end_line + 1, 1, f"{margin}{text},\n"),)
    comma = Edit(path, end_line, end, end_line, end, ",")
    return (comma, Edit(path, end_line + 1, 1, end_line + 1, 1, f"{margin}{text}\n"))
