"""Pictures and pages as files: whole or not at all."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.atomic_write import open_atomic
from tacit.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")


def check_picture(path: str) -> str:
    """The format that a name ends in; refuse any other."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise SettingError(
            f"{path} does not end in .svg, .png or .pdf",
            remedy="name the picture after its format",
        )
    return ending


def save_figure(figure: Figure, path: str) -> None:
    """In the format that the name ends in."""
    from tacit.evaluation.report.charts import SALT, plotting

    ending = check_picture(path)
    out = BytesIO()
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with plotting().rc_context({"svg.hashsalt": SALT}):
        figure.savefig(out, format=ending, metadata=stamps[ending], facecolor="white", dpi=160)
    write(path, out.getvalue())


def write(path: str, content: bytes) -> None:
    """Beside, then renamed."""
    remedy = "name a folder that exists and may be written to"
    with open_atomic(path, remedy=remedy) as file:
        file.write(content)
