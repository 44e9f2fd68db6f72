"""What was found out about groups of files, kept from run to run.

An entry holds for one group of paths, one pt2lint (its own code and rules count), one target and setting, as
long as all that it was made from reads alike: of the linted files and those that they import what was read of
them (source/reads.py), those that were sought and are not there. Files are kept too, packed, to be compared with
what they become. Entries are JSON, packed, and may be deleted, spoilt or written by several
processes at any time: what is not as it was written is not there.
"""

from __future__ import annotations

import codecs
import importlib
import json
import os
import re
import sys
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pt2lint.finding import RulePage
from pt2lint.project import entries
from pt2lint.project.entries import digest, place_of
from pt2lint.static.facts import Facts, Late, from_plain, kinds_of_text, notes_of_text, to_plain
from pt2lint.static.ledger import Ledger
from pt2lint.static.source.project import decode

if TYPE_CHECKING:
    from pt2lint.rule.written import Shelf
    from pt2lint.static.change import Change
    from pt2lint.static.source.project import Project
    from pt2lint.static.source.reparse import Trees

DAYS = 30  # an entry that was not used for so long goes
LARGEST = 200_000_000  # bytes that all entries may take; the oldest go first
ENTRY = re.compile(
    r"(facts|answer|text|own|pages|listening|ledger|known)-[0-9a-f]{32}(\.[0-9a-f]+)?"
)  # what is not whole yet has a suffix


ALL, READ = "facts", "read"  # texts of an entry
LATE = ("notes", "kinds")  # of which there is one for each file


class Texts(Mapping[str, str]):
    """Texts by name, each packed by itself: of most entries one is wanted."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Texts:
        return cls(
            {name: zlib.compress(text.encode(), 1) for name, text in texts.items()}
        )  # an eighth of its size

    def packed(self) -> bytes:
        sizes = json.dumps({name: len(data) for name, data in self._packed.items()})
        return b"\n".join([sizes.encode(), b"".join(self._packed.values())])

    @classmethod
    def unpacked(cls, data: bytes) -> Texts:
        """Raises ValueError, TypeError or AttributeError for what `packed` did not make."""
        end = data.index(b"\n") + 1
        texts: dict[str, bytes] = {}
        for name, size in json.loads(data[: end - 1]).items():
            texts[name], end = data[end : end + size], end + size
        return cls(texts)

    def below(self, kind: str) -> Texts:
        """The texts "KIND NAME", each by NAME."""
        names = [name.partition(" ") for name in self._packed]
        return Texts(
            {name: self._packed[f"{kind} {name}"] for first, _, name in names if first == kind and name}
        )

    def __getitem__(self, name: str) -> str:
        return zlib.decompress(self._packed[name]).decode()

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


class Cache:
    """The entries in one folder. Nothing here raises: a place that cannot be read or written holds nothing."""

    keeps_buffers = False  # what was found of texts that are in no file
    # What is left out of the ledger: to compare a file again, and to read what a group found, is faster than to write
    # all that anew.
    few_changes, few_units = 4, 8
    parsed: tuple[Project, Collection[str]] | None = None  # what the last run parsed, if that is kept
    trees: Trees | None = None  # of the files that are linted, if they are kept
    shelf: Shelf | None = None  # for functions that rules read, if they are kept

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._project = ""
        with suppress(OSError):  # the working folder is gone
            self._project = os.getcwd()

    def get(
        self,
        key: Sequence[str],
        current: Callable[[str], str | None],
        change: Callable[[str, str], Change | None],
    ) -> Facts | None:
        """What was kept under the key, if all that it was made of still is as it was, in the lines that it has now.

        `current` gives a file's digest, `change` what became of a file since it had another, if that can be told.
        """
        return self._holding(key, self._kept(key), current, change)

    def _holding(
        self,
        key: Sequence[str],
        facts: Facts | None,
        current: Callable[[str], str | None],
        change: Callable[[str, str], Change | None],
    ) -> Facts | None:
        """What was kept, as it is by now; None where it may be something else."""
        others = {} if facts is None else _others(facts, current)
        if facts is None or not others:
            return facts
        moved = _moved(facts, others, change)
        if moved is not None:
            moved.read, moved.name = {file: current(file) for file in facts.read}, facts.name
            if len(others) > self.few_changes:
                self.put(key, moved)
        return moved

    def _kept(self, key: Sequence[str]) -> Facts | None:
        """What was kept under the key, and is used from now on."""
        name = self.name(key)
        entry = self._entry(name)
        if entry is None:
            return None
        try:
            data = json.loads(entry[ALL])
            late = {kind: entry.below(kind) for kind in LATE}
            facts = from_plain({**data["facts"], **late, READ: json.loads(entry[READ])})
            if data["key"] != list(key):
                return None
        except (zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None  # another version's
        self.use([name])
        facts.name = name
        return facts

    def noted(
        self,
        name: str,
        paths: Iterable[str],
        current: Callable[[str], str | None],
        change: Callable[[str, str], Change | None],
    ) -> Facts | None:
        """As `get`, but only the notes and kinds in these files, of an entry by name that is known to hold."""
        entry = self._entry(name)
        if entry is None:
            return None
        notes, kinds = (
            {path: each[path] for path in paths if path in each} for each in map(entry.below, LATE)
        )
        facts = Facts(notes=Late(notes, notes_of_text), kinds=Late(kinds, kinds_of_text), name=name)
        facts.read = json.loads(entry[READ])
        others = _others(facts, current)
        if not others:
            return facts
        facts.reads_ = str(json.loads(entry[ALL])["facts"]["reads"])
        return _moved(facts, others, change)

    def _entry(self, name: str) -> Texts | None:
        data = self._read(f"facts-{name}")
        with suppress(ValueError, TypeError, AttributeError):
            if data is not None:
                return Texts.unpacked(data)
        return None

    def use(self, names: Iterable[str]) -> None:
        """Note that the entries were of use."""
        for name in names:
            with suppress(OSError):
                os.utime(self._path(f"facts-{name}"))

    def put(self, key: Sequence[str], facts: Facts) -> None:
        if entries.make_folder(self.folder):
            facts.name = self.name(key)
            plain = to_plain(facts)
            texts = {f"{kind} {path}": text for kind in LATE for path, text in plain.pop(kind).items()}
            texts[READ] = json.dumps(plain.pop(READ))
            texts[ALL] = json.dumps({"key": list(key), "facts": plain})
            entries.write(self._path(f"facts-{facts.name}"), Texts.of(texts).packed())

    def ledger(self, key: Sequence[str]) -> Ledger:
        """The ledger of the last run over the same files; an empty one where there is none."""
        data = self._read(f"ledger-{self.name(key)}")
        with suppress(ValueError, KeyError, TypeError, AttributeError, IndexError):
            if data is not None:
                return Ledger.unpacked(data)
        return Ledger()

    def keep_ledger(self, key: Sequence[str], ledger: Ledger) -> None:
        if entries.make_folder(self.folder):
            entries.write(self._path(f"ledger-{self.name(key)}"), ledger.packed())

    def known(self, files: Sequence[str]) -> dict[str, dict[str, Any]]:
        """What was known of the texts of these files when they were linted last, by digest."""
        data = self._read(self._known(files))
        with suppress(ValueError, TypeError):
            if data is not None:
                return dict(json.loads(data))
        return {}

    def keep_known(self, files: Sequence[str], known: Mapping[str, Mapping[str, Any]]) -> None:
        if entries.make_folder(self.folder):
            entries.write(self._path(self._known(files)), json.dumps(known).encode())

    def _known(self, files: Sequence[str]) -> str:
        return f"known-{self.name([self._own_contents, place_of(files)])}"

    def text(self, digest: str) -> str | None:
        """What was in the file that had this digest, if it was kept."""
        data = self._read(f"text-{digest}")
        try:
            return None if data is None else decode(zlib.decompress(data))
        except (zlib.error, SyntaxError, ValueError):
            return None

    def keep_text(self, digest: str, read: Callable[[], bytes | str | None]) -> None:
        """Keep a file, to know later what of it was changed; what stands in its place in an editor is not kept."""
        path = self._path(f"text-{digest}")
        if not os.path.exists(path) and entries.make_folder(self.folder):
            data = read()
            if isinstance(data, str) and self.keeps_buffers:
                data = codecs.BOM_UTF8 + data.encode("utf-8", "surrogatepass")
            if isinstance(data, bytes):
                entries.write(path, zlib.compress(data, 1))

    def pages(self, folders: Sequence[str], make: Callable[[], Sequence[RulePage]]) -> list[RulePage]:
        """The pages of the rules in these folders, as kept or as `make` makes them."""
        kept = self.of_rules("pages", folders, lambda: [asdict(page) for page in make()])
        return [RulePage(**{**page, "graph_breaks": tuple(page["graph_breaks"])}) for page in kept]

    def of_rules(self, what: str, folders: Sequence[str], make: Callable[[], list[Any]]) -> list[Any]:
        """What there is to say of the rules, those in these folders too: plain data, as kept or as `make` makes it."""
        name = f"{what}-{digest(*sys.path, *folders, self.own_contents(folders))}"
        data = self._read(name)
        with suppress(ValueError):
            if data is not None:
                return list(json.loads(data))
        made = make()
        if made and entries.make_folder(self.folder):
            entries.write(self._path(name), json.dumps(made).encode())
        return made

    def own_contents(self, folders: Iterable[str]) -> str:
        """The digest of pt2lint's own code, data and rules, and of what a user keeps in these folders."""
        return digest(self._own_contents, contents(folders))

    @cached_property
    def _own_contents(self) -> str:
        """That of pt2lint's own, whose files are read where one has another stamp than when they were read last."""
        rules = importlib.import_module("pt2lint.rules")
        stamps = (part for path in entries.own_files() for part in (path, entries.shown(entries.stamp(path))))
        name = f"own-{digest(*stamps)}"
        data = self._read(name)
        if data is None:
            here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            data = contents([here, *rules.__path__]).encode()
            if entries.make_folder(self.folder):
                entries.write(self._path(name), data)
        return data.decode()

    def keep_parsed(self, project: Project, paths: Collection[str]) -> None:
        """Keep what was parsed of these files, which are not linted, for the next run of this process."""

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
            found = [
                (e.stat().st_mtime, e.stat().st_size, e.path)
                for e in os.scandir(self.folder)
                if ENTRY.fullmatch(e.name) and e.is_file(follow_symlinks=False)
            ]
        except OSError:
            return
        entries.write(mark, b"")
        room = LARGEST
        for used, size, path in sorted(found, reverse=True):
            room -= size
            if room < 0 or now - used > DAYS * 86_400:
                with suppress(OSError):
                    os.unlink(path)

    def name(self, key: Sequence[str]) -> str:
        """What an entry with that key is called, whatever it holds."""
        return digest(self._project, *key)

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _read(self, name: str) -> bytes | None:
        return entries.read(self._path(name))


class Scratch(Cache):
    """A cache of texts in no file too, in a folder that goes soon, over one that is left as it is."""

    keeps_buffers = True

    def __init__(self, folder: str, below: Cache | None) -> None:
        super().__init__(folder)
        self.below = below

    def get(
        self,
        key: Sequence[str],
        current: Callable[[str], str | None],
        change: Callable[[str, str], Change | None],
    ) -> Facts | None:
        facts = super().get(key, current, change)
        if facts is None and self.below is not None:
            facts = self._holding(key, self.below._kept(key), current, change)
            if facts is not None:
                with suppress(OSError):  # of a text that was given up
                    os.unlink(self._path(f"facts-{self.name(key)}"))
        return facts

    def hand_down(self) -> None:
        """Keep below what was found out here, once the texts are in files."""
        if self.below is None or not entries.make_folder(self.below.folder):
            return
        for name in sorted(os.listdir(self.folder)):
            data = entries.read(self._path(name)) if ENTRY.fullmatch(name) else None
            if data is not None:
                entries.write(self.below._path(name), data)

    def _read(self, name: str) -> bytes | None:
        data = super()._read(name)
        return self.below._read(name) if data is None and self.below is not None else data


def _others(facts: Facts, current: Callable[[str], str | None]) -> dict[str, str | None]:
    """The files that are not as they were when they were read, with what they had then."""
    return {file: seen for file, seen in facts.read.items() if current(file) != seen}


def _moved(
    facts: Facts, others: Mapping[str, str | None], change: Callable[[str, str], Change | None]
) -> Facts | None:
    """What was kept, told of these files as they are now; None where it may have become another."""
    from pt2lint.static.moved import Lost, Moves

    changes: dict[str, Change] = {}
    for path, seen in others.items():
        found = None if seen is None else change(path, seen)
        if found is None or not found.leaves(facts.reads, path):
            return None
        changes[path] = found
    try:
        return Moves(changes).facts(facts)
    except Lost:
        return None


def contents(folders: Iterable[str]) -> str:
    """The digest of all Python, JSON and TOML files below the folders (a package's own code and data)."""
    parts: list[bytes | str] = []
    for top in folders:
        for folder, below, files in os.walk(top):
            below[:] = sorted(name for name in below if name != "__pycache__")
            for name in sorted(files):
                if name.endswith((".py", ".json", ".toml")):
                    path = os.path.join(folder, name)
                    with suppress(OSError), open(path, "rb") as file:
                        parts += [os.path.relpath(path, top), file.read()]
    return digest(*parts)
