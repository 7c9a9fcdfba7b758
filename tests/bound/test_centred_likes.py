"""Likes without what popularity says of them: what one person may add, hunted, and what it
must be (docs/proofs/covariance.md, 11)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.bound import FactorGram, RowClip
from tacit.bound.base import Rows
from tacit.methods.item_item import ease
from tacit.methods.item_item.ease import ROW_OFFSET, Common, centred_likes, common_part
from tacit.rounds.round import Block

SIZE = 40
Floats = NDArray[np.float64]


def block(likes: NDArray[np.bool_]) -> tuple[Block, NDArray[np.uint32]]:
    """People who like items of the matrix (columns), and one item outside it."""
    count = likes.sum(axis=1) + 1
    ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    index = np.concatenate([np.r_[np.flatnonzero(row), SIZE] for row in likes])
    people = np.arange(len(likes))
    cells = index.astype(np.uint32)
    return Block(people, ptr, cells, np.ones(len(index))), cells


def crowd(seed: int) -> tuple[NDArray[np.bool_], Floats]:
    """People of every kind, the worst among them: likers of the best known items alone."""
    rng = np.random.default_rng(seed)
    weight = np.exp(rng.normal(0, rng.choice([0.1, 1.0, 3.0]), SIZE))
    order = np.argsort(-weight)
    likes = rng.random((30, SIZE)) < rng.random((30, 1))
    for count in range(10):
        likes[count] = False
        likes[count, order[:count]] = True
    likes[10] = True
    return likes, weight


def dense(rows: Rows, size: int) -> Floats:
    """One line a person."""
    out = np.zeros((len(rows.ptr) - 1, size))
    person = np.repeat(np.arange(len(out)), np.diff(rows.ptr))
    np.add.at(out, (person, rows.index.astype(np.int64)), rows.values[:, 0])
    return out


def plain(likes: NDArray[np.bool_], common: Common) -> tuple[Floats, Floats]:
    """The same in three lines: y over the root of |y|^2 + offset, and c^2 over that."""
    along = likes @ common.all_rows()
    rest = likes - along[:, None] * common.all_rows()
    squared = (rest**2).sum(axis=1) + ROW_OFFSET
    return rest / np.sqrt(squared)[:, None], along**2 / squared


@pytest.mark.parametrize("reach", [SIZE, 7, 1])
def test_rows_are_what_they_are_said_to_be(reach: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Popularity over all items of the matrix, or over a few of them."""
    monkeypatch.setattr(ease, "WORK", 100.0 * reach**2)
    for seed in range(20):
        likes, weight = crowd(seed)
        common = common_part(weight, 100)
        assert len(common.rows) == reach
        made = centred_likes(*block(likes), common)
        rest, along = plain(likes, common)
        np.testing.assert_allclose(dense(made.rest, SIZE), rest, atol=1e-12)
        np.testing.assert_allclose(made.along, along, rtol=1e-9)


def test_no_person_moves_a_sum_beyond_its_bound() -> None:
    """In the integers that an engine sums; the hunt comes close to what is charged."""
    gram, clip = FactorGram(), RowClip(1.0)
    limits = [gram.sensitivity("user").l2, clip.sensitivity("user").l2]
    most = [0.0, 0.0]
    for seed in range(200):
        likes, weight = crowd(seed)
        made = centred_likes(*block(likes), common_part(weight, 100))
        q = gram.apply(made.rest)
        whole = dense(Rows(made.rest.ptr, made.rest.index, q), SIZE)
        squared = (whole**2).sum(axis=1)
        # Strictly above the diagonal: (|q|^4 - sum q^4)/2.
        upper = np.sqrt((squared**2 - (whole**4).sum(axis=1)) / 2)
        along = clip.apply(Rows.one_each(made.along))
        most = [max(most[0], float(upper.max())), max(most[1], float(np.abs(along).max()))]
    assert most[0] <= limits[0]
    assert most[1] <= limits[1]
    assert most[0] > 0.9 * limits[0]
    assert most[1] > 0.999 * limits[1]


def test_each_person_is_computed_alone() -> None:
    """Bit for bit, whatever the block."""
    likes, weight = crowd(3)
    common = common_part(weight, 100)
    together = centred_likes(*block(likes), common)
    for person in range(len(likes)):
        alone = centred_likes(*block(likes[person : person + 1]), common)
        cells = slice(*together.rest.ptr[person : person + 2])
        assert np.array_equal(together.rest.values[cells], alone.rest.values)
        assert together.along[person] == alone.along[0]


def test_nothing_known_takes_nothing_off() -> None:
    likes, _ = crowd(1)
    made = centred_likes(*block(likes), common_part(np.zeros(SIZE), 100))
    assert not made.along.any()
    count = likes.sum(axis=1)
    rows = likes / np.sqrt(count + ROW_OFFSET)[:, None]
    np.testing.assert_allclose(dense(made.rest, SIZE), rows)


def test_who_likes_nothing_of_the_matrix_adds_the_same_alone() -> None:
    """To the last bit, the sign of 0 included: a fit stops where somebody does not."""
    likes = np.zeros((3, SIZE), bool)
    likes[1, :4] = True
    common = common_part(np.arange(1.0, SIZE + 1), 3.0)
    together = centred_likes(*block(likes), common)
    for person in (0, 2):
        alone = centred_likes(*block(likes[person : person + 1]), common)
        mine = together.rest.values[together.rest.ptr[person] :][:SIZE]
        assert alone.rest.values.tobytes() == mine.tobytes()
        assert alone.along.tobytes() == together.along[person].tobytes()
