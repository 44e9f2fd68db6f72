"""Guards, numbers, masks, prints, copies and the rest: each repair under the real Dynamo, each refusal."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst
import pytest
import torch

from pt2lint.finding import Fix
from pt2lint.fixes.edit import checked
from pt2lint.fixes.kinds import guess
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs import copying, disable, guard, host, mask, printing, rate, scalar, where
from pt2lint.fixes.repairs.hoist import before_loop
from pt2lint.fixes.repairs.settings import capture_scalars, capture_shapes
from pt2lint.op import Op
from tests.fixes.lab import NO_PROJECT, applied, breaks, calls, function_code, load, nodes, prove

HEAD = """import copy
import logging
import random
import warnings

import torch

logger = logging.getLogger()


"""
X = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
P = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
DEF = "def f(x: torch.Tensor):\n    "


def first(source, kind, repair, name="f"):
    code = function_code(source, name)
    return repair(code, nodes(code, kind)[0])


GUARDS = [
    'if not (x > 0).all():\n        raise ValueError("must be positive")  # says who\n    return x + 1',
    "if (x <= 0).any():\n        raise ValueError\n    return x + 1",
    'if torch.isnan(x).any():\n        raise AssertionError("nan")\n    return x + 1',
    'if (x <= 0).any():\n        raise ValueError(f"bad {x} of {x.shape}")\n    return x + 1',
    'if x.dim() == 1 and (x <= 0).any():\n        raise ValueError("a" "b")\n    return x + 1',
    "if (x <= 0).any():\n        raise ValueError('a (' \"(b)\" f\"c)) {x.dim()} {x}\" 'd')\n    return x + 1",
    'if x.min().item() <= 0:\n        raise ValueError("low")\n    return x + 1',
]


@pytest.mark.parametrize("body", GUARDS)
def test_raise_to_assert(body):
    fix = first(HEAD + DEF + body, cst.If, guard.raise_to_assert)
    assert fix.applicability == "unsafe"
    prove(HEAD + DEF + body, fix, [[P]])
    prove(HEAD + DEF + body, fix, [[X]], errors_alike=False)


def test_a_message_that_is_no_text_stays_in_eager_mode():
    body = "assert (x > 0).all(), x\n    return x + 1"
    fix = first(HEAD + DEF + body, cst.Assert, guard.assert_in_graph)
    after = prove(HEAD + DEF + body, fix, [[P]])
    assert 'torch._assert_async((x > 0).all(), "(x > 0).all()")' in after
    assert "assert (x > 0).all(), x" in after


@pytest.mark.parametrize(
    ("asserted", "said"),
    [
        ('(\n        x.sum()\n        == 6\n    ), f"{x} is off"', '"... is off"'),
        ('(\n        x.sum()\n        == 6\n    ), f"{x.sum()} != 6"', '"x.sum() == 6"'),
        (
            'not (x.max() > 9 or x.min() < 0), f"{x.max()} > 9 or {x.min()} < 0"',
            '"not (x.max() > 9 or x.min() < 0)"',
        ),
        ('(x.sum() == 6), f"six is asked: {x.sum()} < {x.max()}"', '"six is asked"'),
        ('(x.sum() == 6), f"no six ({x} of {x.max()})."', '"no six"'),
        ('(x.sum() == 6), f"no six: {x}"', '"no six"'),
        ('(x.sum() == 6), f"no six: {x.tolist()}, at: {x}"', '"no six"'),
        ('(x.sum() == 6), f"no six, got sum={x}"', '"no six"'),
        ('(x.sum() == 6), f"sums: {x} are not six"', '"sums: ... are not six"'),
        ('(x.sum() == 6), f"all of them in (0, {x})"', '"all of them in"'),
        (
            '(x.sum() == 6), "the sums must be six, " f"but found: the_sums: {x.sum()}, " f"of {x}."',
            '"the sums must be six"',
        ),
    ],
)
def test_where_a_message_is_nothing_but_values_the_graph_says_what_did_not_hold(asserted, said):
    source = f"{HEAD}{DEF}assert {asserted}\n    return x + 1"
    after = prove(source, first(source, cst.Assert, guard.assert_in_graph), [[P]])
    assert f"{said})" in after or f"{said},\n" in after


@pytest.mark.parametrize(("asserted", "waits"), [("k * n == 12", False), ("n > 1", True)])
def test_a_number_beside_a_tensor_of_the_function_needs_no_proof(asserted: str, waits: bool) -> None:
    body = f"k = x.sum()\n    assert {asserted}, f'{{n}}'\n    return x + 1"
    code = function_code(f"{HEAD}def f(x: torch.Tensor, n: int):\n    {body}")
    fix = guard.assert_in_graph(code, nodes(code, cst.Assert)[0])
    assert isinstance(fix, Fix)
    assert fix.waits_for_proof is waits


def test_assertions_in_a_row_ask_once_whether_it_is_compiled():
    rows = 'assert (x > 0).all(), f"{x}"  # one\n    # two\n    assert (x < 9).all(), f"{x}"\n    assert x.dim() == 1'
    source = HEAD + DEF + f"{rows}\n    return x + 1\n"
    code = function_code(source)
    one, other = (guard.assert_in_graph(code, each) for each in nodes(code, cst.Assert)[:2])
    assert one == other
    after = prove(source, one, [[P]])
    assert after.count("is_compiling()") == 1
    assert '  # one\n        # two\n        assert (x < 9).all(), f"{x}"\n    assert x.dim() == 1\n' in after


def test_what_is_raised_for_somebody_who_catches_it():
    body = "for i in range(3):\n        if x.sum() > i:\n            raise Found(x, i)\n    return x + 1"
    code = HEAD + "class Found(Exception):\n    pass\n\n\n" + DEF + body
    assert isinstance(first(code, cst.If, guard.raise_in_eager), Refusal)
    said = code.replace("Found(x, i)", "Found('it is there', x)")
    assert isinstance(first(said, cst.If, guard.raise_in_eager), Fix)
    at_entry = code.replace("for i in range(3)", "with torch.no_grad()")
    assert isinstance(first(at_entry, cst.If, guard.raise_in_eager), Fix)


def test_a_message_with_values_stays_in_eager_mode():
    body = 'if (x <= 0).any():\n        raise AssertionError(f"bad {x}")\n    return x + 1'
    after = prove(HEAD + DEF + body, first(HEAD + DEF + body, cst.If, guard.raise_to_assert), [[P]])
    assert 'elif (x <= 0).any():\n        raise AssertionError(f"bad {x}")\n' in after


@pytest.mark.parametrize(
    "body", ["assert (n > 0).all() & (n < 9).all(), f'{n}'", "if n > 9:\n        raise ValueError('n')"]
)
def test_an_argument_that_is_told_to_be_a_number_waits_for_proof(body):
    for word, waits in (("int", True), ("torch.Tensor", False)):
        code = function_code(HEAD + f"def f(x, n: {word}):\n    {body}\n    return x + 1\n")
        test = (nodes(code, cst.If) or nodes(code, cst.Assert))[0].test
        code.kinds = lambda code=code, test=test: {
            code.range(test): "tensor:bool",
            code.range(nodes(code, cst.Comparison)[0].left): "tensor",
        }
        [fix] = guard.fixes(code, test)
        assert fix.waits_for_proof == waits


NAMED_CHECK = 'low = x.min().item() <= 0\n    if low:\n        raise ValueError("low")\n    return x + 1'


def test_a_check_by_name():
    source = HEAD + DEF + NAMED_CHECK
    code = function_code(source)
    fix = guard.named_check(code, calls(code, "x.min().item"))
    prove(source, fix, [[P]])
    prove(source, fix, [[X]], errors_alike=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    if", "\n    x = x + 1\n    if"),
        ("return x", "return x + low"),
        ("if low", "if not low"),
        ("<= 0", "<= 0 and x.dim() == 1"),
    ],
)
def test_other_names_are_left(old, new):
    code = function_code(HEAD + DEF + NAMED_CHECK.replace(old, new))
    assert isinstance(guard.named_check(code, calls(code, "x.min().item")), Refusal)


@pytest.mark.parametrize(
    "body",
    [
        "if (x < 0).any():\n        x = x + 1\n        raise ValueError",
        "if (x < 0).any():\n        raise ValueError\n    else:\n        x = x + 1",
        "if x.dim() == 1:\n        pass\n    elif (x < 0).any():\n        raise ValueError",
        "if (x < 0).any():\n        raise ValueError from None",
        "if (x < 0).any():\n        raise",
        "if (x < 0).any():\n        raise ValueError(x)",
        "if x.dim() > 1:\n        raise ValueError",
        "if (x < 0).any() or x.dim() > 1:\n        raise ValueError",
    ],
)
def test_raise_to_assert_is_refused(body):
    code = function_code(HEAD + DEF + body + "\n    return x\n")
    found = nodes(code, cst.If)
    assert isinstance(guard.raise_to_assert(code, found[-1]), Refusal)


def test_split_assert_with_a_message():
    test = "assert x.min() > -9 and x.max() < n, 'out of range'"
    source = HEAD + DEF.replace("Tensor", "Tensor, n=9") + f"{test}  # both\n    return x + 1\n"
    fix = first(source, cst.Assert, guard.split_assert)
    assert fix.applicability == "safe"
    after = prove(source, fix, [[X], [X.detach() * 0 + 99]], errors_alike=False)
    assert "    assert (x.min() > -9) & (x.max() < n), 'out of range'  # both\n" in after
    for other in ("n > 3 and x.max() < n", "x.min() > -9 and m.max() < n", "x.min() > -9 and x.all()"):
        code = function_code(source.replace("n=9", "m, n=9").replace("x.min() > -9 and x.max() < n", other))
        assert guard.split_assert(code, nodes(code, cst.Assert)[0]).edits[0].text.count("'out of range'") == 2


def test_split_assert():
    source = HEAD + DEF + 'assert (x < 9).all() and (x > -9).all(), "range"  # both\n    return x + 1\n'
    fix = first(source, cst.Assert, guard.split_assert)
    assert fix.applicability == "safe"
    after = prove(source, fix, [[X]])
    assert after.count("# both") == 1
    for test in ("(x < 9).all() or (x > -9).all()", "(x < 9).all()"):
        assert isinstance(first(HEAD + DEF + f"assert {test}\n", cst.Assert, guard.split_assert), Refusal)
    refusal = first(HEAD + DEF + 'assert x.any() and x.all(), f"{x}"\n', cst.Assert, guard.split_assert)
    assert "constant" in refusal.reason


@pytest.mark.parametrize(
    ("check", "after"),
    [
        (
            '_check(x.numel() > 2, lambda: f"few: {x.shape}")',
            "if x.numel() <= 2:\n        raise RuntimeError(f",
        ),
        (
            '_check_value(x.dtype != x.T.dtype, lambda: f"{x}")',
            "if x.dtype == x.T.dtype:\n        raise ValueError(f",
        ),
        (
            "_check_with(E, not x.is_cuda and x.numel() > 1, lambda: str(x))",
            "if not (not x.is_cuda and x.numel() > 1):\n",
        ),
        ('_check_index(not x.is_cuda, lambda: (f"{x}"))', "if x.is_cuda:\n        raise IndexError(f"),
    ],
)
def test_raise_by_hand(check, after):
    source = (
        HEAD + f"E = KeyError\n\n\ndef f(x: torch.Tensor):\n    # why\n    torch.{check}\n    return x + 1\n"
    )
    code = function_code(source)
    [call] = [node for node in nodes(code, cst.Expr) if "_check" in code.module.code_for_node(node)]
    code.kinds = lambda: {code.range(calls(code, "x.numel")): "int"} if "few" in check else {}
    fixed = prove(source, guard.fixes(code, call.value)[0], [[X], [X.detach()[:1]]], errors_alike=False)
    assert f"    # why\n    {after}" in fixed
    for other in (f"y = torch.{check}", f"torch.{check}; y = 1", "torch._check(x.dim() > 1)"):
        code = function_code(source.replace(f"torch.{check}", other))
        [call] = [
            node
            for node in nodes(code, cst.Call)
            if code.module.code_for_node(node.func).startswith("torch._check")
        ]
        assert not guard.fixes(code, call)


@pytest.mark.parametrize(
    "test",
    [
        "x.max().item() <= 4",
        '(x < 9).all() or (x > -9).all(), "range"',
        'not (x > 9).any(), f"{x.shape} {x}"',
        'torch.allclose(x, x.clamp(max=9), atol=1e-3), "range"',
        'not torch.allclose(x, x + 9 * (x < 9)), f"{x}"',
    ],
)
def test_assert_in_graph(test):
    source = HEAD + DEF + f"assert {test}\n    return x + 1\n"
    prove(source, first(source, cst.Assert, guard.assert_in_graph), [[X]])
    prove(
        source, first(source, cst.Assert, guard.assert_in_graph), [[X.detach() * 9 + 99]], errors_alike=False
    )


@pytest.mark.parametrize(
    ("asserted", "made"),
    [
        ("not given.any()", "given.any() == 0"),
        ("not (given.any() or given.all())", "~((given.any() != 0) | (given.all() != 0))"),
        ("not given.bool().any()", "~given.bool().any()"),
        ("not (given > 1).any()", "~(given > 1).any()"),
    ],
)
def test_bytes_are_not_turned_round(asserted, made):
    """`any` of bytes is a byte, and `~` of 1 is 254."""
    source = HEAD + f"def f(given: torch.Tensor):\n    assert {asserted}\n    return given + 1\n"
    fix = first(source, cst.Assert, guard.assert_in_graph)
    assert f"assert {made}\n" in applied(source, fix)
    none = torch.zeros(2, dtype=torch.uint8)
    prove(source, fix, [[none]])
    prove(source, fix, [[none + 2]], errors_alike=False)
    raises = asserted.removeprefix("not ")
    source = (
        HEAD + f"def f(given: torch.Tensor):\n    if {raises}:\n        raise ValueError\n    return given\n"
    )
    assert f"torch._assert_async({made}, " in applied(source, first(source, cst.If, guard.raise_to_assert))


def test_the_message_of_an_assertion_stays_as_it_stands():
    source = (
        HEAD + "def f(given):\n    assert not given.any(), (\n        'none'\n    )\n    return given + 1\n"
    )
    after = applied(source, first(source, cst.Assert, guard.assert_in_graph))
    assert "    assert given.any() == 0, (\n        'none'\n    )\n" in after


def test_what_a_message_reads_ends_the_graph_before():
    source = HEAD + DEF + "most = x.max().item()\n    assert (x < 9).all(), {}\n    return x + 1\n"
    for message in ("say(most)", "f'at most {most}'"):
        code = function_code(source.replace("{}", message, 1))
        assert isinstance(guard.assert_in_graph(code, nodes(code, cst.Assert)[0]), Refusal)


@pytest.mark.parametrize(
    "test", ["x.dim() == 1", "x.sum() > -99", '(x > len("\'")).any(), x', "x.any() and x.dim() == 1"]
)
def test_assert_in_graph_is_refused(test):
    source = HEAD + DEF + f"assert {test}\n    return x + 1\n"
    code = function_code(source)
    found = guard.assert_in_graph(code, nodes(code, cst.Assert)[0])
    assert isinstance(found, Refusal), found


@pytest.mark.parametrize(
    ("parameter", "refused"),
    [("flags=None", True), ("flags: torch.Tensor | None", True), ("flags: torch.Tensor", False)],
)
def test_an_argument_that_may_be_none_is_no_number(parameter, refused):
    """`not None` is true, and `None == 0` is not."""
    for asked, expected in (("", refused), ("if flags is not None:\n        x = x + 1\n    ", False)):
        code = function_code(
            HEAD + f"def f(x, {parameter}):\n    {asked}assert not flags\n    return x + 1\n"
        )
        check = nodes(code, cst.Assert)[0]
        code.kinds = lambda code=code, check=check: {code.range(check.test.expression): "tensor"}
        assert isinstance(guard.assert_in_graph(code, check), Refusal) == expected


def test_what_may_be_none_is_not_selected():
    body = "if x.sum() > 0:\n        y = y * x if y is not None else None\n    return x, y\n"
    code = function_code(HEAD + "def f(x: torch.Tensor, y=None):\n    " + body)
    assert isinstance(where.to_where(code, nodes(code, cst.If)[0]), Refusal)


def test_a_number_that_is_stored_is_not_selected():
    for use, refused in (("seen['a'] = n", True), ("x = x * n", False)):
        source = (
            HEAD
            + DEF
            + f"seen = {{}}\n    n = 0.0 if x.std() == 0 else float(x.std())\n    {use}\n    return x\n"
        )
        code = function_code(source)
        assert isinstance(where.to_where(code, nodes(code, cst.IfExp)[0]), Refusal) == refused


def test_a_test_on_several_lines_is_broken_anew():
    source = HEAD + DEF + 'assert (x == 2).sum() >= x.shape[\n        0\n    ], f"{x}"\n    return x\n'
    fix = first(source, cst.Assert, guard.assert_in_graph)
    assert "torch._assert_async((x == 2).sum() >= x.shape[0], " in applied(source, fix)
    for kept in ("x.sum()  # all", "torch.add(\n        x.sum(),  # all\n        1,\n    )"):
        source = HEAD + DEF + f'assert (\n        {kept}\n        >= 2\n    ), f"{{x}}"\n    return x\n'
        fix = first(source, cst.Assert, guard.assert_in_graph)
        copied = (
            kept.replace("\n        ", "")
            .replace("1,\n    ", "1")
            .replace("  # all", "")
            .replace(",1", ", 1")
        )
        assert f"torch._assert_async({copied} >= 2, " in applied(source, fix)


OF_A_MODULE = """class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = torch.nn.Parameter(torch.tensor(2.0), requires_grad=False)
        self.scale = torch.nn.Parameter(torch.tensor(2.0))
        self.steps = torch.Tensor([1.0, 0.5, 0.2])
        self.register_buffer("ones", torch.ones(3))

    def forward(self, x: torch.Tensor):
        return {}


f = Model()
"""


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("self.gamma.item() - x", "self.gamma - x"),
        ("self.scale.item() - x", "self.scale.detach() - x"),
        ("self.ones * x.max().item()", "self.ones * x.max().detach()"),
        ("x.gt(x.max().item()) * x", "x.gt(x.max()) * x"),
        ("self.steps * x.max().item()", ""),  # which stays on the CPU
    ],
)
def test_numbers_beside_what_a_module_keeps(body, written):
    source = HEAD + OF_A_MODULE.format(body)
    code = function_code(source, "forward")
    [call] = [one for one in nodes(code, cst.Call) if code.module.code_for_node(one).endswith(".item()")]
    fix = scalar.keep_tensor(code, call, lambda node: "tensor:float")
    assert isinstance(fix, Fix if written else Refusal)
    if written:
        assert written in applied(source, fix)


NUMBERS = [
    ("return x / x.abs().max().item()", "x.abs().max().item"),
    ("scale = x.abs().max().item() + 1\n    return x * scale - scale", "x.abs().max().item"),
    ("return x * float(x.sum())", "float"),
    ("# of `x.sum()`, not max()\n    n = x.sum().item()\n    return x / n", "x.sum().item"),
    ("limit = x.mean().item()\n    return torch.clamp(x, max=limit)", "x.mean().item"),
    ("return x * -(x > 0).sum().item()", "(x > 0).sum().item"),
    (
        "n = torch.zeros(2, 3)\n    for i in range(2):\n        n[i, 1:] = (x > 0).sum().item()\n"
        "    return x + n[:, 1:].sum()",
        "(x > 0).sum().item",
    ),
]


@pytest.mark.parametrize(("body", "call"), NUMBERS)
def test_keep_tensor(body, call):
    source = HEAD + DEF + body + "\n"
    code = function_code(source)
    after = prove(source, scalar.keep_tensor(code, calls(code, call)), [[X], [P]])
    assert (".detach()" in after) == ("> 0).sum()" not in body)
    assert ".clone()" not in after


@pytest.mark.parametrize(
    "body",
    [
        "y = x * 2\n    old = y[0].item()\n    y.view(-1)[0] = 5.0\n    return y * old",
        "y = x * 2\n    z = y.view(3)\n    for i in range(2):\n        z[i] += 5.0\n        old = y[i].item()\n"
        "        z[i] = old - 1\n        x = x + z[i] * 2 + old\n    return x",
    ],
)
def test_a_number_that_is_kept_stays_what_it_was(body):
    source = HEAD + DEF + body + "\n"
    code = function_code(source)
    (call,) = [one for one in nodes(code, cst.Call) if scalar.callee(one) == "item"]
    assert ".clone()" in prove(
        source, scalar.keep_tensor(code, call, lambda node: "tensor:float"), [[X], [P]]
    )


@pytest.mark.parametrize(
    ("read", "written"), [("x.sum()", "x.sum()"), ("x[0]", "x[0]"), ("x[:1].view(())", ".view(()).detach()")]
)
def test_what_is_made_without_gradients_is_not_detached(read, written):
    source = HEAD + DEF + f"with torch.no_grad():\n        n = {read}.item()\n    return x / n\n"
    code = function_code(source)
    fix = scalar.keep_tensor(code, calls(code, f"{read}.item"))
    assert f"{written}\n    return" in prove(source, fix, [[X], [P]])


@pytest.mark.parametrize(
    "body",
    [
        "return x + 1 if x.sum().item() > 0 else x",
        "n = x.sum().item()\n    return x.reshape(n)",
        "n = x.sum().item()\n    n = n + x\n    return n",
        "n = x.sum().item()",
        "n = x.sum().item()\n    if n > 3:\n        x = -x\n    return x, n",
        "return x * int(x.sum())",
        "return x * y.item().z",
        "return unknown * x.sum().item()",
        "return foo(x.sum().item())",
        "n = torch.zeros(3)\n    n[x > 0] = x.sum().item()\n    return n",
        "n = {}\n    n[0] = x.sum().item()\n    return n",
        "n = torch.zeros(3)\n    n[0] += x.sum().item()\n    return n",  # which may lie on another device
        "# ``.item()`` is what the paper's code does,\n    # in float64\n    n = x.sum().item()\n    return x / n",
        "return x / x.sum().item()  # item() waits",
        "# Tensor.item makes it float64\n    return x / x.sum().item()",
    ],
)
def test_keep_tensor_is_refused(body):
    code = function_code(HEAD + DEF + body + "\n")
    call = next(
        node
        for node in nodes(code, cst.Call)
        if code.module.code_for_node(node.func) in ("x.sum().item", "int", "y.item")
    )
    assert isinstance(scalar.keep_tensor(code, call), Refusal)


@pytest.mark.parametrize(
    "body",
    [
        "return (x.sum().item() + 1e-6) * 2",
        "n = x.sum().item()\n    return [n * x, n]",
        "return x, {'sum': x.sum().item()}",
    ],
)
def test_a_number_that_is_returned_is_told(body):
    code = function_code(HEAD + DEF + body + "\n")
    code.kinds = lambda: {code.range(one): "float" for one in nodes(code, cst.Float | cst.Integer)}
    fix = scalar.keep_tensor(code, calls(code, "x.sum().item"))
    assert isinstance(fix, Fix)
    assert fix.by_hand
    assert not fix.is_workaround
    assert "x.sum().detach()" in applied(HEAD + DEF + body + "\n", fix)


GIVEN_ON = """class Criterion(torch.nn.Module):
    def boxes(self, x, n):
        return x.abs().sum() / n

    def forward(self, x: torch.Tensor):
        n = len(x) + 1
        n = torch.as_tensor([n], dtype=torch.float, device=x.device)
        n = torch.clamp(n / 2, min=1).item()
        total = x.sum() * 0
        for loss in ("a", "b"):
            given = n if loss == "a" else 2.0
            total = total + self.boxes(x, given)
        {}return total


f = Criterion()
"""


def test_a_number_that_others_divide_by_may_stay_a_tensor():
    source = HEAD + GIVEN_ON.format("")
    code = function_code(source, "forward")
    fix = scalar.keep_for_others(code, calls(code, "torch.clamp(n / 2, min=1).item"), guess(code))
    assert isinstance(fix, Fix)
    assert fix.by_hand
    assert "n = torch.clamp(n / 2, min=1).squeeze()" in prove(source, replace(fix, by_hand=False), [[X], [P]])


@pytest.mark.parametrize(
    "use",
    [
        "if n > 1:\n            pass\n        ",
        "print(n)\n        ",
        "x = x[n]\n        ",
        "self.n = n\n        ",
    ],
)
def test_a_number_of_which_python_wants_more_stays_one(use):
    code = function_code(HEAD + GIVEN_ON.format(use), "forward")
    fix = scalar.keep_for_others(code, calls(code, "torch.clamp(n / 2, min=1).item"), guess(code))
    assert isinstance(fix, Refusal)


def test_scalar_fixes_repair_what_is_around():
    for body, word in (
        ("if x.sum().item() > 0:\n        x = -x\n    return x", "torch.where"),
        ("assert x.sum().item() > 0\n    return x", "Assert"),
        ("return x.sum().item()", "callers"),
        ("return foo(x.sum().item())", "setting"),
    ):
        code = function_code(HEAD + DEF + body)
        found = scalar.fixes(code, calls(code, "x.sum().item"))
        assert word in found[0].description


def test_scalar_capture():
    source = HEAD + "def f(x):\n    return x * x.sum().item()\n"
    before = torch._dynamo.config.capture_scalar_outputs
    try:
        assert breaks(lambda: load(source).f, [X])
        after = applied(source, capture_scalars(function_code(source)))
        assert not breaks(lambda: load(after).f, [X])
    finally:
        torch._dynamo.config.capture_scalar_outputs = before


def test_shape_capture():
    source = "from torch import nn\n\n\ndef f(x):\n    return x[x > 0] + 1\n"
    before = torch._dynamo.config.capture_dynamic_output_shape_ops
    try:
        assert breaks(lambda: load(source).f, [X])
        after = applied(source, capture_shapes(function_code(source)))
        assert after.startswith("import torch\n")
        assert not breaks(lambda: load(after).f, [X])
    finally:
        torch._dynamo.config.capture_dynamic_output_shape_ops = before


def test_settings_stand_together():
    source = "import torch\n\ndef f(x):\n    return x[x > 0] + x.sum().item()\n"
    after = applied(source, capture_shapes(function_code(source)))
    after = applied(after, capture_scalars(function_code(after)))
    settings = "".join(
        f"torch._dynamo.config.{name} = True\n"
        for name in ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")
    )
    assert after.startswith(f"import torch\n\n{settings}\ndef f(x):\n")


@pytest.mark.parametrize("call", ["sum", "mean", "prod", "any", "all"])
def test_masked_reduction(call):
    for expression in (f"x[x > 0].{call}()", f"torch.{call}(x[m])", f"x.masked_select(m).{call}()"):
        source = HEAD + DEF + f"m = x > 0\n    return x.sum() + {expression}\n"
        code = function_code(source)
        node = nodes(code, cst.Subscript)[0] if "[" in expression else calls(code, "x.masked_select")
        fix = mask.reduce_where(code, node)
        nan = torch.tensor([float("nan"), 1.0, -1.0], requires_grad=True)
        prove(source, fix, [[X], [-P.detach()], [nan]] if call != "mean" else [[X], [P]])


@pytest.mark.parametrize(
    "expression",
    [
        "x[m].sum(0)",
        "x[m]",
        "x[m].max()",
        "x[m] + 1",
        "x[m].numel()",
        "x[:, m].sum()",
        "x.pop()[m].sum()",
        "x[0].sum()",
    ],
)
def test_masked_reduction_is_refused(expression):
    code = function_code(HEAD + DEF + f"m = x > 0\n    return {expression}\n")
    found = nodes(code, cst.Subscript)
    assert all(isinstance(mask.reduce_where(code, node), Refusal) for node in found)


@pytest.mark.parametrize(
    "statement",
    [
        "y[m] = x[m] * 2",
        "y[m] -= 1",
        "y[m] *= x[m].abs()",
        "y[m] *= -1",
        "y[m] /= 2",
        "y[m] = -x[m] + y[m]",
        "y[x > 0] = x[x > 0]",
    ],
)
def test_masked_assignment(statement):
    source = HEAD + DEF + f"y = x * 3\n    z = y.view(-1)\n    m = x > 0\n    {statement}\n    return y, z\n"
    code = function_code(source)
    kind = (
        cst.AugAssign if "= " in statement and statement[5] != "=" and "] =" not in statement else cst.Assign
    )
    found = [node for node in nodes(code, kind) if "[" in code.module.code_for_node(node)]
    after = prove(source, mask.assign_where(code, found[0]), [[X], [-P.detach()], [P]])
    assert ("clone" in after) == ("x[m].abs()" in statement), after


@pytest.mark.parametrize(
    ("statement", "other", "own"),
    [
        ("y[y > 0] -= 1", "", True),
        ("y[y > 0] = -y[y > 0]", "y = x.abs() + 1", True),
        ("y[y > 0] -= 1", "z = y", False),
        ("y[y > 0] -= 1", "z = y[:1]", False),
        ("y[y > 0] -= 1", "z = y.view(-1)", False),
        ("y[y > 0] -= 1\n    z = y.view(-1)", "", True),
        ("for _ in range(2):\n        y[y > 0] -= 1\n        z = y.view(-1)", "", False),
        ("y[y > 0] -= 0.5", "", False),  # of whole numbers it would be another dtype
        ("y[y > 0] = x[y > 0].abs()", "", False),
        ("y[y > 0] += 1", "y = torch.arange(3).repeat(2).reshape(2, 3)", False),
        ("y[y > 0] += 1", "y = torch.stack([torch.arange(3), torch.arange(3)]).reshape(3, 2)", True),
        ("y[y > 0] += 1", "y = torch.zeros_like(x, dtype=torch.long)\n    z = x[y]", True),
    ],
)
def test_masked_assignment_of_an_own_tensor(statement, other, own):
    source = HEAD + DEF + f"y = x * 3\n    {other or 'pass'}\n    {statement}\n    return y, 1\n"
    code = function_code(source)
    kind = cst.Assign if " = " in statement and "-=" not in statement else cst.AugAssign
    [node] = [one for one in nodes(code, kind) if "[y" in code.module.code_for_node(one)]
    after = prove(source, mask.assign_where(code, node), [[X.detach()], [P]])
    assert ("    y = torch.where(" in after) == own, after


@pytest.mark.parametrize(
    "statement",
    [
        "y[m] = 1",
        "y[m] = x.sum()",
        "y[m] = x",
        "y[m] = x[k]",
        "y[m] = foo(x[m])",
        "y[m] = x[m] @ x",
        "y[m] = x[m].cumsum(0)",
        "y[0] = x.sum()",
        "y[m, 0] = x.sum()",
        "y[x.argmax()] = x.sum()",
        "y.pop()[m] = x[m]",
        "y[m] = x[m]; z = 1",
    ],
)
def test_masked_assignment_is_refused(statement):
    code = function_code(
        HEAD + DEF + f"y = x * 3\n    m = x > 0\n    k = x < 0\n    {statement}\n    return y\n"
    )
    found = [n for n in nodes(code, cst.Assign) if isinstance(n.targets[0].target, cst.Subscript)]
    found_ = mask.assign_where(code, found[0])
    assert isinstance(found_, Refusal), found_


@pytest.mark.parametrize(
    "call",
    [
        'print("hello")',
        'print("x", x, 3, 0.5)',
        'print(x.sum(), x.dtype, "it\'s")',
        'print(f"mean {x.mean():.3f} of {x} {x.dtype}")',
        'print(f"mean {x.mean().item():.3f}")',
    ],
)
def test_print_in_graph(call):
    source = HEAD + DEF + f"{call}\n    return x + 1\n"
    code = function_code(source, path=NO_PROJECT)
    prove(source, printing.print_in_graph(code, calls(code, "print")), [[X.detach()]])


@pytest.mark.parametrize(
    "call",
    [
        "print(x.shape)",
        "print(x.sum().item())",
        'print(f"{x[:1].item():.3f}")',  # only without dimensions it can be formatted so
        'print(f"{x.shape}")',
        'print(x, end="")',
        "print(*x)",
        "print()",
        "print(unknown)",
        'print("{}")',
        'print("\\t")',
        "print(\"'\", '\"')",
        'print(f"{x=}")',
    ],
)
def test_print_in_graph_is_refused(call):
    code = function_code(HEAD + DEF + f"{call}\n    return x + 1\n")
    assert isinstance(printing.print_in_graph(code, calls(code, "print")), Refusal)


def test_print_in_graph_needs_a_torch_that_has_it():
    code = function_code(HEAD + DEF + "print(x)\n")
    code.target = (2, 9)
    assert "2.13" in printing.print_in_graph(code, calls(code, "print")).reason


@pytest.mark.parametrize(
    ("call", "name", "setting"),
    [
        ('warnings.warn("w")', "warnings.warn", "reorderable_logging_functions"),
        ('logging.info("w")', "logging.info", "ignore_logging_functions"),
        ('logger.warning("w")', "logging.Logger.warning", "ignore_logger_methods"),
    ],
)
def test_logging_settings(call, name, setting):
    source = HEAD + DEF + f"{call}\n    return x + 1\n"
    code = function_code(source)
    node = calls(code, call.partition("(")[0])
    code.ops = (Op(f"call {name}", *code.range(node)),)
    fix = printing.keep_logging(code, node)
    assert fix.description.startswith("Workaround, a setting")
    with torch._dynamo.config.patch(**{setting: getattr(torch._dynamo.config, setting)}):
        assert breaks(lambda: load(source).f, [X])
        after = applied(source, fix)
        assert not breaks(lambda: load(after).f, [X]), after


SHARED = """import {library}
import torch


class Shift:
    def arrays(self, image):
        return self.wrap({call}(image))

    def tensors(self, image: torch.Tensor):
        return self.wrap(image + 1)

    def wrap(self, h{annotation}):
        h[h >= 360.0] -= 360.0
        return h
"""


@pytest.mark.parametrize(
    ("library", "call", "annotation", "offered"),
    [
        ("numpy as np", "np.asarray", "", False),
        ("cv2", "cv2.blur", "", False),
        ("cv2", "cv2.blur", ": torch.Tensor", True),
        ("numpy as np", "torch.abs", "", True),
    ],
)
def test_copy_is_for_tensors_alone(library, call, annotation, offered):
    source = SHARED.format(library=library, call=call, annotation=annotation)
    code = function_code(source, "wrap")
    made = mask.assign_where(code, nodes(code, cst.AugAssign)[0], lambda node: "tensor")
    assert isinstance(made, Fix) == offered, made


@pytest.mark.parametrize(
    ("beside", "in_graph"),
    [
        ("print('of', x)", True),
        ("x = x + 1", True),
        ("print(x.shape)", False),  # which cannot stay in the graph
        ("x = x + 1\n        print(x.shape)", True),
    ],
)
def test_prints_side_by_side_go_one_way(beside, in_graph):
    source = (
        f"import torch\n\n\ndef f(x: torch.Tensor, verbose=False):\n    if verbose:\n        print('now')\n"
        f"        {beside}\n    return x\n"
    )
    code = function_code(source, path=NO_PROJECT)
    found = printing.fixes(code, nodes(code, cst.Call)[0])
    assert any("part of the graph" in one.description for one in found) == in_graph
    assert found


def test_only_in_eager():
    source = HEAD + DEF + "# why\n    print(x)  # what\n    return x + 1\n"
    code = function_code(source)
    after = applied(source, printing.only_in_eager(code, calls(code, "print")))
    assert "    # why\n    if not torch.compiler.is_compiling():\n        print(x)  # what\n" in after
    assert not breaks(lambda: load(after).f, [X])
    tests = {
        "x.dim() == 1 or x.dim() == 2": "if (x.dim() == 1 or x.dim() == 2) and not torch.compiler.is_compiling():",
        "x.dim() == 1": "if x.dim() == 1 and not torch.compiler.is_compiling():",
        "x.any()": "if not torch.compiler.is_compiling() and x.any():",
    }
    for test, expected in tests.items():
        source = HEAD + DEF + f"if {test}:\n        # why\n        print(x)  # what\n    return x + 1\n"
        code = function_code(source)
        [asked] = [code.range(node.test) for node in nodes(code, cst.If)]
        code.ops = (Op("test tensor", *asked),) if "any" in test else ()
        after = applied(source, printing.only_in_eager(code, calls(code, "print")))
        assert f"    {expected}\n        # why\n        print(x)  # what\n" in after
        assert not breaks(lambda after=after: load(after).f, [X])
        more = source.replace("    return", "        print('and more')\n    return")
        several = function_code(more)
        several.ops = code.ops
        after = applied(more, printing.only_in_eager(several, calls(several, "print")))
        assert (
            f"    {expected}\n        # why\n        print(x)  # what\n        print('and more')\n" in after
        )
        otherwise = function_code(source.replace("    return", "    else:\n        x = x + 1\n    return"))
        nested = applied(otherwise.source, printing.only_in_eager(otherwise, calls(otherwise, "print")))
        assert f"    if {test}:\n" in nested
    source = (
        HEAD
        + DEF
        + "if x.dim():\n        x = x + 1\n    else:  # or\n        print(1)  # what\n    return x\n"
    )
    code = function_code(source)
    after = applied(source, printing.only_in_eager(code, calls(code, "print")))
    assert "    elif not torch.compiler.is_compiling():  # or\n        print(1)  # what\n" in after
    for statement in ("y = print(x)", "print(x); y = 1", "[print(x)]", "print(x, file=lines)"):
        code = function_code(HEAD + DEF + statement + "\n")
        assert isinstance(printing.only_in_eager(code, calls(code, "print")), Refusal)


COPIES = [
    ("x: torch.Tensor", "copy.deepcopy(x)", "", P.detach()),
    ("x: torch.Tensor", "copy.copy(x * 2)", "", P.detach()),
    ("x", "copy.deepcopy(x)", "list of tensor", [P.detach(), X.detach()]),
    ("x", "copy.deepcopy(x)", "dict of tensor", {"a": P.detach()}),
    ("x", "copy.copy(x)", "dict of tensor", {"a": P.detach()}),
]


@pytest.mark.parametrize(("parameter", "call", "word", "argument"), COPIES)
def test_copies(parameter, call, word, argument):
    source = HEAD + f"def f({parameter}):\n    y = {call}\n    return y\n"
    code = function_code(source)
    node = calls(code, call.partition("(")[0])
    code.ops = (Op(f"call {call.partition('(')[0]}", *code.range(node), args={0: word}),) if word else ()
    made = copying.to_clone(code, node)
    assert made.waits_for_proof == (word.startswith("dict") and "deepcopy" in call)
    prove(source, made, [[argument]])


@pytest.mark.parametrize(
    "call", ["copy.deepcopy(x, {})", "copy.deepcopy(y)", "copy.deepcopy(*x)", "copy.replace(x)"]
)
def test_copies_are_refused(call):
    code = function_code(HEAD + DEF + f"return {call}\n")
    assert isinstance(copying.to_clone(code, calls(code, call.partition("(")[0])), Refusal)


@pytest.mark.parametrize(
    ("note", "tensor"),
    [
        ("Values", False),
        ("np.ndarray | torch.Tensor", False),
        ("torch.Tensor | None", False),
        ("torch.Tensor", True),
        ("'torch.LongTensor'", True),
        ("jaxtyping.Float[torch.Tensor, 'n']", True),
    ],
)
def test_a_copy_of_what_may_be_an_array_is_left_alone(note, tensor):
    head = f"{HEAD}import jaxtyping\nimport numpy as np\n\n\ndef f(y: {note}):\n"
    for text in ("return copy.deepcopy(y)\n", "y = torch.as_tensor(y)\n    return copy.deepcopy(y)\n"):
        code = function_code(head + "    " + text)
        node = calls(code, "copy.deepcopy")
        code.ops = (Op("call copy.deepcopy", *code.range(node), args={0: "tensor"}),)
        assert isinstance(copying.to_clone(code, node), Fix) == (tensor or "as_tensor" in text)


def test_copies_in_a_row_are_mended_together():
    text = "a = x * 2\n    b = x + 1\n    c = [x]\n    d = copy.deepcopy(c)\n"
    text += "    e = copy.deepcopy(a)  # one\n    f = copy.deepcopy(b)\n"
    source = HEAD + DEF + text + "    g = copy.deepcopy(x.T)\n    return d[0] + e + f + g.T\n"
    code = function_code(source)
    second = [one for one in nodes(code, cst.Call) if copying.source(code, one.func) == "copy.deepcopy"][1]
    after = applied(source, copying.to_clone(code, second))
    assert "d = copy.deepcopy(c)\n    e = a.detach().clone()  # one\n    f = b.detach().clone()\n" in after
    assert "g = x.T.detach().clone()\n" in after


def test_a_copy_that_is_given_attributes_is_no_tensor():
    code = function_code(HEAD + DEF + "y = copy.deepcopy(x)\n    y.dropout = 0\n    return y\n")
    assert isinstance(copying.to_clone(code, calls(code, "copy.deepcopy")), Refusal)
    code = function_code(HEAD + DEF + "y = copy.deepcopy(x)\n    y.requires_grad = True\n    return y\n")
    assert not isinstance(copying.to_clone(code, calls(code, "copy.deepcopy")), Refusal)


def test_disable():
    source = (
        HEAD
        + """def inner(x):
    # slow
    print(x)
    return x + 1


def f(x):
    return inner(x * 2) * 3
"""
    )
    code = function_code(source, "inner")
    fix = disable.decorate(code, calls(code, "print"))
    assert fix.description.startswith("Workaround")
    after = applied(source, fix)
    assert "@torch.compiler.disable\ndef inner(x):" in after
    torch._dynamo.reset()
    assert torch.equal(torch.compile(load(after).f, backend="eager")(P), load(source).f(P))


@pytest.mark.parametrize(
    "head",
    [
        "def forward(self, x):",
        "@torch.compile\ndef f(x):",
        "@torch.compiler.disable\ndef f(x):",
        "@property\ndef f(x):",
        "async def f(x):",
    ],
)
def test_disable_is_refused(head):
    name = "forward" if "forward" in head else "f"
    source = HEAD + head.replace("async ", "") + "\n    print(x)\n"
    code = function_code(source, name)
    if "@property" in head:
        code.imports = {**code.imports, "property": "builtins.property"}
    if "async" in head:
        source = source.replace("def f", "async def f")
        code = function_code(source.replace("async def f", "def f"), name)
        return
    assert isinstance(disable.decorate(code, calls(code, "print")), Refusal)


def test_what_is_compiled_before_the_loop_keeps_its_lines():
    source = (
        HEAD
        + """def f(g, x):
    for _ in range(3):
        with torch.no_grad():
            fast = torch.compile(
                g, dynamic=flag
            )
            x = fast(x)
    return x
"""
    )
    code = function_code(source)
    [fix] = before_loop(code, nodes(code, cst.Call)[2])
    assert applied(source, fix).endswith("""def f(g, x):
    fast = torch.compile(
        g, dynamic=flag
    )
    for _ in range(3):
        with torch.no_grad():
            x = fast(x)
    return x
""")


def test_hoist_import():
    source = HEAD + "def f(x):\n    import colorsys  # why here\n\n    return x + colorsys.ONE_THIRD\n"
    fix = first(source, cst.Import, host.hoist_import)
    after = applied(source, fix)
    assert after.index("import colorsys") < after.index("def f")
    assert torch.equal(load(after).f(P), load(source).f(P))


@pytest.mark.parametrize(
    "body",
    [
        "if x:\n        import math",
        "from . import math\n    return x",
        "import math; y = 1\n    return x",
        "import math\n    math = 1\n    return math",
        "import math",
    ],
)
def test_hoist_import_is_refused(body):
    code = function_code(HEAD + DEF + body + "\n")
    node = (nodes(code, cst.Import) + nodes(code, cst.ImportFrom))[0]
    assert isinstance(host.hoist_import(code, node), Refusal)


def test_draw_with_torch():
    source = HEAD + DEF + "return x * random.random()\n"
    code = function_code(source)
    after = applied(source, host.draw_with_torch(code, calls(code, "random.random")))
    assert not breaks(lambda: load(after).f, [X])
    for body in ("return random.random()", "return n * random.random()", "return x * random.randint(1, 2)"):
        code = function_code(HEAD + DEF + body + "\n")
        node = next(n for n in nodes(code, cst.Call))
        assert isinstance(host.draw_with_torch(code, node), Refusal)


def test_a_line_that_is_broken_says_that_it_is_replaced():
    """Parentheses around what stays are part of the fix; its own check let it fall before."""
    source = (
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def f(self, x):\n"
        "        dropout_probability_drawn = torch.rand([])\n"
        "        skip_the_layer = self.training and dropout_probability_drawn < self.config.layerdrop\n"
        "        if not skip_the_layer:\n            x = x + 1\n        return x\n"
    )
    code = function_code(source)
    found = rate.ask_rate_first(code, nodes(code, cst.If)[0].test)
    assert isinstance(found, Fix)
    after = checked("m.py", source, list(found.edits))
    assert "skip_the_layer = (\n" in after
