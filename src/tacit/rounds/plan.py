"""The rounds of a method and the split of its budget over them.

All privacy events follow from a plan before any rating is touched. Settings of later rounds
may be functions of what earlier rounds released; events may not, but as alternatives of
equal cost that the plan declares (`Round.instead`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tacit.bound.base import Bound, Sensitivity
from tacit.errors import SettingError
from tacit.ledger.account.event import Event
from tacit.page import escaped
from tacit.rounds.people import EVERYONE, Coin, Slice
from tacit.rounds.round import Part, Round
from tacit.units import Unit

ROUNDING = 1e-9
"""By how much shares may exceed the whole, since they are sums of floats."""


ENDLESS = 1e30
"""An epsilon from here on is none: searches for its noise would not end."""


@dataclass(frozen=True)
class Budget:
    """What may be spent: delta 0 asks for pure mechanisms."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < ENDLESS:  # also refuses NaN
            raise SettingError(
                f"epsilon is {self.epsilon:g}; it must be a positive, finite number",
                remedy="run `tacit plan` to see what a budget buys; 1 is a common choice",
            )
        if not 0 <= self.delta < 1:
            raise SettingError(
                f"delta is {self.delta:g}; it must be at least 0 and below 1",
                remedy="use the default 1e-6, or 0 for a pure mechanism",
            )


@dataclass(frozen=True)
class Plan:
    """The rounds and their unit. Shares are normalised to the whole; more than the whole is
    refused."""

    unit: Unit
    rounds: tuple[Round, ...]
    story: tuple[str, ...] = ()
    """Sentences that say why the plan is as it is, for `tacit plan` and the statement."""
    limited: int | None = None
    """At most this many ratings of a person are used."""

    def __repr__(self) -> str:
        names = ", ".join(round_.name for round_ in self.rounds)
        return f"Plan({self.unit}; {len(self.rounds)} rounds: {names})"

    def _repr_html_(self) -> str:
        list_items = "".join(f"<li>{escaped(line)}</li>" for line in self.story)
        return f"<p>{escaped(self)}</p><ul>{list_items}</ul>"

    def __post_init__(self) -> None:
        self._check_names()
        self._check_slices()
        self._check_shares()
        self._check_coins()
        for round_ in self.rounds:
            if round_.instead:
                self._check_instead(round_)

    @property
    def parts(self) -> Iterator[tuple[Round, Part]]:
        """Every part with its round, in the order in which they run."""
        return ((r, p) for r in self.rounds for p in r.parts)

    @cached_property
    def bounds(self) -> dict[int, Bound]:
        """The bounds of all parts, each once: many parts share one."""
        return {id(p.bound): p.bound for _, p in self.parts}

    @cached_property
    def moves(self) -> dict[int, Sensitivity]:
        """How far one unit can move what each bound lets through."""
        return {
            key: bound.sensitivity(self.unit, self.limited) for key, bound in self.bounds.items()
        }

    @cached_property
    def limits(self) -> dict[int, str]:
        """What each bound lets one person add, in words."""
        return {key: bound.words() for key, bound in self.bounds.items()}

    def _check_names(self) -> None:
        names = [f"{r.name}/{p.name}" for r, p in self.parts]
        if len(set(names)) != len(names):
            raise SettingError("two parts of the plan share a name")

    def _check_slices(self) -> None:
        slices = [(r.takes_part, p.name) for r, p in self.parts if isinstance(r.takes_part, Slice)]
        if len(set(slices)) != len(slices):
            raise SettingError("a slice of a partition may release a part of one name once only")
        if _overlap({r.takes_part for r in self.rounds if isinstance(r.takes_part, Slice)}):
            raise SettingError("two slices of the plan share people")

    def _check_shares(self) -> None:
        total = self.budget_share
        if total > 1 + ROUNDING:
            raise SettingError(
                f"the shares of the plan add up to {total:.6g}: more than the whole budget"
            )
        if any(not p.share > 0 for _, p in self.parts):
            raise SettingError("every part of a plan needs a positive share")

    def _check_coins(self) -> None:
        """Parts under one coin cost more than the accountant's sum, in which every event has
        a coin of its own."""
        if any(isinstance(r.takes_part, Coin) and len(r.parts) > 1 for r in self.rounds):
            raise SettingError(
                "a round of people drawn by a coin has one part",
                remedy="put its columns side by side",
            )

    def _check_instead(self, alternative: Round) -> None:
        replaced = self.first_of(alternative)
        alike = (
            len(replaced.parts) == len(alternative.parts) == 1
            and replaced.parts[0].share == alternative.parts[0].share
        )
        everyone = replaced.takes_part == alternative.takes_part == EVERYONE
        if alternative.chosen is None or not alike or not everyone:
            raise SettingError(
                f"the round {alternative.name} cannot stand instead of {alternative.instead}"
            )

    def first_of(self, alternative: Round) -> Round:
        """The round whose place another may take."""
        originals = [
            r
            for r in self.rounds[: self.rounds.index(alternative)]
            if r.name == alternative.instead and not r.instead
        ]
        if len(originals) != 1:
            raise SettingError(
                f"no round {alternative.instead} comes before {alternative.name}, which stands "
                "instead of it"
            )
        return originals[0]

    @cached_property
    def rivals(self) -> dict[str, tuple[Round, ...]]:
        """By the name of a round, those that may stand instead of it."""
        names = {r.instead for r in self.rounds if r.instead}
        return {n: tuple(r for r in self.rounds if r.instead == n) for n in names}

    @cached_property
    def firsts(self) -> tuple[Round, ...]:
        """The rounds that are charged for later ones too: first slices and first turns."""
        return tuple(r for r in self.rounds if r.takes_part.is_first_of(r.takes_part))

    @property
    def budget_share(self) -> float:
        """The shares of all that is paid from the budget; a printed part costs what its
        paper claims."""
        return sum(p.share for r, p in self.parts if p.printed is None and not is_beside(r))

    def after(self, first: Round, share: float) -> Plan:
        """The same plan with a round before it that takes `share` of the budget."""
        total_share = self.budget_share or 1.0
        priced = replace(
            first, parts=tuple(replace(p, share=share / len(first.parts)) for p in first.parts)
        )
        scaled_rounds = tuple(
            replace(
                r,
                parts=tuple(replace(p, share=p.share / total_share * (1 - share)) for p in r.parts),
            )
            for r in self.rounds
        )
        return replace(self, rounds=(priced, *scaled_rounds))

    def events(self, budget: Budget) -> dict[str, Event]:
        """The event of each part, keyed `round/part`, so that all of them together cost at
        most `budget`."""
        from tacit.rounds.calibrate import events

        return events(self, budget)


def _overlap(slices: set[Slice]) -> bool:
    """Whether two different slices of one partition have people in common."""
    slots = [(s.of, slot) for s in slices for slot in range(s.index, s.index + s.width)]
    return len(set(slots)) != len(slots)


def is_beside(round_: Round) -> bool:
    """Later slices of a partition touch people whom the first slice does not; a round
    instead of another takes its place. Neither costs anything on top of the first."""
    return bool(round_.instead) or round_.takes_part.is_later
