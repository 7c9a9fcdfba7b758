"""One round instead of another: paid for once, drawn once, decided by released numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.errors import Failure, SettingError
from tacit.ledger.account import account
from tacit.ledger.account.cost import cost
from tacit.noise.release import Charge
from tacit.rounds.loop import passed_over
from tacit.rounds.people import Coin
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.round import Part, Round


def made(name, share=0.5, size=3, limit=1.0, **options):
    return Round(
        name,
        (Part("sums", size, RowClip(limit), share=share),),
        lambda block, state: {"sums": Rows.one_each(np.zeros((len(block.people), 1)))},
        lambda state, released: state,
        **options,
    )


def plan(answer=True):
    return Plan(
        "user",
        (
            made("a"),
            made("b"),
            made("c", size=7, limit=3.0, instead="b", chosen=lambda state: answer),
        ),
    )


BUDGET = Budget(1.0, 1e-6)


def test_the_other_round_adds_no_cost():
    whole = plan().events(BUDGET)
    without = {name: event for name, event in whole.items() if name != "c/sums"}
    assert whole["c/sums"].instead == "b/sums"
    assert account.epsilon(whole.values(), 1e-6) == pytest.approx(
        account.epsilon(without.values(), 1e-6)
    )
    assert cost(whole.values()).mu2 == cost(without.values()).mu2


def test_each_of_the_two_is_noised_for_its_own_sensitivity():
    whole = plan()
    events = whole.events(BUDGET)
    for round_ in whole.rounds:
        claimed = round_.parts[0].bound.sensitivity("user").l2
        assert events[f"{round_.name}/sums"].sensitivity == claimed
    for name in ("b/sums", "c/sums"):
        mu = events[name].sensitivity / np.sqrt(events[name].sigma ** 2 - 4)
        assert mu == pytest.approx(
            events["a/sums"].sensitivity / np.sqrt(events["a/sums"].sigma ** 2 - 4)
        )


@pytest.mark.parametrize(("first", "second"), [("b/sums", "c/sums"), ("c/sums", "b/sums")])
def test_never_both_are_drawn(first, second):
    charge = Charge(plan().events(BUDGET).values())
    charge.draw(first)
    with pytest.raises(Failure):
        charge.draw(second)
    charge.draw("a/sums")


def test_an_event_that_costs_more_than_its_payer_is_refused():
    events = plan().events(BUDGET)
    dearer = events["c/sums"].model_copy(update={"sigma": events["c/sums"].sigma * 0.99})
    with pytest.raises(SettingError, match="instead"):
        cost([events["b/sums"], dearer])


def test_an_event_without_its_payer_is_refused():
    with pytest.raises(SettingError, match="instead"):
        cost([plan().events(BUDGET)["c/sums"]])


@pytest.mark.parametrize("answer", [True, False])
def test_exactly_one_of_the_two_runs(answer):
    made_plan = plan(answer)
    run: list[str] = []
    for round_ in made_plan.rounds:
        if not passed_over(made_plan, round_, {}, run):
            run.append(round_.name)
    assert run == (["a", "c"] if answer else ["a", "b"])


@pytest.mark.parametrize(
    "other",
    [
        made("c", share=0.4, instead="b", chosen=bool),
        made("c", instead="b"),
        made("c", instead="nothing", chosen=bool),
        made("c", instead="b", chosen=bool, takes_part=Coin(0.5)),
    ],
    ids=["another share", "no decision", "no such round", "a coin"],
)
def test_what_cannot_stand_instead_is_refused(other):
    with pytest.raises(SettingError):
        Plan("user", (made("a"), made("b"), other))
