"""A branch on a tensor's value as `torch.cond`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import libcst as cst

from pt2lint.finding import Edit, Trait
from pt2lint.fixes.arms import (
    Arms,
    check_same_test,
    elements,
    keeps_nan_off,
    ordered,
    read_branch,
    refuse_compared,
    refuse_shared,
    replacement,
    under_static,
)
from pt2lint.fixes.condition import read_condition
from pt2lint.fixes.imports import torch_name
from pt2lint.fixes.kinds import Kind, guess, is_without_gradients, may_be_none, names_no_device, told, words
from pt2lint.fixes.names import binds, bound_before, fresh, live_after, reads, surely_binds, uses
from pt2lint.fixes.nodes import assigned, breaking, enclosing_function
from pt2lint.fixes.purity import draws, effect, is_view, number
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, fix, refusing
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, walk

MAX_STATEMENTS = 40  # more than this on one side is no longer a branch but half a model


@refusing
def to_cond(function: FunctionCode, node: cst.If | cst.IfExp, kind: Kind | None = None) -> Repaired:
    """The branch as `torch.cond`: two functions, one of which runs.

    Names that a side assigns become operands and results; other names are read from the enclosing function.
    Refused where a side mutates something, leaves from its middle, returns another structure than the other,
    binds a name that the other side leaves unbound, or holds what is not a tensor.

    Always unsafe: torch demands that both sides return tensors of equal shape and dtype, that none is an
    operand itself (a copy is made where that is plain to see), and in eager mode compiles the branches on
    first use.
    """
    kind = kind or guess(function)
    check_same_test(function, node)  # torch traces both sides
    try:
        if isinstance(node, cst.IfExp):
            return _cond_expression(function, node, kind)
        return _cond_statement(function, node, kind)
    except cst.ParserSyntaxError:
        return Refusal("a comment stands inside an expression that has to move")


_COND = (
    " It assumes that both sides give tensors of one shape and dtype; what only the side not taken uses "
    "gets a gradient of zero instead of none."
)
# Measured on torch 2.6 to 2.15, eager and compiled: the backward pass runs a side again, with new numbers.
_DRAWS = "a side draws random numbers, and the gradients of torch.cond would belong to others"
_MAY_DRAW = (
    " Not for sides with dropout in training: for the gradients torch.cond runs a side again, and draws anew."
)


_UNKNOWN = " Whether torch can capture both sides whole, reading does not tell."

_NAN_OFF = " The test keeps NaN away from what learns, and that gradient may be NaN."


_SUPER = "`super()` works in a method itself, not in a function within it"


def _asks_for_class(*nodes: cst.CSTNode) -> bool:
    """Whether something below the nodes needs the method it stands in: `super()`, `__class__`."""
    return bool({"super", "__class__"} & {use.name for use in uses(*nodes)})


def _surely_tensor(function: FunctionCode, name: str, kind: Kind) -> bool:
    """Whether the name holds a tensor wherever the code shows what it holds, and it does at one place at least.

    torch.cond takes and returns nothing else, and what it hands through is copied by a method.
    """
    found = set()
    for use in uses(function.module):
        if use.name == name and not use.binds:
            word = told(function, use.node)
            known = kind(use.node)
            if word and not word.endswith("?") and not known.startswith("tensor"):
                return False  # a tensor or something else, depending on the call
            found.add(known.split(":")[0])
        elif use.name == name:
            target = function.parent(use.node)
            assign = function.parent(target) if isinstance(target, cst.AssignTarget) else None
            if (
                isinstance(assign, cst.Assign)
                and len(assign.targets) == 1
                and assign.targets[0].target is use.node
            ):
                found.add(kind(assign.value).split(":")[0])
    if function.kinds is None:  # nothing but the text is known
        return found <= {"tensor", "unknown"}
    return "tensor" in found and found <= {"tensor", "unknown"}


def _unsure(
    function: FunctionCode, kind: Kind, then: Sequence[cst.CSTNode], orelse: Sequence[cst.CSTNode]
) -> str:
    """What to say of random numbers on the sides, of calls that are not known, and of shapes that may differ."""
    drawn = draws(function, *then, *orelse)
    if drawn:
        raise Refused(_DRAWS)
    inside = breaking(function, *then, *orelse)
    if inside is not None:  # torch.cond takes none, in eager mode neither
        raise Refused(f"a side breaks the graph itself: `{source(function, inside)}`")
    if drawn is None:
        return _MAY_DRAW + _UNKNOWN
    if _may_overlap(function, then, orelse):
        return _UNKNOWN
    if any(names_no_device(function, node) for side in (*then, *orelse) for node in walk(side)):
        return _UNKNOWN  # both sides have to give tensors of one device
    shapes = [_shaping(side, kind) for side in (then, orelse)]
    return _UNKNOWN if shapes[0] != shapes[1] or "mask" in shapes[0] else ""


def _may_overlap(function: FunctionCode, *sides: Sequence[cst.CSTNode]) -> bool:
    """Whether two tensors that the sides read may lie in one storage, as `a` and `b` of `a, b = x` do.

    torch.cond takes no such two (measured on torch 2.13, eager and compiled).
    """
    seen: set[str] = set()
    parts = [one for side in sides for one in side]
    owner = enclosing_function(function, parts[0])
    if owner is None:
        return False
    for name in reads(*parts):
        origins = _origins(function, owner, name, frozenset())
        if origins & seen:
            return True
        seen |= origins
    return False


_PAIRS = words("max min sort topk median mode kthvalue std_mean var_mean frexp cummax cummin unique")


def _origins(function: FunctionCode, owner: cst.FunctionDef, name: str, busy: frozenset[str]) -> set[str]:
    """The name, and those of which it may be a part or a view; of what several names are parts, the text."""
    found = {name}
    for use in uses(owner.body):
        if use.name != name or not use.binds or name in busy:
            continue
        outer = function.parent(use.node)
        several = isinstance(outer, cst.Element)
        while isinstance(outer, cst.Element | cst.Tuple | cst.List):
            outer = function.parent(outer)
        assign = function.parent(outer) if isinstance(outer, cst.AssignTarget) else None
        value: cst.CSTNode | None = assign.value if isinstance(assign, cst.Assign) else None
        if several and value is not None and not (isinstance(value, cst.Call) and callee(value) in _PAIRS):
            found.add(source(function, value))
        while isinstance(value, cst.Call | cst.Subscript | cst.Attribute):
            if isinstance(value, cst.Call):
                if not isinstance(value.func, cst.Attribute) or not is_view(value.func.attr.value):
                    break
                value = value.func.value
            elif isinstance(value, cst.Attribute) and value.attr.value not in (
                "T",
                "mT",
                "data",
                "real",
                "imag",
            ):
                break
            else:
                value = value.value
        if isinstance(value, cst.Name):
            found |= _origins(function, owner, value.value, busy | {name})
    return found


_SHAPING = words(
    "pad cat concat concatenate stack hstack vstack repeat repeat_interleave tile unsqueeze squeeze reshape view "
    "flatten unflatten narrow index_select gather take expand expand_as broadcast_to permute transpose movedim "
    "sum mean prod amax amin std var norm logsumexp interpolate one_hot unfold fold chunk split nonzero unique "
    "masked_select bincount diag diagonal outer select topk float double half bfloat16 long bool"
)


def _shaping(side: Sequence[cst.CSTNode], kind: Kind) -> set[str]:
    """What on a side gives a tensor of another shape or dtype; "mask" for an index that may be one."""
    found: set[str] = set()
    for statement in side:
        for node in walk(statement):
            if isinstance(node, cst.Call) and callee(node) in _SHAPING:
                found.add(callee(node))
            elif isinstance(node, cst.Subscript):
                for element in node.slice:
                    if not isinstance(element.slice, cst.Index):
                        found.add("slice")
                    elif kind(element.slice.value) in ("tensor", "tensor:bool"):
                        found.add("mask")
    return found


def _cond_expression(function: FunctionCode, node: cst.IfExp, kind: Kind) -> Repaired:
    condition = read_condition(function, node.test, kind)
    if condition.static and effect(node.orelse):
        return Refusal("the test is part tensor, part plain Python")
    if _asks_for_class(node.body, node.orelse):
        return Refusal(_SUPER)
    for value in (node.body, node.orelse):
        _check_result(value, kind, function.kinds is not None)
        reason = effect(value)
        if reason:
            return Refusal(reason)
    _check_alike(function, (node.body, node.orelse), kind)
    warning = _unsure(function, kind, [node.body], [node.orelse])
    if not warning and keeps_nan_off(node.test, [node.body], [node.orelse]):
        warning = _NAN_OFF
    torch, imports = torch_name(function, "torch.cond")
    then, orelse = (_copied(function, value) for value in (node.body, node.orelse))
    first, second = ordered(condition, then, orelse)
    text = f"{torch}({condition.text}, lambda: {first}, lambda: {second}, ())"
    new = under_static(function, node, condition, text)
    edits = (*dict.fromkeys((*condition.imports, *imports)), *rewrite(function, {node: new}))
    return _fixed(warning, edits)


def _fixed(warning: str, edits: Iterable[Edit]) -> Repaired:
    traits: list[Trait] = ["branch"]
    if warning:
        traits += ["once proven", "nan"] if warning == _NAN_OFF else ["once proven"]
    return fix(f"Branch with `torch.cond`, in the graph.{_COND}{warning}", edits, *traits)


def _check_result(value: cst.BaseExpression, kind: Kind, known: bool) -> None:
    word = kind(value)
    if (
        isinstance(value, cst.Name | cst.Attribute | cst.Subscript)
        and not word.startswith("tensor")
        and known
    ):
        raise Refused("what a side gives is not known to be a tensor")  # it would have to be copied
    if word == "mixed":
        raise Refused("a side gives something else than a tensor in some calls")
    if word in ("none", "str", "int", "float", "bool") or number(value) is not None:
        raise Refused(f"a side gives {'None' if word == 'none' else 'a plain ' + word}, not a tensor")
    if word.startswith(("list", "dict")) or isinstance(value, cst.List | cst.Dict | cst.Set | cst.Tuple):
        raise Refused("a side gives a container, not a tensor")


def _check_alike(
    function: FunctionCode, values: Sequence[cst.BaseExpression], kind: Kind, before: str = ""
) -> None:
    """Refuse what is known to be of two dtypes, and what the code itself does not know to be of one shape; `before` is
    the name of what a side leaves."""
    texts = [source(function, one) for one in values]
    refuse_compared(function, before, *texts)
    kept = [before] if len(values) == 1 else texts
    for one in values:
        if isinstance(one, cst.Subscript) and _cuts(one) and source(function, one.value) in kept:
            raise Refused(f"`{source(function, one)}` is a part of what the other side gives")
    words = {kind(one) for one in values}
    if len(words) > 1 and all(":" in word for word in words):
        raise Refused("the sides give tensors of two dtypes")


def _cuts(node: cst.Subscript) -> bool:
    """`x[:, 1:]`"""
    parts = (each.slice for each in node.slice)
    return any(isinstance(part, cst.Slice) and (part.lower or part.upper) for part in parts)


def _copied(function: FunctionCode, value: cst.BaseExpression) -> str:
    """The value's source, copied where it is a tensor that exists already: torch.cond returns no operand."""
    text = source(function, value)
    return f"{text}.clone()" if _may_exist(value) else text


# What gives the tensor itself where it has that dtype, or lies there.
_CONVERTS = words("half double bfloat16 long int short bool cpu cuda")


def _may_exist(value: cst.CSTNode | None) -> bool:
    """Whether a value may be a tensor that exists already, or share its memory: `x`, `x[0]`, `x.float()`, `x.mT`."""
    while isinstance(value, cst.Call) and (is_view(callee(value)) or callee(value) in _CONVERTS):
        of_torch = isinstance(value.func, cst.Attribute) and is_name(value.func.value, "torch")
        if of_torch or not isinstance(value.func, cst.Attribute):
            value = value.args[0].value if value.args else None
        else:
            value = value.func.value
    return isinstance(value, cst.Name | cst.Attribute | cst.Subscript)


def _cond_statement(function: FunctionCode, node: cst.If, kind: Kind) -> Repaired:
    condition, arms = read_branch(function, node, kind)
    _check_sides(arms)
    outs = _results(function, arms, kind)
    if _are_added(function, node, outs):
        raise Refused("results that are added have one gradient, and torch.cond's own takes no tensor twice")
    operands = _operands(function, arms, outs, kind)
    values = [[one] for one in arms.values or ()] or [[], []]
    sides = [*arms.then, *values[0]], [*arms.orelse, *values[1]]
    warning = _unsure(function, kind, *sides)
    if not warning and keeps_nan_off(node.test, *sides, outs):
        warning = _NAN_OFF
    torch, imports = torch_name(function, "torch.cond")
    names = [fresh(function, "when_true", node), fresh(function, "when_false", node)]
    lines: list[str] = []
    for name, side, index in ((names[0], arms.then, 0), (names[1], arms.orelse, 1)):
        result = arms.values[index] if arms.values is not None else None
        lines += [_branch(name, operands, side, outs, function, result), ""]
    given = ", ".join(operands) + ("," if len(operands) == 1 else "")
    first, second = (names[1], names[0]) if condition.negated else (names[0], names[1])
    call = f"{torch}({condition.text}, {first}, {second}, ({given}))"
    lines.append(f"return {call}" if arms.values is not None else f"{', '.join(outs)} = {call}")
    new = replacement(function, node, arms.taken, lines, condition.static)
    edits = (*dict.fromkeys((*condition.imports, *imports)), *rewrite(function, new))
    return _fixed(warning, edits)


def _are_added(function: FunctionCode, node: cst.If, outs: Sequence[str]) -> bool:
    """Whether the function adds two of the results, `y + z`: the backward pass is then given one tensor for both."""
    owner = enclosing_function(function, node)
    if len(outs) < 2 or owner is None or is_without_gradients(function, node):
        return False
    return any(
        len({one for one in _added(part) if one in outs}) > 1
        for part in walk(owner.body)
        if isinstance(part, cst.BinaryOperation)
    )


def _added(node: cst.BaseExpression) -> list[str]:
    """`y` and `z` of `y + (x * 2 + z)`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [*_added(node.left), *_added(node.right)]
    return [node.value] if isinstance(node, cst.Name) else []


def _check_sides(arms: Arms) -> None:
    """Refuse sides that cannot be functions of their own."""
    if max(_count(arms.then), _count(arms.orelse)) > MAX_STATEMENTS:
        raise Refused("a side is too long to become a function of its own")
    if _asks_for_class(*arms.then, *arms.orelse, *(arms.values or ())):
        raise Refused(_SUPER)
    for statement in (*arms.then, *arms.orelse):
        reason = effect(statement)
        if reason:
            raise Refused(f"a side cannot be a branch of torch.cond: {reason}")


def _results(function: FunctionCode, arms: Arms, kind: Kind) -> list[str]:
    """The names that the sides assign and that are used afterwards; none where the sides return."""
    if arms.values is not None:
        then, orelse = map(elements, arms.values)
        if len(then) != len(orelse):
            raise Refused("the sides return different structures")
        for element in (*then, *orelse):
            _check_result(element, kind, function.kinds is not None)
        for one, other in zip(then, orelse, strict=True):
            _check_alike(function, (one, other), kind)
        return []
    outs = [name for name in binds(*arms.then, *arms.orelse) if live_after(function, name, arms.taken)]
    if not outs:
        raise Refused("nothing that the sides assign is used afterwards")
    for name in outs:
        if name not in _bound_on_both(arms) and not bound_before(function, name, arms.taken[0]):
            raise Refused(f"`{name}` may be unbound on one side")
        refuse_shared(function, name, arms.taken, kept=name not in _bound_on_both(arms))
        given = [_last_given(name, side) for side in (arms.then, arms.orelse) if name in binds(*side)]
        _check_alike(function, [one for one in given if one is not None], kind, name)
    return outs


def _last_given(name: str, statements: Sequence[Any]) -> cst.BaseExpression | None:
    """What the last of the statements that binds the name assigns to it, and to nothing else."""
    last = next((one for one in reversed(statements) if name in binds(one)), None)
    to, value = assigned(last) or (None, None)
    return value if to == name else None


def _bound_on_both(arms: Arms) -> set[str]:
    return set(binds(*arms.then)) & set(binds(*arms.orelse))


def _operands(function: FunctionCode, arms: Arms, outs: Sequence[str], kind: Kind) -> list[str]:
    """What a side reads before it assigns it, or hands through. Refused where that, or a result, may be no tensor."""
    before = arms.taken[0]
    both = _bound_on_both(arms)
    operands = [
        name
        for name in binds(*arms.then, *arms.orelse)
        if (name in outs and name not in both)
        or _read_before(name, arms.then, name in outs)
        or _read_before(name, arms.orelse, name in outs)
    ]
    for name in operands:
        if not bound_before(function, name, before):
            raise Refused(f"`{name}` may be unbound when the branch is reached")
    nothing = {name for name in outs if _set_to_none(name, (*arms.then, *arms.orelse), kind)}
    if nothing:
        raise Refused(f"a side sets `{min(nothing)}` to None")
    tensors = {*outs, *operands}
    for name in tensors:
        if _plain(function, name, before, kind):
            raise Refused(f"`{name}` is not a tensor")
    for name in tensors:
        if not _surely_tensor(function, name, kind):
            raise Refused(f"`{name}` is not known to be a tensor")
    for name in operands:
        if may_be_none(function, name, before):
            raise Refused(f"`{name}` may be None")
    return operands


def _set_to_none(name: str, statements: Sequence[Any], kind: Kind) -> bool:
    return any(
        isinstance(small, cst.Assign)
        and kind(small.value) == "none"
        and any(is_name(t.target, name) for t in small.targets)
        for statement in statements
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
    )


def _count(statements: Sequence[cst.CSTNode]) -> int:
    """How many lines of statements there are, at any depth."""
    return sum(isinstance(one, cst.SimpleStatementLine) for top in statements for one in walk(top))


def _read_before(name: str, statements: Sequence[Any], out: bool) -> bool:
    """Whether the statements bind the name, but may hand on (or read) what it was before."""
    if name not in binds(*statements):
        return False
    for statement in statements:
        first = next((use for use in uses(statement) if use.name == name), None)
        if first is not None:
            counts = isinstance(statement, cst.For) and not out and first.binds
            return not first.binds or (name not in surely_binds(statement) and not counts)
    return False


def _plain(function: FunctionCode, name: str, at: cst.CSTNode, kind: Kind) -> bool:
    """Whether the name surely holds something else than a tensor when the branch is reached."""
    owner = enclosing_function(function, at)
    if owner is None:
        return False
    words = {kind(use.node) for use in uses(owner.body) if use.name == name and not use.binds}
    for use in uses(owner.body):
        target = function.parent(use.node) if use.binds and use.name == name else None
        assign = function.parent(target) if isinstance(target, cst.AssignTarget) else None
        if isinstance(assign, cst.Assign) and assign.targets[0] is target:
            words.add(kind(assign.value))  # `extra = 0` before the branch, whatever it is after it
    return bool(words & {"int", "float", "bool", "str", "none"}) or any(
        word.startswith(("list", "dict")) for word in words
    )


def _branch(
    name: str,
    operands: Sequence[str],
    statements: Sequence[Any],
    outs: Sequence[str],
    function: FunctionCode,
    value: cst.BaseExpression | None,
) -> str:
    """The source of one side as a function."""
    indent = function.module.default_indent
    direct = _returned(function, statements, outs) if value is None else None
    if direct is not None:
        statements = [*statements[:-1], direct]
    body = cst.Module(body=list(statements), default_indent=indent).code.strip("\n")
    if statements and isinstance(statements[-1], cst.FunctionDef):
        body += "\n"  # a `return` follows
    text = [f"def {name}({', '.join(operands)}):"]
    text += [indent + one if one.strip() else one for one in body.split("\n")] if body.strip() else []
    if direct is not None:
        return "\n".join(text)
    if value is None:
        results = [_result(one, statements) for one in outs]
    else:
        results = [_copied(function, element) for element in elements(value)]
    tail = "," if isinstance(value, cst.Tuple) and len(results) == 1 else ""
    return "\n".join([*text, f"{indent}return {', '.join(results)}{tail}"])


def _returned(
    function: FunctionCode, statements: Sequence[Any], outs: Sequence[str]
) -> cst.SimpleStatementLine | None:
    """The last statement as a `return` of what it assigns to the only result; None where it does something else."""
    last = statements[-1] if statements else None
    name, given = assigned(last) or (None, None)
    if [name] != [*outs] or given is None or not isinstance(last, cst.SimpleStatementLine):
        return None
    value = given
    if _may_exist(given):
        value = cst.parse_expression(_copied(function, given))
    elif not isinstance(given, cst.Call | cst.BinaryOperation):
        return None
    return last.with_changes(body=[cst.Return(value)])


def _result(name: str, statements: Sequence[cst.CSTNode]) -> str:
    """The name as a result: a copy where the side leaves it alone or binds it to another tensor as it is."""
    for statement in reversed(statements):
        if name in binds(statement):
            assign = statement.body[-1] if isinstance(statement, cst.SimpleStatementLine) else None
            value = assign.value if isinstance(assign, cst.Assign) else None
            target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
            if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple):
                places = [is_name(one.value, name) for one in target.elements]
                same = len(places) == len(value.elements) and sum(places) == 1
                value = value.elements[places.index(True)].value if same else None
            made = isinstance(value, cst.Call | cst.BinaryOperation) and not _may_exist(value)
            return name if made else f"{name}.clone()"
    return f"{name}.clone()"
