"""Jupyter notebooks as one Python text, and that text back in its cells."""

from __future__ import annotations

import ast
import json

import pytest

from pt2lint.project.notebook import read_notebook, trouble


def notebook(*cells: str) -> str:
    code = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
         "source": cell.splitlines(keepends=True)}
        for cell in cells
    ]  # fmt: skip
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("%matplotlib inline\nx = 1", ["x = 1"]),
        ("files = !ls *.py\nfor f in files:\n    print(f)", ["for f in files:\n    print(f)"]),
        ("if True:\n    out = %timeit -o f()\n    y = 2", ["if True:\n    pass\n    y = 2"]),
        ("a.b, c = !ls\nx = 1", ["x = 1"]),
        ("x.shape?\n?x\n??x\nx??\ny = 2", ["y = 2"]),
        ("%%time\nfor i in range(3):\n    x = !ls", ["for i in range(3):\n    pass"]),
        ("!pip install a \\\n    b \\\n  c\nx = 1", ["x = 1"]),
        ("!pip install a\ny = (a\n     % b)", ["y = a % b"]),
        ('text = """\n%d\n!a\n"""\n!ls', ["text = '\\n%d\\n!a\\n'"]),
        ("!echo it's (\nx = 1", ["x = 1"]),
        ("await f()\nx = 1", ["await f()", "x = 1"]),
        # What no part of says what it is: none of it is read.
        ("%%bash\nfor x in *; do\n    echo $x\ndone", []),
        ("x = 1\nfor x in\n    y", []),
        ("\n  %%html\n  <b>\n    x", []),
    ],
)
def test_what_only_ipython_understands_is_left_out_and_all_else_read(cell: str, read: list[str]) -> None:
    book = read_notebook(notebook(cell, "z = 3"))
    tree = ast.parse(book.text)
    assert [ast.unparse(one) for one in tree.body if not isinstance(one, ast.Pass)] == [*read, "z = 3"]
    assert len(book.places) == len(book.text.splitlines())
    changed = json.loads(book.with_text(book.text.replace("z = 3", "z = 4")))
    assert ["".join(one["source"]) for one in changed["cells"]] == [cell, "z = 4"]
    # What is put above a cell leaves what IPython alone understands as it was.
    added = json.loads(book.with_text("import torch\n" + book.text))
    assert "".join(added["cells"][0]["source"]) == "import torch\n" + cell


def test_a_cell_ends_as_it_did() -> None:
    """No cell gets an empty line at its end, as one has that a block was put below."""
    book = read_notebook(notebook("x = 1", "y = 2\n"))
    text = book.text.replace("x = 1\n", "x = 1\n\nz = 3\n\n").replace("y = 2\n", "y = 3\n")
    changed = json.loads(book.with_text(text))
    assert ["".join(one["source"]) for one in changed["cells"]] == ["x = 1\n\nz = 3", "y = 3\n"]


COLAB = json.loads(notebook("x = 1\nif x < 2:\n    x = 3", "y = 2\n"))
COLAB["cells"].insert(0, {"cell_type": "markdown", "metadata": {"source": ["m"]}, "source": "<b>, "})
COLAB["cells"][1]["outputs"] = [{"source": ["<p>"], "y": []}]


@pytest.mark.parametrize("indent", [2, "\t", None])
@pytest.mark.parametrize("parts", [None, (",", ":")])
@pytest.mark.parametrize("escaped", [True, False])
def test_what_no_fix_touches_stays_as_it_is_written(
    indent: int | str | None, parts: tuple[str, str] | None, escaped: bool
) -> None:
    """Colab's notebooks write `<` as an escape."""

    def written(document: object) -> str:
        made = json.dumps(document, indent=indent, separators=parts).replace(": 5", ": 5e0")
        return made.replace("<", "\\u003c").replace(">", "\\u003e") if escaped else made

    book = read_notebook(written(COLAB))
    after = json.loads(json.dumps(COLAB))
    after["cells"][1]["source"] = ["x = 1\n", "if x < 4 > 1:\n", "    x = 3"]
    after["cells"][2]["source"] = ["import torch\n", "y = 2\n"]
    text = book.text.replace("x < 2", "x < 4 > 1").replace("y = 2", "import torch\ny = 2")
    new = book.with_text(text)
    if indent is None:  # one line: how its first cell parts lines is all that can be seen
        assert json.loads(new) == json.loads(written(after))
    else:
        assert new == written(after)
    assert trouble(book, new, text) is None


@pytest.mark.parametrize(
    "cells",
    ["[3]", "[null]", '[{"cell_type": "code", "source": 3}]', '[{"cell_type": "code", "source": ["a", 3]}]'],
)
def test_cells_that_are_none(cells: str) -> None:
    with pytest.raises(ValueError, match="is no Jupyter notebook of format 4: a cell of it is none"):
        read_notebook(f'{{"nbformat": 4, "cells": {cells}}}')


@pytest.mark.parametrize("metadata", ["3", "null", '{"language_info": []}', '{"kernelspec": 3}'])
def test_metadata_that_is_none(metadata: str) -> None:
    cells = '[{"cell_type": "code", "source": "x = 1"}]'
    read = read_notebook(f'{{"nbformat": 4, "metadata": {metadata}, "cells": {cells}}}')
    assert "x = 1\n" in read.text
