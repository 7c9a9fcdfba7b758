"""Statements of printed papers: the authors' own number, once, and short."""

from __future__ import annotations

import warnings

import pytest

import tacit
from tacit import sample
from tacit.fitting.run import fit
from tacit.methods import find, names

PAPERS = [name for name in names() if "paper" in find(name).calibrations]
MOST_LINES = 200
QUICK = {"pnbm-langevin": {"rounds": 30}}
"""Fewer of the steps that a chain has by default."""
EPSILON = 0.8


@pytest.fixture(scope="module")
def ratings():
    return sample(people=40, ratings=800, seed=2)


def test_there_are_papers():
    assert len(PAPERS) >= 15


@pytest.mark.fresh_noise
@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_claims_what_was_asked_in_few_lines(name, ratings, tmp_path):
    """Break 8: no sum over rounds ("epsilon 16160" for .8), no line for each of them."""
    method = find(name)(
        epsilon=EPSILON, calibration="paper", ledger=str(tmp_path / "book"), **QUICK.get(name, {})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = fit(method, ratings, users=40).statement
    assert said.certified == "claimed"
    assert said.claimed_epsilon == EPSILON
    told = str(said)
    assert f"claim epsilon {EPSILON:g} " in " ".join(told.split())
    assert len(told.splitlines()) <= MOST_LINES
    assert said.signature is not None
    assert tacit.open_book(str(tmp_path / "book")).find(said.artefact)
