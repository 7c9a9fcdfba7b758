"""Training over HTTP equals training on one machine, bit for bit, when the noise is off."""

from __future__ import annotations

import json

import numpy as np
import pytest
from forked import Forked
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.fitting.run import trial
from tacit.methods import find


@pytest.mark.parametrize(
    ("method", "count"), [("popularity", 1200), ("bias", 1200), ("bayes", 1200), ("bayes", 3000)]
)
def test_over_http_equals_one_process_bit_for_bit(federation, method, count, full) -> None:
    """`bayes` with few ratings takes more item sums instead of the covariance, with many
    the covariance."""
    if count > 1200 and not full:
        pytest.skip("many rounds: only with scripts/test --full")
    ratings = sample(people=40, ratings=count, seed=3)
    f = federation(ratings, method=method, cohort=40, least=40)
    f.start()
    f.train()
    expected = find(method)(calibration="none", engine="federated").fit(ratings, users=40).model_
    got = f.model().shared
    assert set(got.arrays) == set(expected.shared.arrays)
    assert all(
        np.array_equal(got.arrays[name], array) for name, array in expected.shared.arrays.items()
    )
    assert dict(got.numbers) == dict(expected.shared.numbers)


@pytest.mark.parametrize("scheme", ["S2", "S3"])
def test_printed_rounds_over_http_equal_simulate_bit_for_bit(federation, scheme) -> None:
    ratings = sample(people=24, ratings=500, seed=4)
    settings = {"factors": 6, "rounds": 5, "scheme": scheme, "cohort": 24}
    f = federation(ratings, method="mf-federated", cohort=24, least=24, set=settings)
    f.start()
    f.train()
    settings |= {"join": 0.0, "leave": 0.0}  # everybody is there, as over HTTP
    expected = find("mf-federated")(calibration="none", **settings).fit(ratings, users=24).model_
    assert np.array_equal(f.model().shared.arrays["loadings"], expected.shared.arrays["loadings"])


@pytest.mark.parametrize("scheme", ["S2", "S3"])
def test_printed_noise_is_dealt_out_and_the_blinding_comes_off(federation, scheme) -> None:
    """At an enormous claimed epsilon the noise is small: profiles must be near those
    without noise."""
    ratings = sample(people=24, ratings=500, seed=4)
    settings = {"factors": 6, "rounds": 4, "scheme": scheme, "cohort": 24, "bounded": True}
    f = federation(
        ratings,
        method="mf-federated",
        calibration="paper",
        unit="value",
        epsilon=1e5,
        cohort=24,
        least=24,
        set=settings,
    )
    f.start()
    f.train(vanish=0.0)
    plain = trial(
        find("mf-federated")(calibration="paper", epsilon=1e5, **settings, join=0.0, leave=0.0),
        ratings,
        noise_off=True,
    )
    got = f.model().shared.arrays["loadings"]
    exact = plain.shared.arrays["loadings"]
    assert 0 < np.abs(got - exact).max() < 0.2 * np.abs(exact).max()
    assert json.loads((f.out / "statement.json").read_text())["certified"] == "claimed"


def test_sound_training_is_certified_and_charged(federation, tmp_path) -> None:
    from tacit.ledger.book.book import open_book

    ratings = sample(people=30, ratings=900, seed=5)
    f = federation(
        ratings,
        method="mf-federated",
        calibration="sound",
        epsilon=400,
        delta=1e-4,
        cohort=30,
        least=20,
    )
    f.start()
    from tacit.federation.device.policy import Policy

    report = f.train(policy=Policy(epsilon=1000, delta=1e-4))
    statement = f.model().statement
    assert not report.failed
    assert statement.certified == "certified"
    assert statement.epsilon <= 400
    assert len(open_book(f.folder / "book").entries()) == 2  # reserve, commit


def test_one_device_takes_part_and_recommends_for_itself(federation, tmp_path) -> None:
    """The command itself, as a process: ratings in a csv, a list out, nothing of the
    ratings at the servers."""
    ratings = sample(people=8, ratings=160, seed=9)
    f = federation(ratings, method="popularity", cohort=2, least=2)
    f.start()
    homes = []
    for person in range(2):
        cells = ratings.row(person)
        mine = tmp_path / f"mine-{person}.csv"
        lines = [
            f"{ratings.items[i]},{v:g}"
            for i, v in zip(ratings.item[cells], ratings.value[cells], strict=True)
        ]
        mine.write_text("item,rating\n" + "\n".join(lines) + "\n")
        homes.append((mine, tmp_path / f"home-{person}"))
    devices = []
    for mine, home in homes:
        words = [
            "federate",
            "device",
            "--recommender",
            f.url["recommender"],
            "--ratings",
            str(mine),
            "--home",
            str(home),
            "--pin",
            f.pin["recommender"],
            "--accept-unbounded",
            "--recommend",
            "3",
            "--json",
        ]
        told = tmp_path / f"{home.name}.json"
        errors = tmp_path / f"{home.name}.log"
        devices.append((Forked(words, told, errors=errors), told, errors))
    for device, told, errors in devices:
        assert device.wait(PATIENCE) == 0, errors.read_text()[-2000:]
        assert len(json.loads(told.read_text())["recommendations"]) == 3
    assert all((home / "device.json").stat().st_mode & 0o777 == 0o600 for _, home in homes)
