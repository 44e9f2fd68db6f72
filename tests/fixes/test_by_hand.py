"""What is told where no repair is found: what to write instead, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

HEAD = """
import random, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor):
"""
CASES = {
    "a branch that only raises, with what the message says": (
        [
            "y = self.layer(x)",
            "if (y == 0).any():",
            "    bad = torch.where(y == 0)[0].tolist()",
            '    raise RuntimeError(f"zeros: {bad}")',
            "return y",
        ],
        "Check it before the compiled code runs; or where it is compiled with `torch._assert_async`, which stays in "
        "the graph: `torch._assert_async(~(y == 0).any())`",
    ),
    "a number that is only computed with": (
        [
            "total, count, n = 0.0, 0, (x > 0).sum().item()",
            "loss = torch.zeros(())",
            "for i in range(3):",
            "    total += n * self.layer(x * i).mean()",
            "    count += n",
            "    n = (x > i).sum().item()",
            "    loss += n * self.layer(x).sum()",
            "loss /= count",
            "return [loss], total / count",
        ],
        "Keep it a tensor all through: `n` is only computed with, which a tensor is as well",
    ),
    "a number that is computed with and bounds a loop": (
        ["n = self.layer(x).sum().item()", "for i in range(int(n)):", "    x = x + n", "return x"],
        "",
    ),
    "a number that is drawn": (
        ["n = torch.randint(2, 5, (1,)).item()", "for i in range(n):", "    x = self.layer(x)", "return x"],
        "Draw it before the compiled code runs",
    ),
    "numbers that a loop sums up": (
        [
            "ends = self.layer(x).sum(-1)",
            "count, kept = 0, []",
            "for i in range(1, x.shape[0]):",
            "    count += (ends[i].item() - ends[i - 1].item()) // 2",
            "    kept.append(count)",
            "return self.layer(x), kept",
        ],
        "Compute it of all at once, without the loop:",
    ),
    "a bound of what Python lists": (
        [
            "longest, y = torch.tensor(rows(x)).to(x.device), self.layer(x)",
            "return y[: longest.max().item()]",
        ],
        "Compute it of the numbers themselves, without a tensor",
    ),
    "a number of an argument": (
        ["longest = lengths.max().item()", "return self.layer(x)[:longest]"],
        "Pass it in: compute `lengths.max().item()` before the compiled code runs, where `lengths` comes from,",
    ),
    "a number of what is made of arguments": (
        ["rest = x.shape[0] - lengths", "longest = rest.max().item()", "return self.layer(x)[:longest]"],
        "Pass it in: compute `rest.max().item()` before the compiled code runs, where `lengths` and `x` come from,",
    ),
    "a number of what a layer returns": (
        ["longest = self.layer(x).max().item()", "return x[: int(longest)]"],
        "",
    ),
    "a number of what an argument computes": (
        ["longest = lengths(x).max().item()", "return x[: int(longest)]"],
        "",
    ),
    "a number of what the code around computes": (
        ["longest = encode(x).max().item()", "return x[: int(longest)]"],
        "",
    ),
    "a number that is kept for a log": (
        ["y = self.layer(x)", 'return y, {"mean": float(y.mean().item())}'],
        "Keep the tensor there, `y.mean().detach()`, and read the number where it is logged, after the call.",
    ),
    "a number that is put into a dictionary for a log": (
        ["logs = {}", "y = self.layer(x).mean().detach()", 'logs["mean"] = y.item()', "return x, logs"],
        "Keep the tensor there, `y.detach()`, and",
    ),
    "a number that an attribute keeps": (
        ["y = self.layer(x).mean()", "self.mean = y.item()", "return x"],
        "Keep the tensor there, `y.detach()`, and read the number after the call, where it is asked for.",
    ),
    "a number that an attribute keeps and gives": (
        ["y = self.layer(x)", "self.mean = y.mean().item()", "return x[: int(self.mean)]"],
        "",
    ),
    "numbers of which a tensor is made again": (
        [
            "y, found = self.layer(x), []",
            "for row in y:",
            "    found.append(row.max().item())",
            "return y, torch.tensor(found)",
        ],
        "Put the tensors in the list, and make one of them: `torch.stack(found)`.",
    ),
    "a number under a name that values decide": (
        ["logs = {}", "y = self.layer(x).mean()", "logs[lengths] = y.item()", "return x, logs"],
        "",
    ),
    "a number of each turn": (
        ["for n in lengths:", "    x = x[: n.item()]", "return x"],
        "",
    ),
    "a number that is only asserted": (
        ["worst = x.abs().sum().item()", 'assert worst < 3, f"{worst}"', "return self.layer(x)"],
        "Keep the tensor and assert on that, with a message that does not hold its value:",
    ),
    "a number of which another one is asserted": (
        [
            "most = x.max().item()",
            "share = x.mean() / (most + 1)",
            'assert share < 3, f"{most}"',
            "return self.layer(x)",
        ],
        "Keep the tensor and assert on that,",
    ),
    "a number of sizes": (
        ["n = torch.tensor(x.shape[:-1]).max().item()", "return self.layer(x).reshape(n, 4)"],
        "Compute it of the numbers themselves, without a tensor:",
    ),
    "a number of a size under a name": (
        ["n = torch.tensor(x.shape[1], dtype=torch.int).to(x.device)", "return self.layer(x)[:, : n.item()]"],
        "Compute it of the numbers themselves, without a tensor:",
    ),
    "a number that is asserted and used": (
        ["worst = x.abs().sum().item()", "assert worst < 3", "return self.layer(x) * worst"],
        "Pass it in:",
    ),
    "a test of an argument": (
        [
            "if lengths.max() > 3:",
            "    self.layer.bias.data.zero_()",
            "    return x[:3]",
            "return self.layer(x)",
        ],
        "Decide it before: compute `lengths.max() > 3` before the compiled code runs, where `lengths` comes from,",
    ),
    "an assertion on an argument that may be missing": (
        ["assert lengths is None or (lengths == 1).all(), f'{lengths}'", "return self.layer(x)"],
        "Check it before the compiled code runs; or in the graph, in a statement of its own: "
        "`torch._assert_async((lengths == 1).all())`",
    ),
    "a bound that is a number in a tensor": (
        ["n = torch.IntTensor([3])", "return self.layer(x)[:, : n[0]]"],
        "Leave them numbers of Python,",
    ),
    "repeats": (
        ["return self.layer(x.repeat_interleave(lengths, dim=0))"],
        "Say how long the result is: with `output_size=n`,",
    ),
    "a mask": (
        ["y = self.layer(x)", "return y[lengths > 2].tanh(), y"],
        "Keep all of `y`: compute on the whole and select with `torch.where(lengths > 2, changed, y)`,",
    ),
    "a mask of columns": (
        ["y = self.layer(x)", "return y[:, lengths > 2], y"],
        "Keep all of `y`: compute on the whole and select with `torch.where(lengths > 2, changed, y)`,",
    ),
    "a mask among other indices": (["y = self.layer(x)", "return y[lengths > 2, x > 1], y"], ""),
    "rows that a cross entropy is given": (
        [
            "y, rows = self.layer(x), lengths > 2",
            "y, lengths = y[rows], lengths[rows]",
            "return torch.nn.functional.cross_entropy(y, lengths)",
        ],
        "Give the cross entropy all rows, and `torch.where(rows, labels, -100)` as labels:",
    ),
    "two numbers": (
        ["h, w = (lengths + 1).tolist()", "return self.layer(x)[:h, :w]"],
        "Take these numbers from what is known while Dynamo traces,",
    ),
    "a print that is left from debugging": (
        ["x = self.layer(x)", "print('x', x.shape)", "return x"],
        "Take it out, if it is left from debugging:",
    ),
    "a test for a print": (
        ["x = self.layer(x)", "if (x != x).any():", "    print('nan!', x)", "return x"],
        "Look at it outside the compiled code:",
    ),
    "a test of an argument for a print": (
        ["if lengths.max() > 3: print('long', lengths)", "return self.layer(x)"],
        "Look at it outside the compiled code:",
    ),
    "a test of what a call leaves": (
        [
            "n = torch.nn.utils.clip_grad_norm_(lengths, 1.0)",
            "if n > 3:",
            "    self.layer.bias.data.zero_()",
            "return self.layer(x)",
        ],
        "Write in either case what is there where the test does not hold: `t.copy_(torch.where(n > 3, new, t))`; or",
    ),
    "a test for prints of what is read for them": (
        [
            "x = self.layer(x)",
            "if (x != x).any():",
            "    try:",
            "        n = (x != x).sum().item()",
            "        print(f'{n} are nan')",
            "    except ValueError as error:",
            "        print(error)",
            "return x",
        ],
        "Look at it outside the compiled code:",
    ),
    "a test for prints of what is read for them and used": (
        ["x = self.layer(x)", "n = 0", "if (x != x).any():", "    n = 3", "    print(n)", "return x[n:]"],
        "Compute both and choose:",
    ),
    "a test of what is done anew, part by part": (
        [
            "x = self.layer(x)",
            "if x.sum() > 3:",
            "    device = x.device",
            "    for part in self.parts:",
            "        part.draw(device)",
            "    self.count.zero_()",
            "return x",
        ],
        "Write in either case what is there where the test does not hold:",
    ),
    "a test of what is done anew and used": (
        [
            "x, n = self.layer(x), 1",
            "if x.sum() > 3:",
            "    n = len(self.parts)",
            "    self.count.zero_()",
            "return x[n:]",
        ],
        "Compute both and choose:",
    ),
    "a test of a number": (
        ["x = self.layer(x)", "if (x > 2).data.sum():", "    x = [x, *self.parts]", "return x"],
        "Compute both and choose: `torch.where((x > 2).data.sum() != 0, a, b)` of",
    ),
    "a test for a warning and more": (
        [
            "x = self.layer(x)",
            "if (x != x).any():",
            "    print('nan!')",
            "    self.seen.append(x)",
            "return x",
        ],
        "Write in either case what is there where the test does not hold:",
    ),
    "a test for a state and a value": (
        ["x = self.layer(x)", "if x.max() > 3:", "    self.n, x = 1, self.layer(x)", "return x"],
        "Compute both and choose:",
    ),
    "a test of an argument for an error": (
        ["if lengths.max() > 3:", "    raise Other from None", "return self.layer(x)"],
        "Check it before the compiled code runs; or where it is compiled with `torch._assert_async`, which stays in "
        "the graph: `torch._assert_async(~(lengths.max() > 3))`.",
    ),
    "a test of a mask for the rows that it picks": (
        [
            "x = self.layer(x)",
            "bad = x.sum(1) > 3",
            "if bad.any():",
            "    one = torch.ones(4)",
            "    x = x.clone()",
            "    x[bad] = one",
            "return x",
        ],
        "Leave the test out, and write with `torch.where(bad, new, old)`, the mask unsqueezed",
    ),
    "a test of a mask for the rows that it leaves out": (
        [
            "x = self.layer(x)",
            "good = x.isfinite()",
            "if not good.all():",
            "    x[~good] = x[good].min()",
            "return x",
        ],
        "Leave the test out, and write with `torch.where(~good, new, old)`, the mask unsqueezed",
    ),
    "the first place of the greatest": (
        ["w = self.layer(x)", "i = (w == torch.max(w)).nonzero()[0]", "return w[tuple(i)]"],
        "Take the first of them in the graph:",
    ),
    "the second place of the greatest": (
        ["w = self.layer(x)", "i = (w == torch.max(w)).nonzero()[1]", "return w[tuple(i)]"],
        "Say how many there are at most:",
    ),
    "a size that is drawn": (
        ["n = random.randint(1, 4)", "return self.layer(x).repeat(n, 1)"],
        "Draw it before the compiled code runs, and pass it in:",
    ),
    "rows that are weighed by each other": (
        [
            "x = self.layer(x)",
            "y = torch.zeros_like(x)",
            "for i in range(3):",
            "    mask = lengths == i",
            "    if mask.any():",
            "        y[mask] = self.weighed(x[mask])",
            "return y",
        ],
        "Leave the test out, and write with `torch.where(mask, new, old)`, the mask unsqueezed",
    ),
    "a test of a mask for its rows and more": (
        [
            "x, one = self.layer(x), 2",
            "bad = x.sum(1) > 3",
            "if bad.any():",
            "    one = self.layer(x).sum(1)[0]",
            "    x[bad] = one",
            "return x * one",
        ],
        "Compute both and choose:",
    ),
    "a test of a number by which one side is cut": (
        [
            "x = self.layer(x)",
            "n = (x > 0).sum()",
            "if n > 3:",
            "    y = x[:n]",
            "else:",
            "    y = x",
            "return y",
        ],
        "Keep one size on every way, a bound from a shape or the configuration,",
    ),
    "a test of an argument that has a default": (
        [
            "if lengths is None:",
            "    lengths = torch.LongTensor([x.shape[1]])",
            "if lengths.max() == 0:",
            "    return self.layer(x), 'none'",
            "return self.layer(x)",
        ],
        "Decide it before: compute `lengths.max() == 0` before the compiled code runs, where `lengths` comes from,",
    ),
    "a test of an argument that is bound again": (
        [
            "if x is None:",
            "    lengths = self.layer(x).sum()",
            "if lengths.max() == 0:",
            "    return self.layer(x), 'none'",
            "return self.layer(x)",
        ],
        "Compute both and choose:",
    ),
    "how many values differ": (
        ["n = len(lengths.unique())", "return self.layer(x) * n"],
        "Take the number from what is known before, the configuration, an argument or a shape;",
    ),
    "a variable of which a gradient is asked": (
        ["x = self.layer(x)", "y = torch.autograd.Variable(x, requires_grad=True)", "return self.layer(y)"],
        "Leave `Variable` out: what weights have a part in has its gradient without it;",
    ),
    "a test between two bounds": (
        ["for y in self.layer(x).mean(1):", "    n = 2 if 0 <= y < 1 else 0", "    x = x[n:]", "return x"],
        "Compute both and choose: `torch.where((0 <= y) & (y < 1), a, b)` of",
    ),
    "a test of what is cut": (
        [
            "y, cut = self.layer(x), False",
            "if (y[:, 0] == 1).all():",
            "    y = y[:, 1:]",
            "    cut = True",
            "return y if cut else y + 1",
        ],
        "Decide it before the compiled code runs, and give it as a `bool`; or keep one shape,",
    ),
    "a test of all by Python": (
        ["y = self.layer(x).mean(1)", "return y if all(y > 0) else self.layer(y)"],
        "Compute both and choose: `torch.where((y > 0).all(), a, b)` of",
    ),
    "a test for a number in a tensor": (
        ["y = self.layer(x).mean(1)", "return y if 3 not in y else self.layer(y)"],
        "Compute both and choose: `torch.where(~(y == 3).any(), a, b)` of",
    ),
    "a test at each turn of a comprehension": (
        ["return self.layer(x), [n for n in range(9) if n not in lengths]"],
        "",
    ),
    "a size of a buffer": (
        [
            "self.register_buffer('sizes', lengths)",
            "return [torch.nn.functional.one_hot(y, n) for y, n in zip(self.layer(x).long(), self.sizes)]",
        ],
        "Keep the numbers too: a list of them in an attribute of its own, set where the buffer is;",
    ),
    "a test of a mask before all else": (
        ["rows = self.layer(x).mean(1) > 0", "if not rows.any():", "    return", "x[rows] = 0"],
        "Leave the test out: where the mask holds nowhere,",
    ),
    "a selection by a mask": (
        ["y = self.layer(x)", "return torch.masked_select(y, y > 2), y"],
        "Keep all of `y`: compute on the whole and select with `torch.where(y > 2, changed, y)`,",
    ),
    "a number that ends a slice": (
        ["k = int(self.layer(x).mean())", "return x[:, :k]"],
        "Compare positions with the tensor, which takes no number:",
    ),
    "a number by a keyword": (
        ["y = self.layer(x).mean()", "return x, dict(mean=float(y))"],
        "Keep the tensor there, `y.detach()`, and",
    ),
    "a number under a name with a number": (
        ["logs, y = {}, self.layer(x).mean()", "logs[f'mean_{self.training}'] = float(y)", "return x, logs"],
        "Keep the tensor there, `y.detach()`, and",
    ),
    "a number under a name that is put together": (
        [
            "name, y = type(self).__name__, self.layer(x).mean()",
            'logs = {name + "_mean": float(y)}',
            "return x, logs",
        ],
        "Keep the tensor there, `y.detach()`, and",
    ),
    "a number that picks a module": (
        [
            "self.parts = torch.nn.ModuleList([self.layer, self.layer])",
            "picked = self.layer(x).argmax()",
            "return self.parts[picked](x)",
        ],
        "Run all of them, and weigh what each gives with a tensor that is 0 where it is not picked; or pick",
    ),
    "sizes of the rows of an argument": (
        [
            "found = []",
            "for t, h in lengths:",
            "    found.append(torch.arange(h))",
            "return self.layer(x), found",
        ],
        "Pass the numbers in: `lengths.tolist()` before the compiled code runs, where `lengths` comes from,",
    ),
    "sizes of the rows of what a layer gives": (
        ["found = []", "for t, h in self.layer(x):", "    found.append(torch.arange(h))", "return found"],
        "Take a number that is known:",
    ),
    "sizes that each turn looks up": (
        [
            "found = []",
            "for i in range(x.shape[0]):",
            "    found.append(torch.arange(lengths[i]))",
            "return found, x.relu()",
        ],
        "Take a number that is known:",
    ),
    "the bounds of crops": (
        [
            "rows, y = [], self.layer(x)",
            "for i in range(x.shape[0]):",
            "    first, many = int(lengths[i, 0]), int(lengths[i, 1])",
            "    rows.append(y[i, first : first + many])",
            "return rows",
        ],
        "Take all of them at once, by positions: `torch.take_along_dim(x, starts[:, None] + torch.arange(n), 1)`,",
    ),
    "a number that a function tests, and only says so": (
        [
            "y = self.layer(x)",
            "if float(torch.rand(1)) < lengths.shape[0] * 3:",
            "    return True",
            "return False",
        ],
        "Return what is tested as a tensor, `torch.rand(1) < lengths.shape[0] * 3`, and choose with that:",
    ),
    "a number that decides which shape": (
        ["y = self.layer(x)", "if y.sum().item() > 3:", "    y = y[:, 1:]", "return self.layer(y)"],
        "Decide it before the compiled code runs, and give it as a `bool`; or keep one shape,",
    ),
    "the longest row of a mask": (
        [
            "rows = lengths.sum(dim=-1, dtype=torch.int32)",
            "return attend(self.layer(x), longest=rows.max().item())",
        ],
        "Take the bound that is known, `lengths.shape[-1]`: what asks for the longest row",
    ),
    "the longest row of a mask, under a name": (
        ["longest = int((lengths > 0).sum(1).max())", "return self.layer(x), longest"],
        "Take the bound that is known, `(lengths > 0).shape[1]`:",
    ),
    "the largest sum": (
        ["rows = lengths.sum(dim=-1)", "return attend(self.layer(x), longest=rows.max().item())"],
        "Pass it in: compute `rows.max().item()` before",
    ),
    "an answer that is kept": (
        [
            "y = self.layer(x)",
            "found = not torch.all(y > 0)",
            "return torch.nan_to_num(y) if found is True else y",
        ],
        "Keep the answer in a tensor, `~torch.all(y > 0)`, and choose with that: `torch.where(found, a, b)`.",
    ),
    "numbers of an array that an object holds": (
        ["return torch.split(self.layer(x), self.space.sizes.tolist())"],
        "Keep the numbers too: a list of them in an attribute of its own, set where `self.space.sizes` is",
    ),
    "numbers of what the function itself keeps": (
        ["self.sizes = lengths + 1", "return torch.split(self.layer(x), self.sizes.tolist())"],
        "Compute for all positions at once",
    ),
    "numbers of a buffer": (
        ["self.register_buffer('sizes', lengths)", "return [self.layer(x)[:n] for n in self.sizes.tolist()]"],
        "Keep the numbers too: a list of them in an attribute of its own, set where `self.sizes` is;",
    ),
    "numbers one by one": (
        ["return [self.layer(x[a:b]) for a, b in zip(lengths.tolist(), lengths.tolist()[1:])]"],
        "Keep it a tensor:",
    ),
    "an argument that is told to require a gradient": (
        ["x.requires_grad_(True)", "return self.layer(x)"],
        "Say it before the compiled code runs, where `x` is made",
    ),
    "a class": (["class Pair:", "    pass", "return self.layer(x), Pair()"], "Define it once,"),
    "a bound": (["last = self.layer(x).sum().long()", "return x[:last]"], "Write and read by position:"),
    "a test that ends a loop": (
        ["for _ in range(9):", "    x = self.layer(x)", "    if x.max() < 1:", "        break", "return x"],
        "Take all turns and keep what is done: `torch.where(x.max() < 1, old, new)`;",
    ),
    "a test whose sides are answers": (
        ["y = self.layer(x)", "if torch.any(y > 1):", "    return False", "return True"],
        "Return what is tested as a tensor, `torch.any(y > 1)`, and choose with that: `torch.where(it, a, b)`;",
    ),
    "a mask of all but one column": (
        [
            "y = self.layer(x)",
            "for i in range(4):",
            "    kept = torch.ones(4, dtype=torch.bool)",
            "    kept[i] = False",
            "    x = x + y[:, kept].sum()",
            "return x",
        ],
        "Python knows which positions the mask holds:",
    ),
    "rows that are added to where they are": (
        ["y = self.layer(x).clone()", "rows = y[x > 0].clone() + lengths", "y[x > 0] = rows", "return y"],
        "Add under the mask: `y + torch.zeros_like(y).masked_scatter(x > 0, lengths)`, the mask unsqueezed",
    ),
    "rows that are subtracted in place": (
        ["y = self.layer(x).clone()", "y[x > 0, :] -= lengths[1:]", "return y"],
        "Add under the mask: `y - torch.zeros_like(y).masked_scatter(x > 0, lengths[1:])`, the mask unsqueezed",
    ),
    "rows that are scattered where they were": (
        [
            "y, mask = self.layer(x), x > 0",
            "return y.masked_scatter(mask, (lengths + y[mask]).view(-1))",
        ],
        "Add under the mask: `y + torch.zeros_like(y).masked_scatter(mask, lengths)`, the mask unsqueezed",
    ),
    "rows that are scattered elsewhere": (
        [
            "y = self.layer(x)",
            "y = y[~(x > 0)]",
            "y = y.to(x.dtype)",
            "return x.masked_scatter(lengths, y), x",
        ],
        "Put the rows first that the mask selects, and keep the others after them: `y.flatten(0, 1)[torch.argsort("
        "(x > 0).flatten(), stable=True)]`,",
    ),
    "rows that are written elsewhere": (
        ["y = self.layer(x)", "x[lengths] = y[x > 0]", "return x"],
        "Put the rows first that the mask selects, and keep the others after them: `y.flatten(0, 1)[torch.argsort("
        "~(x > 0).flatten(), stable=True)]`,",
    ),
    "rows that are written elsewhere once they are assigned anew": (
        ["y = self.layer(x)", "rows = y[x > 0]", "rows = x + 1", "x[lengths] = rows", "return x"],
        "Keep all of `y`:",
    ),
    "the last of each row": (
        [
            "y = self.layer(x)",
            "rows = y[lengths == 2, :]",
            "return rows.view(x.size(0), -1, x.size(-1))[:, -1, :]",
        ],
        "Take the position of the last one in each row: `last = (lengths == 2).cumsum(1).argmax(1)`, then "
        "`y[torch.arange(len(y)), last]`.",
    ),
    "as many of each row": (
        ["y = self.layer(x)", "return y[~(lengths == 2)].reshape(len(x), -1, x.size(-1)).sum()"],
        "Where each row has as many, n of a shape or the configuration, take their positions: `index = torch.argsort("
        "(lengths == 2), dim=1, stable=True)[:, :n]`, then `torch.take_along_dim(y, index.unsqueeze(-1), 1)`.",
    ),
    "rows that are counted in a check": (
        ["y = self.layer(x)", "if y[x > 0].numel() != 3:", "    raise ValueError", "return y"],
        "Count what the mask sets: `(x > 0).sum()` is a tensor, and stays in the graph; of elements, times as many as "
        "each row has; where it is compiled, check that with `torch._assert_async`.",
    ),
    "rows that are counted": (
        ["y = self.layer(x)", "n = len(y[x > 0])", "return y / n"],
        "Count what the mask sets: `(x > 0).sum()` is a tensor, and stays in the graph; of elements, times as many as "
        "each row has.",
    ),
    "rows that are counted beside what is done with them": (
        ["y = self.layer(x)", "rows = y[x > 0]", "return rows.view(len(x), -1, 2), rows.shape[0]"],
        "Where each row has as many,",
    ),
    "rows that are returned in an object": (
        ["y = self.layer(x)", "y = y[x > 0]", "if self.training:", "    y = y * 2", "return Made(rows=y)"],
        "Return all of `y` and the mask, and select after the compiled code;",
    ),
    "rows that an object is given": (
        ["made, y = Made(), self.layer(x)", "made.rows = y[x > 0]", "return made"],
        "Return all of `y` and the mask, and select after the compiled code;",
    ),
    "rows that are returned": (
        ["y = self.layer(x)", "return y[x > 0].float(), y"],
        "Return all of `y` and the mask, and select after the compiled code;",
    ),
    "a mask that values change": (
        [
            "y = self.layer(x)",
            "kept = torch.ones(4, dtype=torch.bool)",
            "kept[lengths] = False",
            "return y[kept], y",
        ],
        "Return all of `y` and the mask,",
    ),
    "a triangle of each of many": (
        [
            "y = self.layer(x)",
            "above = torch.triu(torch.ones(4, 4), diagonal=1).bool()",
            "return y[:, above]",
        ],
        "Take the positions in place of the mask: `i, j = torch.triu_indices(n, m, offset)`, then `y[:, i, j]`",
    ),
    "a triangle by a method": (
        ["y = self.layer(x)", "above = torch.ones(4, 4, dtype=torch.bool).triu(1)", "return y[..., above]"],
        "Take the positions in place of the mask: `i, j = torch.triu_indices(n, m, offset)`, then `y[..., i, j]`",
    ),
    "all but the diagonal of each of many": (
        ["y = self.layer(x)", "off = ~torch.eye(4, dtype=torch.bool)", "return y[:, off].view(-1, 4, 3)"],
        "For all but the diagonal, of n rows and columns, no mask is needed: `y.flatten(-2)[..., 1:]",
    ),
    "a mask of all but the diagonal": (
        ["y = self.layer(x)", "off = ~torch.eye(4, dtype=torch.bool)", "return y[off].view(4, 3)"],
        "For all but the diagonal of `y`, of n rows and columns, no mask is needed:",
    ),
    "a mask of a triangle": (
        ["y = self.layer(x)", "return y[torch.triu(torch.ones(4, 4), diagonal=1).bool()], y"],
        "Take the positions in place of the mask: `i, j = torch.triu_indices(n, m, offset)`, then `y[i, j]`,",
    ),
    "lengths to split by": (
        ["parts = torch.split(self.layer(x), lengths.diff().tolist())", "return [p.sum() for p in parts]"],
        "Compute for all positions at once:",
    ),
    "positions within each of many": (
        ["return self.layer(x), torch.cat([torch.arange(n) for n in lengths.diff()])"],
        "Compute for all positions at once:",
    ),
    "what each turn of a loop writes": (
        [
            "of = torch.zeros(x.shape[0])",
            "for i in range(lengths.shape[0]):",
            "    a = int(lengths[i].item())",
            "    of[a : a + 2] = i",
            "return self.layer(x), of",
        ],
        "Compute for all positions at once:",
    ),
    "lists that are repeated to make a mask": (
        ["n = lengths[0]", "return self.layer(x), torch.tensor([False] * n + [True] * (9 - n))"],
        "Compare positions with the number, which stays a tensor: `torch.arange(n) < k`",
    ),
    "a list that is repeated for no tensor": (["return self.layer(x), [0] * lengths[0]"], ""),
    "a layer of several": (["return torch.nn.ModuleList([self.layer])[lengths.max()](x)"], ""),
    "a size": (["return torch.zeros(lengths.max(), 4)"], "Take a number that is known:"),
}


@pytest.mark.parametrize("name", CASES)
def test_told_by_hand(name: str, tmp_path: Path) -> None:
    lines, wanted = CASES[name]
    (tmp_path / "m.py").write_text(HEAD + "".join(f"        {line}\n" for line in lines), encoding="utf-8")
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    assert found
    told = [fix for fix in found[0].fixes if fix.by_hand and not fix.edits]
    assert [fix.description.startswith(wanted) for fix in told] == ([True] if wanted else [])
    assert not any(fix.is_usable or fix.is_workaround for fix in told)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("x", "Decide it before: compute `y.sum() > 0` before the compiled code runs, where `y` comes from,"),
        ("self.layer(x)", "Compute both and choose:"),
        ("y=torch.cat([x, self.layer(x)])", "Compute both and choose:"),
        ("z", "Compute both and choose:"),
    ],
)
def test_what_a_layer_gives_is_not_there_before_the_call(given: str, wanted: str, tmp_path: Path) -> None:
    code = f"""        z = self.layer(x)
        return self.checked({given}), z

    def checked(self, y):
        if y.sum() > 0:
            return self.layer(y), 'none'
        return self.layer(y)
"""
    (tmp_path / "m.py").write_text(HEAD + code)
    (found,) = lint([str(tmp_path / "m.py")], Settings(target_torch=(2, 13))).findings
    assert any(fix.description.startswith(wanted) for fix in found.fixes)


@pytest.mark.parametrize("body", ["print('infinite', x)", "warnings.warn('infinite')"])
@pytest.mark.parametrize("test", ["x.isinf().any()", "x.isinf().sum().item() != 0"])
def test_what_is_said_where_values_decide_waits_for_the_branch(test: str, body: str, tmp_path: Path) -> None:
    """No form of it stays in a graph that ends before it."""
    lines = [f"if {test}:", f"    {body}", "    x = x * self.layer(x)", "return self.layer(x)"]
    text = "import warnings\n" + HEAD + "".join(f"        {line}\n" for line in lines)
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    [fix] = next(one for one in found if one.code in ("PTB101", "PTB102")).fixes
    assert (fix.by_hand, fix.edits) == (True, ())
    assert fix.description.startswith("Mend the branch around it first")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["if x.shape[0] != 3:", "    print('three', x.shape)", "    assert x.shape[0] == 3"], "Leave it:"),
        (["if x.shape[0] != 3:", "    x = x + 1", "    print('three')", "    assert len(x) == 3"], ""),
        (
            ["n = int(lengths.max())", "if n > 3:", "    print(f'{n}')", "    n = 3", "x = x[:, :n]"],
            "Mend what reads the number first",
        ),
        (["n = int(lengths.max())", "if n > 3:", "    print(f'{n}')"], ""),
        (
            [
                "n = x.shape[0]",
                "if n > 3:",
                "    print(f'no more than three: {n}')",
                "    n = 3",
                "x = x[:, :n]",
            ],
            "",
        ),
    ],
)
def test_a_message_is_left_that_no_guard_keeps_in_a_graph(
    lines: list[str], told: str, tmp_path: Path
) -> None:
    """Before an assertion that is all the block does besides, or below a test of a number that is read for more."""
    text = HEAD + "".join(f"        {line}\n" for line in [*lines, "return self.layer(x)"])
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    fixes = next(one for one in found if one.code == "PTB101").fixes
    if told:
        assert [fix.description.startswith(told) for fix in fixes] == [True]
    else:
        assert any(fix.is_workaround and fix.edits for fix in fixes)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "x = x[:, self.upper]",
            "Keep the positions too: buffers of what `self.upper.nonzero(as_tuple=True)` gives,",
        ),
        (
            "m = self.upper.to(x.device)\n        x = x[:, m]",
            "Keep the positions too: buffers of what `self.upper.",
        ),
        ("x = x[:, self.off.to(x.device)]", "Keep the positions too: buffers of what `self.off.nonzero("),
        (
            "s = []\n        for n in self.bounds:\n            s.append(int(n))\n        x = x.new_zeros(s) + x.sum()",
            "Keep the numbers too: a list of them",
        ),
        ("x = x[:, self.chosen]", ""),  # which another method sets as well
        ("x = x[:, self.lengths > 2]", ""),
        ("if self.loose: x = x + 1", "Leave it a number of Python where it is made"),
        (
            "n = torch.tensor([x.shape[0], 2])\n        x = x.split([n[0]])[0]",
            "Leave them numbers of Python,",
        ),
        (
            "n = torch.stack([torch.tensor(part.shape) for part in x])\n"
            "        for a, b in zip(x, n.tolist()): x = x + a[: b[0]].sum()",
            "Leave them numbers of Python,",
        ),
    ],
)
def test_what_is_known_before_need_not_be_a_tensor(line: str, told: str, tmp_path: Path) -> None:
    code = f"""
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.lengths = torch.arange(4)
        self.off = ~torch.eye(4, 4).bool()
        self.chosen = torch.ones(4).bool()
        self.loose = False
        self.register_buffer("bounds", torch.tensor([2, 3]))
        self.register_buffer("upper", torch.triu(torch.ones(4, 4, dtype=torch.bool)))

    def choose(self, n: int):
        self.chosen = torch.arange(4) < n

    def forward(self, x: torch.Tensor):
        x = self.layer(x)
        {line}
        return x.sum() + self.layer.weight

class Loosened(torch.nn.Module):
    def __init__(self, net: Net):
        super().__init__()
        net.loose = torch.tensor(True)
        self.net = net

    def forward(self, x: torch.Tensor):
        return self.net(x)
"""
    (tmp_path / "m.py").write_text(code)
    fixes = [fix.description for f in lint([str(tmp_path / "m.py")], Settings()).findings for fix in f.fixes]
    assert any(fix.startswith(told) for fix in fixes) if told else not any("positions" in f for f in fixes)


def test_a_mode_beside_options(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        'import torch\nf = torch.compile(abs, mode="reduce-overhead", options={"max_autotune": True})\n'
    )
    (found,) = lint([str(path)], Settings()).findings
    assert [(fix.by_hand, fix.description.split(":")[0]) for fix in found.fixes] == [
        (True, "Give one of them")
    ]


def test_a_kernel_reads_the_number_itself(tmp_path: Path) -> None:
    code = """
import torch, triton

@triton.jit
def kernel(out, n, total):
    pass

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        out = torch.empty_like(self.layer(x))
        total = {}
        kernel[(4,)](out, 4, total=total)
        return out
"""
    for number, says in (("self.layer(x).sum().item()", "Give the kernel the tensor"), ("4", "")):
        (tmp_path / "m.py").write_text(code.format(number))
        found = [one for one in lint([str(tmp_path / "m.py")], Settings()).findings if one.code == "PTB103"]
        told = [fix.description for one in found for fix in one.fixes]
        assert any(each.startswith("Give the kernel the tensor") for each in told) == bool(says)


def test_a_function_that_makes_a_module_is_not_compiled(tmp_path: Path) -> None:
    code = "import torch\n\ntorch.compile(mode='default')\ndef make(n) -> {}:\n    return torch.ones(n)\n"
    for made, edits in (("torch.Tensor", True), ("torch.nn.Module", False)):
        (tmp_path / "m.py").write_text(code.format(made))
        ([fix],) = (one.fixes for one in lint([str(tmp_path / "m.py")], Settings()).findings)
        assert (bool(fix.edits), fix.by_hand) == (edits, not edits)


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("import torch", True),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", True),
        ("from torch import nn\ntorch = stand_in()", False),
        ("import torch\nif nn:\n    torch = stand_in()", False),
    ],
)
def test_no_torch_is_written_where_the_file_gives_its_name_to_something_else(
    head: str, written: bool, tmp_path: Path
) -> None:
    """The guard would not be understood there, and be written again and again."""
    body = (
        "class Net(nn.Module):\n    def forward(self, x):\n        warnings.warn('x')\n        return x + 1\n"
    )
    (tmp_path / "m.py").write_text(
        f"import warnings\nfrom torch import nn\n{head}\n\n{body}", encoding="utf-8"
    )
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    assert [one.code for one in found] == ["PTB102"]
    assert any("is_compiling" in edit.text for fix in found[0].fixes for edit in fix.edits) == written
