"""Hostile trees, settings and command lines: nothing may crash, hang, or go wrong without a word.

    python benchmarks/hostile_inputs.py [N] [--seed 0] [--seconds 30]

N times (default 300) a folder is made with files of odd names and contents, links that go round, pipes, a
pyproject.toml with any values under its keys, .gitignore files and a baseline, and pt2lint is run there with options
drawn at random. Every run must end in `--seconds` with exit status 0, 1 or 2; status 2 with a line on stderr that says
why, the others with none; nothing may be called a defect; what is printed holds no control characters; a report that
was written is whole. Prints each run that was otherwise, with the seed that makes it again, then the counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pt2lint.cli import main
from pt2lint.cli.options import FORMATS
from pt2lint.project.config import KEYS

BAD = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x)\n    return x.max().item()\n"
NAMES = [
    *"a.py b.py".split(),
    *"[a].py *.py -x.py --fix.py a:b.py file:.py %41.py #a.py !a.py ~.py $(x).py 'a'.py \"a.py a\\b.py".split(),
    *(
        "a\tb.py",
        "é.py",
        "模型.py",
        "a\u202eb.py",
        "a\u2028b.py",
        "a\x07b.py",
        "a\nb.py",
        "a\x1b[31m.py",
        ".py",
        "...py",
    ),
    *("__init__.py", "torch.py", "con.py", "n.ipynb", "\udcff.py", " .py", "a b.py", "x" * 240 + ".py"),
]
FOLDERS = ["", "sub/", "sub/deep er/", "[s]/", "build/", "\udcfe/", "a.py.d/"]
CONTENTS: list[bytes] = [
    BAD.encode(),
    BAD.replace("\n", "\r\n").encode(),
    BAD.replace("\n", "\r").encode(),
    b"\xef\xbb\xbf" + BAD.encode(),
    b"",
    b"\0",
    b"\xff\xfe",
    BAD.encode("utf-16"),
    BAD.replace("x", "größe").encode(),
    BAD.replace("x", "größe").encode("latin-1"),
    b"# coding: latin-1\n" + BAD.replace("x", "größe").encode("latin-1"),
    BAD.replace("item()", "item()  # noqa: PTB103, \x1b[2J").encode(),
    BAD.replace("    ", "\t").replace("\n\n", "\n\x0c\n").encode(),
    *(
        f"# coding: {codec}\n".encode() + BAD.encode()
        for codec in ("hex", "rot13", "utf-7", "undefined", "cp037", "x")
    ),
    b"x = " + b"(" * 300 + b")" * 300,
    b"x = " + b"-" * 3000 + b"1",
    b"x = " + b"1 + " * 3000 + b"1",
    b"if x:\n" * 1 + b"".join(b" " * i + b"if x:\n" for i in range(1, 120)),
    b"def f(:\n",
    b"import a, b, sub.a\nfrom . import *\nfrom .. import x\n" + BAD.encode(),
    b"# pt2lint: ignore-file[\n# noqa:\n# noqa: PTB\n#noqa:PTB103,,\n" + BAD.encode(),
    b'{"cells": 3, "nbformat": 4}',
    json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": BAD}]}).encode(),
    json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": [3, None]}, 3, {}]}).encode(),
    json.dumps({"nbformat": 4, "metadata": 3, "cells": [{"cell_type": "code", "source": None}]}).encode(),
    b"[" * 5000,
    b"try:\n    f()\nexcept A, B:\n    pass\n",
    b"x = t'{a}'\n",
]
STRINGS = (
    "|PTB|PTB103|PTB1O3|ALL|!|foo\\|[z-a]|[a|**|*.py|/|//|../x|#|a b|\\u0000|\x1f|é|modules|explicit|f|a.f|a:f|gone.f|"
    "8G|-1G|2.13|9.99|2.x|²|sub/|*a*a*a*a*a*a*b|cuda|eager|~|x"
).split("|")
NUMBERS = ["0", "-1", "3", "1e400", "nan", "inf", "-inf", "9" * 30, "1.5", "0x10", "1979-05-27", "07:32:00"]


def value(draw: random.Random, depth: int = 0) -> str:
    """Some TOML value."""
    kind = draw.randrange(8 if depth < 2 else 5)
    if kind < 3:
        return json.dumps(draw.choice(STRINGS).replace("\\u0000", "\0"))
    if kind == 3:
        return draw.choice(NUMBERS)
    if kind == 4:
        return draw.choice(["true", "false"])
    if kind == 7:
        inside = (f"{json.dumps(draw.choice(STRINGS) + str(i))} = {value(draw, depth + 1)}" for i in range(2))
        return "{" + ", ".join(inside) + "}"
    return "[" + ", ".join(value(draw, depth + 1) for _ in range(draw.randrange(4))) + "]"


VERIFY = "inputs targets run timeout memory python backend device jobs modes made-up further".split()


def settings(draw: random.Random) -> str:
    """Some pyproject.toml."""
    if draw.random() < 0.1:
        return draw.choice(
            ["[tool.pt2lint]\nx = " + "[" * 3000, "[tool.pt2lint", "\0tool.pt2lint", "[tool]\npt2lint = 3\n"]
        )
    keys = draw.sample([*KEYS, "selct", "cache-dir", "root", ""], draw.randrange(5))
    lines = [f"{json.dumps(key)} = {value(draw)}" for key in keys]
    if "verify" not in keys and draw.random() < 0.3:
        lines += ["[tool.pt2lint.verify]", *(f"{key} = {value(draw)}" for key in draw.sample(VERIFY, 3))]
    return "[tool.pt2lint]\n" + "\n".join(lines) + "\n"


def tree(draw: random.Random) -> None:
    """Files in the working folder."""
    for _ in range(draw.randrange(1, 6)):
        path = Path(draw.choice(FOLDERS) + draw.choice(NAMES))
        with contextlib.suppress(OSError):  # no such name on this system
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(draw.choice(CONTENTS))
    odd = {
        "loop.py": lambda: os.symlink("loop.py", "loop.py"),
        "round": lambda: os.symlink(".", "round"),
        "gone.py": lambda: os.symlink("nowhere", "gone.py"),
        "pipe.py": lambda: os.mkfifo("pipe.py"),
        "zero.py": lambda: os.symlink("/dev/zero", "zero.py"),
        "folder.py": lambda: os.mkdir("folder.py"),
        "a.py": lambda: os.path.exists("a.py") and os.chmod("a.py", 0),
        ".gitignore": lambda: Path(".gitignore").write_text("\n".join(draw.choices(STRINGS, k=4))),
        ".git": lambda: os.mkdir(".git"),
        "out": lambda: os.mkdir("out"),
        "b.json": lambda: Path("b.json").write_bytes(
            draw.choice([*CONTENTS, b'{"version":1,"findings":[]}'])
        ),
    }
    for name in draw.sample([*odd], draw.randrange(5)):
        with contextlib.suppress(OSError):
            odd[name]()
    if draw.random() < 0.4:
        path = draw.choice(["pyproject.toml", "sub/pyproject.toml"])
        with contextlib.suppress(OSError):
            Path(path).write_text(settings(draw), encoding="utf-8", errors="surrogateescape")


def options(draw: random.Random) -> list[str]:
    """Some command line; the code that is read is never run by it."""

    def text() -> str:
        return draw.choice(STRINGS).replace("\\u0000", "0")

    def code() -> str:  # most runs should get further than to a wrong code
        return draw.choice(["PTB", "PTB,PTR", "ptb103", "ALL", "PTX001", text()])

    def place() -> str:
        return draw.choice("out out.json out.sarif o/p/q.txt /dev/full /dev/null a.py/x loop.py".split())

    choices: list[Any] = [
        lambda: ["--format", draw.choice(FORMATS)],
        lambda: ["--select", code()],
        lambda: ["--ignore", code()],
        lambda: ["--extend-select", code()],
        lambda: ["--roots", text() + draw.choice(["", ",a.f", ",explicit"])],
        lambda: ["--target-torch", draw.choice(["2.9", "9.99", text()])],
        lambda: ["--output", place(), *draw.choice([[], ["--also-text"]])],
        lambda: ["--report", place()],
        lambda: ["--baseline", draw.choice(["b.json", "gone", "."])],
        lambda: ["--since", draw.choice(["HEAD", "-x", "", "x y", "\udcff"])],
        lambda: ["--config", draw.choice(["pyproject.toml", "a.py", "b.json", "."])],
        lambda: ["--pedantic"], lambda: ["--statistics"], lambda: ["--show-suppressed"], lambda: ["--exit-zero"],
        lambda: ["--force-exclude"], lambda: ["-q"],
        lambda: ["--cache-dir", draw.choice(["c", "a.py", "/dev/null", "loop.py"])],
    ]  # fmt: skip
    one_of = [["--fix"], ["--fix", "--unsafe-fixes"], ["--diff"], ["--add-noqa"], ["--write-baseline", place()],
              ["--show-files"], ["--show-settings"], ["--list-rules"], [], [], []]  # fmt: skip
    given = [part for option in draw.sample(choices, draw.randrange(4)) for part in option()] + draw.choice(
        one_of
    )
    few = [[draw.choice(NAMES)], ["sub", "a.py"], ["pipe.py"], ["gone"], ["", "a.py"], ["/dev/null"]]
    paths = draw.choice([[], ["."], ["."], [".", "."], [".", "a.py"], draw.choice(few)])
    return [*given, "--", *paths]


class TooLong(BaseException):
    """The time for one run is up."""


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TooLong in the block when the time is up."""

    def stop(number: int, frame: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f\u202a-\u202e]")


def wrong(arguments: list[str], seconds: int, counts: Counter[str]) -> str | None:
    """What went wrong in a run, None where all is as it should be."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    try:
        with at_most(seconds), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(arguments)
    except TooLong:
        return "it hangs: " + "".join(traceback.format_exc().splitlines(keepends=True)[-9:-1])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 99
    except BaseException:
        return "it crashes: " + "".join(traceback.format_exc().splitlines(keepends=True)[-9:])
    out.flush()
    err.flush()
    shown, told = (stream.buffer.getvalue().decode(errors="surrogateescape") for stream in (out, err))
    counts[f"exit status {status}"] += 1
    counts["lines on stderr"] += told.count("\n")
    if status not in (0, 1, 2):
        return f"exit status {status}"
    if "please report it" in told or "Traceback" in told or "defect" in told:
        return told
    fixing = "--diff" in arguments  # it says on stderr how many it would fix
    if (status == 2) != bool(told.strip()) and not fixing:
        return f"exit status {status} with {told!r} on stderr"
    machine = fixing or "json" in arguments or "sarif" in arguments or "github" in arguments
    if (not machine and _CONTROL.search(shown)) or _CONTROL.search(told):
        return f"control characters in {(_CONTROL.search(shown) or _CONTROL.search(told))!r}"
    for name in ("out.json", "out.sarif"):
        if (
            os.path.isfile(name)
            and "--report" not in arguments
            and "--write-baseline" not in arguments
            and not fixing
        ):
            if "--format" not in arguments:
                json.loads(Path(name).read_bytes())
    return None


def run() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("n", nargs="?", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=30)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    failures = 0
    home = os.getcwd()
    os.environ.pop("PT2LINT_DEBUG", None)
    for seed in range(given.seed, given.seed + given.n):
        draw = random.Random(seed)
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        try:
            tree(draw)
            arguments = options(draw)
            found = wrong(arguments, given.seconds, counts)
        except Exception:
            found = "what was written is not whole: " + traceback.format_exc()[-300:]
        finally:
            os.chdir(home)
            shutil.rmtree(folder, ignore_errors=True)
        if found is not None:
            failures += 1
            print(f"--seed {seed} 1: pt2lint {arguments!r}\n{found}", flush=True)
    print(f"{given.n} runs, {failures} wrong: {dict(sorted(counts.items()))}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(run())
