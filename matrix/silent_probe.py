"""What eager does and what the compiled code does, where nothing says that they differ."""

import torch
import torch._dynamo

from matrix.harness import CountGraphs, contained, said, shortened


def measure(module, case, records, quick=False):
    """The result of one case, as measure.py describes it."""
    torch._dynamo.reset()
    counting = CountGraphs()

    def compile(function=None, **options):
        return torch.compile(function, backend=counting, **options)

    compile.backend = counting
    compile.graphs = lambda: counting.graphs
    with contained(), torch._dynamo.config.patch({}):
        try:
            eager, compiled = getattr(module, case.name)(compile)
        except Exception as error:
            return {"absent": said(error)}
    return {
        "eager": shortened(str(eager)),
        "compiled": shortened(str(compiled)),
        "differs": eager != compiled,
    }
