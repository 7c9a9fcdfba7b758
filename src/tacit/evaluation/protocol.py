"""How ratings are held back, and how models are judged on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.data import splits
from tacit.data.splits import Split
from tacit.errors import SettingError

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings

LISTED = 600
"""People whose lists are made on a split: as many as `--split people` holds back. More would
cost more than a quick fit does, and the interval says what it is worth."""


@dataclass(frozen=True)
class HeldBack:
    """How ratings are held back and how models are judged on them."""

    split: str = "90/10"
    seeds: int = 3
    folds: int | None = None
    hold: int = 600
    fold_in: float = 0.8
    """Share of a held person's ratings that is given."""
    until: str | None = None
    days: bool | None = None
    """Whether each prediction is asked for on the day of its rating; None does so where the split
    goes by time, as somebody who asks then knows that it is now."""
    listed: int = LISTED

    def check(self) -> None:
        """Refuse, before a rating is read, what cannot be."""
        split = self.split
        if splits.is_date(split):
            splits.parse_date(split)
        elif split not in ("time", "date", "probe", "people"):
            splits.parse_shares(split)
        if self.until is not None:
            splits.parse_date(self.until)
        if not 0 < self.fold_in < 1:
            raise SettingError(
                f"--fold-in {100 * self.fold_in:g} is not between 0 and 100 per cent",
                remedy="80 is a common choice: that much of each person is given",
            )
        if self.seeds < 1:
            raise SettingError(
                f"seeds is {self.seeds}; it must be at least 1", remedy="3 is a common choice"
            )

    @property
    def runs(self) -> int:
        """How many cells each arm has."""
        return self.folds or self.seeds

    @property
    def lets_the_future_in(self) -> bool:
        """Whether a model may learn from what came after what it is asked about."""
        fixed = self.split in ("time", "date", "probe")
        return self.folds is not None or not (fixed or splits.is_date(self.split))

    @property
    def asks_when(self) -> bool:
        """Whether anything here looks at the times of ratings."""
        return self.by_day or self._by_time

    @property
    def by_day(self) -> bool:
        """Whether models are told the day of each question, where ratings have times."""
        return self._by_time if self.days is None else self.days

    @property
    def _by_time(self) -> bool:
        return self.folds is None and not self.lets_the_future_in

    def key(self) -> dict[str, Any]:
        """All that an answer depends on, but for the seed."""
        held = self.split == "people"
        return {
            "split": self.split,
            "folds": self.folds,
            "hold": self.hold if held else None,
            "fold_in": self.fold_in if held else None,
            "until": self.until,
            "days": self.by_day,
            "listed": self.listed,
        }

    def part(self, ratings: Ratings, number: int) -> Split:
        """One split of the row."""
        if self.folds is not None:
            for fold, part in enumerate(splits.k_fold(ratings, self.folds)):
                if fold == number:
                    return part
        return splits.make(ratings, self.split, seed=number, hold=self.hold, fold_in=self.fold_in)
