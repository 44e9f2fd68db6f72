"""Which functions call any function of torch: of others nothing is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pt2lint.static.interpreter.notebook import Notebook


class Computing:
    def __init__(self, notebook: Notebook) -> None:
        self.notebook = notebook
        self._found: set[Any] = set()
        self._clock = -1  # when that was asked

    def __contains__(self, definition: object) -> bool:
        """Whether the function, or what it calls, was seen to call any function of torch."""
        if self._clock != self.notebook.clock:
            self._clock = self.notebook.clock
            self._found = {key[0] for key, calls in self.notebook.made.items() if calls}
        return definition in self._found
