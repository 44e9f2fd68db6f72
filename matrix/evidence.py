"""Write pt2lint/rule/measured.json: on which torch each operation that a rule listens to breaks the graph.

    python matrix/evidence.py [--check]

An operation's evidence are the constructs in which the rule would report it: it breaks on a version if the statement
did in most of them. A statement on which several operations stand is asked only where no other is there. The families
that go through PyTorch's registry are not asked: they use operations as few do. Then come the expressions of calls.py
and inside.py, and the functions of torch that operators.py called. What shows nothing is listed as unmeasured, by
--missing. rules.json is written too: the rules that report each construct on some version. Needs no torch.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path[0] = str(ROOT)

from matrix.agreement import line_in, source, statements  # noqa: E402
from matrix.table import FOLDER, Case, calls, cases, inside, on_gpu, operators, results, versions  # noqa: E402
from pt2lint import rule as rule_module  # noqa: E402
from pt2lint.libraries.torch_functions import DECORATING  # noqa: E402
from pt2lint.rule import GraphBreak, Rule  # noqa: E402
from pt2lint.rule.loader import load_rules  # noqa: E402
from pt2lint.static.apply_rules import findings_in  # noqa: E402
from pt2lint.static.interpret import Interpreter  # noqa: E402
from pt2lint.static.source.project import Project  # noqa: E402
from rules.graph_break.data_loader import SAMPLERS  # noqa: E402

MEASURED = ROOT / "pt2lint" / "rule" / "measured.json"
ANY_TORCH = (99, 0)


@cache
def rules() -> list[type[GraphBreak]]:
    return [rule for rule in load_rules() if issubclass(rule, GraphBreak)]


@cache
def listened() -> frozenset[str]:
    return frozenset(op for rule in rules() for op in rule.ops)


def operations(case: Case) -> Iterator[tuple[str, type[Rule], int]]:
    """Each operation of the case that a rule would report if it broke on every torch, and its line in the file."""
    path = f"{case.key}.py"
    project = Project({path: source(case)}, [path])
    interpreter = Interpreter(project, listened(), frozenset())
    module = project.load(path)
    interpreter.run(module, "explicit")
    asked: list[str] = []
    known = rule_module.breaks_on
    rule_module.breaks_on = lambda name, target, whole=False: not asked.append(name)  # type: ignore[func-returns-value]
    try:
        for unit, ops in interpreter.finished_notes().get(path, {}).items():
            for op in ops:
                for rule in rules():
                    if not op.sure or op.name not in rule.ops:
                        continue
                    asked.clear()
                    found = findings_in(module, {path: {unit: [op]}}, [rule], ANY_TORCH, [], set(), {}, {})
                    for finding in found:
                        line = line_in(case, finding)
                        if line is not None:
                            yield asked[-1], rule, line
    finally:
        rule_module.breaks_on = known


def sign(case: Case, version: str, span: tuple[int, int]) -> str:
    """What a statement of a case did on a version: "B", "b" where it compiles with `fullgraph=True`, ".", "-", or ""
    where the result does not tell."""
    result = results(version)[case.key]
    if "absent" in result:
        return "-"
    lines = [n and n + case.line - 1 for _, _, n in result["breaks"]]
    if any(n is not None and span[0] <= n <= span[1] for n in lines) or (lines and set(lines) == {None}):
        return "B" if result["fullgraph"] or result["skipped"] else "b"
    if "error" in result and not lines:
        return "B"
    if lines or (result["fullgraph"] and not result["breaks"]):
        return ""  # it broke elsewhere, and what came after was perhaps not traced
    return "."


def evidence() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Operation -> a sign for each version; and construct -> the rules that report it."""
    alone: dict[str, list[list[str]]] = defaultdict(list)
    shared: dict[str, list[list[str]]] = defaultdict(list)
    reporting: dict[str, list[str]] = {}
    for case in cases():
        spans = statements(case)
        by_span: dict[tuple[int, int], set[str]] = defaultdict(set)
        codes = set()
        for name, rule, line in operations(case):
            span = max((s for s in spans if s[0] <= line <= s[1]), default=(line, line))
            by_span[span].add(name)
            if any(sign(case, v, span) in ("B", "b") for v in versions()):
                codes.add(rule.code)
        reporting[case.key] = sorted(codes)
        if case.family.startswith("registry_"):
            continue
        for span, names in by_span.items():
            signs = [sign(case, v, span) for v in versions()]
            for name in names:
                (alone if len(names) == 1 else shared)[name].append(signs)
    found: dict[str, str] = {}
    tried = {name for v in versions() for name in (*calls(v), *inside(v))}
    variants = {name for name in tried if any(name.startswith(f"{op} ") for op in listened())}
    for name in sorted({*listened(), *variants, *alone, *shared}):
        signs = _together(alone[name]) or _together(shared[name]) or _called(name)
        if signs:
            found[name] = signs
    return found, reporting


def _together(seen: list[list[str]]) -> str:
    """One sign a version out of what several places show, "" if some version is shown by none.

    Where they differ, most decide, and a tie says that it is fine: what is reported shall break.
    """
    signs = ""
    for here in zip(*seen, strict=True):
        counts = {sign: here.count(sign) for sign in "Bb.-"}
        if not any(counts.values()):
            return ""
        breaks = "b" if counts["b"] > counts["B"] else "B"
        signs += breaks if counts["B"] + counts["b"] > counts["."] else "." if counts["."] else "-"
    return signs


def _called(name: str) -> str:
    """What calls.py, inside.py and operators.py say of an operation."""
    for table in (calls, inside, operators):
        if table is operators:
            if any(name in rule.ops and "accepts" in vars(rule) for rule in rules()):
                continue  # the rule asks for more than the name, and the operator was called in some other way
            name = name.removeprefix("call ")
        said = [table(v).get(name, "-") for v in versions()]
        signs = "".join(s if s in ".-" else "b" if s == "B fg" else "B" for s in said)
        if set(signs) != {"-"}:
            return signs
    return ""


# Methods that a library adds to loggers, and the like.
NOT_HERE = {
    *(f"call logging.Logger.{name}" for name in ("info_once", "warning_once", "warning_advice")),
    "call breaking",  # what a model says: measured by whoever wrote it
    "call extension",  # what a setup.py builds
    "define disabled",  # no call is in sight: what it leads to is measured where one is
    "with kept manager",  # by the rule's own cases, on torch 2.13 alone
    *(f"decorate with {name}" for name in DECORATING),  # as well
    *(f"call {name}" for name in SAMPLERS),  # as well; gone over, most are measured
    *(f"iterate torch.utils.data.{name}Sampler" for name in ("Distributed", "SubsetRandom")),
    "call untraced",  # of libraries that are not installed where the tables are measured
    # As well: with loguru 0.7, on all versions.
    *(f"with loguru.logger.{name}" for name in ("catch", "contextualize")),
    "decorate with loguru.logger.catch",
}


def unmeasured() -> dict[str, list[str]]:
    """Code of a rule -> those of its operations that neither they nor a variant of them was measured."""
    names = [*rule_module.measured()[1], *NOT_HERE, *on_gpu()]
    lacking = {
        rule.code: [op for op in rule.ops if not any(n == op or n.startswith(f"{op} ") for n in names)]
        for rule in rules()
    }
    return {code: ops for code, ops in lacking.items() if ops}


def text(found: dict[str, str]) -> str:
    """JSON, one operation a line."""
    heads = [[int(n) for n in v.split(".")[:2]] for v in versions()]
    rows = ",\n".join(f"{json.dumps(name)}:{json.dumps(signs)}" for name, signs in found.items())
    return f'{{"torch":{json.dumps(heads)},\n"operations":{{\n{rows}\n}}}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description="Write on which torch each operation breaks the graph.")
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    parser.add_argument("--missing", action="store_true", help="print the operations that nothing measures")
    options = parser.parse_args()
    _ = rules()
    gc.freeze()  # to look for garbage among them takes as long as to interpret a case
    found, reporting = evidence()
    if options.missing:
        for code, names in unmeasured().items():
            print(code, *names, sep="\n    ")
        return 0
    path = FOLDER / "rules.json"
    tables = json.loads(path.read_text(encoding="utf-8"))
    tables["constructs"] = reporting
    for name in ("recompilations", "silent"):
        tables[name] = {case.key: tables[name].get(case.key) for case in cases(name)}
    parts = [
        f"{json.dumps(table)}: {{\n"
        + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in of.items())
        + "\n}"
        for table, of in tables.items()
    ]
    stale = 0
    for file, content in ((MEASURED, text(found)), (path, "{\n" + ",\n".join(parts) + "\n}\n")):
        if not options.check:
            file.write_text(content, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != content:
            stale = 1
            print(f"{file.relative_to(ROOT)} differs from the results: run python matrix/evidence.py")
    return stale


if __name__ == "__main__":
    sys.exit(main())
