from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from pt2lint.finding import Finding
from pt2lint.op import Op
from pt2lint.rule import Rule, calls
from pt2lint.rule.syntax import dotted, names
from pt2lint.rule.tree import is_name, walk

MEMBERS = "parameters named_parameters buffers named_buffers children named_children modules named_modules"


class IteratorOverBreak(Rule):
    """An iterator is still wanted where the graph ends: Dynamo leaves the whole function to Python.

    ## What happens
    To resume after a graph break, Dynamo has to make anew all that the rest of the function reads. Of a generator
    it would have to run what is left of it, and of `module.parameters()` and its like that changes a set inside
    torch (GB8335). So the function is not cut in two where it breaks: all of it runs as plain Python, for the sake
    of an iterator that the function that breaks is given, or that a name holds for later. What is called from there
    is compiled by itself, and where it iterates over the iterator it ends the graph as well (GB0811).

    ## Example
    ```python
    import torch

    layer = torch.nn.Linear(3, 3)

    def size(x, parameters):
        print("computed")
        return x + sum(p.sum() for p in parameters)

    def f(x):
        y = torch.relu(x)
        return size(y, layer.parameters()) * 2

    args = (torch.ones(3),)
    ```

    ## Use instead
    A list outlives a break, of which there had better be none:
    ```python
    import torch

    layer = torch.nn.Linear(3, 3)

    def size(x, parameters):
        return x + sum(p.sum() for p in parameters)

    def f(x):
        y = torch.relu(x)
        return size(y, list(layer.parameters())) * 2

    args = (torch.ones(3),)
    ```

    ## Versions
    Measured on torch 2.13: with `parameters`, `buffers`, `children`, `modules`, those of them that give names, and
    `itertools.chain`, nothing of the function is compiled; with a list of the same it is, before the break and after
    it. An iterator that nothing reads after the break costs nothing.
    """

    code = "PTB197"
    name = "iterator-over-break"
    ops = (*calls("torch.nn.Module", MEMBERS), *calls("itertools", "chain"))
    graph_breaks = ("GB8335",)
    asks_what_is_left = True

    INVALID = (
        "import itertools\ndef part(y, rows):\n    print()\n    return y + sum(rows)\n"
        "def f(x, m, i):\n    y = torch.relu(x)\n    return part(y, itertools.chain([x], [y])) * 2",
        "layer = torch.nn.Linear(4, 4)\n"
        "def f(x, m, i):\n    held = layer.named_parameters()\n    y = torch.relu(x)\n    print()\n"
        "    return y * len(dict(held))",
    )
    VALID = (
        "layer = torch.nn.Linear(4, 4)\n"
        "def f(x, m, i):\n    held = layer.named_parameters()\n    y = torch.relu(x) * 2\n"
        "    return y * len(dict(held))",
    )

    def concerns(self, op: Op) -> bool:
        """What is left to Python as it is loses nothing more."""
        at = self.function
        lines = range(at.first_line, at.first_line + at.text.count("\n") + 1)
        return not at.is_left and any((at.path, line) in at.ends for line in lines)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        parent = self.function.parent(node)
        if isinstance(parent, cst.Arg):
            self.passed(node, parent, op)
        elif isinstance(parent, cst.Assign):
            self.kept(node, parent, op)

    def passed(self, node: cst.Call, argument: cst.Arg, op: Op) -> None:
        """`norm(x, model.parameters())`, and the graph ends inside of `norm`."""
        call = self.function.parent(argument)
        if isinstance(call, cst.Call) and not argument.star:
            first, _, last, _ = self.function.range(call)
            called = _name(call)
            for ends in self.ends(first, last):
                # Of a line with several calls it is this one that leads there.
                steps = (s for s in ends.flow[1:] if s.path == self.function.path and first <= s.line <= last)
                if any(re.search(rf"\b{called}`", step.message) for step in steps):
                    self.told(node, op, ends, f"in {self.quote(call.func)}")
                    return

    def kept(self, node: cst.Call, statement: cst.Assign, op: Op) -> None:
        """`wanted = model.parameters()`, and the graph ends before the last use of `wanted`."""
        body: cst.CSTNode | None = statement
        while body is not None and not isinstance(body, cst.FunctionDef):
            body = self.function.parent(body)
        target = statement.targets[0].target
        if body is None or len(statement.targets) > 1 or not isinstance(target, cst.Name):
            return
        uses = [part for part in walk(body) if is_name(part, target.value)]
        bound = [
            n
            for part in walk(body)
            if isinstance(part, cst.AssignTarget | cst.For)
            for n in names(part.target)
        ]
        if sum(n.value == target.value for n in bound) != 1 or self.is_stepped(uses):
            return
        last = max(self.function.range(use)[0] for use in uses)
        for ends in self.ends(op.end_line + 1, last - 1):
            # Who goes over it twice finds an iterator empty then, and a list not.
            self.told(node, op, ends, "before its last use", once=len(uses) == 2)
            return

    def is_stepped(self, uses: Iterable[cst.CSTNode]) -> bool:
        """`next(wanted)`: a list is no iterator."""
        for use in uses:
            call = self.function.parent(self.function.parent(use) or use)
            if isinstance(call, cst.Call) and is_name(call.func, "next"):
                return True
        return False

    def ends(self, first: int, last: int) -> Iterator[Finding]:
        """The breaks that these lines hold, or lead to."""
        for line in range(first, last + 1):
            yield from self.function.ends.get((self.function.path, line), ())

    def told(self, node: cst.Call, op: Op, ends: Finding, where: str, once: bool = True) -> None:
        """Report an iterator that is wanted after a break, with what that one depends on."""
        when = tuple(dict.fromkeys((*op.when, *ends.when)))
        op = op._replace(when=when, rare=op.rare or ends.note)
        fixes = []
        if once and _ends(node):
            edit = self.edit(node, f"list({self.text(node)})")
            fixes.append(self.fix("A list in its place, which outlives the break.", edit))
        op = self.led_to(op, f"{ends.path}:{ends.line}", "the graph ends here")
        self.report(
            node,
            op,
            f"{self.quote(node)} is an iterator, which Dynamo cannot carry over the graph break {where}: all of the "
            "function runs as plain Python",
            fixes=fixes,
            severity="error",
        )


def _name(call: cst.Call) -> str:
    """The last name of what is called."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else dotted(call.func)


def _ends(made: cst.BaseExpression) -> bool:
    """Whether it surely comes to an end: the members of a module, a display, or a chain of these."""
    if isinstance(made, cst.List | cst.Tuple | cst.Dict | cst.Set):
        return True
    if not isinstance(made, cst.Call):
        return False
    if _name(made) == "chain":
        return all(_ends(arg.value) and not arg.star for arg in made.args)
    return _name(made) in MEMBERS.split()
