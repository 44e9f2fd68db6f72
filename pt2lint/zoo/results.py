"""The file that results are kept in: a line of JSON that says what was run, then one a target as it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pt2lint.report.models import Model, model_from
from pt2lint.zoo.sources import difference

FORMAT = 1
HERE = "\0here"  # in place of the folder of a run: another checkout reads it as its own


@dataclass(frozen=True)
class Header:
    """What a run is of. `files` are digests by path, `settings` all that decides what is run and how, `planned` the
    keys of the whole run, `arguments` what the command line said besides."""

    version: str
    torch: str
    python: str
    commit: str
    files: Mapping[str, str]
    settings: Mapping[str, Any]
    planned: Sequence[str]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shard: str = ""
    format: int = FORMAT

    def misfit(self, other: Header) -> str:
        """Why results of the two do not belong together, in words; "" if they do."""
        for what in ("format", "version", "torch", "python"):
            one, two = getattr(self, what), getattr(other, what)
            if one != two:
                named = {"version": "pt2lint", "format": "the format"}.get(what, what)
                return f"{named} {one} and {named} {two}"
        if self.files != other.files:
            commits = ""
            if self.commit != other.commit and self.commit and other.commit:
                commits = f" (commits {self.commit} and {other.commit})"
            return f"other code{commits}: {difference(self.files, other.files)}"
        keys = {*self.settings, *other.settings}
        changed = sorted(key for key in keys if self.settings.get(key) != other.settings.get(key))
        if changed:
            return f"other settings: {', '.join(changed)}"
        return ""


@dataclass
class Results:
    """What a file holds: records by (event, key); of two for one key the first counts."""

    header: Header
    records: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    twice: int = 0

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        for record in records:
            key = (record["event"], record["key"])
            if key in self.records:
                self.twice += 1
            else:
                self.records[key] = record

    def models(self, keys: Iterable[str]) -> list[Model]:
        """What a table says of the targets, in the order of the keys; of what two of them have in common, the first."""
        found: dict[str, Model] = {}
        for key in keys:
            record = self.records.get(("proof", key)) or self.records.get(("target", key)) or {}
            for fields in record.get("models", ()):
                model = model_from(fields)
                if model.name not in found or (found[model.name].trouble and not model.trouble):
                    found[model.name] = model
        return [*found.values()]

    @property
    def seconds(self) -> dict[str, float]:
        """How long each target took, its proofs counted in."""
        found: dict[str, float] = {}
        for (_, key), record in self.records.items():
            found[key] = found.get(key, 0.0) + record.get("seconds", 0.0)
        return found


def read(path: str, folder: str) -> Results:
    """Read a file of results, paths in it as of a run in `folder`.

    What a killed run had half written at the end is left out. Raises ValueError, worded for the user, for any other
    file, and OSError.
    """
    with open(path, encoding="utf-8") as file:
        lines = (
            file.read()
            .replace(json.dumps(HERE)[1:-1], json.dumps(os.path.realpath(folder))[1:-1])
            .split("\n")
        )
    read_lines: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            read_lines.append(json.loads(line))
        except ValueError:
            if number >= len(lines) - 1:
                break
            raise ValueError(f"{path}:{number + 1} is no line of results") from None
    try:
        first, *rest = read_lines
        if first.pop("event") != "run":
            raise KeyError
        if first.get("format") != FORMAT:
            raise ValueError(f"{path} has format {first.get('format')}, and this pt2lint reads {FORMAT}")
        results = Results(Header(**first))
        results.add(rest)
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} holds no results of pt2lint (--results writes them)") from None
    except ValueError as error:
        known = str(error).startswith(path)
        raise ValueError(
            str(error) if known else f"{path} holds no results of pt2lint (it is empty)"
        ) from None
    return results


class Keeper:
    """Writes results as they come, each with what it takes to survive the end of the process."""

    def __init__(self, path: str | None, folder: str, header: Header) -> None:
        self.path, self.folder, self.header = path, os.path.realpath(folder), header

    def start(self, kept: Iterable[Mapping[str, Any]] = ()) -> None:
        """Begin the file anew, with what is kept of it."""
        if self.path is None:
            return
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        beside = self.path + ".new"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(self._line({"event": "run", **asdict(self.header)}))
            for record in kept:
                file.write(self._line(record))
        os.replace(beside, self.path)

    def keep(self, record: Mapping[str, Any]) -> None:
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(self._line(record))

    def _line(self, record: Mapping[str, Any]) -> str:
        text = json.dumps(record)
        own = json.dumps(self.folder)[1:-1]
        here = json.dumps(HERE)[1:-1]
        for end in ("/", "\\\\", '"', ":"):
            text = text.replace(own + end, here + end)
        return text + "\n"
