"""Over which items a fit is: a public catalogue, that of the model it starts from, or the ids
that stand in the ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.engine.base import Engine
from tacit.fitting.order import Order
from tacit.fitting.start import both_catalogues

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.engine.spark.table import SparkRatings


def align(
    order: Order,
    schema: Schema,
    ratings: Ratings | SparkRatings,
    items: Catalogue | None,
    engine: Engine,
) -> Catalogue:
    """The catalogue of the fit; the engine's ratings are put over its rows."""
    catalogue = items or Catalogue(ratings.items)
    if order.start is not None:
        start = order.start.shared
        catalogue = both_catalogues(order.method, schema, start, items, ratings)
    engine.align(catalogue)
    return catalogue
