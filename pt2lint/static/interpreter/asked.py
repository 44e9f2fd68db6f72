"""What a test asks for that reading cannot decide: a dtype, a mode, an option, an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.defaults import Defaults
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import (
    MAX_PASSED,
    OPPOSITE,
    asked_for,
    asks_whether_empty,
    asks_whether_none,
    counts,
    handed,
    is_by_default,
    is_filled,
    is_of_size,
    is_something,
    is_zero,
    looked_up,
    measures,
    one_by_one,
    opposite,
    returns_at_once,
    set_by,
)
from pt2lint.static.interpreter.guards import (
    ARGUMENT,
    ARRAYS,
    CHOSEN,
    DTYPE,
    EMPTY,
    FLAG,
    GIVEN,
    MODE,
    OFF,
    RARE,
    TYPE,
    Guard,
    Path,
)
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.interpreter.usual import Usual
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    is_own,
    made_once,
    own_name,
    parameters_in,
    parts,
    placed,
    says_none,
    unit_of,
    walk,
)
from pt2lint.static.values import (
    NO_CONST,
    SIZE,
    UNKNOWN,
    Class,
    Func,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    is_dtype,
    is_none,
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


LONGEST = 72  # characters of one condition
LONGEST_ANSWER = 8  # statements of a function that only says yes or no
OF_DTYPE = ("itemsize", "bits", "max", "min", "eps", "tiny")
SAYS_DTYPE = ("type", "element_size")


class Asked:
    """Puts it in the words of the code."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.defaults, self.usual = Defaults(at), Usual(at)
        self._meant: dict[ast.Call, ast.expr] = {}
        self._answers: dict[ast.FunctionDef, int | None] = {}
        self._made: dict[ast.expr, ast.expr | None] = {}
        self._branch: dict[ast.expr, tuple[ast.expr, bool] | None] = {}
        self._texts: dict[tuple[ast.expr, bool], str] = {}
        self._handed: dict[tuple[ast.Call, ast.AST], ast.expr | None] = {}
        self._there: dict[ast.expr, ast.Compare] = {}

    def where(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> Path:
        """The conditions of the frame, and what it takes for a test that nothing else decides to come out so."""
        if not frame.region or self.at.notebook.quiet:
            return frame.guards
        asked = self._of(test, outcome, env, frame)
        return frame.guards + tuple(g for g in asked if g not in frame.guards) if asked else frame.guards

    def of_given(self, call: ast.Call, args: list[Value], frame: Frame) -> Path:
        """The condition under which what is done with an optional argument is done with something."""
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.Name) or given.id not in frame.parameters or not args:
            return ()
        if len(options(args[0])) < 2 or not any(is_none(o) for o in options(args[0])):
            return ()
        return (Guard(f"{given.id} is not None", GIVEN),)

    def of_part(self, call: ast.Call, part: Value, frame: Frame) -> Path:
        """The condition under which an attribute that is called is this part, of several that `__init__` may keep, or
        what a loop over a list of parts calls."""
        kept = None
        if isinstance(call.func, ast.Attribute):
            kept = self.defaults.kept_under(call.func, part, frame)
        elif isinstance(call.func, ast.Name) and (place := self._gone_over(call, call.func.id)) is not None:
            kept = self.defaults.listed_under(place, part, frame)
        return () if kept is None else self._told(kept[0], kept[1], OFF if kept[2] else FLAG)

    def of_option(self, call: ast.Call, callee: Func, frame: Frame) -> Path:
        """That a function does not return at once, where it does with what an option of the object that it is handed is
        by default: `drop(layers, self.rate)`, and `if rate == 1: return layers`."""
        key = (call, callee.node)
        if key not in self._handed:
            self._handed[key] = _handed(call, callee) if isinstance(callee.node, ast.FunctionDef) else None
        test = self._handed[key]
        if test is None or not self.defaults.is_otherwise(test, False, frame):
            return ()
        return self._told(test, False, OFF)

    def _gone_over(self, call: ast.Call, name: str) -> ast.Attribute | None:
        """The list of the object that the innermost loop goes over which binds the name, and in which the call is."""
        running = self.at.functions.running()
        for loop in reversed(parts(running, ast.For)) if running is not None else ():
            bound = any(isinstance(n, ast.Name) and n.id == name for n in walk(loop.target))
            if bound and loop.lineno < call.lineno <= (loop.end_lineno or 0):
                lists = [n for n in walk(loop.iter) if is_own(n)]
                return lists[0] if len(lists) == 1 else None
        return None

    def _of(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> Path:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._of(test.operand, not outcome, env, frame)
        if isinstance(test, ast.Call) and len(test.args) == 1:
            test = self._spelled_out(test, env, frame)
        test = one_by_one(test)
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
            kept = self._kept(test)
            if kept is not None:
                return self._of(kept, outcome, env, frame)
            branch = self._set_where(test, outcome)
            if branch is not None:
                return self._of(*branch, env, frame)
            if self.usual.outcome(test, frame) is (not outcome):
                return self._told(test, outcome, OFF)
            return self._told(test, outcome, DTYPE) if self._kept_of_dtype(test, env, frame) else ()
        about = (id(frame.me), dotted(test) or "", outcome) if self._stays(test, frame) else None
        return self._told(test, outcome, sort, about)

    def _kept(self, test: ast.expr) -> ast.expr | None:
        """The test of which the function kept the outcome under a name, or what it asks of an attribute that it kept
        so: `masked = self.training and self.masks`, then `if masked:`."""
        if test not in self._made:
            self._made[test] = None
            name = test.left if isinstance(test, ast.Compare) and len(test.ops) == 1 else test
            running = self.at.functions.running()
            made = made_once(running).get(name.id) if running and isinstance(name, ast.Name) else None
            if made is None and test is not name:
                made = self._asked_before(name)
            if made is None or made.lineno >= test.lineno:
                pass
            elif isinstance(test, ast.Compare):
                if isinstance(made := asked_for(made), ast.Attribute):
                    asks = ast.Compare(made, test.ops, test.comparators)
                    self._made[test] = ast.copy_location(asks, test)
            elif isinstance(made, (ast.BoolOp, ast.Compare, ast.Attribute)) or (
                isinstance(made, ast.UnaryOp) and isinstance(made.op, ast.Not)
            ):
                self._made[test] = made
        return self._made[test]

    def _asked_before(self, name: ast.expr) -> ast.expr | None:
        """What `getattr` found that the function sets a name to first, and to something else further down: `n =
        getattr(graph, "n", None)`, and in `if n is None:` another one."""
        running = self.at.functions.running()
        if running is None or not isinstance(name, ast.Name):
            return None
        stores = [n for n in parts(running, ast.Name) if n.id == name.id and isinstance(n.ctx, ast.Store)]
        sets = [value for value, branch in set_by(running, name.id) if branch is None]
        first = sets[0] if sets else None
        if first is None or sum(store.lineno < name.lineno for store in stores) != 1:
            return None
        return first if asked_for(first) is not first else None

    def _kept_of_dtype(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether a name holds what a function asked once of the dtype that a tensor had, which is another one since:
        `is_half = h.dtype == torch.half`."""
        if not isinstance(test, ast.Name) or test.id in frame.parameters:
            return False
        running = self.at.functions.running()
        if running is None:
            return False
        sets = [value for value, _ in set_by(running, test.id)]
        made = sets[0] if len(sets) == 1 else None
        return isinstance(made, ast.Compare) and self._compared(made, True, env, frame) == DTYPE

    def _set_here(self, place: ast.Attribute) -> ast.expr | None:
        """What the function that runs assigns to an attribute, once and before it asks for it."""
        if place not in self._made:
            running, key = self.at.functions.running(), dotted(place)
            sets = [value for value, _ in set_by(running, key)] if running and key else []
            made = sets[0] if len(sets) == 1 else None
            self._made[place] = made if made is not None and made.lineno < place.lineno else None
        return self._made[place]

    def _set_where(self, test: ast.expr, outcome: bool) -> tuple[ast.expr, bool] | None:
        """The one test, and how it comes out, under which the function sets a name to something that is asked to be
        not None: `drops = torch.rand(4) if self.training else None`, as statements, then `if drops is not None:`."""
        asked = asks_whether_none(test)
        if asked is None or asked[1] is outcome or not isinstance(asked[0], ast.Name):
            return None
        if test not in self._branch:
            running = self.at.functions.running()
            self._branch[test] = _one_branch(running, asked[0]) if running is not None else None
        return self._branch[test]

    def of_kept(self, place: ast.Name | ast.Attribute, env: Env, frame: Frame) -> Path:
        """The conditions of the frame, and what it takes for a name, or an attribute, to hold the tensor that is one of
        several operands of what the function assigns to it: `alike = fps is None or fps.min() == fps.max()`."""
        made = self._kept(place) if isinstance(place, ast.Name) else self._set_here(place)
        before = frame.guards
        if isinstance(made, ast.BoolOp):
            is_and, inner = isinstance(made.op, ast.And), dict(env)
            for part in made.values:
                if tensor_of(self.at.expressions.again(part, inner, frame)) is not None:
                    break
                frame.guards = self.where(part, is_and, inner, frame)
                self.at.conditions.narrow(part, inner, is_and, frame)
        found, frame.guards = frame.guards, before
        return found

    def of_there(self, place: ast.Name | ast.Attribute, value: Value, env: Env, frame: Frame) -> Path:
        """The conditions of the frame, and that a name or an attribute which may be None is something: `if
        self.scale:`, of what `__init__` makes under an option."""
        if not any(is_none(one) for one in options(value)):
            return frame.guards
        if place not in self._there:
            asks = ast.Compare(place, [ast.IsNot()], [ast.copy_location(ast.Constant(None), place)])
            self._there[place] = ast.copy_location(asks, place)
        return self.where(self._there[place], True, env, frame)

    def of_branch(self, test: ast.expr, env: Env, frame: Frame) -> Path:
        """The conditions of the frame, and the one under which alone a name that is tested or compared is a tensor:
        `total = sum(sizes)`, and `total = lengths.sum()` where `sizes is None`."""
        name = test.left if isinstance(test, ast.Compare) else test
        running = self.at.functions.running()
        if running is None or not isinstance(name, ast.Name) or not isinstance(env.get(name.id), Union):
            return frame.guards
        sets = [one for one in set_by(running, name.id) if one[0] is not None]
        stores = len(sets)
        if len(sets) == 1 and isinstance(sets[0][0], ast.IfExp) and sets[0][1] is None:
            made = sets[0][0]  # `total = lengths.sum() if sizes is None else sum(sizes)`
            sets = [(made.body, (made.test, True)), (made.orelse, (made.test, False))]
        bound = [part for part in walk(running) if isinstance(part, ast.Name) and part.id == name.id]
        alone = [part for part in walk(running) if isinstance(part, ast.AnnAssign) and part.value is None]
        found = sum(isinstance(part.ctx, ast.Store) for part in bound)
        if len(sets) < 2 or found != stores + sum(is_name(part.target, name.id) for part in alone):
            return frame.guards
        where = [
            (made.lineno, branch)
            for made, branch in sets
            if made is not None and tensor_of(self.at.expressions.again(made, env, frame)) is not None
        ]
        if len(where) != 1 or where[0][0] >= test.lineno or where[0][1] is None:
            return frame.guards
        return self.where(*where[0][1], env, frame)

    def _spelled_out(self, call: ast.Call, env: Env, frame: Frame) -> ast.expr:
        """What a test by a function of the project asks: `mask is not None`, of `exists(mask)`."""
        if call in self._meant:
            return self._meant[call]
        self._meant[call] = call
        callee = self.at.expressions.again(call.func, env, frame)
        node = callee.node if isinstance(callee, Func) else None
        if isinstance(node, ast.FunctionDef) and len(node.body) == 1 and len(placed(node.args)) == 1:
            last = node.body[0]
            asked = last.value if isinstance(last, ast.Return) else None
            if (
                isinstance(asked, ast.Compare)
                and len(asked.ops) == 1
                and is_name(asked.left, own_name(node))
                and says_none(asked.comparators[0])
            ):
                meant = ast.Compare(call.args[0], asked.ops, asked.comparators)
                self._meant[call] = ast.copy_location(meant, call)
        return self._meant[call]

    def _stays(self, test: ast.expr, frame: Frame) -> bool:
        """Whether it is an attribute of the object, or a property that reads attributes, which no method but
        `__init__` sets."""
        cls = frame.own_class
        if cls is None or not is_own(test):
            return False
        found = self.at.classes.find_method(cls, test.attr)
        names = {test.attr}
        if found is not None:
            read = (part for part in walk(found[1]) if isinstance(part, ast.Attribute))
            names = {part.attr for part in read if is_name(part.value, "self")}
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
        if self._is_left_empty(test, outcome):
            return EMPTY
        if isinstance(test, (ast.Compare, ast.Call)) and outcome and isinstance(value, Py) and value.off:
            return OFF
        if isinstance(test, ast.Compare):
            return self._compared(test, outcome, env, frame)
        if isinstance(test, ast.Call):
            return self._asked(test, outcome, env, frame)
        if isinstance(test, (ast.Name, ast.Attribute)) and tensor_of(value) is None:
            if isinstance(test, ast.Attribute) and test.attr in self.at.models.last_words("mode"):
                return MODE
            if outcome and (
                (isinstance(value, Py) and value.off) or self.defaults.starts_empty(test, value, frame)
            ):
                return OFF
            if (
                outcome
                and value is UNKNOWN
                and (
                    self.defaults.made_off(test, frame)
                    or self.defaults.off_in_file(test, frame)
                    or self.defaults.off_for_parser(test, frame)
                )
            ):
                return OFF
            if outcome and (
                self.defaults.made_where_asked(test, frame) or self.defaults.kept_off(test, frame)
            ):
                return OFF
            if not outcome and self.defaults.is_otherwise(test, outcome, frame):
                return OFF
            kept = self.defaults.kept_answer(test, frame) if outcome else None
            if kept is not None and self._is_distributed(kept[0], {}, kept[1]):
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
        none = says_none(right)
        left = asked_for(left) if none else left
        value, other = (self.at.expressions.again(side, env, frame) for side in (left, right))
        if self._compares_dtypes((left, value), (right, other), env, frame):
            return DTYPE
        sort = self._compared_to_default(test, outcome, left, value, env, frame)
        if sort is not None:
            return sort
        if is_of_size(test, outcome, frame.block):
            return ARGUMENT
        if (form := measures(left)) is not None and isinstance(right, ast.Constant):
            # That they are not so many says little, and `elif` again what the next test asks.
            same = isinstance(test.ops[0], ast.Eq if outcome else ast.NotEq)
            return ARGUMENT if same and (counts(left) or self._given(form, frame) == ARGUMENT) else None
        if isinstance(left, ast.Call) and len(left.args) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            callee = self.at.names.external_name(self.at.expressions.again(left.func, env, frame))
            if outcome and self.at.models.plays(callee, "tells the type"):
                sort = self._given(left.args[0], frame)
                return TYPE if sort == ARGUMENT else ARGUMENT if sort is not None else None
        told = isinstance(right, ast.Constant) and (
            right.value is None or isinstance(right.value, (bool, str))
        )
        told = told or (isinstance(right, ast.Attribute) and self._is_member(right, env, frame))
        if not told or type(test.ops[0]) not in OPPOSITE:
            return None
        sort = self._given(left, frame)
        equal = isinstance(test.ops[0], (ast.Eq, ast.Is, ast.In)) is outcome
        if sort is None and equal and UNKNOWN in options(value) and self._is_looked_up(left, right):
            return CHOSEN
        if sort is not None and equal is not none and not self._is_so_by_default(test, outcome, frame):
            # Whether the project gives an option that is None by default was asked above.
            return GIVEN if sort == ARGUMENT else sort if none else CHOSEN
        return sort

    def _compares_dtypes(
        self, one: tuple[ast.expr, Value], other: tuple[ast.expr, Value], env: Env, frame: Frame
    ) -> bool:
        """Whether one side is a dtype, or one of several, that the other asks a tensor or an object for."""
        sides = one, other
        if any(is_dtype(value) for _, value in sides) and any(isinstance(s, ast.Attribute) for s, _ in sides):
            return True
        if all(tensor_of(value) is None for _, value in sides):
            if any(self._tells_dtype(side, env, frame) for side, _ in sides):
                return True
        return isinstance(other[1], Seq) and any(map(is_dtype, _items(other[1])))

    def _compared_to_default(
        self, test: ast.Compare, outcome: bool, left: ast.expr, value: Value, env: Env, frame: Frame
    ) -> int | None:
        """OFF, or FLAG, where the test comes out like that only once somebody has chosen an option."""
        right = test.comparators[0]
        if self._is_spread(test, outcome, env, frame) or is_by_default(test, frame) is (not outcome):
            return OFF
        if outcome and self.at.conditions.unlikely(test, env, frame):
            return OFF
        if self.defaults.is_otherwise(test, outcome, frame):
            return OFF
        asks = isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and is_zero(right)
        if outcome and asks and (value is UNKNOWN or _is_set(left, value)):
            if self.defaults.made_off(left, frame):
                return OFF
            if self._given(left, frame) == FLAG:
                return FLAG
        if says_none(right) and isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) is outcome:
            if any(isinstance(o, Py) and o.off for o in options(value)):
                if not self.defaults.made_on(left, frame):
                    return OFF  # an option that is None by default
            if self.defaults.made_where_asked(left, frame):
                return OFF
        return None

    def _is_so_by_default(self, test: ast.Compare, outcome: bool, frame: Frame) -> bool:
        return is_by_default(test, frame) is outcome or self.defaults.is_so(test, outcome, frame)

    def _is_left_empty(self, test: ast.expr, outcome: bool) -> bool:
        """Whether a list has to have nothing that a loop before puts something in at each turn."""
        asked = asks_whether_empty(test)
        if asked is None or asked[1] is not outcome:
            return False
        running = self.at.functions.running()
        return running is not None and is_filled(running.body, asked[0], test.lineno)

    def _is_looked_up(self, name: ast.expr, asked: ast.expr) -> bool:
        """Whether a text is asked of a name that a call gave before: `kind = self.value("kind", options)`."""
        if not isinstance(name, ast.Name):
            return False
        if not isinstance(asked, ast.Constant) or not isinstance(asked.value, str):
            return False
        running = self.at.functions.running()
        if running is None:
            return False
        made = [value for value, _ in set_by(running, name.id)]
        before = [value for value in made if value is not None and value.lineno < name.lineno]
        return bool(before) and all(isinstance(value, ast.Call) for value in before)

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
        if isinstance(test.func, ast.Attribute) and self._tells_dtype(test.func.value, env, frame):
            return DTYPE
        if (sort := self._passes_on(test, env, frame)) is not None:
            return sort
        if self.at.models.plays(callee, "asks for a type") and test.args:
            if (sort := self._given(test.args[0], frame)) != ARGUMENT:
                # A part of the object may be of one class or another, and one of several things that a loop goes over;
                # what else is asked says more.
                one = sort is not None or self._is_one_of_several(test.args[0], env, frame)
                return ARGUMENT if outcome and one else None
            kind = self.at.names.external_name(self.at.expressions.again(test.args[-1], env, frame))
            if outcome:
                return ARRAYS if self.at.models.plays(kind, "array type") else TYPE
            given = options(self.at.expressions.again(test.args[0], env, frame))
            left = [o for o in given if not isinstance(o, Tensor) or o.array]
            arrays = kind == self.at.models.tensor and all(isinstance(o, Tensor) for o in left)
            return ARRAYS if left and arrays else TYPE
        if outcome and self.defaults.is_never_set(test, frame):
            return OFF
        if outcome and self.defaults.made_where_asked(asked_for(test), frame):
            return OFF
        return OFF if outcome and self._is_distributed(test, env, frame) else None

    def _tells_dtype(self, node: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is made of a tensor's dtype alone: `str(x.dtype)`, `torch.finfo(x.dtype).bits`, `TABLE[x.dtype]`,
        or says it in another way: `x.type()`, `x.element_size()`."""
        if isinstance(node, (ast.Name, ast.Constant)):
            return False  # as most are
        if isinstance(node, ast.Subscript):  # `str(x.dtype).split(".")[-1]`
            part = not isinstance(node.slice, ast.Attribute) and self._tells_dtype(node.value, env, frame)
            return part or self._is_own_dtype(node.slice, env, frame)
        if isinstance(node, ast.Attribute):
            of = node.value
            if isinstance(of, ast.Call) and len(of.args) == 1:  # `torch.finfo(x.dtype)`
                of = of.args[0]
            return node.attr in OF_DTYPE and self._is_own_dtype(of, env, frame)
        if not isinstance(node, ast.Call) or node.keywords:
            return False
        if is_name(node.func, "str") and len(node.args) == 1:
            return self._is_own_dtype(node.args[0], env, frame)
        if isinstance(node.func, ast.Attribute) and self._tells_dtype(node.func.value, env, frame):
            return True
        if not isinstance(node.func, ast.Attribute) or node.args or node.func.attr not in SAYS_DTYPE:
            return False
        return tensor_of(self.at.expressions.again(node.func.value, env, frame)) is not None

    def _is_own_dtype(self, node: ast.expr, env: Env, frame: Frame) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "dtype"
            and (is_dtype(self.at.expressions.again(node, env, frame)))
        )

    def _passes_on(self, call: ast.Call, env: Env, frame: Frame) -> int | None:
        """What a function of the project asks that only says yes or no: `is_half(x)`, of `return x.dtype in HALVES`, or
        `self.learns()`, of `return self.training and self.rate`."""
        callee = self.at.expressions.again(call.func, env, frame)
        if not isinstance(callee, Func) or not isinstance(callee.node, ast.FunctionDef):
            return None
        node = callee.node
        if node not in self._answers:
            self._answers[node] = self._answer(callee, node) if len(node.body) <= LONGEST_ANSWER else None
        return self._answers[node]

    def _answer(self, callee: Func, node: ast.FunctionDef) -> int | None:
        home = Frame(callee.module, unit_of(node), "", cls=callee.defined_in)
        given = [part.value for part in walk(node) if isinstance(part, ast.Return)]
        made = made_once(node)
        answers = [made.get(value.id, value) if isinstance(value, ast.Name) else value for value in given]
        names = {value.id for value in given if isinstance(value, ast.Name)}
        answers += [value for name in names for value, _ in set_by(node, name)]
        if not any(isinstance(value, (ast.Compare, ast.BoolOp)) or _is_training(value) for value in answers):
            return None
        parts_asked = [part for value in answers if value is not None for part in walk(value)]
        sorts = [
            DTYPE if isinstance(part, ast.Compare) else MODE
            for part in parts_asked
            if (isinstance(part, ast.Compare) and self._compared(part, True, {}, home) == DTYPE)
            or (isinstance(part, ast.Call) and self._is_mode(part, home))
            or _is_training(part)
        ]
        return min(sorts, default=None)

    def _is_mode(self, call: ast.Call, home: Frame) -> bool:
        callee = self.at.names.external_name(self.at.expressions.quietly(call.func, {}, home))
        return self.at.models.plays(callee, "mode")

    def _is_one_of_several(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is what a loop goes over, of which nothing says what it is."""
        running = self.at.functions.running()
        if not isinstance(place, ast.Name) or running is None:
            return False
        targets = [part.target for part in parts(running, ast.For)]
        bound = any(isinstance(n, ast.Name) and n.id == place.id for target in targets for n in walk(target))
        return bound and self.at.expressions.again(place, env, frame) is UNKNOWN

    def _is_distributed(self, node: ast.expr, env: Env, frame: Frame, depth: int = 0) -> bool:
        """Whether it is true, or more than one, where several processes train together alone: torch's answer, or that
        of a function of the project that passes it on."""
        if isinstance(node, ast.IfExp):  # `get_world_size() if is_initialized() else 1`
            return self._is_distributed(node.body, env, frame, depth)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return any(self._is_distributed(part, env, frame, depth) for part in node.values)
        if isinstance(node, ast.Compare):
            return self._is_spread(node, True, env, frame, depth)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._counts_processes(node, env, frame)
        if not isinstance(node, ast.Call) or depth > MAX_PASSED:
            return False
        callee = self.at.expressions.again(node.func, env, frame)
        if not isinstance(callee, Func) or isinstance(callee.node, ast.Lambda) or node.args:
            return self.at.models.plays(self.at.names.external_name(callee), "asks for processes")
        home = Frame(callee.module, unit_of(callee.node), "", cls=callee.defined_in)
        given = [part.value for part in walk(callee.node) if isinstance(part, ast.Return)]
        asked = [value for value in given if value is not None and not isinstance(value, ast.Constant)]
        return bool(asked) and all(self._is_distributed(value, {}, home, depth + 1) for value in asked)

    def _counts_processes(self, node: ast.Name | ast.Attribute, env: Env, frame: Frame) -> bool:
        """Whether it is a global in which a function keeps torch's answer: `global world; world = get_world_size()`."""
        if isinstance(node, ast.Name):
            module, name = (None if node.id in env else frame.module), node.id
        else:
            owner = self.at.names.external_name(self.at.expressions.again(node.value, env, frame))
            module, name = self.at.names.project.find(owner) if owner else None, node.attr
        if module is None or not module.says(f"global {name}"):
            return False
        home = Frame(module, (1, 1), "the module")
        kept = (self.at.expressions.quietly(call.func, {}, home) for call in module.put_later(name))
        return any(
            self.at.models.plays(self.at.names.external_name(one), "asks for processes") for one in kept
        )

    def _is_spread(self, test: ast.Compare, outcome: bool, env: Env, frame: Frame, depth: int = 0) -> bool:
        """`world_size() > 1`"""
        number = test.comparators[0]
        if not isinstance(number, ast.Constant) or number.value not in (1, 2):
            return False
        several = (ast.Gt, ast.NotEq) if number.value == 1 else (ast.GtE,)
        one = (ast.Eq, ast.LtE) if number.value == 1 else (ast.Lt,)
        if not isinstance(test.ops[0], several if outcome else one):
            return False
        asked = looked_up(test.left, frame.block, looks=False)
        kept = self.defaults.kept_answer(asked, frame)
        return self._is_distributed(asked, env, frame, depth) or (
            kept is not None and self._is_distributed(kept[0], {}, kept[1], depth)
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


def _handed(call: ast.Call, callee: Func) -> ast.expr | None:
    """The test under which the function returns at once, of the attribute of the object that it is handed."""
    function = callee.node
    test = returns_at_once(function) if isinstance(function, ast.FunctionDef) else None
    asked = test.left if isinstance(test, ast.Compare) else test
    if test is None or not isinstance(asked, ast.Name) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given = dict(zip(parameters_of(callee), call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    place = given.get(asked.id)
    return handed(test, asked.id, place) if isinstance(place, ast.Attribute) else None


def _is_set(place: ast.expr, value: Value) -> bool:
    """Whether it is an attribute of the object, or of a part of it, that holds some whole number: what `__init__` was
    given."""
    number = isinstance(value, Py) and value.type in ("int", "float") and value.const is NO_CONST
    return number and value is not SIZE and (dotted(place) or "").startswith("self.")


def _items(value: Seq) -> list[Value]:
    return value.elts if value.elts is not None else [value.elem]


def _is_training(node: ast.AST | None) -> bool:
    """`self.training`"""
    return isinstance(node, ast.Attribute) and node.attr == "training" and is_name(node.value, "self")


def _one_branch(function: FunctionNode, asked: ast.Name) -> tuple[ast.expr, bool] | None:
    """The test, and how it comes out, under which alone a function sets a name to something, and to None otherwise."""
    sets = set_by(function, asked.id)
    where = [branch for value, branch in sets if is_something(value)]
    if len(where) != 1 or len(sets) < 2 or where[0] is None or where[0][0].lineno >= asked.lineno:
        return None
    bound = [part for part in walk(function) if isinstance(part, ast.Name) and part.id == asked.id]
    given = any(each.arg == asked.id for each in parameters_in(function.args))
    others = given or sum(isinstance(part.ctx, ast.Store) for part in bound) != len(sets)
    return None if others else where[0]
