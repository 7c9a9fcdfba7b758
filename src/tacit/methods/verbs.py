"""What a fitted method answers: the verbs of the model that its fit made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import SettingError
from tacit.page import escaped

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.person.own import OwnRatings
    from tacit.model.person.told import (
        Explanation,
        Listed,
        Prediction,
        Recommendation,
        Similar,
        UnknownItem,
    )


class Verbs:
    """A fitted method and `tacit.load(...)` have the same ones."""

    model_: Model

    @property
    def fitted(self) -> Model:
        """The model, once `fit` has made it."""
        if "model_" not in vars(self):
            raise SettingError(
                "this model is not fitted yet", remedy="call fit first"
            )
        return self.model_

    @property
    def statement_(self) -> Statement:
        """What was promised, to whom, by which mechanism."""
        return self.fitted.statement

    def _repr_html_(self) -> str:
        told = f"<p><code>{escaped(self)}</code></p>"
        if "model_" in vars(self):
            told += self.fitted._repr_html_()
        return told

    def find(self, text: str) -> int | UnknownItem:
        """The row of an item by id, or by title with or without its year."""
        return self.fitted.find(text)

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
        """The best n items that this person has not rated, from her own ratings; without
        any, everybody's list."""
        return self.fitted.recommend(
            ratings, n, by=by, only=only, exclude=exclude, reasons=reasons
        )

    def predict(
        self, ratings: OwnRatings, items: Sequence[str] | None = None
    ) -> Listed[Prediction | UnknownItem]:
        """Expected ratings with standard errors, of all items unless some are named."""
        return self.fitted.predict(ratings, items)

    def explain(
        self, ratings: OwnRatings, item: str
    ) -> Explanation | UnknownItem:
        """Which of a person's own ratings speak for this item, and how much."""
        return self.fitted.explain(ratings, item)

    def similar(self, item: str, n: int = 10) -> Listed[Similar] | UnknownItem:
        """The items most like this one, closest first."""
        return self.fitted.similar(item, n)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as arrays and JSON, whole or not at all."""
        self.fitted.save(path, overwrite=overwrite)
