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
# Lines that only IPython understands: %magic, !command, ?help, help?, and what is set to a magic or a command.
MAGIC = re.compile(r"\s*(?:[%!?]|[^=!#\"']*=\s*[%!]|[%\w.*\[\]()'\"]*\?\??\s*(?:;\s*)?$)")
# Cell magics whose cell is Python all the same.
PYTHON_MAGICS = (
    "%%time",
    "%%timeit",
    "%%capture",
    "%%prun",
    "%%memit",
    "%%wandb",
    "%%snakeviz",
    "%%pyinstrument",
)


@dataclass(frozen=True)
class Notebook:
    """A notebook's code cells, joined. `places` says of each line of `text` where it stands."""

    text: str
    places: tuple[Place, ...]
    source: str

    def line_named(self, near: int, path: str | None, line: int) -> str:
        """What a text about the line `near` of `text` calls another line: one of `path`, None for the same file."""
        if path is not None and not path.endswith(".ipynb"):
            return f"{path}:{line}"
        place = self.places[line - 1]
        if path is not None:
            return f"{path}:cell {place.cell}:{place.line}"
        return str(place.line) + (
            "" if place.cell == self.places[near - 1].cell else f" of cell {place.cell}"
        )

    def with_text(self, text: str) -> str:
        """The .ipynb file with the changed code in its cells; raises ValueError where a cell got lost."""
        cells = [cell for cell in json.loads(self.source)["cells"] if "source" in cell]
        spans = _sources(self.source)
        before, *parts = _split(text)
        code = [at for at, cell in enumerate(cells) if cell.get("cell_type") == "code"]
        if len(parts) != len(code) or len(spans) != len(cells):
            raise ValueError("the change does not keep to its cell")
        if before and parts:  # an import put above everything goes into the first cell
            parts[0] = before + parts[0]
        made, done = "", 0
        for at, part, old in zip(code, parts, _split(self.text)[1:], strict=True):
            if part != old:
                new = "".join(_unmasked(line) for line in part.removesuffix("\n").splitlines(keepends=True))
                new = new if _joined(cells[at]).endswith("\n") else new.rstrip("\n")
                start, end = spans[at]
                made += self.source[done:start] + self._written(
                    new, cells[at]["source"], self.source[start:end]
                )
                done = end
        return made + self.source[done:]

    def _written(self, code: str, old: str | list[str], text: str) -> str:
        """A cell's code as the file has the old one, whose JSON is `text`: lines that stay are written as they were."""
        places = [one for one in _JSON.finditer(text) if one[0][0] == '"']
        known = {json.loads(one[0]): one[0] for one in places}

        def dumped(line: str) -> str:
            made = json.dumps(line, ensure_ascii=self.source.isascii())
            # Colab writes these so.
            return made.replace("<", "\\u003c").replace(">", "\\u003e") if "\\u003c" in self.source else made

        if isinstance(old, str):
            return dumped(code)
        lines = [known.get(line) or dumped(line) for line in code.splitlines(keepends=True)]
        if not lines:
            return "[]"
        begin, end = (text[: places[0].start()], text[places[-1].end() :]) if places else ("[", "]")
        between = text[places[0].end() : places[1].start()] if len(places) > 1 else "," + (begin[1:] or " ")
        return begin + between.join(lines) + end


# A text, or what parts values.
_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:]')


def _sources(data: str) -> list[tuple[int, int]]:
    """Where the file has what each cell's `"source"` is, in order."""
    found: list[tuple[int, int]] = []
    path: list[str] = []  # the name that is being given a value, "[" in a list
    last, before, start = "", "", 0
    for one in _JSON.finditer(data):
        mark = one[0]
        if mark == ":":
            path[-1] = last
        elif mark in ("[", "{"):
            start = one.start() if path == ["cells", "[", "source"] else start
            path.append(mark)
        elif mark in ("]", "}"):
            path.pop()
            if path == ["cells", "[", "source"]:
                found.append((start, one.end()))
        elif before == ":" and path == ["cells", "[", "source"]:
            found.append(one.span())
        else:
            last = json.loads(mark)
        before = mark
    return found


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
    if not all(map(_is_cell, cells)):
        raise ValueError("is no Jupyter notebook of format 4: a cell of it is none")
    kernel = _table(document, "metadata")
    info = _table(kernel, "language_info")
    language = (info or _table(kernel, "kernelspec")).get("language", "python")
    if info.get("name", language) not in ("python", "ipython"):
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


def _table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict):
        return False
    source = cell.get("source", "")
    return isinstance(source, str) or (
        isinstance(source, list) and all(isinstance(line, str) for line in source)
    )


def _joined(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else source


def _split(text: str) -> list[str]:
    """What stands before the first cell, then the text of each."""
    return re.split(f"^{re.escape(MARKER)}\\d+\n", text, flags=re.MULTILINE)


def _masked(lines: list[str]) -> list[str]:
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(PYTHON_MAGICS):
        return [_mask_whole(line) for line in lines]
    # What Python stumbles over, as long as IPython takes it: `(a\n% b)` is Python beside a `!ls`.
    masked = list(lines)
    while (at := _error_line(masked)) is not None:
        # A quote or a bracket in a command is told where it begins, or at the end; an indent after it, behind it.
        stumbled = (
            i for i in (at, at - 1) if 0 <= i < len(lines) and masked[i] is lines[i] and _is_magic(lines[i])
        )
        begin = next(stumbled, None)
        if begin is None:  # a cell that was left broken, or is in another language
            return [_mask_whole(line) if line.strip() else line for line in lines]
        for i in range(begin, len(lines)):
            if i > begin and lines[i - 1].endswith("\\"):
                masked[i] = masked[i - 1][: masked[i - 1].index(MASK)] + _mask_whole(lines[i])
            elif _is_magic(lines[i]):
                masked[i] = _mask(lines[i])
            else:
                break
    return masked


def _error_line(lines: list[str]) -> int | None:
    """The index of the line that Python does not parse, None where it parses all."""
    try:
        ast.parse("\n".join(lines))
    except SyntaxError as error:
        return (error.lineno or 1) - 1
    except ValueError:
        return len(lines)
    return None


def _is_magic(line: str) -> bool:
    """Whether only IPython understands the line: `%magic`, `!command`, `x = !command`, `x?`."""
    return MAGIC.match(line) is not None


def _mask(line: str) -> str:
    body = line.lstrip()
    return line[: len(line) - len(body)] + MASK + body


def _mask_whole(line: str) -> str:
    """As `_mask`, of a line whose indent means nothing to Python."""
    return MASK + line


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
