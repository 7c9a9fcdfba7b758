"""Certificates, pinned identities and new keys of a federation, with real processes."""

from __future__ import annotations

import asyncio
import http.client
import json
import sqlite3
import ssl
import time

import numpy as np
import pytest
from forked import Forked
from patience import PATIENCE

from tacit.data.sample import sample
from tacit.errors import Failure


def test_training_over_tls_believes_certificates_and_pins_alone(
    federation, small, tmp_path, authority
) -> None:
    ca, certificate, key = authority(tmp_path, "right")
    other, _, _ = authority(tmp_path, "wrong")
    tls = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    f = federation(
        small.ratings, **small.faultless, aggregator=tls, tls_cert=certificate, tls_key=key, ca=ca
    )
    f.url = {role: f"https://127.0.0.1:{port}" for role, port in f.port.items()}
    f.context = ssl.create_default_context(cafile=ca)
    f.start()
    with pytest.raises((Failure, OSError)):  # a certificate by someone else
        asyncio.run(asyncio.wait_for(f.fleet(ca=str(other)), PATIENCE))
    pinned = dict(f.pin)
    f.pin["recommender"] = f.pin["aggregator"]  # the certificate is right, the identity is not
    with pytest.raises(Failure, match="pinned"):
        asyncio.run(asyncio.wait_for(f.fleet(ca=str(ca)), PATIENCE))
    f.pin = pinned
    f.train_through(ca=str(ca))
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
    f.url["aggregator"] = f.url["aggregator"].replace("https", "http")
    with pytest.raises((http.client.HTTPException, OSError)):  # nothing is said without TLS
        f.get("aggregator", "/healthz")


# ------------------------------------------------------------------ keys


def stored(f, role: str, query: str) -> list[tuple]:
    connection = sqlite3.connect(f.home[role] / f"{role}.sqlite", timeout=30)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("asked", [None, 50.0])
def test_a_device_that_is_killed_comes_back_and_later_takes_a_new_key(
    federation, tmp_path, full, asked
) -> None:
    """Two device processes: neither pays for more rounds than there were, nor enrols a
    second time; also where the one asked for less to be revealed."""
    if not full:
        pytest.skip("a third of a minute: only with scripts/test --full")
    from tacit.ledger.book.devices import DeviceBooks

    people = sample(people=2, ratings=60, seed=9)
    settings = {"factors": 2, "rounds": 8, "turns": 8, "cohort": 2}
    f = federation(
        people,
        method="mf-federated",
        calibration="sound",
        epsilon=400,
        delta=1e-4,
        cohort=2,
        least=2,
        honest=0.5,
        set=settings,
    )
    f.start()
    device_log = tmp_path / "devices.log"

    def device(person: int, *more: str) -> Forked:
        cells, mine = people.row(person), tmp_path / f"mine-{person}.csv"
        lines = [
            f"{people.items[i]},{v:g}"
            for i, v in zip(people.item[cells], people.value[cells], strict=True)
        ]
        mine.write_text("item,rating\n" + "\n".join(lines) + "\n")
        command = [
            "federate",
            "device",
            "--recommender",
            f.url["recommender"],
            "--ratings",
            mine,
            "--home",
            tmp_path / f"home-{person}",
            "--pin",
            f.pin["recommender"],
            "--aggregator-pin",
            f.pin["aggregator"],
            "--cap",
            "500",
            "--cap-delta",
            "1e-4",
            *more,
        ]
        return Forked([*map(str, command)], device_log)

    def reach(number: int) -> None:
        until = time.monotonic() + PATIENCE
        while f.get("recommender", "/v1/status")["round"] < number:
            assert time.monotonic() < until, f.log("recommender")[-2000:]
            time.sleep(0.01)

    own = [] if asked is None else ["--own-epsilon", str(asked)]
    steady, shaky = device(0), device(1, *own)
    reach(2)
    shaky.kill()
    shaky.wait()
    before = stored(f, "aggregator", "SELECT id, public FROM device ORDER BY id")
    shaky = device(1, "--rotate-key", *own)
    for process in (steady, shaky):
        assert process.wait(PATIENCE) == 0, device_log.read_text()[-2000:]
    after = stored(f, "aggregator", "SELECT id, public FROM device ORDER BY id")
    assert [row[0] for row in before] == [row[0] for row in after]
    assert sum(one != two for one, two in zip(before, after, strict=True)) == 1
    assert f.model().statement.certified == "certified"
    price = f.model().statement.epsilon
    for person, most in (
        (0, price),
        (1, 2.0 * (asked or price)),
    ):  # a turn that was paid but not sent is wasted
        books = DeviceBooks(1, (500, 1e-4), tmp_path / f"home-{person}" / "ledger")
        assert 0 < books.spent(0) <= most * 1.001
        books.close()


@pytest.mark.parametrize("identity", ["another", "the recommender's own"])
def test_a_device_wants_the_aggregator_that_it_pinned(federation, small, identity) -> None:
    """The recommender names the aggregator: it must not be able to name itself."""
    f = federation(small.ratings, method="popularity", cohort=2, least=2)
    pin = None
    if identity == "another":
        pin = "00" * 32
    else:
        f.pin["aggregator"] = f.pin["recommender"]
        f.home["aggregator"] = f.home["recommender"]
    f.start()
    with pytest.raises(Failure, match="aggregator"):
        asyncio.run(asyncio.wait_for(f.fleet(aggregator_pin=pin), PATIENCE))


def test_new_exchange_keys_need_no_restart_and_no_enrolment(federation, small) -> None:
    f = federation(small.ratings, **small.faultless)
    f.start()

    def rotate(role: str) -> None:
        command = ["federate", "identity", "--home", str(f.home[role]), "--rotate"]
        told = f.folder / f"rotated-{role}"
        assert Forked(command, told).wait(PATIENCE) == 0, told.read_text()
        assert told.read_text().strip() == f.pin[role]  # the identity stays
        before = json.loads((f.home[role] / "identity.json").read_text())["exchange"]
        assert len(before) == 2
        assert len(f.get(role, "/v1/keys")["exchange"]) == 2  # the running server shows it

    f.train_through(lambda: rotate("aggregator"), lambda: rotate("recommender"))
    assert np.array_equal(f.model().shared.arrays["loadings"], small.expected)
