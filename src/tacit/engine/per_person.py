"""Each person alone: what somebody adds to a round follows from her own ratings and the
public state, whoever else is in her block.

Every sensitivity stands on it (docs/proofs/bounds.md, 0.1), and `Round.contribute` is free
code, so it is looked at: by tests (`tacit.testing.method`), before a fit is charged, on
invented people (`tacit.methods.rehearsal`), and in every round, on a few real ones, by the
`Witness` here. What is compared are bits: a sum over a block in another order is a
difference too, because it depends on who else is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound.base import Rows
from tacit.errors import Failure
from tacit.repr import shapes
from tacit.rounds.round import AnyState, Block, Round

STOPPED = (
    "the round {} does not compute each person alone: what somebody adds depends on who else "
    "is there, so no sum over people has a bound"
)
REMEDY = (
    "nothing was published, and what was charged stays charged. Tell whoever wrote the method; "
    "docs/adding-a-method.md says how to test it"
)


@dataclass(frozen=True)
class OnesShare:
    """What one person adds to each part of a round, and what she keeps."""

    rows: Mapping[str, Rows]
    kept: Mapping[str, NDArray[np.float64]]

    __repr__ = shapes

    def same(self, other: OnesShare) -> bool:
        """Bit for bit; one NaN is like another, since a bound makes nothing of either."""
        return all(_same_rows(self.rows[name], other.rows[name]) for name in self.rows) and all(
            _same(self.kept[name], other.kept[name]) for name in self.kept
        )


def only(block: Block, position: int) -> Block:
    """One person of a block as a block of her own, in copies that nobody else can reach."""
    start, stop = int(block.ptr[position]), int(block.ptr[position + 1])
    return Block(
        block.people[position : position + 1].copy(),
        np.array([0, stop - start], np.int64),
        block.item[start:stop].copy(),
        block.value[start:stop].copy(),
        None if block.time is None else block.time[start:stop].copy(),
        block.first_cell + start,
        {n: state_rows[position : position + 1].copy() for n, state_rows in block.personal.items()},
        block.draws,
    )


def told_by(
    round_: Round, block: Block, contribution: Mapping[str, Rows], position: int
) -> OnesShare:
    """One person's share of what her block gave. `block` is as `contribute` left it."""
    rows = {}
    for part in round_.parts:
        block_rows = contribution[part.name]
        if len(block_rows.ptr) != len(block.people) + 1:
            raise Failure(f"a contribution to {part.name} is not listed person by person")
        mine = slice(int(block_rows.ptr[position]), int(block_rows.ptr[position + 1]))
        values = np.array(block_rows.values[mine])
        ptr = np.array([0, len(values)], np.int64)
        rows[part.name] = Rows(ptr, block_rows.index[mine].copy(), values)
    personal = {
        member.name: np.array(block.personal[member.name][position]) for member in round_.personal
    }
    return OnesShare(rows, personal)


def given_by(round_: Round, block: Block, state: AnyState) -> Mapping[str, Rows]:
    """Contribution of a block, before the bound.

    Warnings of numbers that are not finite are silenced: one would reveal that somebody has such a
    number, and bounds replace it anyway."""
    with np.errstate(all="ignore"):
        return round_.contribute(block, state)


def told_alone(round_: Round, person: Block, state: AnyState) -> OnesShare | None:
    """What she adds as a block of one; None where she cannot be computed so. The block is
    used up."""
    try:
        return told_by(round_, person, given_by(round_, person, state), 0)
    except Exception:  # noqa: BLE001
        # Whatever it says may quote her ratings, and goes no further.
        return None


def is_checked(round_: Round) -> bool:
    """Whether a promise stands on this round: what a paper prints is never certified, and
    its epochs take one person after the other."""
    printed = any(part.printed is not None for part in round_.parts)
    return not printed and not round_.takes_part.printed


class Witness:
    """Checks that people contribute alone: calls `contribute` for the blocks of a round, and at the
    end once more for a few people of the first block, each in a block of her own.

    At the end, because by then all people have been seen: what a method's code keeps between two
    calls shows too. The people are chosen by row, so the choice says nothing about them."""

    def __init__(self, round_: Round, state: AnyState, *, looks: bool = True) -> None:
        self._round = round_
        self._state = state
        self._looks = looks and is_checked(round_)
        self._alone: list[Block] = []
        self._told: list[OnesShare] = []

    def contribute(self, position: int, block: Block) -> Mapping[str, Rows]:
        """What the block at this position gives."""
        if position or not self._looks:
            return given_by(self._round, block, self._state)
        positions = witness_positions(len(block.people))
        self._alone = [only(block, position) for position in positions]
        contribution = given_by(self._round, block, self._state)
        self._told = [told_by(self._round, block, contribution, position) for position in positions]
        return contribution

    def check(self) -> None:
        """Stop where somebody alone adds anything else than she did in her block. Before
        the noise is drawn, so that nothing is released."""
        for person, share in zip(self._alone, self._told, strict=True):
            share_alone = told_alone(self._round, person, self._state)
            if share_alone is None or not share.same(share_alone):
                raise Failure(STOPPED.format(self._round.name), remedy=REMEDY)


def witness_positions(people: int) -> Sequence[int]:
    """The first, the middle and the last of so many places."""
    return sorted({0, people // 2, people - 1}) if people else ()


def _same_rows(a: Rows, b: Rows) -> bool:
    return np.array_equal(a.index, b.index) and _same(a.values, b.values)


def _same(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind != "f":
        return False
    both_nan = np.isnan(a) & np.isnan(b)
    return a[~both_nan].tobytes() == b[~both_nan].tobytes()
