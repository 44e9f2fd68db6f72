from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.settings import COMPILES, HOLDERS, INDUCTOR, PATCHES, alike, is_missing, was

GIVEN = (*COMPILES, "decorate compile")  # what is given options
CATCHES = ("AttributeError", "Exception", "BaseException", "RuntimeError")
# What people look for in torch.compiler, or in torch.compile, and is in torch._dynamo alone.
OF_DYNAMO = ("explain", "graph_break", "mark_dynamic", "mark_static", "mark_unbacked", "maybe_mark_dynamic")
NEWEST = (2, 14)  # the last torch of which the names of torch.compiler were read
ASKS = ("hasattr(", "version", "Version")  # of a test that asks whether this torch has it


class UnknownSetting(Rule):
    """A setting of `torch._dynamo.config`, an option or a name of `torch.compile` that this torch does not have.

    ## What happens
    The settings of torch.compile come and go with its versions. Assigning one that is not there raises AttributeError,
    in `torch._dynamo.config`, `torch._inductor.config` and `torch._functorch.config` as in their `patch`. In a `try`
    that catches it, all that stands below is not done: other settings, or torch.compile itself, and the program goes on
    uncompiled. `options` of torch.compile are names of `torch._inductor.config`; another one raises RuntimeError.

    `torch.compile` is a function: `torch.compile.is_compiling()` and `torch.compile.disable` raise AttributeError, as
    does `torch.compiler.mark_dynamic`, which is in `torch._dynamo`. In a branch that no test runs, that is seen late.

    A test around it that asks for torch's version, or by `hasattr`, is heard.

    ## Example
    ```python
    import torch

    def f(x):
        return x * 2

    def run():
        compiled = f
        try:
            torch._dynamo.config.log_level = 40
            compiled = torch.compile(f)
        except Exception as error:
            print("not compiled", error)
        return compiled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        return x * 2

    def run():
        torch._logging.set_logs(dynamo=40)
        compiled = torch.compile(f)
        return compiled(torch.ones(3))
    ```

    ## Versions
    Measured: the settings of torch 2.6, 2.9, 2.13 and 2.15 (matrix/settings.py); of a version between two of these
    only those count as missing that neither has. The names of torch.compiler: measured on torch 2.13, read in 2.14.
    """

    code = "PTS339"
    name = "unknown-setting"
    ops = ("set setting", "missing name", *PATCHES, *GIVEN)
    anywhere = True
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name in GIVEN:
            backend = op.arg("backend")
            return op.arg("options").startswith("dict of") and backend in ("", "constant 'inductor'", "none")
        return True

    def concerns(self, op: Op) -> bool:
        if op.name == "missing name":
            return self.function.target <= NEWEST
        return op.name != "set setting" or is_missing(*_place(op), self.function.target)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "missing name":
            self.named(node, op)
        elif op.name == "set setting":
            self.told(node, *_place(op), "AttributeError", op)
        elif isinstance(node, cst.Call):
            compiles = op.name in GIVEN
            holder = INDUCTOR if compiles else op.name.removeprefix("call ").removesuffix(".patch")
            named = self.options(node) if compiles else self.patched(node)
            for place, name in named:
                self.told(place, holder, name, "RuntimeError" if compiles else "AttributeError", op)

    def named(self, node: cst.CSTNode, op: Op) -> None:
        """`torch.compile.is_compiling`"""
        if self.is_asked_for(node) or self.left_undone(node) == 0:
            return
        name = op.detail("name").rpartition(".")[2]
        instead = f"torch._dynamo.{name}" if name in OF_DYNAMO else f"torch.compiler.{name}"
        self.report(
            node,
            op,
            f"there is no {self.quote(node)}: reading it raises AttributeError; there is `{instead}`",
            fixes=[self.fix("Name what there is.", self.edit(node, instead))],
        )

    def options(self, call: cst.Call) -> Iterator[tuple[cst.CSTNode, str]]:
        """The texts among the keys of `options={...}`."""
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value == "options":
                for place, name in _keys(arg.value):
                    yield place, name.replace("-", "_")

    def patched(self, call: cst.Call) -> Iterator[tuple[cst.CSTNode, str]]:
        """What `patch("name", value)`, `patch({"name": value})` or `patch(name=value)` sets."""
        for arg in call.args:
            if arg.keyword is not None:
                yield arg.keyword, arg.keyword.value
            else:
                yield from _keys(arg.value)
                if isinstance(arg.value, cst.SimpleString) and arg is call.args[0]:
                    yield arg.value, str(arg.value.evaluated_value)

    def told(self, node: cst.CSTNode, holder: str, name: str, error: str, op: Op) -> None:
        target = self.function.target
        if not is_missing(holder, name, target) or self.is_asked_for(node):
            return
        left = self.left_undone(node)
        if left == 0:
            return
        version = ".".join(map(str, target))
        said = f"`{name}` is no setting of {holder} on torch {version}, and raises {error}"
        if left is not None:
            said += ": what stands below it in the `try` is not done"
        elif near := alike(holder, name, target):
            said += f"; there is `{near}`"
        elif was(holder, name):
            said += "; other versions have it"
        self.report(node, op, said, severity="warning" if left is not None else None)

    def is_asked_for(self, node: cst.CSTNode) -> bool:
        """Whether it stands under a test of torch's version, or of whether there is such a setting."""
        here = self.function.parent(node)
        while here is not None:
            test = here.test if isinstance(here, cst.If | cst.IfExp) else None
            if test is not None and any(word in self.text(test) for word in ASKS):
                return True
            here = self.function.parent(here)
        return False

    def left_undone(self, node: cst.CSTNode) -> int | None:
        """How many statements come after it in a `try` that catches the error; None where nothing does."""
        here, outer = node, self.function.parent(node)
        while outer is not None and not isinstance(outer, cst.FunctionDef | cst.Lambda):
            holder = self.function.parent(outer)
            if isinstance(holder, cst.Try) and outer is holder.body and isinstance(outer, cst.IndentedBlock):
                kinds = [handler.type for handler in holder.handlers]
                if any(kind is None or any(word in self.text(kind) for word in CATCHES) for kind in kinds):
                    return len(outer.body) - 1 - next(i for i, s in enumerate(outer.body) if s is here)
            here, outer = outer, holder
        return None


def _place(op: Op) -> tuple[str, str]:
    """The module of settings and the name: `triton.cudagraphs` of torch._inductor.config."""
    holder, name = op.detail("holder"), op.detail("name")
    module = next((known for known in HOLDERS if holder.startswith(f"{known}.")), holder)
    inner = holder[len(module) + 1 :]
    return module, f"{inner}.{name}" if inner else name


def _keys(node: cst.BaseExpression) -> Iterator[tuple[cst.CSTNode, str]]:
    """The texts that a dictionary has as keys, as it is written."""
    if not isinstance(node, cst.Dict):
        return
    for element in node.elements:
        if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString):
            yield element.key, str(element.key.evaluated_value)
