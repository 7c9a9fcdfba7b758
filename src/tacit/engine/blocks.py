"""Ratings in memory, cut into blocks of people.

A kernel sees some people at a time. How they are cut never changes a contribution, because
each person is computed alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tacit.data.ratings import Ratings
from tacit.rounds.people import People
from tacit.rounds.round import Block

CELLS = 1 << 16
"""Cells of a block: less than a megabyte of each working array, which stays in the cache."""
PEOPLE = 1 << 13
"""And people, at most."""
NUMBERS = 1 << 18
"""And numbers of one line a person: some rounds have a line of a thousand numbers of each. Few
enough that lines are still in the cache when they are summed."""
FINGERPRINT = 1000
"""About so many ids tell one set of people from another."""

Piece = NDArray[np.int64] | slice
"""The people of a block: a slice where nobody between is left out, so nothing is copied."""
Arrays = Mapping[str, NDArray[np.float64]]
NOTHING: Arrays = MappingProxyType({})


def most_people(width: int) -> int:
    """Of a block, where a person has a line of so many numbers."""
    return max(1, min(PEOPLE, NUMBERS // width))


def cut(ratings: Ratings, people: People, width: int = 1) -> Iterator[Piece]:
    """Runs of people with about CELLS cells each, PEOPLE of them at most, and fewer where a line
    has a `width` of many numbers."""
    ptr = ratings.ptr
    people_limit = most_people(width)
    if people is None:
        cuts = np.searchsorted(ptr, np.arange(0, ptr[-1], CELLS), side="left")
        steps = np.arange(0, len(ptr) - 1, people_limit)
        edges = np.unique(np.concatenate([[0], cuts, steps, [len(ptr) - 1]]))
        yield from (slice(int(a), int(b)) for a, b in pairwise(edges))
    elif len(people):
        sizes = np.cumsum((ptr[1:] - ptr[:-1])[people])
        cuts = np.searchsorted(sizes, np.arange(CELLS, sizes[-1], CELLS))
        steps = np.arange(people_limit, len(people), people_limit)
        edges = np.unique(np.concatenate([cuts, steps]))
        yield from (part for part in np.split(people, edges) if len(part))


def singly(ratings: Ratings, people: People) -> Iterator[Piece]:
    """Every person a block of her own, as devices are."""
    rows = range(ratings.n_users) if people is None else people.tolist()
    return (slice(person, person + 1) for person in rows)


def block_of(
    ratings: Ratings, piece: Piece, personal: Arrays = NOTHING, draws: Arrays = NOTHING
) -> Block:
    """Some people as a kernel sees them: values on the inner scale, their own rows of
    personal state."""
    first_cell = 0
    cells: Piece
    if isinstance(piece, slice):
        rows = np.arange(piece.start, piece.stop, dtype=np.int64)
        first_cell = int(ratings.ptr[piece.start])
        cells = slice(first_cell, int(ratings.ptr[piece.stop]))
        ptr = ratings.ptr[piece.start : piece.stop + 1] - first_cell
    else:
        rows = piece
        counts = np.diff(ratings.ptr)[piece]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        cells = np.repeat(ratings.ptr[piece] - ptr[:-1], counts) + np.arange(ptr[-1])
    schema = ratings.schema
    value = (ratings.value[cells].astype(np.float64) - schema.middle) / schema.unit_width
    time = ratings.time[cells] if ratings.time is not None else None
    # A copy: through a view a kernel could reach what others keep.
    state_rows = {name: np.array(state[piece]) for name, state in personal.items()}
    return Block(rows, ptr, ratings.item[cells], value, time, first_cell, state_rows, draws)


def fingerprint(ratings: Ratings) -> bytes:
    """Bytes that differ between data sets; the ledger stores only a keyed digest of them."""
    stride = max(1, len(ratings.users) // FINGERPRINT)
    return "\n".join(list(ratings.users)[::stride]).encode()
