"""The conditions of what is found, in the words of the code: what a test asks for that reading cannot decide."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.defaults import Defaults, makes
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import (
    Under,
    asked_for,
    asks_whether_none,
    handed,
    is_one_of,
    is_something,
    one_by_one,
    opposite,
    returns_at_once,
    set_by,
)
from pt2lint.static.interpreter.guards import DTYPE, FLAG, GIVEN, OFF, RARE, Guard, Path
from pt2lint.static.interpreter.sorts import Sorts
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
    walk,
)
from pt2lint.static.values import (
    NONE,
    UNKNOWN,
    Dict,
    Ext,
    Func,
    Instance,
    Tensor,
    Union,
    Value,
    is_none,
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


LONGEST = 72  # characters of one condition


class Asked:
    """Puts it in the words of the code."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.defaults, self.usual = Defaults(at), Usual(at)
        self.sorts = Sorts(at, self.defaults)
        self._meant: dict[ast.Call, ast.expr] = {}
        self._made: dict[ast.expr, ast.expr | None] = {}
        self._branch: dict[ast.expr, tuple[ast.expr, bool] | None] = {}
        self._texts: dict[tuple[ast.expr, bool], str] = {}
        self._handed: dict[tuple[ast.Call, ast.AST], ast.expr | None] = {}
        self._there: dict[ast.expr, ast.Compare] = {}
        self._ways: dict[ast.Name, list[tuple[ast.expr, bool]] | None] = {}
        self._held: dict[tuple[ast.expr, ast.AST], ast.expr | None] = {}

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
        place: ast.expr | None = call.func
        while isinstance(place, ast.Subscript):  # `self.layers[name](x)`
            place = place.value
        if isinstance(place, ast.Name):
            place = self._gone_over(call, place.id)
        kept = self.defaults.kept_under(place, part, frame) if isinstance(place, ast.Attribute) else None
        if kept is None:
            return (
                self._of_chosen(call.func, part, frame)
                or self._of_table(call.func, part, frame)
                or self._of_own(call.func, part, frame)
            )
        told: Path = ()
        for test, outcome, is_other in kept:
            about = self._about(self.defaults.as_kept(test, frame), outcome, frame)
            told += self._told(test, outcome, OFF if is_other else FLAG, about)
        return told

    def keep(self, owner: Instance, name: str, value: Value, frame: Frame) -> None:
        """Remember the test of an option under which alone `__init__` keeps a tensor that it makes: `if self.bounded:
        self.register_buffer("low", torch.tensor(low))`."""
        before = owner.attrs.get(name, NONE)
        if value is not UNKNOWN and tensor_of(value) is None:
            return  # `else: self.low = None`
        made = [o.origin for o in (value, *options(before)) if isinstance(o, Tensor) and o.origin is not None]
        if not made:
            return
        init, kept = self.at.functions.running(), self.at.notebook.kept
        found = None
        if (
            len(set(made)) == 1 and value is not UNKNOWN and UNKNOWN not in options(before)
        ):  # which may be another one
            if (
                isinstance(value, Tensor)
                and owner.cls is not None
                and init is not None
                and init.name == "__init__"
            ):
                found = self.defaults.stored_under(owner.cls, init, name, frame.line, made[0][1])
        told = () if found is None else self._told(found[0], found[1], OFF if found[2] else FLAG)
        for origin in made:  # another object may be made in another way
            kept[origin] = told if kept.get(origin, told) == told else ()

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

    def _of_chosen(self, called: ast.expr, part: Value, frame: Frame) -> Path:
        """The condition under which what is called, or the object whose method it is, is this one of several that the
        function makes: `progress = Loud() if verbose else Silent()`, then `progress.update()`."""
        name, is_method = (called.value, True) if isinstance(called, ast.Attribute) else (called, False)
        seen = self.at.expressions.seen.get(called)  # as it was called
        if seen is None or not isinstance(name, ast.Name) or name.id in frame.parameters:
            return ()
        sets = self._sets(name)
        among = [_owner(one) if is_method else one for one in options(seen[1])]
        if not all(says_none(value) or any(makes(value, one) for one in among) for value, _ in sets):
            return ()  # which may make it too
        chosen = _owner(part) if is_method else part
        where = {branch for value, branch in sets if makes(value, chosen)}
        branch = where.pop() if len(where) == 1 else None
        return self._of(*branch, seen[0], frame) if branch is not None else ()

    def _of_table(self, called: ast.expr, part: Value, frame: Frame) -> Path:
        """The condition under which a table holds this function for the key that it is asked for: `KINDS[kind](x)`, or
        `run = KINDS[kind]` before."""
        seen = self.at.expressions.seen.get(called)
        place: ast.expr | None = called
        if isinstance(place, ast.Name) and place.id not in frame.parameters:
            running = self.at.functions.running()
            place = made_once(running).get(place.id) if running is not None else None
        if seen is None or not isinstance(place, ast.Subscript) or not isinstance(part, Func):
            return ()
        if (called, part.node) not in self._held:
            keys, others = self._keys(place.value, part, seen[0], frame)
            known = keys and others and isinstance(place.slice, (ast.Name, ast.Attribute))
            self._held[called, part.node] = (
                is_one_of(place.slice, [ast.Constant(key) for key in keys]) if known else None
            )
        test = self._held[called, part.node]
        return self._of(test, True, seen[0], frame) if test is not None else ()

    def _of_own(self, called: ast.expr, part: Value, frame: Frame) -> Path:
        """That an attribute that may be others is this one of the object's methods, `self.way == self.slow`, or an
        object of this class, `isinstance(self.part, Slow)`."""
        if not isinstance(called, ast.Attribute) or not is_own(called):
            return ()
        if not frame.module.linted:
            return ()  # what several of them lead to is told once, at the call of the linted code, as of the first
        if isinstance(part, Func) and part.bound is frame.me and isinstance(part.node, ast.FunctionDef):
            about: ast.AST = part.node
            method = ast.Attribute(called.value, part.node.name, ast.Load())
            test: ast.expr = ast.Compare(called, [ast.Eq()], [method])
        elif isinstance(part, Instance) and part.cls is not None and self._is_class_apart(called, part):
            about, kind = part.cls.node, ast.Name(part.cls.name, ast.Load())
            test = ast.Call(ast.Name("isinstance", ast.Load()), [called, kind], [])
        else:
            return ()
        test = self._held.get((called, about)) or ast.fix_missing_locations(ast.copy_location(test, called))
        self._held[called, about] = test
        return self._told(test, True, FLAG, self._about(test, True, frame))

    def _is_class_apart(self, called: ast.expr, part: Instance) -> bool:
        """Whether no other object that it may be is of that class."""
        seen = self.at.expressions.seen.get(called)
        others = [o for o in options(seen[1]) if o is not part] if seen is not None else []
        kinds = [o.cls for o in others if isinstance(o, Instance)]
        return bool(kinds) and not any(
            kind is not None and part.cls in self.at.classes.bases(kind)[0] for kind in kinds
        )

    def _keys(self, place: ast.expr, part: Func, env: Env, frame: Frame) -> tuple[list[str], list[str]]:
        """The keys under which a table, or an object that looks in its own, holds the function; and the others."""
        table = self.at.expressions.again(place, env, frame)
        if isinstance(table, Instance) and table.cls is not None:
            found = self.at.classes.find_method(table.cls, "__getitem__")
            kept = [n.value.attr for n in parts(found[1], ast.Subscript) if is_own(n.value)] if found else []
            tables = [self.at.objects.instance_attribute(table, name, frame) for name in dict.fromkeys(kept)]
        else:
            tables = [table]
        items = {k: v for each in tables if isinstance(each, Dict) for k, v in each.items.items()}
        keys = [
            key
            for key, value in items.items()
            if any(isinstance(o, Func) and o.node is part.node for o in options(value))
        ]
        return keys, [key for key in items if key not in keys]

    def _of(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> Path:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._of(test.operand, not outcome, env, frame)
        if isinstance(test, ast.Call) and len(test.args) == 1:
            test = self._spelled_out(test, env, frame)
        test = one_by_one(test)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is outcome:
                return tuple(g for part in test.values for g in self._of(part, outcome, env, frame))
            sorts = [self.sorts.of(part, outcome, env, frame) for part in test.values]
            if any(sort is None for sort in sorts):
                return ()
            if not outcome and any(self.sorts.of(part, True, env, frame) == OFF for part in test.values):
                return ()  # it comes out so by default
            return self._told(test, outcome, max(sort for sort in sorts if sort is not None))
        sort = self.sorts.of(test, outcome, env, frame)
        if sort is None:
            kept = self._kept(test)
            if kept is not None:
                return self._of(kept, outcome, env, frame)
            branch = self._set_where(test, outcome)
            if branch is not None:
                return self._of(*branch, env, frame)
            if outcome and isinstance(test, ast.Name) and (on := self._on_where(test)) is not None:
                return tuple(g for part in on for g in self._of(*part, env, frame))
            if self.usual.outcome(test, frame) is (not outcome):
                return self._told(test, outcome, OFF)
            return self._told(test, outcome, DTYPE) if self._kept_of_dtype(test, env, frame) else ()
        return self._told(test, outcome, sort, self._about(test, outcome, frame))

    def _kept(self, test: ast.expr) -> ast.expr | None:
        """The test of which the function kept the outcome under a name, or what it asks of an attribute that it kept
        so: `masked = self.training and self.masks`, then `if masked:`."""
        if test not in self._made:
            self._made[test] = None
            name = test.left if isinstance(test, ast.Compare) and len(test.ops) == 1 else test
            running = self.at.functions.binding(name.id) if isinstance(name, ast.Name) else None
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
        return isinstance(made, ast.Compare) and self.sorts.compared(made, True, env, frame) == DTYPE

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

    def _on_where(self, name: ast.Name) -> list[tuple[ast.expr, bool]] | None:
        """What has to hold for a name to be on that the function sets in one branch alone to anything but False: `on =
        self.training` under `if kind == "a":`, and `on = False` otherwise; or of an argument that it sets anew."""
        if name not in self._ways:
            running = self.at.functions.running()
            own = running is not None and running is self.at.functions.binding(name.id)
            self._ways[name] = _on_where(running, name) if running is not None and own else None
        return self._ways[name]

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
        if not isinstance(name, ast.Name) or not isinstance(env.get(name.id), Union):
            return frame.guards
        sets = self._sets(name)
        where = [
            (made.lineno, branch)
            for made, branch in sets
            if tensor_of(self.at.expressions.again(made, env, frame)) is not None
        ]
        if len(where) != 1 or where[0][0] >= test.lineno or where[0][1] is None:
            return frame.guards
        return self.where(*where[0][1], env, frame)

    def _sets(self, name: ast.Name) -> list[tuple[ast.expr, Under]]:
        """What the function sets a name to, with the innermost test around each; nothing where it does so once, or in a
        way that this does not see."""
        running = self.at.functions.running()
        if running is None:
            return []
        sets = [(made, branch) for made, branch in set_by(running, name.id) if made is not None]
        stores = len(sets)
        if len(sets) == 1 and isinstance(made := sets[0][0], ast.IfExp) and sets[0][1] is None:
            # `total = lengths.sum() if sizes is None else sum(sizes)`
            sets = [(made.body, (made.test, True)), (made.orelse, (made.test, False))]
        if len(sets) < 2:
            return []
        bound = [part for part in parts(running, ast.Name) if part.id == name.id]
        alone = [part for part in parts(running, ast.AnnAssign) if part.value is None]
        found = sum(isinstance(part.ctx, ast.Store) for part in bound)
        return sets if found == stores + sum(is_name(part.target, name.id) for part in alone) else []

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

    def _about(self, test: ast.expr, outcome: bool, frame: Frame) -> tuple[int, str, bool] | None:
        """What a test asks of the object that stays as it is: `self.fast`, `self.kind == "mean"`."""
        asked = test
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            asked, outcome = test.left, outcome is isinstance(test.ops[0], ast.Eq)
            if not isinstance(test.comparators[0], ast.Constant):
                return None
        if not is_own(asked) or not self.stays(asked.attr, frame):
            return None
        value = f" == {ast.unparse(test.comparators[0])}" if isinstance(test, ast.Compare) else ""
        return id(frame.me), f"{dotted(asked)}{value}", outcome

    def stays(self, name: str, frame: Frame) -> bool:
        """Whether it is an attribute of the object, or a property that reads attributes, which no method but
        `__init__` sets."""
        cls = frame.own_class
        if cls is None:
            return False
        names = self.at.classes.read_by(cls, name) or {name}
        classes = self.at.classes.bases(cls)[0]
        return all(m.name == "__init__" for name in names for c in classes for m, _ in c.assigned(name))

    def _told(
        self, test: ast.expr, outcome: bool, sort: int, about: tuple[int, str, bool] | None = None
    ) -> Path:
        text = self._texts.get((test, outcome))
        if text is None:
            text = self._texts[test, outcome] = ast.unparse(test if outcome else opposite(test))
        if len(text) > LONGEST:
            text = _shorter(test) if outcome else ""
        return (Guard(text, sort, about),) if text or sort in RARE or about else ()


def _shorter(test: ast.expr) -> str:
    """`place in ("a", ...)`, of what is one of several; "" of anything else, and where that is long too."""
    if not isinstance(test, ast.Compare) or not isinstance(several := test.comparators[0], ast.Tuple):
        return ""
    first = ast.Tuple([several.elts[0], ast.Constant(...)], ast.Load())
    text = ast.unparse(ast.Compare(test.left, test.ops, [first]))
    return text if len(text) <= LONGEST else ""


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


def _owner(method: Value) -> Value:
    """The object whose method it is."""
    bound = method.bound if isinstance(method, Func) else method.receiver if isinstance(method, Ext) else None
    return UNKNOWN if bound is None else bound


def _on_where(function: FunctionNode, name: ast.Name) -> list[tuple[ast.expr, bool]] | None:
    """The test under which a function sets a name to anything but False, and what that has to be, where it does so
    once; None where it may be on in other ways."""
    sets = set_by(function, name.id)
    on = [
        (value, under) for value, under in sets if not (isinstance(value, ast.Constant) and not value.value)
    ]
    stores = sum(n.id == name.id and isinstance(n.ctx, ast.Store) for n in parts(function, ast.Name))
    if len(on) != 1 or len(sets) != stores or any(v is None or v.lineno >= name.lineno for v, _ in sets):
        return None
    (value, under), given = on[0], any(each.arg == name.id for each in parameters_in(function.args))
    if value is None or (under is None) is not (given and len(sets) == 1):
        return None
    if any(is_name(part, name.id) for part in walk(value)):
        return None
    asks = isinstance(value, (ast.BoolOp, ast.Compare, ast.Attribute, ast.UnaryOp))
    return [*([under] if under is not None else ()), *([(value, True)] if asks else ())]


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
