"""torch.distributions: objects whose methods and attributes give tensors."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import UNKNOWN, Instance, Tensor, Value, options, truth

# Of every distribution: https://pytorch.org/docs/stable/distributions.html
METHODS = frozenset("sample rsample sample_n log_prob cdf icdf entropy perplexity enumerate_support".split())
ATTRIBUTES = frozenset(
    "mean mode variance stddev probs logits loc scale rate concentration concentration0 concentration1 "
    "covariance_matrix precision_matrix scale_tril total_count df low high alpha beta temperature".split()
)
# Of two of these more than one formula is registered (measured on 2.13), and the closest is chosen by `min`.
OF_SEVERAL = frozenset(
    "Normal Bernoulli Beta Gamma Chi2 Dirichlet Exponential Poisson Binomial ContinuousBernoulli LogNormal Gumbel "
    "HalfNormal Pareto".split()
)
LOOKED_UP = (
    "it looks the formula for two such distributions up, which Dynamo does not trace; where it was called once before, "
    "for two of the same classes, it stays in the graph"
)
LOOK_UP_BEFORE = (
    "Call it once for two of the same classes before the compiled code runs: torch keeps which formula it is"
)
FUNCTIONS = frozenset(("kl_divergence", "vmap_kl"))
BASE = (
    "base_dist"  # what a distribution is made of: the formula for two such looks up the one for two of these
)
AROUND = frozenset(("Independent", "TransformedDistribution"))
# 22 of these were tried on 2.13: but for those that put others together, each is checked.
UNCHECKED = frozenset(("Independent", "TransformedDistribution", "MixtureSameFamily"))
CHECKED = "`validate_args=True` has it check its arguments, which Dynamo does not trace"
BEFORE = "Leave `validate_args=True` out, and check what it is given before the compiled code, which does not"


def called(call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    if last == "kl_divergence" and len(call.args) > 1 and all(map(_is_of_several, call.args)):
        call.note("call breaking", details={"why": LOOKED_UP, "until": "", "instead": LOOK_UP_BEFORE})
    if call.receiver is None and last[:1].isupper() and last not in UNCHECKED:
        if truth(call.kwargs.get("validate_args", UNKNOWN)) is True:
            call.note("call breaking", details={"why": CHECKED, "until": "", "instead": BEFORE})
    if (call.receiver is not None and last in METHODS) or last in FUNCTIONS:
        return Tensor(None, call.origin())
    if call.receiver is not None and last == "expand":
        return call.receiver
    made = made_or_unknown(call)
    if last in AROUND and isinstance(made, Instance):
        made.attrs[BASE] = call.args[0] if call.args else call.kwargs.get("base_distribution", UNKNOWN)
    return made


def _is_of_several(value: Value) -> bool:
    for one in options(value):
        while isinstance(one, Instance) and BASE in one.attrs:
            one = one.attrs[BASE]
        external = one.external if isinstance(one, Instance) else None
        if (external or "").rpartition(".")[2] not in OF_SEVERAL:
            return False
    return True


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """`distribution.mean`: a tensor, whatever it was made of."""
    if isinstance(owner, Instance) and name in ATTRIBUTES:
        return Tensor(None, None)
    return None


LIBRARY = Library(
    "torch.distributions",
    given="tensors",
    closed=True,
    objects=True,
    otherwise=called,
    attribute=attribute,
    measured="matrix/constructs/torch_calls.py",
)
