"""The demonstration: lists that a stranger matches to the people they are for."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from tacit.cli import demo as shown
from tacit.cli.main import main
from tacit.data.audience import LEANINGS, audience
from tacit.data.sample import sample_catalogue

AGREE = 0.6
"""Of each list, at least, shares a genre that its person likes."""
CHANCE = 0.35
"""Of all films, at most: what a list drawn by lot would have."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of one demonstration, and what it printed as JSON."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    with pytest.MonkeyPatch.context() as patch:
        told = []
        patch.setattr(shown, "print_json", told.append)
        patch.setattr(sys, "argv", ["tacit", "demo", "--json", "--out", str(folder)])
        with pytest.raises(SystemExit) as stop:
            main()
    assert not stop.value.code
    return folder, json.loads(json.dumps(told[0]))


def genres() -> dict[str, set[str]]:
    films = sample_catalogue()
    return {
        film: {tag for tag, has in zip(films.tags, row, strict=True) if has}
        for film, row in zip(films.ids, films.tagged, strict=True)
    }


@pytest.mark.parametrize("place", range(len(shown.PEOPLE)))
def test_a_stranger_matches_each_list_to_its_person(kept, place):
    person, of = kept[1]["people"][place], genres()
    likes = set(person["likes"])
    listed = [bool(of[x["item"]] & likes) for x in person["recommendations"]]
    by_chance = np.mean([bool(each & likes) for each in of.values()])
    assert by_chance <= CHANCE
    assert len(listed) == shown.LISTED
    assert np.mean(listed) >= AGREE


def test_a_list_fits_its_own_person_best(kept):
    """A stranger who has the three lists and the three people makes the right pairs."""
    of, people = genres(), kept[1]["people"]

    def popularity_slope(listed, likes):
        return np.mean([bool(of[x["item"]] & set(likes)) for x in listed])

    for mine in people:
        scores = {
            other["name"]: popularity_slope(mine["recommendations"], other["likes"])
            for other in people
        }
        assert max(scores, key=scores.get) == mine["name"]


def test_tastes_are_learned_and_the_promise_is_certified(kept):
    statement = kept[1]["statement"]
    assert statement["certified"] == "certified"
    assert any("axes of taste" in line for line in statement["settings"])


def test_the_tour_is_told_and_says_what_is_next(kept, tacit, monkeypatch):
    from tacit.cli.promise import ask
    from tacit.model.model import load

    folder, told = kept
    model = load(folder / "model")
    verdict = ask(model, str(folder / "ledger.sqlite"), None)
    assert verdict.holds
    monkeypatch.setattr(shown, "fit_demo", lambda *_, **__: (model, told["data"]))
    seen = tacit("demo")
    assert seen.status == 0, seen.err
    for each in shown.PEOPLE:
        assert f"{each.name} likes" in seen.out
    assert "tacit serve --demo" in seen.out
    assert "times in a hundred" in seen.out


def test_the_tour_keeps_nothing_over_something(tacit, tmp_path):
    seen = tacit("demo", "--out", tmp_path)
    assert seen.status == 2
    assert "name a new folder" in seen.err


def test_the_audience_is_the_same_for_a_seed_and_other_people_for_another():
    first, again = audience(300), audience(300)
    other = audience(300, seed=1)
    assert np.array_equal(first.value, again.value)
    assert np.array_equal(first.item, again.item)
    assert not np.array_equal(first.item, other.item)


def test_leanings_name_genres_that_there_are():
    tags = set(sample_catalogue().tags)
    assert all(set(each) <= tags for each in LEANINGS.values())
