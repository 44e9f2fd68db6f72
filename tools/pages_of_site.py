"""What MkDocs asks for the site: the repository's own pages beside those of docs/, and links that fit both places.

README.md is the site's first page. A link to a file of the repository that is no page (an example, a source) becomes
its text; one that leads nowhere stays, and fails the build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"index.md": "README.md", "changes.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
DRAWING = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """What the site shows beside each page: the table in README.md, in its order, the rules under their own head."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\[([^\]]+)\]\(docs/([\w./-]+\.md)\)", readme.partition("## Documentation")[2])
    rules = sorted(path.name for path in (ROOT / "docs" / "rules").glob("PT*.md"))
    under_rules = ["rules/README.md", *(f"rules/{name}" for name in rules)]
    pages: list[Any] = [
        {title: under_rules if page == "rules/README.md" else page} for title, page in dict(listed).items()
    ]
    config.nav = [
        {"pt2lint": "index.md"},
        *pages,
        {"Changes": "changes.md"},
        {"Contributing": "contributing.md"},
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that stand outside of docs/."""
    from mkdocs.structure.files import File

    for page, source in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links as they must be on the site."""
    here = page.file.src_uri
    at_home = posixpath.dirname(PAGES.get(here) or "docs/" + here)

    def moved(link: re.Match[str]) -> str:
        bang, text, target, anchor = link.groups()
        if re.match(r"[a-z]+:", target):
            return link[0]
        path = posixpath.normpath(posixpath.join(at_home, target))
        page_of = {source: page for page, source in PAGES.items()}.get(path)
        if page_of is None and path.startswith("docs/"):
            page_of = path.removeprefix("docs/")
        if page_of is not None:
            return (
                f"{bang}[{text}]({posixpath.relpath(page_of, posixpath.dirname(here) or '.')}{anchor or ''})"
            )
        return text if (ROOT / path).exists() else link[0]

    markdown = DRAWING.sub(as_table, markdown)
    # What stands in code blocks is no link.
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def as_table(drawing: re.Match[str]) -> str:
    """A drawing of arrows as a table: who draws on the site would be a script from another one."""
    arrows: dict[str, list[str]] = {}
    for one, other in re.findall(r"^ *(\S+) --> (\S+)$", drawing[1], re.M):
        arrows.setdefault(one, []).append(f"`{other}`")
    rows = [f"| `{one}` | {', '.join(others)} |" for one, others in arrows.items()]
    return "\n".join(["| box | arrows to |", "|---|---|", *rows])
