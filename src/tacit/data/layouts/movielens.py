"""MovieLens in its four ways of writing: 100K, 1M, 10M, and the csv files since 20M."""

from __future__ import annotations

import re

from tacit.data.layouts.base import Glance, Layout, has_neighbour
from tacit.data.reading.files import Stream

COLONS = re.compile(r"\d+::\d+::[\d.]+::\d+")
HEADER = "userid,movieid,rating,timestamp"


def is_100k(preview: Glance) -> bool:
    """`u.data`; its five folds are told by nothing, because they overlap."""
    return preview.name == "u.data"


def is_colons(preview: Glance) -> bool:
    """1M and 10M are written alike."""
    return preview.name == "ratings.dat" and bool(COLONS.fullmatch(preview.first))


def is_csv(preview: Glance) -> bool:
    """20M, 25M, 32M and the latest ones, by the whole header."""
    return "rating" in preview.name and preview.first.replace('"', "").lower() == HEADER


def ten_million(part: Stream, names: set[str]) -> str:
    """MovieLens 10M is written as 1M is; its folder or the files beside it tell."""
    is_ten_million = re.search(r"ml-10m", part.path) or "tags.dat" in names
    return "ml-10m" if is_ten_million or has_neighbour(part, "tags.dat") else "ml-1m"


COLUMNS = {"user": 1, "item": 2, "rating": 3, "time": 4}
"""Of the files without a header."""
LAYOUTS = (
    Layout("ml-100k", "MovieLens 100K", 1, 5, is_100k, delimiter="\t", columns=COLUMNS),
    Layout(
        "ml-1m",
        "MovieLens 1M",
        1,
        5,
        is_colons,
        delimiter="::",
        around=ten_million,
        columns=COLUMNS,
    ),
    Layout(
        "ml-10m", "MovieLens 10M", 0.5, 5, lambda preview: False, delimiter="::", columns=COLUMNS
    ),
    Layout("ml-csv", "MovieLens csv (20M, 25M, 32M, latest)", 0.5, 5, is_csv, delimiter=","),
)
