"""What one person adds to a Gram of likes: what popularity does not say of them already.

A row of likes x is mostly popularity, which is released before. Along the unit vector p of the
popularity of the most liked items it has the length c = x.p, and the rest y = x - c p is what
is multiplied: p is known, so the noise covers only what is not. What was taken off is given
back as c^2 p p', from one released number: everybody's c^2 in the same units as her products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.repr import shapes
from tacit.rounds.round import Block

Floats = NDArray[np.float64]

WORK = 6e9
"""Products of two cells that a Gram may take, which is some seconds: p is over so few of the
most liked items that everybody's rows stay as short as that."""
OFFSET = 0.1
"""In the length of a person's row: keeps the weight of people with few likes finite. Chosen
on splits of ML-1M that are not reported (seen: .1 and .5)."""


@dataclass(frozen=True, eq=False)
class Common:
    """The unit vector p, over some of the rows of a matrix."""

    rows: NDArray[np.int64]
    """Ascending."""
    along: Floats
    """p of each of these."""
    size: int
    """Rows of the matrix."""

    def all_rows(self) -> Floats:
        """p over all rows of the matrix."""
        out = np.zeros(self.size)
        out[self.rows] = self.along
        return out


def common_part(weight: Floats, people: float) -> Common:
    """p from the popularity of the rows of a matrix, over as many of them as `WORK` allows."""
    size = len(weight)
    row_count = int(np.clip(np.sqrt(WORK / max(people, 1.0)), 1, size))
    rows = np.sort(np.argsort(-weight, kind="stable")[:row_count])
    length = np.sqrt((weight[rows] ** 2).sum())
    along = weight[rows] / length if length > 0 else np.zeros(row_count)
    return Common(rows, np.asarray(along, np.float64), size)


@dataclass(frozen=True, eq=False)
class CentredLikes:
    """A block's contributions."""

    rest: Rows
    """Everybody's y over its length."""
    along: Floats
    """Everybody's c^2 over the same length squared."""

    __repr__ = shapes


def centred_likes(block: Block, index: NDArray[np.uint32], common: Common) -> CentredLikes:
    """Each person alone; `index` is the row of each of the block's cells, the matrix's size for
    cells outside it."""
    people = len(block.people)
    person = np.repeat(np.arange(people), np.diff(block.ptr))
    inside = index < common.size
    person, liked = person[inside], index[inside].astype(np.int64)
    slot = np.full(common.size, -1, np.int64)
    slot[common.rows] = np.arange(len(common.rows))
    column = slot[liked]
    shared = column >= 0
    # |x - c p|^2 = |x|^2 - c^2, as p has length 1 and c = x.p.
    # Of no cells at all numpy counts in integers, which have no -0.
    length = np.bincount(person[shared], common.along[column[shared]], minlength=people).astype(
        np.float64
    )
    count = np.bincount(person, minlength=people)
    scale = 1.0 / np.sqrt(np.maximum(count - length**2, 0.0) + OFFSET)
    dense = -length[:, None] * common.along
    dense[person[shared], column[shared]] += 1.0
    dense *= scale[:, None]
    rows = _merged(dense, common.rows, person[~shared], liked[~shared], scale)
    return CentredLikes(rows, (length * scale) ** 2)


def _merged(
    dense: Floats,
    columns: NDArray[np.int64],
    person: NDArray[np.int64],
    other_likes: NDArray[np.int64],
    scale: Floats,
) -> Rows:
    """The dense part of each row, and behind it the person's other likes."""
    people, width = dense.shape
    other_counts = np.bincount(person, minlength=people)
    ptr = np.concatenate([[0], np.cumsum(width + other_counts)]).astype(np.int64)
    index = np.empty(ptr[-1], np.int64)
    value = np.empty(ptr[-1])
    at = ptr[:-1, None] + np.arange(width)
    index[at] = columns
    value[at] = dense
    # Cells come in the order of the people: the k-th of a person goes k behind her dense part.
    offsets = np.concatenate([[0], np.cumsum(other_counts)])[:-1]
    behind = ptr[person] + width + np.arange(len(person)) - offsets[person]
    index[behind] = other_likes
    value[behind] = scale[person]
    return Rows(ptr, index, value[:, None])
