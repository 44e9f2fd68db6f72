"""Record what Dynamo logs about case.py beside it: `PYTHON record.py > VERSION.json`."""

import contextlib
import json
import logging
import os
import sys

import torch
import torch._dynamo

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
import case  # noqa: E402

LOGS = ("__graph_breaks", "__trace_source", "__recompiles")
records = []


def tap(name, method):
    logger = logging.getLogger(name)

    def heard(message, *args, **options):
        text = str(message) % args if args else str(message)
        error = str(sys.exc_info()[1]) if options.get("exc_info") else ""
        records.append({"log": name.rpartition(".")[2], "message": text, "exception": error})

    logger.__dict__[method] = heard
    if method == "debug":
        logger.__dict__["isEnabledFor"] = lambda level: True


def run():
    model = torch.compile(case.Model(), backend="eager")
    model(torch.ones(3, 4))
    model(torch.ones(5, 4))
    torch.compile(case.loop, backend="eager")(torch.ones(2))
    length = torch.compile(case.length, backend="eager")
    for number in range(10):
        length(torch.ones(2), "a" * number)
    torch._dynamo.reset()
    try:
        torch.compile(case.Model(), backend="eager", fullgraph=True)(torch.ones(3, 4))
    except Exception as error:
        records.append({"log": "fullgraph", "message": str(error), "exception": ""})


def kept():
    """What the tests read: few of the records that repeat, none of other files, no path of this machine."""
    seen = {}
    site = os.path.realpath(os.path.dirname(os.path.dirname(torch.__file__)))
    places = {
        HERE: "/project",
        site: "/site-packages",
        os.path.dirname(os.path.realpath(os.__file__)): "/stdlib",
    }
    for record in records:
        log, message = record["log"], record["message"]
        if log == "__trace_source" and HERE not in message:
            continue
        if log == "symbolic_convert" and not message.startswith("Skipping frame"):
            continue
        kind = (log, "length" in message)
        seen[kind] = seen.get(kind, 0) + 1
        if (log == "__trace_source" and seen[kind] > 3) or (
            kind == ("__recompiles", True) and seen[kind] > 2
        ):
            continue
        for key in ("message", "exception"):
            for place, name in places.items():
                record[key] = record[key].replace(place, name)
        yield record


if __name__ == "__main__":
    torch._logging.set_logs(graph_breaks=True, trace_source=True, recompiles=True)
    for logger_name in list(logging.root.manager.loggerDict):
        if logger_name.startswith("torch") and logger_name.rpartition(".")[2] in LOGS:
            tap(logger_name, "debug")
    tap("torch._dynamo.convert_frame", "warning")
    tap("torch._dynamo.symbolic_convert", "info")
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        run()
    said = {"torch": torch.__version__, "python": sys.version.split()[0], "records": list(kept())}
    json.dump(said, sys.stdout, indent=1)
