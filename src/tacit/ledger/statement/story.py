"""A statement told in numbered sentences of plain English."""

from __future__ import annotations

import textwrap

from tacit.ledger.statement import words
from tacit.ledger.statement.statement import Statement

_WIDTH = 96
_TITLE = {
    "certified": "CERTIFIED",
    "claimed": "CLAIMED, NOT CERTIFIED",
    "not private": "NOT PRIVATE",
}


def tell(statement: Statement) -> str:
    """The whole statement, set for a terminal."""
    lines = [f"Privacy statement: {_TITLE[statement.certified]}", ""]
    for number, (first, *items) in enumerate(_paragraphs(statement), start=1):
        lines += textwrap.wrap(
            first,
            _WIDTH,
            initial_indent=f"{number:>2}. ",
            subsequent_indent="    ",
        )
        for item in items:
            lines += textwrap.wrap(
                item,
                _WIDTH,
                initial_indent="    - ",
                subsequent_indent="      ",
            )
    return "\n".join(lines)


def _promise(s: Statement) -> str:
    unit = f"the unit `{s.unit}` ({words.UNIT_WORDS[s.unit]})"
    if s.certified == "certified":
        return (
            f"The published model is ({s.epsilon:g}, {s.delta:g})-differentially "
            f"private for {unit}."
        )
    if s.certified == "claimed":
        claim = (
            "a privacy level"
            if s.claimed_epsilon is None
            else f"epsilon {s.claimed_epsilon:g}"
        )
        at = f" at delta {s.claimed_delta:g}" if s.claimed_delta else ""
        return (
            f"The authors of the method claim {claim}{at} for {unit}. Tacit does not "
            f"certify this: {s.reason}."
        )
    return f"This result is NOT PRIVATE and promises nothing to anyone: {s.reason}."


def _paragraphs(s: Statement) -> list[list[str]]:
    """What follows the first text of a paragraph is a list."""
    told = [[_promise(s)]]
    if s.certified == "certified":
        told.append(
            [
                f"Two data sets that must look alike differ in this: {s.neighbours}."
            ]
        )
        told.append([s.joint])
        pairs = "; ".join(
            f"epsilon {epsilon:.4g} at delta {delta:g}"
            for epsilon, delta in s.profile
        )
        told.append([f"All of these hold at once: {pairs}."])
    if s.certified != "not private":
        told.append([f"Trust. {s.trust}"])
    told.append(
        [
            f"The method is `{s.method}`, calibration `{s.calibration}`, engine `{s.engine}`."
        ]
    )
    if s.outside:
        told.append([*s.outside])
    title = (
        "What was released, by which mechanism, on the inner scale of width 4:"
    )
    for heading, items in (
        (title, tuple(words.mechanism(event) for event in s.events)),
        ("What one person can add at most:", s.per_person),
        ("How settings were chosen:", s.settings),
        ("Assumed public:", s.public),
        (
            "Not protected:",
            s.not_protected if s.certified == "certified" else (),
        ),
    ):
        if items:
            told.append([heading, *items])
    if s.purpose:
        told.append([f"Purpose: {s.purpose}."])
    if s.book_head is not None:
        told.append(
            [
                (
                    f"Charged to the population `{s.population}` as entry {s.book_number} of "
                    f"its book: {s.book_head}."
                )
            ]
        )
    told.append([f"Made with tacit {s.software}."])
    return told
