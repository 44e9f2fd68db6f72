"""What a name is: the module's own, another file's, or a library's."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.source.modules import Module
from pt2lint.static.source.nodes import unit_of
from pt2lint.static.source.project import Project
from pt2lint.static.values import (
    ALWAYS_OFF,
    LEAF,
    OFTEN_OFF,
    PYTHON,
    STR,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Py,
    Tensor,
    Value,
    Wrapped,
    join_all,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


BUILTINS = frozenset(dir(builtins))


class Names:
    def __init__(self, at: Context, project: Project) -> None:
        self.at, self.project = at, project
        self._qualified: dict[str, Value] = {}

    def module_value(self, module: Module, name: str) -> Value | None:
        """What a module's top-level name is, or None if it has no such name."""
        known = module.values.get(name)
        if known is not None:
            return known
        if name in module.lacks and name != "__name__":
            return None
        value = self._module_value(module, name)
        if value is not None:
            module.values[name] = value
        return value

    def _module_value(self, module: Module, name: str) -> Value | None:
        if self.at.models.own and f"{module.name}.{name}" in self.at.models.own:
            return Ext(f"{module.name}.{name}")  # what the user says of it counts, not what it does
        if name in module.classes:
            return Class(module.classes[name])
        if name in module.functions:
            node = module.functions[name]
            module.values[name] = Func(node, module)  # what a decorator that needs it sees
            made = self.at.calls.decorated(
                Func(node, module), node, {}, Frame(module, unit_of(node), f"`{name}`")
            )
            if name not in module.assigned:
                return made
            module.values[name] = made
            return self._assigned(module, name, made)
        imported = self.qualified(module.imports[name]) if name in module.imports else None
        if name in module.assigned:
            return self._assigned(module, name, imported)
        if imported is not None:
            return imported
        if name in module.lacks:
            return None
        module.lacks.add(name)  # until it is found, also for a module that takes its names from this one
        for star in module.star_imports:
            other = self.project.find_mentioning(star, name)
            if other is not None and other is not module:
                value = self.module_value(other, name)
                if value is not None:
                    module.lacks.discard(name)
                    return value
            elif self.at.models.form(f"{star}.{name}")[0]:  # `from typing import *`
                module.lacks.discard(name)
                return Ext(f"{star}.{name}")
        return STR if name == "__name__" else None

    def _assigned(self, module: Module, name: str, imported: Value | None) -> Value:
        """What the assignments of a name make of it, each after those above it; `imported` is what an import of the
        same name brings, as in `try: from fast import f` with `f = None` where that fails."""
        values = [] if imported is None else [imported]
        frame = Frame(module, (1, 1), "the module")
        self.at.notebook.quiet += 1
        try:
            module.values[name] = join_all(values)  # what a test of the name itself sees
            for expression in self._run(module, module.assigned[name], frame):
                module.values[name] = join_all(values)  # what a name made of itself sees
                value = self.at.expressions.eval(expression, {}, frame)
                if isinstance(value, Wrapped) and _wraps_its_own(expression, name, module):
                    values = []
                values.append(value)
            if module.says(f"global {name}"):
                values += self._set_later(module, name, frame)
        finally:
            self.at.notebook.quiet -= 1
        asks = [value for value in values if self.at.functions.answers_whether_compiled(value)]
        if asks and all(value in asks or _says_no(value) for value in values):
            return asks[0]  # `except AttributeError: is_compiling = lambda: False`, for a torch that has none
        [first, *more] = values
        if more or name == "TYPE_CHECKING":
            return join_all(map(_changing, values)) if more else first
        # A flag of the module may be changed by anyone: only its type is known, and that it is off as the
        # code stands. Strings and tables stay.
        if isinstance(first, Py) and first.const is False:
            if not module.says(f"global {name}"):
                return Py("bool", off=ALWAYS_OFF)
            if _are_settings(module.put_later(name)):
                return Py("bool", off=OFTEN_OFF)
        return _changing(first)

    def _run(self, module: Module, bound: list[ast.expr], frame: Frame) -> list[ast.expr]:
        """Those that are run of what is assigned to a name, where an `if` around them is decided: `if
        version.parse(torch.__version__) >= version.parse("2.2"):`, and in its `else` another one."""
        for fork in module.forks if len(bound) > 1 else ():
            within = [one for one in bound if fork.lineno <= one.lineno <= (fork.end_lineno or 0)]
            met = self.at.conditions.test(fork.test, {}, frame) if within else None
            if met is not None:
                begins = fork.orelse[0].lineno
                bound = [one for one in bound if one not in within or (one.lineno < begins) is met]
        return bound

    def _set_later(self, module: Module, name: str, frame: Frame) -> list[Value]:
        """The objects of the project that functions put into a global: `global backend; backend = Backend()`."""
        calls = (value for value in module.put_later(name) if isinstance(value, ast.Call))
        values = (self.at.expressions.eval(call, {}, frame) for call in calls)
        return [value for value in values if isinstance(value, Instance) and value.cls is not None]

    def global_name(self, module: Any, name: str) -> Value:
        value = self.module_value(module, name)
        if value is not None:
            return value
        return Ext(PYTHON + name) if name in BUILTINS else UNKNOWN

    def qualified(self, name: str) -> Value:
        """The value of a dotted name: through the project's own files, else external."""
        known = self._qualified.get(name)
        if known is None:
            self._qualified[name] = Ext(name)
            known = self._qualified[name] = self._find_qualified(name)
        return known

    def _find_qualified(self, name: str) -> Value:
        if name in self.at.models.own or not self.project.is_first_party(name):
            return self.at.models.value(name)
        if self.project.is_extension(name):
            return Ext(name)
        if self.project.find(name) is not None:
            return Ext(name)
        head, _, last = name.rpartition(".")
        module = self.project.find(head) if head else None
        if module is not None:
            value = self.module_value(module, last)
            return value if value is not None else UNKNOWN
        # A folder without a module of that name may be called like a library: `tests/tilelang`.
        return self.at.models.value(name) if self.at.models.library_of(name).name else UNKNOWN

    def external_name(self, value: Value) -> str | None:
        """The qualified name of the external type or object that a value is."""
        if isinstance(value, Ext):
            return value.name
        return value.external if isinstance(value, Instance) else None

    def alias(self, name: str, module: Module) -> tuple[Module, list[ast.expr]] | None:
        """Where a name that stands for a type is defined, and as what: `Edges = Union[Tensor, Sparse]`. It is any of
        several under a condition (`if NEW: Mask = Union[Tensor, BlockMask]`, `else: Mask = Tensor`)."""
        home = self.assignments(name, module)
        shapes = (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)
        return home if home is not None and all(isinstance(one, shapes) for one in home[1]) else None

    def assignments(self, name: str, module: Module) -> tuple[Module, list[ast.expr]] | None:
        """Where a top-level name, a dotted one too, is assigned, and what: here, or where it is imported from."""
        for _ in range(4):
            assigned = module.assigned.get(name)
            if assigned:
                return module, assigned
            first, dot, rest = name.partition(".")
            head, _, name = f"{module.imports.get(first, '')}{dot}{rest}".rpartition(".")
            found = self.project.find(head) if head else None
            if found is None:
                return None
            module = found
        return None


def _says_no(value: Value) -> bool:
    """Whether it is a function of the project that returns False, whatever happens."""
    if not isinstance(value, Func):
        return False
    body = value.node.body
    answer = (
        body if isinstance(body, ast.expr) else getattr(body[-1], "value", None) if len(body) == 1 else None
    )
    return isinstance(answer, ast.Constant) and answer.value is False


def _are_settings(put: list[ast.expr]) -> bool:
    """Whether a global that is False at first is what a user asks for, `DEBUG = debug` or `DEBUG = os.environ["D"] ==
    "1"`, and no state of the program: `READY = True`."""
    asked = [value for value in put if not (isinstance(value, ast.Constant) and value.value is False)]
    return bool(asked) and all(isinstance(value, (ast.Name, ast.Compare)) for value in asked)


def _wraps_its_own(expression: ast.expr, name: str, module: Module) -> bool:
    """Whether the one statement that assigns the name, at the margin, puts what it was, wrapped, in its place: `f =
    disable(f)`."""
    own = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(expression))
    return own and len(module.assigned[name]) == 1 and module.says(f"\n{name} = ")


def _changing(value: Value) -> Value:
    """A number or flag of a module, which may be changed from elsewhere: its type alone is known. A tensor of a module
    is there before the graph is, which takes it as an input."""
    if isinstance(value, Tensor) and not value.array:
        return value.but(leaf=LEAF)
    if isinstance(value, Py) and value.type in ("bool", "int", "float"):
        return Py(value.type, off=value.off)
    return value
