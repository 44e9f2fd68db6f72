"""Repairs of single constructs: NumPy's numbers, shortcuts, masks, indices, checks; each refusal."""

from __future__ import annotations

import libcst as cst
import pytest
import torch

from pt2lint.check import check
from pt2lint.finding import Fix
from pt2lint.fixes.edit import apply_edits
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs import (
    branch,
    filled,
    grad,
    guard,
    in_math,
    index,
    left_out,
    mask,
    number_last,
    position,
    printing,
    public_name,
    rate,
    scalar,
    scripted,
    shortcut,
    sized,
    variable,
    window,
)
from pt2lint.fixes.repairs.computed_first import computed_first
from pt2lint.fixes.repairs.presence import given_or_default
from pt2lint.op import Op
from pt2lint.project.config import Configs, Settings
from pt2lint.static.engine import lint
from tests.fixes.lab import NO_PROJECT, applied, calls, function_code, load, nodes, prove

HEAD = "import numpy as np\nimport torch\n\n\n"
DEF = "def f(x: torch.Tensor):\n    "
X = torch.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]], requires_grad=True)
POSITIVE = torch.ones(2, 3)


def lines(*texts, head=DEF):
    return HEAD + head + "\n    ".join(texts) + "\n"


NUMBERS = [
    ("np.ceil(np.log1p(n)).astype('int').item", "n = x.size(1)", "math.ceil(math.log1p(n))"),
    ("np.sqrt(n).astype(int).item", "_, n = x.shape", "int(math.sqrt(n))"),
    ("np.maximum(n, 7).item", "n = len(x.shape)", "max(n, 7)"),
    ("np.floor(n / 2).astype(np.int64).item", "n = x.shape[0]", "math.floor(n / 2)"),
    ("torch.prod(torch.tensor(x.shape)).item", "n = 1", "math.prod(x.shape)"),
    ("torch.prod(torch.tensor(n)).item", "n = x.shape[-1:]", "math.prod(n)"),
    ("torch.tensor(x.size()[1:]).float().prod().item", "n = 1", "float(math.prod(x.size()[1:]))"),
]


@pytest.mark.parametrize(("name", "text", "made"), NUMBERS)
def test_numpy_of_numbers(name, text, made):
    source = lines(text, f"return x * {name}()")
    code = function_code(source)
    fix = in_math.with_math(code, calls(code, name))
    assert "NaN" not in fix.description  # else it would never be proven
    assert made in prove(source, fix, [[X]])


def test_no_int_stays_around_a_product_of_sizes():
    source = lines("return x * int(torch.tensor(x.shape).prod().item())")
    code = function_code(source)
    item = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "item")
    assert "return x * math.prod(x.shape)\n" in applied(source, in_math.with_math(code, item))


@pytest.mark.parametrize(
    "text",
    [
        "return int(np.sqrt(x))",
        "return int(np.sqrt(y))",
        "return int(np.cbrt(x.size(0)))",
        "return int(np.sqrt(x.size(0), dtype=float))",
        "return np.ceil(x.size(0)).astype('uint8').item()",
        "math = x.size(0)\n    return int(np.sqrt(math))",
        "return int(x.size(0))",
        "return int(torch.prod(torch.tensor(x)))",
        "return int(torch.prod(x))",
        "return int(x.float().prod())",
    ],
)
def test_numpy_of_numbers_is_refused(text):
    code = function_code(lines(text))
    made = in_math.with_math(
        code, next(c for c in nodes(code, cst.Call) if in_math.callee(c) in ("int", "item"))
    )
    assert isinstance(made, Refusal)


@pytest.mark.parametrize("made", ["torch.tensor", "torch.as_tensor"])
def test_a_product_of_sizes_that_a_branch_asks_for(made):
    source = lines(f"if torch.prod({made}(x.shape[:-1])) == 0:\n        return x", "return x * 2")
    code = function_code(source)
    fix = in_math.test_with_math(code, nodes(code, cst.Comparison)[0])
    assert "if math.prod(x.shape[:-1]) == 0:" in prove(source, fix, [[X], [X.detach()[:0]]])


@pytest.mark.parametrize(
    "text",
    [
        "return x * (torch.prod(torch.tensor(x.shape)) == 0)",
        "if torch.prod(torch.tensor(x.shape)) == x.sum(): pass",
        "if x.size(0) == 0: pass",
    ],
)
def test_a_product_of_sizes_that_may_have_to_be_a_tensor(text):
    code = function_code(lines(text))
    assert isinstance(in_math.test_with_math(code, nodes(code, cst.Comparison)[0]), Refusal)


ELSEWHERE = """import numpy as np
import torch


class Config:
    heads, rows = 2, 3


def size(x, config):
    {}


class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        n = size(x, self.config)
        return x.reshape(1, n) if n == 6 else x


class Built(Net):
    def __init__(self):
        super().__init__(Config())
"""


def test_what_numpy_makes_of_a_list_that_an_object_is_made_with(tmp_path):
    """One edit mends both breaks: one is told."""
    path = tmp_path / "m.py"
    path.write_text(
        "import math\n\nimport numpy as np\nimport torch\n\n\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self, rates=(2, 3)):\n"
        "        super().__init__()\n"
        "        self.layer, self.hop = torch.nn.Linear(12, 12), np.prod(rates)\n\n"
        "    def forward(self, x: torch.Tensor):\n"
        "        x = self.layer(x)\n"
        "        more = math.ceil(x.shape[-1] / self.hop) * self.hop - x.shape[-1]\n"
        "        return self.layer(torch.nn.functional.pad(x, (0, more)))\n"
    )
    told = [f for f in check([str(path)], Configs()).findings if f.severity != "note"]
    assert [(f.code, f.also) for f in told] == [("PTB104", (15,))]
    assert [edit.text for edit in told[0].fixes[0].edits] == ["math"]
    assert "plain numbers: `rates`." in told[0].fixes[0].description


def test_a_number_of_numpy_that_is_made_there_has_one_repair(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(
        "import numpy as np\nimport torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self, parts: int):\n        super().__init__()\n        self.parts = parts\n\n"
        "    def forward(self, x: torch.Tensor):\n        x = x + 1\n"
        "        return (x * 2)[: int(np.ceil(self.parts))] + 1\n"
    )
    (told,) = check([str(path)], Configs()).findings
    assert [fix.description[:29] for fix in told.fixes if fix.edits and not fix.is_workaround] == [
        "Compute the number with `math"
    ]


def made_elsewhere(tmp_path, text):
    path = tmp_path / "m.py"
    path.write_text(ELSEWHERE.format(text))
    findings = lint([str(path)], Settings()).findings
    return path.read_text(), [
        fix for one in findings for fix in one.fixes if "where it is made (line 10)" in fix.description
    ]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("return np.prod(x.shape[:2])", "return math.prod(x.shape[:2])"),
        ("_, *rest = x[None].shape; return np.prod(rest)", "return math.prod(rest)"),
        (
            "return np.lcm(config.heads, config.rows)",
            "return math.lcm(config.heads, config.rows)",
        ),
    ],
)
def test_numpy_of_numbers_in_another_function(tmp_path, text, made):
    source, fixes = made_elsewhere(tmp_path, text)
    after = applied(source, fixes[0])
    assert made in after
    assert ("It assumes that these are plain numbers" in fixes[0].description) == ("config" in text)
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(load(source).Built()(x), load(after).Built()(x))
    if "prod" in text:  # NumPy's functions of two numbers Dynamo computes, as long as it knows them
        prove(source, fixes[0], [[x]], name="Built")


@pytest.mark.parametrize(
    "text",
    [
        "return np.prod(x.shape, axis=0)",
        "return np.prod(config)",
        "return np.lcm(x.sum(), config.heads)",
        "_, *rest = x.shape; rest = rest or config; return np.prod(rest)",
        "_, *rest = x.shape; return np.lcm(rest, 2)",
    ],
)
def test_numpy_of_what_may_be_no_number_is_refused(tmp_path, text):
    assert not made_elsewhere(tmp_path, text)[1]


def first_fix(source, kind, repair, name="f", at=0):
    code = function_code(source, name)
    found = repair(code, nodes(code, kind)[at])
    return found[0] if found else Refusal("nothing fits")


SHORTCUTS = [
    "if (x.dim() > 9 and x.dim() < 99) or (\n        m is not None and torch.all(m == 1)\n    ):\n        m = None",
    "if m.all():\n        # nothing is masked\n        m = None",
    "if m is not None and (m == 1).all():\n        m = None",
]


@pytest.mark.parametrize("text", SHORTCUTS)
def test_shortcut_is_left_out(text):
    source = lines(text, "return x if m is None else x * m", head="def f(x, m):\n    ")
    found = [one for call in range(4) for one in [_shortcut(source, call)] if isinstance(one, Fix)]
    assert found
    assert found[0].takes is True
    after = prove(source, found[0], [[X, torch.ones(2, 3)], [X, torch.tensor([1.0, 0.0, 1.0])]])
    assert "not torch.compiler.is_compiling() and " in after
    assert {one.strip() for one in text.split("\n")[1:]} - {one.strip() for one in after.split("\n")} <= {
        "m is not None and torch.all(m == 1)"
    }


def _shortcut(source, at):
    code = function_code(source)
    tests = nodes(code, cst.Call)
    branches = nodes(code, cst.If)
    return shortcut.without_shortcut(code, branches[0], tests[at]) if at < len(tests) else Refusal("")


@pytest.mark.parametrize(
    "text",
    [
        "if m.all():\n        m = None\n    else:\n        x = x + 1",
        "if m.all():\n        m = None\n        x = x + 1",
        "if m.any():\n        m = None",
        "if not m.any(1):\n        m = None",
        "if (m == 0).all():\n        m = None",
        "if not m.all():\n        m = None",
        "if x is None:\n        pass\n    elif m.all():\n        m = None",
    ],
)
def test_shortcut_is_refused(text):
    source = lines(text, "return x", head="def f(x, m):\n    ")
    code = function_code(source)
    branches = nodes(code, cst.If)
    assert isinstance(shortcut.without_shortcut(code, branches[-1], nodes(code, cst.Call)[0]), Refusal)


CHOSEN = [
    "m = m if m is not None and 0 in m else None",
    "m = None if m is None or 0 not in m else m",
    "m = m if m is not None and not m.all() else None",
    "m = None if m is None or (m == 1).all() else m",
]


@pytest.mark.parametrize("text", CHOSEN)
def test_a_mask_is_chosen_where_it_masks_nothing(text):
    source = lines(text, "return x if m is None else x * m", head="def f(x, m):\n    ")
    code = function_code(source)
    test = nodes(code, cst.IfExp)[0].test
    asked = test.right.expression if isinstance(test.right, cst.UnaryOperation) else test.right
    (fix,) = shortcut.fixes(code, asked)
    after = prove(source, fix, [[X, torch.ones(2, 3)], [X, torch.tensor([1.0, 0.0, 1.0])]])
    assert "torch.compiler.is_compiling() " in after


@pytest.mark.parametrize(
    "text", ["m = m if 0 in x else None", "m = m if 1 in m else None", "m = x if 0 in m else m"]
)
def test_another_choice_is_not_a_mask(text):
    code = function_code(lines(text, "return x", head="def f(x, m):\n    "))
    assert not shortcut.fixes(code, nodes(code, cst.IfExp)[0].test)


USED = [
    ("bad = x > 9", "if not bad.any():", "bad = None"),
    ("bad = x > 9", "if not bad.any().item():", "bad = None"),
    ("bad = x > 9", "if not bool(bad.any()):", "bad = None"),
    ("bad = None", "if x.dim() > 1 and torch.any(x > 9):", "bad = x > 9"),
    ("bad = None", "if (x > 9).any():", "bad = x > 9"),
]


@pytest.mark.parametrize(("first", "test", "bound"), USED)
def test_a_mask_is_used_where_it_masks_nothing(first, test, bound):
    source = lines(first, test, f"    {bound}", "return x if bad is None else x.masked_fill(bad, 0)")
    code = function_code(source)
    asked = next(one for one in nodes(code, cst.Call) if shortcut.callee(one) in ("any", "item", "bool"))
    (fix,) = shortcut.fixes(code, asked)
    assert fix.takes is False
    assert "torch.compiler.is_compiling() " in prove(source, fix, [[X], [POSITIVE * 12]])


@pytest.mark.parametrize(
    "text",
    [
        "bad = None\n    if (x > 9).any():\n        bad = x > 8",
        "bad = None\n    if (x > 9).any():\n        bad = x > 9\n    else:\n        x = x + 1",
        "bad = x > 8\n    if (x > 9).any():\n        bad = x > 9",
        "bad = None\n    if (x > 9).any():\n        bad = x > 9\n        x = x + 1",
        "bad = None\n    if (x > 9).all():\n        bad = x > 9",
    ],
)
def test_another_mask_is_not_used(text):
    code = function_code(lines(text, "return x if bad is None else x.masked_fill(bad, 0)"))
    asked = next(one for one in nodes(code, cst.Call) if shortcut.callee(one) in ("any", "all"))
    assert isinstance(shortcut.mask_always(code, nodes(code, cst.If)[0], asked), Refusal)


def early(text, *more):
    """The repair of the first test in a function with a mask, and the function."""
    source = lines("mask = x > 2", text, *more, "return x")
    code = function_code(source)
    asked = next(one for one in nodes(code, cst.Call) if shortcut.callee(one) in ("any", "all", "sum"))
    return shortcut.early_in_eager(code, nodes(code, cst.If)[0], asked), source


WAYS_OUT = [
    ("if not mask.any():\n        return x", "x = x.masked_fill(mask, 0.0)"),
    ("if x.dim() == 2 and not torch.any(mask):\n        return x", "x = torch.where(~mask, x, x.sum())"),
    (
        "for n in range(3):\n        if not mask.any():\n            break\n        x = torch.where(mask, x - n, x)\n"
        "        mask = mask & (x > n)",
    ),
]


@pytest.mark.parametrize("text", WAYS_OUT)
def test_a_way_out_is_left_to_eager_mode(text):
    fix, source = early(*text)
    assert isinstance(fix, Fix)
    assert fix.takes is False
    assert fix.waits_for_proof
    assert "if not torch.compiler.is_compiling() and " in applied(source, fix)
    prove(source, fix, [[X], [(X * 0).detach()]])


@pytest.mark.parametrize(
    "text",
    [
        ("if not mask.any():\n        return None", "x = x.masked_fill(mask, 0.0)"),
        ("if not mask.any():\n        return x.sum()", "x = x.masked_fill(mask, 0.0)"),
        ("if not mask.any():\n        x = x + 1\n        return x", "x = x.masked_fill(mask, 0.0)"),
        ("if not mask.any():\n        return x\n    else:\n        x = x.masked_fill(mask, 0.0)",),
        ("if not mask.any():\n        return x", "x = x[mask].mean()"),
        ("if not mask.any():\n        return x", "x = x.masked_fill(~mask, 0.0)"),
        ("if not mask.any():\n        return x", "x[~mask] = 0.0"),
        ("if mask.any():\n        return x", "x = x.masked_fill(mask, 0.0)"),
        ("if mask.all():\n        return x", "x = x.masked_fill(mask, 0.0)"),
        ("if not mask.any(0):\n        return x", "x = x.masked_fill(mask, 0.0)"),
        ("if not mask.sum():\n        return x", "x = x.masked_fill(mask, 0.0)"),
        ("if x.dim() == 9 or not mask.any():\n        return x", "x = x.masked_fill(mask, 0.0)"),
    ],
)
def test_a_way_out_that_is_more_is_left_alone(text):
    assert isinstance(early(*text)[0], Refusal)


ASSIGNMENTS = [
    "bad = y > 2\n    if bad.any():\n        # cut\n        y[bad] = 2.0",
    "if torch.any(y < 0):\n        y[y < 0] = 0",
    "if y.sum() > 100:\n        y[y.eq(1)] = 5.0",
    "if x.dim() == 2 and not (y > 0).all():\n        y[y > 1] = 1.0",
    "bad = y.isnan()\n    if bad.any():\n        y = y.masked_fill(bad, 0.0)",
    "bad = (y > 2).any(1)\n    if bad.any():\n        y = y.masked_fill(bad.unsqueeze(1), torch.tensor(0.0))",
    "bad = (y > 2).int().sum(1)\n    if bad.any():\n        y = y.masked_fill(bad.unsqueeze(1).to(torch.bool), 0.0)",
    "bad = y > 2\n    if bad.sum() > 0:\n        z = torch.where(bad, y + 1, z)\n        y[bad & (x > 1)] = 2.0",
    "less = y < z\n    if less.any():\n        kept = torch.where(less, -z, y)\n        z = torch.where(~less, z, -y)\n"
    "        y = kept  # last",
]


@pytest.mark.parametrize("text", ASSIGNMENTS)
def test_mask_is_assigned_through(text):
    source = lines("y = x * 2", "z = x - 1", text, "return y.sin() + z")
    code = function_code(source)
    fix = shortcut.mask_assignment(code, nodes(code, cst.If)[0])
    after = prove(source, fix, [[X], [(X * 100).detach()], [POSITIVE]])
    assert "bad.any()" not in after


@pytest.mark.parametrize(
    ("test", "mask"),
    [
        ("m.any()", "m"),
        ("m.logical_not().any()", "~m"),
        ("not torch.all(m)", "~m"),
        ("not (~m).all()", "m"),
        ("torch.count_nonzero(m) != 0", "m"),
        ("torch.logical_not(m).any()", "~m & (x > 1)"),
        ("m.any()", "m.reshape(2, 3)"),
        ("m.any()", "m[:]"),
        ("not m.all()", "~m.squeeze()"),
    ],
)
def test_a_mask_that_the_test_asks_is_not_joined_with_it(test, mask):
    source = lines("m = x > 0", "y = x * 2", f"if {test}:\n        y[{mask}] = 0.0", "return y")
    code = function_code(source)
    assert f"    y[{mask}] = 0.0\n" in applied(source, shortcut.mask_assignment(code, nodes(code, cst.If)[0]))


@pytest.mark.parametrize(
    "text",
    [
        "if y.sum() > 0:\n        y[i] = 0.0",
        "if y.sum() > 0:\n        y[y > 1] = x",
        "if y.sum(0) > 0:\n        y[y > 1] = 0.0",
        "if y.sum() > 0:\n        y[y > 1] = 0.0\n    else:\n        y = y + 1",
        "if y.sum() > 0:\n        y[y > 1] = 0.0\n        y = y + 1",
        "if y.sum() > 0:\n        y[0, 1] = 0.0",
        "if (y > 1).any():\n        y = x.masked_fill(y > 1, 0.0)",
        "if (y > 1).any():\n        y = torch.where(y > 1, x / y, y)",
        "if (y > 1).any():\n        y = torch.where(y < 1, x, y)",
        "if (y > 1)[0].any():\n        y = torch.where(y > 1, x, y)",
        "if (y > 1).any():\n        y = torch.where(y > 1, y, x)",
        "z = y\n    if (y > 1).any():\n        z = torch.where(y > 1, x, y)\n    y = y + z",
        "if (y > 1).any():\n        y[y > 1] = 0.0\n        x[y < 1] = 0.0",
    ],
)
def test_mask_assignment_is_refused(text):
    code = function_code(lines("i = x.argmax()", "y = x * 2", text, "return y"))
    assert isinstance(shortcut.mask_assignment(code, nodes(code, cst.If)[0]), Refusal)


def test_masks_are_counted():
    source = HEAD + (
        "def check(holds):\n    torch._assert_async(holds, 'count')\n\n\n"
        "def f(x: torch.Tensor):\n    check(x[x > 0].numel() == 3)\n    return x + 1\n"
    )
    code = function_code(source)
    fix = mask.count_mask(code, nodes(code, cst.Subscript)[0])
    assert "check((x > 0).sum() == 3)" in applied(source, fix)
    other = function_code(lines("return x + x[x > 0].numel()"))
    assert isinstance(mask.count_mask(other, nodes(other, cst.Subscript)[0]), Refusal)


@pytest.mark.parametrize(
    ("asked", "after"),
    [
        ("(table == x[0][:, None]).nonzero()[:, 1]", "(table == x[0][:, None]).int().argmax(1)"),
        (
            "torch.nonzero(table == x[0][:, None], as_tuple=True)[1]",
            "(table == x[0][:, None]).int().argmax(1)",
        ),
        ("torch.where(x[0] == 3)[0][0]", "(x[0] == 3).int().argmax()"),
        ("(x[0] == 3).nonzero()[0, 0]", "(x[0] == 3).int().argmax()"),
    ],
)
def test_position(asked, after):
    source = lines("table = x[0].flip(0)", f"return {asked} + 1")
    code = function_code(source)
    [call] = [
        node
        for node in nodes(code, cst.Call)
        if code.module.code_for_node(node.func).endswith(("nonzero", "where"))
    ]
    fix = position.fixes(code, call)[0]
    assert "Only" in fix.description  # --verify --fix writes it
    assert f"return {after} + 1" in prove(source, fix, [[X.detach()]])
    for other in (
        "x.nonzero()",
        "x.nonzero()[:, 0]",
        "torch.where(x > 0)[0]",
        "torch.where(x > 0)[0][1]",
        "f.where(x)[1]",
    ):
        code = function_code(lines(f"return {other}"))
        assert not [fix for node in nodes(code, cst.Call) for fix in position.fixes(code, node)]


def test_index_of_one_row():
    source = lines(
        "k = x.argmax()",
        "rows = [x.flatten()[k], x[:, k % 3]]",
        "return torch.stack([rows[0], rows[1].sum()])",
    )
    code = function_code(source)
    found = nodes(code, cst.Subscript)
    fixes = [index.select_row(code, node) for node in found[:2]]
    after = source
    for fix in fixes:
        assert isinstance(fix, Fix), fix
    both = Fix("both", "unsafe", tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits)))
    after = prove(source, both, [[X]])
    assert "x.flatten()[k[None]].squeeze(0)" in after
    assert "x[:, (k % 3)[None]].squeeze(1)" in after
    source = lines("return x[x[:, 0].argmax()][None]")
    fix = index.select_row(code := function_code(source), nodes(code, cst.Subscript)[1])
    assert "return x[x[:, 0].argmax()[None]]\n" in prove(source, fix, [[X]])
    source = lines("ks = x.argmax(1)", "return x[:, ks[1]] * 2")
    code = function_code(source)
    fix = index.select_row(code, nodes(code, cst.Subscript)[-2])
    assert "x[:, ks[1][None]].squeeze(1)" in prove(source, fix, [[X]])
    assert fix.waits_for_proof  # nothing but the break says that `ks[1]` is one number
    for text in (
        "return x[x.argmax(1)[0]]",
        "return table[x.argmax()]",
        "return x[..., x.argmax()]",
        "return x[x > 0]",
        "return x[0]",
        "return x[x.argmax()].item()",
    ):
        other = function_code(lines(text))
        node = nodes(other, cst.Subscript)[0]
        if "..." in text:
            assert isinstance(index.select_row(other, node), Refusal)
            continue
        assert isinstance(index.select_row(other, node), Refusal)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "torch._check_tensor_all(x < 99, lambda: 'large')",
            "torch._assert_async(torch.all(x < 99), 'large')",
        ),
        ("torch._check_tensor_all_with(ValueError, x < 99)", 'torch.all(x < 99), "the check failed")'),
    ],
)
def test_checks_of_tensors(text, made):
    source = lines(text, "return x + 1")
    code = function_code(source)
    fix = guard.check_in_graph(code, nodes(code, cst.Call)[0])
    assert made in prove(source, fix, [[X]])


def test_ternary_behind_a_plain_test():
    source = lines("y = (", "    x.sin() if x.dim() == 2 and x.sum() > 0 else x + 1", ")", "return y * 2")
    fixes = branch.fixes(code := function_code(source), nodes(code, cst.IfExp)[0].test)
    assert len(fixes) == 2
    for fix in fixes:
        prove(source, fix, [[X], [(-X).detach()]])


def test_requires_grad_is_left_to_eager():
    source = lines(
        "y = x.detach() * 2", "if x.dim() == 2:\n        y.requires_grad = True", "return y.detach()"
    )
    fix = first_fix(source, cst.Attribute, grad.fixes, at=3)
    assert fix.is_workaround
    assert fix.waits_for_proof  # what computes a gradient with it fails where it is compiled
    assert "if x.dim() == 2 and not torch.compiler.is_compiling():" in applied(source, fix)
    argument = lines("x.requires_grad = True", "return x")
    assert isinstance(first_fix(argument, cst.Attribute, grad.fixes, at=1), Refusal)
    taken = lines("y = x * 2", "y.requires_grad = False", "return y")
    fix = first_fix(taken, cst.Attribute, grad.fixes, at=1)
    assert "    y = y.detach()\n" in applied(taken, fix)
    made = lines("y = torch.empty(3)", "y.requires_grad = False", "return x + y")
    fix = first_fix(made, cst.Attribute, grad.fixes, at=2)
    assert applied(made, fix) == lines("y = torch.empty(3)", "return x + y")
    kept = lines("y = x.parts[0]", "y.requires_grad = False", "return y")
    assert all(
        "detach" not in fix.description
        for fix in grad.fixes(function_code(kept), nodes(function_code(kept), cst.Attribute)[0])
    )
    one_of_many = lines("for y, flag in zip(x, (True, False)):\n        y.requires_grad = flag", "return x")
    assert isinstance(first_fix(one_of_many, cst.Attribute, grad.fixes, at=1), Refusal)


def test_plain_numbers_are_printed_in_the_graph():
    source = lines("n = x.shape[0]", "print('rows', n, x.dim())", "return x + n")
    code = function_code(source, path=NO_PROJECT)
    code.kinds = lambda: {code.range(node): "int" for node in nodes(code, cst.Name) if node.value == "n"}
    fix = printing.print_in_graph(code, calls(code, "print"))
    assert 'print("rows {!s} {!s}", n, x.dim())' in prove(source, fix, [[X]])


SKIPS = """import torch


class Model(torch.nn.Module):
    layerdrop = 0.0

    def forward(self, x):
        p = torch.rand([])
        skip = self.training and (p < self.layerdrop)
        if not skip or x.dim() > 4:
            x = x + 1
        if skip:
            x = x * 2
        return {}
"""


def test_rate_behind_a_name_is_asked_first():
    source = SKIPS.format("x + p")
    code = function_code(source, "forward")
    fix = rate.ask_rate_first(code, nodes(code, cst.If)[0].test)
    assert fix.applicability == "safe"
    after = prove(source, fix, [[X]], name="Model", exact=True)
    assert "skip = self.training and (self.layerdrop > 0 and p < self.layerdrop)" in after
    used = SKIPS.format("x * skip")  # a number where there was a tensor
    asked = SKIPS.format("x").replace(
        "skip = self.training", "if self.layerdrop > 0.0:\n            skip = True"
    )
    for text in (after, used, asked):
        code = function_code(text, "forward")
        found = next(one for one in nodes(code, cst.If) if "skip" in code.module.code_for_node(one.test))
        assert isinstance(rate.ask_rate_first(code, found.test), Refusal)


def test_a_module_of_its_own_called_logging():
    code = function_code("from .utils import logging\n\n\ndef f(x, log):\n    log.info('a')\n    return x\n")
    call = calls(code, "log.info")
    code.ops = (Op("call logging.Logger.info", *code.range(call)),)
    assert isinstance(printing.keep_logging(code, call), Refusal)
    code.imports = {}
    assert isinstance(printing.keep_logging(code, call), Fix)


CHECKPOINTS = """import torch


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
        self.gradient_checkpointing = False
        self.asks = True

    def forward(self, x):
        h = x[:, None]
        # checkpoints want it
        if self.asks and self.training:
            h.requires_grad = True
        return self.fc(h)
"""


def test_requires_grad_where_checkpoints_need_it():
    code = function_code(CHECKPOINTS, "forward")
    assign = next(
        node for node in nodes(code, cst.Assign) if "requires_grad" in code.module.code_for_node(node)
    )
    first, second = grad.fixes(code, assign)
    x = X.detach()
    after = prove(CHECKPOINTS, first, [[x]], name="Encoder")
    assert "if self.asks and self.training and self.gradient_checkpointing:" in after
    assert "# checkpoints want it" in after
    assert second.is_workaround
    other = function_code(CHECKPOINTS.replace("self.gradient_checkpointing = False", ""), "forward")
    assign = next(
        node for node in nodes(other, cst.Assign) if "requires_grad" in other.module.code_for_node(node)
    )
    assert [fix.is_workaround for fix in grad.fixes(other, assign)] == [True]


ROLLED = [
    (
        "x.roll(int(k[0]), 1)",
        "x.index_select(1, (torch.arange(x.shape[1], device=x.device) - k[0]) % x.shape[1])",
    ),
    ("torch.roll(x, -k[0].item(), 0)", "index_select(0, (torch.arange(x.shape[0], device=x.device) + k[0])"),
    ("x.roll(shifts=2 * int(k[1]) - 1, dims=-1)", "x.index_select(-1, "),
]


@pytest.mark.parametrize(("text", "made"), ROLLED)
def test_rolled_by_a_number_in_a_tensor(text, made):
    source = lines(f"return {text} * 2", head="def f(x: torch.Tensor, k: torch.Tensor):\n    ")
    code = function_code(source)
    read = next(c for c in nodes(code, cst.Call) if in_math.callee(c) in ("int", "item"))
    fix = next(f for f in scalar.fixes(code, read) if "positions" in f.description)
    after = prove(source, fix, [[X, torch.tensor([4, -7])], [X, torch.tensor([0, 1])]])
    assert made in " ".join(after.split()).replace("( ", "(").replace(" )", ")")


def test_the_positions_of_a_long_roll_have_a_line_of_their_own():
    text = "# to the left\n    moved_by_the_first_number_of_k = torch.roll(x, -int(k[0]), -1)"
    source = lines(
        text, "return moved_by_the_first_number_of_k", head="def f(x: torch.Tensor, k: torch.Tensor):\n    "
    )
    code = function_code(source)
    read = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "int")
    fix = next(f for f in scalar.fixes(code, read) if "positions" in f.description)
    made = (
        "    # to the left\n    positions = (torch.arange(x.shape[-1], device=x.device) + k[0]) % x.shape[-1]\n"
        "    moved_by_the_first_number_of_k = x.index_select(-1, positions)\n"
    )
    assert made in applied(source, fix)
    code = function_code(source.replace("x", "the_values_of_all"))
    read = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "int")
    fix = next(f for f in scalar.fixes(code, read) if "positions" in f.description)
    after = applied(source.replace("x", "the_values_of_all"), fix)
    assert "    # to the left\n    length = the_values_of_all.shape[-1]\n    positions = (" in after


@pytest.mark.parametrize("device", ["", ", device=x.device"])
def test_a_number_that_stays_on_the_cpu_goes_to_what_is_rolled(device):
    text = f"j = torch.full((1,), 3{device})\n    return x.roll(j.item(), 1)"
    source = lines(text, head="def f(x: torch.Tensor):\n    ")
    code = function_code(source)
    read = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "item")
    fix = next(f for f in scalar.fixes(code, read) if "positions" in f.description)
    after = prove(source, fix, [[X]])
    assert ("- j.to(x.device)" in after) is (not device)


@pytest.mark.parametrize(
    "text",
    [
        "x.roll((int(k[0]), 1), (0, 1))",
        "x.roll(int(k[0]))",
        "x.roll(1, int(k[0]))",
        "(x + 1).roll(int(k[0]), 1)",
        "x.roll(min(int(k[0]), 3), 1)",
        "x.roll(int(k[0]) // 2, 1)",
        "x.flip(int(k[0]))",
    ],
)
def test_rolled_otherwise_is_refused(text):
    code = function_code(lines(f"return {text}", head="def f(x: torch.Tensor, k: torch.Tensor):\n    "))
    read = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "int")
    assert not any("positions" in fix.description for fix in scalar.fixes(code, read))


REPEATED = "counts = [len(x), x.shape[1]]"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "torch.repeat_interleave(x, torch.tensor(counts), 0)",
            "torch.tensor(counts), 0, output_size=sum(counts))",
        ),
        ("x.repeat_interleave(torch.tensor(counts), dim=0)", "dim=0, output_size=sum(counts))"),
        ("x.repeat_interleave(repeats=torch.tensor(counts,), dim=0,)", "dim=0, output_size=sum(counts),)"),
    ],
)
def test_repeated_by_a_list_of_numbers(text, made):
    source = lines(REPEATED, f"return {text} * 2")
    code = function_code(source)
    [fix] = sized.fixes(
        code, next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "repeat_interleave")
    )
    assert made in prove(source, fix, [[X]])


@pytest.mark.parametrize(
    "text",
    [
        "x.repeat_interleave(2, dim=0)",
        "x.repeat_interleave(torch.tensor(x[0]).long(), dim=1)",
        "x.repeat_interleave(torch.tensor(x), dim=1)",
        "x.repeat_interleave(torch.tensor(next(counts)), dim=0)",
        "x.repeat_interleave(torch.tensor(counts), dim=0, output_size=5)",
        "x.repeat_interleave(torch.tensor(x.counts), dim=0)",  # which may be one number
    ],
)
def test_repeated_otherwise_is_refused(text):
    code = function_code(lines(REPEATED, f"return {text}"))
    call = next(c for c in nodes(code, cst.Call) if in_math.callee(c) == "repeat_interleave")
    assert not sized.fixes(code, call)


EXPLICIT = """if x.dim() > 1:
        torch._dynamo.graph_break()
    else:
        x = x + 1
        torch._dynamo.graph_break()  # here
    return x * 2"""


@pytest.mark.parametrize(("at", "made"), [(0, "        pass\n"), (1, "        # here\n        x = x + 1\n")])
def test_explicit_break_is_left_out(at, made):
    source = lines(EXPLICIT)
    code = function_code(source)
    broken = [one for one in nodes(code, cst.Call) if one.func.attr.value == "graph_break"]
    found = left_out.remove_break(code, broken[at])
    assert isinstance(found, Fix)
    after = applied(source, found)
    assert made in after
    assert after.count("graph_break") == 1


def test_other_calls_are_not_left_out():
    code = function_code(lines("torch._dynamo.reset()", "y = torch._dynamo.graph_break()", "return x"))
    found = [left_out.remove_break(code, call) for call in nodes(code, cst.Call)]
    assert all(isinstance(one, Refusal) for one in found)


NUMBER_FIRST = [
    ("y.mul_(0.9).add_", "(1 - 0.9, x)", "y.mul_(0.9).add_(x, alpha=1 - 0.9)"),
    ("y.addcmul_", "(0.5, x, x)", "y.addcmul_(x, x, value=0.5)"),
    (
        "y.addcdiv_",
        "(\n        -0.5, x,\n        x + 9,\n    )",
        "(\n        x, x + 9,\n        value=-0.5,\n    )",
    ),
]


@pytest.mark.parametrize(("name", "given", "made"), NUMBER_FIRST)
def test_the_number_goes_behind_the_tensors(name, given, made):
    source = lines("y = x * 2", name + given, "return y")
    code = function_code(source)
    assert made in prove(source, number_last.named(code, calls(code, name)), [[X]])


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("x", "x.detach()"),
        ("x + 1, requires_grad=False", "(x + 1).detach()"),
        ("x.data", "x.data"),
        ("x.detach().abs()", "x.detach().abs()"),
        ("torch.atan2(x.data, x.data)", "torch.atan2(x.data, x.data)"),
        ("torch.atan2(x.data, x)", "torch.atan2(x.data, x).detach()"),
        ("torch.Tensor([0.5, 1, 2])", "torch.Tensor([0.5, 1, 2])"),
        ("x.data.new(2, 3).zero_()", "x.data.new(2, 3).zero_()"),
        ("x.data.new(x.size(0), *x.shape[1:]).zero_()", "x.data.new(x.size(0), *x.shape[1:]).zero_()"),
        ("(x > 1).long()", "(x > 1).long()"),
        ("x.new_zeros(x.size(0), 1)", "x.new_zeros(x.size(0), 1)"),
        ("torch.zeros(x.shape, device=x.device)", "torch.zeros(x.shape, device=x.device)"),
        ("\n        x.sin()", "x.sin().detach()"),
    ],
)
def test_a_variable_is_a_tensor_that_is_detached(given, made):
    source = lines(f"y = torch.autograd.Variable({given})", "return y * x, y.requires_grad")
    code = function_code(source)
    assert f"y = {made}\n" in prove(
        source, variable.detached(code, calls(code, "torch.autograd.Variable")), [[X]]
    )
    kept = torch.autograd.Variable(X)
    assert (kept.data_ptr(), kept.requires_grad) == (X.data_ptr(), False)


def test_a_private_function_of_torch_by_its_public_name():
    source = lines("if torch._C._is_tracing():", "    x = x + 1", "return x * 2")
    code = function_code(source)
    made = prove(source, public_name.by_public_name(code, calls(code, "torch._C._is_tracing")), [[X]])
    assert "if torch.jit.is_tracing():\n" in made
    source = lines("return x.to(torch.get_autocast_cpu_dtype()) * 2")
    code = function_code(source)
    made = prove(source, public_name.by_public_name(code, calls(code, "torch.get_autocast_cpu_dtype")), [[X]])
    assert 'x.to(torch.get_autocast_dtype("cpu"))' in made
    source = lines(
        "cuda = x.device.type == 'cuda'",
        "kind = torch.get_autocast_gpu_dtype() if cuda else torch.get_autocast_cpu_dtype()",
        "return x.to(kind) * 2",
    )
    code = function_code(source)
    made = prove(source, public_name.by_public_name(code, calls(code, "torch.get_autocast_cpu_dtype")), [[X]])
    assert "torch.get_autocast_dtype('cuda') if cuda else torch.get_autocast_dtype('cpu')\n" in made


def test_a_default_where_there_is_no_tensor():
    source = lines("n = n or x.shape[0]", "return x / n", head="def f(x, n=None):\n    ")
    code = function_code(source)
    tested = nodes(code, cst.BooleanOperation)[0].left
    made = prove(source, given_or_default(code, tested), [[X, X.sum().detach()]])
    assert "n = n if n is not None else x.shape[0]\n" in made
    for text in (
        "n = n and 3",
        "n = 3 or n",
        "n = n or 3 or 4",
        "n = x or 3",
        "n = n or (3 if n is None else 4)",
    ):
        code = function_code(lines(text, head="def f(x, n=None):\n    "))
        tested = nodes(code, cst.BooleanOperation)[0].left
        assert isinstance(given_or_default(code, tested), Refusal), text


@pytest.mark.parametrize("given", ["x, requires_grad=True", "x, volatile=True", "*x", "x, False"])
def test_a_variable_that_is_told_more_is_left(given):
    code = function_code(lines(f"return torch.autograd.Variable({given})"))
    assert isinstance(variable.detached(code, calls(code, "torch.autograd.Variable")), Refusal)


EQUATIONS = [
    ("'bh, hc -> bc', x, y", True),
    ("'bh,hc,cd->bd', x, y, y", True),
    ("'b ... h, ... h -> b', x, x[0]", True),
    ("'bé,éc->bc', x, y", False),  # torch reads no such letters
    ("f'{a},hc->ac', x, y", False),
    ("'bh,hc->bc', x, y, optimize='greedy'", False),
    ("x, [0, 1], y, [1, 2]", False),
]


@pytest.mark.parametrize(("given", "fits"), EQUATIONS)
def test_opt_einsum_is_torchs_own(given, fits, tmp_path):
    text = (
        "import opt_einsum as oe\nimport torch\n\ncontract = oe.contract\n\n\n@torch.compile\ndef f(x, y):\n"
    )
    path = tmp_path / "m.py"
    path.write_text(f"{text}    return contract({given})\n", encoding="utf-8")
    (found,) = (
        one for one in lint([str(path)], Settings(root=str(tmp_path))).findings if one.code == "PTB185"
    )
    made = [fix for fix in found.fixes if "torch.einsum" in fix.description]
    assert len(made) == fits
    for fix in made:
        after = apply_edits(path.read_text(encoding="utf-8"), fix.edits)
        assert f"    return torch.einsum({given})\n" in after
        space = {"torch": torch, "x": torch.ones(2, 3), "y": torch.ones(3, 3)}
        whole = torch.compile(
            eval(f"lambda x, y: torch.einsum({given})", space), backend="eager", fullgraph=True
        )
        assert whole(space["x"], space["y"]).sum() > 0


COMMENTED = "y.add_(\n        0.5,  # a half\n        x,\n    )"


@pytest.mark.parametrize(
    "text", ["y.add_(x)", "y.add_(x, alpha=2)", "y.add_(*x)", "y.sub_(2, x)", "f(2, x)", COMMENTED]
)
def test_no_number_before_the_tensors(text):
    code = function_code(lines("y = x * 2", text, "return y"))
    found = [number_last.named(code, call) for call in nodes(code, cst.Call)]
    assert all(isinstance(one, Refusal) for one in found)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("y = x * 2\n    y[:, k : k + 1] = 7\n    return y", "y[:, k[None]] = 7"),
        ("return x[..., k : k + 1] * 2", "x[..., k[None]] * 2"),
    ],
)
def test_one_row_at_a_place_in_a_tensor(text, made):
    source = lines("k = x.argmax() % 3", text)
    code = function_code(source)
    after = prove(source, index.one_long(code, nodes(code, cst.Subscript)[0]), [[X], [POSITIVE]])
    assert made in after


@pytest.mark.parametrize(
    "text",
    [
        "x[k : k + 2]",
        "x[k : n + 1]",
        "x[k : k + 1, 0]",
        "x[k:]",
        "x[: k + 1]",
        "table[k : k + 1]",
        "x[n : n + 1]",
    ],
)
def test_more_or_less_than_one_row(text):
    code = function_code(lines("k = x.argmax() % 3", "n = x.shape[0]", f"return {text}"))
    assert isinstance(index.one_long(code, nodes(code, cst.Subscript)[-1]), Refusal)


WINDOWS = [
    ("return x[:, k : k + n] * 2", "return x[:, k + torch.arange(n, device=k.device)] * 2"),
    ("return x[0, k : n + k] * 2", "return x[0, k + torch.arange(n, device=k.device)] * 2"),
    (
        "y = x * 2\n    y[..., k : k + 2] = 7\n    return y",
        "y[..., k + torch.arange(2, device=k.device)] = 7",
    ),
    (
        "end = k + n\n    return x[:, k:end] * 2",
        "n = x.shape[0]\n    return x[:, k + torch.arange(n, device=k.device)] * 2",
    ),
]


@pytest.mark.parametrize(("text", "made"), WINDOWS)
def test_a_window_at_a_place_in_a_tensor(text, made):
    source = lines("k = x.sum(0).argmax() % 2", "n = x.shape[0]", text)
    code = function_code(source)
    after = prove(source, window.at_tensor(code, nodes(code, cst.Subscript)[-1]), [[X], [POSITIVE]])
    assert made in after


@pytest.mark.parametrize(
    "text",
    [
        "return x[:, k:]",
        "return x[:, k : n + 1]",
        "return x[:, k : k + n : 2]",
        "return x[k : k + n, k]",
        "return x[:, k : k + 0.5]",
        "return x[:, k : k + x.argmax()]",
        "return [x, x][k : k + n]",
        "end = k + n  # one beyond\n    return x[:, k:end]",
    ],
)
def test_no_window_of_a_known_length(text):
    code = function_code(lines("k = x.sum(0).argmax() % 2", "n = x.shape[0]", text))
    assert isinstance(window.at_tensor(code, nodes(code, cst.Subscript)[-1]), Refusal)


QUEUE = """import torch


class Queue(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", torch.zeros(4, 3))
        self.register_buffer("at", torch.ones(1, dtype=torch.long))

    def forward(self, x):
        n = x.shape[0]
        p = int(self.at)  # the next place
        BODY
        return self.queue * 2
"""
MOVED = ["self.queue[p : p + n] = x.detach()", "p = (p + n) % 3", "self.at[0] = p"]


def kept_window(path, body, read="int(self.at)"):
    """The source, and the fixes that keep what is read as a window's start."""
    source = QUEUE.replace("int(self.at)", read).replace("BODY", "\n        ".join(body))
    path.write_text(source)
    found = [fix for one in lint([str(path)], Settings(root=str(path.parent))).findings for fix in one.fixes]
    return source, [fix for fix in found if fix.description.startswith("Compute the places of the window")]


@pytest.mark.parametrize("read", ["int(self.at)", "self.at.item()", "int(self.at[0])"])
def test_a_queue_whose_place_is_in_a_buffer(read, tmp_path):
    source, (fix, *_) = kept_window(tmp_path / "m.py", MOVED, read)
    after = prove(source, fix, [[X], [POSITIVE], [torch.ones(1, 3)]], "Queue")
    assert f"p = {'self.at[0]' if '[0]' in read else 'self.at'}  # the next place\n" in after
    assert "self.queue[p + torch.arange(n, device=p.device)] = x.detach()\n" in after


@pytest.mark.parametrize(
    "body",
    [
        ["if p + n > 3:\n            x = x[: 3 - p]", *MOVED],  # compared
        [*MOVED, "self.last = p"],  # read after it was written back
        [MOVED[0], "p += n", "self.at[0] = p"],  # the buffer itself would be changed
        [MOVED[0], "self.at.fill_(p + n)"],
        [MOVED[0], "self.at += n", "self.size = p"],
        ["self.eval()", *MOVED],
        MOVED[1:],  # no window
    ],
)
def test_a_place_that_is_used_for_more(body, tmp_path):
    assert kept_window(tmp_path / "m.py", body)[1] == []


WRITTEN = [
    ("y[torch.where(x > 1)] = 0.0", "y[x > 1] = 0.0"),
    ("y[(x > 1).nonzero(as_tuple=True)] = 7", "y[x > 1] = 7"),
    ("y[torch.where(x.sum(1) > 0)] = -1", "y[x.sum(1) > 0] = -1"),
    ("at = torch.where(x > 1)\n    y[at] = 0", "at = x > 1\n    y[at] = 0"),
]


@pytest.mark.parametrize(("text", "made"), WRITTEN)
def test_what_is_written_where_a_mask_is_set(text, made):
    source = lines("y = x * 2", text, "return y")
    code = function_code(source)
    fix = position.through_mask(code, next(c for c in nodes(code, cst.Call) if is_positions(c)))
    assert made in prove(source, fix, [[X], [POSITIVE]], exact=True)


def is_positions(call: cst.Call) -> bool:
    return in_math.callee(call) in ("where", "nonzero")


@pytest.mark.parametrize(
    "text",
    [
        "y[torch.where(x)] = 0",  # no mask
        "y[torch.where(x > 1)] = x[x > 1]",
        "y[torch.where(x > 1)] += 1",
        "y[torch.where(x > 1), 0] = 1",
        "y[(x > 1).nonzero()] = 1",
        "at = torch.where(x > 1)\n    y[at] = len(at[0])",
        "m = x > 1\n    at = torch.where(m)\n    m |= x < 0\n    y[at] = 1",  # another mask by then
    ],
)
def test_more_than_numbers_written_at_places(text):
    code = function_code(lines("y = x * 2", text, "return y"))
    fix = position.through_mask(code, next(c for c in nodes(code, cst.Call) if is_positions(c)))
    assert isinstance(fix, Refusal)


SCRIPTED = """import torch
from torch import jit


class Net(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.inner = INNER

    def f(self, x):
        return self.inner(x) + 1
"""


@pytest.mark.parametrize(
    ("inner", "left"),
    [
        ("torch.jit.script(torch.nn.Linear(4, 4))", "torch.nn.Linear(4, 4)"),
        ("jit.freeze(jit.script(layer.eval()))", "layer.eval()"),
        ("jit.trace(layer, torch.ones(4))", "layer"),
        (
            "jit.script(\n            torch.nn.Sequential(\n                layer,  # one\n            )\n        )",
            "torch.nn.Sequential(\n            layer,  # one\n        )",
        ),
        (
            "jit.script(torch.nn.Sequential(\n            layer,\n        ))",
            "torch.nn.Sequential(\n            layer,\n        )",
        ),
        ("layer", None),  # scripted elsewhere
        ("jit.load(layer)", None),
        ("jit.script(layer)\n        self.inner = layer.other", None),
    ],
)
def test_a_scripted_module_is_left_to_the_compiler(inner, left):
    source = SCRIPTED.replace("INNER", inner)
    code = function_code(source)
    found = scripted.unscripted(code, calls(code, "self.inner"))
    if left is None:
        assert isinstance(found, Refusal)
    else:
        assert applied(source, found) == SCRIPTED.replace("INNER", left)
        derived = "\n\nclass Derived(Net):\n    def g(self, x):\n        return self.inner(x)\n"
        code = function_code(source + derived, "g")
        found = scripted.unscripted(code, calls(code, "self.inner"))
        assert applied(source + derived, found) == SCRIPTED.replace("INNER", left) + derived


@pytest.mark.parametrize(
    ("made", "full"),
    [
        ("torch.tensor([0] * len(x))", "torch.full((len(x),), 0)"),
        (
            "torch.tensor(x.shape[0] * [True], device=x.device)",
            "torch.full((x.shape[0],), True, device=x.device)",
        ),
        (
            "torch.tensor([len(x) - 1] * n, dtype=torch.int32)",
            "torch.full((n,), len(x) - 1, dtype=torch.int32)",
        ),
        ("torch.tensor([2.5] * n)", "torch.full((n,), 2.5)"),
        ("th.tensor([2.5] * n)", "th.full((n,), 2.5)"),
        (
            "torch.tensor([1] * (n - 4), dtype=torch.int32)",
            "torch.full((max(n - 4, 0),), 1, dtype=torch.int32)",
        ),
        ("torch.tensor([x[0]] * n)", None),
        ("torch.tensor([[1]] * n)", None),
        ("torch.tensor([1, 2] * n)", None),
        ("torch.stack([x] * n)", None),
        ("torch.tensor([1] * n, pin_memory=True)", None),
        ("torch.tensor([1] + [0] * n)", None),
    ],
)
def test_a_list_of_one_number_is_a_filled_tensor(made, full):
    source = "import torch as th\n" + lines("n = x.shape[0]", f"return {made}, x")
    code = function_code(source)
    node = next(one for one in nodes(code, cst.BinaryOperation) if isinstance(one.operator, cst.Multiply))
    found = filled.filled(code, node)
    if full is None:
        assert isinstance(found, Refusal)
    else:
        after = applied(source, found)
        assert f"return {full}, x\n" in after
        before, now = load(source).f(X)[0], load(after).f(X)[0]
        assert (now.dtype, now.tolist()) == (before.dtype, before.tolist())


def test_what_is_computed_first_has_the_name_of_its_argument():
    texts = "kept.update(most=x.max().item(), lines=2)", "kept.update(x=x.min().item())"
    source = lines("kept = {}", *texts, "return kept")
    names = (
        "most = x.max().item()\n    kept.update(most=most, ",
        "x_2 = x.min().item()\n    kept.update(x=x_2)",
    )
    for text, made in zip(texts, names, strict=True):
        code = function_code(source)
        call = next(one for one in nodes(code, cst.Call) if code.module.code_for_node(one) == text)
        (fix,) = computed_first(code, call, call.args[:1])
        assert f"    {made}" in applied(source, fix)


PLACES = """import torch


def f(x: torch.Tensor, p: torch.Tensor, held: dict):
    return x + 1, RESULT
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x[p.item()]", "x[p.reshape(1)].squeeze(0)"),
        ("held['x'][None, p.item(), None, :]", "held['x'][None, p.reshape(1), None, :].squeeze(1)"),
        ("x[0, ..., int(p.max()), 1:]", "x[0, ..., p.max().reshape(1), 1:].squeeze(-2)"),
    ],
)
def test_an_element_is_selected_by_the_tensor(before, after):
    source = PLACES.replace("RESULT", before)
    code = function_code(source)
    read = next(one for one in nodes(code, cst.Call) if code.module.code_for_node(one) in before)
    arguments = [torch.arange(24.0).view(2, 3, 4), torch.tensor([1]), {"x": torch.arange(6.0).view(2, 3)}]
    assert after in prove(source, index.by_tensor(code, read), [arguments])


@pytest.mark.parametrize(
    "before",
    [
        "held['x'][p.item()]",  # a list
        "x[p.item(), held]",
        "x[float(p), :]",
        "x[p.tolist(), :]",
    ],
)
def test_other_elements_are_left(before):
    code = function_code(PLACES.replace("RESULT", before))
    read = next(one for one in nodes(code, cst.Call) if code.module.code_for_node(one) in before)
    assert isinstance(index.by_tensor(code, read), Refusal)


def test_an_element_that_is_set_is_left():
    code = function_code(PLACES.replace("return x + 1, RESULT", "x[p.item()] = 1.0"))
    assert isinstance(index.by_tensor(code, calls(code, "p.item")), Refusal)


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("torch.nn.ModuleList([torch.nn.ReLU()])", "len(self.nets) > 0"),
        (
            "torch.nn.ModuleList([torch.nn.ReLU()]) if deep else None",
            "self.nets is not None and len(self.nets) > 0",
        ),
    ],
)
def test_the_length_of_what_may_be_none_is_not_asked_alone(value, asked, tmp_path):
    """`len(None)` raises another error."""
    text = (
        "import torch\n\nclass M(torch.nn.Module):\n    def __init__(self, deep):\n        super().__init__()\n"
        f"        self.nets = {value}\n    def forward(self, x):\n        assert self.nets\n        return x + 1\n"
    )
    (tmp_path / "m.py").write_text(text, encoding="utf-8")
    found = lint([str(tmp_path / "m.py")], Settings(root=str(tmp_path), target_torch=(2, 13))).findings
    [fix] = next(one for one in found if one.code == "PTB116").fixes
    assert [edit.text for edit in fix.edits] == [asked]


@pytest.mark.parametrize(
    ("made", "code", "wait"),
    [
        (window.at_tensor, "x[:, k : k + n] = y", True),
        (window.at_tensor, "y = x[:, k : k + n]", False),
        (index.one_long, "x[:, k : k + 1] = y", True),
    ],
)
def test_what_is_written_at_places_waits_for_its_proof(made, code, wait):
    """A slice converts what has another dtype, and places refuse it."""
    queue, half = torch.zeros(2, 4), torch.ones(2, 2, dtype=torch.half)
    queue[:, 1:3] = half
    with pytest.raises(RuntimeError, match="dtypes match"):
        queue[:, torch.tensor([1, 2])] = half
    head = "def f(x: torch.Tensor, y: torch.Tensor, k: torch.Tensor, n: int):\n    "
    read = function_code(lines("k = k.argmax()", code, head=head))
    fix = made(read, nodes(read, cst.Subscript)[0])
    assert isinstance(fix, Fix)
    assert fix.waits_for_proof == wait
    assert ("has its dtype" in fix.description or "has the dtype" in fix.description) == wait
