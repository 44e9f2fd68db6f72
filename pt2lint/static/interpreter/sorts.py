"""Which sort of thing a test asks for that reading cannot decide: a dtype, a mode, an option, an argument."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.defaults import Defaults
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guard_syntax import (
    MAX_PASSED,
    OPPOSITE,
    asked_for,
    asked_of,
    asks_whether_empty,
    counts,
    is_by_default,
    is_empty,
    is_filled,
    is_of_length,
    is_of_other_number,
    is_of_size,
    is_zero,
    looked_up,
    measures,
    returned_by,
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
    OFF_GPU,
    TYPE,
)
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import (
    is_name,
    is_own,
    made_once,
    parameters_in,
    parts,
    says_none,
    unit_of,
    walk,
)
from pt2lint.static.values import (
    NO_CONST,
    OFTEN_OFF,
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
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


LONGEST_ANSWER = 8  # statements of a function that only says yes or no
OF_DTYPE = ("itemsize", "bits", "max", "min", "eps", "tiny")
SAYS_DTYPE = ("type", "element_size")
IS_ONE = (ast.Eq, ast.Is, ast.In)
NO_GPU = ("cpu", "mps")  # where tensors may be besides


class Sorts:
    """Tells them apart; each is one of the numbers in guards.py."""

    def __init__(self, at: Context, defaults: Defaults) -> None:
        self.at, self.defaults = at, defaults
        self._answers: dict[ast.FunctionDef, int | None] = {}

    def of(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> int | None:
        """What a test asks about, None where that is nothing that a user sets or gives."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.of(test.operand, not outcome, env, frame)
        if isinstance(test, ast.NamedExpr):
            return None
        value = self.at.expressions.again(test, env, frame)
        if isinstance(value, Py) and value.const in (True, False) and value.type == "bool":
            return None
        if self._is_left_empty(test, outcome):
            return EMPTY
        if self._is_found_empty(test, outcome, env, frame):
            return FLAG
        if isinstance(test, (ast.Compare, ast.Call)) and outcome and isinstance(value, Py) and value.off:
            return OFF
        if isinstance(test, ast.Compare):
            return self.compared(test, outcome, env, frame)
        if isinstance(test, ast.Call):
            return self._asked(test, outcome, env, frame)
        if isinstance(test, (ast.Name, ast.Attribute)) and tensor_of(value) is None:
            if isinstance(test, ast.Attribute) and test.attr in self.at.models.last_words("mode"):
                return MODE
            if not outcome and self._asks_for_gpu(test, env, frame):
                return OFF_GPU
            if outcome and isinstance(value, Py) and value.off:
                if value.off != OFTEN_OFF or not self.defaults.made_on(test, frame):
                    return OFF
            if outcome and self.defaults.starts_empty(test, value, frame):
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
            if sort is None and isinstance(test, ast.Attribute):
                sort = FLAG if test.attr in self.at.models.last_words("wants a gradient") else None
            if isinstance(value, Py) and value.type == "int":  # a size, which nobody switches on
                return None
            return FLAG if sort is None and value is UNKNOWN and self._is_answer(test) else sort
        return None

    def compared(self, test: ast.Compare, outcome: bool, env: Env, frame: Frame) -> int | None:
        """The same of a comparison."""
        if len(test.ops) > 1:
            return None
        left, right = test.left, test.comparators[0]
        none = says_none(right)
        left = asked_for(left) if none else left
        if within := asked_of(test) is right:
            left, right = right, left
        value, other = (self.at.expressions.again(side, env, frame) for side in (left, right))
        if within and not all(
            o is UNKNOWN or (isinstance(o, Py) and o.type in ("str", "none")) for o in options(value)
        ):
            return None  # a table, which the code may fill itself
        if self._compares_dtypes((left, value), (right, other), env, frame):
            return DTYPE
        sort = self._compared_to_default(test, outcome, left, value, env, frame)
        if sort is not None:
            return sort
        if isinstance(left, ast.Name) and is_of_other_number(
            test, outcome, self.at.functions.binding(left.id)
        ):
            return CHOSEN
        listed = is_of_length(test, outcome)
        if listed in frame.parameters and tensor_of(env.get(listed, UNKNOWN)) is None:
            return ARGUMENT
        if is_of_size(test, outcome, frame.block, self.at.functions.running()):
            return ARGUMENT
        if (form := measures(left)) is not None and isinstance(right, ast.Constant):
            # That they are not so many says little, and `elif` again what the next test asks.
            same = isinstance(test.ops[0], ast.Eq if outcome else ast.NotEq)
            return ARGUMENT if same and (counts(left) or self._given(form, frame) == ARGUMENT) else None
        if isinstance(left, ast.Call) and len(left.args) == 1 and type(test.ops[0]) in OPPOSITE:
            callee = self.at.names.external_name(self.at.expressions.again(left.func, env, frame))
            if isinstance(test.ops[0], IS_ONE) is outcome and self.at.models.plays(callee, "tells the type"):
                sort = self._given(left.args[0], frame)
                return TYPE if sort == ARGUMENT else ARGUMENT if sort is not None else None
        one_of = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        told = all(
            isinstance(one, ast.Constant) and (one.value is None or isinstance(one.value, (bool, str)))
            for one in one_of
        )
        told = told or (isinstance(right, ast.Attribute) and self._is_member(right, env, frame))
        number = isinstance(right, ast.Constant) and type(right.value) is int
        if not (told or number) or type(test.ops[0]) not in OPPOSITE:
            return None
        sort = self._given(left, frame)
        if sort is None and told and self._is_own_option(left, frame):
            sort = FLAG
        equal = isinstance(test.ops[0], IS_ONE) is outcome
        if equal and self._is_device(left, env, frame):
            if all(isinstance(one, ast.Constant) and one.value in NO_GPU for one in one_of):
                return OFF_GPU
            if sort is None:
                return FLAG
        if number:  # which one it is by default was asked above
            return sort if equal and tensor_of(value) is None else None
        if sort is None and equal and UNKNOWN in options(value) and self._is_looked_up(left, right):
            return CHOSEN
        if sort is not None and equal is not none and not self._is_so_by_default(test, outcome, frame):
            # Whether the project gives an option that is None by default was asked above.
            return GIVEN if sort == ARGUMENT else sort if none else CHOSEN
        return sort

    def _asks_for_gpu(self, test: ast.expr, env: Env, frame: Frame) -> bool:
        """`x.is_cuda`, of a tensor."""
        return (
            isinstance(test, ast.Attribute)
            and test.attr in self.at.models.last_words("asks for a GPU")
            and tensor_of(self.at.expressions.again(test.value, env, frame)) is not None
        )

    def _is_answer(self, name: ast.expr) -> bool:
        """Whether the function sets the name once, to what a call of which nothing is known returns, or to a part of
        that: `rows, asked = Batch.made(options)`."""
        running = self.at.functions.binding(name.id) if isinstance(name, ast.Name) else None
        if not isinstance(name, ast.Name) or running is None:
            return False
        bound = [part for part in parts(running, ast.Name) if part.id == name.id]
        stores = [part for part in bound if isinstance(part.ctx, ast.Store)]
        if len(stores) != 1 or stores[0].lineno >= name.lineno:
            return False
        return any(
            isinstance(made.value, ast.Call) and stores[0] in walk(made.targets[0])
            for made in parts(running, ast.Assign)
        )

    def _is_device(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """`x.device.type`, of a tensor that the function made."""
        if not isinstance(place, ast.Attribute) or place.attr != "type":
            return False
        device = place.value
        return (
            isinstance(device, ast.Attribute)
            and device.attr == "device"
            and tensor_of(self.at.expressions.again(device.value, env, frame)) is not None
        )

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
        if type(test.ops[0]) not in OPPOSITE and self.defaults.is_so(test, not outcome, frame):
            return CHOSEN  # a number that is not the one by default
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

    def _is_found_empty(self, test: ast.expr, outcome: bool, env: Env, frame: Frame) -> bool:
        """Whether what a call gives has to be empty, a list that the called function returns on one of several ways."""
        asked, running = asks_whether_empty(test), self.at.functions.running()
        if asked is None or asked[1] is not outcome or running is None:
            return False
        made = made_once(running).get(asked[0])
        if not isinstance(made, ast.Call) or made.lineno >= test.lineno:
            return False
        callee = self.at.expressions.again(made.func, env, frame)
        if not isinstance(callee, Func) or not isinstance(callee.node, ast.FunctionDef):
            return False
        given = [value for value, _ in returned_by(callee.node.body) if value is not None]
        return 0 < sum(map(is_empty, given)) < len(given)

    def _is_looked_up(self, name: ast.expr, asked: ast.expr) -> bool:
        """Whether a text is asked of a name that a call gave before: `kind = self.value("kind", options)`."""
        if not isinstance(name, ast.Name):
            return False
        texts = asked.elts if isinstance(asked, (ast.Tuple, ast.List, ast.Set)) else [asked]
        if not all(isinstance(text, ast.Constant) and isinstance(text.value, str) for text in texts):
            return False
        running = self.at.functions.binding(name.id)
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
        if self.at.models.plays(callee, "asks for a CPU") and outcome:
            return OFF_GPU
        if self.at.models.plays(callee, "mode"):
            return MODE
        if self.at.models.plays(callee, "asks for gradients"):
            return MODE
        if self.at.models.plays(callee, "asks for a GPU"):
            return None if outcome else OFF_GPU  # most models run there
        if isinstance(test.func, ast.Attribute) and self._tells_dtype(test.func.value, env, frame):
            return DTYPE
        if (sort := self._passes_on(test, env, frame)) is not None:
            return sort
        if self.at.models.plays(callee, "asks for a type") and test.args:
            if (sort := self._given(test.args[0], frame)) != ARGUMENT:
                # A part of the object may be of one class or another, and one of several things that a loop goes over;
                # what else is asked says more.
                one = sort is not None or self._is_one_of_several(test.args[0], env, frame)
                if not one and self._is_of_declared(test.args[0], env, frame):
                    return TYPE
                if outcome:
                    return ARGUMENT if one else None
                # As a method may exchange the part: `self.part = Fast()`, where there was another one.
                either = sort == FLAG and isinstance(
                    self.at.expressions.again(test.args[0], env, frame), Union
                )
                return ARGUMENT if either else None
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
            if (isinstance(part, ast.Compare) and self.compared(part, True, {}, home) == DTYPE)
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

    def _is_of_declared(self, place: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it was computed of an argument that may be a number or a tensor: `n * 2`, of `n: int | Tensor`."""
        value = self.at.expressions.again(place, env, frame)
        return isinstance(value, Union) and any(isinstance(o, Tensor) for o in value.options)

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
        if callee is UNKNOWN and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
            return not node.args and not node.keywords  # of a group: that of a tensor is no number
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
        calls = (value for value in module.put_later(name) if isinstance(value, ast.Call))
        kept = (self.at.expressions.quietly(call.func, {}, home) for call in calls)
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
            given = self._is_given(first, frame) and not (
                isinstance(place, ast.Name) and self._is_set_anew(place)
            )
            return ARGUMENT if given or self._is_given_item(first, frame) else None
        return FLAG if self._is_given(first, frame) else None

    def _is_set_anew(self, name: ast.Name) -> bool:
        """Whether the function sets an argument to something else before, whatever it was given."""
        running = self.at.functions.running()
        sets = [value for value, branch in set_by(running, name.id) if branch is None] if running else []
        made = sets[0] if len(sets) == 1 else None
        if made is None or made.lineno >= name.lineno:
            return False
        return not any(isinstance(part, ast.Name) and part.id == name.id for part in walk(made))

    def _is_given(self, name: str, frame: Frame) -> bool:
        """Whether the function that runs is given it, or one around it."""
        if name in frame.parameters:
            return True
        binding = self.at.functions.binding(name)
        around = binding is not None and binding is not self.at.functions.running()
        return (
            around and binding is not None and any(each.arg == name for each in parameters_in(binding.args))
        )

    def _is_own_option(self, place: ast.expr, frame: Frame) -> bool:
        """Whether a name holds an attribute of the object, or what that holds for a key, or one of two of these:
        `kind = self.kinds[name] if name else self.kind`."""
        running = self.at.functions.binding(place.id) if isinstance(place, ast.Name) else None
        if not isinstance(place, ast.Name) or running is None:
            return False
        made = made_once(running).get(place.id)
        for one in (made.body, made.orelse) if isinstance(made, ast.IfExp) else (made,):
            while isinstance(one, (ast.Subscript, ast.Attribute)) and not is_own(one):
                one = one.value
            if not is_own(one):
                return False
        return True

    def _is_given_item(self, name: str, frame: Frame) -> bool:
        """Whether a name first holds what an argument has under a key, or None: `mask = inputs.get("mask")`."""
        running = self.at.functions.running()
        sets = [made for made, branch in set_by(running, name) if branch is None] if running else []
        made = sets[0] if sets else None
        return (
            isinstance(made, ast.Call)
            and isinstance(made.func, ast.Attribute)
            and made.func.attr == "get"
            and isinstance(made.func.value, ast.Name)
            and made.func.value.id in frame.parameters
            and all(map(says_none, made.args[1:]))
            and not made.keywords
        )


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
