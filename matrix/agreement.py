"""Hold the rules against the matrix: where pt2lint and Dynamo disagree about a construct.

    python matrix/agreement.py                   the disagreements on every version measured
    python matrix/agreement.py 2.13 [KEY...]     on one version (only these cases)
    python matrix/agreement.py --write           bring known.json up to date, keeping the reasons

Each construct is linted as a file of its own: its family's setup, itself, and a `torch.compile` of it. Its parameters
are annotated with the dtypes of what the matrix gives it, since that is what Dynamo was told. Where default mode
breaks, a finding (PTB1xx, high confidence) has to be on the statement that breaks; a finding elsewhere, or on a
construct that compiles, is a false alarm. known.json lists what disagrees all the same, and why. Needs no torch.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path[0] = str(ROOT)

from pt2lint.rules.graph_break import untraced_object  # noqa: E402

from matrix.table import FOLDER, Case, cases, python, results, versions  # noqa: E402
from pt2lint.finding import Finding  # noqa: E402
from pt2lint.project.assume import assumed, parse  # noqa: E402
from pt2lint.static.engine import lint  # noqa: E402

KNOWN = FOLDER / "known.json"
TYPES = {
    "x": "torch.FloatTensor",
    "m": "torch.BoolTensor",
    "i": "torch.LongTensor",
    "s": "torch.FloatTensor",
    "sizes": "torch.LongTensor",
}
MISSED, ALARM = "missed", "false alarm"
UNDER_SETTINGS = "registry_settings"  # the family that runs under settings of Dynamo's that no rule knows of


def source(case: Case) -> str:
    """The case as a file that compiles it; all lines stand where they stand in the family's file."""
    lines = case.path.read_text(encoding="utf-8").splitlines()
    for other in cases(case.table):
        if other.family == case.family and other.name != case.name:
            lines[other.line - 1 : other.end_line] = [""] * (other.end_line - other.line + 1)
    for line in range(case.line - 1, case.end_line):
        if re.match(r"(def|    def forward)\b", lines[line]):
            for name in case.inputs:
                lines[line] = re.sub(rf"\b{name}: (torch\.)?Tensor\b", f"{name}: {TYPES[name]}", lines[line])
    called = f"{case.name}()" if lines[case.line - 1].startswith("class ") else case.name
    return "\n".join([*lines, "", f"compiled = torch.compile({called})", ""])


def findings(chosen: Iterable[Case], version: str) -> dict[str, list[Finding]]:
    """What pt2lint says of each case when it speaks of that version of torch, by the case's key."""
    # As under the Python that the results are of, not the one that runs this.
    untraced_object.LOCKED = tuple(map(int, python(version).split("."))) < (3, 12)
    texts = {f"{case.key}.py": source(case) for case in chosen}
    major, minor = version.split(".")[:2]
    settings = SimpleNamespace(target_torch=(int(major), int(minor)), roots="explicit", pedantic=False)
    result = lint(list(texts), settings, texts)
    if result.problems:
        raise RuntimeError("; ".join(map(str, result.problems)))
    found: dict[str, list[Finding]] = {path.removesuffix(".py"): [] for path in texts}
    for finding in result.findings:
        evaluates = "self.eval()" in texts[finding.path]  # what needs training is not told of the case
        if finding.code.startswith("PTB") and (not evaluates or assumed(finding, [parse("eval")])):
            found[finding.path.removesuffix(".py")].append(finding)
    return found


@cache
def of_all(version: str) -> dict[str, list[Finding]]:
    """What pt2lint says of every case."""
    return findings(cases(), version)


@cache
def statements(case: Case) -> list[tuple[int, int]]:
    """First and last line of each statement of the case, in the family's file; of a compound one, its header."""
    spans = []
    for node in ast.walk(ast.parse(case.code)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = node.end_lineno or node.lineno
            if body:
                last = max(node.lineno, body[0].lineno - 1)
            spans.append((node.lineno + case.line - 1, last + case.line - 1))
    return spans


def line_in(case: Case, finding: Finding) -> int | None:
    """The line of the case that the finding is about: its own, or the one that calls where it is."""
    lines = [finding.line, *(step.line for step in reversed(finding.flow[1:]))]
    return next((line for line in lines if case.line <= line <= case.end_line), None)


def disagreement(case: Case, version: str, found: Iterable[Finding]) -> tuple[str, str] | None:
    """MISSED or ALARM, and what was said; None where both say the same, or the case says nothing."""
    result = results(version)[case.key]
    if (
        case.family == UNDER_SETTINGS
        or "absent" in result
        or (result["fullgraph"] and not result["breaks"] and "error" not in result)
    ):
        return None
    spans = statements(case)

    def statement(line: int) -> tuple[int, int]:
        return max((s for s in spans if s[0] <= line <= s[1]), default=(line, line))

    said = {(statement(line), f.code) for f in found if (line := line_in(case, f)) is not None}
    broken = [statement(case.line + line - 1) for _, _, line in result["breaks"] if line is not None]
    if not result["breaks"] and "error" not in result:
        if said:
            return ALARM, ", ".join(f"{code} in line {s[0] - case.line + 1}" for s, code in sorted(said))
        return None
    if {s for s, _ in said} & set(broken) or (said and not broken):
        return None
    reason = result["breaks"][0][1] if result["breaks"] else result.get("error", "")
    elsewhere = f"; {', '.join(sorted(code for _, code in said))} elsewhere" if said else ""
    return MISSED, f"{reason}{elsewhere}"


def disagreements(shown: Iterable[str], keys: Iterable[str] = ()) -> dict[str, dict[str, tuple[str, str]]]:
    """Key of a case -> version -> its disagreement, of the cases that have one."""
    keys = set(keys)
    chosen = [case for case in cases() if not keys or case.key in keys]
    table: dict[str, dict[str, tuple[str, str]]] = {}
    for version in shown:
        found = findings(chosen, version) if keys else of_all(version)
        for case in chosen:
            differs = disagreement(case, version, found[case.key])
            if differs is not None:
                table.setdefault(case.key, {})[version] = differs
    return table


def known() -> dict[str, dict[str, str]]:
    """Key of a case -> the kind of disagreement on each version, and "why" it is left."""
    return json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}


def short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def as_known(table: Mapping[str, Mapping[str, tuple[str, str]]]) -> dict[str, dict[str, str]]:
    """The disagreements as known.json lists them: the versions of each kind."""
    old = known()
    listed = {}
    for key, by_version in sorted(table.items()):
        entry: dict[str, str] = {}
        for kind in (MISSED, ALARM):
            shown = [short(v) for v, (k, _) in by_version.items() if k == kind]
            if shown:
                entry[kind] = " ".join(shown)
        listed[key] = {**entry, "why": old.get(key, {}).get("why", "")}
    return listed


def print_table(table: Mapping[str, Mapping[str, tuple[str, str]]], total: int) -> None:
    by_title = {case.key: case.title for case in cases()}
    for key, by_version in table.items():
        kinds: dict[tuple[str, str], list[str]] = {}
        for version, differs in by_version.items():
            kinds.setdefault(differs, []).append(short(version))
        for (kind, words), shown in kinds.items():
            print(f"{key:44} {kind:11} {'/'.join(shown):18} {by_title[key]}  [{words}]")
    for family in dict.fromkeys(case.family for case in cases()):
        members = [table[c.key] for c in cases() if c.family == family and c.key in table]
        count = {k: sum(any(d[0] == k for d in m.values()) for m in members) for k in (MISSED, ALARM)}
        size = sum(c.family == family for c in cases())
        print(f"{family:16} {size:4} cases, {count[MISSED]:3} missed, {count[ALARM]:3} false alarms")
    print(f"{total - len(table)} of {total} agree")


def main() -> int:
    parser = argparse.ArgumentParser(description="Print where the rules and the matrix disagree.")
    parser.add_argument("--write", action="store_true", help="bring known.json up to date")
    parser.add_argument("version", nargs="?", help="of torch, as 2.13; default: all that were measured")
    parser.add_argument("keys", nargs="*", help="only these cases (family.name)")
    options = parser.parse_args()
    chosen = [v for v in versions() if options.version in (None, short(v), v)]
    if not chosen:
        parser.error(f"torch {options.version} was not measured: there are {', '.join(versions())}")
    if options.write and (options.version or options.keys):
        parser.error("--write takes all versions and all cases")
    table = disagreements(chosen, options.keys)
    if options.write:
        rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in as_known(table).items()]
        KNOWN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print_table(table, len(options.keys) or len(cases()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
