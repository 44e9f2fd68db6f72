"""The whole answer of the last run, given again while nothing that it depended on has changed.

A run that finds its answer here reads no file and imports nothing: it asks the file system for the times
and sizes of what the last run read, of the folders it walked, of pt2lint's own files and of the folders
that modules are imported from (another torch may have been installed). Any difference, and the run is made
anew.
"""

from __future__ import annotations

import os
import sys
from types import MappingProxyType

from pt2lint.project import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Answer = tuple[str, str, int]


def recall(arguments: Sequence[str]) -> Answer | None:
    """(stdout, stderr, exit status) of the last run with these arguments, or None if it must be made anew."""
    try:
        data = entries.read(_path(arguments, _given_folder(arguments)))
        if data is None:
            return None
        key, status, out, err, *stamps = data.decode("utf-8", "surrogatepass").split("\0")
        if key != _key(arguments):
            return None
        for path, seen in zip(stamps[::2], stamps[1::2], strict=True):
            if entries.shown(entries.stamp(path)) != seen:
                return None
        return out, err, int(status)
    except (OSError, ValueError):
        return None


class Watch:
    """Made before the run reads anything; keeps the answer afterwards."""

    def __init__(self, arguments: Sequence[str], folder: str | None = None) -> None:
        import time

        self._arguments = arguments
        try:
            self._file = _path(arguments, folder)
        except OSError:  # the working folder is gone
            self._file = ""
        # Now, for it may lie in a folder that is watched.
        if not entries.make_folder(os.path.dirname(self._file)):
            self._file = ""  # a place that cannot be written is no reason to fail
        self._started = time.time_ns()

    def store(
        self,
        watched: Iterable[str],
        out: str,
        err: str,
        status: int,
        known: Mapping[str, entries.Stamp | None] = MappingProxyType({}),
    ) -> None:
        """Keep the answer, unless one of the watched files changed while it was made; `known` are stamps of some from
        before they were read."""
        paths = dict.fromkeys((*watched, *entries.own_files(), *sys.path))
        stamps = {path: known[path] if path in known else entries.stamp(path) for path in paths}
        if not self._file or any(
            seen and entries.may_change_unseen(seen, self._started) for seen in stamps.values()
        ):
            return
        fields = [_key(self._arguments), str(status), out, err]
        for path, seen in stamps.items():
            fields += [path, entries.shown(seen)]
        if not any("\0" in field for field in fields):
            entries.write(self._file, "\0".join(fields).encode("utf-8", "surrogatepass"))


def _key(arguments: Sequence[str]) -> str:
    """What the answer depends on beside files."""
    environment = [os.environ.get(name) for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "PT2LINT_DEBUG")]
    place = [__file__, os.getcwd(), sys.version, sys.path, sys.stdout.isatty()]
    return entries.digest(repr([list(arguments), *place, environment]))


def _given_folder(arguments: Sequence[str]) -> str | None:
    for i, argument in enumerate(arguments):
        if argument == "--cache-dir" and i + 1 < len(arguments):
            return arguments[i + 1]
        if argument.startswith("--cache-dir="):
            return argument.split("=", 1)[1]
    return None


def _path(arguments: Sequence[str], folder: str | None) -> str:
    return os.path.join(entries.folder(folder), f"answer-{entries.digest(os.getcwd(), *arguments)}")
