"""What the command line takes: its options, what goes with what, and the settings that they override."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any

    from pt2lint.dynamic.options import VerifyOptions
    from pt2lint.project.config import Configs, Settings


FORMATS = ("text", "concise", "json", "sarif", "github")


SUFFIXES = {".json": "json", ".sarif": "sarif", ".txt": "text"}


DESTINATIONS = (
    "output",
    "report",
    "write-baseline",
    "commit-message",
    "results",
)  # options that name a file to write
ZOO = ("results", "shard", "durations", "executor", "gpus")  # options of cli/zoo.py


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


class UsageError(Exception):
    """The command line asks for what cannot be done; one line for the user."""


def command_parser() -> argparse.ArgumentParser:
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
    for title, add_options in (
        ("what to look for", _add_what),
        ("verify: run the code", _add_verify),
        ("verify many targets (docs/zoo.md)", _add_many),
        ("or judge by logs", _add_logs),
        ("fix", _add_fix),
        ("report", _add_report),
        ("start on a large project", _add_large),
        ("other", _add_other),
    ):
        add_options(parser.add_argument_group(title).add_argument)
    return parser


def _add_what(add: Callable[..., Any]) -> None:
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
        help="the torch that the code runs on, as in 2.9 (default: the installed one)",
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


def _add_verify(add: Callable[..., Any]) -> None:
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


def _add_many(add: Callable[..., Any]) -> None:
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


def _add_logs(add: Callable[..., Any]) -> None:
    add("--trace", metavar="DIR", help="instead: judge by the TORCH_TRACE logs of a job; nothing is run")
    add(
        "--source-root", metavar="DIR", help="with --trace: the folder of the job's files here, or THERE=HERE"
    )


def _add_fix(add: Callable[..., Any]) -> None:
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


def _add_report(add: Callable[..., Any]) -> None:
    add("--format", choices=FORMATS, help="default: by the suffix of --output, else text")
    add("--output", metavar="FILE", help="write the report there")
    add("--report", metavar="FILE", help="write a page (HTML) there: the source, each line with its FX graph")
    add("--also-text", action="store_true", help="with --output: print the text report as well")
    add(
        "--notes",
        action="store_true",
        help="tell notes in full (true but seldom worth acting on: once, off by default, meant); --fix then mends "
        "them too, but in code that no model calls",
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


def _add_large(add: Callable[..., Any]) -> None:
    add("--baseline", metavar="FILE", help="leave out the findings that are in this file")
    add("--write-baseline", metavar="FILE", help="write the findings of now to this file")
    add("--since", metavar="REV", help="only findings on lines that changed since this git revision")


def _add_other(add: Callable[..., Any]) -> None:
    add("--stdin-filename", metavar="PATH", help="what the text on stdin (-) is called")
    add("--show-settings", action="store_true", help="print the settings for the first path")
    add("--show-files", action="store_true", help="print the files that would be read")
    add("--list-rules", action="store_true", help="print every code, its name and what it says")
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    add(
        "--cache-dir", metavar="DIR", help="default: $PT2LINT_CACHE_DIR, else pt2lint among the user's caches"
    )


def check_usage(options: argparse.Namespace) -> None:
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
        "write_budget",
        *ZOO,
    ):
        value = getattr(options, name)
        if value is not None and value is not False and value != [] and not options.verify:
            raise UsageError(f"--{name.replace('_', '-')} is of use only with --verify, which runs the code")
    if options.source_root and not options.trace:
        raise UsageError("--source-root goes with --trace DIR")
    if options.trace and options.verify:
        raise UsageError("choose one of --verify (run the code) and --trace (read what a job left)")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError("--unsafe-fixes goes with --fix (write) or --diff (show)")
    if options.commit_message and not (options.fix or options.diff):
        raise UsageError("--commit-message goes with --fix (write) or --diff (show)")
    if sum((options.fix, options.diff, options.add_noqa, bool(options.write_baseline))) > 1:
        raise UsageError("choose one of --fix, --diff, --add-noqa and --write-baseline")
    if options.also_text and not options.output:
        raise UsageError("--also-text goes with --output FILE")
    if options.config and not os.path.isfile(options.config):
        raise UsageError(f"--config {options.config}: no such file")
    _check_destinations(options)
    if options.format is None:
        suffix = os.path.splitext(options.output or "")[1]
        options.format = SUFFIXES.get(suffix, "text")


def _check_destinations(options: argparse.Namespace) -> None:
    """What is written goes to a file of its own, and never takes the place of a source."""
    given = {f"--{name}": getattr(options, name.replace("-", "_")) for name in DESTINATIONS}
    if not any(given.values()):
        return
    from pt2lint.project.discover import SUFFIXES as SOURCES

    seen: dict[str, str] = {}
    for flag, path in given.items():
        if not path or (os.path.exists(path) and not os.path.isfile(path)):
            continue  # a folder, or a device such as /dev/null
        place = os.path.realpath(path)
        is_source = path.endswith(SOURCES) or any(os.path.realpath(one) == place for one in options.paths)
        if is_source and os.path.isfile(path):
            raise UsageError(f"{flag} {path}: would take the place of a source file; name another file")
        if place in seen:
            raise UsageError(f"{seen[place]} and {flag} name the same file, {path}")
        seen[place] = flag


def writes(options: argparse.Namespace) -> bool:
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


def overrides(options: argparse.Namespace) -> dict[str, Any]:
    from pt2lint.project.config import parse_assumptions, parse_codes, parse_roots, parse_torch

    given: dict[str, Any] = {}
    for name in ("select", "extend_select", "ignore"):
        flag = "--" + name.replace("_", "-")
        try:
            codes = tuple(code for item in getattr(options, name) for code in parse_codes(item))
        except ValueError as error:
            raise UsageError(f"{flag}: {error}") from None
        if codes:
            given[name] = codes
    if options.pedantic:
        given["pedantic"] = True
    if options.roots:
        try:
            given["roots"], given["root_names"] = parse_roots(options.roots.split(","))
        except ValueError as error:
            raise UsageError(f"--roots {options.roots}: it {error}") from None
    if options.fail_on:
        given["fail_on"] = options.fail_on
    if options.assume:
        try:
            items = [item.strip() for text in options.assume for item in text.split(",") if item.strip()]
            given["assume"] = parse_assumptions(items)
        except ValueError as error:
            raise UsageError(f"--assume {error}") from None
    if options.target_torch:
        try:
            given["target_torch"] = parse_torch(options.target_torch)
        except ValueError as error:
            raise UsageError(f"--target-torch {options.target_torch}: {error}") from None
    return given


def check_codes(configs: Configs) -> None:
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
            raise UsageError(f"--{flag} {code}: no rule has this code{nearest_code(code, known)}")


def verify_options(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> VerifyOptions:
    from pt2lint.dynamic.options import mebibytes, options_from

    table = dict(settings_of(configs, paths[0]).verify)
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
        raise UsageError(f"--verify: {error}") from None


def _environment(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in options.env]
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise UsageError(f"--env {wrong[0]}: should be NAME=VALUE")
    return tuple((name, value) for name, _, value in pairs)


def settings_of(configs: Configs, path: str) -> Settings:
    return configs.of(path if os.path.isdir(path) else os.path.dirname(path) or ".")


def timed_backend(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> str:
    """The backend to time: the one that was asked for, else what torch.compile takes by itself."""
    table = settings_of(configs, paths[0]).verify
    return str(options.backend or table.get("backend") or "inductor")


def asked(options: argparse.Namespace) -> str:
    """The options of --verify that say what is run and how, as a shell takes them."""
    import shlex

    words: list[str] = []
    for name in ("inputs", "run", "python", "timeout", "memory", "backend", "device"):
        given = getattr(options, name)
        for value in given if isinstance(given, list) else [given] if given else []:
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)
