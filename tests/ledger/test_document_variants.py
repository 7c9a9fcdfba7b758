"""The document is true in every variant: what is not certified, single ratings, devices,
public people, chains, and a book that has gone on."""

from __future__ import annotations

import re

import pytest

import tacit
from tacit.ledger.account.rounded import down, percent, up
from tacit.ledger.book.book import open_book
from tacit.ledger.statement import words
from tacit.ledger.statement.declared import declare
from tacit.ledger.statement.document import document
from tacit.ledger.statement.render import to_html, to_markdown
from tacit.ledger.statement.statement import Link

FORGET = "private in each of these people"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small certified fit and its book."""
    book = str(tmp_path_factory.mktemp("book") / "ledger.sqlite")
    return _fit(tacit.Bias(epsilon=1.0, ledger=book)), book


def _fit(method):
    return method.fit(tacit.sample(200), items=tacit.sample_catalogue(), users=200).model_


def _text(statement, **more):
    return to_markdown(document(statement, declare({}), **more))


def _certified(model, **changed):
    return model.statement.model_copy(update=changed).with_check("the book")


@pytest.mark.parametrize("certified", ["not private", "claimed"])
def test_what_is_not_certified_is_not_called_private(made, certified):
    s = _certified(made[0], certified=certified, reason="no noise was added")
    found = document(s, declare({}))
    text = to_markdown(found)
    assert FORGET not in text
    assert "no theorem limits what this one tells" in text
    assert "samplers are exact" not in text
    assert 'class="card warn"' in to_html(found)
    assert "None is certified. No noise was added." in text


def test_single_ratings_are_not_people(made):
    s = _certified(made[0], unit="rating", not_protected=(*words.NOT_PROTECTED, words.ONE_BY_ONE))
    text = _text(s)
    assert FORGET not in text
    assert "protected k times less" in text
    assert "so many times less" in text.split("##")[0]


def test_every_unit_but_user_says_whom_it_does_not_protect(tmp_path):
    model = _fit(tacit.Bias(epsilon=1.0, unit="rating", ledger=tmp_path / "l.sqlite"))
    assert words.ONE_BY_ONE in model.statement.not_protected


def test_whether_the_model_must_forget_is_not_for_us_to_say(made):
    text = _text(_certified(made[0]))
    assert "need not" not in text
    assert "whoever must answer it to decide" in text


def test_what_people_bear_is_told_for_all_releases_together(made):
    text = _text(_certified(made[0]))
    assert "in all of them the odds grow by a factor of 2.75 at most" in text
    assert "several accounts of one person" in text


def test_people_are_not_used(made):
    text = _text(_certified(made[0]))
    assert "that one person's ratings were used grow" in text
    assert "if that person's ratings had not been used" in text


def test_the_total_of_today_is_read_from_the_book(tmp_path):
    book = str(tmp_path / "ledger.sqlite")
    open_book(book).cap(3.0, 1e-6, "user")
    model = _fit(tacit.Bias(epsilon=1.0, ledger=book))
    _fit(tacit.Bias(epsilon=1.5, ledger=book))
    open_book(book).cap(12.0, 1e-6, "user")
    now = open_book(book).spent()["user"].epsilon
    text = tacit.verify(model, ledger=book).page(markdown=True)
    assert f"**epsilon {up(now)} of 12** is the running total" in text
    assert "these people today" in text
    assert "When it was made (entry 2)" in text
    assert "to epsilon 12 at delta 1e-06" in text
    assert "to epsilon 3 " not in text


def test_without_the_book_a_total_says_of_when_it_is(made):
    text = _text(_certified(made[0]))
    assert "is the running total of these people as of entry 1" in text


def test_an_evaluation_after_the_release_chose_nothing(made):
    text = _text(_certified(made[0]), evaluations=0, later=1)
    assert "first run on these ratings after this release" in text


def test_a_chain_is_told_with_its_cost(made):
    earlier = Link(population="default", number=1, method="bias", unit="user", epsilon=1.0)
    text = _text(_certified(made[0], starts=(earlier,), chain_epsilon=1.13961))
    assert "**epsilon 1.14**" in text
    assert "entry 1 of 'default'" in text


def test_devices_in_one_process_are_not_said_to_be_trusted_by_nobody(tmp_path):
    model = _fit(tacit.OneBitMF(epsilon=2.0, engine="local", ledger=tmp_path / "l.sqlite"))
    s = model.statement
    assert "one process, which held all ratings" in s.trust
    text = _text(s)
    assert "Nobody is trusted" not in text
    assert "were used grow" not in text
    assert "are certain ones and not others" in text
    assert "Gaussian noise is far smaller" not in text
    assert "trusted" in words.trust("local")


def test_public_people_are_promised_nothing(made):
    s = _certified(made[0], not_protected=(*words.NOT_PROTECTED, words.PUBLIC_PEOPLE))
    assert "but for those whose ratings are taken as public" in _text(s)


def test_an_unbounded_entry_of_a_book_is_not_in_no_book(made):
    s = _certified(made[0], certified="claimed", reason="x", total=None)
    text = _text(s)
    assert "No book adds this up" not in text
    assert "without a bound" in text


def test_a_certified_page_says_so_and_by_what(made):
    assert "CERTIFIED at unit user, checked against the book" in _text(_certified(made[0]))


def test_why_it_was_not_checked_is_on_the_page(made):
    s = made[0].statement.with_check(None)
    text = _text(s, why="the statement was signed by another key")
    assert "Not checked (the statement was signed by another key)" in text


@pytest.mark.parametrize(("value", "told"), [(1.455, "1.455"), (1.45501, "1.456"), (4.0, "4")])
def test_what_was_spent_is_rounded_up(value, told):
    assert up(value) == told


def test_no_chance_that_is_such_at_most_is_told_smaller():
    assert percent(0.61401) == "61.5"
    assert percent(0.614) == "61.4"
    assert percent(1.0) == percent(float("nan")) == "100.0"
    assert up(2.7401, 3) == "2.75"


def test_every_pair_of_the_profile_holds_as_it_is_printed(made):
    """Rounded to the nearest, half of them said less than was proven."""
    s = _certified(made[0])
    told = set(re.findall(r"epsilon (\S+) at delta (\S+?)[,.;]?\s", str(s)))
    for epsilon, delta in s.profile:
        printed = [float(e) for e, d in told if d == f"{delta:g}"]
        assert any(e >= epsilon * (1 - 1e-12) for e in printed), (delta, told)


def test_no_odds_are_told_of_releases_without_a_bound(made):
    s = _certified(made[0])
    assert s.total is not None
    bare = s.total.model_copy(update={"uncovered": 1, "entries": 2})
    text = _text(s.model_copy(update={"total": bare}))
    assert "in all that have a bound, and in no other" in text
    assert "in all of them the odds" not in text


def test_what_is_left_is_rounded_down():
    assert (down(2.35372), down(0.3), down(3.0)) == ("2.353", "0.3", "3")


def test_a_budget_of_many_digits_is_told_with_all_of_them(made):
    """With six digits .1234564 would be promised as .123456."""
    s = _certified(made[0], epsilon=0.1234564)
    for told in (str(s), _text(s)):
        assert "(0.1234564, 1e-06)" in told
