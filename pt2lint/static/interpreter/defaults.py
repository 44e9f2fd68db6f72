"""What an attribute is where nobody sets an option: what `__init__` keeps, and what the project gives it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.guard_syntax import (
    Under,
    added_under,
    around,
    asked_of,
    asks_for_one,
    asks_whether_none,
    came_out,
    constant,
    default_of,
    handed,
    held_by,
    is_empty,
    is_one_of,
    is_something,
    looked_up,
    name_of,
    options_of,
    returned_by,
    set_by,
    set_in,
)
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    is_own,
    parameters_in,
    parts,
    placed,
    says_none,
    unit_of,
    walk,
)
from pt2lint.static.values import NO_CONST, Func, Instance, Py, Seq, Value, is_none, options, truth

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


DEEPEST = 4  # classes that hand on one option


class _Made(NamedTuple):
    """An attribute of an object of `cls`: what the `__init__` that it has, of the class `home`, assigns to it."""

    cls: ClassInfo
    home: ClassInfo
    init: FunctionNode
    values: list[ast.expr | None]

    @property
    def maker(self) -> Func:
        return Func(self.init, self.home.module, self.home.env, Instance(self.cls), self.home)


class Defaults:
    """Answers for the object of the method that runs."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._off: dict[tuple[str, str], bool] = {}  # by file and attribute: see `off_in_file`
        self._otherwise: dict[tuple[ast.expr, bool, ClassInfo], bool] = {}
        self._held: dict[tuple[FunctionNode, str | None], list[tuple[ast.expr | None, Under]]] = {}

    def starts_empty(self, place: ast.expr, value: Value, frame: Frame) -> bool:
        """Whether an attribute is a list or a set that is empty until someone calls a method that puts something into
        it, or a property that asks whether it still is."""
        if not is_own(place):
            return False
        if isinstance(value, Seq) and value.elts == [] and value.type == "list":
            return True
        cls = frame.own_class
        if cls is None:
            return False
        name = place.attr
        getter = self.at.classes.find_method(cls, name)
        if getter is not None:
            last = getter[1].body[-1]
            read = {part.attr for part in walk(last) if is_own(part)}
            call = last.value if isinstance(last, ast.Return) else None
            if not isinstance(call, ast.Call) or len(read) != 1 or not is_name(call.func, "bool"):
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
            if method.name == "__init__" or dotted(place) not in {*map(name_of, walk(made_of))}
        ]
        if not made or not all(is_empty(each) for each in made):
            return False
        first = [c.methods["__init__"] for c in classes if "__init__" in c.methods]
        grows = self.at.models.last_words("grows") | self.at.models.last_words("fills")
        return not any(
            isinstance(part, ast.Attribute) and part.attr in grows and dotted(part.value) == f"self.{name}"
            for method in first
            for part in walk(method)
        )

    def made_where_asked(self, place: ast.expr, frame: Frame) -> bool:
        """Whether `__init__` makes an attribute something only where an option of its own asks for it that is off
        by default, and None or nothing otherwise: `if with_labels: self.labeler = Labeler()`,
        `if self.frequency > 0 and ...:`."""
        made = self._set_by_init(place, frame)
        if made is None or len(made.values) > 2:
            return False
        options_off = options_of(made.init)
        kept = {  # `self.rate = rate`, `self.drops = rate > 0`
            dotted(target): value
            for target, value in set_in(made.init.body)
            if value is not None and asks_for_one(value, options_off)
        }
        under = [
            each.test
            for each in made.init.body
            if isinstance(each, ast.If) and asks_for_one(each.test, options_off | kept.keys())
            for target, value in set_in(each.body)
            if is_something(value) and dotted(target) == dotted(place)
        ]
        under += [  # `Labeler() if with_labels else None`
            value.test
            for value in made.values
            if isinstance(value, ast.IfExp) and is_something(value.body) and says_none(value.orelse)
            if asks_for_one(value.test, options_off | kept.keys())
        ]
        return (
            (len(made.values) == 1 or any(says_none(value) for value in made.values if value is not None))
            and bool(under)
            and not any(
                isinstance(part, ast.Name) and self._is_switched_on(part.id, made, set())
                for test in under
                for asked in walk(test)
                for part in walk(kept.get(name_of(asked), asked))
            )
        )

    def _is_switched_on(self, name: str, made: _Made, seen: set[tuple[ClassInfo, str]]) -> bool:
        """Whether the project gives an option that is off by default to `__init__`, somewhere and something that may
        switch it on. What makes the object may have that of an option of its own, `Block(with_labels=with_labels)`."""
        if name not in options_of(made.init) or (made.cls, name) in seen:
            return False
        seen.add((made.cls, name))
        if self._hands_on(made, name):
            return True
        for value, given, maker in self.at.functions.passed.makings(made.cls, made.maker, name):
            if value is None or is_none(value) is True:
                continue
            if not isinstance(value, Py) or not (value.off or value.const in (False, 0, "")):
                return True
            found = self.at.classes.find_method(maker, "__init__") if maker is not None else None
            if maker is not None and found is not None and isinstance(given, ast.Name):
                if self._is_switched_on(given.id, _Made(maker, *found, []), seen):
                    return True
        return False

    def is_never_set(self, call: ast.Call, frame: Frame) -> bool:
        """Whether `hasattr(self, "parts")` asks for what no class of the object sets, nor the framework that runs it:
        somebody may do so from outside."""
        cls = frame.own_class
        if cls is None or not is_name(call.func, "hasattr") or len(call.args) != 2:
            return False
        owner, asked = call.args
        if (
            not is_name(owner, "self")
            or not isinstance(asked, ast.Constant)
            or not isinstance(asked.value, str)
        ):
            return False
        name, models = asked.value, self.at.models
        own, foreign, hazy = self.at.classes.bases(cls)
        if hazy or not all(models.plays(base, "module base") for base in foreign):
            return False
        return name not in models.last_words("set by a framework") and not any(
            name in each.attributes
            or name in each.annotations
            or each.assigned(name)
            or self.at.classes.find_method(each, name)
            or (each.says(name) if each.module is cls.module else each.mentioning(name))
            for each in own
        )

    def made_off(self, place: ast.expr, frame: Frame) -> bool:
        """Whether an attribute is an argument that `__init__` has to be given, and wherever the project gives it, it
        is off by default: `Model(self.rate)`, as an object is made of `rate=0.0`."""
        given = self._made_with(place, frame)
        return bool(given) and all(isinstance(value, Py) and value.off for value in given)

    def off_in_file(self, place: ast.expr, frame: Frame) -> bool:
        """Whether it is an attribute of something that was given, `model.self_condition`, and the classes of the file
        whose objects have one of that name keep an option there that is off by default."""
        place = looked_up(place, frame.block, looks=False)
        made = self._set_by_init(place, frame)
        if made is not None and len(made.values) == 1 and made.values[0] is not None:
            place = made.values[0]
        if not isinstance(place, ast.Attribute) or is_name(place.value, "self"):
            return False
        key = (frame.module.path, place.attr)
        if key not in self._off:
            kept = [
                isinstance(value, ast.Name) and value.id in options_of(method) and method.name == "__init__"
                for cls in frame.module.classes.values()
                for method, value in cls.assigned(place.attr)
                if not (isinstance(value, ast.Attribute) and value.attr == place.attr)  # which passes it on
            ]
            self._off[key] = bool(kept) and all(kept)
        return self._off[key]

    def off_for_parser(self, place: ast.expr, frame: Frame) -> bool:
        """Whether it is an option that the class itself tells a parser of the command line of, off where nobody gives
        it: `self.hparams.masked`, of `parser.add_argument("--masked", type=bool, default=False)`."""
        cls = frame.own_class
        place = looked_up(place, frame.block, looks=False)
        if cls is None or not isinstance(place, ast.Attribute) or not isinstance(place.value, ast.Attribute):
            return False
        if not is_name(place.value.value, "self"):
            return False
        told = [
            part
            for own in self.at.classes.bases(cls)[0]
            if own.module.says("add_argument")
            for method in own.methods.values()
            for part in walk(method)
            if isinstance(part, ast.Call)
            and getattr(part.func, "attr", "") == "add_argument"
            and place.attr in map(_option_name, part.args)
        ]
        return bool(told) and all(map(_off_for_parser, told))

    def is_otherwise(self, test: ast.expr, outcome: bool, frame: Frame) -> bool:
        """Whether a test of an option of `__init__` comes out otherwise than so with what that is by default, and with
        what the project gives wherever it makes the object: `self.pooling == "last"`, of `pooling="mean"`."""
        cls = frame.own_class
        asked = asked_of(test) if isinstance(test, ast.Compare) else test
        if cls is None or not isinstance(asked, (ast.Name, ast.Attribute)):
            return False
        key = (test, outcome, cls)
        if key not in self._otherwise:
            self._otherwise[key] = self._comes_out_otherwise(test, asked, outcome, frame)
        return self._otherwise[key]

    def _comes_out_otherwise(self, test: ast.expr, asked: ast.expr, outcome: bool, frame: Frame) -> bool:
        place = looked_up(asked, frame.block, looks=False)
        if not is_own(place):
            return False
        made = self._set_by_init(place, frame)
        option = made.values[0] if made is not None and len(made.values) == 1 else None
        return made is not None and self._is_other_option(made, option, test, outcome)

    def is_so(self, test: ast.Compare, outcome: bool, frame: Frame) -> bool:
        """Whether a test of an option of `__init__` comes out so with what that is by default."""
        place = looked_up(asked_of(test), frame.block, looks=False)
        made = self._set_by_init(place, frame)
        option = made.values[0] if made is not None and len(made.values) == 1 else None
        if made is None or not isinstance(option, ast.Name):
            return False
        default = self._default(made, option.id)
        return default is not None and came_out(test, default) is outcome

    def _is_other_option(
        self, made: _Made, option: ast.expr | None, test: ast.expr, outcome: bool, depth: int = 0
    ) -> bool:
        """Whether a test of an option of `__init__` comes out otherwise than so by default, and nothing in the project
        gives it something with which it may come out so. What makes the object may hand on an option of its own, of
        which the same holds: `Block(norm=norm)`."""
        default = self._default(made, option.id) if isinstance(option, ast.Name) else None
        if not isinstance(option, ast.Name) or default is None or depth > DEEPEST:
            return False
        if came_out(test, default) is not (not outcome):
            return False
        for value, given, maker in self.at.functions.passed.makings(made.cls, made.maker, option.id):
            if value is None or is_none(value) is True:
                continue
            if isinstance(value, Py) and value.const is not NO_CONST:
                if came_out(test, value.const) is outcome:
                    return False
                continue
            own = self._own_option(maker, given)
            if own is None or not self._is_other_option(*own, test, outcome, depth + 1):
                return False
        return True

    def _own_option(self, maker: ClassInfo | None, given: ast.expr | None) -> tuple[_Made, ast.expr] | None:
        """The option of the `__init__` of the class that makes an object, which it hands on as it is, or as it kept it
        in an attribute."""
        found = self.at.classes.find_method(maker, "__init__") if maker is not None else None
        if maker is None or found is None:
            return None
        if is_own(given):
            kept = [store for c in self.at.classes.bases(maker)[0] for store in c.assigned(given.attr)]
            given = kept[0][1] if len(kept) == 1 and kept[0][0] is found[1] else None
        return (_Made(maker, *found, []), given) if isinstance(given, ast.Name) else None

    def _default(self, made: _Made, name: str) -> object:
        """What an option of `__init__` is by default, None where that cannot be told: written out, or a global that is
        always the same, `ignored=IGNORED`."""
        default = default_of(made.init, name)
        if default is None or isinstance(default, ast.Constant):
            return None if default is None else default.value
        place = dotted(default)
        found = self.at.names.assignments(place, made.home.module) if place is not None else None
        values = [constant(each) for each in found[1]] if found is not None else []
        return values[0].value if len(values) == 1 and values[0] is not None else None

    def kept_under(
        self, place: ast.expr, part: Value, frame: Frame
    ) -> list[tuple[ast.expr, bool, bool]] | None:
        """The tests of options, one around the other, under which `__init__` keeps this part, of several that an
        attribute may be: how each comes out then, and whether it does otherwise by default. None where that cannot be
        told."""
        made = self._set_by_init(place, frame)
        if made is None:
            return None
        if len(made.values) == 1 and (found := self._looked_up(made, made.values[0], part)) is not None:
            return [found]
        key, body = (made.init, dotted(place)), made.init.body  # which notes that it is read
        if key not in self._held:
            sets = set_by(*key) or [(value, None) for value in made.values]
            kept = (*sets, *added_under(body, key[1]))
            self._held[key] = [each for value, test in kept for each in held_by(made.init, value, test)]
            self._held[key] += [each for value, _ in kept for each in self._made_by(made, value)]
        chosen = self._chosen(made, part, self._held[key])
        given = {a.arg for a in parameters_in(made.init.args)}
        # Not the number of a layer, `if depth > i:`.
        bound = {n.id for n in parts(made.init, ast.Name) if isinstance(n.ctx, ast.Store)} - given
        named = [{n.id for n in walk(test) if isinstance(n, ast.Name)} for test, _, _ in chosen]
        return [each for each, names in zip(chosen, named, strict=True) if not bound & names] or None

    def as_kept(self, test: ast.expr, frame: Frame) -> ast.expr:
        """A test that `__init__` makes of an option, as the object's other methods make it of the attribute."""
        found = self.at.classes.find_method(frame.own_class, "__init__") if frame.own_class else None
        return _kept_as(test, found[1]) if found is not None else test

    def _looked_up(
        self, made: _Made, value: ast.expr | None, part: Value
    ) -> tuple[ast.expr, bool, bool] | None:
        """The same where `__init__` takes the part, or its class, out of a table: `KINDS[config.kind](config)`, of
        `KINDS = {"eager": Eager, "flash": Flash}`."""
        picked = value.func if isinstance(value, ast.Call) else value
        if not isinstance(picked, ast.Subscript) or not isinstance(picked.slice, (ast.Name, ast.Attribute)):
            return None
        found = self.at.names.assignments(dotted(picked.value) or "", made.home.module)
        table = found[1][0] if found is not None and len(found[1]) == 1 else None
        given = {a.arg for a in parameters_in(made.init.args)[1:]}
        key = picked.slice
        asked = {n.id for n in walk(key) if isinstance(n, ast.Name)}
        # `kind = "deep_" + config.kind`, which `__init__` makes of what it is given
        known = asked <= given or (isinstance(key, ast.Name) and bool(set_by(made.init, key.id)))
        if not isinstance(table, ast.Dict) or not known:
            return None
        keys = [
            name
            for name, kind in zip(table.keys, table.values, strict=True)
            if makes(kind if picked is value else ast.Call(kind, [], []), part)
        ]
        if not 0 < len(keys) < len(table.keys) or not all(isinstance(name, ast.Constant) for name in keys):
            return None
        names = [name for name in keys if name is not None]
        test = is_one_of(key, names)
        return test, True, asked <= given and self._is_other_option(made, key, test, True)

    def _made_by(self, made: _Made, value: ast.expr | None) -> list[tuple[ast.expr | None, Under]]:
        """What a function of the project that `__init__` calls may return, each with the test of an option that it is
        handed: `norm(width, kind)`, which makes another one under `if kind == "batch":`."""
        if not isinstance(value, ast.Call) or any(isinstance(arg, ast.Starred) for arg in value.args):
            return []
        home = Frame(made.home.module, unit_of(made.init), "", cls=made.home)
        callee = self.at.expressions.quietly(value.func, {}, home)
        if not isinstance(callee, Func) or not isinstance(callee.node, ast.FunctionDef):
            return []
        given = dict(zip(parameters_of(callee), value.args, strict=False))
        given |= {word.arg: word.value for word in value.keywords if word.arg is not None}
        found: list[tuple[ast.expr | None, Under]] = []
        for returned, under in returned_by(callee.node.body):
            asked = asked_of(under[0]) if under and isinstance(under[0], ast.Compare) else under and under[0]
            if under is not None and isinstance(asked, ast.Name) and asked.id in given:
                under = handed(under[0], asked.id, given[asked.id]), under[1]
            else:
                under = None
            found.append((returned, under))
        return found

    def stored_under(
        self, cls: ClassInfo, init: FunctionNode, name: str, line: int, origin: int
    ) -> tuple[ast.expr, bool, bool] | None:
        """The same of what the statement in that line of an `__init__` makes and keeps in an attribute."""
        home = next((c for c in self.at.classes.bases(cls)[0] if c.methods.get("__init__") is init), None)
        sets = [
            (value, under)
            for value, under in set_by(init, f"self.{name}")
            if value is not None and value.lineno >= line
        ]
        if home is None or not sets:
            return None
        value, under = min(sets, key=lambda each: each[0].lineno)
        if under is None or not line <= origin <= (value.end_lineno or 0):
            return None
        found = self._asks_option(_Made(cls, home, init, []), *under)
        if found is None:
            return None
        return (_kept_as(found[0], init), *found[1:])

    def _chosen(
        self,
        made: _Made,
        part: Value,
        kept_so: list[tuple[ast.expr | None, Under]],
    ) -> list[tuple[ast.expr, bool, bool]]:
        """The one test under which `__init__` makes the part, and those around it, where they ask for options."""
        tests = {test for value, test in kept_so if makes(value, part)}
        only = tests.pop() if len(tests) == 1 else None
        if only is None:
            return []
        outer = [(test, True) for test in around(made.init.body, only[0]) or ()]
        found = [self._asks_option(made, *each) for each in (*outer, only)]
        return [each for each in found if each is not None]

    def _asks_option(self, made: _Made, test: ast.expr, outcome: bool) -> tuple[ast.expr, bool, bool] | None:
        """The test, how it comes out and whether it does otherwise by default, where it asks for an option."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._asks_option(made, test.operand, not outcome)
        option = test.left if isinstance(test, ast.Compare) else test
        kept = [value for target, value in set_in(made.init.body) if dotted(target) == dotted(option)]
        if (
            isinstance(option, ast.Attribute)
            and len(kept) == 1
            and isinstance(kept[0], (ast.Name, ast.Attribute))
        ):
            option = kept[0]  # `self.kind = kind`, then `if self.kind == "sort":`
        given = {a.arg for a in parameters_in(made.init.args)[1:]}
        asked = {each.id for each in walk(option) if isinstance(each, ast.Name)}
        if not isinstance(option, (ast.Name, ast.Attribute)) or not asked <= given:
            return None
        return test, outcome, self._is_other_option(made, option, test, outcome)

    def made_on(self, place: ast.expr, frame: Frame) -> bool:
        """Whether an attribute is an option of `__init__`, and wherever the project makes the object, it gives it, and
        not False alone."""
        given = [o for value in self._made_with(place, frame, True) for o in options(value)]
        off = (is_none(o) or (isinstance(o, Py) and o.off) for o in given)
        return not any(off) and not all(truth(o) is False for o in given)

    def kept_off(self, place: ast.expr, frame: Frame) -> bool:
        """Whether an attribute is what `__init__` makes of an option that is off by default and that nothing in the
        project switches on: `masks and n > 1`, or `DEFAULT if masks is None else masks` of a global that is False."""
        made = self._set_by_init(place, frame) or self._set_by_base(place, frame)
        value = made.values[0] if made is not None and len(made.values) == 1 else None
        if made is None or value is None:
            return False
        asked: list[ast.expr] = []
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And):
            asked = value.values
        elif isinstance(value, ast.IfExp) and (option := asks_whether_none(value.test)) is not None:
            home = Frame(made.home.module, unit_of(made.init), "", cls=made.home)
            usual = self.at.expressions.quietly(value.body if option[1] else value.orelse, {}, home)
            asked = [option[0]] if isinstance(usual, Py) and (usual.off or truth(usual) is False) else []
        off = options_of(made.init)
        names = [part.id for part in asked if isinstance(part, ast.Name) and part.id in off]
        return any(not self._is_switched_on(name, made, set()) for name in names)

    def kept_answer(self, place: ast.expr, frame: Frame) -> tuple[ast.expr, Frame] | None:
        """The test of which `__init__` alone keeps the outcome under an attribute, and where it is asked."""
        made = self._set_by_init(place, frame)
        value = made.values[0] if made is not None and len(made.values) == 1 else None
        if made is None or not isinstance(value, (ast.BoolOp, ast.Compare, ast.Call)):
            return None
        return value, Frame(made.home.module, unit_of(made.init), "", cls=made.home)

    def _made_with(self, place: ast.expr, frame: Frame, optional: bool = False) -> list[Value]:
        """What the project gives for an attribute that is an argument of `__init__`, wherever it makes the object."""
        made = self._set_by_init(place, frame)
        if made is None or len(made.values) != 1:
            return []
        return self._given_for(made, made.values[0], optional)

    def _given_for(self, made: _Made, option: ast.expr | None, optional: bool) -> list[Value]:
        if not isinstance(option, ast.Name):
            return []
        return [*self.at.functions.passed.made_with(made.cls, made.maker, option.id, optional)]

    def _set_by_init(self, place: ast.expr, frame: Frame) -> _Made | None:
        """What `__init__` assigns to an attribute of the object, where nothing else does."""
        cls = frame.own_class
        if cls is None or not is_own(place):
            return None
        kept = [store for c in self.at.classes.bases(cls)[0] for store in c.assigned(place.attr)]
        found = self.at.classes.find_method(cls, "__init__")
        if found is None:
            return None
        if any(method is not found[1] for method, _ in kept):
            return self._handed_up(cls, place.attr)
        return _Made(cls, *found, [value for _, value in kept])

    def _handed_up(self, cls: ClassInfo, name: str) -> _Made | None:
        """What the `__init__` of a class below gives, under a name of its own, to that of its base, which keeps it as
        it is in an attribute: `super().__init__(limit)`."""
        own = self.at.classes.bases(cls)[0]
        kept = [(c, *store) for c in own for store in c.assigned(name)]
        if len(kept) != 1 or kept[0][1] is not kept[0][0].methods.get("__init__"):
            return None
        home, init, value = kept[0]
        for below in reversed(own[: own.index(home)]):
            if "__init__" not in below.methods:
                continue
            calls = [part for part in walk(below.methods["__init__"]) if _calls_init(part)]
            if len(calls) != 1 or not isinstance(value, ast.Name):
                return None
            value = _given_by(calls[0], init, value.id)
            home, init = below, below.methods["__init__"]
        return _Made(cls, home, init, [value]) if isinstance(value, ast.Name) else None

    def _set_by_base(self, place: ast.expr, frame: Frame) -> _Made | None:
        """What the `__init__` of a base class assigns to an attribute of the object, where nothing else does and the
        ones of the classes below hand on names alone: `super().__init__(**kwargs)`."""
        cls = frame.own_class
        if cls is None or not is_own(place):
            return None
        kept = [(c, *store) for c in self.at.classes.bases(cls)[0] for store in c.assigned(place.attr)]
        if len(kept) != 1:
            return None
        [(home, method, value)] = kept
        if method is not home.methods.get("__init__") or any(call.args for call in self._above(cls, home)):
            return None
        return _Made(cls, home, method, [value])

    def _above(self, cls: ClassInfo, home: ClassInfo) -> list[ast.Call]:
        """The calls of other `__init__`s in those of the classes between the object's and one of its bases."""
        own = self.at.classes.bases(cls)[0]
        below = [each.methods["__init__"] for each in own[: own.index(home)] if "__init__" in each.methods]
        return [part for init in below for part in walk(init) if _calls_init(part)]

    def _hands_on(self, made: _Made, name: str) -> bool:
        """Whether a class below gives an option of its base by name, or the project does where it makes the object."""
        found = self.at.classes.find_method(made.cls, "__init__")
        if found is None or found[1] is made.init:
            return False
        if any(word.arg == name for call in self._above(made.cls, made.home) for word in call.keywords):
            return True
        makings = self.at.objects.makings.get(made.cls, ())
        return any(name in each.kwargs and not self.at.classes.is_of_tests(each.module) for each in makings)


def _calls_init(node: ast.AST) -> TypeGuard[ast.Call]:
    """`super().__init__(...)`, `Base.__init__(self, ...)`"""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    )


def _given_by(call: ast.Call, init: FunctionNode, name: str) -> ast.expr | None:
    """What such a call gives for a parameter of that `__init__`; None for nothing, and where it unpacks."""
    above = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)  # of `super()`
    if any(isinstance(each, ast.Starred) for each in call.args):
        return None
    by_place = placed(init.args)[above:]
    given = {p.arg: value for p, value in zip(by_place, call.args, strict=False)}
    return (given | {word.arg: word.value for word in call.keywords if word.arg is not None}).get(name)


def _kept_as(test: ast.expr, init: FunctionNode) -> ast.expr:
    """The test, of the attribute in which `__init__` keeps the option as it is: other methods ask for that."""
    option = test.left if isinstance(test, ast.Compare) else test
    places = (
        t for t, value in set_in(init.body) if is_own(t) and ast.unparse(value or t) == ast.unparse(option)
    )
    place = next(places, None) if isinstance(option, (ast.Name, ast.Attribute)) else None
    if place is None or len(set_by(init, dotted(place))) > 1:
        return test
    asked = ast.Compare(place, test.ops, test.comparators) if isinstance(test, ast.Compare) else place
    return ast.copy_location(asked, test)


def makes(value: ast.expr | None, part: Value) -> bool:
    """Whether an expression makes the part: the function itself or its name, a method by `self.name`, or a call of its
    class."""
    if isinstance(part, Func):
        name = getattr(part.node, "name", "")
        if part.bound is not None and isinstance(value, ast.Attribute):
            return is_own(value) and value.attr == name
        return value is part.node or (isinstance(value, ast.Name) and value.id == name)
    if not isinstance(part, Instance) or not isinstance(value, ast.Call):
        return False
    name = part.cls.name if part.cls is not None else (part.external or "").rpartition(".")[2]
    return (dotted(value.func) or "").rpartition(".")[2] == name


def _option_name(given: ast.expr) -> str:
    """`batch_size` of `"--batch-size"`."""
    text = given.value if isinstance(given, ast.Constant) else ""
    return text.lstrip("-").replace("-", "_") if isinstance(text, str) and text.startswith("--") else ""


def _off_for_parser(call: ast.Call) -> bool:
    given = {each.arg: each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)}
    return given.get("default", given.get("action") != "store_true") is False
