"""People whose ratings are public: raters who agreed, a critic's corpus, an old public data set.

A type of its own, so that nobody hands over private ratings where public ones are meant. What is
computed from them is public before any private rating is read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.asked import made_by_name, text
from tacit.data.ratings import Ratings, counted
from tacit.errors import SettingError

LONGEST = 200
"""Characters of a description."""


@made_by_name
@dataclass(frozen=True, eq=False)
class PublicPeople:
    """Public ratings, and who made them as the owner describes it."""

    ratings: Ratings
    who: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.ratings, Ratings):
            raise SettingError(
                f"public people need ratings that were read, not a {type(self.ratings).__name__}",
                remedy="read them first: tacit.read(source, scale=(1, 5))",
            )
        text("who", self.who, "describe them in a few words")
        if len(self.who) > LONGEST or not self.who.isprintable():
            raise SettingError(
                f"the description of public people is not one line of at most {LONGEST} letters",
                remedy="describe them in a few words",
            )

    @cached_property
    def digest(self) -> str:
        """Of every rating: who has the file can check that it is this one."""
        ratings = self.ratings
        found = hashlib.sha256()
        for names in (ratings.users, ratings.items):
            found.update("\0".join(names).encode() + b"\n")
        found.update(f"{ratings.schema.low} {ratings.schema.high}".encode())
        found.update(np.ascontiguousarray(ratings.ptr).data)
        found.update(np.ascontiguousarray(ratings.item).data)
        found.update(np.ascontiguousarray(ratings.value).data)
        return found.hexdigest()

    @property
    def words(self) -> str:
        """For the statement."""
        described = self.who or "not described"
        people = counted(self.ratings.n_users, "person").replace("persons", "people")
        return (
            f"the ratings of {people} who are taken to be public ({described}; "
            f"{counted(len(self.ratings), 'rating')}, digest {self.digest[:16]})"
        )
