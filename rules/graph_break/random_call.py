from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls

OLD = "random sample shuffle seed"
# Dynamo keeps these as numbers of its own; what breaks is to branch on one.
CARRIED = calls("random", "randint uniform randrange")
# NumPy's functions that give one number, unless a size is given: the position of `size`.
SIZE = {
    "rand": 0,
    "randn": 0,
    "random": 0,
    "random_sample": 0,
    "normal": 2,
    "uniform": 2,
    "randint": 2,
}
# Distributions that torch._numpy has no version of either.
DISTRIBUTIONS = (
    "chisquare dirichlet f geometric gumbel hypergeometric logistic lognormal logseries multinomial "
    "multivariate_normal negative_binomial noncentral_chisquare noncentral_f pareto power rayleigh "
    "standard_cauchy standard_exponential standard_gamma standard_t vonmises wald weibull zipf"
)
OF_GENERATORS = (
    "random normal uniform standard_normal integers choice permutation shuffle exponential poisson beta gamma "
    "binomial"
)
OF_OLD_GENERATORS = "rand randn random_sample uniform normal choice permutation randint shuffle"
OF_OBJECTS = (
    "choice choices gauss normalvariate betavariate expovariate getrandbits triangular sample shuffle"
)
COMPUTED = "compute with random"
MADE_BEFORE = "Make it before the compiled code runs, and pass it on"


class RandomCall(GraphBreak):
    """A random number from Python or NumPy is drawn in compiled code.

    ## What happens
    The number would be part of the graph, the same in every call; so Dynamo ends the graph and lets
    Python draw (GB0007; GB0033 for a number of NumPy, GB0294 and GB0156 for its generators, GB0008 for `secrets`).
    `random.randint`, `uniform` and `randrange` are carried along as numbers, but not into a branch
    (GB0170), and no further number comes of one (`2 * random.uniform(0, 1)`, GB0213): what is computed of one and a
    tensor stays in the graph.

    ## Example
    ```python
    import random
    import torch

    def f(x):
        if random.choice([True, True]):
            x = torch.relu(x)
        return x * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Draw outside and pass the number in, or draw a tensor with `torch.rand`:
    ```python
    import random
    import torch

    def f(x, keep):
        if keep:
            x = torch.relu(x)
        return x * 2

    args = (torch.tensor([1.0, -2.0]), random.choice([True, True]))
    ```

    ## Versions
    Measured: `random.random`, `sample`, `shuffle` and `seed` break on torch 2.6 to 2.13 and are fine on
    2.15 (`random.random` breaks in a branch there as well), so do `sample` and `shuffle` of a `random.Random`. The
    others, also of such an object, a single number of `numpy.random` and of a `RandomState`, `uuid` and `secrets` break
    on 2.6 to 2.15; `random`, `uniform`, `randint` and `randrange` of an object are PTS345. Arrays of
    `numpy.random.rand`, `randn`, `randint`, `uniform` and `normal`, and `numpy.random.seed`, compile, and
    draw from torch instead; other distributions and `choice` break whatever their size.
    """

    code = "PTB141"
    name = "random-call"
    aside = "always"
    ops = (
        *calls("random", OLD),
        *calls("random", "choice choices gauss normalvariate betavariate expovariate getrandbits triangular"),
        *calls("random.Random", OF_OBJECTS),
        *CARRIED,
        COMPUTED,
        *calls("numpy.random", " ".join(SIZE)),
        *calls("numpy.random", "default_rng RandomState permutation choice standard_normal exponential"),
        *calls("numpy.random", "poisson gamma beta binomial laplace triangular"),
        *calls("numpy.random", DISTRIBUTIONS),
        *calls("numpy.random.Generator", OF_GENERATORS),
        *calls("numpy.random.RandomState", OF_OLD_GENERATORS),
        *calls("uuid", "uuid1 uuid4"),
        *calls("secrets", "randbelow token_hex token_bytes choice"),
    )
    says = "{code} draws a random number outside the graph"
    repairs = ("host", "skip", "operator", "disable")
    instead = MappingProxyType(
        {
            "call uuid": MADE_BEFORE,
            "call secrets": MADE_BEFORE,
            COMPUTED: (
                "Draw it as a 0-dim tensor, `torch.empty(()).uniform_(0, 1)`, with which one computes "
                "in the graph; or draw it before the compiled code runs, and pass it on"
            ),
            "": (
                "Draw with torch, which stays in the graph: `torch.rand`, `torch.randint`, "
                "`torch.randperm`; or draw before the compiled code runs, and pass the numbers in as a "
                "tensor"
            ),
        }
    )
    graph_breaks = ("GB0007", "GB0033", "GB0170", "GB0294", "GB0008", "GB0156", "GB0213")

    INVALID = (
        "import random\nreturn x + random.choice([1, 2])",
        "import random\nif random.randint(0, 3) > 1:\n    x = x + 1\nreturn x",
        "import random\ny = x + 1\nk = 1 - 0.5 * random.uniform(0, 1)\nreturn y * k",
        "import random\ny = x + 1\nk = random.randint(1, 3)\nk += len(x)\nreturn y * k",
        "import random\ny = x + 1\nreturn y * -random.uniform(0, 1)",
        "import numpy as np\nreturn x + np.random.rand()",
        "import numpy as np\nreturn x * np.random.choice([1, 2])",
        "import numpy as np\nreturn x * torch.from_numpy(np.random.choice(np.arange(4), 2, replace=False)).sum()",
        "import numpy as np\nreturn x * np.random.beta(1, 1, size=4).sum()",
        "import numpy as np\nreturn x * np.random.lognormal(0.0, 1.0)",
        "import numpy as np\ndraws = np.random.default_rng(0)\ndef f(x, m, i):\n    return x * draws.random() * 0",
        "import numpy as np\ndraws = np.random.RandomState(0)\ndef f(x, m, i):\n    return x * draws.uniform(0, 1) * 0",
        "import random\ndraws = random.Random(0)\ndef f(x, m, i):\n    return x * draws.choice([1, 2])",
        "import uuid\nreturn x + len(str(uuid.uuid4())) * 0",
    )
    VALID = (
        "import random\nreturn x * random.uniform(1, 1)",
        "import random\nreturn x + random.randint(3, 3)",
        "import random\ny = random.uniform(1, 1) * x * 2 + 1\nreturn max(1, random.randint(1, 1)) * y",
        "import numpy as np\nreturn x + torch.from_numpy(np.random.randn(4)) * 0",
        "import numpy as np\nnp.random.seed(0)\nreturn x + 1",
        "return x + torch.rand(4) * 0",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        size = SIZE.get(op.name.rpartition(".")[2]) if op.name.startswith("call numpy.") else None
        return size is None or not op.arg(size, "size")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == COMPUTED:
            self.breaks(node, op, "{code} computes a number of one that is drawn as the graph runs")
            return
        decides = self._decides(node)
        if op.name not in CARRIED or decides:
            self.breaks(node, op, self.says, f"{op.name} in a branch" if decides else "")

    def _decides(self, node: cst.CSTNode) -> bool:
        """Whether the number, as it is or compared, is the test of a branch."""
        child, here = node, self.function.parent(node)
        while isinstance(
            here, cst.Comparison | cst.ComparisonTarget | cst.BooleanOperation | cst.UnaryOperation
        ):
            child, here = here, self.function.parent(here)
        return isinstance(here, cst.If | cst.IfExp | cst.While) and here.test is child
