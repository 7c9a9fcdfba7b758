"""What an audit says of one release: only findings about the same claim, and what was
measured apart from what was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.ledger.statement.statement import Statement

Findings = Sequence[Mapping[str, Any]]
CLAIM = ("method", "unit", "calibration")
COLUMNS = ("Attack", "Claimed", "Measured at least", "Computed, worst pair", "Verdict")


def about(statement: Statement, audit: Findings) -> Findings:
    """The findings about the method, unit and calibration of this release."""
    asked = (statement.method, statement.unit, statement.calibration)
    return [each for each in audit if tuple(each.get(name) for name in CLAIM) == asked]


def lead(statement: Statement, found: Findings) -> str:
    """What was attacked: never this very fit, and not always at its epsilon."""
    s = statement
    told = (
        f"Fits of the same method (`{s.method}`, unit `{s.unit}`, calibration "
        f"`{s.calibration}`) on invented people, not this model. "
    )
    asked = s.epsilon if s.epsilon is not None else s.claimed_epsilon
    others = {each.get("claimed") for each in found} - {asked}
    if others and asked is not None:
        at = ", ".join(sorted(_number(each) for each in others))
        told += f"They were made at epsilon {at}; this release is at {asked:g}. "
    return (
        told + "An attack can refute a promise and never prove one. What is computed follows "
        "from the law of the noise and was seen in no fit."
    )


def rows(found: Findings) -> tuple[tuple[str, ...], ...]:
    """One for each attack. Without a chance of a mistake a figure was computed."""
    return tuple(_row(each) for each in found)


def _row(each: Mapping[str, Any]) -> tuple[str, ...]:
    figure = _number(each.get("measured"))
    computed = each.get("mistake") == 0
    return (
        str(each.get("attack", "")),
        _number(each.get("claimed")),
        "–" if computed else figure,
        figure if computed else "–",
        str(each.get("verdict", "")),
    )


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else "–"
