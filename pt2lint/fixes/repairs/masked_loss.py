"""Elements selected by a mask only to take their mean loss: all elements instead, neutral outside the mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.kinds import Kind, guess, told, words
from pt2lint.fixes.names import binds, fresh, reads, uses
from pt2lint.fixes.nodes import ancestors, assigned, block_of, enclosing_function, statement_of
from pt2lint.fixes.purity import effect
from pt2lint.fixes.repaired import Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.repairs.mask import ELEMENTWISE, made_of, masked_of
from pt2lint.fixes.rewrite import New, rewrite
from pt2lint.fixes.text import in_parentheses, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, is_name, says_none


@dataclass(frozen=True)
class _Loss:
    """How to keep elements out of a loss: what to put in their place (None: leave them), and whether the mean has to
    be scaled to the elements that count. `rows`: of the operand a mask leaves rows of classes, of the target a list."""

    operand: str | None
    target: str
    scaled: bool = True
    rows: bool = False


# Element by element, and zero for these operands. A cross entropy leaves out the targets -100 by itself.
_ZERO = _Loss("0", "0")
_LOGITS = _Loss("-3e4", "0")  # exp(-3e4) is zero; float16 holds the number
_CLASSES = _Loss(None, "-100", scaled=False, rows=True)
_LOSSES = {
    **dict.fromkeys(words("l1_loss mse_loss smooth_l1_loss huber_loss binary_cross_entropy"), _ZERO),
    "binary_cross_entropy_with_logits": _LOGITS,
    **dict.fromkeys(words("cross_entropy nll_loss"), _CLASSES),
}
_MODULES = {
    **{f"torch.nn.{name}": _ZERO for name in words("L1Loss MSELoss SmoothL1Loss HuberLoss BCELoss")},
    "torch.nn.BCEWithLogitsLoss": _LOGITS,
    **{f"torch.nn.{name}": _CLASSES for name in words("CrossEntropyLoss NLLLoss")},
}


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The one repair, where the node is a selection by a mask."""
    return accepted(mask_in_loss(function, node))


@refusing
def mask_in_loss(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`loss(x[mask], y[mask])` as `loss(torch.where(mask, x, 0), torch.where(mask, y, 0))`, times what the zeros
    lower the mean by.

    Also where `x = x.masked_select(mask)` stands before it, under a plain `if` or not; all such selections of the
    block then go together. Refused where anything else is done with what was selected than arithmetic element by
    element.
    """
    kind = guess(function)
    call = _loss_around(function, node)
    return _within(function, call, kind) if call is not None else _Block(function, node, kind).rewritten()


def _loss_around(function: FunctionCode, node: cst.CSTNode) -> cst.Call | None:
    """The call of a loss that a selection is an operand of."""
    arg = function.parent(node)
    call = function.parent(arg) if isinstance(arg, cst.Arg) else None
    return call if isinstance(call, cst.Call) and _loss(function, call) else None


def _loss(function: FunctionCode, call: cst.Call) -> _Loss | None:
    """The loss that a call takes the mean, or the sum, of, with two operands (modules are taken to take the mean)."""
    name = qualified(function, call.func) or ""
    found = (
        _LOSSES.get(callee(call)) if name.startswith("torch.") else _MODULES.get(told(function, call.func))
    )
    told_by = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    plain = all(not arg.star and (arg.keyword is None) == (at < 2) for at, arg in enumerate(call.args))
    if found is None or len(call.args) < 2 or not plain or told_by.keys() & {"size_average", "reduce"}:
        return None
    if (reduction := told_by.get("reduction")) is not None:
        how = reduction.evaluated_value if isinstance(reduction, cst.SimpleString) else None
        if how not in ("mean", "sum"):
            return None
        found = replace(found, scaled=found.scaled and how == "mean")
    if "weight" in told_by and (not found.rows or "label_smoothing" in told_by):
        return None
    if (ignored := told_by.get("ignore_index")) is not None:
        if effect(ignored):
            return None
        found = replace(found, target=source(function, ignored))
    return found


def _within(function: FunctionCode, call: cst.Call, kind: Kind) -> Repaired:
    both = [masked_of(function, arg.value) for arg in call.args[:2]]
    if both[0] is None or both[1] is None:
        raise Refused("only one operand is selected")
    masks = [source(function, one[1]) for one in both if one is not None]
    if masks[0] != masks[1] or any(effect(part) for one in both if one for part in one):
        raise Refused("the operands are selected by different masks")
    if kind(both[0][1]) != "tensor:bool" and callee(call) != "masked_select":
        raise Refused("the index is not known to be a mask")
    if both[1] is not None:
        _must_be_classes(function, call, kind(both[1][0]))
    where, imports = torch_name(function, "torch.where")
    texts = [source(function, one[0]) for one in both if one]
    new = _scaled(
        function, call, where, texts, masks[0], [_dimensions(function, arg.value) for arg in call.args[:2]]
    )
    used = f"{where}(" in source(function, new)
    loss = _loss(function, call)
    sure = (loss is not None and loss.rows) or any(_has_shape(function, arg.value) for arg in call.args[:2])
    return _fix(function, {call: new}, imports if used else (), sure)


def _must_be_classes(function: FunctionCode, call: cst.Call, target: str) -> None:
    """Raise Refused where a cross entropy is given probabilities in place of classes: it leaves none of them out."""
    loss = _loss(function, call)
    if loss is not None and loss.rows and target.startswith("tensor:float"):
        raise Refused("the cross entropy is given probabilities")


def _scaled(
    function: FunctionCode,
    call: cst.Call,
    where: str,
    operands: Sequence[str],
    mask: str,
    dimensions: Sequence[int | None],
) -> cst.BaseExpression:
    """The loss of both operands, neutral outside the mask, as the mean over the mask; `dimensions` are theirs, where
    known."""
    text = in_parentheses(mask)
    loss = _loss(function, call)
    assert loss is not None
    given = [
        one if fill is None or _is_mask_of(mask, one, fill) else f"{where}({mask}, {one}, {fill})"
        for one, fill in zip(operands, (loss.operand, loss.target), strict=True)
    ]
    if loss.rows and dimensions[0] != 2:
        target = given[1] if dimensions[1] == 1 else f"{given[1]}.flatten()"
        given = [f"{in_parentheses(operands[0])}.flatten(0, -2)", target]
    given += [
        source(
            function,
            arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace("")),
        )
        for arg in call.args[2:]
    ]
    scale = f" * ({text}.numel() / {text}.sum())" if loss.scaled else ""
    whole = f"{source(function, call.func)}({', '.join(given)}){scale}"
    parent = function.parent(call)
    margin = _margin(function, call)
    if len(whole) > 80 and (margin is not None or isinstance(parent, cst.Assign | cst.Return)):
        # The tree adds the indentation of the statement.
        margin = margin or ""
        inner = "".join(f"{margin}{function.module.default_indent}{one},\n" for one in given)
        whole = f"{source(function, call.func)}(\n{inner}{margin}){scale}"
    alone = (
        not loss.scaled
        or isinstance(parent, cst.Assign | cst.Return | cst.Arg | cst.AugAssign | cst.AnnAssign)
        or (isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Add))
    )
    if not alone and "\n" in whole:
        raise Refused("the loss is part of a product, and would not fit on its line")
    return cst.parse_expression(whole if alone else f"({whole})")


def _margin(function: FunctionCode, call: cst.Call) -> str | None:
    """What a call's line is indented by more than its statement; None where the statement is one line, which is broken
    as a whole."""
    statement = statement_of(function, call)
    if statement is None:
        return None
    line, column, end_line, _ = function.range(statement)
    if line == end_line:
        return None
    text = file_of(function).lines[function.range(call)[0] - 1]
    return text[: len(text) - len(text.lstrip())][column - 1 :]


def _is_mask_of(mask: str, target: str, fill: str) -> bool:
    """Whether the mask asks for nothing but that the target is not what stands outside of it: `labels != -100`."""
    asked = cst.parse_expression(f"{target} != {fill}")
    return cst.parse_expression(mask).deep_equals(asked)


def _dimensions(function: FunctionCode, selection: cst.BaseExpression | None) -> int | None:
    """How many dimensions it has what a mask selects from, as the code says or the interpreter saw."""
    found = masked_of(function, selection) if selection is not None else None
    if selection is None or found is None:
        return None
    tensor = found[0]
    if isinstance(tensor, cst.Call) and callee(tensor) in ("view", "reshape", "flatten", "ravel"):
        sizes = [arg.value for arg in tensor.args]
        if not sizes and callee(tensor) in ("flatten", "ravel"):
            return 1
        if sizes and source(function, sizes[0]) == "-1" and qualified(function, tensor.func) is None:
            return len(sizes)
    seen = {op.detail("dimensions") for op in function.ops_at(selection) if op.name == "index mask"}
    (word,) = seen if len(seen) == 1 else ("",)
    return int(word) if word else None


def _has_shape(function: FunctionCode, selection: cst.BaseExpression) -> bool:
    """Whether a mask has all dimensions of what it selects from; as an index it may have fewer, and selects rows."""
    found = masked_of(function, selection)
    if found is None or isinstance(selection, cst.Call):
        return found is not None  # masked_select broadcasts as torch.where does
    tensor, mask = found
    method = callee(tensor) if isinstance(tensor, cst.Call) else None
    flat = method in ("flatten", "ravel") or (method in ("view", "reshape") and len(tensor.args) == 1)  # type: ignore[attr-defined]
    return flat or made_of(function, mask, source(function, tensor))


def _fix(function: FunctionCode, new: dict[cst.CSTNode, New], imports: Sequence[Any], sure: bool) -> Repaired:
    """`sure`: the mask is known to have the shape of what it selects from."""
    return fix(
        "Take the loss of all elements, with those outside the mask made neutral, as the mean over the mask. It "
        "assumes that the loss takes the mean (and a cross entropy ignores the class -100), and that the mask has the "
        "shape of the operands. The last digits may differ, the largest numbers of a dtype overflow, and a mean in "
        "half precision becomes one in float32.",
        (*imports, *rewrite(function, new)),
        *(() if sure else ("once proven",)),
    )


@dataclass
class _Group:
    """Selections of one block: `masks` by the name that is selected, and the statements that select."""

    masks: dict[str, str] = field(default_factory=dict)
    statements: list[cst.CSTNode] = field(default_factory=list)


class _Block:
    """Selections of one block, `x = x.masked_select(mask)`, with the losses that are taken of them."""

    def __init__(self, function: FunctionCode, node: cst.CSTNode, kind: Kind) -> None:
        self.function, self.kind = function, kind
        statement = statement_of(function, node)
        owner = enclosing_function(function, node)
        found = None if statement is None else self.selected(statement)
        if statement is None or owner is None or found is None:
            raise Refused("nothing is selected by a mask, under its own name, here")
        self.owner, self.mask = owner, found[1]
        outer = function.parent(function.parent(statement) or statement)
        if isinstance(outer, cst.If) and self.selects_where_given(outer):
            statement = outer
        place = block_of(function, statement)
        if place is None:
            raise Refused("not in a block")
        self.block = place[0]
        self.group = _Group()
        plain = [one for one in self.block if not self.gather(one)]
        around = function.parent(function.parent(statement) or statement)
        self.flag: cst.If | None = None
        if isinstance(around, cst.If) and not plain:
            if around.orelse is not None or effect(around.test):
                raise Refused("the `if` does more than to select")
            self.flag = around
        while isinstance(around, cst.If | cst.With):
            around = function.parent(function.parent(around) or around)
        if not isinstance(around, cst.FunctionDef):
            raise Refused("the selection stands in a loop, or a `try`")

    def selected(self, statement: cst.CSTNode) -> tuple[str, str] | None:
        """The name and the mask of `x = x.masked_select(mask)` or `y = x.view(-1)[mask]`."""
        made = assigned(statement)
        found = masked_of(self.function, made[1]) if made is not None else None
        if made is None or found is None:
            return None
        name, value = made
        tensor, mask = found
        if effect(tensor) or not isinstance(mask, cst.Name) or mask.value == name:
            return None
        if isinstance(value, cst.Subscript) and self.kind(mask) != "tensor:bool":
            return None
        return name, mask.value

    def unselected(self, statement: cst.CSTNode) -> cst.BaseExpression | None:
        """What is selected from by a statement of the group; None where that has the name of what is selected."""
        only = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if not isinstance(only, cst.Assign):
            return None
        found = masked_of(self.function, only.value)
        assert found is not None
        tensor, target = found[0], only.targets[0].target
        same = isinstance(tensor, cst.Name) and isinstance(target, cst.Name) and tensor.value == target.value
        return None if same else tensor

    def gather(self, statement: cst.CSTNode) -> bool:
        """Take the statement into the group, if all that it does is to select."""
        found = self.selected(statement)
        if found is not None:
            name, mask = found
            if self.group.masks.setdefault(name, mask) != mask or name in self.group.masks.values():
                raise Refused(f"`{name}` is selected twice, or is a mask itself")
            self.group.statements.append(statement)
            return True
        if isinstance(statement, cst.If) and self.selects_where_given(statement):
            for one in statement.body.body:
                self.gather(one)
            self.group.statements[-len(statement.body.body) :] = [statement]
            return True
        return False

    def selects_where_given(self, statement: cst.If) -> bool:
        """Whether it is `if x is not None: x = x[mask]`."""
        return (
            statement.orelse is None
            and _is_none_test(statement.test)
            and all(self.selected(one) is not None for one in statement.body.body)
        )

    def rewritten(self) -> Repaired:
        function = self.function
        ends = {
            name: function.range(self.flag or statement)[2:]
            for statement in self.group.statements
            for name in set(binds(statement)) & set(self.group.masks)
        }
        losses: dict[cst.Call, str] = {}
        unfit: dict[str, Refused] = {}
        for use in uses(self.owner.body):
            if use.name not in self.group.masks or function.range(use.node)[:2] < ends[use.name]:
                continue
            try:
                if self.flag is None and not self.in_block(use.node):
                    raise Refused(f"`{use.name}` is used where it may be another")
                if use.binds:
                    self.must_stay_elementwise(use.node, use.name)
                elif (call := self.consumer(use.node, use.name)) is not None:
                    losses[call] = self.group.masks[use.name]
            except Refused as no:
                unfit[self.group.masks[use.name]] = no
        if self.flag is not None and unfit:
            raise next(iter(unfit.values()))
        if self.mask in unfit:
            raise unfit[self.mask]
        masks = [one for one in dict.fromkeys(self.group.masks.values()) if one not in unfit]
        losses = {call: mask for call, mask in losses.items() if mask in masks}
        if self.mask not in losses.values():
            raise Refused("no loss is taken of what was selected")
        where, imports = torch_name(function, "torch.where")
        kept = {
            mask: fresh(function, f"{mask}_kept") for mask in masks if self.flag or self.bound_later(mask)
        }
        selections = {
            named[0]: named[1] for one in self.group.statements if (named := assigned(one)) is not None
        }
        new: dict[cst.CSTNode, New] = {}
        for call, mask in losses.items():
            operands = [source(function, arg.value) for arg in call.args[:2]]
            counts = [_dimensions(function, selections.get(one)) for one in operands]
            new[call] = _scaled(function, call, where, operands, kept.get(mask, mask), counts)
        for statement in self.group.statements:
            tensor = self.unselected(statement)
            if tensor is not None and self.flag is not None:
                raise Refused("what is selected under the `if` has another name")
            if self.flag is None and not set(unfit) & reads(statement):
                # `x = x[mask]` goes, `y = x.view(-1)[mask]` becomes `y = x.view(-1)`.
                new |= {statement: None} if tensor is None else {statement.body[0].value: tensor}  # type: ignore[attr-defined]
        if self.flag is not None:
            all_of, more = torch_name(function, "torch.ones_like")
            imports = (*imports, *more)
            torch, least = torch_name(function, "torch.bool")
            imports = (*imports, *least)
            test = source(function, self.flag.test)
            whole = {mask: source(function, self.of_its_shape(call)) for call, mask in losses.items()}
            made: list[Any] = [
                cst.parse_statement(f"{name} = {mask} if {test} else {all_of}({whole[mask]}, dtype={torch})")
                for mask, name in kept.items()
            ]
            made[0] = made[0].with_changes(leading_lines=self.flag.leading_lines)
            new[self.flag] = made
        return _fix(function, new, tuple(dict.fromkeys(imports)), all(map(self.is_sure, losses)))

    def is_sure(self, call: cst.Call) -> bool:
        """Whether one of the operands is known to have the shape of its mask."""
        loss, names = _loss(self.function, call), reads(call)
        lines = [
            line
            for one in self.group.statements
            for line in (one.body.body if isinstance(one, cst.If) else [one])
        ]
        made = [one for one in map(assigned, lines) if one is not None and one[0] in names]
        return (loss is not None and loss.rows) or any(_has_shape(self.function, one[1]) for one in made)

    def of_its_shape(self, call: cst.Call) -> cst.BaseExpression:
        """The operand of a loss that has the shape which the mask needs where nothing is selected: the mask itself may
        have another one there."""
        operands = [arg.value for arg in call.args[:2]]
        loss = _loss(self.function, call)
        tests = (one for one in self.group.statements if isinstance(one, cst.If))
        may_be_none = {name for one in tests for name in binds(one)}
        for operand in operands[1:] if loss is not None and loss.rows else operands:
            if not reads(operand) & may_be_none:
                return operand
        raise Refused("what has the shape of the mask may be None")

    def in_block(self, node: cst.CSTNode) -> bool:
        return any(one in self.block for one in (node, *ancestors(self.function, node)))

    def bound_later(self, mask: str) -> bool:
        """Whether the mask's name may hold something else by the time of a loss."""
        end = min(self.function.range(one)[2:] for one in self.group.statements if mask in reads(one))
        return any(
            use.name == mask and use.binds and self.function.range(use.node)[:2] > end
            for use in uses(self.owner.body)
        )

    def must_stay_elementwise(self, target: cst.CSTNode, name: str) -> None:
        """Raise Refused unless the name is bound to something made of it element by element."""
        assign = self.function.parent(self.function.parent(target) or target)
        if not isinstance(assign, cst.Assign) or not self.elementwise(assign.value, name):
            raise Refused(f"`{name}` becomes something else")

    def elementwise(self, node: cst.BaseExpression, name: str) -> bool:
        """Whether the expression is made of the name and of plain numbers, element by element."""
        if isinstance(node, cst.Name):
            return node.value == name
        if isinstance(node, cst.UnaryOperation):
            return self.elementwise(node.expression, name)
        if isinstance(node, cst.BinaryOperation):
            sides = (node.left, node.right)
            return any(
                self.elementwise(one, name)
                and not self.kind(other).startswith("tensor")
                and not uses_any(other, name)
                for one, other in (sides, sides[::-1])
            )
        if isinstance(node, cst.Call) and callee(node) in ELEMENTWISE:
            known = qualified(self.function, node.func)
            if known is not None and known.startswith("torch.") and node.args:
                return self.elementwise(node.args[0].value, name)
            if known is None and isinstance(node.func, cst.Attribute):
                return self.elementwise(node.func.value, name)
        return False

    def mask_of(self, operand: cst.BaseExpression) -> str | None:
        """The mask that the operand of a loss was selected by."""
        found = [mask for name, mask in self.group.masks.items() if self.elementwise(operand, name)]
        return found[0] if found else None

    def consumer(self, node: cst.CSTNode, name: str) -> cst.Call | None:
        """The loss that the name is an operand of; None for what is harmless. Raises Refused for anything else."""
        function = self.function
        for outer in ancestors(function, node):
            if isinstance(outer, cst.Comparison) and _is_none_test(outer):
                return None
            if isinstance(outer, cst.Assign):
                target = outer.targets[0].target
                if is_name(target, name) and self.elementwise(outer.value, name):
                    return None
                break
            if isinstance(outer, cst.Call) and _loss(function, outer):
                masks = {self.mask_of(arg.value) for arg in outer.args[:2]}
                if masks != {self.group.masks[name]}:
                    raise Refused("the loss has an operand that was selected otherwise")
                return outer
            if isinstance(outer, cst.BaseStatement):
                break
        # Sizes of what was selected are asked where nothing is selected: under another `if`.
        parent = function.parent(node)
        asks = isinstance(parent, cst.Attribute) and parent.attr.value in (
            "size",
            "shape",
            "dim",
            "ndim",
            "device",
        )
        under = any(isinstance(one, cst.If) for one in ancestors(function, node))
        if self.flag is not None and asks and under:
            return None
        raise Refused(f"something else is done with `{name}`")


def uses_any(node: cst.CSTNode, name: str) -> bool:
    return any(use.name == name for use in uses(node))


def _is_none_test(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Comparison)
        and len(node.comparisons) == 1
        and isinstance(node.comparisons[0].operator, cst.Is | cst.IsNot)
        and says_none(node.comparisons[0].comparator)
    )
