"""Plans: shares, events, and what they cost together."""

from __future__ import annotations

import pytest

from tacit.bound import CellClip, OwnMeans, RowClip
from tacit.errors import SettingError
from tacit.ledger.account import account
from tacit.rounds.people import Coin, Slice
from tacit.rounds.plan import Budget, Plan
from tacit.rounds.printed import Claim, Cohort
from tacit.rounds.round import Kind, Part, Round


def round_(name, *parts, **more):
    return Round(name, parts, lambda block, state: {}, lambda state, released: state, **more)


def cost(plan, budget, **more):
    return account.epsilon(plan.events(budget).values(), budget.delta, **more)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-9])
def test_a_plan_costs_its_budget_and_not_more(epsilon, delta):
    plan = Plan(
        "user",
        (
            round_(
                "a", Part("x", 9, RowClip(1.0), share=0.2), Part("y", 1, RowClip(3.0), share=0.3)
            ),
        ),
    )
    assert 0.999 * epsilon < cost(plan, Budget(epsilon, delta)) <= epsilon


def test_a_pure_plan_adds_up_to_epsilon():
    plan = Plan(
        "rating",
        (round_("a", Part("x", 9, CellClip(1.0), share=0.2), Part("y", 1, OwnMeans(), share=0.6)),),
    )
    assert cost(plan, Budget(2.0, 0.0)) == pytest.approx(2.0)


def test_pure_and_gaussian_parts_share_one_budget():
    parts = (
        Part("x", 9, RowClip(1.0), share=0.5),
        Part("y", 9, RowClip(1.0, "l1"), share=0.5, kind=Kind.SELECTION),
    )
    assert cost(Plan("user", (round_("a", *parts),)), Budget(2.0, 1e-6)) <= 2.0


def test_a_secret_coin_buys_less_noise():
    plain = Plan("user", (round_("a", Part("x", 9, RowClip(1.0))),))
    coin = Plan("user", (round_("a", Part("x", 9, RowClip(1.0)), takes_part=Coin(0.05)),))
    budget = Budget(1.0, 1e-6)
    assert coin.events(budget)["a/x"].sigma < 0.5 * plain.events(budget)["a/x"].sigma
    assert cost(coin, budget) <= 1.0


def test_parts_may_not_share_a_coin():
    """Their joint law is one mixture, which costs more than two events with coins of their own."""
    parts = (Part("x", 9, RowClip(1.0), share=0.5), Part("y", 9, RowClip(1.0), share=0.5))
    with pytest.raises(SettingError, match="one part"):
        Plan("user", (round_("a", *parts, takes_part=Coin(0.1)),))


def test_slices_of_one_partition_cost_as_much_as_one():
    def slices(n):
        return Plan(
            "user",
            tuple(
                round_(f"s{i}", Part("x", 9, RowClip(1.0)), takes_part=Slice(i, n))
                for i in range(n)
            ),
        )

    budget = Budget(1.0, 1e-6)
    assert slices(4).events(budget)["s3/x"].sigma == slices(1).events(budget)["s0/x"].sigma
    assert cost(slices(4), budget) == cost(slices(1), budget)


def test_a_slice_without_its_first_is_refused():
    alone = Plan("user", (round_("s", Part("x", 9, RowClip(1.0)), takes_part=Slice(1, 2)),))
    with pytest.raises(SettingError, match="slice 0"):
        alone.events(Budget(1.0, 1e-6))


def test_more_than_the_whole_is_refused():
    with pytest.raises(SettingError, match="more than the whole"):
        Plan(
            "user",
            (
                round_(
                    "a",
                    Part("x", 1, RowClip(1.0), share=0.7),
                    Part("y", 1, RowClip(1.0), share=0.7),
                ),
            ),
        )


def test_a_round_before_takes_its_share_and_leaves_the_cost():
    plan = Plan("user", (round_("a", Part("x", 9, RowClip(1.0), share=0.5)),))
    longer = plan.after(round_("b", Part("n", 1, RowClip(1.0))), 0.01)
    events = longer.events(Budget(1.0, 1e-6))
    assert events["b/n"].sigma > 5 * events["a/x"].sigma
    assert cost(longer, Budget(1.0, 1e-6)) <= 1.0


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_an_unbounded_part_is_refused_before_any_data(unit):
    plan = Plan(
        unit, (round_("a", Part("x", 1, CellClip(1.0) if unit == "user" else RowClip(1.0))),)
    )
    if unit == "user":
        with pytest.raises(SettingError, match="no finite bound"):
            plan.events(Budget(1.0, 1e-6))
    else:
        with pytest.raises(SettingError, match="no pure bound"):
            plan.events(Budget(1.0, 0.0))


def test_a_claim_is_booked_as_unbounded():
    claim = Claim("laplace", 2.0, 0.5, 0.0, "the paper forgets the mean")
    event = Plan("user", (round_("a", Part("x", 4, CellClip(1.0, 10), printed=claim)),)).events(
        Budget(1, 0)
    )["a/x"]
    assert (event.kind, event.scale, event.claimed_epsilon) == ("unbounded", 20.0, 0.5)


@pytest.mark.parametrize("kind", [Kind.OBJECTIVE, Kind.OUTPUT])
def test_noise_by_rows_pays_for_all_rows_that_one_person_moves(kind):
    part = Part("x", 100, CellClip(1.0, 64), kind=kind)
    event = Plan("user", (round_("a", part),), limited=25).events(Budget(1.0, 1e-6))["a/x"]
    assert 25 * 64 / event.scale <= 1.0  # 25 rows, each moved by 64 steps under noise of its own


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-12, 0.0), (1e12, 0.0), (1e12, 1e-6)])
def test_noise_that_cannot_be_drawn_is_refused_before_it_is_charged(epsilon, delta):
    with pytest.raises(SettingError):
        Plan("user", (round_("a", Part("x", 9, RowClip(1.0, "l1"))),)).events(
            Budget(epsilon, delta)
        )


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_a_list_of_all_cells_is_refused_where_it_would_show_who_rated_what(unit):
    part = Part("x", 9, CellClip(1.0), kind=Kind.INPUT)
    with pytest.raises(SettingError, match="who rated what"):
        Plan(unit, (round_("a", part),), limited=3).events(Budget(1.0, 1e-6))


def test_cohorts_are_for_paper_only():
    with pytest.raises(SettingError, match="paper"):
        Plan("user", (round_("a", Part("x", 1, RowClip(1.0)), takes_part=Cohort(1)),)).events(
            Budget(1, 1e-6)
        )


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 1e-6), (-1, 1e-6), (float("nan"), 0), (float("inf"), 0), (1, 1), (1, -1)],
)
def test_impossible_budgets_are_refused(epsilon, delta):
    with pytest.raises(SettingError):
        Budget(epsilon, delta)


def test_a_slice_cannot_release_twice_beside_one_charge():
    part = Part("x", 9, RowClip(1.0))
    with pytest.raises(SettingError, match="once only"):
        Plan(
            "user",
            (
                round_("a", part, takes_part=Slice(0, 2)),
                round_("b", part, takes_part=Slice(1, 2)),
                round_("c", part, takes_part=Slice(1, 2)),
            ),
        )
