"""Public people as a prior: their ratings fitted without noise, which nothing has to pay for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.data.catalogue import Catalogue
from tacit.data.public import PublicPeople
from tacit.data.ratings import Ratings
from tacit.errors import DataError, SettingError
from tacit.methods.refine.public_prior import Known
from tacit.model.person.gaussian import NOISE

if TYPE_CHECKING:
    from tacit.data.held_out import HeldOut
    from tacit.engine.spark.table import SparkRatings
    from tacit.fitting.order import Order
    from tacit.methods.noiseless.variational import Fitted

METHODS = ("bayes",)
"""That can make use of them."""
LEAST_PEOPLE = 10
"""Fewer say nothing of tastes."""
PASSES = 12
"""Over their ratings: the error is flat from here on (`tacit.methods.noiseless.variational`)."""
SHOWN, MOST_USER_FACTORS = 0.001, 12
"""Tastes whose loadings have at least this mean square over ratings are taken, and at most so
many: as many numbers as the moments of `bayes` can scale."""


def check_public(order: Order, people: PublicPeople) -> None:
    """Refuse, before a private rating is read, what public people cannot be used for."""
    method = order.method.name
    if method not in METHODS or order.calibration != "sound":
        raise SettingError(
            f"{method} ({order.calibration}) makes no use of public people",
            remedy="use --method bayes, or leave --public out",
        )
    if order.engine != "threads":
        raise SettingError(
            f"the engine {order.engine} does not hand public people to its devices",
            remedy="use --engine threads, or leave --public out",
        )
    if order.start is not None:
        raise SettingError(
            "--start brings a prior of its own",
            remedy="give --public to the first fit, and start later ones from that",
        )
    if people.ratings.schema.positive is not None:
        raise SettingError(
            "public people rate, and likes are no ratings",
            remedy="read their ratings without --positive, or leave --public out",
        )
    if people.ratings.n_users < LEAST_PEOPLE:
        raise DataError(
            f"there are {people.ratings.n_users} public people",
            remedy=f"give {LEAST_PEOPLE} or more, or leave --public out",
        )


def check_beside(people: PublicPeople, private: Ratings | SparkRatings) -> None:
    """Refuse public people beside ratings that are theirs, or that are none."""
    if isinstance(private, Ratings) and people.ratings.value is private.value:
        raise SettingError(
            "the public people are the private ones: nothing of them would be protected",
            remedy="give ratings of people who are public, or leave --public out",
        )
    if private.schema.positive is not None:
        raise SettingError(
            "public people rate, and --positive leaves no ratings",
            remedy="leave --public or --positive out",
        )


def known_of(people: PublicPeople, catalogue: Catalogue, held_out: HeldOut | None = None) -> Known:
    """Prior that public people's ratings give of the items of a catalogue.

    Ratings of other items are left out, and cells that are `held_out`: somebody may have the same
    id in both tables, and the fit must not see here what is hidden from it there."""
    from tacit.methods.noiseless.variational import fit_gaussian

    ratings = people.ratings if held_out is None else held_out.training_ratings(people.ratings)
    rows = np.array([catalogue.index.get(name, -1) for name in ratings.items], np.int64)
    rated = ratings.take(rows[ratings.item] >= 0)
    if not len(rated):
        raise DataError(
            "public people rated none of the items of the catalogue",
            remedy="check that both files name items alike, or leave --public out",
        )
    schema = ratings.schema
    item = rows[rated.item].astype(np.uint32)
    value = (rated.value.astype(np.float64) - schema.middle) / schema.unit_width
    # Rows of a person ascend in the order of the catalogue.
    order = np.lexsort((item, rated.user))
    fitted = fit_gaussian(rated.ptr, item[order], value[order], len(catalogue), None, passes=PASSES)
    count = np.bincount(item, minlength=len(catalogue)).astype(np.float64)
    return _build_prior(fitted, count, people.description)


def _build_prior(fitted: Fitted, count: NDArray[np.float64], description: str) -> Known:
    level = float(fitted.baseline @ count / count.sum())
    log = np.log(count + 0.5)
    item_factors = fitted.loadings[:, 1:] * np.sqrt(NOISE / fitted.noise)
    strength = count @ item_factors**2 / count.sum()
    best = np.argsort(-strength, kind="stable")[:MOST_USER_FACTORS]
    strong = best[strength[best] > SHOWN]
    return Known(
        fitted.baseline - level,
        fitted.variance / max(float(fitted.variance.max()), 1e-12),
        (log - log.mean()) / max(float(log.std()), 1e-12),
        np.ascontiguousarray(item_factors[:, strong]),
        description,
    )
