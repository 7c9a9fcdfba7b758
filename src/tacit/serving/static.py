"""The files of the page, read once into memory."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tacit.serving.files import KINDS, sent
from tacit.serving.http.answer import Asset, Variants
from tacit.serving.names import PageNames

FRONT = "index.html"


def web_folder() -> Path:
    """Where the installed page is."""
    return Path(str(files("tacit.serving"))) / "web"


def page_files(
    folder: Path | None = None, words: PageNames | None = None
) -> dict[str, Asset | Variants]:
    """Every file of the page by its address; the front page also at `/`."""
    found: dict[str, Asset | Variants] = {
        f"/{name}": Asset("page", KINDS[Path(name).suffix], body)
        for name, body in sorted(sent(folder or web_folder(), words).items())
    }
    if f"/{FRONT}" in found:
        found["/"] = found[f"/{FRONT}"]
    style = Path(str(files("tacit.serving"))) / "pages" / "plain.css"
    found["/plain.css"] = Asset("page", KINDS[".css"], style.read_bytes())
    return found
