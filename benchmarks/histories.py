#!/usr/bin/env python3
"""Lint what maintainers mended by hand: would pt2lint have told them, and offered what they did?

    histories.py CLONES [--part open|opened|fresh|all] [--only WORD...] [--write FILE]
    histories.py CLONES --fetch [URL]

histories.json holds the cases: facts about commits of public repositories that took a graph break, a recompilation or
a silent mistake away, and none of their code. CLONES is a folder with a clone of each repository (OWNER+NAME,
OWNER/NAME or NAME, bare or not, also OWNER+NAME/repo); a case without one is left out and named. --fetch makes the
clones from URL/OWNER/NAME, each with only the commits that are needed; some lie on no branch.

For every case the commit's parent is checked out into a temporary folder and the culprit's file linted there, once as
it is and once with the compiled functions named that the case lists as roots; then the same for the commit.

told    a finding covers a culprit line of the parent: "alone", "named" (only with the roots) or "no"; of those told
        alone, how many by notes only, which --notes tells
gone    no finding with a code that told is left where the lines were, in the commit
offer   the best fix that the findings offer, beside what the maintainers did: "as good" where it stays in the graph
        as theirs does, or goes no further out of it; "worse" where it does; "none" where nothing is offered; of those
        as good, how many are told by hand, without edits: what to write is said, and whether it is what the maintainers
        wrote is for a reader to judge

Printed: a line a case, then tables by cause and in sum. Only cases that are faults on torch 2.13 count; what is told
of the others (--all) says how often code is reported that this torch compiles well.

By the commit's hash, half of the cases are open. The other half was set aside at first, and opened later to learn from.
Those that are fresh were gathered after that: rules are not made by what they show.
"""

import argparse
import difflib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from itertools import groupby
from pathlib import Path

from pt2lint.finding import Fix
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

CASES = Path(__file__).with_suffix(".json")
# What a repair does to the code it mends, from what leaves nothing of it in the graph to what stays in the graph whole.
RANKS = {
    "setting": 0,  # a switch for the whole process
    "disable": 1,  # runs outside the graph
    "skip": 2,  # not done while compiling
    "constant": 3,  # read once, while tracing
    "rewrite": 3,
    "tensor": 3,  # the value stays a tensor
    "hoist": 3,  # done before the compiled code runs
    "remove": 3,
    "mark dynamic": 3,
    "check": 3,  # torch._check
    "operator": 3,  # registered as a custom operator
    "unwrap": 3,  # the module inside the compiled one
    "call the module": 3,
}


def part(commit: str) -> str:
    """ "open", or set aside at first and "opened" later, by the last digit of the commit's hash: nobody picks.

    Cases that were gathered later are "fresh" whatever their hash.
    """
    return "opened" if int(commit[-1], 16) % 2 else "open"


def clone_of(repository: str, clones: Path) -> Path | None:
    """The git directory, or work tree, of a repository."""
    flat = repository.replace("/", "+")
    for name in (flat, f"{flat}/repo", repository, repository.rpartition("/")[2]):
        if any((clones / name / mark).exists() for mark in (".git", "HEAD")):
            return clones / name
    return None


def git(clone: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=True).stdout


def fetch(cases: list[dict], clones: Path, url: str) -> None:
    for repository, members in groupby(cases, lambda case: case["repository"]):
        clone = clone_of(repository, clones) or clones / repository.replace("/", "+")
        clone.mkdir(parents=True, exist_ok=True)
        git(clone, "init", "--quiet", "--bare")
        commits = sorted({case["fix"] for case in members})
        # Each commit with its parent, without the history before.
        git(clone, "fetch", "--quiet", "--depth=2", f"{url}/{repository}", *commits)
        print(f"{repository}: {len(commits)} commits", flush=True)


def check_out(clone: Path, commit: str, folder: Path) -> None:
    """Write the Python files of a commit into a folder."""
    archive = git(clone, "archive", "--format=tar", commit, ":(glob)**/*.py")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter=_without_bad_links)
    (folder / ".git").mkdir()  # the folder of a project, as in a clone


def _without_bad_links(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Leave out links that lead out of the tree."""
    try:
        return tarfile.data_filter(member, folder)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


def moved(first: int, last: int, before: list[str], after: list[str]) -> tuple[int, int]:
    """Where lines of `before` are in `after`, with all that replaces any of them; last < first if they are gone."""
    start, end = None, 0
    # Only the surroundings are compared, line by line: a long file would take minutes.
    head = 0
    while head < min(first - 1, len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before) - last, len(after) - head) and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(
        None, before[head : len(before) - tail], after[head : len(after) - tail], autojunk=False
    )
    for kind, i, j, k, m in matcher.get_opcodes():
        low, high = max(i, first - 1 - head), min(j, last - head)
        if low >= high and not (kind == "insert" and first - 1 - head <= i <= last - head):
            continue
        low, high = (k + low - i, k + high - i) if kind == "equal" else (k, m)
        start, end = low if start is None else min(start, low), max(end, high)
    if start is None:
        start = end = first - 1 - head
    return start + head + 1, end + head


def kind_of(fix: Fix) -> str:
    """What a fix of ours does, in the words of RANKS; "rewrite" for every repair."""
    if not fix.is_workaround:
        return "rewrite"
    text = " ".join(edit.text for edit in fix.edits)
    if "compiler.disable" in text:
        return "disable"
    return "skip" if "is_compiling" in text else "setting"


def findings_at(tree: Path, file: str, first: int, last: int, names: list[str], target: tuple[int, int]):
    """(findings on these lines, what could not be done) of a file in a checked out tree."""
    settings = Settings(root=str(tree), root_names=tuple(names), target_torch=target)
    result = lint([str(tree / file)], settings)
    there = [each for each in result.findings if each.line <= last and each.end_line >= first]
    own = str((tree / file).resolve())
    return [each for each in there if str(Path(each.path).resolve()) == own], [
        str(p) for p in result.problems
    ]


def measure(case: dict, parent: Path, fixed: Path, target: tuple[int, int]) -> dict:
    """What pt2lint says of a case, as plain data."""
    first, last = case["lines"]
    row = {
        "case": case,
        "told": "no",
        "codes": [],
        "note": False,
        "gone": None,
        "ours": None,
        "offer": None,
        "by hand": False,
        "problems": [],
    }
    names: list[str] = []
    for told, names in (("alone", []), ("named", case["roots"])):
        if told == "named" and not names:
            break
        found, row["problems"] = findings_at(parent, case["file"], first, last, names, target)
        if found:
            row["told"] = told
            break
    else:
        found = []
    if row["told"] == "no":
        return row
    row["codes"] = sorted({each.code for each in found})
    row["note"] = all(each.severity == "note" for each in found)
    row["says"] = [each.message for each in found]
    fixes = [(kind_of(fix), fix.description, bool(fix.edits)) for each in found for fix in each.fixes]
    row["offer"] = "none"
    if fixes:
        row["ours"] = max(fixes, key=lambda fix: (RANKS[fix[0]], fix[2]))
        row["by hand"] = not row["ours"][2]
        row["offer"] = "as good" if RANKS[row["ours"][0]] >= RANKS[case["theirs"]] else "worse"
    row["gone"] = True
    if (fixed / case["file"]).exists():
        texts = [(tree / case["file"]).read_text("utf-8", "replace").split("\n") for tree in (parent, fixed)]
        first, last = moved(first, last, *texts)
        left, _ = findings_at(fixed, case["file"], first, last, names, target)
        row["gone"] = not {each.code for each in left} & set(row["codes"])
    return row


def table(rows: list[dict], by: str) -> str:
    """Counts by a field of the cases, and in sum."""
    columns = (
        "cases",
        "told alone",
        "as a note",
        "named too",
        "gone",
        "as good",
        "by hand",
        "worse",
        "no fix",
    )
    counts: dict[str, Counter] = {}
    for row in rows:
        for key in (row["case"][by], "all"):
            each = counts.setdefault(key, Counter())
            each["cases"] += 1
            each["told alone"] += row["told"] == "alone"
            each["as a note"] += row["told"] == "alone" and row["note"]
            each["named too"] += row["told"] != "no"
            each["gone"] += bool(row["gone"])
            each["as good"] += row["offer"] == "as good"
            each["by hand"] += row["offer"] == "as good" and row["by hand"]
            each["worse"] += row["offer"] == "worse"
            each["no fix"] += row["offer"] == "none"
    lines = [f"| {by} | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for key in sorted(counts, key=lambda key: (key == "all", -counts[key]["cases"], key)):
        lines.append(f"| {key} | " + " | ".join(str(counts[key][column]) for column in columns) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("--part", choices=("open", "opened", "fresh", "all"), default="open")
    parser.add_argument(
        "--only", nargs="*", help="cases whose repository, file or cause holds one of these words"
    )
    parser.add_argument("--all", action="store_true", help="count what is no fault on torch 2.13, too")
    parser.add_argument(
        "--fetch", metavar="URL", nargs="?", const="https://github.com", help="make the clones"
    )
    parser.add_argument("--write", type=Path, help="write the rows there, as JSON")
    given = parser.parse_args()
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    if given.part != "all":
        cases = [case for case in cases if case["part"] == given.part]
    if given.only:
        cases = [
            case
            for case in cases
            if any(word in f"{case['repository']} {case['file']} {case['class']}" for word in given.only)
        ]
    if given.fetch:
        fetch(cases, given.clones, given.fetch)
        return 0
    rows = []
    for (repository, before, commit), members in groupby(
        cases, lambda case: (case["repository"], case["parent"], case["fix"])
    ):
        clone = clone_of(repository, given.clones)
        if clone is None:
            print(f"{repository}: no clone in {given.clones}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            parent, fixed = Path(folder, "parent"), Path(folder, "fixed")
            check_out(clone, before, parent)
            check_out(clone, commit, fixed)
            for case in members:
                row = measure(case, parent, fixed, (2, 13))
                rows.append(row)
                ours = f"{row['ours'][0]}: {row['ours'][1]}" if row["ours"] else "-"
                print(
                    f"{repository}@{commit[:8]} {case['file']}:{case['lines'][0]} ({case['kind']}, {case['class']}; "
                    f"on 2.13: {case['fault_on_213']})\n    told {row['told']} {' '.join(row['codes'])}, "
                    f"gone {row['gone']}, offer {row['offer']}\n    ours {ours}\n    theirs {case['theirs']}: "
                    f"{case['phrase']}",
                    *(f"\n    note {problem}" for problem in row["problems"]),
                    flush=True,
                )
    if given.write:
        given.write.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    counted = [row for row in rows if given.all or row["case"]["fault_on_213"] is True]
    for by in ("class", "kind"):
        print("\n" + table(counted, by))
    others = [row for row in rows if row["case"]["fault_on_213"] is False]
    print(
        f"\nNo fault on torch 2.13: {len(others)} cases, {sum(row['told'] != 'no' for row in others)} of them told."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
