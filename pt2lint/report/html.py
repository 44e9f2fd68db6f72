"""The report as one HTML file that needs nothing else: the source, each line coloured by the graph it landed in,
findings with their reasons, costs and fixes at their lines, and the same with the proven fixes.

Colour is never alone: each line also names its graphs. Light or dark as the reader has it. JavaScript only sorts and
searches the table of several models.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from pt2lint.finding import Finding, Fix
from pt2lint.report import Report, Traced, table
from pt2lint.report.models import Model
from pt2lint.report.page import registry_link
from pt2lint.report.place import shown
from pt2lint.report.text import MEANING, VERDICTS, also, costliest_first, costs, place_of

VIEWS = 12  # ways to show one file
AROUND = 3  # lines shown around what is told of
SHORTEST_FOLD = 8  # lines: fewer are not worth folding away

STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --dim: #5b6470; --page: #fff; --card: #f6f7f9; --line: #d8dce2;
  --light: 92%; --much: 60%; --bar: 45%; --red: #b3261e; --green: #1b6e3c; --amber: #8a5a00; --purple: #7b2d8b;
  --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7eb; --dim: #a0a8b3; --page: #14171a; --card: #1d2126;
  --line: #343a42; --light: 18%; --much: 45%; --bar: 60%; --red: #ff8a80; --green: #7ddc9c; --amber: #f0c060;
  --purple: #dd9bea;
  --link: #7db8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } a { color: var(--link); }
code, pre, .source { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .86rem; }
pre { margin: .3rem 0; white-space: pre-wrap; } p { margin: .3rem 0; }
.dim { color: var(--dim); } .table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; } th, td { text-align: left; padding: .15rem 1rem .15rem 0;
  overflow-wrap: normal; }
.source { border: 1px solid var(--line); border-radius: 6px; margin-top: .5rem; padding: .3rem 0; }
.row { display: grid; grid-template-columns: 3.2rem 2.8rem 1fr; line-height: 1.55; }
.row > span { color: var(--dim); text-align: right; padding-right: .5rem; user-select: none; }
.row > code { white-space: pre-wrap; padding-right: .5rem; }
.g { background: hsl(var(--hue) var(--much) var(--light));
  box-shadow: inset 4px 0 hsl(var(--hue) 60% var(--bar)); }
.g > span { color: inherit; }
.e { background: repeating-linear-gradient(135deg, transparent 0 5px, color-mix(in srgb, var(--dim) 16%, transparent)
  5px 7px); }
mark { background: none; color: inherit; text-decoration: underline wavy var(--red); text-underline-offset: 3px; }
.key { display: inline-block; padding: 0 .6rem; margin: .1rem .3rem .1rem 0; border-radius: 4px; font-size: .86rem; }
.finding { margin: .3rem .5rem .5rem 3.2rem; padding: .5rem .8rem; background: var(--card); border-radius: 6px;
  border-left: 4px solid var(--amber); font: .92rem/1.5 system-ui, sans-serif; }
.confirmed { border-color: var(--red); } .refuted { border-color: var(--green); }
.failed { border-color: var(--purple); }
.badge { font-weight: 600; color: var(--amber); } .confirmed .badge { color: var(--red); }
.refuted .badge { color: var(--green); } .failed .badge { color: var(--purple); }
.fix .badge { color: var(--amber); } .fix .proven { color: var(--green); }
.fix { margin-top: .4rem; border-top: 1px solid var(--line); padding-top: .4rem; }
ins { color: var(--green); text-decoration: none; } del { color: var(--red); text-decoration: none; }
summary { cursor: pointer; } details.fold > summary { color: var(--dim); padding-left: 3.2rem; }
.tabs > input { position: absolute; opacity: 0; }
.tabs > label { display: inline-block; padding: .2rem .8rem; border: 1px solid var(--line); border-radius: 6px;
  margin: 0 .3rem .3rem 0; cursor: pointer; }
.tabs > input:checked + label { background: var(--text); color: var(--page); }
.tabs > input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
.tabs > .view { display: none; }
@media (max-width: 40rem) { body { padding: .6rem; } .row { grid-template-columns: 2.1rem 2.1rem 1fr; }
  .row > span { padding-right: .3rem; } .finding { margin-left: .4rem; } details.fold > summary { padding-left: .5rem; }
  code, pre, .source { font-size: .78rem; } }
@media print { .tabs > .view { display: block; } .tabs > input, .tabs > label { display: none; } }
"""


def render(report: Report) -> str:
    """The whole page."""
    paths = _paths(report)
    body = [
        *_head(report),
        *_index(report, paths),
        *(part for number, path in enumerate(paths) for part in _file(report, path, number)),
    ]
    body += _ends(report)
    title = f"pt2lint: {', '.join(map(shown, paths[:3]))}" if paths else "pt2lint: nothing found"
    if is_zoo(report):
        title = f"pt2lint: {len(report.models)} models"
    style = _tab_rules(report, paths) + (table.STYLE if is_zoo(report) else "")
    return document(title, style, body)


def _ends(report: Report) -> Iterator[str]:
    """Notes, and what could not be done."""
    for title, texts in (("Notes", report.notes), ("What could not be done", [*map(str, report.problems)])):
        if texts:
            yield f"<h2>{title}</h2><ul>"
            yield from (f"<li>{_prose(text)}</li>" for text in texts)
            yield "</ul>"


def index(report: Report, pages: Mapping[str, str]) -> str:
    """The page of a folder: the table of models, whose rows lead to `pages` (name of the model -> link)."""
    names = {code: page.name for code, page in report.pages.items()}
    body = [*_count(report), *table.section(report.models, pages, names), *_ends(report)]
    return document(f"pt2lint: {len(report.models)} models", table.STYLE, body)


def two_runs(
    models: Sequence[Model],
    before: Sequence[Model],
    heads: Sequence[str],
    changes: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """A page of its own for two runs; `heads` say what the earlier and this one are."""
    body = [
        "<h1>pt2lint: two runs</h1>",
        f"<p>Earlier: {escape(heads[0])}<br>This one: {escape(heads[1])}</p>",
    ]
    return document(
        "pt2lint: two runs", table.STYLE, [*body, *table.section(models, None, names, before, changes)]
    )


def document(title: str, style: str, body: Iterable[str]) -> str:
    """A page, whole in itself; `style` comes on top of what all pages share."""
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n"
    )
    return head + "\n".join(body) + "\n</body>\n</html>\n"


def is_zoo(report: Report) -> bool:
    """Whether there are models enough for a table."""
    return len(report.models) > 1


def _paths(report: Report) -> list[str]:
    """The files to show: those with findings, the costliest first, then those that were traced."""
    named = [finding.path for finding in costliest_first(report.findings)]
    named += [path for one in report.traced for path in one.lines]
    return [path for path in dict.fromkeys(named) if path in report.sources]


def _count(report: Report) -> Iterator[str]:
    counts = Counter(finding.verdict for finding in report.findings if finding.verdict)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    files = f"{report.files} file{'' if report.files == 1 else 's'}"
    count = len(report.findings)
    yield "<h1>pt2lint</h1>"
    yield f"<p>{count} finding{'' if count == 1 else 's'} in {files}{f' ({told})' if told else ''}.</p>"


def _head(report: Report) -> Iterator[str]:
    yield from _count(report)
    if not report.traced:
        yield '<p class="dim">The code was read, not run: with <code>--verify</code> each line shows its graph.</p>'
        return
    if is_zoo(report):
        names = {code: page.name for code, page in report.pages.items()}
        yield from table.section(report.models, links(report), names)
        return
    after = {one.name: one for one in report.traced_after}
    yield '<div class="table"><table><thead><tr><th>Compiled</th><th>Graphs</th><th>Breaks</th>'
    yield f"<th>Operators in each graph</th>{'<th>With the proven fixes</th>' if after else ''}</tr></thead><tbody>"
    for one in report.traced:
        row = f"<td>{escape(one.name)}</td><td>{len(one.graphs)}</td><td>{one.breaks}</td>"
        row += f"<td>{', '.join(map(str, one.graphs[:12]))}{', ...' if len(one.graphs) > 12 else ''}</td>"
        if after:
            then = after.get(one.name) or next(
                (other for other in report.traced_after if _targets(one) & _targets(other)), None
            )
            row += f"<td>{_counted(then)}</td>" if then else "<td></td>"
        yield f"<tr>{row}</tr>"
    yield "</tbody></table></div>"


def _index(report: Report, paths: Sequence[str]) -> Iterator[str]:
    """The findings in one list, where there are more than fit a screen."""
    if len(report.findings) < 4:
        return
    yield f"<details open><summary>The {len(report.findings)} findings</summary><ol>"
    for finding in costliest_first(report.findings):
        place = escape(place_of(report, finding.path, finding.line))
        if finding.path in paths:
            place = f'<a href="#{_id(finding, paths.index(finding.path))}">{place}</a>'
        verdict = f" {finding.verdict}" if finding.verdict else ""
        yield f"<li>{place} {finding.code} {escape(finding.name)}{verdict}</li>"
    yield "</ol></details>"


def _id(finding: Finding, number: int) -> str:
    return f"f{number}-{finding.code}-{finding.line}-{finding.column}"


def _targets(one: Traced) -> set[str]:
    return {part.partition(" (")[0] for part in one.name.split("; ")}


def _counted(one: Traced) -> str:
    graphs, breaks = len(one.graphs), one.breaks
    return f"{graphs} graph{'' if graphs == 1 else 's'}, {breaks} break{'' if breaks == 1 else 's'}"


def _views(report: Report, path: str) -> list[tuple[str, Traced | None, bool]]:
    """(title, where the lines landed, whether it is the fixed text) of each way to show a file."""
    views: list[tuple[str, Traced | None, bool]] = [
        (_joined(names), one, False) for names, one in _alike(report.traced, path)[:VIEWS]
    ]
    if path in report.fixed:
        after = [one for one in report.traced_after if path in one.lines or path in one.eager]
        views += [(f"With the proven fixes: {one.name}", one, True) for one in after]
    return views or [("", None, False)]


def _alike(traced: Sequence[Traced], path: str) -> list[tuple[list[str], Traced]]:
    """The compiled calls that ran the file, those together that did the same with each of its lines."""
    found: list[tuple[list[str], Traced]] = []
    by_lines: dict[tuple[Any, ...], list[str]] = {}
    for one in traced:
        if path in one.lines or path in one.eager:
            lines = tuple((line, tuple(graphs)) for line, graphs in sorted(one.lines.get(path, {}).items()))
            key = (lines, tuple(sorted(one.eager.get(path, ()))))
            if key in by_lines:
                by_lines[key].append(one.name)
            else:
                found.append((by_lines.setdefault(key, [one.name]), one))
    return found


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def links(report: Report) -> dict[str, str]:
    """Where in the page the rows of models lead: to the way in which the file is shown that is theirs."""
    found: dict[str, str] = {}
    targets = report.models_of
    for number, path in enumerate(_paths(report)):
        for view, (names, _) in enumerate(_alike(report.traced, path)):
            for name in names:
                for target in {part.partition(" (")[0] for part in name.split("; ")}:
                    model = targets.get(target, target)
                    found.setdefault(model, f"#f{number}v{view}" if view < VIEWS else f"#f{number}")
    return found


def _tab_rules(report: Report, paths: Sequence[str]) -> str:
    """Which radio button shows which view."""
    most = max((len(_views(report, path)) for path in paths), default=0)
    rules = [f".tabs > .t{i}:checked ~ .v{i} {{ display: block; }}" for i in range(most)]
    return "\n".join(rules) + "\n" if most > 1 else ""


def _file(report: Report, path: str, number: int) -> Iterator[str]:
    yield f'<section id="f{number}"><h2>{escape(shown(path))}</h2>'
    views = _views(report, path)
    if len(views) > 1:
        yield '<div class="tabs">'
        for i, (title, _, _) in enumerate(views):
            id = f"f{number}v{i}"
            checked = " checked" if i == 0 else ""
            yield f'<input type="radio" name="f{number}" id="{id}" class="t{i}"{checked}>'
            yield f'<label for="{id}">{escape(title)}</label>'
    for i, (title, one, fixed) in enumerate(views):
        yield f'<div class="view v{i}">' if len(views) > 1 else f'<div id="f{number}v0">'
        if one is not None:
            if len(views) == 1:
                yield f'<p class="dim">{escape(title)}</p>'
            yield f"<p>{_legend(one, path)}</p>"
        yield from _source(report, path, one, fixed, number if i == 0 else None)
        yield "</div>"
    yield "</div></section>" if len(views) > 1 else "</section>"


def _legend(one: Traced, path: str) -> str:
    numbers = sorted({number for graphs in one.lines.get(path, {}).values() for number in graphs})
    keys = [
        f'<span class="key g" style="--hue:{_hue(number)}">{_graph(number)}'
        f"{_operators(one.graphs[number - 1]) if 0 < number <= len(one.graphs) else ''}</span>"
        for number in numbers
    ]
    if one.eager.get(path):
        keys.append('<span class="key e">ran outside of any graph</span>')
    return "".join(keys)


def _operators(count: int) -> str:
    return f" ({count} operator{'' if count == 1 else 's'})"


def _graph(number: int) -> str:
    return f"graph {number}" if number else "in a graph"


def _hue(number: int) -> int:
    return table.HUES[(number - 1) % len(table.HUES)]


def _source(report: Report, path: str, one: Traced | None, fixed: bool, number: int | None) -> Iterator[str]:
    """One view of a file; the one with its `number` is where links to findings lead."""
    text = report.fixed[path] if fixed else report.sources[path]
    lines = re.split(r"\r\n|\r|\n", text)
    if lines and not lines[-1]:
        lines.pop()
    cards: dict[int, list[Finding]] = {}
    for finding in () if fixed else report.findings:
        if finding.path == path:
            cards.setdefault(min(finding.end_line, len(lines)), []).append(finding)
    landed = one.lines.get(path, {}) if one else {}
    eager = one.eager.get(path, frozenset()) if one else frozenset[int]()
    changed = _changed(report.sources[path], text) if fixed else frozenset[int]()
    told = {*landed, *eager, *cards, *changed}
    shown = {line + near for line in told for near in range(-AROUND, AROUND + 1)}
    yield '<div class="source">'
    first = 1
    while first <= len(lines):
        last = first
        while last < len(lines) and (last + 1 in shown) == (first in shown):
            last += 1
        fold = first not in shown and last - first + 1 >= SHORTEST_FOLD
        if fold:
            yield f'<details class="fold"><summary>lines {first} to {last}</summary>'
        for line in range(first, last + 1):
            code = lines[line - 1]
            marked = _marked(code, line, cards) if not fixed else escape(code)
            if line in changed:
                marked = f"<ins>{marked}</ins>"
            yield _row(report, path, line, marked, landed.get(line, ()), line in eager, fixed)
            for finding in cards.get(line, ()):
                id = "" if number is None else f' id="{_id(finding, number)}"'
                yield from _card(report, finding, id)
        if fold:
            yield "</details>"
        first = last + 1
    yield "</div>"


def _row(
    report: Report, path: str, line: int, code: str, graphs: Sequence[int], eager: bool, fixed: bool
) -> str:
    number = line if fixed else report.place(path, line).line
    kind, label = ' class="row"', ""
    if graphs:
        label = ",".join(str(number or "") for number in graphs[:2]) + ("+" if len(graphs) > 2 else "")
        title = ", ".join(_graph(number) for number in graphs)
        kind = f' class="row g" style="--hue:{_hue(graphs[0])}" title="{title}"'
    elif eager:
        kind = ' class="row e" title="ran outside of any graph"'
    return f"<div{kind}><span>{label}</span><span>{number}</span><code>{code or ' '}</code></div>"


def _marked(code: str, line: int, cards: Mapping[int, Sequence[Finding]]) -> str:
    """The line with what findings flag in it underlined."""
    ranges = [
        (f.column - 1, f.end_column - 1 if f.end_line == f.line else len(code))
        for found in cards.values()
        for f in found
        if f.line == line
    ]
    out, done = [], 0
    for start, end in sorted(ranges):
        if start >= done:
            out += [escape(code[done:start]), f"<mark>{escape(code[start:end])}</mark>"]
            done = end
    return "".join(out) + escape(code[done:])


def _changed(old: str, new: str) -> frozenset[int]:
    """The lines of the new text that the old one lacks."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return frozenset(
        line + 1
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in ("replace", "insert")
        for line in range(start, end)
    )


def _card(report: Report, finding: Finding, id: str) -> Iterator[str]:
    evidence = finding.evidence or {}
    yield f'<aside class="finding {finding.verdict or "none"}"{id}>'
    yield f"<p><strong>{escape(finding.code)}</strong> {_prose(finding.message)}</p>"
    if others := also(report, finding):
        yield f"<p>{_prose(others[0].upper() + others[1:])}.</p>"
    if finding.when:
        yield f"<p>{_prose(finding.only_where[0].upper() + finding.only_where[1:])}.</p>"
    if finding.verdict:
        reason = " ".join(str(evidence.get("reason") or MEANING[finding.verdict]).split())
        registry = str(evidence.get("graph_break") or "")
        link = f'<a href="{escape(registry_link(registry))}">{escape(registry)}</a> ' if registry else ""
        yield f'<p><span class="badge">{finding.verdict}</span>: {link}{_prose(reason)}</p>'
        cost = ", ".join(costs(evidence)) if finding.verdict == "confirmed" else ""
        if cost:
            yield f"<p>Cost: {escape(cost)}.</p>"
    said = [str(evidence[key]) for key in ("explanation",) if evidence.get(key)]
    hints = [str(hint) for hint in evidence.get("hints") or ()]
    if said or hints or finding.flow:
        yield "<details><summary>More</summary>"
        yield from (f"<p>{_prose(text)}</p>" for text in said)
        if hints:
            yield (
                "<p>PyTorch suggests:</p><ul>"
                + "".join(f"<li>{_prose(hint)}</li>" for hint in hints)
                + "</ul>"
            )
        if finding.flow:
            steps = (
                f"{_prose(step.message)} ({escape(place_of(report, step.path, step.line))})"
                for step in finding.flow
            )
            yield f"<p>Reached: {' &rarr; '.join(steps)}</p>"
        yield "</details>"
    for fix in finding.fixes:
        yield from _fix(report, fix)
    yield "</aside>"


def _fix(report: Report, fix: Fix) -> Iterator[str]:
    kind = "by hand" if fix.by_hand else fix.applicability
    standing = {
        True: "proven fix (by hand)" if fix.by_hand else "proven fix",
        None: f"fix ({kind})",
        False: "tried: it does not hold here",
    }
    proven = " proven" if fix.proven else ""
    opened = " open" if fix.proven else ""
    yield f'<details class="fix"{opened}><summary><span class="badge{proven}">{standing[fix.proven]}</span>: '
    yield f"{_prose(fix.description)}</summary>"
    yield from _patch(report, fix)
    yield "</details>"


def _patch(report: Report, fix: Fix) -> Iterator[str]:
    from pt2lint.fixes.edit import EditError, apply_edits

    for path in dict.fromkeys(edit.path for edit in fix.edits):
        old = report.sources.get(path)
        if old is None:
            continue
        try:
            new = apply_edits(old, [edit for edit in fix.edits if edit.path == path])
        except EditError:
            continue
        marks = {"+": "ins", "-": "del"}
        rows: list[str] = []
        for row in list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))[2:]:
            if row.startswith("@@"):
                rows += ["..."] if rows else []
                continue
            tag = marks.get(row[:1])
            rows.append(f"<{tag}>{escape(row)}</{tag}>" if tag else escape(row))
        yield f"<pre>{chr(10).join(rows)}</pre>"


def _prose(text: str) -> str:
    """Text in which backticks mark code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
