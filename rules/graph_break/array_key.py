from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak

SET = "builtins.set"  # keeps the elements of what it is given
ONE = ("builtins.set.add", "builtins.dict.setdefault")  # what keeps what it is given


class ArrayKey(GraphBreak):
    """An element of a NumPy array is the key of a dictionary, or in a set.

    ## What happens
    To Dynamo an array is a tensor and its elements are, too: they have no hash that says what they hold. It ends the
    graph where one is a key (`table[row]`, `table[row] = ...`, `row in table`, `set(rows)`; GB0088), in a loop over
    rows the whole function. Before torch 2.13 such a key can be kept but is not found, which raises an error or takes
    the other branch without a word. What `table.get(row)` gives is the default, on every torch (PTS350).

    ## Example
    ```python
    import numpy as np
    import torch

    scales = {1: 2.0, 2: 3.0}

    def f(x, rows: np.ndarray):
        return x * scales[rows[0]]

    args = (torch.ones(2), np.array([1, 2]))
    ```

    ## Use instead
    Numbers of Python, made before the compiled code runs:
    ```python
    import torch

    scales = {1: 2.0, 2: 3.0}

    def f(x, rows: list[int]):
        return x * scales[rows[0]]

    args = (torch.ones(2), [1, 2])
    ```

    ## Versions
    Measured: breaks or raises on torch 2.6 to 2.15; to keep something by one (`table[row] = ...`), `set(rows)`,
    `add` and `setdefault` break on 2.13 and 2.15.
    """

    code = "PTB117"
    name = "array-key"
    aside = "row by row"
    ops = ("key array", "keep by array", *(f"call {name}" for name in (SET, *ONE)))
    says = "{code} takes an element of an array for a key, which to Dynamo is a tensor"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": "Give it numbers of Python: `rows.tolist()` before the compiled code runs, and that as the argument",
        }
    )
    graph_breaks = ("GB0088",)

    INVALID = (
        "import numpy as np\ntable = {1: x}\nreturn x + table[np.arange(3)[1]]",
        "import numpy as np\ntable = {}\nfor row in np.arange(2):\n    table[row] = x\nreturn x + len(table)",
        "import numpy as np\nreturn x + 1 if np.arange(3)[1] in {1: 2} else x",
        "import numpy as np\nreturn x + 1 if np.arange(3)[1] in {1, 2} else x",
        "return x + len(set(i.numpy()))",
        "import numpy as np\ntable = {}\ntable[(np.arange(3)[1], 'a')] = x\nreturn x + len(table)",
        "import numpy as np\nfrom collections import defaultdict\ntable = defaultdict(list)\n"
        "for row in np.arange(2):\n    table[row].append(x)\nreturn x + len(table)",
    )
    VALID = (
        "table = {}\nfor row in range(2):\n    table[row] = x\nreturn table[1] + len(table)",
        "import numpy as np\ntable = {'a': np.arange(3)}\nreturn x + table['a'][1]",
        "return x + len(set([1, 2]))",
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name in ("key array", "keep by array"):
            return True
        given = op.arg(0).partition(" of ")
        word = given[2] if op.name == f"call {SET}" and given[2] else given[0]
        return word.startswith("array")
