"""What a parameter is where nobody says: a tensor, if the function uses it as only a tensor can be used."""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TYPE_CHECKING, Any, NamedTuple

from pt2lint.static.interpreter.frame import Frame, title
from pt2lint.static.interpreter.guard_syntax import asks_whether_none, set_in
from pt2lint.static.interpreter.syntax import compares_elements, dotted, parameters_of, source_of
from pt2lint.static.source.nodes import (
    FunctionNode,
    is_name,
    own_name,
    parameters_in,
    parts,
    says_text,
    unit_of,
    walk,
)
from pt2lint.static.values import (
    LEAF,
    UNKNOWN,
    Ext,
    Func,
    Instance,
    Partial,
    Seq,
    Tensor,
    Value,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


_OF_NO_LIST = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)

_SHAPES = frozenset((ast.Attribute, ast.Subscript, ast.BinOp))  # what `_told_by_shape` looks at


class Use(NamedTuple):
    """That a name is used as only a tensor can be, in which line, and whether as only a sparse one can be."""

    name: str
    line: int
    phrase: str
    sparse: bool = False


class _Locals(NamedTuple):
    """What is done with the names of a function, the lines in which they are bound, and those that are called,
    asked for their type, or whose functions are called."""

    uses: dict[str, list[Use]]
    bound: dict[str, list[int]]
    several: set[str]


class Usage:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.telling = at.models.last_words("tells a tensor")
        self._methods = at.models.last_words("tells a tensor where called")
        self._shared = at.models.last_words("tells a tensor of arguments alone")
        self._sized = at.models.last_words("takes sizes alone")
        self._keywords = at.models.last_words("tells a tensor as keyword")
        self._moves = at.models.last_words("converts")
        self._used: dict[Any, dict[str, Use]] = {}
        self._asked: dict[Any, set[str]] = {}
        self._counted: dict[Any, set[str]] = {}
        self._locals: dict[Any, _Locals] = {}

    def by_use(self, func: Func, parameter: ast.arg) -> Value:
        """A tensor, if the function uses the parameter, before binding it anew, as only a tensor can be."""
        use = self._uses_of(func).get(parameter.arg)
        if use is None:
            return Seq(None, None, "generator") if self._is_asked_for_next(func, parameter.arg) else UNKNOWN
        origin = (func.module.path, use.line, f"`{parameter.arg}` {use.phrase}")
        return Tensor(None, origin, leaf=LEAF, sparse=use.sparse)

    def of_local(self, target: ast.Name, frame: Frame) -> Value:
        """What a name is that the function that runs binds to what nobody knows: a tensor, if what is done with it,
        before it is bound anew, is done with tensors alone, not with modules or the like."""
        node = self.at.functions.innermost()
        assert node is not None
        known = self._locals.get(node)
        if known is None:
            known = self._locals[node] = self._locals_of(node)
        name, line = target.id, target.lineno
        if name in known.several:
            return UNKNOWN
        until = min((n for n in known.bound.get(name, ()) if n > line), default=None)
        for use in known.uses.get(name, ()):
            if line < use.line and (until is None or use.line <= until):
                return Tensor(
                    None, (frame.module.path, use.line, f"`{name}` {use.phrase}"), sparse=use.sparse
                )
        return UNKNOWN

    def _locals_of(self, node: FunctionNode | ast.Lambda) -> _Locals:
        found = _Locals({}, {}, set())
        called = {call.func for call in parts(node, ast.Call)}
        by_type = self.at.models.last_words("decides by type")
        for n in walk(node):
            if n.__class__ in _SHAPES:
                told = self._told_by_shape(n, called)
                method = n.attr if isinstance(n, ast.Attribute) else ""
                if told is not None and (
                    method not in self._shared or not isinstance(getattr(n, "value", None), ast.Name)
                ):
                    found.uses.setdefault(told.name, []).append(told)
            elif isinstance(n, ast.Name):
                if isinstance(n.ctx, ast.Store):
                    found.bound.setdefault(n.id, []).append(n.lineno)
            elif not isinstance(n, ast.Call):
                continue
            elif name := self._told_texts(n):
                found.several.add(name)
            elif (use := self._told_by_keyword(n)) is not None:
                found.uses.setdefault(use.name, []).append(use)
            elif isinstance(n.func, ast.Name):
                found.several.add(n.func.id)
                if n.func.id in by_type and n.args and isinstance(n.args[0], ast.Name):
                    found.several.add(n.args[0].id)
            elif name := self._namespace(n):
                found.several.add(name)
        return found

    def _namespace(self, call: ast.Call) -> str:
        """The name of which a function is called that tensors have as a method: `xp.reshape(x, (2, 3))`."""
        callee, given = call.func, call.args[1:]
        if (
            not given
            or not isinstance(given[0], (ast.Tuple, ast.List))
            or not isinstance(callee, ast.Attribute)
        ):
            return ""
        return callee.value.id if callee.attr in self._sized and isinstance(callee.value, ast.Name) else ""

    def _told_texts(self, call: ast.Call) -> str:
        """The name of which a method is called that is given a text first, as no tensor's is but `x.to("cuda")`:
        `logger.log("loss", loss)`."""
        callee, given = call.func, call.args[:1]
        if not isinstance(callee, ast.Attribute) or not isinstance(callee.value, ast.Name) or not given:
            return ""
        first = given[0].left if isinstance(given[0], ast.BinOp) else given[0]  # "loss/%s" % name
        text = isinstance(first, ast.JoinedStr) or says_text(first)
        return callee.value.id if text and callee.attr not in self._moves else ""

    def _told_by_shape(self, node: ast.AST, called: Set[ast.expr]) -> Use | None:
        """The name that an expression uses as only a tensor can be used, by its form; `called` is what the function
        calls."""
        if isinstance(node, ast.Attribute) and node.attr in self.telling:
            if node.attr in self._methods and node not in called:
                return None
            if isinstance(node.value, ast.Name):
                return Use(node.value.id, node.lineno, f"is used as a tensor: `.{node.attr}`")
            name = _computed_of(node.value)
            return Use(name, node.lineno, f"is computed with as a tensor: `.{node.attr}`") if name else None
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and (_is_of_arrays(node.slice) or _chooses(node))
        ):
            return Use(node.value.id, node.lineno, "is indexed as only a tensor can be")
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OF_NO_LIST):
            for side in (node.left, node.right):
                if isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice):
                    if isinstance(side.value, ast.Name):
                        return Use(side.value.id, node.lineno, "is computed with in slices, as no list is")
        return None

    def _told_by_keyword(self, call: ast.Call) -> Use | None:
        """The name of which a method is called with a keyword that only methods of tensors have, and a number:
        `x.split(sizes, dim=1)`."""
        callee = call.func
        if (
            not call.keywords
            or not isinstance(callee, ast.Attribute)
            or not isinstance(callee.value, ast.Name)
        ):
            return None
        word = next((k.arg for k in call.keywords if k.arg in self._keywords and _is_plain(k.value)), None)
        if word is None:
            return None
        return Use(callee.value.id, call.lineno, f"is used as a tensor: `.{callee.attr}(..., {word}=...)`")

    def _told_by_stand_in(self, node: Any, frame: Frame) -> Use | None:
        """The name that gets a tensor where it is None, and stays as it is otherwise: `if mask is None: mask =
        torch.ones(n)`, `mask if mask is not None else torch.ones(n)`."""
        asked = asks_whether_none(node.test)
        if asked is None or not isinstance(asked[0], ast.Name):
            return None
        name = asked[0].id
        without, given = (node.body, node.orelse) if asked[1] else (node.orelse, node.body)
        made: ast.expr | None = None
        if isinstance(node, ast.IfExp):
            made = without if is_name(given, name) else None
        elif not any(is_name(target, name) for target, _ in set_in(given)):
            made = next((value for target, value in set_in(without) if is_name(target, name)), None)
        if made is None or tensor_of(self.at.expressions.quietly(made, {}, frame)) is None:
            return None
        return Use(name, node.lineno, "is a tensor where it is left out")

    def is_counted(self, func: Func, name: str) -> bool:
        """Whether the function divides it by whole numbers, `size // heads`, and does nothing with it that is done
        with tensors alone: asks it for no attribute and no element, and hands it to nothing but what takes sizes:
        `x.view(length, size)`."""
        known = self._counted.get(func.node)
        if known is None:
            divided = [n.left for n in parts(func.node, ast.BinOp) if isinstance(n.op, ast.FloorDiv)]
            used = [n.value for n in parts(func.node, ast.Attribute)]
            used += [n.value for n in parts(func.node, ast.Subscript)]
            calls = [n for n in parts(func.node, ast.Call) if getattr(n.func, "attr", "") not in self._sized]
            used += [given for n in calls for given in n.args]
            names = {n.id for n in divided if isinstance(n, ast.Name)}
            known = self._counted[func.node] = names - {n.id for n in used if isinstance(n, ast.Name)}
        return name in known

    def is_loader(self, func: Func, name: str) -> bool:
        """Whether the function goes over it, asks how many rows it loads, `len(loader.dataset)`, and never binds it."""
        node, passing = func.node, self.at.models.last_words("passes items")
        asks = [call.args[0] for call in parts(node, ast.Call) if is_name(call.func, "len") and call.args]
        if not any(dotted(asked) == f"{name}.dataset" for asked in asks):
            return False
        if any(is_name(each, name) and isinstance(each.ctx, ast.Store) for each in parts(node, ast.Name)):
            return False
        return any(is_name(source_of(loop.iter, passing), name) for loop in parts(node, ast.For))

    def _is_asked_for_next(self, func: Func, name: str) -> bool:
        """`next(batches)`, of what the function does not bind anew: an iterator."""
        known = self._asked.get(func.node)
        if known is None:
            known = self._asked[func.node] = self._all_asked_for_next(func.node)
        return name in known

    def _all_asked_for_next(self, node: FunctionNode | ast.Lambda) -> set[str]:
        asks = self.at.models.last_words("asks for the next")
        asked = {
            call.args[0].id
            for call in parts(node, ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id in asks
            if call.args and isinstance(call.args[0], ast.Name)
        }
        return asked - {name.id for name in parts(node, ast.Name) if isinstance(name.ctx, ast.Store)}

    def _uses_of(self, func: Func) -> dict[str, Use]:
        node = func.node
        known = self._used.get(node)
        if known is not None:
            return known
        found: dict[str, Use] = {}
        self._used[node] = found
        assert not isinstance(node, ast.Lambda)
        parameters = parameters_in(node.args)
        names = {p.arg for p in parameters}
        rebound: dict[str, int] = {}
        candidates: list[Use] = []
        frame = Frame(func.module, unit_of(node), "", cls=func.defined_in, me=func.bound, closure=func.env)
        several = {p.arg for p in parameters if self.at.types.is_of_untraced(p.annotation, frame)}
        me = own_name(node) if func.defined_in is not None else ""
        by_type = self.at.models.last_words("decides by type")
        called = {call.func for call in parts(node, ast.Call)}

        def add(told: Use | None) -> None:
            if told is not None and told.name in names:
                candidates.append(told)

        for n in walk(node):
            if isinstance(n, ast.Name):
                if n.id in names and isinstance(n.ctx, ast.Store):
                    end = n.lineno
                    rebound[n.id] = min(rebound.get(n.id, end), end)
            elif n.__class__ in _SHAPES:
                # What an object is made of may be a module, which has `to(device)` and the like too.
                if node.name != "__init__" or getattr(n, "attr", "") not in self._moves:
                    add(self._told_by_shape(n, called))
            elif isinstance(n, ast.If | ast.IfExp):
                add(self._told_by_stand_in(n, frame))
            elif isinstance(n, ast.Call):
                if isinstance(n.func, ast.Name) and n.func.id in names:
                    several.add(n.func.id)  # no tensor is called: `engine.backward(engine(x))`
                several.add(self._namespace(n))
                several.add(self._told_texts(n))
                add(self._told_by_keyword(n))
                given = [a.id for a in n.args if isinstance(a, ast.Name) and a.id in names]
                if given and isinstance(n.func, ast.Name) and n.func.id in by_type:
                    several.add(given[0])  # it takes values of several kinds, and tells them apart
                else:
                    candidates += self._given_to(n, names, me, func, frame)
        for use in sorted(candidates, key=lambda c: c.line):
            if use.name not in several and use.line <= rebound.get(use.name, use.line):
                before = found.setdefault(use.name, use)
                found[use.name] = before._replace(sparse=before.sparse or use.sparse)
        return found

    def _given_to(self, call: ast.Call, names: set[str], me: str, func: Func, frame: Frame) -> list[Use]:
        """What a call does with the parameters that it is given."""
        passed = [(i, a.id) for i, a in enumerate(call.args) if isinstance(a, ast.Name) and a.id in names]
        if passed and passed[0][0] == 0:
            phrase, sparse = self._takes_tensor(call.func, me, func, frame)
            if phrase:
                return [Use(passed[0][1], call.lineno, phrase, sparse)]
        named = [
            (k.arg, k.value.id)
            for k in call.keywords
            if k.arg and isinstance(k.value, ast.Name) and k.value.id in names
        ]
        inner, taken = self._function_behind(call.func, me, func, frame) if passed or named else (None, 0)
        if inner is None:
            return []
        later = [(i + taken, name) for i, name in passed]
        return self._passed_on(inner, [*later, *named], call.lineno)

    def callee(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> Func | None:
        """The function of the project that a call in a function's body runs, if that is plain to see."""
        value: Value = UNKNOWN
        if isinstance(callee, ast.Attribute) and is_name(callee.value, me):
            if isinstance(func.bound, Instance) and func.bound.cls is not None:
                value = self.at.objects.instance_attribute(func.bound, callee.attr, frame)
        elif isinstance(callee, ast.Name) and func.env is None:
            value = self.at.expressions.quietly(callee, {}, frame)
        if isinstance(value, Instance) and value.cls is not None and self.at.classes.is_module(value.cls):
            found = self.at.classes.find_method(value.cls, "forward")
            value = self.at.classes.method_value(*found, value) if found is not None else UNKNOWN
        return value if isinstance(value, Func) and not isinstance(value.node, ast.Lambda) else None

    def _function_behind(
        self, callee: ast.expr, me: str, func: Func, frame: Frame
    ) -> tuple[Func | None, int]:
        """The function of the project that a call runs, and how many of its parameters others fill: the context that
        `apply` hands to the `forward` of a differentiable function."""
        if (
            isinstance(callee, ast.Attribute)
            and callee.attr == "apply"
            and isinstance(callee.value, ast.Name)
        ):
            value = self.at.expressions.quietly(callee, {}, frame)
            if isinstance(value, Partial) and isinstance(value.func, Func):
                return value.func, len(value.args)
        return self.callee(callee, me, func, frame), 0

    def _passed_on(
        self, inner: Func, passed: list[tuple[int, str] | tuple[str, str]], line: int
    ) -> list[Use]:
        """Which of the passed names the callee uses as tensors."""
        uses = self._uses_of(inner)
        positional = parameters_of(inner)
        found = []
        for where, name in passed:
            parameter = (
                where if isinstance(where, str) else (positional[where] if where < len(positional) else "")
            )
            if parameter in uses:
                phrase = f"is given to `{title(inner)}`, where it {uses[parameter].phrase}"
                found.append(Use(name, line, phrase, uses[parameter].sparse))
        return found

    def _takes_tensor(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> tuple[str, bool]:
        """Why the first argument of this call is a tensor, or "", and whether it is a sparse one."""
        name = self._callee_of_tensors(callee, me, func, frame)
        return f"is given to `{name}`" * bool(name), self.at.models.plays(name, "takes a sparse tensor")

    def _callee_of_tensors(self, callee: ast.expr, me: str, func: Func, frame: Frame) -> str:
        """What is called, if its first argument is a tensor, or ""."""
        if isinstance(callee, ast.Attribute):
            head: ast.expr = callee.value
            while isinstance(head, ast.Attribute):
                head = head.value
            if not isinstance(head, ast.Name):
                return ""
            if head.id == me and isinstance(callee.value, ast.Name) and isinstance(func.bound, Instance):
                if func.bound.cls is None or not self.at.classes.is_module(func.bound.cls):
                    return ""
                value = self.at.objects.instance_attribute(func.bound, callee.attr, frame)
                if isinstance(value, Instance) and value.cls is None and value.external:
                    entry = self.at.models.of(value.external)
                    if entry.forward is not None and "passes on" not in entry.roles:
                        return value.external.rsplit(".", 1)[-1]
                if isinstance(value, Seq) and value.type == "Sequential" and value.elts:
                    return "Sequential"
                return ""
            if head.id not in func.module.imports:
                return ""
        elif not isinstance(callee, ast.Name) or callee.id not in func.module.imports:
            return ""
        value = self.at.expressions.quietly(callee, {}, frame)
        if isinstance(value, Ext) and self.at.models.takes_tensor_first(value.name):
            return value.name
        return ""


def _is_plain(value: ast.expr) -> bool:
    """Whether it is a number, or several."""
    if isinstance(value, ast.Tuple | ast.List):
        return bool(value.elts) and all(map(_is_plain, value.elts))
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    return isinstance(value, ast.Constant) and isinstance(value.value, int)


def _computed_of(node: ast.expr) -> str:
    """The name of which, with constants alone, something is computed: `(lengths > 0)`; "" if that is not all."""
    if not isinstance(node, ast.Compare | ast.BinOp | ast.UnaryOp):
        return ""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    plain = (
        ast.Compare,
        ast.BinOp,
        ast.UnaryOp,
        ast.Name,
        ast.Constant,
        ast.operator,
        ast.unaryop,
        ast.cmpop,
    )
    one = len(names) == 1 and all(isinstance(part, (*plain, ast.expr_context)) for part in ast.walk(node))
    return names.pop() if one else ""


def _chooses(node: ast.Subscript) -> bool:
    """`x[y == 1]`, but for `table[table["split"] == 1]`: so rows of a table are chosen by a column."""
    if not compares_elements(node.slice):
        return False
    columns = [n.value for n in walk(node.slice) if isinstance(n, (ast.Subscript, ast.Attribute))]
    return not (isinstance(node.value, ast.Name) and any(is_name(n, node.value.id) for n in columns))


def _is_of_arrays(index: ast.expr) -> bool:
    """Whether only an array is indexed so: by several at once, of which one is a slice, None or `...`."""
    if not isinstance(index, ast.Tuple):
        return False
    return any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...))
        for part in index.elts
    )
