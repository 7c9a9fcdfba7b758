"""`tacit tune`: settings or a method chosen on private ratings, by a charged selection.

A secret number of trials is run, each a private fit of a candidate drawn at random and a
private score on ratings that the fit did not see; only the best trial is published. Guarantee:
the whole is (epsilon, delta)-private, however many candidates there are (docs/proofs/tune.md);
the book is charged with all of it in one transaction before the first number is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.data.catalogue import Catalogue
from tacit.data.held_out import HeldOut, keep_apart
from tacit.data.inputs import as_catalogue, as_ratings
from tacit.data.ratings import aligned
from tacit.data.reading.columns import of_ratings
from tacit.engine.blocks import fingerprint
from tacit.errors import Failure, SettingError
from tacit.evaluation.figures import Figure, Law, figures
from tacit.evaluation.summed import COUNTED, FigureSums, MeasuredMethod, MeasuredSettings
from tacit.fitting.charge import pay, settle_or_warn, stays_charged
from tacit.fitting.check import check, check_held_out
from tacit.fitting.publish import StatementInputs
from tacit.fitting.rehearse import rehearse
from tacit.fitting.run import _Run
from tacit.ledger.account.calibrate import tuning_rho
from tacit.ledger.account.cost import Tuned, concentrated, cost
from tacit.ledger.account.event import Event, TuningEvent
from tacit.ledger.account.gaussian import epsilon_at
from tacit.methods import find, names_of
from tacit.methods.base import Method
from tacit.methods.rehearsal import invented
from tacit.model.model import Model
from tacit.noise.release import Charge, NoNoise, draw_trials
from tacit.notices import notice
from tacit.page import paragraph
from tacit.rounds.options import NAMES, How, What
from tacit.rounds.plan import Budget
from tacit.units import Unit
from tacit.validation import Suggesting, by_name, check_swept, count, number

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.data.reading.columns import Columns
    from tacit.fitting.order import Order
    from tacit.model.shared import Shared

SCORED = 0.1
"""Of the ratings that trials may use: kept apart from their fits, for their scores."""
TRIALS = (
    "how many trials were run, which the time and the memory of the computation show: keep "
    "both from those whom the model is published to"
)
FLATTERED = "it chose the winner, so it flatters it"
NAME = "tune/trials"
LAWS = {"geometric": Fraction(1), "logarithmic": Fraction(0)}
"""eta of each law of the number of trials."""
SCORE_SHARE = 0.2
"""Of a trial's bound: its score. With a fifth the score tells .02 of RMSE apart among 6,000
people at a total of epsilon 1, and the fit loses a tenth of its mu (docs/tune.md)."""
LEAST_TRIALS = 1.0001
"""Below this, gamma as a fraction of short integers would be 1, and no law has that."""
MOST_TRIALS = 10_000
TIMES = 3
"""Expected trials for each candidate, unless said: one of them is then missed in a quarter of
all runs."""
_ROUNDING = 1 + 1e-9
MOST = 1000
"""Candidates: each is rehearsed before anything is charged."""


class Tune(Method):
    """What the book and the statement call a tuning."""

    name: ClassVar[str] = "tune"
    source: ClassVar[str] = "Papernot & Steinke 2022"
    units: ClassVar[tuple[Unit, ...]] = ("user", "rating", "value")
    calibrations = ("sound",)


# Candidates of a tuning: methods with settings, all of them named before a rating is read.


@dataclass(frozen=True)
class Contestant:
    """A method and its settings."""

    method: str
    settings: Mapping[str, Any]

    def make(self, **options: Any) -> Method:
        """The method, unfitted."""
        return find(self.method)(**options, **self.settings)

    @property
    def label(self) -> str:
        """`bayes, sweeps = 4`."""
        return ", ".join([self.method, *(f"{k} = {v}" for k, v in self.settings.items())])


@dataclass(frozen=True, repr=False)
class Chosen(Suggesting):
    """The best trial: what is published."""

    model: Model
    candidate: Contestant
    score: Figure
    """With noise, and flattered: see `FLATTERED`."""

    def __repr__(self) -> str:
        value = self.score.value
        score_text = "unknown" if value is None else f"{value:.4f}"
        return f"Chosen({self.candidate.label}, {self.score.name} {score_text}; .model)"

    def _repr_html_(self) -> str:
        return paragraph(repr(self)) + self.model._repr_html_()


@by_name
def tune(
    ratings: Any,
    methods: str | Sequence[str],
    *,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    epsilon: float,
    items: Any = None,
    users: int | None = None,
    trials: float | None = None,
    law: str = "geometric",
    keep_apart: float | None = None,
    scale: tuple[float, float] | None = None,
    positive: float | bool | None = None,
    columns: Columns | None = None,
    layout: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    **options: Any,
) -> Chosen:
    """Choose among `methods` with the settings of `sweep`, on private ratings, and publish the
    winner. `ratings` is what `tacit.read` gives or what it takes, with `scale`, `positive`,
    `columns`, `layout` and how it is written as `fit` has them. `options` are those of a method
    (`delta`, `unit`, `ledger`, `population`, …).

    `trials` is how many are expected; `keep_apart` the share of the ratings that no trial
    sees, so that `tacit.release` may say later how good the winner is.
    """
    check_swept(sweep)
    if users is not None:
        count("users", users)
    if trials is not None:
        number("trials", trials, "give a number, or leave it out")
    grid = candidates(names_of(methods), sweep or {})
    if len(grid) == 1:
        notice("there is one candidate: `tacit fit` fits it with the whole budget")
    catalogue = as_catalogue(items, columns)
    data = as_ratings(
        ratings,
        items=catalogue,
        scale=scale,
        positive=positive,
        columns=of_ratings(columns),
        layout=layout,
        header=header,
        delimiter=delimiter,
        dates=dates,
        decimal=decimal,
        encoding=encoding,
    )
    tuning = prepared(
        grid,
        users=users or data.schema.users,
        trials=trials,
        law=law,
        apart=keep_apart,
        epsilon=epsilon,
        **options,
    )
    return tuning.run(data, items=catalogue, users=users)


def several(grid: tuple[Contestant, ...]) -> tuple[Contestant, ...]:
    """Refuse a search among one."""
    if len(grid) < 2:
        raise SettingError(
            "there is one candidate, so there is nothing to choose",
            remedy="give several, as --method A,B or --sweep NAME=A,B; `tacit fit` fits one "
            "with the whole budget",
        )
    return grid


def prepared(
    grid: tuple[Contestant, ...],
    *,
    users: int | None = None,
    trials: float | None = None,
    law: str = "geometric",
    apart: float | None = None,
    **options: Any,
) -> Tuning:
    """A checked request, before a rating is read."""
    units = [find_unit(candidate, options.get("unit")) for candidate in grid]
    order = check(
        Tune(**{**options, "unit": options.get("unit") or units[0]}), people=users, keep_apart=apart
    )
    assert order.budget is not None
    expected = TIMES * len(grid) if trials is None else trials
    bound = trials_of(order.budget, order.unit, law, expected, len(grid))
    tuning = Tuning(grid, order, bound, keep_apart(SCORED))
    for candidate in grid:
        # its trials keep ratings apart for their scores
        check_held_out(check(tuning.method_of(candidate), people=users))
    return tuning


def find_unit(candidate: Contestant, requested: Unit | None) -> Unit:
    """The unit of a fit that names none."""
    units = candidate.make().units
    return requested or ("user" if "user" in units else units[0])


# One trial of a tuning: a private fit and a private score within one bound.
#
# The budget of all trials together is turned into the bound of one (`Tuning`), and that one is
# split between fit and score. Guarantee: `Trials.check` refuses a candidate whose events cost
# more than the bound, before anything is charged, and every trial asks it again.
@dataclass(frozen=True)
class Trials:
    """The law of the number of trials, and what each may cost."""

    event: TuningEvent
    delta: float
    unit: Unit

    @property
    def fit(self) -> Budget:
        """What a trial's fit may cost."""
        return self._part(1 - SCORE_SHARE)

    @property
    def score(self) -> Budget:
        """What a trial's score may cost."""
        return self._part(SCORE_SHARE)

    def _part(self, share: float) -> Budget:
        if self.event.epsilon is not None:
            return Budget(share * self.event.epsilon / _ROUNDING, 0.0)
        assert self.event.rho is not None
        mu = sqrt(2 * share * self.event.rho)
        return Budget(epsilon_at(mu, self.delta), self.delta)

    def check(self, candidate: Contestant, fit: Iterable[Event], score: Iterable[Event]) -> None:
        """Refuse what this bound does not cover."""
        price = cost(fit, self.unit) + cost(score, self.unit)
        if self.event.epsilon is not None:
            impure = price.mu2 or price.sampled or price.by_orders
            if impure or price.unbounded:
                raise SettingError(f"{candidate.label} has no pure plan")
            if price.pure_epsilon > self.event.epsilon * _ROUNDING:
                raise Failure(f"{candidate.label} costs more than one trial may")
            return
        rho = concentrated(price)
        if rho is None:
            raise SettingError(
                f"{candidate.method} draws people by a coin or adds noise in shares: no one "
                "bound covers its trials",
                remedy="leave --users out, where it tosses no coin, or leave the method out",
            )
        assert self.event.rho is not None
        if rho > self.event.rho * _ROUNDING:
            raise Failure(f"{candidate.label} costs more than one trial may")


@dataclass(frozen=True)
class Tuning:
    """A request that was found possible."""

    grid: tuple[Contestant, ...]
    order: Order
    trials: Trials
    scored: HeldOut
    """Which ratings are for scores."""

    @property
    def event(self) -> Event:
        """What the book is charged."""
        return self.trials.event

    def method_of(self, candidate: Contestant) -> Method:
        """As a trial fits it: with the budget of a trial."""
        template = self.order.method
        option_names = {*NAMES[What], *NAMES[How]}
        options = {
            name: value for name, value in template.get_params().items() if name in option_names
        }
        budget = self.trials.fit
        return candidate.make(
            **options | {"epsilon": budget.epsilon, "delta": budget.delta, "unit": self.order.unit}
        )

    def score_of(self, shared: Shared, statement: Any) -> MeasuredMethod:
        """The score of a trial's model."""
        budget = self.trials.score
        likes = shared.schema.positive is not None
        score_options = {"parts": ("hits",), "liked": -2.0} if likes else {"parts": ("errors",)}
        return MeasuredMethod(
            Model(shared, statement),
            epsilon=budget.epsilon,
            delta=budget.delta,
            unit=self.order.unit,
            threads=self.order.how.threads,
            **score_options,
        )

    def run(
        self, ratings: Ratings, *, items: Catalogue | None = None, users: int | None = None
    ) -> Chosen:
        """Rehearse every candidate, charge, run the trials, publish the best."""
        data = ratings
        if self.order.apart is not None:
            data = self.order.apart.training_ratings(ratings)
        work = Work(self, data, self.scored.training_ratings(data), items, users)
        work.rehearse()
        payment = pay(
            self.order,
            fingerprint(ratings),
            (self.event,),
            ratings.schema.max_ratings,
            self.order.how.purpose or f"tune {len(self.grid)} candidates",
        )
        with stays_charged(payment.receipt):
            best = self.selected(work, payment.receipt.hash)
        return self._published(best, payment, items is not None)

    def selected(self, work: Work, entry: str) -> Outcome:
        """The best of as many trials as are drawn; nothing of the others is kept."""
        charge = Charge([self.event], entry=entry)
        best: Outcome | None = None
        private = True
        for index in draw_trials(self.event.name, charge):
            outcome = work.trial(index, entry)
            private &= outcome.private
            if best is None or outcome.rank < best.rank:
                best = outcome
        assert best is not None
        return replace(best, private=private)

    def _published(self, best: Outcome, payment: Any, declared_items: bool) -> Chosen:
        candidate = self.grid[best.place]
        score = self._score(best)
        plan = best.run.settled.plan
        facts = StatementInputs(
            self.order,
            best.run.public,
            replace(plan, story=(*self._story(candidate, score), *plan.story)),
            (self.event,),
            used=best.run.method.used(best.run.settled.public),
            declared_items=declared_items,
            unprotected=(TRIALS,),
        )
        statement = facts.statement(
            best.run.engine, payment, private=best.private, charged=(self.event,)
        )
        promise = settle_or_warn(self.order.book, payment.receipt, statement, best.shared.digest())
        return Chosen(Model(best.shared, promise, fresh=True), candidate, score)

    def _score(self, best: Outcome) -> Figure:
        law: Law = "laplace" if self.trials.delta == 0 else "gaussian"
        schema = best.shared.schema
        return figures(best.sums, MeasuredSettings(), law, schema.unit_width)[0]

    def _story(self, candidate: Contestant, score: Figure) -> Sequence[str]:
        """How the settings were chosen."""
        named = "; ".join(contestant.label for contestant in self.grid)
        score_text = "unknown" if score.value is None else f"{score.value:.3f}"
        part = "errors" if score.name == "rmse" else "hits"
        tops = " and ".join(f"{top:g}" for top in COUNTED[part])
        won = (
            f"The winner is {candidate.label}; its noisy score was {score.name} {score_text}, and "
            f"{FLATTERED}."
        )
        procedure = (
            "Each trial drew a candidate, fitted it, and scored it on ratings that its fit did "
            f"not see ({self.scored.describe()}); to a score each person adds two numbers, from 0 "
            f"to {tops}."
        )
        among = f"Chosen by private selection among {len(self.grid)} candidates: {named}."
        return among, won, procedure


def trials_of(budget: Budget, unit: Unit, law: str, expected: float, candidates: int) -> Trials:
    """The largest bound of a trial for which all of them together cost the budget."""
    if law not in LAWS:
        raise SettingError(f"the law {law!r} is unknown", remedy=f"use {' or '.join(LAWS)}")
    if not LEAST_TRIALS <= expected <= MOST_TRIALS:
        raise SettingError(
            f"{expected:.9g} trials are expected; it must be at least {LEAST_TRIALS} and at "
            f"most {MOST_TRIALS:,}",
            remedy=f"leave --trials out for {TIMES} a candidate",
        )
    eta = LAWS[law]
    gamma = gamma_of(eta, expected)
    shared_fields: dict[str, Any] = {
        "name": NAME,
        "eta": eta.as_integer_ratio(),
        "gamma": gamma.as_integer_ratio(),
        "candidates": candidates,
    }
    if budget.delta == 0:
        trial_epsilon = budget.epsilon / float(2 + eta) / _ROUNDING
        return Trials(TuningEvent(**shared_fields, epsilon=trial_epsilon), 0.0, unit)
    rho = tuning_rho(budget.epsilon, budget.delta, float(eta), float(gamma))
    return Trials(TuningEvent(**shared_fields, rho=rho), budget.delta, unit)


def gamma_of(eta: Fraction, expected: float) -> Fraction:
    """About the gamma with so many trials in the mean; what it really gives is what is
    accounted for."""
    if eta == 1:
        return 1 / Fraction(expected).limit_denominator(10_000)
    low, high = 1e-12, 1 - 1e-9
    for _ in range(200):
        middle = sqrt(low * high)
        too_many = Tuned(1.0, float(eta), middle).expected > expected
        low, high = (middle, high) if too_many else (low, middle)
    return Fraction(high).limit_denominator(10_000_000)


# All trials of a tuning in turn: a fit of a candidate, and its score.
#
# Each is a whole private run within the bound that was charged, and is asked for that bound
# again. What it gives is compared by what it releases and by nothing else.
@dataclass(frozen=True)
class Outcome:
    """One trial: kept only while nothing better is known, and never shown."""

    place: int
    """Of the candidate."""
    shared: Shared
    sums: FigureSums
    run: _Run
    private: bool

    @property
    def rank(self) -> tuple[float, int, str, tuple[float, ...]]:
        """Less is better. A total order of what a trial gives (score, candidate, model, and
        the other sums of its score), so that trials of one rank are the same outcome."""
        sums = self.sums.errors if self.errors else -self.sums.hits
        tie_breakers = tuple(float(entry) for entry in sums.ravel())
        return float(sums[0, 1]), self.place, self.shared.digest(), tie_breakers

    @property
    def errors(self) -> bool:
        """Whether trials are ranked by their errors, or by hits, where there are likes."""
        return set(self.sums.noise) == {"errors"}


@dataclass(frozen=True)
class Work:
    """The ratings of all trials."""

    tuning: Tuning
    ratings: Ratings
    """For scores: those that trials are fitted on, and those that they are scored on."""
    train: Ratings
    items: Catalogue | None
    users: int | None

    def fit_of(self, index: int) -> _Run:
        """A fit of a candidate that was checked against the bound of a trial."""
        method = self.tuning.method_of(self.tuning.grid[index])
        people = self.train.schema.declare(self.users).users
        order = check(method, people=people)
        return _Run(method, self.train, self.items, self.users, None, order=order)

    def rehearse(self) -> None:
        """Everything that could stop a trial half-way, on invented people."""
        for index, candidate in enumerate(self.tuning.grid):
            run = self.fit_of(index)
            self.tuning.trials.check(candidate, run.charged, ())
            for shape in run._shapes():
                shared = rehearse(run.order, shape.public)
                self._rehearse_score(candidate, run, shared)

    def _rehearse_score(self, candidate: Contestant, run: _Run, shared: Shared) -> None:
        people = invented(shared.schema, shared.catalogue)
        twice = self.tuning.scored.doubled(people)
        statement = _unsaid(run)
        method = self.tuning.score_of(shared, statement)
        score = _Run(method, twice, None, self.users, None, order=check(method))
        score.rehearse(once=True)
        self.tuning.trials.check(candidate, run.charged, score.charged)
        for round_ in score.settled.plan.rounds:
            score.engine.run(round_, score.first_state(), NoNoise())

    def trial(self, index: int, entry: str) -> Outcome:
        """One fit and one score."""
        tuning = self.tuning
        run = self.fit_of(index)
        shared = run.go(entry=entry)
        over = aligned(self.ratings, Catalogue(list(shared.catalogue.ids)))
        method = tuning.score_of(shared, run.statement(None))
        score = _Run(
            method, tuning.scored.doubled(over), None, self.users, None, order=check(method)
        )
        tuning.trials.check(tuning.grid[index], run.charged, score.charged)
        sums = score.released(entry=entry)
        assert isinstance(sums, FigureSums)
        return Outcome(index, shared, sums, run, run.private and score.private)


def _unsaid(run: _Run) -> Any:
    """A statement that promises nothing, for a model of invented people."""
    from tacit.ledger.statement.statement import build_statement

    return build_statement(
        method=run.method.name, unit=run.order.unit, engine="threads", events=(), calibration="none"
    )


def candidates(
    methods: Sequence[str], sweep: Mapping[str, Sequence[Any]]
) -> tuple[Contestant, ...]:
    """Every method with every value of every swept setting that it has. A setting that none
    of them has is refused."""
    if not methods:
        raise SettingError("no method is named", remedy="give --method A,B")
    fields = {name: find(name).Settings.model_fields.keys() for name in methods}
    for setting, values in sweep.items():
        if not any(setting in setting_names for setting_names in fields.values()):
            setting_names = sorted(
                {field_name for method_fields in fields.values() for field_name in method_fields}
            )
            raise SettingError(
                f"none of {', '.join(methods)} has a setting {setting!r}",
                remedy=f"their settings are: {', '.join(setting_names) or 'none'}",
            )
        if not values:
            raise SettingError(f"--sweep {setting} names no value")
    contestants = tuple(_contestants(fields, sweep))
    if len(contestants) > MOST:
        raise SettingError(
            f"{len(contestants):,} candidates are more than {MOST:,}", remedy="sweep fewer values"
        )
    return contestants


def _contestants(
    fields: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]]
) -> Iterator[Contestant]:
    for name, method_fields in fields.items():
        swept = {setting: sweep[setting] for setting in sweep if setting in method_fields}
        for values in product(*swept.values()):
            yield Contestant(name, dict(zip(swept, values, strict=True)))
