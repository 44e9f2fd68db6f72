"""Comments that silence findings: what they cover, which are idle, and how they are written and removed."""

import ast

import pytest

from pt2lint.finding import Finding
from pt2lint.fixes.edit import apply_edits
from pt2lint.project import suppress


def found(line: int, code: str = "PTB103") -> Finding:
    return Finding(code, "n", "m", "m.py", line, 1, line, 2)


def silenced(source: str, *findings: Finding) -> list[int]:
    return [finding.line for finding in suppress.split(findings, suppress.comments(source))[1]]


def fixed(source: str, *findings: Finding) -> str:
    """The source without the comments that silence nothing."""
    marks = suppress.comments(source)
    suppress.split(findings, marks)
    idle = suppress.unused("m.py", marks, lambda code: True)
    return apply_edits(source, [edit for finding in idle for fix in finding.fixes for edit in fix.edits])


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "#noqa:PTB103",
        "# noqa: PTB103",
        "# noqa: PTB103 the reason",
        "# noqa: E501,PTB103",
        "# noqa: E501 PTB103",
        "# noqa: PTB",
        "# type: ignore  # noqa: PTB103",
        "# noqa:PTB103 # pylint: disable=x",
        "# pt2lint: ignore",
        "# pt2lint:ignore[PTB103]",
        "# pt2lint: ignore[E1, ptb103]",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    assert silenced(f"x = 1  {comment}\n", found(1)) == [1]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: ",
        "# noqa: because",
        "# noqa-ish",
        "# noqa: PTB104",
        "# pt2lint: ignore[PTB104]",
        "# pt2lint: ignored",
        "# pt2lint",
        "; '# noqa'",
    ],
)
def test_comments_that_do_not(comment: str) -> None:
    assert silenced(f"x = 1  {comment}\n", found(1)) == []


def test_a_statement_of_several_lines() -> None:
    source = "x = f(\n    a,\n    b,{}\n){}\ny = 2\n"
    lines = [found(line) for line in range(1, 6)]
    assert silenced(source.format("", "  # noqa: PTB103"), *lines) == [1, 2, 3, 4]
    assert silenced(source.format("  # noqa: PTB103", ""), *lines) == [3]


def test_a_header_is_not_its_block() -> None:
    source = "if (x >\n    0):  # noqa: PTB103\n    y = 1\n"
    assert silenced(source, *map(found, (1, 2, 3))) == [1, 2]


def test_a_line_of_its_own_covers_the_statement_below_and_its_block() -> None:
    source = "a = 1\n# pt2lint: ignore[PTB103]\n\n@dec\ndef f(x):\n    y = x\n    return y\nb = 2\n"
    assert silenced(source, *map(found, range(1, 9))) == [4, 5, 6, 7]
    assert silenced("# noqa: PTB103\na = 1\n", found(2)) == []


def test_a_whole_file() -> None:
    source = "a = 1\nb = 2\n# pt2lint: ignore-file{}\n"
    assert silenced(source.format(""), found(1), found(2, "PTR201")) == [1, 2]
    assert silenced(source.format("[PTB]"), found(1), found(2, "PTR201")) == [1]


@pytest.mark.parametrize("source", ["x = (  # noqa\n", "def f(:  # noqa\n", "'''# noqa\n"])
def test_text_that_is_no_python_has_none(source: str) -> None:
    assert suppress.comments(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1  # noqa: PTB103\n", "x = 1\n"),
        ("x = 1  # noqa: E501, PTB103\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: PTB103,PTR201, E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: PTB103 # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore # noqa: PTB103\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: PTB103 it is slow\n", "x = 1  # it is slow\n"),
        ("# pt2lint: ignore[PTB103]\nx = 1\n", "x = 1\n"),
        ("x = 1\n# pt2lint: ignore-file[PTB103, PTB104]\n", "x = 1\n"),
        ("x = 1  # pt2lint: ignore[PTB103, E1]\n", "x = 1\n"),
        ("x = 1\t# noqa: PTB103\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
    ],
)
def test_idle_codes_are_removed(source: str, expected: str) -> None:
    assert fixed(source) == expected
    assert fixed(expected) == expected


@pytest.mark.parametrize(
    "comment", ["# noqa", "# noqa: PT001", "# noqa: E501", "# pt2lint: ignore", "# noqa: PT"]
)
def test_what_may_be_anothers_is_left(comment: str) -> None:
    assert fixed(f"x = 1  {comment}\n") == f"x = 1  {comment}\n"


def test_a_code_that_silences_stays() -> None:
    source = "x = 1  # noqa: PTB103, PTB110\n"
    assert fixed(source, found(1)) == "x = 1  # noqa: PTB103\n"
    both = "# pt2lint: ignore-file[PTB103]\nx = 1  # noqa: PTB103\n"
    assert fixed(both, found(2)) == both


def test_what_was_not_looked_for_is_no_finding() -> None:
    marks = suppress.comments("x = 1  # noqa: PTB900, PTB103\n")
    [finding] = suppress.unused("m.py", marks, lambda code: code != "PTB900")
    assert finding.message == "This comment silences nothing: no `PTB103` is reported here"
    assert (finding.line, finding.column, finding.end_column) == (1, 8, 30)


@pytest.mark.parametrize(
    ("source", "lines", "expected"),
    [
        ("x = 1\n", [1], "x = 1  # noqa: PTB103\n"),
        ("x = 1", [1], "x = 1  # noqa: PTB103"),
        ("x = f(\n  1,\n)\ny = 1\r\n", [1, 4], "x = f(\n  1,\n)  # noqa: PTB103\ny = 1  # noqa: PTB103\r\n"),
        ("x = 1  # noqa: E501\n", [1], "x = 1  # noqa: E501, PTB103\n"),
        ("x = 1  # noqa: PTB\n", [1], "x = 1  # noqa: PTB\n"),
        ("x = 1  # a word\n", [1], "x = 1  # a word  # noqa: PTB103\n"),
        ('x = """a\nb""", f(\\\n  1)\n', [1], 'x = """a\nb""", f(\\\n  1)  # noqa: PTB103\n'),
    ],
)
def test_add_noqa(source: str, lines: list[int], expected: str) -> None:
    text = suppress.add_noqa(source, map(found, lines))
    assert text == expected
    ast.parse(text)
    assert silenced(text, *map(found, lines)) == lines
