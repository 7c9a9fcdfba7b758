"""How a device's unit vector reaches the server in the local model: three carriers of one message.

| carrier | sends | squared gain at epsilon 1 / 4 / 8 |
|---|---|---|
| one bit | the sign of one random direction, by randomized response | .14 / .59 / .64 |
| few bits | which of 2^b random directions is nearest, by a randomized choice | .14 / 2.2 / 6.2 |
| noise | all of the vector, with noise on every number (delta 1e-6) | .01 / .18 / .59 |

n people tell the sum of their vectors with variance n / gain^2 on every coordinate, so each
line is worth its squared gain in people. A plan says who carries what; this file turns a
vector into a round and a round's release into a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.bound import Rows
from tacit.bound.report import Replaced, Report
from tacit.methods.first_order.rounds import person_rows
from tacit.methods.refine import reports
from tacit.rounds.people import Participation, Slice
from tacit.rounds.round import AnyState, Block, Kind, Part, Released, Round

Vectors = Callable[[Block, AnyState], Rows]
"""One sparse vector a person, of norm 1; what is missing to 1 is put on the last coordinate."""
Absorb = Callable[[AnyState, NDArray[np.float64], float, int], AnyState]
"""From the estimated sum of the vectors, its standard deviation per coordinate, and the
number of people in it."""


@dataclass(frozen=True)
class Carrier:
    """`report` None sends the whole vector with noise (`pure`: Laplace), or exactly where
    there is no noise."""

    report: reports.ReportShape | None
    key: int
    """Public: the seed of all directions."""
    pure: bool = False

    def round(
        self, name: str, size: int, takes_part: Participation, vectors: Vectors, absorb: Absorb
    ) -> Round:
        """A round that carries vectors of `size` coordinates and one more for what is
        missing to norm 1."""
        if self.report is None:
            return self._vector_round(name, size, takes_part, vectors, absorb)
        report = self.report
        key = _key(self.key, name)
        part = Part(
            "report",
            size + 1,
            Report(),
            kind=Kind.REPORT,
            choices=report.choices,
            favoured=report.favoured,
        )

        def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
            from tacit.kernels.directions import favour

            rows = vectors(block, state)
            index = np.asarray(rows.index, np.uint32)
            value = np.ascontiguousarray(rows.values[:, 0])
            answers = np.empty((len(block.people), report.favoured))
            favour(block.people, rows.ptr, index, value, key, report.pairs, answers)
            return {"report": person_rows(answers)}

        def take(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            got = released["report"]
            total = directions(got.value, key, size + 1)[:size] / report.gain
            sd = float(np.sqrt(max(got.reports, 1))) / report.gain
            return absorb(state, total, sd, got.reports)

        return Round(name, (part,), contribute, take, takes_part)

    def _vector_round(
        self, name: str, size: int, takes_part: Participation, vectors: Vectors, absorb: Absorb
    ) -> Round:
        def contribute(block: Block, state: AnyState) -> Mapping[str, Rows]:
            rows = vectors(block, state)
            if not self.pure:
                return {"report": rows}
            counts = np.diff(rows.ptr)
            # An L1 norm of at most 1.
            length = np.repeat(np.sqrt(np.maximum(counts, 1)), counts)
            return {"report": Rows(rows.ptr, rows.index, rows.values / length[:, None])}

        def take(state: AnyState, released: Mapping[str, Released]) -> AnyState:
            got = released["report"]
            return absorb(state, got.value[:size, 0], got.sd, got.reports)

        # Everybody in every round: without noise only.
        share = 1.0 if isinstance(takes_part, Slice) else 0.25
        bound = Replaced(1.0, "l1" if self.pure else "l2")
        part = Part("report", size + 1, bound, share=share)
        return Round(name, (part,), contribute, take, takes_part)


def directions(reports: NDArray[np.float64], key: np.uint64, size: int) -> NDArray[np.float64]:
    """The sum of the directions that were reported: (person, answer) lines."""
    from tacit.kernels.directions import tally

    total = np.zeros(size, np.int64)
    tally(reports[:, 0].astype(np.int64), reports[:, 1].astype(np.int64), key, total)
    return total.astype(np.float64)


def padded(
    ptr: NDArray[np.int64], index: NDArray[np.integer], values: NDArray[np.float64], size: int
) -> Rows:
    """Rows scaled to norm at most 1 with one more cell each, at coordinate `size`, that
    brings the norm to 1."""
    people = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    norm = np.sqrt(np.bincount(people, values**2, len(ptr) - 1))
    scaled = values / np.maximum(norm, 1.0)[people]
    complement = np.sqrt(np.maximum(0.0, 1.0 - np.minimum(norm, 1.0) ** 2))
    ends = ptr[1:]
    return Rows(
        ptr + np.arange(len(ptr)),
        np.insert(np.asarray(index, np.uint32), ends, np.uint32(size)),
        np.insert(scaled, ends, complement)[:, None],
    )


def _key(seed: int, name: str) -> np.uint64:
    """A public key for each round of each plan."""
    rng = np.random.default_rng([seed, *name.encode()])
    return np.uint64(rng.integers(1 << 63))
