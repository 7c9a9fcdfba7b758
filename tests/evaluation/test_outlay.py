"""What a plan takes: memory that grows with ratings, and lines of a person that do not."""

from __future__ import annotations

import pytest

from tacit import Bayes, Bias
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.engine.blocks import PEOPLE
from tacit.evaluation.plan_report import LINE, PROGRAM, resources
from tacit.methods.base import Public
from tacit.rounds.plan import Budget

ITEMS = 200


def taken(method, people, each):
    schema = Schema(1, 5, users=people)
    catalogue = Catalogue([str(i) for i in range(ITEMS)])
    budget = Budget(5.0, 1e-6)
    plan = method.plan(Public(schema, catalogue, "user", "sound", budget))
    return plan, resources(method, plan, people, ITEMS, each).memory_bytes


@pytest.mark.parametrize("people", [20_000, 1_000_000])
def test_a_line_of_a_person_is_in_memory_for_one_block_of_people(people):
    """Seen: 33 GB for a million people of three ratings, who take less than one: a line of a
    thousand numbers a person was counted for every rating."""
    plan, memory = taken(Bayes(), people, 3)
    parts = [part for round_ in plan.rounds for part in round_.parts]
    longest = max(part.width for part in parts if part.size == 1)
    assert longest > 100
    shorter = taken(Bias(), people, 3)[1]
    assert memory - shorter < LINE * longest * PEOPLE + 100 * 3 * people


def test_memory_grows_with_ratings():
    few, many = (taken(Bias(), 20_000, each)[1] for each in (10, 100))
    assert many - PROGRAM == pytest.approx(10 * (few - PROGRAM), rel=0.05)
