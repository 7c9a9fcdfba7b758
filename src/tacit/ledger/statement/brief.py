"""A statement in a few lines: what stands, what it cost, and what was spent in all."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.ledger.account.rounded import up
from tacit.ledger.statement.statement import Statement
from tacit.ledger.statement.words import count


def brief(statement: Statement) -> list[str]:
    """For whoever has just made it."""
    return [_summary(statement), *_totals(statement)]


def _totals(statement: Statement) -> Iterable[str]:
    """What the population has spent with this fit, and what its chain of starts costs."""
    total = statement.total
    if total is not None:
        cap = ""
        if total.cap is not None:
            cap = f"; its cap is {total.cap:g} at delta {total.cap_delta:g}"
        yield (
            f"in all {statement.population!r} has spent epsilon {up(total.epsilon)} "
            f"at delta {total.delta:g}, over {count(total.entries, 'release')}{cap}"
        )
    if statement.chain_epsilon is not None:
        yield (
            "with all that it builds on it costs somebody who is in every one of them "
            f"epsilon {up(statement.chain_epsilon)} at delta {statement.delta:g}"
        )


def _summary(statement: Statement) -> str:
    """Two lines: what stands, and what it cost."""
    if statement.standing == "certified":
        return (
            f"certified: ({statement.epsilon:.12g}, {statement.delta:.12g})-differentially "
            f"private, unit {statement.unit}; "
            f"charged as entry {statement.book_number} of {statement.population!r}"
        )
    if statement.certified == "claimed":
        return f"CLAIMED, NOT CERTIFIED: {statement.reason}"
    return f"NOT PRIVATE: {statement.reason}"
