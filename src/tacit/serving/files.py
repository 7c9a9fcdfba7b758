"""The files of the page as a browser gets them, from the folder in which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tacit.serving.joined import scripts, styles
from tacit.serving.names import PageNames, apply_names
from tacit.serving.slim import slim

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
UNSERVED = frozenset({"tsconfig.json"})
"""For whoever works on the page."""


NAMED = (".html", ".webmanifest")
"""Files beside scripts that may hold the names of a page."""


def browser_files(root: Path, page_names: PageNames | None = None) -> dict[str, bytes]:
    """What a browser gets of a folder, by name: scripts and styles joined, scripts slimmed, with
    the owner's words for things where there are any."""
    sources = _sources(root)
    files = {
        name: path.read_bytes()
        for name, path in sources.items()
        if path.suffix not in (".js", ".css")
    }
    if page_names is not None:
        heads = {name: body.decode() for name, body in files.items() if name.endswith(NAMED)}
        files |= {name: text.encode() for name, text in apply_names(heads, page_names).items()}
    for kind, join in ((".js", _scripts), (".css", styles)):
        texts = {
            name: path.read_text(encoding="utf-8")
            for name, path in sources.items()
            if path.suffix == kind
        }
        if page_names is not None:
            texts = apply_names(texts, page_names)
        files |= {name: text.encode() for name, text in join(texts).items()}
    return files


def _scripts(sources: Mapping[str, str]) -> dict[str, str]:
    return {name: slim(text) for name, text in scripts(sources).items()}


def _sources(root: Path) -> dict[str, Path]:
    """The files that a browser may see or that make what it sees, by name."""
    every = {path.relative_to(root): path for path in sorted(root.rglob("*"))}
    return {
        name.as_posix(): path
        for name, path in every.items()
        if path.is_file()
        and path.suffix in KINDS
        and path.name not in UNSERVED
        and not any(part.startswith(".") for part in name.parts)
    }
