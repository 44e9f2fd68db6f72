"""What was found out about groups of files, kept from run to run.

An entry holds for one group of paths, one pt2lint (its own code and rules count), one target and setting, as
long as every file that it was made from has the same content: the linted ones, those that they import, and
those that were sought and are not there. Entries are JSON, written whole or not at all, and may be deleted,
cut short or written by several processes at any time: what does not read is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from pt2lint.static.facts import Facts, from_plain, to_plain

DAYS = 30  # an entry that was not used for so long goes
LARGEST = 200_000_000  # bytes that all entries may take; the oldest go first
PREFIXES = ("facts-", "answer-")


def digest(*parts: bytes | str) -> str:
    """A name for content, as far as chance goes; the parts' bounds count."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(data))
        made.update(data)
    return made.hexdigest()


class Cache:
    """The entries in one folder. Nothing here raises: a place that cannot be read or written holds nothing."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def get(self, key: Sequence[str], current: Callable[[str], str | None]) -> Facts | None:
        """What was kept under the key, if all files still are as they were; `current` gives a file's digest."""
        path = self._path(key)
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            facts = from_plain(data["facts"])
            if data["key"] != list(key):
                return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        if any(current(path) != seen for path, seen in facts.read.items()):
            return None
        with suppress(OSError):
            os.utime(path)
        return facts

    def put(self, key: Sequence[str], facts: Facts) -> None:
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}"
        try:
            os.makedirs(self.folder, exist_ok=True)
            ignore = os.path.join(self.folder, ".gitignore")
            if not os.path.exists(ignore):
                with open(ignore, "w", encoding="utf-8") as file:
                    file.write("*\n")
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump({"key": list(key), "facts": to_plain(facts)}, file)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)

    def tidy(self) -> None:
        """Remove, once a day, what nobody used for a month, and the oldest of what takes too much room."""
        mark = os.path.join(self.folder, "tidied")
        now = time.time()
        try:
            if now - os.stat(mark).st_mtime < 86_400:
                return
        except OSError:
            pass
        try:
            entries = [e for e in os.scandir(self.folder) if e.name.startswith(PREFIXES) and e.is_file()]
            ages = sorted(((e.stat().st_mtime, e.stat().st_size, e.path) for e in entries), reverse=True)
            with open(mark, "w", encoding="utf-8"):
                pass
        except OSError:
            return
        room = LARGEST
        for used, size, path in ages:
            room -= size
            if room < 0 or now - used > DAYS * 86_400:
                with suppress(OSError):
                    os.unlink(path)

    def _path(self, key: Sequence[str]) -> str:
        return os.path.join(self.folder, f"facts-{digest(*key)}.json")


def contents(folders: Iterable[str]) -> str:
    """The digest of all Python and JSON files below the folders (a package's own code and data)."""
    parts: list[bytes | str] = []
    for top in folders:
        for folder, below, files in os.walk(top):
            below[:] = sorted(name for name in below if name != "__pycache__")
            for name in sorted(files):
                if name.endswith((".py", ".json")):
                    path = os.path.join(folder, name)
                    with suppress(OSError), open(path, "rb") as file:
                        parts += [os.path.relpath(path, top), file.read()]
    return digest(*parts)
