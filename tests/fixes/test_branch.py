"""Branches on tensors: what becomes torch.where or torch.cond, and what is refused."""

from __future__ import annotations

import re

import libcst as cst
import pytest
import torch

from pt2lint.finding import Fix
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs.branch import fixes
from pt2lint.fixes.repairs.clip import to_clamp
from pt2lint.fixes.repairs.cond import to_cond
from pt2lint.fixes.repairs.rate import ask_rate_first
from pt2lint.fixes.repairs.where import to_where
from tests.fixes.lab import applied, function_code, nodes, prove

X = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
SIDES = [[X], [(-X).detach().requires_grad_()], [torch.zeros(3, requires_grad=True)]]
HEAD = "import torch\n\n\n"


def branch(source, repair, name="f"):
    code = function_code(source, name)
    found = nodes(code, cst.If) + nodes(code, cst.IfExp)
    return repair(code, found[0])


WHERE = {
    "one side": """
def f(x: torch.Tensor):
    y = x * 2
    if y.sum() > 1:
        y = y.clamp(min=0)  # keep this
    return y + 1
""",
    "both sides, several names": """
def f(x: torch.Tensor):
    # on top
    if x.sum() > 0:
        s = x.abs()
        y = s + 1
        z = x - 1
    else:
        y = x - 1
        z = x * 2
    return y, z
""",
    "elif": """
def f(x: torch.Tensor):
    if x.sum() > 0:
        y = x + 1
    elif (x.sum() < 0).item():
        y = x - 1
    else:
        y = x * 3
    return y
""",
    "not": """
def f(x: torch.Tensor):
    y = x + 1
    if not (x > 0).any():
        y = -y
    return y
""",
    "and": """
def f(x: torch.Tensor):
    y = x + 1
    if x.dim() == 1 and (x > 0).any() and x.sum() > 0:
        y = y * 2
    return y
""",
    "early return": """
def f(x: torch.Tensor):
    if x.sum() > 0:
        return x + 1
    y = x * 2
    return y - 1
""",
    "returns of tuples": """
def f(x: torch.Tensor):
    if x.sum() > 0:
        return x + 1, x
    else:
        return x - 1, x
""",
    "ternary": """
def f(x: torch.Tensor):
    return (x * 2 if x.sum() > 0 else x - 1) + 1
""",
    "ternary with item": """
def f(x: torch.Tensor):
    y = x * 2 if x.sum().item() > 0 else x - 1
    return y
""",
    "truth of a number": """
def f(x: torch.Tensor):
    y = x + 1
    if x.sum():
        y = y * 2
    return y
""",
}


@pytest.mark.parametrize("name", WHERE)
def test_where(name):
    source = HEAD + WHERE[name].lstrip()
    fix = branch(source, to_where)
    if name == "elif":  # the inner branch first: the outer one then has two plain sides
        code = function_code(source)
        fix = to_where(code, nodes(code, cst.If)[1])
        source = source_after(source, fix)
        fix = branch(source, to_where)
    after = prove(source, fix, SIDES)
    assert "# on top" in after or "# on top" not in source


def source_after(source, fix):
    from tests.fixes.lab import applied

    return applied(source, fix)


COND = {
    "one side": WHERE["one side"],
    "both sides, several names": WHERE["both sides, several names"],
    "early return": WHERE["early return"],
    "returns of tuples": WHERE["returns of tuples"],
    "ternary": WHERE["ternary"],
    "not": WHERE["not"],
    "and": WHERE["and"],
    "loop in a side": """
def f(x: torch.Tensor):
    y = x + 0
    if x.sum() > 0:
        for n in range(3):
            y = y * 2 + n
    else:
        y = torch.matmul(y, torch.eye(3))
    return y
""",
    "continue": """
def f(x: torch.Tensor):
    for n in range(3):
        if x.sum() > n:
            continue
        y = x.abs() + n
        x = y * 2
    return x
""",
    "comments": """
def f(x: torch.Tensor):
    # why
    if x.sum() > 0:
        # because
        x = x * 2  # twice
    else:
        x = x - 1

    return x
""",
    "alias": """
def f(x: torch.Tensor):
    y = x + 1
    if x.sum() > 0:
        y = x
    return y
""",
    "conversions that may give the tensor itself": """
def f(x: torch.Tensor):
    if x.sum() > 0:
        y = x.float()
    else:
        y = torch.squeeze(x.to(torch.float32)).contiguous()
    return y * y
""",
    "the same, of an expression": """
def f(x: torch.Tensor):
    return (x.float() if x.sum() > 0 else (x * 2).float()) * 3
""",
}


@pytest.mark.parametrize("name", COND)
def test_cond(name):
    source = HEAD + COND[name].lstrip()
    after = prove(source, branch(source, to_cond), SIDES)
    for comment in ("# why", "# because", "# twice"):
        assert (comment in after) == (comment in source)


PAIR = "def f(x: torch.Tensor):\n    y, z = x + 1, x - 1\n    if x.sum() > 0:\n        y, z = x.sin(), x\n"


def test_of_a_pair_what_exists_already_is_copied_alone():
    source = HEAD + PAIR + "    return y * z\n"
    after = prove(source, branch(source, to_cond), SIDES)
    assert "        y, z = x.sin(), x\n        return y, z.clone()\n" in after


def test_results_that_are_added_have_one_gradient():
    assert isinstance(branch(HEAD + PAIR + "    return y + (x + z)\n", to_cond), Refusal)
    without = HEAD + "@torch.no_grad()\n" + PAIR + "    return y + z\n"
    prove(without, branch(without, to_cond), SIDES)


HELD = """
def f(x: torch.Tensor):
    if (  # why
        x  # what
        .sum()
        .abs()  # how
        > 0  # when
    ):
        x = x * 2
    return x
"""


def test_a_test_over_several_lines_with_comments_is_one_line():
    source = HEAD + HELD.lstrip()
    after = prove(source, branch(source, to_where), SIDES)
    assert "    x = torch.where(x.sum().abs() > 0, x * 2, x)\n" in after
    assert all(after.count(comment) == 1 for comment in ("# why", "# what", "# how", "# when"))


CUT = """
def f(x: torch.Tensor):
    good, n = x > 0, (x > 0).sum()
    few = n < 3
    y = x[:2] if x.dim() == 1 else x
    if few:
        good = good[:2]
    if few:
        y = y.where(good, 0)
    return y
"""


def test_what_the_same_test_cut_to_a_size_is_not_computed_elsewhere():
    code = function_code(HEAD + CUT)
    for repair in (to_where, to_cond):
        assert isinstance(repair(code, nodes(code, cst.If)[1]), Refusal)
    other = function_code(HEAD + CUT.replace("good[:2]", "good & (x < 9)"))
    assert isinstance(to_where(other, nodes(other, cst.If)[1]), Fix)


ANEW = """
def f(x: torch.Tensor):
    top = 9
    if x.max() > 3:
        top = 2 * 3
        x = x.clamp(max=top)
    x = x + 1
    {then}
    return x
"""


@pytest.mark.parametrize(
    ("then", "read"),
    [
        ("if x.min() < 0:\n        top = 1\n        x = x.clamp(max=top)", False),
        ("top = 1\n    if x.min() < 0:\n        x = x.clamp(max=top)", False),
        ("if x.min() < 0:\n        x = x.clamp(max=top)\n        top = 1", True),
        ("if x.min() < 0:\n        top = 1\n    x = x.clamp(max=top)", True),
        ("for _ in range(2):\n        x = x.clamp(max=top)\n        top = 1", True),
    ],
)
def test_a_name_that_is_assigned_anew_before_it_is_read_is_none_that_a_side_gives(then, read):
    assert isinstance(branch(HEAD + ANEW.format(then=then), to_where), Refusal) == read


def test_cond_with_modules():
    source = (
        HEAD
        + """class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.second = torch.nn.Linear(3, 3)

    def forward(self, x):
        x = x * 2
        if x.sum() > 0:
            x = self.first(x)
        else:
            x = self.second(x).relu()
        return x
"""
    )
    assert isinstance(branch(source, to_where, "forward"), Refusal)
    prove(source, branch(source, to_cond, "forward"), SIDES, name="M")


def test_where_comes_after_cond_where_gradients_may_be_nan():
    source = (
        HEAD
        + """def f(x: torch.Tensor):
    y = x + 0
    if (x > 0).all():
        y = x.sqrt()
    return y
"""
    )
    code = function_code(source)
    found = fixes(code, nodes(code, cst.If)[0])
    assert ["torch.cond" in fix.description for fix in found] == [True, False]
    assert "NaN" in found[1].description
    assert all(fix.applicability == "unsafe" for fix in found)
    prove(source, found[0], SIDES)
    with pytest.raises(AssertionError, match="gradients"):
        prove(source, found[1], [[torch.zeros(3, requires_grad=True)]])


RESCALED = """@torch.no_grad()
def f(x: torch.Tensor):
    y = x * 2
    if x.sum() > 1:
        scale = x.sum() / 3
        y = y.sqrt() / scale
    return y
"""


def test_without_gradients_torch_where_is_all_it_takes():
    plain = RESCALED.split("\n", 1)[1]
    head, test, *then, last, _ = plain.split("\n", 2)[0], *plain.split("\n")[1:]
    inner = "\n".join("    " + one for one in (test, *then))
    for source in (RESCALED, f"{head}\n    with torch.no_grad():\n{inner}\n{last}\n"):
        code = function_code(HEAD + source)
        found = fixes(code, nodes(code, cst.If)[0])
        assert "NaN" not in found[0].description
        assert "y = torch.where(take, y.sqrt() / scale, y)" in prove(HEAD + source, found[0], SIDES)
    code = function_code(HEAD + plain)
    assert "torch.cond" in fixes(code, nodes(code, cst.If)[0])[0].description


NESTED = """def f(x: torch.Tensor):
    if x.sum() == 0:
        return x

    if x.sum() < 0:
        return x.log()
    return x.exp()
"""


def test_a_torch_cond_within_another_one_stands_apart_from_its_sides():
    code = function_code(HEAD + NESTED)
    once = source_after(HEAD + NESTED, to_cond(code, nodes(code, cst.If)[1]))
    after = source_after(once, branch(once, to_cond))
    assert "def when_false_2(x):\n        def when_true(" in after.replace("()", "(x)")
    assert "\n\n        return torch.cond(x.sum() < 0" in after


@pytest.mark.parametrize(("made", "waits"), [("x.double()", True), ("x.abs()", False)])
def test_a_side_that_converts_waits_for_its_proof(made, waits):
    """torch.cond takes no sides of two dtypes."""
    found = branch(
        f"{HEAD}def f(x: torch.Tensor):\n    if x.sum() > 0:\n        x = {made}\n    return x\n", to_cond
    )
    assert isinstance(found, Fix)
    assert ("once proven" in found.traits) is waits


SAFE = """def f(x: torch.Tensor):
    h = torch.sigmoid(x)
    if torch.isfinite(h).all():
        h = torch.clamp(h, min=0.6) * 2
    return h + 1
"""


def test_safe_where():
    fix = branch(HEAD + SAFE, to_where)
    assert fix.applicability == "safe"
    extremes = [[torch.tensor([1.0, v, 0.0], requires_grad=True)] for v in (float("nan"), float("inf"), 3e38)]
    prove(HEAD + SAFE, fix, [*SIDES, *extremes], exact=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("h = torch.sigmoid(x)", "h = x"),  # the caller's own tensor may come back
        ("h = torch.sigmoid(x)", "h = x * 2"),  # may be an integer tensor, which clamp(0.6) makes float
        ("torch.isfinite(h).all()", "torch.isfinite(h)"),  # perhaps not 0-dim
        ("torch.isfinite(h).all()", "h.sum().item() > 0.1"),  # compared in double precision before
        ("min=0.6) * 2", "min=0.6) * x"),  # perhaps another shape
        ("torch.clamp(h, min=0.6) * 2", "torch.zeros_like(h)"),  # cuts the tensor off
        ("min=0.6) * 2", "min=0.6).sqrt()"),  # infinite gradient at zero
        ("return h + 1", "h.add_(1)\n    return h"),
        ("return h + 1", "g = h.view(-1)\n    return g"),
        ("return h + 1", "return [h]"),
    ],
)
def test_what_is_not_surely_equal_is_not_safe(old, new):
    assert old in SAFE
    fix = branch(HEAD + SAFE.replace(old, new), to_where)
    assert isinstance(fix, Fix), fix
    assert fix.applicability == "unsafe"


REFUSED_BY_WHERE = {
    "y = y[: len(x) - 1]": "is a part of",
    "y = print(x)": "effect",
    "y = self.layer(x)": "cheap",
    "y = x @ x": "matrix product",
    "y = xs[3]": "may raise",
    "y[0] = 1": "element",
    "x.y = x": "attribute",
    "y += 1": "augmented",
    "y.add_(1)": "in place",
    "y = x.add_(1)": "in place",
    "y = torch.add(x, 1, out=x)": "out=",
    "y = None": "None",
    "y = True": "flag",
    "y = [x]": "container",
    "y = torch.randn(3)": "cheap",
    "raise ValueError": "leaves",
    "del y": "something else than assign|removes",
    "new = x + 1": "unbound",
    "unused = 1": "unbound|used",
    "for i in range(3):\n            y = x": "loop",
    "if flag:\n            y = x": "branches again",
    "return x": "more than one place",
    "y, z = x, x": "name",
    "y = (w := x)": "walrus",
    "y = 1 / n": "division",
    "y = y[:, None]": "is a part of",
    "y = y[..., None].sum(1)": "is a part of",
    "y = y.unsqueeze(1)": "is a part of",
    "y = torch.clamp(y, min=1).sum()": "is a part of",
    "y = torch.sum(y, 1)": "is a part of",
    "y = y.T": "is a part of",
}


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("return y / n if n > 0 else y", "return y / torch.where(n > 0, n, 1)\n"),
        ("return 2 ** (y / n if n > 0 else y)", "return 2 ** (y / torch.where(n > 0, n, 1))\n"),
        ("return y if n == 0 else y / n", "return y / torch.where(n == 0, 1, n)\n"),
        ("return y - 1 if n == 0 else y / n", "torch.where(n == 0, y - 1, y / torch.where(n == 0, 1, n))"),
        (
            "if n == 0:\n        return y * 0\n    return y / n",
            "torch.where(n == 0, y * 0, y / torch.where(n == 0, 1, n))",
        ),
        (
            "if not (y > 0).any() & (n > 0):\n        y = y / (n - 1)\n    return y",
            "    take = (y > 0).any() & (n > 0)\n    y = y / torch.where(take, 1, n - 1)\n",
        ),
        (
            "if n > 0:\n        m = n * 2\n        y = y / m\n    return y",
            "    m = n * 2\n    y = y / torch.where(take, m, 1)\n",
        ),
        (
            "some = n > 0\n    if some:\n        m = n * 2\n        y = y / m\n    return y",
            "    some = n > 0\n    m = n * 2\n    y = y / torch.where(some, m, 1)\n",
        ),
        (
            "some = n > 0\n    if not some:\n        m = n * 2\n        return y + m\n    return y",
            "    some = n > 0\n    m_then = n * 2\n    return torch.where(some, y, y + m_then)\n",
        ),
        (
            "s = n > 0\n    if s:\n        s = n * 2\n        y = y / s\n    return y + s",
            "    take = s != 0\n    s_then = n * 2\n",
        ),
        (
            "if n > 0:\n        y = y / n.clamp(min=1)\n    return y",
            "    y = torch.where(n > 0, y / n.clamp(min=1), y)\n",
        ),
        (
            "z = y + 1\n    if n > 0:\n        m = y\n        y = z * 2\n        z = m * 3\n    return y + z",
            "    m = y\n    y = torch.where(take, z * 2, y)\n    z = torch.where(take, m * 3, z)\n",
        ),
        (
            "z = y + 1\n    if n > 0:\n        y = z * 2\n    else:\n        z = y - 1\n    return y + z",
            "    z_otherwise = y - 1\n    y = torch.where(take, z * 2, y)\n    z = torch.where(take, z, z_otherwise)\n",
        ),
        (
            "if n > 0:\n        m = n * 2\n        z = y + 1\n        return z / m\n"
            "    z = y + 1\n    m = n * 2\n    return y * z - m",
            "    m = n * 2\n    z = y + 1\n"
            "    return torch.where(n > 0, z / torch.where(n > 0, m, 1), y * z - m)\n",
        ),
        (
            "if n > 0:\n        m = n * 2\n        n = y + 1\n        y = n - m\n"
            "    else:\n        n = y + 1\n        y = n * 2\n    return y * n",
            "    m = n * 2\n    n_then = y + 1\n",
        ),
    ],
)
def test_a_division_is_by_one_where_it_is_not_taken(body, written):
    source = HEAD + f"def f(y: torch.Tensor):\n    n = y.relu().sum()\n    {body}\n"
    fix = branch(source, to_where)
    assert "infinite" not in fix.description or "factor" in fix.description
    assert written in prove(source, fix, SIDES)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        (
            "return y.sum() if m.sum() == 0 else y.sum() / n",
            "torch.where(m.sum() == 0, y.sum(), y.sum() / n.clamp(min=1))",
        ),
        (
            "k = m.float().sum()\n    return y / k if m.any() else y",
            "where(m.any(), y / k.clamp(min=1), y)",
        ),
        (
            "if not n >= 1:\n        return y\n    z = y / n\n    return z + 1",
            "    z_otherwise = y / n.clamp(min=1)\n    return torch.where(take, z_otherwise + 1, y)\n",
        ),
        ("return y / n if n == 0 else y", "return y / torch.where(n == 0, n, 1)\n"),
        ("return y / n if n > 1 else y", "return y / torch.where(n > 1, n, 1)\n"),
        ("m[0] = True\n    return y / n if m.any() else y", "torch.where(m.any(), n, 1)"),
    ],
)
def test_how_many_a_mask_has_is_one_at_least_where_it_is_divided_by(body, written):
    source = HEAD + f"def f(y: torch.Tensor):\n    m = y > 1\n    n = m.sum()\n    {body}\n"
    assert written in prove(source, branch(source, to_where), SIDES)


@pytest.mark.parametrize(
    ("made", "written"),
    [
        ("torch.tensor(0.5, device=y.device)", "0.5"),
        ("torch.tensor(-1, dtype=y.dtype, requires_grad=True)", "-1"),
        ("torch.tensor([2.0])", "torch.tensor([2.0])"),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        "return {} if y.sum() > 1 else y.mean()",
        "z = y.mean()\n    if y.sum() > 1:\n        z = {}\n    return z",
    ],
)
def test_a_number_stands_for_the_tensor_that_is_made_of_it(body, made, written):
    source = HEAD + f"def f(y: torch.Tensor):\n    {body.format(made)}\n"
    assert f"torch.where(y.sum() > 1, {written}, " in applied(source, branch(source, to_where))


def test_a_tensor_that_a_side_makes_on_the_default_device_waits_for_its_proof():
    for made, waits in {
        "torch.tensor(1.0)": True,
        "torch.tensor(1.0, device=x.device)": False,
        "x * 2": False,
    }.items():
        source = HEAD + f"def f(x: torch.Tensor):\n    if x > 0:\n        x = {made}\n    return x\n"
        assert branch(source, to_cond).waits_for_proof == waits


def test_tensors_of_one_storage_wait_for_their_proof():
    for made, waits in {
        "a, b = x": True,
        "a = x[0]\n    b = x.view(-1)": True,
        "a, b = x.max(0)": False,
    }.items():
        source = (
            HEAD
            + f"def f(x: torch.Tensor):\n    {made}\n    if a.sum() > 0:\n        a = a * b\n    return a\n"
        )
        assert ("Only `--verify --fix`" in branch(source, to_cond).description) == waits


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("y = self.left if x.sum() > 0 else self.right", True),  # lists, for all that is known
        ("y = self.left * 2 if x.sum() > 0 else self.right", False),
        ("y = x if x.sum() > 0 else self.right", False),
        ("if x.sum() > 0:\n        y = self.left\n    else:\n        y = self.right", True),
        ("y = x * 2\n    if x.sum() > 0:\n        y = torch.zeros(3)", True),  # on the CPU
        ("y = x * 2\n    if x.sum() > 0:\n        y = torch.zeros(3, device=x.device)", False),
        ("y = x * 2\n    if x.sum() > 0:\n        y = torch.tensor(0.0)", False),
        ("y = torch.tensor([1.0]) if x.sum() > 0 else x", True),
        ("y = torch.tensor([1.0]) if x.sum() > 0 else torch.ones(1)", False),
        ("if x.sum() > 0:\n        return self.left, x\n    return self.right, x", True),
        ("if x.sum() > 0:\n        y = x[:2] * 2\n    else:\n        y = x[:2]", False),
        ("y = x\n    if x.sum() > 0:\n        y = x[:2]\n    else:\n        y = -x[:2]", False),
        ("y = x if x >= 10 else torch.log(1 + torch.exp(x))", True),  # its gradient is NaN at 100
        ("y = x if self.left.sum() > 0 else torch.exp(x)", False),
    ],
)
def test_what_may_be_no_tensor_or_lie_elsewhere_waits_for_its_proof(body, waits):
    end = "" if "return" in body else "    return y\n"
    source = HEAD + f"def f(self, x: torch.Tensor):\n    {body}\n{end}"
    assert branch(source, to_where).waits_for_proof == waits


@pytest.mark.parametrize(
    "test", ["bool((x.amax() > 1) or (x.amin() < 0))", "not bool(x.amax() > 1 and x.amin() < 0)"]
)
def test_what_bool_is_asked_of_is_read(test):
    source = (
        HEAD + f"def f(x: torch.Tensor):\n    y = x * 2\n    if {test}:\n        y = y + 1\n    return y\n"
    )
    after = prove(source, branch(source, to_where), SIDES)
    assert not re.search(" (or|and) ", after)


@pytest.mark.parametrize("later", ["y.add_(1)", "y += 1", "y[0] = 1", "y[:, 0] += 1", "y.grad = None"])
@pytest.mark.parametrize(
    ("before", "side", "refused"), [("y = x", "y = y + 1", True), ("y = x + 1", "y = y * 2", False)]
)
def test_what_a_caller_sees_changed_is_not_replaced(later, before, side, refused):
    """Where the test is false, `y` is the caller's tensor still, which what follows changes; a copy is not."""
    source = (
        HEAD
        + f"""def f(self, x: torch.Tensor, xs, flag, n):
    {before}
    if x.sum() > 0:
        {side}
    {later}
    return y
"""
    )
    refusal = branch(source, to_where)
    assert isinstance(refusal, Refusal) is refused, refusal
    assert not refused or "changed" in refusal.reason, refusal


@pytest.mark.parametrize("body", REFUSED_BY_WHERE)
def test_where_is_refused(body):
    end = "return y + new" if body.startswith("new") else "return y"
    source = (
        HEAD
        + f"""def f(self, x: torch.Tensor, xs, flag, n):
    y = x + 1
    if x.sum() > 0:
        {body}
    y = y * 1
    if flag:
        return None
    {end}
"""
    )
    refusal = branch(source, to_where)
    assert isinstance(refusal, Refusal), refusal
    assert re.search(REFUSED_BY_WHERE[body], refusal.reason), refusal


@pytest.mark.parametrize(
    "body",
    [
        "return x[1:] if x.sum() > 0 else x",
        "if x.sum() > 0:\n        return x[:1]\n    return x",
    ],
)
def test_a_part_is_not_selected_beside_the_whole(body):
    assert "is a part of" in branch(HEAD + f"def f(x: torch.Tensor):\n    {body}\n", to_where).reason


def test_a_dtype_of_one_side_alone_is_not_selected():
    body = "if x.sum() > 0:\n        return torch.tensor(0.0, dtype=torch.float64)\n    return x.sum()"
    assert "a dtype" in branch(HEAD + f"def f(x: torch.Tensor):\n    {body}\n", to_where).reason


REFUSED_BY_COND = {
    "y[0] = 1": "element",
    "self.y = x": "attribute",
    "y += 1": "augmented",
    "y.add_(1)": "in place",
    "xs.append(x)": "in place",
    "print(x)": "effect",
    "n = 3": "not a tensor|None|plain",
    "y = y[1:]": "is a part of",
    "new = x + 1": "unbound",
    "raise ValueError": "leaves",
    "with torch.no_grad():\n            y = x": "with",
    "import math": "import",
    "global y": "global",
}


@pytest.mark.parametrize("made", ["x[x > 0]", "abs(x)[m] ** 2", "torch.masked_select(x, m).abs() / 2"])
@pytest.mark.parametrize(
    ("other", "refused"), [("x * 0.0", True), ("torch.zeros(3)", True), ("0.0", True), ("y * 2", False)]
)
def test_what_a_mask_picks_is_of_no_other_length(made, other, refused):
    """Where it is empty, torch.where gives no element either; torch.cond raises, in eager mode too."""
    source = (
        HEAD
        + f"""def f(x: torch.Tensor, other: torch.Tensor):
    m = other > 0
    y = {made}
    if not torch.any(y):
        y = {other}
    return y.mean()
"""
    )
    assert isinstance(branch(source, to_where), Refusal) is refused
    assert isinstance(branch(source, to_cond), Refusal) is refused


@pytest.mark.parametrize("other", ["torch.ones_like(x)", "torch.ones(3)", "1", "x * 2", "torch.zeros(3, 3)"])
def test_a_mask_and_numbers_are_not_selected_between(other):
    source = (
        HEAD
        + f"""def f(x: torch.Tensor):
    m = x == 0
    v = ~m if m.any() else {other}
    return x[v]
"""
    )
    assert isinstance(branch(source, to_where), Refusal)
    statement = f"    if m.any():\n        v = ~m\n    else:\n        v = {other}\n    return x[v]\n"
    assert isinstance(branch(source[: source.index("    v =")] + statement, to_where), Refusal)
    for same in ("m", "x > 2", "torch.ones_like(m)"):
        assert not isinstance(branch(source.replace(other, same), to_where), Refusal), same


@pytest.mark.parametrize("body", REFUSED_BY_COND)
def test_cond_is_refused(body):
    source = (
        HEAD
        + f"""def f(self, x: torch.Tensor, xs):
    y = x + 1
    n = 1
    if x.sum() > 0:
        {body}
    return y * n{" + new" if body.startswith("new") else ""}
"""
    )
    refusal = branch(source, to_cond)
    assert isinstance(refusal, Refusal), refusal
    assert re.search(REFUSED_BY_COND[body], refusal.reason), refusal


@pytest.mark.parametrize(
    "test",
    [
        "(x > 0).any() or flag",
        "not (flag and (x > 0).any())",
        "x is None",
        "x.sum() in xs",
        "xs.pop().any()",
        "x.isnull().any()",
        'x["a"].isna().sum() > 0',
    ],
)
def test_tests_that_are_no_tensor_are_refused(test):
    source = (
        HEAD
        + f"def f(x: torch.Tensor, flag, xs):\n    y = x + 1\n    if {test}:\n        y = -y\n    return y\n"
    )
    assert isinstance(branch(source, to_where), Refusal)
    assert isinstance(branch(source, to_cond), Refusal)


@pytest.mark.parametrize(
    "rest",
    [
        "if x.sum() > 0:\n        return x\n    if flag:\n        return x + 1\n    return x",
        "if x.sum() > 0:\n        return x\n    x = x + 1",
        "if x.sum() > 0:\n        return x, x\n    return x",
        "if x.sum() > 0:\n        return\n    return x",
        "if flag:\n        if x.sum() > 0:\n            return x\n    return x + 1",
        "for i in xs:\n        if flag:\n            if x.sum():\n                continue\n        x += i",
        "while x.sum() > 0:\n        if x.sum() > 9:\n            break\n        x = x - 1\n    return x",
    ],
)
def test_ways_out_of_the_middle_are_refused(rest):
    source = HEAD + f"def f(x: torch.Tensor, flag):\n    {rest}\n"
    code = function_code(source)
    node = next(one for one in nodes(code, cst.If) if "x.sum" in code.module.code_for_node(one.test))
    for repair in (to_where, to_cond):
        refusal = repair(code, node)
        assert isinstance(refusal, Refusal), refusal


RATE = """class M(torch.nn.Module):
    def __init__(self, rate=0.0):
        super().__init__()
        self.rate = rate
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            p = torch.rand([])
            if TEST:
                continue
            x = layer(x)
        return x * 2
"""


@pytest.mark.parametrize(
    "test", ["p < self.rate", "self.training and (p < self.rate)", "self.training and p < self.rate"]
)
def test_rate_first(test):
    source = HEAD + RATE.replace("TEST", test)
    fix = branch(source, lambda code, node: ask_rate_first(code, node.test), "forward")
    assert fix.applicability == "safe"
    prove(source, fix, SIDES, name="M", exact=True)
    # A second look finds nothing to do.
    after = source_after(source, fix)
    again = branch(after, lambda code, node: ask_rate_first(code, node.test), "forward")
    assert isinstance(again, Refusal)
    # With a rate the draw decides as before.
    source = source.replace("rate=0.0", "rate=0.5").replace("x * 2", "x * torch.rand([])")
    from tests.fixes.lab import load, run, same

    for seed in range(10):
        outcomes = []
        for text in (source, source_after(source, fix)):
            module = load(text)

            def make(module=module, seed=seed):
                torch.manual_seed(7)
                made = module.M()
                torch.manual_seed(seed)
                return made

            outcomes.append(run(make, [X]))
        assert same(*outcomes, exact=True) is None


def test_a_draw_that_is_left_out_is_not_safe():
    """What is drawn after it would be other numbers for the same seed."""
    for test, safe in (("p < self.rate", True), ("torch.rand([]) < self.rate", False)):
        source = HEAD + RATE.replace("TEST", test)
        fix = branch(source, lambda code, node: ask_rate_first(code, node.test), "forward")
        assert (fix.applicability == "safe") == safe
        assert fix.draws_otherwise != safe


@pytest.mark.parametrize(("old", "new"), [("rate=0.0", "rate=0.5"), ("self.rate = rate", "pass")])
def test_a_rate_that_nothing_says_may_be_zero_is_not_asked(old, new):
    """The break stays for every rate above zero."""
    source = HEAD + RATE.replace("TEST", "p < self.rate").replace(old, new)
    assert isinstance(branch(source, lambda code, node: ask_rate_first(code, node.test), "forward"), Refusal)


@pytest.mark.parametrize(
    "above",
    [
        "if self.rate and self.training:\n                if TEST:\n                    continue",
        "if self.rate:\n                x = x + 1 if TEST else x",
        "if not self.training or self.rate == 0.0:\n                return x\n            x = x + 1 if TEST else x",
        "if not self.rate:\n                continue\n            x = x + 1 if TEST else x",
    ],
)
def test_a_rate_that_is_asked_for_is_not_asked_again(above):
    source = HEAD + RATE.replace("if TEST:\n                continue", above).replace("TEST", "p < self.rate")
    code = function_code(source, "forward")
    tests = [one.test for one in nodes(code, cst.If) + nodes(code, cst.IfExp)]
    asked = [one for one in tests if "p <" in code.module.code_for_node(one)]
    assert [ask_rate_first(code, one) for one in asked] == [Refusal("the rate is asked for already")]


@pytest.mark.parametrize("test", ["p > self.rate", "q < self.rate", "p < 0.5"])
def test_rate_first_is_refused(test):
    source = HEAD + RATE.replace("TEST", test).replace("p = ", "q = x.sum()\n            p = ")
    assert isinstance(branch(source, lambda code, node: ask_rate_first(code, node.test), "forward"), Refusal)


@pytest.mark.parametrize("repair", [to_where, to_cond])
@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        (
            [
                "h = g(x)",
                "for one in h:",
                "    if one.isnan().any():",
                "        continue",
                "    x = x + one",
                "return x",
            ],
            True,
        ),
        (["h = x * 2", "if torch.isnan(h).any():", "    h = torch.zeros_like(x)", "return h"], True),
        (["h = x * 2", "if not torch.isfinite(h).all():", "    return x + 1", "return h + 1"], True),
        (["h = x * 2", "h = x + 1 if h.isinf().any() else h.abs()", "return h"], True),
        (["h = x * 2", "if torch.isinf(h).any():", "    h = h.clamp(max=1)", "return h"], False),
        (["h = x * 2", "if torch.isnan(h).any():", "    h = torch.nan_to_num(h)", "return h"], False),
        (["h = x * 2", "if torch.isnan(y).any():", "    h = x + 1", "return h"], False),
    ],
)
def test_a_nan_that_is_kept_off_waits_for_its_proof(lines, waits, repair):
    """What made the NaN would get a gradient of zero where it got none, and make NaN of it."""
    code = function_code(
        HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n" + "".join(f"    {n}\n" for n in lines)
    )
    fix = repair(code, (nodes(code, cst.If) or nodes(code, cst.IfExp))[0])
    assert isinstance(fix, Fix), fix
    assert fix.waits_for_proof == waits


def test_a_gradient_of_zero_where_there_was_none_is_nan():
    """What the repair that waits would do to all that learns."""
    w = torch.tensor(-1.0, requires_grad=True)
    part = w.sqrt()
    torch.where(part.isnan(), torch.zeros(()), part).backward()
    assert w.grad.isnan()


@pytest.mark.parametrize(
    ("lines", "warns"),
    [
        (["h = torch.sqrt(x)", "if x.sum() > 0:", "    h = torch.zeros_like(h)", "return h"], True),
        (["a = x.exp()", "h = a + 1", "h = h.detach() if x.sum() > 0 else h", "return h"], True),
        (["h = x / y", "if x.sum() > 0:", "    return x + 1", "return h + 1"], True),
        (["h = torch.sqrt(x)", "if x.sum() > 0:", "    h = h.clamp(min=0)", "return h"], False),
        (["h = x + 1", "if x.sum() > 0:", "    h = torch.zeros_like(h)", "return h"], False),
    ],
)
def test_a_gradient_that_is_cut_off_on_one_side(lines, warns):
    """Zero for the side not taken, instead of none, is NaN where the gradient further up is infinite."""
    code = function_code(
        HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n" + "".join(f"    {n}\n" for n in lines)
    )
    fix = to_where(code, (nodes(code, cst.If) or nodes(code, cst.IfExp))[0])
    assert isinstance(fix, Fix), fix
    assert ("NaN" in fix.description) == warns


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("x.sum().item() > 0.1", "x.sum().double() > 0.1"),
        ("float(x.sum()) > limit", "x.sum().double() > limit"),
        ("x.sum().item() > 0.25", "x.sum() > 0.25"),
        ("x.sum().item() > y.sum().item()", "x.sum() > y.sum()"),
        ("x.long().sum().item() <= limit", "x.long().sum() <= limit"),
        ("x.sum().item() > len(x)", "x.sum() > len(x)"),
    ],
)
def test_a_number_read_out_is_compared_as_precisely(test, text):
    """0.1 in float32 is more than 0.1, once it is read out."""
    source = (
        HEAD
        + f"def f(x: torch.Tensor, y: torch.Tensor, limit=0.1):\n    x = x + 1 if {test} else x * 2\n    return x\n"
    )
    code = function_code(source)
    fix = to_where(code, nodes(code, cst.IfExp)[0])
    after = prove(source, fix, [[torch.tensor([0.1]), X], [torch.tensor([0.3]), X]], exact=True)
    assert f"torch.where({text}, " in after


def test_a_number_that_a_side_replaces_is_no_operand():
    source = HEAD + (
        "def f(x: torch.Tensor, y: torch.Tensor):\n    extra = 0\n    if x.sum() > 0:\n        extra = y.sum()\n"
        "        x = x + 1\n    return x[..., : x.shape[-1] - extra]\n"
    )
    code = function_code(source)
    refusal = to_cond(code, nodes(code, cst.If)[0])
    assert isinstance(refusal, Refusal)
    assert "`extra` is not a tensor" in refusal.reason


CLIPS = """
def f(x: torch.Tensor, limit: float = 1.5):
    norm = x.norm()
    # no longer than the limit
    {test}:
        {body}  # scaled
    return x
"""


@pytest.mark.parametrize(
    ("test", "body", "expected"),
    [
        ("if norm > 1", "x = x / norm", "x = x / norm.clamp(min=1)"),
        ("if norm > limit", "x = x * limit / norm", "x = x * (limit / norm.clamp(min=limit))"),
        ("if norm > limit", "x = limit * (x / norm)", "x = x * (limit / norm.clamp(min=limit))"),
        ("if norm > limit", "x = (limit / norm) * x", "x = (limit / norm.clamp(min=limit)) * x"),
        ("if limit <= norm", "x = x / (norm / limit)", "x = x / (norm.clamp(min=limit) / limit)"),
        (
            "if norm > limit",
            "x = x * (limit / (norm + 1e-6))",
            "x = x * (limit / (norm + 1e-6)).clamp(max=1.0)",
        ),
        ("if norm < 1.0", "x = x * norm", "x = x * norm.clamp(max=1.0)"),
    ],
)
def test_a_scaling_down_to_a_limit(test: str, body: str, expected: str) -> None:
    source = HEAD + CLIPS.format(test=test, body=body)
    new = prove(source, branch(source, to_clamp), SIDES)
    assert f"    # no longer than the limit\n    {expected}  # scaled\n" in new


def test_scalings_in_a_loop() -> None:
    source = """import torch


def f(grads, norm: torch.Tensor):
    factor = 2.0 / norm
    if factor < 1:
        for grad in grads:
            if grad is not None:
                grad.mul_(factor)
    return grads
"""
    found = branch(source, to_clamp)
    new = prove(source, found, [[[torch.ones(2), None], torch.tensor(n)] for n in (1.0, 4.0)])
    assert (
        "for grad in grads:\n        if grad is not None:\n            grad.mul_(factor.clamp(max=1))\n"
        in new
    )
    assert found.waits_for_proof
    parameters = source.replace("grad in grads", "p in ps").replace("grad.mul_", "p.grad.mul_")
    assert not branch(parameters, to_clamp).waits_for_proof


@pytest.mark.parametrize(
    ("test", "body"),
    [
        ("if norm > limit", "x = x / norm"),  # not one at the limit
        ("if norm > 1", "x = x * norm"),
        ("if norm < limit", "x = x * (limit / norm)"),
        ("if norm > limit and limit > 0", "x = x * (limit / norm)"),
        ("if norm > limit", "x = norm / x"),
        ("if norm > limit", "x = x * (limit / norm); y = 1"),
        ("if norm > limit", "limit = limit * (limit / norm)"),
        ("if norm > 1", "norm = norm / norm"),
    ],
)
def test_no_scaling_down_to_a_limit(test: str, body: str) -> None:
    assert isinstance(branch(HEAD + CLIPS.format(test=test, body=body), to_clamp), Refusal)


MAYBE_NONE = """import torch


class Net(torch.nn.Module):
    def __init__(self, scaled):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1)) if scaled else None
        self.shift = torch.nn.Parameter(torch.ones(1))

    def forward(self, x, weight=None):
        BODY
        return x
"""


@pytest.mark.parametrize(
    ("body", "tested", "after"),
    [
        ("if self.scale: x = -x  # scaled", "self.scale", "if self.scale is not None: x = -x  # scaled"),
        ("if not self.scale: x = -x", "self.scale", "if self.scale is None: x = -x"),
        ("if x.dim() > 1 and weight: x = -x", "weight", "if x.dim() > 1 and weight is not None: x = -x"),
        ("x = x if weight else -x", "weight", "x = x if weight is not None else -x"),
        ("if self.shift: x = -x", "self.shift", None),  # never None
        ("if weight is not None and weight: x = -x", "weight", None),  # its value is asked for
        ("if weight > 0: x = -x", "weight > 0", None),
    ],
)
def test_whether_there_is_a_tensor(body: str, tested: str, after: str | None):
    text = MAYBE_NONE.replace("BODY", body)
    code = function_code(text, "forward")
    found = [one for one in nodes(code, cst.BaseExpression) if code.module.code_for_node(one) == tested]
    first, *more = fixes(code, found[-1]) or [None]
    if after is None:
        assert first is None or "is there" not in first.description
    else:
        assert not more
        assert applied(text, first) == MAYBE_NONE.replace("BODY", after)


def test_comments_stay_above_what_they_speak_of():
    source = (
        "import torch\n\n\ndef f(xs: torch.Tensor):\n    total = xs.new_zeros(3)\n    other = xs.new_zeros(3)\n"
        "    for row in xs:\n        if not bool((xs > 0).any()):\n            continue\n        # why\n"
        "        total = total + row\n        other = other + row * 2  # twice\n    return total + other\n"
    )
    after = applied(source, branch(source, to_where))
    assert "        # why\n        total = " in after
    assert "other)  # twice\n" in after
