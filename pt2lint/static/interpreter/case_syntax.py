"""What a `case` asks of the subject, as far as that is a test that an `if` could make."""

from __future__ import annotations

import ast


def as_test(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """The test that a `case` makes of the subject: `case Table():` is `isinstance(subject, Table)`."""
    if isinstance(pattern, ast.MatchAs):
        return as_test(pattern.pattern, subject) if pattern.pattern is not None else None
    if isinstance(pattern, ast.MatchSingleton):
        constant = ast.copy_location(ast.Constant(pattern.value), pattern)
        return ast.copy_location(ast.Compare(subject, [ast.Is()], [constant]), pattern)
    kinds: ast.expr
    if isinstance(pattern, ast.MatchOr):
        parts = [part.cls for part in pattern.patterns if _is_bare(part)]  # type: ignore[attr-defined]
        if len(parts) < len(pattern.patterns):
            return None
        kinds = ast.copy_location(ast.Tuple(parts, ast.Load()), pattern)
    elif _is_bare(pattern):
        kinds = pattern.cls  # type: ignore[attr-defined]
    else:
        return None
    named = ast.copy_location(ast.Name("isinstance", ast.Load()), pattern)
    return ast.copy_location(ast.Call(named, [subject, kinds], []), pattern)


def as_comparison(case: ast.match_case, subject: ast.expr) -> ast.Compare | None:
    """The comparison that `case torch.float16:` makes."""
    if not isinstance(case.pattern, ast.MatchValue):
        return None
    known: ast.Compare | None = case.__dict__.get("pt2lint_comparison")
    if known is None:
        known = ast.copy_location(ast.Compare(subject, [ast.Eq()], [case.pattern.value]), case.pattern)
        case.__dict__["pt2lint_comparison"] = known
    return known


def _is_bare(pattern: ast.pattern) -> bool:
    """Whether a pattern asks for a class and nothing else."""
    return isinstance(pattern, ast.MatchClass) and not (pattern.patterns or pattern.kwd_patterns)


def takes_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None
