from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import is_name, parameters_in, walk

# What of a tensor shares its memory.
VIEWS = frozenset(
    "T data detach flatten mT narrow permute real select squeeze t transpose unfold unsqueeze view view_as".split()
)
OF_GRADIENTS = frozenset(("requires_grad_", "share_memory_"))  # these leave the values as they are


class UndeclaredMutation(Rule):
    """A custom operator writes into a tensor that its `mutates_args` does not name.

    ## What happens
    Compiled code takes the schema of an operator at its word. What `mutates_args` does not name is taken to stay as it
    is: the call may be moved, its input handed to it as a copy, and an operator that returns nothing and changes
    nothing is left out. Nothing is raised; what the compiled code computes is wrong. Without torch.compile the same
    code is right.

    ## Example
    ```python
    import torch

    @torch.library.custom_op("shop::fill", mutates_args=())
    def fill(out: torch.Tensor, value: float) -> None:
        out.fill_(value)

    @fill.register_fake
    def _(out, value):
        return None

    @torch.compile(backend="aot_eager")
    def f(x):
        out = torch.zeros_like(x)
        fill(out, 2.0)
        return out + x

    def run():
        return f(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    @torch.library.custom_op("store::fill", mutates_args=("out",))
    def fill(out: torch.Tensor, value: float) -> None:
        out.fill_(value)

    @fill.register_fake
    def _(out, value):
        return None

    @torch.compile(backend="aot_eager")
    def f(x):
        out = torch.zeros_like(x)
        fill(out, 2.0)
        return out + x

    def run():
        return f(torch.ones(3))
    ```

    ## Versions
    Measured: computes something else on torch 2.6, 2.9, 2.13 and 2.15 with the backend "aot_eager", and on 2.13 with
    "inductor" as well; "eager" has no part in it.
    """

    code = "PTS341"
    name = "undeclared-mutation"
    ops = ("define operator",)
    anywhere = True
    severity = "error"

    def check(self, node: cst.CSTNode, op: Op) -> None:
        decorator = self.function.parent(node)
        operator = self.function.parent(decorator) if decorator is not None else None
        if not isinstance(node, cst.Call) or not isinstance(operator, cst.FunctionDef):
            return
        given = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
        declared = _texts(given.get("mutates_args"))
        if declared is None or "schema" in given or any(arg.star for arg in node.args):
            return
        written = _written(operator)
        fixes = list(
            self.naming(given["mutates_args"], [*declared, *(n for n in written if n not in declared)])
        )
        for name, place in written.items():
            if name not in declared:
                self.report(
                    place,
                    op,
                    f"{self.quote(place)} writes into `{name}`, which `mutates_args` of `{operator.name.value}` does "
                    "not name: compiled code takes it as unchanged, and its results are wrong",
                    fixes=fixes,
                )

    def naming(self, given: cst.BaseExpression, names: list[str]) -> Iterator[Fix]:
        listed = ", ".join(f'"{name}"' for name in names) + ("," if len(names) == 1 else "")
        bare = isinstance(given, cst.Tuple) and given.lpar  # the edit stands between its parentheses
        yield Fix(
            f"Declare what the operator writes into: `mutates_args=({listed})`.",
            "safe",
            (Edit(self.function.path, *self.function.range(given), listed if bare else f"({listed})"),),
        )


def _texts(given: cst.BaseExpression | None) -> list[str] | None:
    """The names in `("out",)`, `["out"]` or `{"out"}`; None where it is something else, as "unknown" is."""
    if isinstance(given, cst.Dict) and not given.elements:  # `{}`, by which many mean the empty set
        return []
    if not isinstance(given, (cst.Tuple, cst.List, cst.Set)):
        return None
    values = [element.value for element in given.elements]
    texts = [value.evaluated_value for value in values if isinstance(value, cst.SimpleString)]
    return [str(text) for text in texts] if len(texts) == len(values) else None


def _written(operator: cst.FunctionDef) -> Mapping[str, cst.CSTNode]:
    """Where each parameter that is a tensor, under its own name for all of the function, is first written into."""
    annotated = {
        param.name.value: param.annotation.annotation
        for param in parameters_in(operator.params)
        if param.annotation is not None
    }
    tensors = {name for name, kind in annotated.items() if any(is_name(p, "Tensor") for p in walk(kind))}
    parts = list(walk(operator.body))
    for part in parts:
        tensors.difference_update(_bound(part))
    found: dict[str, cst.CSTNode] = {}
    for part in parts:
        for place in _into(part):
            name = _whose(place)
            if name in tensors:
                found.setdefault(name, part)
    return found


def _bound(part: cst.CSTNode) -> Iterator[str]:
    """Names that the statement binds anew."""
    targets: list[cst.CSTNode] = []
    if isinstance(part, cst.Assign):
        targets = [target.target for target in part.targets]
    elif isinstance(part, (cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)):
        targets = [part.target]
    elif isinstance(part, cst.AsName):
        targets = [part.name]
    for target in targets:
        for each in (target, *(e.value for e in getattr(target, "elements", ()))):
            if isinstance(each, cst.Name):
                yield each.value


def _into(part: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What the statement or call writes into."""
    if isinstance(part, cst.AugAssign):
        yield part.target.value if isinstance(part.target, cst.Subscript) else part.target
    elif isinstance(part, cst.Assign):
        yield from (each.target.value for each in part.targets if isinstance(each.target, cst.Subscript))
    elif isinstance(part, cst.Call):
        yield from (arg.value for arg in part.args if arg.keyword is not None and arg.keyword.value == "out")
        called = part.func.attr.value if isinstance(part.func, cst.Attribute) else ""
        if not called.endswith("_") or called.endswith("__") or called in OF_GRADIENTS:
            return
        assert isinstance(part.func, cst.Attribute)
        if dotted(part.func).startswith(("torch.", "F.")):  # torch.relu_(x)
            yield from (arg.value for arg in part.args[:1])
        else:
            yield part.func.value


def _whose(place: cst.BaseExpression) -> str:
    """`x` of `x`, `x[0]`, `x.view(-1)` and `x.data`; "" of what may be a copy."""
    while True:
        if isinstance(place, cst.Name):
            return place.value
        if isinstance(place, cst.Subscript) and all(_is_place(each.slice) for each in place.slice):
            place = place.value
        elif isinstance(place, cst.Call) and isinstance(place.func, cst.Attribute):
            place = place.func
        elif isinstance(place, cst.Attribute) and place.attr.value in VIEWS:
            place = place.value
        else:
            return ""


def _is_place(index: cst.BaseSlice) -> bool:
    """Whether it picks a view: a number or a slice, not a mask or a tensor of places."""
    return not isinstance(index, cst.Index) or isinstance(index.value, (cst.Integer, cst.Ellipsis))
