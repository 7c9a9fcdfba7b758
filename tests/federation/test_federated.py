"""The parts of a federation, each alone: frames, keys, masks, shares, deals, turns, what a
device refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.data.catalogue import catalogue_facts
from tacit.data.sample import sample
from tacit.engine.federated import Federated
from tacit.errors import BudgetError, Failure, SettingError
from tacit.federation.agreed import expect
from tacit.federation.agreed.assembled import assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.printed.hua import Deal, Tau
from tacit.federation.protocol import arrays, keys, masks, wire
from tacit.federation.protocol.task import Task
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.event import Gaussian, Laplace, Skellam
from tacit.methods import find
from tacit.noise.portion import portion, together
from tacit.noise.printed import looks_exponential, mixing, mixture
from tacit.rounds.people import Turns
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Part, Round
from tacit.rounds.shares import shared_events
from tacit.rounds.state import State

LAYOUT = wire.PartLayout(name="x", size=50, width=3, bits=32, sparse=True)


def task(**changes) -> Task:
    ratings = sample(people=20, ratings=200, seed=1)
    from tacit.data.catalogue import Catalogue

    facts = {
        "method": "popularity",
        "epsilon": 5.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": 20,
        "cohort": 20,
        "least": 10,
        "items": catalogue_facts(Catalogue(ratings.items)),
    } | changes
    return Task(**facts)


# ------------------------------------------------------------------ frames


def test_a_frame_comes_back_as_it_went() -> None:
    upload = wire.Upload(task="ab" * 16, round=3, attempt=1, least=5, rows=(2,))
    found, payload = wire.unpack(wire.Upload, wire.pack(upload, b"words"))
    assert (found, bytes(payload)) == (upload, b"words")


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"TACIT1",
        b"TACIT1\xff\xff\xff\xff{}",
        b"TACIT1\x02\0\0\0{}",
        b"XACIT1\x02\0\0\0{}",
    ],
)
def test_what_is_no_frame_is_refused(frame) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(wire.Upload, frame)


@pytest.mark.parametrize("bits", [32, 64])
def test_words_are_integers_modulo_a_power_of_two(bits) -> None:
    values = np.array([[0, 1, -1, 2**31 - 1, -(2**31)]])
    assert np.array_equal(wire.integers(wire.words(values, bits), bits), values)


@pytest.mark.parametrize(
    ("rows", "payload"),
    [
        ((1,), bytes(15)),
        ((1,), bytes(17)),
        ((), bytes(16)),
        ((51,), bytes(51 * 16)),
    ],
)
def test_a_payload_of_a_wrong_length_is_refused(rows, payload) -> None:
    with pytest.raises(wire.WireError):
        wire.sections((LAYOUT,), rows, memoryview(payload))


def test_rows_that_do_not_ascend_are_refused() -> None:
    payload = np.array([4, 4], "<u4").tobytes() + bytes(24)
    with pytest.raises(wire.WireError):
        wire.sections((LAYOUT,), (2,), memoryview(payload))


# ------------------------------------------------------------------ keys and masks


def test_both_sides_derive_the_same_secrets() -> None:
    (one, one_public), (two, two_public) = (
        keys.new_exchange(),
        keys.new_exchange(),
    )
    assert keys.secrets(one, two_public) == keys.secrets(two, one_public)
    assert (
        keys.secrets(one, two_public).mac != keys.secrets(one, two_public).mask
    )


def test_a_card_is_believed_only_under_its_pin(tmp_path) -> None:
    one, two = keys.Identity(tmp_path / "one"), keys.Identity(tmp_path / "two")
    assert len(keys.believed(one.card(), one.public.hex())) == 1
    with pytest.raises(Failure, match="pinned"):
        keys.believed(two.card(), one.public.hex())
    forged = one.card() | {"exchange": two.card()["exchange"]}
    with pytest.raises(Failure, match="signed"):
        keys.believed(forged, one.public.hex())


def test_rotation_keeps_the_identity_and_old_keys(tmp_path) -> None:
    identity = keys.Identity(tmp_path / "id")
    before, current = identity.public, identity.current
    identity.rotate()
    assert identity.public == before
    assert identity.current != current
    assert current in identity.by_name
    assert (tmp_path / "id").stat().st_mode & 0o777 == 0o600


def test_parts_of_a_mac_cannot_run_into_one_another() -> None:
    assert keys.tag(b"k", b"ab", b"c") != keys.tag(b"k", b"a", b"bc")


def test_a_mask_is_uniform_and_differs_by_round_part_and_device() -> None:
    base = masks.round_key(b"s" * 32, "task", 1, "nonce", "told")
    others = [
        masks.round_key(b"s" * 32, "task", 2, "nonce", "told"),
        masks.round_key(b"t" * 32, "task", 1, "nonce", "told"),
        masks.round_key(b"s" * 32, "task", 1, "nonce", "other state"),
    ]
    words = masks.mask(base, "x", 1000, 8, 32)
    assert all(
        not np.array_equal(words, masks.mask(key, "x", 1000, 8, 32))
        for key in others
    )
    assert not np.array_equal(words, masks.mask(base, "y", 1000, 8, 32))
    assert abs(words.mean() / 2**32 - 0.5) < 0.03  # ten standard deviations


# ------------------------------------------------------------------ noise in shares


def skellam(variance: float, l2: float = 1000.0) -> Skellam:
    return Skellam(
        name="x", sensitivity=l2, l1=l2 * 10, variance=variance, draws=100
    )


@pytest.mark.parametrize("scale", [1.0, 1.3, 0.7])
def test_enough_portions_make_the_variance_that_was_charged(scale) -> None:
    """Accepts the true scale and rejects 30 % more and less."""
    draws = np.concatenate(
        [
            sum(portion(skellam(4e6), 1000, 20) for _ in range(20))
            for _ in range(5)
        ]
    )
    near = (
        abs(draws.std() / (2000 * scale) - 1) < 0.12
    )  # twelve standard errors of 5,000 draws
    assert near == (scale == 1.0)


def test_the_sum_of_portions_is_drawn_at_once_with_the_same_variance() -> None:
    draws = together(skellam(4e6), 5000, devices=30, enough=20)
    assert abs(draws.std() / (2000 * 1.5**0.5) - 1) < 0.12


def test_a_variance_beyond_one_draw_is_a_sum_of_draws() -> None:
    draws = together(skellam(2.0**46), 3000, 1, 1)
    assert abs(draws.std() / 2.0**23 - 1) < 0.15


def test_laplace_portions_make_the_laplace_law() -> None:
    event = Laplace(name="x", sensitivity=1, scale=50.0, draws=10)
    draws = sum(portion(event, 4000, 10) for _ in range(10))
    assert abs(np.abs(draws).mean() / 50 - 1) < 0.15


def test_noise_in_shares_costs_some_per_cent_more_than_a_curator() -> None:
    round_ = Round(
        "r", (Part("sum", 100, RowClip(1.0)),), lambda b, s: {}, lambda s, r: s
    )
    plan, budget = Plan("user", (round_,)), Budget(1.0, 1e-6)
    (shared,) = shared_events(plan, budget).values()
    (alone,) = plan.events(budget).values()
    assert isinstance(shared, Skellam)
    assert isinstance(alone, Gaussian)
    assert 1.0 < shared.variance**0.5 / alone.sigma < 1.15
    assert epsilon([shared], 1e-6) <= 1.0


def test_skellam_composes_and_never_costs_less_than_gaussian() -> None:
    one, many = (
        skellam(1e10),
        [skellam(1e10).model_copy(update={"name": str(k)}) for k in range(10)],
    )
    gaussian = Gaussian(name="x", sensitivity=1000, sigma=1e5, draws=100)
    assert epsilon([one], 1e-6) >= epsilon([gaussian], 1e-6)
    assert (
        abs(
            epsilon(many, 1e-6)
            - epsilon([one.model_copy(update={"times": 10})], 1e-6)
        )
        < 1e-9
    )


def test_turns_charge_one_device_for_the_turns_it_may_take() -> None:
    def plan(rounds: int, turns: int) -> Plan:
        parts = (Part("sum", 100, RowClip(1.0)),)
        return Plan(
            "user",
            tuple(
                Round(
                    f"r{k}",
                    parts,
                    lambda b, s: {},
                    lambda s, r: s,
                    Turns(k, turns),
                )
                for k in range(rounds)
            ),
        )

    budget = Budget(1.0, 1e-6)
    events = shared_events(plan(10, 2), budget)
    assert epsilon(events.values(), 1e-6) <= 1.0
    two = shared_events(plan(2, 2), budget)
    assert events["r9/sum"].variance == pytest.approx(
        two["r0/sum"].variance, rel=1e-3
    )


# ------------------------------------------------------------------ Hua et al.'s deal


def test_mixing_numbers_are_exponential_and_the_test_for_it_rejects_others() -> (
    None
):
    mixed = mixing(b"s" * 32, np.arange(400), 50)
    assert looks_exponential(mixed)
    assert not looks_exponential(mixed * 1.3)
    assert not looks_exponential(mixed * 0.7)
    assert not looks_exponential(np.zeros((20, 50)))


def test_pieces_of_a_cohort_sum_to_laplace_noise() -> None:
    """Mean |x| of Laplace(b) is b."""
    rows = np.arange(200)
    mixed = mixing(b"h" * 32, rows, 50)
    total = sum(mixture(10.0, mixed, np.full(200, 8.0)) for _ in range(8))
    assert abs(np.abs(total).mean() / 10 - 1) < 0.12


def test_fixed_noise_is_the_same_in_every_round() -> None:
    rows, mixed = np.arange(5), mixing(b"h" * 32, np.arange(5), 4)
    one, two = (
        mixture(1.0, mixed, np.full(5, 3.0), fixed=(b"k" * 32, rows))
        for _ in range(2)
    )
    assert np.array_equal(one, two)
    assert one.any()


def joined() -> dict[str, np.ndarray]:
    return {
        "a": np.array([0, 1], np.uint32),
        "b": np.array([1, 2], np.uint32),
        "c": np.array([1], np.uint32),
    }


def test_pieces_of_tau_add_up_to_tau() -> None:
    tau = Tau(
        np.array([0, 1], np.uint32),
        np.array([[5, 6, 7], [8, 9, 2**32 - 1]], "<u4"),
    )
    deal = Deal(LAYOUT, b"seed", joined(), tau)
    total = np.zeros((50, 3), "<u4")
    for device, piece in deal.pieces().items():
        total[joined()[device]] += piece
    assert np.array_equal(total[:2], tau.words)
    assert not total[2:].any()  # item 2 has no eta


def test_pieces_of_devices_that_are_missing_are_put_in_again() -> None:
    tau = Tau(
        np.array([0, 1], np.uint32), np.array([[5, 6, 7], [8, 9, 1]], "<u4")
    )
    deal = Deal(LAYOUT, b"seed", joined(), tau)
    total = deal.missing({"a", "c"})
    for device in ("a", "c"):
        total[joined()[device]] += deal.pieces()[device]
    assert np.array_equal(total[:2], tau.words)


def test_a_restart_deals_the_same_pieces() -> None:
    tau = Tau(np.array([1], np.uint32), np.array([[8, 9, 1]], "<u4"))
    one, two = (Deal(LAYOUT, b"seed", joined(), tau).pieces() for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)


# ------------------------------------------------------------------ devices


def device(made=None, **policy) -> Device:
    made = made or assemble(task())
    return Device(
        made,
        0,
        np.array([1, 5], np.uint32),
        np.array([1.0, -1.0]),
        None,
        Policy(epsilon=50, delta=1e-4, **policy),
        b"s" * 32,
    )


def announcement(made, **changes) -> tuple[wire.Announcement, memoryview]:
    facts = {
        "task": made.task.name,
        "round": 0,
        "attempt": 0,
        "nonce": "ab" * 16,
        "key": "cd" * 16,
        "joined": 12,
        "least": 10,
        "enough": 9,
        "seconds": 10.0,
    } | changes
    state = (
        expect.form_before(made, facts["round"], State())
        if made.method.local
        else State(people=20.0)
    )
    return wire.Announcement(**facts), memoryview(
        arrays.pack_state(state.packed())
    )


def test_a_device_sends_the_same_words_for_a_round_that_is_run_again() -> None:
    one = device()
    told, payload = announcement(one.made)
    first = wire.unpack(wire.Upload, one.answer(told, payload, b"m" * 32))
    again = wire.unpack(
        wire.Upload,
        one.answer(told.model_copy(update={"attempt": 1}), payload, b"m" * 32),
    )
    assert bytes(first[1]) == bytes(again[1])
    assert (first[0].attempt, again[0].attempt) == (0, 1)
    assert one.turns == 1


def test_another_state_is_another_answer_that_must_be_paid() -> None:
    one = device()
    told, payload = announcement(one.made)
    one.answer(told, payload, b"m" * 32)
    other = memoryview(arrays.pack_state(State(people=21.0).packed()))
    assert one.known(told, payload)
    assert not one.known(told, other)


def test_what_a_device_sends_says_nothing_about_which_items_it_rated() -> None:
    """Sound: the same length for any ratings, and every word masked."""
    made = assemble(task())
    few, many = device(made), device(made)
    many.items, many.values = np.arange(100, dtype=np.uint32), np.ones(100)
    told, payload = announcement(made)
    assert len(few.answer(told, payload, b"m" * 32)) == len(
        many.answer(told, payload, b"n" * 32)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"least": 2},
        {"enough": 10},
        {"joined": 3},
        {"task": "ab" * 16},
        {"round": 9},
    ],
)
def test_a_device_refuses_a_round_that_is_not_the_tasks(changes) -> None:
    one = device()
    told, payload = announcement(one.made, **changes)
    with pytest.raises(SettingError):
        one.answer(told, payload, b"m" * 32)


@pytest.mark.parametrize(
    ("changes", "policy"),
    [
        ({}, {"least": 11}),
        ({"noise": "devices"}, {"honest": 0.5, "noise": ("devices",)}),
        ({"noise": "devices"}, {}),
    ],
)
def test_a_device_refuses_a_task_that_is_weaker_than_its_owner_accepts(
    changes, policy
) -> None:
    with pytest.raises(SettingError):
        device(assemble(task(**changes)), **policy)


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration": "none", "epsilon": None},
        {
            "method": "mf-federated",
            "calibration": "paper",
            "unit": "value",
            "settings": {"rounds": 2},
        },
    ],
)
def test_a_device_refuses_what_nothing_bounds(changes) -> None:
    with pytest.raises(BudgetError):
        device(assemble(task(**changes)))


def test_a_device_keeps_the_same_ratings_within_the_limit() -> None:
    made = assemble(task(max_ratings=1))
    assert list(device(made).items) == list(device(made).items)
    assert len(device(made).items) == 1


# ------------------------------------------------------------------ in one process


def test_turns_are_counted_and_cohorts_kept_small() -> None:
    ratings = sample(people=30, ratings=300, seed=2)
    engine = Federated(ratings, 1)
    seen = [engine._who(Turns(k, 2, 10)) for k in range(6)]
    everyone = np.concatenate(seen)
    assert [len(each) for each in seen[:3]] == [10, 10, 10]
    assert np.bincount(everyone, minlength=30).max() <= 2


def test_people_come_and_go() -> None:
    ratings = sample(people=400, ratings=2000, seed=2)
    engine = Federated(ratings, 1, seed=1)
    seen = [engine._who(Turns(k, 1000, None, 0.2, 0.2)) for k in range(20)]
    assert all(100 < len(each) < 300 for each in seen)
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"factors": 3, "project": 64},
        {"rounds": 4, "turns": 2, "cohort": 100},
    ],
)
def test_sound_factorization_runs_and_is_paid_in_full(
    settings, tmp_path
) -> None:
    ratings = sample(people=200, ratings=4000, seed=3)
    method = find("mf-federated")(
        epsilon=60.0, delta=1e-4, ledger=str(tmp_path / "book"), **settings
    ).fit(ratings, users=200)
    assert method.statement_.certified == "certified"
    assert method.statement_.epsilon <= 60


def test_a_projection_keeps_the_bound_of_its_part() -> None:
    from tacit.methods.factorization.projected import projected, signs

    matrix = signs(16, 40, 0)
    assert np.allclose((matrix**2).sum(axis=0), 1)
    rows = Rows(
        np.array([0, 2]),
        np.array([3, 5], np.uint32),
        np.array([[3.0, 4.0], [1.0, 0.0]]),
    )
    round_ = Round(
        "r",
        (Part("x", 40, RowClip(1.0), 2),),
        lambda b, s: {"x": rows},
        lambda s, r: s,
    )
    small = projected(round_, 16, 0)
    found = small.contribute(None, {})["x"]
    whole = small.parts[0].bound.apply(found)
    assert np.allclose(found.values, matrix[:, [3, 5]] @ rows.values)
    assert (whole.astype(float) ** 2).sum() <= (2.0**20) ** 2


def test_a_key_that_a_round_names_outlives_any_number_of_rotations(
    tmp_path,
) -> None:
    identity = keys.Identity(tmp_path / "id")
    named = identity.current
    identity.hold(named)
    elsewhere = keys.Identity(tmp_path / "id")
    for _ in range(5):
        elsewhere.rotate()
    identity.refresh()
    assert named in identity.by_name
    assert len(identity.card()["exchange"]) == keys.KEPT + 1
    assert named in keys.Identity(tmp_path / "id").by_name
    identity.hold(identity.current)
    assert named not in identity.by_name
    assert (tmp_path / "id").stat().st_mode & 0o777 == 0o600
