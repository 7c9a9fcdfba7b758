"""The files of the page, read once into memory."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tacit.serving.files import KINDS, browser_files
from tacit.serving.http.answer import Asset, Variants
from tacit.serving.names import PageNames

FRONT = "index.html"


def web_folder() -> Path:
    """Where the installed page is."""
    return Path(str(files("tacit.serving"))) / "web"


def page_files(
    folder: Path | None = None, page_names: PageNames | None = None
) -> dict[str, Asset | Variants]:
    """Every file of the page by its address; the front page also at `/`."""
    assets: dict[str, Asset | Variants] = {
        f"/{name}": Asset("page", KINDS[Path(name).suffix], body)
        for name, body in sorted(browser_files(folder or web_folder(), page_names).items())
    }
    if f"/{FRONT}" in assets:
        assets["/"] = assets[f"/{FRONT}"]
    style = Path(str(files("tacit.serving"))) / "pages" / "plain.css"
    assets["/plain.css"] = Asset("page", KINDS[".css"], style.read_bytes())
    return assets
