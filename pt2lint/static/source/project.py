"""The project's files: which module is which file, read and parsed once.

A `Project` finds first-party modules on disk from the linted files' package roots, and keeps a bounded number of trees.
"""

from __future__ import annotations

import io
import os
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial

from pt2lint.digests import digest_of
from pt2lint.packages import package_of
from pt2lint.static.source.extensions import called_compiled, extensions
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import parse
from pt2lint.static.source.reads import FILES, Reads, calls

# What everybody imports, but for those who lint these themselves: each with a file that it has, and that another
# package's folder of that name lacks (`texar/torch`).
NEVER_OURS = {"torch": "_tensor.py", "numpy": os.path.join("ma", "__init__.py")}
NAMESPACES = 2  # folders without modules of their own that a name may begin with, below the first
MAX_ABOVE = 6  # folders above a file among which a package is sought
TOPMOST = (".git", "pyproject.toml", "setup.py")  # what lies in a project's own folder
MAX_SEARCHED = 400  # files that are looked through for calls
MAX_CALLERS = 8  # files that are read because they call something


def decode(data: bytes) -> str:
    """A file's text, in the encoding that it declares, with its line ends as they are.

    Raises SyntaxError (an unknown or wrong declared encoding) or ValueError (one that is none
    of text, or not the bytes').
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        return data.decode(encoding)
    except LookupError as error:  # `hex` and others are encodings, but none of text
        raise ValueError(error) from None


class Project:
    """All modules that can be reached from the linted files. Errors of files that were asked for are the
    caller's to report: `load` raises them; look-ups of other modules answer None."""

    def __init__(
        self,
        texts: Mapping[str, str] | None = None,
        linted: Sequence[str] = (),
        parsed: Project | None = None,
        callers: Sequence[str] = (),
    ) -> None:
        """`callers` are files beside the linted ones that may call what is in them.

        `parsed` is a project of the same files in which nothing is interpreted: what it parses is taken from it, by
        one project at a time.
        """
        self.parse = parse  # what makes the trees of whole files; who keeps some puts another in its place
        self._texts = texts or {}
        self._linted = frozenset(linted)
        self.callers = tuple(callers)
        self._parsed = parsed
        self._digests: dict[str, str | None] = {}
        self._given: set[str] = set()  # what was read of `texts`
        self._by_path: dict[str, Module] = {}
        self.reads = Reads()
        if parsed is not None:
            self.reads = parsed.reads  # what is taken from it notes there what is read
            self.reads.begin()
        self.looked_at: set[str] = set()  # every place where a first-party module was sought, found or not
        self._missing: set[str] = set()
        self._extensions: set[str] | None = None
        self._is_extension: dict[str, bool] = {}
        self._path_of: dict[str, str | None] = {}
        # What was found where, of names by the folders that are imported from, with all places that were looked at.
        self._found: dict[tuple[str, tuple[str, ...]], tuple[str | None, list[str]]]
        self._found = {} if parsed is None else parsed._found
        self._homes: dict[tuple[tuple[str, ...], str], str] = {}
        self._folders: dict[str, bool] = {}
        self._nearest: dict[str, list[str]] = {}
        # By words, the files that were looked through for calls of them: many groups ask the same of all files.
        self._calling: dict[str, dict[str, bool]] = {} if parsed is None else parsed._calling
        self._first_roots: list[str]
        self._own: set[str]
        self._around: dict[str, list[str]]
        self._whole: list[str]
        if parsed is not None:
            self._first_roots, self._own, self._around = parsed._first_roots, parsed._own, parsed._around
            self._whole = parsed._whole
        else:
            folders: dict[str, tuple[list[str], str]] = {}
            places = [module_name(path, folders) for path in linted]
            packages = dict.fromkeys((root, name.split(".", 1)[0]) for name, root, _ in places if "." in name)
            programs = [
                program for root, top in packages if (program := program_folder(root, top)) is not None
            ]
            self._first_roots = list(dict.fromkeys([*(root for _, root, _ in places), *programs]))
            self._own = {
                top
                for top, root in dict.fromkeys((name.split(".", 1)[0], root) for name, root, _ in places)
                if top not in NEVER_OURS or os.path.isfile(os.path.join(root, top, NEVER_OURS[top]))
            }
            self._around = folders_around(self._first_roots)
            self._whole = project_folders(self._first_roots)
        self._roots = [*self._first_roots]

    def load(self, path: str, whole: bool = True) -> Module:
        """The module at `path`. Raises OSError, SyntaxError, ValueError, RecursionError or MemoryError.

        With `whole` it is parsed at once, else as far as it is asked about.
        """
        module = self._by_path.get(path)
        if module is None or (whole and not module.whole and self._parsed is None):
            self.reads.parsed.add(path)
            name, root, is_package = module_name(path)
            folders = self._imports_from(name, root)
            self._roots += [folder for folder in folders if folder not in self._roots]
            if self._parsed is not None:
                try:
                    module = self._parsed.load(path, whole)
                finally:
                    self._has_read(path)
                module.begin()
                self._by_path[path] = module
                return module
            source = self.text(path)
            linted = path in self._linted
            module = self._by_path[path] = Module(
                path,
                name,
                source,
                is_package,
                linted,
                whole,
                partial(self.home, folders),
                self.reads,
                self.parse,
            )
            module.above = self._packages_above(root) if linted and "." not in name else ()
        return module

    def _imports_from(self, name: str, root: str) -> tuple[str, ...]:
        """The folders from which a module of that name may import its neighbours."""
        program = program_folder(root, name.split(".", 1)[0]) if "." in name else None
        if program is None:
            return (root,)
        self.looked_at.add(os.path.join(program, "__init__.py"))
        return root, program

    def _packages_above(self, root: str) -> tuple[str, ...]:
        """The packages in which a file lies that have folders without an `__init__.py` between: `core/ops/swap.py`."""
        found = []
        folder = os.path.abspath(root)
        for _ in range(MAX_ABOVE):
            if _is_topmost(folder):
                break
            place = os.path.join(folder, "__init__.py")
            self.looked_at.add(place)
            folder, name = os.path.split(folder)
            if os.path.isfile(place):
                found.append(name)
        return tuple(found)

    def forget(self) -> None:
        """Let go of what is parsed."""
        self._by_path.clear()

    def take_over(self, other: Project, paths: Iterable[str]) -> None:
        """Take what another project, which has ended, parsed of these files, where they hold what they held then and
        neither of the two lints them. Both interpret nothing."""
        if other._first_roots != self._first_roots:
            return
        self._roots = [*other._roots]
        if any(self.home(*asked) != answer for asked, answer in other._homes.items()):
            self._roots = [*self._first_roots]
            self._homes.clear()
            return  # what a file means by a name is another file by now
        self.reads = other.reads  # the trees note there what is read of them
        self.reads.begin()
        folders: dict[str, tuple[list[str], str]] = {}
        for path in sorted(other.parsed().intersection(paths) - self._linted):
            module = other._by_path[path]
            name, root, is_package = module_name(path, folders)
            with suppress(OSError, SyntaxError, ValueError):
                if (
                    not module.linted
                    and (module.name, module.is_package) == (name, is_package)
                    and self.text(path) == module.text
                ):
                    module.home = partial(self.home, self._imports_from(name, root))
                    self._by_path[path] = module

    def _has_read(self, path: str) -> None:
        """What the project behind it read counts as read here."""
        if path in self._texts:
            self._given.add(path)
        elif self._parsed is not None:
            self._digests.setdefault(path, self._parsed._digests.get(path))

    def text(self, path: str) -> str:
        """What the file holds, or what is there in its place; raises as `load`."""
        if path in self._texts:
            self._given.add(path)
            return self._texts[path]
        return decode(self._bytes(path))

    def _bytes(self, path: str) -> bytes:
        self._digests.setdefault(path, None)
        if self._parsed is not None:
            data = self._parsed._bytes(path)
            self._digests[path] = self._parsed._digests[path]
            return data
        with open(path, "rb") as file:
            data = file.read()
        if self._digests[path] is None:  # what is looked through again and again is hashed once
            self._digests[path] = digest_of(data)
        return data

    def digest(self, path: str) -> str | None:
        """What stands for the file's content; None where it cannot be read."""
        if path in self._texts:
            return digest_of(self._texts[path].encode("utf-8", "surrogatepass"))
        try:
            if path not in self._digests:
                self._bytes(path)
        except (OSError, ValueError):
            pass
        return self._digests[path]

    def parsed(self) -> set[str]:
        """The files that were parsed, or bound at least."""
        return set(self._by_path)

    def place_of(self, path: str, line: int) -> str:
        """A line of a file, by the function in which it stands where the file was bound."""
        module = self._by_path.get(path)
        return f"{path}+{line}" if module is None else module.place_of(line)

    def read(self) -> dict[str, str | None]:
        """The digests of all files that were read, or sought and not found."""
        return {path: self.digest(path) for path in [*self._digests, *self._given, *self.looked_at]}

    def home(self, folders: tuple[str, ...], top: str) -> str:
        """What a file that imports from `folders` means by a top-level module: its own neighbour, where several
        programs in one tree have a `model.py` each, or what lies beside a script in a folder around it. "3@model" is
        the one below the fourth of all folders that are imported from. Python's own `logging` is somebody's
        `utils/logging.py` for the files in `utils` alone. Of "..", it is the package two folders above the first."""
        if top.startswith("."):
            return self._package_over(folders[0], len(top))
        if len(self._roots) < 2 or folders[0] not in self._roots:
            return top
        key = (folders, top)
        if key not in self._homes:
            own = next((each for each in folders if _holds(each, top)), None)
            if own is None and (top in self._own or top in self._around):
                own = next((each for each in self._scripts_over(folders[0]) if _holds(each, top)), None)
            other = own is not None and (
                top in sys.stdlib_module_names
                or next(each for each in self._roots if _holds(each, top)) != own
            )
            self._homes[key] = f"{self._roots.index(own)}@{top}" if own is not None and other else top
        return self._homes[key]

    def _scripts_over(self, root: str) -> Iterator[str]:
        """The folders around it that hold files as well, the next one first: a script there is run from its own."""
        roots = set(self._roots)
        folder = root
        while os.path.basename(folder) not in ("", ".", "..") and not _is_topmost(folder):
            folder = os.path.dirname(folder) or "."
            if folder in roots:
                yield folder

    def _package_over(self, root: str, levels: int) -> str:
        """The package that lies so many folders above one that is imported from, as a file in a folder without an
        `__init__.py` imports from it (`from .. import ops`)."""
        folder = os.path.abspath(root)
        for _ in range(levels):
            self.looked_at.add(os.path.join(folder, "__init__.py"))
            folder = os.path.dirname(folder)
        parts, _ = package_of(folder)
        return ".".join(parts) or os.path.basename(folder)

    def find(self, name: str) -> Module | None:
        """The first-party module of that dotted name, if a file on disk holds it and parses."""
        path = self._path(name)
        if path is None:
            return None
        try:
            return self.load(path, whole=False)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            self._missing.add(name)
            return None

    def asked(self, name: str, kind: str, about: str) -> str | None:
        """`Module.asked` of the first-party module of that dotted name, without binding what is in it; None where
        there is none, or it cannot be read."""
        path = self._path(name)
        if path is None:
            return None
        module = self._by_path.get(path)
        if module is not None:
            return module.asked(kind, about)
        self.reads.facts.add((path, kind, about))
        try:
            return self.text(path)
        except (OSError, SyntaxError, ValueError):
            return None

    def find_mentioning(self, name: str, word: str) -> Module | None:
        """The module of that name, unless its text plainly does not hold `word`: then it is not parsed for it.

        A package may take its names by `import *` from hundreds of modules; they are looked through for each.
        """
        path = self._path(name)
        if path is None:
            return None
        module = self._by_path.get(path)
        if module is not None:
            return module if module.says(word) or module.star_imports else None
        self.reads.facts.update(((path, "word", word), (path, "word", "import *")))
        try:
            data = None if path in self._texts else self._bytes(path)
        except OSError:
            return None
        if data is None or word.encode() in data or b"import *" in data:
            return self.find(name)
        return None

    def calling(self, words: Set[str], near: str) -> list[str]:
        """The linted files whose text calls something by one of the words, those that lie nearest to `near` first:
        "name" on its own, "owner.name", ".name" of any owner, or "base:name", from which it derives a class."""
        folder, asked = os.path.dirname(near), " ".join(sorted(words))
        self.reads.facts.add((FILES, "calls near", f"{folder}\n{asked}"))
        if folder not in self._nearest:
            self._nearest[folder] = nearest(self._linted.union(self.callers), folder)
        found: list[str] = []
        for path in self._nearest[folder]:
            if len(found) < MAX_CALLERS and self._calls_in(path, asked):
                found.append(path)
        return found

    def _calls_in(self, path: str, words: str) -> bool:
        """Whether the file's text calls something by one of the words, as far as it can be read."""
        known = self._calling.setdefault(words, {})
        if path in known:
            self._has_read(path)
        else:
            try:
                known[path] = calls(self.text(path), words)
            except (OSError, SyntaxError, ValueError):
                return False
        self.reads.facts.add((path, "calls", words))
        return known[path]

    def _path(self, name: str) -> str | None:
        if name in self._missing:
            return None
        path = self._path_of.get(name)
        if path is None:
            path = self._path_of[name] = self._search(name)
            if path is None:
                self._missing.add(name)
        return path

    def _search(self, name: str) -> str | None:
        key = (name, tuple(self._roots))
        if key not in self._found:
            places: list[str] = []
            self._found[key] = self._search_anew(name, places), places
        path, places = self._found[key]
        self.looked_at.update(places)
        return path

    def _search_anew(self, name: str, places: list[str]) -> str | None:
        """The path of the module of that name; `places` gets all that were looked at."""
        below, name = self._below(name)
        relative = name.replace(".", os.sep)
        top = name.split(".", 1)[0]
        if not below and len(self._roots) > 1 and top in sys.stdlib_module_names:
            return None
        for root in below or [*self._roots, *self._beyond(top)]:
            if top not in self._own and (top in NEVER_OURS or _holds_installed(root)):
                continue  # what is installed beside the project is not the project's, torch least of all
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                places.append(path)
                if os.path.isfile(path):
                    return os.path.relpath(path) if not os.path.isabs(root) else path
        return None

    def is_extension(self, qualified: str) -> bool:
        """Whether a name is, or is in, a compiled extension: one that the project's setup.py builds, or a module that
        is called like one and lies in a package, where no file holds it."""
        known = self._is_extension.get(qualified)
        if known is None:
            known = self._is_extension[qualified] = self._is_in_extension(qualified)
        return known

    def _is_in_extension(self, qualified: str) -> bool:
        if self._extensions is None:
            found = {name for root in self._roots for name in extensions(root, self._beside)}
            self._extensions = {name for name in found if self.find(name) is None}
        module = called_compiled(qualified)
        if module is not None and self.find(module) is None:
            owner = module.rpartition(".")[0]
            if not owner or not self.is_first_party(owner):
                return True
            package = self.find(owner)
            if package is not None and package.is_package:
                return True
        return any(
            qualified.startswith(name) and qualified[len(name) : len(name) + 1] in ("", ".")
            for name in self._extensions
        )

    def _beside(self, path: str) -> str | None:
        """What a file holds that may be there."""
        if path not in self._texts and not os.path.isfile(path):
            self.looked_at.add(path)
            return None
        self.reads.whole.add(path)
        try:
            return self.text(path)
        except (OSError, ValueError):
            return None

    def is_first_party(self, qualified: str) -> bool:
        top, _, below = qualified.partition(".")
        if len(self._roots) > 1 and top in sys.stdlib_module_names:
            return False  # of those who mean their own neighbour it has another name (`home`)
        if self.find(top) is not None or self._is_folder(top):
            return True
        beyond = self._beyond(top) if below else ()
        return any(_holds(os.path.join(root, top), below.split(".")[0]) for root in beyond)

    def _beyond(self, top: str) -> list[str]:
        """The folders, other than those that files import from, in which a name is sought."""
        whole = () if top in sys.stdlib_module_names else self._whole
        return [*self._around.get(top, ()), *whole]

    def _below(self, name: str) -> tuple[list[str], str]:
        """The one folder below which a module is sought, if its name says so (`home`), and its name there. A folder may
        be called "model@v2" or "1@two" as well."""
        number, at, rest = name.partition("@")
        if at and number.isdecimal() and int(number) < len(self._roots):
            root = self._roots[int(number)]
            if _holds(root, rest.split(".", 1)[0]):
                return [root], rest
        return [], name

    def _is_folder(self, top: str) -> bool:
        """Whether it is a folder of modules without an __init__.py, beside a file that is linted."""
        if top not in self._folders:
            below, name = self._below(top)
            roots = below or self._roots
            self._folders[top] = (name not in NEVER_OURS or name in self._own) and any(
                _holds_modules(os.path.join(root, name)) for root in roots if not _holds_installed(root)
            )
        return self._folders[top]


def program_folder(root: str, top: str) -> str | None:
    """The folder of an outermost package whose `__init__.py` is empty, or that is the whole project's: what lies in it
    may be run as a program, from that very folder, and import its neighbours by their names alone."""
    folder = os.path.join(root, top)
    if _is_topmost(folder):
        return folder
    try:
        return folder if os.path.getsize(os.path.join(folder, "__init__.py")) == 0 else None
    except OSError:
        return None


def folders_around(roots: Iterable[str]) -> dict[str, list[str]]:
    """The folders that files import from, and those that these lie in, by their names, each with where it lies: a
    package may begin with folders without an `__init__.py`, as `src/company/core` does of which files import
    `company.core`, and only files further down are linted."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for root in roots:
        folder = os.path.abspath(root)
        for _ in range(NAMESPACES + 1):
            if folder in seen or _is_topmost(folder):
                break
            seen.add(folder)
            folder, name = os.path.split(folder)
            if not name or name in NEVER_OURS:
                break
            found.setdefault(name, []).append(folder if os.path.isabs(root) else os.path.relpath(folder))
    return found


def project_folders(roots: Iterable[str]) -> list[str]:
    """The topmost folders of the projects in which these lie, and `src` in them: a script in a folder of its own
    imports what is installed from there, or is run from there."""
    found: dict[str, None] = {}
    for root in roots:
        folder = os.path.abspath(root)
        for _ in range(MAX_ABOVE):
            if _is_topmost(folder):
                for each in (folder, os.path.join(folder, "src")):
                    found[each if os.path.isabs(root) else os.path.relpath(each)] = None
                break
            folder = os.path.dirname(folder)
    return [each for each in found if each not in roots]


def _is_topmost(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, mark)) for mark in TOPMOST)


def _holds(root: str, top: str) -> bool:
    place = os.path.join(root, top)
    return os.path.isfile(f"{place}.py") or _holds_modules(place)


def _holds_modules(folder: str, deep: int = NAMESPACES) -> bool:
    """Whether there are modules in the folder, or in those in it: `models/vision/net.py` is `models.vision.net`."""
    try:
        with os.scandir(folder) as entries:
            below = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return False
    return any(entry.name.endswith(".py") for entry in below) or (
        deep > 0 and any(entry.is_dir() and _holds_modules(entry.path, deep - 1) for entry in below)
    )


def _holds_installed(root: str) -> bool:
    """Whether the folder is where packages of others are installed."""
    return os.path.basename(os.path.abspath(root)) in ("site-packages", "dist-packages")


def nearest(files: Iterable[str], folder: str) -> list[str]:
    """As many of the files as are looked through for calls, those that lie nearest to the folder."""
    here = os.path.abspath(folder)

    def distance(other: str) -> int:
        there = os.path.abspath(other)
        try:
            common = len(os.path.commonpath([here, there]))
        except ValueError:  # on another drive
            return 1_000
        return here[common:].count(os.sep) + there[common:].count(os.sep)

    homes = {path: os.path.dirname(path) for path in files}
    far = {each: distance(each) for each in set(homes.values())}
    return sorted(homes, key=lambda path: (far[homes[path]], path))[:MAX_SEARCHED]


def module_name(path: str, folders: dict[str, tuple[list[str], str]] | None = None) -> tuple[str, str, bool]:
    """(dotted module name, import root, is it a package's __init__) of a file, by the __init__.py files above.

    `folders` remembers what was found out about folders.
    """
    folder, file = os.path.split(path)
    stem = file[:-3] if file.endswith(".py") else file
    known = None if folders is None else folders.get(folder)
    if known is None:
        known = package_of(folder)
        if folders is not None:
            folders[folder] = known
    parts = [*known[0], *([] if stem == "__init__" else [stem])]
    return ".".join(parts) or stem, known[1], stem == "__init__"
