"""More methods over the wire, piece by piece: packed triangles, rounds instead of others,
reports, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import FactorGram, Rows
from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.sample import sample
from tacit.engine.gram import Factors, square
from tacit.engine.threads import Threads
from tacit.errors import BudgetError, Failure, SettingError
from tacit.federation.agreed.assembled import aggregate_reports, assemble
from tacit.federation.agreed.expect import form_before
from tacit.federation.agreed.scheme import word_bits
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol import arrays, packing, wire
from tacit.federation.protocol.task import Task
from tacit.federation.server import uploads
from tacit.federation.server import uploads as aggregator
from tacit.federation.server.store import ServerStore
from tacit.methods.bayes.rounds import BayesState
from tacit.methods.first_order.rounds import ItemBiases
from tacit.methods.refine.global_mean import GlobalMean
from tacit.methods.refine.item_bias import Evidence
from tacit.methods.refine.weights import Weights
from tacit.noise.release import NoNoise
from tacit.rounds.round import Part, Round
from tacit.rounds.state import State

ITEMS = sample(people=20, ratings=200, seed=1).items


def task(**changes) -> Task:
    facts = {
        "method": "popularity",
        "epsilon": 5.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": 20,
        "cohort": 20,
        "least": 10,
        "items": catalogue_facts(Catalogue(ITEMS)),
    } | changes
    return Task(**facts)


def device(made) -> Device:
    policy = Policy(epsilon=50, delta=1e-4)
    return Device(
        made, 0, np.array([1, 5], np.uint32), np.array([1.0, -1.0]), None, policy, b"s" * 32
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
    return wire.Announcement(**facts), memoryview(arrays.pack_state(State(people=20.0).packed()))


def test_a_packed_triangle_is_the_matrix_of_the_threads_engine() -> None:
    part = Part("gram", 40, FactorGram(), form="gram")
    people = sample(people=30, ratings=400, seed=2)

    def rows(block):
        return Rows(block.ptr, np.minimum(block.item, 40), block.value[:, None])

    round_ = Round(
        "r", (part,), lambda block, state: {"gram": rows(block)}, lambda state, released: state
    )
    engine = Threads(people, 1)
    total = np.zeros((part.numbers, 1), np.int64)
    for person in range(people.n_users):  # each device by itself, as over the wire
        factors = Factors(part)
        factors.add(0, rows(engine._block(slice(person, person + 1), {})), 1)
        total += factors.packed()
    assert np.array_equal(square(part, total), engine.run(round_, {}, NoNoise())["gram"].value)


def bayes(**changes):
    return assemble(task(method="bayes", epsilon=30.0, delta=1e-5, people=6000, **changes))


def told_of(made, name: str) -> tuple[wire.Announcement, memoryview]:
    """An announcement of the round of this name, with a state in which the covariance would
    drown."""
    index = [round_.name for round_ in made.plan.rounds].index(name)
    items = made.public.items
    some = np.full(items, 1e-3)
    state = BayesState(
        people=6000.0,
        level=GlobalMean(0.0, 1.0, 20.0),
        weights=Weights(some, some**2, np.full(items, -7.0), 0.1),
        effects=ItemBiases(np.zeros(items), np.ones(items), np.ones(items)),
        evidence=Evidence(*np.zeros((5, items))),
    )
    payload = memoryview(arrays.pack_state(state.packed()))
    return announcement(made, round=index)[0], payload


def test_a_device_refuses_the_round_that_another_stands_instead_of() -> None:
    made = bayes()
    told, payload = told_of(made, "covariance")
    with pytest.raises(SettingError, match="another takes its place"):
        device(made).events(told, payload)
    one = device(made)
    assert one.events(*told_of(made, "effects instead"))
    one.ran.add("covariance")  # never both, whatever is announced
    with pytest.raises(SettingError, match="another takes its place"):
        one.events(*told_of(made, "effects instead"))


def test_of_two_rounds_one_is_charged() -> None:
    made = bayes()
    both = {
        path: event
        for path, event in made.events.items()
        if "covariance" in path or "instead" in path
    }
    assert len(both) == 2
    assert both["effects instead/sums"].instead == "covariance/likings"
    assert made.price(1e-5) <= 30.0


def test_a_device_refuses_a_plan_whose_noise_is_too_small_for_its_cap() -> None:
    with pytest.raises(BudgetError, match="too small"):
        device(assemble(task(epsilon=60.0)))


def test_a_plan_that_would_have_devices_send_too_much_is_refused(monkeypatch) -> None:
    monkeypatch.setattr("tacit.federation.agreed.assembled.MOST_BYTES", 100_000)
    with pytest.raises(SettingError, match="bytes in the round covariance"):
        bayes()


def test_a_device_checks_that_a_contribution_is_one_persons() -> None:
    one = device(assemble(task()))
    part = one.made.plan.rounds[0].parts[0]
    two = Rows(np.array([0, 1, 2]), np.array([0, 0], np.uint32), np.ones((2, 1)))
    with pytest.raises(Failure, match="person by person"):
        one._weighted_integers(part, one.made.layouts(0)[0], two, 2)


def before(made, index: int) -> memoryview:
    """A state as the plan leads to before a round."""
    return memoryview(arrays.pack_state(form_before(made, index, State()).packed()))


def local(**changes):
    return assemble(task(method="one-bit", epsilon=4.0, **changes))


def test_a_report_is_a_label_and_an_answer_and_nothing_else() -> None:
    made = local(settings={"form": "descent"})
    one = device(made)
    index = [r.takes_part.index for r in made.plan.rounds].index(
        one.place % made.plan.rounds[0].takes_part.of
    )
    told, payload = announcement(made, round=index)[0], before(made, index)
    _, words = wire.unpack(wire.Upload, one.answer(told, payload, b"m" * 32))
    label, answer = np.frombuffer(words, "<i8")
    assert label == one.label
    assert 0 <= answer < 2 * made.plan.rounds[index].parts[0].size


def test_a_device_answers_in_its_own_slice_of_the_people_alone() -> None:
    made = local(settings={"form": "descent"})
    one = device(made)
    of = made.plan.rounds[0].takes_part.of
    index = (one.place + 1) % of
    told, payload = announcement(made, round=index)[0], before(made, index)
    with pytest.raises(SettingError, match="another slice"):
        one.events(told, payload)


def test_reports_that_no_honest_device_can_give_are_left_out() -> None:
    made = local()
    part = made.plan.rounds[0].parts[0]
    words = np.array([[1, 0], [2, part.choices], [-5, 0], [3, 1]], np.int64).view(np.uint64)
    released = aggregate_reports(part, made.events["popularity/report"], words)
    assert released.reports == 2
    assert released.value.tolist() == [[1, 0], [3, 1]]


def test_uploads_are_summed_a_few_at_a_time(tmp_path, monkeypatch) -> None:
    layout = wire.PartLayout(name="x", size=4, width=1, bits=32)
    header = wire.Upload(task="ab" * 16, round=0, attempt=0, least=1)
    bodies = [wire.pack(header, np.full(4, k, "<u4").tobytes()) for k in range(7)]
    store = ServerStore(tmp_path / "store", aggregator.MIGRATIONS, "aggregator")
    insert = (
        "INSERT INTO upload (task, round, attempt, device, digest, least, body) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    for k, body in enumerate(bodies):
        store.write_blocking(
            lambda s, k=k, body=body: s.run(insert, header.task, 0, 0, f"{k}", "", 1, body)
        )
    monkeypatch.setattr(uploads, "AT_ONCE", 3 * len(bodies[0]))
    key = (header.task, 0, 0)
    found = store.write_blocking(lambda s: list(uploads.bodies_of(s, key)))
    store.close()
    assert [body for _, body in found] == bodies
    assert [device for device, _ in found] == [f"{k}" for k in range(7)]
    assert summed(layout, bodies).ravel().tolist() == [21] * 4


def summed(layout: wire.PartLayout, bodies: list[bytes]) -> np.ndarray:
    total = uploads.RoundTotal((layout,))
    for body in bodies:
        total.add(body)
    return total.sections()[0].words


def test_reports_are_listed_and_not_summed() -> None:
    layout = wire.PartLayout(name="x", size=1, width=2, bits=64, report=True)
    header = wire.Upload(task="ab" * 16, round=0, attempt=0, least=1)
    bodies = [wire.pack(header, np.array([k, 3], "<u8").tobytes()) for k in range(2)]
    assert summed(layout, bodies).tolist() == [[0, 3], [1, 3]]


@pytest.mark.parametrize("bits", [8, 13, 27, 31, 32, 33, 43, 63, 64])
@pytest.mark.parametrize("count", [0, 1, 7, packing.CHUNK + 3])
def test_words_travel_in_as_many_bits_as_they_have(bits, count) -> None:
    """Any integer within half the range comes back, and no more bytes are sent than needed."""
    rng = np.random.default_rng(bits)
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    sent = rng.integers(low, high, count, endpoint=True)
    sent[:2] = [low, high][: len(sent)]
    data = packing.packed(wire.to_words(sent, bits), bits)
    assert len(data) == -(-count * bits // 8)
    found = packing.unpacked(data, count, bits)
    assert np.array_equal(wire.integers(found, bits), sent)


def test_sums_of_short_words_wrap_as_they_should() -> None:
    one = wire.to_words(np.array([2**26 - 1, -5]), 27)
    other = wire.to_words(np.array([1, 7]), 27)
    assert wire.integers(one + other, 27).tolist() == [-(2**26), 2]


@pytest.mark.parametrize(
    ("span", "bits"),
    [
        (0, 10),
        (100, 10),
        (2.0**20, 24),
        (2.0**29, 32),
        (2.0**31, 35),
        (2.0**61, 64),
        (2.0**63, 64),
        (float("inf"), 64),
    ],
)
def test_a_word_has_room_for_the_largest_honest_sum(span, bits) -> None:
    assert word_bits(span) == bits
