#!/usr/bin/env python3
"""Search for fixes that syntax around them makes wrong: cases of the rules are put into other syntax, and what each fix
leaves is run in eager mode.

    fix_wraps.py [--seeds N] [--first SEED]

For each seed up to three changes are made to the function of a case: its body goes into a `with`, a `try`, a `match`, a
loop or a function; an expression into parentheses, a lambda, a comprehension, a walrus or a conditional; a statement
behind a colon or beside others; the function under decorators. The changed text is run before and after each fix. What
counts: another result, gradient, text printed or error, where the fix of the case as it was changes none of these; and
a comment that is gone.

Prints each such fix, and at the end how many texts and fixes there were. Exit status 1 if there was one.
"""

import argparse
import ast
import contextlib
import io
import random
import signal
import sys
import textwrap
import types
import warnings
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from benchmarks.fix_loss import comments, compiles  # noqa: E402
from pt2lint.fixes.edit import EditError, checked  # noqa: E402
from pt2lint.static.engine import lint  # noqa: E402
from tests.rules.cases import cases  # noqa: E402

warnings.simplefilter("ignore")
SECONDS = 5  # that a text may run


def function_in(text):
    """The function `f` of a text."""
    return next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == "f")


def body_wrapped(text, rng):
    function, lines = function_in(text), text.split("\n")
    body = function.body[ast.get_docstring(function) is not None :]
    if not body or body[0].lineno == function.lineno:
        return text
    first, last, indent = body[0].lineno, body[-1].end_lineno, " " * body[0].col_offset
    inner = "\n".join(lines[first - 1 : last])
    deep = textwrap.indent(inner, "    ")
    deeper = textwrap.indent(deep, "    ")
    given = ", ".join(one.arg for one in function.args.args)
    made = rng.choice([
        f"with torch.enable_grad():\n{deep}",
        f"with torch.enable_grad() as g, torch.enable_grad():\n{deep}",
        f"with (torch.enable_grad() as g,\n{indent}      torch.enable_grad()):\n{deep}",
        f"try:\n{deep}\n{indent}finally:\n{indent}    pass",
        f"try:\n{deep}\n{indent}except* KeyError as group:\n{indent}    raise",
        f"match len('a'):\n{indent}    case 1 | 2 as n if n:\n{deeper}",
        f"if True:\n{deep}\n{indent}else:\n{indent}    pass",
        f"for _ in range(1):\n{deep}",
        f"while True:\n{deep}\n{indent}    break",
        f"def inner({given}, *args, key=None, **more):\n{deep}\n{indent}return inner({given})",
        f"class K:\n{indent}    @staticmethod\n{indent}    def g({given}):\n{deeper}\n{indent}return K.g({given})",
        f"if (a_ := 1) and not (b_ := 0): pass\n{inner}",
        f"r_ = lambda *a, **k: a; r_(1)\n{inner}",
    ])  # fmt: skip
    return "\n".join([*lines[: first - 1], indent + made, *lines[last:]])


def decorated(text, rng):
    function, lines = function_in(text), text.split("\n")
    at = min([function.lineno, *(one.lineno for one in function.decorator_list)]) - 1
    made = rng.choice([
        "@torch.enable_grad()", "@(lambda g: g)", "@torch.enable_grad()  # why\n@(lambda g: g)",
    ])  # fmt: skip
    return "\n".join([*lines[:at], made, *lines[at:]])


def expression_wrapped(text, rng):
    function = function_in(text)
    fixed = [
        *function.args.defaults,
        *function.decorator_list,
    ]  # what something else than its value is asked of
    for node in ast.walk(function):
        fixed += [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.JoinedStr):
            fixed += ast.iter_child_nodes(node)
        if isinstance(node, ast.pattern):
            fixed.append(node)
    skip = {id(inner) for one in fixed if isinstance(one, ast.AST) for inner in ast.walk(one)}
    skip |= {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    kinds = ast.Constant | ast.Starred | ast.Slice | ast.Tuple | ast.Yield | ast.Await | ast.NamedExpr
    nodes = [
        node
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.expr)
        and not isinstance(node, kinds)
        and id(node) not in skip
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and node.lineno == node.end_lineno
    ]
    if not nodes:
        return text
    node, lines, k = rng.choice(nodes), text.split("\n"), rng.randint(0, 99)
    line = lines[node.lineno - 1].encode()
    one = line[node.col_offset : node.end_col_offset].decode()
    made = rng.choice([
        f"({one})", f"(lambda: {one})()", f"[{one} for _ in (0,)][0]", f"(w{k}_ := {one})",
        f"({one} if True else None)", f"(*[{one}],)[0]", "{'k': " + one + "}['k']", f"next({one} for _ in (0,))",
        f"(None or [{one}])[-1]", f"({one}\n # c{k}\n)",
    ])  # fmt: skip
    lines[node.lineno - 1] = (line[: node.col_offset] + made.encode() + line[node.end_col_offset :]).decode()
    return "\n".join(lines)


def statement_wrapped(text, rng):
    kinds = ast.Assign | ast.Expr | ast.AugAssign | ast.Return | ast.Raise | ast.Assert
    found = [n for n in ast.walk(function_in(text)) if isinstance(n, kinds) and n.lineno == n.end_lineno]
    if not found:
        return text
    node, lines, k = rng.choice(found), text.split("\n"), rng.randint(0, 99)
    line = lines[node.lineno - 1]
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if not body.rstrip().endswith(line.encode()[node.col_offset : node.end_col_offset].decode()):
        return text
    made = rng.choice([
        f"if True: {body}", f"with torch.enable_grad(): {body}", f"for _ in '1': {body}  # c{k}",
        f"t{k} = u{k} = 1; {body}", f"{body}; v{k}: int = 1", f"t{k}, *u{k} = 1, 2; del t{k}; {body}",
        f"try: {body}\n{indent}finally: pass  # c{k}", f"global G{k}; {body}", f"{body};",
        f"if False: pass\n{indent}elif True: {body}  # c{k}\n{indent}else: pass",
    ])  # fmt: skip
    lines[node.lineno - 1] = indent + made
    return "\n".join(lines)


CHANGES = [
    body_wrapped,
    expression_wrapped,
    expression_wrapped,
    statement_wrapped,
    statement_wrapped,
    decorated,
]


def changed(text, rng):
    for _ in range(rng.randint(1, 3)):
        new = rng.choice(CHANGES)(text, rng)
        text = new if compiles(new) else text
    return text


class TooLong(BaseException):
    pass


@contextlib.contextmanager
def at_most(seconds):
    def end(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def seeded():
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)


def is_real(one):
    return torch.is_tensor(one) and one.is_floating_point() and one.is_leaf


def has_gradient(one):
    return torch.is_tensor(one) and one.requires_grad


def run(text):
    """What the text's function returns, the gradients and what is printed, or the error; all else is left out."""
    module, out = types.ModuleType("m"), io.StringIO()
    state, there = random.getstate(), sys.modules.get("m")
    sys.modules["m"] = module
    try:
        with at_most(SECONDS), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            seeded()
            plain = text.replace("compiled = torch.compile(f)", "")
            exec(compile(plain, "m.py", "exec", dont_inherit=True), module.__dict__)
            given = [one.clone().requires_grad_() if is_real(one) else one for one in module.args or ()]
            seeded()
            passed = [one * 1 if has_gradient(one) else one for one in given]
            found = torch.utils._pytree.tree_leaves(module.f(*passed))
            sums = [one.float().sum() for one in found if has_gradient(one) and not one.is_complex()]
            if sums:
                sum(sums).backward()
        return "ok", found, [one.grad for one in given if torch.is_tensor(one)], out.getvalue()
    except TooLong:
        return ("too long",)
    except BaseException as error:
        return "error", type(error).__name__
    finally:
        random.setstate(state)
        sys.modules.pop("m")
        if there is not None:
            sys.modules["m"] = there


def alike(before, after):
    if before[0] != "ok" or after[0] != "ok":
        return before == after
    if len(before[1]) != len(after[1]):
        return False
    return all(map(same, [*before[1], *before[2]], [*after[1], *after[2]]))


def same(one, other):
    """Whether two values are equal; a number may be a tensor after a fix."""
    if torch.is_tensor(one) and torch.is_tensor(other):
        try:
            torch.testing.assert_close(one, other, equal_nan=True)
        except (AssertionError, NotImplementedError):
            return False
        return True
    if {type(one), type(other)} == {float, torch.Tensor}:
        return abs(float(one) - float(other)) < 1e-5
    plain = isinstance(one, int | float | str | bool | None)
    return type(one) is type(other) and (not plain or one == other or one != one)


def fixes_of(text):
    for finding in lint(["m.py"], None, {"m.py": text}).findings:
        for fix in finding.fixes:
            edits = [edit for edit in fix.edits if edit.path == "m.py"]
            if edits:
                yield finding.code, fix.description[:40], edits


class Search:
    def __init__(self):
        self.counts, self.wrong, self.known = Counter(), [], {}

    def own(self, case):
        """Which fixes of a case, as it is, change nothing; None where the case has none, or does not run."""
        if case.id not in self.known:
            before = run(case.source)
            fine = {
                (code, said): self.after(case.source, before, edits)[1]
                for code, said, edits in (fixes_of(case.source) if before[0] == "ok" else ())
            }
            self.known[case.id] = fine or None
        return self.known[case.id]

    def after(self, text, before, edits):
        """The fixed text, None where it is refused, and whether it does the same."""
        try:
            new = checked("m.py", text, edits)
        except EditError:
            return None, True
        return new, alike(before, run(new))

    def look(self, case, seed):
        """Each fix of the case, changed by the seed; whether there was one."""
        own = self.own(case)
        if own is None:
            return False
        text = changed(case.source, random.Random(f"{case.id} {seed}"))
        before = run(text)
        if text == case.source or before[0] != "ok":
            return False
        self.counts["texts"] += 1
        for code, said, edits in fixes_of(text):
            self.counts["fixes"] += 1
            new, is_same = self.after(text, before, edits)
            if new is None:
                self.counts["refused"] += 1
                continue
            lost = comments(text) - comments(new) if code != "PTX001" else ()
            if lost or (not is_same and own.get((code, said), True)):
                self.wrong.append(f"{case.id} seed {seed}: {code} {said!r}\n{text}\n--- after\n{new}")
        return True


def chosen():
    """The cases that run, and have a function to change."""
    found = [case for case in cases() if case.kind in ("example", "invalid") and case.runs]
    return [case for case in found if "\ndef f(" in f"\n{case.source}"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    found = Search()
    for seed in range(given.first, given.first + given.seeds):
        for case in chosen():
            found.look(case, seed)
    for text in found.wrong:
        print(f"wrong: {text}")
    count = found.counts
    print(
        f"{count['texts']} texts, {count['fixes']} fixes, {count['refused']} refused, {len(found.wrong)} wrong"
    )
    return int(bool(found.wrong))


if __name__ == "__main__":
    sys.exit(main())
