"""What expressions are, in the abstract, and which operations they hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.arithmetic import binary, compare, is_drawn, of_random
from pt2lint.static.interpreter.by_methods import ByMethods
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.loops import of_each_turn
from pt2lint.static.interpreter.row_calls import of_rows
from pt2lint.static.interpreter.special import compared, items
from pt2lint.static.interpreter.splits import told_apart
from pt2lint.static.interpreter.subscripts import Subscripts
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.values import (
    BOOL,
    CONSTANT,
    INT,
    NONE,
    OBJECT,
    PYTHON,
    STR,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
    Wrapped,
    element,
    is_none,
    join,
    join_all,
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context
    from pt2lint.static.interpreter.guards import Path


SUPER = PYTHON + "super"
PLAIN = frozenset("list tuple set str int float bool none".split())
EFFORT = 200_000  # expressions evaluated for one root: five times what the largest in ordinary code takes


class Expressions:
    """`handlers` is what evaluates each kind of node. `left` is how many more evaluations one root is worth. `seen` is
    what the parts of the statement that runs were, each with the environment in which it was evaluated."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.left = EFFORT
        self.seen: dict[ast.expr, tuple[Env, Value]] = {}
        self.subscripts = Subscripts(at)
        self.by_methods = ByMethods(at)
        self.counted = at.models.last_words("counted by a framework")
        self._of_tensors = at.models.last_words("tells a tensor")
        self._outside: dict[int, tuple[Env, Env]] = {}  # by identity: names, and those around them
        self.handlers: dict[type[ast.AST], Any] = {
            ast.Name: self.e_name,
            ast.Attribute: self.e_attribute,
            ast.Constant: self.e_constant,
            ast.Call: self.e_call,
            ast.BinOp: self.e_binop,
            ast.Compare: self.e_compare,
            ast.Subscript: self.e_subscript,
            ast.Tuple: self.e_tuple,
            ast.List: self.e_list,
            ast.Set: self.e_set,
            ast.Dict: self.e_dict,
            ast.BoolOp: self.e_boolop,
            ast.UnaryOp: self.e_unaryop,
            ast.IfExp: self.e_ifexp,
            ast.JoinedStr: self.e_joinedstr,
            ast.ListComp: self.e_listcomp,
            ast.SetComp: self.e_setcomp,
            ast.GeneratorExp: self.e_generator,
            ast.DictComp: self.e_dictcomp,
            ast.Lambda: self.e_lambda,
            ast.NamedExpr: self.e_namedexpr,
            ast.Starred: self.e_starred,
            ast.Slice: self.e_slice,
            ast.Yield: self.e_yield,
            ast.YieldFrom: self.e_yieldfrom,
            ast.Await: self.e_await,
        }

    def eval(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        self.left -= 1
        if self.left == 0:
            # From here on loops run once, no function is entered, and nothing is sure.
            self.at.notebook.doubt += 1
        handler = self.handlers.get(node.__class__)
        if handler is None:
            return UNKNOWN
        value = handler(node, env, frame)
        self.seen[node] = (env, value)
        return value

    def begin(self) -> None:
        """What is evaluated next has an effort of its own."""
        if self.left <= 0:
            self.at.notebook.doubt -= 1
        self.left = EFFORT

    @property
    def spent(self) -> bool:
        """Whether the effort is used up. What is found out quietly is kept for other roots: it may take as much
        again."""
        return self.left <= 0 and (not self.at.notebook.quiet or self.left <= -EFFORT)

    def quietly(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        """The value of an expression, noting nothing."""
        self.at.notebook.quiet += 1
        try:
            return self.eval(node, env, frame)
        finally:
            self.at.notebook.quiet -= 1

    def again(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        """`quietly`, for a part of the statement at hand that is evaluated for itself too: as it was then, where
        that is known. To do so at each level of what is nested takes twice the time of the level below: it ends
        with the effort."""
        if self.left <= 0:
            return UNKNOWN
        seen = self.seen.get(node)
        return seen[1] if seen is not None and seen[0] is env else self.quietly(node, env, frame)

    def e_name(self, node: ast.Name, env: Env, frame: Frame) -> Value:
        name = node.id
        value = env.get(name)
        if value is not None:
            return value
        closure = frame.closure
        while closure is not None:
            value = closure.get(name)
            if value is not None:
                return value
            closure = self._outside[id(closure)][1] if id(closure) in self._outside else None
        value = frame.module.values.get(name)  # as most names are once they were looked up
        return value if value is not None else self.at.names.global_name(frame.module, name)

    def e_attribute(self, node: ast.Attribute, env: Env, frame: Frame) -> Value:
        key: str | None = node.__dict__.get("pt2lint")
        if key is None:
            key = node.__dict__["pt2lint"] = dotted(node) or ""
        if key in env:
            return env[key]
        owner = self.eval(node.value, env, frame)
        if owner is UNKNOWN and node.attr in self.at.models.last_words("only of tensors"):
            if self.by_methods.is_of_untraced(node.value, env, frame):
                return UNKNOWN  # `table.isnull().any()`
        return self.attribute_of(owner, node.attr, node, frame)

    def attribute_of(
        self, owner: Value, name: str, node: ast.expr, frame: Frame, among: Value = NONE
    ) -> Value:
        """`among`: all that the owner may be, where it is one of several."""
        if name in self.counted and frame.region:
            self.at.objects.read_counted(owner, name, node, frame)
        if isinstance(owner, Union) and name in self._of_tensors:
            owner = _tensor_among(owner)
        if isinstance(owner, Union):
            return self._attribute_of_each(owner, name, node, frame)
        if isinstance(owner, Tensor):
            return self._attribute_of_tensor(owner, name, node, frame)
        if isinstance(owner, Instance):
            return self._attribute_of_instance(owner, name, node, frame)
        if isinstance(owner, Ext):
            if owner.receiver is not None:
                return UNKNOWN
            return self.at.names.qualified(f"{owner.name}.{name}")
        if isinstance(owner, Class):
            return self.at.classes.class_attribute(owner.info, name)
        if isinstance(owner, Super):
            return self.at.classes.super_attribute(owner, name)
        if isinstance(owner, Wrapped) and owner.how == "compiled":
            return self.compiled_attribute(owner, name, node, frame, among)
        if owner is UNKNOWN:
            return self._attribute_of_unknown(name, node, frame)
        if (
            is_none(owner) is True
            and isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
        ):
            return self._set_elsewhere(node, frame)
        if isinstance(owner, Dict) and not hasattr(dict, name) and name not in owner.items:
            if isinstance(owner.elem, Tensor) and self._is_no_tensors(name, owner.elem):
                return owner.elem  # a dictionary whose keys are attributes
        return _attribute_of_plain(owner, name)

    def _is_no_tensors(self, name: str, tensor: Tensor) -> bool:
        """Whether no tensor has an attribute of that name: what has `shape` is a tensor, whatever it is taken for."""
        of = self.at.models.attribute(self.at.models.tensor, tensor, name)
        return isinstance(of, Ext) and not self.at.models.returns_something(of.name)

    def _attribute_of_each(self, owner: Union, name: str, node: ast.expr, frame: Frame) -> Value:
        # A tensor or an array, as what was given is: of neither it can be said.
        either = len({o.array for o in owner.options if isinstance(o, Tensor)}) > 1
        self.at.notebook.quiet += either
        found = [
            self.attribute_of(o, name, node, frame, owner)
            for o in owner.options
            if is_none(o) is not True and o is not UNKNOWN
        ]
        self.at.notebook.quiet -= either
        if UNKNOWN in owner.options:
            found.append(UNKNOWN)
        return join_all(found)

    def _attribute_of_tensor(self, owner: Tensor, name: str, node: ast.expr, frame: Frame) -> Value:
        of = self.at.models.attribute(self.at.models.tensor, owner, name)
        operation = f"get {of.name}" if owner.array and isinstance(of, Ext) else ""
        if name == "__dict__":
            operation = f"get {self.at.models.tensor}.{name}"
        if operation and self.at.notebook.listens(operation, frame):
            self.at.notebook.note(node, operation, frame, about=owner)
        self.used(node, frame, owner)
        return of

    def _attribute_of_instance(self, owner: Instance, name: str, node: ast.expr, frame: Frame) -> Value:
        if owner.external and self.at.notebook.listens(f"get {owner.external}.{name}", frame):
            self.at.notebook.note(node, f"get {owner.external}.{name}", frame)
        if frame.region and owner.cls is not None:
            method = self.at.classes.find_method(owner.cls, name)
            looks = "__getattr__" in owner.cls.attributes or "__getattribute__" in owner.cls.methods
            if looks or (method is not None and method[1].decorator_list):
                for hear in self.at.events.looked_for:
                    hear(owner, name, node, frame)
        return self.at.objects.instance_attribute(owner, name, frame)

    def _attribute_of_unknown(self, name: str, node: ast.expr, frame: Frame) -> Value:
        """What only one kind of value has, whatever it is an attribute of."""
        if name == "shape":
            return Seq(None, INT, "tuple")  # of whatever library's arrays
        if name in self.at.models.last_words("only of tensors"):
            origin = (frame.module.path, node.lineno, f"`.{name}` is a tensor's")
            return Ext(f"{self.at.models.tensor}.{name}", Tensor(None, origin))
        if frame.region and name in self.at.models.last_words("forward hook"):
            module = self.at.models.named("module base")
            return Ext(f"{module}.{name}", Instance(None, module, True))
        if name in self.by_methods.words and isinstance(node, ast.Attribute):
            told = self.by_methods.object(node.value, frame)
            if told is not UNKNOWN:
                return self.attribute_of(told, name, node, frame)
        return Py(name) if name in ("device", "dtype") else UNKNOWN

    def _set_elsewhere(self, node: ast.Attribute, frame: Frame) -> Value:
        """`self.optimizer.zero_grad()`, where `__init__` says None alone: code that runs has set it, and what the class
        does with it tells what to."""
        told = self.by_methods.object(node.value, frame) if node.attr in self.by_methods.words else UNKNOWN
        return UNKNOWN if told is UNKNOWN else self.attribute_of(told, node.attr, node, frame)

    def bare_method(self, node: ast.Attribute, env: Env, frame: Frame) -> Value:
        """`x.item()`, `x.parameters()` where nothing is known of `x`: only a tensor has the one without arguments, and
        only a module the other. Where Dynamo traces it, `batch["mask"].sum()` is a tensor's: so are arrays."""
        of_tensors = node.attr in self.at.models.last_words("bare only of tensors") or (
            frame.region and node.attr in self.at.models.last_words("bare only of tensors where compiled")
        )
        if not of_tensors and node.attr not in self.at.models.last_words("bare only of modules"):
            return UNKNOWN
        if self.again(node.value, env, frame) is not UNKNOWN or self.by_methods.is_foreign(
            node.value, env, frame
        ):
            return UNKNOWN
        if not of_tensors:
            module = self.at.models.named("module base")
            return Ext(f"{module}.{node.attr}", Instance(None, module, True))
        origin = (frame.module.path, node.lineno, f"`.{node.attr}()` is a tensor's")
        return Ext(f"{self.at.models.tensor}.{node.attr}", Tensor(None, origin))

    def compiled_attribute(
        self, owner: Wrapped, name: str, node: ast.expr, frame: Frame, among: Value
    ) -> Value:
        """`compiled.name`: everything but a call of the object itself is the original's."""
        inner = owner.inner
        if owner.within == f"{name}.":
            return Wrapped(owner.how, inner)
        if name == "_orig_mod":
            return inner
        module = isinstance(inner, Instance) and (inner.cls is None or self.at.classes.is_module(inner.cls))
        for hear in self.at.events.read:
            hear(owner, name, node, frame, among)
        if not module:
            if not isinstance(inner, Seq) or inner.type != "Sequential":
                return UNKNOWN
            inner = Instance(None, self.at.models.named("module base"), True)
        found = self.attribute_of(inner, name, node, frame)
        if isinstance(found, Ext) and self.at.models.plays(found.name, "keeps the wrapper"):
            return Ext(found.name, owner)
        return found

    def e_constant(self, node: ast.Constant, env: Env, frame: Frame) -> Value:
        cached: Value | None = node.__dict__.get("pt2lint")
        if cached is None:
            value = node.value
            if value is None:
                cached = NONE
            else:
                cached = Py(type(value).__name__ if value is not ... else "ellipsis", value)
            node.__dict__["pt2lint"] = cached
        return cached

    def e_joinedstr(self, node: ast.JoinedStr, env: Env, frame: Frame) -> Value:
        text: str | None = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, env, frame)
                tensor = tensor_of(value)
                if tensor is not None and self.at.notebook.listens("format tensor", frame):
                    self.at.notebook.note(node, "format tensor", frame, about=tensor)
                plain = part.format_spec is None and isinstance(value, Py) and isinstance(value.const, str)
                more = value.const if plain and isinstance(value, Py) else None
            else:
                more = part.value if isinstance(part, ast.Constant) else None
            text = text + more if text is not None and isinstance(more, str) else None
        return STR if text is None else Py("str", text)

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, env: Env, frame: Frame, type: str) -> Value:
        elts: list[Value] = []
        exact = True
        for e in node.elts:
            if isinstance(e, ast.Starred):
                inner = self.eval(e.value, env, frame)
                if isinstance(inner, Seq) and inner.elts is not None:
                    elts += inner.elts
                else:
                    exact = False
                    elts.append(element(inner))
            else:
                elts.append(self.eval(e, env, frame))
        made = Seq(elts, None, type) if exact else Seq(None, join_all(elts), type)
        stars = [i for i, e in enumerate(node.elts) if isinstance(e, ast.Starred)]
        made.counted = type != "set" and not stars
        if not exact and len(stars) == 1:
            [star] = stars
            made.around = elts[:star], elts[star], elts[star + 1 :]
        return made

    def e_list(self, node: ast.List, env: Env, frame: Frame) -> Value:
        return self.sequence(node, env, frame, "list")

    def e_tuple(self, node: ast.Tuple, env: Env, frame: Frame) -> Value:
        return self.sequence(node, env, frame, "tuple")

    def e_set(self, node: ast.Set, env: Env, frame: Frame) -> Value:
        return self.sequence(node, env, frame, "set")

    def e_dict(self, node: ast.Dict, env: Env, frame: Frame) -> Value:
        items: dict[str, Value] = {}
        rest: list[Value] = []
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.eval(item, env, frame)
            if key is None:
                if isinstance(value, Dict):
                    items.update(value.items)
                    rest += [] if value.elem is UNKNOWN else [value.elem]
                else:
                    rest.append(UNKNOWN)
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                items[key.value] = value
            else:
                self.eval(key, env, frame)
                rest.append(value)
        return Dict(items, join_all(rest) if rest else UNKNOWN)

    def comprehend(self, node: Any, env: Env, frame: Frame, *parts: ast.expr) -> list[Value]:
        """What the parts of a comprehension are, for any of its items."""
        inner, layers = dict(env), frame.layers
        for generator in node.generators:
            iterable = self.eval(generator.iter, inner, frame)
            self.at.calls.iterated(generator.iter, iterable, frame)
            made = items(self.at, iterable, generator.iter, frame)
            iterable = iterable if made is None else made
            frame.layers += self.at.statements.loops.gives_modules(iterable)
            each = of_each_turn(iterable, generator.target, node)
            self.at.statements.assignments.assign(generator.target, each, inner, frame)
            for condition in generator.ifs:
                self.at.conditions.test(condition, inner, frame)
                self.at.conditions.narrow(condition, inner, True, frame)
        values = [self.eval(part, inner, frame) for part in parts]
        frame.layers = layers
        return values

    def e_listcomp(self, node: ast.ListComp, env: Env, frame: Frame) -> Value:
        [elem] = self.comprehend(node, env, frame, node.elt)
        made = Seq(None, elem, "list")
        if len(node.generators) == 1 and not node.generators[0].ifs:
            over = self.again(node.generators[0].iter, env, frame)
            if isinstance(over, Seq) and over.counted and over.elts:
                made = Seq([elem] * len(over.elts))  # as many as it goes over
                made.counted = True
        return made

    def e_setcomp(self, node: ast.SetComp, env: Env, frame: Frame) -> Value:
        [elem] = self.comprehend(node, env, frame, node.elt)
        return Seq(None, elem, "set")

    def e_generator(self, node: ast.GeneratorExp, env: Env, frame: Frame) -> Value:
        [elem] = self.comprehend(node, env, frame, node.elt)
        return Seq(None, elem, "generator")

    def e_dictcomp(self, node: ast.DictComp, env: Env, frame: Frame) -> Value:
        key, value = self.comprehend(node, env, frame, node.key, node.value)
        made = Dict({}, value)
        made.key = key
        return made

    def e_binop(self, node: ast.BinOp, env: Env, frame: Frame) -> Value:
        left = self.eval(node.left, env, frame)
        right = self.eval(node.right, env, frame)
        return binary(self.at, left, right, node.op, node, frame)

    def used(self, node: Any, frame: Frame, *values: Value | None) -> None:
        """Note a sparse tensor, which Dynamo cannot take into a graph: where a function first uses it, as what comes
        after it there is left to Python, or is another arm, where the tensor may be dense."""
        for value in values:
            if isinstance(value, Tensor) and value.sparse:
                if self.at.notebook.listens("use sparse", frame):
                    if frame.sparse.setdefault(value.origin, frame.line) == frame.line:
                        self.at.notebook.note(node, "use sparse", frame, about=value)
                return

    def e_unaryop(self, node: ast.UnaryOp, env: Env, frame: Frame) -> Value:
        if isinstance(node.op, ast.Not):
            known = self.at.conditions.test(node.operand, env, frame)
            return BOOL if known is None else Py("bool", not known)
        value = self.eval(node.operand, env, frame)
        if frame.region and is_drawn(value):
            return of_random(self.at, node, value, frame)
        tensor = tensor_of(value)
        if tensor is not None:
            inverted = isinstance(node.op, ast.Invert) and tensor.dtype is None  # bits of numbers seldom are
            inverted = inverted and not self.subscripts.masks.is_number(node.operand)
            leaf = CONSTANT if tensor.leaf == CONSTANT else 0
            return tensor.but(leaf=leaf, dtype="bool" if inverted else tensor.dtype)
        if isinstance(value, Py) and value.type in ("int", "float", "bool"):
            if isinstance(node.op, ast.USub) and isinstance(value.const, (int, float)):
                return Py(value.type, -value.const)
            return Py(value.type)
        return value if not isinstance(value, Py) else OBJECT

    def e_compare(self, node: ast.Compare, env: Env, frame: Frame) -> Value:
        left = self.eval(node.left, env, frame)
        result: Value | None = None
        for i, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.eval(comparator, env, frame)
            own: Value | None = None
            if isinstance(left, Instance) or isinstance(right, Instance):
                own = compared(self.at, left, right, op, node, frame)
            elif not i and isinstance(node.left, ast.Call) and isinstance(right, (Ext, Seq)):
                own = self._is_of_type(node.left, op, right, env, frame)
            value = compare(left, op, right) if own is None else own
            if isinstance(value, Tensor):
                self.at.notebook.count(frame)
            # No tensor can hold a text: it is a table after all. An array can.
            number = isinstance(left, Py) and left.type in ("int", "float")
            text = isinstance(left, Py) and left.type == "str"
            asked = isinstance(right, Tensor) and (number if right.array else not text)
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, Tensor) and asked:
                # `2 in t` asks whether any element is equal.
                if self.at.notebook.listens("test tensor", frame):
                    self.at.notebook.note(node, "test tensor", frame, about=right)
            if isinstance(op, (ast.In, ast.NotIn)):
                for hear in self.at.events.compared:
                    hear(node, left, right, frame)
            elif frame.region and isinstance(op, (ast.Eq, ast.NotEq)):
                first = node.comparators[i - 1] if i else node.left
                for one, other, place in ((left, right, comparator), (right, left, first)):
                    if isinstance(one, Tensor) and not one.array:
                        for hear in self.at.events.equated:
                            hear(node, place, other, env, frame)
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, Ext):
                if self.at.notebook.listens(f"in {right.name}", frame):
                    self.at.notebook.note(node, f"in {right.name}", frame)
            if i < len(node.ops) - 1:
                # `a < b < c` jumps on `a < b`.
                tensor = tensor_of(value)
                if tensor is not None and self.at.notebook.listens("test tensor", frame):
                    self.at.notebook.note(node, "test tensor", frame, about=tensor)
            result = value if result is None else join(result, value)
            left = right
        assert result is not None
        return result

    def _is_of_type(
        self, asked: ast.Call, op: ast.cmpop, kind: Value, env: Env, frame: Frame
    ) -> Value | None:
        """`type(x) is int`, `type(x) in (int, float)` of a tensor, which is of none of Python's own types."""
        kinds = kind.elts or [] if isinstance(kind, Seq) else [kind]
        if len(asked.args) != 1 or not kinds:
            return None
        if not all(isinstance(one, Ext) and one.name.startswith("builtins.") for one in kinds):
            return None
        callee = self.at.names.external_name(self.again(asked.func, env, frame))
        if not self.at.models.plays(callee, "tells the type"):
            return None
        given = options(self.again(asked.args[0], env, frame))
        others = isinstance(op, (ast.IsNot, ast.NotEq, ast.NotIn))
        return Py("bool", others) if all(isinstance(one, Tensor) for one in given) else None

    def e_boolop(self, node: ast.BoolOp, env: Env, frame: Frame) -> Value:
        """`a and b`: all but the last are tested; the value is any of them."""
        inner = dict(env)
        is_and = isinstance(node.op, ast.And)
        values: list[Value] = []
        off = 0
        before = frame.guards
        for part in node.values[:-1]:
            value, known = self.at.conditions.tested(part, inner, frame)
            if is_and and not frame.region and isinstance(value, Py):
                off = off or value.off
            if known is (not is_and):
                values.append(value)
                frame.guards = before
                return join_all(values)
            if known is None:
                if is_and:
                    values += [BOOL if isinstance(value, Py) and value.type == "bool" else value]
                else:
                    values.append(value)
                frame.guards = self.at.conditions.asked.where(part, is_and, inner, frame)
            self.at.conditions.narrow(part, inner, is_and, frame)
        values.append(self.eval(node.values[-1], inner, frame))
        frame.guards = before
        both = join_all(values)
        # `Block(fancy and i > 0)` is off where `fancy` is; in compiled code each part is asked for itself.
        return Py("bool", off=off) if off and isinstance(both, Py) and both.type == "bool" else both

    def e_ifexp(self, node: ast.IfExp, env: Env, frame: Frame) -> Value:
        known = self.at.conditions.test(node.test, env, frame)
        values: list[Value] = []
        before = frame.guards
        asked: list[Path] = []
        for outcome, branch in ((True, node.body), (False, node.orelse)):
            if known is not (not outcome):
                inner = dict(env)
                if known is None:
                    frame.guards = self.at.conditions.asked.where(node.test, outcome, env, frame)
                asked.append(frame.guards[len(before) :])
                # Which arm runs cannot be seen from outside the statement: in use the optional may never be given.
                doubt = outcome and (
                    self.at.conditions.unlikely(node.test, env, frame)
                    or self.at.conditions.optional(node.test, env, frame)
                )
                self.at.conditions.narrow(node.test, inner, outcome, frame)
                self.at.notebook.doubt += doubt
                values.append(self.eval(branch, inner, frame))
                self.at.notebook.doubt -= doubt
                frame.guards = before
        self.at.conditions.splits.arms = node, values
        value = join_all(values)
        if len(values) == 2:
            value = told_apart(value, values[0], values[1], asked[0])
            value = told_apart(value, values[1], values[0], asked[1])
        return value

    def e_namedexpr(self, node: ast.NamedExpr, env: Env, frame: Frame) -> Value:
        value = self.eval(node.value, env, frame)
        env[node.target.id] = value
        frame.forget(node.target.id)
        return value

    def e_subscript(self, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        return self.subscripts.subscript(node, env, frame)

    def e_lambda(self, node: ast.Lambda, env: Env, frame: Frame) -> Value:
        return Func(node, frame.module, self.closed(env, frame), None, frame.cls)

    def closed(self, env: Env, frame: Frame) -> Env:
        """The names that a function closes over which is defined there: what that function closes over, too."""
        if frame.closure is not None and frame.closure is not env:
            self._outside[id(env)] = env, frame.closure
        return env

    def e_slice(self, node: ast.Slice, env: Env, frame: Frame) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part, env, frame)
        return Py("slice")

    def e_starred(self, node: ast.Starred, env: Env, frame: Frame) -> Value:
        return self.eval(node.value, env, frame)

    def e_yield(self, node: ast.Yield, env: Env, frame: Frame) -> Value:
        frame.yields.append(NONE if node.value is None else self.eval(node.value, env, frame))
        return UNKNOWN

    def e_yieldfrom(self, node: ast.YieldFrom, env: Env, frame: Frame) -> Value:
        frame.yields.append(element(self.eval(node.value, env, frame)))
        return UNKNOWN

    def e_await(self, node: ast.Await, env: Env, frame: Frame) -> Value:
        return self.eval(node.value, env, frame)

    def e_call(self, node: ast.Call, env: Env, frame: Frame) -> Value:
        func = self.eval(node.func, env, frame)
        if func is UNKNOWN and isinstance(node.func, ast.Attribute) and not node.args:
            func = self.bare_method(node.func, env, frame)
        args: list[Value] = []
        spread = False
        before = None
        if isinstance(func, Ext) and len(node.args) == 1 and isinstance(asked := node.args[0], ast.BoolOp):
            before = frame.guards
            # `bool(self.training and torch.rand(1) < 0.1)`: the last is asked where the others hold.
            for part in asked.values[:-1]:
                is_and = isinstance(asked.op, ast.And)
                frame.guards = self.at.conditions.asked.where(part, is_and, env, frame)
        for a in node.args:
            if isinstance(a, ast.Starred):
                inner = self.eval(a.value, env, frame)
                if isinstance(inner, Seq) and inner.elts is not None:
                    args += inner.elts
                else:
                    spread = True
                    args.append(element(inner))
            else:
                value = self.eval(a, env, frame)
                # Which place it takes after so many depends on how many there were.
                args.append(UNKNOWN if spread else value)
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value, env, frame)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Dict):
                kwargs.update(value.items)
                # A wrapper that hands on all that it is given; what makes an object may give more elsewhere.
                wraps = frame.region and any(isinstance(a, ast.Starred) for a in node.args)
                known = value.items or (wraps and self.at.conditions.gives_none(keyword.value, env))
                if value.elem is not UNKNOWN or not known:
                    kwargs["**"] = value.elem
            else:
                kwargs["**"] = UNKNOWN
        if isinstance(func, Ext) and func.name == SUPER:
            return self.at.classes.super_call(args, frame)
        if frame.region:
            for hear in self.at.events.calling:
                hear(node, func, env, frame)
            if rows := of_rows(self.at, func, node, env, frame):
                before = frame.guards if before is None else before
                frame.guards += rows
            outer, frame.on_made = frame.on_made, self.at.objects.makes_owner(node, func, env, frame)
            result = self.at.calls.apply(func, args, kwargs, node, frame, spread)
            frame.guards = frame.guards if before is None else before
            frame.on_made = outer
            return result
        result = self.at.calls.apply(func, args, kwargs, node, frame, spread)
        for hear in self.at.events.called:
            hear(node, func, args, result, env, frame)
        return result


def _tensor_among(value: Union) -> Value:
    """What has a method that tensors have and Python's own objects have not: `batch["x"].unsqueeze(0)`."""
    tensors = [o for o in value.options if isinstance(o, Tensor)]
    if not tensors or not all(isinstance(o, (Tensor, Seq, Dict, Py)) for o in value.options):
        return value
    plain = all(o.type in PLAIN for o in value.options if isinstance(o, (Seq, Py)))
    return join_all(o.but(sure=True) for o in tensors) if plain else value


def _attribute_of_plain(owner: Value, name: str) -> Value:
    """Of a container, a number, a text, a function."""
    if isinstance(owner, Seq) and name in owner.fields and owner.elts is not None:
        return owner.elts[owner.fields.index(name)]
    if isinstance(owner, Dict) and name in owner.items and not hasattr(dict, name):
        return owner.items[name]  # a dictionary whose keys are attributes, as a `ModuleDict` is
    if isinstance(owner, (Seq, Dict)):
        return Ext(f"{PYTHON}{owner.type if isinstance(owner, Seq) else 'dict'}.{name}", owner)
    if isinstance(owner, Py):
        if owner.type == "str" and name == "value":
            return owner  # of an enumeration of texts
        if owner.type in ("str", "int", "float", "bool", "bytes"):
            return Ext(f"{PYTHON}{owner.type}.{name}", owner)
        if owner.type == "device":
            return STR if name == "type" else INT
        return OBJECT if owner.type == "dtype" else UNKNOWN
    if isinstance(owner, Func) and name in ("__name__", "__qualname__", "__doc__"):
        return STR
    return UNKNOWN
