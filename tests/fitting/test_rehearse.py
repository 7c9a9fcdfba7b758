"""What would stop a fit half-way stops it before it is charged (break 3)."""

from __future__ import annotations

import pytest

import tacit
from tacit.errors import Failure, SettingError
from tacit.evaluation import sweep
from tacit.evaluation.arms import Arm
from tacit.evaluation.how import HeldBack
from tacit.fitting import rehearse as rehearsal
from tacit.ledger.book.book import open_book
from tacit.methods import find, names
from tacit.methods.baselines.popularity import Popularity
from tacit.methods.rehearsal import ITEMS, PEOPLE, few_items, invented


@pytest.fixture
def ratings():
    from tacit.data.sample import sample

    return sample(people=60, ratings=900, seed=1)


def broken(*_: object) -> None:
    raise ZeroDivisionError("a mistake of the method")


def test_a_method_that_breaks_is_not_charged(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(Popularity, "finish", broken)
    ledger = tmp_path / "book"
    with pytest.raises(Failure, match="nothing was charged"):
        Popularity(epsilon=1.0, ledger=str(ledger)).fit(ratings)
    assert not ledger.exists()


def test_an_evaluation_that_breaks_is_not_booked(ratings, monkeypatch):
    monkeypatch.setattr(Popularity, "finish", broken)
    booked = []
    arm = Arm("popularity", "user", "sound", 1.0)
    with pytest.raises(Failure, match="invented people"):
        sweep.run(ratings, [arm], ready=lambda: booked.append(1))
    assert not booked


def test_a_split_that_cannot_be_is_not_booked(ratings):
    booked = []
    arm = Arm("popularity", "user", "sound", 1.0)
    with pytest.raises(SettingError):
        sweep.run(
            ratings, [arm], HeldBack(folds=1), ready=lambda: booked.append(1)
        )
    assert not booked


def test_a_plan_without_noise_for_its_engine_is_not_charged(ratings, tmp_path):
    """The devices of a federation have no noise for this round: found before the charge."""
    ledger = tmp_path / "book"
    method = find("bayes")(
        epsilon=1.0, delta=0.0, engine="federated", ledger=str(ledger)
    )
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
    monkeypatch.setattr(rehearsal, "invented", _noticed(seen))
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
