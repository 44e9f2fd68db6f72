"""What the rules say of a break that none of them foresaw, once they know that its function is compiled.

Reading alone does not see every way into compiled code (a function out of a dictionary, a method found by its name).
Dynamo has shown that this one is: read as a root, its statement may be one that a rule knows, with fixes.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pt2lint.finding import Finding
from pt2lint.project.config import Configs, Settings

UNFORESEEN = "PTB900"


class Understood:
    """Gives PTB900 findings the fixes of the rule that knows their statement; each function is read once."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs
        self._read: dict[tuple[str, str], list[Finding]] = {}
        self._graph_breaks: dict[str, tuple[str, ...]] = {}

    def __call__(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, in their order; those whose code nobody asked for without fixes, which are then not proven."""
        return [
            replace(finding, fixes=())
            if not self._settings(finding.path).wants(finding.code, finding.path)
            else self._told(finding)
            if finding.code == UNFORESEEN
            else finding
            for finding in findings
        ]

    def _settings(self, path: str) -> Settings:
        return self._configs.of(os.path.dirname(path) or ".")

    def _told(self, finding: Finding) -> Finding:
        if finding.fixes:
            return finding
        same = [
            one
            for one in self._findings(finding)
            if one.line <= finding.line <= one.end_line and one.is_graph_break
        ]
        id = (finding.evidence or {}).get("graph_break")
        known = [one for one in same if id in self._graph_breaks.get(one.code, ())]
        # Torch 2.6 gives no id, and others may give one that was not measured: a statement of which one rule speaks
        # is then that rule's, and whether its fixes take the break away their proof tells.
        chosen = known[:1] or (same if len(same) == 1 else [])
        if not chosen:
            return finding
        [rule] = chosen
        if id is not None and not known:  # what is told alone nobody can prove: it may be about another break
            return replace(finding, fixes=tuple(fix for fix in rule.fixes if fix.is_to_try))
        message = f"{finding.message} (as {rule.code} says: {rule.message})"
        evidence = {**(finding.evidence or {}), "rule": rule.code}
        where = {key: getattr(rule, key) for key in ("line", "column", "end_line", "end_column")}
        return replace(finding, message=message, fixes=rule.fixes, evidence=evidence, **where)

    def _findings(self, finding: Finding) -> list[Finding]:
        try:
            with open(finding.path, encoding="utf-8-sig") as file:
                name = _function_at(ast.parse(file.read()), finding.line)
        except (OSError, ValueError, SyntaxError, RecursionError):
            return []
        if name is None:
            return []
        key = (finding.path, name)
        if key not in self._read:
            self._read[key] = self._lint(*key)
        return self._read[key]

    def _lint(self, path: str, name: str) -> list[Finding]:
        from pt2lint.rule.loader import rule_pages
        from pt2lint.static.engine import lint
        from pt2lint.static.source.project import module_name

        settings = self._settings(path)
        root = f"{module_name(path)[0]}:{name}"
        wanted = replace(
            settings, select=(), extend_select=(), ignore=(), pedantic=True, root_names=(*settings.root_names, root)
        )  # fmt: skip
        if not self._graph_breaks:
            self._graph_breaks = {page.code: page.graph_breaks for page in rule_pages(settings)}
        return lint([path], wanted).findings


def _function_at(tree: ast.Module, line: int) -> str | None:
    """The function, or method of a class, of the top level that a line belongs to, as `roots` name it."""

    def around(body: Iterable[ast.stmt]) -> ast.FunctionDef | ast.ClassDef | None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if node.lineno <= line <= (node.end_lineno or node.lineno):
                    return node
        return None

    outer = around(tree.body)
    if not isinstance(outer, ast.ClassDef):
        return outer.name if outer else None
    inner = around(outer.body)
    return f"{outer.name}.{inner.name}" if isinstance(inner, ast.FunctionDef) else None
