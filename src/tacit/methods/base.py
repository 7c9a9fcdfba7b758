"""What every method is: public settings, a plan, and the shared model that its released
numbers make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.ledger.account.event import Unit
from tacit.model.shared import Shared
from tacit.rounds.options import Calibration, How, What, names, signature
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import AnyState
from tacit.rounds.state import State

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.model.model import Model


class Settings(BaseModel):
    """What a method can be told with `--set name=value`: public constants, never functions
    of the ratings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


BaseSettings = Settings


@dataclass(frozen=True)
class Public:
    """All that a plan may depend on."""

    schema: Schema
    catalogue: Catalogue
    unit: Unit
    calibration: Calibration = "sound"
    budget: Budget | None = None
    """None for the non-private twin."""
    pattern: Pattern | None = None
    """Who rated what: public at the unit `value` and absent at every other."""
    start: Shared | None = None
    """An earlier model, published: what it released may be built upon."""

    @property
    def items(self) -> int:
        return len(self.catalogue)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Ratings of each item, where they are public (unit `value`); zeros otherwise."""
        cells = (
            self.pattern.item if self.pattern is not None else np.zeros(0, np.uint32)
        )
        return np.bincount(cells, minlength=self.items)


class Method(What, How, ABC):
    """A recommender in the manner of scikit-learn. Keyword arguments are stored as given
    and checked by `fit`.

    They are the fields of `What` (`epsilon`, `delta`: the budget of this fit; `unit`: whom
    it protects; `calibration`: `sound`, `paper` or `none`) and of `How` (`engine`,
    `threads`: where it runs; `population`, `ledger`, `purpose`: whom to charge and what
    for; `devices`), both in `tacit.rounds.options`. Further keyword arguments are the
    settings of the method.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    """Paper or idea, for statements."""
    units: ClassVar[tuple[Unit, ...]] = ("user", "rating")
    calibrations: ClassVar[tuple[Calibration, ...]] = ("sound", "none")
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    paper_unit: ClassVar[Unit | None] = None
    local: ClassVar[bool] = False
    """Every device randomizes for itself: who takes part is visible, so people need not be counted.
    """
    Settings: ClassVar[type[BaseSettings]] = Settings
    __signature__ = signature("settings")

    def __init__(self, **given: Any) -> None:
        for options in (What, How):
            mine = {name: given.pop(name) for name in names(options) if name in given}
            options.__init__(self, **mine)
        self._given = given
        for name, value in given.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        """A method is not frozen as its options are: it is told more by `set_params`."""
        object.__setattr__(self, name, value)

    @property
    def settings(self) -> BaseSettings:
        """The method's own settings, checked."""
        try:
            return type(self).Settings(**self._given)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            known = ", ".join(sorted(type(self).Settings.model_fields)) or "none"
            if first["type"] == "extra_forbidden":
                raise SettingError(
                    f"{self.name} has no setting {name!r}",
                    remedy=f"its settings are: {known}",
                ) from None
            raise SettingError(
                f"the setting {name} of {self.name}: {first['msg']}"
            ) from None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        declared = (*names(What), *names(How))
        return {name: getattr(self, name) for name in declared} | dict(self._given)

    def set_params(self, **params: Any) -> Self:
        type(self).__init__(self, **(self.get_params() | params))
        return self

    def __repr__(self) -> str:
        default = type(self)().get_params()
        given = (
            f"{k}={v!r}"
            for k, v in self.get_params().items()
            if k not in default or default[k] != v
        )
        return f"{type(self).__name__}({', '.join(given)})"

    @abstractmethod
    def plan(self, public: Public) -> Plan:
        """The rounds, known before any rating is touched."""

    def first_state(self, public: Public) -> State:
        """What is public before any round; its class is the state of the method's family."""
        return State()

    @abstractmethod
    def finish(self, public: Public, state: AnyState) -> Shared:
        """The shared model from what was released: post-processing, free."""

    def fit(
        self,
        ratings: Ratings,
        *,
        items: Catalogue | None = None,
        users: int | None = None,
        start: Model | None = None,
    ) -> Self:
        """Train: charge the ledger, run the rounds, keep the model in `model_` and its
        promise in `statement_`.

        `start` is an earlier model of the same ledger: what it released is built upon and
        not paid for again.
        """
        from tacit.fitting.run import fit

        self.model_ = fit(self, ratings, items=items, users=users, start=start)
        return self

    @property
    def fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise SettingError("this model is not fitted yet", remedy="call fit first")
        model: Model = self.model_
        return model

    @property
    def statement_(self) -> Any:
        return self.fitted.statement

    def recommend(self, ratings: Any, n: int = 10, **options: Any) -> Any:
        return self.fitted.recommend(ratings, n, **options)

    def predict(self, ratings: Any, items: Any = None) -> Any:
        return self.fitted.predict(ratings, items)

    def explain(self, ratings: Any, item: str) -> Any:
        return self.fitted.explain(ratings, item)

    def similar(self, item: str, n: int = 10) -> Any:
        return self.fitted.similar(item, n)

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        self.fitted.save(path, overwrite=overwrite)
