"""LibimSeTi: people who rate people's profiles, three numbers a line without a header."""

from __future__ import annotations

import re

from tacit.data.layouts.base import Glance, Layout

NUMBERS = re.compile(r"\d+,\d+,\d+")


def is_libimseti(preview: Glance) -> bool:
    """Three numbers say little, so that its name, or its folder's, must say the rest."""
    if not NUMBERS.fullmatch(preview.first):
        return False
    return (
        preview.name == "ratings.dat"
        or "libimseti" in preview.name
        or preview.folder.startswith("libimseti")
    )


COLUMNS = {"user": 1, "item": 2, "rating": 3}
LAYOUTS = (Layout("libimseti", "LibimSeTi", 1, 10, is_libimseti, delimiter=",", columns=COLUMNS),)
