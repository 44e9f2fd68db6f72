"""Search for programs that a fix changes.

Hypothesis writes small functions of the constructs that repairs rewrite; every fix that is offered is
applied, and the function before and after it is run in eager mode on many inputs, with and without
gradients. A safe fix must give equal results, bit for bit, on every input: all values, dtypes and shapes. A
fix that is not safe has assumptions, which it states; it counts where --verify would have called it proven:
where it is alike on the inputs that --verify makes of a sample. It must then be alike on other values of the
same shape and dtype too; how many differ on other dtypes and shapes than the sample's is told besides.

    python benchmarks/fix_counterexamples.py [programs, default 2000]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import random
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import libcst as cst
import numpy as np
import torch
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import given as with_programs
from hypothesis import strategies as st

from pt2lint.dynamic.child import dropout_off
from pt2lint.finding import Fix
from pt2lint.fixes.edit import apply_edits, check_source
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.repaired import accepted
from pt2lint.fixes.repairs import (
    branch,
    copying,
    counting,
    grad,
    guard,
    index,
    log_operator,
    mask,
    masked_loss,
    operator,
    passed_on,
    position,
    printing,
    scalar,
    shortcut,
    sized,
    skip,
)
from pt2lint.fixes.repairs import (
    experts as experts_in_loops,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

HEAD = "import copy\nimport random\nimport numpy as np\nimport torch\n\n"
IMPORTS = {"torch": "torch", "copy": "copy", "random": "random", "np": "numpy"}

values = st.sampled_from(
    "x|y|x + 1|y - x|x * 2|-y|x.abs()|x.clamp(min=0)|torch.clamp(y, -1, 1)|x * y|x / 2|x / y|y.sqrt()|x.exp()|"
    "torch.log(y)|x.relu()|x.sum()|x.clone()|torch.zeros_like(x)|x.detach() * 3|1.5|x.mean() * y|torch.sigmoid(x)|"
    "y.float()|torch.full_like(y, 2)|x.nan_to_num()|y.to(torch.float64)|x.max()|x[0]|x.view(-1)|x.t()".split(
        "|"
    )
)
tests = st.sampled_from(
    "x.sum() > 0|(x > 0).any()|torch.isnan(x).any()|not (y > 0).all()|x.mean() < y.mean()|x.sum().item() > 0.1|"
    "x.max() > 1 and y.min() < 0|(x > 0).any() or (y > 0).any()|x.sum()|bool(x.any())|torch.isfinite(y).all()|"
    "x.dim() == 2 and (x > 1).any()|0 < x.sum() < 5|not torch.isinf(x).any()|float(y.sum()) <= 3|x.numel() > 1 and "
    "not x.sum() < 0|x[0].sum() > y.sum()".split("|")
)
names = st.sampled_from(["x", "y", "z"])


@st.composite
def arms(draw: st.DrawFn) -> list[str]:
    return [f"{draw(names)} = {draw(values)}" for _ in range(draw(st.integers(1, 3)))]


@st.composite
def branches(draw: st.DrawFn) -> list[str]:
    test = draw(tests)
    form = draw(st.sampled_from(["if", "else", "return", "ternary", "elif", "raise", "assert"]))
    block = ["    " + line for line in draw(arms())]
    if form == "ternary":
        return [f"{draw(names)} = {draw(values)} if {test} else {draw(values)}"]
    if form == "raise":
        return [f"if {test}:", '    raise ValueError("bad")']
    if form == "assert":
        return [f'assert {test}, "bad"']
    lines = [f"if {test}:", *block]
    if form == "return":
        return [*lines, f"    return {draw(values)}"]
    if form == "elif":
        lines += [f"elif {draw(tests)}:", *["    " + line for line in draw(arms())]]
    if form in ("else", "elif"):
        lines += ["else:", *["    " + line for line in draw(arms())]]
    return lines


numbers = st.sampled_from(
    "s = x.sum().item()\nz = y * s|z = x / x.abs().max().item()|s = float(y.mean()) + 1\nz = x + s * y|"
    "z = torch.clamp(x, max=y.max().item())|z = x * (x > 0).sum().item()|z = y ** x.max().item()".split("|")
).map(lambda text: text.split("\n"))
masks = st.sampled_from(
    "z = x[x > 0].sum()|z = y[m].mean()|z = x[m].any()|x[m] = y[m]|y[m] -= 1|y[m] *= x[m]|"
    "x[x < 0] = -x[x < 0] * y[x < 0]|z[z > 0] -= 1|"
    "z[z < 0] = -z[z < 0]|z[z > 1] += 0.5|w = z\nz[z > 0] -= 1\nz = z + w|"
    "z = torch.sum(y[m])|y[m] = x[m].exp()|z = x.masked_select(m).prod()|x[torch.isnan(x)] = y[torch.isnan(x)]".split(
        "|"
    )
).map(lambda text: text.split("\n"))
others = st.sampled_from(
    'z = copy.deepcopy(x)|z = copy.copy(y)|print("x", x.sum())|print(f"{y.mean():.2f} {x.dtype}")'.split("|")
).map(lambda text: [text])


positions = st.sampled_from(
    "z = x * (torch.arange(3) == torch.arange(3)[:, None]).nonzero()[:, 1]|k = torch.where(y > 0)[0][0]\nz = x * k|"
    "z = x + (x == x.max()).nonzero()[0, 0]|k = torch.nonzero(m, as_tuple=True)[1]\nz = y + k.sum()|"
    "k = (x[:1] == y.view(-1)[:, None]).nonzero()[:, 1]\nz = k * 2".split("|")
).map(lambda text: text.split("\n"))
checks = st.sampled_from(
    'torch._check(x.dim() > 1, lambda: f"{x.shape}")|torch._check_value(x.numel() == 3, lambda: f"{x}")|'
    'torch._check_with(KeyError, x.dtype != y.dtype or not x.is_cuda, lambda: f"{x.dtype}")'.split("|")
).map(lambda text: [text])
indices = st.sampled_from(
    "z = x[x.argmax()]|z = y[(x > 0).sum()]|z = x[torch.tensor(-1)] * y|z = x[x.argmin() - 1] + y[y.argmax()]".split(
        "|"
    )
).map(lambda text: [text])


rolls = st.sampled_from(
    "z = y.roll(int(x.argmax()), 0)|k = x.argmin()\nz = torch.roll(x, -k.item(), 0) * y|"
    "k = (x > 0).sum()\nz = x.roll(shifts=2 * int(k) - 5, dims=-1)|z = z.roll(int(x.sum()), 0)|"
    "z = y.roll(shifts=x.argmax().item() - y.argmin().item(), dims=0)".split("|")
).map(lambda text: text.split("\n"))
repeats = st.sampled_from(
    "c = [1, x.dim(), 2]\nz = torch.repeat_interleave(x, torch.tensor(c))|"
    "c = [2]\nz = y.repeat_interleave(torch.tensor(c))|"
    "c = [0, 3, 1]\nz = x.repeat_interleave(torch.tensor(c), dim=0) * 2|"
    "c = [len(x), 0, 1]\nz = torch.repeat_interleave(y, repeats=torch.tensor(c), dim=-1)".split("|")
).map(lambda text: text.split("\n"))
logs = st.sampled_from(
    [
        'n = x.numel()\nlogger.warning(f"{n} and {n + 1}")',
        'logger.info("%s of %.3f", x.dim(), x.sum().item())',
        'w = y.dtype\nlogger.warning(f"{x.max().item():.2f} " f"{w}")\nlogger.info(f"{w}")',
        'n = 0.5\nlogger.error(f"{n} {int(y.isfinite().sum())}")',
        'logger.info(f"{x.shape} {len(y)}")',
    ]
).map(lambda text: text.split("\n"))


@st.composite
def numbers_read(draw: st.DrawFn) -> list[str]:
    """Lists that are read out of tensors and given to a function."""
    ids = draw(st.sampled_from(["(x > 0).long()", "x.argsort()", "torch.tensor([0, 2])"]))
    taking = draw(st.sampled_from(["summed", "counted", "as_shape", "made_tensor"]))
    return [f"i = {ids}", f"z = {taking}(x, i.tolist())"]


@st.composite
def named(draw: st.DrawFn) -> list[str]:
    """Numbers that are read out of tensors under a name, and tested later."""
    read = draw(
        st.sampled_from(
            "x.sum().item()|float(y.mean())|int(m.sum())|bool((x > 0).any())|int(y.sum())|x.max().item() > 1|"
            "-y.min().item() * 2|m.sum().item() == 0|y[0].item()".split("|")
        )
    )
    asked = st.sampled_from(
        ["n", "n > 0", "not n", "n > 1 and x.dim() < 3", "0 < n < 2", "n == 0 or x.dim() > 2"]
    )
    lines = [f"n = {read}"]
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            lines.append(f"z = {draw(values)} if {draw(asked)} else {draw(values)}")
            continue
        used = draw(st.sampled_from(["", "", "    x = x / n", "    y = y * n"]))
        lines += [f"if {draw(asked)}:", *(f"    {line}" for line in draw(arms())), *([used] if used else [])]
    return lines


@st.composite
def experts(draw: st.DrawFn) -> list[str]:
    """A loop over experts, each given the rows that chose it: what computes each row by itself, and what does not."""
    each = draw(
        st.sampled_from(
            ["{} * (i + 1)", "{}.exp()", "{} - {}.mean()", "{}.cumsum(0)", "{} + {}.amax(0)", "{}.flip(0)",
             "{}.prod(0)", "1 / {}", "({} + 1) @ torch.ones(2, 2)"]
        )
    )  # fmt: skip
    given = ["h = torch.stack([x.float(), y.float()], -1)", "s = h.argsort(-1)", "w = h.softmax(-1)"]
    given += ["z = torch.zeros_like(h)"]
    if draw(st.booleans()):
        lines = ["for i in range(2):", "    q = s[:, 0] == i"]
        written = draw(st.sampled_from(["=", "+="]))
        more = draw(st.sampled_from(["", " * w[q, i, None]", " * w[q]"]))
        line = f"z[q] {written} ({each.replace('{}', 'h[q]')}){more}"
        asked = draw(st.booleans())
        return [*given, *lines, *(["    if q.any():", f"        {line}"] if asked else [f"    {line}"])]
    value = f"({each.replace('{}', 'h[r]')}) * w[r, k, None]"
    if draw(st.booleans()):
        lines = ["for i in range(2):", "    r, k = torch.where(s == i)"]
    else:
        lines = ["n = torch.nn.functional.one_hot(s, num_classes=2).permute(2, 1, 0)"]
        lines += ["for i in n.sum(dim=(-1, -2)).gt(0).nonzero():", "    k, r = torch.where(n[i].squeeze(0))"]
        value = value.replace("(i + 1)", "2")
    added = draw(st.sampled_from([f"    z[r] += {value}", f"    z.index_add_(0, r, {value})"]))
    return [*given, *lines, added]


LOGGER = """class Logger:
    def info(self, message, *more):
        print(message % more if more else message)

    warning = error = info


logger = Logger()


"""
HELPERS = """def summed(x, given):
    return x * sum(given)


def counted(x, given):
    return x * len(given) + (1 if given[0] else 0)


def as_shape(x, given):
    return x * torch.ones([abs(one) + 1 for one in given]).sum() + len(str(given))


def made_tensor(x, given):
    return x + torch.as_tensor(given).sum()


"""


@st.composite
def assignments(draw: st.DrawFn) -> list[str]:
    """Masks that are asked for before they are assigned through."""
    name = draw(names)
    mask_ = draw(
        st.sampled_from(["m", f"{name} > 1", "torch.isnan(x)", f"{name}.ne(0)", "~m", "(x > 0) & m"])
    )
    asked = draw(st.sampled_from([f"({mask_}).any()", f"torch.any({mask_})", "m.any()"]))
    test = draw(tests) if draw(st.booleans()) else asked
    return [f"if {test}:", f"    {name}[{mask_}] = {draw(st.sampled_from(['0.0', '-1', '1e4']))}"]


@st.composite
def shortcuts(draw: st.DrawFn) -> list[str]:
    """Masks that are not used where all of them is set."""
    asked = draw(st.sampled_from(["m.all()", "torch.all(m)", "(m == True).all()", "(y == 1).all()"]))
    before = draw(st.sampled_from(["", "x.dim() > 0 and ", "x.dim() > 3 or "]))
    used = draw(st.sampled_from(["z * m", "torch.where(m, z, 0)", "z.masked_fill(~m, 0)", "z + m"]))
    return ["k = m", f"if {before}{asked}:", "    k = None", f"z = z if k is None else {used}"]


_LOSS = "torch.nn.functional."
losses = st.sampled_from(
    [
        f"z = {_LOSS}mse_loss(x[m], y[m])",
        f"z = {_LOSS}l1_loss(x[m] * 2, y[m])",
        f"z = 2 * {_LOSS}huber_loss(x.masked_select(m), torch.masked_select(y, m))",
        f"a = x.masked_select(m)\nb = y.masked_select(m)\nz = {_LOSS}l1_loss(a, b) + {_LOSS}mse_loss(b, a)",
        f"x = x[m]\ny = y[m]\ny = torch.sigmoid(y.float() + 2)\nz = {_LOSS}smooth_l1_loss(x, y, beta=0.5)",
        f"a = x.view(-1)[m]\nb = y[m]\nz = {_LOSS}binary_cross_entropy_with_logits(a, b.float())",
        f"if z is not None:\n    a = (x + y)[m]\n    b = y[m]\n    z = {_LOSS}mse_loss(a, b)",
        f"q = x.sum() != 1\nif q is None:\n    x = x[m]\n    y = y[m]\nz = {_LOSS}l1_loss(x, y)",
        "z = x[:1].view(-1, 1) * y.sum()\nn = z > 0\na = z[n]\nb = z[n]\nz = " + f"{_LOSS}mse_loss(a, b)",
    ]
).map(lambda text: text.split("\n"))


single = st.sampled_from(
    "torch.rand([])|torch.rand(1)|random.random()|np.random.uniform(0, 1)|np.random.rand()".split("|")
)


@st.composite
def skips(draw: st.DrawFn) -> list[str]:
    """Layers that are left out at random."""
    rate = draw(st.sampled_from(["0.5", "0.1", "0.0", "1.0"]))
    layer = draw(
        st.sampled_from(
            ["z = z * 2 + x", "z = torch.sigmoid(z) * y", "z = z - y.abs()", "o = (z.relu(), 1)\nz = o[0]"]
        )
    ).split("\n")
    inner = ["    " + line for line in layer]
    asked = draw(st.sampled_from(["p < rate", "on and p < rate", "on and (p < rate)"]))
    way = draw(st.sampled_from(["continue", "flag", "set", "else", "run"]))
    lines = [f"p = {draw(single)}"]
    if way == "continue":
        lines += [f"if {asked}:", "    continue", *layer]
    elif way == "run":
        lines += [f"if {draw(st.sampled_from(['p > rate', 'not on or p >= rate']))}:", *inner]
    elif way == "flag":
        lines += [f"skip = {asked}", "if not skip:", *inner]
    elif way == "set":
        lines = ["skip = False", *lines, f"if {asked}:", "    skip = True", "if not skip:", *inner]
    else:
        lines += [f"if {asked}:", "    o = None", "else:", *inner]
    loop = ["for k in range(4):", *("    " + line for line in lines)]
    return [f"rate = {rate}", f"on = {draw(st.sampled_from(['True', 'False', 'x.dim() < 2']))}", *loop]


@st.composite
def sums(draw: st.DrawFn) -> list[str]:
    """Sums that start as a leaf."""
    start = draw(
        st.sampled_from(["torch.tensor(0.0, requires_grad=True)", "torch.zeros(1, requires_grad=True)"])
    )
    return [f"t = {start}", "for k in range(2):", f"    t = t + {draw(values)}", "z = t * y"]


counts = st.sampled_from(
    "d = torch.arange(0, x.dim()).tolist()\nz = x.sum(d)|d = torch.arange(x.dim(), 3).tolist()\nz = x * sum(d)".split(
        "|"
    )
).map(lambda text: text.split("\n"))


@st.composite
def clamps(draw: st.DrawFn) -> list[str]:
    """Branches that change one tensor of the function's own in ways that are surely alike: fit for safe
    fixes."""
    made = draw(
        st.sampled_from(
            ["torch.sigmoid(x)", "x.exp()", "torch.sqrt(x)", "y.float()", "x * 2", "torch.rand(3)"]
        )
    )
    test = draw(
        st.sampled_from(
            "torch.isinf(h).any()|(h > 0).all()|h.sum() > 1|not torch.isnan(h).any()|h.max() > y.max()".split(
                "|"
            )
        )
    )
    new = st.sampled_from(
        "h.clamp(-1, 1)|-h|h + 1|torch.nan_to_num(h, 0.0)|(h * 2).relu()|h / 3|torch.zeros_like(h)|h - 2 * h".split(
            "|"
        )
    )
    lines = [f"h = {made}", f"if {test}:", f"    h = {draw(new)}"]
    if draw(st.booleans()):
        lines += ["else:", f"    h = {draw(new)}"]
    return [
        *lines,
        draw(
            st.sampled_from(["z = h", "z = h + y", "z = h.add_(1)", "z = h.view(-1)", "z = torch.mul(h, x)"])
        ),
    ]


@st.composite
def asserts(draw: st.DrawFn) -> list[str]:
    bounds = st.sampled_from(
        ["x.min() > -5", "x.max() <= 9", "-1 < y.max()", "y.min() >= n", "n != y.max()", "n > 0"]
    )
    way = draw(st.sampled_from([tests, bounds]))
    parts = [draw(way) for _ in range(draw(st.integers(2, 3)))]
    return ["n = 0.5", f'assert {" and ".join(f"({part})" for part in parts)}, "bad"']


hosts = st.sampled_from(
    "z = x * torch.tensor(drawn((2, x.shape[0]), 0.5)).sum(0)|z = y + torch.from_numpy(drawn((1, 3), 0.2))[0]|"
    "z = x + torch.as_tensor(drawn((3, 2), 0.7, y)).sum() * torch.tensor(drawn((3, 2), 0.7, y)).sum()|"
    "z = torch.where(torch.tensor(drawn((1, 3), 0.4)[0]) > 0, x, y)".split("|")
).map(lambda text: [text])


@st.composite
def drawn(draw: st.DrawFn) -> str:
    """A function that NumPy computes, for those of `hosts`."""
    dtype = draw(st.sampled_from(["bool", "np.int64", '"float32"', "np.float64"]))
    shape = draw(st.sampled_from(["(rows, n)", "[rows, n]", "shape", "(shape[0], n)"]))
    ways = (
        "np.random.choice(np.arange(n), 1, replace=False)", "np.random.rand(n) < rate", "np.random.permutation(n)[:1]"
    )  # fmt: skip
    chosen = draw(st.sampled_from(ways))
    early = draw(st.sampled_from(["", "    if np.random.rand(1).item() > rate:\n        return found\n"]))
    values = draw(
        st.sampled_from(["1", "np.random.poisson(3)", "1 if m is None else int(m.isfinite().sum())"])
    )
    return (
        "def drawn(shape: tuple[int, int], rate: float, m: torch.Tensor | None = None) -> np.ndarray:\n"
        f"    rows, n = shape\n    found = np.zeros({shape}, dtype={dtype})\n{early}"
        f"    for row in range(rows):\n        found[row, {chosen}] = {values}\n    return found\n\n\n"
    )


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = ["z = x * 1" if draw(st.booleans()) else f"z = {draw(values)}", "m = y > 0"]
    if draw(st.booleans()):
        lines.append(f"{draw(names)} = {draw(values)}")
    construct = draw(
        st.sampled_from(
            ["branch"] * 6
            + ["clamp"] * 3
            + ["assert", "number", "mask", "mask", "other", "index", "assignment", "assignment", "shortcut"]
            + [
                "loss",
                "loss",
                "skip",
                "skip",
                "sum",
                "count",
                "host",
                "host",
                "position",
                "check",
                "numbers read",
                "roll",
                "repeat",
                "log",
                "named",
                "named",
                "experts",
                "experts",
            ]
        )
    )
    made = {
        "branch": branches(),
        "number": numbers,
        "mask": masks,
        "other": others,
        "clamp": clamps(),
        "assert": asserts(),
        "index": indices,
        "assignment": assignments(),
        "shortcut": shortcuts(),
        "loss": losses,
        "skip": skips(),
        "sum": sums(),
        "count": counts,
        "host": hosts,
        "position": positions,
        "check": checks,
        "roll": rolls,
        "repeat": repeats,
        "log": logs,
        "numbers read": numbers_read(),
        "named": named(),
        "experts": experts(),
    }[construct]
    lines += draw(made)
    tail = draw(st.sampled_from(["", "", "z = z + 1", "z.add_(1)", "y = y.view(-1)"]))
    lines += [tail] if tail else []
    lines.append(f"return {draw(st.sampled_from(['z', 'x, y, z', 'z * 2', 'x + z']))}")
    above = {
        "host": draw(drawn()) if construct == "host" else "",
        "numbers read": HELPERS,
        "log": LOGGER,
    }
    return (
        HEAD
        + above.get(construct, "")
        + "def f(x: torch.Tensor, y: torch.Tensor):\n"
        + "".join(f"    {line}\n" for line in lines)
    )


def function_code(source: str, name: str = "f") -> FunctionCode:
    found = next(
        one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.FunctionDef) and one.name == name
    )
    text = "".join(source.splitlines(keepends=True)[found.lineno - 1 : found.end_lineno])
    return FunctionCode("f.py", text, found.lineno, (), (2, 13), IMPORTS, 5, source=source)


def fixes_of(source: str) -> Iterator[tuple[str, Fix]]:
    """Every fix that is offered for the program, less settings and workarounds."""
    if "def drawn(" in source:
        host = function_code(source, "drawn")
        for fix in operator.fixes(host, host.module.body[0].body.body[0]):
            yield "operator", fix
    code = function_code(source)
    seen = set()
    for node in walk(code.module):
        offered: list[tuple[str, tuple[Fix, ...]]] = []
        if isinstance(node, cst.If | cst.IfExp):
            shorter, left_out = shortcut.fixes(code, node), skip.fixes(code, node.test)
            longer = tuple(fix for fix in branch.fixes(code, node) if fix not in (*shorter, *left_out))
            offered += [
                ("skip", left_out),
                ("shortcut", shorter),
                ("branch", longer),
                ("guard", guard.fixes(code, node)),
            ]
        elif isinstance(node, cst.Assert):
            offered.append(("guard", guard.fixes(code, node)))
        elif isinstance(node, cst.Subscript):
            offered += [
                ("masked loss", masked_loss.fixes(code, node)),
                ("experts", experts_in_loops.fixes(code, node)),
                ("mask", mask.fixes(code, node)),
                ("index", index.fixes(code, node)),
            ]
        elif isinstance(node, cst.Call):
            offered += [
                ("scalar", scalar.fixes(code, node)),
                ("masked loss", masked_loss.fixes(code, node)),
                ("mask", mask.fixes(code, node)),
                ("counting", counting.fixes(code, node)),
                ("passed on", passed_on.fixes(code, node)),
                ("experts", experts_in_loops.fixes(code, node)),
                ("gradient", grad.fixes(code, node)),
                ("printing", printing.fixes(code, node)),
                ("copying", copying.fixes(code, node)),
                ("shortcut", shortcut.fixes(code, node)),
                ("position", position.fixes(code, node)),
                ("check", guard.fixes(code, node)),
                ("sized", sized.fixes(code, node)),
                ("log", accepted(log_operator.log_in_graph(code, node, guess(code)))),
            ]
        for name, found in offered:
            for fix in found:
                if not fix.is_workaround and fix.edits not in seen:
                    seen.add(fix.edits)
                    yield name, fix


SPECIAL = (
    [float("nan"), 1.0, 2.0],
    [float("inf"), float("-inf"), 0.0],
    [3e38, 3e38, -3e38],
    [1e-40, 0.0, -0.0],
    [1.0, 0.0, -3.0],
    [float("nan")] * 3,
)


def inputs(dtype: torch.dtype = torch.float32) -> tuple[list[Any], list[Any], list[Any]]:
    """(inputs of this dtype like those on which --verify proves, others of their shape and dtype, others)."""
    nan, inf = float("nan"), float("inf")
    a, b = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([0.5, 2.0, -1.0])
    square = torch.arange(9.0).reshape(3, 3) - 4
    # What --verify makes of a sample: negated, zeros, larger, smaller, one sign, one special value.
    ordinary = [(a * k, b * k) for k in (1, -1, 0, 100, 0.01)]
    ordinary += [(a.abs(), b.abs()), (-a.abs() - 0.5, -b.abs() - 0.5)]
    ordinary += [(torch.tensor([v, -2.0, 3.0]), torch.tensor([v, 2.0, -1.0])) for v in (nan, inf, 0.0)]
    ordinary += [(torch.full((3,), v), torch.full((3,), v)) for v in (nan, inf)]
    special = [
        *((torch.tensor(p), torch.tensor(q)) for p in SPECIAL for q in SPECIAL),
        (torch.full((3,), 0.1), b), (b, a), (a * 1e4, b / 1e4), (a, a), (a / 7, b * 7), (-b, a * 0),
    ]  # fmt: skip
    foreign = []
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64):
        foreign += [(a.to(dtype), b.to(dtype)), (b.to(dtype), a.to(dtype)), (-a.abs().to(dtype), b.to(dtype))]
    foreign += [
        (square, -square),
        (-square, square),
        (torch.ones(1), -torch.ones(1)),
        (-torch.ones(1), torch.ones(1)),
    ]
    foreign += [
        (torch.tensor(2.0), torch.tensor(-1.0)),
        (torch.tensor(-2.0), torch.tensor(3.0)),
        (a > 0, b > 0),
    ]
    if dtype is not torch.float32:
        ordinary = [(one.to(dtype), other.to(dtype)) for one, other in ordinary]
        special = [(one.to(dtype), other.to(dtype)) for one, other in special]
    return ordinary, special, foreign


def outcome(function: Any, given: Any, gradients: bool) -> tuple[Any, ...]:
    """(error, results, inputs after, gradients, prints)."""
    torch.manual_seed(0)
    np.random.seed(0)
    leaves = [tensor.clone() for tensor in given]
    passed = leaves
    if gradients:
        leaves = [leaf.requires_grad_() if leaf.is_floating_point() else leaf for leaf in leaves]
        passed = [leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            value = function(*passed)
    except Exception as error:
        return (type(error).__name__,)
    results = list(value) if isinstance(value, tuple) else [value]
    found: list[Any] = []
    if gradients:
        totals = [one.float().sum() for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if totals and wanted:
            try:
                found = [
                    torch.zeros_like(leaf) if grad is None else grad
                    for leaf, grad in zip(
                        wanted, torch.autograd.grad(sum(totals), wanted, allow_unused=True), strict=True
                    )
                ]
            except RuntimeError as error:
                found = [type(error).__name__]
    return (None, results, passed, found, out.getvalue())


def alike(one: Any, other: Any, exact: bool) -> bool:
    if isinstance(one, list | tuple):
        same = type(one) is type(other) and len(one) == len(other)
        return same and all(alike(a, b, exact) for a, b in zip(one, other, strict=True))
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and (one == other or one != one)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    half = one.dtype in (torch.float16, torch.bfloat16)
    one, other = one.detach().double(), other.detach().double()
    if exact:
        return torch.equal(one.nan_to_num(nan=12345.0), other.nan_to_num(nan=12345.0))
    # As --verify compares: another order of additions is not another result.
    rounding = (1e-2, 1e-2) if half else (1e-3, 1e-4)
    return torch.allclose(one, other, *rounding, equal_nan=True)


def finite(*found: Any) -> bool:
    return all(
        finite(*one)
        if isinstance(one, list | tuple)
        else not isinstance(one, torch.Tensor) or bool(one.isfinite().all())
        for one in found
    )


@dataclass
class Tally:
    programs: int = 0
    offered: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    safe: int = 0
    proven: Counter[str] = field(default_factory=Counter)
    disproved: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)
    gradients: Counter[str] = field(default_factory=Counter)
    foreign: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


def run(source: str) -> Any:
    space: dict[str, Any] = {}
    exec(compile(source, "<program>", "exec"), space)
    return space["f"]


def try_program(source: str, tally: Tally, cond: bool = False, dtype: torch.dtype = torch.float32) -> None:
    """Try every fix of one program; `cond` also runs torch.cond in eager mode, which compiles (slow)."""
    tally.programs += 1
    ordinary, special, foreign = inputs(dtype)
    before: dict[tuple[int, bool], Any] = {}
    old = run(source)
    every = [*ordinary, *special, *foreign]
    for name, fix in fixes_of(source):
        after = apply_edits(source, fix.edits)
        check_source("f.py", after)
        if "torch.cond(" in after and not cond:
            continue
        name = f"{name}: torch.cond" if "torch.cond(" in after else name
        tally.offered[name] += 1
        new = run(after)
        safe = fix.applicability == "safe"
        error_may_differ = fix.raises_otherwise
        proven = not fix.may_give_nan  # as in proof.py
        for number, given in enumerate(every):
            for gradients in (False, True):
                key = (number, gradients)
                if key not in before:
                    before[key] = outcome(old, given, gradients)
                one, other = before[key], outcome(new, given, gradients)
                tally.compared += 1
                if one[0] and error_may_differ and other[0] in ("RuntimeError", "AssertionError"):
                    continue
                if alike(one, other, safe):
                    continue
                if fix.draws_otherwise and not finite(given, *one[1:3]):
                    continue  # as such fixes say
                if "overflow" in fix.description and any(one.double().abs().max() > 1e37 for one in given):
                    continue  # as they say too
                if safe:
                    tally.wrong.append(f"{given}\n{source}\n{after}")
                    return
                if number < len(ordinary) or not proven:
                    proven = False
                elif number < len(ordinary) + len(special):
                    (tally.gradients if gradients else tally.missed)[name] += 1
                    tally.examples.setdefault(name, f"{given}, gradients {gradients}\n{source}\n{after}")
                else:
                    tally.foreign[name] += 1
                break
            else:
                continue
            break
        tally.safe += safe
        (tally.proven if proven else tally.disproved)[name] += 1


@contextlib.contextmanager
def drawing_from_torch() -> Iterator[None]:
    """Have Python and NumPy draw single numbers from torch's generator, as --verify does for fixes that let torch draw
    them."""
    kept = {
        (module, name): getattr(module, name)
        for module, names in ((random, "random uniform"), (np.random, "rand random random_sample uniform"))
        for name in names.split()
    }
    dropout_off.draw_from_torch()
    dropout_off.HELD[0] = True
    try:
        yield
    finally:
        dropout_off.HELD[0] = False
        for (module, name), drawn in kept.items():
            setattr(module, name, drawn)


def search(count: int, number: int = 0, cond: bool = False, dtype: torch.dtype = torch.float32) -> Tally:
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @with_programs(programs())
    def search_one(source: str) -> None:
        try_program(source, tally, cond, dtype)

    with warnings.catch_warnings(), drawing_from_torch():
        warnings.simplefilter("ignore")
        search_one()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="?", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--cond", action="store_true", help="also run torch.cond, which compiles in eager mode"
    )
    parser.add_argument(
        "--examples", action="store_true", help="print one program for each kind of difference"
    )
    parser.add_argument("--dtype", default="float32", help="of the samples, on which fixes are proven")
    options = parser.parse_args()
    tally = search(options.programs, options.seed, options.cond, getattr(torch, options.dtype))
    print(f"{tally.programs} programs, {sum(tally.offered.values())} fixes, {tally.compared} comparisons")
    print(f"safe fixes: {tally.safe}, of which {len(tally.wrong)} change a result")
    for name in sorted(tally.offered):
        print(
            f"{name}: {tally.offered[name]} offered, {tally.disproved[name]} disproved, "
            f"{tally.proven[name]} proven; of these {tally.missed[name]} change a result and "
            f"{tally.gradients[name]} only a gradient on other values, "
            f"{tally.foreign[name]} differ only on other shapes or dtypes"
        )
    for text in tally.wrong[:5]:
        print("\nCOUNTEREXAMPLE to a safe fix:", text, sep="\n")
    if options.examples:
        for name, text in tally.examples.items():
            print(f"\n{name} differs on", text)
    return 1 if tally.wrong or sum(tally.missed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
