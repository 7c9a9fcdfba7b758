"""A book or a population that is begun: its place or its name may be mistyped."""

from __future__ import annotations

import difflib

from tacit.spoken import noted, notice


def tell_begun(place: str, population: str, known: list[str]) -> None:
    """Say so before the first entry of a population is written, whoever writes it; `known`
    are the others at this place. In Python the first one is begun in silence."""
    if not known:
        noted(f"a new ledger is begun at {place}, without a cap")
        return
    told = (
        f"a new population {population!r} is begun, without a cap and apart from the others; "
        f"{meant(population, known)}"
    )
    noted(told)
    notice(told)


def meant(population: str, known: list[str]) -> str:
    """Which population may have been meant."""
    near = difflib.get_close_matches(population, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(repr(name) for name in known)}"
