"""Numbers that `__init__` knows and a module keeps in buffers: as plain numbers, which Python may compute with."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.file import class_around, file_of, has_derived, method_in
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    New,
    Refusal,
    Refused,
    Repaired,
    accepted,
    binds,
    enclosing_function,
    fix,
    live_after,
    math_function,
    qualified,
    refusing,
    replaced,
    rewrite,
    small_of,
    source,
    statement_of,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

_INTEGERS = ("torch.int64", "torch.int32", "torch.long", "torch.int")
_ROUNDS = ("torch.ceil", "torch.floor")
_WRITES = re.compile(r"\w*[a-z]_")  # methods, and functions of torch.nn.init, that change a tensor in place
_ARITHMETIC = cst.Add | cst.Subtract | cst.Multiply | cst.FloorDivide


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The numbers, where the node stands in a class that keeps them in buffers."""
    return accepted(as_numbers(function, node))


@refusing
def as_numbers(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`self.register_buffer("stride", torch.tensor(2, dtype=torch.int64), persistent=False)` as `self.stride = 2`, and
    `torch.ceil(n / self.stride).to(torch.int64)` as `math.ceil(n / self.stride)` where `n` is a size.

    Refused where the state of the module holds such a buffer, where it is set again or a method of it is called, and
    where another class of the file is derived from this one. Unsafe: who asks the module for it gets a number.
    """
    around = class_around(function, function.range(node)[0])
    if around is None:
        return Refusal("not in a class of the file")
    methods = [one for one in around.body if isinstance(one, ast.FunctionDef)]
    begins = method_in(around, "__init__")
    lines = file_of(function).lines[begins.lineno : begins.end_lineno] if begins is not None else []
    if not any("register_buffer(" in one for one in lines):
        return Refusal("the class keeps nothing in a buffer")

    def code_of(method: ast.FunctionDef) -> FunctionCode | None:
        return neighbour(function, method.lineno)

    makes = code_of(begins) if begins is not None else None
    if makes is None:
        return Refusal("the class has no `__init__`")
    new, names = _registered(makes)
    if not names:
        return Refusal("the class keeps no number in a buffer")
    started = _set_elsewhere(function, around, names)
    edits = [*rewrite(makes, new), *started]
    for method in methods:
        if method is not begins and (code := code_of(method)) is not None:
            edits += [one for one in _with_math(code, names) if one not in edits]
    told = ", ".join(f"`{name}`" for name in names)
    return fix(
        f"Keep as plain numbers what `{around.name}.__init__` puts into buffers ({told}): what is computed of them and "
        "of sizes, Dynamo evaluates while it traces. Python divides in double precision, and who reads them from the "
        "module gets numbers.",
        edits,
        "once proven",
    )


def _owner(code: FunctionCode) -> cst.FunctionDef | None:
    return next((one for one in walk(code.module) if isinstance(one, cst.FunctionDef)), None)


def _registered(makes: FunctionCode) -> tuple[dict[cst.CSTNode, New], list[str]]:
    """The rewriting of `__init__` after which it registers no number, and the names of the buffers."""
    new: dict[cst.CSTNode, New] = {}
    names: list[str] = []
    for call in walk(makes.module):
        if not isinstance(call, cst.Call) or callee(call) != "register_buffer" or len(call.args) != 3:
            continue
        name, value, last = call.args
        statement = statement_of(makes, call)
        only = small_of(statement)
        kept = last.keyword is not None and last.keyword.value == "persistent" and source(makes, last.value)
        if kept != "False" or not isinstance(only, cst.Expr) or only.value is not call:
            continue
        inside = _number_of_tensor(makes, value.value)
        if inside is None or not isinstance(name.value, cst.SimpleString):
            continue
        names.append(str(name.value.evaluated_value))
        here = {id(part) for part in walk(value.value)}
        own: dict[cst.CSTNode, New] = {made: number for made, number in inside.items() if id(made) in here}
        plain = source(makes, own.get(value.value) or replaced(value.value, own))  # type: ignore[arg-type]
        assign = cst.parse_statement(f"self.{names[-1]} = {plain}")
        above = getattr(statement, "leading_lines", ())
        new[statement] = assign.with_changes(leading_lines=above)  # type: ignore[index]
        new |= {made: number for made, number in inside.items() if made not in own}
    return (new, names) if not _tensors_needed(makes, new) else ({}, [])


def _tensors_needed(makes: FunctionCode, new: Mapping[cst.CSTNode, New]) -> bool:
    """Whether `__init__` does more with a tensor that becomes a number than to register it, and what is made of it."""
    inside = {id(part) for one in new for part in walk(one)}
    for made in new:
        only = makes.parent(made)
        target = only.targets[0].target if isinstance(only, cst.Assign) else None
        owner = enclosing_function(makes, made)
        if not isinstance(target, cst.Name) or owner is None:
            continue
        for use in uses(owner.body):
            later = makes.range(use.node)[:2] > makes.range(made)[:2]
            if use.name == target.value and later and id(use.node) not in inside:
                return True
    return False


def _number_of_tensor(
    makes: FunctionCode, node: cst.BaseExpression, depth: int = 4
) -> dict[cst.CSTNode, cst.BaseExpression] | None:
    """What makes tensors of whole numbers below an expression, with the number in each; None where the expression is
    anything but that and arithmetic with it."""
    if isinstance(node, cst.Integer):
        return {}
    if isinstance(node, cst.Call) and qualified(makes, node.func) == "torch.tensor" and len(node.args) == 2:
        number, dtype = node.args
        whole = dtype.keyword is not None and dtype.keyword.value == "dtype"
        if not whole or qualified(makes, dtype.value) not in _INTEGERS:
            return None
        lists = cst.List | cst.Tuple | cst.ListComp | cst.Float
        return None if isinstance(number.value, lists) else {node: number.value}
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _ARITHMETIC):
        left = _number_of_tensor(makes, node.left, depth)
        right = _number_of_tensor(makes, node.right, depth)
        return None if left is None or right is None else {**left, **right}
    if isinstance(node, cst.Name) and depth:
        value = _bound_last(makes, node)
        return None if value is None else _number_of_tensor(makes, value, depth - 1)
    return None


def _bound_last(makes: FunctionCode, name: cst.Name) -> cst.BaseExpression | None:
    """What the assignment above, of `__init__`'s own block, binds the name to."""
    owner = enclosing_function(makes, name)
    place = makes.range(name)[:2]
    found: cst.BaseExpression | None = None
    for statement in owner.body.body if owner is not None else ():
        if makes.range(statement)[:2] >= place:
            break
        bound = [use.node for use in uses(statement) if use.binds and use.name == name.value]
        only = small_of(statement)
        if bound:
            single = isinstance(only, cst.Assign) and only.targets[0].target is bound[0]
            found = only.value if single and len(only.targets) == 1 else None  # type: ignore[union-attr]
    return found


def _set_elsewhere(function: FunctionCode, around: ast.ClassDef, names: list[str]) -> tuple[Edit, ...]:
    """The edits that take out what sets the buffers once more outside of the class: an `elif isinstance(m, Class):` of
    the function that initialises weights. Refused where the file needs tensors of them in another way."""
    tree = file_of(function).tree
    if has_derived(tree, around.name):
        raise Refused("another class of the file is derived from this one")
    lines: dict[int, None] = {}
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.attr in names:
            if one.value.id == "self" and not isinstance(one.ctx, ast.Load):
                raise Refused("the buffer is set again")
        if isinstance(one, ast.Call) and (target := _changed(one)) is not None and target.attr in names:
            lines[one.lineno] = None
        elif (
            isinstance(one, ast.Attribute)
            and isinstance(one.value, ast.Attribute)
            and one.value.attr in names
        ):
            if not _WRITES.fullmatch(one.attr):
                raise Refused("an attribute or a method of the tensor is asked for")
    edits: list[Edit] = []
    while lines:
        code = neighbour(function, min(lines))
        branch = _branch_of_class(code, min(lines), around.name) if code is not None else None
        if code is None or branch is None or not _only_sets(code, branch, names):
            raise Refused("the buffer is set elsewhere")
        begin, _, end, _ = code.range(branch.body)
        lines = {one: None for one in lines if not begin <= one <= end}
        edits += rewrite(code, {branch: branch.orelse if isinstance(branch.orelse, cst.If) else None})
    return tuple(edits)


def _changed(call: ast.Call) -> ast.Attribute | None:
    """The tensor that `init.copy_(m.stride, ...)`, or `m.stride.fill_(...)`, changes."""
    if not isinstance(call.func, ast.Attribute) or not _WRITES.fullmatch(call.func.attr):
        return None
    of_module = call.args[0] if call.args else None
    target = of_module if isinstance(of_module, ast.Attribute) else call.func.value
    return target if isinstance(target, ast.Attribute) else None


def _branch_of_class(code: FunctionCode, line: int, name: str) -> cst.If | None:
    """The innermost `if isinstance(m, Class):` around the line that is an `elif`, or has one."""
    for one in walk(code.module):
        if not isinstance(one, cst.If) or not re.fullmatch(
            rf"isinstance\(\w+, {name}\)", source(code, one.test)
        ):
            continue
        begin, _, end, _ = code.range(one.body)
        chained = isinstance(code.parent(one), cst.If) or isinstance(one.orelse, cst.If)
        if begin <= line <= end and chained and not isinstance(one.orelse, cst.Else):
            return one
    return None


def _only_sets(code: FunctionCode, branch: cst.If, names: list[str]) -> bool:
    """Whether all that the branch does is to set the buffers, and to make what they are set to."""
    bound = binds(branch.body)
    for statement in branch.body.body:
        only = small_of(statement)
        if isinstance(only, cst.Expr):
            tree = ast.parse(source(code, only.value), mode="eval").body
            target = _changed(tree) if isinstance(tree, ast.Call) else None
            if target is None or target.attr not in names:
                return False
            if not isinstance(only.value, cst.Call) or any(effect(one.value) for one in only.value.args):
                return False
        elif not isinstance(only, cst.Assign) or effect(only.value) is not None:
            return False
    return not any(live_after(code, name, branch.body.body) for name in bound)


def _with_math(code: FunctionCode, names: list[str]) -> tuple[Edit, ...]:
    """`torch.ceil(n).to(torch.int64)` as `math.ceil(n)` where `n` is a number now, and what a method is annotated to
    return that returns one."""
    numbers = _Numbers(code, names)
    new: dict[cst.CSTNode, New] = {}
    edits: tuple[Edit, ...] = ()
    for one in walk(code.module):
        rounded = _rounded(code, one)
        if rounded is not None and numbers.is_number(rounded.args[0].value):
            rounds = (qualified(code, rounded.func) or "").removeprefix("torch.")
            try:
                name, edits = math_function(code, rounds)
            except Refused:
                continue
            new[one] = rounded.with_changes(func=cst.parse_expression(name))
    owner = _owner(code)
    returned = [one.value for one in walk(code.module) if isinstance(one, cst.Return)]
    if owner is not None and owner.returns is not None and returned and new:
        tensor = qualified(code, owner.returns.annotation) == "torch.Tensor"
        if tensor and all(one is not None and numbers.is_number(one) for one in returned):
            new[owner.returns.annotation] = cst.Name("int")
    return (*edits, *rewrite(code, new)) if new else ()


def _rounded(code: FunctionCode, node: cst.CSTNode) -> cst.Call | None:
    """The call of torch.ceil in `torch.ceil(n).to(torch.int64)`, `torch.ceil(n).long()`, `torch.ceil(n).int()`."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return None
    inner, name = node.func.value, node.func.attr.value
    whole = name in ("long", "int") and not node.args
    if name == "to" and len(node.args) == 1:
        whole = qualified(code, node.args[0].value) in _INTEGERS
    rounds = isinstance(inner, cst.Call) and qualified(code, inner.func) in _ROUNDS and len(inner.args) == 1
    return inner if whole and rounds else None  # type: ignore[return-value]


class _Numbers:
    """Tells which expressions of a method are plain numbers, once the buffers are."""

    def __init__(self, code: FunctionCode, names: list[str]) -> None:
        self.code, self.names = code, names
        self.bound: Mapping[str, list[cst.CSTNode]] = {}
        owner = _owner(code)
        if owner is not None:
            found: dict[str, list[cst.CSTNode]] = {}
            for use in uses(owner.body):
                if use.binds:
                    found.setdefault(use.name, []).append(use.node)
            given = {one.name.value for one in walk(owner.params) if isinstance(one, cst.Param)}
            self.bound = {name: places for name, places in found.items() if name not in given}
        self.asking: set[str] = set()

    def is_number(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Integer | cst.Float):
            return True
        if isinstance(node, cst.Attribute):
            return source(self.code, node.value) == "self" and node.attr.value in self.names
        if isinstance(node, cst.BinaryOperation):
            return self.is_number(node.left) and self.is_number(node.right)
        if isinstance(node, cst.UnaryOperation):
            return self.is_number(node.expression)
        if isinstance(node, cst.Subscript):
            return (
                isinstance(node.value, cst.Attribute)
                and node.value.attr.value == "shape"
                and isinstance(node.slice[0].slice, cst.Index)
            )
        if isinstance(node, cst.Call):
            rounded = _rounded(self.code, node)
            size = callee(node) in ("size", "len") and len(node.args) == 1
            return size or (rounded is not None and self.is_number(rounded.args[0].value))
        return isinstance(node, cst.Name) and self._always_a_number(node.value)

    def _always_a_number(self, name: str) -> bool:
        """Whether each assignment of the name is one of a number; what is being asked for is taken to be one."""
        if name in self.asking:
            return True
        self.asking.add(name)
        values = []
        for place in self.bound.get(name, ()):
            target = self.code.parent(place)
            assign = self.code.parent(target) if isinstance(target, cst.AssignTarget) else None
            values.append(assign.value if isinstance(assign, cst.Assign) else None)
        sure = bool(values) and all(value is not None and self.is_number(value) for value in values)
        self.asking.discard(name)
        return sure
