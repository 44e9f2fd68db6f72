"""When code runs: the tests around an operation that reading cannot decide, on every way from the root."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint import finding
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import UNKNOWN, Class, Func, Instance, Py, Seq, Tensor, Value, is_none, options

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.source.modules import ClassInfo

MAX_TOLD = 3
MAX_PASSED = 3  # functions that pass an answer on
LONGEST = 72  # characters of one condition
# What is asked for, what a reader wants to know first before what he wants to know last.
(
    DTYPE,
    MODE,
    OFF,
    FLAG,
    ARGUMENT,
    TYPE,
    ARRAYS,
    ONCE,
    RAISES,
    WARNS,
    SELDOM,
    TRAINS,
    INSPECTS,
    PRIVATE,
    NO_WEIGHTS,
    NO_TENSOR,
    ITERATES,
    HOOKED,
    UNCALLED,
    MEASURES,
    LOADS,
    MISSING,
    LEAVES,
    GRADLESS,
    LOSS,
    OPEN,
    FOR_ARRAYS,
    THREADED,
    SPREAD,
    FETCHES,
    SEARCHES,
    WRITES,
    SHOWS,
    PARTS,
) = range(34)
RARE = {
    OFF: "off by default",
    ARRAYS: "where it is given a NumPy array",
    ONCE: "once",
    RAISES: "on an error path",
    WARNS: "where the code warns",
    SELDOM: "in code that is seldom compiled",
    TRAINS: "in a module that trains another",
    INSPECTS: "in a module that is given another one at each call",
    PRIVATE: "in a private module, which no model calls",
    NO_WEIGHTS: "in a module without weights, which no model calls",
    NO_TENSOR: "in a module that returns no tensor, which no model calls",
    ITERATES: finding.ITERATES,
    HOOKED: "in a hook, which runs with the module that it is added to",
    UNCALLED: finding.UNCALLED,
    MEASURES: "where a metric of another library is computed",
    LOADS: "in a module that loads data itself",
    MISSING: "where that library is not installed",
    PARTS: "in a module that compiles its parts one by one",
}
# Of a loss, what is computed without gradients: each alone says nothing.
STATISTICS = frozenset((GRADLESS, LOSS))
# What is Python's own work, beside what is computed: it says something where the root is OPEN, a module of a package of
# which nothing says that it is compiled.
BESIDE = {
    FOR_ARRAYS: "in a function for NumPy arrays",
    THREADED: "in an object that works with other threads",
    SPREAD: "where several processes work together",
    FETCHES: "in a function that loads data itself",
    LEAVES: "where gradients are computed by hand, from a copy that is detached",
    SEARCHES: "where the best of several tries is kept",
    WRITES: "in a function that writes files",
    SHOWS: "in a function that shows its progress",
}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Guard(NamedTuple):
    """A condition that holds wherever the code runs, in the code's own words ("": not to be told), and its sort.

    `about` is, where the test asks for what stays as it is while the code runs (only `__init__` sets it), the object,
    the test and how it came out: what the same test then finds again is known.
    """

    text: str
    sort: int
    about: tuple[int, str, bool] | None = None


Path = tuple[Guard, ...]


class _Made(NamedTuple):
    """An attribute of an object of `cls`: what the `__init__` that it has, of the class `home`, assigns to it."""

    cls: ClassInfo
    home: ClassInfo
    init: FunctionNode
    values: list[ast.expr | None]


class Guards:
    """A context is one run of a function for arguments of some kinds; `callers` says from which contexts, and under
    what, it is called. None is the compiler, which calls a root under no condition."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._contexts: dict[Any, int] = {}
        self._forwards: set[int] = set()
        self._runs: dict[Any, list[tuple[int, ClassInfo | None]]] = defaultdict(list)
        self._callers: dict[int, dict[tuple[int | None, Path], None]] = defaultdict(dict)
        self._once: dict[tuple[ast.expr, ast.stmt, object], bool] = {}
        self._off: dict[tuple[str, str], bool] = {}  # by file and attribute: see `_off_in_file`
        self._meant: dict[ast.Call, ast.expr] = {}
        self._texts: dict[tuple[ast.expr, bool], str] = {}
        self._roots: dict[int, Path] = {}  # the compiler's calls, by numbers below zero
        self._compiled: dict[int, Any] = {}  # the function that each of them calls

    def root(self, function: Any, guards: Path) -> int:
        """A new call of the function by the compiler, under what the reader shall know of it."""
        number = -len(self._roots) - 1
        self._roots[number] = guards
        self._compiled[number] = function
        return number

    def say_of(self, root: int, more: Guard) -> None:
        """What is known of a root once it was run."""
        self._roots[root] += (more,)

    def entered(self, function: Any, key: Any, frame: Frame, me: Value | None) -> int:
        """A new context: the frame calls the function of the object, which runs for arguments that `key` names."""
        context = self._contexts[key] = len(self._contexts)
        if getattr(function, "name", "") == "forward":
            self._forwards.add(context)
        self._runs[function].append((context, _class_of(me)))
        self._call(context, frame)
        return context

    def called(self, key: Any, frame: Frame) -> None:
        """The frame calls a function for arguments for which it ran before."""
        if key in self._contexts:
            self._call(self._contexts[key], frame)

    def called_somehow(self, function: Any, frame: Frame, me: Value | None) -> None:
        """The frame calls a function that is not run again: it may be as in any run before, for such an object."""
        for context, cls in self._runs.get(function, ()):
            if cls is _class_of(me):
                self._call(context, frame)

    def _call(self, context: int, frame: Frame) -> None:
        if frame.region and not self.at.notebook.quiet:
            self._callers[context][frame.context, frame.guards] = None

    # What a test says

    def where(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> Path:
        """The conditions of the frame, and what it takes for a test that nothing else decides to come out so."""
        if not frame.region or self.at.notebook.quiet:
            return frame.guards
        more = tuple(g for g in self._of(test, outcome, env, frame) if g not in frame.guards)
        return frame.guards + more

    def branch(
        self,
        test: ast.expr,
        guards: Path,
        known: bool,
        body: list[ast.stmt],
        env: Env,
        frame: Frame,
        alone: bool = False,
    ) -> Path:
        """What holds where the test came out so (`where`), and what is to be said of the statements that run then:
        they may run once only, or before an error. `known` says that the test is decided, `alone` that nothing runs
        where it comes out otherwise."""
        if body and frame.region and not self.at.notebook.quiet:
            if not known and fails(body):
                guards += (Guard("", RAISES),)
            elif not known and self._warns(test, body, env, frame, alone):
                guards += (Guard("", WARNS),)
            elif self._runs_once(test, body, frame) or self._readies(test, guards, frame):
                guards += (Guard("", ONCE),)
                for hear in self.at.events.settled:
                    hear(test, env, frame)
        return guards

    def of_leaf(self, target: ast.Attribute, frame: Frame) -> Path:
        """What is said of `x.requires_grad = True` where the statements before it detach `x`, or in a differentiable
        function of the project: a graph of its own."""
        if frame.cls is not None and self.at.classes.is_function(frame.cls):
            return (Guard("", LEAVES),)
        named = self.at.models.last_words("detaches")
        made = walk(_looked_up(target.value, frame.block, looks=False))
        return (Guard("", LEAVES),) if any(getattr(part, "attr", "") in named for part in made) else ()

    def of_given(self, call: ast.Call, args: list[Value], frame: Frame) -> Path:
        """The condition under which what is done with an optional argument is done with something."""
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.Name) or given.id not in frame.parameters or not args:
            return ()
        if len(options(args[0])) < 2 or not any(is_none(o) for o in options(args[0])):
            return ()
        return (Guard(f"{given.id} is not None", ARGUMENT),)

    def of_test(self, node: ast.If, frame: Frame) -> Path:
        """What is said of a test that is asked in a loop, without gradients: `if cost < best: best = cost` searches.
        With gradients it may be a loss, such as the least one over all orders of its targets."""
        gradless = frame.gradless or any(guard.sort == GRADLESS for guard in frame.guards)
        if frame.inside != "loop" or not frame.region or not gradless:
            return ()
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        for test in tests:
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                left, right = test.left, test.comparators[0]
                if _keeps(node.body, left, right) or _keeps(node.body, right, left):
                    return (Guard("", SEARCHES),)
        return ()

    def _readies(self, test: ast.expr, guards: Path, frame: Frame) -> bool:
        """Whether the test is a call of an own method that sets what an outer test found not to be there: `if
        self.pack():`, where `self.packed` is not set."""
        if not isinstance(test, ast.Call):
            return False
        body = list(self._called([ast.Expr(test)], frame))
        made = {dotted(target) for target, value in _set_in(body) if _is_something(value)}
        return any(guard.text in (f"not {place}", f"{place} is None") for guard in guards for place in made)

    def _starts_empty(self, place: ast.expr, value: Value, frame: Frame) -> bool:
        """Whether an attribute is a list or a set that is empty until someone calls a method that puts something into
        it, or a property that asks whether it still is."""
        if not isinstance(place, ast.Attribute) or not _is_name(place.value, "self"):
            return False
        if isinstance(value, Seq) and value.elts == [] and value.type == "list":
            return True
        cls = frame.me.cls if isinstance(frame.me, Instance) else None
        if cls is None:
            return False
        name = place.attr
        getter = self.at.classes.find_method(cls, name)
        if getter is not None:
            last = getter[1].body[-1]
            read = {
                part.attr
                for part in walk(last)
                if isinstance(part, ast.Attribute) and _is_name(part.value, "self")
            }
            call = last.value if isinstance(last, ast.Return) else None
            if not isinstance(call, ast.Call) or len(read) != 1 or not _is_name(call.func, "bool"):
                return False
            [name] = read
        classes = self.at.classes.bases(cls)[0]
        made = [c.attributes[name] for c in classes if name in c.attributes]
        made += [
            made_of
            for c in classes
            for method, made_of in c.assigned(name)
            if made_of is not None
            # or `self.pruned = self.pruned.union(heads)`, which somebody calls
            if method.name == "__init__" or dotted(place) not in {*map(_name_of, walk(made_of))}
        ]
        if not made or not all(_is_empty(each) for each in made):
            return False
        first = [c.methods["__init__"] for c in classes if "__init__" in c.methods]
        grows = self.at.models.last_words("grows") | self.at.models.last_words("fills")
        return not any(
            isinstance(part, ast.Attribute) and part.attr in grows and dotted(part.value) == f"self.{name}"
            for method in first
            for part in walk(method)
        )

    def _made_where_asked(self, place: ast.expr, frame: Frame) -> bool:
        """Whether `__init__` makes an attribute None, and something else but where an option of its own asks for it
        that is off by default: `if with_labels: self.labeler = Labeler()`, `if self.frequency > 0 and ...:`."""
        made = self._set_by_init(place, frame)
        if made is None or len(made.values) != 2:
            return False
        options_off = _options_off(made.init)
        kept = {dotted(target) for target, value in _set_in(made.init.body) if _is_one_of(value, options_off)}
        under = [
            target
            for each in made.init.body
            if isinstance(each, ast.If) and _asks_for_one(each.test, options_off | kept)
            for target, value in _set_in(each.body)
            if _is_something(value)
        ]
        return any(_is_none(value) for value in made.values if value is not None) and any(
            dotted(target) == dotted(place) for target in under
        )

    def _made_off(self, place: ast.expr, frame: Frame) -> bool:
        """Whether an attribute is an argument that `__init__` has to be given, and wherever the project gives it, it
        is off by default: `Model(self.rate)`, as an object is made of `rate=0.0`."""
        given = self._made_with(place, frame)
        return bool(given) and all(isinstance(value, Py) and value.off for value in given)

    def _off_in_file(self, place: ast.expr, frame: Frame) -> bool:
        """Whether it is an attribute of something that was given, `model.self_condition`, and the classes of the file
        whose objects have one of that name keep an option there that is off by default."""
        place = _looked_up(place, frame.block, looks=False)
        made = self._set_by_init(place, frame)
        if made is not None and len(made.values) == 1 and made.values[0] is not None:
            place = made.values[0]
        if not isinstance(place, ast.Attribute) or _is_name(place.value, "self"):
            return False
        key = (frame.module.path, place.attr)
        if key not in self._off:
            kept = [
                isinstance(value, ast.Name) and value.id in _options_off(method) and method.name == "__init__"
                for cls in frame.module.classes.values()
                for method, value in cls.assigned(place.attr)
                if not (isinstance(value, ast.Attribute) and value.attr == place.attr)  # which passes it on
            ]
            self._off[key] = bool(kept) and all(kept)
        return self._off[key]

    def _made_on(self, place: ast.expr, frame: Frame) -> bool:
        """Whether an attribute is an option of `__init__`, and wherever the project makes the object, it gives it."""
        given = self._made_with(place, frame, True)
        return bool(given) and not any(
            is_none(o) or (isinstance(o, Py) and o.off) for value in given for o in options(value)
        )

    def _made_with(self, place: ast.expr, frame: Frame, optional: bool = False) -> list[Value]:
        """What the project gives for an attribute that is an argument of `__init__`, wherever it makes the object."""
        made = self._set_by_init(place, frame)
        if made is None or len(made.values) != 1 or not isinstance(made.values[0], ast.Name):
            return []
        func = Func(made.init, made.home.module, made.home.env, Instance(made.cls), made.home)
        return [*self.at.functions.passed.made_with(made.cls, func, made.values[0].id, optional)]

    def _set_by_init(self, place: ast.expr, frame: Frame) -> _Made | None:
        """What `__init__` assigns to an attribute of the object, where nothing else does."""
        cls = frame.me.cls if isinstance(frame.me, Instance) else None
        if cls is None or not isinstance(place, ast.Attribute) or not _is_name(place.value, "self"):
            return None
        kept = [store for c in self.at.classes.bases(cls)[0] for store in c.assigned(place.attr)]
        found = self.at.classes.find_method(cls, "__init__")
        if found is None or any(method is not found[1] for method, _ in kept):
            return None
        return _Made(cls, *found, [value for _, value in kept])

    def _warns(self, test: ast.expr, body: list[ast.stmt], env: Env, frame: Frame, alone: bool) -> bool:
        """Whether the statements tell the user that something is not as it should be: with a warning, or by printing a
        text that is always the same, instead of nothing or where values of tensors are asked for."""
        says = 0
        words = self.at.models.last_words("warns") | self.at.models.last_words("prints")
        for i, statement in enumerate(body):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(call, ast.Call) and (
                isinstance(call.func, ast.Name)
                or (isinstance(call.func, ast.Attribute) and call.func.attr in words)
            ):
                before = self._made_to_warn(call.func, body[:i], env, frame)
                callee = self.at.names.external_name(self.at.expressions.again(call.func, before, frame))
                if self.at.models.plays(callee, "warns"):
                    return True
                fixed = all(isinstance(given, ast.Constant) for given in call.args)
                says += fixed and self.at.models.plays(callee, "prints")
        return says == len(body) and (alone or _is_tensor(self.at.expressions.again(test, env, frame)))

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
            for part in walk(_looked_up(test, frame.block))
        )

    def _of(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> Path:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._of(test.operand, not outcome, env, frame)
        if isinstance(test, ast.Call) and len(test.args) == 1:
            test = self._spelled_out(test, env, frame)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is outcome:
                return tuple(g for part in test.values for g in self._of(part, outcome, env, frame))
            sorts = [self._sort(part, outcome, env, frame) for part in test.values]
            if any(sort is None for sort in sorts):
                return ()
            if not outcome and any(self._sort(part, True, env, frame) == OFF for part in test.values):
                return ()  # it comes out so by default
            return self._told(test, outcome, max(sort for sort in sorts if sort is not None))
        sort = self._sort(test, outcome, env, frame)
        if sort is None:
            return ()
        about = (id(frame.me), dotted(test) or "", outcome) if self._stays(test, frame) else None
        return self._told(test, outcome, sort, about)

    def _spelled_out(self, call: ast.Call, env: Env, frame: Frame) -> ast.expr:
        """What a test by a function of the project asks: `mask is not None`, of `exists(mask)`."""
        if call in self._meant:
            return self._meant[call]
        self._meant[call] = call
        callee = self.at.expressions.again(call.func, env, frame)
        node = callee.node if isinstance(callee, Func) else None
        if isinstance(node, ast.FunctionDef) and len(node.body) == 1 and len(node.args.args) == 1:
            last = node.body[0]
            asked = last.value if isinstance(last, ast.Return) else None
            if (
                isinstance(asked, ast.Compare)
                and len(asked.ops) == 1
                and _is_name(asked.left, node.args.args[0].arg)
                and _is_none(asked.comparators[0])
            ):
                meant = ast.Compare(call.args[0], asked.ops, asked.comparators)
                self._meant[call] = ast.copy_location(meant, call)
        return self._meant[call]

    def _stays(self, test: ast.expr, frame: Frame) -> bool:
        """Whether it is an attribute of the object, or a property that reads attributes, which no method but
        `__init__` sets."""
        cls = frame.me.cls if isinstance(frame.me, Instance) else None
        if cls is None or not isinstance(test, ast.Attribute) or not _is_name(test.value, "self"):
            return False
        found = self.at.classes.find_method(cls, test.attr)
        names = {test.attr}
        if found is not None:
            read = (part for part in walk(found[1]) if isinstance(part, ast.Attribute))
            names = {part.attr for part in read if _is_name(part.value, "self")}
        classes = self.at.classes.bases(cls)[0]
        return all(m.name == "__init__" for name in names for c in classes for m, _ in c.assigned(name))

    def _told(
        self, test: ast.expr, outcome: bool, sort: int, about: tuple[int, str, bool] | None = None
    ) -> Path:
        text = self._texts.get((test, outcome))
        if text is None:
            text = self._texts[test, outcome] = ast.unparse(test if outcome else opposite(test))
        if len(text) > LONGEST:
            text = ""
        return (Guard(text, sort, about),) if text or sort in RARE or about else ()

    def _sort(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> int | None:
        """What a test asks about, None where that is nothing that a user sets or gives."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._sort(test.operand, not outcome, env, frame)
        if isinstance(test, ast.NamedExpr):
            return None
        value = self.at.expressions.again(test, env, frame)
        if isinstance(value, Py) and value.const in (True, False) and value.type == "bool":
            return None
        if isinstance(test, (ast.Compare, ast.Call)) and outcome and isinstance(value, Py) and value.off:
            return OFF
        if isinstance(test, ast.Compare):
            return self._compared(test, outcome, env, frame)
        if isinstance(test, ast.Call):
            return self._asked(test, outcome, env, frame)
        if isinstance(test, (ast.Name, ast.Attribute)) and not _is_tensor(value):
            if isinstance(test, ast.Attribute) and test.attr in self.at.models.last_words("mode"):
                return MODE
            if outcome and ((isinstance(value, Py) and value.off) or self._starts_empty(test, value, frame)):
                return OFF
            if (
                outcome
                and value is UNKNOWN
                and (self._made_off(test, frame) or self._off_in_file(test, frame))
            ):
                return OFF
            if outcome and self._made_where_asked(test, frame):
                return OFF
            sort = self._given(test, frame)
            if isinstance(value, Py) and value.type == "int":  # a size, which nobody switches on
                return None
            return sort
        return None

    def _compared(self, test: ast.Compare, outcome: bool, env: Env, frame: Frame) -> int | None:
        if len(test.ops) > 1:
            return None
        left, right = test.left, test.comparators[0]
        values = self.at.expressions.again(left, env, frame), self.at.expressions.again(right, env, frame)
        if (_is_dtype(values[0]) or _is_dtype(values[1])) and (
            isinstance(left, ast.Attribute) or isinstance(right, ast.Attribute)
        ):
            return DTYPE
        if isinstance(values[1], Seq) and any(map(_is_dtype, _items(values[1]))):
            return DTYPE
        if self._is_spread(test, outcome, env, frame) or _is_by_default(test, frame) is (not outcome):
            return OFF
        if outcome and self.at.conditions.unlikely(test, env, frame):
            return OFF
        asks = isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and _is_zero(right)
        if outcome and asks and values[0] is UNKNOWN and self._made_off(left, frame):
            return OFF
        asks = isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) is outcome and _is_none(right)
        if asks and any(isinstance(o, Py) and o.off for o in options(values[0])):
            if not self._made_on(left, frame):
                return OFF  # an option that is None by default
        if asks and self._made_where_asked(left, frame):
            return OFF
        if isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, (bool, str))):
            return self._given(left, frame) if type(test.ops[0]) in _OPPOSITE else None
        if isinstance(right, ast.Attribute) and self._is_member(right, env, frame):
            return self._given(left, frame) if type(test.ops[0]) in _OPPOSITE else None
        return None

    def _is_member(self, place: ast.Attribute, env: Env, frame: Frame) -> bool:
        """Whether it is one of the members of an enumeration of the project."""
        owner = self.at.expressions.again(place.value, env, frame)
        return isinstance(owner, Class) and any(
            self.at.models.plays(base, "enumeration") for base in self.at.classes.bases(owner.info)[1]
        )

    def _asked(self, test: ast.Call, outcome: bool, env: Env, frame: Frame) -> int | None:
        callee = self.at.names.external_name(self.at.expressions.again(test.func, env, frame)) or ""
        if self.at.models.plays(callee, "mode"):
            return MODE
        if self.at.models.plays(callee, "asks for a type") and test.args:
            if self._given(test.args[0], frame) != ARGUMENT:
                return None
            kind = self.at.names.external_name(self.at.expressions.again(test.args[-1], env, frame))
            if outcome:
                return ARRAYS if self.at.models.plays(kind, "array type") else TYPE
            given = options(self.at.expressions.again(test.args[0], env, frame))
            left = [o for o in given if not isinstance(o, Tensor) or o.array]
            arrays = kind == self.at.models.tensor and all(isinstance(o, Tensor) for o in left)
            return ARRAYS if left and arrays else TYPE
        return OFF if outcome and self._is_distributed(test, env, frame) else None

    def _is_distributed(self, node: ast.expr, env: Env, frame: Frame, depth: int = 0) -> bool:
        """Whether it is true, or more than one, where several processes train together alone: torch's answer, or that
        of a function of the project that passes it on."""
        if isinstance(node, ast.IfExp):  # `get_world_size() if is_initialized() else 1`
            return self._is_distributed(node.body, env, frame, depth)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return any(self._is_distributed(part, env, frame, depth) for part in node.values)
        if isinstance(node, ast.Compare):
            return self._is_spread(node, True, env, frame, depth)
        if not isinstance(node, ast.Call) or depth > MAX_PASSED:
            return False
        callee = self.at.expressions.again(node.func, env, frame)
        if not isinstance(callee, Func) or isinstance(callee.node, ast.Lambda) or node.args:
            return self.at.models.plays(self.at.names.external_name(callee), "asks for processes")
        home = Frame(callee.module, unit_of(callee.node), "", cls=callee.defined_in)
        given = [part.value for part in walk(callee.node) if isinstance(part, ast.Return)]
        asked = [value for value in given if value is not None and not isinstance(value, ast.Constant)]
        return bool(asked) and all(self._is_distributed(value, {}, home, depth + 1) for value in asked)

    def _is_spread(self, test: ast.Compare, outcome: bool, env: Env, frame: Frame, depth: int = 0) -> bool:
        """`world_size() > 1`"""
        number = test.comparators[0]
        if not isinstance(number, ast.Constant) or number.value not in (1, 2):
            return False
        several = (ast.Gt, ast.NotEq) if number.value == 1 else (ast.GtE,)
        one = (ast.Eq, ast.LtE) if number.value == 1 else (ast.Lt,)
        asked = _looked_up(test.left, frame.block, looks=False)
        return isinstance(test.ops[0], several if outcome else one) and self._is_distributed(
            asked, env, frame, depth
        )

    def _given(self, place: ast.expr, frame: Frame) -> int | None:
        """Whether it is an argument of the function, or an attribute that a user sets."""
        key = dotted(place)
        if key is None:
            return None
        first, _, rest = key.partition(".")
        if not rest:
            return ARGUMENT if first in frame.parameters else None
        return FLAG if first in frame.parameters and rest else None

    def _runs_once(self, test: ast.expr, body: list[ast.stmt], frame: Frame) -> bool:
        """Whether the branch makes its own test come out otherwise: `if self.table is None: self.table = make()`, or
        fills what it looked into: `if key not in self.tables: self.tables[key] = make(key)`."""
        if not body or frame.globals:
            return bool(body) and self._changes(test, body, frame)
        key = (test, body[0], frame.me.cls if isinstance(frame.me, Instance) else None)
        known = self._once.get(key)  # the same in every run of the function
        if known is None:
            known = self._once[key] = self._changes(test, body, frame)
        return known

    def _changes(self, test: ast.expr, body: list[ast.stmt], frame: Frame) -> bool:
        """Whether the statements, or the object's own methods that they call, set what the test asks."""
        asked, filled, shared = set[str](), set[str](), set[str]()
        for part in walk(test := _looked_up(test, frame.block)):
            if isinstance(part, ast.Compare) and isinstance(part.left, ast.Call) and len(part.left.args) == 1:
                # `if len(state) == 0:`
                if _is_name(part.left.func, "len") and _is_zero(part.comparators[0]):
                    filled.add(dotted(part.left.args[0]) or "")
            if isinstance(part, (ast.Attribute, ast.Name)) and (key := dotted(part)) is not None:
                if isinstance(part, ast.Attribute) or part.id in frame.globals:
                    asked.add(key)
                elif part.id in frame.module.assigned:
                    shared.add(key)
            elif isinstance(part, ast.Compare) and isinstance(part.ops[-1], (ast.In, ast.NotIn)):
                if isinstance(part.comparators[-1], (ast.Attribute, ast.Name)):
                    filled.add(dotted(part.comparators[-1]) or "")
            elif (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Attribute)
                and part.func.attr == "get"
            ):
                filled.add(dotted(part.func.value) or "")
            elif isinstance(part, ast.Call) and len(part.args) > 1 and _asks_by_name(part):
                owner, name = dotted(part.args[0]), part.args[1]
                if owner is not None and isinstance(name, ast.Constant) and isinstance(name.value, str):
                    asked.add(f"{owner}.{name.value}")
        if not asked and not filled and not shared:
            return False
        if _missing(test) & {
            dotted(target) for target, value in _set_in(_nested(body)) if _is_something(value)
        }:
            return True  # on one of its own branches: with the last of several steps
        called = list(self._called(body, frame))
        sets = [(asked, each) for each in _set_in(_always(body))]
        sets += [(asked | shared, each) for each in _set_in(called)]  # globals, as they declare
        return any(
            (dotted(target) in names and _is_something(value))
            or (isinstance(target, ast.Subscript) and dotted(target.value) in filled)
            for names, (target, value) in sets
        ) or any(self._grows(statement, filled) for statement in (*body, *called))

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
        cls = frame.me.cls if isinstance(frame.me, Instance) else None
        for statement in body if depth < MAX_PASSED else ():
            call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
            callee = call.func if isinstance(call, ast.Call) else None
            found: list[FunctionNode] = []
            if isinstance(callee, ast.Attribute) and _is_name(callee.value, "self") and cls is not None:
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

    # What holds in the end

    def settled(self) -> dict[int | None, Path]:
        """Of each context, the conditions that hold on all ways to it; a context that no root reaches is left out."""
        calls: dict[int | None, list[tuple[int, Path]]] = defaultdict(list)
        for context, callers in self._callers.items():
            for caller, guards in callers:
                calls[caller].append((context, guards))
        held: dict[int | None, Path] = {}
        beside = {number: guards for number, guards in self._roots.items() if is_uncalled(guards)}
        called = [None, *(number for number in self._roots if number not in beside)]
        for roots in (called, [*beside]):
            known = frozenset(held)  # what a model calls is judged by that alone
            held.update((root, () if root is None else self._roots[root]) for root in roots)
            todo: list[int | None] = [*roots]
            while todo:
                caller = todo.pop()
                for context, guards in calls[caller]:
                    if context in known:
                        continue
                    above = held[caller]
                    if context in self._forwards and caller not in self._roots:
                        above = tuple(g for g in above if g.sort != PARTS)  # a part may be compiled elsewhere
                    new = above + tuple(g for g in guards if g not in above)
                    if context in held:
                        new = common(held[context], new)
                        if new == held[context]:
                            continue
                    held[context] = new
                    todo.append(context)
        return held

    def callers(self) -> dict[int | None, int]:
        """Of each context that a model calls, the functions whose compilation leads to it, a bit each."""
        calls: dict[int | None, set[int]] = defaultdict(set)
        for context, callers in self._callers.items():
            for caller, _ in callers:
                calls[caller].add(context)
        roots = [number for number, guards in self._roots.items() if not is_uncalled(guards)]
        bits = {
            function: 1 << i for i, function in enumerate({self._compiled[number]: None for number in roots})
        }
        marks: dict[int | None, int] = {root: bits[self._compiled[root]] for root in roots}
        todo: list[int | None] = [*marks]
        while todo:
            caller = todo.pop()
            for context in calls[caller]:
                new = marks.get(context, 0) | marks[caller]
                if new != marks.get(context):
                    marks[context] = new
                    todo.append(context)
        return marks


def common(a: Path, b: Path) -> Path:
    """What holds on either of two ways: the same test may ask two objects, and each way may seldom run for a reason of
    its own."""
    asked = {(g.text, g.sort) for g in b if g.text}
    held = tuple(g if g in b else Guard(g.text, g.sort) for g in a if g in b or (g.text, g.sort) in asked)
    if not any(g.sort in RARE for g in held) and any(g.sort in RARE for g in b):
        held += tuple(Guard("", sort) for sort in sorted({g.sort for g in a if g.sort in RARE})[:1])
    return held


def on_all(ways: list[Path]) -> Path:
    """What holds on each of the ways; those from what no model calls count where there are no others."""
    return reduce(common, [way for way in ways if not is_uncalled(way)] or ways)


def is_uncalled(guards: Path) -> bool:
    return any(guard.sort == UNCALLED for guard in guards)


def never(guards: Path) -> bool:
    """Whether no run meets all of it: a module is in training, and it is not; a flag is set, and it is not."""
    modes = {g.text for g in guards if g.sort == MODE}
    known = {g.about for g in guards if g.about is not None}
    return any(f"not {text}" in modes for text in modes) or any(
        (me, test, not outcome) in known for me, test, outcome in known
    )


def told(guards: Path) -> tuple[str, ...]:
    """At most MAX_TOLD conditions to tell: those that matter most, in the order in which they are tested."""
    texts = list(dict.fromkeys(g.text for g in guards if g.text))
    rank = {g.text: g.sort for g in reversed(guards)}
    kept = sorted(texts, key=lambda text: rank[text])[:MAX_TOLD]
    return tuple(text for text in texts if text in kept)


def rare(guards: Path) -> str:
    """Why the code seldom runs; "" if it may run at every call. That no model calls it says more than any condition."""
    if is_uncalled(guards):
        return RARE[UNCALLED]
    why = min((guard for guard in guards if guard.sort in RARE), key=lambda guard: guard.sort, default=None)
    if why is None:
        sorts = {guard.sort for guard in guards}
        if OPEN in sorts and (beside := min(sorts & BESIDE.keys(), default=None)) is not None:
            return BESIDE[beside]
        return "in what a loss computes without gradients" if sorts >= STATISTICS else ""
    return f"`{why.text}` is {RARE[why.sort]}" if why.sort == OFF and why.text else RARE[why.sort]


def exits(loop: ast.For | ast.While) -> list[ast.expr]:
    """The tests that end a loop of which it does not matter how often it ran: `while t:`, and of a loop that does not
    use its index, `if t: break`."""
    if isinstance(loop, ast.For):
        targets = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        used = (part for each in loop.body for part in walk(each) if isinstance(part, ast.Name))
        if any(part.id in targets for part in used):
            return []
    tests = [loop.test] if isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant) else []
    todo = [*loop.body]
    while todo:
        each = todo.pop()
        if isinstance(each, ast.If):
            if each.body and isinstance(each.body[-1], (ast.Break, ast.Return)):
                tests.append(each.test)
            todo += [*each.body, *each.orelse]
        elif isinstance(each, (ast.With, ast.Try)):
            todo += each.body
    return tests


def fails(body: list[ast.stmt]) -> bool:
    """Whether statements that run one after another end with an error."""
    return bool(body) and isinstance(body[-1], ast.Raise)


def always_fails(function: FunctionNode) -> bool:
    """Whether a function is there to end with an error: `def raise_log(error): log(error); raise error`."""
    return fails(function.body) and not any(isinstance(part, ast.Return) for part in walk(function))


def _set_in(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What the statements assign themselves, and what with; methods that fill in place (`copy_`) too."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            yield from ((target, statement.value) for target in statement.targets)
        elif isinstance(statement, ast.AnnAssign):
            yield statement.target, statement.value
        elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("copy_", "fill_") and call.args:
                owner = call.func.value
                if isinstance(owner, ast.Attribute) and owner.attr == "data":
                    owner = owner.value
                yield owner, call.args[0]
            elif len(call.args) > 1 and (place := _kept_by_name(call)) is not None:
                yield place, call.args[1]


def _keeps(body: list[ast.stmt], new: ast.expr, best: ast.expr) -> bool:
    """Whether the statements put the one in the place of the other: `best = cost`, `best = {"cost": cost}`."""
    wanted = dotted(new)
    while isinstance(best, ast.Subscript):
        best = best.value
    place = dotted(best)
    return (wanted and place) is not None and any(
        dotted(target) == place
        and any(isinstance(part, ast.expr) and dotted(part) == wanted for part in walk(value))
        for target, value in _set_in(body)
        if value is not None
        if isinstance(value, (ast.Name, ast.Attribute, ast.Dict, ast.Tuple, ast.Call))
    )


def _is_by_default(test: ast.Compare, frame: Frame) -> bool | None:
    """How a test of a text that a root is given comes out with what it is given by default: `mode == "predict"`."""
    default = frame.defaults.get(test.left.id) if isinstance(test.left, ast.Name) else None
    if default is None:
        return None
    right, op = test.comparators[0], test.ops[0]
    asked = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
    texts = [part.value for part in asked if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    several = isinstance(op, (ast.In, ast.NotIn))
    if len(texts) != len(asked) or several is (asked[0] is right):
        return None
    return (default in texts) is isinstance(op, (ast.In, ast.Eq)) if type(op) in _OPPOSITE else None


def _options_off(init: FunctionNode) -> set[str | None]:
    """The options of an `__init__` that are off by default: False, 0, None or nothing."""
    given = init.args
    defaults = dict(zip([a.arg for a in given.args[::-1]], given.defaults[::-1], strict=False))
    defaults |= {a.arg: d for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None}
    return {name for name, d in defaults.items() if isinstance(d, ast.Constant) and not d.value}


def _is_one_of(value: ast.expr | None, names: set[str | None]) -> bool:
    return isinstance(value, ast.Name) and value.id in names


def _asks_for_one(test: ast.expr, places: set[str | None]) -> bool:
    """Whether a test asks that one of the places is on: `flag`, `self.rate > 0`, and more."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_for_one(part, places) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        wanted, asked = test.ops[0], test.comparators[0]
        if isinstance(wanted, (ast.Gt, ast.NotEq)) and _is_zero(asked):
            test = test.left
    return isinstance(test, (ast.Name, ast.Attribute)) and dotted(test) in places


def _looked_up(test: ast.expr, block: list[ast.stmt], looks: bool = True) -> ast.expr:
    """A test of names, with what the statements before it assign to them in their place: `kept = self.kept.get(key)`,
    and with `looks` that alone which looks something up."""
    made = {
        each.targets[0].id: each.value
        for each in block
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if each.lineno < test.lineno and (not looks or _looks_up(each.value))
    }
    names = made and [part.id for part in walk(test) if isinstance(part, ast.Name) and part.id in made]
    return _Put(made).visit(deepcopy(test)) if names else test


def _looks_up(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return _asks_by_name(value) or (isinstance(value.func, ast.Attribute) and value.func.attr == "get")
    if isinstance(value, (ast.BoolOp, ast.Compare, ast.UnaryOp)):
        return bool(_missing(value))  # `absent = self.step == 0 or self.table is None`
    return isinstance(value, ast.Attribute)


def _asks_by_name(call: ast.Call) -> bool:
    """`hasattr(owner, "name")`, `getattr(owner, "name")`"""
    return _is_name(call.func, "hasattr") or _is_name(call.func, "getattr")


class _Put(ast.NodeTransformer):
    def __init__(self, made: dict[str, ast.expr]) -> None:
        self.made = made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.made.get(node.id, node)


def _always(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, and those that stand in a `with` or a `try` among them."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.Try)):
            yield from _always(statement.body)


def _nested(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that stand under tests among the statements."""
    found: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.If):
            found += [*statement.body, *statement.orelse]
            found += _nested(statement.body) + _nested(statement.orelse)
    return found


def _missing(test: ast.expr) -> set[str | None]:
    """The places that a test finds not to be there yet: `not self.ready`, `self.table is None`."""
    found = set[str | None]()
    for part in walk(test):
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            found.add(dotted(part.operand))
        elif (
            isinstance(part, ast.Compare)
            and isinstance(part.ops[0], ast.Is)
            and _is_none(part.comparators[0])
        ):
            found.add(dotted(part.left))
    return found - {None}


def _kept_by_name(call: ast.Call) -> ast.expr | None:
    """What `self.register_buffer("table", ...)` or `self.__setattr__("table", ...)` sets."""
    name = call.args[0]
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("register_buffer", "__setattr__"):
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return ast.Attribute(call.func.value, name.value, ast.Load())
    return None


def _is_something(value: ast.expr | None) -> bool:
    return value is not None and not _is_none(value)


def _name_of(node: ast.AST) -> str | None:
    return dotted(node) if isinstance(node, ast.Attribute) else None


def _is_empty(node: ast.expr) -> bool:
    """`[]`, `set()`"""
    if isinstance(node, ast.Call):
        return _is_name(node.func, "set") and not node.args
    return isinstance(node, ast.List) and not node.elts


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def opposite(test: ast.expr) -> ast.expr:
    """The test that comes out the other way."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        return ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _items(value: Seq) -> list[Value]:
    return value.elts if value.elts is not None else [value.elem]


def _class_of(me: Value | None) -> ClassInfo | None:
    return me.cls if isinstance(me, Instance) else None


def _is_dtype(value: Value) -> bool:
    return isinstance(value, Py) and value.type == "dtype"


def _is_tensor(value: Value) -> bool:
    return any(o.kind == "tensor" for o in options(value))
