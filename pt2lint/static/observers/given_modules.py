"""What code does with a module that it is given, by name and by class: one that torch.compile wrapped has others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.observers.given_asked import asked
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    last_word,
    parameters_in,
    parts,
    says_text,
    unit_of,
    walk,
)
from pt2lint.static.values import Class, Ext, Seq, Value

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

KNOWS = ("_orig_mod", "OptimizedModule", "is_compiled")  # who says one of them knows of the wrapper
NAMES = ("named_parameters", "named_modules", "named_buffers")
OPS = (
    "names of given",
    "type of given",
    "unwrap given",
    "state of given",
    "load of given",
    "signature of given",
    "class of given",
    "truth of given",
    "strip given",
)
SIGNATURES = ("inspect.signature", "inspect.getfullargspec")
WORDS = ("isinstance(", "type(", '"module"', "'module'", "state_dict(", "signature(", "argspec(", *NAMES)
ASKED = ("__class__", "Module", ".parameters(", ".eval()", ".train(")  # for what given_asked.py looks for
OF_MODULES = ("parameters", "named_parameters", "modules", "named_modules", "children", "train", "eval")
HELD = "module"  # where a wrapper that spreads a module keeps it
Found = Iterator[tuple[str, ast.expr, dict[str, str]]]
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_STATEMENTS = (ast.For, ast.While, ast.If, ast.Return, ast.Assign, ast.Assert)
_LOOKED_AT = frozenset((*_STATEMENTS, *_COMPREHENSIONS, ast.Compare, ast.Call))


class GivenModules:
    """Methods and functions that nothing traced runs, of a linted file that does not know of the wrapper."""

    def __init__(self, at: Context) -> None:
        self.at = at

    def read_through(self, module: Module, classes: list[ClassInfo]) -> None:
        if not any(op in self.at.notebook.anywhere for op in OPS):
            return
        if not any(map(module.says, WORDS + ASKED)):
            return
        # A comment may speak of the wrapper; one that names its prefix knows what becomes of names.
        aware = module.says(KNOWS[0]) or any(map(module.has, KNOWS))
        if aware and not module.says("._orig_mod"):
            return
        places: list[tuple[FunctionNode, ClassInfo | None]] = [(f, None) for f in module.functions.values()]
        places += [(method, cls) for cls in classes for method in cls.methods.values()]
        compiles = cache(partial(self._compiles, module, classes))
        for function, cls in places:
            if function in self.at.functions.reached or isinstance(function, ast.Lambda):
                continue
            if function.name.startswith("test_"):
                continue  # a fixture gives it, of which another function tells
            title = f"`{cls.name}.{function.name}`" if cls else f"`{function.name}`"
            frame = Frame(module, unit_of(function), title, cls=cls)
            look = Look(self.at, function, frame, self._has_self(function, cls))
            found = look.forgotten() if aware else chain(look.found(), asked(look, KNOWS, compiles))
            for name, node, words in found:
                told = "yes" if aware or compiles() else "no"
                self.at.notebook.note(node, name, look.frame, details={**words, "compiles": told})

    def _has_self(self, function: FunctionNode, cls: ClassInfo | None) -> bool:
        """Whether its first parameter is the object: it is a method, and no static one."""
        return cls is not None and not any(
            isinstance(
                made := self.at.expressions.quietly(decorator, {}, Frame(cls.module, unit_of(function), "")),
                Ext,
            )
            and self.at.models.plays(made.name, "static method")
            for decorator in getattr(function, "decorator_list", ())
        )

    def _compiles(self, module: Module, classes: list[ClassInfo]) -> bool:
        """Whether the file itself wraps modules by torch.compile."""
        functions = [*module.functions.values(), *(m for cls in classes for m in cls.methods.values())]
        methods = {f"self.{name}" for cls in classes for name in cls.methods}
        if not module.says("compile("):
            return False
        for function in functions:
            frame = Frame(module, unit_of(function), "")
            for call in walk(function):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute | ast.Name):
                    continue
                given = call.args[0] if call.args else None
                if last_word(call.func) != "compile" or not isinstance(given, ast.Name | ast.Attribute):
                    continue
                callee = self.at.expressions.quietly(call.func, {}, frame)
                # `model.forward = torch.compile(model.forward)` leaves the module as it is.
                own = dotted(given) in methods or (
                    given.attr == "forward"
                    if isinstance(given, ast.Attribute)
                    else given.id in module.functions
                )
                if isinstance(callee, Ext) and self.at.models.plays(callee.name, "compiles") and not own:
                    if not self._is_other(given, function, frame):
                        return True
        return False

    def _is_other(self, given: ast.expr, function: FunctionNode, frame: Frame) -> bool:
        """Whether it is a parameter that is annotated as a function, or as a class of the project that is no module."""
        parameters = parameters_in(function.args)
        said = next((a.annotation for a in parameters if is_name(given, a.arg)), None)
        if isinstance(said, ast.Subscript):  # `Callable[[Tensor], Tensor]`, `Step[Batch]`
            said = said.value
        kind = self.at.expressions.quietly(said, {}, frame) if said is not None else None
        if isinstance(kind, Class):
            return not self.at.classes.is_module(kind.info)
        return isinstance(kind, Ext) and kind.name.rpartition(".")[2] == "Callable"


class Look:
    """One function, and what it is given."""

    def __init__(self, at: Context, function: FunctionNode, frame: Frame, method: bool) -> None:
        self.at, self.function, self.frame = at, function, frame
        self.plays: dict[str, bool] = {}
        given = [a.arg for a in parameters_in(function.args)]
        self.me = given[0] if method and given else ""
        self.given = set(given)
        self.env: Env = {
            alias.asname or alias.name: Ext(f"{one.module}.{alias.name}")
            for one in parts(function, ast.ImportFrom)
            if one.module and not one.level
            for alias in one.names
        }
        for one in parts(function, ast.Import):
            for alias in one.names:
                name = alias.asname or alias.name.partition(".")[0]
                self.env[name] = Ext(alias.name if alias.asname else name)

    def found(self) -> Found:
        for node in walk(self.function):
            if node.__class__ not in _LOOKED_AT:
                continue
            if isinstance(node, ast.For):
                yield from self.names(node.target, node.iter, list(node.body))
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                for one in node.generators:
                    yield from self.names(one.target, one.iter, [node])
            elif isinstance(node, ast.While | ast.If):
                yield from self.unwraps(node)
                yield from self.refuses(node)
            elif isinstance(node, ast.Return | ast.Assign):
                yield from self.takes_off(node)
            elif isinstance(node, ast.Compare) and len(node.ops) == 1:
                yield from self.compares(node)
            elif isinstance(node, ast.Assert):
                yield from self.demands(node)
            elif isinstance(node, ast.Call):
                yield from self.tells(node)
                yield from self.tells_by_another(node)
                yield from self.saves(node)
                yield from self.loads(node)
                yield from self.asks_signature(node)

    def is_given(self, node: ast.expr) -> bool:
        """A parameter, or what an object holds that is one: no module that the function made, or went on to."""
        name = dotted(node)
        if name is None or name == self.me:
            return False
        first, _, rest = name.partition(".")
        if (
            first == self.me
            and self.frame.cls is not None
            and rest.partition(".")[0] in self.frame.cls.methods
        ):
            return False  # a property: what it returns may be the module inside of the wrapper
        return first in self.given

    def names(self, target: ast.expr, source: ast.expr, body: list[ast.AST]) -> Found:
        """A loop over the names of a given module, which compares them with names that are not taken from it."""
        source = self.made(source)
        if (
            not isinstance(source, ast.Call)
            or not isinstance(source.func, ast.Attribute)
            or source.func.attr not in NAMES
            or any(isinstance(k.value, ast.Constant) and k.value.value is False for k in source.keywords)
            or not self.is_given(source.func.value)
            or not isinstance(target, ast.Tuple)
            or not target.elts
            or not isinstance(target.elts[0], ast.Name)
        ):
            return
        name = target.elts[0].id
        for part in body:
            for node in ast.walk(part):
                if isinstance(node, ast.expr) and (outcome := self.looks_up(node, name, source)):
                    yield "names of given", node, {"name": name, "outcome": outcome}
                    return

    def made(self, source: ast.expr) -> ast.expr:
        """What is gone over, where a name stands for it: `parts = list(model.named_modules())`."""
        if isinstance(source, ast.Name):
            made = self.assigned(source.id)
            source = made[0] if len(made) == 1 else source
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and len(source.args) == 1:
            if source.func.id in ("list", "tuple", "dict"):
                source = source.args[0]
        return source

    def assigned(self, name: str) -> list[ast.expr]:
        """What a name is assigned, but for what is empty."""
        return [
            one.value
            for one in walk(self.function)
            if isinstance(one, ast.Assign | ast.AnnAssign)
            and one.value is not None
            and any(is_name(t, name) for t in (one.targets if isinstance(one, ast.Assign) else [one.target]))
            and ast.unparse(one.value) not in ("set()", "[]", "{}", "()", "None")
        ]

    def is_of_another(self, listed: ast.Name, source: ast.expr) -> bool:
        """Whether names are taken from something else that the function is given: `{k.lower() for k in state}`."""
        made = self.assigned(listed.id)
        if len(made) != 1 or not isinstance(made[0], ast.SetComp | ast.ListComp):
            return False
        over = self.made(made[0].generators[0].iter)
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "keys":
            over = over.func.value
        return isinstance(over, ast.Name) and over.id in self.given and over.id not in ast.unparse(source)

    def looks_up(self, node: ast.expr, name: str, source: ast.expr) -> str:
        """What comes of a test of the name, where that begins with `_orig_mod.`."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and is_name(node.left, name):
            right = node.comparators[0]
            fixed = _is_text(right) or (
                isinstance(right, ast.Tuple | ast.List | ast.Set)
                and bool(right.elts)
                and all(map(_is_text, right.elts))
            )
            listed = isinstance(right, ast.Name) and (
                right.id in self.given - {self.me} or self.is_of_another(right, source)
            )
            if isinstance(node.ops[0], ast.Eq | ast.In) and (
                fixed or (listed and isinstance(node.ops[0], ast.In))
            ):
                return "never"
            if isinstance(node.ops[0], ast.NotIn) and listed:
                return "always"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "startswith" and is_name(node.func.value, name):
                return "never" if node.args and all(map(_is_text, node.args)) else ""
            if len(node.args) > 1 and is_name(node.args[1], name):
                callee = self.value(node.func)
                whole = isinstance(callee, Ext) and self.at.models.plays(
                    callee.name, "matches from the start"
                )
                return "never" if whole else ""
        return "shifted" if _is_part_of(node, name) else ""

    def unwraps(self, node: ast.While | ast.If) -> Found:
        """`while isinstance(model, (DistributedDataParallel, ...)): model = model.module`"""
        if len(node.body) != 1 or not isinstance(taken := node.body[0], ast.Assign | ast.Return):
            return
        inner = taken.value
        if not isinstance(inner, ast.Attribute) or not self.is_given(inner.value):
            return
        kept = not isinstance(taken, ast.Assign) or [dotted(t) for t in taken.targets] == [
            dotted(inner.value)
        ]
        if kept and self.asks_for_held(node.test, inner.value) and not self.may_be_parts(inner.value):
            yield "unwrap given", node.test, {"name": dotted(inner.value) or ""}

    def may_be_parts(self, given: ast.expr) -> bool:
        """Whether the function asks whether it is given a list or a dictionary of modules, which nobody compiles."""
        tests = [self.asked(part) for part in walk(self.function) if isinstance(part, ast.Call)]
        return any(
            asked is not None
            and dotted(asked) == dotted(given)
            and any(isinstance(k, Ext) and self.at.models.plays(k.name, "holds modules") for k in kinds)
            for asked, kinds in tests
        )

    def takes_off(self, node: ast.Return | ast.Assign) -> Found:
        """`return model.module if hasattr(model, "module") else model`, `getattr(model, "module", model)`."""
        value = node.value
        if isinstance(value, ast.IfExp):
            kept, taken = value.orelse, value.body
            if isinstance(taken, ast.Attribute) and taken.attr == HELD and self.is_given(kept):
                if ast.unparse(taken.value) == ast.unparse(kept) and self.asks_for_held(value.test, kept):
                    yield "unwrap given", value, {"name": dotted(kept) or ""}
        elif isinstance(value, ast.Call) and is_name(value.func, "getattr") and len(value.args) == 3:
            asked, held, kept = value.args
            if isinstance(held, ast.Constant) and held.value == HELD and self.is_given(kept):
                if ast.unparse(asked) == ast.unparse(kept):
                    yield "unwrap given", value, {"name": dotted(kept) or ""}

    def asks_for_held(self, test: ast.expr, wrapper: ast.expr) -> bool:
        """`hasattr(model, "module")`, or isinstance of what spreads a module."""
        if isinstance(test, ast.Call) and is_name(test.func, "hasattr") and len(test.args) == 2:
            held = test.args[1]
            return (
                isinstance(held, ast.Constant)
                and held.value == HELD
                and ast.unparse(test.args[0]) == ast.unparse(wrapper)
            )
        asked, kinds = self.asked(test)
        same = asked is not None and ast.unparse(asked) == ast.unparse(wrapper)
        return same and any(self.spreads(kind) for kind in kinds)

    def saves(self, node: ast.Call) -> Found:
        """`model.state_dict()` of a given module, in a function that writes files of tensors."""
        callee = node.func
        if not isinstance(callee, ast.Attribute) or callee.attr != "state_dict" or node.args:
            return
        if not self.is_given(callee.value) or self.at.classes.is_module(self.frame.cls):
            return
        saved = self.calls("saves tensors") and self.is_used_as_module(callee.value)
        if saved or self.is_of_checkpoint(node):
            yield "state of given", node, {"name": dotted(callee.value) or ""}

    def is_of_checkpoint(self, state: ast.Call) -> bool:
        """Whether the function returns it in a dictionary, under a key that says that it is the model's, beside the
        state of another object: a checkpoint."""
        for made in parts(self.function, ast.Dict):
            key = next((k for k, v in zip(made.keys, made.values, strict=True) if v is state), None)
            others = [v for v in made.values if v is not state and _is_state(v)]
            if isinstance(key, ast.Constant) and others and self.is_returned(made):
                return isinstance(key.value, str) and "model" in key.value
        return False

    def is_returned(self, made: ast.expr) -> bool:
        names = [
            target.id
            for one in parts(self.function, ast.Assign)
            if one.value is made
            for target in one.targets
            if isinstance(target, ast.Name)
        ]
        return any(
            one.value is made or (isinstance(one.value, ast.Name) and one.value.id in names)
            for one in parts(self.function, ast.Return)
        )

    def loads(self, node: ast.Call) -> Found:
        """`model.load_state_dict(state)` of a given module, in a function that reads files of tensors."""
        callee = node.func
        if not isinstance(callee, ast.Attribute) or callee.attr not in self.at.models.last_words(
            "loads state"
        ):
            return
        place = callee.value
        if not self.is_given(place) or self.at.classes.is_module(self.frame.cls):
            return
        if self.is_own_state(node, place):
            return
        of_modules = any(k.arg == "strict" for k in node.keywords) or self.is_used_as_module(place)
        if of_modules and self.calls("loads tensors"):
            yield "load of given", node, {"name": dotted(place) or ""}

    def is_own_state(self, node: ast.Call, place: ast.expr) -> bool:
        """Whether the function made the state of what the module itself gave: names that it surely knows."""
        given = node.args[0] if node.args else None
        if not isinstance(given, ast.Name):
            return False
        own = f"{ast.unparse(place)}.state_dict"
        return any(
            isinstance(call, ast.Call) and ast.unparse(call.func) == own
            for one in parts(self.function, ast.Assign)
            if any(is_name(target, given.id) for target in one.targets)
            for call in walk(one.value)
        )

    def calls(self, role: str) -> bool:
        """Whether the function calls what plays the role."""
        if role not in self.plays:
            self.plays[role] = any(
                isinstance(part.func, ast.Attribute | ast.Name)
                and isinstance(value := self.value(part.func), Ext)
                and self.at.models.plays(value.name, role)
                for part in parts(self.function, ast.Call)
            )
        return self.plays[role]

    def asks_signature(self, node: ast.Call) -> Found:
        """`inspect.signature(model.forward)`"""
        asked = node.args[0] if len(node.args) == 1 else None
        if not isinstance(asked, ast.Attribute) or asked.attr != "forward" or not self.is_given(asked.value):
            return
        callee = self.value(node.func)
        if isinstance(callee, Ext) and callee.name in SIGNATURES and not self.is_made(asked.value):
            yield "signature of given", asked, {"name": dotted(asked.value) or ""}

    def is_made(self, place: ast.expr) -> bool:
        """Whether the class makes by itself what its objects hold there: `self.model = Net()`."""
        name = dotted(place) or ""
        return self.frame.cls is not None and any(
            name in _makes(method) for method in self.frame.cls.methods.values()
        )

    def is_used_as_module(self, given: ast.expr) -> bool:
        """Whether the function, or the class for what its objects hold, does with it what is done with modules alone:
        an optimizer has a state, too."""
        place = dotted(given)
        if self.frame.cls is not None and "." in (place or ""):
            return place in _used_as_modules(self.frame.cls.node)
        if place in _used_as_modules(self.function):
            return True
        for node in parts(self.function, ast.Call):
            asked, kinds = self.asked(node)
            if asked is not None and dotted(asked) == place and any(map(self.spreads, kinds)):
                return True
        return False

    def refuses(self, node: ast.While | ast.If) -> Found:
        """`if not isinstance(model, Net): raise TypeError`"""
        test = node.test
        if not isinstance(test, ast.UnaryOp) or not isinstance(test.op, ast.Not):
            return
        asked, kinds = self.asked(test.operand)
        if asked is None or not isinstance(node.body[-1], ast.Raise):
            return
        if kinds and all(self.is_one(kind) for kind in kinds):
            yield "type of given", test.operand, {"name": dotted(asked) or ""}

    def demands(self, node: ast.Assert) -> Found:
        """`assert isinstance(models[0], Net)`"""
        asked, kinds = self.asked(node.test)
        if asked is not None and kinds and all(self.is_one(kind) for kind in kinds):
            yield "type of given", node.test, {"name": dotted(asked) or ""}

    def tells_by_another(self, node: ast.Call) -> Found:
        """`isinstance(model, type(accelerator.unwrap_model(unet)))`, which leaves the wrapper of torch.compile on."""
        kind = node.args[1] if len(node.args) == 2 and is_name(node.func, "isinstance") else None
        other = (
            kind.args[0] if isinstance(kind, ast.Call) and is_name(kind.func, "type") and kind.args else None
        )
        if not isinstance(other, ast.Call) or not isinstance(other.func, ast.Attribute):
            return
        if other.func.attr in self.at.models.last_words("takes wrappers off but one") and not other.keywords:
            yield "type of given", node, {"name": dotted(node.args[0]) or "", "outcome": "always"}

    def forgotten(self) -> Found:
        """`isinstance(self.net, Net)` where the function itself takes the wrapper off: `net = self.net._orig_mod if
        is_compiled_module(self.net) else self.net`."""
        plain = {
            dotted(one.value.orelse): one
            for one in parts(self.function, ast.Assign)
            if isinstance(one.value, ast.IfExp)
            and isinstance(one.value.body, ast.Attribute)
            and one.value.body.attr == "_orig_mod"
            and dotted(one.value.body.value) == dotted(one.value.orelse) != dotted(one.targets[0])
        }
        for node in parts(self.function, ast.Call) if plain else ():
            asked, kinds = self.asked(node)
            taken = plain.get(dotted(asked)) if asked is not None else None
            if taken is not None and taken.lineno < node.lineno and kinds and all(map(self.is_one, kinds)):
                words = {"name": ast.unparse(node.args[0]), "plain": ast.unparse(taken.targets[0])}
                yield "type of given", node, {**words, "outcome": "never"}

    def tells(self, node: ast.Call) -> Found:
        """`isinstance(self.model, Net)`, of what an object of a framework holds."""
        asked, kinds = self.asked(node)
        if self.at.classes.is_module(self.frame.cls):
            return
        if asked is None and len(node.args) == 2 and is_name(node.func, "isinstance"):
            kind, listed = self.value(node.args[1]), node.args[0]
            # Of a list that an object holds: models, if a library's class says so. Or where a wrapper is taken off.
            own = isinstance(kind, Class) and self.at.classes.is_module(kind.info)
            if (isinstance(kind, Ext) and self.is_one(kind) and self.is_of_list(listed)) or (
                own and self.is_taken_off(listed)
            ):
                yield "type of given", node, {"name": dotted(node.args[0]) or "", "outcome": "never"}
        if asked is None:
            return
        held = isinstance(asked, ast.Attribute) or self.is_taken(asked)
        if held and kinds and all(self.is_one(kind) for kind in kinds):
            yield "type of given", node, {"name": dotted(asked) or "", "outcome": "never"}

    def is_one(self, kind: Value) -> bool:
        """Whether it is a class that somebody compiles: of the project, of a library of models, or a loss."""
        if isinstance(kind, Ext):
            plays = self.at.models.plays
            return plays(kind.name, "loss") or plays(kind.name, "class of models")
        if not isinstance(kind, Class) or not self.at.classes.is_module(kind.info):
            return False
        # Modules that nobody calls, as of a mathematical object, are not compiled.
        foreign = (
            b for b in self.at.classes.bases(kind.info)[1] if not self.at.models.plays(b, "module base")
        )
        return self.at.classes.find_method(kind.info, "forward") is not None or any(foreign)

    def is_taken(self, node: ast.expr) -> bool:
        """Whether it is a name for what a parameter holds: `loss = getattr(net, name)`; no parameter that goes on to
        what it held, which was asked before."""
        if not isinstance(node, ast.Name) or node.id in self.given:
            return False
        made = [one.value for one in parts(self.function, ast.Assign) if is_name(one.targets[0], node.id)]
        return len(made) == 1 and self.is_given(_held(made[0]))

    def is_taken_off(self, node: ast.expr) -> bool:
        """Whether a loop over what the function is given binds the name, and goes on to what it holds:
        `for model in models: model = model.module`."""
        return (
            isinstance(node, ast.Name)
            and any(dotted(over) in self.given for over in self.gone_over(node.id))
            and any(
                is_name(one.targets[0], node.id)
                and isinstance(one.value, ast.Attribute)
                and one.value.attr == HELD
                and is_name(one.value.value, node.id)
                for one in parts(self.function, ast.Assign)
            )
        )

    def gone_over(self, name: str) -> list[ast.expr]:
        """What loops go over that bind the name to each item."""
        return [
            one.iter
            for one in walk(self.function)
            if isinstance(one, ast.For | ast.comprehension) and is_name(one.target, name)
        ]

    def is_of_list(self, node: ast.expr) -> bool:
        """Whether a loop over what an object holds binds the name: `for one in self.parts`."""
        name = dotted(node)
        for one in parts(self.function, ast.For):
            if any(isinstance(p, ast.Name) and p.id == name for p in walk(one.target)):
                over = one.iter
                held = over.args if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) else [over]
                flat = [
                    part for each in held for part in (each.args if isinstance(each, ast.Call) else [each])
                ]
                return any(isinstance(part, ast.Attribute) and self.is_given(part) for part in flat)
        return False

    def compares(self, node: ast.Compare) -> Found:
        """`type(model) != FullyShardedDataParallel`"""
        asked = node.left
        if (
            isinstance(asked, ast.Call)
            and is_name(asked.func, "type")
            and len(asked.args) == 1
            and self.is_given(asked.args[0])
        ):
            kind = self.value(node.comparators[0])
            own = isinstance(kind, Class) and self.at.classes.is_module(kind.info)
            if own or self.spreads(kind):
                same = isinstance(node.ops[0], ast.Eq | ast.Is)
                outcome = "never" if same else "always"
                yield "type of given", node, {"name": dotted(asked.args[0]) or "", "outcome": outcome}

    def asked(self, test: ast.expr) -> tuple[ast.expr | None, list[Value]]:
        """What of the given is asked of which types."""
        if (
            not isinstance(test, ast.Call)
            or not isinstance(test.func, ast.Name)
            or test.func.id != "isinstance"
            or len(test.args) != 2
            or not (self.is_given(test.args[0]) or self.is_taken(test.args[0]))
        ):
            return None, []
        kinds = [test.args[1]]
        if isinstance(kinds[0], ast.Name):  # `wrappers = (A, B)`
            kinds = [
                one.value
                for one in walk(self.function)
                if isinstance(one, ast.Assign | ast.AugAssign)
                and is_name(one.targets[0] if isinstance(one, ast.Assign) else one.target, kinds[0].id)
            ] or kinds
        values: list[Value] = []
        for kind in kinds:
            value = self.value(kind)
            values += (value.elts or []) if isinstance(value, Seq) else [value]
        return test.args[0], values

    def spreads(self, kind: Value) -> bool:
        return isinstance(kind, Ext) and self.at.models.plays(kind.name, "spreads a module")

    def value(self, node: ast.expr) -> Value:
        return self.at.expressions.quietly(node, dict(self.env), self.frame)


def _is_state(value: ast.expr) -> bool:
    """`optimizer.state_dict()`"""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "state_dict"
    )


def _held(value: ast.expr) -> ast.expr:
    """`net` of `getattr(net, name)`, `nets` of `nets[0]`."""
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        return value.value
    asks = isinstance(value, ast.Call) and is_name(value.func, "getattr")
    return value.args[0] if asks and isinstance(value, ast.Call) and value.args else value


def _is_part_of(node: ast.expr, name: str) -> bool:
    """`name.split(".")[1]`, counted from the front."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, int)
        and node.slice.value >= 0
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "split"
        and is_name(node.value.func.value, name)
        and [getattr(a, "value", None) for a in node.value.args] == ["."]
    )


def _is_text(node: ast.expr) -> bool:
    return says_text(node) and bool(node.value)


def _makes(method: FunctionNode) -> frozenset[str | None]:
    """The places, by their dotted names, that the method assigns what a call returns to."""
    known: frozenset[str | None] | None = method.__dict__.get("pt2lint_makes")
    if known is None:
        known = method.__dict__["pt2lint_makes"] = frozenset(
            dotted(target)
            for one in parts(method, ast.Assign)
            if isinstance(one.value, ast.Call)
            for target in one.targets
        )
    _ = method.body  # which notes that it is read
    return known


def _used_as_modules(within: ast.AST) -> frozenset[str | None]:
    """The places in a function or a class of which something is taken that modules alone have, or that are called."""
    nodes = walk(within)  # which notes that it is read
    known: frozenset[str | None] | None = within.__dict__.get("pt2lint_used_as_modules")
    if known is None:
        taken = (n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in OF_MODULES)
        # What a callback returns is thrown away, what a module returns is not.
        lone = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        called = (n.func for n in nodes if isinstance(n, ast.Call) and id(n) not in lone)
        known = within.__dict__["pt2lint_used_as_modules"] = frozenset(map(dotted, (*taken, *called)))
    return known
