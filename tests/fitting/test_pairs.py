"""Options that were each proven alone, together: what they then publish, and what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit import Bayes, Bias, PublicPeople
from tacit.data.held_out import keep_apart
from tacit.errors import SettingError
from tacit.fitting.public_prior import known_of
from tacit.testing.small_sample import few_films, few_ratings

PEOPLE = 60


@pytest.fixture(scope="module")
def private():
    return few_ratings(PEOPLE)


@pytest.fixture(scope="module")
def critics():
    whole = few_ratings(PEOPLE + 20)
    return PublicPeople(whole.take(whole.user >= PEOPLE), "critics")


@pytest.fixture(scope="module")
def first(private, critics, tmp_path_factory):
    """A fit with public people whose item ids come from its ratings, and its book."""
    book = tmp_path_factory.mktemp("book") / "book.db"
    fitted = Bayes(epsilon=1.0, ledger=book).fit(private, users=PEOPLE, public=critics)
    return fitted.model_, book


def test_what_a_start_took_as_public_is_stated_by_all_that_build_on_it(first, private):
    """Their ratings are in its numbers, and ids of private ratings in its catalogue."""
    model, book = first
    for method in (Bayes, Bias):
        made = method(epsilon=1.0, ledger=book).fit(
            private, items=few_films(), users=PEOPLE, start=model
        )
        told = made.statement_.public
        earlier = "by an earlier release that it builds on: "
        assert any(line.startswith(f"{earlier}the ratings of 20 people") for line in told)
        assert f"{earlier}the set of item ids, which came from the ratings" in told
        # Once each, however long the chain is.
        again = Bayes(epsilon=1.0, ledger=book).fit(
            private, items=few_films(), users=PEOPLE, start=made.model_
        )
        assert again.statement_.public[-2:] == told[-2:]
        assert len(again.statement_.public) == len(told)


def test_invented_people_of_a_chain_bear_what_the_chain_costs(first, private):
    model, book = first
    alone = tacit.synthesize(model, people=3).facts["promise"]
    assert "chain_epsilon" not in alone
    assert any("critics" in line for line in alone["assumed_public"])
    made = Bayes(epsilon=1.0, ledger=book).fit(
        private, items=few_films(), users=PEOPLE, start=model
    )
    facts = tacit.synthesize(made, people=3).facts["promise"]
    assert facts["epsilon"] == 1.0
    assert facts["chain_epsilon"] == made.statement_.chain_epsilon > 1.4
    assert facts["releases"] == 2
    assert any("critics" in line for line in facts["assumed_public"])


def test_what_is_kept_apart_is_not_seen_in_the_public_table_either(private):
    """Everybody is in both tables: the rule that hides a cell from the fit hides it there."""
    films = few_films()
    rule = keep_apart(0.5, "0" * 32)
    public = private
    held = rule.held(public)
    assert 0.4 < held.mean() < 0.6
    changed = public.value.copy()
    changed[held] = 6 - changed[held]
    one = known_of(PublicPeople(public), films, rule)
    other = known_of(PublicPeople(replace(public, value=changed)), films, rule)
    for name in ("effect", "doubt", "popularity", "tastes"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    seen = known_of(PublicPeople(public), films)
    assert not np.array_equal(one.effect, seen.effect)


def test_a_fit_that_keeps_apart_says_what_that_asks_of_public_people(private, critics, tmp_path):
    made = Bayes(epsilon=1.0, ledger=tmp_path / "book.db").fit(
        private, items=few_films(), users=PEOPLE, public=critics, keep_apart=0.2
    )
    told = " ".join(made.statement_.public)
    assert "another id in the private table" in told


def test_private_people_are_not_public_ones(private, tmp_path):
    """Who hands over the same ratings twice protects nobody."""
    book = tmp_path / "book.db"
    with pytest.raises(SettingError, match="the private ones"):
        Bayes(epsilon=1.0, ledger=book).fit(private, users=PEOPLE, public=PublicPeople(private))
    assert not book.exists()


def test_likes_and_public_people_do_not_meet(private, critics, tmp_path):
    """In Python as on the command line, whichever of the two are likes."""
    book = tmp_path / "book.db"
    liked = replace(private.schema, positive=4.0)
    likes = replace(private, schema=liked)
    with pytest.raises(SettingError, match="leaves no ratings"):
        Bayes(epsilon=1.0, ledger=book).fit(likes, users=PEOPLE, public=critics)
    theirs = replace(critics.ratings, schema=liked)
    with pytest.raises(SettingError, match="likes"):
        Bayes(epsilon=1.0, ledger=book).fit(private, users=PEOPLE, public=PublicPeople(theirs))
