"""Layers left out at random, computed and selected instead, under the real Dynamo."""

import random
from dataclasses import replace

import libcst as cst
import numpy as np
import pytest
import torch

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Fix
from pt2lint.fixes.proof import prove
from pt2lint.fixes.repaired import Refusal
from pt2lint.fixes.repairs import seeded
from pt2lint.fixes.repairs.cond import to_cond
from pt2lint.fixes.repairs.skip import compute_and_return, compute_and_select
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests import forked
from tests.fixes import lab
from tests.fixes.lab import function_code, nodes
from tests.linting import findings

HEAD = """import random

import numpy as np
import torch


class Model(torch.nn.Module):
    rate = 0.5

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(6)])

    def forward(self, x, synced=False):
        seen = ()
        bias = None
        for n, layer in enumerate(self.layers):
"""
TAIL = "        return x * torch.rand([]), seen, bias\n"  # the numbers drawn so far decide what this one is
WAYS = {
    "continue": """
p = torch.rand([])
if p < self.rate:
    continue
x = layer(x)
""",
    "continue under an if": """
if self.training:
    p = torch.rand([])
    if p < self.rate:
        continue
out = (layer(x), 1)
x = out[0]
if synced:
    seen += (out[1],)
""",
    "flag": """
p = torch.rand([])
skip = self.training and p < self.rate
if not skip or synced:
    # the layer
    out = layer(x)
    x = out
if skip:
    out = (None, None)
""",
    "set flag": """
# leave out
drop = False
if self.training:
    p = torch.rand([])
    if p < self.rate:
        drop = True

if not drop:
    x = layer(x)
    if x.dim() > 1:
        x = x + 1
""",
    "set flag with an else": """
drop = False
p = torch.rand([])
if self.training and p < self.rate:
    drop = True
if drop:
    out = (None, None)
else:
    out = (layer(x),)
    x = out[0]
""",
    "not in the first turn": """
p = torch.rand([])
seen += (p,)  # compiled code does not draw what nobody uses
skip = self.training and n > 0 and (p < self.rate)
if not skip:
    out = (layer(x), x * 2 if bias is None else bias + x)
    x, bias = out
""",
    "test": """
p = torch.rand([])
if self.training and (p < self.rate):
    out = None
else:
    out = layer(x)
    x = out
""",
    "runs above the rate": """
p = torch.rand([])
if not self.training or p > self.rate:
    x = layer(x)
""",
    "drawn by Python": """
if self.training and random.random() <= self.rate:
    continue
x = layer(x)
""",
    "drawn by NumPy": """
p = np.random.uniform(0, 1.0)
if synced or not self.training or (p >= self.rate):
    out = layer(x)
    x = out
else:
    out = None
""",
    "in a vector": """
if self.training and torch.rand(1) < self.rate:
    continue
x = layer(x)
""",
    "read out of a tensor": """
p = torch.rand(1).item()
if not self.training or p > self.rate:
    x = layer(x)
""",
    "in a vector that is read": """
p = torch.rand(1)
seen += (p,)
if self.training and p < self.rate:
    continue
x = layer(x)
""",
    "continue with an else": """
p = random.uniform(0, 1)
if self.training and p < self.rate:
    continue
else:
    x = layer(x)
""",
}
X = torch.tensor([[1.0, -2.0, 3.0]])


def model(text):
    return (
        HEAD + "".join(f"            {line}\n" if line else "\n" for line in text.strip().split("\n")) + TAIL
    )


def drawn(code):
    """The test of the `if` that the finding is at."""
    return next(
        one.test
        for one in nodes(code, cst.If)
        if any(word in code.module.code_for_node(one.test) for word in ("p <", "p >", "rand", "skip"))
    )


def from_torch(low=0.0, high=1.0):
    return low + (high - low) * torch.rand([]).item()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_left_out_at_random_is_selected(way, monkeypatch):
    for module, name in ((random, "random"), (random, "uniform"), (np.random, "uniform")):
        monkeypatch.setattr(module, name, from_torch)
    source = model(WAYS[way])
    code = function_code(source, "forward")
    fix = compute_and_select(code, drawn(code))
    assert isinstance(fix, Fix), fix
    assert fix.draws_otherwise
    assert fix.applicability == "unsafe"
    # The layers draw no numbers here, so that both draw the same: half of the six are left out.
    after = lab.prove(source, fix, [[X.clone().requires_grad_()]], name="Model")
    assert "x_before = x" in after
    assert "random." not in after
    assert (".squeeze() <" in after) == ("that is read" in way)
    assert ("torch.rand(1)" in after) == (
        "that is read" in way
    )  # torch.where takes no vector of another device
    for comment in ("# the layer", "# leave out"):
        assert (comment in after) == (comment in source)
    again = function_code(after, "forward")
    assert all(isinstance(compute_and_select(again, one.test), Refusal) for one in nodes(again, cst.If))


EARLY = """import random

import torch


class Model(torch.nn.Module):
    rate = 0.5

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.LayerNorm(3, elementwise_affine=False)

    def forward(self, x):
        # left out at random
        if self.training and torch.rand(1).item() < self.rate:
            return x
        h = self.fc(x)
        # what came of it
        return x + h
"""


@pytest.mark.parametrize(
    ("old", "new", "returned"),
    [
        ("", "", "            made = torch.where(torch.rand(()) < self.rate, x, made)\n        return made\n"),
        ("self.training and ", "", "        return torch.where(torch.rand(()) < self.rate, x, made)\n"),
        (
            "self.training and torch.rand(1).item() <", "random.random() >",
            "        return torch.where(torch.rand(()) > self.rate, x, made)\n",
        ),
        ("h = self.fc(x)", "h = x = self.fc(x)", "torch.where(torch.rand(()) < self.rate, x_before, made)\n"),
    ],
)  # fmt: skip
def test_what_is_returned_early_at_random_is_selected(old, new, returned, monkeypatch):
    monkeypatch.setattr(random, "random", from_torch)
    source = EARLY.replace(old, new)
    code = function_code(source, "forward")
    fix = compute_and_return(code, nodes(code, cst.If)[0].test)
    assert isinstance(fix, Fix), fix
    assert fix.draws_otherwise
    assert fix.waits_for_proof
    after = lab.prove(source, fix, [[X], [X.clone().requires_grad_()], [X * 2], [X * 3]], name="Model")
    assert returned in after
    assert "# left out at random\n" in after
    assert "        # what came of it\n        made = x + h\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x\n", "return x * 2\n"),
        ("return x + h", "return x, h"),
        ("h = self.fc(x)", "h = self.fc(x)\n        if x.dim() > 2:\n            return h"),
        ("h = self.fc(x)", "h = self.fc(x).add_(1)"),
        ("h = self.fc(x)", "h = self.rate = self.fc(x)"),
        ("            return x\n", "            return x\n        else:\n            x = x + 1\n"),
        ("torch.rand(1).item()", "x.sum()"),
    ],
)
def test_other_early_returns_are_left(old, new):
    assert old in EARLY
    code = function_code(EARLY.replace(old, new), "forward")
    assert isinstance(compute_and_return(code, nodes(code, cst.If)[0].test), Refusal)


def test_two_tensors_are_both_selected():
    source = model("y = x if synced else x * 2\n" + WAYS["continue"].strip() + "\ny = y + x\nx = x + y")
    source = source.replace("        seen = ()\n", "        seen = ()\n        y = x * 2\n")
    source = source.replace("            y = x if synced else x * 2\n", "")
    code = function_code(source, "forward")
    code.kinds = lambda: {
        code.range(one): "tensor:float" for one in nodes(code, cst.Name) if one.value in "xy"
    }
    after = lab.prove(source, compute_and_select(code, drawn(code)), [[X]], name="Model")
    assert after.count("torch.where(") == 2
    code.memo.clear()
    code.kinds = None
    assert isinstance(compute_and_select(function_code(source, "forward"), drawn(code)), Refusal)


@pytest.mark.parametrize(
    "text",
    [
        WAYS["continue"].replace("p < self.rate", "x.sum() < self.rate"),  # no random number
        WAYS["continue"].replace("p < self.rate", "p > self.rate"),  # the layer runs where it is drawn
        WAYS["continue"].replace("x = layer(x)", "layer.weight.data.mul_(2)\nx = layer(x)"),
        WAYS["continue"].replace("x = layer(x)", "x += 1"),  # in place: what was kept changes too
        WAYS["continue"].replace("x = layer(x)", "x = layer(x)\nif x.dim() > 2:\n    break"),
        # What an option does for each layer that runs, but to collect.
        WAYS["continue"].replace("x = layer(x)", "x = layer(x)\nif synced:\n    self.seen.update({n: 1})"),
        WAYS["continue"].replace("x = layer(x)", "x = layer(x)\nif synced:\n    self.calls += 1"),
        WAYS["continue"].replace("x = layer(x)", "seen = x"),  # nothing is carried on
        WAYS["continue"].replace("x = layer(x)", "p = 2\nx = layer(x)"),  # the test would ask for another
        WAYS["continue under an if"].replace("continue\n", "continue\n    x = x + 1\n"),
        WAYS["flag"].replace("out = (None, None)", "x = x + 1"),  # what stands in does something
        WAYS["flag"] + "x = x * skip\n",  # the flag is a number too
        WAYS["test"].replace("out = None", "out = x"),
        WAYS["drawn by NumPy"].replace("out = None", "seen += (p,)"),
        WAYS["drawn by NumPy"].replace("0, 1.0", "0, 2"),  # torch draws from other bounds
        WAYS["drawn by NumPy"].replace("0, 1.0", "0, 1, ()"),
        WAYS["drawn by NumPy"] + "seen += (p,)\n",  # the number is read
        WAYS["drawn by NumPy"].replace("synced", "random.random() > 0.5"),  # two of them
        WAYS["drawn by Python"].replace("random.random()", "random.gauss(0, 1)"),
        WAYS["read out of a tensor"].replace("rand(1)", "rand(2)[0]"),
        WAYS["continue with an else"] + "x = x + 1\n",
        "if synced:\n    x = self.layers[0](x)\nelif random.random() >= self.rate:\n    x = self.layers[0](x)\n",
    ],
)
def test_refused(text):
    code = function_code(model(text), "forward")
    for one in nodes(code, cst.If):
        assert isinstance(compute_and_select(code, one.test), Refusal)


def test_dropout_in_torch_cond_has_wrong_gradients():
    """The fact behind the refusal: the backward pass of torch.cond runs a side again and draws anew."""

    def f(x):
        return torch.cond(x.sum() > -1e9, lambda: torch.nn.functional.dropout(x, 0.5), lambda: x * 2, ())

    torch.manual_seed(0)
    x = torch.ones(1000, requires_grad=True)
    y = f(x)
    y.sum().backward()
    kept = (y != 0).float() * 2
    assert not torch.equal(x.grad, kept)
    assert 400 < (x.grad != 0).sum() < 600


@pytest.mark.parametrize(
    ("side", "says"),
    [
        ("torch.nn.functional.dropout(x)", None),
        ("x + torch.rand_like(x)", None),
        ("x.clone().bernoulli()", None),
        ("x * 2", ""),
        ("self.layer(x)", "Not for sides with dropout"),
    ],
)
def test_torch_cond_and_random_numbers(side, says):
    for text in (
        f"if x.sum() > 0:\n        x = {side}\n    return x",
        f"return {side} if x.sum() > 0 else x",
    ):
        code = function_code(f"import torch\n\n\ndef f(self, x):\n    {text}\n")
        fix = to_cond(code, (nodes(code, cst.If) or nodes(code, cst.IfExp))[0])
        if says is None:
            assert "draws random numbers" in fix.reason
        else:
            assert ("Not for sides" in fix.description) == bool(says)


SPEECH = """import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x):
        some = x[:, torch.randint(x.shape[1], (2,))] * torch.randn(2, 1)  # drawn again only where the layer runs
        y = torch.nn.functional.scaled_dot_product_attention(x, some, some, dropout_p=0.3 if self.training else 0.0)
        return x + torch.nn.functional.dropout(self.fc(y), 0.5, self.training)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layerdrop = 0.5
        self.layers = torch.nn.ModuleList([Layer() for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            if self.training:
                p = torch.rand([])
                if p < self.layerdrop:
                    continue
            x = layer(x)
        return x


def example_inputs():
    return Model(), (torch.randn(1, 2, 4),)
"""


def test_proven_with_dropout_turned_off(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(SPEECH)
    options = VerifyOptions(modes=("train",), further=False)
    judged = verify(lint([str(path)], Settings()).findings, [str(path)], options)
    proof = prove(judged.findings, judged.events, [str(path)], options)
    [finding] = [one for one in proof.findings if one.code == "PTB110"]
    proven = finding.fixes[0]
    assert proven.proven
    assert proven.draws_otherwise
    assert any("proven, with dropout turned off: Compute always" in note for note in proof.notes)
    # What is wrong is told from what draws otherwise.
    edits = tuple(
        replace(edit, text=edit.text.replace("x_before, x)", "x_before * 1.01, x)")) for edit in proven.edits
    )
    assert edits != proven.edits
    wrong = replace(finding, fixes=(replace(proven, proven=None, edits=edits),))
    proof = prove([wrong], judged.events, [str(path)], options)
    assert [fix.proven for fix in proof.findings[0].fixes] == [False]
    # A fix that says nothing of random numbers must draw the same.
    bold = replace(proven, proven=None, traits=())
    proof = prove([replace(finding, fixes=(bold,))], judged.events, [str(path)], options)
    assert [fix.proven for fix in proof.findings[0].fixes] == [False]
    assert any("values differ" in note or "gradients" in note for note in proof.notes)


COUNTS = """import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(self.fc(x)) + x


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer() for _ in range(6)])

    def forward(self, x):
        for layer in self.layers:
            skip = self.training and torch.rand([]) < 0.5
            if not skip:
                x = layer(x)
        return x
"""


def outcome(source, how=lambda model: model, train=True):
    torch.manual_seed(0)
    model = lab.load(source).Model().train(train)
    x = torch.randn(4, 3, requires_grad=True)
    torch.manual_seed(7)
    result = how(model)(x)
    result.square().sum().backward()
    return [result.detach(), x.grad, *(buffer.clone() for buffer in model.buffers())]


def test_what_a_layer_counts_is_put_back(tmp_path):
    """Where it is not, a batch norm counts what was left out, and the comparison says so."""
    [found] = [one for one in findings(COUNTS) if one.code == "PTB110"]
    fixes = [fix for fix in found.fixes if fix.draws_otherwise]
    plain, counting = (lab.applied(COUNTS, fix) for fix in fixes)
    assert all(fix.waits_for_proof for fix in fixes)
    assert "] if self.training else []" in counting
    assert counting.count("torch.rand") == 1

    def alike(one, other):
        return [torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(one, other, strict=True)]

    before = outcome(COUNTS)
    assert all(alike(before, outcome(counting)))
    assert all(alike(before, outcome(counting, lab.compiled)))
    assert alike(before, outcome(plain))[:2] == [True, True]
    assert not all(alike(before, outcome(plain)))
    assert all(alike(outcome(COUNTS, train=False), outcome(counting, train=False)))


TREND = """import torch


def forward(self, x, trend=None):
    for layer in self.layers:
        p = torch.rand([])
        if p < self.layerdrop:
            continue
        x, more = layer(x)
        {}
    return x, trend
"""


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("trend = trend + more", True),
        ("trend = layer.merge(trend, more)", False),
        ("if more is not None:\n            trend = trend + more", False),
    ],
)
def test_a_tensor_or_none_is_a_tensor_where_the_layer_adds_to_it(text, fits):
    code = function_code(TREND.format(text), "forward")
    told = {"x": "tensor", "trend": "mixed"}
    fix = compute_and_select(
        code, nodes(code, cst.If)[0].test, lambda node: told.get(getattr(node, "value", ""), "unknown")
    )
    assert isinstance(fix, Fix) == fits, fix


def test_numpy_draws_the_same_compiled_where_dropout_is_turned_off(tmp_path):
    """Else Dynamo draws what it traces of it from a generator of torch's own."""
    code = """import random

import numpy as np
import torch

from pt2lint.dynamic.child import dropout_off


def f(x):
    return x + torch.from_numpy(np.random.rand(3))


def draw(function):
    np.random.seed(0)
    return function(torch.zeros(3))


apart = draw(f) - draw(torch.compile(f, backend="eager"))
torch._dynamo.reset()
dropout_off.install()
print(bool(apart.any()), bool((draw(f) - draw(torch.compile(f, backend="eager"))).any()))
# One number is drawn from torch's generator while targets are looked at.
host = (lambda: random.random(), lambda: np.random.rand(), lambda: np.random.uniform(2, 4) / 2 - 1)
for holding in (False, True):
    dropout_off.HELD[0] = holding
    torch.manual_seed(0)
    numbers = [draw() for draw in host]
    torch.manual_seed(0)
    print(max(abs(one - torch.rand(()).item()) for one in numbers) < 1e-6)
print(np.random.rand(2).shape == (2,))
"""
    (tmp_path / "draws.py").write_text(code)
    ran = forked.run(tmp_path / "draws.py")
    assert ran.stdout.split() == ["True", "False", "False", "True", "True"]


DEPTH = """import random

import torch


def drawn_seed(device):
    n = torch.randint(0, 1000, (), device=device)
    return n.item()


class Model(torch.nn.Module):
    least = 1

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(6)])

    def forward(self, x, seed=None):
        total, rest, found = 0.0, x, []
        leave_out = self.training
        if leave_out:
            if seed is None:
                seed = drawn_seed(x.device)
            rand = random.Random(seed)
            depth = rand.randrange(self.least, len(self.layers))
            if self.least > 3:
                depth = depth + 1

            nothing = torch.full((1,), -1.0)
        for n, layer in enumerate(self.layers):
            if leave_out and n > depth:
                found.append(nothing)
                continue
            y = layer(rest)
            rest = rest - y
            total = total + y
            size = y.sum().reshape(1)
            found.append(size)
        return total, torch.stack(found)
"""


def depth_fixes(source):
    code = function_code(source, "forward")
    test = next(one.test for one in nodes(code, cst.If) if "n > depth" in code.module.code_for_node(one.test))
    at_test = compute_and_select(code, test)
    code = function_code(source, "drawn_seed")
    return at_test, seeded.seed_kept(code, nodes(code, cst.Return)[0].value)


def test_a_depth_that_python_draws_from_a_seed():
    source = DEPTH.replace("len(self.layers))", "count)").replace(
        "total, rest", "count = 6\n        total, rest"
    )
    whole, seed = depth_fixes(source)
    assert whole.waits_for_proof
    after = lab.applied(source, whole)
    assert "    def forward(self, x, seed=None):\n" in after
    for text in (after, lab.applied(source, seed)):
        assert "return n\n" in text
        assert "depth = _drawn_depth(torch.as_tensor(seed), self.least, count)\n" in text
    old, new = (lab.load(text).Model() for text in (source, after))
    new.load_state_dict(old.state_dict())
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    depths = set()
    for number in range(6):
        results = []
        for model in (old, new, compiled):
            torch.manual_seed(number)
            results.append(model(X))
        depths.add((results[0][1] == -1).sum().item())
        for other in results[1:]:
            torch.testing.assert_close(other, results[0])
    assert len(depths) > 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random.Random(seed)", "random.Random(seed + 1)"),
        ("return n.item()", "return int(n.item()) + 1"),
        ("rand.randrange(", "rand.random() * max("),
        ("depth = depth + 1", "depth = rand.random()\n                seed = 3"),
        ("nothing = torch.full((1,), -1.0)", "nothing = torch.full((1,), rand.random())"),
        ("self.least, len(self.layers)", "self.least, other(self)"),
    ],
)
def test_a_depth_that_is_left_alone(old, new):
    assert old in DEPTH
    assert [type(one) for one in depth_fixes(DEPTH.replace(old, new))] == [Refusal, Refusal]
