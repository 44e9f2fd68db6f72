#!/usr/bin/env python3
"""Measure what --verify costs: verify_overhead.py NAME... [--python PYTHON] [--recipes FILE]

For each model of rebuild_models.py: the time of verifying it, against that of a process that only compiles it in
default mode (in train and in eval mode, as --verify does), both with interpreter start, imports and building. Wall
time and processor time (of the process and its children) are printed; the latter is the steadier one on a busy machine.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from pt2lint.dynamic import VerifyOptions, verify

MODELS = Path(__file__).with_name("rebuild_models.py")
ALONE = """
import copy, sys
sys.path.insert(0, sys.argv[1])
import rebuild_models, torch
model, args, kwargs = getattr(rebuild_models, sys.argv[2])()
for mode in ("train", "eval"):
    torch._dynamo.reset()
    with torch.set_grad_enabled(mode == "train"):
        torch.compile(copy.deepcopy(model).train(mode == "train"), backend="eager")(*args, **kwargs)
"""


def measured(work):
    """(wall seconds, processor seconds of children, what `work` returned)."""

    def used():
        said = resource.getrusage(resource.RUSAGE_CHILDREN)
        return said.ru_utime + said.ru_stime

    start, before = time.perf_counter(), used()
    result = work()
    return time.perf_counter() - start, used() - before, result


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="+")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--recipes")
    options = parser.parse_args()
    if options.recipes:
        os.environ["RECIPES"] = os.path.abspath(options.recipes)
    total = {"alone": [0.0, 0.0], "verify": [0.0, 0.0]}
    for name in (name.replace(".", "__") for name in options.names):
        command = [options.python, "-c", ALONE, str(MODELS.parent), name]
        wall, cpu, _ = measured(lambda: subprocess.run(command, capture_output=True, check=True))  # noqa: B023
        wanted = VerifyOptions(inputs=(f"{MODELS}:{name}",), python=options.python)
        wall_verify, cpu_verify, result = measured(lambda: verify([], [str(MODELS)], wanted))  # noqa: B023
        probes = {}
        for run in result.events.runs:
            probes[run.probe] = probes.get(run.probe, 0) + (run.seconds or 0)
        said = ", ".join(f"{probe} {seconds:.1f}" for probe, seconds in probes.items())
        print(
            f"{name}: alone {wall:.1f} s ({cpu:.1f} s processor), verify {wall_verify:.1f} s ({cpu_verify:.1f} s): "
            f"{wall_verify / wall:.2f} times ({cpu_verify / cpu:.2f}); wall seconds by probe: {said}",
            flush=True,
        )
        for key, amounts in (("alone", (wall, cpu)), ("verify", (wall_verify, cpu_verify))):
            total[key] = [one + other for one, other in zip(total[key], amounts, strict=True)]
    ratios = [one / other for one, other in zip(total["verify"], total["alone"], strict=True)]
    print(f"all {len(options.names)}: {ratios[0]:.2f} times in wall time, {ratios[1]:.2f} in processor time")


if __name__ == "__main__":
    main()
