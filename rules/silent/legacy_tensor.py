from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import made

PLAIN = "call torch.Tensor"
DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
OF_DTYPE = calls("torch", " ".join(DTYPES))
SIZES_RIGHT = (2, 15)  # from there on `torch.Tensor` takes a size as one; the others do not
# What NumPy makes of these, with no dtype given, is not of single precision.
DOUBLE = frozenset("zeros ones eye identity linspace rand randn random uniform normal full arange".split())
CONVERTS = frozenset("to type type_as float double half bfloat16 int long short bool".split())


class LegacyTensor(Rule):
    """`torch.Tensor(x.size())` is a list of numbers, and `torch.Tensor(array)` of another dtype, in compiled code.

    ## What happens
    `torch.Tensor(x.size())` makes a tensor of that size, with whatever lies in memory. To Dynamo a size is a tuple,
    and `torch.Tensor((3, 2))` makes a tensor of two elements, 3 and 2: the compiled code goes on with that. So do
    `torch.FloatTensor` and its like.

    `torch.Tensor(array)` is of torch.float32, whatever the array is of. While tracing, Dynamo has a tensor in the
    array's place, and `torch.Tensor` leaves that as it is: double precision, or ints.

    Nothing is said of either. `torch.empty`, `torch.zeros` and `torch.tensor(array, dtype=torch.float32)` do the same
    in both.

    ## Example
    ```python
    import torch

    @torch.compile
    def noise(x):
        return torch.FloatTensor(x.size()).fill_(0.5)

    def run():
        return noise(torch.ones(3, 2)).shape
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def noise(x):
        return torch.empty(x.size(), dtype=torch.float32).fill_(0.5)

    def run():
        return noise(torch.ones(3, 2)).shape
    ```

    ## Versions
    Measured: wrong on torch 2.6, 2.9, 2.13 and 2.15, but for `torch.Tensor` of a size, which is right on 2.15. Right on
    all: `torch.Tensor(*x.size())`, `x.new(x.size())`, and `torch.Tensor` of a list of numbers or of an array of
    np.float32. Of `torch.FloatTensor` of an array: PTS327.
    """

    code = "PTS348"
    name = "legacy-tensor"
    ops = (PLAIN, *OF_DTYPE)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].star or node.args[0].keyword:
            return
        given, kind = node.args[0].value, op.arg(0, "data")
        if kind == "tuple of int" and self.is_size(made(self.function, given)):
            if op.name != PLAIN or self.function.target < SIZES_RIGHT:
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} has the numbers of {self.quote(given)} as its elements where it is compiled, "
                    "not that size: `torch.empty` takes a size in both",
                    fixes=self.with_empty(node, op),
                )
        elif op.name == PLAIN and ("number" in kind or kind.startswith("array")):
            if self.is_of_another_dtype(given) and not self.is_converted(node):
                self.report(
                    node,
                    op,
                    f"{self.quote(node)} is of the array's own dtype where it is compiled, and of torch.float32 where "
                    f"it is not: `torch.tensor(..., dtype=torch.float32)` is that in both",
                )

    def is_size(self, value: cst.BaseExpression) -> bool:
        """`x.size()`, `x.shape`, `x.shape[1:]`, `x.shape + (1,)` of a tensor, `torch.Size(...)`."""
        if isinstance(value, cst.Subscript):
            return isinstance(value.slice[0].slice, cst.Slice) and self.is_size(value.value)
        if isinstance(value, cst.BinaryOperation):
            return isinstance(value.operator, cst.Add) and self.is_size(value.left)
        if isinstance(value, cst.Attribute):
            return value.attr.value == "shape" and self.is_tensor(value.value)
        if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
            if self.text(value.func) == "torch.Size":
                return True
            return value.func.attr.value == "size" and not value.args and self.is_tensor(value.func.value)
        return False

    def is_tensor(self, value: cst.BaseExpression) -> bool:
        word = (self.function.kinds or dict)().get(self.function.range(value), "")
        return word.startswith("tensor")

    def with_empty(self, node: cst.Call, op: Op) -> list[Fix]:
        if not isinstance(node.func, cst.Attribute) or "\n" in self.text(node):
            return []
        torch = self.text(node.func.value)
        if self.function.imports.get(torch) != "torch":
            return []  # `self.FloatTensor`, as the code calls it
        dtype = DTYPES.get(op.name.removeprefix("call torch."), "")
        args = self.text(node.args[0].value) + (f", dtype={torch}.{dtype}" if dtype else "")
        edit = self.edit(node, f"{torch}.empty({args})")
        return [self.fix("Make it with `torch.empty`, which takes a size.", edit, applicability="safe")]

    def is_of_another_dtype(self, given: cst.BaseExpression) -> bool:
        """Whether NumPy makes the array of what says its dtype, which is not np.float32."""
        value = made(self.function, given)
        if value is given and isinstance(given, cst.Attribute) and self.text(given.value) == "self":
            made_there = self.set_once(given.attr.value)
        else:
            made_there = ast.parse(self.function.module.code_for_node(value).strip(), mode="eval").body
        if not isinstance(made_there, ast.Call) or not isinstance(made_there.func, ast.Attribute):
            return False
        name, args = made_there.func.attr, made_there.args
        if any(k.arg in ("dtype", "like", None) for k in made_there.keywords):
            return False
        if name in DOUBLE:
            return len(args) <= (3 if name in ("linspace", "normal", "uniform", "arange") else 1)
        return name in ("array", "asarray") and len(args) == 1 and _is_of_numbers(args[0])

    def set_once(self, name: str) -> ast.expr | None:
        """What the file sets an attribute of that name to, if it does so once."""
        tree = self.function.file_tree
        found = [
            part.value
            for part in (ast.walk(tree) if tree is not None else ())
            if isinstance(part, ast.Assign)
            for target in part.targets
            if isinstance(target, ast.Attribute) and target.attr == name
        ]
        return found[0] if len(found) == 1 else None

    def is_converted(self, node: cst.Call) -> bool:
        parent = self.function.parent(node)
        return isinstance(parent, cst.Attribute) and parent.attr.value in CONVERTS


def _is_of_numbers(value: ast.expr) -> bool:
    """A list of Python's own numbers, nested or not."""
    if isinstance(value, ast.List | ast.Tuple):
        return bool(value.elts) and all(map(_is_of_numbers, value.elts))
    if isinstance(value, ast.UnaryOp):
        return _is_of_numbers(value.operand)
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)
