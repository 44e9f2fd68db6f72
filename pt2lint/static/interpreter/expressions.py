"""What expressions are, in the abstract, and which operations they hold."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from pt2lint.static.interpreter.classes import Classes
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.observers.misuse import dotted
from pt2lint.static.values import (
    BOOL,
    CONSTANT,
    FLOAT,
    HALF,
    INT,
    LEAF,
    NO_CONST,
    NONE,
    OBJECT,
    OFTEN_OFF,
    PYTHON,
    STR,
    UNKNOWN,
    WRAPPED_NAME,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Partial,
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
    mixed,
    options,
    tensor_of,
    truth,
)

BUILTINS = frozenset(dir(builtins))
SUPER = PYTHON + "super"
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def broadcast(a: Tensor | None, b: Tensor | None) -> int | None:
    """The number of dimensions of an elementwise result; a Python number (None) has none."""
    if a is None or b is None:
        one = a if a is not None else b
        return one.ndim if one is not None else None
    return None if a.ndim is None or b.ndim is None else max(a.ndim, b.ndim)


def resumed(env: Env) -> None:
    """After a break, what was computed before is an argument of the next graph."""
    for name, value in env.items():
        if isinstance(value, Tensor) and not value.leaf:
            env[name] = value.but(leaf=LEAF)
        elif isinstance(value, Seq) and value.elts and value.type in ("tuple", "args"):
            elts: list[Value] = [v.but(leaf=LEAF) if isinstance(v, Tensor) else v for v in value.elts]
            env[name] = Seq(elts, None, "tuple")


class Expressions(Classes):
    def eval(self, node: ast.expr, env: Env, frame: Frame) -> Value:
        handler = self._expressions.get(node.__class__)
        return handler(self, node, env, frame) if handler is not None else UNKNOWN

    # Names

    def e_name(self, node: ast.Name, env: Env, frame: Frame) -> Value:
        name = node.id
        value = env.get(name)
        if value is not None:
            return value
        closure = frame.closure
        if closure is not None:
            value = closure.get(name)
            if value is not None:
                return value
        return self.global_name(frame.module, name)

    def global_name(self, module: Any, name: str) -> Value:
        value = self.module_value(module, name)
        if value is not None:
            return value
        return Ext(PYTHON + name) if name in BUILTINS else UNKNOWN

    def e_attribute(self, node: ast.Attribute, env: Env, frame: Frame) -> Value:
        key: str | None = node.__dict__.get("pt2lint")
        if key is None:
            key = node.__dict__["pt2lint"] = dotted(node) or ""
        if key in env:
            return env[key]
        owner = self.eval(node.value, env, frame)
        return self.attribute_of(owner, node.attr, node, frame)

    def attribute_of(self, owner: Value, name: str, node: ast.expr, frame: Frame) -> Value:
        if isinstance(owner, Union):
            found = [
                self.attribute_of(o, name, node, frame)
                for o in owner.options
                if is_none(o) is not True and o is not UNKNOWN
            ]
            if any(o is UNKNOWN for o in owner.options):
                found.append(UNKNOWN)
            return join_all(found)
        if isinstance(owner, Tensor):
            return self.models.attribute(self.models.tensor, owner, name)
        if isinstance(owner, Instance):
            if owner.external and self.listens(f"get {owner.external}.{name}", frame):
                self.note(node, f"get {owner.external}.{name}", frame)
            return self.instance_attribute(owner, name, frame)
        if isinstance(owner, Ext):
            if owner.receiver is not None:
                return UNKNOWN
            return self.qualified(f"{owner.name}.{name}")
        if isinstance(owner, Class):
            return self.class_attribute(owner.info, name)
        if isinstance(owner, Super):
            return self.super_attribute(owner, name, frame)
        if isinstance(owner, (Seq, Dict)):
            return Ext(f"{PYTHON}{owner.type if isinstance(owner, Seq) else 'dict'}.{name}", owner)
        if isinstance(owner, Py):
            if owner.type in ("str", "int", "float", "bool", "bytes"):
                return Ext(f"{PYTHON}{owner.type}.{name}", owner)
            if owner.type == "device":
                return STR if name == "type" else INT
            return OBJECT if owner.type == "dtype" else UNKNOWN
        if isinstance(owner, Wrapped) and owner.how == "compiled":
            return self.compiled_attribute(owner, name, node, frame)
        if isinstance(owner, Func) and name in ("__name__", "__qualname__", "__doc__"):
            return STR
        if owner is UNKNOWN and name in self.models.last_words("only of tensors"):
            return Ext(
                f"{self.models.tensor}.{name}",
                Tensor(None, (frame.module.path, node.lineno, f"`.{name}` is a tensor's")),
            )
        if owner is UNKNOWN and name in ("device", "dtype"):
            return Py(name)  # whatever has one, has it of that kind
        return UNKNOWN

    # Literals and containers

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
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.eval(part.value, env, frame)
                tensor = tensor_of(value)
                if tensor is not None and self.listens("format tensor", frame):
                    # Dynamo formats lazily: it breaks only where the text is used.
                    self.note(node, "format tensor", frame, about=tensor.but(sure=False))
        return STR

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
        return Seq(elts, None, type) if exact else Seq(None, join_all(elts), type)

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

    # Comprehensions

    def comprehend(self, node: Any, env: Env, frame: Frame) -> Env:
        inner = dict(env)
        for generator in node.generators:
            iterable = self.eval(generator.iter, inner, frame)
            self.iterated(generator.iter, iterable, frame)
            self.assign(generator.target, element(iterable), inner, frame)
            for condition in generator.ifs:
                self.test(condition, inner, frame)
                self.narrow(condition, inner, True, frame)
        return inner

    def e_listcomp(self, node: ast.ListComp, env: Env, frame: Frame) -> Value:
        inner = self.comprehend(node, env, frame)
        return Seq(None, self.eval(node.elt, inner, frame), "list")

    def e_setcomp(self, node: ast.SetComp, env: Env, frame: Frame) -> Value:
        inner = self.comprehend(node, env, frame)
        return Seq(None, self.eval(node.elt, inner, frame), "set")

    def e_generator(self, node: ast.GeneratorExp, env: Env, frame: Frame) -> Value:
        inner = self.comprehend(node, env, frame)
        return Seq(None, self.eval(node.elt, inner, frame), "generator")

    def e_dictcomp(self, node: ast.DictComp, env: Env, frame: Frame) -> Value:
        inner = self.comprehend(node, env, frame)
        key = self.eval(node.key, inner, frame)
        made = Dict({}, self.eval(node.value, inner, frame))
        made.key = key
        return made

    # Operators

    def e_binop(self, node: ast.BinOp, env: Env, frame: Frame) -> Value:
        left = self.eval(node.left, env, frame)
        right = self.eval(node.right, env, frame)
        return self.binary(left, right, node.op, node, frame)

    def binary(self, left: Value, right: Value, op: ast.operator, node: Any, frame: Frame) -> Value:
        a, b = tensor_of(left), tensor_of(right)
        text = isinstance(left, Py) and left.type == "str" and isinstance(op, ast.Mod)
        if (a is not None or b is not None) and not text:
            first = a if a is not None else b
            assert first is not None
            if a is not None and b is not None and a.array != b.array:
                first = b if a.array else a
            sure = (a is None or a.sure) and (b is None or b.sure)
            if a is None or b is None:
                # `[0] * t` and the like are no tensors; what a foreign class does with one is not known.
                other = right if b is None else left
                if isinstance(other, Seq) and not first.array:
                    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
                    if isinstance(op, ast.Mult) and any(isinstance(side, ast.List) for side in sides):
                        if self.listens("size tensor", frame):
                            self.note(node, "size tensor", frame, about=first)
                    return UNKNOWN
                # A tensor that only may be one, with a number that may not: the result keeps the doubt.
                value = left if b is None else right
                if isinstance(value, Union) and any(
                    isinstance(o, Py) and o.type != "none" for o in value.options
                ):
                    return join(self.result_of(op, first, a, b, sure), UNKNOWN if other is UNKNOWN else FLOAT)
            return self.result_of(op, first, a, b, sure)
        if isinstance(left, Seq) and isinstance(op, ast.Add) and isinstance(right, Seq):
            if left.elts is not None and right.elts is not None:
                return Seq(left.elts + right.elts, None, left.type)
            return Seq(None, join(left.elem, right.elem), left.type, left.elts or left.prefix)
        if isinstance(left, Seq) and isinstance(op, ast.Mult):
            return Seq(None, left.elem, left.type)
        if isinstance(right, Seq) and isinstance(op, ast.Mult):
            return Seq(None, right.elem, right.type)
        if isinstance(left, Py) and isinstance(right, Py):
            if left.type == right.type == "bool" and isinstance(op, (ast.BitOr, ast.BitAnd)):
                decisive = isinstance(op, ast.BitOr)
                if truth(left) is decisive or truth(right) is decisive:
                    return Py("bool", decisive)
                return left if truth(left) is truth(right) is not None else BOOL
            if "str" in (left.type, right.type):
                if isinstance(op, ast.Mod) and self.listens("format tensor", frame):
                    pass
                return STR
            if isinstance(op, ast.Div):
                return FLOAT
            if left.type == right.type == "int":
                return INT
            if "float" in (left.type, right.type):
                return FLOAT
            return OBJECT if left.type not in ("int", "bool") else INT
        if isinstance(left, Py) and left.type == "str" and isinstance(op, ast.Mod):
            parts = right.elts if isinstance(right, Seq) and right.elts is not None else [right]
            for part in parts:
                tensor = tensor_of(part)
                if tensor is not None and self.listens("format tensor", frame):
                    self.note(node, "format tensor", frame, about=tensor)
            return STR
        return UNKNOWN

    def result_of(
        self, op: ast.operator, first: Tensor, a: Tensor | None, b: Tensor | None, sure: bool
    ) -> Value:
        dtype = first.dtype
        if isinstance(op, ast.Div):
            dtype = "float"
        elif isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            if a is not None and b is not None and a.dtype != b.dtype:
                dtype = None if None in (a.dtype, b.dtype) else "int"
        elif a is not None and b is not None:
            dtype = "float" if "float" in (a.dtype, b.dtype) else (a.dtype if a.dtype == b.dtype else None)
        elif dtype == "bool":
            dtype = None
        constant = all(t is None or t.leaf == CONSTANT for t in (a, b))
        leaf = CONSTANT if constant else 0
        return Tensor(dtype, first.origin, sure, first.array, broadcast(a, b), leaf)

    def e_unaryop(self, node: ast.UnaryOp, env: Env, frame: Frame) -> Value:
        if isinstance(node.op, ast.Not):
            known = self.test(node.operand, env, frame)
            return BOOL if known is None else Py("bool", not known)
        value = self.eval(node.operand, env, frame)
        tensor = tensor_of(value)
        if tensor is not None:
            return tensor.but(leaf=CONSTANT if tensor.leaf == CONSTANT else 0)
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
            value = self.compare(left, op, right)
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, Tensor) and not right.array:
                # `2 in t` asks whether any element is equal.
                if self.listens("test tensor", frame):
                    self.note(node, "test tensor", frame, about=right)
            if left is WRAPPED_NAME and isinstance(op, (ast.In, ast.NotIn)):
                self.looked_up(node, right, frame)
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, Ext):
                if self.listens(f"in {right.name}", frame):
                    self.note(node, f"in {right.name}", frame)
            if i < len(node.ops) - 1:
                # `a < b < c` jumps on `a < b`.
                tensor = tensor_of(value)
                if tensor is not None and self.listens("test tensor", frame):
                    self.note(node, "test tensor", frame, about=tensor)
            result = value if result is None else join(result, value)
            left = right
        assert result is not None
        return result

    def compare(self, left: Value, op: ast.cmpop, right: Value) -> Value:
        if isinstance(op, (ast.Is, ast.IsNot)):
            for one, other in ((left, right), (right, left)):
                if is_none(other) is True:
                    known = is_none(one)
                    return BOOL if known is None else Py("bool", known is isinstance(op, ast.Is))
            if isinstance(left, Py) and isinstance(right, Py) and left.type == right.type == "bool":
                if left.const is not NO_CONST and right.const is not NO_CONST:
                    return Py("bool", (left.const is right.const) is isinstance(op, ast.Is))
            return BOOL
        if isinstance(op, (ast.In, ast.NotIn)):
            item = tensor_of(left)
            if item is not None and isinstance(right, Seq) and isinstance(right.elem, Py):
                if right.elem.type in ("int", "float", "bool"):
                    return Tensor("bool", item.origin, item.sure, item.array, 0)
            if isinstance(left, Py) and left.const is not NO_CONST and isinstance(right, Seq) and right.elts:
                consts = [e.const if isinstance(e, Py) else NO_CONST for e in right.elts]
                if not any(c is NO_CONST for c in consts):
                    try:
                        return Py("bool", (left.const in consts) is isinstance(op, ast.In))
                    except TypeError:
                        return BOOL
            if isinstance(left, Py) and isinstance(left.const, str) and isinstance(right, Dict):
                if left.const in right.items and right.elem is UNKNOWN:
                    return Py("bool", isinstance(op, ast.In))
            return BOOL
        a, b = tensor_of(left), tensor_of(right)
        if a is not None or b is not None:
            first = a or b
            assert first is not None
            other = right if a is not None else left
            if is_none(other) is True or (isinstance(other, Py) and other.type in ("str", "dtype")):
                return BOOL
            if isinstance(other, Seq) and not first.array:
                return BOOL
            sure = (a is None or a.sure) and (b is None or b.sure)
            result: Value = Tensor("bool", first.origin, sure, first.array, broadcast(a, b))
            value = left if a is not None else right
            if isinstance(value, Union) and (a is None or b is None):
                if any(isinstance(o, Py) and o.type != "none" for o in value.options):
                    result = join(result, BOOL)
            return result
        if isinstance(left, Py) and isinstance(right, Py):
            if left.const is not NO_CONST and right.const is not NO_CONST and type(op) in _COMPARE:
                try:
                    return Py("bool", bool(_COMPARE[type(op)](left.const, right.const)))
                except TypeError:
                    return BOOL
            return BOOL
        if left is UNKNOWN or right is UNKNOWN:
            if isinstance(op, (ast.Eq, ast.NotEq)) and any(
                isinstance(v, Py) and v.type == "str" for v in (left, right)
            ):
                return BOOL
            return UNKNOWN
        return BOOL

    def e_boolop(self, node: ast.BoolOp, env: Env, frame: Frame) -> Value:
        """`a and b`: all but the last are tested; the value is any of them."""
        inner = dict(env)
        is_and = isinstance(node.op, ast.And)
        values: list[Value] = []
        for part in node.values[:-1]:
            value, known = self.tested(part, inner, frame)
            if known is (not is_and):
                values.append(value)
                return join_all(values)
            if known is None:
                if is_and:
                    values += [BOOL if isinstance(value, Py) and value.type == "bool" else value]
                else:
                    values.append(value)
            self.narrow(part, inner, is_and, frame)
        values.append(self.eval(node.values[-1], inner, frame))
        return join_all(values)

    def e_ifexp(self, node: ast.IfExp, env: Env, frame: Frame) -> Value:
        known = self.test(node.test, env, frame)
        values: list[Value] = []
        for outcome, branch in ((True, node.body), (False, node.orelse)):
            if known is not (not outcome):
                inner = dict(env)
                # Which arm runs cannot be seen from outside the statement: in use the optional may never be given.
                doubt = outcome and (
                    self.unlikely(node.test, env, frame) or self.optional(node.test, env, frame)
                )
                self.narrow(node.test, inner, outcome, frame)
                self.doubt += doubt
                values.append(self.eval(branch, inner, frame))
                self.doubt -= doubt
        return join_all(values)

    def e_namedexpr(self, node: ast.NamedExpr, env: Env, frame: Frame) -> Value:
        value = self.eval(node.value, env, frame)
        env[node.target.id] = value
        return value

    # Truth

    def test(self, node: ast.expr, env: Env, frame: Frame) -> bool | None:
        """Evaluate as a condition: note tensors that are tested; the outcome where it is known."""
        return self.tested(node, env, frame)[1]

    def tested(self, node: ast.expr, env: Env, frame: Frame) -> tuple[Value, bool | None]:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.test(node.operand, env, frame)
            return (BOOL, None) if known is None else (Py("bool", not known), not known)
        if isinstance(node, ast.BoolOp):
            inner = dict(env)
            is_and = isinstance(node.op, ast.And)
            outcomes: list[bool | None] = []
            doubts = 0
            for part in node.values:
                known = self.test(part, inner, frame)
                outcomes.append(known)
                if known is (not is_and):
                    # `a and False`: false, whatever a was.
                    self.doubt -= doubts
                    return Py("bool", known), known
                if self.unlikely(part, inner, frame) if is_and else self.likely(part, inner, frame):
                    doubts, self.doubt = doubts + 1, self.doubt + 1
                self.narrow(part, inner, is_and, frame)
            self.doubt -= doubts
            for name, value in inner.items():
                if name not in env:
                    env[name] = value
            if all(o is is_and for o in outcomes):
                return Py("bool", is_and), is_and
            return BOOL, None
        value = self.eval(node, env, frame)
        tensor = tensor_of(value)
        if tensor is not None:
            if self.listens("test tensor", frame) and not self.tested_before(value, frame):
                self.note(node, "test tensor", frame, about=tensor)
                if frame.region and frame.inside is None:
                    resumed(env)
            return value, None
        return value, truth(value)

    def unlikely(self, test: ast.expr, env: Env, frame: Frame, least: int = OFTEN_OFF) -> bool:
        """Whether a condition holds only in special use: for float16 alone, or with a flag that the project
        leaves off (`least` of that kind). What runs under it is reported with low confidence."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.unlikely(part, env, frame, least) for part in test.values)
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and len(test.ops) == 1:
            right = test.comparators[0]
            return isinstance(right, ast.Attribute) and self.quietly(right, env, frame) is HALF
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and _is_zero(test):
            test = test.left
        if isinstance(test, (ast.Name, ast.Attribute)):
            value = self.quietly(test, env, frame)
            return isinstance(value, Py) and value.off >= least
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            # Whether something of no known kind is a text: models are not given texts.
            kind = self.quietly(test.args[-1], env, frame)
            return (
                self.models.plays(self.external_name(kind), "text")
                and self.quietly(test.args[0], env, frame) is UNKNOWN
            )
        return False

    def likely(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether a condition holds but in special use: what `or` has after it then seldom runs."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            if isinstance(test.ops[0], ast.Is):
                # `key is value or torch.equal(key, value)`: two names for what is one tensor in most calls.
                sides = [self.quietly(side, env, frame) for side in (test.left, test.comparators[0])]
                return all(side is UNKNOWN or tensor_of(side) is not None for side in sides)
            if isinstance(test.ops[0], (ast.Eq, ast.LtE)) and _is_zero(test):
                value = self.quietly(test.left, env, frame)
                return isinstance(value, Py) and bool(value.off)
        return False

    def optional(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether a condition asks that something is given which may be left out: `mask is not None`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.optional(part, env, frame) for part in test.values)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                return any(is_none(o) for o in options(self.quietly(test.left, env, frame)))
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            value = self.quietly(test.args[0], env, frame) if test.args else UNKNOWN
            return isinstance(value, Union) and value.declared
        return False

    def tested_before(self, value: Value, frame: Frame) -> bool:
        """Whether the same value was tested before in the same loop body: Dynamo has given up the function by
        then, and what mends the first test mends this one."""
        if frame.inside != "loop":
            return False
        tensors = [o for o in options(value) if isinstance(o, Tensor)]
        before = any(t is seen for t in tensors for seen in frame.tested)
        frame.tested += tensors
        return before

    # Subscripts

    def check_sizes(self, node: ast.expr, env: Env, frame: Frame) -> None:
        """Note slice bounds that are tensors."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        value = self.quietly(bound, env, frame)
                        tensor = tensor_of(value)
                        if tensor is not None and self.listens("size tensor", frame):
                            if any(isinstance(o, Py) and o.type in ("int", "float") for o in options(value)):
                                tensor = tensor.but(sure=False)  # a plain number on another path
                            self.note(bound, "size tensor", frame, about=tensor)

    def e_subscript(self, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        owner = self.eval(node.value, env, frame)
        index = self.eval(node.slice, env, frame)
        results = [self.item(o, index, node, env, frame) for o in options(owner) if is_none(o) is not True]
        result = join_all(results)
        if isinstance(owner, Union) and owner.declared and isinstance(result, Union):
            return Union(result.options, True)  # an element of one of several kinds, as the annotation says
        return result

    def item(self, owner: Value, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        if isinstance(owner, Tensor):
            return self.index_tensor(owner, index, node, env, frame)
        if isinstance(owner, Seq):
            if isinstance(index, Py):
                if index.type == "slice":
                    self.check_sizes(node.slice, env, frame)
                    return self._slice(owner, node.slice)
                if isinstance(index.const, int) and owner.elts is not None:
                    try:
                        return owner.elts[index.const]
                    except IndexError:
                        return UNKNOWN
                if isinstance(index.const, int) and owner.prefix and 0 <= index.const < len(owner.prefix):
                    return owner.prefix[index.const]
            tensor = tensor_of(index)
            if tensor is not None and self.listens("size tensor", frame):
                self.note(node.slice, "size tensor", frame, about=tensor)
            return mixed(owner.elem, owner.type == "args")
        if isinstance(owner, Dict):
            if isinstance(index, Py) and isinstance(index.const, str) and index.const in owner.items:
                return owner.items[index.const]
            everything = join_all([*owner.items.values(), owner.elem]) if owner.items else owner.elem
            return mixed(everything, owner.keywords)
        if isinstance(owner, Instance):
            return self.instance_item(owner, index, frame)
        if isinstance(owner, Py) and owner.type == "str":
            return STR
        if owner is UNKNOWN and self.listens("index mask", frame):
            # Only a tensor, or what holds tensors, can be read through a mask.
            for part in index.elts or () if isinstance(index, Seq) and index.type == "tuple" else (index,):
                if isinstance(part, Tensor) and part.dtype == "bool" and part.ndim != 0:
                    self.note(node, "index mask", frame, about=part)
        return UNKNOWN

    def _slice(self, owner: Seq, node: ast.expr) -> Value:
        if owner.elts is not None and isinstance(node, ast.Slice) and node.step is None:
            bounds: list[int | None] = []
            for part in (node.lower, node.upper):
                if part is None:
                    bounds.append(None)
                    continue
                sign = 1
                if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
                    sign, part = -1, part.operand
                if not (isinstance(part, ast.Constant) and isinstance(part.value, int)):
                    return Seq(None, owner.elem, owner.type)
                bounds.append(sign * part.value)
            return Seq(owner.elts[slice(*bounds)], None, owner.type)
        return Seq(None, owner.elem, owner.type)

    def index_tensor(self, owner: Tensor, index: Value, node: ast.Subscript, env: Env, frame: Frame) -> Value:
        if isinstance(index, Py) and index.type == "str":
            return UNKNOWN
        parts = (
            index.elts
            if isinstance(index, Seq) and index.elts is not None and index.type == "tuple"
            else [index]
        )
        self.check_sizes(node.slice, env, frame)
        ndim = owner.ndim
        for part in parts:
            mask = tensor_of(part)
            if (
                isinstance(part, Seq)
                and part.type == "list"
                and part.elts
                and self.listens("index mask", frame)
            ):
                if all(isinstance(e, Py) and e.type == "bool" for e in part.elts):
                    self.note(node, "index mask", frame)
            if ndim is not None:
                if isinstance(part, Py):
                    ndim += {"int": -1, "none": 1, "slice": 0, "ellipsis": 0, "bool": 1}.get(part.type, -99)
                else:
                    ndim = ndim - 1 if mask is not None and mask.ndim == 0 else -99
            if self.is_number(mask) and self.listens("size tensor", frame):
                self.note(node, "size tensor", frame, about=mask)
            if mask is not None and mask.dtype == "bool" and isinstance(node.ctx, (ast.Load, ast.Store)):
                if self.listens("index mask", frame):
                    self.note(node, "index mask", frame, about=mask)
        return Tensor(
            owner.dtype,
            owner.origin,
            owner.sure,
            owner.array,
            ndim if ndim is not None and ndim >= 0 else None,
        )

    def is_number(self, index: Tensor | None) -> bool:
        """Whether an index is a computed tensor of no dimensions, which Dynamo has to read."""
        return index is not None and index.ndim == 0 and index.dtype != "bool" and not index.leaf

    # The rest

    def e_lambda(self, node: ast.Lambda, env: Env, frame: Frame) -> Value:
        return Func(node, frame.module, env, None, frame.cls)

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
        args: list[Value] = []
        spread = False
        for a in node.args:
            if isinstance(a, ast.Starred):
                inner = self.eval(a.value, env, frame)
                if isinstance(inner, Seq) and inner.elts is not None:
                    args += inner.elts
                else:
                    spread = True
                    args.append(element(inner))
            else:
                args.append(self.eval(a, env, frame))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value, env, frame)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Dict):
                kwargs.update(value.items)
                if value.elem is not UNKNOWN or not value.items:
                    kwargs["**"] = value.elem
            else:
                kwargs["**"] = UNKNOWN
        if isinstance(func, Ext) and func.name == SUPER:
            return self.super_call(args, frame)
        self.grown(node, env, frame)
        if frame.region:
            if isinstance(func, Func):
                self.cached_call(func, node, frame)
            return self.apply(func, args, kwargs, node, frame, spread)
        result = self.apply(func, args, kwargs, node, frame, spread)
        self.outside_call(node, func, args, result, env, frame)
        return result

    _expressions: dict[type[ast.AST], Any] = {
        ast.Name: e_name,
        ast.Attribute: e_attribute,
        ast.Constant: e_constant,
        ast.Call: e_call,
        ast.BinOp: e_binop,
        ast.Compare: e_compare,
        ast.Subscript: e_subscript,
        ast.Tuple: e_tuple,
        ast.List: e_list,
        ast.Set: e_set,
        ast.Dict: e_dict,
        ast.BoolOp: e_boolop,
        ast.UnaryOp: e_unaryop,
        ast.IfExp: e_ifexp,
        ast.JoinedStr: e_joinedstr,
        ast.ListComp: e_listcomp,
        ast.SetComp: e_setcomp,
        ast.GeneratorExp: e_generator,
        ast.DictComp: e_dictcomp,
        ast.Lambda: e_lambda,
        ast.NamedExpr: e_namedexpr,
        ast.Starred: e_starred,
        ast.Slice: e_slice,
        ast.Yield: e_yield,
        ast.YieldFrom: e_yieldfrom,
        ast.Await: e_await,
    }


__all__ = ["Expressions", "Partial", "dotted"]


def _is_zero(test: ast.Compare) -> bool:
    """Whether something is compared with the number 0 alone."""
    right = test.comparators[0]
    return len(test.ops) == 1 and isinstance(right, ast.Constant) and right.value in (0, 0.0)
