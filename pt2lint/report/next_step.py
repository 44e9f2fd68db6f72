"""The command to run next for a finding: what a reader, or a tool that reads for one, does with it."""

from __future__ import annotations

import shlex

from pt2lint.finding import Finding


def next_command(finding: Finding, given: str) -> str | None:
    """A complete command line, but for words in capitals, which stand for what only the user knows.

    `given` are options of --verify that this run was told, to be told again. None where nothing is left to do: Dynamo
    refuted the finding, or only the comment at its line is at fault.
    """
    path = shlex.quote(finding.path)
    again = f"{given} {path}" if given else path
    usable = [fix for fix in finding.fixes if fix.is_usable]
    if finding.code.startswith("PTX"):
        return f"pt2lint --fix {path}" if usable else None
    if finding.verdict is None:
        return f"pt2lint --verify {path}"
    if finding.verdict == "refuted":
        return None
    if finding.verdict == "unreached":
        if finding.code.startswith("PTS"):
            return f'pt2lint --verify --run "SCRIPT.py ARGUMENTS" {path}'
        return f"pt2lint --verify --inputs MODULE:FUNCTION {path}"
    if finding.verdict == "failed":
        return f"pt2lint --verify {again}"
    if any(fix.is_proven_repair for fix in usable):
        return f"pt2lint --verify --fix {again}"
    if any(not fix.waits_for_proof for fix in usable):
        return f"pt2lint --diff --unsafe-fixes{' --notes' * finding.is_note} {path}"
    return f"pt2lint rule {finding.code}"
