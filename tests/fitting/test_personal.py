"""People who ask for less than the rest: a hunt, the statement, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.bound import CellClip, EntryGram, RowClip
from tacit.data.budgets import Budgets
from tacit.data.catalogue import Catalogue
from tacit.data.ratings import Ratings
from tacit.data.reading.budgets import read_budgets
from tacit.data.sample import sample, sample_catalogue
from tacit.engine.gram import off_grid
from tacit.engine.threads import ExactSums
from tacit.errors import DataError, SettingError
from tacit.fitting.check import check
from tacit.fitting.personal import WORDS, check_lessens, weights_of
from tacit.fitting.price import facts
from tacit.fitting.run import fit
from tacit.ledger.account.event import Gaussian
from tacit.ledger.account.personal import WHOLE
from tacit.methods import find
from tacit.methods.item_item.ease import FINE
from tacit.rounds.loop import Loop
from tacit.rounds.plan import Plan
from tacit.rounds.round import AnyState, Kind, Part, Released, Round

PEOPLE = 60


def few() -> Ratings:
    return sample(PEOPLE)


def moved(name: str, weight: int, declared: int = PEOPLE) -> dict[str, float]:
    """How far the busiest person moves each sum, as a share of what its event allows, with
    the same public state in both worlds."""
    ratings = few()
    order = check(find(name)(epsilon=2.0), people=declared)
    schema = ratings.schema.declare(declared)
    catalogue = Catalogue(list(ratings.items))
    public = facts(order, schema, catalogue, None)
    plan = order.method.plan(public)
    assert order.budget is not None
    events = plan.events(order.budget)
    busiest = ratings.users[int(np.argmax(np.diff(ratings.ptr)))]
    without, _ = ratings.without([busiest])
    both = ExactSums(ratings, 1), ExactSums(without, 1)
    both[0].lessen({busiest: weight})
    shares: dict[str, float] = {}

    def ask(round_: Round, state: AnyState) -> dict[str, Released]:
        more, less = (each.sums(round_, state) for each in both)
        for part in round_.parts:
            event = events[f"{round_.name}/{part.name}"]
            assert isinstance(event, Gaussian)
            apart = (more[part.name] - less[part.name]).ravel().tolist()
            length = sqrt(sum(each**2 for each in apart))
            shares[event.name] = length / event.sensitivity
        return {
            part.name: Released(off_grid(part, more[part.name].astype(float)), 1.0)
            for part in round_.parts
        }

    first = order.method.first_state(public).after(people=float(PEOPLE))
    Loop(plan, first).run(ask)
    return shares


@pytest.mark.parametrize("name", ["popularity", "bias", "bayes", "ease", "als"])
def test_nobody_moves_more_than_she_asked_for(name: str) -> None:
    weight = WHOLE // 5
    found = moved(name, weight)
    assert found
    assert max(found.values()) <= weight / WHOLE
    # The hunt would see it if the weight were left out.
    assert max(found.values()) > 0.9 * weight / WHOLE
    assert max(moved(name, WHOLE).values()) > 4 * weight / WHOLE


def test_nobody_moves_a_matrix_by_more_than_she_asked_for() -> None:
    """With so many declared the plan has products, which are weighed by a root."""
    weight = WHOLE // 5
    found = moved("ease", weight, 20_000)
    assert found["gram/gram"] <= weight / WHOLE
    assert found["gram/gram"] > 0.8 * weight / WHOLE


def test_a_weight_is_priced_by_all_that_is_charged() -> None:
    one = Gaussian(name="a", sensitivity=100.0, sigma=500.0, draws=9)
    asked = Budgets({"a": 0.1})
    alone = weights_of(asked, (one,), 1e-6)["a"]
    four = tuple(one.model_copy(update={"name": n}) for n in "abcd")
    assert weights_of(asked, four, 1e-6)["a"] == pytest.approx(alone / 2, abs=2)


def test_budgets_become_weights_by_what_is_charged() -> None:
    events = (Gaussian(name="a", sensitivity=100.0, sigma=500.0, draws=9),)
    asked = Budgets({"a": 0.1, "b": 0.2, "c": 99.0, "d": 0.0})
    found = weights_of(asked, events, 1e-6)
    assert set(found) == {"a", "b", "d"}
    assert 0 == found["d"] < found["a"] < found["b"] < WHOLE


def test_the_statement_is_the_same_whoever_asked(tmp_path: Path) -> None:
    ratings = few()
    promises = []
    for k, asked in enumerate([{"nobody": 0.1}, {ratings.users[0]: 0.1}]):
        method = find("popularity")(epsilon=1.0, ledger=str(tmp_path / str(k)))
        model = fit(method, ratings, users=PEOPLE, budgets=Budgets(asked))
        promises.append(model.statement)
    assert WORDS in promises[0].per_person
    own = {"artefact", "signature", "signer", "book_head"}
    first, second = (each.model_dump(exclude=own) for each in promises)
    assert first == second
    assert first["epsilon"] <= 1.0


def test_who_asked_for_nothing_at_all_is_not_counted(tmp_path: Path) -> None:
    ratings = few()
    engine = ExactSums(ratings, 1)
    order = check(find("popularity")(epsilon=1.0), people=PEOPLE)
    schema = ratings.schema.declare(PEOPLE)
    public = facts(order, schema, Catalogue(list(ratings.items)), None)
    round_ = order.method.plan(public).rounds[0]
    state = order.method.first_state(public)
    engine.lessen(dict.fromkeys(ratings.users, 0))
    assert not any(each.any() for each in engine.sums(round_, state).values())


def test_from_python_by_a_mapping_or_a_file(tmp_path: Path) -> None:
    place = tmp_path / "asked.csv"
    place.write_text("epsilon,user\n0.5,u1\n0.2,u2\n0.1,u1\n")
    assert dict(read_budgets(place).asked) == {"u1": 0.1, "u2": 0.2}
    made = tacit.Popularity(epsilon=1.0, ledger=str(tmp_path / "ledger"))
    made.fit(few(), items=sample_catalogue(), budgets=place)
    assert WORDS in made.statement_.per_person
    # Without --users people are counted by their weights: an envelope has a weight too.
    assert made.statement_.epsilon is not None


@pytest.mark.parametrize("text", ["user,epsilon\nu1,x\n", "user,epsilon\nu1,-1\n", "a,b\nu1,1\n"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    place = tmp_path / "asked.csv"
    place.write_text(text)
    with pytest.raises(DataError):
        read_budgets(place)


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("bias", {"unit": "rating"}, "whole people"),
        ("bias", {"calibration": "none"}, "promises nothing"),
        ("mf-sgd", {"calibration": "paper"}, "promises nothing"),
        ("bias", {"engine": "federated"}, "weigh"),
        ("one-bit", {}, "coin"),
    ],
)
def test_what_cannot_be_promised_is_refused(name: str, more: dict[str, str], said: str) -> None:
    method = find(name)(epsilon=1.0, **more)
    with pytest.raises(SettingError, match=said):
        check(method, people=PEOPLE, budgets=Budgets({"u": 0.5}))


@pytest.mark.parametrize(
    "part",
    [
        Part("p", 3, RowClip(1.0), kind=Kind.OBJECTIVE),
        Part("p", 3, EntryGram(3, CellClip(1.0, FINE), 5.0), form="gram"),
    ],
)
def test_a_plan_whose_release_is_no_plain_sum_is_refused(part: Part) -> None:
    round_ = Round("r", (part,), lambda b, s: {}, lambda s, r: s)
    with pytest.raises(SettingError, match="no plain sum"):
        check_lessens([Plan("user", (round_,))], ())


def test_people_without_ids_have_no_budgets(tmp_path: Path) -> None:
    """Whose id is her place in a table hands it on when somebody before her leaves: sums would
    move by everybody behind her."""
    ratings = few()
    bare = replace(ratings, notes=replace(ratings.notes, numbered=True))
    ledger = tmp_path / "ledger.sqlite"
    method = tacit.Popularity(epsilon=1.0, ledger=str(ledger))
    with pytest.raises(DataError, match="no ids of their own"):
        method.fit(bare, users=PEOPLE, budgets={ratings.users[0]: 0.1})
    assert not ledger.exists()


def test_ids_of_budgets_are_compared_as_those_of_ratings() -> None:
    composed = "Ren\u00e9"
    asked = {"Rene\u0301": 0.5, f" {composed}": 0.2, "bob ": 0.1}
    assert Budgets(asked).asked == {composed: 0.2, "bob": 0.1}


def test_it_may_start_from_an_earlier_model(tmp_path: Path) -> None:
    ratings = few()
    book = str(tmp_path / "ledger")
    first = fit(find("bias")(epsilon=1.0, ledger=book), ratings, users=PEOPLE)
    later = fit(
        find("bias")(epsilon=1.0, ledger=book),
        ratings,
        users=PEOPLE,
        start=first,
        budgets=Budgets({ratings.users[0]: 0.2}),
    )
    assert WORDS in later.statement.per_person
    assert WORDS not in first.statement.per_person
