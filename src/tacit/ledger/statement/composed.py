"""This release among all others, for the document: the total when it was made, the total of
today where the book is at hand, and what it builds on."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tacit.ledger.account.odds import but_for, odds_times
from tacit.ledger.account.rounded import up
from tacit.ledger.statement import words
from tacit.ledger.statement.statement import Statement, Total
from tacit.ledger.statement.story import chain, link, told_total

if TYPE_CHECKING:
    from tacit.ledger.book.receipts import RunningCost


def total_of(running_cost: RunningCost) -> Total:
    """What a book has added up, for a statement."""
    cap = running_cost.cap or (None, None)
    under = running_cost.under_cap
    return Total(
        entries=running_cost.entries,
        epsilon=running_cost.epsilon,
        delta=running_cost.delta,
        cap=cap[0],
        cap_delta=cap[1],
        under_cap=under if under is not None and isfinite(under) else None,
        uncovered=running_cost.uncovered,
    )


def read_total(total: Total) -> tuple[float, float]:
    """Epsilon, and the delta that it is read at: that of the cap, if there is one."""
    if total.under_cap is not None and total.cap_delta is not None:
        return total.under_cap, total.cap_delta
    return total.epsilon, total.delta


def card(s: Statement, current_total: Total | None) -> tuple[str, str] | None:
    """The running total, as of which entry."""
    total = current_total or s.total
    if total is None:
        return None
    epsilon, delta = read_total(total)
    cap = f" of {total.cap:g}" if total.cap is not None else ""
    when = "today" if current_total is not None else f"as of entry {s.book_number}"
    bare = f"; {total.uncovered} more have no bound" if total.uncovered else ""
    return (
        f"epsilon {up(epsilon)}{cap}",
        f"is the running total of these people {when}, at delta {delta:g}"
        + ("" if cap else "; no cap is set")
        + bare,
    )


def chained(s: Statement) -> tuple[str, str] | None:
    """What this release and all that it builds on cost together."""
    if s.chain_epsilon is None:
        return None
    return (
        f"epsilon {up(s.chain_epsilon)}",
        f"at delta {s.delta:g} for somebody who is in all that it builds on as well",
    )


def render_composition(s: Statement, current_total: Total | None) -> list[str | tuple[str, ...]]:
    """Paragraphs and lists."""
    blocks: list[str | tuple[str, ...]] = []
    if s.total is not None:
        blocks.append(f"When it was made (entry {s.book_number}): {told_total(s)}")
    elif s.book_number is not None:
        blocks.append(
            f"It stands in the book as entry {s.book_number} of {s.population}, without a "
            "bound: it is in no total, and no cap limits it."
        )
    else:
        blocks.append("No running total is known for this release.")
    if current_total is not None:
        blocks.append(_today(current_total))
    total = current_total or s.total
    if total is not None:
        blocks.append(_borne(total))
        blocks.append(_cap(s, total, current_total is not None))
    if s.starts:
        blocks += [chain(s), tuple(map(link, s.starts))]
    if s.schedule is not None:
        blocks.append(s.schedule.lines())
    return blocks


def _today(current_total: Total) -> str:
    epsilon, delta = read_total(current_total)
    covered = current_total.entries - current_total.uncovered
    uncovered_note = (
        f"; {current_total.uncovered} more have no bound" if current_total.uncovered else ""
    )
    return (
        f"Today, by the book: epsilon {up(epsilon)} at delta {delta:g} over "
        f"{words.count(covered, 'release')} in all{uncovered_note}."
    )


def _borne(total: Total) -> str:
    """What the total means for somebody who is in every release that has a bound."""
    epsilon, delta = read_total(total)
    whose = "in all of them"
    caveat = ""
    if total.uncovered:
        whose = "in all that have a bound, and in no other,"
        caveat = " Nothing bounds them for somebody who is in one of the others."
    return (
        f"For somebody whose ratings are {whose} the odds grow by a factor of "
        f"{up(odds_times(epsilon, delta), 3)} at most, {but_for(delta)}.{caveat}"
    )


def _cap(s: Statement, total: Total, today: bool) -> str:
    when = "" if today else f" As of entry {s.book_number}; it may have changed since."
    if total.cap is None:
        return (
            "No cap is set: the owner may release more about the same people, and each "
            f"release adds to the total. `tacit ledger cap` sets one.{when}"
        )
    return (
        f"A book holds these people to epsilon {total.cap:g} at delta {total.cap_delta:g}: "
        "what would cost more is refused, and what nothing bounds unless the owner accepts it, "
        f"which the book keeps.{when}"
    )


def evaluated(evaluations: int | None, later: int = 0) -> str:
    """Whether raw ratings were compared with predictions before this release."""
    if evaluations is None:
        return (
            "Whether `tacit evaluate` was run on these ratings stands in the book, which was "
            "not at hand."
        )
    if evaluations:
        return (
            "`tacit evaluate` was run on these ratings (entries of the book: "
            f"{evaluations}). What the owner saw there is not private, and settings chosen by "
            "it are not covered by this promise."
        )
    if later:
        return (
            "By the book, `tacit evaluate` was first run on these ratings after this release "
            f"(entries: {later}): no setting of it was chosen by that."
        )
    return "No evaluation on these ratings stands in the book."
