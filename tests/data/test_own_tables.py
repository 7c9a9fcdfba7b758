"""Tables as shops have them: decimal commas, days with dots, columns of other names."""

from __future__ import annotations

import pytest

import tacit
from tacit.data.reading.personal import read_personal
from tacit.errors import DataError, SettingError

SHOP = "Customer No;Article;Satisfaction;Date\n"
ROWS = "K1;W1;4,5;15.07.2024\nK2;W1;2;01.02.2024\nK1;W2;1,25;02.02.2024\n"
WINES = "article_no,label,style,region,price\nW1,Dorn,red,Alba,9.5\nW2,Elm,white,Alba,7\n"
COLUMNS = {"rating": "Satisfaction"}
GERMAN = {"dates": "dmy", "decimal": ","}


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.csv").write_text(SHOP + ROWS)
    (tmp_path / "wines.csv").write_text(WINES)
    return tmp_path


def test_a_decimal_comma_is_a_decimal_point(shop):
    read = tacit.read(shop / "shop.csv", scale=(1, 5), columns=COLUMNS, **GERMAN)
    assert sorted(read.value.tolist()) == [1.25, 2.0, 4.5]


def test_a_decimal_comma_is_declared(shop):
    with pytest.raises(
        DataError, match=r"line 2, column 3 \(rating\): a number with a decimal com"
    ):
        tacit.read(shop / "shop.csv", scale=(1, 5), columns=COLUMNS, dates="dmy")


def test_a_day_with_dots_begins_with_the_day(shop):
    read = tacit.read(shop / "shop.csv", scale=(1, 5), columns=COLUMNS, **GERMAN)
    assert sorted(read.time.tolist())[-1] == 1721001600  # 15 July 2024


def test_a_time_may_be_left_unread(shop):
    (shop / "shop.csv").write_text(SHOP + ROWS.replace("15.07.2024", "07/15/2024"))
    with pytest.raises(DataError, match=r'columns=\{"time": None\}'):
        tacit.read(shop / "shop.csv", scale=(1, 5), columns=COLUMNS, **GERMAN)
    without = COLUMNS | {"time": None}
    read = tacit.read(shop / "shop.csv", scale=(1, 5), columns=without, **GERMAN)
    assert read.time is None


def test_ones_own_ratings_may_have_commas_too(tmp_path):
    (tmp_path / "mine.csv").write_text("item;rating\nDorn;4,5\n")
    assert read_personal(tmp_path / "mine.csv")[0].rating == 4.5


def test_a_catalogue_says_what_it_did_not_read(shop):
    found = tacit.read_items(shop / "wines.csv")
    assert list(found.unread) == ["style", "region"]
    assert list(found.numbers) == ["price"]


def test_tags_may_have_any_name_and_several_columns(shop):
    found = tacit.read_items(shop / "wines.csv", tags="style+region")
    assert list(found.tags) == ["Alba", "red", "white"]
    assert list(found.unread) == []


def test_tags_that_are_not_there_are_refused(shop):
    with pytest.raises(SettingError, match="no column 'colour' for tags"):
        tacit.read_items(shop / "wines.csv", tags="colour")


def test_tags_of_a_catalogue_that_is_read_already_are_refused(shop):
    items = tacit.read_items(shop / "wines.csv")
    with pytest.raises(SettingError, match="tags is a column of a catalogue"):
        tacit.Bias(epsilon=1.0).fit(
            shop / "shop.csv", items=items, scale=(1, 5), columns=COLUMNS | {"tags": "style"}
        )


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS | {"time": None}])
def test_a_packed_file_holds_what_reading_gives(shop, columns):
    made = tacit.pack(
        shop / "shop.csv", shop / "shop.tacit", scale=(1, 5), columns=columns, **GERMAN
    )
    read = tacit.read(shop / "shop.csv", scale=(1, 5), columns=columns, **GERMAN)
    held = made.loaded()
    assert held.value.tolist() == read.value.tolist()
    assert (held.time is None) == (read.time is None) == ("time" in columns)
    assert read.time is None or held.time.tolist() == read.time.tolist()


def test_a_catalogue_beside_a_packed_file_may_name_its_columns(shop):
    packed = shop / "shop.tacit"
    tacit.pack(shop / "shop.csv", packed, scale=(1, 5), columns=COLUMNS, **GERMAN)
    named = {"item": "article_no", "title": "label", "tags": "style+region"}
    made = tacit.Bias(epsilon=1.0, ledger=str(shop / "book.sqlite"))
    made.fit(packed, items=shop / "wines.csv", users=10, columns=named)
    assert list(made.model_.shared.catalogue.titles) == ["Dorn", "Elm"]
    with pytest.raises(SettingError, match="a packed file has no columns"):
        made.fit(packed, users=10, columns={"item": "article_no"})
    with pytest.raises(SettingError, match="a packed file has no columns"):
        made.fit(
            packed, items=shop / "wines.csv", users=10, columns=named | {"user": "Customer No"}
        )
