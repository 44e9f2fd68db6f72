"""The table of models as HTML: what each compiles into, what broke it, what the proven fixes make of it, and of two
runs what changed. It sorts and searches where there is JavaScript, and is whole without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import sqrt

from pt2lint.report.comparison import seconds
from pt2lint.report.models import Model

HUES = (210, 135, 35, 280, 180, 330, 85, 250)  # of graph 1, 2, ...; far apart where graphs are neighbours
SEGMENTS = 40  # graphs that are drawn one by one
BARS = 12  # causes that are shown at once

STYLE = """
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }
.tile { background: var(--card); border-radius: 6px; padding: .5rem .9rem; min-width: 7rem; }
.tile b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .25rem .7rem; align-items: center;
  font-size: .92rem; max-width: 52rem; }
.bars i { height: .75rem; border-radius: 3px; background: hsl(210 60% var(--bar)); min-width: 3px; }
.find { font: inherit; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: 6px; width: 100%;
  max-width: 24rem; background: var(--page); color: var(--text); margin: .3rem .8rem .3rem 0; }
.models { width: 100%; table-layout: auto; }
.models th, .models td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.models td { font-variant-numeric: tabular-nums; } .models .n { text-align: right; white-space: nowrap; }
.models thead th { position: sticky; top: 0; background: var(--page); z-index: 1; }
.models th button { all: unset; cursor: pointer; font-weight: 600; }
.models th button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.models th[aria-sort=ascending] button::after { content: " \\2191"; }
.models th[aria-sort=descending] button::after { content: " \\2193"; }
.models td:first-child { min-width: 11rem; width: 40%; overflow-wrap: anywhere; }
.map { display: block; height: .7rem; border-radius: 2px; margin-top: .25rem; }
.map.then { height: .35rem; margin-top: 2px; }
.good { color: var(--green); } .bad { color: var(--red); } .failed-row { color: var(--purple); }
.was { color: var(--dim); }
.two td.n { white-space: normal; } .two td.n span { white-space: nowrap; } .models tr[hidden] { display: none; }
.tools { margin-top: 1.6rem; }
@media (min-width: 46rem) { body { max-width: 84rem; } }
@media (max-width: 46rem) { .minor { display: none; } .models, .models thead, .models tbody { display: block; }
  .models tr { display: grid; grid-template-columns: repeat(4, 1fr); column-gap: .6rem;
    border-bottom: 1px solid var(--line); }
  .models.two tr { grid-template-columns: repeat(5, 1fr); } .models th.n { white-space: normal; }
  .models th, .models td { border: 0; padding: .3rem 0; }
  .models td:first-child, .models th:first-child { grid-column: 1 / -1; width: auto; padding-bottom: 0; }
  .models td[colspan] { grid-column: 1 / -1; } .tile { flex: 1; min-width: 6rem; }
  .bars { grid-template-columns: 1fr max-content; } .bars .what { grid-column: 1 / 3; } }
"""

SCRIPT = """
(() => {
  const table = document.querySelector('.models'), body = table.tBodies[0], rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => row.cells[at]?.dataset.v ?? row.cells[at]?.textContent ?? '';
  heads.forEach((head, at) => {
    const button = document.createElement('button');
    button.append(...head.childNodes); head.append(button);
    button.onclick = () => {
      const down = head.getAttribute('aria-sort') ? head.getAttribute('aria-sort') === 'ascending' : at > 0;
      heads.forEach(one => one.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const keyed = rows.map(row => [value(row, at), row]);
      keyed.sort(([a], [b]) => (isNaN(a) || isNaN(b) ? String(a).localeCompare(b) : a - b) * (down ? -1 : 1));
      body.append(...keyed.map(([, row]) => row));
    };
  });
  const find = document.createElement('input'), told = document.createElement('span');
  find.type = 'search'; find.className = 'find'; find.placeholder = 'Find a model, a cause (PTB103), a file';
  find.setAttribute('aria-label', 'Find'); told.className = 'dim'; told.setAttribute('aria-live', 'polite');
  const texts = rows.map(row => (row.textContent + ' ' + (row.dataset.t || '')).toLowerCase());
  find.oninput = () => {
    const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => { count += !(row.hidden = !words.every(word => texts[at].includes(word))); });
    told.textContent = words.length ? count + ' of ' + rows.length : '';
  };
  const at = document.querySelector('.tools'); at.append(find, told);
  const view = () => { const one = document.getElementById(location.hash.slice(1));
    if (one && one.type === 'radio') { one.checked = true; one.parentElement.scrollIntoView(); } };
  addEventListener('hashchange', view); view();
})();
"""

HEADS = (
    (
        "Model",
        "",
        "The bar: each graph with its operators, wider where there are more; below it, with the proven fixes",
    ),
    ("Graphs", "n", "In one call, in the mode that has most"),
    ("Breaks", "n", "Statements that break the graph"),
    ("Largest", "n", "Operators in the largest graph"),
    ("Recompiled", "n minor", "In one sequence of calls, at most"),
    ("With fixes", "n", "Graphs with all proven fixes"),
    (
        "First call",
        "n minor",
        "Seconds of the first compiled call: with --time its own, else under observation",
    ),
    ("Eager", "n minor", "Median of a call"),
    ("Compiled", "n minor", "Median of a call, compiled"),
)
# What has become of a model since an earlier run, the worst first.
RANKS = {"worse": 4, "other": 3, "new": 2, "better": 1, "same": 0}


def section(
    models: Sequence[Model],
    links: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    before: Sequence[Model] | None = None,
    changes: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Tiles, bars of causes and the table; `links` lead from models to their pages, `names` are what codes are called,
    `before` is an earlier run, `changes` what has become of each model ("worse")."""
    yield from _tiles(models, before)
    yield from _bars(models, names or {})
    two = " two" if before is not None else ""
    yield f'<div class="tools"></div><div class="table"><table class="models{two}"><thead><tr>'
    change = ("Change", "n", "From the earlier run to this one")
    timed = any("eager" in model.seconds or "warm" in model.seconds for model in models)
    heads = HEADS if timed else HEADS[:-2]
    for title, kind, what in heads if before is None else (heads[0], change, *heads[1:]):
        yield f'<th class="{kind}" title="{escape(what)}">{title}</th>'
    yield "</tr></thead><tbody>"
    earlier = {model.name: model for model in before} if before is not None else None
    widest = max((max(sum(model.graphs), sum(model.fixed or ())) for model in models), default=0)
    became = changes or {}
    for model in sorted(
        models, key=lambda one: (RANKS.get(became.get(one.name, ""), 0), *_cost(one)), reverse=True
    ):
        link = (links or {}).get(model.name)
        yield from _row(model, link, widest, earlier, became.get(model.name, ""), timed)
    for model in before or ():
        if all(model.name != other.name for other in models):
            gone = f'<td class="dim" colspan="{len(heads)}">only in the earlier run</td>'
            yield f"<tr><td>{escape(model.name)}</td>{gone}</tr>"
    yield "</tbody></table></div>"
    yield f"<script>{SCRIPT}</script>"


def _cost(model: Model) -> tuple[int, int, int]:
    return bool(model.trouble), len(model.breaks), len(model.graphs)


def _tiles(models: Sequence[Model], before: Sequence[Model] | None) -> Iterator[str]:
    def numbers(some: Sequence[Model]) -> list[int]:
        whole = sum(len(model.graphs) == 1 and not model.breaks and not model.trouble for model in some)
        fixed = sum(
            model.fixed is not None and len(model.fixed) == 1 and not model.fixed_breaks for model in some
        )
        breaks = sum(len(model.breaks) for model in some)
        return [len(some), whole, fixed, breaks, sum(bool(model.trouble) for model in some)]

    now, then = numbers(models), numbers(before) if before is not None else None
    titles = ("models", "in one graph", "more with the proven fixes", "breaks", "failed")
    yield '<div class="tiles">'
    for at, title in enumerate(titles):
        was = f'<span class="was">{then[at]} &rarr; </span>' if then and then[at] != now[at] else ""
        yield f'<div class="tile"><b>{was}{now[at]}</b>{title}</div>'
    yield "</div>"


def _bars(models: Sequence[Model], names: Mapping[str, str]) -> Iterator[str]:
    """How many models each cause breaks, or compiles again."""
    causes: dict[str, set[str]] = {}
    for model in models:
        for place in (*model.breaks, *model.recompiled):
            causes.setdefault(place.cause, set()).add(model.name)
    if not causes:
        return
    order = sorted(causes, key=lambda cause: (-len(causes[cause]), cause))
    most = len(causes[order[0]])
    yield "<h2>Causes, and how many models have them</h2>"

    def bars(some: Sequence[str]) -> Iterator[str]:
        yield '<div class="bars">'
        for cause in some:
            count = len(causes[cause])
            name = f"{cause} {names[cause]}" if cause in names else cause
            yield f'<span class="what">{escape(name)}</span><i style="width:{100 * count / most:.1f}%"></i>'
            yield f"<span>{count}</span>"
        yield "</div>"

    yield from bars(order[:BARS])
    if order[BARS:]:
        yield f"<details><summary>{len(order) - BARS} more</summary>"
        yield from bars(order[BARS:])
        yield "</details>"


def _row(
    model: Model, link: str | None, widest: int, earlier: Mapping[str, Model] | None, change: str, timed: bool
) -> Iterator[str]:
    old = (earlier or {}).get(model.name)
    name = f'<a href="{escape(link)}">{escape(model.name)}</a>' if link else escape(model.name)
    told = " ".join(
        f"{place.cause} {place.code} {place.path}" for place in (*model.breaks, *model.recompiled)
    )
    yield f'<tr data-t="{escape(" ".join(dict.fromkeys(told.split())))}"><td data-v="{escape(model.name)}">{name}'
    yield from _map(model.graphs, widest, "map")
    if model.fixed is not None:
        yield from _map(model.fixed, widest, "map then")
    if model.trouble:
        yield f'<span class="failed-row">{escape(model.trouble[:200])}</span>'
    yield "</td>"
    if earlier is not None:
        kind = {"worse": " bad", "better": " good"}.get(change, " dim")
        yield f'<td class="n{kind}" data-v="{RANKS.get(change, 0)}">{change}</td>'
    yield _number(len(model.graphs), len(old.graphs) if old else None)
    yield _number(len(model.breaks), len(old.breaks) if old else None)
    yield _number(model.largest, old.largest if old else None, more_is_better=True)
    yield _number(model.recompilations, old.recompilations if old else None, " minor")
    if model.fixed is None:
        yield '<td class="n" data-v="-1"></td>'
    else:
        left = (
            f", {model.fixed_breaks} break{'s' if model.fixed_breaks > 1 else ''}"
            if model.fixed_breaks
            else ""
        )
        better = len(model.fixed) < len(model.graphs)
        yield f'<td class="n{" good" if better else ""}" data-v="{len(model.fixed)}">{len(model.fixed)}{left}</td>'
    for keys in (("cold", "compile"), ("eager",), ("warm",))[: 3 if timed else 1]:
        key = next((key for key in keys if key in model.seconds), None)
        if key is None:
            yield '<td class="n minor" data-v="-1"></td>'
            continue
        was = old.seconds.get(key) if old else None
        yield _time(model.seconds[key], was)
    yield "</tr>"


def _map(graphs: Sequence[int], widest: int, kind: str) -> Iterator[str]:
    """A bar as wide as the model has operators (by the square root: small ones can be seen), cut into graphs."""
    total = sum(graphs)
    if not total or not widest:
        return
    drawn = [*graphs[:SEGMENTS], sum(graphs[SEGMENTS:])] if len(graphs) > SEGMENTS else graphs
    stops, at = [], 0.0
    for number, operators in enumerate(drawn):
        end = at + 100 * operators / total
        colour = f"hsl({HUES[number % len(HUES)]} 55% var(--bar))"
        # A line of the page's colour parts two graphs.
        stops.append(
            f"{colour} {at:.2f}% calc({end:.2f}% - 1px),var(--page) calc({end:.2f}% - 1px) {end:.2f}%"
        )
        at = end
    width = max(3.0, 100 * sqrt(total / widest))
    sizes = ", ".join(map(str, graphs[:12])) + (", ..." if len(graphs) > 12 else "")
    yield (
        f'<span class="{kind}" style="width:{width:.1f}%;background:linear-gradient(90deg,{",".join(stops)})" '
        f'role="img" aria-label="operators in each graph: {sizes}" title="operators in each graph: {sizes}"></span>'
    )


def _number(now: int, was: int | None, kind: str = "", more_is_better: bool = False) -> str:
    if was is None or was == now:
        return f'<td class="n{kind}" data-v="{now}">{now}</td>'
    mark = "good" if (now > was) == more_is_better else "bad"
    told = f'<span class="was">{was} &rarr;</span> <span class="{mark}">{now}</span>'
    return f'<td class="n{kind}" data-v="{now}">{told}</td>'


def _time(now: float, was: float | None) -> str:
    told = seconds(now)
    if was is not None and abs(now - was) > 0.2 * was:
        mark = "good" if now < was else "bad"
        told = f'<span class="was">{seconds(was)} &rarr;</span> <span class="{mark}">{told}</span>'
    return f'<td class="n minor" data-v="{now:.6f}">{told}</td>'
