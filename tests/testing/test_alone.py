"""Break 2 of the outside attack: a method whose rows depend on the block passed every shipped
test and got a certified statement. Each way in which it could do so again is tried here."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.engine.per_person import Witness
from tacit.errors import Failure, SettingError
from tacit.fitting import rehearse as before_the_charge
from tacit.fitting.run import fit, trial
from tacit.ledger.book.book import open_book
from tacit.methods import METHODS, find
from tacit.methods.rehearsal import changed, few_items, invented, reduce_public
from tacit.testing import AloneTests, broken, depends_on_others, not_alone

sys.path.insert(0, str(Path(__file__).parent))
leaks = importlib.import_module("leaks")

UNITS = ("user", "rating", "value")
DELTAS = (1e-6, 0.0)
HARMLESS = {(leaks.ByRank, "value")}
"""At `value` everybody stays in her place, so no neighbour changes anybody's rank."""


@pytest.fixture(autouse=True)
def nothing_remembered():
    leaks.SEEN.clear()
    before_the_charge._PASSED.clear()


@pytest.fixture(scope="module")
def data():
    return tacit.sample(people=150, ratings=4000, seed=7)


@pytest.fixture(scope="module")
def items():
    return tacit.sample_catalogue()


@pytest.fixture
def unchecked(monkeypatch):
    """As if nothing were checked before the charge."""
    monkeypatch.setattr("tacit.fitting.run._Run.rehearse", lambda *_, **__: None)


class TestAlone(AloneTests):
    """The method that the leaks are made of does not leak."""

    method = leaks.Alone


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("leak", [*leaks.CROWDED, leaks.ManyMean])
def test_the_shipped_tests_find_each_leak(data, items, leak, unit, delta):
    """Break 2: both the test of company and the hunt over neighbours, at every unit and
    delta."""
    method = leak(epsilon=2.0, unit=unit, delta=delta)
    for noise in (True, False):
        assert not_alone(method, data, items, users=150, noise=noise)
    if (leak, unit) not in HARMLESS:
        assert broken(method, items, data, users=150)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("unit", UNITS)
def test_a_leaking_method_fails_its_conformance_tests(data, items, unit, delta):
    """Break 2: as its author would run them."""

    class Leaking(AloneTests):
        method = type("Leaking", (leaks.BlockMean,), {"units": (unit,)})

    tests = Leaking()
    with pytest.raises(AssertionError, match="by herself"):
        tests.test_each_person_is_computed_alone(data, items, delta, "off")
    with pytest.raises(AssertionError, match="first/sum"):
        tests.test_no_neighbour_moves_a_sum_by_more_than_was_charged(data, items, delta, None)


@pytest.mark.parametrize("unit", UNITS)
def test_what_bypasses_the_noise_is_found(data, items, unit):
    """Rows that are alone do not help if the model is made of something else."""
    leak = leaks.Smuggled(epsilon=2.0, unit=unit)
    assert depends_on_others(leak, data, items, users=150)
    tests = type("T", (AloneTests,), {"method": leaks.Smuggled})()
    with pytest.raises(AssertionError, match="smuggled at the unit"):
        tests.test_a_model_is_made_of_what_was_released(data, items, 1e-6)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("leak", leaks.CROWDED)
def test_a_leak_is_refused_before_anything_is_charged(data, items, tmp_path, leak, unit, delta):
    """Break 2, on invented people."""
    book = str(tmp_path / "book")
    method = leak(epsilon=2.0, unit=unit, delta=delta, ledger=book)
    with pytest.raises(SettingError, match="each person alone") as told:
        fit(method, data, items=items, users=150)
    assert "nothing was charged" in str(told.value)
    assert not open_book(book).entries()
    with pytest.raises(SettingError, match="each person alone"):
        trial(method, data, items=items, users=150)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("leak", [*leaks.CROWDED, leaks.ManyMean])
def test_the_engine_stops_a_leak(data, items, tmp_path, unchecked, leak, unit, delta):
    """Break 2, on real people: no model, no commit, and no values in what is said."""
    book = str(tmp_path / "book")
    method = leak(epsilon=2.0, unit=unit, delta=delta, ledger=book)
    with pytest.raises(Failure, match="each person alone") as told:
        fit(method, data, items=items, users=150)
    assert "model_" not in vars(method)
    assert [entry.kind for entry in open_book(book).entries()] == ["reserve"]
    assert told.value.__cause__ is None
    assert not any(c.isdigit() for c in str(told.value).replace("entry 1 of", ""))


@pytest.mark.parametrize(("name", "unit"), [(n, u) for n in METHODS for u in find(n).units])
def test_invented_people_pass_every_round_of_tacits_methods(data, items, monkeypatch, name, unit):
    """So that what is built on one from outside is not refused for it."""
    from tacit.fitting.run import _Run
    from tacit.methods.rehearsal import Gatherings

    seen = []
    add = Gatherings.add

    def counted(self, round_, state):
        seen.append(round_.name)
        return add(self, round_, state)

    monkeypatch.setattr(Gatherings, "add", counted)
    for users in (150, 100_000):
        run = _Run(find(name)(epsilon=1.0, unit=unit), data, items, users, None)
        seen.clear()
        run.rehearse()
        made = run.method.plan(reduce_public(run.settled.public))
        assert seen == [round_.name for round_ in made.rounds]


def test_a_leak_of_large_blocks_passes_invented_people_and_is_stopped(data, items, tmp_path):
    """Twelve invented people are no large block; the real ones are."""
    book = str(tmp_path / "book")
    method = leaks.ManyMean(epsilon=2.0, ledger=book)
    with pytest.raises(Failure, match="the round first does not"):
        fit(method, data, items=items, users=150)
    assert len(open_book(book).entries()) == 1


@pytest.mark.parametrize("engine", ["threads", "federated", "simulate"])
def test_every_engine_stops_a_leak(data, items, unchecked, engine):
    """Wherever rows of several people are made."""
    leak = type("Leak", (leaks.BlockMean,), {"engines": (engine,)})
    with pytest.raises(Failure, match="each person alone"):
        trial(
            leak(epsilon=2.0, engine=engine, calibration="none")
            if engine == "simulate"
            else leak(epsilon=2.0, engine=engine),
            data,
            items=items,
            users=150,
        )


def test_many_blocks_over_threads_are_watched(data, items, unchecked, monkeypatch):
    """Whichever thread comes first."""
    monkeypatch.setattr("tacit.engine.blocks.CELLS", 300)
    for leak in (leaks.BlockMean, leaks.Remembered, leaks.Whispered):
        with pytest.raises(Failure, match="each person alone"):
            trial(leak(epsilon=2.0, threads=2), data, items=items, users=150)
    whole = leaks.Alone(epsilon=2.0, threads=2)
    assert trial(whole, data, items=items, users=150)


def test_what_a_method_says_of_one_person_goes_no_further(data, items, unchecked):
    """An error about somebody alone could quote her ratings."""

    class Talks(leaks.Alone):
        def centre(self, block, round_):
            if len(block.people) == 1:
                raise ValueError(f"ratings {block.value}")
            return 0.0

    with pytest.raises(Failure) as told:
        trial(Talks(epsilon=2.0), data, items=items, users=150)
    assert "ratings" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__context__ is None


def test_without_the_witness_the_hole_is_open(data, items, unchecked, monkeypatch):
    """Put back, break 2 is certified again: what these tests guard is what stops it."""
    monkeypatch.setattr(Witness, "check", lambda self: None)
    model = leaks.BlockMean(epsilon=2.0).fit(data, items=items, users=150)
    assert model.statement_.certified == "certified"


def test_a_second_look_changes_nothing(data, items, monkeypatch):
    """With the noise off the sums are those of an engine that does not look."""
    from tacit.auditing.walk import walk
    from tacit.engine.threads import Threads
    from tacit.noise.release import NoNoise

    class Counts(leaks.Alone):
        kept = leaks.Whispered.kept

        def centre(self, block, round_):
            own = block.personal["mean"]
            own += 1.0
            return np.repeat(own[:, 0], np.diff(block.ptr))

    walked = walk(Counts(epsilon=2.0), data, items, users=150, noise=False)
    engine = Threads(walked.ratings, 2)
    for step in walked.steps:
        found = engine.run(step.round, step.state, NoNoise())["sum"].value
        assert np.array_equal(found, step.released["sum"].value)
    assert (engine._personal["mean"] == 2).all()


def test_a_block_cannot_reach_what_others_keep(data):
    """Rows of personal state are copies: a view has everybody's behind it."""
    from tacit.engine.blocks import block_of

    kept = {"mean": np.zeros((data.n_users, 1))}
    for piece in (slice(3, 9), np.arange(3, 9)):
        own = block_of(data, piece, kept).personal["mean"]
        assert not np.shares_memory(own, kept["mean"])


def test_a_verdict_is_kept_for_the_same_public_facts_only(data, items):
    """Checked once in a process; another unit, setting or catalogue is checked again."""
    for unit, users in (("user", 150), ("user", 150), ("rating", 150)):
        trial(leaks.Alone(epsilon=2.0, unit=unit), data, items=items, users=users)
    assert len(before_the_charge._PASSED) == 2


@pytest.mark.parametrize("unit", UNITS)
def test_invented_people_are_made_of_public_facts(data, items, unit):
    """Other people, or other values, and the same invented ones."""
    from tacit.fitting.run import _Run

    other = data.take(data.user >= 20)
    negated = tacit.Ratings(
        data.schema, data.users, data.items, data.ptr, data.item, 6 - data.value
    )
    method = leaks.Alone(epsilon=2.0, unit=unit)
    made = []
    for given in (data, other, negated):
        public = reduce_public(_Run(method, given, items, 150, None).public)
        made.append(invented(public.schema, public.catalogue))
        if unit == "value":
            assert np.array_equal(public.pattern.item, made[-1].item)
    for again in made[1:]:
        assert np.array_equal(made[0].item, again.item)
        assert np.array_equal(made[0].value, again.value)


@pytest.mark.parametrize("unit", UNITS)
def test_those_between_rate_otherwise_and_the_rest_stay(data, items, unit):
    """What a leak is seen by: other ratings of others, and of nobody else."""
    schema = data.schema
    people = invented(schema, few_items(items))
    others = changed(people, items=unit != "value")
    for place in range(people.n_users):
        cells = slice(people.ptr[place], people.ptr[place + 1])
        same = np.array_equal(people.value[cells], others.value[cells])
        assert same == (place % 2 == 0)
    moved = not np.array_equal(people.item, others.item)
    assert moved == (unit != "value")


def test_a_method_from_outside_is_named_in_its_statement(data, items):
    """Whose it is, and what was checked of it."""
    model = leaks.Alone(epsilon=2.0).fit(data, items=items, users=150)
    told = " ".join(str(model.statement_).split())
    assert "The method is not Tacit's: it is the class leaks.Alone" in told
    assert "has not reviewed its code" in told
    assert "bit for bit, alone and in a block" in told
    again = type(model.statement_).from_json(model.statement_.to_json())
    assert again.outside == model.statement_.outside
    own = tacit.Popularity(epsilon=2.0).fit(data, items=items, users=150)
    assert own.statement_.outside == ()
    assert "not Tacit's" not in str(own.statement_)


def test_entries_of_methods_from_outside_are_named_by_an_advisory():
    """Break 2 touches none of Tacit's own: each was always computed alone."""
    from tacit.ledger.book.advisories import load

    found = next(a for a in load() if a.id == "each-person-alone")
    assert found.concerns("0.1.0", "outside-mean")
    assert not any(found.concerns("0.1.0", name) for name in METHODS)
