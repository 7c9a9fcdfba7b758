"""What a notebook shows, what is told beside it, and names that are nearly right."""

from __future__ import annotations

import polars as pl
import pytest

import tacit
from tacit.errors import ArgumentError, UnknownKeyError, UnknownNameError

SHORT = 140
"""Characters of a line that is looked at."""


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame(
        {
            "user": [f"u{u}" for u in range(20) for _ in range(6)],
            "item": [f"i{(u + k) % 9}" for u in range(20) for k in range(6)],
            "rating": [1 + (u * k) % 5 for u in range(20) for k in range(6)],
        }
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return str(tmp_path_factory.mktemp("shown") / "ledger.sqlite")


@pytest.fixture(scope="module")
def bias(frame, place):
    made = tacit.Bias(epsilon=5.0, ledger=place)
    return made.fit(frame, scale=(1, 5), users=20)


@pytest.fixture(scope="module")
def ease(frame, place):
    """With so little that it learns no tastes."""
    made = tacit.EASE(epsilon=0.01, ledger=place)
    return made.fit(frame, positive=3, scale=(1, 5), users=20)


@pytest.fixture(scope="module")
def choice():
    return tacit.choose(rmse=0.9, users=5000, items=300)


def test_results_are_shown_in_a_few_words(bias, place, choice):
    book = tacit.open_book(place)
    verdict = tacit.verify(bias, ledger=place)
    invented = tacit.synthesize(bias, people=10)
    for each in (book, book.spent(), verdict, invented):
        assert len(repr(each)) <= SHORT
        assert "0x" not in repr(each)
        assert each._repr_html_().startswith("<p")
    assert "verified" in repr(verdict)
    assert "of 'other'" in repr(tacit.open_book(place, "other").cap(3))
    assert "default" in repr(book)
    table = str(choice).splitlines()
    assert len(table) == 4
    assert all(len(line) <= SHORT for line in table)


def test_a_plan_is_printed_as_tables():
    found = str(tacit.plan("bias", epsilon=1, users=5000, items=300))
    assert "rmse above twin's" in found
    assert "noise sd" in found
    assert max(map(len, found.splitlines())) <= 2 * SHORT


def test_names_that_are_nearly_right(bias, ease, place, choice, frame):
    verdict = tacit.verify(bias, ledger=place)
    ratings = tacit.read(frame, scale=(1, 5))
    listed = bias.recommend({"i1": 5})
    for owner, wrong, right in (
        (verdict, "hold", "holds"),
        (tacit.synthesize(bias, people=10), "rating", "ratings"),
        (choice, "candidate", "candidates"),
        (ratings, "itms", "items"),
        (bias.fitted.shared.catalogue, "title", "titles"),
        (listed[0], "titel", "title"),
    ):
        with pytest.raises(UnknownNameError, match=f"did you mean {right}"):
            getattr(owner, wrong)
    assert listed[0]["title"] == listed[0].title
    with pytest.raises(UnknownKeyError, match="did you mean title"):
        listed[0]["titel"]
    with pytest.raises(UnknownKeyError, match="did you mean user"):
        tacit.open_book(place).spent()["usr"]


def test_arguments_that_no_door_has(bias, place):
    calls = (
        lambda: bias.fitted.save(),
        lambda: tacit.open_book(place).spent("x"),
        lambda: bias.recommend({"i1": 5}).frame(1),
        lambda: tacit.Bias(epsilon=1).set_params(5),
    )
    for call in calls:
        with pytest.raises(ArgumentError) as seen:
            call()
        assert seen.value.remedy


def test_a_population_begun_beside_others_is_told(bias, place):
    with pytest.warns(tacit.TacitNotice, match="did you mean 'default'"):
        tacit.open_book(place, "defualt").cap(3)
    assert tacit.open_book(place, "nobody").entries() == []


def test_likes_and_items_are_told(frame, place, ease, tmp_path):
    made = tacit.EASE(epsilon=0.01, ledger=place)
    with pytest.warns(tacit.TacitNotice) as told:
        made.fit(frame, scale=(1, 5), users=20)
    words = " ".join(str(each.message) for each in told)
    assert "every row as a like" in words
    assert "positive=4" in words
    assert "item ids comes from the ratings" in words
    few = frame.with_columns(
        user=pl.int_range(pl.len()) % 2, item=pl.int_range(pl.len()).cast(pl.String)
    )
    with pytest.warns(tacit.TacitNotice, match="exchanged"):
        tacit.Bias(epsilon=1, ledger=place, population="few").fit(few, scale=(1, 5), users=20)
    with pytest.raises(tacit.TacitError, match="two numbers"):
        made.fit(frame, scale=("1", "5"), users=20)
    with pytest.raises(tacit.TacitError, match=r"keep_apart=0\.1"):
        made.fit(frame, scale=(1, 5), users=20, keep_apart=10)


def test_a_model_that_learned_no_tastes_says_so(ease):
    with pytest.warns(tacit.TacitNotice, match="popularity"):
        ease.recommend({"i1": 5}, n=3)
    with pytest.warns(tacit.TacitNotice, match="popularity"):
        ease.explain({"i1": 5}, "i2")
    with pytest.warns(tacit.TacitNotice, match="expects no ratings"):
        ease.predict({"i1": 5}, ["i2"])


def test_a_model_is_exported(bias, tmp_path):
    bias.export(tmp_path / "items.npz")
    bias.export(tmp_path / "items.parquet")
    assert len(pl.read_parquet(tmp_path / "items.parquet")) == 9
    with pytest.raises(tacit.TacitError, match="overwrite=True"):
        bias.export(tmp_path / "items.npz")
    with pytest.raises(tacit.TacitError, match="neither"):
        bias.export(tmp_path / "items.csv")
    looked_at = tacit.Model(bias.fitted.shared, bias.fitted.statement, kept=False)
    with pytest.raises(tacit.TacitError, match="comparison only"):
        looked_at.export(tmp_path / "looked.npz")


def test_an_evaluation_is_printed_and_written_as_a_page(frame, place, tmp_path):
    ratings = tacit.read(frame, scale=(1, 5))
    found = tacit.evaluate(ratings, "bias", [1.0], seeds=1, owner_only=True, ledger=place)
    assert "NOT PRIVATE" in str(found)
    assert max(map(len, str(found).splitlines())) <= 2 * SHORT
    with pytest.raises(UnknownNameError, match="did you mean frame"):
        found.fram  # noqa: B018
    with pytest.raises(tacit.TacitError, match="html"):
        found.write_report(tmp_path / "x.pdf")
    with pytest.raises(ArgumentError):
        found.write_report()
