"""What a person is told: lists, expected ratings, reasons, and that an item is unknown.

In the scale of the data, with ids and titles of the catalogue; computed for one person and
released to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.errors import UnknownKeyError
from tacit.kernels.fixed_order import product, solve
from tacit.model.person.base import Own, PersonalModel, answering, sensible
from tacit.page import escaped, table
from tacit.redaction import one_line
from tacit.validation import Suggesting, by_name, near

if TYPE_CHECKING:
    import polars

T = TypeVar("T")
RIDGE = 5.0
"""Penalty of the regression, in items."""
STEP_OF_TIME = 20.0
"""Years that count as one step of time."""


class AnswerRow(Suggesting):
    """One answer: its parts are attributes, and in brackets as the columns of a frame are."""

    def __getitem__(self, name: str) -> Any:
        parts = [field.name for field in fields(self)]  # type: ignore[arg-type]
        if name in parts:
            return getattr(self, name)
        raise UnknownKeyError(
            f"{type(self).__name__} has no part {name!r}",
            remedy=f"{near(str(name), parts)}it has: {', '.join(parts)}",
        )


class Listed(list[T], Suggesting):
    """A list of answers that is a table too: `frame()` gives it to polars, a notebook shows
    it as rows. Items that the model does not know are left out of both."""

    @by_name
    def frame(self) -> polars.DataFrame:
        """One row a line; reasons are a list in their cell."""
        import polars as pl

        return pl.DataFrame(
            [{name: _plain(value) for name, value in row.items()} for row in self._rows()]
        )

    def _rows(self) -> list[dict[str, Any]]:
        answers = (answer for answer in self if not isinstance(answer, UnknownItem))
        return [_row(answer) for answer in answers]

    def _display_cells(self) -> tuple[list[str], list[list[str]]]:
        """Columns and cells as a reader wants them: reasons once, with their points."""
        rows = self._rows()
        left_out = {"because"} if any("moved" in row for row in rows) else set()
        if all(row.get("rating", 0) is None for row in rows):  # of likes
            left_out |= {"rating", "error", "everybody"}
        names = [name for name in rows[0] if name not in left_out]
        if all(row.get("title") == row["item"] for row in rows):
            names = [name for name in names if name != "title"]
        return names, [[_cell(row[name]) for name in names] for row in rows]

    def __str__(self) -> str:
        return in_columns(*self._display_cells()) if self._rows() else "nothing"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self._rows():
            return "<p>nothing</p>"
        names, cells = self._display_cells()
        return table(tuple(names), cells)


def in_columns(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in plain characters: numbers to the right, text to the left."""
    rows = [[one_line(cell) for cell in row] for row in cells]
    wide = [max(len(row[at]) for row in [list(names), *rows]) for at in range(len(names))]
    right = [all(_is_number(row[at]) for row in rows) for at in range(len(names))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, wide, right, strict=True)
        ).rstrip()
        for row in [list(names), *rows]
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return False
    return True


def _row(line: Any) -> dict[str, Any]:
    """By name: lines are dataclasses or named tuples."""
    if is_dataclass(line) and not isinstance(line, type):
        return {field.name: getattr(line, field.name) for field in fields(line)}
    return dict(line._asdict())


def _plain(value: Any) -> Any:
    """As a frame of any version takes it: a share is a record."""
    if isinstance(value, Share):
        return {"name": value.name, "points": value.points}
    if isinstance(value, tuple | list):
        return [_plain(element) for element in value]
    return value


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Share):
        return f"{value.name} {value.points:+.2f}"
    if isinstance(value, tuple | list):
        return ", ".join(_cell(element) for element in value)
    return str(value)


class Share(NamedTuple):
    """What one thing adds to a prediction."""

    name: str
    """An own item, or a public feature."""
    points: float
    """Rating points."""


@dataclass(frozen=True)
class Recommendation(AnswerRow):
    """One line of a list. `rating` is expected, `error` its standard error, both in the
    scale of the data; None of a model of likes, which orders and expects no rating."""

    item: str
    title: str
    rating: float | None
    error: float | None
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
class Prediction(AnswerRow):
    """The expected rating of one item, and its standard error (of a new rating, not of the
    mean); None of a model of likes."""

    item: str
    rating: float | None
    error: float | None
    title: str = ""
    """The id where there are no titles."""


@dataclass(frozen=True)
class UnknownItem:
    """The model has no such item: an answer, not an exception."""

    item: str
    near: tuple[str, ...] = ()
    """Titles or ids that look alike."""


@dataclass(frozen=True)
class Explanation(AnswerRow):
    """`rating` = `baseline` + the sum over `own`, in rating points. Of a model of likes it is
    None, and all else is in the score that orders its lists."""

    item: str
    title: str
    rating: float | None
    baseline: float
    own: tuple[Share, ...]
    """What each own rating adds, strongest first."""
    features: tuple[Share, ...] = ()
    """The same move seen from the item's public features, strongest first; a view beside
    `own`, not on top of it, and it leaves out what features do not explain."""

    def frame(self) -> polars.DataFrame:
        """A row for each reason: what everybody would be told, own ratings, then features."""
        import polars as pl

        return pl.DataFrame(self._rows(), schema=["kind", "name", "points"], orient="row")

    def _rows(self) -> list[tuple[str, str, float]]:
        return [
            ("everybody", "what everybody would be told", self.baseline),
            *(("own", share.name, share.points) for share in self.own),
            *(("feature", share.name, share.points) for share in self.features),
        ]

    def _cells(self) -> list[list[str]]:
        return [
            [kind, name, f"{points:.2f}" if kind == "everybody" else f"{points:+.2f}"]
            for kind, name, points in self._rows()
        ]

    def _expected(self) -> str:
        return "" if self.rating is None else f": {self.rating:.2f}"

    def __str__(self) -> str:
        head = f"{one_line(self.title)}{self._expected()}"
        return f"{head}\n{in_columns(('kind', 'name', 'points'), self._cells())}"

    def _repr_html_(self) -> str:
        head = f"<p><b>{escaped(self.title)}</b>{self._expected()}</p>"
        return head + table(("kind", "name", "points"), self._cells())


class Similar(NamedTuple):
    """An item similar to another, with its `closeness`."""

    item: str
    title: str
    closeness: float
    """Larger is closer; what 1 means depends on the method."""


# A prediction in terms of what is public about the item: the person's taste for its tags
# and its time.
#
# The person's own shifts of all items (prediction less what everybody would be told) are
# regressed on the public features by a ridge; the item's features times these tastes is the
# part of its shift that features account for. Personal: computed for one person from the
# published model and her own ratings, and released to nobody.


def shares_of_features(
    personal: PersonalModel, catalogue: Catalogue, user_ratings: Own, row: int, scale: float
) -> tuple[Share, ...]:
    """The same in rating points, of which the inner scale has `scale` to a unit; none for a
    model that does not rate, nor without own ratings."""
    rates = personal.ranks_by == "rating"
    if not catalogue.has_features or not rates or not len(user_ratings.items):
        return ()
    nobody = Own(user_ratings.items[:0], user_ratings.values[:0])
    with answering():
        shift = personal.predict(user_ratings)[0] - personal.predict(nobody)[0]
        sensible(shift)
        shares = by_features(catalogue, shift, row)
    return tuple(Share(share.name, scale * share.points) for share in shares)


def by_features(catalogue: Catalogue, shift: NDArray[np.float64], row: int) -> list[Share]:
    """Points of the shift for each feature that the item has, strongest first; none
    without features."""
    names: list[str] = []
    columns: list[NDArray[np.float64]] = []
    if catalogue.tagged is not None:
        names += list(catalogue.tags)
        columns += list(catalogue.tagged.astype(np.float64).T)
    if catalogue.years is not None and (catalogue.years > 0).any():
        has_year = catalogue.years > 0
        middle = float(np.median(catalogue.years[has_year]))
        names.append("its year")
        columns.append(np.where(has_year, (catalogue.years - middle) / STEP_OF_TIME, 0.0))
    if not columns:
        return []
    matrix = np.column_stack(columns)
    centred = matrix - matrix.mean(axis=0)
    system = product(centred.T, centred) + RIDGE * np.eye(len(names))
    taste = solve(system, product(centred.T, shift - shift.mean()))
    points = centred[row] * taste
    has = np.flatnonzero(matrix[row])
    shares = (Share(names[i], float(points[i])) for i in has)
    return sorted(shares, key=lambda share: -abs(share.points))
