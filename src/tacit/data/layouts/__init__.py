"""The layouts that public data sets come in. A layout is told by file names and by marks
such as a header line, never by ratings, and implies a scale."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tacit.data.reading.columns import plain
from tacit.data.reading.dialect import Dialect, plain_ends
from tacit.data.reading.files import Bundle, Part
from tacit.errors import DataError, SettingError

Form = Literal["delimited", "netflix", "jester", "parquet"]


@dataclass(frozen=True)
class Layout:
    """How a known data set is written. `absent`: the number that stands for no rating."""

    name: str
    title: str
    low: float
    high: float
    form: Form = "delimited"
    delimiter: str | None = None
    encoding: str = "utf-8"
    absent: float | None = None


LAYOUTS = {
    each.name: each
    for each in (
        Layout("ml-100k", "MovieLens 100K", 1, 5, delimiter="\t"),
        Layout("ml-1m", "MovieLens 1M", 1, 5, delimiter="::"),
        Layout("ml-10m", "MovieLens 10M", 0.5, 5, delimiter="::"),
        Layout(
            "ml-csv", "MovieLens csv (20M, 25M, 32M, latest)", 0.5, 5, delimiter=","
        ),
        Layout("netflix", "Netflix Prize", 1, 5, form="netflix"),
        Layout("jester", "Jester", -10, 10, form="jester", absent=99),
        Layout("book-crossing", "Book-Crossing", 1, 10, encoding="latin-1", absent=0),
        Layout("libimseti", "LibimSeTi", 1, 10, delimiter=","),
    )
}
NETFLIX = re.compile(r"(mv_\d+|combined_data_\d+)\.txt(\.gz)?")
MOVIELENS_CSV = "userid,movieid,rating,timestamp"


def named(name: str) -> Layout:
    if name not in LAYOUTS:
        raise SettingError(
            f"there is no layout {name}", remedy=f"choose one of {', '.join(LAYOUTS)}"
        )
    return LAYOUTS[name]


def detect(bundle: Bundle) -> tuple[Layout | None, list[Part]]:
    """The layout of a file, folder or archive, and the files to read (not told for Netflix:
    a tar is one pass)."""
    jester: list[Part] = []
    names: set[str] = set()
    found: tuple[Layout, Part] | None = None
    count, last = 0, None
    for part in bundle.parts():
        names.add(part.name.removesuffix(".gz"))
        if NETFLIX.fullmatch(part.name):
            if found is not None:
                raise ambiguous(bundle, found[1], part)
            return LAYOUTS["netflix"], []
        layout = (
            None if found and not bundle.folder else layout_of(part)
        )  # to look into an archive is to read it
        if layout is LAYOUTS["jester"]:
            jester.append(part)
        elif layout is not None and found is None:
            found = layout, part
        elif layout is not None and found is not None:
            raise ambiguous(bundle, found[1], part)
        if not count:
            part.head(1)  # the pass over a tar stands at this part only now
        count, last = count + 1, part
    if found is not None:
        return refine(found[0], found[1], names), [found[1]]
    if jester:
        return LAYOUTS["jester"], jester
    if count == 1 and last is not None:
        return None, [last]
    raise DataError(
        "no known layout of ratings is in it",
        place=bundle.label,
        remedy="name the file that holds the ratings",
    )


def ambiguous(bundle: Bundle, one: Part, other: Part) -> DataError:
    """Never choose for the owner: a fit on the wrong people is paid for all the same."""
    return DataError(
        f"it holds more than one set of ratings: {one.label} and {other.label}",
        place=bundle.label,
        remedy="name the file or folder that you mean",
    )


def layout_of(part: Part) -> Layout | None:
    """The layout of one file, judged by its name and its first bytes."""
    name = part.name.removesuffix(".gz")
    folder = part.path.rsplit("/", 2)[-2] if "/" in part.path else ""
    if name in ("u.data", "u1.base", "ua.base"):
        return LAYOUTS["ml-100k"] if name == "u.data" else None
    if not name.endswith((".dat", ".csv", ".txt", ".tsv", ".xls")):
        return None
    head = part.head(4096)
    first = (
        plain_ends(head.removeprefix(b"\xef\xbb\xbf"))
        .split(b"\n", 1)[0]
        .decode("latin-1")
        .strip()
    )
    if name == "ratings.dat":
        if re.fullmatch(r"\d+::\d+::[\d.]+::\d+", first):
            return LAYOUTS["ml-1m"]
        if re.fullmatch(r"\d+,\d+,\d+", first):
            return LAYOUTS["libimseti"]
    if "rating" in name and first.replace('"', "").lower() == MOVIELENS_CSV:
        return LAYOUTS["ml-csv"]
    fields = [plain(field) for field in re.split("[;,\t]", first)]
    if fields[:2] == ["userid", "isbn"] and fields[2:] in (["bookrating"], ["rating"]):
        return LAYOUTS["book-crossing"]
    if ("libimseti" in name or folder.startswith("libimseti")) and re.fullmatch(
        r"\d+,\d+,\d+", first
    ):
        return LAYOUTS["libimseti"]
    if "jester" in name and (
        name.endswith(".xls") or len(re.split("[;,\t]", first)) > 50
    ):
        return LAYOUTS["jester"]
    if name.endswith((".csv", ".txt", ".tsv")) and len(
        numbers := re.split("[;,\t]", first)
    ) in (101, 151):
        return (
            LAYOUTS["jester"]
            if all(re.fullmatch(r"\s*-?\d*\.?\d*\s*", each) for each in numbers)
            else None
        )
    return None


def refine(layout: Layout, part: Part, names: set[str]) -> Layout:
    """MovieLens 10M is written as 1M is; its folder or the files beside it tell."""
    if layout.name != "ml-1m":
        return layout
    if (
        re.search(r"ml-10m", part.path)
        or "tags.dat" in names
        or beside(part, "tags.dat")
    ):
        return LAYOUTS["ml-10m"]
    return layout


def beside(part: Part, name: str) -> bool:
    """Whether a plain file has such a neighbour."""
    from pathlib import Path

    return Path(part.label).with_name(name).is_file()


def dialect_of(layout: Layout, dialect: Dialect) -> Dialect:
    """The layout's word over what the first lines suggest."""
    return Dialect(
        layout.delimiter or dialect.delimiter, dialect.width, layout.encoding
    )


def netflix_parts(bundle: Bundle) -> Iterator[Part]:
    return (part for part in bundle.parts() if NETFLIX.fullmatch(part.name))
