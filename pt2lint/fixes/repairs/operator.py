"""A function that NumPy computes on the host, as a custom operator: the graph calls it as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import file_of, first_line
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.text import source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import placed, walk

TAGS = (2, 9)  # from here on measured: custom_op takes tags
_PLAIN = {"int": "SymInt", "float": "float", "bool": "bool", "str": "str"}
_SIZES = re.compile(r"(typing\.)?([Tt]uple|[Ll]ist|Sequence)\[int(,\s*(int|\.\.\.))*\]")
_TENSOR = re.compile(r"(torch\.)?(\w+\.)*\w*Tensor")
_MAKERS = ("numpy.zeros", "numpy.ones", "numpy.full", "numpy.empty")
DTYPES = {
    "bool": "bool", "bool_": "bool", "int": "int64", "int64": "int64", "int32": "int32", "int16": "int16",
    "int8": "int8", "uint8": "uint8", "float": "float64", "float64": "float64", "float32": "float32",
    "float16": "float16",
}  # fmt: skip


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The operator, where the function may be one."""
    return accepted(as_operator(function, node))


@refusing
def as_operator(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """The function that holds the node, registered with `torch.library.custom_op`, and called through one of its old
    name.

    Refused where the function is no plain one of the file with annotated arguments that an operator can take, or
    returns anything but an array that it makes with NumPy in a shape that follows from the arguments.

    Unsafe: it assumes that the function changes none of its arguments.
    """
    owner = enclosing_function(function, node)
    while owner is not None and (outer := enclosing_function(function, owner)) is not None:
        owner = outer
    if owner is None or function.range(owner)[1] != 1 or owner.decorators or owner.asynchronous:
        return Refusal("not in a plain function of the file")
    if not function.text.endswith("\n"):
        return Refusal("the file ends in the function")
    params = owner.params
    if params.star_arg is not cst.MaybeSentinel.DEFAULT or params.kwonly_params or params.star_kwarg:
        return Refusal("the function takes more than plain arguments")
    given = placed(params)
    types: dict[str, str] = {}
    for one in given:
        text = source(function, one.annotation.annotation) if one.annotation is not None else ""
        type_ = schema_type(text)
        if type_ is None:
            return Refusal(f"`{one.name.value}` has no annotation that an operator can take")
        types[one.name.value] = type_
    if not types:
        return Refusal("the function has no arguments")
    name = owner.name.value
    if any(use.name == name for use in uses(owner.body)):
        return Refusal("the function calls itself")
    shape, dtype = _made(function, owner)
    lines = _shape_lines(function, owner, shape, types)
    return _written(function, owner, types, lines, source(function, shape), dtype)


def schema_type(annotation: str) -> str | None:
    """The type in an operator's schema for an annotation: "SymInt", "Tensor?"; None where an operator takes no such."""
    text = annotation.strip("\"' ").replace("typing.", "")
    optional = False
    if text.startswith("Optional[") and text.endswith("]"):
        text, optional = text.removeprefix("Optional[")[:-1].strip(), True
    parts = [part.strip() for part in text.split("|")]
    if len(parts) == 2 and "None" in parts:
        text, optional = next(part for part in parts if part != "None"), True
    elif len(parts) > 1:
        return None
    if text in _PLAIN:
        found = _PLAIN[text]
    elif _SIZES.fullmatch(text) or text == "torch.Size":
        found = "SymInt[]"
    elif _TENSOR.fullmatch(text):
        found = "Tensor"
    else:
        return None
    return found + ("?" if optional else "")


def _made(function: FunctionCode, owner: cst.FunctionDef) -> tuple[cst.BaseExpression, str]:
    """(shape, dtype of torch) of the one array that the function returns: bound once, and changed in place at most."""
    inner = {
        id(part)
        for one in walk(owner.body)
        if isinstance(one, cst.FunctionDef | cst.Lambda)
        for part in walk(one)
    }
    returned = [one.value for one in walk(owner.body) if isinstance(one, cst.Return) and id(one) not in inner]
    names = {one.value if isinstance(one, cst.Name) else "" for one in returned}
    if len(names) != 1 or "" in names:
        raise Refused("the function does not return one array by its name")
    name = names.pop()
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == name]
    statement = function.parent(function.parent(bound[0]) or bound[0]) if len(bound) == 1 else None
    call = statement.value if isinstance(statement, cst.Assign) else None
    if (
        not isinstance(call, cst.Call)
        or (qualified(function, call.func) or "") not in _MAKERS
        or not call.args
    ):
        raise Refused(f"`{name}` is not made once, by NumPy, in a shape that can be read")
    first = call.args[0]
    if first.star or (first.keyword is not None and first.keyword.value != "shape"):
        raise Refused(f"the shape of `{name}` cannot be read")
    dtype = next(
        (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "dtype"), None
    )
    at = 2 if (qualified(function, call.func) or "").endswith("full") else 1
    if dtype is None and len(call.args) > at and call.args[at].keyword is None:
        dtype = call.args[at].value
    if dtype is None:
        if at == 2:
            raise Refused(f"the dtype of `{name}` cannot be read")
        return first.value, "float64"
    known = DTYPES.get(source(function, dtype).strip("\"'").rpartition(".")[2])
    if known is None:
        raise Refused(f"the dtype of `{name}` cannot be read")
    return first.value, known


def _shape_lines(
    function: FunctionCode, owner: cst.FunctionDef, shape: cst.BaseExpression, types: Mapping[str, str]
) -> list[str]:
    """The statements of the function that its result's shape is computed by, in order."""
    statements = [one for one in owner.body.body if isinstance(one, cst.SimpleStatementLine)]
    wanted = [use.name for use in uses(shape)]
    taken: set[int] = set()
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in seen or name in ("len", "min", "max", "int"):
            continue
        seen.add(name)
        bound = [use for use in uses(owner.body) if use.binds and use.name == name]
        if name in types and not bound:
            continue
        at = next(
            (
                number
                for number, one in enumerate(statements)
                if len(one.body) == 1
                and isinstance(one.body[0], cst.Assign)
                and any(use.node is bound[0].node for use in uses(one) if use.binds)
            ),
            None,
        ) if len(bound) == 1 else None  # fmt: skip
        if at is None:
            raise Refused(f"the shape depends on `{name}`, which does not follow from the arguments")
        assign = cst.ensure_type(statements[at].body[0], cst.Assign)
        if effect(assign.value) is not None or any(
            isinstance(one, cst.Await | cst.NamedExpr) for one in walk(assign)
        ):
            raise Refused("computing the shape has an effect")
        taken.add(at)
        wanted += [use.name for use in uses(assign.value) if not use.binds]
    return [source(function, statements[at].body[0]) for at in sorted(taken)]


def _written(
    function: FunctionCode,
    owner: cst.FunctionDef,
    types: Mapping[str, str],
    lines: list[str],
    shape: str,
    dtype: str,
) -> Repaired:
    name, indent = owner.name.value, function.module.default_indent
    private = name if name.startswith("_") else "_" + name
    host, operator = f"{private}_on_host", f"{private}_operator"
    text = function.source or function.text
    if "apart" in types or any(re.search(rf"\b{taken}\b", text) for taken in (host, operator)):
        return Refusal("a name that the repair needs is taken")
    end = function.range(owner)[2] + 1
    torch, imports = torch_name(function, "torch", end)
    names = ", ".join(types)
    passed = ", ".join(_as_given(function, owner, one, type_) for one, type_ in types.items())
    body = [f"return {torch}.from_numpy({host}({passed}))"]
    fake = [*lines, f"return {torch}.empty({shape}, dtype={torch}.{dtype})"]
    after = f"""

{host_operator(function, torch, operator, name, types, body, fake)}

{_signature(function, owner)}
{indent}# An empty tensor of its own for each call: of two calls that look alike the compiler would make one.
{indent}return {operator}({torch}.empty(0), {names}).numpy()
"""
    line, column, _, _ = function.range(owner.name)
    edits = (
        *imports,
        Edit(function.path, line, column, line, column + len(name), host),
        Edit(function.path, end, 1, end, 1, after),
    )
    return fix(
        f"Make `{name}` a custom operator, which the graph calls as it is: the same numbers from the same generator, "
        "computed on the host at each call. It assumes that the function changes none of its arguments.",
        edits,
    )


def host_operator(
    function: FunctionCode,
    torch: str,
    operator: str,
    title: str,
    types: Mapping[str, str],
    body: Iterable[str],
    fake: Iterable[str],
) -> str:
    """The lines of a custom operator, `title` in its namespace, that is given an empty tensor `apart` and arguments of
    these types of a schema: `body` is its code, `fake` that of its fake. `torch` is what the file calls torch."""
    indent = function.module.default_indent
    schema = ", ".join(["Tensor apart", *(f"{type_} {one}" for one, type_ in types.items())])
    given = ", ".join(["apart", *types])
    tags = f"{indent}tags=({torch}.Tag.nondeterministic_seeded,),\n" if function.target >= TAGS else ""
    code, shape = ("\n".join(indent + one if one else "" for one in lines) for lines in (body, fake))
    return f"""@{torch}.library.custom_op(
{indent}"{namespace(function)}::{title.strip("_")}",
{indent}mutates_args=(),
{indent}schema="({schema}) -> Tensor",
{tags})
def {operator}({given}):
{code}


@{operator}.register_fake
def _({given}):
{shape}
"""


def line_above(function: FunctionCode, owner: cst.FunctionDef) -> int | None:
    """The line of what stands at the top of the file and holds the function: an operator is written above it."""
    return next(
        (
            first_line(one)
            for one in file_of(function).tree.body
            if isinstance(one, ast.FunctionDef | ast.ClassDef)
            and one.lineno <= function.range(owner)[0] <= (one.end_lineno or 0)
        ),
        None,
    )


def namespace(function: FunctionCode) -> str:
    """The namespace of the operators of a file."""
    return re.sub(r"\W", "_", Path(function.path).stem)


def _as_given(function: FunctionCode, owner: cst.FunctionDef, name: str, type_: str) -> str:
    """An argument as the function expects it: an operator gets its sizes as a list."""
    if type_ != "SymInt[]":
        return name
    for one in placed(owner.params):
        if one.name.value == name and one.annotation is not None:
            text = source(function, one.annotation.annotation).lower()
            return f"tuple({name})" if "tuple" in text else name
    return name


def _signature(function: FunctionCode, owner: cst.FunctionDef) -> str:
    """The `def` of the function as it is written, down to its colon."""
    bare = owner.with_changes(leading_lines=(), body=cst.SimpleStatementSuite([cst.Pass()]))
    return function.module.code_for_node(bare).rstrip().removesuffix("pass").rstrip()
