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
    claim = (statement.method, statement.unit, statement.calibration)
    return [finding for finding in audit if tuple(finding.get(name) for name in CLAIM) == claim]


def lead(statement: Statement, findings: Findings) -> str:
    """What was attacked: never this very fit, and not always at its epsilon."""
    s = statement
    text = (
        f"Fits of the same method (`{s.method}`, unit `{s.unit}`, calibration "
        f"`{s.calibration}`) on invented people, not this model. "
    )
    release_epsilon = s.epsilon if s.epsilon is not None else s.claimed_epsilon
    other_epsilons = {finding.get("claimed") for finding in findings} - {release_epsilon}
    if other_epsilons and release_epsilon is not None:
        at = ", ".join(sorted(_number(finding) for finding in other_epsilons))
        text += f"They were made at epsilon {at}; this release is at {release_epsilon:g}. "
    return (
        text + "An attack can refute a promise and never prove one. What is computed follows "
        "from the law of the noise and was seen in no fit."
    )


def rows(findings: Findings) -> tuple[tuple[str, ...], ...]:
    """One for each attack. Without a chance of a mistake a figure was computed."""
    return tuple(_row(finding) for finding in findings)


def _row(finding: Mapping[str, Any]) -> tuple[str, ...]:
    figure = _number(finding.get("measured"))
    computed = finding.get("mistake") == 0
    return (
        str(finding.get("attack", "")),
        _number(finding.get("claimed")),
        "–" if computed else figure,
        figure if computed else "–",
        str(finding.get("verdict", "")),
    )


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else "–"
