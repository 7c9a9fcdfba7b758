"""One run of a whole fit: what is true is not refuted, and what is planted is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.auditing import one_run
from tacit.auditing.canaries import CanaryShape, plant, signatures
from tacit.auditing.verdict import NEVER
from tacit.ledger.account.event import Gaussian
from tacit.methods import find
from tacit.noise import release

SHAPE = CanaryShape(500, 12)
DELTA = 1e-6


@pytest.fixture(scope="module")
def people():
    return tacit.sample(200)


def run(name, people, unit="user", epsilon=4.0):
    """One fit with canaries."""
    method = find(name)(epsilon=epsilon, delta=DELTA, unit=unit, threads=1)
    return one_run.run_once(method, people, SHAPE, unit)


def measured(one, mistake):
    return one_run.measure(one.transcript, one.coins, delta=DELTA, mistake=mistake)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("bias", "user"),
        ("bias", "rating"),
        ("covariance-svd", "user"),
        ("als", "user"),
        ("svd-gradient", "value"),
    ],
)
def test_a_sound_fit_is_not_refuted_and_its_canaries_are_tight(name, unit, people):
    one = run(name, people, unit)
    got = measured(one, NEVER)
    assert got.independent <= 4
    assert got.any <= 4
    assert 0.6 * 4 < got.reachable <= 4 * (1 + 1e-9)


@pytest.mark.parametrize("name", ["bias", "covariance-svd"])
def test_a_quarter_of_the_noise_is_refuted(name, people, monkeypatch):
    """Less noise is drawn than was charged for: the transcript shows it."""
    draw = release.draw_law

    def planted(law, shape):
        return draw(law._replace(spread=max(law.spread / 4, 1.0)), shape)

    monkeypatch.setattr(release, "draw_law", planted)
    got = measured(run(name, people), NEVER)
    assert got.independent > 4


def test_half_the_noise_is_refuted_by_more_canaries(people, monkeypatch):
    draw = release.draw_law

    def planted(law, shape):
        return draw(law._replace(spread=max(law.spread / 2, 1.0)), shape)

    monkeypatch.setattr(release, "draw_law", planted)
    method = find("bias")(epsilon=4.0, delta=DELTA, unit="user", threads=1)
    one = one_run.run_once(method, people, CanaryShape(2000, 12), "user")
    assert measured(one, NEVER).independent > 4


def test_scores_have_noise_of_variance_one_around_what_coins_moved(people):
    """The law that the proof needs, on a real fit: 6 standard deviations either way."""
    one = run("bias", people)
    told = one.transcript
    rest = told.scores - np.where(one.coins, 1, -1) * told.moves / 2
    count = len(rest)
    assert abs(rest.mean()) < 6 / count**0.5
    assert abs(rest.var() - 1) < 6 * (2 / count) ** 0.5


def test_a_transcript_without_noise_tells_every_coin(people):
    """With the noise off only the moves are left, exactly."""
    method = find("bias")(epsilon=4.0, delta=DELTA, unit="user", threads=1)
    canaries = plant(people, "user", SHAPE)
    coins = np.arange(SHAPE.people) % 3 == 0
    from tacit.auditing.transcript import read_transcript
    from tacit.auditing.walk import walk

    walked = walk(method, canaries.with_coins(coins), canaries.items, users=700, noise=False)
    told = read_transcript(walked, canaries)
    assert told.scores == pytest.approx(np.where(coins, 1, -1) * told.moves / 2, abs=1e-6)


def test_two_signatures_have_at_most_one_item_in_common(people):
    shape = CanaryShape(90, 1).over(300)
    assert shape.signed > 2
    items = [set(row.tolist()) for row in signatures(people, shape)]
    assert all(len(row) == shape.signed for row in items)
    assert all(len(a & b) <= 1 for k, a in enumerate(items) for b in items[:k])


def centred(people, monkeypatch):
    """Coins through a Gram of likes from which popularity was taken off, in 40 of its rows."""
    from tacit.methods.item_item import ease

    monkeypatch.setattr(ease, "LEAST_TOLD", 0.0)
    monkeypatch.setattr(ease, "WORK", 320 * 40.0**2)
    method = find("ease")(epsilon=20.0, delta=DELTA, unit="user", threads=1, items=180)
    return one_run.run_once(method, people, CanaryShape(120, 0), "user")


def test_a_matrix_is_read_where_one_coin_moves_it_alone(people, monkeypatch):
    """What is not looked at would have been left out all the same."""
    from tacit.auditing import transcript

    one = centred(people, monkeypatch)
    assert "gram/gram" not in one.transcript.shared
    monkeypatch.setattr(transcript, "_single_masks", lambda step, canaries: {})
    whole = transcript.read_transcript(one.walked, one.canaries)
    assert whole.scores == pytest.approx(one.transcript.scores)
    assert whole.moves == pytest.approx(one.transcript.moves)
    assert whole.moves.max() > 0


def test_canaries_without_items_are_refused(people):
    method = find("bias")(epsilon=4.0, delta=DELTA, unit="user", threads=1)
    with pytest.raises(tacit.errors.SettingError, match="no items"):
        one_run.run_once(method, people, CanaryShape(30, 0), "user")


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_canaries_differ_in_one_unit(unit, people):
    canaries = plant(people, unit, CanaryShape(5, 3))
    coins = np.array([True, False, True, False, True])
    data = canaries.with_coins(coins)
    cells = {"user": 9, "rating": 13, "value": 15}
    assert len(data) - len(people) == cells[unit]
    assert data.n_users - people.n_users == (3 if unit == "user" else 5)
    other = canaries.with_coins(~coins)
    assert len(other) - len(people) == {"user": 6, "rating": 12, "value": 15}[unit]
    assert canaries.only_others().n_users == people.n_users


def test_the_published_model_alone_shows_a_bare_sum(people):
    """Canaries are found in a twin, which adds no noise, by a rule that half of them taught."""
    from tacit.auditing.attacks import PUBLISHED
    from tacit.auditing.attacks import one_run as attack
    from tacit.auditing.canaries import Ground
    from tacit.auditing.verdict import ClaimVerdict, Target

    ground = Ground(people, SHAPE)
    findings = attack(Target("bias", "user", "none", 1.0), ground)
    black = next(f for f in findings if f.attack == PUBLISHED)
    assert black.verdict is ClaimVerdict.REFUTED
    assert any(f.verdict is ClaimVerdict.LEAK for f in findings)
    sound = Target("bias", "user", "sound", 1.0, mistake=NEVER)
    assert not any(f.fell for f in attack(sound, ground))


def test_events_are_gaussian_where_the_score_says_so(people):
    one = run("bias", people)
    assert not one.transcript.pure
    assert all(isinstance(e, Gaussian) for e in one.walked.run.events)
    assert replace(one.transcript, pure=True).pure


def test_noise_inside_a_printed_epoch_is_no_bare_release(people):
    from tacit.auditing.attacks import BARE
    from tacit.auditing.attacks import one_run as attack
    from tacit.auditing.canaries import Ground
    from tacit.auditing.verdict import Target

    ground = Ground(people, CanaryShape(60, 3))
    findings = attack(Target("svd-gradient", "value", "paper", 1.0), ground)
    assert BARE not in {finding.attack for finding in findings}
