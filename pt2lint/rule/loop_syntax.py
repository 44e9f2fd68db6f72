"""What the code of a loop says by itself: what it goes over and binds, and which sizes its calls are given."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

import libcst as cst

from pt2lint.op import RECOMPILE_LIMIT
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted, names
from pt2lint.rule.tree import children, is_name, says_none, walk

Loop: TypeAlias = "cst.For | cst.While"
JOIN = ("cat", "concat", "hstack")
_SIZED = ("zeros", "ones", "empty", "rand", "randn")
_DRAWS = ("randint", "randrange")
# What goes over the same things as its first argument.
THROUGH = ("tqdm", "trange", "track", "reversed", "list", "iter")
RESIZED = ("interpolate", "resize")
_RESETS = ("_dynamo.reset", "compiler.reset")


def loops_around(function: FunctionCode, node: cst.CSTNode) -> list[Loop]:
    """The loops whose body holds the node, in its own function, the innermost first."""
    found: list[Loop] = []
    child, here = node, function.parent(node)
    while here is not None and not isinstance(here, cst.FunctionDef | cst.Lambda | cst.ClassDef):
        if isinstance(here, cst.For | cst.While) and child is here.body:
            found.append(here)
        child, here = here, function.parent(here)
    return found


def comprehensions_around(function: FunctionCode, node: cst.CSTNode) -> list[Loop]:
    """The loops of the comprehensions that make an item of the node at each turn, as statements, the innermost first:
    `for i in range(n): f(x, i)` of `[f(x, i) for i in range(n)]`."""
    found: list[Loop] = []
    child, here = node, function.parent(node)
    while here is not None and not isinstance(here, cst.BaseStatement | cst.Lambda):
        if isinstance(here, cst.BaseComp) and child is not here.for_in:
            turns: list[Loop] = []
            over: cst.CompFor | None = here.for_in
            while over is not None:
                body = cst.SimpleStatementSuite([cst.Expr(child)])  # type: ignore[arg-type]
                turns.insert(0, cst.For(over.target, over.iter, body))
                over = over.inner_for_in
            found += turns
        child, here = here, function.parent(here)
    return found


def forgets(block: cst.CSTNode) -> bool:
    """Whether what was compiled is thrown away there, as what measures compilation does."""
    calls = (part.func for part in walk(block) if isinstance(part, cst.Call))
    return any(isinstance(one, cst.Attribute) and dotted(one).endswith(_RESETS) for one in calls)


def is_resized(value: cst.BaseExpression | None) -> TypeGuard[cst.Call]:
    """`F.interpolate(x, size=n)`"""
    return isinstance(value, cst.Call) and last_word(value) in RESIZED


def is_longer(value: cst.BaseExpression, name: str) -> bool:
    """`[*tokens, token]`, `tokens + [token]` of the list `tokens`."""
    if isinstance(value, cst.BinaryOperation):
        return (
            isinstance(value.operator, cst.Add)
            and is_name(value.left, name)
            and isinstance(value.right, cst.List)
            and bool(value.right.elements)
        )
    return (
        isinstance(value, cst.List)
        and len(value.elements) > 1
        and isinstance(value.elements[0], cst.StarredElement)
        and is_name(value.elements[0].value, name)
    )


def free_names(node: cst.CSTNode) -> list[cst.Name]:
    """The names in a node, without those of attributes and keywords."""
    if isinstance(node, cst.Attribute):
        return free_names(node.value)
    if isinstance(node, cst.Arg):
        return free_names(node.value)
    found = [node] if isinstance(node, cst.Name) else []
    for child in children(node):
        found += free_names(child)
    return found


def window_of(value: cst.BaseExpression) -> cst.Name | None:
    """`ids` of `ids[:, -most:]`: no more than what a name says of what grows."""
    if not isinstance(value, cst.Subscript) or not isinstance(value.value, cst.Name):
        return None
    for element in value.slice:
        part = element.slice
        if isinstance(part, cst.Slice) and part.upper is None and part.step is None:
            lower = part.lower
            if isinstance(lower, cst.UnaryOperation) and isinstance(lower.operator, cst.Minus):
                return None if isinstance(lower.expression, cst.Integer) else value.value
    return None


def keeps_most(element: cst.SubscriptElement) -> bool:
    """`:`, `:-1`, `1:`"""
    part = element.slice
    if not isinstance(part, cst.Slice) or part.step is not None:
        return False
    lower, upper = part.lower, part.upper
    cut = isinstance(upper, cst.UnaryOperation) and isinstance(upper.expression, cst.Integer)
    return (lower is None or isinstance(lower, cst.Integer)) and (upper is None or cut)


def dimension_after(before: list[cst.BaseSlice]) -> int | None:
    """Which dimension of the result comes after these subscripts."""
    found = 0
    for one in before:
        if isinstance(one, cst.Index) and isinstance(one.value, cst.Integer):
            continue
        if isinstance(one, cst.Index) and not says_none(one.value):
            return None
        found += 1
    return found


def mentions_marks(loops: list[Loop]) -> bool:
    """Whether a turn says of some tensor which of its sizes change, or that none does."""
    return any(
        "mark_" in n.value
        for loop in loops
        for n in names(loop.body)
        if n.value.startswith(("mark_", "maybe_mark_"))
    )


def is_joined(name: str, value: cst.BaseExpression) -> bool:
    """Whether the tensor is joined with more: `torch.cat([ids, new], dim=1)`."""
    if not isinstance(value, cst.Call) or last_word(value) not in JOIN:
        return False
    if not value.args or not isinstance(value.args[0].value, cst.List | cst.Tuple):
        return False
    parts = [e.value for e in value.args[0].value.elements]
    return len(parts) > 1 and any(is_name(p, name) for p in parts)


def joining_dimension(call: cst.Call) -> int | None:
    """The dimension at which tensors are joined; None where it is counted from the end, or not told."""
    if called_name(call).endswith("hstack"):
        return None
    dims = [a.value for a in call.args[1:] if a.keyword is None or a.keyword.value in ("dim", "axis")]
    text = dims[0].value if dims and isinstance(dims[0], cst.Integer) else "" if dims else "0"
    return int(text) if text.isdigit() else None


def called_name(call: cst.Call) -> str:
    """The name of what is called, dotted: "torch.ones"."""
    return dotted(call.func)


def last_word(call: cst.Call) -> str:
    """The same without what stands before its last dot: "ones"."""
    return called_name(call).rpartition(".")[2]


def sizes_given(call: cst.Call) -> list[cst.BaseExpression]:
    """The sizes that a function of torch is given to make a tensor of."""
    last = last_word(call)
    given = [a.value for a in call.args if a.keyword is None and not a.star]
    if last == "arange" and len(given) == 1:
        return given
    if last == "randint":
        named = [a.value for a in call.args if a.keyword is not None and a.keyword.value == "size"]
        size = next((v for v in (*named, *given[1:]) if isinstance(v, cst.Tuple | cst.List)), None)
        return [e.value for e in size.elements] if size is not None else []
    if last not in (*_SIZED, "full") or not given:
        return []
    if isinstance(given[0], cst.Tuple | cst.List):
        return [e.value for e in given[0].elements]
    return given if last != "full" else []


def lengths_of_pieces(made: cst.Call) -> str:
    """How many lengths the pieces of `x.split(...)` have: see Turns.differs."""
    if called_name(made).endswith("chunk"):
        return "twice"
    at = 1 if called_name(made).startswith("torch.") else 0
    given = made.args[at].value if len(made.args) > at else None
    if isinstance(given, cst.Integer):
        return "twice"
    listed = isinstance(given, cst.List | cst.Tuple | cst.ListComp)
    reads = (
        isinstance(given, cst.Call)
        and isinstance(given.func, cst.Attribute)
        and given.func.attr.value == "tolist"
    )
    return "often" if listed or reads else ""


def is_scaling(statement: cst.AugAssign) -> bool:
    """`rate *= 0.9`, `rate += 0.01`"""
    scales = isinstance(statement.operator, cst.MultiplyAssign | cst.DivideAssign)
    adds = isinstance(statement.operator, cst.AddAssign | cst.SubtractAssign)
    return (
        isinstance(statement.value, cst.Float)
        if adds
        else scales and isinstance(statement.value, cst.Integer | cst.Float)
    )


def is_drawing(call: cst.Call) -> bool:
    """`random.randint(1, 9)`, of whatever library, or `random.choice([64, 128])`."""
    if called_name(call) == "random.choice" and len(call.args) == 1:
        listed = call.args[0].value
        return isinstance(listed, cst.List | cst.Tuple) and all(
            isinstance(each.value, cst.Integer) for each in listed.elements
        )
    return last_word(call) in _DRAWS and "." in called_name(call)


def target_sizes(call: cst.Call) -> list[cst.BaseExpression]:
    """The sizes that a picture is brought to: `interpolate(x, size=(n, n))`."""
    given = [a.value for a in call.args if a.keyword is not None and a.keyword.value == "size"]
    given += [a.value for a in call.args[1:2] if a.keyword is None]
    return [
        size
        for one in given
        for size in ([e.value for e in one.elements] if isinstance(one, cst.Tuple | cst.List) else [one])
    ]


def sources_of(loop: cst.For) -> list[cst.BaseExpression]:
    """What the loop goes over: of `zip(a, b)` each."""
    source = loop.iter
    while isinstance(source, cst.Call) and source.args and last_word(source) in (*THROUGH, "enumerate"):
        source = source.args[0].value
    if isinstance(source, cst.Call) and called_name(source) == "zip":
        return [a.value for a in source.args]
    return [source]


def targets_of(loop: cst.For) -> tuple[str, set[str]]:
    """The name that counts ("" if none does) and those of what the loop goes over."""
    source, target = loop.iter, loop.target
    while isinstance(source, cst.Call) and last_word(source) in THROUGH:
        if called_name(source).endswith("trange"):
            break
        if not source.args:
            return "", set()
        source = source.args[0].value
    called = called_name(source) if isinstance(source, cst.Call) else ""
    last = called.rsplit(".", 1)[-1]
    if last in ("range", "trange", "count"):
        return (target.value if isinstance(target, cst.Name) else ""), set()
    if last == "enumerate" and isinstance(target, cst.Tuple) and len(target.elements) == 2:
        first, second = (e.value for e in target.elements)
        return (first.value if isinstance(first, cst.Name) else ""), {n.value for n in names(second)}
    if isinstance(source, cst.Call) and last in ("product", "cycle", "repeat", "chain"):
        return "", set()
    if isinstance(source, cst.List | cst.Tuple) and isinstance(target, cst.Name):
        numbers = [e.value.value for e in source.elements if isinstance(e.value, cst.Integer)]
        if len(numbers) == len(source.elements) and len(set(numbers)) > RECOMPILE_LIMIT:
            return target.value, set()
    return "", {n.value for n in names(target)}


def may_be_number(value: cst.BaseExpression) -> bool:
    """Whether it may be a number of Python, for all that its form tells."""
    if isinstance(value, cst.Integer | cst.Float | cst.Name | cst.Attribute):
        return True
    if isinstance(value, cst.UnaryOperation):
        return may_be_number(value.expression)
    if isinstance(value, cst.BinaryOperation):
        return may_be_number(value.left) and may_be_number(value.right)
    return isinstance(value, cst.Call) and called_name(value) in ("len", "int", "float", "max", "min")


def ends_of(loop: Loop) -> list[cst.BaseExpression]:
    """What a loop counts to: `steps` of `for n in range(steps)` and of `while n < steps`."""
    if isinstance(loop, cst.While):
        tests = loop.test.comparisons if isinstance(loop.test, cst.Comparison) else ()
        return [t.comparator for t in tests if isinstance(t.operator, cst.LessThan | cst.LessThanEqual)]
    over = loop.iter if isinstance(loop, cst.For) else None
    while isinstance(over, cst.Call) and last_word(over) in THROUGH and over.args:
        over = over.args[0].value
    counts = isinstance(over, cst.Call) and called_name(over).endswith("range")
    return [a.value for a in over.args] if isinstance(over, cst.Call) and counts else []


def is_short(loop: Loop) -> bool:
    """Whether the loop is known to have no more than RECOMPILE_LIMIT turns."""
    if not isinstance(loop, cst.For):
        return False
    source = loop.iter
    while isinstance(source, cst.Call) and called_name(source) in THROUGH and source.args:
        source = source.args[0].value
    if isinstance(source, cst.Tuple | cst.List | cst.Set):
        return len(source.elements) <= RECOMPILE_LIMIT
    if isinstance(source, cst.Call) and called_name(source) == "enumerate" and source.args:
        inner = source.args[0].value
        return isinstance(inner, cst.Tuple | cst.List) and len(inner.elements) <= RECOMPILE_LIMIT
    if isinstance(source, cst.Call) and called_name(source) in ("range", "torch.arange"):
        numbers = [
            int(a.value.value.replace("_", ""), 0) for a in source.args if isinstance(a.value, cst.Integer)
        ]
        if numbers and len(numbers) == len(source.args) and numbers[-1]:
            return len(range(*numbers)) <= RECOMPILE_LIMIT
    return False


def bindings(node: cst.CSTNode) -> dict[str, list[cst.CSTNode]]:
    """The statements that bind each name, in the node and what it holds."""
    found: dict[str, list[cst.CSTNode]] = {}
    for part in walk(node):
        targets: list[cst.BaseExpression] = []
        if isinstance(part, cst.Assign):
            targets = [t.target for t in part.targets]
        elif isinstance(part, cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For | cst.CompFor):
            targets = [part.target]
        elif isinstance(part, cst.AsName):
            targets = [part.name]
        for target in targets:
            whole = isinstance(target, cst.Name)
            for name in [target] if whole else _bound_names(target):
                # One of several names, or one in a comprehension, is not what the whole value is.
                found.setdefault(name.value, []).append(part if whole else target)  # type: ignore[attr-defined]
    return found


def given_in_pair(function: FunctionCode, target: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """What `a, b = x, y` gives a name."""
    assign = function.parent(target)
    assign = function.parent(assign) if isinstance(assign, cst.AssignTarget) else assign
    if not isinstance(assign, cst.Assign) or not isinstance(target, cst.Tuple):
        return None
    value = assign.value
    if not isinstance(value, cst.Tuple) or len(value.elements) != len(target.elements):
        return None
    for one, given in zip(target.elements, value.elements, strict=True):
        if is_name(one.value, name):
            return given.value
    return None


def _bound_names(target: cst.BaseExpression) -> list[cst.Name]:
    if isinstance(target, cst.Name):
        return [target]
    if isinstance(target, cst.Tuple | cst.List):
        return [n for e in target.elements for n in _bound_names(e.value)]
    return []


def unconditional(function: FunctionCode, node: cst.CSTNode, loop: Loop) -> bool:
    """Whether every turn that reaches its end runs the statement that holds the node."""
    here = function.parent(node)
    while here is not None and here is not loop:
        if isinstance(here, cst.If | cst.For | cst.While | cst.Try | cst.FunctionDef | cst.Lambda):
            return False
        here = function.parent(here)
    return True
