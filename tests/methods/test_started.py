"""Fits that start from an earlier model: better than alone, charged for their own rounds
only, over the items of both; and never from a model that nobody paid for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit import Bayes, Bias, Catalogue, sample, sample_catalogue
from tacit.data.splits import per_rating
from tacit.errors import SettingError
from tacit.evaluation.sweep import measure
from tacit.fitting.run import _Run, fit, trial
from tacit.model.extend import BY_ITEM, add_items
from tacit.model.model import Model


@pytest.fixture(scope="module")
def split():
    return per_rating(sample(people=1500, ratings=60_000, seed=5), 0.1, 0)


@pytest.fixture(scope="module")
def first(split):
    return trial(Bayes(epsilon=1.0), split.train, items=sample_catalogue(), users=1500)


def half(ratings, part):
    return ratings.take(ratings.user % 2 == part)


@pytest.mark.parametrize("method", [Bayes, Bias])
@pytest.mark.parametrize("unit", ["user", "rating"])
def test_a_poor_budget_does_better_from_a_good_start(split, method, unit):
    """At epsilon .05 a fit knows nothing; what it starts from must survive it."""
    start = trial(
        method(epsilon=20.0, unit=unit), split.train, items=sample_catalogue(), users=1500
    )
    poor = method(epsilon=0.05, unit=unit)
    alone = trial(poor, split.train, items=sample_catalogue(), users=1500)
    refreshed = trial(poor, split.train, items=sample_catalogue(), users=1500, start=start)
    errors = [measure(model, split, lists=False)["rmse"] for model in (start, refreshed, alone)]
    assert errors[1] < (errors[0] + errors[2]) / 2


def test_a_good_budget_outweighs_a_poor_start(split):
    """What was known badly may not hold back what is released now."""
    start = trial(Bayes(epsilon=0.05), split.train, items=sample_catalogue(), users=1500)
    alone, refreshed = (
        trial(Bayes(epsilon=10.0), split.train, items=sample_catalogue(), users=1500, start=one)
        for one in (None, start)
    )
    assert (
        measure(refreshed, split, lists=False)["rmse"]
        < measure(alone, split, lists=False)["rmse"] + 0.01
    )


@pytest.mark.parametrize("method", [Bayes, Bias])
def test_it_is_charged_for_its_own_rounds_only(split, first, method):
    runs = [
        _Run(method(epsilon=2.0), split.train, sample_catalogue(), 1500, None, start)
        for start in (None, first)
    ]
    # An earlier model has answered how widely tastes vary, if it was a question.
    names = [[event.name for event in run.events] for run in runs]
    assert names[1] == [name for name in names[0] if name != "widths/gains"]
    strength = [sum((one.sensitivity / one.sigma) ** 2 for one in run.events) for run in runs]
    assert strength[1] == pytest.approx(strength[0], rel=1e-6)


def test_items_of_the_start_stay_and_new_ones_come(split, first):
    """The new table lacks some items of the old model and has one that it never saw."""
    whole = sample_catalogue()
    fewer = split.train.take(split.train.item < 40)
    renamed = replace(fewer, items=[*whole.ids[:39], "fresh", *whole.ids[40:]])
    model = trial(Bayes(epsilon=1.0), renamed, users=1500, start=first)
    assert set(model.shared.catalogue.ids) == {*whole.ids, "fresh"}
    assert model.shared.catalogue.tags == whole.tags  # the features of the earlier model are kept
    assert np.isfinite(model.shared.arrays["loadings"][model.shared.catalogue.index["fresh"]]).all()


@pytest.mark.parametrize("epsilon", [0.3, 20.0])
def test_what_is_known_of_items_without_new_ratings_stays(split, epsilon):
    start = trial(Bayes(epsilon=20.0), split.train, items=sample_catalogue(), users=1500)
    fewer = split.train.take(split.train.item < 40)
    model = trial(Bayes(epsilon=epsilon), fewer, items=sample_catalogue(), users=1500, start=start)
    before, after = (one.shared.arrays["baseline"][40:] for one in (start, model))
    assert np.std(after - before) < 0.4 * np.std(before)


def test_rows_follow_ids_not_places(split):
    """The same start with its items in another order gives the same prior."""
    start = trial(Bayes(epsilon=5.0), split.train, items=sample_catalogue(), users=1500)
    order = np.random.default_rng(0).permutation(len(sample_catalogue()))
    given = start.shared.arrays
    turned_rows = {name: given[name][order] for name in BY_ITEM}
    arrays = {**given, **turned_rows, "kept": given["kept"][:, order]}
    ids = [sample_catalogue().ids[i] for i in order]
    turned = Model(replace(start.shared, arrays=arrays, catalogue=Catalogue(ids)), start.statement)
    twins = [
        trial(Bayes(calibration="none"), split.train, items=sample_catalogue(), start=one)
        for one in (start, turned)
    ]
    np.testing.assert_allclose(*(twin.shared.arrays["baseline"] for twin in twins), atol=1e-5)


def test_starts_may_follow_one_another_without_end(split):
    model = None
    for _ in range(4):
        model = trial(
            Bayes(epsilon=3.0, unit="rating"),
            half(split.train, 0),
            items=sample_catalogue(),
            users=750,
            start=model,
        )
    assert model.shared.arrays["loadings"].shape[1] <= 1 + 40 + 30
    assert measure(model, split, lists=False)["rmse"] < 1.0


class TestLedger:
    @pytest.fixture
    def book(self, tmp_path):
        return str(tmp_path / "book")

    @pytest.fixture
    def paid(self, book):
        return fit(
            Bayes(epsilon=1.0, ledger=book), sample(people=120), items=sample_catalogue(), users=120
        )

    def test_the_book_adds_both_and_the_statement_names_the_start(self, book, paid, tmp_path):
        paid.save(tmp_path / "model")
        method = Bayes(epsilon=1.0, ledger=book).fit(
            sample(people=120, seed=1),
            items=sample_catalogue(),
            users=120,
            start=tacit.load(tmp_path / "model"),
        )
        spent = tacit.open_book(book).spent()["user"]
        assert spent.entries == 2
        assert 1.4 < spent.epsilon < 1.5
        assert method.statement_.epsilon == 1.0
        assert any(paid.shared.digest()[:16] in words for words in method.statement_.public)
        assert method.fitted.shared.settings["started_from"] == paid.shared.digest()
        assert tacit.open_book(book).entries()[2].purpose == "fit bayes, started from entry 1"

    def refused(self, words, book, start, method=Bayes, ratings=None):
        entries = len(tacit.open_book(book).entries())
        with pytest.raises(SettingError, match=words):
            fit(
                method(epsilon=1.0, ledger=book),
                ratings or sample(people=120),
                users=120,
                start=start,
            )
        assert len(tacit.open_book(book).entries()) == entries

    def test_another_scale_is_refused(self, book, paid):
        ratings = sample(people=120)
        wider = replace(ratings, schema=replace(ratings.schema, low=0.5))
        self.refused("scale 1,5, the ratings have 0.5,5", book, paid, ratings=wider)

    def test_another_method_is_refused(self, book, paid):
        self.refused("popularity cannot start from a model of bayes", book, paid, tacit.Popularity)

    def test_a_model_that_is_not_private_is_refused(self, book, paid):
        twin = fit(Bayes(calibration="none"), sample(people=120), items=sample_catalogue())
        self.refused("not certified", book, twin)

    def test_a_model_of_another_ledger_is_refused(self, book, paid, tmp_path):
        self.refused("does not know the model", str(tmp_path / "other"), paid)

    def test_a_model_that_was_changed_is_refused(self, book, paid):
        more = add_items(paid.shared, Catalogue(["new"]))
        self.refused("add-items", book, Model(more, paid.statement))
        other = replace(paid.shared, settings={"changed": True})
        self.refused("changed after", book, Model(other, paid.statement))

    def test_a_model_that_kept_nothing_is_refused(self, book, paid):
        self.refused(
            "another version",
            book,
            Model(replace(paid.shared, numbers={"noise": 0.7}), paid.statement),
        )

    def test_new_people_may_have_a_book_of_their_own(self, book, paid):
        others = replace(sample(people=120, seed=1), users=[f"new {i}" for i in range(120)])
        newcomers = Bayes(epsilon=1.0, ledger=book, population="newcomers")
        fit(newcomers, others, items=sample_catalogue(), users=120, start=paid)
        assert tacit.open_book(book, "newcomers").spent()["user"].epsilon == pytest.approx(
            1.0, rel=1e-6
        )
