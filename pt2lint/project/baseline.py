"""A baseline: the findings that a project lives with for now, so that only new ones are reported.

A finding is known by its file, its code and the text of its line, not by the line's number: it survives
lines that move. Two equal lines with one code count as two.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping

from pt2lint.finding import Finding

VERSION = 1
Key = tuple[str, str, str]


def read(path: str) -> Counter[Key]:
    """The findings in a baseline file; raises OSError, and ValueError (worded for the user) for another
    file."""
    if not os.path.exists(path):
        raise ValueError(f"no such file; make it with --write-baseline {path}")
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
            if document["version"] != VERSION:
                raise ValueError(f"is of version {document['version']}, this pt2lint reads {VERSION}")
            folder = os.path.dirname(os.path.abspath(path))
            known: Counter[Key] = Counter()
            for row in document["findings"]:
                file_path, code, line, count = (row[key] for key in ("path", "code", "text", "count"))
                if (
                    not all(isinstance(word, str) for word in (file_path, code, line))
                    or type(count) is not int
                ):
                    raise TypeError
                known[(os.path.normpath(os.path.join(folder, file_path)), code, line)] += count
            return known
        except (KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            raise ValueError("is no baseline that --write-baseline wrote") from None


def text(findings: Iterable[Finding], sources: Mapping[str, str], path: str) -> str:
    """The baseline file at `path` for these findings; its paths are relative to it, its rows sorted."""
    folder = os.path.dirname(os.path.abspath(path))
    rows = [
        {
            "path": os.path.relpath(file, folder).replace(os.sep, "/"),
            "code": code,
            "text": line,
            "count": count,
        }
        for (file, code, line), count in sorted(Counter(_key(f, sources) for f in findings).items())
    ]
    return json.dumps({"version": VERSION, "findings": rows}, indent=1, ensure_ascii=False) + "\n"


def new(findings: Iterable[Finding], sources: Mapping[str, str], known: Counter[Key]) -> list[Finding]:
    """The findings that the baseline does not hold; of more than it holds at equal lines the last ones."""
    left = Counter(known)
    kept = []
    for finding in findings:
        key = _key(finding, sources)
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(finding)
    return kept


def _key(finding: Finding, sources: Mapping[str, str]) -> Key:
    lines = sources.get(finding.path, "").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = lines[finding.line - 1] if finding.line <= len(lines) else ""
    return (os.path.abspath(finding.path), finding.code, " ".join(line.split()))
