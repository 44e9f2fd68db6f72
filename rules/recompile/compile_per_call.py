from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.repairs.hoist import before_loop
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.compiled_call import is_isolated
from pt2lint.rule.loop_syntax import forgets
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import children, is_name, placed, walk

CALLED_OFTEN = ("forward", "__call__", "training_step", "validation_step", "test_step", "predict_step")
# How web frameworks mark the function that answers a request: `@app.post("/predict")`.
ROUTES = ("get", "post", "put", "patch", "delete", "route", "api_route", "websocket")


class CompilePerCall(Rule):
    """`torch.compile` is called anew for every call of what it compiles.

    ## What happens
    What was compiled is kept with the function, so that this does not recompile; but setting up the
    backend, the wrapper and the comparison with the old ones is paid at every call, and often costs more
    than compiling saved. Where the backend is made anew too (a lambda, a `functools.partial`), the code is compiled
    again each time, until the recompile limit, since Dynamo keeps what each backend made apart. With
    `isolate_recompiles=True`, by which each call of `torch.compile` keeps its own, no limit ends that. A function that
    `forward` defines under `@torch.compile` is such a call as well. Compile once, where the model or the function is
    made, and keep the result.

    ## Example
    ```python
    import torch

    def scale(x):
        return x * 2

    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.compile(scale)(x)

    net = Net()

    def run():
        for _ in range(300):
            net(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def scale(x):
        return x * 2

    class Net(torch.nn.Module):
        def forward(self, x):
            return scale(x)

    net = Net()

    def run():
        for _ in range(300):
            net(torch.ones(3))
    ```

    ## Versions
    Measured for a small function, a call: with the default backend 1.2 ms on torch 2.13, 1.5 ms on 2.6 and
    2.5 ms on 2.9, where a function compiled once takes 0.02 to 0.06 ms; with backend="eager" 0.2 ms and
    0.02 ms. No recompilation on any of them; over 11 calls with a backend made anew 8, and then eager; over 12 with
    `isolate_recompiles=True`, on 2.13 and 2.15, 12 compilations.
    """

    code = "PTR205"
    name = "compile-per-call"
    instead = MappingProxyType(
        {"": "Compile it once, at the top of the file or in `__init__`, and call that"}
    )
    ops = ("call torch.compile", "call torch.compiler.compile", "call compiled")
    anywhere = True

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "call compiled":
            self.defined(node, op)
            return
        if not isinstance(node, cst.Call) or not node.args:
            return
        parent = self.function.parent(node)
        at_once, own = isinstance(parent, cst.Call) and parent.func is node, False
        if isinstance(parent, cst.Assign):
            target = parent.targets[0].target
            at_once = isinstance(target, cst.Name) and self.called(target.value, parent)
            own = isinstance(target, cst.Name) and not at_once and self.is_own(target.value, node)
        if not at_once and not own:
            return
        where = self.around(node, own)
        if where is None:
            return
        cost = "sets up the compiler each time"
        if self.new_backend(node):
            cost = "compiles again each time, since the backend is another one, until the limit"
        if is_isolated(node):
            cost = "compiles again each time, since `isolate_recompiles=True` keeps each compilation apart"
        self.report(
            node,
            op,
            f"`{self.text(node)}` runs at every {where}: it {cost}; compile once and keep the result",
            fixes=before_loop(self.function, node),
        )

    def defined(self, node: cst.CSTNode, op: Op) -> None:
        """The call of a function that a decorator compiles, which the function at hand defines anew at each call."""
        function = enclosing_function(self.function, node)
        if function is None or function.name.value not in CALLED_OFTEN or not isinstance(node, cst.Call):
            return
        made = [
            one
            for one in walk(function.body)
            if isinstance(one, cst.FunctionDef) and one.name.deep_equals(node.func)
        ]
        uses = [one for one in names(function.body) if one.deep_equals(node.func)]
        calls = [
            one for one in uses if isinstance(p := self.function.parent(one), cst.Call) and p.func is one
        ]
        if len(made) == 1 and made[0].decorators and len(calls) == len(uses) - 1:
            what = made[0].decorators[-1].decorator
            self.report(
                what,
                op,
                f"`{self.text(what)}` runs at every call of `{function.name.value}`, which defines "
                f"`{made[0].name.value}` anew: it sets up the compiler each time; define it once, outside",
            )

    def new_backend(self, node: cst.Call) -> bool:
        """Whether the call makes the backend: `backend=lambda ...`, `backend=partial(...)`."""
        given = next((a.value for a in node.args if a.keyword and a.keyword.value == "backend"), None)
        return isinstance(given, cst.Lambda | cst.Call)

    def is_own(self, name: str, node: cst.Call) -> bool:
        """Whether what is compiled is a function that this one makes at each call, and only calls: under whatever test
        it is compiled, it is not kept."""
        function = enclosing_function(self.function, node)
        if function is None or not is_name(node.args[0].value, name):
            return False
        made = any(
            isinstance(one, cst.FunctionDef) and is_name(one.name, name) for one in walk(function.body)
        )
        uses = [one for one in names(function.body) if one.value == name]
        calls = [
            one for one in uses if isinstance(p := self.function.parent(one), cst.Call) and p.func is one
        ]
        others = 3  # its `def`, and both sides of `name = torch.compile(name)`
        return made and bool(calls) and len(calls) + others == len(uses)

    def around(self, node: cst.CSTNode, own: bool) -> str | None:
        """What runs the call again and again with the same thing to compile, in a reader's words."""
        used = {n.value for n in names(node)}
        here = self.function.parent(node)
        child: cst.CSTNode = node
        while here is not None:
            if isinstance(here, cst.For | cst.While) and child is here.body:
                return None if used & _bound(here) or forgets(here) else "turn of the loop"
            if isinstance(here, cst.FunctionDef):
                often = here.name.value in CALLED_OFTEN or self.answers_requests(here, used)
                return f"call of `{here.name.value}`" if often else None
            if isinstance(here, cst.Lambda | cst.If | cst.Try) and not own:
                return None  # may well run once: `if self.compiled is None`
            child, here = here, self.function.parent(here)
        return None

    def answers_requests(self, function: cst.FunctionDef, used: set[str]) -> bool:
        """Whether a web framework calls the function, and what is compiled lives longer than the call."""
        routes = [d.decorator.func for d in function.decorators if isinstance(d.decorator, cst.Call)]
        if not any(isinstance(r, cst.Attribute) and r.attr.value in ROUTES for r in routes):
            return False
        return not used & (_bound(function.body) | {p.name.value for p in placed(function.params)})

    def called(self, name: str, assignment: cst.CSTNode) -> bool:
        """Whether the name is only called after the assignment, in the same block: not kept anywhere."""
        block = self.function.parent(self.function.parent(assignment) or assignment)
        uses = [n for n in names(block) if n.value == name] if block is not None else []
        calls = [n for n in uses if isinstance(p := self.function.parent(n), cst.Call) and p.func is n]
        return bool(calls) and len(calls) == len(uses) - 1


def _bound(loop: cst.CSTNode) -> set[str]:
    """The names that a turn of the loop may bind anew."""
    bound: set[str] = set()

    def visit(node: cst.CSTNode) -> None:
        if isinstance(
            node, cst.AssignTarget | cst.For | cst.AugAssign | cst.NamedExpr | cst.AnnAssign | cst.CompFor
        ):
            bound.update(n.value for n in names(node.target))
        elif isinstance(node, cst.AsName):
            bound.update(n.value for n in names(node.name))
        elif isinstance(node, cst.FunctionDef | cst.ClassDef):
            bound.add(node.name.value)
        for child in children(node):
            visit(child)

    visit(loop)
    return bound
