"""`pt2lint completion SHELL`: the script that completes pt2lint's arguments, made by shtab from the parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import shtab

SHELLS = ("bash", "zsh", "fish")
FOLDERS = ("--trace", "--source-root", "--cache-dir")
FILES = (
    "paths",
    "--config",
    "--output",
    "--baseline",
    "--write-baseline",
    "--python",
    "--stdin-filename",
    "--report",
)
CODES = ("--select", "--extend-select", "--ignore")
COMMANDS = {
    "rule": "what a code means and what to write instead",
    "server": "findings in an editor",
    "completion": "the script that completes arguments in a shell",
    "skill": "how a coding assistant works with pt2lint",
}

# What stands first is a command or a path, which shtab's bash and zsh scripts do not know to mix.
_BASH = """
_pt2lint_words() {{
  case "${{COMP_WORDS[1]}}" in
{cases}
  *) if [ "$COMP_CWORD" = 1 ]; then compgen -W "{commands}" -- "$1"; fi; compgen -f -- "$1" ;;
  esac
}}
"""
_ZSH = """
_pt2lint_words() {{
  case $words[2] in
{cases}
  *) if (( CURRENT == 2 )); then compadd -- {commands}; fi; _files ;;
  esac
}}
"""


def script(parser: argparse.ArgumentParser, shell: str, codes: Sequence[str]) -> str:
    """The script for one of SHELLS; `codes` are those of all rules."""
    commands = {"rule": codes, "server": (), "completion": SHELLS, "skill": ()}
    for action in parser._actions:
        names = {action.dest, *action.option_strings}
        if names & {*FOLDERS}:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif names & {*FILES}:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif names & {*CODES}:
            action.choices = codes
        elif "--roots" in names:
            action.choices = ("modules", "explicit", "tensors")
    if shell == "fish":
        below = parser.add_subparsers()
        for name, words in commands.items():
            command = below.add_parser(name, help=COMMANDS[name])
            if words:
                command.add_argument("word", choices=words)
        return shtab.complete(parser, shell=shell)
    [paths] = (action for action in parser._actions if action.dest == "paths")
    paths.complete = {"bash": "_pt2lint_words", "zsh": "_pt2lint_words"}  # type: ignore[attr-defined]
    form, case = (
        (_BASH, '  {}) compgen -W "{}" -- "$1" ;;') if shell == "bash" else (_ZSH, "  {}) compadd -- {} ;;")
    )
    cases = "\n".join(case.format(name, " ".join(words)) for name, words in commands.items() if words)
    preamble = form.format(cases=cases, commands=" ".join(commands))
    preambles: Any = {shell: preamble}
    text = shtab.complete(parser, shell=shell, preamble=preambles)
    # "*:" is how zsh is told of any number of paths; shtab tells it of one, and adds commands of its own.
    return text.replace('"(*)::', '"*:').replace("_defaults_added=0", "_defaults_added=1")
