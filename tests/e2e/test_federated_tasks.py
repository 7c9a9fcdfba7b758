"""Several trainings in one recommender: one store, one identity, one port, the same devices."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest
from click.testing import CliRunner
from patience import PATIENCE

from tacit.cli.federate.admin import admin
from tacit.cli.federate.serve import further
from tacit.data.sample import sample
from tacit.errors import SettingError
from tacit.federation.protocol.keys import new_exchange
from tacit.methods import find
from tacit.model.model import load

PEOPLE = 12
TRAININGS = """
[[training]]
method = "bias"
out = "{out}/bias"

[[training]]
method = "mf-federated"
purpose = "never ends: nobody comes"
out = "{out}/nobody"
set = {{ factors = 3, rounds = 2 }}
"""


@pytest.fixture
def several(federation, tmp_path):
    """`popularity` by the command line, and two more by the file."""
    ratings = sample(people=PEOPLE, ratings=200, seed=8)
    also = tmp_path / "also.toml"
    also.write_text(TRAININGS.format(out=tmp_path))
    f = federation(ratings, cohort=PEOPLE, least=PEOPLE, also=also)
    f.start()
    f.names = {method: name for name, method in f.get("recommender", "/v1/tasks")["tasks"].items()}
    return f


def listed(where: list[str]) -> str:
    return CliRunner().invoke(admin, ["list", *where]).output


def expected(method: str, ratings) -> dict[str, np.ndarray]:
    made = find(method)(calibration="none", engine="federated")
    return made.fit(ratings, users=PEOPLE).model_.shared.arrays


def test_the_same_devices_train_two_models_at_once_through_a_death(several, tmp_path) -> None:
    """The recommender dies when one is done and the other is not; both models are those of
    trainings by themselves, and the third training has not moved."""
    f = several
    keys = [new_exchange()[0] for _ in range(PEOPLE)]

    async def both() -> None:
        first = asyncio.create_task(f.fleet(task=f.names["bias"], privates=keys, rounds=1))
        await asyncio.wait_for(first, PATIENCE)
        await asyncio.to_thread(f.kill, "recommender")
        await asyncio.to_thread(f.start, "recommender")
        reports = await asyncio.gather(
            f.fleet(task=f.names["bias"], privates=keys), f.fleet(privates=keys)
        )
        assert not any(report.failed for report in reports)

    asyncio.run(asyncio.wait_for(both(), PATIENCE))
    f.published()
    f.published(task=f.names["bias"])
    for method, out in (("popularity", f.out), ("bias", tmp_path / "bias")):
        found = load(out).shared.arrays
        for name, array in expected(method, f.ratings).items():
            assert np.array_equal(found[name], array), (method, name)
    idle = f.get("recommender", f"/v1/status/{f.names['mf-federated']}")
    assert (idle["round"], idle["finished"]) == (0, False)


def test_one_training_is_ended_and_the_others_go_on(several) -> None:
    f = several
    where = ["--server", "recommender", "--home", str(f.home["recommender"])]
    until = time.monotonic() + PATIENCE
    while not all(name in listed(where) for name in f.names.values()):
        assert time.monotonic() < until  # they enter the store one by one
    ended = f.names["mf-federated"]
    order = ["abort", *where, "--task", ended[:8], "--reason", "not needed"]
    assert CliRunner().invoke(admin, order).exit_code == 0
    while f.get("recommender", f"/v1/status/{ended}")["stopped"] is None:
        assert time.monotonic() < until  # obeyed within a second or two
    refused = asyncio.run(asyncio.wait_for(f.fleet(task=ended), PATIENCE))
    assert len(refused.failed) == PEOPLE
    assert "not needed" in refused.failed[0]
    f.train()
    assert f.get("recommender", "/healthz")["ok"]
    with pytest.raises(Exception, match="no such task"):
        asyncio.run(f.fleet(task="ab" * 16))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[[training]]\nmethod = 'bias'", "needs method and out"),
        ("[[training]]\nmethod = 'bias'\nout = 'x'\nport = 3", "`port`"),
        ("[[training]]\nmethod = 'bias'\nout = 'x'\nusers = 'many'", "`users`"),
        ("[training]\nmethod = 'bias'", "`training`"),
        ("method = ", "not proper TOML"),
    ],
)
def test_a_list_of_trainings_that_is_none_is_refused(tmp_path, text, match) -> None:
    path = tmp_path / "also.toml"
    path.write_text(text)
    with pytest.raises(SettingError, match=match):
        further({"also": str(path), "method": "popularity"})


def test_another_method_takes_over_no_budget(tmp_path) -> None:
    path = tmp_path / "also.toml"
    path.write_text("[[training]]\nmethod = 'bias'\nout = 'x'\n")
    own = {"also": str(path), "method": "popularity", "epsilon": 3.0}
    (found,) = further({**own, "settings": ("even=9",), "users": 5})
    assert (found["epsilon"], found["settings"], found["users"]) == (None, (), 5)
