from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import severity
from pt2lint.rule.syntax import names

NAMED = ("named_parameters", "named_modules", "named_buffers")
CHILDREN = ("children", "named_children")


class PrefixedNames(Rule):
    """Names of parameters and modules of a module wrapped by `torch.compile` begin with `_orig_mod.`.

    ## What happens
    `torch.compile(model)` returns a module whose only child is the original, `_orig_mod`. Names from
    `named_parameters()` and `named_modules()` begin with that, so that a comparison with a name of the model is
    never true: parameters that should have no weight decay, or stay frozen, are treated as all others, and an
    average that was keyed by the model's names is never updated from the compiled one. `children()` gives the one
    original. Ask the original, or compile in place by `model.compile()`, which leaves the names alone.

    A function that is given a module may be given a compiled one. Where its file compiles modules itself, a test of
    their names is told; elsewhere it is a note. A file that mentions `_orig_mod` knows of it.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.head(self.backbone(x))

    def run():
        model = torch.compile(Net())
        model(torch.ones(3))
        frozen = []
        for name, parameter in model.named_parameters():
            if name.startswith("backbone."):
                frozen.append(name)
        return len(frozen)
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.head(self.backbone(x))

    def run():
        model = Net()
        model.compile()
        model(torch.ones(3))
        frozen = []
        for name, parameter in model.named_parameters():
            if name.startswith("backbone."):
                frozen.append(name)
        return len(frozen)
    ```

    ## Versions
    Measured: prefixed on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS317"
    name = "prefixed-names"
    ops = ("attribute of compiled", "foreign name", "names of given")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name in ("foreign name", "names of given"):
            return True
        name = op.arg("name").removeprefix("constant ").strip("'")
        return name in NAMED + CHILDREN and not op.region and not op.arg("aware") and not op.arg("method")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "foreign name" and isinstance(node, cst.Comparison):
            compared = node.comparisons[0]
            outcome = "never" if isinstance(compared.operator, cst.In) else "always"
            self.report(
                node,
                op,
                f"{self.quote(node)} is {outcome} true: torch.compile wrapped the module, so that its names start with "
                f"`_orig_mod.`, and those in {self.quote(compared.comparator)} do not",
            )
            return
        if op.name == "names of given":
            self.given(node, op)
            return
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        if node.attr.value in CHILDREN:
            self.report(
                node,
                op,
                f"{self.quote(call)} gives the original module alone, as torch.compile wrapped it",
                fixes=[self.ask_original(node)],
            )
            return
        loop = self.function.parent(call)
        if not isinstance(loop, cst.For | cst.CompFor) or not isinstance(loop.target, cst.Tuple):
            return
        name = loop.target.elements[0].value
        around: cst.CSTNode | None = loop.body if isinstance(loop, cst.For) else self.function.parent(loop)
        if not isinstance(name, cst.Name) or around is None:
            return
        for used in names(around):
            if used.value == name.value and self.never(used):
                self.report(
                    node,
                    op,
                    f"the names of {self.quote(call)} start with `_orig_mod.`, as torch.compile wrapped the module: "
                    f"{self.quote(self.test(used))} is never true",
                    fixes=[self.ask_original(node)],
                )
                return

    def given(self, node: cst.CSTNode, op: Op) -> None:
        """A test of a name of a module that the function is given, which its caller may have compiled."""
        name = op.arg("name")
        self.report(
            node,
            op,
            f"{self.quote(node)} is never true where torch.compile wrapped the module, or the part of it: such names "
            "have `_orig_mod.` in them",
            severity=severity(op),
            fixes=[self.without_prefix(node, name)],
        )

    def without_prefix(self, node: cst.CSTNode, name: str) -> Fix:
        """All that the condition asks of the name, and not this test alone: `name == one or re.match(one, name)`."""
        around = node
        while isinstance(
            outer := self.function.parent(around),
            cst.BooleanOperation | cst.UnaryOperation | cst.GeneratorExp,
        ):
            around = outer
        plain = cst.parse_expression(f'{name}.replace("_orig_mod.", "")')
        used = [one for one in names(around) if one.value == name]
        return self.fix(
            "Take the prefix out of the name.", *rewrite(self.function, dict.fromkeys(used, plain))
        )

    def ask_original(self, node: cst.Attribute) -> Fix:
        """`compiled.children()` -> `compiled._orig_mod.children()`"""
        edit = self.edit(node.value, f"{self.text(node.value)}._orig_mod")
        return self.fix("Ask the original, whose names are the model's own.", edit)

    def test(self, used: cst.Name) -> cst.CSTNode:
        """The comparison or the call of a method that the name stands in."""
        here = self.function.parent(used)
        return (self.function.parent(here) if isinstance(here, cst.Attribute) else here) or used

    def never(self, used: cst.Name) -> bool:
        """`name == "..."`, `name.startswith("...")`, `name in ["...", "..."]`."""
        test = self.test(used)
        if isinstance(test, cst.Call) and isinstance(test.func, cst.Attribute) and test.func.value is used:
            return test.func.attr.value == "startswith" and all(_fixed(a.value) for a in test.args)
        if not isinstance(test, cst.Comparison) or test.left is not used or len(test.comparisons) != 1:
            return False
        compared = test.comparisons[0]
        if isinstance(compared.operator, cst.Equal):
            return _fixed(compared.comparator)
        listed = isinstance(compared.comparator, cst.Tuple | cst.List | cst.Set)
        return isinstance(compared.operator, cst.In) and listed and _fixed(compared.comparator)


def _fixed(node: cst.BaseExpression) -> bool:
    """A string, or strings, that name something of the model."""
    if isinstance(node, cst.Tuple | cst.List | cst.Set):
        return bool(node.elements) and all(_fixed(e.value) for e in node.elements)
    return isinstance(node, cst.SimpleString) and bool(node.evaluated_value)
