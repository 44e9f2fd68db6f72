from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import dotted, made
from pt2lint.rule.tree import walk

OFF = "constant False"
# What a product of matrices is, as gradients are again; convolutions keep their precision (measured).
PRODUCTS = ("matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "linear")
WITHOUT = ("no_grad", "inference_mode")
PLAIN = ("arange", "detach")  # makes what wants no gradients
PICKS = ("argmax", "argmin", "max", "min")  # the nearest code of distances: no gradient goes through these
WIDE = ("float", "float32", "double", "float64")
BUFFERS = re.compile(r"register_buffer\(\s*[\"'](\w+)")
UNCOMPILED = "run as it is, each operation goes back as it came; nothing here compiles it"


class IslandGradients(Rule):
    """A part of compiled code leaves autocast, and its gradients do not.

    ## What happens
    `with torch.autocast(..., enabled=False)` has products of matrices computed in float32. The gradients of these are
    products as well, and in eager mode they are computed in float32, too, since `backward()` stands outside of
    autocast. Compiled code traces its backward pass under the autocast that it was called in: all products of it are
    rounded to half precision, those of the part that had left autocast among them. The result of the forward pass is
    the same, and nothing is said.

    It does not happen where autocast is entered inside of the compiled code, nor with
    `torch._functorch.config.backward_pass_autocast = "off"` (from 2.9 on, for a `backward()` outside of autocast).

    ## Example
    ```python
    import torch

    @torch.compile(backend="aot_eager")
    def scores(q, k):
        with torch.autocast("cpu", enabled=False):
            return q.float() @ k.float()

    def run():
        q, k = torch.linspace(-1, 1, 64).view(8, 8).requires_grad_(), torch.linspace(0, 1, 64).view(8, 8)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = scores(q, k)
        out.backward(torch.ones_like(out) / 3)
        return torch.allclose(q.grad, torch.ones(8, 8) / 3 @ k.T, rtol=1e-4)
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile(backend="aot_eager")
    def scores(q, k):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.autocast("cpu", enabled=False):
                return q.float() @ k.float()

    def run():
        q, k = torch.linspace(-1, 1, 64).view(8, 8).requires_grad_(), torch.linspace(0, 1, 64).view(8, 8)
        out = scores(q, k)
        out.backward(torch.ones_like(out) / 3)
        return torch.allclose(q.grad, torch.ones(8, 8) / 3 @ k.T, rtol=1e-4)
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15, under autocast of bfloat16 on a CPU, with the backend "aot_eager" (`@`
    with "inductor", too): gradients differ by three in a thousand, which is how coarse bfloat16 is, for `@`,
    `einsum`, `F.linear` and a linear layer; not for convolutions, norms, softmax and what goes element by element,
    nor where nothing puts the call under autocast, or `backward()` as well.
    """

    code = "PTS354"
    name = "island-gradients"
    uncompiled = UNCOMPILED
    severity = "note"
    instead = MappingProxyType(
        {
            "": "Enter autocast inside of the compiled code; or say `torch._functorch.config.backward_pass_autocast = "
            '"off"` once, where no `backward()` stands under autocast'
        }
    )
    ops = ("call torch.autocast", "call torch.amp.autocast", "call torch.cuda.amp.autocast")

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return OFF in (
            op.arg(0 if op.name == "call torch.cuda.amp.autocast" else 2, "enabled"),
            op.arg("enabled"),
        )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        island = self.island(node)
        if island is None:
            return
        calls = (part.func for part in walk(island.body) if isinstance(part, cst.Call))
        if any(isinstance(one, cst.Attribute) and one.attr.value in PICKS for one in calls):
            return
        product = next(filter(self.wants_gradients, self.products(island.body)), None)
        if product is not None:
            self.report(
                node,
                op,
                f"the gradients of {self.quote(product)} are rounded as if it had not left autocast, where that is on "
                "around the call: compiled code goes back under the autocast that it was called in",
            )

    def island(self, node: cst.CSTNode) -> cst.With | None:
        """The `with` that leaves autocast; None where nothing has gradients, or the same function has entered autocast
        around it."""
        found: cst.With | None = None
        here = self.function.parent(node)
        while here is not None:
            if isinstance(here, cst.With | cst.FunctionDef):
                around = [i.item for i in here.items] if isinstance(here, cst.With) else list(here.decorators)
                text = " ".join(self.text(each) for each in around)
                if any(word in text for word in WITHOUT) or (found is not None and "autocast" in text):
                    return None
                found = found or (here if isinstance(here, cst.With) else None)
            here = self.function.parent(here)
        return found

    def products(self, body: cst.CSTNode) -> Iterator[cst.BaseExpression]:
        for part in walk(body):
            if isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.MatrixMultiply):
                yield part
            elif isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute | cst.Name):
                name = dotted(part.func)
                if name.rpartition(".")[2] in PRODUCTS or name in self.linear_layers():
                    yield part

    def linear_layers(self) -> set[str]:
        """`self.proj` of `self.proj = nn.Linear(...)`, anywhere in the file."""
        known: set[str] | None = self.function.memo.get("linear layers")
        if known is None:
            tree = self.function.file_tree
            known = self.function.memo["linear layers"] = {
                ast.unparse(target)
                for part in (ast.walk(tree) if tree is not None else ())
                if isinstance(part, ast.Assign) and isinstance(part.value, ast.Call)
                if ast.unparse(part.value.func).rpartition(".")[2] == "Linear"
                for target in part.targets
            }
        return known

    def wants_gradients(self, product: cst.BaseExpression) -> bool:
        """Whether it is a product of what was widened, `q.float()`, and not of a buffer, or of what is made to want no
        gradients: the angles of positions."""
        buffers = {f"self.{name}" for name in BUFFERS.findall(self.function.source)}
        read: set[str] = set()
        rest: list[cst.CSTNode] = [product]
        widened = False
        while rest:
            for part in walk(rest.pop()):
                if isinstance(part, cst.Attribute):
                    if dotted(part) in buffers or part.attr.value in PLAIN:
                        return False
                    widened = widened or part.attr.value in WIDE
                elif isinstance(part, cst.Name) and part.value not in read:
                    read.add(part.value)
                    rest.append(made(self.function, part))
        return widened
