"""How long a call and a training step take, eager and compiled, the first time and later: what fixes are worth."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from .compare import plain, silenced
from .probes import Prober, as_before, failure
from .result_pipe import Wire
from .targets import Target, module_of

WARM = 3  # calls before the clock runs: compilation, and recompilation with dynamic shapes
SECONDS = 0.5  # for one median
CALLS = 200


class Timer:
    """Sends the seconds of a forward call of each target, and of a training step (forward and backward, no
    optimizer) of what learns: `spec["time"]` names the backend."""

    def __init__(self, prober: Prober, spec: dict[str, Any], wire: Wire) -> None:
        self.prober, self.spec, self.wire = prober, spec, wire

    def time(self, target: Target) -> None:
        only = self.spec["time"]["only"]
        if only and target.name not in only:
            return
        self.wire.send("target", name=target.name, how=target.how, path=target.path, line=target.line)
        modes = [mode for mode in target.modes if mode == "call" or mode in self.spec["modes"]]
        mode = modes[-1]  # "eval" where there is the choice
        backend = self.spec["time"]["backend"]
        try:
            said: dict[str, Any] = {**self.both(target, mode, backend, False), "error": None}
            step = None
            if "train" in modes and trains(target):
                step = self.both(target, "train", backend, True)
            said["step"] = step
        except BaseException as error:
            said = {"eager": None, "compiled": None, "error": failure(error, self.spec["roots"])}
        self.wire.send("timed", target=target.name, mode=mode, **said)
        self.wire.send("target_done", name=target.name)

    def both(self, target: Target, mode: str, backend: str, backwards: bool) -> dict[str, float]:
        """Seconds: "eager", "cold" (the first compiled call) and "compiled"; with a backward pass or without."""
        _, eager = self.median(target, mode, lambda function: function, backwards)
        torch._dynamo.reset()
        cold, warm = self.median(
            target, mode, lambda function: torch.compile(function, backend=backend), backwards
        )
        return {"eager": eager, "cold": cold, "compiled": warm}

    def median(
        self, target: Target, mode: str, how: Callable[[Any], Any], backwards: bool
    ) -> tuple[float, float]:
        """Seconds of the first call, and the median of those after the warm-up."""
        device = self.prober.device
        fresh = target.fresh(mode, device)
        function = how(fresh)
        args, kwargs = target.arguments(0, device)
        took: list[float] = []
        first = 0.0
        with as_before(), torch.set_grad_enabled(mode != "eval"), silenced():
            for number in range(WARM + CALLS):
                start = time.perf_counter()
                result = function(*args, **kwargs)
                if backwards:
                    backward(result)
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                seconds = time.perf_counter() - start
                if backwards:
                    forget_gradients(fresh)
                first = first if number else seconds
                if number >= WARM:
                    took.append(seconds)
                if sum(took) > SECONDS:
                    break
        return first, statistics.median(took)


def trains(target: Target) -> bool:
    """Whether it is a module with parameters that learn."""
    module = module_of(target.function)
    return module is not None and any(one.requires_grad for one in module.parameters())


def backward(result: Any) -> None:
    """The backward pass of the mean of all results that have a gradient."""
    parts = [
        one for _, one in plain(result, keep=True) if isinstance(one, torch.Tensor) and one.requires_grad
    ]
    means = [one.float().mean() for one in parts if one.is_floating_point()]
    if means:
        torch.stack(means).sum().backward()


def forget_gradients(function: Any) -> None:
    module = module_of(function)
    for one in module.parameters() if module is not None else ():
        one.grad = None
