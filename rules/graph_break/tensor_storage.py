from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls
from pt2lint.rule.tree import is_name, walk

# From there on an address is an object of its own while tracing: it can be kept, but not computed with.
ADDRESS_IS_KEPT = (2, 10)
KEEPS = ("add", "append", "setdefault", "get")
BY_ITSELF = (
    "Tell tensors apart by what they are: `a is b` is known while tracing; what is known of their memory "
    "the caller can say, with a flag"
)


class TensorStorage(GraphBreak):
    """The address or the storage of a tensor is asked for.

    ## What happens
    Traced tensors have no memory: `data_ptr()` gives what Dynamo cannot compute with (GB3006), `storage()`,
    `is_shared()`, `storage_offset()` and `is_same_size()` give no tensor (GB0208). The graph ends.

    ## Example
    ```python
    import torch

    def f(x, y):
        if x.data_ptr() % 16 == 0:
            return torch.relu(x) + y
        return torch.relu(x.clone()) + y

    args = (torch.ones(2), torch.ones(2))
    ```

    ## Use instead
    Look at the object or the shape, not at the memory:
    ```python
    import torch

    def f(x, y):
        if x.is_contiguous():
            return torch.relu(x) + y
        return torch.relu(x.contiguous()) + y

    args = (torch.ones(2), torch.ones(2))
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; `storage_offset()`
    is fine on 2.15. An address that is only kept, or is a key (`seen.add(x.data_ptr())`, `kept[x.data_ptr()] = x`), is
    fine on 2.13 and 2.15: comparing it by `==` (GB5976) and arithmetic are not.
    """

    code = "PTB108"
    name = "tensor-storage"
    aside = "always"
    ops = (
        *calls("torch.Tensor", "data_ptr storage storage_offset is_shared is_same_size"),
        *calls("torch.UntypedStorage", "data_ptr nbytes"),
    )
    says = "{code} asks for the memory behind a tensor"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "call torch.Tensor.data_ptr": BY_ITSELF,
            "call torch.UntypedStorage.data_ptr": BY_ITSELF,
            "call torch.UntypedStorage.nbytes": "Count the bytes of the tensor: `t.numel() * t.element_size()`",
            "call torch.Tensor.storage": (
                "Ask the tensor itself: `t.numel() * t.element_size()` are its bytes, `a is b` tells "
                "whether two are one; what else is known of the memory the caller can say"
            ),
            "": "Have the caller ask, and pass on the answer as a number or a flag",
        }
    )
    graph_breaks = ("GB3006", "GB0208")

    INVALID = (
        "return x + x.untyped_storage().nbytes() * 0",
        "return x + x.data_ptr() * 0",
        "x.storage()\nreturn x + 1",
        "return x + x.is_shared()",
        "return x + 1 if x.data_ptr() == i.data_ptr() else x",
    )
    VALID = (
        "return x + x.stride(0) + x.element_size()",
        "seen = {}\nfor t in (x, m):\n    seen[t.data_ptr()] = t\nreturn x + len(seen)",
        "seen = set()\nfor t in (x, m):\n    if t.data_ptr() not in seen:\n        seen.add(t.data_ptr())\n"
        "return x + len(seen)",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if (
            op.name != "call torch.Tensor.data_ptr"
            or self.function.target < ADDRESS_IS_KEPT
            or self.computes(node)
        ):
            self.breaks(node, op, self.says)

    def computes(self, node: cst.CSTNode) -> bool:
        """Whether the address is more than kept: compared with another one, or part of an expression."""
        parent = self.function.parent(node)
        if isinstance(parent, cst.AssignTarget | cst.Assign):
            assigned = parent.targets[0].target if isinstance(parent, cst.Assign) else parent.target
            if not isinstance(assigned, cst.Name):
                return True
            uses = [
                part
                for part in walk(self.function.module)
                if is_name(part, assigned.value) and part is not assigned
            ]
            return any(
                self.computes(use)
                for use in uses
                if not isinstance(self.function.parent(use), cst.AssignTarget)
            )
        if isinstance(parent, cst.Arg):
            call = self.function.parent(parent)
            callee = call.func if isinstance(call, cst.Call) else None
            return not (isinstance(callee, cst.Attribute) and callee.attr.value in KEEPS)
        if isinstance(parent, cst.Comparison):
            looked_up = all(isinstance(c.operator, cst.In | cst.NotIn) for c in parent.comparisons)
            literal = isinstance(parent.comparisons[0].comparator, cst.List | cst.Tuple)
            return not looked_up or literal or parent.left is not node
        if isinstance(parent, cst.Index):
            element = self.function.parent(parent)
            subscript = None if element is None else self.function.parent(element)
            return subscript is None or not isinstance(self.function.parent(subscript), cst.AssignTarget)
        return not isinstance(parent, cst.DictElement | cst.DictComp | cst.SetComp | cst.Element | cst.Expr)
