from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import inside

SAYS = {
    "indexes": "is indexed, which raises TypeError: what torch.compile wraps around a module has no `__getitem__`",
    "goes over": "is gone over, which raises TypeError: what torch.compile wraps around a module is not iterable",
    "traces": "is what torch.compile made of a module, which other tracers refuse: give them the module itself",
}


class RefusedByCompiled(Rule):
    """A module wrapped by `torch.compile`, or an optimizer's compiled step, is used where that raises.

    ## What happens
    What `torch.compile(module)` returns calls the module and has its attributes, but not what Python asks of a class:
    `model[0]` and `for layer in model` raise TypeError, although the `nn.Sequential` inside has both.
    `torch.jit.script`, `torch.jit.trace` and `torch.fx.symbolic_trace` raise where they are given it. A schedule of the
    learning rate wraps `optimizer.step` as a method; where that has been compiled, it is a function, and making the
    schedule raises AttributeError. A module that keeps a compiled method of its own
    (`self.encode = torch.compile(self.encode)`) is not pickled, nor saved whole by `torch.save(model, path)`: pickle
    looks the method up in the class, and finds one that is not compiled. A method that the class
    itself has under `@torch.compile` is pickled.

    ## Example
    ```python
    import torch

    def run():
        model = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()))
        model(torch.ones(2, 3))
        return model[0].weight
    ```

    ## Use instead
    ```python
    import torch

    def run():
        plain = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        model = torch.compile(plain)
        model(torch.ones(2, 3))
        return plain[0].weight
    ```

    ## Versions
    Measured: raises on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS337"
    name = "refused-by-compiled"
    ops = ("refuse compiled",)
    anywhere = True
    severity = "error"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.BaseExpression):
            return
        if op.detail("how") == "schedules":
            self.report(
                node,
                op,
                f"{self.quote(node)} wraps `{op.detail('step')}`, which is compiled, and raises AttributeError: "
                "make the schedule first, and compile the step after it",
            )
            return
        if op.detail("how") == "pickles":
            method = op.detail("method")
            self.report(
                node,
                op,
                f"{self.quote(node)} keeps the compiled `{method}` of its own, which pickle refuses: it finds another "
                f"`{method}` in the class; save its `state_dict()`, or decorate the method in the class",
            )
            return
        self.report(
            node, op, f"{self.quote(node)} {SAYS[op.detail('how')]}", fixes=[self.asked_inside(node, op)]
        )

    def asked_inside(self, node: cst.BaseExpression, op: Op) -> Fix:
        text = self.text(node)
        plain = isinstance(node, cst.Name | cst.Attribute) and op.detail("always")
        return self.fix(
            "Ask the module inside.", self.edit(node, f"{text}._orig_mod" if plain else inside(text))
        )
