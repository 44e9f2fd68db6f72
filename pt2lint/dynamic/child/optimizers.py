"""Optimizers that a file defines: made up with the parameters of a small model, which have gradients, to call `step`.

Each run starts from one that is made anew, as the first step differs from the later ones.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from .built import WIDTH, named_value
from .class_code import annotation_text
from .probes import as_before
from .targets import Later, Target
from .trouble import trouble_of

# Values of required constructor arguments by name; the first pattern that fits.
NAMED = [
    (r"betas", (0.9, 0.999)),
    (r"weight_decay|^wd$", 0.01),
    (r"momentum|beta|alpha|decay", 0.9),
    (r"lr|rate", 0.01),
    (r"eps", 1e-8),
]


def is_optimizer(value: Any) -> bool:
    """Whether it is a class of optimizers with a step of its own."""
    if not isinstance(value, type) or not issubclass(value, torch.optim.Optimizer):
        return False
    having = next(base for base in value.__mro__ if "step" in vars(base))
    return having.__module__.partition(".")[0] != "torch"


def loss() -> torch.Tensor:
    """A closure, for a step that wants one: the gradients are there already."""
    return torch.ones(())


def targets(name: str, cls: Any, tell: Callable[[str, str, str], None]) -> Iterator[Later]:
    """Its step as it is by default, and with other options than the default ones, as many as it runs with."""

    def by_default() -> Target | None:
        target = made_for_optimizer(name, cls, {})
        if isinstance(target, Target):
            return target
        tell(name, target, f"{name}(parameters).step, ()")
        return None

    def otherwise() -> Target | None:
        best: Target | None = None
        taken: dict[str, Any] = {}
        for option, value in _other_options(cls):
            target = made_for_optimizer(name, cls, {**taken, option: value})
            if isinstance(target, Target):
                best, taken[option] = target, value
        return best

    yield Later(f"{name}.step", by_default)
    if any(_other_options(cls)):
        yield Later(f"{name}.step otherwise", otherwise)


def made_for_optimizer(name: str, cls: Any, options: dict[str, Any]) -> Target | str:
    """Its step with the first parameters with which it runs, and a closure if it wants one; else what is in the way."""
    trouble = ""
    for dims in (range(5), (2,)):  # of the parameters: some take matrices alone
        make = functools.partial(_step_of, cls, options, dims)
        for arguments in ((), (loss,)):
            try:
                with as_before():
                    make(None, None)(*arguments)
            except (Exception, SystemExit) as error:
                trouble = trouble or f"no call of it ran, the nearest {trouble_of(error).told()}"
                continue
            given = ["parameters that have gradients", *(f"{key}={value}" for key, value in options.items())]
            how = "made-up inputs: " + ", ".join([*given, *(["a closure"] if arguments else [])])
            target = Target(
                f"{name}.step" + " otherwise" * bool(options), make(None, None), [(arguments, {})], how
            )
            target.again = make
            return target
    return trouble


def _other_options(cls: Any) -> Iterator[tuple[str, Any]]:
    """Flags the other way round, and what is zero by default by its name."""
    for name, parameter in inspect.signature(cls).parameters.items():
        if isinstance(parameter.default, bool):
            yield name, not parameter.default
        elif parameter.default == 0 and isinstance(parameter.default, (int, float)):
            if value := _by_name(name):
                yield name, value


def _step_of(
    cls: Any, options: dict[str, Any], dims: Sequence[int], device: str | None, dtype: torch.dtype | None
) -> Callable[..., Any]:
    """The step of an optimizer that is made anew, of parameters that are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(WIDTH, 4)).to(device, dtype)
        for name, parameter in [*model.named_parameters()]:
            parameter.grad = torch.randn_like(parameter)
            if parameter.dim() not in dims:
                setattr(model.get_submodule(name[0]), name[2:], None)
    step: Callable[..., Any] = cls(**_arguments(cls, model), **options).step
    return step


def _arguments(cls: Any, model: torch.nn.Module) -> dict[str, Any]:
    """What its constructor requires: the parameters in the form that the name says, and small numbers."""
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        if "optim" in name:  # one that it is around, or a class of which it makes one
            found[name] = torch.optim.SGD if found else torch.optim.SGD(model.parameters(), lr=0.01)
        elif "named" in name:
            found[name] = [*model.named_parameters()]
        elif re.match("model|net|module", name):
            found[name] = model
        elif not found:
            found[name] = [*model.parameters()]
        elif "bool" in annotation_text(parameter):
            found[name] = False
        else:
            found[name] = _by_name(name) or named_value(name, WIDTH)
    return found


def _by_name(name: str) -> Any:
    return next((value for pattern, value in NAMED if re.search(pattern, name)), None)
