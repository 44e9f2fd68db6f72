"""Reports to render in tests: a function, what stands in it, and every kind of finding."""

from dataclasses import replace

from pt2lint.finding import Edit, Finding, Fix, RulePage, Step
from pt2lint.report import Report

CODE = """\
import torch


def scale(x):
    return x.max().item()


@torch.compile
def run(x, flag):
    print("größe 数", x); y = x.item()
    if (
        x.sum() > 0
    ):
        return scale(x)
    return y
"""

ITEM = Finding(
    code="PTB103",
    name="tensor-item",
    message="`x.max().item()` moves a value from the tensor to Python",
    path="src/a b.py",
    line=5,
    column=12,
    end_line=5,
    end_column=26,
    flow=(
        Step("src/a b.py", 9, "`run` is compiled"),
        Step("src/a b.py", 14, "calls `scale`"),
    ),
    fixes=(
        Fix("Keep the tensor: `x.max()`", "safe", (Edit("src/a b.py", 5, 19, 5, 26, ""),)),
        Fix("Change nothing", "unsafe", ()),
    ),
)
CONFIRMED = replace(
    ITEM,
    line=10,
    column=30,
    end_line=10,
    end_column=38,
    flow=(),
    verdict="confirmed",
    evidence={
        "graph_break": "GB0124",
        "reason": "Unsupported Tensor.item() call\nwith x",
        "graphs": 3,
        "hits": 24,
    },
    fixes=(),
)
REFUTED = replace(
    ITEM, line=15, column=5, end_line=15, end_column=13, verdict="refuted", severity="error", flow=()
)
BRANCH = Finding(
    code="PTB110",
    name="data-dependent-branch",
    message="`x[0](1) > 0` is tested, 100% of the time:\nand is a tensor, isn't it?",
    path="src/a b.py",
    line=11,
    column=5,
    end_line=13,
    end_column=7,
    severity="error",
    confidence="low",
    verdict="unreached",
)
NOTE = replace(ITEM, code="PTX001", name="unused-suppression", severity="note", line=1, column=1, end_line=1,
               end_column=7, flow=(), fixes=())  # fmt: skip
FINDINGS = (NOTE, ITEM, CONFIRMED, BRANCH, REFUTED)

PAGE = RulePage(
    code="PTB103",
    name="tensor-item",
    summary="`.item()` moves a value from the tensor to Python.",
    help="`.item()` moves a value from the tensor to Python.\n\n## What happens\n\n"
    "See [here](https://x.org). A break.\n\n## Example\n\n```python\nx.item()\n```\n",
    severity="error",
    graph_breaks=("GB0124",),
)


def report(*findings: Finding, **changes: object) -> Report:
    base = Report(
        findings=findings or FINDINGS,
        pages={"PTB103": PAGE},
        sources={"src/a b.py": CODE},
        files=2,
        version="1.2.3",
    )
    return replace(base, **changes)  # type: ignore[arg-type]
