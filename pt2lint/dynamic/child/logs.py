"""Read what Dynamo logs. The one place that knows the formats, which differ between versions (2.6 to 2.15).

The functions take the text of one log message and return plain dictionaries; they need no torch, so the
tests feed them recorded lines of several versions, and `pt2lint --trace` the artifacts of a job that ran
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Frame = list  # [path, line, function, column, end_column]

FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?\s*$')
PLACE = re.compile(r"in user code at (?P<path>.+?):(?P<line>\d+)\s*$", re.M)
REASON = re.compile(r"^(?:Graph Break )?Reason: ?", re.M)
REGISTRY = re.compile(r"\bgb/?(?:site/)?gb(\d{4})\b|\bgb(\d{4})(?:\.html)?\b")
TRACED = re.compile(r"^TRACE starts_line (?P<path>.+?):(?P<line>\d+) in (?P<function>\S+)")
RECOMPILED = re.compile(r"^Recompiling function (?P<function>.+?) in (?P<path>.+):(?P<line>\d+)\s*$", re.M)
LIMIT = re.compile(r"torch\._dynamo hit config\.(?P<limit>\w+)(?: \((?P<value>\d+)\))?")
LIMIT_FUNCTION = re.compile(r"function: '(?P<function>.+?)' \((?P<path>.+):(?P<line>\d+)\)")
RESUMED = re.compile(r"^torch_dynamo_resume_in_(.+)_at_\d+$")
SKIPS = (
    "Skipping the function and falling back to eager",
    "which results in a skip",
    "Graph break: skip:",
    "frame skipped:",
    "Skipping frame because",
)
# What Dynamo puts before the reason proper.
PREAMBLES = (
    "Encountered graph break when attempting to",
    "Failed to handle graph break gracefully",
    "Graph break in user code at",
    "Graph break under GenericContextWrappingVariable",
    "Encountered graph break that we cannot resume from",
)
# The rest of the function, from the last place where Dynamo could resume, is left to Python.
NO_RESUMING = ("we cannot resume from", "step triggered compile")


def function_name(name: str) -> str:
    """A function's own name: Dynamo calls what follows a break torch_dynamo_resume_in_NAME_at_LINE."""
    resumed = RESUMED.match(name or "")
    return resumed[1] if resumed else name


def read_stack(text: str) -> list[Frame]:
    """Frames of a formatted traceback, outermost first: [path, line, function, column, end_column].

    Columns count from 1 and are None where the traceback marks none (Python below 3.11, whole-line marks).
    """
    frames: list[Frame] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        frame = FRAME.match(line)
        if not frame:
            continue
        column = end_column = None
        if number + 2 < len(lines) and not FRAME.match(lines[number + 1]):
            marks = lines[number + 2]
            source = lines[number + 1]
            if marks.strip() and not marks.strip(" ^~"):
                # Both lines are indented by 4; the source itself stands stripped of its own indentation.
                indent = len(source) - len(source.lstrip())
                column, end_column = len(marks) - len(marks.lstrip()) - indent, len(marks.rstrip()) - indent
        frames.append(
            [frame["path"], int(frame["line"]), function_name(frame["function"] or ""), column, end_column]
        )
    return frames


def read_reason(text: str) -> tuple[str, str, list[str], str]:
    """(reason in one line, explanation, hints, developer context) of the text after "Reason:"."""
    lines = [line.rstrip() for line in text.splitlines()]
    body = [line for line in lines if line.strip() and not line.strip().startswith(PREAMBLES)]
    reason = body[0].strip() if body else ""
    # 2.6 puts the exception's name before the reason: "Unsupported: builtin: print [...]".
    reason = re.sub(r"^(?:(?:torch\._dynamo\.exc\.)?(?:Unsupported|UserError): )+", "", reason)
    reason = reason.split(" For more information about this error")[0]
    explanation = context = ""
    hints = []
    for line in lines:
        line = line.strip()
        if line.startswith("Explanation: ") and not explanation:
            explanation = line[len("Explanation: ") :]
        elif line.startswith("Hint: "):
            hints.append(line[len("Hint: ") :])
        elif line.startswith("Developer debug context: ") and not context:
            context = line[len("Developer debug context: ") :]
    return reason, explanation, hints, context


def registry_id(text: str) -> str | None:
    """GB0170 from the link to PyTorch's graph-break registry, None where the message has none."""
    found = REGISTRY.search(text)
    return "GB" + (found[1] or found[2]) if found else None


def read_break(message: str, exception: str = "") -> dict[str, Any] | None:
    """What a record of the graph_breaks log says, or None if it tells of no break.

    `exception` is the text of the exception that was logged with it: messages about a skipped frame leave the
    reason to it. Keys: path, line (where Dynamo broke, perhaps inside the standard library), reason,
    explanation, hints, context, graph_break (registry id or None), stack, skipped (the frame was given up
    whole), why_skipped, rest_skipped (what follows in the frame was given up).
    """
    place = PLACE.search(message)
    skipped = any(words in message for words in SKIPS)
    if not place and not skipped and "raph break" not in message:
        return None
    head, *traceback = re.split(
        r"^(?:User code traceback|The graph break occurred in the following user code|"
        r"from user code|Graph break: (?:skip: )?from user code at):\s*$",
        message,
        flags=re.M,
    )
    stack = read_stack("\n".join(traceback) if traceback else "" if REASON.search(head) else message)
    said = REASON.split(head, maxsplit=1)
    why_skipped = ""
    first, *second = (said[1] if len(said) > 1 else exception).split("*** While handling this graph break", 1)
    if second and skipped:
        why_skipped = read_reason(second[0].split("***\n", 1)[-1])[0]
    if place:
        path, line = place["path"], int(place["line"])
    elif stack:
        path, line = stack[-1][0], stack[-1][1]
    else:
        return None
    record = _record(path, line, first, stack, registry_id(first) or registry_id(head), skipped, why_skipped)
    return {**record, "rest_skipped": any(words in message for words in NO_RESUMING)}


def read_traced(message: str) -> tuple[str, int, str] | None:
    """(path, line, function) of a trace_source record, None if it is another."""
    traced = TRACED.match(message)
    return (traced["path"], int(traced["line"]), traced["function"]) if traced else None


def read_guards(text: str) -> list[str]:
    """The guards that failed, without the comments and stacks around them: ["n == 3", ...]."""
    guards: list[str] = []
    for line in text.splitlines():
        line = line.strip()
        line = line[2:].strip() if line.startswith("- ") else line
        found = re.match(r"(?:\d+/\d+(?:_\d+)?: )(.+)", line)
        if found:
            guard = re.split(r"\s{2,}# ", found[1], maxsplit=1)[0].strip()
            if guard not in guards:
                guards.append(guard)
    return guards


def read_recompile(message: str) -> dict[str, Any] | None:
    """What a record of the recompiles log says: function, path, line (of the `def`), guards; else None."""
    found = RECOMPILED.search(message)
    if not found:
        return None
    return {
        "function": function_name(found["function"]),
        "path": found["path"],
        "line": int(found["line"]),
        "guards": read_guards(message[found.end() :]),
    }


def read_skip(message: str) -> bool:
    """Whether a message says, apart from any break, that a frame is given up (torch 2.6 to 2.8)."""
    return message.startswith("Skipping frame because")


def read_unresumable(message: str) -> bool:
    """Whether a message says that Dynamo starts over, to end before a break that it cannot resume from.

    Up to 2.9 that is all that it says, and the exception at hand has the break; later there is a record too.
    """
    return message.startswith("step triggered compile")


def read_limit(message: str) -> dict[str, Any] | None:
    """What the warning about the recompile limit says: limit, value, function, path, line; else None."""
    hit, function = LIMIT.search(message), LIMIT_FUNCTION.search(message)
    if not hit or not function:
        return None
    return {
        "limit": hit["limit"],
        "value": int(hit["value"]) if hit["value"] else None,
        "function": function_name(function["function"]),
        "path": function["path"],
        "line": int(function["line"]),
    }


def read_error(text: str, real_stack: Sequence[Frame] = ()) -> dict[str, Any] | None:
    """What the exception raised under fullgraph=True says, as read_break gives it; None if it names no place.

    `real_stack` is the exception's own, [path, line, function] each, for messages that hold none.
    """
    head, *traceback = re.split(r"^from user code:\s*$", text, maxsplit=1, flags=re.M)
    stack = read_stack(traceback[0]) if traceback else []
    stack = stack or [[path, line, function_name(name), None, None] for path, line, name in real_stack]
    if not stack:
        return None
    return _record(stack[-1][0], stack[-1][1], head, stack, registry_id(head))


def _record(
    path: str,
    line: int,
    said: str,
    stack: list[Frame],
    graph_break: str | None,
    skipped: bool = False,
    why_skipped: str = "",
) -> dict[str, Any]:
    reason, explanation, hints, context = read_reason(said)
    return {
        "path": path,
        "line": line,
        "reason": reason,
        "explanation": explanation,
        "hints": hints,
        "context": context[:500],
        "graph_break": graph_break,
        "stack": stack,
        "skipped": skipped,
        "why_skipped": why_skipped,
        "rest_skipped": False,
    }
