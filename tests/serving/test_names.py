"""A page speaks of what its owner sells: items, unless the owner has another word."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tacit.errors import SettingError
from tacit.serving.app import read_page, web_folder
from tacit.serving.names import FILMS, PageNames, names

TEXTS = Path(__file__).parents[2] / "web" / "texts" / "en.js"


class Head(HTMLParser):
    """The words that the page's script reads in its head."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags = list[str]()
        self.names: dict[str, str] = {}
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if dict(attrs).get("name") == "names":
            self.names = json.loads(dict(attrs)["content"])


def page(words: PageNames) -> dict[str, bytes]:
    return read_page(web_folder(), words)


def test_nothing_but_the_line_of_names_says_film():
    said = [
        line
        for line in TEXTS.read_text("utf-8").splitlines()
        if ("film" in line.lower() or "genre" in line.lower())
        and "one: 'film'" not in line
        and "'film" in line.lower()
    ]
    assert said == []


def test_the_owners_words_are_in_the_page():
    made = page(names("Krämer & Co", "product,products", "category,categories"))
    assert Head(made["index.html"]).names == {
        "title": "Krämer & Co",
        "one": "product",
        "many": "products",
        "kind": "category",
        "kinds": "categories",
    }
    assert b"<title>Kr\xc3\xa4mer &amp; Co</title>" in made["index.html"]
    assert json.loads(made["manifest.webmanifest"])["name"] == "Krämer & Co"


def test_items_unless_said_otherwise_and_films_for_the_demonstration():
    assert names(None, None, None) == PageNames("Tacit", "item", "items")
    assert names(None, None, None, FILMS).many == "films"


def test_other_words_are_another_version_of_the_page():
    assert len({page(words)["sw.js"] for words in (PageNames(), FILMS)}) == 2
    first, rest = page(FILMS)["sw.js"].split(b"\n", 1)
    assert first.startswith(b"globalThis.NAMES='-")
    assert rest == read_page(web_folder())["sw.js"]
    assert b"globalThis.NAMES" in rest


def test_a_title_cannot_leave_its_attribute():
    title = """"><script>alert(1)</script>'"""
    made, usual = (Head(page(words)["index.html"]) for words in (names(title, None, None), FILMS))
    assert made.names["title"] == title
    assert made.tags == usual.tags


@pytest.mark.parametrize("noun", ["product", "a,b,c", ",", "x" * 99 + ",y"])
def test_a_noun_is_a_word_for_one_and_for_many(noun):
    with pytest.raises(SettingError):
        names(None, noun, None)
