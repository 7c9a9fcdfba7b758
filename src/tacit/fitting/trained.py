"""A model for the owner's eyes whose people are those that a paper trained: what papers that
publish people's vectors report, and what no published model holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.model.model import Model
from tacit.model.person.base import Cells, Floats, Own, PersonalModel, Reason, personal_model

if TYPE_CHECKING:
    from tacit.engine.base import Engine
    from tacit.ledger.statement.statement import Statement
    from tacit.model.shared import Shared


Watch = Callable[[str, Any, Mapping[str, NDArray[np.float64]]], None]
"""Called with the name of a round, the state after it, and what is kept on people's side:
for the owner's eyes."""


@runtime_checkable
class KeepsPeople(Protocol):
    """An engine that runs what papers print, and shows the owner what they trained."""

    @property
    def personal_state(self) -> Mapping[str, NDArray[np.float64]]:
        """State of all people by name, one row a person; it never leaves the owner."""


def kept_people(engine: Engine) -> Mapping[str, NDArray[np.float64]]:
    """What a paper trained of its people; nothing where an engine shows none."""
    return engine.personal_state if isinstance(engine, KeepsPeople) else {}


class OwnersModel(Model):
    """Predicts for the people it was trained on from their trained vectors; for anybody else
    as the published model does. It cannot be saved."""

    def __init__(self, shared: Shared, statement: Statement, personal: KnownPeople) -> None:
        super().__init__(shared, statement, kept=False)
        self.personal = personal

    def save(self, path: str | Path = "", *, overwrite: bool = False) -> None:
        """Refused: trained vectors of people are personal."""
        raise SettingError(
            "this model predicts from people's trained vectors, which are not kept",
            remedy="use fit, which publishes the items alone",
        )


class KnownPeople(PersonalModel):
    """The trained people where exactly they are asked about, the published model else."""

    def __init__(
        self, trained: PersonalModel, published: PersonalModel, item: NDArray[np.uint32]
    ) -> None:
        super().__init__(published.arrays, published.numbers)
        self.trained = trained
        self.published = published
        self._item = item

    def _model_for(self, item: NDArray[np.uint32]) -> PersonalModel:
        is_training_pattern = np.array_equal(item, self._item)
        return self.trained if is_training_pattern else self.published

    def predict(self, user_ratings: Own) -> tuple[Floats, Floats]:
        """As the published model does: one person's ratings do not identify her row."""
        return self.published.predict(user_ratings)

    def explain(self, user_ratings: Own, item: int) -> Reason:
        return self.published.explain(user_ratings, item)

    def similar(self, item: int) -> Floats:
        return self.published.similar(item)

    def predict_cells(self, cells: Cells) -> Floats:
        """From the trained vectors, if these are the people of the training."""
        return self._model_for(cells.item).predict_cells(cells)

    def score_block(
        self, ptr: NDArray[np.int64], item: NDArray[np.uint32], value: Floats
    ) -> Floats:
        """The same; part of the people are not known by their rows."""
        return self._model_for(item).score_block(ptr, item, value)


def owners_model(
    shared: Shared,
    statement: Statement,
    trained: PersonalModel | None,
    engine: Engine,
    *,
    may_save: bool,
) -> Model:
    """The model of a trial, with its trained people where the paper publishes them."""
    if trained is None:
        return Model(shared, statement, kept=may_save)
    people = KnownPeople(trained, personal_model(shared), engine.pattern().item)
    return OwnersModel(shared, statement, people)
