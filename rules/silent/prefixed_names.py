from __future__ import annotations

import ast

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.fixes.text import line
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import ask_original, severity, told_alone
from pt2lint.rule.syntax import function_around, names
from pt2lint.rule.tree import is_name, walk

NAMED = ("named_parameters", "named_modules", "named_buffers")
CHILDREN = ("children", "named_children")
STATE = "state_dict"
ORIGINAL = "Ask the original, whose names are the model's own."


class PrefixedNames(Rule):
    """Names of parameters and modules of a module wrapped by `torch.compile` begin with `_orig_mod.`.

    ## What happens
    `torch.compile(model)` returns a module whose only child is the original, `_orig_mod`. Names from
    `named_parameters()` and `named_modules()` begin with that, so that a comparison with a name of the model is
    never true: parameters that should have no weight decay, or stay frozen, are treated as all others, and an
    average that was keyed by the model's names is never updated from the compiled one. `name.split(".")[0]` is
    `_orig_mod` of each. So are the keys of its `state_dict()`. `children()` gives the one original. Ask the
    original, or compile in place by `model.compile()`, which leaves the names alone. Names are followed through
    what keeps them: a dictionary that another module's names made, in an object, a copy or a function of another
    file (`if name in self.shadow`, `averaged[name]`, `table.get(name)`, `dict(compiled.named_modules())["head"]`),
    and strings by the name of a parameter with a default or of a constant.

    A function that is given a module may be given a compiled one. Where its file compiles modules itself, a test of
    their names is reported; elsewhere it is a note. A file that mentions `_orig_mod` knows of it. Reported there is
    what takes the prefix off and takes more, or less: `name.lstrip("_orig_mod.")` takes off any of these letters, so
    that of `_orig_mod.model.head` `el.head` is left; `name.replace("_orig_mod", "")` leaves `.model.head`.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.head(self.backbone(x))

    def run():
        model = torch.compile(Net())
        model(torch.ones(3))
        frozen = []
        for name, parameter in model.named_parameters():
            if name.startswith("backbone."):
                frozen.append(name)
        return len(frozen)
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = torch.nn.Linear(3, 3)
            self.head = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.head(self.backbone(x))

    def run():
        model = Net()
        model.compile()
        model(torch.ones(3))
        frozen = []
        for name, parameter in model.named_parameters():
            if name.startswith("backbone."):
                frozen.append(name)
        return len(frozen)
    ```

    ## Versions
    Measured: prefixed on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS317"
    name = "prefixed-names"
    ops = ("attribute of compiled", "foreign name", "names of given", "cut name")
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name in ("foreign name", "names of given", "cut name"):
            return True
        name = op.detail("name").removeprefix("constant ").strip("'")
        return (
            name in (*NAMED, *CHILDREN, STATE)
            and not op.region
            and not op.detail("aware")
            and not op.detail("method")
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "foreign name" and isinstance(node, cst.Comparison):
            compared = node.comparisons[0]
            outcome = "never" if isinstance(compared.operator, cst.In) else "always"
            left, right = self.quote(node.left), self.quote(compared.comparator)
            says = f"its names start with `_orig_mod.`, and those in {right} do not"
            if op.detail("wrapped") == "right":
                says = f"the names in {right} start with `_orig_mod.`, and {left} does not"
            self.report(
                node,
                op,
                f"{self.quote(node)} is {outcome} true: torch.compile wrapped the module, so that {says}",
            )
            return
        if op.name == "foreign name":
            self.looked_up(node, op)
            return
        if op.name == "names of given":
            self.given(node, op)
            return
        if op.name == "cut name":
            self.cut(node, op)
            return
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        if node.attr.value in CHILDREN and self.goes_down(call):
            return
        if node.attr.value in CHILDREN:
            self.report(
                node,
                op,
                f"{self.quote(call)} gives the original module alone, as torch.compile wrapped it",
                fixes=ask_original(self, node, op, ORIGINAL),
            )
            return
        loop = self.loop_over_keys(call) if node.attr.value == STATE else self.function.parent(call)
        if not isinstance(loop, cst.For | cst.CompFor):
            return
        name = loop.target.elements[0].value if isinstance(loop.target, cst.Tuple) else loop.target
        around: cst.CSTNode | None = loop.body if isinstance(loop, cst.For) else self.function.parent(loop)
        if not isinstance(name, cst.Name) or around is None:
            return
        uses = [used for used in names(around) if used.value == name.value]
        if any(isinstance(self.function.parent(used), cst.AssignTarget) for used in uses):
            return  # which may take the prefix off
        for used in uses:
            if outcome := self.outcome(used, op.detail("within")):
                self.report(
                    node,
                    op,
                    f"the names of {self.quote(call)} start with `_orig_mod.`, as torch.compile wrapped the module: "
                    f"{outcome}",
                    fixes=ask_original(self, node, op, ORIGINAL),
                )
                return

    def cut(self, node: cst.CSTNode, op: Op) -> None:
        """`name.lstrip("_orig_mod.")`, `name.replace("_orig_mod", "")`."""
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        says, method = "leaves a dot of the prefix: `_orig_mod.head` becomes `.head`", "replace"
        given = ['"_orig_mod."', '""']
        if op.detail("how") == "letters":
            says = "takes all of these letters off the front, not the prefix: `_orig_mod.model.head` becomes `el.head`"
            method, given = "removeprefix", given[:1]
        plain = node.with_changes(
            func=node.func.with_changes(attr=cst.Name(method)),
            args=[cst.Arg(cst.SimpleString(one)) for one in given],
        )
        edits = rewrite(self.function, {node: plain})
        self.report(
            node,
            op,
            f"{self.quote(node)} {says}",
            fixes=[self.fix("Take off the prefix, with its dot.", *edits)],
        )

    def goes_down(self, call: cst.Call) -> bool:
        """`def walk(module): for child in module.children(): walk(child)` comes to the original's own parts as well."""
        around = function_around(self.function, call)
        called = (part.func for part in walk(around.body) if isinstance(part, cst.Call)) if around else ()
        names = (f.attr if isinstance(f, cst.Attribute) else f for f in called)
        return around is not None and any(
            isinstance(name, cst.Name) and name.value == around.name.value for name in names
        )

    def looked_up(self, node: cst.CSTNode, op: Op) -> None:
        """`averaged[name]`, `averaged.get(name)`; not where a test before tells of it."""
        if any(
            isinstance(self.function.node_at(o.range), cst.Comparison)
            for o in self.function.ops
            if o.name == op.name
        ):
            return
        table, comes = (node.value, "fails") if isinstance(node, cst.Subscript) else (node, "")
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            table, comes = node.func.value, "finds nothing"
        if not comes or not isinstance(table, cst.BaseExpression):
            return
        one = (
            "the name starts" if op.detail("wrapped") == "left" else f"the names in {self.quote(table)} start"
        )
        other = (
            f"those in {self.quote(table)} do not" if op.detail("wrapped") == "left" else "this one does not"
        )
        self.report(
            node,
            op,
            f"{self.quote(node)} {comes}: {one} with `_orig_mod.`, as torch.compile wrapped the module, and {other}",
        )

    def loop_over_keys(self, call: cst.Call) -> cst.CSTNode | None:
        """The loop over `compiled.state_dict().items()` or `.keys()`; not where it makes a state of it, of which
        PTS303 tells."""
        taken = self.function.parent(call)
        again = self.function.parent(taken) if isinstance(taken, cst.Attribute) else None
        if not isinstance(taken, cst.Attribute) or taken.attr.value not in ("items", "keys"):
            return None
        loop = self.function.parent(again) if isinstance(again, cst.Call) else None
        made = self.function.parent(loop) if isinstance(loop, cst.CompFor) else None
        return None if isinstance(made, cst.DictComp) and isinstance(made.key, cst.Name) else loop

    def outcome(self, used: cst.Name, within: str) -> str:
        """What the prefix makes of a test of the name, or of what is taken from its front: in DistributedDataParallel
        that is `module`, compiled or not."""
        split = self.test(used)
        if any(o.name == "foreign name" for o in self.function.ops_at(split)):
            return ""  # told there
        if self.never(used):
            asks_for_holder = within and within in self.text(split)
            return f"{self.quote(split)} is never true" if not asks_for_holder else ""
        first = self.function.parent(split)
        if (
            not within
            and isinstance(split, cst.Call)
            and isinstance(split.func, cst.Attribute)
            and split.func.value is used
            and split.func.attr.value in ("split", "partition")
            and split.args
            and self.text(split.args[0].value).strip("\"'") == "."
            and isinstance(first, cst.Subscript)
            and self.text(first).endswith("[0]")
        ):
            return f"{self.quote(first)} is `_orig_mod` of each"
        return ""

    def given(self, node: cst.CSTNode, op: Op) -> None:
        """A test of a name of a module that the function is given, which its caller may have compiled."""
        name = op.detail("name")
        if any(o.name in ("attribute of compiled", "foreign name") for o in self.function.ops):
            return  # told of the one that it is given
        if self.is_applied(node):
            return
        what = "another part of the name" if op.detail("outcome") == "shifted" else "never true"
        self.report(
            node,
            op,
            f"{self.quote(node)} is {what} where torch.compile wrapped the module, or the part of it: such names "
            "have `_orig_mod.` in them",
            severity=severity(op),
            fixes=[] if self.is_key(node, name) else self.without_prefix(node, name, told_alone(op)),
        )

    def is_applied(self, node: cst.CSTNode) -> bool:
        """Whether the function is only given to `module.apply`, which comes to the original and its names as well."""
        around = function_around(self.function, node)
        name = around.name.value if around is not None else ""

        def reads(part: ast.AST) -> int:
            return sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(part))

        tree = self.function.file_tree or ast.parse(self.function.source)
        applied = sum(
            reads(given)
            for one in ast.walk(tree)
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "apply"
            for given in one.args
        )
        return 0 < applied == reads(tree)

    def is_key(self, node: cst.CSTNode, name: str) -> bool:
        """Whether something is looked up, or kept, under the name where the test asks whether it is there: without the
        prefix that is another key."""
        tables = [
            one.comparisons[0].comparator
            for one in walk(node)
            if isinstance(one, cst.Comparison) and isinstance(one.comparisons[0].operator, cst.In | cst.NotIn)
        ]

        def is_table(value: cst.BaseExpression) -> bool:
            return any(value.deep_equals(one) for one in tables)

        for one in walk(self.function.module):
            if isinstance(one, cst.Subscript) and is_table(one.value):
                given: list[cst.CSTNode] = [*one.slice]
            elif (
                isinstance(one, cst.Call) and isinstance(one.func, cst.Attribute) and is_table(one.func.value)
            ):
                given = [*one.args]
            else:
                continue
            if any(used.value == name for part in given for used in names(part)):
                return True
        return False

    def without_prefix(self, node: cst.CSTNode, name: str, by_hand: bool) -> list[Fix]:
        """All that the condition asks of the name, and not this test alone: `name == one or re.match(one, name)`. Where
        the loop goes on to ask for it, or takes it apart (`int(name.split(".")[1])`), the name itself."""
        says = "Take the prefix out of the name."
        around = node
        while isinstance(
            outer := self.function.parent(around),
            cst.BooleanOperation | cst.UnaryOperation | cst.GeneratorExp,
        ):
            around = outer
        plain = cst.parse_expression(f'{name}.replace("_orig_mod.", "")')
        used = [one for one in names(around) if one.value == name and not self.ends(one)]
        inner, loop = node, self.function.parent(node)
        while loop is not None and not (isinstance(inner, cst.IndentedBlock) and isinstance(loop, cst.For)):
            inner, loop = loop, self.function.parent(loop)
        statements = [*inner.body] if isinstance(inner, cst.IndentedBlock) else []
        here = next((at for at, one in enumerate(statements) if any(part is node for part in walk(one))), 0)
        further = [part for one in statements[here:] for part in names(one) if part.value == name]
        beside = [self.function.parent(one) for one in further if not any(one is other for other in used)]
        if any(isinstance(one, cst.Attribute | cst.Comparison) for one in beside):
            if any(isinstance(one, cst.Index) for one in beside):
                return []  # without the prefix it may be another key
            plain_name = line(f'{name} = {name}.replace("_orig_mod.", "")')
            edits = rewrite(self.function, {statements[here]: [plain_name, statements[here]]})
            return [self.fix(says, *edits, by_hand=by_hand)]
        return [self.fix(says, *rewrite(self.function, dict.fromkeys(used, plain)), by_hand=by_hand)]

    def ends(self, used: cst.Name) -> bool:
        """`name.endswith(".bias")`: the last part of a name, which no prefix parts."""
        test = self.test(used)
        ending = test.args[0].value if isinstance(test, cst.Call) and len(test.args) == 1 else None
        return (
            isinstance(test, cst.Call)
            and isinstance(test.func, cst.Attribute)
            and test.func.value is used
            and test.func.attr.value == "endswith"
            and isinstance(ending, cst.SimpleString)
            and "." not in str(ending.evaluated_value).removeprefix(".")
        )

    def test(self, used: cst.Name) -> cst.CSTNode:
        """The comparison or the call of a method that the name stands in."""
        here = self.function.parent(used)
        return (self.function.parent(here) if isinstance(here, cst.Attribute | cst.Arg) else here) or used

    def never(self, used: cst.Name) -> bool:
        """`name == "..."`, `name.startswith("...")`, `name in ["...", "..."]`."""
        test = self.test(used)
        if isinstance(test, cst.Call) and isinstance(test.func, cst.Attribute) and test.func.value is used:
            return test.func.attr.value == "startswith" and all(self.fixed(a.value) for a in test.args)
        if isinstance(test, cst.Call) and self.text(test.func) in ("re.match", "re.fullmatch"):
            return len(test.args) > 1 and test.args[1].value is used and _begins_plainly(test.args[0].value)
        if not isinstance(test, cst.Comparison) or test.left is not used or len(test.comparisons) != 1:
            return False
        compared = test.comparisons[0]
        if isinstance(compared.operator, cst.Equal):
            return self.fixed(compared.comparator)
        listed = self.meant(compared.comparator)
        return (
            isinstance(compared.operator, cst.In)
            and isinstance(listed, cst.Tuple | cst.List | cst.Set)
            and self.fixed(listed)
        )

    def fixed(self, node: cst.BaseExpression) -> bool:
        """A string, or strings, that name something of the model; also by a name that stands for them, or for each."""
        node = self.meant(node)
        if isinstance(node, cst.Tuple | cst.List | cst.Set):
            return bool(node.elements) and all(self.fixed(e.value) for e in node.elements)
        return isinstance(node, cst.SimpleString) and bool(node.evaluated_value)

    def meant(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a name stands for: the default of a parameter, what a loop goes over, or what the file's top binds."""
        if not isinstance(node, cst.Name):
            return node
        bound = [part for part in walk(self.function.module) if _binds(part, node.value)]
        if len(bound) == 1:
            part = bound[0]
            if isinstance(part, cst.Param):
                return part.default or node
            if isinstance(part, cst.For | cst.CompFor):
                return node if is_name(part.iter, node.value) else self.meant(part.iter)
            made = self.function.parent(part) if isinstance(part, cst.AssignTarget) else None
            return made.value if isinstance(made, cst.Assign) else node
        return node if bound else self.at_top(node)

    def at_top(self, name: cst.Name) -> cst.BaseExpression:
        tree = self.function.file_tree or ast.parse(self.function.source)
        values = [
            s.value
            for s in tree.body
            if isinstance(s, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == name.value for t in s.targets)
        ]
        return cst.parse_expression(ast.unparse(values[0])) if len(values) == 1 else name


def _binds(part: cst.CSTNode, name: str) -> bool:
    """Whether it is a parameter of that name, a loop over items of that name, or an assignment to it."""
    if isinstance(part, cst.Param):
        return part.name.value == name
    if isinstance(part, cst.For | cst.CompFor):
        return any(n.value == name for n in names(part.target))
    return isinstance(part, cst.AssignTarget | cst.AugAssign | cst.AnnAssign) and any(
        n.value == name for n in names(part.target)
    )


def _begins_plainly(pattern: cst.BaseExpression) -> bool:
    """Whether what matches a regular expression begins with a letter, which `_orig_mod` does not."""
    text = pattern.evaluated_value if isinstance(pattern, cst.SimpleString) else ""
    begin = text.lstrip("^") if isinstance(text, str) else ""
    return begin[:1].isalpha() and begin[1:2] not in ("?", "*", "{") and "|" not in begin
