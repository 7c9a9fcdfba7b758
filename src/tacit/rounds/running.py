"""Running sums of a calendar made better by what is public about how people come.

A running sum can be read off the releases whatever the weeks brought (`Calendar.rows`). But
weeks are not arbitrary: in a week in which few people came sums hardly move, and the people of
one week are much like those of another. If one person adds scale x (m - taken) on average, with
a number m that is the same in every week, then

    y_t = sum over s <= t of c_(t-s) n_s scale_s (m - taken_s) + noise,

a regression on one unknown, whose noise is far smaller: 1.3 times that of a single release
instead of 2.3 where nearly everybody comes in the first of 52 weeks' quarter, 1.9 where people
come evenly, 1 where all come at once. Neither is believed alone. By Gauss and Markov the
distance between the two is independent of the second one's noise and has a known variance;
what distance there is beyond it tells how much sums of their size drift from week to week
(one number for all), and each is moved towards the plain one as far as drift explains it.

Guarantee: everything here reads released numbers and public constants only; it is
post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.rounds.calendar import Calendar
from tacit.rounds.round import Released, Stationary

Floats = NDArray[np.float64]

DRIFTS = np.geomspace(0.01, 4.0, 18) ** 2
"""Squared sizes of drift, as a share of a sum, that are tried."""
DRIFT, DRIFT_SPREAD = 0.2**2, 2.0
"""Its prior: log-normal, median and spread of the logarithm. Wide; it matters only where a
part has few numbers."""
FAR = 16.0
"""(Standard deviations)^2 beyond which a number is not believed to be steady: the plain sum."""
CHUNK = 1 << 15
"""Numbers that are estimated at a time: a Gram has half a million, in every week."""
TINY = 1e-12
"""Stands for nothing where a formula divides by it."""
NOBODY = 1e-3
"""People of a week in which nobody seems to have come: no week is left without a trace."""


@dataclass(frozen=True)
class Running(Released):
    """Running sums, and what is known about them number by number."""

    each: Floats | None = None
    """Standard deviation by number; `sd` is its root mean square."""
    scale: Floats | float = 1.0
    """Mean over people of what theirs were multiplied by."""
    taken: Floats | float = 0.0
    """Mean over people, by that scale, of what they had subtracted."""


def arrivals(calendar: Calendar, counts: Sequence[Floats | float]) -> Floats:
    """About how many people came in each week so far, from the released counts: the numbers
    that are not negative and fit them best. Their shape is used and not their size."""
    from scipy.optimize import nnls

    releases = np.array([float(np.ravel(count)[0]) for count in counts])
    solution, _ = nnls(calendar.mixing(len(releases)), releases)
    return np.asarray(np.maximum(solution, NOBODY), np.float64)


def running_sums(
    calendar: Calendar,
    noisy: Sequence[Floats],
    sigma: float,
    came: Floats,
    beliefs: Sequence[Stationary],
) -> Running:
    """The running sums after the last of these weeks, in units of the part; `sigma` is the
    noise of each release, `came` the people of each week. The last of `beliefs` says what is
    believed about weights now."""
    shape = noisy[-1].shape
    chunks = [
        _estimates(calendar, noisy, sigma, came, beliefs, slice(at, at + CHUNK))
        for at in range(0, noisy[-1].size, CHUNK)
    ]
    steady, variance, plain, distance_variance, scale_sum, subtracted, subtracted_mean = (
        np.concatenate(parts) for parts in zip(*chunks, strict=True)
    )
    drift_share = _drift_share(plain - steady, distance_variance, steady, variance)
    total_variance = variance + drift_share * distance_variance
    return Running(
        (steady + drift_share * (plain - steady) - subtracted).reshape(shape),
        float(np.sqrt(total_variance.mean())),
        each=np.sqrt(total_variance).reshape(shape),
        scale=scale_sum / came.sum(),
        taken=subtracted_mean,
    )


class _Estimates(NamedTuple):
    """Of some numbers: both sums as if nobody had subtracted anything, and what goes with
    them."""

    steady: Floats
    variance: Floats
    """Of the noise of `steady`."""
    plain: Floats
    apart: Floats
    """Variance of the noise of their distance."""
    whole: Floats
    """Sum over people of what theirs were multiplied by."""
    gone: Floats
    """What the summed weeks had subtracted."""
    taken: Floats
    """Mean of what was subtracted, per unit of scale."""


def _estimates(
    calendar: Calendar,
    noisy: Sequence[Floats],
    sigma: float,
    came: Floats,
    beliefs: Sequence[Stationary],
    window: slice,
) -> _Estimates:
    y = np.stack([np.ravel(week)[window] for week in noisy])
    size = noisy[-1].size

    def cut(value: Floats | float) -> Floats:
        return np.broadcast_to(np.ravel(value), size)[window]

    week_scale = came[:, None] * np.stack([cut(week.scale) for week in beliefs])
    subtracted_scale = week_scale * np.stack([cut(week.taken) for week in beliefs])
    subtracted = subtracted_scale * cut(beliefs[-1].weight)
    mix = calendar.mixing(len(y))
    scale_sum = week_scale.sum(axis=0)
    mixed_scale = mix @ week_scale
    square = np.maximum((mixed_scale**2).sum(axis=0), TINY)
    steady = scale_sum * (mixed_scale * (y + mix @ subtracted)).sum(axis=0) / square
    variance = sigma**2 * scale_sum**2 / square
    rows = calendar.rows[: len(y)][::-1]
    return _Estimates(
        steady,
        variance,
        rows @ y + subtracted.sum(axis=0),
        np.maximum(sigma**2 * float(rows @ rows) - variance, 0.0),
        scale_sum,
        subtracted.sum(axis=0),
        subtracted_scale.sum(axis=0) / np.maximum(scale_sum, TINY),
    )


def _drift_share(
    distance: Floats, distance_variance: Floats, steady: Floats, variance: Floats
) -> Floats:
    """How far each number goes from the steady sum to the plain one: the share of their
    distance that drift explains, the most probable drift being the same share of all sums."""
    size = np.maximum(steady**2 - variance, 0.0)
    floor = max(float(distance_variance.max(initial=0.0)), float(variance.max())) * 1e-9
    distance_variance = np.maximum(distance_variance, floor)

    def cost(drift: float) -> float:
        wide = distance_variance + drift * size
        fit = float(np.sum(np.log(wide) + distance**2 / wide))
        return fit + float((np.log(drift / DRIFT) / DRIFT_SPREAD) ** 2)

    drift = min(DRIFTS, key=cost)
    wide = distance_variance + drift * size
    share = drift * size / wide
    return np.where(distance**2 > FAR * wide, 1.0, share)
