#!/usr/bin/env python3
"""What repairs are worth, and whether they are proven, on an accelerator: models of real size, before and after.

    device_worth.py lint FILE                   # where pt2lint is installed: the fixes, as JSON
    device_worth.py run FILE [--device cuda] [--only MODEL...] [--workers 4] [--skip proof|time]

`run` needs torch and this repository alone. It proves the fixes of device_models.py on the device (`--verify` as a user
runs it), then times each model in processes of their own, whose caches are empty: eager, compiled as it was, compiled
with the proven fixes, and these with CUDA graphs (mode "reduce-overhead"); a forward call without gradients, and a
training step without an optimizer (forward and backward). Cold is the first call, warm the median of 50 in
milliseconds. Processes compile side by side and take turns with what is warm. It prints what was proven on what
grounds, and two tables.
"""

import argparse
import fcntl
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = HERE / "device_models.py"
sys.path.insert(0, str(HERE.parent))
CALLS = 50
WAYS = (("eager", False), ("compiled", False), ("compiled", True), ("reduce-overhead", True))


def lint_models(target):
    """Write the findings of the models with their fixes; the path stays out of it."""
    from pt2lint.project.config import Settings
    from pt2lint.static.engine import lint

    found = [finding.as_json() for finding in lint([str(MODELS)], Settings()).findings]
    target.write_text(json.dumps(found, indent=1).replace(json.dumps(str(MODELS)), '"MODELS"'))
    print(f"{len(found)} findings in {target}")


def read_findings(file):
    from pt2lint.finding import Edit, Finding, Fix, Step

    found = []
    for one in json.loads(file.read_text().replace('"MODELS"', json.dumps(str(MODELS)))):
        fixes = tuple(
            Fix(
                **{
                    **fix,
                    "edits": tuple(Edit(**edit) for edit in fix["edits"]),
                    "traits": tuple(fix["traits"]),
                }
            )
            for fix in one.pop("fixes")
        )
        flow = tuple(Step(**step) for step in one.pop("flow"))
        found.append(Finding(**{**one, "when": tuple(one["when"])}, fixes=fixes, flow=flow))
    return found


def classes():
    spec = importlib.util.spec_from_file_location("models_here", MODELS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [model.__name__ for model in module.MODELS]


def prove_one(name, findings, given):
    """(proof, seconds): --verify and the proof of the fixes of one model, as the command line does them."""
    from pt2lint.dynamic import VerifyOptions, verify
    from pt2lint.fixes.proof import prove

    start = time.perf_counter()
    options = VerifyOptions(
        inputs=(f"{MODELS}:inputs_{name}",),
        python=sys.executable,
        device=given.device,
        timeout=240,
        further=False,
        modes=("train",),
    )
    judged = verify(findings, [str(MODELS)], options)
    proof = prove(judged.findings, judged.events, [str(MODELS)], options)
    return replace(proof, notes=[*map(str, judged.problems), *proof.notes]), time.perf_counter() - start


def time_one(file, name, how, device):
    """In a process of its own: print the seconds of a call as JSON."""
    import torch

    spec = importlib.util.spec_from_file_location("timed_models", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    said = {}
    for step in ("forward", "train"):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        model, args = module.inputs(getattr(module, name))
        model = model.to(device).train(step == "train")
        args = [arg.to(device) for arg in args]
        options = {"mode": how} if how == "reduce-overhead" else {}
        function = model if how == "eager" else torch.compile(model, **options)

        def call(function=function, model=model, args=args, step=step):
            if how == "reduce-overhead":
                torch.compiler.cudagraph_mark_step_begin()
            result = function(*args)
            if step == "train":
                outs = result if isinstance(result, tuple) else (result,)
                sum(out.float().mean() for out in outs).backward()
                for parameter in model.parameters():
                    parameter.grad = None
            if device != "cpu":
                torch.cuda.synchronize()

        with torch.set_grad_enabled(step == "train"):
            start = time.perf_counter()
            call()
            cold = time.perf_counter() - start
            for _ in range(4):
                call()
            took = []
            with open(os.environ["TURN"], "w") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                for _ in range(CALLS if device != "cpu" else 5):
                    start = time.perf_counter()
                    call()
                    took.append(time.perf_counter() - start)
        counters = torch._dynamo.utils.counters
        said[step] = {
            "cold": cold, "warm": statistics.median(took) * 1e3,
            "graphs": counters["stats"].get("unique_graphs", 0),
        }  # fmt: skip
    print(json.dumps(said))


def timed(name, folder, how, fixed, device):
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "TRITON_CACHE_DIR": cache, "TURN": str(folder / "turn"),
            "TORCHINDUCTOR_COMPILE_THREADS": "4",
        }  # fmt: skip
        file = folder / name / "device_models.py" if fixed else MODELS
        command = [sys.executable, str(HERE / "device_worth.py"), "time", str(file), name, how, device]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
    if done.returncode:
        print(
            f"{name} {how} {'fixed' if fixed else 'as it was'}: {done.stderr.strip()[-300:]}", file=sys.stderr
        )
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(name, each, step):
    def cell(how, fixed, key, form):
        said = each.get((how, fixed))
        return form.format(said[step][key]) if said else "-"

    return (
        f"| {name} | {cell('compiled', False, 'graphs', '{}')} to {cell('compiled', True, 'graphs', '{}')} "
        f"| {cell('compiled', False, 'cold', '{:.1f}')} to {cell('compiled', True, 'cold', '{:.1f}')} "
        f"| {cell('eager', False, 'warm', '{:.2f}')} | {cell('compiled', False, 'warm', '{:.2f}')} "
        f"| {cell('compiled', True, 'warm', '{:.2f}')} | {cell('reduce-overhead', True, 'warm', '{:.2f}')} |"
    )


def run(given):
    from pt2lint.fixes.edit import apply_edits, choose

    names = given.only or classes()
    findings = read_findings(given.file)
    fixed = {}
    if "proof" not in given.skip:
        with ThreadPoolExecutor(given.workers) as pool:
            tried = pool.map(lambda name: (name, *prove_one(name, findings, given)), names)
            for name, proof, seconds in tried:
                fixed[name] = proof.findings
                print(f"\n## {name}: proof took {seconds:.0f} s")
                for note in proof.notes:
                    print("  " + note.replace(str(MODELS), MODELS.name), flush=True)
    if "time" in given.skip:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            # Without a proof: the first repair of each finding.
            chosen = choose(fixed.get(name, findings), "unsafe", proven_only=name in fixed)
            text = apply_edits(
                MODELS.read_text(), [edit for edits in chosen.edits.values() for edit in edits]
            )
            (Path(folder) / name).mkdir()
            (Path(folder) / name / "device_models.py").write_text(text)
        wanted = [
            (name, how, after)
            for name in names
            for how, after in WAYS
            if how != WAYS[3][0] or given.device != "cpu"
        ]
        with ThreadPoolExecutor(given.workers) as pool:
            found = list(
                pool.map(lambda one: timed(one[0], Path(folder), one[1], one[2], given.device), wanted)
            )
    results = {}
    for (name, how, after), said in zip(wanted, found, strict=True):
        results.setdefault(name, {})[how, after] = said
    for step in ("forward", "train"):
        what = "a forward call" if step == "forward" else "a training step"
        print(f"\n| {what} | graphs | cold, s | eager, ms | compiled before | after | after, CUDA graphs |")
        print("|---|---|---|---|---|---|---|")
        for name in names:
            print(row(name, results[name], step), flush=True)


def main():
    if sys.argv[1:2] == ["time"]:
        time_one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("lint", "run"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--skip", nargs="*", default=[], choices=("proof", "time"))
    given = parser.parse_args()
    lint_models(given.file) if given.what == "lint" else run(given)


if __name__ == "__main__":
    main()
