"""The statement: what was promised, to whom, by which mechanism. It travels with a model
and is safe to publish.

Guarantee: a statement is made from the events that were reserved and from what is public.
It has no field for a path, a count of private data, a date or a timing, and it says
`certified` only if every event has a bound, the composed epsilon is within the stated one,
the noise was real and the charge stands in a book.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.errors import ModelError, SettingError
from tacit.ledger.account.account import epsilon_of, profile
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import EVENTS, Event, Unbounded
from tacit.ledger.software import software
from tacit.ledger.statement import words
from tacit.units import Unit

if TYPE_CHECKING:
    from tacit.ledger.book.book import Book, Receipt

Calibration = Literal["sound", "paper", "none"]
Standing = Literal["certified", "claimed", "not private"]


class Statement(BaseModel):
    """Every field of the promise. `str()` gives it in plain English, `to_json` for machines."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal[1] = 1
    certified: Standing
    reason: str | None = None
    """Why it is not certified."""
    method: str
    outside: tuple[str, ...] = ()
    """Of a method that is not Tacit's: whose it is, and what was and was not checked."""
    calibration: Calibration
    engine: str
    unit: Unit
    neighbours: str
    trust: str
    epsilon: float | None = None
    delta: float | None = None
    profile: tuple[tuple[float, float], ...] = ()
    """(epsilon, delta) pairs that all hold."""
    claimed_epsilon: float | None = None
    claimed_delta: float | None = None
    events: tuple[Event, ...] = ()
    per_person: tuple[str, ...] = ()
    """What one person can add at most."""
    settings: tuple[str, ...] = ()
    """How settings were chosen."""
    public: tuple[str, ...] = ()
    """What is assumed public."""
    not_protected: tuple[str, ...] = words.NOT_PROTECTED
    joint: str
    purpose: str = ""
    population: str | None = None
    book_number: int | None = None
    book_head: str | None = None
    software: str

    def to_json(self) -> str:
        """The statement for a program."""
        return self.model_dump_json(indent=2, exclude_none=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Statement:
        """A statement from its JSON, or an error that says what to do."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            raise ModelError(
                "the statement is damaged or made by a newer version",
                remedy="fetch it again, or upgrade tacit",
            ) from None

    def __str__(self) -> str:
        from tacit.ledger.statement.story import tell

        return tell(self)


def build_statement(
    *,
    method: str,
    unit: Unit,
    engine: str,
    events: Iterable[Event],
    like: str = "",
    outside: Iterable[str] = (),
    trust: str = "",
    calibration: Calibration = "sound",
    budget: tuple[float, float] | None = None,
    per_person: Iterable[str] = (),
    settings: Iterable[str] = (),
    public: Iterable[str] = (),
    not_protected: Iterable[str] = (),
    purpose: str = "",
    receipt: Receipt | None = None,
    real_noise: bool = True,
    local: bool = True,
    version: str | None = None,
) -> Statement:
    """The statement of a fit. `budget` is the (epsilon, delta) that was asked; `receipt`
    the reservation that paid.

    `like` and `trust` are for an engine of another package: the engine whose neighbouring
    data sets it has, and who must be trusted. `real_noise` is False where noise was switched
    off or its bits were injected by a test, `local` is False where simulated devices share
    their noise.
    """
    known = engine if engine in words.ENGINES else like
    if known not in words.ENGINES or (known != engine and not trust):
        raise SettingError(
            f"the engine {engine!r} is unknown",
            remedy=f"choose one of {', '.join(words.ENGINES)}",
        )
    listed = EVENTS.validate_python(tuple(events))
    standing, reason = _standing(
        listed, unit, calibration, budget, receipt, real_noise
    )
    claims = [event for event in listed if isinstance(event, Unbounded)]
    sound = standing == "certified"
    return Statement(
        certified=standing,
        reason=reason,
        method=method,
        outside=tuple(outside),
        calibration=calibration,
        engine=engine,
        unit=unit,
        neighbours=words.neighbours(known, unit, local),
        trust=words.trust(engine) if known == engine else trust,
        epsilon=budget[0] if sound and budget else None,
        delta=budget[1] if sound and budget else None,
        profile=tuple(profile(listed, unit=unit)) if sound else (),
        claimed_epsilon=sum(
            event.claimed_epsilon * event.times for event in claims
        )
        if claims
        else None,
        claimed_delta=sum(event.claimed_delta * event.times for event in claims)
        if claims
        else None,
        events=listed,
        per_person=tuple(per_person),
        settings=tuple(settings),
        public=tuple(public),
        not_protected=(
            *words.NOT_PROTECTED,
            *((words.VALUES_ONLY,) if unit == "value" else ()),
            *not_protected,
        ),
        joint=words.joint(unit),
        purpose=purpose,
        population=receipt.population if receipt else None,
        book_number=receipt.number if receipt else None,
        book_head=receipt.hash if receipt else None,
        software=version or software(),
    )


def _standing(
    events: tuple[Event, ...],
    unit: Unit,
    calibration: Calibration,
    budget: tuple[float, float] | None,
    receipt: Receipt | None,
    real_noise: bool,
) -> tuple[Standing, str | None]:
    if calibration == "none":
        return "not private", "no noise was added, for comparison only"
    if not real_noise:
        return (
            "not private",
            "its noise was switched off or drawn from bits that a test injected",
        )
    if not events or any(event.kind == "evaluation" for event in events):
        return (
            "not private",
            "it was computed from raw ratings, for the owner only",
        )
    if receipt is None:
        return "not private", "it was not charged to any book"
    claims = [event.reason for event in events if isinstance(event, Unbounded)]
    if claims:
        return "claimed", "; ".join(dict.fromkeys(claims))
    if calibration == "paper":
        return "claimed", "its noise is calibrated as a paper prints it"
    if budget is None:
        raise SettingError(
            "a certified statement needs the budget that was asked"
        )
    if epsilon_of(cost(events, unit), budget[1]) > budget[0] * (1 + 1e-12):
        raise SettingError(
            "the events cost more than the budget that the statement would state"
        )
    return "certified", None


def check_against(statement: Statement, book: Book) -> tuple[bool, str]:
    """Whether the book knows the charge that a statement names, and what that means, in words."""
    number, head = statement.book_number, statement.book_head
    if number is None or head is None:
        return False, "the statement names no book: nothing was charged for it"
    if statement.population != book.population:
        return (
            False,
            (
                f"the statement belongs to the population {statement.population!r}, not "
                f"{book.population!r}"
            ),
        )
    entries = book.entries()
    if not 1 <= number <= len(entries):
        return False, (
            f"the statement was charged as entry {number}, but the book ends at entry "
            f"{len(entries)}: it was restored "
            "from an old copy, or it is another book. What was spent since that copy is "
            "missing from its totals"
        )
    entry = entries[number - 1]
    if entry.hash != head:
        return False, (
            f"entry {number} of the book is not the one that the statement names: the "
            "book was restored from an old "
            "copy and charged again, or was rewritten, or is another book"
        )
    filled = [
        event
        for other in entries
        if other.kind == "commit" and other.of == number
        for event in other.events
    ]
    listed, charged = statement.events, entry.events
    same = all(event in charged or event in filled for event in listed) and all(
        event in listed
        for event in charged
        if event.kind != "reserve" or not filled
    )
    certified = statement.certified == "certified"
    promise = (
        (statement.epsilon, statement.delta) if certified else entry.budget
    )
    if certified and any(
        event.kind in ("unbounded", "evaluation") for event in charged
    ):
        return (
            False,
            (
                f"entry {number} is in the book, but nothing bounds it: the statement cannot "
                "be certified"
            ),
        )
    if not same or (entry.unit, entry.method, entry.budget) != (
        statement.unit,
        statement.method,
        promise,
    ):
        return (
            False,
            (
                f"entry {number} is in the book, but the statement promises something else "
                "than was charged"
            ),
        )
    return (
        True,
        (
            f"charged as entry {number} of the population {book.population!r}; the book has "
            f"{len(entries)} entries"
        ),
    )
