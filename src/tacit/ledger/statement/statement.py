"""The statement: what was promised, to whom, by which mechanism. It travels with a model
and is safe to publish.

Guarantee: a statement is made from the events that were reserved and from what is public.
It has no field for a path, a count of private data, a date or a timing, and it says
`certified` only if every event has a bound, the composed epsilon is within the stated one,
the noise was real and the charge stands in a book.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from tacit.data.held_out import HeldOut
from tacit.errors import ModelError, SettingError
from tacit.ledger.account.account import epsilon, epsilon_of, profile
from tacit.ledger.account.cost import cost
from tacit.ledger.account.event import EVENTS, Event, Skellam, Unbounded
from tacit.ledger.account.rounded import up
from tacit.ledger.software import software
from tacit.ledger.statement import words
from tacit.redaction import one_line
from tacit.units import Unit
from tacit.validation import unknown_name

if TYPE_CHECKING:
    from tacit.ledger.book.book import Receipt

Calibration = Literal["sound", "paper", "none"]
Standing = Literal["certified", "claimed", "not private"]
NOT_CHECKED = "not checked"
"""What stands of a promise that was only read from a folder."""
RECOMMENDER = (
    "against the recommender, whatever devices it invents or picks: the aggregator adds its "
    "own noise and keeps words and noise to itself; as stated"
)
AGGREGATOR = (
    "against the aggregator, whatever devices it invents: the recommender adds its own noise "
    "and keeps the sums before it to itself; as stated"
)
ANYBODY = "anybody may enrol"
ENROLMENT = {
    "open": ANYBODY,
    "token": "whoever knows one common token may enrol, any number of times",
    "tickets": "one device enrols for each one-time ticket that the operator gave out",
}
"""Who may enrol at a server, by the word with which it says so."""


class Total(BaseModel):
    """The running total of a population, at the unit and delta of the statement."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    entries: int
    """Releases that were charged."""
    epsilon: float
    delta: float
    cap: float | None = None
    cap_delta: float | None = None
    under_cap: float | None = None
    """What is spent at the delta of the cap."""
    uncovered: int = 0
    """Releases that no bound covers at this unit: not in `epsilon`."""


class Link(BaseModel):
    """A release that another one builds on."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    population: str
    number: int
    method: str
    unit: Unit
    epsilon: float | None = None
    delta: float | None = None
    covered: bool = True
    """Whether its cost can be read at the unit and delta of the statement."""


# What a statement says of a calendar: one budget for many releases, of which this is one.


class Schedule(BaseModel):
    """A fixed calendar of releases that one entry of the book has paid for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    horizon: int = Field(ge=2)
    """Releases in all."""
    week: int = Field(ge=1)
    """Which of them this is: so many were released so far."""
    times: int = Field(ge=1)
    """How often one person is counted, in all of them together."""
    gap: int = Field(default=1, ge=1)
    """Releases from one time to the next, at least."""
    begins: str | None = None
    """Day on which the first period begins; None where each table is a period."""
    days: int | None = None
    """Of each period."""

    def lines(self) -> tuple[str, ...]:
        """In words, for `tell`."""
        times = "once" if self.times == 1 else f"at most {self.times} times"
        gap_note = ""
        if self.times > 1 and self.gap > 1:
            gap_note = f", at least {self.gap} releases apart"
        when = "the owner says which ratings belong to which release"
        if self.begins is not None:
            when = f"each covers {self.days} days, from {self.begins} on"
        return (
            f"This is release {self.week} of {self.horizon} of a fixed calendar: {when}.",
            (
                f"The promise is about all {self.horizon} releases together: they are paid "
                "for by one entry of the book, and releasing all of them costs no more."
            ),
            (
                f"Each person is counted {times} in all of them{gap_note}; who was counted "
                "is kept by the owner as a keyed list that the book seals."
            ),
        )


class Statement(BaseModel):
    """Every field of the promise. `str()` gives it in plain English, `to_json` for machines."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A name that a statement does not have."""
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("_"):
                    raise
            raise unknown_name("a statement", name, dir(type(self)))

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
    honest: tuple[str, ...] = ()
    """Of a federation: who must be honest for this to hold, one line each."""
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
    apart: HeldOut | None = None
    """Which ratings the fit was not shown."""
    published: str = "model"
    """What the promise is about: a model, or figures about one."""
    schedule: Schedule | None = None
    """The calendar that this release is one of."""
    artefact: str | None = None
    """SHA-256 of the model, or of the figures, that this is about."""
    signer: str | None = None
    """Public key of the book that was charged."""
    signature: str | None = None
    relation: str | None = None
    """What neighbouring data sets of the running total differ in, as a stated rule."""
    total: Total | None = None
    """What the whole population has spent, this release included."""
    starts: tuple[Link, ...] = ()
    """Releases that this one builds on, each of which was paid for by itself."""
    chain_epsilon: float | None = None
    """What this release and all that it builds on cost together, at `delta`, but for links
    that are not covered."""
    likes: bool | None = None
    """True where people like things and rate none: words say likes."""
    supported: str | None = None
    """Where people are not declared: whether the count that was released supports delta."""
    population: str | None = None
    book_number: int | None = None
    book_head: str | None = None
    software: str

    @model_validator(mode="after")
    def _check_certified(self) -> Statement:
        """A certified one says at which epsilon and delta."""
        if self.certified == "certified" and None in (self.epsilon, self.delta):
            raise ValueError("a certified statement needs epsilon and delta")
        return self

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

    _checked: str | None = PrivateAttr(None)

    @property
    def checked(self) -> str | None:
        """Against what the statement was checked: the book or the key that stands behind it.
        None for one that was only read from a folder, which says what its maker likes."""
        return self._checked

    @property
    def standing(self) -> str:
        """What stands: `certified` only if that was checked, else what it calls itself."""
        if self.certified == "certified" and self.checked is None:
            return NOT_CHECKED
        return self.certified

    def to_facts(self) -> dict[str, Any]:
        """For a program, with what stands in `certified` and what the statement says of
        itself beside it."""
        return {
            **self.model_dump(mode="json"),
            "certified": self.standing,
            "says_of_itself": self.certified,
            "checked": self.checked,
        }

    def with_check(self, against: str | None) -> Statement:
        """The same statement, after it was checked, or after that failed."""
        copied = super().model_copy()
        copied._checked = against
        return copied

    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> Statement:
        """A copy; one that was changed has not been checked."""
        copied = super().model_copy(update=update, deep=deep)
        if update:
            copied._checked = None
        return copied

    def __repr__(self) -> str:
        from tacit.ledger.statement.story import title

        size = ""
        if self.epsilon is not None:
            size = f", ({self.epsilon:.12g}, {self.delta:.12g}) for a {self.unit}"
        return f"Statement({title(self)}{size}; print it for all of it)"

    def _repr_html_(self) -> str:
        from tacit.ledger.statement.render import short_html

        return short_html(self)

    def __str__(self) -> str:
        from tacit.ledger.statement.story import render_story

        return render_story(self)


def build_statement(
    *,
    method: str,
    unit: Unit,
    engine: str,
    events: Iterable[Event],
    charged: Iterable[Event] = (),
    like: str = "",
    outside: Iterable[str] = (),
    trust: str = "",
    honest: Honesty | None = None,
    calibration: Calibration = "sound",
    budget: tuple[float, float] | None = None,
    per_person: Iterable[str] = (),
    settings: Iterable[str] = (),
    public: Iterable[str] = (),
    not_protected: Iterable[str] = (),
    purpose: str = "",
    apart: HeldOut | None = None,
    published: str = "model",
    schedule: Schedule | None = None,
    receipt: Receipt | None = None,
    real_noise: bool = True,
    local: bool = True,
    played: bool = False,
    version: str | None = None,
    total: Total | None = None,
    starts: Iterable[Link] = (),
    chain_epsilon: float | None = None,
    supported: str | None = None,
    likes: bool = False,
) -> Statement:
    """The statement of a fit. `budget` is the (epsilon, delta) that was asked; `receipt`
    the reservation that paid, and `charged` what it reserved, if that is not `events`: an
    envelope, whose price is stated whichever rounds filled it.

    `like` and `trust` are for an engine of another package: the engine whose neighbouring
    data sets it has, and who must be trusted. `real_noise` is False where noise was switched
    off or its bits were injected by a test, `local` is False where simulated devices share
    their noise. `played` is True where devices were no machines of their own. `honest` is
    what a federation assumes of whom.
    """
    known_engine = engine if engine in words.ENGINES else like
    if known_engine not in words.ENGINES or (known_engine != engine and not trust):
        raise SettingError(
            f"the engine {engine!r} is unknown", remedy=f"choose one of {', '.join(words.ENGINES)}"
        )
    listed = EVENTS.validate_python(tuple(events))
    charged_events = EVENTS.validate_python(tuple(charged)) or listed
    standing, reason = _standing(listed, unit, calibration, budget, receipt, real_noise)
    claim = _claim(listed, budget)
    sound = standing == "certified"
    return Statement(
        certified=standing,
        reason=reason,
        method=method,
        outside=tuple(outside),
        calibration=calibration,
        engine=engine,
        unit=unit,
        neighbours=words.neighbours(known_engine, unit, local),
        trust=words.trust(engine, played=played) if known_engine == engine else trust,
        honest=honest.lines(listed, unit, budget[1])
        if honest is not None and sound and budget
        else (),
        epsilon=budget[0] if sound and budget else None,
        delta=budget[1] if sound and budget else None,
        profile=tuple(profile(charged_events, unit=unit)) if sound else (),
        claimed_epsilon=claim[0] if claim else None,
        claimed_delta=claim[1] if claim else None,
        events=listed,
        per_person=tuple(per_person),
        settings=tuple(settings),
        public=tuple(public),
        not_protected=(
            *words.NOT_PROTECTED,
            *((words.VALUES_ONLY,) if unit == "value" else ()),
            *((words.ONE_BY_ONE,) if unit != "user" else ()),
            *not_protected,
        ),
        joint=words.joint(unit) if published == "model" else words.FIGURES,
        purpose=one_line(purpose) if purpose else "",
        apart=apart,
        published=published,
        schedule=schedule,
        relation=words.relation(unit) if sound else None,
        total=total if sound else None,
        starts=tuple(starts),
        chain_epsilon=chain_epsilon if sound else None,
        supported=supported if sound else None,
        likes=True if likes else None,
        population=receipt.population if receipt else None,
        book_number=receipt.number if receipt else None,
        book_head=receipt.hash if receipt else None,
        software=version or software(),
    )


def _claim(
    events: tuple[Event, ...], budget: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The authors' own number for the whole algorithm, however many rounds it has.

    Papers that claim a share for each part are added up. Where rounds repeat a part, each
    with the number that the paper claims for all of them, it is quoted once: what was asked.
    """
    claims = [event for event in events if isinstance(event, Unbounded)]
    if not claims:
        return None
    delta = max(event.claimed_delta for event in claims)
    added = sum(event.claimed_epsilon * event.times for event in claims)
    parts = {event.name.rpartition("/")[2] for event in claims}
    if budget is None or len(parts) == len(claims):
        return added, delta
    return min(added, budget[0]), delta


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
        return ("not private", "its noise was switched off or drawn from bits that a test injected")
    if not events or any(event.kind == "evaluation" for event in events):
        return ("not private", "it was computed from raw ratings, for the owner only")
    if receipt is None:
        return "not private", "it was not charged to any book"
    claims = [event.reason for event in events if isinstance(event, Unbounded)]
    if claims:
        return "claimed", "; ".join(dict.fromkeys(claims))
    if calibration == "paper":
        return "claimed", "its noise is calibrated as a paper prints it"
    if budget is None:
        raise SettingError("a certified statement needs the budget that was asked")
    if epsilon_of(cost(events, unit), budget[1]) > budget[0] * (1 + 1e-12):
        raise SettingError("the events cost more than the budget that the statement would state")
    return "certified", None


# Who must be honest for the promise of a federation to hold, one line each, with its price.
#
# Guarantee: every epsilon here is the accountant's for the events as charged, or for what is
# left of them when an assumption fails (docs/proofs/federated.md, Servers and Shares).


@dataclass(frozen=True)
class Honesty:
    """What a federation assumes of whom."""

    noise: str
    """`servers`, `devices` or `both`."""
    enough: str
    """Whose shares of the noise suffice, in words."""
    shares: int | None = None
    """The same as a number, where it is known."""
    enrolment: tuple[str, str] | None = None
    """How the recommender and the aggregator enrol; None where nobody enrols."""

    def lines(self, events: Iterable[Event], unit: Unit, delta: float) -> tuple[str, ...]:
        """One for each adversary, and one for each server's enrolment."""
        listed = tuple(events)
        out = list[str]()
        if self.noise != "devices":
            out += [RECOMMENDER, AGGREGATOR]
        if self.noise == "devices":
            out.append(
                "against either server: the other keeps masks and words to itself, and in "
                f"every sum {self.enough} add their shares; devices that a server has "
                "invented add none; as stated"
            )
        if self.noise == "both":
            out.append(
                "against either server, should the other forget its noise: in every sum "
                f"{self.enough} add their shares; as stated"
            )
        out.append(self._colluding(listed, unit, delta))
        if self.enrolment is not None:
            for role, enrolment in zip(("recommender", "aggregator"), self.enrolment, strict=True):
                meaning = ENROLMENT.get(enrolment, "who may enrol is not known")
                out.append(f"enrolment at the {role}: {meaning}")
        return tuple(out)

    def _colluding(self, events: tuple[Event, ...], unit: Unit, delta: float) -> str:
        lead = "against both servers together: nobody can be trusted instead"
        if self.noise == "servers":
            return f"{lead}; nothing is promised, every contribution lies open"
        share_events = one_share(events, self.shares)
        if share_events is None:
            return f"{lead}; a device's own share is all that is left"
        share_epsilon = epsilon(share_events, delta, unit=unit)
        return f"{lead}; a device's own share is all that is left: epsilon {up(share_epsilon)}"


def one_share(events: Iterable[Event], shares: int | None) -> tuple[Event, ...] | None:
    """The events as they are when one share of the noise is all there is; None where that
    has no price here (Laplace shares, or an unknown number of them)."""
    listed = tuple(events)
    if shares is None or not listed:
        return None
    if not all(isinstance(event, Skellam) for event in listed):
        return None
    return tuple(
        event.model_copy(update={"variance": event.variance / shares})
        for event in listed
        if isinstance(event, Skellam)
    )
