"""Placeholders for packages that are not installed, so that what does not need them is run.

A placeholder can be imported, subclassed, subscripted and named in an annotation; at the top level of a file it can be
called, and be a decorator. Whatever uses one otherwise raises `NotInstalled`: so does a function that one decorates,
as nobody knows what would have become of it. Only an import whose failure nobody would have caught gets one: code that
asks whether a package is there is told the truth.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any, Protocol

# What torch has, and what it looks for to see what it can do.
OF_TORCH = {"torch", "torchgen", "functorch", "triton", "numpy"}
CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_HERE = os.path.dirname(__file__)
_answering: list[bool] = []  # not empty while a file is imported that calls placeholders in functions


class NotInstalled(ImportError):
    """Something of a package that is not installed was used."""


def _not_installed(name: str) -> NotInstalled:
    return NotInstalled(f"it uses {name}, which is not installed")


class _Kind(type(Protocol)):  # type: ignore[misc]
    """The class of placeholders, which are classes, so that others can be made of them, and of protocols besides."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        decorated = args[0] if len(args) == 1 and not kwargs else None
        return _called(cls._name, sys._getframe(1), decorated)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or name == "_name":
            raise AttributeError(name)
        return _placeholder(f"{cls._name}.{name}")

    # Which ABCMeta has, and packages have their own of.
    register = property(lambda cls: _placeholder(f"{cls._name}.register"))

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        raise _not_installed(cls._name)

    def __repr__(cls) -> str:
        return f"<a placeholder for {cls._name}>" if "_name" in vars(cls) else super().__repr__()


def _placeholder(name: str, **body: Any) -> Any:
    body |= {
        "_name": name,
        "_is_protocol": False,
        "__init_subclass__": classmethod(lambda cls, **options: None),
    }
    return _Kind(name.rpartition(".")[2], (), body)


def _raising(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def raising(*args: Any, **kwargs: Any) -> Any:
        return _called(name, sys._getframe(1), args[-1] if args else None)  # a method may be what decorates

    return raising


def _called(name: str, frame: types.FrameType, decorated: Any) -> Any:
    """What a call in a frame gives, perhaps as a decorator; where that is a function, it raises."""
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and not _answering:
        raise _not_installed(name)
    if isinstance(decorated, type):
        return decorated
    if inspect.isfunction(decorated):
        return _raising(name, decorated)
    # A package may put what it calls in its own place: sys.modules[__name__] = Lazy(__name__, ...)
    package = {key: frame.f_globals[key] for key in ("__path__", "__spec__") if "__path__" in frame.f_globals}
    return _placeholder(f"{name}(...)", **package)


def name_behind(cls: Any) -> str | None:
    """The name of the placeholder that a class is, or is made of."""
    return getattr(cls, "_name", None) if isinstance(cls, _Kind) else None


class Placeholders(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Within the block modules that cannot be found are placeholders; `names` are their packages, or their own
    where the package is there without them (what its build makes: a version, an extension); `left_out` own modules
    that cannot be imported, with why. `elsewhere` says of a package that it lies where it can still be found. After
    the block nobody can import them: torch's own questions, and those of code that is called, get a true answer."""

    def __init__(self, elsewhere: Callable[[str], bool]) -> None:
        self.names: list[str] = []
        self.left_out: dict[str, str] = {}
        self.elsewhere = elsewhere

    def __enter__(self) -> Placeholders:
        sys.meta_path.append(self)
        self.asked, importlib.util.find_spec = importlib.util.find_spec, self.answer
        return self

    def __exit__(self, *_: object) -> None:
        _answering.clear()
        importlib.util.find_spec = self.asked
        sys.meta_path.remove(self)
        for name in [*filter(self.is_of, sys.modules)]:
            del sys.modules[name]

    def is_of(self, name: str) -> bool:
        return any(name == each or name.startswith(each + ".") for each in (*self.names, *self.left_out))

    def leave_out(self, error: Exception, path: str) -> bool:
        """Have a placeholder for the module in whose code an import of a file ended, nothing in place of what a package
        that the file lies in does besides; False where that is the file itself."""
        for frame in reversed([frame for frame, _ in traceback.walk_tb(error.__traceback__)]):
            file, name = os.path.realpath(frame.f_code.co_filename), frame.f_globals.get("__name__")
            if frame.f_code.co_name != "<module>" or "site-packages" in file or not name:
                continue
            around = os.path.basename(file) == "__init__.py" and path.startswith(
                os.path.dirname(file) + os.sep
            )
            if file == path or name.partition(".")[0] in OF_TORCH:
                return False
            left_out = f"{name}.__init__" if around else name
            if left_out in self.left_out:
                return False
            self.left_out[left_out] = f"{type(error).__name__}: {error}".split("\n")[0]
            spec = importlib.machinery.ModuleSpec(name, self)
            sys.modules[name] = module = types.ModuleType(name) if around else self.create_module(spec)
            vars(module)["__path__"] = [os.path.dirname(file)] if around else []
            return True
        return False

    def answer_calls(self, error: Exception) -> bool:
        """For the rest of the import have calls in functions, too, give placeholders: a file makes its tables with
        them. False where that was done already, or the error is about something else."""
        new = isinstance(error, NotInstalled) and not _answering
        _answering.extend([True] * new)
        return new

    def answer(self, name: str, package: str | None = None) -> importlib.machinery.ModuleSpec | None:
        """What code is told that asks whether a module is there."""
        return None if self.is_of(name) else self.asked(name, package)

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = name.partition(".")[0]
        if not self.is_of(name):
            if package in OF_TORCH or self.elsewhere(name) or not _would_fail():
                return None
            self.names.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        whole = _placeholder(spec.name)
        module.__getattr__ = functools.partial(getattr, whole)  # type: ignore[method-assign]
        vars(module)["__version__"] = "999.0"  # files ask for the newest at their top level
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _would_fail() -> bool:
    """Whether it is an import statement that asks for the module, and nothing around it catches what it raises."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib._bootstrap"):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(
        "importlib"
    ):  # import_module, find_spec
        return False
    while frame is not None:
        file = frame.f_code.co_filename
        if os.path.dirname(file) == _HERE:
            return True
        if not file.startswith("<frozen") and frame.f_lineno in _guarded(file):
            return False
        frame = frame.f_back
    return False


@functools.cache
def _guarded(file: str) -> set[int]:
    """The lines of a file at which an import that fails does not end what runs."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Try, ast.With)) and _spares(node):
            for each in node.body:
                found.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return found


def _spares(node: ast.Try | ast.With) -> bool:
    """Whether what an import in the body raises goes no further."""
    if isinstance(node, ast.With):
        return any("suppress" in ast.unparse(each.context_expr) for each in node.items)
    kinds = [each.type for each in node.handlers]
    named = {
        ast.unparse(each).rpartition(".")[2]
        for kind in kinds
        if kind
        for each in ast.walk(kind)
        if isinstance(each, ast.expr)
    }
    return None in kinds or bool(named & CATCHES)
