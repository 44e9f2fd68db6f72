"""torch.distributions: objects whose methods and attributes give tensors."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import Instance, Tensor, Value

# Of every distribution: https://pytorch.org/docs/stable/distributions.html
METHODS = frozenset("sample rsample sample_n log_prob cdf icdf entropy perplexity enumerate_support".split())
ATTRIBUTES = frozenset(
    "mean mode variance stddev probs logits loc scale rate concentration concentration0 concentration1 "
    "covariance_matrix precision_matrix scale_tril total_count df low high alpha beta temperature".split()
)
FUNCTIONS = frozenset(("kl_divergence", "vmap_kl"))


def called(call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    if (call.receiver is not None and last in METHODS) or last in FUNCTIONS:
        return Tensor(None, call.origin())
    if call.receiver is not None and last == "expand":
        return call.receiver
    return made_or_unknown(call)


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
