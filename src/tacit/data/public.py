"""People whose ratings are public: raters who agreed, a critic's corpus, an old public data set.

A type of its own, so that nobody hands over private ratings where public ones are meant. What is
computed from them is public before any private rating is read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.data.catalogue import Catalogue, bare_title, fold
from tacit.data.ratings import Ratings, format_count
from tacit.errors import SettingError
from tacit.validation import made_by_name, text

LONGEST = 200
"""Characters of a description."""


@made_by_name
@dataclass(frozen=True, eq=False)
class PublicPeople:
    """Public ratings, and who made them as the owner describes it."""

    ratings: Ratings
    who: str = ""
    items: Catalogue | None = None
    """The catalogue that their ids are of: by its titles alone it can be known whether an id
    means the same item elsewhere."""

    def __post_init__(self) -> None:
        if not isinstance(self.ratings, Ratings):
            raise SettingError(
                f"public people need ratings that were read, not a {type(self.ratings).__name__}",
                remedy="read them first: tacit.read(source, scale=(1, 5))",
            )
        if self.items is not None and not isinstance(self.items, Catalogue):
            raise SettingError(
                f"the items of public people are a {type(self.items).__name__}, no catalogue",
                remedy="read them first: tacit.read_items(source)",
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
        hasher = hashlib.sha256()
        for names in (ratings.users, ratings.items):
            hasher.update("\0".join(names).encode() + b"\n")
        hasher.update(f"{ratings.schema.low} {ratings.schema.high}".encode())
        hasher.update(np.ascontiguousarray(ratings.ptr).data)
        hasher.update(np.ascontiguousarray(ratings.item).data)
        hasher.update(np.ascontiguousarray(ratings.value).data)
        return hasher.hexdigest()

    @property
    def description(self) -> str:
        """For the statement."""
        described = self.who or "not described"
        people = format_count(self.ratings.n_users, "person").replace("persons", "people")
        return (
            f"the ratings of {people} who are taken to be public ({described}; "
            f"{format_count(len(self.ratings), 'rating')}, digest {self.digest[:16]})"
        )

    def agreement(self, items: Catalogue | None) -> str:
        """Whether their ids mean the items of a private table's catalogue, as far as titles
        tell. From the two catalogues alone."""
        mine = self.items
        if mine is None or mine.titles is None or items is None or items.titles is None:
            return (
                "whether an id of --public means the same item as in the private table cannot be "
                "known without titles of both: --items and --public-items. Where it does not, "
                "public people cost accuracy"
            )
        same = other = 0
        for name, title in zip(mine.ids, mine.titles, strict=True):
            row = items.index.get(name)
            if row is not None:
                equal = _bare(title) == _bare(items.titles[row])
                same += equal
                other += not equal
        share = 100 * same / max(len(mine), 1)
        sentence = (
            f"{same:,} of the {len(mine):,} titles of --public-items ({share:.0f} %) stand under "
            f"the same id in --items; ids with another title there: {other:,}"
        )
        if other > same:
            sentence += ". The ids seem to mean other items, which costs accuracy"
        return sentence


def _bare(title: str) -> str:
    """A title as it is compared: without its year, case and order of the article."""
    return fold(bare_title(title))
