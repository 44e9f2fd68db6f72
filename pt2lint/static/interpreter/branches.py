"""What is said of the statements that run after a test: once, before an error, while a best one is sought."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import (
    MAX_PASSED,
    always,
    fails,
    gives_nothing,
    is_something,
    is_zero,
    keeps,
    looked_up,
    missing,
    name_given,
    nested,
    set_in,
)
from pt2lint.static.interpreter.guards import (
    EQUATED,
    GRADLESS,
    LATE,
    LEAVES,
    ONCE,
    RAISES,
    SEARCHES,
    SPREAD,
    WARNS,
    Guard,
    Path,
)
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import (
    SIMPLE,
    FunctionNode,
    asks_by_name,
    is_name,
    is_own,
    says_none,
    unit_of,
    walk,
)
from pt2lint.static.values import Func, Instance, Value, tensor_of

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


def _at_first(test: ast.expr, met: bool, body: list[ast.stmt], frame: Frame) -> bool:
    """Whether the branch tells something the first few times alone, by a counter that the statements before it raise:
    `told[text] += 1`, then `if told[text] <= n: log(text)`."""
    if not met or not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        return False
    if not isinstance(test.left, (ast.Subscript, ast.Attribute)) or not all(
        isinstance(each, ast.Expr) for each in body
    ):
        return False
    counted = ast.unparse(test.left)
    return any(
        isinstance(each, ast.AugAssign)
        and isinstance(each.op, ast.Add)
        and each.lineno < test.lineno
        and ast.unparse(each.target) == counted
        for each in frame.block
    )


def _is_left_over(guards: Path) -> bool:
    """Whether an option is none of two texts or more that were asked for: `else` after `if kind == "a":`, `elif kind ==
    "b":`."""
    asked = [found[1] for guard in guards if (found := EQUATED.fullmatch(guard.text)) and found[2] == "!="]
    return len(asked) > len({*asked})


class Branches:
    """Judges by the statements, and by what they call."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._once: dict[tuple[ast.expr, ast.stmt, object], bool] = {}
        self._spread: dict[ast.stmt, bool] = {}
        self._tells = at.models.last_words("warns") | at.models.last_words("prints")

    def branch(
        self,
        test: ast.expr,
        guards: Path,
        known: bool,
        body: list[ast.stmt],
        env: Env,
        frame: Frame,
        alone: bool = False,
        met: bool = True,
    ) -> Path:
        """What holds where the test came out so (`where`), and what is to be said of the statements that run then:
        they may run once only, or before an error. `known` says that the test is decided, `alone` that nothing runs
        where it comes out otherwise, `met` how it came out."""
        if body and frame.region and not self.at.notebook.quiet:
            if not known and fails(body):
                guards += (Guard("", RAISES),)
            elif not known and self._warns(
                test, body, env, frame, alone or _is_left_over(frame.guards + guards)
            ):
                guards += (Guard("", WARNS),)
            elif met and not known and self._is_late(test, env, frame):
                guards += (Guard("", LATE),)
            elif (
                (not _is_there(test, met) and self._runs_once(test, body, frame))
                or self._readies(test, guards, frame)
                or (
                    not known
                    and (self._is_first_run(test, met, env, frame) or _at_first(test, met, body, frame))
                )
            ):
                guards += (Guard("", ONCE),)
                for hear in self.at.events.settled:
                    hear(test, env, frame)
            elif not known and self._spreads(body, env, frame):
                guards += (Guard("", SPREAD),)
        return guards

    def _is_late(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it asks if something took longer than it should: `if time.time() - begun > 20:`."""
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Gt, ast.GtE)):
            return False
        span = looked_up(test.left, frame.block, looks=False)
        begins = span.left if isinstance(span, ast.BinOp) and isinstance(span.op, ast.Sub) else None
        return isinstance(begins, ast.Call) and self.at.models.plays(
            self.at.names.external_name(self.at.expressions.again(begins.func, env, frame)), "tells the time"
        )

    def _spreads(self, body: list[ast.stmt], env: Env, frame: Frame) -> bool:
        """Whether the statements themselves work together with other processes: `dist.all_reduce(size)`."""
        known = self._spread.get(body[0])  # the same in every run of the function
        if known is None:
            parts = (part for one in body if one.__class__ in SIMPLE for part in walk(one))
            duties = self.at.calls.roots.duties
            known = self._spread[body[0]] = duties.are_calls(parts, "works with processes", env, frame)
        return known

    def of_leaf(self, target: ast.Attribute, frame: Frame) -> Path:
        """What is said of `x.requires_grad = True` where the statements before it detach `x`, or in a differentiable
        function of the project: a graph of its own."""
        if frame.cls is not None and self.at.classes.is_function(frame.cls):
            return (Guard("", LEAVES),)
        named = self.at.models.last_words("detaches")
        made = walk(looked_up(target.value, frame.block, looks=False))
        return (Guard("", LEAVES),) if any(getattr(part, "attr", "") in named for part in made) else ()

    def of_test(self, node: ast.If, frame: Frame) -> Path:
        """What is said of a test that is asked in a loop, without gradients: `if cost < best: best = cost` searches.
        With gradients it may be a loss, such as the least one over all orders of its targets."""
        if frame.inside != "loop" or not frame.region:
            return ()
        if not frame.gradless and all(guard.sort != GRADLESS for guard in frame.guards):
            return ()
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        for test in tests:
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                left, right = test.left, test.comparators[0]
                if keeps(node.body, left, right) or keeps(node.body, right, left):
                    return (Guard("", SEARCHES),)
        return ()

    def _is_first_run(self, test: ast.expr, met: bool, env: Env, frame: Frame) -> bool:
        """Whether a test asks for what is so in the first run alone, as a function that runs sets it otherwise in the
        end: `if FIRST: print(x.shape)`, then `FIRST = False`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._is_first_run(test.operand, not met, env, frame)
        if isinstance(test, ast.BoolOp):
            each_holds = isinstance(test.op, ast.And) is met
            return each_holds and any(self._is_first_run(part, met, env, frame) for part in test.values)
        at_first: list[ast.expr | None] = []
        if isinstance(test, ast.Name) and (test.id not in env or test.id in frame.globals):
            at_first += frame.module.assigned.get(test.id, ())
        elif is_own(test) and isinstance(frame.me, Instance):
            for own in self.at.classes.bases(frame.me.cls)[0] if frame.me.cls is not None else ():
                at_first += [value for method, value in own.assigned(test.attr) if method.name == "__init__"]
        if not at_first or not all(_is_flag(value, met) for value in at_first):
            return False
        place, running = dotted(test), self.at.functions.stack()
        bodies = [node.body for node in running if isinstance(node, FunctionNode)]
        if isinstance(test, ast.Name):
            bodies = [body for body in bodies if any(test.id in _globals(each) for each in body)]
        kept = (value for body in bodies for target, value in set_in(always(body)) if dotted(target) == place)
        return any(_is_flag(value, not met) for value in kept)

    def _readies(self, test: ast.expr, guards: Path, frame: Frame) -> bool:
        """Whether the test is a call of an own method that sets what an outer test found not to be there: `if
        self.pack():`, where `self.packed` is not set."""
        if not isinstance(test, ast.Call):
            return False
        body = list(self._called([ast.Expr(test)], frame))
        made = {dotted(target) for target, value in set_in(body) if is_something(value)}
        return any(guard.text in (f"not {place}", f"{place} is None") for guard in guards for place in made)

    def _warns_alone(self, value: Value) -> bool:
        """Whether it is a function of which all is a warning, and what is put into that: `def warn_once(text):
        logger.warning(text)`."""
        if not isinstance(value, Func) or isinstance(value.node, ast.Lambda):
            return False
        made = [part for part in value.node.body if isinstance(part, ast.Assign)]
        named = all(isinstance(target, ast.Name) for part in made for target in part.targets)
        says = [part.value for part in value.node.body if isinstance(part, ast.Expr)]
        callees = [said.func for said in says if isinstance(said, ast.Call)]
        home = Frame(value.module, unit_of(value.node), "")
        return (
            named
            and len(says) + len(made) == len(value.node.body)
            and any(
                getattr(callee, "attr", "") in self.at.models.last_words("warns")
                and self.at.models.plays(
                    self.at.names.external_name(self.at.expressions.quietly(callee, {}, home)), "warns"
                )
                for callee in callees
            )
        )

    def _warns(self, test: ast.expr, body: list[ast.stmt], env: Env, frame: Frame, alone: bool) -> bool:
        """Whether the statements tell the user that something is not as it should be: with a warning, by printing a
        text that says that it warns, or one that is always the same, instead of nothing or where values of tensors are
        asked for. They may return nothing then, or a name as it is, or go on without what they would have done, `fast
        = False`."""
        says = sets = 0
        last = body[-1] if body else None
        if isinstance(last, ast.Return) and (isinstance(last.value, ast.Name) or gives_nothing(last.value)):
            body = body[:-1]
        while len(body) == 1 and isinstance(inner := body[0], ast.If) and not inner.orelse:
            body = inner.body
        for i, statement in enumerate(body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and (
                isinstance(call.func, ast.Name)
                or (isinstance(call.func, ast.Attribute) and call.func.attr in self._tells)
            ):
                before = self._made_to_warn(call.func, body[:i], env, frame)
                value = self.at.expressions.again(call.func, before, frame)
                callee = self.at.names.external_name(value)
                prints = self.at.models.plays(callee, "prints")
                if self.at.models.plays(callee, "warns") or self._warns_alone(value):
                    return True
                if prints and any(map(_says_it_warns, call.args[:1])):
                    return True
                says += prints and all(map(_is_fixed, call.args))
            elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                sets += statement.value.value is False and isinstance(statement.targets[0], ast.Name)
        return says + sets == len(body) > 0 < says and (
            alone or tensor_of(self.at.expressions.again(test, env, frame)) is not None
        )

    def _made_to_warn(self, callee: ast.expr, before: list[ast.stmt], env: Env, frame: Frame) -> Env:
        """The names, with what the statements before a warning make for it: `import warnings`, `log = get_logger()`."""
        owner = dotted(callee.value if isinstance(callee, ast.Attribute) else callee)
        more: Env = {}
        for statement in before:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                targets = frame.module.import_targets(statement)
                more |= {local: self.at.names.qualified(name) for local, name in targets if local == owner}
            elif isinstance(statement, ast.Assign) and dotted(statement.targets[0]) == owner is not None:
                if getattr(callee, "attr", "") in self.at.models.last_words("warns"):
                    more[owner] = self.at.expressions.quietly(statement.value, env, frame)
        return env | more if more else env

    def rest(self, node: ast.If, body: list[ast.stmt], env: Env, frame: Frame) -> Path:
        """What else is said of the statements of `body` after an `if` that returns: `if self.ready: return`."""
        if (
            node.orelse
            or not isinstance(node.body[-1], ast.Return)
            or not frame.region
            or self.at.notebook.quiet
        ):
            return ()
        after = body[next(i for i, each in enumerate(body) if each is node) + 1 :]
        if fails(after):
            return (Guard("", RAISES),)
        if self._warns(node.test, after, env, frame, False):
            return (Guard("", WARNS),)
        once = self._runs_once(node.test, after, frame) or self._is_registered(node.test, frame)
        return (Guard("", ONCE),) if once else ()

    def _is_registered(self, test: ast.expr, frame: Frame) -> bool:
        """Whether a test asks for what is in torch's register of operators once it was loaded."""
        return any(
            isinstance(part, ast.Attribute)
            and self.at.models.plays(
                self.at.names.external_name(self.at.expressions.again(part, {}, frame)), "register"
            )
            for part in walk(looked_up(test, frame.block))
        )

    def _runs_once(self, test: ast.expr, body: list[ast.stmt], frame: Frame) -> bool:
        """Whether the branch makes its own test come out otherwise: `if self.table is None: self.table = make()`, or
        fills what it looked into: `if key not in self.tables: self.tables[key] = make(key)`."""
        if not body or frame.globals:
            return bool(body) and self._changes(test, body, frame)
        key = (test, body[0], frame.own_class)
        known = self._once.get(key)  # the same in every run of the function
        if known is None:
            known = self._once[key] = self._changes(test, body, frame)
        return known

    def _changes(self, test: ast.expr, body: list[ast.stmt], frame: Frame) -> bool:
        """Whether the statements, or the object's own methods that they call, set what the test asks."""
        asked, filled, shared = set[str](), set[str](), set[str]()
        written = test
        for part in walk(test := looked_up(test, frame.block)):
            if isinstance(part, ast.Compare) and isinstance(part.left, ast.Call) and len(part.left.args) == 1:
                # `if len(state) == 0:`
                if is_name(part.left.func, "len") and is_zero(part.comparators[0]):
                    filled.add(dotted(part.left.args[0]) or "")
            if isinstance(part, (ast.Attribute, ast.Name)) and (key := dotted(part)) is not None:
                asked |= self._read_by(part, frame)
                if isinstance(part, ast.Attribute) or part.id in frame.globals | frame.nonlocals:
                    asked.add(key)
                elif part.id in frame.module.assigned:
                    shared.add(key)
            elif isinstance(part, ast.Compare) and isinstance(part.ops[-1], (ast.In, ast.NotIn)):
                if isinstance(table := _table(part.comparators[-1]), (ast.Attribute, ast.Name)):
                    filled.add(dotted(table) or "")
            elif (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Attribute)
                and part.func.attr == "get"
            ):
                filled.add(dotted(part.func.value) or "")
            elif isinstance(part, ast.Call) and len(part.args) > 1 and asks_by_name(part):
                owner, name = dotted(part.args[0]), name_given(part.args[1])
                if owner is not None and name:
                    asked.add(f"{owner}.{name}")
        running = self.at.functions.running()
        if running is not None and running.args.kwarg is not None:
            filled.discard(running.args.kwarg.arg)  # `**options` are others in each call
        if not asked and not filled and not shared:
            return False
        lacks = missing(test)
        for part in walk(test):
            if isinstance(part, ast.expr) and dotted(part) in lacks:
                lacks |= self._read_by(part, frame)
        if lacks & {dotted(target) for target, value in set_in(nested(body)) if is_something(value)}:
            return True  # on one of its own branches: with the last of several steps
        if isinstance(written, ast.Compare) and isinstance(written.ops[0], ast.NotIn):
            kept = (target for target, _ in set_in(nested(body)) if isinstance(target, ast.Subscript))
            if any(ast.dump(target.value) == ast.dump(written.comparators[0]) for target in kept):
                return True  # where there is something to keep
        called = list(self._called(body, frame))
        sets = [(asked, each) for each in set_in(always(body))]
        sets += [(asked | shared, each) for each in set_in(called)]  # globals, as they declare
        return any(
            (dotted(target) in names and is_something(value))
            or (isinstance(target, ast.Subscript) and dotted(_table(target.value)) in filled)
            for names, (target, value) in sets
        ) or any(self._grows(statement, filled) for statement in (*body, *called))

    def _read_by(self, place: ast.AST, frame: Frame) -> set[str]:
        """The attributes that a property of the object reads: `self._ready`, of `self.ready`."""
        if not is_own(place) or frame.own_class is None:
            return set()
        return {f"self.{name}" for name in self.at.classes.read_by(frame.own_class, place.attr)}

    def _grows(self, statement: ast.stmt, filled: set[str]) -> bool:
        """`self.told.add(key)`"""
        call = statement.value if isinstance(statement, ast.Expr) else None
        callee = call.func if isinstance(call, ast.Call) else None
        return (
            isinstance(callee, ast.Attribute)
            and dotted(callee.value) in filled
            and callee.attr in self.at.models.last_words("fills")
        )

    def _called(self, body: Iterable[ast.stmt], frame: Frame, depth: int = 0) -> Iterator[ast.stmt]:
        """The statements of what the statements call, of the object's own methods (`self.init_table(x)`) and of
        functions of the file, and of what these call; of a function's names it sets those that it declares global."""
        cls = frame.own_class
        for statement in body if depth < MAX_PASSED else ():
            call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
            callee = call.func if isinstance(call, ast.Call) else None
            found: list[FunctionNode] = []
            if is_own(callee) and cls is not None:
                own = self.at.classes.bases(cls)[0]
                found = [each.methods[callee.attr] for each in own if callee.attr in each.methods]
            elif isinstance(callee, ast.Name) and callee.id in frame.module.functions:
                found = [frame.module.functions[callee.id]]
            for function in found:
                parts = [part for part in walk(function) if isinstance(part, ast.stmt)]
                shared = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
                for part in parts:
                    targets = part.targets if isinstance(part, ast.Assign) else []
                    if all(not isinstance(one, ast.Name) or one.id in shared for one in targets):
                        yield part
                yield from self._called(function.body, frame, depth + 1)


def _is_there(test: ast.expr, met: bool) -> bool:
    """Whether what the test asks for is there: `self.keys is None` came out false, `key in table` true. What is set
    then stays there."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    if isinstance(test.ops[0], ast.In if met else ast.NotIn):
        return True
    return says_none(test.comparators[0]) and isinstance(test.ops[0], ast.IsNot if met else ast.Is)


def _table(place: ast.expr) -> ast.expr:
    """The table that a table stands in: `self.kept` of `self.kept[device]`."""
    return place.value if isinstance(place, ast.Subscript) else place


def _is_fixed(text: ast.expr) -> bool:
    """Whether it is always the same, written in one piece or in several: `"too " + "long"`."""
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return _is_fixed(text.left) and _is_fixed(text.right)
    return isinstance(text, ast.Constant)


def _says_it_warns(text: ast.expr) -> bool:
    """`f"Warning: {n} rows are left out"`, or `"Warning: " + text`"""
    while isinstance(text, ast.BinOp) and isinstance(text.op, (ast.Add, ast.Mod)):
        text = text.left
    first = text.values[0] if isinstance(text, ast.JoinedStr) and text.values else text
    said = first.value if isinstance(first, ast.Constant) else ""
    return isinstance(said, str) and said.lstrip().lower().startswith("warning")


def _is_flag(value: ast.expr | None, outcome: bool) -> bool:
    """Whether it is True, or False."""
    return isinstance(value, ast.Constant) and value.value is outcome


def _globals(statement: ast.stmt) -> list[str]:
    return statement.names if isinstance(statement, ast.Global) else []
