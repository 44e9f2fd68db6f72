"""The small commands beside linting (rule, server, completion, skill) and what --show-settings and its like show."""

from __future__ import annotations

import sys

from pt2lint.cli.answer import in_colour, problem_lines
from pt2lint.cli.options import command_parser, settings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from pt2lint.finding import Problem
    from pt2lint.project.config import Configs


def show_settings(options: argparse.Namespace, configs: Configs, paths: Sequence[str]) -> int:
    """Answer --list-rules, --show-settings and --show-files."""
    from dataclasses import asdict

    from pt2lint.check import pages
    from pt2lint.project.discover import Discovery
    from pt2lint.report.place import shown

    problems: list[Problem] = []
    settings = settings_of(configs, paths[0])
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
    sys.stderr.write(problem_lines(problems))
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


def server(arguments: list[str]) -> int:
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


def completion(arguments: list[str]) -> int:
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

    print(script(command_parser(), shell, [page.code for page in pages(Configs().of("."))]))
    return 0


def skill(arguments: list[str]) -> int:
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


def rule(arguments: list[str]) -> int:
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
        named = next((page.name for page in known if options.code.lower() in page.name.split("-")), None)
        near = (
            f"; did you mean {named}?" if named else nearest_code(options.code, [page.code for page in known])
        )
        print(f"pt2lint: no rule has the code {options.code}{near}", file=sys.stderr)
        return 2
    from pt2lint.report import page as pages_report

    print(pages_report.render(options.format, page, in_colour()), end="")
    return 0
