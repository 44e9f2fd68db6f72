from __future__ import annotations

import re

import libcst as cst

from pt2lint.finding import Fix, Severity
from pt2lint.op import Op
from pt2lint.rule import Rule, tree
from pt2lint.rule.compiled_call import graphs_mode
from pt2lint.rule.loop_syntax import Loop, loops_around
from pt2lint.rule.syntax import names
from pt2lint.rule.tree import is_name

# What gives the same memory again.
SAME = (
    "detach view reshape squeeze unsqueeze transpose permute flatten contiguous expand float to requires_grad_"
).split()
ADDS = ("append", "appendleft")
MARK = "cudagraph_mark_step_begin"
WITHOUT_GRADIENTS = re.compile(r"\b(no_grad|inference_mode)\b")


class KeptGraphOutput(Rule):
    """What a CUDA graph returned, or the gradients that one computed, is kept until after its next run.

    ## What happens
    In the modes "reduce-overhead" and "max-autotune" the compiled code runs as CUDA graphs, which write to the same
    memory each time. The next call overwrites what the one before returned. Reading it then raises RuntimeError
    ("accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run"): outputs that a list
    collects, one that is compared with the previous one or given to the next call, detached or not. `clone()` keeps a
    copy; so does what computes something new (`loss.item()`, `y.sum()`, `y.cpu()`).

    Gradients are outputs of the backward graph. Where several `backward()` come before `zero_grad()`, as with
    accumulated gradients, the second one raises for the same reason. Give each parameter a gradient of its own
    (`p.grad = torch.zeros_like(p)`) before the first call, and keep it: `optimizer.zero_grad(set_to_none=False)`; or
    use the mode "max-autotune-no-cudagraphs". On a CPU there are no CUDA graphs, and none is recorded of a graph that
    contains `torch.cond`, or that writes into an argument or a global while no gradients are wanted: such a state is
    better a buffer of the module.

    A server's worker threads: before torch 2.13 the first call of such code in another thread than the main one raises
    AssertionError without a text (pytorch#123177). Call it in the main thread once for each shape and under the same
    `no_grad` or `inference_mode` as in the threads, which then run what was recorded.

    It is a note where nothing shows that the calls run without gradients or are followed by `backward()` (before that
    the graphs take other memory), and where it is not known that several gradients are added up.

    ## Example
    ```python
    import torch

    model = torch.nn.Linear(3, 3, device="cuda")
    fast = torch.compile(model, mode="reduce-overhead", backend="inductor")

    def run():
        kept = []
        with torch.no_grad():
            for i in range(4):
                kept.append(fast(torch.full((2, 3), float(i), device="cuda")))
        return torch.stack(kept).cpu()
    ```

    ## Use instead
    ```python
    import torch

    model = torch.nn.Linear(3, 3, device="cuda")
    fast = torch.compile(model, mode="reduce-overhead", backend="inductor")

    def run():
        kept = []
        with torch.no_grad():
            for i in range(4):
                kept.append(fast(torch.full((2, 3), float(i), device="cuda")).clone())
        return torch.stack(kept).cpu()
    ```

    ## Versions
    Measured on torch 2.11 with CUDA 13, on an H100: each of these raises, and with gradients of their own the
    accumulated ones are equal to eager's. So does `torch.compiler.cudagraph_mark_step_begin()` before each call of a
    decoding loop that feeds outputs back; with clones it is equal. Threads: measured on 2.11; 2.13 and 2.15 make what
    was missing there (`torch/_inductor/cudagraph_trees.py`).
    """

    code = "PTS338"
    name = "kept-graph-output"
    ops = ("call compiled",)
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return not op.region and bool(graphs_mode(op))

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        loops = loops_around(self.function, node)
        if loops and self.adds_up(node, loops, op):
            return
        kept = self.kept(node, loops)
        if kept is None:
            return
        self.report(
            node,
            op,
            f"what {self.quote(node)} returns is kept past its next call, which overwrites it: mode "
            f"{graphs_mode(op)} runs CUDA graphs, and reading it then raises RuntimeError; keep a `clone()`",
            severity=None if self.overwrites(node, loops) else "note",
            fixes=self.copied(kept),
        )

    def copied(self, kept: cst.BaseExpression) -> list[Fix]:
        if not isinstance(kept, cst.Call | cst.Name | cst.Attribute | cst.Subscript):
            return []
        edit = self.edit(kept, f"{self.text(kept)}.clone()")
        if (
            isinstance(kept, cst.Call)
            and isinstance(kept.func, cst.Attribute)
            and kept.func.attr.value in SAME
        ):
            return [self.fix("Keep a copy.", edit)]
        # What is compiled may return several tensors, or what has no clone().
        return [self.fix("Keep a copy, of each tensor that is returned.", edit, by_hand=True)]

    def overwrites(self, node: cst.CSTNode, loops: list[Loop]) -> bool:
        """Whether the next call takes the same memory: no gradients are wanted, or were computed in between."""
        return any(_calls(loop.body, "backward") for loop in loops) or self.without_gradients(node)

    def without_gradients(self, node: cst.CSTNode) -> bool:
        """Whether the code around says that no gradients are wanted."""
        here: cst.CSTNode | None = node
        while here is not None:
            heads: list[cst.CSTNode] = []
            if isinstance(here, cst.With):
                heads = [item.item for item in here.items]
            elif isinstance(here, cst.FunctionDef):
                heads = [d.decorator for d in here.decorators]
            if any(WITHOUT_GRADIENTS.search(self.text(head)) for head in heads):
                return True
            here = self.function.parent(here)
        return False

    def kept(self, node: cst.Call, loops: list[Loop]) -> cst.BaseExpression | None:
        """The expression of the call's output that outlives the turn."""
        output: cst.BaseExpression = node
        while (outer := self.same(output)) is not None:
            output = outer
        holder = self.function.parent(output)
        if isinstance(holder, cst.ListComp) and holder.elt is output:
            return output
        if not loops:
            return None
        if self.is_collected(holder, loops[0]):
            return output
        if isinstance(holder, cst.Assign) and len(holder.targets) == 1 and holder.value is output:
            target = holder.targets[0].target
            if isinstance(target, cst.Name):
                return self.kept_as(target.value, node, loops[0])
        return None

    def same(self, output: cst.BaseExpression) -> cst.BaseExpression | None:
        """`y.detach()`, `y[0]`, `y.logits` of y: the same memory."""
        outer = self.function.parent(output)
        if isinstance(outer, cst.Subscript) and outer.value is output:
            return outer
        if not isinstance(outer, cst.Attribute) or outer.value is not output:
            return None
        call = self.function.parent(outer)
        if isinstance(call, cst.Call) and call.func is outer:
            return call if outer.attr.value in SAME else None
        return outer

    def is_collected(self, holder: cst.CSTNode | None, loop: Loop) -> bool:
        """`kept.append(output)`, of a list that the loop does not make anew."""
        call = self.function.parent(holder) if isinstance(holder, cst.Arg) else None
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return False
        owner = names(call.func.value)
        return (
            call.func.attr.value in ADDS
            and bool(owner)
            and not any(_binds(part, owner[0].value) for part in tree.walk(loop.body))
        )

    def kept_as(self, name: str, node: cst.Call, loop: Loop) -> cst.BaseExpression | None:
        """The output goes by a name: that is collected, kept for the next turn under another one, or given to the next
        call."""
        if any(is_name(arg.value, name) for arg in node.args):
            return None if self.is_made_anew(name, node, loop) else node
        after = self.function.range(node)
        for part in tree.walk(loop.body):
            if not isinstance(part, cst.Name) or part.value != name or self.function.range(part) <= after:
                continue
            if _binds(self.function.parent(part), name):
                return None
            output: cst.BaseExpression = part
            while (outer := self.same(output)) is not None:
                output = outer
            holder = self.function.parent(output)
            if self.is_collected(holder, loop) or self.is_previous(output, holder, node, loop):
                return output
        return None

    def is_made_anew(self, name: str, node: cst.Call, loop: Loop) -> bool:
        """`h = fast(h)`, then `h = plain(h)` before the next call, without gradients, which would need it."""
        if not self.without_gradients(node):
            return False
        after = self.function.range(node)
        for line in loop.body.body:
            made = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
            if not isinstance(made, cst.Assign) or self.function.range(made) <= after:
                continue
            if any(is_name(target.target, name) for target in made.targets):
                output: cst.BaseExpression | None = next(
                    (n for n in names(made.value) if n.value == name), None
                )
                while output is not None and output is not made.value:
                    output = self.same(output)
                return output is None
        return False

    def is_previous(
        self, output: cst.BaseExpression, holder: cst.CSTNode | None, node: cst.Call, loop: Loop
    ) -> bool:
        """`last = y`, of a name that the next turn reads after the call."""
        if not isinstance(holder, cst.Assign) or holder.value is not output:
            return False
        kept = {t.target.value for t in holder.targets if isinstance(t.target, cst.Name)}
        start, end = self.function.range(node), self.function.range(holder)
        return any(
            isinstance(part, cst.Name)
            and part.value in kept
            and start < self.function.range(part) < end
            and not _binds(self.function.parent(part), part.value)
            for part in tree.walk(loop.body)
        )

    def adds_up(self, node: cst.Call, loops: list[Loop], op: Op) -> bool:
        """Tell of gradients that several turns add up."""
        inner = loops[0]
        backward = _calls(inner.body, "backward")
        if not backward or re.search(r"\.grad\b(?!\s*is\b)", self.function.text):
            return False
        cleared = _calls(inner.body, "zero_grad")
        conditions = [self.condition(call, backward[0], inner) for call in cleared]
        if not cleared:
            if not any(_calls(loop.body, "zero_grad") for loop in loops[1:]):
                return False
            if any(_calls(loop.body, MARK) for loop in loops[1:]) and not _calls(inner.body, MARK):
                return False  # all that comes until the next mark is one step
            several = self.is_several(inner.iter) if isinstance(inner, cst.For) else False
        elif all(test is not None for test in conditions):
            several = any(self.is_several(test) for test in conditions if test is not None)
        else:
            return False
        severity: Severity | None = None if several else "note"
        self.report(
            backward[0],
            op,
            f"{self.quote(backward[0])} comes several times before `zero_grad()`: mode {graphs_mode(op)} runs "
            "CUDA graphs, whose gradients the next run overwrites: it raises RuntimeError; give each parameter a "
            "gradient before the first call (`p.grad = torch.zeros_like(p)`), and keep it by "
            "`zero_grad(set_to_none=False)`",
            severity=severity,
        )
        return True

    def condition(self, call: cst.Call, backward: cst.Call, loop: Loop) -> cst.BaseExpression | None:
        """The test that a call in a loop stands under, and `backward` does not."""
        side: cst.CSTNode = call
        here = self.function.parent(call)
        while here is not None and here is not loop:
            if isinstance(here, cst.If) and not any(part is backward for part in tree.walk(side)):
                return here.test
            side, here = here, self.function.parent(here)
        return None

    def is_several(self, counted: cst.BaseExpression) -> bool:
        """Whether `range(n)`, or `i % n == 0`, is written with a number above 1."""
        for part in tree.walk(counted):
            if isinstance(part, cst.Integer) and part.evaluated_value > 1:
                return True
            if isinstance(part, cst.Name):
                said = re.search(
                    rf"^\s*{re.escape(part.value)}(?:\s*:\s*int)?\s*=\s*(\d+)\s*(?:#.*)?$",
                    self.function.source,
                    re.M,
                )
                if said is not None and int(said[1]) > 1:
                    return True
        return False


def _calls(body: cst.CSTNode, method: str) -> list[cst.Call]:
    return [
        part
        for part in tree.walk(body)
        if isinstance(part, cst.Call)
        and isinstance(part.func, cst.Attribute)
        and part.func.attr.value == method
    ]


def _binds(node: cst.CSTNode | None, name: str) -> bool:
    """Whether a statement, or a target of one, gives the name something."""
    if isinstance(node, cst.AssignTarget | cst.AnnAssign):
        return is_name(node.target, name)
    if isinstance(node, cst.Assign):
        return any(_binds(target, name) for target in node.targets)
    return False
