"""torch.Tensor: its methods and attributes, the types of tensors, and what of a dtype is known."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.libraries.numpy import NDARRAY, array_attribute
from pt2lint.libraries.torch_functions import called
from pt2lint.libraries.torch_table import table
from pt2lint.libraries.words import value_of
from pt2lint.static.values import DTYPES, LEAF, NONE, STR, UNKNOWN, Ext, Py, Seq, Tensor, Value, join

ALL = tuple(range(8))
# Methods that, in code that Dynamo traces, only tensors have.
ANSWERS = frozenset(
    "any all nonzero isnan isinf isfinite argmax argmin logical_not logical_and logical_or".split()
)
# Methods that, called there without arguments, nothing else has that models are given: arrays are traced as tensors.
REDUCES = tuple("sum max min prod amax amin mean std var norm median cumsum".split())
# Attributes that tensors share with what else is passed around in models tell nothing.
COMMON = frozenset(
    "device dtype type names name data T H item numpy tolist grad is_cuda half absolute resize".split()
)
# What modules, distributions, meshes of devices and images have too: what a function is given in place of a tensor is
# seldom one of these, what it gets from elsewhere often is.
SHARED = frozenset(
    "apply_ bfloat16 cpu cuda dim double expand float half int long mean median mode ndim norm permute random_ "
    "requires_grad requires_grad_ reshape shape share_memory_ size sort std sum t to transpose unique var "
    "where xpu round rotate tile trace view is_leaf is_meta layout nbytes storage strides stride chunk split".split()
)
# torch.FloatTensor and its kin, as constructors and in annotations.
TYPED = {
    "torch.Tensor": "tensor",
    **dict.fromkeys((f"torch.{n}Tensor" for n in ("Float", "Double", "Half", "BFloat16")), "tensor:float"),
    **dict.fromkeys((f"torch.{n}Tensor" for n in ("Long", "Int", "Short", "Char")), "tensor:int"),
    "torch.ByteTensor": "tensor:byte",
    "torch.BoolTensor": "tensor:bool",
    "torch.nn.Parameter": "tensor",
    "torch.nn.parameter.Parameter": "tensor",
    "torch.nn.Buffer": "tensor",
}
# Other names of dtypes.
ALSO = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
ALSO |= {"short": "int16", "uint8": "byte"}

# Where a number by position before the tensors makes one argument too many, by how many there are today.
NUMBER_FIRST = {"torch.Tensor.add_": 1, "torch.Tensor.addcmul_": 2, "torch.Tensor.addcdiv_": 2}
WHY_NUMBER_FIRST = "Dynamo does not know the old order, with the number before the tensors"

RESHAPES = "unsqueeze squeeze view reshape expand expand_as flatten transpose permute repeat to".split()
SIZED = "view reshape expand repeat new_zeros new_ones new_empty resize_ tile".split()


def number_first(call: Call) -> Value:
    """`x.add_(0.1, y)`, as one wrote before there was `alpha`; `x.add(0.1, y)` is no break."""
    if isinstance(call.receiver, Tensor) and len(call.args) > NUMBER_FIRST[call.name]:
        call.note("call breaking", call.receiver, details={"why": WHY_NUMBER_FIRST})
    return called(call)


def telling() -> tuple[str, ...]:
    """The names of what tensors have and Python's own objects have not."""
    plain = {a for t in (str, list, dict, tuple, int, float, set, bytes) for a in dir(t)}
    names = {n for n in (*table().returns, *table().attributes) if n.startswith("torch.Tensor.")}
    return tuple(n for n in names if n[13:] not in plain | COMMON and n[13] != "_")


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """An attribute of a tensor, or of an array that Dynamo traces as one."""
    if not isinstance(owner, Tensor):
        return None
    if owner.array and name not in NDARRAY and f"torch.Tensor.{name}" in table().returns:
        owner = owner.but(array=False)  # what no array has: it must be a tensor
    if owner.array:
        return array_attribute(owner, name)
    words = table().attributes.get(f"torch.Tensor.{name}")
    if words is None:
        return Ext(f"torch.Tensor.{name}", owner)
    if name == "grad_fn":
        return UNKNOWN
    if name == "grad":
        kept = LEAF if owner.leaf == LEAF else 0  # that of a weight was there before the graph, too
        return join(NONE, Tensor(owner.dtype, owner.origin, owner.sure, leaf=kept))
    value = value_of(words, owner.origin, owner.sure, owner)
    return Tensor(owner.dtype, owner.origin, owner.sure) if isinstance(value, Tensor) else value


def split(call: Call) -> Value:
    """What is cut at a text is one itself, whatever was taken for a tensor: `name.split("@")`."""
    first = call.args[0] if call.args else None
    if isinstance(first, Py) and first.type == "str":
        return Seq(None, STR, "list")
    return called(call)


def tolist(call: Call) -> Value:
    dtype = call.receiver.dtype if isinstance(call.receiver, Tensor) else None
    return Seq(None, Py(dtype or "float", read=True), "list")


def item(call: Call) -> Value:
    dtype = call.receiver.dtype if isinstance(call.receiver, Tensor) else None
    return Py(dtype or "float", read=True)


def to_numpy(call: Call) -> Value:
    if isinstance(call.receiver, Tensor):
        return Tensor(call.receiver.dtype, call.receiver.origin, call.receiver.sure, True)
    return UNKNOWN


def typed(call: Call) -> Value:
    return value_of(TYPED[call.name], call.origin())


LIBRARY = Library(
    "torch.Tensor",
    given="tensors",
    closed=True,
    objects=True,
    short="torch.",
    returns={"torch.Tensor.untyped_storage": "instance torch.UntypedStorage"},
    types={
        **TYPED,
        "torch.Size": "size",
        "torch.dtype": "dtype",
        "torch.device": "device",
    },
    constants={
        **{f"torch.{n}": f"dtype:{ALSO.get(n, n)}" for n in (*DTYPES, *ALSO) if n != "byte"},
    },
    roles={
        "tensor": ("torch.Tensor",),
        "tensor type": tuple(TYPED),
        "converts": tuple(
            f"torch.Tensor.{n}" for n in "to type type_as float half double bfloat16 cuda cpu".split()
        ),
        "only of tensors": tuple(f"torch.Tensor.{n}" for n in ANSWERS),
        "computes gradients": ("torch.Tensor.backward",),
        "bare only of tensors": tuple(f"torch.Tensor.{n}" for n in ("item", "backward", "detach", "tolist")),
        "bare only of tensors where compiled": tuple(f"torch.Tensor.{n}" for n in REDUCES),
        "detaches": ("torch.Tensor.detach", "torch.Tensor.detach_"),
        "set of tensors alone": ("torch.Tensor.requires_grad",),
        "tells a tensor": telling(),
        "tells a tensor where called": tuple(n for n in telling() if n in table().returns),
        "takes a mask": ("torch.Tensor.masked_fill", "torch.Tensor.masked_fill_"),
        "chooses by a mask": ("torch.Tensor.where",),
        "takes places": ("torch.Tensor.gather", "torch.Tensor.index_select", "torch.Tensor.take"),
        "spreads over": ("torch.Tensor.expand_as",),
        "keeps values": tuple(f"torch.Tensor.{n}" for n in RESHAPES),
        "tells a tensor as keyword": ("torch.Tensor.split.dim", "torch.Tensor.sum.keepdim"),
        "takes sizes alone": tuple(f"torch.Tensor.{n}" for n in SIZED),
        "tells a tensor of arguments alone": tuple(f"torch.Tensor.{n}" for n in SHARED),
    },
    sizes={
        **{f"torch.Tensor.{n}": (ALL, ("size", "shape", "sizes", "repeats")) for n in SIZED},
        "torch.Tensor.permute": (ALL, ("dims",)),
        "torch.Tensor.new_full": ((0, 1), ("size", "fill_value")),
        "torch.Tensor.narrow": ((1, 2), ("start", "length")),
        "torch.Tensor.select": ((1,), ("index",)),
        "torch.Tensor.topk": ((0,), ("k",)),
        "torch.Tensor.roll": ((0,), ("shifts",)),
        "torch.Tensor.tensor_split": ((0,), ("indices_or_sections", "tensor_indices_or_sections")),
        "torch.Tensor.split": ((0,), ("split_size",)),
        "torch.Tensor.unfold": ((1, 2), ("size", "step")),
    },
    # Methods whose receiver nobody else's class shares with a number as argument.
    baked={
        "torch.Tensor.uniform_": ((0, "from"), (1, "to")),
        "torch.Tensor.normal_": ((0, "mean"), (1, "std")),
        "torch.Tensor.bernoulli_": ((0, "p"),),
        "torch.Tensor.chunk": ((0, "chunks"),),
        "torch.Tensor.split": ((0, "split_size"),),
    },
    handlers={
        **dict.fromkeys((n for n in TYPED if n != "torch.nn.Parameter"), typed),
        **dict.fromkeys(NUMBER_FIRST, number_first),
        "torch.Tensor.split": split,
        "torch.Tensor.tolist": tolist,
        "torch.Tensor.item": item,
        "torch.Tensor.numpy": to_numpy,
    },
    otherwise=called,
    attribute=attribute,
    measured="pt2lint/libraries/torch_table.json, matrix/operators.py",
)
