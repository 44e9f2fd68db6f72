"""Verdicts from the TORCH_TRACE logs of a job that already ran, on one machine or many; nothing is run.

A log is a text file a rank. A record is a glog line that ends in a JSON object; its payload, if it has one,
follows in lines that begin with a tab (torch._logging.trace_structured, torch 2.6 to 2.15).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pt2lint.dynamic.child.logs import function_name, read_break, read_guards
from pt2lint.dynamic.events import Events, Run, run_from
from pt2lint.dynamic.files import Files
from pt2lint.dynamic.plan import find_files
from pt2lint.dynamic.run import VerifyResult, read_sources
from pt2lint.dynamic.verdict import judge
from pt2lint.finding import Finding, Problem

_RECORD = re.compile(r"^[VIWEC]\d{4}[^\]]*\] (\{.*)$")
_WANTED = ("dynamo_graph_break_reason", "recompile_reasons", "dynamo_output_graph", "compilation_metrics")
_TRACED = re.compile(r"# File: (?P<path>.+?):(?P<line>\d+) in ")


def read_traces(
    directory: str,
    findings: Sequence[Finding],
    paths: Sequence[str],
    source_root: str | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> VerifyResult:
    """Judge findings by the logs in a TORCH_TRACE directory, all ranks merged.

    `paths` are the files or folders that were linted. The job's paths are matched with them as they are, or
    by `source_root`: either a folder here, whose relative paths end the job's paths, or
    "JOB_FOLDER=FOLDER_HERE". The evidence of a break lists the `ranks` that hit it. What the logs cannot
    tell stays `unreached`: they show the lines that put operators into a graph, not every line that was
    traced. Never raises for what is in the logs: a folder or file without records becomes a Problem.
    """
    shown = find_files(paths, (finding.path for finding in findings))
    files = Files(shown, read_sources(shown))
    problems: list[Problem] = []
    runs: list[Run] = []
    for log in _logs(directory):
        if on_progress:
            on_progress(f"reading {log}")
        run = _read_log(log, _mapping(source_root, files.sources))
        if run is None:
            problems.append(
                Problem(str(log), "this is no TORCH_TRACE log: it holds no record of a compilation")
            )
        else:
            runs.append(run)
    if not runs and not problems:
        problems.append(
            Problem(directory, "no TORCH_TRACE logs here: run the job with TORCH_TRACE=FOLDER set")
        )
    events = Events(tuple(runs))
    notes = _notes(runs, files, source_root)
    return VerifyResult(judge(findings, events, files), problems, notes, events)


def _logs(directory: str) -> list[Path]:
    folder = Path(directory)
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.rglob("*.log") if path.is_file())


def _mapping(source_root: str | None, sources: Mapping[str, str]) -> Callable[[str], str]:
    """From the job's paths to real paths here."""
    if source_root is None:
        return os.path.realpath
    theirs, equals, ours = source_root.partition("=")
    if equals:
        prefix, folder = theirs.rstrip("/") + "/", os.path.realpath(ours)
        return lambda path: os.path.join(folder, path[len(prefix) :]) if path.startswith(prefix) else path
    folder = os.path.realpath(source_root)
    endings = {
        "/" + os.path.relpath(path, folder): path for path in sources if path.startswith(folder + os.sep)
    }

    def by_ending(path: str) -> str:
        """The file here whose path below the source root is the longest ending of the job's path."""
        parts = path.replace("\\", "/").split("/")
        for start in range(1, len(parts)):
            found = endings.get("/" + "/".join(parts[start:]))
            if found:
                return found
        return path

    return by_ending


def _records(lines: Iterable[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """(record, payload) of each record that says something of Dynamo; broken ones are left out."""
    record: dict[str, Any] | None = None
    payload: list[str] = []
    for line in lines:
        if line.startswith("\t"):
            if record is not None:
                payload.append(line[1:])
            continue
        if record is not None:
            yield record, "".join(payload)
        record, payload = None, []
        found = _RECORD.match(line)
        if found and any(word in line for word in _WANTED):
            try:
                record = json.loads(found[1])
            except ValueError:
                record = None  # cut off: the job was killed while it wrote
    if record is not None:
        yield record, "".join(payload)


def _read_log(log: Path, here: Callable[[str], str]) -> Run | None:
    """One rank's run, None if the file holds no record."""
    events: list[tuple[str, dict[str, Any]]] = []
    graphs: dict[str, dict[str, set[int]]] = {}
    skipped: set[str] = set()
    functions: dict[str, dict[str, Any]] = {}
    rank = None
    seen = False
    with log.open(encoding="utf-8", errors="replace") as file:
        for record, payload in _records(file):
            seen = True
            rank = record.get("rank", rank)
            compile_id = f"{record.get('frame_id')}/{record.get('frame_compile_id')}"
            artifact = (record.get("artifact") or {}).get("name")
            if artifact == "dynamo_graph_break_reason":
                fields = read_break(payload)
                if fields:
                    if fields["skipped"]:
                        skipped.add(compile_id)
                    fields["path"] = here(fields["path"])
                    fields["stack"] = [[here(frame[0]), *frame[1:]] for frame in fields["stack"]]
                    events.append(("break", {**fields, "compile_id": compile_id}))
            elif artifact == "recompile_reasons":
                events.append(("recompile", {"compile_id": compile_id, "guards": _reasons(payload)}))
            elif "dynamo_output_graph" in record:
                lines = graphs.setdefault(compile_id, {})
                for found in _TRACED.finditer(payload):
                    lines.setdefault(here(found["path"]), set()).add(int(found["line"]))
            elif "compilation_metrics" in record:
                metrics = record["compilation_metrics"]
                functions[metrics.get("compile_id") or compile_id] = metrics
                if metrics.get("graph_op_count"):
                    graph = {"operators": metrics["graph_op_count"], "compile_id": compile_id}
                    events.append(("graph", graph))
    if not seen:
        return None
    said = [("recompile", _recompile(fields, functions, here)) if kind == "recompile" else (kind, fields)
            for kind, fields in events]  # fmt: skip
    traced: dict[str, set[int]] = {}
    for compile_id, lines in graphs.items():
        if compile_id not in skipped:
            for path, numbers in lines.items():
                traced.setdefault(path, set()).update(numbers)
    return run_from(
        {
            "target": f"rank {rank}" if rank is not None else log.name,
            "probe": "trace",
            "mode": "call",
            "events": [(kind, fields) for kind, fields in said if fields],
            "traced": traced,
            "rank": rank,
        }
    )


def _reasons(payload: str) -> list[str]:
    """Guards of a recompile_reasons payload: a JSON string or list of them, or the bare text."""
    try:
        said = json.loads(payload)
    except ValueError:
        said = payload
    return read_guards("\n".join(said) if isinstance(said, list) else str(said))


def _recompile(
    fields: dict[str, Any], functions: Mapping[str, dict[str, Any]], here: Callable[[str], str]
) -> dict[str, Any]:
    """The recompilation with its function, which the log names when it ends; {} if it never did."""
    metrics = functions.get(fields["compile_id"])
    if not metrics or not metrics.get("co_filename"):
        return {}
    return {
        "path": here(metrics["co_filename"]),
        "line": metrics["co_firstlineno"],
        "function": function_name(metrics["co_name"]),
        "guards": fields["guards"],
    }


def _notes(runs: Sequence[Run], files: Files, source_root: str | None) -> list[str]:
    """One line on what was read, and one if no path of the job is among the files here."""
    if not runs:
        return []
    ranks = sorted({run.rank for run in runs if run.rank is not None})
    notes = [f"read {len(runs)} logs" + (f" of ranks {', '.join(map(str, ranks))}" if ranks else "")]
    known = {path for run in runs for path in run.traced} | {b.path for run in runs for b in run.breaks}
    if known and not known & set(files.sources):
        hint = (
            "" if source_root else ": give --source-root FOLDER, the folder here that holds the job's sources"
        )
        notes.append(f"no file of the job is among the given paths{hint}")
    return notes
