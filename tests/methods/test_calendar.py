"""What the forms of methods for a calendar make of running sums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.data.sample import sample, sample_catalogue
from tacit.fitting.refresh import refresh
from tacit.fitting.run import trial
from tacit.methods import find
from tacit.methods.bayes.streamed import turned_moments
from tacit.methods.item_item.streamed import StreamedLikes, covered, given_seats
from tacit.methods.streamed import count_round
from tacit.rounds.round import Released


def test_moments_can_be_turned_after_their_release() -> None:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(5, 5))
    whole = whole + whole.T
    rows = np.triu_indices(5)
    packed = whole[rows] * np.where(rows[0] == rows[1], 1.0, np.sqrt(2))
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    turned = turned_moments(packed, axes[:, :3])
    seen = (axes.T @ whole @ axes)[:3, :3]
    along = np.triu_indices(3)
    expected = seen[along] * np.where(along[0] == along[1], 1.0, np.sqrt(2))
    np.testing.assert_allclose(turned, expected, atol=1e-12)
    # Rotations keep the norm by which a person's matrix is clipped.
    whole_turn = turned_moments(packed, axes)
    assert np.isclose(np.linalg.norm(whole_turn), np.linalg.norm(packed))


def test_places_of_the_gram_are_given_as_people_come_and_kept() -> None:
    first = StreamedLikes(weight=np.array([5.0, 1.0, 4.0, 3.0, 0.0]), people=50.0)
    seats = given_seats(first, 4, 100.0)
    assert list(seats) == [0, 2]
    assert list(covered(first.weight, seats, 2, 4)) == [0, 4, 1, 4, 4]
    later = StreamedLikes(weight=np.array([1.0, 9.0, 4.0, 3.0, 99.0]), people=75.0, seats=seats)
    # Item 4 gets the next place, however unknown it was; items 0 and 2 keep theirs.
    seats = given_seats(later, 4, 100.0)
    assert list(seats) == [0, 2, 4]
    assert list(covered(later.weight, seats, 2, 4)) == [4, 4, 1, 4, 2]
    # More people than were expected: no more places than there are.
    many = StreamedLikes(weight=later.weight, people=900.0, seats=seats)
    assert list(given_seats(many, 4, 100.0)) == [0, 2, 4, 1]


def test_a_count_that_drowns_is_the_declared_number() -> None:
    absorb = count_round(1000.0).absorb
    state = StreamedLikes(elapsed=0.5)

    def counted(value: float, sd: float) -> float:
        noisy = Released(np.array([[value]]), sd)
        return float(absorb(state, {"count": noisy}).people)

    assert abs(counted(700.0, 1.0) - 700.0) < 1
    assert abs(counted(-4e6, 1e5) - 500.0) < 500.0
    assert counted(-1e4, 10.0) == 25.0


@pytest.mark.parametrize("name", ["bias", "bayes"])
def test_with_little_noise_the_last_model_is_about_that_of_one_fit(
    name: str, tmp_path: Path
) -> None:
    whole = replace(sample(240), time=None)
    items = sample_catalogue()
    week = np.arange(whole.n_users) % 4
    method = find(name)(epsilon=200.0, ledger=str(tmp_path / "ledger"))
    for each in range(4):
        made = refresh(
            method,
            whole.take(week[whole.user] == each),
            out=tmp_path / "calendar",
            horizon=4,
            items=items,
            users=240,
        )
    one = trial(find(name)(epsilon=100.0), whole, items=items, users=240)
    calendar, once = (
        np.asarray(model.shared.arrays["baseline"], float) for model in (made.model, one)
    )
    seen = np.bincount(whole.item, minlength=len(items)) >= 10
    apart = float(np.sqrt(np.mean((calendar - once)[seen] ** 2)))
    assert apart < 0.12
    assert np.corrcoef(calendar[seen], once[seen])[0, 1] > 0.95
