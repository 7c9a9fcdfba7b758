"""What is public about the ratings, given or implied by their layout and never taken from
private values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral

from tacit.errors import SettingError
from tacit.validation import made_by_name, number, numbers

MOST_PEOPLE = 10**10
"""More than there are."""
LIKES = "likes"
"""The source of the scale where a table has no ratings: a row is a like."""


@made_by_name
@dataclass(frozen=True)
class Schema:
    """The scale, the declared number of people and the cap on ratings per person."""

    low: float
    high: float
    users: int | None = None
    """Declared number of people; a wrong number costs accuracy, never privacy."""
    max_ratings: int | None = None
    """At most this many ratings of a person are used, chosen at random."""
    positive: float | None = None
    """Ratings of this much and more are likes and all else is dropped; None for rated data."""
    absent: bool = False
    """Whether the layout has a number that stands for no rating: then a value decides whether
    there is a rating at all."""
    source: str = "given"
    """Where the scale comes from: `given`, or the name of the layout that implies it."""

    def __post_init__(self) -> None:
        ends = {"low": self.low, "high": self.high}
        numbers(ends, "give the ends of the scale")
        if self.positive is not None:
            number("positive", self.positive, "give the least rating")
        for name in ("users", "max_ratings"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name))
        if not (-1e6 < self.low < self.high < 1e6):  # also refuses NaN
            raise SettingError(
                f"the scale from {self.low:g} to {self.high:g} does not rise",
                remedy="give the lowest and the highest possible rating, such as --scale 1,5",
            )

    @cached_property
    def middle(self) -> float:
        """The middle of the scale, which is 0 on the inner scale."""
        return (self.low + self.high) / 2

    @cached_property
    def unit_width(self) -> float:
        """Rating points per point of the inner scale, which always has width 4."""
        return (self.high - self.low) / 4

    def declare(self, users: int | None = None, max_ratings: int | None = None) -> Schema:
        """The same schema with what the owner declares."""
        return replace(
            self,
            users=users if users is not None else self.users,
            max_ratings=max_ratings if max_ratings is not None else self.max_ratings,
        )


def _check_count(name: str, value: object) -> None:
    """Refuse what is no count of one or more."""
    option = f"--{name.replace('_', '-')}"
    remedy = f"give {option} a count, or leave it out"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SettingError(f"{name} is not a whole number", remedy=remedy)
    if int(value) < 1:
        raise SettingError(f"{name} is {int(value)}; it must be at least 1", remedy=remedy)
    if int(value) > MOST_PEOPLE:
        raise SettingError(
            f"{name} is above {MOST_PEOPLE:,}, which is more than there are", remedy=remedy
        )
