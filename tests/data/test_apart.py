"""Which ratings a fit does not see follows from ids and a salt, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from tacit.data.held_out import HeldOut, keep_apart, parse_held_out
from tacit.data.sample import sample
from tacit.errors import SettingError


@pytest.fixture(scope="module")
def ratings():
    return sample(people=300, ratings=9000, seed=3)


def cells(ratings):
    return {
        (ratings.users[u], ratings.items[i])
        for u, i in zip(ratings.user.tolist(), ratings.item.tolist(), strict=True)
    }


def test_about_the_share_that_was_asked_is_kept_apart(ratings):
    for share in (0.02, 0.1, 0.5):
        held = keep_apart(share).held(ratings)
        sd = np.sqrt(share * (1 - share) / len(held))
        assert abs(held.mean() - share) < 6 * sd


def test_a_cell_stays_on_its_side_whatever_else_there_is(ratings):
    """One person less, other values, another order of items: nobody changes sides."""
    rule = keep_apart(0.2)
    apart = cells(ratings.take(rule.held(ratings)))
    fewer = ratings.take(ratings.user != 17)
    assert cells(fewer.take(rule.held(fewer))) == {
        cell for cell in apart if cell[0] != ratings.users[17]
    }
    other = replace(ratings, value=ratings.value[::-1].copy(), time=None)
    assert cells(other.take(rule.held(other))) == apart


def test_one_cell_more_is_one_cell_more_on_one_side(ratings):
    rule = keep_apart(0.3)
    less = ratings.take(np.arange(len(ratings)) != 1234)
    gone = [
        cells(whole.take(side)) - cells(part.take(other))
        for whole, part, side, other in (
            (ratings, less, rule.held(ratings), rule.held(less)),
            (ratings, less, ~rule.held(ratings), ~rule.held(less)),
        )
    ]
    assert sorted(map(len, gone)) == [0, 1]


def test_another_salt_keeps_others_apart(ratings):
    one, two = keep_apart(0.1), keep_apart(0.1)
    assert one.salt != two.salt
    both = one.held(ratings) & two.held(ratings)
    assert both.mean() < 0.02


def test_both_sides_stand_in_doubled_rows(ratings):
    rule = keep_apart(0.25)
    made = rule.doubled(ratings)
    assert np.array_equal(made.item // 2, ratings.item)
    assert np.array_equal(made.item % 2 == 1, rule.held(ratings))
    assert (made.value == ratings.value).all()


@pytest.mark.parametrize("text", ["10%", ".1", " 10 %"])
def test_shares_are_said_as_people_say_them(text):
    assert parse_held_out(text) == pytest.approx(0.1)


@pytest.mark.parametrize("text", ["ten", "", "0%", "80%", "-.1", "nan"])
def test_other_shares_are_refused(text):
    with pytest.raises(SettingError):
        keep_apart(parse_held_out(text))


def test_a_rule_that_was_tampered_with_is_not_read():
    with pytest.raises(ValidationError):
        HeldOut(share=2.0, salt="0" * 32)
    with pytest.raises(ValidationError):
        HeldOut(share=0.1, salt="no salt")


def test_people_who_are_only_numbered_are_refused():
    """A matrix has no ids: without its first row everybody else would be somebody else."""
    from scipy.sparse import random as drawn

    import tacit

    matrix = drawn(40, 20, 0.3, "csr", random_state=1)
    matrix.data = np.ceil(matrix.data * 5)
    numbered = tacit.read(matrix, scale=(1, 5))
    with pytest.raises(SettingError, match="numbered"):
        keep_apart(0.1).training_ratings(numbered)
    with pytest.raises(SettingError, match="numbered"):
        tacit.Bias(epsilon=1.0).fit(numbered, users=40, keep_apart=0.1)
