"""What papers claim: what is false falls to its attack, and the same attack does not refute
what holds. Slow ones run at the judged size only."""

from __future__ import annotations

import pytest

from tacit.auditing.verdict import NEVER
from tacit.papers.attacks.registry import CLAIMS, Audited

QUICK = (
    "covariance in L1",
    "covariance in L2",
    "S1 at 1",
    "S1 for fixed people",
    "PNBM means",
    "PNBM gradient",
    "DPSS biases",
    "DPSS existence",
    "posterior law at temperature 0.006",
    "posterior law at temperature 1",
    "PSGD averages",
    "k + 1 rounds",
    "k rounds",
)
"""Some of each kind: a second or two each."""
BY_NAME = {claim.name: claim for claim in CLAIMS}


@pytest.mark.parametrize("name", QUICK)
def test_what_is_false_falls_and_what_holds_does_not(name: str) -> None:
    claim = BY_NAME[name]
    # A claim that holds must never fall by chance; one that is false may take the usual 5 %
    # level, at which its attack is far beyond the claim.
    mistake = NEVER if claim.expected == "true" else 1e-4
    done = Audited(claim, claim.audit(mistake, quick=True))
    assert done.as_expected, done.finding.verdict_text


def test_the_law_at_a_temperature_is_sharper_by_what_it_divides() -> None:
    """epsilon/(8 rho) between a person who gives 1 throughout and one who gives 5."""
    claim = BY_NAME["posterior law at temperature 0.006"]
    measured = claim.audit(NEVER).measured
    assert measured == pytest.approx(20 / (8 * 0.006), rel=1e-3)


def test_every_claim_says_what_it_is_about() -> None:
    assert len(BY_NAME) == len(CLAIMS)
    for claim in CLAIMS:
        assert claim.sentence
        assert claim.relation
        assert claim.expected in ("false", "open", "true")


def test_all_claims_that_derivation_calls_false_fall(full: bool) -> None:
    if not full:
        pytest.skip("minutes: TACIT_FULL=1")
    from tacit.papers.attacks.registry import audit_claims

    assert all(done.as_expected for done in audit_claims())
