"""Invented people: as the model says, marked, repeatable, and from the model alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit.data.catalogue import Catalogue
from tacit.data.schema import Schema
from tacit.errors import SettingError
from tacit.model.shared import Shared
from tacit.model.synthesize import Activity, draw_ratings, fit_exposure, synthesize, world_of

PEOPLE = 3000
ITEMS = 60


def planted(**numbers: float) -> Shared:
    """A model whose people are known: 60 items, one taste, activity as released."""
    rng = np.random.default_rng(1)
    baseline = np.linspace(-1.2, 1.2, ITEMS)
    item_factors = np.column_stack([np.full(ITEMS, 0.4), 0.5 * rng.standard_normal(ITEMS)])
    weight = 400 * np.exp(-np.arange(ITEMS)[::-1] / 15.0) + 20
    arrays = {
        "baseline": baseline.astype(np.float32),
        "variance": np.full(ITEMS, 0.02, np.float32),
        "loadings": item_factors.astype(np.float32),
        "weight": weight.astype(np.float32),
    }
    return Shared(
        "bayes",
        "gaussian",
        arrays,
        {"noise": 0.6, **numbers},
        Schema(1, 5),
        Catalogue([f"i{n}" for n in range(ITEMS)]),
    )


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A certified model of the embedded sample, and its book."""
    book = tmp_path_factory.mktemp("book") / "book.db"
    bias = tacit.Bias(epsilon=5, delta=1e-6, ledger=str(book))
    model = bias.fit(tacit.sample(400), items=tacit.sample_catalogue(), users=400)
    return model, book


def test_people_are_those_of_the_model():
    """Level, effects, spread of levels, tastes and popularity come back from the ratings."""
    shared = planted()
    world = world_of(shared, "user", {}, each=12.0, spread=0.5, step=0.0)
    people = draw_ratings(world, shared, PEOPLE, 0)
    value = (people.value - 3.0).astype(float)
    count = np.bincount(people.item, minlength=ITEMS)
    mean = np.bincount(people.item, value, minlength=ITEMS) / count
    # The rest meets the ends of the scale.
    middle = np.abs(world.baseline) < 1.0
    error = (mean - world.baseline)[middle]
    # The mean of an item has a standard deviation of about .95/sqrt(count).
    assert np.all(np.abs(error) < 5 * 0.95 / np.sqrt(count[middle]) + 0.05)
    each = np.repeat(np.diff(people.ptr) ** -0.5, np.diff(people.ptr))
    share = np.bincount(people.item, each, minlength=ITEMS)
    wanted = shared.arrays["weight"] / shared.arrays["weight"].sum()
    # Five standard deviations of a count, and a twentieth for what the matching leaves.
    allowed = 5 * wanted / np.sqrt(count) + 0.05 * wanted
    assert np.all(np.abs(share / share.sum() - wanted) < allowed)
    rest = value - world.baseline[people.item]
    level = np.bincount(people.user, rest) / np.diff(people.ptr)
    # .4^2 of levels, and what a dozen ratings leave of chance and taste.
    assert 0.15 < level.var() < 0.33


def test_who_likes_an_item_rates_it_more_often():
    shared = planted()
    gained = {}
    for lean in (0.0, 2.0):
        world = world_of(shared, "user", {}, each=12.0, lean=lean, step=0.0)
        people = draw_ratings(world, shared, PEOPLE, 0)
        side = np.sign(world.loadings[people.item, 1])
        taste = np.bincount(people.user, side) / np.diff(people.ptr)
        gained[lean] = taste.var()
    assert gained[2.0] > 1.5 * gained[0.0]


def test_what_is_met_adds_up_to_what_was_released():
    activity = Activity(10.0, 0.6)
    weight = np.linspace(1.0, 30.0, ITEMS)
    for lean in (0.0, 1.5):
        found = fit_exposure(weight, np.full(ITEMS, 0.2), lean, activity, 0.5)
        assert np.all(np.isfinite(found.appeal))
        # Without a lean nobody likes more what she rates; with one, by at most lean x variance.
        assert np.all(found.gained >= -1e-12)
        assert np.all(found.gained <= lean * 0.2 + 1e-12)
    assert np.all(np.diff(found.appeal) > 0)


def test_activity_is_as_released():
    """A log-normal number of ratings is found again from its median and its root's mean."""
    rng = np.random.default_rng(0)
    count = 30.0 * np.exp(0.8 * rng.standard_normal(200_000))
    shared = planted(count=30.0, people=1000.0)
    weight = shared.arrays["weight"].astype(float)
    weight *= 1000.0 * np.sqrt(count).mean() / weight.sum()
    arrays = dict(shared.arrays) | {"weight": weight.astype(np.float32)}
    told: dict[str, str] = {}
    world = world_of(Shared(**(vars(shared) | {"arrays": arrays})), "user", told)
    assert world.activity.median == 30.0
    assert abs(world.activity.spread - 0.8) < 0.02
    assert "as released" in told["activity"]
    told.clear()
    assert world_of(planted(), "user", told).activity.mean == pytest.approx(40)
    assert "does not release" in told["activity"]


def test_the_same_seed_gives_the_same_people(fitted):
    model, _ = fitted
    one, same = (synthesize(model, people=50, seed=3) for _ in range(2))
    other = synthesize(model, people=50, seed=4)
    assert np.array_equal(one.ratings.value, same.ratings.value)
    assert not np.array_equal(one.ratings.item, other.ratings.item)


def test_what_choices_imply_is_no_part_of_how_people_are_drawn(fitted):
    """A model that knows it makes the same people: `--lean` says how they choose."""
    model = fitted[0].fitted
    width = model.shared.arrays["loadings"].shape[1]
    more = {"implied": np.eye(width), "usual": np.ones(width)}
    told = {name: each.astype(np.float32) for name, each in more.items()}
    arrays = {**model.shared.arrays, **told}
    shared = replace(model.shared, arrays=arrays)
    other = tacit.Model(shared, model.statement)
    one, same = (synthesize(each, people=40) for each in (model, other))
    assert np.array_equal(one.ratings.item, same.ratings.item)
    assert np.array_equal(one.ratings.value, same.ratings.value)


def test_it_costs_nothing_and_reads_nothing_else(fitted, tmp_path):
    """The book is as it was, and a copy of the model in another place gives the same people."""
    model, book = fitted
    before = book.read_bytes()
    model.save(tmp_path / "copy")
    made = synthesize(model, people=20)
    assert book.read_bytes() == before
    again = synthesize(tacit.load(tmp_path / "copy"), people=20)
    assert np.array_equal(made.ratings.item, again.ratings.item)
    assert np.array_equal(made.ratings.value, again.ratings.value)
    assert made.facts == again.facts


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_they_are_marked_and_can_be_read(fitted, tmp_path, suffix):
    model, _ = fitted
    made = synthesize(model, people=40, period=(1_700_000_000, 1_710_000_000))
    place = tmp_path / f"invented.{suffix}"
    made.write(place)
    read = tacit.read(place, scale=(1, 5))
    assert len(read) == len(made.ratings)
    assert all(name.startswith("invented-") for name in read.users)
    assert read.time is not None
    assert read.time.min() >= 1_700_000_000
    assert read.time.max() <= 1_710_000_000
    assert set(np.unique(read.value)) <= {1, 2, 3, 4, 5}
    if suffix == "parquet":
        import polars as pl

        facts = json.loads(pl.read_parquet_metadata(place)["tacit"])
        assert facts["invented"] is True
        assert facts["promise"]["epsilon"] == 5
        assert pl.read_parquet(place)["invented"].all()
    else:
        assert place.read_text().splitlines()[1].endswith(",true")


def test_what_cannot_be_promised_is_refused(fitted, tmp_path):
    sample, films = tacit.sample(60), tacit.sample_catalogue()
    twin = tacit.Bias(calibration="none").fit(sample, items=films)
    with pytest.raises(SettingError, match="not private"):
        synthesize(twin)
    counts = tacit.Popularity(epsilon=1).fit(sample, items=films, users=60)
    with pytest.raises(SettingError, match="popularity does not release"):
        synthesize(counts)
    model, _ = fitted
    with pytest.raises(SettingError, match="people"):
        synthesize(model, people=0)
    with pytest.raises(SettingError, match="lean"):
        synthesize(model, lean=-1.0)
    with pytest.raises(SettingError, match="begin after"):
        synthesize(model, period=(10, 5))
    made = synthesize(model, people=3)
    with pytest.raises(SettingError, match="invented"):
        made.write(tmp_path / "ratings.csv")
    with pytest.raises(SettingError, match="neither"):
        made.write(tmp_path / "invented.txt")


def test_the_command(fitted, tmp_path, capsys, monkeypatch):
    from click.testing import CliRunner

    from tacit.cli.synthesize import synthesize as command

    model, _ = fitted
    model.save(tmp_path / "model")
    out = tmp_path / "invented.csv"
    asked = [str(tmp_path / "model"), "--people", "30", "--out", str(out)]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 0, done.output
    assert "30 invented people" in done.output
    assert "(5, 1e-06) for a user" in done.output
    times = CliRunner().invoke(command, [*asked, "--overwrite", "--times", "then,now"])
    assert isinstance(times.exception, SettingError)
    assert isinstance(CliRunner().invoke(command, asked).exception, tacit.TacitError)
