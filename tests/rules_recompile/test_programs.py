"""Short programs: what is told of them, at the lines whose comments say so, is what Dynamo compiles up to its limit, or
once where the comment says that."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests.rules_recompile.blocks import marked
from tests.rules_recompile.running import outcome

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
LIMIT = 6  # two less than Dynamo's own, which costs a quarter less


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_what_is_told_goes_to_the_limit(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    told = marked(source)
    found = lint([str(path)], Settings(target_torch=(2, 13))).findings
    assert sorted(f"{f.code}:{f.line}" for f in found if f.code.startswith("PTR")) == told
    ran = outcome(source, limit=LIMIT)
    assert not isinstance(ran.value, BaseException), ran.value
    assert ran.frames
    recompiled = Counter(re.findall(r"Recompiling function (\S+)", "\n".join(ran.recompiled)))
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    lines = [int(code.partition(":")[2]) for code in told]
    # What costs one recompilation is marked so: `self.steps += 1  # PTR215 once`.
    once = [n for n in lines if "once" in source.splitlines()[n - 1].partition("#")[2]]
    lines = [n for n in lines if n not in once]
    for n in once:
        there = re.findall(r"once in (\w+)", source.splitlines()[n - 1])
        (name,) = there or [f.name for f in functions if f.lineno <= n <= (f.end_lineno or 0)]
        assert 0 < recompiled[name] < LIMIT - 1
    # What a call costs, another function recompiles for: `sample(x, n)  # PTR207 in sample`.
    named = {n: re.findall(r"# PTR\d+ in (\w+)", source.splitlines()[n - 1]) for n in lines}
    costly = {name for names in named.values() for name in names}
    costly |= {
        f.name for f in functions for n in lines if not named[n] and f.lineno <= n <= (f.end_lineno or 0)
    }
    assert {name for name, times in recompiled.items() if times >= LIMIT - 1} == costly
