"""Where a tensor in place of a Python number breaks the graph: each number that torch's functions and methods take.

    PYTHON matrix/number_arguments.py            write pt2lint/libraries/torch_numbers.json
    PYTHON matrix/number_arguments.py --stdout [NAME...]   print (these) instead

The functions, how to call them and which parameters are numbers come from tools/torch_table.py, hence from the stubs of
the torch that runs this. Each number is replaced by a tensor without dimensions that the compiled code computes, of
floats and of ints. What eager mode takes and Dynamo ends the graph for, since it has to read the tensor, stands under
"numbers": [positions, keywords] by qualified name, without self for methods. "uncaptured" are those for which
`torch._dynamo.config.capture_scalar_outputs` is no workaround: they break the graph still, or compiling them raises.
"""

import json
import logging
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
sys.path += [str(ROOT / "pt2lint" / "dynamic"), str(ROOT / "tools")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch_table  # noqa: E402
from child import log_listener  # noqa: E402

from matrix.harness import contained, prepared  # noqa: E402
from matrix.operators import command, copied, on_copies  # noqa: E402

OUTPUT = ROOT / "pt2lint" / "libraries" / "torch_numbers.json"
NUMBER = re.compile(r"\b_?(int|float|SymInt|Number|complex)\b")
OTHERS = re.compile(r"Tensor|[Ll]ist|[Tt]uple|Sequence|size")  # a tensor is welcome, or several numbers are
GIVEN = (0.5, 1)


class Numbers:
    """Collects the parameters of each function that torch_table hands over."""

    def __init__(self, records, names):
        self.records, self.names = records, names
        self.found, self.captured = {}, set()

    def probe(self, name, function, overloads, method, call):
        """Called in place of torch_table.entry."""
        own = name.rsplit(".", 1)[-1]
        if own.startswith("__") or (self.names and name not in self.names):
            return
        overloads, call = torch_table.callable_as(own, overloads, call)
        # What is something else in another way to call it, as `beta` of `addmm(beta, input, alpha, mat1, mat2)`.
        all_ = [parameter for overload in overloads for parameter in overload.parameters]
        others = [parameter for parameter in all_ if not may_be_number(parameter)]
        places, names = {p.position for p in others} - {None}, {p.name for p in others}
        for overload in overloads if call else ():
            for parameter in overload.parameters:
                if may_be_number(parameter) and parameter.name not in names:
                    self.parameter(name, own, function, overload, method, parameter, places)

    def parameter(self, name, own, function, overload, method, parameter, places):
        """Measure one parameter. Where arguments of another kind may stand in its place, its keyword alone counts."""
        positions, keywords = self.found.get(name, ([], []))
        if parameter.name in keywords:
            return
        breaking = list(self.breaking(own, function, overload, method, parameter))
        if breaking:
            positions, keywords = self.found.setdefault(name, ([], []))
            keywords.append(parameter.name)
            if parameter.position is not None and parameter.position not in places:
                positions.append(parameter.position)
            with torch._dynamo.config.patch(capture_scalar_outputs=True):
                if any(self.ends(*call) is False for call in breaking):
                    self.captured.add(name)

    def breaking(self, own, function, overload, method, parameter):
        """The calls with a float or an int computed there, which eager mode takes and Dynamo ends the graph for."""
        with contained():
            done = torch_table.first_call(on_copies(function), [overload], method)
        if not done:
            return
        call = caller(function, own, method, parameter, done[1], done[2])
        for number in GIVEN:
            tensor = torch.tensor(number)
            with contained():
                try:
                    call(copied(done[1]), tensor)
                except Exception:
                    continue
            if self.ends(call, done[1], tensor):
                yield call, done[1], tensor

    def ends(self, call, args, tensor):
        """Whether Dynamo ends the graph to read the tensor; None where compiling it raises."""

        def compiled(args, tensor):
            return torch.ones(2) * 2, call(args, tensor * 1)

        torch._dynamo.reset()
        self.records.events.clear()
        with contained():
            try:
                torch.compile(compiled, backend="eager")(copied(args), tensor)
            except Exception:
                return None
        breaks = [record for kind, record in self.records.events if kind == "break"]
        return any(str(record["graph_break"]).lower() in torch_table.DATA_BREAKS for record in breaks)


def may_be_number(parameter):
    """By its annotation, or, of what only a docstring describes, by its default."""
    if parameter.annotation:
        return bool(NUMBER.search(parameter.annotation)) and not OTHERS.search(parameter.annotation)
    return parameter.default not in (None, "True", "False")


def caller(function, own, method, parameter, args, kwargs):
    """A function that calls with these arguments, and with a tensor for the parameter."""
    at = None if parameter.position is None else parameter.position + method
    by_place = at is not None and at <= len(args)

    def call(args, tensor):
        if by_place:
            args, more = [*args[:at], tensor, *args[at + 1 :]], kwargs
        else:
            more = {**kwargs, parameter.name: tensor}
        if method:
            receiver = args[0].clone() if own.endswith("_") else args[0]
            return getattr(receiver, own)(*args[1:], **more)
        return function(*args, **more)

    return call


def run(names=()):
    prepared(logging.CRITICAL)
    with log_listener.listening([str(Path(__file__).resolve())]) as records:
        numbers = Numbers(records, names)
        for prefix, module in torch_table.CALLED.items():
            list(torch_table.functions(prefix, module, True, numbers.probe))
        list(torch_table.members("torch.Tensor", torch_table.CLASSES["Tensor"], numbers.probe))
    return {
        "torch": torch.__version__.split("+")[0],
        "numbers": dict(sorted(numbers.found.items())),
        "uncaptured": sorted(numbers.found.keys() - numbers.captured),
    }


def text(data):
    """JSON, one function a line."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in data["numbers"].items())
    uncaptured = json.dumps(data["uncaptured"]).replace(", ", ",\n")
    head = f'"torch": {json.dumps(data["torch"])}'
    return f'{{{head},\n"numbers": {{\n{lines}\n}},\n"uncaptured": {uncaptured}}}\n'


def main():
    command("Measure where a tensor stands for a number.", "torch.addcmul", run, text, lambda data: OUTPUT)


if __name__ == "__main__":
    main()
