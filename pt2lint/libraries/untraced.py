"""Libraries that Dynamo does not trace: those that torch/_dynamo/trace_rules.py skips whole, TensorBoard's writer among
them, and SciPy, PyWavelets, OpenCV, Matplotlib and what reads images, sounds and files, most of which is written in C
or asks of an array what Dynamo does not know of it."""

from __future__ import annotations

from pt2lint.libraries.model import Library

RULES = "torch/_dynamo/trace_rules.py"
SKIPPED = "networkx onnx onnxruntime pandas tabulate tensorflow tensorrt tree tvm xarray"
# Tried one by one: of the functions of SciPy that programs use most, these alone are traced.
TRACED = ("scipy.linalg.hadamard", "scipy.special.softmax")
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
FILTERS = ("GaussianBlur", "BoxBlur", "UnsharpMask", "MedianFilter")  # objects that hold numbers
DRAWS = "Dynamo enters what draws the figure, and cannot trace it"

LIBRARIES = (
    *(Library(name, untraced=True, measured=RULES) for name in SKIPPED.split()),
    Library("sklearn", roles={"measures": ("sklearn.metrics.*",)}, untraced=True, measured=RULES),
    Library(
        "pywt", untraced=True, measured="PyWavelets 1.9, four functions on torch 2.6, 2.9, 2.13 and 2.15"
    ),
    *(
        Library(
            name,
            untraced=True,
            traced=tuple(f"PIL.ImageFilter.{f}" for f in FILTERS),
            measured=f"{what}, on torch 2.13",
        )
        for name, what in READERS.items()
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
    Library("scipy", untraced=True, traced=TRACED, measured="tests/static/test_libraries.py"),
)
