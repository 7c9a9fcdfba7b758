"""Which column of a catalogue is which: the caller's own say, else the usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.data.reading.columns import NAMES, plain, words
from tacit.data.reading.sheet import SmallTable
from tacit.errors import DataError, SettingError

ROLES = {
    "id": ["id", *(name for name in NAMES["item"] if name not in ("title", "movietitle"))],
    "title": words(
        "title movietitle booktitle name label productname itemname articlename description"
    ),
    "year": ["year", "releaseyear", "yearofpublication", "released", "releasedate", "date"],
    "tags": ["genres", "genre", "tags", "tag", "categories", "category", "keywords"],
}
Said = Mapping[str, str | None]
"""Role (id, title, tags) to the column that the caller names."""
AND = "+"
"""Joins the columns of tags."""


def asked_for(said: Said) -> list[str]:
    """The columns that a caller names, as they are compared."""
    return [plain(name) for text in said.values() for name in (text or "").split(AND) if text]


def roles_of(sheet: SmallTable, plainly: Sequence[str], said: Said) -> dict[str, list[int]]:
    """Where each role stands. An item column of the ratings need not be one of the
    catalogue; a title or tags that are asked for must be."""
    found = dict[str, list[int]]()
    for role in ROLES:
        asked = asked_for({role: said.get(role)})
        missing = [name for name in asked if name not in plainly]
        if missing and role != "id":
            raise SettingError(
                f"columns: there is no column {said[role]!r} for {role}",
                place=sheet.label,
                remedy=f"give a name of the header; {AND} joins two of them",
            )
        if asked and not missing:
            found[role] = [plainly.index(name) for name in asked]
    taken = {at for places in found.values() for at in places}
    for role, usual in ROLES.items():
        if role in found:
            continue
        first = (plainly.index(name) for name in usual if name in plainly)
        found[role] = [at for at in first if at not in taken][:1]
    if not found["id"]:
        raise DataError(
            "missing column: the header names no item",
            place=sheet.where(1),
            remedy="name the column of ids `id`, or as --columns item=NAME says it",
        )
    return found
