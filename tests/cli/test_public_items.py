"""Whether the ids of public people mean the same items is told from catalogues alone."""

from __future__ import annotations

import warnings

import pytest

import tacit as api
from tacit.data.public import PublicPeople

FILMS = ("Heat (1995)", "Alien", "The Matrix", "Zodiac", "Up")
UNKNOWN = "cannot be known"


def ratings(path, people=30, shift=0):
    rows = [f"u{u},i{i},{1 + (u * i + shift) % 5}" for u in range(people) for i in range(12)]
    path.write_text("user,item,rating\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def catalogue(path, titles):
    rows = [f"i{i},{title}" for i, title in enumerate(titles)]
    path.write_text("item,title\n" + "\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    rest = [f"Film {i}" for i in range(len(FILMS), 12)]
    others = [f"Other {i}" for i in range(len(FILMS), 12)]
    return {
        "private": ratings(tmp_path / "private.csv"),
        "public": ratings(tmp_path / "public.csv", 15, 2),
        "items": catalogue(tmp_path / "items.csv", (*FILMS, *rest)),
        "same": catalogue(
            tmp_path / "same.csv", ("heat", "ALIEN", '"Matrix, The"', *FILMS[3:], *rest)
        ),
        "mixed": catalogue(tmp_path / "mixed.csv", (*FILMS, *others, "Unlisted")),
    }


def run(tacit, files, command, *more, table="private"):
    base = (command, files[table], "--scale", "1,5", "--users", 30, "--epsilon", 1)
    return tacit(*base, "--public", files["public"], *more)


def told(tacit, files, tmp_path, name, *more, table="private"):
    seen = run(tacit, files, "fit", "--out", tmp_path / name, *more, table=table)
    assert seen.status == 0, seen.err
    notes = [each for each in seen.err.splitlines() if "--public" in each]
    (line,) = [each for each in notes if "read user" not in each]
    return line


def test_a_fit_tells_the_share_of_titles_that_match(tacit, files, tmp_path):
    both = ("--items", files["items"], "--public-items")
    line = told(tacit, files, tmp_path, "a", *both, files["same"])
    assert "12 of the 12 titles of --public-items (100 %)" in line
    assert "; ids with another title there: 0" in line
    line = told(tacit, files, tmp_path, "b", *both, files["mixed"])
    assert "5 of the 13 titles of --public-items (38 %)" in line
    assert "another title there: 7. The ids seem to mean other items" in line


def test_without_titles_of_both_it_cannot_be_known(tacit, files, tmp_path):
    for place, more in enumerate(
        ((), ("--items", files["items"]), ("--public-items", files["same"]))
    ):
        assert UNKNOWN in told(tacit, files, tmp_path, f"m{place}", *more)


def test_private_rows_change_nothing_of_it(tacit, files, tmp_path):
    rows = files["private"].read_text("utf-8").splitlines()
    files["fewer"] = tmp_path / "fewer.csv"
    kept = [row for row in rows if not row.startswith("u3,")]
    files["fewer"].write_text("\n".join(kept) + "\n", "utf-8")
    more = ("--items", files["items"], "--public-items", files["mixed"], "--other-people")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = {
            told(tacit, files, tmp_path, table, *more, table=table)
            for table in ("private", "fewer")
        }
    assert len(lines) == 1


def test_an_evaluation_tells_it_too(tacit, files):
    more = ("--seeds", 1, "--no-twin", "--no-reference", "--items", files["items"])
    seen = run(tacit, files, "evaluate", *more, "--public-items", files["mixed"])
    assert seen.status == 0, seen.err
    assert "5 of the 13 titles" in seen.err
    assert UNKNOWN in run(tacit, files, "evaluate", *more).err


def test_a_catalogue_of_nobody_is_refused(tacit, files, tmp_path):
    words = ("--scale", "1,5", "--epsilon", 1, "--public-items", files["same"])
    seen = tacit("fit", files["private"], *words, "--out", tmp_path / "m")
    assert seen.status == 2
    assert "--public-items is for --public" in seen.err


def test_python_is_told(files, tmp_path):
    people = PublicPeople(
        api.read(files["public"], scale=(1, 5)), "critics", api.read_items(files["mixed"])
    )
    made = api.Bayes(epsilon=1.0, ledger=str(tmp_path / "book.sqlite"))
    with pytest.warns(api.TacitNotice, match="5 of the 13 titles"):
        made.fit(
            api.read(files["private"], scale=(1, 5)),
            users=30,
            items=api.read_items(files["items"]),
            public=people,
        )
    with pytest.raises(api.TacitError, match="no catalogue"):
        PublicPeople(people.ratings, "critics", ["Heat"])
