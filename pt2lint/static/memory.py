"""What was found out, kept as long as a process runs: a language server lints the same few files again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pt2lint.finding import RulePage
from pt2lint.late import load_libcst_late
from pt2lint.static.cache import Cache
from pt2lint.static.facts import Facts
from pt2lint.static.ledger import Ledger
from pt2lint.static.source.project import Project, decode
from pt2lint.static.source.reparse import Trees

if TYPE_CHECKING:
    from pt2lint.static.change import Change

MOST = 1_000  # entries; of a document some are kept, as it was with others beside it
VERSIONS = 4  # of what an entry was: what is undone is found at once
ROOM = 64_000_000  # characters of the texts that they were made of


class Memory(Cache):
    """As a Cache, of texts in an editor too, and without a folder. What was not used for longest goes first."""

    keeps_buffers = True
    few_changes = few_units = 0  # nothing is written

    def __init__(self) -> None:
        super().__init__("")
        self._facts: OrderedDict[tuple[str, ...], list[Facts]] = OrderedDict()
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._room = ROOM
        self.trees = Trees()
        load_libcst_late()
        from pt2lint.rule.written import Shelf

        self.shelf = Shelf()
        self._pages: tuple[tuple[str, ...], list[RulePage]] | None = None

    def get(
        self,
        key: Sequence[str],
        current: Callable[[str], str | None],
        change: Callable[[str, str], Change | None],
    ) -> Facts | None:
        versions = self._facts.get(tuple(key), [])
        same = next(
            (each for each in versions if all(current(f) == seen for f, seen in each.read.items())), None
        )
        if same is None:
            return super().get(key, current, change)
        self._facts.move_to_end(tuple(key))
        versions.remove(same)
        versions.append(same)
        return same

    def _kept(self, key: Sequence[str]) -> Facts | None:
        versions = self._facts.get(tuple(key))
        if versions is None:
            return None
        self._facts.move_to_end(tuple(key))
        return versions[-1]

    def noted(self, *_: object) -> Facts | None:
        return None  # there is no ledger that could ask

    def put(self, key: Sequence[str], facts: Facts) -> None:
        facts.name = self.name(key)
        versions = self._facts.setdefault(tuple(key), [])
        versions.append(facts)
        del versions[:-VERSIONS]
        if len(self._facts) > MOST:
            self._facts.popitem(last=False)

    def ledger(self, key: Sequence[str]) -> Ledger:
        return Ledger()

    def keep_ledger(self, key: Sequence[str], ledger: Ledger) -> None:
        pass  # what it has is at hand

    def known(self, files: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {}

    def keep_known(self, files: Sequence[str], known: Mapping[str, Mapping[str, Any]]) -> None:
        pass

    def use(self, names: Iterable[str]) -> None:
        pass

    def text(self, digest: str) -> str | None:
        return self._texts.get(digest)

    def keep_text(self, digest: str, read: Callable[[], bytes | str | None]) -> None:
        if digest in self._texts:
            self._texts.move_to_end(digest)
            return
        data = read()
        try:
            text = decode(data) if isinstance(data, bytes) else data
        except (SyntaxError, ValueError):
            return
        if text is not None:
            self._texts[digest] = text
            self._room -= len(text)
        while self._room < 0:
            self._room += len(self._texts.popitem(last=False)[1])

    def pages(self, folders: Sequence[str], make: Callable[[], Sequence[RulePage]]) -> list[RulePage]:
        key = (*folders, self.own_contents(folders))
        if self._pages is None or self._pages[0] != key:
            self._pages = key, [*make()]
        return self._pages[1]

    def of_rules(self, what: str, folders: Sequence[str], make: Callable[[], list[Any]]) -> list[Any]:
        return make()  # they are loaded

    def keep_parsed(self, project: Project, paths: Collection[str]) -> None:
        self.parsed = project, paths

    def tidy(self) -> None:
        pass
