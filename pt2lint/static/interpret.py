"""The abstract interpreter: starts at the compile roots of a file and follows what Dynamo would trace."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import reduce
from operator import or_
from typing import Any

from pt2lint.libraries import load
from pt2lint.libraries.model import Models
from pt2lint.op import Op
from pt2lint.static.interpreter.context import Context
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.guards import (
    INSISTS,
    INSPECTS,
    OPEN,
    PARTS,
    SELDOM,
    TESTED,
    Guard,
    Path,
    in_own_graph,
    is_open,
    is_optional,
    is_whole,
    rare,
    told,
)
from pt2lint.static.interpreter.notebook import Key, Notebook
from pt2lint.static.observers import EVERY
from pt2lint.static.source.bodies import compiled_in_place
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.named import definitions, inside
from pt2lint.static.source.nodes import (
    BLOCKS,
    SIMPLE,
    Unit,
    is_name,
    last_word,
    placed,
    unit_of,
    walk,
)
from pt2lint.static.source.project import Project
from pt2lint.static.uncalled import Uncalled
from pt2lint.static.values import (
    Class,
    Ext,
    Func,
    Instance,
    Partial,
    Value,
    Wrapped,
    options,
)

MOST_VARIANTS = 2  # of a class by the parts that it is given, beyond what is compiled anyway


class Interpreter:
    """`observers` are classes that hear of events (pt2lint/static/observers); None: all of them.

    `traced` are the operations that some rule listens to in code that Dynamo traces, `anywhere` those that are heard
    of in all code; nothing else is written down.
    """

    def __init__(
        self,
        project: Project,
        traced: frozenset[str] = frozenset(),
        anywhere: frozenset[str] = frozenset(),
        models: Models | None = None,
        observers: Sequence[Callable[[Context], Any]] | None = None,
    ) -> None:
        self.at = Context(project, models or load(), Notebook(traced, anywhere))
        self.observers = [make(self.at) for make in (EVERY if observers is None else observers)]
        self.at.events.connect(self.observers)
        self._homes: dict[str, Module | None] = {}
        self._class_statements: dict[Module, list[ast.ClassDef]] = {}
        self._compilers: dict[ast.AST, bool] = {}
        self._compiled_names: dict[ClassInfo, set[str]] = {}
        self.uncalled = Uncalled(self)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))

    def run(
        self, module: Module, roots: str = "modules", names: Sequence[str] = (), unsure: bool = True
    ) -> None:
        """Interpret one linted file: its top level and functions, then everything in it that is compiled.

        `names` are callables that count as compiled whatever the code says. `unsure`: what only shows when a module is
        called by itself that others call is wanted too, with low confidence.
        """
        module.linted = True
        self.at.start_anew()
        self.at.calls.roots.named = names
        self.at.classes.are_compiled = roots != "explicit"
        # A module that another one calls is judged by how it is called; what only a direct call of it would show
        # is less certain. The ones that call make the ones they call, or else stand after them.
        for cls in _makers_first(self.classes_of(module)[::-1]):
            if roots != "explicit" and self.at.classes.is_module(cls):
                self.run_module(cls, unsure)
            self.run_compiled_methods(cls)
            self.run_compiled_by_base(cls)
        for name, node in module.functions.items():
            value = self.at.names.module_value(module, name)
            if isinstance(value, Wrapped) and value.how == "compiled":
                self.at.calls.roots.root(value, None)
            elif node in self.at.calls.roots.by_decorator:
                self.at.calls.roots.root(Func(node, module), None)
            elif roots == "tensors" and isinstance(value, Func) and self.uncalled.takes_tensors(value):
                self.at.calls.roots.root(value, None)
        for name in names:
            self.run_named(module, inside(name, module.name, module.path) or [])
        if (
            self.mentions_compiling(module)
            or self.brings_compiling(module)
            or (roots == "modules" and self.trains(module))
            or any(module.says(f"{name.rpartition('.')[2].rpartition(':')[2]}(") for name in names)
        ):
            self.run_outside(module)
        self.run_compiled_within(module)
        self.run_callers(module)
        for hear in self.at.events.read_through:
            hear(module, self.classes_of(module))

    def trains(self, module: Module) -> bool:
        """Whether the file computes gradients itself: who compiles the modules that it calls compiles them for that
        program, in whose loops is seen in which ways they are called."""
        return any(module.says(f".{word}(") for word in self.at.models.last_words("computes gradients"))

    def run_callers(self, module: Module) -> None:
        """Interpret what other files, which nobody lints, do with what they import of this one, where they compile."""
        project = self.at.names.project
        for path in project.callers:
            try:
                caller = project.load(path, whole=False)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # told where that file is linted
            taken = {n for n, target in caller.imports.items() if self._is_of(target, module)}
            if taken and (self.mentions_compiling(caller) or self.brings_compiling(caller)):
                self.run_outside(caller, taken)

    def _is_of(self, target: str, module: Module) -> bool:
        """Whether a dotted name, as a file imports it, is the module's, or of something in it."""
        last = module.name.rpartition(".")[2]
        for name in (target, target.rpartition(".")[0]):
            if name.rpartition(".")[2] == last:
                found = self.at.names.project.find(name)
                return found is not None and found.path == module.path
        return False

    def run_beside(self, module: Module) -> None:
        """Interpret a linted file that does not name torch: it may call what others compile, or be given it."""
        module.linted = True
        if self.brings_compiling(module):
            self.at.start_anew()
            self.run_outside(module)
        self.run_callers(module)

    def mentions_compiling(self, module: Module) -> bool:
        """Whether the file says anything of compiling."""
        text = module.asked("matches", self.at.models.mentions)
        return self.at.models.mentions_compiling(text, module.imports)

    def brings_compiling(self, module: Module) -> bool:
        """Whether a name that the file imports from the project's own files compiles: `fast = partial(torch.compile)`,
        a function that compiles what it is given, or a base class that keeps what it compiled."""
        for local, target in module.imports.items():
            home = self._home_that_compiles(target.rpartition(".")[0]) if "." in target else None
            if home is None:
                continue
            value = self.at.names.module_value(module, local)
            inner = value.func if isinstance(value, Partial) else value
            if isinstance(inner, Ext) and self.at.models.plays(inner.name, "compiles"):
                return True
            if isinstance(inner, Func) and self._calls_compiler(inner, home):
                return True
            if isinstance(inner, Class):
                below = any(inner.info in self.at.classes.bases(c)[0] for c in module.classes.values())
                if below and self._compiled_parts(self.at.objects.instance(inner.info)):
                    return True
        return False

    def _home_that_compiles(self, name: str) -> Module | None:
        """The project's module of that name, if it has to do with compiling. Many files import the same."""
        if name not in self._homes:
            models, project = self.at.models, self.at.names.project
            text = project.asked(name, "matches", models.mentions)
            home = project.find(name) if text is not None and models.may_mention_compiling(text) else None
            if home is not None and not models.mentions_compiling(text or "", home.imports):
                home = None
            self._homes[name] = home
        return self._homes[name]

    def _calls_compiler(self, func: Func, home: Module) -> bool:
        known = self._compilers.get(func.node)
        if known is None:
            if func.module.functions.get(name := getattr(func.node, "name", "")) is func.node:
                called = func.module.callees(name)
            else:
                called = [part.func for part in walk(func.node) if isinstance(part, ast.Call)]
            known = self._compilers[func.node] = any(self.is_compiler(callee, home) for callee in called)
        return known

    def is_compiler(self, callee: ast.expr, home: Module) -> bool:
        """Whether the name of what is called, in that file, is torch.compile's."""
        if not isinstance(callee, (ast.Name, ast.Attribute)):
            return False
        called = self.at.expressions.quietly(callee, {}, Frame(home, (1, 1), ""))
        return isinstance(called, Ext) and self.at.models.plays(called.name, "compiles")

    def run_named(self, module: Module, parts: list[str]) -> None:
        """A function, a method or a class of the module that the settings name as compiled."""
        if not parts:
            return
        first, *inner = parts
        values: list[Value] = []
        if first in module.classes:
            values += [Class(one) for one in self.at.classes.made_as(module.classes[first])]
        elif inner and first in module.functions:
            values.append(Func(module.functions[first], module))
        else:
            values += [v for v in [self.at.names.module_value(module, first)] if v is not None]
        for name in inner:
            values = [found for value in values for found in self.named_in(value, name)]
        for value in values:
            if isinstance(value, Class):
                value = self.at.functions.passed.as_made(value.info)
            self.at.calls.roots.root(value, parts[-1], by_settings=True)

    def named_in(self, value: Value, name: str) -> list[Value]:
        """A method of a class, or what a function defines under the name, with what that closes over."""
        while isinstance(value, Wrapped):
            value = value.inner
        if isinstance(value, Class):
            found = self.at.classes.find_method(value.info, name)
            made = self.at.functions.passed.as_made(value.info) if found is not None else None
            return [self.at.classes.method_value(*found, made)] if found is not None else []
        if not isinstance(value, Func) or isinstance(value.node, ast.Lambda):
            return []
        frame = Frame(value.module, unit_of(value.node), "the module")
        self.at.expressions.begin()
        args, kwargs = self.at.calls.roots.arguments(value, None, frame)
        self.at.notebook.quiet += 1
        self.at.calls.apply(value, args, kwargs, value.node, frame)
        self.at.notebook.quiet -= 1
        nested = self.at.statements.nested
        return [nested[node] for node in definitions(value.node.body, name) if node in nested]

    def classes_of(self, module: Module) -> list[ClassInfo]:
        """The classes of a file, those that functions and other classes define included."""
        known = {c.node: c for c in module.classes.values()}
        if module not in self._class_statements:
            self._class_statements[module] = [*class_statements(not_replaced(module.tree.body))]
        return [known.get(node) or ClassInfo(node, module, {}) for node in self._class_statements[module]]

    def run_module(self, cls: ClassInfo, unsure: bool) -> None:
        """`forward` of an nn.Module; an inherited one too where the class changes what it calls."""
        found = self.at.classes.find_method(cls, "forward")
        if found is None:
            return
        owner, node = found
        if owner is not cls and not any(m not in ("__init__", "forward") for m in cls.methods):
            return
        instance = self.at.objects.instance(cls)
        entry = self.at.classes.find_method(cls, "__call__")
        called = owner is cls and self.at.functions.reached.get(node, False)
        assumed = not called
        called = called or self.at.classes.is_replaced(owner, "forward")
        # In a package, what no model calls is used beside one; what a script holds is what it runs.
        beside = cls if cls.module.in_package else None
        duties = self.at.calls.roots.duties
        seldom: Path = (Guard("", SELDOM),) if self.at.classes.is_seldom_compiled(cls) else ()
        if duties.reads_module(node, owner.module):
            seldom += (Guard("", INSPECTS),)
        if beside is not None:
            seldom += (Guard("", OPEN), *duties.of_module(cls))
            if self._compiles_parts(cls):
                seldom += (Guard("", PARTS),)
        if self.at.classes.is_of_tests(cls.module):
            seldom += (Guard("", TESTED),)
        if called and not unsure:
            self.at.conditions.contexts.also_root(node)
        else:
            self.at.notebook.doubt += called
            self.at.calls.roots.root(
                self.at.classes.method_value(owner, node, instance),
                "forward",
                seldom,
                beside,
                assumed=assumed,
            )
            self.at.notebook.doubt -= called
        for made in self.made_of_parts(cls):
            self.at.calls.roots.root(
                self.at.classes.method_value(owner, node, made), "forward", seldom, beside
            )
        # Its own, or a base class's around its `forward`.
        if entry is None or cls not in (entry[0], owner):
            return
        if called and not unsure:
            self.at.conditions.contexts.also_root(entry[1])
            return
        self.at.notebook.doubt += called
        self.at.calls.roots.root(
            self.at.classes.method_value(*entry, instance), "__call__", seldom, beside, assumed=assumed
        )
        self.at.notebook.doubt -= called

    def made_of_parts(self, cls: ClassInfo) -> list[Instance]:
        """Objects of the class as its own file makes them, where `__init__` keeps a part that it is given, of which
        its definition says nothing: `Outer(Inner())`."""
        init = cls.methods.get("__init__")
        if init is None or cls.env or cls.module.classes.get(cls.name) is not cls:
            return []
        open_ = {a.arg for a in placed(init.args)[1:] if a.annotation is None}
        kept = {
            target.attr
            for part in walk(init)
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in open_
            for target in part.targets
            if isinstance(target, ast.Attribute)
        }
        runs = kept and any(
            isinstance(part, ast.Call) and _second(part.func) in kept
            for method in cls.methods.values()
            if method is not init
            for part in walk(method)
        )
        if not runs or not cls.module.says(f"{cls.name}("):
            return []
        self.at.functions.passed.read(cls.module)
        return self.at.objects.variants(cls)[:MOST_VARIANTS]

    def run_compiled_methods(self, cls: ClassInfo) -> None:
        for node in cls.methods.values():
            if node.decorator_list and node.name != "forward":
                me = self.at.objects.instance(cls)
                value = self.at.classes.method_value(cls, node, me)
                if isinstance(value, Wrapped) and value.how == "compiled":
                    self.at.calls.roots.root(value, node.name)
                elif node in self.at.calls.roots.by_decorator:
                    self.at.calls.roots.root(Func(node, cls.module, cls.env, me, cls), node.name)

    def run_compiled_by_base(self, cls: ClassInfo) -> None:
        """`self.step = torch.compile(self.step)` in a base class, whose `step` this class defines."""
        for base in self.at.classes.bases(cls)[0][1:]:
            for name in self._compiled_of_self(base):
                found = self.at.classes.find_method(cls, name)
                if found is not None and found[0] is cls:
                    me = self.at.objects.instance(cls)
                    self.at.calls.roots.root(self.at.classes.method_value(*found, me), name)

    def run_compiled_within(self, module: Module) -> None:
        """`@torch.compile` in a function that returns what it defines there: whoever gets it calls it."""
        for value in list(self.at.statements.nested.values()):
            inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
            if isinstance(inner, Func) and inner.module is module and inner.node not in self.at.functions.run:
                self.at.calls.roots.root(value, None)

    def _compiles_parts(self, cls: ClassInfo) -> bool:
        """Whether a module gives parts of it to torch.compile, `self.encoder = torch.compile(self.encoder)`, or what
        they hold, `self.blocks[i].attend = torch.compile(self.blocks[i].attend)`, or compiles them in place."""
        own = self.at.classes.bases(cls)[0]
        return any(self._compiled_of_self(each) - {n for one in own for n in one.methods} for each in own)

    def _compiled_of_self(self, cls: ClassInfo) -> set[str]:
        """The methods and parts of its own object that methods of a class give to torch.compile."""
        known = self._compiled_names.get(cls)
        if known is None:
            known = self._compiled_names[cls] = set()
            if self._home_that_compiles(cls.module.name) is not None:
                known |= {
                    given
                    for given, call in cls.gives()
                    if compiled_in_place(call) or self.is_compiler(call.func, cls.module)
                }
        return known

    def run_outside(self, module: Module, about: Set[str] | None = None) -> None:
        """The top level, statement by statement, then functions that nothing called; those alone that say one of the
        names of `about`, if it is given."""
        env: Env = {}
        for statement in module.tree.body:
            if isinstance(
                statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)
            ):
                continue
            frame = Frame(module, unit_of(statement), "the module")
            self.at.expressions.begin()
            self.at.statements.block([statement], env, frame)
        functions: list[Func] = [Func(n, module) for n in module.functions.values()]
        for cls in module.classes.values():
            me = self.at.objects.instance(cls)
            methods = {name: Func(n, module, cls.env, me, cls) for name, n in cls.methods.items()}
            functions += [*methods.values(), *self._inherited_with_compiled(cls, me)]
            for value in cls.attributes.values():
                if value is not None and any(isinstance(part, ast.Call) for part in walk(value)):
                    # `fast = torch.compile(slow)` in the class statement, where methods are names
                    self.at.expressions.begin()
                    frame = Frame(module, unit_of(cls.node), cls.name)
                    self.at.expressions.eval(value, {**(cls.env or {}), **methods}, frame)
        for func in functions:
            asked = about is None or any(isinstance(p, ast.Name) and p.id in about for p in walk(func.node))
            if asked and func.node not in self.at.functions.run:
                self._run_plainly(func)
        compiled = [cls for cls in self.at.calls.roots.classes_in_place() if module.says(cls.name)]
        for func in functions if compiled else ():
            if self._may_call(func, compiled):
                self._run_plainly(func)

    def _inherited_with_compiled(self, cls: ClassInfo, me: Instance) -> list[Func]:
        """What a class inherits from others of the project and what names a part that it gave to torch.compile: `save`
        of a base class, of `self.model = torch.compile(model)`."""
        parts = self._compiled_parts(me)
        return [
            Func(node, base.module, base.env, me, base)
            for base in (self.at.classes.bases(cls)[0][1:] if parts else ())
            for node in dict.fromkeys(node for name in parts for node in base.mentioning(name))
            if self.at.classes.find_method(cls, node.name) == (base, node) and node.name != "__init__"
        ]

    def _compiled_parts(self, me: Instance) -> list[str]:
        """The attributes that hold what torch.compile returned."""
        return [
            name
            for name, value in self.at.objects.state(me).items()
            if any(isinstance(o, Wrapped) and o.how == "compiled" for o in options(value))
        ]

    def _run_plainly(self, func: Func) -> None:
        """Interpret a function as code that nobody compiles."""
        frame = Frame(func.module, unit_of(func.node), "the module")
        self.at.expressions.begin()
        args, kwargs = self.at.functions.seeds(func), self.at.functions.named_seeds(func, frame)
        given = args[1:] if func.bound is not None and args else args
        self.at.calls.apply(func, given, kwargs, func.node, frame)

    def _may_call(self, func: Func, compiled: list[ClassInfo]) -> bool:
        """Whether a function is the `forward` of a module that holds others which something compiles in place, and is
        not compiled itself: it was run before that was known."""
        cls = func.defined_in
        return (
            cls is not None
            and cls.methods.get("forward") is func.node
            and cls not in compiled
            and self.at.classes.is_module(cls)
        )

    def finished_notes(self) -> dict[str, dict[Unit, list[Op]]]:
        """All operations, each with what the observers know of it by now."""
        finish = [o.finished for o in self.observers if hasattr(o, "finished")]

        held = self.at.conditions.contexts.settled()
        roots, lasted = self.at.conditions.contexts.callers(), self.at.notebook.lasted

        def finished(path: str, unit: Unit, key: Key, op: Op) -> Op | None:
            guards = self.at.notebook.holds(path, unit, key, held)
            if guards is None:
                return None
            if guards:
                own = in_own_graph(guards)
                op = op._replace(
                    when=told(guards),
                    rare=rare(guards),
                    open=is_open(guards),
                    optional=is_optional(guards),
                    whole=is_whole(guards),
                    within=own.text if own is not None else "",
                    insists=own is not None and own.sort == INSISTS,
                )
            contexts = self.at.notebook.contexts(path, unit, key)
            way = self.at.notebook.way(path, unit, key, held)
            if way is not None:
                after = max(0, lasted.get(way.after, 0) - way.before)
                op = op._replace(**way._replace(after=after)._asdict())
            op = op._replace(
                roots=reduce(or_, (roots.get(context, 0) for context in contexts), 0).bit_count(),
            )
            for more in finish:
                op = more(op, path)
            return op

        return {
            path: {
                unit: [
                    op
                    for key, noted_op in noted.items()
                    if (op := finished(path, unit, key, noted_op)) is not None
                ]
                for unit, noted in units.items()
            }
            for path, units in self.at.notebook.notes.items()
        }


def _makers_first(classes: list[ClassInfo]) -> list[ClassInfo]:
    """The classes of a file in this order, but each after those whose `__init__` makes objects of it."""
    names = {cls.name for cls in classes}
    makers: dict[str, list[ClassInfo]] = {}
    for cls in classes:
        made = (part for _, value in cls.layers() for part in walk(value) if isinstance(part, ast.Call))
        for name in {last_word(part.func) for part in made} & names:
            makers.setdefault(name, []).append(cls)
    found: dict[ClassInfo, None] = {}
    seen = set[ClassInfo]()

    def put(cls: ClassInfo) -> None:
        if cls not in seen:
            seen.add(cls)
            for maker in makers.get(cls.name, ()):
                put(maker)
            found[cls] = None

    for cls in classes:
        put(cls)
    return [*found]


def _second(callee: ast.expr) -> str:
    """The second of a dotted name: "inner" of `self.inner.compute`."""
    while isinstance(callee, ast.Attribute):
        if isinstance(callee.value, ast.Name):
            return callee.attr
        callee = callee.value
    return ""


def not_replaced(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements but for a class that is defined again before anything names it."""
    classes = Counter(each.name for each in body if isinstance(each, ast.ClassDef))
    return [
        statement
        for i, statement in enumerate(body)
        if not (
            isinstance(statement, ast.ClassDef)
            and classes[statement.name] > 1
            and _is_defined_again(statement.name, body[i + 1 :])
        )
    ]


def _is_defined_again(name: str, following: list[ast.stmt]) -> bool:
    for statement in following:
        again = isinstance(statement, ast.ClassDef) and statement.name == name
        named = statement.bases if isinstance(statement, ast.ClassDef) and again else [statement]
        if any(is_name(part, name) for each in named for part in ast.walk(each)):
            return False
        if again:
            return True
    return False


def class_statements(body: list[ast.stmt]) -> Iterator[ast.ClassDef]:
    """The classes that are defined anywhere below the statements, outer ones before those in them."""
    for statement in body:
        if statement.__class__ in SIMPLE:
            continue
        if isinstance(statement, ast.ClassDef):
            yield statement
        for part in BLOCKS:
            if inner := getattr(statement, part, None):
                yield from class_statements(inner)
