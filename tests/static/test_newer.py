"""Which Python reads a text, where this one does not."""

import sys

import pytest

from pt2lint.project.config import Settings
from pt2lint.static.engine import lint
from pt2lint.static.source.newer import newer_python

TEXTS = {
    "try:\n    f()\nexcept* ValueError:\n    pass\n": (3, 11),
    "x = a[*b]\n": (3, 11),
    "type A[T] = list[T]\n": (3, 12),
    "def f[T](x: T): ...\n": (3, 12),
    'x = f"{a["b"]}"\n': (3, 12),
    "x = f'{a + '\\n'}'\n": (3, 12),
    "class A[T = int]: ...\n": (3, 13),
    "try:\n    f()\nexcept A, B:\n    pass\n": (3, 14),
    'x = t"{a}"\n': (3, 14),
    "x = (1\n": None,
    'print "a"\n': None,
}


@pytest.mark.parametrize(("text", "python"), TEXTS.items())
def test_the_first_python_that_reads_it(text: str, python: tuple[int, int] | None) -> None:
    assert newer_python(text) == python
    try:
        compile(text, "", "exec")
    except SyntaxError:
        assert python is None or python > sys.version_info[:2]
    else:
        assert python is not None
        assert python <= sys.version_info[:2]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "x = " + "-" * 100_000, "if a:\n  b\n" + "elif c:\n  d\n" * 9000 + "("]
)
def test_a_text_that_would_end_the_parser_is_not_given_to_it(text: str) -> None:
    assert newer_python(text) is None


def test_a_file_for_a_newer_python_is_told_with_that_python() -> None:
    newer = {text: python for text, python in TEXTS.items() if python and python > sys.version_info[:2]}
    for text, python in newer.items():
        [problem] = lint(["m.py"], Settings(), {"m.py": text}).problems
        assert f"is written for Python {python[0]}.{python[1]}, which this one" in problem.message
    [problem] = lint(["m.py"], Settings(), {"m.py": "x = (1\n"}).problems
    assert problem.message.startswith("does not parse: ")
