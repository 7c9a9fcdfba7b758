"""What a person is told: lists, expected ratings, reasons, and that an item is unknown.

In the scale of the data, with ids and titles of the catalogue; computed for one person and
released to nobody.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tacit.page import table

if TYPE_CHECKING:
    import polars

T = TypeVar("T")


class Listed(list[T]):
    """A list of answers that is a table too: `frame()` gives it to polars, a notebook shows
    it as rows. Items that the model does not know are left out of both."""

    def frame(self) -> polars.DataFrame:
        """One row a line; reasons are a list in their cell."""
        import polars as pl

        return pl.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        known = (each for each in self if not isinstance(each, UnknownItem))
        return [_row(each) for each in known]

    def _repr_html_(self) -> str:
        rows = self._rows()
        if not rows:
            return "<p>nothing</p>"
        return table(
            tuple(rows[0]),
            [[_cell(value) for value in row.values()] for row in rows],
        )


def _row(line: Any) -> dict[str, Any]:
    """By name: lines are dataclasses or named tuples."""
    if is_dataclass(line) and not isinstance(line, type):
        return asdict(line)
    return dict(line._asdict())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple):
        return ", ".join(str(each) for each in value)
    return str(value)


@dataclass(frozen=True)
class Recommendation:
    """One line of a list. `rating` is expected, `error` its standard error, both in the
    scale of the data."""

    item: str
    title: str
    rating: float
    error: float
    score: float
    """What the list is ordered by."""
    because: tuple[str, ...] = ()
    """Own ratings that speak most for it; empty where it is everybody's liking alone."""
    moved: tuple[Share, ...] = ()
    """The same, with by how much each has moved it: in rating points, or in the score of a
    model of likes."""
    everybody: float = 0.0
    """How far everybody's expected rating of it lies above that of an average item, in rating
    points: how much of its place it owes to being liked by many."""


@dataclass(frozen=True)
class Prediction:
    """The expected rating of one item, and its standard error (of a new rating, not of the
    mean)."""

    item: str
    rating: float
    error: float


@dataclass(frozen=True)
class UnknownItem:
    """The model has no such item: an answer, not an exception."""

    item: str
    near: tuple[str, ...] = ()
    """Titles or ids that look alike."""


class Share(NamedTuple):
    """What one thing adds to a prediction."""

    name: str
    """An own item, or a public feature."""
    points: float
    """Rating points."""


@dataclass(frozen=True)
class Explanation:
    """`rating` = `baseline` + the sum over `own`, in rating points."""

    item: str
    title: str
    rating: float
    baseline: float
    own: tuple[Share, ...]
    """What each own rating adds, strongest first."""
    features: tuple[Share, ...] = ()
    """The same move seen from the item's public features, strongest first; a view beside
    `own`, not on top of it, and it leaves out what features do not explain."""


class Similar(NamedTuple):
    """An item that is like another."""

    item: str
    title: str
    closeness: float
    """Larger is closer; what 1 means depends on the method."""
