"""Arrays that NumPy draws in the middle of a function: by a custom operator, which the graph calls as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import file_of
from pt2lint.fixes.kinds import Kind, guess, words
from pt2lint.fixes.layout import broken
from pt2lint.fixes.purity import callee
from pt2lint.fixes.repairs.operator import DTYPES, host_operator, line_above, schema_type
from pt2lint.fixes.rewrite import (
    Refusal,
    Refused,
    Repaired,
    accepted,
    ancestors,
    arguments,
    binds,
    block_of,
    enclosing_function,
    fix,
    imported_as,
    in_parentheses,
    live_after,
    parameters,
    qualified,
    reads,
    refusing,
    replaced,
    source,
    torch_name,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk

_PLAIN = words("len min max int float abs round range bool True False None")
_SAME = words("copy sort flip abs roll permutation ascontiguousarray")  # as long, and of the same dtype
_MAKERS = words("zeros ones empty random.rand random.randn random.random")
_OTHER = (
    cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Lambda, cst.Await, cst.Yield, cst.NamedExpr, cst.BaseComp
)  # fmt: skip
_APART = (
    "# An empty tensor of its own for each call: of two calls that look alike the compiler would make one."
)
_TYPES = {"int": "SymInt", "float": "float", "bool": "bool"}
# How long an array of one dimension is: an expression of the inputs, and how many more; and the name of its dtype.
Shape: TypeAlias = "tuple[str, int, str]"


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The operator of the statements that the node is among."""
    return accepted(as_operator(function, node))


@refusing
def as_operator(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """The statements that make one array with NumPy, and draw random numbers for it, as a function above, registered
    with `torch.library.custom_op`.

    Refused where they make more than one name that is read later, do anything but to compute with NumPy and plain
    numbers, or it does not follow from the numbers that go in how long the array is.
    """
    kind = guess(function)
    region = _region(function, node)
    owner = enclosing_function(function, node)
    if region is None or owner is None:
        return Refusal("no array is made by NumPy alone")
    made = [name for name in binds(*region) if live_after(function, name, region)]
    if len(made) != 1:
        return Refusal("not one array is made")
    [name] = made
    types, attributes, assumed = _inputs(function, region, kind)
    found: dict[str, Shape] = {}
    if not _follow(function, region, found, types) or name not in found:
        return Refusal("how long the array is does not follow from the numbers that go in")
    if not set(assumed) <= set(re.findall(r"\w+", found[name][0])):
        return Refusal("of what goes in it is not known that it is a number")
    return _written(function, owner, region, name, found[name], types, attributes, assumed)


def _region(function: FunctionCode, node: cst.CSTNode) -> list[cst.CSTNode] | None:
    """The statements around the node, in one block of the function, that NumPy alone computes."""
    owner = enclosing_function(function, node)
    statement = next(
        (
            one
            for one in (node, *ancestors(function, node))
            if owner is not None and function.parent(one) is owner.body
        ),
        None,
    )
    place = block_of(function, statement) if statement is not None else None
    if place is None or not _of_numpy(function, place[0][place[1]], ()):
        return None
    block, first = place
    last = first
    while (
        first
        and set(binds(block[first - 1])) & reads(*block[first : last + 1])
        and _of_numpy(function, block[first - 1], ())
    ):
        first -= 1
    while last + 1 < len(block):
        after = block[last + 1]
        known = binds(*block[first : last + 1])
        if not set(binds(after)) & set(known) or not _of_numpy(function, after, known):
            break
        last += 1
    return list(block[first : last + 1])


def _of_numpy(function: FunctionCode, statement: cst.CSTNode, known: Sequence[str]) -> bool:
    """Whether all that the statement does is to compute with NumPy and plain numbers."""
    own = {*known, *binds(statement)}
    numpy = False
    for one in walk(statement):
        if isinstance(one, cst.Call):
            name = qualified(function, one.func) or ""
            method = (
                isinstance(one.func, cst.Attribute) and reads(one.func.value) <= own and reads(one.func.value)
            )
            if name.startswith(("numpy.", "math.")) and not name.startswith("numpy.random.seed"):
                numpy = True
            elif not method and not (isinstance(one.func, cst.Name) and one.func.value in _PLAIN):
                return False
        elif isinstance(one, cst.AssignTarget | cst.AnnAssign | cst.AugAssign):
            if not isinstance(one.target, cst.Name | cst.Subscript):
                return False
        elif isinstance(one, _OTHER) and not isinstance(one, cst.Assign | cst.If | cst.Pass):
            return False
    return numpy


def _inputs(
    function: FunctionCode, region: Sequence[cst.CSTNode], kind: Kind
) -> tuple[dict[str, str], list[cst.Attribute], list[str]]:
    """The types of the plain numbers that go in, by name; the attributes of `self` among them; and which of these are
    only taken for whole numbers."""
    types: dict[str, str] = {}
    attributes: list[cst.Attribute] = []
    assumed: list[str] = []
    owner = enclosing_function(function, region[0])
    notes = {
        param.name.value: source(function, param.annotation.annotation)
        for param in (parameters(owner) if owner is not None else ())
        if param.annotation is not None
    }
    defaults = {
        param.name.value: source(function, param.default)
        for param in (parameters(owner) if owner is not None else ())
        if param.default is not None
    }
    own = set(binds(*region))
    for one in (one for statement in region for one in walk(statement)):
        parent = function.parent(one)
        if isinstance(one, cst.Attribute) and is_name(one.value, "self"):
            type_ = "bool" if one.attr.value == "training" else _TYPES.get(kind(one), "")
            name = one.attr.value
            if isinstance(parent, cst.Call) or not type_:
                raise Refused(f"of `self.{name}` it is not known that it is a number")
            attributes.append(one)
        elif isinstance(one, cst.Name) and not (isinstance(parent, cst.Attribute) and parent.attr is one):
            name = one.value
            if isinstance(parent, cst.Arg) and parent.keyword is one:
                continue
            if name in own or name in function.imports or name in _PLAIN or name == "self":
                continue
            word = kind(one)
            type_ = schema_type(notes.get(name, "")) or _TYPES.get(
                word, "" if word != "unknown" else "SymInt"
            )
            if type_ not in _TYPES.values():
                raise Refused(f"`{name}` is no number")
            if word == "unknown" and name not in notes:
                if isinstance(parent, cst.Subscript) or defaults.get(name) == "None":
                    raise Refused(f"`{name}` may be no number")
                assumed += [name] if name not in assumed else []
        else:
            continue
        if types.setdefault(name, type_) != type_:
            raise Refused(f"`{name}` is two things")
    return types, attributes, assumed


def _follow(
    function: FunctionCode, statements: Iterable[cst.CSTNode], found: dict[str, Shape], types: dict[str, str]
) -> bool:
    """Take up the shapes that the statements give their names; whether all of them are known."""
    for one in statements:
        if isinstance(one, cst.If):
            sides = [dict(found), dict(found)]
            orelse = one.orelse.body.body if isinstance(one.orelse, cst.Else) else ()
            if isinstance(one.orelse, cst.If) or not all(
                _follow(function, body, side, types)
                for body, side in zip((one.body.body, orelse), sides, strict=True)
            ):
                return False
            if any(sides[0][name] != sides[1].get(name) for name in sides[0]):
                return False
            found |= sides[0]
        elif isinstance(one, cst.SimpleStatementLine):
            for small in one.body:
                if isinstance(small, cst.Assign) and all(
                    isinstance(t.target, cst.Name) for t in small.targets
                ):
                    shape = _shape(function, small.value, found, types)
                    if shape is None:
                        return False
                    for target in small.targets:
                        found[cst.ensure_type(target.target, cst.Name).value] = shape
                elif not isinstance(small, cst.Pass):
                    return False
        else:
            return False
    return True


def _shape(
    function: FunctionCode, node: cst.BaseExpression, found: dict[str, Shape], types: dict[str, str]
) -> Shape | None:
    if isinstance(node, cst.Name):
        return found.get(node.value)
    if isinstance(node, cst.UnaryOperation):
        return _shape(function, node.expression, found, types)
    if isinstance(node, cst.BinaryOperation | cst.Comparison):
        if isinstance(node, cst.Comparison):
            sides, divides = [node.left, *(one.comparator for one in node.comparisons)], False
        else:
            sides, divides = [node.left, node.right], isinstance(node.operator, cst.Divide)
        shapes = [_shape(function, one, found, types) for one in sides]
        arrays = [one for one in shapes if one is not None]
        numbers = [one for one, shape in zip(sides, shapes, strict=True) if shape is None]
        if (
            not arrays
            or len({one[:2] for one in arrays}) > 1
            or not all(_number(one, types) for one in numbers)
        ):
            return None
        if isinstance(node, cst.Comparison):
            return (*arrays[0][:2], "bool")
        whole = all(one[2] == "int64" for one in arrays) and all(
            _number(one, types) == "int" for one in numbers
        )
        return (*arrays[0][:2], "int64" if whole and not divides else "float64")
    if (
        isinstance(node, cst.Subscript)
        and len(node.slice) == 1
        and isinstance(node.slice[0].slice, cst.Slice)
    ):
        shape, cut = _shape(function, node.value, found, types), node.slice[0].slice
        bounds = [
            source(function, one) if one is not None else "" for one in (cut.lower, cut.upper, cut.step)
        ]
        if shape is None or bounds[2] not in ("", "1", "-1"):
            return None
        if bounds[:2] == ["", ""]:
            return shape
        if bounds[2] != "-1" and re.fullmatch(r"\d*", bounds[0]) and re.fullmatch(r"(-\d+)?", bounds[1]):
            return (shape[0], shape[1] - int(bounds[0] or 0) + int(bounds[1] or 0), shape[2])
        return None
    return _call(function, node, found, types) if isinstance(node, cst.Call) else None


def _call(
    function: FunctionCode, node: cst.Call, found: dict[str, Shape], types: dict[str, str]
) -> Shape | None:
    name = (qualified(function, node.func) or "").removeprefix("numpy.")
    plain, named = arguments(node) or ([], {})
    first = _shape(function, plain[0], found, types) if plain else None
    given = named.get("dtype")
    dtype = None
    if given is not None:
        dtype = DTYPES.get(source(function, given).strip("\"'").rpartition(".")[2])
        if dtype is None:
            return None

    def text(one: cst.BaseExpression) -> str | None:
        return source(function, one) if _number(one, types) == "int" else None

    if isinstance(node.func, cst.Attribute) and not qualified(function, node.func):
        inner = _shape(function, node.func.value, found, types)
        if inner is not None and callee(node) == "astype" and len(plain) == 1:
            known = DTYPES.get(source(function, plain[0]).strip("\"'").rpartition(".")[2])
            return (*inner[:2], known) if known else None
        return inner if callee(node) == "copy" else None
    if name == "arange" and 1 <= len(plain) <= 3:
        bounds = [text(one) for one in plain]
        if None in bounds:
            return None
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        count = str(stop) if start == "0" else f"{stop} - {in_parentheses(str(start))}"
        if len(bounds) == 3:
            count = f"-(-{in_parentheses(count)} // {in_parentheses(str(bounds[2]))})"
        return (count, 0, dtype or "int64")
    size = named.get("size")
    if name in _MAKERS and len(plain) + (size is not None) == 1:
        length = text(size if size is not None else plain[0])
        return (length, 0, dtype or "float64") if length is not None else None
    at = {"random.randint": 2, "random.choice": 1, "random.uniform": 2, "random.normal": 2}.get(name)
    if at is not None and plain:
        asked = size if size is not None else plain[at] if len(plain) > at else None
        length = text(asked) if asked is not None else None
        made = "float64" if name in ("random.uniform", "random.normal") else "int64"
        if name == "random.choice":
            if first is None and _number(plain[0], types) != "int":
                return None
            made = first[2] if first is not None else made
        return (length, 0, dtype or made) if length is not None else None
    if name == "random.permutation" and plain and first is None:
        length = text(plain[0])
        return (length, 0, "int64") if length is not None else None
    if first is None:
        return None
    if name in ("insert", "append") and len(plain) == (3 if name == "insert" else 2):
        added = _number(plain[-1], types)
        fits = added == "int" or (added == "float" and first[2] == "float64")
        return (first[0], first[1] + 1, first[2]) if fits else None
    last = name.rpartition(".")[2]
    return first if last in _SAME else None


def _number(node: cst.BaseExpression, types: dict[str, str]) -> str | None:
    """ "int" or "float" of what surely is a plain number made of the inputs."""
    if isinstance(node, cst.Integer):
        return "int"
    if isinstance(node, cst.Float):
        return "float"
    if isinstance(node, cst.Name):
        return {"SymInt": "int", "float": "float", "bool": "bool"}.get(types.get(node.value, ""))
    if isinstance(node, cst.UnaryOperation):
        return _number(node.expression, types)
    if isinstance(node, cst.BinaryOperation):
        sides = [_number(node.left, types), _number(node.right, types)]
        if None in sides or isinstance(node.operator, cst.Divide):
            return None if None in sides else "float"
        return "int" if sides == ["int", "int"] else "float"
    return None


def _written(
    function: FunctionCode,
    owner: cst.FunctionDef,
    region: Sequence[cst.CSTNode],
    name: str,
    shape: Shape,
    types: dict[str, str],
    attributes: Sequence[cst.Attribute],
    assumed: Sequence[str],
) -> Repaired:
    indent = function.module.default_indent
    text = function.source or function.text
    operator = f"_{owner.name.value.strip('_')}_{name}"
    if "apart" in types or re.search(rf"\b{operator}\b", text) or not function.source:
        return Refusal("a name that the repair needs is taken")
    above = line_above(function, owner)
    if above is None:
        return Refusal("the function stands in no function or class of the file")
    torch, imports = torch_name(function, "torch", above)
    numpy = imported_as(function, "numpy")
    if numpy is None:
        return Refusal("the file does not import NumPy")
    first = region[0]
    blank = 0
    for empty in getattr(first, "leading_lines", ()):
        if empty.comment:
            break
        blank += 1
    lines = "".join(
        function.module.code_for_node(replaced(one, {each: cst.Name(each.attr.value) for each in attributes}))
        for one in region
    ).splitlines()[blank:]  # fmt: skip
    deep = len(lines[0]) - len(lines[0].lstrip())
    body = [one[deep:] if one.strip() else "" for one in lines]
    body.append(f"return {torch}.from_numpy({numpy}.ascontiguousarray({name}))")
    length = shape[0] if not shape[1] else f"{shape[0]} {'+' if shape[1] > 0 else '-'} {abs(shape[1])}"
    fake = [f"return {torch}.empty({length}, dtype={torch}.{shape[2]})"]
    made = host_operator(function, torch, operator, operator, types, body, fake) + "\n\n"
    given = ", ".join(
        next((source(function, each) for each in attributes if each.attr.value == one), one) for one in types
    )
    file = file_of(function)
    begin = function.range(first)[0] - len(getattr(first, "leading_lines", ())[blank:])
    end = function.range(region[-1])[2] + (function.range(region[-1])[3] > 1)
    space_before = " " * (function.range(first)[1] - 1)
    call = [
        f"{space_before}{_APART}",
        *broken(
            f"{space_before}{name} = {operator}({torch}.empty(0), {given}).numpy()", file.line_length, indent
        ),
    ]
    said = " and ".join(f"`{one}`" for one in assumed)
    whole = (
        f" It assumes that {said} {'is a whole number' if len(assumed) == 1 else 'are whole numbers'}."
        if said
        else ""
    )
    return fix(
        f"Make `{name}` by a custom operator, which the graph calls as it is: the same numbers from the same "
        f"generator, computed on the host at each call.{whole}",
        (
            *imports,
            Edit(function.path, above, 1, above, 1, made),
            Edit(function.path, begin, 1, end, 1, "".join(one + "\n" for one in call)),
        ),
        "once proven",
    )
