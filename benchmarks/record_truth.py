#!/usr/bin/env python3
"""Record where Dynamo really breaks, and under which conditions: training or not, which dtype, autocast.

    record_truth.py OUT.json SOURCE_ROOT --python PYTHON --models NAME... [--recipes FILE] [--timeout SECONDS]

Each model that rebuild_models.py can build is compiled (backend "eager", default mode) and called twice under each of
CONDITIONS, in a process of its own. OUT.json has the form that score.py reads, with two more keys: a break's "under"
lists the conditions that it was seen under, and each file's "under" maps a condition to the lines traced under it. So a
finding that names conditions can be held against the runs in which they held. A model that cannot be built, or does
not run eagerly under a condition, is left out and named. Runs that OUT.json already has are not repeated.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHILD = HERE.parent / "pt2lint" / "dynamic"
DTYPES = ("float32", "float16", "bfloat16", "autocast")
CONDITIONS = tuple(f"{mode},{dtype}" for mode in ("eval", "train") for dtype in DTYPES)


def cast(value, dtype):
    """The same inputs with floating-point tensors in another dtype."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(cast(each, dtype) for each in value)
    if isinstance(value, dict):
        return {key: cast(each, dtype) for key, each in value.items()}
    return value


def one(name, condition, root):
    """What Dynamo did with one model under one condition."""
    sys.path[:0] = [str(CHILD), str(HERE)]
    import contextlib

    import rebuild_models
    import torch
    from child import log_listener

    torch._dynamo.reset()
    mode, dtype = condition.split(",")
    model, args, inputs = getattr(rebuild_models, name.replace(".", "__"))()
    model.train(mode == "train")
    around = contextlib.nullcontext
    if dtype == "autocast":

        def around():
            return torch.autocast("cpu", torch.bfloat16)

    elif dtype != "float32":
        model = model.to(getattr(torch, dtype))
        args, inputs = cast(args, getattr(torch, dtype)), cast(inputs, getattr(torch, dtype))
    try:
        with around():
            model(*args, **inputs)
    except Exception as error:
        return {"left_out": f"{type(error).__name__}: {error}"[:200]}
    with log_listener.listening([root]) as records, around():
        compiled, raised = torch.compile(model, backend="eager"), ""
        try:
            for _ in range(2):
                compiled(*args, **inputs)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"[:200]
    traced = {}
    for skipped in (False, True):
        for path, lines in records.lines(skipped).items():
            traced.setdefault(os.path.relpath(path, root), set()).update(lines)
    return {
        "raised": raised,
        "traced": {path: sorted(lines) for path, lines in traced.items()},
        "breaks": [
            [*place, fields.get("graph_break"), fields.get("reason", "")[:160]]
            for kind, fields in records.all_events()
            if kind == "break" and (place := innermost(fields, traced, root))
        ],
    }


def innermost(fields, traced, root):
    """(path, line) of the innermost traced frame below the root at which a break lies."""
    places = [(fields["path"], fields["line"]), *((f[0], f[1]) for f in reversed(fields.get("stack", ())))]
    for path, line in places:
        relative = os.path.relpath(path, root)
        if line in traced.get(relative, ()):
            return relative, line
    return None


def run(python, name, conditions, root, timeout):
    """{condition: what was seen} of one model."""
    command = [python, __file__, "--one", name, root, *conditions]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, env=environment, check=False
        )
        out, why = (
            done.stdout,
            (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1][:200],
        )
    except subprocess.TimeoutExpired as error:
        out = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        why = f"no answer within {timeout} s"
    said = dict(
        json.loads(line[2:]) for line in out.splitlines() if line.startswith("@@") and line.endswith("]")
    )
    return {condition: said.get(condition, {"left_out": why}) for condition in conditions}


def fold(runs):
    """The runs as {"files": ...}, in the form that score.py reads."""
    files = {}
    for key, seen in runs.items():
        name, condition = key.rsplit(" ", 1)
        for path, lines in seen.get("traced", {}).items():
            file = files.setdefault(path, {"traced": set(), "breaks": {}, "under": {}})
            file["traced"].update(lines)
            file["under"].setdefault(condition, set()).update(lines)
        for path, line, entry, reason in seen.get("breaks", ()):
            each = files[path]["breaks"].setdefault(
                line, {"line": line, "gb": entry, "what": reason, "by": set(), "under": set()}
            )
            each["by"].add(name)
            each["under"].add(condition)
    return {
        path: {
            "traced": sorted(file["traced"]),
            "breaks": [
                {**each, "by": sorted(each["by"]), "under": sorted(each["under"])}
                for _, each in sorted(file["breaks"].items())
            ],
            "under": {condition: sorted(lines) for condition, lines in sorted(file["under"].items())},
        }
        for path, file in sorted(files.items())
    }


def main():
    if sys.argv[1:2] == ["--one"]:
        name, root, *conditions = sys.argv[2:]
        for condition in conditions:
            print("\n@@" + json.dumps([condition, one(name, condition, root)]), flush=True)
        os._exit(0)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--conditions", nargs="+", default=CONDITIONS, choices=CONDITIONS)
    parser.add_argument("--recipes")
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args()
    if options.recipes:
        os.environ["RECIPES"] = os.path.abspath(options.recipes)
    root = os.path.realpath(options.root)
    runs = json.loads(options.out.read_text())["runs"] if options.out.exists() else {}
    for name in options.models:
        missing = [each for each in options.conditions if f"{name} {each}" not in runs]
        if not missing:
            continue
        for condition, seen in run(options.python, name, missing, root, options.timeout).items():
            runs[f"{name} {condition}"] = seen
            told = seen.get("left_out") or f"{len(seen['breaks'])} breaks {seen['raised']}"
            print(f"{name} {condition}: {told}", flush=True)
        options.out.write_text(json.dumps({"root": options.root.name, "files": fold(runs), "runs": runs}))


if __name__ == "__main__":
    main()
