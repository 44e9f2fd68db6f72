"""Comments in the code that silence findings, and which of them silence nothing.

    y = x.item()  # noqa: PTB103                 this statement, these codes (prefixes too: PTB)
    y = x.item()  # noqa                         this statement, every code
    y = x.item()  # pt2lint: ignore[PTB103]      the same, of no concern to other linters
    # pt2lint: ignore[PTB103]                     on a line of its own: the whole statement below, its block
    # too pt2lint: ignore-file[PTB103]               the file; without brackets every code

A comment after a statement of several lines covers it whole when it stands on its first or last line.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from pt2lint.finding import Edit, Finding, Fix
from pt2lint.project.pages import UNUSED

# Codes of our own families; PT001, say, is one of flake8-pytest-style.
_FAMILIES = ("PTB", "PTR", "PTS", "PTX")
_OURS = re.compile(rf"(?:{'|'.join(_FAMILIES)})\d*$")
_COMMENT = re.compile(
    r"#\s*(?:(?i:noqa)(?:\s*:\s*(?P<listed>[A-Z]+[0-9]*\b(?:\s*,\s*[A-Z]+[0-9]*\b|\s+[A-Z]+[0-9]+\b)*)|(?!\s*[:\w-]))"
    r"|pt2lint:\s*(?P<what>ignore-file|ignore)\b(?:\s*\[(?P<named>[^\]]*)\])?)"
)
_CODE = re.compile(r"[A-Za-z]+[0-9]*")
_MAYBE = re.compile(r"#[^\n\r]*?(?:(?i:noqa)|pt2lint:)[^\n\r]*")


def _may_silence(line: re.Match[str]) -> bool:
    """Whether what looks like a comment may silence a finding of ours: other linters' codes are not ours."""
    return any(
        match["listed"] is None
        or any(code.startswith("P") for code in _CODE.findall(match["listed"].upper()))
        for match in _COMMENT.finditer(line[0])
    )


def may_be_ours(says: Callable[[str], bool]) -> bool:
    """Whether a file may hold a comment that is idle where it silences nothing, by the words that its text `says`."""
    return says("pt2lint:") or any(map(says, _FAMILIES))


@dataclass
class Comment:
    """One suppression: its codes (none: all), the lines it covers and where it stands.

    `text` is the whole comment, from column `column` (from 1) of line `line`; `match` the part that
    suppresses; `space` counts the blanks before it.
    """

    codes: tuple[str, ...]
    first: int
    last: int
    line: int
    column: int
    text: str
    match: tuple[int, int]
    space: int
    alone: bool
    noqa: bool
    used: set[str] = field(default_factory=set)

    def as_plain(self) -> list[Any]:
        """All but what it silenced, as JSON has it."""
        return [getattr(self, each.name) for each in fields(self) if each.name != "used"]

    @classmethod
    def from_plain(cls, data: Sequence[Any]) -> Comment:
        values: list[Any] = [tuple(each) if isinstance(each, list) else each for each in data]
        return cls(*values)

    def silences(self, finding: Finding) -> bool:
        if not self.first <= finding.line <= self.last or finding.code == UNUSED.code:
            return False
        hits = [code for code in self.codes if finding.code.startswith(code)]
        self.used.update(hits)
        return bool(hits) or not self.codes


def comments(source: str) -> list[Comment]:
    """The suppressions in a file's text, in order; none where the text does not tokenize or parse."""
    if not any(map(_may_silence, _MAYBE.finditer(source))):
        return []  # to find tokens takes a hundred times as long
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return list(_comments(source))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return []


def _comments(source: str) -> Iterator[Comment]:
    pending: list[tokenize.TokenInfo] = []
    start = 0  # of the logical line; 0 between two of them
    statements: dict[int, int] | None = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if start:
                pending.append(token)
                continue
            for match in _COMMENT.finditer(token.string):
                if match["what"] == "ignore-file":
                    yield _comment(token, match, 1, source.count("\n") + 1, alone=True)
                elif match["what"] == "ignore":
                    if statements is None:
                        statements = _statements(source)
                    line = min((line for line in statements if line > token.start[0]), default=None)
                    if line is not None:
                        yield _comment(token, match, line, statements[line], alone=True)
        elif token.type == tokenize.NEWLINE:
            end = token.start[0]
            for comment in pending:
                line = comment.start[0]
                first, last = (start, end) if line in (start, end) else (line, line)
                for match in _COMMENT.finditer(comment.string):
                    if match["what"] != "ignore-file":
                        yield _comment(comment, match, first, last, alone=False)
            pending, start = [], 0
        elif not start and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            start = token.start[0]


def _statements(source: str) -> dict[int, int]:
    """The last line of the statement that starts on each line, decorators and block included."""
    ends: dict[int, int] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            ends[first] = max(ends.get(first, 0), node.end_lineno or first)
    return ends


def _comment(
    token: tokenize.TokenInfo, match: re.Match[str], first: int, last: int, *, alone: bool
) -> Comment:
    codes = tuple(code.upper() for code in _CODE.findall(match["listed"] or match["named"] or ""))
    line, column = token.start
    noqa = match["what"] is None
    before = token.line[:column]
    space = len(before) - len(before.rstrip(" \t"))
    return Comment(codes, first, last, line, column + 1, token.string, match.span(), space, alone, noqa)


def split(findings: Iterable[Finding], comments: Iterable[Comment]) -> tuple[list[Finding], list[Finding]]:
    """One file's findings as (those that stay, those that a comment silences)."""
    comments = list(comments)
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in findings:
        # Every comment is asked, so that each of two that silence one finding is known to be used.
        hits = [comment.silences(finding) for comment in comments]
        (silenced if any(hits) else kept).append(finding)
    return kept, silenced


def unused(path: str, comments: Iterable[Comment], looked_for: Callable[[str], bool]) -> list[Finding]:
    """A finding for each comment that names codes which silenced nothing, with its removal as a safe fix.

    `looked_for` says whether a code or prefix was looked for at all; one that was not is left alone.
    """
    found = []
    for comment in comments:
        idle = [
            code
            for code in comment.codes
            if code not in comment.used and (not comment.noqa or _OURS.match(code)) and looked_for(code)
        ]
        if not idle:
            continue
        column = comment.column + comment.match[0]
        names = ", ".join(f"`{code}`" for code in idle)
        found.append(
            Finding(
                code=UNUSED.code,
                name=UNUSED.name,
                message=f"This comment silences nothing: no {names} is reported here",
                path=path,
                line=comment.line,
                column=column,
                end_line=comment.line,
                end_column=comment.column + comment.match[1],
                severity=UNUSED.severity,
                fixes=(Fix("Remove what silences nothing.", "safe", (_removal(path, comment, idle),)),),
            )
        )
    return found


def _removal(path: str, comment: Comment, idle: list[str]) -> Edit:
    start, end = comment.match
    part = comment.text[start:end]
    left = [code for code in comment.codes if code not in idle]
    whole = ((comment.line, comment.column, comment.line, comment.column + len(comment.text)),)
    if left:
        at = part.index("[") + 1 if "[" in part else part.index(":") + 1
        codes = ", ".join(left)
        part = part[:at] + (codes + "]" if "[" in part else " " + codes)
        text = comment.text[:start] + part + comment.text[end:]
    else:
        before, after = comment.text[:start].rstrip(), comment.text[end:].strip()
        text = before + ("  " if before and after.startswith("#") else "")
        text += after if not after or after.startswith("#") or before else "# " + after.lstrip(":-, ")
    if text:
        return Edit(path, *whole[0], text, whole)
    if comment.alone:
        return Edit(path, comment.line, 1, comment.line + 1, 1, "", whole)
    start = comment.column - comment.space
    return Edit(path, comment.line, start, comment.line, whole[0][3], "", whole)


def add_noqa(source: str, findings: Iterable[Finding]) -> str:
    """The text with a `# noqa: CODE` at the end of each finding's statement, joined to one that is there.

    Line ends stay as they are. Raises SyntaxError or tokenize.TokenError for text that is no Python.
    """
    lines = re.split(r"(\r\n|\r|\n)", source)
    text, ends = lines[::2], lines[1::2]
    ending = _logical_ends("\n".join(text))
    wanted: dict[int, set[str]] = {}
    for finding in findings:
        wanted.setdefault(ending.get(finding.line, finding.line), set()).add(finding.code)
    for line, codes in wanted.items():
        body = text[line - 1].rstrip()
        match = next((m for m in _COMMENT.finditer(body) if m["what"] is None and m["listed"]), None)
        if match:
            listed = [code.upper() for code in _CODE.findall(match["listed"])]
            more = [code for code in sorted(codes) if not code.startswith(tuple(listed))]
            if more:
                at = match.end("listed")
                text[line - 1] = body[:at] + ", " + ", ".join(more) + body[at:]
        else:
            text[line - 1] = f"{body}  # noqa: {', '.join(sorted(codes))}"
    return "".join(part for pair in zip(text, [*ends, ""], strict=True) for part in pair)


def _logical_ends(source: str) -> dict[int, int]:
    """The last line of the logical line that each line belongs to."""
    ends: dict[int, int] = {}
    start = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            ends.update(dict.fromkeys(range(start, token.start[0] + 1), token.start[0]))
            start = 0
        elif not start and token.type not in (
            tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT
        ):  # fmt: skip
            start = token.start[0]
    return ends
