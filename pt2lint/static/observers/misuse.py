"""What is done with compiled modules, and with what compiled code has read, that does something else than it says."""

from __future__ import annotations

import ast

from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.observers.compiled import Compiled
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import FunctionNode, unit_of, walk
from pt2lint.static.values import (
    NAME,
    TRUE,
    UNKNOWN,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Value,
    Wrapped,
    join,
    options,
    tensor_of,
)

# What the environment (Env) of code outside of what is compiled remembers besides the values of names.
CALLED = "compiled()"  # what was compiled and called
IN_PLACE = ".compile()"  # after a name: its object was compiled in place
RAN = ".()"  # after a name: its object was compiled, and called in the line that is the value
MANY = 2  # calls of torch functions on tensors that make a method worth compiling
MAX_NESTING = 4  # modules in modules


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as text, or None if the expression is anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


class Misuse(Compiled):
    compiled_from: dict[int, tuple[Value, str]]

    def outside_call(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """A call in code that is not compiled."""
        place = dotted(node.func.value) or "" if isinstance(node.func, ast.Attribute) else ""
        for option in options(func):
            if isinstance(option, Wrapped) and option.how == "compiled":
                known = env.get(CALLED)
                env[CALLED] = option.inner if known is None else join(known, option.inner)
                original = self.compiled_from.get(id(option), (None, ""))[1]
                for name in filter(None, (dotted(node.func), original)):
                    env.setdefault(name + RAN, Py("int", node.lineno))
        if isinstance(func, Instance) and (dotted(node.func) or "") + IN_PLACE in env:
            env.setdefault(f"{dotted(node.func)}{RAN}", Py("int", node.lineno))
        if isinstance(func, Ext):
            roles = self.models.of(func.name).roles
            if "compiles" in roles and node.args:
                self.compiled_from[id(result)] = (result, dotted(node.args[0]) or "")
            elif "late hook" in roles:
                self.hooked(node, env, frame)
            elif "compiles in place" in roles and place:
                env[place + IN_PLACE] = TRUE
                self.forward_of_torch(node, func.receiver, frame)
            elif "state of a module" in roles and place:
                self.state_of_parts(node, place, env, frame)
            elif "copies" in roles and args:
                self.copied(node, args[0], env, frame)
        if place and place + IN_PLACE in env and isinstance(node.func, ast.Attribute):
            if node.func.attr == "forward" and self.listens("forward of compiled", frame):
                self.note(node, "forward of compiled", frame)

    def looked_up(self, node: ast.Compare, among: Value, frame: Frame) -> None:
        """A name from a module that torch.compile wrapped is looked up among names of the module as it is."""
        key = among.key if isinstance(among, Dict) and not among.items else None
        key = among.elem if isinstance(among, Seq) else key
        if key is NAME and "_orig_mod" not in frame.module.source and self.listens("foreign name", frame):
            self.note(node, "foreign name", frame)

    def hooked(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """A hook is added to a part of a module."""
        if not isinstance(node.func, ast.Attribute):
            return
        part = node.func.value
        while isinstance(part, (ast.Attribute, ast.Subscript)):
            part = part.value  # a hook of the compiled module itself runs
            ran = env.get(f"{dotted(part)}{RAN}")
            before = isinstance(ran, Py) and isinstance(ran.const, int) and ran.const < node.lineno
            if before and self.listens("late hook", frame):
                self.note(node, "late hook", frame)
                return

    def forward_of_torch(self, node: ast.Call, module: Value | None, frame: Frame) -> None:
        """`module.compile()` of a class of the project that inherits `forward` from torch.nn."""
        if not isinstance(module, Instance) or module.cls is None:
            return
        if any(self.find_method(module.cls, name) for name in ("forward", "__call__", "_call_impl")):
            return
        base = next((b for b in self.bases(module.cls)[1] if self.models.of(b).forward is not None), None)
        if base is not None and self.listens("compile torch forward", frame):
            self.note(node, "compile torch forward", frame, args={"self": base})

    def state_of_parts(self, node: ast.Call, place: str, env: Env, frame: Frame) -> None:
        """`model.state_dict()` after `model.layer = torch.compile(model.layer)`."""
        if not self.listens("state of compiled part", frame) or "_orig_mod" in frame.module.source:
            return
        for key, value in env.items():
            inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
            if key.startswith(place + ".") and (isinstance(inner, Instance) or _is_stack(inner)):
                words: dict[int | str, str] = {"part": "constant " + repr(key[len(place) + 1 :])}
                self.note(node, "state of compiled part", frame, args=words)
                return

    def copied(self, node: ast.Call, original: Value, env: Env, frame: Frame) -> None:
        """A module is copied: what of it was compiled is not copied along."""
        if not self.listens("copy of compiled", frame) or not isinstance(original, Instance):
            return
        place = ast.unparse(node.args[0]) if node.args else ""
        own = dict(self.state(original)) if original.cls is not None else {}
        own.update({k[len(place) + 1 :]: v for k, v in env.items() if k.startswith(place + ".")})
        for name, value in own.items():
            inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
            if isinstance(inner, Func) and inner.bound is original:
                self.note(node, "copy of compiled", frame, args={"bound": "constant " + repr(name)})
                return
        if place + IN_PLACE in env:
            self.note(node, "copy of compiled", frame, args={"in place": "constant " + repr(place)})

    def patched(self, cls: ClassInfo, target: ast.Attribute, env: Env, frame: Frame) -> None:
        """`Class.method = ...` after something was compiled and called that runs the method."""
        called = env.get(CALLED)
        if called is None or frame.region or not self.listens("set traced method", frame):
            return
        found = self.find_method(cls, target.attr)
        if found is None or found[1] not in self.reached:
            return
        for root in options(called):
            # A root's own `forward` is looked up at each call.
            own = isinstance(root, Instance) and root.cls is cls
            if (
                isinstance(root, Instance)
                and self.holds(root, cls)
                and not (own and target.attr == "forward")
            ):
                self.note(target, "set traced method", frame)
                return

    def holds(self, module: Value, cls: ClassInfo, depth: int = 0) -> bool:
        """Whether a module is of the class, or holds a module that is."""
        if depth > MAX_NESTING:
            return False
        if isinstance(module, (Seq, Dict)):
            inside: list[Value] = [*options(module.elem)]
            inside += module.elts or [] if isinstance(module, Seq) else module.items.values()
        elif isinstance(module, Wrapped):
            inside = [module.inner]
        elif isinstance(module, Instance) and module.cls is not None:
            if cls is module.cls or cls in self.bases(module.cls)[0]:
                return True
            if not self.is_module(module.cls):
                return False
            inside = [o for v in self.state(module).values() for o in options(v)]
        else:
            return False
        return any(self.holds(v, cls, depth + 1) for v in inside)

    # Exceptions

    catching: list[int]

    def catches_assertions(self, node: ast.Try, env: Env, frame: Frame) -> bool:
        """Whether a handler of the `try` names AssertionError, and none the RuntimeError that comes instead."""
        kinds: list[str] = []
        for handler in node.handlers:
            named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            for kind in named:
                value = self.quietly(kind, env, frame) if kind is not None else None
                kinds.append(value.name if isinstance(value, Ext) else "")
        return any(self.models.plays(k, "assertion error") for k in kinds) and not any(
            not k or self.models.plays(k, "runtime error") for k in kinds
        )

    def asserted(self, node: ast.Assert, value: Value, frame: Frame) -> None:
        """A plain `assert tensor` in compiled code, inside of a `try` that waits for an AssertionError."""
        tensor = tensor_of(value)
        if self.catching and tensor is not None and self.listens("assert tensor", frame):
            words: dict[int | str, str] = {"caught": str(self.catching[-1])}
            self.note(node.test, "assert tensor", frame, about=tensor, args=words)

    # Functions whose results are cached

    _draws: dict[FunctionNode, str | None]

    def cached_call(self, func: Func, node: ast.Call, frame: Frame) -> None:
        """A function under functools.lru_cache is called in compiled code, where its body is traced each time."""
        definition = func.node
        if isinstance(definition, ast.Lambda) or not definition.decorator_list:
            return
        if not self.listens("call cached", frame):
            return
        if definition not in self._draws:
            self._draws[definition] = self.draws(definition, func)
        drawn = self._draws[definition]
        if drawn is not None:
            words: dict[int | str, str] = {"name": "constant " + repr(definition.name), "draws": drawn}
            self.note(node, "call cached", frame, args=words)

    def draws(self, definition: FunctionNode, func: Func) -> str | None:
        """What a cached function draws random numbers with ("" if it does not); None for one that is not cached."""
        env = func.env or {}
        frame = Frame(func.module, unit_of(definition), "", cls=func.defined_in, closure=func.env)
        named = [d.func if isinstance(d, ast.Call) else d for d in definition.decorator_list]
        if not any(
            isinstance(v := self.quietly(d, env, frame), Ext) and self.models.plays(v.name, "caches")
            for d in named
        ):
            return None
        for part in walk(definition):
            if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
                callee = self.quietly(part.func, env, frame)
                if isinstance(callee, Ext) and self.models.plays(callee.name, "random source"):
                    return callee.name
        return ""

    # Attributes of what torch.compile returned

    def words_of_compiled(self, inner: Value, name: str, frame: Frame) -> dict[int | str, str]:
        """What rules are told of `compiled.name`."""
        words: dict[int | str, str] = {"name": "constant " + repr(name), "self": self.sort(inner)}
        found = self.find_method(inner.cls, name) if isinstance(inner, Instance) and inner.cls else None
        if found is not None:
            words["method"] = self.compute(*found) or self.computes(*found)
        elif isinstance(inner, Instance) and inner.cls is not None:
            value = self.state(inner).get(name, UNKNOWN)
            layer = isinstance(value, Instance) and (value.cls is None or self.is_module(value.cls))
            if (layer or _is_stack(value)) and id(value) not in self.settings:
                words["part"] = "module"
        if "_orig_mod" in frame.module.source:
            words["aware"] = "_orig_mod"
        return words

    def computes(self, cls: ClassInfo, node: FunctionNode) -> str:
        """ "computes" where a method that is given something does several things to tensors, else ""."""
        parameters = {p.arg for p in [*node.args.args[1:], *node.args.kwonlyargs]}
        if not parameters or node.decorator_list:
            return ""
        frame = Frame(cls.module, unit_of(node), "", cls=cls)
        done = 0
        for part in walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, (ast.Name, ast.Attribute)):
                callee = self.quietly(part.func, cls.env or {}, frame)
                if isinstance(callee, Ext) and self.models.takes_tensor_first(callee.name):
                    done += 1
        return "computes" if done >= MANY else ""


def _is_stack(value: Value | None) -> bool:
    return isinstance(value, Seq) and value.type == "Sequential"


def imported_above(library: str, tree: ast.Module, line: int) -> bool:
    """Whether a top-level import of the library stands above the line."""
    for statement in tree.body:
        if statement.lineno >= line:
            return False
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
        if any(name.split(".")[0] == library for name in names):
            return True
    return False


__all__ = ["Misuse", "imported_above"]
