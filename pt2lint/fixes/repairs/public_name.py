"""A function of torch by the name of the one that asks the same, and that Dynamo traces: the public one, or a newer."""

from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.file import file_of
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.repaired import Refusal, Repaired, accepted, fix
from pt2lint.fixes.rewrite import rewrite
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import walk

PUBLIC = {
    "torch._C._is_tracing": ("torch.jit.is_tracing", ""),
    "torch.get_autocast_cpu_dtype": ("torch.get_autocast_dtype", '"cpu"'),
}

# Traced as they are; left, they would ask the same in another way.
BESIDE = {"torch.get_autocast_cpu_dtype": {"torch.get_autocast_gpu_dtype": '"cuda"'}}
DOUBLE = '"'


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    return accepted(by_public_name(function, node))


def by_public_name(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`torch._C._is_tracing()` as `torch.jit.is_tracing()`, `torch.get_autocast_cpu_dtype()` as
    `torch.get_autocast_dtype("cpu")`."""
    name = qualified(function, node.func) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or name not in PUBLIC or node.args:
        return Refusal("not a function that has another one beside it")
    other, given = PUBLIC[name]
    spelled, imports = torch_name(function, other)
    new: dict[cst.CSTNode, cst.CSTNode] = {}
    for one in walk(function.module):  # what stands beside it for another device goes by the new name as well
        asked = qualified(function, one.func) if isinstance(one, cst.Call) and not one.args else None
        argument = given if one is node else BESIDE.get(name, {}).get(asked or "")
        if argument is not None:
            text = f"{spelled}({argument.replace(DOUBLE, file_of(function).quote)})"
            new[one] = cst.parse_expression(text)
    return fix(
        f"Ask `{other}({given})`, which answers the same and is traced.",
        (*imports, *rewrite(function, new)),
    )
