"""More methods over the same wire: sums of products, one round instead of another, reports
of the local model."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.methods import find

PEOPLE = 24


@pytest.fixture(scope="module")
def ratings():
    return sample(people=PEOPLE, ratings=500, seed=8)


def same(got, expected) -> bool:
    return set(got.arrays) == set(expected.arrays) and all(
        np.array_equal(got.arrays[name], array) for name, array in expected.arrays.items()
    )


@pytest.mark.parametrize("method", ["als", "one-bit"])
def test_without_noise_http_equals_one_process_bit_for_bit(federation, ratings, method) -> None:
    f = federation(ratings, method=method, cohort=PEOPLE, least=PEOPLE)
    f.start()
    f.train()
    engine = "federated" if method == "als" else "simulate"
    expected = find(method)(calibration="none", engine=engine).fit(ratings, users=PEOPLE).model_
    assert same(f.model().shared, expected.shared)


@pytest.mark.parametrize(("unit", "epsilon"), [("user", 30), ("rating", 400)])
def test_with_noise_devices_answer_the_round_that_released_numbers_call_for(
    federation, monkeypatch, unit, epsilon
) -> None:
    """The covariance, or item sums instead of it: noise may decide which, but it is one,
    and for all the same."""
    people = sample(people=PEOPLE, ratings=500 if unit == "user" else 2000, seed=8)
    f = federation(
        people,
        method="bayes",
        calibration="sound",
        unit=unit,
        epsilon=epsilon,
        delta=1e-5,
        users=6000,
        cohort=PEOPLE,
        least=20,
    )
    f.start()
    seen: dict[int, set[str]] = {}
    answer = Device.answer

    def watched(self, *given):
        found = answer(self, *given)
        seen[self.label] = self.ran
        return found

    monkeypatch.setattr(Device, "answer", watched)
    f.train(policy=Policy(epsilon=2 * epsilon, delta=1e-5, unit=unit))
    (ran,) = {frozenset(each & {"effects instead", "covariance"}) for each in seen.values()}
    assert len(ran) == 1
    assert f.model().statement.certified == "certified"
    assert f.model().statement.epsilon <= epsilon


def test_a_restart_after_the_choice_of_a_round_comes_to_the_same_model(federation) -> None:
    people = sample(people=PEOPLE, ratings=500, seed=8)
    f = federation(people, method="bayes", cohort=PEOPLE, least=PEOPLE)
    f.start()
    rounds = f.get("recommender", "/v1/status")["rounds"]

    async def run() -> None:
        fleet = asyncio.create_task(f.fleet())
        await f.reached(rounds - 5, fleet)  # amid the sweeps
        f.kill("recommender")
        await asyncio.to_thread(f.start, "recommender")
        assert not (await asyncio.wait_for(fleet, PATIENCE)).failed

    asyncio.run(run())
    f.published()
    expected = (
        find("bayes")(calibration="none", engine="federated").fit(people, users=PEOPLE).model_
    )
    assert same(f.model().shared, expected.shared)


@pytest.mark.parametrize(
    ("method", "form"), [("one-bit", "descent"), ("one-bit-projected", "effects")]
)
def test_reports_over_http_equal_simulate(federation, ratings, monkeypatch, method, form) -> None:
    """With the randomizing switched off both trainings must agree to the last bit: the same
    people are in the same slices, the same labels ask about the same directions, and all
    that is between them is the wire."""
    from tacit.engine import simulate

    settings = {"form": form} | ({"rounds": 2, "rank": 3} if form == "descent" else {})
    f = federation(
        ratings,
        method=method,
        calibration="sound",
        epsilon=4,
        cohort=PEOPLE,
        least=1,
        seconds=8,  # for who is in a slice to answer; and where nobody is
        gather=3,  # for all to come
        set=settings,
        aggregator=["--least", "1"],
    )
    f.start()
    places: dict[int, int] = {}
    check = Device.check_task

    def noted(self) -> None:
        places[self.label] = self.place
        check(self)

    monkeypatch.setattr(Device, "check_task", noted)
    for module in ("federation.agreed.assembled", "engine.answers"):
        monkeypatch.setattr(
            f"tacit.{module}.respond", lambda event, values: np.where(values >= 0, 1, -1)
        )
        monkeypatch.setattr(
            f"tacit.{module}.choose", lambda event, favoured: favoured[:, 0].astype(np.int64)
        )
    report = f.train(policy=Policy(epsilon=5, delta=1e-5))
    assert report.answered <= PEOPLE
    own = simulate.Simulate.__init__

    def placed(self, *given, **more) -> None:
        own(self, *given, **more)
        self._places = np.array([places[person] for person in range(PEOPLE)], np.uint64)

    monkeypatch.setattr(simulate.Simulate, "__init__", placed)
    # The places are those of the real people: nobody is invented here.
    monkeypatch.setattr("tacit.fitting.run._Run.rehearse", lambda _: None)
    again = find(method)(epsilon=4, engine="simulate", **settings, ledger=str(f.folder / "other"))
    assert same(f.model().shared, again.fit(ratings, users=PEOPLE).model_.shared)
    assert "Nobody is trusted" in f.model().statement.trust


def test_one_cheat_out_of_range_spoils_its_round_and_stops_nothing(
    federation, ratings, monkeypatch
) -> None:
    """A device that sends words far past its clip: the round counts as nothing, the model
    is published and says so."""
    whole = Device._weighted_integers

    def cheat(self, part, layout, given, count):
        found = whole(self, part, layout, given, count)
        return found + (1 << layout.bits - 2) if self.label == 3 and part.name == "sums" else found

    monkeypatch.setattr(Device, "_weighted_integers", cheat)
    f = federation(ratings, method="bias", cohort=PEOPLE, least=PEOPLE, set={"sweeps": 1})
    f.start()
    f.train()
    assert "out of range" in f.log("recommender")
    assert any("taken as nothing: 1 round" in line for line in f.model().statement.settings)
    assert np.isfinite(f.model().shared.arrays["baseline"]).all()


def test_of_several_sums_one_cheat_spoils_one_and_sits_out(
    federation, ratings, monkeypatch
) -> None:
    """Two sums of a round: the one without the cheat counts, in every round, and those who
    were summed with it are told why they take part no more."""
    whole = Device._weighted_integers

    def cheat(self, part, layout, given, count):
        found = whole(self, part, layout, given, count)
        return found + (1 << layout.bits - 2) if self.label == 3 else found

    monkeypatch.setattr(Device, "_weighted_integers", cheat)
    half = PEOPLE // 2
    f = federation(ratings, method="bias", cohort=PEOPLE, least=half, groups=2, set={"sweeps": 2})
    f.start()
    report = asyncio.run(asyncio.wait_for(f.fleet(), PATIENCE))
    f.published()
    assert set(report.failed) == {
        "this device sits out the rest of the training: a sum that it was in was out of range"
    }
    assert len(report.failed) == PEOPLE - half
    assert "out of range: its devices sit out" in f.log("recommender")
    told = f.model().statement.settings
    assert not any("taken as nothing" in line for line in told)
    assert np.any(f.model().shared.arrays["baseline"])


def test_a_round_of_the_descent_costs_one_gradient(federation) -> None:
    """Shin et al.'s Algorithm 2 as printed: everybody answers in every round, and is told
    one gradient of q rows, not the path of all item factors."""
    people = sample(people=6, ratings=200, seed=8)
    rank, rows, rounds = 15, 20, 6
    settings = {"rank": rank, "projection": rows, "rounds": rounds}
    f = federation(
        people,
        method="one-bit-projected",
        calibration="paper",
        epsilon=4,
        cohort=6,
        least=6,
        set=settings,
    )
    f.start()
    report = f.train()
    assert report.answered == 6 * (rounds + 1)  # k + 1 rounds, as printed
    told = report.bytes_down / report.answered
    overhead = 1000  # headers: the ticket, names, digests
    assert told < rows * rank * 4 + overhead
    assert told < len(people.items) * rank * 4 / 3
