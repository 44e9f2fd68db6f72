"""A train step, or a loop over batches, that is compiled as a whole: compile what computes the loss and the optimizer's
step, or what is done with a batch, and leave the rest to Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from pt2lint.finding import Edit, Fix
from pt2lint.fixes.file import File, file_of, first_line, placed_in, qualified
from pt2lint.fixes.layout import broken
from pt2lint.op import Op
from pt2lint.rule import FunctionCode
from pt2lint.rule.compiled_call import GRAPHS

BACKWARD = ("call torch.Tensor.backward", "call torch.autograd.backward")
# What a program does around a step, and nothing else helps in compiled code.
AROUND = (*BACKWARD, "call torch.optim.", "call torch.amp.", "call torch.cuda.amp.", "call time.")
# What cannot move into another function, or means something else there.
STAYS = (
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Break,
    ast.Continue,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.NamedExpr,
    ast.Import,
    ast.ImportFrom,
    ast.Try,
)
# Names that look at the function around them, or draw the next batch.
LOOKS_AROUND = {"super", "locals", "vars", "eval", "exec", "dir", "__class__", "next"}
MOST_NAMES = 12  # that a function takes and gives: with more, nobody would want it
ON_THE_LOSS = ("backward", "scale", "mean", "sum")  # what the statement that goes backward may call
BY_HAND = (
    "Compile what computes the loss instead, in a function of its own, and the optimizer's step alone, "
    "`torch.compile(optimizer.step)`; call them, `backward()` and `zero_grad()` as plain Python."
)
BATCH_BY_HAND = (
    "Compile what is done with a batch instead, in a function of its own, and call it in the loop."
)
CLONES = " A CUDA graph writes over what that of an earlier call gave: clone what is read later."


# The blocks that lead to a statement, each with the index of the one that goes on.
_Path = tuple[tuple[list[ast.stmt], int], ...]
# Statements that are to move, what the function is called after them, and where they stand.
_Block = tuple[tuple[ast.stmt, ...], str, _Path]


@dataclass(frozen=True)
class _Part:
    """Statements in a row that go into a function `name`, which takes and gives these names; that of an optimizer's
    step gives none."""

    statements: tuple[ast.stmt, ...]
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class _Step:
    """The function that is compiled, where it stands, and the parameter that is its object ("": it is no method)."""

    node: ast.FunctionDef
    file: File
    names: Mapping[str, str]  # what the file imports
    around: tuple[ast.AST, ...]  # what it stands in, the innermost last
    me: str

    def is_compile(self, node: ast.expr) -> bool:
        return qualified(node, self.names) == "torch.compile"


def fixes(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """The statements above each `loss.backward()` in a function of their own, which is compiled in the step's place,
    as is each optimizer's step; where nothing goes backward, those in a loop over what cannot be traced, as a data
    loader.

    Offered for whatever breaks outside of them, where they stand in a row, it is plain which names they take and leave,
    and the file itself compiles the step: by the decorator `@torch.compile`, or by `torch.compile(step)`. They compute
    what they computed, in the order in which they did. Elsewhere it is told.
    """
    line = function.range(node)[0]
    trains = any(op.name in BACKWARD for op in function.ops)
    if not trains and not any(map(_untraced, function.ops)):
        return
    step = _step(function, line)
    made = _fix(function, step, line, trains) if step is not None and not _records_graphs(step) else None
    told = any(
        len(op.flow) == 1 and (op.name.startswith(AROUND) or _untraced(op)) for op in function.ops_at(node)
    )
    clones = CLONES if step is not None and _records_graphs(step) else ""
    if made is not None:
        yield made
    elif told and trains:
        yield Fix(BY_HAND + clones, "unsafe", (), by_hand=True)
    elif told and step is not None and any(_goes_over(loop, function.ops) for loop in _loops(step)):
        yield Fix(BATCH_BY_HAND + clones, "unsafe", (), by_hand=True)


def _untraced(op: Op) -> bool:
    """Whether it is the loader of a loop, or something else from a library that Dynamo does not trace."""
    words = (op.name, *op.args.values())
    return op.name == "call untraced" or any("torch.utils.data." in word for word in words)


def _loops(step: _Step) -> list[ast.For]:
    return [one for one in ast.walk(step.node) if isinstance(one, ast.For)]


def _goes_over(loop: ast.For, ops: Iterable[Op]) -> bool:
    """Whether what the loop goes over cannot be traced."""
    over = loop.iter
    return any(over.lineno <= op.line <= (over.end_lineno or 0) and _untraced(op) for op in ops)


def _fix(function: FunctionCode, step: _Step, line: int, trains: bool) -> Fix | None:
    known: dict[tuple[ast.AST, bool], list[_Part]] = function.memo.setdefault("parts of steps", {})
    if (step.node, trains) not in known:  # each break of a step asks for them
        known[step.node, trains] = _parts(function, step, trains)
    parts = known[step.node, trains]
    if not parts or any(_holds(one, line) for part in parts if part.outputs for one in part.statements):
        return None  # what breaks there moves along
    compiled = _compiled(step, [part.name for part in parts])
    if compiled is not None and "fullgraph" in str(compiled):
        # A step ends the graph wherever it is called, also where nothing else is compiled with it.
        parts = [part for part in parts if part.outputs]
        compiled = _compiled(step, [part.name for part in parts])
    names = [part.name for part in parts]
    taken = [name for name in names if re.search(rf"\b{name}\b", step.file.source)]
    if compiled is None or len(set(names)) < len(names) or taken:
        return None
    above, sites = compiled
    file, path = step.file, function.path
    first = first_line(step.node)
    top = first
    while top > 1 and file.lines[top - 2].lstrip().startswith("#"):  # what is said of the step stays with it
        top -= 1
    indent = _indent(file.lines[first - 1])
    blank = "\n" * (2 if indent else 3)
    made = ""
    for part in parts:
        made += _written(step, part, [indent + one for one in above], indent) + blank
        if step.node.decorator_list:  # what is said beside it is said once
            above = f"@{_text(step, step.node.decorator_list[0])}".replace(f"\n{indent}", "\n").split("\n")
    edits = [Edit(path, top, 1, top, 1, made)]
    if step.node.decorator_list:
        edits.append(Edit(path, first, 1, step.node.lineno, 1, ""))
    edits += [file.edit(new, site) for site, new in sites]
    for part in parts:
        last = part.statements[-1]
        end = len(file.lines[(last.end_lineno or 0) - 1]) + 1  # with the comment that moves along
        edits.append(replace(file.edit(_call(step, part), part.statements[0], last), end_column=end))
    which = " and ".join(f"`{name}`" for name in names)
    one = len(names) == 1
    steps = any(not part.outputs for part in parts)
    what = (
        "computes the loss" + (" and the optimizer's step" if steps else "")
        if trains
        else "is done with a batch"
    )
    optimizer = " An optimizer's step that is to stay compiled is compiled by itself: `torch.compile(optimizer.step)`."
    return Fix(
        f"Compile what {what}: {which} {'takes' if one else 'take'} it over and {'is' if one else 'are'} "
        f"compiled, `{step.node.name}` runs as plain Python around {'it' if one else 'them'}."
        + (optimizer if trains and not steps else ""),
        "unsafe",
        tuple(edits),
        traits=("compiles elsewhere",),
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _step(function: FunctionCode, line: int) -> _Step | None:
    """The innermost function that holds the line."""
    file = file_of(function)
    around: list[ast.AST] = []
    body: Sequence[ast.AST] = file.tree.body
    while body:
        found = next((one for one in body if _holds(one, line)), None)
        if found is None:
            break
        around.append(found)
        body = [one for one in ast.iter_child_nodes(found) if isinstance(one, ast.stmt)]
    at = max((i for i, one in enumerate(around) if isinstance(one, ast.FunctionDef)), default=None)
    if at is None:
        return None
    node = around[at]
    assert isinstance(node, ast.FunctionDef)
    outer = tuple(around[:at])
    method = bool(outer) and isinstance(outer[-1], ast.ClassDef)
    given = placed_in(node)
    if method and not given:
        return None
    me = given[0].arg if method else ""
    return _Step(node, file, function.imports, outer, me)


def _holds(node: ast.AST, line: int) -> bool:
    return isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)


# --- where the step is compiled


def _compiled(step: _Step, names: Sequence[str]) -> tuple[list[str], list[tuple[ast.AST, str]]] | None:
    """The decorator that the new functions get, if any, and what else of the file is replaced in order to compile
    them; None where it is not plain that the file compiles the step, and how."""
    decorators = step.node.decorator_list
    if decorators:
        [first, *more] = decorators
        if more or not step.is_compile(first.func if isinstance(first, ast.Call) else first):
            return None
        lines = step.file.lines[first.lineno - 1 : step.node.lineno - 1]
        return [line.removeprefix(_indent(lines[0])) for line in lines], []
    calls = list(_calls(step))
    if step.me and _defined(step) != 1:
        return None
    above: list[str] = []
    sites: list[tuple[ast.AST, str]] = []
    for call, around in calls:
        site = _assigned(step, call, around, names)
        if site is None:
            site = (call, _text(step, call.args[0]))
            decorator = _as_decorator(step, call, around)
            if decorator is None or len(calls) > 1:
                return None
            above = [decorator]
        sites.append(site)
    return (above, sites) if sites else None


def _defined(step: _Step) -> int:
    """How many functions of the file have the step's name."""
    return sum(isinstance(one, ast.FunctionDef) and one.name == step.node.name for one in step.file.nodes)


def _records_graphs(step: _Step) -> bool:
    """Whether what compiles the step may record CUDA graphs. What one call gives, the graphs of the next one write
    over: reading it fails then, as of the loss after a compiled step of its optimizer. Within one call it does not."""
    made = [one for one in step.node.decorator_list if isinstance(one, ast.Call)]
    return any(_may_record(one) for call in made or [c for c, _ in _calls(step)] for one in call.keywords)


def _may_record(argument: ast.keyword) -> bool:
    text = ast.unparse(argument.value)
    if argument.arg == "mode":
        return text in GRAPHS or not isinstance(argument.value, ast.Constant)
    if argument.arg == "options":
        return "cudagraphs" in text or not isinstance(argument.value, ast.Dict | ast.Constant)
    return argument.arg is None


def _calls(step: _Step) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
    """The calls of torch.compile that are given the step, with all that they stand in, the innermost first."""
    pending: list[tuple[ast.AST, list[ast.AST]]] = [(step.file.tree, [])]
    while pending:
        node, around = pending.pop()
        if isinstance(node, ast.Call) and node.args and step.is_compile(node.func):
            given = node.args[0]
            if step.me:
                same = isinstance(given, ast.Attribute) and given.attr == step.node.name
            else:
                same = isinstance(given, ast.Name) and given.id == step.node.name
            if same:
                yield node, around
        pending += [(child, [node, *around]) for child in ast.iter_child_nodes(node)]


def _assigned(
    step: _Step, call: ast.Call, around: list[ast.AST], names: Sequence[str]
) -> tuple[ast.AST, str] | None:
    """`step = torch.compile(step)`, alone, in `torch.compile(step) if flag else step` or among other things that a
    statement gives or returns: the statement, and what assigns the new functions, compiled in the same way, instead."""
    given, value = _text(step, call.args[0]), _text(step, call)
    if not step.me and _function_of(around) is not _function_of(reversed(step.around)):
        return None  # the name is another one there
    if not re.fullmatch(r"[\w.]+", given):
        return None
    inner = around[: next(i for i, one in enumerate(around) if isinstance(one, ast.stmt))]
    statement, rest = around[len(inner)], given
    choice = inner[0] if len(inner) == 1 and isinstance(inner[0], ast.IfExp) else None
    if choice is not None:
        if {_text(step, choice.body), _text(step, choice.orelse)} != {value, given}:
            return None
        value = _text(step, choice)
    elif not all(isinstance(one, ast.Tuple | ast.List | ast.Dict | ast.Call | ast.keyword) for one in inner):
        return None
    else:
        rest = _text(step, statement).replace(value, given)
    if not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
        return None
    owner = given[: -len(step.node.name)]
    its_name = rf"(?<![\w.]){re.escape(given)}\b"
    made = [f"{owner}{name} = " + re.sub(its_name, owner + name, value) for name in names]
    if isinstance(statement, ast.Assign) and (not inner or choice is not None):
        targets = [_text(step, one) for one in statement.targets]
        made += [" = ".join([*targets, given])] if targets != [given] else []
    elif rest != given:
        made.append(rest)
    else:
        return None
    indent = _indent(step.file.lines[statement.lineno - 1])
    return statement, f"\n{indent}".join(made)


def _as_decorator(step: _Step, call: ast.Call, around: list[ast.AST]) -> str | None:
    """What `torch.compile(step, mode="default")` is as a decorator, where it surely runs and has constants alone."""
    where = _function_of(around)
    statement = next(one for one in around if isinstance(one, ast.stmt))
    if where is not None and statement not in where.body:
        return None
    if len(call.args) > 1 or not all(isinstance(one.value, ast.Constant) for one in call.keywords):
        return None
    if not isinstance(around[0], ast.stmt | ast.Call | ast.keyword):
        return None
    keywords = ", ".join(f"{one.arg}={_text(step, one.value)}" for one in call.keywords)
    return f"@{_text(step, call.func)}" + (f"({keywords})" if keywords else "")


def _function_of(around: Iterable[ast.AST]) -> ast.FunctionDef | None:
    return next((one for one in around if isinstance(one, ast.FunctionDef)), None)


def _text(step: _Step, node: ast.AST) -> str:
    return ast.get_source_segment(step.file.source, node) or ""


# --- what moves


def _parts(function: FunctionCode, step: _Step, trains: bool) -> list[_Part]:
    """What moves, each with a name; nothing where one of them cannot."""
    breaking = function.broken()
    a = step.node.args
    if a.vararg or a.kwarg:
        return []
    parts: list[_Part] = []
    for block, name, path in (_losses if trains else _batches)(function, step, breaking):
        names = _names(step.node, block, path) if block else None
        if (
            names is None
            or not names[1]
            or len(names[0]) + len(names[1]) > MOST_NAMES
            or not _stands_alone(step, block, path)
        ):
            return []
        parts.append(_Part(block, f"{step.node.name}_{name}", *names))
    return [*parts, *_steps(function, step)] if parts and trains else parts


def _steps(function: FunctionCode, step: _Step) -> Iterator[_Part]:
    """The steps of optimizers, each alone. Within the whole they were compiled too, in graphs of their own; as plain
    Python they undo what compiling gains (Adam, three linear layers, torch 2.13 on a CPU: the whole takes 0.94 ms, the
    loss alone compiled 2.0 ms, the loss and the step 0.96 ms)."""
    lines = {op.line for op in function.ops if re.fullmatch(r"call torch\.optim\.\w+\.step", op.name)}
    found: dict[str, tuple[ast.stmt, _Path]] = {}
    for line in sorted(lines):
        path = _path(step.node, line, lambda one: isinstance(one, ast.Expr))
        one = _at(path[-1]) if path is not None else None
        if path is None or one is None:
            continue
        plain = re.fullmatch(r"([\w.]+)\.step\(\)", _text(step, one))
        if plain and _stands_alone(step, (one,), path):
            owner = plain[1]
            if owner in found:
                return  # which of them is reached is not looked into
            found[owner] = one, path
    for owner, (one, path) in found.items():
        names = _names(step.node, (one,), path)
        if names is not None:
            name = f"{step.node.name}_{'optimizer' if len(found) == 1 else owner.rpartition('.')[2]}"
            yield _Part((one,), name if step.node.name.endswith("step") else f"{name}_step", *names)


def _losses(function: FunctionCode, step: _Step, breaking: set[int]) -> list[_Block]:
    """What computes the loss of each `backward()`; an empty block where more is computed of it."""
    backward = {op.line for op in function.ops if op.name in BACKWARD}
    found: list[tuple[tuple[ast.stmt, ...], ast.stmt, _Path]] = []
    for line in sorted(backward):
        path = _path(step.node, line, lambda one: isinstance(one, ast.Expr))
        if path is None:
            continue
        at = path[-1][0][path[-1][1]]
        block: tuple[ast.stmt, ...] = ()
        while path:
            body, index = path[-1]
            block = _block(body[:index], breaking, backward)
            # Above the `if` that decides how to go backward.
            if block or len(path) < 2 or not isinstance(_at(path[-2]), ast.If | ast.With):
                break
            path = path[:-1]
        if block and not any(block[0] is one[0][0] for one in found):
            found.append((block, at, path))
    alone = len(found) == 1
    return [
        (_of_loss(block, at, path), "loss" if alone else _told(at, number), path)
        for number, (block, at, path) in enumerate(found, 1)
    ]


def _batches(function: FunctionCode, step: _Step, breaking: set[int]) -> list[_Block]:
    """What the one loop over what cannot be traced does with each batch."""
    loops = [loop for loop in _loops(step) if _goes_over(loop, function.ops)]
    block = _block(loops[0].body, breaking, set()) if len(loops) == 1 else ()
    path = _path(step.node, block[0].lineno, lambda one: one is block[0]) if block else None
    return [(block, "batch", path)] if path is not None else []


def _of_loss(block: tuple[ast.stmt, ...], backward: ast.stmt, path: _Path) -> tuple[ast.stmt, ...]:
    """Of the statements those up to what goes backward; none where more is computed of it than is scaled."""
    calls = [part.func for part in ast.walk(backward) if isinstance(part, ast.Call)]
    if not all(isinstance(one, ast.Attribute) and one.attr in ON_THE_LOSS for one in calls):
        return ()
    read = set(_read([backward]))
    body, index = path[-1]
    after = body[body.index(block[-1]) + 1 : index]
    if any(
        read & set(_bound([one])) and any(isinstance(part, ast.Call) for part in ast.walk(one))
        for one in after
    ):
        return ()
    last = max((i for i, one in enumerate(block) if read & set(_bound([one]))), default=-1)
    return block[: last + 1]


def _stands_alone(step: _Step, block: Sequence[ast.stmt], path: _Path) -> bool:
    """Whether the statements have their lines to themselves, and no text in them would be indented otherwise."""
    body = path[-1][0]
    first, last = body.index(block[0]), body.index(block[-1])
    before = body[first - 1].end_lineno or 0 if first else 0
    after = [one.lineno for one in body[last + 1 :]]
    texts = [
        part
        for one in block
        for part in ast.walk(one)
        if isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno != part.lineno
    ]
    starts = not step.file.lines[block[0].lineno - 1][: block[0].col_offset].strip()
    ends = all(one > (block[-1].end_lineno or 0) for one in after)
    return starts and before < block[0].lineno and ends and not texts


def _at(place: tuple[list[ast.stmt], int]) -> ast.stmt:
    return place[0][place[1]]


def _told(backward: ast.stmt, number: int) -> str:
    """What to call what computes the loss of this `backward()`, one of several."""
    owner = next(
        (
            one.func.value
            for one in ast.walk(backward)
            if isinstance(one, ast.Call)
            and isinstance(one.func, ast.Attribute)
            and one.func.attr == "backward"
        ),
        None,
    )
    return owner.id if isinstance(owner, ast.Name) else f"loss_{number}"


def _path(step: ast.FunctionDef, line: int, wanted: Callable[[ast.stmt], bool]) -> _Path | None:
    """The blocks that lead to the statement at the line that is wanted, each with the index of the one that goes on."""
    path: list[tuple[list[ast.stmt], int]] = []
    bodies = [step.body]
    while True:
        found = next(((body, i) for body in bodies for i, one in enumerate(body) if _holds(one, line)), None)
        if found is None:
            return None
        path.append(found)
        one = _at(found)
        if wanted(one):
            return tuple(path)
        if not isinstance(one, ast.For | ast.While | ast.With | ast.If):
            return None
        bodies = [one.body, getattr(one, "orelse", [])]


def _block(above: Sequence[ast.stmt], breaking: set[int], backward: set[int]) -> tuple[ast.stmt, ...]:
    """Of the statements after the last `backward()`, those in a row that move and hold most of the calls."""
    if len({one.lineno for one in above}) < len(above):
        return ()  # several on one line: which of them breaks, its number does not tell

    def holds(statement: ast.stmt, lines: set[int]) -> bool:
        return any(_holds(statement, line) for line in lines)

    start = max((i + 1 for i, one in enumerate(above) if holds(one, backward)), default=0)
    rows: list[list[ast.stmt]] = [[]]
    left: list[ast.stmt] = []
    for one in above[start:]:
        if _moves(one) and not holds(one, breaking):
            rows[-1].append(one)
        else:
            rows.append([])
            left += [] if holds(one, breaking) else [one]

    def calls(row: Sequence[ast.stmt]) -> int:
        return sum(isinstance(part, ast.Call) for one in row for part in ast.walk(one))

    best = max(reversed(rows), key=calls)
    others = calls(left) + sum(calls(row) for row in rows if row is not best)
    return tuple(best) if calls(best) > others else ()


def _moves(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        callee = statement.value.func if isinstance(statement.value, ast.Call) else None
        if not isinstance(callee, ast.Attribute) or not callee.attr.endswith("_"):
            return False  # a docstring, or what is done for its effect on something else than a tensor
    return not any(
        isinstance(part, STAYS) or (isinstance(part, ast.Name) and part.id in LOOKS_AROUND)
        for part in ast.walk(statement)
    )


def _names(
    step: ast.FunctionDef, taken: Sequence[ast.stmt], path: _Path
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What the statements take of the function's own names, and leave to others; None where a name may not be bound."""
    shared = {
        name for one in ast.walk(step) if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names
    }
    a = step.args
    parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    sure, looping, anew = set(parameters), False, set[str]()
    for (body, index), within in zip(path, [None, *map(_at, path)], strict=False):
        if isinstance(within, ast.For | ast.While):
            looping, anew = True, set(_bound([within.target]) if isinstance(within, ast.For) else ())
            sure |= anew
        elif isinstance(within, ast.With):
            sure |= {
                name for item in within.items if item.optional_vars for name in _bound([item.optional_vars])
            }
        before = body[: body.index(taken[0])] if taken[0] in body else body[:index]
        sure |= _surely(before)
    local = ({*parameters, *_bound([step])} | {n for one in step.body for n in _imported(one)}) - shared
    made, needed = _bound(taken), _needed(taken)
    # In the order of the step's own parameters, then as they are read.
    inputs = [name for name in dict.fromkeys([*parameters, *needed]) if name in needed and name in local]
    if not set(inputs) <= sure:
        return None
    inside = {id(part) for one in taken for part in ast.walk(one)}
    # What may run at any time.
    whenever = [
        one
        for one in ast.walk(step)
        if isinstance(one, ast.FunctionDef | ast.Lambda) and (looping or one is not step)
    ]
    later = {
        name
        for one in whenever
        for part in ast.walk(one)
        if id(part) not in inside
        for name in _read_here(part)
    }
    inner = path[-1][0]
    later |= set(_needed(inner[inner.index(taken[-1]) + 1 :]))
    for body, index in path[:-1]:
        later |= set(_needed(body[index + 1 :]))
    # What a turn leaves to the next one is not what the loop binds at each.
    carried = {*later, *(set(inputs) - anew if looping else ())}
    outputs = [name for name in made if name in carried]
    if shared & set(made) or not set(outputs) <= _surely(taken) | set(inputs):
        return None
    return tuple(inputs), tuple(outputs)


def _needed(statements: Iterable[ast.stmt], bound: frozenset[str] = frozenset()) -> list[str]:
    """The names that are read before the statements themselves surely bind them."""
    found: list[str] = []
    for one in statements:
        heads: Sequence[ast.AST] = [one]
        blocks: list[list[ast.stmt]] = []
        within = bound
        if isinstance(one, ast.With):
            heads, blocks, within = one.items, [one.body], bound.union(_bound(one.items))
        elif isinstance(one, ast.If | ast.While):
            heads, blocks = [one.test], [one.body, one.orelse]
        elif isinstance(one, ast.For):
            heads, blocks, within = [one.iter], [one.body], bound.union(_bound([one.target]))
            found += _needed(one.orelse, bound)
        found += [name for name in _read(heads) if name not in bound]
        for block in blocks:
            found += _needed(block, within)
        bound |= _surely([one])
    return list(dict.fromkeys(found))


def _read_here(part: ast.AST) -> Iterator[str]:
    """The name that this node itself reads."""
    if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
        yield part.target.id
    elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
        yield part.id


def _read(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are read, `x += 1` included, in their order."""
    found = [
        (part.lineno, part.col_offset, name)  # type: ignore[attr-defined]
        for one in nodes
        for part in ast.walk(one)
        for name in _read_here(part)
    ]
    return list(dict.fromkeys(name for _, _, name in sorted(found)))


def _bound(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that may be bound, those that a pattern captures included."""
    found: dict[str, None] = {}
    for part in (part for one in nodes for part in ast.walk(one)):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found[part.id] = None
        elif isinstance(part, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and part.name:
            found[part.name] = None
        elif isinstance(part, ast.MatchMapping) and part.rest:
            found[part.rest] = None
    return list(found)


def _surely(statements: Iterable[ast.stmt]) -> set[str]:
    """The names that are bound whatever happens, by assignments of one level."""
    found: set[str] = set()
    for one in statements:
        if isinstance(one, ast.With):
            found |= {n for item in one.items if item.optional_vars for n in _bound([item.optional_vars])}
            found |= _surely(one.body)
        elif isinstance(one, ast.If) and one.orelse:
            found |= _surely(one.body) & _surely(one.orelse)
        elif isinstance(one, ast.Assign | ast.AugAssign) or (isinstance(one, ast.AnnAssign) and one.value):
            found |= set(_bound([one]))
        else:
            found |= _imported(one)
    return found


def _imported(statement: ast.AST) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).split(".")[0] for one in statement.names}
    return set()


# --- how it is written


def _written(step: _Step, part: _Part, above: Sequence[str], indent: str) -> str:
    """The new function, without what ends its last line."""
    lines = step.file.lines
    taken = lines[part.statements[0].lineno - 1 : part.statements[-1].end_lineno]
    deep, inner = _indent(taken[0]), _indent(lines[step.node.body[0].lineno - 1])
    body = [inner + one.removeprefix(deep) if one.startswith(deep) else one for one in taken]
    parameters = ", ".join([*([step.me] if step.me else ()), *_declared(step, part)])
    gives = " -> None" if step.node.returns is not None and not part.outputs else ""
    header = f"{indent}def {part.name}({parameters}){gives}:"
    header_lines = broken(header, step.file.line_length, inner.removeprefix(indent))
    end = [f"{inner}return {', '.join(part.outputs)}"] if part.outputs else []
    return "\n".join([*above, *header_lines, *body, *end])


def _declared(step: _Step, part: _Part) -> Iterator[str]:
    """What the function takes, with the annotations of the step's own parameters that are still what was given."""
    a = step.node.args
    said = {
        one.arg: _text(step, one.annotation)
        for one in (*placed_in(step.node), *a.kwonlyargs)
        if one.annotation
    }
    first = part.statements[0].lineno
    anew = {
        one.id
        for one in ast.walk(step.node)
        if isinstance(one, ast.Name) and one.lineno < first and isinstance(one.ctx, ast.Store)
    }
    for name in _given(step, part):
        known = said.get(name, "") if name not in anew else ""
        yield f"{name}: {known}" if known and "\n" not in known else name


def _given(step: _Step, part: _Part) -> list[str]:
    return [name for name in part.inputs if name != step.me]


def _call(step: _Step, part: _Part) -> str:
    owner = f"{step.me}." if step.me else ""
    first = step.file.lines[part.statements[0].lineno - 1]
    given = f"{', '.join(part.outputs)} = " if part.outputs else ""
    line = f"{_indent(first)}{given}{owner}{part.name}({', '.join(_given(step, part))})"
    deeper = _indent(step.file.lines[step.node.body[0].lineno - 1]).removeprefix(
        _indent(step.file.lines[step.node.lineno - 1])
    )
    return "\n".join(broken(line, step.file.line_length, deeper)).removeprefix(_indent(first))
