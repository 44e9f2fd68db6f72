"""Text for a commit or a pull request: what fixes change, why, what was proven of them, and what they are worth."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from pt2lint.finding import Finding, Fix

WIDTH = 72  # as git shows it
_KINDS = {"PTB": "graph break", "PTR": "recompilation", "PTS": "silent mistake"}
_GENERATED = re.compile(r"generated\s+(?:automatically\s+)?from\s+[`'\"]?([\w./\\-]+\.\w+)")
_HEAD = 2000  # characters in which a file says what it is generated from
_MEASURED = (": a call takes ", ": forward and backward takes ")
_PROVEN = ("with these fixes: ", "with this fix: ")


def generated_from(text: str) -> str | None:
    """The file that a file says at its top to be generated from."""
    found = _GENERATED.search(text[:_HEAD])
    return found[1].rstrip(".") if found and "\n" not in found[0] else None


def generated_notes(texts: Mapping[str, str]) -> list[str]:
    """A line for each file (path -> text) that is generated from another one."""
    return [
        f"{path} is generated from {source}: make the change there, or the next generation undoes it"
        for path, text in sorted(texts.items())
        if (source := generated_from(text)) is not None
    ]


def commit_message(
    taken: Sequence[tuple[Finding, Fix]], notes: Sequence[str], texts: Mapping[str, str]
) -> str:
    """The text for the fixes that were taken; `notes` are what proof and timing said, `texts` the files by path as they
    were. One fix in many places is one paragraph."""
    if not taken:
        return ""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding, fix in taken:
        groups.setdefault((finding.code, fix.description), []).append(finding)
    parts = [_subject([finding for finding, _ in taken])]
    for (code, description), findings in groups.items():
        first = findings[0]
        places = ", ".join(dict.fromkeys(f"{one.path}:{one.line}" for one in findings))
        said = [f"{code} {first.name}, {places}: {first.message}."]
        evidence = next((one.evidence for one in findings if one.evidence), None) or {}
        if evidence.get("reason"):
            name = f" ({evidence['graph_break']})" if evidence.get("graph_break") else ""
            said.append(f"Dynamo says: {evidence['reason'].rstrip('.')}{name}.")
        said.append(description)
        parts.append(_filled(" ".join(said)))
    grounds = list(dict.fromkeys(note for note in notes if note.startswith(_PROVEN)))
    if grounds:
        what = "Proven by running the code before and after, with results, gradients, changes in place and prints "
        parts.append(_filled(what + "compared: " + "; ".join(grounds) + "."))
    measured = list(dict.fromkeys(note for note in notes if any(mark in note for mark in _MEASURED)))
    if measured:
        parts.append("\n".join(_filled(f"{note}.") for note in measured))
    generated = generated_notes({finding.path: texts.get(finding.path, "") for finding, _ in taken})
    parts += [_filled(f"{note}.") for note in generated]
    return "\n\n".join(parts) + "\n"


def _subject(findings: Sequence[Finding]) -> str:
    counts: dict[str, int] = {}
    for finding in findings:
        kind = _KINDS.get(finding.code[:3], "finding")
        counts[kind] = counts.get(kind, 0) + 1
    what = " and ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
    files = {finding.path for finding in findings}
    where = (
        next(iter(files)).replace("\\", "/").rpartition("/")[2] if len(files) == 1 else f"{len(files)} files"
    )
    return f"torch.compile: remove {what} in {where}"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
