"""How long a call takes, eager and compiled: for the line on what fixes are worth."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from .compare import silenced
from .probes import Prober, as_before, failure
from .result_pipe import Wire
from .targets import Target

WARM = 3  # calls before the clock runs: compilation, and recompilation with dynamic shapes
SECONDS = 0.5  # for one median
CALLS = 200


class Timer:
    """Sends the median seconds of a forward call of each target: `spec["time"]` names the backend."""

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
            _, eager = self.median(target, mode, lambda function: function)
            torch._dynamo.reset()
            cold, warm = self.median(target, mode, lambda function: torch.compile(function, backend=backend))
            said: dict[str, Any] = {"eager": eager, "cold": cold, "compiled": warm, "error": None}
        except BaseException as error:
            said = {"eager": None, "compiled": None, "error": failure(error, self.spec["roots"])}
        self.wire.send("timed", target=target.name, mode=mode, **said)
        self.wire.send("target_done", name=target.name)

    def median(self, target: Target, mode: str, how: Callable[[Any], Any]) -> tuple[float, float]:
        """Seconds of the first call, and the median of those after the warm-up."""
        device = self.prober.device
        function = how(target.fresh(mode, device))
        args, kwargs = target.arguments(0, device)
        took: list[float] = []
        first = 0.0
        with as_before(), torch.set_grad_enabled(mode != "eval"), silenced():
            for number in range(WARM + CALLS):
                start = time.perf_counter()
                function(*args, **kwargs)
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                seconds = time.perf_counter() - start
                first = first if number else seconds
                if number >= WARM:
                    took.append(seconds)
                if sum(took) > SECONDS:
                    break
        return first, statistics.median(took)
