"""Somebody else's recommender, from its lists."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tacit.auditing.others import ClaimedCurve, audit_lists
from tacit.auditing.verdict import NEVER
from tacit.errors import DataError

EXAMPLE = Path(__file__).parents[2] / "examples" / "audit-others"


def lists(folder, names=("before", "after")):
    paths = [folder / f"{name}.parquet" for name in names]
    return *paths, folder / "canaries.csv"


@pytest.fixture(scope="module")
def per_sample(tmp_path_factory):
    """What the example writes."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        import per_sample as example
    finally:
        sys.path.remove(str(EXAMPLE))
    folder = tmp_path_factory.mktemp("lists")
    example.main(folder)
    return folder


def test_noise_for_one_rating_is_no_noise_for_a_person(per_sample):
    found = audit_lists(*lists(per_sample), epsilon=1.0)
    assert found.fell
    assert found.measured > 1


def test_the_same_lists_do_not_refute_what_they_cost(per_sample):
    """Eighty ratings of one person: group privacy allows far more than was found."""
    found = audit_lists(*lists(per_sample), epsilon=20.0, mistake=NEVER)
    assert not found.fell


def test_nothing_is_found_where_nothing_changed(per_sample):
    unchanged = lists(per_sample, ("before", "before"))
    assert audit_lists(*unchanged, epsilon=1.0).measured == 0


def test_ranks_do_as_well_as_scores(tmp_path):
    """A recommender without any privacy: whoever was in stands first."""
    count = 400
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, count)
    order = np.argsort(-(coin + rng.random(count) / 2))
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(1, count + 1)
    items = np.arange(count)
    shown = {"item": items, "rank": np.full(count, count)}
    pl.DataFrame(shown).write_csv(tmp_path / "before.csv")
    pl.DataFrame(shown | {"rank": rank}).write_csv(tmp_path / "after.csv")
    canaries = tmp_path / "canaries.csv"
    table = {"canary": items, "item": items, "coin": coin}
    pl.DataFrame(table).write_csv(canaries)
    files = tmp_path / "before.csv", tmp_path / "after.csv"
    assert audit_lists(*files, canaries, epsilon=1.0).measured > 2


def test_bad_files_are_refused(tmp_path):
    good = tmp_path / "good.csv"
    pl.DataFrame({"item": [1], "score": [1.0]}).write_csv(good)
    no_score = tmp_path / "none.csv"
    pl.DataFrame({"item": [1]}).write_csv(no_score)
    coins = tmp_path / "coins.csv"
    pl.DataFrame({"canary": [1, 1], "item": [1, 2], "coin": [0, 1]}).write_csv(coins)
    with pytest.raises(DataError, match="neither a column score"):
        audit_lists(no_score, good, coins, epsilon=1.0)
    with pytest.raises(DataError, match="two different coins"):
        audit_lists(good, good, coins, epsilon=1.0)
    with pytest.raises(DataError, match="no column canary"):
        audit_lists(good, good, good, epsilon=1.0)
    with pytest.raises(DataError, match="not a file"):
        audit_lists(tmp_path / "missing", good, coins, epsilon=1.0)


def test_the_curve_of_a_claim_and_its_inverse():
    curve = ClaimedCurve(0.7, 0.01)
    for wrong in (0.0, 0.05, 0.4, 0.8):
        assert curve.least(curve.most(wrong)) == pytest.approx(wrong)
    assert curve.epsilon(0.01) == 0.7
