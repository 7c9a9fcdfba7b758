"""The whole site: every page of the documentation, what it shows and what it leads to.

The tree of the site is that of the project, so that a link means the same in both. Pictures are
inside the pages, whose policy fetches nothing.
"""

from __future__ import annotations

import base64
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from siting import api
from siting.render import Page, render
from tacit.page import escaped, page

OUTSIDE = ("http://", "https://", "mailto:")
KINDS = {".svg": "image/svg+xml", ".png": "image/png"}
STYLE = """
nav { font-size: .9rem; margin: 0 0 1rem; }
img { max-width: 100%; height: auto; }
section h2 { margin-top: 2rem; }
p, ul, ol { max-width: 46rem; }
"""


@dataclass
class Site:
    """What was found so far."""

    root: Path
    out: Path
    pages: dict[Path, Page] = field(default_factory=dict)
    wanted: list[tuple[Path, str, Path, str]] = field(default_factory=list)
    """(page, link as written, target, anchor)."""
    broken: list[str] = field(default_factory=list)

    def lead(self, source: Path, link: str, picture: bool, at: Path | None = None) -> str:
        """Where a link of a page leads in the site, from where the page is (or from the folder
        `at`); the file goes along."""
        if link.startswith(OUTSIDE):
            return link
        bare, _, anchor = link.partition("#")
        target = source
        if bare:
            target = Path(os.path.normpath(source.parent / unquote(bare)))
        self.wanted.append((source, link, target, anchor))
        if not target.exists() or not target.is_relative_to(self.root):
            return link
        if picture:
            return inside(target)
        if target.is_file() and target.suffix != ".md":
            copy = self.out / target.relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copy)
            return os.path.relpath(copy, at or self.place(source).parent)
        where = self.place(target)
        near = os.path.relpath(where, at or self.place(source).parent)
        return f"{near}#{anchor}" if anchor else near

    def place(self, source: Path) -> Path:
        """The file of a page, or of a folder's list of pages."""
        inner = source.relative_to(self.root)
        if source.is_dir():
            return self.out / inner / "index.html"
        return self.out / inner.with_suffix(".html")


def inside(picture: Path) -> str:
    """A picture as an address that holds it."""
    body = base64.b64encode(picture.read_bytes()).decode("ascii")
    return f"data:{KINDS[picture.suffix]};base64,{body}"


def sources(root: Path) -> list[Path]:
    """All Markdown that readers are led to."""
    patterns = ("*.md", "docs/**/*.md", "examples/**/*.md", "deploy/**/*.md")
    return sorted(path for each in patterns for path in root.glob(each))


def build(root: Path, out: Path) -> list[str]:
    """Write the site; what is broken, a line each."""
    site = Site(root, out)
    if out.exists():
        shutil.rmtree(out)
    for source in sources(root):
        text = api.filled(source.read_text(encoding="utf-8"))
        site.pages[source] = render(
            text, lambda link, picture, at=source: site.lead(at, link, picture)
        )
    _folders(site)
    _check(site)
    for source, one in site.pages.items():
        _write(site, site.place(source), one)
    index = root / "docs" / "index.md"
    front = render(
        index.read_text(encoding="utf-8"),
        lambda link, picture: site.lead(index, link, picture, out),
    )
    _write(site, out / "index.html", front)
    return site.broken


def _folders(site: Site) -> None:
    """A folder that is linked to becomes a list of its pages."""
    for _, _, target, _ in site.wanted:
        if not target.is_dir() or target in site.pages:
            continue
        found = sorted(site.pages.items())
        lines = [
            f'<li><a href="{path.stem}.html">{escaped(one.title)}</a></li>'
            for path, one in found
            if path.parent == target and path.is_file()
        ]
        body = f"<ul>\n{chr(10).join(lines)}\n</ul>"
        site.pages[target] = Page(target.name.capitalize(), body)


def _check(site: Site) -> None:
    for source, link, target, anchor in site.wanted:
        where = source.relative_to(site.root)
        if not target.exists():
            site.broken.append(f"{where}: {link} leads nowhere")
        elif anchor and anchor not in getattr(site.pages.get(target), "anchors", ()):
            site.broken.append(f"{where}: {link} has no such heading")


def _write(site: Site, where: Path, one: Page) -> None:
    where.parent.mkdir(parents=True, exist_ok=True)
    home = os.path.relpath(site.out / "docs" / "index.html", where.parent)
    nav = f'<nav><a href="{home}">Tacit: documentation</a></nav>'
    text = page(one.title, [("", nav + one.body)], style=STYLE, footer="Apache-2.0")
    where.write_text(text, encoding="utf-8")
