"""How a test comes out where nobody has set the environment: `os.getenv("DEBUG", "0") == "1"`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from pt2lint.static.interpreter.frame import Frame
from pt2lint.static.interpreter.guard_syntax import COMPARED
from pt2lint.static.source.nodes import FunctionNode, made_once, unit_of
from pt2lint.static.values import Func

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

DEEPEST = 6  # names and functions that lead to another
MOST = 1000  # expressions that one test asks
PLAIN = {"int": int, "bool": bool, "str": str, "float": float}
OF_TEXTS = ("strip", "lower", "upper", "split", "startswith", "endswith")


class Unknown(Exception):
    """It depends on something else."""


class Usual:
    """Reads the words of the code: numbers and texts of the environment, and what is made of them."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self._known: dict[ast.expr, bool | None] = {}

    def outcome(self, test: ast.expr, frame: Frame) -> bool | None:
        """How it comes out, None where that depends on something else, or not on the environment."""
        if test not in self._known:
            running = self.at.functions.running()
            asked = _Asked(self.at)
            try:
                known = bool(asked.value(test, made_once(running) if running else {}, frame))
            except (Unknown, ValueError, TypeError, AttributeError, OverflowError):
                known = None
            self._known[test] = known if asked.environment else None
        return self._known[test]


class _Asked:
    def __init__(self, at: Context) -> None:
        self.at, self.environment, self.asked = at, False, 0

    def value(self, node: ast.expr, names: dict[str, ast.expr], frame: Frame, depth: int = 0) -> Any:
        self.asked += 1
        if depth > DEEPEST or self.asked > MOST:
            raise Unknown
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [self.value(part, names, frame, depth) for part in node.elts]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.value(node.operand, names, frame, depth)
        if isinstance(node, ast.BoolOp):
            return self._either(node, names, frame, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            left, right = (self.value(side, names, frame, depth) for side in (node.left, node.right))
            if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
                raise Unknown  # a text or a list as often as that may be larger than the memory
            return left * right
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            compare = COMPARED.get(type(node.ops[0]))
            sides = (self.value(side, names, frame, depth) for side in (node.left, node.comparators[0]))
            if compare is not None:
                return compare(*sides)
        if isinstance(node, ast.Name):
            return self._named(node, names, frame, depth)
        if isinstance(node, ast.Call):
            return self._called(node, names, frame, depth)
        raise Unknown

    def _either(self, node: ast.BoolOp, names: dict[str, ast.expr], frame: Frame, depth: int) -> Any:
        """Of operands the one that decides, whatever those that are not known are: `debug() and x.ndim > 1`."""
        unknown, is_and = False, isinstance(node.op, ast.And)
        for part in node.values:
            try:
                value = self.value(part, names, frame, depth)
            except Unknown:
                unknown = True
                continue
            if bool(value) is not is_and:
                return value
        if unknown:
            raise Unknown
        return value

    def _named(self, node: ast.Name, names: dict[str, ast.expr], frame: Frame, depth: int) -> Any:
        if node.id in names:
            return self.value(names[node.id], names, frame, depth + 1)
        found = None if node.id in frame.parameters else self.at.names.assignments(node.id, frame.module)
        if found is None or len(found[1]) != 1 or found[0].says(f"global {node.id}"):
            raise Unknown
        return self.value(found[1][0], {}, Frame(found[0], (1, 1), "the module"), depth + 1)

    def _called(self, call: ast.Call, names: dict[str, ast.expr], frame: Frame, depth: int) -> Any:
        if isinstance(call.func, ast.Attribute) and call.func.attr in OF_TEXTS:
            given = [self.value(each, names, frame, depth) for each in call.args]
            return getattr(self.value(call.func.value, names, frame, depth), call.func.attr)(*given)
        if isinstance(call.func, ast.Name) and call.func.id in PLAIN and len(call.args) == 1:
            return PLAIN[call.func.id](self.value(call.args[0], names, frame, depth))
        callee = self.at.expressions.quietly(call.func, {}, frame)
        if isinstance(callee, Func) and isinstance(callee.node, ast.FunctionDef) and callee.bound is None:
            home = Frame(callee.module, unit_of(callee.node), "", cls=callee.defined_in)
            return self._returned(callee.node, home, depth + 1)
        if not self.at.models.plays(
            self.at.names.external_name(callee), "reads a variable of the environment"
        ):
            raise Unknown
        self.environment = True
        default = call.args[1] if len(call.args) > 1 else None
        return None if default is None else self.value(default, names, frame, depth)

    def _returned(self, function: FunctionNode, home: Frame, depth: int) -> Any:
        """What a function returns that sets names, and returns early where a test comes out so."""
        names = made_once(function)
        for statement in function.body:
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.value(statement.value, names, home, depth)
            if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return):
                if self.value(statement.test, names, home, depth):
                    returned = statement.body[-1].value
                    return None if returned is None else self.value(returned, names, home, depth)
            elif not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
                raise Unknown
        return None
