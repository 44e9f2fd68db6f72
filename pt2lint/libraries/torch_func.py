"""torch.func: what gives the gradients of a function, and what calls a module with other weights."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called, traced
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
MADE = " of a function"  # what such a function is called that was made of another one
GRADIENTS = ("torch.func.grad", VALUE)
JACOBIANS = tuple(f"torch.func.{name}" for name in ("jacrev", "jacfwd", "hessian"))
BESIDE = ("torch.func.vjp", "torch.func.jvp")
DERIVED = (*GRADIENTS, *JACOBIANS)
MAPS = ("torch.func.vmap", "torch.vmap")


def differentiated(call: Call) -> Value:
    """`grad(f)(weights, x)`: Dynamo traces `f`."""
    if not call.args:
        return UNKNOWN
    function, given = call.args[0], call.args[1:]
    if "argnums" in call.kwargs and not isinstance(call.kwargs["argnums"], Py):
        gradients: Value = UNKNOWN
    else:
        number = call.kwargs.get("argnums")
        at = number.const if isinstance(number, Py) else 0
        gradients = like(call, given[at]) if isinstance(at, int) and at < len(given) else UNKNOWN
    result = call.trace(function, given)
    aux = call.kwargs.get("has_aux")
    if call.name.startswith(VALUE):
        return Seq([gradients, result], None, "tuple")
    if aux is None or truth(aux) is False:
        return gradients
    return Seq([gradients, second(result)], None, "tuple") if truth(aux) is True else UNKNOWN


def made(call: Call) -> Value:
    """`grad(f)`, `grad(f, 1)`, `vmap(f)`: a function that gives what is to be known of `f`."""
    if not call.args:
        return UNKNOWN
    more = {"argnums": call.args[1]} if len(call.args) > 1 and not call.name.endswith("vmap") else {}
    return Partial(Ext(call.name + MADE), call.args[:1], {**more, **call.kwargs})


def derived(call: Call) -> Value:
    """`jacrev(f)(x)`: of a function that returns a tensor a tensor, if it is by one of what is given."""
    result, number = traced(call), call.kwargs.get("argnums")
    by_one = number is None or (isinstance(number, Py) and isinstance(number.const, int))
    return (
        like(call, result)
        if by_one and "has_aux" not in call.kwargs and isinstance(result, Tensor)
        else UNKNOWN
    )


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
    result = call.trace(call.args[0], given)
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
    # Measured on 2.9 and 2.13: lists and attributes that the function changes are no reason for a break.
    roles={"keeps changes": (*DERIVED, *MAPS, *BESIDE)},
    handlers={
        **dict.fromkeys((*DERIVED, *MAPS), made),
        **{f"{name}{MADE}": differentiated for name in GRADIENTS},
        **{f"{name}{MADE}": derived for name in JACOBIANS},
        **{f"{name}{MADE}": traced for name in MAPS},  # of tensors of one dimension less
        **dict.fromkeys(BESIDE, beside),
        "torch.func.functional_call": with_weights,
    },
    measured="tests/static/test_read_right.py",
)
