"""Arguments without a callable: find the module of the file that takes them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .inputs import BadInputs, describe, label, split_arguments
from .probes import as_before
from .targets import Call, Target, cloned, compiled_of, tensors_of


def target_for(value: Any, module: Any, how: str, name: str) -> Target:
    """The file's module, or else its compiled function, with what `name` returned as its arguments.

    A tuple or list is the positional arguments, a dictionary the keyword arguments; where the module does not take
    them so, the whole is its only argument, or each item a call of its own. The first that runs is taken.
    """
    functions, trouble = callables_of(module)
    fitting: list[tuple[Callable[..., Any], list[Call]]] = [
        (function, calls)
        for function in functions
        for calls in readings(value)
        if all(binds(function, call) for call in calls)
    ]
    for function, calls in fitting:
        if all(runs(function, call) for call in calls):
            break
    else:
        if not fitting:
            raise BadInputs(f"`{name}` gives {shown(value)}, " + refusal(functions, trouble))
        function, calls = fitting[0]  # its probes tell what it raises
    return Target(label(function), function, calls, f"{how}, given to {label(function)}")


def refusal(functions: list[Callable[..., Any]], trouble: str) -> str:
    """Why no callable of the file takes the arguments, and what to return."""
    if functions:
        why = f"which {' and '.join(label(function) for function in functions)} cannot be called with"
    else:
        why = trouble or "and the file defines no module to call with it"
    return f"{why}; return (callable, args, kwargs), or a list of them"


def callables_of(module: Any) -> tuple[list[Callable[..., Any]], str]:
    """What a file may mean to be called, likeliest first, and which class could not be built.

    Modules come before compiled functions, and of modules the one that holds most of the file's other classes.
    """
    values = [value for value in vars(module).values() if not inspect.ismodule(value)]
    classes = [value for value in values if isinstance(value, type) and value.__module__ == module.__name__]
    classes = [value for value in classes if issubclass(value, torch.nn.Module)]
    found: list[torch.nn.Module] = [
        getattr(value, "_orig_mod", value) for value in values if of(value, classes)
    ]
    trouble = ""
    built = module.get_init_inputs() if callable(vars(module).get("get_init_inputs")) else []
    args, kwargs = split_arguments(built)
    for cls in classes:
        if any(type(one) is cls for one in found):
            continue
        try:
            found.append(cls(*args, **kwargs))
        except Exception as error:
            trouble = f"and {cls.__name__} cannot be built without more ({type(error).__name__}: {error})"
    order = {cls: number for number, cls in enumerate(classes)}

    def rank(one: torch.nn.Module) -> tuple[int, int]:
        held = {type(part) for part in one.modules()} & order.keys()
        return -len(held), -order.get(type(one), -1)

    return [*sorted(found, key=rank), *filter(None, map(compiled_of, values))], trouble


def of(value: Any, classes: list[type]) -> bool:
    """Whether a value is a module of one of the file's classes, perhaps compiled."""
    return isinstance(getattr(value, "_orig_mod", value), tuple(classes)) and not isinstance(value, type)


def readings(value: Any) -> Iterator[list[Call]]:
    """The calls that a value may stand for."""
    yield [split_arguments(value)]
    if isinstance(value, (tuple, list, dict)):
        yield [((value,), {})]
    if isinstance(value, (tuple, list)):
        yield [split_arguments(item) for item in value]


def binds(function: Callable[..., Any], call: Call) -> bool:
    try:
        signature = inspect.signature(function.forward if isinstance(function, torch.nn.Module) else function)
        signature.bind(*call[0], **call[1])
    except (TypeError, ValueError):
        return False
    return True


def runs(function: Callable[..., Any], call: Call, gradients: bool = False) -> bool:
    """Whether a copy of the callable takes the call, in train or in eval mode, perhaps with gradients."""
    for mode in (True, False):
        try:
            with as_before(), torch.set_grad_enabled(gradients):
                tried = copy.deepcopy(function)
                if isinstance(tried, torch.nn.Module):
                    tried.train(mode)
                args, kwargs = cloned(call)
                tried(*args, **kwargs)
                return True
        except Exception:
            continue
    return False


def are_arguments(value: Any) -> bool:
    """Whether a value holds tensors and no callable: arguments that nobody said whose."""
    items = list(value.values()) if isinstance(value, dict) else value
    nested = items if isinstance(items, (list, tuple)) else [items]
    callables = any(
        callable(part) for item in nested for part in (item if isinstance(item, (list, tuple)) else [item])
    )
    return bool(tensors_of(value)) and not callables


def shown(value: Any) -> str:
    """A value in words: the types of its items."""
    if isinstance(value, (tuple, list)):
        kinds = [describe(item).rpartition(".")[2] for item in value]
        return f"({', '.join(dict.fromkeys(kinds))}, ...)" if len(kinds) > 3 else f"({', '.join(kinds)})"
    return describe(value).rpartition(".")[2]
