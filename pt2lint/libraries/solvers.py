"""torchdiffeq and torchsde: solvers of differential equations, which end the graph, and what they give."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import UNKNOWN, Seq, Tensor, Value

# torchdiffeq 0.2.5 and torchsde 0.2.6 on torch 2.13: four methods of `odeint`, both ways of gradients, `BrownianTree`.
COMPARES_TIMES = "it branches on the times that it is given"
ODE = ("torchdiffeq.odeint", "torchdiffeq.odeint_adjoint")
SDE = ("torchsde.sdeint", "torchsde.sdeint_adjoint")
PATHS = ("BrownianInterval", "BrownianPath", "BrownianTree")  # what draws the noise of one solution


def solved(call: Call) -> Value:
    """The states at all times: a tensor, or one for each part of the first state. Python calls the function."""
    names = ("func", "y0")
    func, state = (call.args[i] if i < len(call.args) else call.kwargs.get(n) for i, n in enumerate(names))
    if func is None or state is None:
        return UNKNOWN
    states: Value = Tensor(origin=call.origin())
    if isinstance(state, Seq):
        states = Seq([states] * len(state.elts), type="tuple") if state.elts is not None else UNKNOWN
    call.apply(func, [Tensor(origin=call.origin("`t` is a time")), state])
    return states


LIBRARIES = (
    Library(
        "torchdiffeq",
        breaks=dict.fromkeys(ODE, COMPARES_TIMES),
        handlers=dict.fromkeys(ODE, solved),
        measured="benchmarks/library_breaks.py",
    ),
    Library(
        "torchsde",
        returns={
            **dict.fromkeys(SDE, "tensor"),
            **{f"torchsde.{name}": f"instance torchsde.{name}" for name in PATHS},
        },
        untraced=True,
        measured="benchmarks/library_breaks.py",
    ),
)
