"""The officer's view: behind a token, from the book, without script."""

from __future__ import annotations

import csv
import io
import re
import shutil
import xml.etree.ElementTree as ET
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import SettingError
from tacit.ledger.account.event import Laplace
from tacit.ledger.book.book import open_book
from tacit.serving import officer as officer_module
from tacit.serving.app import Options, Server, build
from tacit.serving.officer import Officer
from tacit.serving.officer_page import Step, cost_chart, spent_chart

Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(officer_module, "SLOW", 0.0)


@pytest.fixture
def server(
    shelf_folder: Path, folders: list[Path], web: Path, tmp_path: Path, token: str
) -> Server:
    place = tmp_path / "token"
    place.write_text(token + "\n")
    book = own_book(shelf_folder, tmp_path)
    officer = Officer.from_file(place, str(book))
    return build(folders, Options(web=web, logs=False, officer=officer))


def own_book(shelf_folder: Path, tmp_path: Path) -> Path:
    """The book with its key, so that a test may write into it."""
    home = tmp_path / "book"
    home.mkdir()
    for path in shelf_folder.glob("ledger*"):
        shutil.copy2(path, home / path.name)
    return home / "ledger.sqlite"


@pytest.fixture
def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_nobody_gets_in_without_the_token(ask: Ask, server: Server, token: str) -> None:
    wrong = [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {token}x"},
        {"authorization": f"Bearer {token[:-1]}"},
        {"authorization": f"Digest {token}"},
        {"authorization": token},
        {"authorization": "Basic !!!"},
        {"authorization": "Basic " + b64encode(b"no colon").decode()},
        {"cookie": f"token={token}"},
    ]
    for path in ("/officer", "/officer.json", "/officer.csv"):
        for headers in wrong:
            told = ask(server.app, path, **headers)
            assert told.status == 401, (path, headers)
            assert told.headers["www-authenticate"].startswith("Basic")
        assert ask(server.app, path, query=f"token={token}".encode()).status == 401


def test_a_bearer_and_a_browser_get_in(ask: Ask, server: Server, token: str) -> None:
    basic = "Basic " + b64encode(f"officer:{token}".encode()).decode()
    for header in (f"Bearer {token}", f"bearer {token}", basic):
        told = ask(server.app, "/officer", authorization=header)
        assert told.status == 200
        assert told.headers["cache-control"] == "no-store"


def test_the_book_is_told_whole(
    ask: Ask, server: Server, bearer: dict[str, str], shelf_folder: Path
) -> None:
    facts = ask(server.app, "/officer.json", **bearer).facts
    (viewers,) = facts["populations"]
    assert viewers["population"] == "viewers"
    book = open_book(str(shelf_folder / "ledger.sqlite"), "viewers")
    assert viewers["head"] == book.head
    assert len(viewers["entries"]) == len(book.entries())
    (total,) = viewers["spent"]
    assert total["epsilon"] == pytest.approx(book.spent()["user"].epsilon)
    fits = [row for row in viewers["entries"] if row["entry"] == "reserve"]
    assert [row["served_as"] for row in fits] == ["stars", "likes"]
    assert [row["epsilon"] for row in fits] == [1.0, 2.0]
    spent = [row["spent"] for row in fits]
    assert spent[0] < spent[1] == pytest.approx(total["epsilon"])


def test_caps_and_hostile_words(
    ask: Ask, server: Server, bearer: dict[str, str], tmp_path: Path
) -> None:
    place = str(tmp_path / "book" / "ledger.sqlite")
    open_book(place, "viewers").cap(5.0, 1e-6, "user", "a <cap>")
    evil = "<script>alert(1)</script>"
    event = Laplace(name="x", sensitivity=1.0, scale=2.0, draws=1)
    open_book(place, evil).reserve(
        [event], unit="user", budget=(1.0, 0.0), purpose="=1+1", method=evil
    )
    page = ask(server.app, "/officer", **bearer).body.decode()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "the cap is 5" in page
    assert not re.search(r"<style|style=|\son\w+=|javascript:", page)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(drawing)
    assert page.count("<svg") >= 4
    rows = list(
        csv.DictReader(io.StringIO(ask(server.app, "/officer.csv", **bearer).body.decode()))
    )
    assert {row["population"] for row in rows} == {"viewers", evil}
    assert "'=1+1" in [row["purpose"] for row in rows]
    assert [row["cap"] for row in rows if row["entry"] == "cap"] == ["5.0"]


def test_an_empty_book_is_said(
    ask: Ask, folders: list[Path], web: Path, tmp_path: Path, token: str
) -> None:
    (tmp_path / "token").write_text(token)
    officer = Officer.from_file(tmp_path / "token", str(tmp_path / "none.sqlite"))
    server = build(folders, Options(web=web, logs=False, officer=officer))
    told = ask(server.app, "/officer", authorization=f"Bearer {token}")
    assert b"The book is empty" in told.body
    assert not (tmp_path / "none.sqlite").exists()


def test_a_token_must_be_long_and_there(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("1234567890\n")
    with pytest.raises(SettingError, match="shorter"):
        Officer.from_file(tmp_path / "short", None)
    with pytest.raises(SettingError, match="cannot be read"):
        Officer.from_file(tmp_path / "absent", None)


def test_charts_show_what_they_are_given() -> None:
    steps = [Step(0, 0.0), Step(10, 1.0), Step(20, 2.5)]
    drawn = ET.fromstring(spent_chart("spent", steps, [Step(5, 4.0)], ["first", "last"]))
    texts = [text.text for text in drawn.iter("text")]
    assert texts[:6] == ["0", "1", "2", "3", "4", "5"]
    assert {"first", "last"} <= set(texts)
    bars = ET.fromstring(cost_chart("costs", [("a", 1.0), ("b & c", 2.0)]))
    widths = [float(bar.attrib["width"]) for bar in bars.iter("rect")]
    assert widths[1] == pytest.approx(2 * widths[0])
