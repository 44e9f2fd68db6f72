"""Entries that are kept from run to run, and read again only where this user wrote them and nothing changed them.

They lie in the user's cache folder, or where the user says. Each carries a digest under a key that lies in the
user's cache folder and is the user's alone: what a checkout, another user or a failing disk brings is not there.
Nothing here raises OSError: what cannot be read is not there, what cannot be written is not kept.
"""

from __future__ import annotations

import os
import sys
from stat import S_IMODE, S_ISDIR, S_ISREG

from pt2lint.digests import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Stamp = tuple[int, int, int, int, int]

KEY = "key"  # the file that holds it, 32 bytes
SIZE = 32  # bytes of a digest and of the key
OTHERS = 0o022  # the modes that let others write
# The clock of a file system ticks in milliseconds: a file that was changed just before it was read may change
# once more without a new time.
TICK = 50_000_000
LARGEST = 64_000_000  # bytes: beyond this an entry is not worth its room


def user_folder() -> str:
    """The folder of pt2lint among the user's caches; "" for a user who has none."""
    if sys.platform == "linux":  # as platformdirs has it, whose import takes a quarter of a warm run
        for base in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
            if os.path.isabs(base):
                return os.path.join(base, "pt2lint")
    from platformdirs import user_cache_dir

    try:
        return user_cache_dir("pt2lint", appauthor=False)
    except RuntimeError:
        return ""


def folder(given: str | None) -> str:
    """Where entries are kept: as given, else as the environment says, else among the user's caches."""
    return given or os.environ.get("PT2LINT_CACHE_DIR") or user_folder()


def digest(*parts: bytes | str) -> str:
    """A name for content, as far as chance goes; the parts' bounds count."""
    made = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(data))
        made.update(data)
    return made.hexdigest()


def place_of(files: Sequence[str]) -> str:
    """The folder that holds all of the files; "" for none."""
    try:
        return os.path.commonpath([min(files), max(files)])
    except ValueError:
        return ""


def stamp(path: str) -> Stamp | None:
    """What changes when a file does: mode, size, times of content and metadata, inode; None: not there."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def shown(stamp: Stamp | None) -> str:
    """The stamp as text; "" for what is not there."""
    return "" if stamp is None else "{} {} {} {} {}".format(*stamp)


def own_files() -> list[str]:
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


def may_change_unseen(stamp: Stamp, read: int) -> bool:
    """Whether a file, read at that time at the earliest, may have had this stamp and another content."""
    mode, _, changed, touched, _ = stamp
    # A folder may be as new as the cache's own, which was just made in it.
    return max(changed, touched) >= read - (0 if S_ISDIR(mode) else TICK)


def stood(path: str, since: int) -> bool:
    """Whether a file, which was read after that time, holds now what it held then."""
    seen = stamp(path)
    return seen is not None and not may_change_unseen(seen, since)


def read(path: str) -> bytes | None:
    """What `write` wrote there; None where there is nothing, or anything else."""
    key = _key() if _is_own_folder(os.path.dirname(path)) else None
    data = None if key is None else _own(path, OTHERS)
    if key is None or data is None or data[:SIZE] != _seal(key, path, data[SIZE:]):
        return None
    return data[SIZE:]


def write(path: str, data: bytes) -> None:
    """Keep the data, whole or not at all, whoever else writes there at the time."""
    if len(data) > LARGEST - SIZE:
        return
    key = _key() or _new_key()
    if key is not None:
        _put(path, _seal(key, path, data) + data)


def make_folder(path: str) -> bool:
    """Make a folder for entries, that git leaves alone; False where entries cannot be kept in it."""
    try:
        if not os.path.isdir(path):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            os.mkdir(path, 0o700)
            with open(os.path.join(path, ".gitignore"), "w", encoding="utf-8") as file:
                file.write("*\n")
    except FileExistsError:
        pass  # another process was faster
    except OSError:
        return False
    return _is_own_folder(path)


def _seal(key: bytes, path: str, data: bytes) -> bytes:
    """The digest of an entry, its name included: one may not stand in for another."""
    name = os.fsencode(os.path.basename(path))
    return blake2b(b"%d:%s%s" % (len(name), name, data), digest_size=SIZE, key=key).digest()


def _key() -> bytes | None:
    """The user's key; one that anybody else may read is none."""
    here = user_folder()
    key = _own(os.path.join(here, KEY), 0o077) if _is_own_folder(here) else None
    return key if key is not None and len(key) == SIZE else None


def _new_key() -> bytes | None:
    here = user_folder()
    key = os.urandom(SIZE)
    return key if make_folder(here) and _put(os.path.join(here, KEY), key) else None


def _is_own_folder(path: str) -> bool:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return S_ISDIR(found.st_mode) and _is_own(found, OTHERS)


def _is_own(found: os.stat_result, forbidden: int) -> bool:
    """Whether it belongs to the user, and none of these modes is set. Windows keeps a user's folders by other means."""
    return os.name == "nt" or (found.st_uid == os.geteuid() and not S_IMODE(found.st_mode) & forbidden)


def _own(path: str, forbidden: int) -> bytes | None:
    """The content of a plain file of the user's own; a pipe or a link in its place is not waited for or followed."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        file = os.open(path, flags)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(file)
        if not (S_ISREG(found.st_mode) and found.st_size <= LARGEST and _is_own(found, forbidden)):
            return None
        with open(file, "rb", closefd=False) as stream:
            return stream.read(found.st_size)
    except OSError:
        return None
    finally:
        os.close(file)


def _put(path: str, data: bytes) -> bool:
    """Write a file that is the user's alone, whole or not at all."""
    temporary = f"{path}.{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(temporary, flags, 0o600)
    except (OSError, ValueError):
        return False
    try:
        with open(file, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
        return True
    except OSError:
        from contextlib import suppress  # no warm run comes here

        with suppress(OSError):
            os.unlink(temporary)
        return False
