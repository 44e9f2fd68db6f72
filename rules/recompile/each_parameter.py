from __future__ import annotations

import ast
from collections.abc import Container, Iterable
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.op import Op
from pt2lint.rule.compiled_call import Argument, CompiledCall
from pt2lint.rule.loop_syntax import forgets, loops_around
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, placed, walk

GIVES_PARAMETERS = ("parameters", "named_parameters", "state_dict")
GIVES_MODULES = ("modules", "named_modules", "children", "named_children")
# What is made so has one dimension, or is no tensor.
EVENS_OUT = ("view", "reshape", "flatten", "ravel", "numel", "item", "norm", "size", "shape", "dim", "ndim")
# Layers with one weight, and unless told otherwise a bias, which has one dimension.
WEIGHED = ("Linear", "Conv1d", "Conv2d", "Conv3d")

ISOLATED_SINCE = (2, 13)  # torch.compile(..., isolate_recompiles=True)
APART = (
    "Each size needs a compilation; `torch.compile(..., isolate_recompiles=True)` counts those of each model by "
    "themselves, and not together up to the limit."
)
EACH_MODEL = (
    "Each size needs a compilation: for more than 8, set `torch._dynamo.config.recompile_limit` (`cache_size_limit` on "
    "2.6) to their number, or call `torch.compiler.reset()` before each, where none comes back."
)
OF_EACH = "again for each, whatever `dynamic` says, up to the limit of 8"
SUGGESTS = "suggest_"  # how the methods begin by which a search for settings gives a function numbers
ANEW = "again for each other shape, whatever `dynamic` says, up to the limit of 8"


class EachParameter(CompiledCall):
    """A compiled function is called for each parameter, or each model, whatever its shape.

    ## What happens
    Dynamo compiles for the shape of the first parameter, then for any size, and once more for each other number of
    dimensions: weights of two, biases of one, convolutions of four. With many kinds of them that is the limit, after
    which all run in Python. So it is for the weights of a model's modules. Give the function all of them in one call:
    its loop over them becomes one graph. Or give it parameters of as many dimensions (`p.view(-1)`).

    Of an `nn.Parameter` itself Dynamo takes every size for a constant, whatever `dynamic` says: each other shape is
    compiled again, until the limit, also where all parameters of one shape are given in a list (`for params in
    by_shape.values()`). What is not the parameter but has its data (`p.detach()`, `p.data`), and its gradient, may
    have any size. So it is for the weights of a model that is an argument: given models of other sizes in turn
    (`for width in widths: loss_of(Net(width), x)`), the function is compiled again for each, and so is `forward` where
    each model is compiled by itself (`net = torch.compile(Net(width))`), as in a sweep. Each size needs that; for
    more than 8, raise `torch._dynamo.config.recompile_limit` to their number, or call `torch.compiler.reset()`
    before each, where none comes back. Models that are compiled one by one count by themselves under
    `torch.compile(..., isolate_recompiles=True)`, from torch 2.13 on.

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
    dimensions. For twelve matrices that are `nn.Parameter`, one by one or in lists, 8, and then eager, also with
    `dynamic=True`; 1 for `p.detach()`, `p.data`, `p.view(-1)` and gradients. For eleven models of other sizes 8, and
    then eager, also with `dynamic=True`, and for ten that are compiled one after another; none for eleven of one size.
    With `isolate_recompiles=True` twelve that are compiled one after another are all compiled (2.13 and 2.15).
    """

    code = "PTR224"
    name = "each-parameter"
    instead = MappingProxyType({"": "Pass all of them at once, and loop in compiled code"})
    severity = "note"

    def looked_at(self, node: cst.Call, op: Op) -> None:
        if self.calls_resized(node, op):
            if op.detail("compile isolate_recompiles") == "constant True":
                return
            what = f"{self.quote(node.func)} is a model of other sizes each time"
            self.report(
                node.func,
                op,
                f"{what}: {self.callee(op)} is compiled {OF_EACH}",
                fixes=[
                    self.fix(APART if self.function.target >= ISOLATED_SINCE else EACH_MODEL, by_hand=True)
                ],
            )
        else:
            super().looked_at(node, op)

    def calls_resized(self, node: cst.Call, op: Op) -> bool:
        """Whether what is called is a model that a turn of a loop makes with another number and compiles, or that a
        function does that is given another number at each call, or that asks a search for one, as Optuna's:
        `Net(trial.suggest_int("width", 8, 64))`."""
        if not isinstance(node.func, cst.Name):
            return False
        turns, name = self.turns(node, op), node.func.value
        for loop in turns.loops:
            if isinstance(loop, cst.For) and self.makes(
                loop.body, name, {n.value for n in names(loop.target)}
            ):
                return not forgets(loop)
        function = enclosing_function(self.function, node)
        if function is None:
            return False
        numbers = turns.parameters | self.suggested(function)
        return bool(numbers) and self.makes(function.body, name, numbers) and not forgets(function)

    def suggested(self, function: cst.FunctionDef) -> set[str]:
        """What a function assigns of what a search suggests to it: `width = trial.suggest_int("width", 8, 64)`."""
        given = {p.name.value for p in placed(function.params)}
        return {
            n.value
            for part in walk(function.body)
            if isinstance(part, cst.Assign) and isinstance(part.value, cst.Call)
            if isinstance(callee := part.value.func, cst.Attribute) and callee.attr.value.startswith(SUGGESTS)
            if isinstance(callee.value, cst.Name) and callee.value.value in given
            for target in part.targets
            for n in names(target.target)
        }

    def makes(self, block: cst.CSTNode, name: str, numbers: set[str]) -> bool:
        """Whether all that a block gives the name is a model whose layers are made with one of these numbers."""
        made = [
            _inside(ast.parse(self.text(part.value), mode="eval").body)
            for part in walk(block)
            if isinstance(part, cst.Assign) and any(is_name(t.target, name) for t in part.targets)
        ]
        made = [one for one in made if not (isinstance(one, ast.Name) and one.id == name)]
        return bool(made) and all(
            self.makes(block, one.id, numbers)
            if isinstance(one, ast.Name)
            else _is_sized_by(one, numbers, self.file)
            for one in made
        )

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        for loop in turns.loops:
            if not isinstance(loop, cst.For):
                continue
            models = [a for a in self.arguments(node, op) if self.is_resized(loop, a)]
            if models and not forgets(loop):
                what = "is a model of other sizes at each turn"
                self.say(models[0], op, what, OF_EACH, self.fix(EACH_MODEL, by_hand=True))
                return
            if self.are_listed_by_shape(loop.iter):
                lists = {n.value for n in names(loop.target)[-1:]}  # of `.items()` the second
                listed = [a for a in self.arguments(node, op) if a.use and is_parameter(a.value, lists)]
                if listed:
                    self.say(
                        listed[0],
                        op,
                        "holds parameters of one shape",
                        f"{ANEW}; `.detach()` of each does not",
                    )
                    return
            targets = {n.value for n in names(loop.target)}
            modules = targets if self.gives(loop.iter, GIVES_MODULES) else set()
            if not (
                modules or self.gives_parameters(loop.iter) or self.goes_over_parameters(node, op, targets)
            ):
                continue
            if self.are_alike(loop):
                continue
            made = targets - modules
            for part in walk(loop.body):
                if isinstance(part, cst.Assign) and self.is_of(part.value, made, modules):
                    made |= {n.value for target in part.targets for n in names(target.target)}
            themselves = set() if self.gives(loop.iter, ("state_dict",)) else targets
            given = [
                a for a in self.arguments(node, op) if is_tensor(a) and self.is_of(a.value, made, modules)
            ]
            own = [a for a in given if is_parameter(a.value, themselves)]
            if own:
                self.say(own[0], op, "is a parameter", f"{ANEW}; given `.detach()` of it, once more for any")
                return
            if given:
                kept = any(isinstance(part, cst.Call) and _keeps(part) for part in walk(given[0].value))
                ranks = "" if kept else ", and for each other number of dimensions"
                costs = f"once more for other sizes{ranks}; given all in one call, they cost one graph"
                self.say(given[0], op, "has the shape of a parameter", costs)
                return

    def goes_over_parameters(self, node: cst.Call, op: Op, targets: set[str]) -> bool:
        """Whether a parameter is given that the loop binds: `for p in self.params`."""
        return any(
            is_parameter(argument.value, targets) and bool(op.detail(f"parameter {argument.key}"))
            for argument in self.arguments(node, op)
        )

    def say(self, argument: Argument, op: Op, what: str, costs: str, *fixes: Fix) -> None:
        says = f"{self.quote(argument.value)} {what}: {self.callee(op)} is compiled {costs}"
        self.report(argument.value, self.shown(op, argument.key), says, fixes=fixes)

    def is_resized(self, loop: cst.For, argument: Argument) -> bool:
        """Whether the argument is a model whose layers are made with another number at each turn: there, or in the list
        that the loop goes over, `[Net(n) for n in (8, 16)]`."""
        model, turning = argument.value, {n.value for n in names(loop.target)}
        if not isinstance(model, cst.Name) or not argument.word.startswith(("module", "torch.nn.")):
            return False
        if model.value not in turning:
            return self.makes(loop.body, model.value, turning)
        lists = {n.value for n in names(_list_of(loop, model.value))}
        made = [
            (item.elt, _turning(item.generators))
            for bound in self.assigned(lists, ast.Name, ast.Attribute)
            for item in ast.walk(bound)
            if isinstance(item, ast.ListComp)
        ]
        return bool(made) and all(_is_sized_by(value, numbers, self.file) for value, numbers in made)

    @property
    def file(self) -> ast.Module:
        return self.function.file_tree or ast.Module([], [])

    def assigned(self, words: set[str], *targets: type[ast.expr]) -> list[ast.expr]:
        """What the file assigns to names, or to attributes, of these words."""
        return [
            part.value
            for part in ast.walk(self.file)
            if isinstance(part, ast.Assign)
            and any(isinstance(t, targets) and _named(t, words) for t in part.targets)
        ]

    def are_listed_by_shape(self, source: cst.BaseExpression) -> bool:
        """`by_shape.values()` and `by_shape.items()` of `by_shape[p.shape].append(p)`, for the parameters `p`."""
        if not isinstance(source, cst.Call) or not isinstance(source.func, cst.Attribute):
            return False
        table = source.func.value
        if source.func.attr.value not in ("values", "items") or not isinstance(table, cst.Name):
            return False
        return any(
            isinstance(part, cst.Call) and self.lists_by_shape(part, table.value)
            for part in walk(self.function.module)
        )

    def lists_by_shape(self, call: cst.Call, table: str) -> bool:
        """`table[p.shape].append(p)`, `table.setdefault(p.shape, []).append(p)` in a loop over parameters."""
        if (
            not isinstance(call.func, cst.Attribute)
            or call.func.attr.value != "append"
            or len(call.args) != 1
        ):
            return False
        place, item = call.func.value, call.args[0].value
        shaped = any(isinstance(n, cst.Attribute) and n.attr.value in ("shape", "size") for n in walk(place))
        return (
            shaped
            and isinstance(item, cst.Name)
            and any(n.value == table for n in names(place))
            and any(
                isinstance(loop, cst.For)
                and any(n.value == item.value for n in names(loop.target))
                and self.gives_parameters(loop.iter)
                for loop in loops_around(self.function, call)
            )
        )

    def are_alike(self, loop: cst.For) -> bool:
        """Whether the weights of the model have one shape: the file makes its layers by one call, or by calls that are
        alike, and there is no bias, or the loop asks how many dimensions each has."""
        owners = {
            part.func.value.value
            for part in walk(loop.iter)
            if isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute)
            if isinstance(part.func.value, cst.Name) and part.func.attr.value in GIVES_PARAMETERS
        }
        made = self.assigned(owners, ast.Name)
        asks = any(isinstance(p, cst.Attribute) and p.attr.value in ("ndim", "dim") for p in walk(loop.body))
        return len(owners) == 1 and bool(made) and all(_has_one_shape(value, asks) for value in made)

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


def is_tensor(argument: Argument) -> bool:
    return "tensor" in argument.word or bool(argument.use and argument.word == "unknown")


def is_parameter(value: cst.BaseExpression, themselves: set[str]) -> bool:
    """`p` of `for p in group["params"]`, `layer.weight` of `for layer in model.modules()`."""
    if isinstance(value, cst.Attribute) and value.attr.value == "weight":
        value = value.value
    return isinstance(value, cst.Name) and value.value in themselves


def _keeps(call: cst.Call) -> bool:
    """`g.reshape(len(g), -1)`: as many dimensions for all, and other sizes for each."""
    into = isinstance(call.func, cst.Attribute) and call.func.attr.value in ("view", "reshape")
    return into and len(call.args) > 1


def _has_one_shape(model: ast.expr, without_biases: bool) -> bool:
    """Whether layers are made by calls that are alike: `Sequential(*[Linear(8, 8, bias=False) for _ in range(3)])`."""
    layers = [
        p for p in ast.walk(model) if isinstance(p, ast.Call) and not _named(p.func, ("Sequential", "range"))
    ]
    return (
        len({ast.dump(layer) for layer in layers}) == 1
        and _named(layers[0].func, WEIGHED)
        and not _reads(layers[0], _turning(p for p in ast.walk(model) if isinstance(p, ast.comprehension)))
        and (without_biases or "bias=False" in ast.unparse(layers[0]))
    )


def _turning(loops: Iterable[ast.comprehension]) -> set[str]:
    """The names that have another value for each item."""
    return {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}


def _named(func: ast.expr, words: Container[str]) -> bool:
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in words


def _list_of(loop: cst.For, name: str) -> cst.BaseExpression:
    """What gives the name at each turn: the list at its place in `for a, b in zip(all_a, all_b)`."""
    over = loop.iter
    if isinstance(loop.target, cst.Tuple) and isinstance(over, cst.Call) and is_name(over.func, "zip"):
        for each, arg in zip(loop.target.elements, over.args, strict=False):
            if is_name(each.value, name):
                return arg.value
    return over


def _inside(made: ast.expr) -> ast.expr:
    """`Net(n)` of `torch.compile(Net(n), mode="max-autotune")`."""
    while isinstance(made, ast.Call) and _named(made.func, ("compile",)) and made.args:
        made = made.args[0]
    return made


def _is_sized_by(made: ast.expr, numbers: set[str], file: ast.Module) -> bool:
    """Whether one of the names is among what a layer is made with: `Linear(8, n)`, or `Net(n)` of the file, whose
    `__init__` makes its layers with that."""
    while (
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Attribute)
        and isinstance(made.func.value, ast.Call)
    ):
        made = made.func.value  # `Net(n).to(device)`
    if not isinstance(made, ast.Call):
        return False
    given = [(at, one) for at, one in enumerate(made.args)] + [(k.arg, k.value) for k in made.keywords]
    varied = [key for key, one in given if _reads(one, numbers)]
    if _named(made.func, WEIGHED):
        return bool(varied)
    name = getattr(made.func, "id", "")
    of_file = [c for c in ast.walk(file) if isinstance(c, ast.ClassDef) and c.name == name]
    inits = [m for c in of_file for m in c.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"]
    if not varied or len(inits) != 1:
        return False
    params = [one.arg for one in (*inits[0].args.posonlyargs, *inits[0].args.args)][1:]
    taken = {
        params[key] if isinstance(key, int) else str(key)
        for key in varied
        if not isinstance(key, int) or key < len(params)
    }
    layers = [c for c in ast.walk(inits[0]) if isinstance(c, ast.Call) and _named(c.func, WEIGHED)]
    return any(
        _reads(one, taken) for layer in layers for one in (*layer.args, *(k.value for k in layer.keywords))
    )


def _reads(node: ast.expr, words: set[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in words for one in ast.walk(node))
