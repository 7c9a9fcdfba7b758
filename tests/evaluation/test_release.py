"""Figures about a model: what is published, what it costs, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import tacit
from tacit.data.sample import sample, sample_catalogue
from tacit.errors import BudgetError, Failure, SettingError
from tacit.evaluation.figures import PartNoise, Ratio, figures
from tacit.evaluation.release import doubled, load_release, release, verify_release
from tacit.evaluation.summed import FigureSums, MeasuredMethod, MeasuredSettings
from tacit.fitting.run import _Run
from tacit.noise.release import NoNoise

PEOPLE = 400


@pytest.fixture
def ratings():
    return sample(people=PEOPLE, ratings=12_000, seed=5)


@pytest.fixture
def model(ratings):
    method = tacit.Bias(epsilon=4.0)
    method.fit(ratings, items=sample_catalogue(), users=PEOPLE, keep_apart=0.2)
    return method.model_


def exact(model, ratings, **settings):
    """The figures without noise."""
    method = MeasuredMethod(model, epsilon=1.0, **settings)
    run = _Run(method, doubled(model, ratings), None, PEOPLE, None)
    round_ = run.settled.plan.rounds[0]
    released = run.engine.run(round_, run.first_state(), NoNoise())
    return round_.absorb(run.first_state(), released)


def test_figures_are_those_of_the_ratings_that_were_kept_apart(model, ratings):
    """Against a computation of its own, with nothing cut."""
    ratings = ratings.take(ratings.user < 80)
    sums = exact(model, ratings, most=1000, worst=16.0)
    rule = model.statement.apart
    held = rule.held(ratings)
    errors = []
    hits = []
    for person in range(ratings.n_users):
        row = ratings.row(person)
        mine = {
            ratings.items[i]: float(v)
            for i, v in zip(ratings.item[row], ratings.value[row], strict=True)
        }
        apart = {ratings.items[i] for i in ratings.item[row][held[row]].tolist()}
        seen = {i: v for i, v in mine.items() if i not in apart}
        told = {each.item: each.rating for each in model.predict(seen)}
        errors += [told[i] - mine[i] for i in apart]
        liked = {i for i in apart if mine[i] >= 4}
        if liked:
            found = {each.item for each in model.recommend(seen, 20, reasons=0)}
            hits.append(len(found & liked) / min(20, len(liked)))
    made = {
        each.name: each.value
        for each in figures(
            replace(sums, noise=dict.fromkeys(("errors", "hits", "lists"), 0.0)),
            MeasuredSettings(most=1000, worst=16.0),
            "gaussian",
            1.0,
        )
    }
    assert made["rmse"] == pytest.approx(sqrt(np.mean(np.square(errors))), rel=1e-3)
    assert made["recall@20"] == pytest.approx(np.mean(hits), rel=1e-4)


def test_a_release_is_charged_and_adds_to_the_fit(model, ratings):
    before = tacit.open_book().spent()["user"].epsilon
    made = release(model, ratings, epsilon=0.5)
    promise = made.statement
    assert promise.certified == "certified"
    assert (promise.epsilon, promise.unit) == (0.5, "user")
    assert promise.published == "figures"
    spent = tacit.open_book().spent()["user"].epsilon
    assert spent > before
    assert promise.total is not None
    assert promise.total.epsilon == pytest.approx(spent)
    assert [link.number for link in promise.starts] == [1]
    assert promise.chain_epsilon == pytest.approx(spent)
    assert "published figures are" in str(promise)
    tacit.open_book().verify()


def test_whoever_has_the_book_can_check_published_figures(model, ratings, tmp_path):
    made = release(model, ratings, epsilon=1.0)
    made.save(tmp_path / "figures.json")
    book = tacit.open_book()
    assert verify_release(load_release(tmp_path / "figures.json"), book)[0]
    facts = json.loads((tmp_path / "figures.json").read_text())
    facts["figures"][0]["value"] = 0.1
    (tmp_path / "better.json").write_text(json.dumps(facts))
    holds, why = verify_release(load_release(tmp_path / "better.json"), book)
    assert not holds
    assert "other figures" in why
    facts = json.loads((tmp_path / "figures.json").read_text())
    facts["statement"]["epsilon"] = 0.01
    (tmp_path / "cheaper.json").write_text(json.dumps(facts))
    assert not verify_release(load_release(tmp_path / "cheaper.json"), book)[0]


def test_the_charge_stands_before_any_noise_is_drawn(model, ratings, monkeypatch):
    def crash(*_, **__):
        raise Failure("the machine went away")

    monkeypatch.setattr("tacit.noise.release.draw_law", crash)
    with pytest.raises(Failure, match="went away"):
        release(model, ratings, epsilon=0.5)
    last = tacit.open_book().entries()[-1]
    assert (last.kind, last.method) == ("reserve", "figures")


def test_a_capped_book_refuses_what_is_too_much(model, ratings):
    book = tacit.open_book()
    book.cap(4.05, 1e-6, "user")
    with pytest.raises(BudgetError, match="overspent"):
        release(model, ratings, epsilon=2.0)
    release(model, ratings, epsilon=0.1)
    book.verify()


def test_a_model_that_saw_all_ratings_is_refused(ratings):
    seen = tacit.Bias(epsilon=1.0).fit(ratings, users=PEOPLE).model_
    with pytest.raises(SettingError, match="kept no ratings apart"):
        release(seen, ratings, epsilon=1.0)


def test_a_model_that_nobody_paid_for_is_refused(ratings, model, tmp_path):
    """A metric of an uncharged fit would release the fit."""
    twin = tacit.Bias(calibration="none").fit(ratings, keep_apart=0.2).model_
    with pytest.raises(SettingError, match="not certified"):
        release(twin, ratings, epsilon=1.0)
    with pytest.raises(SettingError, match="does not know"):
        release(model, ratings, epsilon=1.0, ledger=str(tmp_path / "other.db"))
    forged = tacit.Model(replace(twin.shared, settings={"forged": 1}), model.statement)
    with pytest.raises(SettingError, match="does not know"):
        release(forged, ratings, epsilon=1.0)


def test_another_rule_than_the_signed_one_is_refused(model, ratings):
    """Whoever moves ratings from one side to the other needs the key of the book."""
    rule = tacit.data.held_out.keep_apart(0.2)
    moved = model.statement.model_copy(update={"apart": rule})
    with pytest.raises(SettingError, match="does not know"):
        release(tacit.Model(model.shared, moved), ratings, epsilon=1.0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"unit": "rating"}, "for each user"),
        ({"population": "others"}, "charged to the population"),
        ({"delta": 0.01}, "delta is 0.01"),
        ({"epsilon": 0.0}, "positive"),
        ({"places": 1000}, "places"),
        ({"only": ["mae"]}, "no figure mae"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_charged(model, ratings, options, says):
    before = tacit.open_book().head
    with pytest.raises(SettingError, match=says):
        release(model, ratings, **{"epsilon": 1.0, **options})
    assert tacit.open_book().head == before


def test_ratings_of_another_scale_are_refused(model, ratings):
    other = replace(ratings, schema=replace(ratings.schema, high=10.0))
    with pytest.raises(SettingError, match="scale"):
        release(model, other, epsilon=1.0)


def test_a_start_that_saw_them_is_refused_and_one_that_did_not_is_followed(model, ratings):
    plain = tacit.Bayes(epsilon=1.0).fit(ratings, users=PEOPLE).model_
    with pytest.raises(SettingError, match="kept apart no ratings"):
        tacit.Bayes(epsilon=1.0).fit(ratings, users=PEOPLE, start=plain, keep_apart=0.2)
    first = tacit.Bayes(epsilon=1.0)
    first.fit(ratings, users=PEOPLE, keep_apart=0.2)
    second = tacit.Bayes(epsilon=1.0)
    second.fit(ratings, users=PEOPLE, start=first.model_, keep_apart=0.2)
    assert second.statement_.apart == first.statement_.apart


def test_a_start_of_a_stronger_unit_is_followed_in_what_is_kept_apart(ratings):
    """The figures promise what the later, weaker unit promises, and nothing else."""
    first = tacit.Bias(epsilon=1.0, unit="user")
    first.fit(ratings, users=PEOPLE, keep_apart=0.2)
    second = tacit.Bias(epsilon=1.0, unit="rating")
    second.fit(ratings, users=PEOPLE, start=first.model_, keep_apart=0.2)
    assert second.statement_.apart == first.statement_.apart
    assert release(second.model_, ratings, epsilon=1.0).statement.unit == ("rating")
    with pytest.raises(SettingError, match="would not keep that"):
        release(second.model_, ratings, epsilon=1.0, unit="user")
    with pytest.raises(SettingError, match="would not keep that"):
        tacit.Bias(epsilon=1.0, unit="user").fit(
            ratings, users=PEOPLE, start=second.model_, keep_apart=0.2
        )


def test_likes_have_recall_and_coverage_and_no_rmse(ratings):
    likes = ratings.take(ratings.value >= 4)
    likes = replace(likes, schema=replace(likes.schema, positive=4.0))
    ease = tacit.EASE(epsilon=4.0)
    ease.fit(likes, users=PEOPLE, keep_apart=0.2)
    names = [each.name for each in release(ease.model_, likes, epsilon=1.0).figures]
    assert names == ["recall@20", "coverage@20", "listed@20"]


def test_one_figure_has_the_whole_budget(model, ratings):
    made = release(model, ratings, epsilon=0.5, only=["recall"])
    assert [each.name for each in made.figures] == ["recall@20"]
    (event,) = made.statement.events
    whole = release(model, ratings, epsilon=0.5).statement.events
    hits = next(e for e in whole if e.name == event.name)
    assert event.sigma == pytest.approx(hits.sigma * 0.3**0.5, rel=1e-3)


def test_nobody_counts_people_for_figures(ratings):
    """Neither the exact number of people nor one percent of the budget is used."""
    counted = tacit.Bias(epsilon=4.0)
    counted.fit(ratings, items=sample_catalogue(), keep_apart=0.2)
    made = release(counted.model_, ratings, epsilon=1.0)
    assert {event.name for event in made.statement.events} == {
        "figures/errors",
        "figures/hits",
        "figures/lists",
    }
    assert "the declared number of people" not in made.statement.public


def test_without_delta_the_noise_is_pure(ratings):
    rated = tacit.Bias(epsilon=4.0, unit="rating")
    rated.fit(ratings, users=PEOPLE, keep_apart=0.2)
    made = release(rated.model_, ratings, epsilon=1.0, delta=0.0)
    assert {event.kind for event in made.statement.events} == {"laplace"}
    assert made.statement.unit == "rating"


def test_a_person_for_whom_a_model_has_no_answer_stops_nothing(model, ratings, monkeypatch):
    """No exit may depend on anybody's ratings."""
    real = type(model.personal).predict

    def predict(self, own):
        mean, sd = real(self, own)
        return (mean * np.nan if len(own.items) % 2 else mean), sd

    monkeypatch.setattr(type(model.personal), "predict", predict)
    sums = exact(model, ratings)
    assert np.isfinite(sums.errors).all()


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_intervals_hold_as_often_as_they_say(law):
    """4,000 releases of known sums: at least 90 % of intervals hold the truth, and those of
    Gaussian noise are not wider than that needs."""
    rng = np.random.default_rng(11)
    truth = (300.0, 1000.0)
    sd = 120.0
    runs = 4000
    noise = (
        rng.normal(0, sd, (runs, 2))
        if law == "gaussian"
        else rng.laplace(0, sd / sqrt(2), (runs, 2))
    )
    held = 0
    for a, b in noise:
        low, high = Ratio(truth[0] + a, truth[1] + b, PartNoise(law, sd)).interval
        held += low <= truth[0] / truth[1] <= high
    # 0.9 less or more six standard errors.
    slack = 6 * sqrt(0.09 / runs)
    assert held / runs >= 0.9 - slack
    if law == "gaussian":
        assert held / runs <= 0.9 + slack


def test_the_interval_of_coverage_holds():
    rng = np.random.default_rng(3)
    counts = np.floor(2000 / np.sqrt(np.arange(1, 501)))
    counts[100:] = 0.0  # none of them may be called listed
    truth = counts.sum() ** 2 / (counts**2).sum() / 500
    runs = 1000
    held = sure = 0
    settings = MeasuredSettings(places=20)
    for _ in range(runs):
        noisy = (counts + rng.normal(0, 40, 500)).reshape(-1, 1)
        made = {
            each.name: each
            for each in figures(
                FigureSums(lists=noisy, noise={"lists": 40.0}), settings, "gaussian", 1.0
            )
        }
        found = made["coverage@20"]
        held += found.low <= truth <= found.high
        sure += made["listed@20"].low <= (counts > 0).mean()
    assert held / runs >= 0.9 - 6 * sqrt(0.09 / runs)
    # Chosen for 95 %, all items together.
    assert sure / runs >= 0.95 - 6 * sqrt(0.95 * 0.05 / runs)


def test_noise_that_drowns_everything_gives_no_figure():
    low, high = Ratio(3.0, 2.0, PartNoise("gaussian", 50.0)).interval
    assert (low, high) == (0.0, float("inf"))
    assert Ratio(3.0, 2.0, PartNoise("gaussian", 50.0)).value is None
