"""Which code it is: digests of the files that a run is about, and the commit they come from."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from pt2lint.dynamic.plan import find_files

MANY = 3  # files that are named where more differ


def digests(paths: Iterable[str], folder: str) -> dict[str, str]:
    """{path, relative to the folder where it lies in it: digest} of the Python files under the paths; those that cannot
    be read have ""."""
    found: dict[str, str] = {}
    for real in sorted(find_files([os.path.join(folder, path) for path in paths])):
        try:
            with open(real, "rb") as file:
                found[relative(real, folder)] = hashlib.sha256(file.read()).hexdigest()[:16]
        except OSError:
            found[relative(real, folder)] = ""
    return found


def relative(path: str, folder: str) -> str:
    """The path from the folder if it lies in it, `/` separated."""
    folder = os.path.realpath(folder).rstrip(os.sep) + os.sep
    path = path.removeprefix(folder) if path.startswith(folder) else path
    return path.replace(os.sep, "/")


def digest(files: Mapping[str, str]) -> str:
    """One digest of all."""
    told = "".join(f"{path} {files[path]}\n" for path in sorted(files))
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16]


@lru_cache(maxsize=64)
def differing(paths: tuple[str, ...], folder: str, wanted: str) -> dict[str, str] | None:
    """The digests of the files here where they are not those of the digest `wanted`, else None."""
    here = digests(paths, folder)
    return None if digest(here) == wanted else here


def difference(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Which files differ, in words; "" if none does."""
    named = sorted(path for path in {*one, *other} if one.get(path) != other.get(path))
    more = f" and {len(named) - MANY} more" if len(named) > MANY else ""
    return ", ".join(named[:MANY]) + more


def commit(folder: str) -> str:
    """The commit of the folder, with a + where files differ from it; "" where there is none."""
    found = []
    for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(
                ["git", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if done.returncode:
            return ""
        found.append(done.stdout.strip())
    return found[0][:12] + ("+" if found[1] else "")


def beside(names: Sequence[str]) -> list[str]:
    """The files that hold functions for inputs (`MODULE:FUNCTION`), where these are named by a path."""
    files = [name.rpartition(":")[0] for name in names]
    return [file for file in files if file.endswith(".py") and os.path.exists(file)]
