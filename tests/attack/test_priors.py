"""Priors that an enemy chose: public people who are sure of nonsense, an earlier model far from
everything, and calendars that begin with neither. Through every stage of `bayes`, with its
agreement and its curves, no neighbour moves a sum by more than was charged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit import Bayes
from tacit.engine.threads import Threads
from tacit.fitting.run import _Run
from tacit.methods.refine.public_prior import Known
from tacit.methods.streamed import on_a_calendar
from tacit.noise.release import Charge, NoNoise
from tacit.testing.small_sample import few_films, few_ratings

PEOPLE, MANY = 12, 100_000
NEIGHBOURS = 3
FAR = 30.0
"""Times the width of what is usual."""


def sure_of_nonsense(items: int, rng: np.random.Generator) -> Known:
    return Known(
        FAR * rng.standard_normal(items),
        np.full(items, 1e-9),
        rng.standard_normal(items),
        FAR * rng.standard_normal((items, 5)),
        "hostile",
    )


@pytest.fixture(scope="module")
def far_model(tmp_path_factory):
    """A model whose effects, tastes and weights lie far out."""
    book = tmp_path_factory.mktemp("book") / "book.db"
    fitted = Bayes(epsilon=1.0, ledger=book).fit(few_ratings(40), items=few_films(), users=MANY)
    shared = fitted.model_.shared
    rng = np.random.default_rng(3)
    arrays = {
        name: np.asarray(FAR * rng.standard_normal(array.shape), array.dtype)
        if name in ("baseline", "loadings")
        else array
        for name, array in shared.arrays.items()
    }
    kept = arrays["kept"].copy()
    kept[0] *= FAR
    kept[2] = FAR
    return replace(shared, arrays={**arrays, "kept": kept})


def neighbour(ratings, unit, rng):
    if unit == "user":
        return ratings.take(ratings.user != rng.integers(ratings.n_users))
    return ratings.take(np.arange(len(ratings)) != rng.integers(len(ratings)))


def moves(part, one, other):
    """By how many steps each number moved; and what float32 sums may round."""
    move = one[part.name].value.astype(np.float64) - other[part.name].value
    room = 1e-12
    if part.form == "gram":
        diagonal = getattr(part.bound, "diagonal", False)
        move = move[np.triu_indices(part.size, not diagonal)][:, None]
        room = 1e-3
    return np.rint(move * part.bound.steps), room


def hunt(method, public, plan, state, unit, events):
    """All rounds, on the same state, with real noise between them."""
    ratings = few_ratings(PEOPLE)
    rng = np.random.default_rng(7)
    others = [neighbour(ratings, unit, rng) for _ in range(NEIGHBOURS)]
    engines = [Threads(each, 1) for each in (ratings, *others)]
    drawn, charge = Threads(ratings, 1), Charge(events)
    names = []
    for round_ in plan.rounds:
        first, *rest = [engine.run(round_, state, NoNoise()) for engine in engines]
        for part in round_.parts:
            claimed = part.bound.sensitivity(unit, plan.limited)
            for other in rest:
                steps, room = moves(part, first, other)
                assert np.isfinite(steps).all(), round_.name
                moved = np.sqrt((steps**2).sum())
                assert moved <= claimed.l2 * (1 + room), round_.name
                assert np.abs(steps).sum() <= claimed.l1 * (1 + room)
        if not round_.instead:
            names.append(round_.name)
            state = round_.absorb(state, drawn.run(round_, state, charge))
    shared = method.finish(public, state)
    assert all(np.isfinite(each).all() for each in shared.arrays.values())
    return names


@pytest.mark.parametrize("unit", ["user", "rating"])
@pytest.mark.parametrize("prior", ["public", "start"])
def test_no_prior_lets_a_neighbour_move_a_sum_further(prior, unit, far_model):
    method = Bayes(epsilon=2.0, delta=1e-6, unit=unit)
    run = _Run(method, few_ratings(PEOPLE), few_films(), MANY, None)
    rng = np.random.default_rng(1)
    public = replace(run.settled.public, start=far_model)
    if prior == "public":
        known = sure_of_nonsense(run.public.items, rng)
        public = replace(run.settled.public, known=known)
    plan = method.plan(public)
    state = method.first_state(public).after(people=float(MANY))
    events = plan.events(public.budget).values()
    names = hunt(method, public, plan, state, unit, events)
    assert {"covariance", "implied", "agreement"} <= set(names)
    assert ("widths" in names) == (prior == "public")
    assert unit == "rating" or {"tastes", "sweep 1"} <= set(names)


def test_nor_does_a_calendar():
    """Its rounds, begun by a prior that no calendar of Tacit's has: bounds do not rest on
    there being none."""
    method = on_a_calendar(Bayes(epsilon=2.0, delta=1e-6))
    run = _Run(method, few_ratings(PEOPLE), few_films(), MANY, None)
    known = sure_of_nonsense(run.public.items, np.random.default_rng(2))
    public = replace(run.settled.public, known=known)
    plan = method.plan(public)
    state = method.first_state(public).after(people=float(MANY), elapsed=0.5)
    events = plan.events(public.budget).values()
    names = hunt(method, public, plan, state, "user", events)
    assert {"effects", "tastes", "choice"} <= set(names)
    assert not {"implied", "agreement"} & set(names)
