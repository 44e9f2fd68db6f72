"""What a script passes to the functions that are compile roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.interpret import Interpreter
from pt2lint.static.source.project import Project

LISTENED = frozenset(
    ("call torch.optim.SGD.zero_grad", "iterate torch.utils.data.DataLoader", "call torch.Tensor.item")
)
HEAD = """
import torch
from torch import nn
from torch.utils.data.dataloader import DataLoader
from tqdm import tqdm

class Net(nn.Module):
    def forward(self, x):
        return self.missing(x)

def train(model, loader, optimizer=None, *, scale=None):
{body}
"""
MAIN = """
def main():
    model = Net()
    train(model, DataLoader([1]), torch.optim.SGD(model.parameters(), lr=0.1), scale=torch.ones(1))

if __name__ == "__main__":
    main()
"""
# The same, never called by the file itself: another one starts it.
WORKER = MAIN.split("\nif")[0].replace("main()", "work(rank)")


def noted(body: str, tail: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "m.py"
    path.write_text(HEAD.format(body="\n".join(f"    {line}" for line in body.split("\n"))) + tail)
    project = Project()
    interpreter = Interpreter(project, LISTENED, frozenset())
    interpreter.run(project.load(str(path)), "modules", ("m:train",))
    return sorted(
        op.name for units in interpreter.finished_notes().values() for ops in units.values() for op in ops
    )


@pytest.mark.parametrize("tail", [MAIN, WORKER], ids=["main", "worker"])
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("optimizer.zero_grad()", ["call torch.optim.SGD.zero_grad"]),
        ("for batch in tqdm(loader):\n    pass", ["iterate torch.utils.data.DataLoader"]),
        ("return scale.item()", ["call torch.Tensor.item"]),
        ("for batch in model.parameters():\n    pass", []),
    ],
)
def test_what_the_file_passes(body: str, found: list[str], tail: str, tmp_path: Path) -> None:
    assert noted(body, tail, tmp_path) == found


@pytest.mark.parametrize("body", ["optimizer.zero_grad()", "for batch in tqdm(loader):\n    pass"])
def test_without_a_call_nothing_is_known(body: str, tmp_path: Path) -> None:
    assert noted(body, "", tmp_path) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for i, batch in enumerate(loader):\n    print(len(loader.dataset))", 1),
        ("for batch in tqdm(loader):\n    pass\nreturn len(loader.dataset)", 1),
        ("loader = list(loader)\nfor batch in loader:\n    print(len(loader.dataset))", 0),
        ("for batch in loader:\n    print(loader.dataset)", 0),
        ("for batch in model.parts:\n    print(len(loader.dataset))", 0),
    ],
)
def test_a_loader_that_nobody_passes_is_told_by_its_data_set(body: str, found: int, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(HEAD.format(body="\n".join(f"    {line}" for line in body.split("\n"))))
    findings = lint([str(path)], Settings(root_names=("m:train",))).findings
    assert [f.code for f in findings if f.code == "PTB188"] == ["PTB188"] * found


def test_what_another_function_passes_is_noted_in_the_root_alone(tmp_path: Path) -> None:
    """To see what is passed, code outside of the graph is read, and nothing in it is noted."""
    tail = MAIN.replace("    main()\n", "    main()\n    torch.ones(1).item()\n")
    assert noted("return scale.item()", tail, tmp_path) == ["call torch.Tensor.item"]


TRAINER = """
class Trainer:
    def __init__(self, model, kind, loader, *, scaler=None):
        self.model = model
        self.optimizer = kind(model.parameters(), lr=0.1)
        self.loader = loader

    def run(self):
        for batch in self.loader:
            self.optimizer.zero_grad()

class Derived(Trainer):
    def epoch(self):
        self.run()
"""
SCRIPTS = {
    "top": "from trainer import Trainer\nimport torch\nfrom torch.utils.data import DataLoader\n"
    "Trainer(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1])).run()\n",
    "function": "import trainer, torch\nfrom torch.utils.data import DataLoader\n"
    "def work(rank):\n    return trainer.Trainer(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1]))\n",
    "method": "import trainer, torch\nfrom torch.utils.data import DataLoader\nclass Experiment:\n"
    "    def start(self, rank):\n"
    "        self.own = trainer.Trainer(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1]))\n",
    "derived": "from trainer import Derived\nimport torch\nfrom torch.utils.data import DataLoader\n"
    "Derived(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1])).epoch()\n",
    "renamed": "from trainer import Trainer as T\nimport torch\nfrom torch.utils.data import DataLoader\n"
    "def work(rank):\n    return T(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1]))\n",
    "renamed module": "import trainer as t\nimport torch\nfrom torch.utils.data import DataLoader\n"
    "def work(rank):\n    return t.Trainer(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1]))\n",
    "another": "import torch\nfrom torch.utils.data import DataLoader\nclass Trainer: pass\n"
    "Trainer(torch.nn.Linear(2, 2), torch.optim.SGD, DataLoader([1]))\n",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_another_file_makes_the_object_with(script: str, tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text(TRAINER)
    (tmp_path / "script.py").write_text(SCRIPTS[script])
    paths = [str(tmp_path / name) for name in ("trainer.py", "script.py")]
    project = Project(linted=paths)
    interpreter = Interpreter(project, LISTENED, frozenset())
    root = "trainer:Derived.epoch" if script == "derived" else "trainer:Trainer.run"
    interpreter.run(project.load(paths[0]), "explicit", (root,))
    noted = [
        op.name for units in interpreter.finished_notes().values() for ops in units.values() for op in ops
    ]
    known = ["call torch.optim.SGD.zero_grad", "iterate torch.utils.data.DataLoader"]
    assert sorted(noted) == ([] if script == "another" else known)


UNKNOWN_OBJECTS = """
class Trainer:
    def __init__(self, config):
        self.optimizer, self.model = config.optimizer, config.model

    def step(self, batch, scaler, schedule, env, losses):
        self.optimizer.zero_grad()
        loss = self.model(batch)
        scaler.scale(loss).backward()
        scaler.unscale_(self.optimizer)
        self.optimizer.step()
        schedule.step()
        env.step()
        return [a.item() for a in losses], schedule.get_last_lr()

    def run(self, engine, batch, frame):
        engine.zero_grad()
        engine.backward(engine(batch))
        engine.step()
        return frame.item(0)
"""
BY_USE = {
    "call torch.optim.Optimizer.zero_grad": 7,
    "call torch.amp.GradScaler.scale": 9,
    "call torch.Tensor.backward": 9,
    "call torch.amp.GradScaler.unscale_": 10,
    "call torch.optim.Optimizer.step": 11,
    "call torch.optim.lr_scheduler.LRScheduler.step": 12,
    "call torch.Tensor.item": 14,
    "call torch.optim.lr_scheduler.LRScheduler.get_last_lr": 14,
}


def test_what_unknown_objects_are_by_what_is_done_with_them(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(UNKNOWN_OBJECTS)
    project = Project()
    others = ("call torch.optim.Optimizer.backward", "call torch.amp.GradScaler.step")
    interpreter = Interpreter(project, frozenset((*BY_USE, *others)), frozenset())
    interpreter.run(project.load(str(path)), "explicit", ("m:Trainer.step", "m:Trainer.run"))
    noted = interpreter.finished_notes().values()
    assert {op.name: op.line for units in noted for ops in units.values() for op in ops} == BY_USE


EITHER = """
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack = nn.ModuleList([nn.GRU(4, 4)])

import elsewhere
model = Plain() if FLAG else Recurrent() if MORE else elsewhere.build()
plain = Plain()

def train():
    nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
"""


def test_either_of_two_modules_holds_an_rnn(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(EITHER)
    name = "call torch.nn.utils.clip_grad_norm_ of an RNN"
    interpreter = Interpreter(project := Project(), frozenset([name]), frozenset())
    interpreter.run(project.load(str(path)), "explicit", ("m:train",))
    noted = interpreter.finished_notes().values()
    assert [op.line for units in noted for ops in units.values() for op in ops] == [21]


CALLED_BY_NAME = """
import torch

def before(model, loader, epoch):
    rate = 0.1 * 0.5**epoch
    for batch in loader:
        print(batch)
    return rate

def after(model, loader, epoch):
    for batch in loader:
        print(epoch + 1)

def main(model, loader):
    for epoch in range(100):
        before(model, loader, epoch)
        after(model, loader, epoch)
"""


def test_a_call_of_what_the_settings_name_is_one_of_what_is_compiled(tmp_path: Path) -> None:
    """What is used after a break in a loop over data is guarded on by nothing: the function is left to Python."""
    path = tmp_path / "m.py"
    path.write_text(CALLED_BY_NAME)
    project = Project()
    interpreter = Interpreter(project, frozenset(), frozenset({"call compiled"}))
    interpreter.run(project.load(str(path)), "explicit", ("m:before", "m:after"))
    uses = {
        op.detail("to"): op.detail("use 2")
        for units in interpreter.finished_notes().values()
        for ops in units.values()
        for op in ops
    }
    assert uses == {"before": "read", "after": ""}


FLAGS = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.at, self.read = 0, 0

    def forward(self, x, use_cache=False, more=False):
        if use_cache:
            self.at += 1
        if more:
            self.read += 1
        return x * self.at * self.read
"""
CALLS = """
def generate(model, x):
    for _ in range(9):
        x = model(x, use_cache=True)

model = torch.compile(Net())
generate(model, torch.ones(1))
"""


@pytest.mark.parametrize("apart", [False, True], ids=["in one file", "in two"])
def test_what_a_flag_leads_to_that_the_program_sets_is_told_in_full(apart: bool, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(FLAGS if apart else FLAGS + CALLS)
    (tmp_path / "main.py").write_text(f"import torch\nfrom net import Net\n{CALLS}" if apart else "")
    found = lint(
        [str(tmp_path / "net.py"), str(tmp_path / "main.py")], Settings(target_torch=(2, 13))
    ).findings
    assert [(f.line, f.severity, f.note) for f in found if f.code == "PTR202"] == [
        (11, "warning", ""),
        (13, "warning", "`more` is off by default"),
    ]


def test_what_one_caller_sets_in_a_new_dictionary_no_other_finds(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("""
import torch

def options():
    made = dict()
    made["shown"] = unknown()
    return made

def quiet():
    chosen = options()
    chosen["shown"] = False

@torch.compile
def step(x, chosen):
    if chosen["shown"]:
        print(x)
    return x

quiet()
step(torch.ones(2), options())
""")
    found = lint([str(tmp_path / "m.py")], Settings(target_torch=(2, 13))).findings
    assert [(f.line, f.code) for f in found] == [(16, "PTB101")]


def test_what_hands_its_argument_back_is_asked_by_many(tmp_path: Path) -> None:
    """A helper of more scripts than are followed one by one: each has its own options still."""
    (tmp_path / "tools.py").write_text('def settled(config):\n    config["n"] = 10\n    return config\n')
    script = """
from torch import nn, optim
from tools import settled

class Loss(nn.Module):
    def forward(self, x, config):
        return x * config["NAME"]

def get_config():
    config = {"optimizer": optim.SGD, "NAME": 1}
    config = settled(config)
    return config

def train(config, data):
    model = nn.Linear(2, 2)
    steps = config["optimizer"](model.parameters(), lr=0.1)
    return Loss()(model(data), config), steps

if __name__ == "__main__":
    train(get_config(), None)
"""
    for number in range(14):
        (tmp_path / f"s{number}.py").write_text(script.replace("NAME", f"k{number}"))
    paths = [str(path) for path in sorted(tmp_path.iterdir())]
    found = lint(paths, Settings(root_names=("s9:train",))).findings
    assert "PTB189" in {f.code for f in found}


LOSS = """
import torch
from torch import nn


class Loss(nn.Module):
    def forward(self, pred, target, mask{annotation}):
        mask = mask.detach()
        return (pred[mask] - target[mask]).mean()


def main(loader, model):
    criterion = Loss()
    for images, depth, valid in loader:
        criterion(model(images), depth, {given}).backward()
"""


@pytest.mark.parametrize(
    ("annotation", "given", "codes"),
    [
        ("", "valid.bool()", {"PTB120"}),
        ("", "valid.long()", set()),
        ("", "valid", set()),
        (": torch.Tensor", "valid.bool()", {"PTB120"}),
    ],
)
def test_what_the_program_passes_to_a_module_that_is_named(
    annotation: str, given: str, codes: set[str], tmp_path: Path
) -> None:
    """The script calls the module with values of a loop over what nobody knows, used there as tensors are."""
    path = tmp_path / "m.py"
    path.write_text(LOSS.format(annotation=annotation, given=given))
    found = lint([str(path)], Settings(roots="explicit", root_names=("m.Loss.forward",))).findings
    assert {f.code for f in found} == codes


HANDED_ON = """
import sys
import torch

def inner(m, count=False):
    if count:
        m = m + sys.getrefcount(m)
    return m

def fill(given):
    given["count"] = True

def on(f, more, *args, **given):
    {filled}
    return f(*args, **given)

@torch.compile
def root(x: torch.Tensor, more):
    return on(inner, more, x{keywords})
"""


@pytest.mark.parametrize(
    ("filled", "keywords", "when"),
    [
        ("pass", "", None),
        ("pass", ", count=False", None),
        ("pass", ", count=True", ()),
        ('given["count"] = True', "", ()),
        ("fill(given)", "", ()),
        ("given.update(more)", "", ("count",)),
        ("given |= more", "", ("count",)),
        ("given[more] = 1", "", ("count",)),
        ("given = {**given, **more}", "", ("count",)),
        ('given.setdefault("count", more)', "", ("count",)),
    ],
)
def test_a_wrapper_hands_on_no_keyword_that_it_is_not_given(
    filled: str, keywords: str, when: tuple[str, ...] | None, tmp_path: Path
) -> None:
    path = tmp_path / "m.py"
    path.write_text(HANDED_ON.format(filled=filled, keywords=keywords))
    found = lint([str(path)], Settings()).findings
    assert [f.when for f in found] == ([] if when is None else [when])


SWITCHED = """
import sys
import torch
from functools import partial
from torch import nn

class Block(nn.Module):
    def forward(self, m, offload: bool = False):
        if offload:
            m = m + sys.getrefcount(m)
        return m + 1

class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.options = config.options
        self.blocks = nn.ModuleList(Block() for _ in range(3))

    def wrapped(self):
        def cleared(block, *args, **kwargs):
            return block(*args, **kwargs)

        return [partial(cleared, b) for b in self.blocks]

    def forward(self, m):
        if self.options.offload:
            for b in self.wrapped():
                m = b(m, offload=True)
        else:
            for b in self.wrapped():
                m = b(m)
        return m
"""


def test_a_condition_stays_where_a_wrapper_hands_on_what_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(SWITCHED)
    (found,) = lint([str(path)], Settings()).findings
    assert found.when == ("self.options.offload",)
