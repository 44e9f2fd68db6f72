"""What Dynamo does with one construct: default mode with every graph-break record, then fullgraph=True."""

import inspect

import torch
import torch._dynamo
from child import logs

from matrix.harness import CountGraphs, contained, said, shortened


def given(names):
    """Fresh inputs, the same at each call."""
    x = torch.linspace(-1, 2, 16).view(4, 4).clone()
    values = {
        "x": x,
        "m": x > 0,
        "i": torch.arange(4),
        "s": torch.tensor(0.5),
        "sizes": torch.tensor([[2, 2], [1, 3]]),
    }
    return [values[name] for name in names]


def target(module, case):
    """What is called: the function, or a fresh instance of the module."""
    found = getattr(module, case.name)
    return found() if inspect.isclass(found) else found


def measure(module, case, records, quick=False):
    """The result of one case, as measure.py describes it; `quick` leaves out fullgraph where nothing broke.

    `CONFIG` of the family's file says under which of Dynamo's settings a case runs, if not under the usual ones.
    """
    settings = getattr(module, "CONFIG", {}).get(case.name, {})
    missing = [name for name in settings if not hasattr(torch._dynamo.config, name)]
    if missing:
        return {"absent": f"torch._dynamo.config has no {missing[0]}"}
    with torch._dynamo.config.patch(**settings):
        return measured(module, case, records, quick)


def measured(module, case, records, quick):
    try:
        with contained():
            target(module, case)(*given(case.inputs))
    except Exception as error:
        return {"absent": said(error)}
    result = {"breaks": [], "skipped": False, "fullgraph": None, "graphs": 0}
    torch._dynamo.reset()
    records.events.clear()
    counting = CountGraphs()
    with contained():
        function = target(module, case)
        try:
            torch.compile(function, backend=counting)(*given(case.inputs))
        except Exception as error:
            result["error"] = said(error)
    for kind, record in records.events:
        if kind == "break":
            entry = [record["graph_break"], shortened(record["reason"]), place(record, case)]
            if entry not in result["breaks"]:
                result["breaks"].append(entry)
            result["skipped"] |= record["skipped"]
    result["graphs"] = counting.graphs
    if quick and not result["breaks"] and "error" not in result:
        return result
    torch._dynamo.reset()
    with contained():
        function = target(module, case)
        try:
            torch.compile(function, backend="eager", fullgraph=True)(*given(case.inputs))
        except Exception as error:
            text = str(error)
            result["fullgraph"] = [
                logs.registry_id(text),
                shortened(logs.read_reason(text)[0] or said(error)),
            ]
    return result


def place(record, case):
    """The line of the break in the case, counted from its first; None if it lies elsewhere."""
    lines = [record["line"]] if record["path"] == str(case.path) else []
    lines += [line for path, line, *_ in reversed(record["stack"]) if path == str(case.path)]
    return next((n - case.line + 1 for n in lines if case.line <= n <= case.end_line), None)
