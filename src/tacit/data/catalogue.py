"""The public side of the items: ids, titles, years, genres, numeric features. Free
accuracy: it costs no budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.page import table
from tacit.validation import Suggesting, made_by_name

LONGEST = 10_000
"""Characters of an id, a title or the name of a feature."""
TOLD = 8
"""Numeric features that are named."""
SHOWN = 5
"""Items that a notebook shows."""
MOST_FEATURES = 1 << 24
"""Items times tags and numeric features: as a matrix of 64-bit numbers, 128 MB. A tag genome of
14,000 films fits."""


@made_by_name
@dataclass(frozen=True, eq=False)
class Catalogue(Suggesting):
    """Public items in a fixed order. Every array has one row an item."""

    ids: Sequence[str]
    titles: Sequence[str] | None = None
    years: NDArray[np.int32] | None = None
    """0 where unknown."""
    tags: Sequence[str] = ()
    """Names of the genres or tags, the columns of `tagged`."""
    tagged: NDArray[np.uint8] | None = None
    numbers: Sequence[str] = ()
    """Names of the numeric features, the columns of `numeric`."""
    numeric: NDArray[np.float32] | None = None
    """NaN where unknown."""
    unread: Sequence[str] = ()
    """Columns of the file that are neither; not kept with a model."""

    def __post_init__(self) -> None:
        if isinstance(self.ids, str) or not hasattr(self.ids, "__len__"):
            raise DataError(
                f"the ids of a catalogue are a {type(self.ids).__name__} and not a list",
                remedy='give a list, such as Catalogue(["a", "b"])',
            )
        for name in ("titles", "years"):
            column = getattr(self, name)
            if column is not None and (isinstance(column, str) or len(column) != len(self.ids)):
                raise DataError(
                    f"the {name} of a catalogue are not one for each id",
                    remedy=f"give as many {name} as ids, in their order",
                )
        if len(self.index) != len(self.ids):
            raise DataError("the catalogue lists an id twice", remedy="give every item one row")

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} items"]
        if self.titles is not None:
            parts.append("titles")
        if self.years is not None:
            parts.append("years")
        if self.tagged is not None:
            parts.append(f"{len(self.tags):,} tags")
        if self.numeric is not None:
            parts.append(f"numbers {', '.join(self.numbers[:TOLD])}")
        return f"Catalogue({', '.join(parts)})"

    def _repr_html_(self) -> str:
        visible_rows = range(min(len(self), SHOWN))
        rows = [(self.ids[i], self.titles[i] if self.titles else "") for i in visible_rows]
        return table(("id", "title"), rows, caption=repr(self))

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each id."""
        return {name: i for i, name in enumerate(self.ids)}

    @cached_property
    def by_title(self) -> dict[str, list[int]]:
        """Rows of each title, case-folded; a title without its year is a second way to say it."""
        rows_of_title: dict[str, list[int]] = {}
        for i, title in enumerate(self.titles or ()):
            for form in {fold(title), fold(bare_title(title))}:
                rows_of_title.setdefault(form, []).append(i)
        return rows_of_title

    @property
    def has_features(self) -> bool:
        """Whether anything public is known about the items but their names."""
        return self.tagged is not None or self.years is not None or self.numeric is not None


def fold(title: str) -> str:
    """A title as it is compared: composed, without case and double blanks."""
    return " ".join(normalize("NFC", title.casefold()).split())


def bare_title(title: str) -> str:
    """`Heat (1995)` -> `Heat`; `Matrix, The (1999)` -> `The Matrix`."""
    text = title.strip()
    if text.endswith(")") and text[-6:-5] == "(" and text[-5:-1].isdigit():
        text = text[:-6].strip()
    for article in ("The", "A", "An"):
        if text.endswith(f", {article}"):
            text = f"{article} {text[: -len(article) - 2]}"
    return text


def catalogue_facts(catalogue: Catalogue) -> dict[str, Any]:
    """The catalogue as JSON can hold it; `catalogue_from` reads it back."""

    def listed(array: NDArray[Any] | None) -> list[Any] | None:
        return None if array is None else array.tolist()

    numeric = None
    if catalogue.numeric is not None:  # JSON has no NaN
        numeric = [[None if np.isnan(x) else float(x) for x in row] for row in catalogue.numeric]
    tagged = None
    if catalogue.tagged is not None:
        tagged = [np.flatnonzero(row).tolist() for row in catalogue.tagged]
    return {
        "ids": list(catalogue.ids),
        "titles": None if catalogue.titles is None else list(catalogue.titles),
        "years": listed(catalogue.years),
        "tags": list(catalogue.tags),
        "tagged": tagged,
        "numbers": list(catalogue.numbers),
        "numeric": numeric,
    }


def catalogue_from(items: Mapping[str, Any]) -> Catalogue:
    """The catalogue that `catalogue_facts` wrote."""
    tags: Sequence[str] = items["tags"]
    tagged = None
    if items["tagged"] is not None:
        tagged = np.zeros((len(items["ids"]), len(tags)), np.uint8)
        for row, columns in enumerate(items["tagged"]):
            tagged[row, columns] = 1
    numeric = None
    if items["numeric"] is not None:
        numeric = np.array(
            [[np.nan if x is None else x for x in row] for row in items["numeric"]], np.float32
        )
    years = None if items["years"] is None else np.array(items["years"], np.int32)
    return Catalogue(items["ids"], items["titles"], years, tags, tagged, items["numbers"], numeric)
