"""What every method is: public settings, a plan, and the shared model that its released
numbers make.

A method with one way to be fitted overrides `plan`, `first_state` and `finish`. One with
several (a sound plan, a printed paper, a non-private twin) names a `Form` for each
calibration instead, which is found when it is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import ArgumentError, SettingError, UnfittedError
from tacit.methods.refine.public_prior import Known
from tacit.model.shared import Shared
from tacit.page import escaped
from tacit.rounds.options import NAMES, Calibration, How, What, signature
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import AnyState
from tacit.rounds.state import State
from tacit.units import Unit
from tacit.validation import by_name, near, plain_requirement, unknown_name

if TYPE_CHECKING:
    from tacit.data.reading.assemble import Duplicates
    from tacit.data.reading.columns import Columns
    from tacit.ledger.statement.statement import Statement
    from tacit.model.model import Model
    from tacit.model.person.base import PersonalModel
    from tacit.model.person.ratings import OwnRatings
    from tacit.model.person.results import (
        Explanation,
        Listed,
        Prediction,
        Recommendation,
        Similar,
        UnknownItem,
    )


class Settings(BaseModel):
    """Public constants of a method, as `--set name=value` gives them; never functions of the
    ratings."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


BaseSettings = Settings
"""The same class under another name, for methods that call their own `Settings`."""


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
    known: Known | None = None
    """What public people say of the items."""
    coins: bool = True
    """Whether people may take part by a secret coin. Not where a count of them chooses the
    plan: what a coin saves has no common measure for plans of different sizes."""

    @property
    def people(self) -> float:
        """How many people the plan is for: declared, seen or counted before it is made
        (`tacit.fitting.price`). Without noise any number is enough."""
        if self.schema.users is not None:
            return float(self.schema.users)
        if self.budget is None:
            return inf
        raise SettingError(
            "a plan needs the number of people",
            remedy="declare it: --users N, or Schema.declare(users=N)",
        )

    @cached_property
    def items(self) -> int:
        """Number of items in the catalogue."""
        return len(self.catalogue.ids)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Ratings of each item, where they are public (unit `value`); zeros otherwise."""
        if self.pattern is None:
            return np.zeros(self.items, np.int64)
        return np.bincount(self.pattern.item, minlength=self.items)


class Form(ABC):
    """One calibration of a method: its plan, and what its released numbers make."""

    settings: BaseSettings
    """Those of the method, checked; a form may name their class more closely."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.settings = method.settings

    @abstractmethod
    def plan(self, public: Public) -> Plan:
        """The rounds, known before any rating is touched."""

    def first_state(self, public: Public) -> State:
        """What is public before any round; its class is the state of the method's family."""
        return State()

    def used(self, public: Public) -> dict[str, Any]:
        """The settings as this form uses them, which statements and models record: a form that
        rounds, caps or ignores an option reports so here."""
        return self.settings.model_dump()

    @abstractmethod
    def finish(self, public: Public, state: AnyState) -> Shared:
        """The shared model from what was released: post-processing, free."""

    def trained(
        self, public: Public, state: AnyState, personal: Mapping[str, NDArray[np.float64]]
    ) -> PersonalModel | None:
        """How a paper that publishes people's vectors predicts for those it was trained on,
        from what was kept on their side; None where it predicts as everybody does.

        For the owner's evaluation alone: it is never part of a model.
        """
        return None


# What a fitted method answers: the verbs of the model that its fit made.


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


class Method(What, How, Verbs, ABC):
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
    forms: ClassVar[Mapping[Calibration, type[Form] | str]] = {}
    """Who plans under each calibration: a class, or "module:Class", which is imported when
    it is needed, so that printed papers and twins are met only there. Empty for a method
    that overrides `plan`, `first_state` and `finish`."""
    units: ClassVar[tuple[Unit, ...]] = ("user", "rating")
    calibrations: ClassVar[tuple[Calibration, ...]] = ("sound", "none")
    engines: ClassVar[tuple[str, ...]] = ("threads",)
    paper_unit: ClassVar[Unit | None] = None
    """Of the paper's main claim: the unit of `paper` unless another is asked for."""
    paper_units: ClassVar[tuple[Unit, ...]] = ()
    """Others for which the paper prints noise too."""
    local: ClassVar[bool] = False
    """Every device randomizes for itself: who takes part is visible, so people need not be counted.
    """
    better_list: ClassVar[str] = ""
    """What to use instead where the list counts, if another method's is better: a sentence that
    commands and pages repeat. It is about the method, never about a table."""
    needs_people: ClassVar[bool] = True
    """Whether the plan depends on the number of people, so that somebody must declare or count
    them."""
    Settings: ClassVar[type[BaseSettings]] = Settings
    __signature__ = signature("settings")

    def __init__(self, *by_place: Any, **given: Any) -> None:
        if by_place:
            raise ArgumentError(
                f"{type(self).__name__} takes its arguments by name alone",
                remedy=f"for example: {type(self).__name__}(epsilon=1)",
            )
        for options in (What, How):
            mine = {name: given.pop(name) for name in NAMES[options] if name in given}
            options.__init__(self, **mine)
        self._check_names(given)
        self._given = given
        for name, value in given.items():
            setattr(self, name, value)

    def _check_names(self, names: Iterable[str]) -> None:
        """Refuse a name that is neither an option nor a setting; values are checked by
        `fit`."""
        settings_class = type(self).Settings
        if settings_class.model_config.get("extra") != "forbid":
            return
        for name in names:
            if name not in settings_class.model_fields:
                hint = near(name, [*settings_class.model_fields, *NAMES[What], *NAMES[How]])
                setting_names = ", ".join(sorted(settings_class.model_fields))
                advice = (
                    f"its settings are: {setting_names}"
                    if setting_names
                    else f"{self.name} has no settings: leave it out"
                )
                raise ArgumentError(
                    f"{self.name} has no setting {name!r}", remedy=f"{hint}{advice}"
                )

    def __setattr__(self, name: str, value: Any) -> None:
        """Allow assignment: a method is not frozen as its options are, because `set_params` changes
        it."""
        object.__setattr__(self, name, value)

    @property
    def settings(self) -> BaseSettings:
        """The method's own settings, validated."""
        try:
            return type(self).Settings(**self._given)
        except ValidationError as error:
            problem = error.errors()[0]
            name = ".".join(str(part) for part in problem["loc"])
            raise SettingError(
                f"the setting {name} of {self.name} is {problem['input']!r}",
                remedy=f"give {plain_requirement(problem['msg'])}",
            ) from None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All keyword arguments with their values, as scikit-learn asks for them."""
        declared = (*NAMES[What], *NAMES[How])
        return {name: getattr(self, name) for name in declared} | dict(self._given)

    @by_name
    def set_params(self, **params: Any) -> Self:
        """Change some keyword arguments; the others stay."""
        type(self).__init__(self, **(self.get_params() | params))
        return self

    def __repr__(self) -> str:
        default = type(self)().get_params()
        params = self.get_params()
        arguments = (f"{k}={v!r}" for k, v in params.items() if k not in default or default[k] != v)
        text = f"{type(self).__name__}({', '.join(arguments)})"
        if "model_" not in vars(self):
            return text
        fitted_params = vars(self).get("_fitted_with", params)
        changed = [
            f"{k}={fitted_params.get(k)!r}"
            for k in {**fitted_params, **params}
            if fitted_params.get(k) != params.get(k)
        ]
        if not changed:
            return f"{text}, fitted"
        return f"{text}, fitted before with {', '.join(changed)}"

    def form(self, calibration: Calibration) -> Form:
        """The form that plans under this calibration."""
        form_class = type(self).forms.get(calibration)
        if form_class is None:
            raise SettingError(
                f"{self.name} has no form of calibration {calibration}",
                remedy=f"its calibrations are: {', '.join(self.calibrations)}",
            )
        if isinstance(form_class, str):
            module, name = form_class.split(":")
            form_class = getattr(import_module(module), name)
        form: Form = form_class(self)
        return form

    def _form_of(self, public: Public) -> Form:
        """`form`, though a setting of that name may hide it: `one-bit` has one."""
        return type(self).form(self, public.calibration)

    def plan(self, public: Public) -> Plan:
        """The rounds, known before any rating is touched."""
        return self._form_of(public).plan(public)

    def first_state(self, public: Public) -> State:
        """What is public before any round; its class is the state of the method's family."""
        if not type(self).forms:
            return State()
        return self._form_of(public).first_state(public)

    def finish(self, public: Public, state: AnyState) -> Shared:
        """The shared model from what was released: post-processing, free."""
        return self._form_of(public).finish(public, state)

    def trained(
        self, public: Public, state: AnyState, kept: Mapping[str, NDArray[np.float64]]
    ) -> PersonalModel | None:
        """See `Form.trained`."""
        if not type(self).forms:
            return None
        return self._form_of(public).trained(public, state, kept)

    def used(self, public: Public) -> dict[str, Any]:
        """The settings as they are used, not as they were asked for."""
        if not type(self).forms:
            return self.settings.model_dump()
        return self._form_of(public).used(public)

    @by_name
    def fit(
        self,
        ratings: Any,
        y: None = None,
        *,
        items: Any = None,
        users: int | None = None,
        start: Model | str | Path | None = None,
        keep_apart: float | None = None,
        public: Any = None,
        budgets: Mapping[str, float] | str | Path | None = None,
        scale: tuple[float, float] | None = None,
        positive: float | bool | None = None,
        columns: Columns | None = None,
        layout: str | None = None,
        duplicates: Duplicates | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
        dates: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> Self:
        """Train: charge the ledger, run the rounds, keep the model in `model_` and its promise in
        `statement_`.

        `ratings` is what `tacit.read` returns or what it accepts: a path, a data frame, a sparse
        matrix; then `scale`, `positive`, `columns`, `layout`, `duplicates` and how it is written
        (`header`, `delimiter`, `dates`, `decimal`, `encoding`) are passed on to it. `items` is a
        catalogue or what `tacit.read_items` takes. `y` is there so that a fit can be the last step
        of a pipeline of scikit-learn, and must be None.

        `start` is an earlier model of the same ledger: what it released is built upon and not paid
        for again. `keep_apart` is the share of the ratings that is held out from the fit, so that
        `tacit.release` can measure how well it predicts them. `public` are people whose ratings are
        public (`PublicPeople`, or their ratings): a prior, weighted by how well it fits the
        released numbers. `budgets` are personal epsilons, by id (or a file with the columns user
        and epsilon), of people who want less revealed than the rest."""
        from tacit.fitting.api import fit_inputs

        self.model_ = fit_inputs(
            self,
            ratings,
            y,
            items=items,
            users=users,
            start=start,
            keep_apart=keep_apart,
            public=public,
            budgets=budgets,
            scale=scale,
            positive=positive,
            columns=columns,
            layout=layout,
            duplicates=duplicates,
            header=header,
            delimiter=delimiter,
            dates=dates,
            decimal=decimal,
            encoding=encoding,
        )
        self._fitted_with = self.get_params()
        return self
