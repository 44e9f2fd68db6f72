from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.nodes import ancestors
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import inside, severity, told_alone
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, parameters_in, walk


class IsinstanceOfCompiled(Rule):
    """`isinstance` says that a module wrapped by `torch.compile` is not of its own class.

    ## What happens
    `torch.compile(model)` returns an `OptimizedModule`, so that `isinstance(compiled, Net)` and
    `type(compiled) is Net` are False and the code takes the other branch. `model.compile()` compiles in place and
    keeps the class.

    The same goes where the model is compiled under a condition only, and for classes of other libraries
    (`isinstance(model, PreTrainedModel)`): what tells a model by its class no longer knows it. A file that mentions
    `_orig_mod` knows about the wrapper: of classes of other libraries, and of a model that may be of any class,
    nothing is reported there, unless a function takes the wrapper off, keeps the module under another name, and
    asks for the class of the wrapped one nevertheless. `type(accelerator.unwrap_model(model))` is the wrapper's:
    accelerate leaves it on.

    A function that is given a module may be given a compiled one: it refuses that one for its class, or it takes
    `DistributedDataParallel` off it and leaves the wrapper of `torch.compile` on. Where its file compiles modules
    itself that is reported; elsewhere it is a note.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = torch.compile(Net())
        return isinstance(model, Net), model(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return isinstance(model, Net), model(torch.ones(3))
    ```

    ## Versions
    Measured: False on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS304"
    name = "isinstance-of-compiled"
    ops = ("isinstance of compiled", "type of compiled", "type of given", "unwrap given")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "type of compiled":
            self.compared(node, op)
            return
        if op.name != "isinstance of compiled":
            self.given(node, op)
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} is False{self.where(op)} `torch.compile` returned a wrapper of another class; "
            "`model.compile()` keeps it",
        )

    @staticmethod
    def where(op: Op) -> str:
        """What stands between the outcome and the reason: a condition, where the module need not be wrapped."""
        return " where" if op.detail("maybe") else ":"

    def compared(self, node: cst.CSTNode, op: Op) -> None:
        """`type(compiled) is Net`, `type(compiled) in (Net, Other)`"""
        test = self.function.parent(node)
        if not isinstance(test, cst.Comparison) or test.left is not node or len(test.comparisons) != 1:
            return
        differ = isinstance(test.comparisons[0].operator, cst.IsNot | cst.NotEqual | cst.NotIn)
        self.report(
            test,
            op,
            f"{self.quote(test)} is {differ}{self.where(op)} `torch.compile` returned a wrapper of another class; "
            "`model.compile()` keeps it",
        )

    def given(self, node: cst.CSTNode, op: Op) -> None:
        """What is asked of a module that the function is given, which its caller may have compiled."""
        name = op.detail("name")
        inner = inside(name)
        if op.name == "unwrap given":
            says = (
                f"{self.quote(node)} leaves on `{name}` what torch.compile wrapped around it: that is no instance of "
                "the others, and its `_orig_mod` is the module"
            )
            self.report(
                node, op, says, severity=severity(op), fixes=self.unwrapped(node, name, inner, told_alone(op))
            )
            return
        fix = None
        call = node.left if isinstance(node, cst.Comparison) else node
        if call is node and op.detail("outcome") == "always":
            says = (
                f"{self.quote(node)} is always true of a module that torch.compile wrapped: the type that it asks "
                "for is the wrapper's as well; take the wrapper off both (`keep_torch_compile=False`)"
            )
            self.report(node, op, says, severity=severity(op))
            return
        if op.detail("plain"):
            inner = op.detail("plain")
        if isinstance(call, cst.Call) and call.args and self.narrows(call):
            says = f"Ask the module inside the wrapper, where there is one: `{inner}`."
            fix = self.fix(f"{says} A type checker learns nothing of `{name}` from that.", by_hand=True)
        elif isinstance(call, cst.Call) and call.args:
            around = node
            while isinstance(outer := self.function.parent(around), cst.BooleanOperation):
                around = outer
            # `type(model) == Net or type(model) == nn.Linear`
            asked: dict[cst.CSTNode, New] = {
                one.args[0].value: cst.parse_expression(inner)
                for one in walk(around)
                if isinstance(one, cst.Call)
                and one.args
                and one.func.deep_equals(call.func)
                and one.args[0].value.deep_equals(call.args[0].value)
            }
            fix = self.fix(
                "Ask the module inside the wrapper, where there is one.",
                *rewrite(self.function, asked),
                by_hand=told_alone(op),
            )
        says = f"{self.quote(node)} is False of a module that torch.compile wrapped: it is refused"
        if op.detail("outcome"):
            says = f"{self.quote(node)} is {op.detail('outcome')} true of a module that torch.compile wrapped"
        self.report(node, op, says, severity=severity(op), fixes=[fix] if fix is not None else [])

    def narrows(self, test: cst.Call) -> bool:
        """Whether a type checker may learn the type from `isinstance(model, Net)`: in a function with annotations, but
        for a parameter that is annotated so. Asked of what is inside the wrapper, it would learn nothing."""
        around: cst.CSTNode | None = test
        while around is not None and not isinstance(around, cst.FunctionDef):
            around = self.function.parent(around)
        if around is None or len(test.args) != 2 or self.text(test.func) != "isinstance":
            return False
        said = {
            p.name.value: self.text(p.annotation.annotation)
            for p in parameters_in(around.params)
            if p.annotation is not None
        }
        known = said.get(self.text(test.args[0].value)) == self.text(test.args[1].value)
        return (bool(said) or around.returns is not None) and not known

    def unwrapped(self, node: cst.CSTNode, name: str, inner: str, by_hand: bool) -> list[Fix]:
        """The wrapper taken off before and after: it may be around the others, or inside of them."""
        statement = self.function.parent(node)
        if isinstance(statement, cst.Return | cst.Assign) and name.isidentifier():
            if isinstance(statement, cst.Assign) and self.used_after(statement, name):
                return []  # what is called later would be the module that is not compiled
            line, column, _, _ = self.function.range(statement)
            start = Edit(
                self.function.path, line, column, line, column, f"{name} = {inner}\n" + " " * (column - 1)
            )
            return [self.fix("Take the wrapper of torch.compile off, too.", start, by_hand=by_hand)]
        from pt2lint.fixes.arms import leaves  # loads LibCST

        if not isinstance(statement, cst.While | cst.If) or not name.isidentifier():
            return []
        block = self.function.parent(statement)
        if not isinstance(block, cst.IndentedBlock) or block.body[-1] is statement:
            return []
        if self.runs_after(statement, name):
            return []
        line, column, end_line, _ = self.function.range(statement)
        text = f"{name} = {inner}\n"
        before = Edit(self.function.path, line, column, line, column, text + " " * (column - 1))
        after = Edit(self.function.path, end_line + 1, 1, end_line + 1, 1, " " * (column - 1) + text)
        edits = [before] if isinstance(statement, cst.If) and leaves(statement) else [before, after]
        return [self.fix("Take the wrapper of torch.compile off, too.", *edits, by_hand=by_hand)]

    def runs_after(self, statement: cst.CSTNode, name: str) -> bool:
        """Whether the name, which would no more be what was compiled, is called behind the statement or kept."""
        for one in self.read_after(statement, name):
            outer = self.function.parent(one)
            if isinstance(outer, cst.Call) and outer.func is one:
                return True
            if isinstance(outer, cst.Assign) and any(
                isinstance(t.target, cst.Attribute) for t in outer.targets
            ):
                return True
        return False

    def used_after(self, statement: cst.Assign, name: str) -> bool:
        """Whether the name is read behind the statement, which does not bind it anew."""
        bound = any(is_name(one.target, name) for one in statement.targets)
        return not bound and any(True for _ in self.read_after(statement, name))

    def read_after(self, statement: cst.CSTNode, name: str) -> Iterator[cst.Name]:
        """The places of the name behind the statement, or in a loop around it, of which the next turn comes after."""
        start, end = self.function.range(statement)[:2], self.function.range(statement)[2:]
        loops = [one for one in ancestors(self.function, statement) if isinstance(one, cst.For | cst.While)]
        turn = self.function.range(loops[-1])[:2] if loops else end
        for one in names(self.function.module):
            at = self.function.range(one)[:2]
            if one.value == name and (at > end or turn < at < start):
                yield one
