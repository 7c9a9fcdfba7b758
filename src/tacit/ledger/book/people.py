"""Whose people: which other populations a release touches, and whether a cap lets it.

Guarantee: where a cap holds here or there, neither the same data under another name nor a
release that builds on another population's is charged before the owner has said that these
are other people, which is an entry. A refusal that rests on marks depends on who is in the
data and is for the owner alone (docs/sharp-edges.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tacit.errors import BudgetError
from tacit.ledger.book.chain import Chain, append, describe_location, load
from tacit.ledger.book.store import Session, Store

REMEDY = (
    "charge the population that these people belong to, or give --other-people if they "
    "are other people, which the book will note"
)


def unsettled(store: Store, session: Session, chain: Chain, names: Iterable[str]) -> list[str]:
    """Those of `names` that neither ledger declares to be other people than this chain's."""
    declared = {name for entry in chain.entries for name in entry.others or ()}
    candidates = sorted(set(names) - declared - {chain.population})
    return [
        name
        for name in candidates
        if not _declares_other_people(store, session, name, chain.population)
    ]


def admit_people(
    store: Store,
    session: Session,
    chain: Chain,
    *,
    same_data: Sequence[str],
    built_on: Sequence[str],
    other_people: bool,
    write: bool = True,
) -> None:
    """Refuse a second population beside a cap, or record the owner's declaration.

    `same_data`: populations charged for the same data; `built_on`: populations whose releases this
    one builds on."""
    other_populations = tuple(sorted({*same_data, *built_on}))
    if not other_populations:
        return
    if other_people:
        if write:
            append(store, session, chain, {"kind": "people", "others": other_populations})
        return
    if not _capped(store, session, [chain.population, *other_populations]):
        return
    reason = (
        f"the same data were charged to {listed(same_data)}"
        if same_data
        else f"this fit builds on a release of {listed(built_on)}"
    )
    raise BudgetError(
        f"{reason}, and a cap holds: under another name nothing would count",
        place=describe_location(store, chain.population),
        remedy=REMEDY,
    )


def listed(populations: Iterable[str]) -> str:
    """Quoted names for a message."""
    return ", ".join(repr(name) for name in populations)


def _declares_other_people(store: Store, session: Session, name: str, of: str) -> bool:
    return any(of in (entry.others or ()) for entry in load(store, session, name).entries)


def _capped(store: Store, session: Session, names: Iterable[str]) -> bool:
    return any(
        entry.kind == "cap" for name in names for entry in load(store, session, name).entries
    )
