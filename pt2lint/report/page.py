"""A rule's page, for `pt2lint rule CODE`."""

from __future__ import annotations

import json
from dataclasses import asdict

from pt2lint.finding import RulePage

REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb{}.html"


def registry_link(graph_break: str) -> str:
    """The page of an id such as GB0124, as torch._dynamo.exc.get_gbid_documentation_link builds it."""
    return REGISTRY.format(graph_break.upper().removeprefix("GB"))


def markdown(page: RulePage) -> str:
    """The page with links to PyTorch's graph-break registry."""
    links = "".join(f"- [{id}]({registry_link(id)})\n" for id in page.graph_breaks)
    more = f"\n\n## In PyTorch's graph-break registry\n\n{links}" if links else "\n"
    return page.help.rstrip() + more


def render(format: str, page: RulePage, colour: bool = False) -> str:
    """The page as "text", "markdown" or "json"."""
    if format == "json":
        return (
            json.dumps({**asdict(page), "links": [registry_link(id) for id in page.graph_breaks]}, indent=2)
            + "\n"
        )
    text = f"# {page.name} ({page.code})\n\n{markdown(page)}"
    if format == "markdown" or not colour:
        return text
    from io import StringIO

    from rich.console import Console
    from rich.markdown import Markdown

    out = StringIO()
    Console(file=out, force_terminal=True, width=100).print(Markdown(text))
    return out.getvalue()
