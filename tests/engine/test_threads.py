"""The threads engine: exact sums whatever the threads, every kind of release, every way of
taking part."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tacit.bound import CellClip, RowClip, Rows
from tacit.bound.report import Report
from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine import blocks as module
from tacit.engine.printed import PrintedThreads as Threads
from tacit.errors import Failure, SettingError
from tacit.noise.release import Charge, NoNoise
from tacit.rounds.people import Coin, Everyone, Slice
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.printed import POSTERIOR, STEPWISE, Claim, Cohort, Epoch
from tacit.rounds.round import Kind, Part, Personal, Round

ITEMS = 12


@pytest.fixture
def ratings(monkeypatch):
    monkeypatch.setattr(module, "CELLS", 64)  # many blocks
    rng = np.random.default_rng(1)
    rows = [np.sort(rng.permutation(ITEMS)[: rng.integers(1, ITEMS)]) for _ in range(300)]
    ptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    item = np.concatenate(rows).astype(np.uint32)
    value = rng.integers(1, 6, len(item)).astype(np.float32)
    return Ratings(
        Schema(1, 5), [str(i) for i in range(300)], [str(i) for i in range(ITEMS)], ptr, item, value
    )


def keep(state, released):
    return {**state, **{name: part.value for name, part in released.items()}}


def values(block, state):
    return {"sum": Rows(block.ptr, block.item, block.value[:, None])}


def one(part, contribute=values, **more):
    return Round("r", (part,), contribute, keep, **more)


def sums(ratings, round_, threads=1, charge=None):
    return Threads(ratings, threads).run(round_, {}, charge or NoNoise())["sum"]


@pytest.mark.parametrize("threads", [1, 2])
def test_blas_has_one_thread_in_blocks_and_alone(ratings, threads):
    """With two, long products of public numbers have other last bits, and what somebody adds
    would depend on where she is computed."""
    import_module("scipy.linalg")  # has a BLAS of its own
    seen = set()

    def watched(block, state):
        pools = threadpool_info()
        seen.update(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        return values(block, state)

    with threadpool_limits(2):
        sums(ratings, one(Part("sum", ITEMS, CellClip(5.0)), watched), threads)
    assert seen == {1}


@pytest.mark.parametrize("some", [None, np.arange(0, 300, 2)])
def test_a_block_has_at_most_so_many_people(ratings, monkeypatch, some):
    """Seen: where people rate two items each, rounds with a line of a thousand numbers a person
    took gigabytes."""
    monkeypatch.setattr(module, "CELLS", 1 << 18)
    whole = list(module.cut(ratings, some))
    assert len(whole) == 1
    monkeypatch.setattr(module, "PEOPLE", 40)
    blocks = [np.arange(300)[piece] for piece in module.cut(ratings, some)]
    assert max(len(block) for block in blocks) == 40
    everybody = np.arange(300) if some is None else some
    assert np.array_equal(np.concatenate(blocks), everybody)


@pytest.mark.parametrize("some", [None, np.arange(0, 300, 2)])
def test_lines_of_many_numbers_make_smaller_blocks(ratings, monkeypatch, some):
    """Seen: a line of 1,365 numbers of each of 4,096 people went through memory three times."""
    monkeypatch.setattr(module, "CELLS", 1 << 18)
    width = module.NUMBERS // 50
    blocks = [np.arange(300)[piece] for piece in module.cut(ratings, some, width)]
    assert max(len(block) for block in blocks) == 50
    assert len(list(module.cut(ratings, some, 2 * module.NUMBERS))) == (
        300 if some is None else 150
    )


def test_sums_are_bit_equal_for_any_number_of_threads(ratings):
    round_ = one(Part("sum", ITEMS, RowClip(1.0)))
    first = sums(ratings, round_, 1).value
    assert first.any()
    for count in (2, 5):
        assert np.array_equal(first, sums(ratings, round_, count).value)


def test_a_sum_is_the_plain_sum_of_bounded_rows(ratings):
    got = sums(ratings, one(Part("sum", ITEMS, CellClip(2.0, 1000)))).value[:, 0]
    inner = (ratings.value - 3).astype(np.float64)
    assert got == pytest.approx(np.bincount(ratings.item, inner, ITEMS))


def test_what_is_not_reserved_cannot_be_drawn(ratings):
    round_ = one(Part("sum", ITEMS, RowClip(1.0)))
    with pytest.raises(Failure, match="not reserved"):
        sums(ratings, round_, charge=Charge(()))
    events = Plan("user", (round_,)).events(Budget(1, 1e-6))
    charge = Charge(events.values())
    assert sums(ratings, round_, charge=charge).private
    with pytest.raises(Failure, match="already drawn"):
        sums(ratings, round_, charge=charge)


def test_noise_has_the_scale_of_the_event(ratings):
    wide = one(Part("sum", 20_000, RowClip(1.0)))
    events = Plan("user", (wide,)).events(Budget(1, 1e-6))
    got = sums(ratings, wide, charge=Charge(events.values()))
    assert got.sd == pytest.approx(4.22, rel=0.01)  # the closed form at epsilon 1, delta 1e-6
    assert got.value[ITEMS:].std() == pytest.approx(got.sd, rel=0.1)


def test_a_coin_leaves_whole_people_out(ratings):
    everyone = sums(ratings, one(Part("sum", 1, CellClip(1.0)), person)).value[0, 0]
    drawn = [
        sums(ratings, one(Part("sum", 1, CellClip(1.0)), person, takes_part=Coin(0.5))).value[0, 0]
        for _ in range(40)
    ]
    assert everyone == 300
    assert 120 < np.mean(drawn) < 180
    assert len(set(drawn)) > 1


def person(block, state):
    return {"sum": Rows.one_each(np.ones((len(block.people), 1)))}


def test_slices_partition_the_people(ratings):
    engine = Threads(ratings, 2)
    parts = [
        engine.run(
            one(Part("sum", 1, CellClip(1.0)), person, takes_part=Slice(i, 3)), {}, NoNoise()
        )["sum"].value[0, 0]
        for i in range(3)
    ]
    assert sum(parts) == 300
    assert min(parts) > 50


def test_a_cohort_is_the_people_who_rated_the_item(ratings):
    got = sums(ratings, one(Part("sum", 1, CellClip(1.0)), person, takes_part=Cohort(4))).value[
        0, 0
    ]
    assert got == (ratings.item == 4).sum()


def test_personal_state_stays_with_its_person_between_rounds(ratings):
    def remember(block, state):
        block.personal["seen"][:, 0] += block.people
        return {"sum": Rows.one_each(block.personal["seen"].copy())}

    engine = Threads(ratings, 3)
    round_ = one(Part("sum", 1, CellClip(1000.0, 1000)), remember, personal=(Personal("seen", 1),))
    first = engine.run(round_, {}, NoNoise())["sum"].value[0, 0]
    second = engine.run(replace(round_, takes_part=Slice(0, 1)), {}, NoNoise())["sum"].value[0, 0]
    assert first == sum(range(300))
    assert second == 2 * first


def test_randomized_reports_are_refused_where_taking_part_is_private(ratings):
    """The sum of n bits has the parity of n: it would tell n people from n - 1 for certain."""
    part = Part("sum", 1, Report(), kind=Kind.REPORT)
    plan = Plan("user", (one(part, person),))
    with pytest.raises(SettingError, match="who takes part"):
        sums(ratings, plan.rounds[0], charge=Charge(plan.events(Budget(4.0, 0.0)).values()))


def test_an_input_release_noises_every_value_once(ratings):
    def cells(block, state):
        index = np.arange(block.first_cell, block.first_cell + len(block.item))
        return {"sum": Rows(block.ptr, index, block.value[:, None])}

    part = Part("sum", len(ratings), CellClip(2.0), kind=Kind.INPUT)
    plan = Plan("value", (one(part, cells),))
    exact = sums(ratings, plan.rounds[0]).value[:, 0]
    assert exact == pytest.approx(ratings.value - 3)
    noisy = sums(ratings, plan.rounds[0], charge=Charge(plan.events(Budget(2.0, 0.0)).values()))
    assert np.abs(noisy.value[:, 0] - exact).mean() == pytest.approx(
        4 / 2, rel=0.2
    )  # Laplace of scale 4/epsilon


@pytest.mark.parametrize("kind", [Kind.OBJECTIVE, Kind.OUTPUT])
def test_objective_and_output_terms_get_noise_by_row(ratings, kind):
    def wide(block, state):
        return {"sum": Rows(block.ptr, block.item, np.repeat(block.value[:, None], 3, 1))}

    part = Part("sum", ITEMS, RowClip(1.0), width=3, kind=kind)
    plan = Plan("user", (one(part, wide),))
    event = plan.events(Budget(1.0, 1e-6))["r/sum"]
    assert (event.kind, event.rows, event.dimension) == ("knorm", ITEMS, 3)
    got = sums(ratings, plan.rounds[0], charge=Charge([event]))
    assert got.value.shape == (ITEMS, 3)
    # sqrt(d + 1) / epsilon, and sqrt(rows): a person may move every row, and each has noise
    # of its own
    assert got.sd == pytest.approx(2.0 * ITEMS**0.5, rel=1e-3)


def test_a_selection_names_the_best_candidate_when_it_is_clear(ratings):
    def votes(block, state):
        return {
            "sum": Rows(
                block.ptr, np.full(len(block.item), 7, np.uint32), np.ones((len(block.item), 1))
            )
        }

    part = Part("sum", ITEMS, RowClip(1.0, "l1"), kind=Kind.SELECTION)
    plan = Plan("user", (one(part, votes),))
    got = sums(ratings, plan.rounds[0], charge=Charge(plan.events(Budget(5.0, 0.0)).values()))
    assert got.value[0, 0] == 7


@pytest.mark.parametrize("kind", [STEPWISE, POSTERIOR])
def test_a_tape_reaches_a_sequential_epoch_in_paper_calibration_only(ratings, kind):
    seen = []

    def epoch(block, state):
        seen.append((len(block.people), block.draws["sum"].copy()))
        return {"sum": Rows.one_each(np.full((len(block.people), 1), 0.1))}

    with pytest.raises(SettingError, match="paper"):
        Plan(
            "value", (one(Part("sum", 1, CellClip(1.0), printed=Epoch(kind, draws=50)), epoch),)
        ).events(Budget(1, 0))
    claim = Claim("laplace", 3.0, 1.0, 0.0, "a test")
    part = Part("sum", 1, CellClip(1.0), printed=Epoch(kind, claim, 5000))
    plan = Plan("value", (one(part, epoch),))
    got = sums(ratings, plan.rounds[0], charge=Charge(plan.events(Budget(1, 0)).values()))
    assert got.value[0, 0] == pytest.approx(30)  # what the epoch made, as it is
    (people, tape), *rest = seen
    assert people == 300
    assert not rest
    assert np.abs(tape).mean() == pytest.approx(3.0, rel=0.2)


def test_a_contribution_outside_its_array_is_refused(ratings):
    with pytest.raises(Failure, match="outside"):
        sums(ratings, one(Part("sum", 3, RowClip(1.0))))


def one_line_a_cell(block):
    return Rows.one_each(np.ones((len(block.item), 1)))


def beyond_the_last_person(block):
    return Rows(block.ptr, np.append(block.item, 0), np.ones((len(block.item) + 1, 1)))


@pytest.mark.parametrize("made", [one_line_a_cell, beyond_the_last_person])
def test_a_contribution_must_be_listed_person_by_person(ratings, made):
    with pytest.raises(Failure, match="person by person"):
        sums(
            ratings,
            one(Part("sum", ITEMS, RowClip(1.0)), lambda block, state: {"sum": made(block)}),
        )


def test_a_contribution_must_have_the_columns_of_its_array(ratings):
    def wide(block, state):
        return {"sum": Rows(block.ptr, block.item, np.ones((len(block.item), 2)))}

    with pytest.raises(Failure, match="columns"):
        sums(ratings, one(Part("sum", ITEMS, RowClip(1.0)), wide))


def test_one_person_less_leaves_everybody_else_in_their_slice(ratings):
    """Every person has a word of her own, so slices of neighbours can be the same but for
    one person."""
    words = np.arange(300, dtype=np.uint64)
    fewer = ratings.take(ratings.user != 0)
    with_her, without = Threads(ratings), Threads(fewer)
    with_her._places, without._places = words, words[1:]
    for index in range(3):
        kept = with_her._participants(Slice(index, 3))
        assert (without._participants(Slice(index, 3)) + 1).tolist() == [
            person for person in kept.tolist() if person
        ]


def test_everyone_takes_part_unless_said():
    assert one(Part("sum", 1, RowClip(1.0))).takes_part == Everyone()
