"""Leaving people out who asked to be forgotten."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as library

FIT = ("--scale", "1,5", "--users", 30, "--method", "popularity", "--epsilon", 1)


def test_people_who_asked_are_left_out(tacit, table, tmp_path):
    (tmp_path / "gone.txt").write_text("u3\nu4\nnobody\n")
    seen = tacit("fit", table, *FIT, "--without", tmp_path / "gone.txt", "--out", tmp_path / "m")
    assert seen.status == 0, seen.err
    assert "left out 2 people of 3 named; for the owner only" in seen.err
    assert "not in the table: 'nobody'" in seen.err
    assert "compare the spelling" in seen.err
    assert "u3" not in (tmp_path / "m" / "statement.json").read_text()


@pytest.mark.parametrize("names", ["U3\n", "u3,u4\n", "03\n"])
def test_a_list_of_which_nobody_is_found_is_told_to_the_owner_alone(tacit, table, tmp_path, names):
    """It was refused for a while: the status told whether somebody was in the table."""
    (tmp_path / "gone.txt").write_text(names)
    seen = tacit(
        *("fit", table, *FIT, "--without", tmp_path / "gone.txt"), *("--out", tmp_path / "m")
    )
    assert seen.status == 0, seen.err
    about = [
        line for line in seen.err.splitlines() if "left out" in line or "not in the table" in line
    ]
    assert any("NOBODY is left out" in line for line in about)
    assert all(line.endswith("; for the owner only") for line in about)


@pytest.mark.parametrize("wanted", [True, False])
def test_somebody_at_the_terminal_is_asked_before_the_charge(monkeypatch, wanted):
    from tacit.cli import people

    monkeypatch.setattr(people, "note", lambda text: None)
    monkeypatch.setattr(people.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(people.sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(people.click, "confirm", lambda *_, **__: wanted)
    data = library.sample(20)
    if wanted:
        left = people.leave_out(data, ["nobody"], "gone.txt", listed=True)
        assert left.n_users == 20
        return
    with pytest.raises(library.TacitError, match="before anything was charged"):
        people.leave_out(data, ["nobody"], "gone.txt", listed=True)


@pytest.mark.parametrize(
    ("names", "says"),
    [("\n\n", "names nobody"), ("\n".join(f"u{k}" for k in range(30)), "nobody is left")],
)
def test_a_list_that_cannot_be(tacit, table, tmp_path, names, says):
    (tmp_path / "gone.txt").write_text(names)
    seen = tacit("fit", table, *FIT, "--without", tmp_path / "gone.txt", "--out", tmp_path / "m")
    assert seen.status == 2
    assert says in seen.err
    assert not (tmp_path / "m").exists()


def test_the_others_stay_as_they_are():
    people = library.sample(20)
    gone = [people.users[3], people.users[7]]
    left, found = people.without(gone)
    assert found == 2
    assert left.n_users == 18
    kept = [user for user in people.users if user not in gone]
    assert list(left.users) == kept
    for place, user in enumerate(kept):
        before = people.row(list(people.users).index(user))
        assert np.array_equal(left.value[left.row(place)], people.value[before])


def test_people_without_ids_cannot_be_named():
    from scipy import sparse

    people = library.read(sparse.csr_matrix(np.ones((3, 2))), scale=(1, 5))
    with pytest.raises(library.TacitError, match="no ids"):
        people.without(["0"])


def _people(tmp_path, name, people, extra=()):
    rows = [f"{who},i{k},{1 + (k + len(who)) % 5}" for who in people for k in range(6)]
    text = "\n".join(["user,item,rating", *rows, *extra])
    (tmp_path / name).write_text(text + "\n")
    return tmp_path / name


def test_an_item_that_only_they_rated_is_forgotten_with_them(tacit, tmp_path):
    """Without a catalogue the ids come from the ratings that are used."""
    people = [f"u{k}" for k in range(30)]
    mine = _people(tmp_path, "mine.csv", people, ["u3,secret,5"])
    (tmp_path / "gone.txt").write_text("u3\n")
    seen = tacit(
        *("fit", mine, *FIT, "--without", tmp_path / "gone.txt"), *("--out", tmp_path / "m")
    )
    assert seen.status == 0, seen.err
    kept = library.load(tmp_path / "m").shared.catalogue.ids
    assert list(kept) == [f"i{k}" for k in range(6)]


def test_nobody_is_forgotten_in_private_and_used_in_public(tacit, tmp_path):
    """Refused before the private ratings are read: they are not even there."""
    critics = _people(tmp_path, "critics.csv", [f"u{k}" for k in range(12)])
    (tmp_path / "gone.txt").write_text("u3\nu40\n")
    seen = tacit(
        *("fit", tmp_path / "none.csv", "--scale", "1,5", "--users", 30),
        *("--epsilon", 1, "--public", critics, "--out", tmp_path / "m"),
        *("--without", tmp_path / "gone.txt"),
    )
    assert seen.status == 2
    assert "names 1 id that --public has too" in seen.err
    assert "u3" not in seen.err


def test_the_private_file_is_not_the_public_one(tacit, tmp_path):
    mine = _people(tmp_path, "mine.csv", [f"u{k}" for k in range(30)])
    (tmp_path / "other-name.csv").hardlink_to(mine)
    for name in ("mine.csv", "other-name.csv"):
        seen = tacit(
            *("fit", mine, "--scale", "1,5", "--users", 30, "--epsilon", 1),
            *("--public", tmp_path / name, "--out", tmp_path / "m"),
        )
        assert seen.status == 2
        assert "nothing of them would be protected" in seen.err


def test_who_builds_on_an_earlier_model_is_told_who_stays_in_it(tacit, tmp_path):
    mine = _people(tmp_path, "mine.csv", [f"u{k}" for k in range(30)])
    (tmp_path / "gone.txt").write_text("u3\n")
    words = ("fit", mine, *FIT[:4], "--method", "bias", "--epsilon", 1)
    book = ("--ledger", tmp_path / "book.db")
    assert tacit(*words, *book, "--out", tmp_path / "a").status == 0
    seen = tacit(
        *(*words, *book, "--start", tmp_path / "a", "--out", tmp_path / "b"),
        *("--without", tmp_path / "gone.txt"),
    )
    assert seen.status == 0, seen.err
    assert "still in it" in seen.err
