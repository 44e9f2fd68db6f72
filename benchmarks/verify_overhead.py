#!/usr/bin/env python3
"""Measure what --verify costs: verify_overhead.py NAME...

For each model of rebuild_models.py: the wall time of verifying it, against that of a process that only compiles it in
default mode (in train and in eval mode, as --verify does), both with interpreter start, imports and building.
"""

import subprocess
import sys
import time
from pathlib import Path

from pt2lint.dynamic import VerifyOptions, verify

MODELS = Path(__file__).with_name("rebuild_models.py")
ALONE = """
import copy, sys, time
sys.path.insert(0, sys.argv[1])
import rebuild_models, torch
model, args, kwargs = getattr(rebuild_models, sys.argv[2])()
start = time.perf_counter()
for mode in ("train", "eval"):
    torch._dynamo.reset()
    with torch.set_grad_enabled(mode == "train"):
        torch.compile(copy.deepcopy(model).train(mode == "train"), backend="eager")(*args, **kwargs)
print(time.perf_counter() - start)
"""


def main():
    for name in sys.argv[1:]:
        start = time.perf_counter()
        command = [sys.executable, "-c", ALONE, str(MODELS.parent), name]
        compiling = float(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]
        )
        alone = time.perf_counter() - start
        start = time.perf_counter()
        result = verify([], [str(MODELS)], VerifyOptions(inputs=(f"{MODELS}:{name}",)))
        verifying = time.perf_counter() - start
        probes = {}
        for run in result.events.runs:
            probes[run.probe] = probes.get(run.probe, 0) + (run.seconds or 0)
        said = ", ".join(f"{probe} {seconds:.1f}" for probe, seconds in probes.items())
        print(
            f"{name}: alone {alone:.1f} s, verify {verifying:.1f} s: {verifying / alone:.2f} times; "
            f"compiling alone {compiling:.1f} s, probes {sum(probes.values()):.1f} s ({said})",
            flush=True,
        )


if __name__ == "__main__":
    main()
