"""People whose items are not in the public catalogue: gone where nobody sees who takes part,
there with nothing to give where that is seen."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.data.catalogue import Catalogue
from tacit.data.pack import pack
from tacit.data.packed.packed import write_pack
from tacit.data.ratings import Ratings
from tacit.data.read import read
from tacit.data.schema import Schema
from tacit.engine.federated import Federated
from tacit.engine.local import Local
from tacit.engine.simulate import Simulate
from tacit.engine.threads import Threads
from tacit.fitting.run import _Run, trial
from tacit.methods import find

USERS = ("ann", "bob", "cyd")
RATINGS = Ratings(
    Schema(1, 5),
    USERS,
    ("a", "b", "odd"),
    np.array([0, 2, 3, 5]),
    np.array([0, 1, 2, 1, 2], np.uint32),
    np.array([5, 4, 1, 2, 3], np.float32),
)
"""Bob has rated what is not in the catalogue, and nothing else."""
CATALOGUE = Catalogue(("b", "a", "c"))


@pytest.mark.parametrize(
    ("engine", "people"), [(Threads, 2), (Federated, 3), (Simulate, 3), (Local, 3)]
)
def test_who_takes_part_does_not_tell_what_was_rated(engine, people) -> None:
    made = engine(RATINGS)
    made.align(CATALOGUE)
    assert made.people == people
    counts = dict(zip(made.ratings.users, np.diff(made.ratings.ptr), strict=True))
    assert counts.get("bob", 0) == 0
    assert (counts["ann"], counts["cyd"]) == (2, 1)
    assert made.ratings.notes.dropped_items == 2


@pytest.mark.parametrize("engine", [Federated, Simulate, Local])
def test_a_limit_of_ratings_hides_nobody(engine) -> None:
    """Seen: with --max-ratings 1, 41 people took part for 42."""
    made = engine(RATINGS)
    made.align(CATALOGUE)
    made.limit(1)
    assert tuple(made.ratings.users) == USERS
    assert np.diff(made.ratings.ptr).tolist() == [1, 0, 1]


@pytest.mark.parametrize("method", ["popularity", "bias", "mf-federated"])
def test_she_takes_part_like_a_device_without_ratings(method) -> None:
    """Without noise the model is that of people of whom one has rated nothing."""
    settings = {"factors": 2, "rounds": 2} if method == "mf-federated" else {}

    def fitted(ratings: Ratings) -> dict[str, np.ndarray]:
        made = find(method)(calibration="none", engine="federated", **settings)
        return made.fit(ratings, items=CATALOGUE, users=3).model_.shared.arrays

    bare = Ratings(
        RATINGS.schema,
        USERS,
        CATALOGUE.ids,
        np.array([0, 2, 2, 3]),
        np.array([0, 1, 0], np.uint32),
        np.array([4, 5, 2], np.float32),
    )
    found, expected = fitted(RATINGS), fitted(bare)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


@pytest.mark.parametrize("engine", ["simulate", "local"])
def test_her_device_reports_like_any_other(engine) -> None:
    made = find("one-bit")(epsilon=4.0, engine=engine)
    trial(made, RATINGS, items=CATALOGUE, users=3)


TABLE = "user,item,rating\n" + "".join(
    f"p{person},{item},{1 + (person + place) % 5}\n"
    for person in range(12)
    for place, item in enumerate("abc")
)


@pytest.mark.parametrize("way", ["csv", "pack", "packed", "likes"])
@pytest.mark.parametrize("engine", ["local", "federated"])
def test_reading_over_a_catalogue_hides_nobody(engine, way, tmp_path) -> None:
    """Whichever reader drops ratings, the people are those of the table."""
    options = {"positive": 2} if way == "likes" else {}
    catalogue = Catalogue(("a", "b", "c"))
    people = {}
    for name, last in (("listed", "x,a,5"), ("unlisted", "x,odd,5"), ("low", "x,a,1")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{TABLE}{last}\n")
        over = {"items": catalogue}
        if way == "pack":
            write_pack(read(path, (1, 5)), tmp_path / f"{name}.tacit")
            path = tmp_path / f"{name}.tacit"
        elif way == "packed":
            pack(path, tmp_path / f"{name}.tacit", scale=(1, 5), items=catalogue)
            path, over = tmp_path / f"{name}.tacit", {}
        scale = {} if path.suffix == ".tacit" else {"scale": (1, 5)}
        made = {"local": Local, "federated": Federated}[engine](
            read(path, **scale, **over, **options)
        )
        made.align(catalogue)
        people[name] = tuple(made.ratings.users)
    assert len(people["listed"]) == 13
    assert people["listed"] == people["unlisted"] == people["low"]


def test_reports_and_shares_do_not_depend_on_what_was_rated(tmp_path) -> None:
    """Seen: 62 reports for 63, and noise with a standard deviation of 3.819 for 3.771."""
    catalogue = Catalogue(("a", "b", "c"))
    reports, sds = {}, {}
    for name in ("a", "odd"):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{TABLE}x,{name},5\n")
        ratings = read(path, (1, 5), items=catalogue)
        run = _Run(find("one-bit")(epsilon=4.0, engine="local"), ratings, catalogue, 13, None)
        run.go()
        reports[name] = sum(each.reports for each in run.engine.traffic)
        model = find("bias")(epsilon=5.0, engine="federated", noise_from="both")
        run = _Run(model, ratings, catalogue, 13, None)
        drawn = []
        noise = run.engine._noise

        def seen(*given, noise=noise, drawn=drawn):
            made = noise(*given)
            drawn.append(made.sd)
            return made

        run.engine._noise = seen
        run.go()
        sds[name] = drawn
    assert reports["a"] == reports["odd"] == 13
    assert sds["a"] == sds["odd"]


def test_who_is_left_out_takes_no_part(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{TABLE}x,odd,5\n")
    ratings = read(path, (1, 5), items=Catalogue(("a", "b", "c")))
    assert ratings.n_users == 12
    assert ratings.with_everyone().n_users == 13
    left, count = ratings.without(["x"])
    assert count == 1
    assert left.with_everyone().n_users == 12
