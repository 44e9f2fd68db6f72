"""A mask of a transformer: say that it is not known to be causal."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.nodes import arguments
from pt2lint.fixes.rewrite import with_argument
from pt2lint.rule import FunctionCode

KEYWORDS = {
    "mask torch.nn.TransformerEncoder": {"mask": ("is_causal", 1)},
    "mask torch.nn.TransformerDecoder": {"tgt_mask": ("tgt_is_causal", 2)},
    "mask torch.nn.Transformer": {"src_mask": ("src_is_causal", 2), "tgt_mask": ("tgt_is_causal", 3)},
}


def fixes(function: FunctionCode, node: cst.CSTNode) -> Iterator[Fix]:
    """`is_causal=False` behind the call's arguments, for each mask that it is given. The mask is applied as before."""
    op = next((op for op in function.ops_at(node) if op.name in KEYWORDS), None)
    given = arguments(node) if isinstance(node, cst.Call) else None
    if op is None or not isinstance(node, cst.Call) or not node.args or given is None:
        return
    placed, named = given
    added = [
        f"{causal}=False"
        for mask, (causal, place) in KEYWORDS[op.name].items()
        if (mask in named or place < len(placed)) and causal not in named
    ]
    if not added:
        return
    told = ", ".join(added)
    yield Fix(
        f"Say `{told}`: the mask is applied as before, and not compared with a causal one. Where it is one, "
        "`True` may be faster.",
        "safe",
        with_argument(function, node, told),
    )
