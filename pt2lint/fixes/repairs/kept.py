"""State that compiled code leaves behind: converted into a variable, or made where the module is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import class_around, file_of, method_in, placed_in
from pt2lint.fixes.imports import imported_as, qualified
from pt2lint.fixes.names import binds, fresh, uses
from pt2lint.fixes.nodes import ancestors, enclosing_function, parameters, statement_of
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, walk

# Methods that convert what an object holds.
CONVERTS = ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "type", "_apply")
PLAIN = ("range", "int", "float", "len", "min", "max")


def as_local(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of `self.x = self.x.to(y)`."""
    return accepted(_into_variable(function, node))


def _into_variable(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`self.x = self.x.to(y)` as `x = self.x.to(y)`, and what the function reads of it below, as `x`.

    Refused where the statement stands under a test or in a loop, where the function assigns it above or below, and
    where another one reads it, which then would find what was made.
    """
    owner, statement = enclosing_function(function, node), statement_of(function, node)
    if owner is None or statement is None or not isinstance(node, cst.Attribute):
        return Refusal("no attribute is assigned in a function")
    if function.parent(statement) is not owner.body:
        return Refusal("it is converted under a condition, or in a loop")
    if owner.name.value in CONVERTS or any(
        isinstance(part, cst.Arg) and part.star for part in walk(statement)
    ):
        return Refusal("it is what converts the object, which is to stay converted")
    text, line = source(function, node), function.range(statement)[2]
    name = node.attr.value.strip("_") or "value"
    if (
        name in {use.name for use in uses(function.module)}
        or name in function.imports
        or name in function.functions
    ):
        name = fresh(function, name)
    new: dict[cst.CSTNode, cst.CSTNode] = {node: cst.Name(name)}
    for part in walk(owner.body):
        if isinstance(part, cst.Attribute) and part is not node and source(function, part) == text:
            if _is_bound(function, part):
                return Refusal("it is assigned again, or what is made above would be converted at each call")
            if function.range(part)[0] <= line:
                continue
            if any(isinstance(a, cst.FunctionDef) and a is not owner for a in ancestors(function, part)):
                return Refusal("a function inside reads it")
            new[part] = cst.Name(name)
    if len(new) == 1:
        return Refusal("the function itself does not read it")
    first, _, last, _ = function.range(owner)
    for other in file_of(function).nodes:
        if (
            isinstance(other, ast.Attribute)
            and isinstance(other.ctx, ast.Load)
            and other.attr == node.attr.value
        ):
            if not first <= other.lineno <= last:
                return Refusal("another function reads it")
    buffer = _as_buffer(function, node)
    if not buffer and not _changes_dtype_alone(function, statement):
        return Refusal("it would be moved to the device anew at each call")
    goes = "; a buffer goes where the module goes, so that nothing is moved at each call" if buffer else ""
    return fix(
        f"Convert it into a variable: `{text}` stays as it was made, and Dynamo finds the same at each call{goes}. "
        "Assumes that nothing else needs it converted.",
        (*buffer, *rewrite(function, new)),
    )


def _changes_dtype_alone(function: FunctionCode, statement: cst.CSTNode) -> bool:
    """`.to(x.dtype)`, `.to(torch.float16)`, `.half()`: on whatever device the tensor is."""
    calls = [one for one in walk(statement) if isinstance(one, cst.Call)]
    dtypes = ("float", "double", "half", "bfloat16", "int", "long", "bool")
    for call in calls:
        given = [arg.value for arg in call.args]
        named = [isinstance(one, cst.Attribute) and one.attr.value == "dtype" for one in given]
        own = [(qualified(function, one) or "").startswith("torch.") for one in given]
        to_dtype = callee(call) == "to" and len(given) == 1 and (named[0] or own[0])
        if not to_dtype and not (callee(call) in dtypes and not given):
            return False
    return bool(calls)


def _as_buffer(function: FunctionCode, node: cst.Attribute) -> list[Edit]:
    """`self.x = torch.ones(3)` in `__init__` of a module as `self.register_buffer("x", ..., persistent=False)`, in each
    of its branches; nothing where it is not plainly a tensor of torch's there."""
    first = function.range(node)[0]
    cls, init = class_around(function, first), _init_of(function, first)
    if cls is None or init is None or [ast.unparse(base) for base in cls.bases] not in _MODULE:
        return []
    me, name = placed_in(init)[0].arg, node.attr.value
    parts = [*ast.walk(init)]
    begun = [one.lineno for one in parts if isinstance(one, ast.Call) and _begins(one)]
    if not begun or any(
        isinstance(one, ast.Assign) and name in map(ast.unparse, one.targets) for one in cls.body
    ):
        return []
    own = f"{me}.{name}"
    bound = [
        one
        for one in parts
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one) == own
    ]
    made = [one for one in parts if isinstance(one, ast.Assign) and [*map(ast.unparse, one.targets)] == [own]]
    if len(made) != len(bound) or not all(
        _of_torch(function, one.value) and min(begun) <= one.lineno == one.end_lineno for one in made
    ):
        return []  # bound in another way, or before there is a module
    return [
        file_of(function).edit(
            f'{me}.register_buffer("{name}", {ast.get_source_segment(function.source, one.value)}, persistent=False)',
            one,
        )
        for one in made
    ]


_MODULE = (["nn.Module"], ["torch.nn.Module"], ["Module"])


def _begins(call: ast.Call) -> bool:
    """`super().__init__()`, in either spelling."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"


def _of_torch(function: FunctionCode, value: ast.AST | None) -> bool:
    """`torch.ones(3).view(3, 1)`: a function of torch called, or methods of what it returns."""
    called = False
    while isinstance(value, ast.Call | ast.Attribute):
        called = called or isinstance(value, ast.Call)
        value = value.func if isinstance(value, ast.Call) else value.value
    return called and isinstance(value, ast.Name) and function.imports.get(value.id) == "torch"


def _is_bound(function: FunctionCode, part: cst.CSTNode) -> bool:
    """Whether something is assigned to the attribute, alone or among others, or it is deleted."""
    here = part
    for outer in ancestors(function, part):
        if isinstance(
            outer, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.CompFor | cst.NamedExpr
        ):
            return here is getattr(outer, "target", None)
        if isinstance(outer, cst.Del | cst.AsName):
            return True
        if not isinstance(outer, cst.Tuple | cst.List | cst.BaseElement):
            return False
        here = outer
    return False


def in_tensor(function: FunctionCode, node: cst.CSTNode, made: str) -> tuple[Fix, ...]:
    """The repair of `state["step"] += 1`; `made` are the words of the "change item" operation."""
    return accepted(_as_tensor(function, node, made))


def _as_tensor(function: FunctionCode, node: cst.CSTNode, made: str) -> Repaired:
    """`state["step"] = 0` as `state["step"] = torch.tensor(0.0)`, where the number starts.

    Refused where the function tests it or counts to it: a tensor there ends the graph. So it is where the file keeps or
    shows the number: a tensor that is added to in place is the same one everywhere, and prints as one; and where it is
    in a global, from which others take it.
    """
    torch = imported_as(function, "torch")
    owner = enclosing_function(function, node)
    if not made or torch is None or owner is None or not isinstance(node, cst.Subscript):
        return Refusal("it is not known where the number starts")
    key = "".join(source(function, e) for e in node.slice)
    for part in walk(owner.body):
        if isinstance(part, cst.Subscript) and "".join(source(function, e) for e in part.slice) == key:
            for above in ancestors(function, part):
                test = isinstance(above, cst.Comparison | cst.BooleanOperation | cst.SubscriptElement)
                count = isinstance(above, cst.Call) and source(function, above.func) in ("range", "int")
                if test or count or isinstance(above, cst.If | cst.While | cst.IfExp):
                    if above is not node and not _in_body(function, part, above):
                        return Refusal("the number decides what runs")
    same = ast.unparse(ast.parse(f"_[{key}]", mode="eval").body).removeprefix("_[")[:-1]
    if not all(map(_is_arithmetic, _reads_of(file_of(function).tree, same))):
        return Refusal("the number is kept elsewhere, or shown")
    line, column, end = map(int, made.split())
    own = {*binds(owner.body), *(one.name.value for one in parameters(owner))}
    if isinstance(node.value, cst.Name) and node.value.value not in own:
        return Refusal("it is kept in a global, which others read and set back as numbers")
    number = function.source.split("\n")[line - 1][column - 1 : end - 1]
    edit = Edit(function.path, line, column, line, end, f"{torch}.tensor({float(number)})")
    return fix(
        "Start it as a 0-dim tensor, as torch's own optimizers do: Dynamo does not guard on its value. "
        "Assumes that nothing else needs a Python number (a checkpoint that was saved before has one).",
        (edit,),
        "in a tensor",
    )


def _reads_of(tree: ast.Module, key: str) -> Iterator[list[ast.AST]]:
    """Where the file reads an element of that key: the node and what stands around it, the innermost first."""
    pending: list[list[ast.AST]] = [[tree]]
    while pending:
        path = pending.pop()
        node = path[0]
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and ast.unparse(node.slice) == key
        ):
            yield path
        pending += [[child, *path] for child in ast.iter_child_nodes(node)]


def _is_arithmetic(path: list[ast.AST]) -> bool:
    """Whether what is read is computed with, or has a name alone (`k = group["k"]`, before `group["k"] = k + 1`)."""
    outer = path[1]
    if isinstance(outer, ast.Call):
        return ast.unparse(outer.func).startswith("torch.")
    return isinstance(outer, ast.BinOp | ast.UnaryOp | ast.Assign | ast.AugAssign | ast.Expr)


def _in_body(function: FunctionCode, part: cst.CSTNode, above: cst.CSTNode) -> bool:
    """Whether the part stands in what a statement runs, not in what it tests."""
    if not isinstance(above, cst.If | cst.While):
        return False
    here: cst.CSTNode = part
    for outer in ancestors(function, part):
        if outer is above:
            return here is not above.test
        here = outer
    return False


def made_in_init(function: FunctionCode, node: cst.CSTNode, module: bool, tensor: bool) -> tuple[Fix, ...]:
    """The repair of `if self.x is None: self.x = ...`. `module`: the object is one; `tensor`: so is what is kept."""
    return accepted(_in_init(function, node, module, tensor))


def _in_init(function: FunctionCode, node: cst.CSTNode, module: bool, tensor: bool) -> Repaired:
    """`self.x = None` in `__init__` becomes what the first call would put there, as a buffer where it is a tensor.

    Refused where that is made of anything but constants and what `__init__` set before; where the file sets it in
    another place, or asks there whether it is empty, as a mode that one of two branches chooses. Where a `device` or
    `dtype` is asked of an argument, it is left out: a buffer goes where its module goes.
    """
    statement, guard = statement_of(function, node), None
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and statement is not None:
        guard = next((a for a in ancestors(function, statement) if isinstance(a, cst.If)), None)
    if guard is None or guard.orelse is not None or len(guard.body.body) != 1:
        return Refusal("more than one statement fills it")
    assert isinstance(node, cst.Attribute)
    own = source(function, node)
    if source(function, guard.test) not in (f"{own} is None", f"not {own}"):
        return Refusal("more is asked than whether it is empty")
    outer = [*takewhile(lambda one: not isinstance(one, cst.FunctionDef), ancestors(function, guard))]
    if isinstance(outer[0], cst.If) or (not tensor and any(isinstance(one, cst.If) for one in outer)):
        return Refusal("another branch may be taken while it is empty")
    first, _, last, _ = function.range(guard)
    assign = next((n for n in file_of(function).nodes if _assigns(n, first, last)), None)
    init = _init_of(function, first)
    if not isinstance(assign, ast.Assign) or init is None:
        return Refusal("there is no `__init__`")
    me, name = placed_in(init)[0].arg, node.attr.value
    empty = [s for s in init.body if isinstance(s, ast.Assign) and _is_empty(s, me, name)]
    if len(empty) != 1:
        return Refusal("`__init__` does not leave it empty once")
    if _lives_elsewhere(function, name, {*range(first, last + 1), empty[0].lineno}):
        return Refusal("the file sets it elsewhere, or asks whether it is empty")
    value = assign.value
    if isinstance(value, ast.Call):
        given = [
            k
            for k in value.keywords
            if k.arg not in ("device", "dtype") or _is_known(function, k.value, init, me, empty[0])
        ]
        value = ast.copy_location(ast.Call(value.func, value.args, given), value)
    if not _is_known(function, value, init, me, empty[0]):
        return Refusal("it is made of what only a call knows")
    if tensor and not module:
        return Refusal("no module is there to hold a buffer")
    same = ast.get_source_segment(function.source, value) if value is assign.value else None
    made = same if same and "\n" not in same else ast.unparse(value)
    text = f'{me}.register_buffer("{name}", {made}, persistent=False)' if tensor else f"{me}.{name} = {made}"
    edits = (file_of(function).edit(text, empty[0]), Edit(function.path, first, 1, last + 1, 1, ""))
    what = "register it as a buffer" if tensor else "make it there"
    return fix(
        f"Make `{name}` once, in `__init__`: {what}. Assumes that what the first call would find is known then.",
        edits,
    )


def _assigns(node: ast.AST, first: int, last: int) -> bool:
    return isinstance(node, ast.Assign) and first < node.lineno <= last


def _init_of(function: FunctionCode, line: int) -> ast.FunctionDef | None:
    """`__init__` of the class in which the line stands."""
    init = method_in(class_around(function, line), "__init__")
    return init if init is not None and placed_in(init) else None


def _lives_elsewhere(function: FunctionCode, name: str, lines: set[int]) -> bool:
    """Whether the file sets or deletes an attribute of that name outside of these lines, or asks there if it is one."""
    for one in file_of(function).nodes:
        if getattr(one, "lineno", 0) in lines:
            continue
        if isinstance(one, ast.Attribute) and one.attr == name and not isinstance(one.ctx, ast.Load):
            return True
        asked: list[ast.AST] = []
        if isinstance(one, ast.Compare) and any(
            isinstance(part, ast.Constant) and part.value is None for part in (one.left, *one.comparators)
        ):
            asked = [one.left, *one.comparators]
        elif isinstance(one, ast.BoolOp):
            asked = [*one.values]
        elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not):
            asked = [one.operand]
        elif isinstance(one, ast.If | ast.IfExp | ast.While | ast.Assert):
            asked = [one.test]
        if any(isinstance(part, ast.Attribute) and part.attr == name for part in asked):
            return True
    return False


def _is_empty(statement: ast.Assign, me: str, name: str) -> bool:
    [target, *more] = statement.targets
    return (
        not more
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
        and ast.unparse(target) == f"{me}.{name}"
    )


def _is_known(
    function: FunctionCode, value: ast.expr, init: ast.FunctionDef, me: str, before: ast.stmt
) -> bool:
    """Whether it is made of constants, names of the module and attributes that `__init__` set before."""
    own = {
        t.attr
        for s in init.body
        if isinstance(s, ast.Assign) and s.lineno < before.lineno
        for t in s.targets
        if isinstance(t, ast.Attribute)
    }
    bound: set[str] = set()
    for part in ast.walk(value):
        if isinstance(part, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.NamedExpr)):
            return False
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == me:
            if part.attr not in own:
                return False
            bound.add(me)
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - bound
    return all(name in function.imports or name in function.functions or name in PLAIN for name in names)
