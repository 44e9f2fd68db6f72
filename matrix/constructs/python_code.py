# ruff: noqa
"""The language itself: exceptions, classes, closures, builtins, reflection."""

import abc
import contextlib
import decimal
import fractions
import functools
import inspect
import operator

import torch
from torch import Tensor

_count = 0
_settings = {"mode": "fast"}


class _Problem(Exception):
    def __init__(self, code):
        super().__init__(f"problem {code}")
        self.code = code


class _Box:
    size = 3

    def __init__(self, value):
        self.value = value

    def __len__(self):
        return self.size

    def __getitem__(self, key):
        return self.value * key

    def __iter__(self):
        return iter([1, 2])

    def __eq__(self, other):
        return isinstance(other, _Box)

    def __hash__(self):
        return 1

    def __bool__(self):
        return True

    def __contains__(self, key):
        return key == 1

    def __add__(self, other):
        return self.value + other

    def __call__(self, x):
        return x + self.size

    def __enter__(self):
        return self

    def item(self):
        return 2

    def tolist(self):
        return [1, 2]

    def nonzero(self):
        return 3

    def print(self, text):
        return len(text)


class _Dynamic:
    def __getattr__(self, name):
        return len(name)


class _Managed:
    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, value):
        self._width = value


class _Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class _WithMeta(metaclass=_Meta):
    def __init__(self, a):
        self.a = a


class _Abstract(abc.ABC):
    @abc.abstractmethod
    def run(self, x): ...


class _Concrete(_Abstract):
    def run(self, x):
        return x + 1


class _Iterator:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n


class _Descriptor:
    def __get__(self, instance, owner):
        return 3


class _Described:
    field = _Descriptor()


def _wraps(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return inner


@_wraps
def _wrapped(x):
    return x * 2


@functools.lru_cache(maxsize=None)
def _cached(n):
    return n + 1


@functools.cache
def _cached_tensor(n):
    return torch.ones(n)


@functools.singledispatch
def _dispatch(value):
    return 1


@_dispatch.register
def _(value: int):
    return 2


def _recursive(x, n):
    return x if n == 0 else _recursive(x + 1, n - 1)


def _many(*args, scale=1, **kwargs):
    return sum(args) * scale + sum(kwargs.values())


def try_plain(x: Tensor):
    """`try` around torch calls"""
    try:
        y = x.sum()
    except RuntimeError:
        y = 0
    return x + y


def raise_and_catch(x: Tensor):
    """an exception raised and caught"""
    try:
        raise ValueError("a")
    except ValueError:
        return x + 1


def raise_custom_and_catch(x: Tensor):
    """a class of this file, raised, caught and read"""
    try:
        raise _Problem(3)
    except _Problem as problem:
        return x + problem.code


def raise_from(x: Tensor):
    """`raise ... from`, nested"""
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("b") from error
    except ValueError as error:
        return x + isinstance(error.__cause__, KeyError)


def reraise(x: Tensor):
    """a bare `raise`"""
    try:
        try:
            raise ValueError
        except ValueError:
            raise
    except ValueError:
        return x + 1


def try_else_finally(x: Tensor):
    """`try`, `else`, `finally`"""
    try:
        y = x + 1
    except ValueError:
        y = x
    else:
        y = y * 2
    finally:
        y = y + 1
    return y


def finally_return(x: Tensor):
    """`return` in `try` with `finally`"""
    global _count
    try:
        return x + 1
    finally:
        _count = 1


def except_key_error(x: Tensor):
    """`KeyError` of a dict, caught"""
    try:
        return x + {"a": 1}["b"]
    except KeyError:
        return x + 1


def except_attribute_error(x: Tensor):
    """`AttributeError` of an object, caught"""
    try:
        return x + object().missing
    except AttributeError:
        return x + 1


def except_attribute_error_tensor(x: Tensor):
    """`AttributeError` of a tensor, caught"""
    try:
        return x.missing
    except AttributeError:
        return x + 1


def except_index_error(x: Tensor):
    """`IndexError`, `ZeroDivisionError`, `TypeError`, caught"""
    try:
        return x + [1][3]
    except IndexError:
        x = x + 1
    try:
        return x + 1 // 0
    except ZeroDivisionError:
        x = x + 1
    return x


def except_torch_error(x: Tensor):
    """a shape error of torch, caught"""
    try:
        return x @ x[:3]
    except RuntimeError:
        return x + 1


def exception_group(x: Tensor):
    """an exception object stored and its `args` read"""
    error = ValueError("a", 2)
    return x + error.args[1]


def assert_constant(x: Tensor):
    """`assert True`"""
    assert True
    return x + 1


def lambdas(x: Tensor):
    """a lambda with a default"""
    add = lambda v, k=2: v + k
    return add(x)


def closures(x: Tensor):
    """a closure with `nonlocal`"""
    total = 0

    def add(v):
        nonlocal total
        total = total + v

    add(1)
    add(2)
    return x + total


def closure_of_tensor(x: Tensor):
    """a closure that rebinds a tensor"""
    y = x

    def step():
        nonlocal y
        y = y * 2

    step()
    return y


def global_number(x: Tensor):
    """`global n; n += 1`"""
    global _count
    _count += 1
    return x + _count


def global_dict(x: Tensor):
    """a global dict read and written"""
    _settings["seen"] = True
    return x + (_settings["mode"] == "fast")


def recursion(x: Tensor):
    """recursion"""
    return _recursive(x, 3)


def star_arguments(x: Tensor):
    """`*args`, `**kwargs`, keyword-only"""
    return _many(x, x, scale=2, a=x) + _many(*[x], **{"scale": 3})


def decorated(x: Tensor):
    """a decorated function with `functools.wraps`"""
    return _wrapped(x)


def partial(x: Tensor):
    """`functools.partial`, keywords, nested"""
    add = functools.partial(torch.add, alpha=2)
    return functools.partial(add, x)(x)


def partial_method(x: Tensor):
    """`functools.partialmethod`, `operator.methodcaller`"""
    return operator.methodcaller("sum", 0)(x) + 1


def lru_cache_call(x: Tensor):
    """an `lru_cache`d function of numbers"""
    return x + _cached(3)


def cache_of_tensor(x: Tensor):
    """a `functools.cache`d function that makes a tensor"""
    return x + _cached_tensor(4)


def single_dispatch(x: Tensor):
    """`functools.singledispatch`"""
    return x + _dispatch(3)


def walrus(x: Tensor):
    """`y := x + 1`"""
    return y if (y := x + 1) is not None else x


def match_class(x: Tensor):
    """`match` on a class, a sequence and a mapping"""
    match {"a": [1, 2]}:
        case {"a": [first, *_]}:
            return x + first
        case _:
            return x


def class_inside(x: Tensor):
    """a class defined inside"""

    class Local:
        a = 1

    return x + Local.a


def class_by_type(x: Tensor):
    """`type("Name", (), {})`"""
    return x + type("Name", (), {"a": 1}).a


def class_made(x: Tensor):
    """an object of this file's class, made and read"""
    return _Box(x).value + _Box.size


def class_operators(x: Tensor):
    """`__add__`, `__getitem__`, `__len__`, `__call__`, `__contains__`"""
    b = _Box(x)
    return (b + 1) + b[2] + len(b) + b(x) + (1 in b)


def class_truth(x: Tensor):
    """`__bool__` of an object in `if`"""
    if _Box(x):
        return x + 1
    return x


def class_equality(x: Tensor):
    """`__eq__`, `__hash__` of objects"""
    return x + (_Box(1) == _Box(2)) + len({_Box(1): 1})


def class_iteration(x: Tensor):
    """`__iter__`, `__next__` of objects"""
    for v in _Box(x):
        x = x + v
    for v in _Iterator():
        x = x + v
    return x


def class_item_method(x: Tensor):
    """an `item()` method that is not a tensor's"""
    return x + _Box(1).item()


def class_methods_named_alike(x: Tensor):
    """`tolist`, `nonzero`, `print` methods that are an object's own"""
    b = _Box(1)
    return x + b.tolist()[0] + b.nonzero() + b.print("step")


def class_getattr(x: Tensor):
    """`__getattr__` of an object"""
    return x + _Dynamic().anything


def class_property(x: Tensor):
    """a property with a setter"""
    m = _Managed()
    m.width = 3
    return x + m.width


def class_descriptor(x: Tensor):
    """a descriptor"""
    return x + _Described().field


def class_metaclass(x: Tensor):
    """a class with a metaclass"""
    return x + _WithMeta(3).a


def class_abstract(x: Tensor):
    """a concrete subclass of an ABC"""
    return _Concrete().run(x) + isinstance(_Concrete(), _Abstract)


def class_attribute_set(x: Tensor):
    """an attribute of a class set"""
    _Box.size = 3
    return x + _Box.size


def class_delattr(x: Tensor):
    """`delattr`, `setattr`, `hasattr` of an object"""
    b = _Box(x)
    setattr(b, "extra", 2)
    delattr(b, "extra")
    return x + hasattr(b, "extra")


def object_dict(x: Tensor):
    """`vars(object)`, `object.__dict__`"""
    b = _Box(2)
    return x + vars(b)["value"] + b.__dict__["value"]


def object_identity(x: Tensor):
    """`id(a) == id(b)`"""
    return x + (id(_settings) == id(_settings))


def object_class_name(x: Tensor):
    """`type(b).__name__`, `b.__class__`"""
    b = _Box(x)
    return x + len(type(b).__name__) + (b.__class__ is _Box)


def function_name(x: Tensor):
    """`function.__name__`, `__doc__`, `__defaults__`"""
    return x + len(_recursive.__name__) + (_many.__defaults__ is None)


def function_attribute(x: Tensor):
    """an attribute of a function"""
    _recursive.calls = 3
    return x + _recursive.calls


def builtin_dir(x: Tensor):
    """`dir(object)`"""
    return x + ("value" in dir(_Box(1)))


def builtin_callable(x: Tensor):
    """`callable`, `issubclass`, `isinstance` with a tuple"""
    return x + callable(_many) + issubclass(bool, int) + isinstance(3, (int, float))


def builtin_locals(x: Tensor):
    """`locals()`"""
    y = 1
    return x + len(locals())


def builtin_globals(x: Tensor):
    """`globals()[...]`"""
    return x + len(globals()["_settings"])


def builtin_eval(x: Tensor):
    """`eval`"""
    return x + eval("1 + 1")


def builtin_exec(x: Tensor):
    """`exec`"""
    exec("1 + 1")
    return x + 1


def builtin_hash(x: Tensor):
    """`hash(tensor)`"""
    return x + (hash(x) == hash(x))


def builtin_round_numbers(x: Tensor):
    """`round`, `abs`, `divmod`, `pow`, `min`, `max`, `sum` of numbers"""
    return x + round(2.5) + abs(-1) + divmod(7, 2)[1] + pow(2, 3) + min(1, 2) + max([1, 2]) + sum([1, 2])


def builtin_object(x: Tensor):
    """`object()` as a sentinel"""
    missing = object()
    return x + (missing is missing)


def builtin_breakpoint_off(x: Tensor):
    """`breakpoint()` in a branch that is not taken"""
    if x.dim() > 5:
        breakpoint()
    return x + 1


def numbers_complex(x: Tensor):
    """`abs(complex(1, 1))`"""
    return x + abs(complex(1, 1))


def numbers_methods(x: Tensor):
    """`int.bit_length`, `float.is_integer`, `float.hex`"""
    return x + (5).bit_length() + (2.0).is_integer()


def numbers_fraction(x: Tensor):
    """`fractions.Fraction`"""
    return x + float(fractions.Fraction(1, 2))


def numbers_decimal(x: Tensor):
    """`decimal.Decimal`"""
    return x + float(decimal.Decimal("0.5"))


def inspect_currentframe(x: Tensor):
    """`inspect.currentframe()`"""
    return x + (inspect.currentframe() is not None)


def coroutine(x: Tensor):
    """an `async def` driven by `send`"""

    async def work():
        return 3

    c = work()
    try:
        c.send(None)
    except StopIteration as stop:
        return x + stop.value
    return x


def memory_view(x: Tensor):
    """`memoryview`"""
    return x + memoryview(b"ab")[0]


def delete_global_and_restore(x: Tensor):
    """`del` of a dict entry of the module"""
    _settings["temporary"] = 1
    del _settings["temporary"]
    return x + 1


def annotations_inside(x: Tensor):
    """variable annotations inside"""
    y: Tensor = x + 1
    n: int = 2
    return y * n


def ellipsis_and_none(x: Tensor):
    """`...`, `None`, `NotImplemented` as values"""
    index = (..., None)
    return x[index].squeeze(-1) + (NotImplemented is None)


def chained_comparison(x: Tensor):
    """`0 < n < 5` of numbers"""
    if 0 < x.shape[0] < 5:
        return x + 1
    return x


def conditional_import_flag(x: Tensor):
    """a flag of the module level that says whether a package is there"""
    if _settings["mode"] == "fast" and contextlib is not None:
        return x + 1
    return x
