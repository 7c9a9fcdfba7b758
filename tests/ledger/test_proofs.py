"""Every promise has a page that proves it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tacit.ledger.statement.document import proofs, proven
from tacit.methods import METHODS

ROOT = Path(__file__).parents[2]


def said(method: str, **more: object) -> SimpleNamespace:
    known = {"published": "model", "events": (), "engine": "threads"}
    known |= {"schedule": None, "certified": "certified", "method": method}
    return SimpleNamespace(**known | more)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_a_page(method):
    found = proofs(said(method))
    assert len(found) == 2
    assert all((ROOT / page).is_file() for page in found)


def test_figures_and_federations_have_theirs():
    found = proofs(said("ease", engine="federated", published="figures"))
    assert "docs/proofs/release.md" in found
    assert "docs/proofs/federated.md" in found
    assert all((ROOT / page).is_file() for page in found)


def test_a_method_of_somebody_else_names_none():
    assert proofs(said("theirs")) == ()
    assert "maker" in proven(said("theirs"))
