"""How loops run in the abstract: what they go over, and what their body does to the environment."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.frame import Env, Frame, merge_env
from pt2lint.static.interpreter.guard_syntax import exits
from pt2lint.static.interpreter.guards import ITERATES, Guard
from pt2lint.static.interpreter.special import items
from pt2lint.static.interpreter.syntax import source_of
from pt2lint.static.source.nodes import walk
from pt2lint.static.values import UNKNOWN, Instance, Py, Seq, Value, element, mixed, options, tensor_of, truth

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context


def of_each_turn(iterable: Value, target: ast.expr, within: ast.AST) -> Value:
    """What a turn is given. A loop over all items of a dictionary meets its tensors; where it asks for the key, they
    may be what it leaves out."""
    each = element(iterable)
    unsure = mixed(each)
    if not isinstance(target, ast.Tuple) or not isinstance(each, Seq) or unsure is each:
        return each
    keys = {n.id for n in walk(target) if isinstance(n, ast.Name)} - {last_name(target)}
    asked = any(
        isinstance(n, ast.Name) and n.id in keys
        for part in walk(within)
        for test in tests_of(part)
        for n in walk(test)
    )
    return unsure if asked else each


def last_name(target: ast.expr) -> str:
    """`value` of `for i, (key, value) in ...`."""
    while isinstance(target, ast.Tuple):
        target = target.elts[-1]
    return target.id if isinstance(target, ast.Name) else ""


def tests_of(part: ast.AST) -> list[ast.expr]:
    if isinstance(part, (ast.If, ast.IfExp, ast.While)):
        return [part.test]
    if isinstance(part, ast.Match):
        return [part.subject]
    return part.ifs if isinstance(part, ast.comprehension) else []


MAX_NAMES = 8  # in a list that a loop which asks for attributes by name goes over one by one


class Loops:
    def __init__(self, at: Context) -> None:
        self.at = at

    def s_for(self, node: ast.For, env: Env, frame: Frame) -> bool:
        iterable = self.at.expressions.eval(node.iter, env, frame)
        self.at.calls.iterated(node.iter, iterable, frame)
        over = self._source(node.iter, iterable, env, frame)
        made = items(self.at, over, node.iter, frame)
        if made is not None and over is iterable:
            iterable = over = made
        outer, counted = frame.loaders, frame.counted
        for hear in self.at.events.looped:
            hear(node, over, env, frame)
        layers = self.gives_modules(over)
        frame.layers += layers
        try:
            return self._over(node, over, iterable, env, frame)
        finally:
            frame.loaders, frame.counted = outer, counted
            frame.layers -= layers

    def gives_modules(self, value: Value) -> bool:
        """Whether a loop over the value is one over modules."""
        return isinstance(value, Seq) and any(
            isinstance(o, Instance)
            and (self.at.classes.is_module(o.cls) or self.at.models.makes_modules(o.external or ""))
            for o in options(value.elem)
        )

    def _source(self, node: ast.expr, value: Value, env: Env, frame: Frame) -> Value:
        """What a loop goes over in the end: `items` of `enumerate(tqdm(items))`, and of a bar that has a name."""
        source = source_of(node, self.at.models.last_words("passes items"))
        found = value if source is node else self.at.expressions.again(source, env, frame)
        for one in options(found):
            inside = one.attrs.get("iterable", one) if isinstance(one, Instance) else one
            if isinstance(inside, Instance) and self.at.models.plays(inside.external, "loader"):
                return inside
        return found

    def _over(self, node: ast.For, over: Value, iterable: Value, env: Env, frame: Frame) -> bool:
        if isinstance(over, Instance) and self.at.models.plays(over.external, "loader"):
            # Nothing is known of a batch, nor of how many there are.
            return self._loop(node, env, frame, UNKNOWN, False)
        if isinstance(iterable, Seq) and iterable.elts is not None and not iterable.elts:
            # An empty list that something else may fill: the body still runs once, about what is known of its elements.
            return self._loop(node, env, frame, iterable.elem, False)
        names = iterable.elts or () if isinstance(iterable, Seq) else ()
        if (
            1 < len(names) <= MAX_NAMES
            and not frame.region
            and all(isinstance(name, Py) and isinstance(name.const, str) for name in names)
        ):
            if any(isinstance(p, ast.Name) and p.id == "getattr" for p in walk(node)):
                # `for name in ("encode", "decode"): setattr(m, name, torch.compile(getattr(m, name)))`
                for name in names:
                    self._loop(node, env, frame, name, False)
                return True
        return self._loop(node, env, frame, of_each_turn(iterable, node.target, node), False)

    def s_while(self, node: ast.While, env: Env, frame: Frame) -> bool:
        known = truth(self.at.expressions.again(node.test, env, frame))
        if known is False:
            return True
        counted = frame.counted
        for hear in self.at.events.looped:
            hear(node, UNKNOWN, env, frame)
        try:
            return self._loop(node, env, frame, None, known is True and isinstance(node.test, ast.Constant))
        finally:
            frame.counted = counted

    def _loop(
        self, node: ast.For | ast.While, env: Env, frame: Frame, first: Value | None, endless: bool
    ) -> bool:
        outer, frame.inside = frame.inside, "loop"
        after_loop = frame.guards
        if self._iterates(node, env, frame, first):
            frame.guards += (Guard("", ITERATES),)
        before_loop = frame.guards
        breaks: list[Env] = []
        frame.breaks.append(breaks)
        for _ in range(1 if self.at.expressions.spent else 2):
            body = dict(env)
            frame.guards = before_loop
            if isinstance(node, ast.For) and first is not None:
                self.at.statements.assignments.assign(node.target, first, body, frame)
            elif isinstance(node, ast.While):
                self.at.conditions.test(node.test, body, frame)
                self.at.conditions.narrow(node.test, body, True, frame)
            continues: list[Env] = []
            frame.continues.append(continues)
            alive = self.at.statements.block(node.body, body, frame)
            frame.continues.pop()
            before = dict(env)
            merge_env(env, [env, *([body] if alive else []), *continues], frame)
            if all(env.get(k) is v for k, v in before.items()) and len(before) == len(env):
                break
        frame.breaks.pop()
        frame.guards = after_loop
        frame.inside = outer
        if node.orelse:
            self.at.statements.block(node.orelse, env, frame)
        if endless:
            if not breaks:
                return False
            merge_env(env, breaks, frame)
        elif breaks:
            merge_env(env, [env, *breaks], frame)
        return True

    def _iterates(self, node: ast.For | ast.While, env: Env, frame: Frame, first: Value | None) -> bool:
        """Whether values of tensors say when the loop has run often enough: an algorithm that converges, or decodes."""
        if not frame.region or self.at.notebook.quiet:
            return False

        def says(call: ast.Call) -> bool:
            return self.at.calls.roots.duties.are_calls([call], "says", env, frame)

        if not (tests := exits(node, says)):
            return False
        inner = dict(env)
        guards = frame.guards
        self.at.notebook.quiet += 1
        for kept in (frame.breaks, frame.continues):
            kept.append([])
        returned = len(frame.returns)
        try:
            if isinstance(node, ast.For) and first is not None:
                self.at.statements.assignments.assign(node.target, first, inner, frame)
            self.at.statements.block(node.body, inner, frame)
            return any(
                self._asks_tensor(test, inner, frame, isinstance(node, ast.For) or test is not node.test)
                for test in tests
            )
        finally:
            del frame.returns[returned:]
            for kept in (frame.breaks, frame.continues):
                kept.pop()
            self.at.notebook.quiet -= 1
            frame.guards = guards

    def _asks_tensor(self, test: ast.expr, env: Env, frame: Frame, read: bool) -> bool:
        """Whether a test depends on values of tensors, as they are or, if `read`, as numbers read out of one."""
        if isinstance(test, ast.BoolOp):
            return any(self._asks_tensor(part, env, frame, read) for part in test.values)
        if isinstance(test, ast.UnaryOp):
            return self._asks_tensor(test.operand, env, frame, read)
        asked = [test, test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
        values = [self.at.expressions.again(each, env, frame) for each in asked]
        return any(tensor_of(v) is not None or (read and isinstance(v, Py) and v.read) for v in values)
