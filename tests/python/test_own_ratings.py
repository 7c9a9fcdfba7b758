"""What a person says of herself in Python, and what she is told."""

from __future__ import annotations

import pytest

import tacit

ITEMS = tacit.sample_catalogue()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return str(tmp_path_factory.mktemp("own") / "ledger.sqlite")


@pytest.fixture(scope="module")
def rates(book):
    return tacit.Bayes(epsilon=50.0, ledger=book).fit(tacit.sample(2000), items=ITEMS, users=2000)


def test_an_item_without_a_rating_is_refused(rates):
    with pytest.raises(tacit.TacitError, match="no rating") as seen:
        rates.recommend({ITEMS.ids[0]: None})
    assert "from 1 to 5" in str(seen.value)


def test_an_item_that_is_rated_twice_is_told(rates):
    first, title = ITEMS.ids[0], ITEMS.titles[0]
    with pytest.warns(tacit.TacitNotice, match="is rated twice: the later"):
        twice = rates.recommend([(first, 5), (first, 1)])
    with pytest.warns(tacit.TacitNotice, match=f"same item as '{first}'"):
        named = rates.recommend({first: 5, title: 1})
    assert twice == named == rates.recommend({first: 1})


def test_one_own_rating_is_a_reason(rates):
    first = rates.recommend({ITEMS.ids[0]: 5}, 20)
    assert any(each.because for each in first)
    told = rates.explain({ITEMS.ids[0]: 5}, first[0].item)
    for each in first[:1]:
        assert bool(each.moved) == (told.own[0].points > 1e-6)


def test_one_rating_that_moves_all_alike_is_none(rates, monkeypatch):
    kind = type(rates.model_)
    monkeypatch.setattr(kind, "knows_tastes", lambda self, own: False)
    told = rates.recommend({ITEMS.ids[0]: 5}, 20)
    assert not any(each.because for each in told)
    assert any(each.everybody for each in told)
