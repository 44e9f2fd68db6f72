"""torch.sparse: what makes tensors of a sparse layout, what keeps it, and what takes one."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.torch_functions import called
from pt2lint.static.values import LEAF, UNKNOWN, Tensor, Value

TYPES = tuple(f"torch.sparse.{name}Tensor" for name in ("Float", "Double", "Half", "Int", "Long", "Bool"))
MAKERS = (
    *TYPES,
    *(f"torch.sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed")),
    *(f"torch.Tensor.to_sparse{kind}" for kind in ("", "_coo", "_csr", "_csc", "_bsr", "_bsc")),
)
# Methods of a sparse tensor that return one.
KEEPS = (
    "to cuda cpu type type_as float double half bfloat16 int long bool coalesce clone detach contiguous "
    "requires_grad_ t transpose neg abs sqrt pow mul div"
).split()
TAKERS = (
    "torch.spmm",
    "torch.dsmm",
    "torch.hspmm",
    *(f"torch.sparse.{name}" for name in ("mm", "addmm", "sum", "softmax", "log_softmax", "sampled_addmm")),
)
MULTIPLIES = ("torch.spmm", "torch.sparse.mm", "torch.dsmm", "torch.hspmm")
# Methods that only a sparse tensor answers.
OF_SPARSE = "coalesce _indices _values crow_indices col_indices ccol_indices row_indices".split()


def made(call: Call) -> Value:
    """A sparse tensor. Of one that the graph makes, that it is made is told, and enough."""
    value = called(call)
    tensor = value if isinstance(value, Tensor) else Tensor(None, call.origin())
    return tensor.but(sparse=not call.frame.region)


def kept(call: Call) -> Value:
    value, owner = called(call), call.receiver
    return value.but(sparse=True) if isinstance(value, Tensor) and is_sparse(owner) else value


def asked(call: Call) -> Value:
    """A method that only a sparse tensor answers: what the graph is given is one, unless the code asks first."""
    owner = call.receiver
    if isinstance(owner, Tensor) and owner.leaf == LEAF and not is_asked(call):
        call.note("use sparse", owner)
    return kept(call)


def taken(call: Call) -> Value:
    """What nothing but an annotation, or nothing at all, says of a matrix that is multiplied as a sparse one."""
    given = call.args[0] if call.args else None
    unclear = given is UNKNOWN or (isinstance(given, Tensor) and given.is_annotated)
    unclear = unclear and given not in call.args[1:]  # the same twice is no sparse matrix
    if unclear and not is_asked(call):
        call.note("use sparse", given if isinstance(given, Tensor) else None)
    return called(call)


def is_asked(call: Call) -> bool:
    """Whether the call stands under a test of the layout."""
    return any("is_sparse" in guard.text or "layout" in guard.text for guard in call.frame.guards)


def is_sparse(value: Value | None) -> bool:
    return isinstance(value, Tensor) and value.sparse


LIBRARY = Library(
    "torch.sparse",
    given="tensors",
    returns=dict.fromkeys(TAKERS, "tensor"),
    roles={"takes a sparse tensor": TAKERS, "takes a tensor first": TAKERS},
    handlers={
        **dict.fromkeys(MAKERS, made),
        **dict.fromkeys((f"torch.Tensor.{name}" for name in KEEPS), kept),
        **dict.fromkeys((f"torch.Tensor.{name}" for name in OF_SPARSE), asked),
        **dict.fromkeys(MULTIPLIES, taken),
    },
    otherwise=called,
    measured="matrix/constructs/programs.py",
)
