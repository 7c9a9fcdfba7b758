"""What every method must do. A new method gets all of it by naming itself:

class TestMine(MethodTests):
    method = Mine
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np
import pytest

from tacit.auditing.neighbours import broken
from tacit.auditing.per_person import depends_on_others, not_alone
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.errors import DataError, SettingError
from tacit.fitting.check import check
from tacit.fitting.run import fit, trial
from tacit.ledger.account import account
from tacit.ledger.book.book import open_book
from tacit.methods.base import Method, Public
from tacit.model.model import Model, UnknownItem, load
from tacit.noise.bits import _inject
from tacit.rounds.plan import Budget
from tacit.units import Unit

__all__ = ["AloneTests", "broken", "depends_on_others", "not_alone"]
DELTAS = (1e-6, 0.0)
SEED = 11
"""Of the injected bits."""
FEW = 60
"""Declared, besides the true number: plans have other rounds for few and for many."""
MANY = 100_000

# Each person alone: what every method must do, and every promise stands on. Part of
# `MethodTests`.
#
# class TestMine(AloneTests):
#     method = Mine
#
# For every unit of the method, with a delta and without, through all rounds of the sound plan:
# what somebody adds is the same, bit for bit, in a block of all, by herself, in another order
# and among people who rate otherwise; and what is published follows from what was released,
# whoever contributes meanwhile. `not_alone` says the same of one method in words.


class AloneTests:
    """See the module. `MethodTests` has the fixtures; they may be replaced."""

    method: ClassVar[type[Method]]
    settings: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def items(self) -> Catalogue:
        """The public catalogue."""
        from tacit.testing.small_sample import few_films

        return few_films()

    @pytest.fixture
    def ratings(self) -> Ratings:
        """Invented people."""
        from tacit.testing.small_sample import few_ratings

        return few_ratings()

    def make(self, **options: Any) -> Method:
        """The method with the settings of this test."""
        return self.method(**({"epsilon": 2.0} | self.settings | options))

    def each(self, delta: float) -> Iterator[tuple[Unit, Method]]:
        """The method at every unit for which it has a plan with this delta."""
        for unit in self.method.units:
            yield unit, self.make(unit=unit, delta=delta)

    def for_each(self, delta: float, find: Callable[[Method], object]) -> None:
        """`find` finds nothing at any unit. Without a delta a method may have no plan, and
        says so; with one it has."""
        for unit, method in self.each(delta):
            try:
                differences = find(method)
            except SettingError:
                if delta > 0:
                    raise
                continue
            assert not differences, f"{method.name} at the unit {unit}: {differences}"

    @pytest.mark.parametrize("noise", ["off", "injected"])
    @pytest.mark.parametrize("delta", DELTAS)
    def test_each_person_is_computed_alone(
        self, ratings: Ratings, items: Catalogue, delta: float, noise: str
    ) -> None:
        """Whoever else is in her block, and whatever they have rated."""

        def find(method: Method) -> list[str]:
            source = np.random.default_rng(SEED).bytes
            with _inject(source) if noise == "injected" else nullcontext():
                return [
                    fault
                    for users in (FEW, MANY)
                    for fault in not_alone(
                        method, ratings, items, users=users, noise=noise == "injected"
                    )
                ]

        self.for_each(delta, find)

    @pytest.mark.parametrize("delta", DELTAS)
    def test_a_model_is_made_of_what_was_released(
        self, ratings: Ratings, items: Catalogue, delta: float
    ) -> None:
        """The same releases give the same model, whoever contributed."""
        self.for_each(delta, lambda method: depends_on_others(method, ratings, items, users=FEW))

    @pytest.mark.parametrize("most", [None, 12])
    @pytest.mark.parametrize("delta", DELTAS)
    def test_no_neighbour_moves_a_sum_by_more_than_was_charged(
        self, ratings: Ratings, items: Catalogue, delta: float, most: int | None
    ) -> None:
        """A hunt over neighbouring data sets, through the engine's sum over all people."""
        self.for_each(
            delta, lambda method: broken(method, items, ratings, users=FEW, max_ratings=most)
        )


class MethodTests(AloneTests):
    """Conformance of a method: each person alone, plan, charge, statement, personal side,
    files."""

    settings: ClassVar[dict[str, Any]] = {}
    """Settings that make it fast on the sample."""
    rated: ClassVar[bool] = True
    """False for methods of likes, which predict no rating."""

    _fitted: ClassVar[dict[type, tuple[Ratings, Catalogue, Model]]] = {}
    """One model for the tests of a class that only look at it."""

    @pytest.fixture
    def model(self, ratings: Ratings, items: Catalogue) -> Model:
        cached = self._fitted.get(type(self))
        if cached is None or cached[0] is not ratings or cached[1] is not items:
            model = trial(self.make(), ratings, items=items, users=400)
            cached = self._fitted[type(self)] = (ratings, items, model)
        return cached[2]

    def own(self, items: Catalogue) -> dict[str, float]:
        """Ratings of a stranger."""
        return {items.ids[0]: 5.0, items.ids[5]: 1.0, items.ids[9]: 4.0}

    def test_settings_survive_a_round_trip(self) -> None:
        method = self.make()
        copy = self.method(**method.get_params())
        assert copy.get_params() == method.get_params()
        assert (
            type(method.settings).model_validate_json(method.settings.model_dump_json())
            == method.settings
        )

    def test_an_unknown_setting_is_refused_by_name(self) -> None:
        with pytest.raises(SettingError, match="no_such_thing"):
            _ = self.make(no_such_thing=1).settings

    @pytest.mark.parametrize("epsilon", [0.1, 8.0])
    def test_the_plan_costs_its_budget_and_not_more(
        self, items: Catalogue, ratings: Ratings, epsilon: float
    ) -> None:
        for unit in self.method.units:
            budget = Budget(epsilon, 1e-6)
            schema = ratings.schema.declare(users=400)
            plan = self.make(unit=unit).plan(Public(schema, items, unit, "sound", budget))
            cost = account.epsilon(plan.events(budget).values(), 1e-6, unit=unit)
            assert 0.9 * epsilon < cost <= epsilon * (1 + 1e-9)

    def test_every_unit_fits_and_is_certified(
        self, ratings: Ratings, items: Catalogue, tmp_path: Any
    ) -> None:
        for unit in self.method.units:
            fitted = fit(
                self.make(unit=unit, ledger=str(tmp_path / "book")), ratings, items=items, users=400
            )
            assert fitted.statement.certified == "certified"
            assert fitted.statement.unit == unit
        book = open_book(str(tmp_path / "book"))
        assert [e.kind for e in book.entries()] == ["reserve", "commit"] * len(self.method.units)
        book.verify()

    def test_the_twin_says_that_it_is_not_private(self, ratings: Ratings, items: Catalogue) -> None:
        twin = trial(self.make(calibration="none", epsilon=None), ratings, items=items)
        assert twin.statement.certified == "not private"

    def test_without_declared_people_they_are_counted_first(
        self, ratings: Ratings, items: Catalogue
    ) -> None:
        method = self.make()
        order = check(method, people=400)
        public = order.unit == "value" or self.method.local
        if order.engine != "threads" and not public:
            with pytest.raises(SettingError, match="declared"):
                trial(method, ratings, items=items)
            return
        events = trial(method, ratings, items=items).statement.events
        counted_first = events[0].name == "people/count"
        assert counted_first is not public

    def test_a_file_gives_the_same_model_back(
        self, model: Model, items: Catalogue, tmp_path: Any
    ) -> None:
        model.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        assert loaded.shared.digest() == model.shared.digest()
        user_ratings = self.own(items)
        assert loaded.recommend(user_ratings, 5) == model.recommend(user_ratings, 5)
        assert (
            json.loads((tmp_path / "model" / "model.json").read_text())["method"]
            == self.method.name
        )

    def test_a_stranger_is_served(self, model: Model, items: Catalogue) -> None:
        user_ratings = self.own(items)
        lines = model.recommend(user_ratings, 7)
        assert len(lines) == 7
        assert not {line.item for line in lines} & set(user_ratings)
        for line in lines:
            numbers = (line.rating, line.error, line.score)
            assert np.isfinite([x for x in numbers if x is not None]).all()
        assert len(model.recommend({}, 3)) == 3

    def test_an_unknown_item_is_refused_in_words(self, model: Model, items: Catalogue) -> None:
        assert isinstance(model.find("no such item"), UnknownItem)
        with pytest.raises(DataError, match="not in this model"):
            model.predict(self.own(items), ["no such item"])
        with pytest.raises(DataError, match="not in this model"):
            model.explain(self.own(items), "no such item")

    def test_reasons_add_up_to_the_prediction(self, model: Model, items: Catalogue) -> None:
        if not self.rated:
            return
        user_ratings = self.own(items)
        explanation = model.explain(user_ratings, items.ids[20])
        predicted = model.predict(user_ratings, [items.ids[20]])[0]
        low, high = model.shared.schema.low, model.shared.schema.high
        assert explanation.rating is not None
        assert min(max(explanation.rating, low), high) == pytest.approx(predicted.rating, abs=1e-3)
        assert explanation.rating == pytest.approx(
            explanation.baseline + sum(x for _, x in explanation.own)
        )

    def test_the_model_holds_the_item_side_only(self, model: Model, ratings: Ratings) -> None:
        for name, array in model.shared.arrays.items():
            assert ratings.n_users not in array.shape, f"{name} has one row a person"
