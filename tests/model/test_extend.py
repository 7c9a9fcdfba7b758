"""New items from public features: near the items like them, less sure, and nothing else changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit import Bayes, sample, sample_catalogue
from tacit.data.catalogue import Catalogue
from tacit.errors import DataError, ModelError
from tacit.fitting.run import trial
from tacit.model.extend import EXTENDED, add_items, merge
from tacit.model.model import Model, load
from tacit.model.person.gaussian import GaussianPersonal
from tacit.model.verify import paid_for


@pytest.fixture(scope="module")
def model():
    return trial(
        Bayes(epsilon=20), sample(people=1500, seed=1), items=sample_catalogue(), users=1500
    )


@pytest.fixture(scope="module")
def choosing(model):
    """The same model, where having rated an item says something too."""
    rng = np.random.default_rng(2)
    width = model.shared.arrays["loadings"].shape[1]
    told = {
        "implied": rng.normal(0, 5, (width, width)).astype(np.float32),
        "usual": rng.normal(0, 0.1, width).astype(np.float32),
    }
    return replace(model.shared, arrays={**model.shared.arrays, **told})


def copies(catalogue, rows):
    """New items that look just like known ones."""
    return Catalogue(
        [f"new {row}" for row in rows],
        [f"Copy of {row}" for row in rows],
        None if catalogue.years is None else catalogue.years[rows],
        catalogue.tags,
        None if catalogue.tagged is None else catalogue.tagged[rows],
    )


def test_known_items_keep_every_number(model):
    shared = add_items(model.shared, copies(model.shared.catalogue, np.arange(5)))
    for name, array in model.shared.arrays.items():
        assert np.array_equal(shared.arrays[name][: len(array)], array)
    assert len(shared.catalogue) == len(model.shared.catalogue) + 5


def test_new_items_follow_their_features(model):
    rows = np.arange(0, len(model.shared.catalogue), 2)
    shared = add_items(model.shared, copies(model.shared.catalogue, rows))
    known, guess = (model.shared.arrays["baseline"][rows], shared.arrays["baseline"][-len(rows) :])
    assert np.corrcoef(known, guess)[0, 1] > 0.3


def test_new_items_are_less_sure(model):
    shared = add_items(model.shared, copies(model.shared.catalogue, np.arange(5)))
    extended = Model(shared, model.statement)
    own = {model.shared.catalogue.ids[7]: 5.0}
    new, known = (extended.predict(own, ["new 3"])[0], [p.error for p in model.predict(own)])
    assert new.error > np.median(known)


def test_the_extended_model_is_saved_and_names_its_origin(model, tmp_path):
    shared = add_items(model.shared, copies(model.shared.catalogue, np.arange(2)))
    Model(shared, model.statement).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.shared.digest() == shared.digest()
    assert paid_for(again.shared).digest() == model.shared.digest()


def test_having_rated_a_new_item_says_what_its_loadings_say(model, choosing):
    new = copies(choosing.catalogue, np.arange(5))
    arrays = dict(choosing.arrays)
    told = {name: arrays.pop(name) for name in ("implied", "usual")}
    shared = add_items(choosing, new)
    bare = add_items(replace(choosing, arrays=arrays), new)
    for name, array in (told | bare.arrays).items():
        assert np.array_equal(shared.arrays[name], array), name
    found = GaussianPersonal(shared.arrays, shared.numbers).model
    arrays = {k: v.astype(np.float64) for k, v in shared.arrays.items()}
    row = len(choosing.catalogue) + 2
    told = (arrays["loadings"][row] - arrays["usual"]) @ arrays["implied"]
    np.testing.assert_allclose(found.implied[row], told)
    own = {"new 2": 5.0, choosing.catalogue.ids[7]: 1.0}
    answers = [Model(each, model.statement).predict(own, ["new 4"])[0] for each in (shared, bare)]
    assert all(np.isfinite(each.rating) for each in answers)
    assert abs(answers[0].rating - answers[1].rating) > 1e-3


def test_what_choices_imply_is_cut_out_with_the_paid_model(model, choosing, tmp_path):
    shared = add_items(choosing, copies(choosing.catalogue, np.arange(2)))
    Model(shared, model.statement).save(tmp_path / "model")
    again = load(tmp_path / "model").shared
    assert again.digest() == shared.digest()
    assert paid_for(again).digest() == choosing.digest()
    with pytest.raises(ModelError, match="not an extension"):
        paid_for(doctored(again, "implied", 0))


@pytest.fixture(scope="module")
def untitled(model):
    """A model whose catalogue has no titles, features though."""
    catalogue = replace(model.shared.catalogue, titles=None)
    return replace(model.shared, catalogue=catalogue)


@pytest.mark.parametrize("name", ["shared", "untitled"])
def test_the_paid_model_is_cut_out_of_two_extensions(name, model, untitled, tmp_path):
    """Break 10: an extended model leads back to the one that was paid for."""
    first = model.shared if name == "shared" else untitled
    once = add_items(first, copies(first.catalogue, np.arange(3)))
    more = Catalogue(["last"], None if name == "shared" else ["The Last"])
    Model(add_items(once, more), model.statement).save(tmp_path / "model")
    again = load(tmp_path / "model").shared
    assert len(again.catalogue) == len(first.catalogue) + 4
    assert paid_for(again).digest() == first.digest()


def doctored(shared, name, row):
    arrays = {k: v.copy() for k, v in shared.arrays.items()}
    arrays[name][row] += 0.5
    return replace(shared, arrays=arrays)


@pytest.mark.parametrize(("name", "row"), [("baseline", -1), ("baseline", 0)])
def test_what_features_do_not_give_is_no_extension(model, name, row):
    """Neither a new item of somebody's own making nor a changed old one passes."""
    shared = add_items(model.shared, copies(model.shared.catalogue, np.arange(2)))
    with pytest.raises(ModelError, match="not an extension"):
        paid_for(doctored(shared, name, row))


@pytest.mark.parametrize(
    "steps",
    [
        [{"from": "0" * 64, "items": 10**9, "titled": True}],
        [{"from": "0" * 64, "items": 5, "titled": True}],
        [{"from": "0" * 64, "items": True, "titled": True}],
        [{"items": 5}],
        "once",
        [3],
    ],
)
def test_a_lineage_that_was_made_up_is_refused(model, steps):
    shared = replace(model.shared, settings={**model.shared.settings, EXTENDED: steps})
    with pytest.raises(ModelError, match="not an extension"):
        paid_for(shared)


def test_nothing_new_is_refused(model):
    with pytest.raises(DataError, match="already"):
        add_items(model.shared, model.shared.catalogue)


def test_features_are_matched_by_name():
    old = Catalogue(
        ["a"],
        tags=["x", "y"],
        tagged=np.array([[1, 0]], np.uint8),
        numbers=["n"],
        numeric=np.array([[2.0]], np.float32),
    )
    new = Catalogue(["b"], ["B"], tags=["z", "y"], tagged=np.array([[1, 1]], np.uint8))
    both = merge(old, new, [0])
    assert both.tagged is not None
    assert both.tagged.tolist() == [[1, 0], [0, 1]]
    assert both.numeric is not None
    assert np.isnan(both.numeric[1, 0])
    assert list(both.titles or ()) == ["a", "B"]
