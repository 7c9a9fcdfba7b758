"""Hua et al. as printed, in one process: readings of the step, eta and rho, S3's
initialisation, equation 13."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.sample import sample
from tacit.engine.printed import PrintedFederated as Federated
from tacit.errors import SettingError
from tacit.federation.agreed.assembled import assemble
from tacit.federation.agreed.scheme import Holding
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol import arrays, wire
from tacit.federation.protocol.task import Task
from tacit.kernels.user_step import take_step
from tacit.ledger.account.event import Unbounded
from tacit.methods import find
from tacit.methods.base import Public
from tacit.methods.factorization.state import ProfileState
from tacit.noise.printed import mixing, whole_pieces
from tacit.noise.release import Charge
from tacit.papers.hua2015.printed.sharing import Deal, Hua
from tacit.rounds.pattern import Pattern
from tacit.rounds.plan import Budget

RATINGS = sample(people=60, ratings=900, seed=7)


def printed(epsilon=1.0, **settings):
    method = find("mf-federated")(
        calibration="paper", epsilon=epsilon, **{"factors": 4, "rounds": 3} | settings
    )
    public = Public(
        RATINGS.schema.declare(60),
        Catalogue(RATINGS.items),
        "value",
        "paper",
        Budget(epsilon, 0.0),
        Pattern(RATINGS.ptr, RATINGS.item),
    )
    return method, public, method.plan(public)


# ------------------------------------------------------------------ the step


@pytest.mark.parametrize("weights", [(1, 0, 1, 0), (0, 1, 0, 1), (0, 250, 0, 250), (1, 3, 0, 9)])
@pytest.mark.parametrize("bounded", [False, True])
def test_a_step_is_the_formula(weights, bounded) -> None:
    rng = np.random.default_rng(0)
    items, u = (rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(4))
    rating = np.array([5.0, 1.0, 3.0])
    out = np.empty((3, 4))
    own = u[None].copy()
    take_step(
        np.array([0]),
        np.array([0, 3]),
        np.arange(3, dtype=np.uint32),
        rating,
        items,
        own,
        0,
        0.1,
        0.01,
        tuple(map(float, weights)),
        bounded,
        out,
    )
    each, over, kept, pull = weights
    error = rating - items @ u
    new = u - 0.1 * (-2 * error @ items + 0.02 * (3 * kept + pull) * u) / (3 * each + over)
    assert np.allclose(out, -2 * error[:, None] * u)
    assert np.allclose(
        own[0], new / np.linalg.norm(new) if bounded and np.linalg.norm(new) > 1 else new
    )


@pytest.mark.parametrize(
    ("step", "over"), [("mean", 4), ("sum", 1), ("objective", 900), ("scaled", 4 + 0.25 * 4)]
)
def test_items_step_by_the_reading_that_was_asked_for(step, over) -> None:
    """All gradients are 1, from 0: what an item moves by is the gain times its raters over
    the divisor."""
    from tacit.rounds.round import Released

    _, _, plan = printed(step=step, ridge=0.25)
    raters = np.array([[4.0], [0.0]])
    released = {"gradient": Released(raters * np.ones(4), 0.0), "raters": Released(raters, 0.0)}
    before = ProfileState(items=np.zeros((2, 4), np.float32))
    after = plan.rounds[0].absorb(before, released).items
    assert np.allclose(after[0], -(2.0**-5) * 4 / over)
    assert not after[1].any()


def test_profiles_are_bounded_where_noise_is_added_unless_said_otherwise() -> None:
    def longest(**settings) -> float:
        method, public, plan = printed(epsilon=1e6, rate=0.5, rounds=4, **settings)
        engine, charge = (Federated(RATINGS, 1), Charge(plan.events(public.budget).values()))
        state = method.first_state(public).after(people=60.0)
        for round_ in plan.rounds:
            state = round_.absorb(state, engine.run(round_, state, charge))
        return float(np.sqrt((engine._personal["profile"] ** 2).sum(axis=1)).max())

    assert longest() <= 1 + 1e-9
    assert longest(bounded=False) > 1.2


def test_the_number_of_all_ratings_must_be_public() -> None:
    method = find("mf-federated")(calibration="none", step="objective")
    with pytest.raises(SettingError, match="number of ratings"):
        method.plan(Public(RATINGS.schema.declare(60), Catalogue(RATINGS.items), "user", "none"))


# ------------------------------------------------------------------ eta, rho and the
# initialisation of S3


def noise_of(engine: Federated, plan, at: int) -> np.ndarray:
    round_ = plan.rounds[at]
    engine._participants(round_.takes_part)
    event = Unbounded(
        name="x",
        noise="laplace",
        scale=1e6,
        draws=RATINGS.n_items * 4,
        claimed_epsilon=1.0,
        claimed_delta=0.0,
        reason="as printed",
    )
    return engine._printed(round_, round_.parts[0], event, (RATINGS.n_items, 4))[0]


def test_eta_is_the_same_in_every_round_and_rho_fresh_in_each() -> None:
    _, _, plan = printed()
    engine = Federated(RATINGS, 1)
    draws = np.stack([noise_of(engine, plan, 0) for _ in range(200)])
    eta = engine._eta["gradient"]
    rho = draws - eta
    assert not np.array_equal(draws[0], draws[1])
    assert np.abs(rho.mean(axis=0)).max() < 1e6  # ten standard errors of a mean of 200
    assert abs(np.abs(rho).mean() / 1e6 - 1) < 0.1
    assert abs(np.abs(eta[engine._raters() > 0]).mean() / 1e6 - 1) < 0.5


def test_s3_makes_eta_once_with_those_who_are_there_and_learns_nothing_in_that_round() -> None:
    _, _, plan = printed(scheme="S3", cohort=5, join=0.5, leave=0.5)
    assert [r.name for r in plan.rounds][:2] == ["initialise", "step 0"]
    engine = Federated(RATINGS, 1, seed=3)
    assert not noise_of(engine, plan, 0).any()
    eta, raters = engine._eta["gradient"].copy(), engine._raters()
    assert 0 < (raters > 0).sum() < RATINGS.n_items
    assert eta.all()  # of every item, whoever rated it (section 4.3)
    noise_of(engine, plan, 1)
    assert not np.array_equal(engine._raters(), raters)  # others are there now
    assert np.array_equal(engine._eta["gradient"], eta)


def test_a_round_can_be_replayed_with_the_people_who_came() -> None:
    _, _, plan = printed(scheme="S3")
    engine = Federated(RATINGS, 1, groups=[np.array([5, 2])])
    assert list(engine._participants(plan.rounds[0].takes_part)) == [2, 5]


@pytest.mark.parametrize("chance", [0.0, 0.005, 0.5, 1.0])
def test_people_come_and_go_with_the_chance_that_is_asked_for(chance) -> None:
    engine = Federated(RATINGS, 1, seed=1)
    hits = [engine._hits(chance, 20_000) for _ in range(50)]
    share = sum(map(len, hits)) / 1e6
    assert abs(share - chance) <= 12 * np.sqrt(chance * (1 - chance) / 1e6)
    assert all((np.diff(each) > 0).all() for each in hits)


# ------------------------------------------------------------------ equation 13


@pytest.mark.parametrize("scale", [1.0, 1.3, 0.7])
def test_a_whole_piece_has_the_printed_density(scale) -> None:
    """Its length is Gamma(d): mean d. Accepts the true scale and rejects 30 % more and less."""
    length = np.sqrt((whole_pieces(10.0, np.ones(4000, np.int64), 9) ** 2).sum(axis=1))
    near = abs(length.mean() / (90 * scale) - 1) < 0.08  # fifteen standard errors
    assert near == (scale == 1.0)


def test_whole_pieces_of_many_people_add_up() -> None:
    """Each coordinate of one piece has variance (d + 1) scale^2."""
    people = np.repeat([0, 1, 400], 3000)
    spread = whole_pieces(2.0, people, 7).reshape(3, -1).std(axis=1)
    assert spread[0] == 0
    assert np.allclose(spread[1:], [np.sqrt(8) * 2, np.sqrt(8 * 400) * 2], rtol=0.1)


def test_without_a_third_party_the_noise_grows_with_the_raters() -> None:
    spread = {}
    for third_party in (True, False):
        _, _, plan = printed(third_party=third_party)
        engine = Federated(RATINGS, 1)
        draws = np.stack([noise_of(engine, plan, 0) for _ in range(100)]) - engine._eta["gradient"]
        busiest = int(engine._raters().argmax())
        spread[third_party] = draws[:, busiest].std() / 1e6
    people = engine._raters().max()
    assert people > 20
    assert abs(spread[True] / np.sqrt(2) - 1) < 0.4
    assert (
        abs(spread[False] / np.sqrt(people * 5 / 4) - 1) < 0.4
    )  # (d + 1)/d of scale^2, for each rater


@pytest.mark.parametrize("settings", [{"scheme": "S3"}, {"engine": "federated"}])
def test_equation_13_is_of_s2_in_one_process(settings) -> None:
    with pytest.raises(SettingError, match="equation 13"):
        printed(third_party=False, **settings)


# ------------------------------------------------------------------ what a device is told


def device_of_paper() -> tuple[Device, wire.Announcement, memoryview]:
    task = Task(
        method="mf-federated",
        calibration="paper",
        unit="value",
        epsilon=1.0,
        settings={"factors": 4, "rounds": 2},
        low=1,
        high=5,
        people=20,
        cohort=20,
        least=10,
        items=catalogue_facts(Catalogue(RATINGS.items)),
    )
    made, items = assemble(task), np.arange(6, dtype=np.uint32)
    policy = Policy(accept_unbounded=True)
    device = Device(made, 0, items, np.ones(6), None, policy, b"s" * 32)
    told = wire.Announcement(
        task=task.name,
        round=0,
        attempt=0,
        nonce="ab" * 16,
        key="cd" * 16,
        joined=12,
        least=10,
        enough=9,
        seconds=10.0,
        mixing=("11" * 32, "22" * 32),
    )
    state = {
        "people": np.array([20.0]),
        "items": np.ones((6, 4), np.float32),
        "k": np.full(6, 3, np.int32),
    }
    return device, told, memoryview(arrays.pack_state(state))


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
def test_a_device_refuses_mixing_numbers_that_are_not_exponential(factor, monkeypatch) -> None:
    device, told, payload = device_of_paper()
    monkeypatch.setattr(
        "tacit.papers.hua2015.printed.sharing.mixing",
        lambda seed, rows, width: factor * mixing(seed, np.arange(200), width),
    )
    with pytest.raises(SettingError, match=r"Exponential\(1\)"):
        device.answer(told, payload, b"m" * 32)


def test_a_device_answers_honest_mixing_numbers() -> None:
    device, told, payload = device_of_paper()
    assert device.answer(told, payload, b"m" * 32)


def test_the_cohort_of_an_item_is_its_raters_among_those_who_came() -> None:
    layout = wire.PartLayout(name="gradient", size=4, width=2, bits=32, sparse=True)
    came = {"a": np.array([0, 1], np.uint32), "b": np.array([1, 3], np.uint32)}
    assert list(Deal(layout, b"seed", came).counts) == [1, 2, 0, 1]


def dealt(joined: int, size: int) -> Deal:
    layout = wire.PartLayout(
        name="gradient", size=size, width=2, bits=32, sparse=True, printed="add"
    )
    came = {f"{k:032x}": np.array([0], np.uint32) for k in range(joined)}
    return Deal(layout, b"seed", came)


@pytest.mark.parametrize(("joined", "each"), [(3, 3), (5, 5), (40, 5)])
def test_a_few_devices_make_the_eta_of_an_item(joined, each) -> None:
    """Each item has as many makers as any other, and each device as much to make."""
    makes = dealt(joined, 80).makes()
    count = np.zeros(80, int)
    for rows in makes.values():
        assert wire.ascending(rows, 80)
        count[rows] += 1
    assert set(count) == {each}
    assert {len(rows) for rows in makes.values()} == {80 * each // joined}


def test_alpha_is_taken_off_where_it_was_put_in_and_nowhere_else() -> None:
    """An item whose makers all dropped out has no eta, so a later sum of it is plain."""

    class Notes:
        rows = ()

        def run(self, text: str, *values):
            if text.startswith("INSERT"):
                self.rows = [values[1:]]
            return self.rows

    notes = Notes()
    zeros = np.zeros((2, 2), "<u4")
    layout = dealt(3, 4).layout
    made = np.array([0, 2], np.uint32)
    first = Hua.summed(notes, "t", layout, wire.Section(made, zeros))
    assert first.words.all()
    later = layout.model_copy(update={"printed": "subtract"})
    asked = np.array([1, 2], np.uint32)
    found = Hua.summed(notes, "t", later, wire.Section(asked, zeros)).words
    assert not found[0].any()
    assert np.array_equal(found[1] + first.words[1], [0, 0])


@pytest.mark.parametrize("rows", [[3, 1], [99], [[1]]])
def test_a_device_refuses_to_make_the_eta_of_items_that_there_are_not(rows) -> None:
    device, told, _ = device_of_paper()
    asked = Holding(told, {"makes": np.array(rows, np.uint32)}, device.items, b"s" * 32)
    with pytest.raises(SettingError, match="there are not"):
        device.made.scheme.rows(dealt(3, 20).layout, asked)
