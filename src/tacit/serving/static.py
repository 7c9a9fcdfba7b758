"""The files of the page, read once into memory.

`scripts/page` builds them from the sources in `web/`; a server only reads and sends them.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tacit.serving.http.answer import Asset, Variants
from tacit.serving.names import FRONT, PageNames, with_names

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


def web_folder() -> Path:
    """Where the installed page is."""
    return Path(str(files("tacit.serving"))) / "web"


def read_page(folder: Path, names: PageNames | None = None) -> dict[str, bytes]:
    """What a browser may get of a folder, by name, with the owner's words if there are any."""
    files = dict[str, bytes]()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and path.suffix in KINDS and not hidden:
            files[name.as_posix()] = path.read_bytes()
    return files if names is None else with_names(files, names)


def page_files(
    folder: Path | None = None, names: PageNames | None = None
) -> dict[str, Asset | Variants]:
    """Every file of the page by its address; the front page also at `/`."""
    assets: dict[str, Asset | Variants] = {
        f"/{name}": Asset("page", KINDS[Path(name).suffix], body)
        for name, body in sorted(read_page(folder or web_folder(), names).items())
    }
    if f"/{FRONT}" in assets:
        assets["/"] = assets[f"/{FRONT}"]
    style = Path(str(files("tacit.serving"))) / "pages" / "plain.css"
    assets["/plain.css"] = Asset("page", KINDS[".css"], style.read_bytes())
    return assets
