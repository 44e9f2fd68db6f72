"""What is done with compiled modules, and with what compiled code has read, that does something else than it says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pt2lint.said import told_line
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.interpreter.syntax import dotted, parameters_of
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.nodes import (
    FunctionNode,
    binds,
    is_name,
    last_word,
    parameters_in,
    parts,
    reads,
    unit_of,
    walk,
)
from pt2lint.static.values import (
    NAME,
    TRUE,
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
    Value,
    Wrapped,
    is_stack,
    join,
    may_be_plain,
    options,
    tensor_of,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


# What the environment (Env) of code outside the compiled code remembers besides the values of names.
CALLED = "compiled()"  # what was compiled and called
IN_PLACE = ".compile()"  # after a name: its object was compiled in place
RAN = ".()"  # after a name: its object was compiled, and called in the line that is the value
RAN_INSIDE = ".() inside"  # after a name: compiled code that was called in that line calls the object
MAX_NESTING = 4  # modules in modules
LISTS = ("ModuleList", "Sequential")
KEEPS_STATES = ("state_dict", "checkpoint", "restore")  # who says one of them keeps states of modules
OF_MODULES = (
    "state_dict",
    "load_state_dict",
    "parameters",
    "named_parameters",
    "modules",
    "train",
    "eval",
    "to",
)


class Misuse:
    def __init__(self, at: Context) -> None:
        self.at = at
        self.compiled_from: dict[int, tuple[Value, str]] = {}
        self.parameters: dict[int, str] = {}  # what the function calls it that compiled it for another one
        self.ran: dict[int, Value] = {}  # what torch.compile returned and something called
        self.loops: dict[str, list[ast.For]] = {}  # by path: those in code that is not compiled

    def called(
        self, node: ast.Call, func: Value, args: list[Value], result: Value, env: Env, frame: Frame
    ) -> None:
        """A call in code that is not compiled."""
        place = dotted(node.func.value) or "" if isinstance(node.func, ast.Attribute) else ""
        self.ran_by(node, func, args, env)
        if isinstance(func, Func):
            self.compiled_by(func, node, result)
        elif isinstance(func, Instance):
            if (dotted(node.func) or "") + IN_PLACE in env:
                env.setdefault(f"{dotted(node.func)}{RAN}", Py("int", node.lineno))
        elif isinstance(func, Ext):
            if args and isinstance(func.receiver, Dict) and func.name.endswith(".get"):
                self.looked_up(node, func.receiver, args[0], frame)
            self.called_external(node, func, place, args, result, env, frame)
        elif func is UNKNOWN and isinstance(node.func, ast.Attribute):
            if node.func.attr in self.at.models.last_words("late hook"):
                self.hooked(node, env, frame)  # of what a loop goes over
            elif node.func.attr in self.at.models.last_words("adds a part"):
                self.put(node, args, frame)
            elif node.func.attr in self.at.models.last_words("loads state"):
                owner = self.at.expressions.again(node.func.value, env, frame)
                if any(isinstance(o, Wrapped) and o.inner is UNKNOWN for o in options(owner)):
                    self.loaded(node, env, frame)
        if place and place + IN_PLACE in env and isinstance(node.func, ast.Attribute):
            if node.func.attr == "forward" and self.at.notebook.listens("forward of compiled", frame):
                self.at.notebook.note(node, "forward of compiled", frame)

    def ran_by(self, node: ast.Call, func: Value, args: list[Value], env: Env) -> None:
        """What is compiled and runs by the call: what is called, and what a function is given, `train(model)`."""
        for option in options(func):
            if isinstance(option, Wrapped) and option.how == "compiled":
                self.ran[id(option)] = option
                known = env.get(CALLED)
                env[CALLED] = option.inner if known is None else join(known, option.inner)
                self._runs(option, node.func, node, env)
                for name in _called_inside(option.inner, node):
                    env.setdefault(name + RAN_INSIDE, Py("int", node.lineno))
        if self.ran and isinstance(func, Func):
            for given, value in zip(node.args, args, strict=False):
                for option in options(value):
                    if id(option) in self.ran:
                        self._runs(option, given, node, env)

    def _runs(self, compiled: Value, place: ast.expr, node: ast.Call, env: Env) -> None:
        """It runs in the line of the call, under the name that it has there and that of what it was made of."""
        for name in filter(None, (dotted(place), self._original(compiled))):
            env.setdefault(name + RAN, Py("int", node.lineno))

    def called_external(
        self,
        node: ast.Call,
        func: Ext,
        place: str,
        args: list[Value],
        result: Value,
        env: Env,
        frame: Frame,
    ) -> None:
        """A library is called, by its roles."""
        method = func.name.rpartition(".")[2]
        module = self.at.models.named("module base")  # which a list of modules is, too
        roles = self.at.models.of(f"{module}.{method}" if is_stack(func.receiver) else func.name).roles
        if not roles and func.name != "builtins.setattr":
            return  # most names
        if "compiles" in roles and node.args:
            for one in options(result):
                self.compiled_from[id(one)] = (one, _place(node.args[0]))
        elif "late hook" in roles:
            self.hooked(node, env, frame)
        elif "adds a part" in roles or func.name == "builtins.setattr":
            self.put(node, args, frame)
        elif "compiles in place" in roles and place:
            env[place + IN_PLACE] = TRUE
            self.forward_of_torch(node, func.receiver, frame)
        elif "state of a module" in roles and place:
            self.state_of_parts(node, place, func.receiver, env, frame)
        elif "loads state" in roles:
            self.loaded(node, env, frame)
        elif "tells the type" in roles and len(args) == 1:
            self.asked_type(node, args[0], frame)
        elif "copies" in roles and args:
            self.copied(node, args[0], env, frame)
        elif "pickles" in roles and node.args and args:
            self.pickled(node.args[0], args[0], env, frame)
        elif "traces modules" in roles and args:
            self.at.calls.refused(node.args[0] if node.args else node, args[0], "traces", frame)
        elif "adapts modules" in roles and args:
            self.adapted(node, args[0], frame)
        elif "schedules" in roles and node.args:
            self.scheduled(node, f"{dotted(node.args[0])}.step", env, frame)

    def compiled_by(self, func: Func, node: ast.Call, result: Value) -> None:
        """`model = prepared(model)`, of a function that returns what torch.compile made of its parameter."""
        for option in options(result) if self.compiled_from else ():
            if id(option) not in self.compiled_from:
                continue
            # One and the same is the result of all calls of the function.
            name = self.parameters.setdefault(id(option), self._original(option))
            given = dict(zip(parameters_of(func), node.args, strict=False))
            given.update({k.arg: k.value for k in node.keywords if k.arg})
            if name in given:
                self.compiled_from[id(option)] = (option, _place(given[name]))

    def compiled(self, target: Value, node: Any, frame: Frame | None) -> None:
        """`@torch.compile(mode="max-autotune", ...)`, which is called where the function is defined."""
        if node is not None or not isinstance(target, Func) or isinstance(target.node, ast.Lambda):
            return
        for decorator in target.node.decorator_list:
            if not isinstance(decorator, ast.Call) or not decorator.keywords:
                continue
            around = Frame(target.module, unit_of(target.node), "", cls=target.defined_in)
            plays, listens = self.at.models.plays, self.at.notebook.listens
            for value in options(self.at.calls.decorator(decorator, target.env or {}, around)):
                if not isinstance(value, Partial) or not isinstance(value.func, Ext):
                    continue
                if plays(value.func.name, "compiles") and listens("decorate compile", around):
                    args: dict[int | str, str] = {k: self.at.types.sort(v) for k, v in value.kwargs.items()}
                    self.at.notebook.note(decorator, "decorate compile", around, args=args)

    def scheduled(self, node: ast.Call, step: str, env: Env, frame: Frame) -> None:
        """`StepLR(optimizer)` after `optimizer.step = torch.compile(optimizer.step)`."""
        known = env.get(step)
        if isinstance(known, Wrapped) and known.how == "compiled":
            if self.at.notebook.listens("refuse compiled", frame):
                words: dict[str, str] = {"how": "schedules", "step": step}
                self.at.notebook.note(node, "refuse compiled", frame, details=words)

    def adapted(self, node: ast.Call, module: Value, frame: Frame) -> None:
        """`get_peft_model(compiled, config)`"""
        wrapped = any(
            isinstance(o, Wrapped) and o.how == "compiled" and not o.within for o in options(module)
        )
        if wrapped and self.at.notebook.listens("adapt compiled", frame):
            self.at.notebook.note(node, "adapt compiled", frame)

    def compared(self, node: ast.Compare, left: Value, among: Value, frame: Frame) -> None:
        """A name from a module that torch.compile wrapped is looked up among names that it did not prefix, or one of
        these among the others."""
        key = among.key if isinstance(among, Dict) and not among.items else None
        key = among.elem if isinstance(among, Seq) else key
        if left is WRAPPED_NAME:
            said = isinstance(node.comparators[0], (ast.Name, ast.Attribute)) and _are_texts(among)
            foreign = key is NAME or said
        else:
            foreign = key is WRAPPED_NAME and isinstance(left, Py) and bool(left.const)
        if foreign and not frame.module.says("_orig_mod") and self.at.notebook.listens("foreign name", frame):
            wrapped = "left" if left is WRAPPED_NAME else "right"
            self.at.notebook.note(node, "foreign name", frame, details={"wrapped": wrapped})

    def looked_up(self, node: ast.expr, owner: Dict, index: Value, frame: Frame) -> None:
        """`shadow[name]`, `shadow.get(name)` of a name from a wrapped module among others, or the other way round;
        `dict(compiled.named_modules())["head"]`."""
        text = isinstance(index, Py) and isinstance(index.const, str) and bool(index.const)
        foreign = (index is WRAPPED_NAME and owner.key is NAME) or (
            (index is NAME or text) and owner.key is WRAPPED_NAME
        )
        if not foreign or owner.items or frame.module.says("_orig_mod"):
            return
        if self.at.notebook.listens("foreign name", frame):
            wrapped = "left" if index is WRAPPED_NAME else "right"
            self.at.notebook.note(node, "foreign name", frame, details={"wrapped": wrapped})

    def asked_type(self, node: ast.Call, asked: Value, frame: Frame) -> None:
        """`type(model)`, which is the wrapper's."""
        wrapped = any(
            _is_compiled_module(o) for o in options(asked) if not (isinstance(o, Wrapped) and o.within)
        )
        knows = frame.module.says("_orig_mod") or frame.module.says("OptimizedModule")
        if wrapped and not knows and self.at.notebook.listens("type of compiled", frame):
            words: dict[str, str] = {"maybe": "yes"} if may_be_plain(asked) else {}
            self.at.notebook.note(node, "type of compiled", frame, details=words)

    def hooked(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """A hook is added to a part of a compiled module, or to a module that a compiled function calls."""
        if not isinstance(node.func, ast.Attribute):
            return
        part, own = node.func.value, True
        while True:
            # A hook of the compiled module itself runs, but for a module of torch's own inside the wrapper.
            for mark in (RAN_INSIDE,) if own and not self.of_torch(part, env, frame) else (RAN, RAN_INSIDE):
                ran = env.get(f"{dotted(part)}{mark}")
                before = isinstance(ran, Py) and isinstance(ran.const, int) and ran.const < node.lineno
                if before and self.at.notebook.listens("late hook", frame):
                    self.at.notebook.note(node, "late hook", frame)
                    return
            inner = part.value if isinstance(part, (ast.Attribute, ast.Subscript)) else None
            if isinstance(part, ast.Name):
                inner = self.gone_over(part.id, node, env, frame)
            if inner is None:
                return
            part, own = inner, False

    def of_torch(self, part: ast.expr, env: Env, frame: Frame) -> bool:
        """Whether it is `nn.Linear(3, 3)` or the like, which is not compiled in place."""
        value = self.at.expressions.again(part, env, frame)
        theirs = is_stack(value) or (isinstance(value, Instance) and value.cls is None)
        return theirs and self.is_plain_module(value) and f"{dotted(part)}{IN_PLACE}" not in env

    def looped(self, node: ast.For | ast.While, over: Value, env: Env, frame: Frame) -> None:
        listens = self.at.notebook.listens
        if isinstance(node, ast.For) and not frame.region and listens("late hook", frame):
            self.loops.setdefault(frame.module.path, []).append(node)

    def gone_over(self, name: str, node: ast.expr, env: Env, frame: Frame) -> ast.expr | None:
        """What the modules are part of that a loop around `node` binds the name to: `net` of
        `for name, m in net.named_modules()`, `net.blocks` of `for i, b in enumerate(net.blocks)`."""
        for loop in reversed(self.loops.get(frame.module.path, ())):
            inside = loop.lineno <= node.lineno <= (loop.end_lineno or loop.lineno)
            bound = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
            if not inside or name not in bound:
                continue
            again = {
                n.id
                for part in loop.body
                for n in walk(part)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            source = loop.iter
            while isinstance(source, ast.Call):
                callee = source.func
                word = last_word(callee)
                if source.args and word in self.at.models.last_words("passes items"):
                    source = source.args[0]
                elif isinstance(callee, ast.Attribute) and word in self.at.models.last_words("gives parts"):
                    source = callee.value
                elif isinstance(callee, ast.Attribute) and word in self.at.models.last_words(
                    "gives children"
                ):
                    source = callee.value
                    owner = self.at.expressions.again(source, env, frame)
                    if any(isinstance(o, Wrapped) for o in options(owner)):
                        return None  # its one child is the original, whose hooks run
                else:
                    return None
            uses = {n.id for n in ast.walk(source) if isinstance(n, ast.Name)}
            return None if name in again or name in uses else source
        return None

    def loaded(self, node: ast.Call, env: Env, frame: Frame) -> None:
        """`compiled.load_state_dict(plain.state_dict())`, or of a state that no module of the file gave"""
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg), None)
        if (
            not isinstance(node.func, ast.Attribute)
            or (frame.module.says("_orig_mod") and not self.saves_original(frame))
            or not self.at.notebook.listens("load plain state", frame)
        ):
            return
        owner = self.at.expressions.again(node.func.value, env, frame)
        if not any(isinstance(o, Wrapped) and o.how == "compiled" and not o.within for o in options(owner)):
            if frame.module.says("_orig_mod"):
                return
            state = self.at.expressions.again(given, env, frame) if given is not None else UNKNOWN
            if all(map(self.is_plain_module, options(owner))) and any(
                isinstance(o, Dict) and o.key is WRAPPED_NAME for o in options(state)
            ):
                self.at.notebook.note(node, "load plain state", frame, details={"from": "compiled"})
            elif given is not None and self.is_from_elsewhere(given, state, frame):
                compiles = "yes" if frame.module.says("compile(") else "no"
                words: dict[str, str] = {"name": ast.unparse(node.func.value), "compiles": compiles}
                self.at.notebook.note(node, "load of given", frame, details=words)
            return
        if frame.module.says("_orig_mod"):
            if given is not None and not self.is_own_state(given, frame):
                self.at.notebook.note(node, "load plain state", frame, details={"from": "inside"})
            return
        asks = self.at.models.last_words("state of a module")
        if not any(frame.module.says(f".{word}(") for word in asks):
            self.at.notebook.note(node, "load plain state", frame, details={"from": "elsewhere"})
            return
        state = self.at.expressions.again(given, env, frame) if given is not None else UNKNOWN
        if isinstance(state, Dict) and state.key is NAME:
            self.at.notebook.note(node, "load plain state", frame)

    def saves_original(self, frame: Frame) -> bool:
        """Whether the file takes modules out of their wrappers and asks these for their state, and leaves names as
        they are: what it saves has none of the prefix."""
        nodes = walk(frame.module.tree)
        texts = {n.value for n in nodes if isinstance(n, ast.Constant) and "_orig_mod" in str(n.value)}
        inside = {
            dotted(target)
            for one in nodes
            if isinstance(one, ast.Assign) and reads(one.value, "_orig_mod")
            for target in one.targets
        }
        asks = self.at.models.last_words("state of a module")
        return not texts - {"_orig_mod"} and any(
            reads(asked.value, "_orig_mod") or dotted(asked.value) in inside - {None}
            for asked in nodes
            if isinstance(asked, ast.Attribute) and asked.attr in asks
        )

    def is_own_state(self, given: ast.expr, frame: Frame) -> bool:
        """Whether a module of the file gave the state, as `best = copy.deepcopy(model.state_dict())` does."""
        asks = self.at.models.last_words("state of a module")
        used = {n.id for n in walk(given) if isinstance(n, ast.Name)}
        made = [
            one.value
            for one in walk(frame.module.tree)
            if isinstance(one, ast.Assign)
            and any(is_name(target, name) for target in one.targets for name in used)
        ]
        return any(
            isinstance(part, ast.Attribute) and part.attr in asks
            for value in (given, *made)
            for part in walk(value)
        )

    def is_from_elsewhere(self, given: ast.expr, state: Value, frame: Frame) -> bool:
        """Whether a state was read from a file, in a script that compiles modules and saves none: what saved it may
        have compiled the module."""
        says, words = frame.module.says, self.at.models.last_words
        reads = any(says(f".{word}(") for word in words("loads tensors"))
        saves = any(says(f".{word}(") for word in words("state of a module"))
        own = state is UNKNOWN and isinstance(given, ast.Name | ast.Subscript)
        return own and reads and not saves and self.at.functions.running() is None

    def is_plain_module(self, value: Value) -> bool:
        """Whether it is a module of a known class, as that makes it."""
        if not isinstance(value, Instance):
            return is_stack(value)
        known = value.external is not None and not self.at.models.plays(value.external, "module base")
        return self.at.classes.is_module(value.cls) if value.cls is not None else known

    def forward_of_torch(self, node: ast.Call, module: Value | None, frame: Frame) -> None:
        """`module.compile()` of a class of the project that inherits `forward` from torch.nn."""
        if not isinstance(module, Instance) or module.cls is None:
            return
        if any(
            self.at.classes.find_method(module.cls, name) for name in ("forward", "__call__", "_call_impl")
        ):
            return
        base = next(
            (b for b in self.at.classes.bases(module.cls)[1] if self.at.models.of(b).forward is not None),
            None,
        )
        if base is not None and self.at.notebook.listens("compile torch forward", frame):
            self.at.notebook.note(node, "compile torch forward", frame, args={"self": base})

    def state_of_parts(self, node: ast.Call, place: str, owner: Value | None, env: Env, frame: Frame) -> None:
        """`model.state_dict()` after `model.layer = torch.compile(model.layer)`."""
        if not self.at.notebook.listens("state of compiled part", frame) or frame.module.says("_orig_mod"):
            return
        for name, value in self.parts_of(place, owner, env).items():
            listed = [o for one in options(value) for held in _listed(one) for o in options(held)]
            if any(map(_is_compiled_module, (*options(value), *listed))):
                words: dict[str, str] = {"part": "constant " + repr(name)}
                if listed:
                    words["listed"] = "yes"
                self.at.notebook.note(node, "state of compiled part", frame, details=words)
                return

    def parts_of(self, place: str, owner: Value | None, env: Env) -> dict[str, Value]:
        """The attributes of an object: as its class makes them, and as the code at hand sets them."""
        known = owner if isinstance(owner, Instance) and owner.cls is not None else None
        parts = dict(self.at.objects.state(known)) if known is not None else {}
        parts.update({k[len(place) + 1 :]: v for k, v in env.items() if k.startswith(place + ".")})
        return parts

    def compiled_method(self, place: str, owner: Instance, env: Env) -> str:
        """The attribute of an object under which it keeps a compiled method of its own; "" if there is none."""
        for name, value in self.parts_of(place, owner, env).items():
            inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
            if isinstance(inner, Func) and inner.bound is owner:
                return name
        return ""

    def pickled(self, node: ast.expr, value: Value, env: Env, frame: Frame) -> None:
        """`torch.save(model, path)` of a module that keeps a compiled method: pickle finds another one of that name."""
        if not isinstance(value, Instance) or not self.at.notebook.listens("refuse compiled", frame):
            return
        own = ("__getstate__", "__reduce__", "__reduce_ex__")  # by which a class leaves it out
        if value.cls is not None and not any(self.at.classes.find_method(value.cls, name) for name in own):
            if method := self.compiled_method(ast.unparse(node), value, env):
                words: dict[str, str] = {"how": "pickles", "method": method}
                self.at.notebook.note(node, "refuse compiled", frame, details=words)

    def copied(self, node: ast.Call, original: Value, env: Env, frame: Frame) -> None:
        """A module is copied: what of it was compiled is not copied along."""
        if not self.at.notebook.listens("copy of compiled", frame) or not isinstance(original, Instance):
            return
        place = ast.unparse(node.args[0]) if node.args else ""
        if name := self.compiled_method(place, original, env):
            self.at.notebook.note(
                node, "copy of compiled", frame, details={"bound": "constant " + repr(name)}
            )
            return
        if place + IN_PLACE in env:
            self.at.notebook.note(
                node, "copy of compiled", frame, details={"in place": "constant " + repr(place)}
            )

    def assigned(
        self, target: ast.expr, owner: Value, value: Value, index: Value | None, env: Env, frame: Frame
    ) -> None:
        if isinstance(target, ast.Attribute):
            if isinstance(owner, Ext):
                self.setting(target, owner, frame)
            elif isinstance(owner, Class):
                self.patched(owner.info, target, env, frame)
            elif isinstance(value, Wrapped):
                self.replaced(target, owner, value, frame)
        elif isinstance(target, ast.Subscript) and isinstance(value, Wrapped):
            given = self._original(value)
            if given == _place(target) or self._goes_over(given, target.value, target, frame):
                self.told_of_parts(target, target.value, value, frame)

    def setting(self, target: ast.Attribute, owner: Ext, frame: Frame) -> None:
        """`torch._dynamo.config.verbose = True`"""
        if not self.at.notebook.listens("set setting", frame):
            return
        if self.at.models.plays(owner.name, "holds settings"):
            words: dict[str, str] = {"holder": owner.name, "name": target.attr}
            self.at.notebook.note(target, "set setting", frame, details=words)

    def replaced(self, target: ast.Attribute, owner: Value, value: Wrapped, frame: Frame) -> None:
        """`self.net = torch.compile(self.net)`, of a file that does not know of the wrapper."""
        if not self._replaces(value, frame) or self._is_known_above(owner):
            return
        given = self._original(value)
        module = isinstance(owner, Instance) and self.at.classes.is_module(owner.cls)
        own = isinstance(owner, Instance) and owner is frame.me
        keeps = module or any(frame.module.says(word) for word in KEEPS_STATES)
        # `vae.decode = torch.compile(vae.decode)` replaces a method, which is in no state, and has no compile().
        known = not any(o is UNKNOWN for o in options(value.inner)) or any(
            frame.module.says(f"{target.attr}.{word}(") for word in OF_MODULES
        )
        if keeps and (given == dotted(target) or (module and own and given)):
            words: dict[str, str] = {"owner": "module"} if module else {}
            words |= {} if known else {"may be": "a method"}
            self.at.notebook.note(
                target, "replace part", frame, details={**words, **self._of_torch(value.inner)}
            )

    def _of_torch(self, module: Value) -> dict[str, str]:
        """What is noted of a module of torch's own, whose `forward` compile() in place leaves as it is."""
        return (
            {"torch": "yes"} if self.is_plain_module(module) and getattr(module, "cls", None) is None else {}
        )

    def _replaces(self, value: Wrapped, frame: Frame) -> bool:
        """Whether it is asked what becomes of the names where this takes the place of a part: it may be a module's
        wrapper, of which the file does not know."""
        inner = value.inner
        may_be = all(o is UNKNOWN or isinstance(o, Instance) or is_stack(o) for o in options(inner))
        if frame.region or value.within or not may_be:
            return False
        return self.at.notebook.listens("replace part", frame) and not self._knows(frame)

    def _knows(self, frame: Frame) -> bool:
        """Whether the file says `_orig_mod`, other than in the docstring of another function than this one, or asks for
        the wrapper's class."""
        if frame.module.has("OptimizedModule"):
            return True
        if not frame.module.says("_orig_mod"):
            return False
        running = self.at.functions.running()
        others = [f for f in walk(frame.module.tree) if isinstance(f, FunctionNode) and f is not running]
        told = sum((ast.get_docstring(f, clean=False) or "").count("_orig_mod") for f in others)
        return told < frame.module.source.count("_orig_mod")

    def _is_known_above(self, owner: Value) -> bool:
        """Whether the file of a class that the object's is made from says `_orig_mod`: what it loads, and saves."""
        if not isinstance(owner, Instance) or owner.cls is None:
            return False
        return any(cls.module.says("_orig_mod") for cls in self.at.classes.bases(owner.cls)[0][1:])

    def _original(self, compiled: Value) -> str:
        """What the code calls that which torch.compile was given for this; "" where that is not known."""
        return self.compiled_from.get(id(compiled), (None, ""))[1]

    def put(self, node: ast.Call, args: list[Value], frame: Frame) -> None:
        """`model.layers.register_module(name, torch.compile(block))`, `setattr(model, name, torch.compile(part))`, each
        of a name that a loop goes over: there was one."""
        value = args[-1] if args else None
        if not isinstance(value, Wrapped) or not isinstance(node.args[-2], (ast.Name, ast.Attribute)):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr != "setattr":
            self.told_of_parts(node, node.func.value, value, frame)
        elif self._goes_over(self._original(value), node.args[0], node, frame):
            self.told_of_parts(node, node.args[0], value, frame)

    def told_of_parts(self, node: ast.expr, owner: ast.expr, value: Wrapped, frame: Frame) -> None:
        """Parts of a module are replaced by their compiled wrappers, one by one."""
        if not self._replaces(value, frame):
            return
        if any(frame.module.says(word) for word in KEEPS_STATES) or self._is_given(owner):
            words: dict[str, str] = {"listed": self._original(value)}
            self.at.notebook.note(
                node, "replace part", frame, details={**words, **self._of_torch(value.inner)}
            )

    def _is_given(self, owner: ast.expr) -> bool:
        """Whether the function is given the module, or one that holds it: who made it may keep its state."""
        running = self.at.functions.running()
        if running is None:
            return False
        given = {p.arg for p in parameters_in(running.args)} - {"self"}
        # In the order of the lines: `block = layer` stands before the loop over its parts.
        made: list[ast.For | ast.Assign] = [*parts(running, ast.For), *parts(running, ast.Assign)]
        for part in sorted(made, key=lambda part: part.lineno):
            if isinstance(part, ast.For):
                held, targets = (
                    given & {n.id for n in walk(part.iter) if isinstance(n, ast.Name)},
                    [part.target],
                )
            else:
                held, targets = given & set(_heads(part.value)), part.targets
            if held:
                given |= {n.id for target in targets for n in walk(target) if isinstance(n, ast.Name)}
        return (dotted(owner) or "").partition(".")[0] in given

    def _goes_over(self, name: str, owner: ast.expr, node: ast.expr, frame: Frame) -> bool:
        """Whether a loop around the node binds the name to parts of the owner, one after the other."""
        whole = ast.unparse(owner)
        return any(
            loop.lineno <= node.lineno <= (loop.end_lineno or loop.lineno)
            and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(loop.target))
            and any(isinstance(n, ast.expr) and ast.unparse(n) == whole for n in ast.walk(loop.iter))
            for loop in self.loops.get(frame.module.path, ())
        )

    def patched(self, cls: ClassInfo, target: ast.Attribute, env: Env, frame: Frame) -> None:
        """`Class.method = ...` after something was compiled and called that runs the method."""
        called = env.get(CALLED)
        if called is None or frame.region or not self.at.notebook.listens("set traced method", frame):
            return
        found = self.at.classes.find_method(cls, target.attr)
        if found is None or found[1] not in self.at.functions.reached:
            return
        for root in options(called):
            # A root's own `forward` is looked up at each call.
            own = isinstance(root, Instance) and root.cls is cls
            if (
                isinstance(root, Instance)
                and self.holds(root, cls)
                and not (own and target.attr == "forward")
            ):
                self.at.notebook.note(target, "set traced method", frame)
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
            if cls is module.cls or cls in self.at.classes.bases(module.cls)[0]:
                return True
            if not self.at.classes.is_module(module.cls):
                return False
            inside = [o for v in self.at.objects.state(module).values() for o in options(v)]
        else:
            return False
        return any(self.holds(v, cls, depth + 1) for v in inside)

    def asserted(self, node: ast.Assert, asked: ast.expr, value: Value, frame: Frame) -> None:
        """A plain `assert tensor` in compiled code, inside of a `try` that waits for an AssertionError."""
        tensor = tensor_of(value)
        if (
            self.at.statements.catching
            and asked is node.test
            and tensor is not None
            and self.at.notebook.listens("assert tensor", frame)
        ):
            words: dict[str, str] = {"caught": told_line(self.at.statements.catching[-1])}
            self.at.notebook.note(node.test, "assert tensor", frame, about=tensor, details=words)


def _place(node: ast.expr) -> str:
    """What an expression is called that names a variable, a part of an object, or an item; else ""."""
    return ast.unparse(node) if isinstance(node, ast.Subscript) else dotted(node) or ""


def _called_inside(compiled: Value, node: ast.Call) -> list[str]:
    """The names, where it is called, of what a compiled function itself calls: of what is passed to it, and of
    what it reads from around it."""
    if not isinstance(compiled, Func):
        return []
    names = parameters_of(compiled)
    given = dict(zip(names, node.args, strict=False))
    given.update({k.arg: k.value for k in node.keywords if k.arg in names})
    called = {
        n.func.id for n in walk(compiled.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    places = [
        dotted(given[name]) if name in given else name for name in sorted(called - binds(compiled.node))
    ]
    return [place for place in places if place]


def _are_texts(value: Value) -> bool:
    elements = value.elts if isinstance(value, Seq) else None
    return bool(elements) and all(
        isinstance(e, Py) and isinstance(e.const, str) and e.const for e in elements or ()
    )


def _listed(value: Value) -> list[Value]:
    """What a list of modules holds; one of Python's is no part of its owner."""
    return [*(value.elts or ()), value.elem] if isinstance(value, Seq) and value.type in LISTS else []


def _is_compiled_module(value: Value) -> bool:
    inner = value.inner if isinstance(value, Wrapped) and value.how == "compiled" else None
    return isinstance(inner, Instance) or is_stack(inner)


def _heads(node: ast.expr) -> Iterator[str]:
    """`layer` of `layer.inner if wrapped else layer`: the names, a part of which the value may be."""
    if isinstance(node, ast.IfExp):
        yield from (*_heads(node.body), *_heads(node.orelse))
    else:
        yield (dotted(node) or "").partition(".")[0]
