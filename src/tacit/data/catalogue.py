"""The public side of the items: ids, titles, years, genres, numeric features. Free
accuracy: it costs no budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError


@dataclass(frozen=True, eq=False)
class Catalogue:
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

    def __post_init__(self) -> None:
        if len(self.index) != len(self.ids):
            raise DataError(
                "the catalogue lists an id twice", remedy="give every item one row"
            )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each id."""
        return {name: i for i, name in enumerate(self.ids)}

    @cached_property
    def by_title(self) -> dict[str, list[int]]:
        """Rows of each title, case-folded; a title without its year is a second way to say it."""
        found: dict[str, list[int]] = {}
        for i, title in enumerate(self.titles or ()):
            for form in {fold(title), fold(bare_title(title))}:
                found.setdefault(form, []).append(i)
        return found

    @property
    def has_features(self) -> bool:
        """Whether anything public is known about the items but their names."""
        return (
            self.tagged is not None
            or self.years is not None
            or self.numeric is not None
        )


def fold(title: str) -> str:
    """A title as it is compared: without case and double blanks."""
    return " ".join(title.casefold().split())


def bare_title(title: str) -> str:
    """`Heat (1995)` -> `Heat`; `Matrix, The (1999)` -> `The Matrix`."""
    text = title.strip()
    if text.endswith(")") and text[-6:-5] == "(" and text[-5:-1].isdigit():
        text = text[:-6].strip()
    for article in ("The", "A", "An"):
        if text.endswith(f", {article}"):
            text = f"{article} {text[: -len(article) - 2]}"
    return text
