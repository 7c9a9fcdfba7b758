"""Ratings that stay in their file give the models of ratings in memory, bit for bit."""

from __future__ import annotations

import os
from hashlib import shake_128

import numpy as np
import pytest

from tacit.bound import RowClip, Rows
from tacit.data.budgets import Budgets
from tacit.data.memory import memory_size
from tacit.data.packed import open_pack, packed
from tacit.data.packed.packed import write_pack
from tacit.data.splits import make as make_split
from tacit.engine import blocks, gram, make_engine, streaming
from tacit.engine.streaming import RetainedRows, Streaming
from tacit.errors import SettingError
from tacit.fitting.run import fit, trial
from tacit.methods import METHODS, find
from tacit.noise.release import NoNoise
from tacit.rounds.options import How
from tacit.rounds.people import Coin, Slice
from tacit.rounds.round import Part, Personal, Round
from tacit.rounds.state import State
from tacit.testing import inject_bits
from tacit.testing.small_sample import few_films, few_ratings

FLAGSHIPS = [
    ("bias", "user"),
    ("bias", "rating"),
    ("popularity", "user"),
    ("bayes", "user"),
    ("bayes", "rating"),
    ("ease", "user"),
    ("ease", "rating"),
    ("covariance-knn", "user"),
    ("covariance-svd", "rating"),
    ("als", "user"),
    ("pnbm-sgd", "user"),
    ("mf-objective", "user"),
]
ALL = [
    *FLAGSHIPS,
    *(
        (name, find(name).units[0])
        for name in METHODS
        if "spark" in find(name).engines and name not in {each for each, _ in FLAGSHIPS}
    ),
]
"""And whatever else runs on a cluster, each at its first unit."""


@pytest.fixture
def in_file(tmp_path, monkeypatch):
    """Few people, cut into many blocks, chunks, passes and pieces; state on disk."""
    monkeypatch.setattr(blocks, "CELLS", 300)
    monkeypatch.setattr(gram, "CHUNK", 700)
    monkeypatch.setattr(packed, "PIECE", 900)
    monkeypatch.setattr(streaming, "STATE_SHARE", 0.0)
    rows = 40 * 8 * len(few_films().ids)

    def factors(self, round_):
        return {
            part.name: streaming.SpilledFactors(part, self.folder, rows)
            for part in round_.parts
            if part.form == "gram"
        }

    monkeypatch.setattr(Streaming, "_factors", factors)
    write_pack(few_ratings(), tmp_path / "few.tacit")
    return open_pack(tmp_path / "few.tacit")


def drawn(seed: int):
    """The same bits for the same seed, in the order in which they are asked for."""
    asked = [seed]

    def source(size: int) -> bytes:
        asked[0] += 1
        return shake_128(str(asked[0]).encode()).digest(size)

    return source


def digest(name, unit, ratings, users=150, **more):
    with inject_bits(drawn(7)):
        method = find(name)(epsilon=20.0, unit=unit, threads=1)
        return trial(method, ratings, users=users, **more).shared.digest()


@pytest.mark.parametrize(("name", "unit"), ALL)
def test_models_are_equal(name, unit, in_file, tmp_path):
    assert digest(name, unit, few_ratings()) == digest(name, unit, in_file)
    assert os.listdir(tmp_path) == ["few.tacit"]


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_models_of_plans_with_every_stage_are_equal(unit, in_file):
    """A plan for many people learns tastes, and what choices imply."""
    ours, theirs = (
        digest("bayes", unit, ratings, users=100_000, items=few_films())
        for ratings in (few_ratings(), in_file)
    )
    assert ours == theirs


@pytest.mark.parametrize("name", ["bias", "ease"])
def test_people_who_ask_for_less_are_the_same_in_a_file(name, in_file):
    """Their weights follow their rows, also into the scratch files of a matrix."""
    some = dict.fromkeys(few_ratings().users[::3], 0.2)

    def model(ratings, asked):
        with inject_bits(drawn(7)):
            method = find(name)(epsilon=20.0, threads=1)
            fitted = fit(method, ratings, users=150, budgets=Budgets(asked))
        return fitted.shared.digest()

    lessened = model(few_ratings(), some)
    assert model(in_file, some) == lessened
    assert model(in_file, {"nobody": 0.2}) != lessened


def test_two_threads_and_another_cut_change_nothing(in_file, monkeypatch):
    """Without noise: which thread draws first is not settled."""

    def exact(threads):
        how = How(engine="threads", threads=threads)
        engine = make_engine(in_file, how)
        return engine.run(sums(), State(), NoNoise())["sums"].value

    one = exact(1)
    monkeypatch.setattr(blocks, "CELLS", 77)
    assert np.array_equal(one, exact(2))
    memory = make_engine(few_ratings(), How(engine="threads"))
    whole = memory.run(sums(), State(), NoNoise())["sums"].value
    assert np.array_equal(one, whole)


def sums(**more) -> Round:
    """How much each item is rated above the middle; people keep how often they took part."""

    def contribute(block, state):
        if "seen" in block.personal:
            block.personal["seen"][:] += 1.0
        return {"sums": Rows(block.ptr, block.item, block.value[:, None])}

    size = len(few_films().ids)
    part = Part("sums", size, RowClip(2.0))
    return Round("sums", (part,), contribute, lambda state, _: state, **more)


@pytest.mark.parametrize("whom", [Coin(0.2), Slice(1, 3)], ids=str)
def test_some_people_and_their_state(whom, in_file):
    """Who takes part by a coin or a slice is read alone, and state stays with its owner."""
    made = []
    for ratings in (few_ratings(), in_file):
        with inject_bits(drawn(3)):
            engine = make_engine(ratings, How(engine="threads", threads=1))
            round_ = sums(takes_part=whom, personal=(Personal("seen", 2),))
            for _ in range(3):
                found = engine.run(round_, State(), NoNoise())["sums"].value
        everyone = slice(0, ratings.n_users)
        made.append((found, np.array(engine._personal["seen"][everyone])))
    assert isinstance(engine._personal["seen"], RetainedRows)
    assert np.array_equal(made[0][0], made[1][0])
    assert np.array_equal(made[0][1], made[1][1])
    assert 0 < made[0][1].max() <= 3


def test_a_catalogue_and_a_limit(in_file, tmp_path):
    """Both are applied piece by piece, in a scratch file that goes."""
    items = few_films()
    fewer = type(items)(items.ids[::-2])
    assert digest("bias", "user", few_ratings(), items=fewer) == digest(
        "bias", "user", in_file, items=fewer
    )
    engine = make_engine(in_file, How(engine="threads", threads=1))
    engine.limit(3)
    assert np.diff(engine.ratings.ptr).max() == 3
    assert list(engine.ratings.users) == list(few_ratings().users)
    assert os.listdir(tmp_path) == ["few.tacit"]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("svd-gradient", {"unit": "value"}),
        ("bayes", {"calibration": "none"}),
        ("bayes", {"engine": "federated"}),
        ("one-bit", {}),
    ],
)
def test_the_rest_is_refused(name, more, in_file):
    if more.get("calibration") != "none":
        more = {"epsilon": 1.0, **more}
    with pytest.raises(SettingError, match="larger"):
        trial(find(name)(**more), in_file, users=150)


def test_what_needs_all_at_once_says_so(in_file):
    for needs in (
        lambda: make_split(in_file, "90/10"),
        lambda: in_file.user,
        lambda: in_file.by_item,
        lambda: np.asarray(in_file.item),
        lambda: in_file.value >= 3,
        lambda: fit(find("bias")(epsilon=1.0), in_file, keep_apart=0.1),
    ):
        with pytest.raises(SettingError, match="larger than the memory"):
            needs()


def test_a_plan_beyond_the_memory_is_refused_before_it_is_paid(in_file):
    method = find("covariance-svd")(epsilon=1.0, memory="500MB")
    with pytest.raises(SettingError, match="needs about"):
        trial(method, in_file, users=150)


def test_sizes():
    assert memory_size("4GB") == 4_000_000_000
    assert memory_size("1.5 GiB") == 3 << 29
    assert memory_size(700_000_000) == 700_000_000


@pytest.mark.parametrize("unit", ["user", "rating"])
def test_many_people_in_memory_are_summed_in_chunks(unit, monkeypatch):
    """Where the matrix is smaller than the order by item: the same numbers."""
    whole = digest("covariance-knn", unit, few_ratings())
    called = []
    add = gram.add_chunks
    monkeypatch.setattr(gram, "add_chunks", lambda *a: called.append(1) or add(*a))
    monkeypatch.setattr(gram, "CHUNK", 100)
    monkeypatch.setattr(gram, "SMALLER", 0.0)
    assert digest("covariance-knn", unit, few_ratings()) == whole
    assert called
