"""What to write instead where no repair can write it: told where nothing better than a workaround is found.

Each says what it assumes, and stays in the graph as a repair does; what it takes (another argument, an operator's fake)
lies in code that the function does not show.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import cast

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.file import class_around, file_of
from pt2lint.fixes.kinds import guess, may_be_array
from pt2lint.fixes.kinds import told as kind_told
from pt2lint.fixes.repairs import known_mask, selected_rows
from pt2lint.fixes.rewrite import (
    cut,
    enclosing_function,
    in_parentheses,
    name_in,
    parameters,
    qualified,
    sign_of,
    small_of,
    source,
    uses,
)
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import is_name, walk

STEPS = 4  # assignments between an argument and what is computed of it
_CROSS_ENTROPY = ("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss")
_NONZERO = (
    "Say how many there are at most: `torch.nonzero_static(mask, size=n)` has a known shape; or keep the mask, and "
    "select with `torch.where(mask, a, b)`"
)
_HOW_MANY_DIFFER = (
    "Take the number from what is known before, the configuration, an argument or a shape; where it is computed with, "
    "`(v[1:] != v[:-1]).sum() + 1` of the sorted values is a tensor"
)
_KNOWN_SIZES = {
    "repeat_interleave": "Say how long the result is: with `output_size=n`, and `n` of a shape or an argument, it "
    "stays in the graph",
    **dict.fromkeys(("nonzero", "argwhere", "where"), _NONZERO),
    **dict.fromkeys(
        ("unique", "unique_consecutive"),
        "Keep the length: sort, and mark where a value differs from the one before it (`v[1:] != v[:-1]`); `cumsum` "
        "of the marks numbers the groups",
    ),
    "lstsq": "`torch.linalg.pinv(a) @ b` has a known shape, and so has `torch.linalg.solve` of a square matrix",
    "bincount": "Count into a tensor of a known size: `torch.zeros(n).scatter_add_(0, index, weights)`, with `n` of a "
    "shape or an argument, and ones for weights",
}
# What tells where a tensor that is a size or a bound came from, if that was a number, or a list of them.
MADE_OF_NUMBERS = frozenset(
    f"`torch.{name}` returns a tensor" for name in ("tensor", "as_tensor", "IntTensor", "LongTensor")
)
KEEP_ALL = (
    "Keep all of `{0}`: compute on the whole and select with `torch.where({1}, changed, {0})`, the mask unsqueezed "
    "where it has fewer dimensions, or weigh a sum with the mask"
)
_FROM_LISTS = frozenset(
    f"torch.{name}" for name in "tensor as_tensor Tensor BoolTensor FloatTensor IntTensor LongTensor".split()
)
_ALL_AT_ONCE = (
    "Compute for all positions at once: `torch.searchsorted(ends, torch.arange(n), right=True)`, with `ends` the "
    "`cumsum` of the lengths and `n` of a shape, says which of them each belongs to; `index_add_` sums by that, and "
    "`torch.arange(n) - starts[it]` counts within each"
)
_CROPS = (
    "Take all of them at once, by positions: `torch.take_along_dim(x, starts[:, None] + torch.arange(n), 1)`, with `n` "
    "how many each has; where that differs, the most that there are, and a mask"
)
_NUMBERS_BEFORE = (
    "Leave them numbers of Python, or pass those on beside the tensor that is made of them: what Python holds is known "
    "while Dynamo traces"
)
KEEP_NUMBERS = (
    "Keep the numbers too: a list of them in an attribute of its own, set where {} is; what Python holds is known "
    "while Dynamo traces"
)


def passed_in(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """What is computed of arguments alone can be computed before the call: `lengths.max().item()`."""
    from pt2lint.fixes.repairs import longest  # which reads conditions, and no rule needs those to be loaded

    if _only_asserted(function, node):
        yield told(
            "Keep the tensor and assert on that, with a message that does not hold its value: `assert t < bound` stays "
            "in the graph. A failure raises RuntimeError there"
        )
    elif _goes_to_kernel(function, node):
        yield told(
            "Give the kernel the tensor, which it reads itself: `tl.load(pointer)`. Python then does not wait for the "
            "device either"
        )
    elif _of_numbers(function, node):
        yield told(
            "Compute it of the numbers themselves, without a tensor: with `max`, `sum`, `math.prod` and the like"
        )
    elif known := longest.bound(function, node, guess(function)):
        yield told(
            f"Take the bound that is known, `{known}`: what asks for the longest row, as kernels of attention and "
            "padding do, takes a longer one as well"
        )
    elif before := _before(function, node):
        yield told(f"Pass it in: {before}. That breaks no graph; another number compiles once more, for any")
    elif _ends_slices(function, node):
        yield told(
            "Compare positions with the tensor, which takes no number: `torch.arange(n) < k` is the mask of the first "
            "`k`"
        )
    elif (loop := _turns_by(function, node)) is not None and _bounds(loop, writes=True):
        yield told(_ALL_AT_ONCE)
    elif loop is not None and _bounds(loop, writes=False):
        yield told(_CROPS)
    elif kept := _kept_by_name(function, node):
        yield told(f"Keep the tensor there, `{kept}`, and read the number where it is logged, after the call")
    elif isinstance(compared := _compared(function, node), cst.Comparison):
        yield from decided_before(function, compared)


def _only_asserted(function: FunctionCode, node: cst.CSTNode, steps: int = STEPS) -> bool:
    """Whether the name that it is given is used in assertions alone, or in other names of which that holds."""
    here, above = node, function.parent(node)
    while isinstance(above, cst.BaseExpression) and not isinstance(above, cst.Call):
        here, above = above, function.parent(above)
    if isinstance(above, cst.Assert):
        return above.test is here
    owner = enclosing_function(function, node)
    if not isinstance(above, cst.Assign) or len(above.targets) != 1 or owner is None or not steps:
        return False
    name = above.targets[0].target
    found = [use for use in uses(owner.body) if isinstance(name, cst.Name) and use.name == name.value]
    read = [use.node for use in found if not use.binds]
    if not read or len(found) - len(read) != 1:
        return False
    return all(_in_assertion(function, use) or _only_asserted(function, use, steps - 1) for use in read)


def _goes_to_kernel(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a kernel that the file writes in Triton is given it, under a name: `kernel[grid](x, n)`."""
    assigned, owner = name_in(function.parent(node)), enclosing_function(function, node)
    if assigned is None or owner is None:
        return False
    kernels = {
        one.name
        for one in (file_of(function).tree.body)
        if isinstance(one, ast.FunctionDef)
        and any(ast.unparse(by).split("(")[0].endswith("jit") for by in one.decorator_list)
    }
    return any(
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Subscript)
        and isinstance(call.func.value, cst.Name)
        and call.func.value.value in kernels
        and any(is_name(arg.value, assigned.value) for arg in call.args)
        for call in walk(owner.body)
    )


def _turns_by(function: FunctionCode, node: cst.CSTNode) -> cst.For | None:
    """The innermost loop, where what is read hangs on its turn: `int(ends[i])`."""
    here = function.parent(node)
    while here is not None and not isinstance(here, cst.For | cst.FunctionDef):
        here = function.parent(here)
    if not isinstance(here, cst.For):
        return None
    return here if {use.name for use in uses(node)} & {use.name for use in uses(here.target)} else None


def _bounds(loop: cst.For, writes: bool) -> bool:
    """Whether a turn of a loop writes a slice that what it sets bounds, or reads one: `a = int(ends[i].item())`, then
    `of[a:b] = i`."""
    bound = {use.name for use in uses(loop.body) if use.binds}
    written = [made.target for made in walk(loop.body) if isinstance(made, cst.AssignTarget)]
    places = [made for made in (written if writes else walk(loop.body)) if isinstance(made, cst.Subscript)]
    slices = [each.slice for place in places for each in place.slice if isinstance(each.slice, cst.Slice)]
    return any({use.name for use in uses(one)} & bound for one in slices)


def _compared(function: FunctionCode, node: cst.CSTNode) -> cst.CSTNode | None:
    """The comparison in which a number stands by itself."""
    above = function.parent(node)
    return function.parent(above) if isinstance(above, cst.ComparisonTarget) else above


def _of_numbers(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it is read out of a tensor that is made of sizes, or of a list, in the expression itself or under a name:
    `torch.tensor(x.shape).prod().item()`."""
    here: cst.CSTNode | None = node
    for _ in range(2 * STEPS):
        if isinstance(here, cst.Name):
            here = _only_value(function, here)
        elif not isinstance(here, cst.Call):
            return False
        elif qualified(function, here.func) in ("torch.tensor", "torch.as_tensor"):
            given = here.args[0].value if here.args else None
            if isinstance(given, cst.Subscript):
                given = given.value
            lists = isinstance(given, cst.List | cst.ListComp)
            return lists or (isinstance(given, cst.Attribute) and given.attr.value == "shape")
        else:
            here = here.func.value if isinstance(here.func, cst.Attribute) else None
    return False


def _in_assertion(function: FunctionCode, node: cst.CSTNode | None) -> bool:
    while node is not None and not isinstance(node, cst.BaseSmallStatement):
        node = function.parent(node)
    return isinstance(node, cst.Assert)


def _ends_slices(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it is all that a name is given, with which slices of the function end: `order[:, :k]`."""
    above = function.parent(node)
    owner = enclosing_function(function, node)
    if not isinstance(above, cst.Assign) or len(above.targets) != 1 or owner is None:
        return False
    name = above.targets[0].target
    return isinstance(name, cst.Name) and any(
        isinstance(part, cst.Slice) and part.upper is not None and is_name(part.upper, name.value)
        for part in walk(owner.body)
    )


def _kept_by_name(function: FunctionCode, node: cst.CSTNode) -> str:
    """The tensor whose number is only kept under a name, as losses are for a log: `losses["box"] = box.item()`."""
    if not isinstance(node, cst.Call):
        return ""
    read = (
        node.func.value if isinstance(node.func, cst.Attribute) else next((a.value for a in node.args), None)
    )
    here, above = cast(cst.CSTNode, node), function.parent(node)
    while isinstance(above, cst.Arg):
        call = function.parent(above)
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
            return ""
        if call.func.value == "dict":  # `dict(box=float(box))`
            break
        if call.func.value not in ("float", "int", "round"):
            return ""
        here, above = call, function.parent(call)
    if isinstance(above, cst.Arg):
        named = above.keyword is not None
    elif isinstance(above, cst.DictElement):
        named = above.value is here
    else:
        target = (
            above.targets[0].target if isinstance(above, cst.Assign) and len(above.targets) == 1 else None
        )
        index = (
            target.slice[0].slice if isinstance(target, cst.Subscript) and len(target.slice) == 1 else None
        )
        named = isinstance(index, cst.Index) and isinstance(
            index.value, cst.SimpleString | cst.FormattedString
        )
    if not named or read is None:
        return ""
    text = _short(function, read).removesuffix(".numpy()")
    return text if text.endswith((".detach()", "...")) else f"{text}.detach()"


def decided_before(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """What is decided by arguments alone can be decided before the call: `if x.max() > 1`."""
    before, tested = _before(function, node), _tested(function, node)
    if kept := _kept_answer(function, node):
        answer = _opposite(function, node)
        yield told(
            f"Keep the answer in a tensor, `{answer}`, and choose with that: `torch.where({kept}, a, b)`"
        )
    elif before and _in_assertion(function, node):
        yield told(
            f"Check it before the compiled code runs; or in the graph, in a statement of its own: "
            f"`torch._assert_async({cut(_in_tensors(function, node))})`"
        )
    elif isinstance(tested, cst.If) and _only_raises(tested) and not may_be_array(function, node):
        bad = f": `torch._assert_async({_opposite(function, node)})`" if tested.test is node else ""
        yield told(
            "Check it before the compiled code runs; or where it is compiled with `torch._assert_async`, which stays "
            f"in the graph{bad}"
        )
    elif isinstance(tested, cst.If) and _only_tells(function, tested):
        yield told(
            "Look at it outside the compiled code: return what is tested, and tell after the call; or take it "
            "out, if it is left from debugging"
        )
    elif isinstance(tested, cst.If) and _answers(function, tested):
        yield told(
            f"Return what is tested as a tensor, `{cut(_in_tensors(function, node))}`, and choose with that: "
            "`torch.where(it, a, b)`; a call whose answer nothing reads can go"
        )
    elif before:
        yield told(
            f"Decide it before: {before}, a `bool`. A graph then holds one side, and is made once for each"
        )
    elif isinstance(tested, cst.While):
        yield told(
            "Take a fixed number of turns and keep what is done, with `torch.where(done, old, new)`; or compile what "
            "one iteration does, and call that in the loop"
        )
    elif isinstance(tested, cst.If) and _goes_back(tested, node):
        yield told(
            "Leave the test out: where the mask holds nowhere, what follows changes nothing if it writes with "
            "`torch.where(mask, new, old)`"
        )
    elif isinstance(tested, cst.If) and (mask := _writes_rows(function, tested)):
        yield told(
            f"Leave the test out, and write with `torch.where({mask}, new, old)`, the mask unsqueezed where it has "
            "fewer dimensions: where it holds nowhere, that changes nothing"
        )
    elif isinstance(tested, cst.If) and _sizes_by_values(function, tested):
        yield told(
            "Keep one size on every way, a bound from a shape or the configuration, with a mask for what is too much; "
            "else leave this function outside of the graph: no graph holds both of two sides whose sizes values decide"
        )
    elif isinstance(tested, cst.If) and _changes_state_alone(function, tested):
        asked = cut(_in_tensors(function, node))
        yield told(
            "Write in either case what is there where the test does not hold: "
            f"`t.copy_(torch.where({asked}, new, t))`; or return the test, and do this after the call, as with what "
            "Python holds"
        )
    elif isinstance(tested, cst.If) and _cuts(tested):
        yield told(
            "Decide it before the compiled code runs, and give it as a `bool`; or keep one shape, with a mask for what "
            "is cut off: the sides differ in shape, which no graph holds both of"
        )
    elif tested is not None:
        test = cut(_in_tensors(function, node))
        ends = small_of(tested.body.body[-1]) if isinstance(tested, cst.If) else None
        if isinstance(ends, cst.Break):
            yield told(
                f"Take all turns and keep what is done: `torch.where({test}, old, new)`; or leave early in eager mode "
                "alone, where further turns change next to nothing: `if not torch.compiler.is_compiling() and ...`"
            )
            return
        yield told(
            f"Compute both and choose: `torch.where({test}, a, b)` of what the two sides give; or "
            "`torch.cond`, which runs one of them, where they change nothing else"
        )


def _answers(function: FunctionCode, tested: cst.If) -> bool:
    """Whether a function answers what the test asks: `if t > 0: return True`."""
    ends = small_of(tested.body.body[-1])
    return isinstance(ends, cst.Return) and source(function, ends.value or ends) in ("True", "False")


def _kept_answer(function: FunctionCode, node: cst.CSTNode) -> str:
    """The name under which it is kept that a tensor is not true: `bad = not x.isfinite().all()`."""
    above = function.parent(node)
    if not isinstance(above, cst.UnaryOperation) or not isinstance(above.operator, cst.Not):
        return ""
    name = name_in(function.parent(above))
    return name.value if name is not None else ""


def _in_tensors(function: FunctionCode, node: cst.CSTNode) -> str:
    """A test as one tensor, where Python would ask for the truth of several: `a < t < b`, `all(t > 0)`, `n in t`."""
    from pt2lint.fixes.condition import read_of

    if isinstance(node, cst.Comparison):
        asked = [node.left, *(one.comparator for one in node.comparisons)]
        read = [(read_of(side) if isinstance(side, cst.Call) else None) or side for side in asked]
        sides = [source(function, side) for side in read]
        if isinstance(node.comparisons[0].operator, cst.In | cst.NotIn):
            asks = f"({sides[1]} == {sides[0]}).any()"
            return asks if isinstance(node.comparisons[0].operator, cst.In) else f"~{asks}"
        signs = [sign_of(function, one.operator) for one in node.comparisons]
        each = [f"{a} {sign} {b}" for a, sign, b in zip(sides, signs, sides[1:], strict=False)]
        return each[0] if len(each) == 1 else " & ".join(f"({one})" for one in each)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and len(node.args) == 1:
        if node.func.value in ("all", "any"):
            return f"({source(function, node.args[0].value)}).{node.func.value}()"
        if node.func.value == "bool":
            return source(function, node.args[0].value)
    return source(function, node)


def _goes_back(tested: cst.If, node: cst.CSTNode) -> bool:
    """Whether a function returns at once where a mask holds nowhere: `if not mask.any(): return`."""
    test, last = tested.test, tested.body.body[0]
    asks = (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "any"
    )
    returns = last.body[0] if isinstance(last, cst.SimpleStatementLine) else last
    return (
        asks
        and isinstance(test, cst.UnaryOperation)
        and test.expression is node
        and isinstance(returns, cst.Return)
        and returns.value is None
    )


def _only_raises(tested: cst.If) -> bool:
    """Whether all that the test decides is whether an error is raised."""
    raises = len(tested.body.body) == 1 and isinstance(small_of(tested.body.body[0]), cst.Raise)
    return raises and tested.orelse is None


def _opposite(function: FunctionCode, node: cst.CSTNode) -> str:
    from pt2lint.fixes.condition import opposite

    return cut(opposite(_in_tensors(function, node)))


def _writes_rows(function: FunctionCode, tested: cst.If) -> str:
    """The mask of which a branch asks whether it holds anywhere, and by which it does no more than to write rows of
    what is read later: `if bad.any(): x = x.clone(); x[bad] = 0`; "" where it does anything else."""
    from pt2lint.fixes.condition import any_set

    asked, owner = any_set(function, tested.test), enclosing_function(function, tested)
    if not isinstance(asked, cst.Name) or tested.orelse is not None or owner is None:
        return ""
    within, everywhere = ([use.name for use in uses(part)] for part in (tested.body, owner.body))
    written, helpers = set[str](), set[str]()
    for each in tested.body.body:
        made = small_of(each)
        if not isinstance(made, cst.Assign) or len(made.targets) != 1:
            return ""
        target = made.targets[0].target
        if isinstance(target, cst.Name):
            helpers.add(target.value)
        elif (
            isinstance(target, cst.Subscript)
            and isinstance(target.value, cst.Name)
            and len(target.slice) == 1
            and isinstance(index := target.slice[0].slice, cst.Index)
            and is_name(index.value, asked.value)
        ):
            written.add(target.value.value)
        else:
            return ""
    kept = (everywhere.count(name) > within.count(name) for name in helpers - written)
    return asked.value if written and not any(kept) else ""


def _sizes_by_values(function: FunctionCode, tested: cst.If) -> bool:
    """Whether it has two sides, one of which takes sizes or bounds out of tensors: `y = x[:n]`, else `y = x`."""
    begin, end = function.range(tested.test)[2:], function.range(tested)[2:]
    sized = [(op.line, op.column) for op in function.ops if op.name == "size tensor"]
    return tested.orelse is not None and any(begin <= at < end for at in sized)


def _changes_state_alone(function: FunctionCode, tested: cst.If) -> bool:
    """Whether the sides give nothing that could be chosen of: they write into attributes and tensors, or call methods
    for what these do, with names that nothing else reads."""
    from pt2lint.fixes.repairs.printing import says  # which tells by hand too

    owner = enclosing_function(function, tested)
    within, everywhere = (
        [use.name for use in uses(part)] for part in (tested, owner.body if owner else tested)
    )
    todo: list[cst.CSTNode] = [*tested.body.body]
    if isinstance(tested.orelse, cst.Else):
        todo += tested.orelse.body.body
    elif tested.orelse is not None:
        return False
    changed = False
    while todo:
        each = todo.pop()
        made = small_of(each)
        if isinstance(each, cst.For) and each.orelse is None:
            todo += each.body.body
            continue
        if isinstance(made, cst.Assign):
            targets = [one.target for one in made.targets]
            if all(
                isinstance(name, cst.Name) and _is_own(name.value, within, everywhere) for name in targets
            ):
                continue
        elif isinstance(made, cst.AugAssign):
            targets = [made.target]
        elif isinstance(made, cst.Expr) and isinstance(made.value, cst.Call):
            changed = changed or not says(function, each)
            continue
        elif (
            isinstance(made, cst.Pass)
            or (isinstance(made, cst.Expr) and isinstance(made.value, cst.SimpleString))
            or (isinstance(made, cst.Return) and made.value is None)
        ):
            continue
        else:
            return False
        if not all(isinstance(target, cst.Attribute) for target in targets):
            return False
        changed = True
    return changed


def _is_own(name: str, within: list[str], everywhere: list[str]) -> bool:
    return within.count(name) == everywhere.count(name)


def _cuts(tested: cst.If) -> bool:
    """Whether one side gives a name a slice of what it holds: `x = x[:, 1:]`."""
    return any(
        isinstance(made, cst.Assign)
        and isinstance(made.value, cst.Subscript)
        and any(target.target.deep_equals(made.value.value) for target in made.targets)
        and any(isinstance(part, cst.Slice) and (part.lower or part.upper) for part in walk(made.value))
        for made in walk(tested)
    )


def _only_tells(function: FunctionCode, node: cst.If) -> bool:
    """Whether all that the test decides is what is printed, warned of or logged, and names that only this reads."""
    from pt2lint.fixes.repairs.printing import says  # which tells by hand too

    owner = enclosing_function(function, node)
    if node.orelse is not None or owner is None:
        return False
    within, everywhere = ([use.name for use in uses(part)] for part in (node.body, owner.body))
    told = False
    todo = [node.body] if isinstance(node.body, cst.SimpleStatementSuite) else [*node.body.body]
    while todo:
        each = todo.pop()
        if isinstance(each, cst.Try):
            blocks = [each.body, *(handler.body for handler in each.handlers)]
            todo += [part for block in blocks for part in block.body]
        elif says(function, each):
            told = True
        elif not isinstance(made := small_of(each), cst.Assign | cst.Pass):
            return False
        elif isinstance(made, cst.Assign):
            for name in (target.target for target in made.targets):
                if not isinstance(name, cst.Name) or everywhere.count(name.value) > within.count(name.value):
                    return False
    return told


def _tested(function: FunctionCode, node: cst.CSTNode) -> cst.CSTNode | None:
    """The `if` or `while`, or the choice in an expression, whose test the node is, by itself or with others."""
    here = function.parent(node)
    while isinstance(here, cst.BooleanOperation | cst.UnaryOperation | cst.NamedExpr):
        node, here = here, function.parent(here)
    is_test = isinstance(here, cst.If | cst.While | cst.IfExp) and here.test is node
    return here if is_test else None


def known_size(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A result of a size that is known: by a size, a mask or a count into a tensor that is there."""
    if isinstance(node, cst.Subscript) and (kept := _kept_mask(function, node)):
        yield told(
            f"Keep the positions too: buffers of what `{kept}.nonzero(as_tuple=True)` gives, made where `{kept}` is "
            "set, and index with those in its place, as their number is known"
        )
    elif isinstance(node, cst.Subscript) and (known := known_mask.instead(function, node)):
        yield told(known)
    elif isinstance(node, cst.Subscript) and _classified(function, node):
        mask = _short(function, node.slice[0].slice)
        yield told(
            f"Give the cross entropy all rows, and `torch.where({mask}, labels, -100)` as labels: it leaves the "
            'class -100 (`ignore_index`) out of its mean and its sum, and is zero there with `reduction="none"`'
        )
    elif isinstance(node, cst.Subscript) and (known := selected_rows.instead(function, node)):
        yield told(known)
    elif isinstance(node, cst.Subscript):
        yield from _whole(function, node)
    elif isinstance(node, cst.Call) and not (qualified(function, node.func) or "").startswith("numpy."):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if isinstance(name, cst.Name) and name.value.startswith("unique") and _counted(function, node):
            yield told(_HOW_MANY_DIFFER)
        elif isinstance(name, cst.Name) and name.value in _KNOWN_SIZES:
            yield told(_KNOWN_SIZES[name.value])
        elif isinstance(name, cst.Name) and name.value == "masked_select":
            given = [arg.value for arg in node.args]
            if isinstance(node.func, cst.Attribute) and len(given) == 1:
                given.insert(0, node.func.value)
            if len(given) == 2:
                yield told(KEEP_ALL.format(_short(function, given[0]), _short(function, given[1])))


def _counted(function: FunctionCode, node: cst.Call) -> bool:
    """Whether all that is asked of it is how many there are: `len(x.unique())`, `x.unique().numel()`."""
    around = function.parent(node)
    if isinstance(around, cst.Attribute):
        return around.attr.value in ("numel", "shape", "size")
    call = function.parent(around) if isinstance(around, cst.Arg) else None
    return isinstance(call, cst.Call) and is_name(call.func, "len")


def _whole(function: FunctionCode, node: cst.Subscript) -> Iterator[Fix]:
    indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
    masks = [index for index in indices if not isinstance(index, cst.Ellipsis)]
    if len(masks) == 1:
        yield told(KEEP_ALL.format(_short(function, node.value), _short(function, masks[0])))


def _classified(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a cross entropy is given it, or the name that it is assigned to."""
    around = function.parent(node)
    while isinstance(around, cst.Element | cst.Tuple):
        around = function.parent(around)
    owner = enclosing_function(function, node)
    if isinstance(around, cst.Arg):
        return _is_cross_entropy(function, function.parent(around))
    if not isinstance(around, cst.Assign) or owner is None:
        return False
    names = {use.name for target in around.targets for use in uses(target.target)}
    return any(
        isinstance(call, cst.Call)
        and any(isinstance(arg.value, cst.Name) and arg.value.value in names for arg in call.args[:2])
        and _is_cross_entropy(function, call)  # last: to know the kinds in a function takes long
        for call in walk(owner.body)
    )


def _is_cross_entropy(function: FunctionCode, call: cst.CSTNode | None) -> bool:
    if not isinstance(call, cst.Call):
        return False
    known = qualified(function, call.func) or kind_told(function, call.func)
    return known.startswith("torch.nn") and known.rpartition(".")[2] in _CROSS_ENTROPY


def number(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A size, a bound or a range of a number, where a tensor stands."""
    why = _origins(function, node)
    if why & MADE_OF_NUMBERS:
        yield told(_NUMBERS_BEFORE)
    elif isinstance(function.parent(node), cst.Slice):
        yield told(
            "Write and read by position: `index_copy_` with a tensor of positions, and a mask over what is not there "
            "yet, need no number"
        )
    elif any(each.endswith(" is a buffer") for each in why):
        yield told(KEEP_NUMBERS.format("the buffer"))
    elif _repeats_for_tensor(function, node):
        yield told(
            "Compare positions with the number, which stays a tensor: `torch.arange(n) < k` is the mask of the first "
            "`k`, `torch.arange(n) < lengths[:, None]` those of all rows at once, and `torch.where` puts the numbers in"
        )
    elif any("number" in op.details for op in function.ops_at(node)):
        yield told(
            "Leave the argument a number, and compute with the tensor around the call: multiply or add what goes in or "
            "comes out, or make a mask of positions (`torch.arange(n) < k`)"
        )
    elif _counts_each(function, node):
        yield told(_ALL_AT_ONCE)
    elif rows := _rows_before(function, node):
        yield told(
            f"Pass the numbers in: {rows}, is a list that Dynamo knows; other numbers are compiled once more"
        )
    elif isinstance(node, cst.Call) and not isinstance(function.parent(node), cst.Index):
        yield told(
            "Take a number that is known: a bound from a shape, the configuration or an argument, with a mask for what "
            "is too much"
        )


def _rows_before(function: FunctionCode, node: cst.CSTNode) -> str:
    """What gives the rows of a tensor as Python's numbers, over which a loop goes that is given it: `for t, h, w in
    sizes:`; "" where that is made of more than arguments."""
    loop = _turns_by(function, node)
    if loop is not None and isinstance(loop.iter, cst.Call) and isinstance(loop.iter.func, cst.Name):
        return ""  # `range(x.shape[0])`
    if loop is None or not kind_told(function, loop.iter).startswith("tensor"):
        return ""
    given = sorted(_arguments(function, loop.iter, STEPS))
    if not given:
        return ""
    of, come = " and ".join(f"`{name}`" for name in given), "comes" if len(given) == 1 else "come"
    rows = in_parentheses(_short(function, loop.iter))
    return f"`{rows}.tolist()` before the compiled code runs, where {of} {come} from"


def _repeats_for_tensor(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether a list is repeated that often, by itself or with others, for a tensor that is made of it:
    `torch.tensor([0] * k + [1] * (n - k))`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return False
    if not any(isinstance(side, cst.List | cst.Tuple) for side in (node.left, node.right)):
        return False
    above = function.parent(node)
    while isinstance(above, cst.BinaryOperation | cst.Element | cst.List | cst.Arg):
        above = function.parent(above)
    return isinstance(above, cst.Call) and qualified(function, above.func) in _FROM_LISTS


def _counts_each(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it counts up to each of many lengths: `[torch.arange(n) for n in lengths]`."""
    listed = function.parent(node)
    return (
        isinstance(node, cst.Call)
        and qualified(function, node.func) == "torch.arange"
        and isinstance(listed, cst.ListComp | cst.GeneratorExp)
        and bool({use.name for use in uses(node)} & {use.name for use in uses(listed.for_in.target)})
    )


def _origins(function: FunctionCode, node: cst.CSTNode) -> set[str]:
    """What is said of where the tensors there came from, without the place."""
    return {op.why.partition(" (")[0] for op in function.ops_at(node)}


def as_tensor(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """Numbers that stay in their tensor, or are kept as such beside it."""
    if _origins(function, node) & MADE_OF_NUMBERS:
        yield told(_NUMBERS_BEFORE)
        return
    kept = _buffer(function, node) or _held(function, node)
    if kept:
        yield told(KEEP_NUMBERS.format(f"`{kept}`"))
        return
    if isinstance(assigned := function.parent(node), cst.Assign) and any(
        isinstance(each.target, cst.Tuple) for each in assigned.targets
    ):
        yield told(
            "Take these numbers from what is known while Dynamo traces, a shape, the configuration or an argument; or "
            "keep them tensors (`h, w = t.unbind()`) and compute with those"
        )
        return
    given = function.parent(node)
    splits = function.parent(given) if isinstance(given, cst.Arg) else None
    called = splits.func if isinstance(splits, cst.Call) else None
    if isinstance(called, cst.Attribute) and called.attr.value in (
        "split",
        "split_with_sizes",
        "tensor_split",
    ):
        yield told(_ALL_AT_ONCE)
        return
    yield told(
        "Keep it a tensor: `cumsum`, a gather or `scatter_add` does for all what the numbers do one by one; where they "
        "are the same at each call, pass them in"
    )


def _buffer(function: FunctionCode, node: cst.CSTNode) -> str:
    """The buffer that `self.sizes.tolist()` reads, "" where it reads anything else."""
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
    return _registered(function, read)


def _held(function: FunctionCode, node: cst.CSTNode) -> str:
    """The attribute that `self.space.sizes.tolist()` reads, which the function does not set; "" for anything else."""
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else node
    name, owner = dotted(cast(cst.BaseExpression, read)), enclosing_function(function, node)
    if owner is None or not name.startswith("self."):
        return ""
    sets = any(isinstance(each, cst.AssignTarget) and dotted(each.target) == name for each in walk(owner))
    return "" if sets else name


def _kept_mask(function: FunctionCode, node: cst.Subscript) -> str:
    """The buffer that is the one mask of an index, as it is or on another device: `x[:, self.mask.to(x.device)]`."""
    indices = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    if len(indices) != 1:
        return ""
    made, owner = indices[0], enclosing_function(function, node)
    if isinstance(made, cst.Name) and owner is not None:
        made = _only_value(function, made) or made
    if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) and made.func.attr.value == "to":
        made = made.func.value
    return _registered(function, made)


def _registered(function: FunctionCode, read: cst.CSTNode | None) -> str:
    """The attribute, where the class around it registers that as a buffer."""
    cls = class_around(function, function.range(read)[0]) if read is not None else None
    if not isinstance(read, cst.Attribute) or not isinstance(read.value, cst.Name) or cls is None:
        return ""
    made = (part for part in ast.walk(cls) if isinstance(part, ast.Call) and part.args)
    named = (call.args[0] for call in made if getattr(call.func, "attr", "") == "register_buffer")
    kept = any(isinstance(name, ast.Constant) and name.value == read.attr.value for name in named)
    return source(function, read) if kept else ""


def set_before(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """What an argument is told in the graph, it can be told before: `x.requires_grad_()`."""
    owner = node.func if isinstance(node, cst.Call) else node
    given = _arguments(function, owner.value, STEPS) if isinstance(owner, cst.Attribute) else ()
    if given:
        told_of = " and ".join(f"`{name}`" for name in sorted(given))
        yield told(f"Say it before the compiled code runs, where {told_of} is made")


def defined_outside(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A class that is made once."""
    yield told(
        "Define it once, at the top of the file, and give it what it takes from the function around it"
    )


def operator(name: str) -> Fix:
    """A function of an extension, registered as an operator."""
    registered = "::".join(name.split(".")[-2:])
    return told(
        f'Register it: `@torch.library.custom_op("{registered}", mutates_args=...)`, which names what it writes to, on '
        "a function with annotated arguments that calls it, `register_fake` for the shapes of what it returns, and "
        "`register_autograd` where gradients go through; the graph calls that one"
    )


def filled_before() -> Fix:
    """A cache that is filled while tracing."""
    return told(
        "Fill it before the compiled code runs, in `__init__` or where the model is loaded; or compute it at each "
        "call, which the compiler fuses"
    )


def counted_in_buffer(name: str) -> Fix:
    """A whole number of a module that counts."""
    return told(
        f'Count in a tensor: `self.register_buffer("{name}", torch.tensor(0), persistent=False)` in `__init__`, '
        f"`self.{name}.add_(n)` for `self.{name} += n`, and what reads it takes a tensor"
    )


def counted_in_tensor(name: str) -> Fix:
    """A whole number of an object that is a hook."""
    return told(
        f"Count in a tensor: `self.{name} = torch.tensor(0)` in `__init__`, `self.{name}.add_(n)` for "
        f"`self.{name} += n`, and what reads it takes a tensor"
    )


def fake(operator: str) -> Fix:
    """An operator that is kept out of the graph since it has no fake."""
    return told(
        f"Register a fake: `torch.library.register_fake` on a function that makes an empty tensor of the shape and "
        f"dtype that `{operator}` returns; this call then goes"
    )


def told(description: str) -> Fix:
    """What is left to the user, in an imperative, without the full stop."""
    return Fix(f"{description}.", "unsafe", (), by_hand=True)


def _short(function: FunctionCode, node: cst.CSTNode) -> str:
    return cut(source(function, node))


def _before(function: FunctionCode, node: cst.CSTNode) -> str:
    """How a value is given instead of computed; "" where more than arguments has a part in it."""
    given = sorted(_arguments(function, node, STEPS))
    if not given:
        return ""
    of, come = " and ".join(f"`{name}`" for name in given), "comes" if len(given) == 1 else "come"
    return (
        f"compute `{_short(function, node)}` before the compiled code runs, where {of} {come} from, and give it as an "
        "argument"
    )


def _arguments(function: FunctionCode, node: cst.CSTNode, steps: int) -> set[str]:
    """The arguments of the function that an expression is computed of; none where anything else has a part in it, as
    what a loop binds or a layer returns."""
    owner = enclosing_function(function, node)
    if owner is None or _asks_layers(function, owner, node):
        return set()
    own = {each.name.value for each in parameters(owner)}
    found: set[str] = set()
    turns = _bound_around(function, node)
    for use in uses(node):
        if use.name in turns:
            return set()
        bound = any(each.binds and each.name == use.name for each in uses(owner.body))
        if use.name in own and (not bound or _has_default(function, owner, use.name)):
            found.add(use.name)
        elif bound:
            made = _only_value(function, use.node) if steps else None
            inner = _arguments(function, made, steps - 1) if made is not None else set()
            if not inner:
                return set()
            found |= inner
    return found - {"self", "cls"}


def _has_default(function: FunctionCode, owner: cst.FunctionDef, name: str) -> bool:
    """Whether an argument is bound again only where it is not given: `if lengths is None: lengths = ...`."""
    for use in uses(owner.body):
        if use.binds and use.name == name:
            here: cst.CSTNode | None = use.node
            while here is not None and here is not owner and not isinstance(here, cst.If):
                here = function.parent(here)
            if not isinstance(here, cst.If) or source(function, here.test) != f"{name} is None":
                return False
    return True


def _bound_around(function: FunctionCode, node: cst.CSTNode) -> set[str]:
    """The names that the comprehensions bind in which the node stands."""
    found: set[str] = set()
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.BaseStatement):
        if isinstance(here, cst.BaseComp):
            loop: cst.CompFor | None = here.for_in
            while loop is not None:
                found |= {use.name for use in uses(loop.target)}
                loop = loop.inner_for_in
        here = function.parent(here)
    return found


def _only_value(function: FunctionCode, name: cst.CSTNode) -> cst.BaseExpression | None:
    """What the one statement that binds a name in its function assigns to it as a whole."""
    owner = enclosing_function(function, name)
    text = cst.ensure_type(name, cst.Name).value
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == text] if owner else []
    target = function.parent(bound[0]) if len(bound) == 1 else None
    statement = function.parent(target) if isinstance(target, cst.AssignTarget) else None
    return statement.value if isinstance(statement, cst.Assign) else None


def _asks_layers(function: FunctionCode, owner: cst.FunctionDef, node: cst.CSTNode) -> bool:
    """Whether a layer may compute any of it, a method of the object or an argument (`self.encode(x)`, `model(x)`), or a
    call that changes what it is given: `clip_grad_norm_(...)`."""
    given = parameters(owner)
    me = given[0].name.value if given and given[0].name.value in ("self", "cls") else None
    called = [part.func for part in walk(node) if isinstance(part, cst.Call)]
    return any(
        not (
            func.value in function.imports
            or func.value in function.functions
            or hasattr(builtins, func.value)
        )
        if isinstance(func, cst.Name)
        else any(use.name == me for use in uses(func)) or source(function, func).endswith("_")
        for func in called
    )
