"""State that changes inside of compiled code: counters, sizes that are kept, lists that grow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.said import told_line, told_place
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.observers.by_global import head_of, is_by_global, is_whole
from pt2lint.static.observers.growing import (
    emptied_each_turn,
    goes_over,
    is_bounded,
    is_long,
    joined_to_itself,
    stays_long,
)
from pt2lint.static.observers.sizes import from_shape
from pt2lint.static.observers.uses import Decisive
from pt2lint.static.source import hooked
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, is_name, is_own, last_word, parts, says_none, walk
from pt2lint.static.values import (
    UNKNOWN,
    Class,
    Dict,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


class ChangingState:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.decisive = Decisive(at)

    def changed(self, target: ast.expr, current: Value, made: Value, env: Env, frame: Frame) -> None:
        """A number is read and written back: `self.step += 1`, `global n; n += 1`; or a list: `self.seen += [x]`. A
        number to which a tensor is added is one no more."""
        if frame.region and isinstance(current, Seq) and current.type == "list":
            self.grown(target, target, env, frame)
        kinds = options(current)
        if frame.region and current is UNKNOWN and isinstance(target, ast.Attribute):
            self.counted(target, env, frame)
        if not frame.region or not any(map(is_whole, kinds)):
            return
        if any(isinstance(one, Tensor) for one in (*kinds, *options(made))):
            return
        if any(isinstance(one, Py) and one.type == "float" for one in (*kinds, *options(made))):
            return  # it is whole at the first call alone: the value of a float is not guarded on
        if isinstance(target, ast.Attribute) and self.at.notebook.listens("change attribute", frame):
            owner = self.at.expressions.quietly(target.value, env, frame)
            if isinstance(owner, Class) and not _comes_back(owner.info, target.attr):
                if self.at.notebook.listens("change global", frame):
                    self.at.notebook.note(target, "change global", frame, details={"of": owner.info.name})
                return
            if not isinstance(owner, Instance) or owner.cls is None or _comes_back(owner.cls, target.attr):
                return
            if self.at.functions.is_making(owner, frame) or self.starts_anew(target, owner, frame):
                return
            if self.at.classes.is_module(owner.cls):
                self.at.notebook.note(
                    target, "change attribute", frame, details=self.made_once(owner.cls, target.attr, frame)
                )
            elif self.held_by_module(target.value, env, frame) or self.in_module(target.value, env, frame):
                self.at.notebook.note(target, "change attribute", frame)
            elif self.hooks_itself(owner.cls):
                self.at.notebook.note(target, "change attribute", frame, details={"hook": "yes"})
            elif is_by_global(self.at, target.value, env, frame):
                if self.at.notebook.listens("change global", frame):
                    self.at.notebook.note(target, "change global", frame, details={"in": "object"})
            elif self.outlives(target.value, env, frame) and self.at.notebook.listens("count once", frame):
                self.at.notebook.note(
                    target, "count once", frame, details=self.decided_by(owner, target.attr)
                )
        elif (
            isinstance(target, ast.Name)
            and target.id in frame.globals
            and self.at.notebook.listens("change global", frame)
        ):
            self.at.notebook.note(target, "change global", frame)

    def counted(self, target: ast.Attribute, env: Env, frame: Frame) -> None:
        """`self.step += 1`, where whoever made the object gave it the step, and what takes numbers alone makes of it
        what is compiled: `np.power(self.step, -0.5)`, `range(self.step)`."""
        owner = self.at.expressions.quietly(target.value, env, frame)
        if not isinstance(owner, Instance) or owner.cls is None or self.at.classes.is_module(owner.cls):
            return
        if _comes_back(owner.cls, target.attr) or not self.outlives(target.value, env, frame):
            return
        if _adds_one(target, self.at.functions.running()) and self.at.notebook.listens("count once", frame):
            if decides := self.decided_by(owner, target.attr):
                self.at.notebook.note(target, "count once", frame, details=decides)

    def decided_by(self, owner: Instance, attribute: str) -> dict[str, str]:
        """{"use": ..., "at": "PATH:LINE"} where the number decides what is compiled (uses.py), else {}."""
        found = self.decisive.of_attribute(owner, attribute)
        if found is None or found[0].how in ("array", "iterated", "row", "read"):
            return {}
        return {"use": found[0].how, "at": told_place(found[0].path, found[0].line)}

    def settled(self, test: ast.expr, env: Env, frame: Frame) -> None:
        """`if len(state) == 0: state["step"] = 0`, where `state = self.state[p]`."""
        if not frame.region or not frame.module.linted:
            return
        if not self.at.notebook.listens("first call", frame):
            return
        names = [part for part in walk(test) if isinstance(part, ast.Name) and part.id in env]
        if any(self.is_kept(name.id, env, frame) for name in names):
            self.at.notebook.note(test, "first call", frame)

    def is_kept(self, name: str, env: Env, frame: Frame) -> bool:
        """Whether a local name stands for an item of what the object whose method runs keeps."""
        function = self.at.functions.running()
        given = [
            part.value
            for part in (walk(function) if isinstance(function, ast.FunctionDef) else ())
            if isinstance(part, ast.Assign) and any(is_name(t, name) for t in part.targets)
        ]
        if len(given) != 1 or not isinstance(given[0], ast.Subscript):
            return False
        return frame.me is not None and env.get(head_of(given[0]) or "") is frame.me

    def starts_anew(self, place: ast.Attribute, owner: Instance, frame: Frame) -> bool:
        """Whether each call sets the number before it counts, in a method on the way there or in one that that calls:
        `self.loss = 0`, or `self.reset()`, then `self.loss += part`."""
        running, here = self.at.functions.running(), frame
        if isinstance(running, FunctionNode) and _made_first(place, place, running):
            return True
        classes = self.at.classes.bases(owner.cls)[0] if owner.cls is not None else ()
        sets = [m for cls in classes for m, _ in cls.assigned(place.attr) if _made_first(place, None, m)]
        while sets and here.region and not here.entry and here.parent is not None:
            for cls in classes if here.me is owner else ():
                for method in cls.methods.values() if cls.module is here.module else ():
                    if method.lineno <= here.line <= (method.end_lineno or 0):
                        before = (one for one in method.body if (one.end_lineno or 0) < here.line)
                        if any(_sets(one, place, sets) for one in before):
                            return True
            here = here.parent
        return False

    def held_by_module(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether the object at that place is held by a module: `self.schedule` in a `forward`."""
        while isinstance(place, ast.Attribute):
            place = place.value
            owner = self.at.expressions.quietly(place, env, frame)
            if isinstance(owner, Instance) and owner.cls is not None and self.at.classes.is_module(owner.cls):
                return True
        return False

    def hooks_itself(self, cls: ClassInfo) -> bool:
        """Whether the object adds methods of its own as hooks to a module, which then holds it, or is one that its file
        adds."""
        words = self.at.models.last_words("forward hook")
        module = cls.module
        if "__call__" in cls.methods and any(module.says(f"{word}(") for word in words):
            if cls.name in hooked.classes_added(module.tree, words):
                return True
        return any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr in words
            and call.args
            and isinstance(call.args[0], ast.Attribute)
            and is_name(call.args[0].value, "self")
            for method in cls.methods.values()
            for call in parts(method, ast.Call)
        )

    def kept(self, target: ast.Attribute | ast.Subscript, frame: Frame) -> None:
        """A module keeps a size that compares with the next call's, or something in a dictionary under a size."""
        me = frame.me
        if not frame.region or not frame.module.linted or not isinstance(me, Instance):
            return
        if not self.at.notebook.listens("keep by size", frame):
            return
        node = self.at.functions.running()
        place = target.value if isinstance(target, ast.Subscript) else target
        if (
            not isinstance(place, ast.Attribute)
            or not is_name(place.value, "self")
            or not isinstance(node, ast.FunctionDef)
        ):
            return
        if me.cls is None or not self.at.classes.is_module(me.cls):
            return
        methods = [
            m
            for c in self.at.classes.bases(me.cls)[0]
            for m in c.methods.values()
            if m in self.at.functions.reached or m is node
        ]
        statement = next(
            (
                p
                for p in walk(node)
                if isinstance(p, ast.Assign) and target in p.targets and len(p.targets) == 1
            ),
            None,
        )
        if statement is None:
            return
        if isinstance(target, ast.Subscript):
            makers = {m.name for c in self.at.classes.bases(me.cls)[0] for m, _ in c.assigned(place.attr)}
            if makers == {"__init__"} and from_shape(target.slice, node, methods):
                self.at.notebook.note(target, "keep by size", frame, details={"how": "item"})
        elif from_shape(statement.value, node, methods) and _decides(place, statement, node):
            self.at.notebook.note(target, "keep by size", frame, details={"how": "number"})

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`self.n = size`, `self.kept[size] = ...`"""
        if isinstance(target, ast.Subscript):
            if isinstance(owner, Dict):
                self.kept(target, frame)
        elif isinstance(target, ast.Attribute) and owner is frame.me:
            if isinstance(value, Py) and value.type == "int":
                self.kept(target, frame)
            elif frame.region and frame.module.linted and self.at.notebook.listens("grow buffer", frame):
                self.joined(target, owner, frame)

    def joined(self, target: ast.Attribute, owner: Value, frame: Frame) -> None:
        """`self.keys = torch.cat([self.keys, k], dim=1)`, where `keys` is a buffer, whose size Dynamo never keeps a
        symbol for."""
        function = self.at.functions.running()
        if not isinstance(owner, Instance) or owner.cls is None or function is None:
            return
        order = self.at.classes.bases(owner.cls)[0]
        if not any(_registers(method, target.attr) for cls in order for method in cls.methods.values()):
            return
        trees = {id(m): m.tree for m in [frame.module, *(c.module for c in order)]}
        if not isinstance(function, FunctionNode) or not joined_to_itself(target, function):
            return
        if not emptied_each_turn(trees.values(), target.attr, function):
            self.at.notebook.note(target, "grow buffer", frame)

    def made_once(self, cls: ClassInfo, name: str, frame: Frame) -> dict[str, str]:
        """Where `__init__` makes an attribute that nothing else in the file knows of but the function that runs:
        {"made": "LINE COLUMN END_LINE END_COLUMN NUMBER"}, places as in an edit; {} where that is not so."""
        stores = [
            (m, v) for c in self.at.classes.bases(cls)[0] for m, v in c.assigned(name) if m.name == "__init__"
        ]
        if len(stores) != 1:
            return {}
        init, value = stores[0]
        if not isinstance(value, ast.Constant) or type(value.value) is not int:
            return {}
        first, last = frame.unit
        statement = None
        for part in walk(frame.module.tree):
            if isinstance(part, ast.Assign) and part.value is value:
                statement = part
            elif isinstance(part, ast.Attribute) and part.attr == name:
                inside = first <= part.lineno <= last
                if not is_name(part.value, "self") or not (
                    inside or init.lineno <= part.lineno <= (init.end_lineno or 0)
                ):
                    return {}
        above = [p for p in init.body if isinstance(p, ast.Expr) and ".__init__" in ast.unparse(p)]
        if (
            statement is None
            or len(statement.targets) != 1
            or not above
            or above[0].lineno >= statement.lineno
        ):
            return {}
        column = frame.module.column
        place = (
            told_line(statement.lineno),
            column(statement.lineno, statement.col_offset),
            told_line(statement.end_lineno or 0),
            column(statement.end_lineno or 0, statement.end_col_offset or 0),
        )
        return {"made": " ".join(map(str, (*place, value.value)))}

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """`self.seen.append(x)`, `SEEN.append(x)`, `next(STEPS)`"""
        callee = node.func
        if is_name(callee, "next") and len(node.args) == 1:
            self.counted_on(node, node.args[0], env, frame)
        if isinstance(callee, ast.Attribute) and callee.attr in self.at.models.last_words("grows"):
            if (item := self.list_put(callee.value)) is not None:
                self.grown(node, item, env, frame, put=True)
            else:
                self.grown(node, self.stands_for(callee.value, env, frame), env, frame)

    def list_put(self, place: ast.expr) -> ast.Subscript | None:
        """`self.seen[key]` of `self.seen.setdefault(key, [])`"""
        puts = self.at.models.last_words("puts where there is none")
        if not isinstance(place, ast.Call) or last_word(place.func) not in puts or len(place.args) != 2:
            return None
        if not isinstance(place.func, ast.Attribute) or not isinstance(place.args[1], ast.List):
            return None
        return ast.copy_location(ast.Subscript(place.func.value, place.args[0], ast.Load()), place)

    def counted_on(self, node: ast.Call, place: ast.expr, env: Env, frame: Frame) -> None:
        """`next(STEPS)` of `STEPS = itertools.count()`, a global or of an object that outlives the call."""
        made: list[ast.expr | None] = []
        if isinstance(place, ast.Name) and place.id not in env and place.id not in (frame.closure or ()):
            made = [*frame.module.assigned.get(place.id, ())]
        elif isinstance(place, ast.Attribute):
            owner = self.at.expressions.quietly(place.value, env, frame)
            if isinstance(owner, Instance) and owner.cls is not None:
                stored = [s for c in self.at.classes.bases(owner.cls)[0] for s in c.assigned(place.attr)]
                made = [value if method.name == "__init__" else None for method, value in stored]
        call = made[0] if len(made) == 1 else None
        if not frame.region or not isinstance(call, ast.Call):
            return
        callee = self.at.expressions.quietly(call.func, {}, frame)
        if self.at.models.plays(self.at.names.external_name(callee), "counts without end"):
            if self.at.notebook.listens("change global", frame):
                self.at.notebook.note(node, "change global", frame)

    def stands_for(self, place: ast.expr, env: Env, frame: Frame) -> ast.expr:
        """The attribute that a local name is given once: `seen = self.seen`, `seen = getattr(self, SEEN)`."""
        function = self.at.functions.running()
        if not isinstance(place, ast.Name) or place.id not in env or function is None:
            return place
        bound = [part for part in parts(function, ast.Name) if part.id == place.id]
        if sum(isinstance(name.ctx, ast.Store) for name in bound) != 1:
            return place
        given = next(
            (p.value for p in parts(function, ast.Assign) if any(t in bound for t in p.targets)), place
        )
        if isinstance(given, ast.Call) and len(given.args) == 2 and dotted(given.func) == "getattr":
            name = self.at.expressions.quietly(given.args[1], env, frame)
            if isinstance(name, Py) and isinstance(name.const, str):
                return ast.Attribute(given.args[0], name.const, ast.Load())
        return given if isinstance(given, ast.Attribute) else place

    def grown(self, node: ast.expr, place: ast.expr, env: Env, frame: Frame, put: bool = False) -> None:
        """Compiled code makes a list longer that nothing in sight makes shorter; `put`: one that it puts into a
        dictionary itself. Measured: in a `backward` written by hand, and in what a tensor's hook or a checkpoint runs,
        that compiles nothing anew."""
        if frame.within is not None or frame.in_backward():
            return
        shrinks, target = self.at.models.last_words("shrinks"), place
        key = place.slice if isinstance(place, ast.Subscript) else None
        place = place.value if isinstance(place, ast.Subscript) else place
        if isinstance(place, ast.Name):
            module = frame.module
            made = module.assigned.get(place.id, ())
            if place.id in env or (frame.closure is not None and place.id in frame.closure) or len(made) != 1:
                return
            if is_bounded(made[0]):
                self.gone_over(node, place, frame)
            if not self.at.notebook.listens("grow global", frame):
                return
            if _is_list(made[0], module.tree, key, put) and stays_long(
                [module.tree], place, self.running(), shrinks
            ):
                self.at.notebook.note(node, "grow global", frame)
        elif isinstance(place, ast.Attribute):
            owner = self.at.expressions.quietly(place.value, env, frame)
            cls = (
                owner.info if isinstance(owner, Class) else owner.cls if isinstance(owner, Instance) else None
            )
            if cls is None:
                return
            order = self.at.classes.bases(cls)[0]
            made_in = [stored for c in order for stored in c.assigned(place.attr)]
            if node is target:  # which stores it, too: `self.seen += [x]`
                here = [stored for stored in made_in if stored[0] is self.at.functions.running()]
                made_in = [stored for stored in made_in if len(here) > 1 or stored not in here]
            known = [value for _, value in made_in if value is not None]
            if not made_in:  # of the class: `seen = []` above its methods
                known = [c.attributes[place.attr] for c in order if place.attr in c.attributes][:1]
            else:
                outlives = self.at.classes.is_module(cls) or self.outlives(place.value, env, frame)
                if isinstance(owner, Class) or {m.name for m, _ in made_in} != {"__init__"} or not outlives:
                    return
            if len(known) != max(len(made_in), 1):
                return
            if all(map(is_bounded, known)):
                self.gone_over(node, place, frame)
            if not self.at.notebook.listens("grow attribute", frame):
                return
            if not all(_is_list(value, cls.module.tree, key, put) for value in known):
                return
            trees = {id(m): m.tree for m in [frame.module, *(c.module for c in order)]}
            if stays_long(trees.values(), place, self.running(), shrinks):
                of = {"of": cls.name} if isinstance(owner, Class) else {}
                self.at.notebook.note(node, "grow attribute", frame, details=of)

    def gone_over(self, node: ast.expr, place: ast.expr, frame: Frame) -> None:
        """`self.last.append(x)`, and then `torch.stack(list(self.last))`, of a deque that keeps the last few alone."""
        function = self.at.functions.running()
        if function is None or not self.at.notebook.listens("go over full deque", frame):
            return
        words = self.at.models.last_words("goes over items") | self.at.models.last_words("passes items")
        over = next((part for part in goes_over(function, place, words) if part.lineno > node.lineno), None)
        if over is not None:
            self.at.notebook.note(over, "go over full deque", frame, details={"line": str(node.lineno)})

    def running(self) -> set[str]:
        """The names of the functions that run, the one that is compiled among them."""
        return {
            n.name
            for n in self.at.functions.stack()
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        }

    def outlives(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether an object of the project was there before the compiled code ran: what a global name leads to, or
        the object whose method is compiled, or one that it holds."""
        head = head_of(place)
        if head is None:
            return False
        if head not in env:
            return head in frame.module.assigned and head not in (frame.closure or {})
        if frame.me is None or env[head] is not frame.me:
            return False
        root = frame.first
        return frame.me is root.me or self.holds(root.me, frame.me)

    def holds(self, holder: Value | None, value: Value) -> bool:
        """Whether an object has another as an attribute, or in a list or a dictionary that is one."""
        return (
            isinstance(holder, Instance)
            and holder.cls is not None
            and any(
                value is o
                for held in self.at.objects.state(holder).values()
                for part in options(held)
                for o in (part, *_in_it(part))
            )
        )

    def in_module(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is the object whose method runs, and a module that the method is called by holds that."""
        me, caller = frame.me, frame.parent
        if me is None or not isinstance(place, ast.Name) or env.get(place.id) is not me:
            return False
        while caller is not None and caller.region:
            holder = caller.me
            if isinstance(holder, Instance) and self.at.classes.is_module(holder.cls):
                if self.holds(holder, me):
                    return True
            caller = caller.parent
        return False


def _in_it(held: Value) -> list[Value]:
    """What a list or a dictionary holds."""
    if isinstance(held, Seq):
        return [o for one in (held.elts or [held.elem]) for o in options(one)]
    return (
        [o for one in (*held.items.values(), held.elem) for o in options(one)]
        if isinstance(held, Dict)
        else []
    )


def _comes_back(cls: ClassInfo, attribute: str) -> bool:
    """Whether the class adds 1 to the number and takes it off again, as one counts how deep contexts are nested."""
    changes = {
        type(part.op)
        for method in cls.methods.values()
        for part in parts(method, ast.AugAssign)
        if isinstance(part.target, ast.Attribute)
        and part.target.attr == attribute
        and isinstance(part.value, ast.Constant)
        and part.value.value == 1
    }
    return {ast.Add, ast.Sub} <= changes


def _adds_one(place: ast.Attribute, function: ast.AST | None) -> bool:
    return isinstance(function, FunctionNode) and any(
        part.target is place and isinstance(part.value, ast.Constant) and part.value.value == 1
        for part in parts(function, ast.AugAssign)
    )


def _decides(place: ast.Attribute, statement: ast.Assign, node: FunctionNode) -> bool:
    """Whether an `if` above the statement that compares what the last call left leads to it, or returns before it;
    not one that asks whether there is anything yet (`self.n is None`, `self.n == 0`)."""
    return any(
        _is_attribute(side, place) and not any(isinstance(other, ast.Constant) for other in sides)
        for part in walk(node)
        if isinstance(part, ast.If)
        and part.lineno < statement.lineno
        and (isinstance(part.body[-1], ast.Return) or any(statement in walk(b) for b in part.body))
        for test in walk(part.test)
        if isinstance(test, ast.Compare)
        for sides in [(test.left, *test.comparators)]
        for side in sides
    ) and not _made_first(place, statement, node)


def _made_first(place: ast.Attribute, statement: ast.stmt | ast.expr | None, node: FunctionNode) -> bool:
    """Whether the function writes the attribute, whatever comes, before it looks at it in the statement, if any."""
    return any(
        isinstance(first, ast.Assign) and any(_is_attribute(target, place) for target in first.targets)
        for first in node.body
        if statement is None or (first.end_lineno or 0) < statement.lineno
    )


def _sets(statement: ast.stmt, place: ast.Attribute, methods: list[FunctionNode]) -> bool:
    """Whether it writes the attribute, or calls one of these methods of the object, which do so."""
    if isinstance(statement, ast.Assign):
        return any(_is_attribute(target, place) for target in statement.targets)
    callee = (
        statement.value.func
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        else None
    )
    return is_own(callee) and any(callee.attr == method.name for method in methods)


def _registers(method: FunctionNode, name: str) -> bool:
    """`self.register_buffer("keys", None)`"""
    return any(
        isinstance(part.func, ast.Attribute)
        and part.func.attr == "register_buffer"
        and bool(part.args)
        and isinstance(part.args[0], ast.Constant)
        and part.args[0].value == name
        for part in parts(method, ast.Call)
    )


def _is_attribute(node: ast.expr, place: ast.Attribute) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == place.attr and is_name(node.value, "self")


def _is_list(value: ast.expr, tree: ast.Module, key: ast.expr | None = None, put: bool = False) -> bool:
    """Whether a list or a deque is made there, which nothing but memory bounds, or a length that Dynamo's limit comes
    before; or a dictionary that holds one under the key, or any into which one is put."""
    if put:
        made = isinstance(value, ast.Call) and last_word(value.func)
        return isinstance(value, ast.Dict) or made in ("dict", "defaultdict", "OrderedDict")
    if key is not None:
        if isinstance(value, ast.Dict) and isinstance(key, ast.Constant):
            held = {
                k.value: v
                for k, v in zip(value.keys, value.values, strict=True)
                if isinstance(k, ast.Constant)
            }
            return key.value in held and _is_list(held[key.value], tree)
        return (
            isinstance(value, ast.Call)
            and (dotted(value.func) or "").endswith("defaultdict")
            and [dotted(argument) for argument in value.args] == ["list"]
        )
    if isinstance(value, ast.Call):
        bounds = [*value.args[1:2], *(given.value for given in value.keywords if given.arg == "maxlen")]
        return last_word(value.func) in ("list", "deque") and all(
            says_none(bound) or is_long(bound, tree) for bound in bounds
        )
    return isinstance(value, ast.List)
