"""A compiled train step whose loss gets a function of its own trains to the same losses."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import torch

from pt2lint.fixes.edit import apply_edits
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from tests.linting import findings

HEAD = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 3))
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
xs, ys = torch.randn(6, 5, 4), torch.randint(0, 3, (6, 5))
"""
FUNCTION = '''
@torch.compile(backend="eager")  # the step
def train_step(x, y, scale=1.0):
    """One step."""
    model.train()
    optimizer.zero_grad()
    # what the model says
    logits = model(x)
    loss = criterion(logits, y) * scale  # scaled
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    right = (logits.argmax(-1) == y).float().mean()
    return loss.detach(), right

losses = [train_step(x, y)[0].item() for x, y in zip(xs, ys)]
'''
METHOD = """
class Trainer:
    def __init__(self, model):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), lr=0.1)
        self.seen = []

    @torch.compile(backend="eager")
    def step(self, batch):
        x, y = batch
        loss = criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

trainer = Trainer(model)
losses = [trainer.step(batch).item() for batch in zip(xs, ys)]
"""

STEP = FUNCTION.split("\n", 2)[2].split("\n\n")[0]  # without its decorator
ASSIGNED = f"""
{STEP}

if len(xs) > 2:
    train_step = torch.compile(train_step, backend="eager")

losses = [train_step(x, y)[0].item() for x, y in zip(xs, ys)]
"""
OTHER_NAME = f"""
{STEP}

step = torch.compile(train_step, backend="eager") if len(xs) > 2 else train_step
losses = [step(x, y)[0].item() for x, y in zip(xs, ys)]
"""
RETURNED = f"""
def made(compiles=True):
{indent(STEP, "    ")}
    if compiles:
        return torch.compile(train_step, backend="eager"), None
    return train_step, None

step, _ = made()
losses = [step(x, y)[0].item() for x, y in zip(xs, ys)]
"""
FAR = f"""
# one step
{STEP}

def main():
    step = torch.compile(
        train_step,
        backend="eager",
    )
    return [step(x, y)[0].item() for x, y in zip(xs, ys)]

losses = main()
"""
LOOP = """
def train(data, steps=1):
    total, losses = 0.0, []
    for x, y in data:
        if steps:
            optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", enabled=False):
            out = model(x)
            loss = criterion(out, y)
        if total > 1000:
            (loss / 2).backward()
        else:
            loss.backward()
        optimizer.step()
        total += loss.item()
        losses.append(loss.item())
    print("seen", len(data), total)
    return losses

losses = torch.compile(train, backend="eager")(list(zip(xs, ys)))
"""
EVALUATED = """
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(xs, ys), batch_size=2)

@torch.compile(backend="eager")
def test(model, data, device, args=None):
    model.eval()
    total, right, losses = 0, 0, []
    with torch.no_grad():
        for number, (x, y) in enumerate(data):
            x, y = x.to(device), y.to(device)
            out = model(x)  # what the model says
            total += criterion(out.flatten(0, 1), y.flatten()).item()
            losses.append(total)
            right += (out.argmax(-1) == y).sum().item()
    test_batch_size = len(losses)
    print(test_batch_size, right / len(data))
    return losses

losses = test(model, loader, "cpu")
"""
ADVERSARIES = """
class Trainer:
    def __init__(self, model, compiles=True):
        self.model, self.other = model, torch.nn.Linear(3, 4)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.other_optimizer = torch.optim.SGD(self.other.parameters(), lr=0.1)
        self.step = torch.compile(self._step, backend="eager") if compiles else self._step

    def _step(self, x):
        made = self.model(x)
        d_loss = (self.other(made.detach()) - x).square().mean()
        self.other_optimizer.zero_grad()
        d_loss.backward()
        self.other_optimizer.step()
        g_loss = self.other(made).square().mean() + d_loss.detach()
        self.optimizer.zero_grad()
        g_loss.backward()
        self.optimizer.step()
        return d_loss.item() + g_loss.item()

trainer = Trainer(model)
losses = [trainer.step(x) for x in xs]
"""
BODIES = {
    "function": FUNCTION,
    "method": METHOD,
    "assigned": ASSIGNED,
    "another name": OTHER_NAME,
    "returned": RETURNED,
    "far": FAR,
    "loop": LOOP,
    "adversaries": ADVERSARIES,
    "evaluated": EVALUATED,
    "trained on a loader": LOOP.replace(
        "list(zip(xs, ys))", "torch.utils.data.DataLoader(list(zip(xs, ys)), None)"
    ),
}


def fixed(source: str, path: Path) -> str | None:
    path.write_text(source)
    offered = [
        fix
        for finding in lint([str(path)], Settings(target_torch=(2, 13))).findings
        for fix in finding.fixes
        if fix.compiles_elsewhere
    ]
    return apply_edits(source, offered[0].edits) if offered else None


def ran(source: str) -> dict[str, Any]:
    torch._dynamo.reset()
    space: dict[str, Any] = {"__name__": "m"}
    exec(compile(source, "m.py", "exec"), space)
    return space


def compiles_steps(source: str) -> bool:
    """Whether each step of an optimizer stands in a function of its own that is compiled."""
    tree = ast.parse(source)
    alone = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and len(one.body) == 1 and "optimizer.step()" in ast.unparse(one)
    ]
    text = ast.unparse(tree)
    return text.count("optimizer.step()") == len(alone) and all(
        re.search(rf"torch\.compile\((self\.)?{one.name}\b", text)
        or any("torch.compile" in ast.unparse(each) for each in one.decorator_list)
        for one in alone
    )


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_trains_to_the_same_losses(body: str, tmp_path: Path) -> None:
    source = HEAD + body
    new = fixed(source, tmp_path / "m.py")
    assert new is not None
    before = ran(source)
    broken = torch._dynamo.utils.counters["graph_break"]
    broken.clear()
    after = ran(new)
    # Where the step ran as a whole, it broke; an optimizer's step begins and ends with a break of its own.
    assert all("torch._dynamo.graph_break()" in reason for reason in broken)
    assert before["losses"] == pytest.approx(after["losses"], rel=1e-5)
    assert all(
        torch.allclose(a, b, atol=1e-5)
        for a, b in zip(before["model"].parameters(), after["model"].parameters(), strict=True)
    )
    moved = len(re.findall(r"^ *def \w*(?:_loss|_batch|optimizer\w*)\(", new, re.MULTILINE))
    assert new.count("torch.compile(") == source.count("torch.compile(") - 1 + moved
    assert "optimizer" not in new or compiles_steps(new)
    for comment in ("# what the model says", "# scaled", "# one step", "# the step"):
        assert new.count(comment) == source.count(comment)


@pytest.mark.parametrize(
    "body",
    [
        FUNCTION.replace(
            "logits = model(x)\n", "if x.dim() > 1:\n        logits = model(x)\n"
        ),  # may not be bound
        FUNCTION.replace("train_step(x, y, scale=1.0)", "train_step(x, y, *scale)"),
        FUNCTION.replace("@torch.compile", "@torch.no_grad()\n@torch.compile"),
        FUNCTION.replace("    loss.backward()", "    loss = (lambda: loss)()\n    loss.backward()").replace(
            "logits = model(x)", "logits = (lambda: model(x))()"
        ),
        "train_step_loss = 1\n" + FUNCTION,
        FUNCTION.replace(
            "loss.backward()", "criterion(logits, y).backward()"
        ),  # what is computed there stays eager
        FUNCTION.replace("logits = model(x)", "try:\n        logits = model(x)\n    finally:\n        pass"),
        FUNCTION.replace("optimizer.zero_grad()\n", "optimizer.zero_grad(); x = x * 2\n"),
        OTHER_NAME.replace(
            "step = torch.compile", "steps = [], torch.compile"
        ),  # compiled in a tuple, under a test
        ASSIGNED.replace('"eager")', '"eager", dynamic=None if xs else True)').replace(
            "train_step = torch", "def main(): torch"
        ),
        LOOP.replace("out = model(x)", "out = model(x) if len(losses) < 2 else model(before)").replace(
            "optimizer.step()", "optimizer.step()\n        before = x"
        ),
        FUNCTION.replace(
            "    logits = model(x)", "    match x:\n        case given: pass\n    logits = model(given)"
        ),
        EVALUATED.replace("test_batch_size", "test_batch"),  # the name is taken
        EVALUATED.replace(
            "    test_batch", "    for x, y in data:\n        right += x.sum()\n    test_batch"
        ),
        # a CUDA graph writes over what the one of another call gave
        FUNCTION.replace('backend="eager"', 'mode="reduce-overhead"'),
        FUNCTION.replace('backend="eager"', "mode=None if xs is None else 'max-autotune'"),
        ASSIGNED.replace('backend="eager"', 'options={"triton.cudagraphs": True}'),
        LOOP.replace('backend="eager"', "**dict(backend='eager')"),
    ],
)
def test_where_it_is_not_plain_it_is_left(body: str, tmp_path: Path) -> None:
    assert fixed(HEAD + body, tmp_path / "m.py") is None


@pytest.mark.parametrize(
    ("argument", "clones"),
    [
        ("mode='max-autotune-no-cudagraphs'", False),
        ("options={'a': 1}", False),
        ("mode='max-autotune'", True),
    ],
)
def test_where_cuda_graphs_are_recorded_it_says_what_to_clone(argument: str, clones: bool) -> None:
    """What another compiled call writes over fails when it is read: "accessing tensor output of CUDAGraphs that has
    been overwritten", measured on an H200, torch 2.11, of the loss after the compiled step of its optimizer."""
    source = HEAD + FUNCTION.replace('backend="eager"', argument)
    found = findings(source, roots=["train_step"], target_torch=(2, 13))
    (told,) = (fix for one in found if one.code == "PTB160" for fix in one.fixes if "loss" in fix.description)
    assert told.by_hand is clones
    assert ("clone" in told.description) is clones


def test_what_each_turn_of_the_loop_binds_anew_is_not_given_back(tmp_path: Path) -> None:
    new = fixed(HEAD + EVALUATED, tmp_path / "m.py")
    assert new is not None
    assert "    return y, out\n" in new


def test_what_is_compiled_itself_is_told_what_to_compile() -> None:
    """Neither a clock nor a loader is a reason to leave the whole step to Python."""
    source = HEAD + "import time\n" + EVALUATED.replace("    model.eval()\n", "    start = time.time()\n")
    found = findings(source, roots=["test"], target_torch=(2, 13))
    told = {one.code: [fix.description for fix in one.fixes] for one in found if one.code != "PTB103"}
    assert {"PTB140", "PTB188"} <= set(told)
    assert all(each[0].startswith("Compile what is done with a batch") for each in told.values())
    assert not any("outside the graph" in text for each in told.values() for text in each)


def test_what_nobody_in_sight_compiles_may_run_outside_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """import torch

class Trained(torch.nn.Module):
    def toggle(self, optimizer: torch.optim.Optimizer, on):
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.requires_grad = on
"""
    monkeypatch.chdir(tmp_path)
    Path("trained").mkdir()
    Path("trained/__init__.py").touch()
    Path("trained/m.py").write_text(code)
    (found,) = lint(["trained/m.py"], Settings(target_torch=(2, 13))).findings
    (made,) = (fix for fix in found.fixes if fix.edits)
    assert "run `toggle` outside the graph" in made.description


def test_a_step_compiled_whole_or_not_at_all_stays_outside(tmp_path: Path) -> None:
    """An optimizer's step ends the graph wherever it is called, which `fullgraph=True` does not allow."""
    body = FUNCTION.replace('backend="eager"', 'backend="eager", fullgraph=True')
    new = fixed(HEAD + body, tmp_path / "m.py")
    assert new is not None
    assert new.count("optimizer.step()") == 1
    assert "def train_step_optimizer" not in new
    ran(new)


def test_what_is_bound_before_it_is_read_is_not_asked_for(tmp_path: Path) -> None:
    body = FUNCTION.replace(
        "    logits = model(x)\n", "    with torch.enable_grad():\n        logits = model(x)\n"
    ).replace("    model.train()\n", "    model.train()\n    logits = None\n    print(logits)\n")
    new = fixed(HEAD + body, tmp_path / "m.py")
    assert new is not None
    assert "def train_step_loss(x, y, scale):" in new
    ran(new)


def test_what_is_bound_again_before_it_is_read_is_not_given_back(tmp_path: Path) -> None:
    body = FUNCTION.replace(
        "    right = (logits",
        "    if scale:\n        logits = model(x)\n        print(logits)\n    right = (model(x)",
    )
    new = fixed(HEAD + body, tmp_path / "m.py")
    assert new is not None
    assert "    return loss\n" in new
    ran(new)


def test_what_breaks_only_with_other_arguments_moves_along(tmp_path: Path) -> None:
    body = FUNCTION.replace(
        "    logits = model(x)\n",
        "    k = int(scale)\n    wanted = torch.nn.functional.one_hot(y, 3).clamp(0, k)\n"
        "    x = torch.where(x > 9, x.clamp(-9.0, 9.0), x) + wanted.sum()\n    logits = model(x)\n",
    )
    new = fixed(HEAD + body, tmp_path / "m.py")
    assert new is not None
    assert "def train_step_loss(x, y, scale):\n    k = int(scale)\n" in new
    ran(new)


def test_what_the_step_says_of_its_parameters_its_functions_say_too(tmp_path: Path) -> None:
    body = FUNCTION.replace(
        "(x, y, scale=1.0):", "(x: torch.Tensor, y: torch.Tensor, scale: float = 1.0) -> tuple:"
    ).replace("    model.train()\n", "    model.train()\n    y = y + 0\n    print(y)\n")
    new = fixed(HEAD + body, tmp_path / "m.py")
    assert new is not None
    assert "def train_step_loss(x: torch.Tensor, y, scale: float):\n" in new
    assert "def train_step_optimizer() -> None:\n" in new
    ran(new)
