"""A small shop's files: `;`, days with dots, prices with commas, and what is said about them."""

from __future__ import annotations

import pytest

FIT = "--scale 1,5 --epsilon 1 --users 40 --method bayes --out m --dates dmy".split()
TITLES = ("Spaten", "Beet", "Ofen", "Form", "Zelt", "Matte")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"K{u};P{i};{1 + (u * i) % 5};{1 + u % 28:02d}.0{1 + i}.2024"
        for u in range(40)
        for i in range(6)
    ]
    head = "customer_id;product;stars;date"
    (tmp_path / "r.csv").write_text("\n".join([head, *rows]) + "\n")
    kinds = ("Garten", "Küche", "Camping")
    goods = [f"P{i};{title};{kinds[i // 2]};{9 + i},{90 + i}" for i, title in enumerate(TITLES)]
    (tmp_path / "p.csv").write_text("\n".join(["product;name;category;price", *goods]) + "\n")
    (tmp_path / "mine.csv").write_text("product;stars\nSpaten;5\nOfen;1\n")
    return tmp_path


@pytest.fixture
def model(shop, tacit):
    done = tacit("fit", "r.csv", "--items", "p.csv", *FIT)
    assert done.status == 0, done.err
    return done


def test_prices_with_commas_are_numbers_and_no_tags(model):
    assert "not read" not in model.err


def test_a_text_column_joins_the_tags_that_are_read(shop, tacit):
    goods = (shop / "p.csv").read_text().splitlines()
    marked = [f"{goods[0]};brand", *(f"{line};Eigen" for line in goods[1:])]
    (shop / "p.csv").write_text("\n".join(marked) + "\n")
    seen = tacit("fit", "r.csv", "--items", "p.csv", *FIT)
    assert "--columns tags=TAGS+brand" in seen.err


def test_two_items_of_one_title_are_told(shop, tacit):
    text = (shop / "p.csv").read_text().replace("Beet", "Spaten")
    (shop / "p.csv").write_text(text)
    seen = tacit("fit", "r.csv", "--items", "p.csv", *FIT)
    assert "1 have a title that another item has too" in seen.err


def test_a_scale_that_is_too_wide_is_told(shop, tacit):
    words = [word.replace("1,5", "0,100") for word in FIT]
    assert "is --scale right?" in tacit("fit", "r.csv", *words).err


def test_an_epsilon_that_a_twin_passes_over_is_refused(shop, tacit):
    seen = tacit("fit", "r.csv", *FIT, "--calibration", "none")
    assert seen.status == 2
    assert "--epsilon" in seen.err


def test_a_large_epsilon_is_told(shop, tacit):
    words = ["500" if word == "1" else word for word in FIT]
    assert "above 10" in tacit("fit", "r.csv", *words).err


def test_both_explanations_add_up(model, tacit):
    seen = tacit("recommend", "m", "--ratings", "mine.csv", "--explain", "Beet")
    first, second = seen.out.split("the same, by your tastes")
    assert "all else" in second

    def points(text):
        cells = (line.split()[-1] for line in text.splitlines() if line.strip())
        return sum(float(cell) for cell in cells if cell[0] in "+-")

    assert points(first) == pytest.approx(points(second), abs=0.03)


def test_without_ratings_nothing_is_expected_for_you(model, tacit):
    assert "expected for anybody" in tacit("recommend", "m", "--explain", "Beet").out


def test_a_reason_that_was_rated_low_says_so(model, tacit):
    seen = tacit("recommend", "m", "--ratings", "mine.csv", "--json")
    if "Ofen" in seen.out:
        told = tacit("recommend", "m", "--ratings", "mine.csv").out
        assert "Ofen (rated low)" in told


def test_lists_of_everybody_have_titles_and_short_numbers(model, shop, tacit):
    done = tacit("recommend", "m", "--people", "r.csv", "--dates", "dmy", "--out", "lists.csv")
    assert done.status == 0, done.err
    head = (shop / "lists.csv").read_text().splitlines()[0]
    assert head == "person,rank,item,title,expected,personal"


@pytest.mark.parametrize(
    ("day", "says"),
    [
        ("31.02.2024", "no date of the calendar"),
        ("12/25/2024", "no date of the calendar"),
        ("2024-12-25", "not a date in the form day-month-year"),
        ("soon", "text where a time belongs"),
    ],
)
def test_a_wrong_day_is_told_by_its_form(shop, tacit, day, says):
    (shop / "r.csv").write_text(
        f"customer_id;product;stars;date\nK1;P1;3;01.02.2024\nK2;P2;4;{day}\n"
    )
    seen = tacit("fit", "r.csv", *FIT)
    assert seen.status == 2
    assert says in seen.err
    assert "06.09.2005" in seen.err or "leave --dates out" in seen.err
    assert day not in seen.err


def test_an_open_quote_is_named(shop, tacit):
    rows = (shop / "r.csv").read_text().replace("K3;P1;", '"K3;P1;', 1)
    (shop / "r.csv").write_text(rows)
    assert "never closed" in tacit("fit", "r.csv", *FIT).err


def test_too_many_fields_of_a_table_with_semicolons(shop, tacit):
    rows = (shop / "r.csv").read_text() + "K9;P1;3;01.01.2024;x\n"
    (shop / "r.csv").write_text(rows)
    seen = tacit("fit", "r.csv", *FIT)
    assert "delimiter (;)" in seen.err
    assert "with a point" not in seen.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("fit r.csv --epsilon 0,5 --out m", "0.5"),
        ("plan --epsilon 1 --users 3.000 --items 9", "3000"),
        ("statement m --html", "--out statement.html"),
        ("recommend m --customer K1", "--people RATINGS"),
        ("fit r.csv --scale 1,5 --epsilon 1 --users 9 --out m --set foo=1", "has no settings"),
    ],
)
def test_a_remedy_fits_what_was_meant(shop, tacit, line, says):
    seen = tacit(*line.split())
    assert seen.status == 2
    assert says in seen.err
