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


def captures(pattern: ast.pattern, subject: ast.expr) -> list[tuple[str, ast.expr | None]]:
    """The names that a pattern binds, each with the expression that reads the same of the subject: `subject["x"]` for
    `case {"x": x}`, `subject.x` for `case Batch(x=x)`, `subject[0]` for `case (x, _)`; None where none does."""
    parts: list[tuple[ast.pattern, ast.expr]] = []
    if isinstance(pattern, ast.MatchMapping):
        items = zip(pattern.keys, pattern.patterns, strict=True)
        parts = [(p, ast.Subscript(subject, key, ast.Load())) for key, p in items]
    elif isinstance(pattern, ast.MatchClass):
        named = zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
        parts = [(p, ast.Attribute(subject, name, ast.Load())) for name, p in named]
    elif isinstance(pattern, ast.MatchSequence):
        if not any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
            places = (ast.copy_location(ast.Constant(i), subject) for i in range(len(pattern.patterns)))
            parts = [
                (p, ast.Subscript(subject, place, ast.Load()))
                for p, place in zip(pattern.patterns, places, strict=True)
            ]
    read: list[tuple[str, ast.expr | None]] = []
    for each, part in parts:
        read += captures(each, ast.copy_location(part, pattern))
    if isinstance(pattern, ast.MatchAs) and pattern.name:
        read += [(pattern.name, subject), *(captures(pattern.pattern, subject) if pattern.pattern else ())]
    told = {name for name, _ in read}
    every = (getattr(p, "name", None) or getattr(p, "rest", None) for p in ast.walk(pattern))
    return [*((name, None) for name in every if name and name not in told), *read]


def takes_all(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None
