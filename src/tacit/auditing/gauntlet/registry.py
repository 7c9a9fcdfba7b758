"""All attacks of the gauntlet by name, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable

from tacit.auditing.gauntlet import (
    calandrino,
    cohorts,
    existence,
    floating,
    fork,
    linkage,
    membership,
    raifle,
    raw_means,
    reconstruction,
    refreshes,
    rollback,
    timing,
)
from tacit.auditing.gauntlet.exhibit import Cell, Exhibit

ATTACKS: dict[str, Callable[[Exhibit], Cell]] = {
    module.NAME: module.attack
    for module in (
        linkage,
        calandrino,
        membership,
        reconstruction,
        raw_means,
        existence,
        refreshes,
        cohorts,
        raifle,
        floating,
        fork,
        rollback,
        timing,
    )
}
"""An attack is a function of an exhibit: a finding, or why it does not apply."""
