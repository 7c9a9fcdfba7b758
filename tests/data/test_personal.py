"""One person's own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.data.reading.personal import PersonalRating, read_personal
from tacit.errors import DataError


def put(folder: Path, text: str) -> Path:
    path = folder / "mine.csv"
    path.write_text(text)
    return path


def test_titles_or_ids_with_lines(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        'item,rating,timestamp\nHeat,4.5,1125964800\n\n"Matrix, The",5,2005-09-06\n0042,1,\n',
    )
    assert read_personal(path) == [
        PersonalRating("Heat", 4.5, 1125964800, 2),
        PersonalRating("Matrix, The", 5.0, 1125964800, 4),
        PersonalRating("0042", 1.0, None, 5),
    ]


def test_without_a_header(tmp_path: Path) -> None:
    assert read_personal(put(tmp_path, "Heat,4\nAlien,5\n")) == [
        PersonalRating("Heat", 4.0, None, 1),
        PersonalRating("Alien", 5.0, None, 2),
    ]


def test_a_title_with_blanks_and_another_delimiter(tmp_path: Path) -> None:
    assert read_personal(put(tmp_path, "title;stars\nBlade Runner;4\n"))[0][:2] == (
        "Blade Runner",
        4.0,
    )


def test_one_row(tmp_path: Path) -> None:
    assert read_personal(put(tmp_path, "rating,item\n3,17")) == [PersonalRating("17", 3.0, None, 2)]


def test_likes(tmp_path: Path) -> None:
    path = put(tmp_path, "item\nBlade Runner\nHeat\n")
    assert [row.item for row in read_personal(path, likes=True)] == ["Blade Runner", "Heat"]
    with pytest.raises(DataError, match="missing column: there is no rating"):
        read_personal(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("item,rating\n", "no row of data"),
        ("name,rating\nHeat,x\n", r"line 2, column 2 \(rating\): text where a number"),
        ("item,rating\nHeat,nan\n", "line 2.*text where a number"),
        ("item,rating\nHeat,\n", "line 2.*no rating"),
        ("item,rating\n,4\n", "line 2.*no item"),
        ("item,rating\nHeat\n", "line 2: too few fields"),
        ("item,rating\nMatrix, The,4\n", "line 2: too many fields"),
        ("item,rating,time\nHeat,4,yesterday\n", "line 2.*time"),
        ("rating,timestamp\n4,5\n", "no item"),
    ],
)
def test_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_personal(put(tmp_path, text))
    assert caught.value.remedy


def test_the_ratings_of_many_are_refused(tmp_path: Path) -> None:
    text = "customer_id;product;stars\nK1;Heat;4\nK2;Heat;2\n"
    with pytest.raises(DataError) as refused:
        read_personal(put(tmp_path, text))
    assert "many people (column `customer_id`)" in str(refused.value)
    assert "people" in str(refused.value.remedy)
    assert "K1" not in str(refused.value)


def test_one_person_may_be_named_in_every_row(tmp_path: Path) -> None:
    text = "customer_id;product;stars\nK1;Heat;4\nK1;Alien;2\n"
    assert len(read_personal(put(tmp_path, text))) == 2
