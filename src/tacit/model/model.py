"""A fitted model as people use it: the shared arrays, the promise, and everyone's own
recommendations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, SettingError
from tacit.model.export import Written
from tacit.model.person import rank
from tacit.model.person.base import Own, PersonalModel, answering, personal_model, sensible
from tacit.model.person.ratings import (
    OwnRatings,
    UserRatings,
    find_item,
    find_row,
    given_ratings,
    label,
    likes,
    on_scale,
    row_of,
    tell_own,
    tell_unrated,
    tell_user_factors,
)
from tacit.model.person.results import (
    Explanation,
    Listed,
    Prediction,
    Recommendation,
    Share,
    Similar,
    UnknownItem,
    shares_of_features,
)
from tacit.model.shared import Shared, load_shared
from tacit.page import escaped
from tacit.validation import by_name, count, names
from tacit.validation import item as asked_item
from tacit.validation import path as asked_path

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement

__all__ = [
    "Explanation",
    "Model",
    "Prediction",
    "Recommendation",
    "Share",
    "Similar",
    "UnknownItem",
    "load",
]

SPEAKS = 1e-6
"""What an own rating must add to be named as a reason."""
DIFFER = 1e-9
"""How far reasons must differ for one to be better than another."""
FELT = 0.01
"""Rating points by which tastes must tell items apart to be called tastes: less is not even
shown in a list."""


class Model(Written):
    """A fitted model as `fit` returns it and `load` reads it: what it released, and its
    statement."""

    def __init__(
        self,
        shared: Shared,
        statement: Statement | str,
        *,
        kept: bool = True,
        fresh: bool = False,
    ) -> None:
        self.shared = shared
        self._statement = statement
        self.kept = kept
        """False for what may only be looked at: a printed form with its noise off."""
        self.fresh = fresh
        """True for what was charged for and is in memory alone: then `save` loses it at no
        error of a disk."""

    @property
    def statement(self) -> Statement:
        """What was promised, to whom, by which mechanism."""
        from tacit.ledger.statement.statement import Statement

        if isinstance(self._statement, str):
            self._statement = Statement.from_json(self._statement)
        return self._statement

    @property
    def statement_(self) -> Statement:
        """The same under the name that a fitted estimator has it by."""
        return self.statement

    def __repr__(self) -> str:
        s = self.statement
        promise: str = s.certified
        if s.epsilon is not None:
            promise = f"says ({s.epsilon:g}, {s.delta:g}) for a {s.unit}"
        description = f"{self.shared.method}, {len(self.shared.catalogue):,} items"
        return f"Model({description}, {promise})"

    def _repr_html_(self) -> str:
        return f"<p><b>{escaped(self)}</b></p>{self.statement._repr_html_()}"

    @cached_property
    def personal(self) -> PersonalModel:
        """How a person uses the shared arrays."""
        return personal_model(self.shared)

    @cached_property
    def rates(self) -> bool:
        """Whether it expects ratings; a model of likes orders, and no more."""
        return rank.rates(self.personal, self.shared.schema)

    def label(self, row: int) -> str:
        """The title of an item, or its id where there are no titles."""
        return label(self.shared.catalogue, row)

    @by_name
    def find(self, text: str) -> int | UnknownItem:
        """The row of an item by id, or by title with or without its year."""
        name = asked_item("item", text, "give an id or a title")
        return find_item(self.shared.catalogue, name)

    def _row(self, item: str) -> int:
        """`find`, where an item that the model does not know is a mistake."""
        name = asked_item("item", item, "give an id or a title")
        return row_of(self.shared.catalogue, name)

    def own(
        self, ratings: OwnRatings, *, source: str | None = None, asked: int | None = None
    ) -> UserRatings:
        """A person's ratings as rows and inner values, and the items that the model does not know.

        `ratings` maps items to ratings, or lists (item, rating, time or None, line or
        None). The last word on an item counts. `asked` is when the question is asked, in
        seconds.
        """
        shared = self.shared
        return given_ratings(shared.catalogue, shared.schema, ratings, source=source, asked=asked)

    def likes(self, user_ratings: Own) -> Own:
        """Of a model of likes, the ratings that are likes: what was rated lower speaks for
        nothing."""
        return likes(self.shared.schema, user_ratings)

    @by_name
    def recommend(
        self,
        ratings: OwnRatings | None = None,
        n: int = 10,
        *,
        by: str | None = None,
        only: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        reasons: int = 2,
    ) -> Listed[Recommendation]:
        """The best n items that this person has not rated; without ratings everybody's."""
        count("n", n)
        count("reasons", reasons, least=0)
        only = None if only is None else names("only", only)
        if only is not None and not self._mask(only).any():
            raise DataError(
                "none of the items in --only is known to this model",
                remedy="give ids or titles of its catalogue",
            )
        exclude = None if exclude is None else names("exclude", exclude)
        user_ratings = self._describe_user({} if ratings is None else ratings)
        recommendations = self.recommend_own(
            user_ratings, n, by=by, only=only, exclude=exclude, reasons=reasons
        )
        if by is None and not any(line.moved for line in recommendations):
            tell_user_factors(self, user_ratings)
        return recommendations

    def recommend_own(
        self,
        user_ratings: Own,
        n: int,
        *,
        by: str | None = None,
        only: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        reasons: int = 2,
    ) -> Listed[Recommendation]:
        """`recommend` for ratings that `user_ratings` has read."""
        rated_items, user_ratings = user_ratings.items, self.likes(user_ratings)
        rank.check_order(self.personal, self.shared.schema, by)
        ordered = rank.order_scores(self.personal, user_ratings, by)
        allowed = self.allowed(only, exclude)
        allowed[rated_items] = False
        if (by or self.personal.ranks_by) == "popularity":
            reasons = 0  # the order owes nothing to one's own ratings
        liked = self._liked_by_many(user_ratings) if reasons else None
        if reasons and len(user_ratings.items) == 1 and not self.knows_tastes(user_ratings):
            reasons = 0  # one rating that moves all items alike speaks for none
        return Listed(
            self._line(user_ratings, row, ordered, reasons, liked)
            for row in rank.top(ordered.scores, n, allowed).tolist()
        )

    def _liked_by_many(self, user_ratings: Own) -> NDArray[np.float64] | None:
        """How far everybody's rating of each item lies above the average, in rating points;
        None for a model that does not rate."""
        if self.personal.ranks_by != "rating" or not self.rates:
            return None
        with answering():
            mean, _ = self.personal.predict(Own(user_ratings.items[:0], user_ratings.values[:0]))
        sensible(mean)
        return np.asarray(self.shared.schema.unit_width * (mean - mean.mean()))

    def knows_tastes(self, user_ratings: Own) -> bool:
        """Whether these ratings change expected ratings by more than a person would notice; if not,
        her list is everybody's."""
        user_ratings = self.likes(user_ratings)
        nobody = Own(user_ratings.items[:0], user_ratings.values[:0])
        with answering():
            shift = self.personal.scores(user_ratings) - self.personal.scores(nobody)
        sensible(shift)
        rated = self.personal.ranks_by == "rating"
        unit = self.shared.schema.unit_width
        return bool(np.ptp(shift) > (FELT / unit if rated else DIFFER))

    def _line(
        self,
        user_ratings: Own,
        row: int,
        ordered: rank.Ordered,
        reasons: int,
        liked: NDArray[np.float64] | None,
    ) -> Recommendation:
        schema = self.shared.schema
        shares = self._influences(user_ratings, row, reasons)
        return Recommendation(
            self.shared.catalogue.ids[row],
            self.label(row),
            on_scale(schema, ordered.mean[row]) if self.rates else None,
            float(ordered.sd[row] * schema.unit_width) if self.rates else None,
            float(ordered.scores[row]),
            tuple(share.name for share in shares),
            shares,
            0.0 if liked is None else float(liked[row]),
        )

    def _influences(self, user_ratings: Own, row: int, reasons: int) -> tuple[Share, ...]:
        """The own items that speak most for an item, if they differ in that at all."""
        if not reasons or not len(user_ratings.items):
            return ()
        with answering():
            speaks = self.personal.explain(user_ratings, row).own
        if len(speaks) > 1 and not np.ptp(speaks) > DIFFER:
            return ()
        unit = rank.points(self.personal, self.shared.schema)
        best = np.argsort(-speaks, kind="stable")[:reasons]
        return tuple(
            Share(self.label(int(user_ratings.items[i])), unit * float(speaks[i]))
            for i in best
            if speaks[i] > SPEAKS
        )

    def allowed(
        self, only: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> NDArray[np.bool_]:
        """The items that a list may hold, as a mask; names that the model does not know
        count for nothing."""
        mask = np.ones(len(self.shared.catalogue), bool)
        if only is not None:
            mask = self._mask(only)
        if exclude is not None:
            mask &= ~self._mask(exclude)
        return mask

    def _mask(self, names: Iterable[str]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self.shared.catalogue), bool)
        for name in names:
            row = find_row(self.shared.catalogue, name)
            if row is not None:
                mask[row] = True
        return mask

    @by_name
    def predict(
        self, ratings: OwnRatings, items: Sequence[str] | None = None, *, asked: int | None = None
    ) -> Listed[Prediction]:
        """Expected ratings with standard errors, of all items unless some are named; an item
        that the model does not know is refused. `asked`: see `user_ratings`."""
        if items is not None:
            items = names("items", items)
        user_ratings = self._describe_user(ratings, asked)
        with answering():
            mean, sd = self.personal.predict(user_ratings)
        sensible(mean, sd)
        if not self.rates:
            tell_unrated()
        catalogue, schema = self.shared.catalogue, self.shared.schema
        out: Listed[Prediction] = Listed()
        rows: Iterable[int] = range(len(catalogue))
        if items is not None:
            rows = [self._row(name) for name in items]
        for row in rows:
            rating = on_scale(schema, mean[row]) if self.rates else None
            error = float(sd[row] * schema.unit_width) if self.rates else None
            out.append(Prediction(catalogue.ids[row], rating, error, self.label(row)))
        return out

    @by_name
    def explain(self, ratings: OwnRatings, item: str) -> Explanation:
        """Which of my ratings speak for this item, and how much."""
        row = self._row(item)
        user_ratings = self._describe_user(ratings)
        explanation = self.explain_own(user_ratings, self.shared.catalogue.ids[row])
        assert isinstance(explanation, Explanation)
        if not any(abs(share.points) > SPEAKS for share in explanation.own):
            tell_user_factors(self, user_ratings)
        return explanation

    def _describe_user(self, ratings: OwnRatings, asked: int | None = None) -> Own:
        """A person's ratings as rows and normalized values; notices about ratings that do not count
        are shown once."""
        parsed = self.own(ratings, asked=asked)
        tell_own(self.shared.catalogue, self.shared.schema, parsed)
        return parsed.own

    def explain_own(self, user_ratings: Own, item: str) -> Explanation | UnknownItem:
        """The same for ratings that `user_ratings` has read."""
        row = self.find(item)
        if isinstance(row, UnknownItem):
            return row
        with answering():
            reason = self.personal.explain(user_ratings, row)
        sensible(reason.own, np.array(reason.baseline))
        schema = self.shared.schema
        parts = sorted(
            zip(user_ratings.items.tolist(), reason.own.tolist(), strict=True),
            key=lambda pair: -abs(pair[1]),
        )
        unit, catalogue = (rank.points(self.personal, schema), self.shared.catalogue)
        baseline = (schema.middle if self.rates else 0) + unit * reason.baseline
        expected = baseline + unit * float(reason.own.sum())
        return Explanation(
            catalogue.ids[row],
            self.label(row),
            expected if self.rates else None,
            baseline,
            tuple(Share(self.label(r), x * unit) for r, x in parts),
            shares_of_features(self.personal, catalogue, user_ratings, row, unit),
        )

    @by_name
    def similar(self, item: str, n: int = 10) -> Listed[Similar]:
        """The items most like this one, closest first."""
        count("n", n)
        row = self._row(item)
        with answering():
            closeness = self.personal.similar(row)
        sensible(closeness)
        allowed = np.ones(len(closeness), bool)
        allowed[row] = False
        if allowed.sum() > 1 and not np.ptp(closeness[allowed]) > DIFFER:
            raise SettingError(
                "this model has not learned which items are alike",
                remedy="fit with more people, a larger --epsilon, or tags in --items",
            )
        ids = self.shared.catalogue.ids
        return Listed(
            Similar(ids[i], self.label(i), float(closeness[i]))
            for i in rank.top(closeness, n, allowed).tolist()
        )


@by_name
def load(path: str | Path) -> Model:
    """Read a saved model; runs no code of the file and touches no budget."""
    asked_path("path", path)
    return Model(*load_shared(path))
