# ruff: noqa
"""Copies, containers and data classes."""

import array
import bisect
import collections
import collections.abc
import copy
import dataclasses
import enum
import heapq
import operator
import pickle
import types
import typing
import weakref

import torch
from torch import Tensor, nn

_linear = nn.Linear(4, 4).requires_grad_(False)
_seen = []
_Pair = collections.namedtuple("_Pair", "a b")


class _Triple(typing.NamedTuple):
    a: Tensor
    b: int = 1


@dataclasses.dataclass
class _Point:
    a: object
    b: int = 1
    c: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    a: object
    b: int = 1


class _Output(collections.OrderedDict):
    def __init__(self, **fields):
        super().__init__(**fields)
        for name, value in fields.items():
            setattr(self, name, value)


class _Color(enum.Enum):
    RED = 1
    BLUE = 2


class _Bits(enum.Flag):
    A = 1
    B = 2


class _Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class _Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def deepcopy_tensor(x: Tensor):
    """`copy.deepcopy(tensor)`"""
    return copy.deepcopy(x) + 1


def deepcopy_dict_of_tensors(x: Tensor):
    """`copy.deepcopy({"a": tensor})`"""
    return copy.deepcopy({"a": x})["a"] + 1


def deepcopy_list_of_ints(x: Tensor):
    """`copy.deepcopy([1, 2])`"""
    return x + copy.deepcopy([1, 2])[0]


def deepcopy_module(x: Tensor):
    """`copy.deepcopy(module)`"""
    return copy.deepcopy(_linear)(x)


def deepcopy_dataclass(x: Tensor):
    """`copy.deepcopy(dataclass of ints)`"""
    return x + copy.deepcopy(_Point(1, 2)).b


def copy_tensor(x: Tensor):
    """`copy.copy(tensor)`"""
    return copy.copy(x) + 1


def copy_dict(x: Tensor):
    """`copy.copy(dict)`"""
    return copy.copy({"a": x})["a"] + 1


def copy_list(x: Tensor):
    """`copy.copy(list)`"""
    return copy.copy([x])[0] + 1


def copy_dataclass(x: Tensor):
    """`copy.copy(dataclass)`"""
    return copy.copy(_Point(x)).a + 1


def copy_methods(x: Tensor):
    """`dict.copy()`, `list.copy()`, `dict(d)`, `list(l)`, `l[:]`"""
    d, l = {"a": x}, [x]
    return d.copy()["a"] + l.copy()[0] + dict(d)["a"] + list(l)[0] + l[:][0]


def clone_detach(x: Tensor):
    """`x.clone().detach()`"""
    return x.clone().detach() + 1


def pickle_dumps(x: Tensor):
    """`pickle.dumps`"""
    return x + len(pickle.dumps([1, 2]))


def dict_operations(x: Tensor):
    """`dict`: get, pop, setdefault, update, `|`, `in`, del"""
    d = {"a": x, "b": x * 2}
    d.update(c=x)
    y = d.get("z", x) + d.pop("b") + d.setdefault("e", x)
    d = d | {"f": x}
    del d["a"]
    return y + len(d) + ("c" in d)


def dict_views(x: Tensor):
    """`dict`: keys, values, items, popitem, fromkeys"""
    d = dict.fromkeys(["a", "b"], x)
    y = sum(d.values())
    for key, value in d.items():
        y = y + value * len(key)
    return y + len(list(d.keys())) + d.popitem()[1]


def dict_key_sets(x: Tensor):
    """set operations of dict keys"""
    return x + len({"a": 1, "b": 2}.keys() & {"a"}) + len({"a": 1}.keys() - {"b"})


def dict_with_tensor_keys(x: Tensor):
    """a dict whose key is a tensor"""
    d = {x: 5}
    return x + d[x]


def dict_with_other_keys(x: Tensor):
    """dict keys: ints, tuples, dtypes, types, None"""
    d = {1: 1, (1, 2): 2, torch.float32: 3, int: 4, None: 5}
    return x + d[x.dtype] + d[(1, 2)] + d[None] + d[int]


def dict_of_global(x: Tensor):
    """a set comprehension over a dict and the keys of another"""
    config = {"output_attentions": True, "other": False}
    keys = {k for k in config if k.startswith("output")}
    return x + len(keys)


def ordered_dict(x: Tensor):
    """`OrderedDict`: insertion, `move_to_end`, `popitem(last=False)`"""
    d = collections.OrderedDict(a=x, b=x * 2)
    d.move_to_end("a")
    return d.popitem(last=False)[1] + d["a"]


def ordered_dict_subclass(x: Tensor):
    """a subclass of `OrderedDict` with attributes"""
    out = _Output(logits=x + 1, loss=x.sum())
    return out.logits + out["loss"]


def counter(x: Tensor):
    """`Counter`: counts, `update`"""
    c = collections.Counter([1, 1, 2])
    c.update([2])
    return x + c[1]


def counter_most_common(x: Tensor):
    """`Counter.most_common`"""
    return x + collections.Counter([1, 1, 2]).most_common(1)[0][1]


def defaultdict(x: Tensor):
    """`defaultdict(list)`"""
    d = collections.defaultdict(list)
    d["a"].append(x)
    return d["a"][0] + len(d["b"])


def deque(x: Tensor):
    """`deque`: append, appendleft, popleft, maxlen"""
    d = collections.deque([x], maxlen=3)
    d.append(x * 2)
    d.appendleft(x * 3)
    return d.popleft() + d[0]


def deque_rotate(x: Tensor):
    """`deque.rotate`"""
    d = collections.deque([x, x * 2])
    d.rotate(1)
    return d[0] + 1


def chain_map(x: Tensor):
    """`ChainMap`"""
    return x + collections.ChainMap({"a": 1}, {"b": 2})["b"]


def user_dict(x: Tensor):
    """`UserDict`"""
    return x + collections.UserDict({"a": 1})["a"]


def namedtuple(x: Tensor):
    """`namedtuple`: fields, `_replace`, `_asdict`, unpacking"""
    p = _Pair(x, 1)
    p = p._replace(b=2)
    a, b = p
    return a + b + p._asdict()["b"]


def typed_namedtuple(x: Tensor):
    """`typing.NamedTuple`"""
    t = _Triple(x)
    return t.a + t.b


def dataclass(x: Tensor):
    """a dataclass made and read"""
    p = _Point(x, 2)
    p.b = 3
    p.c.append(1)
    return p.a + p.b + len(p.c)


def dataclass_frozen(x: Tensor):
    """a frozen dataclass"""
    p = _Frozen(x, 2)
    return p.a + p.b


def dataclass_replace(x: Tensor):
    """`dataclasses.replace`"""
    return dataclasses.replace(_Frozen(x, 2), b=3).b + x


def dataclass_asdict(x: Tensor):
    """`dataclasses.asdict` of ints"""
    return x + dataclasses.asdict(_Frozen(1, 2))["b"]


def dataclass_asdict_tensor(x: Tensor):
    """`dataclasses.asdict` of a tensor"""
    return dataclasses.asdict(_Frozen(x, 2))["a"] + 1


def dataclass_fields(x: Tensor):
    """`dataclasses.fields`"""
    return x + len(dataclasses.fields(_Frozen))


def dataclass_equal(x: Tensor):
    """`==` of dataclasses of ints"""
    return x + (_Frozen(1, 2) == _Frozen(1, 2))


def simple_namespace(x: Tensor):
    """`types.SimpleNamespace`"""
    n = types.SimpleNamespace(a=x, b=2)
    return n.a + n.b


def mapping_proxy(x: Tensor):
    """`types.MappingProxyType`"""
    return x + types.MappingProxyType({"a": 1})["a"]


def slots_object(x: Tensor):
    """an object with `__slots__`"""
    return _Slots(x).a + 1


def set_operations(x: Tensor):
    """`set` of ints and strings: add, `&`, `|`, `-`, `in`"""
    s = {1, 2} & {2} | {3}
    s.add(4)
    names = {"a", "b"} - {"b"}
    return x + len(s) + ("a" in names) + (s <= {2, 3, 4, 5})


def frozenset_operations(x: Tensor):
    """`frozenset`"""
    return x + len(frozenset([1, 2]) & frozenset([2])) + (2 in frozenset([2]))


def set_iteration(x: Tensor):
    """iteration over a set of strings"""
    for name in {"a", "bb"}:
        x = x + len(name)
    return x


def set_of_tensors(x: Tensor):
    """a set of tensors"""
    y = x + 1
    return x + len({x, y})


def list_operations(x: Tensor):
    """`list`: append, extend, insert, pop, remove, reverse, sort, count, index, `+`, `*`"""
    l = [3, 1]
    l.extend([2, 2])
    l.insert(0, 5)
    l.remove(3)
    l.reverse()
    l.sort(key=lambda v: -v)
    return x + l.pop() + l.count(2) + l.index(5) + len(l + [1] * 2)


def list_of_tensors(x: Tensor):
    """a list of tensors: append, `stack`, `cat`, `+=`, slices, `clear`"""
    rows = []
    for k in range(3):
        rows.append(x[k])
    rows += [x[3]]
    y = torch.stack(rows[::-1])
    rows.clear()
    return y


def list_remove_tensor(x: Tensor):
    """`list.remove(tensor)`"""
    y = x + 1
    rows = [x, y]
    rows.remove(x)
    return rows[0]


def tuple_operations(x: Tensor):
    """tuples: `+`, slices, comparison, unpacking into a call"""
    t = (1, 2) + (3,)
    return x + len(t[1:]) + (t > (1, 1)) + max(*t)


def tuple_compare_tensors(x: Tensor):
    """`==` of tuples that hold the same tensor"""
    return x + ((x, 1) == (x, 1))


def sorted_numbers(x: Tensor):
    """`sorted` of numbers and strings, with a key"""
    return x + sorted([2, 1], reverse=True)[0] + len(sorted(["b", "a"], key=len)[0])


def heap(x: Tensor):
    """`heapq`"""
    h = [3, 1, 2]
    heapq.heapify(h)
    heapq.heappush(h, 0)
    return x + heapq.heappop(h)


def bisection(x: Tensor):
    """`bisect.bisect_left`"""
    return x + bisect.bisect_left([1, 2, 3], 2)


def array_module(x: Tensor):
    """`array.array`"""
    return x + array.array("i", [1, 2])[0]


def slice_object(x: Tensor):
    """`slice(...)` objects and `operator.itemgetter`"""
    s = slice(0, 2)
    return x[s] + operator.itemgetter(1)([1, 2])


def enum_compare(x: Tensor):
    """`Enum` members: `==`, `is`, name, value, by value, iteration"""
    c = _Color(1)
    return x + (c == _Color.RED) + (c is _Color.RED) + c.value + len(c.name) + len(_Color)


def enum_iterate(x: Tensor):
    """`for member in Enum`"""
    for member in _Color:
        x = x + member.value
    return x


def enum_by_name(x: Tensor):
    """`Enum["RED"]`"""
    return x + _Color["RED"].value


def enum_flag(x: Tensor):
    """`Flag`: `|`, `in`"""
    return x + bool((_Bits.A | _Bits.B) & _Bits.A)


def enum_int(x: Tensor):
    """`IntEnum`"""
    return x + _Level.HIGH + (_Level.LOW < _Level.HIGH)


def enum_dict_key(x: Tensor):
    """`Enum` members as dict keys"""
    return x + {_Color.RED: 1}[_Color.RED]


def weak_reference(x: Tensor):
    """`weakref.ref(module)()`"""
    return x + (weakref.ref(_linear)() is not None)


def weak_dict(x: Tensor):
    """`WeakKeyDictionary`"""
    return x + len(weakref.WeakKeyDictionary())


def append_to_global_list(x: Tensor):
    """a number appended to a global list"""
    _seen.append(1)
    return x + 1


def append_tensor_to_global_list(x: Tensor):
    """a tensor appended to a global list"""
    _seen.append(x)
    return x + 1


def del_variable(x: Tensor):
    """`del` of a variable"""
    y = x + 1
    del y
    return x + 1


def typing_cast(x: Tensor):
    """`typing.cast`"""
    return typing.cast(Tensor, x) + 1


def abstract_isinstance(x: Tensor):
    """`isinstance(..., collections.abc.Mapping)`"""
    if isinstance({"a": 1}, collections.abc.Mapping) and isinstance([1], collections.abc.Sequence):
        return x + 1
    return x
