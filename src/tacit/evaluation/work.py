"""The trials of a tuning, one after the other: a fit of a candidate, and its score.

Each is a whole private run within the bound that was charged, and is asked for that bound
again. What it gives is compared by what it releases and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.data.aligned import aligned
from tacit.data.catalogue import Catalogue
from tacit.evaluation.grid import Contestant
from tacit.evaluation.summed import FigureSums
from tacit.fitting.check import check
from tacit.fitting.rehearse import rehearse
from tacit.fitting.run import _Run
from tacit.methods.rehearsal import invented
from tacit.noise.release import NoNoise

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.evaluation.tune import Tuning
    from tacit.model.shared import Shared


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
            score.engine.run(round_, score.first(), NoNoise())

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
