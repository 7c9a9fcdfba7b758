"""A verdict on a model as a document: what was checked, what was found, and what that means."""

from __future__ import annotations

from tacit.ledger.software import software
from tacit.ledger.statement.document import Document, Section, TextTable
from tacit.ledger.statement.statement import Statement

MEANS = (
    "The folder is whole: every array and every word has the digest that was signed.",
    "The statement was signed by the key that was asked about, and for these arrays.",
    "With a ledger: the charge stands in it, and the ledger is not older than the statement.",
)
NOT = (
    "That the promise itself holds: that follows from its proof, which the statement names.",
    "That nothing else was published about the same people outside of this ledger.",
)


def verdict_document(statement: Statement, holds: bool, why: str) -> Document:
    """The document of one check."""
    s = statement
    found = "verified" if holds else "NOT VERIFIED"
    epsilon = s.epsilon if s.epsilon is not None else s.claimed_epsilon
    rows = [
        ("method", s.method),
        ("who is protected", s.unit),
        ("epsilon", "none" if epsilon is None else f"{epsilon:g}"),
        ("delta", "none" if s.delta is None else f"{s.delta:g}"),
        ("standing", s.standing if holds else "not checked"),
        ("population", s.population or "not named"),
        ("entry of its ledger", str(s.book_number or "none")),
        ("checked against", s.checked or "nothing"),
    ]
    sections: tuple[Section, ...] = (
        ("What was found", (f"{found}: {why}.",)),
        ("The model", (TextTable(("", "its statement says"), tuple(rows)),)),
        ("What a check shows", (MEANS,)),
        ("What it does not show", (NOT,)),
    )
    return Document(
        title="Is this model the one that was paid for?",
        lead="A model says of itself what its maker likes. This page says what was checked.",
        notice="" if holds else f"NOT VERIFIED: {why}",
        cards=((found, f"the model of {s.method}"),),
        warn=not holds,
        sections=sections,
        annex=(),
        footer=f"Made with tacit {software()} by `tacit verify`.",
    )
