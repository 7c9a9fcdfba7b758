"""A fitted model as people use it: the shared arrays, the promise, and everyone's own
recommendations."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import bare_title, fold
from tacit.errors import DataError, place
from tacit.model.person.base import Own, PersonalModel, personal_model
from tacit.model.person.rank import order_scores, top
from tacit.model.shared import Shared, load_shared

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement


@dataclass(frozen=True)
class Recommendation:
    """One line of a list. `rating` is expected, `error` its standard error, both in the
    scale of the data."""

    item: str
    title: str
    rating: float
    error: float
    score: float
    because: tuple[str, ...] = ()
    """Own ratings that speak most for it."""


@dataclass(frozen=True)
class Prediction:
    item: str
    rating: float
    error: float


@dataclass(frozen=True)
class UnknownItem:
    """The model has no such item: an answer, not an exception."""

    item: str
    near: tuple[str, ...] = ()
    """Titles or ids that look alike."""


@dataclass(frozen=True)
class Explanation:
    """`rating` = `baseline` + the sum over `own`, in rating points."""

    item: str
    title: str
    rating: float
    baseline: float
    own: tuple[tuple[str, float], ...]
    """(own item, rating points it adds), strongest first."""
    features: tuple[tuple[str, float], ...] = ()
    """The same move seen from the item's public features: (feature, rating points),
    strongest first; a view beside `own`, not on top of it, and it leaves out what features
    do not explain."""


class Model:
    """What `fit` makes and `load` reads."""

    def __init__(self, shared: Shared, statement: Statement | str) -> None:
        self.shared = shared
        self._statement = statement

    @property
    def statement(self) -> Statement:
        """What was promised, to whom, by which mechanism."""
        from tacit.ledger.statement.statement import Statement

        if isinstance(self._statement, str):
            self._statement = Statement.from_json(self._statement)
        return self._statement

    @cached_property
    def personal(self) -> PersonalModel:
        return personal_model(self.shared)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        text = (
            self._statement
            if isinstance(self._statement, str)
            else self._statement.to_json()
        )
        self.shared.save(path, text, overwrite=overwrite)

    def label(self, row: int) -> str:
        titles = self.shared.catalogue.titles
        return titles[row] if titles is not None else self.shared.catalogue.ids[row]

    def find(self, text: str) -> int | UnknownItem:
        """An item by id, or by title with or without its year."""
        catalogue = self.shared.catalogue
        if text in catalogue.index:
            return catalogue.index[text]
        rows = (
            catalogue.by_title.get(fold(text))
            or catalogue.by_title.get(fold(bare_title(text)))
            or []
        )
        if len(rows) > 1 and catalogue.titles is not None:
            exact = [row for row in rows if fold(catalogue.titles[row]) == fold(text)]
            if len(exact) != 1:
                choices = ", ".join(
                    f"{catalogue.ids[r]} ({catalogue.titles[r]})" for r in rows[:5]
                )
                raise DataError(
                    f"{text!r} could be several items: {choices}",
                    remedy="give the id or the full title",
                )
            rows = exact
        if rows:
            return rows[0]
        names = list(catalogue.by_title) or list(catalogue.ids)
        near = (
            difflib.get_close_matches(fold(text), names, n=3, cutoff=0.75)
            if len(names) <= 50_000
            else []
        )
        if not near and len(text.strip()) > 2:
            near = [name for name in names if fold(text) in name][:6]
        labels = (
            self.label(catalogue.by_title[name][0]) if catalogue.titles else name
            for name in near
        )
        return UnknownItem(
            text, tuple(dict.fromkeys(labels))
        )  # a title is known with and without its year

    def own(
        self,
        ratings: Mapping[str, float] | Iterable[Any],
        *,
        source: str | None = None,
        asked: int | None = None,
    ) -> tuple[Own, list[str]]:
        """A person's ratings as rows and inner values, and the items that the model does not know.

        `ratings` maps items to ratings, or lists (item, rating, time or None, line or
        None). The last word on an item counts. `asked` is when the question is asked, in
        seconds.
        """
        lines = (
            [(k, v, None, None) for k, v in ratings.items()]
            if isinstance(ratings, Mapping)
            else list(ratings)
        )
        schema, unknown = self.shared.schema, list[str]()
        found: dict[int, tuple[float, int | None]] = {}
        for text, rating, time, line in lines:
            where = place(source, line) if source else None
            value = float(rating) if rating is not None else schema.high
            if schema.positive is None and not schema.low <= value <= schema.high:
                raise DataError(
                    f"the rating of {text!r} is not on the scale {schema.low:g} to {schema.high:g}",
                    place=where,
                    remedy=f"rate from {schema.low:g} to {schema.high:g}, as this model's data do",
                )
            row = self.find(str(text))
            if isinstance(row, UnknownItem):
                unknown.append(str(text))
            else:
                found.pop(row, None)
                found[row] = (value, time)
        if lines and not found:
            raise DataError(
                "none of the items is known to this model",
                place=source,
                remedy=self._hint(unknown[0]),
            )
        rows = np.fromiter(found, np.int64, len(found))
        values = np.array([v for v, _ in found.values()], np.float64)
        times = [t for _, t in found.values()]
        stamped = (
            np.array(times, np.int64)
            if times and all(t is not None for t in times)
            else None
        )
        return Own(
            rows, (values - schema.middle) / schema.unit_width, stamped, asked
        ), unknown

    def _hint(self, text: str) -> str:
        """How to name items, with the nearest name where there is one."""
        near = getattr(self.find(text), "near", ())
        if near:
            return f"did you mean {near[0]!r}?"
        if self.shared.catalogue.titles is None:
            return (
                f"use ids such as {self.shared.catalogue.ids[0]!r}: it was fitted "
                "without --items and has no titles"
            )
        return (
            "use the ids or titles of the model's catalogue (`tacit export` lists them)"
        )

    def likes(self, own: Own) -> Own:
        """Of a model of likes, the ratings that are likes: what was rated lower speaks for
        nothing."""
        schema = self.shared.schema
        if schema.positive is None:
            return own
        kept = (
            own.values >= (schema.positive - schema.middle) / schema.unit_width - 1e-9
        )
        return Own(
            own.items[kept],
            own.values[kept],
            None if own.times is None else own.times[kept],
        )

    def recommend(
        self,
        ratings: Mapping[str, float] | Iterable[Any],
        n: int = 10,
        *,
        by: str | None = None,
        only: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        reasons: int = 2,
    ) -> list[Recommendation]:
        """The best n items that this person has not rated, from the published model and her
        own ratings."""
        own, _ = self.own(ratings)
        return self.recommend_own(
            own, n, by=by, only=only, exclude=exclude, reasons=reasons
        )

    def recommend_own(
        self,
        own: Own,
        n: int,
        *,
        by: str | None = None,
        only: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        reasons: int = 2,
    ) -> list[Recommendation]:
        seen, own = own.items, self.likes(own)
        scores, mean, sd = order_scores(self.personal, own, by)
        allowed = np.ones(len(scores), bool) if only is None else self._mask(only)
        if exclude is not None:
            allowed &= ~self._mask(exclude)
        allowed[seen] = False
        if (by or self.personal.ranks_by) == "popularity":
            reasons = 0  # the order owes nothing to one's own ratings
        return [
            self._line(own, row, scores, mean, sd, reasons)
            for row in top(scores, n, allowed).tolist()
        ]

    def _line(
        self, own: Own, row: int, scores: Any, mean: Any, sd: Any, reasons: int
    ) -> Recommendation:
        because: tuple[str, ...] = ()
        if reasons and len(own.items):
            speaks = self.personal.explain(own, row).own
            if np.ptp(speaks) > 1e-9:
                best = [
                    i
                    for i in np.argsort(-speaks, kind="stable")[:reasons]
                    if speaks[i] > 1e-6
                ]
                because = tuple(self.label(int(own.items[i])) for i in best)
        schema = self.shared.schema
        rating = float(
            np.clip(
                schema.middle + schema.unit_width * mean[row], schema.low, schema.high
            )
        )
        return Recommendation(
            self.shared.catalogue.ids[row],
            self.label(row),
            rating,
            float(sd[row] * schema.unit_width),
            float(scores[row]),
            because,
        )

    def _mask(self, names: Iterable[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.shared.catalogue), bool)
        for name in names:
            row = self.find(name)
            if not isinstance(row, UnknownItem):
                mask[row] = True
        return mask

    def predict(
        self,
        ratings: Mapping[str, float] | Iterable[Any],
        items: Sequence[str] | None = None,
        *,
        asked: int | None = None,
    ) -> list[Prediction | UnknownItem]:
        """Expected ratings with standard errors; an unknown item is answered as such.
        `asked`: see `own`."""
        own, _ = self.own(ratings, asked=asked)
        mean, sd = self.personal.predict(own)
        schema, out = self.shared.schema, list[Prediction | UnknownItem]()
        for name in items if items is not None else self.shared.catalogue.ids:
            row = self.find(name)
            if isinstance(row, UnknownItem):
                out.append(row)
                continue
            rating = float(
                np.clip(
                    schema.middle + schema.unit_width * mean[row],
                    schema.low,
                    schema.high,
                )
            )
            out.append(
                Prediction(
                    self.shared.catalogue.ids[row],
                    rating,
                    float(sd[row] * schema.unit_width),
                )
            )
        return out

    def explain(
        self, ratings: Mapping[str, float] | Iterable[Any], item: str
    ) -> Explanation | UnknownItem:
        """Which of my ratings speak for this item, and how much."""
        own, _ = self.own(ratings)
        row = self.find(item)
        if isinstance(row, UnknownItem):
            return row
        reason = self.personal.explain(own, row)
        schema = self.shared.schema
        parts = sorted(
            zip(own.items.tolist(), reason.own.tolist(), strict=True),
            key=lambda pair: -abs(pair[1]),
        )
        baseline = schema.middle + schema.unit_width * reason.baseline
        return Explanation(
            self.shared.catalogue.ids[row],
            self.label(row),
            baseline + schema.unit_width * float(reason.own.sum()),
            baseline,
            tuple((self.label(r), x * schema.unit_width) for r, x in parts),
            self._by_features(own, row),
        )

    def _by_features(self, own: Own, row: int) -> tuple[tuple[str, float], ...]:
        from tacit.model.person.because import by_features

        if (
            not self.shared.catalogue.has_features
            or self.personal.ranks_by != "rating"
            or not len(own.items)
        ):
            return ()
        nobody = Own(own.items[:0], own.values[:0])
        shift = self.personal.predict(own)[0] - self.personal.predict(nobody)[0]
        scale = self.shared.schema.unit_width
        return tuple(
            (name, scale * x)
            for name, x in by_features(self.shared.catalogue, shift, row)
        )

    def similar(
        self, item: str, n: int = 10
    ) -> list[tuple[str, str, float]] | UnknownItem:
        """(id, title, closeness) of the items most like this one."""
        row = self.find(item)
        if isinstance(row, UnknownItem):
            return row
        closeness = self.personal.similar(row)
        allowed = np.ones(len(closeness), bool)
        allowed[row] = False
        ids = self.shared.catalogue.ids
        return [
            (ids[i], self.label(i), float(closeness[i]))
            for i in top(closeness, n, allowed).tolist()
        ]


def load(path: str | Path) -> Model:
    """Read a saved model; runs no code of the file and touches no budget."""
    return Model(*load_shared(path))
