"""Blank what is noised, at the one place where it becomes public.

Two neighbouring files release different noisy sums, and all that follows from those differs.
So the first run is recorded and the second is given the first one's released arrays in place
of its own: what then still differs came around the noise. Nothing after the release needs to
be blanked, not even the arrays of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.data import held_out
from tacit.engine import memory
from tacit.noise.continual import Weeks
from tacit.rounds.loop import Loop
from tacit.rounds.round import Released, Round

Release = tuple[str, Mapping[str, Released]]


@dataclass
class Tape:
    """All releases of one run, in order."""

    releases: list[Release] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)
    """What is public of a release besides its noised numbers, and differs."""
    weeks: list[np.ndarray] = field(default_factory=list)
    """What calendars released, week by week: their sums are estimated from it."""


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

    def absorb(self: Loop, round_: Round, released: Mapping[str, Released]) -> None:
        tape.releases.append((round_.name, released))
        original(self, round_, released)

    noised = Weeks.noised

    def kept(self: Weeks, *given: Any) -> np.ndarray:
        tape.weeks.append(noised(self, *given))
        return tape.weeks[-1].copy()

    with _patched(absorb, kept):
        yield tape


@contextmanager
def play(tape: Tape) -> Iterator[None]:
    """Give every round what the recorded one released."""
    left = iter(tape.releases)
    original = Loop.absorb

    def absorb(self: Loop, round_: Round, released: Mapping[str, Released]) -> None:
        name, kept = next(left, ("nothing", {}))
        seen, meant = _facts(round_.name, released), _facts(name, kept)
        if seen != meant:
            tape.differ.append(f"{meant} is now {seen}")
            original(self, round_, released)
            return
        # Of a calendar's noise everything was played: nothing else may tell its sums.
        if tape.weeks and any(
            not np.array_equal(each.value, kept[part].value) for part, each in released.items()
        ):
            tape.differ.append(f"sums of {name} that no noise covers")
        original(self, round_, kept)

    weeks, noised = iter(tape.weeks), Weeks.noised

    def again(self: Weeks, *given: Any) -> np.ndarray:
        found, kept = noised(self, *given), next(weeks, np.zeros(0))
        if (found.shape, found.dtype) != (kept.shape, kept.dtype):
            tape.differ.append(f"a week of {kept.shape} is now {found.shape}")
            return found
        return kept.copy()

    with _patched(absorb, again):
        yield


@contextmanager
def _patched(absorb: object, noised: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "absorb", absorb)
        patch.setattr(Weeks, "noised", noised)
        patch.setattr(memory.bits, "fresh", _fresh(memory.bits.fresh))
        # The rule of what is kept apart is drawn, and public.
        salt = SimpleNamespace(token_hex=lambda size: "5" * 2 * size)
        patch.setattr(held_out, "secrets", salt)
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
            {
                about: fact.shape if isinstance(fact, np.ndarray) else fact
                for about, fact in vars(each).items()
            },
        )
        for part, each in released.items()
    }
