"""Rows in an order, split by how many there are for each weight: every weight is given all rows, and each row keeps
what its own makes of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.elsewhere import neighbour
from pt2lint.fixes.file import file_of, placed_in
from pt2lint.fixes.purity import callee
from pt2lint.fixes.rewrite import (
    New,
    Refusal,
    Repaired,
    accepted,
    assigned,
    block_of,
    enclosing_function,
    fix,
    fresh,
    qualified,
    replaced,
    rewrite,
    small_of,
    source,
    statement_of,
    statements,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the `.tolist()` that says how many rows there are for each weight."""
    return accepted(every_weight(function, node))


def every_weight(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`sizes = n.tolist()`, which a function of the file splits rows by, gives each chunk to a weight of its own, and
    puts together with `torch.cat`: the tensor of sizes instead, and every weight given all rows.

    The list may be returned, and given to the other function by the same name. Refused where more is done with it.
    """
    if not isinstance(node, cst.Call) or callee(node) != "tolist" or not isinstance(node.func, cst.Attribute):
        return Refusal("no list of sizes is read out of a tensor")
    owner = enclosing_function(function, node)
    name, listed = assigned(statement_of(function, node)) or ("", None)
    if owner is None or listed is not node:
        return Refusal("the list has no name")
    later = function.range(node)[2:]
    tensor: cst.BaseExpression = node.func.value
    same = is_name(tensor, name)
    new: dict[cst.CSTNode, New] = {}
    if not same:
        new[node] = tensor
    elif (statement := statement_of(function, node)) is not None:
        new[statement] = None
    after = [use for use in uses(owner.body) if use.name == name and function.range(use.node)[:2] >= later]
    if any(use.binds for use in after):
        return Refusal("the name is bound anew")
    read = [use.node for use in after]
    here = _Rows(function, owner, name).rewritten(read) if read else None
    if here is not None:
        text, imports = here
        return _told(name, (*imports, *rewrite(function, {**new, **text})))
    if not read or not all(_returned(function, one) for one in read):
        return Refusal("more is done with the list than to return it")
    edits = [*rewrite(function, new)]
    for one in file_of(function).nodes:
        if not isinstance(one, ast.FunctionDef) or name not in [arg.arg for arg in placed_in(one)]:
            continue
        there = neighbour(function, one.lineno)
        made = (
            next((part for part in walk(there.module) if isinstance(part, cst.FunctionDef)), None)
            if there
            else None
        )
        if there is None or made is None:
            continue
        given = [use.node for use in uses(made.body) if use.name == name and not use.binds]
        found = _Rows(there, made, name).rewritten(given)
        if found is not None:
            edits += [*found[1], *rewrite(there, found[0])]
    if len(edits) == len(rewrite(function, new)):
        return Refusal("no function of the file splits rows by the list")
    return _told(name, edits)


def _told(name: str, edits: Sequence) -> Repaired:
    return fix(
        f"Keep `{name}` a tensor, and give all rows to every weight, zero where they are another one's: `torch.where` "
        "keeps of each row what its own weight makes of it. That is as many times the work as there are weights; where "
        "these are matrices in bfloat16, `torch.nn.functional.grouped_mm` does without. It assumes that each row is "
        "computed by itself, and that rows have one dimension.",
        dict.fromkeys(edits),
        "once proven",
    )


def _returned(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a name is what is returned, or an element of it."""
    parent = function.parent(node)
    if isinstance(parent, cst.Element):
        parent = function.parent(function.parent(parent) or parent)
    return isinstance(parent, cst.Return)


class _Rows:
    """One function that splits rows by `sizes`."""

    def __init__(self, function: FunctionCode, owner: cst.FunctionDef, sizes: str) -> None:
        self.function, self.owner, self.sizes = function, owner, sizes

    def rewritten(self, read: Sequence[cst.CSTNode]) -> tuple[dict[cst.CSTNode, New], tuple] | None:
        """What takes the place of the split, the loop and `torch.cat`, and imports. None where `read`, the places where
        the sizes are read, are more than that, or the loop is another one."""
        function = self.function
        call = function.parent(function.parent(read[0]) or read[0]) if len(read) == 1 else None
        rows = self.split(call) if isinstance(call, cst.Call) else None
        split = statement_of(function, call) if call is not None else None
        place = block_of(function, split) if split is not None else None
        if rows is None or split is None or place is None:
            return None
        block, at = place
        if len(block) < at + 4:
            return None
        chunks, collected = _assigned(split, call), _assigned(block[at + 1], None)
        loop, end = block[at + 2], block[at + 3]
        if chunks is None or collected is None or not isinstance(loop, cst.For):
            return None
        only = small_of(loop.body.body[0]) if len(loop.body.body) == 1 else None
        append = only.value if isinstance(only, cst.Expr) else None
        cat = self.concatenated(end, collected)
        if not isinstance(append, cst.Call) or cat is None or not self.mine(append, collected):
            return None
        header = self.header(loop, chunks)
        if header is None:
            return None
        index, chunk, over = header
        value = append.args[0].value
        part = [
            one
            for one in walk(value)
            if isinstance(one, cst.BaseExpression) and source(function, one) == chunk
        ]
        names = [use.name for use in uses(self.owner.body)]
        # Each is bound once and read once, but for the list, which two statements read.
        if len(part) != 1 or names.count(chunks) != 2 or names.count(collected) != 3:
            return None
        kept = small_of(end)
        result = kept.targets[0].target.value if isinstance(kept, cst.Assign) else fresh(function, "results")  # type: ignore[attr-defined]
        if result == rows:
            return None
        ids, mask = (
            fresh(function, "expert_ids"),
            fresh(function, "rows" if "rows" not in names else "chosen"),
        )
        lines = []
        if not rows.isidentifier():
            lines, rows = [f"{(once := fresh(function, 'inputs'))} = {rows}"], once
        where, imports = torch_name(function, "torch.where")
        repeat, more = torch_name(function, "torch.repeat_interleave")
        given = cst.parse_expression(f"{where}({mask}, {rows}, 0.0)")
        computed = source(function, replaced(value, {part[0]: given}))
        above = [*lines, f"{ids} = {repeat}({self.sizes}, output_size={rows}.shape[0])", f"{result} = 0.0"]
        indent = function.module.default_indent
        body = [
            f"{over}",
            f"{indent}{mask} = ({ids} == {index})[:, None]",
            f"{indent}{result} = {where}({mask}, {computed}, {result})",
        ]
        made = statements(function, [*above, *body])
        made[0] = made[0].with_changes(leading_lines=getattr(split, "leading_lines", ()))
        made[len(above)] = made[len(above)].with_changes(leading_lines=loop.leading_lines)
        new: dict[cst.CSTNode, New] = {split: made, block[at + 1]: None, loop: None}
        new |= {end: None} if isinstance(kept, cst.Assign) else {cat: cst.Name(result)}
        return new, (*imports, *more)

    def split(self, call: cst.Call) -> str | None:
        """What `x.split(sizes)` and `torch.split(x, sizes, dim=0)` split along its first dimension."""
        if callee(call) != "split":
            return None
        of_torch = qualified(self.function, call.func) == "torch.split"
        args = [*call.args]
        rows = args.pop(0).value if of_torch and args else getattr(call.func, "value", None)
        dims = [source(self.function, one.value) for one in args[1:]]
        first = bool(args) and args[0].keyword is None and isinstance(args[0].value, cst.Name)
        if not first or dims not in ([], ["0"]) or not isinstance(rows, cst.BaseExpression):
            return None
        return source(self.function, rows)

    def concatenated(self, statement: cst.CSTNode, collected: str) -> cst.Call | None:
        """The call in `made = torch.cat(collected)`, or in `return torch.cat(collected)`."""
        only = small_of(statement)
        call = only.value if isinstance(only, cst.Assign | cst.Return) else None
        if isinstance(only, cst.Assign) and not isinstance(only.targets[0].target, cst.Name):
            return None
        if not isinstance(call, cst.Call) or qualified(self.function, call.func) not in (
            "torch.cat",
            "torch.concat",
        ):
            return None
        texts = [source(self.function, one.value) for one in call.args]
        return call if texts in ([collected], [collected, "0"]) else None

    def mine(self, append: cst.Call, collected: str) -> bool:
        return source(self.function, append.func) == f"{collected}.append" and len(append.args) == 1

    def header(self, loop: cst.For, chunks: str) -> tuple[str, str, str] | None:
        """The index, what a chunk is called, and the new head, of `for i in range(n):` or `for chunk, w in
        zip(chunks, weights):`."""
        call = loop.iter
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
            return None
        target = loop.target
        if call.func.value == "range" and isinstance(target, cst.Name) and len(call.args) == 1:
            head = f"for {target.value} in {source(self.function, call)}:"
            return target.value, f"{chunks}[{target.value}]", head
        if call.func.value != "zip" or not isinstance(target, cst.Tuple) or len(call.args) < 2:
            return None
        names = [source(self.function, one.value) for one in target.elements]
        over = [source(self.function, one.value) for one in call.args if one.keyword is None]
        if chunks not in over or len(names) != len(over) or len(over) != 2:
            return None
        at = over.index(chunks)
        index = fresh(self.function, "i")
        return index, names[at], f"for {index}, {names[1 - at]} in enumerate({over[1 - at]}):"


def _assigned(statement: cst.CSTNode | None, value: cst.CSTNode | None) -> str | None:
    """The name that a statement assigns the value, or an empty list, to."""
    made = assigned(statement)
    if made is None:
        return None
    name, given = made
    empty = isinstance(given, cst.List) and not given.elements
    return name if given is value or (value is None and empty) else None
