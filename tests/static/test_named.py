"""Roots that the settings name: "train.step", "pkg.mod:Class.method", "losses.py:get_step.step"."""

from pathlib import Path

import pytest

from pt2lint.project.config import Settings, parse_roots
from pt2lint.static.engine import lint
from pt2lint.static.source.named import inside

CODE = """\
import torch


class Trainer:
    def step(self, x: torch.Tensor):
        return x.max().item()

    def log(self, x: torch.Tensor):
        return x.max().item()


class Late(Trainer):
    pass


def step(x: torch.Tensor):
    return x.min().item()


def log(x: torch.Tensor):
    return x.min().item()
"""
METHOD, FUNCTION = 6, 17

NESTED = """\
import torch


def get_step(scale: float, train):
    weights = torch.ones(3)
    if train:

        def step(x: torch.Tensor):
            return weights.sum().item() * x
    else:

        def step(x: torch.Tensor):
            return scale.item() * x.min().item()

    class Local:
        def run(self):
            def deep(x):
                return x + weights.max().item()

            return deep

    return step, Local


class Trainer:
    def __init__(self):
        self.weights = torch.ones(3)

    def get(self):
        def step(x):
            return x + self.weights.sum().item()

        return step


def other(x: torch.Tensor):
    return x.item()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/train.py").write_text(CODE)


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        ((), []),
        (("train.step",), [FUNCTION]),
        (("pkg.train.step",), [FUNCTION]),
        (("pkg.train:step",), [FUNCTION]),
        (("train.Trainer.step",), [METHOD]),
        (("train:Trainer.step", "train:step"), [METHOD, FUNCTION]),
        (("train:Late.step",), [METHOD]),
        (("other.step", "otrain.step"), []),
        (("pkg/train.py:step", "loose/main.py:step"), [FUNCTION]),
        (("train.py:Trainer.step",), [METHOD]),
        (("./pkg/train.py:step",), [FUNCTION]),
        (("kg/train.py:step", "main/train.py:step"), []),
    ],
)
def test_what_is_named_is_compiled(names: tuple[str, ...], lines: list[int]) -> None:
    result = lint(["pkg/train.py"], Settings(roots="explicit", root_names=names))
    assert [(f.line, f.code) for f in result.findings] == [(line, "PTB103") for line in lines]
    assert result.problems == []
    assert all("is compiled" in f.flow[0].message for f in result.findings)


ABSTRACT = """\
import abc
import torch
from abc import abstractmethod


class Agent(abc.ABC):
    @abstractmethod
    def loss(self, x): ...

    def learn(self, x):
        return self.loss(x) + self.scale.item()


class Store(abc.ABC):
    @abc.abstractmethod
    def has(self, x): ...


class Held(Store):
    def has(self, x):
        return x.tolist() in []


@torch.compile
def look(x, store: Store):
    return x if store.has(x) else x + 1
"""
DERIVED = """\
import torch
from agent import Agent


class Middle(Agent):
    pass


class Fast(Middle):
    def __init__(self):
        self.scale = torch.ones(())

    def loss(self, x: torch.Tensor):
        return x.max().item()


def main(x):
    Fast().learn(x)
"""


def test_of_an_abstract_class_those_that_derive_from_it_are_followed() -> None:
    Path("agent.py").write_text(ABSTRACT)
    Path("fast.py").write_text(DERIVED)
    result = lint(["agent.py", "fast.py"], Settings(roots="explicit", root_names=("agent:Agent.learn",)))
    found = [("agent.py", 11, "PTB103"), ("agent.py", 21, "PTB105"), ("fast.py", 14, "PTB103")]
    assert [(f.path, f.line, f.code) for f in result.findings] == found


def test_a_name_that_its_module_does_not_define() -> None:
    result = lint(["pkg/train.py"], Settings(root_names=("train.stpe", "train:Gone.step", "elsewhere.gone")))
    assert [str(problem) for problem in result.problems] == [
        "`roots` names `train.stpe`, but pkg/train.py defines no `stpe`; did you mean `step`?",
        "`roots` names `train:Gone.step`, but pkg/train.py defines no `Gone`",
    ]


def test_two_modules_of_one_name_need_not_both_define_it() -> None:
    Path("train.py").write_text("import torch\n")
    result = lint(["pkg/train.py", "train.py"], Settings(root_names=("train.step",)))
    assert result.problems == []
    assert [f.line for f in result.findings] == [FUNCTION]


def test_places() -> None:
    assert inside("a.b:C.m", "a.b") == inside("a.b.C.m", "a.b") == inside("b.C.m", "x.a.b") == ["C", "m"]
    assert inside("b:m", "ab") is inside("a.b:m", "b") is inside("b.m", "m") is None


@pytest.mark.parametrize("name", ["loose/main.py:step", "loose.main:step", "main:step", "loose.main.step"])
def test_a_folder_that_is_no_package(name: str) -> None:
    Path("loose").mkdir()
    Path("loose/main.py").write_text(CODE)
    result = lint(["loose/main.py", "pkg/train.py"], Settings(roots="explicit", root_names=(name,)))
    assert [(f.path, f.line) for f in result.findings] == [("loose/main.py", FUNCTION)]
    assert result.problems == []


def test_one_that_does_not_exist_leaves_the_others() -> None:
    names = ("train.step", "train.stepp", "pkg/train.py:Trainer.lgo")
    result = lint(["pkg/train.py"], Settings(roots="explicit", root_names=names))
    assert [f.line for f in result.findings] == [FUNCTION]
    assert [str(p) for p in result.problems] == [
        "`roots` names `train.stepp`, but pkg/train.py defines no `stepp`; did you mean `step`?",
        "`roots` names `pkg/train.py:Trainer.lgo`, but `Trainer` defines no `lgo`; did you mean `log`?",
    ]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("losses.py:get_step.step", [9, 13]),  # whichever the enclosing function makes
        ("losses.get_step.step", [9, 13]),
        ("losses:get_step.Local.run.deep", [18]),
        ("pkg/losses.py:Trainer.get.step", [31]),
    ],
)
def test_a_function_in_another_one_knows_what_it_closes_over(name: str, lines: list[int]) -> None:
    Path("pkg/losses.py").write_text(NESTED)
    roots, names = parse_roots(["explicit", name])
    result = lint(["pkg/losses.py"], Settings(roots=roots, root_names=names))
    assert [(f.line, f.code) for f in result.findings] == [(line, "PTB103") for line in lines]
    assert result.problems == []


def test_what_a_function_does_not_define() -> None:
    Path("pkg/losses.py").write_text(NESTED)
    names = (
        "losses:get_step.stp",
        "losses.get_step.other",
        "losses:Trainer.get.stepp",
        "losses:get_step.Local.rn",
    )
    result = lint(["pkg/losses.py"], Settings(roots="explicit", root_names=names))
    assert [str(p).removeprefix("`roots` names ") for p in result.problems] == [
        "`losses:get_step.stp`, but `get_step` defines no `stp`; did you mean `step`?",
        "`losses.get_step.other`, but `get_step` defines no `other`",
        "`losses:Trainer.get.stepp`, but `get` defines no `stepp`; did you mean `step`?",
        "`losses:get_step.Local.rn`, but `Local` defines no `rn`; did you mean `run`?",
    ]


GIVEN = """\
import torch


def clip(parameters, limit):
    return torch.nn.utils.clip_grad_norm_(parameters, limit)


def norm(parameters, limit=None):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    parameters = [p for p in parameters if p.requires_grad]
    return len(parameters)


def mixed(tensors):
    return [x + 1 for x in tensors]


def update(pairs, tensors):
    for n, x in pairs:
        x.mul_(n)
    for x in list(tensors):
        x.mul_(2)


def lists(tensors):
    return [x + 1 for x in tensors]


class Agent:
    def __init__(self, data):
        self.batches = iter(data)

    def update(self):
        return next(self.batches) + 1

    def learn(self, batches):
        return next(batches) + 1

    def own(self, data):
        batches = iter([torch.ones(1)])
        return next(batches) + 1


def among(parameters):
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    return sum(p.sum() for p in parameters)


def main(model: torch.nn.Module):
    among(model.parameters())
    clip(model.parameters(), limit=1.0)
    norm(model.parameters())
    update(zip([1, 2], [torch.ones(1), torch.ones(2)]), tensors=(x + 1 for x in [torch.ones(1)]))
    lists(list(model.parameters()))
    mixed([torch.ones(1)])
    mixed(model.parameters())


def train(nets):
    net, optimizer = nets
    net.train()
    of_unknown(net.parameters())


def of_unknown(parameters):
    return max(p.abs().max() for p in list(parameters))


class Average:
    def update(self, parameters):
        return [p.clone() for p in parameters]


class Keeps:
    def __init__(self, model: torch.nn.Module):
        self.model, self.average = model, Average()

    def after(self):
        self.average.update(self.model.parameters())
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("clip", [5]),
        ("norm", [11]),
        ("update", [20, 22]),
        ("lists", []),
        ("mixed", []),
        ("Agent.update", [35]),
        ("Agent.learn", [38]),
        ("Agent.own", []),
        ("among", [46]),
        ("of_unknown", [67]),
        ("Average.update", [72]),
        ("main", []),
    ],
)
def test_an_iterator_that_the_program_passes(name: str, lines: list[int]) -> None:
    Path("pkg/given.py").write_text(GIVEN)
    result = lint(["pkg/given.py"], Settings(roots="explicit", root_names=(f"given.{name}",)))
    assert [(f.line, f.code) for f in result.findings] == [(line, "PTB187") for line in lines]


FACTORY = """\
import torch


def make(model, train):
    def step(batch):
        if train:
            loss = model(batch).mean()
            loss.backward()
            return loss.detach()
        print(model(batch).mean())

    return step


def main(model, data):
    train_step, eval_step = make(model, True), make(model, False)
    for batch in data:
        train_step(batch)
        eval_step(batch)


if __name__ == "__main__":
    main(torch.nn.Linear(2, 2), [torch.ones(2, 2)])
"""


@pytest.mark.parametrize(
    "calls", ["make(model, True), make(model, False)", "make(model, False), make(model, True)"]
)
def test_what_a_factory_defines_is_read_for_all_flags_that_it_is_given(calls: str) -> None:
    """What was interpreted for one constant is no answer for an unknown of its type."""
    code = FACTORY.replace("make(model, True), make(model, False)", calls)
    Path("make.py").write_text(code)
    result = lint(["make.py"], Settings(roots="explicit", root_names=("make:make.step",)))
    assert [(f.line, f.code) for f in result.findings] == [(8, "PTB160"), (10, "PTB101")]
