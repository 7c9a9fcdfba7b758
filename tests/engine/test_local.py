"""The local engine and its simulation: the same answers, the device's last word, drop-outs
and cheats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import tacit
from tacit.bound import RowClip, Rows
from tacit.bound.report import Replaced, Report
from tacit.engine.local import Local
from tacit.engine.simulate import Scenario, Simulate
from tacit.errors import Failure, SettingError
from tacit.ledger.book.devices import DeviceBooks
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.people import Slice
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Kind, Part, Personal, Round
from tacit.rounds.state import State, later
from tacit.testing import EngineTests


class TestLocal(EngineTests):
    engine = Local

    def make(self, ratings, workers):
        return self.engine(ratings, workers)

    def round(self, ratings):
        kept = super().round(ratings)
        return Round(
            "r", (Part("sum", ratings.n_items, Replaced(1.0)),), kept.contribute, kept.absorb
        )


class TestSimulate(TestLocal):
    engine = Simulate


@pytest.fixture
def ratings():
    return tacit.sample(people=200, ratings=4000, seed=2)


def keep(state, released):
    return state


def mean_bit(block, state):
    counts = np.diff(block.ptr)
    people = np.repeat(np.arange(len(counts)), counts)
    means = np.bincount(people, block.value, len(counts)) / counts / 2
    return {
        "bits": Rows(
            np.arange(len(counts) + 1), (block.people % 3).astype(np.int64), means[:, None]
        )
    }


BITS = Round("r", (Part("bits", 3, Report(), kind=Kind.REPORT),), mean_bit, keep)


def charge(round_, epsilon=1.0):
    return Charge(Plan("user", (round_,)).events(Budget(epsilon, 0.0)).values())


def test_one_device_after_another_and_all_at_once_say_the_same(ratings):
    one = Local(ratings).run(BITS, State(), NoNoise())["bits"]
    all_ = Simulate(ratings, 2).run(BITS, State(), NoNoise())["bits"]
    assert np.allclose(one.value, all_.value)
    assert one.reports == all_.reports == 200


@pytest.mark.parametrize("engine", [Local, Simulate])
def test_reports_expect_their_values(ratings, engine):
    exact = Local(ratings).run(BITS, State(), NoNoise())["bits"].value
    runs = 5 if engine is Local else 60
    got = np.mean(
        [engine(ratings).run(BITS, State(), charge(BITS, 4.0))["bits"].value for _ in range(runs)],
        axis=0,
    )
    sd = engine(ratings).run(BITS, State(), charge(BITS, 4.0))["bits"].sd
    assert np.abs(got - exact).max() < 8 * sd / np.sqrt(runs)


@pytest.mark.parametrize("engine", [Local, Simulate])
def test_devices_refuse_past_their_own_cap_whatever_is_asked(ratings, engine):
    books = DeviceBooks(ratings.n_users, (2.0, 0.0))
    made = engine(ratings, books=books)
    answered = [made.run(BITS, State(), charge(BITS))["bits"].reports for _ in range(4)]
    assert answered == [200, 200, 0, 0]
    assert made.refused == 400


def test_a_device_pays_before_it_computes(ratings):
    def fails(block, state):
        raise RuntimeError("the device broke down")

    books = DeviceBooks(ratings.n_users, (1.0, 0.0))
    broken = Round("r", BITS.parts, fails, keep)
    with pytest.raises(RuntimeError):
        Local(ratings, books=books).run(broken, State(), charge(broken))
    assert books.spent(0) == pytest.approx(1.0)


@dataclass(frozen=True)
class Factors(State):
    factors: np.ndarray = later()
    derived: np.ndarray = later(derived=True)


def test_one_bit_goes_up_and_what_changed_comes_down(ratings):
    engine = Simulate(ratings)
    state = Factors(factors=np.zeros((5, 2)), derived=np.zeros(1000))
    for _ in range(2):
        engine.run(BITS, state, NoNoise())
    assert [(t.reports, t.bits_up, t.bytes_down) for t in engine.traffic] == [
        (200, 1, 80 + 8),  # and the number of people
        (200, 1, 0),
    ]


def test_a_choice_among_eight_takes_three_bits(ratings):
    part = Part("bits", 1, Report(), kind=Kind.REPORT, choices=8, favoured=2)

    def favour(block, state):
        return {"bits": Rows.one_each(np.tile([3.0, 5.0], (len(block.people), 1)))}

    round_ = Round("r", (part,), favour, keep)
    engine = Simulate(ratings)
    said = engine.run(round_, State(), charge(round_, 8.0))["bits"]
    assert engine.traffic[0].bits_up == 3
    assert said.value[:, 0].tolist() == list(range(200))
    assert np.isin(said.value[:, 1], [3, 5]).mean() > 0.9


def test_noise_on_a_whole_vector_is_drawn_by_every_device(ratings):
    def ones(block, state):
        return {"sum": Rows.one_each(np.full((len(block.people), 1), 0.5))}

    round_ = Round("r", (Part("sum", 400, Replaced(1.0)),), ones, keep)
    event = Plan("user", (round_,)).events(Budget(1.0, 1e-6))["r/sum"]
    got = Simulate(ratings).run(round_, State(), Charge([event]))["sum"]
    alone = event.sigma / round_.parts[0].bound.steps
    assert got.sd == pytest.approx(alone * np.sqrt(200))
    assert got.value[1:].std() == pytest.approx(got.sd, rel=0.3)
    assert event.sensitivity == pytest.approx(2 * round_.parts[0].bound.steps)


def test_a_bound_for_people_who_stay_away_is_refused(ratings):
    round_ = Round("r", (Part("sum", ratings.n_items, RowClip(1.0)),), mean_bit, keep)
    events = Plan("user", (round_,)).events(Budget(1.0, 1e-6))
    with pytest.raises(Failure, match="any two records"):
        Simulate(ratings).run(round_, State(), Charge(events.values()))


def test_a_device_gives_one_report_and_no_more(ratings):
    def greedy(block, state):
        return {"bits": Rows(block.ptr, np.zeros(len(block.item), np.int64), block.value[:, None])}

    with pytest.raises(Failure, match="one report"):
        Simulate(ratings).run(Round("r", BITS.parts, greedy, keep), State(), NoNoise())


def test_slices_share_nobody_and_leave_nobody_out(ratings):
    engine = Simulate(ratings)
    rounds = [
        Round(f"r{i}", BITS.parts, mean_bit, keep, Slice(i, 4, w)) for i, w in ((0, 3), (3, 1))
    ]
    assert sum(engine.run(r, State(), NoNoise())["bits"].reports for r in rounds) == 200


def test_overlapping_slices_are_no_plan():
    with pytest.raises(SettingError, match="share people"):
        Plan(
            "user",
            tuple(Round(f"r{i}", BITS.parts, mean_bit, keep, Slice(i, 4, 2)) for i in (0, 1)),
        )


def test_drop_outs_late_joiners_and_leavers_are_absent(ratings):
    scenario = Scenario(drop_out=0.2, late=0.5, leave=0.5, over=10, seed=1)
    engine = Simulate(ratings, scenario=scenario)
    counts = [engine.run(BITS, State(), NoNoise())["bits"].reports for _ in range(12)]
    assert 50 < counts[0] < 110  # half have not joined, a fifth of the rest dropped out
    assert 50 < counts[-1] < 110  # half have left
    assert max(counts) < 150


def test_those_who_are_away_keep_their_state(ratings):
    def count(block, state):
        block.personal["turns"][:, 0] += 1
        return mean_bit(block, state)

    round_ = Round("r", BITS.parts, count, keep, personal=(Personal("turns", 1),))
    engine = Simulate(ratings, scenario=Scenario(drop_out=0.5, seed=3))
    answered = sum(engine.run(round_, State(), NoNoise())["bits"].reports for _ in range(6))
    assert engine._personal["turns"].sum() == answered


def test_a_cheat_moves_a_sum_by_one_answer_at_most(ratings):
    exact = Simulate(ratings).run(BITS, State(), NoNoise())["bits"].value
    cheated = (
        Simulate(ratings, scenario=Scenario(cheats=0.1, seed=5))
        .run(BITS, State(), NoNoise())["bits"]
        .value
    )
    assert 0 < np.abs(cheated - exact).sum() <= 2 * 0.2 * 200


@pytest.mark.parametrize("engine", [Local, Simulate])
def test_a_round_that_nobody_answers_is_a_round(ratings, engine):
    books = DeviceBooks(ratings.n_users, (0.5, 0.0))
    released = engine(ratings, books=books).run(BITS, State(), charge(BITS))["bits"]
    assert (released.reports, np.abs(released.value).max()) == (0, 0.0)


def test_a_statement_says_how_devices_behaved_and_no_path():
    told = Scenario.from_options(
        {"cheats": 0.1, "over": 5, "book": "/home/ann/devices", "cap": 2}, "simulate"
    )
    assert told.describe() == ["devices: over = 5", "devices: cheats = 0.1", "devices: cap = 2"]


def test_a_chance_beyond_one_is_refused():
    with pytest.raises(SettingError, match="cheats"):
        Scenario(cheats=1.5)


def test_releases_that_need_a_trusted_party_are_refused(ratings):
    part = Part("sum", 3, RowClip(1.0), kind=Kind.SELECTION)
    with pytest.raises(SettingError, match="trusted"):
        Simulate(ratings).run(Round("r", (part,), mean_bit, keep), State(), NoNoise())
