"""What traced code draws at random, for a setting under which the backward pass draws it once more."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.libraries.call import Call
from pt2lint.op import Op
from pt2lint.said import told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.values import UNKNOWN, Instance, Value, tensor_of, truth

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

BUDGET = "activation_memory_budget"


class Redrawn:
    """`rates`: modules that draw, each with the rate that it was made with; `drawn`: by whether the code says that the
    rate is above 0, what draws first, and where."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.rates: dict[int, tuple[Value, Value | None]] = {}
        self.drawn: dict[bool, tuple[str, str]] = {}

    def external(self, call: Call, result: Value) -> None:
        if isinstance(result, Instance) and self.at.models.plays(result.external, "random module"):
            self.rates[id(result)] = result, call.kwargs.get("p", next(iter(call.args), None))
        elif call.frame.region and self.at.models.plays(call.name, "draws") and _of_tensor(call):
            if truth(call.kwargs.get("training", UNKNOWN)) is not False:
                rate = call.kwargs.get("p", next(iter(call.args[1:]), None))
                self.draws(call.name, rate, call.node, call.frame)

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        if isinstance(func, Instance) and self.at.models.plays(func.external, "random module"):
            _, rate = self.rates.get(id(func), (func, UNKNOWN))
            self.draws(func.external or "", rate, node, frame)

    def draws(self, name: str, rate: Value | None, node: ast.AST, frame: Frame) -> None:
        above = True if rate is None else truth(rate)  # which is 0.5 where it is not said
        if above is not False:
            place = told_place(frame.module.path, getattr(node, "lineno", 0))
            self.drawn.setdefault(above is True, (name, place))

    def finished(self, op: Op, path: str) -> Op:
        if op.name != "set setting" or op.details.get("name") != BUDGET or not self.drawn:
            return op
        said = True in self.drawn
        name, place = self.drawn[said]
        words = {"draws": name, "drawn at": place} | ({"surely": "yes"} if said else {})
        return op._replace(details={**op.details, **words})


def _of_tensor(call: Call) -> bool:
    """Whether it is given a tensor: what is given sizes (`torch.rand(3)`) seldom lies on the way of gradients."""
    given = call.receiver if call.receiver is not None else next(iter(call.args), UNKNOWN)
    return tensor_of(given) is not None
