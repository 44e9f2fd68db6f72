from __future__ import annotations

import ast
import symtable
from itertools import pairwise

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name, placed

NAMES = ("torch.compile", "torch.compiler.compile")
DOES = (ast.For, ast.While, ast.With, ast.If, ast.Expr)  # statements that make a file a script


class DiscardedCompile(Rule):
    """The result of `torch.compile` is thrown away, so nothing is compiled.

    ## What happens
    `torch.compile(model)` returns a compiled callable and leaves `model` as it was. If the result is not
    kept, every call still runs without compiling, and nothing says so. `model.compile()` compiles in place. So it is
    with `torch.compile` alone in the line above a function, without the `@` that makes it a decorator.

    The same goes for a result that is bound to a name which nothing reads afterwards: `self = torch.compile(self)`
    in a method, `layer = torch.compile(layer)` in a loop, or a parameter that is bound anew and never returned. At
    the top of a script that goes on with the module as it was (`fast = torch.compile(model)`, then `train(model)`;
    or `trainer = Trainer(model)`, then `model = torch.compile(model)`) it is reported where nothing in the file
    reads the name from there on.

    And for a module that is given the name of a method: after `model.encode = torch.compile(model.encoder)`, calls of
    `model.encode` run the method `encode` of its class as before. A module keeps modules apart from its attributes,
    and Python finds what the class has first. A compiled function stays where it is put
    (`model.encode = torch.compile(model.encode)`).

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        torch.compile(model)
        return model(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def run():
        model = Net()
        model.compile()
        return model(torch.ones(3))
    ```

    ## Versions
    Measured: nothing is compiled on torch 2.6, 2.9, 2.13 and 2.15, also where a method hides it.
    """

    code = "PTS301"
    name = "discarded-compile"
    ops = ("hide compiled", *(f"{what} {name}" for what in ("discard", "call") for name in NAMES))
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        # `with pytest.raises(...): torch.compile(...)` is no mistake.
        return op.inside != "with" or not op.name.startswith("discard ")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "hide compiled" and isinstance(node, cst.Attribute):
            says = f"`{op.detail('class')}` has a method `{node.attr.value}`, which Python finds first"
            fix = self.fix("Compile the method, or give the compiled module a name of its own.", by_hand=True)
            self.report(node, op, f"{says}: what is compiled here is never called", fixes=[fix])
            return
        if op.name.startswith("discard ") and not isinstance(node, cst.Call):
            self.report(
                node, op, f"{self.quote(node)} decorates nothing: its `@` is missing, and nothing is compiled"
            )
            return
        if not isinstance(node, cst.Call) or not node.args or any(map(_disables, node.args)):
            return
        if op.name.startswith("discard ") or self.is_listed_for_nothing(node):
            self.report(
                node,
                op,
                f"the result of {self.quote(node)} is thrown away: nothing is compiled",
                fixes=self.fixes(node),
            )
            return
        assignment = self.function.parent(node)
        if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1:
            return
        target = assignment.targets[0].target
        module = op.arg(0).startswith(("module", "torch.nn.", "Sequential of "))
        if isinstance(target, cst.Name) and (
            self.lost(target.value, node) or self.is_lost_at_top(target.value, node, module)
        ):
            message = f"`{target.value} = {self.text(node)}` binds a name that nothing reads afterwards: the compiled"
            self.report(node, op, f"{message} result is lost", fixes=self.fixes(node, assignment))

    def is_listed_for_nothing(self, node: cst.Call) -> bool:
        """`[torch.compile(m) for m in models]` as a statement."""
        listed = self.function.parent(node)
        if not isinstance(listed, cst.ListComp | cst.SetComp) or listed.elt is not node:
            return False
        return isinstance(self.function.parent(listed), cst.Expr)

    def lost(self, name: str, node: cst.Call) -> bool:
        """Whether nothing in the function reads the name but the call itself, from there on."""
        function, looped = self.function.parent(node), False
        while function is not None and not isinstance(function, cst.FunctionDef):
            if isinstance(function, cst.Lambda | cst.ClassDef):
                return False
            looped = looped or isinstance(function, cst.For | cst.While)
            function = self.function.parent(function)
        if function is None:
            return False
        given = {id(n) for n in names(node)}
        me = next((p.name.value for p in placed(function.params)[:1] if p.name.value == "self"), "")
        place = self.function.range(node)[:2]
        for n in names(function.body):
            if n.value != name or id(n) in given:
                continue
            here = self.function.parent(n)
            if isinstance(here, cst.Global | cst.Nonlocal | cst.NameItem):
                return False
            if isinstance(here, cst.AssignTarget) or (isinstance(here, cst.For) and here.target is n):
                continue
            if isinstance(here, cst.Attribute) and (here.attr is n or me == name):
                continue  # what is read through a compiled `self` is the original's
            if isinstance(here, cst.Arg) and here.keyword is n:
                continue
            if looped or self.function.range(n)[:2] > place or self.inner(n, function):
                return False
        return True

    def is_lost_at_top(self, name: str, node: cst.Call, module: bool) -> bool:
        """Whether a script binds a name at its top that nothing in the file reads from there on, and goes on with the
        module as it was, or gave that to something before."""
        given = node.args[0].value
        if not isinstance(given, cst.Name) or "__all__" in self.function.source:
            return False
        tree = self.function.file_tree or ast.parse(self.function.source)
        line = self.function.range(node)[2]
        statement = next((s for s in tree.body if s.lineno <= line <= (s.end_lineno or 0)), None)
        if isinstance(statement, ast.For):
            return name == given.value and self.is_lost_in_loop(name, statement, line, tree)
        if not module or not isinstance(statement, ast.Assign | ast.If):
            return False
        rest = [s for s in tree.body if s.lineno > (statement.end_lineno or 0)]
        if not any(isinstance(s, DOES) for s in rest):
            return False  # other files may import what this one makes
        later = {
            n.id for s in rest for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        if name in later or _is_read_inside(name, symtable.symtable(self.function.source, "file", "exec")):
            return False
        return name == given.value or given.value in later

    def is_lost_in_loop(self, name: str, loop: ast.For, line: int, tree: ast.Module) -> bool:
        """Whether a loop at the top of a script binds the name to the next thing before anything reads it."""
        if not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(loop.target)):
            return False
        later = (n for s in tree.body if (s.end_lineno or 0) > line for n in ast.walk(s))
        read = any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) and n.lineno > line
            for n in later
        )
        return not read and not _is_read_inside(name, symtable.symtable(self.function.source, "file", "exec"))

    def inner(self, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
        """Whether a nested function, which may run later, holds the node."""
        here = self.function.parent(node)
        while here is not None and here is not function:
            if isinstance(here, cst.FunctionDef | cst.Lambda | cst.ClassDef):
                return True
            here = self.function.parent(here)
        return False

    def defined_below(self, node: cst.Call) -> ast.FunctionDef | None:
        """The function that the next line defines, below a statement that may have lost its `@`."""
        tree = self.function.file_tree or ast.parse(self.function.source)
        first, _, last, _ = self.function.range(node)
        for block in ast.walk(tree):
            for above, below in pairwise(block.body if isinstance(block, ast.Module | ast.ClassDef) else ()):
                if (
                    isinstance(above, ast.Expr)
                    and above.lineno == first
                    and isinstance(below, ast.FunctionDef)
                ):
                    begins = [*(one.lineno for one in below.decorator_list), below.lineno][0]
                    return below if begins == last + 1 else None
        return None

    def fixes(self, node: cst.Call, assignment: cst.Assign | None = None) -> list[Fix]:
        """`torch.compile(model, mode=m)` -> `model.compile(mode=m)`, for a module."""
        first, rest = node.args[0], node.args[1:]
        module = any(
            op.arg(0) == "module" for op in self.function.ops_at(node) if op.name.startswith("call ")
        )
        plain = isinstance(first.value, cst.Name | cst.Attribute) and first.keyword is None and not first.star
        if first.keyword is not None and (below := self.defined_below(node)):
            if below.returns is not None and ast.unparse(below.returns).endswith("Module"):
                says = f"Compile what `{below.name}` returns, in place of this: it makes a module and computes nothing."
                return [self.fix(says, by_hand=True)]
            says = f"Write `@` before it: then it compiles `{below.name}`, above which it stands."
            return [self.fix(says, self.edit(node, f"@{self.text(node)}"))]
        if not module and plain and isinstance(first.value, cst.Attribute):
            if isinstance(self.function.parent(node), cst.Expr):
                says = "Keep what it returns in that place. The names in a module's state then begin with `_orig_mod.`."
                return [self.fix(says, self.edit(node, f"{self.text(first.value)} = {self.text(node)}"))]
        if not module or not plain:
            says = "Return it to who calls this, or compile a module in place: `module.compile()`."
            return [self.fix(says, by_hand=True)] if assignment is not None else []
        given = ", ".join(
            self.text(
                a.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))
            )
            for a in rest
        )
        text = f"{self.text(first.value)}.compile({given})"
        place = assignment or node
        return [
            self.fix("Compile the module in place: what was never compiled then is.", self.edit(place, text))
        ]


def _disables(given: cst.Arg) -> bool:
    """`torch.compile(model, disable=True)` asks whether there is a torch.compile."""
    named = given.keyword is not None and given.keyword.value == "disable"
    return named and is_name(given.value, "True")


def _is_read_inside(name: str, table: symtable.SymbolTable) -> bool:
    """Whether a function or class reads the name of the file's top."""
    return any(
        (name in inner.get_identifiers() and inner.lookup(name).is_global()) or _is_read_inside(name, inner)
        for inner in table.get_children()
    )
