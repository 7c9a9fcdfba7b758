"""A tuning: what is charged, what is published, what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tacit
from tacit.auditing.best_of import best
from tacit.data.sample import sample, sample_catalogue
from tacit.errors import BudgetError, Failure, SettingError
from tacit.evaluation.release import release
from tacit.evaluation.summed import FigureSums
from tacit.evaluation.tune import Outcome, candidates, prepared, tune
from tacit.evaluation.tune_public import tune_public
from tacit.ledger.account import account
from tacit.ledger.account.cost import concentrated, cost
from tacit.model.verify import verify_with_book

PEOPLE = 300


@pytest.fixture(scope="module")
def ratings():
    return sample(people=PEOPLE, ratings=9000, seed=6)


def run(ratings, methods=("bias", "popularity"), **options):
    given = {"epsilon": 2.0, "users": PEOPLE, "trials": 2, **options}
    return tune(ratings, methods, items=sample_catalogue(), **given)


def test_the_epsilon_of_a_tuning_is_what_the_ledger_says(ratings):
    found = run(ratings)
    promise = found.model.statement
    book = tacit.open_book()
    spent = book.spent()["user"].epsilon
    assert promise.certified == "certified"
    assert promise.epsilon == 2.0
    assert spent == pytest.approx(2.0, rel=1e-6)
    assert spent <= 2.0
    entry = book.entries()[0]
    assert account.epsilon(entry.events, 1e-6) == spent
    assert promise.events == entry.events
    assert [event.kind for event in entry.events] == ["tuning"]
    assert verify_with_book(found.model, book).holds
    book.verify()


def test_every_trial_stays_within_the_bound_that_was_charged(ratings, monkeypatch):
    """What is drawn, not what was planned: the events of every trial, fit and score."""
    from tacit.noise.release import Charge

    drawn = []
    real = Charge.draw

    def draw(self, name):
        event = real(self, name)
        drawn.append(event)
        return event

    monkeypatch.setattr(Charge, "draw", draw)
    monkeypatch.setattr("tacit.evaluation.tune.draw_trials", lambda *_: (0, 1, 0))
    tuning = prepared(candidates(["bias", "popularity"], {}), users=PEOPLE, epsilon=2.0, trials=2)
    tuning.run(ratings, users=PEOPLE)
    scores = [e for e in drawn if e.name == "figures/errors"]
    assert len(scores) == 3
    whole = concentrated(cost(drawn))
    assert whole == pytest.approx(3 * tuning.event.rho, rel=1e-5)
    assert whole <= 3 * tuning.event.rho * (1 + 1e-9)


def test_the_charge_stands_before_anything_is_drawn(ratings, monkeypatch):
    def crash(*_):
        raise Failure("the machine went away")

    monkeypatch.setattr("tacit.evaluation.tune.draw_trials", crash)
    with pytest.raises(Failure, match="went away"):
        run(ratings)
    assert tacit.open_book().spent()["user"].epsilon == pytest.approx(2.0)


def test_how_many_trials_there_were_is_not_published(ratings, monkeypatch, tmp_path):
    """One trial or six: the same events, words and entries; only the winner may differ."""
    told = []
    for number in (1, 6):
        monkeypatch.setattr("tacit.evaluation.tune.draw_trials", lambda *_, n=number: (0,) * n)
        place = str(tmp_path / f"{number}.db")
        found = run(ratings, ledger=place)
        promise = found.model.statement
        book = tacit.open_book(place)
        shapes = [(e.kind, e.events, e.purpose) for e in book.entries()]
        told.append((promise.events, promise.per_person, shapes))
        assert any("how many trials" in x for x in promise.not_protected)
    assert told[0] == told[1]


@dataclass(frozen=True)
class Fake:
    """Trials whose scores have a known law."""

    tuning: object
    law: np.ndarray
    rng: np.random.Generator

    def trial(self, place, entry):
        score = self.rng.choice(len(self.law), p=self.law)
        sums = FigureSums(errors=np.array([[1.0, -float(score)]]), noise={"errors": 1})
        return Outcome(place, Named(str(score)), sums, None, True)


@dataclass(frozen=True)
class Named:
    name: str

    def digest(self):
        return self.name


def test_the_winner_has_the_law_that_the_theorem_is_about(ratings):
    """The real number of trials and the real choice, 1,500 times, against the exact law; a
    law with other trials is told apart."""
    from scipy.stats import chi2

    tuning = prepared(candidates(["bias"], {"sweeps": [2, 3]}), users=PEOPLE, epsilon=2.0, trials=4)
    law = np.array([0.5, 0.3, 0.15, 0.05])
    work = Fake(tuning, law, np.random.default_rng(2))
    won = np.array([int(tuning.selected(work, "").shared.name) for _ in range(1500)])
    counts = np.bincount(won, minlength=4)

    def chance(expected):
        statistic = ((counts - expected) ** 2 / expected).sum()
        return chi2.sf(float(statistic), 3)

    assert chance(1500 * best(law, tuning.event)) > 1e-9
    other = tuning.event.model_copy(update={"gamma": (1, 8)})
    assert chance(1500 * best(law, other)) < 1e-9
    assert chance(1500 * law) < 1e-9


def test_the_best_score_wins(ratings, monkeypatch):
    monkeypatch.setattr("tacit.evaluation.tune.draw_trials", lambda *_: (0, 1, 1, 0))
    seen = []
    real = Outcome.rank.fget

    def rank(self):
        seen.append(real(self)[0])
        return real(self)

    monkeypatch.setattr(Outcome, "rank", property(rank))
    found = run(ratings, epsilon=50.0)
    assert found.candidate.method == "bias"
    assert len(set(seen)) == 4


def test_a_winner_may_be_measured_on_ratings_that_no_trial_saw(ratings):
    found = run(ratings, keep_apart=0.2)
    assert found.model.statement.apart is not None
    made = release(found.model, ratings, epsilon=1.0)
    assert made.statement.certified == "certified"
    plain = run(ratings)
    with pytest.raises(SettingError, match="kept no ratings apart"):
        release(plain.model, ratings, epsilon=1.0)


def test_likes_are_ranked_by_what_lists_find(ratings):
    likes = ratings.take(ratings.value >= 4)
    likes = replace(likes, schema=replace(likes.schema, positive=4.0))
    found = run(likes, ("ease",), sweep={}, epsilon=4.0)
    assert found.score.name == "recall@20"


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_likes_with_a_cap_on_how_many_count(ratings, unit):
    """A book with a cap for people counts a tuning at `rating` by what one person may have."""
    likes = ratings.take(ratings.value >= 4)
    schema = replace(likes.schema, positive=4.0, max_ratings=10)
    likes = replace(likes, schema=schema)
    found = run(likes, ("ease",), unit=unit, keep_apart=0.2, epsilon=0.4)
    assert found.model.statement.certified == "certified"
    spent = tacit.open_book().spent()
    if unit == "user":
        assert spent["user"].epsilon == pytest.approx(0.4, rel=1e-6)
    else:
        assert spent["rating"].epsilon == pytest.approx(0.4, rel=1e-6)
        assert spent["user"].epsilon > 4.0
    assert release(found.model, likes, epsilon=1.0).statement.unit == unit


@pytest.mark.parametrize("law", ["geometric", "logarithmic"])
def test_the_fewest_trials_have_a_law(law):
    grid = candidates(["bias"], {})
    tuning = prepared(grid, users=300, epsilon=2.0, trials=1.0001, law=law)
    assert 0 < tuning.event.gamma[0] / tuning.event.gamma[1] < 1


def test_trials_of_one_rank_are_the_same_outcome():
    """What is published of a score is more than the sum that ranks it."""

    def outcome(*sums):
        errors = FigureSums(errors=np.array([sums]), noise={"errors": 1})
        return Outcome(0, Named("a model"), errors, None, True)

    assert outcome(1.0, 5.0).rank != outcome(2.0, 5.0).rank
    assert outcome(9.0, 4.0).rank < outcome(1.0, 5.0).rank
    assert outcome(1.0, 5.0).rank == outcome(1.0, 5.0).rank


def test_without_delta_every_trial_is_pure(ratings):
    found = run(ratings, delta=0.0, unit="rating")
    (event,) = found.model.statement.events
    assert event.epsilon == pytest.approx(2.0 / 3)
    assert tacit.open_book().spent()["rating"].epsilon <= 2.0


def test_people_who_are_not_declared_are_counted_in_every_trial(ratings):
    found = run(ratings, ("bias",), users=None)
    assert found.model.statement.certified == "certified"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sweep": {"factors": [3]}}, "has a setting 'factors'"),
        ({"epsilon": None}, "epsilon is missing"),
        ({"delta": 0.01}, "delta is 0.01"),
        ({"law": "fixed"}, "law 'fixed' is unknown"),
        ({"trials": 0.5}, "0.5 trials"),
        ({"trials": 1.00001}, "1.00001 trials"),
        ({"trials": 1.00001, "law": "logarithmic"}, "at least 1.0001"),
        ({"methods": ("mf-sgd",), "users": 100_000}, "by a coin"),
        ({"methods": ("svd-output",), "unit": "user"}, "no promise"),
        ({"calibration": "paper"}, "no paper calibration"),
        ({"keep_apart": 0.9}, "cannot be kept apart"),
        ({"methods": ()}, "no method"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_charged(ratings, options, says):
    with pytest.raises(SettingError, match=says):
        run(ratings, **options)
    assert tacit.open_book().entries() == []


def test_a_capped_book_refuses_what_is_too_much(ratings):
    tacit.open_book().cap(1.0, 1e-6, "user")
    with pytest.raises(BudgetError, match="overspent"):
        run(ratings)


def test_public_ratings_choose_for_nothing(ratings):
    grid = candidates(["bias", "popularity"], {})
    found = tune_public(
        ratings, grid, users=PEOPLE, seeds=2, epsilon=20.0, items=sample_catalogue()
    )
    assert [each.candidate.method for each in found] == ["bias", "popularity"]
    assert found[0].mean < found[1].mean
    assert tacit.open_book().entries() == []


def test_a_grid_is_every_method_with_every_value():
    grid = candidates(["bias", "als"], {"factors": [4, 8], "sweeps": [2]})
    assert [each.label for each in grid] == [
        "bias, sweeps = 2",
        "als, factors = 4",
        "als, factors = 8",
    ]


@pytest.mark.parametrize("method", ["one-bit", "mf-federated"])
def test_methods_that_show_who_takes_part_are_refused(method):
    """A trial keeps ratings apart for its score: who has no others would be missing."""
    from tacit.fitting.check import check
    from tacit.methods import find

    with pytest.raises(SettingError, match="who takes part is public"):
        prepared(candidates([method], {}), users=60, epsilon=2.0, delta=1e-6)
    made = find(method)(epsilon=2.0, delta=1e-6)
    with pytest.raises(SettingError, match="would be missing"):
        check(made, people=60, keep_apart=0.1)
