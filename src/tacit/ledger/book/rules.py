"""What a book admits: its caps, what was spent under them, and what follows from them as one
replayed state.

Guarantee: `admit` is the only way to a reservation, and `State.after` replays it from the
entries alone, so the check at the time and `verify` years later see the same totals. What
is reserved stays spent, whatever became of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf, isfinite, sqrt

from tacit.errors import BudgetError, SettingError
from tacit.ledger.account.account import epsilon_of
from tacit.ledger.account.calibrate import remaining, remaining_search
from tacit.ledger.account.cost import Cost, cost, group, total
from tacit.ledger.account.event import EVENTS, Event, Reserve, TuningEvent
from tacit.ledger.account.rounded import down
from tacit.ledger.book.entry import Entry
from tacit.units import UNITS, Unit
from tacit.validation import flag, number, text

ROUNDING = 1 + 1e-12
"""On a total: ten tenths of a cap are the cap."""


@dataclass(frozen=True)
class UnitSpent:
    """What all entries together cost at one unit."""

    unit: Unit
    epsilon: float
    """Composed over every bounded entry at `delta`."""
    delta: float
    entries: int
    """Reservations made at this unit."""
    unbounded: int
    """Reservations, at any unit, that no bound covers at this one: not in `epsilon`."""
    cap: float | None
    left: float | None
    """Epsilon, at `delta`, of the largest Gaussian plan (pure at delta 0) that still fits;
    None without a cap."""


@dataclass
class Tally:
    """What some first reservations cost at one unit."""

    cost: Cost = field(default_factory=Cost)
    uncovered: int = 0
    """Reservations that no bound covers."""
    counted: int = 0


@dataclass
class BookState:
    """Caps, composed costs and counts after some entries: what the next charge is checked
    against."""

    caps: dict[Unit, tuple[float, float]] = field(default_factory=dict)
    tallies: dict[Unit, Tally] = field(default_factory=lambda: {unit: Tally() for unit in UNITS})
    counts: dict[Unit, int] = field(default_factory=lambda: dict.fromkeys(UNITS, 0))
    evaluation: Entry | None = None
    reserved: dict[int, Entry] = field(default_factory=dict)
    charged: list[Entry] = field(default_factory=list)
    """Reservations but for evaluations, which cost nothing."""
    committed: dict[int, Entry] = field(default_factory=dict)
    weeks: dict[int, list[Entry]] = field(default_factory=dict)
    """Of calendars, by reservation: beginnings and ends, in order."""
    made: dict[str, int] = field(default_factory=dict)
    """By artefact, the reservation that led to it."""
    tokens: dict[str, Entry] = field(default_factory=dict)
    """Reservations by the request that made them."""

    def apply(self, entry: Entry) -> None:
        """Update the state by one more entry."""
        if entry.artefact and entry.of:
            self.made[entry.artefact] = entry.of
        if entry.kind == "cap" and entry.unit and entry.cap:
            self.caps[entry.unit] = entry.cap
        elif entry.kind == "commit" and entry.of:
            self.committed[entry.of] = entry
        elif entry.kind == "week" and entry.of:
            self.weeks.setdefault(entry.of, []).append(entry)
        elif entry.kind == "reserve" and entry.unit:
            self.reserved[entry.number] = entry
            if entry.token is not None:
                self.tokens[entry.token] = entry
            if entry.evaluation:
                self.evaluation = entry
            else:
                self.charged.append(entry)
                self.counts[entry.unit] += 1

    def tally(self, unit: Unit) -> Tally:
        """All reservations so far, read at `unit`; only those since the last call are added up."""
        tally = self.tallies[unit]
        fresh = self.charged[tally.counted :]
        prices = [charge(entry.events, entry.unit or unit, unit, entry.limit) for entry in fresh]
        tally.cost = total(
            [tally.cost, *(replace(price, unbounded=0) for price in prices if price)]
        )
        tally.uncovered += sum(price is None or price.unbounded > 0 for price in prices)
        tally.counted += len(fresh)
        return tally

    def totals(self) -> dict[Unit, float]:
        """Composed epsilon at each cap's delta, by unit."""
        return {
            unit: epsilon_of(self.tally(unit).cost, delta) for unit, (_, delta) in self.caps.items()
        }

    def spent(self, unit: Unit, delta: float) -> UnitSpent:
        """What all entries cost together at this unit, against the cap."""
        cap = self.caps.get(unit)
        at = cap[1] if cap else delta
        tally = self.tally(unit)
        return UnitSpent(
            unit=unit,
            epsilon=epsilon_of(tally.cost, at),
            delta=at,
            entries=self.counts[unit],
            unbounded=tally.uncovered,
            cap=cap[0] if cap else None,
            left=remaining(tally.cost, *cap) if cap else None,
        )


def replay(entries: Iterable[Entry]) -> BookState:
    """The state of a book after these entries."""
    state = BookState()
    for entry in entries:
        state.apply(entry)
    return state


def check_cap(
    epsilon: object, delta: object, unit: object, note: object, accept_unbounded: object
) -> None:
    """Refuse caps with an epsilon, delta, unit or note out of range."""
    cap_epsilon = number("epsilon", epsilon, "give one number, such as 3")
    chance = number("delta", delta, "1e-6 is a common choice")
    text("note", note, "say in a few words why")
    flag("accept_unbounded", accept_unbounded)
    if not (isfinite(cap_epsilon) and cap_epsilon > 0):
        raise SettingError(
            f"a cap of epsilon {cap_epsilon:g} is not a positive, finite number",
            remedy="give --epsilon a positive number",
        )
    if not 0 <= chance < 1:
        raise SettingError(
            f"a cap's delta is {chance:g}; it must be at least 0 and below 1",
            remedy="1e-6 is a common choice",
        )
    check_unit(str(unit))


def check_unit(unit: str) -> None:
    """Refuse a unit that no promise is about."""
    if unit not in UNITS:
        raise SettingError(
            f"the unit {unit!r} is unknown", remedy=f"choose one of {', '.join(UNITS)}"
        )


def checked(
    events: Iterable[Event], unit: Unit, budget: tuple[float, float] | None
) -> tuple[Event, ...]:
    """The events, if they cost no more than the plan's own budget."""
    check_unit(unit)
    validated = EVENTS.validate_python(tuple(events))
    if not validated:
        raise SettingError("there is nothing to reserve")
    price = cost(validated, unit)
    if budget is not None and not price.unbounded:
        composed = epsilon_of(price, budget[1])
        if composed > budget[0] * ROUNDING:
            raise BudgetError(
                f"the plan's events cost epsilon {composed:.9g} at delta {budget[1]:g}, more "
                f"than its {budget[0]:g}"
            )
    return validated


def charge(events: Iterable[Event], of: Unit, at: Unit, limit: int | None) -> Cost | None:
    """What events made at one unit cost at another; None if nothing bounds that."""
    steps = group(of, at, limit)
    return None if steps is None else cost(events, at, steps)


def admit(
    state: BookState,
    events: tuple[Event, ...],
    unit: Unit,
    limit: int | None,
    accept_unbounded: bool,
    owner_only: bool,
) -> dict[Unit, float]:
    """Composed epsilon by unit with these events added; a BudgetError names the cap that they would
    break."""
    if state.caps and any(event.kind == "evaluation" for event in events) and not owner_only:
        raise BudgetError(
            "an evaluation compares raw ratings, and this book has a cap",
            remedy="give --owner-only if nobody but the owner will see the result",
        )
    totals: dict[Unit, float] = {}
    if all(event.kind == "evaluation" for event in events):
        return totals
    for capped, (epsilon, delta) in state.caps.items():
        price = charge(events, unit, capped, limit)
        if price is None:
            message, remedy = _refusal(unit, capped)
            raise BudgetError(message, remedy=remedy)
        if price.unbounded and not accept_unbounded:
            raise BudgetError(
                "no theorem bounds this release, and the book has a cap of epsilon "
                f"{epsilon:g} per {capped}",
                remedy="use --calibration sound, or --accept-unbounded to book it all the same",
            )
        cost_before = state.tally(capped).cost
        epsilon_after = epsilon_of(cost_before + replace(price, unbounded=0), delta)
        if epsilon_after > epsilon * ROUNDING:
            new_total = (
                "unbounded at that delta" if epsilon_after == inf else f"{epsilon_after:.6g}"
            )
            raise BudgetError(
                f"the cap of epsilon {epsilon:g} at delta {delta:g} per {capped} would be "
                f"overspent: with this release the total is {new_total}",
                remedy=_offer(cost_before, (epsilon, delta), capped, unit, events),
            )
        totals[capped] = epsilon_after
    return totals


def _offer(
    spent: Cost, cap: tuple[float, float], unit: Unit, fit_unit: Unit, events: tuple[Event, ...]
) -> str:
    """What still fits below a cap, of the kind that was asked for."""
    remaining_epsilon, delta = remaining(spent, *cap), cap[1]
    search = next((e for e in events if isinstance(e, TuningEvent)), None)
    if search is not None and search.rho is not None and remaining_epsilon > 0:
        return _offer_search(spent, cap, unit, search) + (
            f"; one fit may cost epsilon {down(remaining_epsilon)}"
        )
    if remaining_epsilon <= 0:
        return (
            "nothing is left; the owner may raise the cap with `tacit ledger cap`, "
            "which is itself an entry"
        )
    offer = (
        f"lower --epsilon: at most epsilon {down(remaining_epsilon)} at delta {delta:g} is left "
        f"per {unit}"
    )
    if fit_unit != unit:
        offer += f", and a fit per {fit_unit} is charged here with what it costs a {unit}"
    return f"{offer}; or raise the cap with `tacit ledger cap`"


def _offer_search(spent: Cost, cap: tuple[float, float], unit: Unit, search: TuningEvent) -> str:
    """What is left for a search, which costs by how many trials it may run too."""
    remaining_epsilon = remaining_search(spent, search.shape, search.stop, *cap)
    if remaining_epsilon <= 0:
        return (
            "no search of so many trials fits below the cap, however small its epsilon: "
            "expect fewer --trials, or raise the cap with `tacit ledger cap`"
        )
    return (
        f"lower --epsilon: at most epsilon {down(remaining_epsilon)} at delta {cap[1]:g} is left "
        f"per {unit} "
        "for a search of so many trials"
    )


def _refusal(unit: Unit, capped: Unit) -> tuple[str, str]:
    if unit == "rating":
        return (
            (
                f"the book's cap is per {capped}, and ratings protected one at a time say "
                "nothing about a person with any number of them"
            ),
            "limit the ratings per person, or use --unit user",
        )
    return (
        (f"the book's cap is per {capped}, and values protected alone leave open who rated what"),
        f"use --unit {capped}",
    )


def check_details(reserved: Entry, details: Iterable[Event]) -> None:
    """Refuse details that exceed the envelopes (`Reserve`) of their reservation.

    Events that were reserved as they are may be listed again; all others must fit into the
    envelopes together.
    """
    unmatched = [event for event in reserved.events if not isinstance(event, Reserve)]
    extra = []
    for event in details:
        if event in unmatched:
            unmatched.remove(event)
        else:
            extra.append(event)
    envelope = cost((event for event in reserved.events if isinstance(event, Reserve)), "rating")
    used = cost(extra, "rating")  # at `rating` nothing is amplified, and neither is an envelope
    if (
        used.unbounded
        or used.mu2 > envelope.mu2 * ROUNDING
        or used.pure_epsilon > envelope.pure_epsilon * ROUNDING
        or used.draws > envelope.draws
        or used.renyi
        > 0  # an envelope promises Gaussian or pure rounds, and Skellam noise is neither
        or used.tuned
    ):
        raise BudgetError(
            f"the rounds that were run exceed the envelope of entry {reserved.number}: "
            f"mu {sqrt(used.mu2):.6g} of {sqrt(envelope.mu2):.6g}, "
            f"epsilon {used.pure_epsilon:.6g} of {envelope.pure_epsilon:.6g}"
        )
