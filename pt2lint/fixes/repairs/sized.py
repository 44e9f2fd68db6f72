"""Tensors where torch needs a number: a size that torch finds itself, a value that a tensor may be elsewhere."""

from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import definition
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, guess
from pt2lint.fixes.nodes import enclosing_function, named_argument
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the call that the node is."""
    if not isinstance(node, cst.Call):
        return ()
    kind = guess(function)
    return accepted(
        inferred(function, node, kind),
        filled(function, node),
        scaled(function, node),
        repeated(function, node, kind),
    )


def inferred(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`x.view(len(x), n)` as `x.view(len(x), -1)`, where `n` is a tensor: there is one size that fits, and torch finds
    it.

    Refused where another size is -1 or a tensor too.
    """
    if callee(node) not in ("view", "reshape"):
        return Refusal("nothing is given another shape")
    of_torch = qualified(function, node.func) == "torch.reshape"
    given = [a for a in node.args if a.keyword is None and not a.star][1 if of_torch else 0 :]
    if len(given) != len(node.args) - of_torch:
        return Refusal("the sizes do not stand one by one")
    sizes = [a.value for a in given]
    if len(sizes) == 1 and isinstance(sizes[0], cst.Tuple | cst.List):
        if any(isinstance(e, cst.StarredElement) for e in sizes[0].elements):
            return Refusal("the sizes do not stand one by one")
        sizes = [e.value for e in sizes[0].elements]
    known = [s for s in sizes if not kind(s).startswith("tensor")]
    asked = [s for s in sizes if kind(s).startswith("tensor")]
    if len(asked) != 1 or effect(asked[0]):
        return Refusal("not one size is a tensor")
    # A minus alone, in whatever brackets and beside whatever comments: no size is less than -1.
    if any(isinstance(s, cst.UnaryOperation) for s in known):
        return Refusal("another size is left to torch already")
    return fix(
        f"Let torch find the size: only one fits. Assumes that `{source(function, asked[0])}` is that size, and that "
        "the tensor is not empty.",
        rewrite(function, {asked[0]: cst.parse_expression("-1"), **_made_for(function, asked[0])}),
    )


def _made_for(function: FunctionCode, node: cst.BaseExpression) -> dict[cst.CSTNode, New]:
    """The assignment that makes the name, to be removed, where nothing else reads it and it has no effect."""
    owner = enclosing_function(function, node)
    if owner is None or not isinstance(node, cst.Name):
        return {}
    named = [part for part in walk(owner.body) if is_name(part, node.value)]
    made = [
        line
        for part in named
        if isinstance(target := function.parent(part), cst.AssignTarget)
        and isinstance(assign := function.parent(target), cst.Assign)
        and isinstance(line := function.parent(assign), cst.SimpleStatementLine)
        and len(line.body) == len(assign.targets) == 1
        and effect(assign.value) is None
    ]
    return {made[0]: None} if len(named) == 2 and len(made) == 1 else {}


def _surely_given(function: FunctionCode, value: cst.BaseExpression) -> bool:
    """Whether a dtype or device is none that may be None: `x.device`, `torch.float32`, "cuda", `torch.device(...)`."""
    if isinstance(value, cst.Call):
        value = value.func
    named = qualified(function, value) or ""
    return (
        isinstance(value, cst.SimpleString)
        or named.startswith("torch.")
        or (isinstance(value, cst.Attribute) and value.attr.value in ("dtype", "device"))
    )


def filled(function: FunctionCode, node: cst.Call) -> Repaired:
    """`torch.full_like(x, t)` and `x.new_full(size, t)` as `torch.full`, which takes a tensor without dimensions."""
    name, last = qualified(function, node.func), callee(node)
    values = {a.keyword.value if a.keyword else i: a.value for i, a in enumerate(node.args) if not a.star}
    if len(values) != len(node.args):
        return Refusal("arguments are unpacked")
    if name == "torch.full_like":
        like, size = values.pop(0, values.pop("input", None)), None
        value = values.pop(1, values.pop("fill_value", None))
    elif last == "new_full" and isinstance(node.func, cst.Attribute):
        like, size = node.func.value, values.pop(0, values.pop("size", None))
        value = values.pop(1, values.pop("fill_value", None))
        if size is None:
            return Refusal("no size is given")
    else:
        return Refusal("nothing is filled")
    if like is None or value is None or effect(like) or set(values) - {"dtype", "device", "requires_grad"}:
        return Refusal("what it is like has an effect, or more is asked")
    if any(not _surely_given(function, values[name]) for name in ("dtype", "device") if name in values):
        return Refusal(
            "the dtype or device may be None, which is that of the tensor here and the default of torch there"
        )
    x = in_parentheses(source(function, like))
    shape = source(function, size) if size is not None else f"{x}.shape"
    dtype = source(function, values["dtype"]) if "dtype" in values else f"{x}.dtype"
    device = source(function, values["device"]) if "device" in values else f"{x}.device"
    more = f", requires_grad={source(function, values['requires_grad'])}" if "requires_grad" in values else ""
    full, imports = torch_name(function, "torch.full")
    text = f"{full}({shape}, {source(function, value)}, dtype={dtype}, device={device}{more})"
    return fix(
        f"Fill by `torch.full`, which takes a tensor for the value. Assumes that `{source(function, value)}` has no "
        "dimensions.",
        (*imports, *rewrite(function, {node: cst.parse_expression(text)})),
    )


def repeated(function: FunctionCode, node: cst.Call, kind: Kind) -> Repaired:
    """`torch.repeat_interleave(x, torch.tensor(counts))` with `output_size=sum(counts)`, where `counts` is a list of
    numbers of Python: how many come of it is known before the tensor is.

    The same for `x.repeat_interleave(...)`. Refused where `counts` may be a tensor, or one number. Unsafe: of one count
    for all, the sum is not how many come of it.
    """
    if callee(node) != "repeat_interleave":
        return Refusal("nothing is repeated")
    if any(arg.star or (arg.keyword and arg.keyword.value == "output_size") for arg in node.args):
        return Refusal("arguments are unpacked, or the size is given")
    of_torch = qualified(function, node.func) == "torch.repeat_interleave"
    plain = [arg.value for arg in node.args if arg.keyword is None]
    named = [arg.value for arg in node.args if arg.keyword is not None and arg.keyword.value == "repeats"]
    found = [*named, *(plain[1:] if of_torch else plain)]
    counts = found[0] if found else None
    if (
        not isinstance(counts, cst.Call)
        or qualified(function, counts.func) != "torch.tensor"
        or not counts.args
    ):
        return Refusal("the counts are no list that is made a tensor there")
    given = counts.args[0].value
    if counts.args[0].keyword is not None or effect(given) or not isinstance(given, cst.Name | cst.Attribute):
        return Refusal("the counts are computed there")
    if kind(given).startswith("tensor") or "tensor" in kind(given):
        return Refusal(f"`{source(function, given)}` is no list of numbers")
    if not kind(given).startswith(("list", "tuple")) and not _is_several(function, given):
        return Refusal(f"`{source(function, given)}` may be one number")
    size = named_argument("output_size", cst.parse_expression(f"sum({source(function, given)})"))
    last = node.args[-1]
    comma = last.comma if isinstance(last.comma, cst.Comma) else None
    after = comma or cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    between = (
        node.args[-2].comma if len(node.args) > 1 else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    )
    args = [*node.args[:-1], last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))]
    args.append(
        size.with_changes(comma=after)
        if comma
        else size.with_changes(whitespace_after_arg=last.whitespace_after_arg)
    )
    return fix(
        f"Say how many come of it: `{source(function, given)}` is known before the tensor is. It assumes that it is a "
        "list of numbers of Python, one for each that is repeated.",
        rewrite(function, {node: node.with_changes(args=args)}),
    )


def _is_several(function: FunctionCode, given: cst.Name | cst.Attribute) -> bool:
    """Whether it is surely no number: it is made as a list, or the file asks for its length, adds it up or goes over
    it."""
    made = definition(function, given) if isinstance(given, cst.Name) else None
    if isinstance(made, cst.List | cst.Tuple | cst.ListComp):
        return True
    if isinstance(made, cst.Call) and callee(made) in ("tolist", "list", "tuple"):
        return True
    text = source(function, given)
    for node in file_of(function).nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OF_SEVERAL:
            asked = node.args
        elif isinstance(node, ast.For | ast.comprehension):
            asked = [node.iter]
        else:
            continue
        if any(ast.unparse(one) == text for one in asked):
            return True
    return False


_OF_SEVERAL = ("len", "sum", "max", "min", "list", "tuple", "enumerate", "zip", "sorted")


def scaled(function: FunctionCode, node: cst.Call) -> Repaired:
    """`torch.add(x, y, alpha=t)` as `x + t * y`."""
    last = callee(node)
    if last not in ("add", "sub") or not isinstance(node.func, cst.Attribute):
        return Refusal("nothing is scaled")
    given = [a.value for a in node.args if a.keyword is None and not a.star]
    if qualified(function, node.func) not in ("torch.add", "torch.sub"):
        given = [node.func.value, *given]
    alpha = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "alpha"]
    if len(given) != 2 or len(alpha) != 1 or any(a.keyword and a.keyword.value != "alpha" for a in node.args):
        return Refusal("it is given more than two tensors and a factor")
    x, y, factor = (in_parentheses(source(function, one)) for one in (*given, *alpha))
    sign = "+" if last == "add" else "-"
    text = f"{x} {sign} {factor} * {y}"
    alone = isinstance(function.parent(node), cst.Return | cst.Assign | cst.Arg)
    new = cst.parse_expression(text if alone else f"({text})")
    return fix(
        f"Multiply by the tensor itself: `alpha` has to be a number. Assumes that {factor} has no dimensions and no "
        "wider dtype.",
        rewrite(function, {node: new}),
    )
