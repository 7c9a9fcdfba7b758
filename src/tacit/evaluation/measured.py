"""One model against one split: predictions, lists and intervals, kept person by person.

Everything else (means, spreads, intervals, who pays) is made from these numbers afterwards,
so that a cell can be read again and compared with cells that came later.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.evaluation.lists import lists_of, looks
from tacit.evaluation.metrics import Ranking
from tacit.evaluation.prepared import FIFTHS, Prepared
from tacit.model.person.base import Own, PersonalModel
from tacit.repr import shapes

if TYPE_CHECKING:
    from tacit.data.schema import Schema

Floats = NDArray[np.float64]
PLACES = (10, 20)
"""Lists are judged at these lengths."""
LONGEST = 30
"""And compared with the twin's at this one, as Xian et al. do."""
INSIDE = {50: 0.6744897501960817, 80: 1.2815515655446004, 95: 1.959963984540054}
"""Per cent of an interval, and how many standard errors it reaches to each side."""
STEPS = 40
"""Of the error CDF, over the width of the scale."""
TRIED = 100
"""People on whom intervals are tried where a model has no compiled answer for all."""


@dataclass(frozen=True, eq=False)
class Sums:
    """A metric person by person: `root` or not of sum / count."""

    row: NDArray[np.integer[Any]]
    """Who: rows of the whole data."""
    total: Floats
    count: Floats
    root: bool = False

    __repr__ = shapes

    def value(self) -> float | None:
        """Over all people."""
        count = float(self.count.sum())
        ratio = float(self.total.sum()) / count if count else np.nan
        if not np.isfinite(ratio):
            return None
        return float(np.sqrt(ratio)) if self.root else ratio

    def pull(self) -> Floats:
        """How far each person moves the value: its first derivative, so that the sum of
        squares is the variance over people."""
        count = max(float(self.count.sum()), 1.0)
        ratio = float(self.total.sum()) / count
        slope = 0.5 / max(np.sqrt(ratio), 1e-12) if self.root else 1.0
        return slope * (self.total - ratio * self.count) / count


@dataclass(frozen=True, eq=False)
class Measured:
    """What was found of one model."""

    arrays: Mapping[str, NDArray[Any]]
    numbers: Mapping[str, float | None] = field(default_factory=dict)

    __repr__ = shapes

    def to_json(self) -> dict[str, Any]:
        """For the file of a cell."""
        return {
            "arrays": {name: pack_array(array) for name, array in self.arrays.items()},
            "numbers": dict(self.numbers),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Measured:
        """From the file of a cell."""
        arrays = {name: unpack_array(array) for name, array in stored["arrays"].items()}
        return cls(arrays, stored["numbers"])

    @property
    def sums(self) -> dict[str, Sums]:
        """Every metric that is a mean over people or ratings."""
        return self._errors | self._sums

    @cached_property
    def _errors(self) -> dict[str, Sums]:
        if "asked" not in self.arrays:
            return {}
        row = self.arrays["row"]
        counts = _double(self.arrays["asked"])
        sums = {
            "rmse": Sums(row, _double(self.arrays["squared"]), counts, True),
            "mae": Sums(row, _double(self.arrays["absolute"]), counts),
        }
        for share in INSIDE:
            inside = self.arrays.get(f"inside{share}")
            if inside is not None:
                tried = _double(self.arrays["tried"])
                sums[f"inside{share}"] = Sums(row, _double(inside), tried)
        return sums

    @cached_property
    def _sums(self) -> dict[str, Sums]:
        if "lists" not in self.arrays:
            return {}
        row = self.arrays["listed"]
        ones = np.ones(len(row))
        metrics = self.ranking.all_metrics(*PLACES)
        for name in ("novelty", "popularity_lift"):
            for length in PLACES:
                metrics[f"{name}@{length}"] = _double(self.arrays[f"{name}@{length}"])
        return {name: Sums(row, values, ones) for name, values in metrics.items()}

    @cached_property
    def ranking(self) -> Ranking:
        """The lists beside what was relevant; what they hit is known already."""
        hits = np.unpackbits(self.arrays["hits"], axis=1)
        lists = self.arrays["lists"].astype(np.int32)
        relevant = self.arrays["relevant"]
        ptr = np.concatenate([[0], np.cumsum(relevant)]).astype(np.int64)
        ranking = Ranking(lists, ptr, np.zeros(0, np.uint32))
        # A cached property, filled by hand: the items themselves are not kept.
        ranking.__dict__["hits"] = hits[:, : lists.shape[1]].astype(np.bool_)
        return ranking


def measured(
    personal: PersonalModel, on: Prepared, *, lists: bool = True, threads: int = 1
) -> Measured:
    """Judge one model; `lists` false for one that cannot order items. What is found does not
    depend on `threads`."""
    arrays: dict[str, NDArray[Any]] = {}
    numbers: dict[str, float | None] = {}
    if on.rated and personal.ranks_by != "score" and len(on.query_rows):
        arrays |= _predictions(personal, on, threads)
    if lists and len(on.listed):
        top_lists = lists_of(personal, on, LONGEST)
        ranking = Ranking(top_lists, on.relevant_ptr, on.relevant_item)
        small = np.int16 if on.split.train.n_items < 2**15 else np.int32
        arrays |= {
            "listed": on.people[on.listed],
            "lists": top_lists.astype(small),
            "hits": np.packbits(ranking.hits, axis=1),
            "relevant": ranking.relevant.astype(np.int32),
            "listed_given": np.diff(on.own.ptr).astype(np.int32),
        }
        arrays |= _found_by_fifth(ranking, on)
        list_arrays, numbers = looks(top_lists, on, PLACES)
        arrays |= list_arrays
    return Measured(arrays, numbers)


def _answers(personal: PersonalModel, on: Prepared, threads: int) -> tuple[Floats, Floats | None]:
    """All predictions; people over threads, some at a time."""

    def predict(ends: tuple[int, int]) -> tuple[Floats, Floats | None]:
        return personal.predict_cells_error(on.cells(*ends))

    shares = on.shares(threads)
    if len(shares) == 1:
        return predict(shares[0])
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        predictions = list(pool.map(predict, shares))
    errors = [sd for _, sd in predictions if sd is not None]
    mean = np.concatenate([means for means, _ in predictions])
    return mean, np.concatenate(errors) if len(errors) == len(predictions) else None


def _predictions(personal: PersonalModel, on: Prepared, threads: int) -> dict[str, NDArray[Any]]:
    test = on.split.test
    schema = test.schema
    mean, sd = _answers(personal, on, threads)
    predicted = schema.middle + schema.unit_width * mean
    error = np.clip(predicted, schema.low, schema.high) - test.value
    complete = np.isfinite(error).all()
    if not complete:
        # A method may not improve by staying silent: nothing is known of it.
        return {}
    rows = on.query_rows
    starts = test.ptr[rows]
    absolute = np.abs(error)
    squared = error * error
    out: dict[str, NDArray[Any]] = {
        "row": on.people[rows],
        "given": np.diff(on.split.fold_in.ptr)[rows].astype(np.int32),
        "asked": np.diff(test.ptr)[rows].astype(np.int32),
        "squared": _by_person(squared, starts),
        "absolute": _by_person(absolute, starts),
        "cdf": _cdf(absolute, schema),
        "fifth_errors": _by_fifth(on, squared, absolute),
    }
    if sd is None:
        predicted, sd = _tried(personal, on)
    else:
        predicted = mean
    return out | _inside(predicted, sd, on)


def _by_person(values: Floats, starts: NDArray[np.int64]) -> NDArray[Any]:
    """Sums over the cells of each person who was asked; single precision is kept."""
    return np.add.reduceat(values, starts).astype(np.float32)


def _cdf(absolute: Floats, schema: Schema) -> NDArray[np.int64]:
    """Ratings missed by at most k/40 of the scale, k = 0 to 40."""
    step = (schema.high - schema.low) / STEPS
    # A miss of exactly a step counts as within it, whatever the last bit says.
    bins = np.ceil(absolute / step - 1e-9).astype(np.int64)
    counts = np.bincount(np.clip(bins, 0, STEPS), minlength=STEPS + 1)
    return np.cumsum(counts)


def _by_fifth(on: Prepared, squared: Floats, absolute: Floats) -> Floats:
    """Rows: ratings, squared and absolute errors; columns: fifths of items."""
    fifth = on.queried_fifth
    return np.stack(
        [
            on.queried_by_fifth,
            np.bincount(fifth, squared, FIFTHS),
            np.bincount(fifth, absolute, FIFTHS),
        ]
    )


def _found_by_fifth(ranking: Ranking, on: Prepared) -> dict[str, NDArray[Any]]:
    """At each length, rows: relevant items, those found, places of lists; columns: fifths."""
    relevant = np.bincount(on.fifth[on.relevant_item], minlength=FIFTHS)
    out: dict[str, NDArray[Any]] = {}
    for length in PLACES:
        listed = ranking.lists[:, :length]
        hits = ranking.hits[:, :length]
        hit_counts = np.bincount(on.fifth[listed[hits]], minlength=FIFTHS)
        listed_counts = np.bincount(on.fifth[listed[listed >= 0]], minlength=FIFTHS)
        out[f"fifth_found@{length}"] = np.stack([relevant, hit_counts, listed_counts])
    return out


def _inside(mean: Floats, sd: Floats, on: Prepared) -> dict[str, NDArray[Any]]:
    """How many held-back ratings of each person lie within intervals of each width."""
    if not np.isfinite(sd).any():
        return {}
    test = on.split.test
    schema = test.schema
    actual = (test.value - schema.middle) / schema.unit_width
    with np.errstate(invalid="ignore"):
        off = np.abs(actual - mean) / sd
    starts = test.ptr[on.query_rows]
    finite = np.isfinite(off)
    if not finite.any():
        return {}
    counts = {
        f"inside{share}": _by_person((off <= reach).astype(np.float64), starts)
        for share, reach in INSIDE.items()
    }
    return counts | {"tried": _by_person(finite.astype(np.float64), starts)}


def _tried(personal: PersonalModel, on: Prepared) -> tuple[Floats, Floats]:
    """Means and standard errors for the first people who are asked; NaN for all others."""
    test = on.split.test
    mean = np.full(len(test), np.nan)
    sd = mean.copy()
    for row in on.query_rows[:TRIED].tolist():
        user_ratings: Own
        user_ratings, ask = on.cells(row, row + 1).person(0)
        start = int(test.ptr[row])
        span = slice(start, start + len(ask))
        all_mean, all_sd = personal.predict(user_ratings)
        mean[span], sd[span] = all_mean[ask], all_sd[ask]
    return mean, sd


def _double(array: NDArray[Any]) -> Floats:
    return array.astype(np.float64)


# Arrays in JSON: small, exact, and the same bytes for the same numbers.


def pack_array(array: NDArray[Any]) -> dict[str, Any]:
    """An array as JSON can hold it."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    # Fractions do not get smaller, and every cell is packed: the fastest level for the rest.
    level = 1 if plain.dtype.kind in "iu" else 0
    data = zlib.compress(plain.tobytes(), level)
    return {
        "dtype": plain.dtype.str,
        "shape": list(plain.shape),
        "data": base64.b64encode(data).decode(),
    }


def unpack_array(packed: Mapping[str, Any]) -> NDArray[Any]:
    """The array that `pack` wrote."""
    data = zlib.decompress(base64.b64decode(packed["data"]))
    return np.frombuffer(data, dtype=packed["dtype"]).reshape(packed["shape"])
