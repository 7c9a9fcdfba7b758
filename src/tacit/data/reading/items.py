"""`tacit.read_items`: the public catalogue, from known layouts, any csv or parquet, or a
data frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import LONGEST, MOST_FEATURES, Catalogue
from tacit.data.ids import clean, controlled
from tacit.data.reading.columns import NAMES, plain, split_words
from tacit.data.reading.dialect import Dialect, is_number, with_point
from tacit.data.reading.faults import control_fault
from tacit.data.reading.files import Stream, bundle
from tacit.data.reading.guard import third_party
from tacit.data.reading.sheet import (
    SmallTable,
    encoding_of,
    is_path,
    read_sheet,
    sheet_of,
    text_of,
    with_header,
)
from tacit.errors import DataError, SettingError
from tacit.validation import by_name
from tacit.validation import text as require_text

GENRES_100K = split_words(
    "unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy "
    "Film-Noir Horror Musical "
    "Mystery Romance Sci-Fi Thriller War Western"
)
ROLES = {
    "id": ["id", *(name for name in NAMES["item"] if name not in ("title", "movietitle"))],
    "title": split_words(
        "title movietitle booktitle name label productname itemname articlename description"
    ),
    "year": ["year", "releaseyear", "yearofpublication", "released", "releasedate", "date"],
    "tags": ["genres", "genre", "tags", "tag", "categories", "category", "keywords"],
}
KNOWN = {name for names in ROLES.values() for name in names}
NO_TAG = {"", "(no genres listed)", "unknown"}
LAYOUTS = ("ml-100k", "ml-1m", "ml-csv", "netflix")
FILES = {
    "u.item": "ml-100k",
    "movies.dat": "ml-1m",
    "movie_titles.txt": "netflix",
    "movie_titles.csv": "netflix",
}
ItemColumns = Mapping[str, str | None]
"""Role (id, title, tags) to the column that the caller names."""
AND = "+"
"""Joins the columns of tags."""


@by_name
def read_items(
    source: object,
    layout: str | None = None,
    item: str | None = None,
    *,
    title: str | None = None,
    tags: str | Sequence[str] | None = None,
) -> Catalogue:
    """The catalogue in `source`, a path or a data frame: ids, titles, years, tags, and
    other numeric columns.

    Known layouts: MovieLens `u.item`, `movies.dat`, `movies.csv` and Netflix
    `movie_titles`; anything else needs a header with a column `id`, `item` or the like, or
    one that `item` names. `title` and `tags` name columns of other names than the usual:
    `tags=["style", "region"]` takes both. A year may also end the title, as in `Heat (1995)`, and
    a cell may hold several tags, as in `Crime|Noir`.
    """
    _check_names(item, title, tags)
    joined = tags if tags is None or isinstance(tags, str) else AND.join(tags)
    columns = {"id": item, "title": title, "tags": joined}
    if layout is not None and layout not in LAYOUTS:
        raise SettingError(
            f"there is no catalogue layout {layout}", remedy=f"choose one of {', '.join(LAYOUTS)}"
        )
    if not is_path(source):
        return catalogue(sheet_of(source), columns)
    with third_party(str(source)):
        return _from_file(choose(source), layout, columns)  # type: ignore[arg-type]


def _check_names(item: object, title: object, tags: object) -> None:
    """Columns are named by texts; tags by one or several."""
    remedy = "give the name of a column"
    several = [tags] if isinstance(tags, str) or tags is None else tags
    if not isinstance(several, Sequence):
        require_text("tags", tags, 'name columns, such as tags=["style", "region"]')
        return
    for name, value in (("item", item), ("title", title)):
        if value is not None:
            require_text(name, value, remedy)
    for tag_column in several:
        if tag_column is not None:
            require_text("each of tags", tag_column, remedy)


def _from_file(part: Stream, layout: str | None, columns: ItemColumns) -> Catalogue:
    layout = layout or detect(part)
    if layout == "ml-100k":
        return catalogue(movielens_100k(part))
    if layout == "ml-1m":
        dialect = Dialect("::", 3)
        sheet = read_sheet(part, dialect, encoding_of(part))
        return catalogue(SmallTable(sheet.label, ["id", "title", "genres"], sheet.rows))
    if layout == "netflix":
        return catalogue(netflix_titles(part))
    sheet = with_header(read_sheet(part), KNOWN | set(requested_columns(columns)))
    if sheet.header is None:
        sheet = SmallTable(sheet.label, ["id", "title", "genres"][: sheet.width], sheet.rows)
    return catalogue(sheet, columns)


def choose(path: str | Path) -> Stream:
    """The catalogue's file: the path itself, or the known one in a folder or archive."""
    contents = bundle(path)
    for part in contents.parts():
        name = part.name.removesuffix(".gz")
        if contents.single or name in FILES or name == "movies.csv":
            part.head(1)  # the pass over a tar stands at this part only now
            return part
    raise DataError(
        "no known catalogue is in it",
        place=contents.label,
        remedy="name the file that lists the items",
    )


def detect(part: Stream) -> str | None:
    """By the file's name and the look of its first line; None for a plain table."""
    first_line = text_of(part).split("\n", 1)[0].strip()
    expected = FILES.get(part.name.removesuffix(".gz"))
    if re.match(r"\d+\|[^|]*\|", first_line) and first_line.count("|") == 23:
        return "ml-100k"
    if re.match(r"\d+::.+::", first_line) and (expected == "ml-1m" or part.name.endswith(".dat")):
        return "ml-1m"
    if re.match(r"\d+,(\d{4}|NULL),", first_line) and expected == "netflix":
        return "netflix"
    return None


def movielens_100k(part: Stream) -> SmallTable:
    """The catalogue of MovieLens 100K, whose genres are columns of 0 and 1."""
    sheet = read_sheet(part, Dialect("|", 24), encoding_of(part))
    rows = []
    for line, cells in sheet.rows:
        if len(cells) != 24:
            raise DataError(
                f"{len(cells)} fields instead of 24",
                place=sheet.locate(line),
                remedy="see MovieLens 100K",
            )
        marked = [name for name, flag in zip(GENRES_100K, cells[5:], strict=True) if flag == "1"]
        rows.append((line, [cells[0], cells[1], "|".join(marked)]))
    return SmallTable(sheet.label, ["id", "title", "genres"], rows)


def netflix_titles(part: Stream) -> SmallTable:
    """Rows `id,year,title`; a title may hold commas."""
    sheet = read_sheet(part, Dialect("\x1f\x1f", 1), encoding_of(part))
    rows = [(line, [cell.strip() for cell in cells[0].split(",", 2)]) for line, cells in sheet.rows]
    return SmallTable(sheet.label, ["id", "year", "title"], rows)


def catalogue(sheet: SmallTable, columns: ItemColumns | None = None) -> Catalogue:
    """The columns of a sheet as a catalogue: those that a caller names, else those of the
    usual names."""
    header = sheet.header or []
    plainly = [plain(name) for name in header]
    positions = roles_of(sheet, plainly, columns or {})
    ids = unique_ids(sheet, positions["id"][0])
    titles = column(sheet, positions["title"])
    tags, tagged = tag_matrix(sheet, column(sheet, positions["tags"]))
    check_texts(sheet, ids, titles, tags, header)
    used_positions = [at for role_positions in positions.values() for at in role_positions]
    remaining = [k for k, at in enumerate(header) if k not in used_positions and at]
    numbers, numeric = numeric_columns(sheet, remaining)
    return Catalogue(
        ids,
        titles,
        years(column(sheet, positions["year"]), titles),
        tags,
        tagged,
        numbers,
        numeric,
        unread=[header[k] for k in remaining if header[k] not in numbers],
    )


def unique_ids(sheet: SmallTable, at: int) -> list[str]:
    """Refuse a catalogue that lists an item twice, and an id that is no id."""
    lines: dict[str, int] = {}
    for line, cells in sheet.rows:
        name = clean(cells[at]) if at < len(cells) else ""
        if not name:
            raise DataError(
                "an item without an id",
                place=sheet.locate(line),
                remedy="complete or remove the line",
            )
        if controlled(cells[at]):
            raise control_fault(sheet.locate(line))
        first_line = lines.setdefault(name, line)
        if first_line != line:
            raise DataError(
                f"the id of {sheet.unit} {first_line} is repeated",
                place=sheet.locate(line),
                remedy=f"give every item one row{_hint(sheet)}",
            )
    return list(lines)


def _hint(sheet: SmallTable) -> str:
    """What to ask where the file has columns that no catalogue has."""
    rated = {*NAMES["user"], *NAMES["rating"]}
    if not any(plain(name) in rated for name in sheet.header or ()):
        return ""
    return "; this looks like a table of ratings: are the two files swapped?"


def check_texts(sheet: SmallTable, *texts: Sequence[str] | None) -> None:
    """Refuse ids and titles that are no ids and titles."""
    if any(len(text) > LONGEST for cells in texts for text in cells or ()):
        raise DataError(
            f"an id, a title or a tag has more than {LONGEST:,} letters",
            place=sheet.label,
            remedy="check the quotes and the delimiter, or shorten it",
        )


def check_features(sheet: SmallTable, items: int, features: int) -> None:
    """Refuse more features than the memory holds as a matrix."""
    if items * features > MOST_FEATURES:
        raise DataError(
            f"{features:,} features of {items:,} items are too many",
            place=sheet.label,
            remedy="leave out rare tags, or columns of numbers",
        )


def column(sheet: SmallTable, positions: Sequence[int]) -> list[str] | None:
    """The cells of a column; of several, joined as tags are."""
    if not positions:
        return None
    return ["|".join(cells[at] for at in positions if at < len(cells)) for _, cells in sheet.rows]


def years(
    year_cells: Sequence[str] | None, titles: Sequence[str] | None
) -> NDArray[np.int32] | None:
    """The year column, else the year that ends a title; None if there is no year at all."""
    out = np.zeros(len(year_cells or titles or ()), np.int32)
    for texts, form in (
        (titles, r".*\((\d{4})(?:\s*[-–]\s*(?:\d{4})?)?\)\s*"),
        (year_cells, r"(\d{4})(?:\D.*)?"),
    ):
        for k, text in enumerate(texts or ()):
            match = re.fullmatch(form, text)
            if match:
                out[k] = int(match[1])
    return out if out.any() else None


def tag_matrix(
    sheet: SmallTable, cells: Sequence[str] | None
) -> tuple[list[str], NDArray[np.uint8] | None]:
    """Tags as a matrix of 0 and 1, with the name of each column."""
    if cells is None:
        return [], None
    split = [
        {tag for part in text.split("|") if (tag := part.strip()).lower() not in NO_TAG}
        for text in cells
    ]
    names = sorted(set().union(*split))
    if not names:
        return [], None
    check_features(sheet, len(cells), len(names))
    column_of = {name: k for k, name in enumerate(names)}
    tagged = np.zeros((len(split), len(names)), np.uint8)
    for row, tags in enumerate(split):
        tagged[row, [column_of[tag] for tag in tags]] = 1
    return names, tagged


def numeric_columns(
    sheet: SmallTable, candidates: list[int]
) -> tuple[list[str], NDArray[np.float32] | None]:
    """Other columns whose every cell is a number (with a decimal point or comma) or empty; keys
    of other catalogues (`imdbId`) are no features."""
    header = sheet.header or []
    names, columns = [], []
    for at in candidates:
        cells = column(sheet, [at]) or []
        if plain(header[at]).endswith("id") or not any(cells):
            continue
        cells = [with_point(cell) for cell in cells]
        if all(not cell or is_number(cell) for cell in cells):
            names.append(header[at])
            columns.append([float(cell) if cell else np.nan for cell in cells])
    if not columns:
        return names, None
    check_features(sheet, len(columns[0]), len(columns))
    # Only the order of the numbers is used, and a model holds finite ones.
    largest = float(np.finfo(np.float32).max)
    matrix = np.clip(np.array(columns, np.float64), -largest, largest)
    return names, matrix.T.astype(np.float32)


# Roles of a catalogue's columns: as the caller declares them, else by the usual names.


def requested_columns(columns: ItemColumns) -> list[str]:
    """The columns that a caller names, as they are compared."""
    return [plain(name) for text in columns.values() for name in (text or "").split(AND) if text]


def roles_of(
    sheet: SmallTable, plainly: Sequence[str], columns: ItemColumns
) -> dict[str, list[int]]:
    """Where each role stands. An item column of the ratings need not be one of the
    catalogue; a title or tags that are asked for must be."""
    positions = dict[str, list[int]]()
    for role in ROLES:
        requested = requested_columns({role: columns.get(role)})
        missing = [name for name in requested if name not in plainly]
        if missing and role != "id":
            raise SettingError(
                f"columns: there is no column {columns[role]!r} for {role}",
                place=sheet.label,
                remedy=f"give a name of the header; {AND} joins two of them",
            )
        if requested and not missing:
            positions[role] = [plainly.index(name) for name in requested]
    used_positions = {at for role_positions in positions.values() for at in role_positions}
    for role, usual in ROLES.items():
        if role in positions:
            continue
        candidates = (plainly.index(name) for name in usual if name in plainly)
        positions[role] = [at for at in candidates if at not in used_positions][:1]
    if not positions["id"]:
        raise DataError(
            "missing column: the header names no item",
            place=sheet.locate(1),
            remedy="name the column of ids `id`, or as --columns item=NAME says it",
        )
    return positions
