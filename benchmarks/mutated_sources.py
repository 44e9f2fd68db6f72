#!/usr/bin/env python3
"""Search for what breaks pt2lint: sources are changed at random, linted with every rule, and fixed.

    mutated_sources.py [--number N] [--seed SEED] [--paths FOLDER...]

The sources are those of the rules' pages and cases and, with --paths, the files under the folders. A change is one of
tokens (left out, twice, moved, one of another file in its place), of lines, or of the tree (a node in another's place,
a statement twice or elsewhere, an expression, a chain of `elif` or of attributes as deep as Python reads). What Python
does not compile has to be told in one line. Else nothing may fail: no rule, no reading, no fix; each fix alone loses no
line and no comment and leaves what compiles, and so do all together, after which fixing again changes nothing.

Prints each failure with the number that makes it again (`--seed N --number 1`). Exit status 1 if there was one.
"""

import argparse
import ast
import copy
import io
import random
import sys
import tempfile
import tokenize
import warnings
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.fix_loss import Search, compiles, seeds_of_rules  # noqa: E402
from pt2lint.fixes.rounds import fix_findings  # noqa: E402
from pt2lint.project.config import Settings  # noqa: E402
from pt2lint.static.engine import lint  # noqa: E402

DEPTHS = (3, 20, 90, 300, 900)
SETTINGS = Settings(pedantic=True, target_torch=(2, 13))


def pieces(text):
    try:
        return [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.string.strip()]
    except (tokenize.TokenError, SyntaxError):
        return []


def of_tokens(text, other, rng):
    found, strange = pieces(text), pieces(other)
    if len(found) < 2 or not strange:
        return text
    one = rng.choice(found)
    new = rng.choice(["", f"{one.string} {one.string}", rng.choice(found).string, rng.choice(strange).string])
    lines = text.splitlines(keepends=True)
    (first, start), (last, end) = one.start, one.end
    lines[first - 1 : last] = [lines[first - 1][:start] + new + lines[last - 1][end:]]
    return "".join(lines)


def of_lines(text, other, rng):
    lines, strange = text.splitlines(keepends=True), other.splitlines(keepends=True)
    if not lines or not strange:
        return text
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    new = rng.choice(
        [[], [lines[at]] * 2, [lines[to]], [margin + rng.choice(strange).lstrip()], [lines[at].strip()]]
    )
    lines[at : at + 1] = new
    return "".join(lines)


def deep(node, rng):
    """The expression within more of its kind than anyone writes."""
    n, one = rng.choice(DEPTHS), f"({ast.unparse(node)})"
    few = min(n, 60)  # of what Python itself nests no deeper
    made = [
        " + ".join([one] * n),
        " and ".join([one] * n),
        " < ".join([one] * n),
        one + rng.choice([".T", "[0]", ".abs()"]) * n,
        rng.choice(["-", "not "]) * n + one,
        f"{one} if n else " * few + one,
        "[" * few + one + "]" * few,
        "torch.relu(" * few + one + ")" * few,
        "lambda: " * few + one,
        "[" + one + " for i in y" * few + "]",
        "**".join([one] * few),
    ]
    return f"({rng.choice(made)})"


def of_tree(text, other, rng):
    tree, strange = ast.parse(text), ast.parse(other)
    places = [
        (node, name, at)
        for node in ast.walk(tree)
        for name, value in ast.iter_fields(node)
        for at, one in enumerate(value if isinstance(value, list) else [value])
        if isinstance(one, (ast.expr, ast.stmt))
    ]
    if not places:
        return text
    node, name, at = rng.choice(places)
    value = getattr(node, name)
    old = value[at] if isinstance(value, list) else value
    kind = ast.stmt if isinstance(old, ast.stmt) else ast.expr
    among = [one for one in ast.walk(rng.choice([tree, strange])) if isinstance(one, kind)]
    new = copy.deepcopy(rng.choice(among)) if among else old
    if kind is ast.expr and not isinstance(getattr(old, "ctx", None), ast.Store) and rng.random() < 0.3:
        new = ast.parse(deep(old, rng), mode="eval").body
    elif isinstance(old, ast.If) and rng.random() < 0.5:
        chain = "".join(f"elif n == {i}:\n    pass\n" for i in range(rng.choice(DEPTHS)))
        old.orelse = [*ast.parse(f"if n:\n    pass\n{chain}").body]
        new = old
    elif kind is ast.stmt and rng.random() < 0.3:
        value.insert(at, copy.deepcopy(old))
    if isinstance(value, list):
        value[at] = new
    else:
        setattr(node, name, new)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def mutated(text, other, rng):
    for _ in range(rng.choice((1, 1, 2, 3))):
        change = rng.choice((of_tokens, of_lines, of_tree, of_tree))
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError, AttributeError, TypeError):
            text = change(text, other, rng)  # where there is a tree to change, and it is Python's afterwards
    return text


class Mutations(Search):
    """`lost` has what failed."""

    def look(self, name, source):
        if not compiles(source):
            self.unread(name, source)
            return
        super().look(name, source)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.py"
            path.write_text(source, encoding="utf-8", newline="")
            try:
                self.rounds(name, str(path), source)
            except Exception as error:
                self.lost.append(f"{name}: fixing raised {type(error).__name__}: {error}")

    def unread(self, name, source):
        self.counts["not compiled"] += 1
        try:
            told = [str(one) for one in lint(["m.py"], SETTINGS, {"m.py": source}).problems]
        except Exception as error:
            told = [f"linting failed: {type(error).__name__}: {error}"]
        self.lost += [f"{name}: {one}" for one in told if "\n" in one or "failed" in one]

    def rounds(self, name, path, source):
        def again(texts, only):
            return [one for at, text in texts.items() for one in lint([at], SETTINGS, {at: text}).findings]

        text = source
        for turn in ("fixed", "again"):
            done = fix_findings(again({path: text}, None), "unsafe", relint=again, notes=True)
            self.counts[turn] += bool(done.texts)
            text = done.texts[path][1] if done.texts else text
            if not compiles(text):
                self.lost.append(f"{name}: does not compile once it is fixed")
            if turn == "again" and done.texts:
                self.lost.append(f"{name}: fixing again changes it")
            Path(path).write_text(text, encoding="utf-8", newline="")


def search(sources, number, seed=0):
    """Look at as many changed sources, drawn from them; the `Mutations` has what was found."""
    found = Mutations()
    for n in range(seed, seed + number):
        rng = random.Random(n)
        name, source = rng.choice(sources)
        found.look(f"{n}: {name}", mutated(source, rng.choice(sources)[1], rng))
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=25_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--paths", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    sources = list(seeds_of_rules())
    files = [file for path in given.paths for file in sorted(path.rglob("*.py"))]
    sources += [(str(file), file.read_text(encoding="utf-8", errors="ignore")) for file in files]
    sources = [(name, text) for name, text in sources if compiles(text)]
    found = search(sources, given.number, given.seed)
    print(dict(sorted(found.counts.items())))
    sys.exit(found.report())


warnings.simplefilter("ignore")
if __name__ == "__main__":
    main()
