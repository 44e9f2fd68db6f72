"""Which torch functions and Tensor methods break the graph, each called once with small arguments.

    PYTHON matrix/operators.py            write results/operators-VERSION.json
    PYTHON matrix/operators.py --stdout [NAME...]   print (these) instead

The functions and how to call them come from tools/torch_table.py, hence from the stubs of the torch that runs
this; so only what needs tensors, numbers and sizes is called. A result is [registry id or null, reason, whether
fullgraph=True compiles it, whether the frame is left to Python]; "fine" are those that do not break.
"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
sys.path += [str(ROOT / "pt2lint" / "dynamic"), str(ROOT / "tools")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch_table  # noqa: E402
from child import log_listener  # noqa: E402

from matrix.harness import contained, prepared, said, shortened  # noqa: E402
from matrix.table import RESULTS  # noqa: E402


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(copied(v) for v in value)
    return value


def on_copies(function):
    """The function, called with copies of its arguments: it may change them."""

    def called(*args, **kwargs):
        return function(*map(copied, args), **{k: copied(v) for k, v in kwargs.items()})

    return called


class Operators:
    """Collects the result of each function that torch_table hands over."""

    def __init__(self, records, names):
        self.records, self.names = records, names
        self.fine, self.broken = [], {}

    def probe(self, name, function, overloads, method, call):
        """Called in place of torch_table.entry."""
        own = name.rsplit(".", 1)[-1]
        if own.startswith("__") or (self.names and name not in self.names):
            return
        overloads, call = torch_table.callable_as(own, overloads, call)
        if not call:
            return

        with contained():
            done = torch_table.first_call(on_copies(function), overloads, method)
        if done:
            self.measure(name, caller(own, function, method), done[1], done[2])
        return

    def measure(self, name, call, args, kwargs):
        torch._dynamo.reset()
        self.records.events.clear()
        error = self.compiled(call, args, kwargs)
        breaks = [record for kind, record in self.records.events if kind == "break"]
        if not breaks and error is None:
            self.fine.append(name)
            return
        torch._dynamo.reset()
        fullgraph = self.compiled(call, args, kwargs, fullgraph=True) is None
        first = breaks[0] if breaks else {"graph_break": None, "reason": error, "skipped": False}
        self.broken[name] = [
            first["graph_break"],
            shortened(first["reason"]),
            fullgraph,
            any(record["skipped"] for record in breaks),
        ]

    def compiled(self, call, args, kwargs, **options):
        """What a compiled call raises, None if it works."""
        with contained():
            try:
                torch.compile(call, backend="eager", **options)(copied(args), kwargs)
            except Exception as error:
                return said(error)
        return None


def caller(own, function, method):
    """A function to compile: the method by its name, the function by itself, after some work on tensors.

    What changes a tensor in place does so to one made in the region, as code mostly does.
    """
    if method and own.endswith("_"):

        def call(args, kwargs):
            return torch.ones(2) * 2, getattr(args[0].clone(), own)(*args[1:], **kwargs)

    elif method:

        def call(args, kwargs):
            return torch.ones(2) * 2, getattr(args[0], own)(*args[1:], **kwargs)

    else:

        def call(args, kwargs):
            return torch.ones(2) * 2, function(*args, **kwargs)

    return call


def run(names=()):
    prepared()
    with log_listener.listening([str(Path(__file__).resolve())]) as records:
        operators = Operators(records, names)
        for prefix, module in torch_table.CALLED.items():
            list(torch_table.functions(prefix, module, True, operators.probe))
        for prefix, module in torch_table.READ.items():
            list(torch_table.functions(prefix, module, False, operators.probe))
        list(torch_table.members("torch.Tensor", torch_table.CLASSES["Tensor"], operators.probe))
    return {
        "torch": torch.__version__.split("+")[0],
        "python": ".".join(map(str, sys.version_info[:2])),
        "breaks": dict(sorted(operators.broken.items())),
        "fine": sorted(operators.fine),
    }


def text(data):
    """JSON, one broken operator a line."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data["breaks"].items())
    fine = json.dumps(data["fine"]).replace(", ", ",\n")
    head = f'"torch": {json.dumps(data["torch"])}, "python": {json.dumps(data["python"])}'
    return f'{{{head},\n"breaks": {{\n{lines}\n}},\n"fine": {fine}}}\n'


def command(description, example, measured, written, place):
    """The command line of what measures all of torch, or prints a part: `measured(names)` gives the data,
    `written(data)` its text, `place(data)` the file for it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--stdout", action="store_true", help="print the results, write nothing")
    parser.add_argument("names", nargs="*", help=f"only these, as {example}")
    options = parser.parse_intermixed_args()
    if options.names and not options.stdout:
        parser.error("a part can only be printed: add --stdout")
    data = measured(options.names)
    if options.stdout:
        sys.stdout.write(written(data))
    else:
        path = place(data)
        path.parent.mkdir(exist_ok=True)
        path.write_text(written(data), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def main():
    about = "Measure each torch function and Tensor method."
    command(about, "torch.Tensor.item", run, text, lambda data: RESULTS / f"operators-{data['torch']}.json")


if __name__ == "__main__":
    main()
