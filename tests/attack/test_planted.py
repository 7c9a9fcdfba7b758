"""What `scripts/mutate` found that no quick test would have noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.auditing.hunt import gram_contribution, hunt
from tacit.bound import RowClip, Rows
from tacit.bound.centre import CentredCells
from tacit.bound.gram import EntryGram
from tacit.data.catalogue import Catalogue
from tacit.data.sample import sample
from tacit.data.schema import Schema
from tacit.engine.threads import Threads
from tacit.errors import BookError, Failure, SettingError
from tacit.fitting.check import check_delta
from tacit.fitting.run import trial
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Gaussian
from tacit.ledger.book.book import open_book
from tacit.methods.base import Public
from tacit.noise import release
from tacit.noise.release import Charge, GramRelease
from tacit.rounds.loop import Loop
from tacit.rounds.people import Slice
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Released, Round
from tacit.rounds.state import State

SIGMA = 1e6
"""Steps: equal draws of this spread do not happen."""


def event(numbers: int) -> Gaussian:
    return Gaussian(name="r/p", sensitivity=1.0, sigma=SIGMA, draws=numbers)


def crowd(people: int = 60):
    """A few people of the sample, over few items."""
    ratings = sample(people)
    few = ratings.take(ratings.item < 40)
    return replace(few, items=list(ratings.items)[:40])


def test_a_paid_event_is_drawn_once() -> None:
    charge = Charge([event(1)])
    charge.draw("r/p")
    with pytest.raises(Failure, match="already drawn"):
        charge.draw("r/p")


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_entry_of_a_matrix_has_a_noise_of_its_own(diagonal: bool) -> None:
    size = 12
    numbers = size * (size + (1 if diagonal else -1)) // 2
    made = GramRelease("r/p", size, diagonal, 1, Charge([event(numbers)]))
    out = np.zeros((size, size), np.float32)
    for first in (0, 5):
        last = 5 if first == 0 else size
        sums = np.zeros((last - first, size), np.int64)
        made.band(first, sums, out[first:last])
    drawn = out[np.triu_indices(size, 0 if diagonal else 1)]
    assert (drawn != 0).all()
    assert len(np.unique(drawn)) > 0.9 * numbers  # float32 may round two alike


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_a_float_that_rounds_up_is_pulled_back(norm: str) -> None:
    """A limit just below ten steps: clipped floats round to ten, which the integers do not
    allow."""
    limit = float(np.nextafter(10 / 64, 0))
    values = np.random.default_rng(0).uniform(1, 100, (4000, 1))
    ptr = np.arange(4001, dtype=np.int64)
    rows = Rows(ptr, np.zeros(4000, np.uint32), values)
    factor = 64 * (limit / values)
    assert (values * factor >= 10).any()  # so that the float clip is not enough
    assert RowClip(limit, norm, 64).apply(rows).max() == 9


def test_rounding_every_entry_of_a_matrix_is_charged() -> None:
    """On a coarse grid one rating moves entries by their rounding alone, far beyond what it
    moves them by before they are rounded."""
    size = 30
    bound = EntryGram(size, CentredCells(size, steps=64), grid=1)
    found = hunt(
        gram_contribution(bound, size),
        "rating",
        items=size,
        sizes=(20, size - 2),
        starts=4,
        climbs=20,
    )
    before = bound.cells.sensitivity("rating").l2 / bound.cells.steps
    assert 2 * before < found.l2 <= bound.sensitivity("rating").l2


def test_a_coin_is_tossed_anew_in_every_round() -> None:
    engine = Threads(crowd())
    first, second = engine.coins(), engine.coins()
    assert (first != second).all()
    assert (first != engine.partition_words()).all()


def test_nobody_is_in_two_slices() -> None:
    engine = Threads(crowd())
    slices = [Slice(k, 3).among(engine) for k in range(3)]
    together = np.concatenate([each for each in slices if each is not None])
    assert sorted(together.tolist()) == list(range(engine.people))


def test_nothing_is_drawn_before_the_book_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    charged: list[int] = []
    whole = release.draw_law

    def watched(*given):
        charged.append(len(open_book().entries()))
        return whole(*given)

    monkeypatch.setattr(release, "draw_law", watched)
    ratings = crowd()
    tacit.Popularity(epsilon=1.0).fit(ratings, items=Catalogue(list(ratings.items)), users=60)
    assert charged
    assert min(charged) == 1


def test_the_book_is_charged_for_all_that_is_drawn() -> None:
    ratings = crowd()
    model = tacit.Bias(epsilon=1.0).fit(ratings, items=Catalogue(list(ratings.items)), users=60)
    (entry,) = (e for e in open_book().entries() if e.kind == "reserve")
    assert entry.events == model.statement_.events


def test_a_request_stands_for_its_own_events_alone() -> None:
    how = {"unit": "user", "budget": None, "purpose": "", "method": ""}
    book = open_book()
    book.reserve([event(1)], token="one request", **how)
    with pytest.raises(BookError, match="other events"):
        book.reserve([event(2)], token="one request", **how)


def test_a_delta_above_one_in_the_people_is_refused() -> None:
    check_delta(Budget(1.0, 1e-6), 100_000)
    with pytest.raises(SettingError, match="delta"):
        check_delta(Budget(1.0, 2e-5), 100_000)


def test_a_round_without_noise_makes_a_run_not_private() -> None:
    round_ = Round("r", (), lambda block, state: {}, lambda state, got: state)
    for private in (True, False):
        loop = Loop(Plan("user", (round_,)), State())
        loop.absorb(round_, {"p": Released(np.zeros(1), 0.0, private)})
        assert loop.private == private


def test_all_parts_of_a_plan_cost_its_budget_together() -> None:
    method = tacit.Popularity(epsilon=1.0)
    budget = Budget(1.0, 1e-6)
    public = Public(
        Schema(1, 5, users=60), Catalogue([str(k) for k in range(9)]), "user", budget=budget
    )
    events = method.plan(public).events(budget).values()
    assert 0.99 < epsilon(tuple(events), 1e-6) <= 1


def test_neighbours_have_the_same_statement() -> None:
    ratings = crowd()
    items = Catalogue(list(ratings.items))
    fewer = ratings.take(ratings.user != 0)
    said = [
        trial(tacit.Bias(epsilon=1.0), each, items=items, users=60).statement
        for each in (ratings, fewer)
    ]
    assert said[0] == said[1]


def test_no_published_array_has_a_row_a_person() -> None:
    ratings = crowd()
    items = Catalogue(list(ratings.items))
    method = tacit.FederatedMF(epsilon=1.0, calibration="paper", rounds=2)
    model = trial(method, ratings, items=items, users=ratings.n_users)
    assert ratings.n_users != ratings.n_items
    for array in model.shared.arrays.values():
        assert ratings.n_users not in array.shape
