"""Numbers that a seeded generator of Python draws: by a custom operator, which keeps them in the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.condition import read_of
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.layout import broken
from pt2lint.fixes.names import binds, live_after, uses
from pt2lint.fixes.nodes import assigned, block_of, enclosing_function, small_of, statement_of
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.repairs.operator import line_above, namespace
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import source, statements
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, walk


@dataclass(frozen=True)
class _Kept:
    """What leaves out that a seed is read out of a tensor, and the function of the file whose return that was."""

    new: dict[cst.CSTNode, New]
    edits: tuple[Edit, ...]
    of: str


@dataclass(frozen=True)
class Drawn:
    """What makes a number a tensor: `new` takes the place of nodes of the function, `edits` stand elsewhere; `region`
    are the statements that draw it."""

    new: dict[cst.CSTNode, New]
    edits: tuple[Edit, ...]
    region: Sequence[cst.CSTNode]
    of: str  # the function of the file that gives the seed, "" where none does


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The operator, where the node reads a seed out of a tensor that the function returns."""
    return accepted(seed_kept(function, node))


def seed_kept(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`return t.item()` as `return t`, where the file draws one number from what is returned (`drawn_by_operator`).

    Unsafe: who else calls the function gets a tensor, and so does what asks for the number that is drawn.
    """
    owner = enclosing_function(function, node)
    if not isinstance(function.parent(node), cst.Return) or owner is None or not function.source:
        return Refusal("no number is returned")
    if not re.search(r"\bRandom\(", function.source):
        return Refusal("the file makes no generator of Python")
    name = owner.name.value
    found: list[tuple[str, Drawn]] = []
    for one in file_of(function).nodes:
        if not isinstance(one, ast.FunctionDef):
            continue
        if not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one)):
            continue
        there = neighbour(function, one.lineno)
        for part in walk(there.module) if there is not None else ():
            if there is None or not isinstance(part, cst.Assign):
                continue
            target = part.targets[0].target
            drawn = drawn_by_operator(there, target) if isinstance(target, cst.Name) else None
            if (
                isinstance(drawn, Drawn)
                and drawn.of == name
                and drawn.edits not in [d.edits for _, d in found]
            ):
                found.append((cst.ensure_type(target, cst.Name).value, drawn))
                edits = (*drawn.edits, *rewrite(there, drawn.new))
    if len(found) != 1:
        return Refusal("the file does not draw one number from what is returned")
    return fix(
        f"Return the tensor, and draw `{found[0][0]}` by a custom operator, on the host: the graph "
        "calls it, "
        "and it gives the same numbers from the same seed. Both are tensors then, wherever they are read.",
        edits,
        "once proven",
    )


@refusing
def drawn_by_operator(function: FunctionCode, name: cst.Name) -> Drawn | Refusal:
    """`rand = random.Random(seed)`, `depth = rand.randrange(low, high)` and what else makes `depth`, as an operator
    above that is given the seed as a tensor and gives the same number as one.

    A seed that is read out of a tensor, here or in a function of the file that returns it, stays one. Refused where
    the statements do anything else, or the seed is used for more.
    """
    owner = enclosing_function(function, name)
    if owner is None or not function.source:
        return Refusal("not in a function of the file")
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == name.value]
    first = statement_of(function, bound[0]) if bound else None
    place = block_of(function, first) if first is not None else None
    if place is None or not place[1]:
        return Refusal(f"`{name.value}` is not drawn in the function")
    block, at = place
    generator, seed = _generator(function, block[at - 1])
    draw = getattr(small_of(block[at]), "value", None)
    if not isinstance(draw, cst.Call) or callee(draw) not in ("randrange", "randint"):
        return Refusal("no whole number is drawn")
    if generator is None or seed is None:
        return Refusal("no generator of Python that is given a seed draws the number")
    own = {generator, name.value}
    last = at
    while last + 1 < len(block) and binds(block[last + 1]) and set(binds(block[last + 1])) <= own:
        last += 1
    region = block[at - 1 : last + 1]
    if not all(any(node is one for part in region for one in walk(part)) for node in bound):
        return Refusal(f"`{name.value}` is bound elsewhere, too")
    if any(effect(one) for one in region) or live_after(function, generator, region):
        return Refusal("the statements do more than to draw one number")
    given = _given(function, region, own | {seed.value})
    kept = _seed_as_tensor(function, owner, seed, region)
    return _written(function, owner, region, name.value, seed.value, given, kept)


def _generator(function: FunctionCode, statement: cst.CSTNode) -> tuple[str | None, cst.Name | None]:
    """The name and the seed in `rand = random.Random(seed)`."""
    name, call = assigned(statement) or (None, None)
    if not isinstance(call, cst.Call) or qualified(function, call.func) != "random.Random":
        return None, None
    seed = call.args[0].value if len(call.args) == 1 else None
    return (name, seed) if isinstance(seed, cst.Name) else (None, None)


def _given(
    function: FunctionCode, region: Sequence[cst.CSTNode], own: set[str]
) -> dict[str, list[cst.BaseExpression]]:
    """The plain numbers that go in, by the name of their argument, with the places where they are read."""
    found: dict[str, list[cst.BaseExpression]] = {}
    for one in (part for statement in region for part in walk(statement)):
        parent = function.parent(one)
        if isinstance(parent, cst.Call) and parent.func is one:
            continue
        if isinstance(one, cst.Attribute) and is_name(one.value, "self"):
            found.setdefault(one.attr.value, []).append(one)
        elif isinstance(one, cst.Name) and not isinstance(parent, cst.Attribute):
            if one.value not in own and not (isinstance(parent, cst.Arg) and parent.keyword is one):
                found.setdefault(one.value, []).append(one)
    if any(len({source(function, one) for one in places}) > 1 for places in found.values()):
        raise Refused("a name and an attribute are called alike")
    known = {use.name for statement in region for use in uses(statement)}
    called = {
        one.func.value
        for statement in region
        for one in walk(statement)
        if isinstance(one, cst.Call) and isinstance(one.func, cst.Name)
    }
    if "self" in known and not any(isinstance(one, cst.Attribute) for each in found.values() for one in each):
        raise Refused("the object itself goes in")
    defined = {one.name for one in file_of(function).tree.body if isinstance(one, ast.FunctionDef)}
    if not all(one in defined or one in ("min", "max", "int", "round") for one in called):
        raise Refused("what is called is no function of the file")
    return found


def _seed_as_tensor(
    function: FunctionCode, owner: cst.FunctionDef, seed: cst.Name, region: Sequence[cst.CSTNode]
) -> _Kept:
    """What leaves out that the seed is read out of a tensor."""
    new: dict[cst.CSTNode, New] = {}
    edits: tuple[Edit, ...] = ()
    of = ""
    inside = {id(part) for one in region for part in walk(one)}
    for use in uses(owner.body):
        if use.name != seed.value or id(use.node) in inside:
            continue
        if not use.binds:
            if not _asks_whether_given(function, use.node):
                raise Refused("the seed is used for more")
            continue
        assign = function.parent(function.parent(use.node) or use.node)
        value = assign.value if isinstance(assign, cst.Assign) else None
        if not isinstance(value, cst.Call):
            raise Refused("the seed is made in another way")
        tensor = read_of(value)
        if tensor is not None:
            new[value] = tensor
            continue
        edits, of = _returned_as_tensor(function, value), callee(value)
    return _Kept(new, edits, of)


def _asks_whether_given(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a name stands in `seed is None`, or in `exists(seed)` in the test of an `if`."""
    parent = function.parent(node)
    if isinstance(parent, cst.Comparison):
        return isinstance(parent.comparisons[0].operator, cst.Is | cst.IsNot)
    call = function.parent(parent) if isinstance(parent, cst.Arg) else None
    inner: cst.CSTNode | None = call
    while isinstance(outer := function.parent(inner) if inner is not None else None, cst.UnaryOperation):
        inner = outer
    return isinstance(call, cst.Call) and isinstance(outer, cst.If | cst.IfExp) and outer.test is inner


def _returned_as_tensor(function: FunctionCode, call: cst.Call) -> tuple[Edit, ...]:
    """The edit of a function of the file after which it returns the tensor that it reads a number out of."""
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    found = [
        one for one in file_of(function).tree.body if isinstance(one, ast.FunctionDef) and one.name == name
    ]
    there = neighbour(function, found[0].lineno) if len(found) == 1 else None
    if there is None:
        raise Refused("the seed comes from elsewhere")
    returned = [one.value for one in walk(there.module) if isinstance(one, cst.Return)]
    value = returned[0] if len(returned) == 1 else None
    tensor = read_of(value) if isinstance(value, cst.Call) else None
    if value is None or tensor is None:
        raise Refused("the seed is not read out of a tensor")
    return rewrite(there, {value: tensor})


def _written(
    function: FunctionCode,
    owner: cst.FunctionDef,
    region: Sequence[cst.CSTNode],
    name: str,
    seed: str,
    given: dict[str, list[cst.BaseExpression]],
    kept: _Kept,
) -> Drawn | Refusal:
    indent = function.module.default_indent
    operator = f"_drawn_{name}"
    above = line_above(function, owner)
    if re.search(rf"\b{operator}\b", function.source) or above is None:
        return Refusal("a name that the repair needs is taken")
    torch, imports = torch_name(function, "torch", above)
    arguments: dict[cst.CSTNode, New] = {
        node: cst.Name(one) for one, places in given.items() for node in places
    }
    made = [replaced(one, arguments) for one in region]
    lead = getattr(region[0], "leading_lines", ())
    made[0] = made[0].with_changes(leading_lines=())
    text = "".join(function.module.code_for_node(one) for one in made).splitlines()
    deep = len(text[0]) - len(text[0].lstrip())
    body = "\n".join(indent + line[deep:] if line.strip() else "" for line in text)
    body = re.sub(rf"\bRandom\(\s*{seed}\s*\)", f"Random({seed}.item())", body, count=1)
    names = "".join(f", {one}" for one in given)
    types = "".join(f", SymInt {one}" for one in given)
    signature = "\n".join(broken(f"def {operator}({seed}{names}):", file_of(function).line_length, indent))
    text_above = f"""@{torch}.library.custom_op(
{indent}"{namespace(function)}::{operator.strip("_")}",
{indent}mutates_args=(),
{indent}schema="(Tensor {seed}{types}) -> Tensor",
)
{signature}
{body}
{indent}return {torch}.tensor({name}, device={seed}.device)


@{operator}.register_fake
def _({seed}{names}):
{indent}return {torch}.empty((), dtype={torch}.int64, device={seed}.device)


"""
    passed = "".join(f", {source(function, places[0])}" for places in given.values())
    call = statements(function, [f"{name} = {operator}({torch}.as_tensor({seed}){passed})"])
    call[0] = call[0].with_changes(leading_lines=lead)
    new: dict[cst.CSTNode, New] = {**kept.new, **dict.fromkeys(region[1:]), region[0]: call}
    edits = (*imports, *kept.edits, Edit(function.path, above, 1, above, 1, text_above))
    return Drawn(new, edits, region, kept.of)
