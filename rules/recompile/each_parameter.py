from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule.compiled_call import CompiledCall
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, walk

GIVES_PARAMETERS = ("parameters", "named_parameters", "state_dict")
GIVES_MODULES = ("modules", "named_modules", "children", "named_children")
# What is made so has one dimension, or is no tensor.
EVENS_OUT = ("view", "reshape", "flatten", "ravel", "numel", "item", "norm", "size", "shape", "dim", "ndim")


class EachParameter(CompiledCall):
    """A compiled function is called for each parameter, whatever its shape.

    ## What happens
    Dynamo compiles for the shape of the first parameter, then for any size, and once more for each other number of
    dimensions: weights of two, biases of one, convolutions of four. With many kinds of them that is the limit, after
    which all run in Python. So it is for the weights of a model's modules. Give the function all of them in one call:
    its loop over them becomes one graph. Or give it parameters of as many dimensions (`p.view(-1)`).

    ## Example
    ```python
    import torch

    @torch.compile
    def update(p, grad):
        p.sub_(0.1 * grad)

    parameters = [torch.ones(s) for s in [(8, 4), (8,), (4, 8), (4,), (3, 3, 3), (16, 3, 2, 2), (6, 5), (5, 5), (2, 9)]]
    group = {"params": parameters}

    def run():
        for p in group["params"]:
            update(p, torch.ones_like(p))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def update(parameters, grads):
        for p, grad in zip(parameters, grads):
            p.sub_(0.1 * grad)

    parameters = [torch.ones(s) for s in [(8, 4), (8,), (4, 8), (4,), (3, 3, 3), (16, 3, 2, 2), (6, 5), (5, 5), (2, 9)]]
    group = {"params": parameters}

    def run():
        update(group["params"], [torch.ones_like(p) for p in group["params"]])
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15, for parameters of one to four dimensions: 4 recompilations, 3 with
    `dynamic=True`, 1 where they are made flat, and none where all are given in one call; 1 where all have two
    dimensions.
    """

    code = "PTR224"
    name = "each-parameter"
    instead = MappingProxyType({"": "Pass all of them at once, and loop in compiled code"})
    severity = "note"

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        for loop in turns.loops:
            if not isinstance(loop, cst.For):
                continue
            modules = {n.value for n in names(loop.target)} if self.gives(loop.iter, GIVES_MODULES) else set()
            if not modules and not self.gives_parameters(loop.iter):
                continue
            made = {n.value for n in names(loop.target)} - modules
            for part in walk(loop.body):
                if isinstance(part, cst.Assign) and self.is_of(part.value, made, modules):
                    made |= {n.value for target in part.targets for n in names(target.target)}
            for argument in self.arguments(node, op):
                tensor = "tensor" in argument.word or (argument.use and argument.word == "unknown")
                if tensor and self.is_of(argument.value, made, modules):
                    kept = any(isinstance(part, cst.Call) and _keeps(part) for part in walk(argument.value))
                    ranks = "" if kept else ", and for each other number of dimensions"
                    self.report(
                        argument.value,
                        self.shown(op, argument.key),
                        f"{self.quote(argument.value)} has the shape of a parameter: {self.callee(op)} is compiled "
                        f"once more for other sizes{ranks}; given all in one call, they cost one graph",
                    )
                    return

    def gives(self, source: cst.BaseExpression, methods: tuple[str, ...]) -> bool:
        return any(
            isinstance(part, cst.Call)
            and isinstance(part.func, cst.Attribute)
            and part.func.attr.value in methods
            for part in walk(source)
        )

    def gives_parameters(self, source: cst.BaseExpression) -> bool:
        """`model.parameters()`, `group["params"]`, or a name that is one of these; through `enumerate` and `zip`."""
        if self.gives(source, GIVES_PARAMETERS):
            return True
        for part in walk(source):
            if isinstance(part, cst.Subscript) and "params" in self.text(part.slice[0]):
                return isinstance(part.slice[0].slice, cst.Index)
        if isinstance(source, cst.Name):
            found = [
                part.value
                for part in walk(self.function.module)
                if isinstance(part, cst.Assign) and any(is_name(t.target, source.value) for t in part.targets)
            ]
            return len(found) == 1 and not isinstance(found[0], cst.Name) and self.gives_parameters(found[0])
        return False

    def is_of(self, value: cst.BaseExpression, made: set[str], modules: set[str]) -> bool:
        """Whether it has the shape of what these names are, or of the weight of one of these modules, as far as its
        form tells."""
        kept = {id(part.func) for part in walk(value) if isinstance(part, cst.Call) and _keeps(part)}
        evens = any(
            isinstance(part, cst.Attribute) and part.attr.value in EVENS_OUT and id(part) not in kept
            for part in walk(value)
        )
        weighs = any(
            isinstance(part, cst.Attribute)
            and part.attr.value == "weight"
            and isinstance(part.value, cst.Name)
            and part.value.value in modules
            for part in walk(value)
        )
        return not evens and (weighs or any(n.value in made for n in names(value)))


def _keeps(call: cst.Call) -> bool:
    """`g.reshape(len(g), -1)`: as many dimensions for all, and other sizes for each."""
    into = isinstance(call.func, cst.Attribute) and call.func.attr.value in ("view", "reshape")
    return into and len(call.args) > 1
