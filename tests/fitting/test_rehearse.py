"""What would stop a fit half-way stops it before it is charged (break 3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit import engine
from tacit.bound import Rows
from tacit.engine import make_engine
from tacit.engine.threads import Threads
from tacit.errors import Failure, SettingError
from tacit.evaluation import sweep
from tacit.evaluation.arms import Arm
from tacit.evaluation.protocol import HeldBack
from tacit.fitting import rehearse as rehearsing
from tacit.fitting.run import _Run
from tacit.fitting.run import rehearse as rehearse_fit
from tacit.ledger.book.book import open_book
from tacit.methods import find, names
from tacit.methods import rehearsal as trying
from tacit.methods.baselines.popularity import Popularity
from tacit.methods.rehearsal import ITEMS, PEOPLE, few_items, invented
from tacit.noise.release import NoNoise
from tacit.rounds.options import How
from tacit.rounds.people import Everyone


@pytest.fixture
def ratings():
    from tacit.data.sample import sample

    return sample(people=60, ratings=900, seed=1)


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    """Nothing was rehearsed before: these tests change what is."""
    monkeypatch.setattr(rehearsing, "_PASSED", set())


def broken(*_: object) -> None:
    raise ZeroDivisionError("a mistake of the method")


def test_a_method_that_breaks_is_not_charged(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(Popularity, "finish", broken)
    ledger = tmp_path / "book"
    with pytest.raises(Failure, match="nothing was charged"):
        Popularity(epsilon=1.0, ledger=str(ledger)).fit(ratings)
    assert not ledger.exists()


class Broken(Threads):
    """An engine of another package, with an error in it."""

    name = "broken"
    like = "threads"
    run = broken


def test_an_engine_from_outside_that_breaks_is_not_charged(ratings, tmp_path, monkeypatch):
    known = {**engine.OWN, "broken": f"{__name__}:Broken"}
    monkeypatch.setattr(engine, "registered", lambda: known)
    ledger = tmp_path / "book"
    method = Popularity(epsilon=1.0, ledger=str(ledger), engine="broken")
    with pytest.raises(Failure, match="nothing was charged"):
        method.fit(ratings, users=60)
    assert not ledger.exists()


def test_rows_that_an_engine_would_refuse_are_not_charged(ratings, tmp_path, monkeypatch):
    """What a bound takes for granted is checked on invented people too: here everybody is
    listed as two, who would be bounded as two."""
    plan = Popularity.plan

    def contribute(block, state):
        count = 2 * len(block.people)
        index = np.zeros(count, np.uint32)
        rows = Rows(np.arange(count + 1), index, np.ones((count, 1)))
        return {"weights": rows, "mean": rows}

    def crowded(self, public):
        made = plan(self, public)
        first = replace(made.rounds[0], contribute=contribute)
        return replace(made, rounds=(first, *made.rounds[1:]))

    monkeypatch.setattr(Popularity, "plan", crowded)
    ledger = tmp_path / "book"
    with pytest.raises(Failure, match="person by person"):
        Popularity(epsilon=1.0, ledger=str(ledger)).fit(ratings, users=60)
    assert not ledger.exists()


def test_an_evaluation_that_breaks_is_not_booked(ratings, monkeypatch):
    monkeypatch.setattr(Popularity, "finish", broken)
    booked = []
    arm = Arm("popularity", "user", "sound", 1.0)
    with pytest.raises(Failure, match="invented people"):
        sweep.run(ratings, [arm], ready=lambda: booked.append(1))
    assert not booked


def test_trials_of_an_evaluation_do_not_rehearse_again(ratings, monkeypatch):
    seen: list[int] = []
    monkeypatch.setattr(trying, "invented", _noticed(seen))
    arm = Arm("popularity", "user", "sound", 1.0)
    sweep.run(ratings, [arm], HeldBack(seeds=2))
    assert len(seen) == 1


def test_an_engine_from_outside_is_tried_before_it_is_booked(ratings, monkeypatch):
    known = {**engine.OWN, "broken": f"{__name__}:Broken"}
    monkeypatch.setattr(engine, "registered", lambda: known)
    booked = []
    options = {"engine": "broken"}
    arm = Arm("popularity", "user", "sound", 1.0, options=options)
    with pytest.raises(Failure, match="nothing was charged"):
        sweep.run(ratings, [arm], ready=lambda: booked.append(1))
    assert not booked


def test_a_split_that_cannot_be_is_not_booked(ratings):
    booked = []
    arm = Arm("popularity", "user", "sound", 1.0)
    with pytest.raises(SettingError):
        sweep.run(ratings, [arm], HeldBack(folds=1), ready=lambda: booked.append(1))
    assert not booked


def test_a_plan_without_noise_for_its_engine_is_not_charged(ratings, tmp_path):
    """The devices of a federation have no noise for this round: found before the charge."""
    ledger = tmp_path / "book"
    method = find("bayes")(epsilon=1.0, delta=0.0, engine="federated", ledger=str(ledger))
    try:
        method.fit(ratings, users=60)
    except SettingError:
        assert not ledger.exists()
    else:
        assert len(open_book(str(ledger)).entries()) == 2


@pytest.mark.parametrize("name", names())
def test_every_method_is_rehearsed_at_every_unit(name, ratings, monkeypatch):
    """The rehearsal refuses nothing that would have run."""
    seen = []
    monkeypatch.setattr(trying, "invented", _noticed(seen))
    cls = find(name)
    users = None if cls.local or "threads" in cls.engines else 60
    for unit in cls.units:
        from tacit.fitting.run import rehearse

        rehearse(cls(epsilon=1.0, unit=unit), ratings, users=users)
        assert seen, f"{name} at {unit} was not rehearsed"
        seen.clear()


def _noticed(seen: list[int]):
    def made(schema, catalogue, seed=0):
        seen.append(len(catalogue))
        return invented(schema, catalogue, seed)

    return made


def test_invented_people_are_of_every_size():
    from tacit.data.sample import sample_catalogue

    few = few_items(sample_catalogue())
    assert len(few) == ITEMS
    made = invented(tacit.Schema(1, 5), few)
    counts = made.ptr[1:] - made.ptr[:-1]
    assert (made.n_users, counts.min(), counts.max()) == (PEOPLE, 1, ITEMS)
    assert made.value.min() >= 1
    assert made.value.max() <= 5


@pytest.mark.parametrize("name", names())
def test_what_is_absorbed_is_what_an_engine_releases(name, ratings, monkeypatch):
    """Plain arrays beside the engine that would run it, round by round, at every unit."""
    seen = []
    add = trying.Gatherings.add
    summed = trying.summed

    def remembered(self, round_, state):
        seen[:] = [state]
        return add(self, round_, state)

    for unit in find(name).units:
        method = find(name)(epsilon=1.0, unit=unit)
        run = _Run(method, ratings, None, 60, None)
        public = trying.reduce_public(run.settled.public)
        people = invented(public.schema, public.catalogue)
        engine = make_engine(people, How(engine=run.order.runs_on, threads=1))
        rounds = []

        def beside(round_, rows, takes, engine=engine, rounds=rounds):
            found = summed(round_, rows, takes)
            whole = replace(round_, takes_part=Everyone())
            told = engine.run(whole, seen[0], NoNoise())
            for part in round_.parts:
                one, other = found[part.name].value, told[part.name].value
                assert one.shape == other.shape
                assert one.dtype == other.dtype
                # The entries of a weighted matrix are rounded person by person.
                near = len(takes) / part.bound.steps * (part.form == "gram")
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=near)
            rounds.append(round_.name)
            return found

        monkeypatch.setattr(trying.Gatherings, "add", remembered)
        monkeypatch.setattr(trying, "summed", beside)
        trying.rehearsed(method, run.settled.public)
        assert rounds


def test_a_plan_is_made_once_for_the_same_method_and_facts(ratings):
    method = tacit.Bias(epsilon=1.0)
    made = rehearse_fit(method, ratings, once=True)
    part = ratings.take(np.arange(len(ratings)) % 10 > 0)
    same = _Run(method, part, None, None, None, rehearsed=made)
    assert same.priced is made.priced
    other = tacit.Bias(epsilon=1.0)
    fewer = replace(part, items=[f"x{name}" for name in part.items])
    declared = replace(part, schema=part.schema.declare(50))
    for asked, data in ((other, part), (method, fewer), (method, declared)):
        run = _Run(asked, data, None, None, None, rehearsed=made)
        assert run.priced is not made.priced


def test_the_round_that_is_passed_over_is_tried_too(ratings, tmp_path, monkeypatch):
    """Which of two runs is decided by releases, after the charge."""
    from tacit.methods.item_item import ease

    monkeypatch.setattr(ease, "LEAST_TOLD_RATING", np.inf)
    monkeypatch.setattr(ease, "beside_popularity", broken)
    ledger = tmp_path / "book"
    method = tacit.EASE(epsilon=1.0, unit="rating", ledger=str(ledger))
    with pytest.raises(Failure, match="nothing was charged"):
        method.fit(ratings, users=100_000)
    assert not ledger.exists()
