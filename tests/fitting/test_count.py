"""Where people are not declared, a count chooses among plans of equal cost (break 4: every
plan was made for 5,000 people, whoever was there)."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.ratings import Ratings
from tacit.data.schema import Schema
from tacit.engine.threads import Threads
from tacit.errors import SettingError
from tacit.fitting.check import check
from tacit.fitting.price import COUNT, COUNT_SHARE, GRID, Counting, counting, planned
from tacit.fitting.run import fit, trial
from tacit.ledger.account.account import epsilon
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import Gaussian, Reserve
from tacit.ledger.book.book import open_book
from tacit.ledger.book.rules import ROUNDING
from tacit.ledger.statement.ledger_check import check_against
from tacit.methods import find, names
from tacit.methods.base import Public

COUNTED = sorted(
    (name, unit)
    for name in names()
    for unit in find(name).units
    if "threads" in find(name).engines and unit != "value"
)


def invented(people: int, items: int = 40, seed: int = 0) -> Ratings:
    """Many people of ten ratings each, fast."""
    rng = np.random.default_rng(seed)
    item = np.sort(rng.random((people, items)).argsort(axis=1)[:, :10], axis=1)
    return Ratings(
        Schema(1, 5),
        [str(k) for k in range(people)],
        [str(k) for k in range(items)],
        np.arange(people + 1, dtype=np.int64) * 10,
        item.ravel().astype(np.uint32),
        rng.integers(1, 6, people * 10).astype(np.float32),
    )


def options(name: str, unit: str, delta: float = 1e-6) -> tuple[Counting, Public]:
    from tacit.data.sample import sample_catalogue

    order = check(find(name)(epsilon=1.0, delta=delta, unit=unit))
    public = Public(Schema(1, 5), sample_catalogue(), order.unit, "sound", order.budget)
    able = Threads(invented(20)).check
    return counting(order, public, able), public


@pytest.mark.parametrize(("name", "unit"), COUNTED)
def test_every_plan_costs_what_is_charged_and_not_more(name: str, unit: str) -> None:
    found, _ = options(name, unit)
    whole = epsilon(found.charged, 1e-6, unit=unit)
    assert 0.999 < whole <= 1
    envelope = next(e for e in found.charged if isinstance(e, Reserve))
    assert envelope.mu is not None
    for made in found.plans.values():
        price = cost(made.events.values(), unit)
        assert 0.999 < price.mu2 / envelope.mu**2 <= ROUNDING
        assert not price.pure
        assert not price.sampled
        together = (found.event, *made.events.values())
        assert epsilon(together, 1e-6, unit=unit) <= 1


def test_a_pure_budget_is_covered_too() -> None:
    found, _ = options("bias", "user", delta=0.0)
    assert epsilon(found.charged, 0.0) <= ROUNDING
    for made in found.plans.values():
        together = (found.event, *made.events.values())
        assert 0.999 < epsilon(together, 0.0) <= ROUNDING


def test_the_count_takes_its_share() -> None:
    found, _ = options("bayes", "user")
    own = cost([found.event]).mu2
    whole = cost(found.charged).mu2
    assert own / whole == pytest.approx(COUNT_SHARE, rel=1e-6)


@pytest.mark.parametrize("people", [1.0, 90.0, 943.0, 6040.0, 40_000.0, 1e12])
def test_the_plan_is_for_about_as_many_as_were_counted(people: float) -> None:
    found, _ = options("bayes", "user")
    made = found.plan_for(people)
    meant = np.clip(people, GRID[0], GRID[-1])
    assert made.public.people / meant == pytest.approx(1, abs=0.1)


def test_the_chosen_plan_is_nearly_that_of_the_declared_number() -> None:
    """Break 4: without `--users` 40,000 people got the plan of 5,000."""
    found, public = options("bayes", "user")
    order = check(find("bayes")(epsilon=1.0))
    from dataclasses import replace

    declared = replace(public, schema=public.schema.declare(users=40_000))
    meant = planned(order, declared)
    chosen = found.plan_for(40_300.0)
    assert chosen.shape == meant.shape
    for name, event in meant.events.items():
        mine = chosen.events[name]
        assert isinstance(mine, Gaussian)
        assert isinstance(event, Gaussian)
        ratio = mine.sigma / event.sigma
        assert ratio == pytest.approx(1, abs=0.05), name


def test_the_statement_tells_the_plan_that_was_chosen(tmp_path) -> None:
    """Break 4: a reach of 1,184 stood where it was 223."""
    ledger = str(tmp_path / "book")
    method = find("bayes")(epsilon=4.0, ledger=ledger)
    model = fit(method, invented(3000))
    promise = model.statement
    assert promise.certified == "certified"
    assert promise.events[0].name == COUNT
    assert not any(event.kind == "reserve" for event in promise.events)
    declared = trial(find("bayes")(epsilon=4.0), invented(3000), users=3000)
    told = _reach(promise.settings)
    meant = _reach(declared.statement.settings)
    assert told == pytest.approx(meant, rel=0.15)
    book = open_book(ledger)
    book.verify()
    assert check_against(promise, book)[0]
    charged, done = book.entries()
    assert [event.kind for event in charged.events] == ["gaussian", "reserve"]
    assert done.events == promise.events
    assert model.shared.schema.users is None


def _reach(settings: tuple[str, ...]) -> float:
    words = next(each for each in settings if "stand out" in each).split()
    return float(words[words.index("times") - 1])


def test_a_commit_beyond_the_envelope_is_refused(tmp_path) -> None:
    from tacit.errors import BudgetError

    found, _ = options("bias", "user")
    book = open_book(str(tmp_path / "book"))
    receipt = book.reserve(
        found.charged, unit="user", budget=(1.0, 1e-6), purpose="", method="bias"
    )
    events = [found.event, *found.plan_for(50).events.values()]
    louder = events[-1].model_copy(update={"sigma": events[-1].sigma / 2})
    with pytest.raises(BudgetError, match="exceed the envelope"):
        book.commit(receipt, "0" * 64, [*events[:-1], louder])
    book.commit(receipt, "0" * 64, events)


def test_nothing_is_paid_to_count_where_people_are_public(tmp_path) -> None:
    for name in ("svd-output", "one-bit"):
        method = find(name)(epsilon=1.0, ledger=str(tmp_path / name))
        promise = fit(method, invented(40)).statement
        assert promise.certified == "certified"
        assert COUNT not in [event.name for event in promise.events]


@pytest.mark.parametrize("name", ["bias", "mf-federated"])
def test_break_3_a_federation_declares_its_people(name: str, tmp_path) -> None:
    """Break 3: without `--users` one was charged and then failed, the other was certified
    nearly empty."""
    ledger = tmp_path / "book"
    method = find(name)(epsilon=1.0, engine="federated", ledger=str(ledger))
    with pytest.raises(SettingError, match="declared"):
        fit(method, invented(40))
    assert not ledger.exists()
    declared = fit(method, invented(40), users=40)
    assert declared.statement.certified == "certified"


def test_a_method_whose_plans_have_no_common_price_asks_for_people() -> None:
    from dataclasses import replace

    from tacit.rounds.people import Coin

    found, _ = options("bias", "user")
    tossed = {}
    for people, made in found.plans.items():
        event = next(iter(made.events.values()))
        coin = event.model_copy(update={"sampled": Coin(0.5).chance})
        tossed[people] = replace(made, events={event.name: coin})
    with pytest.raises(SettingError, match="users"):
        _ = replace(found, plans=tossed).charged
