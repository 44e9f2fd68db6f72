from __future__ import annotations

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.syntax import made
from pt2lint.rule.tree import is_name, walk

# torch._inductor.list_mode_options(), and the version that brought each.
MODES = {
    "default": (2, 0),
    "reduce-overhead": (2, 0),
    "max-autotune": (2, 0),
    "max-autotune-no-cudagraphs": (2, 1),
    "lite": (2, 10),
}


# Backends that run the graph as it is.
EAGER = ("constant 'eager'", "constant 'aot_eager'")
ONE_OF_THEM = (
    "Give one of them: `torch._inductor.list_mode_options(mode)` says which options a mode stands for."
)


class CompileArguments(Rule):
    """`torch.compile` is given arguments that it refuses, or that do nothing.

    ## What happens
    A mode is a name for a set of options of the inductor backend: `mode` and `options` together are an error, and so
    is a mode that there is not. Both are raised where `torch.compile` is called, which may be a branch that no test
    runs, or a `try` that goes on without compiling. `torch._inductor.list_mode_options()` says which options a mode
    stands for. The backends "eager" and "aot_eager" run the graph as it is and generate no code, whatever the mode,
    which is a note: they are for looking at what Dynamo does.

    ## Example
    ```python
    import torch

    def f(x):
        return x * 2

    def run():
        compiled = torch.compile(f, mode="max-autotune", options={"epilogue_fusion": True}, backend="inductor")
        return compiled(torch.ones(3))
    ```

    ## Use instead
    ```python
    import torch

    def f(x):
        return x * 2

    def run():
        compiled = torch.compile(f)
        return compiled(torch.ones(3))
    ```

    ## Versions
    Measured: RuntimeError on torch 2.6, 2.9, 2.13 and 2.15; the mode "lite" exists on 2.13 and 2.15.
    The backends "eager" and "aot_eager" take any mode, also one that there is not, and log that they leave it out.
    """

    code = "PTS313"
    name = "compile-arguments"
    ops = (
        "call torch.compile",
        "call torch.compiler.compile",
        "call torch.nn.Module.compile",
        "decorate compile",
    )
    anywhere = True
    severity = "error"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.inside == "with":
            return False
        mode = op.arg("mode")
        # Which mode a text is does not matter beside options: torch.compile asks whether there is one.
        if mode == "str":
            return op.arg("options").startswith("dict of")
        if not mode.startswith("constant '") or " | " in mode:
            return False
        return op.arg("backend") in ("", "constant 'inductor'", "none", *EAGER)

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        mode = op.arg("mode").removeprefix("constant '").removesuffix("'")
        if op.arg("options").startswith("dict of"):
            if self._gives_both(node):
                self.report(
                    node,
                    op,
                    f"{self.quote(node.func)} takes `mode` or `options`, not both: it raises RuntimeError",
                    fixes=[self.fix(ONE_OF_THEM, by_hand=True)],
                )
        elif op.arg("backend") in EAGER:
            if mode == "default":
                return
            self.report(
                node,
                op,
                f"the backend {op.arg('backend').removeprefix('constant ')} runs the graph as it is: no code is "
                f"generated, and mode {mode!r} does nothing",
                severity="note",
                fixes=[self.fix("Leave `backend` out, to have code generated; or `mode`.", by_hand=True)],
            )
        elif mode not in MODES or self.function.target < MODES[mode]:
            known = ", ".join(name for name, since in MODES.items() if self.function.target >= since)
            self.report(
                node, op, f"there is no mode {mode!r}: torch.compile raises RuntimeError; there are {known}"
            )

    def _gives_both(self, call: cst.Call) -> bool:
        """Whether the call is surely given options: as they stand in it, or in one dictionary that is given as `**`."""
        options = [each.value for each in call.args if each.keyword and each.keyword.value == "options"]
        for given in (each.value for each in call.args if each.star == "**"):
            if isinstance(given, cst.Name) and self._changed(given.value):
                continue
            both = made(self.function, given)
            if isinstance(both, cst.Dict):
                keys = {
                    item.key.evaluated_value: item.value
                    for item in both.elements
                    if isinstance(item, cst.DictElement) and isinstance(item.key, cst.SimpleString)
                }
                options += [keys["options"]] if keys.keys() >= {"mode", "options"} else []
        return any(
            isinstance(made(self.function, each), cst.Dict | cst.DictComp | cst.Call) for each in options
        )

    def _changed(self, name: str) -> bool:
        """Whether something is put into what has this name, or taken out: `kw.pop("mode")`, `kw["mode"] = None`."""
        return any(
            isinstance(part, cst.Attribute | cst.Subscript) and is_name(part.value, name)
            for part in walk(self.function.module)
        )
