"""Ratings on a cluster: models equal to those of threads, whatever happens to executors.

Spark takes half a minute to start, so all of it is one process (`cluster.py`) with two
executors. TACIT_FULL=1 fits every method whose row lists spark, and kills an executor in
every kind of round.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.methods import METHODS, find

HERE = Path(__file__).parent
FULL = bool(os.environ.get("TACIT_FULL"))
LISTED = [name for name in METHODS if "spark" in find(name).engines]
METHODS_HERE = LISTED if FULL else ["ease"]
STRUCK = ["bias:sum", "covariance-svd:matrix", "mf-sgd:coin"] if FULL else []
MASTER = "local-cluster[2,1,768]"
LONGEST = 1500 if FULL else 240
"""Seconds: a busy machine must not turn a slow start into a failure."""


@pytest.fixture(scope="module")
def found(spark_path: str, tmp_path_factory: pytest.TempPathFactory):
    """What `cluster.py` says of every case."""
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, str(HERE / "cluster.py"), MASTER]
    command += ["--methods", ",".join(METHODS_HERE)]
    command += ["--struck", ",".join(STRUCK), "--personal"]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": spark_path, "TACIT_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", METHODS_HERE)
def test_a_model_of_a_cluster_is_that_of_threads_bit_for_bit(found, name):
    assert found[name]["equal"]


@pytest.mark.parametrize("name", STRUCK)
def test_an_executor_that_is_killed_changes_no_bit(found, name):
    assert found[name]["struck"] >= 1
    assert found[name]["equal"]


def test_what_people_keep_outlives_an_executor(found):
    assert found["personal:state"]["struck"] >= 1
    assert found["personal:state"]["equal"]


def test_every_row_of_the_table_that_lists_spark_is_known_here():
    assert "bias" in LISTED
    assert "svd-output" not in LISTED
    assert len(LISTED) == 15
