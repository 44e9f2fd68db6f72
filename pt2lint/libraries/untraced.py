"""Libraries that Dynamo does not trace: those that torch/_dynamo/trace_rules.py skips whole, TensorBoard's writer among
them, and SciPy, PyWavelets, OpenCV, Matplotlib and what reads images, sounds and files, most of which is written in C
or asks of an array what Dynamo does not know of it."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import FLOAT, UNKNOWN, Tensor, Value

RULES = "torch/_dynamo/trace_rules.py"
SKIPPED = "networkx onnx pandas tabulate tensorflow tree xarray"
RUNTIMES = "onnxruntime tensorrt tvm"
# Tried one by one: of the functions of SciPy that programs use most, these alone are traced.
TRACED = ("scipy.linalg.hadamard", "scipy.special.softmax")
# Distributions that are made with their parameters (`truncnorm(a, b)`), and what objects of these give.
DISTRIBUTIONS = (
    "bernoulli beta binom cauchy chi2 dirichlet expon exponweib gamma laplace logistic lognorm loguniform"
    " multivariate_normal norm pareto poisson randint rayleigh t triang truncexpon truncnorm uniform vonmises"
)
DENSITIES = "cdf logcdf logpdf logpmf logsf pdf pmf ppf rvs sf"
# Measured on 2.6, 2.9, 2.13 and 2.15; `title` and `close` are traced by some of them.
# What reads and writes images, sounds and files of tensors: functions of each tried on 2.13.
READERS = {
    "PIL": "Pillow 13, a dozen functions and methods",
    "soundfile": "soundfile 0.14, `read` and `write`",
    "imageio": "imageio 2.38, `imread` and `imwrite`",
    "skimage": "scikit-image 0.26, seven functions",
    "h5py": "h5py 3.16, `File` and what it gives",
    "safetensors": "safetensors 0.8, six functions",
}
# Classes of which parameters are said to be, whose methods end the graph as well.
OBJECTS = {"PIL": "Image.Image", "pandas": "DataFrame Series"}
HASHES = "xxh32 xxh64 xxh128 xxh3_64 xxh3_128"
# What calls functions that it is given: the keyword of the function, and whether each argument of that is an array.
CALLERS: dict[str, tuple[str, tuple[bool, ...]]] = {
    "integrate.solve_ivp": ("fun", (False, True)),
    "integrate.odeint": ("func", (True, False)),
    "integrate.quad": ("func", (False,)),
    "optimize.minimize": ("fun", (True,)),
    "optimize.minimize_scalar": ("fun", (False,)),
    "optimize.root": ("fun", (True,)),
    "optimize.fsolve": ("func", (True,)),
    "optimize.brentq": ("f", (False,)),
}
FILTERS = ("GaussianBlur", "BoxBlur", "UnsharpMask", "MedianFilter")  # objects that hold numbers
DRAWS = "Dynamo enters what draws the figure, and cannot trace it"

# What gives an image, or an image again.
IMAGES = (
    *(f"PIL.Image.{name}" for name in "open new fromarray frombytes merge blend composite".split()),
    *(
        f"PIL.Image.Image.{name}"
        for name in "convert copy crop filter resize rotate transform transpose".split()
    ),
)


def _objects(library: str) -> dict[str, str]:
    names = (f"{library}.{name}" for name in OBJECTS.get(library, "").split())
    return {name: f"instance {name}" for name in names}


def calling(call: Call) -> Value:
    """Python calls the function that is given, which is compiled by itself."""
    keyword, arrays = CALLERS[call.name.removeprefix("scipy.")]
    function = call.args[0] if call.args else call.kwargs.get(keyword, UNKNOWN)
    given = Tensor(origin=call.origin("scipy gives an array"), array=True)
    call.apply(function, [given if is_array else FLOAT for is_array in arrays])
    return UNKNOWN


# What POT solves, each tried with arrays and with tensors; `dist` and `unif` are traced.
SOLVERS = (
    "emd emd2 emd_1d emd2_1d gromov.gromov_wasserstein partial.entropic_partial_wasserstein sinkhorn sinkhorn2"
    " sliced_wasserstein_distance smooth.smooth_ot_dual unbalanced.sinkhorn_knopp_unbalanced"
)
SOLVES = "Dynamo enters the solver, and cannot trace it"

LIBRARIES = (
    *(Library(name, types=_objects(name), untraced=True, measured=RULES) for name in SKIPPED.split()),
    *(
        Library(name, roles={"runs models": (f"{name}.*",)}, untraced=True, measured=RULES)
        for name in RUNTIMES.split()
    ),
    Library("sklearn", roles={"measures": ("sklearn.metrics.*",)}, untraced=True, measured=RULES),
    Library(
        "pywt", untraced=True, measured="PyWavelets 1.9, four functions on torch 2.6, 2.9, 2.13 and 2.15"
    ),
    *(
        Library(
            name,
            types=_objects(name),
            returns=dict.fromkeys(IMAGES, "instance PIL.Image.Image") if name == "PIL" else {},
            untraced=True,
            traced=("PIL.Image.Image.getbands", *(f"PIL.ImageFilter.{f}" for f in FILTERS)),
            measured=f"{what}, on torch 2.13",
        )
        for name, what in READERS.items()
    ),
    Library(
        "opt_einsum",
        untraced=True,
        measured="opt_einsum 3.4: `contract`, its expressions and `contract_path` on torch 2.13",
    ),
    Library(
        "ot",
        breaks={f"ot.{name}": SOLVES for name in SOLVERS.split()},
        measured="POT 0.9.7 on torch 2.13",
    ),
    Library(
        "xxhash",
        returns={f"xxhash.{name}": f"instance xxhash.{name}" for name in HASHES.split()},
        untraced=True,
        measured="xxhash 4.1, `xxh64`, its methods and `xxh64_intdigest` on torch 2.13",
    ),
    Library("cv2", untraced=True, measured="opencv-python 5 on torch 2.13"),
    Library(
        "torch.utils.tensorboard",
        roles={"writes files": ("torch.utils.tensorboard.*",)},
        untraced=True,
        objects=True,
        measured="a writer and five of its methods on torch 2.6, 2.9, 2.13 and 2.15",
    ),
    Library(
        "matplotlib",
        roles={"draws figures": ("matplotlib.pyplot.figure", "matplotlib.pyplot.subplots")},
        breaks={f"matplotlib.pyplot.{name}": DRAWS for name in ("figure", "plot", "subplots")},
        measured="matplotlib 3.11 on torch 2.6, 2.9, 2.13 and 2.15",
    ),
    *(
        Library(f"numpy.{name}", untraced=True, measured="a function or two of each on torch 2.13")
        for name in "char lib.stride_tricks ma polynomial rec".split()
    ),
    Library(
        "scipy",
        untraced=True,
        traced=TRACED,
        handlers={f"scipy.{name}": calling for name in CALLERS},
        measured="tests/static/test_libraries.py",
    ),
    Library(
        "scipy.stats",
        returns={
            **{f"scipy.stats.{kind}": f"instance scipy.stats.{kind}" for kind in DISTRIBUTIONS.split()},
            **{
                f"scipy.stats.{kind}.{name}": "array"
                for kind in DISTRIBUTIONS.split()
                for name in DENSITIES.split()
            },
        },
        untraced=True,
        measured="scipy 1.17 on torch 2.13, three distributions",
    ),
)
