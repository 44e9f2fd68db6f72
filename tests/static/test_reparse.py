"""A text parsed once more after an edit: the tree is what parsing all of it makes, whatever the edit."""

from __future__ import annotations

import ast
import random
import warnings
from pathlib import Path

import pytest

import pt2lint
from pt2lint.integrations.server import linted
from pt2lint.static.memory import Memory
from pt2lint.static.source.nodes import parse
from pt2lint.static.source.reparse import Trees, reparsed

TEXT = '''"""Said first."""
import torch

@torch.no_grad()
def f(x):
    return x  # as it is

class A(torch.nn.Module):
    """A class."""

    rate = 1

    @property
    def size(self):
        return 1

    def forward(self, x):
        text = """
    def g(self): pass
"""
        if x is None:
            return text
        return x + 1;

    # the end of it
value = A()
if value:
    value = 1
else:
    value = 2
'''


def dumped(tree: ast.AST | None) -> str:
    return "none" if tree is None else ast.dump(tree, include_attributes=True)


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("return x  # as it is", "return x + 2", True),
        ("return x + 1;", "return x + 1; y = 2", True),
        ("return x + 1;", "pass", True),
        ("    rate = 1", "    rate, more = 1, 2", True),
        ("        return 1\n", "        return 1\n        more = 2\n", True),
        ("    # the end of it", "    last = 3", True),
        ("    # the end of it", "last = 3", True),
        ("    @property\n", "", True),
        ("@torch.no_grad()\n", "", True),
        ("value = A()\n", "value = A()\nmore = 1\n", True),
        ("import torch\n", "import torch\n\n\n", True),
        ("class A(torch.nn.Module):", "class A(B):", True),
        ("    def forward(self, x):", "    def forward(self, x=1):", True),
        ("    def forward(self, x):", "        def forward(self, x):", False),
        ("    def forward(self, x):\n", "", True),
        ("        return 1\n", "        return 1 \\\n", True),
        ("value = A()", "else: value = A()", False),
        ("def g(self): pass\n", 'def g(self): pass\n""" + """', True),
        ('text = """', 'text = ""', False),
    ],
)
def test_what_an_edit_leaves_is_taken_from_the_tree_before(old: str, new: str, kept: bool) -> None:
    changed = TEXT.replace(old, new, 1)
    assert changed != TEXT
    tree = ast.parse(TEXT)
    made = reparsed(TEXT, tree, changed)
    assert (made is not None) == kept
    if made is not None:
        assert dumped(made) == dumped(ast.parse(changed))
        assert any(each in tree.body for each in made.body), "something is not parsed again"
    assert dumped(tree) == dumped(ast.parse(TEXT)), "the tree before stays as it is"


def test_a_class_keeps_its_other_methods() -> None:
    before = ast.parse(TEXT)
    after = reparsed(TEXT, before, TEXT.replace("rate = 1", "rate = 2"))
    assert after is not None
    old, new = before.body[3], after.body[3]
    assert isinstance(old, ast.ClassDef)
    assert isinstance(new, ast.ClassDef)
    assert old is not new
    assert [a is b for a, b in zip(old.body, new.body, strict=True)] == [True, False, True, True]


PIECES = [
    "x",
    "    ",
    "\n",
    '"""',
    "#",
    "(",
    ")",
    ":",
    "else:\n",
    "@of\n",
    "if a:\n",
    "\\\n",
    ";",
    "x = 1\n",
    "é",
]
PIECES += [
    "    def f(self):\n        pass\n",
    "class A:\n    b = 1\n",
    "        y = 2\n",
    "async ",
    "\t",
    ",",
]


def edited(draw: random.Random, text: str) -> str:
    lines, at = text.split("\n"), draw.randrange(len(text) + 1)
    line = draw.randrange(len(lines))
    match draw.randrange(5):
        case 0:
            return text[:at] + draw.choice(PIECES) + text[at:]
        case 1:
            return text[:at] + text[at + draw.choice((1, 1, 3, 20)) :]
        case 2:
            del lines[line : line + draw.choice((1, 1, 4))]
        case 3:
            lines.insert(line, draw.choice(["", "# said", "        x = 1", "    x = 1", draw.choice(lines)]))
        case _:
            old = lines[line]
            white = len(old) - len(old.lstrip()) + draw.choice((-4, 0, 4))
            lines[line] = " " * max(0, white) + draw.choice([old.lstrip(), "x = 1", "else:"])
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(3))
def test_edits_at_random_of_real_texts(seed: int) -> None:
    draw = random.Random(seed)
    files = sorted((Path(pt2lint.__file__).parent / "static").rglob("*.py"))
    trees, parts = Trees(), 0
    for path in draw.sample(files, 6):
        text = path.read_text(encoding="utf-8")
        trees.parse(text, "m.py")
        for _ in range(20):
            new = edited(draw, text)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    known = trees._last["m.py"]
                    parts += reparsed(*known, new) is not None
                    tree = trees.parse(new, "m.py")
            except SyntaxError:
                with pytest.raises(SyntaxError):
                    parse(new, "m.py")
                continue
            assert dumped(tree) == dumped(parse(new, "m.py"))
            text = new
    assert parts > 20, "some of these edits leave something as it was"


MODEL = """
import torch

class Part(torch.nn.Module):
    def forward(self, x):
        n = 1
        return x * x.max().item()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return self.part(x)
"""


def test_an_editor_finds_what_a_new_one_finds(tmp_path: Path) -> None:
    memory, path = Memory(), str(tmp_path / "m.py")
    text = MODEL
    for old, new in (
        ("n = 1", "print(x)"),
        ("x = x + 1", "x = x + x.mean().item()"),
        ("print(x)", "n = 2"),
        ("if x.sum() > 0:", "if x.shape[0] > 0:"),
        ("x.max().item()", "x.max()"),
        ("self.part = Part()", "self.part = Part(); self.n = 1"),
        ("    def forward(self, x):\n        n", "    def forward(self, x):\n\n        n"),
    ):
        text = text.replace(old, new)
        kept, anew = linted(path, text, {}, None, memory), linted(path, text, {}, None, Memory())
        assert kept is not None
        assert anew is not None
        assert kept.findings == anew.findings
