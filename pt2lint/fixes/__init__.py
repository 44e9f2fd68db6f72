"""Fixes: edits to source (`edit`), repairs that make them, and their proof (`proof`).

A repair is a pure function of the function's code and a node in it; it returns a `Fix`, or a `Refusal` that
says why it does not fit. What it needs to know of kinds it takes from `kind`, a function from an expression
to a word (`pt2lint.fixes.kinds`): what the interpreter says, and else the function's own text. A rule names
the modules (`repairs = ("guard", "branch")`), or writes

    self.report(node, op, message, fixes=branch.fixes(self.function, node))

where `fixes(function, node)` of each module returns all that fit, the best first. `node` is the
node of the finding: for a test the tested expression or its `if`, for a call the call.

- branch: `if`, ternary, early return, `continue` on a tensor: a clamp, torch.where, torch.cond, the rate asked first
- guard: `if not c.all(): raise X(...)`, `assert a and b`: assert, torch._assert_async
- scalar: `.item()`, `float()`, `int()`, `bool()`: the tensor itself; scalar capture
- mask: `x[mask].sum()`, `y[mask] = z[mask]`, `y[mask] += 1`: torch.where; shape capture
- printing: print, logging, warnings: a form that compiles, settings of torch._dynamo
- copying: copy.deepcopy and copy.copy of tensors and of containers of them
- host: imports inside a function; random numbers of Python
- disable: torch.compiler.disable on the function: a workaround, to be given last
"""
