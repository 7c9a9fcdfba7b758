"""Where one round takes the place of another: which of the two runs, and all that is made of
them, follows from what was released. Two tables of ratings that have little in common are asked
in every round, and answered by the same invented releases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from tacit.data.ratings import Ratings
from tacit.engine.threads import Threads
from tacit.fitting.run import _Run
from tacit.methods import find
from tacit.noise.release import NoNoise
from tacit.rounds.loop import Loop
from tacit.rounds.round import Released
from tacit.testing.small_sample import few_films, few_ratings, one_of

MANY = 100_000
"""Declared, so that the plans have every stage."""
ALIKE = 1e-9
EVERY = 4
"""One of so many of the few films is kept, and so are its ratings: what is made of items costs
up to their third power."""


def others(ratings: Ratings) -> Ratings:
    """Fewer people, with few and low ratings."""
    kept = ratings.take((ratings.user % 5 == 0) & (ratings.item % 3 == 0))
    return replace(kept, value=np.full_like(kept.value, ratings.schema.low))


def invented(name: str, seen: Released, times: float) -> Released:
    """A release of the same shape that no table has made; `times` how much items are rated."""
    rng = np.random.default_rng(crc32(name.encode()))
    shape = seen.value.shape
    value = rng.normal(size=shape) * 3 * MANY**0.5
    if name.startswith(("popularity", "weights")):
        value = np.abs(value) * times
    elif len(shape) == 2 and shape[0] == shape[1] > 1:
        value = (value + value.T).astype(seen.value.dtype)
    return Released(value, 3.0, private=False)


def walked(name: str, unit: str, data: Ratings, times: float) -> Any:
    """The rounds that ran, and the model at the end."""
    method = find(name)(epsilon=2.0, unit=unit)
    films = one_of(EVERY, few_films())
    run = _Run(method, data, films, MANY, None)
    engine = Threads(run.engine.ratings, 1)
    loop = Loop(run.settled.plan, run.first_state())

    def ask(round_: Any, state: Any) -> dict[str, Released]:
        made = engine.run(round_, state, NoNoise())
        return {part: invented(f"{round_.name}/{part}", each, times) for part, each in made.items()}

    loop.run(ask)
    return loop.done, method.finish(run.settled.public, loop.state).arrays


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("name", ["bayes", "ease"])
def test_what_runs_and_what_comes_of_it_follows_from_releases(name: str, unit: str) -> None:
    data = few_ratings(40)
    chosen = set()
    for times in (1e-6, 1e3):
        done, arrays = walked(name, unit, data, times)
        other, same = walked(name, unit, others(data), times)
        assert done == other
        assert arrays.keys() == same.keys()
        for each, array in arrays.items():
            assert np.allclose(array, same[each], rtol=ALIKE, equal_nan=True)
        chosen.add(tuple(done))
    assert len(chosen) == 2, "one of the two rounds was never tried"
