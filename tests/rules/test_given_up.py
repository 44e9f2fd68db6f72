"""What a break costs beside itself: in a loop the whole function, in a `try` or a `with` what comes from there on."""

from __future__ import annotations

import textwrap
import threading

import pytest
import torch

BROKEN = "y = y * y.sum().item()"
BLOCKS = {
    "loop": f"for _ in range(2):\n    {BROKEN}",
    "try": f"try:\n    {BROKEN}\nexcept ValueError:\n    pass",
    "with": f"with Entered():\n    {BROKEN}",
    "lock": "with LOCK:\n    y = y + 1",
}
LEFT = {"loop": set(), "try": {"sin", "cos"}, "with": {"sin", "cos"}, "lock": {"sin", "cos"}}


class Entered:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("block", BLOCKS)
def test_what_stands_before_the_block_is_compiled_and_nothing_behind_it(block: str) -> None:
    text = f"def f(x):\n    y = x.sin().cos()\n{textwrap.indent(BLOCKS[block], '    ')}\n    return y.tan().abs()\n"
    names: dict[str, object] = {"torch": torch, "LOCK": threading.Lock(), "Entered": Entered}
    exec(compile(text, f"{block}.py", "exec"), names)
    compiled: set[str] = set()

    def backend(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        compiled.update(str(node.target) for node in graph.graph.nodes if node.op == "call_method")
        return graph

    torch.compile(names["f"], backend=backend)(torch.ones(3))
    assert compiled == LEFT[block]
