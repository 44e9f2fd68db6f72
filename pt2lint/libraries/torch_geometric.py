"""torch_geometric: what its functions return, and which of them read how many nodes or graphs there are."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.made_of_modules import plain
from pt2lint.libraries.model import Library
from pt2lint.libraries.words import value_of
from pt2lint.static.values import Value, is_none, truth

UTILS, NN = "torch_geometric.utils.", "torch_geometric.nn."
# Measured with benchmarks/library_breaks.py on torch 2.13 with torch_geometric 2.8.1, on the CPU. What reads the
# greatest index, and the parameters with which it does not: all of a group have to be given.
COUNTS = {
    f"{UTILS}scatter": "tensor dim_size:3",
    f"{UTILS}softmax": "tensor num_nodes:3",
    f"{UTILS}degree": "tensor num_nodes:1",
    f"{UTILS}one_hot": "tensor num_classes:1",
    f"{UTILS}index_to_mask": "tensor:bool size:1",
    f"{UTILS}add_self_loops": "any num_nodes:3",
    f"{UTILS}sort_edge_index": "any num_nodes:2",
    f"{UTILS}to_dense_batch": "tuple(tensor,tensor:bool) batch_size:4 max_num_nodes:3",
    **{f"{NN}global_{kind}_pool": "tensor size:2" for kind in ("mean", "add", "max")},
}
# These pick edges or nodes whatever they are given, or compare values.
PICKS = (
    "to_dense_adj remove_self_loops add_remaining_self_loops segregate_self_loops coalesce to_undirected subgraph "
    "dropout_node get_laplacian negative_sampling batched_negative_sampling dense_to_sparse unbatch "
    "unbatch_edge_index mask_to_index mask_select remove_isolated_nodes contains_self_loops is_undirected"
)
# These raise under `fullgraph=True`, too, which captures what the others do.
TESTS = (
    "to_dense_adj coalesce to_undirected unbatch unbatch_edge_index is_undirected negative_sampling "
    "batched_negative_sampling"
)
# Of one graph alone, nothing is read.
OF_ONE = ("to_dense_batch", "global_mean_pool", "global_add_pool", "global_max_pool")
READS, CHOOSES = (
    "it reads the greatest index, to know how many there are",
    "what it returns depends on values",
)


def counted(call: Call) -> Value:
    returned, *spared = COUNTS[call.name].split()
    given = [_given(call, *one.split(":")) for one in spared]
    name = call.name.rpartition(".")[2]
    alone = name in OF_ONE and not _given(call, "batch", "1")
    in_order = name == "softmax" and _given(call, "ptr", "2")
    if not all(given) and not alone and not in_order and "**" not in call.kwargs:
        names = " and ".join(f"`{one.partition(':')[0]}`" for one in spared)
        words = {"why": READS, "like": "call torch.Tensor.item", "instead": f"Give it {names}"}
        call.note("call breaking", details=words)
    return value_of(returned, call.origin())


def _given(call: Call, name: str, position: str) -> bool:
    at = int(position)
    value = call.args[at] if len(call.args) > at else call.kwargs.get(name)
    return value is not None and is_none(value) is not True


def picked(call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    like = {} if name in TESTS.split() else {"like": "call torch.Tensor.nonzero"}
    call.note("call breaking", details={"why": CHOOSES, **like})
    return value_of("tensor" if name == "to_dense_adj" else "any", call.origin())


def dropped(call: Call) -> Value:
    """`dropout_edge(edges, p, training=self.training)`"""
    training = call.kwargs.get("training")
    if training is None or truth(training) is not False:
        words = {"why": CHOOSES, "like": "call torch.Tensor.nonzero"}
        call.note("call breaking", details=words if training is None else {**words, "when": "self.training"})
    return value_of("any", call.origin())


def convolutions(name: str) -> str | None:
    return "tensor" if name.endswith("Conv") else None


HANDLERS = {
    **dict.fromkeys(COUNTS, counted),
    **{f"{UTILS}{name}": picked for name in PICKS.split()},
    f"{UTILS}dropout_edge": dropped,
}
LIBRARIES = tuple(
    Library(
        start.rstrip("."),
        instances=convolutions if start == NN else None,
        handlers={name: handler for name, handler in HANDLERS.items() if name.startswith(start)},
        attribute=plain if start == NN else None,
        measured="benchmarks/library_breaks.py",
    )
    for start in (NN, UTILS)
)
