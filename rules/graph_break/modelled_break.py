from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import ASKS_DEVIATION, DRAWN, NO_METHODS, NO_VERSION, RENAMED, SPREAD_OUT, SYNCED, Op
from pt2lint.rule import GraphBreak, calls

SORTS = "before torch 2.10 it sorts gradients by device and dtype, which Dynamo does not trace"
ADVISED = {
    ASKS_DEVIATION: "Take the same of `torchvision.transforms.v2` (`v2.functional.normalize`, `v2.Normalize`)",
    SPREAD_OUT: "Compile the module before it is wrapped, and call the wrapper outside the compiled code",
    RENAMED: "Call `_accelerator_graph_capture_health_check`, as it is named now, which compiled code leaves out",
}


class ModelledBreak(GraphBreak):
    """A call ends the graph, as a library model says.

    ## What happens
    What Dynamo makes of a library is written down in models: pt2lint's own, and those of a project
    (`models` in its settings), which say so of functions that nobody else knows. The message has the
    reason that the model gives. Here it is a function that is written in C (GB0007).

    In libraries that one would not suspect it is a test of values: `torchvision.transforms.Normalize` asks whether a
    deviation is zero (the one of `transforms.v2` does not), `torchmetrics.MeanMetric` looks for NaN (not with
    `nan_strategy="disable"`), a transform that draws random numbers reads them, a scheduler of diffusers chooses by
    the timestep; `softmax`, `scatter`, `degree`, `to_dense_batch` and the pools of torch_geometric read how many nodes
    or graphs there are, unless they are told. Call these before or after what is compiled.
    `torch.distributions.kl_divergence` looks its formula up the first time that it is given two `Normal`,
    `Bernoulli`, `Beta` or the like, or two `Independent` of these (GB0059, measured on 2.13): call it once before.

    Of NumPy, Dynamo has no version of `np.poly1d`, `np.vectorize`, `np.errstate`, `np.ndindex`, `np.interp` and many
    more (GB0294), nor of methods of its functions (`np.add.reduce`, GB0290); an array of objects or strings is no
    tensor (`np.empty(n, dtype=object)`, GB0055; `np.array(["a", "b"])`, GB0087), and of NumPy's numbers beside
    Python's Dynamo makes none (`np.array([np.sqrt(n), 1.0])`, GB0087). `np.isscalar`, `np.ndim`, `np.size` and others
    that answer with no array end it, too (GB0208: `x.ndim` and `x.size` do not), and so does an index of `np.s_`,
    `np.r_`, `np.mgrid` and their like (GB0008). Of what `re` finds, `groupdict()` and `finditer` are not kept
    (GB0292, GB0811).

    loguru looks at the frame that calls it (GB0007), unless no handler takes the level, and absl's functions ask a
    logger (GB4841): PTB102 has what to do.

    Compiled code makes no objects of pydantic's models and data classes, nor of classes under `@attrs.frozen`; what is
    read of one that was there before is traced.

    Before torch 2.10 `clip_grad_norm_`, `clip_grad_value_` and `get_total_norm` end it (GB0208), and so does
    `torch.full(size, t)` with a tensor as its value (GB0033; measured on 2.6 and 2.9, fine on 2.11).

    With some arguments only: `clip_grad_norm_` with `error_if_nonfinite=True` tests the norm (GB0170),
    `nn.BatchNorm1d`, `2d` and `3d` with `momentum=None` read in training how many batches they have seen (GB0124), and
    `nn.SyncBatchNorm` asks in training, where several processes train, whether a CUDA graph is being recorded (GB0208,
    measured between two GPUs on torch 2.11; inside of `nn.Sequential` nothing is compiled then), and
    a distribution of torch that is made with `validate_args=True` checks what it is given (GB0007, measured on 2.13;
    compiled code makes no such check by default).

    `add_`, `addcmul_` and `addcdiv_` take no number before the tensors (`x.add_(0.1, y)`, GB0117, measured on 2.13):
    name it behind them, `x.add_(y, alpha=0.1)`. Without the underscore the old order is fine.

    `out=` of a function of torch is given what lies in memory with gaps, a transposed tensor or a column (GB0242):
    `torch.add(x, y, out=rows[:, 0])`. Assign what it returns: `rows[:, 0] = torch.add(x, y)`.

    A call of a module in `DistributedDataParallel` ends it (GB0007; with gradients GB0156 before; measured on 2.6, 2.9,
    2.13 and 2.15): compile the module inside, and call the wrapper outside.

    `torch.compiler.disable(f)`, `allow_in_graph` and `assume_constant_result` tell the compiler something, and are
    called before the compiled code runs; a gradient scaler is made there, too.

    Of a function that the settings name as compiled, the same is reported where it iterates over an iterator that
    the program passes to it, or that its object keeps (GB0811, GB4347): a generator, `model.parameters()`, what
    `zip` and `map` return. Pass a list, or the item, where only `next` is asked. The same goes for what `itertools`
    or a generator function made before the compiled code runs, in a global or an attribute: `next(self.scales)` of
    `itertools.cycle` (not `itertools.count`), `next(self.batches)`, and `self.loop.send(x)` (GB0253).

    ## Example
    ```python
    import locale
    import torch

    def f(x):
        return torch.relu(x) * len(locale.localeconv())

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Call it outside the compiled code:
    ```python
    import locale
    import torch

    CONVENTIONS = len(locale.localeconv())

    def f(x):
        return torch.relu(x) * CONVENTIONS

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: the example breaks on torch 2.6 to 2.15, and so do loops, comprehensions, `next`, `list`, `tuple`,
    `set`, `sorted`, `sum`, `max`, `min`, `any`, `all` and `clip_grad_norm_` over an iterator that was passed; `zip`,
    `map` and `filter` from 2.13 on, before that what iterates over their items. Over gradients as they mostly come,
    `clip_grad_norm_`, `clip_grad_value_` and `get_total_norm` break on 2.6 and 2.9 only. For what a project's own
    models say, the project answers.
    """

    code = "PTB187"
    name = "modelled-break"
    ops = ("call breaking", *calls("torch.nn.utils", "clip_grad_norm_ clip_grad_value_ get_total_norm"))
    says = "{code} ends the graph"
    repairs = ("number_last", "variable", "disable")
    instead = MappingProxyType(
        {
            "": (
                "Call it outside the compiled code, once where it gives the same each time; or write "
                "what it does in operators of torch"
            ),
        }
    )
    graph_breaks = ("GB0007",)

    INVALID = (
        "import locale\nreturn x + len(locale.localeconv())",
        "p = torch.nn.Parameter(torch.ones(4))\np.grad = torch.ones(4)\ndef f(x, m, i):\n"
        "    return x + torch.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)",
        "return torch.autograd.Variable(x) + 1",
        "return torch.distributions.Normal(x, x.abs() + 1, validate_args=True).log_prob(x) + 1",
        "import ctypes\nreturn x + ctypes.c_int(3).value",
        "y = x * 2\nreturn y.mul_(0.9).add_(0.1, x) + 1",
        "y = x * 2\nreturn y.addcmul_(0.1, x, x).addcdiv_(0.5, x, x + 9) + 1",
        "import glob\nreturn x + len(glob.glob('no such file'))",
        "import itertools\nSCALES = itertools.cycle([1.0, 2.0])\ndef f(x, m, i):\n    return x * next(SCALES)",
        "def rows():\n    n = yield 1.0\n    while True:\n        n = yield n * 2\n"
        "kept = rows()\nnext(kept)\ndef f(x, m, i):\n    return x * kept.send(2.0)",
        "def rows():\n    while True:\n        yield 2.0\nclass M(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.rows = rows()\n    def forward(self, x, m, i):\n"
        "        return x * next(self.rows)\nf = M()",
        "import numpy as np\ny = x + 1\nreturn y + len(np.pad([1.0, 2.0], 1)) + np.allclose([1.0], [1.0])",
        "import numpy as np\nreturn x + float(np.poly1d([1.0, 2.0])(3.0))",
        "import numpy as np\nwith np.errstate(divide='ignore'):\n    y = np.ones(4)\nreturn x + torch.from_numpy(y)",
        "import numpy as np\nfor at in np.ndindex(2):\n    x = x + 1\nreturn x",
        "import numpy as np\nreturn x + np.add.reduce([2, 3])",
        "import numpy as np\nreturn x * np.ndim(x) * (2 if np.isscalar(3) else 1)",
        "import numpy as np\nreturn x[np.r_[0:2, 3]].sum() + torch.from_numpy(np.mgrid[0:2, 0:3][0])",
        "import numpy as np\nreturn x + len(np.empty(3, dtype=object))",
        "import numpy as np\nreturn x + len(np.array(['a', 'b']))",
        "import numpy as np\nreturn x + torch.from_numpy(np.array([[np.sqrt(4.0), 1.0]])).sum()",
        "import numpy as np\nreturn x + len(np.random.SeedSequence(3).generate_state(2))",
        "rows = torch.zeros(4, 8)\ntorch.mul(x, 2, out=rows[:, 2:6])\nreturn x + rows.sum()",
        "rows = torch.zeros(4, 4)\ntorch.mul(x, 2, out=rows.T)\nreturn x + rows",
        "return torch.nn.utils.rnn.unpad_sequence(x[None], torch.tensor([3]), batch_first=True)[0] + 1",
        "return x + torch.quasirandom.SobolEngine(4).draw(1) * 0",
        "import re\nreturn x + len(re.search('(?P<a>a)', 'a').groupdict())",
        "import itertools\nreturn x + sum(a * b for a, b in itertools.combinations_with_replacement([1, 2], 2))",
        "import attrs\n@attrs.frozen\nclass Batch:\n    x: torch.Tensor\n"
        "def f(x, m, i):\n    return Batch(x).x + 1",
        "import re\nreturn x + len([found for found in re.finditer('a', 'aa')])",
        "late = torch.compiler.disable(torch.sin)\nreturn x + 1",
        "late = torch._dynamo.allow_in_graph(torch.sin)\nreturn x + 1",
        "def size(n):\n    return 2\nknown = torch.compiler.assume_constant_result(size)\nreturn x + 1",
        "scaler = torch.amp.GradScaler('cpu', enabled=False)\nreturn x + 1",
        "scaler = torch.cuda.amp.GradScaler(enabled=False)\nreturn x + 1",
    )
    VALID = (
        "import numpy as np\nreturn x + torch.from_numpy(np.array([np.sqrt(4.0), np.sqrt(9.0)])).sum()",
        "def rows():\n    n = yield 1.0\n    while True:\n        n = yield n * 2\n"
        "def f(x, m, i):\n    made = rows()\n    next(made)\n    return x * made.send(2.0)",
        "import attrs\n@attrs.frozen\nclass Batch:\n    n: int\nbatch = Batch(2)\n"
        "@attrs.define\nclass Pair:\n    x: torch.Tensor\n    n: int = 2\n"
        "def f(x, m, i):\n    return Pair(x).x * batch.n",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm = torch.nn.BatchNorm1d(4, momentum=None, track_running_stats=False)\n"
        "    def forward(self, x, m, i):\n        return self.norm(x) + 1\nf = M()",
        "import locale\nreturn x + locale.LC_ALL",
        "one = torch.distributions.Normal(x, x.abs() + 1, validate_args=False)\n"
        "return torch.distributions.Independent(one, 1, validate_args=True).log_prob(x) + 1",
        "y = x * 2\nreturn y.add_(x, alpha=0.1).addcmul_(x, x, value=0.1).add(0.1, x).sub_(0.1, x)",
        "rows = torch.zeros(2, 4, 4)\ntorch.mul(x, 2, out=rows[1, 0:4])\nreturn x + torch.add(x, 1, out=rows[0])",
        "import re\nfound = re.search('(a)', 'a')\nreturn x + (len(found[1]) + found.start() if found else 0)",
        "import numpy as np\nrows = np.s_[0:2]\ndef f(x, m, i):\n    return x[rows].sum() * np.shape(x)[0]",
        "import numpy as np\nreturn x + torch.from_numpy(np.empty(4, dtype=bool) + np.array([1, 2, 3, 4])) * 0",
        "import itertools\nscales = itertools.cycle([1.0, 2.0])\nreturn x * next(scales)",
    )

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        why = op.details.get("why", SORTS)
        return why in (NO_METHODS, NO_VERSION, SYNCED) or DRAWN in why or super().is_aside(node, op)

    advised = ""  # what to write instead, where that is known
    is_message = False  # the call writes a message for people to read

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        from pt2lint.fixes import by_hand
        from pt2lint.fixes.repairs import printing

        if self.is_message and (found := printing.in_eager_alone(self.function, node)):
            return found
        return [by_hand.told(self.advised)] if self.advised else super().fixes(node)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.is_message = "says" in op.details
        self.advised = op.details.get("instead") or ADVISED.get(op.details.get("why", ""), "")
        until = op.details.get("until", "")
        if "when" in op.details:
            op = op._replace(when=tuple(dict.fromkeys((*op.when, op.details["when"]))))
        since = op.details.get("since", "")
        if since and self.function.target < _version(since):
            return
        if not until or self.function.target < _version(until):
            why = f"{self.says}: {op.details.get('why', SORTS)}"
            self.breaks(node, op, why, op.details.get("like", ""))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
