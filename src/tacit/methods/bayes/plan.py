"""How `bayes` divides its budget: a rule from people x mu, the unit and the features, the
same for all data.

A stage gets a share only where it can pay: its signal grows with people x mu (`reach`), its
noise does not. All constants below were set on other splits of ML-1M than those of
docs/results/bayes.md; the rule is the same for every data set. A stage that does not pay on
some data shrinks itself to nothing, and costs its share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from tacit.methods.first_order.rounds import global_mean_share
from tacit.units import Unit

GLOBAL_MEAN_NEED = 15.0
"""As in `tacit.methods.first_order.rounds`, where it is 30: a person's own level makes up for what
is not known of that of all."""
SMALL_REACH = 700
"""Below this reach everything but items' weights and sums drowns, and gets less or nothing."""
CHOICE_SHARE, CHOICE_SMALL = 0.04, 0.02
"""Of what the level leaves: how widely people differ; and below `SMALL_REACH`, unless items have
features and do not drown: then how much tastes for these vary is worth as much as elsewhere."""
WEIGHTS_SHARE = 0.22
"""The items' weights, of what is left for first-order rounds."""
WEIGHTS_DROWNED = 0.18
"""More of it at the unit `user` where nearly all items drown: then what can be known of most
items is how much they are rated."""
DROWNED_PLAIN, DROWNED_FEATURED = (0.05, 0.1), (0.1, 0.35)
"""Reach an item, without features and with them: up to the first, all of that; from the second
on, none. How much an item is rated says more where its year is known: old films that are still
rated are good ones. Chosen on splits 100 and up of ML-100K and of 500 and 600 people."""
WEIGHTS_LEAST, WEIGHTS_MOST = 0.12, 0.5
"""At least so much of the whole budget, but no more than so much of what is left."""
WEIGHTS_RISING = 0.16
"""The least where sums rise (`RISING_SUMS`): .12 lost .002 on the rarest fifth of items, and won
nothing in all."""
MUCH_REACH = 4000
"""From here on more sweeps pay, and item sums are released in another number."""
MOST_SUMS = 5
"""Releases of item sums below `USER_FACTORS_FROM` at the unit `user`. Each subtracts what those
before it found, and tells more of the items' weights."""
MANY_SUMS, FEW_SUMS = 3, 2
"""Otherwise, below `MUCH_REACH` and from there on."""
RISING_SUMS, RISING = 4, 1.5
"""But from there on at the unit `user`, and how many times as much each gets as the one before it:
an effect is found by sums over a weight that is hardly known for items of a hundred ratings, and
each release mends by so much. Chosen on splits 100 to 103 of ML-1M. Pure budgets have few sums:
many thin them out."""
FEW_SWEEPS, MANY_SWEEPS = 2, 3
"""Sweeps over factors, below `MUCH_REACH` and from there on."""

COLUMNS_WITHOUT_FEATURES = 3
"""User bias, popularity and popularity slope: with more columns the items have features."""
MOMENTS_SHARE = 0.03
"""Share of the moments: the covariance of factors of features, from `SMALL_REACH` on."""
WIDTHS_SHARE = 0.03
"""Share for the scales of features, a kind at a time, before item factors are learned. Chosen as
carriers were, below."""
MOST_AXES = 20
"""Of these moments: their number grows with the square."""
USER_FACTORS_FROM = 2000
"""Reach from which learned item factors pay at the unit `user`."""
USER_FACTORS_SHARE, USER_FACTORS_HALF = 0.72, 5000.0
"""Their share at most, and the reach at which they get half of it."""
COVARIANCE_BESIDE_FEATURES = 8000
"""Where items have features, the covariance pays from this reach on only."""
COVARIANCE_FEATURED, COVARIANCE_PLAIN = 0.25, 0.4
"""Part of the share of factors for the covariance, with features and without."""
USER_ROWS, RATING_ROWS = 0.1, 0.3
"""Rows of the covariance by reach (at `user` also by the root of its share)."""
LEAST_ROWS, MOST_ROWS = 50, 4_000
"""Bounds of their number."""
ALL_ROWS = 300
"""So few items may all be rows."""
ROWS_OF_ITEMS = 0.8
"""Of more items, so many at most are rows: the rest would add noise alone."""
REACH_OF_AN_AXIS = 750
"""One axis in the sweeps for each so much reach."""
LEAST_SWEPT, MOST_SWEPT = 3, 10
"""Bounds of the number of these axes."""
CARRIERS = 2
"""Of these axes, where there is no covariance to find what is new: free for a taste that no
column has. Chosen on splits 100 and 101 of ML-1M, ML-100K and invented shops."""
A_PAIR = 2
"""Items below which there is no covariance, and nobody chooses."""
RATING_FROM = 200
"""At the unit `rating`: the reach from which the covariance pays."""
RATING_SHARE, RATING_HALF = 0.7, 400.0
"""Its share there at most, and the reach at which it gets half of it."""
IMPLICIT_SHARE = 0.015
"""Share of implicit feedback. From 0.01 to 0.04 alike on ML-1M (splits 101 and 102): few numbers,
each far above the noise."""
IMPLICIT_FROM = 1500
"""The reach from which it pays, where a whole person's products are bounded; half as much counts
at the unit `rating`, where two may differ."""
REACH_OF_A_LEANING = 400
"""Reach for each direction of choice and axis of factors."""
LEAST_LEANINGS, MOST_LEANINGS = 5, 30
"""Bounds of their number: the release has half as many numbers again as its square."""
GREAT_REACH = 1e5
"""Beyond it, nothing changes: stands for infinite."""


@dataclass(frozen=True)
class Second:
    """Budget shares of the stages that learn factors, and their public sizes."""

    widths: float = 0.0
    moments: float = 0.0
    moment_axes: int = 0
    covariance: float = 0.0
    rows: int = 0
    sweeps: tuple[float, ...] = ()
    axes: int = 0
    carriers: int = 0
    implied: float = 0.0
    leanings: int = 0

    @property
    def total_share(self) -> float:
        without_sweeps = self.widths + self.moments + self.covariance
        return without_sweeps + sum(self.sweeps) + self.implied


@dataclass(frozen=True)
class BudgetSplit:
    """Shares of the budget; they add up to 1."""

    reach: float
    level: float
    weights: float
    effects: tuple[float, ...]
    choice: float
    second: Second

    def story(self) -> tuple[str, ...]:
        """Sentences about the split, for `tacit plan`."""

        def percent(share: float) -> str:
            return f"{100 * share:.0f} %"

        reach = (
            "If the whole budget bought one sum, all people together would stand out "
            f"{self.reach:.0f} times over its "
            "noise: by this number the stages are chosen."
        )
        first_sentence = (
            f"The level of all ratings takes {percent(self.level)} of the budget, item "
            f"weights {percent(self.weights)}"
            f", {len(self.effects)} releases of item sums {percent(sum(self.effects))}."
        )
        sentences = [
            reach if self.reach < inf else "Nothing is noised, so every stage is used.",
            first_sentence,
        ]
        second = self.second
        if second.widths:
            sentences.append(
                "How widely tastes for public features vary takes "
                f"{percent(second.widths)}, before they are learned."
            )
        if second.moments:
            sentences.append(
                f"How tastes for public features vary takes {percent(second.moments)}."
            )
        if second.covariance:
            sentences.append(
                f"Which of {second.rows} items are liked together takes "
                f"{percent(second.covariance)}. Where released "
                "weights say that this would drown in noise, item sums take its place at "
                "the same share: one of the "
                "two is made, never both."
            )
        if second.sweeps:
            sentences.append(
                f"{len(second.sweeps)} sweeps learn how items answer to {second.axes} "
                "axes of taste: "
                f"{percent(sum(second.sweeps))}."
            )
        if second.implied:
            sentences.append(
                "What people's choice of items says of their tastes takes "
                f"{percent(second.implied)}."
            )
        if not second.covariance and not second.sweeps:
            sentences.append(
                "Learned tastes are left out: so few people or so little budget would not "
                "pay for them."
            )
        sentences.append(f"The choice of how widely people differ takes {percent(self.choice)}.")
        return tuple(sentences)


def split(
    unit: Unit,
    people: float,
    mu: float,
    items: int,
    columns: int,
    pure: bool,
    started: bool = False,
) -> BudgetSplit:
    """Split the budget by rule.

    `columns` counts the item factors that are known before anything is released; `started` plans
    have factors from an earlier fit, which also chose their widths."""
    reach = people * mu
    level = global_mean_share(people, mu, GLOBAL_MEAN_NEED)
    after_level = 1 - level
    featured = columns > COLUMNS_WITHOUT_FEATURES
    drowned = _drowned(reach / max(items, 1), columns)
    small = unit == "user" and reach < SMALL_REACH
    scarce = small and (drowned > 0 or not featured)
    choice = (CHOICE_SMALL if scarce else CHOICE_SHARE) * after_level
    second = Second()
    if not pure:
        second = (
            _user(reach, after_level, items, columns)
            if unit == "user"
            else _rating(reach, after_level, items)
        )
        if items >= A_PAIR:
            second = _implied(second, unit, reach, after_level, items)
    if featured and second.total_share and not started:
        second = replace(second, widths=WIDTHS_SHARE * after_level)
    remaining = after_level - choice - second.total_share
    wanted_share = WEIGHTS_SHARE
    if unit == "user":
        wanted_share += WEIGHTS_DROWNED * drowned
    rising = unit == "user" and not pure and reach >= MUCH_REACH
    least_share = WEIGHTS_RISING if rising else WEIGHTS_LEAST
    weights = max(wanted_share * remaining, min(WEIGHTS_MOST * remaining, least_share))
    sums = _sums(unit, reach)
    item_biases = ((remaining - weights) / sums,) * sums
    if rising:
        item_biases = _rising_sums(remaining - weights)
    return BudgetSplit(reach, level, weights, item_biases, choice, second)


def _sums(unit: Unit, reach: float) -> int:
    """How many releases of item sums, where all are alike."""
    if unit == "user" and reach < USER_FACTORS_FROM:
        return MOST_SUMS
    return MANY_SUMS if reach < MUCH_REACH else FEW_SUMS


def _rising_sums(total: float) -> tuple[float, ...]:
    """The shares of releases of item sums, each larger than the one before it."""
    parts = [RISING**index for index in range(RISING_SUMS)]
    return tuple(total * part / sum(parts) for part in parts)


def _user(reach: float, budget: float, items: int, columns: int) -> Second:
    """The second-order stages that a whole person's data pay for."""
    featured = columns > COLUMNS_WITHOUT_FEATURES
    second = Second()
    if featured and reach >= SMALL_REACH:
        second = Second(moments=MOMENTS_SHARE * budget, moment_axes=min(columns, MOST_AXES))
    if reach < USER_FACTORS_FROM:
        return second
    tastes_share = USER_FACTORS_SHARE * budget * _rising(reach**2, USER_FACTORS_HALF**2)
    covariance = (COVARIANCE_FEATURED if featured else COVARIANCE_PLAIN) * tastes_share
    if items < A_PAIR or (featured and reach < COVARIANCE_BESIDE_FEATURES):
        covariance = 0.0
    rows = _rows(USER_ROWS * reach * sqrt(covariance), items) if covariance else 0
    times = FEW_SWEEPS if reach < MUCH_REACH else MANY_SWEEPS
    axes = np.clip(min(reach, GREAT_REACH) / REACH_OF_AN_AXIS, LEAST_SWEPT, MOST_SWEPT)
    return replace(
        second,
        covariance=covariance,
        rows=rows,
        sweeps=((tastes_share - covariance) / times,) * times,
        axes=int(axes),
        carriers=0 if covariance else CARRIERS,
    )


def _rating(reach: float, budget: float, items: int) -> Second:
    """The same for one rating: the covariance alone."""
    if reach < RATING_FROM or items < A_PAIR:
        return Second()
    share = RATING_SHARE * budget * _rising(reach, RATING_HALF)
    return Second(covariance=share, rows=_rows(RATING_ROWS * reach, items))


def _implied(second: Second, unit: Unit, reach: float, budget: float, items: int) -> Second:
    """And what choices imply, where it pays. So many items have one direction less."""
    effective_reach = reach if unit == "user" else reach / 2
    if effective_reach < IMPLICIT_FROM:
        return second
    direction_count = min(effective_reach, GREAT_REACH) / REACH_OF_A_LEANING
    directions = np.clip(direction_count, LEAST_LEANINGS, MOST_LEANINGS)
    return replace(
        second, implied=IMPLICIT_SHARE * budget, leanings=min(int(directions), items - 1)
    )


def _rising(reach: float, half: float) -> float:
    """From 0 to 1, one half at `half`."""
    return 1.0 if reach == inf else reach / (reach + half)


def _drowned(reach: float, columns: int) -> float:
    """From 1 to 0 as the reach an item grows."""
    featured = columns > COLUMNS_WITHOUT_FEATURES
    start, end = DROWNED_FEATURED if featured else DROWNED_PLAIN
    return float(np.clip((end - reach) / (end - start), 0.0, 1.0))


def _rows(rows: float, items: int) -> int:
    """How many items the covariance has; four in five at most, but few items may all be in it."""
    limit = max(min(ROWS_OF_ITEMS * items, MOST_ROWS), min(items, ALL_ROWS))
    return int(np.clip(rows, min(LEAST_ROWS, items), limit))
