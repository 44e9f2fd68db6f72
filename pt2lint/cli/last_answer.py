"""The whole answer of the last run, given again while nothing that it depended on has changed.

A run that finds its answer here reads no file and imports nothing: it asks the file system for the times
and sizes of what the last run read, of the folders it walked, of pt2lint's own files and of the folders
that modules are imported from (another torch may have been installed). Any difference, and the run is made
anew.
"""

from __future__ import annotations

import marshal
import os
import sys
from stat import S_ISDIR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Answer = tuple[str, str, int]
Stamp = tuple[int, int, int, int, int]

FOLDER = ".pt2lint_cache"
# The clock of a file system ticks in milliseconds: a file that was changed just before it was read may change
# once more without a new time.
TICK = 50_000_000
# Beyond this the file is not worth its bytes.
LARGEST = 64_000_000


def recall(arguments: Sequence[str]) -> Answer | None:
    """(stdout, stderr, exit status) of the last run with these arguments, or None if it must be made anew."""
    try:
        with open(_path(arguments, _given_folder(arguments)), "rb") as file:
            key, stamps, answer = marshal.load(file)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if key != _key(arguments) or any(stamp(path) != seen for path, seen in stamps.items()):
        return None
    return answer


class Watch:
    """Made before the run reads anything; keeps the answer afterwards."""

    def __init__(self, arguments: Sequence[str], folder: str | None = None) -> None:
        import time

        self._arguments = arguments
        self._file = _path(arguments, folder)
        try:
            _make_folder(os.path.dirname(self._file))
        except OSError:
            self._file = ""  # a place that cannot be written is no reason to fail
        self._started = time.time_ns()

    def store(self, watched: Iterable[str], out: str, err: str, status: int) -> None:
        """Keep the answer, unless one of the watched files changed while it was made."""
        stamps = {path: stamp(path) for path in (*watched, *_own_files(), *sys.path)}
        if not self._file or any(seen and self._too_new(seen) for seen in stamps.values()):
            return
        data = marshal.dumps((_key(self._arguments), stamps, (out, err, status)))
        if len(data) > LARGEST:
            return
        temporary = f"{self._file}.{os.getpid()}"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, self._file)
        except OSError:
            return

    def _too_new(self, seen: Stamp) -> bool:
        mode, _, changed, touched, _ = seen
        # A folder may be as new as the cache's own, which was just made in it.
        return max(changed, touched) >= self._started - (0 if S_ISDIR(mode) else TICK)


def stamp(path: str) -> Stamp | None:
    """What changes when a file does: mode, size, times of content and metadata, inode; None: not there."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _key(arguments: Sequence[str]) -> list[object]:
    environment = [os.environ.get(name) for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "PT2LINT_DEBUG")]
    return [list(arguments), os.getcwd(), sys.version, sys.path, sys.stdout.isatty(), environment]


def _given_folder(arguments: Sequence[str]) -> str | None:
    for i, argument in enumerate(arguments):
        if argument == "--cache-dir" and i + 1 < len(arguments):
            return arguments[i + 1]
        if argument.startswith("--cache-dir="):
            return argument.split("=", 1)[1]
    return None


def _path(arguments: Sequence[str], folder: str | None) -> str:
    from zlib import crc32

    name = crc32("\0".join([os.getcwd(), *arguments]).encode("utf-8", "surrogateescape"))
    return os.path.join(cache_folder(folder), f"answer-{name:08x}")


def cache_folder(given: str | None) -> str:
    """Where to keep what is kept: as given, else as the environment says, else in the working folder."""
    return given or os.environ.get("PT2LINT_CACHE_DIR") or FOLDER


def _make_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        os.makedirs(folder)
        with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("*\n")


def _own_files() -> list[str]:
    """The files of pt2lint and of its rules."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [here, *(getattr(sys.modules.get("pt2lint.rules"), "__path__", ()))]
    return [
        os.path.join(folder, file)
        for top in folders
        for folder, _, files in os.walk(top)
        if not folder.endswith("__pycache__")
        for file in files
        if file.endswith((".py", ".json"))
    ]
