"""Book-Crossing: ISBNs, Latin-1, quotation marks that follow no rule, and 0 for no rating."""

from __future__ import annotations

import re

from tacit.data.layouts.base import Glance, Layout
from tacit.data.reading.columns import plain
from tacit.data.reading.dialect import QUOTES


def is_book_crossing(preview: Glance) -> bool:
    """By its header, in the two ways in which it is passed on."""
    fields = [plain(field) for field in re.split("[;,\t]", preview.first)]
    rated = fields[2:] in (["bookrating"], ["rating"])
    return fields[:2] == ["userid", "isbn"] and rated


LAYOUTS = (
    Layout(
        "book-crossing",
        "Book-Crossing",
        1,
        10,
        is_book_crossing,
        encoding="latin-1",
        absent=0,
        fence=QUOTES,
    ),
)
