"""What compiled code leaves in objects that outlive the call, so that the next call meets something else: caches that
it fills, tensors that it converts, numbers in dictionaries; and numbers that code outside changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pt2lint.said import told_line
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.observers.by_global import is_by_global, is_global_object, is_whole
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.nodes import (
    FunctionNode,
    assigned_once,
    is_name,
    last_word,
    own_name,
    parameters_in,
    parts,
    says_none,
    walk,
)
from pt2lint.static.values import (
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Seq,
    Tensor,
    Value,
    Wrapped,
    element,
    is_none,
    options,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

GUARDED = frozenset("shape size numel nelement dim ndim device dtype requires_grad".split())  # of a tensor
NUMBERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class KeptState:
    def __init__(self, at: Context) -> None:
        self.at = at
        self._looked: set[FunctionNode] = set()
        self._statements: dict[ast.expr, tuple[ast.Assign, ast.expr] | None] = {}
        self._asked_first: dict[ast.expr, bool] = {}
        self._asked_for_none: dict[ast.expr, bool] = {}

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        """`self.kept = ...`, `KEPT[key] = ...`, `global kept; kept = ...` in compiled code."""
        if not frame.region or not frame.module.linted or isinstance(value, (Func, Wrapped)):
            return
        if isinstance(target, ast.Subscript) and isinstance(owner, Tensor):
            return  # what is written into a tensor is not guarded on
        node = self.at.functions.running()
        if node is None or self.at.functions.is_making(owner, frame):
            return
        place = target.value if isinstance(target, ast.Subscript) else target
        if target not in self._statements:  # the same in every run of the function
            self._statements[target] = _statement(target, node)
        found = self._statements[target]
        if found is None:
            return
        statement, made = found
        if isinstance(target, ast.Subscript) and self.at.notebook.listens("change item", frame):
            if self.is_stepped(target, statement, node):
                self.stepped(target, owner, env, frame)
            elif _is_put_back(made, target, node):
                self.stepped(target, owner, env, frame, named=True)
        if not self.outlives(place, owner if place is target else None, env, frame):
            return
        if self.at.notebook.listens("convert attribute", frame) and self.converts(target, made, value):
            if not isinstance(owner, Instance) or self.is_plain(owner, target):
                self.at.notebook.note(target, "convert attribute", frame)
        elif self.at.notebook.listens("fill cache", frame) and self.is_asked_first(
            target, place, statement, node
        ):
            if self.is_updated(target, owner, value, node):
                return
            module = isinstance(owner, Instance) and self.at.classes.is_module(owner.cls)
            args: dict[int | str, str] = {0: self.at.types.sort(value)}
            words = {"module": "yes" if module else ""}
            self.at.notebook.note(target, "fill cache", frame, args=args, details=words)
        elif self.at.notebook.listens("fill cache", frame) and self.starts_as_none(
            target, owner, value, node
        ):
            self.at.notebook.note(target, "fill cache", frame, details={"state": "yes"})

    def is_updated(self, target: ast.expr, owner: Value, value: Value, node: FunctionNode) -> bool:
        """`if torch.isinf(self.low): self.low = low`, where it is a tensor from the start, and the function asks for
        its values alone, on which nothing guards."""
        if not isinstance(target, ast.Attribute) or not isinstance(owner, Instance) or owner.cls is None:
            return False
        before = options(self.at.objects.state(owner).get(target.attr, UNKNOWN))
        if not all(isinstance(one, Tensor) for one in (*before, *options(value))):
            return False
        if any(value is None or says_none(value) for value in self.set_by_init(owner.cls, target.attr)):
            return False
        tests = [p.test for p in parts(node, ast.If) if _mentions(p.test, ast.unparse(target), set())]
        return bool(tests) and not any(_asks_what_is_guarded(test) for test in tests)

    def starts_as_none(self, target: ast.expr, owner: Value, value: Value, node: FunctionNode) -> bool:
        """`self.state = y`, where `__init__` makes it None and the function asks for that: what a call leaves to the
        next one."""
        if not isinstance(target, ast.Attribute) or not isinstance(owner, Instance) or owner.cls is None:
            return False
        parts = options(element(value) if isinstance(value, Seq) else value)
        if not any(isinstance(one, Tensor) for one in parts) or any(is_none(one) for one in parts):
            return False
        made = self.set_by_init(owner.cls, target.attr)
        if len(made) != 1 or not says_none(made[0]):
            return False
        if target not in self._asked_for_none:
            self._asked_for_none[target] = _is_asked_for_none(target, node)
        return self._asked_for_none[target]

    def calling(self, node: ast.Call, func: Value, env: Env, frame: Frame) -> None:
        """`KEPT.setdefault(key, value)` in compiled code."""
        callee = node.func
        if (
            not isinstance(callee, ast.Attribute)
            or not isinstance(func, Ext)
            or not isinstance(func.receiver, Dict)
        ):
            return
        if len(node.args) != 2 or isinstance(node.args[0], ast.Constant):
            return  # under one key: filled once
        if isinstance(node.args[1], ast.List) and not node.args[1].elts:
            return  # which is there to be added to
        if self.at.models.plays(func.name, "puts where there is none"):
            if self.at.notebook.listens("fill cache", frame) and self.outlives(
                callee.value, None, env, frame
            ):
                self.at.notebook.note(callee.value, "fill cache", frame)

    def is_asked_first(
        self, target: ast.expr, place: ast.expr, statement: ast.Assign, node: FunctionNode
    ) -> bool:
        known = self._asked_first.get(target)
        if known is None:
            known = self._asked_first[target] = _is_asked_first(target, place, statement, node)
        return known

    def changed(self, target: ast.expr, current: Value, made: Value, env: Env, frame: Frame) -> None:
        """`state["step"] += 1`"""
        if (
            frame.region
            and isinstance(target, ast.Subscript)
            and self.at.notebook.listens("change item", frame)
        ):
            if not any(isinstance(o, Tensor) for o in options(current)):
                owner = self.at.expressions.again(target.value, env, frame)
                self.stepped(target, owner, env, frame)

    # Numbers in dictionaries

    def is_stepped(self, target: ast.Subscript, statement: ast.Assign, node: FunctionNode) -> bool:
        """Whether a number is added to what the item was: `k = group["k"]`, and then `group["k"] = k + 1`."""
        if not isinstance(statement.value, ast.BinOp):
            return False
        left = statement.value.left
        if not isinstance(statement.value.right, ast.Constant):
            return False
        if _is_what_was_there(left, target):
            return True
        made = _made(left, node)
        return made is not left and _is_what_was_there(made, target)

    def stepped(
        self, target: ast.Subscript, owner: Value, env: Env, frame: Frame, named: bool = False
    ) -> None:
        """A whole number under a text in a dictionary that outlives the call, or in a place of a list. `named`: what
        the function does with it, it does under a name."""
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        if not isinstance(key, (str, int)):
            return
        kept = isinstance(owner, Instance) and self.at.models.plays(owner.external, "state of an optimizer")
        by_global = not kept and is_by_global(self.at, target.value, env, frame)
        given = isinstance(target.value, ast.Name) and target.value.id in frame.parameters and frame.is_first
        if not kept and not by_global and not (given and (owner is UNKNOWN or isinstance(owner, Dict))):
            if not isinstance(owner, (Dict, Seq)) or not self.outlives(target.value, None, env, frame):
                return
        starts = list(_starts(frame.module.tree, key)) if isinstance(key, str) else []
        whole = bool(starts) and all(isinstance(s, ast.Constant) and type(s.value) is int for s in starts)
        if not whole and (starts or not all(map(is_whole, options(_at(owner, key))))):
            return
        if by_global or (kept and is_global_object(self.at, frame.me, frame)):
            words = {"in": "object" if kept else "list" if isinstance(owner, Seq) else "dictionary"}
            self.at.notebook.note(target, "change global", frame, details=words)
            return
        words = {}
        if len(starts) == 1 and not named:
            column, made = frame.module.column, starts[0]
            place = (
                told_line(made.lineno),
                column(made.lineno, made.col_offset),
                column(made.lineno, made.end_col_offset or 0),
            )
            words = {"made": " ".join(map(str, place))}
        self.at.notebook.note(target, "change item", frame, details=words)

    # Tensors and caches

    def converts(self, target: ast.expr, value: ast.expr, result: Value) -> bool:
        """`self.x = self.x.to(...)`, `self.xs = [x.to(...) for x in self.xs]`, and the same of a dictionary."""
        place, made = _each(value)
        callee = made.func if isinstance(made, ast.Call) else None
        if isinstance(result, (Seq, Dict)):
            result = result.elem
        return (
            isinstance(callee, ast.Attribute)
            and callee.attr in self.at.models.last_words("converts")
            and (place is None or ast.unparse(callee.value) == place[0])
            and ast.unparse(callee.value if place is None else place[1]) == ast.unparse(target)
            and (result is UNKNOWN or isinstance(result, Tensor))
        )

    def is_plain(self, owner: Instance, target: ast.expr) -> bool:
        """Whether `__init__` assigns the attribute: a buffer goes where its module goes."""
        name = target.attr if isinstance(target, ast.Attribute) else ""
        if owner.cls is None:
            return False
        if name in self.at.objects.annotated(owner.cls) and not self.at.classes.is_module(owner.cls):
            return True  # a field of a dataclass
        return bool(self.set_by_init(owner.cls, name))

    def set_by_init(self, cls: ClassInfo, name: str) -> list[ast.expr | None]:
        """What the constructors of the class and its bases assign to the attribute."""
        return [
            value
            for c in self.at.classes.bases(cls)[0]
            for method, value in c.assigned(name)
            if method.name == "__init__"
        ]

    def outlives(self, place: ast.expr, owner: Value | None, env: Env, frame: Frame) -> bool:
        """Whether what lies at the place was there before the compiled code ran, and is there after it."""
        # What a function closes over that compiling starts with was there before.
        first = frame.is_first
        closed = frame.closure or {}
        if isinstance(place, ast.Name):
            return place.id in frame.globals or (
                (first and place.id in closed)
                if place.id in env or place.id in closed
                else place.id in frame.module.assigned
            )
        if not isinstance(place, ast.Attribute):
            return False
        if first and isinstance(place.value, ast.Name) and place.value.id in closed:
            return True
        if owner is None:
            owner = self.at.expressions.again(place.value, env, frame)
            if isinstance(owner, Class):
                return True  # a table of the class
            if isinstance(owner, Ext) and (named := dotted(place)):  # or one at the top of another file
                return self.at.names.assignments(named, frame.module) is not None
        if not isinstance(owner, Instance) or owner.cls is None:
            return False
        if self.at.classes.is_module(owner.cls):
            return True
        root: Frame | None = frame
        while root is not None:
            me = root.me
            if me is owner and root.is_first:
                return True
            if isinstance(me, Instance) and me.cls is not None and me is not owner:
                if any(owner is o for held in self.at.objects.state(me).values() for o in options(held)):
                    return True
            root = root.parent
        return self.is_global(owner, owner.cls.module)

    def is_global(self, owner: Instance, module: Module) -> bool:
        """Whether a file makes the object at its top, next to its class: `SIGNS = Cache([1, -1])`."""
        assert owner.cls is not None
        name = owner.cls.name
        return any(
            any(isinstance(v, ast.Call) and is_name(v.func, name) for v in values)
            and owner in options(self.at.names.global_name(module, at_top))
            for at_top, values in module.assigned.items()
        )

    # Numbers from outside

    def entered(self, func: Func, node: ast.AST, frame: Frame, callee: Frame) -> None:
        """A method of a module is traced that compares a number, which another method sets to what it is given."""
        definition = func.node
        me = func.bound
        if not callee.region or isinstance(definition, ast.Lambda) or not isinstance(me, Instance):
            return
        if not self.at.notebook.listens("compare setting", callee) or definition in self._looked:
            return
        self._looked.add(definition)
        if me.cls is None or not self.at.classes.is_module(me.cls):
            return
        for part in parts(definition, ast.Compare):
            if len(part.ops) == 1 and isinstance(part.ops[0], NUMBERS):
                name = _own(_made(part.left, definition), definition)
                if name and _is_number(part.comparators[0]):
                    by = self.set_by(me.cls, name, definition)
                    if by:
                        self.at.notebook.note(
                            part, "compare setting", callee, details={"by": by, "name": name}
                        )

    def set_by(self, cls: ClassInfo, name: str, reader: FunctionNode) -> str:
        """The method that sets the attribute, or an item of it, to what its caller gives, and that nothing traced
        runs."""
        for c in self.at.classes.bases(cls)[0]:
            for method in c.mentioning(name):
                if method is reader or method.name == "__init__" or method in self.at.functions.reached:
                    continue
                given = {a.arg for a in parameters_in(method.args)[1:]}
                for part in walk(method) if given else ():
                    if isinstance(part, (ast.Assign, ast.AugAssign)) and any(
                        _own(t, method) == name
                        for t in (part.targets if isinstance(part, ast.Assign) else [part.target])
                    ):
                        if any(isinstance(n, ast.Name) and n.id in given for n in ast.walk(part.value)):
                            return method.name
        return ""


def _each(value: ast.expr) -> tuple[tuple[str, ast.expr] | None, ast.expr]:
    """Of a list or dictionary that is made item by item: the name of an item and what it is taken from, and what each
    becomes. Of another value: None, and the value."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("list", "tuple")
    ):
        value = value.args[0] if len(value.args) == 1 else value
    if not isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.DictComp)) or len(value.generators) != 1:
        return None, value
    item, source = value.generators[0].target, value.generators[0].iter
    if isinstance(value, ast.DictComp):
        if isinstance(item, ast.Tuple) and len(item.elts) == 2 and isinstance(source, ast.Call):
            method = source.func
            if isinstance(method, ast.Attribute) and method.attr == "items":
                return (ast.unparse(item.elts[1]), method.value), value.value
        return None, value
    return (ast.unparse(item), source), value.elt


def _statement(target: ast.expr, node: FunctionNode) -> tuple[ast.Assign, ast.expr] | None:
    """The assignment to that target, and what it is given: `kept = self.kept = x`, `self.a, self.b = x, y`."""
    for part in walk(node):
        if isinstance(part, ast.Assign):
            for one in part.targets:
                if one is target:
                    return part, part.value
                if isinstance(one, ast.Tuple) and isinstance(part.value, ast.Tuple):
                    if len(one.elts) == len(part.value.elts) and target in one.elts:
                        return part, part.value.elts[one.elts.index(target)]
    return None


def _is_what_was_there(value: ast.expr, target: ast.Subscript) -> bool:
    """`group["k"]`, or `group.get("k", 0)`."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "get"
        and value.args
    ):
        return ast.unparse(value.func.value) == ast.unparse(target.value) and ast.unparse(
            value.args[0]
        ) == ast.unparse(target.slice)
    return ast.unparse(value) == ast.unparse(target)


def _is_put_back(made: ast.expr, target: ast.Subscript, node: FunctionNode) -> bool:
    """`step = state["step"]`, then `step += 1`, then `state["step"] = step`."""
    if not isinstance(made, ast.Name):
        return False
    counted = [one for one in parts(node, ast.AugAssign) if is_name(one.target, made.id)]
    given = [value for name, value in _named(node) if name == made.id]
    return (
        len(counted) == 1
        and isinstance(counted[0].op, ast.Add)
        and isinstance(counted[0].value, ast.Constant)
        and len(given) == 1
        and _is_what_was_there(given[0], target)
    )


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each name that something is assigned to, and what: also of `a, b = x, y`."""
    for part in walk(tree):
        for target in part.targets if isinstance(part, ast.Assign) else ():
            for one, value in _pairs(target, part.value):  # type: ignore[attr-defined]
                if isinstance(one, ast.Name):
                    yield one.id, value


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def _is_asked_first(target: ast.expr, place: ast.expr, statement: ast.Assign, node: FunctionNode) -> bool:
    """Whether a test of what lies at the place leads to the assignment, or returns before it."""
    text = ast.unparse(place)
    # What is read of it under a name: `kept = self.table.get(key)`.
    names = {
        t.id
        for part in walk(node)
        if isinstance(part, (ast.Assign, ast.NamedExpr)) and _mentions(part.value, text, set())
        for t in (part.targets if isinstance(part, ast.Assign) else [part.target])
        if isinstance(t, ast.Name)
    }
    for part in walk(node):
        if isinstance(part, ast.If) and _mentions(part.test, text, names):
            if any(statement in walk(b) for b in [*part.body, *part.orelse]):
                # An item that is there is only replaced.
                there = _arm_that_has_it(part, text) if isinstance(target, ast.Subscript) else []
                return not any(statement in walk(b) for b in there)
            if isinstance(part.body[-1], ast.Return) and part.lineno < statement.lineno:
                return True
        elif isinstance(part, ast.Try) and isinstance(target, ast.Subscript):
            # That a key is missing is guarded where it is then set; that an attribute is, is not.
            asked = any(_mentions(s, text, set()) for s in part.body)
            if asked and any(statement in walk(s) for h in part.handlers for s in h.body):
                return True
    return False


def _asks_what_is_guarded(test: ast.expr) -> bool:
    """Whether a test asks what a tensor is, not what is in it: `t is None`, `t.shape[0] < n`, `hasattr(...)`."""
    return any(
        isinstance(part, (ast.Is, ast.IsNot))
        or (isinstance(part, ast.Attribute) and part.attr in GUARDED)
        or (isinstance(part, ast.Name) and part.id in ("len", "hasattr", "getattr"))
        for part in ast.walk(test)
    )


def _is_asked_for_none(target: ast.expr, node: FunctionNode) -> bool:
    """Whether the function asks before the assignment whether something is there."""
    text = dotted(target)
    return any(
        isinstance(part, ast.Compare)
        and isinstance(part.ops[0], (ast.Is, ast.IsNot))
        and dotted(part.left) == text
        and part.lineno < target.lineno
        for part in walk(node)
    )


def _arm_that_has_it(branch: ast.If, text: str) -> list[ast.stmt]:
    """What runs where `key in place` holds."""
    test = branch.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or ast.unparse(test.comparators[0]) != text:
        return []
    arms = {ast.In: branch.body, ast.NotIn: branch.orelse}
    return arms.get(type(test.ops[0]), [])


def _mentions(test: ast.AST, text: str, names: set[str]) -> bool:
    last = text.rpartition(".")[2]
    for part in ast.walk(test):
        if isinstance(part, (ast.Name, ast.Attribute)) and (
            dotted(part) == text or (isinstance(part, ast.Name) and part.id in names)
        ):
            return True
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id in ("hasattr", "getattr")
        ):
            if len(part.args) > 1 and isinstance(part.args[1], ast.Constant) and part.args[1].value == last:
                return True
    return False


def _starts(tree: ast.AST, key: str) -> Iterator[ast.expr]:
    """What is put under the key of a dictionary anywhere in the file, other than a sum, or what was there before."""
    read = {
        name for name, value in _named(tree) if isinstance(value, ast.Subscript) and _is_key(value.slice, key)
    }
    for part in walk(tree):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Subscript) and _is_key(target.slice, key):
                    back = isinstance(part.value, ast.Name) and part.value.id in read
                    if not back and not isinstance(part.value, ast.BinOp):
                        yield part.value
        elif isinstance(part, ast.Dict):
            yield from (v for k, v in zip(part.keys, part.values, strict=True) if _is_key(k, key))
        elif isinstance(part, ast.Call):
            callee = last_word(part.func)
            if callee in ("setdefault", "get") and len(part.args) == 2 and _is_key(part.args[0], key):
                yield part.args[1]
            elif callee == "dict":
                yield from (k.value for k in part.keywords if k.arg == key)


def _at(owner: Value, key: str | int) -> Value:
    """What lies at a place of a dictionary or a list."""
    if isinstance(owner, Dict) and isinstance(key, str):
        return owner.items.get(key, UNKNOWN)
    if isinstance(owner, Seq) and isinstance(key, int):
        elts = owner.elts or ()
        return elts[key] if -len(elts) <= key < len(elts) else owner.elem or UNKNOWN
    return UNKNOWN


def _is_key(node: ast.expr | None, key: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == key


def _own(node: ast.expr, method: FunctionNode) -> str:
    """The name of the object's own attribute that the expression is, or is an item of."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(inner, ast.Attribute) and is_name(inner.value, own_name(method)):
        return inner.attr
    return ""


def _made(node: ast.expr, function: FunctionNode) -> ast.expr:
    """What a name is assigned in the function, if it is so only once; else the expression itself."""
    return assigned_once(node, function) if isinstance(node, ast.Name) else node


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and type(inner.value) in (int, float)
