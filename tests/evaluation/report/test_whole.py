"""The report: one file, the same bytes for the same numbers, readable without a picture."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import tacit
from tacit.data.catalogue import Catalogue
from tacit.errors import SettingError
from tacit.evaluation.result import writable

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found(small, tmp_path_factory) -> tacit.Evaluation:
    items = Catalogue(small.items, [f"{HOSTILE} {name}" for name in small.items])
    return tacit.evaluate(
        small,
        ("bias", "popularity"),
        (0.5, 2, 8),
        seeds=1,
        reference=False,
        items=items,
        ledger=str(tmp_path_factory.mktemp("ledger") / "book"),
    )


@pytest.fixture(scope="module")
def page(found) -> str:
    return found.report("tacit evaluate ratings.csv --epsilon 0.5,2,8")


def test_equal_numbers_give_equal_bytes(found, page) -> None:
    again = found.report("tacit evaluate ratings.csv --epsilon 0.5,2,8")
    assert again == page


def test_it_stands_alone(page) -> None:
    assert "<script" not in page
    fetched = re.findall(r'(?:src|href)="(?!#)([^"]*)"', page)
    assert fetched == []


def test_every_picture_is_marked_and_told_in_words(page) -> None:
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) >= 8
    for each in pictures:
        assert "NOT PRIVATE" in each
        assert re.search(r'aria-label="[^"]{10,}"', each)


def test_every_tag_is_closed_and_every_id_is_one_of_a_kind(page) -> None:
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    parser = _Tags()
    parser.feed(page)
    assert parser.open == []


def test_it_says_what_was_asked(page) -> None:
    for words in (
        "Accuracy against privacy",
        "Who pays",
        "How far predictions miss",
        "What people would see",
        "without privacy",
        "lets a model learn from ratings that came later",
        "tacit evaluate ratings.csv <span>--epsilon</span> 0.5,2,8",
    ):
        assert words in page, words
    assert page.count("<h3>Somebody who") == 3


def test_sections_name_the_model_that_they_are_about(page) -> None:
    assert page.count("Of the models compared, this is about bias.") == 4


def test_likes_have_a_report_too(small, tmp_path) -> None:
    from dataclasses import replace

    likes = replace(small, schema=replace(small.schema, positive=1.0))
    found = tacit.evaluate(likes, "popularity", (1.0, 8.0), seeds=1, hold=20, reference=False)
    assert found.cells[0]["rmse"] is None
    assert found.metric == "recall@20"
    assert "found among 20" in found.report()


def test_a_plot_is_a_figure(found) -> None:
    figure = found.plot()
    assert figure.axes[0].get_xscale() == "log"


@pytest.mark.parametrize("path", ["no/such/folder/page.html", "page.txt"])
def test_a_page_that_cannot_be_written_is_refused_first(path: str) -> None:
    with pytest.raises(SettingError):
        writable(path, ".html")


class _Tags(HTMLParser):
    """Keeps what is open."""

    alone = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in self.alone:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag
