"""Edits at random, the kept answer against a cold run's after each.

    python benchmarks/random_edits.py FOLDER [--steps 200] [--seed 0] [--most 60]

FOLDER holds Python sources, which are copied; of more than `--most` files some are drawn. A step changes one file: a
comment, blank lines, a docstring, a local's name, a constant, a statement less or twice, a function more or less, an
import, a parameter, a comment that silences; or there is a file more or less. What is then found with what was kept
before has to be, to the byte, what is found without. Files are left changed for the next step; some steps take a change
back. Exit status 1 where one differs, with the step that does it again.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pt2lint.check import check
from pt2lint.integrations.server import linted
from pt2lint.project.config import Configs
from pt2lint.static.memory import Memory

Edit = Callable[[random.Random, str], str]


def answer(folder: str, cache: str | None) -> str:
    """All that a run says, as text."""
    checked = check([folder], Configs({"pedantic": True}), cache_folder=cache)
    return json.dumps(
        [
            [f.as_json() for f in checked.findings],
            [f.as_json() for f in checked.suppressed],
            [str(p) for p in checked.problems],
        ],
        indent=1,
        default=repr,
    )


def _line(draw: random.Random, text: str) -> tuple[list[str], int]:
    lines = text.split("\n")
    return lines, draw.randrange(len(lines))


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def comment(draw: random.Random, text: str) -> str:
    lines, at = _line(draw, text)
    lines.insert(
        at,
        _margin(lines[at]) + draw.choice(["# x", "# torch.compile it", '# `it\'s` "so"', "# noqa: PTB103"]),
    )
    return "\n".join(lines)


def trailing(draw: random.Random, text: str) -> str:
    lines, at = _line(draw, text)
    if not lines[at].strip() or lines[at].endswith("\\"):
        return text
    lines[at] += draw.choice(["  # so", "  # noqa", "  # pt2lint: ignore[PTB]", "  # caf\u00e9"])
    return "\n".join(lines)


def blank(draw: random.Random, text: str) -> str:
    lines, at = _line(draw, text)
    lines[at:at] = [""] * draw.randint(1, 3)
    return "\n".join(lines)


def unblank(draw: random.Random, text: str) -> str:
    lines, _ = _line(draw, text)
    empty = [n for n, line in enumerate(lines) if not line.strip()]
    if empty:
        del lines[draw.choice(empty)]
    return "\n".join(lines)


def top(draw: random.Random, text: str) -> str:
    return draw.choice(["# first\n", "\n\n"]) + text


def docstring(draw: random.Random, text: str) -> str:
    tree = ast.parse(text)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node, clean=False)
    ]
    if not found:
        return text
    node = draw.choice(found).body[0]
    lines = text.split("\n")
    margin = " " * node.col_offset
    said = [
        f'{margin}"""Said otherwise.',
        *[f"{margin}more" for _ in range(draw.randint(0, 3))],
        f'{margin}"""',
    ]
    lines[node.lineno - 1 : node.end_lineno] = said
    return "\n".join(lines)


def local(draw: random.Random, text: str) -> str:
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if not functions:
        return text
    node = draw.choice(functions)
    names = sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})
    if not names:
        return text
    name = draw.choice(names)
    lines = text.split("\n")
    for n in range(node.body[0].lineno - 1, node.end_lineno or 0):
        lines[n] = re.sub(rf"(?<![.\w]){name}\b", name + "_", lines[n])
    return "\n".join(lines)


def constant(draw: random.Random, text: str) -> str:
    found = list(re.finditer(r"(?<![\w.\"'])\d+(?![\w.])", text))
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start()] + str(draw.randint(0, 9)) + text[one.end() :]


def statement(draw: random.Random, text: str) -> str:
    """One statement twice, or none of it."""
    tree = ast.parse(text)
    found = [
        one
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for one in node.body
        if isinstance(one, (ast.Assign, ast.Expr, ast.AugAssign, ast.If, ast.For))
    ]
    if not found:
        return text
    one = draw.choice(found)
    lines = text.split("\n")
    first, last = one.lineno - 1, one.end_lineno or one.lineno
    margin = _margin(lines[first])
    lines[first:last] = draw.choice([[f"{margin}pass"], [*lines[first:last], *lines[first:last]]])
    return "\n".join(lines)


def breaks(draw: random.Random, text: str) -> str:
    """A line more that ends a graph."""
    tree = ast.parse(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args[1:]]
    if not found:
        return text
    node = draw.choice(found)
    lines = text.split("\n")
    at = node.body[0]
    margin = " " * at.col_offset
    name = node.args.args[1].arg
    said = draw.choice([f"print({name})", f"if {name}.sum() > 0: {name} = -{name}", f"n = {name}.item()"])
    lines.insert((at.end_lineno or at.lineno), margin + said)
    return "\n".join(lines)


def function(draw: random.Random, text: str) -> str:
    """A function more at the end or the top level, or one less."""
    tree = ast.parse(text)
    tops = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    lines = text.split("\n")
    if tops and draw.random() < 0.3:
        one = draw.choice(tops)
        del lines[one.lineno - 1 : one.end_lineno]
        return "\n".join(lines)
    at = draw.choice(tops).lineno - 1 if tops and not tops[-1].decorator_list else len(lines)
    lines[at:at] = ["", f"def helper_{draw.randint(0, 99)}(x):", "    return x.sum().item()", "", ""]
    return "\n".join(lines)


def importing(draw: random.Random, text: str) -> str:
    return draw.choice(["import math\n", "import torch\n", "from torch import nn\n"]) + text


def parameter(draw: random.Random, text: str) -> str:
    found = list(re.finditer(r"def \w+\(self, ", text))
    if not found:
        return text
    one = draw.choice(found)
    return (
        text[: one.end()] + f"more_{draw.randint(0, 99)}=None, *, ".replace(", *, ", ", ") + text[one.end() :]
    )


EDITS: list[Edit] = [
    comment, comment, trailing, trailing, blank, unblank, top, docstring, docstring, local, local, constant,
    constant, statement, statement, breaks, breaks, function, importing, parameter,
]  # fmt: skip


def edited(draw: random.Random, text: str) -> tuple[str, str]:
    """(how, the text with one edit); as it is where none drawn leaves Python."""
    for _ in range(20):
        edit = draw.choice(EDITS)
        try:
            new = edit(draw, text)
            if new != text:
                compile(new, "edited", "exec", dont_inherit=True)
                return edit.__name__, new
        except (SyntaxError, ValueError):
            continue
    return "none", text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=60)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        shutil.copytree(
            options.folder.resolve(), "sources", ignore=shutil.ignore_patterns("*.pyc", "*.so", "*.json")
        )
        paths = sorted(str(path) for path in Path("sources").rglob("*.py"))
        drawn = set(draw.sample(paths, min(options.most, len(paths))))
        for path in paths:
            if path not in drawn and not path.endswith("__init__.py"):
                os.unlink(path)
        sys.exit(walk(draw, sorted(drawn), options.steps))


def in_an_editor(path: str, memory: Memory | None) -> str:
    """What the language server finds in the file, as text."""
    text = Path(path).read_text(encoding="utf-8")
    checked = linted(os.path.abspath(path), text, {}, None, memory)
    return (
        "" if checked is None else json.dumps([f.as_json() for f in checked.findings], indent=1, default=repr)
    )


def walk(draw: random.Random, paths: list[str], steps: int) -> int:
    """The exit status, after so many steps in the working folder, whose sources are in `sources`. The file that changes
    is open in an editor too."""
    memory = Memory()
    spent: Counter[str] = Counter()
    before: list[tuple[str, str]] = []
    answer("sources", "kept")
    paths, added = [*paths], list[str]()
    for step in range(steps):
        path = draw.choice(paths)
        old = Path(path).read_text(encoding="utf-8")
        if added and draw.random() < 0.1:
            how, path, text = "less", added.pop(draw.randrange(len(added))), None
            old = Path(path).read_text(encoding="utf-8")
            paths.remove(path)
            before = [one for one in before if one[0] != path]
        elif draw.random() < 0.1:
            how, path, text = "more", f"{path[:-3]}_{step}.py", old
            paths.append(path)
            added.append(path)
        elif before and draw.random() < 0.15:
            path, text = before.pop()
            old = Path(path).read_text(encoding="utf-8")
            how = "back"
        else:
            before.append((path, old))
            how, text = edited(draw, old)
        if text is None:
            os.unlink(path)
        else:
            Path(path).write_text(text, encoding="utf-8")
        start = time.perf_counter()
        kept = answer("sources", "kept")
        spent["kept"] += int(1e6 * (time.perf_counter() - start))
        start = time.perf_counter()
        cold = answer("sources", None)
        spent["cold"] += int(1e6 * (time.perf_counter() - start))
        spent[how] += 1
        if kept == cold and text is not None:
            kept, cold = in_an_editor(path, memory), in_an_editor(path, None)
        if kept != cold:
            Path("before.py").write_text(old, encoding="utf-8")
            Path("after.py").write_text(text or "", encoding="utf-8")
            a, b = kept.split("\n"), cold.split("\n")
            at = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            print(f"step {step}: {how} in {path}: differs", a[at - 3 : at + 3], b[at - 3 : at + 3], sep="\n")
            return 1
    told = ", ".join(
        f"{name} {count}" for name, count in sorted(spent.items()) if name not in ("kept", "cold")
    )
    print(f"{steps} steps, all alike ({told})")
    print(f"{spent['kept'] / 1e6:.1f} s with what was kept, {spent['cold'] / 1e6:.1f} s cold")
    return 0


if __name__ == "__main__":
    main()
