"""What to write by hand in place of a number that is read out of a tensor, or that makes one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import cast

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.by_hand import told
from pt2lint.fixes.by_hand.branches import MADE_OF_NUMBERS, decided_before, in_assertion
from pt2lint.fixes.by_hand.given import STEPS, arguments_of, in_short, only_value, registered, where_given
from pt2lint.fixes.file import class_around, file_of, kept_in
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.kinds import told as kind_told
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import enclosing_function, name_in
from pt2lint.fixes.text import in_parentheses
from pt2lint.op import DREW
from pt2lint.rule import FunctionCode
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import is_name, walk

_FROM_LISTS = frozenset(
    f"torch.{name}" for name in "tensor as_tensor Tensor BoolTensor FloatTensor IntTensor LongTensor".split()
)
_DRAWS = frozenset(f"torch.{name}" for name in ("rand", "randint", "randn", "randperm"))
ALL_AT_ONCE = (
    "Compute for all positions at once: `torch.searchsorted(ends, torch.arange(n), right=True)`, with `ends` the "
    "`cumsum` of the lengths and `n` of a shape, says which of them each belongs to; `index_add_` sums by that, and "
    "`torch.arange(n) - starts[it]` counts within each"
)
_DRAW_BEFORE = (
    "Draw it before the compiled code runs, and pass it in: what is drawn has to be known wherever it picks something "
    "or says how often; another number compiles once more"
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
    elif name := _only_computed_with(function, node):
        yield told(f"Keep it a tensor all through: `{name}` is only computed with, which a tensor is as well")
    elif _is_drawn(function, node) and not isinstance(_compared(function, node), cst.Comparison):
        yield told(_DRAW_BEFORE)
    elif counted := _counts_calls(function, node):
        yield told(
            f"Count outside of the compiled code, as what trains does beside the optimizer's step: `{counted}` changes "
            "at each call, and a number of Python that does is compiled again for each"
        )
    elif before := where_given(function, node):
        yield told(f"Pass it in: {before}. That breaks no graph; another number compiles once more, for any")
    elif _ends_slices(function, node):
        yield told(
            "Compare positions with the tensor, which takes no number: `torch.arange(n) < k` is the mask of the first "
            "`k`"
        )
    elif (loop := turns_by(function, node)) is not None and _bounds(loop, writes=True):
        yield told(ALL_AT_ONCE)
    elif loop is not None and _bounds(loop, writes=False):
        yield told(_CROPS)
    elif loop is not None and _sums_up(function, node):
        yield told(
            "Compute it of all at once, without the loop: differences with `torch.diff`, running sums with "
            "`torch.cumsum`, which give each turn's number as an element of one tensor"
        )
    elif kept := _kept_by_name(function, node):
        yield told(f"Keep the tensor there, `{kept}`, and read the number where it is logged, after the call")
    elif kept := _kept_in_attribute(function, node):
        yield told(
            f"Keep the tensor there, `{kept}`, and read the number after the call, where it is asked for"
        )
    elif any(why.endswith(" is a buffer") for why in _origins(function, node)) and turns_by(function, node):
        yield told(KEEP_NUMBERS.format("the buffer"))
    elif numbers := _joined_again(function, node):
        yield told(f"Put the tensors in the list, and make one of them: `torch.stack({numbers})`")
    elif isinstance(compared := _compared(function, node), cst.Comparison):
        yield from decided_before(function, compared)


def _is_drawn(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it is read out of a random tensor that is made for it: `torch.randint(9, (1,)).item()`."""
    here: cst.CSTNode | None = node
    while isinstance(here, cst.Call):
        if (qualified(function, here.func) or "") in _DRAWS:
            return True
        given = here.args[0].value if here.args and isinstance(here.func, cst.Name) else None
        here = here.func.value if isinstance(here.func, cst.Attribute) else given or here.func
    return False


def _counts_calls(function: FunctionCode, node: cst.CSTNode) -> str:
    """The buffer in which the class around it counts calls: `n = self.steps.item()`, then `self.steps += 1`."""
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
    buffer = registered(function, read)
    cls = class_around(function, function.range(node)[0]) if buffer else None
    raised = (
        part.target
        for part in (ast.walk(cls) if cls is not None else ())
        if isinstance(part, ast.AugAssign) and isinstance(part.value, ast.Constant)
    )
    return buffer if any(ast.unparse(target) == buffer for target in raised) else ""


def _only_computed_with(function: FunctionCode, node: cst.CSTNode) -> str:
    """The name that a number is given, which is used in sums, products and the like alone, and in names of which that
    holds: `total += n * loss`, then `total / count`."""
    assigned, owner = _name_of(function, node), enclosing_function(function, node)
    if owner is None or not assigned or not isinstance(node, cst.Call):
        return ""
    wanted, done = [assigned], set[str]()
    while wanted:
        name = wanted.pop()
        if name in done:
            continue
        done.add(name)
        for use in uses(owner.body):
            if use.name != name or use.binds:
                continue
            above = function.parent(use.node)
            if isinstance(above, cst.AugAssign) and isinstance(above.target, cst.Name):
                wanted += (
                    [] if _is_made_by_torch(function, owner, above.target.value) else [above.target.value]
                )
            elif not isinstance(above, cst.BinaryOperation):
                return ""
    return assigned


def _is_made_by_torch(function: FunctionCode, owner: cst.FunctionDef, name: str) -> bool:
    """Whether the function begins with a tensor under that name: `loss = torch.tensor(0.0)`."""
    made = (
        function.parent(function.parent(use.node) or use.node) for use in uses(owner.body) if use.name == name
    )
    return any(
        isinstance(each, cst.Assign)
        and isinstance(each.value, cst.Call)
        and (qualified(function, each.value.func) or "").startswith("torch.")
        for each in made
    )


def _name_of(function: FunctionCode, node: cst.CSTNode) -> str:
    """The name that it is assigned to, by itself or as one of several (`a, n = 0, x.sum().item()`)."""
    above = function.parent(node)
    if isinstance(above, cst.Element):
        several = function.parent(above)
        made = function.parent(several) if isinstance(several, cst.Tuple) else None
        target = made.targets[0].target if isinstance(made, cst.Assign) else None
        if isinstance(several, cst.Tuple) and isinstance(target, cst.Tuple):
            at = next(i for i, each in enumerate(several.elements) if each is above)
            if len(target.elements) == len(several.elements):
                own = target.elements[at].value
                return own.value if isinstance(own, cst.Name) else ""
    assigned = name_in(above)
    return assigned.value if assigned is not None else ""


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
    return all(in_assertion(function, use) or _only_asserted(function, use, steps - 1) for use in read)


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


def turns_by(function: FunctionCode, node: cst.CSTNode) -> cst.For | None:
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


def _sums_up(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it is added to a number, by itself or with others: `count += ends[i].item() - ends[i - 1].item()`."""
    here = function.parent(node)
    while isinstance(here, cst.BinaryOperation):
        here = function.parent(here)
    return isinstance(here, cst.AugAssign) and isinstance(here.target, cst.Name)


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
            here = only_value(function, here) or _one_of_several(function, here)
        elif not isinstance(here, cst.Call):
            return False
        elif qualified(function, here.func) in ("torch.tensor", "torch.as_tensor"):
            given = here.args[0].value if here.args else None
            if isinstance(given, cst.Subscript):
                given = given.value
            # What a function of the project gives `torch.tensor` is no tensor, of which that would warn.
            lists = isinstance(given, cst.List | cst.ListComp | cst.Call | cst.Name)
            return lists or (isinstance(given, cst.Attribute) and given.attr.value == "shape")
        else:
            here = here.func.value if isinstance(here.func, cst.Attribute) else None
    return False


def _one_of_several(function: FunctionCode, name: cst.Name) -> cst.BaseExpression | None:
    """What the one statement that binds a name assigns to it beside others: `a, n = x, torch.tensor(lengths)`."""
    owner = enclosing_function(function, name)
    bound = [use.node for use in uses(owner.body) if use.binds and use.name == name.value] if owner else []
    element = function.parent(bound[0]) if len(bound) == 1 else None
    target = function.parent(element) if isinstance(element, cst.Element) else None
    if not isinstance(target, cst.Tuple):
        return None
    above = function.parent(target)
    made = function.parent(above) if isinstance(above, cst.AssignTarget) else None
    if not isinstance(made, cst.Assign) or not isinstance(made.value, cst.Tuple):
        return None
    sides = zip(target.elements, made.value.elements, strict=False)
    return next((value.value for own, value in sides if own is element), None)


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
    text = in_short(function, read).removesuffix(".numpy()")
    return text if text.endswith((".detach()", "...")) else f"{text}.detach()"


def _kept_in_attribute(function: FunctionCode, node: cst.CSTNode) -> str:
    """The tensor whose number the function puts into an attribute that it does not read: `self.scale = k.item()`."""
    above, owner = function.parent(node), enclosing_function(function, node)
    target = above.targets[0].target if isinstance(above, cst.Assign) and len(above.targets) == 1 else None
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
    if not isinstance(target, cst.Attribute) or read is None or owner is None:
        return ""
    if any(part is not target and part.deep_equals(target) for part in walk(owner.body)):
        return ""
    return f"{in_short(function, read)}.detach()"


def _joined_again(function: FunctionCode, node: cst.CSTNode) -> str:
    """The list of which the function makes a tensor again, and which it puts the number in: `sizes.append(n.item())`,
    then `torch.tensor(sizes)`."""
    argument, owner = function.parent(node), enclosing_function(function, node)
    puts = function.parent(argument) if isinstance(argument, cst.Arg) else None
    if owner is None or not isinstance(puts, cst.Call) or not isinstance(puts.func, cst.Attribute):
        return ""
    numbers = puts.func.value
    if not isinstance(numbers, cst.Name) or puts.func.attr.value != "append":
        return ""
    made = [
        call
        for call in walk(owner.body)
        if isinstance(call, cst.Call) and qualified(function, call.func) in _FROM_LISTS and call.args
    ]
    taken = [call for call in made if is_name(call.args[0].value, numbers.value)]
    used = [use for use in uses(owner.body) if use.name == numbers.value and not use.binds]
    return numbers.value if len(taken) == 1 and len(used) == 2 else ""


def number(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """A size, a bound or a range of a number, where a tensor stands."""
    why = _origins(function, node)
    if why & MADE_OF_NUMBERS:
        yield told(_NUMBERS_BEFORE)
    elif DREW in why:
        yield told(_DRAW_BEFORE)
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
        yield told(ALL_AT_ONCE)
    elif _picks_part(function, node):
        yield told(
            "Run all of them, and weigh what each gives with a tensor that is 0 where it is not picked; or pick it "
            "before the compiled code runs, with a number of Python: that is compiled once for each"
        )
    elif rows := _rows_before(function, node):
        yield told(
            f"Pass the numbers in: {rows}, is a list that Dynamo knows; other numbers are compiled once more"
        )
    elif isinstance(node, cst.Call) and not isinstance(function.parent(node), cst.Index):
        yield told(
            "Take a number that is known: a bound from a shape, the configuration or an argument, with a mask for what "
            "is too much"
        )


def _picks_part(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether it picks one of several modules: `self.experts[i]`."""
    index = function.parent(node)
    element = function.parent(index) if isinstance(index, cst.Index) else None
    picked = function.parent(element) if element is not None else None
    place = picked.value if isinstance(picked, cst.Subscript) else None
    if not isinstance(place, cst.Attribute) or not is_name(place.value, "self"):
        return False
    return any(
        isinstance(made, ast.Call) and ast.unparse(made.func).rpartition(".")[2] == "ModuleList"
        for made in kept_in(function, function.range(node)[0], place.attr.value)
    )


def _rows_before(function: FunctionCode, node: cst.CSTNode) -> str:
    """What gives the rows of a tensor as Python's numbers, over which a loop goes that is given it: `for t, h, w in
    sizes:`; "" where that is made of more than arguments."""
    loop = turns_by(function, node)
    if loop is not None and isinstance(loop.iter, cst.Call) and isinstance(loop.iter.func, cst.Name):
        return ""  # `range(x.shape[0])`
    if loop is None or not kind_told(function, loop.iter).startswith("tensor"):
        return ""
    given = sorted(arguments_of(function, loop.iter, STEPS))
    if not given:
        return ""
    of, come = " and ".join(f"`{name}`" for name in given), "comes" if len(given) == 1 else "come"
    rows = in_parentheses(in_short(function, loop.iter))
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
        yield told(ALL_AT_ONCE)
        return
    yield told(
        "Keep it a tensor: `cumsum`, a gather or `scatter_add` does for all what the numbers do one by one; where they "
        "are the same at each call, pass them in"
    )


def _buffer(function: FunctionCode, node: cst.CSTNode) -> str:
    """The buffer that `self.sizes.tolist()` reads, "" where it reads anything else."""
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
    return registered(function, read)


def _held(function: FunctionCode, node: cst.CSTNode) -> str:
    """The attribute that `self.space.sizes.tolist()` reads, which the function does not set; "" for anything else."""
    read = node.func.value if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else node
    name, owner = dotted(cast(cst.BaseExpression, read)), enclosing_function(function, node)
    if owner is None or not name.startswith("self."):
        return ""
    sets = any(isinstance(each, cst.AssignTarget) and dotted(each.target) == name for each in walk(owner))
    return "" if sets else name
