"""The pages of the codes that no rule file has: what --verify alone reports, and idle suppressions."""

from __future__ import annotations

from pt2lint.finding import RulePage

UNUSED = RulePage(
    code="PTX001",
    name="unused-suppression",
    summary="A comment that silences nothing.",
    help="""A comment that silences nothing.

## What happens

A `# noqa` or `# pt2lint: ignore` comment names a code that pt2lint does not report there. The code was
fixed, the comment moved, or the code is misspelt. Left in place it would hide the next finding of that
kind. Only codes of pt2lint are looked at, and only those that are switched on; a `# noqa` without codes is
never reported.

## Example

```python
total = x.sum()  # noqa: PTB103
```

## Use instead

```python
total = x.sum()
```
""",
    severity="warning",
)

VERIFY_PAGES = (
    RulePage(
        code="PTB900",
        name="unforeseen-graph-break",
        summary="Dynamo broke the graph where no rule foresaw it.",
        help="""Dynamo broke the graph where no rule foresaw it.

## What happens

Only `--verify` reports this: it ran the code under `torch.compile` on sample inputs, and Dynamo recorded a
graph break at a place of which no rule said anything. The reason is Dynamo's own, with the id of the break
in PyTorch's graph-break registry. At a break Dynamo compiles what it has, runs the statement in plain
Python and starts a new graph after it; inside a loop, a `try` or a `with` it may give up the whole
function.

## Use instead

Where a rule knows the statement, the finding has that rule's fixes; else what the page of the registry id
suggests. Where no rewrite is possible, `@torch.compiler.disable` on the smallest function that holds the
statement keeps the break where it is and says that it is meant.
""",
        severity="warning",
    ),
    RulePage(
        code="PTR900",
        name="unforeseen-recompilation",
        summary="Dynamo recompiled where no rule foresaw it.",
        help="""Dynamo recompiled where no rule foresaw it.

## What happens

Only `--verify` reports this: it called the compiled code several times with sample inputs, and a guard
failed, so that the function was compiled again. The guard is Dynamo's own. After eight recompilations of
one function (`torch._dynamo.config.recompile_limit`) it runs uncompiled from then on.

## Use instead

What the guard names tells what to hold still: mark a size that changes with `torch._dynamo.mark_dynamic`,
keep a number that changes in a tensor, and do not let attributes or globals change between calls.
""",
        severity="warning",
    ),
    RulePage(
        code="PTB901",
        name="graphs-over-budget",
        summary="A model compiles into more graphs than its budget allows.",
        help="""A model compiles into more graphs than its budget allows.

## What happens

`[tool.pt2lint.budget]` says how many graphs, or graph breaks, a model may have, and `--verify` found more. The places
that break it are findings of their own. It is counted in one call, in the mode that has most graphs.

## Use instead

Repair what came since the budget was written (`pt2lint compare` names it). Where the new graphs are meant,
`pt2lint --verify --write-budget` writes what the model has now.
""",
        severity="warning",
    ),
    RulePage(
        code="PTR901",
        name="recompilations-over-budget",
        summary="A model is compiled again more often than its budget allows.",
        help="""A model is compiled again more often than its budget allows.

## What happens

`[tool.pt2lint.budget]` says how often a model may be compiled again, and `--verify` found more: in the longest of the
sequences of calls that it made, with the inputs it was given. The guards that failed are findings of their own.

## Use instead

Repair what came since the budget was written (`pt2lint compare` names it). Where it is meant,
`pt2lint --verify --write-budget` writes what the model has now.
""",
        severity="warning",
    ),
)
