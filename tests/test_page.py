"""The page that stands alone: no script, nothing fetched, nothing of a stranger acts."""

from __future__ import annotations

import re

from tacit.page import card, cards, page, paragraph, table

HOSTILE = '<script>alert(1)</script>"\x1b[2J\u202e'


def _whole(text: str = "Words") -> str:
    body = paragraph(text) + table((text, "n"), [(text, 1), (text, None)])
    return page(
        text, [(text, body), ("", cards([card(text, text)]))], lead=text, notice=text, footer=text
    )


def test_equal_arguments_give_equal_bytes() -> None:
    assert _whole() == _whole()


def test_nothing_of_a_text_acts() -> None:
    found = _whole(HOSTILE)
    assert "<script" not in found
    assert "\x1b" not in found
    assert "\u202e" not in found


def test_nothing_is_fetched() -> None:
    found = _whole()
    assert not re.search(r'(src|href|url\()\s*=?\s*["\']?https?:', found)
    assert "default-src 'none'" in found


def test_columns_of_numbers_stand_to_the_right() -> None:
    found = table(("name", "rmse"), [("bayes", ".93 ± .01"), ("mean", None)])
    assert found.count('class="number"') == 3


def test_names_are_not_broken_but_sentences_are() -> None:
    found = table(("name", "why"), [("covariance-svd", "it is " * 9)])
    assert '<td class="word">covariance-svd</td>' in found
    assert found.count("class=") == 3
