"""A population that is begun beside others: its name may be mistyped."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from tacit.ledger.book.chain import Chain, sealed_populations
from tacit.spoken import notice

if TYPE_CHECKING:
    from tacit.ledger.book.store import Session, Store


def tell_begun(store: Store, session: Session, chain: Chain) -> None:
    """Say so before the first entry of a population is written beside others. The command
    line says it before a rating is read."""
    if chain.entries:
        return
    known = sealed_populations(store, session)
    if known:
        notice(begun(chain.population, known))


def begun(population: str, known: list[str]) -> str:
    """What is said of it."""
    return (
        f"a new population {population!r} is begun, without a cap and apart from the others; "
        f"{meant(population, known)}"
    )


def meant(population: str, known: list[str]) -> str:
    """Which population may have been meant."""
    near = difflib.get_close_matches(population, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(repr(name) for name in known)}"
