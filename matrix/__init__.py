"""What Dynamo does with small pieces of code, measured on several versions of torch.

constructs/      each case is a function or module: does it break the graph, where, why?
recompilations/  each case is a generator of calls: how often does Dynamo compile again, because of which guard?
silent/          each case shows what eager does and what the compiled code does

    PYTHON matrix/measure.py        measure all under the torch of PYTHON, write results/TABLE-VERSION.json
    PYTHON matrix/operators.py      call every torch function and Tensor method once
    PYTHON matrix/number_arguments.py    put a tensor in place of each number that they take
    python matrix/page.py           write docs/matrix.md, docs/operators.md, docs/recompilations.md from the results
"""
