"""Public item features as a matrix of comparable columns: tags, years, numbers.

Columns are centred and of about unit variance, so one prior fits all. Years and numbers
enter by rank, so a wild or mistyped value moves nothing; what is unknown sits at the
centre. Nothing private is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TAG = 0
YEAR = 1
NUMBER = 2
MOST_TAGS = 40
MOST_NUMBERS = 12
"""More columns than this become that many principal components: the personal model solves a
system of this size."""
RARE = 0.25
"""Floor of a tag's standard deviation: a tag on one item in a thousand must not become a
value of thirty."""
YEAR_DEGREE = 3


@dataclass(frozen=True)
class Design:
    """Public features of the items as the columns of a matrix."""

    matrix: NDArray[np.float64]
    """Items x columns."""
    kind: NDArray[np.int64]
    """TAG, YEAR or NUMBER of each column."""

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])


def design(
    items: int,
    years: NDArray[np.int32] | None = None,
    tagged: NDArray[np.uint8] | None = None,
    numeric: NDArray[np.float32] | None = None,
) -> Design:
    """The matrix of whatever is given; columns that say nothing (constant, or all unknown)
    are dropped.

    `years` are 0 where unknown, `numeric` NaN where unknown.
    """
    parts: list[tuple[int, NDArray[np.float64]]] = []
    if tagged is not None:
        parts.append((TAG, _tags(np.asarray(tagged, dtype=np.float64))))
    if years is not None:
        parts.append((YEAR, _years(np.where(np.asarray(years) > 0, years, np.nan))))
    if numeric is not None:
        columns = [_ranks(column)[:, None] for column in np.asarray(numeric, dtype=np.float64).T]
        parts.append((NUMBER, _compress(_stack(items, columns), MOST_NUMBERS)))
    matrix = _stack(items, [block for _, block in parts])
    kind = [np.full(block.shape[1], name, dtype=np.int64) for name, block in parts]
    return Design(
        np.ascontiguousarray(matrix), np.concatenate(kind) if kind else np.zeros(0, dtype=np.int64)
    )


def _stack(items: int, blocks: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    full = np.concatenate([np.zeros((items, 0)), *blocks], axis=1)
    varying: NDArray[np.float64] = full[:, np.ptp(full, axis=0) > 1e-9] if items else full
    return varying


def _tags(tagged: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(tagged):
        return tagged
    centred = (tagged - tagged.mean(axis=0)) / np.maximum(tagged.std(axis=0), RARE)
    return _compress(_stack(len(tagged), [centred]), MOST_TAGS)


def _ranks(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mid-ranks on [-sqrt 3, sqrt 3] (unit variance), 0 where unknown; all 0 if nothing varies."""
    is_known = np.isfinite(column)
    result = np.zeros(len(column))
    uniques = np.unique(column[is_known], return_inverse=True, return_counts=True)
    inverse, counts = uniques[1], uniques[2]
    if len(counts) > 1:
        middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        result[is_known] = np.sqrt(12.0) * (middle[inverse] - 0.5)
    return result


def _years(years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Legendre polynomials of the rank: a smooth, orthogonal basis of unit variance."""
    ranks = _ranks(years)
    basis = np.polynomial.legendre.legvander(ranks / np.sqrt(3.0), YEAR_DEGREE)[:, 1:]
    basis *= np.sqrt(2.0 * np.arange(1, YEAR_DEGREE + 1) + 1.0)
    basis[~np.isfinite(years)] = 0.0
    return _stack(len(years), [basis])


def _compress(columns: NDArray[np.float64], limit: int) -> NDArray[np.float64]:
    """The leading principal components, at their own scale, where there are more than
    `limit` columns."""
    if columns.shape[1] <= limit:
        return columns
    _, vectors = np.linalg.eigh(columns.T @ columns)
    leading = vectors[:, ::-1][:, :limit]
    scores = columns @ leading
    result: NDArray[np.float64] = scores / np.maximum(scores.std(axis=0).max(), 1e-12)
    return result
