"""The command itself: lint, verify where asked, then print or write."""

from __future__ import annotations

import os
import sys

from pt2lint.cli import print_all
from pt2lint.cli.answer import answered, counted, problem_lines, progress_line, written
from pt2lint.cli.narrow import narrow
from pt2lint.cli.options import (
    ZOO,
    UsageError,
    check_codes,
    check_usage,
    overrides,
    settings_of,
    timed_backend,
    verify_options,
    writes,
)
from pt2lint.room import with_room

NAMED = 3  # how many training steps a note names
TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pt2lint.check import Checked, Judge
    from pt2lint.dynamic.run import VerifyResult
    from pt2lint.finding import Finding
    from pt2lint.project.config import Configs
    from pt2lint.static.cache import Scratch


@with_room
def lint(options: argparse.Namespace, arguments: list[str]) -> int:
    """Do what the options ask for; returns the exit status. Raises UsageError."""
    check_usage(options)
    if options.verify or options.trace or options.fix or options.diff:
        import gc

        gc.enable()  # these lint again and again
    if options.verify or not (options.fix or options.diff):
        return _lint(options, arguments, None)
    from pt2lint.cli.edits import scratch

    with scratch(options) as memory:
        return _lint(options, arguments, memory)


def _lint(options: argparse.Namespace, arguments: list[str], memory: Scratch | None) -> int:
    from pt2lint.check import check
    from pt2lint.cli import last_answer
    from pt2lint.project import entries
    from pt2lint.project.config import Configs

    configs = Configs(overrides(options), options.config)
    paths = options.paths or ["."]
    if options.list_rules or options.show_settings or options.show_files:
        from pt2lint.cli.commands import show_settings

        return show_settings(options, configs, paths)
    check_codes(configs)
    texts: dict[str, str] = {}
    if "-" in paths:
        name = options.stdin_filename or "-"
        texts[name] = _read_stdin()
        paths = [name if path == "-" else path for path in paths]
    progress = progress_line() if options.verify or options.trace else None
    judge = _judge(options, configs, paths, progress)
    watch = None if texts or judge or writes(options) else last_answer.Watch(arguments, options.cache_dir)
    checked = check(
        paths,
        configs,
        texts=texts,
        force_exclude=options.force_exclude,
        judge=judge,
        cache_folder=None if options.no_cache else entries.folder(options.cache_dir),
        memory=memory if options.no_cache else None,
        digests=options.fix or options.diff or options.add_noqa,
    )
    if progress:
        progress("")  # takes the line away again
    if options.verify:
        _hold_to_budget(options, configs, paths, checked)
    narrow(options, checked)
    if options.report:
        from pt2lint.cli.page import write_page

        write_page(options, configs, checked, paths)
    if options.write_baseline:
        return _write_baseline(options, checked)
    if options.add_noqa:
        from pt2lint.cli.edits import add_noqa

        return add_noqa(checked)
    if options.fix or options.diff:
        from pt2lint.cli.edits import fix

        return fix(options, configs, checked, memory)
    if judge is None and _is_for_a_reader(options) and not checked.problems:
        checked.notes += _steps_to_name(configs, paths, checked)
    out, err, status = answered(options, checked)
    if watch is not None:
        watch.store(checked.watched, out, err, status, checked.stamps)
    return print_all(out, err, status)


def _hold_to_budget(
    options: argparse.Namespace, configs: Configs, paths: Sequence[str], checked: Checked
) -> None:
    settings = settings_of(configs, paths[0])
    if options.write_budget or settings.budget:
        from pt2lint.cli import budget

        if options.write_budget:
            budget.write(configs, paths, checked)
        else:
            budget.hold(settings, checked, whole=not options.shard)


def _judge(
    options: argparse.Namespace,
    configs: Configs,
    paths: Sequence[str],
    progress: Callable[[str], None] | None,
) -> Judge | None:
    """What gives the verdicts: a run of the code, the logs of one, or nothing."""
    if options.verify:
        wanted = verify_options(options, configs, paths)
        timing = timed_backend(options, configs, paths) if options.time else None
        if any(getattr(options, name) for name in ZOO):
            from pt2lint.cli.zoo import judge_of

            return judge_of(options, configs, wanted, timing, paths, progress)
        from dataclasses import replace

        from pt2lint.dynamic import verify
        from pt2lint.fixes.proof import prove
        from pt2lint.understood import Understood

        understood = Understood(configs)

        def judge(findings: Sequence[Finding], there: Sequence[str], linted: Sequence[str]) -> VerifyResult:
            result = verify(findings, there, wanted, progress, linted=linted)
            proof = prove(understood(result.findings), result.events, there, wanted, progress, timing=timing)
            notes = [*result.notes, *proof.notes]
            return replace(result, findings=proof.findings, notes=notes, times=proof.times)

        return judge
    if options.trace:
        if not os.path.exists(options.trace):
            raise UsageError(f"--trace {options.trace}: no such folder")
        from dataclasses import replace

        from pt2lint.dynamic.trace import read_traces
        from pt2lint.understood import Understood

        told = Understood(configs)

        def judge_by_logs(
            findings: Sequence[Finding], there: Sequence[str], linted: Sequence[str]
        ) -> VerifyResult:
            result = read_traces(options.trace, findings, there, options.source_root, progress)
            return replace(result, findings=told(result.findings))

        return judge_by_logs
    return None


def _is_for_a_reader(options: argparse.Namespace) -> bool:
    """Not so a commit hook, which names the files of a commit and asks for `--force-exclude`."""
    asks_for_less = options.output or options.quiet or options.statistics or options.force_exclude
    return options.format == "text" and not asks_for_less


def _steps_to_name(configs: Configs, paths: Sequence[str], checked: Checked) -> list[str]:
    """What to say of training steps where a whole program was read that compiles nothing: a folder, or a script."""
    settings = settings_of(configs, paths[0])
    if settings.roots != "modules" or settings.root_names:
        return []
    from pt2lint.check import unread_steps

    steps = unread_steps(checked, scripts=not any(map(os.path.isdir, paths)))
    if not steps:
        return []
    named = ",".join(["modules", *steps[:NAMED]])
    more = f", of {len(steps)} that there are," if len(steps) > NAMED else ""
    return [
        "no torch.compile here: the forward of each module was read, as if somebody compiled it, and what trains"
        f" for notes; to hold {'training steps' if steps[1:] else 'a training step'}{more} to it too: --roots {named}"
    ]


def _read_stdin() -> str:
    import io
    import tokenize

    if sys.stdin is None:
        raise UsageError("standard input is closed; give it Python text, or name files")
    data = sys.stdin.buffer.read()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise UsageError(f"standard input is not Python text: {' '.join(str(error).split())}") from None


def _write_baseline(options: argparse.Namespace, checked: Checked) -> int:
    from pt2lint.project import baseline
    from pt2lint.report.place import shown

    counting = [finding for finding in checked.findings if finding.counts]
    text = baseline.text(counting, checked.sources, options.write_baseline)
    if written(options.write_baseline, text, checked.problems):
        print(f"Wrote {counted(len(counting), f'to {shown(options.write_baseline)}.')}")
    sys.stderr.write(problem_lines(checked.problems))
    return 2 if checked.problems else 0
