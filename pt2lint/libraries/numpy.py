"""NumPy: Dynamo traces it as torch, so an array is a tensor that may be a constant."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.op import NO_METHODS, NO_VERSION
from pt2lint.static.values import (
    CONSTANT,
    FLOAT,
    INT,
    LEAF,
    OBJECT,
    UNKNOWN,
    Ext,
    Py,
    Seq,
    Tensor,
    Value,
    tensor_of,
)

# What numpy.ndarray has that torch.Tensor has too.
NDARRAY = frozenset(
    "T all any argmax argmin argsort copy cumprod cumsum data device diagonal dot dtype fill flatten imag item "
    "itemsize mT max mean min nbytes ndim nonzero prod put ravel real repeat reshape round size sort squeeze std sum "
    "swapaxes take tolist trace transpose var view".split()
)
# What it has alone, and what a tensor has under the name for something else.
OWN = frozenset(
    "argpartition astype base byteswap choose clip compress conj conjugate ctypes dump dumps flags getfield "
    "newbyteorder partition ptp resize searchsorted setfield setflags strides to_device tobytes tofile tostring".split()
)
# Functions that give plain Python objects.
PLAIN = ("numpy.dtype", "numpy.issubdtype", "numpy.shape")
# Those of which Dynamo takes no answer that is not an array (GB0208).
ANSWERING = "isscalar ndim size isrealobj iscomplexobj can_cast result_type".split()
WHY_ANSWERING = "Dynamo takes arrays alone from functions of NumPy's"
# Objects of its own that make indices and arrays where they are indexed.
INDEXED = "s_ index_exp r_ c_ mgrid ogrid".split()
ANSWERS = frozenset(f"numpy.{name}" for name in ANSWERING)
WHY_INDEXED = "Dynamo does not trace what NumPy makes of an index"
# Functions of which torch._numpy has no version (GB0294): called on torch 2.13, absent on 2.6, 2.9 and 2.15 too.
UNTRACED = (
    "apply_along_axis argpartition asanyarray asarray_chkfinite asfortranarray asmatrix astype base_repr "
    "binary_repr block cumulative_prod cumulative_sum delete digitize ediff1d frexp frombuffer "
    "fromfunction fromiter get_printoptions geterr histogram_bin_edges insert interp intersect1d isdtype "
    "isin iterable ix_ lexsort mintypecode nanargmax nanargmin nancumprod nancumsum nanmax nanmean "
    "nanmedian nanmin nanprod nanstd nansum nanvar partition poly polyder polyfit polyint polyval "
    "printoptions promote_types ravel_multi_index require roots select set_printoptions setdiff1d seterr "
    "sort_complex spacing trapezoid trim_zeros union1d unique_all unique_counts unique_inverse "
    "unique_values unravel_index unwrap linalg.matmul linalg.vector_norm "
    # torch 2.13 alone
    "array2string datetime64 einsum_path errstate frompyfunc matrix ndenumerate ndindex nditer piecewise poly1d "
    "shares_memory vectorize random.SeedSequence"
).split()
# Those that are classes of its own, or give other things than arrays.
OBJECTS = (
    "array2string datetime64 einsum_path errstate frompyfunc matrix ndenumerate ndindex nditer poly1d shares_memory "
    "vectorize random.SeedSequence"
).split()
# Methods of its functions that work by element (torch 2.13).
BY_ELEMENT = "add subtract multiply divide maximum minimum logical_and logical_or lcm gcd".split()
OF_FUNCTIONS = "accumulate at outer reduce reduceat".split()
# What makes arrays of the kind that `dtype` says, or of what it is given.
MAKERS = frozenset("array asarray empty full ones zeros".split())
NO_TENSORS = frozenset(("builtins.object", "builtins.str", "numpy.object_", "numpy.str_", "numpy.void"))
OF_OBJECTS = "numpy.array of objects"  # what an array is of which Dynamo makes no tensor
FROM_LISTS = ("array", "asarray")
WHY_MIXED = "numbers of NumPy's stand beside Python's in it, of which Dynamo makes no array"
WHY_OBJECTS = "an array of objects, texts or records is no tensor"
# Functions whose version asks for values, of constant arrays too (torch 2.6, 2.9, 2.13 and 2.15).
ASKING = "allclose argwhere array_equal bincount corrcoef cov pad".split()
WHY_ASKING = "Dynamo's version of this function of NumPy's asks for the values in arrays"
# Other names of Python's own types, up to NumPy 1.23.
ALIASES = {"numpy.int": "int", "numpy.long": "int", "numpy.float": "float"}
# What makes one number of all elements, where it is given nothing.
REDUCTIONS = frozenset("sum prod max min mean".split())
SCALARS = frozenset("float32 float64 float16 int64 int32 int8 uint8 bool_ int16".split())
TO_ONE_NUMBER = REDUCTIONS | frozenset("argmax argmin median std var any all count_nonzero".split())
# What makes an array of as many dimensions as its first argument has.
OF_ITS_SHAPE = frozenset("array asarray argsort cumsum cumprod sort".split())
# What draws one number where no size is given, and at which place the size stands.
DRAWN = {
    f"numpy.random.{name}": at
    for at, names in enumerate(
        (
            "rand randn random random_sample standard_normal",
            "choice poisson exponential",
            "normal uniform randint beta binomial gamma laplace",
        )
    )
    for name in names.split()
}
# What makes a number of a number.
OF_ONE_NUMBER = frozenset(
    "sqrt cbrt square exp expm1 log log2 log10 log1p ceil floor rint round around trunc fabs abs absolute power "
    "sin cos tan tanh".split()
)
# What makes a number with a point of any.
FRACTIONS = frozenset("sqrt cbrt exp expm1 log log2 log10 log1p sin cos tan tanh".split())
# What makes a whole number of whole numbers, which Dynamo then cannot read (GB0208).
WHOLE = frozenset(
    "array asarray minimum maximum clip power ceil floor round around rint sign mod remainder gcd lcm sum abs absolute "
    "floor_divide".split()
)
# Where a number or sizes have to stand: an element of an array there is read, of constant arrays too.
ALL = tuple(range(8))
SIZES = {
    "arange ndarray.reshape": (ALL, ("start", "stop", "step", "shape")),
    "zeros ones empty identity": ((0,), ("shape", "n")),
    "full": ((0, 1), ("shape", "fill_value")),
    "full_like": ((1,), ("fill_value",)),
    "random.rand random.randn": (ALL, ()),
    "random.uniform random.normal": ((0, 1), ("low", "high", "loc", "scale")),
    "random.randint": ((0, 1), ("low", "high")),
    "eye tri": ((0, 1), ("N", "M")),
    "linspace logspace geomspace": ((2,), ("num",)),
    "ndarray.repeat": ((0,), ("repeats",)),
    "tile repeat reshape broadcast_to roll": ((1,), ("reps", "repeats", "newshape", "shape", "shift")),
}
# What computes with numbers, and how many: each is a constant of the graph, as Dynamo makes an array of it, where
# `math.sqrt` and `math.cos` have a symbol. Ints, floats and sizes at each place of each: torch 2.6, 2.9, 2.13 and 2.15.
# Not here: `where`, `hypot` and `logaddexp`, which end the graph when they are given numbers alone (the last two fail
# on 2.6).
BAKED = {
    **dict.fromkeys(
        "abs absolute arctan around array asarray cbrt ceil cos cosh deg2rad exp exp2 expm1 fabs floor log log10 log1p "
        "log2 max mean min negative prod radians reciprocal rint round sign sin sinh sqrt square sum tan tanh "
        "trunc".split(),
        1,
    ),
    **dict.fromkeys(
        "add arctan2 copysign divide float_power floor_divide fmax fmin fmod maximum minimum mod multiply power "
        "remainder subtract".split(),
        2,
    ),
    "clip": 3,
}
GENERATOR = "numpy.random.Generator."
NOT_FOLLOWED = ("numpy.testing", "numpy.random.Generator", "numpy.random.RandomState", "numpy.random.seed")


def array_attribute(owner: Tensor, name: str) -> Value:
    """`array.name`"""
    if name == "shape":
        return Seq(None, INT, "tuple")
    if name in ("ndim", "size", "itemsize"):
        return INT
    if name in ("T", "real", "imag", "flat"):
        return Tensor(owner.dtype, owner.origin, owner.sure, True)
    return Ext(f"numpy.ndarray.{name}", owner)


def method(call: Call) -> Value:
    """A method of an array."""
    last, receiver = call.name[14:], call.receiver
    if last not in NDARRAY | OWN and not last.startswith("__"):
        return UNKNOWN  # what no array has: it is an object of a class that does
    if last in ("item", "tolist"):
        return Py("float", read=True) if last == "item" else Seq(None, Py("float", read=True))
    if last in REDUCTIONS and not (call.frame.region or call.args or call.kwargs):
        return OBJECT  # what an object keeps of it is a size in the graph (torch 2.13 and 2.15)
    dtype = receiver.dtype if isinstance(receiver, Tensor) else None
    leaf = receiver.leaf if isinstance(receiver, Tensor) else 0
    if last == "astype" and leaf:
        leaf = LEAF  # still known as a size, but `.item()` on it breaks
    elif isinstance(receiver, Tensor) and call.frame.region:
        leaf = 0 if receiver.ndim or last in ("argmax", "argmin") else leaf
    if last in ("astype", "any", "all"):
        dtype = None
    one = call.frame.region and last in TO_ONE_NUMBER and not (call.args or call.kwargs)
    return Tensor(dtype, call.origin(), True, True, 0 if one else None, leaf)


def called(call: Call) -> Value:
    name, args = call.name, call.args
    if name == "numpy.dtype" and args and isinstance(args[0], Seq):
        return Ext("numpy.void")  # the fields of a record
    if name.startswith(PLAIN) or name in ANSWERS:
        return OBJECT
    if name.startswith("numpy.ndarray."):
        return method(call)
    last = name.rsplit(".", 1)[-1]
    if last in MAKERS and holds_objects(call):
        call.note("call breaking", details={"why": WHY_OBJECTS, "until": ""})
        return UNKNOWN if call.frame.region else Ext(OF_OBJECTS)
    if name.startswith(OF_OBJECTS):
        return UNKNOWN
    if last in FROM_LISTS and call.frame.region and args and isinstance(args[0], Seq) and mixes(args[0]):
        call.note("call breaking", details={"why": WHY_MIXED, "until": ""})
        return Tensor(None, call.origin(), True, True, dimensions(last, args, call.kwargs))
    if last in SCALARS and (not args or (not call.frame.region and isinstance(args[0], Py))):
        return OBJECT
    if name.startswith(GENERATOR):
        return OBJECT  # Dynamo has ended the graph there: NumPy's own numbers and arrays
    if last[:1].isupper() or name.startswith(NOT_FOLLOWED):
        return UNKNOWN
    if name in DRAWN and not (len(args) > DRAWN[name] or "size" in call.kwargs):
        # Dynamo has ended the graph there: what is drawn is a number of Python.
        return INT if last == "randint" else OBJECT if last == "choice" else FLOAT
    # NumPy on Python numbers gives a constant that Dynamo nevertheless treats as a tensor. What the graph makes of
    # several of them is none: it does not keep their values.
    region = call.frame.region
    constant = all(is_constant(a, several=not region) for a in args)
    random = name.startswith("numpy.random.")
    leaf = CONSTANT if constant and not random and last != "prod" else 0
    # Of a number it makes one that is Python's own too. Where an object keeps that, the graph reads it as a constant
    # (`float(self.scale)`, `math.sqrt(self.scale)`): torch 2.13.
    plain = last in OF_ONE_NUMBER and not region
    sure = not (plain and all(a is UNKNOWN or isinstance(a, Py) for a in args))
    whole = (
        region and last in WHOLE and bool(args) and all(isinstance(a, Py) and a.type == "int" for a in args)
    )
    ndim = None if last in TO_ONE_NUMBER and not region else dimensions(last, args, call.kwargs)
    dtype = "int" if whole else "float" if last in FRACTIONS else None
    return Tensor(dtype, call.origin(), sure, True, ndim, leaf)


def is_constant(value: Value, several: bool) -> bool:
    """Whether an argument is no array, or one that is made of Python's numbers: of one alone, or of `several`."""
    tensor = tensor_of(value)
    if tensor is not None:
        return tensor.leaf == CONSTANT and (several or not tensor.ndim)
    return several or not isinstance(value, Seq) or (value.elts is not None and len(value.elts) == 1)


def holds_objects(call: Call) -> bool:
    """Whether what is made is an array of objects or of texts: `np.empty(n, dtype=object)`, `np.array(["a", "b"])`."""
    kind = call.kwargs.get("dtype", UNKNOWN)
    if isinstance(kind, Ext):
        return kind.name in NO_TENSORS
    if isinstance(kind, Seq) and kind.type == "list":
        return True  # the fields of a record
    given = call.args[0] if call.args else UNKNOWN
    parts = given.elts if isinstance(given, Seq) and call.name in (f"numpy.{n}" for n in FROM_LISTS) else None
    return bool(parts) and all(isinstance(part, Py) and part.type == "str" for part in parts or ())


def mixes(listed: Seq) -> bool:
    """Whether a list, or those in it, hold what Dynamo has as tensors and numbers of Python."""
    held = numbers_in(listed)
    return any(isinstance(o, Tensor) and o.sure for o in held) and any(
        isinstance(o, Py) and o.type in ("int", "float", "bool") for o in held
    )


def numbers_in(listed: Seq) -> list[Value]:
    parts = listed.elts or []
    return [one for part in parts for one in (numbers_in(part) if isinstance(part, Seq) else [part])]


def dimensions(last: str, args: list[Value], kwargs: dict[str, Value]) -> int | None:
    """How many dimensions the array has that a function makes of Python's lists and numbers."""
    if last in ("arange", "linspace", "logspace", "geomspace"):
        return 1
    if not args:
        return None
    if last in ("zeros", "ones", "full", "empty"):
        return len(args[0].elts) if isinstance(args[0], Seq) and args[0].elts is not None else 1
    if last in TO_ONE_NUMBER:
        return 0 if len(args) == 1 and not kwargs else None
    if last not in OF_ITS_SHAPE:
        return None
    depth, value = 0, args[0]
    while isinstance(value, Seq) and value.type in ("list", "tuple"):
        depth, value = depth + 1, value.elem
    if isinstance(value, Tensor) and not depth:
        return value.ndim if last not in ("array", "asarray") else None
    return depth if isinstance(value, Py) else None


LIBRARY = Library(
    "numpy",
    given="tensors",
    returns={
        **ALIASES,
        "numpy.finfo": "object",
        "numpy.random.default_rng": "instance numpy.random.Generator",
        "numpy.random.RandomState": "instance numpy.random.RandomState",
        **{f"numpy.{name}": "any" for name in OBJECTS},
    },
    constants={"numpy.pi": "float", "numpy.inf": "float", "numpy.__version__": "str"},
    # Whoever annotates with the function means the class.
    types={"numpy.ndarray": "array", "numpy.array": "array"},
    roles={
        "random source": ("numpy.random.*",),
        "array type": ("numpy.ndarray",),
        "makes an array": tuple(f"numpy.{name}" for name in FROM_LISTS),
    },
    breaks={
        **{f"numpy.{name}": NO_VERSION for name in UNTRACED},
        **{f"numpy.{name}": WHY_ASKING for name in ASKING},
        **{f"numpy.{name}": WHY_ANSWERING for name in ANSWERING},
        **{f"numpy.{name}[]": WHY_INDEXED for name in INDEXED},
        f"{OF_OBJECTS}[]": WHY_OBJECTS,
        **{f"numpy.{one}.{method}": NO_METHODS for one in BY_ELEMENT for method in OF_FUNCTIONS},
    },
    sizes={f"numpy.{name}": said for names, said in SIZES.items() for name in names.split()},
    baked={f"numpy.{name}": tuple((at, "") for at in range(most)) for name, most in BAKED.items()},
    otherwise=called,
    measured="matrix/constructs/numpy_calls.py",
)
