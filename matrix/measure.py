"""Measure the matrix under the torch of the interpreter that runs this; the standard library is all else it needs.

    PYTHON matrix/measure.py                         write results/TABLE-VERSION.json for the three tables
    PYTHON matrix/measure.py constructs [KEY...]     one table (only these cases of it, the others stay)
    PYTHON matrix/measure.py constructs --stdout [--quick] [KEY...]   print instead

CPU; the backend is the eager one. Cases that need NumPy are absent where it is not installed. A result holds, for
constructs:

    absent     why the case cannot run here even in eager mode; then nothing else
    breaks     [registry id or null, reason, line in the case or null] of each graph break of default mode
    skipped    true if Dynamo left a whole frame to Python
    error      the exception that default mode raised
    fullgraph  null if fullgraph=True compiles, else [registry id or null, reason]
    graphs     how many graphs default mode made

for recompilations: `calls` made, `recompiles`, `limit` (true if Dynamo gave the function up), `graphs`, `guards` (the
first that failed each time, at most three different ones), `error`; for silent: `eager` and `compiled` (what each did,
in words), `differs`.
"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
sys.path += [str(ROOT / "pt2lint" / "dynamic"), str(ROOT / "matrix" / "late")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
from child import log_listener  # noqa: E402

from matrix import construct_probe, recompile_probe, silent_probe  # noqa: E402
from matrix.harness import contained, isolated, load_family, said, untimed  # noqa: E402
from matrix.table import FOLDER, RESULTS, cases  # noqa: E402

PROBES = {
    "constructs": construct_probe.measure,
    "recompilations": recompile_probe.measure,
    "silent": silent_probe.measure,
}


def run(table, keys=(), quick=False):
    """All results of a table (or those of `keys`), with the versions they hold for."""
    untimed()
    found, modules, failed = {}, {}, {}
    with log_listener.listening([str(FOLDER)]) as records:
        for case in cases(table):
            if keys and case.key not in keys:
                continue
            if case.family not in modules and case.family not in failed:
                try:
                    with contained():
                        modules[case.family] = load_family(table, case.family)
                except Exception as error:
                    failed[case.family] = said(error)
            if case.family in failed:
                found[case.key] = {"absent": failed[case.family]}
            else:
                probe = PROBES[table]
                arguments = (modules[case.family], case, records, quick)
                found[case.key] = isolated(probe, *arguments) if table == "silent" else probe(*arguments)
    version = torch.__version__.split("+")[0]
    return {"torch": version, "python": ".".join(map(str, sys.version_info[:2])), "cases": found}


def text(data):
    """JSON, one case a line."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data["cases"].items())
    head = f'"torch": {json.dumps(data["torch"])}, "python": {json.dumps(data["python"])}'
    return f'{{{head},\n"cases": {{\n{lines}\n}}}}\n'


def main():
    parser = argparse.ArgumentParser(description="Measure the matrix under this interpreter's torch.")
    parser.add_argument("table", nargs="?", choices=PROBES, help="default: all")
    parser.add_argument("--stdout", action="store_true", help="print the results, write nothing")
    parser.add_argument(
        "--quick", action="store_true", help="no fullgraph run where default mode broke nothing"
    )
    parser.add_argument("keys", nargs="*", help="only these cases (family.name)")
    options = parser.parse_intermixed_args()
    if options.quick and not options.stdout:
        parser.error("--quick leaves things out: it needs --stdout")
    for table in [options.table] if options.table else PROBES:
        data = run(table, options.keys, options.quick)
        if options.stdout:
            sys.stdout.write(text(data))
        else:
            path = RESULTS / f"{table}-{data['torch']}.json"
            if options.keys and path.exists():
                known = json.loads(path.read_text(encoding="utf-8"))["cases"] | data["cases"]
                data["cases"] = {case.key: known[case.key] for case in cases(table) if case.key in known}
            RESULTS.mkdir(exist_ok=True)
            path.write_text(text(data), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads and exit handlers of the cases


if __name__ == "__main__":
    main()
