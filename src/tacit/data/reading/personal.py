"""One person's own ratings: a csv with columns `item` (id or title), `rating` and
optionally `timestamp`."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import NamedTuple

from tacit.data.ids import clean
from tacit.data.reading.cells import iso_seconds
from tacit.data.reading.columns import NAMES, Columns, check_roles, plain, resolve_column
from tacit.data.reading.dialect import decode, is_number, with_point
from tacit.data.reading.faults import time_fault
from tacit.data.reading.files import Stream, bundle
from tacit.data.reading.guard import third_party
from tacit.data.reading.sheet import OWN, SmallTable, read_sheet, with_header
from tacit.errors import DataError
from tacit.repr import shapes

KNOWN = {name for role in ("item", "rating", "time") for name in [*NAMES[role], "id", "name"]}


class PersonalRating(NamedTuple):
    """A rating as its owner wrote it; the model resolves the item and checks the scale, and
    can name the line."""

    item: str
    rating: float | None
    """None: liked, without a rating."""
    time: int | None
    line: int

    def __repr__(self) -> str:
        return shapes(self)


def read_personal(
    path: str | Path, *, likes: bool = False, columns: Columns | None = None
) -> list[PersonalRating]:
    """The rows of the file. Without a header the order is item, rating, timestamp. `likes`:
    ratings may be left out. `columns` says which column is which."""
    check_roles(columns or {})
    column_names = {role: name for role, name in (columns or {}).items() if name}
    names = {plain(str(name)) for name in column_names.values()}
    with third_party(str(path)):
        sheet = with_header(read_sheet(only_part(path), size=OWN, by_line=True), KNOWN | names)
        _refuse_several(sheet, column_names.get("user"))
        cell_positions = positions(sheet, likes, columns or {})
        return [parse_row(sheet, line, cells, *cell_positions) for line, cells in sheet.rows]


def read_names(path: str | Path) -> list[str]:
    """Items that a file lists, one a line."""
    part = only_part(path)
    text = decode(part.read_all(OWN.most, OWN.what), part.label)
    return [clean(line.strip().strip('"')) for line in text.split("\n")]


def only_part(path: str | Path) -> Stream:
    """The one file that is meant."""
    for part in bundle(path).parts():
        part.head(1)  # the pass over a tar stands at this part only now
        return part
    raise DataError("there is no file in it", place=str(path), remedy="name the file")


def positions(
    sheet: SmallTable, likes: bool, columns: Columns
) -> tuple[int, int | None, int | None]:
    """Where the item, the rating and the time stand in a row: as the caller says, else by the
    usual names."""
    item, rating, time = _usual_positions(sheet)
    if "item" in columns:
        item = _resolve_named(sheet, "item", columns["item"])
    if "rating" in columns:
        rating = _resolve_named(sheet, "rating", columns["rating"])
    if "time" in columns:
        time = _resolve_named(sheet, "time", columns["time"])
    if item is None:
        raise _missing(sheet, "item")
    if rating is None and not likes:
        raise _missing(sheet, "rating")
    return item, rating, time


def _resolve_named(sheet: SmallTable, role: str, column: str | int | None) -> int | None:
    """The column that its owner names; her own header may be told to her."""
    return resolve_column(column, role, sheet.header, sheet.width, sheet.label, quoted=True)


def _usual_positions(sheet: SmallTable) -> tuple[int | None, int | None, int | None]:
    """By the usual names, or in the usual order."""
    if sheet.header is None:
        width = sheet.width
        return 0, 1 if width > 1 else None, 2 if width > 2 else None
    plainly = [plain(name) for name in sheet.header]
    item, rating, time = (
        next(
            (plainly.index(name) for name in [*NAMES[role], *extra_names] if name in plainly), None
        )
        for role, extra_names in (("item", ["id", "name"]), ("rating", []), ("time", []))
    )
    return item, rating, time


def _refuse_several(sheet: SmallTable, user: str | int | None) -> None:
    """A file with a column of people is one person's if that column holds one value."""
    if sheet.header is None:
        return
    plainly = [plain(name) for name in sheet.header]
    at = next((plainly.index(name) for name in NAMES["user"] if name in plainly), None)
    if user is not None:
        at = _resolve_named(sheet, "user", user)
    if at is None:
        return
    people = {cells[at] for _, cells in sheet.rows if at < len(cells)}
    if len(people) > 1:
        raise DataError(
            f"this file holds the ratings of many people (column `{sheet.header[at]}`), and "
            "a list is for one",
            place=sheet.locate(1),
            remedy="everyone's lists: --people FILE --out lists.csv; for one person keep "
            "only that person's rows",
        )


def _missing(sheet: SmallTable, role: str) -> DataError:
    return DataError(
        f"missing column: there is no {role}",
        place=sheet.locate(1),
        remedy=f"say which it is (--columns {role}=NAME), or begin the file with the line "
        "item,rating and give each item's id or title",
    )


def parse_row(
    sheet: SmallTable, line: int, cells: list[str], item: int, rating: int | None, time: int | None
) -> PersonalRating:
    """The only column with one of these names."""
    last_position = max(item, rating if rating is not None else 0)
    if len(cells) <= last_position:
        message = f"too few fields: {len(cells)} instead of {last_position + 1}"
        raise DataError(message, place=sheet.locate(line), remedy="complete or remove the line")
    if sheet.header is not None and any(cells[len(sheet.header) :]):
        message = f"too many fields: {len(cells)} instead of {len(sheet.header)}"
        raise DataError(
            message, place=sheet.locate(line), remedy="put quotes around a title that holds a comma"
        )
    if not cells[item]:
        raise DataError(
            "no item", place=sheet.locate(line, item + 1), remedy="complete or remove the line"
        )
    value: float | None = None
    if rating is not None:
        text = with_point(cells[rating])
        if not is_number(text):
            fault = "text where a number belongs" if cells[rating] else "no rating"
            remedy = "give each rating as a number; put quotes around a title that holds a comma"
            raise DataError(
                fault, place=sheet.locate(line, f"{rating + 1} (rating)"), remedy=remedy
            )
        value = float(text)
        if not isfinite(value):
            raise DataError(
                "the rating is too large to be a number",
                place=sheet.locate(line, f"{rating + 1} (rating)"),
                remedy="give each rating as a number",
            )
    moment = None
    if time is not None and time < len(cells) and cells[time]:
        moment = seconds(cells[time])
        if moment is None:
            raise time_fault(sheet.locate(line, f"{time + 1} (time)"), text=cells[time])
    return PersonalRating(cells[item], value, moment, line)


def seconds(text: str) -> int | None:
    """A time as seconds since 1970, or an error with its place."""
    if is_number(text):
        return int(float(text)) if abs(float(text)) < 2**62 else None
    return iso_seconds(text)
