from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule

SINCE = (2, 13)  # on 2.6 and 2.9 the comparison is right


class EquatedMember(Rule):
    """A tensor is compared with a member of an enumeration of numbers: compiled, no element is equal to it.

    ## What happens
    `ids == Kind.IMAGE`, of `class Kind(IntEnum)`, compares elements in eager mode. Dynamo compares the tensor
    itself with the member: the result is `False` (`True` for `!=`), not a tensor, and no warning says so. A mask
    made of it picks nothing, what is multiplied by it is zero; where a tensor is needed, compiling fails. The same
    goes for `class Kind(int, Enum)`, `IntFlag` and members that are floats, for members that an argument or an
    attribute holds, and for either side of the comparison. `<` and `>` are right, and so are `torch.eq` and `x.eq`.
    The member's value is a plain number: `ids == Kind.IMAGE.value`.

    ## Example
    ```python
    import enum

    import torch

    class Kind(enum.IntEnum):
        TEXT = 0
        IMAGE = 1

    @torch.compile
    def images(x, ids):
        return x * (ids == Kind.IMAGE)

    def run():
        return images(torch.ones(3), torch.tensor([0, 1, 1]))
    ```

    ## Use instead
    ```python
    import enum

    import torch

    class Kind(enum.IntEnum):
        TEXT = 0
        IMAGE = 1

    @torch.compile
    def images(x, ids):
        return x * (ids == Kind.IMAGE.value)

    def run():
        return images(torch.ones(3), torch.tensor([0, 1, 1]))
    ```

    ## Versions
    Measured: wrong on torch 2.13 and 2.15, right on 2.6 and 2.9.
    """

    code = "PTS342"
    name = "equated-member"
    ops = ("equate member",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if self.function.target < SINCE:
            return
        named = bool(op.detail("named"))
        self.report(
            node,
            op,
            f"{self.quote(node)} is a member of an enumeration: compiled, no element of a tensor equals it, unlike "
            "in eager mode; its `value` is a plain number",
            fixes=[
                self.fix(
                    "Compare with the member's value"
                    + ("." if named else ". It assumes that a member is given."),
                    self.edit(node, f"{self.text(node)}.value"),
                    applicability="safe" if named else "unsafe",
                )
            ]
            if isinstance(node, cst.Name | cst.Attribute)
            else (),
        )
