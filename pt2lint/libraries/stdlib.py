"""The standard library: functools, copy, math, random, contextlib and the like."""

from __future__ import annotations

from pt2lint.libraries.builtins import dictionary_by_name
from pt2lint.libraries.call import Call, named
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.op import DREW
from pt2lint.static.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    OFF_TEXTS,
    OFTEN_OFF,
    TRUE,
    UNKNOWN,
    Dict,
    Ext,
    Func,
    Instance,
    Partial,
    Py,
    Seq,
    Tensor,
    Value,
    Wrapped,
    is_none,
    join,
    join_all,
    tensor_of,
)

IDENTITY = "pt2lint.identity"  # a decorator that changes nothing
PICKED, ASKED = "pt2lint.picked", "pt2lint.asked"  # what `itemgetter(key)` and `attrgetter(name)` call
WRAPPERS = ("functools.wraps", "functools.lru_cache")
CONTEXTS = (
    "contextlib.redirect_stdout",
    "contextlib.redirect_stderr",
    "contextlib.closing",
    "contextlib.suppress",
    "contextlib.ExitStack",
)
THREADS = (
    *(f"threading.{n}" for n in ("Lock", "RLock", "Condition", "Event", "Semaphore", "Thread")),
    *(f"queue.{n}" for n in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")),
    *(f"asyncio.{n}" for n in ("Lock", "Event", "Condition", "Semaphore", "Queue")),
    *("multiprocessing.Process", "torch.multiprocessing.Process", "concurrent.futures.ThreadPoolExecutor"),
    *(f"multiprocessing.context.{n}" for n in ("ForkProcess", "SpawnProcess")),
)
STARTS = (
    *("threading.Thread", "threading.Timer", "_thread.start_new_thread"),
    *("concurrent.futures.ThreadPoolExecutor", "multiprocessing.pool.ThreadPool"),
    *(f"concurrent.futures.ThreadPoolExecutor.{n}" for n in ("submit", "map")),
    *(f"multiprocessing.pool.ThreadPool.{n}" for n in ("apply", "apply_async", "map", "imap", "map_async")),
)
SHARED = ("Value", "Array", "Lock", "RLock", "Event", "Semaphore", "Queue")  # what processes share
# Measured on torch 2.6, 2.9 and 2.13: Dynamo has no symbol for what these give, and keeps the number; it has one for
# `sqrt`, `log2`, `cos` and its like, `floor` and `ceil`.
KEPT = {
    **dict.fromkeys(
        "asinh atanh cbrt degrees erf erfc exp exp2 expm1 fabs gamma lgamma log10 log1p".split(), 1
    ),
    **dict.fromkeys("atan2 copysign fmod hypot ldexp log nextafter pow remainder".split(), 2),
}
WHOLE = frozenset(f"math.{n}" for n in ("floor", "ceil", "gcd", "prod", "isqrt"))
DRAWN = (
    "randint",
    "randrange",
    "uniform",
    "Random.randint",
    "Random.randrange",
    "Random.random",
    "Random.uniform",
)


def partial(call: Call) -> Value:
    if call.args and named(call.args[0]) in WRAPPERS:
        return UNKNOWN
    return Partial(call.args[0], call.args[1:], call.kwargs) if call.args else UNKNOWN


def wraps(call: Call) -> Value:
    return Ext(IDENTITY)


def same(call: Call) -> Value:
    return call.args[0] if call.args else UNKNOWN


def copied(call: Call) -> Value:
    """`copy.deepcopy(cache)`: the same, and a copy of the tensors that the object holds."""
    owner = same(call)
    if call.frame.region and isinstance(owner, Instance) and owner.cls is not None:
        inside = call.attributes(owner)
        inside += [call.element(value) for value in inside if isinstance(value, Seq)]
        held = next(filter(None, map(tensor_of, inside)), None)
        if held is not None:
            call.note("call copy.deepcopy", held, {0: "object of tensor"})
    return owner


def imported(call: Call) -> Value:
    """`importlib.import_module("package.part")`"""
    name = call.args[0].const if call.args and isinstance(call.args[0], Py) else None
    return Ext(name) if isinstance(name, str) and not name.startswith(".") else UNKNOWN


def reduced(call: Call) -> Value:
    """`functools.reduce(f, items, first)`: what `f` makes of what came before and of an item."""
    if len(call.args) < 2:
        return UNKNOWN
    each = call.element(call.args[1])
    return call.apply(call.args[0], [join(each, call.args[2]) if len(call.args) > 2 else each, each])


def operated(call: Call) -> Value:
    """`operator.add(x, y)`"""
    if any(tensor_of(value) is not None for value in call.args):
        return Tensor(None, None)
    return join_all(call.args) if all(isinstance(value, Py) for value in call.args) else UNKNOWN


def getter(call: Call) -> Value:
    """`operator.itemgetter(1)`, `operator.attrgetter("score")`: a function of what it is given."""
    if len(call.args) != 1 or not isinstance(call.args[0], Py):
        return UNKNOWN
    return Partial(Ext(PICKED if call.name == "operator.itemgetter" else ASKED), call.args, {})


def picked(call: Call) -> Value:
    key, owner = call.args[0], call.args[1] if len(call.args) == 2 else UNKNOWN
    at = key.const if isinstance(key, Py) else None
    if isinstance(owner, Seq) and owner.elts is not None and isinstance(at, int) and at < len(owner.elts):
        return owner.elts[at]
    if isinstance(owner, Dict) and isinstance(at, str):
        return owner.items.get(at, UNKNOWN)
    return Tensor(owner.dtype, owner.origin) if isinstance(owner, Tensor) else UNKNOWN


def asked(call: Call) -> Value:
    name = call.args[0].const if isinstance(call.args[0], Py) else None
    owner = call.args[1] if len(call.args) == 2 else UNKNOWN
    return call.attribute(owner, name) if isinstance(name, str) and name.isidentifier() else UNKNOWN


def cached(call: Call) -> Value:
    if call.args and isinstance(call.args[0], (Func, Wrapped)):
        return call.args[0]
    return Ext(IDENTITY)


def is_function(call: Call) -> Value:
    return TRUE if call.args and isinstance(call.args[0], Func) else BOOL


def drawn(call: Call) -> Value:
    """Dynamo draws the number at run time and traces it as a tensor of no dimensions; elsewhere it is a number."""
    if not call.frame.region:
        return INT if call.name.endswith(("randint", "randrange")) else FLOAT
    return Tensor(None, call.origin(DREW), True, True, 0)


def computed(call: Call) -> Value:
    return INT if call.name in WHOLE else FLOAT


def of_the_environment(call: Call) -> Value:
    """`os.environ.get("DEBUG")`, `os.environ.get("LEVEL", "0")`: off unless somebody sets it."""
    default = call.args[1] if len(call.args) > 1 else NONE
    if not isinstance(default, Py):
        return UNKNOWN
    off = OFTEN_OFF if is_none(default) or default.const in OFF_TEXTS else 0
    return Py("object" if is_none(default) else "str", off=off)


NAMESPACE = "types.SimpleNamespace"


def namespace(call: Call) -> Value:
    """`SimpleNamespace(step=step)`: it has what it is given."""
    made = Instance(None, NAMESPACE)
    made.attrs.update({name: value for name, value in call.kwargs.items() if name != "**"})
    return made


def held(type_name: str, owner: Value, name: str) -> Value | None:
    return owner.attrs.get(name) if type_name == NAMESPACE and isinstance(owner, Instance) else None


def fields_copied(call: Call) -> Value:
    """`dataclasses.asdict(batch)`: the fields of an object, as copies."""
    owner = call.args[0] if call.args else UNKNOWN
    if not isinstance(owner, Instance) or owner.cls is None:
        return UNKNOWN
    fields = call.fields(owner)
    tensor = next(filter(None, map(tensor_of, fields.values())), None)
    if tensor is not None:
        why = "it makes a deep copy of the tensors that the object holds"
        call.note("call breaking", tensor, details={"why": why})
    return Dict(fields, UNKNOWN) if call.name.endswith("asdict") else Seq([*fields.values()], None, "tuple")


NAMED = "collections.namedtuple.made"


def ordered_by_name(call: Call) -> Value:
    """`OrderedDict(model.named_parameters())`"""
    return dictionary_by_name(call.args[0] if call.args else UNKNOWN) or made_or_unknown(call)


def names_parts(call: Call) -> Value:
    """`namedtuple("Batch", ["x", "y"])`, or with the names in one text: the class of such tuples."""
    names = call.args[1] if len(call.args) > 1 else call.kwargs.get("field_names", UNKNOWN)
    if isinstance(names, Py) and isinstance(names.const, str):
        names = Seq([Py("str", name) for name in names.const.replace(",", " ").split()])
    known = isinstance(names, Seq) and names.elts and all(isinstance(n, Py) and n.const for n in names.elts)
    return Ext(NAMED, names) if known else UNKNOWN


def named_parts(call: Call) -> Value:
    """`Batch(x, y=y)`, of what `namedtuple` made."""
    assert isinstance(call.receiver, Seq)
    names = tuple(str(name.const) for name in call.receiver.elts or () if isinstance(name, Py))
    given = dict(zip(names, call.args, strict=False)) | call.kwargs
    return Seq([given.get(name, UNKNOWN) for name in names], None, "tuple", None, names)


# Measured on torch 2.13.
LOOKED_INTO = (
    (
        "ctypes",
        "c_bool c_byte c_char_p c_double c_float c_int c_int32 c_int64 c_long c_longlong c_short c_size_t c_uint "
        "c_uint8 c_uint16 c_uint32 c_uint64 c_ulong c_void_p addressof",
        "it makes a value of C, which Dynamo does not trace",
    ),
    ("weakref", "proxy", "Dynamo does not trace how a weak reference is made"),
    ("inspect", "getsource getfile getmembers", "Dynamo does not trace how objects are looked into"),
    ("glob", "glob iglob", "Dynamo does not trace how files are looked for"),
    ("cmath", "exp log phase polar rect sqrt", "it is written in C"),
    ("unicodedata", "category normalize", "it is written in C"),
    ("marshal", "dumps loads", "it is written in C"),
    ("tracemalloc", "get_traced_memory start stop take_snapshot", "it asks the interpreter for its memory"),
    ("linecache", "getline", "it reads a file"),
    ("ast", "literal_eval", "Dynamo does not trace how texts are parsed"),
    ("shlex", "split", "Dynamo does not trace how texts are parsed"),
    ("urllib.parse", "quote", "Dynamo does not trace how texts are parsed"),
    ("fnmatch", "filter fnmatch", "Dynamo does not trace how names are matched"),
    ("calendar", "monthrange", "Dynamo does not trace how dates are made"),
    ("types", "MethodType new_class", "Dynamo does not trace how methods and classes are made"),
    ("random", "getstate setstate", "Dynamo does not trace the state of random number generators"),
    ("sys", "audit gettrace settrace", "it calls into the interpreter"),
    ("builtins", "input", "it waits for somebody at the terminal"),
    ("pdb", "set_trace", "it waits for somebody at the terminal"),
    (
        "threading",
        "Barrier BoundedSemaphore Condition Event Lock RLock Semaphore active_count enumerate",
        "Dynamo does not trace threads and their locks",
    ),
    ("multiprocessing", "cpu_count", "it asks the operating system"),
    ("torch.multiprocessing", "cpu_count", "it asks the operating system"),
)

LIBRARIES = (
    Library(
        "collections",
        handlers={
            "collections.OrderedDict": ordered_by_name,
            "collections.defaultdict": lambda call: Dict({}, UNKNOWN),
            "collections.namedtuple": names_parts,
            NAMED: named_parts,
        },
        measured="tests/static/test_libraries.py",
    ),
    Library(
        "dataclasses",
        handlers=dict.fromkeys(("dataclasses.asdict", "dataclasses.astuple"), fields_copied),
        measured="tests/static/test_libraries.py",
    ),
    Library(
        "types",
        handlers={NAMESPACE: namespace, "inspect.isfunction": is_function},
        breaks={f"{home}.{name}": why for home, names, why in LOOKED_INTO for name in names.split()},
        attribute=held,
        measured="matrix/calls.py",
    ),
    Library("pt2lint", handlers={IDENTITY: same, PICKED: picked, ASKED: asked}),
    Library(
        "functools",
        roles={
            "caches": ("functools.lru_cache", "functools.cache"),
            "stands for": ("functools.wraps",),
            "property": ("functools.cached_property",),
            "property kept": ("functools.cached_property",),
        },
        handlers={
            "functools.partial": partial,
            "functools.reduce": reduced,
            **{f"operator.{name}": operated for name in "add sub mul truediv matmul and_ or_".split()},
            "operator.itemgetter": getter,
            "operator.attrgetter": getter,
            "functools.wraps": wraps,
            "functools.lru_cache": cached,
            "functools.cache": cached,
        },
        measured="matrix/constructs/python_code.py",
    ),
    *(Library(name, roles={"runs tests": (f"{name}*",)}) for name in ("pytest", "unittest")),
    Library(
        "importlib",
        roles={"loads code": ("importlib.import_module",)},
        handlers={"importlib.import_module": imported},
        measured="matrix/calls.py",
    ),
    Library(
        "copy",
        given="anything",
        roles={"copies": ("copy.deepcopy",), "pickles": ("pickle.dump", "pickle.dumps")},
        handlers={"copy.deepcopy": copied, "copy.copy": same},
        measured="matrix/calls.py",
    ),
    Library(
        "math",
        given="anything",
        constants=dict.fromkeys(("math.pi", "math.e", "math.inf", "math.nan"), "float"),
        baked={f"math.{name}": tuple((at, "") for at in range(most)) for name, most in KEPT.items()},
        otherwise=computed,
        measured="matrix/constructs/numbers_read.py",
    ),
    Library(
        "random",
        returns={"random.random": "float", "random.gauss": "float"},
        roles={"random source": ("random.*",)},
        handlers={f"random.{n}": drawn for n in DRAWN},
        measured="matrix/constructs/host.py",
    ),
    Library("sys", constants={"sys.platform": "platform"}),
    Library("platform", returns={"platform.system": "system"}, measured="tests/static/test_read_right.py"),
    Library(
        "time",
        returns={"time.time": "float", "time.perf_counter": "float"},
        roles={"tells the time": ("time.time", "time.monotonic", "time.perf_counter")},
        measured="matrix/calls.py",
    ),
    Library(
        "locale",
        returns={"locale.localeconv": "any"},
        breaks={"locale.localeconv": "it is written in C"},
        measured="rules/graph_break/modelled_break.py",
    ),
    Library(
        "os",
        handlers=dict.fromkeys(("os.getenv", "os.environ.get"), of_the_environment),
        roles={
            "writes files": ("os.makedirs", "os.mkdir"),
            "reads a variable of the environment": ("os.getenv", "os.environ.get"),
        },
        measured="matrix/calls.py",
    ),
    Library(
        "re",
        returns={
            "re.compile": "instance re.Pattern",
            **{
                f"{home}.{name}": "instance re.Match|none"
                for home in ("re", "re.Pattern")
                for name in ("match", "search", "fullmatch")
            },
        },
        roles={"matches from the start": ("re.match", "re.fullmatch")},
        # torch 2.13; what else a match is asked for is known while tracing
        breaks=dict.fromkeys(
            ("re.Match.groupdict", "re.finditer", "re.Pattern.finditer"),
            "Dynamo keeps numbers, texts and tuples of a pattern's match, not this",
        ),
        measured="matrix/calls.py",
    ),
    Library(
        "abc",
        closed=True,
        roles={
            "property": ("abc.abstractproperty",),
            "abstract method": ("abc.abstractmethod", "abc.abstractproperty"),
        },
    ),
    Library(
        "enum",
        roles={
            "enumeration": ("enum.*",),
            "base of numbers": ("enum.IntEnum", "enum.IntFlag"),
            "base of texts": ("enum.StrEnum",),
        },
    ),
    Library(
        "contextlib",
        returns={name: f"instance {name}" for name in (*CONTEXTS, "contextlib.nullcontext")},
        roles={
            "makes a context manager": ("contextlib.contextmanager",),
            "resumable": ("contextlib.nullcontext*",),
            "base of decorators": ("contextlib.ContextDecorator",),
            "base of managers": (
                *("contextlib.ContextDecorator", "contextlib.AbstractContextManager", "abc.ABC"),
                *("typing.ContextManager", "typing.Generic"),
            ),
        },
        measured="matrix/constructs/contexts.py",
    ),
    Library("decimal", returns={"decimal.localcontext": "instance decimal.localcontext"}),
    Library(
        "contextvars",
        returns={"contextvars.ContextVar": "instance contextvars.ContextVar"},
        measured="matrix/calls.py",
    ),
    Library(
        "multiprocessing",
        returns={
            name: f"instance multiprocessing.{name.rpartition('.')[2]}"
            for home in ("multiprocessing", "torch.multiprocessing")
            for name in (f"{home}.{kind}" for kind in SHARED)
        }
        | {
            "multiprocessing.get_context": "instance multiprocessing",
            "torch.multiprocessing.get_context": "instance multiprocessing",
            "multiprocessing.Value.get_lock": "instance multiprocessing.Lock",
            "multiprocessing.Array.get_lock": "instance multiprocessing.Lock",
        },
        measured="matrix/calls.py",
    ),
    Library(
        "threading",
        returns={f"threading.{n}": f"instance threading.{n}" for n in ("Lock", "RLock")},
        roles={"threads": THREADS, "starts threads": STARTS},
        measured="matrix/calls.py",
    ),
)
