from __future__ import annotations

import libcst as cst

from pt2lint.fixes.imports import qualified
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.rewrite import rewrite
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import inside, original, severity, told_alone
from pt2lint.rule.tree import callee, conjuncts, walk

ASKS = ("signature", "getfullargspec")  # of inspect
WHERE = " where torch.compile wrapped the module"
NAMES = ("__name__", "__qualname__", "__module__")  # of a class


class SignatureOfCompiled(Rule):
    """The signature and the class of a module wrapped by `torch.compile` are the wrapper's.

    ## What happens
    What `torch.compile(model)` returns takes `*args, **kwargs` and is of the class `OptimizedModule`. So
    `inspect.signature(compiled.forward)` has none of the parameters of `forward`: code that passes on what `forward`
    accepts passes on nothing, or everything. `compiled.__class__` and `type(compiled)` are not the model's class, nor
    is their `__name__`. `module.compile()` compiles in place, and both stay.

    A function that is given a module may be given a compiled one: a checkpoint, or an entry of a table, that goes
    by `type(model).__name__` then has the wrapper's name. Where its file compiles modules itself that is reported;
    elsewhere it is a note. A file that mentions `_orig_mod` knows of the wrapper.

    ## Example
    ```python
    import inspect
    import torch

    class Net(torch.nn.Module):
        def forward(self, x, scale=1):
            return x * scale

    def run():
        model = torch.compile(Net())
        names = inspect.signature(model.forward).parameters
        given = {"x": torch.ones(3), "scale": 2, "label": 1}
        return model(torch.ones(3)), [name for name in given if name in names]
    ```

    ## Use instead
    ```python
    import inspect
    import torch

    class Net(torch.nn.Module):
        def forward(self, x, scale=1):
            return x * scale

    def run():
        model = torch.compile(Net())
        names = inspect.signature(getattr(model, "_orig_mod", model).forward).parameters
        given = {"x": torch.ones(3), "scale": 2, "label": 1}
        return model(torch.ones(3)), [name for name in given if name in names]
    ```

    ## Versions
    Measured: `(*args, **kwargs)` and `OptimizedModule` on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS336"
    name = "signature-of-compiled"
    ops = ("attribute of compiled", "type of compiled", "signature of given", "class of given")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.region or op.detail("aware"):
            return False
        if op.name != "attribute of compiled":
            return True
        of_module = op.detail("name") == "constant '__class__'" and op.detail("self") != "unknown"
        return of_module or op.detail("name") == "constant 'forward'"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "type of compiled":
            self.named(node, op)
        if not isinstance(node, cst.Attribute):
            return
        if op.name == "class of given":
            self.named_by_class(node, op)
            return
        module = self.text(node.value)
        if op.name == "signature of given" and self.is_of_a_class(node, module):
            return  # the wrapper is of none but its own
        inner = original(self, node.value, op)
        if op.name == "signature of given":
            if any(o.name == "attribute of compiled" for o in self.function.ops_at(node)):
                return  # told so
            inner = inside(module)
            says = f"the signature of {self.quote(node)} is `(*args, **kwargs)` where torch.compile wrapped `{module}`"
        elif node.attr.value == "__class__":
            says = f"{self.quote(node)} is `OptimizedModule`: torch.compile wrapped the module in one"
            if op.detail("maybe"):
                says = f"{self.quote(node)} is `OptimizedModule`{WHERE}"
        elif self.is_asked(node):
            says = f"the signature of {self.quote(node)} is `(*args, **kwargs)`: torch.compile wrapped the module"
        else:
            return
        edit = rewrite(self.function, {node.value: cst.parse_expression(inner)}) if inner else []
        alone = op.name == "signature of given" and told_alone(op)
        self.report(
            node,
            op,
            says,
            severity=severity(op) if op.name == "signature of given" else None,
            fixes=[self.fix("Ask the module inside the wrapper.", *edit, by_hand=alone)] if edit else [],
        )

    def is_of_a_class(self, node: cst.CSTNode, module: str) -> bool:
        """Whether it stands under `if isinstance(module, Net):`."""
        here = node
        for outer in ancestors(self.function, node):
            if isinstance(outer, cst.If) and here is outer.body:
                for part in conjuncts(outer.test):
                    if isinstance(part, cst.Call) and callee(part) == "isinstance" and len(part.args) == 2:
                        asked, named = part.args[0].value, part.args[1].value
                        one = isinstance(named, cst.Name | cst.Attribute)
                        if one and self.text(asked) == module:
                            return qualified(self.function, named) != "torch.nn.Module"
            here = outer
        return False

    def named(self, node: cst.CSTNode, op: Op) -> None:
        """`type(compiled).__name__`"""
        name = self.function.parent(node)
        if (
            not isinstance(name, cst.Attribute)
            or name.attr.value not in NAMES
            or not isinstance(node, cst.Call)
        ):
            return
        module = node.args[0].value
        inner = cst.parse_expression(inside(self.text(module)))
        self.report(
            name,
            op,
            f"{self.quote(name)} is the wrapper's, `OptimizedModule`"
            f"{WHERE if op.detail('maybe') else ': torch.compile wrapped the module'}",
            fixes=[self.fix("Ask the module inside the wrapper.", *rewrite(self.function, {module: inner}))],
        )

    def named_by_class(self, node: cst.Attribute, op: Op) -> None:
        """`type(model).__name__` and `model.__class__.__name__` of a module that the function is given."""
        whose = node.value.args[0].value if isinstance(node.value, cst.Call) else node.value
        if isinstance(node.value, cst.Attribute):
            whose = node.value.value
        if any(o.name in ("attribute of compiled", "type of compiled") for o in self.function.ops):
            return  # told of the one that it is given
        inner = cst.parse_expression(inside(self.text(whose)))
        edits = rewrite(self.function, {whose: inner})
        fix = self.fix("Ask the module inside the wrapper.", *edits, by_hand=told_alone(op))
        self.report(
            node,
            op,
            f"{self.quote(node)} is `OptimizedModule` of any module that torch.compile wrapped",
            severity=severity(op),
            fixes=[] if self.takes_class(whose) else [fix],
        )

    def takes_class(self, whose: cst.BaseExpression) -> bool:
        """Whether the function goes on with the class itself, which would be another one than the one that it asked."""
        classes = {f"{self.text(whose)}.__class__", f"type({self.text(whose)})"}
        return any(
            isinstance(one, cst.Attribute | cst.Call)
            and self.text(one) in classes
            and not isinstance(self.function.parent(one), cst.Attribute)
            for one in walk(self.function.module)
        )

    def is_asked(self, node: cst.Attribute) -> bool:
        """Whether the method is what a call of `inspect` is given."""
        argument = self.function.parent(node)
        call = self.function.parent(argument) if isinstance(argument, cst.Arg) else None
        if not isinstance(call, cst.Call):
            return False
        return self.text(call.func).rpartition(".")[2] in ASKS
