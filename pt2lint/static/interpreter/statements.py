"""How statements run in the abstract, and what they do to the environment."""

from __future__ import annotations

import ast
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.arithmetic import binary
from pt2lint.static.interpreter.assignments import Assignments
from pt2lint.static.interpreter.case_syntax import as_comparison, as_test, captures, takes_all
from pt2lint.static.interpreter.conditions import resumed
from pt2lint.static.interpreter.entered import OF_TORCH, OWN, kept
from pt2lint.static.interpreter.frame import Env, Frame, merge_env
from pt2lint.static.interpreter.guard_syntax import fails, last_operand
from pt2lint.static.interpreter.guards import GRADLESS, MISSING, ONCE, Guard, Path
from pt2lint.static.interpreter.loops import Loops
from pt2lint.static.interpreter.special import special
from pt2lint.static.interpreter.splits import tell_apart
from pt2lint.static.interpreter.subscripts import takers
from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.source.reads import WatchedAsyncFunction, WatchedFunction
from pt2lint.static.values import (
    ALWAYS_OFF,
    NONE,
    OBJECT,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    extend,
    options,
    tensor_of,
    truth,
)

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

COMPILES = "decorate compile inside"


SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)

FEW = 8  # numbers that are taken in turn: as many as Dynamo compiles for


class Statements:
    """`nested` is what functions define, as they last did."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.nested: dict[ast.AST, Value] = {}
        self.catching: list[int] = []  # the lines of each `try` around that waits for an AssertionError
        self.assignments = Assignments(at)
        self.loops = Loops(at)
        self.handlers: dict[type[ast.AST], Any] = {
            ast.Expr: self.s_expr,
            ast.Assign: self.s_assign,
            ast.AnnAssign: self.s_annassign,
            ast.AugAssign: self.s_augassign,
            ast.Return: self.s_return,
            ast.Raise: self.s_raise,
            ast.Break: self.s_break,
            ast.Continue: self.s_continue,
            ast.Assert: self.s_assert,
            ast.Delete: self.s_delete,
            ast.Global: self.s_global,
            ast.Nonlocal: self.s_nonlocal,
            ast.Import: self.s_import,
            ast.ImportFrom: self.s_import,
            ast.FunctionDef: self.s_functiondef,
            ast.AsyncFunctionDef: self.s_functiondef,
            WatchedFunction: self.s_functiondef,
            WatchedAsyncFunction: self.s_functiondef,
            ast.ClassDef: self.s_classdef,
            ast.If: self.s_if,
            ast.For: self.loops.s_for,
            ast.AsyncFor: self.loops.s_for,
            ast.While: self.loops.s_while,
            ast.With: self.s_with,
            ast.AsyncWith: self.s_with,
            ast.Try: self.s_try,
            getattr(ast, "TryStar", ast.Try): self.s_try,  # from Python 3.11
            ast.Match: self.s_match,
        }

    def block(self, body: list[ast.stmt], env: Env, frame: Frame) -> bool:
        """Run statements in order; False if control never reaches the end."""
        handlers = self.handlers
        seen = self.at.expressions.seen
        for statement in body:
            handler = handlers.get(statement.__class__)
            if handler is not None:
                seen.clear()
                frame.line = statement.lineno
                frame.broke = False
                frame.block = body
                if handler(statement, env, frame) is False:
                    return False
                if frame.broke and isinstance(statement, SIMPLE):
                    resumed(env)
        return True

    def s_expr(self, node: ast.Expr, env: Env, frame: Frame) -> None:
        value = self.at.expressions.eval(node.value, env, frame)
        if isinstance(node.value, ast.Call):
            callee = self.at.calls.last_external
            if (
                callee
                and self.at.notebook.listens(f"discard {callee}", frame)
                and self.at.calls.last_call is node.value
            ):
                self.at.notebook.note(node.value, f"discard {callee}", frame)
            self._known_by(node.value, env, frame)
        elif isinstance(value, Ext) and isinstance(node.value, (ast.Name, ast.Attribute)):
            # `torch.compile` alone in a line above a function: its `@` is missing
            if self.at.notebook.listens(f"discard {value.name}", frame):
                both = pairwise(frame.block if len(frame.block) > 1 else frame.module.tree.body)
                below = next((statement for here, statement in both if here is node), None)
                if isinstance(below, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    self.at.notebook.note(node.value, f"discard {value.name}", frame)

    def _known_by(self, call: ast.Call, env: Env, frame: Frame) -> None:
        """After `model.compile()`, a name of which nothing was known stands for what was compiled in place."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and env.get(owner.id) is UNKNOWN:
            told = self.at.expressions.by_methods.object(owner, frame)
            if isinstance(told, Instance) and self.at.calls.roots.is_compiled_in_place(told):
                env[owner.id] = told

    def s_assign(self, node: ast.Assign, env: Env, frame: Frame) -> None:
        value = self.at.expressions.eval(node.value, env, frame)
        made = self._stepped(node.value, frame) if frame.region and len(node.targets) == 1 else None
        if made is not None:
            # `self.step = self.step + 1`
            target = node.targets[0]
            sides = (made.left, made.right)
            if isinstance(target, ast.Subscript):
                again = any(
                    isinstance(s, ast.Subscript) and ast.unparse(s) == ast.unparse(target) for s in sides
                )
            else:
                again = dotted(target) is not None and dotted(target) in map(dotted, sides)
            if again:
                current = self.at.expressions.again(target, env, frame)
                for hear in self.at.events.changed:
                    hear(target, current, value, env, frame)
        chosen = self.at.conditions.splits.chosen(node, frame) if isinstance(node.value, ast.IfExp) else None
        for target in node.targets:
            self.at.statements.assignments.assign(target, value, env, frame)
            if chosen is not None and isinstance(target, ast.Name) and env[target.id] is value:
                self.at.conditions.splits.name(chosen, target.id, value)
            if isinstance(target, ast.Tuple):
                self._counted(target, node.value, env)

    def _stepped(self, value: ast.expr, frame: Frame) -> ast.BinOp | None:
        """`self.at + 1`, also of `(self.at + 1) % self.size` and `min(self.at + 1, self.size)`."""
        if isinstance(value, ast.BinOp):
            return _not_in_turn(value)
        if isinstance(value, ast.Call) and len(value.args) == 2 and not value.keywords:
            sums = [a for a in value.args if isinstance(a, ast.BinOp) and isinstance(a.op, ast.Add)]
            least = self.at.types.named(value.func, frame) if len(sums) == 1 else None
            if isinstance(least, Ext) and least.name == "builtins.min" and not any(map(_is_few, value.args)):
                return sums[0]
        return None

    def _counted(self, target: ast.Tuple, value: ast.expr, env: Env) -> None:
        """`b, t, c = x.shape`, `b, t, c = x.size()`: the tensor has as many dimensions as there are names."""
        asked = value.func if isinstance(value, ast.Call) and not value.args else value
        if not isinstance(asked, ast.Attribute) or asked.attr != ("shape" if asked is value else "size"):
            return
        tensor = env.get(asked.value.id) if isinstance(asked.value, ast.Name) else None
        starred = any(isinstance(each, ast.Starred) for each in target.elts)
        if isinstance(tensor, Tensor) and tensor.ndim is None and not starred:
            env[asked.value.id] = tensor.but(ndim=len(target.elts))  # type: ignore[attr-defined]

    def s_annassign(self, node: ast.AnnAssign, env: Env, frame: Frame) -> None:
        if node.value is not None:
            value = self.at.expressions.eval(node.value, env, frame)
            if isinstance(value, type(UNKNOWN)):
                value = self.at.types.annotation(node.annotation, frame)
            else:
                self.at.types.fill(value, node.annotation, frame)
            self.at.statements.assignments.assign(node.target, value, env, frame)

    def s_augassign(self, node: ast.AugAssign, env: Env, frame: Frame) -> None:
        # The target is read first: `x[mask] -= 1` reads through the mask.
        current = self.at.expressions.eval(node.target, env, frame)
        value = self.at.expressions.eval(node.value, env, frame)
        if (
            isinstance(current, Seq)
            and isinstance(node.op, ast.Add)
            and current.type not in ("tuple", "args")
        ):
            for hear in self.at.events.changed:
                hear(node.target, current, current, env, frame)
            extend(current, value)
            return
        made = binary(self.at, current, value, node.op, node, frame)
        for hear in self.at.events.changed:
            hear(node.target, current, made, env, frame)
        self.at.statements.assignments.assign(node.target, made, env, frame)

    def s_return(self, node: ast.Return, env: Env, frame: Frame) -> bool:
        frame.returns.append(NONE if node.value is None else self.at.expressions.eval(node.value, env, frame))
        return False

    def s_raise(self, node: ast.Raise, env: Env, frame: Frame) -> bool:
        # What is built for an exception is not what the traced path runs: its arguments are not looked at.
        return False

    def s_break(self, node: ast.Break, env: Env, frame: Frame) -> bool:
        if frame.breaks:
            frame.breaks[-1].append(dict(env))
        return False

    def s_continue(self, node: ast.Continue, env: Env, frame: Frame) -> bool:
        if frame.continues:
            frame.continues[-1].append(dict(env))
        return False

    def s_assert(self, node: ast.Assert, env: Env, frame: Frame) -> None:
        # A plain tensor is fine: Dynamo turns `assert t` into an assertion in the graph, and so the last operand of
        # `and` and `or`. `not`, the other operands and chained comparisons are jumps of their own.
        last = last_operand(node.test)
        # The same goes for a message that has to be built.
        built = node.msg is not None and not isinstance(node.msg, ast.Constant)
        if built or last is not node.test:
            self.at.conditions.asserted = None if built else last
            self.at.conditions.test(node.test, env, frame)
            if last is not None and not built and frame.region:  # who hears of it asks of traced code alone
                value = self.at.expressions.again(last, env, frame)
                for hear in self.at.events.asserted:
                    hear(node, last, value, frame)
        else:
            value = self.at.expressions.eval(node.test, env, frame)
            self.at.conditions.asks_for_truth(node.test, value, frame)
            for hear in self.at.events.asserted:
                hear(node, last, value, frame)
        self.at.conditions.narrow(node.test, env, True, frame)
        self.at.conditions.hold(node.test, env, frame)

    def s_delete(self, node: ast.Delete, env: Env, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                env.pop(target.id, None)
            elif isinstance(target, ast.Attribute) and frame.region:
                owner = self.at.expressions.again(target.value, env, frame)
                for hear in self.at.events.deleted:
                    hear(target, owner, frame)
            elif isinstance(target, ast.Subscript):
                index = self.at.expressions.again(target.slice, env, frame)
                among = takers(self.at.expressions.again(target.value, env, frame), index)
                for owner in among:
                    if isinstance(owner, Seq):
                        if len(among) == 1:
                            self.at.expressions.subscripts.check_place(index, target, env, frame)
                        owner.counted = False

    def s_global(self, node: ast.Global, env: Env, frame: Frame) -> None:
        frame.globals |= frozenset(node.names)

    def s_nonlocal(self, node: ast.Nonlocal, env: Env, frame: Frame) -> None:
        frame.nonlocals |= frozenset(node.names)

    def s_import(self, node: ast.Import | ast.ImportFrom, env: Env, frame: Frame) -> None:
        for local, target in frame.module.import_targets(node):
            if local != "*":
                env[local] = self.at.names.qualified(target)

    def s_functiondef(self, node: ast.FunctionDef, env: Env, frame: Frame) -> None:
        for decorator in node.decorator_list if frame.region else ():
            if isinstance(decorator, ast.Call) and self.at.notebook.listens(COMPILES, frame):
                # `@torch.compile(mode=...)` calls it without what it compiles: that alone Dynamo does not trace.
                called = self.at.expressions.quietly(decorator.func, env, frame)
                compiles = isinstance(called, Ext) and self.at.models.plays(called.name, "compiles")
                if compiles and not decorator.args:
                    self.at.notebook.note(decorator, COMPILES, frame)
        value: Value = Func(node, frame.module, self.at.expressions.closed(env, frame))
        value = self.at.calls.decorated(value, node, env, frame)
        env[node.name] = self.nested[node] = value

    def s_classdef(self, node: ast.ClassDef, env: Env, frame: Frame) -> None:
        if self.at.notebook.listens("define class", frame):
            start = node.col_offset + len("class ")  # the name, as it is mostly written
            place = (node.lineno, start, node.lineno, start + len(node.name))
            self.at.notebook.note(node, "define class", frame, place=place)
        value = Class(ClassInfo(node, frame.module, dict(env)))
        env[node.name] = self.nested[node] = value

    def s_if(self, node: ast.If, env: Env, frame: Frame) -> bool:
        outer = frame.guards
        frame.guards += self.at.conditions.branches.of_test(node, frame)
        known = self.at.conditions.test(node.test, env, frame)
        frame.guards = outer
        split = self.at.conditions.splits.ask(node.test, frame) if known is None else None
        paths: list[Env] = []
        before, rest = frame.guards, self.at.conditions.branches.rest(node, frame.block, env, frame)
        left: list[Path] = []  # what holds where each branch that goes on ends
        undecided = known is None
        met = missed = before
        if undecided:  # asked while what the test evaluated is at hand
            met = self.at.conditions.asked.where(node.test, True, env, frame)
            missed = self.at.conditions.asked.where(node.test, False, env, frame)
        then, other = dict(env), dict(env)
        if known is not False:
            self.at.conditions.narrow(node.test, then, True, frame)
        if known is not True:
            self.at.conditions.narrow(node.test, other, False, frame)
        parted = self.at.conditions.splits.parted(env, then, other, frame) if frame.splits else []
        if known is not False:
            frame.guards = self.at.conditions.branches.branch(
                node.test, met, not undecided, node.body, env, frame, not node.orelse
            )
            doubt = self.at.conditions.unlikely(node.test, env, frame, ALWAYS_OFF)
            self.at.notebook.doubt += doubt
            alive = self.block(node.body, then, frame)
            self.at.notebook.doubt -= doubt
            if alive:
                paths.append(then)
                left.append(frame.guards)
        if known is not True:
            frame.guards = before
            frame.guards = self.at.conditions.branches.branch(
                node.test, missed, not undecided, node.orelse, env, frame, met=False
            )
            if self.block(node.orelse, other, frame):
                paths.append(other)
                left.append(frame.guards)
        # What follows runs under the test where one branch returns; an error is nothing that code waits for.
        one = len(left) == 1 and not (undecided and (fails(node.body) or fails(node.orelse)))
        frame.guards = tuple(g for g in left[0] if g.text or g in before) if one else before
        # What a global that starts as None says is known, until this has run once.
        frame.guards += rest if one and (undecided or Guard("", ONCE) in rest) else ()
        if not paths:
            return False
        merge_env(env, paths, frame)
        if undecided and len(paths) == 2 and frame.region:
            for side, other, guards in ((paths[0], paths[1], met), (paths[1], paths[0], missed)):
                tell_apart(env, side, other, tuple(guard for guard in guards if guard not in before))
        for name, both, one_way, other_way in parted:
            if len(paths) == 2 and paths[0].get(name) is one_way and paths[1].get(name) is other_way:
                env[name] = both
        if split is not None and len(paths) == 2:
            self.at.conditions.splits.keep(split, env, paths[0], paths[1])
        return True

    def s_with(self, node: ast.With, env: Env, frame: Frame) -> bool:
        outer, guards, gradless = frame.inside, frame.guards, frame.gradless
        managers: list[tuple[Instance, ast.expr]] = []
        for item in node.items:
            value = self.at.expressions.eval(item.context_expr, env, frame)
            device = isinstance(value, Py) and value.type == "device"
            name = self.at.models.named("device context") if device else self.at.names.external_name(value)
            if name is None and isinstance(item.context_expr, ast.Call):
                name = self.at.names.external_name(
                    self.at.expressions.again(item.context_expr.func, env, frame)
                )
            noted = name or self._one_of(value, item.context_expr)
            if any(self.at.notebook.listens(f"with {manager}", frame) for manager in (OWN, OF_TORCH)):
                noted = kept(self.at, value, item.context_expr, env, frame) or noted
            if noted and self.at.notebook.listens(f"with {noted}", frame):
                self.at.notebook.note(item.context_expr, f"with {noted}", frame)
            if name and self.at.models.plays(name, "without gradients"):
                frame.gradless = True
            if not (name and self.at.models.plays(name, "resumable")):
                frame.inside = "with"
            elif frame.region and self.at.models.plays(name, "without gradients"):
                frame.guards += (Guard("", GRADLESS),)
            entered: Value = value if isinstance(value, (Instance, Tensor)) else UNKNOWN
            if isinstance(value, Instance) and value.cls is not None:
                entered = self.called(value, "__enter__", item.context_expr, frame)
                managers.append((value, item.context_expr))
            if item.optional_vars is not None:
                self.at.statements.assignments.assign(item.optional_vars, entered, env, frame)
        alive = self.block(node.body, env, frame)
        for manager, place in reversed(managers):
            self.called(manager, "__exit__", place, frame)
        frame.inside, frame.gradless = outer, gradless
        frame.guards = tuple(g for g in frame.guards if g.sort != GRADLESS or g in guards)
        return alive

    def _one_of(self, value: Value, node: ast.expr) -> str | None:
        """The context manager that a helper gives unless it gives one that does nothing: `with kernels():`."""
        if not isinstance(node, ast.Call) or not isinstance(value, Union):
            return None
        names = {self.at.names.external_name(o) for o in options(value)}
        left = [n for n in names if n is None or not self.at.models.plays(n, "resumable")]
        return left[0] if len(left) == 1 else None

    def called(self, me: Instance, method: str, node: ast.expr, frame: Frame) -> Value:
        """What a method that the language itself calls on an object of the project returns."""
        given: list[Value] = [] if method == "__enter__" else [NONE, NONE, NONE]
        value = special(self.at, me, method, given, node, frame)
        if value is None:
            return me if method == "__enter__" else UNKNOWN
        return value

    def s_try(self, node: ast.Try, env: Env, frame: Frame) -> bool:
        outer, frame.inside = frame.inside, "try"
        start = dict(env)
        guards = frame.guards
        returned = len(frame.returns)
        catches = self.catches_assertions(node, env, frame)
        self.catching += [node.lineno] * catches
        if self.at.notebook.listens("import guarded", frame):
            self.imports_of_others(node, env, frame)
        alive = self.block(node.body, env, frame)
        del self.catching[len(self.catching) - catches :]
        frame.inside = outer
        paths: list[Env] = []
        if not alive and len(frame.returns) > returned and _only_imports(node.body):
            known = [r for r in frame.returns[returned:] if isinstance(r, Py) and truth(r) is not None]
            if known:
                # `try: import torch; return torch.compiler.is_compiling()`: nothing here raises.
                return False
        after = dict(env)
        if alive and (not node.orelse or self.block(node.orelse, env, frame)):
            paths.append(env)
        for handler in node.handlers:
            caught = dict(start)
            merge_env(caught, [caught, after], frame)
            if handler.name:
                caught[handler.name] = OBJECT
            frame.guards = guards
            # Dynamo traces a handler only where it sees the exception raised, as where a key is first asked for.
            unseen = not self.asks_for_a_key(node, handler, env, frame)
            self.at.notebook.doubt += unseen
            frame.inside = "try"
            alive = self.block(handler.body, caught, frame)
            frame.inside = outer
            self.at.notebook.doubt -= unseen
            if alive:
                paths.append(caught)
        ended = not paths
        frame.guards = guards
        if not ended:
            merge_env(env, paths, frame)
        if node.finalbody and not self.block(node.finalbody, env, frame):
            return False
        return not ended

    def asks_for_a_key(self, node: ast.Try, handler: ast.ExceptHandler, env: Env, frame: Frame) -> bool:
        """`try: t = TABLE[key]` and `except KeyError:`"""
        if (
            handler.type is None
            or len(node.body) != 1
            or not isinstance(node.body[0], (ast.Assign, ast.Return))
        ):
            return False
        kind = self.at.expressions.again(handler.type, env, frame)
        asked = isinstance(node.body[0].value, ast.Subscript)
        return asked and isinstance(kind, Ext) and self.at.models.plays(kind.name, "missing key")

    def s_match(self, node: ast.Match, env: Env, frame: Frame) -> bool:
        tensor = tensor_of(self.at.expressions.eval(node.subject, env, frame))
        if tensor is not None and self.at.notebook.listens("test tensor", frame):
            if any(isinstance(p, ast.MatchValue) for case in node.cases for p in ast.walk(case.pattern)):
                self.at.notebook.note(node.subject, "test tensor", frame, about=tensor)
        conditions = self.at.conditions
        paths: list[Env] = []
        after = dict(env)  # what holds where no case has matched so far
        for case in node.cases:
            inner = dict(after)
            test = as_test(case.pattern, node.subject)
            known = None if test is None else truth(self.at.expressions.again(test, inner, frame))
            if test is not None:
                conditions.narrow(test, inner, True, frame)
            bound = captures(case.pattern, node.subject)
            values = [UNKNOWN if e is None else self.at.expressions.again(e, inner, frame) for _, e in bound]
            for (name, _), value in zip(bound, values, strict=True):
                target = ast.copy_location(ast.Name(name, ast.Store()), case.pattern)
                self.assignments.assign(target, value, inner, frame)
            if known is not False:
                before = frame.guards
                if (asked := as_comparison(case, node.subject)) is not None:
                    frame.guards = conditions.asked.where(asked, True, inner, frame)
                if case.guard is not None:
                    conditions.test(case.guard, inner, frame)
                if self.block(case.body, inner, frame):
                    paths.append(inner)
                frame.guards = before
            if case.guard is None:
                if known is True or takes_all(case.pattern):
                    break
                if test is not None:
                    conditions.narrow(test, after, False, frame)
        else:
            paths.append(after)
        if not paths:
            return False
        merge_env(env, paths, frame)
        return True

    def catches_assertions(self, node: ast.Try, env: Env, frame: Frame) -> bool:
        """Whether a handler of the `try` names AssertionError, and none the RuntimeError that comes instead."""
        kinds = self.caught(node, env, frame)
        return any(self.at.models.plays(k, "assertion error") for k in kinds) and not any(
            not k or self.at.models.plays(k, "runtime error") for k in kinds
        )

    def caught(self, node: ast.Try, env: Env, frame: Frame) -> list[str]:
        """The names of what the handlers catch, "" where it is not known or a handler catches all."""
        kinds: list[str] = []
        for handler in node.handlers:
            named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            for kind in named:
                value = self.at.expressions.again(kind, env, frame) if kind is not None else None
                kinds.append(value.name if isinstance(value, Ext) else "")
        return kinds

    def imports_of_others(self, node: ast.Try, env: Env, frame: Frame) -> None:
        """Note the imports for which the `try` provides that the library is not there."""
        if not any(self.at.models.plays(k, "import error") for k in self.caught(node, env, frame)):
            return
        there = {self.at.models.tensor.split(".")[0], *sys.stdlib_module_names}
        for statement in node.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                names = {target.split(".")[0] for _, target in frame.module.import_targets(statement)}
                missing = sorted(n for n in names - there if not self.at.names.project.is_first_party(n))
                if missing:
                    before, frame.guards = frame.guards, (*frame.guards, Guard("", MISSING))
                    self.at.notebook.note(statement, "import guarded", frame)
                    frame.guards = before


def _only_imports(body: list[ast.stmt]) -> bool:
    """Whether a `try` body holds nothing but imports and returns, which may stand under an `if`."""
    return all(
        isinstance(s, (ast.Import, ast.ImportFrom, ast.Return))
        or (isinstance(s, ast.If) and _only_imports(s.body) and _only_imports(s.orelse))
        for s in body
    )


def _not_in_turn(value: ast.BinOp) -> ast.BinOp:
    """`self.at + 1` of `(self.at + 1) % self.size`, unless that takes no more than a few numbers in turn."""
    if not isinstance(value.op, ast.Mod) or not isinstance(value.left, ast.BinOp):
        return value
    return value if _is_few(value.right) else value.left


def _is_few(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value <= FEW
