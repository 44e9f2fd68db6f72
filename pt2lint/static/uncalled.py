"""What a package offers beside its models, and hooks: nothing that compiles calls them, but who compiles a program that
does meets what is in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter import left_out
from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.guards import HOOKED, UNCALLED, Guard
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source import differentiated, hooked
from pt2lint.static.source.modules import ClassInfo, Module
from pt2lint.static.source.named import definitions
from pt2lint.static.source.nodes import (
    SIMPLE,
    FunctionNode,
    called,
    is_name,
    own_name,
    parameters_in,
    parts,
    walk,
)
from pt2lint.static.values import UNKNOWN, Class, Dict, Ext, Func, Instance, Seq, Value, Wrapped, options

if TYPE_CHECKING:
    from pt2lint.static.interpret import Interpreter

HOOKS_OF_CLASSES = ("pre_forward", "post_forward")


class Uncalled:
    """Run after the models: what none of them calls is left. A model that calls it says more of what it is given."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter, self.at = interpreter, interpreter.at

    def run(self, module: Module) -> None:
        """Hooks, functions that are given tensors, train or evaluate, callable objects and the steps of optimizers. A
        script that compiles something has chosen what."""
        self.at.calls.roots.beside = True
        try:
            self._run_hooks(module)
            if module.in_package or not self._interpreter.mentions_compiling(module):
                self._run_offered(module)
        finally:
            self.at.calls.roots.beside = False

    def _run_hooks(self, module: Module) -> None:
        """Functions that are added to modules as hooks of their forward: Dynamo traces them with it. Where the same
        function, or script, compiles the module, that is no assumption."""
        with_module = (Guard("", HOOKED),)
        adders = self.at.models.last_words("forward hook")
        for cls in self._interpreter.classes_of(module):
            if self._is_hook(cls):
                for method, node in self._methods(cls):
                    if node.name in HOOKS_OF_CLASSES:
                        self.at.calls.roots.root(method, None, with_module)
        if not any(module.says(f"{word}(") for word in adders):
            return
        owners: list[tuple[Value, ast.AST]] = [(Func(n, module), n) for n in module.functions.values()]
        for cls in self._interpreter.classes_of(module):
            owners += self._methods(cls)
        for owner, body in [*owners, (UNKNOWN, module.tree)]:
            compiled: set[str] | None = None
            for call in walk(body) if owner is not UNKNOWN else hooked.statements(body):
                if (
                    not isinstance(call, ast.Call)
                    or not isinstance(call.func, ast.Attribute)
                    or call.func.attr not in adders
                    or not call.args
                ):
                    continue
                if compiled is None:
                    compiled = hooked.compiled_names(body, lambda f: self._interpreter.is_compiler(f, module))
                told = bool(compiled) and hooked.is_part_of(call.func.value, body, compiled)
                if owner is UNKNOWN and not told:
                    continue  # what a script looks at without compiling
                for hook in self._hooks(owner, call.args[0], module) or self._called(
                    call.args[0], body, module
                ):
                    self.at.calls.roots.beside = not told
                    self.at.calls.roots.root(hook, None, () if told else with_module)
        self.at.calls.roots.beside = True

    def _methods(self, cls: ClassInfo) -> list[tuple[Value, FunctionNode]]:
        me = self.at.objects.instance(cls)
        return [(self.at.classes.method_value(cls, node, me), node) for node in cls.methods.values()]

    def _is_hook(self, cls: ClassInfo) -> bool:
        """Whether its objects are hooks, of accelerate or diffusers, or of a project that does it as they do."""
        own, foreign, _ = self.at.classes.bases(cls)
        return any(self.at.models.plays(base, "base of hooks") for base in foreign) or all(
            any(name in one.methods for one in own) for name in HOOKS_OF_CLASSES
        )

    def _hooks(self, owner: Value, given: ast.expr, module: Module) -> list[Func]:
        """What a function adds as a hook: a function that it defines, one of the file, or a method of its object; or
        what one of these defines and returns: `self.keep(name)`."""
        found: list[Value] = []
        if isinstance(given, ast.Call):
            factories = [] if isinstance(given.func, ast.Call) else self._hooks(owner, given.func, module)
            found = [one for factory in factories for one in self._returned_by(factory)]
        elif isinstance(given, ast.Name):
            found = self._interpreter.named_in(owner, given.id)
            if not found and given.id in module.functions:
                known = self.at.names.module_value(module, given.id)
                if known is None or not left_out.is_left_out(known):
                    found = [Func(module.functions[given.id], module)]
        elif (
            isinstance(given, ast.Attribute)
            and isinstance(given.value, ast.Name)
            and isinstance(owner, Func)
            and isinstance(owner.bound, Instance)
            and owner.bound.cls is not None
            and given.value.id == own_name(owner.node)
        ):
            method = self.at.classes.find_method(owner.bound.cls, given.attr)
            found = [self.at.classes.method_value(*method, owner.bound)] if method is not None else []
        return [one for one in found if isinstance(one, Func) and not self._is_traced(one)]

    def _called(self, given: ast.expr, body: ast.AST, module: Module) -> list[Func]:
        """The method that runs of an object of the project that is added as a hook: `stats = Stats()`."""
        made = hooked.made_of(given, body)
        value = self.at.expressions.quietly(made, {}, Frame(module, (1, 1), "")) if made is not None else None
        if not isinstance(value, Class) or self.at.classes.is_module(value.info):
            return []
        found = self.at.classes.find_method(value.info, "__call__")
        me = self.at.objects.instance(value.info)
        method = self.at.classes.method_value(*found, me) if found is not None else None
        return [method] if isinstance(method, Func) and not self._is_traced(method) else []

    def _run_offered(self, module: Module) -> None:
        beside = (Guard("", UNCALLED),)
        disabled: list[Func] = []
        training: list[Func] = []
        handed_on = {
            given.id
            for statement in module.tree.body
            if statement.__class__ in SIMPLE
            for call in ast.walk(statement)
            if isinstance(call, ast.Call)
            for given in call.args
            if isinstance(given, ast.Name)
        }  # what takes them decides: `register(f)`
        for name, node in module.functions.items():
            value = self.at.names.module_value(module, name)
            if name in handed_on:
                continue
            if value is not None and left_out.is_left_out(value):
                if self.takes_tensors(own := Func(node, module)):
                    disabled.append(own)
            elif isinstance(value, Func) and self._is_offered(own := Func(node, module)):
                self.at.calls.roots.root(own, None, beside)
            elif isinstance(value, Func) and self._trains(own):
                training += self._that_train(own)
            elif isinstance(value, Func) and not self._is_traced(own):
                for made in self._made_by(own):
                    self.at.calls.roots.root(made, None, beside)
        for cls in self._interpreter.classes_of(module):
            self._run_methods_offered(cls, disabled, training)
        training += self._of_programs(module)
        for own in training:  # what it calls and is offered by itself says more of what it is given
            if not self._is_traced(own):
                self.at.calls.roots.root(own, None, beside)
        for own in disabled:  # after all that may call them
            left_out.tell(self.at, own, beside)

    def _run_methods_offered(self, cls: ClassInfo, disabled: list[Func], training: list[Func]) -> None:
        beside = (Guard("", UNCALLED),)
        steps = any(self.at.models.plays(b, "trains") for b in self.at.classes.bases(cls)[1])
        me = self.at.objects.instance(cls)
        for node in list(cls.methods.values()):
            if node.name.startswith("__") and node.name != "__call__":
                continue
            if node.name == "backward" and self.at.classes.is_function(cls):
                continue  # traced with `forward`
            calling = (m for c in self.at.classes.bases(cls)[0] for m in c.mentioning(node.name))
            if any(m in self.at.functions.reached for m in calling):
                continue  # a model calls it, or one that stands in its place
            value = self.at.classes.method_value(cls, node, me)
            plain = value.inner if isinstance(value, Wrapped) else value
            bound = plain.bound if isinstance(plain, Func) and plain.node is node else me
            own = Func(node, cls.module, cls.env, bound, cls)
            if isinstance(value, Wrapped):
                forwards = node.name == "forward" and self.at.classes.is_module(cls)
                if left_out.is_left_out(value) and (forwards or self.takes_tensors(own)):
                    disabled.append(own)
                continue
            surely = (steps and node.name == "step") or self.at.classes.is_differentiable(cls, node)
            if self._is_offered(own, surely):
                self.at.calls.roots.root(own, None, beside)
            elif self._trains(own):
                training += self._that_train(own)

    def _made_by(self, factory: Func) -> list[Func]:
        """The functions that a function defines and returns, where these are given tensors: who calls it for one, may
        well have a model call that (`self.attend = attention_for(config)`)."""
        return [one for one in self._returned_by(factory) if self._is_offered(one)]

    def _that_train(self, value: Func) -> list[Func]:
        """What trains of a function that does: itself, or what it makes and returns, as `make_train_step(model)`."""
        return [one for one in self._returned_by(value) if self._trains(one)] or [value]

    def _of_programs(self, module: Module) -> list[Func]:
        """What runs a model for a whole program, and gives what that computes gradients of."""
        words, home = self.at.models.last_words("computes gradients"), Frame(module, (1, 1), "")
        if not any(module.says(f".{word}(") for word in words):
            return []
        found: list[Func] = []
        programs = [f for f in module.functions.values() if self._is_program(Func(f, module))]
        for program in (*programs, module.tree):
            for call in differentiated.calls_behind(program, words):
                value = self.at.expressions.quietly(call.func, {}, home)
                own = value.inner if isinstance(value, Wrapped) else value
                if not isinstance(own, Func) or isinstance(own.bound, Class):
                    continue
                if self._runs_model(own) and not self._is_program(own):
                    found.append(own)
        return found

    def _returned_by(self, factory: Func) -> list[Func]:
        """The functions that a function defines and returns."""
        assert not isinstance(factory.node, ast.Lambda)
        names = {
            part.value.id
            for part in walk(factory.node)
            if isinstance(part, ast.Return) and isinstance(part.value, ast.Name)
        }
        inner = {name for name in names if any(definitions(factory.node.body, name))}
        found = [one for name in sorted(inner) for one in self._interpreter.named_in(factory, name)]
        return [one for one in found if isinstance(one, Func)]

    def _is_offered(self, value: Func, surely: bool = False) -> bool:
        if self._is_traced(value) or isinstance(value.node, ast.Lambda):
            return False
        # What a script does not compile runs as it is.
        return surely or (value.module.in_package and self.takes_tensors(value))

    def _trains(self, value: Func) -> bool:
        """Whether a function computes gradients, or in a script runs a model without, as an evaluation does. Packages
        have many of these, of which their users compile the models."""
        if isinstance(value.node, ast.Lambda):
            return False
        words, models = called(value.node), self.at.models
        gradless = words & models.last_words("without gradients") and not value.module.in_package
        trains = words & models.last_words("computes gradients") or (gradless and self._runs_model(value))
        return bool(trains) and not self._is_program(value)

    def _runs_model(self, value: Func) -> bool:
        """Whether it calls what it is given, what a script or the function around it has, its own object or a part of
        that."""
        given = {p.arg for p in parameters_in(value.node.args)}.union(value.env or ())
        own = own_name(value.node)
        for call in parts(value.node, ast.Call):
            name = call.func
            if isinstance(name, ast.Name) and (name.id in given or name.id in value.module.assigned):
                return True
            if isinstance(name, ast.Attribute) and own and is_name(name.value, own) and value.defined_in:
                if self.at.classes.find_method(value.defined_in, name.attr) is None:
                    return True
        return False

    def _is_program(self, value: Func, inner: bool = False) -> bool:
        """Whether a function makes an optimizer, or has another one of the project make it: a whole program, of which
        somebody compiles a part."""
        home = Frame(value.module, (1, 1), "")
        names = (call.func for call in parts(value.node, ast.Call) if dotted(call.func))
        for each in (self.at.expressions.quietly(name, value.env or {}, home) for name in names):
            if isinstance(each, Ext) and each.receiver is None and self.at.models.plays(each.name, "trains"):
                return True
            if isinstance(each, Func) and not inner and self._is_program(each, inner=True):
                return True
        return False

    def _is_traced(self, value: Func) -> bool:
        """Whether some root that was run calls it, a model's or one beside the models."""
        return value.node in self.at.functions.reached or value.node in self.at.calls.roots.offered

    def takes_tensors(self, value: Func) -> bool:
        """Whether a function is given tensors, or an optimizer's groups of them."""
        groups = self.at.models.last_words("groups of parameters")  # each of which holds tensors
        return any(self._holds_tensors(o) for v in self.at.functions.seeds(value) for o in options(v)) or any(
            part.attr in groups for part in parts(value.node, ast.Attribute)
        )

    def _holds_tensors(self, value: Value) -> bool:
        """Whether it is a tensor, a container of tensors, or an object of which the project says that it has some."""
        if isinstance(value, (Seq, Dict)):
            return value.elem.kind == "tensor"
        if isinstance(value, Instance) and value.cls is not None:
            return any(
                self.at.types.annotation(said, Frame(cls.module, (1, 1), ""), 0, "").kind == "tensor"
                for cls in self.at.classes.bases(value.cls)[0]
                for said in cls.annotations.values()
            )
        return value.kind == "tensor"
