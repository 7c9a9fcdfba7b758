"""Pictures and pages as files: whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import SettingError, StorageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")


def save_figure(figure: Figure, place: str) -> None:
    """In the format that the name ends in."""
    from tacit.evaluation.report.charts import SALT, plotting

    ending = Path(place).suffix.lower().lstrip(".")
    if ending not in FORMATS:
        raise SettingError(
            f"{place} does not end in .svg, .png or .pdf",
            remedy="name the picture after its format",
        )
    out = BytesIO()
    stamps = {
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
        "png": {},
    }
    with plotting().rc_context({"svg.hashsalt": SALT}):
        figure.savefig(
            out,
            format=ending,
            metadata=stamps[ending],
            facecolor="white",
            dpi=160,
        )
    write(place, out.getvalue())


def write(place: str, content: bytes) -> None:
    """Beside, then renamed."""
    target = Path(place)
    staged = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        staged.write_bytes(content)
        os.replace(staged, target)
    except OSError as fault:
        with suppress(OSError):  # where a folder on the way is a file
            staged.unlink(missing_ok=True)
        raise StorageError(
            f"{place} could not be written: {fault.strerror}",
            remedy="name a folder that exists and may be written to",
        ) from None
