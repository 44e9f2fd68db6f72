from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import LAST, Fix
from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls
from pt2lint.rule.syntax import function_around, keeps_graph
from pt2lint.rule.tree import is_name, parameters_in, walk

TWICE = (2, 15)  # from there on what was compiled can be differentiated twice
RAISES = "{code}, through which a `backward()` raises RuntimeError, computes gradients in compiled code"
DIFFERENTIABLE = (
    "`torch.func.grad` is traced, and is differentiable again; or leave all uncompiled, the network too"
)
CHECKPOINTED = (
    "If this runs again what `forward` ran, call `torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)` in "
    "place of this class: that is traced"
)
OF_CONTEXT = ("mark_dirty", "mark_non_differentiable", "save_for_backward", "set_materialize_grads")


class BackwardCall(GraphBreak):
    """Gradients are computed inside compiled code.

    ## What happens
    The compiler traces the forward pass and makes the backward pass itself. At `.backward()` (GB0123),
    `torch.autograd.backward` (GB0007) and `torch.autograd.grad` (GB9186) Dynamo ends the graph and leaves the
    work to eager autograd.

    ## Example
    ```python
    import torch

    w = torch.ones(2, requires_grad=True)

    def f(x):
        loss = (x * w).sum()
        loss.backward()
        return loss.detach() * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Compile the forward pass and the loss, and call `backward()` on what comes out; or use
    `torch.func.grad`, which is traced:
    ```python
    import torch

    w = torch.ones(2, requires_grad=True)

    def f(x):
        gradient, loss = torch.func.grad_and_value(lambda w: (x * w).sum())(w.detach())
        return loss * 2

    args = (torch.tensor([1.0, -2.0]),)
    ```

    From torch 2.13 on `torch._dynamo.config.trace_autograd_ops = True` has Dynamo trace `torch.autograd.grad`.

    With `create_graph=True` the break is no mere cost: what was compiled before it has no second derivative, and the
    `backward()` of anything made of that gradient raises RuntimeError ("does not currently support double backward").
    Use `torch.func.grad`, that setting, or call the network uncompiled there.

    A `backward()` after which nothing is computed is a note: eager autograd does the work either way.

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. With `create_graph=True` and
    then `backward()`: raises on 2.6, 2.9 and 2.13 with every backend but "eager", not on 2.15; `torch.func.grad` in
    its place does not raise on any of them, nor does the setting on 2.13.
    """

    code = "PTB160"
    name = "backward-call"
    aside = "always"
    ops = (
        "call torch.Tensor.backward",
        *calls("torch.autograd", "backward grad"),
        *calls("torch.autograd.functional", "jacobian hessian vjp jvp hvp vhp"),
    )
    says = "{code} computes gradients in compiled code"
    repairs = ("train_step", "disable")
    instead = MappingProxyType(
        {
            "call torch.autograd.functional.jacobian": (
                "`torch.func.jacrev(f)(x)` is traced; or ask for it outside the compiled code"
            ),
            "call torch.autograd.functional.hessian": (
                "`torch.func.hessian(f)(x)` is traced; or ask for it outside the compiled code"
            ),
            **dict.fromkeys(
                calls("torch.autograd.functional", "hvp vhp"),
                "`torch.func.jvp(torch.func.grad(f), (x,), (v,))` is traced; or ask for it outside the compiled code",
            ),
            "call torch.autograd.functional.vjp": (
                "`torch.func.vjp(f, x)` is traced; or ask for it outside the compiled code"
            ),
            "call torch.autograd.functional.jvp": (
                "`torch.func.jvp(f, (x,), (v,))` is traced; or ask for it outside the compiled code"
            ),
            "": (
                "Compile what computes the loss, and ask for gradients of what it returns; or "
                "`torch.func.grad`, which is traced"
            ),
        }
    )
    graph_breaks = ("GB0123", "GB0007", "GB9186")

    INVALID = (
        "w = torch.ones(4, requires_grad=True)\n"
        "def f(x, m, i):\n    return torch.autograd.grad((x * w).sum(), w)[0]",
    )
    VALID = ("return torch.func.grad(lambda v: v.sum())(x)",)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        raises = self.raises(node)
        if op.name.endswith(".backward") and not (raises or op.parts or op.inside or op.caller or op.whole):
            op = op._replace(rare=op.rare or LAST)
        self.breaks(node, op, RAISES if raises else self.says)

    def raises(self, node: cst.CSTNode) -> bool:
        """Whether what differentiates the gradient again raises, with what was compiled before it."""
        return isinstance(node, cst.Call) and keeps_graph(node) and self.function.target < TWICE

    def runs_again(self, node: cst.CSTNode) -> bool:
        """Whether a `backward` written by hand calls a function that `forward` kept, `ctx.run(*inputs)`, and takes the
        gradient that it is given through it: what torch's checkpoint does."""
        around = function_around(self.function, node)
        if around is None or around.name.value != "backward" or not isinstance(node, cst.Call):
            return False
        several = around.params.star_arg
        taken = [*parameters_in(around.params), *([several] if isinstance(several, cst.Param) else [])]
        context, *given = [param.name.value for param in taken] or [""]
        named = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "grad_outputs"]
        outer = named or [a.value for a in node.args[2:3]]
        return any(is_name(each, name) for each in outer for name in given) and any(
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and is_name(call.func.value, context)
            and call.func.attr.value not in OF_CONTEXT
            for call in walk(around.body)
        )

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        from pt2lint.fixes.by_hand import told
        from pt2lint.fixes.repaired import accepted
        from pt2lint.fixes.repairs.settings import setting

        if self.raises(node):
            yield told(DIFFERENTIABLE)
        if self.runs_again(node):
            yield told(CHECKPOINTED)
            return
        yield from super().fixes(node)
        callee = node.func if isinstance(node, cst.Call) else None
        name = callee.attr if isinstance(callee, cst.Attribute) else callee
        if self.function.target >= (2, 13) and is_name(name, "grad"):
            yield from accepted(
                setting(self.function, "trace_autograd_ops = True", "let Dynamo trace `torch.autograd.grad`.")
            )
