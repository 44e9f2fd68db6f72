"""Where the nodes of a LibCST tree stand, found while its code is written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst
from libcst.metadata import PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from pt2lint.rule.tree import Place


class _State(PositionProvidingCodegenState):
    """Writes the positions down as plain tuples, keeps no code, and looks for line ends only where there are some.
    Plain white space has no position: nobody asks for it, and it is a third of all nodes."""

    def add_token(self, value: str) -> None:
        if "\n" in value or "\r" in value:
            self._update_position(value)
        else:
            self.column += len(value)

    def add_indent_tokens(self) -> None:
        self.column += sum(map(len, self.indent_tokens))

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._stack.append((self.line, self.column))  # type: ignore[arg-type]

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._stack.pop()
        found: Any = self.provider._computed
        if node.__class__ is not cst.SimpleWhitespace and node not in found:
            found[node] = (*start, self.line, self.column)  # type: ignore[misc]

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Recorded:
        return _Recorded(self, node, start_node, end_node)


class _Recorded:
    def __init__(
        self, state: _State, node: cst.CSTNode, start: cst.CSTNode | None, end: cst.CSTNode | None
    ) -> None:
        self.state, self.node, self.start, self.end = state, node, start, end

    def __enter__(self) -> None:
        self.begin = (self.state.line, self.state.column)

    def __exit__(self, *error: object) -> None:
        state = self.state
        found: Any = state.provider._computed
        begin = self.begin if self.start is None else found[self.start][:2]
        end = (state.line, state.column) if self.end is None else found[self.end][2:]
        found[self.node] = (*begin, *end)


class Positions(PositionProvider):
    """For one module."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, Place]:
        written = [""]  # a module that has written nothing would end with a line of its own
        module._codegen(_State(module.default_indent, module.default_newline, provider=self, tokens=written))
        return self._computed  # type: ignore[return-value]
