"""A page speaks of what its owner sells: items, unless the owner has another word."""

from __future__ import annotations

import json

import pytest

from tacit.errors import SettingError
from tacit.serving.files import browser_files
from tacit.serving.names import FILMS, PageNames, names
from tacit.serving.static import web_folder


def script(words: PageNames) -> str:
    every = browser_files(web_folder(), words)
    return "".join(body.decode() for name, body in every.items() if name.endswith(".js"))


def test_nothing_but_the_line_of_names_says_film():
    texts = (web_folder() / "texts" / "en.js").read_text("utf-8")
    said = [
        line
        for line in texts.splitlines()
        if ("film" in line.lower() or "genre" in line.lower())
        and not line.startswith("const named")
        and "'film" in line.lower()
    ]
    assert said == []


def test_the_owners_words_are_in_the_page():
    words = names("Krämer & Co", "product,products", "category,categories")
    made = script(words)
    assert '"one":"product","many":"products"' in made.replace(" ", "")
    head = browser_files(web_folder(), words)["index.html"].decode()
    assert "<title>Krämer &amp; Co</title>" in head
    manifest = browser_files(web_folder(), words)["manifest.webmanifest"]
    assert json.loads(manifest)["name"] == "Krämer & Co"


def test_items_unless_said_otherwise_and_films_for_the_demonstration():
    assert names(None, None, None) == PageNames("Tacit", "item", "items")
    assert names(None, None, None, FILMS).many == "films"


def test_other_words_are_another_version_of_the_page():
    workers = {browser_files(web_folder(), words)["sw.js"] for words in (PageNames(), FILMS)}
    assert len(workers) == 2


def test_a_title_cannot_leave_its_string():
    made = script(names('"};alert(1)//', None, None))
    assert json.dumps('"};alert(1)//') in made


@pytest.mark.parametrize("noun", ["product", "a,b,c", ",", "x" * 99 + ",y"])
def test_a_noun_is_a_word_for_one_and_for_many(noun):
    with pytest.raises(SettingError):
        names(None, noun, None)
