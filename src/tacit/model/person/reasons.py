"""A prediction in terms of what is public about the item: the person's taste for its tags
and its time.

The person's own shifts of all items (prediction less what everybody would be told) are
regressed on the public features by a ridge; the item's features times these tastes is the
part of its shift that features account for. Personal: computed for one person from the
published model and her own ratings, and released to nobody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.kernels.fixed_order import product, solve
from tacit.model.person.base import Own, PersonalModel, answering, sensible
from tacit.model.person.results import Share

RIDGE = 5.0
"""Penalty of the regression, in items."""
STEP_OF_TIME = 20.0
"""Years that count as one step of time."""


def shares_of_features(
    personal: PersonalModel, catalogue: Catalogue, user_ratings: Own, row: int, scale: float
) -> tuple[Share, ...]:
    """The same in rating points, of which the inner scale has `scale` to a unit; none for a
    model that does not rate, nor without own ratings."""
    rates = personal.ranks_by == "rating"
    if not catalogue.has_features or not rates or not len(user_ratings.items):
        return ()
    nobody = Own(user_ratings.items[:0], user_ratings.values[:0])
    with answering():
        shift = personal.predict(user_ratings)[0] - personal.predict(nobody)[0]
        sensible(shift)
        shares = by_features(catalogue, shift, row)
    return tuple(Share(share.name, scale * share.points) for share in shares)


def by_features(catalogue: Catalogue, shift: NDArray[np.float64], row: int) -> list[Share]:
    """Points of the shift for each feature that the item has, strongest first; none
    without features."""
    names: list[str] = []
    columns: list[NDArray[np.float64]] = []
    if catalogue.tagged is not None:
        names += list(catalogue.tags)
        columns += list(catalogue.tagged.astype(np.float64).T)
    if catalogue.years is not None and (catalogue.years > 0).any():
        has_year = catalogue.years > 0
        middle = float(np.median(catalogue.years[has_year]))
        names.append("its year")
        columns.append(np.where(has_year, (catalogue.years - middle) / STEP_OF_TIME, 0.0))
    if not columns:
        return []
    matrix = np.column_stack(columns)
    centred = matrix - matrix.mean(axis=0)
    system = product(centred.T, centred) + RIDGE * np.eye(len(names))
    taste = solve(system, product(centred.T, shift - shift.mean()))
    points = centred[row] * taste
    has = np.flatnonzero(matrix[row])
    shares = (Share(names[i], float(points[i])) for i in has)
    return sorted(shares, key=lambda share: -abs(share.points))
