"""How often Dynamo compiles again over the calls of one case, and which guards failed."""

import torch
import torch._dynamo

from matrix.harness import CountGraphs, contained, said, shortened


def measure(module, case, records, quick=False):
    """The result of one case, as measure.py describes it."""
    torch._dynamo.reset()
    records.events.clear()
    counting = CountGraphs()

    def compile(function=None, **options):
        return torch.compile(function, backend=counting, **options)

    compile.backend = counting
    calls = 0
    error = None
    with contained(), torch._dynamo.config.patch({}):
        try:
            for _ in getattr(module, case.name)(compile):
                calls += 1
        except Exception as raised:
            error = said(raised)
    recompiles = [r for kind, r in records.events if kind == "recompile"]
    guards = dict.fromkeys(shortened(g) for r in recompiles for g in r["guards"][:1])
    result = {
        "calls": calls,
        "recompiles": len(recompiles),
        "limit": any(kind == "limit" for kind, _ in records.events),
        "graphs": counting.graphs,
        "guards": list(guards)[:3],
    }
    if error:
        result["error" if counting.graphs else "absent"] = error
    return result
