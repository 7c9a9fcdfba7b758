"""What a fitted method answers: the verbs of the model that its fit made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tacit.errors import SettingError, UnfittedError
from tacit.page import escaped
from tacit.validation import by_name, unknown_name

if TYPE_CHECKING:
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.person.ratings import OwnRatings
    from tacit.model.person.results import (
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
            raise UnfittedError("this model is not fitted yet", remedy="call fit first")
        return self.model_

    @property
    def statement_(self) -> Statement:
        """What was promised, to whom, by which mechanism."""
        return self.fitted.statement

    @property
    def score(self) -> NoReturn:
        """What a search of scikit-learn asks for unless it is given a scorer: refused before
        the first of its fits is charged."""
        raise SettingError(
            "a recommender has no score of its own: a search would charge every fit",
            remedy="choose settings by tacit.tune, which is charged once, or compare them by "
            "tacit.evaluate, for the owner only; give scoring=FUNCTION to search all the same",
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """A name that is not there; a property of a model comes here unfitted."""
            if name.startswith("__"):
                raise AttributeError(name)
            if name == "model_" or hasattr(type(self), name):
                raise UnfittedError("this model is not fitted yet", remedy="call fit first")
            raise unknown_name(type(self).__name__, name, dir(self))

    def __dir__(self) -> list[str]:
        """All names that can be had."""
        return [name for name in super().__dir__() if name != "score"]

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn (1.6 or newer) asks of an estimator; it is not imported before."""
        tags = import_module("sklearn.utils")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=False),
            input_tags=tags.InputTags(two_d_array=False, dict=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has made a model."""
        return "model_" in vars(self)

    def _repr_html_(self) -> str:
        html = f"<p><code>{escaped(self)}</code></p>"
        if "model_" in vars(self):
            html += self.fitted._repr_html_()
        return html

    @by_name
    def find(self, text: str) -> int | UnknownItem:
        """The row of an item by id, or by title with or without its year."""
        return self.fitted.find(text)

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
        """The best n items that this person has not rated, from her own ratings; without
        any, everybody's list."""
        return self.fitted.recommend(ratings, n, by=by, only=only, exclude=exclude, reasons=reasons)

    @by_name
    def predict(
        self, ratings: OwnRatings, items: Sequence[str] | None = None
    ) -> Listed[Prediction]:
        """Expected ratings with standard errors, of all items unless some are named."""
        return self.fitted.predict(ratings, items)

    @by_name
    def explain(self, ratings: OwnRatings, item: str) -> Explanation:
        """Which of a person's own ratings speak for this item, and how much."""
        return self.fitted.explain(ratings, item)

    @by_name
    def similar(self, item: str, n: int = 10) -> Listed[Similar]:
        """The items most like this one, closest first."""
        return self.fitted.similar(item, n)

    @by_name
    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as arrays and JSON, whole or not at all."""
        self.fitted.save(path, overwrite=overwrite)

    @by_name
    def export(
        self, path: str | Path, *, similarities: bool = False, overwrite: bool = False
    ) -> None:
        """Write the item arrays for other systems, as .npz or .parquet by the name."""
        self.fitted.export(path, similarities=similarities, overwrite=overwrite)
