"""What --fix, --diff and --add-noqa make of the findings."""

from __future__ import annotations

import os
import sys

from pt2lint.cli import print_all
from pt2lint.cli.answer import answered, counted, problem_lines, written
from pt2lint.cli.narrow import narrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from pt2lint.check import Checked
    from pt2lint.finding import Finding, Problem
    from pt2lint.fixes.edit import Fixed
    from pt2lint.project.config import Configs


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


def fix(options: argparse.Namespace, configs: Configs, checked: Checked, verified: bool) -> int:
    import tempfile

    from pt2lint.check import check, scratch_cache
    from pt2lint.fixes.edit import fix_findings
    from pt2lint.project import entries

    def relint(texts: Any, beside: Any) -> Any:
        # A notebook's code is fixed in one round: an import that was added moves into its first cell.
        texts = {path: text for path, text in texts.items() if path not in checked.notebooks}
        again = check([*texts], configs, texts=texts, beside=beside, among=checked.files)
        narrow(options, again)
        return again.findings

    def relint_all(texts: Any) -> Any:
        texts = {path: text for path, text in texts.items() if path not in checked.notebooks}
        files = [path for path in checked.files if path not in checked.notebooks]
        again = check(files, configs, texts=texts, memory=cache)
        narrow(options, again)
        return again.findings

    cache_folder = None if options.no_cache else entries.folder(options.cache_dir)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        # What most fixes leave as it was need not be found out anew after each.
        cache = scratch_cache(scratch, cache_folder)
        fixed = fix_findings(
            checked.findings,
            "unsafe" if options.unsafe_fixes else "safe",
            verified,
            None if verified else relint,
            texts=checked.texts,
            digests=checked.digests,
            relint_all=None if verified or len(checked.files) < 2 else relint_all,
            notes=options.notes,
        )
    notes = "" if options.notes else _fixable_notes(checked.findings, options.unsafe_fixes, verified)
    if options.commit_message:
        from pt2lint.report.commit_message import commit_message

        old = {path: before for path, (before, _, _) in fixed.texts.items()}
        written(options.commit_message, commit_message(fixed.taken, checked.notes, old), checked.problems)
    if options.diff:
        checked.problems += _left_out(fixed)
        patch = _diff(checked, fixed)
        if not options.output:
            _print_bytes(patch)
        elif patch or not options.quiet:
            written(options.output, patch, checked.problems)
        sys.stderr.write(problem_lines(checked.problems))
        print(counted(len(fixed.taken), "would be fixed") + notes, file=sys.stderr)
        return 2 if checked.problems else int(bool(fixed.taken) and not options.exit_zero)
    stdin = [path for path in checked.texts if path not in checked.notebooks]
    for path in stdin:
        sys.stdout.write(fixed.texts.pop(path, ("", checked.texts[path], ""))[1])

    def write_notebook(path: str, text: str, encoding: str) -> None:
        _write_notebook(checked, path, text)

    fixed.write(dict.fromkeys(checked.notebooks, write_notebook))
    checked.problems += _left_out(fixed)
    if stdin:
        out, err, status = answered(options, checked)
        sys.stderr.write(err + out)
        return status
    if fixed.texts and not verified:
        problems = checked.problems
        checked = check(
            options.paths or ["."], configs, force_exclude=options.force_exclude, cache_folder=cache_folder
        )
        narrow(options, checked)
        checked.problems += [problem for problem in problems if problem not in checked.problems]
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


def _fixable_notes(findings: Sequence[Finding], unsafe: bool, verified: bool) -> str:
    """What --notes would add, "" for nothing: right as notes are, they are no reason to change code unasked."""
    from pt2lint.fixes.edit import choose

    left = (f for f in findings if f.is_note and not f.is_under_another)
    count = len(choose(left, "unsafe" if unsafe else "safe", verified).taken)
    return f"; {count} note{'s have fixes' if count > 1 else ' has a fix'} too (--notes)" if count else ""


def _left_out(fixed: Fixed) -> list[Problem]:
    """What was not fixed, and why: lines that begin with their place."""
    from pt2lint.finding import Problem

    return [Problem(place, why) for place, _, why in (text.partition(": ") for text in fixed.refused)]


def _diff(checked: Checked, fixed: Fixed) -> bytes:
    """The patch as `git apply` takes it: each file's part in the bytes of that file."""
    from pt2lint.fixes.edit import diff

    parts = []
    for path, (old, new, encoding) in sorted(fixed.texts.items()):
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
