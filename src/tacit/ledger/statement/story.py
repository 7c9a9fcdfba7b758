"""A statement told in numbered sentences of plain English."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from tacit.ledger.account.rounded import up
from tacit.ledger.statement import words
from tacit.ledger.statement.statement import Link, Statement, Total
from tacit.ledger.statement.words import count
from tacit.redaction import one_line

_WIDTH = 96
FEW = 4
"""Names that are listed one by one; of more the first and the last."""
_TITLE = {
    "certified": "CERTIFIED",
    "claimed": "CLAIMED, NOT CERTIFIED",
    "not private": "NOT PRIVATE",
}


def title(statement: Statement) -> str:
    """What stands. A folder that nobody checked is called what it calls itself, and no more."""
    status = _TITLE[statement.certified]
    if statement.certified == "certified" and statement.checked is None:
        return "SAYS OF ITSELF THAT IT IS CERTIFIED; not checked against a book"
    return status


def render_story(statement: Statement, width: int = _WIDTH) -> str:
    """The whole statement, set for a terminal."""
    lines = [f"Privacy statement: {title(statement)}", ""]
    for number, (lead, *items) in enumerate(_paragraphs(statement), start=1):
        lines += textwrap.wrap(
            one_line(lead), width, initial_indent=f"{number:>2}. ", subsequent_indent="    "
        )
        for item in items:
            lines += textwrap.wrap(
                one_line(item), width, initial_indent="    - ", subsequent_indent="      "
            )
    return "\n".join(lines)


def _promise(s: Statement) -> str:
    unit = f"the unit `{s.unit}` ({words.UNIT_WORDS[s.unit]})"
    are = f"{s.published} {'are' if s.published.endswith('s') else 'is'}"
    if s.certified == "certified":
        if s.checked is None:
            return (
                f"It says that the published {are} ({s.epsilon:.12g}, {s.delta:.12g})-"
                f"differentially private for {unit}. Whoever made this folder could write "
                "that: `tacit verify` checks it against a book (--ledger) or a key (--key)."
            )
        return (
            f"The published {are} ({s.epsilon:.12g}, {s.delta:.12g})-differentially "
            f"private for {unit}."
        )
    if s.certified == "claimed":
        claim = "a privacy level" if s.claimed_epsilon is None else f"epsilon {s.claimed_epsilon:g}"
        at = f" at delta {s.claimed_delta:g}" if s.claimed_delta else ""
        return (
            f"The authors of the method claim {claim}{at} for {unit}. Tacit does not "
            f"certify this: {s.reason}."
        )
    return f"This result is NOT PRIVATE and promises nothing to anyone: {s.reason}."


def _paragraphs(s: Statement) -> list[list[str]]:
    """What follows the first text of a paragraph is a list."""
    paragraphs = [[_promise(s)]]
    if s.certified == "certified":
        paragraphs.append([f"Two data sets that must look alike differ in this: {s.neighbours}."])
        paragraphs.append([s.joint])
        pairs = "; ".join(
            f"epsilon {up(epsilon)} at delta {delta:g}" for epsilon, delta in s.profile
        )
        paragraphs.append([f"All of these hold at once: {pairs}."])
    if s.certified != "not private":
        paragraphs.append([f"Trust. {s.trust}"])
    if s.honest:
        paragraphs.append(["Who must be honest for this to hold:", *s.honest])
    paragraphs.append(
        [f"The method is `{s.method}`, calibration `{s.calibration}`, engine `{s.engine}`."]
    )
    if s.outside:
        paragraphs.append([*s.outside])
    title = "What was released, by which mechanism, on the inner scale of width 4:"
    for heading, items in (
        (title, tuple(mechanisms(s))),
        ("What one person can add at most:", tuple(bounds(s))),
        ("How settings were chosen:", s.settings),
        ("Assumed public:", s.public),
        ("Not protected:", s.not_protected if s.certified == "certified" else ()),
    ):
        if items:
            paragraphs.append([heading, *items])
    if s.schedule is not None:
        paragraphs.append(["The calendar:", *s.schedule.lines()])
    paragraphs += _running(s)
    if s.supported:
        paragraphs.append([f"Of delta: {s.supported}."])
    if s.purpose:
        paragraphs.append([f"Purpose: {s.purpose}."])
    if s.book_head is not None:
        paragraphs.append(
            [
                (
                    f"Charged to the population `{s.population}` as entry {s.book_number} of "
                    f"its book: {s.book_head}."
                )
            ]
        )
    paragraphs.append([f"Made with tacit {s.software}."])
    if s.likes:
        return [[words.as_likes(text) for text in part] for part in paragraphs]
    return paragraphs


def _running(s: Statement) -> list[list[str]]:
    """This release among the others: its population, and what it builds on."""
    paragraphs = []
    if s.total is not None:
        paragraphs.append([told_total(s)])
    if s.starts:
        paragraphs.append([chain(s), *map(link, s.starts)])
    return paragraphs


def told_total(s: Statement) -> str:
    """What the population has spent, this release included."""
    if s.total is None:
        return ""
    return _total(s.total, s.relation or "")


def _total(total: Total, relation: str) -> str:
    note = f"; {total.uncovered} more have no bound" if total.uncovered else ""
    covered = total.entries - total.uncovered
    cap = ""
    if total.cap is not None and total.cap_delta == total.delta:
        cap = f" of a cap of {total.cap:g}"
    elif total.cap is not None and total.under_cap is not None:
        note += (
            f". At delta {total.cap_delta:g}, where the cap is {total.cap:g}, that is "
            f"epsilon {up(total.under_cap)}"
        )
    return (
        f"With this release the population has spent epsilon {up(total.epsilon)}{cap} at "
        f"delta {total.delta:g}, over {words.count(covered, 'release')} in all{note}. They "
        f"are added up for this: {relation}."
    )


def chain(s: Statement) -> str:
    """What this release builds on, and what all of it costs together."""
    cost = ""
    if s.chain_epsilon is not None:
        cost = (
            f": together they cost somebody who is in all of them epsilon "
            f"{up(s.chain_epsilon)} at delta {s.delta:g}"
        )
    if not all(link.covered for link in s.starts):
        cost += ", without those that no bound covers here"
    return f"It builds on earlier releases{cost}."


def link(link: Link) -> str:
    """One release that this one builds on."""
    epsilon_note = "" if link.epsilon is None else f", epsilon {link.epsilon:.12g}"
    bare = "" if link.covered else "; not covered"
    entry = f"entry {link.number} of {link.population!r}: {link.method}, unit {link.unit}"
    return f"{entry}{epsilon_note}{bare}"


def mechanisms(s: Statement) -> list[str]:
    """One line for each event; equal ones are told once, with how many there are."""
    return _alike([words.mechanism(event) for event in s.events])


def bounds(s: Statement) -> list[str]:
    """What one person can add at most; equal limits are told once."""
    return _alike(s.per_person)


def _alike(lines: Sequence[str]) -> list[str]:
    """Lines `name: words` with the same words in one line, in the order of the first."""
    names: dict[str, list[str]] = {}
    for line in lines:
        name, text = line.split(": ", 1) if ": " in line else ("", line)
        key = re.sub(r"; over other people than \S+", "; over other people", text)
        names.setdefault(key, []).append(name)
    merged = []
    for text, line_names in names.items():
        if not line_names[0]:
            merged.append(text)
        elif len(line_names) <= FEW:
            merged.append(f"{', '.join(line_names)}: {text}")
        else:
            merged.append(
                f"{line_names[0]} … {line_names[-1]} ({len(line_names):,} in all): {text}"
            )
    return merged


# A statement in a few lines: what stands, what it cost, and what was spent in all.


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
