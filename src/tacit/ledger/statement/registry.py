"""A statement as a record with the fields of the OpenDP deployments registry, for
publishing what was deployed."""

from __future__ import annotations

from typing import Any

from tacit.ledger.account.event import Event, Gaussian, Reserve
from tacit.ledger.statement import words
from tacit.ledger.statement.statement import NOT_CHECKED, Statement


def registry_record(
    statement: Statement,
    *,
    deployment: str,
    curator: str,
    date: str | None = None,
) -> dict[str, Any]:
    """Plain data for JSON. Who deployed what, and when, is the caller's to say: a statement
    does not know."""
    return {
        "deployment": deployment,
        "curator": curator,
        "date": date,
        "purpose": statement.purpose,
        "status": statement.standing,
        "status_reason": _reason(statement),
        "privacy_unit": statement.unit,
        "privacy_unit_description": words.UNIT_WORDS[statement.unit],
        "neighbouring_relation": statement.neighbours,
        "per_person_bound": list(statement.per_person),
        "epsilon": statement.epsilon,
        "delta": statement.delta,
        "privacy_profile": [
            {"epsilon": epsilon, "delta": delta}
            for epsilon, delta in statement.profile
        ],
        "claimed_epsilon": statement.claimed_epsilon,
        "claimed_delta": statement.claimed_delta,
        "trust_model": {
            "engine": statement.engine,
            "description": statement.trust,
            "who_must_be_honest": list(statement.honest),
        },
        "accounting": accounting(statement),
        "mechanisms": [
            {"name": e.name, "kind": e.kind, "description": words.mechanism(e)}
            for e in statement.events
        ],
        "settings": list(statement.settings),
        "software": {
            "name": "tacit",
            "version": statement.software,
            "method": statement.method,
        },
        "public": list(statement.public),
        "not_covered": list(statement.not_protected),
        "ledger": {
            "population": statement.population,
            "entry": statement.book_number,
            "hash": statement.book_head,
        },
    }


def _reason(statement: Statement) -> str | None:
    """Why it is not certified."""
    if statement.standing == NOT_CHECKED:
        return "it says of itself that it is certified; not checked against a book or a key"
    return statement.reason


def accounting(statement: Statement) -> str:
    """Which accountant composes the events of a statement, in words."""
    if statement.certified != "certified":
        return "none: " + (statement.reason or "nothing is certified")
    if any(event.kind == "tuning" for event in statement.events):
        return (
            "Renyi accounting of the best of a secret number of trials (Papernot & Steinke "
            "2022); pure trials as one pure release"
        )
    gaussian = any(_is_gaussian(event) for event in statement.events)
    pure = any(not _is_gaussian(event) for event in statement.events)
    if statement.unit == "user" and any(
        event.sampled < 1 and _is_gaussian(event) for event in statement.events
    ):
        return "Renyi accounting of Poisson-sampled Gaussian releases, with pure releases added"
    if gaussian and pure:
        return (
            "exact composition of the Gaussian closed form with randomized responses "
            "that dominate the pure releases"
        )
    if gaussian:
        return (
            "closed form of the Gaussian mechanism over all releases (discrete noise: "
            "sigma^2 - 4)"
        )
    return "sum of epsilons at delta 0; exact composition of randomized responses above"


def _is_gaussian(event: Event) -> bool:
    return isinstance(event, Gaussian) or (
        isinstance(event, Reserve) and event.mu is not None
    )
