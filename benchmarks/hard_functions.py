"""Functions that are hard to interpret or to repair: seconds of processor time, findings and memory for each shape.

    python benchmarks/hard_functions.py [SHAPE ...] [--scale N]

Each shape is a file in which something is nested, repeated or spread out further than anyone writes it; `--scale 0.5`
halves them. The tests (tests/static/test_hard_functions.py) count evaluations in place of seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

HEAD = "import functools\nimport torch\nfrom torch import nn\n\n"
ROOT = "@torch.compile\ndef f(x, y, n):\n"


def _nested(heads: list[str], body: str, before: str = "", after: str = "") -> str:
    """Blocks in blocks; `before` and `after` stand around each, `{i}` is its depth."""
    lines = []
    for i, head in enumerate(heads):
        lines += ["    " * (i + 1) + text.format(i=i) for text in (before, head) if text]
    lines.append("    " * (len(heads) + 1) + body)
    if after:
        lines += ["    " * (i + 2) + after.format(i=i) for i in reversed(range(len(heads)))]
    return "\n".join(lines) + "\n"


def _closures(n: int) -> str:
    text = "@torch.compile\ndef f(x, k):\n"
    text += "".join("    " * (i + 1) + f"def g{i}(x, k):\n" for i in range(n))
    text += "    " * (n + 1) + "return x.sum().item()\n"
    for i in reversed(range(n)):
        text += "    " * (i + 1) + f"return g{i}(x, 'a') + g{i}(x, 'b') + g{i}(x, (k,))\n"
    return text


def _fan(n: int) -> str:
    text = "".join(
        f"def g{i}(x, k):\n    return g{i + 1}(x, k + '{i}') + g{i + 1}(x, (k, {i})) + g{i + 1}(x, [k])\n\n"
        for i in range(n)
    )
    return text + f"def g{n}(x, k):\n    return x.sum().item()\n\n" + ROOT + "    return g0(x, 1)\n"


def _repeated(n: int, text: str, end: str = "    return x\n", start: str = "") -> str:
    return ROOT + start + "".join(text.replace("{i}", str(i)) for i in range(n)) + end


SHAPES: dict[str, tuple[int, Callable[[int], str]]] = {
    "tests joined by or": (
        60,
        lambda n: (
            ROOT
            + "    if "
            + " or ".join(f"(x[{i}] > {i}).any()" for i in range(n))
            + ":\n        return x\n    return y\n"
        ),
    ),
    "not, and, not, and": (
        25,
        lambda n: (
            ROOT
            + "    if "
            + "not (x.any() and " * n
            + "x.all()"
            + ")" * n
            + ":\n        return y\n    return x\n"
        ),
    ),
    "ternaries": (
        150,
        lambda n: ROOT + "    return " + "".join(f"x if x.sum() > {i} else " for i in range(n)) + "y\n",
    ),
    "ternaries in tests": (
        30,
        lambda n: ROOT + "    return " + "(x if (" * n + "y.sum()" + ") != 0 else y)" * n + "\n",
    ),
    "optional in optional": (
        30,
        lambda n: ROOT + "    return " + "(x if (" * n + "y.sum()" + ") is not None else y)" * n + "\n",
    ),
    "slices of slices": (40, lambda n: ROOT + "    return " + "x[" * n + "y" + ":]" * n + "\n"),
    "elif": (
        500,
        lambda n: _repeated(
            n,
            "    elif x.sum() > {i}:\n        z = x + {i}\n",
            "    return z\n",
            "    if n == 'x':\n        z = x\n",
        ),
    ),
    "ifs": (2000, lambda n: _repeated(n, "    if x.sum() > {i}:\n        x = x + 1\n")),
    "early returns": (1000, lambda n: _repeated(n, "    if x.sum() > {i}:\n        return x + {i}\n")),
    "match": (
        300,
        lambda n: _repeated(
            n,
            "        case [{i}, *rest] if x.sum() > {i}:\n            z = x + {i}\n",
            "    return z\n",
            "    match n:\n",
        ),
    ),
    "loops one after the other": (
        300,
        lambda n: _repeated(
            n,
            "    for i in range(n):\n        if x.sum() > 0:\n            break\n        elif n:\n"
            "            continue\n        x = x + 1\n    else:\n        x = y\n",
        ),
    ),
    "nested loops": (
        17,
        lambda n: (
            ROOT
            + _nested(["for i{i} in range(n):"] * n, "x = x + 1", "a{i} = None", "a{i} = x")
            + "    return x\n"
        ),
    ),
    "nested whiles": (
        17,
        lambda n: (
            ROOT + _nested(["while n > {i}:"] * n, "x = x + 1", "a{i} = None", "a{i} = x") + "    return x\n"
        ),
    ),
    "closures": (15, _closures),
    "calls that fan out": (15, _fan),
    "lists that double": (
        60,
        lambda n: ROOT + "    a = [x]\n" + "    a = a + a\n    a = [*a, *a]\n" * n + "    return a\n",
    ),
    "lists in lists": (
        60,
        lambda n: (
            ROOT
            + "    a = [x]\n    b = (y, 1)\n"
            + "    a = [a, a]\n    b = (b, b)\n" * n
            + "    if n:\n        a = b\n    return a\n"
        ),
    ),
    "displays": (
        5000,
        lambda n: (
            ROOT
            + "    return {"
            + ", ".join(f"'k{i}': x" for i in range(n))
            + "}, ["
            + ", ".join(f"y + {i}" for i in range(n))
            + "]\n"
        ),
    ),
    "names": (5000, lambda n: _repeated(n, "    x{i} = x + y\n")),
    "functions": (
        2000,
        lambda n: "".join(
            f"@torch.compile\ndef f{i}(x):\n    return x.sum().item() + {i}\n\n" for i in range(n)
        ),
    ),
}


def sources(scale: float = 1) -> Iterator[tuple[str, str]]:
    """(name, source) of each shape."""
    for name, (size, make) in SHAPES.items():
        yield name, HEAD + make(max(1, int(size * scale)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shapes", nargs="*", help="which; default: all")
    parser.add_argument("--scale", type=float, default=1)
    arguments = parser.parse_args()
    from pt2lint.static.engine import lint

    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources(arguments.scale):
            if arguments.shapes and name not in arguments.shapes:
                continue
            path = os.path.join(folder, "hard.py")
            with open(path, "w") as file:
                file.write(text)
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                start = time.process_time()
                result = lint([path], SimpleNamespace(pedantic=True))
                spent = time.process_time() - start
                most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                told = "; ".join(p.message for p in result.problems)[:80]
                print(
                    f"{name:28}{spent:7.2f} s {len(result.findings):5} findings {most:5} MiB {told}",
                    flush=True,
                )
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                print(f"{name:28} died")


if __name__ == "__main__":
    main()
