"""A recommender that makes up public state: finite numbers that are absurd, arrays that do not
fit one another. Whether a device answers never depends on what it rated, and no array is read
beyond its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue, catalogue_facts
from tacit.data.ratings import Ratings
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.federation.agreed import expect
from tacit.federation.agreed.assembled import Assembled, assemble
from tacit.federation.device.device import Device
from tacit.federation.device.policy import Policy
from tacit.federation.protocol import arrays, wire
from tacit.federation.protocol.task import Task
from tacit.methods.bayes.rounds import CovarianceRound
from tacit.noise.release import Charge
from tacit.rounds.loop import Loop, passed_over
from tacit.rounds.people import Slice

ITEMS = [f"i{k}" for k in range(60)]
KNOWN = Catalogue(
    ITEMS,
    years=np.arange(1960.0, 2020.0),
    tags=("a", "b"),
    tagged=np.arange(120).reshape(60, 2) % 7 < 3,
)
"""With features, so that how widely tastes vary is asked."""
HIDDEN = 5
"""The item that the recommender is curious about."""
ABSURD = (1e20, 1e154)
POLICY = Policy(epsilon=500, delta=1e-4, honest=1.0, noise=("both", "servers", "devices"))
METHODS: dict[str, dict[str, Any]] = {
    "popularity": {},
    "bias": {"epsilon": 50.0},
    "bayes": {"epsilon": 50.0},
    "bayes of known items": {"method": "bayes", "epsilon": 50.0, "items": catalogue_facts(KNOWN)},
    "als": {"epsilon": 20.0, "settings": {"factors": 3}},
    "mf-federated": {"settings": {"factors": 2, "rounds": 2}},
    "one-bit": {},
    "one-bit-projected": {"settings": {"form": "descent", "rank": 2, "rounds": 3}},
}


def assembled(method: str) -> Assembled:
    facts = {
        "method": method,
        "epsilon": 5.0,
        "delta": 1e-4,
        "low": 1,
        "high": 5,
        "people": 6000,
        "cohort": 6000,
        "least": 1000,
        "items": catalogue_facts(Catalogue(ITEMS)),
    } | METHODS[method]
    return assemble(Task(**facts))


def states(made: Assembled) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Every round, and a state that leads to it: of people of whom nothing is known."""
    state = replace(made.first_state, people=6000.0)
    done = list[str]()
    for index, round_ in enumerate(made.plan.rounds):
        if passed_over(made.plan, round_, state, done):
            continue
        packed = {
            name: np.nan_to_num(np.asarray(array), posinf=1, neginf=1)
            for name, array in state.packed().items()
        }
        yield index, packed
        done.append(round_.name)
        with np.errstate(all="ignore"):
            state = round_.absorb(state, expect.nothing(round_.parts))


def answered(made: Assembled, index: int, state: dict[str, np.ndarray], rated: list[int]) -> object:
    """The length of what a device sends, or that it refuses."""
    values = np.array([1.0, -1.0])
    items = np.array(rated, np.uint32)
    one = Device(made, 0, items, values, None, POLICY, b"s" * 32)
    part = made.round(index).takes_part
    if isinstance(part, Slice):  # it is one of those who are asked
        one.place = part.index
    told = wire.Announcement(
        task=made.task.name,
        round=index,
        attempt=0,
        nonce="ab" * 16,
        key="cd" * 16,
        joined=made.task.least,
        least=made.task.least,
        enough=made.task.enough,
        seconds=10.0,
    )
    payload = memoryview(arrays.pack_state(state))
    try:
        one.events(told, payload)
    except SettingError:
        return "refused"
    return len(one.answer(told, payload, b"m" * 32))


def absurd(state: dict[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    for name, array in state.items():
        if array.dtype.kind == "f":
            for number in ABSURD:
                changed = np.array(array)
                most = float(np.finfo(array.dtype).max)
                number = max(-most, min(most, number))
                if changed.ndim and len(changed) == len(ITEMS):
                    changed[HIDDEN] = number
                else:
                    changed[...] = number
                yield {**state, name: changed}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_no_absurd_number_silences_only_those_who_rated_some_item(method):
    """Seen: with an effect of 1e20 in the last round of `bias`, or of 1e154 in the factors of
    `als` and `mf-federated`, those who rated the item ended in a division by zero."""
    made = assembled(method)
    rounds = 0
    for index, state in states(made):
        good = answered(made, index, state, [1, 2])
        assert isinstance(good, int)
        for changed in absurd(state):
            seen = answered(made, index, changed, [1, HIDDEN])
            assert seen == answered(made, index, changed, [1, 2])
            assert seen in (good, "refused")
        rounds += 1
    assert rounds > (method not in ("popularity",))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["bayes", "als", "mf-federated"])
def test_arrays_that_do_not_fit_one_another_are_refused(method):
    """Seen: factors of another width than the plan's had compiled loops write beyond the end
    of an array, and the device died of it (or worse)."""
    made = assembled(method)
    tried = 0
    for index, state in states(made):
        for name, array in state.items():
            for axis in range(array.ndim):
                shape = list(array.shape)
                for length in (0, shape[axis] + 1):
                    if length == array.shape[axis]:
                        continue
                    shape[axis] = length
                    changed = {**state, name: np.ones(shape, array.dtype)}
                    if _columns_of_taste(made, state, name, axis, length):
                        continue
                    found = answered(made, index, changed, [1, HIDDEN])
                    assert found == "refused", (index, name, shape)
                    tried += 1
    assert tried > 20


def _columns_of_taste(made, state, name, axis, length) -> bool:
    """Where a state has one array of them, it may have any number of columns, but none."""
    free = made.first_state.free_axes()
    here = [each for each in free if each in state]
    return here == [name] and free[name] == axis and length > 0


@pytest.mark.filterwarnings("ignore")
def test_columns_of_taste_that_were_learned_are_taken_if_all_have_them():
    """How many there are follows from what was released."""
    made = assembled("bayes")
    free = made.first_state.free_axes()
    tried = 0
    for index, state in states(made):
        here = [name for name in free if name in state]
        grown = {name: _wider(state[name], free[name]) for name in here}
        if len(here) > 1:
            assert isinstance(answered(made, index, {**state, **grown}, [1, HIDDEN]), int)
            grown.pop(here[0])
            assert answered(made, index, {**state, **grown}, [1, 2]) == "refused"
            tried += 1
    assert tried >= 2


def _wider(array: np.ndarray, axis: int) -> np.ndarray:
    wide = [(0, 3 if each == axis else 0) for each in range(array.ndim)]
    return np.pad(array, wide)


def announced_one_by_one(
    made: Assembled,
    people: int,
    user_factors: float,
    after: Callable[[str], None] = lambda name: None,
) -> tuple[Loop, list[int]]:
    """A fit of invented people, each of its states taken as a device takes it; and how wide
    tastes were."""
    rng, each = np.random.default_rng(0), 15
    item_factors = rng.normal(size=(len(ITEMS), 3))
    item = np.sort(rng.random((people, len(ITEMS))).argsort()[:, :each])
    likes = rng.normal(size=(people, 3)) @ item_factors.T
    value = 3 + user_factors * np.take_along_axis(likes, item, 1)
    ratings = Ratings(
        made.public.schema,
        [str(person) for person in range(people)],
        ITEMS,
        np.arange(people + 1) * each,
        item.astype(np.uint32).ravel(),
        np.clip(np.rint(value), 1, 5).astype(np.float32).ravel(),
    )
    engine = Threads(ratings, 1)
    charge = Charge(made.plan.events(made.public.budget).values())
    loop = Loop(made.plan, replace(made.first_state, people=float(people)))
    widths, names = list[int](), [each.name for each in made.plan.rounds]
    while (round_ := loop.next()) is not None:
        packed = loop.state.packed()
        payload = memoryview(arrays.pack_state(packed))
        index = names.index(round_.name)
        taken = expect.announced(made, index, payload, 0).state
        assert taken.packed().keys() == packed.keys()
        if "tastes.loadings" in packed:
            widths.append(packed["tastes.loadings"].shape[1])
        loop.absorb(round_, engine.run(round_, loop.state, charge))
        after(round_.name)
    return loop, widths


@pytest.mark.parametrize("method", ["bayes", "bayes of known items"])
def test_no_round_is_refused_because_tastes_were_found(method):
    """Seen: a covariance that found tastes gave later rounds a state whose arrays were longer
    than a device expected, and every device refused what it had paid to reach."""
    made = assembled(method)
    loop, widths = announced_one_by_one(made, 6000, 0.7)
    assert {"implied", "agreement", "choice"} <= set(loop.done)
    empty = expect.form_before(made, len(made.plan.rounds) - 1, loop.state)
    assert widths[-1] > empty.tastes.loadings.shape[1]


def test_no_round_is_refused_because_of_two_the_other_was_run(monkeypatch):
    """Seen: the sums that were released in the place of a covariance changed what had spoken for
    them, so that devices expected the tastes of a covariance and refused every later round."""
    drowns = [True]
    monkeypatch.setattr(CovarianceRound, "drown", lambda *told, **more: drowns[-1])
    made = assembled("bayes")

    def changes_its_mind(name: str) -> None:
        drowns.append(name != "effects instead" and drowns[-1])

    loop, _ = announced_one_by_one(made, 300, 0.0, changes_its_mind)
    assert "choice" in loop.done
    assert "effects instead" in loop.done
    assert not drowns[-1]


@pytest.mark.parametrize("method", METHODS)
def test_what_a_plan_may_tell_has_room_and_no_more(method) -> None:
    made = assembled(method)
    sizes = [len(arrays.pack_state(packed)) for _, packed in states(made)]
    assert max(sizes) < made.most_told / 2
    assert made.most_told < 8 << 20
    assert made.most_told < made.most_published < 32 << 20
