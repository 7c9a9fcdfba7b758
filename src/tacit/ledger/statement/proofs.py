"""Which pages prove the promise of a statement."""

from __future__ import annotations

from tacit.ledger.account.event import TuningEvent
from tacit.ledger.statement.statement import Statement

FAMILIES = {
    "popularity": "first-order",
    "bias": "first-order",
    "bayes": "bayes",
    "ease": "covariance",
    "covariance-": "covariance",
    "knn-": "covariance",
    "pnbm-": "pnbm",
    "als": "mf",
    "mf-": "mf",
    "svd": "mf",
    "one-bit": "one-bit",
}
"""How the names of methods begin, and the page of each."""


def proofs(statement: Statement) -> tuple[str, ...]:
    """Pages of the documentation; that of the method first. None for a method of another
    package, whose maker proves it."""
    s = statement
    pages = [page for name, page in FAMILIES.items() if s.method.startswith(name)]
    if s.published != "model":
        pages.append("release")
    if any(isinstance(event, TuningEvent) for event in s.events):
        pages.append("tune")
    if s.engine in ("federated", "simulate"):
        pages.append("federated")
    if s.schedule is not None:
        pages.append("calendar")
    if not pages:
        return ()
    return tuple(f"docs/proofs/{page}.md" for page in (*pages, "bounds"))


def proven(statement: Statement) -> str:
    """Where the proof stands, as a sentence."""
    paths = proofs(statement)
    if statement.certified != "certified":
        return "No proof: nothing is certified."
    if not paths:
        return "The maker of this method proves it; its package says where."
    return f"Proofs, in the documentation of tacit: {', '.join(f'`{path}`' for path in paths)}."
