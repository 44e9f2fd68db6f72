"""How statements run in the abstract: assignments, branches, loops, and what they do to the environment."""

from __future__ import annotations

import ast
from typing import Any

from pt2lint.static.interpreter.expressions import Expressions, dotted, resumed
from pt2lint.static.interpreter.frame import Env, Frame
from pt2lint.static.observers.misuse import imported_above
from pt2lint.static.source.modules import ClassInfo
from pt2lint.static.values import (
    ALWAYS_OFF,
    NONE,
    OBJECT,
    UNKNOWN,
    Class,
    Dict,
    Ext,
    Func,
    Instance,
    Py,
    Seq,
    Tensor,
    Union,
    Value,
    element,
    extend,
    is_none,
    join,
    join_all,
    mixed,
    options,
    tensor_of,
    truth,
    without,
)


def merge_env(target: Env, others: list[Env]) -> None:
    """Make `target` the join of the environments of all paths that arrive at one point."""
    first, *rest = others
    result = first if first is target else dict(first)
    for other in rest:
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                result[name] = value
            elif mine is not value:
                result[name] = join(mine, value)
    if result is not target:
        target.clear()
        target.update(result)


SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


class Statements(Expressions):
    def block(self, body: list[ast.stmt], env: Env, frame: Frame) -> bool:
        """Run statements in order; False if control never reaches the end."""
        handlers = self._statements
        for statement in body:
            handler = handlers.get(statement.__class__)
            if handler is not None:
                frame.line = statement.lineno
                frame.broke = False
                if handler(self, statement, env, frame) is False:
                    return False
                if frame.broke and isinstance(statement, SIMPLE):
                    resumed(env)
        return True

    # Simple statements

    def s_expr(self, node: ast.Expr, env: Env, frame: Frame) -> None:
        value = self.eval(node.value, env, frame)
        if isinstance(node.value, ast.Call):
            callee = self.last_external
            if callee and self.listens(f"discard {callee}", frame) and self.last_call is node.value:
                self.note(node.value, f"discard {callee}", frame)
        del value

    def s_assign(self, node: ast.Assign, env: Env, frame: Frame) -> None:
        value = self.eval(node.value, env, frame)
        if frame.region and isinstance(node.value, ast.BinOp) and len(node.targets) == 1:
            # `self.step = self.step + 1`
            target = node.targets[0]
            if dotted(target) is not None and dotted(target) in (
                dotted(node.value.left),
                dotted(node.value.right),
            ):
                self.changed(target, self.quietly(target, env, frame), env, frame)
        for target in node.targets:
            self.assign(target, value, env, frame)

    def s_annassign(self, node: ast.AnnAssign, env: Env, frame: Frame) -> None:
        if node.value is not None:
            value = self.eval(node.value, env, frame)
            if isinstance(value, type(UNKNOWN)):
                value = self.annotation(node.annotation, frame)
            self.assign(node.target, value, env, frame)

    def s_augassign(self, node: ast.AugAssign, env: Env, frame: Frame) -> None:
        # The target is read first: `x[mask] -= 1` reads through the mask.
        current = self.eval(node.target, env, frame)
        value = self.eval(node.value, env, frame)
        if (
            isinstance(current, Seq)
            and isinstance(node.op, ast.Add)
            and current.type not in ("tuple", "args")
        ):
            extend(current, value)
            return
        self.changed(node.target, current, env, frame)
        self.assign(node.target, self.binary(current, value, node.op, node, frame), env, frame)

    def s_return(self, node: ast.Return, env: Env, frame: Frame) -> bool:
        frame.returns.append(NONE if node.value is None else self.eval(node.value, env, frame))
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
        # A plain tensor is fine: Dynamo turns `assert t` into an assertion in the graph. `not`, `and`, `or` and
        # chained comparisons are jumps of their own.
        jumps = isinstance(node.test, (ast.BoolOp, ast.IfExp)) or (
            isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
        )
        # The same goes for a message that has to be built.
        built = node.msg is not None and not isinstance(node.msg, ast.Constant)
        if jumps or built or (isinstance(node.test, ast.Compare) and len(node.test.ops) > 1):
            self.test(node.test, env, frame)
        else:
            self.asserted(node, self.eval(node.test, env, frame), frame)
        self.narrow(node.test, env, True, frame)

    def s_delete(self, node: ast.Delete, env: Env, frame: Frame) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                env.pop(target.id, None)

    def s_global(self, node: ast.Global, env: Env, frame: Frame) -> None:
        frame.globals.update(node.names)

    def s_import(self, node: ast.Import | ast.ImportFrom, env: Env, frame: Frame) -> None:
        for local, target in frame.module.import_targets(node):
            if local != "*":
                env[local] = self.qualified(target)

    def s_functiondef(self, node: ast.FunctionDef, env: Env, frame: Frame) -> None:
        value: Value = Func(node, frame.module, env)
        env[node.name] = self.decorated(value, node, env, frame)

    def s_classdef(self, node: ast.ClassDef, env: Env, frame: Frame) -> None:
        if self.listens("define class", frame):
            start = node.col_offset + len("class ")  # the name, as it is mostly written
            place = (node.lineno, start, node.lineno, start + len(node.name))
            self.note(node, "define class", frame, place=place)
        env[node.name] = Class(ClassInfo(node, frame.module, dict(env)))

    # Assignment

    def assign(self, target: ast.expr, value: Value, env: Env, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = value
            prefix = target.id + "."
            if prefix in "\n".join(env):  # mostly not, and this is the fast way to see it
                for k in [k for k in env if k.startswith(prefix)]:
                    del env[k]
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target.elts, value, env, frame)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Seq(None, element(value)), env, frame)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value, env, frame)
        elif isinstance(target, ast.Subscript):
            self.assign_item(target, value, env, frame)

    def unpack(self, targets: list[ast.expr], value: Value, env: Env, frame: Frame) -> None:
        elts: list[Value] | None = None
        if (
            isinstance(value, Seq)
            and value.elts is not None
            and not any(isinstance(t, ast.Starred) for t in targets)
        ):
            elts = value.elts if len(value.elts) == len(targets) else None
        elif isinstance(value, Seq) and value.prefix and not any(isinstance(t, ast.Starred) for t in targets):
            elts = [*value.prefix, *[mixed(value.elem)] * len(targets)][: len(targets)]
        elif isinstance(value, Union):
            sequences = [
                o for o in value.options if isinstance(o, Seq) and o.elts and len(o.elts) == len(targets)
            ]
            if sequences:
                elts = [join_all(s.elts[i] for s in sequences) for i in range(len(targets))]  # type: ignore[index]
        for i, target in enumerate(targets):
            self.assign(target, elts[i] if elts is not None else mixed(element(value)), env, frame)

    def assign_attribute(self, target: ast.Attribute, value: Value, env: Env, frame: Frame) -> None:
        owner = self.eval(target.value, env, frame)
        key = dotted(target)
        if key is not None:
            env[key] = value
        for option in options(owner):
            if not frame.region:
                self.set_outside(target, option, value, env, frame)
            elif isinstance(value, Py) and value.type == "int" and option is frame.me:
                self.kept(target, frame)
            if isinstance(option, Instance):
                if option.cls is not None and option is frame.me:
                    self.store(option, target.attr, value, frame)
                elif option.external and self.listens(f"set {option.external}.{target.attr}", frame):
                    self.note(target, f"set {option.external}.{target.attr}", frame)
            elif isinstance(option, Ext) and option.receiver is None:
                if self.listens(f"set {option.name}.{target.attr}", frame):
                    self.note(target, f"set {option.name}.{target.attr}", frame, args={0: self.sort(value)})
            elif isinstance(option, Class):
                self.patched(option.info, target, env, frame)
            elif isinstance(option, Tensor):
                operation = f"set {self.models.tensor}.{target.attr}"
                if self.listens(operation, frame):
                    self.note(target, operation, frame, about=option, args={0: self.sort(value)})

    def assign_item(self, target: ast.Subscript, value: Value, env: Env, frame: Frame) -> None:
        owner = self.eval(target.value, env, frame)
        index = self.eval(target.slice, env, frame)
        for option in options(owner):
            if isinstance(option, Dict):
                self.kept(target, frame)
                if isinstance(index, Py) and isinstance(index.const, str):
                    option.items[index.const] = value
                else:
                    option.elem = value if option.elem is UNKNOWN else join(option.elem, value)
                    option.key = index if option.key is None else join(option.key, index)
            elif isinstance(option, Seq):
                option.elts, option.elem = None, join(option.elem, value) if option.elts != [] else value
            elif isinstance(option, Tensor):
                self.check_sizes(target.slice, env, frame)
                for part in index.elts or () if isinstance(index, Seq) else (index,):
                    number = tensor_of(part)
                    if self.is_number(number) and self.listens("size tensor", frame):
                        self.note(target, "size tensor", frame, about=number)
            elif isinstance(option, Instance):
                self.assigned_item(option, index)
            elif isinstance(option, Ext) and self.listens(f"set {option.name}[]", frame):
                words: dict[int | str, str] = {0: self.sort(index), 1: self.sort(value)}
                reader = self.models.named("reads the environment")
                if imported_above(reader, frame.module.tree, target.lineno):
                    words["after"] = reader
                self.note(target, f"set {option.name}[]", frame, args=words)

    # Compound statements

    def s_if(self, node: ast.If, env: Env, frame: Frame) -> bool:
        known = self.test(node.test, env, frame)
        paths: list[Env] = []
        if known is not False:
            then = dict(env)
            self.narrow(node.test, then, True, frame)
            doubt = self.unlikely(node.test, env, frame, ALWAYS_OFF)
            self.doubt += doubt
            alive = self.block(node.body, then, frame)
            self.doubt -= doubt
            if alive:
                paths.append(then)
        if known is not True:
            other = dict(env)
            self.narrow(node.test, other, False, frame)
            if self.block(node.orelse, other, frame):
                paths.append(other)
        if not paths:
            return False
        merge_env(env, paths)
        return True

    def loop(
        self, node: ast.For | ast.While, env: Env, frame: Frame, first: Value | None, endless: bool
    ) -> bool:
        outer, frame.inside = frame.inside, "loop"
        breaks: list[Env] = []
        frame.breaks.append(breaks)
        for _ in range(2):
            body = dict(env)
            if isinstance(node, ast.For) and first is not None:
                self.assign(node.target, first, body, frame)
            elif isinstance(node, ast.While):
                self.test(node.test, body, frame)
                self.narrow(node.test, body, True, frame)
            continues: list[Env] = []
            frame.continues.append(continues)
            alive = self.block(node.body, body, frame)
            frame.continues.pop()
            before = dict(env)
            merge_env(env, [env, *([body] if alive else []), *continues])
            if all(env.get(k) is v for k, v in before.items()) and len(before) == len(env):
                break
        frame.breaks.pop()
        frame.inside = outer
        if node.orelse:
            self.block(node.orelse, env, frame)
        if endless:
            if not breaks:
                return False
            merge_env(env, breaks)
        elif breaks:
            merge_env(env, [env, *breaks])
        return True

    def s_for(self, node: ast.For, env: Env, frame: Frame) -> bool:
        iterable = self.eval(node.iter, env, frame)
        self.iterated(node.iter, iterable, frame)
        loader = self.loader(node, iterable, env, frame)
        if loader is not None:
            frame.loaders.append(loader)
            try:
                return self.loop(node, env, frame, UNKNOWN, False)
            finally:
                frame.loaders.pop()
        if isinstance(iterable, Seq) and iterable.elts is not None and not iterable.elts:
            # An empty list that something else may fill: the body still runs once, about nothing known.
            return self.loop(node, env, frame, UNKNOWN, False)
        return self.loop(node, env, frame, element(iterable), False)

    def s_while(self, node: ast.While, env: Env, frame: Frame) -> bool:
        known = truth(self.quietly(node.test, env, frame))
        if known is False:
            return True
        return self.loop(node, env, frame, None, known is True and isinstance(node.test, ast.Constant))

    def s_with(self, node: ast.With, env: Env, frame: Frame) -> bool:
        outer = frame.inside
        for item in node.items:
            value = self.eval(item.context_expr, env, frame)
            device = isinstance(value, Py) and value.type == "device"
            name = self.models.named("device context") if device else self.external_name(value)
            if name is None and isinstance(item.context_expr, ast.Call):
                name = self.external_name(self.quietly(item.context_expr.func, env, frame))
            if name and self.listens(f"with {name}", frame):
                self.note(item.context_expr, f"with {name}", frame)
            if not (name and self.models.plays(name, "resumable")):
                frame.inside = "with"
            if item.optional_vars is not None:
                entered = value if isinstance(value, (Instance, Tensor)) else UNKNOWN
                self.assign(item.optional_vars, entered, env, frame)
        alive = self.block(node.body, env, frame)
        frame.inside = outer
        return alive

    def s_try(self, node: ast.Try, env: Env, frame: Frame) -> bool:
        outer, frame.inside = frame.inside, "try"
        start = dict(env)
        returned = len(frame.returns)
        catches = self.catches_assertions(node, env, frame)
        self.catching += [node.lineno] * catches
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
            merge_env(caught, [caught, after])
            if handler.name:
                caught[handler.name] = OBJECT
            self.doubt += 1  # Dynamo traces a handler only where it sees the exception raised
            frame.inside = "try"
            alive = self.block(handler.body, caught, frame)
            frame.inside = outer
            self.doubt -= 1
            if alive:
                paths.append(caught)
        ended = not paths
        if not ended:
            merge_env(env, paths)
        if node.finalbody and not self.block(node.finalbody, env, frame):
            return False
        return not ended

    def s_match(self, node: ast.Match, env: Env, frame: Frame) -> bool:
        tensor = tensor_of(self.eval(node.subject, env, frame))
        if tensor is not None and self.listens("test tensor", frame):
            if any(isinstance(p, ast.MatchValue) for case in node.cases for p in ast.walk(case.pattern)):
                self.note(node.subject, "test tensor", frame, about=tensor)
        paths: list[Env] = [dict(env)]
        for case in node.cases:
            inner = dict(env)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None)
                if isinstance(part, (ast.MatchAs, ast.MatchStar)) and name:
                    inner[name] = UNKNOWN
            if case.guard is not None:
                self.test(case.guard, inner, frame)
            if self.block(case.body, inner, frame):
                paths.append(inner)
        merge_env(env, paths)
        return True

    # What a condition tells of the names in it

    def narrow(self, test: ast.expr, env: Env, outcome: bool, frame: Frame) -> None:
        """Change `env` to what holds where `test` came out as `outcome`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, env, not outcome, frame)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is outcome:
                for part in test.values:
                    self.narrow(part, env, outcome, frame)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                    self._narrow_none(test.left, env, outcome, frame)
                elif isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
                    self._narrow_none(test.left, env, not outcome, frame)
        elif isinstance(test, ast.NamedExpr):
            self.narrow(test.target, env, outcome, frame)
        elif isinstance(test, (ast.Name, ast.Attribute)):
            if outcome:
                self._narrow_none(test, env, False, frame)
        elif isinstance(test, ast.Call):
            self._narrow_call(test, env, outcome, frame)

    def _narrow_none(self, place: ast.expr, env: Env, none: bool, frame: Frame) -> None:
        if isinstance(place, ast.NamedExpr):
            place = place.target
        key = dotted(place)
        if key is None:
            return
        value = env.get(key)
        if value is None:
            value = self.quietly(place, env, frame)
        if none:
            if isinstance(value, Union) or is_none(value) is None:
                env[key] = NONE
        elif isinstance(value, Union):
            env[key] = without(value, lambda o: is_none(o) is True)

    def _narrow_call(self, test: ast.Call, env: Env, outcome: bool, frame: Frame) -> None:
        if len(test.args) < 1:
            return
        key = dotted(test.args[0])
        callee = self.quietly(test.func, env, frame)
        if key is None or not isinstance(callee, Ext):
            return
        value = env[key] if key in env else self.quietly(test.args[0], env, frame)
        if self.models.plays(callee.name, "asks for a tensor"):
            wanted: tuple[str, ...] = (self.models.tensor,)
        elif self.models.plays(callee.name, "asks for a type") and len(test.args) == 2:
            kinds = self.quietly(test.args[1], env, frame)
            names = [self.external_name(k) for k in (kinds.elts or [] if isinstance(kinds, Seq) else [kinds])]
            if not names or None in names:
                return
            wanted = tuple(n for n in names if n)
        else:
            return

        def fits(o: Value) -> bool | None:
            return self.is_instance(o, wanted)

        if outcome:
            kept = without(value, lambda o: fits(o) is False)
            if isinstance(kept, type(UNKNOWN)) or (
                isinstance(kept, Union) and any(o is UNKNOWN for o in kept.options)
            ):
                known = self.models.value_of_type(wanted[0]) if len(wanted) == 1 else None
                kept = known if known is not None else kept
            env[key] = kept
        elif isinstance(value, Union):
            env[key] = without(value, lambda o: fits(o) is True)

    _statements: dict[type[ast.AST], Any] = {
        ast.Expr: s_expr,
        ast.Assign: s_assign,
        ast.AnnAssign: s_annassign,
        ast.AugAssign: s_augassign,
        ast.Return: s_return,
        ast.Raise: s_raise,
        ast.Break: s_break,
        ast.Continue: s_continue,
        ast.Assert: s_assert,
        ast.Delete: s_delete,
        ast.Global: s_global,
        ast.Import: s_import,
        ast.ImportFrom: s_import,
        ast.FunctionDef: s_functiondef,
        ast.AsyncFunctionDef: s_functiondef,
        ast.ClassDef: s_classdef,
        ast.If: s_if,
        ast.For: s_for,
        ast.AsyncFor: s_for,
        ast.While: s_while,
        ast.With: s_with,
        ast.AsyncWith: s_with,
        ast.Try: s_try,
        ast.Match: s_match,
    }
    if hasattr(ast, "TryStar"):
        _statements[ast.TryStar] = s_try


def _only_imports(body: list[ast.stmt]) -> bool:
    """Whether a `try` body holds nothing but imports and returns, which may stand under an `if`."""
    return all(
        isinstance(s, (ast.Import, ast.ImportFrom, ast.Return))
        or (isinstance(s, ast.If) and _only_imports(s.body) and _only_imports(s.orelse))
        for s in body
    )
