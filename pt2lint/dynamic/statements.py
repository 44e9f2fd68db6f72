"""Where statements begin and end: the unit in which findings and breaks are compared."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import Any


@lru_cache(maxsize=1024)
def statements_of(source: str) -> Statements | None:
    """The statements of a source text, None if it does not parse."""
    try:
        return Statements(source)
    except (SyntaxError, ValueError):
        return None


class Statements:
    """The simple statements, and headers of compound ones, of one source text (which must parse)."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        spans: dict[int, tuple[int, int]] = {}

        def visit(node: ast.AST) -> None:
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = node.end_lineno or node.lineno
                if isinstance(body, list) and body:
                    last = max(node.lineno, body[0].lineno - 1)
                elif isinstance(node, ast.Match):
                    last = max(node.lineno, node.cases[0].pattern.lineno - 1)
                for line in range(node.lineno, last + 1):
                    spans[line] = (node.lineno, last)
            for child in ast.iter_child_nodes(node):
                visit(child)

        visit(self.tree)
        return spans

    def span(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost statement or header at a line."""
        return self._spans.get(line, (line, line))

    def node(self, line: int) -> ast.stmt | None:
        """The statement that `line` belongs to."""
        first = self.span(line)[0]
        found = [node for node in self.nodes if isinstance(node, ast.stmt) and node.lineno == first]
        return found[-1] if found else None

    def definition(self, line: int) -> str:
        """The function or class of the module's top level that a line lies in, decorators counted in; "" for none."""
        for node in self.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if first <= line <= (node.end_lineno or first):
                    return node.name
        return ""

    def same_definition(self, line: int, other: int) -> bool:
        """Whether two lines lie in one function or class of the module's top level."""
        return "" != self.definition(line) == self.definition(other)

    def function(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose `def` (or first decorator) stands at `line`."""
        for node in self.functions():
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
        return None

    def compiled(self, line: int, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that Dynamo compiles at `line`: what begins there, or else goes on there after a break."""
        around = (f for f in self.functions() if f.name == name and f.lineno <= line <= (f.end_lineno or 0))
        return self.function(line) or max(around, key=lambda f: f.lineno, default=None)

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in self.nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]

    def under(self, test: str) -> list[range]:
        """The lines of each branch that an `if` takes only where a test, or what stands beside it with `and`, holds."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.If):
                both = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
                parts = node.test.values if both and isinstance(node.test, ast.BoolOp) else [node.test]
                if any(ast.unparse(part) == test for part in parts):
                    last = node.body[-1]
                    found.append(range(node.body[0].lineno, (last.end_lineno or last.lineno) + 1))
        return found

    @cached_property
    def asked(self) -> set[str]:
        """All names and attributes in what the code asks before it takes a branch."""
        kinds = (ast.If, ast.IfExp, ast.While, ast.Assert)
        tests = [node.test for node in self.nodes if isinstance(node, kinds)]
        tests += [test for node in self.nodes if isinstance(node, ast.comprehension) for test in node.ifs]
        return set().union(*map(identifiers, tests))

    def expression_end(self, line: int, column: int, limit: int) -> int | None:
        """End column of the largest expression that starts at a place and ends on its line by `limit`.

        Some versions of Python mark more in a traceback than the expression: the code settles it.
        """
        ends = [
            node.end_col_offset + 1
            for node in self.nodes
            if isinstance(node, ast.expr)
            and (node.lineno, node.col_offset + 1, node.end_lineno) == (line, column, line)
            and node.end_col_offset is not None
            and node.end_col_offset + 1 <= limit
        ]
        return max(ends, default=None)

    def makes_constant(self, line: int, end_line: int) -> bool:
        """Whether lines make a tensor of what a comprehension gathers: Dynamo knows its value where that is one
        number, and only then."""
        return any(
            line <= node.lineno <= end_line
            and ast.unparse(node.func).rpartition(".")[2] in ("tensor", "as_tensor")
            and any(isinstance(each, (ast.ListComp, ast.GeneratorExp)) for each in node.args)
            for node in self.nodes
            if isinstance(node, ast.Call)
        )

    def chosen(self, line: int, end_line: int) -> str:
        """An attribute of `self` that lines read, and that the constructor of the class around them makes in one way or
        another: what was traced is one of the ways. "" for none."""
        for around in self.nodes:
            if not (isinstance(around, ast.ClassDef) and around.lineno <= line <= (around.end_lineno or 0)):
                continue
            made = [f for f in around.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"]
            if not made or made[0].lineno <= line <= (made[0].end_lineno or 0):
                continue
            read = {
                node.attr
                for node in self.nodes
                if isinstance(node, ast.Attribute)
                and line <= node.lineno <= end_line
                and ast.unparse(node.value) == "self"
            }
            whole = _made(made[0].body)
            for test in ast.walk(made[0]):
                ways: set[str] = set()
                if isinstance(test, ast.If):
                    ways = {name for name, count in _made(test.body).items() if count < whole[name]}
                elif isinstance(test, ast.Assign) and any(
                    isinstance(e, ast.IfExp) for e in ast.walk(test.value)
                ):
                    ways = {*_made([test])}
                if found := sorted(ways & read):
                    return f"self.{found[0]}"
        return ""

    def is_conditional(self, line: int, column: int, end_line: int, end_column: int) -> bool:
        """Whether an expression may stay unevaluated though its statement runs.

        So it is in a branch of `a if c else b`, after `and` or `or`, in a comprehension or a lambda.
        """
        start, end = (line, column - 1), (end_line, end_column - 1)

        def holds(node: ast.AST) -> bool:
            if not hasattr(node, "lineno"):
                return False
            where: Any = node
            return (where.lineno, where.col_offset) <= start and end <= (
                where.end_lineno,
                where.end_col_offset,
            )

        for node in self.nodes:
            if isinstance(node, ast.IfExp):
                parts: list[ast.AST] = [node.body, node.orelse]
            elif isinstance(node, ast.BoolOp):
                parts = list(node.values[1:])
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
                parts = [node.elt, *(test for each in node.generators for test in each.ifs)]
            elif isinstance(node, ast.DictComp):
                parts = [node.key, node.value, *(test for each in node.generators for test in each.ifs)]
            elif isinstance(node, ast.Lambda):
                parts = [node.body]
            elif isinstance(node, ast.Assert) and node.msg is not None:
                parts = [node.msg]
            else:
                continue
            if any(holds(part) for part in parts):
                return True
        return False


def _made(body: list[Any]) -> Counter[str]:
    """How often code gives each attribute of `self` a value, or adds one to it."""
    found: Counter[str] = Counter()
    for node in (each for part in body for each in ast.walk(part)):
        place = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in ("append", "add_module", "extend", "insert"):
                continue
            place = node.func.value
        elif not (isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)):
            continue
        name = re.match(r"self\.(\w+)", ast.unparse(place))
        found.update({name[1]} if name else ())
    return found


def identifiers(node: ast.AST) -> set[str]:
    """All names, attributes, keywords and strings in a piece of code."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, (ast.keyword, ast.arg)):
            found.add(part.arg or "")
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.add(part.value)
    return found - {""}
