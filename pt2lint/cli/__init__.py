"""The command line. What it does not need to say --help or to find a cached answer is imported late."""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any

    from pt2lint.check import Checked, Judge
    from pt2lint.dynamic.options import VerifyOptions
    from pt2lint.dynamic.run import VerifyResult
    from pt2lint.finding import Finding, Problem
    from pt2lint.fixes.edit import Fixed
    from pt2lint.project.config import Configs, Settings
    from pt2lint.report import Report

FORMATS = ("text", "concise", "json", "sarif", "github")
ZOO = ("results", "shard", "durations", "executor", "gpus")  # options of cli/zoo.py
SUFFIXES = {".json": "json", ".sarif": "sarif", ".txt": "text"}

DESCRIPTION = """\
Finds the lines that will cost torch.compile its speed (graph breaks, recompilations) by reading the code.
With --verify it RUNS the code it is given, in a child process, and says of each finding what Dynamo did.

  pt2lint src                              read src; nothing in it is imported or run
  pt2lint --verify model.py                run model.py under Dynamo: confirmed, refuted, unreached or failed
  pt2lint --verify --inputs inputs:cases src    judge src by the calls that cases() in inputs.py returns
  pt2lint --diff src                       show the fixes; --fix writes the safe ones
  pt2lint --format sarif --output pt2lint.sarif src    for GitHub code scanning
  pt2lint rule PTB103                      what a code means and what to write instead
"""
EPILOG = """\
Exit status: 0 nothing found, 1 findings (notes, and those that Dynamo refuted, do not count), 2 something could not be
done (said on stderr; all else is still checked).
Silence a line with `# noqa: PTB103` or `# pt2lint: ignore[PTB103]`.
Settings: [tool.pt2lint] in pyproject.toml.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:  # the process is ours and ends soon: looking for garbage in it costs more than it frees
        import atexit
        import gc

        gc.disable()
        atexit.register(gc.freeze)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we started
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(
            getattr(sys, name), "reconfigure"
        ):  # a name in the code may not fit the terminal's encoding
            getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        status = _answered(arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("pt2lint: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader (`head`) has seen enough
        _give_up(sys.stdout)
        return 141
    except Exception as error:
        if os.environ.get("PT2LINT_DEBUG"):
            raise
        told = _told(error)
        with contextlib.suppress(OSError):
            print(f"pt2lint: {told}", file=sys.stderr)
        return 2
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                _give_up(stream)  # else Python says it once more as it ends, with an exit status of its own


def _answered(arguments: list[str]) -> int:
    try:
        os.getcwd()
    except OSError:
        print("pt2lint: the working folder is not there any more; go to one that is", file=sys.stderr)
        return 2
    from pt2lint.cli import last_answer

    answer = last_answer.recall(arguments)
    return _main(arguments) if answer is None else _print_all(*answer)


def _give_up(stream: Any) -> None:
    """What is still to be written to the stream goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _told(error: Exception) -> str:
    """What is left to say where no one foresaw an error: one line."""
    import traceback

    if isinstance(error, OSError) and error.filename is None:  # print's own
        return f"the answer cannot be written: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "out of memory; give it fewer files at a time"
    at = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:300]
    place = f"{os.path.basename(os.path.dirname(at.filename))}/{os.path.basename(at.filename)}:{at.lineno}"
    return (
        f"it failed ({type(error).__name__}: {text}, at {place}): a defect of pt2lint, please report it "
        "(PT2LINT_DEBUG=1 shows all of it)"
    )


def _print_all(out: str, err: str, status: int) -> int:
    sys.stderr.write(err)
    sys.stdout.write(out)
    return status


def _main(arguments: list[str]) -> int:
    commands = {
        "rule": _rule, "server": _server, "completion": _completion, "skill": _skill, "merge": _merge,
        "compare": _compare,
    }  # fmt: skip
    if arguments and arguments[0] in commands:
        return commands[arguments[0]](arguments[1:])
    options = _parser().parse_args(arguments)
    try:
        if not options.verify:
            return _run(options, arguments)
        from pt2lint.dynamic import nursery

        with nursery.kept():
            return _run(options, arguments)
    except _UsageError as error:
        from pt2lint.finding import Problem

        sys.stderr.write(_lines([Problem(None, str(error))]))
        return 2


class _UsageError(Exception):
    """The command line asks for what cannot be done; one line for the user."""


def _parser() -> argparse.ArgumentParser:
    import argparse

    from pt2lint import __version__

    parser = argparse.ArgumentParser(
        prog="pt2lint",
        usage="pt2lint [OPTIONS] [PATHS...]\n       pt2lint rule CODE\n       pt2lint merge RESULTS...\n"
        "       pt2lint compare OLD NEW\n       pt2lint server\n"
        "       pt2lint completion bash|zsh|fish\n       pt2lint skill",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATHS",
        help="files and folders (default: the working folder); - is stdin",
    )
    add("--version", action="version", version=f"pt2lint {__version__}")

    add = parser.add_argument_group("what to look for").add_argument
    codes: Any = {"metavar": "CODES", "action": "append", "default": []}
    add("--select", **codes, help="only these codes or prefixes, as in PTB,PTR201 (ALL: every one)")
    add("--extend-select", **codes, help="these too, beside what is selected")
    add("--ignore", **codes, help="not these; the longer prefix wins over --select")
    add("--pedantic", action="store_true", help="also what pt2lint is not sure of")
    add(
        "--roots",
        metavar="WHAT",
        help="what counts as compiled: modules (every forward), explicit or tensors, and names, as in "
        "explicit,train.step,pkg.mod:Class.method",
    )
    add(
        "--target-torch",
        metavar="VERSION",
        help="speak of this torch, as in 2.9 (default: the installed one)",
    )
    add(
        "--assume",
        metavar="WHAT",
        action="append",
        default=[],
        help="what holds where the code runs, as in training,dtype=float16,config.use_cache=False: what it excludes is "
        "not told",
    )
    add("--force-exclude", action="store_true", help="apply `exclude` to files named here too")
    add("--config", metavar="FILE", help="settings from this TOML file, for all paths")

    add = parser.add_argument_group("verify: run the code").add_argument
    add(
        "--verify",
        action="store_true",
        help="RUN the code under PATHS with Dynamo in a child process, and judge",
    )
    add("--inputs", metavar="MODULE:FUNCTION", action="append", default=[],
        help="it returns (callable, args, kwargs) or a list of them; may be given several times")  # fmt: skip
    add(
        "--run",
        metavar="COMMAND",
        help='take the inputs from a run, as in "train.py --steps 2" or "-m pytest"',
    )
    add(
        "--python",
        metavar="PATH",
        help="the interpreter that has torch (default: this one, else the project's)",
    )
    add("--timeout", type=float, metavar="SECONDS", help="for one child process (default: 300)")
    add(
        "--memory",
        metavar="SIZE",
        help="for one child process, as in 8G or 512M (default: 80%% of the machine)",
    )
    add("--jobs", type=int, metavar="N", help="child processes at a time (default: 1)")
    add("--backend", metavar="NAME", help="of torch.compile (default: eager, which stops after Dynamo)")
    add("--device", metavar="NAME", help="move modules and inputs there, as in cuda")
    add(
        "--time",
        action="store_true",
        help="time calls: eager, compiled before the proven fixes and with them, with the backend that --backend "
        "names (default here: inductor)",
    )

    add("--env", metavar="NAME=VALUE", action="append", default=[], help="a variable for the child processes")

    add = parser.add_argument_group("verify many targets (docs/zoo.md)").add_argument
    add(
        "--results",
        metavar="FILE",
        help="keep each target's result in this file as it ends, and go on from what it holds",
    )
    add(
        "--shard",
        metavar="K/N",
        help="only part K of N of the targets; `pt2lint merge` makes one result of all",
    )
    add("--durations", metavar="FILE", help="results of an earlier run: their times make the parts even")
    add(
        "--executor",
        metavar="MODULE:CALLABLE",
        help="it returns a concurrent.futures.Executor, whose workers run the targets",
    )
    add(
        "--write-budget",
        action="store_true",
        help="write the graphs and recompilations that each model has now to [tool.pt2lint.budget], to hold it to them",
    )
    add("--gpus", metavar="NAMES", help="as in 0,1,2: each target that runs has one of them for itself")

    add = parser.add_argument_group("or judge by logs").add_argument
    add("--trace", metavar="DIR", help="instead: judge by the TORCH_TRACE logs of a job; nothing is run")
    add(
        "--source-root", metavar="DIR", help="with --trace: the folder of the job's files here, or THERE=HERE"
    )

    add = parser.add_argument_group("fix").add_argument
    add("--fix", action="store_true", help="write the safe fixes; with --verify only those it has proven")
    add(
        "--unsafe-fixes",
        action="store_true",
        help="with --fix or --diff: those that may change behaviour too",
    )
    add("--diff", action="store_true", help="show the fixes as a patch, write nothing")
    add(
        "--commit-message",
        metavar="FILE",
        help="with --fix or --diff: write text for a pull request there, with what was proven and measured",
    )
    add("--add-noqa", action="store_true", help="write a `# noqa: CODE` comment at every finding")

    add = parser.add_argument_group("report").add_argument
    add("--format", choices=FORMATS, help="default: by the suffix of --output, else text")
    add("--output", metavar="FILE", help="write the report there")
    add("--report", metavar="FILE", help="write a page (HTML) there: the source, each line with its FX graph")
    add("--also-text", action="store_true", help="with --output: print the text report as well")
    add(
        "--notes",
        action="store_true",
        help="tell in full what is right but little worth: once, off by default, meant",
    )
    add(
        "--fail-on",
        choices=("note", "warning", "error"),
        help="the lowest severity that makes the exit status 1 (default: warning)",
    )
    add("--statistics", action="store_true", help="print only how many findings each code has")
    add("--show-suppressed", action="store_true", help="list what comments silence too")
    add("--exit-zero", action="store_true", help="exit status 0 although there are findings")
    add("--quiet", "-q", action="store_true", help="print nothing where nothing was found")

    add = parser.add_argument_group("start on a large project").add_argument
    add("--baseline", metavar="FILE", help="leave out the findings that are in this file")
    add("--write-baseline", metavar="FILE", help="write the findings of now to this file")
    add("--since", metavar="REV", help="only findings on lines that changed since this git revision")

    add = parser.add_argument_group("other").add_argument
    add("--stdin-filename", metavar="PATH", help="what the text on stdin (-) is called")
    add("--show-settings", action="store_true", help="print the settings for the first path")
    add("--show-files", action="store_true", help="print the files that would be read")
    add("--list-rules", action="store_true", help="print every code, its name and what it says")
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    add(
        "--cache-dir", metavar="DIR", help="default: $PT2LINT_CACHE_DIR, else pt2lint among the user's caches"
    )
    return parser


def _run(options: argparse.Namespace, arguments: list[str]) -> int:
    _check_usage(options)
    if options.verify or options.trace or options.fix or options.diff:
        import gc

        gc.enable()  # these lint again and again
    from pt2lint.check import check
    from pt2lint.cli import last_answer
    from pt2lint.project import entries
    from pt2lint.project.config import Configs

    configs = Configs(_overrides(options), options.config)
    paths = options.paths or ["."]
    if options.list_rules or options.show_settings or options.show_files:
        return _show(options, configs, paths)
    _check_codes(options, configs)
    texts: dict[str, str] = {}
    if "-" in paths:
        name = options.stdin_filename or "-"
        texts[name] = _read_stdin()
        paths = [name if path == "-" else path for path in paths]
    progress = _progress() if options.verify or options.trace else None
    judge = _judge(options, configs, paths, progress)
    watch = None if texts or judge or _writes(options) else last_answer.Watch(arguments, options.cache_dir)
    checked = check(
        paths,
        configs,
        texts=texts,
        force_exclude=options.force_exclude,
        judge=judge,
        cache_folder=None if options.no_cache else entries.folder(options.cache_dir),
        digests=options.fix or options.diff or options.add_noqa,
    )
    if progress:
        progress("")  # takes the line away again
    if options.verify:
        _hold_to_budget(options, configs, paths, checked)
    _narrow(options, checked)
    if options.report:
        from pt2lint.cli.page import write_page

        write_page(options, configs, checked, paths)
    if options.write_baseline:
        return _write_baseline(options, checked)
    if options.add_noqa:
        return _add_noqa(checked)
    if options.fix or options.diff:
        return _fix(options, configs, checked, options.verify)
    out, err, status = _answer(options, checked)
    if watch is not None:
        watch.store(checked.watched, out, err, status)
    return _print_all(out, err, status)


def _hold_to_budget(
    options: argparse.Namespace, configs: Configs, paths: Sequence[str], checked: Checked
) -> None:
    settings = _settings_of(configs, paths[0])
    if options.write_budget or settings.budget:
        from pt2lint.cli import budget

        if options.write_budget:
            budget.write(options, configs, paths, checked)
        else:
            budget.hold(settings, checked, whole=not options.shard)


def _check_usage(options: argparse.Namespace) -> None:
    for name in (
        "inputs",
        "run",
        "python",
        "timeout",
        "memory",
        "jobs",
        "backend",
        "device",
        "time",
        "env",
        *ZOO,
    ):
        value = getattr(options, name)
        if value is not None and value is not False and value != [] and not options.verify:
            raise _UsageError(f"--{name.replace('_', '-')} is of use only with --verify, which runs the code")
    if options.source_root and not options.trace:
        raise _UsageError("--source-root goes with --trace DIR")
    if options.trace and options.verify:
        raise _UsageError("choose one of --verify (run the code) and --trace (read what a job left)")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise _UsageError("--unsafe-fixes goes with --fix (write) or --diff (show)")
    if options.commit_message and not (options.fix or options.diff):
        raise _UsageError("--commit-message goes with --fix (write) or --diff (show)")
    if sum((options.fix, options.diff, options.add_noqa, bool(options.write_baseline))) > 1:
        raise _UsageError("choose one of --fix, --diff, --add-noqa and --write-baseline")
    if options.also_text and not options.output:
        raise _UsageError("--also-text goes with --output FILE")
    if options.config and not os.path.isfile(options.config):
        raise _UsageError(f"--config {options.config}: no such file")
    if options.format is None:
        suffix = os.path.splitext(options.output or "")[1]
        options.format = SUFFIXES.get(suffix, "text")


def _writes(options: argparse.Namespace) -> bool:
    """Whether the answer is more than what is printed, or depends on more than the files read."""
    return bool(
        options.output
        or options.report
        or options.fix
        or options.diff
        or options.add_noqa
        or options.write_baseline
        or options.baseline
        or options.since
        or options.no_cache
    )


def _overrides(options: argparse.Namespace) -> dict[str, Any]:
    from pt2lint.project.config import parse_assumptions, parse_codes, parse_roots, parse_torch

    given: dict[str, Any] = {}
    for name in ("select", "extend_select", "ignore"):
        flag = "--" + name.replace("_", "-")
        try:
            codes = tuple(code for item in getattr(options, name) for code in parse_codes(item))
        except ValueError as error:
            raise _UsageError(f"{flag}: {error}") from None
        if codes:
            given[name] = codes
    if options.pedantic:
        given["pedantic"] = True
    if options.roots:
        try:
            given["roots"], given["root_names"] = parse_roots(options.roots.split(","))
        except ValueError as error:
            raise _UsageError(f"--roots {options.roots}: it {error}") from None
    if options.fail_on:
        given["fail_on"] = options.fail_on
    if options.assume:
        try:
            items = [item.strip() for text in options.assume for item in text.split(",") if item.strip()]
            given["assume"] = parse_assumptions(items)
        except ValueError as error:
            raise _UsageError(f"--assume {error}") from None
    if options.target_torch:
        try:
            given["target_torch"] = parse_torch(options.target_torch)
        except ValueError as error:
            raise _UsageError(f"--target-torch {options.target_torch}: {error}") from None
    return given


def _check_codes(options: argparse.Namespace, configs: Configs) -> None:
    """A code that no rule has would silently select nothing."""
    given = [
        (flag, code)
        for flag in ("select", "extend_select", "ignore")
        for code in configs.overrides.get(flag, ())
    ]
    if not given:
        return
    from pt2lint.check import nearest_code, pages

    known = [page.code for page in pages(configs.of("."))]
    for flag, code in given:
        if not any(name.startswith(code) for name in known):
            flag = flag.replace("_", "-")
            raise _UsageError(f"--{flag} {code}: no rule has this code{nearest_code(code, known)}")


def _verify_options(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> VerifyOptions:
    from pt2lint.dynamic.options import mebibytes, options_from

    table = dict(_settings_of(configs, paths[0]).verify)
    try:
        return options_from(
            table,
            inputs=tuple(options.inputs),
            run=options.run,
            python=options.python,
            timeout=options.timeout,
            memory=mebibytes(options.memory) if options.memory else None,
            jobs=options.jobs,
            backend=options.backend,
            device=options.device,
            environment=_environment(options),
            gpus=[name.strip() for name in (options.gpus or "").split(",") if name.strip()],
        )
    except ValueError as error:
        raise _UsageError(f"--verify: {error}") from None


def _environment(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in options.env]
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise _UsageError(f"--env {wrong[0]}: should be NAME=VALUE")
    return tuple((name, value) for name, _, value in pairs)


def _judge(
    options: argparse.Namespace,
    configs: Configs,
    paths: Sequence[str],
    progress: Callable[[str], None] | None,
) -> Judge | None:
    """What gives the verdicts: a run of the code, the logs of one, or nothing."""
    if options.verify:
        wanted = _verify_options(options, configs, paths)
        timing = _timed_backend(options, configs, paths) if options.time else None
        if any(getattr(options, name) for name in ZOO):
            from pt2lint.cli.zoo import UsageError, judge_of

            try:
                return judge_of(options, configs, wanted, timing, paths, progress)
            except UsageError as error:
                raise _UsageError(str(error)) from None
        from dataclasses import replace

        from pt2lint.dynamic import verify
        from pt2lint.fixes.proof import prove
        from pt2lint.understood import Understood

        understood = Understood(configs)

        def judge(findings: Sequence[Finding], there: Sequence[str]) -> VerifyResult:
            result = verify(findings, there, wanted, progress)
            proof = prove(understood(result.findings), result.events, there, wanted, progress, timing=timing)
            notes = [*result.notes, *proof.notes]
            return replace(result, findings=proof.findings, notes=notes, times=proof.times)

        return judge
    if options.trace:
        if not os.path.exists(options.trace):
            raise _UsageError(f"--trace {options.trace}: no such folder")
        from dataclasses import replace

        from pt2lint.dynamic.trace import read_traces
        from pt2lint.understood import Understood

        told = Understood(configs)

        def judge_by_logs(findings: Sequence[Finding], there: Sequence[str]) -> VerifyResult:
            result = read_traces(options.trace, findings, there, options.source_root, progress)
            return replace(result, findings=told(result.findings))

        return judge_by_logs
    return None


def _timed_backend(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> str:
    """The backend to time: the one that was asked for, else what torch.compile takes by itself."""
    table = _settings_of(configs, paths[0]).verify
    return str(options.backend or table.get("backend") or "inductor")


def _settings_of(configs: Configs, path: str) -> Settings:
    return configs.of(path if os.path.isdir(path) else os.path.dirname(path) or ".")


def _read_stdin() -> str:
    import io
    import tokenize

    data = sys.stdin.buffer.read()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise _UsageError(f"standard input is not Python text: {' '.join(str(error).split())}") from None


def _progress() -> Callable[[str], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[2K{text[:100]}")
        sys.stderr.flush()

    return show


def _narrow(options: argparse.Namespace, checked: Checked) -> None:
    """Leave out what the baseline holds and what stands on lines that did not change."""
    if options.baseline:
        from pt2lint.project import baseline

        try:
            known = baseline.read(options.baseline)
        except (OSError, ValueError) as error:
            told = (error.strerror if isinstance(error, OSError) else None) or error
            raise _UsageError(f"--baseline {options.baseline}: {told}") from None
        before = len(checked.findings)
        checked.findings = baseline.new(checked.findings, checked.sources, known)
        if before > len(checked.findings):
            checked.notes.append(f"{before - len(checked.findings)} findings are in {options.baseline}")
    if options.since:
        from pt2lint.project.since import Since

        try:
            there = [path for path in options.paths if os.path.exists(path)]
            folder = next(
                (path if os.path.isdir(path) else os.path.dirname(path) or "." for path in there), "."
            )
            since = Since(options.since, folder)
            checked.findings = since.changed(checked.findings, checked.cells)
        except ValueError as error:
            raise _UsageError(f"--since {options.since}: {error}") from None
        checked.notes += since.notes


def _write_baseline(options: argparse.Namespace, checked: Checked) -> int:
    from pt2lint.project import baseline
    from pt2lint.report.place import shown

    counting = [finding for finding in checked.findings if finding.counts]
    text = baseline.text(counting, checked.sources, options.write_baseline)
    if _written(options.write_baseline, text, checked.problems):
        print(f"Wrote {_counted(len(counting), f'to {shown(options.write_baseline)}.')}")
    sys.stderr.write(_lines(checked.problems))
    return 2 if checked.problems else 0


def _add_noqa(checked: Checked) -> int:
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
    sys.stderr.write(_lines(checked.problems))
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


def _fix(options: argparse.Namespace, configs: Configs, checked: Checked, verified: bool) -> int:
    from pt2lint.check import check
    from pt2lint.fixes.edit import fix_findings
    from pt2lint.project import entries

    def relint(texts: Any, beside: Any) -> Any:
        # A notebook's code is fixed in one round: an import that was added moves into its first cell.
        texts = {path: text for path, text in texts.items() if path not in checked.notebooks}
        again = check([*texts], configs, texts=texts, beside=beside, among=checked.files)
        _narrow(options, again)
        return again.findings

    def relint_all(texts: Any) -> Any:
        texts = {path: text for path, text in texts.items() if path not in checked.notebooks}
        again = check([path for path in checked.files if path not in checked.notebooks], configs, texts=texts)
        _narrow(options, again)
        return again.findings

    fixed = fix_findings(
        checked.findings,
        "unsafe" if options.unsafe_fixes else "safe",
        verified,
        None if verified else relint,
        texts=checked.texts,
        digests=checked.digests,
        relint_all=None if verified or len(checked.files) < 2 else relint_all,
    )
    if options.commit_message:
        from pt2lint.report.commit_message import commit_message

        old = {path: before for path, (before, _, _) in fixed.texts.items()}
        _written(options.commit_message, commit_message(fixed.taken, checked.notes, old), checked.problems)
    if options.diff:
        checked.problems += _left_out(fixed)
        patch = _diff(checked, fixed)
        if not options.output:
            _print_bytes(patch)
        elif patch or not options.quiet:
            _written(options.output, patch, checked.problems)
        sys.stderr.write(_lines(checked.problems))
        print(_counted(len(fixed.taken), "would be fixed"), file=sys.stderr)
        return 2 if checked.problems else int(bool(fixed.taken) and not options.exit_zero)
    stdin = [path for path in checked.texts if path not in checked.notebooks]
    for path in stdin:
        sys.stdout.write(fixed.texts.pop(path, ("", checked.texts[path], ""))[1])

    def write_notebook(path: str, text: str, encoding: str) -> None:
        _write_notebook(checked, path, text)

    fixed.write(dict.fromkeys(checked.notebooks, write_notebook))
    checked.problems += _left_out(fixed)
    if stdin:
        out, err, status = _answer(options, checked)
        sys.stderr.write(err + out)
        return status
    if fixed.texts and not verified:
        problems = checked.problems
        cache_folder = None if options.no_cache else entries.folder(options.cache_dir)
        checked = check(
            options.paths or ["."], configs, force_exclude=options.force_exclude, cache_folder=cache_folder
        )
        _narrow(options, checked)
        checked.problems += [problem for problem in problems if problem not in checked.problems]
    else:
        gone = {id(finding) for finding, _ in fixed.taken}
        checked.findings = [finding for finding in checked.findings if id(finding) not in gone]
    if fixed.texts:
        from pt2lint.report.commit_message import generated_notes

        checked.notes += generated_notes({path: old for path, (old, _, _) in fixed.texts.items()})
    checked.notes.append(_counted(len(fixed.taken), "fixed"))
    return _print_all(*_answer(options, checked))


def _left_out(fixed: Fixed) -> list[Problem]:
    """What was not fixed, and why: lines that begin with their place."""
    from pt2lint.finding import Problem

    return [Problem(place, why) for place, _, why in (text.partition(": ") for text in fixed.refused)]


def _counted(count: int, done: str) -> str:
    return f"{count} finding{'' if count == 1 else 's'} {done}"


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


def _answer(options: argparse.Namespace, checked: Checked) -> tuple[str, str, int]:
    """What to print on stdout and stderr, and the exit status; writes --output."""
    from pt2lint.report import render
    from pt2lint.report.text import statistics

    report = _report(options, checked)
    out = ""
    if options.output:
        _written(options.output, render(options.format, report), checked.problems)
        if options.also_text:
            out = render("text", report)
    elif options.statistics and options.format == "text":
        out = statistics(report)
    elif not (options.quiet and options.format == "text" and not report.findings):
        out = render(options.format, report)
        if options.format in ("json", "sarif") and not _is_unicode(sys.stdout):
            out = _ascii_json(out)
    status = checked.status
    return out, _lines(checked.problems), 0 if options.exit_zero and status == 1 else status


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("_", "-").startswith("utf")


def _ascii_json(text: str) -> str:
    """JSON with the escapes of JSON; what Python puts for a character that an encoding lacks is none."""
    import json
    import re

    return re.sub(r"[^\x00-\x7f]+", lambda found: json.dumps(found[0])[1:-1], text)


def _report(options: argparse.Namespace, checked: Checked) -> Report:
    from pt2lint import __version__
    from pt2lint.report import Report
    from pt2lint.report.place import repository_root, uris

    named = {finding.path for finding in (*checked.findings, *checked.suppressed)}
    named |= {step.path for finding in checked.findings for step in finding.flow}
    named |= {edit.path for finding in checked.findings for fix in finding.fixes for edit in fix.edits}
    root = repository_root([*checked.files, *named])
    return Report(
        findings=checked.findings,
        pages=checked.pages,
        sources=checked.sources,
        uris=uris(named, root),
        cells=checked.cells,
        show_notes=options.notes,
        suppressed=checked.suppressed if options.show_suppressed else (),
        problems=checked.problems,
        notes=checked.notes,
        files=len(checked.files),
        version=__version__,
        colour=not options.output and _colour(),
        asked=_asked(options),
    )


def _asked(options: argparse.Namespace) -> str:
    """The options of --verify that say what is run and how, as a shell takes them."""
    import shlex

    words: list[str] = []
    for name in ("inputs", "run", "python", "timeout", "memory", "backend", "device"):
        given = getattr(options, name)
        for value in given if isinstance(given, list) else [given] if given else []:
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


def _colour() -> bool:
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _lines(problems: Sequence[Problem]) -> str:
    """One line each, whatever a message or a file's name holds."""
    if not problems:
        return ""
    from pt2lint.report.place import shown

    lines = []
    for problem in problems:
        line = f":{problem.line}" if problem.line else ""
        place = shown(problem.path) + line if problem.path else "pt2lint"
        lines.append(f"{place}: {shown(' '.join(problem.message.split()))}\n")
    return "".join(lines)


def _written(path: str, data: str | bytes, problems: list[Problem]) -> bool:
    """Write a file of ours whole, or leave what is there and say why."""
    from pt2lint.finding import Problem
    from pt2lint.fixes.edit import EditError, replace_file

    if isinstance(data, str):  # in JSON, and so in SARIF, the escape of what is no UTF-8 means just that
        data = data.encode(errors="backslashreplace")
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if os.path.isdir(path):
            raise IsADirectoryError(21, "Is a directory")
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device is not replaced
            with open(path, "wb", buffering=0) as file:
                while data:
                    data = data[file.write(data) :]
        else:
            replace_file(path, data)
    except (EditError, OSError) as error:
        told = error.strerror if isinstance(error, OSError) else "the file is write-protected"
        problems.append(Problem(path, f"cannot be written: {told or error}"))
        return False
    return True


def _refused(command: str, why: str | OSError | ValueError) -> int:
    """Say why a command does nothing; its exit status."""
    if isinstance(why, OSError):
        why = f"{why.filename}: {why.strerror}"
    print(f"pt2lint {command}: {why}", file=sys.stderr)
    return 2


def _show(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> int:
    from dataclasses import asdict

    from pt2lint.check import pages
    from pt2lint.project.discover import Discovery
    from pt2lint.report.place import shown

    problems: list[Problem] = []
    settings = _settings_of(configs, paths[0])
    if options.list_rules:
        for page in pages(settings):
            print(f"{page.code}  {page.name:<28} {page.summary}")
    if options.show_settings:
        told = asdict(settings)
        del told["source"]
        names = told.pop("root_names")
        told["roots"] = [told["roots"], *names] if names else told["roots"]
        for name, value in told.items():
            print(f"{name.replace('_', '-')} = {_toml(value)}")
    if options.show_files:
        discovery = Discovery(paths, configs, options.force_exclude)
        print("".join(shown(path) + "\n" for path in discovery.files), end="")
        problems += discovery.problems
    problems = configs.problems + problems
    sys.stderr.write(_lines(problems))
    return 2 if problems else 0


def _toml(value: Any) -> str:
    import json

    if value is None:
        return "# not set"
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(item, int) for item in value):
        return f'"{value[0]}.{value[1]}"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if value and isinstance(value, tuple) and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(codes)}" for key, codes in value) + "}"
    return json.dumps(value)


def _server(arguments: list[str]) -> int:
    import argparse

    argparse.ArgumentParser(
        prog="pt2lint server",
        description="Findings in an editor: speaks the Language Server Protocol on stdin and stdout.",
    ).parse_args(arguments)
    import gc

    gc.enable()
    try:
        import pygls  # noqa: F401
    except ImportError:
        print("pt2lint: the server needs pygls: pip install 'pt2lint[server]'", file=sys.stderr)
        return 2
    from pt2lint.integrations.server import run

    return run()


def _completion(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="pt2lint completion",
        description="Print the script that completes pt2lint's arguments in a shell.",
        epilog='bash: eval "$(pt2lint completion bash)" in ~/.bashrc; '
        "zsh: pt2lint completion zsh > a folder of $fpath/_pt2lint; "
        "fish: pt2lint completion fish > ~/.config/fish/completions/pt2lint.fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    shell = parser.parse_args(arguments).shell
    from pt2lint.check import pages
    from pt2lint.integrations.completion import script
    from pt2lint.project.config import Configs

    print(script(_parser(), shell, [page.code for page in pages(Configs().of("."))]))
    return 0


def _skill(arguments: list[str]) -> int:
    import argparse
    from pathlib import Path

    argparse.ArgumentParser(
        prog="pt2lint skill", description="Print how a coding assistant works with pt2lint (a SKILL.md)."
    ).parse_args(arguments)
    package = Path(__file__).parents[1]
    installed, in_the_repository = package / "skill", package.parent / "skills" / "pt2lint"
    folder = installed if installed.is_dir() else in_the_repository
    print((folder / "SKILL.md").read_text(encoding="utf-8"), end="")
    return 0


def _merge(arguments: list[str]) -> int:
    from pt2lint.cli.merge import merge

    return merge(arguments)


def _compare(arguments: list[str]) -> int:
    from pt2lint.cli.compare import compare

    return compare(arguments)


def _rule(arguments: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="pt2lint rule", description="Print what a code means and what to write instead."
    )
    parser.add_argument("code", help="as in PTB103, or the rule's name, as in tensor-item")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args(arguments)
    from pt2lint.check import nearest_code, pages
    from pt2lint.project.config import Configs

    configs = Configs()
    known = pages(configs.of("."))
    page = next(
        (page for page in known if options.code.upper() == page.code or options.code == page.name), None
    )
    if page is None:
        near = nearest_code(options.code, [page.code for page in known])
        print(f"pt2lint: no rule has the code {options.code}{near}", file=sys.stderr)
        return 2
    from pt2lint.report import page as pages_report

    print(pages_report.render(options.format, page, _colour()), end="")
    return 0
