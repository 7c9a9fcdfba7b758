"""Which epsilon for which accuracy: three candidates from a forecast, each with what it means
for somebody. Reads no private data and spends nothing."""

from __future__ import annotations

from dataclasses import dataclass
from math import asinh, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from tacit.evaluation.cost import SURE, NineInTen
from tacit.evaluation.deployments import DEPLOYMENTS
from tacit.evaluation.forecast import Forecast, ForecastLine
from tacit.evaluation.forecast_model import OFFSET
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.ledger.account.gaussian import epsilon_at
from tacit.ledger.account.odds import in_words, odds_times
from tacit.ledger.account.rounded import up
from tacit.model.person.results import in_columns
from tacit.validation import Suggesting

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from tacit.units import Unit

SMALLEST = 0.05
LARGEST = 20.0
"""Epsilons that are looked at. Above it an attacker may be nearly sure, and forecasts were not
checked."""
STEPS = 88
"""Of that row: 7 % apart, closer than anybody needs."""
NAMES = ("careful", "balanced", "accurate")
CHANCES = (0.25, 0.5, 0.9)
"""How likely the goal is met at each candidate."""
WON_BACK = (0.5, 0.75, 0.9)
"""Where no epsilon meets the goal: how much of what privacy costs at the smallest epsilon is
won back."""
RELEASES = 10
"""What a year of releases may add up to."""

Goal = Literal["rmse", "recall", "range"]


@dataclass(frozen=True)
class Candidate:
    """One epsilon, and what it means."""

    name: str
    epsilon: float
    chance: float | None
    """That the goal is met; None where there is no goal to meet."""
    line: ForecastLine
    """Forecast of the accuracy at this epsilon."""
    expected: NineInTen
    """RMSE or recall@20: from what the twin is known to reach, where that was said."""
    odds_times: float
    best_guess: float
    ten: float
    """Epsilon of ten such releases together, at the same delta."""
    words: str
    overlap: float | None = None
    """Of lists of 30 with and without noise, where it was measured."""

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "epsilon": self.epsilon,
            "chance": self.chance,
            "cost": vars(self.line.cost),
            "expected": vars(self.expected),
            "overlap": self.overlap,
            "attacker": {
                "odds_times": self.odds_times,
                "best_guess": self.best_guess,
                "words": self.words,
            },
            "ten_releases": self.ten,
        }


@dataclass(frozen=True, eq=False, repr=False)
class EpsilonChoice(Suggesting):
    """What `tacit.choose` answers."""

    goal: Goal
    target: float | None
    met: bool
    """Whether some epsilon meets the goal with even odds at least."""
    candidates: tuple[Candidate, ...]
    forecast: Forecast
    twin: float | None = None
    """What the twin is known to reach, where that was said."""

    def __repr__(self) -> str:
        """The candidates as a small table; `facts()` has all of it."""
        metric = self.forecast.metric
        names = ("name", "epsilon", "chance", metric, "odds grow at most")
        rows = [
            (
                candidate.name,
                f"{candidate.epsilon:g}",
                "" if candidate.chance is None else f"{100 * candidate.chance:.0f} %",
                f"{candidate.expected.low:.3f} to {candidate.expected.high:.3f}",
                f"{up(candidate.odds_times, 3)} times",
            )
            for candidate in self.candidates
        ]
        return in_columns(names, rows)

    def facts(self) -> dict[str, Any]:
        """As `tacit choose --json` prints them."""
        forecast = self.forecast
        return {
            "method": forecast.method,
            "unit": forecast.unit,
            "delta": forecast.delta,
            "goal": self.goal,
            "target": self.target,
            "met": self.met,
            "candidates": [entry.facts() for entry in self.candidates],
            "forecast": forecast.facts(),
            "others": [vars(entry) for entry in DEPLOYMENTS],
        }

    def frame(self) -> polars.DataFrame:
        """One row a candidate."""
        import polars

        metric = self.forecast.metric
        return polars.DataFrame(
            [
                {
                    "name": candidate.name,
                    "epsilon": candidate.epsilon,
                    "chance": candidate.chance,
                    f"{metric}_low": candidate.expected.low,
                    metric: candidate.expected.middle,
                    f"{metric}_high": candidate.expected.high,
                    "odds_times": candidate.odds_times,
                    "best_guess": candidate.best_guess,
                    "ten_releases": candidate.ten,
                }
                for candidate in self.candidates
            ]
        )

    def plot(self) -> Figure:
        """The candidates on the curve of costs."""
        from tacit.evaluation.report.charts import render
        from tacit.evaluation.report.curve import draw_costs

        return render(draw_costs(self.forecast, self.marks()), mark="")

    def marks(self) -> list[tuple[str, float]]:
        """Candidates as they are marked on the curve."""
        return [(candidate.name, candidate.epsilon) for candidate in self.candidates]

    def page(self) -> str:
        """A page of words and one picture, for somebody who is not a specialist."""
        from tacit.evaluation.report.choice import choice_page

        return choice_page(self)

    def _repr_html_(self) -> str:
        from tacit.evaluation.report.choice import candidate_table

        return candidate_table(self)


def solve(forecast: Forecast, target: float, *, twin: float | None = None) -> EpsilonChoice:
    """Candidates for a goal of RMSE or recall: where it is met with a chance of 25, 50 and
    90 %. `twin` is what the twin reaches, if something public says it."""
    goal: Goal = "rmse" if forecast.metric == "rmse" else "recall"
    row = _row()
    lines = {epsilon: forecast.at(epsilon) for epsilon in row}
    chances = [chance(forecast, expected(forecast, lines[e], twin), target, twin) for e in row]
    met = max(chances) >= CHANCES[1]
    if not met:
        return unmet(forecast, goal, target, twin)
    candidates = []
    for name, least_chance in zip(NAMES, CHANCES, strict=True):
        able = [e for e, got in zip(row, chances, strict=True) if got >= least_chance]
        # Where nine in ten is out of reach, the surest there is.
        epsilon = able[0] if able else row[chances.index(max(chances))]
        got = chances[row.index(epsilon)]
        candidates.append(candidate(forecast, name, epsilon, twin, got=got))
    return EpsilonChoice(goal, target, met, tuple(candidates), forecast, twin)


def unmet(
    forecast: Forecast, goal: Goal, target: float | None, twin: float | None
) -> EpsilonChoice:
    """Candidates where no epsilon meets the goal: what the most part of the cost buys back."""
    row = _row()
    costs = [_falling_cost(forecast, forecast.at(epsilon)) for epsilon in row]
    candidates = []
    for name, share in zip(NAMES, WON_BACK, strict=True):
        limit = (1 - share) * costs[0] + share * costs[-1]
        epsilon = next(e for e, cost in zip(row, costs, strict=True) if cost <= limit)
        got = None
        if target is not None:
            at = expected(forecast, forecast.at(epsilon), twin)
            got = chance(forecast, at, target, twin)
        candidates.append(candidate(forecast, name, epsilon, twin, got=got))
    return EpsilonChoice(goal, target, False, tuple(candidates), forecast, twin)


def candidate(
    forecast: Forecast,
    name: str,
    epsilon: float,
    twin: float | None = None,
    *,
    got: float | None = None,
    overlap: float | None = None,
) -> Candidate:
    """One epsilon with what it means."""
    mu = gaussian_mu(epsilon, forecast.delta)
    guess = NormalDist().cdf(mu / 2)
    line = forecast.at(epsilon)
    unit: Unit = forecast.unit  # type: ignore[assignment]
    return Candidate(
        name=name,
        epsilon=epsilon,
        chance=got,
        line=line,
        expected=expected(forecast, line, twin),
        odds_times=odds_times(epsilon, forecast.delta),
        best_guess=guess,
        ten=epsilon_at(sqrt(RELEASES) * mu, forecast.delta),
        words=in_words(unit, guess, likes=forecast.metric != "rmse"),
        overlap=overlap,
    )


def expected(forecast: Forecast, line: ForecastLine, twin: float | None) -> NineInTen:
    """RMSE or recall itself: what the twin reaches and the cost, where the first is known."""
    if twin is None:
        return line.error
    ends = (line.cost.low, line.cost.middle, line.cost.high)
    if forecast.metric == "rmse":
        return NineInTen(*(twin + end for end in ends))
    return NineInTen(*(twin * end for end in ends))


def chance(forecast: Forecast, at: NineInTen, target: float, twin: float | None) -> float:
    """That the goal is met: the interval as a Gaussian on the scale on which it was made."""

    def scale(value: float) -> float:
        if twin is None:
            return log(max(value, 1e-6))
        if forecast.metric != "rmse":
            return value
        return asinh((value - twin) / OFFSET)

    sd = (scale(at.high) - scale(at.low)) / (2 * SURE)
    off = (scale(target) - scale(at.middle)) / max(sd, 1e-9)
    return NormalDist().cdf(off if forecast.metric == "rmse" else -off)


def _falling_cost(forecast: Forecast, line: ForecastLine) -> float:
    """The middle of the cost, as something that falls with epsilon."""
    middle = line.cost.middle
    return middle if forecast.metric == "rmse" else 1 - middle


def _row() -> list[float]:
    ratio = (LARGEST / SMALLEST) ** (1 / (STEPS - 1))
    fine = (SMALLEST * ratio**step for step in range(STEPS))
    return sorted({float(f"{epsilon:.2g}") for epsilon in fine})
