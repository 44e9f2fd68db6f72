"""A few of the steps of benchmarks/random_edits.py: what was kept gives the answer of a cold run after any edit."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import pytest

from pt2lint.static import engine
from pt2lint.static.cache import Cache
from pt2lint.static.change import Change
from pt2lint.static.source.reads import FACTS
from tests.files import loaded
from tests.static.test_cache import LIB, USING
from tests.static.test_engine import GIVING, KINDS

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "random_edits.py"
MORE = """

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.net = nn.Linear(2, 2), Net()

    def forward(self, x):
        x = self.net(self.first(x))
        for row in x:
            if row.max() > 1:
                print(row)
        return torch.nonzero(x)


step = torch.compile(Deep())
"""


@pytest.fixture(scope="module")
def edits() -> ModuleType:
    return loaded(BENCHMARK)


@pytest.mark.parametrize("kind", ["word", "code", "calls"])
def test_what_is_asked_of_two_texts_is_asked_of_what_differs(kind: str) -> None:
    draw = random.Random(kind)
    parts = ["f", "g", "a.f", ".f", "(", ")", " ", "\n", "\n", "#", "as ", " as f", "f as g", "def ", "a"]
    alike = []
    for _ in range(3000):
        lines = [["".join(draw.choices(parts, k=draw.randrange(4))) for _ in range(3)] for _ in range(4)]
        above, old, new, below = map("\n".join, lines)
        before, after = (f"{above}\n{each}\n{below}" for each in (old, new))
        about = draw.choice(["f", "a.f", ".f", "g", "a.f g"])
        answers = FACTS[kind](before, about) == FACTS[kind](after, about)
        assert Change(before, after)._say_alike(kind, about) == answers, (before, after, about)
        alike.append(answers)
    assert 300 < sum(alike) < 2990


@pytest.mark.parametrize(("seed", "group"), [(0, engine.GROUP), (1, 1), (2, 1)])
def test_after_edits_at_random(
    seed: int, group: int, edits: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "GROUP", group)
    monkeypatch.setattr(Cache, "few_units", seed % 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    Path("sources").mkdir()
    Path("sources/net.py").write_text(
        USING.replace("import torch\n", "import torch\nfrom torch import nn\n") + MORE
    )
    Path("sources/lib.py").write_text(LIB)
    Path("sources/kinds.py").write_text(KINDS)
    Path("sources/giving.py").write_text(GIVING.format(given="scale(pick(x, 1), x.item())"))
    if seed % 2:
        Path("sources/__init__.py").touch()
    files = ["sources/net.py", "sources/lib.py", "sources/kinds.py", "sources/giving.py"]
    assert edits.walk(random.Random(seed), files, 8) == 0
