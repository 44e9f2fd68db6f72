from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import walk

LINALG = "cholesky inv pinv solve svd svdvals eigh eigvalsh lu_factor ldl_factor matrix_power tensorinv"
PLAIN = "inverse cholesky svd multinomial"
FAILING = (*calls("torch.linalg", LINALG), *calls("torch", PLAIN), *calls("torch.Tensor", PLAIN))
ERRORS = {"RuntimeError", "Exception", "BaseException", "LinAlgError", "_LinAlgError"}
# What fails by the positions that it is given, and what by the shapes, which Dynamo knows while it traces.
PICKING = "index_select gather take scatter index_add"
SHAPED = "view view_as reshape expand expand_as unflatten split matmul mm bmm copy_"
JOINING = "cat stack einsum broadcast_tensors reshape split matmul mm bmm"
PICKS = (
    *calls("torch", PICKING),
    *calls("torch.Tensor", PICKING),
    *calls("torch.nn.functional", "embedding cross_entropy one_hot"),
    "forward torch.nn.Embedding",
)
SHAPES = (
    *calls("torch", JOINING),
    *calls("torch.Tensor", SHAPED),
    "call torch.nn.functional.linear",
    "forward torch.nn.Linear",
)
TRIED = (*PICKS, *SHAPES)
WORDS = {name.rpartition(".")[2] for name in TRIED}
CAUGHT = (2, 15)  # from there on Dynamo goes on in the handler where shapes do not fit


class UncaughtAssertion(Rule):
    """An `assert` or an operation that fails in compiled code is not caught by the `except` that expects it.

    ## What happens
    Dynamo turns `assert tensor` into an assertion in the graph. Where it fails, the compiled code raises
    `RuntimeError`, not `AssertionError`. Catch both, or look at the tensor outside the compiled code.

    Inside compiled code there is no `try` when the graph runs: whether a matrix can be factorized shows only then.
    Dynamo takes `torch.linalg.cholesky(a)` to succeed and leaves out the `except RuntimeError` around it; where it
    fails, the error leaves the compiled function, and what the handler provides (more jitter, another solver) never
    runs. `cholesky_ex` and `inv_ex` tell it in a tensor, for `torch.where`. So it is with positions that a tensor
    does not have (`index_select`, `gather`, an embedding), and up to torch 2.13 with shapes that do not fit (`view`,
    `cat`, `matmul`, a linear layer), where compiling raises: ask for the shape, or for `x.is_contiguous()`, in place
    of trying. These are reported where they are all that is tried, and a handler goes on.

    ## Example
    ```python
    import torch

    @torch.compile
    def root(x):
        assert (x >= 0).all(), "negative"
        return x.sqrt()

    def run():
        try:
            return root(-torch.ones(3))
        except AssertionError:
            return None
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def root(x):
        assert (x >= 0).all(), "negative"
        return x.sqrt()

    def run():
        try:
            return root(-torch.ones(3))
        except (AssertionError, RuntimeError):
            return None
    ```

    ## Versions
    Measured: RuntimeError on torch 2.6, 2.9, 2.13 and 2.15. An `assert not ...`, one of several conditions and one
    of sizes raise AssertionError. On 2.13 what fails inside a `try` leaves the compiled function, for `cholesky`,
    `inv`, `pinv`, `solve`, `svd`, `eigh`, `lu_factor`, `matrix_power` and their like, and for `multinomial`; where
    the graph breaks in the `try`, Dynamo leaves the function to Python, which catches it. Positions on 2.6 to 2.15;
    shapes on 2.6, 2.9 and 2.13, no more on 2.15.
    """

    code = "PTS324"
    name = "uncaught-assertion"
    ops = ("assert tensor", *FAILING, *TRIED)
    asks_what_is_left = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return op.name == "assert tensor" or op.inside == "try"

    def concerns(self, op: Op) -> bool:
        """A function that is left to Python catches as ever."""
        if op.name in SHAPES and self.function.target >= CAUGHT:
            return False
        return op.name == "assert tensor" or not self.function.is_left

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name != "assert tensor":
            self.failing(node, op)
            return
        line = op.details["caught"].split(" | ")[0]
        self.report(
            node,
            op,
            f"`assert {self.text(node)}` raises RuntimeError in compiled code, which the `except AssertionError` of "
            f"the `try` in line {line} lets through",
        )

    def failing(self, node: cst.CSTNode, op: Op) -> None:
        """`torch.linalg.cholesky(a)` inside of a `try`; a note where nothing says that the code is compiled."""
        around = self.around(node, op)
        if around is None or (op.name in TRIED and not self.is_tried(node, around)):
            return
        line = self.function.range(around)[0]
        why = "compiled code has no handler for what shows only when the graph runs"
        if op.name in SHAPES:
            why = "Dynamo raises it while it traces"
        self.report(
            node,
            op,
            f"what {self.quote(node)} raises where it fails is not caught by the `try` in line {line}: {why}",
            severity="note" if op.open else None,
        )

    def is_tried(self, node: cst.CSTNode, around: cst.Try) -> bool:
        """Whether it is all that is tried, in a `try` none of whose handlers raises another error."""
        outer = self.function.parent(node)
        while outer is not None and outer is not around:
            if isinstance(outer, cst.Call) and isinstance(outer.func, cst.Attribute):
                if outer.func.attr.value in WORDS:
                    return False  # that one is reported
            outer = self.function.parent(outer)
        raising = any(isinstance(n, cst.Raise) for handler in around.handlers for n in walk(handler))
        return len(around.body.body) == 1 and not raising

    def around(self, node: cst.CSTNode, op: Op) -> cst.Try | None:
        """The `try` in whose body it stands, if it waits for such an error."""
        part, parent = node, self.function.parent(node)
        while parent is not None and not isinstance(parent, cst.FunctionDef | cst.Lambda):
            if isinstance(parent, cst.Try) and part is parent.body:
                errors = ERRORS | {"IndexError"} if op.name in PICKS else ERRORS
                return parent if any(self.is_caught(each, errors) for each in parent.handlers) else None
            part, parent = parent, self.function.parent(parent)
        return None

    def is_caught(self, handler: cst.ExceptHandler, errors: set[str]) -> bool:
        kind = handler.type
        kinds = [e.value for e in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
        return any(each is None or dotted(each).rpartition(".")[2] in errors for each in kinds)
