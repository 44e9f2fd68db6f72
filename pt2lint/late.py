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
    """`dataclass` as LibCST's classes need it: to load them takes half. Their methods are written when they are first
    called, most of them never. None is written that keeps an object from being changed: nobody here changes one, and to
    make one is faster without."""

    def made(cls: type[Any] | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: made(cls, **options)
        if not cls.__module__.startswith("libcst."):
            return dataclass(cls, **options)
        # A node brings some of them along.
        names = [name for name in ("__init__", "__repr__", "__eq__") if name not in vars(cls)]
        if options.pop("frozen", False) and "__eq__" in names:
            names.append("__hash__")
        dataclass(cls, **options | {"init": False, "repr": False, "eq": False})
        for name in names:
            setattr(cls, name, _later(name, dataclass))
        return cls

    return made


def _later(name: str, dataclass: Any) -> Any:
    """A method of a `dataclass` that is written when it is first called."""
    written: list[Any] = []

    def method(self: Any, *args: Any, **named: Any) -> Any:
        with _lock:
            if not written:
                # LibCST makes some classes anew.
                (owner,) = (kind for kind in type(self).__mro__ if vars(kind).get(name) is method)
                options = {
                    "repr": name == "__repr__",
                    "eq": name == "__eq__",
                    "unsafe_hash": name == "__hash__",
                }
                copy = dataclass(
                    type(owner.__name__, (owner,), {"__doc__": owner.__doc__ or name}), **options
                )
                written.append(vars(copy)[name])
                setattr(owner, name, written[0])
        return written[0](self, *args, **named)

    return method


def load_libcst_late() -> None:
    """From here on `import libcst` is free, and the first use of it is not."""
    if NAME not in sys.modules:
        spec = find_spec(NAME)
        if spec is not None:
            module = _Late(NAME)
            module.__spec__ = spec
            sys.modules[NAME] = module
