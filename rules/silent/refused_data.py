from __future__ import annotations

import ast
from contextlib import suppress

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import FunctionCode, Rule, calls
from pt2lint.rule.syntax import made

# The dtype that each of the old constructors takes: an array of another one it converts, but not where it is traced.
TAKES = {
    "FloatTensor": "float32",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "HalfTensor": "float16",
    "DoubleTensor": "float64",
}
LEGACY = calls("torch", " ".join(TAKES))
OF_LISTS = ("call torch.Tensor", "call torch.as_tensor")
# What NumPy makes of these, with no dtype given, is of double precision.
DOUBLE = ("zeros", "ones", "eye", "linspace", "rand", "randn", "random", "uniform", "normal")
OF_ITEMS = ("array", "asarray", "arange")  # as what they are given
WHERE_DTYPE = {"zeros": 1, "ones": 1, "full": 2, "array": 1, "asarray": 1, "astype": 0}
DTYPES = {"float": "float64", "double": "float64", "int": "int64", "single": "float32", "half": "float16"}
ONE_DTYPE = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


class RefusedData(Rule):
    """A tensor is made from an array or a list in a way that works in eager mode and raises when compiled.

    ## What happens
    While tracing, Dynamo has a tensor in the place of each NumPy array. The old constructors (`torch.FloatTensor`,
    `torch.LongTensor`) convert an array of another dtype, but refuse such a tensor, and neither `FloatTensor` nor
    `torch.Tensor` and `torch.as_tensor` make anything of a list of arrays. The last two refuse a list of 0-dim
    tensors too. That is no graph break, after which Python would go on: the call raises TorchRuntimeError.
    `torch.tensor`, `torch.from_numpy` and `torch.stack` take what they are given.

    ## Example
    ```python
    import numpy as np
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.FloatTensor(np.zeros(3))

    def run():
        return noisy(torch.ones(3))
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch

    @torch.compile
    def noisy(x):
        return x + torch.from_numpy(np.zeros(3)).float()

    def run():
        return noisy(torch.ones(3))
    ```

    ## Versions
    Measured: TorchRuntimeError on torch 2.6, 2.9, 2.13 and 2.15 for `FloatTensor`, `DoubleTensor`, `HalfTensor`,
    `LongTensor` and `IntTensor` of an array of any other dtype than theirs, made in the function or before it is
    called, and for lists as above; none for an array of the very dtype,
    `torch.Tensor` of an array, `FloatTensor` of a list of tensors, and `torch.tensor` of any of these. Where the
    dtype of an array depends on who passes it, nothing is reported.
    """

    code = "PTS327"
    name = "refused-data"
    ops = (*LEGACY, *OF_LISTS)
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        given = op.arg(0, "data")
        if given in ("list of array", "tuple of array"):
            return op.name in (LEGACY[0], *OF_LISTS)  # the others take arrays of their own dtype
        if op.name in OF_LISTS:
            return given in ("list of tensor", "tuple of tensor")
        return given.startswith(("number", "whole number", "array"))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or not node.args or node.args[0].star:
            return
        given = node.args[0].value
        if " of " not in op.arg(0, "data"):
            # What the file makes is none of the function's arguments, of which it may well have one by that name.
            of_file = op.arg(0, "data").startswith(("number", "whole number"))
            found = _dtype(self.function, self.parsed(given), of_file)
            if found in ("", TAKES[op.name.rpartition(".")[2]]):
                return
        self.report(
            node,
            op,
            f"{self.quote(node)} runs, but raises where it is compiled: `{self.text(node.func)}` does not take "
            f"{self.quote(given)} while tracing, as `torch.tensor` does",
        )

    def parsed(self, value: cst.BaseExpression) -> ast.expr | None:
        """The expression, or what the function assigns to it once."""
        with suppress(SyntaxError):
            return ast.parse(f"({self.text(made(self.function, value))})", mode="eval").body
        return None


def _dtype(function: FunctionCode, value: ast.expr | None, of_file: bool) -> str:
    """The dtype of an array, "" where the code does not show it."""
    if isinstance(value, ast.Name):
        return _dtype(function, _of_file(function, value.id), False) if of_file else ""
    if isinstance(value, ast.BinOp) and _dtype(function, value.left, of_file) == "float64":
        return "float64" if isinstance(value.right, ast.Constant) else ""
    called = value.func if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or not isinstance(called, ast.Attribute):
        return ""
    at = WHERE_DTYPE.get(called.attr, len(value.args))
    said = [k.value for k in value.keywords if k.arg == "dtype"] + value.args[at : at + 1]
    if said:
        return _named(said[0])
    if called.attr in DOUBLE:
        return "float64" if len(value.args) <= at else ""
    return _of_items(value.args) if called.attr in OF_ITEMS else ""


def _named(said: ast.expr) -> str:
    """`np.float32`, `"float32"`, `float`"""
    name = said.attr if isinstance(said, ast.Attribute) else said.id if isinstance(said, ast.Name) else ""
    if isinstance(said, ast.Constant) and isinstance(said.value, str):
        name = said.value
    name = DTYPES.get(name.rstrip("_"), name.rstrip("_"))
    return name if name in ONE_DTYPE else ""


def _of_items(given: list[ast.expr]) -> str:
    """What NumPy makes of numbers that are written out."""
    parts = [part for one in given for part in ast.walk(one)]
    kinds = {type(part.value) for part in parts if isinstance(part, ast.Constant)}
    plain = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
    if not kinds or kinds - {int, float} or not all(isinstance(part, plain) for part in parts):
        return ""
    return "float64" if float in kinds else "int64"


def _of_file(function: FunctionCode, name: str) -> ast.expr | None:
    """What the file assigns to a name, at its top and once."""
    body = function.file_tree.body if function.file_tree is not None else []
    found = [
        one.value
        for one in body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name) and target.id == name
    ]
    return found[0] if len(found) == 1 and not isinstance(found[0], ast.Name) else None
