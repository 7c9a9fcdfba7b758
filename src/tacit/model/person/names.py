"""Items by the names that people use: ids, and titles with or without their year."""

from __future__ import annotations

import difflib

from tacit.data.catalogue import Catalogue, bare_title, fold
from tacit.data.ids import clean
from tacit.errors import DataError
from tacit.model.person.results import UnknownItem

MANY = 50_000
"""Names above which none is searched for that only looks alike: it would take seconds."""
ALIKE = 0.75
"""How alike a name must be to be suggested, from 0 to 1."""
SUGGESTED = 3
CONTAINING = 6
"""Names suggested that contain the text."""
LISTED = 5
"""Items named in an error."""


def label(catalogue: Catalogue, row: int) -> str:
    """The title of an item, or its id where there are no titles."""
    names = catalogue.ids if catalogue.titles is None else catalogue.titles
    return names[row]


def find_row(catalogue: Catalogue, text: str) -> int | None:
    """The row of an item by id, or by title with or without its year; None if unknown."""
    name = clean(text)
    if name in catalogue.index:
        return catalogue.index[name]
    if text in catalogue.index:
        return catalogue.index[text]
    titles = catalogue.by_title
    rows = titles.get(fold(text)) or titles.get(fold(bare_title(text))) or []
    if not rows:
        return None
    if len(rows) > 1 and catalogue.titles is not None:
        exact = [row for row in rows if fold(catalogue.titles[row]) == fold(text)]
        if len(exact) != 1:
            choices = ", ".join(
                f"{catalogue.ids[r]} ({catalogue.titles[r]})" for r in rows[:LISTED]
            )
            raise DataError(
                f"{text!r} could be several items: {choices}",
                remedy="give the id or the full title",
            )
        rows = exact
    return rows[0]


def find_item(catalogue: Catalogue, text: str) -> int | UnknownItem:
    """The same; an unknown item comes with names that look alike, which takes longer."""
    row = find_row(catalogue, text)
    return UnknownItem(text, _near(catalogue, text)) if row is None else row


def _near(catalogue: Catalogue, text: str) -> tuple[str, ...]:
    """Names that look like the text, or contain it."""
    names = list(catalogue.by_title) or list(catalogue.ids)
    near: list[str] = []
    if len(names) <= MANY:
        near = difflib.get_close_matches(fold(text), names, n=SUGGESTED, cutoff=ALIKE)
    if not near and len(text.strip()) > 2:
        near = [name for name in names if fold(text) in name][:CONTAINING]
    if catalogue.titles:
        near = [label(catalogue, catalogue.by_title[name][0]) for name in near]
    # A title is known with and without its year.
    return tuple(dict.fromkeys(near))


def row_of(catalogue: Catalogue, text: str) -> int:
    """The same; an unknown item is refused, with names that look alike."""
    match = find_item(catalogue, text)
    if isinstance(match, UnknownItem):
        near = (
            f"did you mean {', '.join(match.near)}?"
            if match.near
            else "use an id or title of its catalogue"
        )
        raise DataError(f"{text!r} is not in this model", remedy=near)
    return match


def naming(catalogue: Catalogue, text: str) -> str:
    """How to name items, with the nearest name where there is one: for a remedy."""
    match = find_item(catalogue, text)
    if isinstance(match, UnknownItem) and match.near:
        return f"did you mean {match.near[0]!r}?"
    if catalogue.titles is None:
        return (
            f"use ids such as {catalogue.ids[0]!r}: it was fitted without --items and has no titles"
        )
    return "use the ids or titles of the model's catalogue (`tacit export` lists them)"
