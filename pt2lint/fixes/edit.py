"""Edits to source files: chosen from findings, applied to text, shown as a patch, written atomically.

Positions are those of `pt2lint.finding.Edit`: lines and columns from 1, columns in code points, end
exclusive. Lines end as Python's own do, at "\\n", "\\r\\n" or "\\r" and nowhere else: a form feed
is a character of its line.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import tokenize
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pt2lint.digests import blake2b
from pt2lint.finding import Applicability, Edit, Finding, Fix

_LINE_END = re.compile(r"\r\n|\r|\n")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class EditError(ValueError):
    """Edits that cannot be applied, or a text that must not be written; `str()` is one line for the user."""


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """`source` with every edit applied; edits of other paths are the caller's to sort out.

    Line ends in an edit's text become that of the line where it begins, of a last line the file's first; all text
    outside the edits stays as it is. Insertions at one point land in the order given; identical edits count once.

    Raises EditError where an edit lies outside the text or two edits overlap.
    """
    starts = [0, *(end.end() for end in _LINE_END.finditer(source))]
    newline = found.group() if (found := _LINE_END.search(source)) else "\n"
    spans = []
    for order, edit in enumerate(dict.fromkeys(edits)):
        start = _offset(source, starts, edit.line, edit.column, edit)
        end = _offset(source, starts, edit.end_line, edit.end_column, edit)
        if start > end:
            raise EditError(f"{edit.path}:{edit.line}: an edit ends before it starts")
        # An insertion at the start of a replaced range goes before it, one at its end after it.
        spans.append((start, end, order, edit))
    spans.sort(key=lambda span: span[:3])
    out, done = [], 0
    for start, end, _, edit in spans:
        if start < done:
            raise EditError(f"{edit.path}:{edit.line}: two edits overlap")
        text, own = edit.text, _LINE_END.search(source, start)
        if start == len(source) and source and not _ends_line(source) and edit.column == 1:
            text = newline + text  # a line added after a last line that has no end
        out += [source[done:start], _LINE_END.sub(own.group() if own else newline, text)]
        done = end
    return "".join([*out, source[done:]])


def _ends_line(source: str) -> bool:
    return source.endswith(("\n", "\r"))


def _offset(source: str, starts: Sequence[int], line: int, column: int, edit: Edit) -> int:
    # One line past the end is the end: where an import goes in a file that is nothing but imports.
    if line == len(starts) + 1 and column == 1 and source and not _ends_line(source):
        return len(source)
    if 1 <= line <= len(starts):
        after = starts[line] if line < len(starts) else len(source)
        body = source[starts[line - 1] : after].rstrip("\r\n") if line < len(starts) else source[starts[-1] :]
        if 1 <= column <= len(body) + 1:
            return starts[line - 1] + column - 1
    raise EditError(
        f"{edit.path}:{line}:{column}: an edit lies outside the file; has it changed since it was read?"
    )


@dataclass
class Choice:
    """What `choose` took: the edits to apply by path, and the fixes in them, or waiting for another round."""

    edits: dict[str, list[Edit]] = field(default_factory=dict)
    taken: list[tuple[Finding, Fix]] = field(default_factory=list)
    waiting: list[tuple[Finding, Fix]] = field(default_factory=list)


def choose(
    findings: Iterable[Finding],
    applicability: Applicability = "safe",
    proven_only: bool = False,
    to_prove: bool = False,
) -> Choice:
    """At most one fix a finding, none of which touches another.

    `applicability` is the most that is allowed: "safe" takes safe fixes, and those that are proven and no way
    round; "unsafe" takes all but those that wait for proof, which are taken `to_prove` them, as what is told but
    can be tried. With `proven_only`, a fix must be proven (what --verify demands); a fix that was disproved is
    never taken, and neither is one of a finding that Dynamo refuted. Of a finding's fixes the first that qualifies
    is taken, a proven one before the others. A fix whose edits overlap with those of an earlier finding waits for
    the next round, and so does a setting for the whole process where another fix changes the finding's line; the same
    import added by several fixes is added once. What only has compiled code log less is left where Dynamo leaves the
    function to Python all the same.
    """
    choice = Choice()
    first: list[tuple[Finding, Fix]] = []
    lost: set[str] = set()
    findings = [*findings]
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        fixes = [
            fix
            for fix in finding.fixes
            if (fix.is_to_try if to_prove else fix.is_usable)
            and (fix.proven or not (proven_only or (fix.waits_for_proof and not to_prove)))
            and (applicability == "unsafe" or fix.applicability == "safe" or fix.is_proven_repair)
        ]
        if finding.verdict == "refuted":
            continue
        if not fixes:
            lost |= _given_up(finding)
            continue
        first.append((finding, next((fix for fix in fixes if fix.proven), fixes[0])))
    first = [
        (one, fix) for one, fix in first if fix.proven or not (fix.tells_otherwise and _stands_in(one) & lost)
    ]
    for finding, fix in sorted(first, key=lambda one: one[1].is_setting):
        edits = [edit for edit in fix.edits if edit not in choice.edits.get(edit.path, ())]
        new = [edit for edit in edits if not _is_import(edit)]
        if not edits:
            choice.taken.append((finding, fix))  # another finding's fix does all of it
            continue
        if not new or any(_touch(edit, other) for edit in edits for other in choice.edits.get(edit.path, ())):
            choice.waiting.append((finding, fix))
            continue
        if fix.is_setting and any(
            edit.line <= finding.line <= edit.end_line for edit in choice.edits.get(finding.path, ())
        ):
            choice.waiting.append((finding, fix))  # what is done to its line may leave nothing to set
            continue
        for edit in edits:
            choice.edits.setdefault(edit.path, []).append(edit)
        choice.taken.append((finding, fix))
    return choice


def _given_up(finding: Finding) -> set[str]:
    """The function that a break in a loop leaves to Python, as a whole, by its name in messages."""
    price = finding.price
    leaves = price is not None and price.gives_up in ("function", "caller")
    return {f"`{price.left}`"} if leaves and price and "inside a loop" in finding.message else set()


def _stands_in(finding: Finding) -> set[str]:
    """The function that the finding stands in, by the same."""
    return {*re.findall(r"`[^`]+`", finding.flow[-1].message)[-1:]} if finding.flow else set()


def _is_import(edit: Edit) -> bool:
    whole_lines = edit.column == 1 and (edit.line, 1) == (edit.end_line, edit.end_column)
    return whole_lines and edit.text.startswith(("import ", "from ")) and edit.text.endswith("\n")


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits share a character, or one inserts where the other ends or begins (imports may)."""
    first, second = sorted((one, other), key=_span)
    start, end = _span(second)[:2], _span(first)[2:]
    if start == end and (_span(one)[:2] == _span(one)[2:] or _span(other)[:2] == _span(other)[2:]):
        return not (_is_import(one) and _is_import(other))
    return start < end


def _span(edit: Edit) -> tuple[int, int, int, int]:
    return (edit.line, edit.column, edit.end_line, edit.end_column)


def diff(path: str, old: str, new: str) -> str:
    """The unified diff from `old` to `new` as `git apply` takes it ("" where they are equal).

    `path` is relative to the folder the patch is applied in; a path inside the working folder is made so, and of a link
    the file that it leads to is named, as no patch goes through a link.
    """
    if old == new:
        return ""
    import difflib

    name = within(path) or path
    name = name.replace(os.sep, "/").removeprefix("./").lstrip("/")
    # git: a name that holds a space ends with a tab; quotes and control characters are escaped.
    tail = "\t" if " " in name else ""
    quoted = any(character in '"\\' or ord(character) < 32 for character in name)

    def header(mark: str, prefix: str) -> str:
        full = f"{prefix}/{name}"
        return f"{mark} {_quote(full) if quoted else full + tail}\n"

    out = [header("---", "a"), header("+++", "b")]
    for line in list(difflib.unified_diff(_diff_lines(old), _diff_lines(new), n=3))[2:]:
        if _HUNK.match(line) or line.endswith("\n"):
            out.append(line)
        else:
            out.append(line + "\n\\ No newline at end of file\n")
    return "".join(out)


def within(path: str) -> str | None:
    """The path of the file itself, links followed, from the working folder on; None where that does not hold it."""
    with contextlib.suppress(ValueError):  # on another drive
        name = os.path.relpath(os.path.realpath(path), os.path.realpath(os.curdir))
        return None if name.split(os.sep)[0] == os.pardir else name
    return None


def _diff_lines(text: str) -> list[str]:
    """Lines as git sees them: only a line feed ends one."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _quote(name: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c if ord(c) >= 32 else f"\\{ord(c):03o}") for c in name) + '"'


def read_source(path: str | Path) -> tuple[str, str]:
    """A Python file's text, line ends and all, and its declared encoding ("utf-8-sig": it starts with a BOM).

    Raises OSError, and EditError where the bytes are not in the declared encoding.
    """
    return decoded(path, Path(path).read_bytes())


def decoded(path: str | Path, data: bytes) -> tuple[str, str]:
    """The text of a Python file's bytes and its encoding, as `read_source`."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise EditError(f"{path}: cannot be decoded: {error}") from None


def check_source(path: str, text: str, encoding: str = "utf-8") -> bytes:
    """The bytes of `text`; raises EditError where it cannot be encoded or Python would not compile it."""
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        raise EditError(
            f"{path}: the fix needs a character that {encoding} lacks: {error.object[error.start]!r}"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" (line {line}: {error.args[0]})" if line else f" ({error})"
        raise EditError(
            f"{path}: the fixes would leave a file that does not parse{where}; nothing was written"
        ) from None
    return data


def checked(path: str, old: str, edits: Sequence[Edit], encoding: str = "utf-8") -> str:
    """The text with the edits, which all are of this path, once nothing is seen to be lost and it compiles.

    Raises EditError where the edits do not apply, the new text does not compile or cannot be encoded, or something is
    gone that no edit says it replaces.
    """
    from pt2lint.fixes.loss import replaced_by, what_is_lost

    new = apply_edits(old, edits)
    check_source(path, new, encoding)
    found = what_is_lost(old, new, replaced_by(edits))
    if found is not None:
        raise EditError(f"{path}:{edits[0].line}: a fix was left out: it {found}")
    return new


def only_comments(path: str, old: str, new: str) -> str:
    """The new text, once all that it adds to the old one are comments, or codes to them; raises EditError."""
    from pt2lint.fixes.loss import code_is_same

    if not code_is_same(old, new):
        raise EditError(f"{path}: the comments would change the code; nothing was written")
    return new


def write_atomically(path: str | Path, text: str, encoding: str = "utf-8", read: bytes | None = None) -> None:
    """Replace the file's content by `text`, whole or not at all.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and take the file's place in
    one step; mode, owner and extended attributes are kept, and a link's target is what is written. `encoding` is
    what `read_source` returned; line ends are written as they stand in `text`. `read` are the bytes that the new text
    was made from: a file that by now holds others stays as it is, and so does one that has a second name (a hard link),
    which would keep the old bytes.

    Raises EditError where the text does not compile as Python, cannot be encoded or the file may not be
    written; OSError from the file system. The file is then as it was, and no temporary file is left.
    """
    replace_file(path, check_source(str(path), text, encoding), read)


def replace_file(path: str | Path, data: bytes, read: bytes | None = None) -> None:
    """Replace the file's content as `write_atomically` does, whatever the bytes are; raises as it does."""
    import tempfile  # only writing needs it

    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):
        raise EditError(f"{path}: the file is write-protected")
    if before is not None and before.st_nlink > 1 and read is not None:
        raise EditError(f"{path}: the file has another name too (a hard link), which would keep the old text")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except PermissionError:
        raise EditError(f"{path}: cannot be written: its folder is write-protected") from None
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is None:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
        else:
            _take_over(path, target, before, name)
        if read is not None and target.read_bytes() != read:
            raise EditError(f"{path}: the file has changed since it was read; nothing was written to it")
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _take_over(path: str | Path, target: Path, before: os.stat_result, name: str) -> None:
    """Give the new file the owner, attributes and mode of the old one."""
    if hasattr(os, "chown"):
        made = os.stat(name)
        if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
            try:
                os.chown(name, before.st_uid, before.st_gid)
            except OSError:
                raise EditError(
                    f"{path}: cannot be written: it is not yours, and would no longer be its owner's"
                ) from None
    if hasattr(os, "listxattr"):  # an access control list is one
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(target):
                os.setxattr(name, attribute, os.getxattr(target, attribute))
    os.chmod(name, stat.S_IMODE(before.st_mode))


def same_as_linted(path: str, data: bytes, digests: Mapping[str, bytes]) -> None:
    """Raises EditError where the file's bytes are not those that were linted."""
    if path not in digests:
        raise EditError(f"{path}: is to be changed as well, but is not among the files to lint")
    if digests[path] != digest(data):
        raise EditError(f"{path}: the file has changed since it was linted; run pt2lint again")


def digest(data: bytes) -> bytes:
    """What tells one content of a file from another."""
    return blake2b(data).digest()
