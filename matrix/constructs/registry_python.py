# ruff: noqa
"""Python that few people write, entry by entry of PyTorch's registry of graph breaks."""

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import inspect
import itertools
import operator
import random
import re
import sys
import types
import typing
import unittest
import weakref

import torch
from torch import Tensor, nn


class _Plain:
    """An object with an attribute."""

    def __init__(self, value=1):
        self.value = value


class _Deletes:
    def __init__(self):
        self.value = 1

    def __delattr__(self, name):
        super().__delattr__(name)


class _DeletesByWrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = []

    def drop(self, name):
        super().__delattr__(name)


class _HashOfTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def __hash__(self):
        return hash(self.tensor)

    def __eq__(self, other):
        return self is other


class _BoolOfTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def __bool__(self):
        return self.tensor.sum() > 0


class _TruthOfTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def __bool__(self):
        return bool(self.tensor.sum() > 0)


class _LenOfTensor:
    def __init__(self, tensor):
        self.tensor = tensor

    def __len__(self):
        return int(self.tensor.numel())


class _GetattrPartial:
    __getattr__ = functools.partial(lambda name: 2)


class _GetattrBuiltin:
    __getattr__ = len


class _GetattrModule(nn.Module):
    __getattr__ = functools.partialmethod(nn.Module.__getattr__)


class _GetattributeModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def __getattribute__(self, name):
        if name == "printed":
            print(name)
            return 1.0
        return super().__getattribute__(name)

    def forward(self, x):
        return x * self.printed


class _Meta(type):
    def __getattribute__(cls, name):
        return super().__getattribute__(name)


class _WithMeta(metaclass=_Meta):
    scale = 2


class _SlotsOnly:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 1


class _IterCalls:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.calls


class _OldSequence:
    def __getitem__(self, index):
        if index > 2:
            raise IndexError
        return index


class _Enum(enum.Enum):
    A = 1
    B = 2


class _Optional(typing.TypedDict, total=False):
    scale: float


class _Typed(typing.TypedDict):
    scale: float


class _SuperGetattr:
    value = 1


class _SuperCallsMissing(_SuperGetattr):
    def get(self):
        return super().value

    def missing(self):
        return super().nothing


class _SuperOfDescriptor(dict):
    def size(self):
        return super().__len__()


class _OneArgument(_SuperGetattr):
    def get(self):
        return super(_OneArgument).__thisclass__ is not None


class _CStr(collections.OrderedDict):
    pass


class _CRepr(int):
    def __repr__(self):
        return "n"


class _CError(Exception):
    pass


class _KeywordError(Exception):
    def __init__(self, *args, code=0):
        super().__init__(*args)
        self.code = code


class _ListSubclass(list):
    pass


class _DictSubclass(dict):
    def __init__(self, *args, name="", **kwargs):
        super().__init__(*args, **kwargs)
        self.name = name


class _Property:
    def __init__(self):
        self._value = 1

    @property
    def value(self):
        return self._value

    @value.deleter
    def value(self):
        self._value = 0


class _Setattr:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class _SetitemClass:
    def __init__(self):
        self.items = {}

    def __setitem__(self, key, value):
        self.items[key] = value


@contextlib.contextmanager
def _manager():
    yield 1


@contextlib.contextmanager
def _no_generator():
    return iter([1])


def _counts(limit):
    n = 0
    while n < limit:
        yield n
        n += 1


def _forever():
    n = 0
    while True:
        yield n
        n += 1


def _two(a, b):
    return a + b


def _same(value):
    return value


_constants = types.MappingProxyType({"scale": 2})
_by_object = types.MappingProxyType({_Plain: 2})
_deque = collections.deque([1, 2], maxlen=2)
_iterator = iter([1, 2, 3])
_mapped = map(abs, [1, 2, 3])
_zipped = zip([1, 2, 3], [4, 5, 6])
_counted = itertools.count()
_generator = _counts(1000)
_weak = weakref.WeakValueDictionary()
_weakset = weakref.WeakSet()
_pattern = re.compile("a(b)")
_tensors = {torch.ones(4, 4)}
_objects = {_Plain()}
_frozen = frozenset({1, 2})
_range = range(4)
_memory = memoryview(b"abc")
_signature = inspect.signature(_two)
_keys = {_Plain: 1}.keys()
_partial = functools.partial(_two, b=1)
_plain = _Plain()
_random_with = random.Random(1)
_flags = {"on": True}
_names = typing.NamedTuple("_names", [("a", int)])
_code = _two.__code__


def generator_returned(x: Tensor):
    """A generator made outside is advanced by `next`"""
    return x + next(_generator)


def generator_method(x: Tensor):
    """`generator.send(None)` on a generator made outside"""
    return x + _generator.send(None)


def generator_with_state(x: Tensor):
    """A generator that appends to a list is read in part and kept"""
    seen = []

    def numbers():
        for n in range(3):
            seen.append(n)
            yield n

    made = numbers()
    next(made)
    return x + 1, made


def iterator_made_outside(x: Tensor):
    """`next` of a list's iterator made outside"""
    return x + next(_iterator, 0)


def map_made_outside(x: Tensor):
    """`for` over a `map` made outside"""
    for n in _mapped:
        x = x + n
    return x


def zip_made_outside(x: Tensor):
    """`next` of a `zip` made outside"""
    return x + len(next(_zipped, ()))


def groupby_tensors(x: Tensor):
    """`itertools.groupby` by a key that is a tensor"""
    groups = [
        (key, list(values)) for key, values in itertools.groupby([x[0], x[1]], key=lambda row: row.sum())
    ]
    return x + len(groups)


def super_missing(x: Tensor):
    """`super().nothing` in a `try`"""
    try:
        return x + _SuperCallsMissing().missing()
    except AttributeError:
        return x + 1


def super_one_argument(x: Tensor):
    """`super(C)` with one argument"""
    return x + _OneArgument().get()


def id_compared(x: Tensor):
    """`id(list) > number`"""
    return x + (id([1]) > 3)


def bool_of_object(x: Tensor):
    """`if` on an object whose `__bool__` returns `bool(tensor)`"""
    if _TruthOfTensor(x):
        return x + 1
    return x


def getattr_partial(x: Tensor):
    """`__getattr__` that is a partial"""
    return x + _GetattrPartial().nothing


def getattribute_module(x: Tensor):
    """`__getattribute__` of a module that prints"""
    return _GetattributeModule()(x)


def metaclass_call(x: Tensor):
    """`abc.ABCMeta.register` inside"""

    class _Base(abc.ABC):
        pass

    _Base.register(int)
    return x + isinstance(1, _Base)


def dict_of_object_odd_key(x: Tensor):
    """`object.__dict__[1] = ...`"""
    made = _Plain()
    made.__dict__[1] = 2
    return x + made.value


def class_assigned(x: Tensor):
    """`object.__class__ = C`"""
    made = _Plain()
    made.__class__ = _Deletes
    return x + made.value


def setattr_computed_name(x: Tensor):
    """`setattr(object, f"{value}", ...)` with a value read from a tensor"""
    made = _Plain()
    setattr(made, "a" + str(x.sum().item()), 1)
    return x + made.value


def typed_dict_optional(x: Tensor):
    """A `TypedDict` with optional keys is made"""
    return x * _Optional(scale=2.0)["scale"]


def typing_hints(x: Tensor):
    """`typing.get_type_hints`"""
    return x + len(typing.get_type_hints(_Optional))


def mapping_proxy_object_keys(x: Tensor):
    """A `MappingProxyType` with classes as keys"""
    return x + _by_object[_Plain]


def keys_view_of_objects(x: Tensor):
    """A view of keys made outside, with classes in it"""
    return x + (_Plain in _keys)


def set_of_tensors(x: Tensor):
    """A set of tensors made outside"""
    return x + len(_tensors)


def tuple_ordered_with_tensors(s: Tensor):
    """`(1, s) < (1, t)`"""
    return s + ((1, s) < (1, s + 1))


def bytearray_concat(x: Tensor):
    """`bytearray + bytes`"""
    return x + len(bytearray(b"a") + b"b")


def memoryview_item(x: Tensor):
    """`memoryview[0]`"""
    return x + _memory[0]


def match_object_returned(x: Tensor):
    """`pattern.match(...).span()` and `.re`"""
    found = _pattern.match("ab")
    return x + found.span()[1] + len(found.re.pattern)


def pattern_finditer(x: Tensor):
    """`pattern.finditer`"""
    return x + len(list(_pattern.finditer("abab")))


def repr_of_closure(x: Tensor):
    """`repr` of a function made inside"""

    def inner():
        return x

    return x + (len(repr(inner)) > 3)


def error_keywords(x: Tensor):
    """An exception class with keywords of its own"""
    try:
        raise _KeywordError("a", code=2)
    except _KeywordError as error:
        return x + error.code


def error_builtin_keywords(x: Tensor):
    """`ImportError(..., name=...)`"""
    try:
        raise ImportError("a", name="b")
    except ImportError:
        return x + 1


def error_attribute_set(x: Tensor):
    """An attribute is set on a ValueError"""
    try:
        error = ValueError("a")
        error.code = 2
        raise error
    except ValueError:
        return x + 1


def error_notes(x: Tensor):
    """`error.add_note`"""
    try:
        raise ValueError("a")
    except ValueError as error:
        if sys.version_info >= (3, 11):
            error.add_note("b")
    return x + 1


def error_traceback_last(x: Tensor):
    """`error.__traceback__.tb_lasti`"""
    try:
        raise ValueError("a")
    except ValueError as error:
        return x + (error.__traceback__.tb_lasti > 0)


def error_group(x: Tensor):
    """`except*`-like: an ExceptionGroup is made"""
    if sys.version_info >= (3, 11):
        group = ExceptionGroup("a", [ValueError("b")])
        return x + len(group.exceptions)
    return x


def error_message_of_tensor(x: Tensor):
    """`AssertionError(tuple)` raised and caught"""
    try:
        raise AssertionError(("a", 1))
    except AssertionError:
        return x + 1


def unbound_local_caught(x: Tensor):
    """`except UnboundLocalError`"""
    try:
        y = z
        z = 1
    except UnboundLocalError:
        y = 1
    return x + y


def undefined_name_caught(x: Tensor):
    """`except NameError`"""
    try:
        return x + nothing_of_this_name
    except NameError:
        return x


def import_star_part(x: Tensor):
    """`from package import missing` in a `try`"""
    try:
        from torch import this_does_not_exist
    except ImportError:
        return x + 1
    return x


def method_type_made(x: Tensor):
    """`types.MethodType(function, object)`"""
    return x + types.MethodType(lambda self: self.value, _plain)()


def function_type_made(x: Tensor):
    """`types.FunctionType(code, globals)`"""
    return x + types.FunctionType(_same.__code__, {})(1)


def functools_cached(x: Tensor):
    """`functools.lru_cache(function)` made inside"""
    return x + functools.lru_cache(_same)(1)


def functools_singledispatch(x: Tensor):
    """`functools.singledispatch` function"""
    return x + _dispatched(1)


@functools.singledispatch
def _dispatched(value):
    return 2


@_dispatched.register
def _(value: int):
    return 3


def call_with_wrong_arguments(x: Tensor):
    """`except TypeError` of a call with too few arguments"""
    try:
        return x + _two(1)
    except TypeError:
        return x


def manager_returned(x: Tensor):
    """A `@contextmanager` object is returned"""
    return x + 1, _manager()


def manager_not_generator(x: Tensor):
    """A `@contextmanager` that is no generator, called"""
    _no_generator()
    return x + 1


def hasattr_of_builtins(x: Tensor):
    """`hasattr` of a range, a slice and a view"""
    return x + hasattr(_range, "start") + hasattr(slice(1), "start") + hasattr({}.keys(), "mapping")


def random_seeded(x: Tensor):
    """`random.Random(x=1)`"""
    return (
        x + random.Random(x=1).random() * 0
        if sys.version_info < (3, 9)
        else x + random.Random(1).random() * 0
    )


def random_made_outside(x: Tensor):
    """`random.Random.shuffle` of a list"""
    numbers = [1, 2, 3]
    _random_with.shuffle(numbers)
    return x + numbers[0] * 0


@dataclasses.dataclass(frozen=True)
class _Frozen:
    scale: int
    twice: int = 0

    def __post_init__(self):
        object.__setattr__(self, "twice", self.scale * 2)


@dataclasses.dataclass(frozen=True)
class _FrozenPlain:
    scale: int
    other: int = dataclasses.field(init=False)


def async_function(x: Tensor):
    """An `async def` is called and run by `send`"""

    async def inner():
        return 1

    coroutine = inner()
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return x + stop.value
    return x


def frame_read(x: Tensor):
    """`inspect.currentframe().f_lineno`"""
    return x + (inspect.currentframe().f_lineno > 0)


def stack_read(x: Tensor):
    """`sys._getframe().f_code.co_name`"""
    return x + len(sys._getframe().f_code.co_name)


def size_of(x: Tensor):
    """`sys.getsizeof`"""
    return x + sys.getsizeof([1]) * 0


class _TestCase(unittest.TestCase):
    def runTest(self):
        pass


_test_case = _TestCase()


_linear = nn.Linear(4, 4).requires_grad_(False)


class _HashItem:
    def __init__(self, tensor):
        self.tensor = tensor

    def __hash__(self):
        return int(self.tensor.sum().item())


class _Callable:
    __call__ = functools.partial(_two, b=1)


class _ListWithOwnLen(list):
    def __len__(self):
        print("a")
        return 1


class _BuiltinMethod:
    __len__ = functools.partial(len, (1, 2))
    __contains__ = operator.contains
    __iter__ = functools.partial(iter, (1, 2))


class _NewWithArguments:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.value = value
        return made


class _Descriptor:
    __slots__ = ("owner",)

    def __set_name__(self, owner, name):
        self.owner = name

    def __get__(self, instance, owner=None):
        return 3


class _WithDescriptor:
    value = _Descriptor()


class _Abstract(abc.ABC):
    @abc.abstractmethod
    def get(self): ...


class _ModuleGetattrPartial(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    __getattr__ = functools.partialmethod(lambda self, name: 2.0)


class _ModuleNewMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(x)

    def __getattribute__(self, name):
        if name == "odd":
            return torch._dynamo.graph_break()
        return super().__getattribute__(name)


class _ReprPartial:
    __repr__ = functools.partial(str, "a")


class _StrC:
    __str__ = int.__repr__


class _IntStr(int):
    __str__ = int.__repr__


class _Unhashable(list):
    __hash__ = object.__hash__


class _DeletesUnknown:
    def __init__(self):
        self.value = 1

    def __delattr__(self, name):
        super().__delattr__("value" if self is not None else name)


class _SetsOnMeta(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value)


class _MetaSet(metaclass=_SetsOnMeta):
    scale = 1


_partial_odd = functools.partial(_two, b=1)
_partial_method = _Callable()
_list_own = _ListWithOwnLen([1, 2])
_built = _BuiltinMethod()
_proxy_dict = {"a": 1}
_proxy = types.MappingProxyType(_proxy_dict)
_deletes = _Deletes()
_chain = collections.ChainMap({"a": 1})
_user_dict = collections.UserDict(a=1)
_user_list = collections.UserList([1, 2])
_simple = types.SimpleNamespace(value=1)
_module_getattr = _ModuleGetattrPartial().requires_grad_(False)
_module_new = _ModuleNewMethod()
_datetime = __import__("datetime").timedelta(1)
_decimal = __import__("decimal").Decimal(2)
_fraction = __import__("fractions").Fraction(1, 2)
_array = __import__("array").array("i", [1, 2, 3])
_path = __import__("pathlib").PurePath("a")
_lock = __import__("threading").Lock()
_thread_local = __import__("threading").local()
_bytes = bytearray(b"abc")
_struct = __import__("time").gmtime(0)
_matched = _pattern.match("ab")
_string_io = __import__("io").StringIO("a")
_csv_row = {"a": 1.0}


def hash_of_item(x: Tensor):
    """`__hash__` that returns `.item()`"""
    return x + {_HashItem(x): 1}.get(None, 2)


def hash_of_bound_method(x: Tensor):
    """A bound method of a C object as a key"""
    return x + {_array.append: 1}.get(None, 2)


def compare_arrays(x: Tensor):
    """`array.array == array.array`"""
    return x + (_array == _array)


def compare_methods(x: Tensor):
    """`a.append == b.append`"""
    made = [1]
    return x + (made.append == made.append) + (_array.append == _array.append)


def float_of_fraction(x: Tensor):
    """`float(Fraction)`, `int(Decimal)`"""
    return x + float(_fraction) + int(_decimal)


def array_item_set(x: Tensor):
    """`array[0] = 1`"""
    _array[0] = 1
    return x + 1


def array_repeat(x: Tensor):
    """`array * 2`"""
    return x + len(_array * 2)


def array_repeat_in_place(x: Tensor):
    """`bytearray *= 2`"""
    made = _bytes
    made *= 1
    return x + len(made)


def array_concat_in_place(x: Tensor):
    """`bytearray += b""`"""
    made = _bytes
    made += b""
    return x + len(made)


def array_contains(x: Tensor):
    """`1 in array`"""
    return x + (1 in _array)


def bytearray_repr(x: Tensor):
    """`repr(bytearray)`, `str(array)`"""
    return x + len(repr(_bytes))


def map_repr(x: Tensor):
    """`repr(map)`, `repr(zip)`"""
    return x + (len(repr(map(abs, [1]))) > 3) + (len(repr(zip([1]))) > 3)


def simple_namespace_set(x: Tensor):
    """A field of a SimpleNamespace made outside is set"""
    _simple.value = 2
    return x + _simple.value


def module_getattribute_break(x: Tensor):
    """A module whose `__getattribute__` breaks"""
    _module_new.odd
    return _module_new(x)


def object_len_prints(x: Tensor):
    """`__len__` that prints"""
    return x + len(_list_own)


def object_new_abstract(x: Tensor):
    """An abstract class is made, in a `try`"""
    try:
        _Abstract()
    except TypeError:
        return x + 1
    return x


def class_attribute_deleted(x: Tensor):
    """A class attribute is set and deleted"""
    _Plain.extra = 1
    del _Plain.extra
    return x + 1


def slice_of_list_by_tensor(x: Tensor, i: Tensor):
    """`list[0:tensor]`"""
    return x + len([1, 2, 3][: i[1]])


def key_of_list_subclass(x: Tensor):
    """A list subclass with a hash as a key"""
    return x + {_Unhashable([1]): 2}.get(1, 3)


def proxy_of_changed_dict(x: Tensor):
    """A dict changes, then a `MappingProxyType` made outside is read"""
    _proxy_dict["a"] = 2
    return x + _proxy["a"]


def partial_without_arguments(x: Tensor):
    """`functools.partial()`, in a `try`"""
    try:
        functools.partial()
    except TypeError:
        return x + 1
    return x


def deque_too_many(x: Tensor):
    """`deque(a, b, c)`, in a `try`"""
    try:
        collections.deque([1], 2, 3)
    except TypeError:
        return x + 1
    return x


def product_keyword(x: Tensor):
    """`itertools.product(nothing=1)`, in a `try`"""
    try:
        list(itertools.product([1], nothing=1))
    except TypeError:
        return x + 1
    return x


def groupby_keyword(x: Tensor):
    """`itertools.groupby(nothing=1)`, in a `try`"""
    try:
        list(itertools.groupby([1], nothing=1))
    except TypeError:
        return x + 1
    return x


def groupby_error(x: Tensor):
    """`itertools.groupby` with a key that raises, in a `try`"""
    try:
        list(itertools.groupby([1], key=lambda n: n.nothing))
    except AttributeError:
        return x + 1
    return x


def random_too_many(x: Tensor):
    """`random.Random(1, 2)`, in a `try`"""
    try:
        random.Random(1, 2)
    except TypeError:
        return x + 1
    return x


def random_made_inside(x: Tensor):
    """`random.Random(1).randint` made inside"""
    return x + random.Random(1).randint(0, 3) * 0


def typing_origin(x: Tensor):
    """`List[int].__origin__`, `copy_with`"""
    return x + (typing.List[int].copy_with((str,)) is not None)


def _kinds():
    return (KeyError, ValueError)


def except_odd_type(x: Tensor):
    """`except x.shape`, where nothing is raised of it, in a `try`"""
    try:
        try:
            raise KeyError("a")
        except x.shape:
            return x
    except (TypeError, KeyError):
        return x + 1


def except_mixed_types(x: Tensor):
    """`except (KeyError, "a")`, in a `try`"""
    try:
        try:
            raise ValueError("a")
        except (KeyError, "a"):
            return x
    except TypeError:
        return x + 1


_compiled_counts = torch.compile(_counts, backend="eager")


def _make_counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


_count_up = _make_counter()


def dataclass_made_inside(x: Tensor):
    """`dataclasses.make_dataclass` inside"""
    return x + dataclasses.make_dataclass("D", [("a", int)])(2).a


def import_submodule_late(x: Tensor):
    """`importlib.import_module` of an object in sys.modules that is no module"""
    import pt2lint_not_a_module

    return x + 1


sys.modules["pt2lint_not_a_module"] = _Plain()


def break_in_comprehension(x: Tensor):
    """A break in a comprehension"""
    return x + sum([_printed(n) for n in range(3)])


def _printed(n):
    print(n)
    return n


def isinstance_unknown(x: Tensor):
    """`isinstance(x, 3)`, in a `try`"""
    try:
        return x + isinstance(x, 3)
    except TypeError:
        return x + 1


def issubclass_wrong(x: Tensor):
    """`issubclass(x, int)`, in a `try`"""
    try:
        return x + issubclass(x, int)
    except TypeError:
        return x + 1


def getattr_of_tensor_name(x: Tensor):
    """`getattr(x, x)`, in a `try`"""
    try:
        return x + getattr(x, x)
    except TypeError:
        return x + 1


def setattr_on_tensor_name(x: Tensor):
    """`setattr(object, x, 1)`, in a `try`"""
    made = _Plain()
    try:
        setattr(made, x, 1)
    except TypeError:
        return x + 1
    return x


def open_for_with(x: Tensor):
    """A StringIO made outside is iterated"""
    return x + len(list(_string_io))


def lock_attribute(x: Tensor):
    """`lock.locked()`"""
    return x + _lock.locked()


class _CallsInit(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value


def str_of_generator(x: Tensor):
    """`str(generator)`"""
    return x + (len(str(_counts(3))) > 3)


def str_method_of_c(x: Tensor):
    """`str` of an object whose `__str__` is C"""
    return x + len(str(_StrOfC()))


class _StrOfC:
    __str__ = object.__repr__


_complex = 3 + 4j
