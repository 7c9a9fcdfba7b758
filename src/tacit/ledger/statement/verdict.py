"""A verdict on a model as a document: what was checked, what was found, and what that means."""

from __future__ import annotations

from datetime import UTC, datetime

from tacit.ledger.account.rounded import up
from tacit.ledger.software import software
from tacit.ledger.statement.composed import read_total
from tacit.ledger.statement.document import Document, Section, TextTable
from tacit.ledger.statement.statement import Statement, Total

MEANS = (
    "The folder is whole: every array and every word has the digest that was signed.",
    "The statement was signed by the key that was asked about, and for these arrays.",
    "With a ledger: the charge stands in it, and the ledger is not older than the statement.",
)
NOT = (
    (
        "That the promise itself holds: that follows from its proof, which the annex of the "
        "statement names (`tacit statement MODEL --out statement.html`)."
    ),
    "That nothing else was published about the same people outside of this ledger.",
)


def verdict_document(
    statement: Statement, holds: bool, why: str, *, digest: str, current_total: Total | None = None
) -> Document:
    """The document of one check. `digest` is that of the model that was looked at; `current_total`
    the total of today, where the book was at hand."""
    s = statement
    outcome = "verified" if holds else "NOT VERIFIED"
    epsilon = s.epsilon if s.epsilon is not None else s.claimed_epsilon
    rows = [
        ("method", s.method),
        ("who is protected", s.unit),
        ("epsilon", "none" if epsilon is None else f"{epsilon:g}"),
        ("delta", "none" if s.delta is None else f"{s.delta:g}"),
        ("standing", s.standing if holds else "not checked"),
        ("population", s.population or "not named"),
        ("entry of its ledger", str(s.book_number or "none")),
        ("hash of that entry", s.book_head or "none"),
        ("SHA-256 of what was signed", s.artefact or "none"),
        ("public key that signed", s.signer or "none"),
    ]
    looked = (
        ("SHA-256 of the model", digest),
        ("date of the check", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("checked against", s.checked or "nothing"),
        ("running total", _total(s, current_total)),
    )
    sections: tuple[Section, ...] = (
        ("What was found", (f"{outcome}: {why}.",)),
        ("The check", (TextTable(("", "what was looked at"), looked),)),
        ("The model", (TextTable(("", "its statement says"), tuple(rows)),)),
        ("What a check shows", (MEANS,)),
        ("What it does not show", (NOT,)),
    )
    return Document(
        title="Is this model the one that was paid for?",
        lead="A model says of itself what its maker likes. This page says what was checked.",
        notice="" if holds else f"NOT VERIFIED: {why}",
        cards=((outcome, f"the model of {s.method}"),),
        warn=not holds,
        sections=sections,
        annex=(),
        footer=f"Made with tacit {software()} by `tacit verify`.",
    )


def _total(s: Statement, current_total: Total | None) -> str:
    """What these people have borne in all, and as of when."""
    total = current_total or s.total
    if total is None:
        return "not known"
    epsilon, delta = read_total(total)
    cap = "" if total.cap is None else f", of a cap of {total.cap:g}"
    when = f"when it was made (entry {s.book_number})"
    if current_total is not None:
        when = "today, by the ledger"
    bare = f"; {total.uncovered} more have no bound" if total.uncovered else ""
    return f"epsilon {up(epsilon)} at delta {delta:g}{cap}, {when}{bare}"
