"""What to write by hand in place of a branch that values in a tensor decide."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.by_hand.given import where_given
from pt2lint.fixes.kinds import may_be_array
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, name_in, small_of
from pt2lint.fixes.text import cut, sign_of, source
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

# What tells where a tensor that is a size, a bound or a flag came from, if that was a number, or a list of them.
MADE_OF_NUMBERS = frozenset(
    f"`torch.{name}` returns a tensor" for name in ("tensor", "as_tensor", "IntTensor", "LongTensor")
)
LEARNT = "`torch.nn.Parameter` returns a tensor"  # the same of what an optimizer changes


def in_assertion(function: FunctionCode, node: cst.CSTNode | None) -> bool:
    while node is not None and not isinstance(node, cst.BaseSmallStatement):
        node = function.parent(node)
    return isinstance(node, cst.Assert)


def decided_before(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """What is decided by arguments alone can be decided before the call: `if x.max() > 1`."""
    before, tested = where_given(function, node), _tested(function, node)
    origins = {op.why.partition(" (")[0] for op in function.ops_at(node)}
    if LEARNT in origins:
        before = ""  # the same at no two steps, and to be read at each
    if origins & MADE_OF_NUMBERS and isinstance(node, cst.Name | cst.Attribute):
        yield told(
            "Leave it a number of Python where it is made, which is known while Dynamo traces: a tensor has to be read "
            "at each call"
        )
    elif kept := _kept_answer(function, node):
        answer = _opposite(function, node)
        yield told(
            f"Keep the answer in a tensor, `{answer}`, and choose with that: `torch.where({kept}, a, b)`"
        )
    elif before and in_assertion(function, node):
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
        if _is_number(node):
            test = f"{test} != 0"
        yield told(
            f"Compute both and choose: `torch.where({test}, a, b)` of what the two sides give; or "
            "`torch.cond`, which runs one of them, where they change nothing else"
        )


def _is_number(node: cst.CSTNode) -> bool:
    """Whether the tensor that is asked for its truth holds a number, which `torch.where` does not take: `mask.sum()`"""
    callee = node.func if isinstance(node, cst.Call) else None
    return isinstance(callee, cst.Attribute) and callee.attr.value in ("sum", "mean", "prod", "count_nonzero")


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
    """Whether all that the test decides is whether an error is raised, with what is computed for its message."""
    *before, last = (small_of(each) for each in tested.body.body)
    made = (isinstance(each, cst.Assign) and isinstance(each.targets[0].target, cst.Name) for each in before)
    return isinstance(last, cst.Raise) and all(made) and tested.orelse is None


def _opposite(function: FunctionCode, node: cst.CSTNode) -> str:
    from pt2lint.fixes.condition import opposite

    return cut(opposite(_in_tensors(function, node)))


def _writes_rows(function: FunctionCode, tested: cst.If) -> str:
    """The mask of which a branch asks whether it holds anywhere, and by which it does no more than to write rows of
    what is read later: `if bad.any(): x = x.clone(); x[bad] = 0`, or `if not good.all(): x[~good] = 0`; "" where it
    does anything else."""
    from pt2lint.fixes.condition import reduced

    test, owner, name = tested.test, enclosing_function(function, tested), "any"
    if is_not := isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, name = test.expression, "all"
    asked = reduced(function, test, name)
    if not isinstance(asked, cst.Name) or tested.orelse is not None or owner is None:
        return ""
    mask = f"~{asked.value}" if is_not else asked.value
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
            and source(function, index.value) == mask
        ):
            written.add(target.value.value)
        else:
            return ""
    kept = (everywhere.count(name) > within.count(name) for name in helpers - written)
    return mask if written and not any(kept) else ""


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
