"""Leaving people out who asked to be forgotten."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as library

FIT = (
    "--scale",
    "1,5",
    "--users",
    30,
    "--method",
    "popularity",
    "--epsilon",
    1,
)


def test_people_who_asked_are_left_out(tacit, table, tmp_path):
    (tmp_path / "gone.txt").write_text("u3\nu4\nnobody\n")
    seen = tacit(
        "fit",
        table,
        *FIT,
        "--without",
        tmp_path / "gone.txt",
        "--out",
        tmp_path / "m",
    )
    assert seen.status == 0, seen.err
    assert "left out 2 people of 3 named; for the owner only" in seen.err
    assert "u3" not in (tmp_path / "m" / "statement.json").read_text()


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("\n\n", "names nobody"),
        ("\n".join(f"u{k}" for k in range(30)), "nobody is left"),
    ],
)
def test_a_list_that_cannot_be(tacit, table, tmp_path, names, says):
    (tmp_path / "gone.txt").write_text(names)
    seen = tacit(
        "fit",
        table,
        *FIT,
        "--without",
        tmp_path / "gone.txt",
        "--out",
        tmp_path / "m",
    )
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
