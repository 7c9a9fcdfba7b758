"""Which column of a catalogue is which: the caller's own say, else the usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.data.reading.columns import NAMES, plain, split_words
from tacit.data.reading.sheet import SmallTable
from tacit.errors import DataError, SettingError

ROLES = {
    "id": ["id", *(name for name in NAMES["item"] if name not in ("title", "movietitle"))],
    "title": split_words(
        "title movietitle booktitle name label productname itemname articlename description"
    ),
    "year": ["year", "releaseyear", "yearofpublication", "released", "releasedate", "date"],
    "tags": ["genres", "genre", "tags", "tag", "categories", "category", "keywords"],
}
ItemColumns = Mapping[str, str | None]
"""Role (id, title, tags) to the column that the caller names."""
AND = "+"
"""Joins the columns of tags."""


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
    taken = {at for role_positions in positions.values() for at in role_positions}
    for role, usual in ROLES.items():
        if role in positions:
            continue
        candidates = (plainly.index(name) for name in usual if name in plainly)
        positions[role] = [at for at in candidates if at not in taken][:1]
    if not positions["id"]:
        raise DataError(
            "missing column: the header names no item",
            place=sheet.where(1),
            remedy="name the column of ids `id`, or as --columns item=NAME says it",
        )
    return positions
