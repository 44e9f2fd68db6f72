from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

RE = "match search sub compile findall split fullmatch"
HEAP = "heappush heappop heapify heapreplace heappushpop nlargest nsmallest"
GOES_OVER = "iterate tqdm.tqdm"  # in another statement than the one that makes the bar
FIELDS = "call dataclasses.fields"
THREADS = ("call torch.jit.fork", "call torch.jit.wait")
BYTES = "replace split join find startswith endswith strip hex count index"


class UntracedLibrary(GraphBreak):
    """A library that Dynamo does not trace is used in compiled code: parts of Python's own, compiled extensions.

    ## What happens
    Most of Python's own types are traced; methods of `bytes` are not (GB0156), nor
    `heapq`, `bisect`, `zlib` and `base64` (GB0007), `array`, `decimal` and `SimpleNamespace` (GB0147),
    `statistics` (GB0134), `memoryview` (GB0059) and what `typing` tells of a union that the code spells there
    (GB0116). Older versions of
    torch did not trace `re`, `collections.Counter` and `OrderedDict.move_to_end` either. The graph ends.

    So it does at a call into a compiled extension (C, C++ or CUDA, bound by pybind11 and the like: GB0007, for
    methods GB0156). Those are known that the project's `setup.py` builds, that `torch.utils.cpp_extension` loads, and
    modules without a file that have the name of one: `package._C`, `package._ext`, `scan_cuda`. Registered as an
    operator, with a fake that says what shape comes out, the call stays in the graph: `torch.library.custom_op`, or
    `TORCH_LIBRARY` in C++.

    Some libraries Dynamo skips as a whole: tqdm (a bar that is switched off too), the `SummaryWriter` of
    `torch.utils.tensorboard`, pandas, NetworkX, scikit-learn, xarray, TensorFlow, ONNX, tabulate (GB0007, GB0008).
    Nearly all of SciPy, OpenCV, Pillow, scikit-image, imageio, soundfile, h5py and safetensors it enters and then
    cannot trace, or fails at (measured on 2.13); so are methods of what is annotated as a Pillow image or a table of
    pandas, and the hashes of xxhash. A loop over `tqdm(...)` cannot be resumed: the whole function is
    left to Python. Compile what one iteration does.

    A module that `torch.jit` scripted, traced or loaded runs in TorchScript, where Dynamo does not look (GB4695): the
    function that calls it is left to Python, and a method under `torch.jit.script_method` ends the graph (GB0008).
    Leave `torch.jit.script` out, and it is compiled with the rest. What
    `torch.jit.fork` is given to run beside the rest is called in its place (GB0007).

    ## Example
    ```python
    import torch

    def f(x, name: str):
        return torch.relu(x) * len(name.encode().replace(b"a", b""))

    args = (torch.tensor([1.0, -2.0]), "alpha")
    ```

    ## Use instead
    The same with `str`, or outside the compiled call:
    ```python
    import torch

    def f(x, name: str):
        return torch.relu(x) * len(name.replace("a", ""))

    args = (torch.tensor([1.0, -2.0]), "alpha")
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. Fine on 2.15: making
    `bytes`, a `bytearray` or an `object()`, `functools.cmp_to_key` and `deque.rotate`;
    `heappush`, `heappop`, `heapify`, `heapreplace`, `heappushpop`,
    `nlargest` and `nsmallest` of `heapq` on 2.6 to 2.13; `Counter.most_common`, `statistics.mode` and
    `SimpleNamespace` on 2.6 to 2.13. Fine from 2.13 on: `bin`, `chr`, `eval`, `hash`, `hex`, `Fraction`, and
    `dropwhile`, `starmap` and `takewhile` of `itertools`. Fine from 2.9 on: `compile`, `findall`, `fullmatch`,
    `match`, `search`, `split` and `sub` of `re`, `combinations`, `filterfalse` and `permutations` of
    `itertools`, `ChainMap`, `Counter`, `move_to_end`, `dataclasses.replace`, `struct.pack`, `textwrap.dedent`
    and `MappingProxyType`. Calls of compiled extensions and of skipped
    libraries break on all of them.
    """

    code = "PTB185"
    name = "untraced-library"
    ops = (
        *calls("builtins.bytes", BYTES),
        "call builtins.bytes",
        "call builtins.bytearray",
        *calls("re", RE),
        *calls("heapq", HEAP),
        *calls("bisect", "bisect bisect_left bisect_right insort insort_left insort_right"),
        *calls("statistics", "mean stdev variance pstdev mode"),
        *calls("zlib", "adler32 crc32 compress decompress"),
        *calls("base64", "b64encode b64decode"),
        "call array.array",
        "call decimal.Decimal",
        "call builtins.memoryview",
        "call types.SimpleNamespace",
        "call builtins.object",
        "call collections.Counter",
        "call collections.Counter.most_common",
        FIELDS,
        "call dataclasses.replace",
        "call string.Template.substitute",
        *calls("itertools", "starmap takewhile dropwhile filterfalse permutations combinations"),
        *calls("builtins", "hex bin chr hash eval"),
        "call fractions.Fraction",
        *calls("struct", "pack calcsize"),
        *calls("typing", "get_args get_origin"),
        "call functools.cmp_to_key",
        "call collections.deque.rotate",
        "call cProfile.Profile",
        "call textwrap.dedent",
        "call collections.ChainMap",
        "call types.MappingProxyType",
        "call collections.OrderedDict.move_to_end",
        "call extension",
        "call untraced",
        GOES_OVER,
        "forward torch.jit.ScriptModule",
        *calls("torch.jit", "fork wait"),
    )
    says = "{code} is part of the standard library that Dynamo does not trace"
    repairs = ("scripted", "contract", "train_step", "operator", "disable")
    instead = MappingProxyType(
        {
            "call builtins.bytes": "Work with `str`, or encode before the compiled code runs",
            "forward torch.jit.ScriptModule": "Leave the module to the compiler: take `torch.jit` off its class",
            "": "Do it before the compiled code runs, and pass on what comes of it",
        }
    )
    graph_breaks = ("GB0156", "GB0007", "GB0147", "GB0134", "GB0059", "GB4695", "GB0008")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name == GOES_OVER:
            return "maybe" not in op.details  # `if progress: rows = tqdm(rows)`: the bar is told
        return op.name != FIELDS or op.arg(0) == "class"  # the fields of an object are read while tracing

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        return op.name in ("call untraced", "call extension", GOES_OVER, *THREADS)

    extension = ""  # the function of a compiled extension that is called

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name.startswith("call typing.") and not _is_union(node):
            return
        if op.name == GOES_OVER and any(
            o.name == "call untraced" and o.line == op.line for o in self.function.ops
        ):
            return  # the bar is made there, which is told
        says = self.says
        self.extension = op.detail("name") if op.name == "call extension" else ""
        if op.name == "call untraced":
            what = "asks an object" if op.detail("asked") else "is a call"
            says = f"{{code}} {what} of {op.detail('name')}, which Dynamo does not trace"
        if op.name == GOES_OVER:
            says = "{code} is gone over by tqdm, which Dynamo does not trace"
        if op.name == "forward torch.jit.ScriptModule":
            says = "{code} calls a module of torch.jit, which Dynamo does not trace: the module itself can be compiled"
        if op.name in THREADS:
            says = "{code} is not traced: called in its place, what it runs is compiled with the rest"
        if op.name == "call extension":
            fake = "registered as a custom operator with a fake, it stays in the graph"
            says = f"{{code}} calls compiled code that Dynamo does not trace; {fake}"
        self.breaks(node, op, says)

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        """For a function of an extension, how it is registered."""
        from pt2lint.fixes import by_hand

        found = list(super().fixes(node))
        if self.extension and all(fix.is_workaround for fix in found):
            yield by_hand.operator(self.extension)
        yield from found

    INVALID = (
        "import bisect\nreturn x + bisect.bisect_left([1, 2], 2)",
        "import base64\nreturn x + len(base64.b64encode(b'a'))",
        "return x + len(b'ab'.replace(b'a', b'b'))",
        "import typing\nreturn x + len(typing.get_args(typing.Optional[float]))",
        "import numpy as np\nreturn x + np.ma.array([1, 2]).sum() + np.polynomial.legendre.leggauss(3)[0][0]",
        "import networkx\nreturn x + len(networkx.Graph())",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = torch.jit.script(torch.nn.Linear(4, 4))\n"
        "    def forward(self, x, m, i):\n        return self.inner(x) + 1\nf = M()",
        "class Inner(torch.jit.ScriptModule):\n    @torch.jit.script_method\n"
        "    def forward(self, x):\n        return x * 2\n"
        "inner = Inner().to('cpu')\ndef f(x, m, i):\n    return inner(x) + 1",
        "class Inner(torch.jit.ScriptModule):\n    @torch.jit.script_method\n"
        "    def more(self, x):\n        return x * 2\n"
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = Inner()\n    def forward(self, x, m, i):\n        return self.inner.more(x) + 1\nf = M()",
    )
    VALID = (
        "import typing\nrate = typing.Optional[float]\n"
        "def f(x, m, i):\n    return x + len(typing.get_args(rate)) + (typing.get_origin(list[int]) is list)",
        "class Inner(torch.jit.ScriptModule):\n    def more(self, x):\n        return x * 2\n"
        "inner = Inner()\ndef f(x, m, i):\n    return inner.more(x) + 1",
        "import re\nreturn x + (re.match('a', 'a') is not None)",
        "import collections\nreturn x + collections.Counter([1, 1])[1]",
        "return x + len('a,b'.split(',')) + len('ab'.encode())",
    )


def _is_union(node: cst.CSTNode) -> bool:
    """Whether the call spells the annotation that it asks about, as `Optional[int]`: of one that is kept, and of other
    types, the answer is known while tracing."""
    given = node.args[0].value if isinstance(node, cst.Call) and node.args else None
    return isinstance(given, cst.Subscript) and any(
        isinstance(part, cst.Name) and part.value in ("Optional", "Union")
        for part in (given.value, *given.value.children)
    )
