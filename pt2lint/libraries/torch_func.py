"""torch.func: what gives the gradients of a function, and what calls a module with other weights."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.static.values import (
    UNKNOWN,
    Dict,
    Ext,
    Partial,
    Py,
    Seq,
    Tensor,
    Value,
    tensor_of,
    truth,
)

VALUE = "torch.func.grad_and_value"


def differentiated(call: Call) -> Value:
    """`grad(f)`, and then `grad(f)(weights, x)`: Dynamo traces `f`."""
    if not call.args:
        return UNKNOWN
    function, given = call.args[0], call.args[1:]
    if not given:
        return Partial(Ext(call.name), [function], call.kwargs)
    if "argnums" in call.kwargs and not isinstance(call.kwargs["argnums"], Py):
        gradients: Value = UNKNOWN
    else:
        number = call.kwargs.get("argnums")
        at = number.const if isinstance(number, Py) else 0
        gradients = like(call, given[at]) if isinstance(at, int) and at < len(given) else UNKNOWN
    result = call.apply(function, given)
    aux = call.kwargs.get("has_aux")
    if call.name == VALUE:
        return Seq([gradients, result], None, "tuple")
    if aux is None or truth(aux) is False:
        return gradients
    return Seq([gradients, second(result)], None, "tuple") if truth(aux) is True else UNKNOWN


def second(value: Value) -> Value:
    """What a function returns besides its result."""
    return (
        value.elts[1]
        if isinstance(value, Seq) and value.elts is not None and len(value.elts) == 2
        else UNKNOWN
    )


def like(call: Call, value: Value) -> Value:
    """Gradients of what is given: a tensor for each."""
    one = Tensor(None, call.origin(f"`{call.name.rpartition('.')[2]}` gives gradients"))
    if isinstance(value, Tensor):
        return one
    if isinstance(value, Dict):
        return Dict(dict.fromkeys(value.items, one), one)
    if isinstance(value, Seq):
        return Seq([one] * len(value.elts) if value.elts is not None else None, one, value.type)
    return UNKNOWN


def beside(call: Call) -> Value:
    """`vjp(f, x)` and `jvp(f, (x,), (t,))`: what `f` returns, and what goes with it."""
    if not call.args:
        return called(call)
    given = call.args[1:]
    if call.name.endswith("jvp"):
        held = given[0] if given else UNKNOWN
        given = held.elts if isinstance(held, Seq) and held.elts is not None else []
    if not given:
        return called(call)
    result = call.apply(call.args[0], given)
    if call.kwargs.get("has_aux") is not None:
        return UNKNOWN
    other = like(call, result) if call.name.endswith("jvp") else UNKNOWN
    return Seq([result, other], None, "tuple")


def with_weights(call: Call) -> Value:
    """`functional_call(model, weights, (x,))`: the model's `forward` runs."""
    if len(call.args) < 3 or "kwargs" in call.kwargs:
        return UNKNOWN
    given = call.args[2]
    if isinstance(given, Seq) and given.elts is not None:
        return call.apply(call.args[0], given.elts)
    return call.apply(call.args[0], [given]) if tensor_of(given) is not None else UNKNOWN


LIBRARY = Library(
    "torch.func",
    handlers={
        "torch.func.grad": differentiated,
        VALUE: differentiated,
        "torch.func.vjp": beside,
        "torch.func.jvp": beside,
        "torch.func.functional_call": with_weights,
    },
    measured="tests/static/test_read_right.py",
)
