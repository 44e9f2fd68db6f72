"""How fast and how lean the static pass is, beside other tools, in one go.

    python benchmarks/static_speed.py SOURCES [--tools BIN] [--repeat 3] [--python PYTHON] [--all]

SOURCES is the folder that holds the `transformers` package (a wheel, unpacked). BIN is the folder with the
programs `torchfix`, `fixit` and `ruff` (an environment of their own: `pip install torchfix==0.7.0 "fixit>=2" ruff`);
what is missing is left out. All tools read the same files: `models/*/modeling_*.py`, sorted, every eighth. Each
command runs `--repeat` times, all commands in turn, and the best time counts: other work on the machine
only ever adds. Wall time and CPU time are those of the process and its children, memory is the largest
process's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PARSE = """
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read())
"""
LIBCST = """
import sys
import libcst
for path in sys.argv[1:]:
    libcst.parse_module(open(path, "rb").read())
"""


@dataclass
class Job:
    """A command and what its runs took: seconds, seconds, MiB."""

    name: str
    command: list[str]
    folder: Path
    before: list[str] | None = None  # run first, and not measured
    wall: float = float("inf")
    cpu: float = float("inf")
    memory: int = 0
    status: set[int] = field(default_factory=set)

    def run(self) -> None:
        if self.before is not None:
            subprocess.run(
                self.before,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        start = time.perf_counter()
        child = subprocess.Popen(
            self.command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
        self.wall = min(self.wall, time.perf_counter() - start)
        self.cpu = min(self.cpu, used.ru_utime + used.ru_stime)
        self.memory = max(self.memory, used.ru_maxrss // 1024)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.status.add(child.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--tools", type=Path, default=Path(sys.executable).parent)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="the Python whose pt2lint it is (of an environment with the wheel)",
    )
    parser.add_argument(
        "--all", action="store_true", help="also all of transformers, and its fixes (many minutes)"
    )
    options = parser.parse_args()
    sources = options.sources.resolve()
    files = sorted((sources / "transformers" / "models").glob("*/modeling_*.py"))[7::8]
    if not files:
        parser.error(f"{sources}: no transformers/models/*/modeling_*.py here")
    with tempfile.TemporaryDirectory() as folder:
        measure(sources, files, Path(folder), options)


def measure(sources: Path, files: list[Path], scratch: Path, options: argparse.Namespace) -> None:
    alone = scratch / "alone"
    alone.mkdir()
    for file in files:
        shutil.copy(file, alone)
    sizes = [files[: len(files) * part // 8] for part in (1, 2, 4, 8)]
    inside = [str(file.relative_to(sources)) for file in files]
    names = [file.name for file in files]
    thousand = min(files, key=lambda file: abs(lines([file]) - 1000))
    python = options.python
    pt2lint = [python, "-m", "pt2lint", "--exit-zero"]
    cold, kept = [*pt2lint, "--no-cache"], ["--cache-dir", str(scratch / "kept")]

    def program(name: str, *arguments: str) -> list[Job]:
        path = options.tools / name
        return [Job(name, [str(path), *arguments, *names], alone)] if path.exists() else []

    others = [
        *program("torchfix"),
        *program("fixit", "lint"),
        *program("ruff", "check", "--no-cache", "--quiet", "--isolated"),
        Job("LibCST: parse", [python, "-c", LIBCST, *names], alone),
        Job("ast: parse", [python, "-c", PARSE, *names], alone),
    ]
    ours = [
        Job("pt2lint, in place", [*cold, *inside], sources),
        Job("pt2lint, alone", [*cold, *names], alone),
        Job("pt2lint, again", [*pt2lint, *kept, *names], alone, before=[*pt2lint, *kept, *names]),
    ]
    small = [
        Job(f"pt2lint, {thousand.name} ({lines([thousand])} lines)", [*cold, thousand.name], alone),
        Job("python -c 'import pt2lint'", [python, "-c", "import pt2lint"], alone),
        Job("python -c 'import libcst'", [python, "-c", "import libcst"], alone),
    ]
    growing = [
        Job(f"{lines(part)} lines, {where}", [*cold, *given], folder)
        for part in sizes
        for where, folder, given in (
            ("in place", sources, [str(file.relative_to(sources)) for file in part]),
            ("alone", alone, [file.name for file in part]),
        )
    ]
    jobs = [*others, *ours, *small, *growing]
    for turn in range(options.repeat):
        for job in jobs:
            print(f"\r\x1b[2K{turn + 1}/{options.repeat} {job.name}", end="", file=sys.stderr, flush=True)
            job.run()
    print("\r\x1b[2K", end="", file=sys.stderr)
    whole = Job("all of transformers", [*cold, "transformers"], sources)
    fixing = Job("the same, and all fixes", [*cold, "--diff", "--unsafe-fixes", "transformers"], sources)
    if options.all:
        whole.run()
        fixing.run()

    print(
        f"{len(files)} files, {lines(files)} lines, Python {sys.version.split()[0]}, best of {options.repeat}\n"
    )
    torchfix = others[0] if others[0].name == "torchfix" else None
    table(
        ["", "wall s", "CPU s", "MiB", "TorchFix's wall time is"],
        [row(job, torchfix) for job in [*ours, *others]],
    )
    print()
    table(["", "wall s", "CPU s", "MiB", "of the next"], [
        [*row(small[0], None)[:4], f"{small[0].wall / small[2].wall:.2f} times import libcst"],
        [*row(ours[2], None)[:4], f"{ours[2].wall / small[1].wall:.2f} times import pt2lint"],
        row(small[1], None),
        row(small[2], None),
    ])  # fmt: skip
    print()
    table(["", "wall s", "CPU s", "MiB", "CPU µs a line"], [
        [*row(job, None)[:4], f"{job.cpu / int(job.name.split()[0]) * 1e6:.0f}"] for job in growing
    ])  # fmt: skip
    if options.all:
        print()
        count = lines(sorted((sources / "transformers").rglob("*.py")))
        table(["", "wall s", "CPU s", "MiB", "CPU µs a line"], [
            [*row(job, None)[:4], f"{job.cpu / count * 1e6:.0f} ({count} lines)"] for job in (whole, fixing)
        ])  # fmt: skip
    wrong = [
        f"{job.name}: exit status {job.status}" for job in [*ours, *small, *growing] if job.status != {0}
    ]
    if wrong:
        sys.exit("\n".join(wrong))


def lines(files: Sequence[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)


def row(job: Job, torchfix: Job | None) -> list[str]:
    ratio = f"{torchfix.wall / job.wall:.1f} times as long" if torchfix and torchfix is not job else ""
    return [job.name, f"{job.wall:.3f}", f"{job.cpu:.3f}", str(job.memory), ratio]


def table(head: list[str], rows: Sequence[Sequence[str]]) -> None:
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
