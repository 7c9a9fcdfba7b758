"""What privacy will cost at a row of epsilons, from public shape alone: a table that can be
read, framed and drawn. Reads no data and spends nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.evaluation import cost as model
from tacit.evaluation.cost import NineInTen, PublicShape
from tacit.ledger.account.calibrate import gaussian_mu
from tacit.model.person.results import in_columns

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

ROW = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Epsilons of a forecast unless others are asked for."""
GUESSES = (10.0, 30.0, 100.0)
"""Ratings a person where nobody says how many: the interval covers all of these."""


@dataclass(frozen=True)
class ForecastLine:
    """The forecast at one epsilon, in points of the declared scale."""

    epsilon: float
    cost: NineInTen
    """RMSE above the twin's; for lists recall as a share of the twin's."""
    error: NineInTen
    """RMSE itself, or recall@20: much less sure unless a spread was given."""


@dataclass(frozen=True)
class Forecast:
    """A row of lines for one method and shape."""

    method: str
    unit: str
    delta: float
    people: int
    items: int
    each: float | None
    features: bool
    low: float
    high: float
    spread: float | None
    """RMSE of a person's own mean, in points of the scale, where something public says it."""
    lines: tuple[ForecastLine, ...]
    popular_share: float | None = None
    """Of lists: recall of what is liked most as a share of the twin's, where something public
    says it."""

    @property
    def metric(self) -> str:
        """What is forecast."""
        return "recall@20" if self.method in model.LISTS else "rmse"

    def at(self, epsilon: float) -> ForecastLine:
        """The same forecast at another epsilon."""
        return _line(self, epsilon)

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "model": model.NAME,
            "metric": self.metric,
            "cost_is": "share of the twin's recall"
            if self.metric != "rmse"
            else "RMSE above the twin's, in points of the scale",
            "scale": [self.low, self.high],
            "people": self.people,
            "items": self.items,
            "ratings_each": self.each,
            "features": self.features,
            "spread": self.spread,
            "popular_share": self.popular_share,
            "row": [
                {"epsilon": line.epsilon, "cost": vars(line.cost), self.metric: vars(line.error)}
                for line in self.lines
            ],
        }

    def frame(self) -> polars.DataFrame:
        """One row an epsilon."""
        import polars

        return polars.DataFrame(
            [
                {
                    "epsilon": line.epsilon,
                    "cost_low": line.cost.low,
                    "cost": line.cost.middle,
                    "cost_high": line.cost.high,
                    f"{self.metric}_low": line.error.low,
                    self.metric: line.error.middle,
                    f"{self.metric}_high": line.error.high,
                }
                for line in self.lines
            ]
        )

    def __str__(self) -> str:
        """The row as a small table."""
        cost = "rmse above twin's"
        if self.metric != "rmse":
            cost = "recall as share of twin's"
        rows = [(f"{line.epsilon:g}", _ends(line.cost), _ends(line.error)) for line in self.lines]
        return in_columns(("epsilon", cost, self.metric), rows)

    def plot(self) -> Figure:
        """The cost and its interval against epsilon."""
        from tacit.evaluation.report.charts import render
        from tacit.evaluation.report.curve import draw_costs

        return render(draw_costs(self), mark="")

    def _repr_html_(self) -> str:
        from tacit.evaluation.report.curve import cost_table

        return cost_table(self)


def _ends(interval: NineInTen) -> str:
    return f"{interval.middle:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def forecast(
    shape: PublicShape,
    *,
    delta: float,
    epsilons: tuple[float, ...] = ROW,
    per_user: float | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    spread: float | None = None,
) -> Forecast:
    """Costs of a method at each epsilon. `asked.each` is ignored where `per_user` is None: then
    the interval covers every number of ratings a person that is common."""
    bare = Forecast(
        shape.method,
        shape.unit,
        delta,
        shape.people,
        shape.items,
        per_user,
        shape.features,
        *scale,
        spread,
        (),
        shape.floor,
    )
    lines = tuple(_line(bare, epsilon) for epsilon in sorted(set(epsilons)))
    return Forecast(**(vars(bare) | {"lines": lines}))


def _line(forecast: Forecast, epsilon: float) -> ForecastLine:
    mu = gaussian_mu(epsilon, forecast.delta)
    width = (forecast.high - forecast.low) / 4 if forecast.metric == "rmse" else 1.0
    spread = None if forecast.spread is None else forecast.spread / width
    guesses = GUESSES if forecast.each is None else (forecast.each,)
    shapes = [
        PublicShape(
            forecast.method,
            forecast.unit,
            forecast.people,
            forecast.items,
            min(per_user, forecast.items),
            forecast.features,
            forecast.popular_share,
        )
        for per_user in guesses
    ]
    costs = [model.cost(shape, mu) for shape in shapes]
    errors = [model.error(shape, mu, spread) for shape in shapes]
    return ForecastLine(epsilon, _cover(costs, width), _cover(errors, width))


def _cover(intervals: list[NineInTen], width: float) -> NineInTen:
    """One interval over several, with the middle of the middle one."""
    return NineInTen(
        width * min(interval.low for interval in intervals),
        width * intervals[len(intervals) // 2].middle,
        width * max(interval.high for interval in intervals),
    )
