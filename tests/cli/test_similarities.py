"""Learned similarities leave a model as pairs, and serve plain neighbours through `--start`."""

from __future__ import annotations

import json

import polars as pl
import pytest


@pytest.fixture
def learned(tacit, table, tmp_path):
    args = (
        "--scale",
        "1,5",
        "--users",
        30,
        "--epsilon",
        50,
        "--set",
        "items=10",
        "--out",
        tmp_path / "learned",
    )
    assert tacit("fit", table, "--method", "pnbm-sgd", *args).status == 0
    return tmp_path / "learned"


def test_similarities_are_written_as_pairs(tacit, learned, tmp_path):
    out = tmp_path / "pairs.parquet"
    seen = tacit("export", learned, "--similarities", "--to", "parquet", "--out", out, "--json")
    pairs = pl.read_parquet(out)
    assert pairs.columns == ["item", "neighbour", "similarity"]
    assert json.loads(seen.out)["pairs"] == len(pairs)


def test_plain_neighbours_start_from_them(tacit, table, learned, tmp_path):
    args = (
        "--scale",
        "1,5",
        "--users",
        30,
        "--epsilon",
        1,
        "--start",
        learned,
        "--out",
        tmp_path / "model",
        "--json",
    )
    seen = tacit("fit", table, "--method", "knn-cosine", *args)
    assert seen.status == 0
    assert "nothing is paid for them here" in " ".join(
        json.loads(seen.out)["statement"]["settings"]
    )


def test_a_model_without_similarities_says_so(tacit, table, tmp_path):
    args = ("--scale", "1,5", "--users", 30, "--epsilon", 1, "--out", tmp_path / "model")
    assert tacit("fit", table, "--method", "bias", *args).status == 0
    seen = tacit(
        "export",
        tmp_path / "model",
        "--similarities",
        "--to",
        "npz",
        "--out",
        tmp_path / "pairs.npz",
    )
    assert seen.status == 2
    assert "knn-cosine" in seen.err
