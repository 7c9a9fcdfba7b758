"""A book or a population that is begun: its place or its name may be mistyped."""

from __future__ import annotations

import difflib

from tacit.notices import noted, notice


def tell_begun(location: str, population: str, populations: list[str]) -> None:
    """Notify, before the first entry of a population is written, that a new account begins.

    `populations` are the others in this ledger. In Python the first one begins without a notice."""
    if not populations:
        noted(f"a new ledger is begun at {location}, without a cap")
        return
    message = (
        f"a new population {population!r} is begun, without a cap and apart from the others; "
        f"{suggest_population(population, populations)}"
    )
    noted(message)
    notice(message)


def suggest_population(population: str, populations: list[str]) -> str:
    """Phrase for an error: which existing population may have been meant."""
    near = difflib.get_close_matches(population, populations, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(repr(name) for name in populations)}"
