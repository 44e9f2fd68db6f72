"""Jupyter notebooks: their code as one text to lint, and a changed text put back into its cells.

Each code cell starts with a marker line, so that a changed text finds its cells again; what only IPython
understands (`%magic`, `!command`, a `%%bash` cell) stands as comments that know what they were.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

from pt2lint.report.place import Place

MARKER = "# %% pt2lint: code cell "
MASK = "pass  # pt2lint: IPython: "
MASKED = re.compile(r"^(\s*)" + re.escape(MASK) + "(.*)$")
# Cell magics whose cell is Python all the same.
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")


@dataclass(frozen=True)
class Notebook:
    """A notebook's code cells, joined. `places` says of each line of `text` where it stands."""

    text: str
    places: tuple[Place, ...]
    source: str

    def with_text(self, text: str) -> str:
        """The .ipynb file with the changed code in its cells; raises ValueError where a cell got lost."""
        document = json.loads(self.source)
        cells = [cell for cell in document["cells"] if cell.get("cell_type") == "code"]
        before, *parts = _split(text)
        if len(parts) != len(cells):
            raise ValueError("the change does not keep to its cell")
        if before and parts:  # an import put above everything goes into the first cell
            parts[0] = before + parts[0]
        for cell, part, old in zip(cells, parts, _split(self.text)[1:], strict=True):
            if part == old:
                continue
            code = "".join(_unmasked(line) for line in part.removesuffix("\n").splitlines(keepends=True))
            cell["source"] = code.splitlines(keepends=True) if isinstance(cell["source"], list) else code
        indent = re.match(r"\{\n?(\s*)", self.source)
        spaces = len(indent[1]) if indent and "\n" in self.source[: indent.end()] else None
        ascii_only = self.source.isascii()
        end = "\n" if self.source.endswith("\n") else ""
        return json.dumps(document, indent=spaces, ensure_ascii=ascii_only) + end


def read_notebook(data: str) -> Notebook:
    """The code of an .ipynb file's text.

    Raises ValueError, worded for the user, where it is no notebook (format 4) or not one in Python.
    """
    try:
        document = json.loads(data)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no Jupyter notebook: {error.msg} in line {error.lineno}") from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise ValueError("is no Jupyter notebook of format 4: it has no cells")
    kernel = document.get("metadata", {})
    language = (kernel.get("language_info") or kernel.get("kernelspec") or {}).get("language", "python")
    if (kernel.get("language_info") or {}).get("name", language) not in ("python", "ipython"):
        return Notebook("", (), data)
    lines: list[str] = []
    places: list[Place] = []
    seek = _Seeker(data)
    for number, cell in enumerate(cells, start=1):
        if cell.get("cell_type") != "code":
            continue
        code = _joined(cell)
        raw = code.split("\n")
        physical = seek.lines(cell)
        lines += [f"{MARKER}{number}", *_masked(raw)]
        first = physical[0][0] if physical else 1
        places.append(Place(number, 1, first, None))
        for at, _ in enumerate(raw):
            file_line, file_column = physical[at] if at < len(physical) else (first, None)
            places.append(Place(number, at + 1, file_line, file_column))
    return Notebook("".join(line + "\n" for line in lines), tuple(places), data)


def trouble(old: Notebook, new: str, text: str) -> str | None:
    """What is wrong with the file that `old.with_text(text)` gave, to follow "the notebook"; None: nothing.

    Beside the code of cells that the text changes, nothing may differ: no output, no metadata, no other cell.
    """
    before, after = json.loads(old.source), json.loads(new)
    cells = [[cell for cell in one["cells"] if cell.get("cell_type") == "code"] for one in (before, after)]
    parts = _split(old.text)[1:], _split(text)[1:]
    if not len(cells[0]) == len(cells[1]) == len(parts[0]) == len(parts[1]):
        return "would have another number of cells"
    first = True
    for one, other, was, now in zip(*cells, *parts, strict=True):
        if was == now and one != other and not (first and _split(text)[0]):
            return "would change in a cell that no fix touches"
        first = False
        one["source"] = other["source"] = ""
    # Numbers that are none are equal to nothing.
    return None if json.dumps(before) == json.dumps(after) else "would change beside its code"


def _joined(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else source


def _split(text: str) -> list[str]:
    """What stands before the first cell, then the text of each."""
    return re.split(f"^{re.escape(MARKER)}\\d+\n", text, flags=re.MULTILINE)


def _masked(lines: list[str]) -> list[str]:
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(PYTHON_MAGICS):
        return [_mask(line) for line in lines]
    masked = [_mask(line) if line.lstrip()[:1] in ("%", "!", "?") else line for line in lines]
    try:
        ast.parse("\n".join(masked))
    except (SyntaxError, ValueError):  # `x = !ls`, `tensor?`, or a cell that was left broken
        return [_mask(line) if line.strip() else line for line in lines]
    return masked


def _mask(line: str) -> str:
    body = line.lstrip()
    return line[: len(line) - len(body)] + MASK + body


def _unmasked(line: str) -> str:
    return MASKED.sub(r"\1\2", line)


class _Seeker:
    """Finds each cell's lines in the .ipynb file: code scanning and editors open that file as it stands."""

    def __init__(self, data: str) -> None:
        self._data = data.split("\n")
        self._at = 0

    def lines(self, cell: dict[str, Any]) -> list[tuple[int, int | None]]:
        """(line, column of the code's first character) of each of the cell's lines; [] where it has its own
        layout."""
        source = cell.get("source", "")
        parts = source if isinstance(source, list) else source.splitlines(keepends=True)
        if not parts:
            return []
        forms = {json.dumps(parts[0], ensure_ascii=flag) for flag in (True, False)}
        for start in range(self._at, len(self._data)):
            if self._data[start].strip().rstrip(",") in forms and self._follows(start, parts):
                self._at = start + len(parts)
                return [
                    (start + i + 1, len(line) - len(line.lstrip()) + 2)
                    for i, line in enumerate(self._data[start : start + len(parts)])
                ]
        joined = {json.dumps("".join(parts), ensure_ascii=flag) for flag in (True, False)}
        for start in range(self._at, len(self._data)):
            if any(form in self._data[start] for form in joined):
                self._at = start
                return [(start + 1, None)]
        return []

    def _follows(self, start: int, parts: list[str]) -> bool:
        found = [line.strip().rstrip(",") for line in self._data[start : start + len(parts)]]
        return all(
            line in (json.dumps(part), json.dumps(part, ensure_ascii=False))
            for line, part in zip(found, parts, strict=False)
        ) and len(found) == len(parts)
