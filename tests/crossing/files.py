"""Pairs of neighbouring ratings files: they differ by what a unit protects, and share all that
is public."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import tacit

Row = tuple[str, str, int]
PEOPLE, ITEMS = 24, 7
SHY = "p3"
"""Has one rating only."""
ONE = "p5"
"""The person in whom neighbours differ."""
LIKED, DISLIKED, ABSENT = 5, 2, 0


@dataclass(frozen=True)
class Pair:
    """Two files of one layout."""

    left: str
    right: str


def rows() -> list[Row]:
    """Who rated what: every item has raters beside those in whom neighbours differ."""
    made = []
    for person in range(PEOPLE):
        for item in range(ITEMS):
            if (person * 3 + item * 5) % 4 or item == 0:
                value = 1 + (person * 7 + item * 3) % 5
                made.append((f"p{person}", f"i{item}", value))
    return [row for row in made if row[0] != SHY] + [(SHY, "i0", 4)]


def pair(relation: str, layout: str, duplicates: bool) -> Pair:
    """Neighbours. `relation`: a person, a cell, the only cell of a person, a value, or the
    record of a participant."""
    left = rows()
    first = next(at for at, row in enumerate(left) if row[0] == ONE)
    right = list(left)
    if relation == "person":
        right = [row for row in left if row[0] != ONE]
    elif relation == "cell":
        del right[first]
    elif relation == "only cell":
        right = [row for row in left if row[0] != SHY]
    elif relation == "value":
        low = ABSENT if layout == "absent" else DISLIKED
        left[first] = (*left[first][:2], low)
        right[first] = (*left[first][:2], LIKED)
    elif relation == "record":
        right = [row for row in left if row[0] != ONE] + [(ONE, "i1", LIKED)]
    else:
        raise ValueError(relation)
    if duplicates:
        left, right = _repeated(left), _repeated(right)
    return Pair(_text(left, layout), _text(right, layout))


def _repeated(made: list[Row]) -> list[Row]:
    """Some people rated an item twice, she in whom neighbours differ among them."""
    again = [row for row in made if row[0] in (ONE, "p7", "p8")]
    return made + [(person, item, 3) for person, item, _ in again]


def _text(made: list[Row], layout: str) -> str:
    if layout == "absent":  # as Book-Crossing writes it: 0 is no rating
        head = '"User-ID";"ISBN";"Book-Rating"'
        lines = [f'"{person}";"{item}";"{value}"' for person, item, value in made]
        # What no value stands for is in both files.
        lines.append('"p9";"i4";"0"')
    else:
        head = "user,item,rating"
        lines = [f"{person},{item},{value}" for person, item, value in made]
    return "\n".join([head, *lines]) + "\n"


def odd(text: str) -> str:
    """The same, and rows of hers that look like a header, like numbers and like quotes; some
    others have rated such items too, so that no item is hers alone."""
    head, *lines = text.splitlines()
    strange = ["user", "rating", "007", "0e268977", "1e3", '"i, ""1"', "5-inch disc"]
    more = [f"{who},{item},4" for who in (ONE, "p7", "p8") for item in strange]
    hers = [line for line in [*lines, *more] if line.startswith(f"{ONE},")]
    # Where she is not in the table at all, she has no rows of this kind either.
    there = any(line.startswith(f"{ONE},") for line in lines)
    others = [line for line in [*lines, *more] if line not in hers]
    return "\n".join([head, *(hers if there else []), *others]) + "\n"


def as_read(text: str, reading: str, folder: Path) -> bytes:
    """A table in the form in which it is read (`tests.crossing.matrix.READING`)."""
    if reading == "odd":
        return odd(text).encode()
    lines = text.splitlines()[1:]
    if reading == "headless":
        return ("\n".join(lines) + "\n").encode()
    if reading == "declared":
        rows = [line.split(",") for line in lines]
        told = [f'"{who}";{item};{value},0;06.09.2024 10:00' for who, item, value in rows]
        return ("\r\n".join([*told, '"p9";"i\u00e9";"3,5";31.12.2024']) + "\n").encode("latin-1")
    if reading == "gzip":
        return gzip.compress(text.encode(), mtime=0)
    path = folder / "made.csv"
    path.write_text(text)
    frame = pl.read_csv(path)
    path.unlink()
    if reading == "parquet":
        held = io.BytesIO()
        frame.write_parquet(held)
        return held.getvalue()
    assert reading == "packed"
    tacit.pack(frame, folder / "made.tacit", (1, 5))
    return (folder / "made.tacit").read_bytes()


def catalogue() -> str:
    """The public items, one of which nobody rated."""
    lines = [f"i{item},Title {item}" for item in range(ITEMS + 1)]
    return "\n".join(["item,title", *lines]) + "\n"


def public() -> str:
    """Ratings of people who are public: some have the ids of private ones, she in whom
    neighbours differ among them, and one item is theirs alone."""
    made = [row for row in rows() if row[0] not in (SHY, "p9")]
    lines = [f"{person},{item},{6 - value}" for person, item, value in made]
    lines.append(f"{ONE},theirs,5")
    return "\n".join(["user,item,rating", *lines]) + "\n"


def write(folder: Path, text: str, reading: str = "") -> None:
    """One of the two files, under the name that both have."""
    folder.mkdir(parents=True)
    made = as_read(text, reading, folder) if reading else text.encode()
    (folder / "ratings.csv").write_bytes(made)
    (folder / "items.csv").write_text(catalogue())
    (folder / "public.csv").write_text(public())
    (folder / "gone.txt").write_text("p9\nnobody\n")
    asked = [f"{who},.3" for who in (ONE, "p7") if f"{who}," in text]
    budgets = "\n".join(["user,epsilon", *asked, "nobody,.2"])
    (folder / "budgets.csv").write_text(budgets + "\n")
