"""Blank what is noised, at the one place where it becomes public.

Two neighbouring files release different noisy sums, and all that follows from those differs.
So the first run is recorded and the second is given the first one's released arrays in place
of its own: what then still differs came around the noise. Nothing after the release needs to
be blanked, not even the arrays of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from tacit.data import apart
from tacit.engine import memory
from tacit.rounds.loop import Loop
from tacit.rounds.round import Released, Round

Release = tuple[str, Mapping[str, Released]]


@dataclass
class Tape:
    """All releases of one run, in order."""

    releases: list[Release] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)
    """What is public of a release besides its noised numbers, and differs."""


class _SameWords:
    """Secret coins that both runs toss alike: a mixture over coins is no easier to tell
    apart than its worst part."""

    def words(self, n: int) -> np.ndarray:
        return np.random.default_rng(1).integers(0, 2**64, n, np.uint64)


@contextmanager
def record() -> Iterator[Tape]:
    """Keep what every round releases."""
    tape = Tape()
    original = Loop.absorb

    def absorb(
        self: Loop, round_: Round, released: Mapping[str, Released]
    ) -> None:
        tape.releases.append((round_.name, released))
        original(self, round_, released)

    with _patched(absorb):
        yield tape


@contextmanager
def play(tape: Tape) -> Iterator[None]:
    """Give every round what the recorded one released."""
    left = iter(tape.releases)
    original = Loop.absorb

    def absorb(
        self: Loop, round_: Round, released: Mapping[str, Released]
    ) -> None:
        name, kept = next(left, ("nothing", {}))
        seen, meant = _facts(round_.name, released), _facts(name, kept)
        if seen != meant:
            tape.differ.append(f"{meant} is now {seen}")
            original(self, round_, released)
            return
        original(self, round_, kept)

    with _patched(absorb):
        yield


@contextmanager
def _patched(absorb: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "absorb", absorb)
        patch.setattr(memory.bits, "fresh", _fresh(memory.bits.fresh))
        # The rule of what is kept apart is drawn, and public.
        salt = SimpleNamespace(token_hex=lambda size: "5" * 2 * size)
        patch.setattr(apart, "secrets", salt)
        yield


def _fresh(real: object) -> object:
    """Words for who takes part are the same in both runs; noise has its own, as ever."""
    import sys

    def fresh() -> object:
        caller = sys._getframe(1).f_globals["__name__"]
        return _SameWords() if caller == memory.__name__ else real()  # type: ignore[operator]

    return fresh


def _facts(name: str, released: Mapping[str, Released]) -> object:
    """What is public of a release besides the numbers."""
    return name, {
        part: (
            each.value.shape,
            each.value.dtype.str,
            replace(each, value=np.zeros(0)).__dict__ | {"value": None},
        )
        for part, each in released.items()
    }
