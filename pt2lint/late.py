"""LibCST, loaded when something of it is first used: most files hold nothing that a rule has to look at, and to load
it takes half the time of linting one."""

from __future__ import annotations

import abc
import dataclasses
import sys
from _thread import RLock
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NAME = "libcst"


class _Late(ModuleType):
    """Stands for a module until one of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        with _lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            made, dataclasses.dataclass = dataclasses.dataclass, _light(dataclasses.dataclass)
            base, abc.ABC = abc.ABC, _Plain  # type: ignore[misc, assignment]
            try:
                vars(self).update(vars(import_module(self.__name__)))
            finally:
                dataclasses.dataclass = made
                abc.ABC = base  # type: ignore[misc]
        return getattr(import_module(self.__name__), name)


_lock = RLock()


class _Plain:
    """What the classes of LibCST's nodes have for `abc.ABC`, which has Python code answer each `isinstance`: half a
    million times for 53 files."""

    __slots__ = ()


def _light(dataclass: Any) -> Any:
    """`dataclass` as the classes of LibCST's nodes need it: to load them takes two fifths less. What it writes for
    them, they have already, but for two methods that keep each node from being changed: nobody here changes one, and to
    make one is faster without."""

    def made(cls: type[Any] | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: made(cls, **options)
        if cls.__module__.startswith("libcst._nodes.") and {"__eq__", "__repr__"} <= vars(cls).keys():
            options |= {"eq": False, "repr": False, "frozen": False}
        return dataclass(cls, **options)

    return made


def load_libcst_late() -> None:
    """From here on `import libcst` is free, and the first use of it is not."""
    if NAME not in sys.modules:
        spec = find_spec(NAME)
        if spec is not None:
            module = _Late(NAME)
            module.__spec__ = spec
            sys.modules[NAME] = module
