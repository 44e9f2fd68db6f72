"""What the files of one run hold: their texts and digests, and what became of them since an earlier run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pt2lint.digests import digest_of
from pt2lint.project import entries
from pt2lint.static.source.project import Project
from pt2lint.static.source.reads import FILES

if TYPE_CHECKING:
    from pt2lint.static.cache import Cache
    from pt2lint.static.change import Change
    from pt2lint.static.ledger import Seen


class Contents:
    """`texts` holds what is to be read in place of a file, `before` what an earlier run saw of each. `stamps` are of
    files that were read or sought later. The list of files is one itself, by the name FILES."""

    def __init__(self, files: Sequence[str], texts: Mapping[str, str], cache: Cache | None) -> None:
        self.files, self.texts, self.cache = files, texts, cache
        self.before: Mapping[str, Seen] = {}
        self.stamps: dict[str, entries.Stamp | None] = {}
        self._digests: dict[str, str | None] = {}
        self._changes: dict[tuple[str, str], Change | None] = {}
        self._started = time.time_ns()

    def text(self, path: str) -> str:
        """The file's text as far as it can be read."""
        if path in self.texts:
            return self.texts[path]
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except (OSError, ValueError):
            return ""

    def size(self, path: str) -> int:
        stamp = None if path in self.texts else self._stamped(path)
        if stamp is not None:
            return stamp[1]
        # In bytes, as of files: a text that is written lies in the same group.
        return len(self.texts.get(path, "").encode("utf-8", "surrogatepass"))

    def digest(self, path: str) -> str | None:
        if path == FILES:
            return digest_of(self._list)
        if path not in self._digests:
            seen = self.before.get(path)
            if seen is not None and path not in self.texts:
                stamp = self._stamped(path)
                # What was not there has none, and what tells nothing has "".
                if seen.stamp == entries.shown(stamp) and (stamp is None) is (seen.digest is None):
                    self._digests[path] = seen.digest
                    return seen.digest
            self._digests[path] = self._project.digest(path)
        return self._digests[path]

    def stamp(self, path: str) -> str:
        """What tells that a file still is as this run read it; "" where nothing does."""
        stamp = None if path in self.texts else entries.stamp(path)
        return (
            "" if stamp is None or entries.may_change_unseen(stamp, self._started) else entries.shown(stamp)
        )

    def content(self, path: str, digest: str) -> bytes | str | None:
        """What the file holds that has this digest, or what stands in its place."""
        if path == FILES:
            return self._list if self.digest(path) == digest else None
        if path in self.texts:
            return self.texts[path] if self.digest(path) == digest else None
        try:
            with open(path, "rb") as file:
                data = file.read()
        except (OSError, ValueError):
            return None
        return data if digest_of(data) == digest else None

    def change(self, path: str, seen: str) -> Change | None:
        """What became of a file since it had the digest `seen`."""
        from pt2lint.static.change import Change, FilesChange

        cache, key = self.cache, (path, seen)
        if key not in self._changes and cache is not None:
            self._changes[key] = None
            old = cache.text(seen)
            with contextlib.suppress(OSError, SyntaxError, ValueError):
                if old is not None:
                    self._changes[key] = (
                        FilesChange(old.split("\n"), self.files, self.text)
                        if path == FILES
                        else Change(old, Project(self.texts).text(path))
                    )
                    if (now := self.digest(path)) is not None:
                        cache.keep_text(now, partial(self.content, path, now))
        return self._changes.get(key)

    def _stamped(self, path: str) -> entries.Stamp | None:
        """The stamp of a file before this run read it."""
        if path not in self.stamps:
            self.stamps[path] = entries.stamp(path)
        return self.stamps[path]

    @cached_property
    def _list(self) -> bytes:
        return "\n".join(self.files).encode("utf-8", "surrogateescape")

    @cached_property
    def _project(self) -> Project:
        """What stands in the files, whatever else it means."""
        return Project(self.texts)
