"""What --fix, --diff and --add-noqa make of the findings."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from pt2lint.cli import print_all
from pt2lint.cli.answer import answered, counted, problem_lines, written
from pt2lint.cli.narrow import narrow
from pt2lint.project import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from pt2lint.check import Checked
    from pt2lint.finding import Finding, Problem
    from pt2lint.fixes.rounds import Fixed, Relint
    from pt2lint.project.config import Configs
    from pt2lint.static.cache import Scratch


def add_noqa(checked: Checked) -> int:
    import tokenize
    from pathlib import Path

    from pt2lint.finding import Problem
    from pt2lint.fixes.edit import EditError, decoded, only_comments, same_as_linted, write_atomically
    from pt2lint.project.suppress import add_noqa

    done: dict[str, int] = {}
    by_path: dict[str, list[Any]] = {}
    for finding in checked.findings:
        if finding.counts and finding.code != "PTX001" and not finding.is_note:
            by_path.setdefault(finding.path, []).append(finding)
    for path, findings in by_path.items():
        try:
            if path in checked.texts and path not in checked.notebooks:
                continue
            if path in checked.notebooks:
                text = checked.texts[path]
                _write_notebook(checked, path, only_comments(path, text, add_noqa(text, findings)))
            else:
                data = Path(path).read_bytes()
                same_as_linted(path, data, checked.digests)
                text, encoding = decoded(path, data)
                write_atomically(path, only_comments(path, text, add_noqa(text, findings)), encoding, data)
            done[path] = len(findings)
        except (EditError, OSError, SyntaxError, tokenize.TokenError, ValueError) as error:
            checked.problems.append(Problem(path, f"no comment was added: {_without(path, error)}"))
    print(f"Silenced {sum(done.values())} findings in {len(done)} files.")
    sys.stderr.write(problem_lines(checked.problems))
    return 2 if checked.problems else 0


def _without(path: str, error: Exception) -> str:
    """What went wrong, without the path that the line begins with."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error).removeprefix(f"{path}: ")


def _write_notebook(checked: Checked, path: str, text: str) -> None:
    from pt2lint.fixes.edit import EditError, replace_file, same_as_linted
    from pt2lint.project.notebook import trouble

    with open(path, "rb") as file:
        data = file.read()
    same_as_linted(path, data, checked.digests)
    old = checked.notebooks[path]
    new = old.with_text(text)
    found = trouble(old, new, text)
    if found:
        raise EditError(f"{path}: nothing was written: the notebook {found}")
    if b"\r\n" in data:  # inside of JSON's texts they are written out
        new = new.replace("\n", "\r\n")
    mark = b"\xef\xbb\xbf"
    replace_file(path, (mark if data.startswith(mark) else b"") + new.encode(), data)


@contextmanager
def scratch(options: argparse.Namespace) -> Iterator[Scratch]:
    """What is found out of texts that are in no file yet, over what is kept, for as long as the command runs."""
    import tempfile

    from pt2lint.check import scratch_cache

    with _ended_in_order(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield scratch_cache(folder, None if options.no_cache else entries.folder(options.cache_dir))


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that no folder or half of a file is left behind."""
    import signal
    import threading

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def fix(options: argparse.Namespace, configs: Configs, checked: Checked, memory: Scratch | None) -> int:
    """Show or write the fixes; returns the exit status. Without `memory` those that are proven, and nothing is linted
    again."""
    from pt2lint.fixes.rounds import fix_findings

    verified = memory is None
    fixed = fix_findings(
        checked.findings,
        "unsafe" if options.unsafe_fixes else "safe",
        verified,
        None if memory is None else _relint(options, configs, checked, memory),
        texts=checked.texts,
        digests=checked.digests,
        notes=options.notes,
    )
    notes = "" if options.notes else _fixable_notes(checked.findings, options.unsafe_fixes, verified)
    if options.commit_message:
        from pt2lint.report.commit_message import commit_message

        old = {path: before for path, (before, _, _) in fixed.texts.items()}
        written(options.commit_message, commit_message(fixed.taken, checked.notes, old), checked.problems)
    if options.diff:
        return _show_diff(options, checked, fixed, notes)
    stdin = [path for path in checked.texts if path not in checked.notebooks]
    for path in stdin:
        sys.stdout.write(fixed.texts.pop(path, ("", checked.texts[path], ""))[1])
    fixed.write(dict.fromkeys(checked.notebooks, lambda path, text, _: _write_notebook(checked, path, text)))
    checked.problems += _left_out(fixed)
    if stdin:
        out, err, status = answered(options, checked)
        sys.stderr.write(err + out)
        return status
    if fixed.texts and memory is not None:
        checked = _as_written(options, configs, checked, memory)
    else:
        # What several findings have in common is written once, and mends them all.
        made = {fix.edits for _, fix in fixed.taken}
        checked.findings = [
            one for one in checked.findings if not any(fix.edits in made for fix in one.fixes)
        ]
    if fixed.texts:
        from pt2lint.report.commit_message import generated_notes

        checked.notes += generated_notes({path: old for path, (old, _, _) in fixed.texts.items()})
    checked.notes.append(counted(len(fixed.taken), "fixed") + notes)
    return print_all(*answered(options, checked))


def _relint(options: argparse.Namespace, configs: Configs, checked: Checked, memory: Scratch) -> Relint:
    """What lints texts that are to be written: all files, or one as it is by itself."""
    from pt2lint.check import check, passing_cache

    tried = passing_cache()  # of one file with one fix less or more, what it imports stays
    # A notebook's code is fixed in one round: an import that was added moves into its first cell.
    files = [path for path in checked.files if path not in checked.notebooks]
    given = {path: checked.texts[path] for path in files if path in checked.texts}

    def relint(changed: Mapping[str, str], only: str | None) -> Iterable[Finding]:
        texts = given | {path: text for path, text in changed.items() if path not in checked.notebooks}
        if only is None:
            again = check(files, configs, texts=texts, memory=memory)
        else:
            alone = {only: texts.pop(only)}
            again = check([only], configs, texts=alone, beside=texts, memory=tried, among=checked.files)
        narrow(options, again)
        return again.findings

    return relint


def _as_written(options: argparse.Namespace, configs: Configs, checked: Checked, memory: Scratch) -> Checked:
    """What is found in the files once fixes were written to them."""
    from pt2lint.check import check

    # Most of it was found out when the fixes were tried.
    again = check(options.paths or ["."], configs, force_exclude=options.force_exclude, memory=memory)
    memory.hand_down()
    narrow(options, again)
    again.problems += [problem for problem in checked.problems if problem not in again.problems]
    return again


def _show_diff(options: argparse.Namespace, checked: Checked, fixed: Fixed, notes: str) -> int:
    checked.problems += _left_out(fixed)
    patch = _diff(checked, fixed)
    if not options.output:
        _print_bytes(patch)
    elif patch or not options.quiet:
        written(options.output, patch, checked.problems)
    sys.stderr.write(problem_lines(checked.problems))
    print(counted(len(fixed.taken), "would be fixed") + notes, file=sys.stderr)
    return 2 if checked.problems else int(bool(fixed.taken) and not options.exit_zero)


def _fixable_notes(findings: Sequence[Finding], unsafe: bool, verified: bool) -> str:
    """What --notes would add, "" for nothing: right as notes are, they are no reason to change code unasked."""
    from pt2lint.fixes.edit import choose

    left = (f for f in findings if f.is_note and not (f.is_under_another or f.copy_of or f.is_of_uncalled))
    count = len(choose(left, "unsafe" if unsafe else "safe", verified).taken)
    return f"; {count} note{'s have fixes' if count > 1 else ' has a fix'} too (--notes)" if count else ""


def _left_out(fixed: Fixed) -> list[Problem]:
    """What was not fixed, and why: lines that begin with their place."""
    from pt2lint.finding import Problem

    return [Problem(place, why) for place, _, why in (text.partition(": ") for text in fixed.refused)]


def _diff(checked: Checked, fixed: Fixed) -> bytes:
    """The patch as `git apply` takes it: each file's part, once, in the bytes of that file."""
    from pt2lint.finding import Problem
    from pt2lint.fixes.edit import diff, within

    parts = []
    shown: set[str] = set()
    for path, (old, new, encoding) in sorted(fixed.texts.items()):
        real = os.path.realpath(path)
        if real in shown:
            continue
        shown.add(real)
        here = os.path.join(os.path.abspath(os.curdir), "")
        if within(path) is None and os.path.abspath(path).startswith(here):
            said = f"leads to {real}, outside of the working folder, where no patch reaches; --fix writes it"
            checked.problems.append(Problem(path, said))
            continue
        if path in checked.notebooks:
            notebook = checked.notebooks[path]
            old, new = notebook.source, notebook.with_text(new)
        elif encoding == "utf-8-sig":  # what is compared has no mark, the file has one
            old, new, encoding = "\ufeff" + old, "\ufeff" + new, "utf-8"
        head, mark, hunks = diff(path, old, new).partition("\n@@")
        parts.append(os.fsencode(head) + (mark + hunks).encode(encoding))
    return b"".join(parts)


def _print_bytes(data: bytes) -> None:
    sys.stdout.flush()
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(data)
    else:  # a caller's own stream
        sys.stdout.write(data.decode(errors="replace"))
