from __future__ import annotations

from types import MappingProxyType

from pt2lint.rule import GraphBreak, calls

OS = "listdir makedirs mkdir remove unlink rename replace getcwd walk stat scandir system"
PATH = "exists isfile isdir getsize getmtime abspath realpath islink"


class FileCall(GraphBreak):
    """Files are read, written or looked for in compiled code.

    ## What happens
    Dynamo does not trace what reaches the file system: it ends the graph at `os` and `os.path` (GB0007), at
    `open` (GB0059, GB0142), `torch.save`, `torch.load`, `json`, `io.BytesIO` and `io.StringIO` (GB0156).
    Functions that only look at the text of a path (`os.path.join`, `basename`) are fine.

    ## Example
    ```python
    import os
    import torch

    def f(x):
        if os.path.exists("/nonexistent"):
            x = x + 1
        return x * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Look before the compiled call, and pass on what was found:
    ```python
    import os
    import torch

    FOUND = os.path.exists("/nonexistent")

    def f(x):
        if FOUND:
            x = x + 1
        return x * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; at `open`, Dynamo
    gives up the whole function. `Path.iterdir` and `Path.glob` are fine on 2.9.
    """

    code = "PTB142"
    name = "file-call"
    aside = "always"
    ops = (
        *calls("os", OS),
        *calls("os.path", PATH),
        "call builtins.open",
        *calls("io", "BytesIO StringIO"),
        *calls("pathlib.Path", "exists is_file is_dir read_text write_text open mkdir stat iterdir glob"),
        *calls("torch", "save load"),
        *calls("numpy", "save load"),
        *calls("json", "dump dumps load loads"),
        *calls("pickle", "dump dumps load loads"),
        *calls("shutil", "copy copyfile copytree move rmtree which"),
        *calls("tempfile", "TemporaryDirectory TemporaryFile NamedTemporaryFile mkdtemp mkstemp"),
    )
    says = "{code} does file work inside compiled code"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "": (
                "Do it around the call of the compiled function: look and read before, and write what it "
                "returns"
            ),
        }
    )
    graph_breaks = ("GB0007", "GB0059", "GB0142", "GB0156")

    INVALID = (
        "import pathlib\nreturn x + pathlib.Path('/nonexistent').exists()",
        "import os\nreturn x + os.path.isfile('a')",
        "import io\ntorch.save(x, io.BytesIO())\nreturn x + 1",
        "import os\nwith open(os.devnull) as file:\n    file.read()\nreturn x + 1",
    )
    VALID = (
        "import os\nreturn x + len(os.path.join('a', 'b')) + len(os.environ.get('A_B', ''))",
        "import os\nname = os.path.basename('a/b')\nreturn x + len(name) + (os.getenv('A_B') is None)",
    )
