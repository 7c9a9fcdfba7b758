"""Said, not guessed: what was read is printed, and what would be passed over is refused."""

from __future__ import annotations

import pytest

FIT = ("--method", "popularity", "--epsilon", 1, "--users", 3)


@pytest.fixture
def fit(tacit, tmp_path):
    def run(text, *args, scale=("--scale", "1,5")):
        (tmp_path / "r.csv").write_text(text)
        out = tmp_path / "m"
        return tacit("fit", tmp_path / "r.csv", *scale, *FIT, "--out", out, *args)

    return run


PLAIN = "user,item,rating,timestamp\na,x,3,100\nb,y,4,200\n"


def test_columns_and_scale_are_printed(fit):
    seen = fit(PLAIN)
    assert seen.status == 0, seen.err
    assert (
        "read user from `user`, item from `item`, rating from `rating`, time from "
        "`timestamp`, on a scale from 1 to 5"
    ) in seen.err


def test_columns_without_a_header_are_numbered(fit):
    seen = fit("a,x,3\nb,y,4\n", "--header", "no")
    assert seen.status == 2
    assert "--header no --columns user=1,item=2,rating=3" in seen.err
    seen = fit("a,x,3\nb,y,4\n", "--header", "no", "--columns", "user=1,item=2,rating=3")
    assert seen.status == 0, seen.err
    assert "user from column 1, item from column 2, rating from column 3" in seen.err


RIVALS = "customer,user,product,score,rating\n1,a,x,3,4\n2,b,y,5,1\n"


def test_rivals_are_named(fit):
    seen = fit(RIVALS)
    assert seen.status == 0
    assert "`customer` could be the user too" in seen.err
    assert "`score` could be the rating too" in seen.err


def test_a_chosen_column_has_no_rival(fit):
    seen = fit(RIVALS, "--columns", "user=customer,rating=5")
    assert seen.status == 0, seen.err
    assert "user from `customer`" in seen.err
    assert "could be" not in seen.err


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("user", "ROLE=NAME"),
        ("who=user", "no role"),
        ("user=nobody", "no column"),
        ("user=9", "no column"),
    ],
)
def test_a_wrong_choice_of_columns(fit, columns, says):
    seen = fit(PLAIN, "--columns", columns)
    assert seen.status == 2
    assert says in seen.err


ODD = "kd;art;bew;dat\na;x;3;100\nb;y;4;200\n"


@pytest.mark.parametrize("word", ["dat", "date"])
def test_all_missing_columns_are_named_at_once_and_no_cell_of_line_1(fit, word):
    seen = fit(ODD.replace("dat", word))
    assert seen.status == 2
    assert "line 1" in seen.err
    assert "kd" not in seen.err
    assert "no user, no item and no rating" in seen.err
    assert "--header no --columns user=1,item=2,rating=3" in seen.err
    assert "--columns user=NAME,item=NAME,rating=NAME" in seen.err


def test_no_role_names_those_of_a_catalogue_too(fit):
    seen = fit(ODD, "--columns", "kunde=kd")
    assert "user, item, rating, time" in seen.err
    assert "title and tags" in seen.err


def test_which_of_two_ratings_is_not_guessed(fit):
    rivals = "user,item,stars,score\na,x,3,5\nb,y,4,2\n"
    seen = fit(rivals)
    assert seen.status == 2
    assert "`score` and `stars` could both be the rating" in seen.err
    assert "rating=score or rating=stars" in seen.err
    assert fit(rivals, "--columns", "rating=stars").status == 0


def test_one_column_is_one_thing(fit):
    seen = fit(PLAIN, "--columns", "time=rating")
    assert seen.status == 2
    assert "column `rating` is the rating and the time" in seen.err


def test_milliseconds_are_refused(fit):
    seen = fit("user,item,rating,timestamp\na,x,3,1600000000000\n")
    assert seen.status == 2
    assert "milliseconds" in seen.err
    assert "1600000000000" not in seen.err


def test_a_scale_is_not_assumed(fit):
    assert fit(PLAIN, scale=()).status == 2


def test_a_scale_of_a_layout_is_printed_and_stated(tacit, tmp_path):
    (tmp_path / "ratings.csv").write_text(
        "userId,movieId,rating,timestamp\n1,2,3.5,100\n2,3,4,200\n"
    )
    seen = tacit("fit", tmp_path / "ratings.csv", *FIT, "--out", tmp_path / "m")
    assert seen.status == 0, seen.err
    assert "ratings from 0.5 to 5" in seen.err
    words = " ".join(tacit("statement", tmp_path / "m").out.split())
    assert "the rating scale, 0.5 to 5 (implied by the layout: ml-csv)" in words


def test_features_are_printed(fit, tmp_path):
    (tmp_path / "i.csv").write_text("id,title,genres\nx,A,Drama\ny,B,War|Drama\n")
    seen = fit(PLAIN, "--items", tmp_path / "i.csv")
    assert "items: Catalogue(2 items, titles, 2 tags)" in seen.err


def test_likes_are_stated_as_likes(tacit, tmp_path):
    rows = [f"u{u},t{(u * k) % 9}" for u in range(30) for k in range(4)]
    (tmp_path / "plays.csv").write_text("listener,track\n" + "\n".join(rows))
    seen = tacit(
        *("fit", tmp_path / "plays.csv", "--positive", "--users", 30),
        *("--epsilon", 1, "--method", "popularity", "--out", tmp_path / "m"),
        *("--columns", "user=listener"),
    )
    assert seen.status == 0, seen.err
    assert "item from `track`, as likes" in seen.err
    words = tacit("statement", tmp_path / "m").out
    assert "that person's likes" in words
    assert "rating" not in words


def test_a_shop_names_its_own_columns(tacit, tmp_path, monkeypatch):
    """The names are said once, and hold for the catalogue too; what is left unread is told."""
    monkeypatch.chdir(tmp_path)
    rows = [f"k{u};a{i};{1 + (u * i) % 5};web" for u in range(9) for i in (1, 2)]
    head = "buyer_key;thing_key;joy;channel"
    (tmp_path / "shop.csv").write_text("\n".join([head, *rows]) + "\n")
    (tmp_path / "things.csv").write_text(
        "thing_key;description;category\na1;Tea;Drink\na2;Brie;Cheese\n"
    )
    words = "fit shop.csv --scale 1,5 --epsilon 1 --users 9 --method bias --out m"
    refused = tacit(*words.split())
    assert refused.status == 2
    assert "--columns user=NAME" in refused.err
    columns = ("user=buyer_key", "item=thing_key", "rating=joy")
    named = [word for each in columns for word in ("--columns", each)]
    done = tacit(*words.split(), "--items", "things.csv", *named)
    assert done.status == 0, done
    assert "not read: `channel`; --columns time=NAME says when" in done.err
    assert "2 items, titles" in done.err
