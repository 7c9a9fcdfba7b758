"""What reaches a terminal or a book is shown and never obeyed (break 9: escape sequences)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ModelError
from tacit.redaction import json_text, one_line, several_lines

HOSTILE = [
    "\x1b[2J\x1b]0;gone\x07",
    "\x9b31m",
    "a\nCERTIFIED",
    "a\r\nb",
    "a\u2028b",
    "\u202egnp.exe",
    "\ud800",
    "\x7f\x00\x85",
    "\U000e0041",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_acts_on_a_terminal(text):
    """Break 9: escape sequences in titles reached the terminal."""
    shown = one_line(text)
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()
    assert one_line(shown) == shown


def test_words_stay_as_they_are():
    for text in ("Amélie (2001)", "千と千尋の神隠し", "a\u00a0b", "👩\u200d🚀"):
        assert one_line(text) == text


def test_lines_of_our_own_stay_lines():
    assert several_lines("one\ntwo \x1b[1m") == "one\ntwo \\x1b[1m"


@given(st.dictionaries(st.text(), st.text()))
def test_json_stays_valid_and_means_the_same(value):
    text = json_text(value)
    assert json.loads(text) == value
    assert "\x1b" not in text
    assert "\x9b" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_json_holds_no_raw_control(text):
    shown = json_text({text: [text]})
    assert json.loads(shown) == {text: [text]}
    assert shown.replace("\n", "").isprintable()


def test_json_has_no_number_that_is_none():
    found = json.loads(json_text({"a": float("nan"), "b": [float("inf"), 1]}))
    assert found == {"a": None, "b": [None, 1]}


def test_an_error_is_one_line_and_its_remedy_another():
    error = ModelError("a\nb\x1b", place="c\nd", remedy="e\x9bf")
    assert str(error) == "c\\nd: a\\nb\\x1b\n  remedy: e\\x9bf"


def test_commands_print_through_the_filter():
    """`click.echo` is called in three places, each of which filters."""
    folder = Path(__file__).parents[1] / "src" / "tacit" / "cli"
    callers = {
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"click\.s?echo\(|\bprint\(", path.read_text())
    }
    assert callers == {"main.py", "options.py", "show.py"}
