"""The page and the example, on Spark: with TACIT_FULL=1, because each command starts a
session of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FULL = bool(os.environ.get("TACIT_FULL"))
pytestmark = pytest.mark.skipif(not FULL, reason="minutes: TACIT_FULL=1")


@pytest.fixture
def run(spark_path, tmp_path):
    """Run a command in a folder of its own."""

    def command(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": spark_path, "TACIT_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return command


def test_the_lines_of_the_page_run(run, tmp_path):
    run(str(ROOT / "examples" / "invent.py"), "--people", "200")
    page = (ROOT / "docs" / "spark.md").read_text("utf-8")
    lines = re.search(r"```sh\n(.*?)```", page, re.S)[1].splitlines()
    assert len(lines) == 3
    said = [run("-m", *shlex.split(line)) for line in lines]
    assert "spark" in run("-m", "tacit", "statement", "model")
    assert list((tmp_path / "lists.parquet").glob("*.parquet"))
    assert "rmse" in said[2]


SHOP = "Customer No;Article;Satisfaction;Date\n"


@pytest.mark.parametrize("time", ["Date", "none"])
def test_a_table_as_shops_have_it(run, tmp_path, time):
    written = "0%d.02.2024" if time == "Date" else "Feb %d"
    rows = [
        f"K{k};W{j};{1 + (k + j) % 4},5;{written % (1 + j)}\n" for k in range(20) for j in range(5)
    ]
    (tmp_path / "shop.csv").write_text(SHOP + "".join(rows))
    words = ["tacit", "fit", "shop.csv", "--engine", "spark", "--method", "bias"]
    words += ["--scale", "1,5", "--epsilon", "5", "--users", "20"]
    words += ["--decimal", ",", "--dates", "dmy"]
    words += ["--columns", f"rating=Satisfaction,time={time}", "--out", "model"]
    run("-m", *words)
    assert (tmp_path / "model" / "model.json").is_file()


def test_the_example_runs(run, tmp_path):
    said = run(str(ROOT / "examples" / "cluster.py"))
    assert "holds the ratings on a cluster" in " ".join(said.split())
    assert (tmp_path / "cluster.sqlite").is_file()
