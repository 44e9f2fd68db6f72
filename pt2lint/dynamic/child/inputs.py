"""Find what to run: callables with sample inputs, from what the user or the file offers."""

from __future__ import annotations

import ast
import contextlib
import functools
import glob
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch

from .built import WIDTH, Arguments
from .placeholders import Placeholders
from .probes import as_before
from .targets import Later, Target, cloned, compiled_of


class BadInputs(Exception):
    """What was given as inputs cannot be used; the message says so in the user's words."""


FOLDERS = 5  # that are put on sys.path for what a file imports
LEFT_OUT = 20  # modules that cannot be imported
# Takes the packages that are not installed, and the modules that cannot be imported without them, with why.
Lack = Callable[[list[str], dict[str, str]], None]


def import_path(path: str) -> ModuleType:
    """Import a Python file: as the module of its package where it lies in one, so relative imports work; and as in the
    program that it is part of, with the folders on sys.path where what it imports lies."""
    path = os.path.realpath(path)
    for _ in range(FOLDERS):
        try:
            return _imported(path)
        except ModuleNotFoundError as error:
            name, dot, part = (error.name or "").partition(".")
            folder = _folder_with(os.path.join(name, part.partition(".")[0]) if dot else name, path)
            if folder is None or (folder in sys.path and not dot):
                raise
            if dot:
                _import_from(folder, name)
            else:
                sys.path.append(folder)
    return _imported(path)


def import_in_part(path: str, lack: Lack) -> ModuleType:
    """Import a Python file, with placeholders for packages that are not installed, and for modules of the project that
    cannot be imported; `lack` is given the names of both. Where the file cannot be imported so either, what is raised
    without."""
    path = os.path.realpath(path)
    try:
        return import_path(path)
    except Exception as first:
        module = None
        with Placeholders(lambda name: _folder_with(name.replace(".", os.sep), path) is not None) as made:
            again = isinstance(first, ModuleNotFoundError) or made.leave_out(first, path)
            for _ in range(LEFT_OUT if again else 0):
                try:
                    module = import_path(path)
                except Exception as error:
                    if made.leave_out(error, path) or made.answer_calls(error):
                        continue
                break
        if module is None:
            raise
        lack(made.names, made.left_out)
        return module


def _import_from(folder: str, name: str) -> None:
    """Import a package of a folder, of whose name another module was imported: one that lies beside the file, where the
    program does not look for it."""
    other, before = sys.modules.pop(name, None), list(sys.path)
    beside = os.path.dirname(getattr(other, "__file__", None) or "")
    sys.path[:] = [folder, *(each for each in before if each != beside)]
    try:
        module = importlib.import_module(name)
        if getattr(module, "__file__", None) is None:  # without an __init__.py it is looked for anew
            before.insert(0, folder)
    finally:
        sys.path[:] = before


def _folder_with(name: str, path: str) -> str | None:
    """The nearest folder around a file that has a module or a package of a name."""
    folder = path
    while name and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        inside = os.path.join(folder, name)
        if os.path.isfile(inside + ".py") or glob.glob(os.path.join(glob.escape(inside), "*.py")):
            return folder
    return None


def _dots(path: str) -> int:
    """How many folders outwards the relative imports of a file reach: 1 for `from .a import b`."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, ValueError, SyntaxError):
        return 0  # importing it says so
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _imported(path: str) -> ModuleType:
    folder, name = os.path.split(path)
    parts: list[str] = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
    outwards = _dots(path) - (name == "__init__.py")
    # A folder that a relative import reaches is a package without an __init__.py, too.
    while os.path.exists(os.path.join(folder, "__init__.py")) or 0 < len(parts) <= outwards:
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    dotted = ".".join(parts)
    known = sys.modules.get(dotted)
    package_fails: Exception | None = None
    if known is None and not any("." in part for part in parts):
        try:
            found = importlib.util.find_spec(dotted)
        except (ImportError, ValueError) as error:
            found, package_fails = None, error
        if found and found.origin and os.path.realpath(found.origin) == path:
            return importlib.import_module(dotted)
    elif known is not None and os.path.realpath(getattr(known, "__file__", None) or "") == path:
        return known
    # The name is taken (a user's copy.py) or has a dot (v1.5.py), or its package cannot be imported.
    spec = importlib.util.spec_from_file_location("pt2lint_verified_" + re.sub(r"\W", "_", dotted), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        if package_fails is not None and "no known parent package" in str(error):
            raise package_fails from None  # why there is none
        raise
    return module


def import_function(name: str) -> Any:
    """The function that MODULE:FUNCTION names; MODULE may be dotted or a path to a file."""
    module_name, colon, function_name = name.rpartition(":")
    if not colon or not module_name or not function_name:
        raise BadInputs(f"`{name}` is not of the form MODULE:FUNCTION")
    try:
        if module_name.endswith(".py") or os.sep in module_name:
            if not os.path.exists(module_name):
                raise BadInputs(f"`{name}`: there is no file {module_name}")
            module = import_path(module_name)
        else:
            module = importlib.import_module(module_name)
    except BadInputs:
        raise
    except Exception as error:
        raise BadInputs(
            f"`{name}`: importing {module_name} raised {type(error).__name__}: {error}"
        ) from error
    value: Any = module
    for part in function_name.split("."):
        if not hasattr(value, part):
            raise BadInputs(f"`{name}`: {module_name} has no {function_name}")
        value = getattr(value, part)
    return value


def targets_from(value: Any, how: str, name: str, module: Any) -> list[Target | Later]:
    """Targets from what an inputs function returned: (callable, args[, kwargs]) or a list of such, a dictionary of
    functions that return such, or arguments for what `module`, where the function stands, defines.

    Calls of one callable become one target with further inputs.
    """
    if is_zoo(value):
        return [
            Later(key, functools.partial(one_target, make, key, how, name)) for key, make in value.items()
        ]
    return [*made_targets(value, how, name, module)]


def is_zoo(value: Any) -> bool:
    """Whether a value is a dictionary of functions that make what is called, by the names of the targets."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(key, str) and key for key in value)
        and all(callable(make) and not isinstance(make, torch.nn.Module) for make in value.values())
    )


def one_target(make: Callable[[], Any], key: str, how: str, name: str) -> Target:
    """The target that a function of a dictionary makes: of one callable, with one call or several."""
    found = made_targets(make(), how, f"{name}[{key!r}]", None)
    if len(found) > 1:
        raise BadInputs(f"`{name}[{key!r}]` calls {len(found)} callables; give each a key of its own")
    found[0].name, found[0].named = key, True
    return found[0]


def made_targets(value: Any, how: str, name: str, module: Any) -> list[Target]:
    """Targets whose callables are there already."""
    items = [value] if is_call(value) else value
    if module is not None and not is_call(value):
        from . import bare_arguments

        if bare_arguments.are_arguments(value):
            return [bare_arguments.target_for(value, module, how, name)]
    if callable(items) or isinstance(items, (torch.Tensor, str, dict)) or not hasattr(items, "__iter__"):
        raise BadInputs(
            f"`{name}` should return (callable, args, kwargs) or a list of them, not {describe(value)}"
        )
    targets: list[Target] = []
    by_function: dict[int, Target] = {}
    for item in items:
        if not is_call(item):
            raise BadInputs(
                f"`{name}` should return (callable, args, kwargs) or a list of them; one is {describe(item)}"
            )
        function, args, kwargs = item[0], item[1], dict(item[2]) if len(item) > 2 and item[2] else {}
        args = tuple(args) if isinstance(args, (list, tuple)) else (args,)
        function = compiled_of(function) or getattr(function, "_orig_mod", function)
        if id(function) in by_function:
            by_function[id(function)].add((args, kwargs))
            continue
        target = Target(unique(label(function), targets), function, [(args, kwargs)], how)
        by_function[id(function)] = target
        targets.append(target)
    if not targets:
        raise BadInputs(f"`{name}` returned no call")
    return targets


def is_call(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and 2 <= len(value) <= 3
        and callable(value[0])
        and (len(value) == 2 or value[2] is None or isinstance(value[2], dict))
        and not (isinstance(value[1], (tuple, list)) and is_call(value[1]))
    )


def describe(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}".replace("builtins.", "")


def label(function: Any) -> str:
    """A callable's name as a user knows it."""
    if isinstance(function, torch.nn.Module):
        return type(function).__name__
    return getattr(function, "__qualname__", None) or type(function).__name__


def unique(name: str, targets: Iterable[Target | Later]) -> str:
    taken = {target.name for target in targets}
    number, result = 2, name
    while result in taken:
        result, number = f"{name} ({number})", number + 1
    return result


def from_function(name: str) -> list[Target | Later]:
    """Way 1 and 2: --inputs MODULE:FUNCTION, or a target named in pyproject.toml."""
    value = import_function(name)
    module = getattr(value, "__module__", "")
    if callable(value) and not is_call(value):
        value = value()
    return targets_from(value, f"inputs {name}", name, sys.modules.get(module))


def from_file(
    path: str, tell: Callable[[str, str], None], lack: Lack = lambda packages, left_out: None
) -> list[Target | Later]:
    """Way 3: what the file has already. Empty where it has nothing; `tell` is given the name of a class that cannot be
    built or asked, and what is in the way, `lack` the packages that are not installed."""
    module: Any = import_in_part(path, lack)
    targets: list[Target | Later] = []

    def own(name: str) -> Callable[..., Any] | None:
        value = vars(module).get(name)
        return value if callable(value) else None

    if own("example_inputs"):
        targets += targets_from(module.example_inputs(), "example_inputs()", "example_inputs()", module)
    elif own("get_inputs"):
        targets += from_get_inputs(module)
    for value in list(vars(module).values()):
        if (
            isinstance(value, type)
            and issubclass(value, torch.nn.Module)
            and value.__module__ == module.__name__
            and has_forward(value)
        ):
            try:
                target = from_class(value)
            except Exception as error:  # the others may do
                tell(value.__name__, f"{type(error).__name__}: {error}".removesuffix(": ").split("\n")[0])
                continue
            if target and all(target.name != other.name for other in targets):
                targets.append(target)
    return targets


def from_get_inputs(module: Any) -> list[Target]:
    """get_inputs() with get_init_inputs(): the module's `Model`, or its only nn.Module, built and called."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, torch.nn.Module)
        and value.__module__ == module.__name__
    ]
    model = vars(module).get("Model") or (classes[-1] if classes else None)
    if model is None:
        raise BadInputs("get_inputs() stands beside no nn.Module to call with its result")
    built = module.get_init_inputs() if callable(vars(module).get("get_init_inputs")) else []
    args, kwargs = split_arguments(built)
    function = model(*args, **kwargs)
    return [Target(model.__name__, function, [split_arguments(module.get_inputs())], "get_inputs()")]


def split_arguments(value: Any) -> tuple[tuple, dict]:
    """(args, kwargs) of a list of arguments, a dict of them, or [list, dict] as both."""
    if isinstance(value, dict):
        return (), dict(value)
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and isinstance(value[0], (list, tuple)) and isinstance(value[1], dict):
            return tuple(value[0]), dict(value[1])
        return tuple(value), {}
    return (value,), {}


def from_class(cls: Any) -> Target | None:
    """Lightning's example_input_array or Hugging Face's dummy_inputs, if the class builds by itself."""
    for attribute in ("example_input_array", "dummy_inputs"):
        given = any(attribute in vars(base) for base in cls.__mro__ if base.__module__ == cls.__module__)
        if attribute == "example_input_array" and not given:
            given = attribute in names_assigned(cls)
        if not given:
            continue
        config = getattr(cls, "config_class", None)
        if config is None:
            return runnable(cls, attribute, attribute)
        with contextlib.suppress(Exception):  # all is run a dozen times: better a small one
            build = Arguments(cls, WIDTH, small=True).build
            if target := runnable(build, attribute, f"{attribute}, of a small configuration"):
                return target
        return runnable(lambda: cls(cls.config_class()), attribute, attribute)
    return None


def runnable(build: Callable[[], Any], attribute: str, how: str) -> Target | None:
    """A module with its inputs, which are seen to run: a class may have them from one that takes others. None where
    building it needs arguments that nobody gave, or there are none."""
    with as_before():
        try:
            instance = build()
        except TypeError:
            return None
        value = getattr(instance, attribute, None)
        if value is None:
            return None
        call = split_arguments(value)
        target = Target(label(instance), instance, [call], how)
        args, kwargs = cloned(call)
        with torch.no_grad():
            target.fresh("eval", None)(*args, **kwargs)
    return target


def has_forward(cls: Any) -> bool:
    """Whether a class of modules can be called: it, or what it is made of, has a forward."""
    return vars(cls).get("forward", cls.forward) is not torch.nn.Module.forward


def names_assigned(cls: type) -> tuple[str, ...]:
    """Attribute names that the class's __init__ mentions."""
    code = getattr(vars(cls).get("__init__"), "__code__", None)
    return code.co_names if code else ()
