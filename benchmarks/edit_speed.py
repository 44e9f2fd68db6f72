"""What an edit costs: a large package linted again after one file was changed.

    python benchmarks/edit_speed.py FILE --keystrokes
    python benchmarks/edit_speed.py SOURCES [--package transformers] [--bodies 5]
    python benchmarks/edit_speed.py SOURCES [--package transformers] --fix

SOURCES is the folder that holds the package (a wheel, unpacked); it is copied. Each row changes one file, lints the
whole package with what the run before kept, and takes the change back (which is linted too, and not counted). CPU time
is that of the process and all of its children. benchmarks/random_edits.py holds what is found against a cold run.

The model's file is the package's `models/llama/modeling_llama.py`, the base is `modeling_utils.py`; bodies are changed
of functions and methods drawn from them, one at a time: the middle and the largest of `--bodies` times are printed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL, BASE = "models/llama/modeling_llama.py", "modeling_utils.py"


class Bench:
    def __init__(self, package: str, cache: Path) -> None:
        self.command = [sys.executable, "-m", "pt2lint", "--exit-zero", "--cache-dir", str(cache), package]

    def run(self, *options: str) -> tuple[float, float]:
        """(CPU seconds, wall seconds) of one lint of the package."""
        start = time.perf_counter()
        child = subprocess.Popen(
            [*self.command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
        return used.ru_utime + used.ru_stime, time.perf_counter() - start

    def after(self, path: Path, text: str) -> tuple[float, float]:
        """The same once the file holds the text; afterwards it holds what it did before."""
        old = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            return self.run()
        finally:
            path.write_text(old, encoding="utf-8")
            self.run()


def functions(text: str) -> list[ast.FunctionDef]:
    tree = ast.parse(text)
    inner = [node for cls in tree.body if isinstance(cls, ast.ClassDef) for node in cls.body]
    return [node for node in [*tree.body, *inner] if isinstance(node, ast.FunctionDef)]


def with_docstring(text: str) -> str:
    """The text with a line more in a docstring."""
    node = next(node for node in functions(text) if ast.get_docstring(node, clean=False))
    lines = text.split("\n")
    place = node.body[0]
    lines.insert(
        place.lineno, " " * place.col_offset + "One line more."
    ) if place.end_lineno != place.lineno else None
    if place.end_lineno == place.lineno:
        lines[place.lineno - 1] = " " * place.col_offset + '"""Said otherwise."""'
    return "\n".join(lines)


def with_body(text: str, node: ast.FunctionDef) -> str:
    """The text with a statement more at the end of a function's body."""
    lines = text.split("\n")
    last = node.body[-1]
    lines.insert(last.lineno - 1, " " * last.col_offset + "value_of_an_edit = 1")
    return "\n".join(lines)


def within_a_line(text: str, node: ast.FunctionDef) -> str:
    """The text with a statement more in a line of a function's body, as most keystrokes leave the lines as they are."""
    lines = text.split("\n")
    last = node.body[-1]
    here = lines[last.lineno - 1]
    lines[last.lineno - 1] = f"{here[: last.col_offset]}value_of_an_edit = 2; {here[last.col_offset :]}"
    return "\n".join(lines)


def keystrokes(path: Path) -> None:
    """What the language server does after a change of one open file, which is alone: CPU seconds until the answer, by
    kind of change, and those that collecting garbage takes afterwards."""
    from pt2lint.integrations.server import linted
    from pt2lint.static.memory import Memory

    text, memory = path.read_text(encoding="utf-8"), Memory()
    followed = [node for node in functions(text) if node.name == "forward"]
    texts = {
        "the first time": text,
        "a comment": text + "# x\n",
        "another": text + "# x y\n",
        "the body of a method that is compiled": with_body(text, followed[len(followed) // 2]),
        "that of another": with_body(text, followed[len(followed) // 4]),
        "the same once more": with_body(text, followed[len(followed) // 4]).replace("an_edit", "an_edit_"),
        "a statement in a line of a third": within_a_line(text, followed[-1]),
        "in a line of the first": within_a_line(text, followed[len(followed) // 2]),
    }
    print("| | CPU s | afterwards |\n| --- | --- | --- |")
    gc.disable()
    for name, changed in texts.items():
        start = time.process_time()
        linted(str(path.absolute()), changed, {}, None, memory)
        answered = time.process_time()
        gc.collect()
        after = time.process_time() - answered
        print(f"| {path.name} in an editor: {name} | {answered - start:.3f} | {after:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--package", default="transformers")
    parser.add_argument("--bodies", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--cache", type=Path, help="keep what is kept here, and take it from here (for --copy)"
    )
    parser.add_argument("--copy", type=Path, help="a copy of SOURCES made before, to be changed")
    parser.add_argument("--fix", action="store_true", help="what --fix --unsafe-fixes costs after a lint")
    parser.add_argument("--keystrokes", action="store_true", help="SOURCES is one file, open in an editor")
    options = parser.parse_args()
    if options.keystrokes:
        keystrokes(options.sources)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.copy or Path(scratch, "copy")
        if not folder.exists():
            shutil.copytree(options.sources / options.package, folder / options.package)
        cache = options.cache.resolve() if options.cache else Path(scratch, "kept")
        os.chdir(folder)
        bench = Bench(options.package, cache)
        print("| | CPU s | wall s |\n| --- | --- | --- |")
        row("from cold", bench.run())
        row("again", bench.run())
        if options.fix:
            row("--fix --unsafe-fixes", bench.run("--fix", "--unsafe-fixes"))
            row("after it", bench.run())
        else:
            rows(bench, Path(options.package), options.bodies, random.Random(options.seed))


def row(name: str, taken: tuple[float, float]) -> None:
    print(f"| {name} | {taken[0]:.2f} | {taken[1]:.2f} |", flush=True)


def rows(bench: Bench, package: Path, bodies: int, draw: random.Random) -> None:
    for path in (package / MODEL, package / BASE):
        text = path.read_text(encoding="utf-8")
        row(f"{path.name}: a comment at the end", bench.after(path, text + "# a comment\n"))
        row(f"{path.name}: a comment at the top", bench.after(path, "# a comment\n" + text))
        row(f"{path.name}: a docstring", bench.after(path, with_docstring(text)))
        drawn = draw.sample(functions(text), bodies)
        taken = sorted(bench.after(path, with_body(text, node)) for node in drawn)
        middle = statistics.median_low(taken)
        row(f"{path.name}: the body of one function, the middle of {bodies}", middle)
        row(f"{path.name}: the body of one function, the largest of {bodies}", taken[-1])


if __name__ == "__main__":
    main()
