"""Ratings that a fit does not see, so that somebody may ask later how well it predicts them.

Which ratings these are follows from the id of the person, the id of the item and a public
salt, and from nothing else: not from values, times, or who else is there (people who are
named by their place in a file are refused). So the same rule
finds them again in a later export of the same people, and a cell is on one side for ever.

Guarantee: for any salt, one cell more or less (or one value changed) in all ratings is at
most one cell more or less (one value changed) among those that are seen, and likewise among
those kept apart; one person more or less is one person more or less on each side. A promise
about what is seen is therefore the same promise about all ratings.

The ledger keeps these rules and starts without numpy, so numpy is imported where it is used.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from tacit.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.data.ratings import Ratings

MOST_HELD_OUT = 0.5
"""Of the ratings: a fit that sees less than half of them is not the model that was wanted."""


class HeldOut(BaseModel):
    """The rule: about `share` of all cells, found by a salt that is as public as a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    share: float = Field(gt=0, le=MOST_HELD_OUT)
    salt: str = Field(pattern="^[0-9a-f]{32}$")

    def held(self, ratings: Ratings) -> NDArray[np.bool_]:
        """Whether each cell is kept apart."""
        if ratings.notes.numbered:
            raise SettingError(
                "ratings are kept apart by a person's id, and here people are numbered: one "
                "more or less would move everybody behind her",
                remedy="give ratings with ids of people, as csv or parquet",
            )
        return self.cells(ratings.users, ratings.items, ratings.user, ratings.item)

    def cells(
        self, people: Sequence[str], items: Sequence[str], owner: NDArray[Any], item: NDArray[Any]
    ) -> NDArray[np.bool_]:
        """Whether each cell is kept apart, by the place of its person and of its item among
        their ids."""
        import numpy as np

        of_people = self._hash_words("person", people)
        of_items = self._hash_words("item", items)
        words = _mixed(of_people[owner] ^ of_items[item])
        return words < np.uint64(int(self.share * 2.0**63) * 2)

    def training_ratings(self, ratings: Ratings) -> Ratings:
        """What a fit may see. People who are left with nothing are not there."""
        return ratings.take(~self.held(ratings))

    def doubled(self, ratings: Ratings) -> Ratings:
        """All ratings over twice the items: item i as seen stands in row 2i, as kept apart in
        row 2i + 1."""
        import numpy as np

        names = [f"{side} {name}" for name in ratings.items for side in ("seen", "apart")]
        rows = 2 * ratings.item + self.held(ratings)
        return replace(ratings, items=names, item=rows.astype(np.uint32))

    def describe(self) -> str:
        """For the statement."""
        return (
            f"{self.share:.4g} of the cells, chosen by a hash of person, item and the salt "
            f"{self.salt}, were kept apart from the fit"
        )

    def _hash_words(self, domain: str, names: Sequence[str]) -> NDArray[np.uint64]:
        """64 bits for each id."""
        import numpy as np

        start = blake2b(f"{self.salt} {domain} ".encode(), digest_size=8)
        out = bytearray()
        for name in names:
            hasher = start.copy()
            hasher.update(name.encode())
            out += hasher.digest()
        return np.frombuffer(bytes(out), "<u8").astype(np.uint64)


def keep_apart(share: float, salt: str | None = None) -> HeldOut:
    """A new rule with a fresh salt, or that of an earlier model."""
    if not 0 < share <= MOST_HELD_OUT:
        raise SettingError(
            f"{share:g} of the ratings cannot be kept apart",
            remedy="give a share above 0 and at most a half, such as --keep-apart 10%",
        )
    return HeldOut(share=share, salt=salt or secrets.token_hex(16))


def parse_held_out(text: str) -> float:
    """`10%` or `.1`, the share that is kept apart."""
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%"))
    except ValueError:
        raise SettingError(
            f"--keep-apart {text} is not a share", remedy="for example 10%"
        ) from None
    return share / 100 if percent else share


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The splitmix64 finaliser, which mixes all bits of two ids."""
    import numpy as np

    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
