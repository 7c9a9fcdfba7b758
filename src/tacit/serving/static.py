"""The files of the page, read once into memory."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tacit.serving.http.answer import Asset, Variants
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
FRONT = "index.html"


def web_folder() -> Path:
    """Where the installed page is."""
    return Path(str(files("tacit.serving"))) / "web"


def page_files(folder: Path | None = None) -> dict[str, Asset | Variants]:
    """Every file of the page by its address; the front page also at `/`."""
    root = folder or web_folder()
    found = dict[str, Asset | Variants]()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        hidden = any(
            part.startswith(".") for part in path.relative_to(root).parts
        )
        if (
            not path.is_file()
            or path.suffix not in KINDS
            or path.name in UNSERVED
            or hidden
        ):
            continue
        body = path.read_bytes()
        if path.suffix == ".js":
            body = slim(body.decode()).encode()
        found[f"/{name}"] = Asset("page", KINDS[path.suffix], body)
    if f"/{FRONT}" in found:
        found["/"] = found[f"/{FRONT}"]
    style = Path(str(files("tacit.serving"))) / "pages" / "plain.css"
    found["/plain.css"] = Asset("page", KINDS[".css"], style.read_bytes())
    return found
