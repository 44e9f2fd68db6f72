"""Fixes: edits to source (`edit`), repairs that make them, and their proof (`proof`).

A repair is a pure function of the function's code and a node in it; it returns a `Fix`, or a `Refusal` that
says why it does not fit. Everything a repair needs to know of kinds it takes from `kind`, a function from an
expression to a word (`pt2lint.fixes.kinds`); without it, it guesses from the function's own text. A rule
writes

    from pt2lint.fixes import branch
    self.report(node, op, message, fixes=branch.fixes(self.function, node))

where `fixes` of each module below returns all that fit, the best first. `node` is the node of the finding:
for a test the tested expression or its `if`, for a call the call, for a statement either it or the
expression in it.

branch.fixes         `if`, ternary, early return, `continue` on a tensor: torch.where, torch.cond, rate first
guard.fixes          `if not c.all(): raise X(...)`, `assert a and b`: assert, torch._assert_async
scalar.fixes         `.item()`, `float()`, `int()`, `bool()`, `.tolist()`: the tensor itself; scalar capture
mask.fixes           `x[mask].sum()`, `y[mask] = z[mask]`, `y[mask] += 1`: torch.where; shape capture
printing.fixes       print, logging, warnings: a form that compiles, settings of torch._dynamo copying.fixes
copy.deepcopy and copy.copy of tensors and containers of them host.fixes           time, random and the like;
imports inside a function learning_rate.fixes  `lr=1e-3` of an optimizer: a tensor counter.fixes
`self.step += 1` in forward: a buffer (needs the file's text) disable.fixes        torch.compiler.disable on
the function: a way round, to be given last
"""
